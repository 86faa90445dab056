# SPDX-License-Identifier: MIT
"""Scores backed up through stored moves, in a directory and through a daemon, and the variation that
they give."""

import json
import unittest

import harness
from cli_base import START, Base, summary

E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
E4C5 = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"
D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
NF3 = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 0 1"
NF3NF6 = "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 1"
NG1 = "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
# 1 Ra8 is mate; the king may also be driven to the corner by another way.
MATE = ["7k/8/6K1/8/8/8/8/R7 w - - 0 1", "R6k/8/6K1/8/8/8/8/8 b - - 0 1",
        "6k1/8/6K1/8/8/8/8/R7 b - - 0 1"]


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
            self.cli("propagate", "--engine", "mine", "--decay", "1000", address=address)
            self.assertEqual(self.backed(START, address, "mine")[0], 0)

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
                "Nf3": ["+0.10", "0", "+0.10", {"cp": -10}]})
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
        text = "".join(line(fen) for fen in MATE)
        for address in self.stores(text):
            self.cli("propagate", address=address)
            self.assertEqual(self.backed(MATE[0], address), (1, True, 0, ["a1a8"]))
            self.assertEqual(self.backed(MATE[2], address), (-1, True, 0, ["g8h8"]))
            self.assertEqual(self.out("pv", MATE[2], address=address), "mate -1\tKh8 Ra8#\tcheckmate\n")

    def test_a_cycle_is_a_draw(self):
        """Rounds of negamax never came to an end here."""
        text = (line(START) + line(NF3) + line(NF3NF6, ("sf", 9, "cp", 10, "f3g1")) +
                line(NG1, ("sf", 9, "cp", 50, "f6g8")))
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
        """A score stayed after the position that it came from was deleted."""
        for address in self.stores(line(START) + line(E4, ("sf", 9, "cp", -40, ""))):
            self.cli("propagate", address=address)
            self.assertEqual(self.backed(START, address), (40, False, 0, ["e2e4"]))
            self.cli("delete", E4, address=address)
            self.cli("propagate", address=address)
            self.assertEqual(self.backed(START, address), (0, False, 0, []))
            self.assertEqual(self.out("pv", START, address=address), "-\t\tleaf\n")

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


if __name__ == "__main__":
    unittest.main()
