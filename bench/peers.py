#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures a store and its daemon against what a user would take instead: Redis and memcached as
servers; LMDB, LevelDB, RocksDB and SQLite inside the process. All hold the same records.

    peers.py BUILD_DIR [--pgn FILE] [--records N] [--rounds N] [--quick] [--only WORD]...

See run.py for verdicts and exit status. Without --pgn the positions are generated. Every server is
started here, on a socket in a temporary directory, and ended here. What is not installed is named,
and its lines say NOT MEASURED; with --quick they are left out: no part is a must in a test.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import table
from games import UNPACKERS
from table import CannotMeasure, Failed, Line

SEED = 19980815
PROGRAM_TIMEOUT = 3600
START_TIMEOUT = 60
ORDERS = ("games", "random", "search")

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

# Entries of a round, by how they are asked for: enough for some tenths of a second.
SINGLES, PIPELINED, BATCHED = 30000, 300000, 1000000


class Program:
    """A measuring program that obeys line by line (bench.h); several can work at once."""

    def __init__(self, *command):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")
        if self.process.stdout.readline() != "ready\n":
            self.process.wait(START_TIMEOUT)
            raise CannotMeasure(f"{self.name} did not start")

    def begin(self, operation):
        self.process.stdin.write(operation + "\n")
        self.process.stdin.flush()

    def end(self):
        """(entries a second, number of entries, sum over them)"""
        words = self.process.stdout.readline().split()
        if len(words) != 3:
            raise CannotMeasure(f"{self.name} failed")
        done, ns, total = (int(word) for word in words)
        return done * 1e9 / max(ns, 1), done, total

    def run(self, operation):
        self.begin(operation)
        return self.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(START_TIMEOUT)
        self.process.stdout.close()


