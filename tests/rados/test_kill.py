# SPDX-License-Identifier: MIT
"""kill -9 of OSDs under eight writers that add games to the same positions: when the OSDs are back,
every acknowledged game is there once, and both trees of every shard agree.

With two copies one OSD at a time dies, and the next when all copies are there again; with three
sometimes two, which stops all writes until one is back (min_size 2). CHISTORE_RADOS_PUTS: how many acknowledged puts for each (default 40000);
CHISTORE_SEED: when. CHISTORE_WRITERS: the program that writes and counts (writers.c).
"""

import os
import queue
import re
import subprocess
import threading
import unittest

from cluster import find_cluster
import harness

cluster = find_cluster()

PUTS = int(os.environ.get("CHISTORE_RADOS_PUTS", "40000"))
WRITERS = 8
BATCH = 200
FIGURES = re.compile(r"^acknowledged=(\d+) failures=(\d+) uncertain=(\d+) lost=(\d+) "
                     r"doubled=(\d+) positions=(\d+) counted=(\d+) known=(\d+)$", re.M)


class Writers:
    def __init__(self, address, seed):
        self.process = subprocess.Popen(
            [os.environ["CHISTORE_WRITERS"], address, str(WRITERS), str(PUTS), str(BATCH),
             str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.steps = queue.Queue()
        self.output, self.errors = [], []
        self.threads = [threading.Thread(target=self.read_steps, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def read_steps(self):
        for line in self.process.stdout:
            self.output.append(line)
            self.steps.put(line)
        self.steps.put(None)

    def read_errors(self):
        self.errors += self.process.stderr

    def await_steps(self, n):
        """False if the writers are done before they have told of `n` more steps from now on."""
        for _ in range(self.steps.qsize() + n):
            if self.steps.get(timeout=600) is None:
                self.steps.put(None)
                return False
        return True

    def running(self):
        return self.process.poll() is None

    def finish(self):
        status = self.process.wait(600)
        for thread in self.threads:
            thread.join()
        return status, "".join(self.output), "".join(self.errors)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Kill(unittest.TestCase):
    def setUp(self):
        self.n_osds = cluster.n_osds()
        if self.n_osds < 3:
            self.skipTest("the cluster has less than 3 OSDs")
        self.random = harness.seed()

    def kill_and_revive(self, writers, most):
        """Returns how many were killed."""
        dead = self.random.sample(range(self.n_osds), self.random.randint(1, most))
        for osd in dead:
            cluster.must("kill", osd)
        # Some die for so short a time that the monitor does not notice.
        if self.random.random() < 0.7:
            cluster.await_up(self.n_osds - len(dead))
            if len(dead) == 1:
                writers.await_steps(self.random.randint(1, 5))
        for osd in dead:
            cluster.must("revive", osd)
        cluster.await_up(self.n_osds)
        cluster.await_clean()
        return len(dead)

    def run_writers(self, size, most):
        pool = cluster.make_pool(size)
        address = cluster.make_store(pool, statistic="outcome")
        rescored = harness.run_cli("rescore", "--base", "1,1,1", address=address)
        self.assertEqual(rescored.returncode, 0, rescored.stderr)
        writers = Writers(address, self.random.randrange(1 << 32))
        kills = 0
        try:
            while writers.await_steps(self.random.randint(1, 20)):
                kills += self.kill_and_revive(writers, most)
                print(f"# {kills} killed, puts: {writers.output[-1].strip()}", flush=True)
            status, out, err = writers.finish()
        finally:
            writers.kill()
            for osd in range(self.n_osds):
                cluster.must("revive", osd)
            cluster.await_up(self.n_osds)
        self.assertIn(status, (0, 1), out + err)
        acknowledged, failures, uncertain, lost, doubled, positions, counted, known = map(
            int, FIGURES.search(out).groups())
        print(f"# figures: {size} copies: {acknowledged} acknowledged puts by {WRITERS} writers, "
              f"{kills} OSDs killed, {lost} lost, {doubled} doubled; {failures} calls failed with "
              f"{uncertain} puts", flush=True)
        self.assertEqual((status, lost, doubled, failures), (0, 0, 0, 0), out + err)
        self.assertEqual(positions, counted)
        self.assertGreaterEqual(acknowledged, PUTS)
        self.assertGreater(kills, 0)
        self.assertGreater(known, 0, "no statistic ever changed")
        verified = harness.run_cli("verify", address=address, timeout=600)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        cluster.drop_pool(pool)

    def test_control_finds_one_lost_and_one_doubled(self):
        pool = cluster.make_pool(1)
        for how, wanted in (("lose", "lost=1 doubled=0"), ("double", "lost=0 doubled=1")):
            address = cluster.make_store(pool, how, statistic="outcome", shards=2)
            done = subprocess.run([os.environ["CHISTORE_WRITERS"], address, "1", "2000", "500",
                                   "1", how], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(wanted, done.stdout)
        cluster.drop_pool(pool)

    def test_two_copies(self):
        self.run_writers(2, 1)

    def test_three_copies(self):
        self.run_writers(3, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
