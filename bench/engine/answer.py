#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long UCI engines take from `go` to `bestmove` where there is nothing to search.

    bench/engine/answer.py [--rounds N] COMMAND...

Each is asked N times (300) for a search of one ply, a twentieth of a second apart, by turns. What it
takes is the waits of a busy machine: the clock of a game runs on in them.
"""
import argparse
import shlex
import subprocess
import time

APART = 0.05


class Engine:
    def __init__(self, command):
        self.command, self.times = command, []
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8", bufsize=1)
        self.ask("isready", "readyok")

    def ask(self, line, word):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        for answer in self.process.stdout:
            if answer.startswith(word):
                return
        raise SystemExit(f"{self.command} has ended")

    def measure(self):
        begun = time.monotonic()
        self.ask("go depth 1", "bestmove")
        self.times.append(1000 * (time.monotonic() - begun))

    def tell(self):
        self.process.communicate("quit\n")
        times = sorted(self.times)
        median, most = times[len(times) // 2], times[len(times) * 99 // 100]
        print(f"{self.command}\tmedian {median:.2f} ms\t99 % in {most:.2f} ms\tlongest {times[-1]:.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    engines = [Engine(command) for command in args.command]
    for _ in range(args.rounds):
        for engine in engines:
            time.sleep(APART)
            engine.measure()
    for engine in engines:
        engine.tell()


if __name__ == "__main__":
    main()
