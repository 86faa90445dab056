# SPDX-License-Identifier: MIT
"""Scores backed up through stored moves, in a directory and through a daemon, and the variation that
they give."""

import json
import os
import random
import shutil
import subprocess

import harness
from cli_base import START, Base, rank, summary

E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
E4C5 = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"
D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
NF3 = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 0 1"
NF3NF6 = "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 1"
NG1 = "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
# 1 Ra8 is mate; the king may also go into the corner, or away from it.
MATE = ["7k/8/6K1/8/8/8/8/R7 w - - 0 1", "R6k/8/6K1/8/8/8/8/8 b - - 0 1",
        "6k1/8/6K1/8/8/8/8/R7 b - - 0 1"]
# It has to come out of the corner, and then 2 Ra8 is mate.
FORCED = ["7k/8/6K1/8/8/8/8/R7 b - - 0 1", "6k1/8/6K1/8/8/8/8/R7 w - - 0 1",
          "R5k1/8/6K1/8/8/8/8/8 b - - 0 1"]


# All ways to place two kings behind blocked pawns: they can only walk, and never get out of cycles.
KINGS = [f"{rank(black)}/8/8/4p3/4P3/8/8/{rank(white)} {side} - - 0 1"
         for white in ("K.......", ".K......", "..K.....", "...K....", "....K...", ".....K..")
         for black in ("k.......", ".k......", "..k.....", "...k....", "....k...", ".....k..")
         for side in "wb"]


