# SPDX-License-Identifier: MIT
"""kill -9 of the daemon under writers: after the restart every acknowledged batch is there, no half
batch is, marked writes that were repeated count once, and the store is sound. generation.h says how
batches are told apart.

Of the eight writers five wait for each batch to be synced. One does not, and may lose what it was
told of, but never a part of a batch, nor one before another that is there. Two add games by marked
writes; they live through the kills.

The controls take acknowledgements for promises that are none (CHI_ASYNC) and kill right after one:
the same check must then find a loss, or it is blind and the test fails.

CHISTORE_KILL_CYCLES: how many times to kill (default 50). CHISTORE_SEED: when. CHISTORE_HAMMER:
the hammer program.
"""

import os
import statistics
import time
import unittest

import harness
from hammers import CUT, FOUND, Hammer, check, wait_until
from pychistore import Client

SYNCED, UNSYNCED, ADDERS = 5, 1, 2
WRITERS = SYNCED + UNSYNCED
CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "50"))
STORE_CYCLES = 100  # with one store, which grows, and with it the time that a check takes
START_MAX = 1.0  # seconds that a restart should take at most, on a machine that does little else


class Figures:
    """What all cycles reached so far."""

    def __init__(self):
        self.kills = self.acks = self.unanswered = self.forgotten = 0
        self.starts = []

    def show(self):
        late = sum(seconds > START_MAX for seconds in self.starts)
        print(f"# figures: {self.kills} kills under {WRITERS + ADDERS} writers, {self.acks} "
              f"acknowledged writes, 0 lost, 0 twice; {self.unanswered} batches committed but not "
              f"answered; {self.forgotten} unsynced ones gone, as they may be; restart to first "
              f"answer {statistics.median(self.starts):.3f} s in the median, "
              f"{max(self.starts):.3f} s at most, {late} over {START_MAX} s", flush=True)


class Life:
    """One store, its daemon and its writers."""

    def __init__(self, test, figures):
        self.test, self.figures = test, figures
        self.store = harness.make_store(statistic="external")
        self.listen = ["unix:" + os.path.join(harness.make_temp_dir(), "socket")]
        self.tops = [0] * WRITERS
        self.start_daemon()
        self.adders = [Hammer("add", self.daemon.address, "--writer", WRITERS + number)
                       for number in range(ADDERS)]

    def start_daemon(self):
        """Returns how long it took from before the start until a request was answered."""
        begin = time.monotonic()
        self.daemon = harness.start_daemon({"default": self.store}, listen=self.listen)
        with Client(self.daemon.address) as client:
            client.ping()
        return time.monotonic() - begin

    def write_and_kill(self, chance):
        """What each writer was told of when the daemon died."""
        writers = [Hammer("write", self.daemon.address, "--writer", w, "--first",
                          self.tops[w] + 1, *(["--async"] if w >= SYNCED else []))
                   for w in range(WRITERS)]
        wanted = sum(self.tops) + chance.randint(WRITERS, 150)
        try:
            # And one from each: one that has not connected yet would find no daemon.
            wait_until(writers + self.adders, lambda: (
                all(writer.last_ack() for writer in writers) and
                sum(writer.last_ack() for writer in writers) >= wanted))
            # So that the kill hits any phase of a commit, not the moment after an answer.
            time.sleep(chance.uniform(0, 0.01))
        finally:
            self.daemon.kill()
            ends = [writer.finish() for writer in writers]
            acked = [writer.last_ack(top) for writer, top in zip(writers, self.tops)]
            for writer in writers:
                writer.close()
        for code, _, err in ends:
            self.test.assertEqual(code, CUT, err)
        return acked

    def compare(self, acked, added, exactly=False):
        """Counts what is there against what was acknowledged."""
        promised = acked[:SYNCED] + [0] * UNSYNCED
        code, words, err = check(self.daemon.address, promised, added, exactly)
        self.test.assertEqual(code, 0, err)
        return words["top"]

    def cycle(self, chance):
        acked = self.write_and_kill(chance)
        # Whatever they were told of before there is a daemon again came from the one that died.
        added = [adder.last_ack() for adder in self.adders]
        self.figures.starts.append(self.start_daemon())
        self.figures.acks += sum(acked[:SYNCED]) - sum(self.tops[:SYNCED])
        self.tops = self.compare(acked, added)
        for writer, top in enumerate(self.tops):
            self.figures.unanswered += max(0, top - acked[writer])
            self.figures.forgotten += max(0, acked[writer] - top)
        self.figures.kills += 1

    def end(self):
        for adder in self.adders:
            code, _, err = adder.stop()
            self.test.assertEqual(code, 0, err)
        added = [adder.last_ack() for adder in self.adders]
        self.figures.acks += sum(added)
        self.compare(self.tops, added, exactly=True)
        self.test.assertEqual(self.daemon.stop(), 0, self.daemon.stderr_text())
        verified = harness.run_cli("verify", address=self.store)
        self.test.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def close(self):
        self.daemon.kill()
        for adder in self.adders:
            adder.close()


