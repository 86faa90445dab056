# SPDX-License-Identifier: MIT
"""weak, strong, novelties, tempo, performance, drift and suite by the command line, on games with a
weakness, a novelty and a pair of positions a move apart that are put into them: in a directory and over a server, and each
row's own command shows as many games as the row says."""

import json
import os
import random
import shlex

import harness
from cli_base import MASTERS, Base

LINES = ("1. e4 c5 2. Nf3 d6 3. d4", "1. e4 e5 2. Nf3 Nc6 3. Bb5", "1. d4 d5 2. c4 e6 3. Nc3",
         "1. d4 Nf6 2. c4 g6 3. Nc3", "1. c4 e5 2. Nc3")
NOVELTY = "1. Nf3 d5 2. b4"
KNOWN = "1. Nf3 d5 2. g3"
AHEAD = "1. a3 e5"


def game(number, white, black, moves, result, date="1999.01.01", elo=(2500, 2500)):
    tags = {"Event": f"e{number}", "White": white, "Black": black, "Date": date, "Result": result,
            "WhiteElo": elo[0], "BlackElo": elo[1]}
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + \
        f"\n{moves} {result}\n\n"


def games():
    """The player loses in the first line, whatever the ratings; 30 games before the novelty, and 40
    within three years after it; others later."""
    chance = random.Random(1)
    made = []
    for i in range(600):
        line = i % len(LINES)
        result = "0-1" if line == 0 and chance.random() < 0.6 else chance.choice(
            ("1-0", "1/2-1/2", "0-1"))
        made.append(game(len(made), "Player, Some", f"Other {i}", LINES[line], result))
    for i in range(30):
        made.append(game(len(made), f"A{i}", f"B{i}", KNOWN, "1/2-1/2", f"2000.02.{i % 28 + 1:02}"))
    for i in range(70):
        year = 2001 if i == 0 else 2002 if i < 41 else 2010
        made.append(game(len(made), f"N{i}", f"M{i}", NOVELTY, "1-0" if i % 2 else "0-1",
                         f"{year}.05.{i % 28 + 1:02}"))
    chance.shuffle(made)
    return "".join(made)


