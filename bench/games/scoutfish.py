#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The games that patterns find, and how fast, against scoutfish: the same games, the same questions.

    scoutfish.py BUILD_DIR SCOUTFISH_DIR --pgn FILE [--rounds N] [--keep FOLDER] [--markdown FILE]

SCOUTFISH_DIR is a checkout of github.com/mcostalba/scoutfish with src/scoutfish built. The questions
are those of its own tests (src/test.py) that are about what is on the board; of a list of patterns
each is a search of ours, unless one condition says all of them. Both are asked for all games with the ply of the first position that
fits, which must be the same, and run in turns, as one process for each question and with one thread;
times are processor time, ratios more than 1 are ours. Left out first are games with a move that is
not legal, where scoutfish stops reading, and those that begin elsewhere, whose FEN it does not read.
"""

import argparse
import ast
import bisect
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

START = b'[Event "'


def timed(command):
    """(wall seconds, processor seconds, standard output)"""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{command} ended with {process.returncode}")
        out.seek(0)
        return wall, usage.ru_utime + usage.ru_stime, out.read()


# ---- Questions ---------------------------------------------------------------------------------

def questions(path):
    """(number, question) of each of its tests; nothing of the file is run."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "QUERIES":
            return [(i + 1, row["q"]) for i, row in enumerate(ast.literal_eval(node.value))]
    raise SystemExit(f"{path} has no list of questions")


def listed(value):
    return value if isinstance(value, list) else [value]


def material(text):
    """Two kings, each before its side's pieces."""
    cut = text.index("K", 1)
    return text[:cut] + "v" + text[cut:]


def quoted(text):
    return '"' + text + '"'


def pieces(part):
    """(letter, square) of each piece in a part of a FEN."""
    found = []
    for number, rank in enumerate(part.split("/")):
        squares = re.sub(r"\d", lambda digit: "." * int(digit[0]), rank)
        found += [(letter, "abcdefgh"[at] + str(8 - number))
                  for at, letter in enumerate(squares) if letter != "."]
    return found


def boards(parts):
    """One condition for several boards with one piece each, else one for each."""
    if len(parts) > 1 and all(len(pieces(part)) == 1 for part in parts):
        return ['has "' + "|".join("".join(pieces(part)[0]) for part in parts) + '"']
    return ["fen " + quoted(part) for part in parts]


BOARD = {
    "sub-fen": boards,
    "material": lambda texts: ["material " + quoted(material(text)) for text in texts],
    "imbalance": lambda texts: ["balance " + quoted(text.replace("v", " v ").strip())
                                for text in texts],
}


def searches(question):
    """Filters of our searches that find the same games together; None: it is not about boards
    alone."""
    patterns, side, wanted = [], "", ""
    for name, value in question.items():
        if name in BOARD:
            patterns.append(BOARD[name](listed(value)))
        elif name == "stm":
            side = " to-move " + ("white" if value == "white" else "black")
        elif name == "result":
            wanted = " result " + ",".join(listed(value))
        else:
            return None
    if len(patterns) != 1:
        return None
    return [pattern + side + wanted for pattern in patterns[0]]


# ---- Answers -----------------------------------------------------------------------------------

class Ours:
    """All games with their plies."""

    def __init__(self, program, store):
        self.program, self.store = program, store

    def ask(self, wanted):
        wall, busy, found = 0.0, 0.0, {}
        for games in wanted:
            some = timed([self.program, self.store, games])
            wall, busy = wall + some[0], busy + some[1]
            for line in some[2].splitlines():
                game, ply = map(int, line.split())
                found[game] = min(ply, found.get(game, ply))
        return wall, busy, found


class Scoutfish:
    def __init__(self, program, index, starts):
        self.program, self.index, self.starts = program, index, starts

    def ask(self, question):
        wall, busy, text = timed([self.program, "scout", self.index, json.dumps(question)])
        matches = json.loads(text[text.index(b"{"):])["matches"]
        return wall, busy, {bisect.bisect_right(self.starts, match["ofs"] + 1): match["ply"][0]
                            for match in matches}


