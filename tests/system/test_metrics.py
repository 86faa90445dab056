# SPDX-License-Identifier: MIT
"""The page of counters: its format by the letter, what it counts, and what else HTTP gets there."""

import os
import re
import select
import socket
import time
import unittest

import harness
from harness import wait_for
from peer import Peer, fen, put
from pychistore import pb

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
VALUE = re.compile(r"[0-9]+(\.[0-9]+)?$")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}

# Operations by the histogram that they share.
CLASSES = {
    "session": ["hello", "ping", "info", "games", "credit", "cancel"],
    "probe": ["probe"],
    "get": ["get", "explore"],
    "scan": ["scan", "count"],
    "write": ["put", "delete"],
    "import": ["import", "import_data", "import_end"],
    "store": ["backup", "verify", "compact", "rescore"],
}


class Malformed(Exception):
    pass


def require(good, what):
    if not good:
        raise Malformed(what)


def parse_labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        require(match and match.group(1) not in labels, f"labels {text!r}")
        labels[match.group(1)] = match.group(2)
        at = match.end()
        require(match.group(3) == "," or at == len(text), f"labels {text!r}")
    return labels


class Page:
    """A page by the rules of the text format, and stricter: each family has HELP, then TYPE, then
    its samples, together and once."""

    def __init__(self, text):
        require(text.endswith("\n"), "no newline at the end")
        self.types, self.samples = {}, {}
        family, helped = None, None
        for line in text[:-1].split("\n"):
            if line.startswith("# HELP "):
                name, words = line[7:].split(" ", 1)
                require(re.fullmatch(NAME, name) and name not in self.types, line)
                require(words and not re.search(r"\\(?![\\n])", words), line)
                helped = name
            elif line.startswith("# TYPE "):
                family, kind = line[7:].split(" ")
                require(family == helped and kind in SUFFIXES, line)
                self.types[family] = kind
                require(kind != "counter" or family.endswith("_total"), line)
                require(kind == "counter" or not family.endswith("_total"), line)
            else:
                self.take_sample(line, family)
        self.check_histograms()

    def take_sample(self, line, family):
        match = SAMPLE.match(line)
        require(match and family and match.group(1).startswith(family), line)
        require(match.group(1)[len(family):] in SUFFIXES[self.types[family]], line)
        require(VALUE.match(match.group(3)), line)
        labels = parse_labels(match.group(2) or "")
        key = (match.group(1), tuple(sorted(labels.items())))
        require(key not in self.samples, "twice: " + line)
        self.samples[key] = float(match.group(3))

    def check_histograms(self):
        for family in [f for f, kind in self.types.items() if kind == "histogram"]:
            series = {}
            for (name, labels), value in self.samples.items():
                if name == family + "_bucket":
                    rest = tuple(pair for pair in labels if pair[0] != "le")
                    series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
            require(series, family)
            for rest, buckets in series.items():
                require(buckets == sorted(buckets), f"{family}: order of bounds")
                counts = [count for _, count in buckets]
                require(counts == sorted(counts), f"{family}: counts fall")
                require(buckets[-1][0] == float("inf"), f"{family}: no +Inf")
                require(self.samples[(family + "_count", rest)] == counts[-1], family)
                require((family + "_sum", rest) in self.samples, family)

    def get(self, name, **labels):
        return self.samples[(name, tuple(sorted(labels.items())))]

    def total(self, name, **labels):
        wanted = set(labels.items())
        return sum(value for (found, pairs), value in self.samples.items()
                   if found == name and wanted <= set(pairs))

    def growing(self):
        """Samples that must never fall."""
        return {key: value for key, value in self.samples.items()
                if self.types.get(key[0]) != "gauge"}


def exchange(address, data):
    """Sends bytes, reads to the end."""
    with socket.create_connection(address, timeout=30) as peer:
        peer.sendall(data)
        got = b""
        while part := peer.recv(65536):
            got += part
    return got


