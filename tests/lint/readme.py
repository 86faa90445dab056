# SPDX-License-Identifier: MIT
"""What the guides show is what is there: the program in README.md is the one that is compiled and
run as a test, and the map in HACKING.md names every source file of the rooms.

    readme.py SOURCE_ROOT
"""

import fnmatch
import os
import re
import sys

import tree

PROGRAM = "examples/first.c"
SHOWN = re.compile(rf"<!-- {PROGRAM} -->\n```c\n(.*?)```\n<!-- end -->", re.S)
MOST_LINES = 60


def shown(readme, program):
    """The faults of the README's copy, compared with the program."""
    match = SHOWN.search(readme)
    if match is None:
        return [f"README.md does not show {PROGRAM}"]
    if match.group(1) != program:
        return [f"README.md shows another text than {PROGRAM}"]
    lines = program.count("\n")
    return [f"{PROGRAM} has {lines} lines, more than {MOST_LINES}"] if lines > MOST_LINES else []


# A row of the map: the room's folder, and what is in it.
ROW = re.compile(r"^\| \[([a-z/]+)/\]\([a-z/]+\) \| (.*) \|$", re.M)
ROOMS = {"base", "chess", "store", "bulk", "proto", "client", "formats", "client/cli", "daemon"}


def unmapped(text, paths):
    """Source files of the rooms that the map does not name, be it by a pattern (cmd_*)."""
    rows = {room: re.findall(r"[\w.*]+", words) for room, words in ROW.findall(text)}
    faults = [f"HACKING.md has no row for {room}/" for room in sorted(ROOMS - set(rows))]
    for path in paths:
        room, name = os.path.split(path)
        stem, kind = os.path.splitext(name)
        if room in ROOMS and room in rows and kind in (".c", ".h"):
            stem = stem.removesuffix("_priv")
            if not any(fnmatch.fnmatch(known, word.rstrip("."))
                       for word in rows[room] for known in (stem, name)):
                faults.append(f"HACKING.md does not name {path}")
    return faults


def main(root):
    report = tree.Report()
    program = tree.read(root, PROGRAM)
    readme = tree.read(root, "README.md")
    planted = f"<!-- {PROGRAM} -->\n```c\nint x;\n```\n<!-- end -->\n"
    report.planted("readme", lambda path, text: shown(text, program), "README.md", planted)
    report.line("readme: the program shown is the one tested", shown(readme, program))
    hacking = tree.read(root, "HACKING.md")
    report.planted("map", lambda path, text: unmapped(text, ["base/nobody.c"]), "HACKING.md",
                   hacking)
    report.line("map: every file of the rooms is named", unmapped(hacking, tree.files(root)))
    report.finish()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
