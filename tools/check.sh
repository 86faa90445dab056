#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything that has to hold: the whole suite in a plain gcc build, again under ASan and UBSan
# with clang, the rooms that have threads under TSan, and the programs as they are installed. A
# step that fails does not stop the others; the last line is 'N passed, N failed' over all single
# test cases.
#
#	tools/check.sh [plain|asan|tsan|release]...		(default: all four)
#	tools/check.sh coverage		(the plain suite in a build that notes which lines were run)
set -u
cd "$(dirname "$0")/.." || exit 1

# Where threads are: the store's readers, the daemon, the client, and the programs as a whole.
TSAN_ROOMS="base|store|import|client|daemon|system"

# For builds that multiply the time of each round: fewer of them, of which the plain build has all.
low_effort=("CHISTORE_EFFORT=${CHISTORE_EFFORT:-low}" CHISTORE_KILL_CYCLES=5
	CHISTORE_IMPORT_KILLS=8 CHISTORE_HAMMER_SECONDS=3)

# Tests of sockets and signals wait more than they compute: two at once for each core.
at_once=$((2 * $(nproc)))

# The same run each time: tests take fixed seeds if there is none here, and meson would fill freed
# memory with another byte every time. 'make soak' is for chance.
unset CHISTORE_SEED
export MALLOC_PERTURB_=165

logs=()

say() {
	printf '\n== %s (%d s)\n' "$1" "$SECONDS"
}

# setup DIR COMPILER OPTION...: makes or keeps a build directory.
setup() {
	local dir=$1 compiler=$2
	shift 2
	[ -f "$dir/build.ninja" ] || CC=$compiler meson setup "$dir" "$@" >"$dir.log" 2>&1 ||
		{ cat "$dir.log"; return 1; }
	rm -f "$dir.log"
	ninja -C "$dir" --quiet
}

# expect DIR: from here on, a run of DIR without a log is a failure.
expect() {
	rm -f "$1"/meson-logs/testlog*
	logs+=("$1/meson-logs/testlog")
}

# -t multiplies the tests' time limits, which are meant for a machine that does nothing else.
check_plain() {
	say "plain build, gcc"
	expect build
	setup build gcc && meson test -C build --no-rebuild --print-errorlogs \
		--num-processes "$at_once" -t 3
}

# The whole suite but the lint, which looks at the sources and not at the build.
check_asan() {
	say "ASan and UBSan, clang"
	expect build-asan
	setup build-asan clang -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fno-sanitize-recover=all || return
	env "${low_effort[@]}" UBSAN_OPTIONS=print_stacktrace=1 \
		ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
		meson test -C build-asan --no-rebuild --print-errorlogs --no-suite lint \
		--num-processes "$at_once" -t 4
}

# Names of the tests of a build whose program or script is in one of the rooms with threads.
tsan_tests() {
	meson introspect --tests "$1" | /usr/bin/python3 -c '
import json, re, sys
rooms = re.compile(rf"/tests/({sys.argv[1]})/")
for test in json.load(sys.stdin):
    if any(rooms.search(word) for word in test["cmd"]):
        print(test["name"])' "$TSAN_ROOMS"
}

# TSan wants its shadow where address randomisation may put the program; where the kernel
# allows it, randomisation is switched off.
fixed_addresses() {
	if setarch "$(uname -m)" -R true 2>/dev/null; then
		setarch "$(uname -m)" -R "$@"
	else
		"$@"
	fi
}

check_tsan() {
	say "TSan, clang"
	expect build-tsan
	setup build-tsan clang -Db_sanitize=thread -Db_lundef=false || return
	local tests
	mapfile -t tests < <(tsan_tests build-tsan)
	if [ ${#tests[@]} -eq 0 ]; then
		echo "no test is in: $TSAN_ROOMS"
		return
	fi
	# TSan leaves no room for a map of 1 TiB.
	fixed_addresses env "${low_effort[@]}" CHISTORE_MAP_BYTES=16G \
		TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
		meson test -C build-tsan --no-rebuild --print-errorlogs \
		--num-processes "$at_once" -t 6 "${tests[@]}"
}

# -O3 without assertions, as `make install` builds it: a compiler that takes undefined behaviour
# at its word does so here first.
check_release() {
	say "release build, gcc -O3"
	expect build-release
	setup build-release gcc --buildtype=release &&
		env "${low_effort[@]}" meson test -C build-release --no-rebuild --print-errorlogs \
			--suite unit --suite system --num-processes "$at_once" -t 3
}

# Without optimisation, so that lines are those of the source, with counters that threads share,
# and with few rounds, as both are slow. The warnings there are about ranges that only the optimiser
# knows.
check_coverage() {
	say "coverage, gcc -O0"
	expect build-coverage
	setup build-coverage gcc --buildtype=debug -Db_coverage=true -Dwerror=false \
		-Dc_args=-fprofile-update=atomic || return
	find build-coverage -name '*.gcda' -delete
	env "${low_effort[@]}" CHISTORE_ROUNDS=2000 CHISTORE_PERFT_NODES=100000 \
		CHISTORE_POWERCUT_STATES=500 CHISTORE_IMPORT_KILLS=5 \
		meson test -C build-coverage --no-rebuild --print-errorlogs \
		--no-suite lint --no-suite bench-smoke --num-processes "$at_once" -t 6
}

for step in "${@:-all}"; do
	case $step in
	plain | asan | tsan | release) check_"$step" ;;
	coverage) check_coverage ;;
	all)
		check_plain
		check_asan
		check_tsan
		check_release
		;;
	*)
		echo "usage: tools/check.sh [plain|asan|tsan|release|coverage]..." >&2
		exit 2
		;;
	esac
done

say "sum"
mkdir -p build
tools/summary.py "${logs[@]}" | tee build/summary.txt
exit "${PIPESTATUS[0]}"
