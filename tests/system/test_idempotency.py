# SPDX-License-Identifier: MIT
"""Writes that happen at most once, however often they are sent: over one connection and several, in
one group commit, across restarts, kill -9 and backups; what is not known any more is refused.

CHISTORE_KILL_CYCLES: how many times the daemon is killed (default 20). CHISTORE_SEED: when.
"""

import os
import threading
import time
import unittest

import harness
import pychistore
from pychistore import Client, Closed, Failure, Marks, pb

KINGS = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"
CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "20"))
WRITERS = 4


def a_game(fen=KINGS):
    """One game more that White won."""
    return pb.Put(entries=[pb.PutEntry(fen=fen, parts=pychistore.ADD,
                                       record=pb.Record(counts=pb.Counts(white=1)))])


class Once(unittest.TestCase):
    def setUp(self):
        self.store = harness.make_store(statistic="control")
        self.listen = ["unix:" + os.path.join(harness.make_temp_dir(), "socket")]
        self.daemon = None
        self.start()
        self.addCleanup(lambda: self.daemon.kill())
        self.client = self.connect()

    def start(self):
        self.daemon = harness.start_daemon({"default": self.store}, listen=self.listen)
        if not self.daemon.owned:
            self.skipTest("needs a store of its own")

    def connect(self):
        return self.enterContext(Client(self.daemon.address))

    def restart(self, kill=False):
        if kill:
            self.daemon.kill()
        else:
            self.assertEqual(self.daemon.stop(), 0)
        self.start()
        self.client = self.connect()

    def games(self, fen=KINGS):
        row, = self.client.probe(fens=[fen])
        return row.counts.white if row.found else 0

    def refused(self, code, field=None, **op):
        with self.assertRaises(Failure) as caught:
            self.client.call(**op)
        self.assertEqual(pychistore.code_name(caught.exception.code), pychistore.code_name(code))
        if field is not None:
            self.assertEqual(caught.exception.field, field)

    def test_put_again(self):
        marks = Marks(self.client)
        first = marks.next()
        for _ in range(3):
            self.assertEqual(self.client.call(put=a_game(), idempotency_key=first).put.added, 1)
            self.assertEqual(self.connect().call(put=a_game(), idempotency_key=first).put.added, 1)
        self.assertEqual(self.games(), 1)
        second = marks.next()
        self.assertEqual(self.client.call(put=a_game(), idempotency_key=second).put.updated, 1)
        self.assertEqual(self.games(), 2)
        # What was answered will not come again, and does nothing if it does.
        self.refused(pb.FORGOTTEN, "idempotency_key", put=a_game(), idempotency_key=first)
        self.assertEqual(self.games(), 2)
        # The control: without a mark it is done each time.
        for _ in range(2):
            self.client.call(put=a_game())
        self.assertEqual(self.games(), 4)

    def test_flood_of_identities(self):
        """A user who writes under thousands of identities makes the server forget his own only."""
        self.assertEqual(self.daemon.stop(), 0)
        self.listen.append("tcp:127.0.0.1:0")
        self.start()
        with Client(self.daemon.tcp_address) as other, Client(self.daemon.unix_address) as user:
            mine = Marks(other).next()
            self.assertEqual(other.call(put=a_game(), idempotency_key=mine).put.added, 1)
            flood = Marks(user)
            for _ in range(108):
                sent = []
                for _ in range(40):
                    flood.identity, flood.sequence = os.urandom(16), 0
                    sent.append(user.send(put=pb.Put(durability=pb.ASYNC),
                                          idempotency_key=flood.next()))
                for id in sent:
                    self.assertIn(user.answer(id).code, (pb.OK, pb.FORGOTTEN))
            self.assertEqual(other.call(put=a_game(), idempotency_key=mine).put.added, 1)
        self.client = self.connect()
        self.assertEqual(self.games(), 1)

    def test_delete_again(self):
        marks = Marks(self.client)
        self.client.call(put=a_game(), idempotency_key=marks.next())
        gone = marks.next()
        for _ in range(2):
            delete = pb.Delete(fens=[KINGS])
            self.assertEqual(self.client.call(delete=delete, idempotency_key=gone).delete.deleted, 1)
        self.refused(pb.INVALID, "idempotency_key", put=a_game(), idempotency_key=gone)
        self.assertEqual(self.games(), 0)
        for other in ({"rescore": pb.Rescore()}, {"compact": pb.Compact()}, {"verify": pb.Verify()}):
            self.refused(pb.INVALID, "idempotency_key", idempotency_key=marks.next(), **other)

    def test_batch_is_refused_again(self):
        """What was refused was not done, and may be done when it comes again."""
        marks = Marks(self.client)
        take = pb.Put(entries=[pb.PutEntry(fen=KINGS, parts=pychistore.SUBTRACT,
                                           record=pb.Record(counts=pb.Counts(white=1)))])
        idempotency_key = marks.next()
        for _ in range(2):
            self.refused(pb.INVALID, put=take, idempotency_key=idempotency_key)
        self.client.call(put=a_game())
        for _ in range(2):
            self.assertEqual(self.client.call(put=take, idempotency_key=idempotency_key).put.removed, 1)
        self.assertEqual(self.games(), 0)

    def test_strangers(self):
        marks = Marks(self.client)
        marks.since += 1
        self.refused(pb.FORGOTTEN, "idempotency_key", put=a_game(), idempotency_key=marks.next())
        marks.since -= 1
        self.client.call(put=a_game(), idempotency_key=marks.next())
        for field, idempotency_key in [("idempotency_key.client", pb.IdempotencyKey(client=b"x" * 15, sequence=1)),
                            ("idempotency_key.sequence", pb.IdempotencyKey(client=b"x" * 16)),
                            ("idempotency_key.unanswered",
                             pb.IdempotencyKey(client=b"x" * 16, sequence=1, unanswered=2))]:
            self.refused(pb.INVALID, field, put=a_game(), idempotency_key=idempotency_key)
        self.assertEqual(self.games(), 1)

    def test_in_one_group(self):
        """Many at once, the same among them, and one that is refused: the others do not mind."""
        marks = Marks(self.client)
        for _ in range(3):
            marks.next()
        idempotency_key = [marks.next(unanswered=4) for _ in range(10)]
        old = pb.IdempotencyKey(client=idempotency_key[0].client, since=idempotency_key[0].since, sequence=2, unanswered=2)
        ids = []
        for mark in idempotency_key + [old] + idempotency_key:
            ids.append(self.client.send(put=a_game(), idempotency_key=mark))
        codes = [self.client.answer(id).code for id in ids]
        self.assertEqual(codes, [pb.OK] * 10 + [pb.FORGOTTEN] + [pb.OK] * 10)
        self.assertEqual(self.games(), 10)

    def test_async(self):
        """Known as soon as it is applied."""
        marks = Marks(self.client)
        idempotency_key = marks.next()
        put = a_game()
        put.durability = pb.ASYNC
        ids = [self.client.send(put=put, idempotency_key=idempotency_key) for _ in range(20)]
        for id in ids:
            self.assertEqual(self.client.answer(id).put.added, 1)
        self.client.put([])
        self.assertEqual(self.games(), 1)

    def test_restarts(self):
        marks = Marks(self.client)
        idempotency_key = [marks.next(unanswered=1) for _ in range(3)]
        self.client.call(put=a_game(), idempotency_key=idempotency_key[0])
        self.restart()
        self.assertEqual(self.client.call(put=a_game(), idempotency_key=idempotency_key[0]).put.added, 1)
        self.client.call(put=a_game(), idempotency_key=idempotency_key[1])
        self.restart(kill=True)
        for mark in idempotency_key:
            self.client.call(put=a_game(), idempotency_key=mark)
        self.assertEqual(self.games(), 3)
        before, after = self.client.compact()
        self.assertLessEqual(after, before)
        for mark in idempotency_key:
            self.client.call(put=a_game(), idempotency_key=mark)
        self.assertEqual(self.games(), 3)

    def test_backup_remembers(self):
        """A copy knows what was done when it was made, and nothing later."""
        marks = Marks(self.client)
        first, second = marks.next(), marks.next(unanswered=1)
        self.client.call(put=a_game(), idempotency_key=first)
        copy = os.path.join(harness.make_temp_dir(), "copy")
        done = harness.run_cli("backup", copy, address=self.daemon.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.client.call(put=a_game(), idempotency_key=second)
        self.assertEqual(self.daemon.stop(), 0)
        self.store = copy
        self.start()
        self.client = self.connect()
        self.assertEqual(self.games(), 1)
        self.client.call(put=a_game(), idempotency_key=first)
        self.assertEqual(self.games(), 1)
        self.client.call(put=a_game(), idempotency_key=second)
        self.assertEqual(self.games(), 2)

    def test_another_store(self):
        """What was written to a store is not written to the one that was loaded from its dump, and
        holds it already; nor to any other in its place."""
        marks = Marks(self.client)
        idempotency_key = marks.next()
        self.client.call(put=a_game(), idempotency_key=idempotency_key)
        place = harness.make_temp_dir()
        dump, other = os.path.join(place, "dump"), os.path.join(place, "other")
        done = harness.run_cli("dump", dump, address=self.daemon.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = harness.run_cli("load", dump, address=other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.daemon.stop(), 0)
        self.store = other
        self.start()
        self.client = self.connect()
        self.assertEqual(self.games(), 1)
        self.assertNotEqual(Marks(self.client).store, marks.store)
        self.refused(pb.FORGOTTEN, "idempotency_key", put=a_game(), idempotency_key=idempotency_key)
        self.assertEqual(self.games(), 1)
        # The control: a mark that does not say for which store it is counts again. (What is loaded
        # has as many transactions, so that `since` does not tell.)
        idempotency_key.store = b""
        while {known.name: known for known in self.client.server.stores}["default"].sequence \
                < idempotency_key.since:
            self.client.call(put=a_game("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1"))
            self.client = self.connect()
        self.client.call(put=a_game(), idempotency_key=idempotency_key)
        self.assertEqual(self.games(), 2)

    def test_outcome(self):
        """What was done is told as it was answered; what was not stays undone."""
        marks = Marks(self.client)
        put, delete = marks.next(), marks.next(1)
        missing, later = marks.next(1), marks.next(1)
        self.client.call(put=a_game(), idempotency_key=put)
        self.client.call(delete=pb.Delete(fens=[KINGS]), idempotency_key=delete)
        self.client.call(compact=pb.Compact())
        for again in range(2):
            other = self.connect()
            self.assertEqual(pychistore.outcome(other, put).added, 1)
            self.assertEqual(pychistore.outcome(other, delete).deleted, 1)
            self.assertIsNone(pychistore.outcome(other, missing))
            self.refused(pb.FORGOTTEN, "idempotency_key", put=a_game(), idempotency_key=missing)
            if not again:
                self.restart(kill=True)
        self.assertEqual(self.games(), 0)
        self.client.call(put=a_game(), idempotency_key=later)
        self.assertEqual(self.games(), 1)
        self.refused(pb.INVALID, "idempotency_key", outcome=pb.Outcome())
        stranger = Marks(self.client)
        self.assertIsNone(pychistore.outcome(self.client, stranger.next()))
        stranger.since += 1000
        stranger.identity = b"another-identity"
        self.refused(pb.FORGOTTEN, "idempotency_key", outcome=pb.Outcome(), idempotency_key=stranger.next())

    def merge(self, dump, idempotency_key=None):
        """Adds another store; its totals."""
        job = self.client.start_import(pb.MERGE_STORE)
        job.feed(dump, "dump")
        return job.commit(idempotency_key)

    def test_merge_again(self):
        """A store without games is added once if it is marked, however often it is sent."""
        self.client.call(put=a_game())
        dumped = harness.run_cli("dump", address=self.daemon.address)
        dump = dumped.stdout.encode()
        marks = Marks(self.client)
        idempotency_key = marks.next()
        first = self.merge(dump, idempotency_key)
        self.assertEqual(first.positions.updated, 1)
        for _ in range(2):
            again = self.merge(dump, idempotency_key)
            self.assertEqual(again.positions, first.positions)
            self.assertEqual(self.games(), 2)
            self.restart(kill=True)
        self.assertEqual(pychistore.outcome(self.client, idempotency_key).positions, first.positions)
        # Asked for before it comes it does not come any more.
        never = marks.next(1)
        self.assertIsNone(pychistore.outcome(self.client, never))
        with self.assertRaises(Failure) as caught:
            self.merge(dump, never)
        self.assertEqual(caught.exception.code, pb.FORGOTTEN)
        self.assertEqual(self.games(), 2)
        # The control: without a mark it is added each time.
        self.merge(dump)
        self.merge(dump)
        self.assertEqual(self.games(), 4)

    def test_outcome_of_an_import_on_its_way(self):
        """Before its ImportEnd it is settled; after it the question waits."""
        marks = Marks(self.client)
        game = b'[White "%d"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n'
        asker = self.connect()
        for ended in (False, True):
            idempotency_key = marks.next(1)
            job = self.client.start_import()
            job.feed(b"".join(game % (number + 10000 * ended) for number in range(3000)), "games")
            if not ended:
                self.assertIsNone(pychistore.outcome(asker, idempotency_key))
                with self.assertRaises(Failure) as caught:
                    job.commit(idempotency_key)
                self.assertEqual(caught.exception.code, pb.FORGOTTEN)
                continue
            job.end(idempotency_key)
            self.client.ping()
            self.assertEqual(pychistore.outcome(asker, idempotency_key).taken, 3000)

    def forget_everybody(self):
        """More strangers write than a store remembers. When the first of them are forgotten, at
        the commit, later ones with a mark as old are refused: then everyone is."""
        self.client.call(put=a_game())
        since = self.client.info().sequence
        put = pb.Put(durability=pb.ASYNC)
        ids = []
        for number in range(4200):
            idempotency_key = pb.IdempotencyKey(client=b"%16d" % number, since=since, sequence=1)
            ids.append(self.client.send(put=put, idempotency_key=idempotency_key))
            if len(ids) == 32 or number == 4199:
                codes = (pb.OK,) if number < 4096 else (pb.OK, pb.FORGOTTEN)
                for id in ids:
                    self.assertIn(self.client.answer(id).code, codes)
                ids = []
        self.client.put([])

    def test_import_outlasts_those_who_are_remembered(self):
        """While a client sends its games others write, more of them than are remembered."""
        early = Marks(self.client)
        job = self.connect().start_import()
        job.feed(b"1. e4 1-0\n", "games")
        self.forget_everybody()
        self.refused(pb.FORGOTTEN, "idempotency_key", put=a_game(), idempotency_key=early.next())
        late = Marks(self.client)
        late.since = self.client.info().sequence
        self.assertEqual(job.commit(late.next()).taken, 1)

    def test_pipeline_through_kills(self):
        """1,000 increments, 64 on their way, while the daemon is killed: 1,000."""
        chance = harness.seed()
        pipe = pychistore.Pipe(self.listen[0])
        answers = []
        kills = set(chance.sample(range(100, 1000), 8))
        for number in range(1000):
            answers += pipe.send(put=a_game())
            if number in kills:
                self.daemon.kill()
                self.start()
        answers += pipe.drain()
        pipe.close()
        self.assertEqual([answer.code for answer in answers], [pb.OK] * 1000)
        self.assertEqual(sum(answer.put.added + answer.put.updated for answer in answers), 1000)
        self.client = self.connect()
        self.assertEqual(self.games(), 1000)

    def write_on(self, stop, done, failures, number):
        """Adds games until told to stop, each sent until it is answered."""
        fen = "4k3/8/8/8/8/8/8/4K%sNN w - - 0 1" % ("N" if number == 0 else "BRQ"[number - 1])
        client = marks = None
        count = 0
        try:
            while not stop.is_set():
                idempotency_key = None
                while True:
                    try:
                        client = client or Client(self.listen[0])
                        marks = marks or Marks(client)
                        idempotency_key = idempotency_key or marks.next()
                        client.call(put=a_game(fen), idempotency_key=idempotency_key)
                        break
                    except (Closed, OSError):
                        client = client.close() if client else None
                        time.sleep(0.002)
                count += 1
            done[number] = (fen, count)
            client.close()
        except Exception as error:
            failures.append(repr(error))

    def test_kill_under_repeating_writers(self):
        print(f"# CHISTORE_KILL_CYCLES={CYCLES}", flush=True)
        chance = harness.seed()
        stop, done, failures = threading.Event(), {}, []
        threads = [threading.Thread(target=self.write_on, args=(stop, done, failures, number))
                   for number in range(WRITERS)]
        for thread in threads:
            thread.start()
        for _ in range(CYCLES):
            # Any phase of a commit; nothing is waited for.
            time.sleep(chance.uniform(0.005, 0.05))
            self.daemon.kill()
            self.start()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.client = self.connect()
        total = 0
        for fen, count in done.values():
            self.assertEqual(self.games(fen), count)
            total += count
        verified = harness.run_cli("verify", address=self.daemon.address)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        print(f"# figures: {CYCLES} kills, {total} games added by marked writes, 0 twice, 0 lost",
              flush=True)
