# SPDX-License-Identifier: MIT
"""Lines of a benchmark's table: the ratios of all rounds, their verdict, how tables are written, and
the machine they were made on."""

import os
import re
import statistics
import subprocess

# A line is not judged, and its figure not told, if its rounds spread over more than this share of
# their median.
SPREAD_MAX = 0.40

MET, MISSED, NOISY, NOT_MEASURED, NOT_JUDGED = ("met", "MISSED", "too noisy", "NOT MEASURED",
                                                "not judged")


class CannotMeasure(Exception):
    pass


def spread(values):
    """How far the values lie apart, as a share of their median."""
    median = statistics.median(values)
    return (max(values) - min(values)) / median if median > 0 else float("inf")


def show(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Line:
    """One line of the table: the ratios of all rounds, judged against a target."""

    def __init__(self, name, ratios, target=None, unit="x", at_most=False):
        self.name = name
        self.ratios = ratios
        self.target = target
        self.unit = unit
        self.at_most = at_most
        self.judged = True  # a quick run judges nothing
        self.disturbed = False  # others used the machine meanwhile

    @property
    def median(self):
        return statistics.median(self.ratios)

    def verdict(self):
        if not self.judged:
            return NOT_JUDGED
        if self.disturbed or spread(self.ratios) > SPREAD_MAX:
            return NOISY
        if self.target is None:
            return "-"
        met = self.median <= self.target if self.at_most else self.median >= self.target
        return MET if met else MISSED

    def cells(self):
        verdict = self.verdict()
        target = "-"
        if self.target is not None:
            target = ("<= " if self.at_most else ">= ") + show(self.target)
        return [self.name, target, "-" if verdict == NOISY else show(self.median),
                f"{show(min(self.ratios))}..{show(max(self.ratios))}", self.unit, verdict]


class Failed(Line):
    """A line that should be there and could not be measured."""

    def __init__(self, name, reason):
        super().__init__(name, [])
        self.reason = reason

    def verdict(self):
        return NOT_MEASURED

    def cells(self):
        return [self.name, "-", "-", "-", "-", f"{NOT_MEASURED}: {self.reason}"]


class Speed:
    """A figure that is no ratio; for what it is worth on this machine."""

    def __init__(self, what, speeds):
        self.what = what
        self.speeds = speeds

    def cells(self):
        noisy = spread(self.speeds) > SPREAD_MAX
        return [self.what, NOISY if noisy else f"{statistics.median(self.speeds):,.0f}"]


def format_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [("  ".join([cell.ljust(width) for cell, width in zip(row, widths)] +
                       [row[-1]])).rstrip() for row in rows]


def table_of_lines(lines):
    return format_table([["what", "target", "median", "min..max", "unit", "verdict"]] +
                        [line.cells() for line in lines])


def table_of_speeds(speeds):
    return format_table([["speed", "median"]] + [speed.cells() for speed in speeds])


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
                      "libevent-core-2.1-7", "libprotobuf-c1", "stockfish", "pgn-extract",
                      "redis-server", "libhiredis0.14", "memcached", "librocksdb7.8",
                      "libleveldb1d", "libsqlite3-0"])
    return [f"{found.group(1) if found else '?'}, {os.cpu_count()} cores, {memory:.0f} GiB",
            f"Linux {os.uname().release}; {first(['gcc', '--version'])}",
            packages.rstrip(", ")]


def count_verdicts(lines):
    """Verdict -> names of the lines with a target, or that could not be measured."""
    found = {MET: [], MISSED: [], NOISY: [], NOT_MEASURED: []}
    for line in lines:
        verdict = line.verdict()
        if verdict == NOT_MEASURED or (line.target is not None and verdict in found):
            found[verdict].append(line.name)
    return found


def exit_status(lines, quick):
    """0 every target met; 1 a target missed; 2 something could not be measured, or was too noisy
    to judge."""
    found = count_verdicts(lines)
    if found[NOT_MEASURED]:
        return 2
    if quick:
        return 0
    if found[MISSED]:
        return 1
    return 2 if found[NOISY] else 0


def put_into(path, name, text):
    """Writes a section into a Markdown file: between its marks, where they are, or at its end."""
    begin, end = f"<!-- figures: {name} -->\n", f"<!-- end of figures: {name} -->\n"
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    if begin in old and end in old:
        head, rest = old.split(begin, 1)
        tail = rest.split(end, 1)[1]
    else:
        head, tail = (old + "\n" if old else ""), ""
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + begin + text + end + tail)
