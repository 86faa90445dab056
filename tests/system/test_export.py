# SPDX-License-Identifier: MIT
"""Export in every format and back again, and Polyglot books both ways. The books are read here by a
reader of this file's own, from the description of the format alone."""

import json
import os
import re
import struct
import subprocess

import harness
from cli_base import AFTER_E4, ENDING, ROOKS, START, Base, program, spawn, summary

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
BOOK = os.path.join(DATA, "polyglot", "openings.bin")
TRAP = os.path.join(DATA, "polyglot", "lasker-trap.bin")

DUMP_HEAD = ("chistore-dump\t1\nstatistic\texternal\nbase\t0\t0\t0\t0\n"
             "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n")

# The published keys of the initial position and of that after 1. e4.
START_HASH = 0x463B96181691FC9C
E4_HASH = 0x823C9B50FD114196

# A line after whose last move White's pawn may not take en passant, as it is pinned: Polyglot's key
# of that position counts the square, and that of the position as it is stored does not.
PINNED_LINE = [
    (0x463B96181691FC9C, "e2e4"), (0x823C9B50FD114196, "e7e5"), (0x0844931A6EF4B9A0, "f2f4"),
    (0xF552EE1777658429, "e5f4"), (0x1CD8D48946AA83FD, "e4e5"), (0x7DA1C27442B4A599, "d8e7"),
    (0xE65E1D0483880BF3, "a2a3"), (0x2DC22C22CAC485B3, "d7d5")]
PINNED = "rnb1kbnr/ppp1qppp/8/3pP3/5p2/P7/1PPP2PP/RNBQKBNR w KQkq - 0 1"
PINNED_HASH = 0xB431D0E56AA85B34
PINNED_HASH_STORED = 0xA8A80E365610CB95

NOTES = ["plain", 'with "quotes", commas', "two\nlines", "tab\there", " kept blanks ", "\u00fc\u265e",
         'am Kb8; id "WAC.001";']


def content(path):
    with open(path, "rb") as file:
        return file.read()


def entries(path):
    data = content(path)
    assert len(data) % 16 == 0
    return [struct.unpack(">QHHI", data[i:i + 16]) for i in range(0, len(data), 16)]


def move(text):
    """UCI to the format's bits; castling as it is stored, king takes rook."""
    promotion = " nbrq".index(text[4]) if len(text) > 4 else 0
    files = [ord(text[i]) - ord("a") for i in (0, 2)]
    ranks = [int(text[i]) - 1 for i in (1, 3)]
    return promotion << 12 | ranks[0] << 9 | files[0] << 6 | ranks[1] << 3 | files[1]


def dump(*positions):
    """A dump of (FEN, counts, moves, evals, line, note)."""
    lines = []
    for fen, counts, moves, evals, line, note in positions:
        fields = [fen, "-", *map(str, counts), moves, "", evals, line, note]
        lines.append("\t".join(fields) + "\n")
    return DUMP_HEAD + "".join(lines) + f"end\t{len(positions)}\t0\n"


class Stores(Base):
    def loaded(self, name, *positions):
        store = self.path(name)
        self.cli("load", address=store, input=self.sealed(dump(*positions)))
        return store

    def filled(self):
        """An external store with some of everything."""
        store = self.new_store("external")
        for i, (fen, note) in enumerate(zip(self.fens(len(NOTES)), NOTES)):
            self.cli("put", fen, "--chi2", f"{i}.5", "--counts", f"{i},2,1", "--note", note,
                     address=store)
        self.cli("put", START, "--eval", "deep:30:25", "--eval", "flat:9:99", "--line", "e4 e5",
                 address=store)
        self.cli("put", ENDING, "--line", "e3d4 e6d6", address=store)
        self.cli("put", ROOKS, "--eval", "deep:12:mate5", "--note", "won", address=store)
        return store


