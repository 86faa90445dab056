#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures a store and its daemon against what a user would take instead: Redis and memcached as
servers; LMDB, LevelDB, RocksDB and SQLite inside the process. All hold the same records.

    peers.py BUILD_DIR [OPTION]...      see --help

With --pgn the records are those of these games. Every server is started here, on a socket in a
temporary directory, and ended here. What is not installed is named, and its lines say NOT MEASURED;
with --quick they are left out: no part is a must in a test.
"""

import os
import shutil
import statistics
import sys
import time

import runner
from runner import ORDERS, Part, Program, Server, Suite
from table import CannotMeasure, Failed, Line

GET_TARGET = 1.0
BATCH_TARGET = 1.2
RANGE_TARGET = 1.5
RANGE_ROWS_TARGET = 6e6
PUT_TARGET = 1.0
BULK_TARGET = 0.5
EMBEDDED_TARGET = 1.0
MANY_TARGET = 3.0
TWO_TARGET = 1.7
WRITER_TARGET = 0.9
PACE = 1000  # records a second of the writer beside readers

MEMORY_BASE = 64 << 20
MEMORY_CONNECTION = 16 << 10
IDLE_CLIENTS = 5000

# Entries of a round, by how they are asked for: enough for some tenths of a second.
SINGLES, PIPELINED, BATCHED = 30000, 300000, 1000000


def find_server(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin")
    if path is None:
        raise CannotMeasure(f"no {name}")
    return path


class Peers(Suite):
    name = "peers"
    title = "Against other stores and servers"

    def __init__(self, setting):
        super().__init__(setting)
        self.records = setting.main_records()
        self.store, self.lists = self.records.store, self.records.lists
        self.path = setting.path
        self.share = 20 if self.quick else 1  # of the entries of a round
        self.sockets = 0

    def program(self, name):
        return self.tools.path("bench", name)

    def chistore(self, *args):
        return self.tools.chistore(*args)

    # ---- Servers -------------------------------------------------------------------------------

    def socket_path(self):
        self.sockets += 1
        return self.path(f"s{self.sockets}")

    def start_chistored(self, store):
        path = self.socket_path()
        return Server([self.tools.path("daemon", "chistored"), "--store", store, "--listen", "unix:" + path,
                       "--max-connections", "12000"], path)

    def start_redis(self, durable=False):
        path = self.socket_path()
        folder = path + ".d"
        os.mkdir(folder)
        options = (["--appendonly", "yes", "--appendfsync", "always"] if durable
                   else ["--appendonly", "no"])
        return Server([find_server("redis-server"), "--port", "0", "--unixsocket", path, "--dir",
                       folder, "--save", "", "--daemonize", "no", *options], path)

    def start_memcached(self):
        path = self.socket_path()
        user = ["-u", "root"] if os.getuid() == 0 else []
        return Server([find_server("memcached"), "-s", path, "-m", "8192", "-t", "2", *user], path)

    def load_program(self, protocol, server):
        return Program(self.program("bench_load"), protocol, server.path, self.store, self.lists)

    def shapes(self):
        """(name, clients, pipeline, positions a request, positions a round, target)"""
        n = [count // self.share for count in (SINGLES, PIPELINED, BATCHED)]
        return [("1 client, one at a time", 1, 1, 1, n[0], GET_TARGET),
                ("50 clients, one at a time", 50, 1, 1, n[1] // 2, GET_TARGET),
                ("1 client, 16 on the way", 1, 16, 1, n[1], GET_TARGET),
                ("50 clients, 16 on the way", 50, 16, 1, n[1], GET_TARGET),
                ("1 client, 100 on the way", 1, 100, 1, n[1], GET_TARGET),
                ("50 clients, 100 on the way", 50, 100, 1, n[1], GET_TARGET),
                ("1 client, 100 a request", 1, 1, 100, n[2], BATCH_TARGET),
                ("50 clients, 100 a request", 50, 1, 100, n[2], BATCH_TARGET)]

    def measure_server(self, name, other, orders):
        with self.start_chistored(self.store) as daemon, other, \
                self.load_program("chistore", daemon) as mine, \
                self.load_program(name, other) as base:
            base.run("load")
            lines = []
            for order in orders:
                for label, clients, pipeline, batch, n, target in self.shapes():
                    operation = f"get {order} {clients} {pipeline} {batch} {n}"
                    speeds = self.turns([(mine, operation), (base, operation)])
                    lines.append(self.compare(f"get, {order} order, {label}",
                                              ("chistored", speeds[0]), (name, speeds[1]),
                                              target if name == "redis" else None))
            return lines

    def measure_redis(self):
        return self.measure_server("redis", self.start_redis(), ORDERS)

    def measure_memcached(self):
        return self.measure_server("memcached", self.start_memcached(), ("random",))

    def measure_libraries(self):
        """Through the libraries that programs use: ours and hiredis."""
        lines = []
        program = self.program("bench_hiredis")
        with self.start_chistored(self.store) as daemon, self.start_redis() as redis:
            with self.load_program("redis", redis) as loader:
                loader.run("load")
                loader.run("load-rows")
            with Program(self.program("bench_client"), "unix:" + daemon.path, self.store,
                         self.lists) as mine, Program(program, redis.path, self.lists) as base:
                singles, pipelined, batched = (count // self.share
                                               for count in (SINGLES, PIPELINED, BATCHED))
                # What our library has on the way at most is 64.
                for label, operation, target in (
                        ("one at a time", f"get random {singles}", GET_TARGET),
                        ("16 on the way", f"pipe random 16 {pipelined}", None),
                        ("100 a request", f"mget random 100 {batched}", BATCH_TARGET)):
                    speeds = self.turns([(mine, operation), (base, operation)])
                    lines.append(self.compare(f"libraries, {label}", ("libchistore", speeds[0]),
                                              ("hiredis", speeds[1]), target))
                speeds = self.turns([(mine, "range"), (base, "range")])
                lines.append(self.compare("scan of all rows", ("chi_scan_next", speeds[0]),
                                          ("ZRANGEBYLEX by hiredis", speeds[1]), RANGE_TARGET,
                                          "rows/s"))
                lines.append(Line("scan of all rows over the socket", [s / 1e6 for s in speeds[0]],
                                  RANGE_ROWS_TARGET / 1e6, "million rows/s"))
        return lines

    # ---- Writing -------------------------------------------------------------------------------

    def copy_store(self):
        copy = self.path("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.store, copy)
        return copy

    def measure_puts(self):
        n = 5000 // self.share
        with self.start_chistored(self.copy_store()) as daemon, \
                self.start_redis(durable=True) as redis, \
                self.load_program("chistore", daemon) as mine, \
                self.load_program("redis", redis) as base:
            lines = []
            for clients, target in ((50, PUT_TARGET), (1, None)):
                count = n if clients > 1 else n // 10
                operation = f"put {clients} {count}"
                speeds = self.turns([(mine, operation), (base, operation)])
                lines.append(self.compare(f"durable puts, {clients} client{'s' if clients > 1 else ''}",
                                          ("chistored", speeds[0]),
                                          ("redis appendfsync always", speeds[1]), target,
                                          "puts/s"))
            return lines

    def bulk_once(self, over_socket, batch):
        store = self.path("fresh")
        shutil.rmtree(store, ignore_errors=True)
        self.chistore("-a", store, "init", "--statistic", "control")
        program = self.program("bench_client")
        if not over_socket:
            with Program(program, store, self.store, self.lists) as client:
                return client.run(f"bulk {batch}")[0]
        with self.start_chistored(store) as daemon, \
                Program(program, "unix:" + daemon.path, self.store, self.lists) as client:
            return client.run(f"bulk {batch}")[0]

    def measure_bulk(self):
        ways = [(where, batch) for batch in (1000, 10000) for where in (True, False)]

        def once():
            speeds = []
            for over_socket, batch in ways:
                os.sync()  # what one leaves unwritten is not to be another's
                speeds.append(self.bulk_once(over_socket, batch))
            return speeds

        speeds = dict(zip(ways, self.repeat(once, base=1)))
        return [self.compare(f"all records put, {batch:,} a call",
                             ("over the socket", speeds[True, batch]),
                             ("in this process", speeds[False, batch]), BULK_TARGET, "records/s")
                for batch in (1000, 10000)]

    # ---- In the process ------------------------------------------------------------------------

    def peer_program(self, name):
        path = self.store if name in ("chistore", "lmdb") else self.path("peer-" + name)
        return Program(self.program("peer_" + name), path, self.store, self.lists)

    def measure_embedded(self, name):
        with self.peer_program("chistore") as mine, self.peer_program(name) as base:
            base.run("load")
            lines = []
            for order in ORDERS:
                sides = [(mine, "get-" + order), (base, "get-" + order), (mine, "many-" + order)]
                if name == "rocksdb":
                    sides.append((base, "many-" + order))
                speeds = self.turns(sides)
                lines.append(self.compare(f"in-process get, {order} order",
                                          ("chi_probe", speeds[0]), (name, speeds[1]),
                                          EMBEDDED_TARGET))
                lines.append(self.compare(
                    f"in-process get, {order} order", ("chi_probe of 32", speeds[2]),
                    (f"{name} of 32" if len(speeds) > 3 else name, speeds[-1] if len(speeds) > 3
                     else speeds[1]), MANY_TARGET if name == "lmdb" else None))
            return lines

    def measure_two(self):
        def once(one, two, operation):
            begin = time.monotonic()
            done = one.run(operation)[1]
            alone = time.monotonic() - begin
            begin = time.monotonic()
            one.begin(operation)
            two.begin(operation)
            done = (one.end()[1] + two.end()[1]) / done
            return [done * alone / (time.monotonic() - begin)]

        lines = []
        with self.peer_program("chistore") as one, self.peer_program("chistore") as two:
            for operation, label in (("get-random", "chi_probe"),
                                     ("many-random", "chi_probe of 32")):
                ratios = self.repeat(lambda operation=operation: once(one, two, operation))[0]
                lines.append(Line(f"two processes / one, {label}, random order", ratios,
                                  TWO_TARGET))
        return lines

    def measure_writer(self):
        """A reader's speed with a writer in another process / without."""
        store = self.copy_store()
        with Program(self.program("peer_chistore"), store, store, self.lists) as reader, \
                Program(self.program("bench_client"), store, store, self.lists) as writer:

            def once():
                begin = time.monotonic()
                quiet = reader.run("get-random")[0]
                seconds = time.monotonic() - begin
                writer.begin(f"pace {PACE} {int(seconds * 3000) + 300}")
                time.sleep(0.1)
                busy = reader.run("get-random")[0]
                return busy, quiet, writer.end()[0]

            busy, quiet, reached = self.repeat(once, base=1)
        self.note_speed("writer beside the reader, records/s", reached)
        lines = [self.compare("in-process get, random order",
                              (f"beside a writer of {PACE:,} records/s", busy),
                              ("without", quiet), WRITER_TARGET)]
        if statistics.median(reached) < 0.9 * PACE and not self.quick:
            lines.append(Failed("writer", "the disk was too slow for its rate"))
        return lines

    # ---- Memory --------------------------------------------------------------------------------

    def measure_memory(self):
        n = 100 if self.quick else IDLE_CLIENTS
        memory, each = [], []
        for _ in range(max(self.rounds // 3, 2)):
            with self.start_chistored(self.store) as daemon, \
                    self.load_program("chistore", daemon) as client:
                client.run("idle 1")
                before = daemon.private_memory()
                client.run(f"idle {n}")
                after = daemon.private_memory()
            memory.append(after / (1 << 20))
            each.append(max(after - before, 0) / n / 1024)
        most = (MEMORY_BASE + n * MEMORY_CONNECTION) / (1 << 20)
        return [Line(f"private memory of chistored, {n:,} idle clients", memory, most, "MiB",
                     at_most=True),
                Line("of it, an idle client", each, MEMORY_CONNECTION / 1024, "KiB",
                     at_most=True)]

    # ---- All of it -----------------------------------------------------------------------------

    def parts(self):
        """Each server is filled first, and each store."""
        millions = self.records.size / 1e6
        parts = [Part("redis", self.measure_redis, (2 + 4 * millions, 18)),
                 Part("libraries", self.measure_libraries, (2 + 8 * millions, 3 + 0.4 * millions)),
                 Part("memcached", self.measure_memcached, (2 + 4 * millions, 7)),
                 Part("puts", self.measure_puts, (3, 4)),
                 Part("bulk", self.measure_bulk, (0, 10 * millions))]
        parts += [Part(name, lambda name=name: self.measure_embedded(name),
                       (2 + fill * millions, each))
                  for name, fill, each in (("lmdb", 0, 8), ("leveldb", 4, 12), ("rocksdb", 4, 14),
                                           ("sqlite", 3, 14))]
        parts += [Part("two", self.measure_two, (2, 4)), Part("writer", self.measure_writer, (2, 3)),
                  Part("memory", self.measure_memory, (2, 0.5))]
        for part in parts:
            part.sets = (self.records,)
        return parts

    def missing(self):
        needs = {"redis": ("redis-server", None), "memcached": ("memcached", None),
                 "libraries": ("redis-server", "bench_hiredis"), "puts": ("redis-server", None),
                 "leveldb": (None, "peer_leveldb"), "rocksdb": (None, "peer_rocksdb"),
                 "sqlite": (None, "peer_sqlite")}
        found = {}
        for part, (server, program) in needs.items():
            try:
                if server:
                    find_server(server)
                if program:
                    self.program(program)
            except CannotMeasure as reason:
                found[part] = str(reason)
        return found


def suites(setting):
    return [Peers(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
