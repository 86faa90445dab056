#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Breaks the program rule by rule, and demands each time that a test notices.

    tests/mutants/run.py [-j N] [--dir DIR] [NAME...]     all mutants, or those that match
    tests/mutants/run.py --list
    tests/mutants/run.py --fit                            only says which do not fit the tree
    tests/mutants/run.py --docs                           writes the table of docs/TESTED.md

For each mutant a copy of the tree is changed, what its test needs is built, and that test is run:
it has to fail, as a test and not as a build, and in the case that the table names. The same test
has to pass on the copy as it is. One mutant changes nothing: it has to survive, or else
this program would find everything killed. One that no longer fits the tree is said first of all, and
counts as a failure.

The copies are in build-mutants/, one for each of N; a second run builds little.
"""

import argparse
import fnmatch
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tests", "lint"))

import tree  # noqa: E402
from rules import ALL, CONTROL, DOCUMENT, changed, misfits, with_table  # noqa: E402

# A test that was slowed down may take so much more than undisturbed, in seconds and times.
PATIENCE = 30
PATIENCE_TIMES = 4

# As often as a fault is found, and no longer than an answer takes that comes.
QUICK = {"CHISTORE_KILL_CYCLES": "20", "CHISTORE_PATIENCE": "10"}

# Between two looks at what a test says, in seconds.
LOOK = 0.05

KILLED, SURVIVED, WRONG = "killed", "SURVIVED", "WRONG"


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write_if_new(path, data):
    """Only what differs is written: its time is what ninja goes by."""
    if os.path.exists(path) and read_bytes(path) == data:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


class Copy:
    """A copy of the tree with a build directory of its own."""

    def __init__(self, folder):
        self.source = os.path.join(folder, "source")
        self.build = os.path.join(folder, "build")
        self.passed = {}  # (test, case): seconds, or None if it fails undisturbed
        self.sync()
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            self.command("meson", "setup", self.build, self.source, "-Dwerror=false")
        self.command("ninja", "-C", self.build, "build.ninja")
        self.tests = {test["name"]: test for test in self.introspect("--tests")}
        self.targets = {target["id"]: target for target in self.introspect("--targets")}

    def command(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False,
                              env=os.environ | {"CCACHE_NOHASHDIR": "1"})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        return done.stdout

    def introspect(self, what):
        return json.loads(self.command("meson", "introspect", what, self.build))

    def sync(self):
        """Makes it what the tree is now."""
        wanted = tree.files(ROOT)
        for path in wanted:
            target = os.path.join(self.source, path)
            write_if_new(target, read_bytes(os.path.join(ROOT, path)))
            shutil.copymode(os.path.join(ROOT, path), target)
        for path in set(tree.files(self.source)) - set(wanted):
            os.remove(os.path.join(self.source, path))

    def write(self, texts):
        for path, text in texts.items():
            write_if_new(os.path.join(self.source, path), text.encode())

    def make(self, name):
        """Builds what a test needs."""
        files = []
        for target in self.tests[name]["depends"]:
            files += self.targets[target]["filename"]
        if files:
            self.command("ninja", "-C", self.build, *[os.path.relpath(f, self.build) for f in files])

    def run(self, name, case, limit):
        """(exit status, negative for a signal and None for no end; output). Where the case has
        failed the others are not waited for."""
        test = self.tests[name]
        # A script runs one case alone; the others say of each case what became of it.
        script = test["protocol"] == "exitcode"
        # A file: a child that a failed test has left behind would keep a pipe open.
        with tempfile.TemporaryFile() as file:
            process = subprocess.Popen(
                test["cmd"] + ([case] if script else []), cwd=test["workdir"] or self.build,
                env=QUICK | os.environ | test["env"], stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, start_new_session=True)
            end = time.monotonic() + limit
            output, status = "", None
            while status is None and time.monotonic() < end and case not in failed_cases(output):
                time.sleep(LOOK)
                status = process.poll()
                output = os.pread(file.fileno(), 1 << 24, 0).decode(errors="replace")
            # A test that was killed, or died, has left its daemons behind.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        return 1 if status is None and case in failed_cases(output) else status, output

    def undisturbed(self, name, case):
        """Seconds that a test takes on the copy as it is; None if it does not pass."""
        if (name, case) not in self.passed:
            self.make(name)
            start = time.monotonic()
            status, output = self.run(name, case, self.tests[name]["timeout"])
            took = time.monotonic() - start
            there = re.search(rf"^ok \d+ - {re.escape(case)}$", output, re.M) is not None
            # One that is skipped notices nothing: some need to be root.
            alone = status == 0 and "Ran 1 test" in output and "skipped" not in output
            good = there or alone
            self.passed[name, case] = took if good else None
        return self.passed[name, case]


def failed_cases(output):
    return re.findall(r"^not ok \d+ - (.*)$", output, re.M)


def judge(copy, mutant):
    """(verdict, what there is to say)."""
    texts = changed(mutant, lambda path: tree.read(copy.source, path))
    before = {path: tree.read(copy.source, path) for path in texts}
    if mutant.test not in copy.tests:
        return WRONG, "there is no such test"
    took = copy.undisturbed(mutant.test, mutant.case)
    if took is None:
        return WRONG, "the test does not pass undisturbed"
    copy.write(texts)
    try:
        copy.make(mutant.test)
        status, output = copy.run(mutant.test, mutant.case, PATIENCE + PATIENCE_TIMES * took)
    finally:
        copy.write(before)
    if status is None:
        return KILLED, "it did not end"
    if status < 0:
        return KILLED, f"by signal {-status}"
    if status == 0:
        return SURVIVED, ""
    # A script was asked for this one case alone.
    if mutant.case in failed_cases(output) or "Ran 1 test" in output:
        return KILLED, ""
    return SURVIVED, f"other cases fail: {' '.join(failed_cases(output)) or output[-300:]}"


def work(folder, todo, report):
    copy = None
    while True:
        try:
            mutant = todo.get_nowait()
        except queue.Empty:
            return
        start = time.monotonic()
        try:
            copy = copy or Copy(folder)
            verdict, why = judge(copy, mutant)
        except Exception as error:  # said in the table; the others go on
            verdict, why = WRONG, str(error)
        report(mutant, verdict, why, time.monotonic() - start)


def run(chosen, wrong, folder, jobs):
    todo = queue.Queue()
    for mutant in chosen:
        if mutant.name not in wrong:
            todo.put(mutant)
    counts = {KILLED: 0, SURVIVED: 0, WRONG: 0}
    bad = list(wrong)
    lock = threading.Lock()

    def report(mutant, verdict, why, took):
        control = mutant is CONTROL
        with lock:
            if control:
                if verdict != SURVIVED:
                    bad.append(f"{mutant.name} changes nothing and did not survive")
            else:
                counts[verdict] += 1
                if verdict != KILLED:
                    bad.append(mutant.name)
            note = "as it must" if control and verdict == SURVIVED else why
            print(f"{mutant.name:36} {mutant.test + ' ' + mutant.case:64} {verdict:8} "
                  f"{took:5.1f} s  {note}".rstrip(), flush=True)

    threads = [threading.Thread(target=work, args=(os.path.join(folder, str(i)), todo, report))
               for i in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"# figures: {sum(counts.values())} rules broken, {counts[KILLED]} noticed, "
          f"{counts[SURVIVED]} not, {counts[WRONG]} not tried")
    for name in bad:
        print(f"FAILED: {name}")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("-j", type=int, default=2, dest="jobs", help="copies at work; 2")
    parser.add_argument("--dir", default=os.path.join(ROOT, "build-mutants"))
    parser.add_argument("--list", action="store_true", help="print the mutants")
    parser.add_argument("--fit", action="store_true", help="say which do not fit the tree")
    parser.add_argument("--docs", action="store_true", help=f"write the table of {DOCUMENT}")
    parser.add_argument("names", nargs="*", help="patterns of names; all of them")
    options = parser.parse_args()
    document = tree.read(ROOT, DOCUMENT)
    if options.docs:
        write_if_new(os.path.join(ROOT, DOCUMENT), with_table(document).encode())
        return 0
    chosen = [m for m in (CONTROL, *ALL) if not options.names
              or any(fnmatch.fnmatch(m.name, name) for name in options.names)]
    if not chosen:
        parser.error("no mutant has such a name")
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:36} {mutant.test} {mutant.case}")
        return 0
    wrong = misfits(chosen, document, ROOT)
    for fault in wrong.values():
        print(f"DOES NOT FIT: {fault}", flush=True)
    if options.fit:
        return 1 if wrong else 0
    return run(chosen, wrong, options.dir, min(options.jobs, len(chosen)))


sys.exit(main())