class Insight(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", self.write("games.pgn", games()), address=self.store)

    def rows(self, *args):
        """The same of the directory and over a server, in either form."""
        with harness.start_daemon({"default": self.store}) as daemon:
            said = [self.out(*args, "--json", address=address)
                    for address in (self.store, daemon.address)]
        self.assertEqual(said[0], said[1])
        found = [json.loads(line) for line in said[0].splitlines()]
        table = self.out(*args, address=self.store).splitlines()
        self.assertEqual(len(table), len(found) + 1)
        if found:
            self.assertEqual(table[0].split("\t"), list(found[0]))
        return found

    def shown(self, row):
        """The games that its command lists."""
        words = shlex.split(row["show"])
        self.assertEqual(words[0], "chistore")
        return len(self.out(*words[1:], "--json", address=self.store).splitlines())

    def test_weak(self):
        found = self.rows("weak", "Player, Some")
        self.assertEqual([(row["side"], row["line"]) for row in found],
                         [("white", "1.e4 c5")])
        row = found[0]
        self.assertEqual((row["games"], self.shown(row)), (120, 120))
        self.assertLess(row["high"], row["expected"])
        self.assertLess(row["adjusted"], 0.05)
        self.assertEqual(self.rows("weak", "--white", "Player, Some", "--limit", "1"), found[:1])
        tested = self.rows("weak", "Player, Some", "--all")
        self.assertGreater(len(tested), len(found))
        self.assertEqual(len({row["fen"] for row in tested}), len(tested))
        self.assertEqual(tested[0]["fen"], row["fen"])
        said = self.cli("weak", "--black", "Player, Some", address=self.store)
        self.assertIn("nothing: 0 positions of 0 rated games as black", said.stderr)
        self.assertEqual(self.rows("weak", "Player, Some", "--white"), found)
        self.assertEqual(self.rows("weak", "Player, Some", "--white", "--black"), found)
        said = self.cli("strong", "Zzyzx", address=self.store)
        self.assertIn("no name in the store fits", said.stderr)

    def test_lines_that_begin_with_black(self):
        """They are numbered from there."""
        start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
        made = "".join(game(i, f"K{i}", f"L{i}", "1... e5 2. Nf3 Nc6", "1-0").replace(
            "[Event", f'[SetUp "1"]\n[FEN "{start}"]\n[Event') for i in range(9))
        store = self.path("black")
        self.cli("import", self.write("black.pgn", made), address=store)
        for fen, line in ((start, "1...e5"), (start.replace("pppppppp/8/8", "pppp1ppp/8/4p3")
                                              .replace(" b ", " w "), "1...e5 2.Nf3")):
            said = self.out("performance", "--of", fen, "--all", "--min-games", "9", "--json",
                            address=store)
            self.assertEqual(json.loads(said)["line"], line)

    def test_novelties(self):
        # The first move of all these is new itself.
        found = self.rows("novelties")
        self.assertEqual([(row["move"], row["followed"]) for row in found],
                         [("Nf3", 70), ("b4", 40)])
        row = found.pop()
        self.assertEqual((row["move"], row["line"], row["white"], row["date"]),
                         ("b4", "1.Nf3 d5", "N0", "2001.05.01"))
        self.assertEqual((row["followed"], row["games"], row["before"]), (40, 70, 30))
        self.assertEqual(self.shown(row), 70)
        self.assertEqual(self.rows("novelties", "--player", "N0"), [row])
        self.assertEqual(self.rows("novelties", "--player", "N1"), [])
        self.assertEqual(self.rows("novelties", "--known", "31"), found)
        self.assertEqual(self.rows("novelties", "--caught-on", "20")[1]["followed"], 69)

    def test_loss_of_novelties(self):
        """By the deepest evaluations of both positions; the filters' condition finds the same."""
        before = "rnbqkbnr/ppp1pppp/8/3p4/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2"
        after = "rnbqkbnr/ppp1pppp/8/3p4/1P6/5N2/P1PPPPPP/RNBQKB1R b KQkq - 0 2"
        for fen, evaluation, loss in ((before, "deep:30:20", None), (after, "deep:20:45", 65),
                                      (after, "deeper:21:-30", -10), (before, "deeper:29:500", -10)):
            self.cli("put", fen, "--eval", evaluation, address=self.store)
            self.assertEqual([row["loss"] for row in self.rows("novelties")], [None, loss])
        self.assertEqual(self.rows("novelties", "--engine", "deeper", "--player", "N0")[0]["loss"], 470)
        for wanted, games in (("-10", 70), ("-9..", 0), ("..-11", 0)):
            self.assertEqual(self.out("games", "--count", "--filter", f"ply 2 loss {wanted}", address=self.store),
                             f"{games}\n")

    def test_tempo(self):
        more = "".join(game(i, f"W{i}", f"Z{i}", moves, result)
                       for i, (moves, result) in enumerate(
                           ((AHEAD + " 2. e4", "1-0"), (AHEAD + " 2. e4", "1/2-1/2"),
                            ("1. e4 e5 2. a3", "1-0"), ("1. e4 a6 2. d4", "0-1")) * 3))
        self.cli("import", self.write("more.pgn", more), address=self.store)
        found = self.rows("tempo", "--min-games", "3")
        self.assertGreater(len(found), 0)
        for row in found:
            self.assertGreaterEqual(self.shown(row), row["games"])
            self.assertAlmostEqual(row["worth"], row["score"] - row["score_behind"], 2)

    def test_performance(self):
        found = self.rows("performance")
        row = found[0]
        self.assertEqual((row["line"], row["games"], self.shown(row)), ("1.e4 c5", 120, 120))
        self.assertLess(row["high"], row["expected"])
        self.assertLess(row["adjusted"], 0.05)
        self.assertGreaterEqual(row["positions"], 4)
        self.assertEqual(self.rows("performance", "--limit", "1"), found[:1])
        tested = self.rows("performance", "--all")
        self.assertEqual((tested[0]["line"], tested[0]["games"]), (row["line"], 120))
        self.assertGreater(len(tested), len(found))
        others = self.rows("performance", "--black", "Other 1", "--min-games", "2", "--all")
        self.assertEqual(others, [])
        filtered = self.rows("performance", "--player", "Player, Some")[0]
        self.assertEqual((filtered["games"], self.shown(filtered)), (120, 120))
        self.assertIn("--filter", filtered["show"])
        said = self.cli("performance", "--min-games", "701", address=self.store)
        self.assertIn("nothing: 0 positions of 700 rated games", said.stderr)

    def test_performance_of_moves(self):
        """Each move of a position is a row, whatever the others are."""
        start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        moves = self.rows("performance", "--of", start, "--all", "--min-games", "2")
        self.assertEqual({row["move"]: row["games"] for row in moves},
                         {"e4": 240, "d4": 240, "c4": 120, "Nf3": 100})
        for row in moves:
            self.assertEqual((row["fen"], row["ply"], self.shown(row)), (start, 1, row["games"]))
        after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
        moves = self.rows("performance", "--of", after, "--min-games", "2")
        whole = self.rows("performance")
        self.assertEqual([row["move"] for row in moves], ["c5"])
        for name in ("games", "score", "expected", "low", "high", "chance"):
            self.assertEqual(moves[0][name], whole[0][name])
        self.assertEqual(self.rows("performance", "--of", "8/8/8/8/8/8/8/K1k5 w - - 0 1"), [])
        done = self.cli("performance", "--of", "startpos", address=self.store, code=2)
        self.assertIn("at least 4 are needed", done.stderr)

    def test_drift_does_not_join_what_went_the_other_way(self):
        """1.c4 is played less, one line in it much more: two findings."""
        made, store = [], self.path("ways")
        for year, lines in ((1990, {"1. c4 e5": 200, "1. d4 d5": 200}),
                            (2010, {"1. c4 e5": 60, "1. c4 c5": 60, "1. d4 d5": 280})):
            for line, n in lines.items():
                made += [game(len(made) + i, f"I{year}{line}{i}", "J", line, "1/2-1/2",
                              f"{year}.01.01") for i in range(n)]
        self.cli("import", self.write("ways.pgn", "".join(made)), address=store)
        said = self.out("drift", "--split", "2000", "--min-games", "50", "--json",
                        address=store)
        found = {row["line"]: (row["games_before"], row["games"])
                 for row in map(json.loads, said.splitlines())}
        self.assertEqual(found["1.c4"], (200, 120))
        self.assertEqual(found["1.c4 c5"], (0, 60))

    def test_drift(self):
        found = self.rows("drift", "--split", "2001", "--min-games", "50")
        row = found[0]
        self.assertEqual((row["line"], row["games_before"], row["games"], self.shown(row)),
                         ("1.Nf3 d5 2.b4", 0, 70, 70))
        self.assertEqual((row["share_before"], row["share"], row["score"]), (0, 100, None))
        self.assertEqual(row["chance"], 0)
        self.assertIn("1.e4", [row["line"] for row in found])
        tested = self.rows("drift", "--split", "2001", "--min-games", "50", "--all")
        self.assertEqual((tested[0]["line"], tested[0]["games"]), (row["line"], 70))
        self.assertGreaterEqual(tested[0]["positions"], row["positions"])
        said = self.cli("drift", "--split", "1999", "--min-games", "2", address=self.store)
        self.assertIn("nothing: 0 positions of 700 games with a year, 0 of them before 1999",
                      said.stderr)

    def test_plot(self):
        """What gnuplot is told: each score of the rows, with its interval, within the picture."""
        self.write("gnuplot", "#!/bin/sh\n/bin/cat >\"$OUT\"\n")
        os.chmod(self.path("gnuplot"), 0o755)
        environment = {**os.environ, "PATH": self.dir, "OUT": self.path("commands")}
        for args in (["weak", "Player, Some", "--all"], ["novelties"],
                     ["tempo", "--min-games", "2"], ["performance", "--all", "--min-games", "20"],
                     ["drift", "--split", "2002", "--all", "--min-games", "20"]):
            with self.subTest(args):
                rows = [row for row in self.rows(*args) if row["score"] is not None]
                done = self.cli(*args, "--plot", "-", address=self.store, env=environment)
                self.assertEqual(done.stdout, "")
                with open(self.path("commands"), encoding="utf-8") as file:
                    points = [line.split("\t") for line in file if line.startswith('"')]
                self.assertEqual(len(points), min(len(rows), 40))
                for row, (label, _, score, low, high, _) in zip(rows, points):
                    self.assertIn(row["line"][-10:] if row["line"] else row["fen"][:15], label)
                    of = row["score_behind"] if args[0] == "tempo" else 0
                    for told, value in ((score, row["score"]), (low, row["low"] + of),
                                        (high, row["high"] + of)):
                        self.assertAlmostEqual(float(told), value, 2)
        done = self.cli("weak", "Unknown, A", "--plot", "-", address=self.store, code=1)
        self.assertIn("nothing to draw", done.stderr)

    def test_refused(self):
        for args, what in ((["weak"], "needs PLAYER"),
                           (["weak", "A", "--white", "B"], "unexpected argument"),
                           (["weak", "A", "--fdr", "0"], "fdr"),
                           (["novelties", "--caught-on", "1001"], "caught-on"),
                           (["tempo", "--player", "A"], "player"),
                           (["performance", "--fdr", "0"], "fdr"),
                           (["drift", "--player", "A"], "--split YEAR"),
                           (["drift", "--split", "0"], "split"),
                           (["weak", "A", "--plot", "-", "--json"], "exclude"),
                           (["tempo", "--plot", "-", "--json"], "exclude"),
                           (["weak", "A", "--filter", "("], "filter")):
            done = self.cli(*args, address=self.store, code=2)
            self.assertIn(what, done.stderr)


class Gap(Base):
    def setUp(self):
        """Positions of evaluations from -2 to 2, of 60 games each that score what the evaluation
        says; after one White scores half of what he should."""
        super().setUp()
        chance = random.Random(5)
        self.store = self.path("games")
        made, lines = [], ["fen,cp,engine,depth"]
        for i in range(40):
            king, pawn = divmod(i, 8)
            start = (f"k7/8/8/8/8/{pawn or ''}P{7 - pawn or ''}/8/{3 + king}K{4 - king or ''}"
                     " w - - 0 1")
            cp = -200 + 10 * i
            lines.append(f"{start},{cp},E,20")
            expected = 1 / (1 + 10 ** (-cp / 300)) / (2 if i == 30 else 1)
            for j in range(60):
                result = "1-0" if chance.random() < expected else "0-1"
                made.append(game(len(made), f"P{i}", f"Q{i},{j}", f"1. K{'defgh'[king]}2", result)
                            .replace("[Event", f'[SetUp "1"]\n[FEN "{start}"]\n[Event'))
        self.planted = lines[31].split(",")[0]
        self.games = self.write("games.pgn", "".join(made))
        self.evaluated = [line.split(",")[:2] for line in lines[1:]]
        self.cli("import", self.games, address=self.store)
        self.cli("import", self.write("evals.csv", "\n".join(lines) + "\n"), address=self.store)

    def test_gap(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            (said,) = {self.out("gap", "--json", address=address)
                       for address in (self.store, daemon.address)}
        (row,) = [json.loads(line) for line in said.splitlines()]
        self.assertEqual(row["fen"].split()[0], self.planted.split()[0])
        self.assertEqual((row["eval"], row["games"]), (1.0, 60))
        self.assertLess(row["high"], row["expected"])
        self.assertEqual(self.out("gap", "--json", "--engines", "2", address=self.store), "")
        every = self.out("gap", "--json", "--all", address=self.store).splitlines()
        self.assertEqual(len(every), 40)
        self.assertEqual(self.out("gap", "--json", "--player", "P1", address=self.store), "")

    def test_order_of_a_scan(self):
        with harness.start_daemon({"default": self.store}) as daemon:
            (said,) = {self.out("scan", "--sort", "gap", "--limit", "5", "--json", address=address)
                       for address in (self.store, daemon.address)}
        self.assertEqual(len(said.splitlines()), 5)
        self.assertEqual(json.loads(said.splitlines()[0])["fen"].split()[0], self.planted.split()[0])

    def test_gap_by_lichess(self):
        """By a file of lichess' evaluations, which has a clock-less FEN, lines of moves and no engine."""
        other = self.path("other")
        lines = [json.dumps({"fen": " ".join(fen.split()[:4]), "evals": [
            {"pvs": [{"cp": int(cp), "line": f"{'defgh'[i // 8]}1{'defgh'[i // 8]}2"}], "knodes": 100, "depth": 20}]})
                 for i, (fen, cp) in enumerate(self.evaluated)]
        self.cli("import", self.games, address=other)
        self.cli("import", self.write("lichess_db_eval.jsonl", "\n".join(lines) + "\n"),
                 address=other)
        for args in ((), ("--all",)):
            said = [self.out("gap", *args, address=store) for store in (self.store, other)]
            self.assertEqual(*said)
        self.assertIn(self.planted.split()[0], said[0])

    def test_evaluations_that_are_all_alike_find_nothing(self):
        lines = ["fen,cp,engine,depth"] + [
            f"{row['fen']},20,F,30" for row in map(json.loads, self.out(
                "scan", "--json", "--engines", "1", address=self.store).splitlines())]
        self.assertEqual(len(lines), 41)
        self.cli("import", self.write("alike.csv", "\n".join(lines) + "\n"), address=self.store)
        done = self.cli("gap", "--all", address=self.store)
        self.assertIn("nothing: 0 positions", done.stderr)


def board(line):
    """The 64 squares of a FEN."""
    text = line.split()[0].replace("/", "")
    for digit in "12345678":
        text = text.replace(digit, "." * int(digit))
    return text


class Suite(Base):
    def draw(self, *args):
        return self.out("suite", *args, address=self.store).splitlines()

    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", MASTERS, address=self.store)

    def test_suite(self):
        fit = ("--ply", "4..20", "--score", "30..70", "--min-games", "2")
        wanted = set(self.out("export", "--format", "epd", *fit, address=self.store).splitlines())
        drawn = self.draw("--count", "40", "--apart", "6", *fit)
        self.assertEqual(len(drawn), 40)
        self.assertLessEqual(set(drawn), wanted)
        for i, one in enumerate(drawn):
            for other in drawn[:i]:
                self.assertGreaterEqual(
                    sum(a != b for a, b in zip(board(one), board(other))), 6)
        self.assertEqual(self.draw("--count", "40", "--apart", "6", *fit), drawn)
        with harness.start_daemon({"default": self.store}) as daemon:
            self.assertEqual(self.out("suite", "--count", "40", "--apart", "6", *fit,
                                      address=daemon.address).splitlines(), drawn)
        other = self.draw("--count", "40", "--apart", "6", "--seed", "7", *fit)
        self.assertNotEqual(set(other), set(drawn))
        # All that fit, if there are not more.
        self.assertEqual(set(self.draw("--count", "100000", "--apart", "0", *fit)), wanted)
        done = self.cli("suite", "--apart", "60", *fit, address=self.store)
        self.assertIn("no more are so far apart", done.stderr)
        done = self.cli("suite", "--material", "KQvK", address=self.store, code=1)
        self.assertIn("no position fits", done.stderr)

    def test_evaluations(self):
        lines = ["fen,cp,engine,depth"] + \
            [f"{line.rsplit(' ', 3)[0]} w - - 0 1,{20 * i},E,9" for i, line in enumerate(
                ("8/8/8/4k3/8/4K3/8/7R x x x", "8/8/8/4k3/8/4K3/8/6Q1 x x x",
                 "8/8/8/4k3/8/2B1K3/8/6N1 x x x"))]
        self.cli("import", self.write("evals.csv", "\n".join(lines) + "\n"), address=self.store)
        (line,) = self.draw("--eval", "0.15..0.25")
        self.assertIn("6Q1", line)
        for part in ("ce 20;", "acd 9;", 'engine "E"'):
            self.assertIn(part, line)
