# SPDX-License-Identifier: MIT
"""Engines that learn into one daemon, and are killed: what chistore-uci said to be durable is there,
of a position and engine the deepest alone, as one of the searches found it.

All of them search the same positions under one name, to depths drawn again each time, so that they
write over each other. Whenever STEP evaluations more are durable one of them is killed and started
again, half of the times the one that spoke last. Once the daemon is, and started again: they go on.
Once it is stopped while they search, and then all are killed: what no one stored no one may have
called durable. Games are counted in the same records, and must stay as they were.

CHISTORE_LEARNERS: how many (6). CHISTORE_LEARNED: evaluations until the end. CHISTORE_SEED: who is
killed, and what is searched.
"""

import json
import os
import random
import re
import subprocess
import threading
import time

import harness
from cli_base import MASTERS, Base, program

LEARNERS = int(os.environ.get("CHISTORE_LEARNERS", "6"))
GOAL = int(os.environ.get("CHISTORE_LEARNED", str(harness.rounds(160))))
STEP = 20
POSITIONS, DEPTHS = GOAL // 2, 6
LEARNED = re.compile(r"info string learned: depth (\d+) of (.+)")
FOUND = re.compile(r"info depth (\d+) .* score (cp|mate) (-?\d+) nodes (\d+) ")


class Log:
    """What all engines said, those that were killed too."""

    def __init__(self):
        self.durable = []   # position, depth
        self.found = set()  # position, depth, kind of score, score, nodes
        self.trouble = []
        self.answers = 0    # searches that ended
        self.deeper = 0     # than any before: no other evaluation stands for one that is lost
        self.last = None    # the process that spoke of a durable one
        self.grown = threading.Condition()

    def learned(self, fen, depth, process):
        with self.grown:
            self.last = process
            self.durable.append((fen, depth))
            self.grown.notify()

    def answered(self):
        with self.grown:
            self.answers += 1
            self.grown.notify()

    def wait(self, condition):
        with self.grown:
            return self.grown.wait_for(lambda: condition() or self.trouble, harness.PATIENCE)


