# SPDX-License-Identifier: MIT
"""The language of filters of games, written a second time from its definition (search/filter/terms.h
and what that names): reads a filter and answers it of a game by trying all plies. Slow; nothing here
asks the programs under test."""

import copy
import itertools
import re

import chess_slow

PIECES = "KQRBNPkqrbnp"
ALL = frozenset(PIECES + ".")
WORTH = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}
MATE = 1000000  # centipawns
FAMILIES = ("pawn", "minor", "rook", "rook and minor", "queen", "queen and minor", "queen and rook", "mixed")
PATTERN = ("has", "fen", "pawns", "material", "balance", "endgame", "to-move")
FEATURES = ("attacked", "occupied", "pinned", "passed", "isolated", "doubled")
PLAIN = ("any", "check", "mate", "stalemate", "dead", "first", "last")
RANGES = ("points", "ply", "reached", "score", "eval", "chi2", "share", "loss")
CONDITIONS = PATTERN + FEATURES + PLAIN + RANGES + ("played",)
SYMMETRIES = ("mirror", "either-colour", "shift")
WORDS = {"any": "", "captures": "", "quiet": "", "promotes": "", "ep": "", "castles": "", "O-O": "KK",
         "O-O-O": "KQ", "o-o": "kK", "o-o-o": "kQ"}


class Refused(Exception):
    """A text that is no filter."""


# ---- Games --------------------------------------------------------------------------------------

def is_in_check(board):
    return board.attacked(board.at.index(board.own("K")), not board.white)


def pseudo_moves(board):
    """Steps of the side to move, whatever becomes of its king; castling is none of them."""
    for start in range(64):
        kind = board.at[start].upper()
        if board.at[start] == "." or (board.at[start] == kind) != board.white:
            continue
        if kind == "P":
            ahead = 8 if board.white else -8
            ends = [end for end in (start + ahead, start + 2 * ahead, start + ahead - 1, start + ahead + 1)
                    if 0 <= end < 64 and board.reaches("P", start, end)]
        else:
            ends = []
            for line in chess_slow.WALKS[kind][start]:
                for end in line:
                    ends.append(end)
                    if board.at[end] != ".":
                        break
        for end in ends:
            if board.at[end] == "." or board.at[end].isupper() != board.white:
                yield start, end


class Moment:
    """A position of a game and the move played there, if one was."""

    def __init__(self, board, ply):
        self.board, self.ply = board, ply
        self.start = self.end = None
        self.promotion = ""
        self.after = None
        self.views = {}
        self.facts = {}

    def once(self, name, compute):
        if name not in self.facts:
            self.facts[name] = compute()
        return self.facts[name]

    def key(self):
        return self.once("key", self.board.key)

    def check(self):
        return self.once("check", lambda: is_in_check(self.board))

    def stuck(self):
        return self.once("stuck", lambda: not any(self.board.is_safe(*step) for step in pseudo_moves(self.board)))

    def view(self, turn):
        if turn not in self.views:
            self.views[turn] = View(self, *turn)
        return self.views[turn]


def turned(at, mirror, swap):
    return at ^ (7 if mirror else 0) ^ (56 if swap else 0)


