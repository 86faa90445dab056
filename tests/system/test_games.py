# SPDX-License-Identifier: MIT
"""Games into a store and out again: the command line by directory and through a daemon, files of
all kinds, and everything that can stop an import half-way."""

import bz2
import gzip
import json
import lzma
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import harness
from cli_base import MASTERS, START, Base, spawn, summary
from pychistore import (ADD, SUBTRACT, Client, Closed, Connection, Failure, Game, IMPORT_OVERHEAD,
                        frame, pb)

SLOW = os.environ.get("CHISTORE_SANITIZE", "none") != "none"

# Rounds in which something is killed at a random moment.
KILLS = 3 if SLOW else 6


def content(path=MASTERS):
    with open(path, "rb") as file:
        return file.read()


def games_of(text):
    """The games of a file of ours, each with its tags."""
    return [b"[Event " + part for part in text.split(b"[Event ")[1:]]


def blown_up(copies):
    """Many games: each copy has players of its own, so that none is known."""
    text = content()
    return b"".join(text.replace(b'[White "', b'[White "%d ' % i) for i in range(copies))


class Games(Base):
    def count(self, address, name="games"):
        return int(summary(self.out("info", address=address))[name])

    def dump(self, address):
        return self.counts(address)

    def imported(self, name="reference", *more, statistic="control"):
        """A store with all the games of the file, and its dump."""
        store = self.path(name)
        self.cli("import", "--statistic", statistic, *more, MASTERS, address=store)
        return store, self.dump(store)

    def daemon(self, statistic="control", *extra):
        store = self.new_store(statistic)
        return store, harness.start_daemon({"default": store}, extra_args=extra)


