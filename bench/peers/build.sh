#!/bin/sh
# build.sh - build the peers of the race at -O3 from Debian's source packages; prints their directories, comma between.
# Codes in Fortran are built at -O2 as well (lib/O2): some are faster then, and the faster counts.
#
# SUNDIALS (CVODES and IDAS), and Hairer and Wanner's RADAU5 and ODEPACK's LSODA as deSolve carries them.
# Each is kept in $XDG_CACHE_HOME/costate-bench/PACKAGE_VERSION-HASH (HASH: of compilers, flags, options) with lib/ and
# ABOUT, which says what it is.  What cannot be had is left out, and stderr says why.
#
# ARKODE's stabilised explicit methods came with SUNDIALS 7.2, which this Debian has not: they race where
# SUNDIALS7_SOURCE names a folder with such a source (github.com/LLNL/sundials).  Hairer's RODAS, DOPRI5 and DOP853 are
# in no Debian package by themselves: they race where HAIRER_SOURCE names a folder with rodas.f, dopri5.f and dop853.f
# (unige.ch/~hairer/software.html), RODAS with the linear algebra that came with RADAU5.  TWPBVP (Cash, Mazzia, Wright)
# is in none, either: it races where TWPBVP_SOURCE names a folder with twpbvpc.f, twpbvplc.f, twpbvpa.f and errmsg.f, as
# the R package bvpSolve has them in src (cran.r-project.org/package=bvpSolve).
set -eu

cache=${XDG_CACHE_HOME:-$HOME/.cache}/costate-bench
CC=${CC:-cc}
FC=${FC:-gfortran}
flags=-O3
sundials_options="-DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DBUILD_ARKODE=OFF -DBUILD_CVODE=OFF -DBUILD_IDA=OFF -DBUILD_KINSOL=OFF
    -DEXAMPLES_ENABLE_C=OFF -DEXAMPLES_INSTALL=OFF
    -DSUNDIALS_INDEX_SIZE=32 -DENABLE_LAPACK=ON -DENABLE_KLU=ON"
arkode_options="-DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DBUILD_CVODE=OFF -DBUILD_CVODES=OFF -DBUILD_IDA=OFF -DBUILD_IDAS=OFF -DBUILD_KINSOL=OFF
    -DEXAMPLES_ENABLE_C=OFF -DEXAMPLES_ENABLE_CXX=OFF -DEXAMPLES_INSTALL=OFF -DSUNDIALS_INDEX_SIZE=32"
fortran_flags="-fPIC -std=legacy -w"
hairer_files="rodas dopri5 dop853"

say() { echo "peers: $*" >&2; }

mkdir -p "$cache"
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# ---- Debian's sources -----------------------------------------------------------------------------------------

# The machine's own lists, with deb-src for deb, in a place of our own: neither /etc/apt is touched nor root needed.
source_lists() {
    [ ! -f "$work/apt.conf" ] || return 0
    mkdir -p "$work/parts" "$work/lists/partial" "$work/archives/partial"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        if [ -f "$list" ]; then sed -n 's/^deb[[:space:]]/deb-src /p' "$list"; fi
    done >"$work/parts/machine.list"
    for list in /etc/apt/sources.list.d/*.sources; do
        if [ -f "$list" ]; then sed 's/^Types:.*/Types: deb-src/' "$list" >"$work/parts/${list##*/}"; fi
    done
    cat >"$work/apt.conf" <<END_OF_CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$work/parts";
Dir::State::Lists "$work/lists";
Dir::Cache "$work";
APT::Sandbox::User "";
END_OF_CONF
    APT_CONFIG=$work/apt.conf apt-get update -qq >"$work/log" 2>&1 || tail -n 3 "$work/log" >&2
}

# fetch PACKAGE VERSION: unpacked as $work/PACKAGE/*/
fetch() {
    source_lists
    mkdir -p "$work/$1"
    (cd "$work/$1" && APT_CONFIG=$work/apt.conf apt-get source -qq "$1${2:+=$2}") >"$work/log" 2>&1
}

# The source version that belongs to the binary package installed here, else to the one that would be.
version_of() {
    version=$(dpkg-query -W -f='${source:Version}' "$1" 2>/dev/null) || version=
    [ -n "$version" ] || version=$(apt-cache policy "$1" 2>/dev/null |
        sed -n 's/^ *Candidate: *//p' | sed -e 's/(none)//' -e 's/+b[0-9]*$//')
    echo "$version"
}

