#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts the test cases of one or more meson test runs.

    summary.py LOGBASE...

LOGBASE is the path of a run's logs without their endings (build/meson-logs/testlog). Prints what
failed and, as the last line, 'N passed, N failed'. A test that died, timed out or left no log
counts as failed, and so does a run in which no case ran. Exit 0 if nothing failed.
"""

import json
import os
import sys
import xml.etree.ElementTree as ET

GOOD_RESULTS = {"OK", "SKIP", "EXPECTEDFAIL"}
DETAIL_LINES_MAX = 40


def count_cases(path):
    """Per suite (= meson test): passed, skipped, names of failed cases."""
    counts = {}
    for suite in ET.parse(path).getroot().iter("testsuite"):
        # A plain test is in a suite named for the project's suite, a TAP test is one itself.
        for case in suite.iter("testcase"):
            passed, skipped, failed = counts.setdefault(suite.get("name"), [0, 0, []])
            if case.find("skipped") is not None:
                skipped += 1
            elif case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{suite.get('name')}: {case.get('name')}")
            else:
                passed += 1
            counts[suite.get("name")] = [passed, skipped, failed]
    return counts


def bad_tests(path):
    """The log rows of tests that meson calls failed, whatever their cases said."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row["result"] not in GOOD_RESULTS]


def print_details(row):
    """What a TAP test says of its failed cases: meson shows its standard error alone."""
    shown = False
    count = 0
    for line in row.get("stdout", "").splitlines():
        shown = line.startswith("not ok") or (shown and line.startswith("#"))
        count += shown
        if shown and count <= DETAIL_LINES_MAX:
            print(f"  {row['name']}: {line}")


def summarise(logbase):
    """Passed, skipped, and a list of what failed, of one run."""
    junit, log = logbase + ".junit.xml", logbase + ".json"
    if not os.path.exists(junit) or not os.path.exists(log):
        return 0, 0, [f"{logbase}: the run left no log"]
    counts = count_cases(junit)
    passed = sum(c[0] for c in counts.values())
    skipped = sum(c[1] for c in counts.values())
    failed = [name for c in counts.values() for name in c[2]]
    for row in bad_tests(log):
        print_details(row)
        # Died after its last good case: no case tells of it, so the test itself does.
        if not any(row["name"] in case for case in failed):
            failed.append(f"{row['name']}: {row['result']}")
    if passed + len(failed) == 0:
        failed = [f"{logbase}: no test ran"]
    return passed, skipped, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    passed = skipped = 0
    failed = []
    for logbase in sys.argv[1:]:
        run_passed, run_skipped, run_failed = summarise(logbase)
        print(f"{logbase}: {run_passed} passed, {len(run_failed)} failed, {run_skipped} skipped")
        failed += [f"{logbase}: {name}" for name in run_failed]
        passed += run_passed
        skipped += run_skipped
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