class View:
    """A moment with its board turned."""

    def __init__(self, moment, mirror, swap):
        board = moment.board
        self.moment, self.swap = moment, swap
        self.white = board.white != swap
        self.at = [board.at[turned(at, mirror, swap)] for at in range(64)]
        if swap:
            self.at = [piece.swapcase() for piece in self.at]
        self.counts = {piece: self.at.count(piece) for piece in ALL}
        self.has_move = moment.start is not None
        self.map = None
        if not self.has_move:
            return
        self.start, self.end = (turned(at, mirror, swap) for at in (moment.start, moment.end))
        self.piece, self.taken = self.at[self.start], self.at[self.end]
        self.promotion = moment.promotion
        self.is_ep = self.piece in "Pp" and moment.end == board.passed
        if self.is_ep:
            self.taken = "p" if self.piece == "P" else "P"
        self.wing = ""
        if self.piece in "Kk" and abs(self.end - self.start) == 2:
            self.wing = "K" if (moment.end > moment.start) != mirror else "Q"

    def attackers(self, at):
        """The pieces that attack each square."""
        if self.map is None:
            self.map = [[] for _ in range(64)]
            for start, piece in enumerate(self.at):
                for end in self.steps(start, piece):
                    self.map[end].append(piece)
        return self.map[at]

    def steps(self, start, piece):
        if piece in "Pp":
            rank = start // 8 + (1 if piece == "P" else -1)
            return [8 * rank + file for file in (start % 8 - 1, start % 8 + 1) if 0 <= file < 8 and 0 <= rank < 8]
        found = []
        for line in chess_slow.WALKS[piece.upper()][start] if piece != "." else ():
            for end in line:
                found.append(end)
                if self.at[end] != ".":
                    break
        return found

    def pinned(self):
        """Pieces that alone stand between their king and a piece that would take it."""
        found = []
        for king, own in (("K", str.isupper), ("k", str.islower)):
            for kind in "BR":
                for line in chess_slow.WALKS[kind][self.at.index(king)]:
                    met = [self.at[at] for at in line if self.at[at] != "."][:2]
                    if len(met) == 2 and own(met[0]) and not own(met[1]) and met[1].upper() in (kind, "Q"):
                        found.append(met[0])
        return found


class Game:
    """`tags`: a dictionary; the moves as SAN, which all can be played."""

    def __init__(self, number, tags, moves):
        self.number, self.tags = number, tags
        self.moments = []
        board = chess_slow.Board()
        for ply in range(len(moves) + 1):
            kept = copy.copy(board)
            kept.at = board.at[:]
            self.moments.append(Moment(kept, ply))
            if ply > 0:
                self.moments[ply - 1].after = self.moments[ply]
            if ply < len(moves):
                moment = self.moments[ply]
                moment.start, moment.end, moment.promotion = board.resolve(moves[ply])
                board.play(moves[ply])

    def plies(self):
        return len(self.moments) - 1


class Known:
    """What a store of these games knows of positions; `evals` and `chi2` by position: scores for the
    side to move, and the statistic in hundredths."""

    def __init__(self, games, evals, chi2):
        self.evals, self.chi2 = evals, chi2
        self.results, self.moves = {}, {}
        for game in games:
            for key in {moment.key() for moment in game.moments}:
                self.results.setdefault(key, []).append(game.tags["Result"])
            for played in {(m.key(), m.start, m.end, m.promotion) for m in game.moments if m.after}:
                self.moves[played] = self.moves.get(played, 0) + 1

    def value(self, kind, view):
        """The value as a pair, part and whole; None: it is not known."""
        moment = view.moment
        key = moment.key()
        results = self.results.get(key, ())
        if kind == "reached":
            return len(results), 1
        if kind == "score":
            wins, draws = results.count("0-1" if view.swap else "1-0"), results.count("1/2-1/2")
            known = len(results) - results.count("*")
            return (50 * (2 * wins + draws), known) if known else None
        if kind == "eval":
            cp = self.evals.get(key)
            return None if cp is None else (cp if view.white else -cp, 100)
        if kind == "chi2":
            return (self.chi2[key], 100) if key in self.chi2 else None
        if moment.after is None:
            return None
        if kind == "share":
            return 100 * self.moves[(key, moment.start, moment.end, moment.promotion)], len(results)
        before, after = self.evals.get(key), self.evals.get(moment.after.key())
        return None if before is None or after is None else (before + after, 1)


# ---- Values -------------------------------------------------------------------------------------

def read_range(text, scale=1):
    """Least and most in 1/scale, None where an end is open."""
    number = r"((?:-?\d+(?:\.\d+)?)?)"
    found = re.fullmatch(number + r"(\.\.)?" + number, text)
    first, dots, last = found.groups() if found else ("", None, "")
    if (not dots and last) or not (first or last):
        raise Refused(text)
    first, last = (round(float(part) * scale) if part else None for part in (first, last if dots else first))
    return first, last


def is_within(value, least, most):
    return (least is None or value >= least) and (most is None or value <= most)


def letter_set(letter):
    sets = {"?": ALL, ".": frozenset("."), "A": frozenset("KQRBNP"), "a": frozenset("kqrbnp")}
    if letter in PIECES:
        return frozenset(letter)
    if letter not in sets:
        raise Refused(letter)
    return sets[letter]


