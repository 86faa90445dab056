#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts of imported games against those that other programs made or published."""

import json
import os
import zlib

from cli_base import Base

DATA = os.environ["CHISTORE_TEST_DATA"]
GAMES = os.path.join(DATA, "pgn", "games_300.pgn")
ORACLE = os.path.join(DATA, "pgn", "games_300.positions.tsv")


def read_dump(text):
    """{position without counters: (counts, plies, moves)}, as the oracle writes them."""
    lines = text.splitlines()
    columns = next(line for line in lines if line.startswith("fen\t")).split("\t")
    positions = {}
    for line in lines[lines.index("\t".join(columns)) + 1:]:
        fields = line.split("\t")
        if fields[0] == "sum":
            continue
        if len(fields) != len(columns):
            break  # the lines of games, and the end
        row = dict(zip(columns, fields))
        counts = "/".join(row[name] for name in ("white", "draws", "black", "other"))
        # In UCI a castling move of standard chess is the king's step, here and there.
        positions[row["fen"].rsplit(" ", 2)[0]] = (counts, row["plies"],
                                                   " ".join(sorted(row["moves"].split())))
    return positions


class Counts(Base):
    def imported(self, statistic):
        store = self.path("store-" + statistic)
        done = json.loads(self.out("import", "--json", "--statistic", statistic, GAMES,
                                   address=store))
        return done, read_dump(self.out("dump", address=store))

    def check(self, statistic):
        done, positions = self.imported(statistic)
        with open(ORACLE, encoding="utf-8") as file:
            head, *lines = file.read().splitlines()
        told = dict(zip(head.split()[1::2], head.split()[2::2]))
        self.assertEqual((str(done["games"]), str(done["plies"])), (told["games"], told["plies"]))
        self.assertEqual(str(len(positions)), told["positions"])
        for line in lines:
            fen, *expected = line.split("\t")
            self.assertEqual(positions.get(fen), tuple(expected), fen)
        # The file lists those with several games; the sum is over all of them.
        everything = "".join("\t".join((fen, *positions[fen])) + "\n" for fen in sorted(positions))
        self.assertEqual(str(zlib.crc32(everything.encode())), told["crc32"])

    def test_every_position_control(self):
        self.check("control")

    def test_every_position_outcome(self):
        self.check("outcome")

    def test_published_numbers_of_games_and_plies(self):
        for name, games, plies in (("romero", 4, 363), ("hayes", 9, 637), ("ambiguous", 4, 194)):
            store = self.path("store-" + name)
            done = json.loads(self.out("import", "--json", os.path.join(DATA, "pgn", name + ".pgn"),
                                       address=store))
            self.assertEqual((done["games"], done["plies"]), (games, plies), name)
