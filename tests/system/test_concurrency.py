# SPDX-License-Identifier: MIT
"""Two writers and four readers, each a process, on one store: nothing is lost, and every reader
sees whole batches only. generation.h says how that is checked. And backups made meanwhile: each holds
all batches up to one, and what was acknowledged when it was begun.

The controls run the same readers beside a writer that breaks its batches in two, and check a copy
that was made without regard to the writers: a reader that does not complain then is blind, and the
test fails.

CHISTORE_HAMMER_SECONDS: how long each collision lasts (default: 4 s on a daemon, 2 s on a
directory). CHISTORE_BACKUPS: how many are made (default: 5). CHISTORE_HAMMER: the hammer program.
"""

import os
import shutil
import time
import unittest

import harness
from hammers import FOUND, TIMEOUT, Hammer, check, wait_until

WRITERS = 2
READERS = 4
BACKUPS = int(os.environ.get("CHISTORE_BACKUPS", "5"))
STORE_BACKUPS = 100  # of one store, which grows meanwhile


def seconds(default):
    return int(os.environ.get("CHISTORE_HAMMER_SECONDS", default))


class Base(unittest.TestCase):
    def setUp(self):
        self.store = harness.make_store(statistic="external")
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for hammer in self.started:
            hammer.close()

    def run_hammer(self, *args):
        hammer = Hammer(*args)
        self.started.append(hammer)
        return hammer

    def check(self, address, acked):
        """The generations that are there, which must not be below those acknowledged."""
        code, words, err = check(address, acked)
        self.assertEqual(code, 0, err)
        return words["top"]


class Concurrency(Base):
    def wait_for(self, condition):
        end = time.monotonic() + TIMEOUT / 4
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def collide(self, write_address, read_addresses, duration):
        writers = [self.run_hammer("write", write_address, "--writer", w) for w in range(WRITERS)]
        readers = [self.run_hammer("read", address, "--writers", WRITERS, "--seconds", duration)
                   for address in read_addresses]
        seen, looks = [], []
        for reader in readers:
            code, words, err = reader.finish(duration + TIMEOUT)
            self.assertEqual(code, 0, err)
            self.assertGreater(words["rounds"][0], 0)
            seen.append(words["seen"])
            looks.append(words["rounds"][0])
        acked = []
        for writer in writers:
            code, words, err = writer.stop()
            self.assertEqual(code, 0, err)
            self.assertEqual(words["ack"], list(range(1, len(words["ack"]) + 1)))
            acked.append(len(words["ack"]))
        where = "daemon" if write_address.startswith("unix:") else "directory"
        print(f"# figures: {where}: {sum(acked)} batches by {WRITERS} "
              f"writers, {sum(looks)} looks by {READERS} readers, 0 torn", flush=True)
        # Readers that have seen no change have proved nothing.
        for w in range(WRITERS):
            self.assertGreater(max(numbers[w] for numbers in seen), 1)
        # Writers take turns: one that writes again and again must not keep the other out.
        self.assertGreater(10 * min(acked), max(acked))
        return acked

    def must_see_torn(self, write_address, read_address):
        writer = self.run_hammer("write", write_address, "--writer", 0, "--torn")
        reader = self.run_hammer("read", read_address, "--writers", 1, "--torn", "--seconds", 60)
        code, words, err = reader.finish()
        self.assertEqual(writer.stop()[0], 0)
        self.assertEqual(code, FOUND, "the reader saw no torn batch where each one is: " + err)
        self.assertGreater(words["torn"][0], 0)

    def test_directory(self):
        acked = self.collide(self.store, [self.store] * READERS, seconds(2))
        # And nothing but those: the writers ended well.
        self.assertEqual(self.check(self.store, acked), acked)

    def test_daemon(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            acked = self.collide(daemon.address, [daemon.address, self.store] * (READERS // 2),
                                 seconds(4))
            self.assertEqual(self.check(daemon.address, acked), acked)
        self.assertEqual(self.check(self.store, acked), acked)

    def test_dead_reader_is_noticed(self):
        """A process that read the directory was killed: the daemon frees its slot by itself, and
        says so. (How many slots are in use says nothing: the daemon takes some too, when it will.)
        """
        with harness.start_daemon({"default": self.store}) as daemon:
            reader = self.run_hammer("read", self.store, "--writers", 1, "--seconds", TIMEOUT)
            self.wait_for(reader.reading)
            reader.process.kill()
            reader.process.wait()
            self.wait_for(lambda: "freed 1 reader slots of dead processes" in daemon.stderr_text())

    def test_control_directory(self):
        self.must_see_torn(self.store, self.store)

    def test_control_daemon(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            self.must_see_torn(daemon.address, daemon.address)


class Backups(Base):
    def wait_for_acks(self, writers, more):
        wanted = [writer.last_ack() + more for writer in writers]
        wait_until(writers, lambda: all(writer.last_ack() >= last
                                        for writer, last in zip(writers, wanted)))

    def under_writers(self, count, copy):
        """Makes so many copies of one store; copy(daemon, number) makes one and returns where it
        is. Yields it, and what was acknowledged to each writer before."""
        store = harness.make_store(statistic="external")
        with harness.start_daemon({"default": store}) as daemon:
            writers = [self.run_hammer("write", daemon.address, "--writer", w)
                       for w in range(WRITERS)]
            for number in range(count):
                # So each copy is of another state, however fast copies are made.
                self.wait_for_acks(writers, 3)
                acked = [writer.last_ack() for writer in writers]
                made = copy(daemon, store, writers, number)
                yield made, acked
                shutil.rmtree(made)
            for writer in writers:
                code, _, err = writer.stop()
                self.assertEqual(code, 0, err)

    def backup(self, daemon, store, _, number):
        """By the daemon, and past it."""
        made = os.path.join(harness.make_temp_dir(), "copy")
        done = harness.run_cli("backup", made, address=(daemon.address, store)[number % 2])
        self.assertEqual(done.returncode, 0, done.stderr)
        return made

    def test_backups_under_writers(self):
        made = behind = 0
        while made < BACKUPS:
            count = min(BACKUPS - made, STORE_BACKUPS)
            for copy, acked in self.under_writers(count, self.backup):
                behind += sum(self.check(copy, acked)) - sum(acked)
                made += 1
            print(f"# figures: {made} backups under {WRITERS} writers, each of one state and "
                  f"sound; {behind} batches ended while they were begun", flush=True)

    def copy_halves(self, daemon, store, writers, number):
        """The second half of the file, and the first one, which leads to it, when more has been
        written."""
        made = harness.make_temp_dir()
        with open(store + "/data.mdb", "rb") as source, open(made + "/data.mdb", "wb") as target:
            half = os.fstat(source.fileno()).st_size // 2
            source.seek(half)
            target.seek(half)
            target.write(source.read())
            self.wait_for_acks(writers, 100)
            source.seek(0)
            target.seek(0)
            target.write(source.read(half))
        return made

    def test_control_copied_in_halves(self):
        for copy, acked in self.under_writers(1, self.copy_halves):
            code, _, _ = check(copy, acked)
            self.assertNotEqual(code, 0, "a torn copy was taken for a good one")