# ---- recipes: SOURCE PREFIX VERSION ------------------------------------------------------------------------------

make_sundials() {
    klu=$(dirname "$(find /usr/include /usr/local/include -name klu.h 2>/dev/null | head -n 1)")
    lib=$(dirname "$("$CC" -print-file-name=libklu.so)")
    # shellcheck disable=SC2086   # a list of words
    cmake -S "$1" -B "$1/build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_Fortran_COMPILER="$FC" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS= -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DKLU_INCLUDE_DIR="$klu" -DKLU_LIBRARY_DIR="$lib" $sundials_options &&
        cmake --build "$1/build" --parallel 2 && cmake --install "$1/build" --prefix "$2" || return 1
    # the flags that were used, not those that were asked for
    used=$(tr ' ' '\n' <"$1/build/compile_commands.json" | grep -E '^-(O|f|m|march)' | sort -u | tr '\n' ' ')
    packaged=$(grep -h 'CMAKE_C_FLAGS\|CMAKE_BUILD_TYPE' "$1/debian/rules" | tr -d '\t\134' | tr '\n' ' ')
    {
        echo "SUNDIALS $3, CVODES and IDAS: $("$CC" --version | head -n 1)," \
            "${used}(static, index of 32 bits, KLU, LAPACK)"
        echo "packaged: Debian's libraries of SUNDIALS $3; debian/rules gives cmake ${packaged:-(its defaults)}"
    } >"$2/ABOUT"
}

# of a source that is not Debian's: ARKODE alone
make_arkode() {
    # shellcheck disable=SC2086   # a list of words
    cmake -S "$1" -B "$2.build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS= \
        -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_INSTALL_LIBDIR=lib $arkode_options &&
        cmake --build "$2.build" --parallel 2 && cmake --install "$2.build" --prefix "$2" || return 1
    rm -rf "$2.build"
    echo "SUNDIALS $3, ARKODE: $("$CC" --version | head -n 1), $flags -fPIC (static, index of 32 bits)" >"$2/ABOUT"
}

# archive SOURCE PREFIX NAME FILE...: PREFIX/lib/libNAME.a of SOURCE/FILE.f at -O3; PREFIX/lib/O2/libNAME.a at -O2.
# DOPRI5 and DOP853 each have a HINIT of their own.
archive() {
    from=$1 to=$2/lib name=$3
    shift 3
    mkdir -p "$to/O2" && for level in O2 O3; do
        made=$to/$([ $level = O3 ] || echo $level/)lib$name.a
        for file in "$@"; do
            # shellcheck disable=SC2086   # a list of words
            "$FC" -$level $fortran_flags -c "$from/$file.f" -o "$to/$file.o" &&
                objcopy --localize-symbol=hinit_ "$to/$file.o" && ar rcs "$made" "$to/$file.o" || return 1
        done
    done
    for file in "$@"; do rm "$to/$file.o"; done
}

by_fortran() { echo "$("$FC" --version | head -n 1), $fortran_flags, the faster of -O2 and -O3"; }

make_radau5() {
    archive "$1/src" "$2" radau5 radau5 radau5a && archive "$1/src" "$2" lsoda opkdmain opkda1 dlinpk || return 1
    by=$(by_fortran)
    {
        echo "RADAU5 as in deSolve (r-cran-desolve $3), with its own linear algebra: $by"
        echo "LSODA of ODEPACK as in deSolve (r-cran-desolve $3), LINPACK's Fortran over the BLAS of all codes: $by"
    } >"$2/ABOUT"
}

# of a source that is not Debian's, either
make_hairer() {
    # shellcheck disable=SC2086
    archive "$1" "$2" hairer $hairer_files &&
        echo "RODAS, DOPRI5 and DOP853 of Hairer and others ($3), RODAS with RADAU5's linear algebra: $(by_fortran)" \
            >"$2/ABOUT"
}

# likewise
make_twpbvp() {
    archive "$1" "$2" twpbvp twpbvpc twpbvplc twpbvpa errmsg &&
        echo "TWPBVPC and TWPBVPLC as in the R package bvpSolve (twpbvpc.f, twpbvplc.f, $3):" \
            "$("$FC" --version | head -n 1), -O3 $fortran_flags" >"$2/ABOUT"
}

