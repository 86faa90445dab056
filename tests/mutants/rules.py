# SPDX-License-Identifier: MIT
"""The rules of rules.txt, each with the changes that take it out of the program.

A rule of docs/TESTED.md that no test would miss is a wish. So each of them is broken on
purpose, in a copy of the tree.
"""

import os
import re
from dataclasses import dataclass, field

import mutator

DOCUMENT = "docs/TESTED.md"
BEGIN = "<!-- rules: written by tests/mutants/run.py --docs -->\n"
END = "<!-- end of the rules -->\n"


@dataclass
class Mutant:
    name: str
    rule: str
    test: str
    case: str
    edits: list = field(default_factory=list)  # (path, function, change)


def read_rules():
    """((title, mutants), ...) in the order of the document."""
    sections = []
    with open(os.path.join(os.path.dirname(__file__), "rules.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                sections.append((line[3:], []))
            elif line.startswith("\t"):
                place, _, change = line.strip().partition(": ")
                sections[-1][1][-1].edits.append((*place.split(" "), change))
            elif line and not line.startswith("#"):
                sections[-1][1].append(Mutant(*line.split(" | ")))
    return sections


SECTIONS = read_rules()
ALL = tuple(mutant for _, mutants in SECTIONS for mutant in mutants)

# Changes nothing that a test could see.
CONTROL = Mutant("control-changes-nothing", "", "base arena", "budget_is_exact",
                 [("base/arena.c", "chi_arena_init", ".budget = budget => .blocks = NULL, .budget = budget")])


def changed(mutant, read):
    """{path: text} with the mutant's edits; read(path) gives the text of a file, or None.
    ValueError if an edit does not fit."""
    texts = {}
    for path, function, edit in mutant.edits:
        text = texts.get(path) or read(path)
        if text is None:
            raise ValueError(f"{mutant.name}: there is no {path}")
        try:
            texts[path] = mutator.apply(text, function, edit)
        except ValueError as fault:
            raise ValueError(f"{mutant.name}: {path} {function}: {fault}") from fault
    return texts


def table():
    """The rules in Markdown, a table for each section."""
    lines = []
    for title, mutants in SECTIONS:
        lines += [f"### {title}", "", "| what must hold | mutant | test | case |",
                  "|---|---|---|---|"]
        lines += [f"| {m.rule} | `{m.name}` | `{m.test}` | `{m.case}` |" for m in mutants]
        lines.append("")
    return "\n".join(lines)


def with_table(document):
    """The document with the table in its place; ValueError if it has no place for it."""
    match = re.search(f"{re.escape(BEGIN)}.*?{re.escape(END)}", document, re.S)
    if match is None:
        raise ValueError("no place for the table of rules")
    return document[:match.start()] + BEGIN + "\n" + table() + "\n" + END + document[match.end():]


def read_file(root, path):
    """The text of a file, or None if there is none."""
    path = os.path.join(root, path)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def misfits(chosen, document, root):
    """{name of a mutant that does not fit the tree: why}, also for a table that is out of date."""
    found = {}
    for mutant in chosen:
        try:
            changed(mutant, lambda path: read_file(root, path))
        except ValueError as fault:
            found[mutant.name] = str(fault)
    names = [mutant.name for mutant in ALL]
    found |= {name: f"{name}: there are two of that name" for name in names if names.count(name) > 1}
    if with_table(document) != document:
        found[DOCUMENT] = f"{DOCUMENT} has another table: run tests/mutants/run.py --docs"
    return found
