# SPDX-License-Identifier: MIT
"""What the tests of the command line share: positions, running a command, checking its code."""

import functools
import os
import re
import struct
import subprocess
import unittest

import harness

# The tests count what is in the stores they made: a daemon that runs already is of no use.
os.environ.pop("CHISTORE_TEST_ADDR", None)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
START_KEY = "ffff00000000ffff7315213744444444ccccccccfb9da9bf"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
ENDING = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"
ROOKS = "8/8/8/2k5/8/1R6/2PK4/6r1 w - - 0 1"
ABSENT = "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1"
HEAD = "chi2\tfen\tgames\twhite\tdraws\tblack\n"

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
MASTERS = os.path.join(DATA, "pgn", "games_300.pgn")

PAGE = 4096
BRANCH = 1

run_cli = harness.run_cli
program = harness.program


def summary(text):
    """Lines of name, tab, value to a dictionary."""
    return dict(line.split("\t", 1) for line in text.splitlines())


def rank(squares):
    """A rank of a FEN from its eight squares, '.' for an empty one."""
    return re.sub(r"\.+", lambda run: str(len(run.group())), squares)


@functools.cache
def pawns(piece, bits):
    """A rank of a FEN with that piece on the files of the bits."""
    return rank("".join(piece if bits >> bit & 1 else "." for bit in range(8)))


def spawn(*args, address=None, **extra):
    """A running chistore, for what run_cli cannot do: limits, signals, other outputs."""
    environment = dict(os.environ)
    environment.pop("CHISTORE", None)
    command = [program()] + (["-a", address] if address else []) + [str(a) for a in args]
    return subprocess.Popen(command, env=environment, **extra)


def damage(path):
    """Lets each branch page claim more nodes than it has: a walk of the tree leaves the map."""
    hurt = 0
    with open(os.path.join(path, "data.mdb"), "r+b") as file:
        data = bytearray(file.read())
        for at in range(2 * PAGE, len(data), PAGE):
            if struct.unpack_from("<H", data, at + 10)[0] == BRANCH:
                struct.pack_into("<H", data, at + 12, 0xfff0)
                hurt += 1
        file.seek(0)
        file.write(data)
    return hurt


class Base(unittest.TestCase):
    """Helpers that check the exit code with every command."""

    def setUp(self):
        self.dir = harness.make_temp_dir()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        path = self.path(name)
        data = content if isinstance(content, bytes) else content.encode()
        with open(path, "wb") as file:
            file.write(data)
        return path

    def counts(self, address):
        """What the store counts, as text: not what it keeps of the games, nor their numbers."""
        return self.out("dump", "--games", "none", address=address)

    def cli(self, *args, code=0, address=None, **extra):
        done = run_cli(*args, address=address, **extra)
        self.assertEqual(done.returncode, code, f"{args}: {done.stdout!r} {done.stderr!r}")
        if code in (2, 3):
            first = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
            self.assertTrue(first.startswith("chistore: "), f"{args}: {first!r}")
        return done

    def out(self, *args, **extra):
        return self.cli(*args, **extra).stdout

    def sealed(self, text):
        """The text of a dump that was written or edited by hand, with its checksums."""
        return self.out("dump", "--seal", "-", input=text)

    def new_store(self, statistic="control"):
        return harness.make_store(self.path("store-" + statistic), statistic)

    def fens(self, n):
        """n distinct positions."""
        for i in range(n):
            yield f"k7/8/{pawns('p', i >> 8 & 255)}/8/8/{pawns('P', i & 255)}/8/7K w - - 0 1"

    def many(self, name, n):
        """A CSV of n distinct positions."""
        rows = [f"{fen},{'n' * 200}{i}" for i, fen in enumerate(self.fens(n))]
        return self.write(name, "\n".join(["fen,note", *rows]) + "\n")
