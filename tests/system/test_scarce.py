# SPDX-License-Identifier: MIT
"""Memory runs out once, at every place where the daemon asks for some: while it starts, and within
every kind of request. Whoever is hit hears of it, or is closed; nobody else notices, nothing that
was acknowledged is lost, and whoever asks next is served. scarce.c, preloaded or linked with the
daemon, says which of the daemon's allocations fails. Descriptors run out in the same way.

CHISTORE_SCARCE_ALL: every allocation in its turn, and not a few that the seed chooses.
"""

import contextlib
import mmap
import os
import random
import re
import signal
import socket
import ssl
import struct
import subprocess
import unittest

import certificates
import harness
from peer import Peer, fen, found
from pychistore import ADD, COUNTS, Client, Closed, Failure, Marks, pb
from test_access import token_line, write_file

SCARCE = os.environ.get("CHISTORE_SCARCE_LIB", "")
EVERY = bool(os.environ.get("CHISTORE_SCARCE_ALL"))
SEED = int(os.environ.get("CHISTORE_SEED", random.SystemRandom().randrange(1 << 32)))
LAYOUT = struct.Struct("=QQQ")  # calls, failing, failed

# What a client may hear when memory has run out: that it has, or that others hold it all.
SAID = (pb.OK, pb.NO_MEMORY, pb.BUSY)
# Of a process that verifies; one that counts its lines of code crashes when that lacks memory.
COUNTED = os.environ["CHISTORE_INSTRUMENTED"] and os.environ["CHISTORE_SANITIZE"] == "none"
NOT_VERIFIED = (pb.INTERNAL, pb.CORRUPT) if COUNTED else (pb.INTERNAL,)

# What the log says when files are read again: that they were, or that they could not be.
ANEW, STAY = " anew\n", " stay as they were "

RULES = "anyone admin\n" + token_line("secret", "write")

# Allocations that fail in one run, of each kind of request and of the start.
SAMPLE = 6
STARTS = 12

PGN = b'[Event "x"]\n[White "%d"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'


class Memory:
    """The daemon's, as scarce.c sees it."""

    WHAT, AT = "allocation", 0

    def __init__(self, failing=0):
        self.path = os.path.join(harness.make_temp_dir(), "scarce")
        with open(self.path, "wb") as file:
            file.truncate(2 * LAYOUT.size)
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 2 * LAYOUT.size)
        self.fail(failing)

    def environment(self):
        return {"CHISTORE_SCARCE": self.path, **({"LD_PRELOAD": SCARCE} if SCARCE else {})}

    def calls(self):
        return LAYOUT.unpack_from(self.map, self.AT)[0]

    def failed(self):
        return LAYOUT.unpack_from(self.map, self.AT)[2]

    def _set(self, call):
        struct.pack_into("=Q", self.map, self.AT + 8, call)

    def fail(self, n):
        """The n-th allocation from now on; 0: none."""
        self.counted, self.since = None, self.calls()
        self._set(self.since + n if n > 0 else 0)

    def relent(self):
        """None fails any more. `counted`: how many there were from fail() until here."""
        self._set(0)
        if self.counted is None:
            self.counted = self.calls() - self.since


class Descriptors(Memory):
    WHAT, AT = "descriptor", LAYOUT.size


# Allocations that failed, and requests and starts that heard of it.
REACHED = {"failed": 0, "heard": 0}


def reached(failed, heard):
    REACHED["failed"] += failed
    REACHED["heard"] += heard


def tearDownModule():
    print(f"# figures: the daemon's: {REACHED['failed']} allocations failed, {REACHED['heard']} "
          f"requests and starts heard of it", flush=True)


def sample(count, most):
    """Which of `count` allocations are to fail."""
    numbers = range(1, count + 1)
    return numbers if EVERY or count <= most else sorted(random.sample(numbers, most))


