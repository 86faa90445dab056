# SPDX-License-Identifier: MIT
"""Merging stores, by directory and through a daemon, and killed in the middle."""

import json
import os
import resource
import signal
import subprocess
import time

import harness
from cli_base import AFTER_E4, ENDING, ROOKS, START, Base, spawn, summary

HEAD = ("chistore-dump\t1\nstatistic\tcontrol\nbase\t0\t0\t0\t0\n"
        "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n")
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
KILLS = int(os.environ.get("CHISTORE_MERGE_KILLS", "12"))


def game(number):
    return f"game\t{number:032x}\t1-0\t-\t-\n"


class Merge(Base):
    def store(self, name, *puts, games=()):
        path = self.path(name)
        self.cli("load", address=path,
                 input=self.sealed(HEAD + "".join(map(game, games)) +
                                   f"end\t0\t{len(games)}\n"))
        for fen, *options in puts:
            self.cli("put", fen, *options, address=path)
        return path

    def pair(self):
        """Two stores with some of everything."""
        one = self.store("one", (START, "--counts", "3,2,1", "--note", "mine", "--eval", "e:9:1"),
                         (ENDING, "--line", "e3d4"), games=(1, 5))
        two = self.store("two", (START, "--counts", "1,1,1", "--note", "theirs", "--eval", "e:9:2",
                                 "--eval", "f:1:7"),
                         (AFTER_E4, "--counts", "9,0,0"), (ENDING, "--note", "drawn"),
                         games=(2, 3, 4))
        return one, two

    def test_merge(self):
        one, two = self.pair()
        before = self.out("dump", address=two)
        done = self.cli("merge", two, address=one)
        self.assertEqual(summary(done.stdout), {
            "stores": "1", "games": "3", "known": "0", "new": "1", "updated": "2", "unchanged": "0",
            "notes_kept": "1"})
        record = json.loads(self.out("get", START, address=one))
        self.assertEqual((record["white"], record["draws"], record["black"]), (4, 3, 2))
        self.assertEqual([(e["engine"], e["cp"]) for e in record["evals"]], [("e", 1), ("f", 7)])
        self.assertEqual(record["note"], "mine")
        record = json.loads(self.out("get", ENDING, address=one))
        self.assertEqual((record["line"], record["note"]), (["e3d4"], "drawn"))
        self.assertEqual(json.loads(self.out("get", AFTER_E4, address=one))["games"], 9)
        self.assertEqual(self.out("dump", address=two), before)
        self.assertIn("end\t3\t5\n", self.counts(one))
        self.cli("verify", address=one)

    def test_every_address_on_either_side(self):
        one, two = self.pair()
        made = self.store("made")
        self.cli("merge", one, address=made)
        self.cli("merge", two, address=made)
        expected = self.out("dump", address=made)
        far_one, far_two = self.path("far-one"), self.path("far-two")
        self.cli("backup", far_one, address=one)
        self.cli("backup", far_two, address=two)
        with harness.start_daemon({"default": far_one}) as first, \
                harness.start_daemon({"default": far_two}) as second:
            here = self.path("here")
            self.cli("backup", here, address=one)
            done = self.cli("merge", "--json", second.addresses[0], address=here)
            self.assertEqual(json.loads(done.stdout)["stores"], 1)
            self.assertEqual(self.out("dump", address=here), expected)
            self.cli("merge", second.addresses[0], address=first.addresses[0])
            self.assertEqual(self.out("dump", address=first.addresses[0]), expected)
            # What is a copy of the other is refused, wherever it is.
            self.cli("merge", far_one, address=first.addresses[0], code=2)
            self.cli("merge", first.addresses[0], address=here, code=2)

    def test_several_at_once(self):
        one, two = self.pair()
        three = self.store("three", (ROOKS, "--note", "x"), games=(9,))
        done = self.cli("merge", two, three, address=one)
        self.assertEqual(summary(done.stdout)["stores"], "2")
        self.assertEqual(summary(done.stdout)["games"], "4")
        self.assertIn("end\t4\t6\n", self.out("dump", address=one))

    def test_what_is_refused(self):
        one, two = self.pair()
        common = self.store("common", (ROOKS, "--note", "x"), games=(4, 5, 6))
        before = self.out("dump", address=one)
        self.assertIn("same store", self.cli("merge", one, address=one, code=2).stderr)
        self.cli("merge", two, two, address=one, code=2)
        self.cli("merge", address=one, code=2)
        self.cli("merge", self.path("none"), address=one, code=3)
        self.cli("merge", two, address=self.path("none"), code=3)
        done = self.cli("merge", common, address=one, code=2)
        self.assertIn("1 of its 3 games are counted in both", done.stderr)
        self.assertEqual(summary(done.stdout)["stores"], "0")
        self.assertEqual(self.out("dump", address=one), before)
        # The first is merged, the second is not, and that is said.
        done = self.cli("merge", two, common, address=one, code=2)
        self.assertEqual(summary(done.stdout)["stores"], "1")
        self.assertIn("common", done.stderr)
        with harness.start_daemon({"default": one}) as daemon:
            done = self.cli("merge", common, address=daemon.addresses[0], code=2)
            self.assertIn("2 of its 3 games are counted in both", done.stderr)

    def test_common_games_are_named(self):
        one, two = self.store("one", games=range(1, 40)), self.store("two", games=range(10, 50))
        done = self.cli("merge", two, address=one, code=2)
        self.assertIn("two: game 0000000000000000000000000000000a (1-0) is counted in both",
                      done.stderr)
        self.assertEqual(done.stderr.count("is counted in both"), 20)
        self.assertIn("30 of its 40 games are counted in both stores", done.stderr)
        done = self.cli("merge", "--verbose", two, address=one, code=2)
        self.assertEqual(done.stderr.count("is counted in both"), 30)
        with harness.start_daemon({"default": one}) as daemon:
            done = self.cli("merge", "--verbose", two, address=daemon.addresses[0], code=2)
            self.assertEqual(done.stderr.count("is counted in both"), 30)

    def test_known_games_that_are_only_counted(self):
        """They are left out if all are known: else the counts of the others could not be told apart
        from theirs."""
        with open(os.path.join(DATA, "pgn", "games_300.pgn"), "rb") as file:
            games = file.read()
        middle = games.index(b"[Event ", len(games) // 3)
        whole, part, more = self.store("whole"), self.path("part"), self.path("more")
        for store in (part, more):
            self.cli("init", "--games", "none", address=store)
        self.cli("import", self.write("whole.pgn", games), address=whole)
        self.cli("import", self.write("part.pgn", games[:middle]), address=part)
        self.cli("merge", part, address=more)
        new = self.write("new.pgn", b'[White "A"]\n[Result "1-0"]\n\n1. h4 1-0\n')
        self.cli("import", new, address=more)
        self.cli("put", START, "--note", "theirs", "--eval", "e:3:4", address=part)
        before = self.out("dump", address=whole)
        done = self.cli("merge", "--skip-known", more, address=whole, code=2)
        self.assertIn(f"does not keep {games[:middle].count(b'[Event ')} of these", done.stderr)
        self.cli("merge", "--skip-known", "--count-twice", part, address=whole, code=2)
        self.assertEqual(self.out("dump", address=whole), before)
        with harness.start_daemon({"default": whole}) as daemon:
            done = self.cli("merge", "--skip-known", part, address=daemon.addresses[0])
            found = summary(done.stdout)
            self.assertEqual((found["games"], found["new"], found["updated"]), ("0", "0", "1"))
            self.assertGreater(int(found["known"]), 90)
        record = json.loads(self.out("get", START, address=whole))
        self.assertEqual((record["note"], record["evals"][0]["cp"]), ("theirs", 4))
        self.cli("put", START, "--note", "", address=whole)
        # Counts that no game explains would be lost.
        self.cli("put", ENDING, "--counts", "1,0,0", address=part)
        done = self.cli("merge", "--skip-known", part, address=whole, code=2)
        self.assertIn("more games than those counted in both stores", done.stderr)
        self.assertEqual(self.out("dump", address=whole).count("\ngame\t"),
                         before.count("\ngame\t"))

    def overlapping(self):
        """Files of games of which a third is in both."""
        with open(os.path.join(DATA, "pgn", "games_300.pgn"), "rb") as file:
            games = file.read()
        one, two = (games.index(b"[Event ", len(games) * n // 3) for n in (1, 2))
        return self.write("one.pgn", games[:two]), self.write("two.pgn", games[one:])

    def test_known_games_are_left_out(self):
        """The stores merged are that of both files imported, to the last byte of the dump."""
        first, second = self.overlapping()
        one, two, both = (self.store(name) for name in ("one", "two", "both"))
        self.cli("import", first, address=one)
        self.cli("import", second, address=two)
        self.cli("import", first, second, address=both)
        before = self.out("dump", address=one)
        done = self.cli("merge", two, address=one, code=2)
        self.assertIn("games are counted in both stores; skip them", done.stderr)
        self.assertEqual(self.out("dump", address=one), before)
        found = summary(self.cli("merge", "--skip-known", two, address=one).stdout)
        self.assertEqual(int(found["known"]) + int(found["games"]),
                         self.out("dump", address=two).count("\ngame\t"))
        self.assertGreater(int(found["known"]), 80)
        self.assertEqual(self.out("dump", address=one), self.out("dump", address=both))
        self.assertEqual(self.out("export", "--format", "pgn", address=one),
                         self.out("export", "--format", "pgn", address=both))
        self.cli("verify", address=one)
        # All are known by now; what was put beside them comes.
        self.cli("put", ENDING, "--counts", "1,0,0", address=two)
        self.assertEqual(summary(self.cli("merge", "--skip-known", two, address=one).stdout)["games"],
                         "0")
        self.assertEqual(json.loads(self.out("get", ENDING, address=one))["games"], 1)
        self.cli("verify", address=one)

    def test_a_directory_gives_what_its_dump_gives(self):
        """Read directly, and through a daemon as text: with aliases, gamesets, games of which only
        some positions are there, and some that both have."""
        first, second = self.overlapping()
        more = self.write("more.pgn", b'[White "Aa"]\n[Black "Bb"]\n[WhiteFideId "7"]\n\n'
                          b'1. e4 {best} e5 $1 2. Nf3 Ke4 *\n')
        one = self.store("one")
        self.cli("import", first, address=one)
        for option, rare in (("--skip-known", "1"), ("--count-twice", "2")):
            two = self.path("two" + option)
            self.cli("import", "--min-games", rare, "--max-ply", "30", second, address=two)
            self.cli("import", more, address=two)
            self.cli("gameset", "create", "mine", "--result", "1-0", address=two)
            self.cli("put", ENDING, "--note", "drawn", "--eval", "e:3:4", address=two)
            here, there = self.path("here" + option), self.path("there" + option)
            for copy in here, there:
                self.cli("backup", copy, address=one)
            with harness.start_daemon({"default": two}) as daemon:
                by_text = self.cli("merge", option, daemon.addresses[0], address=there)
            directly = self.cli("merge", option, two, address=here)
            self.assertEqual(directly.stdout, by_text.stdout)
            self.assertEqual(self.out("dump", address=here), self.out("dump", address=there))
            if option == "--skip-known":
                self.cli("verify", address=here)

    def test_read_as_one_state_while_it_is_written(self):
        """A directory is read at one moment; through its daemon a change is noticed instead."""
        one, two = self.pair()
        with harness.start_daemon({"default": two}) as daemon:
            self.cli("merge", two, address=one)
            self.cli("put", ROOKS, "--note", "later", address=daemon.addresses[0])
        self.assertIn("end\t3\t5\n", self.counts(one))

    def test_names_and_gamesets_come_along(self):
        first, second = self.overlapping()
        one, two = self.store("one"), self.store("two")
        self.cli("import", first, address=one)
        self.cli("import", second, address=two)
        names = [line.split("\t") for line in self.out("dump", address=two).splitlines()
                 if line.startswith("name\tplayer\t")]
        member, root = names[-1][3], names[-2][3]
        self.cli("name", "alias", member, root, address=two)
        self.cli("gameset", "create", "free", "--result", "1-0", address=two)
        self.cli("gameset", "create", "taken", "--result", "1-0", address=two)
        self.cli("gameset", "create", "taken", "--result", "0-1", address=one)
        done = self.cli("merge", "--skip-known", two, address=one)
        self.assertIn("gameset 'taken' is there with another filter", done.stderr)
        found = self.out("name", "find", "=" + member, address=one)
        self.assertIn(root, found)
        self.assertIn("free\t", self.out("gameset", "list", address=one))
        self.assertEqual(self.out("games", "--in", "free", "--count", address=one),
                         self.out("games", "--result", "1-0", "--count", address=one))
        self.cli("verify", address=one)

    def test_into_a_store_that_keeps_no_games(self):
        first, second = self.overlapping()
        one, two, both = self.path("one"), self.store("two"), self.path("both")
        for store in (one, both):
            self.cli("init", "--games", "none", address=store)
        self.cli("import", first, address=one)
        self.cli("import", second, address=two)
        self.cli("import", first, second, address=both)
        self.cli("merge", "--skip-known", two, address=one)
        self.assertEqual(self.out("dump", address=one), self.out("dump", address=both))
        self.cli("verify", address=one)

    def test_games_are_counted_twice_only_if_told(self):
        one, two = self.pair()
        self.cli("merge", two, address=one)
        fewer = json.loads(self.out("get", AFTER_E4, address=one))["games"]
        done = self.cli("merge", "--count-twice", two, address=one)
        self.assertEqual((summary(done.stdout)["games"], summary(done.stdout)["known"]), ("0", "3"))
        self.assertEqual(json.loads(self.out("get", AFTER_E4, address=one))["games"], fewer + 9)
        self.assertIn("end\t3\t5\n", self.counts(one))
        self.cli("verify", address=one)

    def test_halves_are_the_whole(self):
        with open(os.path.join(DATA, "pgn", "games_300.pgn"), "rb") as file:
            games = file.read()
        middle = games.index(b"[Event ", len(games) // 3)
        whole, one, two = (self.store(name) for name in ("whole", "one", "two"))
        self.cli("import", "--source", "x", self.write("whole.pgn", games), address=whole)
        self.cli("import", "--source", "x", self.write("one.pgn", games[:middle]), address=one)
        self.cli("import", "--source", "x", self.write("two.pgn", games[middle:]), address=two)
        expected = self.out("dump", address=whole)
        copy = self.path("copy")
        self.cli("backup", copy, address=two)
        self.cli("merge", two, address=one)
        self.assertEqual(self.out("dump", address=one), expected)
        # The other way round, into a daemon; and the games are known afterwards.
        expected = self.counts(whole)
        half = self.path("half")
        self.cli("init", address=half)
        self.cli("import", self.path("one.pgn"), address=half)
        with harness.start_daemon({"default": copy}) as daemon:
            address = daemon.addresses[0]
            self.cli("merge", half, address=address)
            self.assertEqual(self.counts(address), expected)
            self.cli("import", self.path("whole.pgn"), address=address)
            self.assertEqual(self.counts(address), expected)
            # Taken out of one, they can be merged again.
            self.cli("subtract", self.path("one.pgn"), address=address)
            self.cli("merge", half, address=address)
            self.assertEqual(self.counts(address), expected)

    def test_no_room_for_what_is_put_by(self):
        one, two = self.store("one"), self.store("two")
        self.cli("import", self.many("many.csv", 2000), address=two)
        before = self.out("dump", address=one)
        # Less than the dump; a new store's file is smaller.
        limit = 100000

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with harness.start_daemon({"default": two}) as daemon:
            for other, words in ((daemon.addresses[0], b"cannot keep positions in"),
                                 (two, b"cannot write to")):
                process = spawn("merge", other, address=one, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, preexec_fn=limited)
                _, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 3, error)
                self.assertIn(words, error)
        self.assertEqual(self.out("dump", address=one), before)

    def test_stopped_in_good_order(self):
        one, two = self.store("one"), self.store("two")
        self.cli("import", self.many("many.csv", 20000), address=two)
        # While it begins, while the dump is read or while it is applied: all end the same way.
        for milliseconds in (*range(0, 60, 3), 200):
            process = spawn("merge", two, address=one, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 130, -signal.SIGINT), error)
            stored = summary(self.out("info", address=one))["positions"]
            self.assertEqual(stored, "20000" if process.returncode == 0 else "0")
            if process.returncode == 0:
                break

    def test_killed_in_the_middle(self):
        chance = harness.seed()
        one, two = self.store("one", games=(1,)), self.store("two", games=(2, 3))
        self.cli("import", self.many("ours.csv", 1000), address=one)
        self.cli("import", self.many("theirs.csv", 2000), address=two)
        ours, theirs = self.overlapping()
        self.cli("import", ours, address=one)
        self.cli("import", theirs, address=two)
        start = self.path("start")
        self.cli("backup", start, address=one)
        before = self.out("dump", address=start)
        began = time.monotonic()
        self.cli("merge", "--skip-known", two, address=one)
        took = time.monotonic() - began
        after = self.out("dump", address=one)
        self.assertNotEqual(before, after)
        seen = set()
        for i in range(KILLS):
            victim = self.path(f"victim-{i}")
            self.cli("backup", victim, address=start)
            process = spawn("merge", "--skip-known", two, address=victim, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
            try:
                process.wait(chance.uniform(0, 1.1 * took))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            process.wait()
            dump = self.out("dump", address=victim)
            self.assertIn(dump, (before, after))
            seen.add(dump == after)
            self.assertEqual([n for n in os.listdir(self.dir) if n.startswith(".chistore")], [])
            if dump == before:
                self.cli("merge", "--skip-known", two, address=victim)
                self.assertEqual(self.out("dump", address=victim), after)
            self.cli("verify", address=victim)
        print(f"# before and after seen: {sorted(seen)}\n"
              f"# figures: {KILLS} merges killed, each wholly done or not at all", flush=True)