def read_contents(text, at):
    """What a square may hold, and where the text goes on."""
    found = re.compile(r"(!?)(\[[^\]]+\]|[KQRBNPAkqrbnpa.?])").match(text, at)
    if found is None:
        raise Refused(text)
    held = frozenset().union(*(letter_set(letter) for letter in found[2].strip("[]")))
    return (ALL - held if found[1] else held), found.end()


SQUARES = re.compile(r"(\*|[a-h](?:\.\.[a-h])?)(\*|[1-8](?:\.\.[1-8])?)")


class Squares:
    """A set of squares that can be moved."""

    def __init__(self, text):
        files, ranks = SQUARES.fullmatch(text).groups()
        self.files, self.ranks = self.span(files, "abcdefgh"), self.span(ranks, "12345678")

    @staticmethod
    def span(text, names):
        if text == "*":
            return range(8)
        first, last = names.index(text[0]), names.index(text[-1])
        if first > last:
            raise Refused(text)
        return range(first, last + 1)

    def moved(self, shift):
        """All of them moved, or None: some leave the board. A whole line stays along itself."""
        files = [file + (0 if len(self.files) == 8 else shift[0]) for file in self.files]
        ranks = [rank + (0 if len(self.ranks) == 8 else shift[1]) for rank in self.ranks]
        if min(files + ranks) < 0 or max(files + ranks) > 7:
            return None
        return [8 * rank + file for rank in ranks for file in files]


def take_squares(text, at):
    found = SQUARES.match(text, at)
    return (Squares(found[0]), found.end()) if found else (None, at)


class Leaves(Exception):
    """Moved so, a square is not on the board."""


def on_board(squares, shift):
    moved = squares.moved(shift)
    if moved is None:
        raise Leaves
    return moved


# ---- Conditions ---------------------------------------------------------------------------------
# Each reader returns, for a text, a function of a shift that returns a function of a view.

def read_has(text):
    clauses = []
    for word in re.split(r"[ ,\t]+", text.strip(" ,\t")):
        alternatives = []
        for part in word.split("|"):
            held, at = read_contents(part, 0)
            alternatives.append((part[0] == "!", held, Squares(part[at:])))
        clauses.append(alternatives)

    def made(shift):
        moved = [[(negated, held, on_board(squares, shift)) for negated, held, squares in clause] for clause in clauses]
        # A line with '!' says of all its squares what a line without says of some.
        return lambda view: all(any((all if negated else any)(view.at[at] in held for at in squares)
                                    for negated, held, squares in clause) for clause in moved)
    return made


def read_fen(text):
    placement, *side = text.split()
    wanted = []
    for rank, row in zip(range(7, -1, -1), placement.split("/")):
        file, at = 0, 0
        while at < len(row):
            if row[at].isdigit():
                file, at = file + int(row[at]), at + 1
                continue
            held, at = read_contents(row, at)
            if held != ALL:
                wanted.append((held, Squares("abcdefgh"[file] + str(rank + 1))))
            file += 1

    def made(shift):
        moved = [(held, on_board(squares, shift)[0]) for held, squares in wanted]
        return lambda view: ((not side or (side[0] == "w") == view.white) and
                             all(view.at[at] in held for held, at in moved))
    return made


def read_pawns(text):
    sides = []
    for pawn, part in zip("Pp", text.split("/")):
        words = part.split()
        sides.append((pawn, "+" in words, [Squares(word) for word in words if word != "+"]))

    def made(shift):
        moved = [(pawn, more, {on_board(squares, shift)[0] for squares in all_squares})
                 for pawn, more, all_squares in sides]

        def fits(view):
            for pawn, more, squares in moved:
                have = {at for at in range(64) if view.at[at] == pawn}
                if not squares <= have or (not more and squares != have):
                    return False
            return True
        return fits
    return made


def still(fits):
    return lambda shift: fits


def read_material(text):
    tests = []
    for word in re.split(r"[ ,\t]+", text.strip()):
        name, equals, value = word.partition("=")
        if name == "bishops" and equals:
            tests.append(lambda view, same=value == "same": bishops_fit(view, same))
        elif equals:
            least, most = read_range(value)
            tests.append(lambda view, name=name, least=least, most=most: is_within(
                64 - view.counts["."] if name == "men" else view.counts[name], least, most))
        else:
            white, black = word.split("v")
            wanted = {piece: count_starred(side, piece.upper()) for side, pieces in ((white, "KQRBNP"), (black, "kqrbnp"))
                      for piece in pieces}
            tests.append(lambda view, wanted=wanted: all(
                view.counts[piece] == n or (more and view.counts[piece] > n) for piece, (n, more) in wanted.items()))
    return still(lambda view: all(test(view) for test in tests))


