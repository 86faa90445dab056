# SPDX-License-Identifier: MIT
"""Compactions, one after the other, under writers and readers: every write that was acknowledged is
there, marked ones count once, no answer is wrong, and scans go on. And the daemon is killed while it
compacts: the old file or the new one is there, with all that was acknowledged, and nothing beside
it. A damaged store is left alone: by the daemon, which verifies it beside its writes, and by the
command line.

CHISTORE_KILL_CYCLES: how many times to kill (default 4). CHISTORE_SEED: when. CHISTORE_HAMMER: the
hammer program.
"""

import os
import select
import signal
import struct
import threading
import unittest

import harness
from cli_base import PAGE
from hammers import Hammer, check, wait_until
from peer import Peer, fen, found, put
from pychistore import Client, Closed, pb
from test_kill import Figures, Life

SYNCED, ADDERS, READERS = 5, 3, 2
KEPT = 6000  # positions that every scan must find
TOP = 25599
COMPACTIONS = harness.rounds(8)
CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "4"))
STORE_CYCLES = 100  # with one store, which grows


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
                    # Each goes on after it: no one was forgotten while all waited.
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
        chance = harness.seed()
        print(f"# CHISTORE_KILL_CYCLES={CYCLES}", flush=True)
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


OVERFLOW = 4


def lengthen(store):
    """Lets the pages of a long note claim to be 2^30: LMDB would copy so many."""
    with open(os.path.join(store, "data.mdb"), "r+b") as file:
        data = file.read()
        pages = [at for at in range(2 * PAGE, len(data), PAGE)
                 if struct.unpack_from("<H", data, at + 10)[0] == OVERFLOW]
        file.seek(pages[-1] + 12)
        file.write(struct.pack("<I", 1 << 30))


class Verified(unittest.TestCase):
    def setUp(self):
        self.store = harness.make_store(statistic="external")

    def note(self, peer):
        record = pb.Record(note="n" * 9000)
        entry = pb.PutEntry(fen=fen(KEPT), parts=32, record=record)
        self.assertEqual(peer.call(put=pb.Put(entries=[entry])).code, pb.OK)

    def test_a_damaged_store_is_refused(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            fill(daemon.address)
            with Peer(daemon.address) as peer:
                self.note(peer)
                self.assertEqual(peer.call(compact=pb.Compact()).code, pb.OK)
                lengthen(self.store)
                size = os.path.getsize(os.path.join(self.store, "data.mdb"))
                for number in range(3):
                    answer = peer.call(compact=pb.Compact())
                    self.assertEqual(answer.code, pb.CORRUPT)
                    self.assertIn("verify --repair", answer.message)
                    self.assertEqual(peer.call(put=put([KEPT + 1 + number])).code, pb.OK)
                self.assertEqual(found(peer, range(KEPT + 4)), KEPT + 4)
                self.assertFalse(beside(self.store))
                self.assertGreaterEqual(os.path.getsize(os.path.join(self.store, "data.mdb")), size)
            self.assertIn("failed to compact", daemon.stderr_text())
            self.assertEqual(daemon.stop(), 0)
        done = harness.run_cli("compact", address=self.store)
        self.assertEqual(done.returncode, 3)
        self.assertIn("verify --repair", done.stderr)
        self.assertFalse(beside(self.store))

    def test_writes_do_not_wait_for_the_verification(self):
        """And compactions that come meanwhile share it."""
        with harness.start_daemon({"default": self.store}) as daemon:
            fill(daemon.address)
            during = 0
            with Peer(daemon.address) as one, Peer(daemon.address) as other, \
                    Peer(daemon.address) as writer:
                for number in range(200):
                    ids = [peer.send(compact=pb.Compact()) for peer in (one, other)]
                    self.assertEqual(writer.call(put=put([KEPT + number])).code, pb.OK)
                    during += not select.select([one.socket, other.socket], [], [], 0)[0]
                    for peer, id in zip((one, other), ids):
                        self.assertEqual(peer.receive_for(id).code, pb.OK)
                    if during == 3:
                        break
                self.assertEqual(during, 3)
                self.assertEqual(found(one, range(KEPT + number + 1)), KEPT + number + 1)

    def test_a_stop_does_not_wait_for_it(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            fill(daemon.address)
            with Peer(daemon.address) as peer:
                id = peer.send(compact=pb.Compact())
                daemon.process.send_signal(signal.SIGTERM)
                # The verification may have been quick.
                self.assertIn(peer.receive_for(id).code, (pb.OK, pb.CANCELED))
            self.assertEqual(daemon._wait(harness.STOP_TIMEOUT), 0)
        self.assertFalse(beside(self.store))
        self.assertEqual(harness.run_cli("verify", address=self.store).returncode, 0)

    def test_a_stop_does_not_wait_for_many(self):
        """They had their verdict together, and the stop comes when the first is done."""
        with harness.start_daemon({"default": self.store}) as daemon:
            fill(daemon.address)
            peers = [Peer(daemon.address) for _ in range(4)]
            for peer in peers:
                for _ in range(60):
                    peer.send(compact=pb.Compact())
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            select.select([peer.socket for peer in peers], [], [])
            daemon.process.send_signal(signal.SIGTERM)
            codes = {peer.receive().code for peer in peers for _ in range(60)}
            self.assertEqual(codes, {pb.OK, pb.CANCELED})
            for peer in peers:
                peer.close()
            self.assertEqual(daemon._wait(harness.STOP_TIMEOUT), 0)
        self.assertFalse(beside(self.store))
