# SPDX-License-Identifier: MIT
"""Trees grown best first: in which order, gone on with, and by several programs at once."""

import os
import shutil
import subprocess
import sys
import time

import fake_engine
import harness
from cli_base import AFTER_E4, START, Base, spawn, summary

ROOT = "8/8/8/3k4/8/3K4/8/8 w - - 0 1"
BREADTH = 30
LINES = 4
CODES = {"K": 2, "k": 10}


def key_of(fen):
    """As keys are ordered; of positions of two kings."""
    kings = fake_engine.squares_of(fen.split()[0])
    mask = sum(1 << (63 - at) for at in kings.values())
    codes = [0 if letter == "k" and " b " in fen else CODES[letter]
             for letter in sorted(kings, key=kings.get)]
    return mask, codes


def play(fen, move):
    kings = fake_engine.squares_of(fen.split()[0])
    side = fen.split()[1]
    kings["K" if side == "w" else "k"] = "abcdefgh".index(move[2]) + 8 * (int(move[3]) - 1)
    board = ["".join(next((letter for letter, at in kings.items() if at == 8 * rank + file), ".")
                     for file in range(8)) for rank in range(7, -1, -1)]
    text = "/".join(board)
    for n in range(8, 0, -1):
        text = text.replace("." * n, str(n))
    return f"{text} {'b' if side == 'w' else 'w'} - - 0 1"


class Tree:
    """The rule of `analyse --expand`, written a second time."""

    def __init__(self, root):
        self.lines = {}
        self.root = root

    def plies(self):
        found, ring = {self.root: 0}, [self.root]
        while ring:
            after = [to for fen in ring for _, to in self.lines.get(fen, [])]
            ring = [fen for fen in dict.fromkeys(after) if fen not in found]
            found.update(dict.fromkeys(ring, max(found.values()) + 1))
        return found

    def costs(self):
        plies, worth = self.plies(), {}
        by_plies = sorted(plies, key=plies.get)

        def of_move(fen, score, to):
            return -worth[to] if to in self.lines and plies[to] > plies[fen] else score

        for fen in reversed(by_plies):
            worth[fen] = max((of_move(fen, *line) for line in self.lines.get(fen, [])), default=0)
        costs = {self.root: 0}
        for fen in by_plies:
            for score, to in self.lines.get(fen, []):
                if plies[to] > plies[fen]:
                    cost = costs[fen] + BREADTH + worth[fen] - of_move(fen, score, to)
                    costs[to] = min(cost, costs.get(to, cost))
        return costs

    def grow(self, n):
        """The positions searched, in their order."""
        while len(self.lines) < n:
            costs = self.costs()
            leaf = min((cost, key_of(fen), fen) for fen, cost in costs.items() if fen not in self.lines)[2]
            self.lines[leaf] = [(score, play(leaf, move))
                                for score, move in fake_engine.lines_of(leaf)[:LINES]]
        return list(self.lines)


class Expand(Base):
    def setUp(self):
        super().setUp()
        self.store = harness.make_store(self.path("tree"), "control")
        self.log = self.path("searched")

    def engine(self, wrong=""):
        return f"{sys.executable} {fake_engine.__file__} {self.log} '{wrong}'"

    def searched(self):
        with open(self.log, encoding="ascii") as file:
            return file.read().splitlines()

    def arguments(self, n, *more, wrong=""):
        return ("analyse", "--quiet", "--engine", self.engine(wrong), "--depth", 7, "--expand", n,
                "--patience", harness.CLI_TIMEOUT, *(more or (ROOT,)))

    def expand(self, *args, **extra):
        told = summary(self.out(*self.arguments(*args, **extra), address=self.store))
        return tuple(int(told[name]) for name in ("tree", "analysed", "stored_before", "failed"))

    def test_the_best_leaf_comes_first(self):
        self.assertEqual(self.expand(40), (40, 40, 0, 0))
        self.assertEqual(self.searched(), Tree(ROOT).grow(40))
        # Nothing is left to do; a larger tree goes on from there.
        self.assertEqual(self.expand(40), (40, 0, 40, 0))
        self.assertEqual(self.expand(50, "--processes", 3, ROOT), (50, 10, 40, 0))
        self.assertEqual(len(set(self.searched())), 50)
        # Deeper searches make another tree; those that are deeper than asked for are taken.
        self.assertEqual(self.expand(5, "--lines", 2, ROOT)[:2], (5, 0))

    def test_killed(self):
        """One that was killed goes on as if nothing had been."""
        child = spawn(*self.arguments(20, wrong="kills"), address=self.store)
        self.assertEqual(child.wait(), -9)
        self.assertEqual(len(self.searched()), 8)
        # Instead of waiting for the end of its lease.
        self.cli("queue", "drop", "--all", address=self.store)
        self.assertEqual(self.expand(20), (20, 13, 7, 0))
        order = Tree(ROOT).grow(20)
        self.assertEqual(self.searched(), order[:8] + order[7:])

    def test_shared(self):
        """Four with one tree: no position is searched twice."""
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}, listen=["unix:" + self.path("s")]) as daemon:
            children = [spawn(*self.arguments(40), address=daemon.address, stdout=subprocess.PIPE)
                        for _ in range(4)]
            told = [summary(child.communicate()[0].decode()) for child in children]
            self.assertEqual([child.returncode for child in children], [0] * 4)
            searched = self.searched()
            self.assertEqual(len(searched), sum(int(one["analysed"]) for one in told))
            self.assertEqual(len(searched), len(set(searched)))
            for one in told:
                self.assertGreaterEqual(int(one["tree"]), 40)

    def test_what_others_find_is_seen(self):
        """One that is slow has nothing left to do when another has done it."""
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}, listen=["unix:" + self.path("s")]) as daemon:
            slow = spawn(*self.arguments(20, wrong="waits"), address=daemon.address,
                         stdout=subprocess.PIPE)
            while not os.path.exists(self.log + ".waits"):
                self.assertIsNone(slow.poll())
                time.sleep(0.02)
            self.store = daemon.address
            self.assertEqual(self.expand(20), (20, 19, 1, 0))
            os.unlink(self.log + ".waits")
            told = summary(slow.communicate()[0].decode())
            self.assertEqual((told["tree"], told["analysed"]), ("20", "2"))
            self.assertEqual(len(self.searched()), len(set(self.searched())))

    def test_where_it_begins(self):
        self.assertEqual(self.expand(2, "--lines", 1, START), (2, 2, 0, 0))
        self.assertEqual(self.searched()[0], START)
        os.unlink(self.log)
        # Without a position at the initial one; lines and repertoires are roots all.
        self.assertEqual(self.expand(2, "--lines", 1), (2, 0, 2, 0))
        self.assertEqual(self.expand(3, "--lines", 1, "--line", "e4"), (3, 1, 2, 0))
        self.assertEqual(self.searched(), [AFTER_E4])

    def test_no_leaf_is_left(self):
        mate = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
        self.assertEqual(self.expand(9, mate), (0, 0, 0, 0))

    def test_given_up(self):
        """A position without an answer is left out, in later runs, too."""
        self.assertEqual(self.expand(3, wrong="lies"), (0, 0, 0, 1))
        self.assertEqual(self.expand(3, wrong="lies"), (0, 0, 0, 1))
        self.assertEqual(self.searched(), [ROOT])
