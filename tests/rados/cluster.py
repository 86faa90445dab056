# SPDX-License-Identifier: MIT
"""The cluster that tests of RADOS use: one that `make cluster-check` has started with
tools/cluster.sh, or any other made by that script. CHISTORE_TEST_RADOS names its conf; without it
the tests are skipped (exit 77). CHISTORE_CLUSTER_SH is the script.
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import harness  # noqa: E402

PATIENCE = int(os.environ.get("CHISTORE_PATIENCE", "120"))


def find_cluster():
    conf = os.environ.get("CHISTORE_TEST_RADOS")
    if not conf:
        print("1..0 # SKIP CHISTORE_TEST_RADOS is not set: `make cluster-check` or `make failover-check` starts a cluster")
        sys.exit(77)
    return Cluster(os.path.abspath(conf))


class Cluster:
    def __init__(self, conf):
        self.conf = conf
        self.dir = os.path.dirname(conf)
        self.pools = 0

    def run(self, *args, timeout=300):
        return subprocess.run([os.environ["CHISTORE_CLUSTER_SH"], *map(str, args)],
                              env={**os.environ, "CHISTORE_CLUSTER": self.dir}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout, check=False)

    def must(self, *args):
        done = self.run(*args)
        if done.returncode != 0:
            raise RuntimeError(f"cluster.sh {args}: {done.stdout}{done.stderr}")
        return done.stdout

    def ceph(self, *args):
        return json.loads(self.must("ceph", *args, "-f", "json") or "null")

    def n_osds(self):
        return self.ceph("osd", "stat")["num_osds"]

    def states(self):
        """How many placement groups are in each state."""
        summary = self.ceph("pg", "stat")["pg_summary"]
        return {state["name"]: state["num"] for state in summary["num_pg_by_state"]}

    def await_true(self, what, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain: {what}")
            time.sleep(0.1)

    def await_clean(self):
        """Every copy is where it belongs."""
        self.await_true("clean", lambda: all(
            set(name.split("+")) >= {"active", "clean"} for name in self.states()))

    def await_up(self, n):
        self.await_true(f"{n} OSDs up", lambda: self.ceph("osd", "stat")["num_up_osds"] == n)

    def make_pool(self, size):
        self.pools += 1
        name = f"chi-{os.getpid()}-{self.pools}"
        self.must("pool", name, size)
        return name

    def drop_pool(self, name):
        self.must("ceph", "osd", "pool", "rm", name, name, "--yes-i-really-really-mean-it")

    def address(self, pool, name="store", **more):
        options = {"conf": self.conf, **more}
        return f"rados:{pool}/{name}?" + "&".join(f"{k}={v}" for k, v in options.items())

    def make_store(self, pool, name="store", shards=16, statistic="control"):
        address = self.address(pool, name)
        done = harness.run_cli("init", "--shards", shards, "--statistic", statistic,
                               address=address)
        if done.returncode != 0:
            raise RuntimeError(f"chistore init failed ({done.returncode}): {done.stderr}")
        return address
