#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Shares the sources of a unity build out again, so that no two with the same static name meet.

    unity.py BUILDDIR

meson puts neighbours of a list together, whatever is in them. Here a source goes into the first file
of its target that has none of its names yet, in fewest files; those left over stay empty. Run it after
each `meson setup`, which writes the files again.
"""

import glob
import os
import re
import sys

# In this tree's layout: a static function or object, a macro, the constants of an enum.
NAMES = [re.compile(pattern, re.M | re.S) for pattern in (
    r"^static [^;{}()=]*?\b(\w*[a-z]\w*)\s*[(=;\[]",
    r"^#define (\w+)",
    r"^(?:struct|union|enum) (\w+) \{",
    r"^(?:enum(?: \w+)? \{|\t)\s*([A-Z]\w+)(?: = [^,\n]*)?,",
)]
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def names_in(path):
    with open(path, encoding="utf-8") as file:
        text = COMMENT.sub("", file.read())
    return {name for pattern in NAMES for name in pattern.findall(text)}


def share_out(folder, files):
    """The sources of `files`, all of one target, into as few of them as will do."""
    sources = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            sources += re.findall(r"#include<(.*)>", file.read())
    room = [(set(), []) for _ in files]
    each = -(-len(sources) // len(files))
    for source in sources:
        own = names_in(os.path.join(folder, source))
        taken, members = min(room, key=lambda r: (len(r[0] & own) > 0, len(r[1]) >= 2 * each, len(r[1])))
        if taken & own:
            sys.exit(f"unity.py: {source}: no file is left for its names: {sorted(taken & own)}")
        taken |= own
        members.append(source)
    for path, (_, members) in zip(files, room):
        text = "".join(f"#include<{source}>\n" for source in members)
        with open(path, encoding="utf-8") as file:
            same = file.read() == text
        if not same:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for folder in sorted(glob.glob(os.path.join(sys.argv[1], "**", "*.p"), recursive=True)):
        files = glob.glob(os.path.join(folder, "*-unity*.c"))
        if len(files) > 1:
            share_out(sys.argv[1], sorted(files, key=lambda path: (len(path), path)))


main()
