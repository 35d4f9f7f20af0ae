#!/bin/sh
# install.sh - ./run install DIR, then the lines that it prints, as they are, in a shell that knows nothing else; what
# they promise is tried with the first example.  Then CMake, where it is installed.  Called by .ci/run.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
place=$(mktemp -d "${TMPDIR:-/tmp}/costate-install.XXXXXX")
trap 'rm -rf "$place"' EXIT
answer="y(1) = 0.0995741, dy(1)/dy(0) = 0.0497871, dy(1)/dp = -0.0995741"
passed=0

right() {
    [ "$2" = "$answer" ] || { echo "$1: $2"; echo "$passed passed, 1 failed"; exit 1; }
    echo "ok: $1"
    passed=$((passed + 1))
}

for DIR in "$place/opt" "$place/a b"; do
    (
        cd "$place"
        BUILD=$place/build MESON_OPTS="${MESON_OPTS:-} -Dtests=disabled" "$root/run" install "$DIR" >"$place/said"
    )
    cat "$place/said"
    [ -f "$DIR/lib/pkgconfig/costate.pc" ] && [ -f "$DIR/lib/libcostate.so" ] && [ -f "$DIR/lib/libcostate.a" ] ||
        { echo "not in $DIR/lib:"; find "$DIR"; exit 1; }

    mkdir -p "$place/work"
    cp "$root/examples/01_decay.c" "$place/work/program.c"
    sed -n 's/^    //p' "$place/said" >"$place/lines"
    echo 'command -v costate-model >/dev/null || echo "no costate-model"' >>"$place/lines"
    right "the printed lines, in $DIR" "$(cd "$place/work" && env -i PATH="$PATH" sh -e "$place/lines")"
done

DIR=$place/opt
cd "$place/work"
export PKG_CONFIG_PATH="$DIR/lib/pkgconfig"
# shellcheck disable=SC2046   # a list of words
cc program.c $(pkg-config --cflags --libs costate) -lm "-Wl,-rpath,$DIR/lib" -o by_rpath
right "rpath instead of LD_LIBRARY_PATH" "$(./by_rpath)"

sed -n 's/^| static | `\(.*\)` |$/\1/p' "$root/docs/start/installing.md" |
    sed "s#/opt/costate#$DIR#g; s/\\\\|/|/g" >static.sh
right "docs/start/installing.md's line for static linking" "$(sh -e static.sh && ./a.out)"
! readelf -d a.out | grep -q libcostate || { echo "it is not static"; exit 1; }

rm -f "$DIR"/lib/libcostate.so*
# shellcheck disable=SC2046
cc program.c $(pkg-config --static --cflags --libs costate) -o static
right "libcostate.a alone" "$(./static)"

# The package for Python, where it was built, with the line that says where it is.
python=$(sed -n 's/^PYTHON = "\(.*\)"$/\1/p' "$place/build/python/costate/_places.py" 2>/dev/null || true)
if [ -n "$python" ]; then
    BUILD=$place/build MESON_OPTS="${MESON_OPTS:-} -Dtests=disabled" "$root/run" install "$DIR" | sed -n 's/^    //p' |
        grep -v '^cc ' >lines
    printf '%s - <<END\n%s\nEND\n' "$python" 'import costate
y = costate.Problem(lambda t, y, p: -p[0] * y, rtol=1e-9, atol=1e-9).integrate((0, 1), [2.0], [3.0])
print("y(1) = %.7f, dy(1)/dy(0) = %.7f, dy(1)/dp = %.7f" % (y.y[0], y.adjoint([1.0])[0][0], y.adjoint([1.0])[1][0]))
' >>lines
    right "the package for Python" "$(env -i PATH="$PATH" HOME="$HOME" sh -e lines)"
fi

echo "$passed passed, 0 failed"
