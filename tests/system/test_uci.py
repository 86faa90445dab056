# SPDX-License-Identifier: MIT
"""chistore-uci as a GUI drives it: conversations, the book, learning."""

import json
import math
import os
import re
import subprocess
import time
import unittest

import harness
from cli_base import MASTERS, START, Base, program
from uci_base import PATIENCE, Uci

try:
    import chess.engine
except ImportError:
    chess = None

DATA = os.environ["CHISTORE_TEST_DATA"]


def is_castling(fen, move):
    """Both squares hold pieces of White."""
    board = re.sub(r"\d", lambda m: "." * int(m.group()), fen.split()[0]).split("/")
    return all(board[8 - int(move[i + 1])]["abcdefgh".index(move[i])].isupper() for i in (0, 2))


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

    def test_best_is_supported_and_surely_good(self):
        """It opened 1.Nh3, of which 23 games were lucky."""
        def bound(row, white):
            n = row["white"] + row["draws"] + row["black"]
            s = ((row["white"] if white else row["black"]) + row["draws"] / 2) / n
            return (s + 1.96**2 / 2 / n - 1.96 * math.sqrt(s * (1 - s) / n + 1.96**2 / 4 / n**2)) / (1 + 1.96**2 / n)

        for moves in ((), ("e2e4",), ("d2d4",), ("d2d4", "g8f6"), ("e2e4", "c7c5")):
            position = "position startpos" + (" moves " + " ".join(moves) if moves else "")
            rows = self.played("startpos", *moves).values()
            games = sum(row["white"] + row["draws"] + row["black"] for row in rows)
            known = [row for row in rows if row["games"] >= max(10, games / 20)]
            wanted = max(known, key=lambda row: bound(row, len(moves) % 2 == 0))["uci"]
            self.assertEqual(self.best(self.book(("Book", "best"), position=position)), wanted, moves)
        # Nine games are too few, though BookMinGames allows them.
        rare = next(uci for uci, row in self.played("startpos", "e2e4").items() if 5 <= row["games"] < 10)
        after = f"position startpos moves e2e4 {rare}"
        self.assertIn("book", self.book(("Book", "weighted"), ("BookMinGames", "1"), position=after)[0])
        self.assertNotIn("book", self.book(("Book", "best"), ("BookMinGames", "1"), position=after)[0])

    def test_default_book_draws_what_is_played(self):
        gui = self.gui("-a", self.store)
        gui.say("uci")
        offered = gui.until("uciok")
        self.assertIn("option name Book type combo default weighted var off var best var weighted", offered)
        self.assertIn("option name BookVariety type spin default 0 min 0 max 100", offered)
        rows = self.played("startpos")
        drawn = [self.best(gui.ask("position startpos", "go depth 1")) for _ in range(300)]
        gui.quit()
        points = {uci: 2 * row["white"] + row["draws"] for uci, row in rows.items() if row["games"] >= 5}
        for uci in points:
            share = points[uci] / sum(points.values())
            self.assertLess(abs(drawn.count(uci) - 300 * share), 5 * math.sqrt(300 * share * (1 - share)) + 1, uci)

    def test_weighted_book_is_repeated_by_its_seed(self):
        options = [("Book", "weighted"), ("BookVariety", "100"), ("BookMinGames", "1")]
        drawn = [self.best(self.book(*options, ("Seed", seed))) for seed in range(1, 13)]
        self.assertEqual(drawn, [self.best(self.book(*options, ("Seed", seed))) for seed in range(1, 13)])
        self.assertGreater(len(set(drawn)), 1)
        self.assertLessEqual(set(drawn), set(self.played("startpos")))

    def test_book_of_some_games(self):
        lines = self.book(("BookFilter", "player Norheim"), ("BookMinGames", "1"))
        self.assertIn("book", lines[0])
        lines = self.book(("BookFilter", "plyer Norheim"))
        self.assertIn("info string book: ", lines[0])
        self.best(lines)

    def test_a_filter_that_is_corrected(self):
        """There was no book until the next game, and not a word of why."""
        gui = self.gui("-a", self.store)
        gui.say("setoption name BookMinGames value 1", "setoption name BookFilter value plyer Norheim")
        self.assertIn("info string book: ", gui.ask("position startpos", "go depth 1")[0])
        gui.say("setoption name BookFilter value player Norheim")
        self.assertRegex(gui.ask("go depth 1")[0], "^info string book: .* games")

    def test_a_move_without_a_search_has_its_score(self):
        """python-chess asks what it is given for "score" and "pv"."""
        gui = self.gui("-a", self.store)
        lines = gui.ask("position startpos", "go movetime 1000")
        self.assertIn("info string book: ", lines[0])
        self.assertRegex(lines[1], rf"^info depth \d+ score (cp|mate) -?\d+ nodes \d+ pv {self.best(lines)}( |$)")
        self.cli("put", "--batch", address=self.store, input=json.dumps({
            "fen": START, "evals": [{"engine": "sf", "depth": 30, "mate": -3, "nodes": 77, "pv": ["e2e4", "e7e5"]}]}))
        gui.say("setoption name Book value off", "setoption name AnswerFromStore value 20")
        self.assertEqual(gui.ask("go movetime 1000")[1:], [
            "info depth 30 score mate -3 nodes 77 pv e2e4 e7e5", "bestmove e2e4 ponder e7e5"])

    def test_a_daemon_that_hangs_before_a_short_move(self):
        """`movetime 50` was answered after a second."""
        with harness.start_daemon({"default": self.store}) as daemon:
            gui = self.gui("-a", daemon.address)
            gui.say("setoption name AnswerFromStore value 1")
            gui.ready()
            self.assertIn("book: ", gui.ask("position startpos", "go movetime 500")[0])
            daemon.freeze()
            lines, took = gui.timed("go movetime 50")
            self.assertIn("info string book: no answer in time", lines)
            self.assertLess(took, 0.95)
            lines, took = gui.timed("go movetime 50")
            self.assertLess(took, 0.95)
            # What the store has taken of the time counts where there is a clock, too.
            gui.say("setoption name BookDepth value 39")
            lines, took = gui.timed("go wtime 600000 btime 600000 movetime 1900")
            self.assertLess(took, 2.7)
            # Another store is asked as soon as that one has given up: the move after was still one of the first.
            gui.say("setoption name BookDepth value 40")
            gui.timed("go movetime 50")
            gui.say(f"setoption name Store value {self.store}")
            self.assertRegex(gui.ask("go movetime 20000")[0], "book: .* games")
            gui.say(f"setoption name Store value {daemon.address}")
            daemon.thaw()
            gui.say("ucinewgame")
            gui.ready()
            self.assertIn("book: ", gui.ask("position startpos", "go movetime 500")[0])

    def test_lock_file_cut_short(self):
        """It was a SIGBUS in the middle of a game. The store is given up; the moves are our own."""
        gui = self.gui("-a", self.store)
        gui.ready()
        self.assertRegex(gui.ask("position startpos", "go movetime 10000")[0], "book: .* games")
        os.truncate(os.path.join(self.store, "lock.mdb"), 0)
        self.best(gui.ask("go depth 3"))
        gui.say("setoption name Book value off")
        self.best(gui.ask("go depth 3"))
        self.assertEqual(gui.quit(), (0, ""))

    def test_stop_while_a_daemon_hangs(self):
        """`stop` was heard when the daemon had been given up, after a second. A store that is well still answers."""
        with harness.start_daemon({"default": self.store}) as daemon:
            gui = self.gui("-a", daemon.address)
            gui.ready()
            daemon.freeze()
            lines = gui.ask("position startpos", "go movetime 60000", "stop")
            self.assertIn("info string book: no answer in time", lines)
            self.best(lines)
            daemon.thaw()
            gui.ready()
            self.assertRegex(gui.ask("go movetime 60000", "stop")[0], "book: .* games")
            self.assertEqual(gui.quit(), (0, ""))

    def test_stop_while_probes_hang(self):
        """Each of them has 50 ms; a search without a clock may ask for ever."""
        took = []
        with harness.start_daemon({"default": self.store}) as daemon:
            for _ in range(5):
                gui = self.gui("-a", daemon.address)
                gui.say("setoption name Probe value 1", "setoption name Book value off")
                gui.ready()
                daemon.freeze()
                gui.say("position startpos", "go infinite")
                lines, seconds = gui.timed("stop")
                self.best(lines)
                took.append(seconds)
                daemon.thaw()
                self.assertEqual(gui.quit(), (0, ""))
        # Two may be late, on a machine with much to do.
        self.assertLess(sorted(took)[2], 0.2, took)

    def test_a_daemon_that_hangs_while_isready_waits(self):
        """The move that came after was not answered before the store had been given up, twice."""
        with harness.start_daemon({"default": self.store}) as daemon:
            daemon.freeze()
            gui = self.gui("-a", daemon.address)
            gui.say("uci")
            gui.until("uciok")
            lines, took = gui.timed("setoption name Learn value root", "isready", "position startpos", "go movetime 100")
            self.assertIn("readyok", lines)
            self.assertLess(took, 10)
            daemon.thaw()
            self.assertEqual(gui.quit(), (0, ""))

    def test_quit_with_a_daemon_that_hangs(self):
        """It waited half a minute to open the store, and as long again for each evaluation."""
        with harness.start_daemon({"default": self.store}) as daemon:
            for learned in (False, True):
                gui = self.gui("-a", daemon.address)
                gui.say("setoption name Learn value root", "setoption name Book value off")
                if learned:
                    gui.ready()
                daemon.freeze()
                gui.ask("position startpos", "go movetime 100")
                begun = time.monotonic()
                self.assertEqual(gui.quit(), (0, ""))
                self.assertLess(time.monotonic() - begun, 15)
                daemon.thaw()

    def test_draws_of_the_game_are_not_learned(self):
        """A queen down, but it would be the third time: that draw is the game's, not the position's; and so is one near
        to 50 moves. They do not get into what is stored later by way of the table, either."""
        shuffle = "g1f3 g8f6 f3g1 f6g8"
        gui = self.gui("-a", self.store)
        gui.say("setoption name Book value off", "setoption name Learn value root", "setoption name Probe value 0")
        lines = gui.ask(f"position fen rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves {shuffle} {shuffle[:14]}",
                        "go depth 5")
        self.assertIn(" score cp 0 ", lines[-2])
        fen = "rnb1kb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
        gui.ask(f"position fen {fen}", "go depth 3")
        rook = "8/8/4k3/8/8/3K4/3R4/8 w - - "
        gui.ask(f"position fen {rook} 97 80", "go depth 2")
        self.assertEqual(gui.quit(), (0, ""))
        row = self.learned(fen, self.store)["chistore"]
        self.assertEqual(row["depth"], 3)
        self.assertLess(row["cp"], -300)
        self.cli("get", rook + "0 1", address=self.store, code=1)

    def test_draws_of_games_that_were_not_learned(self):
        """They stayed in the table where a search was not learned itself: of some moves, or before Learn was set. A table
        that has forgotten them is filled again."""
        start = "position fen rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6"
        nodes = []
        for before, after in (("off", "off"), ("root", "root"), ("off", "root")):
            gui = self.gui("-a", self.store)
            gui.say("setoption name Book value off", "setoption name Probe value 0",
                    "setoption name MultiPV value 2", start)
            for learn in (before, after):
                lines = gui.ask(f"setoption name Learn value {learn}", "go depth 7 searchmoves f3g1 e2e4")
            nodes.append(int(re.search(r" nodes (\d+)", lines[-2]).group(1)))
            gui.quit()
        self.assertGreater(min(nodes[1:]), 2 * nodes[0], nodes)

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


class Usage(Base):
    def test_usage(self):
        def run(*args):
            return subprocess.run([program("CHISTORE_UCI", "chistore-uci"), *args], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE, check=False)
        self.assertTrue(run("--help").stdout.startswith("Usage: chistore-uci"))
        self.assertRegex(run("--version").stdout, r"^chistore-uci \d+\.\d+\.\d+\n$")
        self.assertEqual(run("--no").returncode, 2)
        self.assertEqual(run("word").returncode, 2)
