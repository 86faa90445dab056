# SPDX-License-Identifier: MIT
"""`chistore reshard` on a store that is in use: the same dump before and after, writers that lose and
double nothing, readers that notice nothing, kills at any time, a pool that is full.

CHISTORE_LIBRARY: the shared library. CHISTORE_WRITERS: the program that writes and counts.
"""

import os
import re
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

FIGURES = re.compile(r"^acknowledged=(\d+) failures=(\d+) uncertain=(\d+) lost=(\d+) "
                     r"doubled=(\d+)", re.M)
POSITIONS = 20000


def objects(pool, name="store"):
    out = subprocess.run(["rados", "-c", cluster.conf, "-p", pool, "ls"], check=True,
                         stdout=subprocess.PIPE, text=True, timeout=60).stdout
    return [line for line in out.split() if line.startswith(name + ".")]


class Reshard(unittest.TestCase):
    def setUp(self):
        self.pool = cluster.make_pool(1)
        self.addCleanup(lambda: cluster.drop_pool(self.pool))
        self.address = cluster.make_store(self.pool, statistic="outcome")
        self.random = harness.seed()

    def cli(self, *args, code=0):
        done = harness.run_cli(*args, address=self.address, timeout=600)
        self.assertEqual(done.returncode, code, f"{args}: {done.stdout}{done.stderr}")
        return done

    def fill(self, positions=POSITIONS):
        """A writer that adds games to positions, of which some get a statistic."""
        self.cli("rescore", "--base", "1,1,1")
        self.finish(self.writers(4 * positions, 1, 4096))

    def writers(self, puts, writers=4, batch=200):
        return subprocess.Popen([os.environ["CHISTORE_WRITERS"], self.address, str(writers),
                                 str(puts), str(batch), str(self.random.randrange(1 << 32))],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, writers):
        """Ends when they have written all; nothing is lost or doubled."""
        out, err = writers.communicate(timeout=600)
        acknowledged, failures, _, lost, doubled = map(int, FIGURES.search(out).groups())
        self.assertEqual((writers.returncode, failures, lost, doubled), (0, 0, 0, 0), out + err)
        return acknowledged

    def dump(self):
        return self.cli("dump").stdout

    def spawn(self, shards):
        return subprocess.Popen([harness.program(), "-a", self.address, "reshard", "--shards",
                                 str(shards)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_same_dump_grown_and_shrunk(self):
        self.fill()
        before, info = self.dump(), self.cli("info").stdout
        for shards in (64, 5, 1, 300, 16):
            done = self.cli("reshard", "--shards", shards)
            self.assertIn(f"shards\t{shards}\n", done.stdout)
            self.assertTrue(self.dump() == before, shards)
            self.assertIn("sound\tyes", self.cli("verify").stdout)
            self.assertEqual(len(objects(self.pool)), shards + 1)
        self.assertEqual(self.cli("info").stdout, info)

    def test_writers_and_readers(self):
        """Writers wait until it is done, and go on; a reader's probes go on all the time."""
        self.cli("rescore", "--base", "1,1,1")  # the writers count from nothing
        position, stop, failed, probes = chistore.Position(), threading.Event(), [], 0

        def read():
            nonlocal probes
            try:
                with chistore.open(self.address) as store:
                    while not stop.is_set():
                        probes += len(store.probe([position]))
            except chistore.Error as error:
                failed.append(str(error))
        reader = threading.Thread(target=read)
        reader.start()
        writers = self.writers(40000)
        try:
            for shards in (40, 7, 16, 64, 3):
                self.cli("reshard", "--shards", shards)
        finally:
            stop.set()
            reader.join()
        acknowledged = self.finish(writers)
        print(f"# figures: {acknowledged} puts, {probes} probes", flush=True)
        self.assertEqual(failed, [])
        self.assertGreater(probes, 0)
        self.assertIn("sound\tyes", self.cli("verify").stdout)

    def test_killed_at_any_time(self):
        self.fill()
        before = self.dump()
        begin = time.monotonic()
        self.cli("reshard", "--shards", 24)
        whole = time.monotonic() - begin
        killed = 0
        for shards in (9, 33, 17, 24):
            process = self.spawn(shards)
            # The second and later ones wait for ten seconds until the one before is dead.
            try:
                process.wait((10 if killed else 0) + self.random.uniform(0, 1.2) * whole)
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.communicate()
            self.assertTrue(self.dump() == before, shards)
        self.cli("reshard", "--shards", 12)
        self.assertGreater(killed, 0)
        self.assertTrue(self.dump() == before)
        self.assertIn("sound\tyes", self.cli("verify").stdout)
        self.assertEqual(len(objects(self.pool)), 13)

    def test_interrupted(self):
        """Ctrl-C takes all back."""
        self.fill()
        before = self.dump()
        process = self.spawn(2000)
        time.sleep(0.5)
        process.send_signal(2)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn(b"the store is as it was", err)
        self.assertTrue(self.dump() == before)
        self.assertEqual(len(objects(self.pool)), 17)
        self.cli("put", "startpos", "--counts", "1,0,0")

    def test_full_pool(self):
        self.fill()
        before = self.dump()
        cluster.must("ceph", "osd", "pool", "set-quota", self.pool, "max_objects", 1)
        cluster.await_true("full", lambda: "full_quota" in next(
            one for one in cluster.ceph("osd", "dump")["pools"]
            if one["pool_name"] == self.pool)["flags_names"])
        done = self.cli("reshard", "--shards", 40, code=3)
        self.assertIn("quota", done.stderr)
        self.assertTrue(self.dump() == before)
        self.assertEqual(len(objects(self.pool)), 17)
        cluster.must("ceph", "osd", "pool", "set-quota", self.pool, "max_objects", 0)
        cluster.await_true("room", lambda: "full_quota" not in next(
            one for one in cluster.ceph("osd", "dump")["pools"]
            if one["pool_name"] == self.pool)["flags_names"])
        with chistore.open(self.address, writable=True) as store:
            self.assertEqual(store.reshard(40), store.info()["positions"])
        self.assertTrue(self.dump() == before)

    def test_wrong_arguments(self):
        for args in ((), ("--shards", "0"), ("--shards", "65537"), ("--shards", "x")):
            self.cli("reshard", *args, code=2)
        folder = os.path.join(harness.make_temp_dir(), "store")
        self.assertEqual(harness.run_cli("init", address=folder).returncode, 0)
        done = harness.run_cli("reshard", "--shards", 2, address=folder)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("only a store on RADOS has shards", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
