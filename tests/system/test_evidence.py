#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which evaluations are seen: planted ones of several engines, chosen by name, depth and date. What
is chosen is computed here once more, with Python's own patterns, and a store where the others were
never put answers the same: the command line over a directory and a server, HTTP and Python."""

import datetime
import fnmatch
import json
import os
import sys

import harness
import webserver
from cli_base import AFTER_E4, ENDING, START, Base

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
            for options, left in self.pairs():
                words = [word for name, value in options.items() for word in (f"--{name}", value)]
                for question in asked:
                    want = harness.run_cli(*question, address=left)
                    for address in (store, daemon.address):
                        got = harness.run_cli(*question, *words, address=address)
                        self.assertEqual((got.returncode, got.stdout, got.stderr),
                                         (want.returncode, want.stdout, want.stderr),
                                         (question, words))

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
