# SPDX-License-Identifier: MIT
"""The daemon as a process: start and stop, addresses, who is refused and how, limits.

Nothing here waits for luck: a test waits for what must happen, for as long as it takes.
"""

import fcntl
import os
import resource
import select
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest

import harness
from harness import PATIENCE, wait_for
from peer import Peer, fen, put
from pychistore import Closed, frame, pb, put_varint

# Sanitizers take memory of their own; nothing is asked of that.
PLAIN = os.environ.get("CHISTORE_SANITIZE", "none") == "none"

EXIT_USAGE = 2
EXIT_FAILED = 3


def run_daemon(*args):
    """Runs the daemon on arguments that must make it end; returns (exit code, stderr)."""
    done = subprocess.run([os.environ["CHISTORED"], *args], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE, check=False)
    return done.returncode, done.stderr


def start(*args, stores=None, statistic="external", **more):
    """A daemon on a new store that it creates itself."""
    if stores is None:
        stores = {"default": os.path.join(harness.make_temp_dir(), "store")}
    return harness.start_daemon(stores, extra_args=["--create", statistic, *args], **more)


def listens(path):
    """A socket is there before anyone listens on it."""
    with socket.socket(socket.AF_UNIX) as it:
        return it.connect_ex(path) == 0


class StartAndStop(unittest.TestCase):
    def test_ready_serves_and_stops(self):
        directory = harness.make_temp_dir()
        path = os.path.join(directory, "socket")
        daemon = start("--socket-mode", "0600", listen=["unix:" + path, "tcp:127.0.0.1:0"])
        self.assertEqual(daemon.addresses[0], "unix:" + path)
        self.assertRegex(daemon.addresses[1], r"^tcp:127\.0\.0\.1:[1-9][0-9]*$")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        for address in daemon.addresses:
            with Peer(address) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_default_mode_of_the_socket(self):
        with start() as daemon:
            mode = os.stat(daemon.address[len("unix:"):]).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o660)

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("no IPv6 here")
        with start(listen=["tcp:[::1]:0"]) as daemon, Peer(daemon.address) as peer:
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_stops_beside_idle_clients(self):
        daemon = start()
        with Peer(daemon.address) as idle, Peer(daemon.address, hello=False):
            self.assertEqual(daemon.stop(), 0)
            self.assertTrue(idle.at_end())

    def test_two_stores(self):
        base = harness.make_temp_dir()
        stores = {"default": base + "/a", "other": base + "/b"}
        with start(stores=stores) as daemon, Peer(daemon.address) as peer:
            names = [(s.name, s.writable) for s in peer.welcome.hello.stores]
            self.assertEqual(names, [("default", True), ("other", True)])
            peer.call(store="other", put=put([1]))
            for store, count in (("", 0), ("default", 0), ("other", 1)):
                info = peer.call(store=store, info=pb.Info()).info
                self.assertEqual(info.positions, count)
            answer = peer.call(store="third", info=pb.Info())
            self.assertEqual((answer.code, answer.field), (pb.NO_SUCH_STORE, "store"))

    def test_the_default_store_is_named_where_it_is_missing(self):
        """The text named ''."""
        with start(stores={"other": harness.make_temp_dir() + "/s"}) as daemon, \
                Peer(daemon.address) as peer:
            for store, named in (("", "default"), ("third", "third")):
                answer = peer.call(store=store, info=pb.Info())
                self.assertEqual(answer.message, f"no store is named '{named}'")

    def test_read_only(self):
        path = os.path.join(harness.make_temp_dir(), "store")
        with start(stores={"default": path}) as daemon, Peer(daemon.address) as peer:
            peer.call(put=put([1]))
            reader = harness.start_daemon({"default": path}, extra_args=["--read-only"])
            with reader, Peer(reader.address) as other:
                self.assertFalse(other.welcome.hello.stores[0].writable)
                self.assertEqual(other.call(info=pb.Info()).info.positions, 1)
                self.assertEqual(other.call(put=put([2])).code, pb.READ_ONLY)


    def test_systemd_is_told(self):
        path = os.path.join(harness.make_temp_dir(), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.settimeout(60)
            told.bind(path)
            daemon = start(env={"NOTIFY_SOCKET": path})
            self.assertEqual(told.recv(100), b"READY=1")
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(told.recv(100), b"STOPPING=1")

    def test_log_file(self):
        log = os.path.join(harness.make_temp_dir(), "log")
        with start("--log-file", log, "--log-level", "debug") as daemon:
            with open(log, encoding="utf-8") as file:
                self.assertRegex(file.read(), r"(?m)^[0-9T:-]+Z chistored: info: created store")
            os.rename(log, log + ".1")
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: os.path.exists(log) and os.path.getsize(log) > 0)
            with open(log, encoding="utf-8") as file:
                self.assertIn("reopened log", file.read())
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_log_that_cannot_be_reopened(self):
        """It goes on in the old file, and does not claim to have been reopened."""
        directory = os.path.join(harness.make_temp_dir(), "logs")
        os.mkdir(directory)
        with start("--log-file", directory + "/log") as daemon:
            os.rename(directory, directory + ".1")
            daemon.process.send_signal(signal.SIGHUP)
            with open(directory + ".1/log", encoding="utf-8") as file:
                text = ""
                while "failed to reopen log" not in text:
                    text += file.read()
            self.assertEqual(daemon.stop(), 0)
            with open(directory + ".1/log", encoding="utf-8") as file:
                self.assertNotIn("reopened log", file.read())

    def test_log_that_nobody_reads(self):
        """Standard error is a pipe whose reader has stopped: the server goes on."""
        path = os.path.join(harness.make_temp_dir(), "socket")
        command = [os.environ["CHISTORED"], "--store", harness.make_store(), "--listen",
                   "unix:" + path, "--log-level", "debug", "--threads", "1"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            try:
                while b"ready" not in process.stderr.readline():
                    pass
                # Two lines a connection: far more than a pipe holds.
                for _ in range(2000):
                    with Peer("unix:" + path) as peer:
                        self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            finally:
                process.terminate()
                process.stderr.read()
            self.assertEqual(process.wait(60), 0)

    def test_closed_standard_descriptors(self):
        """What is printed must not go to a store's file that got the number."""
        closed = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-']
        store = harness.make_store()
        path = os.path.join(harness.make_temp_dir(), "socket")
        command = [*closed, os.environ["CHISTORED"], "--store", store, "--listen", "unix:" + path]
        with subprocess.Popen(command) as process:
            try:
                wait_for(lambda: listens(path) or process.poll() is not None)
                for number in range(3):
                    self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null")
                with Peer("unix:" + path) as peer:
                    self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            finally:
                process.terminate()
            self.assertEqual(process.wait(60), 0)


class Refusals(unittest.TestCase):
    def refused(self, code, text, *args):
        got, stderr = run_daemon(*args)
        self.assertEqual(got, code, stderr)
        self.assertIn(text, stderr)
        self.assertNotIn("ready", stderr)

    def setUp(self):
        self.directory = harness.make_temp_dir()
        self.store = ["--store", self.directory + "/store", "--create", "control"]

    def test_usage(self):
        self.refused(EXIT_USAGE, "--store", "--listen", "unix:x")
        self.refused(EXIT_USAGE, "--listen", *self.store)
        self.refused(EXIT_USAGE, "unknown option '--what'", "--what")
        self.refused(EXIT_USAGE, "107", *self.store, "--listen", "unix:/" + "p" * 107)

    def test_no_store(self):
        listen = ["--listen", f"unix:{self.directory}/s"]
        self.refused(EXIT_FAILED, "missing", "--store", self.directory + "/missing", *listen)
        os.mkdir(self.directory + "/empty")
        for word in ("/empty", "--create", "chistore init"):
            self.refused(EXIT_FAILED, word, "--store", self.directory + "/empty", *listen)
        self.assertFalse(os.path.exists(self.directory + "/s"))

    def test_failure_that_only_the_log_file_told(self):
        """The terminal tells it as well; once it serves, the file has it alone."""
        log = self.directory + "/log"
        self.refused(EXIT_FAILED, "missing", "--store", self.directory + "/missing",
                     "--listen", f"unix:{self.directory}/s", "--log-file", log)
        with open(log, encoding="utf-8") as file:
            self.assertIn("error: cannot open store", file.read())

    def test_address_that_is_not_loopback(self):
        self.refused(EXIT_FAILED, "not a loopback address", *self.store, "--listen", "tcp:0.0.0.0:0")

    def test_path_that_is_no_socket(self):
        path = self.directory + "/file"
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        self.refused(EXIT_FAILED, "not a socket", *self.store, "--listen", "unix:" + path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_store_of_another_daemon(self):
        with start(stores={"default": self.directory + "/store"}) as daemon:
            self.refused(EXIT_FAILED, f"served by chistored, process {daemon.pid}, "
                         f"at {daemon.address}: use that address",
                         "--store", self.directory + "/store",
                         "--listen", f"unix:{self.directory}/s")
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(put=put([1])).code, pb.OK)

    def test_socket_of_another_daemon(self):
        with start() as daemon:
            self.refused(EXIT_FAILED, "another server", *self.store, "--listen", daemon.address)
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_socket_of_a_daemon_that_is_starting(self):
        """Two that find the same dead socket: only who holds the lock may replace it."""
        path = self.directory + "/s"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        with open(path + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(EXIT_FAILED, "another server", *self.store, "--listen", "unix:" + path)
            self.assertTrue(os.path.exists(path))
        with start(listen=["unix:" + path]) as daemon, Peer(daemon.address) as peer:
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
        self.assertEqual([n for n in os.listdir(self.directory) if n.startswith("s.")], [])

    def test_stale_socket_is_replaced(self):
        path = self.directory + "/s"
        daemon = start(listen=["unix:" + path])
        daemon.kill()
        self.assertTrue(os.path.exists(path))
        with start(listen=["unix:" + path]) as again, Peer(again.address) as peer:
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_socket_of_someone_else_is_left(self):
        """What is at our path when we stop, but is not ours, stays."""
        path = self.directory + "/s"
        daemon = start(listen=["unix:" + path])
        os.unlink(path)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(path)
            self.assertEqual(daemon.stop(), 0)
            self.assertTrue(os.path.exists(path))


class Conversation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(start())

    def stranger(self):
        return self.enterContext(Peer(self.daemon.address, hello=False))

    def test_hello_must_be_first(self):
        peer = self.stranger()
        answer = peer.call(ping=pb.Ping())
        self.assertEqual((answer.code, answer.last), (pb.INVALID, True))
        self.assertTrue(peer.at_end())

    def test_frame_too_large_is_answered_while_it_comes(self):
        with Peer(self.daemon.address) as peer:
            data = frame(b"\0" * ((1 << 20) + 1))
            peer.socket.sendall(data[:200000])
            self.assertEqual(peer.receive().code, pb.TOO_LARGE)
            self.assertTrue(peer.at_end())

    def test_many_requests_at_once(self):
        """More than are served in one turn; each has its answer, in order."""
        with Peer(self.daemon.address) as peer:
            built = [peer.build(ping=pb.Ping()) for _ in range(500)]
            peer.socket.sendall(b"".join(data for data, _ in built))
            self.assertEqual([peer.receive().id for _ in built], [id for _, id in built])

    def test_noise(self):
        """Random bytes, random frames, and valid requests with bytes changed."""
        chance = harness.seed()
        for round_number in range(200):
            with Peer(self.daemon.address, hello=round_number % 4 > 0) as peer:
                data = b"".join(peer.build(put=put([1, 2]))[0] + peer.build(
                    scan=pb.Scan(chi2_max=25599))[0] for _ in range(3))
                kind = round_number % 3
                if kind == 0:
                    data = chance.randbytes(chance.randrange(1, 300))
                elif kind == 1:
                    data = frame(chance.randbytes(chance.randrange(1, 100))) * 3
                else:
                    data = bytearray(data)
                    for _ in range(chance.randrange(1, 5)):
                        data[chance.randrange(len(data))] = chance.randrange(256)
                try:
                    peer.socket.sendall(data)
                    peer.socket.shutdown(socket.SHUT_WR)
                    while True:
                        peer.receive()
                except (Closed, OSError):
                    pass
        with Peer(self.daemon.address) as peer:
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_random_splits_give_the_same_answers(self):
        chance = harness.seed()
        expected = None
        rounds = harness.rounds(30)
        for _ in range(rounds):
            with Peer(self.daemon.address) as peer:
                data = b"".join(peer.build(probe=pb.Probe(fens=[fen(n), fen(n + 1)]))[0]
                                for n in range(40))
                while data:
                    n = chance.randrange(1, 400)
                    peer.socket.sendall(data[:n])
                    data = data[n:]
                answers = [peer.receive().SerializeToString() for _ in range(40)]
                expected = expected or answers
                self.assertEqual(answers, expected)
        print(f"# figures: {rounds} streams of 40 requests split at random, the same answers")


class Limits(unittest.TestCase):
    @staticmethod
    def resident(daemon):
        with open(f"/proc/{daemon.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def test_begun_request_must_be_whole_in_time(self):
        with start("--frame-timeout", "1000") as daemon:
            with Peer(daemon.address) as idle, Peer(daemon.address) as slow:
                slow.socket.sendall(slow.build(ping=pb.Ping())[0][:-1])
                self.assertEqual(slow.receive().code, pb.TIMED_OUT)
                self.assertTrue(slow.at_end())
                # A client that asks nothing may take its time.
                self.assertEqual(idle.call(ping=pb.Ping()).code, pb.OK)
            with Peer(daemon.address, hello=False) as silent:
                self.assertEqual(silent.receive().code, pb.TIMED_OUT)
                self.assertTrue(silent.at_end())

    def test_client_that_never_pauses_is_not_late(self):
        """A request's clock stops when it has come, however many others came with it."""
        limits = ["--frame-timeout", "300", "--output-pause", "1G", "--output-close", "1G"]
        with start("--threads", "1", *limits) as daemon:
            peer = self.enterContext(Peer(daemon.address, hello=False))
            hello, _ = peer.build(hello=pb.Hello(version=1))
            flood = peer.build(id=5, ping=pb.Ping())[0] * 50000
            tail = [b""]

            def read():
                while part := peer.socket.recv(1 << 20):
                    tail[0] = (tail[0] + part)[-200:]

            reader = threading.Thread(target=read)
            reader.start()
            peer.socket.sendall(hello)
            began = time.monotonic()
            # Three times the limit is the length of the experiment, not a wait.
            while time.monotonic() - began < 1:
                peer.socket.sendall(flood)
            peer.socket.shutdown(socket.SHUT_WR)
            reader.join()
            self.assertNotIn(b"did not arrive in time", tail[0])

    def test_client_that_does_not_read_is_cut_off(self):
        with start("--output-timeout", "300", "--threads", "1") as daemon:
            with Peer(daemon.address) as rude, Peer(daemon.address) as polite:
                note = "n" * 60000
                entry = pb.PutEntry(fen=fen(1), parts=32, record=pb.Record(note=note))
                self.assertEqual(rude.call(put=pb.Put(entries=[entry])).code, pb.OK)
                data = rude.build(get=pb.Get(fens=[fen(1)] * 50))[0]
                rude.socket.settimeout(PATIENCE)
                sent = 0
                # 3 MB an answer: it is not read any more long before the last request is sent.
                with self.assertRaises(ConnectionError):
                    while True:
                        rude.socket.sendall(data)
                        sent += 1
                        self.assertEqual(polite.call(ping=pb.Ping()).code, pb.OK)

    def test_unread_output_stops_reading(self):
        """A client that sends without reading takes a bounded amount of memory."""
        with start("--threads", "1") as daemon, Peer(daemon.address) as rude:
            entry = pb.PutEntry(fen=fen(1), parts=32, record=pb.Record(note="n" * 20000))
            self.assertEqual(rude.call(put=pb.Put(entries=[entry])).code, pb.OK)
            data, _ = rude.build(id=7, get=pb.Get(fens=[fen(1)] * 50))
            rude.socket.setblocking(False)
            sent = 0
            with Peer(daemon.address) as polite:
                while True:
                    try:
                        if rude.socket.send(data) != len(data):
                            break
                    except BlockingIOError:
                        break
                    sent += 1
                    polite.call(ping=pb.Ping())
            self.assertGreater(sent, 20)
            if PLAIN:
                self.assertLess(self.resident(daemon), 64 << 20)
            # Once it reads, every request is answered.
            rude.socket.settimeout(60)
            for _ in range(sent):
                self.assertEqual(len(rude.receive_for(7).get.entries), 50)

    def test_connections(self):
        with start("--max-connections", "3") as daemon:
            peers = [Peer(daemon.address) for _ in range(3)]
            one_more = Peer(daemon.address, hello=False)
            self.assertEqual(one_more.receive().code, pb.BUSY)
            self.assertTrue(one_more.at_end())
            for peer in peers:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            peers.pop().close()
            # The place is free as soon as the daemon has seen the end.
            for _ in range(100000):
                peer = self.enterContext(Peer(daemon.address, hello=False))
                try:
                    answer = peer.call(hello=pb.Hello(version=1))
                except (Closed, OSError, AssertionError):
                    continue
                if answer.code == pb.OK:
                    break
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            # The line comes through a pipe and a thread: it may be behind the answer.
            wait_for(lambda: "refusing connections" in daemon.stderr_text())

    @staticmethod
    def private(daemon):
        """Bytes that are the daemon's own: the map of the store, which all share, is not."""
        with open(f"/proc/{daemon.pid}/smaps_rollup", encoding="utf-8") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Private_"))

    def test_idle_clients_hold_little_memory(self):
        """The promise: 64 MiB, and 16 KiB for each client that has asked something and is idle."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        crowds = [n for n in (1000, 5000) if hard == resource.RLIM_INFINITY or n + 1200 < hard]
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(crowds, default=0) + 1200, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with start("--max-connections", "6001") as daemon:
            crowd = []
            with Peer(daemon.address) as first:
                before = self.private(daemon)
                for size in crowds:
                    while len(crowd) < size:
                        crowd.append(Peer(daemon.address))
                    # All at once, and large enough to leave the buffers that workers keep.
                    question = pb.Probe(fens=[fen(i) for i in range(400)])
                    ids = [peer.send(probe=question) for peer in crowd[-1000:]]
                    for peer, id in zip(crowd[-1000:], ids):
                        self.assertEqual(peer.receive_for(id).probe.count, 400)
                    grown = self.private(daemon) - before
                    print(f"# {size} idle clients: {grown / size / 1024:.1f} KiB each, "
                          f"{(before + grown) / 2**20:.1f} MiB in all")
                    if PLAIN:
                        self.assertLess(grown, size * 16384)
                        self.assertLess(before + grown, (64 << 20) + size * 16384)
                # All are still there, and one more is welcome beside them.
                for number, peer in enumerate(crowd):
                    peer.send(id=number + 1, ping=pb.Ping())
                for number, peer in enumerate(crowd):
                    self.assertEqual(peer.receive_for(number + 1).code, pb.OK)
                self.serve_active(daemon.address)
                for peer in crowd:
                    peer.close()
                self.assertEqual(first.call(ping=pb.Ping()).code, pb.OK)

    def serve_active(self, address):
        """A thousand clients that are all asking and writing at once, beside those above; each has
        its own answers, and they are right."""
        active = [Peer(address) for _ in range(1000)]
        for number, peer in enumerate(active):
            peer.socket.sendall(b"".join(peer.build(**request)[0] for request in (
                {"put": put([number], durability=pb.ASYNC, chi2=lambda n: n % 25599 + 1)},
                {"probe": pb.Probe(fens=[fen(number + 5000)])}, {"ping": pb.Ping()})))
        for peer in active:
            answers = {}
            for _ in range(3):
                answer = peer.receive()
                self.assertEqual(answer.code, pb.OK)
                answers[answer.WhichOneof("result")] = answer
            self.assertEqual(answers["put"].put.added, 1)
            self.assertEqual(answers["probe"].probe.count, 1)
        # A synced write commits those that were only applied.
        self.assertEqual(active[0].call(put=pb.Put()).code, pb.OK)
        for number, peer in enumerate(active):
            peer.send(get=pb.Get(fens=[fen(number), fen(number + 5000)]))
        for number, peer in enumerate(active):
            there, missing = peer.receive().get.entries
            self.assertEqual((there.found, there.record.chi2, missing.found),
                             (True, number % 25599 + 1, False))
            peer.close()

    def test_default_number_of_connections(self):
        """4,096: one less, as many, and one more; the last is told so."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 4500:
            self.skipTest("not enough descriptors here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4500), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with start() as daemon:
            crowd = []
            for _ in range(4096):
                # In step, so that none waits for more than the backlog holds.
                crowd.append(Peer(daemon.address))
                self.addCleanup(crowd[-1].close)
            with Peer(daemon.address, hello=False) as over:
                self.assertEqual(over.receive().code, pb.BUSY)
                self.assertTrue(over.at_end())
            self.assertEqual(crowd[-1].call(ping=pb.Ping()).code, pb.OK)

    def test_idle_server_sleeps(self):
        """Clients that ask nothing have no deadlines, and nothing is looked at on their account."""
        if not PLAIN:
            self.skipTest("a sanitizer may have a thread of its own that wakes")
        with start("--threads", "2") as daemon:
            peers = [Peer(daemon.address) for _ in range(4)]
            for peer in peers:
                self.addCleanup(peer.close)
                answers = peer.stream(scan=pb.Scan(chi2_max=25599))
                self.assertEqual([a.code for a in answers], [pb.OK])

            def wakeups():
                total = 0
                for task in os.listdir(f"/proc/{daemon.pid}/task"):
                    with open(f"/proc/{daemon.pid}/task/{task}/status", encoding="utf-8") as file:
                        total += sum(int(line.split()[1]) for line in file
                                     if line.startswith("voluntary_ctxt_switches"))
                return total

            # The main thread wakes every few seconds; all else is quiet between two of its turns.
            before = None
            while before != (before := wakeups()):
                time.sleep(1)
            self.assertEqual(peers[0].call(ping=pb.Ping()).code, pb.OK)

    def test_peers_that_vanish_are_asked_for(self):
        """One that is gone without a word does not keep its place: the kernel asks for it, soon
        enough, while nothing is said."""
        with start(listen=["tcp:127.0.0.1:0"]) as daemon, Peer(daemon.address) as peer:
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            port = int(daemon.address.rpartition(":")[2])

            def timers():
                with open("/proc/net/tcp", encoding="ascii") as file:
                    rows = [line.split() for line in file][1:]
                return [row[5] for row in rows
                        if row[1].endswith(f":{port:04X}") and row[3] == "01"]
            # Kind 2 is the one that is meant; before, an acknowledgement may be on its way.
            wait_for(lambda: all(timer.startswith("02:") for timer in timers()))
            timer, = timers()
            self.assertLessEqual(int(timer[3:], 16), 60 * os.sysconf("SC_CLK_TCK"))

    def test_no_descriptors_left(self):
        """Listening rests and does not spin; it goes on when there are descriptors again."""
        with start("--threads", "1") as daemon, Peer(daemon.address) as early:
            before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
            used = len(os.listdir(f"/proc/{daemon.pid}/fd"))
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + 2, before[1]))
            # What needs some fails, says so, and holds nothing.
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used, before[1]))
            for request in ({"backup": pb.Backup()}, {"verify": pb.Verify()}):
                self.assertEqual(list(early.stream(**request))[-1].code, pb.BUSY)
            self.assertNotEqual(early.call(compact=pb.Compact()).code, pb.OK)
            self.assertEqual(early.call(put=put([7])).code, pb.OK)
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + 2, before[1]))
            crowd = []
            began = time.monotonic()
            for _ in range(20):
                peer = socket.socket(socket.AF_UNIX)
                peer.connect(daemon.address[len("unix:"):])
                crowd.append(peer)
            ticks = cpu_ticks(daemon.pid)
            wait_for(lambda: daemon.stderr_text().count("not accepting for") >= 3)
            rests = daemon.stderr_text().count("not accepting for")
            self.assertLessEqual(rests, 2 + (time.monotonic() - began) / 0.5)
            # Each time the one who has waited longest is let go, by the spare descriptor, unless
            # another thread has just taken that.
            wait_for(lambda: len([p for p in select.select(crowd, [], [], 0)[0]
                                  if p.recv(1) == b""]) >= 2)
            # Three rests last a second at least; spinning would burn all of it.
            spent = (cpu_ticks(daemon.pid) - ticks) / os.sysconf("SC_CLK_TCK")
            self.assertLess(spent, 0.3)
            self.assertLess(daemon.stderr_text().count("\n"), 30)
            self.assertEqual(early.call(ping=pb.Ping()).code, pb.OK)
            for peer in crowd:
                peer.close()
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)
            with Peer(daemon.address) as late:
                self.assertEqual(late.call(ping=pb.Ping()).code, pb.OK)
                for request in ({"backup": pb.Backup()}, {"verify": pb.Verify()}):
                    self.assertEqual(list(late.stream(**request))[-1].code, pb.OK)
                self.assertEqual(late.call(compact=pb.Compact()).code, pb.OK)

    def test_few_descriptors_from_the_start(self):
        limit = ["prlimit", "--nofile=90:90"]
        with start("--threads", "1", wrapper=limit) as daemon:
            # 64 are kept, and four for each thread and each store.
            self.assertIn("taking 18 connections instead of 4096 (descriptors are limited to 90)",
                          daemon.stderr_text())
            with Peer(daemon.address) as peer:
                for _ in range(17):
                    self.addCleanup(Peer(daemon.address).close)
                with Peer(daemon.address, hello=False) as one_more:
                    self.assertEqual(one_more.receive().code, pb.BUSY)
                # Pipes and files are to be had, however many clients there are.
                self.assertEqual(list(peer.stream(verify=pb.Verify()))[-1].code, pb.OK)

    def test_every_limit_of_descriptors(self):
        """From too few for anything to enough: it starts, or says what it could not have."""
        path = harness.make_store()
        listen = "unix:" + os.path.join(harness.make_temp_dir(), "s")
        # A search for leaks at the end would want descriptors, too.
        env = {**os.environ,
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        limit, served = 3, 0
        while served < 3:
            limit += 1
            with subprocess.Popen(["prlimit", f"--nofile={limit}:{limit}", os.environ["CHISTORED"],
                                   "--store", path, "--listen", listen, "--threads", "2",
                                   "--metrics", "tcp:127.0.0.1:0"],
                                  stderr=subprocess.PIPE, encoding="utf-8", env=env) as process:
                lines = []
                for line in process.stderr:
                    lines.append(line)
                    if "ready," in line:
                        process.terminate()
                code = process.wait(60)
            text = f"{limit} descriptors:\n" + "".join(lines)
            if code == 127:
                continue  # the loader has not even found the libraries
            served += code == 0
            self.assertIn(code, (0, 3), text)
            # What counts lines of code has no descriptors either, and says so at the end.
            said = [line for line in lines if line.startswith("chistored: ")]
            self.assertTrue(code == 0 or said[-1].startswith("chistored: error: "), text)
        self.assertIn("listening", text)

    def test_announced_requests_take_no_memory(self):
        """The head of a large request and a byte of it hold no room for the rest, which would keep
        others from theirs."""
        with start("--buffer-bytes", "3200K", "--threads", "1") as daemon:
            with Peer(daemon.address) as polite:
                crowd = [Peer(daemon.address) for _ in range(8)]
                for part in (put_varint(1 << 20), b"\x08", b"\x05" * 5000, b"\x05"):
                    for peer in crowd:
                        peer.socket.sendall(part)
                    # One thread serves all: it has read that when it answers a second time.
                    for _ in range(2):
                        self.assertEqual(polite.call(probe=pb.Probe(fens=[fen(1)])).code, pb.OK)
                # One that is large as well, and comes.
                entries = [pb.PutEntry(fen=fen(n)) for n in range(5000)]
                self.assertEqual(polite.call(put=pb.Put(entries=entries)).code, pb.OK)
                for peer in crowd:
                    peer.close()

    def test_memory_for_buffers(self):
        """A request that does not fit the memory for all clients is refused by its name."""
        with start("--buffer-bytes", "300K", "--threads", "1") as daemon:
            with Peer(daemon.address) as large, Peer(daemon.address) as small:
                fill = pb.Request(id=5, ping=pb.Ping()).SerializeToString()
                fill += b"\xc2\x3e" + bytes([0x80 | 500000 & 127, 0x80 | 500000 >> 7 & 127,
                                             500000 >> 14]) + b"\0" * 500000
                large.socket.sendall(frame(fill))
                self.assertEqual((large.receive_for(5)).code, pb.BUSY)
                self.assertEqual(large.call(ping=pb.Ping()).code, pb.OK)
                self.assertEqual(small.call(ping=pb.Ping()).code, pb.OK)


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
