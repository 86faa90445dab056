# SPDX-License-Identifier: MIT
"""A daemon whose store is on an image of RBD, taken over by a second machine while clients add games over TLS to a
floating address, and others on the first machine's own socket: no acknowledged game is lost, none is counted
twice, and none is acknowledged by the first machine after its fence. The first machine is cut off, crashes, or is stopped
and goes on later. Then the same under kills of the daemon, OSDs and a monitor. Needs root, and a cluster of three OSDs
(`make failover-check`); skipped without. docs/CLUSTER.md has the recipe that this follows.

The control leaves out the fence: the first machine must then be seen to acknowledge what the second does not have.

CHISTORE_FAILOVER_SECONDS: how long daemons, OSDs and the monitor are killed (default: 60); CHISTORE_SEED: when.
"""

import os
import signal
import subprocess
import sys
import time
import unittest

from cluster import find_cluster
import certificates
import harness
import machines

cluster = find_cluster()
LACK = machines.missing(cluster.conf)
if LACK and cluster.conf:
    sys.exit(f"with a cluster, and without what the test needs: {LACK}")
if LACK:
    print(f"1..0 # SKIP {LACK}")
    sys.exit(77)

sys.path.insert(0, os.environ["CHISTORE_PYTHON"])
import chistore  # noqa: E402
from adders import position_of  # noqa: E402

SECONDS = int(os.environ.get("CHISTORE_FAILOVER_SECONDS", "60"))
EXIT_DISK = 4
# Clients of the floating address, and of the first machine's socket: their positions.
REMOTE, LOCAL = (0, 4), (4, 2)


