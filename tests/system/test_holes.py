# SPDX-License-Identifier: MIT
"""holes by the command line: a repertoire of which every number can be counted by hand, and made-up
games whose players move pawns by one rank, in any order, so that lines meet again and again. There
an opponent's move depends on the position alone, as the walk of holes takes it; what holes says is
compared with how many games really leave the repertoire at each position."""

import json
import math
import re
import zlib

import chess_slow
import harness
from cli_base import Base

WHITE, BLACK = "abcdegh", "abcdefgh"
OWN_MOVES = 4  # of the repertoire's lines
LAST = 12      # plies of a game


def tagged(number, moves, result="*", elo=2000, start=None):
    tags = {"Event": f"e{number}", "White": f"W{number}", "Black": f"B{number}", "Result": result,
            "WhiteElo": elo, "BlackElo": elo}
    if start:
        tags.update({"SetUp": 1, "FEN": start})
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + \
        f"\n{moves} {result}\n\n"


# ---- Made-up games -----------------------------------------------------------------------------

def hashed(*what):
    return zlib.crc32(repr(what).encode())


class Pawns:
    """A position: the pawns that have moved, by their files."""

    def __init__(self, white="", black=""):
        self.white, self.black = white, black

    def whites_turn(self):
        return len(self.white) == len(self.black)

    def name(self):
        return self.white, self.black

    def after(self, san):
        if self.whites_turn():
            return Pawns("".join(sorted(self.white + san[0])), self.black)
        return Pawns(self.white, "".join(sorted(self.black + san[0])))

    def own_moves(self):
        return [file + "3" for file in WHITE if file not in self.white]

    def replies(self, mood):
        """Moves of Black and how likely each is, here and for opponents of a mood."""
        free = [file for file in BLACK if file not in self.black]
        free.sort(key=lambda file: hashed(mood, self.name(), file))
        return [file + "6" for file in free[:4]], (8, 5, 3, 1)[:len(free)]

    def placement(self):
        board = chess_slow.Board()
        for i, file in enumerate(self.white):
            board.play(file + "3")
            if i < len(self.black):
                board.play(self.black[i] + "6")
        return board.placement()


class Repertoire:
    """For White: an answer in some positions, and the file that has them."""

    def __init__(self):
        self.answers = {}
        self.going_on = set()
        self.text = tagged(1, self.write(Pawns(), 0))

    def write(self, pawns, depth):
        if depth == OWN_MOVES:
            return ""
        moves = pawns.own_moves()
        move = moves[hashed("own", pawns.name()) % len(moves)]
        self.answers[pawns.name()] = move
        after = pawns.after(move)
        known = [reply for reply in after.replies("all")[0]
                 if hashed("known", after.name(), reply) % 4]
        if depth + 1 == OWN_MOVES or not known:
            return move
        self.going_on.add(after.name())
        lines = [(reply, self.write(after.after(reply), depth + 1)) for reply in known]
        sides = "".join(f" ({reply} {rest})" for reply, rest in lines[1:])
        return f"{move} {lines[0][0]}{sides} {lines[0][1]}"

    def follow(self, moves):
        """Where a game leaves: the position, or None where it ends before; and the kind."""
        pawns, kind = Pawns(), "gap"
        for move in moves + [None]:
            if pawns.whites_turn() and pawns.name() not in self.answers:
                return pawns.name(), kind
            if move is None:
                return None, None
            kind = "gap" if pawns.name() in self.going_on else "end"
            pawns = pawns.after(move)
        raise AssertionError


def play(chance, repertoire, mood, obedient):
    """A game. White plays the repertoire's moves, by chance or, `obedient`, always; then a game ends
    where it leaves, since what is played later may lead back. Others end after a move of White's."""
    pawns, moves = Pawns(), []
    while len(moves) < LAST:
        if pawns.whites_turn():
            answer = repertoire.answers.get(pawns.name())
            if answer is None and obedient:
                break
            if answer is None or not (obedient or chance.random() < 0.6):
                answer = chance.choice(pawns.own_moves())
            moves.append(answer)
            if chance.random() < 0.03:
                break
        else:
            moves.append(chance.choices(*pawns.replies(mood))[0])
        pawns = pawns.after(moves[-1])
    return moves


