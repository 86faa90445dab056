#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures what docs/MEASURED.md states about importing games, on a PGN file of the user's.

    games.py BUILD_DIR --pgn FILE [OPTION]...       see --help

A packed file is unpacked first, and not timed. Every round makes all comparisons in turns. --quick:
no pgn-extract if it is not installed.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import runner
from runner import Part, Program, Suite
from table import CannotMeasure, Line, Size

SPEED_TARGET = 2.5        # times pgn-extract
MEMORY_MAX = 512 + 256    # MiB: --memory and what is allowed beside it
OUTCOME_BYTES_MAX = 44    # bytes a position
CONTROL_BYTES_MAX = 76
GROWTH_MAX = 1.3          # time a game in the whole against that in a tenth
ADD_MAX = 0.25            # adding a tenth against building the whole
EXPLORE_MAX = 100         # microseconds
LOAD_TARGET = 1e6         # positions/s
FILL_NEW_MIN = 0.95       # share of its blocks that a new or compacted store fills
FILL_OLD_MIN = 0.6        # and one that games were added to

# Statistic, and the target of bytes a position without games.
SIZES = (("outcome", 21), ("control", 40))

# Name, statistic, --games, and the targets of speed and of bytes a position.
NEW_STORES = (("outcome", "outcome", "keep", SPEED_TARGET, OUTCOME_BYTES_MAX),
              ("counting", "outcome", "none", SPEED_TARGET, OUTCOME_BYTES_MAX),
              ("control", "control", "keep", None, CONTROL_BYTES_MAX))


