#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a program under valgrind's memcheck: 9 for what it has read, written or freed wrongly, in
# itself or in a child, and for memory that it has lost at its end. Children end by _exit in the
# middle of what they do, so what they leave does not count.
#
#	tools/memcheck.sh PROGRAM [ARGUMENT]...
set -u
here=$(dirname "$0")
said=$(mktemp -d "${TMPDIR:-/tmp}/chi-memcheck-XXXXXX") || exit 3
trap 'rm -rf "$said"' EXIT

# It has no room for the terabyte of a store's map.
export CHISTORE_MAP_BYTES=${CHISTORE_MAP_BYTES:-16G}
valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=none \
	--suppressions="$here/memcheck.supp" --log-file="$said/%p" "$@" &
pid=$!
trap 'kill -INT $pid' INT TERM
wait $pid
status=$?
# A file for each process, of its name.
for file in "$said"/*; do
	if [ "$file" = "$said/$pid" ] || ! grep -q ' lost in loss record ' "$file"; then
		cat "$file"
	fi
done >&2
if grep -q ' \(definitely\|possibly\) lost in loss record ' "$said/$pid"; then
	echo "memory was lost: $*" >&2
	exit 9
fi
exit $status
