# SPDX-License-Identifier: MIT
"""The command line: every command on a directory and against a daemon, with the same output;
imports good and bad; exit codes; what is mistyped, missing, unwritable, full or damaged."""

import bz2
import fcntl
import gzip
import json
import lzma
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

# The tests count what is in the stores they made: a daemon that runs already is of no use.
os.environ.pop("CHISTORE_TEST_ADDR", None)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
START_KEY = "ffff00000000ffff7315213744444444ccccccccfb9da9bf"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
ENDING = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"
ROOKS = "8/8/8/2k5/8/1R6/2PK4/6r1 w - - 0 1"
ABSENT = "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1"
HEAD = "chi2\tfen\tgames\twhite\tdraws\tblack\n"

run_cli = harness.run_cli


def program():
    return os.environ.get("CHISTORE_BIN") or shutil.which("chistore")


def summary(text):
    """Lines of name, tab, value to a dictionary."""
    return dict(line.split("\t", 1) for line in text.splitlines())


def rank(squares):
    """A rank of a FEN from its eight squares, '.' for an empty one."""
    return re.sub(r"\.+", lambda run: str(len(run.group())), squares)


def spawn(*args, address=None, **extra):
    """A running chistore, for what run_cli cannot do: limits, signals, other outputs."""
    environment = dict(os.environ)
    environment.pop("CHISTORE", None)
    command = [program()] + (["-a", address] if address else []) + [str(a) for a in args]
    return subprocess.Popen(command, env=environment, **extra)


class Base(unittest.TestCase):
    """Helpers that check the exit code with every command."""

    def setUp(self):
        self.dir = harness.make_temp_dir()

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        path = self.path(name)
        data = content if isinstance(content, bytes) else content.encode()
        with open(path, "wb") as file:
            file.write(data)
        return path

    def cli(self, *args, code=0, address=None, **extra):
        done = run_cli(*args, address=address, **extra)
        self.assertEqual(done.returncode, code, f"{args}: {done.stdout!r} {done.stderr!r}")
        if code in (2, 3):
            first = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
            self.assertTrue(first.startswith("chistore: "), f"{args}: {first!r}")
        return done

    def out(self, *args, **extra):
        return self.cli(*args, **extra).stdout

    def new_store(self, statistic="control"):
        return harness.make_store(self.path("store-" + statistic), statistic)

    def fens(self, n):
        """n distinct positions."""
        for i in range(n):
            white = rank("".join("P" if i >> bit & 1 else "." for bit in range(8)))
            black = rank("".join("p" if i >> (bit + 8) & 1 else "." for bit in range(8)))
            yield f"k7/8/{black}/8/8/{white}/8/7K w - - 0 1"

    def many(self, name, n):
        """A CSV of n distinct positions."""
        rows = [f"{fen},{'n' * 200}{i}" for i, fen in enumerate(self.fens(n))]
        return self.write(name, "\n".join(["fen,note", *rows]) + "\n")


