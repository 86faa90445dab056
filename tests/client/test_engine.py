#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs examples/engine.c and examples/search.c on a store: test_engine.py ENGINE SEARCH CHISTORE."""

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

SAYS = """+0.31 pawns at depth 20
not stored
d2d4 is known
g1f3 is known
c2c4 is known
g1f3 is good enough
"""

# A knight may be taken; the store says what comes of it.
HANGING = "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1"
REFUTED = """4k3/8/8/3R4/8/8/8/4K3 b - - acd 20; ce 900; id "deep";
"""


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def learn(chistore, store, text):
    path = store + ".epd"
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    subprocess.run([chistore, "-a", store, "import", path], check=True, stdout=subprocess.DEVNULL)


def main():
    engine, search, chistore = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        subprocess.run([chistore, "-a", store, "init"], check=True, stdout=subprocess.DEVNULL)
        learn(chistore, store, EPD)
        says = ask(engine, store)
        before = ask(search, store, "3", HANGING)
        learn(chistore, store, REFUTED)
        after = ask(search, store, "3", HANGING)
    wrong = [] if says == SAYS else [says]
    if not (before.startswith("d2d5 500, ") and before.endswith(" 0 from the store\n")):
        wrong.append(before)
    if after.startswith("d2d5") or after.endswith(" 0 from the store\n"):
        wrong.append(after)
    for text in wrong:
        print(f"the example says: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