class Games(Suite):
    name = "games"
    title = "Importing games"

    def __init__(self, setting):
        super().__init__(setting)
        self.peer = shutil.which("pgn-extract", path="/usr/games:/usr/bin:/usr/local/bin")
        self.path = setting.path
        self.pgn = None  # unpacked when it is needed
        self.n_games = self.first = self.last = None

    def describe(self):
        return [f"{self.n_games:,} games, {os.path.getsize(self.pgn) >> 20:,} MiB of PGN"]

    def prepare(self):
        if self.pgn is None:
            self.pgn = self.setting.plain_pgn()
            self.n_games, self.first, self.last = self.split()

    def split(self):
        """(number of games, file with the first tenth, file with the rest of the games)"""
        with open(self.pgn, "rb") as file:
            text = file.read()
        starts, at = [], 0 if text.startswith(b'[Event "') else text.find(b'\n[Event "') + 1
        while True:
            starts.append(at)
            at = text.find(b'\n[Event "', at) + 1
            if at == 0:
                break
        cut = starts[len(starts) // 10]
        for name, part in (("tenth.pgn", text[:cut]), ("rest.pgn", text[cut:])):
            with open(self.path(name), "wb") as file:
                file.write(part)
        return len(starts), self.path("tenth.pgn"), self.path("rest.pgn")

    # ---- Running programs ---------------------------------------------------------------------

    def timed(self, command):
        """(seconds, peak memory in MiB) of a program that must succeed."""
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise CannotMeasure(f"{command[0]} ended with {process.returncode}")
        return seconds, usage.ru_maxrss / 1024

    def imported(self, store, pgn, statistic=None, games="keep"):
        """Imports into `store`, which is new if a statistic is given."""
        options = []
        if statistic is not None:
            shutil.rmtree(store, ignore_errors=True)
            options = ["--statistic", statistic, "--games", games]
        return self.timed([self.tools.path("cli", "chistore"), "-a", store, "--quiet", "import",
                           *options, pgn])

    def info(self, store):
        return json.loads(self.tools.chistore("-a", store, "info", "--json"))

    def sync(self):
        """What one program left unwritten is not to be another's."""
        os.sync()

    # ---- The comparisons ------------------------------------------------------------------------

    def measure_import(self):
        self.prepare()
        names = [name for name, *_ in NEW_STORES]
        mine = {name: [] for name in (*names, "small", "base")}
        for number in range(self.rounds + 1):
            results = []
            for store, statistic, games, _, _ in NEW_STORES:
                self.sync()
                results.append(self.imported(self.path(store), self.pgn, statistic, games))
            self.sync()
            results.append(self.imported(self.path("small"), self.first, "outcome"))
            self.sync()
            if self.peer is not None:
                results.append(self.timed([self.peer, "-s", "-r", self.pgn]))
            if number > 0:  # the first reads the file from the disk
                for name, result in zip(mine, results):
                    mine[name].append(result)
        return self.lines_of_import(mine)

    def lines_of_import(self, mine):
        n, tenth = self.n_games, self.n_games // 10
        base, lines = mine["base"], []
        for name, _, _, target, _ in NEW_STORES:
            if base:
                lines.append(Line(f"import into a new {name} store / pgn-extract -s -r",
                                  [b[0] / m[0] for m, b in zip(mine[name], base)], target))
            lines.append(Line(f"peak memory, {name}", [m[1] for m in mine[name]], MEMORY_MAX,
                              "MiB", at_most=True))
            self.note_speed(f"import, {name}, games/s", [n / m[0] for m in mine[name]])
        if base:
            self.note_speed("pgn-extract -s -r, games/s", [n / b[0] for b in base])
        elif not self.quick:
            raise CannotMeasure("no pgn-extract (Debian package pgn-extract)")
        lines.append(Line(f"time a game, {n:,} games / {tenth:,} games",
                          [m[0] / n / (s[0] / tenth)
                           for m, s in zip(mine["outcome"], mine["small"])],
                          GROWTH_MAX, at_most=True))
        for name, _, _, _, target in NEW_STORES:
            info = self.info(self.path(name))
            lines.append(Line(f"bytes a position on disk, {name}",
                              [info["file_bytes"] / info["positions"]], target, "bytes",
                              at_most=True))
            self.note_speed(f"positions, {name}", [info["positions"]])
        return lines

    def lines_of_size(self, store, what, bytes_target, fill_target):
        info = self.info(store)
        return [Size(f"bytes a position, {what}", info["bytes_per_position"], bytes_target),
                Size(f"share of blocks that is filled, {what}", info["block_fill"], fill_target,
                     "", at_most=False)]

    def measure_size(self):
        """What positions alone take: after an import, after another one into it, compacted."""
        self.prepare()
        store, lines = self.path("size"), []
        for statistic, target in SIZES:
            self.imported(store, self.pgn, statistic, "none")
            lines += self.lines_of_size(store, statistic, target, FILL_NEW_MIN)
            self.imported(store, self.last, statistic, "none")
            self.imported(store, self.first)
            lines += self.lines_of_size(store, statistic + ", a tenth added", None, FILL_OLD_MIN)
            self.tools.chistore("-a", store, "--quiet", "compact")
            lines += self.lines_of_size(store, statistic + ", compacted", target, FILL_NEW_MIN)
        return lines

    def measure_add(self):
        """The first tenth of the games into a store of the others, against building all."""
        self.prepare()
        base = self.path("base")
        self.imported(base, self.last, "outcome")
        ratios = []
        for number in range(self.rounds + 1):
            copy = self.path("copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            self.sync()
            added = self.imported(copy, self.first)[0]
            self.sync()
            built = self.imported(self.path("whole"), self.pgn, "outcome")[0]
            if number > 0:
                ratios.append(added / built)
        if self.info(self.path("copy"))["positions"] != self.info(self.path("whole"))["positions"]:
            raise CannotMeasure("the two ways do not lead to the same store")
        return [Line(f"adding {self.n_games // 10:,} games / building all again", ratios, ADD_MAX,
                     at_most=True)]

    def measure_load(self):
        """The dump of the outcome store, into a directory that is not there."""
        store, dump, copy = (self.path(name) for name in ("outcome", "outcome.dump", "loaded"))
        self.prepare()
        if not os.path.exists(store):  # of this part alone
            self.imported(store, self.pgn, "outcome")
        self.tools.chistore("-a", store, "dump", dump)
        positions = self.info(store)["positions"]
        speeds, memory = [], []
        for number in range(self.rounds + 1):
            shutil.rmtree(copy, ignore_errors=True)
            self.sync()
            seconds, peak = self.timed([self.tools.path("cli", "chistore"), "-a", copy,
                                        "--quiet", "load", dump])
            if number > 0:
                speeds.append(positions / seconds)
                memory.append(peak)
        if self.info(copy)["positions"] != positions:
            raise CannotMeasure("not all positions were loaded")
        os.remove(dump)
        return [Line(f"load of a dump of {positions:,} positions", speeds, LOAD_TARGET, "/s"),
                Line("peak memory, load", memory, None, "MiB", at_most=True)]

    def measure_lines(self):
        """The positions of the outcome store in each format of lines, into a directory that is not there."""
        store, copy = self.path("outcome"), self.path("lines")
        self.prepare()
        if not os.path.exists(store):  # of this part alone
            self.imported(store, self.pgn, "outcome")
        positions = self.info(store)["positions"]
        speeds = {form: [] for form in ("csv", "epd", "jsonl")}
        for form, found in speeds.items():
            file = self.path("lines." + form)
            self.tools.chistore("-a", store, "export", "--output", file)
            for number in range(self.rounds + 1):
                shutil.rmtree(copy, ignore_errors=True)
                self.sync()
                seconds, _ = self.timed([self.tools.path("cli", "chistore"), "-a", copy, "--quiet",
                                         "import", "--statistic", "outcome", file])
                if number > 0:
                    found.append(positions / seconds)
            if self.info(copy)["positions"] != positions:
                raise CannotMeasure("not all positions were imported")
            os.remove(file)
        return [Line(f"import of {positions:,} positions, {form}", found,
                     LOAD_TARGET if form == "csv" else None, "/s")
                for form, found in speeds.items()]

    def measure_explore(self):
        store = self.path("outcome")
        times = {"initial": [], "ten": []}
        self.prepare()
        if not os.path.exists(store):  # of this part alone
            self.imported(store, self.pgn, "outcome")
        with Program(self.tools.path("bench", "bench_explore"), store) as library:
            for number in range(self.rounds + 1):
                for operation, mine in times.items():
                    speed = library.run(operation)[0]
                    if number > 0:
                        mine.append(1e6 / speed)
        return [Line(f"explore of {name}", times[operation], EXPLORE_MAX, "us", at_most=True)
                for operation, name in (("initial", "the initial position"),
                                        ("ten", "a position with few games"))]

    def parts(self):
        size = os.path.getsize(self.setting.args.pgn) / (1 << 20)  # packed or not: about
        size *= 1 if self.setting.args.pgn.endswith(".pgn") else 4
        return [Part("games-import", self.measure_import, (1, size * 0.14)),
                Part("size", self.measure_size, (size * 0.03, size * 0.12)),
                Part("adding", self.measure_add, (size * 0.03, size * 0.03)),
                Part("load", self.measure_load, (size * 0.1, size * 0.12)),
                Part("lines", self.measure_lines, (size * 0.1, size * 0.8)),
                Part("explore", self.measure_explore, (1, 0.1))]


def suites(setting):
    return [Games(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites, needs_pgn=True))
