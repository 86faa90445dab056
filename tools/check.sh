#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything that has to hold, in three builds: all tests in a plain one with gcc; under ASan and
# UBSan with clang what handles memory and outside data; under TSan what has threads. A fourth one is
# made when it is named: unit tests as the programs are installed. docs/TESTED.md says why these.
# Without an argument each is short, so that everyone can wait for it; named, or by 'long', it is
# whole. A step that fails does not stop the others; the last line is 'N passed, N failed' over all
# single test cases.
#
#	tools/check.sh [plain|asan|tsan|release|long]...	(default: the first three)
#	tools/check.sh coverage		(the plain suite in a build that notes which lines were run)
# shellcheck disable=SC2317 # steps are called by name
set -u
cd "$(dirname "$0")/.." || exit 1

# What runs where: patterns of test names, '@' and a suite, or '!' and what is left out after all.
# Each must fit a test. A sanitizer sees nothing new in a header, an installation or the counting of
# a crash; in what only computes, or does over TCP what it did over a Unix socket, neither do they.
PLAIN_TESTS=('*')
ASAN_TESTS=(@unit @fuzz @faults '!faults powercut' '!client install' '!client header' '!client * tcp'
	'!chess perft' '!chess movegen' '!chess endgame' '!import games' '!search find_threads'
	'!client nomem tls' '!client equal tls' '!chess movecode plain' '!store decode'
	'system protocol' 'system access')
TSAN_TESTS=('base sorter' 'store appender' 'store guide' 'store share' 'store whole' 'store count'
	'store readers' 'store overtaken' 'import evals' 'client prober unix'
	'client busy tcp' 'client import_repeat' 'client restart' 'daemon *'
	'system concurrency')
RELEASE_TESTS=('base *' 'chess *' 'store *' '!chess perft' '!chess movegen')

# Of these, what the short run leaves to the long one. Benchmarks measure nothing for a moment. In the
# plain build: unit tests and corpora that the sanitizers run in the same way, which see more (not those
# without memory: there a sanitizer lets only the program's own requests fail), and over
# TCP or TLS what is asked over a Unix socket (`client calls tcp` stays, and the system test of TLS).
# Under a sanitizer: rooms that keep nothing and take in nothing from outside, which are a third of what
# is to be built; PGN, FEN, SAN and files of positions, whose corpora are left; reading OpenSSL's
# certificates without memory; and options of a command line. Of stores, imports and clients: what TSan
# runs, too, those that compute for long by code that shorter ones reach, and of those with a guide and
# without it one, as the first look-up of each snapshot has none.
PLAIN_LONG=('bench smoke' 'base [!t]*' 'base text' 'daemon *' 'http *' 'proto [!n]*' 'service *'
	'faults damage' 'fuzz [!eou]*' 'fuzz epd' 'fuzz exp' 'fuzz opening'
	'insight drift' 'insight weak' 'import damage' 'import pgn'
	'store appender' 'store archive' 'store astray guided' 'store block' 'store bodies' 'store body'
	'store clients' 'store codec' 'store damage guided' 'store file_identity' 'store format'
	'store game_ids' 'store guide' 'store idempotency' 'store load' 'store names*' 'store open'
	'store pack' 'store plies' 'store postings' 'store queue' 'store repair' 'store replace guided'
	'store subtract'
	'client [!c]* tcp' 'client calls file' 'client calls unix' 'client lifetimes file'
	'client lifetimes unix' 'client repeat'
	'client prober file' 'client equal tls')
ASAN_LONG=('base tls' 'chess *' 'cli *' 'client example *' 'fuzz engine' 'fuzz option' 'fuzz uci'
	'propagate *' 'search *' 'uci *' 'system access'
	'store astray' 'store chain' 'store count*' 'store damage' 'store explore' 'store far_pages'
	'store leaf_cursor' 'store media' 'store model' 'store overtaken*' 'store page_check'
	'store pages*' 'store prefetch' 'store publish' 'store readers*' 'store repair_place'
	'store replace' 'store savepoint' 'store share' 'store upkeep' 'store whole'
	'insight novelties' 'insight statistic' 'insight performance' 'insight tempo'
	'import evals' 'import lines' 'import lists' 'import load' 'import memory' 'import merge'
	'import merge_session' 'import notes' 'import rules' 'import verify'
	'client asked' 'client equal' 'client import_repeat' 'client prober unix' 'client records'
	'client restart' 'client sizes *' 'faults iofail')