class Adders:
    """adders.py as a process; what it tells goes to a file."""

    def __init__(self, world, address, clients, call_ms, repeat_ms, remote):
        first, n = clients
        words = ["/usr/bin/python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "adders.py"), address, n,
                 first, call_ms, repeat_ms]
        self.clients = range(first, first + n)
        self.path = os.path.join(world.folder, f"adders-{first}-{time.monotonic_ns()}")
        with open(self.path, "wb") as out:
            if remote:
                self.process = world.network.popen(*words, world.authority, stdout=out)
            else:
                self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out)

    def lines(self, word):
        with open(self.path, encoding="utf-8") as file:
            return [line.split(maxsplit=3) for line in file if line.startswith(word + " ")]

    def acks(self, since=0.0):
        return [float(line[1]) for line in self.lines("ack") if float(line[1]) > since]

    def finish(self):
        self.process.terminate()
        if self.process.wait(harness.PATIENCE) != 0:
            raise RuntimeError(f"adders ended with {self.process.returncode}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Tally:
    """What was acknowledged, what failed, and what is stored beyond what was before."""

    def __init__(self):
        self.acknowledged = self.uncertain = self.lost = self.doubled = 0

    def add(self, adders, before, after):
        for client in adders.clients:
            acked, failed = (sum(line[2].strip() == str(client) for line in adders.lines(word))
                             for word in ("ack", "failed"))
            stored = after[client] - before[client]
            self.acknowledged += acked
            self.uncertain += failed
            self.lost += max(0, acked - stored)
            self.doubled += max(0, stored - acked - failed)
        return self

    def text(self):
        return (f"{self.acknowledged} acknowledged, {self.lost} lost, {self.doubled} doubled, "
                f"{self.uncertain} uncertain")


def stored(address):
    """Games of each client's position."""
    with chistore.open(address) as store:
        rows = [store.get(position_of(client)) for client in range(sum(LOCAL))]
    return [record.counts.white if record else 0 for record in rows]


class Base(unittest.TestCase):
    """The first machine serves a new store."""

    def setUp(self):
        if cluster.n_osds() < 3:
            self.skipTest("the cluster has less than 3 OSDs")
        self.folder = harness.make_temp_dir()
        self.world = machines.World(cluster, self.folder, certificates.Authority(self.folder, "authority"))
        self.addCleanup(self.world.end)
        self.adders = []
        self.addCleanup(lambda: [one.kill() for one in self.adders])
        self.first, self.second = self.world.machine("A", 1), self.world.machine("B", 2)
        self.first.map()
        self.first.format()
        self.first.mount_image()
        made = subprocess.run([*self.first.enter("-m"), harness.program(), "-a", os.path.join(self.first.mount, "store"),
                               "init", "--statistic", "outcome"], stdout=subprocess.DEVNULL, check=False)
        self.assertEqual(made.returncode, 0)
        self.first.take_address()
        self.first.start()

    def run_adders(self, machine):
        """Those of the floating address, and those that stay with the machine."""
        remote = Adders(self.world, f"tls:{machines.FLOATING}:{machines.PORT}", REMOTE, 20000, 60000, True)
        local = Adders(self.world, "unix:" + machine.socket, LOCAL, 5000, 6000, False)
        self.adders += [remote, local]
        machines.await_true("the first games", lambda: len(remote.acks()) > 20 and len(local.acks()) > 10)
        time.sleep(3)
        return remote, local

    def check(self, what, remote, local, address, before):
        """Ends the clients and counts. Returns (of the floating address, of the machine's own)."""
        for adders in (local, remote):
            adders.finish()
        after = stored(address)
        tallies = [Tally().add(adders, before, after) for adders in (remote, local)]
        print(f"# figures: {what}: {tallies[0].text()}; clients that stayed: {tallies[1].text()}", flush=True)
        return tallies


class Failover(Base):
    def fail_over(self, what, kill):
        """`kill` ends the first machine, in whichever way, and returns what is to be done after the takeover."""
        before = stored("unix:" + self.first.socket)
        remote, local = self.run_adders(self.first)
        gone = time.time()
        later = kill()
        time.sleep(1)
        self.assertGreater(self.world.fence(), 0, "there was no one to fence")
        fenced = time.time()
        self.second.take_over()
        up = time.time()
        late = later()
        machines.await_true("games on the second machine", lambda: len(remote.acks(up)) > 50)
        after_fence = len(local.acks(late or fenced))
        first_ack = min(remote.acks(gone + 0.5))
        tallies = self.check(what, remote, local, "unix:" + self.second.socket, before)
        print(f"# figures: {what}: fenced {fenced - gone:.1f} s after the loss, served after {up - gone:.1f} s, first "
              f"acknowledged after {first_ack - gone:.1f} s; {after_fence} acknowledged after the fence", flush=True)
        self.assertEqual([(t.lost, t.doubled) for t in tallies], [(0, 0), (0, 0)])
        self.assertEqual(after_fence, 0)
        verified = harness.run_cli("verify", address="unix:" + self.second.socket)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def await_end_of_first(self):
        self.assertEqual(self.first.daemon.wait(60), EXIT_DISK, self.first.logged())
        self.assertIn("has failed", self.first.logged())

    def test_cut_off(self):
        def cut():
            self.first.cut()
            return lambda: None
        self.fail_over("cut off", cut)
        self.await_end_of_first()

    def test_crashed(self):
        def crash():
            self.first.signal(signal.SIGKILL)
            self.first.cut()
            return lambda: None
        self.fail_over("crashed", crash)

    def test_frozen_and_thawed(self):
        def thaw():
            time.sleep(3)
            at = time.time()
            self.first.signal(signal.SIGCONT)
            # Clients that wait are answered, or refused, in this time.
            time.sleep(8)
            return at

        def freeze():
            self.first.signal(signal.SIGSTOP)
            self.first.cut()
            return thaw
        self.fail_over("frozen and thawed", freeze)
        self.await_end_of_first()

    def test_control_without_a_fence(self):
        """The counting finds what a fence prevents."""
        before = stored("unix:" + self.first.socket)
        remote, local = self.run_adders(self.first)
        self.first.cut()
        time.sleep(1)
        unfenced = time.time()
        self.second.take_over()
        time.sleep(5)
        after_fence = len(local.acks(unfenced))
        tallies = self.check("control without a fence", remote, local, "unix:" + self.second.socket, before)
        print(f"# figures: control without a fence: {after_fence} acknowledged by the first machine since, "
              f"{tallies[1].lost} of its games lost", flush=True)
        self.assertGreater(tallies[1].lost, 0)
        self.assertGreater(after_fence, 0)


class Kills(Base):
    """The cluster and the daemon die, the machine does not."""

    def kill_daemon(self):
        self.first.daemon.kill()
        # One that waits in the kernel for its disk ends when that answers.
        self.first.daemon.wait(harness.PATIENCE)
        self.first.start()

    def kill_osd(self):
        osd = self.random.randrange(cluster.n_osds())
        cluster.must("kill", osd)
        time.sleep(self.random.uniform(1, 8))
        cluster.must("revive", osd)
        cluster.await_up(cluster.n_osds())
        cluster.await_clean()

    def kill_monitor(self):
        cluster.must("kill", "mon")
        time.sleep(self.random.uniform(1, 8))
        cluster.must("revive", "mon")

    def test_kills(self):
        self.random = harness.seed()
        before = stored("unix:" + self.first.socket)
        remote, local = self.run_adders(self.first)
        kills = {self.kill_daemon: 0, self.kill_osd: 0, self.kill_monitor: 0}
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or not all(kills.values()):
            kill = min(kills, key=lambda one: (kills[one], self.random.random()))
            kill()
            kills[kill] += 1
            time.sleep(self.random.uniform(0, 3))
        since = time.time()
        machines.await_true("games after the kills", lambda: len(remote.acks(since)) > 20)
        tallies = self.check("kills", remote, local, "unix:" + self.first.socket, before)
        longest = max(float(adders.lines("longest")[0][1]) for adders in (remote, local))
        told = ", ".join(f"{n} {kill.__name__.removeprefix('kill_')}" for kill, n in kills.items())
        print(f"# figures: kills -9: {told}; longest call {longest} s", flush=True)
        self.assertEqual([(t.lost, t.doubled) for t in tallies], [(0, 0), (0, 0)])
        verified = harness.run_cli("verify", address="unix:" + self.first.socket)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
