# SPDX-License-Identifier: MIT
"""Names, gamesets and patterns over sockets: changes that need several requests; what happens to
writes when the daemon is killed; and clients that are rude.

CHISTORE_SEED: when the daemon is killed.
"""

import os
import shutil
import threading
import time

import harness
import pychistore
from cli_base import MASTERS, Base
from peer import Peer
from pychistore import Client, Closed, Failure, Marks, pb

FIND = pb.Scan(chi2_max=25599, order=pb.BY_POSITION, want=pb.COUNTS)

_made = []


def made_store():
    """A directory with the games, made once."""
    if not _made:
        path = os.path.join(harness.make_temp_dir(), "games")
        done = harness.run_cli("import", "--quiet", MASTERS, address=path)
        assert done.returncode == 0, done.stderr
        _made.append(path)
    return _made[0]


class Served(Base):
    """Two equal stores: one in a directory, one with a daemon."""

    def setUp(self):
        super().setUp()
        self.local = shutil.copytree(made_store(), self.path("local"))
        self.store = shutil.copytree(made_store(), self.path("served"))
        self.daemon = None
        self.listen = ["unix:" + self.path("s")]
        self.start()
        self.addCleanup(lambda: self.daemon.kill())

    def start(self, *extra):
        self.daemon = harness.start_daemon({"default": self.store}, listen=self.listen,
                                           extra_args=extra)

    def connect(self):
        return self.enterContext(Client(self.daemon.address))

    def both(self, *args, code=0, **extra):
        """Standard output of both, which must not differ in anything."""
        one = self.cli(*args, address=self.local, code=code, **extra)
        other = self.cli(*args, address=self.daemon.address, code=code, **extra)
        self.assertEqual(one.stdout, other.stdout, args)
        self.assertEqual(one.stderr, other.stderr, args)
        return other.stdout


class Commands(Served):
    def test_spelling_file(self):
        """More than one request's worth: names so long that a batch of them must be cut."""
        text = "@PLAYER\nNorheim, Magnus\n%Bio FIDEID 1503014\n= Norheim,M\nAnand,V\n= Norheim,M\n"
        lines = [f"Long{i:04} {'x' * 900}\n= Longer{i:04} {'y' * 900}\n" for i in range(700)]
        file = self.write("names.ssp", text + "".join(lines))
        self.both("alias", "import", "--dry-run", file)
        self.both("alias", "import", file)
        self.both("name", "find", "norheim")
        self.both("alias", "import", file)


