# SPDX-License-Identifier: MIT
"""tools/cluster.sh itself: an OSD dies and comes back, pools keep the copies asked for, a user sees
its own pool alone, and what cannot be is said."""

import os
import subprocess
import unittest

from cluster import find_cluster

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
        pool = cluster.make_pool(1)
        try:
            self.assertEqual(cluster.ceph("osd", "pool", "get", pool, "size")["size"], 1)
        finally:
            cluster.drop_pool(pool)

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