class Export(Stores):
    def test_csv_and_tsv_come_back(self):
        store = self.filled()
        for name in ("csv", "tsv"):
            file = self.path("first." + name)
            self.assertEqual(self.out("export", "-o", file, address=store), "")
            back = harness.make_store(self.path("back-" + name), "external")
            done = self.cli("import", file, address=back)
            self.assertEqual(summary(done.stdout)["rejected"], "0")
            self.assertNotIn("ignored", done.stderr)
            again = self.path("again." + name)
            self.cli("export", "--output", again, address=back)
            self.assertEqual(content(file), content(again))
            self.assertEqual(self.out("export", "--format", name, address=store, input=b""),
                             content(file))
            for fen, note in zip(self.fens(len(NOTES)), NOTES):
                self.assertEqual(json.loads(self.out("get", fen, address=back))["note"], note)

    def test_a_row_without_games_leaves_counts_alone(self):
        store = self.new_store("external")
        self.cli("put", START, "--note", "text", address=store)
        file = self.path("x.csv")
        self.cli("export", "-o", file, address=store)
        self.cli("put", START, "--counts", "3,2,1", "--note", "", address=store)
        self.cli("import", file, address=store)
        record = json.loads(self.out("get", START, address=store))
        self.assertEqual((record["games"], record["note"]), (6, "text"))

    def test_games_without_result_come_back(self):
        store = self.loaded("loaded", (START, (1, 2, 3, 4), "", "", "", ""))
        file = self.path("x.csv")
        self.cli("export", "-o", file, address=store)
        back = harness.make_store(self.path("back"), "external")
        self.cli("import", file, address=back)
        self.assertEqual(json.loads(self.out("get", START, address=back))["other"], 4)

    def test_jsonl_is_what_get_prints(self):
        """But for what follows from the position alone."""
        store = self.filled()
        lines = self.out("export", "--json", address=store).splitlines()
        self.assertEqual(len(lines), len(NOTES) + 3)
        for line in lines:
            fen = json.loads(line)["fen"]
            shown = re.sub(r',"endgame":(null|{.*})}\n$', "}\n", self.out("get", fen, address=store))
            self.assertEqual(shown, line + "\n")

    def test_epd_has_one_comment_of_counts(self):
        """And the note as it is if it is operations, else in a comment."""
        store = self.filled()
        text = self.out("export", "--format", "epd", address=store)
        line = next(l for l in text.splitlines() if l.startswith(START[:-4]))
        self.assertEqual(line, START[:-4] + ' ce 25; engine "deep"; acd 30;')
        self.assertIn(' dm 5; engine "deep"; acd 12; c9 "won";\n', text)
        self.assertIn(ENDING[:-4] + " pv Kd4 Kd6;\n", text)
        self.assertIn(' am Kb8; id "WAC.001"; c0 "white 6 draws 2 black 1";\n', text)
        self.assertIn(" c9 \"two\\0alines\"; c0 ", text)
        self.assertIn(" c9 \"with \\22quotes\\22, commas\"; ", text)
        self.assertIn(' c9 "plain"; c0 ', text)

    def test_filters_are_those_of_scan(self):
        store = self.filled()
        for options in (["--min-games", "5"], ["--side", "b"], ["--min", "1", "--max", "3.5"],
                        ["--material", "KRPvKR", "--either-colour"], ["--pieces", "3..4"]):
            rows = self.out("scan", "--order", "position", *options, address=store).splitlines()
            lines = self.out("export", "--json", *options, address=store).splitlines()
            self.assertEqual([json.loads(line)["fen"] for line in lines],
                             [row.split("\t")[1] for row in rows[1:]])
        whole = self.out("export", "--json", address=store).splitlines()
        self.assertEqual(self.out("export", "--json", "--limit", "2", address=store).splitlines(), whole[:2])
        self.cli("export", "--min", "5", "--max", "4", address=store, code=2)
        self.cli("export", "--format", "xml", address=store, code=2)

    def test_a_file_is_whole_or_as_it_was(self):
        store = self.filled()
        file = self.write("x.csv", "old")
        self.cli("export", "-o", file, address=self.path("none"), code=3)
        self.assertEqual(content(file), b"old")
        self.cli("export", "-o", self.path("no/such/x.csv"), address=store, code=3)
        self.cli("export", "-o", file, address=store)
        self.assertTrue(content(file).startswith(b"fen,chi2,"))
        self.assertEqual([n for n in os.listdir(self.dir) if n.endswith(".tmp")], [])

    def test_no_link_of_someone_else_is_followed(self):
        """The name of the unfinished file can be guessed."""
        store, file = self.filled(), self.path("x.csv")
        theirs = self.write("theirs", "old")
        script = 'ln -s "$1" "$2.$$.tmp" && exec "$3" -a "$4" export -o "$2"'
        done = subprocess.run(["sh", "-c", script, "sh", theirs, file, program(), store],
                              capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(content(theirs), b"old")
        self.assertFalse(os.path.exists(file))
        self.assertEqual(len([n for n in os.listdir(self.dir) if n.endswith(".tmp")]), 1)

    def test_full_output_fails(self):
        store = self.filled()
        for form in ("csv", "jsonl", "epd", "polyglot"):
            with open("/dev/full", "w") as full:
                process = spawn("export", "--format", form, address=store, stdout=full,
                                stderr=subprocess.PIPE)
                _, error = process.communicate(timeout=60)
            # Nothing was played here: the book is empty.
            self.assertEqual(process.returncode, 0 if form == "polyglot" else 3, error)

    def test_a_daemon_gives_the_same(self):
        store = self.filled()
        self.cli("import", TRAP, BOOK, address=store)
        forms = ("csv", "tsv", "jsonl", "epd", "polyglot")
        expected = [self.out("export", "--format", form, address=store, input=b"")
                    for form in forms]
        with harness.start_daemon({"default": store}) as daemon:
            for form, text in zip(forms, expected):
                for address in daemon.addresses:
                    self.assertEqual(
                        self.out("export", "--format", form, address=address, input=b""), text)


class Book(Stores):
    def book(self, store, *options):
        file = self.path("out.bin")
        self.cli("export", "-o", file, *options, address=store)
        return entries(file)

    def test_weights_are_points_of_the_mover(self):
        store = self.loaded(
            "games",
            (START, (5, 3, 4, 1), "d2d4:1/0/0/0 e2e4:4/3/2/1 f2f3:0/0/2/0", "", "", ""),
            (AFTER_E4, (4, 3, 2, 1), "c7c5:4/1/0/0 e7e5:0/2/2/1", "", "", ""))
        self.assertEqual(self.book(store), [
            (START_HASH, move("e2e4"), 11, 0), (START_HASH, move("d2d4"), 2, 0),
            (E4_HASH, move("e7e5"), 6, 0), (E4_HASH, move("c7c5"), 1, 0)])
        self.assertEqual(len(self.book(store, "--side", "w")), 2)
        self.assertEqual(self.book(store, "--min-games", "100"), [])

    def test_large_weights_are_scaled_down_together(self):
        store = self.loaded("games", (START, (700001, 3, 0, 0),
                                      "g1f3:100000/3/0/0 d2d4:1/0/0/0 e2e4:600000/0/0/0",
                                      "", "", ""))
        divisor = -(-1200000 // 65535)
        self.assertEqual(self.book(store), [
            (START_HASH, move("e2e4"), 1200000 // divisor, 0),
            (START_HASH, move("g1f3"), 200003 // divisor, 0),
            (START_HASH, move("d2d4"), 1, 0)])

    def test_castling_and_promotion(self):
        store = self.loaded(
            "games",
            ("8/4P3/8/8/8/8/k7/7K w - - 0 1", (1, 0, 0, 0), "e7e8n:1/0/0/0", "", "", ""),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", (3, 0, 0, 0),
             "e1c1:1/0/0/0 e1g1:2/0/0/0", "", "", ""))
        moves = {row[1]: row[2] for row in self.book(store)}
        self.assertEqual(moves, {move("e7e8n"): 2, move("e1a1"): 2, move("e1h1"): 4})

    def test_no_book_on_a_terminal(self):
        store = self.new_store()
        main, side = harness.pseudo_terminal(self)
        process = spawn("export", "--format", "polyglot", address=store, stdout=side,
                        stderr=subprocess.PIPE)
        _, error = process.communicate(timeout=60)
        os.close(main)
        os.close(side)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"-o FILE", error)

    def test_book_in_and_out(self):
        store = self.new_store()
        done = self.cli("import", BOOK, address=store)
        read = entries(BOOK)
        # Each line begins at the initial position: all are within reach.
        positions = len({row[0] for row in read})
        self.assertEqual(summary(done.stdout), {
            "read": str(len(read)), "new": str(positions), "updated": "0", "kept": "0",
            "illegal": "0", "weightless": "0", "unreachable": "0", "no_move": "0",
            "shadowed": "0"})
        before = self.out("dump", address=store)
        done = self.cli("import", "--format", "polyglot", BOOK, address=store)
        self.assertEqual(summary(done.stdout)["kept"], str(positions))
        self.assertEqual(self.out("dump", address=store), before)
        # This book writes castling as the king's two steps.
        castling = {move("e1g1"): move("e1h1"), move("e8g8"): move("e8h8"),
                    move("e1c1"): move("e1a1"), move("e8c8"): move("e8a8")}
        written = self.book(store)
        self.assertEqual([row[0] for row in written], sorted(row[0] for row in written))
        known = {(key, bits): weight for key, bits, weight, _ in written}
        for key, bits, weight, _ in read:
            found = known.get((key, bits)) or known.get((key, castling.get(bits)))
            self.assertEqual(found, weight)
        self.assertEqual(len(known), len(read))
        record = json.loads(self.out("get", START, address=store))
        self.assertEqual(record["games"], 0)
        self.assertEqual(record["other"], sum(r[2] for r in read if r[0] == START_HASH))

    def test_a_book_overwrites_no_games(self):
        store = self.loaded("games", (START, (1, 0, 0, 0), "e2e4:1/0/0/0", "", "", ""))
        self.cli("put", AFTER_E4, "--note", "seen", address=store)
        before = self.out("get", START, address=store)
        done = self.cli("import", BOOK, address=store)
        self.assertEqual((summary(done.stdout)["kept"], summary(done.stdout)["updated"]),
                         ("1", "1"))
        self.assertEqual(self.out("get", START, address=store), before)
        record = json.loads(self.out("get", AFTER_E4, address=store))
        self.assertEqual(record["note"], "seen")
        self.assertGreater(record["other"], 0)

    def test_through_a_daemon(self):
        here, there = self.new_store("control"), self.new_store("external")
        plain = harness.make_store(self.path("plain"), "external")
        self.cli("import", BOOK, address=plain)
        with harness.start_daemon({"default": there}) as daemon:
            self.cli("import", BOOK, address=daemon.addresses[0])
            self.assertEqual(self.out("dump", address=daemon.addresses[0]),
                             self.out("dump", address=plain))
        self.assertNotEqual(here, there)

    def write_book(self, name, rows):
        return self.write(name, b"".join(struct.pack(">QHHI", *row) for row in sorted(rows)))

    def test_a_pinned_pawn_beside_a_double_step(self):
        line = [(key, move(text), 1, 0) for key, text in PINNED_LINE]
        theirs = (PINNED_HASH, move("f1e2"), 5, 0)
        ours = (PINNED_HASH_STORED, move("g1f3"), 7, 0)
        dumps = {}
        for name, more, played, unreachable in (("theirs", [theirs], "f1e2", 0),
                                                ("ours", [ours], "g1f3", 0),
                                                ("both", [theirs, ours], "f1e2", 1)):
            store = harness.make_store(self.path(name))
            done = self.cli("import", self.write_book(name + ".bin", line + more), address=store)
            self.assertEqual(summary(done.stdout)["unreachable"], str(unreachable))
            self.assertEqual(summary(done.stdout)["shadowed"], str(unreachable))
            moves = json.loads(self.out("get", PINNED, address=store))["moves"]
            self.assertEqual([m["uci"] for m in moves], [played])
            dumps[name] = self.out("dump", address=store)
            # What is written is found again, by us.
            book = self.path(name + "-out.bin")
            self.cli("export", "-o", book, address=store)
            self.assertIn(PINNED_HASH_STORED, [row[0] for row in entries(book)])
            back = harness.make_store(self.path(name + "-back"))
            self.cli("import", book, address=back)
            self.assertEqual(self.out("dump", address=back), dumps[name])
        self.assertEqual(dumps["both"], dumps["theirs"])

    def test_books_out_of_order_or_cut_were_refused(self):
        good = content(BOOK)
        whole = self.new_store()
        self.cli("import", BOOK, address=whole)
        swapped = self.write("swapped.bin", good[16:48] + good[:16] + good[48:])
        store = self.path("swapped")
        done = self.cli("import", swapped, address=store)
        self.assertIn("swapped.bin: 1 entries were out of order: sorted", done.stderr)
        self.assertEqual(self.out("dump", address=store), self.out("dump", address=whole))
        store = self.path("longer")
        done = self.cli("import", self.write("longer.bin", good + b"xyz"), address=store)
        self.assertIn("longer.bin: the last 3 bytes are not a whole entry", done.stderr)
        self.assertEqual(self.out("dump", address=store), self.out("dump", address=whole))
        # Two books behind each other are one.
        joined = self.write("joined.bin", good + content(TRAP))
        self.cli("import", joined, address=self.path("joined"))

    def test_books_are_walked_by_every_legal_move(self):
        """A book of one side has no moves of the other, and positions that no book move leads to."""
        line = [(key, move(text), 1, 0) for key, text in PINNED_LINE]
        for name, rows, reached in (("white", line[::2], 4), ("black", line[1::2], 4),
                                    ("gap", line[:2] + line[4:6], 2)):
            done = self.cli("import", self.write_book(name + ".bin", rows), address=self.path(name))
            self.assertEqual(summary(done.stdout)["new"], str(reached), name)
            self.assertEqual(summary(done.stdout)["unreachable"], str(len(rows) - reached))
        done = self.cli("import", self.write_book("far.bin", line[6:]), address=self.path("far"),
                        code=3)
        self.assertIn("far.bin: no position was found", done.stderr)
        self.assertIn("to 2 no moves through the book lead", done.stderr)
        self.assertFalse(os.path.exists(self.path("far")))

    def test_what_is_no_book(self):
        store = self.new_store()
        self.cli("import", self.path("none.bin"), address=store, code=2)
        self.cli("import", BOOK, self.write("x.csv", "fen\n"), address=store, code=2)
        self.cli("import", self.write("y.csv", "fen\n"), BOOK, address=store, code=2)
        done = self.cli("import", self.write("empty.bin", b""), address=store, code=3)
        self.assertEqual(summary(done.stdout)["read"], "0")

    def test_several_books(self):
        """What the first has is not changed by the next, and an empty one keeps none out."""
        together, apart = self.path("together"), self.path("apart")
        done = self.cli("import", TRAP, self.write("empty.bin", b""), BOOK, address=together, code=3)
        self.assertIn("empty.bin: no position was found", done.stderr)
        self.cli("import", TRAP, address=apart)
        kept = summary(self.cli("import", BOOK, address=apart).stdout)["kept"]
        self.assertEqual(self.out("dump", address=together), self.out("dump", address=apart))
        self.assertEqual(summary(done.stdout)["kept"], kept)
        self.assertGreater(int(kept), 0)

    def test_illegal_moves_and_unreachable_entries_are_counted(self):
        store = self.new_store()
        rows = [(START_HASH, move("e2e4"), 7, 0), (START_HASH, move("e2e5"), 5, 0),
                (START_HASH, move("d2d4"), 0, 0), (E4_HASH, move("e7e5"), 3, 9),
                (E4_HASH, move("e7e5"), 4, 9), (E4_HASH + 1, move("e7e5"), 3, 0),
                (0, 0, 0, 0)]
        file = self.write_book("x.bin", rows)
        done = self.cli("import", file, address=store)
        self.assertEqual(summary(done.stdout), {
            "read": "7", "new": "2", "updated": "0", "kept": "0", "illegal": "1",
            "weightless": "1", "unreachable": "2", "no_move": "1", "shadowed": "0"})
        self.assertIn("1 moves are not legal", done.stderr)
        moves = json.loads(self.out("get", START, address=store))["moves"]
        self.assertEqual([m["uci"] for m in moves], ["e2e4"])
        self.assertEqual(json.loads(self.out("get", AFTER_E4, address=store))["other"], 7)
        done = self.cli("import", "--format", "polyglot", "-", address=store, input=content(file))
        self.assertIn(b"kept\t2", done.stdout)
