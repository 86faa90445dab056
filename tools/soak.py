#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The long runs: the tests of the suite that are worth more the longer they go on, each with a
number of rounds for hours instead of seconds.

    soak.py [--build DIR] [--scale X] [PART[=SIZE]]...
    soak.py --list

Without a PART all of them run, one after another. SIZE takes the place of a part's own size; X
multiplies the sizes that are not given (0.01 for a look at whether all still works). CHISTORE_SEED
is the seed of all of them; one is chosen if it is not set. What a part prints goes to
DIR/soak/PART.log. The table at the end is fit for a document; an interrupt or SIGTERM ends the
part that is running and prints the table of what was reached until then. Exit 0 if nothing failed,
1 if a part did, 130 after an interrupt.

A test says what it reached in lines with '# figures:'. Lines that differ in their
numbers alone are one series, of which the last counts: so a test may print them as it goes on.
"""

import argparse
import dataclasses
import datetime
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Not at the beginning of the line alone: some test runners have said there what is running.
FIGURES = re.compile(r"(?:# figures: (.*)|^(\d+ passed, \d+ failed))$", re.M)
FAILED = re.compile(r"^(?:not ok|FAIL:|ERROR:|FAILED) .*$", re.M)
# How long a part may take to clean up after an interrupt.
PATIENCE = 20


@dataclasses.dataclass
class Step:
    """The tests of the suite whose name `match` matches as a whole, with `wrap` before and `cases`
    after their command line (Python's tests choose cases by them); or `command`. In these and in
    the environment {size} is the size of the part, {twentieth} of it, but at least 1, and {build}
    the build directory. Of tests with a `wrap` only those that are programs of the build are run,
    no scripts. `fails`: the exit status that a control must have."""
    match: str = ""
    cases: tuple = ()
    wrap: tuple = ()
    command: tuple = ()
    fails: int = 0
    env: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Part:
    size: int
    unit: str
    steps: list


# The sizes are those of the long column of the tests' table in docs/TESTED.md.
PARTS = {
    "kill": Part(10000, "kills", [
        Step("system kill", ("Kill.test_nothing_acknowledged_is_lost",),
             env={"CHISTORE_KILL_CYCLES": "{size}"})]),
    "compact": Part(1000, "kills of compactions", [
        Step("system compact", ("Killed.test_nothing_acknowledged_is_lost",),
             env={"CHISTORE_KILL_CYCLES": "{size}"})]),
    "once": Part(2000, "kills", [
        Step("system idempotency", ("Once.test_kill_under_repeating_writers",),
             env={"CHISTORE_KILL_CYCLES": "{size}"})]),
    "import": Part(500, "imports", [
        Step("system import_kill", env={"CHISTORE_IMPORT_KILLS": "{size}"})]),
    "merge": Part(200, "merges", [
        Step("system merge", ("Merge.test_killed_in_the_middle",), env={"CHISTORE_MERGE_KILLS": "{size}"})]),
    "cluster": Part(1000000, "acknowledged puts for two copies, and for three", [
        Step(command=("tools/cluster.sh", "run", "3", "meson", "test", "-C", "{build}", "-v", "-t", "0",
                      "--no-rebuild", "rados kill"), env={"CHISTORE_RADOS_PUTS": "{size}"})]),
    "failover": Part(3600, "seconds of kills, and three takeovers", [
        Step(command=("tools/cluster.sh", "run", "3", "meson", "test", "-C", "{build}", "-v", "-t", "0",
                      "--no-rebuild", "failover"),
             env={"CHISTORE_FAILOVER_SECONDS": "{size}", "CHISTORE_CLUSTER_MONS": "3"})]),
    "powercut": Part(1000000, "states", [
        Step("faults powercut", env={"CHISTORE_POWERCUT_STATES": "{size}"})]),
    "iofail": Part(10000, "pairs for each operation", [
        Step("faults iofail", env={"CHISTORE_IOFAIL_PAIRS": "{size}", "CHISTORE_IOFAIL_EVERY": "1"})]),
    "malloc": Part(1, "rounds of all allocations", [
        Step("proto nomem", env={"CHISTORE_EFFORT": "high"}),
        Step("client nomem (file|unix|tls)", env={"CHISTORE_EFFORT": "high"}),
        Step("system scarce", env={"CHISTORE_SCARCE_ALL": "1"})]),
    "relay": Part(20, "times the usual cuts", [
        Step("client (repeat|import_repeat)", env={"CHISTORE_EFFORT": "{size}"})]),
    "alike": Part(50, "times 20 positions", [
        Step("system http_alike", env={"CHISTORE_EFFORT": "{size}"})]),
    "damage": Part(77, "times the usual stores", [
        Step("store damage", env={"CHISTORE_EFFORT": "{size}"}),
        Step("faults damage", env={"CHISTORE_EFFORT": "{size}"})]),
    "backup": Part(1000, "backups", [
        Step("system concurrency", ("Backups.test_backups_under_writers",),
             env={"CHISTORE_BACKUPS": "{size}"})]),
    "frames": Part(500, "times the usual streams", [
        Step("proto frame", env={"CHISTORE_EFFORT": "{size}"}),
        Step("system daemon", ("Conversation.test_random_splits_give_the_same_answers",),
             env={"CHISTORE_EFFORT": "{size}"})]),
    "oracle": Part(100000000, "positions of each source", [
        Step("chess (fen|key|material|roundtrip)", env={"CHISTORE_ROUNDS": "{size}"}),
        # A round has some 25 moves or more.
        Step("chess (notation|movegen)", env={"CHISTORE_ROUNDS": "{twentieth}"}),
        Step("chess perft")]),
    "search": Part(667, "times the usual searches", [
        Step("uci search", env={"CHISTORE_EFFORT": "{size}"})]),
    "learners": Part(8000, "evaluations learned by 64 engines", [
        Step("system learners", env={"CHISTORE_LEARNERS": "64", "CHISTORE_LEARNED": "{size}"})]),
    "codec": Part(1000, "times the usual records", [
        Step("store codec", env={"CHISTORE_EFFORT": "{size}"})]),
    "hammer": Part(600, "seconds", [
        Step("system concurrency", ("Concurrency.test_directory", "Concurrency.test_daemon"),
             env={"CHISTORE_HAMMER_SECONDS": "{size}"})]),
    "mutants": Part(1, "runs of all rules", [
        Step(command=("make", "--no-print-directory", "mutants"))]),
    "fuzz": Part(10000000, "executions of each target", [
        Step(command=("make", "--no-print-directory", "fuzz", "T=0", "N={size}"))]),
    "tsan": Part(1, "runs of the rooms with threads", [
        Step(command=("tools/check.sh", "tsan"), env={"CHISTORE_EFFORT": "{size}"})]),
    "valgrind": Part(1, "runs of the library's rooms", [
        Step(command=("tools/memcheck.sh", "{build}/tests/base/careless", "read"), fails=9),
        Step(command=("tools/memcheck.sh", "{build}/tests/base/careless", "lose"), fails=9),
        # Those whose memory runs out come before the allocator themselves.
        Step("(base|chess|store|import|proto|client) (?!nomem|tls).*", wrap=("tools/memcheck.sh",),
             env={"CHISTORE_EFFORT": "low", "CHISTORE_ROUNDS": "2000",
                  "CHISTORE_PERFT_NODES": "20000"})]),
}


class Result:
    """What a part reached."""

    def __init__(self, name, part, size):
        self.name, self.part, self.size = name, part, size
        self.figures, self.failures = {}, []
        self.programs = 0
        self.seconds, self.ended = 0.0, "cut short"

    def read(self, text):
        for figures, cases in FIGURES.findall(text):
            line = figures or cases
            self.figures[re.sub(r"[\d.,]+", "", line)] = line
        self.failures += FAILED.findall(text)

    def row(self, seed):
        programs = [f"{self.programs} programs"] if self.programs > 1 else []
        reached = ("; ".join([*programs, *self.figures.values()])
                   or f"{self.size} {self.part.unit}")
        reached = re.sub(r"(?<![.\d])\d{4,}", lambda number: f"{int(number[0]):,}", reached)
        failures = str(len(self.failures)) if self.failures or self.ended == "done" else self.ended
        return (self.name, reached, str(seed), failures, f"{self.seconds:,.0f}")


class Soak:
    def __init__(self, options, seed):
        self.build = os.path.abspath(options.build)
        self.seed = seed
        self.scale = options.scale
        self.known = self.introspect()
        self.logs = os.path.join(self.build, "soak")
        os.makedirs(self.logs, exist_ok=True)
        self.child = None

    def introspect(self):
        done = subprocess.run(["meson", "introspect", "--tests", self.build], check=True,
                              stdout=subprocess.PIPE)
        return {test["name"]: test for test in json.loads(done.stdout)}

    def commands(self, part, size):
        """(name, command line, environment, exit status) of all that the part runs."""
        for step in part.steps:
            fill = {"size": size, "twentieth": max(1, size // 20), "build": self.build}
            env = {name: value.format(**fill) for name, value in step.env.items()}
            env["CHISTORE_SEED"] = str(self.seed)
            if step.command:
                words = [word.format(**fill) for word in step.command]
                yield " ".join(words), words, env, step.fails
                continue
            tests = [test for name, test in self.known.items()
                     if re.fullmatch(step.match, name) and self.may_wrap(step, test)]
            if not tests:
                sys.exit(f"soak: no test is called '{step.match}'")
            for test in tests:
                words = [*step.wrap, *test["cmd"], *step.cases]
                yield test["name"], words, {**test["env"], **env}, step.fails

    def may_wrap(self, step, test):
        """Scripts are other people's programs, which read them."""
        return not step.wrap or test["cmd"][0].startswith(self.build + os.sep)

    def run(self, command, env, log):
        """Its exit status; what it printed is in the log."""
        said = " ".join(f"{name}={value}" for name, value in env.items())
        log.write(f"$ {said} {' '.join(command)}\n".encode())
        log.flush()
        # A session of its own: an interrupt is for us, who pass it on.
        self.child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **env}, stdout=log,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                      start_new_session=True)
        return self.child.wait()

    def end_child(self):
        """The whole group: what tests started must not outlive them."""
        if self.child is None or self.child.poll() is not None:
            return
        os.killpg(self.child.pid, signal.SIGINT)
        try:
            self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()

    def run_part(self, result):
        path = os.path.join(self.logs, result.name + ".log")
        begin = time.monotonic()
        ended = []
        try:
            with open(path, "wb") as log:
                for name, command, env, wanted in self.commands(result.part, result.size):
                    status = self.run(command, env, log)
                    result.programs += 1
                    if status != wanted:
                        ended.append(f"{name} ended with {status}, not {wanted}")
            result.ended = "done"
        finally:
            self.end_child()
            result.seconds = time.monotonic() - begin
            with open(path, encoding="utf-8", errors="replace") as log:
                result.read(log.read())
            # A test that says which case failed has said it all.
            result.failures = result.failures or ended


