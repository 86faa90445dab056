#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures a store on RADOS against the same store in a directory, and against plain librados on the
same entries: on one OSD, on three, and with three copies.

    rados.py BUILD_DIR [--pgn FILE] [OPTION]...     see --help

The clusters are made here, by tools/cluster.sh, and removed at the end: all daemons share this
machine's processors and its disk, so the figures are of software, not of a cluster. Several
processes' speed together is what "at once" says. Not a part of `make bench`, as it needs Ceph.
"""

import json
import os
import subprocess
import sys
import time

import runner
from runner import Part, Program, Suite
from table import CannotMeasure, Size

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "cluster.sh")
RECORDS = 200000
SHARDS = 64
PROCESSES = 4
# Calls of a round, by the keys of a call, for each side: some tenths of a second.
CALLS = {1: 500, 100: 50, 4096: 5}
DIRECTORY_CALLS = {1: 50000, 100: 5000, 4096: 50}
PUTS = 200


class Cluster:
    def __init__(self, folder, osds):
        self.folder, self.osds = folder, osds
        self.conf = os.path.join(folder, "ceph.conf")

    def run(self, *args):
        done = subprocess.run([SCRIPT, *map(str, args)], stdout=subprocess.PIPE, encoding="utf-8",
                              env={**os.environ, "CHISTORE_CLUSTER": self.folder}, check=False)
        if done.returncode != 0:
            raise CannotMeasure(f"cluster.sh {' '.join(map(str, args))} failed")
        return done.stdout

    def used(self):
        """Bytes of the omaps on all OSDs, copies included."""
        for osd in range(self.osds):
            self.run("ceph", "tell", f"osd.{osd}", "compact")
        before = None
        while True:  # the OSDs report now and then
            nodes = json.loads(self.run("ceph", "osd", "df", "-f", "json"))["nodes"]
            used = sum(node["kb_used_omap"] for node in nodes) << 10
            if used == before:
                return used
            before = used
            time.sleep(6)

    def processor(self):
        """Seconds that the OSDs have taken of the processors."""
        ticks = 0
        for osd in range(self.osds):
            with open(os.path.join(self.folder, "run", f"osd.{osd}.pid"), encoding="ascii") as pid, \
                    open(f"/proc/{int(pid.read())}/stat", encoding="ascii") as stat:
                fields = stat.read().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        self.run("start", self.osds)
        return self

    def __exit__(self, *_):
        self.run("remove")


class Rados(Suite):
    name = "rados"
    title = "On RADOS, against a directory and plain librados"

    def __init__(self, setting):
        super().__init__(setting)
        setting.args.records = setting.args.records or RECORDS
        self.records = setting.main_records()
        self.path = setting.path

    def address(self, cluster, pool):
        return f"rados:{pool}/bench?conf={cluster.conf}"

    def client(self, address):
        return Program(self.tools.path("bench", "bench_client"), address, self.records.store,
                       self.records.lists)

    def plain(self, cluster, pool):
        return Program(self.tools.path("bench", "bench_librados"), cluster.conf, pool, "plain",
                       str(SHARDS), self.records.store, self.records.lists)

    def new_directory(self):
        path = self.path("directory")
        if not os.path.exists(path):
            self.tools.chistore("-a", path, "init", "--statistic", "control")
        return path

    def measure_cluster(self, osds, copies):
        what = f"{osds} OSD{'s' if osds > 1 else ''}, {copies} cop{'ies' if copies > 1 else 'y'}"
        with Cluster(self.path(f"c{osds}{copies}"), osds) as cluster:
            cluster.run("pool", "chistore", copies)
            address = self.address(cluster, "chistore")
            self.tools.chistore("-a", address, "init", "--shards", str(SHARDS), "--statistic",
                                "control")
            empty = cluster.used()
            with self.client(address) as mine, self.plain(cluster, "chistore") as plain, \
                    self.client(self.new_directory()) as directory:
                lines = self.fill(what, cluster, mine, plain, directory, empty)
                lines += self.read(what, mine, plain, directory)
                lines += self.read_at_once(what, address, mine)
                lines += self.write(what, mine, plain, directory)
                lines += self.costs(what, cluster, mine, plain)
            return lines + self.import_games(what, address)

    def fill(self, what, cluster, mine, plain, directory, empty):
        """Once: the second time finds what is there."""
        ours = mine.run("bulk 4096")
        between = cluster.used()
        base = plain.run("bulk 4096")
        after = cluster.used()
        local = directory.run("bulk 4096")
        self.note_speed(f"{what}: directory, records put, 4,096 a call, a second", [local[0]])
        n = ours[1]
        return [self.compare(f"{what}: all records put, 4,096 a call", ("rados", [ours[0]]),
                             ("librados", [base[0]]), None, "records/s"),
                Size(f"{what}: bytes a position on disk", (between - empty) / n, None),
                Size(f"{what}: the same, plain librados", (after - between) / n, None)]

    def read(self, what, mine, plain, directory):
        lines = []
        for keys, calls in CALLS.items():
            n = keys * calls
            operation = f"get random {n}" if keys == 1 else f"mget random {keys} {n}"
            speeds = self.turns([(mine, operation), (plain, operation)])
            lines.append(self.compare(f"{what}: get, {keys:,} a call", ("rados", speeds[0]),
                                      ("librados", speeds[1]), None))
            operation = operation.rsplit(" ", 1)[0] + f" {DIRECTORY_CALLS[keys] * keys}"
            self.note_speed(f"{what}: directory, get, {keys:,} a call, positions/s",
                            [directory.run(operation)[0] for _ in range(self.rounds)])
        speeds = self.turns([(mine, "range"), (plain, "range")], same=1)
        lines.append(self.compare(f"{what}: scan of all rows", ("rados", speeds[0]),
                                  ("librados, unmerged", speeds[1]), None, "rows/s"))
        self.note_speed(f"{what}: directory, scan of all rows, rows/s",
                        [directory.run("range")[0] for _ in range(self.rounds)])
        return lines

    def cost(self, what, cluster, program, operation):
        """What an entry costs the OSDs: this is what a larger cluster can be reckoned from."""
        before = cluster.processor()
        n = sum(program.run(operation)[1] for _ in range(self.rounds))
        return Size(f"{what}: processor time of the OSDs", (cluster.processor() - before) * 1e6 / n,
                    None, "us")

    def costs(self, what, cluster, mine, plain):
        lines = []
        for operation, name in ((f"get random {CALLS[1]}", "a position, one a call"),
                                (f"mget random 4096 {4096 * CALLS[4096]}", "a position, 4,096 a call"),
                                (f"puts sync 1 {PUTS}", "a put"), ("range", "a row of a scan")):
            for program, side in ((mine, "rados"), (plain, "librados")):
                lines.append(self.cost(f"{what}: {name}, {side}", cluster, program, operation))
        return lines

    def read_at_once(self, what, address, alone):
        operation = f"mget random 100 {100 * CALLS[100]}"
        more = [self.client(address) for _ in range(PROCESSES - 1)]
        try:
            everyone = [alone, *more]

            def once():
                single = alone.run(operation)[0]
                begin = time.monotonic()
                for program in everyone:
                    program.begin(operation)
                done = sum(program.end()[1] for program in everyone)
                return done / (time.monotonic() - begin), single

            together, single = self.repeat(once, base=1)
        finally:
            for program in more:
                program.__exit__()
        return [self.compare(f"{what}: get, 100 a call",
                             (f"{PROCESSES} processes at once", together), ("one", single), None)]

    def write(self, what, mine, plain, directory):
        operation = f"puts sync 1 {PUTS}"
        speeds = self.turns([(mine, operation), (plain, operation)], same=1)
        self.note_speed(f"{what}: directory, synced puts, one at a time, puts/s",
                        [directory.run(operation)[0] for _ in range(self.rounds)])
        return [self.compare(f"{what}: puts, one at a time", ("rados", speeds[0]),
                             ("librados, unread", speeds[1]), None, "puts/s")]

    def import_games(self, what, address):
        if not self.setting.args.pgn:
            return []
        pgn = self.setting.plain_pgn()
        with open(pgn, "rb") as file:
            games = file.read().count(b"\n[Result ")
        speeds = []
        for number in range(2):
            store = self.path("imported") if number else address.replace("/bench?", "/imported?")
            new = ["--shards", str(SHARDS)] if number == 0 else []
            self.tools.chistore("-a", store, "init", "--statistic", "outcome", *new)
            begin = time.monotonic()
            self.tools.chistore("-a", store, "--quiet", "import", "--games", "none", pgn)
            speeds.append([games / (time.monotonic() - begin)])
        subprocess.run(["rm", "-rf", self.path("imported")], check=True)
        return [self.compare(f"{what}: import of {games:,} games", ("rados", speeds[0]),
                             ("directory", speeds[1]), None, "games/s")]

    def parts(self):
        parts = [Part(f"{osds}x{copies}", lambda o=osds, c=copies: self.measure_cluster(o, c),
                      (120, 12)) for osds, copies in ((1, 1), (3, 1), (3, 2), (3, 3))]
        for part in parts:
            part.sets = (self.records,)
        return parts


def suites(setting):
    return [Rados(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
