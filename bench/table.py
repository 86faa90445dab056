# SPDX-License-Identifier: MIT
"""Lines of a benchmark's table: the ratios of all rounds, their verdict, how tables are written, and
the machine they were made on."""

import math
import os
import re
import statistics
import subprocess

# A line is not judged, and its figure not told, if the interval in which its true median lies is
# wider than this share of the median.
WIDTH_MAX = 0.30
CONFIDENCE = 0.95

MET, MISSED, NOISY, NOT_MEASURED, NOT_JUDGED = ("met", "MISSED", "too noisy", "NOT MEASURED",
                                                "not judged")


class CannotMeasure(Exception):
    pass


def interval(values):
    """
    The narrowest pair of values, as far from the lowest as from the highest, between which the
    true median lies with 95 % confidence, whatever the distribution is. Of fewer than six values
    none can say that: lowest and highest then.
    """
    ordered = sorted(values)
    n, skipped, outside = len(ordered), 0, 0.0
    while skipped < (n - 1) // 2:
        outside += math.comb(n, skipped) / 2 ** n  # exactly so many lie on one side of it
        if 2 * outside > 1 - CONFIDENCE:
            break
        skipped += 1
    skipped = max(skipped - 1, 0)
    return ordered[skipped], ordered[n - 1 - skipped]


def is_noisy(values):
    low, high = interval(values)
    return high - low > WIDTH_MAX * statistics.median(values)


def show(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Line:
    """One line of the table: the ratios of all rounds, judged against a target."""

    timed = True  # else what other programs do does not change it

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
        if self.disturbed or is_noisy(self.ratios):
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
        low, high = interval(self.ratios)
        return [self.name, target, "-" if verdict == NOISY else show(self.median),
                f"{show(low)}..{show(high)}", self.unit, verdict]


class Size(Line):
    """Bytes, or a share of them."""

    timed = False

    def __init__(self, name, value, target, unit="bytes", at_most=True):
        super().__init__(name, [value], target, unit, at_most)


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
        noisy = is_noisy(self.speeds)
        return [self.what, NOISY if noisy else f"{statistics.median(self.speeds):,.0f}"]


def format_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [("  ".join([cell.ljust(width) for cell, width in zip(row, widths)] +
                       [row[-1]])).rstrip() for row in rows]


def table_of_lines(lines):
    return format_table([["what", "target", "median", "interval", "unit", "verdict"]] +
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
