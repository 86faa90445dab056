# SPDX-License-Identifier: MIT
"""Looks for what a finished tree does not hold: paths of one machine, marks of unfinished work,
words that technical English does not use, and references to documents and files that are not there.

    words.py SOURCE_ROOT
"""

import os
import re
import sys

import tree

# Spelled in pieces, so that this file passes its own check.
MARKS = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"])
UNFINISHED = re.compile(rf"\b({MARKS})\b|\bst" + r"ubs?\b|\bnot imple" + "mented")
MACHINE = re.compile(r"(^|[^A-Za-z0-9_.])/(wo" + "rk|fa" + "rm|ho" + r"me/\w+|ro" + r"ot)/|\.\./sha" + "red")

DOCUMENT = re.compile(r"(?<![\w:/.-])([A-Za-z0-9_][A-Za-z0-9_./-]*\.md)\b")
# Papers that may be called by their name alone.
PAPER = re.compile(r"\b(DESI" + "GN|RELIA" + "BILITY|STY" + r"LE)\b(?!\.md)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")

# Each has a plainer word: no one, everyone, anyone who, again; LMDB calls them meta pages.
ODD = re.compile(r"\b([Nn]o|[Aa]ny|[Ee]very|[Ss]ome)bo" + r"dy\b|\b[Ww]hom?ev" + r"er\b"
                 r"|\b[Aa]n" + r"ew\b|\bstands? (be" + r"hind|al" + r"one|tw" + r"ice)\b|\bhead pa" + r"ges?\b")

DATA_ENDS = (".epd", ".csv", ".tsv", ".pgn")


def found(pattern, text):
    # Hardly any file has one.
    if not pattern.search(text):
        return []
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


def check_odd(path, text):
    return found(ODD, text)


def names_nothing(path, name, known):
    """True if no file is meant by `name`, written in the file at `path`."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return beside not in known and not any(k == name or k.endswith("/" + name) for k in known)


def check_references(path, text, known):
    """Documents named anywhere; in Markdown also every relative link."""
    faults = []
    if not (path.endswith(".md") or DOCUMENT.search(text) or PAPER.search(text)):
        return []
    for number, line in enumerate(text.split("\n"), 1):
        names = set(DOCUMENT.findall(line))
        names |= {name + ".md" for name in PAPER.findall(line)}
        if path.endswith(".md"):
            names |= set(LINK.findall(line))
        faults += [f"{number}: {name} is not there"
                   for name in sorted(names) if names_nothing(path, name.rstrip("/"), known)]
    return faults


def main():
    root = sys.argv[1]
    report = tree.Report()
    every = tree.files(root)
    known = set(every) | {os.path.dirname(path) for path in every}
    paths = [
        p for p in every if not p.startswith(tree.DATA) and not p.endswith(DATA_ENDS)
    ]
    for mark in ("TO" + "DO", "st" + "ub", "not imple" + "mented"):
        report.planted("marks", check_unfinished, "x.c", f"/* {mark}: later */")
    report.clean("marks", check_unfinished, "x.md", "HACKING.md, /tmp/dir-XXXXXX")
    report.over("no marks of unfinished work", check_unfinished, root, paths)
    for place in ("/wo" + "rk/x", "../sha" + "red/x", "/ho" + "me/me/x"):
        report.planted("paths", check_machine, "x.c", f"see {place}")
    report.clean("paths", check_machine, "x.c", "build/work/x, the homework/x")
    report.over("no paths of one machine", check_machine, root, paths)

    for word in ("No" + "body", "an" + "ew", "whoev" + "er", "stands be" + "hind", "head pa" + "ge"):
        report.planted("odd words", check_odd, "x.c", f"/* {word} it */")
    report.clean("odd words", check_odd, "x.c", "#define NOBODY 1 /* no one; stands for; ahead */")
    report.over("no odd words", check_odd, root, paths)

    def references(path, text):
        return check_references(path, text, known)

    report.planted("references", references, "x.c", "/* see docs/NO" + "NE.md */")
    report.planted("references", references, "x.c", "/* as DESI" + "GN says */")
    report.planted("links", references, "docs/x.md", "[here](../no" + "where.c)")
    report.clean("references", references, "docs/x.md", "[a](../HACKING.md#tests) HACKING.md")
    report.over("documents that are named are there", references, root,
                [p for p in paths if p.endswith((".c", ".h", ".md", ".proto"))])
    report.finish()


main()
