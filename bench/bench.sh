#!/bin/sh
# bench.sh BUILD [--quick] [PART...] - the benchmark with the Python that made the library.
set -eu
build=${1:-build}
[ $# -gt 0 ] && shift
exec env PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$(dirname "$0")/bench.py" "$build" "$@"
