# SPDX-License-Identifier: MIT
"""Random filters over the whole language of moments, answered by the store, by a search of positions,
by an import, and by a slow program that shares nothing with them (moments_slow.py): the same games,
and the ply at which each was found. Then what must hold of any filter, and each kind of question that
scoutfish can be asked."""

import json
import os
import re

import chess_slow
import harness
import moments_slow
from cli_base import DATA, MASTERS, Base, summary
from test_filters import draw_range, value_of

GAMES = int(os.environ.get("CHISTORE_MOMENT_GAMES", "30"))
FILTERS = int(os.environ.get("CHISTORE_MOMENT_FILTERS", "30"))
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# What random games seldom have: mates, stalemate, a streak that overlaps, promotion to a knight.
RARE = (
    "f3 e5 g4 Qh4#",
    "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nd7 Qe2 Ngf6 Nd6#",
    "e3 a5 Qh5 Ra6 Qxa5 h5 h4 Rah6 Qxc7 f6 Qxd7+ Kf7 Qxb7 Qd3 Qxb8 Qh7 Qxc8 Kg6 Qe6",
    "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nxd4 Qxd4 c5 Qd1",
    "e4 e5 Nf3 Nc6 Bc4 Nd4 Nxe5 Qg5 Nxf7 Qxg2 Rf1 Qxe4+ Be2 Nf3#",
    "e4 d5 e5 f5 exf6 Nxf6 d4 c5 dxc5 b5 cxb6 Qxb6 Nc3 Nc6 Bd2 Bf5 Qe2 O-O-O O-O-O",
    "h4 g5 hxg5 h6 gxh6 Nc6 h7 Nb8 hxg8=N",
    "",
)


def san_of(board, start, end, promotion):
    """A move with both of its squares: any reader of SAN takes that."""
    kind = board.at[start].upper()
    if kind == "K" and abs(start - end) == 2:
        return "O-O" if end > start else "O-O-O"
    takes = "x" if board.at[end] != "." or (kind == "P" and start % 8 != end % 8) else ""
    name = chess_slow.name_of(start) if kind != "P" else chess_slow.name_of(start)[0] if takes else ""
    return (kind if kind != "P" else "") + name + takes + chess_slow.name_of(end) + ("=" + promotion if promotion else "")


def can_castle(board, end):
    king = 4 if board.white else 60
    wing = "K" if end > king else "Q"
    between = (1, 2) if wing == "K" else (-1, -2, -3)
    return (board.own(wing) in board.castling and all(board.at[king + step] == "." for step in between) and
            not any(board.attacked(at, not board.white) for at in range(min(king, end), max(king, end) + 1)))


