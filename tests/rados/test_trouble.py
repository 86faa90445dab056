# SPDX-License-Identifier: MIT
"""What goes wrong with a cluster, and with what is asked of it: a clear error, nothing lost, and no
wait beyond the time limits. Afterwards, when the trouble is over, the same client goes on.

CHISTORE_LIBRARY: the shared library.
"""

import os
import subprocess
import sys
import threading
import time
import unittest

from cluster import find_cluster
import harness

cluster = find_cluster()

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import chistore  # noqa: E402  pylint: disable=wrong-import-position

LIMIT_MS = 4000
# What a busy machine may take on top of the limits; a call that hangs takes for ever.
SLACK = 60


def positions(n):
    """n different positions: the first after the initial one, move by move."""
    found, seen = [], set()
    queue = [chistore.Position()]
    while len(found) < n:
        position = queue.pop(0)
        for move in position.moves():
            if move.after.key not in seen:
                seen.add(move.after.key)
                found.append(move.after)
                queue.append(move.after)
    return found[:n]


def put_all(store, some, games=1):
    store.put(*[chistore.Put(position, counts=(games, 0, 0, 0), add=True) for position in some])


def rados(*args, pool, data=None):
    subprocess.run(["rados", "-c", cluster.conf, "-p", pool, *args], input=data, check=True,
                   timeout=60)


class Trouble(unittest.TestCase):
    def limited(self, call, *codes):
        """The call fails with one of these codes within the limits; its text."""
        begin = time.monotonic()
        with self.assertRaises(chistore.Error) as caught:
            call()
        seconds = time.monotonic() - begin
        self.assertIn(caught.exception.code, codes, str(caught.exception))
        self.assertLess(seconds, LIMIT_MS / 1000 * 3 + SLACK, str(caught.exception))
        return str(caught.exception)

    def open(self, address, **options):
        return chistore.open(address, writable=True, connect_ms=LIMIT_MS, call_ms=LIMIT_MS,
                             **options)


