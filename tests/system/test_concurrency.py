# SPDX-License-Identifier: MIT
"""Two writers and four readers, each a process, on one store: nothing is lost, and every reader
sees whole batches only. hammer.c says how that is checked.

The controls run the same readers beside a writer that breaks its batches in two: a reader that
does not complain then is blind, and the test fails.

CHISTORE_HAMMER_SECONDS: how long each collision lasts (default: 10 s on a daemon, 3 s on a
directory). CHISTORE_HAMMER: the hammer program.
"""

import os
import re
import signal
import subprocess
import unittest

import harness

WRITERS = 2
READERS = 4
FOUND = 1  # the exit code of a reader that saw a torn batch
TIMEOUT = 120


def seconds(default):
    return int(os.environ.get("CHISTORE_HAMMER_SECONDS", default))


def start(mode, address, *args):
    command = [os.environ["CHISTORE_HAMMER"], mode, address] + [str(arg) for arg in args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, encoding="utf-8")


def finish(process):
    """(exit code, {word: [numbers]}, standard error) of a hammer."""
    out, err = process.communicate(timeout=TIMEOUT)
    words = {}
    for word, value in re.findall(r"^(\w+) (\d+)$", out, re.M):
        words.setdefault(word, []).append(int(value))
    return process.returncode, words, err


class Concurrency(unittest.TestCase):
    def setUp(self):
        self.store = harness.make_store(statistic="external")
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def run_hammer(self, *args):
        process = start(*args)
        self.started.append(process)
        return process

    def collide(self, write_address, read_addresses, duration):
        writers = [self.run_hammer("write", write_address, "--writer", w) for w in range(WRITERS)]
        readers = [self.run_hammer("read", address, "--writers", WRITERS, "--seconds", duration)
                   for address in read_addresses]
        seen = []
        for reader in readers:
            code, words, err = finish(reader)
            self.assertEqual(code, 0, err)
            self.assertGreater(words["rounds"][0], 0)
            seen.append(words["seen"])
        acked = []
        for writer in writers:
            writer.send_signal(signal.SIGTERM)
        for writer in writers:
            code, words, err = finish(writer)
            self.assertEqual(code, 0, err)
            self.assertEqual(words["ack"], list(range(1, len(words["ack"]) + 1)))
            acked.append(len(words["ack"]))
        print(f"# {write_address.split(':')[0]}: acknowledged {acked}, readers saw up to {seen}",
              flush=True)
        # Readers that have seen no change have proved nothing.
        for w in range(WRITERS):
            self.assertGreater(max(numbers[w] for numbers in seen), 1)
        # Writers take turns: one that writes again and again must not keep the other out.
        self.assertGreater(10 * min(acked), max(acked))
        return acked

    def check(self, address, acked):
        """Every acknowledged generation is there, and none but those: the writers ended well."""
        for writer, last in enumerate(acked):
            code, words, err = finish(
                self.run_hammer("check", address, "--writer", writer, "--acked", last))
            self.assertEqual(code, 0, err)
            self.assertEqual(words["top"], [last])
        verified = harness.run_cli("verify", address=address)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def must_see_torn(self, write_address, read_address):
        writer = self.run_hammer("write", write_address, "--writer", 0, "--torn")
        reader = self.run_hammer("read", read_address, "--writers", 1, "--torn", "--seconds", 60)
        code, words, err = finish(reader)
        writer.send_signal(signal.SIGTERM)
        self.assertEqual(finish(writer)[0], 0)
        self.assertEqual(code, FOUND, "the reader saw no torn batch where each one is: " + err)
        self.assertGreater(words["torn"][0], 0)

    def test_directory(self):
        acked = self.collide(self.store, [self.store] * READERS, seconds(3))
        self.check(self.store, acked)

    def test_daemon(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            acked = self.collide(daemon.address, [daemon.address, self.store] * (READERS // 2),
                                 seconds(10))
            self.check(daemon.address, acked)
        self.check(self.store, acked)

    def test_control_directory(self):
        self.must_see_torn(self.store, self.store)

    def test_control_daemon(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            self.must_see_torn(daemon.address, daemon.address)


if __name__ == "__main__":
    unittest.main(verbosity=2)
