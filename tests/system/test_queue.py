# SPDX-License-Identifier: MIT
"""The queue of positions: the command says the same of a directory and of a daemon; what is sent
again with its mark is answered again and not done again, across a kill of the daemon too; copies
of the store keep the queue, dumps do without.
"""

import re

import harness
from cli_base import AFTER_E4, ENDING, START, Base, summary
from pychistore import Client, Failure, Marks, pb

DAY = 86400000


class Queue(Base):
    def setUp(self):
        super().setUp()
        self.local = harness.make_store(self.path("local"), "control")
        self.store = harness.make_store(self.path("served"), "control")
        self.daemon = None
        self.start()
        self.addCleanup(lambda: self.daemon.kill())

    def start(self):
        self.daemon = harness.start_daemon({"default": self.store},
                                           listen=["unix:" + self.path("s")])

    def both(self, *args, code=0, **extra):
        """Standard output of both, which may differ in times alone."""
        texts = []
        for address in (self.local, self.daemon.address):
            done = self.cli("queue", *args, address=address, code=code, **extra)
            texts.append(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME",
                                done.stdout + done.stderr))
        self.assertEqual(*texts)
        return texts[0]

    def test_commands(self):
        self.assertEqual(self.both("add", START, AFTER_E4), "added\t2\nraised\t0\nrefused\t0\n")
        text = self.both("add", "--priority", "9", input=f"# mine\n\n{AFTER_E4}\n{ENDING}\n")
        self.assertEqual(text, "added\t1\nraised\t1\nrefused\t0\n")
        rows = [line.split("\t") for line in self.both("list").splitlines()]
        self.assertEqual(rows[0], "fen state priority tries asked lease until holder".split())
        self.assertEqual([row[:4] for row in rows[1:]],
                         [[AFTER_E4, "waiting", "9", "0"], [ENDING, "waiting", "9", "0"],
                          [START, "waiting", "1", "0"]])
        self.assertEqual(self.both("list", "--limit", "2").count("\n"), 3)
        self.assertEqual(self.both("list", "--limit", "1", "--json").count("\n"), 1)
        head = "\t".join(rows[0]) + "\n"
        self.assertEqual(self.both("list", "--state", "failed"), head)
        self.assertEqual(self.both("list", "--state", "failed", "--json"), "")
        self.assertEqual(self.both("count"), "waiting\t3\nleased\t0\nfailed\t0\n")
        self.assertEqual(self.both("drop", START, START), "dropped\t1\n")
        self.assertEqual(self.both("drop", "--all"), "dropped\t2\n")
        for args in (("nothing",), ("list", START), ("list", "--state", "gone"),
                     ("drop", "--all", START), ("list", "--limit", "0")):
            self.both(*args, code=2)

    def test_keys_of_no_position_were_dashes(self):
        """It was an error, and became a row without a FEN."""
        key = bytes.fromhex("0800000000000000f0")  # one rook, that may castle
        with Client(self.daemon.address) as client:
            client.call(queue_add=pb.QueueAdd(keys=bytes([len(key)]) + key, priority=1))
        self.cli("queue", "add", AFTER_E4, address=self.daemon.address)
        done = self.cli("queue", "list", address=self.daemon.address, code=2)
        self.assertNotIn("-\twaiting", done.stdout)
        self.assertIn("may castle", done.stderr)

    def test_options_of_another_verb(self):
        """Each belongs to one; an option that would do nothing is refused."""
        for verb, *options in (("list", "--priority", "5"), ("count", "--limit", "5"), ("add", "--all"),
                               ("drop", "--state", "failed"), ("add", "--limit", "5", START)):
            self.assertIn(f"queue {verb}: {options[0]} is of queue ", self.both(verb, *options, code=2))

    def test_counts_only_of_what_was_done(self):
        self.assertNotIn("added", self.both("add", "not a position", code=2))
        self.assertNotIn("dropped", self.both("drop", "not a position", code=2))
        self.assertIn("waiting\t0", self.both("count"))

    def test_copies(self):
        self.both("add", START)
        for address, name in ((self.local, "b1"), (self.daemon.address, "b2")):
            self.cli("backup", self.path(name), address=address)
            counts = summary(self.out("queue", "count", address=self.path(name)))
            self.assertEqual(counts["waiting"], "1")
        self.cli("compact", address=self.local)
        self.assertEqual(summary(self.out("queue", "count", address=self.local))["waiting"], "1")
        self.assertIn("sound\tyes", self.out("verify", address=self.local))
        dump = self.write("dump", self.out("dump", address=self.local))
        self.cli("load", dump, address=self.path("loaded"))
        self.assertEqual(summary(self.out("queue", "count", address=self.path("loaded")))["waiting"],
                         "0")

    def test_sent_again(self):
        """Every write twice, with the daemon killed in between."""
        with Client(self.daemon.address) as client:
            marks = Marks(client)

        def twice(**op):
            mark, answers = marks.next(), []
            for _ in range(2):
                with Client(self.daemon.address) as client:
                    answers.append(client.call(idempotency_key=mark, **op))
                    answers[-1].id = 0
                    if answers[-1].HasField("queue_take"):
                        answers[-1].queue_take.rows.sort(key=lambda row: row.key)
                self.daemon.kill()
                self.start()
            self.assertEqual(*answers)
            return answers[0]

        added = twice(queue_add=pb.QueueAdd(fens=[START, AFTER_E4, ENDING], priority=1))
        self.assertEqual(added.queue_add.added, 3)
        taken = twice(queue_take=pb.QueueTake(holder="me", lease_ms=DAY, limit=2)).queue_take
        self.assertEqual(len(taken.rows), 2)
        key = taken.rows[0].key
        keys = bytes([len(key)]) + key
        done = twice(queue_settle=pb.QueueSettle(keys=keys, lease=taken.lease, action=pb.RELEASE))
        self.assertEqual(done.queue_settle.done, 1)
        with Client(self.daemon.address) as client:
            found = client.call(queue_list=pb.QueueList(state=pb.WAITING, limit=9)).queue_list
            self.assertEqual((found.waiting, found.leased, found.failed), (2, 1, 0))
            self.assertEqual([row.priority for row in found.rows], [1, 1])

    def test_refusals(self):
        with Client(self.daemon.address) as client:
            for op, field in (
                    ({"queue_take": pb.QueueTake(holder="", lease_ms=1, limit=1)}, "queue_take"),
                    ({"queue_take": pb.QueueTake(holder="a", lease_ms=1)}, "queue_take"),
                    ({"queue_settle": pb.QueueSettle(lease=1)}, "queue_settle"),
                    ({"queue_list": pb.QueueList()}, "queue_list"),
                    ({"queue_list": pb.QueueList(state=pb.WAITING, limit=4097)}, "queue_list"),
                    ({"queue_add": pb.QueueAdd(fens=[START, "x"])}, "queue_add.fens[1]")):
                with self.assertRaises(Failure) as caught:
                    client.call(**op)
                self.assertEqual(caught.exception.field, field)
            for fens, good in ((4096, True), (4097, False)):
                try:
                    client.call(queue_add=pb.QueueAdd(fens=[START] * fens))
                    self.assertTrue(good)
                except Failure as failure:
                    self.assertFalse(good)
                    self.assertEqual(failure.code, pb.TOO_LARGE)
