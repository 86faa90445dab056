#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plays a match between two UCI engines, and prints the score with its error bars.

    bench/engine/match.py [--games N] [--time SECONDS+BONUS | --nodes N] [--openings FILE.epd] FIRST SECOND

FIRST and SECOND are commands; options follow after semicolons: "chistore-uci; Store=DIR; Book=off".
Openings are the lines of 8 plies of chess/openings, or positions such as `chistore suite` writes; each
is played twice, with colours exchanged. How White did, and how many games were drawn, is printed too.
The rules are those of libchistore; games end by them, or are lost on time or by an illegal move.
"""
import argparse
import glob
import math
import os
import random
import selectors
import shlex
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
import chistore  # noqa: E402

PLIES_MAX = 400
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Gone(Exception):
    """The engine ended, or does not answer."""


class Engine:
    def __init__(self, text):
        command, *options = [part.strip() for part in text.split(";")]
        self.name = text
        self.longest = 0.0  # seconds over its time, though forgiven or not
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.bytes = b""
        self.lines = []
        self.say("uci")
        self.wait("uciok", 10)
        for option in options:
            name, value = option.split("=", 1)
            self.say(f"setoption name {name} value {value}")
        self.ready()

    def say(self, line):
        try:
            self.process.stdin.write((line + "\n").encode())
        except BrokenPipeError:
            raise Gone from None

    def line(self, until):
        while b"\n" not in self.bytes:
            left = until - time.monotonic()
            if left <= 0 or not self.selector.select(left):
                raise Gone
            read = os.read(self.process.stdout.fileno(), 65536)
            if not read:
                raise Gone
            self.bytes += read
        line, self.bytes = self.bytes.split(b"\n", 1)
        return line.decode("utf-8", "replace").strip()

    def wait(self, word, seconds):
        """The line that begins with the word; those before it are kept in `lines`."""
        until = time.monotonic() + seconds
        self.lines = []
        while True:
            line = self.line(until)
            if line.split(" ", 1)[0] == word:
                return line
            self.lines.append(line)

    def ready(self):
        self.say("isready")
        self.wait("readyok", 30)

    def close(self):
        self.process.kill()
        self.process.wait()


def openings():
    lines = []
    for name in sorted(glob.glob(os.path.join(ROOT, "chess", "openings", "?.tsv"))):
        with open(name, encoding="utf-8") as file:
            for line in file:
                moves = [word for word in line.rstrip("\n").split("\t")[-1].split()
                         if not word[0].isdigit()]
                if len(moves) == 8:
                    lines.append(moves)
    random.Random(1).shuffle(lines)
    return [(START, moves) for moves in lines]


def suite(name):
    with open(name, encoding="utf-8") as file:
        return [(" ".join(line.split()[:4]) + " 0 1", []) for line in file if line.strip()]


def over(position, seen, clock):
    """The result, or None."""
    state = position.state
    if "checkmate" in state:
        return "0-1" if position.fen.split()[1] == "w" else "1-0"
    if "stalemate" in state or "insufficient" in state or clock >= 100 or seen[position.key] >= 3:
        return "1/2-1/2"
    return None


def play(white, black, start, settings):
    """The result, the moves, and why it ended."""
    fen, opening = start
    position, moves, seen, clock = chistore.Position(fen), [], {}, 0
    black_begins = fen.split()[1] == "b"
    clocks = [settings.seconds, settings.seconds]
    for engine in (white, black):
        engine.say("ucinewgame")
        engine.ready()
    while True:
        seen[position.key] = seen.get(position.key, 0) + 1
        result = over(position, seen, clock)
        if result or len(moves) >= PLIES_MAX:
            return result or "1/2-1/2", moves, "rules"
        side = (len(moves) + black_begins) % 2
        if len(moves) < len(opening):
            legal = {move.san: move for move in position.moves()}
            move = legal[opening[len(moves)]]
        else:
            engine = (white, black)[side]
            lost = "0-1" if side == 0 else "1-0"
            lost_by = "first" if engine is settings.engines[0] else "second"
            try:
                engine.say(f"position fen {fen} moves " + " ".join(moves))
                begun = time.monotonic()
                if settings.nodes:
                    engine.say(f"go nodes {settings.nodes}")
                    answer = engine.wait("bestmove", 120)
                else:
                    engine.say("go wtime {} btime {} winc {} binc {}".format(
                        *(int(1000 * c) for c in clocks), *[int(1000 * settings.bonus)] * 2))
                    answer = engine.wait("bestmove", clocks[side] + settings.lag)
                    clocks[side] -= time.monotonic() - begun
                    engine.longest = max(engine.longest, -clocks[side])
                    clocks[side] = max(clocks[side], 0) + settings.bonus
            except Gone:
                died = engine.process.poll() is not None
                return lost, moves, f"{'end' if died else 'time'} of the {lost_by}"
            legal = {move.uci: move for move in position.moves()}
            move = legal.get(answer.split()[1])
            if move is None:
                return lost, moves, f"illegal move of the {lost_by}: {answer}"
        pawn_or_capture = move.is_capture or move.san[0].islower()
        clock = 0 if pawn_or_capture else clock + 1
        moves.append(move.uci)
        position = position.play(move.uci)


def elo(score):
    return -400 * math.log10(1 / min(max(score, 1e-3), 1 - 1e-3) - 1)


def report(counts):
    n = sum(counts)
    score = (counts[0] + counts[1] / 2) / n
    variance = (counts[0] * (1 - score) ** 2 + counts[1] * (0.5 - score) ** 2 + counts[2] * score ** 2) / n
    error = 1.96 * math.sqrt(variance / n)
    return (f"{n} games: {counts[0]} won, {counts[1]} drawn, {counts[2]} lost; {100 * score:.1f} %; "
            f"Elo {elo(score):+.0f} ({elo(score - error):+.0f}..{elo(score + error):+.0f}, 95 %)")


def report_white(results):
    n = len(results)
    white = results.count("1-0") + results.count("1/2-1/2") / 2
    return f"  White scored {100 * white / n:.1f} %, {100 * results.count('1/2-1/2') / n:.1f} % were drawn"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--skip", type=int, default=0, help="games, so that several processes share a match")
    parser.add_argument("--time", default="10+0.1")
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--lag", type=float, default=0.1, help="seconds over its time that an engine is forgiven, each move")
    parser.add_argument("--openings", help="positions, one a line, as EPD")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("first")
    parser.add_argument("second")
    settings = parser.parse_args()
    seconds, _, bonus = settings.time.partition("+")
    settings.seconds, settings.bonus = float(seconds), float(bonus or 0)
    lines = suite(settings.openings) if settings.openings else openings()
    counts, ends, results = [0, 0, 0], {}, []
    engines = [Engine(settings.first), Engine(settings.second)]
    for game in range(settings.skip, settings.skip + settings.games):
        first_is_white = game % 2 == 0
        settings.engines = engines
        white, black = engines if first_is_white else engines[::-1]
        result, moves, why = play(white, black, lines[game // 2 % len(lines)], settings)
        if why != "rules":
            ends[why] = ends.get(why, 0) + 1
            for i, engine in enumerate(engines):
                engine.close()
                engines[i] = Engine(engine.name)
                engines[i].longest = engine.longest
        results.append(result)
        score = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}[result]
        counts[score if first_is_white else 2 - score] += 1
        if settings.verbose:
            print(game + 1, result, len(moves), why, report(counts), flush=True)
    for engine in engines:
        engine.close()
    print(report(counts))
    print(report_white(results))
    for why, n in ends.items():
        print(f"  {n} ended by: {why}")
    if not settings.nodes:
        print("  longest over its time: first {:.3f} s, second {:.3f} s".format(*(e.longest for e in engines)))


if __name__ == "__main__":
    main()
