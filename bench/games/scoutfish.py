#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The games that patterns find, and how fast, against scoutfish: the same games, the same questions.

    scoutfish.py BUILD_DIR SCOUTFISH_DIR --pgn FILE [--rounds N] [--keep FOLDER] [--markdown FILE]

SCOUTFISH_DIR is a checkout of github.com/mcostalba/scoutfish with src/scoutfish built. The questions
are those of its own tests (src/test.py), of all kinds that it knows, each as one filter. Both are asked for all games with the ply of the
first position that fits, and run in turns, as one process for each question and with one thread; the games must be the same, but that it
misses streaks which begin within one that failed, takes
any promotion for the one that is asked for, and a pawn that promotes for no pawn; times are processor time, ratios more than 1 are ours. Left out first are games with a move that is
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


SAN = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)(x?)([a-h][1-8])(=[QRBN])?")


def played(white, text):
    """The condition of a move, which may take a piece whether it says so or not."""
    if text.startswith("O"):
        return "played " + (text if white else text.lower())
    piece, file, rank, takes, to, made = SAN.fullmatch(text).groups(default="")
    start = "" if not file + rank else (file or "*") + (rank or "*")
    piece = (piece or "P") if white else (piece or "P").lower()
    return "played " + quoted(piece + start + (takes or "-") + to + made)


def exchanged(question):
    """What moves, and what it takes; "": nothing."""
    moved = "".join("[" + letter + letter.lower() + "]" for letter in question.get("moved", ""))
    piece = "[" + re.sub(r"[][]", "", moved) + "]" if moved else "?"
    taken = question.get("captured")
    if not taken:
        return "played " + quoted(piece + "-**") + (
            "" if taken is None else " not played captures")
    return "played " + quoted(piece + "x[" + taken + taken.lower() + "]**")


CONDITIONS = {
    "sub-fen": lambda text: "fen " + quoted(text),
    "material": lambda text: "material " + quoted(material(text)),
    "imbalance": lambda text: "balance " + quoted(text.replace("v", " v ").strip()),
    "white-move": lambda text: played(True, text),
    "black-move": lambda text: played(False, text),
    "stm": lambda text: "to-move " + ("white" if text == "white" else "black"),
    "result-type": lambda text: text,
    "pass": lambda text: "any",
}


def moments(question):
    """Conditions of one moment, or of several with links between them."""
    for name, link in (("sequence", " then "), ("streak", " next ")):
        if name in question:
            return link.join(moments(part) for part in question[name])
    parts = []
    for name, value in question.items():
        if name in CONDITIONS:
            each = [CONDITIONS[name](text) for text in listed(value)]
            parts.append(each[0] if len(each) == 1 else "(" + " or ".join(each) + ")")
    if "moved" in question or "captured" in question:
        parts.append(exchanged(question))
    return " ".join(parts) or "any"


def results(question):
    """The results asked for, of the game, wherever they stand."""
    inner = [part for name in ("sequence", "streak") for part in question.get(name, [])]
    asked = [set(listed(question["result"]))] if "result" in question else []
    return asked + [result for part in inner for result in results(part)]


def filter_of(question):
    wanted = results(question)
    some = set.intersection(*wanted) if wanted else set()
    return moments(question) + (" result " + ",".join(sorted(some)) if wanted else "")


# ---- Answers -----------------------------------------------------------------------------------

class Ours:
    """All games with their plies."""

    def __init__(self, program, store):
        self.program, self.store = program, store

    def ask(self, wanted):
        wall, busy, text = timed([self.program, self.store, wanted])
        return wall, busy, {int(line.split()[0]) for line in text.splitlines()}


class Scoutfish:
    def __init__(self, program, index, starts):
        self.program, self.index, self.starts = program, index, starts

    def ask(self, question):
        wall, busy, text = timed([self.program, "scout", self.index, json.dumps(question)])
        matches = json.loads(text[text.index(b"{"):])["matches"]
        return wall, busy, {bisect.bisect_right(self.starts, match["ofs"] + 1)
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
    mine, other, wanted = [], [], filter_of(question)
    for i in range(options.rounds + 1):
        answers = theirs.ask(question), ours.ask(wanted)
        lacking, more = answers[0][2] - answers[1][2], answers[1][2] - answers[0][2]
        if (lacking and "=" not in wanted) or (more and not ("next" in wanted or "x[" in wanted)):
            sys.exit(f"question {number} {question}: {len(answers[1][2])} and "
                     f"{len(answers[0][2])} games, such as {sorted(lacking | more)[:6]} differ")
        if i > 0:  # the first reads the files from the disk
            other.append(answers[0][1])
            mine.append(answers[1][1])
    text = wanted.replace("|", "\\|")
    return (f"| {number} | `{text}` | {len(answers[0][2]):,} | {len(answers[1][2]):,} "
            f"| {1000 * statistics.median(other):.0f} | {1000 * statistics.median(mine):.0f} "
            f"| {statistics.median(a / b for a, b in zip(other, mine)):.2f} |")


def run(options, folder):
    program = os.path.join(options.build, "cli", "chistore")
    scoutfish = os.path.join(options.scoutfish, "src", "scoutfish")
    tests = questions(os.path.join(options.scoutfish, "src", "test.py"))
    covered = [(number, question) for number, question in tests if "limit" not in question]
    pgn, starts = readable(program, options.pgn, folder)
    store = os.path.join(folder, "store")
    imported = timed([program, "-a", store, "--quiet", "import", "--statistic", "outcome", pgn])
    indexed = timed([scoutfish, "make", pgn])
    index = os.path.splitext(pgn)[0] + ".scout"
    lines = [f"{len(covered)} of its {len(tests)} questions, {len(starts):,} games; import "
             f"{imported[1]:.1f} s, scoutfish's index {indexed[1]:.1f} s.", "",
             "| | filter | games, scoutfish | chistore | scoutfish ms | chistore ms | ratio |",
             "|---|---|--:|--:|--:|--:|--:|"]
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
    parser.add_argument("--markdown", metavar="FILE", help="the table, for docs/MEASURED.md")
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
