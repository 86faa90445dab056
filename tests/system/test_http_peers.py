# SPDX-License-Identifier: MIT
"""The interfaces of lichess' opening explorer and of chessdb.cn: fields compared with what they
publish, numbers with a computation of their own from the store's contents."""

import json
import math
import os
import random
import socket
import unittest
import urllib.parse

import harness
import webserver
from webserver import START

AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
RUY = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 1"
KINGS = "8/8/8/3k4/8/3P4/3K4/8 b - - 0 1"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 0 1"

MOVE = {"uci", "san", "averageRating", "white", "draws", "black", "game", "opening", "reached"}
GAME = {"uci", "id", "winner", "white", "black", "year", "month"}


class TestExplorer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = webserver.make_store()
        cls.server = cls.enterClassContext(webserver.start(cls.store))

    def test_masters(self):
        answer = self.server.json("/masters", fen=START)
        self.assertEqual(set(answer) - {"chi2"}, {"white", "draws", "black", "moves", "topGames",
                                                  "opening", "truncated"})
        self.assertEqual((answer["white"], answer["draws"], answer["black"]), (1, 1, 2))
        self.assertEqual([(m["uci"], m["white"], m["draws"], m["black"]) for m in answer["moves"]],
                         [("e2e4", 1, 1, 0), ("g1f3", 0, 0, 1), ("f2f3", 0, 0, 1)])
        for move in answer["moves"]:
            self.assertEqual(set(move) - {"chi2"}, MOVE)
        first, _, only = answer["moves"]
        self.assertEqual((first["averageRating"], first["game"]), (2395, None))
        self.assertEqual(first["opening"], {"eco": "B00", "name": "King's Pawn Game"})
        self.assertEqual(only["game"], {
            "id": "4", "winner": "black", "white": {"name": "Fool", "rating": 0},
            "black": {"name": "Muster, Anna", "rating": 0}, "year": 2022, "month": "2022-01"})
        self.assertEqual([set(game) for game in answer["topGames"]], [GAME] * 4)
        self.assertEqual(answer["topGames"][0]["id"], "1")
        # Programs read a month of every game: one that is not known was null.
        self.assertEqual({g["id"]: (g["year"], g["month"]) for g in answer["topGames"]},
                         {"1": (2019, "2019-04"), "2": (2019, "2019-04"), "3": (2021, "2021-01"),
                          "4": (2022, "2022-01")})

    def test_games_without_a_date(self):
        """lila has none: its first year is theirs."""
        with webserver.start(webserver.make_store('[Date "????.??.??"]\n\n1. e4 *\n\n[Date "1851.06.21"]\n\n1. d4 *\n'
                                                  '[Date "????.05.12"]\n\n1. c4 *\n')) as server:
            games = server.json("/lichess", topGames=9)["topGames"]
        self.assertEqual({(g["year"], g["month"]) for g in games}, {(1952, "1952-01"), (1851, "1851-06")})

    def test_a_line_of_moves_and_years(self):
        answer = self.server.json("/masters", play="g1f3,b8c6,e2e4,e7e5,f1b5", topGames=0)
        self.assertEqual([m["uci"] for m in answer["moves"]], ["a7a6", "g8f6"])
        self.assertEqual(answer["opening"]["eco"], "C60")
        self.assertEqual(self.server.json("/masters", since=2020)["black"], 2)
        self.assertEqual(self.server.json("/masters", until=2019)["black"], 0)
        self.assertEqual(len(self.server.json("/masters", moves=1)["moves"]), 1)
        # The same position, and played from another order of moves.
        self.assertEqual(answer["moves"][0]["reached"], 1)

    def test_castling_takes_the_rook(self):
        """As lichess writes it, and for a reason (lichess-org/api, issue 198); it reads both."""
        answer = self.server.json("/masters", play="e2e4,e7e5,g1f3,b8c6,f1b5,g8f6")
        self.assertEqual([m["uci"] for m in answer["moves"]], ["e1h1"])
        self.assertEqual([g["uci"] for g in answer["topGames"]], ["e1h1"])
        for play in ("e1g1", "e1h1"):
            line = f"e2e4,e7e5,g1f3,b8c6,f1b5,g8f6,{play}"
            self.assertEqual(self.server.json("/masters", play=line)["moves"][0]["san"], "Nxe4")

    def test_lichess(self):
        answer = self.server.json("/lichess", history="true")
        self.assertEqual([set(g) for g in answer["recentGames"]], [GAME | {"speed", "mode"}] * 4)
        self.assertEqual([g["id"] for g in answer["recentGames"]], ["4", "3", "2", "1"])
        months = {row.pop("month"): row for row in answer["history"]}
        none = {"white": 0, "draws": 0, "black": 0}
        self.assertEqual({month: row for month, row in months.items() if row != none},
                         {"2019-04": {"white": 1, "draws": 1, "black": 0},
                          "2022-01": {"white": 0, "draws": 0, "black": 1}})
        self.assertEqual(list(months), [f"{month // 12}-{month % 12 + 1:02d}"
                                        for month in range(2019 * 12 + 3, 2022 * 12 + 1)])
        for path in ("/lichess?ratings=2200", "/lichess?ratings[]=2200&ratings[]=1000"):
            self.assertEqual(self.server.json(path)["white"], 1, path)
        self.assertEqual(self.server.json("/lichess?ratings=1000,2500")["white"], 0)
        self.assertEqual(self.server.json("/lichess?speeds=blitz,rapid")["white"], 0)
        history = self.server.json("/lichess/history?since=2020-01")
        self.assertEqual(history.pop("history"),
                         [{"month": "2022-01", "white": 0, "draws": 0, "black": 1}])
        # All that /lichess has, without moves and games.
        self.assertEqual(history, {**self.server.json("/lichess?since=2020-01"), "moves": [],
                                   "recentGames": [], "topGames": []})

    def test_speeds(self):
        """Games without a time control were said to be classical, and found by no speed: programs
        that name all speeds had nothing from over the board."""
        every = self.server.json("/lichess")
        for speeds in ("ultraBullet,bullet,blitz,rapid,classical,correspondence", "classical",
                       "classical,blitz"):
            self.assertEqual(self.server.json("/lichess", speeds=speeds), every)
        self.assertEqual({game["speed"] for game in every["recentGames"]}, {"classical"})
        for path in ("/lichess?speeds=blitz,fast", "/player?player=Muster&color=white&speeds=rapid,Blitz"):
            self.assertIn("speeds: a list of ultraBullet",
                          json.loads(self.server.request(path)[2])["error"])

    def test_ultra_bullet_is_no_bullet(self):
        games = "".join(f'[TimeControl "{control}"]\n\n1. {move} *\n\n'
                        for control, move in (("15+0", "e4"), ("29+0", "d4"), ("30+0", "c4"), ("179+0", "Nf3")))
        with webserver.start(webserver.make_store(games)) as server:
            for speed, number in (("ultraBullet", 2), ("bullet", 2), ("ultraBullet,bullet", 4), ("blitz", 0)):
                games = server.json("/lichess", speeds=speed, recentGames=9)["recentGames"]
                self.assertEqual(len(games), number, speed)
                self.assertLessEqual({game["speed"] for game in games}, set(speed.split(",")))

    def test_player_is_one_line(self):
        status, fields, content = self.server.request("/player?player=Muster&color=black")
        self.assertEqual((status, fields["Content-Type"]), (200, "application/x-ndjson"))
        line, = content.decode().splitlines()
        answer = json.loads(line)
        self.assertEqual((answer["white"], answer["draws"], answer["black"]), (0, 1, 2))
        self.assertNotIn("topGames", answer)
        e4 = [m for m in answer["moves"] if m["uci"] == "e2e4"][0]
        self.assertEqual((e4["averageOpponentRating"], e4["performance"]), (2380, 2380))
        # Programs sort by these two: a move against players without a rating had neither.
        for move in answer["moves"]:
            self.assertLessEqual({"averageOpponentRating", "performance"}, set(move))
        f3, = (m for m in answer["moves"] if m["uci"] == "f2f3")
        self.assertEqual((f3["averageOpponentRating"], f3["performance"]), (0, 800))
        for path in ("/player?color=white", "/player?player=Muster&color=grey", "/player?player=Muster"):
            self.assertEqual(self.server.request(path)[0], 400)

    def test_a_players_modes_and_moves(self):
        """All moves, unless fewer are asked for; casual games by the name of their event."""
        games = "".join(f'[Event "{event}"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1. {move} 1-0\n\n'
                        for event, moves in (("Rated Blitz game", "a3 b3 c3 d3 e3 f3 g3 h3 a4 b4 c4 d4 e4"),
                                             ("Casual Blitz game", "Nf3"), ("Casuals Cup", "Nc3"))
                        for move in moves.split())
        with webserver.start(webserver.make_store(games)) as server:
            def ask(modes):
                return json.loads(server.request("/player?player=Ann&color=white&modes=" + modes)[2])
            self.assertEqual(len(ask("rated,casual")["moves"]), 15)
            self.assertEqual([m["san"] for m in ask("casual")["moves"]], ["Nf3"])
            self.assertEqual((ask("rated")["white"], ask("")["white"]), (14, 15))
            recent = server.json("/lichess", recentGames=15)["recentGames"]
            self.assertEqual([g["uci"] for g in recent if g["mode"] == "casual"], ["g1f3"])

    def test_games(self):
        status, fields, content = self.server.request("/masters/pgn/2")
        self.assertEqual((status, fields["Content-Type"]), (200, "application/x-chess-pgn"))
        self.assertIn(b'[Round "2"]', content)
        for number in ("9", "x", "", "99999999999"):
            self.assertEqual(self.server.request("/masters/pgn/" + number)[0], 404, number)

    def test_what_is_mended_and_what_is_not(self):
        mended = self.server.json("/masters", fen="r3k3/8/8/8/8/8/8/4K3 w KQkq e3 0 1")
        self.assertEqual(mended["moves"], [])
        for query in ("play=e2e5", "play=e2e4,x", "fen=x", "variant=atomic", "moves=x",
                      "ratings=x"):
            path = "/lichess?" + query
            self.assertEqual(self.server.request(path)[0], 400, path)


