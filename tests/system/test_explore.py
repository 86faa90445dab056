# SPDX-License-Identifier: MIT
"""`chistore explore`: its three forms, what it takes and refuses."""

import fcntl
import json
import os
import re
import struct
import subprocess
import termios

import harness
from cli_base import ABSENT, AFTER_E4, START, Base, spawn

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"
AFTER_D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
AFTER_C4 = "rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1"
PAWN = "8/8/8/8/8/8/P7/8 w - - 0 1"

COLUMNS = ["san", "uci", "games", "white", "draws", "black", "other", "score", "eval",
           "depth", "backed", "reached",
           "reached_white", "reached_draws", "reached_black", "chi2", "eco", "opening"]

# Of 20 games from the initial position 10 went 1. e4, 9 1. d4, 1 1. a3; others got to 1. c4. The
# position after 1. a3 was not kept.
DUMP = "\n".join([
    "chistore-dump\t1",
    "statistic\texternal",
    "base\t0\t0\t0\t0",
    "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote",
    *sorted([
        f"{START}\t9.21\t8\t4\t7\t1\ta2a3:0/0/0/1 d2d4:4/3/2/0 e2e4:4/1/5/0\t0:20\t\t\t",
        f"{AFTER_E4}\t12.34\t8\t4\t8\t0\tc7c5:1/2/3/0\t1:10 3:10\tdeep|30|cp:-35|-|-|\t\t",
        f"{AFTER_D4}\t-\t4\t3\t2\t0\t\t1:9\tdeep|9|mate:3|-|-|\t\t",
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
    def setUp(self):
        super().setUp()
        self.address = self.new_store("external")
        self.cli("load", self.write("dump", self.sealed(DUMP)), address=self.address)

    def explore(self, *args, **extra):
        return self.cli("explore", *args, address=self.address, **extra)

    def test_rows(self):
        text = self.explore().stdout
        self.assertEqual(text.splitlines()[0].split("\t"), COLUMNS)
        table = [[row[name] for name in COLUMNS] for row in rows(text)]
        self.assertEqual(table, [
            ["e4", "e2e4", "10", "4", "1", "5", "0", "45.0", "+0.35", "30", "-", "20", "8", "4", "8",
             "12.34", "B00", "King's Pawn Game"],
            ["d4", "d2d4", "9", "4", "3", "2", "0", "61.1", "#-3", "9", "-", "9", "4", "3", "2", "-",
             "A40", "Queen's Pawn Game"],
            ["a3", "a2a3", "0", "0", "0", "0", "1", "-", "-", "-", "-", "-", "-", "-", "-", "-", "A00",
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
                     [AFTER_E4.replace(" ", "_")], ["e4", "--limit", "9"],
                     [START + " e4"], [START[:-4] + " 1. e4"], [START + " moves e4"], ["  e4 "]):
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
            "white": 8, "draws": 4, "black": 7, "other": 1, "score": 52.632, "min_ply": 0,
            "last_opening": None, "endgame": None})
        self.assertEqual([move["san"] for move in moves], ["e4", "d4", "a3"])
        self.assertEqual(moves[0], {
            "san": "e4", "uci": "e2e4", "games": 10, "white": 4, "draws": 1, "black": 5,
            "other": 0, "score": 45.0, "child": {
                "fen": AFTER_E4, "found": True, "eco": "B00", "opening": "King's Pawn Game",
                "chi2": 12.34, "games": 20, "white": 8, "draws": 4, "black": 8, "other": 0,
                "eval": {"depth": 30, "cp": -35}, "backed": None}})
        # What is not kept is not said to be 0.
        self.assertEqual((moves[2]["games"], moves[2]["other"], moves[2]["score"]), (0, 1, None))
        self.assertEqual([moves[2]["child"][name] for name in ("found", "games", "white", "chi2")],
                         [False, None, None, None])
        answer = json.loads(self.explore("e4 c5", "--json").stdout)
        self.assertEqual((answer["eco"], answer["opening"], answer["min_ply"], answer["moves"]),
                         ("B20", "Sicilian Defense", 2, []))

    def test_table(self):
        text = self.explore("--table", env={"LC_ALL": "C.UTF-8"}).stdout
        fen, head, table = text.split("\n\n")
        self.assertEqual(fen, f"FEN      {START}")
        self.assertEqual([line.rstrip() for line in head.splitlines()], [
            "8  \u265c \u265e \u265d \u265b \u265a \u265d \u265e \u265c   to move  White",
            "7  " + 7 * "\u265f " + "\u265f   "
            "games    19: White 8 (42.1 %), draws 4 (21.1 %), Black 7 (36.8 %); 1 without a",
            "6  " + 8 * "\u00b7 " + "           result",
            "5  " + 8 * "\u00b7 " + 11 * " " + 8 * "\u2588" + 5 * "\u2592" + 7 * "\u2591",
            "4  " + 8 * "\u00b7 " + "  score    52.6 % for White",
            "3  " + 8 * "\u00b7 " + "  chi2     9.21 (external)",
            "2  " + 8 * "\u2659 " + "  first    at ply 0",
            "1  \u2656 \u2658 \u2657 \u2655 \u2654 \u2657 \u2658 \u2656",
            "   a b c d e f g h",
        ])
        lines = table.splitlines()
        self.assertEqual(lines[0].split(), ["san", "games", "white", "draws", "black", "score",
                                            "eval", "reached", "chi2", "eco", "opening"])
        self.assertEqual(lines[1].split(maxsplit=11), [
            "e4", "10", "4", "1", "5", 8 * "\u2588" + 2 * "\u2592" + 10 * "\u2591", "45.0", "+0.35",
            "20", "12.34", "B00", "King's Pawn Game"])
        # Columns are aligned: the openings begin below their heading.
        at = lines[0].index("opening")
        self.assertEqual([line[at:] for line in lines],
                         ["opening", "King's Pawn Game", "Queen's Pawn Game",
                          "Anderssen's Opening"])
        text = self.explore("--table", "e4", "c5", env={"LC_ALL": "C"}).stdout
        self.assertTrue(text.isascii())
        self.assertIn("opening  B20 Sicilian Defense\n", text)
        self.assertIn("         ###=======..........\n", text)
        self.assertIn("8  r n b q k b n r   ", text)
        self.assertIn(f" {8 * '#'}{2 * '='}{10 * '.'} ", self.explore("--table", "--ascii").stdout)

    def on_terminal(self, *args, lines=24, columns=100, **variables):
        """What a terminal of that size gets to see."""
        master, slave = harness.pseudo_terminal(self)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "PAGER": "sed s/^/paged:/"} | variables
        command = [name + "=" + value for name, value in environment.items()]
        process = subprocess.Popen(["env", "-u", "NO_COLOR", "-u", "CHISTORE", *command,
                                    harness.program(), "-a", self.address, *args],
                                   stdout=slave, stdin=subprocess.DEVNULL)
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:  # how a terminal says that its other side is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(), 0)
        return text.decode().replace("\r\n", "\n")

    def test_terminal(self):
        self.assertTrue(self.on_terminal("explore").startswith("FEN "))
        self.assertTrue(self.on_terminal("explore", "--tsv").startswith("san\t"))
        self.assertTrue(self.on_terminal("get", START).startswith('{"fen"'))

    def test_colours(self):
        """On a terminal, unless NO_COLOR or the terminal says no; asked for, wherever it goes."""
        for expected, args, variables in (
                (True, [], {}), (False, [], {"NO_COLOR": "1"}), (False, [], {"TERM": "dumb"}),
                (False, ["--color", "never"], {}), (True, ["--color=always"], {"NO_COLOR": "1"})):
            text = self.on_terminal("explore", *args, **variables)
            self.assertEqual("\x1b[" in text, expected, (args, variables))
        plain = self.explore("--table", "--ascii").stdout
        self.assertNotIn("\x1b", plain)
        colours = self.explore("--table", "--ascii", "--color", "always").stdout
        # Without its colours it says the same, but for bars and empty squares.
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colours).split(),
                         re.sub(r"(?<= )[#=.]+(?=\s)", "", plain).split())

    def test_pager(self):
        """Only for what is longer than the terminal."""
        short, long = self.on_terminal("explore"), self.on_terminal("explore", lines=10)
        self.assertNotIn("paged:", short)
        self.assertEqual(long, "".join(f"paged:{line}\n" for line in short.splitlines()))
        for args, variables in ((["--no-pager"], {}), ([], {"PAGER": ""}), ([], {"PAGER": "cat"}),
                                ([], {"PAGER": "/nonexistent/pager 2>/dev/null"})):
            self.assertEqual(self.on_terminal("explore", *args, lines=10, **variables), short)
        # Left before its end, it ends nothing else.
        self.assertEqual(self.on_terminal("explore", lines=10, PAGER="true"), "")

    def test_narrow_terminal(self):
        """Shorter bars, then fewer columns; the numbers of the results stay."""
        for columns, gone in ((104, []), (96, []), (88, ["chi2"]), (80, ["chi2", "reached"])):
            text = self.on_terminal("explore", columns=columns, TERM="dumb")
            fen, head, table = text.split("\n\n")
            self.assertLessEqual(max(map(len, table.splitlines())), columns)
            self.assertLessEqual(max(map(len, head.splitlines())), columns)
            heading = table.splitlines()[0].split()
            self.assertEqual(heading, [name for name in ("san", "games", "white", "draws", "black",
                                                         "score", "eval", "reached", "chi2",
                                                         "eco", "opening") if name not in gone])
            self.assertRegex(table, "King's Pawn (Game|.*\u2026)\n")

    def test_board(self):
        self.cli("put", "e4", "c5", "--eval", "deep:30:-35", "--eval", "mates:9:mate3",
                 "--line", "Nf3 d6", "--note", "a\tnote", address=self.address)
        for command in ("explore", "get"):
            text = self.cli(command, "e4", "c5", "--table", "--ascii", address=self.address).stdout
            facts = [line[21:] for line in text.splitlines()]
            for fact in ("opening  B20 Sicilian Defense", "to move  White", "eval     -0.35  deep, "
                         "depth 30", "eval     #3  mates, depth 9", "line     Nf3 d6",
                         "note     a?note"):
                self.assertIn(fact, facts)
            self.assertLess(text.index("deep"), text.index("mates"))
        # Black to move: both are seen from White's side.
        self.cli("put", "e4", "--eval", "deep:30:-35", "--eval", "mates:9:mate3",
                 address=self.address)
        text = self.out("get", "e4", "--table", address=self.address)
        self.assertIn("  eval     +0.35  deep, depth 30\n", text)
        self.assertIn("  eval     #-3  mates, depth 9\n", text)
        # Behind the last position that has a name.
        self.cli("put", "e4", "c5", "a4", "h5", "h4", address=self.address)
        self.assertIn("  opening  B20 Sicilian Defense: Myers Attack, with a4 (2 plies before)\n",
                      self.out("get", "--table", "e4", "c5", "a4", "h5", "h4", address=self.address))
        answer = json.loads(self.explore("--json", "e4", "c5", "a4", "h5", "h4").stdout)
        self.assertEqual((answer["opening"], answer["last_opening"]), (
            None, {"eco": "B20", "opening": "Sicilian Defense: Myers Attack, with a4",
                   "plies": 2}))

    def test_endgames(self):
        for pieces, side, text in (
                ("8/8/4k3/8/8/4K3/4P3/8", "w", "KPvK, pawn endings: pawn against king"),
                ("8/8/4k3/8/8/4K3/8/8", "w", "KvK, bare kings: king against king"),
                ("8/8/8/2k5/8/1R6/2PK4/6r1", "w", "KRPvKR, rook endings: rook and pawn against rook"),
                ("8/8/8/2K5/8/1r6/2pk4/6R1", "w", "KRPvKR, rook endings: rook and pawn against rook"),
                ("8/2n5/4k3/8/8/2B1K3/4P3/8", "b",
                 "KBPvKN, minor piece endings: bishop and pawn against knight"),
                ("8/2q5/4k3/8/8/4K3/4P1Q1/8", "b",
                 "KQPvKQ, queen endings: queen and pawn against queen"),
                ("rr2k3/2q5/8/8/8/8/4P1Q1/R3K3", "b", None)):
            self.cli("put", f"{pieces} {side} - - 0 1", address=self.address)
            shown = self.out("get", "--table", f"{pieces} {side} - - 0 1", address=self.address)
            self.assertEqual(re.findall("endgame  (.*)", shown), [text] if text else [], pieces)
        fen = "8/8/8/2K5/8/1r6/2pk4/6R1 w - - 0 1"
        known = {
            "family": "rook endings", "signature": "KRPvKR", "name": "rook and pawn against rook",
            "first": "black", "result": None, "certain": False,
            "note": "Lucena's position wins, Philidor's third-rank defence draws",
            "figures": {"won": 66.6, "drawn": 33.0, "lost": 0.4, "longest": 74}}
        self.assertEqual(json.loads(self.out("get", fen, address=self.address))["endgame"], known)
        explored = json.loads(self.out("explore", fen, "--json", address=self.address))
        self.assertEqual(explored["endgame"], known)
        self.assertIn("wins 66.6 %, draws 33.0 %, loses 0.4 % of all positions",
                      self.out("get", "--table", fen, address=self.address))
        fen = "1k6/8/8/8/P7/K7/8/2B5 b - - 0 1"
        self.cli("put", fen, address=self.address)
        endgame = json.loads(self.out("get", fen, address=self.address))["endgame"]
        self.assertEqual((endgame["result"], endgame["certain"]), ("draw", True))
        mate, stale = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
        for fen, text in ((mate, "Black, checkmate"), (stale, "Black, stalemate"),
                          ("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1", "Black, in check")):
            self.cli("put", fen, address=self.address)
            self.assertIn(f"to move  {text}\n", self.out("get", "--table", fen,
                                                        address=self.address))

    def test_openings_by_name(self):
        wanted = self.explore("e4", "c5", "--json").stdout
        for name in (["Sicilian"], ["B20"], ["sicilian", "defense"], ["Sicilian Defense"]):
            self.assertEqual(self.explore(*name, "--json").stdout, wanted, name)
        (row,) = rows(self.explore("King's", "Pawn", "Game").stdout)
        self.assertEqual(row["san"], "c5")
        done = self.explore("King's Indian", code=2)
        self.assertEqual(done.stderr, "chistore: 'King's Indian' may be one of 2 openings:\n"
                         "  A07  King's Indian Attack\n  E61  King's Indian Defense\n")
        self.assertIn("... and", self.explore("Variation", code=2).stderr)
        self.assertIn("no opening is called", self.explore("Nonesuch", code=2).stderr)
        # Moves go on from it.
        self.assertIn("position not found: rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/",
                      self.explore("Sicilian", "Nf3", code=1).stderr)
        # In one text too, as a line of a file has them.
        for text in ("Sicilian Nf3", "B20 Nf3", "Sicilian Defense  2. Nf3"):
            for args, more in (([text], {}), ([], {"input": text + "\n"})):
                self.assertIn("not found: rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/",
                              self.cli("get", *args, address=self.address, code=1, **more).stderr)

    def test_an_empty_argument_was_the_initial_position(self):
        """Of a script whose variable is not set: it deleted that."""
        for command in ("get", "explore", "put", "delete"):
            self.assertIn("an empty text is no position",
                          self.cli(command, "", address=self.address, code=2).stderr)
        self.out("get", START, address=self.address)

    def test_not_found(self):
        done = self.explore(ABSENT, code=1)
        self.assertEqual((done.stdout, done.stderr),
                         ("", f"chistore: position not found: {ABSENT}\n"))
        self.assertEqual(self.explore(ABSENT, "--json", code=1).stdout, "")
        # By other ways games got to positions after one that is not stored.
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
                (START.split(), f"put it in quotes, '{START}'"), (["e4", START], "one position"),
                (["e5"], "e5"), (["e4", "e4"], "e4"),
                (["e4 e5 Qh9"], "Qh9"), (["--limit", "0"], "--limit"),
                (["--limit", "x"], "--limit"), (["--table", "--tsv"], "--tsv"),
                (["--table", "--json"], "--json"), (["--tsv", "--json"], "--json"),
                (["--nonesuch"], "nonesuch"), ([PAWN, "a3"], "")):
            done = self.explore(*args, code=2)
            self.assertEqual(done.stdout, "", args)
            self.assertIn(says, done.stderr, args)
        for args in (["--ascii"], ["--color=always"], ["--no-pager"], ["--table", "--json"]):
            done = self.cli("get", START, *args, code=2, address=self.address)
            self.assertIn(args[0].split("=")[0], done.stderr)

    def test_full_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for form in ("--tsv", "--table", "--json"):
                process = spawn("explore", form, address=self.address, stdout=full,
                                stderr=subprocess.PIPE, text=True)
                self.assertIn("cannot write", process.communicate()[1])
                self.assertEqual(process.returncode, 3)
