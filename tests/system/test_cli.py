# SPDX-License-Identifier: MIT
"""The commands, each on a directory and against a daemon, with the same output."""

import bz2
import gzip
import json
import lzma
import os
import shutil
import subprocess

import harness
from cli_base import (ABSENT, AFTER_E4, ENDING, HEAD, ROOKS, START, Base,
                      rank, run_cli, summary)


class Commands(Base):
    """Run by two subclasses: on a directory, and against a daemon that serves one."""

    def serve(self, directory):
        """The address to use for a store in `directory`."""
        raise NotImplementedError

    def served(self, statistic="control"):
        return self.serve(self.new_store(statistic))

    def test_statistic_beyond_the_scale(self):
        """It is stored as the scale's end, and this is said."""
        a = self.served("external")
        for value, stored in (("300", "255.99"), ("0.001", "0.01"), ("255.99", None)):
            done = self.cli("put", "e4", "--chi2", value, address=a)
            self.assertEqual(done.stderr, f"chistore: --chi2: {value} is beyond the scale, stored "
                             f"as {stored}\n" if stored else "")
            self.assertEqual(json.loads(self.out("get", "e4", address=a))["chi2"],
                             float(stored or value))
        files = {"a.csv": f"fen,chi2\n{START},1e3\n{ENDING},1000\n{ROOKS},0.004\n{AFTER_E4},5\n",
                 "a.jsonl": f'{{"fen": "{START}", "chi2": 256}}\n{{"fen": "{ROOKS}", "chi2": 9}}\n'}
        for name, clamped in (("a.csv", 2), ("a.jsonl", 1)):
            done = self.cli("import", self.write(name, files[name]), address=a)
            self.assertIn(f"{name}: {clamped} statistics beyond the scale, stored as 0.01 or "
                          "255.99\n", done.stderr)

    def test_put_get_delete(self):
        a = self.served()
        fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-"
        text = self.out("put", fen, "--line", "e4 e7e5", "--note", "caf\u00e9 \"1\"", "--eval",
                        "sf:20:35", "--eval", "lc0:9:mate-3", "--counts", "3,2,1", address=a)
        self.assertEqual(text, f"added\t{START}\n")
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual(record, {
            "fen": START, "chi2": 76.0, "games": 6, "white": 3, "draws": 2, "black": 1,
            "other": 0, "min_ply": None, "plies": [], "moves": [], "evals": [
                {"engine": "lc0", "multipv": 1, "depth": 9, "mate": -3, "nodes": None, "pv": [],
                 "date": None},
                {"engine": "sf", "multipv": 1, "depth": 20, "cp": 35, "nodes": None, "pv": [],
                 "date": None}],
            "line": ["e2e4", "e7e5"], "note": "caf\u00e9 \"1\"", "endgame": None})
        self.assertEqual(self.out("put", START, "--eval", "sf:10:99", address=a),
                         f"unchanged\t{START}\n")
        # Lines of one search may be a ply apart; a deeper search takes the older lines with it.
        lines = lambda: [(e["engine"], e["multipv"], e["depth"], e["cp"])
                         for e in json.loads(self.out("get", START, address=a))["evals"][1:]]
        self.out("put", START, "--eval", "sf:20:30", "--eval", "sf:19:25/2", "--eval", "sf:18:20/3",
                 address=a)
        self.assertEqual(lines(), [("sf", 1, 20, 30), ("sf", 2, 19, 25)])
        self.out("put", START, "--eval", "sf:21:31", address=a)
        self.assertEqual(lines(), [("sf", 1, 21, 31)])
        self.cli("put", START, "--eval", "sf:21:31/65", code=2, address=a)
        self.assertEqual(json.loads(self.out("put", START, "--json", "--counts", "1,1,1", "--add",
                                             address=a)), {"result": "updated", "fen": START})
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual([record[k] for k in ("games", "white", "draws", "black")], [9, 4, 3, 2])
        note = "\x01\t\n\x1b[2J\x7f\\\"\u2028"
        self.cli("put", START, "--note", note, address=a)
        self.assertEqual(json.loads(self.out("get", START, address=a))["note"], note)
        self.cli("put", START, "--note", "", "--line", "", address=a)
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual((record["line"], record["note"]), ([], None))
        self.assertEqual(self.out("delete", START, address=a), f"deleted\t{START}\n")
        done = self.cli("delete", START, code=1, address=a)
        self.assertEqual((done.stdout, done.stderr),
                         ("", f"chistore: position not found: {START}\n"))

    def test_get_unknown_among_several(self):
        a = self.served()
        self.cli("put", START, address=a)
        self.cli("put", ENDING, address=a)
        done = self.cli("get", START, ABSENT, ENDING, code=1, address=a)
        self.assertEqual([json.loads(line)["fen"] for line in done.stdout.splitlines()],
                         [START, ENDING])
        self.assertIn(ABSENT, done.stderr)
        done = self.cli("get", input=f"# two\n\n{START}\n  {ENDING}  \n", address=a)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        done = self.cli("get", code=2, input=f"{START}\nnonsense\n", address=a)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("standard input:2", done.stderr)

    def test_statistic_is_refused_where_it_is_computed(self):
        for statistic in ("control", "outcome", "score", "eval", "performance"):
            a = self.served(statistic)
            done = self.cli("put", START, "--chi2", "39.82", code=2, address=a)
            self.assertIn(statistic, done.stderr)
            self.assertEqual(self.out("count", address=a), "0\n")
            self.stop()
        a = self.served("external")
        self.cli("put", START, "--chi2", "39.82", address=a)
        self.cli("put", ENDING, address=a)
        self.assertEqual(self.out("scan", address=a),
                         HEAD + f"-\t{ENDING}\t0\t0\t0\t0\n39.82\t{START}\t0\t0\t0\t0\n")
        self.assertEqual(self.out("scan", "--min", "0", "--max", "0", "--keys", address=a),
                         f"chi2\tfen\n-\t{ENDING}\n")

    def fill(self, a):
        """An external store of ten positions; returns their scan rows in order."""
        rows = []
        text = "fen,chi2,white,draws,black\n"
        for i in range(8):
            empty = ("" if i == 0 else str(i)) + "P" + ("" if i == 7 else str(7 - i))
            fen = f"k7/8/8/8/8/{empty}/8/7K {'w' if i % 2 else 'b'} - - 0 1"
            chi2 = f"{10 + i}.{i}0"
            text += f"{fen},{chi2},{i},0,1\n"
            rows.append(f"{chi2}\t{fen}\t{i + 1}\t{i}\t0\t1")
        text += f"{ROOKS},50,,,\n{START},60,1,1,1\n"
        rows.append(f"50.00\t{ROOKS}\t0\t0\t0\t0")
        rows.append(f"60.00\t{START}\t3\t1\t1\t1")
        done = self.cli("import", "-", input=text, address=a)
        self.assertEqual(summary(done.stdout)["new"], "10")
        return rows

    def test_scan_and_count(self):
        a = self.served("external")
        rows = self.fill(a)

        def scan(*args):
            lines = self.out("scan", *args, address=a)
            self.assertTrue(lines.startswith(HEAD))
            if "--limit" not in args:
                asked = [x for x in args if x != "--desc"]
                self.assertEqual(self.out("count", *asked, address=a),
                                 f"{len(lines.splitlines()) - 1}\n")
            return lines.splitlines()[1:]

        self.assertEqual(scan(), rows)
        self.assertEqual(scan("--desc"), rows[::-1])
        self.assertEqual(scan("--min", "12.2", "--max", "14.40"), rows[2:5])
        self.assertEqual(scan("--min", "12.21", "--max", "14.39"), rows[3:4])
        self.assertEqual(scan("--min", "0", "--max", "0"), [])
        self.assertEqual(scan("--side", "w", "--max", "20"), rows[1:8:2])
        self.assertEqual(scan("--pieces", "5..6"), rows[8:9])
        self.assertEqual(scan("--pieces", "..3"), rows[:8])
        self.assertEqual(scan("--material", "KRPKR"), rows[8:9])
        self.assertEqual(scan("--material", "KRvKRP"), [])
        self.assertEqual(scan("--material", "KRvKRP", "--either-colour"), rows[8:9])
        self.assertEqual(scan("--min-games", "4"), rows[3:8])
        self.assertEqual(scan("--limit", "3"), rows[:3])
        self.assertEqual(sorted(scan("--order", "position", "--limit", "10")), sorted(rows))
        self.assertEqual(self.out("count", "--json", "--max", "20", address=a), '{"count":8}\n')
        first = json.loads(self.out("scan", "--json", "--limit", "1", address=a))
        self.assertEqual(first, {"chi2": 10.0, "fen": rows[0].split("\t")[1], "games": 1,
                                 "white": 0, "draws": 0, "black": 1})

    def test_scan_in_pages(self):
        a = self.served("external")
        rows = self.fill(a)
        for args in ([], ["--desc"], ["--order", "position"], ["--side", "b"]):
            whole = self.out("scan", *args, address=a).splitlines()[1:]
            pages, cursor = [], []
            while True:
                done = self.cli("scan", "--limit", "3", "--print-cursor", *cursor, *args,
                                address=a)
                pages += done.stdout.splitlines()[1:]
                if not done.stderr:
                    break
                self.assertTrue(done.stderr.startswith("next: --cursor "), done.stderr)
                cursor = done.stderr.split()[1:]
            self.assertEqual(pages, whole)
        self.assertEqual(len(rows), 10)
        self.cli("scan", "--cursor", "zz", code=2, address=a)

    def test_import_formats(self):
        a = self.served("control")
        epd = f"{START[:-4]} bm e4; id \"x\";\n{ROOKS[:-4]} ce 120; acd 12; pv Rb8;\n"
        import_as = {
            "plain.epd": epd.encode(), "packed.epd.gz": gzip.compress(epd.encode()),
            "packed.epd.bz2": bz2.compress(epd.encode()), "packed.xz": lzma.compress(epd.encode()),
            # What a file is packed with is told by its content.
            "named-wrongly.epd": gzip.compress(epd.encode()),
        }
        if shutil.which("zstd"):
            import_as["packed.epd.zst"] = subprocess.run(
                ["zstd", "-qc"], input=epd.encode(), capture_output=True, check=True).stdout
        for number, (name, data) in enumerate(import_as.items()):
            done = self.cli("import", self.write(name, data), address=a)
            self.assertEqual(summary(done.stdout), {
                "read": "2", "stored": "2", "new": "0" if number else "2", "updated": "0",
                "unchanged": "2" if number else "0", "rejected": "0"}, name)
        record = json.loads(self.out("get", ROOKS, address=a))
        self.assertEqual(record["evals"], [{"engine": "epd", "multipv": 1, "depth": 12, "cp": 120,
                                            "nodes": None, "pv": ["b3b8"], "date": None}])
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual((record["line"], record["note"]), (["e2e4"], 'bm e4; id "x";'))
        self.cli("import", "--engine", "me", "-", input=f"{ROOKS} ce 1;", address=a)
        self.assertEqual(len(json.loads(self.out("get", ROOKS, address=a))["evals"]), 2)
        done = self.cli("import", "--json", "-", input=gzip.compress(epd.encode()), address=a)
        self.assertEqual(json.loads(done.stdout)["read"], 2)

    def test_import_bad_lines(self):
        a = self.served("control")
        text = f"fen,chi2,elo\n{START},76,1\nnonsense,1,1\n{ENDING},x,1\n{ROOKS},,\n{ROOKS}\n"
        path = self.write("bad.csv", text)
        done = self.cli("import", path, address=a)
        numbers = summary(done.stdout)
        self.assertEqual((numbers["read"], numbers["stored"], numbers["rejected"]), ("5", "2", "3"))
        for line in (3, 4, 6):
            self.assertIn(f"chistore: {path}:{line}: ", done.stderr)
        self.assertIn("'elo'", done.stderr)
        self.assertEqual(done.stderr.count("this store computes its statistic"), 1)
        # Only the first twenty are told, unless all are asked for.
        path = self.write("bad.epd", "x\n" * 50 + START + "\n")
        self.assertEqual(self.cli("import", path, address=a).stderr.count(path), 20)
        self.assertEqual(self.cli("import", "--verbose", path, address=a).stderr.count(path), 50)
        self.assertEqual(summary(self.out("import", path, address=a))["rejected"], "50")
        # A line beyond all bounds is one bad line.
        path = self.write("long.epd", f"{START}\n{'x' * (3 << 20)}\n{ENDING}\n")
        numbers = summary(self.out("import", path, address=a))
        self.assertEqual((numbers["read"], numbers["rejected"]), ("3", "1"))

    def test_import_of_what_one_entry_makes_too_big(self):
        """A store keeps 64 engines: the 65th line alone is refused, not its batch."""
        a = self.served("control")
        for i in range(64):
            self.cli("put", START, "--eval", f"engine{i}:1:1", address=a)
        path = self.write("full.epd", f"{ENDING}\n{START} ce 5;\n{ROOKS}\n")
        done = self.cli("import", path, "--engine", "one-more", address=a)
        numbers = summary(done.stdout)
        self.assertEqual((numbers["stored"], numbers["rejected"]), ("2", "1"))
        self.assertIn(f"{path}:2: ", done.stderr)
        self.assertNotIn("entry", done.stderr)
        self.assertEqual(self.out("count", address=a), "3\n")
        self.cli("get", ENDING, ROOKS, address=a)
        # Nor does it take along what was put before it and not flushed.
        lines = list(self.fens(12000))
        lines.insert(7000, f"{START} ce 5;")
        path = self.write("large.epd", "\n".join(lines) + "\n")
        done = self.cli("import", path, address=a)
        numbers = summary(done.stdout)
        self.assertEqual((numbers["new"], numbers["rejected"]), ("12000", "1"))
        self.assertIn(f"{path}:7001: ", done.stderr)
        self.assertEqual(self.out("count", address=a), "12003\n")

    def test_import_larger_than_a_batch(self):
        a = self.served("external")
        rows = []
        for white in range(64):
            for black in range(64):
                for pawn in (27, 35):
                    squares = ["."] * 64
                    squares[white] = "K"
                    squares[black] = "k" if squares[black] == "." else squares[black]
                    squares[pawn] = "P" if squares[pawn] == "." else squares[pawn]
                    if "".join(sorted(squares)).strip(".") != "KPk":
                        continue
                    fen = "/".join(rank("".join(squares[r * 8:r * 8 + 8])) for r in range(8))
                    rows.append(f"{fen} w - - 0 1,{len(rows) % 25599 / 100 + 0.01:.2f}")
        path = self.write("many.csv", "fen,chi2\n" + "\n".join(rows) + "\n")
        numbers = summary(self.out("import", path, address=a))
        self.assertEqual(numbers["new"], str(len(rows)))
        self.assertGreater(len(rows), 5000)
        self.assertEqual(self.out("count", address=a), f"{len(rows)}\n")
        self.assertEqual(summary(self.out("verify", address=a))["positions"], str(len(rows)))

    def test_whole_store_commands(self):
        a = self.served("outcome")
        text = f"fen,white,draws,black\n{START},60,20,20\n{AFTER_E4},20,30,50\n{ENDING},1,0,0\n"
        self.cli("import", "-", input=text, address=a)
        self.assertEqual(self.out("rescore", address=a), "changed\t2\n")
        self.assertEqual(self.out("rescore", "--json", address=a), '{"changed":0}\n')
        self.assertEqual(self.out("count", "--min", "0.01", address=a), "2\n")
        info = json.loads(self.out("info", "--json", address=a))
        self.assertEqual([info[k] for k in ("statistic", "positions", "known", "unknown")],
                         ["outcome", 3, 2, 1])
        self.assertEqual([info["base_" + k] for k in ("white", "draws", "black")], [81, 50, 70])
        self.assertEqual(list(info), list(summary(self.out("info", address=a))))
        self.assertEqual(self.out("verify", address=a),
                         "sound\tyes\npositions\t3\nknown\t2\nerrors\t0\n")
        self.assertGreaterEqual(json.loads(self.out("ping", "--json", address=a))["round_trip_ms"],
                                0)
        dump = self.out("dump", address=a)
        copy = self.path("copy")
        self.assertEqual(self.out("backup", copy, address=a), f"backup\t{copy}\n")
        self.assertEqual(self.out("dump", address=copy), dump)
        self.cli("backup", copy, code=3, address=a)
        sizes = summary(self.out("compact", address=a))
        self.assertLessEqual(int(sizes["bytes_after"]), int(sizes["bytes_before"]))
        self.assertEqual(self.out("dump", address=a), dump)
        self.cli("put", START, address=a)

    def test_dump_and_load(self):
        for statistic in ("external", "control", "outcome", "score", "eval", "performance"):
            a = self.served(statistic)
            if statistic == "external":
                self.fill(a)
            else:
                self.cli("import", "-", input=f"{START} bm e4;\n{ROOKS} ce 1;\n", address=a)
                self.cli("put", ENDING, "--counts", "50,30,20", "--note", "tab\there", address=a)
                self.cli("rescore", address=a)
            dump = self.out("dump", address=a, input=b"")
            file = self.path("file.dump")
            self.cli("dump", file, address=a)
            with open(file, "rb") as stream:
                self.assertEqual(stream.read(), dump)
            self.stop()
            # Into a store that is made for it, from a pipe and packed, and into one that is served.
            made = self.path("made-" + statistic)
            self.cli("load", address=made, input=dump)
            self.assertEqual(self.out("dump", "-", address=made, input=b""), dump)
            packed = self.write("dump.gz", gzip.compress(dump))
            again = self.serve(harness.make_store(self.path("again-" + statistic), statistic))
            self.cli("load", packed, address=again)
            self.assertEqual(self.out("dump", address=again, input=b""), dump)
            self.assertIn("sound\tyes", self.out("verify", address=again))
            self.stop()

    def test_load_keeps_base_rates_without_results(self):
        """Games without a result are part of the base rates, and may be all there is of them."""
        fields = [START, "-", "0", "0", "0", "5", "", "0:5", "", "", ""]
        dump = ("chistore-dump\t1\nstatistic\toutcome\nbase\t0\t0\t0\t5\n"
                "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
                + "\t".join(fields) + "\nend\t1\t0\n")
        dump = self.sealed(dump)
        made = self.path("made")
        self.cli("load", address=made, input=dump)
        self.assertEqual(self.out("dump", address=made), dump)

    def test_plies(self):
        """They go through every address, and another count makes them void."""
        fields = [START, "76.00", "3", "1", "0", "2", "e2e4:3/1/0/0", "0:4 12:1", "", "", ""]
        dump = ("chistore-dump\t1\nstatistic\tcontrol\nbase\t0\t0\t0\t0\n"
                "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
                + "\t".join(fields) + "\nend\t1\t0\n")
        dump = self.sealed(dump)
        a = self.served()
        self.cli("load", address=a, input=dump)
        self.assertEqual(self.out("dump", address=a), dump)
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual((record["min_ply"], record["plies"]),
                         (0, [{"ply": 0, "games": 4}, {"ply": 12, "games": 1}]))
        self.cli("rescore", address=a)
        self.cli("put", START, "--counts", "1,0,0", "--add", address=a)
        self.assertEqual(json.loads(self.out("get", START, address=a))["plies"], record["plies"])
        self.cli("put", START, "--counts", "1,0,0", address=a)
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual((record["min_ply"], record["plies"]), (None, []))

    def test_dump_and_load_of_games(self):
        """Games go along, in order, by directory and over a socket; more than a call takes."""
        games = [f"game\t{i:032x}\t{('1-0', '1/2-1/2', '0-1', '*')[i % 4]}"
                 f"\t{i if i % 3 else '-'}\t{'pruned' if i % 7 == 0 else '-'}\n"
                 for i in range(1, 10500)]
        dump = ("chistore-dump\t1\nstatistic\toutcome\nbase\t1\t2\t3\t0\n"
                "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
                + "\t".join([START, "-", "0", "0", "0", "5", "", "0:5", "", "", ""]) + "\n"
                + "".join(games) + f"end\t1\t{len(games)}\n")
        dump = self.sealed(dump)
        for number, served in enumerate((False, True)):
            place = self.path(f"games-{number}")
            if served:
                place = self.serve(harness.make_store(place, "outcome"))
            self.cli("load", address=place, input=dump)
            self.assertEqual(self.out("dump", address=place), dump)
            told = json.loads(self.out("info", "--json", address=place))
            self.assertEqual((told["games"], told["games_white"]), (len(games), 2624))
            self.assertAlmostEqual(told["bytes_per_game"], told["used_bytes"] / len(games), 2)
            self.assertIn("sound\tyes", self.out("verify", address=place))
        cut = self.sealed(dump.replace(games[5], ""))
        done = self.cli("load", code=3, address=self.path("fewer"), input=cut)
        self.assertIn("number of games", done.stderr)

    def test_load_of_what_is_no_whole_dump(self):
        a = self.served("external")
        self.fill(a)
        dump = self.out("dump", address=a)
        lines = dump.splitlines(keepends=True)
        self.stop()
        cut = self.cli("load", code=3, address=self.path("cut"), input="".join(lines[:-1]))
        self.assertIn("cut", cut.stderr)
        self.assertFalse(os.path.exists(self.path("cut")))
        bad = lines[:]
        bad[6] = "nonsense\n"
        done = self.cli("load", code=3, address=self.path("bad"), input=self.sealed("".join(bad)))
        self.assertIn("line 7,", done.stderr)
        self.cli("load", code=3, address=self.path("none"), input="no dump\n")
        self.assertFalse(os.path.exists(self.path("none")))
        self.cli("load", self.path("absent.dump"), code=2, address=self.path("none"))
        control = self.serve(harness.make_store(self.path("control")))
        done = self.cli("load", code=2, address=control, input=dump)
        self.assertIn("external", done.stderr)

    def test_unsupported_asks(self):
        a = self.served("external")
        self.cli("rescore", code=2, address=a)
        self.cli("put", "nonsense", code=2, address=a)
        self.cli("put", START, "--line", "e2e5", code=2, address=a)
        self.cli("scan", "--min", "5", "--max", "4", code=2, address=a)
        self.assertEqual(self.out("count", address=a), "0\n")

    def stop(self):
        """Ends what `serve` began, so that the directory can be opened otherwise."""


