# SPDX-License-Identifier: MIT
"""A daemon that crashes again and again starts read-only; one that is killed does not. Crashes
are signals that are sent, which take the same way as a fault."""

import os
import re
import signal
import time
import urllib.request

import harness
from cli_base import Base, damage
from peer import Peer, found, put
from pychistore import pb

LIMIT = 3


class TestCrashes(Base):
    def setUp(self):
        super().setUp()
        self.store = harness.make_store(self.path("store"))
        self.record = os.path.join(self.store, "chistore.crashes")
        self.next = 0

    def start(self, *extra):
        # Not through a sanitizer's own handlers, where each crash would write a report.
        quiet = "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0"
        env = {"ASAN_OPTIONS": quiet, "UBSAN_OPTIONS": quiet, "TSAN_OPTIONS": quiet}
        return harness.start_daemon({"default": self.store}, extra_args=extra, env=env)

    def crash(self, *extra, number=signal.SIGSEGV):
        daemon = self.start(*extra)
        daemon.process.send_signal(number)
        self.assertEqual(daemon._wait(harness.STOP_TIMEOUT), -number)
        return daemon

    def writes(self, daemon, store=""):
        """True if a write is taken, False if it is refused as read-only; reads go on."""
        self.next += 1
        with Peer(daemon.address) as peer:
            answer = peer.call(store=store, put=put([self.next]))
            self.assertEqual(found(peer, [self.next], store), int(answer.code == pb.OK))
            if answer.code != pb.OK:
                self.assertEqual(answer.code, pb.READ_ONLY)
            return answer.code == pb.OK, answer.message

    def expect(self, writable, *extra):
        with self.start(*extra) as daemon:
            self.assertEqual(self.writes(daemon)[0], writable, daemon.stderr_text())
            return daemon

    def info(self, daemon):
        return self.out("info", address=daemon.address)

    def test_the_third_crash_ends_writing(self):
        for crashes in range(LIMIT):
            daemon = self.start()
            text = daemon.stderr_text()
            self.assertIn(f"{crashes} crashes" if crashes else "ready", text)
            self.assertTrue(self.writes(daemon)[0])
            self.assertIn("read_only\t-\n", self.info(daemon))
            daemon.process.send_signal(signal.SIGSEGV)
            self.assertEqual(daemon._wait(60), -signal.SIGSEGV)
        daemon = self.start("--metrics", "tcp:127.0.0.1:0")
        self.assertRegex(daemon.stderr_text(), r"error.*served read-only after 3 crashes.*verify")
        done, message = self.writes(daemon)
        self.assertFalse(done)
        self.assertIn("after repeated crashes", message)
        self.assertIn("read_only\tcrashes\n", self.info(daemon))
        port = re.search(r"http://127.0.0.1:(\d+)|127.0.0.1:(\d+)", daemon.stderr_text())
        address = next(group for group in port.groups() if group)
        with urllib.request.urlopen(f"http://127.0.0.1:{address}/metrics", timeout=60) as page:
            text = page.read().decode()
        self.assertIn('chistore_store_read_only{store="default"} 1\n', text)
        self.assertIn('chistore_store_crashes{store="default"} 3\n', text)
        # A clean stop ends it, and leaves nothing behind.
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(os.path.exists(self.record))
        self.expect(True)

    def test_killed_is_not_crashed(self):
        for _ in range(LIMIT + 2):
            daemon = self.start()
            self.writes(daemon)
            daemon.kill()
        self.expect(True)

    def test_a_clean_stop_in_between(self):
        for _ in range(2):
            for _ in range(LIMIT - 1):
                self.crash()
            self.expect(True)

    def test_every_way_to_crash(self):
        numbers = (signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
        for number in numbers:
            self.crash("--crash-limit", str(len(numbers)), number=number)
        self.expect(False, "--crash-limit", str(len(numbers)))

    def test_one_that_never_counts(self):
        for _ in range(LIMIT + 1):
            self.crash("--crash-limit", "0")
        self.assertFalse(os.path.exists(self.record))
        self.crash("--crash-limit", "1")
        self.expect(False, "--crash-limit", "1")
        self.crash("--crash-limit", "2")
        self.expect(True, "--crash-limit", "2")

    def test_a_second_daemon_forgets_nothing(self):
        for _ in range(LIMIT):
            self.crash()
        first = self.start()
        self.assertFalse(self.writes(first)[0])
        before = os.path.getsize(self.record)
        with self.assertRaises(RuntimeError) as caught:
            self.start()
        self.assertIn("another daemon serves it", str(caught.exception))
        self.assertEqual(os.path.getsize(self.record), before)
        first.kill()
        self.expect(False)

    def test_old_crashes_do_not_count(self):
        """It is the last one's time that counts; one of the future does."""
        now = int(time.time())
        for age, writable in ((7200, True), (1800, False), (-99, False)):
            with open(self.record, "wb") as file:
                file.write(b"x" * LIMIT)
            os.utime(self.record, (now - age, now - age))
            self.expect(writable)
        with open(self.record, "wb") as file:
            file.write(b"x" * LIMIT)
        os.utime(self.record, (now - 60, now - 60))
        self.expect(True, "--crash-window", "30000")

    def test_a_sound_verification(self):
        for _ in range(LIMIT):
            self.crash()
        daemon = self.start()
        self.assertFalse(self.writes(daemon)[0])
        self.cli("verify", address=daemon.address)
        # What was logged before the answer may be read after it.
        while "is sound" not in daemon.stderr_text():
            time.sleep(0.02)
        daemon.kill()
        self.expect(True)

    def test_without_the_file(self):
        for _ in range(LIMIT):
            self.crash()
        os.unlink(self.record)
        self.expect(True)

    def test_what_is_no_file(self):
        """Nor one of another name as well, to which a link could lead."""
        other = self.path("other")
        with open(other, "wb"):
            pass
        for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path),
                     lambda path: os.link(other, path)):
            make(self.record)
            self.assertIn("crashes will not be counted", self.expect(True).stderr_text())
            os.rmdir(self.record) if os.path.isdir(self.record) else os.unlink(self.record)

    def test_nothing_is_left_where_no_store_is(self):
        empty = self.path("empty")
        os.mkdir(empty)
        with self.assertRaises(RuntimeError):
            harness.start_daemon({"default": empty})
        self.assertEqual(os.listdir(empty), [])

    def test_a_damaged_store(self):
        """Crashes of a damaged store end writing until it is saved; a scan of it is none."""
        path = self.many("many.csv", 2000)
        self.cli("import", path, address=self.store)
        self.assertGreater(damage(self.store), 0)
        with self.start() as daemon:
            self.cli("scan", code=3, address=daemon.address)
            self.assertTrue(daemon.running())
        for _ in range(LIMIT):
            self.crash()
        daemon = self.start()
        self.assertIn("read_only\tcrashes\n", self.info(daemon))
        self.cli("put", "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1", code=3, address=daemon.address)
        # What crashed before does not end the process that verifies.
        before = os.path.getsize(self.record)
        self.cli("verify", code=3, address=daemon.address)
        self.assertEqual(os.path.getsize(self.record), before)
        daemon.kill()
        # Found damaged, it stays so; saved, it is a store like any other.
        self.assertIn("served read-only", self.start().stderr_text())
        self.cli("verify", "--repair", self.path("saved"), address=self.store)
        self.store = self.path("saved")
        self.expect(True)
