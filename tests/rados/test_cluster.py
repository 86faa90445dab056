# SPDX-License-Identifier: MIT
"""tools/cluster.sh itself: an OSD dies and comes back, pools keep the copies asked for, a user sees
its own pool alone, one of several monitors dies, images are made, and what cannot be is said."""

import os
import subprocess
import tempfile
import unittest
from unittest import mock

from cluster import Cluster, find_cluster

cluster = find_cluster()


def rados(*args, user="admin", pool="chistore"):
    return subprocess.run(["rados", "-c", cluster.conf, "--id", user, "-p", pool, *args],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)


class Script(unittest.TestCase):
    def test_killed_osd_comes_back(self):
        last = cluster.n_osds() - 1
        cluster.must("kill", last)
        self.assertIn(f"osd.{last} is down", cluster.must("status"))
        done = cluster.run("kill", last)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"cluster: osd.{last} does not run\n"))
        cluster.must("revive", last)
        cluster.await_up(last + 1)
        cluster.await_clean()

    def test_user_sees_its_own_pool_alone(self):
        mine, other = cluster.make_pool(1), cluster.make_pool(1)
        try:
            cluster.must("user", "tester", mine)
            put = ("setomapval", "object", "key", "value")
            self.assertEqual(rados(*put, user="tester", pool=mine).returncode, 0)
            refused = rados(*put, user="tester", pool=other)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("Operation not permitted", refused.stderr)
            key = os.path.join(cluster.dir, "ceph.client.tester.keyring")
            self.assertEqual(os.stat(key).st_mode & 0o777, 0o600)
        finally:
            cluster.must("ceph", "auth", "rm", "client.tester")
            cluster.drop_pool(mine)
            cluster.drop_pool(other)

    def test_copies(self):
        """Three copies acknowledge nothing that a single disk has."""
        for size, least in ((1, 1), (2, 1), (3, 2)):
            pool = cluster.make_pool(size)
            try:
                got = [cluster.ceph("osd", "pool", "get", pool, what)[what]
                       for what in ("size", "min_size")]
                self.assertEqual(got, [size, least])
            finally:
                cluster.drop_pool(pool)

    def test_images(self):
        """RBD works, which needs classes of the OSDs, and so does its lock."""
        pool = f"images-{os.getpid()}"
        cluster.must("pool", pool, 1, "rbd")
        try:
            self.assertEqual(list(cluster.ceph("osd", "pool", "application", "get", pool)), ["rbd"])
            for args in (("create", f"{pool}/image", "--size", "16M"),
                         ("snap", "create", f"{pool}/image@today"),
                         ("snap", "purge", f"{pool}/image"),
                         ("lock", "add", f"{pool}/image", "mine")):
                done = subprocess.run(["rbd", "-c", cluster.conf, *args], text=True, timeout=60, check=False,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            cluster.drop_pool(pool)

    def test_clients_have_no_pid_file(self):
        """Two clients with one name run at once."""
        done = subprocess.run(["ceph-conf", "-c", cluster.conf, "-n", "client.admin", "pid file"],
                              text=True, timeout=60, stdout=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "\n"))

    def test_three_monitors(self):
        """One of three dies, and the others serve."""
        place = tempfile.mkdtemp(prefix="chi-mons-")
        env = {"CHISTORE_CLUSTER": place, "CHISTORE_CLUSTER_MONS": "3", "CHISTORE_CLUSTER_GIB": "2"}
        other = Cluster(os.path.join(place, "ceph.conf"))
        with mock.patch.dict(os.environ, env):
            try:
                other.must("start", 1)
                self.assertEqual(len(other.ceph("mon", "stat")["quorum"]), 3)
                other.must("kill", "mon.b")
                self.assertIn("mon.b is down", other.must("status"))
                other.await_true("two monitors", lambda: len(other.ceph("mon", "stat")["quorum"]) == 2)
                other.must("pool", "served", 1)
                other.must("revive", "mon.b")
                other.await_true("three monitors", lambda: len(other.ceph("mon", "stat")["quorum"]) == 3)
            finally:
                other.must("remove")

    def test_remains_are_removed(self):
        """Of a cluster that could not be made there is a conf and little else. Another's conf is left alone."""
        place = tempfile.mkdtemp(prefix="chi-remains-")
        conf = os.path.join(place, "ceph.conf")
        other = Cluster(conf)
        with open(conf, "w", encoding="utf-8") as file:
            file.write("[global]\nrun dir = /run/ceph\n")
        done = other.run("remove")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no cluster in " + place, done.stderr)
        with open(conf, "w", encoding="utf-8") as file:
            file.write(f"[global]\nrun dir = {place}/run\n")
        other.must("remove")
        self.assertFalse(os.path.exists(place))

    def test_bad_input(self):
        for args, said in (
                (("start", "x"), "start: not a number of OSDs: x"),
                (("start", "0"), "start: at least one OSD"),
                (("start", "65"), "start: at most 64 OSDs"),
                (("start", cluster.n_osds() + 1), "remove it first"),
                (("revive", "999"), "no osd.999"),
                (("pool", "p", "many"), "pool: not a number of copies: many")):
            done = cluster.run(*args)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn(said, done.stderr)
        for args in ((), ("dance",), ("kill",), ("start", "1", "2")):
            done = cluster.run(*args)
            self.assertEqual((done.returncode, done.stderr.split(":")[0]), (2, "usage"), args)


if __name__ == "__main__":
    unittest.main(verbosity=2)
