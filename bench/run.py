#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures what docs/BENCHMARKS.md states, in one run on the same records.

    run.py BUILD_DIR [--records N] [--rounds N] [--quick] [--only WORD]...

Programs that are compared run in turns, round by round, and a ratio is made of each round: so what
else the machine does hits both alike. A line's verdict is about the median of those ratios; it is
refused if smallest and largest lie too far apart.

Exit status: 0 every target met; 1 a target missed; 2 something could not be measured, or was too
noisy to judge.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import table
from table import CannotMeasure, Line

GET_TARGET = 0.80
MANY_TARGET = 3.0
PROBER_TARGET = 1.0
SCAN_TARGET = 0.40
BATCH_TARGET = 10.0
PERFT_TARGET = 0.40
IMPORT_MEMORY_MAX = 512  # MiB

START_POSITION = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PERFT_NODES = {4: 197281, 6: 119060324}
SEED = 19980815
PROGRAM_TIMEOUT = 3600


class Peer:
    """A measuring program that obeys line by line (bench.h)."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")
        self.name = os.path.basename(command[0])
        if self.process.stdout.readline() != "ready\n":
            raise CannotMeasure(f"{self.name} did not start")

    def run(self, operation):
        """(entries a second, number of entries, sum over them)"""
        self.process.stdin.write(operation + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if len(words) != 3:
            raise CannotMeasure(f"{self.name} failed at {operation}")
        done, ns, total = (int(word) for word in words)
        if done == 0 or ns == 0:
            raise CannotMeasure(f"{self.name} did nothing at {operation}")
        return done * 1e9 / ns, done, total

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Bench:
    def __init__(self, build, records, rounds):
        self.build = build
        self.records = records
        self.rounds = rounds
        self.folder = tempfile.mkdtemp(prefix="chi-bench-", dir=os.environ.get("TMPDIR", "/tmp"))
        self.csv = os.path.join(self.folder, "positions.csv")
        self.store = os.path.join(self.folder, "store")
        self.chistore = self.program("client", "chistore")
        self.chistored = self.program("daemon", "chistored")
        self.speeds = []  # (what, median a second): figures that are no ratios

    def program(self, *parts):
        path = os.path.join(self.build, *parts)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
        for folder, _, files in os.walk(os.path.join(self.build, parts[0])):
            if parts[-1] in files and os.access(os.path.join(folder, parts[-1]), os.X_OK):
                return os.path.join(folder, parts[-1])
        raise CannotMeasure(f"{parts[-1]} is not built in {self.build}")

    def clean_up(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def note_speed(self, what, speeds):
        self.speeds.append((what, statistics.median(speeds)))

    def make_positions(self):
        with open(self.csv, "wb") as out:
            subprocess.run([self.program("bench", "make_positions"), str(self.records), str(SEED)],
                           stdout=out, check=True, timeout=PROGRAM_TIMEOUT)

    # ---- Import: makes the store that everything else reads --------------------------------

    def import_once(self):
        """(positions a second, peak memory in MiB); leaves a fresh store behind."""
        shutil.rmtree(self.store, ignore_errors=True)
        subprocess.run([self.chistore, "-a", self.store, "init", "--statistic", "external"],
                       check=True, stdout=subprocess.DEVNULL, timeout=PROGRAM_TIMEOUT)
        begin = time.monotonic()
        process = subprocess.Popen([self.chistore, "-a", self.store, "import", self.csv],
                                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        # wait4 tells the peak of this one child; ru_maxrss counts the pages of the data file
        # that the import had mapped too, so it is no flattering figure.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise CannotMeasure(f"import ended with {process.returncode}")
        return self.records / seconds, usage.ru_maxrss / 1024

    def stored(self):
        done = subprocess.run([self.chistore, "-a", self.store, "count"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8", timeout=PROGRAM_TIMEOUT)
        return int(done.stdout.split()[-1])

    def measure_import(self):
        rounds = [self.import_once() for _ in range(self.rounds)]
        if self.stored() != self.records:
            raise CannotMeasure(f"the store holds {self.stored()} of {self.records} positions")
        self.note_speed("import, positions/s", [speed for speed, _ in rounds])
        return [Line(f"import of {self.records:,}: speed", [speed for speed, _ in rounds],
                     unit="positions/s"),
                Line(f"import of {self.records:,}: peak memory", [peak for _, peak in rounds],
                     IMPORT_MEMORY_MAX, "MiB", at_most=True)]

    # ---- In this process against LMDB itself ---------------------------------------------------

    def turns(self, peers, same_sum=False):
        """Runs (peer, operation) in turns; the speeds of each. One round before that counts not:
        it takes the page faults."""
        speeds = [[] for _ in peers]
        for number in range(self.rounds + 1):
            results = [peer.run(operation) for peer, operation in peers]
            if len({done for _, done, _ in results}) != 1:
                raise CannotMeasure("the programs did not do the same amount of work")
            if same_sum and len({total for _, _, total in results}) != 1:
                raise CannotMeasure("the programs did not read the same")
            if number > 0:
                for mine, (speed, _, _) in zip(speeds, results):
                    mine.append(speed)
        return speeds

    def measure_get(self, library, raw):
        lines = []
        for order in ("games", "random"):
            probe, row, held, many, base = self.turns([
                (library, "probe-" + order), (library, "row-" + order),
                (library, "held-" + order), (library, "many-32-" + order),
                (raw, "get-" + order)])
            for name, mine, target in ((f"chi_probe of one key, {order} order", probe, GET_TARGET),
                                       (f"chi_read begin, row, end, {order} order", row,
                                        GET_TARGET),
                                       (f"chi_read_row in one snapshot, {order} order", held,
                                        None),
                                       (f"chi_probe of 32 keys, {order} order", many,
                                        MANY_TARGET)):
                lines.append(Line(name + " / mdb_get",
                                  [a / b for a, b in zip(mine, base)], target))
                self.note_speed(name + ", positions/s", mine)
            self.note_speed(f"mdb_get, {order} order, positions/s", base)
        return lines

    def measure_scan(self, library, raw):
        iterated, rows, base = self.turns([
            (library, "scan-iter"), (library, "scan-rows"), (raw, "walk")], same_sum=True)
        lines = []
        for name, mine in (("chi_iter_next over all bands", iterated),
                           ("chi_scan_rows over all bands", rows)):
            lines.append(Line(name + " / cursor walk", [a / b for a, b in zip(mine, base)],
                              SCAN_TARGET))
            self.note_speed(name + ", rows/s", mine)
        self.note_speed("cursor walk, entries/s", base)
        counts = [library.run("scan-counts")[0] for _ in range(self.rounds)]
        self.note_speed("chi_iter_next with counts, rows/s", counts)
        return lines

    def measure_prober(self, library, raw):
        lines = []
        for order in ("games", "random"):
            single, many, slide, base = self.turns([
                (library, "prober-" + order), (library, "prober-many-" + order),
                (library, "prober-slide-" + order), (raw, "get-" + order)])
            for name, mine, target in (
                    (f"chi_prober_key, {order} order", single, PROBER_TARGET),
                    (f"chi_prober_many of 32, {order} order", many, MANY_TARGET),
                    (f"prefetch 32 ahead and collect, {order} order", slide, None)):
                lines.append(Line(name + " / mdb_get",
                                  [a / b for a, b in zip(mine, base)], target))
                self.note_speed(name + ", positions/s", mine)
        single, ahead, base = self.turns([
            (library, "prober-search"), (library, "prober-ahead"), (raw, "get-search")],
            same_sum=True)
        for name, mine, target in (("chi_prober_key, a search's order", single, PROBER_TARGET),
                                   ("prefetch a node and collect, a search's order", ahead, None)):
            lines.append(Line(name + " / mdb_get", [a / b for a, b in zip(mine, base)], target))
            self.note_speed(name + ", positions/s", mine)
        boards = [library.run("prober-boards")[0] for _ in range(self.rounds)]
        self.note_speed("chi_key_from_board, keys/s", boards)
        return lines

    def measure_in_process(self):
        with Peer(self.program("bench", "bench_raw"), self.store, self.csv) as raw, \
                Peer(self.program("bench", "bench_chistore"), self.store, self.csv) as library:
            return (self.measure_get(library, raw) + self.measure_prober(library, raw) +
                    self.measure_scan(library, raw))

    # ---- Over the socket -------------------------------------------------------------------

    def start_daemon(self, address):
        process = subprocess.Popen([self.chistored, "--store", self.store, "--listen", address],
                                   stderr=subprocess.PIPE, encoding="utf-8")
        for line in process.stderr:
            if "ready, listening on" in line:
                return process
        raise CannotMeasure(f"chistored ended with {process.wait(60)} at once")

    def measure_batches(self):
        address = "unix:" + os.path.join(self.folder, "socket")
        daemon = self.start_daemon(address)
        try:
            with Peer(self.program("bench", "bench_chistore"), address, self.csv) as library:
                speeds = {batch: [] for batch in (1, 100, 4096)}
                for number in range(self.rounds + 1):
                    for batch, mine in speeds.items():
                        speed = library.run(f"batch-{batch}")[0]
                        if number > 0:
                            mine.append(speed)
        finally:
            daemon.terminate()
            daemon.communicate(timeout=60)
        for batch, mine in speeds.items():
            self.note_speed(f"get over the Unix socket, {batch} a call, positions/s", mine)
        return [Line(f"get over the Unix socket, {batch} a call / one at a time",
                     [a / b for a, b in zip(speeds[batch], speeds[1])], target)
                for batch, target in ((4096, BATCH_TARGET), (100, None))]

    # ---- Legal moves -----------------------------------------------------------------------

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
        done = subprocess.run([self.program("tests", "chi-perft"), START_POSITION, str(depth)],
                              check=True, stdout=subprocess.PIPE, encoding="utf-8",
                              timeout=PROGRAM_TIMEOUT)
        found = re.match(r"(\d+) nodes ([\d.]+) ms", done.stdout)
        if not found or int(found.group(1)) != PERFT_NODES[depth]:
            raise CannotMeasure(f"chi-perft says: {done.stdout}")
        return PERFT_NODES[depth] / max(float(found.group(2)), 0.1) * 1000

    def measure_perft(self, depth):
        path = shutil.which("stockfish", path=os.environ.get("PATH", "") + ":/usr/games")
        if path is None:
            raise CannotMeasure("no stockfish (Debian package stockfish)")
        mine, base = [], []
        stockfish = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     encoding="utf-8")
        try:
            stockfish.stdin.write("setoption name Threads value 1\n")
            for number in range(self.rounds + 1):
                speeds = self.perft_once(depth), self.stockfish_once(stockfish, depth)
                if number > 0:
                    mine.append(speeds[0])
                    base.append(speeds[1])
        finally:
            stockfish.stdin.write("quit\n")
            stockfish.communicate(timeout=60)
        self.note_speed(f"chi-perft {depth}, nodes/s", mine)
        self.note_speed(f"stockfish go perft {depth}, nodes/s", base)
        return [Line(f"perft {depth} / stockfish", [a / b for a, b in zip(mine, base)],
                     PERFT_TARGET)]


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build directory")
    parser.add_argument("--records", type=int, default=1000000, help="positions in the store")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison")
    parser.add_argument("--quick", action="store_true",
                        help="20,000 records, 2 rounds, no verdicts: shows that it works")
    parser.add_argument("--only", action="append",
                        choices=["import", "in-process", "batches", "perft"],
                        help="this part only (may be given several times)")
    args = parser.parse_args()
    if args.quick:
        args.records, args.rounds = 20000, 2
    if args.records < 5000 or args.rounds < 1:
        parser.error("at least 5,000 records and 1 round")
    return args


def main():
    args = parse_args()
    depth = 4 if args.quick else 6
    try:
        bench = Bench(os.path.abspath(args.build), args.records, args.rounds)
    except CannotMeasure as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 2
    try:
        for text in table.machine() + [f"{args.records:,} records, {args.rounds} rounds, seed {SEED}"]:
            print(text)
        print(flush=True)
        bench.make_positions()
        parts = [("import", bench.measure_import), ("in-process", bench.measure_in_process),
                 ("batches", bench.measure_batches), ("perft", lambda: bench.measure_perft(depth))]
        if args.quick and not shutil.which("stockfish", path="/usr/games:/usr/bin"):
            parts.pop()  # tests do not ask for the packages of the benchmark
        if args.only:
            if "import" not in args.only and set(args.only) != {"perft"}:
                bench.import_once()  # the others read what it leaves behind
            parts = [part for part in parts if part[0] in args.only]
        lines = table.measure(parts, bench.speeds, not args.quick)
    finally:
        bench.clean_up()
    return table.exit_status(lines, args.quick)


if __name__ == "__main__":
    sys.exit(main())