class Kill(unittest.TestCase):
    def setUp(self):
        if os.environ.get("CHISTORE_TEST_ADDR"):
            self.skipTest("a daemon that is not ours is not killed")
        self.random = harness.seed()
        print(f"# CHISTORE_KILL_CYCLES={CYCLES}", flush=True)

    def test_nothing_acknowledged_is_lost(self):
        figures = Figures()
        while figures.kills < CYCLES:
            life = Life(self, figures)
            try:
                for _ in range(min(STORE_CYCLES, CYCLES - figures.kills)):
                    life.cycle(self.random)
                life.end()
            finally:
                life.close()
            figures.show()

    def found_loss(self, address, acked):
        """True if the check finds that acknowledged batches are gone, and nothing worse."""
        code, words, err = check(address, [acked])
        if code != 0:
            self.assertEqual(code, FOUND, err)
            self.assertIn("lost: generation", err)
        return code != 0, words["top"][0]

    def test_control_daemon_acknowledges_first(self):
        store = harness.make_store(statistic="external")
        top = 0
        for cycle in range(100):
            daemon = harness.start_daemon({"default": store})
            last = top + 1 + self.random.randrange(50)
            writer = Hammer("write", daemon.address, "--writer", 0, "--first", top + 1, "--async",
                            "--kill-at", last, "--kill-pid", daemon.pid)
            code, _, err = writer.finish()
            self.assertEqual(code, CUT, err)
            daemon.kill()
            with harness.start_daemon({"default": store}) as daemon:
                lost, top = self.found_loss(daemon.address, writer.last_ack(top))
            writer.close()
            if lost:
                print(f"# control: a loss was found in cycle {cycle + 1}", flush=True)
                return
        self.fail("control did not fail: no acknowledged batch was lost though none was synced")

    def test_killed_processes_lose_nothing(self):
        """The library alone: its own process is killed after an acknowledgement."""
        store = harness.make_store(statistic="external")
        top = 0
        for _ in range(5):
            last = top + 1 + self.random.randrange(20)
            writer = Hammer("write", store, "--writer", 0, "--first", top + 1, "--kill-at", last)
            writer.finish()
            self.assertEqual(writer.last_ack(top), last)
            writer.close()
            lost, top = self.found_loss(store, last)
            self.assertFalse(lost)

    def test_control_process_acknowledges_first(self):
        store = harness.make_store(statistic="external")
        writer = Hammer("write", store, "--writer", 0, "--first", 1, "--async", "--kill-at", 7)
        writer.finish()
        self.assertEqual(writer.last_ack(), 7)
        writer.close()
        lost, _ = self.found_loss(store, 7)
        self.assertTrue(lost, "control did not fail: no unsynced batch was lost")
