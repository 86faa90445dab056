#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes openings.bin, a Polyglot book of the lines in chess/openings: a move weighs the number of lines that play it from its
position, within PLIES of the initial position. The board is tests/system/chess_slow.py, not that of the programs under test.

    make_book.py FILE
"""

import collections
import glob
import os
import re
import struct
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "system"))

import chess_slow  # pylint: disable=wrong-import-position

PLIES = 7
KINDS = "pPnNbBrRqQkK"
PROMOTIONS = {"": 0, "n": 1, "b": 2, "r": 3, "q": 4}
CASTLING, PASSED, TURN = 768, 772, 780


def random64():
    """The 781 numbers of the format."""
    with open(os.path.join(SOURCE, "chess", "polyglot", "polyglot_random.c"), encoding="ascii") as file:
        numbers = [int(text, 16) for text in re.findall(r"0x[0-9a-f]{16}", file.read())]
    assert len(numbers) == 781
    return numbers


def hash_of(board, numbers):
    key = 0
    for at, piece in enumerate(board.at):
        if piece != ".":
            key ^= numbers[64 * KINDS.index(piece) + at]
    for i, right in enumerate("KQkq"):
        if right in board.castling:
            key ^= numbers[CASTLING + i]
    if board.passed is not None:
        pushed = board.passed + (-8 if board.white else 8)
        beside = [at for at in (pushed - 1, pushed + 1) if at // 8 == pushed // 8]
        if any(board.at[at] == board.own("P") for at in beside):
            key ^= numbers[PASSED + board.passed % 8]
    return key ^ numbers[TURN] if board.white else key


def bits_of(uci):
    """A move; castling is the king's two steps, as many books have it."""
    start, end = chess_slow.square(uci[:2]), chess_slow.square(uci[2:4])
    return PROMOTIONS[uci[4:]] << 12 | start << 6 | end


def main():
    numbers = random64()
    weights = collections.Counter()
    for path in sorted(glob.glob(os.path.join(SOURCE, "chess", "openings", "*.tsv"))):
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines()[1:]:
                board = chess_slow.Board()
                for san in chess_slow.plain_moves(line.split("\t")[2])[:PLIES]:
                    key = hash_of(board, numbers)
                    weights[key, bits_of(board.play(san))] += 1
    rows = sorted(((key, bits, weight) for (key, bits), weight in weights.items()), key=lambda row: (row[0], -row[2], row[1]))
    with open(sys.argv[1], "wb") as file:
        file.write(b"".join(struct.pack(">QHHI", *row, 0) for row in rows))


main()