class OnDirectory(Commands):
    def serve(self, directory):
        return directory


class OnUnixSocket(Commands):
    def setUp(self):
        super().setUp()
        self.daemon = None

    def serve(self, directory):
        self.daemon = harness.start_daemon(
            {"default": directory}, listen=["unix:" + self.path("socket")])
        return self.daemon.address

    def stop(self):
        if self.daemon is not None:
            self.assertEqual(self.daemon.stop(), 0)
            self.daemon = None

    def tearDown(self):
        self.stop()


del Commands


class SameAnswers(Base):
    """One store, asked in this process and through sockets at the same time."""

    def test_byte_for_byte(self):
        store = self.new_store("external")
        text = f"fen,chi2,note\n{START},76,a\n{ENDING},,b\n{ROOKS},12.34,\n"
        self.cli("import", "-", input=text, address=store)
        asks = [["scan"], ["scan", "--json", "--desc"], ["count"], ["get", START, ENDING],
                ["get", ABSENT], ["scan", "--min", "7", "--max", "3"], ["dump"], ["get", "x"],
                ["put", START, "--chi2", "3,0"], ["scan", "--material", "KQQQQQQQQQQQvZ"],
                ["verify"], ["scan", "--limit", "1", "--print-cursor"],
                ["put", START, "--note", os.fsdecode(b"\xff")], ["put", START, "--eval", "a\n:1:1"]]
        with harness.start_daemon({"default": store},
                                  listen=["unix:" + self.path("s"), "tcp:127.0.0.1:0"]) as daemon:
            self.assertEqual(len(daemon.addresses), 2)
            for ask in asks:
                here = run_cli(*ask, address=store)
                for address in daemon.addresses:
                    there = run_cli(*ask, address=address)
                    self.assertEqual((here.returncode, here.stdout, here.stderr),
                                     (there.returncode, there.stdout, there.stderr), ask)
            done = self.cli("count", "--store", "nonesuch", code=3, address=daemon.address)
            self.assertIn("nonesuch", done.stderr)
            # The daemon writes; this process must not, and is told who does.
            self.cli("put", START, "--note", "x", code=3, address=store)
