# SPDX-License-Identifier: MIT
"""The command line's help, completion and exit codes; what is mistyped, missing, unwritable, full,
interrupted or damaged; and the demo."""

import fcntl
import gzip
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
import unittest

import harness
from cli_base import (BRANCH, ENDING, MASTERS, PAGE, START, START_KEY, Base, program, run_cli, spawn,
                      summary)
from pychistore import frame, pb, take_varint


# A new command is added here; its help and its completion are then looked at.
COMMANDS = sorted(
    "alias analyse backup bench chess-db compact count delete drift dump explore export extract find game games gameset gap get "
    "holes import info init key load merge name novelties performance ping propagate publish put pv queue quickstart report rescore review scan spread stats strong subtract suite tempo twins verify weak".split())


LEAF = 2


def lines_of(dump):
    """Without its checksums."""
    return [line for line in dump.splitlines() if not line.startswith("sum\t")]


class Usage(Base):
    def test_length_of_a_position(self):
        """128 bytes are a FEN still, one more is none; what is longer is not printed whole."""
        for length in (127, 128, 129):
            fen = START.ljust(length)
            self.assertEqual(run_cli("key", fen).returncode, 2 if length > 128 else 0)
            done = run_cli("key", "x" * length)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"'{'x' * min(length, 128)}'", done.stderr)

    def test_first_steps(self):
        """Without a command it says what to type, and that works."""
        done = run_cli()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        steps = re.findall(r"^  chistore (.*?)  +\S", done.stderr, re.M)
        self.assertEqual(len(steps), 4)
        self.assertEqual(steps[0], "quickstart FILE.pgn")  # which serves: see test_quickstart.py
        for step in steps[1:]:
            words = step.replace("FILE.pgn", MASTERS).replace("./games", self.path("games")).split()
            self.assertEqual(run_cli(*words).returncode, 0, step)

    def test_help(self):
        text = self.out("--help")
        names = re.findall(r"(?m)^  ([a-z-]+) ", text.split("\n\nOptions,")[0])
        self.assertEqual(sorted(names), COMMANDS)
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli")

        def manual(name):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return file.read()

        def options(text):
            return set(re.findall(r"Fl -([a-z-]+)", text))

        entry = manual("chistore.1")
        self.assertEqual(re.findall(r"(?m)^\.It Xr chistore-(\S+) 1\n(.*)$", entry),
                         re.findall(r"(?m)^  ([a-z-]+) +(.*)$", text.split("\n\nOptions,")[0]))
        shared = options(entry + manual("chistore-filters.7") + manual("man/chistore-scan.1"))
        for name in names:
            page = self.out(name, "--help")
            # The manual has every option of the help, and no other; what several commands share may be told of one.
            own = set(re.findall(r"(?m)^  --([a-z-]+)", page.split("\nOptions of every command:")[0]))
            told = manual(f"man/chistore-{name}.1")
            self.assertEqual(own - options(told) - shared, set(), name)
            self.assertEqual(options(told[told.index(".Sh SYNOPSIS"):told.index(".Sh DESCRIPTION")]) - own, set(), name)
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
                (["scan", "extra"], "extra"), (["scan", "--min", "1,5"], "--min"),
                (["scan", "--min", "300"], "from 0 to 255.99"),
                (["count", "--max", "256"], "from 0 to 255.99"),
                (["scan", "--side", "white"], "--side"), (["scan", "--material", "KX"], "material"),
                (["scan", "--pieces", "0..3"], "--pieces"), (["scan", "-x"], "-x"),
                (["count", "--limit", "3"], "--limit"), (["put"], "a position is missing"),
                (["count", "--=x"], "unknown option '--=x'\n"),
                (["put", START, START], "unexpected"), (["delete"], "POSITION"),
                (["put", *START.split()], "quotes"), (["get", *START.split()], "quotes"),
                (["put", START, "--eval", "x"], "--eval"), (["put", START, "--counts", "1"], "W,D,L"),
                (["put", START, "--add"], "--counts"), (["backup"], "DEST"), (["import"], "FILE"),
                (["import", "--format", "png", "-"], "--format"),
                (["import", "--memory", "1M", "-"], "--memory"),
                (["import", "--max-ply", "0", "-"], "--max-ply"), (["subtract"], "FILE"),
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
        self.assertEqual(self.out("key", "--polyglot", START),
                         f"fen\tkey\tcontrol\tpolyglot\n{row[:-1]}\t5060803636482931868\n")
        # More than an integer with a sign holds.
        self.assertEqual(json.loads(self.out("key", "--polyglot", "--json", "e4"))["polyglot"], 0x823c9b50fd114196)
        self.assertIn("\t-\n", self.out("key", "8/8/8/8/8/8/8/K7 w - -"))
        self.assertIsNone(json.loads(self.out("key", "--json", "8/8/8/8/8/8/8/K7 w - -"))["control"])
        done = self.cli("key", "x" * 500, START, code=2)
        self.assertIn(row, done.stdout)
        self.cli("key", code=2, input=b"\0\xff" * 3000)
        self.cli("key", code=2, input="x" * (2 << 20))

    def test_answers_line_by_line(self):
        """A program that asks through a pipe gets its answer before it asks again."""
        child = spawn("key", stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        for question in ("startpos", START, "startpos"):  # a short one first waited for more
            child.stdin.write(question + "\n")
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
        script = os.path.join(source, "..", "..", "cli", "chistore.bash")
        body = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _chistore; '
                'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", body, "bash", script, program(), *words],
                              capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not there")
    def test_completion(self):
        self.assertEqual(sorted(self.complete("")), COMMANDS)
        self.assertEqual(self.complete("explore", "--tl"), ["--tls-ca", "--tls-cert", "--tls-key"])
        self.assertEqual(self.complete("im"), ["import"])
        self.assertEqual(self.complete("-a", "get", "d"), ["drift", "delete", "dump"])
        self.assertEqual(self.complete("scan", "--mi"), ["--min", "--min-games"])
        self.assertEqual(self.complete("--json", "scan", "--order", "p"), ["position"])
        self.assertEqual(self.complete("bench", "--draw", ""), ["random", "listed"])
        self.assertEqual(sorted(self.complete("init", "--statistic", "")),
                         ["control", "eval", "external", "outcome", "performance", "score"])
        self.assertEqual(self.complete("find", "--to-move", ""), ["white", "black"])
        self.assertEqual(self.complete("queue", "--state", ""), ["waiting", "leased", "failed"])
        self.assertEqual(self.complete("games", "--speed", "b"), ["bullet", "blitz"])
        self.assertEqual(self.complete("gameset", ""), ["create", "list", "show", "drop"])
        self.assertEqual(self.complete("scan", "--material", "K"), [])
        path = self.write("some.epd", "")
        self.assertEqual(self.complete("import", path[:-4]), [path])

    def test_completion_offers_every_option_of_the_help(self):
        for name in COMMANDS:
            options = re.findall(r"^  (--[a-z0-9-]+)", self.out(name, "--help"), re.M)
            self.assertEqual(self.out("_complete", name, "--").split(), options)

    @unittest.skipUnless(shutil.which("bash"), "bash is not there")
    def test_completion_behind_an_address_with_colons(self):
        """Bash hands "unix:/a" over as three words."""
        self.assertEqual(self.complete("-a", "unix", ":", "/a", "d"), ["drift", "delete", "dump"])
        self.assertEqual(self.complete("-a", "tcp", ":", "h", ":", "1", "scan", "--side", ""),
                         ["w", "b"])
        self.assertEqual(self.complete("-a", "un"), ["unix:"])
        path = self.write("socket", "")
        self.assertEqual(self.complete("-a", "unix", ":", path[:-2]), [path])
        # Where the user took the colon from COMP_WORDBREAKS.
        self.assertEqual(self.complete("-a", "unix:/a", "d"), ["drift", "delete", "dump"])
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
        """Exit code and messages of a command run by someone without rights."""

        def drop():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        child = spawn(*args, address=address, stdin=subprocess.DEVNULL,
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=drop)
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
        # Where the tests do not run as root, the user is the one who runs them, and owns the directory.
        os.chmod(self.dir, 0o555)
        code, stderr = self.as_nobody("init", address=self.path("new"))
        self.assertEqual(code, 3, stderr)
        code, stderr = self.as_nobody("dump", self.path("new.dump"), address=store)
        self.assertEqual(code, 3, stderr)
        os.chmod(self.dir, 0o755)
        os.chmod(store, 0o755)
        for name in os.listdir(store):
            os.chmod(os.path.join(store, name), 0o644)
        self.assertEqual(self.out("count", address=store), "1\n")

    def test_full_output(self):
        store = self.new_store()
        self.cli("put", START, address=store)
        for args in (["scan"], ["get", START], ["info"], ["verify"], ["dump"], ["--help"],
                     ["games", "--help"], ["key", START], ["count"], ["scan", "--json"]):
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

    def test_every_limit_of_descriptors(self):
        """From too few for anything to enough: it is done, or what could not be had is said."""
        store = self.new_store()
        self.cli("put", START, address=store)
        beside = os.path.join(self.dir, "beside")
        dump = self.write("a.dump", self.out("dump", address=store))
        for name, address, args in (("info", store, []), ("verify", store, []),
                                    ("backup", store, [beside]), ("compact", store, []),
                                    ("load", beside, [dump])):
            limit, code, said = 3, None, None
            while code != 0:
                limit += 1
                self.assertLess(limit, 50, said)
                done = subprocess.run(["prlimit", f"--nofile={limit}:{limit}", program(), "-a",
                                       address, name, *args], stderr=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, encoding="utf-8", check=False)
                code, said = done.returncode, f"{name}, {limit}: {done.stderr}"
                # Or the loader has not even found the libraries.
                self.assertIn(code, (0, 3, 127), said)
                self.assertTrue(code == 0 or "Too many open files" in said or code == 127, said)
            shutil.rmtree(beside, ignore_errors=True)
        self.assertEqual(self.out("count", address=store), "1\n")

    def test_reader_that_goes_away(self):
        store = self.new_store()
        self.cli("import", "-", input=f"{START}\n{ENDING}\n", address=store)
        # Gone before the first row: the rows would fit a pipe that someone holds open.
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
        self.assertEqual((child.returncode, stdout), (3, b""), stderr)
        self.assertIn(b"chistore: ", stderr)
        self.assertEqual(self.out("count", address=store), "1\n")
        self.assertIn("sound\tyes", self.out("verify", address=store))
        self.cli("get", START, address=store)
        self.assertEqual(summary(self.out("import", path, address=store))["rejected"], "0")

    def test_output_onto_a_file_of_a_store(self):
        """By its name, by links, of this store and of another, also one that is not there yet."""
        stores = [self.new_store(), self.new_store("outcome")]
        for store in stores:
            self.cli("put", START, address=store)
        link = self.path("link")
        os.symlink(stores[1], link)
        os.symlink(os.path.join(stores[0], "data.mdb"), self.path("one.txt"))
        os.symlink(os.path.join(stores[1], "chistore.lock"), self.path("two.txt"))
        os.mkdir(self.path("copy"))
        for name in ("data.mdb", "chistore.lock"):
            shutil.copy(os.path.join(stores[0], name), self.path("copy"))
        os.link(os.path.join(self.path("copy"), "data.mdb"), self.path("three.txt"))
        names = [os.path.join(store, name) for store in (*stores, link)
                 for name in ("data.mdb", "lock.mdb", "chistore.lock", "data.mdb.compact")]
        names += [self.path(name) for name in ("one.txt", "two.txt", "three.txt", "copy/lock.mdb")]
        before = [summary(self.out("info", address=store))["sequence"] for store in stores]
        for path in names:
            for args in (["dump", path], ["export", "--format", "csv", "-o", path],
                         ["propagate", "--since", path]):
                done = self.cli(*args, code=2, address=stores[0])
                self.assertRegex(done.stderr, "^chistore: '.*' is a file of the store in '.*'\n")
        self.assertEqual([n for store in stores for n in os.listdir(store) if "tmp" in n], [])
        done = subprocess.run([program("CHISTORED", "chistored"), "--store", stores[0], "--listen",
                               "unix:" + self.path("s"), "--log-file", names[0]],
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertIn("is a file of the store in", done.stderr)
        for store, generation in zip(stores, before):
            self.assertIn("sound\tyes", self.out("verify", address=store))
            self.assertEqual(summary(self.out("info", address=store))["sequence"], generation)
        # A file beside them is one like any other.
        self.cli("dump", os.path.join(stores[0], "games.dump"), address=stores[0])

    def test_store_inside_another_store(self):
        store = self.new_store()
        self.cli("import", os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", "games_300.pgn"), address=store)
        os.mkdir(os.path.join(store, "sub"))
        os.symlink(os.path.join(store, "sub"), self.path("link"))
        dump = self.write("a.dump", self.out("dump", address=store))
        for place in (os.path.join(store, "new"), os.path.join(store, "sub", "new"), self.path("link/new")):
            for args, address in ((["extract", place], store), (["backup", place], store), (["init"], place),
                                  (["load", dump], place), (["publish", place], store),
                                  (["verify", "--repair", place], store)):
                done = run_cli(*args, address=address)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("is inside the directory of a store", done.stderr, args)
            self.assertFalse(os.path.exists(place))
        self.assertIn("sound\tyes", self.out("verify", address=store))

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

    def test_load_that_is_stopped_loads_nothing(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 8000), address=store)
        dump = self.out("dump", address=store, input=b"")
        for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
            made = self.path(f"made-{code}")
            child = spawn("load", address=made, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdin.write(dump[:-200])
            child.stdin.flush()
            while self.waiting(child.stdin) > 0:
                self.assertIsNone(child.poll())
            child.send_signal(number)
            _, stderr = child.communicate()
            self.assertEqual(child.returncode, code, stderr)
            self.assertFalse(os.path.exists(made))
            self.cli("load", address=made, input=dump)
            self.assertEqual(self.out("dump", address=made, input=b""), dump)

    def test_cut_and_damaged_input(self):
        store = self.new_store()
        with open(self.many("many.csv", 5000), "rb") as file:
            packed = gzip.compress(file.read())
        path = self.write("cut.csv.gz", packed[:len(packed) // 2])
        good = self.write("good.epd", START + "\n")
        done = self.cli("import", good, path, code=3, address=store)
        self.assertRegex(done.stderr, r"cut\.csv\.gz:[1-9]\d*: .* cut short; nothing was stored")
        self.assertEqual(self.out("count", address=store), "0\n")
        self.assertIn("sound\tyes", self.out("verify", address=store))
        self.cli("import", self.write("x.csv", "position\nx\n"), code=3, address=store)
        games = self.write("x.pgn", "[Event \"x\"]\n")
        self.cli("import", "--format", "epd", games, code=2, address=store)

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
        # Once the pipe is empty all positions are read, or about to be.
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
            self.assertEqual(stdout, "")
            self.assertIn(b"nothing was stored", stderr)
            self.assertEqual(self.out("count", address=store), "0\n")
            self.assertIn("sound\tyes", self.out("verify", address=store))

    def test_kill(self):
        store, returned, _, _ = self.interrupted(signal.SIGKILL)
        self.assertEqual(returned, -signal.SIGKILL)
        self.assertEqual(self.out("count", address=store), "0\n")
        self.assertIn("sound\tyes", self.out("verify", address=store))
        numbers = summary(self.out("import", self.path("many.csv"), address=store))
        self.assertEqual(numbers["read"], numbers["stored"])
        self.assertEqual(self.out("count", address=store), "12000\n")

    @staticmethod
    def watch(child, terminal, until):
        """What a child shows that is stopped again and again, for longer than a bar waits to be
        drawn again: so little input is enough. Once `until` is seen it runs on."""
        seen = b""
        while child.poll() is None and until not in seen:
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.11)
            child.send_signal(signal.SIGCONT)
            if select.select([terminal], [], [], 0.01)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:
                    break  # the other end is closed
        try:
            while part := os.read(terminal, 65536):
                seen += part
        except OSError:
            pass
        return seen

    def test_progress(self):
        """A bar on a terminal; nothing when quiet, and nothing of it where no terminal is."""
        path = self.many("many.csv", 60000)
        for args, shown in ((["import"], True), (["import", "--quiet"], False)):
            store = harness.make_store(self.path("store" + args[-1]))
            ours, theirs = harness.pseudo_terminal(self)
            child = spawn(*args, path, path, address=store, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            seen = self.watch(child, ours, b"ETA")
            os.close(ours)
            self.assertEqual(child.wait(), 0)
            self.assertEqual(b"%  " in seen and b"ETA" in seen, shown, seen)
            self.assertTrue(shown or seen == b"", seen)
        store = harness.make_store(self.path("plain"))
        done = self.cli("import", path, address=store)
        self.assertNotIn("\r", done.stderr)

    @staticmethod
    def pages(path, kind, change):
        """Changes each page of that kind that has nodes enough to be one of a large tree's."""
        with open(os.path.join(path, "data.mdb"), "r+b") as file:
            data = bytearray(file.read())
            for at in range(2 * PAGE, len(data), PAGE):
                flags, lower, upper = struct.unpack_from("<HHH", data, at + 10)
                # Of blocks a leaf has a few, which fill it.
                if flags == kind and (lower > 16 + 2 * 12 or lower > 16 + 2 < upper < PAGE // 2):
                    change(data, at, lower)
            file.seek(0)
            file.write(data)

    @staticmethod
    def cut_short(data, at, lower):
        struct.pack_into("<H", data, at + 12, lower - 2)

    @staticmethod
    def zeroed(data, at, lower):
        if at % (7 * PAGE) == 0:
            data[at:at + PAGE] = bytes(PAGE)

    @staticmethod
    def passed_over(data, at, lower):
        """Child 5 is child 6 once more: the pages' numbers are in the first bytes of the nodes."""
        nodes = struct.unpack_from("<HH", data, at + 16 + 2 * 5)
        data[at + nodes[0]:at + nodes[0] + 4] = data[at + nodes[1]:at + nodes[1] + 4]

    def test_walk_that_damage_ends_is_not_the_end(self):
        """Every one of these was answered in part, as if that were all."""
        commands = (["dump"], ["scan"], ["scan", "--desc"], ["scan", "--keys", "--min", "0.01"],
                    ["scan", "--order", "position"], ["scan", "--pieces", "2..31"],
                    ["count", "--pieces", "2..31"], ["count", "--min-games", "1"],
                    ["export", "--format", "jsonl"], ["export", "--pieces", "2..31"])
        sound = self.new_store()
        self.cli("import", self.many("many.csv", 20000), address=sound)
        for name, kind, change in (("leaves", LEAF, self.cut_short),
                                   ("branches", BRANCH, self.cut_short),
                                   ("zeroed", LEAF, self.zeroed),
                                   ("pointers", BRANCH, self.passed_over)):
            store = self.path(name)
            self.cli("backup", store, address=sound)
            self.pages(store, kind, change)
            for command in commands:
                with self.subTest(damage=name, command=command):
                    self.cli(*command, code=3, address=store)
            with harness.start_daemon({"default": store}) as daemon:
                for command in commands:
                    with self.subTest(damage=name, command=command, socket=True):
                        self.cli(*command, code=3, address=daemon.address)

    def test_get_passes_over_a_damaged_record(self):
        """The positions that were asked for together with it were left out without a word. It takes
        its group along, and no more."""
        store = self.new_store()
        self.cli("import", self.many("many.csv", 40), address=store)
        data = os.path.join(store, "data.mdb")
        with open(data, "r+b") as file:
            content = file.read()
            file.seek(0)
            file.write(content.replace(b"nn20", b"nn2x").replace(b"nn31", b"nn3x"))
        asked = "".join(fen + "\n" for fen in self.fens(41))
        with harness.start_daemon({"default": store}) as daemon:
            for address in (store, daemon.address):
                with self.subTest(address=address):
                    done = self.cli("get", code=3, address=address, input=asked)
                    found = len(done.stdout.splitlines())
                    self.assertIn(found, range(1, 39))
                    self.assertEqual(done.stderr.count("not found"), 1)
                    self.assertEqual(len(done.stderr.splitlines()), 41 - found, done.stderr)

    def test_dump_of_fewer_games(self):
        """The store says how many games it has, and must have them all."""
        store = self.new_store()
        games = "".join(f'[White "{i}"]\n[Result "1-0"]\n\n1. e4 1-0\n\n' for i in range(400))
        self.cli("import", self.write("many.pgn", games), address=store)
        self.assertIn("end\t2\t400\n", self.counts(store))
        self.pages(store, LEAF, lambda data, at, lower:
                   struct.pack_into("<H", data, at + 12, 16 + 2 * 10))
        self.assertIn("damaged", self.cli("dump", code=3, address=store).stderr)

    def test_verify_survives_what_kills_a_reader(self):
        store = self.new_store()
        self.cli("import", self.many("many.csv", 20000), address=store)
        data = os.path.join(store, "data.mdb")
        size = os.path.getsize(data)
        with open(data, "r+b") as file:
            for page in range(2, size // 4096):
                file.seek(page * 4096 + 16)
                file.write(b"\xff" * 1024)
        done = run_cli("verify", address=store)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"^chistore: .*damaged")
        self.assertNotIn("sound\tyes", done.stdout)

    def test_a_server_that_moves_the_cursor(self):
        """What it says of damage, and of a failure, comes without what a terminal would obey."""
        evil = "\x1b]0;title\x07 \x9b31m\nchistore: all is well"
        path = self.path("socket")

        def answer(connection, request):
            response = pb.Response(id=request.id, last=True)
            if request.WhichOneof("op") == "hello":
                response.hello.version = request.hello.version
                response.hello.stores.add(name="default", statistic=2, uuid=bytes(16))
            else:
                report = pb.Response(id=request.id, code=pb.OK)
                report.verify.report = evil
                connection.sendall(frame(report.SerializeToString()))
                response.code, response.message = pb.INTERNAL, evil
            connection.sendall(frame(response.SerializeToString()))

        def serve(listener):
            connection, _ = listener.accept()
            data = b""
            with connection:
                while part := connection.recv(65536):
                    data += part
                    while data:
                        length, at = take_varint(data, 0)
                        if len(data) < at + length:
                            break
                        answer(connection, pb.Request.FromString(data[at:at + length]))
                        data = data[at + length:]

        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            thread = threading.Thread(target=serve, args=(listener,), daemon=True)
            thread.start()
            done = run_cli("verify", address="unix:" + path)
            thread.join(60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("title"), 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
        for character in "\x1b\x07\x9b":
            self.assertNotIn(character, done.stderr)

    def test_repair_saves_what_is_whole(self):
        """A store that no longer opens: all that the noise did not hit comes back."""
        store = self.new_store()
        saved = self.path("saved")
        self.cli("import", self.many("many.csv", 5000), address=store)
        before = lines_of(self.out("dump", address=store))
        self.assertEqual(self.cli("verify", "--repair", saved, address=store).returncode, 0)
        self.assertEqual(lines_of(self.out("dump", address=saved)), before)
        data = os.path.join(store, "data.mdb")
        with open(data, "r+b") as file:
            file.write(b"\0" * 4096)  # a meta page
            file.seek(os.path.getsize(data) // 2)
            file.write(b"\xff" * 4096)
        self.assertEqual(run_cli("info", address=store).returncode, 3)
        done = run_cli("verify", "--repair", saved, address=store)
        self.assertEqual(done.returncode, 3)
        self.assertIn("holds a store already", done.stderr)
        again = self.path("again")
        done = run_cli("verify", "--repair", again, address=store)
        fields = summary(done.stdout)
        after = lines_of(self.out("dump", address=again))
        self.assertEqual(set(after[4:-1]) - set(before[4:-1]), set())
        self.assertEqual(len(after) - 5, int(fields["positions"]))
        lost = len(before) - len(after)
        self.assertEqual(done.returncode, 3 if lost > 0 or fields["unsure"] == "yes" else 0)
        self.assertLess(lost, 200)  # no more than a page holds
        self.assertIn("damage: ", done.stderr)
        self.assertIn("sound\tyes", self.out("verify", address=again))

    def test_repair_refuses(self):
        store = self.new_store()
        with harness.start_daemon({"default": store}) as daemon:
            for address, args, code, text in (
                    (daemon.address, ["--repair", self.path("x")], 2, "is a server"),
                    (store, ["--repair", self.path("x")], 3, "is served by"),
                    (store, ["--statistic", "control"], 2, "goes with --repair"),
                    (store, ["--repair", self.path("x"), "--statistic", "odd"], 2, "none of"),
                    (self.path("no"), ["--repair", self.path("x")], 3, "no")):
                done = run_cli("verify", *args, address=address)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertFalse(os.path.exists(self.path("x")))


class Demo(unittest.TestCase):
    def test_demo(self):
        """Shows what it says, and leaves nothing behind."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        build = os.path.join(os.path.dirname(os.environ["CHISTORE_BIN"]), "..", "..")
        if not os.path.exists(os.path.join(build, "daemon", "chistored")):
            self.skipTest("the programs are not in a build directory")
        before = [n for n in os.listdir("/tmp") if n.startswith("chistore-demo-")]
        done = subprocess.run([os.path.join(root, "demo", "demo.sh"), build], encoding="utf-8",
                              capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=harness.CLI_TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^(chistore: )?\d+ of \d+ (games|positions)")
        for text in ("read\t2031\n", "ready, listening", "\n27.71\t8/4k3", "sound\tyes", "errors\t0", "Next: "):
            self.assertIn(text, done.stdout)
        after = [n for n in os.listdir("/tmp") if n.startswith("chistore-demo-")]
        self.assertEqual(after, before)