def draw_moves(rng, most, greed):
    """A game of random moves, which prefers captures with probability `greed`."""
    board, moves = chess_slow.Board(), []
    while len(moves) < most:
        steps = list(moments_slow.pseudo_moves(board))
        rng.shuffle(steps)
        if rng.random() < greed:
            steps.sort(key=lambda step: board.at[step[1]] == ".")
        if rng.random() < 0.5:  # en passant, and pawns that promote
            steps.sort(key=lambda step: not (board.at[step[0]] in "Pp" and
                                             (step[1] == board.passed or step[1] // 8 in (0, 7, 1, 6) and len(moves) > 40)))
        king = 4 if board.white else 60
        steps[:0] = [(king, end) for end in (king + 2, king - 2) if can_castle(board, end)]
        step = next((step for step in steps if abs(step[0] - step[1]) == 2 and board.at[step[0]] in "Kk"
                     or board.is_safe(*step)), None)
        if step is None:
            break
        last = board.at[step[0]] in "Pp" and step[1] // 8 in (0, 7)
        moves.append(san_of(board, *step, rng.choice("QQRBN") if last else ""))
        board.play(moves[-1])
    return moves


# ---- Filters ------------------------------------------------------------------------------------

class Drawer:
    """Draws texts of the grammar; conditions are often true of a moment of some game, so that not all
    filters find nothing."""

    def __init__(self, rng, games, asks_store):
        self.rng, self.games, self.asks_store = rng, games, asks_store

    def chance(self, probability):
        return self.rng.random() < probability

    def contents(self, piece):
        rng = self.rng
        colour = "." if piece == "." else "A" if piece.isupper() else "a"
        other = rng.choice("QRBNPqrbnp.")
        return rng.choice((piece, piece, piece, colour, "?", f"[{piece}{other}]", f"!{other}", f"![{other}{rng.choice('KkQq')}]"))

    def squares(self, at):
        file, rank = chess_slow.name_of(at)
        way = self.rng.random()
        if way < 0.6:
            return file + rank
        low = chr(max(ord(file) - 1, ord("a")))
        return self.rng.choice(("*" + rank, file + "*", "**", f"{low}..{file}{rank}", f"{file}{rank}..8", f"a..h{rank}"))

    def has(self, view):
        words = []
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            parts = []
            for _ in range(self.rng.choice((1, 1, 1, 2))):
                at = self.rng.choice([at for at in range(64) if view.at[at] != "." or self.chance(0.15)])
                parts.append((self.contents(view.at[at]), self.squares(at)))
            if len(parts) > 1:  # of several, '!' with a line is not possible
                parts = [(held.lstrip("!") if len(at) > 2 or "*" in at else held, at) for held, at in parts]
            words.append("|".join(held + at for held, at in parts))
        return " ".join(words)

    def fen(self, view):
        rows = []
        for rank in range(7, -1, -1):
            row = "".join(self.contents(view.at[8 * rank + file]) if self.chance(0.1) else "1" for file in range(8))
            rows.append(re.sub("1+", lambda run: str(len(run.group())), row))
        return "/".join(rows) + self.rng.choice(("", "", " w", " b"))

    def pawns(self, view):
        sides = []
        for pawn in "Pp":
            places = [chess_slow.name_of(at) for at in range(64) if view.at[at] == pawn]
            if self.chance(0.6):
                places = self.rng.sample(places, min(len(places), self.rng.randint(0, 3))) + ["+"]
            sides.append(" ".join(places))
        return " / ".join(sides)

    def material(self, view):
        rng, words = self.rng, []
        if self.chance(0.4):
            sides = ["".join(piece.upper() * view.counts[piece] for piece in pieces) for pieces in ("KQRBNP", "kqrbnp")]
            text = "v".join(sides)
            return text if self.chance(0.4) else re.sub(rng.choice(("P+", "[BN]+")), lambda run: run.group()[0] + "*", text)
        for piece in rng.sample("QRBNPqrbnp", rng.choice((1, 2))):
            n = view.counts[piece]
            words.append(piece + "=" + rng.choice((str(n), f"{n}..", f"..{n}", f"{max(n - 1, 0)}..{n + 1}")))
        men = 64 - view.counts["."]
        words += rng.choice(([], [], [f"men=..{men}"], ["bishops=" + rng.choice(("same", "opposite"))]))
        return rng.choice((" ", ", ")).join(words)

    def balance(self, view):
        sides = ["", ""]
        for letter in "QRBNP":
            more = view.counts[letter] - view.counts[letter.lower()]
            sides[more < 0] += letter * abs(more)
        if self.chance(0.3):
            sides = [side.replace("P", "") + "P*" for side in sides]
        return " v ".join(sides)

    def where(self, view):
        if self.chance(0.3):
            return self.rng.choice("KkQqRr") + self.rng.choice(("", "+"))
        return self.squares(self.rng.randrange(64)) + ("+" if self.chance(0.15) else "")

    def count(self):
        return self.rng.choice(("", "", " 2..", " ..1", " 1..2", " 0", " 1"))

    def move(self, moment):
        """One that was played, told with more or less."""
        rng = self.rng
        words = ("any", "captures", "quiet", "promotes", "ep", "castles", "O-O", "O-O-O", "o-o", "o-o-o")
        if moment.after is None or self.chance(0.2):
            return rng.choice(words + ("?-**#", "?-**+", "#", "+", "P-*8=[NBR]", "=n", "Kx", "x", "N", "e4", "x=Q+"))
        view = moment.view((False, False))
        taken = view.taken != "."
        text = rng.choice((self.contents(view.piece), ""))
        start = self.squares(moment.start) if self.chance(0.4) else ""
        end = self.squares(moment.end) if self.chance(0.7) else ""
        sign = "x" if taken and self.chance(0.6) else "-"
        held = self.contents(view.taken) if sign == "x" and self.chance(0.4) else ""
        text += start + sign + held + (end or ("" if sign == "x" else "**"))
        if moment.promotion and self.chance(0.6):
            text += "=" + rng.choice((moment.promotion, moment.promotion.lower(), "[QN]", "A"))
        return text + rng.choice(("", "", "", "", "+" if moment.after.check() else "", "#"))

    def played(self, moment):
        return "|".join(self.move(moment) for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def around(self, value, step):
        low, high = value - self.rng.randint(0, 3) * step, value + self.rng.randint(0, 3) * step
        return self.rng.choice((f"{low}..{high}", f"{low}..", f"..{high}", f"{value}"))

    def text_of(self, kind, moment):
        rng, view = self.rng, moment.view((False, False))
        if kind in ("has", "fen", "pawns", "material", "balance"):
            return getattr(self, kind)(view)
        if kind == "endgame":
            return rng.choice(moments_slow.FAMILIES + ("bare kings",))
        if kind == "to-move":
            return rng.choice(("white", "black"))
        if kind in ("attacked", "occupied"):
            by = rng.choice(("A", "a", "?", "[QR]", "[qr]", "N", "n", "P", "p", "K", "k", "b", "!Q") + (".",) * (kind == "occupied"))
            return f"{self.where(view)} by {by}{self.count() if kind == 'attacked' else ''}"
        if kind == "played":
            return self.played(moment)
        if kind == "pinned":
            return rng.choice(("A", "a", "?", "N", "n", "[BRbr]", "P")) + self.count()
        if kind in ("passed", "isolated", "doubled"):
            return rng.choice(("", "P", "p", "[Pp]", "A", "a")) + self.squares(rng.randrange(8, 56))
        if kind == "points":
            return self.around(sum(n * (view.counts[p] - view.counts[p.lower()]) for p, n in moments_slow.WORTH.items()), 1)
        if kind == "ply":
            return re.sub("-[0-9]+", "0", self.around(moment.ply, 1))
        return rng.choice({"reached": ("0", "1", "2..", "1..3", "10..", "..1"), "score": ("50", "..40", "60..", "33.33..66.67", "0..25.5"),
                "eval": ("0.5..", "..-0.5", "-1..1", "3..", "9999..", "-0.05..0.35"), "chi2": ("1..", "..0.5", "0.01..2.25", "3.84.."),
                "share": ("100", "50..", "..10", "33.3..66.7"), "loss": ("..10", "50..", "-20..20", "100..1000")}[kind])

    def test(self, moment):
        kinds = moments_slow.PATTERN * 2 + moments_slow.FEATURES + moments_slow.PLAIN + ("points", "ply") + ("played",) * 6
        if self.asks_store:
            kinds += ("reached", "score", "eval", "chi2", "share", "loss") * 2
        kind = self.rng.choice(kinds)
        return kind if kind in moments_slow.PLAIN else f"{kind} {value_of(self.text_of(kind, moment))}"

    def condition(self, moment, depth=0):
        denied = self.rng.choice(("", "", "", "", "", "not ", "not not ", "not not not "))
        if depth < 2 and self.chance(0.15):
            inner = " or ".join(self.conditions(moment, depth + 1) for _ in range(self.rng.choice((1, 2, 2, 3))))
            return f"{denied}({inner})"
        return denied + self.test(moment)

    def conditions(self, moment, depth=0):
        return " ".join(self.condition(moment, depth) for _ in range(self.rng.choice((1, 1, 2, 3))))

    def motif(self, shifts):
        rng, game = self.rng, self.rng.choice(self.games)
        ply = rng.randrange(len(game.moments))
        n = rng.choice((1, 1, 1, 2, 2, 3))
        text = ""
        for i in range(n):
            moment = game.moments[min(ply, game.plies())]
            text += rng.choice(("", "", "pattern ")) + self.conditions(moment)
            if self.chance(0.1):
                text = text + rng.choice((" for 2", " for 3", " for 6"))
            if n == 1 and self.chance(0.1):
                text += rng.choice((" times 1", " times 0", " times 2..", " times ..2", " times 3..5"))
            if i < n - 1:
                gap = rng.choice((1, 1, 2, 5, 12))
                text += " next " if gap == 1 else rng.choice((" then ", f" then within {gap} "))
                ply += gap
        symmetry = [word for word in ("mirror", "either-colour") if self.chance(0.12)]
        if shifts:
            symmetry.append(rng.choice(("shift", "shift files", "shift ranks")))
        for word in symmetry:  # anywhere between two conditions of the first moment, which is before the others
            text = f"{word} {text}" if not text.startswith("pattern ") else f"pattern {word} {text[8:]}"
        return text

    def term(self):
        kind = self.rng.choice(("result", "plies", "length", "number"))
        if kind == "result":
            return "result " + ",".join(self.rng.sample(RESULTS, self.rng.randint(1, 3)))
        return f"{kind} {draw_range(self.rng, *{'plies': (0, 160), 'length': (0, 80), 'number': (1, len(self.games))}[kind])[0]}"

    def unit(self, depth, shifts):
        denied = self.rng.choice(("", "", "", "", "not ", "not not "))
        if depth < 2 and self.chance(0.2):
            return f"{denied}({self.filter(depth + 1, shifts)})"
        return denied + (self.motif(shifts) if self.chance(0.8) else self.term())

    def filter(self, depth=0, shifts=False):
        rng = self.rng
        return " or ".join(rng.choice((" and ", " ")).join(self.unit(depth, shifts) for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))
                           for _ in range(rng.choice((1, 1, 1, 2))))


# ---- Tests --------------------------------------------------------------------------------------

class Moments(Base):
    @classmethod
    def setUpClass(cls):
        cls.rng = harness.seed()
        with open(MASTERS, encoding="latin-1") as file:
            masters = chess_slow.read_pgn(file.read())
        lines = [chess_slow.plain_moves(text) for _, text in cls.rng.sample(masters, min(GAMES // 2, len(masters)))]
        lines += [draw_moves(cls.rng, cls.rng.choice((20, 80, 120)), cls.rng.choice((0, 0.3, 0.9))) for _ in range(GAMES // 2)]
        lines += [moves.split() for moves in RARE]
        lines += [line[:-1] for line in lines[::9] if line]  # positions that were reached several times
        cls.games, texts = [], []
        for i, line in enumerate(lines):
            tags = {"White": f"W{i}", "Black": f"B{i}", "Round": str(i), "Result": cls.rng.choice(RESULTS)}
            if line:  # one without moves is not imported
                cls.games.append(moments_slow.Game(len(cls.games) + 1, tags, line))
                texts.append("".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + "\n" +
                             " ".join(line + [tags["Result"]]) + "\n\n")
        cls.folder = harness.make_temp_dir()
        cls.pgn = os.path.join(cls.folder, "games.pgn")
        with open(cls.pgn, "w", encoding="utf-8") as file:
            file.write("".join(texts))
        cls.store = os.path.join(cls.folder, "store")
        done = harness.run_cli("import", "--statistic", "outcome", cls.pgn, address=cls.store)
        assert summary(done.stdout)["imported"] == str(len(cls.games)), done.stdout + done.stderr
        # Of its games few positions are listed, so that they are played again.
        cls.pruned = os.path.join(cls.folder, "pruned")
        done = harness.run_cli("import", "--min-games", "4", "--statistic", "outcome", cls.pgn, address=cls.pruned)
        assert summary(done.stdout)["imported"] == str(len(cls.games)), done.stdout + done.stderr
        cls.known = moments_slow.Known(cls.games, cls.put_evals(), cls.told_chi2())
        cls.daemon = harness.start_daemon({"default": cls.store})
        cls.addClassCleanup(cls.daemon.stop)

    @classmethod
    def put_evals(cls):
        """Puts evaluations of some positions, of two engines, of which the deeper one counts."""
        rng, evals, rows = cls.rng, {}, {}
        for game in cls.games:
            for moment in game.moments:
                if rng.random() < 0.4 and moment.key() not in evals:
                    depth = rng.randint(5, 30)
                    row = []
                    for engine, deep in (("a", depth), ("b", depth - rng.randint(1, 4))):
                        mate = rng.choice((None,) * 8 + (1, 7, -3))
                        score = {"mate": mate} if mate else {"cp": rng.choice((0, 20, 35, -5, 80, 300, -450))}
                        row.append(dict(score, engine=engine, depth=deep))
                    evals[moment.key()] = (1 if row[0].get("mate", 0) > 0 else -1) * moments_slow.MATE if "mate" in row[0] else row[0]["cp"]
                    rng.shuffle(row)
                    rows[moment.key()] = row
        text = "".join(json.dumps({"fen": key + " 0 1", "evals": row}) + "\n" for key, row in rows.items())
        done = harness.run_cli("put", "--batch", "--strict", input=text, address=cls.store)
        assert done.returncode == 0, done.stderr
        return evals

    @classmethod
    def told_chi2(cls):
        rows = harness.run_cli("scan", "--show", "fen,chi2", "--json", address=cls.store).stdout
        pairs = [(row["fen"].rsplit(" ", 2)[0], row["chi2"]) for row in map(json.loads, rows.splitlines())]
        return {fen: round(100 * chi2) for fen, chi2 in pairs if chi2 is not None}

    def found(self, *args):
        """Number and ply of the games."""
        address = self.rng.choice((self.store, self.daemon.address))
        return [(row["game"], row.get("ply")) for row in
                map(json.loads, self.out("--quiet", *args, "--json", address=address).splitlines())]

    def numbers(self, text):
        return [number for number, _ in self.found("games", "--filter", text)]

    def draw(self, asks_store):
        shifts = self.rng.random() < 0.06
        text = Drawer(self.rng, self.games, asks_store).filter(shifts=shifts)
        return f"number ..12 ({text})" if shifts else text

    def check_filter(self, text, i):
        """One filter, by everything that answers it. Returns how many games it has; None: its conditions
        contradict each other."""
        try:
            fits, motifs = moments_slow.parse(f"({text})", self.known)  # as the command line asks
        except moments_slow.Refused:
            done = harness.run_cli("games", "--filter", text, "--count", address=self.store)
            self.assertEqual(done.returncode, 2)
            return None
        expected = [game for game in self.games if fits(game)]
        command = self.rng.choice((("games",), ("find", "--games")))
        done = harness.run_cli(*command, "--filter", text, "--count", address=self.store)
        if done.returncode != 0:
            self.assertRegex(done.stderr, "contradict|cannot be turned and shifted|at most")
            return None
        found = self.found(*command, "--filter", text)
        self.assertEqual([number for number, _ in found], [game.number for game in expected])
        self.assertEqual(int(done.stdout.split()[-1]), len(expected))
        for (number, ply), game in zip(found, expected):
            first = next((motif for motif, denied in motifs if not denied), None)
            self.assertIn(ply, first is not None and first.found(game) or {None}, number)
        if not re.search(r"\b(reached|score|eval|chi2|share|loss)\b", text):
            again = self.out("--quiet", "games", "--filter", text, "--json", address=self.pruned)
            self.assertEqual([json.loads(line)["game"] for line in again.splitlines()], [game.number for game in expected])
            if i % 8 == 0:
                self.check_import(text, expected)
        return len(expected)

    def check_import(self, text, expected):
        """The games that an import with the filter takes; its numbers are the file's."""
        if "number " in text:
            return
        store = os.path.join(harness.make_temp_dir(), "store")
        done = summary(self.out("import", "--filter", text, self.pgn, address=store))
        self.assertEqual(done["imported"], str(len(expected)))
        if expected:
            rows = map(json.loads, self.out("games", "--json", address=store).splitlines())
            self.assertEqual([row["round"] for row in rows], [game.tags["Round"] for game in expected])

    def test_random_filters(self):
        answered = some = 0
        for i in range(FILTERS):
            text = self.draw(asks_store=i % 3 == 0)
            with self.subTest(text):
                n = self.check_filter(text, i)
                answered += n is not None
                some += bool(n) and n < len(self.games)
        self.assertGreater(answered, FILTERS // 2)
        self.assertGreater(some, FILTERS // 6)
        print(f"# figures: {FILTERS} filters, {answered} answered, {some} of them with some of {len(self.games)} games")

    def test_forms_seldom_drawn(self):
        """Each is answered as the definition says; most were answered otherwise once."""
        for text in ("not check", "(not check)", "((not check or mate))", "(not check) mate", "(not check) (not mate)",
                     "not (not check) last", "played #", "played +", "played =N", "(played ep|o-o-o) next any",
                     "number ..9 has Nd4 not has Pd2 shift ranks", "number ..9 has Nd4 (has Pd2 or has pd7) shift",
                     "played captures next played captures next played quiet", "check times 0", "eval 9999..",
                     "last stalemate", "last mate", "dead", "check for 2", "mirror played O-O", "played o-o-o either-colour mirror"):
            with self.subTest(text):
                self.assertIsNotNone(self.check_filter(text, 0))

    def test_every_kind_of_question(self):
        """tests/data/questions.tsv; the last one overlaps, and must be found where scoutfish does not."""
        with open(os.path.join(DATA, "questions.tsv"), encoding="utf-8") as file:
            questions = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        self.assertEqual(len(questions), 30)
        for words, text in questions:
            with self.subTest(words):
                self.assertIsNotNone(self.check_filter(text, 1))
        overlapping = next(game for game in self.games
                           if game.plies() == len(RARE[3].split()) and game.moments[10].board.at[27] == "Q")
        self.assertIn((overlapping.number, 7), self.found("games", "--filter", questions[-1][1]))

    def test_find_asks_options_and_filter_of_two_moments(self):
        args = ("--has", "Nf3", "--filter", "check")
        self.assertEqual([game for game, _ in self.found("find", "--games", *args)],
                         [game for game, _ in self.found("games", *args)])

    def test_what_holds_of_any_filter(self):
        every, tried = [game.number for game in self.games], 0
        for _ in range(FILTERS // 8):
            text = self.draw(asks_store=True)
            with self.subTest(text):
                if harness.run_cli("games", "--filter", text, "--count", address=self.store).returncode == 2:
                    continue
                twice = harness.run_cli("games", "--filter", f"({text}) and ({text})", "--count", address=self.store)
                if "at most 64 conditions" in twice.stderr:
                    continue
                tried += 1
                has = self.numbers(text)
                self.assertEqual(self.numbers(f"not not ({text})"), has)
                self.assertEqual(sorted(has + self.numbers(f"not ({text})")), every)
                self.assertEqual(self.numbers(f"({text}) or not ({text})"), every)
                self.assertEqual(self.numbers(f"({text}) and ({text})"), has)
        self.assertGreater(tried, FILTERS // 16)
