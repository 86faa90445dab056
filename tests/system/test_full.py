# SPDX-License-Identifier: MIT
"""A full disk under the daemon: reads go on, whatever writes says DISK_FULL and has not happened,
and the first write after there is room again works without a restart. On a small file system of
its own where one may be mounted, and with a limit on the size of files everywhere."""

import ctypes
import os
import resource
import unittest

import harness
from cli_base import START
from peer import fen
from pychistore import ADD, COUNTS, NOTE, Client, Closed, Failure, Marks, pb

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
MASTERS = os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", "masters_300.pgn")

# Positions in the store, and in each write: these need more pages than a store has free.
MANY = 500


def own_mounts():
    """True if this process, and the daemons that it starts, see mounts of their own from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNS) == 0 and \
        libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0


def entries(numbers, parts=COUNTS | NOTE):
    counts = pb.Counts(white=1, draws=2, black=3)
    record = pb.Record(counts=counts, note="n" * 500)
    return [pb.PutEntry(fen=fen(n), parts=parts, record=record) for n in numbers]


class Full:
    """What both kinds of fullness must do to a daemon."""

    # With a limit on files a copy of the store may fit.
    copies = (pb.DISK_FULL,)

    def setUp(self):
        self.directory = self.make_media()
        self.store = harness.make_store(os.path.join(self.directory, "store"), "outcome")
        self.daemon = harness.start_daemon({"default": self.store})
        self.addCleanup(self.daemon.kill)
        self.client = self.connect()
        self.client.put(entries(range(MANY)), base_rates=pb.Counts(white=1, draws=1, black=1))
        with open(MASTERS, "rb") as file:
            self.games = file.read()

    def connect(self):
        client = Client(self.daemon.address)
        self.addCleanup(client.close)
        return client

    def code(self, call, *args, **more):
        try:
            call(*args, **more)
        except Failure as failure:
            return failure.code
        return pb.OK

    def found(self, numbers):
        return sum(row.found for row in self.client.probe(fens=[fen(n) for n in numbers]))

    def check_reads(self):
        self.assertEqual(self.found(range(MANY)), MANY)
        self.assertEqual(self.client.count(), MANY)
        self.assertEqual(len(self.client.scan(want=pb.RECORDS).rows), MANY)
        self.assertEqual(self.client.get(fens=[fen(5)])[0].record.counts.draws, 2)
        self.assertEqual(self.client.info().positions, MANY)

    def check_sound(self):
        reports, total = self.client.verify()
        self.assertEqual((reports, total.errors), ([], 0))

    def test_everything_that_writes(self):
        marks = Marks(self.client)
        once, added = marks.next(), entries(range(MANY), parts=ADD)
        new = entries(range(MANY, 2 * MANY))
        rates = pb.Counts(white=5, draws=1, black=4)
        self.fill()
        # Not only the first of them says so.
        for _ in range(2):
            self.assertEqual(self.code(self.client.put, new), pb.DISK_FULL)
            self.assertEqual(self.code(self.client.call, put=pb.Put(entries=added), once=once),
                             pb.DISK_FULL)
            self.assertEqual(self.code(self.client.delete, fens=[fen(n) for n in range(MANY)]),
                             pb.DISK_FULL)
            self.assertEqual(self.code(self.client.rescore, rates), pb.DISK_FULL)
            self.assertEqual(self.code(self.client.import_games, [("a.pgn", self.games)]),
                             pb.DISK_FULL)
            self.check_reads()
        self.assertIn(self.code(self.client.compact), self.copies)
        self.assertNotIn("data.mdb.compact", os.listdir(self.store))
        # What writes nothing here does not mind.
        self.assertGreater(len(self.client.backup()), MANY * 500)
        self.check_sound()
        self.check_reads()
        self.free()
        # In the same order, each at once.
        self.assertEqual(self.client.put(new).added, MANY)
        self.client.call(put=pb.Put(entries=added), once=once)
        self.client.call(put=pb.Put(entries=added), once=once)
        self.assertEqual(self.client.get(fens=[fen(5)])[0].record.counts.draws, 4)
        self.assertEqual(self.client.delete(fens=[fen(n) for n in range(MANY)]), MANY)
        self.client.rescore(rates)
        self.assertEqual(self.client.import_games([("a.pgn", self.games)])[0].taken, 300)
        self.client.compact()
        self.check_sound()
        self.assertEqual(self.found(range(2 * MANY)), MANY)
        self.assertEqual(self.daemon.stop(), 0)

    def test_batches_in_the_open_transaction(self):
        """They were answered: their clients are closed, so that nothing later vouches for them."""
        self.fill()
        writers = [self.connect() for _ in range(3)]
        for number, writer in enumerate(writers):
            first = (number + 2) * MANY
            id = writer.send(put=pb.Put(entries=entries(range(first, first + MANY)),
                                        durability=pb.ASYNC))
            # Lost before the answer has left, it is not heard of; the connection ends either way.
            with self.assertRaises((Closed, ConnectionError)):
                self.assertIn(writer.answer(id).code, (pb.OK, pb.DISK_FULL))
                while True:
                    writer.put([])
        self.check_reads()
        self.free()
        self.assertEqual(self.found(range(2 * MANY, 5 * MANY)), 0)
        for number in range(3):
            first = (number + 2) * MANY
            self.client.put(entries(range(first, first + MANY)), durability=pb.ASYNC)
        self.client.put([])
        self.assertEqual(self.found(range(2 * MANY, 5 * MANY)), 3 * MANY)
        self.check_sound()

    def test_room_that_runs_out_on_the_way(self):
        """Some pages fit, and the batch does not."""
        for room in (4096, 40960, 400000):
            with self.subTest(room=room):
                self.fill(room)
                self.assertEqual(self.code(self.client.put, entries(range(MANY, 4 * MANY))),
                                 pb.DISK_FULL)
                self.check_reads()
                self.free()
        # A small one goes where the large one did not.
        self.fill(400000)
        self.assertEqual(self.code(self.client.put, entries(range(MANY, 4 * MANY))), pb.DISK_FULL)
        self.assertEqual(self.client.put([pb.PutEntry(fen=START)]).added, 1)
        self.free()
        self.check_sound()


class OnSmallMedia(Full, unittest.TestCase):
    SIZE = 64 << 20

    def make_media(self):
        if not MOUNTS:
            self.skipTest("not allowed to mount")
        path = harness.make_temp_dir()
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.mount(b"none", path.encode(), b"tmpfs", 0, b"size=%d" % self.SIZE), 0)
        self.addCleanup(libc.umount2, path.encode(), 2)
        return path

    def fill(self, room=0):
        """Leaves so many bytes of the file system."""
        with open(os.path.join(self.directory, "ballast"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, self.bytes_free() - room)
            self.assertLess(self.bytes_free() - room, 4096)

    def bytes_free(self):
        state = os.statvfs(self.directory)
        return state.f_bavail * state.f_frsize

    def free(self):
        os.unlink(os.path.join(self.directory, "ballast"))


class UnderLimit(Full, unittest.TestCase):
    copies = (pb.DISK_FULL, pb.OK)

    def make_media(self):
        return harness.make_temp_dir()

    def fill(self, room=0):
        size = os.path.getsize(os.path.join(self.store, "data.mdb"))
        self.before = resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE, (size + room, self.before[1]))

    def free(self):
        resource.prlimit(self.daemon.pid, resource.RLIMIT_FSIZE, self.before)


# Before there is a second thread.
MOUNTS = own_mounts()

if __name__ == "__main__":
    unittest.main(verbosity=2)
