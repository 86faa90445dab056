# SPDX-License-Identifier: MIT
"""The Python package: its declarations against the C compiler, positions against the vectors, every
call in a directory and through a daemon, and the README's examples as they are printed."""

import csv
import ctypes
import doctest
import importlib.util
import io
import json
import os
import subprocess
import sys
import threading
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "python")
sys.path.insert(0, PACKAGE)

# pylint: disable=wrong-import-position
from harness import make_temp_dir, run_cli, start_daemon

if os.environ.get("CHISTORE_SANITIZE", "none") != "none":
    print("# skipped: Python has no sanitizer's run time")
    sys.exit(77)

import chistore
from chistore import _abi

DATA = os.environ["CHISTORE_TEST_DATA"]
PGN = os.path.join(DATA, "pgn", "games_300.pgn")
HEADERS = [os.path.join(ROOT, "include", name) for name in ("chistore/imports.h", "chistore/types.h", "chistore/games.h", "chistore/names.h", "chistore/search.h", "chistore/insight.h", "chistore/queue.h",
                                                          "chistore.h")]

GAMES = """[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[White "C"]
[Black "D"]
[Result "0-1"]

1. e4 c5 0-1

[White "E"]
[Black "F"]
[Result "1/2-1/2"]

1. d4 Nf6 2. c4 e6 3. Nc3 1/2-1/2
"""


