# SPDX-License-Identifier: MIT
"""Memory runs out once, at each of the places where the daemon asks for some within a request.
A client that is hit hears of it or is closed; the daemon goes on, or ends with status 3 and a word in the
log, if it was libevent that got none. Nothing that was acknowledged is lost, and no one gets in
whom a rule shuts out. scarce.c, preloaded, says which allocation fails.

CHISTORE_SCARCE_ALL: every allocation in its turn, and not a few that the seed chooses.
"""

import mmap
import os
import signal
import ssl
import struct
import unittest

import certificates
import harness
from peer import Peer, fen, found
from pychistore import ADD, Client, Closed, Failure, Marks, pb
from test_access import token_line, write_file

SCARCE = os.environ.get("CHISTORE_SCARCE_LIB", "")
RANDOM = harness.seed()
EVERY = bool(os.environ.get("CHISTORE_SCARCE_ALL"))
LAYOUT = struct.Struct("=QQQQ")  # calls, failing, failed, lasting

# What a client may hear when memory has run out: that it has, or that others hold it all.
SAID = (None, pb.OK, pb.NO_MEMORY, pb.BUSY)

# What the log says when files are read again: that they were, or that they could not be.
RELOADED, STAY = ": reloaded the ", "the old ones stay "

RULES = "anyone admin\n" + token_line("secret", "write")

# Allocations that fail in one run, of each kind of request.
SAMPLE = 6

PGN = b'[Event "x"]\n[White "%d"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'


class Memory:
    """The daemon's, as scarce.c sees it."""

    def __init__(self):
        self.path = os.path.join(harness.make_temp_dir(), "scarce")
        with open(self.path, "wb") as file:
            file.truncate(LAYOUT.size)
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), LAYOUT.size)
        self.fail(0)

    def environment(self):
        return {"CHISTORE_SCARCE": self.path, "LD_PRELOAD": SCARCE}

    def calls(self):
        return LAYOUT.unpack_from(self.map)[0]

    def failed(self):
        return LAYOUT.unpack_from(self.map)[2]

    def _set(self, call):
        struct.pack_into("=Q", self.map, 8, call)

    def fail(self, n, lasting=False):
        """The n-th allocation from now on, and those after it if `lasting`; 0: none."""
        struct.pack_into("=Q", self.map, 24, lasting)
        self.counted, self.since = None, self.calls()
        self._set(self.since + n if n > 0 else 0)

    def relent(self):
        """None fails any more. `counted`: how many there were from fail() until here."""
        self._set(0)
        if self.counted is None:
            self.counted = self.calls() - self.since


def sample(count):
    """Which of `count` allocations are to fail."""
    numbers = range(1, count + 1)
    return numbers if EVERY or count <= SAMPLE else sorted(RANDOM.sample(numbers, SAMPLE))


