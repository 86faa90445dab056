# SPDX-License-Identifier: MIT
"""Every file of the tree has its terms: in its own head or in REUSE.toml, whose licences are in LICENSES/. `reuse lint`,
where it is installed, checks the same and more.

    licences.py SOURCE_ROOT
"""

import os
import re
import sys
import tomllib

import tree

# In pieces: this file has one of its own.
SAID = re.compile(rb"SPDX-License-" + rb"Identifier:[ \t]+([A-Za-z0-9.-]+)")
HEAD_BYTES = 4096
TEXTS = "LICENSES/"
# The table itself is covered by what it says of others, the texts by themselves.
OWN = ("REUSE.toml", TEXTS)


def pattern_of(path):
    """A path of REUSE.toml: ** is anything, * anything but a slash."""
    parts = re.split(r"(\*\*|\*)", path)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts) + r"\Z")


def annotations(text):
    """[(pattern, licence)], in order: the last that fits counts."""
    table = []
    for one in tomllib.loads(text)["annotations"]:
        paths = one["path"] if isinstance(one["path"], list) else [one["path"]]
        table += [(pattern_of(path), one["SPDX-License-Identifier"]) for path in paths
                  if one["SPDX-FileCopyrightText"]]
    return table


def licence_of(path, head, table):
    """The licence of a file; None if nothing says it."""
    found = [licence for pattern, licence in table if pattern.match(path)]
    said = SAID.search(head)
    if not found:
        return None
    return said[1].decode() if said else found[-1]


def head_of(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.read(HEAD_BYTES)


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = tree.files(root)
    table = annotations(tree.read(root, "REUSE.toml"))
    texts = {os.path.splitext(os.path.basename(path))[0] for path in paths if path.startswith(TEXTS)}

    def uncovered(path, text):
        return [] if licence_of(path, text.encode(), table) in texts else [f"{path} has no terms: REUSE.toml"]

    report.planted("licences", uncovered, "tests/data/found.bin", "")
    report.planted("licences without a text", uncovered, "x.c", "/* SPDX-License-" + "Identifier: WTFPL */\n")
    report.clean("licences", uncovered, "demo/positions.epd.gz", "")
    faults = []
    used = set()
    for path in paths:
        if not path.startswith(OWN):
            licence = licence_of(path, head_of(root, path), table)
            used.add(licence)
            if licence not in texts:
                faults.append(f"{path}: {licence or 'no terms'}, see REUSE.toml")
    report.line(f"licences: each of {len(paths)} files has one that is in {TEXTS}", faults)
    report.line("licences: each text is used", sorted(texts - used))
    report.finish()


main()
