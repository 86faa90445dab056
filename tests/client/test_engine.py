#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs examples/engine.c on a store: test_engine.py ENGINE CHISTORE."""

import os
import subprocess
import sys
import tempfile

EPD = """rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - acd 4; ce -7; id "shallow";
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - acd 20; ce 31; id "deep";
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - acd 9; ce -15; id "deep";
rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - acd 9; ce -25; id "deep";
rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - acd 9; ce -35; id "deep";
"""

SAYS = """31 at depth 20
not stored
d2d4 is known
g1f3 is known
c2c4 is known
g1f3 is good enough
"""


def main():
    engine, chistore = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        subprocess.run([chistore, "-a", store, "init"], check=True, stdout=subprocess.DEVNULL)
        epd = os.path.join(folder, "evals.epd")
        with open(epd, "w", encoding="utf-8") as out:
            out.write(EPD)
        subprocess.run([chistore, "-a", store, "import", epd], check=True,
                       stdout=subprocess.DEVNULL)
        done = subprocess.run([engine, store], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8")
    if done.stdout != SAYS:
        print(f"the example says: {done.stdout}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
