#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which evaluations are seen: planted ones of several engines, chosen by name, depth and date. What
is chosen is computed here once more, with Python's own patterns, and a store where the others were
never put answers the same: the command line over a directory and a server, HTTP and Python."""

import datetime
import fnmatch
import itertools
import json
import math
import os
import random
import shlex
import sys

import harness
import webserver
from cli_base import AFTER_E4, ENDING, ROOKS, START, Base

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

AFTER_D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"


def seconds(day):
    return int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp())


def line(engine, depth, cp, pv, date=None, multipv=1):
    return {"engine": engine, "multipv": multipv, "depth": depth, "cp": cp, "nodes": None, "pv": [pv],
            "date": date and f"{date}T00:00:00Z"}


# In the order of a record: by engine, then rank.
PLANTED = {
    START: [line("Lc0 0.31", 60, 90, "c2c4"),
            line("Stockfish 16", 40, 30, "e2e4", "2023-07-01"),
            line("Stockfish 17", 25, 20, "d2d4", "2024-12-31"),
            line("Stockfish 17", 25, 10, "g1f3", "2024-12-31", 2),
            line("Stockfish 17.1", 24, 25, "b2b3", "2025-05-01")],
    AFTER_E4: [line("Lc0 0.31", 30, -150, "c7c5", "2024-02-29"),
               line("Stockfish 16", 20, -35, "e7e5", "2023-07-02")],
    AFTER_D4: [line("Ærøskøbing 1", 12, 5, "d7d5", "2025-01-01")],
    ENDING: [],
}

# Options, and what they mean.
CHOICES = [
    ({}, lambda e: True),
    ({"engine": "stockfish 1[67]"}, lambda e: fnmatch.fnmatch(e["engine"].lower(), "stockfish 1[67]")),
    ({"engine": "STOCKFISH*"}, lambda e: e["engine"].startswith("Stockfish")),
    ({"engine": "*1?.*"}, lambda e: e["engine"] == "Stockfish 17.1"),
    ({"engine": "*[!67]"}, lambda e: e["engine"][-1] not in "67"),
    ({"engine": "?r?sk?bing [0-9]"}, lambda e: e["engine"].startswith("Æ")),
    ({"engine": "Rybka*"}, lambda e: False),
    ({"engine": "stockfish"}, lambda e: False),
    ({"depth": "30.."}, lambda e: e["depth"] >= 30),
    ({"depth": "20..25"}, lambda e: 20 <= e["depth"] <= 25),
    ({"eval-date": "2024"}, lambda e: (e["date"] or "").startswith("2024")),
    ({"eval-date": "..2024-02"}, lambda e: e["date"] and e["date"] < "2024-03"),
    ({"eval-date": "2024-12-31.."}, lambda e: e["date"] and e["date"] >= "2024-12-31"),
    ({"engine": "stockfish*", "depth": "..30", "eval-date": "2024.."},
     lambda e: e["engine"].startswith("Stockfish") and e["depth"] <= 30 and e["date"] > "2024"),
]


def jsonl(planted):
    return "".join(json.dumps({"fen": fen, "games": 0, "white": 0, "draws": 0, "black": 0, "other": 0,
                               "evals": evals}) + "\n" for fen, evals in planted.items())


def of_python(options):
    """The same for the Python client."""
    out = {}
    if "engine" in options:
        out["engine"] = options["engine"]
    if "depth" in options:
        out["depth"] = tuple(int(part) if part else None for part in options["depth"].split(".."))
    spans = {"2024": ("2024-01-01", "2025-01-01"), "..2024-02": (None, "2024-03-01"),
             "2024-12-31..": ("2024-12-31", None), "2024..": ("2024-01-01", None)}
    if "eval-date" in options:
        low, high = spans[options["eval-date"]]
        out["eval_date"] = (low and seconds(low), high and seconds(high) - 1)
    return out


class Evidence(Base):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)

    def store_of(self, name, planted, statistic="control"):
        store = harness.make_store(self.path(name), statistic)
        self.cli("import", "--format", "jsonl", self.write(name + ".jsonl", jsonl(planted)),
                 address=store)
        return store

    def pairs(self):
        """Options, and a store that has what they leave."""
        for i, (options, seen) in enumerate(CHOICES):
            left = {fen: [e for e in evals if seen(e)] for fen, evals in PLANTED.items()}
            yield options, self.store_of(f"left-{i}", left)

    def test_as_if_not_there(self):
        store = self.store_of("all", PLANTED)
        show = "fen,eval,depth,engine,engines,best"
        asked = [("get", START), ("get", AFTER_E4, "--table"), ("explore", START, "--all", "--tsv"),
                 ("explore", START, "--all", "--table"), ("explore", START, "--all", "--json"),
                 ("scan", "--show", show), ("scan", "--eval", "0..0.4", "--show", show),
                 ("scan", "--sort", "eval", "--limit", "9", "--show", show), ("count", "--eval", "-9..9"),
                 ("count", "--engines", "2"), ("scan", "--sort", "eval", "--limit", "2", "--asc"),
                 ("export", "--format", "jsonl"), ("export", "--format", "csv"),
                 ("export", "--format", "epd"), ("export", "--format", "lichess-evals"),
                 ("suite", "--eval", "-9..9", "--count", "3")]
        with harness.start_daemon({"default": store}) as daemon:
            # Each at the directory and at the daemon in turn: by half of the options at either.
            addresses = itertools.cycle((store, daemon.address))
            for options, left in self.pairs():
                words = [word for name, value in options.items() for word in (f"--{name}", value)]
                next(addresses)
                for question, address in zip(asked, addresses):
                    want = harness.run_cli(*question, address=left)
                    got = harness.run_cli(*question, *words, address=address)
                    self.assertEqual((got.returncode, got.stdout, got.stderr),
                                     (want.returncode, want.stdout, want.stderr), (question, words))

    def test_http_and_python(self):
        import chistore  # pylint: disable=import-outside-toplevel
        store = self.store_of("all", PLANTED)
        asked = [("/api/explore", {"fen": START}), ("/api/position", {"fen": START}),
                 ("/api/histogram", {"eval": "0..1"})]
        with webserver.start(store) as http, chistore.open(store) as python:
            for options, left in self.pairs():
                with webserver.start(left) as other, chistore.open(left) as seen:
                    for path, parameters in asked:
                        self.assertEqual(http.json(path, **parameters, **options),
                                         other.json(path, **parameters), (path, options))
                    query = "&".join(f"{name}={value}" for name, value in options.items())
                    query = query.replace(" ", "%20").replace("[", "%5B").replace("?", "%3F")
                    self.assertEqual(http.request(f"/api/scan?sort=eval&{query}")[2],
                                     other.request("/api/scan?sort=eval")[2], options)
                    words = of_python(options)
                    self.assertEqual(python.explore(**words), seen.explore())
                    self.assertEqual(list(python.scan(records=True, order="position", **words)),
                                     list(seen.scan(records=True, order="position")))
                    self.assertEqual(python.count(eval=(0, 1), **words), seen.count(eval=(0, 1)))

    def test_filters_of_games(self):
        """A filter of games that asks of evaluations sees the same ones."""
        game = '[Event "a"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
        store = self.path("games")
        self.cli("import", self.write("one.pgn", game), address=store)
        lines = "".join(f"{fen} ce {evals[0]['cp']}; acd {evals[0]['depth']}; engine \"Lc0 0.31\";\n"
                        for fen, evals in ((START[:-4], PLANTED[START]), (AFTER_E4[:-4], PLANTED[AFTER_E4])))
        self.cli("import", "--format", "epd", self.write("evals.epd", lines), address=store)
        question = ("count", "--filter", "eval 0.8..")
        with harness.start_daemon({"default": store}) as daemon:
            for address in (store, daemon.address):
                self.assertEqual(self.out(*question, address=address), "2\n")
                self.assertEqual(self.out(*question, "--engine", "lc0*", address=address), "2\n")
                for words in (("--engine", "stockfish*"), ("--depth", "61..")):
                    self.assertEqual(self.out(*question, *words, address=address), "0\n")
                found = self.out("explore", START, "--tsv", "--filter", "eval 0.8..", "--engine",
                                 "other", address=address)
                self.assertEqual(len(found.splitlines()), 1)

    def test_eval_store(self):
        """The statistic is that of all evaluations, so --eval is no band of it."""
        store = self.store_of("by-eval", PLANTED, "eval")
        for words in (["--eval", "0.25..0.32"], ["--sort", "eval", "--asc", "--limit", "1"]):
            got = self.out("scan", *words, "--engine", "stockfish 16", "--show", "fen,eval,chi2",
                           address=store)
            self.assertEqual(got, f"fen\teval\tchi2\n{START}\t0.30\t128.90\n")

    # ---- Where engines disagree ----

    def spread(self, store, *words, **asked):
        """The rows of the command, which a server, HTTP and Python have, too."""
        import chistore  # pylint: disable=import-outside-toplevel
        with harness.start_daemon({"default": store}) as daemon:
            said = [self.out("spread", *words, "--json", address=address)
                    for address in (store, daemon.address)]
        self.assertEqual(said[0], said[1])
        rows = [json.loads(text) for text in said[0].splitlines()]
        with webserver.start(store) as http, chistore.open(store) as python:
            names = [word[2:] for word in words[::2]]
            answer = http.json("/api/insight", kind="spread",
                               **{"limit": 500, **dict(zip(names, words[1::2]))})
            for one, row in zip(answer["rows"], rows, strict=True):
                self.assertEqual({name: one[name] for name in row if name != "show"},
                                 {name: value for name, value in row.items() if name != "show"})
            for one, row in zip(python.spread(**asked), rows, strict=True):
                self.assertEqual((one.position.fen, one.others, one.games),
                                 (row["fen"], row["engines"], row["games"]))
                for end, name in ((one.best, "best"), (one.worst, "worst")):
                    shown = f"#{end.mate}" if end.cp is None else end.cp / 100
                    self.assertEqual((end.engine, end.depth, shown),
                                     tuple(row[name + part] for part in ("_engine", "_depth", "")))
                self.assertAlmostEqual(100 * (one.score - one.expected), row["difference"], 6)
        return rows

    def test_planted_disagreement(self):
        planted = {**PLANTED, ENDING: [line("A 1", 9, 40, "e3d3"), line("B 1", 30, 40, "e3d3")],
                   ROOKS: [{**line("A 1", 9, 0, "d2c3"), "mate": 3}, {**line("B 1", 9, 0, "d2c3"), "mate": 5}]}
        for evaluation in planted[ROOKS]:
            del evaluation["cp"]
        store = self.store_of("all", planted)
        rows = self.spread(store)
        self.assertEqual([(row["fen"], row["difference"]) for row in rows],
                         [(AFTER_E4, 10.25), (START, 6.37)])
        self.assertEqual({name: rows[0][name] for name in ("best", "best_engine", "best_depth", "worst",
                                                           "worst_engine", "worst_depth", "engines")},
                         {"best": 1.5, "best_engine": "Lc0 0.31", "best_depth": 30, "worst": 0.35,
                          "worst_engine": "Stockfish 16", "worst_depth": 20, "engines": 2})
        self.assertEqual((rows[1]["engines"], rows[1]["games"], rows[1]["game"]), (4, 0, None))
        # Its own command shows the position with each evaluation.
        shown = self.out(*shlex.split(rows[0]["show"])[1:], address=store)
        self.assertIn("Lc0 0.31", shown)
        self.assertIn("Stockfish 16", shown)
        # Other questions have other answers; where all agree there is none.
        rows = self.spread(store, "--engine", "stockfish*", engine="stockfish*")
        self.assertEqual([(row["fen"], row["best"], row["worst"]) for row in rows], [(START, 0.3, 0.2)])
        self.assertEqual(self.spread(store, "--engines", "5", engines=5), [])
        self.assertEqual(self.spread(store, "--depth", "61..", depth=(61, None)), [])
        done = self.cli("spread", "--engine", "? 1", address=store)
        self.assertEqual((done.stdout.count("\n"), done.stderr),
                         (1, "chistore: nothing: 2 positions that engines enough evaluated were compared\n"))
        self.cli("spread", "--engines", "1", address=store, code=2)
        with webserver.start(store) as http:
            http.json("/api/insight", want=400, kind="spread", engines=1)

    def test_spread_by_loops(self):
        planted = {}
        for fen in self.fens(300):
            engines = self.random.sample(["A", "B", "C", "D"], self.random.randint(0, 4))
            evals = [line(name, self.random.randint(1, 40), self.random.randint(-300, 300), "h1g1")
                     for name in sorted(engines)]
            for evaluation in evals:
                if self.random.random() < 0.1:
                    del evaluation["cp"]
                    evaluation["mate"] = self.random.choice([-7, -1, 1, 9])
            planted[fen] = evals
        store = self.store_of("many", planted)

        def worth(e):
            return (e["mate"] > 0) * 1.0 if "mate" in e else 1 / (1 + math.exp(-0.00368208 * e["cp"]))

        def points(e):
            return math.floor(worth(e) * 10000 + 0.5)

        want = {}
        for fen, evals in planted.items():
            seen = [points(e) for e in evals if e["depth"] >= 10]
            if len(seen) >= 2 and max(seen) > min(seen):
                want[fen] = (max(seen) - min(seen)) / 100
        rows = self.spread(store, "--depth", "10..", depth=(10, None))
        self.assertEqual({row["fen"]: row["difference"] for row in rows}, want)
        self.assertEqual([row["difference"] for row in rows], sorted(want.values(), reverse=True))
        # Cut again and again, the first ones are the same.
        few = self.spread(store, "--depth", "10..", "--limit", "3", depth=(10, None), limit=3)
        self.assertEqual(few, rows[:3])

    def test_spread_of_games(self):
        game = '[Event "a"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
        store = self.path("games")
        self.cli("import", self.write("one.pgn", game), address=store)
        for fen in (START, AFTER_E4, AFTER_D4):
            for engine, cp in (("x", 10), ("y", 90)):
                self.cli("put", fen, "--eval", f"{engine}:20:{cp}", address=store)
        self.assertEqual(len(self.spread(store)), 3)
        rows = self.spread(store, "--player", "A", filter='player "A"')
        self.assertEqual([(row["fen"], row["games"], row["game"], row["ply"], row["line"])
                          for row in rows], [(AFTER_E4, 1, 1, 1, "1.e4"), (START, 1, 1, 0, None)])
        self.assertEqual(self.spread(store, "--player", "Other", filter='player "Other"'), [])
        self.assertEqual(len(self.spread(store, "--min-games", "1", min_games=1)), 2)

    def test_refused(self):
        store = self.store_of("all", PLANTED)
        for words in (["--engine", ""], ["--engine", "x" * 65], ["--depth", "9..3"], ["--depth", "x"],
                      ["--eval-date", "2024-13"], ["--eval-date", "2025..2024"],
                      ["--eval-date", "24"], ["--eval-date", ".."]):
            self.cli("scan", *words, address=store, code=2)
            self.cli("explore", START, *words, address=store, code=2)
        with webserver.start(store) as http:
            for name, value in (("engine", "x" * 65), ("depth", "9..3"), ("eval-date", "soon")):
                http.json("/api/explore", want=400, fen=START, **{name: value})


if __name__ == "__main__":
    harness.main()
