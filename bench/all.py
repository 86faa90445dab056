#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures everything that docs/MEASURED.md states, in one run; what `make bench` calls.

    all.py BUILD_DIR [OPTION]...        see --help

With --pgn the positions of those games are measured too, filled up to ten million, and their import.
"""

import sys

import disk
import games
import growth
import peers
import run
import runner
import safety


def suites(setting):
    chosen = (run.suites(setting) + peers.suites(setting) + growth.suites(setting) +
              disk.suites(setting) + safety.suites(setting))
    return chosen + (games.suites(setting) if setting.args.pgn else [])


if __name__ == "__main__":
    sys.exit(runner.main(__doc__, suites))