class Kills(Served):
    """The daemon is killed under writes that are sent until they are answered."""

    def batches(self, n):
        """Lists of changes whose answers tell whether they were done once: again, they would have
        nothing to do."""
        for i in range(n):
            yield [pb.NameChange(action=pb.CORRECT, kind=pb.PLAYER, name=name, to=f"Someone {i}")
                   for name in ("Norheim,M", "Velan,V", "Not There")] + [
                pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="No One At All"),
                pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="Norheim,M")]

    def persist(self, ask):
        """The answer, over as many connections as it takes."""
        while True:
            try:
                with Client(self.listen[0]) as client:
                    return ask(client)
            except (Closed, OSError):
                time.sleep(0.002)

    def under_kills(self, work, kills, begun=lambda: True):
        chance = harness.seed()
        failures = []

        def run():
            try:
                work()
            except Exception as error:  # pylint: disable=broad-except
                failures.append(repr(error))
        thread = threading.Thread(target=run)
        thread.start()
        harness.wait_for(begun)
        while thread.is_alive() and kills > 0:
            time.sleep(chance.uniform(0.002, 0.02))
            self.daemon.kill()
            self.start()
            kills -= 1
        thread.join()
        self.assertEqual(failures, [])

    def test_changes(self):
        answers = []

        def work():
            marks = self.persist(Marks)
            for changes in self.batches(100):
                mark = marks.next()
                result = self.persist(lambda c: c.change_names(changes, idempotency_key=mark))
                answers.append((result.changed, result.same, result.conflicts))
        self.under_kills(work, 10)
        # The first joins two, and parts one; every other joins the one that was parted.
        self.assertEqual(answers[0], (3, 1, 1))
        self.assertEqual(set(answers[1:]), {answers[1]})
        with Client(self.listen[0]) as client:
            control = client.change_names(list(self.batches(1))[0], dry_run=True)
            self.assertEqual(len(control.refused), 1)
            self.assertEqual(control.refused[0].entry, 3)
        self.assertIn("sound\tyes", self.out("verify", address=self.listen[0]))

    def test_gamesets(self):
        """Made once: that it is there already is no answer to one that is sent again."""
        def work():
            marks = self.persist(Marks)
            for i in range(40):
                mark = marks.next()
                games = self.persist(lambda c: c.make_gameset(f"s{i}", "player Norheim", mark))
                self.assertEqual(games, 28)
                gone = marks.next()
                if i % 2:
                    dropped = self.persist(lambda c: c.drop_gameset(f"s{i}", gone))
                    self.assertEqual(dropped, 1)
        self.under_kills(work, 10)
        with Client(self.listen[0]) as client:
            self.assertEqual([row.name for row in client.gamesets()],
                             sorted(f"s{i}" for i in range(0, 40, 2)))
        self.assertIn("sound\tyes", self.out("verify", address=self.listen[0]))

    def test_alias_import(self):
        """The command itself gets over it: what it prints is what a directory gives."""
        found = ["Velan,V", "Norheim,M", "Cordana,F", "Kalvik,V"]
        lines = [f"Player {i}\n= {found[i // 500 % 4] if i % 500 == 1 else 'Not There'}\n"
                 for i in range(40000)]
        file = self.write("names.ssp", "@PLAYER\n" + "".join(lines))
        done = []
        watcher = self.connect()

        def work():
            done.append(self.out("alias", "import", "--quiet", file, address=self.listen[0]))
        # Opening is not repeated: from then on the command gets over it.
        self.under_kills(work, 3, lambda: watcher.names(pb.PLAYER, "=Player 1")[0])
        self.assertEqual(done[0], self.out("alias", "import", "--quiet", file, address=self.local))


