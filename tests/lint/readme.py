# SPDX-License-Identifier: MIT
"""What README.md shows is what is there: its program is the one that is compiled and run as a test.
Each room has a README.md, and HACKING.md leads to it.

    readme.py SOURCE_ROOT
"""

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


def unknown_rooms(paths, hacking):
    """Folders with sources that have no README.md, or one that HACKING.md does not link."""
    rooms = {os.path.dirname(path) for path in paths if path.endswith(".c")}
    rooms = {room for room in rooms if room.split("/")[0] not in ("tests", "bench", "examples")}
    return ([f"{room}/ has no README.md" for room in sorted(rooms)
             if f"{room}/README.md" not in paths] +
            [f"HACKING.md has no link to {room}/README.md" for room in sorted(rooms)
             if f"({room}/README.md)" not in hacking])


def main(root):
    report = tree.Report()
    program = tree.read(root, PROGRAM)
    readme = tree.read(root, "README.md")
    planted = f"<!-- {PROGRAM} -->\n```c\nint x;\n```\n<!-- end -->\n"
    report.planted("readme", lambda path, text: shown(text, program), "README.md", planted)
    report.line("readme: the program shown is the one tested", shown(readme, program))
    hacking = tree.read(root, "HACKING.md")
    report.planted("rooms", lambda path, text: unknown_rooms([path], hacking), "kitchen/x.c", "")
    report.line("rooms: each has a README.md", unknown_rooms(tree.files(root), hacking))
    report.finish()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
