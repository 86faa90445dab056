# SPDX-License-Identifier: MIT
"""Games travel with the store: dumped and loaded again it is the same, with the very numbers, names,
aliases, FIDE ids and gamesets; a dump that is not whole makes nothing."""

import json
import os
import re
import shutil
import socket
import threading

import harness
from cli_base import PAGE, Base, run_cli, summary

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PGN = os.path.join(ROOT, "tests", "data", "pgn")
ROUNDS = int(os.environ.get("CHISTORE_CARRY_ROUNDS", "6"))
CHANCE = harness.seed()

GAME = """[Event "Riga"]
[White "{0}"]
[Black "{1}"]
[Date "1950.01.{2:02}"]
[WhiteFideId "{3}"]
[Result "1-0"]

1. e4 {{[%clk 0:03:00] good}} e5 (1... c5 2. Nf3 $1) 2. Nf3 {4} 1-0

"""


def games(*rows):
    return "".join(GAME.format(*row) for row in rows).replace('[WhiteFideId "0"]\n', "")


class Relay:
    """Between a client and a server on a Unix socket: what the server says may be changed on the way,
    as by damage in its store."""

    def __init__(self, path, server, change):
        self.address = "unix:" + path
        self.change = change
        self.changed = 0
        self.server = server.removeprefix("unix:")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            for ends in ((client, server, None), (server, client, self.change)):
                threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source, target, change):
        try:
            while data := source.recv(1 << 20):
                changed = data.replace(*change) if change else data
                self.changed += changed != data
                target.sendall(changed)
            target.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        source.close()

    def close(self):
        self.listener.close()