class Rude(Served):
    def start(self, *extra):
        super().start("--snapshot-time", "50", *extra)

    def await_readers(self, client):
        """Until no search holds a snapshot that is older than the last write."""
        client.put([pb.PutEntry(fen="4k3/8/8/8/8/8/8/3QK3 w - - 0 1")])
        harness.wait_for(lambda: client.info().oldest_reader == 0)

    def refused(self, code, field, **op):
        with Client(self.listen[0]) as client, self.assertRaises(Failure) as caught:
            for _ in client.stream(client.send(**op)):
                pass
        self.assertEqual(pychistore.code_name(caught.exception.code), pychistore.code_name(code))
        self.assertEqual(caught.exception.field, field)

    def test_what_is_refused(self):
        change = pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="Norheim,M")
        mark = pb.IdempotencyKey(client=b"x" * 16, sequence=1)
        for code, field, op in (
                (pb.INVALID, "names.kind", {"names": pb.Names(limit=1)}),
                (pb.INVALID, "names.limit", {"names": pb.Names(kind=pb.PLAYER)}),
                (pb.INVALID, "names.limit", {"names": pb.Names(kind=pb.PLAYER, limit=10001)}),
                (pb.TOO_LARGE, "names.wanted", {"names": pb.Names(kind=1, wanted="x" * 1025)}),
                (pb.INVALID, "suspects.limit", {"suspects": pb.Suspects(kind=pb.SITE)}),
                (pb.TOO_LARGE, "change_names.changes[10000]",
                 {"change_names": pb.ChangeNames(changes=[change] * 10001)}),
                (pb.INVALID, "change_names.changes",
                 {"change_names": pb.ChangeNames(changes=[change, pb.NameChange()])}),
                (pb.INVALID, "idempotency_key",
                 {"change_names": pb.ChangeNames(dry_run=True), "idempotency_key": mark}),
                (pb.INVALID, "make_gameset.name", {"make_gameset": pb.MakeGameset()}),
                (pb.INVALID, "make_gameset.name", {"make_gameset": pb.MakeGameset(name="..")}),
                (pb.BAD_SYNTAX, "", {"make_gameset": pb.MakeGameset(name="a", filter="colour")}),
                (pb.INVALID, "", {"make_gameset": pb.MakeGameset(name="a", filter="in none")}),
                (pb.INVALID, "drop_gameset.name", {"drop_gameset": pb.DropGameset(name="\t")}),
                (pb.INVALID, "gamesets.name", {"gamesets": pb.Gamesets(name="a b")}),
                (pb.BAD_SYNTAX, "scan.games", {"scan": pb.Scan(chi2_max=25599, games="player")}),
                (pb.BAD_SYNTAX, "twins.filter", {"twins": pb.Twins(filter="player")}),
                (pb.INVALID, "window", {"window": 1025, "twins": pb.Twins()}),
                (pb.INVALID, "", {"twins": pb.Twins(filter="in none")}),
                (pb.TOO_LARGE, "scan.games", {"scan": pb.Scan(games="x" * 4097)}),
                (pb.INVALID, "", {"scan": pb.Scan(chi2_max=25599, games="in none")}),
                (pb.BAD_SYNTAX, "count.games", {"count": pb.Count(chi2_max=25599, games="player")}),
                (pb.TOO_LARGE, "count.games", {"count": pb.Count(games="x" * 4097)}),
                (pb.INVALID, "", {"count": pb.Count(chi2_max=25599, games="in none")}),
                (pb.INVALID, "idempotency_key", {"scan": FIND, "idempotency_key": mark}),
                (pb.INVALID, "scan.pattern", {"scan": pb.Scan(chi2_max=25599, pattern='has "Ke1 Ke2"')}),
                (pb.INVALID, "count.pattern", {"count": pb.Count(chi2_max=25599, pattern="not has Nd5")}),
                (pb.TOO_LARGE, "scan.pattern", {"scan": pb.Scan(chi2_max=25599, pattern="x" * 4097)})):
            with self.subTest(field=field, **op):
                self.refused(code, field, **op)
        client = self.connect()
        self.assertEqual(client.make_gameset("a"), 300)
        self.refused(pb.EXISTS, "", make_gameset=pb.MakeGameset(name="a"))
        done = client.change_names([change] * 10000)
        self.assertEqual((done.changed, done.same, done.conflicts, len(done.refused)),
                         (0, 0, 10000, 10000) if done.conflicts else (0, 10000, 0, 0))

    def test_in_one_group(self):
        """Writes of all kinds that share a commit, and those among them that are refused."""
        client = self.connect()
        join = pb.NameChange(action=pb.JOIN, kind=pb.PLAYER, name="Velan,V", to="Norheim,M")
        part = pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="Velan,V")
        more = pb.Put(entries=[pb.PutEntry(fen="4k3/8/8/8/8/8/8/4K3 w - - 0 1", parts=4,
                                           record=pb.Record(counts=pb.Counts(white=1)))])
        less = pb.Put(entries=[pb.PutEntry(fen="4k3/8/8/8/8/8/8/3QK3 w - - 0 1", parts=256,
                                           record=pb.Record(counts=pb.Counts(white=1)))])
        ids = []
        for _ in range(8):
            ids += [client.send(**op) for op in (
                {"put": more}, {"change_names": pb.ChangeNames(changes=[join])}, {"put": less},
                {"drop_gameset": pb.DropGameset(name="none")},
                {"change_names": pb.ChangeNames(changes=[part, part])},
                {"change_names": pb.ChangeNames(changes=[join], dry_run=True)})]
        answers = [client.answer(id) for id in ids]
        for i in range(0, len(answers), 6):
            put, joined, refused, dropped, parted, dry = answers[i:i + 6]
            self.assertEqual(put.put.added + put.put.updated, 1)
            self.assertEqual(joined.change_names.changed, 1)
            self.assertEqual(refused.code, pb.INVALID)
            self.assertEqual((dropped.code, dropped.drop_gameset.dropped), (pb.OK, 0))
            self.assertEqual((parted.change_names.changed, parted.change_names.same), (1, 1))
            self.assertEqual(dry.change_names.changed, 1)
        row, = client.probe(fens=["4k3/8/8/8/8/8/8/4K3 w - - 0 1"])
        self.assertEqual(row.counts.white, 8)
        self.assertIn("sound\tyes", self.out("verify", address=self.listen[0]))

    def test_who_reads_nothing(self):
        """Many searches without credit, and whole stores of them: others are served all the same."""
        with Peer(self.listen[0]) as peer:
            sent = [peer.send(window=1, scan=FIND) for _ in range(60)]
            seen = {response.id: response for response in (peer.receive() for _ in sent)}
            self.assertEqual(set(seen), set(sent))
            self.assertFalse(any(response.last for response in seen.values()))
            client = self.connect()
            self.assertEqual(len(client.names(pb.PLAYER)[0]), client.names(pb.PLAYER)[1])
            self.assertEqual(client.make_gameset("all"), 300)
            # The store is written meanwhile, and all snapshots from before are given up.
            client.put([pb.PutEntry(fen="4k3/8/8/8/8/8/8/4K3 w - - 0 1")])
            self.await_readers(client)
            last = seen[sent[0]]  # another's may have come first
            rows, mixed = last.scan.count, False
            while not last.last:
                peer.send(id=sent[0], credit=pb.Credit(responses=1))
                last = peer.receive_for(sent[0])
                rows += last.scan.count
                mixed |= last.scan.mixed
            self.assertTrue(mixed)
            self.assertIn(rows, range(client.count() - 2, client.count() + 1))
            for id in sent[1:]:
                peer.send(id=id, cancel=pb.Cancel())
            self.assertEqual({peer.receive().code for _ in sent[1:]}, {pb.CANCELED})

    def test_who_goes(self):
        """In the middle of everything; the daemon still stops in order."""
        for op in ({"window": 1, "scan": FIND}, {"suspects": pb.Suspects(kind=pb.PLAYER, limit=9)},
                   {"names": pb.Names(kind=pb.PLAYER, limit=9)},
                   {"twins": pb.Twins()},
                   {"make_gameset": pb.MakeGameset(name="b", filter='has "Nd5"')}):
            for cancel in (False, True):
                with Peer(self.listen[0]) as peer:
                    id = peer.send(**op)
                    if cancel:
                        peer.send(id=id, cancel=pb.Cancel())
        self.assertEqual(self.connect().names(pb.PLAYER, "norheim")[1], 1)
        self.assertEqual(self.daemon.stop(), 0)

    def test_progress(self):
        """A daemon says how far it is, and only to those who ask."""
        for tells in (False, True):
            with Peer(self.listen[0]) as peer:
                games = list(peer.stream(progress=tells, game_query=pb.GameQuery(
                    filter="has Nd5", by_positions=True, want_total=True)))
                scan = list(peer.stream(progress=tells, scan=FIND))
            told = [response.thousandths for response in scan]
            self.assertEqual((told[-1], any(told)), (0, tells))
            self.assertTrue(tells or not any(response.thousandths for response in games))
            self.assertGreater(games[-1].game_query.total, 0)
            self.assertEqual(sum(len(response.game_query.games) for response in games),
                             games[-1].game_query.total)
