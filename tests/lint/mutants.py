# SPDX-License-Identifier: MIT
"""The rules that tests/mutants/ breaks: each change still fits the sources, each test and case is there,
and docs/TESTED.md has the table. Whether a test notices, run.py tries.

    mutants.py SOURCE_ROOT BUILD_ROOT
"""

import json
import os
import re
import sys

import tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mutants"))

import rules  # noqa: E402

GOOD = rules.CONTROL


def broken(**what):
    return rules.Mutant(**{**vars(GOOD), "name": "planted", **what})


def names_of_tests(build):
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
        return {test["name"] for test in json.load(file)}


def words_of_tests(root):
    """Every word of the tests' sources, and the names of what is fuzzed with."""
    found = set()
    for path in tree.files(os.path.join(root, "tests")):
        if path.endswith((".c", ".py")):
            found.update(re.findall(r"\w+", tree.read(os.path.join(root, "tests"), path)))
        elif path.startswith("fuzz/corpus/"):
            found.add(os.path.basename(path))
    return found


def main():
    root, build = (os.path.abspath(path) for path in sys.argv[1:3])
    report = tree.Report()
    tests, words = names_of_tests(build), words_of_tests(root)
    document = tree.read(root, rules.DOCUMENT)

    def check(mutants):
        return rules.misfits(mutants, document, root).values()

    # Some are run once more under a name with another end.
    def check_tests(mutants):
        return [f"{m.name}: no test '{m.test}' with a case '{m.case}'" for m in mutants
                if m.test not in tests
                or not words.issuperset(re.findall(r"\w+", m.case.removesuffix("_rewritten")))]

    for what in ({"edits": [("base/arena.c", "chi_arena_init", "never nothing")]},
                 {"edits": [("base/gone.c", "-", "a => b")]}):
        report.planted("fit", lambda _, mutant: check([mutant]), "a row", broken(**what))
    report.planted("fit", lambda _, text: rules.misfits([], text, root), "the document",
                   document.replace(GOOD.test, "another test").replace(rules.ALL[0].name, "another"))
    report.line("fit: every change, and the table", check([GOOD, *rules.ALL]))
    for what in ({"test": "base gone"}, {"case": "a_case_" + "gone"}):
        report.planted("tests", lambda _, mutant: check_tests([mutant]), "a row", broken(**what))
    report.line("tests: every one is there", check_tests([GOOD, *rules.ALL]))
    report.finish()


main()
