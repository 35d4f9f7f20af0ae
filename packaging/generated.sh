#!/bin/sh
# generated.sh - adds to the tarball of `meson dist` what Python writes, so that a build from it needs no Python.
#
#     generated.sh PYTHON BUILD     in MESON_PROJECT_DIST_ROOT, folder generated: methods.c, the list of what it is made
#                                   from, costate.3, and single/, the library in one file for CMakeLists.txt
set -eu
python=$1
cd "$MESON_PROJECT_DIST_ROOT"
mkdir -p generated
PYTHONDONTWRITEBYTECODE=1 COSTATE_CHECKED=${COSTATE_CHECKED:-$2/methods.checked}
export PYTHONDONTWRITEBYTECODE COSTATE_CHECKED
sh packaging/methods.sh list "$PWD" "$PWD/generated/methods.list" methods
"$python" -m codegen emit generated/methods.c methods
"$python" codegen/man.py include/costate/costate.h generated/costate.3
"$python" packaging/single generated/single
