# SPDX-License-Identifier: MIT
"""PGN, a board and names, written a second time: slow, and only good enough for what the tests
compare. Nothing here asks the programs under test."""

import json
import re
import unicodedata

PIECE = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)x?([a-h][1-8])(?:=?([QRBN]))?[+#]*[!?]*$")
STEPS = {
    "N": [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)],
    "B": [(1, 1), (1, -1), (-1, -1), (-1, 1)],
    "R": [(1, 0), (0, 1), (-1, 0), (0, -1)],
}
STEPS["Q"] = STEPS["K"] = STEPS["B"] + STEPS["R"]
# What is lost when a piece leaves this square, or one is taken there.
CORNERS = {0: "Q", 7: "K", 4: "KQ", 56: "q", 63: "k", 60: "kq"}


def walks(kind, at):
    """Squares that a piece reaches on an empty board, by direction."""
    found = []
    for file_step, rank_step in STEPS[kind]:
        line, file, rank = [], at % 8 + file_step, at // 8 + rank_step
        while 0 <= file < 8 and 0 <= rank < 8:
            line.append(8 * rank + file)
            if kind in "NK":
                break
            file, rank = file + file_step, rank + rank_step
        found.append(line)
    return found


WALKS = {kind: [walks(kind, at) for at in range(64)] for kind in STEPS}


def square(name):
    return 8 * (int(name[1]) - 1) + ord(name[0]) - ord("a")


