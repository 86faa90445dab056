# SPDX-License-Identifier: MIT
"""Games with remarks of a store, in a directory and through a daemon."""

import json
import shutil
import unittest

import harness
from cli_base import START, Base, summary

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
        self.assertIn("out of book; played here: Bb5 3, d4 2; from +0.30 to -3.10; better: Bb5", text)
        self.assertIn("(3. Bb5 a6 4. Ba4)", text)
        self.assertEqual(text.count("out of book"), 1)
        self.assertTrue(text.endswith("0-1"))

    def test_the_same_of_a_daemon(self):
        here = self.review()
        served = shutil.copytree(self.store, self.path("served"))
        with harness.start_daemon({"default": served}) as daemon:
            self.store = daemon.addresses[0]
            self.assertEqual(self.review(), here)

    def test_options(self):
        self.assertIn("$4", self.review("--player", "Jane Doe"))
        self.assertNotIn("better", self.review("--player", "Roe"))
        self.assertIn("$2 $1", self.review("--swing", 170))
        self.assertIn("$6 $1", self.review("--swing", 340))
        self.assertNotIn("better", self.review("--swing", 341))
        self.assertIn("played here: Bb5 3; from", self.review("--min-games", 3))
        self.assertIn("out of book }", self.review("--min-games", 6).replace("k}", "k }"))

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


if __name__ == "__main__":
    unittest.main()