def corner(size):
    """King and rook against a king, all in a corner of the board: moves out of it are not stored."""
    def adjacent(a, b):
        return max(abs(a % size - b % size), abs(a // size - b // size)) == 1

    def attacked(rook, king, between):
        for axis, step in ((lambda s: s // size, 1), (lambda s: s % size, size)):
            if axis(rook) == axis(king):
                return between not in range(min(rook, king), max(rook, king), step)
        return False

    def fen(white, rook, black, side):
        board = [["."] * 8 for _ in range(8)]
        for piece, square in (("K", white), ("R", rook), ("k", black)):
            board[square // size][square % size] = piece
        return f"{'/'.join(rank(''.join(row)) for row in board)} {side} - - 0 1"
    squares = range(size * size)
    return [fen(white, rook, black, side) for white in squares for rook in squares for black in squares
            if len({white, rook, black}) == 3 and not adjacent(white, black)
            for side in "wb" if side == "b" or not attacked(rook, black, white)]


def line(fen, *evals):
    return json.dumps({"fen": fen, "evals": [
        {"engine": engine, "depth": depth, kind: score, "pv": pv}
        for engine, depth, kind, score, pv in evals]}) + "\n"


class Propagate(Base):
    def stores(self, text):
        """The same store twice, the second behind a daemon."""
        made = []
        for name in ("here", "there"):
            made.append(harness.make_store(self.path(name), "external"))
            self.cli("import", "--format", "jsonl", "-", address=made[-1], input=text)
        daemon = self.enterContext(harness.start_daemon({"default": made[1]}))
        return made[0], daemon.addresses[0]

    def backed(self, fen, address, engine="backed-up"):
        for e in json.loads(self.out("get", fen, address=address))["evals"]:
            if e["engine"] == engine:
                return e.get("cp", e.get("mate")), "mate" in e, e["depth"], e["pv"]
        return None

    def test_scores_come_back(self):
        text = (line(START, ("sf", 20, "cp", 30, "e4 e5"), ("old", 9, "cp", 500, "a4")) +
                line(E4, ("sf", 20, "cp", -40, "c5")) +
                line(E4C5, ("sf", 21, "cp", 25, "Nf3 d6")) + line(D4, ("sf", 5, "cp", 10, "")))
        for address in self.stores(text):
            done = self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(summary(done.stdout), {
                "positions": "4", "direct": "4", "moves": "3", "backed_up": "2", "changed": "2"})
            self.assertEqual(self.backed(START, address), (25, False, 0, ["e2e4"]))
            self.assertEqual(self.backed(E4, address), (-25, False, 0, ["c7c5"]))
            self.assertIsNone(self.backed(E4C5, address))
            self.assertEqual(self.out("pv", START, address=address),
                             "cp 25\te4 c5 Nf3 d6\tevaluation\n")
            self.assertEqual(json.loads(self.out("pv", "e4", "--json", address=address)), {
                "fen": E4, "cp": -25, "pv": ["c7c5", "g1f3", "d7d6"], "san": ["c5", "Nf3", "d6"],
                "end": "evaluation"})
            # Again: nothing to do. A new evaluation changes what is before it, and no more.
            done = self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(summary(done.stdout)["changed"], "0")
            self.cli("put", E4C5, "--eval", "sf:30:-60", address=address)
            done = self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(summary(done.stdout)["changed"], "2")
            self.assertEqual(self.backed(E4, address), (60, False, 0, ["c7c5"]))
            # -60 by e4, which the evaluation was for, -10 by d4.
            self.assertEqual(self.backed(START, address), (-10, False, 0, ["d2d4"]))
            self.assertEqual(self.out("pv", START, address=address), "cp -10\td4\tleaf\n")
            self.cli("propagate", "--engine", "backed-up 2", "--decay", "1000", address=address)
            self.assertEqual(self.backed(START, address, "backed-up 2")[0], 0)

    def explored(self, address, *args):
        """By move: evaluation, depth and the score backed up, as printed, and the latter as JSON."""
        _, *lines = self.out("explore", "--tsv", *args, address=address).splitlines()
        printed = {cells[0]: cells[8:11] for cells in (line.split("\t") for line in lines)}
        moves = json.loads(self.out("explore", "--json", *args, address=address))["moves"]
        return {move["san"]: [*printed[move["san"]], move["child"]["backed"]] for move in moves}

    def test_both_scores_are_explored(self):
        text = (line(START) + line(E4, ("sf", 20, "cp", -40, "c5")) + line(E4C5, ("sf", 21, "cp", 25, "")) +
                line(D4, ("sf", 5, "cp", 10, "")) + line(NF3) + line(NF3NF6, ("sf", 9, "cp", 10, "")))
        for address in self.stores(text):
            before = self.explored(address, START, "--all")
            self.assertEqual(before["e4"], ["+0.40", "20", "-", None])
            self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(self.explored(address, START, "--all"), {
                "e4": ["+0.40", "20", "+0.25", {"cp": -25}],
                "d4": ["-0.10", "5", "-", None],
                "Nf3": ["-", "-", "-", None]})
            table = self.out("explore", START, "--all", "--table", address=address).splitlines()
            (head,) = [row.split() for row in table if row.startswith("san ")]
            (e4,) = [row.split() for row in table if row.startswith("e4 ")]
            self.assertEqual(head[head.index("eval") + 1], "backed")
            self.assertIn("+0.40 +0.25", " ".join(e4))

    def test_a_mate_is_explored(self):
        for address in self.stores("".join(line(fen) for fen in MATE)):
            self.cli("propagate", address=address)
            self.assertEqual(self.explored(address, MATE[2], "--all")["Kh8"],
                             ["#1", "0", "#1", {"mate": 1}])

    def test_mates_are_counted(self):
        text = "".join(line(fen) for fen in MATE + FORCED)
        for address in self.stores(text):
            self.cli("propagate", address=address)
            self.assertEqual(self.backed(MATE[0], address), (1, True, 0, ["a1a8"]))
            self.assertEqual(self.backed(FORCED[0], address), (-1, True, 0, ["h8g8"]))
            self.assertEqual(self.out("pv", FORCED[0], address=address), "mate -1\tKg8 Ra8#\tcheckmate\n")

    def test_a_lone_reply_proves_no_mate(self):
        """Black may go to f8 as well: it was said to be mated in one."""
        for address in self.stores("".join(line(fen) for fen in MATE + FORCED)):
            self.cli("propagate", address=address)
            self.assertIsNone(self.backed(MATE[2], address))
            self.assertEqual(self.backed(FORCED[0], address), (-1, True, 0, ["h8g8"]))
            self.cli("delete", FORCED[2], address=address)
            self.cli("propagate", address=address)
            self.assertIsNone(self.backed(FORCED[0], address))
            self.assertEqual(self.out("pv", FORCED[0], address=address), "-\t\tleaf\n")

    def test_an_engines_mate_is_its_own(self):
        """And what it is backed up to is a score: another engine, or a reply, may know better."""
        text = line(START, ("sf", 9, "cp", 5, "e2e4")) + line(E4, ("sf", 9, "mate", -3, ""))
        for address in self.stores(text):
            self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(self.backed(START, address), (20000 - 6, False, 0, ["e2e4"]))
            self.assertEqual(self.out("pv", "e4", address=address), "mate -3\t\tleaf\n")

    def told_mates(self, address):
        """How many of its backed-up mates are searched; they are what they are said to be."""
        mates = [(mate, fen) for fen, (_, mate) in self.scores(address).items() if mate is not None]
        searched = "".join(f"{mate} {fen}\n" for mate, fen in mates if abs(mate) <= 4)
        done = subprocess.run([os.environ["CHISTORE_MATE_SEARCH"]], input=searched, text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return searched.count("\n")

    def test_mates_of_games_are_searched(self):
        """Without one evaluation the initial position was said to be won."""
        address = harness.make_store(self.path("games"))
        for name in ("games_300", "romero", "hayes"):
            self.cli("import", os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", name + ".pgn"), address=address)
        self.cli("propagate", address=address)
        self.assertGreater(self.told_mates(address), 5)
        self.assertEqual(self.out("pv", START, address=address), "-\t\tleaf\n")

    def test_mates_with_moves_left_out(self):
        """Also where positions come and go between runs: what is worked on then gives the same."""
        rng, address = random.Random(2), harness.make_store(self.path("corner"), "external")
        since, fens, told = self.path("since"), corner(4), []
        self.cli("import", "--format", "jsonl", "-", address=address, input="".join(map(line, fens)))
        for number in range(3):
            self.cli("propagate", "--since", since, address=address)
            told.append(self.told_mates(address))
            copy = self.path(f"copy{number}")
            shutil.copytree(address, copy)
            self.cli("propagate", address=copy)
            self.assertEqual(self.scores(address), self.scores(copy))
            for fen in rng.sample(fens, 3):
                harness.run_cli("delete", fen, address=address)
        self.assertGreater(told[0], 400)
        self.assertLess(told[2], told[0])

    def test_a_cycle_is_a_draw(self):
        """Rounds of negamax never came to an end here."""
        text = (line(START, ("sf", 8, "cp", 7, "g1f3")) + line(NF3, ("sf", 8, "cp", 7, "g8f6")) +
                line(NF3NF6, ("sf", 9, "cp", 10, "f3g1")) + line(NG1, ("sf", 9, "cp", 50, "f6g8")))
        for address in self.stores(text):
            done = self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(summary(done.stdout)["moves"], "4")
            self.assertEqual(self.backed(START, address), (0, False, 0, ["g1f3"]))
            self.assertEqual(self.out("pv", START, address=address),
                             "cp 0\tNf3 Nf6 Ng1 Ng8\tcycle\n")
            # Black does better by another move: White then prefers another first move.
            text = line(NF3, ("sf", 9, "cp", 20, "d7d5")) + line(START, ("sf", 9, "cp", -5, "e2e3"))
            self.cli("import", "--format", "jsonl", "-", address=address, input=text)
            self.cli("propagate", "--decay", "0", address=address)
            self.assertEqual(self.backed(NF3, address), (20, False, 0, ["d7d5"]))
            self.assertEqual(self.backed(START, address), (-5, False, 0, ["e2e3"]))

    def test_nothing_is_known_any_more(self):
        """A score stayed after the position that it came from was deleted, or was said to be 0."""
        for address in self.stores(line(MATE[0]) + line(MATE[1])):
            self.cli("propagate", address=address)
            self.assertEqual(self.backed(MATE[0], address), (1, True, 0, ["a1a8"]))
            self.cli("delete", MATE[1], address=address)
            self.cli("propagate", address=address)
            self.assertIsNone(self.backed(MATE[0], address))
            self.assertEqual(json.loads(self.out("get", MATE[0], address=address))["evals"], [])
            self.assertEqual(self.out("pv", MATE[0], address=address), "-\t\tleaf\n")

    def scores(self, address):
        found = {}
        for row in self.out("export", "--format", "jsonl", address=address).splitlines():
            row = json.loads(row)
            for e in row["evals"]:
                if e["engine"] == "backed-up":
                    found[row["fen"]] = e.get("cp"), e.get("mate")
        return found

    def change(self, rng, address):
        """Some positions come, with or without an evaluation, some go, some get a deeper one."""
        chosen = rng.sample(KINGS, 9)
        self.depth += 1
        text = "".join(line(fen, *([("sf", self.depth, "cp", rng.randrange(-90, 91), "")]
                                   if rng.random() < 0.7 else [])) for fen in chosen[3:])
        for fen in chosen[:3]:
            harness.run_cli("delete", fen, address=address)
        self.cli("import", "--format", "jsonl", "-", address=address, input=text)

    def test_only_what_has_changed(self):
        """The scores after many changes are those of a run over the whole store, cycles included."""
        rng, self.depth = random.Random(1), 1
        address = harness.make_store(self.path("changes"), "external")
        since = self.path("since")
        self.cli("import", "--format", "jsonl", "-", address=address, input="".join(
            line(fen, *([("sf", 1, "cp", rng.randrange(-90, 91), "")] if rng.random() < 0.7 else []))
            for fen in rng.sample(KINGS, 60)))
        for number in range(4):
            self.cli("propagate", "--since", since, address=address)
            copy = self.path(f"copy{number}")
            shutil.copytree(address, copy)
            whole = summary(self.out("propagate", address=copy))
            self.assertGreater(int(whole["backed_up"]), 10)
            mine, theirs = self.scores(address), self.scores(copy)
            self.assertEqual(mine, theirs)
            again = summary(self.out("propagate", "--since", since, address=address))
            self.assertEqual((again["positions"], again["changed"]), ("0", "0"))
            self.change(rng, address)

    def test_a_change_is_local(self):
        """A new evaluation matters to what leads to it; too many of them to the whole store."""
        text = (line(START, ("sf", 1, "cp", 0, "e2e4")) + line(E4, ("sf", 1, "cp", 0, "c7c5")) +
                line(E4C5) + line(D4, ("sf", 5, "cp", 10, "")) +
                "".join(line(fen) for fen in KINGS))
        for address in self.stores(text):
            since = self.path("since" + address[-1])
            done = summary(self.out("propagate", "--since", since, address=address))
            self.assertEqual((done["positions"], done["changed"]), (str(4 + len(KINGS)), "1"))
            self.cli("put", E4C5, "--eval", "sf:9:70", address=address)
            done = json.loads(self.out("propagate", "--since", since, "--json", address=address))
            self.assertEqual((done["positions"], done["direct"], done["changed"]), (3, 4, 2))
            self.assertEqual(self.backed(START, address)[:2], (70, False))
            self.cli("delete", E4C5, address=address)
            self.cli("propagate", "--since", since, address=address)
            self.assertEqual(self.backed(START, address)[:2], (0, False))

    def test_a_file_that_does_not_fit(self):
        address = harness.make_store(self.path("store"), "external")
        other = harness.make_store(self.path("other"), "external")
        self.cli("put", START, "--eval", "sf:9:70", address=address)
        since = self.path("since")
        self.cli("propagate", "--since", since, address=address)
        with open(since, "rb") as file:
            sound = file.read()
        for args, at in ((["--decay", "6"], address), (["--engine", "backed-up 2"], address),
                         ([], other)):
            done = self.cli("propagate", "--since", since, *args, address=at, code=2)
            self.assertIn(f"--since: {since}: it is of ", done.stderr)
        for bad in (b"", b"text", sound[:-1], sound[:60] + b"!" + sound[61:], sound + b"!"):
            self.write("since", bad)
            done = self.cli("propagate", "--since", since, address=address, code=3)
            self.assertIn(f"--since: {since}: ", done.stderr)
        self.cli("propagate", "--since", "/dev/full", address=address, code=3)
        self.cli("propagate", "--since", self.dir, address=address, code=3)
        self.assertEqual(sorted(os.listdir(self.dir)), ["other", "since", "store"])

    def test_a_run_that_ended_while_it_stored(self):
        """A score stayed whose position had come and gone since the file was written."""
        _, address = self.stores(line(START, ("sf", 1, "cp", 5, "e2e4")) +
                                 line(E4, ("sf", 1, "cp", -5, "c7c5")))
        since = self.path("since")
        self.cli("propagate", "--since", since, address=address)
        self.cli("put", E4C5, "--eval", "sf:9:70", address=address)
        # No file can be written: what is stored by then stays.
        ended = subprocess.run(["sh", "-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "sh", harness.program(), "-a",
                                address, "propagate", "--since", since], capture_output=True, check=False)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertEqual(self.backed(START, address)[:2], (70, False))
        self.cli("delete", E4C5, address=address)
        self.cli("propagate", "--since", since, address=address)
        self.assertEqual(self.backed(START, address), (5, False, 0, ["e2e4"]))

    def test_names(self):
        """Scores under other names are shown where they are asked for, and backed up by no one."""
        text = line(START, ("sf", 1, "cp", 0, "e2e4")) + line(E4, ("sf", 20, "cp", -40, ""))
        for address in self.stores(text):
            other = ["--engine", "backed-up, no decay"]
            self.cli("propagate", "--decay", "1000", address=address)
            self.cli("propagate", "--decay", "0", *other, address=address)
            done = self.cli("propagate", "--decay", "1000", address=address)
            self.assertEqual((summary(done.stdout)["direct"], summary(done.stdout)["changed"]),
                             ("2", "0"))
            self.assertEqual(self.out("pv", START, address=address), "cp 0\te4\tleaf\n")
            self.assertEqual(self.out("pv", START, *other, address=address), "cp 40\te4\tleaf\n")
            self.cli("put", D4, "--eval", "sf:9:-30", address=address)
            self.cli("put", E4C5, "--eval", "sf:9:-60", address=address)
            self.cli("propagate", "--decay", "0", *other, address=address)
            shown = self.explored(address, START, "--all", "--backed", other[1])
            self.assertEqual(shown["e4"][2:], ["-0.60", {"cp": 60}])
            self.assertEqual(self.explored(address, START, "--all")["e4"][2:], ["-", None])
            for command, name in (("propagate", "engine"), ("pv", "engine"), ("explore", "backed")):
                self.cli(command, f"--{name}", "sf", address=address, code=2)

    def test_what_cannot_be(self):
        store = harness.make_store(self.path("empty"), "external")
        self.assertEqual(summary(self.out("propagate", address=store))["positions"], "0")
        self.cli("pv", START, address=store, code=1)
        self.cli("put", START, address=store)
        self.assertEqual(self.out("pv", START, address=store), "-\t\tleaf\n")
        self.cli("propagate", "--memory", "16M", address=store)
        for wrong in (["--plies", "5"], ["--decay", "1001"], ["--engine", ""], ["--memory", "1K"]):
            self.cli("propagate", *wrong, address=store, code=2)
        self.cli("pv", "not a fen", address=store, code=2)
