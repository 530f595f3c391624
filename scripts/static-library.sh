#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a static library of one object, in which names that are hidden in its parts are local. So
# they cannot meet those of the program that links it.
#
# usage: static-library.sh OUT PARTS.A OBJCOPY COMPILER...
set -e

out=$1 parts=$2 objcopy=$3
shift 3
"$@" -nostdlib -r -o "$out.o" -Wl,--whole-archive "$parts" -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$out.o"
rm -f "$out"
ar rcs "$out" "$out.o"
rm -f "$out.o"
