# SPDX-License-Identifier: MIT
"""Published copies as users meet them: made from a directory and through a daemon, read in-process
by strangers, served, backed up - and never written."""

import os
import stat
import subprocess

import harness
from cli_base import Base, START, damage, program
from peer import Peer, put
from pychistore import pb

NOBODY = 65534


def as_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


class TestPublish(Base):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.store = self.new_store()
        self.cli("import", self.many("many.csv", 200), address=self.store)
        self.cli("put", START, address=self.store)
        self.dest = self.path("published")

    def stranger(self, *args, address=None):
        """The command by a user who may not write; without root, by one who is told so."""
        mode = stat.S_IMODE(os.stat(self.dest).st_mode)
        if os.geteuid() != 0:
            os.chmod(self.dest, 0o555)
        try:
            return subprocess.run([program(), "-a", address or self.dest, *args],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                  preexec_fn=as_nobody, cwd="/", check=False, timeout=60)
        finally:
            os.chmod(self.dest, mode)

    def check_modes(self):
        self.assertEqual(os.listdir(self.dest), ["data.mdb"])
        self.assertEqual(stat.S_IMODE(os.stat(self.dest).st_mode), 0o755)
        self.assertEqual(stat.S_IMODE(os.stat(self.dest + "/data.mdb").st_mode), 0o444)

    def same(self, other, *commands):
        """A stranger's output of the copy is that of `other`."""
        for command in commands:
            done = self.stranger(*command)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
            self.assertEqual(done.stdout, self.out(*command, address=other), command)

    READS = (["scan"], ["scan", "--order", "position"], ["count", "--side", "w"], ["dump"],
             ["explore", START], ["verify"])

    def test_strangers_read(self):
        self.cli("publish", self.dest, address=self.store)
        self.check_modes()
        self.same(self.store, *self.READS)
        self.assertIn("read_only\tpublished\n", self.stranger("info").stdout)
        self.check_modes()
        if os.geteuid() == 0:
            # The control: the store itself is not theirs to read.
            self.assertEqual(self.stranger("scan", address=self.store).returncode, 3)

    def test_nobody_writes(self):
        self.cli("publish", self.dest, address=self.store)
        for command in (["put", START], ["delete", START], ["compact"], ["rescore"],
                        ["import", self.path("many.csv")]):
            error = self.cli(*command, code=3, address=self.dest).stderr
            self.assertIn("published copy, which is never written", error)
        self.check_modes()
        self.cli("backup", self.path("again"), address=self.dest)
        self.cli("put", START, address=self.path("again"))

    def test_through_a_daemon_again_and_again(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            for i in range(3):
                with Peer(daemon.address) as peer:
                    self.assertEqual(peer.call(put=put(range(100 * i, 100 * i + 100))).code, pb.OK)
                out = self.out("--json", "publish", self.dest, address=daemon.address)
                self.assertEqual(out, f'{{"published":"{self.dest}"}}\n')
                self.check_modes()
                self.same(daemon.address, *self.READS)
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".")], [])

    def test_a_daemon_that_serves_it(self):
        self.cli("publish", self.dest, address=self.store)
        with self.assertRaises(RuntimeError) as caught:
            harness.start_daemon({"default": self.dest})
        self.assertIn("published copy, which is never written", str(caught.exception))
        self.assertIn("--read-only", str(caught.exception))
        with harness.start_daemon({"default": self.dest}, extra_args=["--read-only"]) as daemon:
            self.same(daemon.address, *self.READS)
            self.assertIn("read_only\tpublished\n", self.out("info", address=daemon.address))
            self.cli("put", START, code=3, address=daemon.address)
            self.cli("backup", self.path("again"), address=daemon.address)
            self.cli("publish", self.path("second"), address=daemon.address)
            # Replaced under it: it goes on with the one that it has.
            before = self.out("dump", address=daemon.address)
            self.cli("put", START, "--note", "newer", address=self.store)
            self.cli("publish", self.dest, address=self.store)
            self.assertEqual(self.out("dump", address=daemon.address), before)
            self.assertNotEqual(self.stranger("dump").stdout, before)
        self.check_modes()
        self.cli("put", START, address=self.path("again"))

    def test_something_else_has_the_name(self):
        other = self.new_store("outcome")
        self.cli("publish", other, code=3, address=self.store)
        self.assertIn("outcome", self.out("info", address=other))
        self.cli("publish", self.path("many.csv"), code=3, address=self.store)
        self.cli("publish", self.store, code=3, address=self.store)
        self.cli("publish", "/nowhere/at/all", code=3, address=self.store)
        self.cli("publish", code=2, address=self.store)

    def test_a_damaged_store_is_not_published(self):
        self.cli("publish", self.dest, address=self.store)
        before = self.out("dump", address=self.dest)
        self.cli("import", self.many("more.csv", 3000), address=self.store)
        self.assertGreater(damage(self.store), 0)
        error = self.cli("publish", self.dest, code=3, address=self.store).stderr
        self.assertIn("damage", error)
        self.check_modes()
        self.assertEqual(self.out("dump", address=self.dest), before)
        self.cli("verify", address=self.dest)