def ask(address, target="/metrics", method="GET", more=""):
    """Status, headers in lower case, body."""
    got = exchange(address, f"{method} {target} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode())
    head, _, body = got.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body.decode()


def start(**options):
    extra = ["--metrics", "tcp:127.0.0.1:0", *options.pop("extra_args", ())]
    daemon = harness.start_daemon(extra_args=extra, **options)
    match = re.search(r"counters are at 'http://127\.0\.0\.1:(\d+)/metrics'", daemon.stderr_text())
    daemon.metrics = ("127.0.0.1", int(match.group(1)))
    return daemon


def scrape(daemon):
    status, headers, body = ask(daemon.metrics)
    assert status == 200, status
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8", headers
    return Page(body)


class TestParser(unittest.TestCase):
    """The check itself must be able to fail."""

    GOOD = ("# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"1\"} 1\n"
            "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 2\n"
            "h_sum 3.5\nh_count 2\n")

    def test_a_good_page_passes(self):
        Page(self.GOOD)

    def test_bad_pages_do_not(self):
        for before, after in (
                ("# HELP a_total A.\n", ""), ("# TYPE a_total counter\n", ""),
                ("a_total{x=\"1\"} 1\n", "a_total{x=\"1\"} 1\na_total{x=\"1\"} 2\n"),
                ("x=\"1\"", "x=\"\\q\""), ("x=\"1\"", "x=1"), ("} 1\n# HELP h", "} x\n# HELP h"),
                ("h_count 2", "h_count 3"), ("le=\"0.1\"} 1", "le=\"0.1\"} 3"),
                ("h_bucket{le=\"+Inf\"} 2\n", ""), ("h_sum 3.5\n", ""), ("counter", "gauge"),
                ("h_count 2\n", "h_count 2")):
            text = self.GOOD.replace(before, after)
            self.assertNotEqual(text, self.GOOD)
            with self.assertRaises((Malformed, KeyError), msg=text):
                Page(text)


class TestPage(unittest.TestCase):
    def test_the_format_holds_from_the_start(self):
        with start() as daemon:
            page = scrape(daemon)
            self.assertEqual(page.total("chistore_operation_seconds_count"), 0)
            self.assertEqual(page.total("chistore_operations_total"), 0)
            self.assertGreater(page.get("chistore_store_file_bytes", store="default"), 0)
            self.assertGreater(page.get("chistore_store_disk_free_bytes", store="default"), 0)
            version = [dict(labels)["version"] for (name, labels) in page.samples
                       if name == "chistore_build_info"]
            self.assertRegex(version[0], r"^\d+\.\d+\.\d+$")

    def test_operations_are_counted_by_name_and_result(self):
        with start(extra_args=["--threads", "2"]) as daemon:
            peers = [Peer(daemon.address) for _ in range(4)]
            for n, peer in enumerate(peers):
                self.assertEqual(peer.call(put=put(range(n * 10, n * 10 + 10))).code, pb.OK)
                for _ in range(5):
                    peer.call(probe=pb.Probe(fens=[fen(n)]))
                peer.call(get=pb.Get(fens=["nonsense"]))
                list(peer.stream(scan=pb.Scan(chi2_max=25599)))
                peer.call(explore=pb.Explore(fen=fen(n)))
                peer.call(delete=pb.Delete(fens=[fen(n * 10)]))
                peer.call(verify=pb.Verify())
            page = scrape(daemon)

            def answers(operation, result="ok"):
                return page.get("chistore_operations_total", operation=operation, result=result)

            for operation, number in (("hello", 4), ("put", 4), ("probe", 20), ("scan", 4),
                                      ("explore", 4), ("delete", 4), ("verify", 4), ("ping", 0)):
                self.assertEqual(answers(operation), number, operation)
            self.assertEqual(answers("get", "bad_fen"), 4)
            self.assertEqual(page.get("chistore_store_positions", store="default"), 36)
            self.assertEqual(page.get("chistore_committed_batches_total", store="default"), 8)
            self.assertEqual(page.get("chistore_rejects_total", reason="malformed"), 4)
            self.assertEqual(page.get("chistore_connections", state="open"), 4)
            self.assertEqual(page.get("chistore_connections_accepted_total"), 4)
            self.assertLessEqual(page.get("chistore_commit_seconds_count", store="default"), 8)
            self.assertGreater(page.get("chistore_commit_seconds_count", store="default"), 0)
            self.assertGreater(page.get("chistore_received_bytes_total"), 0)
            self.assertGreater(page.get("chistore_sent_bytes_total"), 0)

    def test_each_answer_has_its_place_in_a_histogram(self):
        with start(extra_args=["--threads", "2"]) as daemon:
            peer = Peer(daemon.address)
            sent = [peer.send(put=put([n])) for n in range(40)]
            sent += [peer.send(probe=pb.Probe(fens=[fen(n)])) for n in range(40)]
            for _ in sent:
                peer.receive()
            list(peer.stream(window=1, scan=pb.Scan(chi2_max=25599)))
            peer.call(scan=pb.Scan(chi2_min=2, chi2_max=1))
            list(peer.stream(backup=pb.Backup()))
            page = scrape(daemon)
            for name, operations in CLASSES.items():
                answers = sum(page.total("chistore_operations_total", operation=operation)
                              for operation in operations)
                counted = page.get("chistore_operation_seconds_count", **{"class": name})
                self.assertEqual(counted, answers, name)
            self.assertEqual(page.get("chistore_operation_seconds_count", **{"class": "write"}), 40)

    def test_a_write_takes_no_less_than_its_commit(self):
        """Its clock runs from the request to the answer, not only through its turn."""
        with start() as daemon:
            peer = Peer(daemon.address)
            for n in range(20):
                peer.call(put=put([n]))
            page = scrape(daemon)
            commits = page.get("chistore_commit_seconds_sum", store="default")
            self.assertGreaterEqual(
                page.get("chistore_operation_seconds_sum", **{"class": "write"}), commits)
            self.assertEqual(page.get("chistore_commit_seconds_count", store="default"), 20)

    def test_counters_never_fall(self):
        with start(extra_args=["--threads", "2"]) as daemon:
            before = scrape(daemon)
            peers = [Peer(daemon.address) for _ in range(3)]
            for round in range(8):
                for peer in peers:
                    peer.send(put=put([round]))
                    peer.send(probe=pb.Probe(fens=[fen(round)]))
                after = scrape(daemon)
                for key, value in before.growing().items():
                    self.assertGreaterEqual(after.samples[key], value, key)
                self.assertGreaterEqual(after.get("chistore_uptime_seconds"),
                                        before.get("chistore_uptime_seconds"))
                before = after
            for peer in peers:
                for _ in range(16):
                    self.assertEqual(peer.receive().code, pb.OK)

    def test_rejects_have_reasons(self):
        options = ["--max-connections", "3", "--max-request", "2000", "--queue-records", "1"]
        directory = harness.make_temp_dir()
        listen = ["unix:" + directory + "/all", "unix:" + directory + "/read,role=read"]
        with start(listen=listen, extra_args=options) as daemon:
            reader, peer = Peer(daemon.addresses[1]), Peer(daemon.address)
            self.assertEqual(reader.call(put=put([1])).code, pb.DENIED)
            rude = Peer(daemon.address)
            rude.send_bytes(b"\x00")
            self.assertEqual(rude.receive().code, pb.MALFORMED)
            over = Peer(daemon.address, hello=False)
            self.assertEqual(over.receive().code, pb.BUSY)
            rude.close()
            wait_for(lambda: scrape(daemon).total("chistore_connections") == 2)
            big = Peer(daemon.address)
            big.send(probe=pb.Probe(fens=["x" * 3000]))
            self.assertEqual(big.receive().code, pb.TOO_LARGE)
            page = scrape(daemon)
            for reason, least in (("not_allowed", 1), ("malformed", 1), ("busy", 1), ("limits", 1)):
                self.assertEqual(page.get("chistore_rejects_total", reason=reason), least, reason)
            self.assertEqual(page.get("chistore_connections_turned_away_total"), 1)
            peer.close()
            reader.close()

    def test_an_open_snapshot_ages(self):
        """It is held by a scan that is given no credit to go on."""
        store = harness.make_store()
        with start(stores={"default": store}, extra_args=["--snapshot-time", "86400000"]) as daemon:
            peer, slow = Peer(daemon.address), Peer(daemon.address)
            for n in range(0, 10000, 1000):
                peer.call(put=put(range(n, n + 1000)))
            before = scrape(daemon).get("chistore_store_oldest_reader_transactions",
                                        store="default")
            id = slow.send(window=1, scan=pb.Scan(chi2_max=25599))
            self.assertFalse(slow.receive_for(id).last)
            for n in range(3):
                peer.call(put=put([50000 + n]))
            page = scrape(daemon)
            self.assertEqual(before, 0)
            self.assertEqual(
                page.get("chistore_store_oldest_reader_transactions", store="default"), 3)
            self.assertGreaterEqual(page.get("chistore_store_readers", store="default"), 1)
            slow.close()
            wait_for(lambda: scrape(daemon).get("chistore_operations_abandoned_total") == 1)

    def test_stores_are_told_apart_also_while_they_are_compacted(self):
        stores = {"a.b": harness.make_store(), "c-d": harness.make_store()}
        with start(stores=stores) as daemon:
            peer = Peer(daemon.address)
            peer.call(store="c-d", put=put(range(100)))
            page = scrape(daemon)
            self.assertEqual(page.get("chistore_store_positions", store="a.b"), 0)
            self.assertEqual(page.get("chistore_store_positions", store="c-d"), 100)
            sent = [peer.send(store="c-d", compact=pb.Compact()) for _ in range(20)]
            for _ in sent:
                scrape(daemon)
                self.assertEqual(peer.receive().code, pb.OK)
            self.assertEqual(scrape(daemon).get("chistore_operations_total", operation="compact",
                                                result="ok"), 20)


class TestHttp(unittest.TestCase):
    def test_nothing_else_is_served(self):
        with start() as daemon:
            for target in ("/", "/metrics/", "/metric", "/metrics/../metrics", "/%6detrics"):
                self.assertEqual(ask(daemon.metrics, target)[0], 404, target)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"):
                status, headers, body = ask(daemon.metrics, method=method)
                self.assertEqual((status, headers.get("allow"), body), (405, "get", ""), method)
            self.assertEqual(ask(daemon.metrics, "/metrics?x=y")[0], 200)
            self.assertEqual(ask(daemon.metrics)[1]["connection"], "close")

    def test_nonsense_is_refused_and_forgotten(self):
        with start() as daemon:
            for data in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                         b"BREW /metrics HTTP/1.1\r\n\r\n", b"\r\n" * 10 + b"x\r\n\r\n",
                         b"POST /metrics HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 99,
                         b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n"):
                try:
                    got = exchange(daemon.metrics, data)
                except (ConnectionResetError, BrokenPipeError):
                    got = b""
                self.assertNotIn(b" 200 ", got.split(b"\r\n")[0], data[:40])
            scrape(daemon)

    def test_few_connections_are_held_and_not_for_ever(self):
        """More than there are places; some say nothing, some a byte now and then."""
        with start() as daemon:
            mute = [socket.create_connection(daemon.metrics, timeout=30) for _ in range(8)]
            more = [socket.create_connection(daemon.metrics, timeout=30) for _ in range(8)]
            for peer in more:
                self.assertEqual(peer.recv(1), b"")
            dripping = mute[0]
            began = time.monotonic()
            ended = False
            while not ended:
                self.assertLess(time.monotonic() - began, 60)
                try:
                    dripping.send(b"G")
                    dripping.settimeout(0.2)
                    ended = dripping.recv(1) == b""
                except socket.timeout:
                    pass
                except OSError:
                    ended = True
            for peer in mute[1:]:
                self.assertEqual(peer.recv(1), b"")
            scrape(daemon)
            for peer in mute + more:
                peer.close()

    def test_those_with_a_place_keep_it(self):
        """One too many is shut out at once, not when the time of all is over."""
        for attempt in range(3):
            with start() as daemon:
                mute = [socket.create_connection(daemon.metrics, timeout=30) for _ in range(8)]
                one_more = socket.create_connection(daemon.metrics, timeout=30)
                self.assertEqual(one_more.recv(1), b"")
                ended = select.select(mute, [], [], 0)[0]
                for peer in [*mute, one_more]:
                    peer.close()
            if not ended:
                return
        self.fail("one too many keeps its place as long as all others")

    def test_a_client_that_ends_its_input_leaves_its_place(self):
        """Its place was taken for five seconds after the answer; the ninth found none."""
        with start() as daemon:
            for number in range(30):
                with socket.create_connection(daemon.metrics, timeout=30) as peer:
                    peer.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                    peer.shutdown(socket.SHUT_WR)
                    answer = b""
                    while part := peer.recv(65536):
                        answer += part
                    self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), number)

    def test_clients_are_served_while_a_collector_stalls(self):
        with start() as daemon:
            stalled = socket.create_connection(daemon.metrics, timeout=30)
            stalled.sendall(b"GET /metr")
            self.assertEqual(Peer(daemon.address).call(ping=pb.Ping()).code, pb.OK)
            stalled.close()

    def test_many_scrapes_leave_nothing_behind(self):
        with start() as daemon:
            scrape(daemon)
            descriptors = f"/proc/{daemon.pid}/fd"
            before = len(os.listdir(descriptors))
            for _ in range(100):
                scrape(daemon)
            wait_for(lambda: len(os.listdir(descriptors)) <= before)

    def test_a_stop_does_not_wait_for_it(self):
        with start() as daemon:
            held = socket.create_connection(daemon.metrics, timeout=30)
            held.sendall(b"GET ")
            self.assertEqual(daemon.stop(), 0)
            held.close()


class TestOption(unittest.TestCase):
    def refused(self, address):
        with self.assertRaises(RuntimeError) as caught:
            harness.start_daemon(extra_args=["--metrics", address]).kill()
        return str(caught.exception)

    def test_loopback_only(self):
        self.assertIn("is not a loopback address", self.refused("tcp:0.0.0.0:0"))

    def test_tcp_only(self):
        for address in ("unix:/tmp/x", "127.0.0.1:0", "tcp:127.0.0.1:0,role=read", ""):
            self.assertIn(f"--metrics: '{address}' is not tcp:HOST:PORT", self.refused(address))

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            text = self.refused(f"tcp:127.0.0.1:{taken.getsockname()[1]}")
            self.assertIn("cannot listen on", text)
