#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the store inside a process against LMDB itself, and what a socket and batches make of it.

    run.py BUILD_DIR [OPTION]...        see --help

With --pgn what can be is measured on the positions of those games too. docs/MEASURED.md tells what
each line means.
"""

import os
import re
import shutil
import subprocess
import sys
import time

import runner
from runner import Part, Program, Server, Suite
from table import CannotMeasure, Line

GET_TARGET = 1.0
MANY_TARGET = 3.0
PROBER_TARGET = 1.0
SCAN_TARGET = 0.70
COUNT_TARGET = 1.0
BATCH_TARGET = 10.0
PERFT_TARGET = 0.40
IMPORT_MEMORY_MAX = 512  # MiB

START_POSITION = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PERFT_NODES = {4: 197281, 6: 119060324}


class OnRecords(Suite):
    """What is measured on any set of records."""

    def __init__(self, setting, kind, size=None):
        super().__init__(setting)
        self.records = setting.records(kind, size)
        self.evaluated = setting.records("evaluated")

    def sides(self, one):
        """Ours and LMDB itself, on one store."""
        return (Program(self.tools.path("bench", "bench_chistore"), one.store, one.lists),
                Program(self.tools.path("bench", "bench_raw"), one.store, one.lists))

    # ---- In this process against LMDB itself ---------------------------------------------------

    def against_raw(self, names, raw, order, kind="", same=1):
        """Lines of (name, program, operation, target), each over mdb_get in one snapshot; the first
        one also over mdb_get with a snapshot a call, as it has."""
        speeds = self.turns([(library, operation) for _, library, operation, _ in names] +
                            [(raw, "renew-" + order), (raw, "get-" + order)], same=same, base=-1)
        lines = []
        order = "a search's" if order == "search" else order
        for (name, _, _, target), mine in zip(names, speeds):
            what = f"{name}, {order} order{kind}"
            lines.append(Line(what + " / mdb_get", [a / b for a, b in zip(mine, speeds[-1])],
                              target))
            self.note_speed(what + ", positions/s", mine)
        lines.append(Line(f"{names[0][0]}, {order} order{kind} / mdb_get with a snapshot a call",
                          [a / b for a, b in zip(speeds[0], speeds[-2])]))
        self.note_speed(f"mdb_get with a snapshot a call, {order} order{kind}, positions/s",
                        speeds[-2])
        self.note_speed(f"mdb_get, {order} order{kind}, positions/s", speeds[-1])
        return lines

    def measure_get(self):
        library, raw = self.sides(self.records)
        lines = []
        with library, raw:
            for order in ("games", "random"):
                lines += self.against_raw([
                    ("chi_probe of one key", library, "probe-" + order, GET_TARGET),
                    ("chi_read begin, row, end", library, "row-" + order, GET_TARGET),
                    ("chi_read_row in one snapshot", library, "held-" + order, None),
                    ("chi_probe of 32 keys", library, "many-32-" + order, MANY_TARGET)],
                    raw, order)
        return lines

    def prober_lines(self, library, raw, kind=""):
        lines = []
        for order in ("games", "random"):
            lines += self.against_raw([
                ("chi_prober_key", library, "prober-" + order, PROBER_TARGET),
                ("chi_prober_key, held", library, "prober-held-" + order, None),
                ("chi_prober_many of 32", library, "prober-many-" + order, MANY_TARGET),
                ("prefetch 32 ahead and collect", library, "prober-slide-" + order, None)],
                raw, order, kind)
        return lines

    def measure_prober(self):
        library, raw = self.sides(self.records)
        with library, raw:
            lines = self.prober_lines(library, raw)
            lines += self.against_raw([
                ("chi_prober_key", library, "prober-search", PROBER_TARGET),
                ("chi_prober_key, held", library, "prober-held-search", None),
                ("prefetch a node and collect", library, "prober-ahead", None)],
                raw, "search", same=2)
            boards = [library.run("prober-boards")[0] for _ in range(self.rounds)]
            self.note_speed("chi_key_from_board, keys/s", boards)
        return lines

    def measure_evaluated(self):
        """Every fourth position holds an evaluation, which a prober gives as well."""
        library, raw = self.sides(self.evaluated)
        with library, raw:
            return self.prober_lines(library, raw, ", with evaluations")

    def measure_scan(self):
        library, raw = self.sides(self.records)
        with library, raw:
            iterated, rows, base = self.turns([
                (library, "scan-iter"), (library, "scan-rows"), (raw, "walk")], base=-1)
            counts = [library.run("scan-counts")[0] for _ in range(self.rounds)]
            few = self.turns([
                (library, "count-band"), (library, "count-material"), (library, "scan-material"),
                (raw, "walk")], same=1, base=-1)
        lines = []
        for name, mine in (("chi_scan_next over all bands", iterated),
                           ("chi_scan_rows over all bands", rows)):
            lines.append(Line(name + " / cursor walk", [a / b for a, b in zip(mine, base)],
                              SCAN_TARGET))
            self.note_speed(name + ", rows/s", mine)
        for name, mine, target in (("chi_scan_count of all bands but one", few[0], COUNT_TARGET),
                                   ("chi_scan_count of a material", few[1], COUNT_TARGET),
                                   ("chi_scan_rows of a material", few[2], SCAN_TARGET)):
            lines.append(Line(name + " / cursor walk", [a / b for a, b in zip(mine, few[-1])],
                              target))
            self.note_speed(name + ", entries/s", mine)
        self.note_speed("cursor walk, entries/s", base)
        self.note_speed("chi_scan_next with counts, rows/s", counts)
        return lines

    # ---- Over the socket -----------------------------------------------------------------------

    def measure_batches(self):
        path = self.setting.path("own-socket")
        batches = (1, 100, 4096)
        with Server([self.tools.path("daemon", "chistored"), "--store", self.records.store,
                     "--listen", "unix:" + path], path), \
                Program(self.tools.path("bench", "bench_chistore"), "unix:" + path,
                        self.records.lists) as library:
            speeds = self.turns([(library, f"batch-{batch}") for batch in batches], same=0, base=0)
        for batch, mine in zip(batches, speeds):
            self.note_speed(f"get over the Unix socket, {batch} a call, positions/s", mine)
        return [Line(f"get over the Unix socket, {batch} a call / one at a time",
                     [a / b for a, b in zip(mine, speeds[0])], target)
                for batch, mine, target in ((100, speeds[1], None), (4096, speeds[2], BATCH_TARGET))]

    def common(self):
        """Each round asks for all of the lists, and walks all of the records."""
        sets = (self.records,)
        walk = max(self.records.size / 1e6, 0.1)
        return [Part("get", self.measure_get, (3, 6), sets),
                Part("prober", self.measure_prober, (3, 5), sets),
                Part("scan", self.measure_scan, (3 + self.rounds * 0.2 * walk, 0.15 * walk), sets),
                Part("batches", self.measure_batches, (2, 4), sets)]


class Own(OnRecords):
    name = "own"
    title = "Inside the process and over the socket"

    def __init__(self, setting):
        super().__init__(setting, "synthetic")

    def parts(self):
        sets = (self.records,)
        size = self.records.size / 1e6
        return [Part("import", self.measure_import, (1, 4.0 * size), sets), *self.common(),
                Part("evaluated", self.measure_evaluated, (3, 7), (self.evaluated,)),
                Part("perft", self.measure_perft, (1, 0.9))]

    def missing(self):
        return {} if self.stockfish() else {"perft": "no stockfish"}

    # ---- Import --------------------------------------------------------------------------------

    def import_once(self, store):
        """(positions a second, peak memory in MiB); leaves a fresh store behind."""
        shutil.rmtree(store, ignore_errors=True)
        self.tools.chistore("-a", store, "init", "--statistic", "external")
        os.sync()  # what others left unwritten is not to be ours
        begin = time.monotonic()
        process = subprocess.Popen([self.tools.path("cli", "chistore"), "-a", store, "import",
                                    self.records.csv], stdout=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # wait4 tells the peak of this one child; ru_maxrss counts the pages of the data file
        # that the import had mapped too, so it is no flattering figure.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise CannotMeasure(f"import ended with {process.returncode}")
        return self.records.size / seconds, usage.ru_maxrss / 1024

    def measure_import(self):
        store = self.setting.path("imported")
        speeds, peaks = self.repeat(lambda: self.import_once(store))
        stored = int(self.tools.chistore("-a", store, "count").split()[-1])
        shutil.rmtree(store)
        if stored != self.records.size:
            raise CannotMeasure(f"the store holds {stored} of {self.records.size} positions")
        what = f"import of {self.records.size:,}"
        return [Line(f"{what}: speed", speeds, unit="positions/s"),
                Line(f"{what}: peak memory", peaks, IMPORT_MEMORY_MAX, "MiB", at_most=True)]

    # ---- Legal moves ---------------------------------------------------------------------------

    def stockfish(self):
        return shutil.which("stockfish", path=os.environ.get("PATH", "") + ":/usr/games")

    def stockfish_once(self, stockfish, depth):
        def send(line):
            stockfish.stdin.write(line + "\n")
            stockfish.stdin.flush()

        send("isready")
        while stockfish.stdout.readline().strip() != "readyok":
            if stockfish.poll() is not None:
                raise CannotMeasure("stockfish ended")
        begin = time.monotonic()
        send(f"go perft {depth}")
        while True:
            line = stockfish.stdout.readline()
            found = re.match(r"Nodes searched: (\d+)", line)
            if found:
                seconds = time.monotonic() - begin
                if int(found.group(1)) != PERFT_NODES[depth]:
                    raise CannotMeasure("stockfish counts other nodes")
                return PERFT_NODES[depth] / seconds
            if line == "":
                raise CannotMeasure("stockfish ended")

    def perft_once(self, depth):
        said = self.tools.run("tests", "chi-perft", START_POSITION, str(depth))
        found = re.match(r"(\d+) nodes ([\d.]+) ms", said)
        if not found or int(found.group(1)) != PERFT_NODES[depth]:
            raise CannotMeasure(f"chi-perft says: {said}")
        return PERFT_NODES[depth] / max(float(found.group(2)), 0.1) * 1000

    def measure_perft(self):
        depth = 4 if self.quick else 6
        path = self.stockfish()
        if path is None:
            raise CannotMeasure("no stockfish (Debian package stockfish)")
        stockfish = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     encoding="utf-8")
        try:
            stockfish.stdin.write("setoption name Threads value 1\n")
            mine, base = self.repeat(lambda: (self.perft_once(depth),
                                              self.stockfish_once(stockfish, depth)), base=1)
        finally:
            stockfish.stdin.write("quit\n")
            stockfish.communicate(timeout=runner.START_TIMEOUT)
        self.note_speed(f"chi-perft {depth}, nodes/s", mine)
        self.note_speed(f"stockfish go perft {depth}, nodes/s", base)
        return [Line(f"perft {depth} / stockfish", [a / b for a, b in zip(mine, base)],
                     PERFT_TARGET)]


class OwnReal(OnRecords):
    name = "own-real"
    title = "Inside the process and over the socket, positions of real games"

    def __init__(self, setting):
        super().__init__(setting, "real")

    def parts(self):
        return [Part("real-" + part.name, part.function, part.seconds, part.sets)
                for part in self.common()]


class OwnLarge(OnRecords):
    name = "own-large"
    title = "Probes inside the process, in a large store"

    def __init__(self, setting):
        super().__init__(setting, "played", setting.args.large)

    def parts(self):
        return [Part("large-prober", self.measure_prober, (3, 12), (self.records,))]


def suites(setting):
    return [Own(setting), OwnLarge(setting)] + ([OwnReal(setting)] if setting.args.pgn else [])


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
