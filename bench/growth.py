#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures how the time of a probe grows with the records: a large store against a small one, both
in memory.

    growth.py BUILD_DIR [--large N] [OPTION]...     see --help

The small store has a million records, or as many as --records says. Both are made of random games
(make_store), both are asked the same number of positions, drawn at random from all of their own.
"""

import sys

import records
import runner
from runner import Part, Program, Suite
from table import CannotMeasure, Line

GROWTH_MAX = 2.0
# What memory must hold at least: the large file, and something to work with.
MEMORY_SPARE = 1.15
READ_SIZE = 1 << 24


class Growth(Suite):
    name = "growth"
    title = "Growth of a probe's time with the records"

    def __init__(self, setting):
        super().__init__(setting)
        self.small = setting.records("played", setting.args.records or runner.RECORDS)
        self.large = setting.records("played", setting.args.large)

    def warm(self, one):
        """Reads the data file from end to end: what is measured is memory, not the disk."""
        with open(one.store + "/data.mdb", "rb") as file:
            while file.read(READ_SIZE):
                pass

    def measure_growth(self):
        sizes = [one.ready["positions"] for one in (self.small, self.large)]
        if self.large.ready["bytes"] * MEMORY_SPARE > records.available_memory():
            raise CannotMeasure(f"{self.large.ready['bytes'] >> 20} MiB do not fit into memory")
        ours, raw = (self.tools.path("bench", name) for name in ("bench_chistore", "bench_raw"))
        for one in (self.small, self.large):
            self.warm(one)
        lines = []
        with Program(ours, self.small.store, self.small.lists) as small, \
                Program(ours, self.large.store, self.large.lists) as large, \
                Program(raw, self.small.store, self.small.lists) as small_raw, \
                Program(raw, self.large.store, self.large.lists) as large_raw:
            for name, few, many, operation, target in (
                    ("chi_probe of one key", small, large, "probe-random", GROWTH_MAX),
                    ("chi_probe of 32 keys", small, large, "many-32-random", GROWTH_MAX),
                    ("chi_prober_key", small, large, "prober-random", GROWTH_MAX),
                    ("chi_prober_many of 32", small, large, "prober-many-random", GROWTH_MAX),
                    ("mdb_get", small_raw, large_raw, "get-random", None),
                    ("one wait for memory", small_raw, large_raw, "touch", None)):
                speeds = self.turns([(few, operation), (many, operation)], same=0)
                lines.append(Line(
                    f"time of {name}, {sizes[1]:,} records / {sizes[0]:,}",
                    [a / b for a, b in zip(*speeds)], target, at_most=True))
                for size, mine in zip(sizes, speeds):
                    self.note_speed(f"{name}, {size:,} records, a second", mine)
        return lines

    def parts(self):
        return [Part("growth", self.measure_growth, (5 + self.large.size / 1e7, 8),
                     (self.small, self.large))]


def suites(setting):
    return [Growth(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
