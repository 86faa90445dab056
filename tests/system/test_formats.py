# SPDX-License-Identifier: MIT
"""What comes in and goes out in each format: nothing of ours is lost on the way, and what is no
file of games or positions says so and makes no store."""

import gzip
import json
import os
import re
import signal
import subprocess

import harness
from cli_base import ABSENT, AFTER_E4, ENDING, ROOKS, START, Base, run_cli, spawn, summary

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
GAMES = os.path.join(DATA, "pgn", "games_300.pgn")
BOOK = os.path.join(DATA, "polyglot", "openings.bin")

NOTES = ["plain", 'with "quotes", commas', "two\nlines\tand a tab", " kept blanks ", "\u00fc\u265e",
         'am Kb8; id "WAC.001";', 'c0 "their own"; c1 "twice";', 'c9 "a comment";', "ends in;",
         "lines of\r\nWindows\rand Macs\r\n",
         "back\\slash \\22 and \\zz", 'bm Ka7; id "x";', "ce 5;", 'c0 "white 1 draws 2 black 3";']

TEXT = "This is a text.\nIt has lines, and commas.\n\n1. A list\n2. e4 follows\n"
RANDOM = bytes(i * i * 31 % 251 ^ i % 253 for i in range(5003))


class Formats(Base):
    def external(self, name):
        return harness.make_store(self.path(name), "external")

    def filled(self):
        """Some of everything that a record holds."""
        store = self.external("filled")
        for i, (fen, note) in enumerate(zip(self.fens(len(NOTES)), NOTES)):
            # A second line is no evaluation of the position: its note went out as a comment.
            second = ["--eval", "x:5:1/2"] if note.startswith("am") else []
            self.cli("put", fen, "--chi2", f"{i}.5", "--counts", f"{i},2,1", "--note", note,
                     *second, address=store)
        self.cli("put", START, "--eval", "Deep Blue \"II\":30:25", "--line", "e4 e5",
                 "--note", "here", address=store)
        self.cli("put", ENDING, "--line", "e3d4 e6d6", address=store)
        self.cli("put", ROOKS, "--eval", "epd:12:mate-5", address=store)
        for _ in range(2):  # more games than one put gives, which CSV refused
            self.cli("put", AFTER_E4, "--counts", "4294967295,1,0", "--add", address=store)
        return store

    def export(self, store, name, form):
        path = self.path(name)
        self.cli("export", "--format", form, "-o", path, address=store)
        with open(path, "rb") as file:
            return path, file.read()

    def test_each_format_comes_back_as_it_was(self):
        """And a second time: what came back goes out the same."""
        store = self.filled()
        for form in ("csv", "tsv", "epd", "jsonl"):
            file, text = self.export(store, "one." + form, form)
            for how in ([file], ["--format", form, "-"]):
                back = self.external(f"back-{form}-{len(how)}")
                done = self.cli("import", "--strict", *how, address=back, input=text.decode())
                self.assertEqual(summary(done.stdout)["rejected"], "0")
                self.assertNotIn("ignored", done.stderr)
                _, again = self.export(back, "two." + form, form)
                self.assertEqual(again, text)
                for fen, note in zip(self.fens(len(NOTES)), NOTES):
                    record = json.loads(self.out("get", fen, address=back))
                    self.assertEqual((record["note"], record["draws"]), (note, 2), form)

    def test_json_lines_of_games_are_the_whole_store(self):
        """Counts, moves with games without result, plies: the dumps are equal, directory and daemon."""
        store = self.path("games")
        self.cli("import", "--statistic", "external", GAMES, address=store)
        self.cli("put", START, "--eval", "a:9:-31", "--eval", "b:8:mate2", "--line", "d4",
                 "--note", "x", address=store)
        file, _ = self.export(store, "games.jsonl", "jsonl")

        def positions(address):
            return [line for line in self.counts(address).splitlines()
                    if not line.startswith(("game\t", "base\t", "end\t", "sum\t"))]
        expected = positions(store)
        self.assertGreater(len(expected), 10000)
        here = self.path("here")
        self.cli("import", "--statistic", "external", file, address=here)
        self.assertEqual(positions(here), expected)
        with harness.start_daemon({"default": self.external("there")}) as daemon:
            address = daemon.addresses[0]
            self.cli("import", file, address=address)
            self.assertEqual(positions(address), expected)
            # Added, they count twice.
            self.cli("import", "--add", file, address=address)
            one, two = (json.loads(self.out("get", START, address=a)) for a in (here, address))
            self.assertEqual(two["plies"][0]["games"], 2 * one["plies"][0]["games"])
            self.assertEqual(two["moves"][0]["white"], 2 * one["moves"][0]["white"])

    def test_what_is_not_given_stays(self):
        """Members and columns that are not there leave what is stored."""
        store = self.filled()
        before = self.out("dump", address=store)
        self.cli("import", self.write("x.jsonl", json.dumps({"fen": START}) + "\n"), address=store)
        self.cli("import", self.write("x.csv", f"fen,cp,depth\n{START},,\n"), address=store)
        self.assertEqual(self.out("dump", address=store), before)

    def test_csv_gives_evaluations(self):
        store = self.external("evals")
        rows = [f"{START},stockfish,30,25,,1000,e4 e5,2026-11-22T09:30:00Z",
                f"{ENDING},,,,-3,,,", f"{ROOKS},sf,x,1,,,,", f"{AFTER_E4},sf,9,1,,,e2e4,"]
        done = self.cli("import", "--engine", "me", "-", address=store, input="\n".join(
            ["FEN,engine,depth,cp,mate,nodes,pv,date", *rows]) + "\n")
        self.assertEqual(summary(done.stdout)["rejected"], "2")
        self.assertIn("-:4: depth: 'x' is no depth", done.stderr)
        self.assertIn("-:5: pv: ", done.stderr)
        self.assertEqual(json.loads(self.out("get", START, address=store))["evals"], [
            {"engine": "stockfish", "multipv": 1, "depth": 30, "cp": 25, "nodes": 1000,
             "pv": ["e2e4", "e7e5"],
             "date": "2026-11-22T09:30:00Z"}])
        self.assertEqual(json.loads(self.out("get", ENDING, address=store))["evals"], [
            {"engine": "me", "multipv": 1, "depth": 0, "mate": -3, "nodes": None, "pv": [],
             "date": None}])

    def test_evaluations_as_lichess_writes_them(self):
        """Known by its first line, packed or not, here and there; exported it comes back."""
        lines = [{"fen": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -", "evals": [
                     {"pvs": [{"cp": 30, "line": "e7e5 g1f3"}], "knodes": 20, "depth": 30},
                     {"pvs": [{"cp": 35, "line": "c7c5"}, {"mate": 4, "line": "g7g5"}],
                      "knodes": 10, "depth": 31}]},
                 {"fen": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "evals": [
                     {"pvs": [{"cp": 0, "line": "e1h1 e8a8"}], "knodes": 7, "depth": 9}]},
                 {"fen": START, "evals": [{"pvs": [{"cp": 1, "line": "e2e5"}], "depth": 5}]}]
        file = self.write("lichess_db_eval.jsonl", "".join(json.dumps(x) + "\n" for x in lines))
        subprocess.run(["zstd", "-q", file], check=True)
        here, there = self.external("here"), self.external("there")
        with harness.start_daemon({"default": there}) as daemon:
            for address, name, options in ((here, file + ".zst", []),
                                           (daemon.addresses[0], file, ["--strict"])):
                done = self.cli("import", *options, name, address=address,
                                code=3 if options else 0)
                self.assertEqual(summary(done.stdout)["stored"], "2")
                self.assertIn(":3: line: move 1: 'e2e5'", done.stderr)
            self.assertEqual(self.out("dump", address=here),
                             self.out("dump", address=daemon.addresses[0]))
        evals = json.loads(self.out("get", AFTER_E4, address=here))["evals"]
        self.assertEqual([(e["engine"], e["multipv"], e["depth"], e.get("cp"), e.get("mate"),
                           e["nodes"], e["pv"]) for e in evals],
                         [("lichess", 1, 31, -35, None, 10000, ["c7c5"]),
                          ("lichess", 2, 31, None, -4, 10000, ["g7g5"])])
        out = self.out("export", "--format", "lichess-evals", address=here)
        lines[0]["evals"].pop(0)
        self.assertCountEqual(map(json.loads, out.splitlines()), lines[:2])
        back = self.external("back")
        self.cli("import", "--format", "lichess-evals", "-", address=back, input=out)
        self.assertEqual(self.out("dump", address=back), self.out("dump", address=here))
        self.cli("import", "--engine", "cloud", file, address=back)
        both = self.out("export", "--format", "lichess-evals", address=back)
        self.assertEqual(len(json.loads(both.splitlines()[0])["evals"]), 2)

    def test_evaluations_as_chessdb_has_them(self):
        """Known by their first line, here and there; exported they come back."""
        lines = [f"{AFTER_E4} ; cdb eval: -35, ply: 1; PV: c7c5 g1f3;",
                 "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - bm O-O; cdb eval: M11; PV: e1g1 e8c8 ;",
                 f"{START} ; cdb eval: 1; PV: e2e5;", f"{ROOKS} ; cdb eval: invalid;",
                 "# a comment", f"{ENDING}; cdb eval: -M10;"]
        file = self.write("scored.epd", "\n".join(lines) + "\n")
        here, there = self.external("here"), self.external("there")
        with harness.start_daemon({"default": there}) as daemon:
            for address, options in ((here, []), (daemon.addresses[0], ["--strict", "--format", "cdb"])):
                done = self.cli("import", *options, file, address=address,
                                code=3 if options else 0)
                self.assertEqual(summary(done.stdout)["stored"], "3")
                self.assertIn(":3: PV: ", done.stderr)
                self.assertIn(":4: cdb eval: 'invalid' is no score", done.stderr)
            self.assertEqual(self.out("dump", address=here),
                             self.out("dump", address=daemon.addresses[0]))
        (found,) = json.loads(self.out("get", AFTER_E4, address=here))["evals"]
        self.assertEqual((found["engine"], found["depth"], found["cp"], found["pv"]),
                         ("cdb", 0, -35, ["c7c5", "g1f3"]))
        out = self.out("export", "--format", "cdb", address=here)
        self.assertCountEqual(out.splitlines(), [
            f"{AFTER_E4[:-4]} ; cdb eval: -35; PV: c7c5 g1f3;",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - ; cdb eval: M11; PV: e1g1 e8c8;",
            f"{ENDING[:-4]} ; cdb eval: -M10;"])
        back = self.external("back")
        self.cli("import", "--format", "cdb", "--strict", "-", address=back, input=out)
        self.assertEqual(self.out("export", "--format", "cdb", address=back), out)

    def test_put_batch_reads_json(self):
        lines = [{"fen": START, "evals": [{"engine": "z", "cp": 1}, {"engine": "a", "mate": 2},
                                          {"engine": "z", "cp": 0, "multipv": 2}],
                  "line": "e4 e5", "moves": [{"san": "Nf3", "white": 1}], "white": 1, "extra": 0},
                 {"fen": ENDING, "note": "n", "white": None}, {"note": "no fen"},
                 {"fen": ROOKS, "white": -1}, {"fen": ROOKS, "evals": [{"cp": "x"}]}]
        text = "\n".join(map(json.dumps, lines)) + "\n# a comment\n\n[]\n{\"fen\"\n"
        store = self.external("here")
        there = self.external("there")
        with harness.start_daemon({"default": there}) as daemon:
            for address in (store, daemon.addresses[0]):
                done = self.cli("put", "--batch", address=address, input=text)
                self.assertEqual(summary(done.stdout), {
                    "read": "7", "stored": "2", "new": "2", "updated": "0", "unchanged": "0",
                    "rejected": "5"})
                for told in ("-:3: fen: ", "-:4: white: ", "-:5: cp: ", "-:8: no JSON object",
                             "-:9: no JSON: ", "ignored: 'extra'"):
                    self.assertIn(told, done.stderr)
                record = json.loads(self.out("get", START, address=address))
                self.assertEqual([(e["engine"], e["multipv"]) for e in record["evals"]],
                                 [("a", 1), ("z", 1), ("z", 2)])
                self.assertEqual((record["line"], record["moves"][0]["uci"], record["note"]),
                                 (["e2e4", "e7e5"], "g1f3", None))
                self.cli("put", "--batch", "--strict", address=address, input=text, code=3)
            self.assertEqual(self.out("dump", address=store),
                             self.out("dump", address=daemon.addresses[0]))
        self.cli("put", "--batch", START, address=store, code=2, input="")
        self.cli("put", "--batch", "--note", "x", address=store, code=2, input="")
        self.cli("put", "--strict", START, address=store, code=2)
        self.cli("put", address=store, code=2)

    def test_put_batch_stored_nothing_before_the_end(self):
        """Others see what has come in while the pipe is open, and the daemon's only place is free."""
        there = self.external("there")
        with harness.start_daemon({"default": there}, extra_args=["--imports", "1"]) as daemon:
            for address in (self.external("here"), daemon.address):
                put = spawn("put", "--batch", address=address, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                noted = lambda fen: run_cli("get", fen, address=address).stdout
                put.stdin.write(b'{"fen": "%s", "note": "one"}\n{"fen": "%s"' %
                                (START.encode(), ENDING.encode()))
                put.stdin.flush()
                harness.wait_for(lambda: '"one"' in noted(START))
                self.cli("get", ENDING, address=address, code=1)
                self.cli("import", "--format", "epd", "-", address=address, input=ABSENT + "\n")
                put.stdin.write(b', "note": "two"}\n{"fen": 3}\n')
                put.stdin.flush()
                harness.wait_for(lambda: '"two"' in noted(ENDING))
                out, err = put.communicate(b'{"fen": "%s", "extra": 1}' % ROOKS.encode())
                self.assertEqual(put.returncode, 0, err)
                self.assertEqual(summary(out.decode()), {
                    "read": "4", "stored": "3", "new": "3", "updated": "0", "unchanged": "0",
                    "rejected": "1"})
                self.assertIn(b"-:3: fen", err)
                self.assertIn(b"ignored: 'extra'", err)
                self.assertNotIn(b"no position", err)

    def test_put_batch_says_what_is_stored_when_it_ends_early(self):
        there = self.external("there")
        for how in ("kill", "interrupt", "server"):
            with harness.start_daemon({"default": there}) as daemon:
                put = spawn("put", "--batch", address=daemon.address, stdin=subprocess.PIPE,
                            stderr=subprocess.PIPE)
                put.stdin.write(b'{"fen": "%s", "note": "%s"}\n' % (START.encode(), how.encode()))
                put.stdin.flush()
                harness.wait_for(lambda: f'"{how}"' in run_cli(
                    "get", START, address=daemon.address).stdout)
                more = b'{"fen": "%s", "note": "%s"' % (ENDING.encode(), how.encode())
                if how == "server":
                    daemon.stop()
                    more += b"}\n"
                put.stdin.write(more)
                put.stdin.flush()
                if how != "server":
                    put.send_signal(signal.SIGKILL if how == "kill" else signal.SIGINT)
                err = put.communicate()[1].decode()
                self.assertEqual(put.returncode, {"kill": -9, "interrupt": 130, "server": 3}[how])
                if how != "kill":
                    self.assertIn("line 2 is the first that is not stored for certain", err)
                self.assertEqual(err.count("interrupted"), how == "interrupt")
            self.assertIn(f'"{how}"', self.out("get", START, address=there))
            self.cli("get", ENDING, address=there, code=1)

    def test_put_batch_of_a_damaged_file_keeps_whole_pieces(self):
        """A file never pauses: its pieces are of 100,000 lines."""
        store = self.external("here")
        text = "".join(f'{{"fen": "{START}", "note": "{i}"}}\n' for i in range(1, 150001))
        path = self.write("damaged.jsonl.gz", gzip.compress(text.encode(), 1)[:-100])
        with open(path, "rb") as file:
            put = spawn("put", "--batch", address=store, stdin=file, stderr=subprocess.PIPE)
            err = put.communicate()[1].decode()
        self.assertEqual(put.returncode, 3)
        first = int(re.search(r"line (\d+) is the first that is not stored", err).group(1))
        self.assertGreater(first, 100000)
        self.assertLess(first, 110000)
        self.assertEqual(json.loads(self.out("get", START, address=store))["note"], str(first - 1))

    def test_a_line_of_numbers_overran_its_memory(self):
        text = json.dumps({"fen": START, "line": [1] * 200000}) + "\n"
        done = self.cli("import", "--format", "jsonl", "-", address=self.external("here"),
                        input=text, code=3)
        self.assertIn("-:1: line: no list of moves", done.stderr)

    def test_what_is_no_file_of_ours_makes_no_store(self):
        empty = {"csv": "fen,note\n", "tsv": "fen\tnote\n"}
        files = [(form, self.write(f"{name}.{form}", data))
                 for form in ("pgn", "epd", "csv", "tsv", "jsonl", "bin")
                 for name, data in (("text", TEXT), ("random", RANDOM),
                                    ("empty", empty.get(form, "")))]
        files += [("", self.write("text", TEXT)), ("", self.write("random", RANDOM)),
                  ("", self.write("chapter", "[Chapter one]\n\nSome words.\n1. More\n"))]
        there = self.external("there")
        before = self.out("dump", address=there)
        with harness.start_daemon({"default": there}) as daemon:
            for form, file in files:
                for address in (self.path("made"), there, daemon.addresses[0]):
                    if address == there:
                        continue
                    done = self.cli("import", file, address=address, code=3)
                    self.assertRegex(done.stderr, "(?s)" + os.path.basename(file) +
                                     ".*(no (game|position)|header has no column 'fen')")
                    self.assertFalse(os.path.exists(self.path("made")), file)
            self.assertEqual(self.out("dump", address=daemon.addresses[0]), before)
        self.cli("subtract", files[0][1], address=there, code=3)

    def test_bad_lines_are_counted_and_strict_fails(self):
        good = {"epd": START[:-4] + "\n", "csv": f"fen\n{START}\n",
                "jsonl": json.dumps({"fen": START}) + "\n"}
        for form, text in good.items():
            file = self.write("x." + form, text + "what is this\n")
            for strict, code in (([], 0), (["--strict"], 3)):
                store = self.path(f"made-{form}-{code}")
                done = self.cli("import", *strict, file, address=store, code=code)
                found = summary(done.stdout)
                self.assertEqual((found["stored"], found["rejected"]), ("1", "1"))
                self.assertIn(f"{file}:{3 if form == 'csv' else 2}: ", done.stderr)
                self.cli("get", START, address=store)

    def test_a_file_without_a_byte_is_named_once(self):
        store = self.external("named")
        with harness.start_daemon({"default": store}) as daemon:
            for address in (self.path("unmade"), daemon.addresses[0]):
                done = self.cli("import", self.write("x.csv", ""), address=address, code=3)
                self.assertEqual(done.stderr.count("no position was found"), 1, done.stderr)

    def test_empty_files_and_quiet(self):
        """What is wrong is said with --quiet, too, and a daemon's client says the same."""
        store, here = self.external("served"), self.external("here")
        with harness.start_daemon({"default": store}) as daemon:
            for name, text in (("x.csv", ""), ("x.epd", "\n\n"), ("x.pgn", ""), ("y.pgn", "\n"), ("x.bin", "")):
                file = self.write(name, text)
                said = [self.cli("--quiet", "import", file, address=address, code=3).stderr
                        for address in (here, daemon.addresses[0])]
                self.assertEqual(*said)
                self.assertIn("1 files without a position" if text == "\n\n" else
                              f"{file}: no ", said[0])

    def test_compressed_books(self):
        """Books are unpacked as other files are; one that is cut stores nothing."""
        with open(BOOK, "rb") as file:
            book = file.read()
        packed = gzip.compress(book)
        made = []
        for name, data in (("b.bin", book), ("b.bin.gz", packed)):
            store = self.path("of-" + name)
            done = self.out("import", self.write(name, data), address=store)
            made.append((done, self.out("dump", address=store)))
        self.assertEqual(*made)
        done = self.cli("import", self.write("cut.bin.gz", packed[:-20]), address=self.path("none"), code=3)
        self.assertIn("cut short", done.stderr)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_the_store_that_is_made_is_of_the_kind_asked_for(self):
        file = self.write("x.csv", f"fen,chi2\n{START},57.99\n")
        self.cli("import", "--statistic", "external", file, address=self.path("external"))
        self.assertEqual(json.loads(self.out("get", START, address=self.path("external")))["chi2"],
                         57.99)
        done = self.cli("import", file, address=self.path("control"))
        self.assertIn("chi2 column is ignored", done.stderr)
        self.assertEqual(json.loads(self.out("get", START, address=self.path("control")))["chi2"],
                         76)
        self.cli("import", "--statistic", "control", file, address=self.path("external"), code=2)
