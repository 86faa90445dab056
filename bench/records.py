# SPDX-License-Identifier: MIT
"""The record sets that are measured, and the orders they are asked in: a store, and lists of keys
beside it.

synthetic   random legal games from a fixed seed (make_positions), in an external store
evaluated   the same, every fourth position with an evaluation
real        the positions of a file of games, in a control store; if they are fewer than wanted,
            the games are played on by chance from where they ended (make_more)
played      random games straight into an outcome store (make_store): for large sets
"""

import json
import os
import shutil
import subprocess
import sys

from table import CannotMeasure

SEED = 19980815
PROGRAM_TIMEOUT = 7200
EVALUATED_EVERY = 4
UNPACKERS = {".zst": ["zstd", "-dc"], ".gz": ["gzip", "-dc"], ".bz2": ["bzip2", "-dc"]}


def unpack(pgn, out):
    """`pgn` itself if it is not packed, else `out`, into which it is unpacked."""
    command = UNPACKERS.get(os.path.splitext(pgn)[1])
    if command is None:
        return os.path.abspath(pgn)
    with open(out, "wb") as file:
        subprocess.run(command + [pgn], stdout=file, check=True, timeout=PROGRAM_TIMEOUT)
    return out


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as text:
        for line in text:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise CannotMeasure("no MemAvailable in /proc/meminfo")


class Records:
    """One set; made by prepare(), or found as an earlier run left it in a folder that is kept."""

    def __init__(self, tools, kind, folder, size, probes, pgn=None):
        self.tools = tools
        self.kind = kind
        self.folder = os.path.join(folder, f"{kind}-{size}")
        self.store = os.path.join(self.folder, "store")
        self.lists = os.path.join(self.folder, "lists")
        self.csv = os.path.join(self.folder, "positions.csv")
        self.size = size
        self.pgn = pgn
        self.probes = min(probes, size)
        self.wanted = {"kind": kind, "size": size, "probes": self.probes, "seed": SEED,
                       "pgn": None if pgn is None else [pgn, os.path.getsize(pgn)]}
        self.played = None  # positions of games, before these were played on
        self.ready = None  # what prepare() says

    def seconds(self):
        """About how long preparing takes."""
        each = {"synthetic": 12, "evaluated": 16, "real": 20, "played": 2}[self.kind]  # a million
        return 0 if self.found() else 5 + self.size / 1e6 * each

    def found(self):
        try:
            with open(os.path.join(self.folder, "ready.json"), encoding="utf-8") as file:
                ready = json.load(file)
        except (OSError, ValueError):
            return None
        return ready if ready.get("wanted") == self.wanted else None

    def prepare(self):
        """Makes the store and the lists, once."""
        self.ready = self.ready or self.found()
        if self.ready is not None:
            return
        print(f"preparing: {self.size:,} {self.kind} records", file=sys.stderr, flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.lists)
        if self.kind == "played":
            lengths = self.make_played()
        else:
            made = self.make_real() if self.kind == "real" else self.make_synthetic()
            lengths = self.tools.run("bench", "make_lists", self.store, made, self.lists,
                                     str(self.probes))
        info = json.loads(self.tools.chistore("-a", self.store, "info", "--json"))
        if info["positions"] < self.size:
            raise CannotMeasure(f"{info['positions']} of {self.size} records are there")
        self.ready = {"wanted": self.wanted, "positions": info["positions"],
                      "bytes": info["file_bytes"], "played": self.played, "lengths": [
                          line.split() for line in lengths.splitlines()]}
        with open(os.path.join(self.folder, "ready.json"), "w", encoding="utf-8") as file:
            json.dump(self.ready, file)

    def describe(self):
        ready = self.ready
        lists = ", ".join(f"{int(n):,} in {name} order" for name, n in ready["lengths"])
        text = f"{ready['positions']:,} {self.kind} records"
        if ready["played"] is not None and ready["played"] < ready["positions"]:
            text += (f", {ready['played']:,} of them from the games and the rest by playing these"
                     " on at random")
        return f"{text}; a data file of {ready['bytes'] >> 20:,} MiB; probes: {lists}"

    def make_csv(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(self.csv, "wb") as out:
            self.tools.run("bench", "make_positions", str(self.size), str(SEED), stdout=out)

    def make_synthetic(self):
        self.make_csv()
        self.tools.chistore("-a", self.store, "init", "--statistic", "external")
        self.tools.chistore("-a", self.store, "--quiet", "import", self.csv)
        if self.kind == "evaluated":
            epd = os.path.join(self.folder, "evaluations.epd")
            self.write_evaluations(epd)
            self.tools.chistore("-a", self.store, "--quiet", "import", epd)
        return self.csv

    def write_evaluations(self, path):
        """A score, a depth and the move for every fourth position, as an analysis leaves them."""
        with open(self.csv, encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
            next(lines)
            for number, line in enumerate(lines):
                if number % EVALUATED_EVERY == 0:
                    fields = line.split(",", 1)[0].split()
                    out.write(" ".join(fields[:4]) +
                              f" ce {number * 37 % 801 - 400}; acd {12 + number % 20};\n")

    def make_played(self):
        """Sorts in a quarter of the memory that is free; says how long the lists are."""
        memory = max(available_memory() // 4 >> 20, 64)
        self.tools.run("bench", "make_store", self.store, self.lists, str(self.size),
                       str(self.probes), str(memory))
        return f"random {self.probes}\n"

    def make_real(self):
        games = unpack(self.pgn, os.path.join(self.folder, "games.pgn"))
        self.tools.chistore("-a", self.store, "--quiet", "import", "--statistic", "control", "--games", "none",
                            games)
        info = json.loads(self.tools.chistore("-a", self.store, "info", "--json"))
        self.played = info["positions"]
        if self.played < self.size:
            with open(self.csv, "wb") as out:
                self.tools.run("bench", "make_more", self.store, games,
                               str(self.size - self.played), str(SEED), stdout=out)
            self.tools.chistore("-a", self.store, "--quiet", "import", self.csv)
            os.unlink(self.csv)
        return games