class Opening(Trouble):
    @classmethod
    def setUpClass(cls):
        cls.pool = cluster.make_pool(1)

    @classmethod
    def tearDownClass(cls):
        cluster.drop_pool(cls.pool)

    def conf(self, **changes):
        """A conf as the cluster's with other values."""
        path = os.path.join(harness.make_temp_dir(), "ceph.conf")
        with open(cluster.conf, encoding="utf-8") as old, open(path, "w", encoding="utf-8") as new:
            for line in old:
                name = line.partition("=")[0].strip().replace(" ", "_")
                new.write(f"{name} = {changes[name]}\n" if name in changes else line)
        return path

    def test_no_cluster(self):
        conf = self.conf(mon_host="[v2:127.0.0.1:1/0]")
        said = self.limited(lambda: self.open(f"rados:{self.pool}/x?conf={conf}"), "ECONNECT",
                            "ETIMEOUT")
        self.assertIn("monitor", said)

    def test_no_conf(self):
        said = self.limited(lambda: self.open(f"rados:{self.pool}/x?conf=/nowhere/ceph.conf"),
                            "ENOSTORE", "ECONNECT")
        self.assertIn("/nowhere/ceph.conf", said)

    def test_wrong_key(self):
        keyring = os.path.join(harness.make_temp_dir(), "keyring")
        subprocess.run(["ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n",
                        "client.admin"], check=True, stdout=subprocess.DEVNULL)
        conf = self.conf(keyring=keyring)
        said = self.limited(lambda: self.open(f"rados:{self.pool}/x?conf={conf}"), "EACCES")
        self.assertIn("'admin'", said)

    def test_no_key(self):
        said = self.limited(
            lambda: self.open(cluster.address(self.pool, user="stranger")), "EACCES")
        self.assertIn("stranger", said)

    def test_no_rights_to_the_pool(self):
        other = cluster.make_pool(1)
        cluster.must("user", "outsider", other)
        try:
            cluster.make_store(self.pool, "closed")
            said = self.limited(lambda: self.open(
                cluster.address(self.pool, "closed", user="outsider")), "EACCES")
            self.assertIn(self.pool, said)
        finally:
            cluster.must("ceph", "auth", "rm", "client.outsider")
            cluster.drop_pool(other)

    def test_no_pool(self):
        said = self.limited(lambda: self.open(cluster.address("no-such-pool")), "ENOSTORE")
        self.assertIn("no-such-pool", said)

    def test_no_store(self):
        said = self.limited(lambda: self.open(cluster.address(self.pool, "absent")), "ENOSTORE")
        self.assertIn("absent", said)

    def test_another_format(self):
        rados("put", "other.head", "-", pool=self.pool, data=b"chistore rados 999\n")
        said = self.limited(lambda: self.open(cluster.address(self.pool, "other")), "EVERSION")
        self.assertIn("other.head", said)
        rados("put", "foreign.head", "-", pool=self.pool, data=b"\x7fELF")
        said = self.limited(lambda: self.open(cluster.address(self.pool, "foreign")), "EVERSION",
                            "ECORRUPT")
        self.assertIn("foreign.head", said)

    def test_two_stores_of_one_name(self):
        cluster.make_store(self.pool, "twice")
        done = harness.run_cli("init", address=cluster.address(self.pool, "twice"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("already", done.stderr)


class Running(Trouble):
    def setUp(self):
        self.pool = cluster.make_pool(1)
        self.addCleanup(lambda: cluster.drop_pool(self.pool))
        self.address = cluster.make_store(self.pool, statistic="outcome")

    def verify(self):
        done = harness.run_cli("verify", address=self.address)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_full_pool(self):
        """What is full takes no new position, gives what it has, and goes on with more room."""
        old, new = positions(400)[:200], positions(400)[200:]
        with self.open(self.address) as store:
            put_all(store, old)
            cluster.must("ceph", "osd", "pool", "set-quota", self.pool, "max_objects", 1)
            cluster.await_true("full", lambda: "full_quota" in next(
                one for one in cluster.ceph("osd", "dump")["pools"]
                if one["pool_name"] == self.pool)["flags_names"])
            said = self.limited(lambda: put_all(store, new), "EFULL")
            self.assertIn(self.pool, said)
            self.assertEqual({row.counts.white for row in store.probe(old)}, {1})
            self.assertEqual({row.found for row in store.probe(new)}, {False})
            self.assertEqual(store.delete(*old[:100]), 100)  # which makes room
            cluster.must("ceph", "osd", "pool", "set-quota", self.pool, "max_objects", 0)
            cluster.await_true("room", lambda: "full_quota" not in next(
                one for one in cluster.ceph("osd", "dump")["pools"]
                if one["pool_name"] == self.pool)["flags_names"])
            put_all(store, old[:100] + new)
            self.assertEqual({row.counts.white for row in store.probe(old + new)}, {1})
        self.verify()

    def test_bench(self):
        """A measurement asks for what is there, and removes what it put."""
        with self.open(self.address) as store:
            put_all(store, positions(300))
        done = harness.run_cli("bench", "--requests", 60, "--warmup", 0, "--clients", 2,
                               "--allow-writes", "--mix",
                               "probe=2,batch=2,get=1,explore=1,scan=1,put=1",
                               address=self.address)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^all\b.*\b60\b")
        with self.open(self.address) as store:
            self.assertEqual(store.info()["positions"], 300)
        self.verify()

    def test_monitor_lost(self):
        """Who is connected goes on for some time; no one connects; and when it is back all is."""
        some = positions(100)
        with self.open(self.address) as store:
            put_all(store, some)
            cluster.must("kill", "mon")
            try:
                put_all(store, some)
                self.assertEqual({row.counts.white for row in store.probe(some)}, {2})
                # A process of its own: this one shares the connection it has.
                done = harness.run_cli("get", "startpos", address=self.address)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn("monitor", done.stderr)
            finally:
                cluster.must("revive", "mon")
            cluster.await_true("monitor", lambda: cluster.run("ceph", "-s").returncode == 0)
            put_all(store, some)
        with self.open(self.address) as store:
            self.assertEqual({row.counts.white for row in store.probe(some)}, {3})
        self.verify()

    def test_all_osds_lost(self):
        """Calls end at their limit; what was acknowledged is there when the OSDs are."""
        some = positions(100)
        n = cluster.n_osds()
        with self.open(self.address) as store:
            put_all(store, some)
            try:
                for osd in range(n):
                    cluster.must("kill", osd)
                said = self.limited(lambda: store.probe(some), "ETIMEOUT", "ECONNECT")
                self.assertIn(self.pool, said)
                said = self.limited(lambda: put_all(store, some), "ETIMEOUT", "ECONNECT")
                self.assertIn(self.pool, said)
            finally:
                for osd in range(n):
                    cluster.must("revive", osd)
            cluster.await_up(n)
            cluster.await_true("serving", lambda: all(
                "active" in name for name in cluster.states()))
            store.flush()
            # The put that timed out happened whole or not at all in each shard, and once.
            self.assertLessEqual({row.counts.white for row in store.probe(some)}, {1, 2})
        self.verify()

    def test_pool_gone_during_a_scan(self):
        some = positions(3000)
        pool = cluster.make_pool(1)
        address = cluster.make_store(pool, statistic="outcome")
        with self.open(address) as store:
            put_all(store, some)
            rows = iter(store.scan())
            next(rows)
            cluster.drop_pool(pool)
            said = self.limited(lambda: [None for _ in rows], "ENOSTORE", "ESTALE", "EIO")
            self.assertIn(pool, said)
            said = self.limited(lambda: store.probe(some), "ENOSTORE", "ESTALE", "EIO")
            self.assertIn(pool, said)

    def test_store_replaced_under_a_client(self):
        """Objects of a store of the same name that was made again are not taken for those opened."""
        some = positions(10)
        with self.open(self.address) as store:
            put_all(store, some)
            for name in subprocess.run(["rados", "-c", cluster.conf, "-p", self.pool, "ls"],
                                       check=True, stdout=subprocess.PIPE,
                                       text=True).stdout.split():
                rados("rm", name, pool=self.pool)
            cluster.make_store(self.pool, statistic="outcome")
            self.limited(lambda: put_all(store, some), "ESTALE", "ENOSTORE")
        with self.open(self.address) as store:
            self.assertEqual(store.info()["positions"], 0)

    def test_killed_writer_leaves_whole_shards(self):
        """A writer that dies in the middle of batches leaves trees that agree."""
        for _ in range(3):
            writer = subprocess.Popen([os.environ["CHISTORE_WRITERS"], self.address, "2", "1000000",
                                       "500", "1"], stdout=subprocess.PIPE)
            writer.stdout.readline()
            threading.Timer(0.05, writer.kill).start()
            writer.wait(60)
            writer.stdout.close()
            self.verify()


if __name__ == "__main__":
    unittest.main(verbosity=2)
