# SPDX-License-Identifier: MIT
"""Games with remarks of a store, in a directory and through a daemon."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import fake_engine
import harness
from cli_base import START, Base, spawn, summary

PLAYED = '[White "A"]\n[Black "B"]\n[Result "%s"]\n\n%s %s\n\n'
GAME = '''[Event "Club"]
[White "Doe, Jane"]
[Black "Roe"]
[Result "0-1"]

1. e4 {[%clk 0:03:00] mine} e5 2. Nf3 Nc6 (2... d6 3. d4) 3. Ba6 $1 bxa6 0-1
'''
BEFORE = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
AFTER = "r1bqkbnr/pppp1ppp/B1n5/4p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"


def games(moves, result, n):
    """n games that differ."""
    return "".join(PLAYED.replace('"A"', f'"A{result[0]}{i}"') % (result, moves, result)
                   for i in range(n))


class Review(Base):
    def setUp(self):
        super().setUp()
        self.store = self.new_store()
        self.cli("import", "--quiet", self.write("played.pgn", games("1. e4 e5 2. Nf3 Nc6 3. Bb5", "1-0", 3) +
                                      games("1. e4 e5 2. Nf3 Nc6 3. d4", "1/2-1/2", 2)),
                 address=self.store)
        self.put(BEFORE, 30, "Bb5 a6 Ba4")
        self.put(AFTER, 310, "bxa6")
        self.games = self.write("mine.pgn", GAME)

    def put(self, fen, score, pv):
        record = {"fen": fen, "evals": [{"engine": "sf", "depth": 20, "cp": score, "pv": pv}]}
        self.cli("import", "--format", "jsonl", "-", address=self.store, input=json.dumps(record) + "\n")

    def review(self, *args, **extra):
        return " ".join(self.out("review", *args, self.games, address=self.store, **extra).split())

    def test_a_blunder(self):
        text = self.review()
        self.assertIn('[Event "Club"]', text)
        self.assertIn("1. e4 { [%clk 0:03:00] mine }", text.replace("{[", "{ [").replace("e}", "e }"))
        self.assertIn("(2... d6 3. d4)", text)
        self.assertIn("3. Ba6 $4 $1", text)
        self.assertIn("novelty (so far: 5 games, Bb5 100%); played here: Bb5 3, d4 2; from +0.30 to -3.10; better: Bb5", text)
        self.assertIn("(3. Bb5 a6 4. Ba4)", text)
        self.assertEqual((text.count("novelty"), text.count("out of book")), (1, 0))
        self.assertTrue(text.endswith("0-1"))

    def test_the_same_of_a_daemon(self):
        here = self.review()
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}) as daemon:
            self.store = daemon.addresses[0]
            self.assertEqual(self.review(), here)

    def test_pieces_of_a_comment_stay_together(self):
        """A clock within a comment is a piece of its own: the comment was printed as several."""
        comments = "{[%clk 0:03:00] [%eval 0.20] mine [%emt 0:00:05] still mine} {apart} {[%clk 0:02:58]}"
        path = self.write("pieces.pgn", GAME.replace("{[%clk 0:03:00] mine}", comments))
        text = " ".join(self.out("review", path, address=self.store).split()).replace("{ ", "{").replace(" }", "}")
        self.assertIn(f"1. e4 {comments} 1... e5", text)

    def test_options(self):
        self.assertIn("$4", self.review("--player", "Jane Doe"))
        self.assertNotIn("better", self.review("--player", "Roe"))
        self.assertIn("$2 $1", self.review("--swing", 170))
        self.assertIn("$6 $1", self.review("--swing", 340))
        self.assertNotIn("better", self.review("--swing", 341))
        self.assertIn("played here: Bb5 3; from", self.review("--min-games", 3))
        self.assertIn("out of book }", self.review("--min-games", 6).replace("k}", "k }"))

    def with_engine(self, *args, wrong=None, depth=7, code=0):
        """Searches that took place, and the games printed."""
        said = self.write("said", "20 e2e4\n-20 e7e5\n20 g1f3\n-20 b8c6\n30 f1b5\n310 b7a6\n-300 b1c3\n")
        log = self.path("searched")
        if os.path.exists(log):
            os.unlink(log)
        engine = f"{sys.executable} {fake_engine.__file__} {log} '{wrong or 'says ' + said}'"
        done = self.cli("review", "--quiet", "--engine", engine, "--depth", depth, "--patience",
                        harness.CLI_TIMEOUT, *args, self.games, address=self.store, code=code)
        self.told = done.stderr
        searched = []
        if os.path.exists(log):
            with open(log, encoding="ascii") as file:
                searched = file.read().splitlines()
        return searched, " ".join(done.stdout.split())

    def test_an_engine_is_asked(self):
        self.store = harness.make_store(self.path("empty"), "control")
        searched, text = self.with_engine()
        self.assertEqual(len(searched), 7)
        self.assertEqual(searched[4].split()[:4], BEFORE.split()[:4])
        self.assertIn("3. Ba6 $4 $1", text)
        self.assertIn("from +0.30 to -3.10; better: Bb5", text)
        # What it said is in the store now.
        self.assertEqual(self.with_engine(), ([], text))
        self.assertEqual(self.review(), text)
        self.assertEqual(len(self.with_engine(depth=8)[0]), 7)
        evals = json.loads(self.out("get", BEFORE, address=self.store))["evals"]
        self.assertEqual([(e["engine"], e["depth"], e["cp"], e["pv"]) for e in evals],
                         [("Test", 8, 30, ["f1b5"])])

    def test_an_engine_is_asked_where_it_matters(self):
        """Of one player's moves before and after them, and nothing that is known."""
        searched, text = self.with_engine("--player", "Doe", depth=20)
        self.assertEqual(len(searched), 4)
        self.assertNotIn(AFTER.split()[0], " ".join(searched))
        self.assertIn("from +0.30 to -3.10; better: Bb5", text)

    def test_missed(self):
        missed = self.path("missed.epd")
        self.review("--missed", missed)
        with open(missed, encoding="utf-8") as file:
            line, = file.read().splitlines()
        self.assertEqual(line, " ".join(BEFORE.split()[:4]) + ' bm Bb5; am Ba6; id "Doe, Jane - Roe, Club, move 3"; '
                         'c0 "from +0.30 to -3.10";')
        # It is EPD that is read again.
        other = harness.make_store(self.path("other"), "control")
        self.assertEqual(summary(self.out("import", missed, address=other))["stored"], "1")
        self.review("--missed", missed, "--player", "Roe")
        self.assertEqual(os.path.getsize(missed), 0)
        self.cli("review", "--missed", "-", self.games, address=self.store, code=2)
        self.cli("review", "--missed", self.path("none/x"), self.games, address=self.store, code=3)

    def test_missed_stays_where_nothing_can_be_printed(self):
        """Half of the games' positions took the place of yesterday's file."""
        missed = self.write("missed.epd", "yesterday's\n")
        with open("/dev/full", "wb") as full:
            child = spawn("review", "--missed", missed, self.games, address=self.store, stdout=full,
                          stderr=subprocess.PIPE)
            self.assertIn(b"cannot write to standard output (No space left", child.communicate()[1])
        self.assertEqual(child.returncode, 3)
        with open(missed, encoding="utf-8") as file:
            self.assertEqual(file.read(), "yesterday's\n")

    def test_a_stalemate_is_judged(self):
        """It has no evaluation: a won game that ended so was passed over."""
        self.put("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 900, "Qg7")
        tags = '[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n'
        for moves, said in (("1. Qf7 1/2-1/2", "from +9.00 to +0.00; better: Qg7#"), ("1. Qg7# 1-0", None)):
            self.games = self.write("end.pgn", tags + moves + "\n")
            self.assertEqual("from " in self.review(), said is not None)
            self.assertIn(said or "Qg7#", self.review())

    def test_engines_that_are_wrong(self):
        here = self.review()
        self.assertEqual(self.with_engine(wrong="dies"), ([START] * 2 + self.searched_twice(), here))
        self.assertIn("the engine gave no answer to " + START, self.told)
        for args in (("--depth", 3), ("--set", "Hash=1"), ("--engine", "x"), ("--patience", 3),
                     ("--engine", "x", "--depth", 3, "--nodes", 3),
                     ("--engine", "/nonexistent", "--depth", 3)):
            self.cli("review", *args, self.games, address=self.store, code=2)

    def test_an_engine_that_loads_a_network(self):
        """It had ten seconds to be ready, however patient one was."""
        self.assertEqual(len(self.with_engine("--player", "Doe", wrong="loads", depth=20)[0]), 4)

    def searched_twice(self):
        """What an engine is asked that dies of each position after the first one."""
        fens = [json.loads(self.out("get", moves, address=self.store))["fen"]
                for moves in ("e4", "e4 e5", "e4 e5 Nf3")]
        after = json.loads(self.out("key", "e4 e5 Nf3 Nc6 Ba6 bxa6", "--json"))["fen"]
        return [fen for fen in fens + [after] for _ in range(2)]

    def test_stopped(self):
        """Nothing is left behind: no engine, no half of a file."""
        log, missed = self.path("searched"), self.path("missed.epd")
        child = spawn("review", "--engine", f"{sys.executable} {fake_engine.__file__} {log} floods", "--depth", 7,
                      "--missed", missed, self.games, address=self.store, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, start_new_session=True)
        while not os.path.exists(log):
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        child.terminate()
        self.assertEqual(child.wait(), 143)
        self.assertEqual([name for name in os.listdir(self.dir) if "missed" in name], [])
        with self.assertRaises(ProcessLookupError):
            os.killpg(child.pid, 0)

    def novelty(self, date, moves, *args, white="X", result="1/2-1/2", address=None):
        """What is said of a game: the move with its remark, up to its first semicolon, or None."""
        pgn = self.write("dated.pgn", f'[White "{white}"]\n[Black "Y"]\n[Date "{date}"]\n[Result "{result}"]\n\n{moves} {result}\n')
        text = " ".join(self.out("review", *args, pgn, address=address or self.dated).split()).replace("{ ", "{").replace(" }", "}")
        self.assertLessEqual(text.count("novelty"), 1)
        found = re.search(r"(\S+) \{(novelty[^;}]*)", text)
        return found and " ".join(found.groups())

    def make_dated(self, *rows):
        """A store of games: (date, moves, result)."""
        text = "".join(f'[White "W{i}"]\n[Black "B{i}"]\n[Date "{date}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
                       for i, (date, moves, result) in enumerate(rows))
        self.dated = self.path("dated")
        shutil.rmtree(self.dated, ignore_errors=True)
        self.cli("import", "--quiet", self.write("rows.pgn", text), address=self.dated)

    def test_novelty(self):
        """New is what no earlier game did, whatever later ones do; and not the game itself."""
        self.make_dated(("1990.03.01", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "1-0"),
                        ("1991.05.31", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "0-1"),
                        ("1992.??.??", "1. e4 e5 2. Nf3 Nc6 3. d4", "1-0"),
                        ("2000.05.01", "1. e4 e5 2. Nf3 Nc6 3. Bb5", "1/2-1/2"),
                        ("????.??.??", "1. e4 e5 2. Nf3 Nc6 3. Nc3", "1-0"),
                        ("2010.05.01", "1. e4 e5 2. Nf3 Nc6 3. c3", "1-0"))
        known = "1. e4 e5 2. Nf3 Nc6 3. "
        with harness.start_daemon({"default": self.dated}) as daemon:
            for address in (self.dated, daemon.addresses[0]):
                for date, moves, wanted in (
                        # Its own date, and the day after.
                        ("2000.05.01", known + "Bb5", "Bb5 novelty (so far: 3 games, Bc4 50%)"),
                        ("2000.05.02", known + "Bb5", None),
                        ("2000.05.??", known + "Bb5", "Bb5 novelty (so far: 3 games, Bc4 50%)"),
                        ("2000.06.??", known + "Bb5", None),
                        ("2000.??.??", known + "Bb5", "Bb5 novelty (so far: 3 games, Bc4 50%)"),
                        ("2001.??.??", known + "Bb5", None),
                        # The third game may be as late as 1992.12.31.
                        ("1992.12.31", known + "d4", "d4 novelty (so far: 2 games, Bc4 50%)"),
                        ("1993.01.01", known + "d4", None),
                        ("1991.06.01", known + "d4", "d4 novelty (so far: 2 games, Bc4 50%)"),
                        ("1991.05.31", known + "d4", "d4 novelty (so far: 1 game, Bc4 100%)"),
                        ("1991.06.??", known + "d4", "d4 novelty (so far: 2 games, Bc4 50%)"),
                        ("1991.01.01", known + "d4", "d4 novelty (so far: 1 game, Bc4 100%)"),
                        # No game was there before.
                        ("1990.03.01", known + "Bc4", None), ("1980.01.01", "1. c4", None),
                        ("0001.01.01", known + "Bc4", None),
                        # Without a date of its own a move of any game is known; without a date of
                        # the other it is not earlier.
                        ("2020.01.01", known + "Nc3", "Nc3 novelty (so far: 5 games, Bc4 50%)"),
                        ("????.??.??", known + "Nc3", None), ("????.05.01", known + "c3", None),
                        ("????.??.??", known + "Ba6", "Ba6 novelty (so far: 6 games, Bc4 50%)"),
                        ("2020.01.01", "1. c4", "c4 novelty (so far: 5 games, e4 70%)"),
                        ("2020.01.01", "1. e4 d5", "d5 novelty (so far: 5 games, e5 30%)"),
                        ("2020.01.01", known + "Bb5 a6", "a6 novelty (so far: 1 game)")):
                    self.assertEqual(self.novelty(date, moves, address=address), wanted, (date, moves))
        self.assertEqual(self.novelty("2000.05.01", known + "Bb5", "--min-games", 3),
                         "Bb5 novelty (so far: 3 games, Bc4 50%)")
        self.assertIsNone(self.novelty("2000.05.01", known + "Bb5", "--min-games", 4))
        # The game without a date is in the store: there all but itself are asked.
        self.assertEqual(self.novelty("????.??.??", known + "Nc3", white="W4", result="1-0"), None)
        self.make_dated(("????.??.??", "1. e4 e5", "1-0"), ("????.??.??", "1. e4 c5", "1-0"))
        mine = self.path("own.pgn")
        with open(mine, "w", encoding="ascii") as file:
            file.write('[White "W0"]\n[Black "B0"]\n[Date "????.??.??"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n')
        text = " ".join(self.out("review", mine, address=self.dated).split())
        self.assertIn("e5 { novelty (so far: 1 game, c5 0%) }", text.replace("{n", "{ n").replace(")}", ") }"))

    def test_novelty_by_other_moves(self):
        """A position that another order of moves reached is not new."""
        self.make_dated(("1990.01.01", "1. d4 Nf6 2. c4 e6 3. Nc3", "1-0"), ("1990.01.01", "1. c4 e6 2. Nc3", "1-0"))
        self.assertEqual(self.novelty("2000.01.01", "1. c4 e6 2. d4 Nf6 3. Nc3 Bb4"), "d4 novelty (so far: 1 game, Nc3 100%)")
        self.make_dated(("1990.01.01", "1. d4 e6 2. c4 Nf6 3. Nc3", "1-0"), ("1990.01.01", "1. c4 e6 2. Nc3", "1-0"))
        self.assertEqual(self.novelty("2000.01.01", "1. c4 e6 2. d4 Nf6 3. Nc3 Bb4"), "Bb4 novelty (so far: 1 game)")

    def test_stores_that_do_not_know_what_is_new(self):
        text = "".join(PLAYED.replace('"A"', f'"A{i}"') % ("1-0", "1. e4 e5 2. Nf3", "1-0") for i in range(3))
        for i, args in enumerate((("--games", "none"), ("--max-ply", "2"))):
            store = self.path(f"poor{i}")
            self.cli("import", "--quiet", *args, self.write("poor.pgn", text), address=store)
            self.assertIsNone(self.novelty("2000.01.01", "1. d4", address=store))
            self.assertIn("out of book", self.out("review", self.path("dated.pgn"), address=store))

    def test_results(self):
        self.cli("import", "--quiet", self.write("more.pgn", games("1. c4 e5", "1-0", 10) + games("1. d4 d5", "0-1", 10)),
                 address=self.store)
        text = self.out("review", self.write("d4.pgn", "1. d4 d5 *\n"), address=self.store)
        self.assertIn("better results: c4 100% of 10 games, this move 0% of 10", " ".join(text.split()))

    def test_it_is_imported_again(self):
        again = self.write("again.pgn", self.out("review", self.games, address=self.store))
        other = harness.make_store(self.path("other"), "control")
        told = summary(self.out("import", "--quiet", self.games, address=other))
        self.assertEqual(told["imported"], "1")
        self.assertEqual(summary(self.out("import", "--quiet", again, address=other))["already"], "1")
        # Its remarks are notes as any other: they stay.
        twice = " ".join(self.out("review", again, address=self.store).split())
        self.assertEqual(twice.count("(3. Bb5 a6 4. Ba4)"), 2)

    def test_what_cannot_be_read(self):
        start = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"
        bad = self.write("bad.pgn", f'[FEN "{start}"]\n\n1. Kd4 Kd6 2. Kxh9 Ke6 *\n')
        done = self.cli("review", bad, address=self.store)
        self.assertIn("bad.pgn:3: game 1 cannot be read after 2 moves", done.stderr)
        self.assertIn(start, done.stdout)
        self.assertIn("Kxh9", done.stdout)
        self.cli("review", self.path("absent.pgn"), address=self.store, code=2)
        self.cli("review", self.dir, address=self.store, code=2)
        self.cli("review", self.write("prose", "no game\n"), address=self.store, code=2)
        self.cli("review", "--json", self.games, address=self.store, code=2)
        self.cli("review", "--swing", 0, self.games, address=self.store, code=2)
        self.cli("review", address=self.store, code=2)
        self.cli("review", self.games, address=self.path("none"), code=3)
        self.assertIn("e4", self.out("review", "-", address=self.store, input=GAME))
        self.cli("get", START, address=self.store)