def name_of(at):
    return "abcdefgh"[at % 8] + str(at // 8 + 1)


class Board:
    """A position of chess from the usual start; squares from a1 along the ranks."""

    def __init__(self):
        self.at = list("RNBQKBNR" + "P" * 8 + "." * 32 + "p" * 8 + "rnbqkbnr")
        self.white = True
        self.castling = "KQkq"
        self.passed = None  # square that a pawn has just gone over
        self.plies = 0

    def own(self, kind):
        return kind if self.white else kind.lower()

    def attacked(self, at, by_white):
        """Whether a side could take on the square."""
        for kind in "NBRQK":
            piece = kind if by_white else kind.lower()
            for line in WALKS[kind][at]:
                for step in line:
                    if self.at[step] != ".":
                        if self.at[step] == piece:
                            return True
                        break
        rank = at // 8 + (-1 if by_white else 1)
        return any(0 <= rank < 8 and 0 <= file < 8 and
                   self.at[8 * rank + file] == ("P" if by_white else "p")
                   for file in (at % 8 - 1, at % 8 + 1))

    def is_safe(self, start, end):
        """Whether the side to move may make this step with regard to its king."""
        before = self.at[:]
        if self.at[start] in "Pp" and end == self.passed:
            self.at[end + (-8 if self.white else 8)] = "."
        self.at[end], self.at[start] = self.at[start], "."
        safe = not self.attacked(self.at.index(self.own("K")), not self.white)
        self.at = before
        return safe

    def reaches(self, kind, start, end):
        if kind != "P":
            for line in WALKS[kind][start]:
                if end in line:
                    return all(self.at[step] == "." for step in line[:line.index(end)])
            return False
        forward = 8 if self.white else -8
        if start % 8 != end % 8:
            return (abs(start % 8 - end % 8) == 1 and end // 8 == start // 8 + forward // 8 and
                    (self.at[end] != "." or end == self.passed))
        if self.at[end] != ".":
            return False
        home = 1 if self.white else 6
        return end == start + forward or (start // 8 == home and end == start + 2 * forward and
                                          self.at[start + forward] == ".")

    def resolve(self, san):
        """The step (from, to, promotion) that a text of a move means."""
        if san.startswith(("O-O", "0-0")):
            king = self.at.index(self.own("K"))
            return king, king + (-2 if san.startswith(("O-O-O", "0-0-0")) else 2), ""
        found = PIECE.match(san)
        if found is None:
            raise ValueError(san)
        kind, file, rank, end, promotion = found.groups()
        kind = kind or "P"
        end = square(end)
        own = self.own(kind)
        starts = [at for at, piece in enumerate(self.at) if piece == own and
                  (not file or name_of(at)[0] == file) and (not rank or name_of(at)[1] == rank) and
                  self.reaches(kind, at, end)]
        starts = [at for at in starts if self.is_safe(at, end)]
        if len(starts) != 1:
            raise ValueError(san)
        return starts[0], end, promotion or ""

    def play(self, san):
        """Plays a move, and tells it as UCI does."""
        start, end, promotion = self.resolve(san)
        piece = self.at[start]
        forward = 8 if self.white else -8
        if piece in "Pp" and end == self.passed:
            self.at[end - forward] = "."
        if piece in "Kk" and abs(end - start) == 2:
            corner = start + 3 if end > start else start - 4
            self.at[(start + end) // 2], self.at[corner] = self.at[corner], "."
        self.at[end], self.at[start] = self.own(promotion) if promotion else piece, "."
        gone = CORNERS.get(start, "") + CORNERS.get(end, "")
        self.castling = "".join(right for right in self.castling if right not in gone)
        self.passed = start + forward if piece in "Pp" and abs(end - start) == 16 else None
        self.white = not self.white
        self.plies += 1
        return name_of(start) + name_of(end) + promotion.lower()

    def placement(self):
        rows = ["".join(self.at[8 * rank:8 * rank + 8]) for rank in range(7, -1, -1)]
        return re.sub(r"\.+", lambda run: str(len(run.group())), "/".join(rows))

    def key(self):
        """What makes it the same position: en passant only where it can be played."""
        passed = "-"
        if self.passed is not None and any(
                self.at[at] == self.own("P") and self.reaches("P", at, self.passed) and
                self.is_safe(at, self.passed) for at in range(64)):
            passed = name_of(self.passed)
        return " ".join((self.placement(), "w" if self.white else "b", self.castling or "-",
                         passed))


# ---- Files -------------------------------------------------------------------------------------

TAG = re.compile(r'^\s*\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*$')
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def plain_moves(text):
    """The moves of a game's text without comments, variations, numbers and marks."""
    text = re.sub(r"\{[^}]*\}", " ", text)
    text = re.sub(r";[^\n]*", " ", text)
    depth, kept = 0, []
    for c in text:
        depth += c == "("
        kept.append(c if depth == 0 and c != ")" else " ")
        depth -= c == ")" and depth > 0
    words = re.sub(r"\$\d+|\d+\.+", " ", "".join(kept)).split()
    return [word for word in words if word not in RESULTS and not re.fullmatch(r"[!?.]+", word)]


def read_pgn(text):
    """[(tags, text of moves)]; of a tag that comes twice the first counts."""
    games, tags, moves = [], {}, []
    for line in text.splitlines():
        tag = TAG.match(line)
        if tag and moves and "".join(moves).strip():
            games.append((tags, "\n".join(moves)))
            tags, moves = {}, []
        if tag:
            tags.setdefault(tag[1], re.sub(r"\\(.)", r"\1", tag[2]).strip())
        else:
            moves.append(line)
    return games + [(tags, "\n".join(moves))] if tags else games


def replay(moves):
    """[(position, move played there as UCI or None)], for all positions of a game; it ends where
    a move cannot be read."""
    board, told = Board(), []
    for move in moves:
        key = board.key()
        try:
            told.append((key, board.play(move)))
        except ValueError:
            break
    return told + [(board.key(), None)]


def names_of(rows):
    """Position to ECO code, from what `scan --show fen,eco --json` prints."""
    pairs = [(row["fen"].rsplit(" ", 2)[0], row["eco"]) for row in map(json.loads, rows.splitlines())]
    return {key: eco for key, eco in pairs if eco}


def opening_of(path, names):
    """The code of a game's opening: that of its last position with a name; "" if none has one."""
    return next((names[key] for key, _ in reversed(path) if key in names), "")


# ---- Names -------------------------------------------------------------------------------------

SPECIAL = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i"})


def plain(letter):
    """Latin letters lose their accents, others only their case."""
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() else letter


def words_of(text):
    text = "".join(map(plain, re.sub("['’‘]", "", text).lower().translate(SPECIAL)))
    return re.findall(r"[^\W_]+", text)


def has_words(wanted, name):
    """Each word wanted is one of the name's, a word for each."""
    have = words_of(name)
    want = words_of(wanted)
    return bool(want) and all(have.count(word) >= want.count(word) for word in want)


def has_comma(text):
    return "," in text and bool(words_of(text.split(",")[0]))


def surname(text):
    """Places of the words of a wanted name with a comma that no initial stands for."""
    return set(range(len(words_of(text.split(",")[0]))))


def assign(wanted, have, exact):
    """Whether a word of `have` can be found for each wanted one, in some way."""
    if not wanted:
        return True
    (at, word), rest = wanted[0], wanted[1:]
    for i, other in enumerate(have):
        initial = (at not in exact and word[0] == other[0] and 1 in (len(word), len(other)) and
                   word[0].isalpha())
        if (word == other or initial) and assign(rest, have[:i] + have[i + 1:], exact):
            return True
    return False


def player_fits(wanted, name):
    if wanted.startswith("="):
        return name == wanted[1:]
    words, have = list(enumerate(words_of(wanted))), words_of(name)
    if has_comma(wanted):
        return bool(words) and assign(words, have, surname(wanted))
    longer = {i for i, word in words if len(word) > 1}
    theirs = words_of(name.split(",")[0]) if has_comma(name) else [word for word in have if len(word) > 1]
    return bool(words) and (assign(words, have, longer) or any(
        word in theirs and assign(words, have, {i}) for i, word in words if i in longer))