# ---- chessdb ---------------------------------------------------------------------------------

def throttle(best):
    """The least score that is not bad: four pieces, of which neighbours meet."""
    def logistic(score):
        return score - 10 / (1 + math.exp(-abs(score) / 10))
    if best <= -50:
        return -50
    if best < -30:
        return -50 + (logistic(-30) + 50) * (best + 50) / 20
    if best <= 50:
        return logistic(best)
    return min(best, logistic(best) + (best - logistic(best)) * (best - 50) / 25) if best < 75 else best


def rank(score, best):
    top = best
    if -30 <= best < 50:
        top = best - 5 / (1 + math.exp(-abs(best) / 20))
        top = max(top, 1) if best > 0 else top
    return 2 if score >= throttle(best) and score >= top else 1 if score >= throttle(best) else 0


class TestChessdb(unittest.TestCase):
    """Scores of the moves are those of the positions after them, to the other side."""

    SCORES = {"e2e4": -20, "d2d4": -18, "g1f3": -12, "f2f3": 90, "g2g4": 130}

    @classmethod
    def setUpClass(cls):
        cls.store = harness.make_store()
        cls.daemon = cls.enterClassContext(harness.start_daemon({"default": cls.store}))
        cls.server = cls.enterClassContext(webserver.start(cls.store, "--write-to", cls.daemon.address))
        legal = {m["uci"]: m["fen"] for m in cls.server.json("/api/position", fen=START)["legal"]}
        for uci, score in cls.SCORES.items():
            cls.put(legal[uci], "--eval", f"sf:20:{score}")
        done = harness.run_cli("import", "--format", "epd", "--engine", "sf", "-",
                               address=cls.daemon.address, input=START[:-4] + " acd 30; ce 25; pv e4 e5 Nf3;\n")
        assert done.returncode == 0, done.stderr
        replies = {m["uci"]: m["fen"]
                   for m in cls.server.json("/api/position", fen=AFTER_E4)["legal"]}
        for uci, score in (("e7e5", 22), ("c7c5", 30), ("g7g5", 150)):
            cls.put(replies[uci], "--eval", f"sf:18:{score}")

    @classmethod
    def put(cls, *args):
        done = harness.run_cli("put", *args, address=cls.daemon.address)
        assert done.returncode == 0, done.stderr

    def ask(self, **parameters):
        """Without learning, of which the queue's tests would see something."""
        parameters.setdefault("learn", 0)
        status, fields, content = self.server.request("/cdb.php?" + urllib.parse.urlencode(parameters))
        self.assertEqual(status, 200)
        if parameters.get("json"):
            self.assertEqual(fields["Content-Type"], "application/json")
            return json.loads(content)
        self.assertTrue(content.endswith(b"\0"), content)
        self.assertEqual(content.count(b"\0"), 1)
        return content[:-1].decode()

    def test_queryall(self):
        answer = self.ask(action="queryall", board=START, json=1)
        # No game has reached it, so that its ply is not known.
        self.assertEqual(set(answer), {"status", "moves"})
        known = sorted(((-s, uci) for uci, s in self.SCORES.items()), key=lambda m: (-m[0], m[1]))
        self.assertEqual([(m["score"], m["uci"]) for m in answer["moves"]], known)
        best = known[0][0]
        for move in answer["moves"]:
            self.assertEqual(set(move), {"uci", "san", "score", "rank", "note", "winrate"})
            self.assertEqual(move["rank"], rank(move["score"], best), move)
            self.assertEqual(move["winrate"], f"{100 / (1 + math.exp(-move['score'] / 330)):.2f}")
            self.assertEqual(move["note"][0], "?*!"[move["rank"]])
        # Three replies are known; of -22, -30 and -150 two are good.
        self.assertEqual(answer["moves"][0]["note"], "! (03-02)")
        text = self.ask(action="queryall", board=START)
        fields = [dict(f.split(":", 1) for f in move.split(",")) for move in text.split("|")]
        self.assertEqual([(int(f["score"]), f["move"]) for f in fields], known)
        every = self.ask(action="queryall", board=START, json=1, showall=1)["moves"]
        self.assertEqual(len(every), 20)
        self.assertEqual((every[-1]["score"], every[-1]["note"]), ("??", "? (??-??)"))
        self.assertNotIn("winrate", every[-1])
        self.assertNotIn("?", self.ask(action="queryall", board=START, showall=1).replace("note:?", ""))

    def test_best_score_and_line(self):
        for action in ("querybest", "query", "querylearn"):
            self.assertEqual(self.ask(action=action, board=START, stable=1), "move:e2e4")
        self.assertEqual(self.ask(action="querybest", board=START, json="true", stable=1),
                         {"status": "ok", "move": "e2e4"})
        self.assertEqual(self.ask(action="querysearch", board=START), "search:e2e4|search:d2d4|search:g1f3")
        self.assertEqual(self.ask(action="queryscore", board=START), "eval:25")
        self.assertEqual(self.ask(action="querypv", board=START),
                         "score:25,depth:30,pv:e2e4|e7e5|g1f3")
        answer = self.ask(action="querypv", board=START, json=1)
        self.assertEqual(answer, {"status": "ok", "score": 25, "depth": 30,
                                  "pv": ["e2e4", "e7e5", "g1f3"], "pvSAN": ["e4", "e5", "Nf3"]})

    def test_moves_are_drawn(self):
        """A bot that takes its openings from here would play one game for ever."""
        drawn = {"querybest": {"e2e4", "d2d4"}, "query": {"e2e4", "d2d4", "g1f3"},
                 "querylearn": {"e2e4", "d2d4", "g1f3"}}
        for action, moves in drawn.items():
            found = {self.ask(action=action, board=START) for _ in range(50)}
            self.assertEqual(found, {"move:" + move for move in moves})
            # Tablebases are asked for, of which there are none.
            self.assertEqual(self.ask(action=action, board=START, endgame=1), "")
        self.assertEqual(self.ask(action="queryscore", board=START, endgame=1), "eval:25")

    def test_totals(self):
        """As programs that show chessdb's read them."""
        answer = self.server.json("/statsc.php", json=1)
        self.assertEqual({name: type(value) for name, value in answer.items()},
                         {"status": str, "positions": int, "games": int, "queue": dict, "worker": dict,
                          "egtb": dict})
        self.assertGreater(answer["positions"], 8)
        self.assertEqual(answer["queue"], {"scoring": 0, "sieving": 0})

    def test_failures_are_words(self):
        for parameters, word in (
                ({"action": "queryall", "board": "x"}, "invalid board"),
                ({"action": "queryall", "board": RUY}, "unknown"),
                ({"action": "queryall", "board": MATED}, "checkmate"),
                ({"action": "querybest", "board": "k7/8/1Q6/8/8/8/8/K7 b - - 0 1"}, "stalemate"),
                ({"action": "queryengine", "board": START}, "invalid parameters"),
                ({"action": "queryengine", "board": START, "movelist": "e2e5"}, "invalid movelist"),
                ({"action": "queryengine", "board": START, "movelist": "e2e4|e2e4"}, "invalid movelist"),
                ({"action": "queryengine", "board": START, "movelist": "a2a3"}, "nobestmove")):
            self.assertEqual(self.ask(**parameters), word)
            self.assertEqual(self.ask(json=1, **parameters), {"status": word})
        for movelist, move in (("", "e2e4"), ("e2e4", "e7e5")):
            self.assertEqual(self.ask(action="queryengine", board=START, movelist=movelist),
                             "move:" + move)

    def test_boards_with_less(self):
        """Two to six fields, with any of the three signs between them."""
        fields = START.split()
        for n in range(2, 7):
            for sign in (" ", "_", "+"):
                answer = self.ask(action="queryscore", board=sign.join(fields[:n]), json=1)
                known = {"status": "ok", "eval": 25}
                self.assertEqual(answer, known if n > 2 else {"status": "unknown"}, (n, sign))
        for board in (fields[0], "", " ", "w", "x" * 300, START + " 1 2"):
            self.assertEqual(self.ask(action="queryscore", board=board), "invalid board", board)

    def test_tablebases_are_not_asked(self):
        """egtbmetric asks for them, and was given an engine's opinion."""
        few, more = "8/8/8/3k4/8/3P4/3K4/7R b - - 0 1", "8/pppp4/8/3k4/8/3P4/3K4/7R b - - 0 1"
        for fen in (few, more):
            self.put(fen, "--eval", "sf:9:-500")
        for action in ("querypv", "queryscore", "queryall", "querybest"):
            answer = self.ask(action=action, json=1, board=few, egtbmetric="dtz")
            self.assertEqual(answer, {"status": "unknown"}, action)
        for fen, fields in ((few, {}), (more, {"egtbmetric": "dtz"})):
            answer = self.ask(action="queryscore", json=1, board=fen, **fields)
            self.assertEqual((answer["status"], answer["eval"]), ("ok", -500))

    def test_mates_count_plies(self):
        self.put("6k1/5ppp/8/8/8/8/8/R5K1 b - - 0 1", "--eval", "sf:9:mate-1")
        answer = self.ask(action="queryall", json=1, board="6k1/5ppp/8/8/8/8/R7/6K1 w - - 0 1")
        ra1, = [m for m in answer["moves"] if m["uci"] == "a2a1"]
        self.assertEqual(ra1["score"], 29997)
        mate, = [m for m in answer["moves"] if m["uci"] == "a2a8"]
        self.assertEqual((mate["score"], mate["rank"]), (29999, 2))
        self.assertNotIn("winrate", mate)

    def test_the_queue(self):
        """It is the store's: what any client adds is listed, what is asked for is taken. What waits there or
        is known is "ok": {} told cdbexplore that it cannot be known, and 403 cdblib to ask for ever."""
        self.addCleanup(self.queued, "drop", "--all")
        self.queued("drop", "--all")
        self.queued("add", "--priority", "9", MATED)
        self.assertEqual(self.ask(action="queue", board=RUY), "ok")
        self.assertEqual(self.ask(action="queue", board=RUY), "ok")
        self.assertEqual(self.ask(action="queue", board=START, json=1), {"status": "ok"})
        self.assertEqual(self.ask(action="queue", board=MATED, json=1), {})
        self.assertEqual(self.ask(action="store", board=RUY, move="move:a7a6"), "ok")
        listed = [json.loads(line)["fen"] for line in self.queued("list", "--json").splitlines()]
        self.assertEqual(listed[:2], [MATED, RUY])
        self.assertEqual(self.server.json("/api/queue"), {"total": 3, "positions": listed})
        self.assertEqual(self.server.json("/api/queue", limit=1),
                         {"total": 3, "positions": [MATED]})
        with webserver.start(self.daemon.address) as reader:
            self.assertEqual(reader.json("/api/queue")["positions"], listed)
            for action, more, answer in (("queue", {"board": KINGS}, {}), ("queue", {"board": START}, {"status": "ok"}),
                                         ("store", {"board": RUY, "move": "move:g8f6"}, {})):
                self.assertEqual(reader.json("/cdb.php", action=action, json=1, **more), answer)
        self.assertEqual(self.server.json("/api/queue")["total"], 3)

    def test_unknown_positions_are_queued(self):
        """Those that were asked about, after those that someone wants; once, without being waited for."""
        self.addCleanup(self.queued, "drop", "--all")
        self.queued("drop", "--all")
        self.queued("add", RUY)
        unknown = [f"8/8/8/3k4/8/3P4/3K4/{file}N{7 - file} w - - 0 1" for file in range(1, 7)]
        for fen, more in zip(unknown, ({"learn": 0}, {"action": "queryengine", "movelist": ""},
                                       {"action": "querybest", "endgame": 1})):
            self.ask(**{"action": "queryall", "board": fen, "learn": 1, **more})
        path = f"/cdb.php?action=queryall&board={unknown[3].replace(' ', '_')}"
        self.server.request(path, headers={"Origin": "http://elsewhere.example"})
        self.assertEqual(self.ask(action="queryall", board=MATED, learn=1), "checkmate")
        for action, fen in (("queryall", unknown[4]), ("queryscore", unknown[5]), ("querypv", unknown[4])):
            self.assertEqual(self.ask(action=action, board=fen, learn=1, json=1), {"status": "unknown"})
        harness.wait_for(lambda: b"\nchistore_http_queued_total 2\n" in self.server.request("/metrics")[2])
        self.assertEqual(self.server.json("/api/queue")["positions"], [RUY, *unknown[4:]])

    def queued(self, *args):
        done = harness.run_cli("queue", *args, address=self.daemon.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_pages_of_other_sites_do_not_write(self):
        """What a browser lets them send: any token, and a name that leads here."""
        here = f"127.0.0.1:{self.server.port}"
        board = AFTER_E4.replace(" b ", " w ").replace("4P3", "8").replace(" ", "_")
        path = f"/cdb.php?action=queue&board={board}"
        for fields in ({"Origin": "http://elsewhere.example"}, {"Origin": "null"},
                       {"Origin": "http://elsewhere.example", "Authorization": "Bearer x"},
                       {"Origin": "http://evil.example:80", "Host": "evil.example:80"},
                       {"Origin": "http://127.0.0.1.evil.example", "Host": "127.0.0.1.evil.example"},
                       {"Origin": "http://localhost.evil", "Host": "localhost.evil"},
                       {"Origin": "http://127.0.0.1:1", "Host": here},
                       {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            self.assertEqual(self.server.request(path, headers=fields)[0], 403, fields)
        for fields in ({"Origin": "http://" + here}, {"Sec-Fetch-Site": "same-origin"}, {},
                       {"Origin": "http://localhost:8080", "Host": "localhost:8080"},
                       {"Origin": "http://[::1]:8080", "Host": "[::1]:8080"}):
            self.assertEqual(self.server.request(path, headers=fields)[0], 200, fields)

    def test_a_request_as_weiss_sends_it(self):
        """No version, the absolute form, and one recv for the answer."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as peer:
            peer.sendall(b"GET https://www.chessdb.cn/cdb.php?action=querybest&board="
                         + START.replace(" ", "+").encode() + b"\n")
            self.assertIn(peer.recv(4096), (b"move:e2e4\0", b"move:d2d4\0"))
            self.assertEqual(peer.recv(4096), b"")

    def test_a_form(self):
        fields = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urllib.parse.urlencode({"action": "querybest", "board": START, "stable": 1})
        self.assertEqual(self.server.request("/x/cdb.php", "POST", body, fields)[2], b"move:e2e4\0")

    def test_cloud_evaluations(self):
        answer = self.server.json("/api/cloud-eval", fen=START)
        self.assertEqual(answer, {"fen": START, "knodes": 0, "depth": 30,
                                  "pvs": [{"moves": "e2e4 e7e5 g1f3", "cp": 25}]})
        black = self.server.json("/api/cloud-eval", fen=AFTER_E4)
        self.assertEqual(black["pvs"], [{"moves": "e7e5", "cp": 22}])
        for parameters in ({"fen": RUY}, {"fen": START, "variant": "atomic"}):
            self.assertEqual(self.server.json("/api/cloud-eval", want=404, **parameters),
                             {"error": "No cloud evaluation available for that position"})


def back(score):
    """As the move that leads there has it: a mate is one ply further."""
    return -(score - 1 if score > 10000 else score + 1 if score < -10000 else score)


def key_of(fen):
    return " ".join(fen.split()[:4])


class TestBook(unittest.TestCase):
    """A store of games alone: chessdb's questions for a move are answered, those for a score are not."""

    @classmethod
    def setUpClass(cls):
        cls.store = harness.make_store()
        done = harness.run_cli("import", os.path.join(os.environ["CHISTORE_TEST_DATA"], "pgn", "games_300.pgn"),
                               address=cls.store)
        assert done.returncode == 0, done.stderr
        cls.server = cls.enterClassContext(webserver.start(cls.store))

    def ask(self, **parameters):
        return self.server.json("/cdb.php", json=1, board=START, **parameters)

    def test_games_choose_the_move(self):
        rows = {m["uci"]: m for m in self.server.json("/api/explore", fen=START)["moves"]}
        games = sum(m["games"] for m in rows.values())
        known = {uci for uci, m in rows.items() if m["games"] >= max(10, games / 20)}
        self.assertLess(len(known), len(rows))
        best = self.ask(action="querybest")["move"]
        self.assertIn(best, known)
        self.assertEqual({self.ask(action="querybest")["move"] for _ in range(20)}, {best})
        self.assertEqual(self.ask(action="query", stable=1)["move"], best)
        self.assertEqual(self.ask(action="queryengine", movelist="")["move"], best)
        for action in ("query", "querylearn"):
            drawn = {self.ask(action=action)["move"] for _ in range(60)}
            self.assertGreater(len(drawn), 1)
            self.assertLessEqual(drawn, known)
        listed = [m["uci"] for m in self.ask(action="querysearch")["search_moves"]]
        self.assertEqual((listed[0], set(listed)), (best, known))

    def test_no_score_is_made_of_games(self):
        """Programs take a score for a number: a move without one is only told to those that ask for all."""
        for action in ("queryall", "queryscore", "querypv"):
            self.assertEqual(self.ask(action=action), {"status": "unknown"})
        answer = self.ask(action="queryall", showall=1)
        rows = {m["uci"]: m for m in self.server.json("/api/explore", fen=START)["moves"]}
        self.assertEqual(len(answer["moves"]), 20)
        self.assertEqual(answer["moves"][0]["uci"], self.ask(action="querybest")["move"])
        self.assertEqual([m["rank"] for m in answer["moves"]], sorted((m["rank"] for m in answer["moves"]), reverse=True))
        self.assertEqual(answer["moves"][0]["note"], "! (??-??)")
        for move in answer["moves"]:
            row = rows.get(move["uci"])
            self.assertEqual(move["score"], "??")
            self.assertEqual("winrate" in move, row is not None)
            if row:
                share = (row["white"] + row["draws"] / 2) / (row["white"] + row["draws"] + row["black"])
                self.assertAlmostEqual(float(move["winrate"]), 100 * share, 1)


class TestMinimax(unittest.TestCase):
    """A tree of evaluations, some of which contradict those above them, worked out here again."""

    ROOT = "8/5k2/7p/8/8/8/PP6/K7 w - - 0 1"
    BESTS = (-400, -51, -50, -49, -40, -31, -30, -29, -3, 0, 3, 49, 50, 51, 60, 74, 75, 300)
    BELOW = (0, 1, 2, 4, 6, 9, 11, 60)

    @classmethod
    def setUpClass(cls):
        cls.store = harness.make_store()
        cls.server = cls.enterClassContext(webserver.start(cls.store))
        cls.legal_of = {}
        cls.stored = {}
        cls.random = random.Random(14)
        cls.stored[key_of(cls.ROOT)] = -1000
        cls.grow(cls.ROOT, 4)
        cls.levels = {}
        for move, best in zip(cls.legal(START), cls.BESTS):
            cls.levels[best] = move
            for reply, less in zip(cls.legal(move), cls.BELOW):
                cls.stored[key_of(reply)] = back(best - less)
        lines = "".join(f"{fen} acd 9; ce {score};\n" for fen, score in cls.stored.items())
        done = harness.run_cli("import", "--format", "epd", "--engine", "sf", "-", address=cls.store,
                               input=lines)
        assert done.returncode == 0, done.stderr

    @classmethod
    def legal(cls, fen):
        if fen not in cls.legal_of:
            moves = cls.server.json("/api/position", fen=fen)["legal"]
            cls.legal_of[fen] = {move["uci"]: move["fen"] for move in moves}
        return list(cls.legal_of[fen].values())

    @classmethod
    def grow(cls, fen, plies):
        """White's moves are of pawns, so that no line comes back to where it was."""
        board = fen.split()[0]
        for after in cls.legal(fen):
            pawn = after.split()[0].rsplit("/", 1)[1] == board.rsplit("/", 1)[1] or " b " in fen
            if pawn and cls.random.random() < 0.5:
                cls.stored[key_of(after)] = cls.random.randrange(-200, 200)
                if plies > 1:
                    cls.grow(after, plies - 1)

    def legal_first(self, fen):
        return self.legal(fen)[0]

    def value(self, fen):
        """The score, or None; and how many replies are known and good."""
        own = self.stored.get(key_of(fen))
        scores = []
        for after in self.legal(fen):
            if key_of(after) in self.stored:
                score, _, _ = self.value(after)
                scores.append(back(score))
        if not scores:
            return own, 0, 0
        best = max(scores)
        good = sum(score >= throttle(best) for score in scores)
        if len(scores) < len(self.legal(fen)):
            best = None if own is None else max(best, own)
        return best, len(scores), good

    def ask(self, action, fen):
        return self.server.json("/cdb.php", action=action, board=fen, json=1)

    def test_a_tree(self):
        self.assertGreater(len(self.stored), 60)
        wanted = []
        self.legal(self.ROOT)
        for uci, fen in self.legal_of[self.ROOT].items():
            score, replies, good = self.value(fen)
            if score is not None:
                wanted.append((-back(score), good, -replies, uci))
        wanted.sort()
        answer = self.ask("queryall", self.ROOT)
        self.assertEqual([(-m["score"], m["uci"]) for m in answer["moves"]],
                         [(row[0], row[3]) for row in wanted])
        self.assertEqual([m["note"] for m in answer["moves"]],
                         [f"{'?*!'[rank(-s, -wanted[0][0])]} ({-n:02d}-{good:02d})"
                          for s, good, n, _ in wanted])
        self.assertNotEqual({n for _, _, n, _ in wanted}, {0})
        own = {uci: self.stored.get(key_of(fen)) for uci, fen in self.legal_of[self.ROOT].items()}
        self.assertTrue(any(own[uci] is not None and back(own[uci]) != -s for s, _, _, uci in wanted))
        self.assertEqual(self.ask("queryscore", self.ROOT)["eval"], -wanted[0][0])

    def test_a_line_leads_to_its_score(self):
        """The line's first move had the score, and what came after was of another evaluation."""
        depths = set()
        for fen in [self.ROOT, *self.legal(self.ROOT), *map(self.legal_first, self.legal(self.ROOT))]:
            answer = self.ask("querypv", fen)
            if answer["status"] != "ok":
                continue
            end = fen
            for uci in answer["pv"]:
                self.legal(end)
                end = self.legal_of[end][uci]
            score = self.stored[key_of(end)]
            for _ in answer["pv"]:
                score = back(score)
            self.assertEqual(answer["score"], score, fen)
            self.assertEqual(answer["depth"], len(answer["pv"]) + 9)
            depths.add(len(answer["pv"]))
        self.assertGreaterEqual(len(depths), 2, depths)

    def test_a_ply_too_large_is_left_out_whole(self):
        """420 lists of moves for two plies, so that a third of 82 positions is looked into, of 202 not:
        each is reached by White's moves in either order."""
        line = [START]
        for uci in ("e2e4", "e7e5", "g1f3", "b8c6"):
            self.legal(line[-1])
            line.append(self.legal_of[line[-1]][uci])
        replies = [reply for move in self.legal(START) for reply in self.legal(move)]
        third = [fen for reply in replies[:6] for fen in self.legal(reply)]
        scores = {**{fen: 0 for fen in replies + third[:40]},
                  line[2]: -500, line[3]: -100, line[4]: -400}
        with webserver.start(store := harness.make_store()) as server:
            def score_of(fens):
                lines = "".join(f"{fen} acd 9; ce {scores[fen]};\n" for fen in fens)
                done = harness.run_cli("import", "--format", "epd", "--engine", "sf", "-",
                                       address=store, input=lines)
                self.assertEqual(done.returncode, 0, done.stderr)
                answer = server.json("/cdb.php", action="queryall", board=START, json=1)
                return {move["uci"]: move["score"] for move in answer.get("moves", [])}.get("e2e4")
            harness.wait_for(lambda: score_of(scores) == -400)
            scores.update({fen: 0 for fen in third[40:100]})
            harness.wait_for(lambda: score_of(scores) == 0)

    def test_ranks_on_all_levels(self):
        for best, fen in self.levels.items():
            moves = self.ask("queryall", fen)["moves"]
            self.assertEqual([m["score"] for m in moves], [best - less for less in self.BELOW])
            self.assertEqual([m["rank"] for m in moves],
                             [rank(best - less, best) for less in self.BELOW], best)
            self.assertEqual({m["note"][0] for m in moves[:1]}, {"!" if best >= -50 else "?"})
            good = [m["uci"] for m in moves if m["rank"] > 0]
            found = self.ask("querysearch", fen)
            self.assertEqual([m["uci"] for m in found.get("search_moves", [])], good)
            for action, lost in (("querybest", -50), ("query", -50), ("querylearn", -75)):
                word = "ok" if best >= lost else "nobestmove"
                self.assertEqual(self.ask(action, fen)["status"], word, (action, best))


class TestBounds(unittest.TestCase):
    """What is told of positions of which little is stored."""

    D4NF6 = "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1"
    D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
    D4NF6E4 = "rnbqkb1r/pppppppp/5n2/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 1"
    # The king has to come out of the corner, and is mated there; or has another way.
    FORCED = "7k/8/6K1/8/8/8/8/R7 b - - 0 1"
    FREE = "6k1/8/6K1/8/8/8/8/R7 b - - 0 1"
    MATES = ["6k1/8/6K1/8/8/8/8/R7 w - - 0 1", "R5k1/8/6K1/8/8/8/8/8 b - - 0 1",
             "7k/8/6K1/8/8/8/8/R7 w - - 0 1", "R6k/8/6K1/8/8/8/8/8 b - - 0 1"]

    def serve(self, *rows):
        """Positions with their evaluations: depth, score, and moves or not."""
        store = harness.make_store()
        text = "".join(json.dumps({"fen": fen, "evals": [
            {"engine": f"sf {i // 4}", "multipv": i % 4 + 1, "depth": depth, kind: score, "pv": pv.split()}
            for i, (depth, kind, score, pv) in enumerate(evals)]}) + "\n" for fen, *evals in rows)
        done = harness.run_cli("import", "--format", "jsonl", "-", address=store, input=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.server = self.enterContext(webserver.start(store))

    def ask(self, action, fen):
        return self.server.json("/cdb.php", action=action, board=fen, json=1)

    def scores(self, fen):
        answer = self.ask("queryall", fen)
        return {m["uci"]: m["score"] for m in answer.get("moves", [])}

    def test_a_lone_reply_is_no_score(self):
        """1.d4 Nf6 was worth what 2.e4 is, the only reply that happened to be stored."""
        self.serve((self.D4NF6E4, (20, "cp", 56, "")), (self.D4, (20, "cp", 10, "")))
        self.assertEqual(self.ask("queryall", self.D4), {"status": "unknown"})
        self.assertEqual(self.ask("queryscore", self.D4NF6), {"status": "unknown"})
        self.assertEqual(self.scores(self.D4NF6), {"e2e4": -56})
        self.assertEqual(self.ask("queryscore", self.D4), {"status": "ok", "eval": 10})

    def test_mates_are_proven_or_told(self):
        self.serve(*((fen, (5, "cp", 500, "")) for fen in self.MATES), (AFTER_E4, (9, "mate", -3, "")))
        self.assertEqual(self.ask("queryscore", self.FORCED)["eval"], -29998)
        self.assertEqual(self.ask("queryscore", self.MATES[2])["eval"], 29999)
        self.assertEqual(self.ask("queryscore", self.FREE), {"status": "unknown"})
        self.assertEqual(self.scores(self.FREE), {"g8h8": -29998})
        # The evaluation's own, a ply further; and no more than a score before that.
        self.assertEqual(self.ask("queryscore", AFTER_E4)["eval"], -29994)
        self.assertEqual(self.scores(START), {"e2e4": 29993})
        self.assertEqual(self.ask("queryscore", START), {"status": "unknown"})

    def test_a_mate_that_is_told_is_no_proof(self):
        self.serve((START, (9, "cp", 20, "")), (AFTER_E4, (9, "mate", -3, "")))
        self.assertEqual(self.ask("queryscore", START)["eval"], 10000)
        self.assertEqual(self.ask("querypv", START), {"status": "ok", "score": 10000, "depth": 10,
                                                      "pv": ["e2e4"], "pvSAN": ["e4"]})

    def test_first_moves_of_lines_are_known(self):
        """A position was analysed from the queue, and queryall knew nothing of it."""
        self.serve((START, (20, "cp", 31, "e2e4 e7e5"), (20, "cp", 25, "d2d4"), (20, "mate", -9, "g2g4"),
                    (20, "cp", 20, "g1f3")), (self.D4, (5, "cp", -12, "")))
        self.assertEqual(self.scores(START), {"e2e4": 31, "d2d4": 12, "g1f3": 20, "g2g4": -29982})
        self.assertEqual(self.ask("querybest", START), {"status": "ok", "move": "e2e4"})
        self.assertEqual(self.ask("queryscore", START)["eval"], 31)

    def test_a_line_is_never_empty(self):
        """Programs play the first move of it."""
        def pv(fen):
            answer = self.ask("querypv", fen)
            return answer.get("score"), answer.get("depth"), answer.get("pv")

        def cloud(fen):
            status, _, content = self.server.request("/api/cloud-eval?" + urllib.parse.urlencode({"fen": fen}))
            answer = json.loads(content)
            return (answer["depth"], answer["pvs"]) if status == 200 else status
        none = (0, "cp", 0, "")
        self.serve((START, (30, "cp", 40, ""), none, none, none, (10, "cp", 25, "e2e4 e7e5")),
                   (AFTER_E4, (20, "cp", -20, "")), (self.D4, (20, "cp", 10, "")),
                   (self.D4NF6, (20, "cp", 20, "")), (self.D4NF6E4, (12, "cp", -15, "e7e6 e4e5")),
                   (RUY, (20, "cp", -30, "")))
        # The shallower evaluation, which has a line.
        self.assertEqual(pv(START), (25, 10, ["e2e4", "e7e5"]))
        self.assertEqual(cloud(START), (10, [{"moves": "e2e4 e7e5", "cp": 25}]))
        # The best reply, which is nearly as good as the evaluation is.
        self.assertEqual(pv(self.D4NF6), (15, 13, ["e2e4", "e7e6", "e4e5"]))
        self.assertEqual(cloud(self.D4NF6), (13, [{"moves": "e2e4 e7e6 e4e5", "cp": 15}]))
        # The only reply is 30 worse; or there is none.
        for fen in (self.D4, RUY, KINGS):
            self.assertEqual(self.ask("querypv", fen), {"status": "unknown"})
            self.assertEqual(cloud(fen), 404)


class TestImports(unittest.TestCase):
    def test_games_go_to_the_daemon(self):
        store = webserver.make_store()
        game = {"id": "aAbBcC12", "event": "Cup", "site": "Ulm", "date": "2020-05-01", "round": "3",
                "white": {"name": 'A "B" C', "rating": 2500}, "black": {"name": "D", "rating": 2400},
                "winner": "white", "moves": "d2d4 d7d5 c2c4"}
        online = {"variant": "standard", "speed": "blitz", "id": "00000001", "date": "2021-12",
                  "white": {"name": "X", "rating": 1500}, "black": {"name": "Y", "rating": 1600},
                  "winner": "black", "moves": "e4 e5 Nf3"}
        with harness.start_daemon({"default": store}) as daemon:
            with webserver.start(store, "--write-to", daemon.address) as server:
                def put(path, body):
                    status, _, content = server.request(path, "PUT", json.dumps(body))
                    return status, json.loads(content)
                self.assertEqual(put("/import/masters", game),
                                 (200, {"games": 1, "added": 1, "known": 0}))
                self.assertEqual(put("/import/masters", game)[1]["known"], 1)
                self.assertEqual(put("/import/lichess", [online])[1]["added"], 1)
                self.assertEqual(put("/import/lichess", {"moves": "e4"})[0], 400)
                self.assertEqual(put("/import/masters", dict(game, moves='e4 [Event "x"]'))[0], 400)
                self.assertEqual(put("/import/masters", dict(game, winner="gray"))[0], 400)
                atomic = dict(online, variant="atomic", id="00000002")
                self.assertEqual(put("/import/lichess", [atomic])[1]["added"], 0)
                for speed, black in (("blitz", 1), ("bullet", 0)):
                    answer = server.json("/lichess", play="e2e4,e7e5,g1f3", speeds=speed)
                    self.assertEqual(answer["black"], black)
                answer = server.json("/masters", play="d2d4,d7d5")
                self.assertEqual(answer["topGames"][0]["white"]["name"], 'A "B" C')
        with webserver.start(store) as server:
            self.assertEqual(server.request("/import/masters", "PUT", json.dumps(game))[0], 403)
