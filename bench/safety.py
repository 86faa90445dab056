#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures what is paid for safety: the sandbox of the daemon, and the marks by which a write
happens at most once however often it is sent.

    safety.py BUILD_DIR [OPTION]...     see --help

Both sides of a comparison are the same programs on copies of the same store; only the safeguard
differs. What is compared is the processor time that a request takes, in all threads and in the
kernel: it hardly depends on what else the machine does, and not on the disk.
"""

import json
import os
import shutil
import subprocess
import sys

import runner
from runner import Part, Program, Server, Suite
from table import CannotMeasure, Line

# Requests a round.
PROBES, GETS, PUTS = 20000, 100000, 400


def processor_time(process):
    """Nanoseconds that all threads of a Server or Program have been running."""
    folder = f"/proc/{process.process.pid}/task"
    total = 0
    for task in os.listdir(folder):
        with open(f"{folder}/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


class Safety(Suite):
    name = "safety"
    title = "The price of safety"

    def __init__(self, setting):
        super().__init__(setting)
        self.records = setting.records("synthetic")
        self.share = 50 if self.quick else 1

    def copy(self, name):
        """A store of its own: writes change it."""
        path = self.setting.path(name)
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.records.store, path)
        return path

    def start(self, store, sandbox):
        path = f"{store}.{sandbox}"
        return Server([self.tools.path("daemon", "chistored"), "--store", store, "--listen",
                       "unix:" + path, "--sandbox", sandbox], path)

    def missing(self):
        store = self.setting.path("empty")
        if not os.path.exists(store):
            self.tools.chistore("-a", store, "init")
        try:
            # It listens before it confines itself.
            with self.start(store, "require") as server:
                self.tools.chistore("-a", "unix:" + server.path, "ping")
                return {}
        except (CannotMeasure, subprocess.CalledProcessError):
            return {"sandbox": "this system or build has none"}

    def ratio(self, name, sides, times):
        """Each round's times are nanoseconds."""
        for side, mine in zip(sides, times):
            self.note_speed(f"{name}: {side}, requests a second of processor time",
                            [1e9 / time for time in mine])
        return Line(f"{name}: {' / '.join(sides)}", [a / b for a, b in zip(*times)])

    # ---- The sandbox ---------------------------------------------------------------------------

    def ask(self, server, requests, options):
        """Nanoseconds of the server's processor time a request of `chistore bench`."""
        start = processor_time(server)
        said = self.tools.chistore("-a", "unix:" + server.path, "--quiet", "bench", "--json",
                                   "--warmup", "0", "--sample", "5000", "--requests", str(requests),
                                   *options)
        found = json.loads(said.splitlines()[-1])
        if found["errors"] > 0 or found["requests"] != requests:
            raise CannotMeasure(f"of {requests} requests {found['requests']} were answered")
        return (processor_time(server) - start) / requests

    def measure_sandbox(self):
        sides = ("require", "off")
        lines = []
        with self.start(self.copy("kept"), "require") as kept, \
                self.start(self.copy("free"), "off") as free:
            for name, requests, options in (
                    ("probes, one at a time", PROBES, ("--mix", "probe=1")),
                    ("gets, 64 on the way", GETS, ("--mix", "get=1", "--pipeline", "64")),
                    ("durable puts of 4 clients", PUTS,
                     ("--mix", "put=1", "--allow-writes", "--clients", "4"))):
                times = self.repeat(lambda: [
                    self.ask(server, requests // self.share, options) for server in (kept, free)
                ], base=1)
                lines.append(self.ratio(f"sandbox, {name}", sides, times))
        return lines

    # ---- Marks ---------------------------------------------------------------------------------

    def put(self, server, client, operation):
        """Nanoseconds of both processes' time a request."""
        start = processor_time(server) + processor_time(client)
        _, done, _ = client.run(operation)
        return (processor_time(server) + processor_time(client) - start) / done

    def measure_marks(self):
        sides = ("marked", "not")
        lines = []
        program = self.tools.path("bench", "bench_client")
        with self.start(self.copy("marked"), "off") as first, \
                self.start(self.copy("unmarked"), "off") as second, \
                Program(program, "unix:" + first.path, self.records.store,
                        self.records.lists) as marked, \
                Program(program, "unix:" + second.path, self.records.store, self.records.lists,
                        "once") as unmarked:
            for name, operation in (
                    ("durable puts, one at a time", f"puts sync 1 {PUTS // self.share}"),
                    ("durable puts, 64 on the way", f"puts sync 64 {PUTS * 10 // self.share}"),
                    ("puts, 64 on the way", f"puts none 64 {PUTS * 100 // self.share}"),
                    ("probes, 64 on the way", f"pipe random 64 {GETS * 5 // self.share}")):
                times = self.repeat(lambda: [
                    self.put(server, client, operation)
                    for server, client in ((first, marked), (second, unmarked))], base=1)
                lines.append(self.ratio(f"marks, {name}", sides, times))
        return lines

    def parts(self):
        sets = (self.records,)
        return [Part("sandbox", self.measure_sandbox, (3, 8), sets),
                Part("marks", self.measure_marks, (3, 6), sets)]


def suites(setting):
    return [Safety(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
