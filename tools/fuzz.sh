#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs every libFuzzer target of a build for some seconds each. New inputs and crashes are kept
# in the build directory; one worth keeping is copied to tests/fuzz/corpus/<target>/ by hand.
#
#	tools/fuzz.sh BUILD SECONDS [TARGET]...
set -eu
[ $# -ge 2 ] || {
	echo "usage: tools/fuzz.sh BUILD SECONDS [TARGET]..." >&2
	exit 2
}
build=$1
seconds=$2
shift 2
if [ $# -eq 0 ]; then
	for program in "$build"/tests/fuzz/fuzz_*; do
		[ -f "$program" ] && set -- "$@" "${program##*/fuzz_}"
	done
fi
[ $# -gt 0 ] || {
	echo "fuzz: no targets in $build" >&2
	exit 1
}

status=0
for target in "$@"; do
	grown=$build/corpus/$target
	mkdir -p "$grown" "$build/crashes"
	echo "== fuzz $target, $seconds s"
	# The target's own corpus is read, the grown one is read and written.
	"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix="$build/crashes/$target-" \
		"$grown" "tests/fuzz/corpus/$target" 2>"$build/fuzz-$target.log" || {
		status=1
		cat "$build/fuzz-$target.log"
	}
	grep -E 'number_of_executed_units|average_exec_per_sec' "$build/fuzz-$target.log" || true
done
exit $status
