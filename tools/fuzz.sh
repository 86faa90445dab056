#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs every libFuzzer target of a build for some seconds each (0: without end), or until it has
# been executed often enough. New inputs and crashes are kept in the build directory; one worth
# keeping is copied to tests/fuzz/corpus/<target>/ by hand.
#
#	tools/fuzz.sh [-n RUNS] BUILD SECONDS [TARGET]...
set -eu
usage() {
	echo "usage: tools/fuzz.sh [-n RUNS] BUILD SECONDS [TARGET]..." >&2
	exit 2
}
runs=-1
while getopts n: option; do
	case $option in
	n) runs=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
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

# The most bytes of an input. What is told by more of them is slower to find: nearly all of the time
# goes into what one run costs.
length_of() {
	case $1 in
	image | pgn) echo 512 ;;
	*) echo 1024 ;;
	esac
}

# Freed memory is watched for the one run that has freed it; more of it costs page faults.
export ASAN_OPTIONS="quarantine_size_mb=4${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

status=0
for target in "$@"; do
	grown=$build/corpus/$target
	log=$build/fuzz-$target.log
	crashes=0
	mkdir -p "$grown" "$build/crashes"
	echo "== fuzz $target"
	# The target's own corpus is read, the grown one is read and written.
	"$build/tests/fuzz/fuzz_$target" -runs="$runs" -max_total_time="$seconds" \
		-max_len="$(length_of "$target")" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
		-verbosity=0 -artifact_prefix="$build/crashes/$target-" \
		${CHISTORE_SEED:+-seed="$CHISTORE_SEED"} \
		"$grown" "tests/fuzz/corpus/$target" 2>"$log" || {
		status=1
		crashes=1
		cat "$log"
		echo "FAILED fuzz $target: see $build/crashes"
	}
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
	echo "# figures: $target: $executions executions, $speed a second, $crashes crashes"
done
exit $status