# ---- all of them --------------------------------------------------------------------------------------------------

# peer NAME SOURCE BINARY RECIPE: its directory on stdout
peer() {
    hash=$({ echo "$4"; "$CC" --version; "$FC" --version; } 2>/dev/null | cksum | cut -d ' ' -f 1)
    version=$(version_of "$3")
    where=$cache/$2_${version#*:}-$hash
    if [ -n "$version" ] && [ -f "$where/ABOUT" ]; then echo "$where"; return; fi
    say "building $1 from Debian's source package $2 $version"
    if ! fetch "$2" "$version"; then
        old=$(find "$cache" -maxdepth 2 -path "$cache/$2_*-$hash/ABOUT" | sort -V | tail -n 1)
        say "no source of $2: $(grep '^E:' "$work/log" | head -n 1) ${old:+- taking $old}"
        [ -z "$old" ] || dirname "$old"
        return
    fi
    version=$(sed -n 's/^Version: *//p' "$work/$2"/*.dsc | head -n 1)
    where=$cache/$2_${version#*:}-$hash
    mkdir "$work/$1.out"
    if "make_$1" "$(dirname "$(find "$work/$2" -mindepth 2 -maxdepth 2 -name debian)")" "$work/$1.out" "$version" \
        >"$work/log" 2>&1; then
        rm -rf "$where"
        mv "$work/$1.out" "$where"
        echo "$where"
    else
        say "could not build $1:"
        tail -n 20 "$work/log" >&2
    fi
    rm -rf "${work:?}/$2"
}

# from_source NAME SOURCE VERSION OPTIONS: the same from a source that is here already
from_source() {
    hash=$({ echo "$4"; "$CC" --version; "$FC" --version; } 2>/dev/null | cksum | cut -d ' ' -f 1)
    where=$cache/$1_$3-$hash
    if [ ! -f "$where/ABOUT" ]; then
        say "building $1 $3 from $2"
        if ! "make_$1" "$2" "$work/$1.out" "$3" >"$work/log" 2>&1; then
            say "could not build $1:"
            tail -n 20 "$work/log" >&2
            return
        fi
        rm -rf "$where"
        mv "$work/$1.out" "$where"
    fi
    echo "$where"
}

local_arkode() {
    source=${SUNDIALS7_SOURCE:-}
    [ -n "$source" ] || { say "no ARKODE with LSRKStep: SUNDIALS7_SOURCE names no source of SUNDIALS 7"; return; }
    if [ ! -f "$source/include/arkode/arkode_lsrkstep.h" ]; then say "no LSRKStep in $source"; return; fi
    from_source arkode "$source" "$(sed -n 's/^ *set(PACKAGE_VERSION_\(MAJOR\|MINOR\|PATCH\) *"\([0-9]*\)".*/\2/p' \
        "$source/CMakeLists.txt" | paste -s -d .)" "$flags $arkode_options"
}

local_hairer() {
    source=${HAIRER_SOURCE:-}
    [ -n "$source" ] || { say "no RODAS, DOPRI5, DOP853: HAIRER_SOURCE names no folder with rodas.f"; return; }
    for file in $hairer_files; do
        if [ ! -f "$source/$file.f" ]; then say "no $file.f in $source"; return; fi
    done
    sum=$(for file in $hairer_files; do cat "$source/$file.f"; done | cksum | cut -d ' ' -f 1)
    from_source hairer "$source" "checksum-$sum" "O2 $fortran_flags"
}

local_twpbvp() {
    source=${TWPBVP_SOURCE:-}
    [ -n "$source" ] || { say "no TWPBVP: TWPBVP_SOURCE names no folder with twpbvpc.f"; return; }
    if [ ! -f "$source/twpbvplc.f" ]; then say "no twpbvplc.f in $source"; return; fi
    from_source twpbvp "$source" "checksum-$(cat "$source"/twpbvp*.f | cksum | cut -d ' ' -f 1)" "O2 $fortran_flags"
}

{
    local_arkode
    local_hairer
    local_twpbvp
    peer sundials sundials libsundials-dev "$flags $sundials_options"
    peer radau5 r-cran-desolve r-cran-desolve "O2 $fortran_flags LSODA"
} >"$work/found"
paste -s -d , "$work/found"
