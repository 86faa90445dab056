# SPDX-License-Identifier: MIT
"""Holds the mutants to the tree: each text to be replaced is there once, each test
that must fail exists, and docs/RELIABILITY.md has the table of them.

    rules.py SOURCE_ROOT BUILD_ROOT
"""

import dataclasses
import json
import os
import subprocess
import sys

import tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutants"))
import mutants  # noqa: E402
from mutant import changed, with_table  # noqa: E402


def tests_of(build):
    """{name: paths of its sources and scripts} of the build's tests."""
    def introspect(what):
        return json.loads(subprocess.run(["meson", "introspect", what, build], check=True,
                                         capture_output=True, text=True).stdout)

    targets = {target["id"]: target for target in introspect("--targets")}
    found = {}
    for test in introspect("--tests"):
        paths = [word for word in test["cmd"] if word.endswith(".py")]
        for target in test["depends"]:
            for part in targets[target]["target_sources"]:
                paths += [path for path in part.get("sources", []) if "/tests/" in path]
        found[test["name"]] = paths
    return found


def check(listed, read, tests):
    """What is wrong with mutants; `tests` as tests_of()."""
    faults = []
    names = set()
    for mutant in listed:
        try:
            changed(mutant, read)
        except ValueError as fault:
            faults.append(str(fault))
        if mutant.name in names:
            faults.append(f"{mutant.name}: there are two of that name")
        names.add(mutant.name)
        if mutant.test not in tests:
            faults.append(f"{mutant.name}: there is no test '{mutant.test}'")
            continue
        words = [f"class {word}" if word[0].isupper() else word
                 for word in mutant.case.split(".")]
        texts = [open(path, encoding="utf-8").read() for path in tests[mutant.test]]
        # A lint's case has its name put together.
        if not mutant.test.startswith("lint ") and not any(
                all(word in text for word in words) for text in texts):
            faults.append(f"{mutant.name}: '{mutant.test}' has no case {mutant.case}")
    return faults


def main():
    root, build = sys.argv[1:3]
    report = tree.Report()
    tests = tests_of(build)

    def read(path):
        return tree.read(root, path)

    good = mutants.CONTROLS[0]
    planted = (
        ("text that is gone", {"old": "no such text anywhere"}),
        ("text that stands twice", {"old": "return"}),
        ("test that is gone", {"test": "base nothing"}),
        ("case that is gone", {"case": "no_such_case"}),
    )
    for name, change in planted:
        one = dataclasses.replace(good, **change)
        report.planted(f"mutants, {name}", lambda path, text, m=one: check([m], read, tests),
                       good.path, "")
    report.line("mutants: each fits the tree and names a test",
                check([*mutants.CONTROLS, *mutants.ALL], read, tests))
    document = read("docs/RELIABILITY.md")
    fresh = with_table(document, mutants.SECTIONS) == document
    report.line("mutants: docs/RELIABILITY.md has their table",
                [] if fresh else ["run tests/mutants/run.py --docs"])
    report.finish()


main()
