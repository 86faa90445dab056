# SPDX-License-Identifier: MIT
"""chistore chess-db: the bytes that PyChess' database view sends, with standard output and standard
error in one pipe as there; answers against the PGN file itself. `make clients` runs PyChess' own
module, too: it is that of the directory CHISTORE_PYCHESS."""

import json
import os
import re
import shutil
import subprocess
import sys
import types
import unittest

from cli_base import AFTER_E4, MASTERS, START, Base, harness, program, spawn  # noqa: E402

if os.environ.get("CHISTORE_SANITIZE", "none") != "none":
    print("# skipped: Python has no sanitizer's run time")
    sys.exit(77)

os.environ["PATH"] = "/usr/bin:/bin"  # this Python, not one through a script

GAME = '[Event "{}"]\n[White "A"]\n[Black "B"]\n[Result "{}"]\n\n{} {}\n'
CASTLED = "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4"


class Dialogue:
    """Asks as PyChess does: each request is followed by isready, and what comes before readyok is
    the answer."""

    def __init__(self, address=None):
        self.process = spawn("chess-db", address=address, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ask(self, request):
        self.process.stdin.write(request.encode() + b"\nisready\n")
        self.process.stdin.flush()
        text = b""
        while not text.endswith(b"readyok\n"):
            more = self.process.stdout.readline()
            assert more, text
            text += more
        return text[:-len("readyok\n")].decode()

    def book(self, name):
        text = self.ask(f"book {name} full")
        return json.loads("{" + text.split("{")[1])

    def find(self, book, fen, limit=10, skip=0):
        return json.loads(self.ask(f"find {book} limit 10 skip 0 limit {limit} skip {skip} {fen}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.stdin.write(b"quit\n")
            self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        assert (self.process.wait(), rest) == (0, b""), rest


def result_of(text):
    return re.search(r'^\[Result "(.*)"\]$', text, re.M).group(1)


class ChessDb(Base):
    def copy(self, name="masters.pgn", end="\n"):
        with open(MASTERS, encoding="utf-8") as file:
            return self.write(name, file.read().replace("\n", end))

    def games_of(self, path):
        """Of each game its first bytes' place and its text."""
        with open(path, "rb") as file:
            data = file.read()
        starts = [match.start() for match in re.finditer(rb'^\[Event "', data, re.M)]
        return {at: data[at:end].decode() for at, end in zip(starts, [*starts[1:], len(data)])}

    def test_a_file(self):
        for end in ("\n", "\r\n"):
            path = self.copy("some games.pgn", end)
            games = self.games_of(path)
            first = {at: re.search(r"^1\. ?(\S+)", text, re.M).group(1) for at, text in games.items()}
            with Dialogue() as dialogue:
                made = dialogue.book(path)
                book = path[:-4] + ".bin"
                self.assertEqual((made["Games"], made["Incorrect moves"], made["Book file"]),
                                 (300, 0, book))
                self.assertNotIn("error", made)
                self.assertTrue(os.path.isfile(book))
                answer = dialogue.find(book, START, limit=3000)
            self.assertEqual((answer["fen"], answer["key"]), (START, 5060803636482931868))
            self.assertEqual(sum(move["games"] for move in answer["moves"]), 300)
            for move in answer["moves"]:
                san = ("N" if move["move"][1] == "1" else "") + move["move"][2:]
                mine = {at: games[at] for at in games if first[at] == san}
                # A place is the end of the line before, cut to eight bytes.
                self.assertEqual(sorted(move["pgn offsets"]),
                                 sorted(max(0, at - len(end)) & ~7 for at in mine))
                results = [result_of(text.replace("\r", "")) for text in mine.values()]
                self.assertEqual([move[n] for n in ("games", "wins", "losses", "draws")],
                                 [len(mine), *(results.count(r) for r in ("1-0", "0-1", "1/2-1/2"))])
                self.assertEqual(move["weight"], len(mine) * 65535 // 300)
            os.remove(book)
            self.run_rm(path[:-4] + ".chistore")

    def run_rm(self, directory):
        for name in os.listdir(directory):
            os.remove(os.path.join(directory, name))
        os.rmdir(directory)

    def test_pages_of_games(self):
        path = self.copy()
        with Dialogue() as dialogue:
            book = dialogue.book(path)["Book file"]
            whole, = [m for m in dialogue.find(book, START, limit=3000)["moves"] if m["move"] == "e2e4"]
            with open(path, encoding="utf-8") as file:
                wanted = len(re.findall(r"(?m)^1\. ?e4 ", file.read()))
            self.assertGreater(wanted, 100)
            pages = []
            for skip in range(0, wanted, 50):
                move, = [m for m in dialogue.find(book, START, 50, skip)["moves"]
                         if m["move"] == "e2e4"]
                pages += move["pgn offsets"]
                self.assertEqual(move["games"], wanted)
            self.assertEqual(pages, whole["pgn offsets"])

    def test_a_store_of_many_files(self):
        """All games of the store count, those of the file have places; again counts nothing twice."""
        store = self.path("store")
        one = self.write("one.pgn", GAME.format("x", "1-0", "1. e4 e5", "1-0"))
        two = self.write("two.pgn", GAME.format("y", "0-1", "1. e4 c5", "0-1") * 2)
        with Dialogue(store) as dialogue:
            for path in (one, two, two):
                dialogue.book(path)
            move, = dialogue.find(two[:-4] + ".bin", START)["moves"]
            self.assertEqual((move["games"], move["wins"], move["losses"], move["pgn offsets"]),
                             (2, 1, 1, [0]))
            moves = dialogue.find(one[:-4] + ".bin", AFTER_E4)["moves"]
            self.assertEqual({m["move"]: m["pgn offsets"] for m in moves}, {"e7e5": [0], "c7c5": []})

    def test_a_file_that_was_changed(self):
        """Games that it no longer has were counted for ever: with a name corrected twice, and with other games too."""
        one, two = GAME.format("x", "1-0", "1. e4 e5", "1-0"), GAME.format("y", "0-1", "1. e4 c5", "0-1")
        path = self.write("x.pgn", one + "\n" + two)
        with Dialogue() as dialogue:
            book = dialogue.book(path)["Book file"]
            def found():
                moves = dialogue.find(book, AFTER_E4)["moves"]
                return {m["move"]: (m["games"], m["wins"], m["losses"], len(m["pgn offsets"])) for m in moves}
            both = {"e7e5": (1, 1, 0, 1), "c7c5": (1, 0, 1, 1)}
            self.assertEqual(found(), both)
            for text, moves in ((one.replace('"A"', '"Anna"') + "\n" + two, both),
                                (two + "\n" + one.replace('"A"', '"Ann"'), both),
                                (two, {"c7c5": (1, 0, 1, 1)}),
                                (two + "\n" + one, both),
                                (GAME.format("z", "*", "1. d4 d5", "*"), {})):
                self.write("x.pgn", text)
                self.assertNotIn("error", dialogue.book(path))
                self.assertEqual(found(), moves)
            # What came into the store otherwise stays.
            store = path[:-4] + ".chistore"
            done = harness.run_cli("import", "--quiet", "-", address=store, input=one)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.write("x.pgn", two)
            dialogue.book(path)
            self.assertEqual(found(), {"e7e5": (1, 1, 0, 0), "c7c5": (1, 0, 1, 1)})
            self.assertEqual(dialogue.find(book, START)["moves"][0]["games"], 2)

    def test_a_damaged_index(self):
        """The answer was "corrupt", without the file; the games are counted, but what is lost is not known."""
        path = self.write("x.pgn", GAME.format("x", "1-0", "1. e4 e5", "1-0"))
        with Dialogue() as dialogue:
            book = dialogue.book(path)["Book file"]
            with open(book, "r+b") as file:
                file.seek(34)
                file.write(b"x" * 34)
            for answer in (dialogue.find(book, START), dialogue.book(path), dialogue.book(path)):
                self.assertIn(f"{book}: line 2 is damaged; remove this file", answer["error"])
            os.remove(book)
            shutil.rmtree(path[:-4] + ".chistore")
            self.assertNotIn("error", dialogue.book(path))
            self.assertEqual(len(dialogue.find(book, START)["moves"][0]["pgn offsets"]), 1)

    def test_a_link_in_the_way(self):
        """What a link of the index's temporary name led to was emptied, a store's data.mdb too."""
        path = self.write("linked.pgn", GAME.format("x", "1-0", "1. e4 e5", "1-0"))
        book = path[:-4] + ".bin"
        other = self.write("other", "what was there")
        with Dialogue() as dialogue:
            for name in (f"{book}.new", f"{book}.{dialogue.process.pid}.tmp"):
                os.symlink(other, name)
                dialogue.book(path)
                with open(other, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "what was there")
                os.remove(name)
            self.assertNotIn("error", dialogue.book(path))

    def test_through_a_daemon(self):
        path = self.copy()
        with Dialogue() as dialogue:
            dialogue.book(path)
            here = [dialogue.find(path[:-4] + ".bin", fen) for fen in (START, AFTER_E4, CASTLED)]
        with harness.start_daemon({"default": self.path("store")}, extra_args=["--create", "control"]) \
                as daemon, Dialogue(daemon.address) as dialogue:
            self.assertEqual(dialogue.book(path)["Games"], 300)
            there = [dialogue.find(path[:-4] + ".bin", fen) for fen in (START, AFTER_E4, CASTLED)]
        self.assertEqual(there, here)
        self.assertGreater(len(here[0]["moves"][0]["pgn offsets"]), 0)

    def test_castling_and_promotion(self):
        line = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O"
        start = '[SetUp "1"]\n[FEN "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1"]\n[Result "1-0"]\n\n1. e8=N+ 1-0\n'
        path = self.write("x.pgn", GAME.format("x", "*", line, "*") + "\n[Event \"z\"]\n" + start)
        with Dialogue() as dialogue:
            book = dialogue.book(path)["Book file"]
            for fen, move in ((CASTLED, "e1g1"), ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8n")):
                self.assertEqual([m["move"] for m in dialogue.find(book, fen)["moves"]], [move])

    def test_what_is_wrong_is_in_the_answer(self):
        path = self.write("x.pgn", GAME.format("x", "1-0", "1. e4", "1-0"))
        foreign = self.write("foreign.bin", b"\1" * 64)
        with Dialogue() as dialogue:
            self.assertIn("No such file", dialogue.book(self.path("no.pgn"))["error"])
            self.assertFalse(os.path.exists(self.path("no.bin")))
            book = dialogue.book(path)["Book file"]
            for request, word in ((f"find {book} limit 0 {START}", "limit is 1 to 3000"),
                                  (f"find {book} limit 3001 {START}", "limit is 1 to 3000"),
                                  (f"find {book} skip x {START}", "skip is a number"),
                                  (f"find {book} limit 1", "0 fields"),
                                  (f"find {book} limit 1 x", "1 field"),
                                  (f"find {book} {'x' * 200}", "too long"),
                                  ("find x", "BOOK"), ("find", "BOOK"),
                                  (f"find {self.path('no.bin')} {START}", "no.chistore")):
                answer = json.loads(dialogue.ask(request))
                self.assertEqual(answer["moves"], [], request)
                self.assertIn(word, answer["error"], request)
            self.assertEqual(json.loads(dialogue.ask("book"))["error"], "book FILE.pgn [full]")
            os.rename(foreign, book)
            answer = dialogue.find(book, START)
            self.assertIn("chess-db has not made this file", answer["error"])
            self.assertEqual([(m["move"], m["games"], m["pgn offsets"]) for m in answer["moves"]],
                             [("e2e4", 1, [])])
            self.assertIn("unknown command: position", dialogue.ask("position startpos"))
            self.assertEqual(dialogue.ask("position startpos").count("\n"), 1)

    def test_without_python(self):
        """The package is away, or Python; and no folder of the name it is started in takes its place."""
        os.makedirs(self.path("here/chistore"))
        self.write("here/chistore/__init__.py", "raise SystemExit(0)")
        for changed, words in (({"CHISTORE_PYTHON": self.path("nowhere")}, "No module named 'chistore'"),
                               ({"PATH": self.path("nowhere")}, "needs python3: No such file")):
            done = subprocess.run([program(), "chess-db"], input="isready\n", capture_output=True, check=False,
                                  encoding="utf-8", cwd=self.path("here"), env={**os.environ, **changed})
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertRegex(done.stderr, f"^chistore: chess-db .*{words}")

    def test_a_reader_that_goes_away(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([program(), "chess-db"], input=b"find\n", stdout=write, stderr=subprocess.PIPE,
                              check=False)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (3, b""))

    def test_lines_end_it(self):
        for data, code in ((b"", 0), (b"isready", 0), (b"x" * 10000 + b"\n", 2), (b"a\0b\nisready\n", 2)):
            done = subprocess.run([program(), "chess-db"], input=data, capture_output=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(b"NUL", done.stderr)


@unittest.skipUnless(os.environ.get("CHISTORE_PYCHESS"), "'make clients' runs it")
class PyChess(Base):
    def parser(self):
        """Of the module as it is; what it takes its time limit from needs a desktop."""
        for name in ("pychess.Players", "pychess.Players.ProtocolEngine"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["pychess.Players.ProtocolEngine"].TIME_OUT_SECOND = 60
        sys.path.insert(0, os.environ["CHISTORE_PYCHESS"])
        self.addCleanup(sys.path.remove, os.environ["CHISTORE_PYCHESS"])
        from pychess.external.chess_db import Parser
        return Parser(program() + " chess-db")

    def test_its_own_module(self):
        path = self.path("games.pgn")
        shutil.copy(MASTERS, path)
        parser = self.parser()
        parser.open(path)
        for fen, moves in ((START, 300), (AFTER_E4, 145)):
            found = parser.find(fen, limit=3000)["moves"]
            self.assertEqual(sum(move["games"] for move in found), moves)
            for move in found:
                games = parser.get_games(move["pgn offsets"])
                results = [head["Result"] for head in parser.get_game_headers(games)]
                self.assertEqual((len(games), results.count("1-0"), results.count("0-1")),
                                 (move["games"], move["wins"], move["losses"]), move["move"])
        parser.close()
