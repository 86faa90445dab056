# SPDX-License-Identifier: MIT
"""Answers that lichess publishes as examples of its opening explorer and its cloud evaluations, field
by field, over a store whose games are made so that they must come out.

The examples are those of github.com/lichess-org/api at f59dc80: doc/specs/examples/
openingExplorer-masters.json.yaml, openingExplorer-player.json.yaml, openingExplorer-otbMasterGame.pgn.yaml
and doc/specs/schemas/CloudEval.yaml; the questions are in scripts/update-examples/opening-explorer.ts."""

import json
import random
import re
import unittest

import harness
import webserver

# What our answers have besides, and what is named otherwise here: games have numbers.
OURS = {"reached", "chi2", "truncated"}
RESULTS = {"white": "1-0", "black": "0-1", None: "1/2-1/2"}

MASTERS = "d2d4,d7d5,c2c4,c7c6,c4d5"
MARSHALL = {"eco": "D06", "name": "Queen's Gambit Declined: Marshall Defense, Tan Gambit"}
# Of the published list of top games: move, White, Black, winner, month.
TOP = [
    ("c6d5", ("Carlsen, M.", 2881), ("Anand, V.", 2785), "black", "2014-06"),
    ("c6d5", ("So, W.", 2778), ("Carlsen, M.", 2843), "white", "2018-06"),
    ("c6d5", ("So, W..", 2770), ("Carlsen, M..", 2847), None, "2021-03"),
    ("c6d5", ("Caruana, Fabiano", 2835), ("Vachier Lagrave, Maxime", 2778), "white", "2020-06"),
    ("c6d5", ("So, Wesley", 2770), ("Caruana, Fabiano", 2835), "black", "2020-06"),
    ("c6d5", ("Grischuk, A.", 2761), ("Carlsen, M.", 2832), None, "2017-06"),
]
SINGLE = ("g8f6", ("Drozdovskij, Yuri", 2509), ("Dobrov, Vladimir", 2515), "black", "2006-01")

# Of the player's example: move, SAN, results, opponents' average, performance, opening.
PLAYER = [
    ("c2c4", "c4", (361, 23, 272), 1695, 1744, {"eco": "D06", "name": "Queen's Gambit"}),
    ("c2c3", "c3", (2, 0, 2), 1797, 1797, None),
    ("e2e4", "e4", (1, 0, 2), 1762, 1640, {"eco": "D00", "name": "Blackmar-Diemer Gambit"}),
    ("g1f3", "Nf3", (1, 0, 2), 1497, 1374,
     {"eco": "D02", "name": "Queen's Pawn Game: Zukertort Variation"}),
    ("h2h4", "h4", (0, 0, 1), 1674, 874, None),
    ("h2h3", "h3", (1, 0, 0), 1696, 2496, None),
]
# The games that the example shows: of moves that were played once, and the latest.
SHOWN = {
    "h2h4": ("black", ("revoof", 1657), ("MentalBlood", 1674), "2020-06"),
    "h2h3": ("white", ("revoof", 1702), ("gocool99", 1696), "2020-07"),
    "c2c4": ("white", ("revoof", 1700), ("Winavesh", 1700), "2024-11"),
}

OTB = """[Event "Wch Blitz"]
[Site "Astana"]
[Date "2012.07.10"]
[Round "23"]
[White "Carlsen, Magnus"]
[Black "Chadaev, Nikolay"]
[Result "1-0"]
[WhiteElo "2837"]
[BlackElo "2580"]

1. e4 e5 2. f4 d5 3. exd5 exf4 4. Nf3 Nf6 5. c4 c6 6. d4 cxd5 7. c5 Nc6 8. Bb5 Be7 9. O-O O-O 1-0
"""

CLOUD = {
    "fen": "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 1",
    "knodes": 106325,
    "depth": 29,
    "pvs": [
        {"moves": "d1e2 d8e7 a2a4 a7a6 b5c4 d7d6 d2d3 g8f6 c1e3 c6a5", "cp": 41},
        {"moves": "c2c3 a7a6 b5a4 g8f6 d2d3 b7b5 a4b3 h7h6 a2a4 c8b7", "cp": 39},
        {"moves": "d2d3 d8f6 c2c3 a7a6 b5a4 f8c5 d3d4 c5a7 c1e3 g8e7", "cp": 37},
    ],
}


def side(player):
    return {"name": player[0], "rating": player[1]}


def shown(move, white, black, winner, month, **more):
    """A game as the examples show it, without its id."""
    game = {"winner": winner, "black": side(black), "white": side(white), "year": int(month[:4]),
            "month": month, **more}
    return {"uci": move, **game} if move else game


def pgn(moves, white, black, winner, month, **tags):
    rows = {"White": white[0], "Black": black[0], "Result": RESULTS[winner],
            "Date": month.replace("-", ".") + ".??", "WhiteElo": white[1], "BlackElo": black[1], **tags}
    return "".join(f'[{name} "{value}"]\n' for name, value in rows.items()) + f"\n{moves} {RESULTS[winner]}\n\n"


def masters_games():
    sans = {"c6d5": "cxd5", "g8f6": "Nf6"}
    games = [pgn("1. d4 d5 2. c4 c6 3. cxd5 " + sans[row[0]], *row[1:]) for row in [*TOP, SINGLE]]
    random.Random(1).shuffle(games)
    return "".join(games)


