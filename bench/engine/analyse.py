#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Positions per second of `chistore analyse`, against the engine alone.

    bench/engine/analyse.py [--build DIR] [--engine COMMAND] [--depth N] [--positions N] [--turns N]

The positions are those of demo/positions.epd.gz. The engine alone gets them through a pipe, one
after the other; `analyse` has them in a new store, in a directory and behind a daemon. Then a tree
of as many positions is grown, with four lines of each. Each is done in every turn; the table has the
least seconds, and what they are against the engine alone in that turn.
"""
import argparse
import gzip
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HASH = 16


def positions_of(n):
    with gzip.open(os.path.join(ROOT, "demo", "positions.epd.gz"), "rt", encoding="ascii") as file:
        return [line.split(";")[0].strip() for line in file.read().splitlines()][:n]


def alone(options, fens):
    """Seconds of the engine by itself."""
    process = subprocess.Popen(shlex.split(options.engine), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(text, until):
        process.stdin.write(text + "\n")
        process.stdin.flush()
        while not process.stdout.readline().startswith(until):
            pass

    say("uci", "uciok")
    say(f"setoption name Hash value {HASH}\nisready", "readyok")
    begun = time.monotonic()
    for fen in fens:
        say(f"position fen {fen}\ngo depth {options.depth}", "bestmove")
    seconds = time.monotonic() - begun
    process.communicate("quit\n")
    return seconds


class Stores:
    """A new store for each run, in a directory or served."""

    def __init__(self, options, folder, fens):
        self.options, self.folder = options, folder
        self.cli = os.path.join(options.build, "cli", "chistore")
        self.epd = os.path.join(folder, "positions.epd")
        with open(self.epd, "w", encoding="ascii") as file:
            file.write("".join(fen + "\n" for fen in fens))

    def make(self, filled):
        path = os.path.join(self.folder, "store")
        shutil.rmtree(path, ignore_errors=True)
        self.run(path, "init", "--statistic", "control")
        if filled:
            self.run(path, "import", "--quiet", self.epd)
        return path

    def run(self, address, *args):
        subprocess.run([self.cli, "-a", address, *args], check=True, stdout=subprocess.DEVNULL)

    def analyse(self, address, processes, *args):
        begun = time.monotonic()
        self.run(address, "analyse", "--quiet", "--engine", self.options.engine, "--set", f"Hash={HASH}", "--nice", "0",
                 "--depth", str(self.options.depth), "--processes", str(processes), *args)
        return time.monotonic() - begun

    def served(self, processes):
        path, socket = self.make(True), os.path.join(self.folder, "socket")
        daemon = subprocess.Popen([os.path.join(self.options.build, "daemon", "chistored"), "--store", path,
                                   "--listen", "unix:" + socket], stderr=subprocess.PIPE, text=True)
        daemon.stderr.readline()
        seconds = self.analyse("unix:" + socket, processes)
        daemon.terminate()
        daemon.communicate()
        return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build-release")
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    fens = positions_of(options.positions)
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores(options, folder, fens)
        ways = {"the engine alone": lambda: alone(options, fens)}
        for processes in (1, 2, 4):
            ways[f"directory, {processes}"] = lambda n=processes: stores.analyse(stores.make(True), n)
            ways[f"daemon, {processes}"] = lambda n=processes: stores.served(n)
        for processes in (1, 2):
            ways[f"tree, four lines, {processes}"] = lambda n=processes: stores.analyse(
                stores.make(False), n, "--expand", str(len(fens)))
        turns = [{way: take() for way, take in ways.items()} for _ in range(options.turns)]
    print(f"{len(fens)} positions, depth {options.depth}, processes after the comma")
    for way in ways:
        ratios = sorted(turn["the engine alone"] / turn[way] for turn in turns)
        best = min(turn[way] for turn in turns)
        print(f"{way:24} {len(fens) / best:8.1f} /s   {ratios[0]:.2f} to {ratios[-1]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
