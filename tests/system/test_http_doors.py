# SPDX-License-Identifier: MIT
"""chistore-http among peers: what one takes leaves something to the others, and what writes is asked for
by no one else than it seems."""

import http.client
import json
import select
import socket
import unittest

import harness
import webserver

HERE, OTHER, PROXY = "127.0.0.1", "127.0.0.2", "127.0.0.3"
BOARD = "8/8/8/3k4/8/3P4/3K4/8_w"
QUEUE = "/cdb.php?action=queue&board=" + BOARD


def connect(server, source=HERE, unread=False):
    peer = socket.socket()
    if unread:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.settimeout(60)
    peer.bind((source, 0))
    peer.connect((HERE, server.port))
    return peer


def ask(server, path="/api/info", source=HERE, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection(HERE, server.port, timeout=60, source_address=(source, 0))
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


class TestShares(unittest.TestCase):
    def setUp(self):
        self.peers = []
        self.addCleanup(lambda: [peer.close() for peer in self.peers])

    def connect(self, *args, **more):
        self.peers.append(connect(*args, **more))
        return self.peers[-1]

    def test_answers_that_one_does_not_read(self):
        """300 connections of one peer cost all others 503 until they were cut off."""
        with webserver.start(webserver.make_store(), "--threads", "1", "--send-timeout", "600000") as server:
            size = len(ask(server, "/main.js")[1])
            requests = b"GET /main.js HTTP/1.1\r\n\r\n" * ((4 << 20) // size)
            def refused():
                return b'class="5xx"} 0\n' not in ask(server, "/metrics", OTHER)[1]
            for _ in range(300):
                self.connect(server, unread=True).sendall(requests)
            harness.wait_for(refused)
            self.assertEqual([ask(server, source=OTHER)[0] for _ in range(50)], [200] * 50)

    def test_connections_of_one(self):
        """Each has sent a part of a request, so that none can be closed for another."""
        head = b"POST /api/pgn HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        with webserver.start(webserver.make_store(), "--threads", "1", "--max-connections", "19") as server:
            answers = []
            for _ in range(15):
                peer = self.connect(server)
                try:
                    peer.sendall(head)
                    answers.append(peer.recv(12))
                except ConnectionError:
                    answers.append(b"")
            self.assertEqual((answers.count(b"HTTP/1.1 100"), answers.count(b"")), (10, 5))
            self.assertEqual(ask(server, source=OTHER)[0], 200)
            for peer in self.peers:
                peer.close()

    def test_an_answer_is_sent_to_its_end(self):
        """The connection that it was sent by was closed to make room for another one."""
        with webserver.start(webserver.make_store(), "--threads", "1", "--max-connections", "3") as server:
            n = (8 << 20) // len(ask(server, "/main.js")[1])
            first = self.connect(server, unread=True)
            first.sendall(b"GET /main.js HTTP/1.1\r\n\r\n" * n + b"GET /main.js HTTP/1.1\r\nConnection: close\r\n\r\n")
            select.select([first], [], [], 60)
            for _ in range(3):
                other = self.connect(server)
                other.sendall(b"GET /api/info HTTP/1.1\r\n\r\n")
                self.assertEqual(other.recv(12), b"HTTP/1.1 200")
            answers = b"".join(iter(lambda: first.recv(65536), b""))
            self.assertEqual(answers.count(b"HTTP/1.1 200 "), n + 1)

    def test_a_body_leaves_requests_without_one(self):
        """Who sent a large body was refused everything else meanwhile, where many loops share the memory."""
        head = b"PUT /import/lichess HTTP/1.1\r\nContent-Length: 16777216\r\nExpect: 100-continue\r\n\r\n"
        with webserver.start(webserver.make_store(), "--threads", "16") as server:
            taken = 0
            while taken < 16:
                peer = self.connect(server)
                peer.sendall(head)
                taken += peer.recv(12) == b"HTTP/1.1 100"
                self.assertLess(len(self.peers), 1000)
            self.assertEqual({ask(server)[0] for _ in range(50)}, {200})

    def test_places_in_the_queue(self):
        """One peer's wait for a daemon that stands still; another's is taken, too."""
        with harness.start_daemon({"default": webserver.make_store()}) as daemon, webserver.start(
                daemon.address, "--threads", "1", "--workers", "2", "--max-waiting", "4",
                "--trust-proxy", PROXY) as server:
            self.fill_queue(server, daemon, (HERE, b""), (OTHER, b""))
            # Behind a proxy peers are who it says; who says so himself is no one else.
            self.fill_queue(server, daemon, (PROXY, b"X-Forwarded-For: 10.0.0.2, 10.0.0.1\r\n"),
                            (PROXY, b"X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\n"))
            self.fill_queue(server, daemon, (HERE, b"X-Forwarded-For: 10.0.0.1\r\n"),
                            (HERE, b"X-Forwarded-For: 10.0.0.2\r\n"), served=False)

    def fill_queue(self, server, daemon, one, other, served=True):
        def send(peer, fields):
            peer.sendall(b"GET /api/games HTTP/1.1\r\nConnection: close\r\n" + fields + b"\r\n")
            return peer
        self.assertEqual(ask(server, "/api/games")[0], 200)
        daemon.freeze()
        try:
            # Of two workers it has one, and of four places two.
            peers = []
            for count in (b"running 1", b"waiting 1", b"waiting 2"):
                peers.append(send(self.connect(server, one[0]), one[1]))
                harness.wait_for(lambda wanted=b"\nchistore_http_%s\n" % count:
                                 wanted in ask(server, "/metrics")[1])
            peers += [send(self.connect(server, one[0]), one[1]) for _ in range(7)]
            refused = set()
            while len(refused) < 7:
                refused.update(select.select([p for p in peers if p not in refused], [], [], 60)[0])
            last = send(self.connect(server, other[0]), other[1])
            if not served:
                select.select([last], [], [], 60)
        finally:
            daemon.thaw()
        answers = [b"".join(iter(lambda p=peer: p.recv(65536), b"")) for peer in peers]
        self.assertEqual(sum(answer.startswith(b"HTTP/1.1 200 ") for answer in answers), 3)
        self.assertEqual(last.recv(12), b"HTTP/1.1 200" if served else b"HTTP/1.1 503")


class TestWrites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        store = webserver.make_store()
        cls.daemon = cls.enterClassContext(harness.start_daemon({"default": store}))
        cls.server = cls.enterClassContext(webserver.start(store, "--write-to", cls.daemon.address, "--host", "chess.example",
                                                           "--trust-proxy", PROXY))

    def lines(self, name, count):
        """That many lines of the log have this in them."""
        harness.wait_for(lambda: sum(name in line for line in self.server.lines) >= count)
        found = [line for line in self.server.lines if name in line]
        self.assertEqual(len(found), count, found)
        return found

    def test_names_that_lead_here(self):
        """A page whose name was made to lead here sends its own name; what only reads is answered."""
        port = self.server.port
        writes = ((QUEUE, "GET", None), ("/import/lichess", "PUT", "[]"),
                  (f"/cdb.php?action=store&board={BOARD}&move=move:d3d4", "GET", None))
        bad = ("evil.example", f"evil.example:{port}", "192.0.2.1", "127.0.0.1.evil.example",
               "localhost.evil.example", "x.www.chessdb.cn", "[2001:db8::1]")
        good = ("localhost", f"127.0.0.1:{port}", "127.9.9.9", "[::1]:80", "CHESS.example", "www.chessdb.cn",
                "explorer.lichess.ovh", "explorer.lichess.org:80")
        before = sum(" refused with 403 " in line for line in self.server.lines)
        for path, method, body in writes:
            for host in bad:
                status, content = ask(self.server, path, OTHER, method, body, Host=host)
                self.assertEqual(status, 403, (path, host))
                self.assertIn("--host", json.loads(content)["error"])
            for host in good:
                self.assertEqual(ask(self.server, path, method=method, body=body, Host=host)[0], 200, host)
        for host in bad:
            self.assertEqual(ask(self.server, "/api/info", Host=host)[0], 200)
            self.assertEqual(ask(self.server, f"/cdb.php?action=queryall&board={BOARD}", Host=host)[0], 200)
        refusals = self.lines(" refused with 403 ", before + len(bad) * len(writes))[before:]
        self.assertTrue(all(f"by '{OTHER}:" in line for line in refusals), refusals)

    def test_who_asked_through_a_proxy(self):
        """The absolute form is what proxies are asked by, and its host counts."""
        def raw(target, host):
            return self.server.raw(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
                                   .encode())[:12]
        self.assertEqual(raw("http://www.chessdb.cn" + QUEUE, "www.chessdb.cn"), b"HTTP/1.1 200")
        self.assertEqual(raw("http://evil.example" + QUEUE, "localhost"), b"HTTP/1.1 403")
        self.assertEqual(self.server.raw(b"GET " + QUEUE.encode() + b"\n"), b"ok\0")

    def test_every_write_is_a_line(self):
        for number in range(25):
            fields = {"X-Forwarded-For": f"203.0.113.1, 203.0.113.{number + 100}"}
            self.assertEqual(ask(self.server, QUEUE + "&n=1", PROXY, **fields)[0], 200)
        lines = self.lines("n=1' by ", 25)
        for number, line in enumerate(lines):
            self.assertIn(f"by '203.0.113.{number + 100}' answered with 200", line)
        ask(self.server, QUEUE + "&n=2", OTHER, **{"X-Forwarded-For": "203.0.113.9"})
        self.assertIn(f"by '{OTHER}:", self.lines("n=2' by ", 1)[0])
        for _ in range(2):
            ask(self.server, "/cdb.php?action=queryall&board=8/8/8/3k4/8/8/3K4/7Q_w&n=3")
        self.lines("n=3' by ", 1)
