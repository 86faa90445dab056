# SPDX-License-Identifier: MIT
"""What a mutant is: the same program with one rule taken out, and the test that must notice.

A rule of docs/RELIABILITY.md that no test would miss is a wish. So each of them is broken on
purpose, in a copy of the tree, by replacing a text that occurs in a file exactly once.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`test` is a name of `meson test --list`; `case` one of its cases, which must be among those
    that fail: the name of a cmocka function, or Class.method of a script."""

    name: str
    rule: str  # what is no longer so, for docs/RELIABILITY.md
    path: str
    old: str
    new: str
    test: str
    case: str
    more: tuple = ()  # other edits of the same kind: (path, old, new)

    def edits(self):
        return ((self.path, self.old, self.new), *self.more)


def changed(mutant, read):
    """{path: text} with the mutant's edits; read(path) gives the text of a file, or None.
    ValueError if an edit does not fit."""
    texts = {}
    for path, old, new in mutant.edits():
        text = texts.get(path) or read(path)
        if text is None:
            raise ValueError(f"{mutant.name}: there is no {path}")
        if text.count(old) != 1:
            raise ValueError(f"{mutant.name}: found {text.count(old)} times in {path}: {old!r}")
        if old == new:
            raise ValueError(f"{mutant.name}: changes nothing")
        texts[path] = text.replace(old, new)
    return texts


def table(sections):
    """The rules in Markdown, a table for each section."""
    lines = []
    for title, mutants in sections:
        lines += [f"### {title}", "", "| what must hold | mutant | test | case |", "|---|---|---|---|"]
        lines += [f"| {m.rule} | `{m.name}` | `{m.test}` | `{m.case}` |" for m in mutants]
        lines.append("")
    return "\n".join(lines)


BEGIN = "<!-- rules: written by tests/mutants/run.py --docs -->\n"
END = "<!-- end of the rules -->\n"


def with_table(document, sections):
    """The document with the table in its place; ValueError if it has no place for it."""
    match = re.search(f"{re.escape(BEGIN)}.*?{re.escape(END)}", document, re.S)
    if match is None:
        raise ValueError("no place for the table of rules")
    return document[:match.start()] + BEGIN + "\n" + table(sections) + "\n" + END + document[match.end():]