class Learner(threading.Thread):
    """One engine after another, each searching until it is killed."""

    def __init__(self, address, positions, log, seed):
        super().__init__(daemon=True)
        self.address, self.positions, self.log = address, positions, log
        self.random = random.Random(seed)
        self.process, self.ends, self.failed = None, False, 0

    def run(self):
        try:
            while not self.ends:
                self.live()
        except Exception as error:  # pylint: disable=broad-except
            self.log.trouble.append(repr(error))

    def live(self):
        self.process = subprocess.Popen([program("CHISTORE_UCI", "chistore-uci"), "-a", self.address], encoding="utf-8",
                                        bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.say("debug on", *[f"setoption name {option}" for option in (
                "Book value off", "Probe value 0", "Hash value 1", "Learn value root")])
            fen = self.search()
            for line in self.process.stdout:
                fen = self.hear(line.rstrip("\n"), fen)
        except BrokenPipeError:
            pass
        for line in self.process.stdout:
            self.hear(line.rstrip("\n"), None)
        self.process.wait(harness.PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def say(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))

    def search(self):
        fen = self.random.choice(self.positions)
        self.say(f"position fen {fen}", f"go depth {self.random.randint(2, DEPTHS) + self.log.deeper}")
        return fen

    def hear(self, line, fen):
        """Returns the position that is searched."""
        learned, found = LEARNED.fullmatch(line), FOUND.match(line)
        if learned:
            self.log.learned(learned[2], int(learned[1]), self.process)
        elif found and fen:
            self.log.found.add((fen, int(found[1]), found[2], int(found[3]), int(found[4])))
        elif line.startswith("bestmove") and fen:
            self.log.answered()
            if not self.ends:
                return self.search()
            self.say("quit")
        elif line.startswith("info string learn: "):
            # The daemon was away when it opened the store: it waits.
            self.failed += 1
        elif line.startswith("info string store: ") and "could not be stored" in line:
            self.log.trouble.append(line)
        return fen


def missing(stored, durable):
    """What was said to be durable, and is not there, nor anything deeper."""
    return [(fen, depth) for fen, depth in durable if stored.get(fen, [{"depth": 0}])[0]["depth"] < depth]


class Learners(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("store")
        self.socket = "unix:" + self.path("socket")
        self.cli("import", "--games", "none", "--max-ply", "40", "--statistic", "outcome", MASTERS, address=self.store)
        self.games = self.played()

    def start(self):
        daemon = harness.start_daemon({"default": self.store}, listen=[self.socket])
        self.addCleanup(daemon.kill)
        return daemon

    def records(self):
        return [json.loads(line) for line in self.out("export", "--format", "jsonl", address=self.store).splitlines()]

    def played(self):
        return {row["fen"]: (row["games"], row["white"], row["draws"], row["black"]) for row in self.records()}

    def evals(self):
        return {row["fen"]: row["evals"] for row in self.records() if row.get("evals")}

    def search_on(self, log, number):
        end = log.answers + number
        self.assertTrue(log.wait(lambda: log.answers >= end), "no one searches any more")

    def stop_all(self, learners, log, daemon):
        """The daemon answers no one, then no one is left to say it again."""
        log.deeper = 2
        self.search_on(log, LEARNERS)
        daemon.freeze()
        self.search_on(log, 3 * LEARNERS)
        log.deeper = 0
        daemon.kill()
        for learner in learners:
            learner.process.kill()
        return self.start()

    def kill_until_the_goal(self, learners, log, daemon, rng):
        rounds = GOAL // STEP
        for number in range(1, rounds + 1):
            self.assertTrue(log.wait(lambda: len(log.durable) >= STEP * number), "nothing is learned any more")
            self.assertEqual(log.trouble, [])
            alive = [learner.process for learner in learners if learner.process]
            rng.choice([log.last, rng.choice(alive)]).kill()
            if number == rounds // 3:
                daemon.kill()
                daemon = self.start()
            elif number == 2 * rounds // 3:
                daemon = self.stop_all(learners, log, daemon)
        return rounds + len(learners), daemon

    def end(self, learners):
        for learner in learners:
            learner.ends = True
        for learner in learners:
            learner.join(harness.PATIENCE)
            self.assertFalse(learner.is_alive())

    def check(self, log):
        stored = self.evals()
        self.assertEqual(missing(stored, log.durable), [])
        self.assertEqual(self.played(), self.games)
        for fen, evals in stored.items():
            self.assertEqual([row["engine"] for row in evals], ["chistore"], fen)
            row = evals[0]
            kind = "cp" if "cp" in row else "mate"
            self.assertIn((fen, row["depth"], kind, row[kind], row["nodes"]), log.found)
        self.assertIn("sound\tyes", self.out("verify", address=self.store))
        return stored

    def blind(self, stored, log):
        """The control: what was never stored, or was and is gone, must be missed."""
        fen = log.durable[0][0]
        self.assertEqual(missing(stored, log.durable + [(fen, DEPTHS + 9)]), [(fen, DEPTHS + 9)])
        self.cli("delete", fen, address=self.store)
        self.assertEqual({lost for lost, _ in missing(self.evals(), log.durable)}, {fen})

    def test_killed(self):
        rng = harness.seed()
        positions = rng.sample(sorted(self.games), POSITIONS)
        log, daemon = Log(), self.start()
        learners = [Learner(self.socket, positions, log, rng.random()) for _ in range(LEARNERS)]
        begun = time.monotonic()
        for learner in learners:
            learner.start()
        kills, daemon = self.kill_until_the_goal(learners, log, daemon, rng)
        took = time.monotonic() - begun
        number = len(log.durable)
        self.end(learners)
        self.assertEqual(log.trouble, [])
        self.assertEqual(daemon.stop(), 0)
        stored = self.check(log)
        self.blind(stored, log)
        print(f"# figures: {LEARNERS} learners, {kills} killed, the daemon twice: {len(log.durable)} evaluations durable, "
              f"{number / took:.0f}/s, {len(stored)} positions, 0 lost; opened in vain: "
              f"{sum(learner.failed for learner in learners)}", flush=True)
