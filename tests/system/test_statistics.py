#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The score and eval statistics, held against their definitions worked out here with fractions."""

import json
import os
import random
import re
import shutil

from cli_base import AFTER_E4, Base, ENDING, START, harness, summary

DATA = os.environ["CHISTORE_TEST_DATA"]
GAMES = os.path.join(DATA, "pgn", "games_300.pgn")
ENGINES = ("Arasan", "Gull 3", "Rodent")


def rows_of(dump):
    """The base rates, and the positions of a dump as dictionaries."""
    lines = dump.splitlines()
    base = next(line for line in lines if line.startswith("base\t")).split("\t")[1:]
    names = next(line for line in lines if line.startswith("fen\t")).split("\t")
    rows = [dict(zip(names, line.split("\t"))) for line in lines if line.count("\t") == 10]
    return [int(n) for n in base], [row for row in rows if row["fen"] != "fen"]


def text(hundredths):
    return "-" if hundredths is None else f"{hundredths // 100}.{hundredths % 100:02}"


def half_up(dividend, divisor):
    return (2 * dividend + divisor) // (2 * divisor)


def score(base, row):
    """100 (W + D/2 + 10 b) / (W + D + B + 10), half up."""
    white, draws, black = (int(row[name]) for name in ("white", "draws", "black"))
    games = white + draws + black
    if games < 5:
        return None
    # b is (2 W + D) / 2 N of the base; both sides times 2 N.
    total = sum(base[:3])
    return max(1, half_up(10000 * (total * (2 * white + draws) + 10 * (2 * base[0] + base[1])),
                          2 * total * (games + 10)))


def value(evaluation, white_moves):
    """128.00 plus White's pawns; mates beyond all of them."""
    kind, number = evaluation.split(":")
    number = int(number)
    if kind == "cp":
        return 12800 + max(-12600, min(12600, number if white_moves else -number))
    size = min(abs(number), 198)
    return 25599 - size if (number > 0) == white_moves else 1 + size


def evaluated(row):
    """By the deepest; they have no dates here, so of equal ones by the first."""
    best = None
    for one in filter(None, row["evals"].split(";")):
        _, depth, number = one.split("|")[:3]
        if best is None or int(depth) > best[0]:
            best = (int(depth), number)
    return None if best is None else value(best[1], row["fen"].split()[1] == "w")


