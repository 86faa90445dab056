# SPDX-License-Identifier: MIT
"""Compactions, one after the other, under writers and readers: every write that was acknowledged is
there, marked ones count once, no answer is wrong, and scans go on. And the daemon is killed while it
compacts: the old file or the new one is there, with all that was acknowledged, and nothing beside
it.

CHISTORE_KILL_CYCLES: how many times to kill (default 4). CHISTORE_SEED: when. CHISTORE_HAMMER: the
hammer program.
"""

import os
import random
import threading
import unittest

import harness
from hammers import Hammer, check, wait_until
from peer import Peer, put
from pychistore import Client, Closed, pb
from test_kill import Figures, Life

SYNCED, ADDERS, READERS = 5, 3, 2
KEPT = 6000  # positions that every scan must find
TOP = 25599
COMPACTIONS = harness.rounds(8)
CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "4"))
STORE_CYCLES = 100  # with one store, which grows
SEED = int(os.environ.get("CHISTORE_SEED", "20040303"))


def fill(address):
    """Pages to copy."""
    with Peer(address) as peer:
        answer = peer.call(put=put(range(KEPT), chi2=lambda n: TOP))
        assert answer.code == pb.OK, answer


def beside(store):
    """The second file, if one is there."""
    return os.path.exists(os.path.join(store, "data.mdb.compact"))


class UnderWriters(unittest.TestCase):
    def test_nothing_is_lost_and_nothing_wrong(self):
        store = harness.make_store(statistic="external")
        with harness.start_daemon({"default": store}) as daemon:
            fill(daemon.address)
            self.collide(daemon.address)
            self.assertFalse(beside(store))

    def scan_on(self, address, stop, scans):
        with Client(address) as client:
            while not stop.is_set():
                scans.append(len(client.scan(chi2_min=TOP, chi2_max=TOP).rows))

    def collide(self, address):
        writers = [Hammer("write", address, "--writer", w) for w in range(SYNCED)]
        adders = [Hammer("add", address, "--writer", SYNCED + a) for a in range(ADDERS)]
        readers = [Hammer("read", address, "--writers", SYNCED) for _ in range(READERS)]
        stop, scans = threading.Event(), []
        scanner = threading.Thread(target=self.scan_on, args=(address, stop, scans))
        scanner.start()
        try:
            with Client(address) as client:
                for _ in range(COMPACTIONS):
                    before = [w.last_ack() for w in writers + adders]
                    client.compact()
                    # Each goes on behind it: nobody was forgotten while all stood still.
                    wait_until(writers + adders + readers, lambda: all(
                        w.last_ack() > old for w, old in zip(writers + adders, before)))
            stop.set()
            scanner.join()
            for reader in readers:
                code, words, err = reader.stop()
                self.assertEqual(code, 0, err)
                self.assertGreater(words["rounds"][0], 0)
            for writer in writers + adders:
                code, _, err = writer.stop()
                self.assertEqual(code, 0, err)
            acked, added = ([w.last_ack() for w in part] for part in (writers, adders))
            code, _, err = check(address, acked, added, exactly=True)
            self.assertEqual(code, 0, err)
        finally:
            stop.set()
            for hammer in writers + adders + readers:
                hammer.close()
        self.assertTrue(scans)
        self.assertGreaterEqual(min(scans), KEPT)
        print(f"# figures: {COMPACTIONS} compactions, meanwhile {sum(acked) + sum(added)} "
              f"acknowledged writes, 0 lost, {len(scans)} scans, 0 wrong", flush=True)


class CompactedLife(Life):
    """Its daemon compacts without end."""

    def __init__(self, *args):
        self.halves = self.compactions = 0
        self.compactor = None
        super().__init__(*args)
        fill(self.daemon.address)

    def start_daemon(self):
        self.halves += beside(self.store)
        seconds = super().start_daemon()
        self.test.assertFalse(beside(self.store))
        return seconds

    def compact_on(self, stop):
        try:
            with Client(self.daemon.address) as client:
                while not stop.is_set():
                    client.compact()
                    self.compactions += 1
        except (Closed, OSError):
            pass

    def cycle(self, chance):
        stop = threading.Event()
        compactor = threading.Thread(target=self.compact_on, args=(stop,))
        compactor.start()
        try:
            super().cycle(chance)
        finally:
            stop.set()
            compactor.join()


class Killed(unittest.TestCase):
    def test_nothing_acknowledged_is_lost(self):
        chance = random.Random(SEED)
        print(f"# CHISTORE_SEED={SEED} CHISTORE_KILL_CYCLES={CYCLES}", flush=True)
        figures, halves, compactions = Figures(), 0, 0
        while figures.kills < CYCLES:
            life = CompactedLife(self, figures)
            try:
                for _ in range(min(STORE_CYCLES, CYCLES - figures.kills)):
                    life.cycle(chance)
                life.end()
            finally:
                life.close()
            halves += life.halves
            compactions += life.compactions
            figures.show()
            print(f"# figures: {halves} of {figures.kills} kills were in the midst of a copy, "
                  f"behind {compactions} compactions", flush=True)
        self.assertGreater(compactions, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
