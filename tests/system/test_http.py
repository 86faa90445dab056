# SPDX-License-Identifier: MIT
"""chistore-http: every answer of its own JSON by openapi.json and compared with the command line's,
over a directory and over a daemon; and what no client should send."""

import gzip
import hashlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse

import harness
import webserver
from webserver import START, faults, schema_of

AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def cli(store, *args):
    done = harness.run_cli(*args, address=store)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Answers:
    """The same tests over each kind of address."""

    def answer(self, path, **parameters):
        return self.server.json(path, **parameters)

    def get(self, path, template=None, **parameters):
        answer = self.answer(path, **parameters)
        kind, schema = schema_of(template or path)
        self.assertEqual(kind, "application/json")
        self.assertEqual(faults(answer, schema), [])
        return answer

    def test_info(self):
        info, = cli(self.store, "info", "--json")
        answer = self.get("/api/info")
        self.assertEqual(answer["positions"], info["positions"])
        self.assertEqual(answer["games"] + answer["other"], info["games"])
        self.assertTrue(answer["games_kept"])

    def test_position(self):
        answer = self.get("/api/position", fen=START)
        self.assertEqual(self.get("/api/position", fen="startpos"), answer)
        known, = cli(self.store, "get", START, "--json")
        for name in ("fen", "chi2", "games", "white", "draws", "black", "other", "min_ply"):
            self.assertEqual(answer[name], known[name], name)
        self.assertEqual([m["san"] for m in answer["moves"]], ["e4", "Nf3", "f3"])
        self.assertEqual(len(answer["legal"]), 20)
        self.assertIn({"san": "e4", "uci": "e2e4", "fen": AFTER_E4}, answer["legal"])
        self.assertEqual(answer["control"], 76)
        mate = self.get("/api/position",
                        fen="rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR_w_KQkq_-_1_3")
        self.assertEqual((mate["end"], mate["check"], mate["legal"]), ("checkmate", True, []))
        absent = self.get("/api/position", fen="8/8/4k3/8/8/4K3/4P3/8 w - - 0 1")
        self.assertFalse(absent["found"])
        self.assertEqual(absent["endgame"]["family"], "pawn endings")

    def test_many_positions(self):
        body = json.dumps({"fens": [AFTER_E4, "nonsense", START, 7]})
        status, _, content = self.server.request("/api/position", "POST", body)
        answer = json.loads(content)
        self.assertEqual(status, 200)
        self.assertEqual(faults(answer, schema_of("/api/position", "post")[1]), [])
        first, bad, second, number = answer["positions"]
        self.assertEqual((first["fen"], second["fen"]), (AFTER_E4, START))
        self.assertEqual((list(bad), list(number)), (["error"], ["error"]))

    def test_explore(self):
        for fen in (START, AFTER_E4):
            answer = self.get("/api/explore", fen=fen)
            known, = cli(self.store, "explore", fen, "--json")
            self.assertEqual(len(answer["moves"]), len(known["moves"]))
            for mine, theirs in zip(answer["moves"], known["moves"]):
                self.assertEqual(mine, theirs)
        few = self.get("/api/explore", fen=START, player="muster", white="1")
        self.assertEqual((few["games"], len(few["moves"])), (1, 1))

    def test_games(self):
        answer = self.get("/api/games", player="Anna Muster", not_result="1-0")
        known = cli(self.store, "games", "--player", "Anna Muster", "--not-result", "1-0", "--json")
        self.assertEqual(answer["total"], 3)
        for mine, theirs in zip(answer["games"], known):
            self.assertEqual({k: v for k, v in mine.items() if k != "move"}, theirs)
        black = self.get("/api/games", player="Muster", black="1", opponent="Fool")
        self.assertEqual([g["game"] for g in black["games"]], [4])
        self.assertEqual(self.get("/api/games", white="Nessie")["unknown"], ["Nessie"])
        plan = self.get("/api/games", white="Muster", explain="1")
        known, = cli(self.store, "games", "--white", "Muster", "--explain", "--json")
        self.assertEqual((plan["games"], plan["plan"]), ([], known["plan"]))
        here = self.get("/api/games", fen=AFTER_E4.replace(" ", "_"))
        self.assertEqual([(g["ply"], g["move"]) for g in here["games"]], [(1, "e5"), (1, "c5")])

    def test_pages_of_games(self):
        seen, cursor = [], ""
        while cursor is not None:
            page = self.get("/api/games", limit=3, cursor=cursor, sort="date", descending="1")
            seen += [game["game"] for game in page["games"]]
            self.assertEqual(page["total"], 4)
            cursor = page["next"]
        self.assertEqual(seen, [4, 3, 2, 1])

    def test_game(self):
        answer = self.get("/api/game/3", "/api/game/{number}")
        self.assertEqual([m["san"] for m in answer["moves"]],
                         ["Nf3", "Nc6", "e4", "e5", "Bb5", "a6"])
        self.assertEqual(answer["tags"]["White"], 'Zoe "Zz" O\'Neil')
        rows = cli(self.store, "get", answer["moves"][4]["fen"], "--json")
        self.assertEqual(answer["moves"][4]["reached"], rows[0]["games"])
        status, fields, pgn = self.server.request("/api/game/3.pgn")
        self.assertEqual((status, fields["Content-Type"]), (200, "application/x-chess-pgn"))
        done = harness.run_cli("game", "3", address=self.store)
        self.assertEqual(pgn.decode(), done.stdout)
        for path in ("/api/game/5", "/api/game/0", "/api/game/x", "/api/game/"):
            self.assertEqual(self.server.request(path)[0], 404, path)

    def test_find(self):
        answer = self.get("/api/find", has="Bb5 kg8 !Pe4", total="1")
        self.assertEqual(answer["total"], 0)
        answer = self.get("/api/find", has="Bb5 nc6", player="Muster", white="1", total="1", limit=1)
        known = cli(self.store, "find", "--has", "Bb5 nc6", "--player", "Muster", "--white", "--json")
        self.assertEqual(answer["total"], len(known))
        self.assertEqual(answer["positions"][0]["fen"], known[0]["fen"])
        rest = self.get("/api/find", has="Bb5 nc6", player="Muster", white="1",
                        cursor=answer["next"])
        self.assertEqual([p["fen"] for p in answer["positions"] + rest["positions"]],
                         [p["fen"] for p in known])

    def test_scan(self):
        def lines(**parameters):
            query = urllib.parse.urlencode([(k.replace("_", "-"), v) for k, v in parameters.items()])
            status, fields, content = self.server.request("/api/scan?" + query)
            self.assertEqual((status, fields["Content-Type"]), (200, "application/x-ndjson"))
            rows = [json.loads(line) for line in content.splitlines()]
            for row in rows:
                self.assertEqual(faults(row, schema_of("/api/scan")[1]), [])
            return rows[:-1], rows[-1]
        rows, end = lines(total="1")
        known = cli(self.store, "scan", "--json")
        self.assertEqual([row["fen"] for row in rows], [row["fen"] for row in known])
        self.assertEqual(end, {"next": None, "total": len(known)})
        some, end = lines(limit=5, side="b")
        more, last = lines(side="b", cursor=end["next"])
        self.assertEqual([row["fen"] for row in some + more],
                         [row["fen"] for row in known if " b " in row["fen"]])
        self.assertIsNone(last["next"])
        top, _ = lines(sort="games", limit=2)
        self.assertEqual(top[0]["fen"], START)

    def test_histogram(self):
        answer = self.get("/api/histogram", bins=7)
        self.assertEqual(len(answer["bins"]), 7)
        total = answer["unknown"] + sum(one["positions"] for one in answer["bins"])
        self.assertEqual(total, cli(self.store, "info", "--json")[0]["positions"])
        self.assertEqual((answer["bins"][0]["from"], answer["bins"][-1]["to"]), (0.01, 255.99))

    def test_names_gamesets_and_statistics(self):
        names = self.get("/api/names", q="mus ann")
        self.assertEqual([(n["name"], n["games"]) for n in names["names"]], [("Muster, Anna", 4)])
        everyone = self.get("/api/names", limit=2)
        self.assertEqual((everyone["total"], everyone["names"][0]["name"]), (4, "Muster, Anna"))
        self.assertEqual(self.get("/api/gamesets")["gamesets"],
                         [{"name": "open", "games": 2, "filter": "event \"Spring Open\""}])
        self.assertEqual(self.get("/api/games", **{"in": "open"})["total"], 2)
        self.assertEqual(self.get("/api/queue", limit=5), {"total": 0, "positions": []})
        stats = self.get("/api/stats", by="year")
        self.assertEqual([(r["value"], r["games"]) for r in stats["rows"]],
                         [(2019, 2), (2021, 1), (2022, 1)])
        for side, wanted in (("both", (4, 3, 1, 0)), ("white", (1, 1, 0, 0)), ("black", (3, 2, 1, 0))):
            row = next(r for r in self.get("/api/stats", **{"by": "player", "as": side})["rows"]
                       if r["value"] == "Muster, Anna")
            self.assertEqual((row["games"], row["won"], row["drawn"], row["lost"]), wanted)
            self.assertAlmostEqual(row["score"], 100 * (wanted[1] + wanted[2] / 2) / wanted[0], 3)

    def test_insight(self):
        for kind in ("weak", "strong"):
            found = self.get("/api/insight", kind=kind, white="Muster, Anna", side="white")
            self.assertEqual(found, {"kind": kind, "tested": 0, "games": found["games"], "rows": []})
        found = self.get("/api/insight", kind="novelties", known=1, **{"min-games": 1, "limit": 3})
        self.assertGreater(len(found["rows"]), 0)
        for row in found["rows"]:
            self.assertGreaterEqual(row["before"], 1)
            games = self.get("/api/games", fen=row["after"], limit=1)
            self.assertEqual((games["total"], games["games"][0]["white"]), (row["games"], row["white"]))
        self.assertEqual(self.get("/api/insight", kind="tempo")["rows"], [])
        found = self.get("/api/insight", kind="performance", fen=found["rows"][0]["fen"], fdr=100,
                         **{"min-games": 1})
        self.assertTrue(all(row["move"] for row in found["rows"]))

    def test_pasted_games(self):
        def post(text, want=200, query=""):
            status, _, content = self.server.request("/api/pgn" + query, "POST", text)
            self.assertEqual(status, want, content)
            return json.loads(content)
        answer = post("1. e4 e5 2. Nf3 *")
        self.assertEqual(faults(answer, schema_of("/api/pgn", "post")[1]), [])
        self.assertEqual([m["uci"] for m in answer["moves"]], ["e2e4", "e7e5", "g1f3"])
        game = post(webserver.GAMES)
        self.assertEqual((game["result"], game["tags"]["White"]), ("1-0", "Muster, Anna"))
        here = post("1... c5", query="?fen=" + AFTER_E4.replace(" ", "_"))
        self.assertEqual(here["moves"][0]["san"], "c5")
        self.assertIn("Nf7", post("1. e4 e5 2. Nf7", 400)["error"])
        post("", 400)

    def test_unknown_parameters_are_refused(self):
        """A mistyped filter was an answer about everything; openapi.json has the names."""
        for path, methods in webserver.API["paths"].items():
            for method in {"get", "post"} & set(methods):
                place = path.replace("{number}", "1")
                status, _, content = self.server.request(place + "?playr=Fool", method.upper(), "{}")
                why = json.loads(content)["error"]
                self.assertEqual(status, 400, place)
                self.assertTrue(why.startswith("playr: "), why)
                known = set(re.split("; and filters: |filters: |, ", why.split("it has ")[1]))
                described = webserver.parameters_of(path, method)
                self.assertEqual(known - {"none"} if method == "get" else known & described,
                                 described, why)
        for path in ("/api/games?not-player=Fool", "/masters?playr=Fool", "/?playr=Fool",
                     "/cdb.php?action=queryall&playr=1"):
            self.assertEqual(self.server.request(path)[0], 200, path)
        self.assertEqual(self.server.request("/api/info?not-fen=x")[0], 400)
        status, _, content = self.server.request("/api/position?fen=" + START.replace(" ", "_"),
                                                 "POST", '{"fens": []}')
        self.assertEqual((status, json.loads(content)["error"][:4]), (400, "fen:"))

    def test_an_error_in_a_filter_names_its_character(self):
        """Whatever other filters are beside it; it counted in the text of all."""
        for path in ("/api/games?filter=check+nex", "/api/games?player=A&length=20..&filter=check+nex",
                     "/api/stats?by=year&filter=result+*&filter=check+nex"):
            status, _, content = self.server.request(path)
            self.assertEqual(status, 400, path)
            self.assertTrue(json.loads(content)["error"].startswith("filter, character 7: 'nex'"), content)

    def test_what_is_wrong_is_said(self):
        for path in ("/api/position", "/api/position?fen=x", "/api/games?limit=0",
                     "/api/games?player=%ff", "/api/games?eco=Z", "/api/games?cursor=x",
                     "/api/games?filter=player", "/api/scan?from=x", "/api/scan?from=2&to=1",
                     "/api/find?has=Zz9", "/api/stats?by=colour", "/api/stats?by=year&as=white", "/api/insight?kind=x", "/api/insight?fdr=101", "/api/insight?kind=drift", "/api/insight?kind=weak&min-games=4", "/api/insight?kind=performance&fen=x", "/api/insight?kind=tempo&eco=B", "/api/names?kind=x",
                     "/api/games?opponent=X", "/api/histogram?bins=257",
                     # What is yes or no was "no", or the name of a player, if it was another word.
                     "/api/games?descending=x", "/api/find?has=Qd1&mirror=x", "/api/games?player=F&not-white=1"):
            status, _, content = self.server.request(path)
            if status != 501:
                self.assertEqual(status, 400, path)
            self.assertEqual(faults(json.loads(content),
                                    {"$ref": "#/components/schemas/Error"}), [])


