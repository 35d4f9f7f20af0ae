#!/bin/sh
# demo.sh BUILD - the tables of the demonstration, and its pictures in BUILD/demo.
set -eu
build=${1:-build}
here=$(dirname "$0")
mkdir -p "$build/demo"
OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} "$build/bench/swe" --demo --out "$build/demo"
"$build/bench/hybrid_demo" "$build/demo/hybrid.dat"
printf '\nA boundary layer, by continuation (examples/20_layer.c, lobatto3a4):\n'
"$build/examples/20_layer" "$build/demo/layer.dat"
PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$here/demo.py" "$build"
echo
for picture in height sensitivity hybrid layer work; do
    gnuplot -e "data='$build/demo/$picture.dat'; image='$build/demo/$picture.png'" "$here/report/$picture.gp"
    echo "picture: $build/demo/$picture.png"
done