class Server:
    """A server on a Unix socket of its own; ended by its process, whatever happens."""

    def __init__(self, command, path):
        self.path = path
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise CannotMeasure(f"{os.path.basename(command[0])} did not start")
            time.sleep(0.02)

    def answers(self):
        with socket.socket(socket.AF_UNIX) as sock:
            try:
                sock.connect(self.path)
                return True
            except OSError:
                return False

    def private_memory(self):
        """Bytes that are this process' own: neither files mapped nor shared."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as text:
            for line in text:
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) * 1024
        raise CannotMeasure("no Anonymous in smaps_rollup")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(START_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def find_server(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin")
    if path is None:
        raise CannotMeasure(f"no {name}")
    return path


class Peers:
    def __init__(self, args):
        self.build = os.path.abspath(args.build)
        self.pgn = os.path.abspath(args.pgn) if args.pgn else None
        self.records = args.records
        self.rounds = args.rounds
        self.quick = args.quick
        self.speeds = []
        self.sockets = 0
        self.folder = tempfile.mkdtemp(prefix="chi-peers-", dir=os.environ.get("TMPDIR", "/tmp"))
        self.store = self.path("store")
        self.lists = self.path("lists")
        self.share = 20 if self.quick else 1  # of the entries of a round

    def clean_up(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, name):
        path = os.path.join(self.build, "bench", name)
        if not os.access(path, os.X_OK):
            raise CannotMeasure(f"{name} is not built: its library was not there")
        return path

    def chistore(self, *args):
        done = subprocess.run([os.path.join(self.build, "client", "cli", "chistore"), *args],
                              check=True, stdout=subprocess.PIPE, encoding="utf-8",
                              timeout=PROGRAM_TIMEOUT)
        return done.stdout

    def note_speed(self, what, speeds):
        figure = (what, statistics.median(speeds))
        if figure not in self.speeds:  # what two lines are made of
            self.speeds.append(figure)

    def unpack(self, pgn):
        """A plain file of that name's games: make_lists reads no other."""
        out = self.path("games.pgn")
        command = UNPACKERS.get(os.path.splitext(pgn)[1], ["cat"])
        with open(out, "wb") as file:
            subprocess.run(command + [pgn], stdout=file, check=True, timeout=PROGRAM_TIMEOUT)
        return out

    def prepare(self):
        """Makes the store and the lists; what is in them, as text."""
        os.mkdir(self.lists)
        games = self.pgn
        if games is None:
            games = self.path("positions.csv")
            with open(games, "wb") as out:
                subprocess.run([self.program("make_positions"), str(self.records), str(SEED)],
                               stdout=out, check=True, timeout=PROGRAM_TIMEOUT)
            self.chistore("-a", self.store, "init", "--statistic", "external")
            self.chistore("-a", self.store, "--quiet", "import", games)
        else:
            games = self.unpack(games)
            self.chistore("-a", self.store, "--quiet", "import", "--statistic", "control", games)
        done = subprocess.run([self.program("make_lists"), self.store, games, self.lists,
                               str(self.records)], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8", timeout=PROGRAM_TIMEOUT)
        info = json.loads(self.chistore("-a", self.store, "info", "--json"))
        lengths = ", ".join(" ".join(reversed(line.split())) for line in done.stdout.splitlines())
        return [f"{info['positions']:,} records, {info['file_bytes'] >> 20:,} MiB of ours; "
                f"lists: {lengths}"]

    # ---- Turns ---------------------------------------------------------------------------------

    def turns(self, sides, same=True):
        """Runs (program, operation) in turns; the speeds of each. The round before those counts
        not. `same`: all must have found the same."""
        speeds = [[] for _ in sides]
        for number in range(self.rounds + 1):
            results = [program.run(operation) for program, operation in sides]
            if same and len({result[1:] for result in results}) != 1:
                raise CannotMeasure("the programs did not do the same: " +
                                    ", ".join(str(result[1:]) for result in results))
            if number > 0:
                for mine, result in zip(speeds, results):
                    mine.append(result[0])
        return speeds

    def compare(self, name, mine, base, target, unit="positions/s"):
        """A line for (label, speeds) against (label, speeds)."""
        label, speeds = mine
        other, base_speeds = base
        self.note_speed(f"{name}: {label}, {unit}", speeds)
        self.note_speed(f"{name}: {other}, {unit}", base_speeds)
        return Line(f"{name}: {label} / {other}", [a / b for a, b in zip(speeds, base_speeds)],
                    target)

    # ---- Servers -------------------------------------------------------------------------------

    def socket_path(self):
        self.sockets += 1
        return self.path(f"s{self.sockets}")

    def start_chistored(self, store):
        path = self.socket_path()
        daemon = os.path.join(self.build, "daemon", "chistored")
        return Server([daemon, "--store", store, "--listen", "unix:" + path,
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
                lines.append(self.compare("scan of all rows", ("chi_iter_next", speeds[0]),
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
        speeds = {(where, batch): [] for batch in (1000, 10000) for where in (True, False)}
        for _ in range(max(self.rounds // 2, 2)):
            for (over_socket, batch), mine in speeds.items():
                os.sync()  # what one leaves unwritten is not to be another's
                mine.append(self.bulk_once(over_socket, batch))
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
        with self.peer_program("chistore") as one, self.peer_program("chistore") as two:
            lines = []
            for operation, label in (("get-random", "chi_probe"), ("many-random",
                                                                   "chi_probe of 32")):
                ratios = []
                for number in range(self.rounds + 1):
                    begin = time.monotonic()
                    done = one.run(operation)[1]
                    alone = time.monotonic() - begin
                    begin = time.monotonic()
                    one.begin(operation)
                    two.begin(operation)
                    done = (one.end()[1] + two.end()[1]) / done
                    both = time.monotonic() - begin
                    if number > 0:
                        ratios.append(done * alone / both)
                lines.append(Line(f"two processes / one, {label}, random order", ratios,
                                  TWO_TARGET))
            return lines

    def measure_writer(self):
        """A reader's speed with a writer in another process / without."""
        store = self.copy_store()
        quiet, busy, reached = [], [], []
        with Program(self.program("peer_chistore"), store, store, self.lists) as reader, \
                Program(self.program("bench_client"), store, store, self.lists) as writer:
            for number in range(self.rounds + 1):
                begin = time.monotonic()
                before = reader.run("get-random")[0]
                seconds = time.monotonic() - begin
                writer.begin(f"pace {PACE} {int(seconds * 3000) + 300}")
                time.sleep(0.1)
                beside = reader.run("get-random")[0]
                rate = writer.end()[0]
                if number > 0:
                    quiet.append(before)
                    busy.append(beside)
                    reached.append(rate)
        self.note_speed("writer beside the reader, records/s", reached)
        lines = [self.compare("in-process get, random order",
                              (f"beside a writer of {PACE:,} records/s", busy),
                              ("without", quiet), WRITER_TARGET)]
        if statistics.median(reached) < 0.9 * PACE and not self.quick:
            lines.append(Failed("writer", "the disk was too slow for its rate"))
        return lines

    # ---- Memory --------------------------------------------------------------------------------

    def measure_memory(self):
        n = 100 if self.quick else 5000
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
        parts = [("redis", self.measure_redis), ("libraries", self.measure_libraries),
                 ("memcached", self.measure_memcached), ("puts", self.measure_puts),
                 ("bulk", self.measure_bulk)]
        parts += [(name, lambda name=name: self.measure_embedded(name))
                  for name in ("lmdb", "leveldb", "rocksdb", "sqlite")]
        return parts + [("two", self.measure_two), ("writer", self.measure_writer),
                        ("memory", self.measure_memory)]

    def missing(self):
        """Part -> why it cannot be measured here."""
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


WORDS = ["redis", "libraries", "memcached", "puts", "bulk", "lmdb", "leveldb", "rocksdb", "sqlite",
         "two", "writer", "memory"]


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build directory")
    parser.add_argument("--pgn", help="take the records and the order of games from this file")
    parser.add_argument("--records", type=int, default=1000000,
                        help="positions to generate; of a list at most")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison")
    parser.add_argument("--quick", action="store_true",
                        help="20,000 records, 2 rounds, no verdicts: shows that it works")
    parser.add_argument("--only", action="append", choices=WORDS,
                        help="this part only (may be given several times)")
    args = parser.parse_args()
    if args.quick:
        args.records, args.rounds = 20000, 2
    if args.records < 5000 or args.rounds < 1:
        parser.error("at least 5,000 records and 1 round")
    return args


def main():
    args = parse_args()
    peers = Peers(args)
    try:
        for text in table.machine() + peers.prepare() + [f"{args.rounds} rounds"]:
            print(text)
        missing = peers.missing()
        for part, reason in missing.items():
            print(f"not here: {part} ({reason})")
        print(flush=True)
        parts = [part for part in peers.parts() if not args.only or part[0] in args.only]
        if args.quick:
            parts = [part for part in parts if part[0] not in missing]
        lines = table.measure(parts, peers.speeds, not args.quick)
    except (CannotMeasure, OSError, subprocess.SubprocessError) as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 2
    finally:
        peers.clean_up()
    return table.exit_status(lines, args.quick)


if __name__ == "__main__":
    sys.exit(main())