def count_starred(side, letter):
    """How many, and whether there may be more."""
    return len(re.findall(letter + r"(?!\*)", side)), letter + "*" in side


def bishops_fit(view, same):
    places = [[at for at in range(64) if view.at[at] == piece] for piece in "Bb"]
    if [len(place) for place in places] != [1, 1]:
        return False
    shades = [(place[0] // 8 + place[0] % 8) % 2 for place in places]
    return (shades[0] == shades[1]) == same


def read_balance(text):
    white, black = text.split("v")

    def fits(view):
        for letter in "QRBNP":
            (n, more), (m, less) = count_starred(white, letter), count_starred(black, letter)
            have = view.counts[letter] - view.counts[letter.lower()]
            if not (have == n - m or (more and have > n - m) or (less and have < n - m)):
                return False
        return True
    return still(fits)


def read_endgame(text):
    family = text.removesuffix(" endings").replace("minor piece", "minor")
    if family not in FAMILIES and family != "bare kings":
        raise Refused(text)

    def fits(view):
        minors, rooks, queens = (sum(view.counts[p] + view.counts[p.lower()] for p in letters) for letters in ("NB", "R", "Q"))
        if minors + rooks + queens > 4:
            return False
        if view.counts["."] == 62:
            return family == "bare kings"
        named = ["queen"] * (queens > 0) + ["rook"] * (rooks > 0) + ["minor"] * (minors > 0)
        return family == (" and ".join(named) or "pawn" if len(named) < 3 else "mixed")
    return still(fits)


def read_attacked(kind, text):
    where, by = re.fullmatch(r"(.*?) by (.*)", text).groups()
    around = where.endswith("+")
    where = where.removesuffix("+")
    squares, _ = take_squares(where, 0)
    on = None if squares else read_contents(where, 0)[0]
    held, at = read_contents(by, 0)
    least, most = read_range(by[at + 1:]) if at < len(by) else (1, None)

    def made(shift):
        asked = on_board(squares, shift) if squares else range(64)

        def fits(view):
            places = {square for square in asked if on is None or view.at[square] in on}
            if around:
                places = {step for square in places for line in chess_slow.WALKS["K"][square] for step in line}
            if kind == "occupied":
                return bool(places) and all(view.at[square] in held for square in places)
            return any(is_within(sum(piece in held for piece in view.attackers(square)), least, most) for square in places)
        return fits
    return made


def read_pinned(text):
    held, at = read_contents(text, 0)
    least, most = read_range(text[at + 1:]) if at < len(text) else (1, None)
    return still(lambda view: is_within(sum(piece in held for piece in view.pinned()), least, most))


def pawn_is(kind, view, at):
    pawn = view.at[at]
    file, rank = at % 8, at // 8
    if kind == "passed":
        enemy = "p" if pawn == "P" else "P"
        ahead = range(rank + 1, 8) if pawn == "P" else range(rank)
        return not any(view.at[8 * r + f] == enemy for r in ahead for f in (file - 1, file, file + 1) if 0 <= f < 8)
    if kind == "isolated":
        return not any(view.at[8 * r + f] == pawn for r in range(8) for f in (file - 1, file + 1) if 0 <= f < 8)
    return any(view.at[8 * r + file] == pawn for r in range(8) if r != rank)


def read_pawns_so(kind, text):
    pawns = frozenset("Pp")
    squares, at = take_squares(text, 0)
    if squares is None or at < len(text):  # in a4 the letter is a file, in a*4 a piece
        pawns, at = read_contents(text, 0)
        squares = Squares(text[at:])

    def made(shift):
        asked = on_board(squares, shift)
        return lambda view: any(view.at[at] in pawns and view.at[at] in "Pp" and pawn_is(kind, view, at) for at in asked)
    return made


def read_one_move(text):
    """(from, to, piece, taken, becomes, effect); None where anything is right."""
    try:
        return read_move(text, *take_squares(text, 0))
    except Refused:
        return read_move(text, None, 0)


def read_move(text, first, at):
    piece, end, taken, becomes = None, None, None, None
    if first is None and text[:1] not in ("-", "x", "=", "+", "#"):
        piece, at = read_contents(text, 0)
        first, at = take_squares(text, at)
    sign = text[at:at + 1] if text[at:at + 1] in ("-", "x") else ""
    at += len(sign)
    if sign == "x":
        taken = frozenset(PIECES)
        if at < len(text) and text[at] not in "=+#" and not SQUARES.match(text, at):
            taken, at = read_contents(text, at)
            taken &= frozenset(PIECES)
    end, at = take_squares(text, at)
    if end is None and not sign:
        first, end = None, first
    start = first
    if text[at:at + 1] == "=":
        becomes, at = read_contents(text, at + 1)
    effect = text[at:]
    if effect not in ("", "+", "#") or (sign == "-" and end is None):
        raise Refused(text)
    return start, end, piece, taken, becomes, effect


def read_played(text):
    wanted = [part if part in WORDS else read_one_move(part) for part in text.split("|")]

    def made(shift):
        moved = []
        for move in wanted:
            if not isinstance(move, str):
                start, end, *rest = move
                move = (start and on_board(start, shift), end and on_board(end, shift), *rest)
            moved.append(move)
        return lambda view: view.has_move and any(
            word_fits(move, view) if isinstance(move, str) else move_fits(move, view) for move in moved)
    return made


def word_fits(word, view):
    if WORDS[word]:
        return view.wing != "" and view.piece + view.wing == WORDS[word]
    return {"any": True, "captures": view.taken != ".", "quiet": view.taken == "." and not view.promotion,
            "promotes": view.promotion != "", "ep": view.is_ep, "castles": view.wing != ""}[word]


def move_fits(move, view):
    start, end, piece, taken, becomes, effect = move
    after = view.moment.after
    return ((start is None or view.start in start) and (end is None or view.end in end) and
            (piece is None or view.piece in piece) and (taken is None or view.taken in taken) and
            (becomes is None or (view.promotion != "" and
                                 (view.promotion in becomes or view.promotion.lower() in becomes))) and
            (effect == "" or (after.check() and (effect == "+" or after.stuck()))))


def is_dead(view):
    if any(view.counts[piece] for piece in "PpRrQq"):
        return False
    knights = view.counts["N"] + view.counts["n"]
    shades = [(at // 8 + at % 8) % 2 for at in range(64) if view.at[at] in "Bb"]
    return knights + len(shades) <= 1 or (knights == 0 and len(set(shades)) == 1)


SIMPLE = {"any": lambda view: True, "check": lambda view: view.moment.check(),
          "mate": lambda view: view.moment.check() and view.moment.stuck(),
          "stalemate": lambda view: not view.moment.check() and view.moment.stuck(), "dead": is_dead,
          "first": lambda view: view.moment.ply == 0, "last": lambda view: view.moment.after is None}
READERS = {"has": read_has, "fen": read_fen, "pawns": read_pawns, "material": read_material, "balance": read_balance,
           "endgame": read_endgame, "pinned": read_pinned, "played": read_played,
           "to-move": lambda text: still(lambda view: view.white == (text == "white"))}


def read_ranged(kind, text, known):
    if kind == "points":
        least, most = read_range(text)
        return still(lambda view: is_within(sum(n * (view.counts[p] - view.counts[p.lower()]) for p, n in WORTH.items()),
                                            least, most))
    if kind == "ply":
        least, most = read_range(text)
        return still(lambda view: is_within(view.moment.ply, least, most))
    least, most = read_range(text, 100)  # hundredths

    def fits(view):
        value = known.value(kind, view)
        # Whole numbers: no rounding.
        return value is not None and is_within(100 * value[0], least if least is None else least * value[1],
                                               most if most is None else most * value[1])
    return still(fits)


def read_condition(kind, text, known):
    if kind in SIMPLE:
        return still(SIMPLE[kind])
    if kind in RANGES:
        return read_ranged(kind, text, known)
    if kind in ("attacked", "occupied"):
        return read_attacked(kind, text)
    if kind in ("passed", "isolated", "doubled"):
        return read_pawns_so(kind, text)
    return READERS[kind](text)


# ---- Motifs -------------------------------------------------------------------------------------

class Motif:
    """Moments as [link, within, conditions, run, range of times]."""

    def __init__(self):
        self.moments = []
        self.mirror = self.swap = False
        self.shift = [False, False]

    def variants(self):
        """(turn, conditions of each moment), for all ways to turn and move it."""
        turns = [(mirror, swap) for mirror in (False, True) if self.mirror or not mirror
                 for swap in (False, True) if self.swap or not swap]
        ways = [range(-7, 8) if asked else (0,) for asked in self.shift]
        for shift in itertools.product(*ways):
            try:
                tests = [moment["cond"](shift) for moment in self.moments]
            except Leaves:
                continue
            for turn in turns:
                yield turn, tests

    def found(self, game):
        """The plies at which its first moment may be said to hold, of what is complete first; empty:
        the game has it, but nowhere; None: it has not."""
        best, begins, times_fit = None, set(), False
        times = self.moments[0]["times"]
        for turn, tests in self.all_variants():
            chains, plies = self.chains(game, turn, tests)
            if times is not None:
                times_fit |= is_within(plies, *times)
                begins |= {min(chains[min(chains)])} if chains else set()
            elif chains:
                end = min(chains)
                begins = begins | chains[end] if end == best else chains[end] if best is None or end < best else begins
                best = end if best is None else min(best, end)
        if times is not None:
            return begins if times_fit else None
        return begins if best is not None else None

    def all_variants(self):
        if not hasattr(self, "made"):
            self.made = list(self.variants())
        return self.made

    def chains(self, game, turn, tests):
        """Ends of the whole motif, each with the plies at which it may have begun; and how many ends."""
        chains = None
        for moment, test in zip(self.moments, tests):
            holds = [test(one.view(turn)) for one in game.moments]
            run = moment["run"]
            starts = [ply for ply in range(len(holds) - run + 1) if all(holds[ply:ply + run])]
            if chains is None:
                chains = {ply + run - 1: {ply} for ply in starts}
                continue
            longer = {}
            for ply in starts:
                for end, begins in chains.items():
                    gap = ply - end
                    if gap >= 1 and gap <= (1 if moment["link"] == "next" else moment["within"] or gap):
                        longer.setdefault(ply + run - 1, set()).update(begins)
            chains = longer
            if not chains:
                break
        return chains, len(chains)


# ---- Reading filters ----------------------------------------------------------------------------

class Parser:
    """Units become functions of a game; `motifs` lists the motifs in their order, each with whether it
    is denied."""

    def __init__(self, text, known):
        self.words = [(found[1] is not None, found[0] if found[1] is None else re.sub(r"\\(.)", r"\1", found[1]))
                      for found in re.finditer(r'"((?:[^"\\]|\\.)*)"|[()]|[^\s()"]+', text)]
        self.at, self.known, self.motifs = 0, known, []

    def peek(self, *wanted):
        if self.at == len(self.words) or self.words[self.at][0]:
            return ""
        word = self.words[self.at][1]
        return word if not wanted or word in wanted else ""

    def take(self):
        if self.at == len(self.words):
            raise Refused("the end")
        self.at += 1
        return self.words[self.at - 1][1]

    def whole(self):
        read = self.filter(False) if self.words else lambda game: True
        if self.at < len(self.words):
            raise Refused(self.words[self.at][1])
        return read

    def filter(self, denied):
        parts = [self.conjunction(denied)]
        while self.peek("or"):
            self.take()
            parts.append(self.conjunction(denied))
        return lambda game: any(part(game) for part in parts)

    def conjunction(self, denied):
        parts = [self.unit(denied)]
        while self.at < len(self.words) and not self.peek("or", ")"):
            if self.peek("and"):
                self.take()
            parts.append(self.unit(denied))
        return lambda game: all(part(game) for part in parts)

    def unit(self, denied):
        negated = False
        while self.peek("not"):
            self.take()
            negated = not negated
        if self.peek("(") and not self.is_group_of_conditions(unit=True):
            self.take()
            inner = self.filter(denied != negated)
            if self.take() != ")":
                raise Refused(")")
        else:
            inner = self.term(denied != negated)
        return (lambda game: not inner(game)) if negated else inner

    def is_group_of_conditions(self, unit=False):
        """Whether nothing but conditions, not and or are in the parentheses that open here; and, if they
        may be a whole unit with an alternative that begins with `not`, whether the moment goes on."""
        depth, at, before, denies = 0, self.at, "", False
        while at < len(self.words):
            quoted, word = self.words[at]
            if quoted or word not in ("(", ")", "not", "or") + CONDITIONS:
                return False
            depth += (word == "(") - (word == ")")
            denies |= word == "not" and before in ("(", "or")
            before = word
            at += 1 if word in ("(", ")", "not", "or") + PLAIN else 2
            if depth == 0:
                return not (unit and denies) or self.is_moment_at(at)
        return False

    def is_moment_at(self, at):
        """Whether a moment that was read up to there goes on."""
        here, self.at = self.at, at
        goes = self.goes_on() or self.peek("next", "then", "for", "times") != ""
        self.at = here
        return goes

    def term(self, denied):
        if self.peek(*CONDITIONS, *SYMMETRIES, "pattern", "("):
            motif = self.motif()
            self.motifs.append((motif, denied))
            return lambda game: motif.found(game) is not None
        name, value = self.take(), self.take()
        if name == "result":
            wanted = value.split(",")
            return lambda game: game.tags["Result"] in wanted
        least, most = read_range(value)
        number = {"plies": Game.plies, "length": lambda game: (game.plies() + 1) // 2,
                  "number": lambda game: game.number}[name]
        return lambda game: is_within(number(game), least, most)

    def motif(self):
        motif = Motif()
        link, within = None, None
        while True:
            motif.moments.append(self.moment(motif, link, within))
            link = self.peek("next", "then")
            if not link:
                break
            self.take()
            within = None
            if link == "then" and self.peek("within"):
                self.take()
                within = int(self.take())
        if len(motif.moments) > 1 and any(moment["times"] for moment in motif.moments):
            raise Refused("times")
        return motif

    def moment(self, motif, link, within):
        if self.peek("pattern"):
            self.take()
        moment = {"link": link, "within": within, "cond": self.conditions(motif), "run": 1, "times": None}
        if self.peek("for"):
            self.take()
            moment["run"] = int(self.take())
        if self.peek("times"):
            self.take()
            moment["times"] = read_range(self.take())
        return moment

    def goes_on(self):
        at = self.at
        while self.peek("not"):
            self.at += 1
        goes = (self.peek(*CONDITIONS) or (self.peek(*SYMMETRIES) and self.at == at) or
                (self.peek("(") and self.is_group_of_conditions()))
        self.at = at
        return bool(goes)

    def conditions(self, motif):
        parts = []
        while self.goes_on():
            if self.peek(*SYMMETRIES):
                self.symmetry(motif)
            else:
                parts.append(self.condition())
        if not parts and motif is None:
            raise Refused("conditions")

        def made(shift):
            tests = [part(shift) for part in parts]
            return lambda view: all(test(view) for test in tests)
        return made

    def symmetry(self, motif):
        word = self.take()
        motif.mirror |= word == "mirror"
        motif.swap |= word == "either-colour"
        if word == "shift":
            line = self.peek("files", "ranks")
            self.at += line != ""
            motif.shift = [motif.shift[0] or line != "ranks", motif.shift[1] or line != "files"]

    def condition(self):
        negated = False
        while self.peek("not"):
            self.take()
            negated = not negated
        part = self.group() if self.peek("(") else self.test()
        if not negated:
            return part

        def made(shift):
            test = part(shift)
            return lambda view: not test(view)
        return made

    def group(self):
        self.take()
        parts = [self.conditions(None)]
        while self.peek("or"):
            self.take()
            parts.append(self.conditions(None))
        if self.take() != ")":
            raise Refused(")")

        def made(shift):
            tests = [part(shift) for part in parts]
            return lambda view: any(test(view) for test in tests)
        return made

    def test(self):
        kind = self.take()
        return read_condition(kind, "" if kind in PLAIN else self.take(), self.known)


def parse(text, known):
    """What a filter says of a game, and its motifs: (function, [(motif, denied)])."""
    parser = Parser(text, known)
    return parser.whole(), parser.motifs
