#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures 'chistore propagate': over a whole store, and after some new evaluations.

    propagate.py BUILD_DIR GAMES.pgn FOLDER [POSITIONS]

FOLDER keeps the store for the next time: the positions of the games, played on by chance until there
are 10,000,000 (or POSITIONS), every third one with an evaluation. After the whole run 100, 1,000 and
10,000 new evaluations are put, of positions with 16 pieces or more, and backed up with --since; at
last a whole run should change next to nothing: of equal moves another may be the best.
"""

import json
import os
import random
import resource
import subprocess
import sys
import time

SEED = 19980815
SCORED_EVERY = 3
PIECES_MIN = 16  # all games that have come to bare kings are before these


def pieces(fen):
    return sum(c.isalpha() for c in fen.split()[0])


class Bench:
    def __init__(self, build, pgn, folder, positions):
        self.chistore = os.path.join(build, "cli", "chistore")
        self.more = os.path.join(build, "bench", "make_more")
        self.pgn, self.folder, self.positions = pgn, folder, positions
        self.store = os.path.join(folder, "store")
        self.fens = os.path.join(folder, "some.fen")

    def run(self, *args, **extra):
        return subprocess.run([self.chistore, "-a", self.store, "--quiet", *args], check=True,
                              stdout=extra.pop("stdout", subprocess.PIPE), **extra).stdout

    def prepare(self):
        """The store; some of its positions to give new evaluations to."""
        os.makedirs(self.folder)
        self.run("import", "--statistic", "external", "--games", "none", self.pgn)
        missing = self.positions - json.loads(self.run("info", "--json"))["positions"]
        path = os.path.join(self.folder, "work")
        if missing > 0:
            with open(path, "wb") as file:
                subprocess.run([self.more, self.store, self.pgn, str(missing), str(SEED)],
                               check=True, stdout=file)
            self.run("import", "--format", "csv", path)
        rng = random.Random(SEED)
        scan = subprocess.Popen([self.chistore, "-a", self.store, "export", "--format", "epd"],
                                stdout=subprocess.PIPE, text=True)
        with open(path, "w", encoding="ascii") as scored, \
                open(self.fens, "w", encoding="ascii") as some:
            for text in scan.stdout:
                fen = " ".join(text.split(None, 4)[:4])
                if rng.randrange(SCORED_EVERY) == 0:
                    scored.write(f"{fen} ce {rng.randrange(-200, 201)}; acd 20;\n")
                if rng.randrange(300) == 0 and pieces(fen) >= PIECES_MIN:
                    some.write(fen + "\n")
        if scan.wait() != 0:
            raise SystemExit("export failed")
        self.run("import", "--format", "epd", "--engine", "bench", path)
        os.unlink(path)

    def propagate(self, name, *args):
        """Says how long it took, and the most memory of all runs so far."""
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = json.loads(self.run("--json", "propagate", "--memory", "8G", *args))
        seconds, now = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        print(f"{name:38} {seconds:8.2f} s {cpu:8.2f} s of processor {now.ru_maxrss >> 10:6} MiB at most "
              f" {done}", flush=True)

    def put(self, fens, depth):
        path = os.path.join(self.folder, "new.epd")
        with open(path, "w", encoding="ascii") as file:
            for number, fen in enumerate(fens):
                file.write(f"{fen} ce {number * 37 % 401 - 200}; acd {depth};\n")
        self.run("import", "--format", "epd", "--engine", "bench", path)

    def measure(self):
        since = os.path.join(self.folder, "since")
        with open(self.fens, encoding="ascii") as file:
            fens = file.read().splitlines()
        random.Random(time.time()).shuffle(fens)
        if os.path.exists(since):
            os.unlink(since)
        self.propagate("everything, --since FILE not there", "--since", since)
        self.propagate("nothing new", "--since", since)
        for n in (100, 1000, 10000):
            self.put(fens[:n], int(time.time()) % 30000 + n)
            self.propagate(f"{n:,} new evaluations, --since", "--since", since)
            del fens[:n]
        self.propagate("everything again")
        print(f"{os.path.getsize(since) >> 20} MiB in the file of --since")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__.strip())
    positions = int(sys.argv[4]) if len(sys.argv) == 5 else 10_000_000
    bench = Bench(*sys.argv[1:4], positions)
    if not os.path.exists(bench.fens):
        bench.prepare()
    bench.measure()


if __name__ == "__main__":
    main()
