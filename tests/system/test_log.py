# SPDX-License-Identifier: MIT
"""The log as programs read it, with clients that fill it as best they can."""

import json
import os
import re
import signal
import subprocess
import unittest

import certificates
import harness
from harness import wait_for
from peer import Peer, fen
from pychistore import Client, Failure, pb

REFUSED = 300


class TestLog(unittest.TestCase):
    def setUp(self):
        directory = harness.make_temp_dir()
        self.log = os.path.join(directory, "log")
        self.rules = os.path.join(directory, "rules")
        with open(self.rules, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(f"token {'0' * 64} read\n")

    def read(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def knock(self, daemon, times):
        for _ in range(times):
            with Peer(daemon.address, hello=False) as peer:
                hello = pb.Hello(version=1, client="x\n' \x1b[1m\"{cause}")
                self.assertEqual(peer.call(hello=hello).code, pb.DENIED)

    def test_json(self):
        """Each line is an object with what every line has, also the one that says ready."""
        with harness.start_daemon(extra_args=["--log-format", "json", "--log-file", self.log,
                                              "--log-level", "debug",
                                              "--access", self.rules]) as daemon:
            self.knock(daemon, 1)
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "reloaded the" in self.read())
        lines = [json.loads(line) for line in self.read().splitlines()]
        ready = json.loads(daemon.stderr_text())
        self.assertEqual(ready["event"], "ready")
        self.assertEqual(ready["addresses"], daemon.address)
        for line in [*lines, ready]:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            self.assertEqual(line["pid"], daemon.pid)
            self.assertIn(line["level"], ("error", "warning", "info", "debug"))
            self.assertRegex(line["event"], r"^[a-z_.]+$")
            self.assertNotIn("{", line["message"].replace("{cause}", ""))
        found = {line["event"]: line for line in lines}
        self.assertEqual(found["store.serve"]["store"], "default")
        self.assertEqual(found["client.refuse"]["client"], "x?' ?[1m\"{cause}")
        self.assertIn("no rule matches", found["client.refuse"]["cause"])
        self.assertEqual(lines[-1]["event"], "stopped")

    def test_those_who_are_refused(self):
        """They are told of for a while, and counted; what is told adds up."""
        with harness.start_daemon(extra_args=["--access", self.rules]) as daemon:
            self.knock(daemon, REFUSED)
        text = daemon.stderr_text()
        told = text.count("access denied to")
        left_out = sum(map(int, re.findall(r"left out (\d+) lines of event 'client.refuse'", text)))
        self.assertEqual(told + left_out, REFUSED)
        self.assertLess(told, REFUSED / 2)
        self.assertGreaterEqual(told, 10)

    def test_names_of_peers(self):
        """Refusals, deletions, imports and work on a store say who it was: a user on a unix socket,
        an address, a certificate, which cannot pretend to be anything else."""
        directory = os.path.dirname(self.log)
        authority = certificates.Authority(directory, "authority")
        server = authority.issue("server", "IP:127.0.0.1")
        liar = "x' uid 0 \u202e"
        context = certificates.context(authority, authority.issue("liar", common_name=liar))
        store = harness.make_store()
        with open(self.rules, "w", encoding="utf-8") as file:
            file.write(f"user {os.geteuid()} admin\nanyone read\n")
        listen = [f"unix:{directory}/s", "tcp:127.0.0.1:0", "tls:127.0.0.1:0"]
        with harness.start_daemon({"default": store}, listen, [
                "--access", self.rules, "--log-file", self.log, "--tls-cert", server[0],
                "--tls-key", server[1], "--tls-ca", authority.file]) as daemon:
            unix, tcp, tls = daemon.addresses
            with Client(unix) as client:
                client.put([pb.PutEntry(fen=fen(n)) for n in range(3)])
                for n in range(3):
                    client.delete(fens=[fen(n)])
                client.import_games([("a.pgn", b'[Result "1-0"]\n\n1. e4 1-0\n')])
                for stream in (client.backup, client.verify, client.compact, client.rescore):
                    stream()
                for address, how in ((tcp, None), (tls, context)):
                    with Client(address, tls=how) as other:
                        port = other.socket.getsockname()[1]
                        with self.assertRaises(Failure) as caught:
                            other.compact()
                    self.assertEqual(caught.exception.code, pb.DENIED)
                    name = " certificate x\\' uid 0 \\xe2\\x80\\xae" if how else ""
                    self.assertIn(f"compact denied to '127.0.0.1:{port}{name}'", self.read())
            with open(self.rules, "w", encoding="utf-8") as file:
                file.write("anyone none\n")
            me = f"'uid {os.geteuid()} pid {os.getpid()}'"
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "reloaded the access" in self.read())
            with Peer(unix, hello=False) as peer:
                self.assertEqual(peer.call(hello=pb.Hello(version=1)).code, pb.DENIED)
        text = self.read()
        for operation in ("delete", "backup", "verify", "compact", "rescore"):
            line = f"{operation} of store 'default' asked for by {me} as "
            self.assertEqual(text.count(line), 1, operation)
        self.assertIn(f"import into store 'default' begun by {me} as ", text)
        self.assertIn(f"{me} made 3 delete requests as ", text)
        self.assertIn(f"access denied to {me}, ", text)

    def test_formats(self):
        done = subprocess.run([os.environ["CHISTORED"], "--log-format", "xml"],
                              stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'xml' is none of text, json", done.stderr)