class Declarations(unittest.TestCase):
    """What Python believes of C."""

    def test_are_those_of_the_headers(self):
        made = subprocess.run([os.path.join(PACKAGE, "make_abi.py"), *HEADERS], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout
        with open(os.path.join(PACKAGE, "chistore", "_abi.py"), encoding="utf-8") as file:
            self.assertEqual(file.read(), made, "run make python-abi")

    def test_layout_is_the_compilers(self):
        structs = [(name, kind) for name, kind in vars(_abi).items()
                   if isinstance(kind, type) and hasattr(kind, "_fields_")]
        self.assertGreater(len(structs), 20)
        checks = ["#include <stddef.h>", "#include <chistore.h>"]
        for name, kind in structs:
            checks.append(f"_Static_assert(sizeof(struct {name}) == {ctypes.sizeof(kind)}, \"\");")
            for field, _ in kind._fields_:
                offset = getattr(kind, field).offset
                checks.append(f"_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"\");")
        command = [os.environ["CC"], "-std=c11", "-fsyntax-only", "-x", "c",
                   "-I", os.path.join(ROOT, "include"), "-"]
        subprocess.run(command, input="\n".join(checks), encoding="utf-8", check=True)
        wrong = checks + ["_Static_assert(sizeof(struct chi_key) == 24, \"\");"]
        self.assertNotEqual(subprocess.run(command, input="\n".join(wrong), encoding="utf-8",
                                           stderr=subprocess.DEVNULL, check=False).returncode, 0)

    def test_unreadable_header_is_named(self):
        path = os.path.join(make_temp_dir(), "odd.h")
        with open(path, "w", encoding="utf-8") as file:
            file.write("union odd { int a; };\n")
        done = subprocess.run([os.path.join(PACKAGE, "make_abi.py"), path], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("union odd", done.stderr)


class Positions(unittest.TestCase):
    """Against vectors made by an independent program."""

    def test_vectors(self):
        with open(os.path.join(DATA, "vectors.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 300)
        for row in rows:
            position = chistore.Position(row["fen"])
            self.assertEqual(position.key.hex(), row["position_key"])
            self.assertEqual(position.fen, row["normalised_fen"])
            control = int(row["control_hundredths"])
            self.assertEqual(position.control, control / 100 if control else None)
            self.assertEqual(chistore.Position(position.key), position)

    def test_moves(self):
        here = chistore.Position().play("e4", "e7e5", "Nf3", "Nc6", "Bb5", "a6", "O-O")
        self.assertIn("RNBQ1RK1", here.fen)
        before = chistore.Position().play("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")
        self.assertEqual((before.uci("O-O"), before.san("e1g1")), ("e1g1", "O-O"))
        self.assertEqual(len({here, before, chistore.Position(here.fen)}), 2)

    def test_legal_moves(self):
        start = chistore.Position()
        moves = start.moves()
        self.assertEqual(len(moves), 20)
        self.assertEqual({move.san: move.after for move in moves}["Nf3"], start.play("g1f3"))
        nodes = sum(len(child.after.moves()) for move in moves for child in move.after.moves())
        self.assertEqual(nodes, 8902)  # perft(3)
        mate = start.play("f3", "e5", "g4", "Qh4")
        self.assertEqual((mate.moves(), mate.state), ([], {"check", "checkmate"}))
        self.assertEqual(chistore.Position("k7/8/1Q6/8/8/8/8/K7 b - -").state, {"stalemate"})
        self.assertEqual(chistore.Position("k7/8/8/8/8/8/8/KB6 w - -").state, {"insufficient"})

    def test_bad_input(self):
        for what, code in (("", "EFEN"), ("x", "EFEN"), ("8/8/8/8/8/8/8/8 w - -", "EFEN"),
                           ("\0", "EFEN"), ("é" * 500, "ETOOBIG"), (b"", "EKEY"), (b"\xff" * 9, "EKEY"),
                           (b"\x00" * 25, "EKEY")):
            with self.assertRaises(chistore.BadInput, msg=what) as caught:
                chistore.Position(what)
            self.assertIn(caught.exception.code, (code, "EFEN", "EKEY"), what)
        with self.assertRaises(chistore.BadInput) as caught:
            chistore.Position().play("e5")
        self.assertEqual(caught.exception.code, "EMOVE")
        for what in (None, 1, [], object()):
            with self.assertRaises(TypeError):
                chistore.Position(what)
        for keys in ([b"x" * 300], ["text"]):
            with self.assertRaises(chistore.BadInput):
                chistore.Positions.from_keys(keys)

    def test_board(self):
        # The attributes of a python-chess board, of 1. e4 c5 2. e5 d5 (en passant is possible).
        board = types.SimpleNamespace(
            occupied_co={True: 0x000000100000EFFF, False: 0xFFF3000C00000000},
            pawns=0x00F3001C0000EF00, knights=0x4200000000000042, bishops=0x2400000000000024,
            rooks=0x8100000000000081, queens=0x0800000000000008, kings=0x1000000000000010,
            castling_rights=0x8100000000000081, ep_square=43, turn=True)
        self.assertEqual(chistore.Position(board), chistore.Position().play("e4", "c5", "e5", "d5"))

    @unittest.skipUnless(importlib.util.find_spec("chess"), "python-chess is not installed")
    def test_python_chess(self):
        import chess  # pylint: disable=import-outside-toplevel,import-error
        with open(os.path.join(DATA, "vectors.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                try:
                    board = chess.Board(row["fen"], chess960=True)
                except ValueError:
                    continue
                if board.is_valid():
                    self.assertEqual(chistore.Position(board).key.hex(), row["position_key"])
        self.assertEqual(chistore.Position().play(chess.Move.from_uci("e2e4")).fen.split()[1], "b")


def bare(row):
    """A row as a scan gives it, which does not look for the best move."""
    return row._replace(best_move=None, best_source=None)


class Calls:
    """The same calls and answers at any address."""

    @classmethod
    def setUpClass(cls):
        cls.folder = make_temp_dir()
        cls.path = os.path.join(cls.folder, "store")
        cls.notes = []
        cls.counted = chistore.import_pgn(cls.path, PGN, statistic="outcome",
                                          report=cls.notes.append)

    def setUp(self):
        self.store = chistore.Store(self.address, writable=True)
        self.addCleanup(self.store.close)

    def test_import_is_the_command_lines(self):
        other = os.path.join(make_temp_dir(), "other")
        run_cli("import", "--statistic", "outcome", PGN, address=other)
        info = self.store.info()
        with chistore.open(other) as theirs:
            for field in ("positions", "known", "games", "base", "statistic"):
                self.assertEqual(info[field], theirs.info()[field], field)
        self.assertEqual(sum(info["games"]), self.counted["taken"])
        again = chistore.import_pgn(self.address, PGN)
        self.assertEqual((again["taken"], again["known"]),
                         (0, self.counted["taken"] + self.counted["known"]))

    def test_probe_get_scan_agree(self):
        rows = [bare(row) for row in self.store.scan(order="position")]
        self.assertEqual(len(rows), self.store.info()["positions"])
        self.assertEqual(rows, sorted(rows, key=lambda row: row.position.key))
        packed = chistore.Positions(row.position for row in rows)
        probed = self.store.probe(packed)
        self.assertEqual([bare(row) for row in probed], rows)
        self.assertEqual(bare(probed[5]), rows[5])
        self.assertEqual(probed.column("counts.white"), [row.counts.white for row in rows])
        self.assertEqual(probed.column("chi2"), [round((row.chi2 or 0) * 100) for row in rows])
        # The other ways to a row give the same; some of them are enough.
        some, rows = list(probed)[:2000], rows[:2000]
        packed = chistore.Positions(row.position for row in rows)
        keys = chistore.Positions.from_keys([row.position.key for row in rows])
        self.assertEqual(list(self.store.probe(keys)), some)
        with self.store.prober(60000) as prober:
            self.assertEqual(list(prober.probe_many(packed)), some)
            self.assertEqual([prober.probe(row.position) for row in rows[:100]], some[:100])
            self.assertFalse(prober.follow())
        self.assertFalse(self.store.changed())
        records = self.store.get_many(packed)
        self.assertEqual([record.counts for record in records], [row.counts for row in rows])
        self.assertEqual(records[7], self.store.get(packed[7]))
        pairs = list(self.store.scan(order="position", records=True, limit=2000))
        self.assertEqual([record for _, record in pairs], records)

    def test_game_filter(self):
        with open(PGN, encoding="utf-8") as file:
            text = file.read()
        wins = text.count('[Result "1-0"]')
        path = os.path.join(make_temp_dir(), "wins")
        done = chistore.import_pgn(path, PGN, statistic="control", filter="result 1-0")
        self.assertEqual((done["taken"], done["filtered"]), (wins, done["games"] - wins))
        with chistore.open(path) as store:
            self.assertEqual(store.info()["games"], (wins, 0, 0, 0))
        game = io.BytesIO(b'[White "A"]\n\n1. e4 {+0.31/18 1s} e5 {[%eval 0.2]} *\n')
        self.assertEqual(chistore.import_pgn(path, game, evals=True)["evaluations"], 2)

    def test_bands(self):
        known = [row for row in self.store.scan(order="position") if row.chi2 is not None]
        low, high = sorted(row.chi2 for row in known)[2], sorted(row.chi2 for row in known)[-3]
        wanted = [row for row in known if low <= row.chi2 <= high]
        got = list(self.store.scan((low, high)))
        self.assertEqual(len(got), len(wanted))
        self.assertEqual(got, sorted(wanted, key=lambda row: (row.chi2, row.position.key)))
        self.assertEqual(list(self.store.scan((low, high), descending=True)), got[::-1])
        self.assertEqual(list(self.store.scan((low, high), limit=3)), got[:3])
        self.assertEqual(self.store.count((low, high)), len(got))
        self.assertEqual(self.store.count(side="black") + self.store.count(side="white"),
                         self.store.info()["positions"])
        self.assertEqual(self.store.count(pieces=(32, 32), games_min=2),
                         sum(row.counts.games >= 2 and
                             sum(map(str.isalpha, row.position.fen.split()[0])) == 32
                             for row in self.store.scan()))
        with self.assertRaises(chistore.BadInput):
            self.store.count(material="KXvK")

    def test_filters_and_sorts(self):
        rows = [row for row in self.store.scan() if row.counts.games >= 3]
        wanted = [row for row in rows if 0.55 <= row.counts.score <= 0.80]
        self.assertEqual(self.store.count(games_min=3, score=(55, 80)), len(wanted))
        best = list(self.store.scan(sort="games", limit=5, games_min=3, score=(55, 80)))
        self.assertEqual([row.counts.games for row in best],
                         sorted((row.counts.games for row in wanted), reverse=True)[:5])
        self.assertEqual(self.store.count(ply=(0, 0)), 1)
        self.assertEqual(self.store.count(engines=1), 0)
        with self.assertRaises(chistore.BadInput):
            self.store.count(score=(-1, 5))
        with self.assertRaises(TypeError):
            self.store.count(colour="white")

    def test_scan_leaves_the_store_free(self):
        for row in self.store.scan(limit=5):
            self.assertIsNotNone(self.store.get(row.position))

    def test_rows_are_left_open_at_the_end(self):
        """The store is closed then, and its rows with it: they were closed once more after that."""
        ask = "import chistore\ns = chistore.open(%r)\nrows = s.%s\nnext(rows)\n"
        for call in ("scan()", "games()"):
            done = subprocess.run([sys.executable, "-c", ask % (self.address, call)], check=False,
                                  stderr=subprocess.PIPE, encoding="utf-8",
                                  env={**os.environ, "PYTHONPATH": PACKAGE, "MALLOC_PERTURB_": "85"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), call)

    def test_explore(self):
        found = self.store.explore()
        record = self.store.get("startpos")
        self.assertEqual({move.uci: move.played for move in found.moves if move.played.games},
                         {move.uci: move.counts for move in record.moves})
        for move in found.moves:
            after = chistore.Position().play(move.san)
            self.assertEqual(move.child.position, after)
            self.assertEqual(move.child, self.store.probe([after])[0])
        self.assertEqual(found.min_ply, 0)

    def test_names_gamesets_and_patterns(self):
        store = self.store
        norheim, = store.names("magnus norheim")
        self.assertEqual((norheim.text, norheim.games), ("Norheim,M", 28))
        self.assertEqual(len(store.names()), store.names()[-1].number)
        self.assertTrue(all(len(group.names) > 1 for group in store.suspects()))
        pairs = [("Velan,V", "Norheim,M"), ("No One", "Norheim,M")]
        done = store.join_names(pairs, dry_run=True)
        self.assertEqual((done.changed, [i for i, _ in done.conflicts]), (1, [1]))
        self.assertEqual(store.join_names(pairs), done)
        self.assertEqual(len(store.names("norheim")), 2)
        store.join_names([("Velan,V", None)])
        self.assertEqual(store.make_gameset("c", "player Norheim"), 28)
        with self.assertRaises(chistore.Error):
            store.make_gameset("c")
        self.assertEqual(store.gamesets(), [chistore.Gameset("c", "player Norheim", 28)])
        asked = {"pattern": 'has "Nf3 nc6"', "games": "in c"}
        rows = list(store.scan(order="position", whole_counts=True, **asked))
        self.assertEqual(store.count(**asked), len(rows))
        self.assertEqual([row.counts for row in rows],
                         [row.counts for row in store.probe([row.position for row in rows])])
        rest = store.scan(order="position", after=rows[2], whole_counts=True, **asked)
        self.assertEqual(list(rest), rows[3:])
        theirs = list(store.scan(order="position", **asked))
        self.assertEqual([row.position for row in theirs], [row.position for row in rows])
        self.assertTrue(any(one.counts.games < row.counts.games for one, row in zip(theirs, rows)))
        with self.assertRaises(chistore.BadInput):
            store.count(pattern="colour")
        self.assertEqual([store.drop_gameset("c") for _ in range(2)], [True, False])

    def test_games_of_a_pattern(self):
        """Whichever way they are looked for."""
        asked = 'has "Nd5" player Norheim'
        games = list(self.store.games(asked))
        self.assertGreater(len(games), 2)
        self.assertTrue(all(game.ply > 0 for game in games))
        self.assertEqual(list(self.store.games(asked, by_positions=True)), games)
        for by_positions in (False, True):
            self.assertEqual(self.store.count_games(asked, by_positions=by_positions), len(games))

    def test_games(self):
        store = self.store
        shown = run_cli("games", "--result", "1-0", "--json", address=self.address).stdout
        wins = list(store.games("result 1-0"))
        self.assertEqual(len(wins), store.count_games("result 1-0"))
        for game, line in zip(wins, shown.splitlines(), strict=True):
            theirs = json.loads(line)
            self.assertEqual((game.number, game.white, game.black, game.eco, game.plies),
                             tuple(theirs[name] for name in ("game", "white", "black", "eco",
                                                             "plies")))
            self.assertEqual(game.date, theirs["date"] or "")
        here = chistore.Position().play("e4", "c5")
        self.assertEqual(store.count_games(position=here), store.get(here).counts.games)
        self.assertEqual({game.ply for game in store.games(position=here)}, {2})
        best = list(store.games(sort="rating", descending=True, limit=2))
        self.assertEqual(len(best), 2)
        target = io.BytesIO()
        self.assertEqual(store.export_pgn(target, "player Norheim"), 28)
        self.assertEqual(target.getvalue().decode(),
                         run_cli("games", "--player", "Norheim", "--pgn",
                                 address=self.address).stdout)
        self.assertEqual(store.game(wins[0].number).pgn,
                         next(store.games("result 1-0", pgn=True)).pgn)
        self.assertIsNone(store.game(4000000))
        with self.assertRaises(chistore.BadInput):
            store.count_games("result 2-0")

    def test_scans_of_games(self):
        store = self.store
        rows = list(store.scan(games="player Norheim", order="position", limit=50))
        start = chistore.Position()
        self.assertEqual(store.explore(start, "player Norheim").row.counts.games, 28)
        self.assertEqual(store.unknown_names, [])
        self.assertTrue(all(0 < row.counts.games <= 28 for row in rows))
        self.assertGreater(store.count(games="player Norheim"), len(rows))
        self.assertEqual(store.count(games='player "Nemo"'), 0)
        self.assertEqual(store.unknown_names, ["Nemo"])
        self.assertEqual(list(store.scan(games="player Nemo1")), [])
        self.assertEqual(store.unknown_names, ["Nemo1"])

    def test_twins(self):
        path = os.path.join(make_temp_dir(), "twins")
        moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6"
        game = '[White "{}"]\n[Black "Spassky, B"]\n[Date "{}"]\n\n{} *\n\n'
        text = "".join(game.format(name, date, moves)
                       for name, date in (("Fischer, R", "1992.09.02"),
                                          ("Fischer, Robert", "1992.09.03"),
                                          ("Fischer, R", "1972.09.02")))
        text += game.format("Fischer, R", "1972.09.02", moves + " 8. Kh1 Kh8")
        chistore.import_pgn(path, io.BytesIO(text.encode()), statistic="control")
        with chistore.open(path) as store:
            self.assertEqual(store.twins(plies=10), [[1, 2]])
            self.assertEqual(store.twins(plies=10)[0].why, {"names", "dates"})
            self.assertEqual(store.twins(days=0, plies=10), [])
            self.assertEqual(store.twins(), [])
            self.assertEqual(store.twins(plies=10, beginning=12), [[1, 2], [3, 4]])
            self.assertEqual(store.twins(plies=10, beginning=12)[1].why, {"beginning"})
            self.assertEqual(store.twins("player Nemo"), [])
            self.assertEqual(store.unknown_names, ["Nemo"])

    def test_insight(self):
        path = os.path.join(make_temp_dir(), "insight")
        game = '[White "A{0}"]\n[Black "{1}"]\n[WhiteElo "2500"]\n[BlackElo "2500"]\n' \
               '[Date "{2}.01.01"]\n[Result "{3}"]\n\n1. {4} {3}\n\n'
        text = "".join(game.format(i, "B", 2000, "1-0", "e4 e5 2. a3") for i in range(30))
        text += "".join(game.format(i, "B", 2000, "0-1", "d4 d5 2. a3") for i in range(30))
        text += "".join(game.format(i, "C", 2001, "1/2-1/2", "e4 e5 2. h4") for i in range(9))
        chistore.import_pgn(path, io.BytesIO(text.encode()), statistic="control")
        with chistore.open(path) as store:
            weak = store.weak('black "B"')  # White scores 50 %
            worse = store.weak('black "B"', black=True)
            better = store.strong('black "B"', black=True)
            self.assertEqual([found.position for found in weak],
                             [chistore.Position().play("d4")])
            self.assertEqual([found.position for found in worse],
                             [chistore.Position().play("e4")])
            self.assertEqual([found.position for found in better],
                             [chistore.Position().play("d4")])
            self.assertEqual((worse[0].games, worse[0].score, better[0].score), (30, 0, 1))
            self.assertTrue(worse[0].chance <= worse[0].adjusted < 0.05 < worse[0].expected)
            (new,) = store.novelties(min_games=9)
            self.assertEqual((new.position, new.move, new.ply),
                             (chistore.Position().play("e4", "e5"), "h2h4", 2))
            self.assertEqual((new.games, new.others, new.followed, new.loss), (9, 30, 8, None))
            self.assertEqual([(found.position, found.games, round(found.score, 4), found.others)
                              for found in store.performance(min_games=9)],
                             [(chistore.Position().play("d4"), 30, 0, 3),
                              (chistore.Position().play("e4", "e5", "a3"), 30, 1, 1),
                              (chistore.Position().play("e4"), 39, 0.8846, 2)])
            self.assertEqual([(found.move, found.games) for found in
                              store.performance(position=chistore.Position(), min_games=9)],
                             [("d2d4", 30), ("e2e4", 39)])
            self.assertEqual(store.gap(), [])
            (late,) = store.drift(2001, min_games=9, limit=1)
            self.assertEqual((late.games, late.others, late.score), (9, 0, None))
            self.assertEqual((late.share_before, late.share), (0, 1))
            self.assertRaises(chistore.BadInput, store.drift, 0)
            self.assertEqual(store.novelties("player Nemo", min_games=9), [])
            self.assertEqual(store.unknown_names, ["Nemo"])
            self.assertRaises(chistore.BadInput, store.weak, "player (")

    def test_queue(self):
        store = self.store
        here, there = chistore.Position(), chistore.Position().play("e4")
        self.assertEqual(store.queue_add([here, there], 3), chistore.QueueAdded(2, 0, 0))
        self.assertEqual(store.queue_add([there]), chistore.QueueAdded(0, 1, 0))
        self.assertEqual([row.position for row in store.queue()], [there, here])
        lease = store.queue_take("me", seconds=600)
        self.assertEqual([(row.position, row.holder) for row in lease.rows], [(there, "me")])
        self.assertIsNone(store.queue_take("you", positions=[there]))
        self.assertEqual(store.queue_settle(lease, [there, here], "extend"), 1)
        self.assertEqual(store.queue_counts(), {"waiting": 1, "leased": 1, "failed": 0})
        self.assertEqual(store.queue_settle(lease, [there]), 1)
        self.assertEqual([store.queue_drop(), store.queue_drop([here])], [1, 0])

    def test_put(self):
        here = chistore.Position("8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1")
        self.assertIsNone(self.store.get(here))
        evals = [chistore.Evaluation("Ä 2", 30, mate=12, nodes=5, date=7, pv=["Ra4+", "e4d3"][:1]),
                 chistore.Evaluation("A 1", 20, 1, score=-30),
                 chistore.Evaluation("A 1", 20, score=-15)]
        done = self.store.put(here, counts=(5, 4, 3, 2), moves={"Ra4+": (1, 0, 0, 0)},
                              evals=evals, line=["a1a4", "Kd3"], note="a nöte")
        self.assertEqual(done["added"], 1)
        record = self.store.get(here)
        self.assertEqual(record.counts, (5, 4, 3, 2))
        self.assertEqual((record.note, list(record.line)), ("a nöte", ["a1a4", "d4d3"]))
        self.assertEqual([e.engine for e in record.evals], ["A 1", "A 1", "Ä 2"])
        self.assertEqual([e.score for e in record.evals], [-15, -30, None])
        self.assertEqual((record.evals[2].mate, record.evals[2].pv), (12, ["a1a4"]))
        row = self.store.probe([here])[0]
        self.assertEqual((row.best, row.best_source), ("a1a4", "eval"))
        self.assertEqual((row.depth, row.mate, row.score), (30, 12, None))
        self.store.put(chistore.Put(here, counts=(1, 0, 0, 0), add=True), durable=False)
        self.store.flush()
        self.assertEqual(self.store.get(here).counts.white, 6)
        with self.assertRaises(chistore.BadInput) as caught:
            self.store.put(here, chi2=3.0)
        self.assertIn("statistic", str(caught.exception))
        self.assertEqual(self.store.delete(here, "startpos".replace("startpos", here.fen)), 1)
        self.assertIsNone(self.store.get(here))

    def test_whole(self):
        self.store.ping()
        self.assertIn(self.store.check_disk(), (True, False))
        self.assertEqual(self.store.verify(), [])
        copy = os.path.join(make_temp_dir(), "copy")
        self.store.backup(copy)
        with chistore.open(copy) as other:
            self.assertEqual(other.info()["positions"], self.store.info()["positions"])
            with self.assertRaises(chistore.Denied):
                other.put("startpos", note="x")
        self.store.rescore()

    def test_threads(self):
        wrong = []

        def work():
            with chistore.open(self.address) as store:
                for _ in range(200):
                    if store.get("startpos").counts.games != games:
                        wrong.append(1)

        games = self.store.get("startpos").counts.games
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_keys_are_checked_when_used(self):
        for key in (b"x" * 25, b"", b"\xff" * 9):
            with self.assertRaises(chistore.BadInput) as caught:
                self.store.probe(chistore.Positions.from_keys([key]))
            self.assertEqual(caught.exception.code, "EKEY")

    def test_closed(self):
        self.store.close()
        self.store.close()
        with self.assertRaises(ValueError):
            self.store.get("startpos")


class Directory(Calls, unittest.TestCase):
    """In this process."""

    def setUp(self):
        self.address = self.path
        super().setUp()

    def test_no_store(self):
        with self.assertRaises(chistore.NoStore):
            chistore.open(os.path.join(self.folder, "none"))
        with self.assertRaises(TypeError):
            chistore.open(self.path, writeable=True)

    def test_import_of_nonsense_makes_no_store(self):
        path, games = os.path.join(make_temp_dir(), "s"), os.path.join(make_temp_dir(), "g.pgn")
        with self.assertRaises(OSError):
            chistore.import_pgn(path, games, statistic="control")
        self.assertFalse(os.path.exists(path))


class Daemon(Calls, unittest.TestCase):
    """Through a socket."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon = cls.enterClassContext(start_daemon({"default": cls.path}))
        cls.address = cls.daemon.address

    def test_server_that_is_gone(self):
        with start_daemon() as daemon:
            store = chistore.open(daemon.address, repeat_ms=_abi.CHI_NO_REPEAT)
        with self.assertRaises(chistore.Unreachable):
            store.ping()
        store.close()


class Readme(unittest.TestCase):
    """Its examples give what it prints."""

    def test_examples(self):
        folder, before = make_temp_dir(), os.getcwd()
        with open(os.path.join(folder, "games.pgn"), "w", encoding="utf-8") as file:
            file.write(GAMES)
        os.chdir(folder)
        self.addCleanup(os.chdir, before)
        failed, tried = doctest.testfile(os.path.join(PACKAGE, "README.md"), module_relative=False)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 20)

    def test_installs(self):
        if importlib.util.find_spec("pip") is None or importlib.util.find_spec("setuptools") is None:
            self.skipTest("no pip")
        folder = make_temp_dir()
        source = os.path.join(folder, "python")
        subprocess.run(["cp", "-r", PACKAGE, source], check=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                               "--no-build-isolation", "--no-deps", "--root-user-action=ignore",
                               "--target", os.path.join(folder, "site"), source],
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = subprocess.run([sys.executable, "-c", "import chistore; print(chistore.__file__)"],
                              env={**os.environ, "PYTHONPATH": os.path.join(folder, "site")},
                              cwd="/", stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        self.assertTrue(said.startswith(folder), said)