@unittest.skipUnless(SCARCE, "a sanitizer's allocator cannot be made to fail")
class Serving(unittest.TestCase):
    """A daemon whose memory is watched, and the requests that are sent to it."""

    @classmethod
    def setUpClass(cls):
        cls.directory = harness.make_temp_dir()
        cls.authority = certificates.Authority(cls.directory, "authority")
        cls.server = cls.authority.issue("server", "IP:127.0.0.1")
        # A daemon that has lost its authorities would refuse it.
        cls.context = certificates.context(cls.authority, cls.authority.issue("known"))
        cls.rules_file = os.path.join(cls.directory, "access")
        write_file(cls.rules_file, RULES)

    def setUp(self):
        self.memory = Memory()
        self.path = harness.make_store(statistic="outcome")
        self.number = 0
        self.stored = []
        self.start()

    def start(self):
        listen = ["unix:" + os.path.join(harness.make_temp_dir(), "s"), "tls:127.0.0.1:0"]
        # What hangs must not be ended by a limit of time.
        arguments = ["--threads", "1", "--access", self.rules_file, "--tls-cert", self.server[0],
                     "--tls-key", self.server[1], "--tls-ca", self.authority.file,
                     "--frame-timeout", "3600000", "--output-timeout", "3600000"]
        self.daemon = harness.start_daemon({"default": self.path}, listen, arguments,
                                           self.memory.environment())
        self.addCleanup(self.daemon.kill)
        self.tls = next(a for a in self.daemon.addresses if a.startswith("tls:"))

    def new(self, n=1, **record):
        numbers = list(range(self.number, self.number + n))
        self.number += n
        return numbers, [pb.PutEntry(fen=fen(number), **record) for number in numbers]

    # ---- Requests, each on a connection of its own: they raise what went wrong ------------------

    def put(self, n):
        def run(client):
            numbers, entries = self.new(n)
            client.put(entries)
            self.stored += numbers
        return run

    def put_marked(self, client):
        """Whatever is heard, it is sent again, and has been done once then."""
        numbers, entries = self.new(parts=ADD, record=pb.Record(counts=pb.Counts(white=1)))
        request = {"put": pb.Put(entries=entries), "idempotency_key": Marks(client).next()}
        try:
            client.call(**request)
        finally:
            self.memory.relent()
            self.restart_if_ended()
            with Client(self.daemon.address) as again:
                again.call(**request)
                got, = again.get(fens=[fen(numbers[0])])
            self.assertEqual(got.record.counts.white, 1)
            self.stored += numbers

    def import_games(self, client):
        games = b"".join(PGN % (self.number + n) for n in range(20))
        self.number += 20
        while True:
            try:
                client.import_games([("a.pgn", games)])
                return
            except Failure as failure:
                # One that was given up may not have ended.
                if "as many imports" not in str(failure):
                    raise

    @staticmethod
    def gameset(client):
        client.drop_gameset("yours")
        client.make_gameset("yours", 'plies 1.. moves "e4"')

    def greet(self, address, tls=None, token=""):
        def run(_):
            with Client(address(), hello=False, tls=tls) as client:
                client.socket.settimeout(60)
                client.hello(access_token=token)
                client.ping()
        return run

    def reload(self, _):
        """The certificates and the rules, reloaded or not; the log speaks of both."""
        before, text = self.daemon.stderr_lines(), ""
        self.daemon.process.send_signal(signal.SIGHUP)
        while text.count(RELOADED) + text.count(STAY) < 2 and self.daemon.process.poll() is None:
            text = self.daemon.stderr_text(before)
        self.memory.relent()
        if STAY in text:
            raise Closed()
        self.greet(lambda: self.tls, self.context)(None)

    # ---- The sweep -----------------------------------------------------------------------------

    def restart_if_ended(self):
        """True if the daemon had ended: never by a crash."""
        try:
            with Client(self.daemon.address) as late:
                late.socket.settimeout(60)
                late.ping()
            return False
        except (Closed, ConnectionError):
            self.assertEqual(self.daemon._wait(60), 3, self.daemon.stderr_text())
            self.assertIn("out of memory", self.daemon.stderr_text())
            self.start()
            return True

    def check_over(self, client):
        """What has failed is over, and nothing more of it comes."""
        self.memory.relent()
        for _ in range(3):
            client.ping()
        self.assertFalse(client.waiting)

    def run_one(self, run, n, lasting=False):
        """Once, with the n-th allocation failing: the code, or None if the connection was closed."""
        try:
            with Client(self.daemon.address) as client:
                client.socket.settimeout(60)
                self.memory.fail(n, lasting)
                try:
                    run(client)
                except Failure:
                    self.check_over(client)
                    raise
        except Failure as failure:
            return failure.code
        except (Closed, ConnectionError, ssl.SSLError):
            return None
        finally:
            self.memory.relent()
        return pb.OK


