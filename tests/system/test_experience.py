#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files of experience (.exp): made and read here from what is known of Stockfish's keys alone, and
compared with what `import` and `export` make of them."""

import json
import random
import struct

import harness
from cli_base import START, Base, summary

MASK = 2 ** 64 - 1
KINDS = "PNBRQKpnbrqk"
LINES = ["e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 c1g5 e7e6",
         "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 e8g8",
         "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3 b8d7 d1c2 a7a6 e1c1 h7h6",
         "e2e4 a7a6 e4e5 d7d5 e5d6 e8d7 d6c7 d7e8 c7b8n a8b8"]
# Castling rights that a move from or to a square takes away.
RIGHTS = {"h1": 1, "a1": 2, "e1": 3, "h8": 4, "a8": 8, "e8": 12}
SUGAR = b"SugaR Experience version 2"


def numbers():
    state = 1070372
    while True:
        state ^= state >> 12
        state ^= state << 25 & MASK
        state ^= state >> 27
        yield state * 2685821657736338717 & MASK


SOURCE = numbers()
PIECE = {kind: [next(SOURCE) for _ in range(64)] for kind in KINDS}
PASSED = [next(SOURCE) for _ in range(8)]
CASTLING = [next(SOURCE) for _ in range(16)]
BLACK = next(SOURCE)


def index(name):
    return ord(name[0]) - 97 + 8 * (int(name[1]) - 1)


class Board:
    """Plays moves that are legal, and knows the key and the FEN after them."""

    def __init__(self):
        rows = ["RNBQKBNR", "P" * 8, *["." * 8] * 4, "p" * 8, "rnbqkbnr"]
        self.at = list("".join(rows))
        self.black, self.rights, self.passed, self.quiet, self.plies = False, 15, None, 0, 0

    def bits(self, uci):
        """The move as the files have it."""
        start, end = index(uci[:2]), index(uci[2:4])
        if uci in ("e1g1", "e1c1", "e8g8", "e8c8") and self.at[start] in "Kk":
            return 3 << 14 | start << 6 | end + (1 if uci[2] == "g" else -2)
        if uci[4:]:
            return 1 << 14 | "nbrq".index(uci[4]) << 12 | start << 6 | end
        kind = 2 if self.at[start] in "Pp" and end == self.passed else 0
        return kind << 14 | start << 6 | end

    def play(self, uci):
        start, end = index(uci[:2]), index(uci[2:4])
        piece = self.at[start]
        if piece in "Kk" and abs(start - end) == 2:
            rook = end + 1 if end > start else end - 2
            self.at[(start + end) // 2], self.at[rook] = self.at[rook], "."
        if piece in "Pp" and end == self.passed:
            self.at[end + (8 if self.black else -8)] = "."
        self.quiet = 0 if piece in "Pp" or self.at[end] != "." else self.quiet + 1
        self.at[start] = "."
        self.at[end] = piece if not uci[4:] else uci[4] if self.black else uci[4].upper()
        for name in (uci[:2], uci[2:4]):
            self.rights &= ~RIGHTS.get(name, 0)
        self.black = not self.black
        self.plies += 1
        self.passed = None
        if piece in "Pp" and abs(start - end) == 16:
            mine = "p" if self.black else "P"
            sides = [s for s in (end - 1, end + 1) if s // 8 == end // 8 and self.at[s] == mine]
            self.passed = (start + end) // 2 if sides else None

    def key(self):
        key = CASTLING[self.rights] ^ (BLACK if self.black else 0)
        for square, piece in enumerate(self.at):
            key ^= PIECE[piece][square] if piece != "." else 0
        if self.passed is not None:
            key ^= PASSED[self.passed % 8]
        if self.quiet >= 14:
            number = (self.quiet - 14) // 8
            key ^= number * 6364136223846793005 + 1442695040888963407 & MASK
        return key

    def fen(self):
        rows = ["".join(self.at[8 * r:8 * r + 8]) for r in range(7, -1, -1)]
        text = "/".join(rows)
        for n in range(8, 0, -1):
            text = text.replace("." * n, str(n))
        rights = "".join(c for i, c in enumerate("KQkq") if self.rights >> i & 1) or "-"
        passed = "-" if self.passed is None else "abcdefgh"[self.passed % 8] + str(self.passed // 8 + 1)
        return f"{text} {'b' if self.black else 'w'} {rights} {passed} 0 1"


def brainlearn(key, depth, value, bits):
    return struct.pack("<QiiHHi", key, depth, value, bits, 0xffff, 50)


def sugar(key, depth, value, bits):
    return struct.pack("<QiiiHH", key, bits, value, depth, 3, 0)


class Experience(Base):
    def setUp(self):
        super().setUp()
        self.random = random.Random(15)

    def learned(self, side):
        """What an engine that plays one side keeps of the lines: by position and move a depth and a
        score, and the file's entries."""
        expected, entries = {}, []
        for line in LINES:
            board = Board()
            for uci in line.split():
                if board.black == side:
                    depth, value = 10 + board.plies, self.random.randint(-900, 900)
                    fen = board.fen()
                    if (fen, uci) not in expected:
                        expected[fen, uci] = depth, value
                        entries.append((board.key(), depth, value, board.bits(uci)))
                board.play(uci)
        self.random.shuffle(entries)
        return expected, entries

    def evals(self, fen, address):
        return {e["pv"][0]: e for e in json.loads(self.out("get", fen, address=address))["evals"]}

    def check(self, expected, address, engine):
        for (fen, uci), (depth, value) in expected.items():
            found = self.evals(fen, address)[uci]
            self.assertEqual((found["engine"], found["depth"], found["pv"]), (engine, depth, [uci]))
            # 370 to 391 are a pawn.
            self.assertTrue(abs(value) / 3.92 - 1 < abs(found["cp"]) < abs(value) / 3.7 + 1, found)

    def test_the_published_key(self):
        """Stockfish prints it for the initial position."""
        self.assertEqual(Board().key(), 0x8F8F01D4562F59FB)

    def test_what_an_engine_learned_is_found(self):
        for side, form, begin in ((False, brainlearn, b""), (True, sugar, SUGAR)):
            expected, entries = self.learned(side)
            self.assertGreater(len(entries), 15)
            file = self.path("learned.exp")
            with open(file, "wb") as out:
                out.write(begin + b"".join(form(*entry) for entry in entries))
            here, there = self.path(f"here-{side}"), harness.make_store(self.path(f"there-{side}"))
            with harness.start_daemon({"default": there}) as daemon:
                for address, options in ((here, []), (daemon.addresses[0], ["--engine", "me"])):
                    done = self.cli("import", *options, file, address=address)
                    counts = summary(done.stdout)
                    self.assertEqual((counts["read"], counts["lines"], counts["unplaced"]),
                                     (str(len(entries)), str(len(entries)), "0"))
                    self.check(expected, address, "me" if options else "brainlearn")
                    # A second time nothing is new.
                    again = summary(self.out("import", *options, file, address=address))
                    self.assertEqual((again["new"], again["updated"]), ("0", "0"))

    def test_positions_of_the_store_are_where_a_walk_begins(self):
        """An engine had a book, and its key counts moves without progress."""
        board = Board()
        for uci in LINES[1].split():
            board.play(uci)
        board.play("c2c3")
        for uci in ["f6g4", "e1f1", "g4f6", "f1e1"] * 4:
            board.play(uci)
        file = self.path("book.exp")
        with open(file, "wb") as out:
            out.write(brainlearn(board.key(), 33, 31990, board.bits("f6g4")))
            out.write(brainlearn(0x1234567, 33, 10, 796))
        store = self.path("known")
        self.cli("init", address=store)
        done = self.cli("import", file, address=store, code=3)
        self.assertIn("2 of 2 entries cannot be placed", done.stderr)
        self.assertIn("no position was found", done.stderr)
        self.cli("put", board.fen(), "--note", "x", address=store)
        done = self.cli("import", file, address=store)
        self.assertIn("1 of 2 entries cannot be placed", done.stderr)
        self.assertEqual(self.evals(board.fen(), store)["f6g4"]["mate"], 5)

    def test_what_is_written_is_what_brainlearn_reads(self):
        store = self.path("store")
        board = Board()
        expected = {}
        rows = []
        for i, uci in enumerate(LINES[3].split()):
            score = ("mate", -3) if i == 4 else ("cp", 100 - 37 * i)
            rows.append({"fen": board.fen(), "evals": [
                {"engine": "a", "depth": 9 + i, score[0]: score[1], "pv": [uci]},
                {"engine": "b", "depth": 5, "cp": 1, "pv": [uci]},
                {"engine": "c", "depth": 44, "cp": 0}]})
            expected[board.key()] = 9 + i, -31994 if i == 4 else 100 - 37 * i, board.bits(uci)
            board.play(uci)
        self.cli("import", "--strict", "--format", "jsonl", "-", address=store,
                 input="\n".join(map(json.dumps, rows)))
        file = self.path("out.exp")
        done = self.cli("export", "-o", file, address=store)
        self.assertIn(f"{len(expected)} evaluations have no move or no depth", done.stderr)
        with open(file, "rb") as opened:
            entries = list(struct.iter_unpack("<QiiHHi", opened.read()))
        self.assertEqual(len(entries), len(expected))
        for key, depth, value, bits, padding, percent in entries:
            wanted = expected[key]
            self.assertEqual((depth, bits, padding), (wanted[0], wanted[2], 0))
            if wanted[1] == -31994:
                self.assertEqual((value, percent), (wanted[1], 0))
            else:
                self.assertTrue(3.69 < value / wanted[1] < 3.93 and 0 < percent < 100)
        back = self.path("back")
        self.cli("import", file, address=back)
        again = self.path("again.exp")
        self.cli("export", "-o", again, address=back)
        with open(file, "rb") as one, open(again, "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_a_position_without_room_is_counted(self):
        """It was told by the number of a line that the file does not have, and missing in the summary."""
        store, file = self.path("full"), self.path("one.exp")
        row = {"fen": START, "evals": [{"engine": f"e{i}", "depth": 1, "cp": 1} for i in range(64)]}
        self.cli("import", "--format", "jsonl", "-", address=store, input=json.dumps(row))
        with open(file, "wb") as out:
            out.write(brainlearn(Board().key(), 20, 30, Board().bits("e2e4")))
        done = self.cli("import", file, address=store)
        self.assertEqual(summary(done.stdout)["rejected"], "1")
        self.assertIn(f"{file}: a position was not stored: ", done.stderr)

    def test_no_one_who_can_move_is_mated(self):
        """A score of mate at once was stored as one against the side to move."""
        store, file = self.path("mates"), self.path("mates.exp")
        with open(file, "wb") as out:
            for uci, value in (("e2e4", 32000), ("d2d4", -32000), ("c2c4", 31999)):
                out.write(brainlearn(Board().key(), 20, value, Board().bits(uci)))
        self.assertEqual(summary(self.out("import", file, address=store))["unscored"], "2")
        self.assertEqual({uci: e["mate"] for uci, e in self.evals(START, store).items()}, {"c2c4": 1})

    def test_bad_files_and_options_are_refused(self):
        store = self.path("none")
        for name, content, why in (("empty", b"", "there is no entry"),
                                   ("cut", b"x" * 47, "and the last one 23"),
                                   ("new", b"Experience version 3.0", "is not read"),
                                   ("fork", SUGAR + b"\0" * 48, "with a header after it")):
            file = self.path(name + ".exp")
            with open(file, "wb") as out:
                out.write(content)
            done = self.cli("import", file, address=store, code=2)
            self.assertIn(f"{name}.exp: ", done.stderr)
            self.assertIn(why, done.stderr)
        done = self.cli("import", "--add", self.path("cut.exp"), address=store, code=2)
        self.assertIn("--add goes with positions", done.stderr)
        text = self.write("a.epd", START + "\n")
        done = self.cli("import", self.path("cut.exp"), text, address=store, code=2)
        self.assertIn("is a file of experience", done.stderr)