def opponent(uci, number):
    """Published averages are rounded: one is a little more, another a little less."""
    average = {row[0]: row[3] for row in PLAYER}[uci]
    more = 2 if uci == "c2c4" and number % 8 == 0 else -1 if uci == "g1f3" and number == 0 else 0
    return f"{uci}-{number}", average + more


def player_games():
    text = ""
    for uci, san, results, _, _, _ in PLAYER:
        winners = [w for w, n in zip(("white", None, "black"), results) for _ in range(n)]
        first = SHOWN.get(uci, (None,))
        for number, winner in enumerate(winners):
            white, black, month = ("revoof", 1650), opponent(uci, number), "2019-05"
            if number == 0 and uci in SHOWN:
                winner, white, black, month = first
            text += pgn("1. d4 d5 2. " + san, white, black, winner, month, TimeControl="60+0")
    return text


class TestPublished(unittest.TestCase):
    maxDiff = None

    def without_ours(self, object_):
        """Without our fields and ids, which are checked to be there."""
        if isinstance(object_, list):
            return [self.without_ours(item) for item in object_]
        if not isinstance(object_, dict):
            return object_
        if "winner" in object_:
            self.assertRegex(object_["id"], r"^\d+$")
        return {name: self.without_ours(value) for name, value in object_.items()
                if name not in OURS and not (name == "id" and "winner" in object_)}

    def test_masters(self):
        with webserver.start(webserver.make_store(masters_games())) as server:
            answer = self.without_ours(server.json("/masters", play=MASTERS))
            c6d5 = {"uci": "c6d5", "san": "cxd5", "white": 2, "draws": 2, "black": 2, "game": None,
                    "opening": None,
                    "averageRating": round(sum(row[2][1] for row in TOP) / len(TOP))}
            g8f6 = {"uci": "g8f6", "san": "Nf6", "averageRating": 2515, "white": 0, "draws": 0, "black": 1,
                    "game": shown("", *SINGLE[1:]), "opening": MARSHALL}
            self.assertEqual(answer, {
                "white": 2, "draws": 2, "black": 3, "moves": [c6d5, g8f6],
                "topGames": [shown(*row) for row in [*TOP, SINGLE]],
                "opening": {"eco": "D10", "name": "Slav Defense: Exchange Variation"}})

    def test_player(self):
        with webserver.start(webserver.make_store(player_games())) as server:
            status, _, content = server.request(
                "/player?player=revoof&color=white&play=d2d4,d7d5&recentGames=1")
            self.assertEqual(status, 200)
            answer = self.without_ours(json.loads(content))
        wanted = []
        for uci, san, (white, draws, black), average, performance, opening in PLAYER:
            winner, *rest = SHOWN.get(uci, (None, None, None, "2000-01"))
            single = white + draws + black == 1
            game = shown("", rest[0], rest[1], winner, rest[2], speed="bullet", mode="rated") if single else None
            wanted.append({"uci": uci, "san": san, "averageOpponentRating": average,
                           "performance": performance, "white": white, "draws": draws,
                           "black": black, "game": game, "opening": opening})
        moves = answer.pop("moves")
        games = [m["white"] + m["draws"] + m["black"] for m in moves]
        self.assertEqual(games, sorted(games, reverse=True))
        self.assertEqual(sorted(moves, key=lambda m: m["uci"]), sorted(wanted, key=lambda m: m["uci"]))
        winner, white, black, month = SHOWN["c2c4"]
        self.assertEqual(answer, {
            "white": 366, "draws": 23, "black": 279, "queuePosition": 0,
            "opening": {"eco": "D00", "name": "Queen's Pawn Game"},
            "recentGames": [shown("c2c4", white, black, winner, month, speed="bullet", mode="rated")]})

    def test_a_game(self):
        with webserver.start(webserver.make_store(OTB)) as server:
            for path in ("/masters/pgn/1", "/master/pgn/1"):
                status, fields, content = server.request(path)
                self.assertEqual((status, fields["Content-Type"]), (200, "application/x-chess-pgn"))
                tags, moves = content.decode().split("\n\n", 1)
                self.assertEqual(tags.splitlines(), OTB.split("\n\n")[0].splitlines())
                self.assertEqual(re.sub(r"\s+", " ", moves).strip(), OTB.split("\n\n")[1].strip())

    def test_a_cloud_evaluation(self):
        store = harness.make_store()
        line = {"fen": CLOUD["fen"], "evals": [
            {"engine": "sf", "multipv": i + 1, "depth": CLOUD["depth"], "nodes": CLOUD["knodes"] * 1000,
             "cp": pv["cp"], "pv": pv["moves"].split()} for i, pv in enumerate(CLOUD["pvs"])]}
        castling = {"fen": "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "evals": [
            {"engine": "sf", "depth": 1, "mate": 3, "pv": ["e8g8", "e1c1"]}]}
        done = harness.run_cli("import", "--format", "jsonl", "-", address=store,
                               input=json.dumps(line) + "\n" + json.dumps(castling) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        with webserver.start(store) as server:
            self.assertEqual(server.json("/api/cloud-eval", fen=CLOUD["fen"], multiPv=3), CLOUD)
            # King to rook, and White's view, as the schema says.
            self.assertEqual(server.json("/api/cloud-eval", fen=castling["fen"])["pvs"],
                             [{"moves": "e8h8 e1a1", "mate": -3}])
