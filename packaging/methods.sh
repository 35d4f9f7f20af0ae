#!/bin/sh
# methods.sh - writes methods.c, the descriptors of all methods, and the list of what it is made from.
#
#     methods.sh list ROOT LIST FOLDER...            checksums of what methods.c is made from; LIST is only touched if
#                                                    they have changed
#     methods.sh write ROOT LIST OUT PYTHON FOLDER...
#
# A release has methods.c and its list in generated/: it is copied if the list is the same.  Otherwise codegen is run.
set -eu
verb=$1 root=$2 list=$3
shift 3

checksums() {
    cd "$root"
    { find codegen -name "*.py" ! -path "*/tests/*" ! -path "*/equations/*"; find "$@" -name "*.toml"; } |
        while read -r file; do echo "${file#"$root"/}"; done | LC_ALL=C sort |
        while read -r file; do cksum "$file"; done
    sed -n '/^enum costate_family/,/};/p' include/costate/costate.h | cksum
    cksum src/step/descriptor.h
}

case $verb in
list)
    (checksums "$@") >"$list.new"
    if cmp -s "$list.new" "$list"; then rm "$list.new"; else mv "$list.new" "$list"; fi
    ;;
write)
    out=$1 python=$2
    shift 2
    if cmp -s "$list" "$root/generated/methods.list"; then
        cp "$root/generated/methods.c" "$out"
    elif [ -n "$python" ]; then
        exec "$python" -m codegen emit "$out" "$@"
    else
        echo "methods.c: the methods or their generator differ from those of the release:" \
            "name a Python, 3.11 or newer, with -Dpython=PATH" >&2
        exit 1
    fi
    ;;
esac