class WhileServing(Serving):
    def sweep(self, name, run):
        for _ in range(2):
            self.assertEqual(self.run_one(run, 0), pb.OK, name)
        heard = ended = 0
        count = self.memory.counted
        for n in sample(max(count, 1)):
            failed = self.memory.failed()
            code = self.run_one(run, n)
            if self.memory.failed() == failed:
                self.assertEqual(code, pb.OK, f"{name}, allocation {n}, which did not fail")
            self.assertIn(code, SAID, f"{name}, allocation {n}")
            heard += code != pb.OK
            ended += self.restart_if_ended()
        print(f"# {name}: {count} allocations, {heard} heard of it, {ended} ended the daemon",
              flush=True)
        return heard

    def test_every_allocation_fails_once(self):
        with Client(self.daemon.address) as client:
            self.put(1000)(client)
        fens = [fen(n) for n in self.stored]
        heard = 0
        with Client(self.daemon.address) as client:
            self.import_games(client)
            client.make_gameset("mine", "plies 1..")
        for name, run in [
                ("hello", self.greet(lambda: self.daemon.address, token="secret")),
                ("hello over TLS", self.greet(lambda: self.tls, self.context, "secret")),
                ("put", self.put(1)),
                ("put of 1,500", self.put(1500)),
                ("put with a mark", self.put_marked),
                ("get", lambda client: client.get(fens=fens)),
                ("probe", lambda client: client.probe(fens=fens)),
                ("count", lambda client: client.count()),
                ("scan", lambda client: client.scan(want=pb.RECORDS, window=1)),
                ("backup", lambda client: client.backup()),
                ("import", self.import_games),
                ("game query", lambda client: client.query_games("plies 1..", want=pb.PGN)),
                ("stats", lambda client: client.stats(pb.PER_PLAYER)),
                ("explore games", lambda client: client.explore(filter="plies 1..", fen=fens[0])),
                ("names", lambda client: client.names(pb.PLAYER)),
                ("suspects", lambda client: client.suspects(pb.PLAYER)),
                ("scan for a pattern", lambda client: client.scan(
                    pattern='has "Pe4"', whole_counts=True, want=pb.COUNTS)),
                ("games by positions", lambda client: client.query_games(
                    'in mine moves "e4" has "Pe4"', by_positions=True)),
                ("gameset", self.gameset),
                ("change of names", lambda client: client.change_names(
                    [pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="No One At All")])),
                ("SIGHUP", self.reload)]:
            with self.subTest(name):
                heard += self.sweep(name, run)
        self.assertGreater(heard, 5)
        self.assertEqual(self.daemon.stop(), 0)
        with harness.start_daemon({"default": self.path}) as again, Peer(again.address) as peer:
            self.assertEqual(found(peer, self.stored), len(self.stored))
            last = list(peer.stream(verify=pb.Verify()))[-1]
            self.assertEqual((last.code, last.verify.errors), (pb.OK, 0))


    def test_a_backup_on_a_new_daemon(self):
        """Its worker has no memory left from before. Where none came back it tried again and again;
        and it went on after an answer that had failed."""
        with Client(self.daemon.address) as client:
            self.put(1500)(client)
        for lasting in (False, True):
            heard = 0
            for n in range(1, 16):
                self.assertEqual(self.daemon.stop(), 0)
                self.start()
                code = self.run_one(lambda client: client.backup(), n, lasting)
                self.assertIn(code, SAID, f"allocation {n}")
                heard += code != pb.OK
                self.restart_if_ended()
            self.assertGreater(heard, 3)


class ShutOut(Serving):
    """Whom a rule shuts out does not get in because there is no memory to see who it is."""

    GROUP = 424242

    def rules(self):
        return (f"anyone admin\ncert sha256:{certificates.fingerprint(self.stolen[0])} none\n"
                f"cert sacked none\ngroup {self.GROUP} none\n")

    def setUp(self):
        self.stolen = self.authority.issue("stolen")
        self.sacked = self.authority.issue("sacked")
        write_file(self.rules_file, self.rules())
        self.addCleanup(write_file, self.rules_file, RULES)
        super().setUp()

    def check_door(self, name, enter):
        """`enter` with each allocation failing: never in, and refused as it should be else."""
        for _ in range(2):
            self.assertEqual(self.run_one(enter, 0), pb.DENIED, name)
        count = self.memory.counted
        # The judgement comes last.
        late = min(count, 100)
        for n in (count - late + number for number in sample(late)):
            self.assertIn(self.run_one(enter, n), (None, pb.DENIED, pb.NO_MEMORY, pb.BUSY),
                          f"{name}, allocation {n} of {count}")
            self.restart_if_ended()

    def test_by_certificate(self):
        for identity in (self.stolen, self.sacked):
            context = certificates.context(self.authority, identity)
            self.check_door(identity[0], self.greet(lambda: self.tls, context))

    def test_by_group(self):
        if os.getuid() != 0:
            self.skipTest("only root can be in a group at will")

        def enter(_):
            before = os.getgroups()
            os.setgroups([*before, self.GROUP])
            try:
                client = Client(self.daemon.address, hello=False)
            finally:
                os.setgroups(before)
            with client:
                client.socket.settimeout(60)
                client.hello()
        self.check_door("group", enter)
