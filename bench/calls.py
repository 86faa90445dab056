#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Instructions that a call of the library takes, in this process and over a socket, there on both
sides: `valgrind --tool=callgrind` counts them, whatever else the machine does.

    calls.py BUILD_DIR [--before BUILD_DIR] [--pgn FILE] [--only CALL,CALL...]

Each call is made some times and three times as often; the difference, divided, is the call's own.
With --before another build is counted too, which must see the same rows, and each row says by how
much it changed. Prints a table as docs/MEASURED.md has it.
"""

import argparse
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

GAMES = "tests/data/pgn/games_300.pgn"
# A call, and how often it is made at least.
CALLS = {"probe": 2000, "prober": 2000, "get": 2000, "put": 2000, "put-delete": 500,
         "get-100": 40, "unpack-counts": 200, "unpack-evals": 200, "unpack-both": 200,
         "explore": 200, "explore-filter": 40, "explore-no-game": 100, "info": 200, "names": 100,
         "count": 20, "stats": 10, "stats-no-game": 50, "twins": 10, "game": 100,
         "scan-keys-open": 100, "scan-keys": 4, "scan-counts-open": 100, "scan-counts": 4,
         "scan-records-open": 100, "scan-records": 4, "scan-pattern": 4,
         "games-texts-open": 50, "games-texts": 6, "games-pgn-open": 50, "games-pgn": 6}
# Told for each of so many rows, without what the first takes, which `-open` has.
ROWS = {"scan-keys": 2000, "scan-counts": 2000, "scan-records": 2000, "games-texts": 100,
        "games-pgn": 100}
IN_PROCESS_ONLY = ("prober", "unpack-counts", "unpack-evals", "unpack-both")
START_TIMEOUT = 120
# Valgrind leaves no room for a map of 1 TiB.
ENVIRONMENT = {**os.environ, "CHISTORE_MAP_BYTES": "1G"}


def count(command, cwd):
    """Runs it under callgrind; what it prints, and the instructions."""
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}",
                           *command], cwd=cwd, env=ENVIRONMENT, capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"calls.py: {command[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip(), instructions(done.stderr)


def instructions(text):
    return int(re.search(r"Collected : (\d+)", text)[1])


class Build:
    """The programs of a build directory, and a store that they made."""

    def __init__(self, path, folder, games):
        self.path = os.path.abspath(path)
        self.folder = folder
        os.mkdir(folder)
        subprocess.run([self.program("cli/chistore"), "-a", "store", "--quiet", "import",
                        "--statistic", "outcome", os.path.abspath(games)], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)

    def program(self, name):
        # A build from before the command line had a room of its own.
        places = (name, os.path.join("client", name))
        return next(place for place in (os.path.join(self.path, name) for name in places)
                    if os.access(place, os.X_OK))

    def client(self, address, call, times):
        return count([self.program("bench/bench_calls"), address, call, str(times)], self.folder)

    def copy_store(self):
        """What one run changes no other run sees."""
        shutil.rmtree(os.path.join(self.folder, "copy"), ignore_errors=True)
        shutil.copytree(os.path.join(self.folder, "store"), os.path.join(self.folder, "copy"))

    def alone(self, call, times):
        self.copy_store()
        return self.client("copy", call, times)

    def in_process(self, call, times):
        (few, less), (many, more) = (self.alone(call, n) for n in (times, 3 * times))
        return few + " " + many, (more - less) / (2 * times)

    def serve(self, call, times):
        """Both sides of so many calls over a socket: what is printed, client's, server's."""
        log = os.path.join(self.folder, "server.log")
        self.copy_store()
        with open(log, "w", encoding="utf-8") as errors:
            server = subprocess.Popen(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}",
                 self.program("daemon/chistored"), "--store", "default=copy", "--listen",
                 "unix:socket", "--threads", "1", "--sandbox", "off"],
                cwd=self.folder, env=ENVIRONMENT, stdout=errors, stderr=errors)
        try:
            end = time.monotonic() + START_TIMEOUT
            while not os.path.exists(os.path.join(self.folder, "socket")):
                if server.poll() is not None or time.monotonic() > end:
                    with open(log, encoding="utf-8") as said:
                        sys.exit(f"calls.py: the server does not start: {said.read()}")
                time.sleep(0.05)
            printed, client = self.client("unix:socket", call, times)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(START_TIMEOUT)
        with open(log, encoding="utf-8") as said:
            return printed, client, instructions(said.read())

    def over_socket(self, call, times):
        few, many = (self.serve(call, n) for n in (times, 3 * times))
        return few[0] + " " + many[0], [(b - a) / (2 * times) for a, b in zip(few[1:], many[1:])]


@functools.cache
def measure(build, call):
    """What was seen, and instructions of the call: in process, client's side, server's side."""
    times = CALLS[call]
    seen, own = build.in_process(call, times)
    figures = [own, None, None]
    if call not in IN_PROCESS_ONLY:
        also, figures[1:] = build.over_socket(call, times)
        seen += " " + also
    if call in ROWS:
        _, opened = measure(build, call + "-open")
        figures = [(all_rows - first) / ROWS[call] for all_rows, first in zip(figures, opened)]
    return seen, figures


def show(figure, before):
    if figure is None:
        return ["-"] * (1 if before is None else 2)
    if before is None:
        return [f"{figure:,.0f}"]
    return [f"{before:,.0f}", f"{figure:,.0f} ({figure / before - 1:+.1%})"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--before")
    parser.add_argument("--pgn", default=GAMES)
    parser.add_argument("--only", default=",".join(CALLS))
    args = parser.parse_args()
    columns = ["in process", "client's side", "server's side"]
    if args.before:
        columns = [name for column in columns for name in (column + " before", "after")]
    print("\t".join(["call", *columns]))
    with tempfile.TemporaryDirectory() as folder:
        build = Build(args.build, os.path.join(folder, "now"), args.pgn)
        old = args.before and Build(args.before, os.path.join(folder, "before"), args.pgn)
        for call in args.only.split(","):
            seen, figures = measure(build, call)
            before = [None] * 3
            if old:
                seen_before, before = measure(old, call)
                if seen_before != seen:
                    sys.exit(f"calls.py: {call} is not the same: {seen_before} before, {seen} now")
            name = call + (", a row" if call in ROWS else "")
            print("\t".join([name, *(cell for now, then in zip(figures, before)
                                     for cell in show(now, then if old else None))]), flush=True)


if __name__ == "__main__":
    main()
