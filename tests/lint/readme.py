# SPDX-License-Identifier: MIT
"""What README.md shows is what is there: its program is the one that is compiled and run as a test.

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


def main(root):
    report = tree.Report()
    program = tree.read(root, PROGRAM)
    readme = tree.read(root, "README.md")
    planted = f"<!-- {PROGRAM} -->\n```c\nint x;\n```\n<!-- end -->\n"
    report.planted("readme", lambda path, text: shown(text, program), "README.md", planted)
    report.line("readme: the program shown is the one tested", shown(readme, program))
    report.finish()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
