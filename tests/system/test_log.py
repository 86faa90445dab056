# SPDX-License-Identifier: MIT
"""The log as programs read it, with clients that fill it as best they can."""

import json
import os
import re
import signal
import subprocess
import unittest

import harness
from harness import wait_for
from peer import Peer
from pychistore import pb

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
            wait_for(lambda: "anew" in self.read())
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
        self.assertIn("nothing it has shown", found["client.refuse"]["cause"])
        self.assertEqual(lines[-1]["event"], "stopped")

    def test_those_who_are_refused(self):
        """They are told of for a while, and counted; what is told adds up."""
        with harness.start_daemon(extra_args=["--access", self.rules]) as daemon:
            self.knock(daemon, REFUSED)
        text = daemon.stderr_text()
        told = text.count("is not let in")
        left_out = sum(map(int, re.findall(r"left out (\d+) lines of event 'client.refuse'", text)))
        self.assertEqual(told + left_out, REFUSED)
        self.assertLess(told, REFUSED / 2)
        self.assertGreaterEqual(told, 10)

    def test_formats(self):
        done = subprocess.run([os.environ["CHISTORED"], "--log-format", "xml"],
                              stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'xml' is none of text, json", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
