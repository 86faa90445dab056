#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Takes positions from games, with the moves that another engine finds best in them.

    bench/engine/suite.py [--positions N] [--engine CMD] [--nodes N] GAMES.pgn SUITE.epd REST.pgn

Of every so manyth game of GAMES.pgn one position is taken, from half-move 8 to 60, fewer if the game is shorter; all other games
go to REST.pgn, so that a store of these does not know the games that the positions are from. SUITE.epd has a line for each:
`FEN;MOVE`, the move in UCI.
"""
import argparse
import random
import re
import subprocess
import sys
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
import chistore  # noqa: E402

MOVE = re.compile(r"(?:[KQRBN][a-h1-8x]*[a-h][1-8]|[a-h](?:x[a-h])?[1-8](?:=[QRBN])?|O-O(?:-O)?)")
CLUTTER = re.compile(r"\{[^}]*\}|\([^)]*\)|\d+\.+")


def games(path):
    """The text of each game."""
    with open(path, encoding="latin-1") as file:
        game, moves = [], False
        for line in file:
            if line.startswith("[") and moves:
                yield "".join(game)
                game, moves = [], False
            moves = moves or bool(line.strip() and not line.startswith("["))
            game.append(line)
        yield "".join(game)


def position(game, choose):
    """A position of a game, or None if it is too short or begins elsewhere."""
    if "[FEN " in game:
        return None
    text = CLUTTER.sub(" ", game[game.rindex('"]') + 2:])
    moves = MOVE.findall(text)
    if len(moves) < 12:
        return None
    at = chistore.Position()
    for move in moves[:choose.randint(8, min(60, len(moves) - 1))]:
        try:
            at = at.play(move)
        except chistore.Error:
            return None
    return at if at.moves() else None


class Judge:
    def __init__(self, command, nodes):
        self.nodes = nodes
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def best(self, fen):
        self.process.stdin.write(f"ucinewgame\nposition fen {fen} 0 1\ngo nodes {self.nodes}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("bestmove"):
                return line.split()[1]
        raise SystemExit("the engine ended")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--nodes", type=int, default=200000)
    parser.add_argument("games")
    parser.add_argument("suite")
    parser.add_argument("rest")
    args = parser.parse_args()
    every = sum(1 for _ in games(args.games)) // args.positions
    judge, choose, n = Judge(args.engine, args.nodes), random.Random(1), 0
    with open(args.suite, "w", encoding="utf-8") as suite, open(args.rest, "w", encoding="latin-1") as rest:
        for i, game in enumerate(games(args.games)):
            at = position(game, choose) if n < args.positions and i >= n * every else None
            if at is None:
                rest.write(game)
                continue
            fen = " ".join(at.fen.split()[:4])
            suite.write(f"{fen};{judge.best(fen)}\n")
            n += 1


if __name__ == "__main__":
    main()