class Carry(Base):
    def files(self):
        return [os.path.join(PGN, name) for name in sorted(os.listdir(PGN)) if name.endswith(".pgn")]

    def there_and_back(self, store):
        """Loads the store's dump into a new one; its path."""
        back = self.path("back")
        text = self.out("dump", address=store)
        self.cli("load", "-", input=text, address=back)
        self.assertEqual(self.out("dump", address=back), text)
        self.assertIn("errors\t0", self.out("verify", address=back))
        self.assertEqual(self.out("games", "--pgn", address=back),
                         self.out("games", "--pgn", address=store))
        return back

    def names(self, kind, address):
        """Names of a kind with all but their numbers, which a dump gives by text."""
        text = self.out("name", "list", "--kind", kind, "--json", address=address)
        rows = [json.loads(line) for line in text.splitlines()]
        of = {row["number"]: row["name"] for row in rows} | {None: None}
        return sorted(([row["name"], row["games"], row["fide"] or 0, of[row["alias_of"]]]
                       for row in rows), key=str)

    def test_there_and_back(self):
        store = self.path("store")
        self.cli("import", "--quiet", *self.files(), address=store)
        self.cli("gameset", "create", "white", "--result", "1-0", address=store)
        self.cli("gameset", "create", "more", "--in", "white", "--since", "1990", address=store)
        self.cli("subtract", "--result", "0-1", address=store)
        back = self.there_and_back(store)
        for what in (["games"], ["games", "--in", "more"], ["stats"], ["games", "--moves", "e4 c5"]):
            self.assertEqual(self.out(*what, address=back), self.out(*what, address=store))
        self.assertEqual(self.names("player", back), self.names("player", store))
        # Numbers of games that are gone are not given again.
        new = self.write("new.pgn", games(("A", "B", 1, 0, "Nc6")))
        self.assertEqual(*(self.import_one(new, address) for address in (store, back)))

    def import_one(self, pgn, address):
        self.cli("import", pgn, address=address)
        self.assertIn("errors\t0", self.out("verify", address=address))
        return self.out("games", "--white", "A", "--sort", "number", address=address)

    def test_names(self):
        """Two players of one name, one who got his FIDE id later, and aliases; and a name that no
        game has any more."""
        store = self.path("store")
        self.cli("import", self.write("a.pgn", games(
            ("Tal, M", "B", 1, 0, "Nc6"), ("Tal, M", "C", 2, 14101025, "d6"),
            ("Tal, M", "D", 3, 99, "f6"), ("Gone", "E", 4, 7, "a6"),
            ("Tal, Mikhail", "F", 5, 0, "h6"))), address=store)
        self.cli("name", "alias", "Tal, Mikhail", "Tal, M", address=store)
        self.cli("name", "alias", "C", "B", address=store)
        self.cli("name", "alias", "B", "D", address=store)
        self.cli("subtract", "--player", "Gone", address=store)
        back = self.there_and_back(store)
        for kind in ("player", "event"):
            self.assertEqual(self.names(kind, back), self.names(kind, store))

    def test_games_in_part(self):
        """Positions that few games reached are not kept of one import, and are of the next; of
        others only the first moves are counted."""
        store = self.path("store")
        masters = os.path.join(PGN, "games_300.pgn")
        self.cli("import", "--min-games", "3", self.files()[0], masters, address=store)
        self.cli("import", "--max-ply", "12", os.path.join(PGN, "hayes.pgn"), address=store)
        self.cli("import", os.path.join(PGN, "romero.pgn"), address=store)
        self.there_and_back(store)

    def test_lists_of_games_in_part(self):
        """Which games a position counts that was dropped once, and came again: the later ones."""
        store = self.path("store")
        for names in ("AB", "CDE"):
            new = self.write("new.pgn", games(*((name, "x", 1, 0, "Nc6") for name in names[:-1]),
                                              (names[-1], "x", 1, 0, "d6")))
            self.cli("import", "--min-games", "2", new, address=store)
        where = ("games", "--moves", "e4 e5 Nf3 Nc6")
        listed = self.out(*where, address=store)
        self.assertEqual([line.split("\t")[1] for line in listed.splitlines()[1:]], ["C", "D"])
        self.assertEqual(self.out(*where, address=self.there_and_back(store)), listed)
        saved = self.path("saved")
        self.cli("verify", "--repair", saved, address=store)
        self.assertEqual(self.out(*where, address=saved), listed)

    def test_the_example_of_the_format(self):
        with open(os.path.join(ROOT, "store", "FORMAT.md"), encoding="utf-8") as file:
            text = file.read()
        start = text.index("chistore-dump\t2")
        example = text[start:text.index("```", start)]
        store = self.path("store")
        self.cli("load", "-", input=example, address=store)
        self.assertEqual(self.out("dump", address=store), example)
        self.assertEqual(self.out("games", "--player", "Tal, Mikhail", "--count", address=store), "1\n")
        self.assertEqual(self.out("games", "--in", "wins", "--count", address=store), "1\n")

    def test_without_games(self):
        store, back = self.path("store"), self.path("back")
        self.cli("init", "--games", "none", address=store)
        self.cli("import", self.files()[0], address=store)
        text = self.out("dump", address=store)
        self.assertTrue(text.startswith("chistore-dump\t1\n"))
        self.assertEqual(self.counts(store), text)
        full = self.path("full")
        self.cli("import", self.files()[0], address=full)
        self.assertEqual(self.counts(full), text)
        self.cli("load", "-", input=self.out("dump", address=full), address=back)
        done = self.cli("load", "-", input=self.out("dump", address=full), address=store, code=3)
        self.assertIn("the store keeps none", done.stderr)
        # Numbers that are taken are not given twice.
        done = self.cli("load", "-", input=self.out("dump", address=full), address=back, code=3)
        self.assertIn("so has the store", done.stderr)

    def test_repair(self):
        """A sound store is saved with all of its games; of a damaged one what is left agrees."""
        store, saved = self.path("store"), self.path("saved")
        self.cli("import", "--quiet", *self.files(), address=store)
        self.cli("gameset", "create", "white", "--result", "1-0", address=store)
        self.cli("subtract", "--result", "1/2-1/2", address=store)
        self.cli("verify", "--repair", saved, address=store)
        self.assertEqual(self.out("dump", address=saved), self.out("dump", address=store))
        with open(os.path.join(store, "data.mdb"), "rb") as file:
            data = file.read()
        before = int(summary(self.out("info", address=store))["games"])
        lost = found = 0
        for n in range(ROUNDS):
            with open(os.path.join(store, "data.mdb"), "wb") as file:
                file.write(data)
                for _ in range(3):
                    # What makes a page one of its kind stays.
                    file.seek(CHANCE.randrange(2, len(data) // PAGE) * PAGE +
                              CHANCE.randrange(256, PAGE - 40))
                    file.write(CHANCE.randbytes(32))
            again = self.path(f"again-{n}")
            done = run_cli("verify", "--repair", again, address=store)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            self.assertIn("errors\t0", self.out("verify", address=again), done.stderr)
            lost += "lost, and only counted" in done.stderr
            found += int(summary(self.out("info", address=again))["games"]) == before
        print(f"# figures: {ROUNDS} damaged stores saved, {lost} of them without some games, "
              f"{found} with all identities", flush=True)

    def test_a_dump_that_is_not_whole(self):
        store = self.path("store")
        self.cli("import", self.write("a.pgn", games(("A", "B", 1, 0, "Nc6"),
                                                     ("C", "D", 2, 0, "d6"))), address=store)
        self.cli("gameset", "create", "x", "--result", "1-0", address=store)
        lines = self.out("dump", address=store).splitlines(keepends=True)[:-1]
        pgn = [line for line in lines if line.startswith(">")]
        kept = [line for line in lines if line.startswith("kept\t")]
        name = [line for line in lines if line.startswith("name\tplayer\t1\t")][0]
        end = lines[-1]
        bad = [("".join(lines).replace(*change, 1), why) for change, why in (
            ((end, ""), "its last line is missing"),
            ((kept[0], ""), "out of its place"),
            ((kept[0], "kept\t0\ta.pgn\n"), "the number is 0"),
            ((kept[0], "kept\t2\ta.pgn\n"), "game 2"),
            ((kept[1], "kept\t3\ta.pgn\n"), "game 3"),
            ((kept[1], ""), "more than one game"),
            ((kept[0], kept[0] + "kept\t7\t\n"), "its text is no game"),
            ((">[White \"A\"]\n", ">[White \"X\"]\n"), "game 1"),
            ((">[White \"A\"]\n", f">[White \"A\"]\n>[Note \"{'x' * 8001}\"]\n"), "over the limits"),
            ((">1. e4 ", ">1. d4 "), "game 1"),
            ((name, ""), "not the number of names read"),
            ((name, name.replace("\t1\t", "\t2\t")), "the number is not the next one"),
            (("\t2\tB\t", "\t2\tA\t"), "another name has the text"),
            ((name, name.replace("\t-\n", "\t99\n")), "there is no name"),
            ((name, name.replace("\t-\n", "\t1\n")), "its own root"),
            ((name, name.replace("player", "horse")), "not a kind of names"),
            (("gameset\tx\t", "gameset\t.x\t"), "no name of a gameset"),
            ((end, end.replace("\t2\n", "\t1\n")), "game"),
            ((end, end.replace("\t2\n", "\t4294967295\n")), "more memory than is allowed"),
            ((lines[4], ""), ""))]
        self.assertGreater(len(pgn), 12)
        for text, why in bad:
            with self.subTest(why=why):
                back = self.path("bad")
                done = self.cli("load", "-", input=self.sealed(text) if end[:4] in text else text,
                                address=back, code=3)
                self.assertIn(why, done.stderr)
                self.assertFalse(os.path.exists(back))
        self.cut(lines)

    def test_a_dump_that_was_changed(self):
        """One digit, one letter of a name, a comment: whatever it is, `load` notices it, in a directory
        and through a daemon, and says in which lines; an edited dump is sealed again."""
        store, back, empty = self.path("store"), self.path("back"), self.path("empty")
        self.cli("import", *self.files(), address=store)
        text = self.out("dump", address=store)
        self.assertEqual(self.sealed(text), text)
        self.cli("init", address=empty)
        before = self.out("dump", address=empty)
        with harness.start_daemon({"default": empty}) as daemon:
            for n in range(12):
                at = re.compile("[0-9a-zA-Z]").search(text, CHANCE.randrange(len(text))).start()
                bad = text[:at] + ("1" if text[at] != "1" else "2") + text[at + 1:]
                line = text.count("\n", 0, at) + 1
                for address in (back, daemon.address):
                    done = self.cli("load", address=address, input=bad, code=3)
                    first, last = map(int, (re.search(r"lines (\d+) to (\d+)", done.stderr) or
                                            re.search(r"line (\d+)()", done.stderr)).groups(line))
                    self.assertLessEqual(first, line + 2, done.stderr)
                    self.assertLessEqual(line, last + 2, done.stderr)
            self.assertEqual(self.out("dump", address=daemon.address), before)
        self.assertFalse(os.path.exists(back))
        edited = self.write("edited", re.sub(r"(?m)^(name\tsource\t1\t)[^\t]*", r"\1other", text))
        self.cli("load", edited, address=back, code=3)
        self.cli("dump", "--seal", edited, edited)
        self.cli("load", edited, address=back)
        self.assertTrue(re.search(r"\nname\tsource\t\d+\tother\t", self.out("dump", address=back)))
        self.assertIn("its last line is missing",
                      self.cli("dump", "--seal", "-", input=text[:5000], code=3).stderr)

    def test_games_that_may_be_in_a_list(self):
        """A dump does not say which games of --min-games a position counts: where they are some of
        all, the one who reads it is told that the latest are listed. After a merge these need not be
        the ones; until then they are."""
        def pruned(name, *rows):
            store = self.path(name)
            self.cli("import", "--min-games", "2", self.write(name + ".pgn", games(*rows)), address=store)
            return store

        def reached(address):
            rows = self.out("games", "--moves", "e4 e5 Nf3 Nc6", "--json", address=address)
            return [json.loads(line)["game"] for line in rows.splitlines()]

        # Here two games reach the position, there one: it is dropped there, and not counted here.
        here = pruned("here", ("A", "B", 1, 0, "Nc6"), ("C", "D", 2, 0, "Nc6"))
        there = pruned("there", ("E", "F", 3, 0, "Nc6"), ("G", "H", 4, 0, "d6"))
        said = []
        for merged in (False, True):
            if merged:
                self.cli("--quiet", "merge", there, address=here)
            self.assertEqual(reached(here), [1, 2])
            back, again, whole = self.path("back"), self.path("again"), self.path("whole")
            text = self.out("dump", address=here)
            done = [self.cli("load", "-", input=text, address=back)]
            for store in (again, whole):
                self.cli("init", address=store)
            with harness.start_daemon({"default": here}) as daemon:
                done.append(self.cli("merge", daemon.address, address=again))
            # A directory is merged without a dump: nothing is left open.
            done.append(self.cli("merge", here, address=whole))
            self.assertEqual(reached(whole), [1, 2])
            said.append(["1 positions count some of their games" in what.stderr for what in done])
            self.assertEqual(len(reached(back)), 2)
            for store in (here, back, again, whole):
                self.cli("verify", address=store)
            for store in (back, again, whole):
                shutil.rmtree(store)
        self.assertEqual(said, [[False] * 3, [True, True, False]])

    def test_a_server_with_wrong_ids(self):
        """A damaged server names a game by an id that is not its own: its dump is refused, whether
        it is loaded or merged, and nothing of it is stored."""
        store = self.path("store")
        self.cli("import", self.write("a.pgn", games(("A", "B", 1, 0, "Nc6"),
                                                     ("C", "D", 2, 0, "d6"))), address=store)
        own = bytes.fromhex(re.search(r"(?m)^game\t(\w{32})\t", self.out("dump", address=store))[1])
        wrong = own[:15] + bytes([own[15] ^ 1])
        empty = self.path("empty")
        self.cli("init", address=empty)
        before = self.out("dump", address=empty)
        with harness.start_daemon({"default": store}) as daemon:
            relay = Relay(self.path("wrong"), daemon.address, (own, wrong))
            text = self.out("dump", address=relay.address)
            self.assertIn(wrong.hex(), text)
            self.assertNotIn(own.hex(), text)
            back = self.path("bad")
            done = [self.cli("load", "-", input=text, address=back, code=3),
                    self.cli("merge", relay.address, address=empty, code=3)]
            relay.close()
            self.assertGreater(relay.changed, 1)
            for what in done:
                self.assertIn(f"the dump is damaged: game 1 ({own.hex()})", what.stderr)
            self.assertFalse(os.path.exists(back))
            self.assertEqual(self.out("dump", address=empty), before)
            # The control: one that changes nothing is merged from.
            honest = Relay(self.path("honest"), daemon.address, None)
            self.cli("merge", honest.address, address=empty)
            honest.close()
            self.assertEqual(self.out("games", "--pgn", address=empty),
                             self.out("games", "--pgn", address=store))

    def cut(self, lines):
        """At any line: nothing is made of it, and an empty store stays empty."""
        empty = self.path("empty")
        self.cli("init", address=empty)
        before = self.out("dump", address=empty)
        for n in range(1, len(lines), 3):
            self.cli("load", "-", input="".join(lines[:n]), address=empty, code=3)
        self.assertEqual(self.out("dump", address=empty), before)
        whole = self.sealed("".join(lines))
        self.assertEqual(summary(self.out("load", "-", input=whole, address=empty))["new"],
                         str(sum("/" in line and line[0] not in ">g" for line in lines[4:])))