# For builds that multiply the time of each round: fewer of them than even the plain build has.
low_effort=("CHISTORE_EFFORT=${CHISTORE_EFFORT:-low}" CHISTORE_KILL_CYCLES=5
	CHISTORE_IMPORT_KILLS=8 CHISTORE_HAMMER_SECONDS=2 CHISTORE_IOFAIL_EVERY=90
	CHISTORE_IOFAIL_PAIRS=2 CHISTORE_POWERCUT_STATES=400)

# Tests of sockets and signals wait more than they compute: two at once for each core.
at_once=$((2 * $(nproc)))

# gold links the many programs in half the time.
linker=
command -v ld.gold >/dev/null && linker=gold

# The same run each time: tests take fixed seeds if there is none here, and meson would fill new and
# freed memory with another byte every time; 'make soak' is for chance. Unit tests always have it
# filled; what the real programs take is filled in long runs, as it doubles their time.
unset CHISTORE_SEED
export MALLOC_PERTURB_=0

logs=()

say() {
	printf '\n== %s (%d s)\n' "$1" "$SECONDS"
}

# setup DIR COMPILER OPTION...: makes or keeps a build directory.
setup() {
	local dir=$1 compiler=$2
	shift 2
	[ -f "$dir/build.ninja" ] ||
		CC=$compiler CC_LD=$linker meson setup "$dir" "$@" >"$dir.log" 2>&1 ||
		{ cat "$dir.log"; return 1; }
	rm -f "$dir.log"
}

