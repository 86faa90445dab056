#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Imports, dumps, loads and merges of stores on RADOS: each gives the dump that a directory gives,
also if it was killed at any moment and repeated. Needs CHISTORE_TEST_RADOS (tools/cluster.sh run).

CHISTORE_IMPORT_KILLS: how often an import is killed (default: 6).
"""

import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

CONF = os.environ.get("CHISTORE_TEST_RADOS")
if not CONF:
    print("skipped: CHISTORE_TEST_RADOS names no cluster")
    sys.exit(77)

import harness  # noqa: E402
from cli_base import Base, spawn  # noqa: E402

GAMES = os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", "games_300.pgn")
KILLS = int(os.environ.get("CHISTORE_IMPORT_KILLS", "6"))
EPD = ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 35; acd 20; pv e4 e5;\n"
       "8/8/8/8/3k4/8/3P4/R3K3 w - - ce 500; acd 30;\n").encode()


class Imports(Base):
    def setUp(self):
        super().setUp()
        self.random = harness.seed()
        with open(GAMES, encoding="latin-1") as file:
            games = ['[Event "' + part for part in file.read().split('[Event "')[1:]]
        third = len(games) // 3
        self.parts = [self.write(f"part{i}.pgn", "".join(games[i * third:(i + 1) * third]).encode("latin-1"))
                      for i in range(3)]

    def rados(self, statistic="outcome"):
        """A new store."""
        address = f"rados:chistore/i-{uuid.uuid4().hex}?conf={CONF}"
        self.out("init", "--statistic", statistic, "--shards", "6", address=address)
        return address

    def directory(self, *imports):
        store = self.path(f"store{len(os.listdir(self.path('.')))}")
        self.out("init", "--statistic", "outcome", "--games", "none", address=store)
        for path in imports:
            self.out("import", path, address=store)
        return store

    def dump(self, address):
        return self.out("dump", address=address)

    def test_same_as_a_directory(self):
        here, there = self.directory(), self.rados()
        epd = self.write("some.epd", EPD)
        for path in self.parts[:2] + [epd, self.parts[0]]:
            self.assertEqual(self.out("import", path, address=there), self.out("import", path, address=here))
            self.assertEqual(self.dump(there), self.dump(here))
        other = self.directory(self.parts[2])
        self.assertEqual(self.out("merge", other, address=there), self.out("merge", other, address=here))
        self.assertEqual(self.dump(there), self.dump(here))
        self.assertIn("counted in both stores", self.cli("merge", other, address=there, code=2).stderr)
        again, back = self.rados(), self.path("back")
        text = self.write("text", self.dump(there).encode())
        self.out("load", text, address=again)
        self.assertEqual(self.dump(again), self.dump(here))
        self.cli("load", text, address=again, code=3)
        self.out("load", text, address=back)
        self.assertEqual(self.dump(back), self.dump(here))
        self.out("verify", address=again)
        self.assertIn("not on RADOS", self.cli("subtract", self.parts[0], address=there, code=2).stderr)

    def kill_one(self, store, pgn, longest):
        process = spawn("--quiet", "import", pgn, address=store, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(self.random.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def test_killed_and_repeated(self):
        """The same import, another import, or a merge goes on where one was killed."""
        store = self.rados()
        begin = time.monotonic()
        self.out("import", self.parts[0], address=store)
        longest = (time.monotonic() - begin) * 1.1
        before = self.dump(self.directory(self.parts[0]))
        after = self.dump(self.directory(self.parts[0], self.parts[1]))
        self.assertEqual(self.dump(store), before)
        self.assertNotEqual(before, after)
        killed = 0
        for number in range(KILLS):
            store = self.rados()
            for part in self.random.sample(self.parts[:2], 2):
                killed += self.kill_one(store, part, longest)
            if number % 2 == 0:
                self.kill_one(store, self.parts[0], longest)
            self.out("import", self.parts[0], address=store)
            self.out("import", self.parts[1], address=store)
            self.out("verify", address=store)
            # Statistics of what a part did not touch are of the base rates before it.
            self.out("rescore", address=store)
            whole = self.directory(self.parts[0], self.parts[1])
            self.out("rescore", address=whole)
            self.assertEqual(self.dump(store), self.dump(whole))
        self.assertGreater(killed, 0)


if __name__ == "__main__":
    unittest.main()