def cached(server):
    """Requests that were answered from kept answers."""
    content = server.request("/metrics")[2].decode()
    return int(re.search(r"^chistore_http_cached_total (\d+)", content, re.MULTILINE).group(1))


class TestDirectory(Answers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = webserver.make_store()
        done = harness.run_cli("gameset", "create", "open", "--event", "Spring Open",
                               address=cls.store)
        assert done.returncode == 0, done.stderr
        cls.server = cls.enterClassContext(webserver.start(cls.store))

    def test_answers_follow_the_store(self):
        """With one loop, as any other would answer without what this one keeps."""
        store = webserver.make_store()
        with webserver.start(store, "--threads", "1") as server:
            before = cached(server)
            for _ in range(2):
                self.assertEqual(server.json("/api/games", total="1")["total"], 4)
            self.assertEqual(cached(server) - before, 1)
            more = webserver.GAMES.replace("2019", "2018")
            done = harness.run_cli("import", "--quiet", "-", address=store, input=more)
            self.assertEqual(done.returncode, 0, done.stderr)
            harness.wait_for(lambda: server.json("/api/games", total="1")["total"] == 6)


class TestDaemon(Answers, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = webserver.make_store()
        done = harness.run_cli("gameset", "create", "open", "--event", "Spring Open",
                               address=cls.store)
        assert done.returncode == 0, done.stderr
        cls.daemon = cls.enterClassContext(harness.start_daemon({"default": cls.store}))
        cls.server = cls.enterClassContext(webserver.start(cls.daemon.address))


class TestHttp(unittest.TestCase):
    """What is about HTTP and not about chess."""

    @classmethod
    def setUpClass(cls):
        cls.store = webserver.make_store()
        cls.server = cls.enterClassContext(webserver.start(cls.store, "--head-timeout", "300", "--max-body", "1000"))

    PATH = "/api/position?fen=" + START.replace(" ", "_")

    def test_without_a_version_the_answer_is_bare(self):
        bare = self.server.raw(b"GET /api/info\n")
        self.assertEqual(json.loads(bare)["games"], 4)
        bare = self.server.raw(b"GET https://www.chessdb.cn/api/info\r\n")
        self.assertEqual(json.loads(bare)["games"], 4)

    def test_compression(self):
        plain = self.server.request(self.PATH)[2]
        _, fields, packed = self.server.request(self.PATH, headers={"Accept-Encoding": "gzip"})
        self.assertEqual(fields["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed), plain)
        _, fields, packed = self.server.request(self.PATH, headers={"Accept-Encoding": "gzip, zstd"})
        self.assertEqual(fields["Content-Encoding"], "zstd")
        self.assertEqual(packed[:4], b"\x28\xb5\x2f\xfd")
        fields = self.server.request(self.PATH, headers={"Accept-Encoding": "gzip;q=0"})[1]
        self.assertIsNone(fields["Content-Encoding"])

    def test_streams_are_compressed(self):
        """In parts, each of which can be read when it comes: of a scan of some hundred KB."""
        store = harness.make_store()
        fens = [move["fen"] for move in self.server.json("/api/position", fen=START)["legal"]]
        more = [m["fen"] for fen in fens for m in self.server.json("/api/position", fen=fen)["legal"]]
        lines = "".join(f"{m['fen']} ce 1; acd 1;\n" for fen in more[:80]
                        for m in self.server.json("/api/position", fen=fen)["legal"])
        done = harness.run_cli("import", "--format", "epd", "--engine", "e", "-", address=store, input=lines)
        self.assertEqual(done.returncode, 0, done.stderr)
        with webserver.start(store) as server:
            plain = server.request("/api/scan")[2]
            self.assertGreater(len(plain), 150_000)
            _, fields, packed = server.request("/api/scan", headers={"Accept-Encoding": "gzip"})
            self.assertEqual((fields["Content-Encoding"], fields["Transfer-Encoding"]), ("gzip", "chunked"))
            self.assertEqual(gzip.decompress(packed), plain)
            self.assertLess(len(packed), len(plain) / 4)
            _, fields, packed = server.request("/api/scan", headers={"Accept-Encoding": "zstd"})
            self.assertEqual(fields["Content-Encoding"], "zstd")
            done = subprocess.run(["zstd", "-dc"], input=packed, capture_output=True, check=True)
            self.assertEqual(done.stdout, plain)
            bare = server.raw(b"GET /api/scan HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
            self.assertEqual(gzip.decompress(bare.split(b"\r\n\r\n", 1)[1]), plain)

    def test_conditional_requests(self):
        fields = self.server.request(self.PATH)[1]
        status, again, content = self.server.request(
            self.PATH, headers={"If-None-Match": f'"x", {fields["ETag"]}'})
        self.assertEqual((status, content, again["ETag"]), (304, b"", fields["ETag"]))

    def test_head_and_options(self):
        status, fields, content = self.server.request(self.PATH, "HEAD")
        self.assertEqual((status, content), (200, b""))
        self.assertEqual(int(fields["Content-Length"]), len(self.server.request(self.PATH)[2]))
        status, fields, _ = self.server.request(self.PATH, "OPTIONS", headers={"Origin": "http://x"})
        self.assertEqual((status, fields["Access-Control-Allow-Origin"]), (204, "*"))
        self.assertEqual(self.server.request(self.PATH, "PUT")[0], 405)
        self.assertEqual(self.server.request(self.PATH, "BREW")[0], 405)

    def test_a_connection_is_kept_and_pipelined(self):
        many = b"GET /api/info HTTP/1.1\r\nHost: x\r\n\r\n" * 99
        answer = self.server.raw(many, b"GET /api/info HTTP/1.1\r\nConnection: close\r\n\r\n")
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 100)

    def test_a_client_that_ends_its_input_has_its_answer(self):
        answer = self.server.raw(b"GET /api/games HTTP/1.1\r\n\r\n", end=True)
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK"))

    def test_slow_requests_are_ended(self):
        """Each byte comes soon after the last; the whole does not come in time."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as peer:
            answer = b""
            try:
                for _ in range(1000):
                    peer.sendall(b"GET /api/info HTTP/1.1\r\nX: " if not _ else b"x")
                    peer.settimeout(0.02)
                    try:
                        answer = peer.recv(1000)
                        break
                    except TimeoutError:
                        pass
            except OSError:
                pass
            self.assertTrue(answer.startswith(b"HTTP/1.1 408 "), answer)
        body = self.server.raw(b"POST /api/pgn HTTP/1.1\r\nContent-Length: 9\r\n\r\n1. e4")
        self.assertTrue(body.startswith(b"HTTP/1.1 408 "), body)

    def test_a_query_that_takes_too_long_ends(self):
        """Thousands of positions are looked at on every square before the first row; the limit is a millisecond."""
        slow = {"filter": 'not (has A** attacked "k+ by ? 60.." shift)', "limit": "2"}
        store = webserver.make_store("".join(webserver.GAMES.replace('White "', f'White "{n}') for n in range(1000)))
        with webserver.start(store) as server:
            self.assertEqual(len(server.json("/api/games", **slow)["games"]), 2)
        with webserver.start(store, "--max-query-time", "1") as server:
            self.assertEqual(server.json("/api/games", want=504, **slow)["error"],
                             "the query took more than 1 ms, which is as much as this server allows "
                             "(--max-query-time): ask for less")
            self.assertEqual(server.json("/api/info")["games"], 4000)

    def test_what_no_client_should_send(self):
        for request, status in (
                (b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\n\r\n", 414),
                (b"GET / HTTP/1.1\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431),
                (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
                (b"POST /api/pgn HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413),
                (b"POST /api/pgn HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413),
                (b"POST /api/pgn HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
                (b"GET / HTTP/3.0\r\n\r\n", 505),
                (b"GET /../../etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
                (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
                (b"GET //etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
                (b"GET /%00 HTTP/1.1\r\n\r\n", 400), (b"GET /%ff HTTP/1.1\r\n\r\n", 400),
                (b"GET /\xff HTTP/1.1\r\n\r\n", 400)):
            answer = self.server.raw(request)
            self.assertEqual(answer.split(b" ")[1] if b" " in answer[:20] else answer[:80],
                             str(status).encode(), request[:60])
        tls = self.server.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        self.assertEqual(list(json.loads(tls)), ["error"])
        self.assertEqual(self.server.json("/api/info")["games"], 4)

    def test_a_body_changes_no_one_elses_answer(self):
        """Answers are kept by their address, so that a form in a GET's body must not count."""
        form = "application/x-www-form-urlencoded"
        first = self.server.raw(b"GET /masters?topGames=0 HTTP/1.1\r\nConnection: close\r\nContent-Type: "
                                + form.encode() + b"\r\nContent-Length: 9\r\n\r\nplay=g1f3")
        self.assertTrue(first.startswith(b"HTTP/1.1 200 OK"), first)
        again = self.server.json("/masters?topGames=0")
        self.assertEqual([m["uci"] for m in again["moves"]], ["e2e4", "g1f3", "f2f3"])
        self.assertEqual(json.loads(first.split(b"\r\n\r\n", 1)[1]), again)

    def test_random_bytes(self):
        dice = harness.seed()
        for _ in range(harness.rounds(100)):
            words = [b"GET ", b"/api/position?fen=", b" HTTP/1.1", b"\r\n", b"Content-Length: ",
                     b"%", b"\x00", b"9", b"&", b"=", b"\xff"]
            self.server.raw(b"".join(dice.choice(words) for _ in range(dice.randrange(20))), end=True)
        self.assertEqual(self.server.json("/api/info")["games"], 4)

    def test_counters(self):
        status, fields, content = self.server.request("/metrics")
        self.assertEqual((status, fields["Content-Type"].split(";")[0]), (200, "text/plain"))
        self.assertIn(b'\nchistore_http_requests_total{class="2xx"} ', content)

    def test_answers_are_kept_beside_each_other(self):
        """None of many questions takes the place of another's answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        before = cached(self.server)
        for _ in range(2):
            for i in range(1500):
                connection.request("GET", f"/masters/pgn/1?number={i}")
                connection.getresponse().read()
        connection.close()
        self.assertEqual(cached(self.server) - before, 1500)


class TestBodies(unittest.TestCase):
    @staticmethod
    def begin(server, head):
        peer = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        peer.sendall(head)
        return peer

    def test_memory_for_all_together(self):
        """Each client's body would be taken; so many of them are not."""
        head = b"PUT /import/lichess HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (64 << 20)
        with webserver.start(webserver.make_store(), "--max-import", "64M", "--threads", "1") as server:
            peers = [self.begin(server, head) for _ in range(5)]
            # The server takes them in any order.
            refused = select.select(peers, [], [], 60)[0][0]
            self.assertIn(b"HTTP/1.1 503 ", refused.recv(100))
            for peer in peers:
                peer.close()

            def taken():
                with self.begin(server, head[:-2] + b"Expect: 100-continue\r\n\r\n") as peer:
                    return peer.recv(100).startswith(b"HTTP/1.1 100 ")

            harness.wait_for(taken)
            self.assertEqual(server.json("/api/info")["games"], 4)


class TestQueue(unittest.TestCase):
    def test_a_full_queue_refuses(self):
        """One request is with the worker, which waits for a daemon that stands still, and two wait."""
        request = b"GET /api/games HTTP/1.1\r\nConnection: close\r\n\r\n"
        with harness.start_daemon({"default": webserver.make_store()}) as daemon, webserver.start(
                daemon.address, "--threads", "1", "--workers", "1", "--max-waiting", "4") as server:
            server.json("/api/games")
            daemon.freeze()
            try:
                peers = [socket.create_connection(("127.0.0.1", server.port), timeout=60)
                         for _ in range(10)]
                for peer in peers:
                    peer.sendall(request)
                refused = []
                while len(refused) < 7:
                    waiting = [peer for peer in peers if peer not in refused]
                    refused += select.select(waiting, [], [], 60)[0]
            finally:
                daemon.thaw()
            answers = [b"".join(iter(lambda p=peer: p.recv(65536), b"")) for peer in peers]
            for peer in peers:
                peer.close()
            found = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503 ")]
            # The worker may have taken its own before or after the queue was full.
            self.assertIn(len(found), (7, 8))
            self.assertTrue(all(b"\r\nRetry-After: 1\r\n" in answer for answer in found))
            self.assertEqual(sum(answer.startswith(b"HTTP/1.1 200 ") for answer in answers),
                             10 - len(found))


class TestSlowReaders(unittest.TestCase):
    def test_unread_answers_are_bounded(self):
        """Of 256 MiB for all together each of 64 loops has 4: one answer of 17 MB is more. Connections
        are spread over the loops; one that is refused stays with the same."""
        most = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
        body = json.dumps({"fens": [most] * 1000}).encode()
        request = b"POST /api/position HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        with webserver.start(webserver.make_store(), "--threads", "64", "--send-timeout",
                             "600000") as server, socket.socket() as unread:
            def ask(connection):
                connection.request("GET", "/api/info")
                answer = connection.getresponse()
                answer.read()
                return answer.status
            unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            unread.settimeout(60)
            unread.connect(("127.0.0.1", server.port))
            unread.sendall(request)
            self.assertEqual(unread.recv(12), b"HTTP/1.1 200")
            others = []
            while not others or ask(others[-1]) == 200:
                self.assertLess(len(others), 1000)
                others.append(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60))
            self.assertEqual(ask(others[-1]), 503)
            unread.close()
            harness.wait_for(lambda: ask(others[-1]) == 200)
            for other in others:
                other.close()

    def test_a_drop_now_and_then_is_not_reading(self):
        body = json.dumps({"fens": [START] * 1000}).encode()
        request = b"POST /api/position HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        with webserver.start(webserver.make_store(), "--send-timeout", "300") as server, \
                socket.socket() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.settimeout(60)
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(request * 4)

            def cut_off():
                try:
                    peer.recv(100)
                except ConnectionResetError:
                    return True
                return b"expired_total 1\n" in server.request("/metrics")[2]

            harness.wait_for(cut_off)

    def test_asking_on_is_not_reading(self):
        """A request meanwhile gave another --send-timeout."""
        body = json.dumps({"fens": [START] * 1000}).encode()
        large = b"POST /api/position HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        with webserver.start(webserver.make_store(), "--send-timeout", "300") as server, \
                socket.socket() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.settimeout(60)
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(large)

            def cut_off():
                try:
                    # So many that what the system takes for a client who does not read is soon full.
                    peer.sendall(b"HEAD /api/info HTTP/1.1\r\n\r\n" * 100)
                except (ConnectionResetError, BrokenPipeError):
                    return True
                return b"expired_total 1\n" in server.request("/metrics")[2]

            harness.wait_for(cut_off)


class TestSignals(unittest.TestCase):
    def test_a_second_signal_ends_at_once(self):
        """The first one waits for a client that does not read."""
        body = json.dumps({"fens": [START] * 1000}).encode()
        large = b"POST /api/position HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        server = webserver.start(webserver.make_store())
        self.addCleanup(server.process.kill)
        with socket.socket() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.settimeout(60)
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(large * 4)
            self.assertEqual(peer.recv(12), b"HTTP/1.1 200")
            server.process.terminate()
            harness.wait_for(lambda: "stopping" in "".join(server.lines))

            def ended():
                server.process.terminate()
                return server.process.poll() is not None

            harness.wait_for(ended)
            self.assertEqual(server.process.returncode, -signal.SIGTERM)


class TestInstalled(unittest.TestCase):
    """What comes with the program."""

    HTTP = os.path.join(webserver.ROOT, "http")

    def test_completion(self):
        done = subprocess.run(
            ["bash", "-c", f"source '{self.HTTP}/chistore-http.bash'; COMP_CWORD=1; "
             f"COMP_WORDS=('{os.environ['CHISTORE_HTTP']}' --max-); _chistore_http; "
             "echo \"${COMPREPLY[@]}\""], check=True, stdout=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(done.stdout.split(), ["--max-body", "--max-connections", "--max-import",
                                               "--max-query-time", "--max-waiting"])

    def test_the_service_is_shut_off(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        unit = os.path.join(os.path.dirname(os.environ["CHISTORE_HTTP"]), "chistore-http.service")
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15",
                               "--no-pager", unit], stdout=subprocess.PIPE, encoding="utf-8",
                              stderr=subprocess.STDOUT, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_watchdog_hears_of_us(self):
        """As long as all loops turn, and not only the main thread."""
        path = os.path.join(harness.make_temp_dir(), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.settimeout(60)
            told.bind(path)
            with webserver.start(webserver.make_store(), "--threads", "3",
                                 env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "40000"}):
                self.assertEqual(told.recv(100), b"READY=1")
                for _ in range(20):
                    self.assertEqual(told.recv(100), b"WATCHDOG=1")

    def test_the_manual_has_every_option(self):
        done = subprocess.run([os.environ["CHISTORE_HTTP"], "--help"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8")
        with open(os.path.join(self.HTTP, "chistore-http.8"), encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        for option in set(re.findall(r"--[a-z-]+", done.stdout)) - {"--help", "--version"}:
            self.assertIn(option, page)


class TestRules(unittest.TestCase):
    QUEUE = "/cdb.php?action=queue&board=8/8/8/3k4/8/3P4/3K4/8_w"

    def test_tokens(self):
        store = webserver.make_store()
        path = os.path.join(harness.make_temp_dir(), "access")
        with open(path, "w", encoding="utf-8") as file:
            for token, role in ((b"secret", "read"), (b"pen", "write")):
                file.write(f"token {hashlib.sha256(token).hexdigest()} {role}\n")
        os.chmod(path, 0o600)
        with webserver.start(store, "--access", path) as server:
            status, fields, _ = server.request("/api/info")
            self.assertEqual((status, fields["WWW-Authenticate"]), (401, "Bearer"))
            for token, status in (("secret", 200), ("wrong", 401)):
                fields = {"Authorization": f"Bearer {token}"}
                self.assertEqual(server.request("/api/info", headers=fields)[0], status)
            # What only reads, says so to those who might write.
            for token, why in (("secret", "this needs the role write"), ("pen", "only reads")):
                status, _, content = server.request("/import/lichess", "PUT", "[]",
                                                    {"Authorization": f"Bearer {token}"})
                self.assertEqual(status, 403)
                self.assertIn(why, json.loads(content)["error"])
        with webserver.start(store, "--access", path, "--public-read") as server:
            fields = {"Authorization": "Bearer of.another.site"}
            self.assertEqual(server.request("/api/info", headers=fields)[0], 200)

    def test_other_addresses_need_rules(self):
        store = webserver.make_store()
        code, text = webserver.start(store, "--listen", "tcp:0.0.0.0:0", want=False)
        self.assertEqual(code, 3)
        self.assertIn("is not a loopback address", text)
        webserver.start(store, "--listen", "tcp:0.0.0.0:0", "--public-read").stop()

    def test_wrong_starts(self):
        code, text = webserver.start("/nowhere", want=False)
        self.assertEqual(code, 3)
        self.assertIn("/nowhere", text)
        done = subprocess.run([harness.program("CHISTORE_HTTP"), "--cache", "x"], check=False,
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 2)

    def test_a_port_is_not_shared_by_chance(self):
        store = webserver.make_store()
        with webserver.start(store) as server:
            code, text = webserver.start(store, "--listen", f"tcp:127.0.0.1:{server.port}", want=False)
            self.assertEqual(code, 3)
            self.assertIn("cannot listen on", text)

    def test_a_stop_finishes_what_was_asked(self):
        store = webserver.make_store()
        server = webserver.start(store)
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 30)
        idle.close()