def parse(arguments):
    parser = argparse.ArgumentParser(prog="soak.py", description="Runs the long tests.")
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--scale", type=float, default=1, help="multiplies the sizes (1)")
    parser.add_argument("--list", action="store_true", help="list the parts and their sizes")
    parser.add_argument("parts", nargs="*", metavar="PART[=SIZE]")
    options = parser.parse_args(arguments)
    chosen = []
    for word in options.parts or list(PARTS):
        name, equals, size = word.partition("=")
        if name not in PARTS:
            parser.error(f"no part '{name}'; there are: {' '.join(PARTS)}")
        if equals and (not size.isdecimal() or int(size) == 0):
            parser.error(f"the size of '{name}' must be a number from 1, not '{size}'")
        scaled = max(1, round(PARTS[name].size * options.scale))
        chosen.append((name, int(size) if equals else scaled))
    options.parts = chosen
    return options


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding="utf-8", check=False)
    return done.stdout.strip()


def print_table(results, seed, commit):
    today = datetime.datetime.now().strftime("%Y-%m-%d")
    print(f"\n{today}, commit {commit}, {os.cpu_count()} processors, "
          f"{sum(r.seconds for r in results):,.0f} s in all\n")
    print("| part | reached | seed | failures | seconds |\n|---|---|---|---|---|")
    for result in results:
        print("| " + " | ".join(result.row(seed)) + " |")
    for result in results:
        for failure in result.failures:
            print(f"FAILED {result.name}: {failure}")
    sys.stdout.flush()


def terminate(*_):
    raise KeyboardInterrupt


def main():
    options = parse(sys.argv[1:])
    if options.list:
        for name, size in options.parts:
            print(f"{name:10} {size:>12,} {PARTS[name].unit}")
        return 0
    seed = int(os.environ.get("CHISTORE_SEED") or random.randrange(1, 1 << 31))
    commit = git("describe", "--always", "--dirty")
    soak = Soak(options, seed)
    # An interrupt is ignored in what a shell starts in the background.
    signal.signal(signal.SIGINT, terminate)
    signal.signal(signal.SIGTERM, terminate)
    results = []
    status = 0
    try:
        for name, size in options.parts:
            part = PARTS[name]
            print(f"soak: {name}, {size:,} {part.unit}, CHISTORE_SEED={seed}", flush=True)
            results.append(Result(name, part, size))
            soak.run_part(results[-1])
            print(f"soak: {name}: {len(results[-1].failures)} failures, "
                  f"{results[-1].seconds:,.0f} s", flush=True)
    except KeyboardInterrupt:
        status = 130
    print_table(results, seed, commit)
    return status or (1 if any(result.failures for result in results) else 0)


if __name__ == "__main__":
    sys.exit(main())
