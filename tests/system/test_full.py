# SPDX-License-Identifier: MIT
"""A full disk under commands, and under the daemon: reads go on, whatever writes says DISK_FULL and has not happened,
and the first write after there is room again works without a restart. On a small file system of
its own where one may be mounted, and with a limit on the size of files everywhere."""

import ctypes
import os
import resource
import shutil
import subprocess
import unittest

import harness
from cli_base import MASTERS, START, spawn
from peer import fen
from pychistore import ADD, COUNTS, NOTE, Client, Closed, Failure, Marks, pb

LOW = os.environ.get("CHISTORE_EFFORT") == "low"

# Positions in the store, and in each write: these need more pages than a store has free.
MANY = 500


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
        return self.enterContext(Client(self.daemon.address))

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
        idempotency_key, added = marks.next(), entries(range(MANY), parts=ADD)
        new = entries(range(MANY, 2 * MANY))
        rates = pb.Counts(white=5, draws=1, black=4)
        self.fill()
        # Not only the first of them says so.
        for _ in range(2):
            self.assertEqual(self.code(self.client.put, new), pb.DISK_FULL)
            self.assertEqual(self.code(self.client.call, put=pb.Put(entries=added), idempotency_key=idempotency_key),
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
        self.client.call(put=pb.Put(entries=added), idempotency_key=idempotency_key)
        self.client.call(put=pb.Put(entries=added), idempotency_key=idempotency_key)
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


class SmallMedia:
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


class OnSmallMedia(SmallMedia, Full, unittest.TestCase):
    pass


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


class Commands:
    """What both kinds of fullness must do to commands that make or fill something: they name what
    cannot be written and why, the source stays as it was and nothing half-made gets the name; with
    room again the same command does it."""

    # Bytes of room that are tried with each command.
    rooms = (400000,)

    @classmethod
    def setUpClass(cls):
        elsewhere = harness.make_temp_dir()
        cls.source = harness.make_store(os.path.join(elsewhere, "source"), "outcome")
        cls.dump = os.path.join(elsewhere, "positions.dump")
        for args in (["import", MASTERS], ["dump", cls.dump]):
            with spawn(*args, address=cls.source, stdout=subprocess.DEVNULL) as child:
                assert child.wait(60) == 0
        with open(cls.dump, "rb") as file:
            cls.expected = file.read()

    def setUp(self):
        self.directory = self.make_media()
        self.target = os.path.join(self.directory, "target")

    def run_command(self, *args, store, limit=None, code=0):
        """Its standard error."""
        child = spawn(*args, address=store, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, preexec_fn=limit)
        _, error = child.communicate(timeout=60)
        self.assertEqual(child.returncode, code, (args, error))
        return error.decode()

    def dump_of(self, store):
        child = spawn("dump", address=store, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        return text

    def names(self):
        return sorted(name for name in os.listdir(self.directory) if name != "ballast")

    def fail(self, *args, store, room):
        before = self.names()
        error = self.fails(*args, store=store, room=room)
        self.assertRegex(error, r"\Achistore: .*(No space left on device|File too large|no space left)")
        self.assertTrue(self.directory in error or self.source in error, error)
        return before

    def check(self, *args, store):
        for room in self.rooms:
            with self.subTest(command=args[0], room=room):
                self.assertEqual(self.fail(*args, store=store, room=room), self.names())
        self.run_command(*args, store=store)

    def test_what_makes_a_copy(self):
        for store, *args in ((self.source, "verify", "--repair", self.target),
                             (self.source, "backup", self.target),
                             (self.source, "publish", self.target)):
            self.check(*args, store=store)
            self.assertEqual(self.dump_of(self.target), self.expected)
            shutil.rmtree(self.target)
        self.assertEqual(self.dump_of(self.source), self.expected)

    def test_copy_from_a_daemon(self):
        with harness.start_daemon({"default": self.source}) as daemon:
            self.check("backup", self.target, store=daemon.address)
        self.assertEqual(self.dump_of(self.target), self.expected)

    def test_dump(self):
        self.check("dump", self.target, store=self.source)
        with open(self.target, "rb") as file:
            self.assertEqual(file.read(), self.expected)

    def test_load(self):
        self.assertEqual(self.fail("load", self.dump, store=self.target, room=40960), self.names())
        self.assertEqual(self.fail("load", self.dump, store=self.target, room=400000), self.names())
        self.run_command("load", self.dump, store=self.target)
        self.assertEqual(self.dump_of(self.target), self.expected)

    def test_what_fills_a_store(self):
        for args in (["import", MASTERS], ["merge", self.source]):
            store = harness.make_store(self.target, "outcome")
            empty = self.dump_of(store)
            for room in self.rooms:
                with self.subTest(command=args[0], room=room):
                    self.assertEqual(self.fail(*args, store=store, room=room), self.names())
                    self.assertEqual(self.dump_of(store), empty)
            self.run_command(*args, store=store)
            self.assertEqual(self.dump_of(store), self.expected)
            shutil.rmtree(store)


class CommandsOnSmallMedia(SmallMedia, Commands, unittest.TestCase):
    rooms = (400000,) if LOW else (0, 400000)

    def fails(self, *args, store, room):
        self.fill(room)
        try:
            return self.run_command(*args, store=store, code=3)
        finally:
            self.free()


class CommandsUnderLimit(Commands, unittest.TestCase):
    def make_media(self):
        return harness.make_temp_dir()

    def fails(self, *args, store, room):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        return self.run_command(*args, store=store, limit=limit, code=3)


# Before there is a second thread.
MOUNTS = harness.own_mounts()
