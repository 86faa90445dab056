# SPDX-License-Identifier: MIT
"""Games of a store by the command line: lists, counts, whole games, PGN there and back, and what
filters take out or copy. Expected values are counted from the tags of the file."""

import json
import os
import re

import chess_slow
from cli_base import MASTERS, Base, summary

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "pgn")
COLUMNS = ("game white black result date event site round eco white_elo black_elo plies ply "
           "source").split()


def tags_of_games():
    with open(MASTERS, encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=\[Event )", file.read())[1:]
    return [dict(re.findall(r'(?m)^\[(\w+) "(.*)"\]$', part)) for part in parts]


TAGS = tags_of_games()


def elo(tags, side):
    return int(tags.get(side + "Elo") or 0)


class Query(Base):
    ecos = None

    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", "--statistic", "outcome", MASTERS, address=self.store)
        if Query.ecos is None:
            names = chess_slow.names_of(self.out("scan", "--show", "fen,eco", "--json", address=self.store))
            with open(MASTERS, encoding="utf-8") as file:
                paths = [chess_slow.replay(chess_slow.plain_moves(m)) for _, m in chess_slow.read_pgn(file.read())]
            Query.ecos = [chess_slow.opening_of(path, names) for path in paths]

    def games(self, *options, **extra):
        """Rows as dictionaries."""
        text = self.out("games", "--json", *options, address=self.store, **extra)
        return [json.loads(line) for line in text.splitlines()]

    def numbers(self, *options):
        return [row["game"] for row in self.games(*options)]

    def matching(self, test):
        return [i + 1 for i, tags in enumerate(TAGS) if test(dict(tags, ECO=self.ecos[i]))]


class Lists(Query):
    def test_rows_are_the_files(self):
        rows = self.games()
        self.assertEqual(len(rows), len(TAGS))
        # The opening is what was played, not what a tag says of it.
        self.assertEqual([row["eco"] for row in rows], self.ecos)
        self.assertNotEqual(self.ecos, [tags.get("ECO") for tags in TAGS])
        for row, tags in zip(rows, TAGS):
            self.assertEqual(list(row), COLUMNS)
            names = ("white", "black", "result", "event")
            # A tag has no blanks at its ends.
            self.assertEqual([row[name] or "?" for name in names],
                             [tags[name.title()].strip() for name in names])
            self.assertEqual(row["date"] or "", tags["Date"].replace("????.??.??", ""))
            self.assertEqual((row["white_elo"] or 0, row["black_elo"] or 0),
                             (elo(tags, "White"), elo(tags, "Black")))
            self.assertEqual(row["source"], "games_300.pgn")
        text = self.out("games", address=self.store).splitlines()
        self.assertEqual(text[0].split("\t"), COLUMNS)
        self.assertEqual(text[1].split("\t"),
                         [str("-" if v is None else v) for v in rows[0].values()])

    def test_filters(self):
        name = TAGS[0]["White"]
        cases = [
            (["--player", name], lambda t: name in (t["White"], t["Black"])),
            (["--player", name, "--white"], lambda t: t["White"] == name),
            (["--black=" + name], lambda t: t["Black"] == name),
            (["--not-player", name], lambda t: name not in (t["White"], t["Black"])),
            (["--rating", "2700.."], lambda t: max(elo(t, "White"), elo(t, "Black")) >= 2700),
            (["--result", "1-0,0-1"], lambda t: t["Result"] in ("1-0", "0-1")),
            (["--eco", "B90..B99"], lambda t: "B90" <= t["ECO"] <= "B99"),
            (["--since", "2010", "--not-since", "2015"],
             lambda t: "2010" <= t["Date"][:4] < "2015"),
            (["--filter", "result 1-0 not eco B"],
             lambda t: t["Result"] == "1-0" and t["ECO"][:1] != "B"),
        ]
        for options, test in cases:
            with self.subTest(options=options):
                expected = self.matching(test)
                self.assertEqual(self.numbers(*options), expected)
                count = self.out("games", "--count", *options, address=self.store)
                self.assertEqual(int(count), len(expected))

    def test_pages(self):
        done = self.cli("games", "--limit", "7", "--json", address=self.store)
        seen = []
        cursor = re.fullmatch(r"7 of 300 games; next: --cursor (\w+)\n", done.stderr)[1]
        while done.stdout:
            seen += [json.loads(line)["game"] for line in done.stdout.splitlines()]
            done = self.cli("games", "--limit", "7", "--json", "--cursor", cursor,
                            address=self.store)
            found = re.search(r"--cursor (\w+)", done.stderr)
            if not found:
                break
            cursor = found[1]
        seen += [json.loads(line)["game"] for line in done.stdout.splitlines()]
        self.assertEqual(seen, list(range(1, 301)))

    def test_orders(self):
        rows = self.games("--sort", "rating", "--descending", "--limit", "300")
        sums = [r["white_elo"] + r["black_elo"] if r["white_elo"] and r["black_elo"] else 0
                for r in rows]
        self.assertEqual(sums, sorted(sums, reverse=True))
        self.assertEqual(len(rows), 300)
        dates = [r["date"] or "0000" for r in self.games("--sort", "date", "--limit", "300")]
        self.assertEqual([d[:4] for d in dates], sorted(d[:4] for d in dates))
        self.assertEqual(len(self.games("--sort", "date")), 20)

    def test_position(self):
        rows = self.games("--moves", "e4 c5 Nf3")
        self.assertTrue(rows)
        self.assertEqual({row["ply"] for row in rows}, {3})
        counts = json.loads(self.out("explore", "e4", "c5", "Nf3", "--json", address=self.store))
        self.assertEqual(len(rows), counts["games"] + counts["other"])
        fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
        self.assertEqual(self.games("--position", fen), rows)

    def test_explore(self):
        whole = json.loads(self.out("explore", "e4", "--json", address=self.store))
        some = json.loads(self.out("explore", "e4", "--json", "--result", "1-0",
                                   address=self.store))
        self.assertEqual((some["white"], some["draws"], some["black"]), (whole["white"], 0, 0))
        self.assertEqual(sum(m["white"] for m in some["moves"]),
                         sum(m["white"] for m in whole["moves"]))
        table = self.out("explore", "e4", "--table", "--result", "1-0", address=self.store)
        self.assertIn("100", table)

    def test_nothing_fits(self):
        done = self.cli("games", "--player", "Nemo, Captain", address=self.store)
        self.assertEqual(done.stdout, self.out("games", address=self.store).splitlines()[0] + "\n")
        self.assertIn("no name in the store fits 'Nemo, Captain'", done.stderr)
        self.assertEqual(self.out("games", "--player", "Nemo", "--count", "--quiet",
                                  address=self.store), "0\n")

    def test_mistakes(self):
        for options in (["--rating", "high"], ["--cursor", "made-up"], ["--count", "--pgn"],
                        ["--filter", "player"], ["--pgn", "--json"],
                        ["--sort", "date", "--limit", "10001"], ["--opponent", "Tal"],
                        ["--has", "Ka1 Ka2"], ["e4"]):
            with self.subTest(options=options):
                self.cli("games", *options, code=2, address=self.store)

    def test_mistakes_name_the_option(self):
        for options, text in (
                (["--player", "Tal", "--rating", "high"], "--rating: 'high' is no range"),
                (["--not-eco", "X", "--white", "Tal"], "--not-eco: 'X' is no range of codes"),
                (["--result", "2", "--eco", "B"], "--result: '2' is not among"),
                (["--white", "--count"], "--white goes after a --player, or before a name"),
                (["--event", "a", "--moves", "e4 e4"], "--moves: move 2: 'e4' is not a legal"),
                (["--has", "Ke9", "--event", "a"], "--has, character 3: a rank is expected"),
                (["--event", "a", "--mirror", "--fen-part", "8/8"], "--fen-part, character 4"),
                (["--not-has", "Ke9"], "--not-has, character 3: a rank"),
                (["--material", "x", "--either-colour"], "--material, character 1: neither"),
                (["--endgame", "x"], "--endgame: unknown family"),
                (["--player", ""], "--player needs a value"),
                (["--filter", "x"], "--filter, character 1: 'x' begins no term"),
                (["--rating", "2600..", "--filter", "year 5 yar 6", "--eco", "B"],
                 "--filter, character 8: 'yar' begins no term")):
            for command in ("games", "stats", "explore", "subtract", "export"):
                board = any(o[2:] in ("has", "moves", "not-has", "mirror", "material", "endgame")
                            for o in options if o.startswith("--"))
                if command == "export" and board:
                    continue
                more = ["--format", "pgn"] if command == "export" else []
                with self.subTest(options=options, command=command):
                    done = self.cli(command, *more, *options, code=2, address=self.store)
                    self.assertTrue(done.stderr.startswith("chistore: " + text), done.stderr)
        done = self.cli("find", "--has", "Ke9", "--player", "Tal", code=2, address=self.store)
        self.assertIn("chistore: --has, character 3", done.stderr)


class Positions(Base):
    """Positions that some games reached are those of a store with these games alone."""

    def setUp(self):
        super().setUp()
        self.all, self.some = self.path("all"), self.path("some")
        self.cli("import", MASTERS, address=self.all)
        self.cli("extract", "--player", "Norheim", self.some, address=self.all)

    def same(self, *args):
        """Returns the lines, which both stores have."""
        whole = self.out(*args, "--player", "Norheim", address=self.all)
        self.assertEqual(whole, self.out(*args, address=self.some), args)
        return whole.splitlines()

    def test_scan(self):
        for args in ((), ("--order", "position"), ("--desc", "--limit", "50"), ("--pieces", "..8"),
                     ("--min-games", "3"), ("--score", "60..", "--min-games", "2"),
                     ("--min", "60", "--max", "62"), ("--keys",), ("--side", "b"),
                     ("--sort", "games", "--limit", "40"), ("--sort", "score", "--limit", "40"),
                     ("--sort", "score", "--asc", "--limit", "9", "--show", "fen,score,other"),
                     ("--show", "fen,games,white,draws,black,other,score", "--limit", "200"),
                     ("--show", "fen,games,engines", "--limit", "200"), ("--json", "--limit", "9")):
            self.assertGreater(len(self.same("scan", *args)), 1, args)

    def test_count(self):
        for args in ((), ("--pieces", "..8"), ("--min-games", "3"), ("--score", "60.."),
                     ("--side", "b", "--min", "50"), ("--json",)):
            self.assertNotIn("0", self.same("count", *args), args)
        self.assertEqual(self.out("count", "--player", "Nemo", address=self.all), "0\n")
        with_result = self.out("count", "--result", "1-0", "--not-eco", "B", address=self.all)
        self.assertLess(0, int(with_result))

    def test_export(self):
        """But for the plies, which no filter knows."""
        few, some = ([json.loads(line) for line in self.out("export", "--format", "jsonl", *more, address=store).splitlines()]
                     for store, more in ((self.some, ()), (self.all, ("--player", "Norheim"))))
        self.assertEqual(len(some), len(few))
        self.assertGreater(len(few), 500)
        for one, other in zip(some, few):
            for name in ("fen", "counts", "moves"):
                self.assertEqual(one.get(name), other.get(name))
            self.assertNotIn("plies", {key for key, value in one.items() if value})
        self.cli("export", "-o", self.path("a.bin"), "--player", "Norheim", address=self.all)
        self.cli("export", "-o", self.path("b.bin"), address=self.some)
        with open(self.path("a.bin"), "rb") as one, open(self.path("b.bin"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_pages(self):
        args = ("scan", "--player", "Norheim", "--min-games", "2")
        whole = self.out(*args, address=self.all).splitlines()
        pages, cursor = whole[:1], ()
        while True:
            done = self.cli(*args, "--limit", "7", "--print-cursor", *cursor, address=self.all)
            pages += done.stdout.splitlines()[1:]
            more = re.search("next: (--cursor) (.*)", done.stderr)
            if not more:
                break
            cursor = more.groups()
        self.assertEqual(pages, whole)

    def test_mistakes(self):
        for options in (["--rating", "high"], ["--in", "nothing"], ["--opponent", "Tal"]):
            for command in ("scan", "count"):
                with self.subTest(options=options, command=command):
                    self.cli(command, *options, code=2, address=self.all)


class Whole(Query):
    def test_game(self):
        game = json.loads(self.out("game", "300", "--json", address=self.store))
        self.assertEqual(list(game), COLUMNS + ["tags", "start", "moves", "pgn"])
        self.assertEqual(len(game["moves"]), game["plies"])
        self.assertEqual(game["pgn"], self.out("game", "300", address=self.store))
        self.assertEqual({**game["tags"], "Result": game["result"]}, TAGS[299])
        done = self.cli("game", "301", "1", code=1, address=self.store)
        self.assertIn("game not found: 301", done.stderr)
        self.assertIn("[Event ", done.stdout)
        self.cli("game", "0", code=2, address=self.store)

    def test_pgn_there_and_back(self):
        files = [os.path.join(DATA, name) for name in sorted(os.listdir(DATA))
                 if name.endswith(".pgn")]
        store, again = self.path("all"), self.path("again")
        self.cli("import", "--quiet", *files, address=store)
        self.cli("export", "-o", self.path("all.pgn"), address=store)
        self.cli("import", "--quiet", self.path("all.pgn"), address=again)
        self.assertEqual(self.counts(again), self.counts(store))
        self.assertEqual(self.out("export", "--format", "pgn", address=again),
                         self.out("games", "--pgn", address=store))

    def test_export_some(self):
        text = self.out("export", "--format", "pgn", "--result", "0-1", address=self.store)
        self.assertEqual(text.count("[Event "), len(self.matching(lambda t: t["Result"] == "0-1")))
        self.cli("export", "--format", "pgn", "--min-games", "5", code=2, address=self.store)


class Changes(Query):
    def rest(self):
        """What a store of the games without a player of 2700 looks like."""
        store = self.path("rest")
        pgn = self.path("rest.pgn")
        self.cli("export", "-o", pgn, "--not-rating", "2700..", address=self.store)
        self.cli("import", "--statistic", "outcome", pgn, address=store)
        return store

    def same(self, one, other):
        """Base rates are those of the import, until the stores are rescored."""
        for store in (one, other):
            self.cli("rescore", address=store)
        self.assertEqual(self.counts(one), self.counts(other))
        self.assertEqual(self.out("games", "--pgn", address=one),
                         self.out("games", "--pgn", address=other))

    def test_subtract(self):
        rest = self.rest()
        n = len(self.numbers("--rating", "2700.."))
        done = summary(self.out("subtract", "--rating", "2700..", "--dry-run", address=self.store))
        self.assertEqual(done, {"would_remove": str(n)})
        done = summary(self.out("subtract", "--rating", "2700..", address=self.store))
        self.assertEqual((done["removed"], done["absent"]), (str(n), "0"))
        self.assertEqual(self.numbers("--rating", "2700.."), [])
        self.assertIn("errors\t0", self.out("verify", address=self.store))
        self.same(self.store, rest)
        self.cli("subtract", "--rating", "2700..", code=1, address=self.store)
        self.cli("subtract", code=2, address=self.store)
        self.cli("subtract", "--dry-run", MASTERS, code=2, address=self.store)
        self.cli("subtract", "--in", "x", MASTERS, code=2, address=self.store)
        done = summary(self.out("subtract", "--not-player", "Velan", MASTERS, address=self.store))
        self.assertEqual(int(done["removed"]) + int(done["absent"]) + int(done["filtered"]), 300)
        self.assertEqual(len(self.numbers("--player", "Velan")), len(self.numbers()))

    def test_extract(self):
        rest = self.rest()
        copy = self.path("copy")
        self.cli("extract", copy, "--not-rating", "2700..", address=self.store)
        self.same(copy, rest)
        sources = {json.loads(line)["source"]
                   for line in self.out("games", "--json", address=copy).splitlines()}
        self.assertEqual(sources, {"games_300.pgn"})
        self.cli("extract", copy, code=2, address=self.store)
        self.cli("extract", self.path("none"), "--player", "Nemo", code=1, address=self.store)
        self.assertFalse(os.path.exists(self.path("none")))
