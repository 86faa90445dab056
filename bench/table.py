# SPDX-License-Identifier: MIT
"""Lines of a benchmark's table: the ratios of all rounds, their verdict, and how they are printed;
what both drivers (run.py, games.py) share."""

import os
import re
import statistics
import subprocess
import sys

# A line is not judged if its ratios spread over more than this share of their median.
SPREAD_MAX = 0.40

MET, MISSED, NOISY, NOT_MEASURED = "met", "MISSED", "too noisy", "NOT MEASURED"


class CannotMeasure(Exception):
    pass


class Line:
    """One line of the table: the ratios of all rounds, judged against a target."""

    def __init__(self, name, ratios, target=None, unit="x", at_most=False):
        self.name = name
        self.ratios = ratios
        self.target = target
        self.unit = unit
        self.at_most = at_most

    @property
    def median(self):
        return statistics.median(self.ratios)

    def verdict(self):
        if self.target is None:
            return "-"
        if max(self.ratios) - min(self.ratios) > SPREAD_MAX * self.median:
            return NOISY
        met = self.median <= self.target if self.at_most else self.median >= self.target
        return MET if met else MISSED

    def cells(self):
        def show(value):
            if value >= 1000:
                return f"{value:,.0f}"
            return f"{value:.1f}" if value >= 10 else f"{value:.2f}"

        target = "-"
        if self.target is not None:
            target = ("<= " if self.at_most else ">= ") + show(self.target)
        return [self.name, target, show(self.median),
                f"{show(min(self.ratios))}..{show(max(self.ratios))}", self.unit, self.verdict()]


class Failed(Line):
    """A line that should be there and could not be measured."""

    def __init__(self, name, reason):
        super().__init__(name, [])
        self.reason = reason

    def verdict(self):
        return NOT_MEASURED

    def cells(self):
        return [self.name, "-", "-", "-", "-", f"{NOT_MEASURED}: {self.reason}"]


def machine():
    """The machine and the versions, a line each."""
    def first(command):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  encoding="utf-8", check=False)
            return done.stdout.splitlines()[0] if done.stdout else "?"
        except OSError:
            return "?"

    with open("/proc/cpuinfo", encoding="utf-8") as text:
        found = re.search(r"^model name\s*: (.*)$", text.read(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    packages = first(["dpkg-query", "-W", "-f", "${Package} ${Version}, ", "liblmdb0",
                      "libevent-core-2.1-7", "libprotobuf-c1", "stockfish", "redis-server",
                      "memcached", "librocksdb7.8", "libleveldb1d", "libsqlite3-0"])
    return [f"{found.group(1) if found else '?'}, {os.cpu_count()} cores, {memory:.0f} GiB",
            f"Linux {os.uname().release}; {first(['gcc', '--version'])}",
            packages.rstrip(", ")]


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join(cells + [row[-1]]))


def measure(parts, speeds, verdicts):
    """Runs the parts, (name, function) each, and prints the table: their lines, and beneath it the
    figures that are no ratios. A part that fails does not stop the others."""
    lines = []
    for name, part in parts:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        try:
            lines += part()
        except (CannotMeasure, OSError, subprocess.SubprocessError) as reason:
            lines.append(Failed(name, reason))
    print_table([["what", "target", "median", "min..max", "unit", "verdict"]] +
                [line.cells() if verdicts or isinstance(line, Failed) else
                 line.cells()[:-1] + ["not judged"] for line in lines])
    print()
    print_table([["speed", "median"]] +
                [[what, f"{speed:,.0f}"] for what, speed in speeds])
    return lines


def exit_status(lines, quick):
    """See run.py."""
    verdicts = [line.verdict() for line in lines]
    if NOT_MEASURED in verdicts:
        return 2
    if quick:
        return 0
    if MISSED in verdicts:
        return 1
    return 2 if NOISY in verdicts else 0