# choose DIR PATTERN...: the names of the tests that are meant, as the array `chosen`, and the files
# to be built for them, as `needed`: not the command line, where that of the plain build is there. In
# the plain build these are all but the programs of other tests.
choose() {
	local dir=$1 line
	shift
	chosen=() needed=()
	while read -r line; do
		case $line in
		test\ *) chosen+=("${line#test }") ;;
		file\ *) needed+=("${line#file }") ;;
		esac
	done < <(meson introspect --tests --targets "$dir" | /usr/bin/python3 -c '
import fnmatch, json, os, sys

def fits(test, pattern):
    if pattern[0] == "@":
        return any(suite.endswith(":" + pattern[1:]) for suite in test["suite"])
    return fnmatch.fnmatchcase(test["name"], pattern)

known, chosen = json.load(sys.stdin), {}
for pattern in sys.argv[2:]:
    found = {test["name"]: test for test in known["tests"] if fits(test, pattern.lstrip("!"))}
    if not found:
        sys.exit(f"check.sh: no test is: {pattern}")
    for name, test in found.items():
        chosen.pop(name, None)
        if pattern[0] != "!":
            chosen[name] = test
targets = {target for test in chosen.values() for target in test["depends"]}
others = {target for test in known["tests"] for target in test["depends"]} - targets
plain = os.path.basename(sys.argv[1]) == "build"
for name in chosen:
    print("test", name)
for target in known["targets"]:
    meant = target["id"] in targets or plain and target["build_by_default"] and (
        target["id"] not in others or "/tests/" not in target["defined_in"])
    for file in target["filename"] if meant else ():
        file = os.path.relpath(file, sys.argv[1])
        if plain or file != "cli/chistore" or "CHISTORE_CLI" not in os.environ:
            print("file", file)' "$dir" "$@")
	[ ${#chosen[@]} -gt 0 ]
}

# expect DIR: from here on, a run of DIR without a log is a failure.
expect() {
	rm -f "$1"/meson-logs/testlog*
	logs+=("$1/meson-logs/testlog")
}

# behind BUILD COMMAND...: runs the command, and BUILD while it leaves processors idle. What BUILD
# says is said again by the step that it is for.
behind() {
	local status=0
	(renice -n 19 -p "$BASHPID" && "$1") >/dev/null 2>&1 &
	local builder=$!
	"${@:2}" || status=$?
	wait "$builder"
	return "$status"
}

# plain_tests SETTING=VALUE...: settings that are there already are kept. -t multiplies the tests' time
# limits, which are meant for a machine that does nothing else.
plain_tests() {
	local setting settings=()
	for setting in "$@"; do
		[ -n "$(printenv "${setting%%=*}")" ] || settings+=("$setting")
	done
	env "${settings[@]}" meson test -C build --no-rebuild --print-errorlogs \
		--num-processes "$at_once" -t 3 "${chosen[@]}"
}

build_plain() {
	say "plain build, gcc"
	expect build
	setup build gcc -Dc_args=-g1 -Dwerror=true && choose build "${PLAIN_TESTS[@]}" &&
		ninja -C build --quiet "${needed[@]}" && say "plain tests"
}

check_plain() {
	build_plain || return
	behind "${1:-true}" plain_tests CHISTORE_EFFORT=low CHISTORE_FILTERS=100 \
		CHISTORE_PERFT_NODES=2000000 CHISTORE_ROUNDS=20000 \
		CHISTORE_IOFAIL_EVERY=36 CHISTORE_IOFAIL_PAIRS=3 CHISTORE_POWERCUT_STATES=300 \
		CHISTORE_IMPORT_KILLS=5 CHISTORE_MERGE_KILLS=4 CHISTORE_KILL_CYCLES=10 \
		CHISTORE_HAMMER_SECONDS=2 CHISTORE_MOMENT_FILTERS=10
}

# Every test with all of its rounds, as the variables of HACKING.md say.
check_long() {
	build_plain || return
	MALLOC_PERTURB_=165 plain_tests CHISTORE_EFFORT=1
}

# Below, no more is built than the chosen tests need. Each step's build begins while the tests of the
# step before run, behind them: tests leave a fifth of the processors' time.
build_asan() {
	setup build-asan clang -Db_lundef=false -Doptimization=1 -Db_sanitize=address,undefined \
		-Dwerror=true -Dc_args='-fno-sanitize-recover=all -gline-tables-only -Wno-shadow' &&
		choose build-asan "${ASAN_TESTS[@]}" && ninja -C build-asan --quiet "${needed[@]}"
}

check_asan() {
	say "ASan and UBSan, clang"
	expect build-asan
	build_asan &&
		env "${low_effort[@]}" UBSAN_OPTIONS=print_stacktrace=1 \
			ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
			meson test -C build-asan --no-rebuild --print-errorlogs \
			--num-processes "$at_once" -t 4 "${chosen[@]}"
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

build_tsan() {
	setup build-tsan clang -Db_lundef=false -Doptimization=1 -Db_sanitize=thread \
		-Dwerror=true -Dc_args='-gline-tables-only -Wno-shadow' &&
		choose build-tsan "${TSAN_TESTS[@]}" && ninja -C build-tsan --quiet "${needed[@]}"
}

# TSan leaves no room for a map of 1 TiB.
check_tsan() {
	say "TSan, clang"
	expect build-tsan
	build_tsan &&
		fixed_addresses env "${low_effort[@]}" CHISTORE_MAP_BYTES=16G \
			TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
			meson test -C build-tsan --no-rebuild --print-errorlogs \
			--num-processes "$at_once" -t 6 "${chosen[@]}"
}

# -O3 without assertions, as `make install` builds it: a compiler that takes undefined behaviour
# at its word does so here first.
build_release() {
	setup build-release gcc --buildtype=release &&
		choose build-release "${RELEASE_TESTS[@]}" && ninja -C build-release --quiet "${needed[@]}"
}

check_release() {
	say "release build, gcc -O3"
	expect build-release
	build_release &&
		env "${low_effort[@]}" meson test -C build-release --print-errorlogs \
			--num-processes "$at_once" -t 3 "${chosen[@]}"
}

# Without optimisation, so that lines are those of the source, with counters that threads share,
# and with few rounds, as both are slow. The warnings there are about ranges that only the optimiser
# knows.
check_coverage() {
	say "coverage, gcc -O0"
	expect build-coverage
	setup build-coverage gcc --buildtype=debug -Db_coverage=true \
		-Dc_args=-fprofile-update=atomic || return
	ninja -C build-coverage --quiet || return
	find build-coverage -name '*.gcda' -delete
	env "${low_effort[@]}" CHISTORE_ROUNDS=2000 CHISTORE_PERFT_NODES=100000 \
		CHISTORE_POWERCUT_STATES=500 CHISTORE_IMPORT_KILLS=5 \
		meson test -C build-coverage --no-rebuild --print-errorlogs \
		--no-suite lint --no-suite bench-smoke --num-processes "$at_once" -t 6
}

for step in "${@:-all}"; do
	case $step in
	plain | asan | tsan | release | coverage) check_"$step" ;;
	long)
		check_long
		check_asan
		check_tsan
		;;
	all)
		PLAIN_TESTS+=("${PLAIN_LONG[@]/#/!}")
		ASAN_TESTS+=("${ASAN_LONG[@]/#/!}")
		export CHISTORE_CLI=$PWD/build/cli/chistore
		check_plain build_asan
		behind build_tsan check_asan
		check_tsan
		;;
	*)
		echo "usage: tools/check.sh [plain|asan|tsan|release|long|coverage]..." >&2
		exit 2
		;;
	esac
done

say "sum"
mkdir -p build
tools/summary.py "${logs[@]}" | tee build/summary.txt
exit "${PIPESTATUS[0]}"
