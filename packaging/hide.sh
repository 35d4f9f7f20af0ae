#!/bin/sh
# hide.sh OBJCOPY AR INSIDE.a OUT.a COMPILER... - the objects of INSIDE.a made into one, in which only what costate.map
# shows is global.  The compiler links, for it knows the target, and what to do with link-time optimisation.
set -eu
objcopy=$1 ar=$2 inside=$3 out=$4
shift 4
object=${out%.a}.o
rm -f "$out"
"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$inside" -Wl,--no-whole-archive
"$objcopy" --wildcard --keep-global-symbol='costate_*' --keep-global-symbol='!costate_method_table' "$object"
"$ar" rcs "$out" "$object"
rm -f "$object"