class Scarce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"# CHISTORE_SEED={SEED}", flush=True)
        random.seed(SEED)
        cls.directory = harness.make_temp_dir()
        cls.authority = certificates.Authority(cls.directory, "authority")
        cls.server = cls.authority.issue("server", "IP:127.0.0.1")
        # A daemon that has lost its authorities would refuse it.
        cls.context = certificates.context(cls.authority, cls.authority.issue("known"))
        cls.rules_file = os.path.join(cls.directory, "access")
        write_file(cls.rules_file, RULES)

    def listen(self):
        return ["unix:" + os.path.join(harness.make_temp_dir(), "s"), "tls:127.0.0.1:0"]

    def arguments(self):
        # What hangs must not be ended by a limit of time.
        return ["--threads", "1", "--access", self.rules_file, "--tls-cert", self.server[0],
                "--tls-key", self.server[1], "--tls-ca", self.authority.file,
                "--metrics", "tcp:127.0.0.1:0", "--frame-timeout", "3600000",
                "--output-timeout", "3600000"]


class Serving(Scarce):
    """A daemon whose memory is watched, and the requests that are sent to it."""

    def setUp(self):
        self.memory = Memory()
        self.path = harness.make_store(statistic="outcome")
        self.daemon = harness.start_daemon({"default": self.path}, self.listen(),
                                           self.arguments(), self.memory.environment())
        self.addCleanup(self.daemon.kill)
        self.tls = next(a for a in self.daemon.addresses if a.startswith("tls:"))
        _, _, page = self.daemon.stderr_text().partition("counters are at 'http://127.0.0.1:")
        self.metrics = ("127.0.0.1", int(page.partition("/")[0]))
        self.standing = Client(self.daemon.address)
        self.addCleanup(self.standing.close)
        self.standing.socket.settimeout(60)
        self.number = 0
        self.stored = []
        self.imported = 0
        self.marks = Marks(self.standing)
        self.kept = [self.next_number() for _ in range(2000)]
        counts = pb.Counts(white=3, draws=2, black=1)
        self.standing.put([pb.PutEntry(fen=fen(n), parts=COUNTS, record=pb.Record(counts=counts))
                           for n in self.kept], durability=pb.ASYNC)
        self.standing.put([])

    def next_number(self):
        self.number += 1
        return self.number

    # ---- Requests, each on a connection of its own: they raise what went wrong ------------------

    def new(self, n=1, **record):
        numbers = [self.next_number() for _ in range(n)]
        return numbers, [pb.PutEntry(fen=fen(number), **record) for number in numbers]

    def put(self, n, durability=pb.SYNC):
        def run(client):
            numbers, entries = self.new(n)
            client.put(entries, durability)
            if durability == pb.ASYNC:
                client.put([])
            self.stored += numbers
        return run

    def put_marked(self, client):
        """Whatever is heard, it is sent again, and has been done once then."""
        numbers, entries = self.new(parts=ADD, record=pb.Record(counts=pb.Counts(white=1)))
        request = {"put": pb.Put(entries=entries), "idempotency_key": self.marks.next()}
        try:
            client.call(**request)
        finally:
            self.memory.relent()
            self.standing.call(**request)
            got, = self.standing.get(fens=[fen(numbers[0])])
            self.assertEqual(got.record.counts.white, 1)
            self.stored += numbers

    def import_games(self, client):
        """Whole or not at all, whatever is heard."""
        games = b"".join(PGN % self.next_number() for _ in range(20))
        try:
            client.import_games([("a.pgn", games)])
        finally:
            self.memory.relent()
            # One that was given up holds its place, and one that has all its data may yet be
            # stored, until its thread has ended.
            harness.wait_for(lambda: b"\nchistore_imports 0\n" in self.page())
            before, counts = self.imported, self.standing.info().games
            self.imported = counts.white + counts.draws + counts.black + counts.other
            self.assertIn(self.imported - before, (0, 20))
        self.assertEqual(self.imported - before, 20)

    def greet(self, address, tls=None, token=""):
        def run(_):
            with Client(address, hello=False, tls=tls) as client:
                client.socket.settimeout(60)
                client.hello(access_token=token)
                client.ping()
        return run

    def page(self):
        with socket.create_connection(self.metrics, 60) as page:
            page.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            got = b""
            while part := page.recv(1 << 16):
                got += part
        return got

    def scrape(self, _):
        got = self.page()
        status = got.partition(b" ")[2][:3]
        self.assertIn(status, (b"200", b"500", b""))
        if status != b"200":
            raise Closed()

    def reload(self, _):
        """The certificates and the rules, anew or as they were; the log speaks of both."""
        before, text = self.daemon.stderr_lines(), ""
        self.daemon.process.send_signal(signal.SIGHUP)
        while text.count(ANEW) + text.count(STAY) < 2:
            self.assertIsNone(self.daemon.process.poll())
            text = self.daemon.stderr_text(before)
        self.memory.relent()
        self.greet(self.tls, self.context)(None)
        if STAY in text:
            raise Closed()

    # ---- The sweep -----------------------------------------------------------------------------

    def run_one(self, run, n):
        """Once, with the n-th allocation failing: the code, or None if the connection was closed."""
        with Client(self.daemon.address) as client:
            client.socket.settimeout(60)
            self.memory.fail(n)
            try:
                run(client)
            except Failure as failure:
                return failure.code
            except (Closed, ConnectionError, ssl.SSLError):
                return None
            finally:
                self.memory.relent()
        return pb.OK