# ---- Games -------------------------------------------------------------------------------------

def starts_of(text):
    return [match.start() for match in re.finditer(rb"^" + re.escape(START), text, re.M)]


def readable(program, pgn, folder):
    """A file of the games without what only one of the two reads; (path, places of games)."""
    whole, path = os.path.join(folder, "all.pgn"), os.path.join(folder, "games.pgn")
    store, none = os.path.join(folder, "all"), os.path.join(folder, "none")
    subprocess.run([program, "-a", store, "--quiet", "import", "--annotations", "none", pgn],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "-a", store, "export", "--format", "pgn", "-o", whole], check=True)
    told = subprocess.run([program, "-a", none, "import", "--games", "none", "--verbose", whole],
                          check=True, capture_output=True, encoding="utf-8").stderr
    cut = {int(number) for number in re.findall(r": game (\d+): .*counted up to ply", told)}
    with open(whole, "rb") as file:
        text = file.read()
    starts = [*starts_of(text), len(text)]
    games = [text[begin:end] for begin, end in zip(starts, starts[1:])]
    with open(path, "wb") as file:
        file.writelines(game for i, game in enumerate(games)
                        if i + 1 not in cut and b"\n[FEN " not in game)
    with open(path, "rb") as file:
        return path, starts_of(file.read())


# ---- The whole ---------------------------------------------------------------------------------

def measure(options, ours, theirs, number, question):
    """A row of the table: medians of runs in turns; what differs ends the run."""
    mine, other = [], []
    for i in range(options.rounds + 1):
        answers = theirs.ask(question), ours.ask(searches(question))
        if answers[0][2] != answers[1][2]:
            differ = sorted(set(answers[0][2].items()) ^ set(answers[1][2].items()))
            sys.exit(f"question {number} {question}: {len(answers[1][2])} and "
                     f"{len(answers[0][2])} games, {len(differ)} differ, such as {differ[:6]}")
        if i > 0:  # the first reads the files from the disk
            other.append(answers[0][1])
            mine.append(answers[1][1])
    text = "; ".join(searches(question))
    text = text.replace("|", "\\|")
    return (f"| {number} | `{text}` | {len(answers[1][2]):,} "
            f"| {1000 * statistics.median(other):.0f} | {1000 * statistics.median(mine):.0f} "
            f"| {statistics.median(a / b for a, b in zip(other, mine)):.2f} |")


def run(options, folder):
    program = os.path.join(options.build, "cli", "chistore")
    scoutfish = os.path.join(options.scoutfish, "src", "scoutfish")
    tests = questions(os.path.join(options.scoutfish, "src", "test.py"))
    covered = [(number, question) for number, question in tests if searches(question)]
    pgn, starts = readable(program, options.pgn, folder)
    store = os.path.join(folder, "store")
    imported = timed([program, "-a", store, "--quiet", "import", "--statistic", "outcome", pgn])
    indexed = timed([scoutfish, "make", pgn])
    index = os.path.splitext(pgn)[0] + ".scout"
    lines = [f"{len(covered)} of its {len(tests)} questions, {len(starts):,} games; import "
             f"{imported[1]:.1f} s, scoutfish's index {indexed[1]:.1f} s.", "",
             "| | searches | games | scoutfish ms | chistore ms | ratio |",
             "|---|---|---|---|---|---|"]
    ours = Ours(os.path.join(options.build, "bench", "bench_find"), store)
    theirs = Scoutfish(scoutfish, index, starts)
    for number, question in covered:
        lines.append(measure(options, ours, theirs, number, question))
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    print("\n" + text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("scoutfish")
    parser.add_argument("--pgn", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", metavar="FOLDER", help="for the files, which then stay")
    parser.add_argument("--markdown", metavar="FILE", help="the table, for docs/BENCHMARKS.md")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="scoutfish-")
    os.makedirs(folder, exist_ok=True)
    try:
        run(options, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
