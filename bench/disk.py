#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures a large store that is on the disk: its bytes, probes that wait for pages, verify, backup.

    disk.py BUILD_DIR [--large N] [OPTION]...     see --help

The records are those of growth.py. `--large 1000000000 --data FOLDER` makes a billion: 20 GB, and 40
more while it sorts. Before each round the store leaves the page cache.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import runner
from runner import Part, Program, Suite
from table import Line, Size

BYTES_MAX = 21.0  # a position


class Disk(Suite):
    name = "disk"
    title = "A large store on the disk"

    def __init__(self, setting):
        super().__init__(setting)
        self.large = setting.records("played", setting.args.large)

    def measure_bytes(self):
        info = json.loads(self.tools.chistore("-a", self.large.store, "info", "--json"))
        return [Size("bytes of the file a position", info["file_bytes"] / info["positions"],
                     BYTES_MAX)]

    def measure_cold(self):
        pages = {}
        with Program(self.tools.path("bench", "bench_disk"), self.large.store,
                     self.large.lists) as program:
            def once():
                speeds = []
                for name in ("cold-1", "cold-32"):
                    speed, done, read = program.run(name)
                    pages.setdefault(name, []).append(read / done)
                    speeds.append(speed)
                return speeds

            one, many = self.repeat(once, base=0)
        self.note_speed("chi_probe of one key, a second", one)
        self.note_speed("chi_probe of 32 keys, a second", many)
        return [Line("chi_probe from the disk: 32 keys / one", [b / a for a, b in zip(one, many)]),
                Line("pages read for a probe of one key", pages["cold-1"][1:], unit="pages"),
                Line("pages read for one of 32", pages["cold-32"][1:], unit="pages")]

    def timed(self, *command):
        """Positions a second of real time, once."""
        begin = time.monotonic()
        subprocess.run([self.tools.path("cli", "chistore"), "-a", self.large.store, *command],
                       check=True, stdout=subprocess.DEVNULL)
        return self.large.ready["positions"] / (time.monotonic() - begin)

    def measure_whole(self):
        copy = os.path.join(self.large.folder, "copy")
        shutil.rmtree(copy, ignore_errors=True)
        verify = self.timed("--quiet", "verify")
        try:
            backup = self.timed("--quiet", "backup", copy)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        self.note_speed("verify, positions a second", [verify])
        self.note_speed("backup, positions a second", [backup])
        return [Line("backup / verify", [backup / verify])]

    def parts(self):
        sets = (self.large,)
        return [Part("bytes", self.measure_bytes, (1, 0), sets),
                Part("cold", self.measure_cold, (5, 40), sets),
                Part("whole", self.measure_whole, (5 + self.large.size / 2e6, 0), sets)]


def suites(setting):
    return [Disk(setting)]


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
