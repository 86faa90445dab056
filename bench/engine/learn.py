#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Has an engine search the positions of a suite, and store what it finds.

    bench/engine/learn.py DEPTH SUITE.epd "chistore-uci; Store=DIR; Learn=pv; Book=off; Probe=0"
"""
import sys

import match


def main():
    depth, suite, command = sys.argv[1:]
    engine = match.Engine(command)
    with open(suite, encoding="utf-8") as file:
        for line in file:
            engine.say("ucinewgame")
            engine.say(f"position fen {line.split(';')[0]} 0 1")
            engine.say(f"go depth {depth}")
            engine.wait("bestmove", 600)
    engine.say("quit")
    engine.process.wait()


if __name__ == "__main__":
    main()