class WhileServing(Serving):
    def check(self, name, n):
        self.assertIsNone(self.daemon.process.poll(),
                          f"{name}, {n}: the daemon ended\n{self.daemon.stderr_text()}")
        self.standing.ping()
        with Client(self.daemon.address) as late:
            late.socket.settimeout(60)
            late.ping()
        # What the last run stored, and something of all.
        numbers = self.stored[-3:] + random.sample(self.stored, min(len(self.stored), 20))
        rows = self.standing.probe(fens=[fen(number) for number in numbers])
        self.assertTrue(all(row.found for row in rows), f"{name}, allocation {n}")

    def sweep(self, name, run, *more):
        """`more`: other codes that may be heard."""
        for _ in range(2):
            self.assertEqual(self.run_one(run, 0), pb.OK, name)
        count = self.memory.counted
        heard = closed = 0
        numbers = sample(max(count, 1), SAMPLE)
        for n in numbers:
            failed = self.memory.failed()
            code = self.run_one(run, n)
            if self.memory.failed() > failed:
                self.assertIn(code, (None, *SAID, *more), f"{name}, allocation {n}")
                heard += code not in (None, pb.OK)
                closed += code is None
            else:
                self.assertEqual(code, pb.OK, f"{name}, allocation {n}, which did not fail")
            self.check(name, n)
        print(f"# {name}: {count} allocations, {len(numbers)} failed; {heard} heard of it, {closed} "
              f"were closed", flush=True)
        reached(len(numbers), heard + closed)
        return heard + closed

    def test_every_allocation_fails_once(self):
        fens = [fen(n) for n in self.kept[:1500]]
        told = 0
        for name, run, *more in [
                ("hello", self.greet(self.daemon.address, token="secret")),
                ("hello over TLS", self.greet(self.tls, self.context, "secret")),
                ("put", self.put(1)),
                ("put ASYNC", self.put(1, pb.ASYNC)),
                ("put of 1,500", self.put(1500)),
                ("put with a mark", self.put_marked),
                ("delete", lambda client: client.delete(fens=fens[-1:])),
                ("get", lambda client: client.get(fens=fens)),
                ("probe", lambda client: client.probe(fens=fens)),
                ("explore", lambda client: client.explore(fen=fens[0])),
                ("info", lambda client: client.info()),
                ("games", lambda client: client.games()),
                ("count", lambda client: client.count()),
                ("scan", lambda client: client.scan(want=pb.RECORDS, window=1)),
                ("backup", lambda client: client.backup(window=1)),
                # What the process that verifies lacks is in the log, or the message.
                ("verify", lambda client: client.verify(), *NOT_VERIFIED),
                ("rescore", lambda client: client.rescore()),
                ("compact", lambda client: client.compact(), *NOT_VERIFIED),
                ("import", self.import_games),
                ("the page of counters", self.scrape),
                ("SIGHUP", self.reload)]:
            with self.subTest(name):
                told += self.sweep(name, run, *more)
        self.assertGreater(told, 10)
        self.assertEqual(self.daemon.stop(), 0)
        with harness.start_daemon({"default": self.path}) as again, Peer(again.address) as peer:
            self.assertEqual(found(peer, self.stored), len(self.stored))
            last = list(peer.stream(verify=pb.Verify()))[-1]
            self.assertEqual((last.code, last.verify.errors), (pb.OK, 0))


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
        for n in (count - late + number for number in sample(late, SAMPLE)):
            self.assertIn(self.run_one(enter, n), (None, pb.DENIED, pb.NO_MEMORY, pb.BUSY),
                          f"{name}, allocation {n} of {count}")
        self.standing.ping()

    def test_by_certificate(self):
        for identity in (self.stolen, self.sacked):
            context = certificates.context(self.authority, identity)
            self.check_door(identity[0], self.greet(self.tls, context))

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


