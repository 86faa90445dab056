# SPDX-License-Identifier: MIT
"""Games over a socket: what is copied, taken out or too large for a response; and what the protocol
promises of queries that are read slowly, given up, disturbed or not fair."""

import os
import re
import shutil

import harness
from cli_base import MASTERS, Base
from pychistore import Client, Failure, pb

E4_KEY = bytes.fromhex("fff700080000ffff7315213744444444ccccccccfb9d09bf")


def blown_up(size, number, tags=""):
    """A game with so many marks, which take four bytes each as text."""
    return f'[Event "{number}"]\n[White "w{number}"]\n{tags}\n1. e4 {"$13" * size} e5 *\n\n'


class Served(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        self.cli("import", "--statistic", "outcome", MASTERS, address=self.store)

    def serve(self, *args):
        daemon = harness.start_daemon({"default": self.store}, extra_args=args)
        self.addCleanup(daemon.stop)
        return daemon

    def both(self, daemon, *args):
        """What either says: its code, output and messages."""
        said = []
        for address in (self.store, daemon.address):
            done = harness.run_cli(*args, address=address)
            said.append((done.returncode, done.stdout, done.stderr.replace(address, "ADDRESS")))
        return said


class Commands(Served):
    def test_copies(self):
        """Games leave both stores alike, and make the same new one."""
        other = self.path("other")
        self.cli("import", "--statistic", "outcome", MASTERS, address=other)
        with harness.start_daemon({"default": other}) as daemon:
            for name, address in (("x", self.store), ("y", daemon.address)):
                self.cli("extract", "--player", "Svedlund", self.path(name), address=address)
                self.cli("subtract", "--eco", "B", "--not-result", "1-0", address=address)
            self.assertEqual(self.out("dump", address=self.path("x")),
                             self.out("dump", address=self.path("y")))
            self.assertEqual(self.out("dump", address=self.store), self.out("dump", address=other))
            self.assertIn("sound\tyes", self.out("verify", address=daemon.address))

    def test_imports(self):
        """What an import says of its games arrives, and what cannot be done is refused alike."""
        text = '[White "a"]\n[Black "b"]\n\n1. e4 {first} e5 (1... c5) *\n'
        path = self.write("noted.pgn", text)
        other = self.path("other")
        self.cli("import", "--statistic", "outcome", MASTERS, address=other)
        with harness.start_daemon({"default": other}) as daemon:
            for address in (self.store, daemon.address):
                self.cli("import", "--annotations", "none", "--source", "mine", path,
                         address=address)
                pgn = self.out("games", "--source", "mine", "--pgn", address=address)
                self.assertIn("1. e4 e5 *", pgn)
                done = self.cli("import", "--games", "none", path, address=address, code=2)
                self.assertIn("the store keeps its games", done.stderr)
            self.assertEqual(self.out("dump", address=self.store), self.out("dump", address=other))

    def test_large_games(self):
        """Some to a response; one that fits none is refused by its number, the others come."""
        large = self.write("large.pgn", "".join(blown_up(350000, i) for i in range(6)))
        self.cli("import", large, address=self.store)
        daemon = self.serve()
        local, remote = self.both(daemon, "games", "--pgn", "--source", "large.pgn")
        self.assertEqual(local[1].count("[Event"), 6)
        self.assertEqual(local, remote)
        tags = "".join(f'[T{i} "{"x" * 7900}"]\n' for i in range(30))
        huge = self.write("huge.pgn", blown_up(1048000, 7, tags) + blown_up(5, 8))
        self.cli("import", huge, address=daemon.address)
        self.assertGreater(len(self.out("game", 307, address=self.store)), 4 << 20)
        for args in (["game", 307], ["games", "--pgn", "--source", "huge.pgn"]):
            done = harness.run_cli(*args, address=daemon.address)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("game 307 does not fit a response", done.stderr)
        self.assertEqual(len(self.out("games", "--source", "huge.pgn",
                                      address=daemon.address).splitlines()), 3)


class Twins(Served):
    def setUp(self):
        super().setUp()
        with open(MASTERS, encoding="utf-8") as file:
            text = file.read()
        again = re.sub(r'(?m)^\[Date "(\d+)\.\d+\.\d+"\]$', r'[Date "\1.??.??"]\n[Annotator "x"]', text)
        self.cli("import", self.write("again.pgn", again), address=self.store)

    def test_twins(self):
        """Groups in order, and a search that is given up."""
        daemon = self.serve()
        with Client(daemon.address) as client:
            groups = client.twins(days=3, plies=20)
            self.assertTrue(all(len(group) > 1 and group == sorted(group) for group in groups))
            self.assertEqual(sorted(groups), groups)
            self.assertEqual(client.twins("number 1..300", days=3), [])
            self.assertEqual(client.twins(days=3, plies=20, beginning=20), groups)
            id = client.send(window=1, twins=pb.Twins())
            client.cancel(id)
            self.assertIn(client.answer(id).code, (pb.CANCELED, pb.OK))

    def test_memory_of_the_search(self):
        """What the thread holds counts among the buffers: it gives up, and others are served."""
        daemon = self.serve("--buffer-bytes", "512K")
        with Client(daemon.address) as client:
            for search in ({"twins": pb.Twins()}, {"names": pb.Names(kind=1, limit=9)}, {"twins": pb.Twins()}):
                answer = client.answer(client.send(**search))
                full = (pb.BUSY, "the server's buffers are full")
                self.assertEqual((answer.code, answer.message),
                                 full if "twins" in search else (pb.OK, ""))


class Queries(Served):
    def setUp(self):
        super().setUp()
        self.daemon = self.serve()
        self.client = self.enterContext(Client(self.daemon.address))

    def numbers(self, *args, **more):
        return [row.number for row in self.client.query_games(*args, **more).games]

    def refused(self, code, field, **op):
        with self.assertRaises(Failure) as caught:
            self.client.call(**op)
        self.assertEqual((caught.exception.code, caught.exception.field), (code, field))
        self.client.ping()

    def test_pages(self):
        """By cursor, in every order, each game once."""
        for sort in (pb.BY_NUMBER, pb.BY_DATE, pb.BY_RATING):
            for descending in (False, True):
                order = {"sort": sort, "descending": descending}
                whole = self.numbers("result 1-0", limit=300, **order)
                pages, cursor = [], ""
                while len(pages) < len(whole):
                    page = self.client.query_games("result 1-0", limit=7, cursor=cursor,
                                                   want_total=True, **order)
                    self.assertEqual(page.total, len(whole))
                    pages += [row.number for row in page.games]
                    cursor = page.cursor
                self.assertEqual(pages, whole)

    def test_wants(self):
        heads, texts, pgn = (self.client.query_games("number 9", want=want).games[0]
                             for want in (pb.HEADS, pb.TEXTS, pb.PGN))
        self.assertEqual((heads.white, heads.pgn, texts.pgn), ("", b"", b""))
        self.assertIn(f'[White "{texts.white}"]'.encode(), pgn.pgn)
        for name in ("number", "year", "plies", "white_id", "eco", "ply"):
            self.assertEqual(getattr(heads, name), getattr(pgn, name))
        game = self.client.get_game(9, whole=True)
        self.assertEqual(game.row.pgn, pgn.pgn)
        self.assertEqual(len(game.game.moves), 2 * pgn.plies)
        self.assertEqual(dict((tag.name, tag.value) for tag in game.game.tags)["White"],
                         texts.white)
        self.assertFalse(self.client.get_game(9).HasField("game"))
        self.assertIsNone(self.client.get_game(301))
        rows = self.client.get_heads([301, 9, 0, 8])
        self.assertEqual([row.number for row in rows], [9, 8])
        for name in ("year", "plies", "white_id", "eco", "white", "event", "source"):
            self.assertEqual(getattr(rows[0], name), getattr(texts, name), name)

    def test_unfair(self):
        """Limits, at them and one beyond; what makes no sense; what was made up."""
        longest = "event " + "x" * 1000
        text = " ".join([longest] * 4)
        text += " " * (4096 - len(text))
        for op, make in (("game_query", pb.GameQuery), ("stats", pb.Stats),
                         ("explore", lambda **f: pb.Explore(key=E4_KEY, **f))):
            self.client.call(**{op: make(filter=text)})
            self.refused(pb.TOO_LARGE, op + ".filter", **{op: make(filter=text + " ")})
            self.refused(pb.BAD_SYNTAX, op + ".filter", **{op: make(filter="player")})
            self.refused(pb.INVALID, op + ".filter", **{op: make(filter="year 9..8")})
            self.refused(pb.INVALID, "", **{op: make(filter="in nothing")})
        self.refused(pb.TOO_LARGE, "game_query.cursor", game_query=pb.GameQuery(cursor="n" * 32))
        for cursor in ("n" * 31, "n", "n" + 16 * "g", "d" + 16 * "0"):
            self.refused(pb.INVALID, "", game_query=pb.GameQuery(cursor=cursor))
        for limit in (0, 10001):
            self.refused(pb.INVALID, "", game_query=pb.GameQuery(descending=True, limit=limit))
        self.client.call(window=1024, game_query=pb.GameQuery(descending=True, limit=10000))
        self.refused(pb.INVALID, "window", window=1025, game_query=pb.GameQuery())
        self.refused(pb.INVALID, "", stats=pb.Stats(by=pb.PER_PIECES, filter="result 1-0"))
        self.refused(pb.INVALID, "get_game.number", get_game=pb.GetGame())
        self.client.get_heads([1] * 1000)
        self.refused(pb.TOO_LARGE, "get_heads.numbers", get_heads=pb.GetHeads(numbers=4004 * b"x"))
        self.refused(pb.INVALID, "get_heads.numbers", get_heads=pb.GetHeads(numbers=b"12345"))
        for filter in ("", "year 2000"):
            self.refused(pb.INVALID, "explore.key", explore=pb.Explore(filter=filter))
            self.refused(pb.BAD_FEN, "explore.fen", explore=pb.Explore(fen="x", filter=filter))
            self.refused(pb.BAD_KEY, "explore.key",
                         explore=pb.Explore(key=b"x" * 9, filter=filter))
        self.refused(pb.INVALID, "game_query.filter", game_query=pb.GameQuery(filter="\0"))

    def test_explore_and_stats(self):
        all_games = self.client.explore(key=E4_KEY)
        filtered = self.client.explore(key=E4_KEY, filter="plies 1..")
        self.assertEqual(filtered.position.counts, all_games.position.counts)
        self.assertEqual(filtered.min_ply, -1)
        groups = self.client.stats(pb.PER_PLAYER)
        counted = sum(g.counts.white + g.counts.draws + g.counts.black for g in groups)
        self.assertEqual(counted, 2 * self.client.info().games.white +
                         2 * self.client.info().games.draws + 2 * self.client.info().games.black)
        self.assertEqual(len(self.client.stats(pb.PER_PLAYER, limit=3)), 3)

    def test_numbers_of_ids(self):
        """Each game that is counted says which it is in the archive."""
        result = self.client.call(games=pb.GameIds()).games
        numbers = [int.from_bytes(result.numbers[4 * i:4 * i + 4], "little")
                   for i in range(result.count)]
        self.assertEqual(sorted(numbers), list(range(1, 301)))
        self.assertEqual(len(self.client.games()), 300)
        self.cli("subtract", "--number", "7", address=self.daemon.address)
        result = self.client.call(games=pb.GameIds()).games
        self.assertEqual(len(result.numbers), 4 * 299)
        self.assertNotIn((7).to_bytes(4, "little"),
                         [result.numbers[i:i + 4] for i in range(0, len(result.numbers), 4)])

    def test_given_up(self):
        """Cancel ends it with one last answer; a client that goes away ends its own."""
        id = self.client.start_query(want=pb.PGN, window=1)
        first = self.client.answer(id)
        self.client.cancel(id)
        if not first.last:
            while True:
                response = self.client.answer(id)
                if response.last:
                    break
            self.assertIn(response.code, (pb.CANCELED, pb.OK))
        with Client(self.daemon.address) as other:
            for _ in range(60):
                other.start_query("has Nd5 not pattern has Ra1", want=pb.PGN)
        self.client.ping()
        self.assertEqual(self.client.query_games(want_total=True).total, 300)


class Disturbed(Base):
    """Thousands of games, so that a query has pages to be disturbed between."""

    @classmethod
    def setUpClass(cls):
        cls.folder = harness.make_temp_dir()
        with open(MASTERS, encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(cls.folder, "many.pgn")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(text.replace('[White "', f'[White "{i} ') for i in range(12)))
        done = harness.run_cli("import", path, address=os.path.join(cls.folder, "store"))
        assert done.returncode == 0, done.stderr

    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        shutil.copytree(os.path.join(self.folder, "store"), self.store)
        self.daemon = harness.start_daemon({"default": self.store})
        self.addCleanup(self.daemon.stop)
        self.client = self.enterContext(Client(self.daemon.address))

    def test_others_are_served(self):
        """A query that looks at every move of every game lets pings through; one at least, as no
        clock is looked at."""
        queries = [self.client.start_query("not has Nd5 pattern has Ke8", want_total=True, limit=1)
                   for _ in range(8)]
        with Client(self.daemon.address) as other:
            for _ in range(20):
                other.ping()
            early = sum(not self.client.waiting[id] for id in queries)
            self.assertEqual(early, len(queries))
        totals = set()
        for id in queries:
            for response in self.client.stream(id):
                if response.last:
                    totals.add(response.game_query.total)
        self.assertEqual(len(totals), 1)

    def pages(self, disturb, **more):
        """All numbers of a query with `disturb` called after its first response; how many came in
        that, and the last one."""
        id = self.client.start_query(want=pb.PGN, window=1, want_total=True, **more)
        rows, early, part = [], 0, None
        for i, response in enumerate(self.client.stream(id)):
            part = response.game_query
            rows += [row.number for row in part.games]
            if i == 0:
                self.assertFalse(response.last)
                early = len(rows)
                disturb()
        return rows, early, part

    def test_compaction(self):
        """It takes the snapshot away, and the query goes on: nothing twice, nothing left out."""
        with Client(self.daemon.address) as admin:
            for more in ({}, {"filter": "result 1-0"}, {"limit": 3000, "sort": pb.BY_DATE},
                         {"filter": "moves \"e4\"", "descending": True, "limit": 1500}):
                expected = [row.number for row in self.client.game_rows(**more)]
                rows, _, part = self.pages(admin.compact, **more)
                self.assertEqual(rows, expected)
                self.assertTrue(part.has_total)
                self.assertGreaterEqual(part.total, len(rows))

    def test_games_go_and_come(self):
        """Between two pages: those that are gone are left out, those that came are at the end."""
        expected = [row.number for row in self.client.game_rows()]
        gone = set(expected[-300:])

        def disturb():
            self.cli("subtract", "--number", f"{min(gone)}..", address=self.daemon.address)
            self.cli("import", self.write("new.pgn", blown_up(10, 1)), address=self.daemon.address)
            with Client(self.daemon.address) as admin:
                admin.compact()

        for more in ({"sort": pb.BY_RATING, "limit": 10000}, {}):
            with self.subTest(more):
                rows, early, part = self.pages(disturb, **more)
                self.assertEqual(len(rows), len(set(rows)))
                if not more:
                    self.assertGreater(rows[-1], max(expected))
                    self.assertEqual(part.total, len(rows))
                self.assertFalse(set(rows[early:]) & gone)
