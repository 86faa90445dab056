# SPDX-License-Identifier: MIT
"""Looks for what a finished tree does not hold: paths of one machine, and marks of unfinished work.

    words.py SOURCE_ROOT
"""

import re
import sys

import tree

# Spelled in pieces, so that this file passes its own check.
MARKS = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"])
UNFINISHED = re.compile(rf"\b({MARKS})\b|\bst" + r"ubs?\b|\bnot imple" + "mented")
MACHINE = re.compile(r"(^|[^A-Za-z0-9_.])/(wo" + "rk|fa" + "rm|ho" + r"me/\w+|ro" + r"ot)/|\.\./sha" + "red")

DATA = ("tests/data/", "tests/fuzz/corpus/", "bench/data/", "demo/data/")
DATA_ENDS = (".epd", ".csv", ".tsv", ".pgn")


def found(pattern, text):
    return [
        f"{number}: {match.group(0).strip()}"
        for number, line in enumerate(text.split("\n"), 1)
        for match in [pattern.search(line)]
        if match
    ]


def check_unfinished(path, text):
    return found(UNFINISHED, text)


def check_machine(path, text):
    return found(MACHINE, text)


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = [
        p for p in tree.files(root) if not p.startswith(DATA) and not p.endswith(DATA_ENDS)
    ]
    for mark in ("TO" + "DO", "st" + "ub", "not imple" + "mented"):
        report.planted("marks", check_unfinished, "x.c", f"/* {mark}: later */")
    report.clean("marks", check_unfinished, "x.md", "HACKING.md, /tmp/dir-XXXXXX")
    report.over("no marks of unfinished work", check_unfinished, root, paths)
    for place in ("/wo" + "rk/x", "../sha" + "red/x", "/ho" + "me/me/x"):
        report.planted("paths", check_machine, "x.c", f"see {place}")
    report.clean("paths", check_machine, "x.c", "build/work/x, the homework/x")
    report.over("no paths of one machine", check_machine, root, paths)
    report.finish()


main()