class Importing(Games):
    def test_directory_and_daemon(self):
        """Both ways lead to the same store, and the same words."""
        local = self.out("import", "--statistic", "outcome", MASTERS, address=self.path("new"))
        _, daemon = self.daemon("outcome")
        with daemon:
            remote = self.out("import", MASTERS, address=daemon.address)
            self.assertEqual(local, remote)
            self.assertEqual(self.dump(self.path("new")), self.dump(daemon.address))
            self.assertEqual(summary(local)["imported"], "300")
            self.assertEqual(self.count(daemon.address), 300)

    def test_a_tag_in_another_case_counted_for_the_import_alone(self):
        store = self.path("store")
        text = '[Event "x"]\n[whiteelo "2700"]\n[BLACKELO "2600"]\n\n1. e4 1-0\n'
        self.out("import", "--both", "2550..", "--format", "pgn", "-", address=store, input=text)
        rows = self.out("games", "--both", "2550..", "--json", address=store)
        self.assertEqual(json.loads(rows)["white_elo"], 2700)
        self.assertIn('[WhiteElo "2700"]', self.out("game", "1", address=store))

    def test_again_changes_nothing(self):
        store, before = self.imported()
        again = summary(self.out("import", MASTERS, address=store))
        self.assertEqual((again["imported"], again["already"]), ("0", "300"))
        self.assertEqual(self.dump(store), before)
        self.assertIn("sound\tyes", self.out("verify", address=store))

    def test_subtract(self):
        """Half of the games in, all in, half out again: as if those had never been there."""
        games = games_of(content())
        half = self.write("half.pgn", b"".join(games[:150]))
        rest = self.write("rest.pgn", b"".join(games[150:]))
        for address in (self.path("by-hand"), None):
            with self.subTest(address):
                running = None
                if address is None:
                    _, running = self.daemon()
                    address = running.address
                self.cli("import", half, address=address)
                before = self.dump(address)
                self.cli("import", MASTERS, address=address)
                out = summary(self.out("subtract", rest, address=address))
                self.assertEqual((out["removed"], out["absent"]), ("150", "0"))
                self.assertEqual(self.dump(address), before)
                out = summary(self.out("subtract", rest, address=address))
                self.assertEqual((out["removed"], out["absent"]), ("0", "150"))
                self.assertEqual(self.dump(address), before)
                if running:
                    running.stop()

    def test_packed(self):
        """Told by content; standard input too, and several files in one go."""
        text = content()
        _, before = self.imported()
        packed = {"a.gz": gzip.compress(text), "b": bz2.compress(text), "c.xz": lzma.compress(text),
                  "d.txt": b"\xef\xbb\xbf\r\n" + text}
        if shutil.which("zstd"):
            packed["e.pgn.zst"] = subprocess.run(["zstd", "-c"], input=text, check=True,
                                                 stdout=subprocess.PIPE).stdout
        for name, data in packed.items():
            with self.subTest(name):
                store = self.path("store-" + name)
                self.cli("import", self.write(name, data), address=store)
                self.assertEqual(self.dump(store), before)
                store = self.path("stdin-" + name)
                self.cli("import", "-", input=data, address=store)
                self.assertEqual(self.dump(store), before)
        games = games_of(text)
        parts = [self.write(f"{i}.pgn", b"".join(games[i::3])) for i in range(3)]
        store = self.path("parts")
        self.assertEqual(summary(self.out("import", *parts, address=store))["games"], "300")
        self.assertEqual(self.dump(store), before)

    def test_options(self):
        store = self.path("store")
        out = json.loads(self.out("import", "--max-ply", 4, "--min-games", 10, "--threads", 2,
                                  "--memory", "16M", "--json", MASTERS,
                                  address=store))
        self.assertGreater(out["dropped"], 0)
        self.assertEqual(out["imported"], 300)
        self.assertEqual(self.out("scan", "--min-games", 1, address=store),
                         self.out("scan", "--min-games", 10, address=store))
        # What was dropped cannot be taken out again.
        out = summary(self.out("subtract", MASTERS, address=store))
        self.assertEqual((out["removed"], out["skipped"]), ("0", "300"))

    def test_kind_of_store(self):
        store, _ = self.imported("outcome", statistic="outcome")
        done = self.cli("import", "--statistic", "control", MASTERS, code=2, address=store)
        self.assertRegex(done.stderr, "outcome.*control")
        with harness.start_daemon({"default": store}) as daemon:
            done = self.cli("import", "--statistic", "control", MASTERS, code=2,
                            address=daemon.address)
            self.assertRegex(done.stderr, "outcome.*control")
            self.cli("import", "--statistic", "outcome", MASTERS, address=daemon.address)
            done = self.cli("import", "--memory", "1G", MASTERS, code=2, address=daemon.address)
        self.cli("subtract", MASTERS, code=3, address=self.path("absent"))
        self.assertFalse(os.path.exists(self.path("absent")))
        os.mkdir(self.path("full"))
        self.write("full/something", "x")
        self.cli("import", MASTERS, code=3, address=self.path("full"))

    def test_directory_that_is_served(self):
        """Told before the first byte is read: no one waits for gigabytes to be refused."""
        store, running = self.daemon()
        with running:
            for command in ("import", "subtract"):
                child = spawn(command, *(["--format", "pgn"] if command == "import" else []), "-",
                              address=store, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8")
                self.assertEqual(child.wait(harness.CLI_TIMEOUT), 3)
                with child.stdout, child.stderr, child.stdin:
                    self.assertEqual(child.stdout.read(), "")
                    self.assertRegex(child.stderr.read(),
                                     rf"served by chistored, process {running.pid}, "
                                     rf"at {re.escape(running.address)}: use that address")
            self.assertEqual(self.count(store), 0)
            # It said "another process has the store open", and not which, nor what to do.
            self.assertIn(f"at {running.address}: use that address",
                          self.cli("compact", address=store, code=3).stderr)
        self.cli("import", MASTERS, address=store)

    def test_two_that_make_the_same_store(self):
        """The second is told what happened and what to do; nothing is mixed."""
        store = self.path("store")
        slow = spawn("import", "--format", "pgn", "-", address=store, stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        slow.stdin.write(content())
        slow.stdin.flush()
        self.cli("import", MASTERS, address=store)
        before = self.dump(store)
        stdout, stderr = slow.communicate()
        self.assertEqual((slow.returncode, stdout), (3, b""))
        self.assertEqual(stderr.decode().splitlines(), [
            f"chistore: '{store}' holds a store already; it came while the games were read, "
            "nothing was stored"])
        self.assertEqual(self.dump(store), before)
        self.assertEqual(summary(self.out("import", MASTERS, address=store))["already"], "300")
        self.assertEqual([n for n in os.listdir(self.dir) if n.startswith(".store")], [])

    def test_remarks(self):
        """The first 20 are printed, all of them with --verbose, and all are counted."""
        bad = b'[Event "%d"]\n[White "%d"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf9 1-0\n\n'
        path = self.write("bad.pgn", b"".join(bad % (i, i) for i in range(30)))
        _, daemon = self.daemon()
        with daemon:
            for address in (self.path("store"), daemon.address):
                done = self.cli("import", path, address=address)
                self.assertEqual(done.stderr.count("bad.pgn:"), 20)
                self.assertIn("10 more", done.stderr)
                self.assertRegex(done.stderr, r"bad\.pgn:5: game 1: ")
                out = summary(done.stdout)
                self.assertEqual((out["imported"], out["cut"]), ("30", "30"))
                done = self.cli("subtract", "--quiet", path, address=address)
                self.assertEqual((done.stderr, summary(done.stdout)["cut"]), ("", "30"))
                done = self.cli("import", "--verbose", "--strict", path, address=address)
                self.assertEqual(done.stderr.count("bad.pgn:"), 30)
                self.assertEqual(summary(done.stdout)["imported"], "0")

    def test_conflicts_and_known_games(self):
        """Two results of one game; and what is told only when it is asked for."""
        path = self.write("odd.pgn", b'[White "a"]\n[Result "1-0"]\n\n1. e4 0-1\n\n'
                          b'[White "b"]\n[Result "*"]\n\n1. d4 0-1\n\n[White "c"]\n\n*\n')
        _, daemon = self.daemon()
        with daemon:
            for address in (self.path("store"), daemon.address):
                done = self.cli("import", path, address=address)
                out = summary(done.stdout)
                self.assertEqual((out["imported"], out["empty"], out["conflicts"]),
                                 ("2", "1", "1"))
                self.assertEqual(done.stderr, "chistore: %s:4: game 1: a - ?: its Result tag says "
                                 "1-0, its moves end with 0-1; the tag counts\n" % path)
                counts = json.loads(self.out("get", "--json", START, address=address))
                self.assertEqual((counts["white"], counts["black"]), (1, 1))
                again = self.cli("import", "--verbose", path, address=address).stderr
                for told in ("odd.pgn:1: game 1: it is counted already",
                             "odd.pgn:6: game 2: it is counted already",
                             "odd.pgn:11: game 3: c - ?: it has no moves"):
                    self.assertIn(told, again)

    def test_filters(self):
        """Of 300 games as many as their tags say; the others are not known afterwards."""
        tags = [dict(re.findall(r'\[(\w+) "([^"]*)"\]', game))
                for game in content().decode("latin-1").split("[Event ")[1:]]
        elo = [[int(game.get(side + "Elo") or 0) for side in ("White", "Black")]
               for game in tags]
        players = [game["White"] + "|" + game["Black"] for game in tags]
        # Openings are those of the moves: as the store of all the games tells them.
        self.cli("import", MASTERS, address=self.path("all"))
        ecos = [json.loads(row)["eco"] for row in
                self.out("games", "--json", "--limit", "300", address=self.path("all")).splitlines()]
        cases = [
            (["--player", "kalvik, vladimir"], [bool(re.search("Kalvik,? ?V", p)) for p in players]),
            (["--since", "2003", "--until", "2005"],
             ["2003" <= game["Date"][:4] <= "2005" for game in tags]),
            (["--rating", "2700.."], [max(pair) >= 2700 for pair in elo]),
            (["--both", "2650..2750"],
             [all(2650 <= one <= 2750 for one in pair) for pair in elo]),
            (["--average", "..2500"], [all(pair) and sum(pair) <= 5000 for pair in elo]),
            (["--result", "0-1,1/2-1/2"], [game["Result"] in ("0-1", "1/2-1/2") for game in tags]),
            (["--eco", "B2..C1", "--result", "1-0"],
             ["B20" <= eco <= "C19" and game["Result"] == "1-0" for eco, game in zip(ecos, tags)]),
        ]
        _, daemon = self.daemon()
        with daemon:
            for options, wanted in cases:
                local = summary(self.out("import", *options, MASTERS, address=self.path("one")))
                shutil.rmtree(self.path("one"))
                remote = summary(self.out("import", *options, MASTERS, address=daemon.address))
                n = str(sum(wanted))
                self.assertTrue(0 < sum(wanted) < 300, options)
                for out in (local, remote):
                    self.assertEqual((out["imported"], out["filtered"], out["games"]),
                                     (n, str(300 - sum(wanted)), "300"), options)
                out = summary(self.out("subtract", *options, MASTERS, address=daemon.address))
                self.assertEqual((out["removed"], out["absent"]), (n, "0"))
            self.assertEqual(self.count(daemon.address), 0)
            for address in (self.path("none"), daemon.address):
                bad = self.cli("import", "--year", "2001..2000", MASTERS, code=2, address=address)
                self.assertIn("--year: in '2001..2000' the lower bound is above", bad.stderr)
                bad = self.cli("subtract", "--moves", "e4", MASTERS, code=2, address=address)
                self.assertEqual(bad.stderr, "chistore: filter: moves cannot be asked of games in "
                                 "files\n")

    def test_notes_that_the_server_leaves_out(self):
        games = b"".join(b'[White "%d"]\n\n1. e4 Nf9 *\n\n' % i for i in range(1100))
        path = self.write("bad.pgn", games)
        _, daemon = self.daemon()
        with daemon:
            told = self.cli("import", "--verbose", path, address=daemon.address).stderr
            self.assertEqual(told.count("is not a"), 999)
            self.assertIn("2 more remarks; the server sends no more", told)

    def test_info(self):
        store, _ = self.imported()
        out = summary(self.out("info", address=store))
        self.assertEqual(int(out["games"]), sum(int(out["games_" + result]) for result in
                                                ("white", "draws", "black", "other")))
        used = int(out["used_bytes"])
        self.assertAlmostEqual(float(out["bytes_per_game"]), used / 300, delta=0.01)
        self.assertAlmostEqual(float(out["bytes_per_position"]), used / int(out["positions"]),
                               delta=0.01)


class Trouble(Games):
    def test_mixed(self):
        epd = self.write("x.epd", START + "\n")
        plain = self.write("y", "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1\n")
        store = self.path("store")
        for files in ((MASTERS, epd), (epd, MASTERS), (MASTERS, plain), (plain, MASTERS)):
            done = self.cli("import", *files, code=2, address=store)
            for name in files:
                self.assertIn(os.path.basename(name), done.stderr)
        for option in (["--engine", "x"], ["--add"]):
            self.cli("import", *option, MASTERS, code=2, address=store)
        for option in (["--max-ply", 5], ["--min-games", 2]):
            self.cli("import", *option, epd, code=2, address=store)
        self.assertFalse(os.path.exists(store))

    def test_cut_and_garbage(self):
        """A file that cannot be read to its end stores nothing, also of those before it."""
        store, before = self.imported()
        fresh = self.write("fresh.pgn", b'[White "A"]\n[Result "*"]\n\n1. h4 *\n')
        packed = gzip.compress(content())
        cut = self.write("cut.pgn.gz", packed[:len(packed) // 2])
        for address in (store, self.path("none")):
            done = self.cli("import", fresh, cut, code=3, address=address)
            self.assertIn("cut.pgn.gz", done.stderr)
            self.assertIn("nothing was stored", done.stderr)
        self.assertFalse(os.path.exists(self.path("none")))
        self.assertEqual(self.dump(store), before)
        self.cli("import", fresh, self.path("absent.pgn"), code=2, address=store)
        # Without digits no move can stand in it: one in fifty would hold a game of one move.
        noise = harness.seed().randbytes(100000).translate(None, b"0123456789")
        self.cli("import", "--format", "pgn", self.write("noise", noise), code=3, address=store)
        self.assertEqual(summary(self.out("info", address=store))["games"], "300")

    def test_a_damaged_file_was_imported(self):
        """One flipped bit, in a check alone or where a joined file begins: nothing is stored, and the
        file, the place and the reason are told."""
        store, before = self.imported()
        whole = content()
        half = whole.index(b"[Event ", len(whole) // 2)
        for name, pack in (("x.pgn.gz", gzip.compress), ("x.pgn.bz2", bz2.compress),
                           ("x.pgn.xz", lzma.compress)):
            parts = [pack(whole[:half]), pack(whole[half:])]
            self.cli("import", self.write(name, b"".join(parts)), address=self.path(name + ".store"))
            self.assertEqual(self.dump(self.path(name + ".store")), before)
            for place in (0, len(parts[0]) // 2, len(parts[0]) - 5, len(parts[0]),
                          len(b"".join(parts)) - 1):
                bad = bytearray(b"".join(parts))
                bad[place] ^= 0x20
                for address in (store, self.path("none")):
                    done = self.cli("import", self.write(name, bytes(bad)), code=3, address=address)
                    self.assertRegex(done.stderr, name + r".*(damaged at byte \d+: |it is damaged|"
                                     r"after \d+ bytes .* cut short).*nothing was stored")
        self.assertEqual(self.dump(store), before)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_archives_and_wide_text_seemed_empty(self):
        """What is no text is refused, with what to do, and does not count as a file of no games."""
        text = content()
        member = b"masters.pgn".ljust(100, b"\0").ljust(257, b"0") + b"ustar\0"
        files = (("a.zip", b"PK\3\4" + text, "unzip"),
                 ("a.tar", member.ljust(512, b"\0") + text, "tar -xO"),
                 ("a.pgn", text.decode("latin-1").encode("utf-16"), "iconv"),
                 ("b.pgn", text.decode("latin-1").encode("utf-16-le"), "iconv"),
                 ("c", text.decode("latin-1").encode("utf-16-be"), "iconv"),
                 ("d.pgn.gz", gzip.compress(member.ljust(512, b"\0") + text), "tar -xO"))
        for name, bytes_, advice in files:
            done = self.cli("import", self.write(name, bytes_), code=2, address=self.path("none"))
            self.assertIn(name, done.stderr)
            self.assertIn(advice, done.stderr)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_no_games_was_silent(self):
        """A file of something else is not imported without a word."""
        store, before = self.imported()
        path = self.write("positions.epd", START + "\n")
        for command in (["subtract"], ["import", "--format", "pgn"]):
            done = self.cli(*command, path, code=3, address=store)
            self.assertIn("positions.epd: no game was found", done.stderr)
        self.assertEqual(self.dump(store), before)

    def test_interrupted(self):
        """Ctrl-C while standard input is still open: nothing was stored, and it says so."""
        _, daemon = self.daemon()
        with daemon:
            for address in (self.path("store"), daemon.address):
                with self.subTest(address):
                    process = spawn("import", "--format", "pgn", "-", address=address,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
                    # More than the pipe holds: when it is written some of it has been read, and
                    # the signals are caught.
                    process.stdin.write(content())
                    process.stdin.flush()
                    process.send_signal(signal.SIGINT)
                    out, err = process.communicate(timeout=harness.CLI_TIMEOUT)
                    self.assertEqual(process.returncode, 130, err)
                    self.assertIn(b"nothing was stored", err)
                    self.assertEqual(out, b"")
            self.assertEqual(self.count(daemon.address), 0)
        self.assertFalse(os.path.exists(self.path("store")))

    def kill_some(self, address_of, kill):
        """Kills something at random moments of an import; then one runs to its end."""
        rng = harness.seed()
        path = self.write("many.pgn", blown_up(4))
        reference = self.path("reference")
        self.cli("import", path, address=reference)
        for _ in range(KILLS):
            process = spawn("import", path, address=address_of(), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.random() * (3 if SLOW else 0.4))
            except subprocess.TimeoutExpired:
                pass
            kill(process)
            process.wait(harness.CLI_TIMEOUT)
        self.cli("import", path, address=address_of())
        self.assertEqual(self.dump(address_of()), self.dump(reference))

    def test_killed(self):
        """The program: whatever it left, the next one makes it whole."""
        store = self.path("store")
        self.kill_some(lambda: store, lambda process: process.kill())
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".store")], [])

    def test_daemon_killed(self):
        """The daemon: its store is as before or as after."""
        store = self.new_store()
        listen = ["unix:" + self.path("daemon")]
        running = [harness.start_daemon({"default": store}, listen=listen)]

        def kill(_):
            running[0].kill()
            running[0] = harness.start_daemon({"default": store}, listen=listen)

        self.kill_some(lambda: running[0].address, kill)
        running[0].stop()


class Protocol(Games):
    def setUp(self):
        super().setUp()
        self.store, self.daemon_ = self.daemon()
        self.addCleanup(self.stopped)
        self.client = self.enterContext(Client(self.daemon_.address))

    def stopped(self):
        """In order, whatever the test did, unless it was killed."""
        self.assertIn(self.daemon_.stop(), (0, None, -signal.SIGKILL), self.daemon_.stderr_text())

    def other(self):
        return self.enterContext(Client(self.daemon_.address))

    def free_again(self, client):
        """Starts an import as soon as the one before has let go of its place."""
        while True:
            try:
                return client.start_import()
            except Failure as failure:
                self.assertEqual(failure.code, pb.BUSY)

    def test_import(self):
        result, notes = self.client.import_games([("a.pgn", content())])
        self.assertEqual((result.games, result.taken), (300, 300))
        self.assertEqual(len(notes), 0)
        _, expected = self.imported()
        self.assertEqual(self.dump(self.daemon_.address), expected)
        games = self.client.games()
        self.assertEqual(len(games), 300)
        self.assertEqual(games, sorted(games))
        pages = self.client.games(limit=7)
        while len(pages) % 7 == 0 and len(pages) < 300:
            pages += self.client.games(after=pages[-1].id, limit=7)
        self.assertEqual(pages, games)
        explored = self.client.explore(fen=START)
        self.assertEqual(sum(m.played.white + m.played.draws + m.played.black + m.played.other
                             for m in explored.moves), 300)

    def test_every_cut(self):
        """Data cut anywhere, inputs of any size, names of all lengths."""
        text = b"".join(games_of(content())[:20])
        rng = harness.seed()
        job = self.client.start_import()
        job.feed(b"", "empty.pgn")
        at, name = 0, "n" * 255
        while at < len(text):
            piece = text[at:at + rng.choice((1, 2, 3, 100, 5000))]
            job.feed(piece, name)
            at, name = at + len(piece), ""
        self.assertEqual(job.commit().taken, 20)

    def test_put_games(self):
        """Games of a dump: with their positions, in one transaction, or not at all."""
        games = [Game(bytes([i] * 16), i % 4, i == 2, i * 300) for i in range(1, 5)]
        self.client.put([], games=games)
        self.assertEqual(self.client.games(), games)
        self.client.put([], games=games)
        info = self.client.info()
        self.assertEqual((info.games.white, info.games.draws, info.games.black, info.games.other),
                         (1, 1, 1, 1))
        record = pb.Record(counts=pb.Counts(white=1))
        more = [Game(bytes([9] * 16), 0, False, 0)]
        with self.assertRaises(Failure) as caught:
            self.client.put([pb.PutEntry(fen=START, parts=SUBTRACT, record=record)], games=more)
        self.assertEqual(caught.exception.code, pb.INVALID)
        self.assertEqual(self.client.games(), games)
        self.client.put([pb.PutEntry(fen=START, parts=ADD, record=record)])
        done = self.client.put([pb.PutEntry(fen=START, parts=SUBTRACT, record=record)], games=more)
        self.assertEqual((done.removed, done.updated), (1, 0))
        self.assertEqual(len(self.client.games()), 5)

    def test_who_imported(self):
        """The log says who, how much and how long; a name cannot forge a line of it."""
        client = Client(self.daemon_.address, client="a'b\n\u2656c")
        job = client.start_import()
        job.feed(content(), "a")
        job.commit()
        client.close()
        taken = self.client.start_import(kind=pb.SUBTRACT_GAMES)
        taken.feed(content(), "a")
        taken.commit()
        canceled = self.client.start_import()
        self.client.cancel(canceled.id)
        with self.assertRaises(Failure):
            canceled.take()
        self.free_again(self.client).commit()
        self.assertEqual(self.daemon_.stop(), 0)
        log = self.daemon_.stderr_text()
        who = r"'a\\'b\?\?\?\?c' \(connection \d+\)"
        self.assertRegex(log, f"import into store 'default' begun by '[^']+' as {who}\n")
        self.assertRegex(
            log, f"imported 300 of 300 games into store 'default' for {who} in \\d+\\.\\d+ s\n")
        self.assertRegex(log, "took 300 of 300 games out of store 'default' for 'pychistore' ")
        self.assertRegex(log, "gave up an import into store 'default' for 'pychistore' .* after")

    def test_two_at_once(self):
        job = self.client.start_import()
        with self.assertRaises(Failure) as caught:
            self.other().start_import()
        self.assertEqual(caught.exception.code, pb.BUSY)
        job.feed(content(), "a")
        self.assertEqual(job.commit().taken, 300)
        # The answer comes when the place is free.
        self.other().start_import().commit()

    def test_more_than_granted(self):
        job = self.client.start_import()
        piece = b" " * 1000000
        self.assertEqual(job.credit, 4 << 20)
        while job.credit >= len(piece) + IMPORT_OVERHEAD:
            job.send(piece)
        # All that was granted is taken. What is too much is so for certain once more has been
        # sent than could have been granted meanwhile for all of it.
        self.client.ping()
        other = self.other()
        with self.assertRaises(Failure) as caught:
            while True:
                for _ in range(10):
                    job.send(piece)
                job.take()
        self.assertEqual((caught.exception.code, caught.exception.field),
                         (pb.INVALID, "import_data.data"))
        # What is still on the way is skipped, and the connection lives.
        job.send(piece)
        job.end()
        self.client.ping()
        self.free_again(other).commit()

    def test_bad_parts(self):
        """A part that is refused ends the import it belongs to; others belong to none."""
        job = self.client.start_import()
        job.client.send(id=job.id, import_data=pb.ImportData(file="n" * 256, data=b"x"))
        with self.assertRaises(Failure) as caught:
            job.take()
        self.assertEqual((caught.exception.code, caught.exception.field),
                         (pb.TOO_LARGE, "import_data.file"))
        self.client.send(id=999, import_data=pb.ImportData(data=b"x"))
        self.client.send(id=999, import_end=pb.ImportEnd())
        self.client.ping()
        with self.assertRaises(Failure) as caught:
            self.client.start_import(kind=pb.IMPORT_NONE)
        self.assertEqual(caught.exception.field, "import_games.kind")
        job = self.free_again(self.client)
        job.feed(content(), "a")
        job.end()
        job.send(content())
        job.end()
        self.assertEqual(job.commit().taken, 300)

    def test_cancel(self):
        job = self.client.start_import()
        job.feed(content(), "a")
        self.client.cancel(job.id)
        with self.assertRaises(Failure) as caught:
            job.commit()
        self.assertEqual(caught.exception.code, pb.CANCELED)
        self.assertEqual(self.client.info().positions, 0)
        # After ImportEnd either may come, but it is the truth.
        job = self.free_again(self.client)
        job.feed(content(), "a")
        job.end()
        self.client.cancel(job.id)
        try:
            taken = job.commit().taken
        except Failure as failure:
            self.assertEqual(failure.code, pb.CANCELED)
            taken = 0
        self.assertEqual(len(self.client.games()), taken)

    def test_vanishing(self):
        """A client that goes away leaves nothing, and its place."""
        gone = Client(self.daemon_.address)
        gone.start_import().feed(content(), "a")
        gone.close()
        self.free_again(self.client).commit()
        self.assertEqual(self.client.info().positions, 0)
        # One that has said all may end its sending side, and still hears what came of it.
        half = Client(self.daemon_.address)
        job = half.start_import()
        job.feed(content(), "a")
        job.end()
        half.end_sending()
        while True:
            response = job.take()
            if response.last:
                break
        self.assertEqual(response.import_games.taken, 300)
        half.close()
        half = Client(self.daemon_.address)
        half.start_import()
        half.end_sending()
        with self.assertRaises(Closed):
            half.receive()
        half.close()

    def test_probes_meanwhile(self):
        """Each is answered, with what is stored: of the games nothing, or all."""
        text = blown_up(4)
        answers = set()
        job = self.client.start_import()
        stop = threading.Event()

        def probe():
            with Client(self.daemon_.address) as client:
                while not stop.is_set():
                    row, = client.probe(fens=[START])
                    answers.add(sum(row.counts) if row.found else 0)

        thread = threading.Thread(target=probe)
        thread.start()
        job.feed(text, "a")
        total = job.commit()
        stop.set()
        thread.join()
        self.assertEqual(total.taken, 1200)
        self.assertLessEqual(answers, {0, 1200})
        row, = self.client.probe(fens=[START])
        self.assertEqual(sum(row.counts), 1200)

    def test_writes_beside(self):
        """Writes of others wait at most for the commit; both are there in the end."""
        job = self.client.start_import()
        job.feed(content(), "a")
        other = self.other()
        record = pb.Record(counts=pb.Counts(white=1))
        entry = pb.PutEntry(fen=START, parts=ADD, record=record)
        other.put([entry])
        job.end()
        other.put([entry])
        self.assertEqual(job.commit().taken, 300)
        row, = self.client.probe(fens=[START])
        self.assertEqual(sum(row.counts), 302)

    def test_stop(self):
        """A stop does not wait for an import: it is canceled, or done, and says which."""
        job = self.client.start_import()
        job.feed(blown_up(2), "a")
        job.end()
        self.daemon_.process.send_signal(signal.SIGTERM)
        try:
            taken = job.commit().taken
        except Failure as failure:
            self.assertEqual(failure.code, pb.CANCELED)
            taken = 0
        except (Closed, OSError):
            self.fail("no answer")
        # A second signal would end it at once.
        self.assertEqual(self.daemon_.process.wait(harness.STOP_TIMEOUT), 0)
        self.assertEqual(self.count(self.store), taken)

    def test_idle(self):
        """Who begins an import and sends nothing loses it."""
        store = harness.make_store(self.path("idle"))
        with harness.start_daemon({"default": store}, extra_args=["--import-timeout", 1000]) as d:
            with Client(d.address) as client:
                job = client.start_import()
                with self.assertRaises(Failure) as caught:
                    job.take()
                self.assertEqual(caught.exception.code, pb.TIMED_OUT)
                self.free_again(client).commit()

    @unittest.skipIf(SLOW, "a sanitizer keeps what was freed")
    def test_names_alone_took_memory_without_limit(self):
        """The daemon holds nothing for inputs of which no data comes."""
        job = self.client.start_import()
        job.feed(content(), "a")
        before = self.daemon_.memory()
        for first in range(0, 100000, 50):
            while job.credit < 50 * IMPORT_OVERHEAD:
                job.take()
            job.credit -= 50 * IMPORT_OVERHEAD
            self.client.send_bytes(b"".join(
                frame(pb.Request(id=job.id, import_data=pb.ImportData(file=f"{i:0255}")).SerializeToString())
                for i in range(first, first + 50)))
        self.client.ping()
        grown = self.daemon_.memory() - before
        # Each of two threads has room for the longest game.
        self.assertLess(grown, 32 << 20)
        self.assertEqual(job.commit().taken, 300)

    def test_names_alone_kept_the_place(self):
        """They are no data: the import times out all the same."""
        store = harness.make_store(self.path("names"))
        with harness.start_daemon({"default": store}, extra_args=["--import-timeout", 500]) as d:
            with Client(d.address) as client:
                job = client.start_import()
                deadline = time.monotonic() + 20
                with self.assertRaises(Failure) as caught:
                    while time.monotonic() < deadline:
                        job.send(name="n")
                        client.ping()
                        if client.waiting[job.id]:
                            job.take()
                        time.sleep(0.05)
                    self.fail("the import is still there")
                self.assertEqual(caught.exception.code, pb.TIMED_OUT)

    def test_turns_of_writers(self):
        """Clients that write without a pause do not keep an import from its turn."""
        stop = threading.Event()

        def write(i):
            record = pb.Record(counts=pb.Counts(white=1))
            entry = pb.PutEntry(fen=START, parts=ADD, record=record)
            with Client(self.daemon_.address) as client:
                while not stop.is_set():
                    client.put([entry])

        threads = [threading.Thread(target=write, args=[i]) for i in range(4)]
        for thread in threads:
            thread.start()
        try:
            job = self.client.start_import()
            job.feed(content(), "a")
            self.assertEqual(job.commit().taken, 300)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_read_only(self):
        store = harness.make_store(self.path("fixed"))
        with harness.start_daemon({"default": store}, extra_args=["--read-only"]) as d:
            with Client(d.address) as client:
                with self.assertRaises(Failure) as caught:
                    client.start_import()
                self.assertEqual(caught.exception.code, pb.READ_ONLY)
                self.assertEqual(client.games(), [])

    def test_server_goes(self):
        """The command line says that it is not known, and what to do."""
        process = spawn("import", "--format", "pgn", "-", address=self.daemon_.address,
                        stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(content())
        process.stdin.flush()
        self.daemon_.kill()
        _, err = process.communicate(timeout=harness.CLI_TIMEOUT)
        self.assertEqual(process.returncode, 3, err)
        self.assertEqual(err.count(b"\n"), 1, err)

    def test_no_last_answer(self):
        """After ImportEnd it is not known, and the program says so, and what to do."""
        path = self.path("socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)

        def serve(peer):
            while True:
                request = pb.Request.FromString(peer.receive_body())
                answer = pb.Response(id=request.id, last=True)
                if request.HasField("hello"):
                    answer.hello.version = 1
                    answer.hello.stores.add(name="default", statistic=pb.CONTROL, writable=True)
                elif request.HasField("info"):
                    answer.info.uuid, answer.info.statistic = bytes(16), pb.CONTROL
                elif request.HasField("import_games"):
                    answer.last = False
                    answer.import_games.credit = 1 << 40
                elif request.HasField("outcome"):
                    answer.code = pb.FORGOTTEN
                elif request.HasField("import_end"):
                    return
                else:
                    continue
                peer.send_bytes(frame(answer.SerializeToString()))
                if answer.code == pb.FORGOTTEN:
                    return

        def serve_both():
            """The import's connection, and the one that asks what became of it."""
            for _ in range(2):
                with Peer.accepted(listener) as peer:
                    serve(peer)

        thread = threading.Thread(target=serve_both)
        thread.start()
        done = self.cli("import", MASTERS, code=3, address="unix:" + path)
        thread.join()
        listener.close()
        self.assertIn("it is not known", done.stderr)
        self.assertIn("harmless", done.stderr)


class Peer(Connection):
    """A server's side of a connection."""

    @classmethod
    def accepted(cls, listener):
        peer = cls.__new__(cls)
        peer.socket, _ = listener.accept()
        peer.pending = b""
        return peer
