#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How many lines of each room the tests have reached, from what they left in a build for coverage.

    coverage.py [--missing PREFIX] BUILD

Prints a table; with --missing also the lines of the files under PREFIX that were not reached.
Exit 1 if a room is below LEAST, or has not been measured.
"""

import argparse
import json
import subprocess
import sys

LEAST = 90.0  # per cent
ROOMS = ["base", "chess", "store", "import", "proto", "daemon", "http", "client", "formats", "cli"]
# What server programs share is counted with the daemon: its sandbox is left out of a build that
# counts, and how it changes its user only root can see.
COUNTED_WITH = {"service/": "daemon/"}


def room_of(path):
    """The longest of ROOMS that the file is in, or is counted with; None: it is in none."""
    for folder, other in COUNTED_WITH.items():
        path = path.replace(folder, other, 1) if path.startswith(folder) else path
    return max((room for room in ROOMS if path.startswith(room + "/")), key=len, default=None)


def measure(build):
    """A row for each line of code: path, number, how often it ran."""
    folders = [word for room in [*(room + "/" for room in ROOMS), *COUNTED_WITH]
               for word in ("--filter", room)]
    done = subprocess.run(["gcovr", "--root", ".", "--object-directory", build, "-j", "2",
                           "--json", "-", *folders, build], stdout=subprocess.PIPE, check=True)
    for file in json.loads(done.stdout)["files"]:
        for line in file["lines"]:
            if not line["gcovr/noncode"]:
                yield file["file"], line["line_number"], line["count"]


def ranges(numbers):
    """[1, 2, 3, 7] to "1-3 7"."""
    spans = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def print_missing(lines, prefix):
    missing = {}
    for path, number, count in lines:
        if count == 0 and path.startswith(prefix):
            missing.setdefault(path, []).append(number)
    for path, numbers in sorted(missing.items()):
        print(f"{path}: {ranges(sorted(numbers))}")


def table(lines):
    """Rows of room, lines, lines reached, per cent."""
    sums = {room: [0, 0] for room in ROOMS}
    for path, _, count in lines:
        room = room_of(path)
        if room is not None:
            sums[room][0] += 1
            sums[room][1] += count > 0
    for room, (all_lines, reached) in sums.items():
        yield room, all_lines, reached, 100 * reached / all_lines if all_lines else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--missing", metavar="PREFIX")
    parser.add_argument("build")
    args = parser.parse_args()
    lines = list(measure(args.build))
    if args.missing is not None:
        print_missing(lines, args.missing)
    low = []
    print("| room | lines | reached | % |\n|---|---:|---:|---:|")
    for room, all_lines, reached, share in table(lines):
        print(f"| {room}/ | {all_lines:,} | {reached:,} | {share:.1f} |")
        if share < LEAST:
            low.append(room)
    if low:
        print(f"coverage: below {LEAST:.0f} %: {', '.join(low)}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
