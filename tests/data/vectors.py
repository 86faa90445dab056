#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Computes vectors.csv: of each FEN the normalised FEN, the position key and the control statistic in
hundredths. Written from the definitions in store/FORMAT.md alone, with no line of the programs under test.

    vectors.py FILE             prints the table for the FENs in the first column of FILE
    vectors.py --check FILE     compares it with FILE, and prints the lines that differ
"""

import fractions
import sys

HEAD = "fen,normalised_fen,position_key,control_hundredths"
FILES = "abcdefgh"
# Codes of the key, but for the six of pieces with more to say.
CODES = {"B": 1, "K": 2, "N": 3, "P": 4, "Q": 5, "R": 6, "b": 9, "n": 11, "p": 12, "q": 13, "r": 14}
STRAIGHT = [(1, 0), (-1, 0), (0, 1), (0, -1)]
DIAGONAL = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
SLIDES = {"r": STRAIGHT, "b": DIAGONAL, "q": STRAIGHT + DIAGONAL}
LEAPS = {"n": JUMPS, "k": STRAIGHT + DIAGONAL}


def board_of(placement):
    """(file, rank) to piece, both from 0."""
    board = {}
    for down, row in enumerate(placement.split("/")):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                board[file, 7 - down] = letter
                file += 1
    return board


def attacks(board, at):
    """The squares that the piece there attacks or defends."""
    piece, (file, rank) = board[at], at
    kind = piece.lower()
    if kind == "p":
        forward = 1 if piece == "P" else -1
        steps, far = [(-1, forward), (1, forward)], 1
    else:
        steps, far = (LEAPS[kind], 1) if kind in LEAPS else (SLIDES[kind], 7)
    for right, up in steps:
        for n in range(1, far + 1):
            to = (file + n * right, rank + n * up)
            if not (0 <= to[0] < 8 and 0 <= to[1] < 8):
                break
            yield to
            if to in board:
                break


def statistic(board):
    """Chi-square of homogeneity of the 2 x 64 table of attacks, half up; 0 if a side has none. Computed in
    fractions; only where it lies exactly between two hundredths the sum in doubles decides, as FORMAT.md says."""
    counts = {True: {}, False: {}}
    for at, piece in board.items():
        for to in attacks(board, at):
            side = counts[piece.isupper()]
            side[to] = side.get(to, 0) + 1
    sums = {side: sum(table.values()) for side, table in counts.items()}
    total = sum(sums.values())
    if 0 in sums.values():
        return 0
    exact, doubles = fractions.Fraction(0), 0.0
    for to in sorted(set(counts[True]) | set(counts[False]), key=lambda at: (at[1], at[0])):
        column = counts[True].get(to, 0) + counts[False].get(to, 0)
        for side, table in counts.items():
            expected = fractions.Fraction(sums[side] * column, total)
            exact += (table.get(to, 0) - expected) ** 2 / expected
            rounded = float(sums[side]) * column / total
            doubles += (table.get(to, 0) - rounded) * (table.get(to, 0) - rounded) / rounded
    is_tie = exact * 200 % 2 == 1
    hundredths = int(doubles * 100 + 0.5) if is_tie else int(exact * 100 + fractions.Fraction(1, 2))
    return min(max(hundredths, 1), 25599)


def castling_rooks(board, text):
    """Squares of rooks that may castle: of K and Q the outermost rook on that side of the king, of a file's
    letter the rook there; a right without its king and rook on their back rank is none."""
    found = set()
    for letter in text.replace("-", ""):
        white = letter.isupper()
        rank = 0 if white else 7
        kings = [file for file in range(8) if board.get((file, rank)) == ("K" if white else "k")]
        rooks = [file for file in range(8) if board.get((file, rank)) == ("R" if white else "r")]
        if not kings:
            continue
        king, kind = kings[0], letter.lower()
        if kind == "k":
            rooks = [file for file in rooks if file > king][-1:]
        elif kind == "q":
            rooks = [file for file in rooks if file < king][:1]
        else:
            rooks = [file for file in rooks if file == FILES.index(kind)]
        found |= {(file, rank) for file in rooks}
    return found


def castling_text(board, allowed):
    """X-FEN: the file's letter where another rook is further out."""
    text = ""
    for rank, king, rook in ((0, "K", "R"), (7, "k", "r")):
        at = [file for file in range(8) if board.get((file, rank)) == king]
        for kind, side in (("K", 1), ("Q", -1)):
            for file in (file for file, r in allowed if r == rank and (file - at[0]) * side > 0):
                outside = range(file + side, 8 if side > 0 else -1, side)
                usual = all(board.get((other, rank)) != rook for other in outside)
                letter = kind if usual else FILES[file].upper()
                text += letter if rank == 0 else letter.lower()
    return text or "-"


def passed_pawn(board, white, text):
    """The square of a pawn that can be taken en passant by a legal move, or None."""
    if text == "-":
        return None
    own, foe, forward = ("P", "p", 1) if white else ("p", "P", -1)
    to = (FILES.index(text[0]), int(text[1]) - 1)
    victim = (to[0], to[1] - forward)
    if to[1] != (5 if white else 2) or to in board or board.get(victim) != foe or (to[0], to[1] + forward) in board:
        return None
    king = "K" if white else "k"
    for side in (-1, 1):
        taker = (to[0] + side, victim[1])
        if board.get(taker) != own:
            continue
        after = {at: piece for at, piece in board.items() if at not in (taker, victim)}
        after[to] = own
        danger = {square for at, piece in after.items() if piece.isupper() != white
                  for square in attacks(after, at)}
        if not any(piece == king and at in danger for at, piece in after.items()):
            return victim
    return None


def key_of(board, white, allowed, victim):
    mask, nibbles = 0, ""
    for rank in range(8):
        for file in range(8):
            mask <<= 1
            piece = board.get((file, rank))
            if piece is None:
                continue
            mask |= 1
            code = (10 if white else 0) if piece == "k" else CODES[piece]
            if (file, rank) in allowed:
                code = 7 if piece == "R" else 15
            elif (file, rank) == victim:
                code = 8
            nibbles += f"{code:x}"
    return f"{mask:016x}" + nibbles + "0" * (len(nibbles) % 2)


def row(fen):
    placement, side, castling, passed = fen.split()[:4]
    board, white = board_of(placement), side == "w"
    allowed = castling_rooks(board, castling)
    victim = passed_pawn(board, white, passed)
    passed = "-" if victim is None else FILES[victim[0]] + ("6" if white else "3")
    normal = f"{placement} {side} {castling_text(board, allowed)} {passed} 0 1"
    return f"{fen},{normal},{key_of(board, white, allowed, victim)},{statistic(board)}"


def main():
    check = sys.argv[1] == "--check"
    with open(sys.argv[-1], encoding="ascii") as file:
        lines = file.read().splitlines()
    table = [HEAD] + [row(line.split(",")[0]) for line in lines[1:]]
    if check:
        table = [f"is  {line}\nnot {other}" for line, other in zip(lines, table) if line != other]
    print("\n".join(table), end="\n" if table else "")
    sys.exit(1 if check and table else 0)


if __name__ == "__main__":
    main()
