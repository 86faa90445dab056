# SPDX-License-Identifier: MIT
"""Two machines of one: each has a mount namespace and a network namespace, and is connected to a bridge in a third one,
where the clients are. An image of RBD is mapped by qemu-storage-daemon, which needs no module of the kernel, and a loop
device. All of it is gone when its processes are."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from cluster import PATIENCE

PROGRAMS = ["rbd", "ceph", "qemu-storage-daemon", "losetup", "mkfs.ext4", "mount", "ip", "unshare", "nsenter", "arping", "openssl"]
FLOATING = "10.99.0.100"
PORT = 7227


def missing(conf):
    """What this machine lacks, in words; None if nothing. `conf`: the cluster's."""
    if os.geteuid() != 0:
        return "only root makes namespaces and mounts"
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    if lacking:
        return f"not installed: {' '.join(lacking)} (tools/deps.sh failover)"
    for device in ("/dev/loop-control", "/dev/fuse"):
        if not os.path.exists(device):
            return f"no {device}"
    # There is no such pool: with the driver that is the error.
    nowhere = subprocess.run(["qemu-storage-daemon", "--blockdev", f"driver=rbd,node-name=x,pool=nowhere,image=x,conf={conf}"],
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if "Unknown driver" in nowhere.stderr:
        return "qemu-storage-daemon has no driver for RBD (tools/deps.sh failover)"
    tried = subprocess.run(["unshare", "--mount", "--net", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return f"no namespaces: {tried.stderr.strip()}" if tried.returncode != 0 else None


def must(*args, timeout=120, **more):
    done = subprocess.run([str(arg) for arg in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, args))}: {done.stdout}{done.stderr}")
    return done.stdout


def await_true(what, condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited in vain: {what}")
        time.sleep(0.02)


class Namespace:
    """Held by a process that sleeps."""

    def __init__(self, *kinds):
        self.holder = subprocess.Popen(["unshare", *kinds, "sleep", "infinity"])
        mine = os.readlink("/proc/self/ns/net")
        await_true("a namespace", lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != mine)

    def enter(self, *kinds):
        """The words before a command."""
        return ["nsenter", "-t", str(self.holder.pid), *kinds]

    def end(self):
        self.holder.kill()
        self.holder.wait()


class Network(Namespace):
    """The bridge, and the clients' side of it."""

    def __init__(self):
        super().__init__("--net")
        for words in ("link add br0 type bridge", "link set br0 up", "link set lo up", "addr add 10.99.0.254/24 dev br0"):
            self.ip(*words.split())

    def ip(self, *words):
        must(*self.enter("-n"), "ip", *words)

    def popen(self, *args, **more):
        return subprocess.Popen([*self.enter("-n"), *map(str, args)], stdin=subprocess.DEVNULL, **more)


class Machine(Namespace):
    """`world` has the network, the image's name, the cluster's conf, a folder, and the certificate."""

    def __init__(self, world, name, number):
        super().__init__("--mount", "--net")
        self.world, self.name, self.cable = world, name, f"to{name}"
        self.mapper = self.daemon = self.loop = None
        self.disk, self.mount = (os.path.join(world.folder, name + end) for end in (".disk", ".mnt"))
        self.socket = os.path.join(world.folder, name + ".sock")
        self.log = os.path.join(world.folder, name + ".log")
        os.makedirs(self.mount, exist_ok=True)
        world.network.ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        world.network.ip("link", "set", self.cable, "master", "br0", "up")
        for words in ("link set lo up", "link set eth0 up", f"addr add 10.99.0.{number}/24 dev eth0"):
            must(*self.enter("-n"), "ip", *words.split())

    def map(self):
        with open(self.disk, "wb"):
            pass
        blockdev = (f"driver=rbd,node-name=image,pool={self.world.pool},image={self.world.image},"
                    f"conf={self.world.conf},cache.direct=on")
        with open(self.log, "ab") as log:
            self.mapper = subprocess.Popen(
                [*self.enter("-m"), "qemu-storage-daemon", "--blockdev", blockdev, "--export",
                 f"type=fuse,id=image,node-name=image,mountpoint={self.disk},writable=on"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        await_true(f"the image of {self.name}", lambda: self.is_mounted(self.disk) or self.mapper.poll() is not None)
        self.loop = must(*self.enter("-m"), "losetup", "--direct-io=on", "-f", "--show", self.disk).strip()

    def is_mounted(self, path):
        with open(f"/proc/{self.holder.pid}/mounts", encoding="utf-8") as file:
            return f" {path} " in file.read()

    def format(self):
        must("mkfs.ext4", "-q", "-E", "nodiscard", self.loop)

    def mount_image(self):
        must(*self.enter("-m"), "mount", "-o", "noatime", self.loop, self.mount)

    def take_address(self):
        must(*self.enter("-n"), "ip", "addr", "add", FLOATING + "/32", "dev", "eth0")
        must(*self.enter("-n"), "arping", "-q", "-U", "-c", "1", "-I", "eth0", FLOATING)

    def start(self):
        """Returns when it is ready."""
        world = self.world
        with open(self.log, "ab") as log:
            at = log.tell()
            self.daemon = subprocess.Popen(
                [*self.enter("-m", "-n"), os.environ["CHISTORED"], "--store", os.path.join(self.mount, "store"),
                 "--listen", f"tls:{FLOATING}:{PORT}", "--listen", "unix:" + self.socket, "--crash-limit", "0",
                 "--access", world.access, "--tls-cert", world.certificate, "--tls-key", world.key],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        await_true(f"the daemon of {self.name}", lambda: "ready, listening" in self.logged(at)
                   or self.daemon.poll() is not None)
        if self.daemon.poll() is not None:
            raise RuntimeError(f"the daemon of {self.name} ended: {self.logged(at)}")

    def logged(self, at=0):
        with open(self.log, "rb") as file:
            file.seek(at)
            return file.read().decode("utf-8", "replace")

    def take_over(self):
        """What a cluster manager does after the fence."""
        self.map()
        self.mount_image()
        self.take_address()
        self.start()

    def cut(self):
        """Its clients do not reach it any more; it lives, and reaches its disk."""
        self.world.network.ip("link", "set", self.cable, "down")

    def signal(self, number):
        for process in (self.daemon, self.mapper):
            process.send_signal(number)

    def end(self):
        """As power off: nothing is unmounted by name. The namespace takes its mounts along, the loop device goes with
        the last of them."""
        for process in (self.mapper, self.daemon):
            if process is not None:
                process.kill()
        for process in (self.mapper, self.daemon):
            if process is not None:
                process.wait(PATIENCE)
        super().end()
        if self.loop is not None:
            subprocess.run(["losetup", "-d", self.loop], stderr=subprocess.DEVNULL, check=False)
            await_true(f"{self.loop} is free", lambda: self.disk not in must("losetup", "-a"))
        self.mapper = self.daemon = self.loop = None


class World:
    """A pool of three copies with an image, and what is around it. `authority`: as in certificates.py."""

    def __init__(self, cluster, folder, authority, size="2G"):
        self.cluster, self.conf, self.folder = cluster, cluster.conf, folder
        self.image, self.pool = "db", f"images-{os.getpid()}"
        self.certificate, self.key = authority.issue("server", f"IP:{FLOATING}")
        self.authority = authority.file
        self.access = os.path.join(folder, "access")
        with open(self.access, "w", encoding="utf-8") as file:
            file.write("anyone admin\n")
        os.chmod(self.access, 0o600)
        cluster.must("pool", self.pool, 3, "rbd")
        self.make_image(self.image, size)
        self.network = Network()
        self.machines = []

    def make_image(self, name, size):
        must("rbd", "-c", self.conf, "create", f"{self.pool}/{name}", "--size", size, "--image-feature",
             "layering,exclusive-lock,object-map,fast-diff")

    def machine(self, name, number):
        machine = Machine(self, name, number)
        self.machines.append(machine)
        return machine

    def fence(self):
        """Lists the clients that watch the image or hold its lock. Returns how many."""
        found = set()
        for words in (("status",), ("lock", "ls")):
            told = json.loads(must("rbd", "-c", self.conf, *words, f"{self.pool}/{self.image}", "--format", "json"))
            entries = told["watchers"] if isinstance(told, dict) else told
            found |= {entry["address"] for entry in entries}
        for address in found:
            self.cluster.must("ceph", "osd", "blocklist", "add", address, "3600")
        return len(found)

    def lift_fences(self):
        for line in self.cluster.must("ceph", "osd", "blocklist", "ls").splitlines():
            address = re.match(r"(\S+:\d+/\d+) ", line)
            if address:
                self.cluster.must("ceph", "osd", "blocklist", "rm", address.group(1))

    def end(self):
        for machine in self.machines:
            for process in (machine.mapper, machine.daemon):
                if process is not None and process.poll() is None:
                    process.send_signal(signal.SIGCONT)
            machine.end()
        self.network.end()
        self.lift_fences()
        self.cluster.drop_pool(self.pool)
