#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Instructions of whole commands, and of answers over HTTP, as `valgrind --tool=callgrind` counts
them (calls.py has single calls).

    commands.py BUILD_DIR [--before BUILD_DIR] [--pgn FILE] [--only WORDS | --turns N]

With --before the programs of another build are counted too, and each row says by how much it
changed. Threads that wait for each other take not quite the same twice: within some 0.5 %.
With --only those whose names begin so are counted.
With --turns some commands are timed instead, so often and by turns, beside a program that does
nothing: medians of their time and of their processor time, in ms.
"""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse

import calls
import httpd

# What is run on a copy of a store that holds the games, and whose dump and lines are beside it.
COMMANDS = {
    "start": ["--version"],
    "get": ["-a", "copy", "get", "e4", "c5"],
    "explore, a table": ["-a", "copy", "explore", "e4", "--table"],
    "scan, 5,000 rows": ["-a", "copy", "scan", "--limit", "5000"],
    "scan, 5,000 rows, JSON": ["-a", "copy", "--json", "scan", "--limit", "5000"],
    "games, 300 rows": ["-a", "copy", "games"],
    "games of a position": ["-a", "copy", "games", "--moves", "e4 c5"],
    "twins": ["-a", "copy", "twins"],
    "find, a pattern": ["-a", "copy", "find", "--has", "Nd5 kg8"],
    "find, counted": ["-a", "copy", "find", "--count", "--has", "Nd5 kg8"],
    "find, mirrored": ["-a", "copy", "find", "--count", "--has", "Nd5 kg8", "--mirror",
                       "--either-colour"],
    "find, empty squares": ["-a", "copy", "find", "--count", "--has", ".e2 .d2 .d7"],
    "find, any square": ["-a", "copy", "find", "--count", "--has", "R**"],
    "verify": ["-a", "copy", "verify"],
    "import, a new store": ["-a", "new", "import", "--statistic", "outcome", "games.pgn"],
    "import, games that are there": ["-a", "copy", "import", "games.pgn"],
    "import, lines of CSV": ["-a", "new", "import", "--statistic", "outcome", "lines.csv"],
    "dump": ["-a", "copy", "dump"],
    "load": ["-a", "new", "load", "dump"],
    "merge": ["-a", "empty", "merge", "store"],
    "compact": ["-a", "copy", "compact"],
    "export, a book": ["-a", "copy", "export", "-o", "new.bin"],
}
# Each first answer of so many positions, and of three times as many.
ANSWERS = {"HTTP " + name: path for name, path in httpd.ASKED}
POSITIONS = 100


def prepare(build, games):
    """The dump and the lines of its store, and an empty one."""
    os.symlink(os.path.abspath(games), os.path.join(build.folder, "games.pgn"))
    for name, words in (("dump", ["dump"]), ("lines.csv", ["export"]),
                        (os.devnull, ["init", "--statistic", "outcome", "-a", "empty"])):
        with open(os.path.join(build.folder, name), "wb") as file:
            subprocess.run([build.program("cli/chistore"), "-a", "store", *words],
                           cwd=build.folder, stdout=file, check=True)


def count_command(build, name):
    build.copy_store()
    shutil.rmtree(os.path.join(build.folder, "new"), ignore_errors=True)
    return calls.count([build.program("cli/chistore"), *COMMANDS[name]], build.folder)[1]


def count_answers(build, path, n):
    """Of a server's whole run."""
    server = subprocess.Popen(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}",
         build.program("http/chistore-http"), "-a", "store", "--listen", "tcp:127.0.0.1:0",
         "--threads", "1", "--sandbox", "off"],
        cwd=build.folder, env=calls.ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    try:
        port = httpd.port_of(server)
        fens = httpd.positions(build.path, os.path.join(build.folder, "store"), 1, n)
        httpd.ask(port, [path + urllib.parse.quote(fen) for fen in fens])
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=calls.START_TIMEOUT)[1]
    return calls.instructions(said)


def measure(build, name):
    if name in COMMANDS:
        return count_command(build, name)
    few, many = (count_answers(build, ANSWERS[name], n) for n in (POSITIONS, 3 * POSITIONS))
    return (many - few) / (2 * POSITIONS)


def timed(command, folder):
    """Its time and its processor time, in ms."""
    begun = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        used = os.wait4(child.pid, 0)[2]
        took = time.perf_counter() - begun
        child.returncode = 0
    return took * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def take_turns(builds, turns):
    """A start, a look-up, rows and twins of each build, and what a process takes at least."""
    commands = {"nothing": (["/bin/true"], builds[0].folder)}
    for i, build in enumerate(builds):
        build.copy_store()
        for name in ("start", "get", "games of a position", "twins"):
            commands[name + (", before" if i > 0 else "")] = (
                [build.program("cli/chistore"), *COMMANDS[name]], build.folder)
    figures = {name: [] for name in commands}
    for _ in range(turns):
        for name, (command, folder) in commands.items():
            figures[name].append(timed(command, folder))
    for name, rows in figures.items():
        print("\t".join([name, *(f"{statistics.median(row):.2f}" for row in zip(*rows))]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--before")
    parser.add_argument("--pgn", default=calls.GAMES)
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        builds = []
        for name, path in (("now", args.build), ("before", args.before)):
            if path is not None:
                builds.append(calls.Build(path, os.path.join(folder, name), args.pgn))
                if not args.turns:
                    prepare(builds[-1], args.pgn)
        if args.turns:
            take_turns(builds, args.turns)
            return
        for name in (name for name in [*COMMANDS, *ANSWERS] if name.startswith(args.only)):
            figures = [measure(build, name) for build in builds]
            before = figures[1] if len(figures) > 1 else None
            print("\t".join([name, *calls.show(figures[0], before)]), flush=True)


if __name__ == "__main__":
    main()
