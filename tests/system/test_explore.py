# SPDX-License-Identifier: MIT
"""`chistore explore`: its three forms, what it takes and refuses, in this process and through a
daemon."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from cli_base import ABSENT, AFTER_E4, START, Base, run_cli, spawn, summary  # noqa: E402

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"
AFTER_D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
AFTER_C4 = "rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1"
PAWN = "8/8/8/8/8/8/P7/8 w - - 0 1"

COLUMNS = ["san", "uci", "games", "white", "draws", "black", "other", "score", "reached",
           "reached_white", "reached_draws", "reached_black", "chi2", "eco", "opening"]

# Of 20 games from the initial position 10 went 1. e4, 9 1. d4, 1 1. a3; others got to 1. c4. The
# position behind 1. a3 was not kept.
DUMP = "\n".join([
    "chistore-dump\t1",
    "statistic\texternal",
    "base\t0\t0\t0\t0",
    "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote",
    *sorted([
        f"{START}\t9.21\t8\t4\t7\t1\ta2a3:0/0/0/1 d2d4:4/3/2/0 e2e4:4/1/5/0\t0:20\t\t\t",
        f"{AFTER_E4}\t12.34\t8\t4\t8\t0\tc7c5:1/2/3/0\t1:10 3:10\t\t\t",
        f"{AFTER_D4}\t-\t4\t3\t2\t0\t\t1:9\t\t\t",
        f"{AFTER_C4}\t0.01\t0\t0\t30\t0\t\t3:30\t\t\t",
        f"{SICILIAN}\t255.99\t1\t2\t3\t0\t\t2:6\t\t\t",
        f"{PAWN}\t-\t1\t0\t0\t0\ta2a3:1/0/0/0\t\t\t\t",
    ]),
    "end\t6\t0", ""])


def rows(text):
    """The rows of tab-separated output as dictionaries."""
    head, *lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(head, line, strict=True)) for line in lines]


class Explore(Base):
    """Run by two subclasses: on a directory, and against a daemon that serves one."""

    def serve(self, directory):
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        store = self.new_store("external")
        self.cli("load", self.write("dump", DUMP), address=store)
        self.address = self.serve(store)

    def explore(self, *args, **extra):
        return self.cli("explore", *args, address=self.address, **extra)

    def test_rows(self):
        text = self.explore().stdout
        self.assertEqual(text.splitlines()[0].split("\t"), COLUMNS)
        table = [[row[name] for name in COLUMNS] for row in rows(text)]
        self.assertEqual(table, [
            ["e4", "e2e4", "10", "4", "1", "5", "0", "45.0", "20", "8", "4", "8", "12.34", "B00",
             "King's Pawn Game"],
            ["d4", "d2d4", "9", "4", "3", "2", "0", "61.1", "9", "4", "3", "2", "-", "A40",
             "Queen's Pawn Game"],
            ["a3", "a2a3", "0", "0", "0", "0", "1", "-", "-", "-", "-", "-", "-", "A00",
             "Anderssen's Opening"],
        ])
        self.assertEqual(len(rows(self.explore("--limit", "2").stdout)), 2)
        self.assertEqual([row["san"] for row in rows(self.explore("--all").stdout)],
                         ["e4", "d4", "a3", "c4"])
        self.assertEqual([row["reached"] for row in rows(self.explore("--all").stdout)],
                         ["20", "9", "-", "30"])
        # As Black, to move, sees it.
        (row,) = rows(self.explore(AFTER_E4).stdout)
        self.assertEqual((row["san"], row["score"], row["chi2"]), ("c5", "66.7", "255.99"))
        # Nothing was played from here.
        self.assertEqual(self.explore(SICILIAN).stdout, "\t".join(COLUMNS) + "\n")

    def test_positions(self):
        wanted = self.explore(AFTER_E4).stdout
        for args in (["e4"], ["startpos", "e4"], [START, "e2e4"], ["1.", "e4"], ["1. e4"],
                     [AFTER_E4.replace(" ", "_")], ["e4", "--limit", "9"]):
            self.assertEqual(self.explore(*args).stdout, wanted, args)
        sicilian = self.explore(SICILIAN, "--json").stdout
        for args in (["e4", "c5"], ["1. e4 c5"], ["e4", "c7c5"], [AFTER_E4, "c5"]):
            self.assertEqual(self.explore(*args, "--json").stdout, sicilian, args)

    def test_json(self):
        text = self.explore("--json", "--all", "--limit", "3").stdout
        self.assertEqual(text.count("\n"), 1)
        answer = json.loads(text)
        moves = answer.pop("moves")
        self.assertEqual(answer, {
            "fen": START, "found": True, "eco": None, "opening": None, "chi2": 9.21, "games": 19,
            "white": 8, "draws": 4, "black": 7, "other": 1, "score": 52.632, "min_ply": 0})
        self.assertEqual([move["san"] for move in moves], ["e4", "d4", "a3"])
        self.assertEqual(moves[0], {
            "san": "e4", "uci": "e2e4", "games": 10, "white": 4, "draws": 1, "black": 5,
            "other": 0, "score": 45.0, "child": {
                "fen": AFTER_E4, "found": True, "eco": "B00", "opening": "King's Pawn Game",
                "chi2": 12.34, "games": 20, "white": 8, "draws": 4, "black": 8, "other": 0}})
        # What is not kept is not said to be 0.
        self.assertEqual((moves[2]["games"], moves[2]["other"], moves[2]["score"]), (0, 1, None))
        self.assertEqual([moves[2]["child"][name] for name in ("found", "games", "white", "chi2")],
                         [False, None, None, None])
        answer = json.loads(self.explore("e4 c5", "--json").stdout)
        self.assertEqual((answer["eco"], answer["opening"], answer["min_ply"], answer["moves"]),
                         ("B20", "Sicilian Defense", 2, []))

    def test_table(self):
        text = self.explore("--table", env={"LC_ALL": "C.UTF-8"}).stdout
        head, table = text.split("\n\n")
        self.assertEqual(head.splitlines(), [
            f"FEN      {START}",
            "games    19: White 8 (42.1 %), draws 4 (21.1 %), Black 7 (36.8 %); "
            "1 without a result",
            "         " + 8 * "\u2588" + 5 * "\u2592" + 7 * "\u2591",
            "score    52.6 % for White, to move",
            "chi2     9.21",
            "first    at ply 0",
        ])
        lines = table.splitlines()
        self.assertEqual(lines[0].split(), ["san", "games", "white", "draws", "black", "score",
                                            "reached", "chi2", "eco", "opening"])
        self.assertEqual(lines[1].split(maxsplit=10), [
            "e4", "10", "4", "1", "5", 8 * "\u2588" + 2 * "\u2592" + 10 * "\u2591", "45.0", "20",
            "12.34", "B00", "King's Pawn Game"])
        # Columns are aligned: the openings begin below their heading.
        at = lines[0].index("opening")
        self.assertEqual([line[at:] for line in lines],
                         ["opening", "King's Pawn Game", "Queen's Pawn Game",
                          "Anderssen's Opening"])
        text = self.explore("--table", "e4", "c5", env={"LC_ALL": "C"}).stdout
        self.assertTrue(text.isascii())
        self.assertIn("opening  B20 Sicilian Defense\n", text)
        self.assertIn("         ###=======..........\n", text)
        self.assertIn(f" {8 * '#'}{2 * '='}{10 * '.'} ", self.explore("--table", "--ascii").stdout)

    def test_terminal(self):
        for args, table in (([], True), (["--tsv"], False)):
            master, slave = harness.pseudo_terminal(self)
            process = spawn("explore", *args, address=self.address, stdout=slave,
                            stdin=subprocess.DEVNULL)
            os.close(slave)
            text = b""
            try:
                while piece := os.read(master, 65536):
                    text += piece
            except OSError:  # how a terminal says that its other side is closed
                pass
            os.close(master)
            self.assertEqual(process.wait(), 0)
            self.assertEqual(text.startswith(b"FEN "), table)
            self.assertNotIn(b"\x1b", text)

    def test_not_found(self):
        done = self.explore(ABSENT, code=1)
        self.assertEqual((done.stdout, done.stderr),
                         ("", f"chistore: position not found: {ABSENT}\n"))
        self.assertEqual(self.explore(ABSENT, "--json", code=1).stdout, "")
        # By other ways games got to positions behind one that is not stored.
        self.cli("delete", START, address=self.address)
        self.assertEqual(self.explore(code=1).stdout, "")
        done = self.explore("--all", code=1)
        self.assertEqual([(row["san"], row["games"], row["reached"]) for row in rows(done.stdout)],
                         [("c4", "0", "30"), ("e4", "0", "20"), ("d4", "0", "9")])
        self.assertEqual(done.stderr, f"chistore: position not found: {START}\n")
        answer = json.loads(self.explore("--all", "--json", code=1).stdout)
        self.assertEqual((answer["found"], answer["games"], answer["score"], answer["min_ply"]),
                         (False, None, None, None))
        text = self.explore("--all", "--table", code=1).stdout
        self.assertNotIn("games    ", text)
        self.assertIn("King's Pawn Game", text)

    def test_without_kings(self):
        (row,) = rows(self.explore(PAWN).stdout)
        self.assertEqual((row["san"], row["games"], row["reached"], row["eco"]),
                         ("a3", "1", "-", "-"))
        (move,) = json.loads(self.explore(PAWN, "--json").stdout)["moves"]
        self.assertEqual((move["child"]["fen"], move["child"]["found"]), (None, False))

    def test_refused(self):
        for args, says in (
                ([START.replace("RNBQKBNR", "RNBQKBNRR")], ""), (["8/8/8"], ""),
                (START.split(), "put it in quotes"), (["e5"], "e5"), (["e4", "e4"], "e4"),
                (["e4 e5 Qh9"], "Qh9"), (["--limit", "0"], "--limit"),
                (["--limit", "x"], "--limit"), (["--table", "--tsv"], "--tsv"),
                (["--nonesuch"], "nonesuch"), ([PAWN, "a3"], "")):
            done = self.explore(*args, code=2)
            self.assertEqual(done.stdout, "", args)
            self.assertIn(says, done.stderr, args)

    def test_full_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for form in ("--tsv", "--table", "--json"):
                process = spawn("explore", form, address=self.address, stdout=full,
                                stderr=subprocess.PIPE, text=True)
                self.assertIn("cannot write", process.communicate()[1])
                self.assertEqual(process.returncode, 3)


class OnDirectory(Explore):
    def serve(self, directory):
        return directory


class OnUnixSocket(Explore):
    def serve(self, directory):
        self.daemon = harness.start_daemon(
            {"default": directory}, listen=["unix:" + self.path("socket")])
        return self.daemon.address

    def tearDown(self):
        self.assertEqual(self.daemon.stop(), 0)


del Explore


class SameAnswers(Base):
    """One store, asked in this process and through sockets at the same time."""

    def test_byte_for_byte(self):
        store = self.new_store("external")
        self.assertEqual(summary(self.out("load", self.write("dump", DUMP), address=store))["new"],
                         "6")
        with harness.start_daemon({"default": store},
                                  listen=["unix:" + self.path("s"), "tcp:127.0.0.1:0"]) as daemon:
            for position in ([], ["e4"], ["e4", "c5"], ["e4", "e4"], [ABSENT], [PAWN], ["x/y"]):
                for form in ([], ["--json", "--all"], ["--table", "--all", "--limit", "2"]):
                    here = run_cli("explore", *position, *form, address=store)
                    for address in daemon.addresses:
                        there = run_cli("explore", *position, *form, address=address)
                        self.assertEqual((here.returncode, here.stdout, here.stderr),
                                         (there.returncode, there.stdout, there.stderr), position)


if __name__ == "__main__":
    unittest.main(verbosity=2)
