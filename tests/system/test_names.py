# SPDX-License-Identifier: MIT
"""Names by the command line: found, listed with their games, joined by hand and by spelling files;
what filters of games make of it; and input that is none."""

import json
import os
import re
import socket
import sys
import threading
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
import pychistore  # noqa: E402
import webserver  # noqa: E402
from cli_base import MASTERS, Base, summary  # noqa: E402
from pychistore import pb  # noqa: E402

HEAD = "number\tname\tgames\tfide\talias_of\n"


def tags(name):
    """Values of a tag, those that say something, without the spaces around them."""
    with open(MASTERS, encoding="utf-8") as file:
        values = re.findall(rf'^\[{name} "(.*)"\]$', file.read(), re.M)
    return [value.strip() for value in values if value.strip() not in ("", "?")]


class Names(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", MASTERS, address=self.store)

    def rows(self, *args, **extra):
        text = self.out("name", *args, "--json", address=self.store, **extra)
        return [json.loads(line) for line in text.splitlines()]

    def test_list_counts_games(self):
        """Each name of the file, with the games that a plain count of its tags gives."""
        players = Counter(tags("White")) + Counter(tags("Black"))
        for kind, wanted in (("player", players), ("event", Counter(tags("Event"))),
                             ("site", Counter(tags("Site"))),
                             ("source", {"games_300.pgn": 300})):
            with self.subTest(kind):
                rows = self.rows("list", "--kind", kind)
                self.assertEqual({row["name"]: row["games"] for row in rows}, dict(wanted))
                self.assertEqual([row["number"] for row in rows], list(range(1, len(rows) + 1)))

    def test_pages(self):
        whole = self.out("name", "list", address=self.store)
        pages, cursor = "", []
        while True:
            done = self.cli("name", "list", "--limit", "100", "--print-cursor", *cursor,
                            address=self.store)
            self.assertTrue(done.stdout == "" or done.stdout.startswith(HEAD))
            pages += done.stdout[len(HEAD):]
            if not done.stderr:
                break
            cursor = done.stderr.split()[1:]
        self.assertEqual(HEAD + pages, whole)

    def test_find(self):
        self.assertEqual([row["name"] for row in self.rows("find", "norheim")], ["Norheim,M"])
        self.assertEqual(self.rows("find", "MAGNUS NORHEIM")[0]["name"], "Norheim,M")
        self.assertEqual(self.rows("find", "=norheim", code=1), [])
        self.assertEqual(self.out("name", "find", "no one at all", address=self.store, code=1), "")
        self.assertIn("\tBlitz\t", self.out("name", "find", "blitz", "--kind", "event",
                                            address=self.store))

    def test_alias(self):
        """Joined names are found as one, and their games too; parted again they are not."""
        before = self.out("dump", address=self.store)
        dry = self.out("name", "alias", "Velan,V", "Norheim,M", "--dry-run", address=self.store)
        self.assertEqual(summary(dry), {"changed": "1", "already": "0"})
        self.assertEqual([row["name"] for row in self.rows("find", "norheim")], ["Norheim,M"])
        self.cli("name", "alias", "Velan,V", "Norheim,M", address=self.store)
        rows = self.rows("find", "norheim")
        self.assertEqual([row["name"] for row in rows], ["Norheim,M", "Velan,V"])
        self.assertEqual(rows[1]["alias_of"], rows[0]["number"])
        again = self.out("name", "alias", f"#{rows[1]['number']}", "#1", address=self.store)
        self.assertEqual(summary(again), {"changed": "0", "already": "1"})
        self.assertIn("sound\tyes", self.out("verify", address=self.store))
        self.cli("name", "unalias", "Velan,V", address=self.store)
        self.assertEqual(len(self.rows("find", "norheim")), 1)
        self.assertEqual(self.out("dump", address=self.store), before)

    def test_suspects(self):
        groups = self.rows("suspects", "--score", "80")
        names = [sorted(name["name"] for name in group["names"]) for group in groups]
        self.assertIn(["Dragosan, Bogdan-Daniel", "Dragosan,Bogdan-Daniel"], names)
        self.assertIn(["Volchnoi, Viktor", "Voltschnoj, Viktor"], names)
        self.assertTrue(all(group["score"] >= 80 for group in groups))
        done = self.cli("name", "suspects", "--limit", "1", address=self.store)
        self.assertEqual(done.stdout.splitlines()[0], "group\tscore\t" + HEAD.strip())
        self.assertIn("1 of ", done.stderr)

    def test_spelling_file(self):
        text = ("@PLAYER\n"
                "Volchnoi, Viktor  #GM\n= Voltschnoj, Viktor\n= Not There\n%Bio FIDEID 2000016\n"
                "Player, New\n= Not There Either\n"
                "Norheim, Magnus\n= Norheim,M\n%Bio FIDEID 1503014\n"
                "Velan,V\n%Bio FIDEID 5000017\n= Norheim,M\n")
        file = self.write("names.ssp", text)
        dry = self.cli("alias", "import", "--dry-run", file, address=self.store)
        self.assertEqual(self.rows("find", "=Norheim, Magnus", code=1), [])
        done = self.cli("alias", "import", file, address=self.store)
        self.assertEqual(done.stdout, dry.stdout)
        self.assertEqual(summary(done.stdout),
                         {"aliases": "5", "fide_ids": "3", "changed": "5", "nothing_to_do": "2",
                          "conflicts": "1", "bad_lines": "0"})
        self.assertRegex(done.stderr, "names.ssp: line 13: .*FIDE id 1503014.*5000017")
        names = [row["name"] for row in self.rows("find", "norheim")]
        self.assertEqual(names, ["Norheim,M", "Norheim, Magnus"])
        self.assertEqual(self.rows("find", "New Player", code=1), [])
        self.cli("name", "alias", "Velan,V", "Norheim,M", code=2, address=self.store)
        again = summary(self.out("alias", "import", file, address=self.store))
        self.assertEqual((again["changed"], again["conflicts"]), ("0", "1"))
        self.assertIn("sound\tyes", self.out("verify", address=self.store))

    def test_garbage(self):
        before = self.out("dump", address=self.store)
        for args in (("name",), ("name", "fnd", "x"), ("name", "find"), ("name", "find", "a", "b"),
                     ("name", "list", "x"), ("name", "alias", "Norheim,M"),
                     ("name", "alias", "Norheim,M", "No One"), ("name", "unalias", "No One"),
                     ("name", "alias", "#0", "#1"), ("name", "alias", "#99999999999", "#1"),
                     ("name", "alias", "", "#1"), ("name", "list", "--kind", "colour"),
                     ("name", "list", "--limit", "0"), ("name", "find", "x" * 2000),
                     ("name", "alias", "x" * 2000, "#1"), ("name", "alias", "#1", b"\xff\xfe"),
                     ("alias", "import"), ("alias", "export", "x"),
                     ("alias", "import", self.path("not-there"))):
            with self.subTest(args):
                self.cli(*args, address=self.store, code=2)
        for i, data in enumerate((os.urandom(100000), b"", b"\0" * 5000, b"@PLAYER\n" * 1000,
                                  b"x" * (2 << 20), b"= a\n%Bio FIDEID 1\n")):
            with self.subTest(i):
                file = self.write("random.ssp", data)
                done = self.cli("alias", "import", file, address=self.store, code=3)
                self.assertLess(done.stderr.count("\n"), 25)
        self.assertEqual(self.out("dump", address=self.store), before)

    def test_store_without_games(self):
        store = self.new_store()
        head = "number\tname\tgames\tfide\talias_of\n"
        self.assertEqual(self.out("name", "list", address=store), head)
        self.assertEqual(self.out("name", "list", "--json", address=store), "")
        self.assertEqual(self.out("name", "suspects", address=store), "group\tscore\t" + head)
        self.assertEqual(self.out("name", "find", "x", address=store, code=1), "")


class Subtracted(Base):
    """What only removed games brought goes with them."""

    def halves(self):
        """Two files of the games of one; every player has one FIDE id at most, which all games of
        the second file tell, and few of the first."""
        with open(MASTERS, encoding="utf-8") as file:
            games = re.split(r"\n(?=\[Event )", file.read())
        for i, game in enumerate(games):
            tell = lambda tag: (tag[0] + f'[{tag[1]}FideId "{1000 + sum(map(ord, tag[2]))}"]\n'  # noqa: E731
                                if tag[2] and (i % 2 == 1 or i % 10 == 0) else tag[0])
            games[i] = re.sub(r'\[(White|Black) "(.*)"\]\n', lambda m: tell((m[0], m[1], m[2])),
                              game)
        return [self.write(name, "\n".join(games[half::2]) + "\n")
                for half, name in enumerate(("a.pgn", "b.pgn"))]

    def names(self, store, kind="player", want="list"):
        text = self.out("name", *want.split(), "--kind", kind, "--json", address=store)
        return {row["name"]: row["fide"] for row in map(json.loads, text.splitlines())}

    def rescored(self, store):
        """The dump without numbers of games, the highest number given, and checksums."""
        self.cli("rescore", address=store)
        self.assertIn("sound\tyes", self.out("verify", address=store))
        text = self.out("dump", address=store)
        text = re.sub(r"(?m)^(kept)\t\d+|^(game\t.*|end\t.*)\t\d+$", r"\1\2", text)
        return re.sub(r"(?m)^sum\t.*\n", "", text)

    def test_names_of_removed_games_go(self):
        """A store from which a file was subtracted dumps as one that never had it; what was set by
        hand stays; and the file can come again."""
        a, b = self.halves()
        alone, store, first = self.path("alone"), self.path("store"), self.path("first")
        self.cli("import", a, address=alone)
        self.cli("import", b, a, address=first)
        self.cli("import", a, address=store)
        never = self.names(alone)
        told = self.names(first)
        free = [name for name, fide in sorted(never.items()) if fide is None and told[name]]
        given = told[free[0]]
        hand = self.write("hand.ssp", f"@PLAYER\n{free[0]}\n= {free[1]}\n%Bio FIDEID {given}\n")
        self.cli("alias", "import", hand, address=alone)
        self.cli("alias", "import", hand, address=store)
        self.cli("import", b, address=store)
        both = self.rescored(store)
        gone = sorted(set(self.names(store)) - set(never))
        self.assertGreater(len(gone), 50)
        self.assertGreater(len(free), 10)
        self.cli("subtract", b, address=store)
        self.assertEqual(self.names(store), self.names(alone))
        self.assertEqual(self.names(store)[free[0]], given)
        for kind in ("event", "site", "source"):
            self.assertEqual(self.names(store, kind), self.names(alone, kind))
        for name in gone[::9]:
            self.assertEqual(self.out("name", "find", "=" + name, address=store, code=1), "")
        self.assertTrue(self.rescored(store) == self.rescored(alone))
        self.assertTrue(self.out("games", "--pgn", address=store) ==
                        self.out("games", "--pgn", address=alone))
        back = self.path("back")
        self.cli("load", "-", input=self.out("dump", address=store), address=back)
        self.assertTrue(self.rescored(back) == self.rescored(alone))
        merged = self.path("merged")
        self.cli("init", address=merged)
        self.cli("merge", store, address=merged)
        self.assertTrue(self.rescored(merged) == self.rescored(alone))
        self.cli("import", b, address=store)
        self.assertTrue(self.rescored(store) == both)
        self.cli("subtract", b, address=first)
        self.cli("alias", "import", hand, address=first)
        self.assertTrue(self.rescored(first) == self.rescored(alone))

    def test_gamesets_and_filters_after_it(self):
        """A gameset of a name that went has no games; one of a name that came again has them."""
        a, b = self.halves()
        store = self.path("store")
        self.cli("import", a, address=store)
        never = self.names(store)
        self.cli("import", b, address=store)
        gone = sorted(set(self.names(store)) - set(never))[0]
        self.cli("gameset", "create", "gone", "--player", "=" + gone, address=store)
        had = self.out("games", "--in", "gone", "--pgn", address=store)
        self.assertIn(gone, had)
        self.cli("subtract", b, address=store)
        self.assertNotIn(gone, self.out("games", "--in", "gone", "--pgn", address=store))
        self.cli("import", b, address=store)
        self.assertEqual(self.out("games", "--in", "gone", "--pgn", address=store), had)


class Told(pychistore.Connection):
    """A client's connection, from the server's side; it has the names 1, 2 and 4, and another had
    gone when each of its pages was made."""

    def __init__(self, sock):  # pylint: disable=super-init-not-called
        self.socket, self.pending = sock, b""

    def serve(self):
        request = pb.Request()
        try:
            while True:
                request.ParseFromString(self.receive_body())
                answer = pb.Response(id=request.id, last=True)
                if request.WhichOneof("op") == "hello":
                    store = pb.StoreName(name="default", statistic=pb.CONTROL, writable=True,
                                         uuid=bytes(range(16)))
                    answer.hello.CopyFrom(pb.HelloResult(
                        version=1, server="test", stores=[store], limits=pb.Limits(
                            request_bytes=1 << 20, response_bytes=1 << 20, probe_positions=4096,
                            put_entries=4096, requests_in_flight=64, scan_rows=4096)))
                elif request.WhichOneof("op") == "ping":
                    answer.ping.SetInParent()
                else:
                    left = [i for i in (1, 2, 4) if i > request.names.after]
                    answer.names.CopyFrom(pb.NamesResult(total=4, names=[
                        pb.Name(id=i, text=f"Muster {i}", games=i)
                        for i in left[:1]]))
                self.send_bytes(pychistore.frame(answer.SerializeToString()))
        except (pychistore.Closed, OSError):
            self.close()


class ShortPages(Base):
    def setUp(self):
        super().setUp()
        self.address = "unix:" + self.path("socket")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path("socket"))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def tearDown(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        super().tearDown()

    def accept(self):
        try:
            while True:
                told = Told(self.listener.accept()[0])
                threading.Thread(target=told.serve, daemon=True).start()
        except OSError:
            pass

    def test_names_that_go_meanwhile_end_no_list(self):
        wanted = ["Muster 1", "Muster 2", "Muster 4"]
        for args in (("list",), ("find", "muster")):
            rows = self.out("name", *args, "--json", address=self.address).splitlines()
            self.assertEqual([json.loads(row)["name"] for row in rows], wanted)
        with webserver.start(self.address) as server:
            found = server.json("/api/names", q="mus")
            self.assertEqual([row["name"] for row in found["names"]], wanted[::-1])
        if os.environ.get("CHISTORE_SANITIZE", "none") == "none":
            import chistore  # pylint: disable=import-outside-toplevel
            with chistore.Store(self.address) as store:
                self.assertEqual([name.text for name in store.names("muster")], wanted)
