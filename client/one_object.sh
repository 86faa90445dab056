#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the archive that is installed: one object of all that is in an archive of this build, in
# which only what the shared library exports can be seen by a program that links it.
#
#	one_object.sh SYMBOLS ARCHIVE OUTPUT AR OBJCOPY COMPILER...
set -eu
symbols=$1 archive=$2 output=$3 ar=$4 objcopy=$5
shift 5
"$@" -r -nostdlib -o "$output.o" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
sed -n 's/^[[:space:]]\(chi_[a-z0-9_]*\);$/\1/p' "$symbols" >"$output.names"
"$objcopy" --keep-global-symbols="$output.names" "$output.o"
rm -f "$output"
"$ar" rcsD "$output" "$output.o"
rm "$output.o" "$output.names"