class Statistics(Base):
    def check(self, address, compute):
        """Every position has what is computed here, and scans are in its order."""
        base, rows = rows_of(self.out("dump", address=address))
        expected = {row["fen"]: text(compute(base, row)) for row in rows}
        self.assertEqual({row["fen"]: row["chi2"] for row in rows}, expected)
        listed = [line.split("\t")[:2] for line in
                  self.out("scan", "--keys", address=address).splitlines()[1:]]
        self.assertEqual({fen: chi2 for chi2, fen in listed}, expected)
        order = [0 if chi2 == "-" else float(chi2) for chi2, _ in listed]
        self.assertEqual(order, sorted(order))
        self.cli("verify", address=address)
        return expected

    def test_score_of_games(self):
        here = self.path("here")
        self.cli("import", "--statistic", "score", GAMES, address=here)
        found = self.check(here, score)
        self.assertGreater(sum(chi2 != "-" for chi2 in found.values()), 100)
        with harness.start_daemon({"default": self.new_store("score")}) as daemon:
            self.cli("import", GAMES, address=daemon.addresses[0])
            self.assertEqual(self.check(daemon.addresses[0], score), found)

    def test_score_follows_counts_and_base(self):
        a = self.new_store("score")
        for i, fen in enumerate(self.fens(60)):
            self.cli("put", fen, "--counts", f"{i},{i % 7},{60 - 2 * i % 11}", address=a)
        # Nothing to be drawn towards yet.
        self.assertEqual(self.out("count", "--min", "0.01", address=a), "0\n")
        self.cli("rescore", address=a)
        self.check(a, score)
        self.cli("put", START, "--counts", "1,2,1", address=a)
        self.check(a, score)
        self.cli("put", START, "--counts", "0,0,1", "--add", address=a)
        self.check(a, score)
        self.cli("rescore", "--base", "10,0,90", address=a)
        self.assertEqual(self.check(a, score)[START], "20.00")  # (2 + 10 * 0.1) / 15
        self.cli("delete", START, address=a)
        self.check(a, score)

    def test_performance_of_games(self):
        """The same through a daemon, in a copy by a dump and in a store of some of its games."""
        here, some = self.path("here"), self.path("some")
        self.cli("import", "--statistic", "performance", GAMES, address=here)
        columns = ("scan", "--min", "0.01", "--show", "chi2,performance,fen,games")
        found = self.out(*columns, address=here).splitlines()
        self.assertGreater(len(found), 50)
        for line in found[1:]:
            chi2, z, _, games = line.split("\t")
            self.assertAlmostEqual(float(chi2) - 128, float(z), places=6)
            self.assertGreaterEqual(int(games), 5)
        with harness.start_daemon({"default": self.new_store("performance")}) as daemon:
            self.cli("import", GAMES, address=daemon.addresses[0])
            self.assertEqual(self.out(*columns, address=daemon.addresses[0]).splitlines(), found)
            self.cli("verify", address=daemon.addresses[0])
            self.assertEqual(self.out("info", address=daemon.addresses[0]).splitlines()[-4:],
                             self.out("info", address=here).splitlines()[-4:])
        copied = harness.make_store(self.path("copied"), "performance")
        self.cli("load", self.write("dump", self.out("dump", address=here)), address=copied)
        self.assertEqual(self.out(*columns, address=copied).splitlines(), found)
        self.cli("extract", "--result", "1-0", some, address=here)
        for store in (copied, some):
            self.cli("verify", address=store)
            self.assertEqual(self.out("rescore", address=store), "changed\t0\n")

    def test_another_statistic(self):
        """To performance and back: dumps are those of stores that had it from the beginning."""
        store, fresh = self.path("store"), {}
        self.cli("import", GAMES, address=store)
        for kind in ("performance", "eval", "score", "external", "performance", "control"):
            self.cli("rescore", "--statistic", kind, address=store)
            self.assertIn(f"statistic\t{kind}\n", self.out("info", address=store))
            self.cli("verify", address=store)
            if kind == "external":
                continue
            if kind not in fresh:
                fresh[kind] = self.path("fresh-" + kind)
                self.cli("import", "--statistic", kind, GAMES, address=fresh[kind])
                self.cli("rescore", address=fresh[kind])
            self.assertEqual(rows_of(self.out("dump", address=store)), rows_of(self.out("dump", address=fresh[kind])))
        with harness.start_daemon({"default": store}) as daemon:
            done = self.cli("rescore", "--statistic", "score", address=store, code=3)
            self.assertIn("served by", done.stderr)
            done = self.cli("rescore", "--statistic", "score", address=daemon.addresses[0], code=2)
            self.assertIn("is a server", done.stderr)
        counts = self.path("counts")
        self.cli("init", "--games", "none", address=counts)
        done = self.cli("rescore", "--statistic", "performance", address=counts, code=2)
        self.assertIn("games", done.stderr)
        self.cli("rescore", "--statistic", "speed", address=counts, code=2)
        self.assertIn("statistic\tcontrol\n", self.out("info", address=counts))
        self.cli("rescore", "--statistic", "score", address=self.path("none"), code=3)

    def test_repaired_performance(self):
        """A position that lost a rated game in a repair kept the statistic of them all."""
        here, lost = self.path("here"), 0
        self.cli("import", "--statistic", "performance", GAMES, address=here)
        for seed in range(6):
            broken, saved = self.path(f"broken{seed}"), self.path(f"saved{seed}")
            shutil.copytree(here, broken)
            rng = random.Random(seed)
            with open(os.path.join(broken, "data.mdb"), "r+b") as file:
                pages = os.path.getsize(file.name) // 4096
                for _ in range(12):
                    file.seek(rng.randrange(2, pages) * 4096 + 100 + rng.randrange(3000))
                    byte = file.read(1)
                    file.seek(-1, 1)
                    file.write(bytes([byte[0] ^ 0x55]))
            harness.run_cli("verify", "--repair", saved, address=broken)
            self.cli("verify", address=saved)
            lost += int(self.out("games", "--count", address=saved)) < 300
        self.assertGreater(lost, 0)

    def test_bands_of_performance(self):
        here, other = self.path("here"), self.new_store("score")
        self.cli("import", "--statistic", "performance", GAMES, address=here)
        show = ("--show", "performance,fen")
        lines = self.out("scan", "--min", "0.01", *show, address=here).splitlines()[1:]
        high = [line for line in lines if float(line.split("\t")[0]) >= 0.5]
        self.assertTrue(0 < len(high) < len(lines))
        self.assertEqual(self.out("scan", "--performance", "0.5..", *show,
                                  address=here).splitlines()[1:], high)
        self.assertEqual(self.out("count", "--performance", "0.5..", address=here), f"{len(high)}\n")
        self.assertEqual(self.out("scan", "--sort", "performance", "--limit", "3", *show,
                                  address=here).splitlines()[1:], lines[:-4:-1])
        self.assertEqual(self.out("scan", "--sort", "performance", "--asc", "--limit", "3", *show,
                                  address=here).splitlines()[1:], lines[:3])
        self.assertIn("score, not performance",
                      self.cli("scan", "--performance", "1..", address=other, code=2).stderr)
        self.cli("scan", "--sort", "performance", "--limit", "2", address=other, code=2)
        for wrong in ("#3..", "2..1", "x", "127.."):
            self.cli("scan", "--performance", wrong, address=here, code=2)
        self.cli("scan", "--performance", "1..", "--min", "3", address=here, code=2)
        self.cli("put", START, "--chi2", "129", address=here, code=2)
        self.cli("init", "--statistic", "performance", "--games", "none", address=self.path("no"),
                 code=2)

    def epd(self, rng, fens):
        """A file of random evaluations; few depths, so that ties are common."""
        lines = []
        for fen in fens:
            number = (f"dm {rng.choice((1, 2, 3, 250))}" if rng.random() < 0.2 else
                      f"ce {rng.choice((rng.randint(-300, 300), rng.randint(-15000, 15000)))}")
            lines.append(f"{' '.join(fen.split()[:4])} {number}; acd {rng.randint(1, 4)};")
        return self.write(f"{rng.random()}.epd", "\n".join(lines) + "\n")

    def evaluate(self, address, rng, fens):
        for engine in ENGINES:
            some = rng.sample(fens, 2 * len(fens) // 3)
            self.cli("import", "--engine", engine, self.epd(rng, some), address=address)

    def test_eval_follows_evaluations(self):
        rng = harness.seed()
        white = list(self.fens(120))
        fens = [fen.replace(" w ", " b ") if i % 2 else fen for i, fen in enumerate(white)] + [START]

        def compute(_, row):
            return evaluated(row)
        a, b = self.new_store("eval"), harness.make_store(self.path("b"), "eval")
        for store in (a, b):
            self.evaluate(store, rng, fens)
            self.check(store, compute)
        # What lies deeper in the other store moves a position; then a daemon's own writes do.
        self.cli("merge", b, address=a)
        before = self.check(a, compute)
        for fen in fens[:10]:
            self.cli("delete", fen, address=a)
        with harness.start_daemon({"default": a}) as daemon:
            self.check(daemon.addresses[0], compute)
            self.cli("put", ENDING, "--eval", "Gull 3:9:mate-2", address=daemon.addresses[0])
            self.cli("put", START, "--eval", "Gull 3:30:-17", address=daemon.addresses[0])
            self.evaluate(daemon.addresses[0], rng, fens[5:40])
            after = self.check(daemon.addresses[0], compute)
        self.assertEqual((after[START], after[ENDING]), ("127.83", "0.03"))
        self.assertNotEqual(after, before)
        self.assertEqual(self.out("rescore", address=a), "changed\t0\n")
        self.assertEqual(self.check(a, compute), after)
        # A copy is the same store; a dump that says something else is none.
        dump = self.out("dump", address=a)
        self.cli("load", address=self.path("copy"), input=dump)
        self.assertEqual(self.out("dump", address=self.path("copy")), dump)
        bad = self.sealed(dump.replace("\t127.83\t", "\t127.84\t"))
        self.cli("load", address=self.path("bad"), input=bad, code=3)

    def listed(self, address, *args):
        return [line.split("\t")[1] for line in
                self.out("scan", *args, address=address).splitlines()[1:]]

    def filled(self, kind):
        """Games and evaluations; the rows, each with what filters ask for."""
        a, rng = self.path(kind), harness.seed()
        self.cli("import", "--statistic", kind, GAMES, address=a)
        fens = sorted(self.listed(a, "--min-games", "2"))
        self.evaluate(a, rng, rng.sample(fens, 150))
        base, rows = rows_of(self.out("dump", address=a))
        for row in rows:
            white, draws, black = (int(row[name]) for name in ("white", "draws", "black"))
            row["games"] = white + draws + black
            row["score"] = None if row["games"] == 0 else half_up(100 * (100 * white + 50 * draws),
                                                                  row["games"])
            row["eval"] = evaluated(row)
            row["ply"] = int(row["plies"].split(":")[0])
            row["engines"] = len(row["evals"].split(";")) if row["evals"] else 0
        return a, base, rows

    def check_filters(self, address, rows):
        def within(name, low, high):
            return {row["fen"] for row in rows if row[name] is not None and low <= row[name] <= high}
        for args, expected in (
                (("--score", "62..65"), within("score", 6200, 6500)),
                (("--score", "..0"), within("score", 0, 0)),
                (("--score", "100"), within("score", 10000, 10000)),
                (("--eval", "-0.5..1.05"), within("eval", 12750, 12905)),
                (("--eval", "#3..#1"), within("eval", 25596, 25598)),
                (("--eval", "..#-1"), within("eval", 1, 2)),
                (("--eval", "126.."), within("eval", 25400, 25599)),
                (("--ply", "3..5"), within("ply", 3, 5)),
                (("--ply", "7"), within("ply", 7, 7)),
                (("--engines", "2"), within("engines", 2, 64)),
                (("--engines", "3", "--score", "50..", "--ply", "..9"),
                 within("engines", 3, 64) & within("score", 5000, 10000) & within("ply", 0, 9))):
            self.assertEqual(set(self.listed(address, *args)), expected, args)
            self.assertEqual(self.out("count", *args, address=address), f"{len(expected)}\n", args)
            self.assertGreater(len(expected), 0, args)
            exported = self.out("export", "--format", "csv", *args, address=address).splitlines()[1:]
            self.assertEqual({line.split(",")[0] for line in exported}, expected, args)

    def check_sorts(self, address, rows):
        def first(n, name, up=False):
            known = [row for row in rows if row[name] is not None]
            sign = 1 if up else -1
            # Of equals by key, of which the printed order of a scan by position tells.
            return [row[name] for row in sorted(known, key=lambda row: sign * row[name])][:n]
        value = {row["fen"]: row for row in rows}
        for name in ("games", "score", "eval"):
            for args in ((), ("--asc",)):
                found = self.listed(address, "--sort", name, "--limit", "70", *args)
                self.assertEqual([value[fen][name] for fen in found],
                                 first(70, name, bool(args)), (name, args))

    def test_filters_and_sorts(self):
        a, _, rows = self.filled("control")
        self.check_filters(a, rows)
        self.check_sorts(a, rows)
        with harness.start_daemon({"default": a}) as daemon:
            self.check_filters(daemon.addresses[0], rows)
            self.check_sorts(daemon.addresses[0], rows)
        for args in (("--sort", "games"), ("--sort", "games", "--limit", "10001"), ("--asc",),
                     ("--sort", "games", "--limit", "5", "--order", "position"),
                     ("--eval", "1..0"), ("--eval", "x"), ("--eval", ".."), ("--score", "101"),
                     ("--ply", "4097"), ("--engines", "65"), ("--eval", "127")):
            self.cli("scan", *args, address=a, code=2)

    def test_bands_of_their_statistic(self):
        a, _, rows = self.filled("eval")
        by_value = {row["fen"]: row["eval"] for row in rows}
        listed = self.listed(a, "--eval", "-1..1")
        self.assertEqual(sorted(listed), sorted(fen for fen, value in by_value.items()
                                                if value is not None and 12700 <= value <= 12900))
        order = [by_value[fen] for fen in listed]
        self.assertEqual(order, sorted(order))
        best = [by_value[fen] for fen in self.listed(a, "--sort", "eval", "--limit", "9")]
        self.assertEqual(best, sorted(filter(None, by_value.values()), reverse=True)[:9])
        self.check_filters(a, rows)
        self.cli("scan", "--eval", "0..1", "--min", "3", address=a, code=2)
        b, base, rows = self.filled("score")
        expected = [row["fen"] for row in rows if score(base, row) is not None
                    and 6200 <= score(base, row) <= 6500]
        self.assertEqual(sorted(self.listed(b, "--score", "62..65")), sorted(expected))

    def test_columns(self):
        a = self.path("columns")
        self.cli("import", GAMES, address=a)
        with open(GAMES, encoding="utf-8") as file:
            results = re.findall(r'^\[Result "(.*)"\]$', file.read(), re.M)
        # The initial position scores what all games do.
        score_of_all = float(text(score([results.count(one) for one in ("1-0", "1/2-1/2", "0-1")], {
            "white": results.count("1-0"), "draws": results.count("1/2-1/2"), "black": results.count("0-1")})))
        najdorf = "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 1"
        self.cli("put", START, "--eval", "Gull 3:20:-15", "--eval", "Arasan:7:40", "--line", "d4 d5",
                 address=a)
        self.cli("put", AFTER_E4, "--eval", "Gull, 3:9:mate3", address=a)
        names = "fen,games,score,eval,depth,engine,engines,best,ply,eco,opening,other"
        rows = {}
        with harness.start_daemon({"default": a}) as daemon:
            for address in (a, daemon.addresses[0]):
                lines = self.out("scan", "--sort", "games", "--limit", "400", "--show", names,
                                 address=address).splitlines()
                self.assertEqual(lines[0], names.replace(",", "\t"))
                rows[address] = {line.split("\t")[0]: line.split("\t")[1:] for line in lines[1:]}
            self.assertEqual(rows[a], rows[address])
            found = rows[a]
            self.assertEqual(found[START], ["300", f"{score_of_all:.2f}", "-0.15", "20", "Gull 3", "2", "d4", "0",
                                            "-", "-", "0"])
            self.assertEqual(found[AFTER_E4][2:6] + found[AFTER_E4][9:10],
                             ["#-3", "9", "Gull, 3", "1", "King's Pawn Game"])
            self.assertEqual(found[najdorf][2:3] + found[najdorf][8:10],
                             ["-", "B90", "Sicilian Defense: Najdorf Variation"])
            # What was played most, where there is no better word for it.
            record = json.loads(self.out("get", najdorf, address=a))
            self.assertEqual(found[najdorf][6], record["moves"][0]["san"])
            for where in (a, address):
                objects = [json.loads(line) for line in self.out(
                    "scan", "--json", "--show", names, "--engines", "1", address=where).splitlines()]
                by_fen = {row["fen"]: row for row in objects}
                self.assertEqual(list(by_fen[START]), names.split(","))
                self.assertEqual((by_fen[START]["eval"], by_fen[START]["score"],
                                  by_fen[AFTER_E4]["eval"], by_fen[START]["eco"]),
                                 (-0.15, score_of_all, "#-3", None))
        csv = self.out("export", "--engines", "1", "--show", "engine,eval,opening", address=a)
        self.assertEqual(sorted(csv.splitlines()),
                         ['"Gull, 3",#-3,King\'s Pawn Game', "Gull 3,-0.15,", "engine,eval,opening"])
        tsv = self.out("export", "--format", "tsv", "--engines", "2", "--show", "best,eval",
                       address=a)
        self.assertEqual(tsv, "best\teval\nd4\t-0.15\n")
        jsonl = self.out("export", "--format", "jsonl", "--engines", "2", "--show", "best,chi2",
                         address=a)
        self.assertEqual(jsonl, '{"best":"d4","chi2":76.0}\n')
        for args in (("scan", "--show", "fen,what"), ("scan", "--show", ""),
                     ("scan", "--show", "fen", "--keys"),
                     ("export", "--format", "epd", "--show", "fen")):
            self.cli(*args, address=a, code=2)

    def test_games_alone_have_no_evaluation(self):
        a = self.path("games")
        self.cli("import", "--statistic", "eval", GAMES, address=a)
        self.assertEqual(self.out("count", "--min", "0.01", address=a), "0\n")
        self.cli("put", START, "--eval", "Gull 3:20:30", address=a)
        self.assertEqual(self.out("scan", "--min", "0.01", address=a).splitlines()[1],
                         "\t".join(["128.30", START, "300"] + self.results(a)))

    def results(self, address):
        """Games won by White, drawn, won by Black."""
        info = summary(self.out("info", address=address))
        return [info["games_" + name] for name in ("white", "draws", "black")]