class WhileStarting(Scarce):
    def start(self, memory, n, path, listen, arguments):
        """With the n-th of it failing; whether it was refused. Else it serves everywhere."""
        memory = memory(n)
        what = f"{memory.WHAT} {n}"
        command = [os.environ["CHISTORED"], "--store", path, *arguments]
        command += [word for address in listen for word in ("--listen", address)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              encoding="utf-8",
                              env={**os.environ, **memory.environment()}) as process, \
                contextlib.ExitStack() as last:
            # Whatever fails here, nobody waits for it.
            last.callback(process.kill)
            lines = []
            for line in process.stderr:
                lines.append(line)
                if "ready" in line:
                    memory.relent()
                    for address in re.findall(r"(?:unix|tls):[^\s,]+", line):
                        tls = self.context if address.startswith("tls:") else None
                        with Client(address, tls=tls) as client:
                            client.ping()
                    process.terminate()
            code = process.wait(60)
        text = "".join(lines)
        # Ready or refused with a reason; a daemon that is ready stops in order.
        ready = "chistored: ready" in text
        self.assertEqual(code, 0 if ready else 3, f"{what}:\n{text}")
        self.assertTrue(ready or lines[-1].startswith("chistored: "), f"{what}:\n{text}")
        return not ready

    def sweep(self, name, listen, arguments, kind=Memory, most=STARTS):
        path = harness.make_store()
        memory = kind()
        with harness.start_daemon({"default": path}, listen, arguments, memory.environment()):
            count = memory.calls()
        numbers = sample(count, most)
        refused = sum(self.start(kind, n, path, listen, arguments) for n in numbers)
        print(f"# {name}: {count} {kind.WHAT}s, {len(numbers)} failed; {refused} refused the start",
              flush=True)
        reached(len(numbers), refused)
        return refused

    def test_every_allocation_fails_once(self):
        # Most are those of a filter of system calls in the making: what else there is has starts
        # of its own.
        plain = ["--threads", "1"]
        off = ["--sandbox", "off"]
        self.assertGreater(self.sweep("plain", self.listen()[:1], [*plain, *off]), 0)
        self.sweep("with TLS", self.listen(), [*self.arguments(), *off])
        self.sweep("with a sandbox", self.listen()[:1], plain)

    @unittest.skipUnless(SCARCE, "a sanitizer stands in front of these calls itself")
    def test_every_descriptor_fails_once(self):
        refused = self.sweep("descriptors", self.listen()[:1], ["--threads", "2"], Descriptors, 100)
        self.assertGreater(refused, 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
