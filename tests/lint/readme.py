# SPDX-License-Identifier: MIT
"""What docs/TOUR.md shows is what is there: its program is the one that is compiled and run as a test, and
README.md shows nothing that it does not.
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


def shown(tour, program):
    """The faults of the tour's copy, compared with the program."""
    match = SHOWN.search(tour)
    if match is None:
        return [f"docs/TOUR.md does not show {PROGRAM}"]
    if match.group(1) != program:
        return [f"docs/TOUR.md shows another text than {PROGRAM}"]
    lines = program.count("\n")
    return [f"{PROGRAM} has {lines} lines, more than {MOST_LINES}"] if lines > MOST_LINES else []


def not_in_tour(readme, tour):
    """The README's commands with their output that the tour, where they are run, does not have so."""
    blocks = re.findall(r"(?ms)^```sh\n# not run: docs/TOUR.md has the same[^\n]*\n(.*?)^```$", readme)
    return (["README.md: no block of docs/TOUR.md"] if not blocks else
            [f"docs/TOUR.md lacks README.md's block '{block.splitlines()[0]}'" for block in blocks if block not in tour])


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
    tour = tree.read(root, "docs/TOUR.md")
    planted = f"<!-- {PROGRAM} -->\n```c\nint x;\n```\n<!-- end -->\n"
    report.planted("tour", lambda path, text: shown(text, program), "docs/TOUR.md", planted)
    report.line("tour: the program shown is the one tested", shown(tour, program))
    report.planted("readme", lambda path, text: not_in_tour(text, tour), "README.md",
                   "```sh\n# not run: docs/TOUR.md has the same\n$ chistore fly\n```\n")
    report.line("readme: its commands are run in the tour", not_in_tour(tree.read(root, "README.md"), tour))
    hacking = tree.read(root, "HACKING.md")
    report.planted("rooms", lambda path, text: unknown_rooms([path], hacking), "kitchen/x.c", "")
    report.line("rooms: each has a README.md", unknown_rooms(tree.files(root), hacking))
    report.finish()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
