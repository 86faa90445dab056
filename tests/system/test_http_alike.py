# SPDX-License-Identifier: MIT
"""chistore-http over a directory and over a daemon that serves the same store: every answer of every
interface is the same, byte for byte."""

import http.client
import json
import os
import time
import unittest
import urllib.parse

import harness
import webserver
from webserver import START

PGN = os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", "games_300.pgn")
PLAYER = "Norheim,M"
# Positions that are asked for, times the effort.
POSITIONS = 20
# Of them, so many have an evaluation with a line.
EVALUATED = 400
# Seconds for which a kept answer is given without a look at the store (ASK_MS, with a margin).
KEPT_UNSEEN = 0.2

# What is asked of a position, and what once. Of the first the name of its parameter.
OF_A_POSITION = [
    ("/masters", "fen", {"topGames": "15", "moves": "30"}),
    ("/master", "fen", {"since": "2000", "until": "2030"}),
    ("/lichess", "fen", {"topGames": "4", "recentGames": "8", "history": "true"}),
    ("/lichess", "fen", {"speeds": "classical,rapid", "ratings": "1600,2500"}),
    ("/lichess/history", "fen", {}),
    ("/player", "fen", {"player": PLAYER, "color": "white", "recentGames": "8"}),
    ("/personal", "fen", {"player": PLAYER, "color": "black"}),
    ("/api/cloud-eval", "fen", {"multiPv": "3"}),
    ("/api/position", "fen", {}),
    ("/api/explore", "fen", {}),
    ("/api/explore", "fen", {"player": PLAYER}),
    ("/api/games", "fen", {"limit": "5", "sort": "date"}),
    ("/cdb.php", "board", {"action": "queryall", "json": "1"}),
    ("/cdb.php", "board", {"action": "querybest", "stable": "1"}),
    ("/cdb.php", "board", {"action": "queryscore"}),
    ("/cdb.php", "board", {"action": "querypv", "json": "1"}),
]
ONCE = [
    ("/api/names", {"kind": "player", "q": "a"}),
    ("/api/names", {"kind": "event", "limit": "1000"}),
    ("/api/names", {"kind": "player", "q": "Nessie"}),
    ("/api/info", {}),
    ("/api/gamesets", {}),
    ("/api/stats", {"by": "player"}),
    ("/api/stats", {"by": "year", "player": PLAYER}),
    ("/api/stats", {"by": "material"}),
    ("/api/insight", {"kind": "strong", "white": PLAYER, "min-games": 2, "fdr": 100}),
    ("/api/insight", {"kind": "performance", "min-games": 5, "fdr": 100, "limit": 30}),
    ("/api/insight", {"kind": "drift", "split": 2000, "min-games": 5, "fdr": 100, "limit": 30}),
    ("/api/insight", {"kind": "novelties", "min-games": 3, "known": 2}),
    ("/api/games", {"player": "Nessie"}),
    ("/api/games", {"in": "recent", "limit": "50"}),
    ("/api/find", {"has": "Nd5", "limit": "20"}),
    ("/api/find", {"has": "Nd5", "games": "1", "limit": "20"}),
    ("/api/scan", {"limit": "200"}),
    ("/api/histogram", {}),
    ("/api/queue", {}),
    ("/api/game/7", {}),
    ("/api/game/7.pgn", {}),
    ("/api/game/7000", {}),
    ("/masters/pgn/7", {}),
    ("/master/pgn/7000", {}),
    ("/masters", {"fen": "nonsense"}),
    ("/api/explore", {"fen": START, "player": "player \"A"}),
    ("/api/position", {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}),
]


