# SPDX-License-Identifier: MIT
"""A disk that was cut off from a server that is only read, one that fails a commit, one that hangs:
the server ends with status 4 or makes the store read-only, and says so. fence.c, preloaded, is the
disk; what is read through the page cache goes on, as it does on such a machine."""

import json
import os
import shutil
import signal
import tempfile
import time
import unittest

import harness
from cli_base import Base
from peer import Peer, found, put
from pychistore import Closed, pb

FENCE = os.environ.get("CHISTORE_FENCE_LIB", "")

# As in fence.c.
NONE, READS, WRITES, CACHE, HANG, FULL, LOG = range(7)

EXIT_DISK = 4

# Two rounds of the timer, and a second.
NOTICED = 5


@unittest.skipUnless(FENCE, "a sanitizer's build preloads nothing")
class TestFence(Base):
    def setUp(self):
        super().setUp()
        self.store = harness.make_store(self.path("store"))
        self.switch = self.path("fence")
        self.fence(NONE)

    def fence(self, what):
        if not os.path.exists(self.switch):
            with open(self.switch, "wb") as file:
                file.write(bytes(1))
        with open(self.switch, "r+b") as file:
            file.write(bytes([what]))

    def start(self, *extra, store=None):
        daemon = harness.start_daemon({"default": store or self.store}, extra_args=extra,
                                      env={"LD_PRELOAD": FENCE, "CHISTORE_FENCE": self.switch})
        self.addCleanup(daemon.kill)
        return daemon

    def ping(self, address):
        done = harness.run_cli("ping", "--store", "--json", address=address)
        return done.returncode, done.stderr, json.loads(done.stdout) if done.stdout else None

    def start_direct(self, *extra, store=None):
        """One whose disk can be read past the cache."""
        daemon = self.start(*extra, store=store)
        code, text, answer = self.ping(daemon.address)
        self.assertEqual(code, 0, text)
        if not answer["disk_read"]:
            self.skipTest("temporary files are not on a disk")
        return daemon

    def put(self, daemon, number):
        with Peer(daemon.address) as peer:
            return peer.call(put=put([number]))

    def ends(self, daemon, seconds):
        """True if it has ended by itself in that time."""
        until = time.monotonic() + seconds
        while daemon.running() and time.monotonic() < until:
            time.sleep(0.05)
        return not daemon.running()

    def test_an_idle_server_notices_that_its_disk_is_gone(self):
        daemon = self.start_direct()
        self.assertEqual(self.put(daemon, 1).code, pb.OK)
        self.fence(READS)
        self.assertTrue(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.assertEqual(daemon._wait(60), EXIT_DISK)
        self.assertRegex(daemon.stderr_text(), r"exiting: the disk of store 'default' has failed "
                                               r"\(cannot read .*Input/output error\)")
        # It is no crash, and nothing that was acknowledged is lost.
        self.fence(NONE)
        with self.start() as daemon, Peer(daemon.address) as peer:
            self.assertEqual(found(peer, [1]), 1)
            self.assertNotIn("crashes", daemon.stderr_text())

    def test_a_log_on_that_disk_is_not_waited_for(self):
        daemon = self.start_direct("--log-file", self.path("log"))
        self.fence(LOG)
        self.assertTrue(self.ends(daemon, 3 * NOTICED))
        self.assertEqual(daemon._wait(60), EXIT_DISK)

    def test_it_is_the_disk_that_is_read(self):
        """The control: a server that looked at its file through the page cache would end here, one
        that did not look would live above."""
        daemon = self.start_direct()
        self.fence(CACHE)
        self.assertFalse(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.fence(NONE)
        self.assertEqual(self.ping(daemon.address)[0], 0)
        self.assertEqual(daemon.stop(), 0)

    def test_read_only_is_said_everywhere(self):
        daemon = self.start_direct("--on-disk-failure", "read-only")
        self.assertEqual(self.put(daemon, 1).code, pb.OK)
        self.fence(READS)
        harness.wait_for(lambda: "read-only from now on" in daemon.stderr_text())
        answer = self.put(daemon, 2)
        self.assertEqual(answer.code, pb.READ_ONLY)
        self.assertIn("its disk has failed", answer.message)
        self.assertIn("read_only\tdisk\n", self.out("info", address=daemon.address))
        with Peer(daemon.address) as peer:
            self.assertEqual(found(peer, [1, 2]), 1)
        # A plain ping is a lie, which is why there is another one; and the disk is not trusted
        # again when it is back.
        self.assertEqual(harness.run_cli("ping", address=daemon.address).returncode, 0)
        for what in (READS, NONE):
            self.fence(what)
            code, text, _ = self.ping(daemon.address)
            self.assertEqual(code, 3)
            self.assertIn("the disk of store 'default' has failed", text)
        self.assertEqual(daemon.stop(), 0)

    def test_a_commit_that_fails_ends_the_server(self):
        daemon = self.start()
        self.assertEqual(self.put(daemon, 1).code, pb.OK)
        self.fence(WRITES)
        # Before it is answered.
        with self.assertRaises((Closed, OSError)):
            self.put(daemon, 2)
        self.assertEqual(daemon._wait(60), EXIT_DISK)
        self.assertRegex(daemon.stderr_text(), r"exiting: the disk of store 'default' has failed")
        self.fence(NONE)
        with self.start() as daemon, Peer(daemon.address) as peer:
            self.assertEqual(found(peer, [1]), 1)

    def test_a_commit_that_fails_ends_writing(self):
        daemon = self.start("--on-disk-failure", "read-only")
        self.assertEqual(self.put(daemon, 1).code, pb.OK)
        self.fence(WRITES)
        self.assertNotEqual(self.put(daemon, 2).code, pb.OK)
        self.fence(NONE)
        self.assertEqual(self.put(daemon, 3).code, pb.READ_ONLY)
        self.assertEqual(self.ping(daemon.address)[0], 3)
        self.assertEqual(daemon.stop(), 0)

    def test_a_full_disk_is_an_ordinary_answer(self):
        daemon = self.start()
        self.fence(FULL)
        self.assertEqual(self.put(daemon, 1).code, pb.DISK_FULL)
        self.assertFalse(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.fence(NONE)
        self.assertEqual(self.put(daemon, 2).code, pb.OK)
        self.assertEqual(daemon.stop(), 0)

    def test_a_disk_that_hangs_has_failed(self):
        daemon = self.start_direct("--disk-timeout", "1500")
        self.fence(HANG)
        self.assertTrue(self.ends(daemon, 2 * NOTICED), daemon.stderr_text())
        self.assertEqual(daemon._wait(60), EXIT_DISK)
        self.assertRegex(daemon.stderr_text(), r"a read has not been answered for \d+ ms")

    def test_a_disk_that_hangs_for_a_while_has_not(self):
        daemon = self.start_direct()
        self.fence(HANG)
        with Peer(daemon.address) as peer:
            asked = peer.send(check_disk=pb.CheckDisk())
            self.assertFalse(self.ends(daemon, NOTICED), daemon.stderr_text())
            # No one else waits for it.
            self.assertEqual(self.put(daemon, 1).code, pb.OK)
            self.fence(NONE)
            self.assertTrue(peer.receive_for(asked).check_disk.direct)
        self.assertEqual(daemon.stop(), 0)

    def test_a_stop_does_not_wait_for_a_disk_that_hangs(self):
        daemon = self.start_direct("--disk-timeout", "5000")
        self.fence(HANG)
        time.sleep(2.5)
        self.assertEqual(daemon.stop(), EXIT_DISK)
        self.assertIn("does not answer, and everything else has stopped", daemon.stderr_text())

    def test_a_stopped_process_has_not_waited(self):
        daemon = self.start_direct("--disk-timeout", "1500")
        with Peer(daemon.address) as peer:
            self.fence(HANG)
            asked = peer.send(check_disk=pb.CheckDisk())
            time.sleep(0.2)
            os.kill(daemon.pid, signal.SIGSTOP)
            time.sleep(5)
            self.fence(NONE)
            os.kill(daemon.pid, signal.SIGCONT)
            self.assertTrue(peer.receive_for(asked).check_disk.direct)
        self.assertFalse(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.assertEqual(daemon.stop(), 0)

    def test_memory_is_told(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no file system in memory")
        folder = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder)
        store = harness.make_store(os.path.join(folder, "store"))
        with self.start(store=store) as daemon:
            told = daemon.stderr_text()
            self.assertEqual(told.count("has no reads past the page cache: a disk that is cut off "
                                        "is not noticed before the next write"), 1, told)
            for address in (daemon.address, store):
                code, text, answer = self.ping(address)
                self.assertEqual((code, answer["disk_read"]), (0, False), text)

    def test_a_copy_that_was_replaced_is_read_still(self):
        copy = self.path("copy")
        self.cli("publish", copy, address=self.store)
        daemon = self.start_direct("--read-only", store=copy)
        for _ in range(2):
            self.cli("publish", copy, address=self.store)
            code, text, answer = self.ping(daemon.address)
            self.assertEqual((code, answer and answer["disk_read"]), (0, True), text)
        self.assertFalse(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.fence(READS)
        self.assertTrue(self.ends(daemon, NOTICED), daemon.stderr_text())
        self.assertEqual(daemon._wait(60), EXIT_DISK)

    def test_a_directory_is_read_too(self):
        code, text, answer = self.ping(self.store)
        self.assertEqual(code, 0, text)
        self.assertIn("disk_read", answer)
        os.truncate(os.path.join(self.store, "data.mdb"), 100)
        self.assertEqual(self.ping(self.store)[0], 3)
