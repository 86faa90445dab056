# SPDX-License-Identifier: MIT
"""Analysers: what they take and pass over, engines that lie, hang and die, analysers that are killed,
and the queue shared by several.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import fake_engine
import harness
from cli_base import AFTER_E4, START, Base, spawn, summary

ENGINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_engine.py")


class Analyse(Base):
    def setUp(self):
        super().setUp()
        self.store = self.new_store()
        self.log = self.path("searched")

    def engine(self, wrong="nothing"):
        return f"{sys.executable} {ENGINE} {self.log} '{wrong}'"

    def searched(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            return file.read().splitlines()

    def analyse(self, *args, wrong="nothing", address=None, depth=7, code=0):
        # What answers is not hurried, on a machine with much else to do.
        patience = 1 if wrong == "hangs" else harness.CLI_TIMEOUT
        done = self.cli("analyse", "--quiet", "--engine", self.engine(wrong), "--depth", depth,
                        "--patience", patience, *args, address=address or self.store, code=code)
        told = {name: int(number) for name, number in summary(done.stdout).items()}
        return told.get("analysed"), told.get("stored_before"), told.get("failed")

    def counts(self, address=None):
        return tuple(int(n) for n in summary(self.out("queue", "count", address=address or self.store)).values())

    def evaluation(self, position):
        record = json.loads(self.out("get", position, address=self.store))
        return [(e["engine"], e["depth"], e["cp"], e["nodes"], e["pv"]) for e in record["evals"]]

    def test_line_is_passed_over_again(self):
        self.assertEqual(self.analyse("--line", "e4 e5"), (3, 0, 0))
        self.assertEqual(self.evaluation(START), [("Test", 7, 12, 500, ["g1f3"])])
        self.assertEqual(len(self.searched()), 3)
        self.assertEqual(self.analyse("--line", "e4 e5 Nf3", "--processes", 3), (1, 3, 0))
        self.assertEqual(self.analyse("--line", "e4 e5", depth=6), (0, 3, 0))
        self.assertEqual(self.analyse("--line", "e4 e5", depth=8), (3, 0, 0))
        self.assertEqual(self.counts(), (0, 0, 0))
        # Of a scan: all that are stored; mate is none to search.
        self.assertEqual(self.analyse("--limit", 3, depth=9), (3, 0, 0))
        self.cli("put", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", address=self.store)
        self.assertEqual(self.analyse("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), (0, 1, 0))

    def test_queue(self):
        self.cli("queue", "add", START, AFTER_E4, address=self.store)
        self.assertEqual(self.analyse("--queue", "--processes", 2), (2, 0, 0))
        self.assertEqual(self.counts(), (0, 0, 0))
        self.cli("queue", "add", START, address=self.store)
        self.assertEqual(self.analyse("--queue"), (0, 1, 0))

    def test_engines_that_are_wrong(self):
        for wrong, searches in (("lies", 1), ("dies", 2), ("hangs", 1)):
            with self.subTest(wrong):
                self.assertEqual(self.analyse(START, wrong=wrong), (0, 0, 1))
                self.assertEqual(self.searched(), [START] * searches)
                self.assertEqual(self.counts(), (0, 0, 1))
                # Given up, it is not tried again before it is asked for.
                self.assertEqual(self.analyse(START, wrong=wrong), (0, 0, 1))
                self.assertEqual(len(self.searched()), searches)
                self.cli("queue", "drop", "--all", address=self.store)
                os.unlink(self.log)
        self.assertEqual(self.analyse("--line", "e4 e5", wrong="dies at e4"), (1, 0, 2))

    def test_one_that_answers_twice(self):
        """What it says after its answer is of no position, however legal."""
        self.assertEqual(self.analyse("--line", "e4 e5", wrong="answers twice"), (3, 0, 0))
        for position in (START, AFTER_E4):
            (_, _, score, _, _), = self.evaluation(position)
            self.assertEqual(score, 12)

    def test_lines(self):
        kings = "8/8/8/3k4/8/3K4/8/8 w - - 0 1"
        self.assertEqual(self.analyse(kings, "--lines", 3), (1, 0, 0))
        best = [move for _, move in fake_engine.lines_of(kings)]
        self.assertEqual([pv for _, _, _, _, (pv,) in self.evaluation(kings)], best[:3])
        self.assertEqual(self.analyse(kings, "--lines", 3), (0, 1, 0))
        self.assertEqual(self.analyse(kings), (0, 1, 0))
        # As many as there are moves.
        corner = "8/8/8/8/8/1K6/8/k7 b - - 0 1"
        self.assertEqual(self.analyse(corner, "--lines", 4), (1, 0, 0))
        self.assertEqual(self.analyse(corner, "--lines", 4), (0, 1, 0))
        self.assertEqual(self.analyse(kings, "--lines", 4), (1, 0, 0))
        done = self.cli("analyse", "--engine", self.engine("has one line"), "--depth", 7, "--lines", 2,
                        kings, address=self.store, code=2)
        self.assertIn("has no option MultiPV", done.stderr)

    def test_nodes(self):
        """An engine that tells its nodes now and then has searched what it was told to."""
        for analysed in (1, 0):
            told = summary(self.out("analyse", "--quiet", "--engine", self.engine(), "--nodes", 1000, START,
                                    address=self.store))
            self.assertEqual(int(told["analysed"]), analysed)
        self.assertEqual(self.evaluation(START)[0][3], 1000)
        self.out("analyse", "--quiet", "--engine", self.engine(), "--nodes", 1001, START, address=self.store)
        self.assertEqual(len(self.searched()), 2)

    def test_a_mate_is_not_searched_again(self):
        said = self.write("said", "#3 g1f3\n")
        self.assertEqual(self.analyse(START, wrong="says " + said), (1, 0, 0))
        self.assertEqual(self.analyse(START, depth=30), (0, 1, 0))

    def test_chess960(self):
        """Engines are told where castling is not that of chess, and only there."""
        position = "4k3/8/8/8/8/8/8/1R2K2R w KQ - 0 1"
        said = self.write("said", "5 e1h1\n5 e1g1\n5 g1f3\n")
        self.assertEqual(self.analyse(position, "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", START, wrong="says " + said),
                         (3, 0, 0))
        self.assertEqual([line.endswith(" 960") for line in self.searched()], [True, False, False])
        self.assertEqual(self.analyse(position, wrong="knows chess alone", depth=9), (0, 0, 1))

    def test_nothing_is_left_of_an_engine(self):
        """Nor of one that a script has started, which hears nothing."""
        script = self.write("script", f"{self.engine('is deaf')}\ntrue\n")
        self.cli("analyse", "--quiet", "--engine", "sh " + script, "--depth", 7, "--patience", 1, START,
                 address=self.store)
        self.assertEqual(self.searched(), [START])
        left = []
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    left += [name] if self.log.encode() in file.read() else []
            except OSError:
                pass
        self.assertEqual(left, [])

    def test_repertoire(self):
        """Of the variations, too, and each position once."""
        pgn = self.write("mine.pgn", """[Event "?"]