class Holes(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")

    def keep(self, *games):
        self.cli("import", self.write("games.pgn", "".join(games)), address=self.store)

    def holes(self, file, *args, address=None, **extra):
        """The rows, and the numbers of the summary: without a hole in percent of games."""
        done = self.cli("holes", file, "--json", *args, address=address or self.store, **extra)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.said = done.stderr
        if "--rare" in args:
            return rows, {}
        numbers = re.search(r"of all games ([\d.]+) % come to a hole, ([\d.]+) % to one that is too "
                            r"rare, ([\d.]+) % end before, ([\d.]+) % are where", done.stderr)
        found, rare, ended, unknown = (float(number) for number in numbers.groups())
        self.assertAlmostEqual(found + rare + ended + unknown, 100, delta=0.03)
        if "--limit" not in args:
            self.assertAlmostEqual(sum(row["percent"] for row in rows), found,
                                   delta=0.006 + 0.0006 * len(rows))
        self.assertEqual(rows, sorted(rows, key=lambda row: -row["percent"]))
        covered = float(re.search(r"covered: ([\d.]+) %", done.stderr).group(1))
        return rows, {"rare": rare, "ended": ended, "unknown": unknown, "covered": covered}


class ByHand(Holes):
    FILE = "1. e3 e6 (1... d6 2. d3) (1... h5 2. h4 a6 3. a3) 2. d3 (2. h3 h6 3. a3)"

    def setUp(self):
        super().setUp()
        lines = ["e6 2. d3 d6 3. a3"] * 3 + ["e6 2. d3 d6 3. b3"] + ["e6 2. d3 h6"] + \
            ["e6 2. d3"] + ["d6 2. d3 e6"] * 2 + ["d6 2. d3 g6", "a6 2. a3"]
        results = ["1-0", "1-0", "1/2-1/2"] + ["0-1"] * 7
        self.keep(*(tagged(i, "1. e3 " + line, results[i], 1500 if "a3" in line else 2000)
                    for i, line in enumerate(lines)))
        self.file = self.write("mine.pgn", tagged(1, self.FILE))

    def test_numbers(self):
        rows, sums = self.holes(self.file, "--as", "white")
        self.assertEqual(
            [(row["line"], row["one_in"], row["percent"], row["games"], row["kind"]) for row in rows],
            [("1.e3 e6 2.d3 d6", 1.7, 60, 6, "end"), ("1.e3 a6", 10, 10, 1, "gap"),
             ("1.e3 e6 2.d3 h6", 10, 10, 1, "end"), ("1.e3 d6 2.d3 g6", 10, 10, 1, "end")])
        self.assertEqual([rows[0][name] for name in ("played", "played_games", "score")],
                         ["a3", 3, 83.33])
        self.assertEqual([rows[2][name] for name in ("played", "played_games", "score")], [None] * 3)
        self.assertEqual(sums, {"rare": 0, "ended": 10, "unknown": 0, "covered": 90})
        # 1 + 0.9 moves.
        self.assertIn("6 positions with White to move are answered, 3 of them", self.said)
        self.assertIn("1.90 moves of a game are answered", self.said)
        table = self.out("holes", self.file, "--as", "white", address=self.store).splitlines()
        self.assertEqual(table[0].split("\t"), list(rows[0]))
        self.assertEqual(len(table), 5)
        with harness.start_daemon({"default": self.store}) as daemon:
            self.assertEqual(self.holes(self.file, "--as", "white", address=daemon.address),
                             (rows, sums))
        with open(self.file, encoding="utf-8") as text:
            self.assertEqual(self.holes("-", "--as", "white", input=text.read()), (rows, sums))
        self.assertEqual(self.holes(self.file, "--as", "white", "--limit", 2)[0], rows[:2])
        rows, sums = self.holes(self.file, "--as", "white", "--one-in", 5)
        self.assertEqual([row["percent"] for row in rows], [60])
        self.assertEqual(sums, {"rare": 30, "ended": 10, "unknown": 0, "covered": 90})

    def test_filter(self):
        rows, sums = self.holes(self.file, "--as", "white", "--rating", "..1600")
        self.assertEqual([(row["line"], row["percent"], row["games"], row["played"]) for row in rows],
                         [("1.e3 e6 2.d3 d6", 75, 3, "a3"), ("1.e3 a6", 25, 1, "a3")])
        self.assertEqual(sums["covered"], 75)
        shown = re.findall(r"--filter '(.*)'$", rows[0]["show"])
        self.assertEqual(len(self.out("games", "--position", rows[0]["fen"], "--filter", shown[0],
                                      "--json", address=self.store).splitlines()), 3)
        rows, sums = self.holes(self.file, "--as", "white", "--rating", "3000..")
        self.assertEqual((rows, sums["unknown"]), ([], 100))

    def test_rare(self):
        rows, _ = self.holes(self.file, "--as", "white", "--one-in", 2, "--rare")
        self.assertEqual([(row["one_in"], row["answer"], row["line"]) for row in rows],
                         [(None, "h4", "1.e3 h5"), (None, "a3", "1.e3 h5 2.h4 a6"),
                          (None, "a3", "1.e3 e6 2.h3 h6"), (3.3, "d3", "1.e3 d6")])

    def test_black(self):
        rows, sums = self.holes(self.write("black.pgn", "1. e4 e5 *\n\n1. e3 e6 2. d3 d6 *\n"),
                                "--as", "black", "--one-in", 1000)
        # Of six games with 2.d3 four go on with 3.
        self.assertEqual([(row["line"], row["percent"], row["kind"]) for row in rows],
                         [("1.e3 e6 2.d3 d6 3.a3", 50, "end"), ("1.e3 e6 2.d3 d6 3.b3", 16.667, "end")])
        self.assertEqual(rows[0]["played"], None)
        self.assertAlmostEqual(sums["ended"], 100 / 3, delta=0.01)

    def test_starts(self):
        """Of two starts each has the share of its games."""
        after_e6 = "rnbqkbnr/pppp1ppp/4p3/8/8/4P3/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
        after_a6 = after_e6.replace("pppp1ppp/4p3", "1ppppppp/p7")
        rows, _ = self.holes(self.write("starts.pgn", tagged(1, "2. d3", start=after_e6) +
                                        tagged(2, "2. h4", start=after_a6)),
                             "--as", "white", "--one-in", 1000)
        self.assertEqual([(row["line"], row["percent"]) for row in rows],
                         [("1.d3 d6", 57.143), ("1.d3 h6", 14.286)])

    def test_end_of_game(self):
        """Mate and stalemate ask for no answer."""
        self.keep(tagged(77, "1. f3 e5 2. g4 Qh4#", "0-1"))
        rows, sums = self.holes(self.write("fool.pgn", "1. f3 e5 2. g4 *\n"), "--as", "white")
        self.assertEqual((rows, sums["ended"]), ([], 100))

    def test_line_that_ends_with_the_opponents_move(self):
        """The file has that very move: no gap, but its end."""
        self.keep(tagged(1, "1. e4 e5 2. Nf3"), tagged(2, "1. e4 c5"))
        rows, sums = self.holes(self.write("end.pgn", tagged(1, "1. e4 e5")), "--as", "white")
        self.assertEqual([(row["line"], row["kind"], row["percent"]) for row in rows],
                         [("1.e4 e5", "end", 50), ("1.e4 c5", "gap", 50)])
        self.assertEqual(sums["covered"], 50)

    def test_mate_of_the_repertoire_ends_the_game(self):
        """No game of the store has it; nothing can go on there."""
        moves = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6"
        self.keep(tagged(1, moves + " 4. d3"))
        rows, sums = self.holes(self.write("mate.pgn", tagged(1, moves + " 4. Qxf7#")),
                                "--as", "white")
        self.assertEqual((rows, sums), ([], {"rare": 0, "ended": 100, "unknown": 0, "covered": 100}))

    def test_repetition(self):
        """A game that comes back to a position does not hold the walk."""
        back = "1. Nf3 Nf6 2. Ng1 Ng8"
        self.keep(tagged(78, back + " 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 d5", "0-1"))
        rows, sums = self.holes(self.write("knights.pgn", back + " *\n"), "--as", "white",
                                "--one-in", 1000000)
        # After 1.Nf3 one of two moves is 1...Nf6: half of the games go round each time.
        self.assertEqual([(row["line"], row["percent"]) for row in rows], [("1.Nf3 d5", 100)])
        self.assertEqual(sums["rare"], 0)
        self.cli("import", self.write("more.pgn", tagged(79, "1. Nh3 Nh6 2. Ng1 Ng8 3. Nh3", "0-1")),
                 address=self.store)
        rows, sums = self.holes(self.write("circle.pgn", "1. Nh3 Nh6 2. Ng1 Ng8 *\n"), "--as", "white")
        self.assertEqual((rows, sums["ended"]), ([], 100))

    def test_refused(self):
        none = self.path("none.pgn")
        for args, what in (([self.file], "--as white or --as black"),
                           ([none, "--as", "white"], "none.pgn"),
                           ([self.write("prose.pgn", "no game\n"), "--as", "white"], "prose.pgn"),
                           ([self.file, "--as", "green"], "green"),
                           ([self.file, "--as", "white", "--one-in", "0"], "one-in"),
                           ([self.file, "--as", "white", "--filter", "("], "filter")):
            done = self.cli("holes", *args, address=self.store, code=2)
            self.assertIn(what, done.stderr)

    def test_broken(self):
        """A game or a variation that cannot be read to its end is told, and the rest used."""
        broken = self.write("broken.pgn", tagged(1, "1. e3 a6 2. a3 e6 3. Qa8") +
                            tagged(2, "1. e3 e6 (1... d6 2. Qh8) 2. d3") + tagged(3, "1. d4 d6 2. d3"))
        rows, _ = self.holes(broken, "--as", "white", "--one-in", 1000)
        for said in ("broken.pgn:8: game 1 cannot be read after 4 moves",
                     "broken.pgn: game 2: a variation cannot be read from 'Qh8'",
                     "broken.pgn:26: game 3 cannot be read after 2 moves"):
            self.assertIn(said, self.said)
        self.assertEqual([(row["line"], row["percent"]) for row in rows],
                         [("1.e3 e6 2.d3 d6", 40), ("1.e3 d6", 30), ("1.e3 e6 2.d3 h6", 10)])


class MadeUp(Holes):
    def setUp(self):
        super().setUp()
        self.chance = harness.seed()
        self.mine = Repertoire()
        self.file = self.write("mine.pgn", self.mine.text)

    def played(self, n, mood, obedient):
        return [play(self.chance, self.mine, mood, obedient) for _ in range(n)]

    def left(self, games):
        """Games that leave, by where and how; None: those that end before."""
        found = {}
        for moves in games:
            where = self.mine.follow(moves)
            found[where] = found.get(where, 0) + 1
        return found

    def compare(self, games, *args):
        rows, sums = self.holes(self.file, "--as", "white", "--one-in", 1000000, *args)
        left = self.left(games)
        places = {}
        for (name, _), n in left.items():
            if name is not None:
                places[Pawns(*name).placement()] = places.get(Pawns(*name).placement(), 0) + n
        self.assertEqual({row["fen"].split()[0] for row in rows}, set(places))
        for row in rows:
            share = 100 * places[row["fen"].split()[0]] / len(games)
            self.assertAlmostEqual(row["percent"], share, delta=0.0006)
            self.assertAlmostEqual(row["one_in"], 100 / share, delta=0.051)
        gaps = sum(n for (_, kind), n in left.items() if kind == "gap")
        self.assertAlmostEqual(sums["covered"], 100 - 100 * gaps / len(games), delta=0.006)
        self.assertAlmostEqual(sums["ended"], 100 * left[None, None] / len(games), delta=0.006)

    def test_exactly(self):
        """Where White always follows, the shares are those of the games, whatever lines meet."""
        strong, weak = self.played(300, "all", True), self.played(300, "odd", True)
        self.keep(*(tagged(i, " ".join(moves), elo=2500 if i < 300 else 1500)
                    for i, moves in enumerate(strong + weak)))
        self.compare(strong + weak)
        self.compare(strong, "--rating", "2000..")
        self.compare(weak, "--rating", "..2000")

    def test_held_out(self):
        """Of games in which White does not always follow, the walk tells what new games do."""
        known, fresh = self.played(3000, "all", False), self.played(2000, "all", True)
        self.keep(*(tagged(i, " ".join(moves)) for i, moves in enumerate(known)))
        rows, sums = self.holes(self.file, "--as", "white", "--one-in", 200)
        left = self.left(fresh)
        places = {}
        for (name, _), n in left.items():
            if name is not None:
                places[Pawns(*name).placement()] = places.get(Pawns(*name).placement(), 0) + n
        self.assertGreater(len(rows), 10)
        for row in rows:
            p, n = row["percent"] / 100, places.pop(row["fen"].split()[0], 0)
            # The chance of the new games, and that of each share on the way.
            spread = math.sqrt(p * (1 - p) / len(fresh) + p * p * OWN_MOVES / row["games"])
            self.assertAlmostEqual(n / len(fresh), p, delta=4 * spread, msg=row["line"])
        rare = sum(places.values()) / len(fresh)
        spread = math.sqrt(rare * (1 - rare) * (1 / len(fresh) + OWN_MOVES / len(known)))
        self.assertAlmostEqual(sums["rare"] / 100, rare, delta=4 * spread)
        self.assertAlmostEqual(sums["ended"] / 100, left[None, None] / len(fresh), delta=0.03)