class Commands(Base):
    """Run by two subclasses: on a directory, and against a daemon that serves one."""

    def serve(self, directory):
        """The address to use for a store in `directory`."""
        raise NotImplementedError

    def served(self, statistic="control"):
        return self.serve(self.new_store(statistic))

    def test_put_get_delete(self):
        a = self.served()
        fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-"
        text = self.out("put", fen, "--line", "e4 e7e5", "--note", "caf\u00e9 \"1\"", "--eval",
                        "sf:20:35", "--eval", "lc0:9:mate-3", "--counts", "3,2,1", address=a)
        self.assertEqual(text, f"added\t{START}\n")
        record = json.loads(self.out("get", START, address=a))
        self.assertEqual(record, {
            "fen": START, "chi2": 76.0, "games": 6, "white": 3, "draws": 2, "black": 1,
            "other": 0, "moves": [], "evals": [
                {"engine": "lc0", "depth": 9, "mate": -3, "nodes": None, "pv": [], "date": None},
                {"engine": "sf", "depth": 20, "cp": 35, "nodes": None, "pv": [], "date": None}],
            "line": ["e2e4", "e7e5"], "note": "caf\u00e9 \"1\""})
        self.assertEqual(self.out("put", START, "--eval", "sf:10:99", address=a),
                         f"unchanged\t{START}\n")
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
        for statistic in ("control", "outcome"):
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
        self.assertEqual(record["evals"], [{"engine": "epd", "depth": 12, "cp": 120, "nodes": None,
                                            "pv": ["b3b8"], "date": None}])
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
        for statistic in ("external", "control", "outcome"):
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

    def test_load_of_what_is_no_whole_dump(self):
        a = self.served("external")
        self.fill(a)
        dump = self.out("dump", address=a)
        lines = dump.splitlines(keepends=True)
        self.stop()
        cut = self.cli("load", code=3, address=self.path("cut"), input="".join(lines[:-1]))
        self.assertIn("cut", cut.stderr)
        self.assertIn("10 positions were loaded", cut.stderr)
        bad = lines[:]
        bad[6] = "nonsense\n"
        done = self.cli("load", code=3, address=self.path("bad"), input="".join(bad))
        self.assertIn("7", done.stderr)
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
                ["put", START, "--chi2", "300"], ["scan", "--material", "KQQQQQQQQQQQvZ"],
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


