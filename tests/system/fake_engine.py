# SPDX-License-Identifier: MIT
"""A UCI engine that finds nothing: fake_engine.py LOG [WRONG]

Each search adds a line to the file LOG, the position's FEN. WRONG says what is wrong with the
engine; "says FILE": search N answers with the score, "#3" is a mate, and the move of line N of FILE. In
Chess960 the line of LOG ends with " 960". If it is asked for several lines it knows positions of two kings alone, with scores that look
like chance and are always the same.
"""

import os
import sys
import time
import zlib


def squares_of(board):
    """Where the two kings are: a1 is 0, b1 is 1."""
    at, found = 56, {}
    for letter in board:
        if letter == "/":
            at -= 16
        elif letter.isdigit():
            at += int(letter)
        else:
            found[letter] = at
            at += 1
    return found


def name_of(at):
    return "abcdefgh"[at % 8] + str(at // 8 + 1)


def near(a, b):
    return a != b and abs(a % 8 - b % 8) <= 1 and abs(a // 8 - b // 8) <= 1


def lines_of(fen):
    """Score and move of each line of a position of two kings, the best first."""
    board, side = fen.split()[:2]
    kings = squares_of(board)
    own, other = (kings["K"], kings["k"]) if side == "w" else (kings["k"], kings["K"])
    moves = [name_of(own) + name_of(to) for to in range(64) if near(own, to) and not near(to, other)]
    return sorted(((zlib.crc32(f"{board} {side} {move}".encode()) % 100 - 50, move) for move in moves),
                  reverse=True)


class Engine:
    def __init__(self, log, wrong):
        self.log, self.wrong = log, wrong
        self.lines = 1
        self.fen = ""
        self.chess960 = False
        self.is_ready = False

    def say(self, *lines):
        print("\n".join(lines), flush=True)

    def searches(self):
        with open(self.log, encoding="ascii") as file:
            return len(file.readlines())

    def go(self, depth):
        with open(self.log, "a", encoding="ascii") as file:
            file.write(self.fen + " 960" * self.chess960 + "\n")
        if self.wrong == "dies" or self.wrong == "dies at e4" and "4P3" in self.fen:
            os._exit(1)
        if self.wrong == "kills" and self.searches() == 8:
            os.kill(os.getppid(), 9)
            return
        if self.wrong.startswith("says "):
            self.tell_line(depth)
            return
        if self.wrong == "waits" and self.searches() == 2:
            self.wait()
        while self.wrong == "is deaf":
            time.sleep(1)
        while self.wrong == "floods":
            self.say("info depth 1 score cp 1 pv e2e5")
        if self.wrong == "lies":
            self.say("info depth 9 score cp 3 pv a1a8", "info depth 99999 score cp 3 pv e2e4",
                     "info depth 9 score cp 99999999999 pv e2e4",
                     "info depth 9 score mate 0 lowerbound pv e2e4",
                     "info depth 9 multipv 2 score cp 3 pv e2e4",
                     "info depth 9 multipv 4294967297 score cp 3 pv e2e4", "bestmove z9z9")
        elif self.lines > 1 or self.wrong == "has one line":
            self.tell_kings(depth)
        elif self.wrong != "hangs":
            self.tell(depth)

    def tell_line(self, depth):
        with open(self.wrong.split()[1], encoding="ascii") as file:
            score, move = file.read().splitlines()[self.searches() - 1].split()
        kind = f"mate {score[1:]}" if score[0] == "#" else f"cp {score}"
        self.say(f"info depth {depth} score {kind} nodes 9 pv {move}", "bestmove " + move)

    def wait(self):
        """Until the file that it makes is gone."""
        with open(self.log + ".waits", "w", encoding="ascii"):
            pass
        while os.path.exists(self.log + ".waits"):
            time.sleep(0.02)

    def tell_kings(self, depth):
        lines = lines_of(self.fen)
        for rank, (score, move) in enumerate(lines[:self.lines]):
            self.say(f"info depth {depth} multipv {rank + 1} score cp {score} nodes 9 pv {move}")
        self.say("bestmove " + lines[0][1])

    def tell(self, depth):
        white = " w " in self.fen
        move = "h1g1" if "7K w" in self.fen else "g1f3" if white else "g8f6"
        self.say(f"info depth {depth} score cp 12 nodes 500 pv {move} a1a1", "bestmove " + move)
        if self.wrong == "answers twice":
            move = "g8f6" if white else "g1f3"
            self.say(f"info depth {depth} score cp 99 nodes 500 pv {move}", "bestmove " + move)

    def obey(self, words):
        if words[0] == "uci":
            self.say("id name Test")
            if self.wrong != "has one line":
                self.say("option name MultiPV type spin default 1 min 1 max 500")
            if self.wrong != "knows chess alone":
                self.say("option name UCI_Chess960 type check default false")
            self.say("uciok")
        elif words[:4] == ["setoption", "name", "MultiPV", "value"]:
            self.lines = int(words[4])
        elif words[:4] == ["setoption", "name", "UCI_Chess960", "value"]:
            self.chess960 = words[4] == "true"
        elif words[0] == "isready":
            if self.wrong == "loads" and not self.is_ready:
                time.sleep(11)
            self.is_ready = True
            self.say("readyok")
        elif words[0] == "position":
            self.fen = " ".join(words[2:])
        elif words[0] == "go":
            self.go(words[2])


def main():
    engine = Engine(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    for line in sys.stdin:
        if line.split()[:1] == ["quit"]:
            break
        if line.split():
            engine.obey(line.split())


if __name__ == "__main__":
    main()
