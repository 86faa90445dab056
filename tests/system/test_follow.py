# SPDX-License-Identifier: MIT
"""Readers move to the newest copy at their path: a read-only daemon, chistore-http and a prober, under
clients that never stop. A copy has one number in all its positions, by which its answers are known."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

import harness
import pychistore
import webserver

sys.path.insert(0, os.environ["CHISTORE_PYTHON"])

if os.environ.get("CHISTORE_SANITIZE", "none") != "none":
    print("# skipped: Python has no sanitizer's run time")
    sys.exit(77)

import chistore  # pylint: disable=wrong-import-position

EXCHANGES = harness.rounds(200)


def position(i):
    """A knight and a pawn on 40 pairs of squares."""
    def rank(file, piece):
        return f"{file or ''}{piece}{7 - file or ''}"
    return f"7k/8/8/{rank(i % 8, 'N')}/{rank(i // 8, 'P')}/8/8/K7 w - - 0 1"


POSITIONS = [position(i) for i in range(40)]


class Mixed(Exception):
    """An answer of two copies, or an older one after a newer."""


def number_of(rows):
    numbers = {row.counts[0] for row in rows}
    if len(numbers) != 1:
        raise Mixed(f"an answer has the numbers {sorted(numbers)}")
    return numbers.pop()


class Reader(threading.Thread):
    """Asks again and again; `ask` gives the number of an answer. Numbers never fall."""

    def __init__(self, name, ask):
        super().__init__(name=name, daemon=True)
        self.ask, self.seen, self.answers, self.failure, self.ends = ask, 0, 0, None, False

    def run(self):
        try:
            while not self.ends:
                number = self.ask()
                if number < self.seen:
                    raise Mixed(f"{self.name}: {number} after {self.seen}")
                self.seen = number
                self.answers += 1
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error


class Web:
    """One connection to chistore-http, which asks the workers and the kept answers in turn."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.turn = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise AssertionError((path, answer.status, text))
        return text

    def ask(self):
        self.turn += 1
        if self.turn % 2:
            return json.loads(self.get("/api/position?fen=" + POSITIONS[0].replace(" ", "_")))["white"]
        rows = [json.loads(line) for line in self.get("/api/scan").splitlines()]
        numbers = {row["white"] for row in rows if "white" in row}
        if len(numbers) != 1 or len(rows) != len(POSITIONS) + 1:
            raise Mixed(f"a stream of {len(rows)} has the numbers {sorted(numbers)}")
        return numbers.pop()


def held(pid):
    """Descriptors and mapped data files of a process."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        maps = [line for line in file if "data.mdb" in line]
    return len(os.listdir(f"/proc/{pid}/fd")), len(maps), sum("(deleted)" in line for line in maps)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_back(pid, before):
    """None of the three is more than it was."""
    return all(now <= then for now, then in zip(held(pid), before))


def counter(address, name):
    """Of the page of either server, which has one store."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as page:
        number, = re.findall(f"^{name}(?:{{.*}})? (\\d+)$", page.read().decode(), re.MULTILINE)
    return int(number)


def looks_of_daemon(daemon):
    address = re.search("counters are at 'http://([^/ ]+)/metrics'", daemon.stderr_text())
    return lambda: counter(address.group(1), "chistore_store_looks_total")


def looks_of_web(web):
    return lambda: counter(f"127.0.0.1:{web.port}", "chistore_http_looks_total")


def wait_for_looks(*readers):
    """What was done before is seen, and what could follow from that is done, by the second look that
    begins from here on; the third one tells that it has ended."""
    for looks in readers:
        end = looks() + 3
        harness.wait_for(lambda looks=looks, end=end: looks() >= end)


