# SPDX-License-Identifier: MIT
"""kill -9 of the daemon under writers: after the restart every acknowledged batch is there, no half
batch is, and the store is sound. hammer.c says how batches are told apart.

The controls acknowledge before the commit (CHI_ASYNC) and are killed right behind an
acknowledgement: the same check must then find a loss, or it is blind and the test fails.

CHISTORE_KILL_CYCLES: how many times to kill (default 20). CHISTORE_SEED: when. CHISTORE_HAMMER: the
hammer program.
"""

import os
import random
import re
import selectors
import subprocess
import time
import unittest

import harness

WRITERS = 8
CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "20"))
SEED = int(os.environ.get("CHISTORE_SEED", "20040301"))
CUT = 3  # the exit code of a writer whose daemon went away
FOUND = 1
TIMEOUT = 120


def start(mode, address, *args):
    command = [os.environ["CHISTORE_HAMMER"], mode, address] + [str(arg) for arg in args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL)


def finish(process):
    out, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, out.decode(), err.decode()


class Writer:
    """A hammer that writes, and the acknowledgements it has noted."""

    def __init__(self, address, number, first, *args):
        self.process = start("write", address, "--writer", number, "--first", first, *args)
        self.text = b""

    def read_some(self):
        """False at the end of the output."""
        part = os.read(self.process.stdout.fileno(), 65536)
        self.text += part
        return part != b""

    def last_ack(self, before):
        acks = re.findall(rb"^ack (\d+)$", self.text, re.M)
        return int(acks[-1]) if acks else before

    def finish(self):
        while self.read_some():
            pass
        err = self.process.stderr.read().decode()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode, err


class Kill(unittest.TestCase):
    def setUp(self):
        if os.environ.get("CHISTORE_TEST_ADDR"):
            self.skipTest("a daemon that is not ours is not killed")
        self.random = random.Random(SEED)
        self.store = harness.make_store(statistic="external")
        self.listen = ["unix:" + os.path.join(harness.make_temp_dir(), "socket")]
        print(f"# CHISTORE_SEED={SEED} CHISTORE_KILL_CYCLES={CYCLES}", flush=True)

    def start_daemon(self):
        return harness.start_daemon({"default": self.store}, listen=self.listen)

    def check(self, address, writer, acked):
        """The exit code, the generation that is there, and the complaints."""
        code, out, err = finish(start("check", address, "--writer", writer, "--acked", acked))
        top = re.search(r"^top (\d+)$", out, re.M)
        return code, int(top.group(1)) if top else None, err

    def wait_for_acks(self, writers, wanted):
        """Until that many acknowledgements have come from all writers together, and one from each:
        one that has not connected yet would find no daemon."""
        with selectors.DefaultSelector() as selector:
            for writer in writers:
                selector.register(writer.process.stdout, selectors.EVENT_READ, writer)
            while (sum(writer.text.count(b"\n") for writer in writers) < wanted or
                   not all(b"\n" in writer.text for writer in writers)):
                for key, _ in selector.select(TIMEOUT):
                    self.assertTrue(key.data.read_some(), "a writer ended early")

    def write_and_kill(self, daemon, tops):
        """Returns what each writer had acknowledged when the daemon died."""
        writers = [Writer(daemon.address, w, tops[w] + 1) for w in range(WRITERS)]
        try:
            self.wait_for_acks(writers, self.random.randint(1, 200))
            # So that the kill hits any phase of a commit, not the moment behind an answer.
            time.sleep(self.random.uniform(0, 0.01))
        finally:
            daemon.kill()
            ends = [writer.finish() for writer in writers]
        for code, err in ends:
            self.assertEqual(code, CUT, err)
        return [writer.last_ack(tops[w]) for w, writer in enumerate(writers)]

    def test_nothing_acknowledged_is_lost(self):
        tops = [0] * WRITERS
        unanswered = 0
        acks = 0
        slowest = 0.0
        daemon = self.start_daemon()
        for cycle in range(CYCLES):
            acked = self.write_and_kill(daemon, tops)
            acks += sum(acked) - sum(tops)
            begin = time.monotonic()
            daemon = self.start_daemon()
            slowest = max(slowest, time.monotonic() - begin)
            for w in range(WRITERS):
                code, tops[w], err = self.check(daemon.address, w, acked[w])
                self.assertEqual(code, 0, f"cycle {cycle}, writer {w}: {err}")
                unanswered += tops[w] - acked[w]
            verified = harness.run_cli("verify", address=daemon.address)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertEqual(daemon.stop(), 0, daemon.stderr_text())
        verified = harness.run_cli("verify", address=self.store)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        print(f"# figures: {CYCLES} kills under {WRITERS} writers, {acks} acknowledgements, 0 lost; "
              f"{unanswered} batches committed but not answered; slowest start {slowest:.2f} s",
              flush=True)

    def assert_loss(self, address, acked):
        """True if the check finds that acknowledged batches are gone, and nothing worse."""
        code, top, err = self.check(address, 0, acked)
        if code == 0:
            return False, top
        self.assertEqual(code, FOUND, err)
        self.assertIn("lost: generation", err)
        return True, top

    def test_control_daemon_acknowledges_first(self):
        top = 0
        for cycle in range(max(CYCLES, 20)):
            daemon = self.start_daemon()
            last = top + 1 + self.random.randrange(50)
            writer = Writer(daemon.address, 0, top + 1, "--async", "--kill-at", last,
                            "--kill-pid", daemon.pid)
            code, err = writer.finish()
            self.assertEqual(code, CUT, err)
            daemon.kill()
            daemon = self.start_daemon()
            lost, top = self.assert_loss(daemon.address, writer.last_ack(top))
            daemon.stop()
            if lost:
                print(f"# control: a loss was found in cycle {cycle + 1}", flush=True)
                return
        self.fail("control did not fail: no acknowledged batch was lost though none was synced")

    def test_control_process_acknowledges_first(self):
        writer = Writer(self.store, 0, 1, "--async", "--kill-at", 7)
        writer.finish()
        acked = writer.last_ack(0)
        self.assertEqual(acked, 7)
        lost, _ = self.assert_loss(self.store, acked)
        self.assertTrue(lost, "control did not fail: no unsynced batch was lost")


if __name__ == "__main__":
    unittest.main(verbosity=2)