class Usage(Base):
    def test_help(self):
        text = self.out("--help")
        names = [line.split()[0] for line in text.split("Commands:\n")[1].split("\n\n")[0]
                 .splitlines()]
        self.assertEqual(sorted(names), sorted(
            "init key put get delete scan count import info verify backup compact dump load ping "
            "rescore".split()))
        for name in names:
            page = self.out(name, "--help")
            self.assertTrue(page.startswith("Usage: chistore "), page)
            self.assertIn("Example:", page)
            self.assertEqual(self.out("help", name), page)
            self.assertNotRegex(page, r"(?m) $")
        self.assertEqual(self.out("help"), text)
        self.assertRegex(self.out("--version"), r"^chistore \d+\.\d+\.\d+\n$")

    def test_mistyped(self):
        store = self.new_store()
        for args, words in (
                ([], "no command"), (["scna"], "'scan'"), (["xyzzy"], "xyzzy"),
                (["scan", "--lmit", "3"], "'--limit'"), (["scan", "--lim", "3"], "--limit"),
                (["scan", "--limit"], "needs a value"), (["scan", "--limit", "x"], "--limit"),
                (["scan", "--limit=0"], "--limit"), (["scan", "--desc=1"], "takes no value"),
                (["scan", "extra"], "extra"), (["scan", "--min", "256"], "--min"),
                (["scan", "--side", "white"], "--side"), (["scan", "--material", "KX"], "material"),
                (["scan", "--pieces", "0..3"], "--pieces"), (["scan", "-x"], "-x"),
                (["count", "--limit", "3"], "--limit"), (["put"], "FEN"),
                (["put", START, START], "unexpected"), (["delete"], "FEN"),
                (["put", *START.split()], "quotes"), (["get", *START.split()], "quotes"),
                (["put", START, "--eval", "x"], "--eval"), (["put", START, "--counts", "1"], "W,D,L"),
                (["put", START, "--add"], "--counts"), (["backup"], "DEST"), (["import"], "FILE"),
                (["import", "--format", "pgn", "-"], "--format"),
                (["import", self.path("absent")], "No such file"),
                (["import", self.dir], "directory"), (["init", "--statistic", "x"], "external")):
            with self.subTest(args):
                done = self.cli(*args, code=2, address=store)
                self.assertIn(words, done.stderr)
                self.assertIn("--help'", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_address(self):
        done = self.cli("count", code=2)
        self.assertIn("-a ADDRESS", done.stderr)
        self.assertIn("CHISTORE", done.stderr)
        store = self.new_store()
        self.assertEqual(self.out("count", env={"CHISTORE": store}), "0\n")
        self.assertEqual(self.out("count", "-a", store), "0\n")
        self.assertEqual(self.out("count", "--address=" + store), "0\n")
        self.assertEqual(self.out("count", address="file:" + store, env={"CHISTORE": "/x"}), "0\n")
        self.assertEqual(self.out("--json", "-a", store, "count"), '{"count":0}\n')
        for command in ("count", "init", "verify"):
            self.cli(command, "--store", "books", code=2, address=store)
        for address in ("tcp:", "tcp:host", "tcp:host:99999", "unix:", "unix:" + "x" * 200):
            done = self.cli("count", code=2, address=address)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_key(self):
        row = f"{START}\t{START_KEY}\t76.00\n"
        self.assertEqual(self.out("key", START), "fen\tkey\tcontrol\n" + row)
        self.assertEqual(self.out("key", input=f"# x\n\n{START}\r\n{START}"),
                         "fen\tkey\tcontrol\n" + row * 2)
        self.assertEqual(self.out("key", input=b""), b"fen\tkey\tcontrol\n")
        self.assertEqual(json.loads(self.out("key", "--json", START)),
                         {"fen": START, "key": START_KEY, "control": 76.0})
        self.assertIn("\t-\n", self.out("key", "8/8/8/8/8/8/8/K7 w - -"))
        self.assertIsNone(json.loads(self.out("key", "--json", "8/8/8/8/8/8/8/K7 w - -"))["control"])
        done = self.cli("key", "x" * 500, START, code=2)
        self.assertIn(row, done.stdout)
        self.cli("key", code=2, input=b"\0\xff" * 3000)
        self.cli("key", code=2, input="x" * (2 << 20))

    def test_answers_line_by_line(self):
        """A program that asks through a pipe gets its answer before it asks again."""
        child = spawn("key", stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        for _ in range(3):
            child.stdin.write(START + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
            while line.startswith("fen"):
                line = child.stdout.readline()
            self.assertIn(START_KEY, line)
        child.stdin.close()
        self.assertEqual(child.wait(), 0)
        child.stdout.close()


    def complete(self, *words):
        """What bash's completion offers for the last word."""
        source = os.path.dirname(os.path.abspath(__file__))
        script = os.path.join(source, "..", "..", "client", "cli", "chistore.bash")
        body = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _chistore; '
                'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", body, "bash", script, program(), *words],
                              capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not there")
    def test_completion(self):
        self.assertEqual(len(self.complete("")), 16)
        self.assertEqual(self.complete("im"), ["import"])
        self.assertEqual(self.complete("-a", "get", "d"), ["delete", "dump"])
        self.assertEqual(self.complete("scan", "--mi"), ["--min", "--min-games"])
        self.assertEqual(self.complete("--json", "scan", "--order", "p"), ["position"])
        self.assertEqual(self.complete("init", "--statistic", ""),
                         ["control", "outcome", "external"])
        path = self.write("some.epd", "")
        self.assertEqual(self.complete("import", path[:-4]), [path])

    @unittest.skipUnless(shutil.which("bash"), "bash is not there")
    def test_completion_behind_an_address_with_colons(self):
        """Bash hands "unix:/a" over as three words."""
        self.assertEqual(self.complete("-a", "unix", ":", "/a", "d"), ["delete", "dump"])
        self.assertEqual(self.complete("-a", "tcp", ":", "h", ":", "1", "scan", "--side", ""),
                         ["w", "b"])
        self.assertEqual(self.complete("-a", "un"), ["unix:"])
        path = self.write("socket", "")
        self.assertEqual(self.complete("-a", "unix", ":", path[:-2]), [path])
        # Where the user took the colon from COMP_WORDBREAKS.
        self.assertEqual(self.complete("-a", "unix:/a", "d"), ["delete", "dump"])
        self.assertEqual(self.complete("-a", "unix:" + path[:-2]), ["unix:" + path])


class Trouble(Base):
    def test_missing_and_wrong_paths(self):
        done = self.cli("count", code=3, address=self.path("absent"))
        self.assertIn("init", done.stderr)
        os.mkdir(self.path("empty"))
        self.cli("count", code=3, address=self.path("empty"))
        done = self.cli("count", code=3, address=self.write("file", "x"))
        self.assertNotIn("init", done.stderr)
        self.cli("count", code=3, address="unix:" + self.path("no-socket"))
        self.cli("init", code=3, address=self.path("no/such/parent"))
        store = self.new_store()
        self.cli("init", code=3, address=store)
        self.assertEqual(self.cli("init", code=3, address=store).stdout, "")
        self.cli("init", address=self.path("empty"))
        self.assertNotEqual(run_cli("init", address="unix:" + self.path("x")).returncode, 0)

    def as_nobody(self, *args, address):
        """Exit code and messages of a command run by somebody without rights."""

        def drop():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        try:
            child = spawn(*args, address=address, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=drop)
        except PermissionError:
            self.skipTest("the program cannot be run by others")
        _, stderr = child.communicate()
        return child.returncode, stderr.decode()

    def test_without_rights(self):
        store = self.new_store()
        self.cli("put", START, address=store)
        os.chmod(self.dir, 0o755)
        os.chmod(store, 0o000)
        code, stderr = self.as_nobody("count", address=store)
        self.assertEqual(code, 3, stderr)
        self.assertRegex(stderr, "^chistore: .*([Dd]enied|permission)")
        os.chmod(store, 0o555)
        for name in os.listdir(store):
            os.chmod(os.path.join(store, name), 0o444)
        code, stderr = self.as_nobody("put", ENDING, address=store)
        self.assertEqual(code, 3, stderr)
        code, stderr = self.as_nobody("init", address=self.path("new"))
        self.assertEqual(code, 3, stderr)
        code, stderr = self.as_nobody("dump", self.path("new.dump"), address=store)
        self.assertIn(code, (2, 3), stderr)
        os.chmod(store, 0o755)
        for name in os.listdir(store):
            os.chmod(os.path.join(store, name), 0o644)
        self.assertEqual(self.out("count", address=store), "1\n")

    def test_full_output(self):
        store = self.new_store()
        self.cli("put", START, address=store)
        for args in (["scan"], ["get", START], ["info"], ["verify"], ["dump"], ["--help"],
                     ["key", START], ["count"], ["scan", "--json"]):
            with open("/dev/full", "wb") as full:
                child = spawn(*args, address=store, stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE)
                _, stderr = child.communicate()
            self.assertEqual(child.returncode, 3, args)
            self.assertIn(b"No space left", stderr, args)
            self.assertEqual(stderr.count(b"\n"), 1, stderr)
        self.cli("dump", "/dev/full", code=3, address=store)
        # More than a buffer holds: the reason is known before the end, and still told once.
        self.cli("import", self.many("many.csv", 2000), address=store)
        with open("/dev/full", "wb") as full:
            child = spawn("dump", address=store, stdin=subprocess.DEVNULL, stdout=full,
                          stderr=subprocess.PIPE)
            _, stderr = child.communicate()
        self.assertEqual(stderr, b"chistore: cannot write to standard output (No space left on "
                                 b"device)\n")

    def test_closed_descriptors(self):
        """What is printed never lands in a store's file that got the descriptor."""
        store = self.new_store()
        script = '"$0" -a "$1" put "$2" --note x >&- 2>&- <&-; "$0" -a "$1" put "$3" >&-'
        subprocess.run(["sh", "-c", script, program(), store, START, ENDING], check=False,
                       stderr=subprocess.DEVNULL)
        self.assertEqual(self.out("count", address=store), "2\n")
        self.assertIn("sound\tyes", self.out("verify", address=store))

    def test_reader_that_goes_away(self):
        store = self.new_store()
        self.cli("import", "-", input=f"{START}\n{ENDING}\n", address=store)
        # Gone before the first row: the rows would fit a pipe that somebody holds open.
        ours, theirs = os.pipe()
        os.close(ours)
        child = spawn("scan", address=store, stdin=subprocess.DEVNULL, stdout=theirs,
                      stderr=subprocess.PIPE)
        os.close(theirs)
        self.assertEqual(child.stderr.read(), b"")
        child.stderr.close()
        self.assertIn(child.wait(), (-signal.SIGPIPE, 3))

    def test_full_disk(self):
        """Past the limit nothing is stored; what was acknowledged before is whole."""
        store = self.new_store()
        self.cli("put", START, address=store)
        path = self.many("many.csv", 30000)
        size = os.path.getsize(os.path.join(store, "data.mdb"))
        limit = size + 1000000

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        child = spawn("import", path, address=store, stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limited)
        stdout, stderr = child.communicate()
        self.assertEqual(child.returncode, 3, stderr)
        self.assertIn(b"chistore: ", stderr)
        stored = int(summary(stdout.decode())["stored"])
        self.assertGreaterEqual(int(self.out("count", address=store)) - 1, stored)
        self.assertIn("sound\tyes", self.out("verify", address=store))
        self.cli("get", START, address=store)
        self.assertEqual(summary(self.out("import", path, address=store))["rejected"], "0")

    def test_dump_that_fails_keeps_the_old_one(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 2000), address=store)
        path = self.write("old.dump", "old")

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        child = spawn("dump", path, address=store, stdin=subprocess.DEVNULL,
                      stderr=subprocess.PIPE, preexec_fn=limited)
        child.communicate()
        self.assertEqual(child.returncode, 3)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual([n for n in os.listdir(self.dir) if n.endswith(".tmp")], [])

    def temporaries(self):
        return [n for n in os.listdir(self.dir) if n.endswith(".tmp")]

    def test_dump_that_is_stopped_leaves_nothing(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 60000), address=store)
        path = self.write("old.dump", "old")
        code, deadline = 0, time.monotonic() + 60
        # Held as soon as its file is there; on a bad day it has come to its end all the same.
        while code == 0 and time.monotonic() < deadline:
            self.write("old.dump", "old")
            child = spawn("dump", path, address=store, stdin=subprocess.DEVNULL)
            while child.poll() is None and not self.temporaries():
                pass
            for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
                child.send_signal(number)
            code = child.wait()
        self.assertEqual(code, 143)
        self.assertEqual(self.temporaries(), [])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_load_that_is_stopped_keeps_what_it_read(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 8000), address=store)
        dump = self.out("dump", address=store, input=b"")
        made = self.path("made")
        child = spawn("load", address=made, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdin.write(dump[:-200])
        child.stdin.flush()
        while self.waiting(child.stdin) > 0:
            self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate()
        self.assertEqual(child.returncode, 130, stderr)
        loaded = int(re.search(rb"(\d+) positions were loaded", stderr).group(1))
        self.assertGreater(loaded, 5000)
        self.assertEqual(self.out("count", address=made), f"{loaded}\n")
        self.cli("load", address=made, input=dump)
        self.assertEqual(self.out("dump", address=made, input=b""), dump)

    def test_cut_and_damaged_input(self):
        store = self.new_store()
        with open(self.many("many.csv", 5000), "rb") as file:
            packed = gzip.compress(file.read())
        path = self.write("cut.csv.gz", packed[:len(packed) // 2])
        good = self.write("good.epd", START + "\n")
        done = self.cli("import", path, good, code=3, address=store)
        self.assertRegex(done.stderr, r"cut\.csv\.gz:[1-9]\d*: truncated")
        self.cli("get", START, address=store)
        self.assertIn("sound\tyes", self.out("verify", address=store))
        self.cli("import", self.write("x.csv", "position\nx\n"), code=2, address=store)
        self.cli("import", self.write("x.pgn", "[Event \"x\"]\n"), code=2, address=store)

    @staticmethod
    def waiting(pipe):
        """Bytes that the reader has not taken yet."""
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]

    def interrupted(self, signal_number):
        """Sends a signal to an import that waits for more; returns its code and summary."""
        store = self.path(f"store-{signal_number}")
        harness.make_store(store)
        child = spawn("import", "--format", "csv", "-", address=store, stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(self.many("many.csv", 12000), "rb") as file:
            child.stdin.write(file.read())
        child.stdin.flush()
        # Once the pipe is empty two chunks of 5,000 are on their way, and the rest is gathered.
        deadline = time.monotonic() + 60
        while self.waiting(child.stdin) > 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.waiting(child.stdin), 0)
        child.send_signal(signal_number)
        stdout, stderr = child.communicate()
        return store, child.returncode, stdout.decode(), stderr

    def test_interrupt(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            store, returned, stdout, stderr = self.interrupted(number)
            self.assertEqual(returned, code, stderr)
            numbers = summary(stdout)
            self.assertGreater(int(numbers["read"]), 0)
            self.assertEqual(numbers["stored"], numbers["read"])
            self.assertEqual(self.out("count", address=store), numbers["stored"] + "\n")
            self.assertIn("sound\tyes", self.out("verify", address=store))

    def test_kill(self):
        store, returned, _, _ = self.interrupted(signal.SIGKILL)
        self.assertEqual(returned, -signal.SIGKILL)
        self.assertIn("sound\tyes", self.out("verify", address=store))
        numbers = summary(self.out("import", self.path("many.csv"), address=store))
        self.assertEqual(numbers["read"], numbers["stored"])
        self.assertEqual(self.out("count", address=store), "12000\n")

    def test_progress(self):
        """A bar on a terminal; nothing when quiet, and nothing of it where no terminal is."""
        path = self.many("many.csv", 60000)
        for args, shown in ((["import"], True), (["import", "--quiet"], False)):
            store = harness.make_store(self.path("store" + args[-1]))
            ours, theirs = pty.openpty()
            child = spawn(*args, path, address=store, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            seen = b""
            try:
                while part := os.read(ours, 65536):
                    seen += part
            except OSError:
                pass  # a terminal's other end is closed
            os.close(ours)
            self.assertEqual(child.wait(), 0)
            self.assertEqual(b"%  " in seen and b"ETA" in seen, shown, seen)
            self.assertTrue(shown or seen == b"", seen)
        store = harness.make_store(self.path("plain"))
        done = self.cli("import", path, address=store)
        self.assertNotIn("\r", done.stderr)

    def test_verify_survives_what_kills_a_reader(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 20000), address=store)
        data = os.path.join(store, "data.mdb")
        size = os.path.getsize(data)
        with open(data, "r+b") as file:
            for page in range(2, size // 4096):
                file.seek(page * 4096 + 16)
                file.write(b"\xff" * 1024)
        # What a sanitizer says of the child may stand before our own words.
        done = run_cli("verify", address=store)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^chistore: .")
        self.assertNotIn("sound\tyes", done.stdout)


class Demo(unittest.TestCase):
    def test_demo(self):
        """Shows what it says, and leaves nothing behind."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        build = os.path.join(os.path.dirname(program()), "..", "..")
        if not os.path.exists(os.path.join(build, "daemon", "chistored")):
            self.skipTest("the programs are not in a build directory")
        before = [n for n in os.listdir("/tmp") if n.startswith("chistore-demo-")]
        done = subprocess.run([os.path.join(root, "demo", "demo.sh"), build], encoding="utf-8",
                              capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=harness.CLI_TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("read\t2031\n", "ready, listening", "sound\tyes", "errors\t0", "Next: "):
            self.assertIn(text, done.stdout)
        after = [n for n in os.listdir("/tmp") if n.startswith("chistore-demo-")]
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
