#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long questions of games take, and how many games they find.

    questions.py BUILD_DIR --pgn FILE [--rounds N] [--keep FOLDER] [--markdown FILE]

Imports the file once, then asks each question in turns with the others, as one process each. Times
are the processor's, medians; the first row is what a process costs that asks nothing. Pawns are
those of positions of the file: the most frequent structure after 24 plies, and one of a single game.
"""

import argparse
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scoutfish  # noqa: E402

FILTERS = """
material "KRP*vKRP*"
endgame rook
balance "Q v RR" either-colour for 10
points 9..
has "Nd5 kg8 .e6"
isolated d4
played O-O-O
played o-o next played O-O
played "P-*8=[NBR]" either-colour
played ep played "?-**+"
last stalemate
mate
check next mate
played "N-**#"
last dead result 1/2-1/2
played Bxph7+ next played kxh7 next played N-g5+
played captures next played captures next played captures
played N-d5 then within 20 played Bxh7
passed P*6 either-colour for 20
played captures times 20..
rating 2600.. ply 12.. played any reached 1
(eco B90..B99 or eco E60..E99) not result 1/2-1/2
""".strip().splitlines()


def pawns_of(fen):
    """The text of a `pawns` condition."""
    found = {"P": [], "p": []}
    for number, rank in enumerate(fen.split()[0].split("/")):
        squares = re.sub(r"\d", lambda digit: "." * int(digit[0]), rank)
        for file, letter in zip("abcdefgh", squares):
            if letter in found:
                found[letter].append(f"{file}{8 - number}")
    return 'pawns "' + " ".join(found["P"]) + " / " + " ".join(found["p"]) + '"'


def output(program, store, *arguments):
    return subprocess.run([program, "-a", store, *arguments], check=True, capture_output=True,
                          encoding="utf-8").stdout


def structures(program, store):
    """Questions of a frequent and of a rare pawn structure; of all pieces too."""
    often = output(program, store, "scan", "--sort", "games", "--ply", "24..30", "--limit", "1",
                   "--show", "fen").splitlines()[1]
    some = output(program, store, "scan", "--order", "position", "--pieces", "12..13", "--limit",
                  "100", "--show", "games,fen").splitlines()[1:]
    rare = next(row.split("\t")[1] for row in some if row.startswith("1\t"))
    for name, fen in (("popular", often), ("rare", rare)):
        side = " to-move " + ("white" if fen.split()[1] == "w" else "black")
        letters = "".join(letter for letter in fen.split()[0] if letter.isalpha())
        pieces = ("".join(filter(str.isupper, letters)) + "v" +
                  "".join(filter(str.islower, letters)).upper())
        yield f"pawns, {name}", pawns_of(fen)
        yield f"pawns, pieces and side, {name}", f"{pawns_of(fen)} material {pieces}{side}"


def questions(program, store, players):
    """(what it is called, the command)"""
    yield "(nothing)", ["--version"]
    for name, text in structures(program, store):
        yield name, ["-a", store, "games", "--count", "--filter", text]
    for text in FILTERS:
        yield text, ["-a", store, "games", "--count", "--filter", text]
    for player in players:
        yield f"games of {player}", ["-a", store, "games", "--count", "--player", player]
        yield f"positions of {player}", ["-a", store, "scan", "--sort", "games", "--limit", "20",
                                         "--player", player]


def run(options, folder):
    program, store = os.path.join(options.build, "cli", "chistore"), os.path.join(folder, "store")
    if not os.path.exists(store):
        output(program, store, "--quiet", "import", options.pgn)
    with open(options.pgn, "rb") as file:
        digest = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else \
            hashlib.sha256(file.read())
    games = output(program, store, "games", "--count").strip()
    asked = list(questions(program, store, options.player))
    times = {name: [] for name, _ in asked}
    found = {}
    for _ in range(options.rounds):
        for name, arguments in asked:
            _, busy, text = scoutfish.timed([program, *arguments])
            times[name].append(1000 * busy)
            found[name] = text.decode().strip().splitlines()[-1] if "--count" in arguments else ""
    lines = [f"{games} games, SHA-256 {digest.hexdigest()}", "", "| question | games | ms |",
             "|---|--:|--:|"]
    for name, _ in asked:
        shown = "`" + name.replace("|", "\\|") + "`" if name in FILTERS else name
        lines.append(f"| {shown} | {found[name]} | {statistics.median(times[name]):.0f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--pgn", required=True)
    parser.add_argument("--player", action="append", default=["Carlsen,M", "Kasparov, Garry"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", metavar="FOLDER", help="for the store, which then stays")
    parser.add_argument("--markdown", metavar="FILE", help="the table, for docs/MEASURED.md")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="questions-")
    os.makedirs(folder, exist_ok=True)
    try:
        run(options, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