class TestFollow(unittest.TestCase):
    def setUp(self):
        self.dir = harness.make_temp_dir()
        self.store = harness.make_store(os.path.join(self.dir, "store"))
        self.path = os.path.join(self.dir, "copy")
        self.number = 0

    def publish(self, where, number=None):
        """A copy in which all positions have the next number, or that one."""
        self.number = number or self.number + 1
        with chistore.open(self.store, writable=True) as store:
            store.put(*(chistore.Put(fen, counts=(self.number, 0, 0, 0)) for fen in POSITIONS))
        return self.copy(where)

    def copy(self, where):
        done = harness.run_cli("publish", where, address=self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        return where

    def daemon(self, *options, path=None):
        return harness.start_daemon({"default": path or self.path},
                                    extra_args=["--read-only", "--metrics", "tcp:127.0.0.1:0",
                                                *options])

    def seen(self, daemon):
        with chistore.open(daemon.address) as store:
            return number_of(store.probe(POSITIONS))

    def web_number(self, web):
        with Web(web.port) as page:
            return page.ask()

    def wait_until_seen(self, daemon, number, seconds=60):
        end = time.monotonic() + seconds
        while self.seen(daemon) != number:
            self.assertLess(time.monotonic(), end, daemon.stderr_text())
            time.sleep(0.01)

    # ---- Exchanged under readers

    def exchange_by_name(self):
        self.publish(self.path)

    def exchange_by_link(self):
        old = os.path.realpath(self.path)
        new = self.publish(os.path.join(self.dir, f"copy-{self.number + 1}"))
        os.symlink(os.path.basename(new), self.path + ".new")
        os.rename(self.path + ".new", self.path)
        shutil.rmtree(old, ignore_errors=True)

    def under_readers(self, exchange):
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(self.daemon())
            web = stack.enter_context(webserver.start(self.path, "--public-read"))
            held_before = held(daemon.pid), held(web.pid)
            with contextlib.ExitStack() as clients:
                client = clients.enter_context(chistore.open(daemon.address))
                scanner = clients.enter_context(chistore.open(daemon.address))
                local = clients.enter_context(chistore.open(self.path))
                prober = clients.enter_context(local.prober())

                def follow():
                    prober.follow()
                    return number_of(prober.probe_many(POSITIONS))
                pages = [Web(web.port) for _ in range(2)]
                readers = [Reader("probe", lambda: number_of(client.probe(POSITIONS))),
                           Reader("scan", lambda: number_of(scanner.scan())),
                           Reader("prober", follow), *(Reader("web", page.ask) for page in pages)]
                for reader in readers:
                    reader.start()
                for i in range(EXCHANGES):
                    exchange()
                    if i % 4:
                        os.kill(daemon.pid, signal.SIGHUP)
                        os.kill(web.pid, signal.SIGHUP)
                end = time.monotonic() + 30
                while any(reader.seen < self.number and reader.failure is None for reader in readers):
                    self.assertLess(time.monotonic(), end, [reader.seen for reader in readers])
                    time.sleep(0.05)
                for reader in readers:
                    reader.ends = True
                for reader in readers:
                    reader.join(60)
                    self.assertIsNone(reader.failure)
                    self.assertGreater(reader.answers, EXCHANGES / 10)
                # Without moving it is on the first one still.
                self.assertTrue(local.changed())
                self.assertEqual(number_of(local.probe(POSITIONS)), 1)
                for page in pages:
                    page.connection.close()
            harness.wait_for(lambda: is_back(daemon.pid, held_before[0]))
            harness.wait_for(lambda: is_back(web.pid, held_before[1]))
            said = daemon.stderr_text()
            self.assertGreater(said.count("is read from the newer copy"), EXCHANGES / 10, said)
            self.assertNotIn("is not moved to", said)
            self.assertIn("is read from the newer copy", "".join(web.lines))

    def test_exchanged_by_name(self):
        self.publish(self.path)
        self.under_readers(self.exchange_by_name)

    def test_exchanged_by_link(self):
        os.symlink(os.path.basename(self.publish(os.path.join(self.dir, "copy-1"))), self.path)
        self.under_readers(self.exchange_by_link)

    def mount(self):
        """The store as it is now, as a snapshot that is mounted read-only."""
        self.number += 1
        with chistore.open(self.store, writable=True) as store:
            store.put(*(chistore.Put(fen, counts=(self.number, 0, 0, 0)) for fen in POSITIONS))
        name = os.path.join(self.dir, f"snapshot-{self.number}")
        os.mkdir(name)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", name], check=True)
        for file in os.listdir(self.store):
            shutil.copy(os.path.join(self.store, file), name)
        subprocess.run(["mount", "-o", "remount,ro", name], check=True)
        return name

    def exchange_by_mount(self):
        old = os.path.realpath(self.path)
        os.symlink(os.path.basename(self.mount()), self.path + ".new")
        os.rename(self.path + ".new", self.path)
        subprocess.run(["umount", "--lazy", old], check=True)
        os.rmdir(old)

    def test_exchanged_by_mount(self):
        """Snapshots of a store that lives, which have lock files that cannot be written."""
        if not harness.own_mounts():
            self.skipTest("may not mount")
        os.symlink(os.path.basename(self.mount()), self.path)
        done = harness.run_cli("--json", "info", address=self.path)
        self.assertEqual(json.loads(done.stdout)["read_only"], "media", done.stderr)
        self.under_readers(self.exchange_by_mount)

    def test_a_live_store_that_is_mounted_read_only(self):
        """Another mount writes it."""
        if not harness.own_mounts():
            self.skipTest("may not mount")
        os.symlink(os.path.basename(self.mount()), self.path)
        number = self.number
        live = os.path.join(self.dir, "live")
        os.mkdir(live)
        subprocess.run(["mount", "--bind", self.store, live], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", live], check=True)
        with self.daemon() as daemon:
            os.symlink("live", self.path + ".new")
            os.rename(self.path + ".new", self.path)
            harness.wait_for(lambda: "is not moved to" in daemon.stderr_text())
            wait_for_looks(looks_of_daemon(daemon))
            self.assertEqual(self.seen(daemon), number)
        done = harness.run_cli("--json", "info", address=live)
        self.assertIsNone(json.loads(done.stdout)["read_only"], done.stderr)

    def test_a_file_that_is_exchanged(self):
        """The directory stays."""
        self.publish(self.path)
        with self.daemon() as daemon, webserver.start(self.path, "--public-read") as web:
            for _ in range(3):
                new = self.publish(os.path.join(self.dir, "new"))
                os.rename(os.path.join(new, "data.mdb"), os.path.join(self.path, "data.mdb"))
                shutil.rmtree(new)
                self.wait_until_seen(daemon, self.number)
                harness.wait_for(lambda: self.web_number(web) == self.number)
            harness.wait_for(lambda: (held(daemon.pid)[1:], held(web.pid)[2]) == ((1, 0), 0))

    # ---- How it is told to

    def test_it_is_told_by_a_signal(self):
        """Ten times in half of the time that the timer alone takes, two seconds each."""
        self.publish(self.path)
        with self.daemon() as daemon:
            waited = 0
            for _ in range(10):
                self.publish(self.path)
                begun = time.monotonic()
                os.kill(daemon.pid, signal.SIGHUP)
                self.wait_until_seen(daemon, self.number)
                waited += time.monotonic() - begun
            self.assertLess(waited, 10)

    def test_it_looks_by_itself(self):
        self.publish(self.path)
        with self.daemon() as daemon:
            self.publish(self.path)
            self.wait_until_seen(daemon, self.number)

    def test_it_says_what_it_serves(self):
        self.publish(self.path)
        with self.daemon() as daemon:
            address = re.search("counters are at 'http://([^/ ]+)/metrics'", daemon.stderr_text())
            before = int(time.time())
            self.publish(self.path)
            self.wait_until_seen(daemon, self.number)
            with chistore.open(self.path) as copy, chistore.open(daemon.address) as client:
                want, told = copy.info(), client.info()
                self.assertEqual((told["sequence"], told["uuid"]), (want["sequence"], want["uuid"]))
            done = harness.run_cli("--json", "ping", "--store", address=daemon.address)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(counter(address.group(1), "chistore_store_moves_total"), 1)
            at = counter(address.group(1), "chistore_store_moved_timestamp_seconds")
            self.assertTrue(before <= at <= time.time(), at)

    # ---- What is there is not newer, or not good

    def test_a_broken_copy_is_refused(self):
        self.publish(self.path)
        with self.daemon() as daemon, webserver.start(self.path, "--public-read") as web:
            number = self.number
            good = self.publish(os.path.join(self.dir, "good"))
            kept = os.path.join(self.dir, "kept")
            os.rename(self.path, kept)
            os.mkdir(self.path)
            with open(os.path.join(self.path, "data.mdb"), "wb") as file:
                file.write(b"no store" * 4096)
            for line in (daemon.stderr_text, lambda: "".join(web.lines)):
                harness.wait_for(lambda line=line: "is not moved to" in line())
            wait_for_looks(looks_of_daemon(daemon), looks_of_web(web))
            self.assertEqual((self.seen(daemon), self.web_number(web)), (number, number))
            self.assertEqual(daemon.stderr_text().count("is not moved to"), 1)
            self.assertEqual("".join(web.lines).count("is not moved to"), 1)
            os.kill(daemon.pid, signal.SIGHUP)
            harness.wait_for(lambda: daemon.stderr_text().count("is not moved to") == 2)
            shutil.rmtree(self.path)
            harness.wait_for(lambda: "not there any more" in daemon.stderr_text())
            self.assertEqual((self.seen(daemon), self.web_number(web)), (number, number))
            os.rename(good, self.path)
            self.wait_until_seen(daemon, self.number)
            harness.wait_for(lambda: self.web_number(web) == self.number)

    def test_an_older_copy_and_another_store(self):
        old = self.publish(os.path.join(self.dir, "old"))
        self.publish(self.path)
        with self.daemon() as daemon:
            os.rename(self.path, os.path.join(self.dir, "first"))
            os.rename(old, self.path)
            self.wait_until_seen(daemon, 1)
            said = re.compile("is read from an older copy at .*: its sequence is 1, that of the one before 2\n")
            harness.wait_for(lambda: said.search(daemon.stderr_text()))
            shutil.rmtree(self.store)
            harness.make_store(self.store)
            self.publish(self.path, 77)
            self.wait_until_seen(daemon, 77)
            harness.wait_for(lambda: "is read from another store at" in daemon.stderr_text())

    def test_a_writer_does_not_move(self):
        log = os.path.join(self.dir, "log")
        with harness.start_daemon({"default": self.store}, extra_args=["--log-file", log]) as daemon:
            with chistore.open(daemon.address) as client:
                client.put(*(chistore.Put(fen, counts=(5, 0, 0, 0)) for fen in POSITIONS))
            os.rename(self.store, self.store + ".old")
            harness.make_store(self.store)
            os.kill(daemon.pid, signal.SIGHUP)
            harness.wait_for(lambda: "reopened log" in text_of(log))
            # What looks at paths reads the disk before: the second answer comes after a whole turn.
            for _ in range(2):
                done = harness.run_cli("ping", "--store", address=daemon.address)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.seen(daemon), 5)
            self.assertNotIn("is read from", text_of(log))

    # ---- What had begun

    def publish_games(self):
        """More than a window of a client that does not read."""
        done = harness.run_cli("import", os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn",
                                                      "games_300.pgn"), address=self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.copy(self.path)

    def test_a_query_ends_where_it_began(self):
        """The old copy is closed, and its space free, once the last query on it has ended."""
        self.publish_games()
        with self.daemon() as daemon, pychistore.Client(daemon.address) as client:
            want = [row.key for row in client.scan().rows]
            fds = held(daemon.pid)[0]
            scan = client.start_scan(window=1)
            first = client.answer(scan)
            self.assertFalse(first.last)
            self.store = harness.make_store(self.store + ".2")
            self.publish(self.path)
            os.kill(daemon.pid, signal.SIGHUP)
            self.wait_until_seen(daemon, self.number)
            # At least two of the timer's periods: longer than a query keeps a snapshot.
            wait_for_looks(looks_of_daemon(daemon))
            self.assertEqual(held(daemon.pid)[1:], (2, 1))
            client.credit(scan, 1000)
            parts = [first.scan, *(response.scan for response in client.stream(scan))]
            got = [row.key for part in parts for row in pychistore.unpack_rows(part.rows, part.count)]
            self.assertEqual(got, want)
            harness.wait_for(lambda: held(daemon.pid)[1:] == (1, 0))
            self.assertEqual(len(client.scan().rows), len(POSITIONS))
            harness.wait_for(lambda: held(daemon.pid)[0] == fds)

    def test_a_stream_ends_where_it_began(self):
        """The same of a stream over HTTP, whose client reads a little of it: of 7 MB, as systems keep 4
        for a connection."""
        ranks = [f"{i or ''}{piece}{7 - i or ''}" for i in range(8) for piece in "NBRnb"]
        boards = [f"7k/8/{a}/{b}/{c}/8/8/K7 w - - 0 1" for a in ranks for b in ranks for c in ranks]
        with chistore.open(self.store, writable=True) as store:
            for i in range(0, len(boards), 10000):
                store.put(*(chistore.Put(fen, counts=(1, 0, 0, 0)) for fen in boards[i:i + 10000]))
        self.copy(self.path)
        with webserver.start(self.path, "--public-read") as web, Web(web.port) as page:
            want = page.get("/api/scan")
            with self.stream(web) as answer, self.stream(web) as left:
                first = answer.read(1000)
                self.store = harness.make_store(self.store + ".2")
                self.publish(self.path)
                os.kill(web.pid, signal.SIGHUP)
                harness.wait_for(lambda: self.web_number(web) == self.number)
                left.close()
                wait_for_looks(looks_of_web(web))
                self.assertEqual(held(web.pid)[1:], (2, 1))
                self.assertEqual((first + answer.read()).decode(), want)
                harness.wait_for(lambda: held(web.pid)[1:] == (1, 0))

    @contextlib.contextmanager
    def stream(self, web):
        """The answer, of which little is taken at once; it alone has the connection."""
        with socket.socket() as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            own.connect(("127.0.0.1", web.port))
            own.sendall(b"GET /api/scan HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = http.client.HTTPResponse(own, method="GET")
        with contextlib.closing(answer):
            answer.begin()
            yield answer

    def test_queries_that_stand_still_keep_two_copies(self):
        """Of what was begun on an older one than that, the client is told."""
        self.publish_games()
        with self.daemon() as daemon, contextlib.ExitStack() as clients:
            idle = []
            for turn in range(4):
                client = clients.enter_context(pychistore.Client(daemon.address))
                scan = client.start_scan(window=1)
                self.assertFalse(client.answer(scan).last)
                idle.append((client, scan))
                if turn < 3:
                    self.publish(self.path)
                    os.kill(daemon.pid, signal.SIGHUP)
                    self.wait_until_seen(daemon, self.number)
            harness.wait_for(lambda: held(daemon.pid)[1] <= 2)
            for client, scan in idle[:2]:
                with self.assertRaisesRegex(Exception, "newer copies"):
                    client.credit(scan, 1000)
                    list(client.stream(scan))
            for client, scan in idle[2:]:
                client.credit(scan, 1000)
                self.assertTrue(list(client.stream(scan))[-1].last)

    def test_what_has_locks_is_not_moved_to(self):
        """A store that lives, and a copy with a pipe as lock file: nothing of them is opened, and both
        end at once when they are told to."""
        self.publish(self.path)
        new = os.path.join(self.dir, "new")
        kept = os.path.join(self.dir, "kept")
        number = self.number
        with self.daemon() as daemon, webserver.start(self.path, "--public-read") as web:
            for make in (self.make_live, self.make_piped):
                make(new)
                said = daemon.stderr_text().count("is not moved to"), "".join(web.lines).count("is not moved to")
                os.rename(self.path, kept)
                os.rename(new, self.path)
                before = sorted(os.listdir(self.path))
                for server, lines, seen in ((daemon, daemon.stderr_text, said[0]),
                                            (web, lambda: "".join(web.lines), said[1])):
                    os.kill(server.pid, signal.SIGHUP)
                    harness.wait_for(lambda lines=lines, seen=seen: lines().count("is not moved to") > seen)
                wait_for_looks(looks_of_daemon(daemon), looks_of_web(web))
                self.assertEqual((self.seen(daemon), self.web_number(web)), (number, number))
                self.assertEqual(sorted(os.listdir(self.path)), before)
                shutil.rmtree(self.path)
                os.rename(kept, self.path)
            self.publish(self.path)
            self.wait_until_seen(daemon, self.number)
            harness.wait_for(lambda: self.web_number(web) == self.number)

    def make_live(self, where):
        harness.make_store(where)

    def make_piped(self, where):
        shutil.copytree(self.path, where)
        os.mkfifo(os.path.join(where, "chistore.lock"))

    def test_a_store_that_lives_is_not_left(self):
        other = harness.make_store(os.path.join(self.dir, "other"))
        with self.daemon(path=self.store) as daemon, webserver.start(self.store, "--public-read") as web:
            os.rename(self.store, self.store + ".old")
            os.rename(other, self.store)
            for server, lines in ((daemon, daemon.stderr_text), (web, lambda: "".join(web.lines))):
                os.kill(server.pid, signal.SIGHUP)
                harness.wait_for(lambda lines=lines: "is not moved to (the one that is open" in lines())
            self.assertNotIn("is read from another", daemon.stderr_text() + "".join(web.lines))

    def test_files_of_a_store_that_lives(self):
        """What cannot be read any more is not served for ever: both end, with an error."""
        daemon = self.daemon(path=self.store)
        web = webserver.start(self.store, "--public-read")
        self.addCleanup(daemon.kill)
        self.addCleanup(web.process.kill)
        new = os.path.join(self.dir, "new")
        shutil.copy(os.path.join(self.store, "data.mdb"), new)
        os.rename(new, os.path.join(self.store, "data.mdb"))
        self.publish(self.path)
        self.publish(self.path)
        harness.wait_for(lambda: "stopping: store" in daemon.stderr_text())
        harness.wait_for(lambda: "stopping: the files of the store" in "".join(web.lines))
        self.assertNotEqual(daemon.process.wait(30), 0)
        self.assertNotEqual(web.process.wait(30), 0)

    def test_a_copy_of_another_kind(self):
        self.publish(self.path)
        with self.daemon() as daemon, webserver.start(self.path, "--public-read") as web:
            shutil.rmtree(self.store)
            harness.make_store(self.store, statistic="outcome")
            self.copy(self.path)
            for lines in (daemon.stderr_text, lambda: "".join(web.lines)):
                harness.wait_for(lambda lines=lines: "has the outcome statistic now" in lines())

    def test_the_check_finds_what_is_mixed(self):
        """What all of the above rests on."""
        row = chistore.Row(None, True, None, (1, 0, 0, 0), None, None, None, None, None)
        with self.assertRaises(Mixed):
            number_of([row, row._replace(counts=(2, 0, 0, 0))])
        numbers = iter((1, 2, 1))
        reader = Reader("any", lambda: next(numbers))
        reader.start()
        reader.join()
        self.assertIsInstance(reader.failure, Mixed)
