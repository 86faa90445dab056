# SPDX-License-Identifier: MIT
"""chistore-uci as a GUI drives it: conversations, the book, learning, other engines and liars."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
import unittest

import harness
from cli_base import Base, program

try:
    import chess.engine
except ImportError:
    chess = None

DATA = os.environ["CHISTORE_TEST_DATA"]
MASTERS = os.path.join(DATA, "pgn", "masters_300.pgn")
PATIENCE = float(os.environ.get("CHISTORE_PATIENCE", "120"))
MOVE = re.compile(r"^bestmove ([a-h][1-8][a-h][1-8][nbrq]?)( ponder [a-h][1-8][a-h][1-8][nbrq]?)?$")


class Gui:
    """One end of a conversation."""

    def __init__(self, *args):
        self.process = subprocess.Popen([program("CHISTORE_UCI", "chistore-uci"), *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def say(self, *lines):
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else (line + "\n").encode())
        self.process.stdin.flush()

    def until(self, word):
        """The lines up to the one that begins with the word."""
        lines = []
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"ended before '{word}': {lines}")
            lines.append(line)
            if line.split(" ", 1)[0] == word:
                return lines

    def ask(self, *lines):
        """A search: its lines."""
        self.say(*lines)
        return self.until("bestmove")

    def quit(self):
        self.say("quit")
        self.process.stdin.close()
        self.reader.join(PATIENCE)
        code = self.process.wait(PATIENCE)
        text = self.process.stderr.read().decode()
        self.process.stderr.close()
        self.process.stdout.close()
        return code, text

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass


def is_castling(fen, move):
    """Both squares hold pieces of White."""
    board = re.sub(r"\d", lambda m: "." * int(m.group()), fen.split()[0]).split("/")
    return all(board[8 - int(move[i + 1])]["abcdefgh".index(move[i])].isupper() for i in (0, 2))


class Uci(Base):
    def gui(self, *args):
        gui = Gui(*args)
        self.addCleanup(gui.__exit__, None)
        return gui

    def best(self, lines):
        match = MOVE.match(lines[-1])
        self.assertIsNotNone(match, lines)
        return match.group(1)


class Conversation(Uci):
    def test_hello(self):
        gui = self.gui()
        gui.say("uci")
        lines = gui.until("uciok")
        self.assertTrue(lines[0].startswith("id name Chistore "))
        for name in ("Hash", "MultiPV", "Ponder", "UCI_Chess960", "Store", "Book", "Learn", "AnswerFromStore", "Seed",
                     "Engine"):
            self.assertTrue(any(line.startswith(f"option name {name} type ") for line in lines), name)
        gui.say("isready")
        self.assertEqual(gui.until("readyok"), ["readyok"])
        self.assertEqual(gui.quit(), (0, ""))

    def test_searches(self):
        gui = self.gui()
        lines = gui.ask("position startpos moves e2e4 e7e5", "go depth 6")
        self.assertIn(" depth 6 ", lines[-2])
        self.best(lines)
        lines = gui.ask("position fen 6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 0 1", "go mate 2")
        self.assertEqual(self.best(lines), "a1a8")
        self.assertIn(" score mate 1 ", lines[-2])
        lines = gui.ask("go depth 3 searchmoves e1g1 h1h2")
        self.assertIn(self.best(lines), ("e1g1", "h1h2"))
        lines = gui.ask("setoption name MultiPV value 3", "position startpos", "go nodes 20000")
        self.assertEqual({re.search(r" multipv (\d)", line).group(1) for line in lines[:-1]}, {"1", "2", "3"})
        lines = gui.ask("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3")
        self.assertEqual(lines, ["bestmove 0000"])
        self.assertEqual(gui.quit(), (0, ""))

    def test_chess960(self):
        gui = self.gui()
        for fen, moves in (("4k3/8/8/8/8/8/8/R3K2R w HA - 0 1", ("e1h1", "e1g1")),
                           ("1k6/8/8/8/8/8/8/RK5R w HA - 0 1", ("b1h1", "b1g1"))):
            for value, move in zip(("true", "false"), moves):
                gui.say(f"setoption name UCI_Chess960 value {value}", f"position fen {fen}")
                if fen.startswith("4k3") or value == "true":
                    self.assertEqual(self.best(gui.ask(f"go depth 1 searchmoves {moves[0]}")), move)
        # Both ways of writing it are understood, and what follows is the same.
        for move in ("e1h1", "e1g1"):
            lines = gui.ask(f"position fen 4k3/8/8/8/8/8/8/R3K2R w HA - 0 1 moves {move} e8d8", "go depth 2 searchmoves f1f8")
            self.assertEqual(self.best(lines), "f1f8")

    def moves_of(self, gui, position):
        """All legal moves, as a search of all lines names them."""
        gui.say("position fen " + position)
        gui.say("isready")
        self.assertEqual(gui.until("readyok"), ["readyok"])
        lines = gui.ask("go depth 1")
        return {line.split(" pv ")[1].split()[0] for line in lines if " pv " in line}

    def test_chess960_has_all_moves(self):
        """Published counts of moves, and of moves after these, asked for by a GUI and of an engine
        that another one drives."""
        with open(os.path.join(DATA, "perft_chess960.epd"), encoding="ascii") as file:
            rows = [line.strip().split(";") for line in file if line.strip()]
        guis = self.gui(), self.gui("-e", program("CHISTORE_UCI", "chistore-uci"))
        for gui in guis:
            gui.say("setoption name UCI_Chess960 value true", "setoption name MultiPV value 256")
        castled = 0
        for number, (fen, *counts) in enumerate(rows[60::120]):
            want = dict(count.split() for count in counts)
            gui = guis[number % 2]
            moves = self.moves_of(gui, fen)
            self.assertEqual(len(moves), int(want["D1"]), fen)
            castled += sum(is_castling(fen, move) for move in moves)
            after = [len(self.moves_of(gui, f"{fen} moves {move}")) for move in moves]
            self.assertEqual(sum(after), int(want["D2"]), fen)
        self.assertGreater(castled, 0)

    def test_words_after_searchmoves(self):
        gui = self.gui()
        self.assertIn(" depth 3 ", gui.ask("go searchmoves a2a3 h2h4 depth 3")[-2])
        lines = gui.ask("go depth 2 searchmoves a2a5 h2h3")
        self.assertEqual((lines[0], self.best(lines)), ("info string go: searchmoves: a2a5 is left out", "h2h3"))

    def test_clocks_that_have_run_out(self):
        gui = self.gui()
        for go in ("go wtime 0 btime 0", "go wtime -20 btime 1000", "go movetime 0", "go nodes 0", "go depth 0",
                   "go btime 1000", "go wtime 1 btime 1 winc 0 binc 0 movestogo 1"):
            self.best(gui.ask("position startpos", go))
        self.assertEqual(gui.quit(), (0, ""))

    def test_stop_and_ponder(self):
        gui = self.gui()
        gui.say("position startpos", "go infinite", "isready")
        gui.until("readyok")
        self.best(gui.ask("stop"))
        # A mate is found at once, and yet not told before it is asked for.
        gui.say("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "go ponder wtime 1000 btime 1000")
        gui.until("info")
        gui.say("isready")
        self.assertNotIn("bestmove", " ".join(gui.until("readyok")))
        self.assertEqual(self.best(gui.ask("ponderhit")), "a1a8")
        # So it is when nothing else ends the search but the move played.
        gui.say("go ponder depth 1")
        gui.until("info")
        self.best(gui.ask("ponderhit"))
        # quit ends a search.
        gui.say("go infinite")
        self.assertEqual(gui.quit()[0], 0)

    def test_what_is_wrong_is_said(self):
        gui = self.gui()
        for line, says in (
                ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
                ("position fen 8/8/8/4k3/8/8/8/8 w - - 0 1", "a king is missing"),
                ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP/RNBQKBNR w KQkq - 0 1", "position: "),
                ("position startpos moves e2e4 e2e4", "position: "),
                ("position", "startpos or fen is missing"),
                ("setoption name Hash value 0", "from 1 to 65536"),
                ("setoption name Nothing value 0", "no option 'Nothing'"),
                ("setoption", "the name is missing"),
                ("xyzzy", "no such command: 'xyzzy'"),
                (b"\xff\xfe\x00\x01\n", "is left out"),
                (b"x" * (2 << 20) + b"\n", "is left out"),
        ):
            gui.say(line)
            text = "\n".join(gui.until("info"))
            self.assertIn(says, text)
        lines = gui.ask("go depth x depth 2 movetime -5")
        self.assertIn("info string go: depth is a number, not 'x'", lines)
        self.best(lines)
        self.assertEqual(gui.quit(), (0, ""))

    def test_end_of_input(self):
        done = subprocess.run([program("CHISTORE_UCI", "chistore-uci")], input=b"go infinite\n", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_end_of_input_lets_a_search_end(self):
        done = subprocess.run([program("CHISTORE_UCI", "chistore-uci")], input=b"go depth 5\n", stdout=subprocess.PIPE,
                              timeout=PATIENCE, check=False)
        self.assertIn(b"info depth 5 ", done.stdout)
        self.best(done.stdout.decode().splitlines())

    def test_gui_that_is_gone(self):
        """A search ends with the GUI, though it was to go on."""
        process = subprocess.Popen([program("CHISTORE_UCI", "chistore-uci")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdin.write(b"go depth 64\n")
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE), 1)


class Store(Uci):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", "--statistic", "outcome", MASTERS, address=self.store)

    def book(self, *options, position="position startpos"):
        gui = self.gui("-a", self.store)
        lines = gui.ask(*[f"setoption name {name} value {value}" for name, value in options], position, "go depth 1")
        gui.quit()
        return lines

    def played(self, *moves):
        rows = json.loads(self.out("explore", *moves, "--json", address=self.store))
        return {row["uci"]: row for row in rows["moves"]}

    def test_book(self):
        played = self.played("startpos")
        lines = self.book()
        self.assertIn(self.best(lines), played)
        self.assertRegex(lines[0], r"^info string book: \S+, \d+ games, \d+\.\d %, chi-square \S+$")
        most = max(row["games"] for row in played.values())
        self.assertNotIn("book", self.book(("BookMinGames", most + 1))[0])
        self.assertNotIn("book", self.book(("Book", "off"))[0])
        self.assertNotIn("book", self.book(("BookDepth", "2"), position="position startpos moves e2e4 c7c5")[0])
        self.assertIn("book", self.book(("BookDepth", "3"), position="position startpos moves e2e4 c7c5")[0])

    def test_weighted_book_is_repeated_by_its_seed(self):
        options = [("Book", "weighted"), ("BookVariety", "100"), ("BookMinGames", "1")]
        drawn = [self.best(self.book(*options, ("Seed", seed))) for seed in range(12)]
        self.assertEqual(drawn, [self.best(self.book(*options, ("Seed", seed))) for seed in range(12)])
        self.assertGreater(len(set(drawn)), 1)
        self.assertLessEqual(set(drawn), set(self.played("startpos")))

    def test_book_of_some_games(self):
        lines = self.book(("BookFilter", "player Carlsen"), ("BookMinGames", "1"))
        self.assertIn("book", lines[0])
        lines = self.book(("BookFilter", "plyer Carlsen"))
        self.assertIn("info string book: ", lines[0])
        self.best(lines)

    def learned(self, fen, address):
        record = json.loads(self.out("get", fen, "--json", address=address))
        return {row["engine"]: row for row in record["evals"]}

    def learn(self, address):
        fen = "r1bqkbnr/pppp1ppp/2n5/4p3/3P4/5N2/PPP1PPPP/RNBQKB1R w KQkq - 0 3"
        gui = self.gui("-a", address)
        lines = gui.ask("setoption name Book value off", "setoption name Learn value pv", f"position fen {fen}",
                        "go depth 7")
        best = self.best(lines)
        pv = lines[-2].split(" pv ")[1].split()
        score = int(re.search(r" score cp (-?\d+)", lines[-2]).group(1))
        self.assertEqual(gui.quit(), (0, ""))
        row = self.learned(fen, address)["chistore"]
        self.assertEqual((row["depth"], row["cp"]), (7, score))
        # What is stored is the answer, as deep as it is, and no deeper.
        gui = self.gui("-a", address)
        gui.say("setoption name Book value off", "setoption name AnswerFromStore value 5", f"position fen {fen}")
        lines = gui.ask("go depth 7")
        self.assertIn("info string store: depth 7 by chistore", lines[0])
        self.assertEqual(self.best(lines), best)
        self.assertNotIn("store:", gui.ask("go depth 8")[0])
        self.assertIn("depth 6 by chistore", gui.ask(f"position fen {fen} moves {pv[0]}", "go depth 2")[0])
        gui.quit()

    def test_learns_in_a_directory(self):
        self.learn(self.store)

    def test_learns_through_a_daemon(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            self.learn(daemon.address)

    def test_a_daemon_that_comes_later(self):
        """What was learned waits for it; once the GUI asks whether all is ready, it is read, too."""
        address = "unix:" + self.path("later")
        gui = self.gui("-a", address)
        gui.say("setoption name Book value off", "setoption name Learn value root", "debug on")
        lines = gui.ask("position startpos", "go depth 6")
        self.assertRegex("\n".join(lines), "info string learn: .*; what is learned waits\ninfo string store: ")
        gui.say("isready")  # Still not: what waits is kept.
        self.assertRegex(gui.until("readyok")[0], "^info string store: ")
        with harness.start_daemon({"default": self.store}, listen=[address]):
            while not any(line.startswith("info string learned: depth 6 of ") for line in lines):
                lines = gui.until("info")
            self.assertEqual(self.learned("startpos", address)["chistore"]["depth"], 6)
            gui.say("setoption name AnswerFromStore value 6", "isready")
            self.assertEqual(gui.until("readyok"), ["readyok"])
            self.assertIn("info string store: depth 6 by chistore", gui.ask("go depth 2")[0])
            gui.quit()

    def test_killed_after_the_answer(self):
        """What was found before a GUI is killed is stored, but for the search in progress."""
        gui = self.gui("-a", self.store)
        gui.say("setoption name Book value off", "setoption name Learn value root")
        gui.ask("position startpos", "go depth 6")
        harness.wait_for(lambda: "chistore" in self.learned("startpos", self.store))
        gui.say("go infinite")
        gui.until("info")
        gui.process.kill()
        gui.process.wait()
        self.assertEqual(self.learned("startpos", self.store)["chistore"]["depth"], 6)
        self.cli("verify", address=self.store)

    def test_store_that_is_not_there(self):
        gui = self.gui("-a", self.path("nothing"))
        lines = gui.ask("position startpos", "go depth 2")
        self.assertTrue(lines[0].startswith("info string store: "), lines)
        self.best(lines)


@unittest.skipIf(chess is None, "python-chess (the module chess.engine) is not installed")
class PythonChess(Uci):
    """What users of python-chess do with an engine."""

    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", "--statistic", "outcome", MASTERS, address=self.store)

    def engine(self, *args):
        engine = chess.engine.SimpleEngine.popen_uci([program("CHISTORE_UCI", "chistore-uci"), *args], timeout=PATIENCE)
        self.addCleanup(engine.close)
        return engine

    def test_plays_and_analyses(self):
        engine = self.engine("-a", self.store)
        board = chess.Board()
        for ply in range(8):
            played = engine.play(board, chess.engine.Limit(white_clock=10, black_clock=10), info=chess.engine.INFO_ALL)
            if ply == 0:
                self.assertTrue(played.info["string"].startswith("book: "), played.info)
            board.push(played.move)
        infos = engine.analyse(board, chess.engine.Limit(depth=6), multipv=3)
        self.assertEqual([(info["multipv"], info["depth"]) for info in infos], [(1, 6), (2, 6), (3, 6)])
        for info in infos:
            line = board.copy()
            for move in info["pv"]:
                line.push(move)
        with engine.analysis(board) as analysis:
            self.assertTrue(any(info.get("depth", 0) >= 4 for info in analysis))
        engine.quit()

    def test_ponders_and_castles_as_in_chess960(self):
        engine = self.engine()
        played = engine.play(chess.Board(), chess.engine.Limit(depth=5), ponder=True)
        board = chess.Board()
        board.push(played.move)
        board.push(played.ponder)
        self.assertIn(engine.play(board, chess.engine.Limit(white_clock=2, black_clock=2)).move, board.legal_moves)
        board = chess.Board("1k6/8/8/8/8/8/8/RK5R w HA - 0 1", chess960=True)
        castles = chess.Move.from_uci("b1h1")
        self.assertEqual(engine.play(board, chess.engine.Limit(depth=3), root_moves=[castles]).move, castles)
        engine.quit()


LIAR = """
import sys, time
def say(text):
    sys.stdout.write(text + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == {hello!r}:
        while True: say("info string not yet")
    elif word == "uci": say("option name Lies type spin default 1 min 0 max 9"); say("uciok")
    elif word == "isready": say("readyok")
    elif word == "quit": break
    elif word == "go":
        {go}
"""


class Others(Uci):
    """Another engine searches."""

    def liar(self, go, hello=""):
        path = self.write("liar.py", LIAR.format(go=go, hello=hello))
        return f"{sys.executable} {path}"

    def answers(self, go, line="go movetime 200"):
        gui = self.gui("-e", self.liar(go))
        lines = gui.ask("position startpos", line)
        return gui, lines

    def test_an_engine(self):
        gui = self.gui("-e", program("CHISTORE_UCI", "chistore-uci"))
        lines = gui.ask("setoption name MultiPV value 2", "position startpos moves d2d4", "go depth 5")
        self.assertTrue(any(" multipv 2 " in line for line in lines))
        self.best(lines)
        gui.say("go infinite")
        gui.until("info")
        self.best(gui.ask("stop"))
        self.assertEqual(gui.quit(), (0, ""))

    def test_learns_from_it(self):
        store = self.new_store()
        command = self.liar('say("info depth 30 score cp 55 nodes 7 pv e2e4 e7e5"); say("bestmove e2e4")')
        gui = self.gui("-a", store, "-e", command)
        self.assertEqual(self.best(gui.ask("setoption name Learn value root", "position startpos", "go depth 30")), "e2e4")
        gui.quit()
        row, = json.loads(self.out("get", "startpos", "--json", address=store))["evals"]
        self.assertEqual((row["engine"], row["depth"], row["cp"]), ("engine", 30, 55))

    def test_liars(self):
        for go in (
                'say("bestmove e2e5")',                         # illegal
                'say("bestmove")',
                'say("bestmove " + "x" * 100000)',
                'sys.exit(1)',                                  # dies
                'say("info depth 9 score cp 1 pv e2e4"); sys.exit(1)',
                'sys.stdout.write("\\0\\xff" * 100000); sys.stdout.flush(); say(""); say("bestmove a1a1")',
        ):
            gui, lines = self.answers(go)
            self.best(lines)
            self.assertTrue(any("no legal move in time" in line for line in lines), (go, lines[:3]))
            # The next search has a new one, or none at all: there is an answer.
            self.best(gui.ask("go movetime 50"))
            gui.quit()

    def test_half_lines_and_nuls(self):
        """A line may come in pieces; a NUL ends it; what is no line yet when the engine ends is none."""
        for go, move in (
                ('sys.stdout.write("best"); sys.stdout.flush(); time.sleep(0.2); say("move e2e4")', "e2e4"),
                ('say("info depth 1\\0 bestmove a2a3"); say("bestmove e2e4\\0xyz")', "e2e4"),
                ('say("info depth 9 score cp 1 pv d2d4\\r"); sys.stdout.write("bestmove e2e4"); sys.exit(0)', "d2d4"),
        ):
            gui, lines = self.answers(go, "go movetime 2000")
            self.assertEqual(self.best(lines), move)
            gui.quit()

    def test_numbers_that_are_none(self):
        """Absurd figures of a search do not reach the store; its move is played."""
        store = self.new_store()
        for info in ("depth 99999999999 score cp 1 pv e2e4", "depth -3 score cp 1 pv e2e4", "depth 5 score cp x pv e2e4",
                     "depth 5 score mate 100000 pv e2e4", "depth 5 score cp 1 pv e2e5", "depth 5 score cp 1",
                     "depth 5 score cp 1 lowerbound pv e2e4", "depth 5 multipv 2 score cp 1 pv e2e4"):
            gui = self.gui("-a", store, "-e", self.liar(f'say("info {info}"); say("bestmove e2e4")'))
            self.assertEqual(self.best(gui.ask("setoption name Learn value root", "go depth 5")), "e2e4")
            gui.quit()
        self.assertEqual(self.cli("get", "startpos", address=store, code=1).stdout, "")

    def test_ponderhit_and_one_that_hangs(self):
        gui = self.gui("-e", self.liar("time.sleep(1000)"))
        gui.say("go ponder wtime 1000 btime 1000", "isready")
        gui.until("readyok")
        self.best(gui.ask("ponderhit"))
        gui.quit()

    def test_stop_at_once(self):
        """`stop` on the heels of `go` is heard by the other engine, however the two threads go."""
        gui = self.gui("-e", program("CHISTORE_UCI", "chistore-uci"))
        for _ in range(20):
            lines = gui.ask("position startpos", "go infinite", "stop")
            self.assertFalse([line for line in lines if "started again" in line], lines)
            self.best(lines)
        self.assertEqual(gui.quit(), (0, ""))

    def test_no_move_to_ask_for(self):
        gui = self.gui("-e", self.liar("sys.exit(1)"))
        self.assertEqual(gui.ask("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3"), ["bestmove 0000"])
        gui.quit()

    def test_one_that_floods_from_the_start(self):
        """`uciok` never comes; that is found out, and we search."""
        gui = self.gui("-e", self.liar("pass", hello="uci"))
        lines = gui.ask("position startpos", "go depth 2")
        self.assertIn("does not answer 'uci'", lines[0])
        self.best(lines)
        gui.quit()

    def test_one_that_hangs(self):
        gui, lines = self.answers("time.sleep(1000)", "go wtime 1500 btime 1500")
        self.best(lines)
        gui.quit()

    def test_one_that_floods(self):
        gui, lines = self.answers('\n        while True: say("info string " + "f" * 1000)', "go wtime 600 btime 600")
        self.best(lines)
        gui.quit()

    def test_commands_that_are_none(self):
        for command in ("/no/such/program", "'", "/bin/true", "$(reboot)"):
            gui = self.gui("-e", command)
            lines = gui.ask("position startpos", "go depth 2")
            self.assertTrue(lines[0].startswith("info string engine: "), lines)
            self.best(lines)
            gui.quit()


class Usage(Base):
    def test_usage(self):
        def run(*args):
            return subprocess.run([program("CHISTORE_UCI", "chistore-uci"), *args], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE, check=False)
        self.assertTrue(run("--help").stdout.startswith("Usage: chistore-uci"))
        self.assertRegex(run("--version").stdout, r"^chistore-uci \d+\.\d+\.\d+\n$")
        self.assertEqual(run("--no").returncode, 2)
        self.assertEqual(run("word").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
