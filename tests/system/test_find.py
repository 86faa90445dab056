# SPDX-License-Identifier: MIT
"""find and stats by the command line, against all positions and games counted here."""

import json
import os
import re
from collections import Counter

from cli_base import HEAD, MASTERS, Base


def squares(fen):
    """A dictionary from squares to pieces."""
    board = {}
    for rank, row in zip("87654321", fen.split()[0].split("/")):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                board["abcdefgh"[file] + rank] = letter
                file += 1
    return board


class Find(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", MASTERS, address=self.store)

    def fens(self, *args):
        text = self.out("find", *args, "--json", address=self.store)
        return [json.loads(line)["fen"] for line in text.splitlines()]

    def test_against_every_position(self):
        rows = [line.split("\t") for line in
                self.out("scan", "--order", "position", address=self.store).splitlines()[1:]]
        every = [row[1] for row in rows]
        self.assertEqual(self.fens(), every)
        boards = [(squares(fen), fen) for fen in every]
        for args, fits in (
                (("--has", "Nd5 kg8 .e6 !Pc4"), lambda b, _: b.get("d5") == "N" and
                 b.get("g8") == "k" and "e6" not in b and b.get("c4") != "P"),
                (("--has", "Qh5", "--mirror"), lambda b, _: "Q" in (b.get("h5"), b.get("a5"))),
                (("--has", "Qh5", "--either-colour"),
                 lambda b, _: b.get("h5") == "Q" or b.get("h4") == "q"),
                (("--material", "KRP*vKRP*"), lambda b, _: all(
                    sorted(p for p in b.values() if p.isupper() == up and p not in "pP") == want
                    for up, want in ((True, ["K", "R"]), (False, ["k", "r"])))),
                (("--to-move", "black", "--material", "men=..6"),
                 lambda b, fen: fen.split()[1] == "b" and len(b) <= 6)):
            with self.subTest(args):
                wanted = [fen for board, fen in boards if fits(board, fen)]
                self.assertGreater(len(wanted), 0)
                self.assertEqual(self.fens(*args), wanted)
                self.assertEqual(self.out("find", *args, "--count", address=self.store).strip(),
                                 str(len(wanted)))
                self.assertEqual(self.out("find", *args, "--count", "--quiet",
                                          address=self.store).strip(), str(len(wanted)))

    def test_pages(self):
        args = ("--endgame", "rook endings", "--print-cursor", "--limit", "100")
        whole, pages, cursor = self.fens(*args[:2]), [], []
        while True:
            done = self.cli("find", *args, *cursor, address=self.store)
            self.assertTrue(done.stdout.startswith(HEAD))
            pages += [line.split("\t")[1] for line in done.stdout.splitlines()[1:]]
            more = re.search("next: (--cursor) (.*)", done.stderr)
            if not more:
                break
            cursor = more.groups()
        self.assertEqual(pages, whole)
        first = self.cli("find", *args, address=self.store)
        self.assertIn(f"100 of {len(whole)} positions", first.stderr)

    def test_with_games(self):
        """A filter leaves the positions that its games reached: those of their own store."""
        with open(MASTERS, "rb") as file:
            games = [b"[Event " + part for part in file.read().split(b"[Event ")[1:]]
        mine = b"".join(game for game in games if b'"Norheim,M"]' in game)
        other = self.path("norheim")
        self.cli("import", self.write("norheim.pgn", mine), address=other)
        wanted = [json.loads(line)["fen"] for line in
                  self.out("find", "--has", "Rd*", "--json", address=other).splitlines()]
        self.assertEqual(self.fens("--has", "Rd*", "--player", "Norheim"), wanted)
        count = self.out("find", "--has", "Kg1 Rf1", "--games", "--count", address=self.store)
        of_games = self.out("gameset", "create", "castled", "--has", "Kg1 Rf1",
                            address=self.store)
        self.assertEqual(of_games.split()[1], count.strip())

    def test_games(self):
        """Each once, with where it first reached such a position: as a filter of games says."""
        args = ("--has", "Kg1 Rf1", "--to-move", "black")
        def rows(command, *more):
            text = self.out(command, *args, *more, "--json", address=self.store)
            return [json.loads(line) for line in text.splitlines()]
        found = rows("find", "--games")
        self.assertEqual([row["game"] for row in found], [row["game"] for row in rows("games")])
        self.assertEqual(len({row["game"] for row in found}), len(found))
        for row in found[:5]:
            moves = json.loads(self.out("game", str(row["game"]), "--json",
                                        address=self.store))["moves"]
            fits = self.fens(*args, "--number", str(row["game"]))
            before = self.out("key", *moves[:row["ply"]], "--json").splitlines()
            self.assertIn(json.loads(before[-1])["fen"].split()[0],
                          [fen.split()[0] for fen in fits])
            self.assertIn(moves[row["ply"] - 1][:3], ("O-O", "Rf1", "Kg1"))
        self.assertEqual([row["game"] for row in rows("find", "--games", "--white", "Norheim")],
                         [row["game"] for row in rows("games", "--white", "Norheim")])
        pgn = self.out("find", *args, "--games", "--pgn", address=self.store)
        self.assertEqual(pgn, self.out("games", *args, "--pgn", address=self.store))
        pages, cursor = [], []
        while cursor is not None:
            done = self.cli("find", *args, "--games", "--limit", "40", *cursor, address=self.store)
            pages += [int(line.split("\t")[0]) for line in done.stdout.splitlines()[1:]]
            more = re.search(rf"40 of {len(found)} games; next: (--cursor) (.*)", done.stderr)
            cursor = more.groups() if more and len(pages) < len(found) else None
        self.assertEqual(pages, [row["game"] for row in found])

    def test_games_that_are_listed_in_part(self):
        """A game counted to a ply, without rare positions, or up to a position with too many moves shows what it
        had later all the same: such a store says so, whatever way its games came into it."""
        def store(name, *args):
            path = self.path(name)
            self.cli(*args, address=path)
            done = self.cli("verify", address=path)
            self.assertEqual(done.stderr, "")
            return json.loads(self.out("info", "--json", address=path))["games_whole"]
        def games(name, *args):
            return self.out("games", "--count", *args, address=self.path(name))
        some, more = MASTERS, os.path.join(os.path.dirname(MASTERS), "hayes.pgn")
        queens = self.write("queens.pgn", '[SetUp "1"]\n[FEN "1Q1QQQQk/1Q5Q/Q6Q/2Q4Q/Q6Q/2Q4Q/Q6Q/KQ1QQQQ1 w - - 0 1"]\n\n1. b8c8 *\n')
        self.assertTrue(store("whole", "import", some))
        wanted = games("whole", "--material", "men=..30")
        for name, *args in (("to a ply", "--max-ply", "10", some), ("without", "--min-games", "3", some)):
            self.assertFalse(store(name, "import", *args))
            self.assertEqual(games(name, "--material", "men=..30"), wanted)
            self.assertNotEqual(self.out("find", "--games", "--count", "--material", "men=..30",
                                         address=self.path(name)), wanted)
            dump = self.write("dump", self.out("dump", address=self.path(name)))
            self.assertFalse(store(name + ", loaded", "load", dump))
            self.cli("init", address=self.path(name + ", merged"))
            self.assertFalse(store(name + ", merged", "merge", self.path(name)))
        self.assertTrue(store("whole, loaded", "load", self.write("dump", self.out("dump", address=self.path("whole")))))
        self.cli("init", address=self.path("whole, merged"))
        self.assertTrue(store("whole, merged", "merge", self.path("whole")))
        self.assertTrue(store("whole", "import", more))
        self.assertTrue(store("whole", "subtract", more))
        self.assertFalse(store("whole", "import", queens))
        self.assertEqual(games("whole", "--has", "Qc8 Qd8 Qe8").split()[-1], "1")
        self.assertFalse(store("counts", "import", "--games", "none", some))

    def test_stats(self):
        with open(MASTERS, encoding="utf-8") as file:
            text = file.read()
        rows = [json.loads(line) for line in
                self.out("stats", "--by", "year", "--json", address=self.store).splitlines()]
        years = Counter(re.findall(r'^\[Date "(\d{4})', text, re.M))
        self.assertEqual({str(row["year"]): row["games"] for row in rows if row["year"]},
                         dict(years))
        self.assertEqual(sum(row["games"] for row in rows), 300)
        for result, name in (("1-0", "white"), ("1/2-1/2", "draws"), ("0-1", "black")):
            self.assertEqual(sum(row[name] for row in rows), text.count(f'[Result "{result}"]'))
        best = self.out("stats", "--by", "player", "--limit", "1", address=self.store)
        self.assertEqual(best.splitlines()[1].split("\t")[:2], ["Norheim,M", "28"])
        self.check_players(text)
        pieces = [json.loads(line) for line in
                  self.out("stats", "--by", "pieces", "--json", address=self.store).splitlines()]
        counted = Counter(len(squares(fen)) for fen in self.fens())
        self.assertEqual({row["pieces"]: row["positions"] for row in pieces}, dict(counted))

    def check_players(self, text):
        """A player's own results, whatever the colour; they were White's."""
        pairs = list(zip(re.findall(r'^\[White "(.*)"\]$', text, re.M), re.findall(r'^\[Black "(.*)"\]$', text, re.M),
                         re.findall(r'^\[Result "(.*)"\]$', text, re.M)))
        for sides, options in (((0, 1), ()), ((0,), ("--as", "white")), ((1,), ("--as", "black"))):
            won, all_of = Counter(), {}
            for pair in pairs:
                for side in sides:
                    result = {"1/2-1/2": "drawn", ("1-0", "0-1")[side]: "won"}.get(pair[2], "lost")
                    won[pair[side], result] += 1
                    all_of.setdefault(pair[side], 0)
            rows = [json.loads(line) for line in self.out("stats", "--by", "player", "--json", *options,
                                                          address=self.store).splitlines()]
            self.assertEqual({row["player"] for row in rows}, set(all_of))
            for row in rows:
                wanted = [won[row["player"], result] for result in ("won", "drawn", "lost")]
                self.assertEqual([row["won"], row["drawn"], row["lost"]], wanted, row)
                self.assertAlmostEqual(row["score"], 100 * (wanted[0] + wanted[1] / 2) / sum(wanted), 2)
        self.assertEqual(self.cli("stats", "--as", "white", address=self.store, code=2).stderr.splitlines()[0],
                         "chistore: --as goes with --by player alone")

    def test_plot(self):
        """gnuplot draws, or a word says what is missing."""
        path = self.path("years.png")
        environment = {**os.environ, "PATH": self.dir}
        done = self.cli("stats", "--plot", path, address=self.store, code=3, env=environment)
        self.assertIn("gnuplot", done.stderr)
        self.assertFalse(os.path.exists(path))
        self.write("gnuplot", "#!/bin/sh\n/bin/cat >\"$OUT\"\n")
        os.chmod(self.path("gnuplot"), 0o755)
        environment["OUT"] = self.path("commands")
        self.cli("stats", "--plot", path, address=self.store, env=environment)
        with open(self.path("commands"), encoding="utf-8") as file:
            commands = file.read()
        self.assertIn(f"set output '{path}'", commands)
        self.assertIn('"2019"\t', commands)

    def test_garbage(self):
        for args in (("find", "--has", "Ke1 Ke2"), ("find", "--has", "Xe1"),
                     ("find", "--has", "x" * 5000), ("find", "--material", "KvK", "--has", "Qd1"),
                     ("find", "--cursor", "zzz"), ("find", "--cursor", "00" * 20), ("find", "x"),
                     ("find", "--fen-part", "8/8"), ("find", "--endgame", "colour"),
                     ("find", "--in", "not-there"), ("find", "--pgn"),
                     ("find", "--count", "--limit", "3"), ("stats", "--by", "colour"),
                     ("stats", "--by", "pieces", "--player", "x"), ("stats", "--limit", "0"),
                     ("stats", "--plot", "-", "--json"), ("stats", "--since", "soon")):
            with self.subTest(args):
                done = self.cli(*args, address=self.store, code=2)
                self.assertEqual(done.stdout, "")
                self.assertLess(len(done.stderr), 2000)