class TestAlike(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PGN, encoding="utf-8", errors="replace") as file:
            cls.store = webserver.make_store(file.read())
        chance = harness.seed()
        cls.fens = [row.split("\t")[0] for row in cls.cli("scan", "--show", "fen,games")]
        chance.shuffle(cls.fens)
        # Half of the first have an evaluation, half of these with a line.
        known = [json.loads(line) for line in cls.cli("get", *cls.fens[:EVALUATED:2])]
        cls.cli("import", "--format", "jsonl", "-", input="".join(
            json.dumps({"fen": row["fen"], "evals": [
                {"engine": "sf", "depth": 20 + i % 5, "cp": i % 90 - 45,
                 "pv": [move["uci"] for move in row["moves"][:i % 2]]}]}) + "\n"
            for i, row in enumerate(known)))
        cls.cli("gameset", "create", "recent", "--since", "1950")
        cls.daemon = harness.start_daemon({"default": cls.store})
        cls.servers = [webserver.start(address) for address in (cls.store, cls.daemon.address)]
        cls.peers = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                     for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for peer, server in zip(cls.peers, cls.servers):
            peer.close()
            server.stop()
        cls.daemon.stop()

    @classmethod
    def cli(cls, *args, input=None):
        done = harness.run_cli(*args, address=cls.store, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def same(self, path, parameters):
        """Status, kind and body, over connections that stay."""
        path += "?" + urllib.parse.urlencode(parameters) if parameters else ""
        answers = []
        for peer in self.peers:
            peer.request("GET", path)
            answer = peer.getresponse()
            answers.append((answer.status, answer.headers["Content-Type"], answer.read()))
        self.assertEqual(answers[0], answers[1], path)
        return answers[0]

    def test_positions(self):
        n = harness.rounds(POSITIONS)
        opened = 0
        for fen in [START, *self.fens[:n]]:
            for path, name, parameters in OF_A_POSITION:
                status, _, body = self.same(path, {name: fen, **parameters})
                self.assertIn(status, (200, 404), (path, body))
                opened += b'"eco":' in body
        self.assertGreater(opened, 0)
        print(f"# figures: {n + 1} positions, {len(OF_A_POSITION)} questions each, answered alike")

    def test_others(self):
        for path, parameters in ONCE:
            self.same(path, parameters)


class Changed(unittest.TestCase):
    """A server that has answered before remembers what it has read of a snapshot. When another
    process has changed the store, it answers as one that has just been started."""

    @classmethod
    def setUpClass(cls):
        with open(PGN, encoding="utf-8") as file:
            games = file.read().split("\n[Event ")
        cls.games = [games[0]] + ["[Event " + game for game in games[1:]]

    def change(self, *args, games=()):
        done = harness.run_cli(*args, address=self.store, input="\n".join(games) or None)
        self.assertEqual(done.returncode, 0, done.stderr)
        time.sleep(KEPT_UNSEEN)

    def compare(self, server, fens):
        """Twice: answers from what was remembered are the second."""
        found = []
        with webserver.start(self.store) as other:
            for fen in fens:
                for path, name, parameters in OF_A_POSITION:
                    asked = path + "?" + urllib.parse.urlencode({name: fen, **parameters})
                    status, _, body = server.request(asked)
                    self.assertEqual((status, body), other.request(asked)[::2], asked)
                    found.append(body)
        return found

    def test_other_process(self):
        half = len(self.games) // 2
        self.store = webserver.make_store("\n".join(self.games[:half]))
        rows = harness.run_cli("scan", "--sort", "games", "--limit", "8", "--show", "fen",
                               address=self.store).stdout.splitlines()[1:]
        changes = [(("import", "--quiet", "-"), self.games[half:]),
                   (("subtract", "--quiet", "-"), self.games[half // 2:half]),
                   (("rescore", "--quiet", "--base", "20,20,60"), ()),
                   (("subtract", "--quiet", "-"), self.games[half:half + half // 2]),
                   (("import", "--quiet", "-"), self.games[half // 2:half])]
        with webserver.start(self.store) as server:
            before = self.compare(server, rows)
            for args, games in changes:
                self.change(*args, games=games)
                after = self.compare(server, rows)
                self.assertNotEqual(before, after, args)
                before = after