1. e4 e5 (1... c5 2. c3 (2. d3 d5) 2... d6) (1... e6 {c}) 2. c3 d6 *

[Event "?"]

1. e4 e5 2. c3 a6 *
""")
        self.assertEqual(self.analyse("--repertoire", pgn), (12, 0, 0))
        for moves in ("e4 c5 c3 d6", "e4 c5 d3 d5", "e4 e6", "e4 e5 c3 d6", "e4 e5 c3 a6"):
            self.assertEqual(self.evaluation(moves)[0][0], "Test", moves)
        self.cli("analyse", "--engine", "x", "--depth", 3, "--repertoire", self.path("none"),
                 address=self.store, code=2)
        self.cli("analyse", "--engine", "x", "--depth", 3, "--repertoire", self.write("prose", "none\n"),
                 address=self.store, code=2)

    def test_in_vain_from_the_queue(self):
        """After some tries the queue gives up, too."""
        self.cli("queue", "add", START, address=self.store)
        self.assertEqual(self.analyse("--queue", wrong="lies"), (0, 0, 5))
        self.assertEqual(self.counts(), (0, 0, 1))

    def test_killed(self):
        """What a killed analyser held comes back when its lease has ended, to others of any kind."""
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}, listen=["unix:" + self.path("s")]) as daemon:
            for args in (("--queue",), (START,)):
                self.cli("queue", "add", START, address=daemon.address)
                if args != ("--queue",):
                    self.cli("queue", "drop", "--all", address=daemon.address)
                child = spawn("analyse", "--quiet", "--engine", self.engine("hangs"), "--depth", 9,
                              "--lease", 700, *args, address=daemon.address, start_new_session=True)
                while not self.searched():
                    self.assertIsNone(child.poll())
                    time.sleep(0.02)
                self.assertEqual(self.counts(daemon.address)[1], 1)
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                self.assertEqual(self.analyse(*args, address=daemon.address, depth=9), (1, 0, 0))
                self.assertEqual(self.counts(daemon.address), (0, 0, 0))
                os.unlink(self.log)
                self.cli("delete", START, address=daemon.address)

    def test_stopped(self):
        """SIGTERM gives back what is held."""
        self.cli("queue", "add", START, address=self.store)
        child = spawn("analyse", "--quiet", "--engine", self.engine("floods"), "--depth", 9,
                      "--queue", "--patience", 1, address=self.store, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + harness.CLI_TIMEOUT
        while not self.searched():
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        child.terminate()
        self.assertEqual(child.wait(), 143)
        self.assertLess(time.monotonic(), deadline)
        self.assertEqual(self.counts(), (1, 0, 0))
        self.assertIn("\twaiting\t1\t0\t", self.out("queue", "list", address=self.store))

    def test_shared(self):
        """Four with the same list: every position is searched once."""
        positions = list(self.fens(17))
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}, listen=["unix:" + self.path("s")]) as daemon:
            children = [spawn("analyse", "--quiet", "--engine", self.engine(), "--depth", 5,
                              "--processes", 2, *positions, address=daemon.address,
                              stdout=subprocess.PIPE) for _ in range(4)]
            told = [summary(child.communicate()[0].decode()) for child in children]
            self.assertEqual([child.returncode for child in children], [0] * 4)
            self.assertEqual(sum(int(one["analysed"]) for one in told), 17)
            for one in told:
                self.assertEqual(int(one["analysed"]) + int(one["stored_before"]), 17)
            self.assertEqual(len(self.searched()), 17)
            self.assertEqual(len(set(self.searched())), 17)
            self.assertEqual(self.counts(daemon.address), (0, 0, 0))

    def test_usage(self):
        for args in (("--depth", 3), ("--engine", "x"), ("--engine", "x", "--depth", 1, "--nodes", 1),
                     ("--engine", "x", "--depth", 1, "--queue", START),
                     ("--engine", "x", "--depth", 1, "--wait"),
                     ("--engine", "x", "--depth", 1, "--queue", "--min-games", 2),
                     ("--engine", "x", "--depth", 1, START, "--limit", 2),
                     ("--engine", "x", "--depth", 1, "--queue", "--expand", 2),
                     ("--engine", "x", "--depth", 1, "--breadth", 2),
                     ("--engine", "x", "--depth", 1, "--line", "e4", "--repertoire", "x"),
                     ("--engine", "x", "--depth", 1, "--expand", 1000000, "--lines", 9),
                     ("--engine", "x", "--depth", 1, "--line", "e4 e4"),
                     ("--engine", "/nonexistent", "--depth", 1, START)):
            self.cli("analyse", *args, address=self.store, code=2)

    def test_stockfish(self):
        engine = shutil.which("stockfish", path=os.environ["PATH"] + ":/usr/games")
        if engine is None:
            self.skipTest("stockfish is not there")
        mate = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"
        self.out("analyse", "--quiet", "--engine", engine, "--depth", 6, "--set", "Hash=1;Threads=1",
                 mate, START, address=self.store)
        found = json.loads(self.out("get", mate, address=self.store))["evals"][0]
        self.assertEqual((found["mate"], found["pv"]), (1, ["e1e8"]))
        self.assertGreaterEqual(json.loads(self.out("get", START, address=self.store))["evals"][0]["depth"], 6)
