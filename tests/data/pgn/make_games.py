#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes games_300.pgn and its tables: 300 games between players who do not exist, at events that were not held. Openings are lines of
chess/openings; after them both sides make the move that wins most at once, with mistakes that grow with a lower rating. The board is
tests/system/chess_slow.py, not that of the programs under test. Every run writes the same bytes.

    make_games.py                     writes the files
    make_games.py FIRST LAST          prints these games
    make_games.py --check FIRST LAST  compares these games, and the table of positions, with the files
"""

import argparse
import collections
import glob
import math
import multiprocessing
import os
import random
import re
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(SOURCE, "tests", "system"))

import chess_slow  # pylint: disable=wrong-import-position
from chess_slow import WALKS, name_of  # pylint: disable=wrong-import-position

GAMES = 300
SEED = "games_300"
VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 100, ".": 0}
LONGEST = 318

# ---- Openings ------------------------------------------------------------------------------------

# Of so many games the first moves; the others are drawn among the lines.
FAMILIES = (("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", 12), ("e4 c5 Nf3", 36), ("e4 c5", 12), ("e4 e5 Nf3 Nc6 Bb5", 24),
            ("e4 e5", 24), ("e4 c6", 18), ("e4 e6", 18), ("e4 d6", 7), ("e4", 9), ("d4 Nf6 c4 e6", 30), ("d4 Nf6 c4 g6", 18),
            ("d4 d5 c4", 30), ("d4", 22), ("c4", 14), ("Nf3", 18), ("", 8))


class Book:
    def __init__(self):
        self.codes, self.lines = {}, collections.Counter()
        for path in sorted(glob.glob(os.path.join(SOURCE, "chess", "openings", "*.tsv"))):
            with open(path, encoding="utf-8") as file:
                for line in file.read().splitlines()[1:]:
                    eco, _, text = line.split("\t")
                    moves = tuple(chess_slow.plain_moves(text))
                    self.codes.setdefault(moves, eco)
                    for n in range(1, len(moves) + 1):
                        self.lines[moves[:n]] += 1
        self.next = collections.defaultdict(list)
        for moves in sorted(self.lines):
            self.next[moves[:-1]].append(moves[-1])

    def draw(self, chance, begin):
        """Moves that go on from the first ones as the lines do."""
        moves = tuple(begin.split())
        while self.next[moves] and chance.random() < 0.95:
            moves += (draw(chance, [(san, self.lines[moves + (san,)] * math.sqrt(self.lines[moves + (san,)])) for san in self.next[moves]]),)
        return list(moves)

    def code(self, moves):
        """Of the longest line that the moves begin with."""
        return next(self.codes[tuple(moves[:n])] for n in range(len(moves), 0, -1) if tuple(moves[:n]) in self.codes)


def draw(chance, pairs):
    """One of (thing, weight); of random() alone, whose numbers no version of Python changes."""
    at = chance.random() * sum(weight for _, weight in pairs)
    for thing, weight in pairs:
        at -= weight
        if at < 0:
            return thing
    return pairs[-1][0]


def pick(chance, things):
    return things[int(chance.random() * len(things))]


def between(chance, low, high):
    return low + int(chance.random() * (high - low + 1))


def shuffle(chance, things):
    for i in range(len(things) - 1, 0, -1):
        j = between(chance, 0, i)
        things[i], things[j] = things[j], things[i]


# ---- Moves ---------------------------------------------------------------------------------------

class Board(chess_slow.Board):
    """A board that finds moves too; a step is (from, to, promotion)."""

    def steps(self):
        """All but for what leaves the king attacked."""
        for at, piece in enumerate(self.at[:]):
            if piece == "." or piece.isupper() != self.white:
                continue
            if piece in "Pp":
                yield from self.pawn_steps(at)
                continue
            for line in WALKS[piece.upper()][at]:
                for end in line:
                    if self.at[end] == "." or self.at[end].isupper() != self.white:
                        yield at, end, ""
                    if self.at[end] != ".":
                        break
        yield from self.castlings()

    def pawn_steps(self, at):
        forward = 8 if self.white else -8
        ends = [end for end in (at + forward, at + 2 * forward) if 0 <= end < 64 and self.reaches("P", at, end)]
        for file in (at % 8 - 1, at % 8 + 1):
            end = (at + forward) // 8 * 8 + file
            if 0 <= file < 8 and (end == self.passed or self.at[end] != "." and self.at[end].isupper() != self.white):
                ends.append(end)
        for end in ends:
            for promotion in "QRBN" if end // 8 in (0, 7) else [""]:
                yield at, end, promotion

    def castlings(self):
        king = 4 if self.white else 60
        for right, way, empty in (("K", 1, (1, 2)), ("Q", -1, (1, 2, 3))):
            if (self.own(right) in self.castling and all(self.at[king + way * n] == "." for n in empty) and
                    not any(self.attacked(king + way * n, not self.white) for n in (0, 1, 2))):
                yield king, king + 2 * way, ""

    def san(self, step):
        """The text of a step, without the mark of a check."""
        start, end, promotion = step
        kind = self.at[start].upper()
        takes = self.at[end] != "." or (kind == "P" and end == self.passed)
        if kind == "K" and abs(end - start) == 2:
            return "O-O" if end > start else "O-O-O"
        if kind == "P":
            return (name_of(start)[0] + "x" if takes else "") + name_of(end) + ("=" + promotion if promotion else "")
        others = [at for at in range(64) if at != start and self.at[at] == self.at[start] and
                  self.reaches(kind, at, end) and self.is_safe(at, end)]
        told = ""
        if others:
            file, rank = name_of(start)
            told = file if all(at % 8 != start % 8 for at in others) else \
                rank if all(at // 8 != start // 8 for at in others) else file + rank
        return kind + told + ("x" if takes else "") + name_of(end)

    def in_check(self):
        return self.attacked(self.at.index(self.own("K")), not self.white)

    def can_move(self):
        return any(self.is_safe(start, end) for start, end, _ in self.steps())

    def can_mate(self):
        rival = self.at.index("k" if self.white else "K")
        for step in self.steps():
            start, end, promotion = step
            taken, piece = self.at[end], self.at[start]
            self.at[end], self.at[start] = self.own((promotion or piece).upper()), "."
            checks = self.attacked(rival, self.white)
            self.at[end], self.at[start] = taken, piece
            if checks and self.is_safe(start, end):
                child = after(self, step)
                if child.in_check() and not child.can_move():
                    return True
        return False

    def least(self, at, by_white):
        """What the least piece is worth that a side could take with on the square; None without one."""
        rank = at // 8 + (-1 if by_white else 1)
        pawn = "P" if by_white else "p"
        if 0 <= rank < 8 and any(self.at[8 * rank + file] == pawn for file in (at % 8 - 1, at % 8 + 1) if 0 <= file < 8):
            return 1
        for kind in "NBRQK":
            piece = kind if by_white else kind.lower()
            for line in WALKS[kind][at]:
                for step in line:
                    if self.at[step] != ".":
                        if self.at[step] == piece:
                            return VALUES[kind.lower()]
                        break
        return None

    def risk(self, at):
        """About what the piece on a square loses, if the other side takes it."""
        worth = VALUES[self.at[at].lower()]
        white = self.at[at].isupper()
        attacker = self.least(at, not white)
        if attacker is None:
            return 0
        return worth if self.least(at, white) is None else max(0, worth - attacker)

    def most_at_risk(self):
        """About what the side that does not move can lose now."""
        return max((self.risk(at) for at, piece in enumerate(self.at) if piece not in ".kK" and piece.isupper() != self.white), default=0)

    def balance(self):
        """What the side to move has more, in pawns."""
        more = sum(VALUES[piece.lower()] * (1 if piece.isupper() else -1) for piece in self.at)
        return more if self.white else -more

    def is_dead(self):
        return sorted(piece for piece in self.at if piece not in ".kK") in ([], ["B"], ["b"], ["N"], ["n"])


def distance(one, other):
    return max(abs(one % 8 - other % 8), abs(one // 8 - other // 8))


def after(board, step):
    """A board on which the step was made."""
    child = Board()
    child.at, child.white, child.castling, child.passed = board.at[:], board.white, board.castling, board.passed
    child.play(board.san(step))
    return child


def value_of(board, step, end_game, lead):
    """How good a step looks, in pawns; whether it may give check; and what the piece may be lost for."""
    start, end, promotion = step
    piece, taken = board.at[start], board.at[end]
    kind = piece.upper()
    value = VALUES[taken.lower()] + (1 if kind == "P" and end == board.passed else 0)
    value += VALUES[promotion.lower()] - 1 if promotion else 0
    if kind == "K" and abs(end - start) == 2:
        return 0.9, True, 0
    value += 0.8 * board.risk(start) if kind != "K" else 0
    board.at[end], board.at[start] = piece, "."
    risk = board.risk(end) if kind != "K" else 0
    value -= risk
    rival = board.at.index("k" if board.white else "K")
    checks = board.attacked(rival, board.white)
    if end_game and lead >= 4:
        value += 0.15 * (distance(start, rival) - distance(end, rival)) if kind == "K" else 0
        value -= 0.12 * sum(board.at[at] == "." and not board.attacked(at, board.white)
                            for line in WALKS["K"][rival] for at in line)
    board.at[end], board.at[start] = taken, piece
    centre = lambda at: max(abs(2 * (at % 8) - 7), abs(2 * (at // 8) - 7)) / 2  # noqa: E731
    if kind == "K":
        value += 0.1 * (centre(start) - centre(end)) if end_game else -0.4
    elif kind == "P":
        rank = end // 8 if board.white else 7 - end // 8
        value += 0.1 * rank if end_game else 0.2 if end % 8 in (2, 3, 4) and rank == 3 else 0
    elif kind in "NB":
        value += 0.12 * (centre(start) - centre(end)) + (0.3 if start // 8 == (0 if board.white else 7) else 0)
    return value + (0.2 if checks else 0), checks, risk


def choose(board, chance, noise, careful, trade):
    """A step; None, if the side cannot move."""
    end_game = sum(piece in "NBRQnbrq" for piece in board.at) <= 6
    lead = board.balance()
    bare = sum(piece not in ".Pp" and piece.isupper() != board.white for piece in board.at) == 1
    found = []
    for step in board.steps():
        if not board.is_safe(step[0], step[1]):
            continue
        value, checks, risk = value_of(board, step, end_game, lead)
        value += noise * chance.random() + (trade if board.at[step[1]] in "NBQnbq" else 0)
        if step[2] and step[2] != "Q":
            value -= 2 - 4 * (chance.random() < 0.02)
        if checks or (bare and careful and lead > 1):
            child = after(board, step)
            if not child.can_move():
                value += 1000 if child.in_check() else -50
        found.append((value, step, risk))
    found.sort(reverse=True)
    # What each leaves to be taken.
    found = sorted(((value - max(0, after(board, step).most_at_risk() - risk) if value < 500 else value, step)
                    for value, step, risk in found[:8]), reverse=True)
    awake = chance.random() < 0.97
    for value, step in found:
        if value > 500 or not awake or not after(board, step).can_mate():
            return step
    return found[0][1] if found else None


def play(moves, chance, ratings):
    """Goes on from the moves of an opening until the end; the result, and how it came."""
    board, seen, quiet, bad = Board(), collections.Counter(), 0, [0, 0]
    marked = []
    stubborn, careful = chance.random() < 0.2, chance.random() < 0.7
    trade, peace = 0, between(chance, 30, 96)
    if chance.random() < 0.52:
        trade, peace = 0.8, between(chance, 90, 180)
    noises = [0.1 + max(0, 2800 - rating) / 3000 for rating in ratings]
    for ply in range(LONGEST):
        side = ply % 2
        loss = "0-1" if side == 0 else "1-0"
        seen[board.key()] += 1
        if board.is_dead() or seen[board.key()] == 3 or quiet == 100:
            return marked, "1/2-1/2"
        if ply < len(moves):
            san = moves[ply].rstrip("+#")
        else:
            step = choose(board, chance, noises[side], careful, trade)
            if step is None:
                return marked, loss if board.in_check() else "1/2-1/2"
            lead = board.balance()
            bad[side] = bad[side] + 1 if lead <= -6 else 0
            if not stubborn and bad[side] >= 3 and chance.random() < 0.3 + 0.05 * bad[side]:
                return marked, loss
            if ply > peace and abs(lead) <= 2 and chance.random() < 0.5:
                return marked, "1/2-1/2"
            san = board.san(step)
        quiet = 0 if "x" in san or san[0] in "abcdefgh" else quiet + 1
        board.play(san)
        if board.in_check():
            san += "+" if board.can_move() else "#"
        marked.append(san)
    return marked, "1/2-1/2"


# ---- Players -------------------------------------------------------------------------------------

# Name, games, best rating, first and last year.
KNOWN = (
    ("Norheim,M", 28, 2850, 2004, 2023), ("Vauclair Delorme,M", 21, 2780, 2006, 2023), ("Kosarenko,A", 17, 2540, 2000, 2021),
    ("Nebolsinsky,I", 12, 2780, 2008, 2023), ("Luo Wenxi", 11, 2670, 2009, 2022), ("Sy,W", 10, 2770, 2010, 2023),
    ("Velan,V", 10, 2790, 1998, 2019), ("Kalvik,V", 9, 2790, 1996, 2018), ("Firuzan,Alireza", 9, 2770, 2018, 2023),
    ("Pogany, Judit", 8, 2680, 1988, 2014), ("Kalvik, Vladimir", 8, 2740, 1991, 1999), ("Tang Liwei", 8, 2800, 2012, 2023),
    ("Araronian,L", 7, 2790, 2001, 2022), ("Fairweather, Robert John", 6, 2700, 1957, 1992), ("Chibirava, Maia", 6, 2500, 1977, 2004),
    ("Addison,Mi", 6, 2720, 1996, 2018), ("Stefanaki,A", 5, 2500, 1999, 2017), ("Velan, Viswan", 5, 2720, 1987, 1997),
    ("Alberti, Leo O", 5, 2540, 1974, 1992), ("Avakian, Vladimir", 5, 2630, 1990, 2014), ("Avakobi,V", 5, 2610, 2003, 2017),
    ("Svedlund,P", 4, 2730, 1998, 2019), ("Pogany,Ju", 4, 2690, 2001, 2014), ("Mamedli,S", 4, 2780, 2006, 2023),
    ("Addison, Michael", 4, 2690, 1988, 1999), ("Rajabli,T", 3, 2740, 2004, 2021), ("Konduru,H", 3, 2580, 2005, 2022),
    ("Gasparian,G", 3, 2820, 1996, 2004), ("Karpenko,Ana", 3, 2690, 1991, 2004), ("Inarkaev,E", 3, 2700, 2008, 2020),
    ("Girelli,A", 3, 2770, 2009, 2023), ("Cordana,F", 3, 2800, 2010, 2023), ("Capdevila, Jose Raul", 3, 0, 1913, 1938),
    ("Dragosan, Bogdan-Daniel", 1, 2610, 2013, 2016), ("Dragosan,Bogdan-Daniel", 2, 2680, 2018, 2023),
    ("Volchnoi, Viktor", 1, 2640, 1978, 1988), ("Voltschnoj, Viktor", 1, 2630, 1984, 1992), ("DEEP FINCH", 1, 2760, 2002, 2006),
)
GIVEN = ("Aaron Ada Adrian Agnes Albert Alena Anton Aron Astrid Beata Bence Boris Carl Cecilia Daniel Dario David Denis Dora Edgar Elena "
         "Emil Erik Eva Felix Filip Frida Gabor Georg Greta Hanna Henrik Igor Ilona Ingrid Ivan Jakob Jan Jonas José Julia Karl Katja "
         "Klara Lars Lena Leon Luis Magda Marco Maria Martin Mateo Michał Milan Mira Nadia Niels Nina Oskar Oto Pablo Pavel Petra Rafael "
         "Robin Rosa Samuel Sara Simon Sofia Søren Stefan Tamara Teresa Tomas Vera Viktor Viola Wanda Yannick Zdeněk Zoë Žofia Åke").split()
BEGINNINGS = ("Ab Bar Bel Bor Brem Cal Cas Dal Dor Dra Ebe Fal Fer Gal Gor Gra Hal Har Hol Ist Jan Jor Kal Ker Kol Kra Lam Lin Lom Mar Mel "
              "Mor Nar Nes Nov Ol Or Pal Pes Pol Rad Ras Ros Sal Ser Sol Stan Tal Ter Tor Ul Val Ver Vol Wal Wen Yar Zam Zel Zor").split()
MIDDLES = "a e i o an en in on er ar el ov ad im".split()
ENDS = ("ský dez nescu berg wald heim ström sson sen dal nik kov kova enko ian adze shvili vić czyk ák ello etti ucci oux ault ington ford "
        "wick ley mans horst brecht inger lund gård ás ero eiro inho").split()
HANDLES = ("THECOLD", "willowy", "rookwood77", "pawnbroker", "nettle", "germanPainter", "krivolap", "vealpie", "neomarcher", "Grillou",
           "Silverfin", "bishopric")

# ---- Events --------------------------------------------------------------------------------------

BIG = (("Coral Cup", "Aldersund NOR"), ("Blitz", "Reykholt ISL"), ("Tower Memorial", "Mirograd RUS"), ("Rapid Masters", "chess.example INT"),
       ("Candidates", "Port Lunar ESP"), ("Grand Prix", "Sankt Elbin GER"), ("Zonal", "Vale d'Ouro POR"), ("Online Speed 2020", "chess.example INT"),
       ("Windmill", "Zandhoek NED"), ("World Cup", "Tamarind IND"), ("ch-NOR", "Sandvik NOR"), ("Rocks Open", "Caleta Alta ENG"),
       ("Simul, 20b", "Lower Marsh"), ("Women's GP", "Nalgrad RUS"), ("Olympiad", "Baku Bay AZE"), ("Match", "New Haven"))
SMALL = (("M.Chernov Memorial 2014", "St. Olga", "RUS", 9), ("IX Continental Classical Championship 2014", "Hotel Duna, Praia do Atlântico", "BRA", 11),
         ("Desert Rapid International Championship 2014", "Desert Chess Club", "UAE", 9), ("World Seniors (S65)", "Katerina Beach", "GRE", 11),
         ("Landesliga Ost 2013/2014", "Verschiedene", "AUT", 11), ("JAHN de Ajedrez  ITT", "Lomas Verdes", "PAN", 9),
         ("Oasis Classic 2014 -19-27 December", "Palm Oasis", "UAE", 9), ("World Youth U-16 Team 2014", "Györvár", "HUN", 10),
         ("I Torneo Internacional Centro Luz Las Dunas", "Las Dunas", "ESP", 9), ("Harbour International Open Chess Championship 20", "Harbour City", "HKG", 7),
         ("O Pohár mesta Rícov 2014 - OPEN A", "Rícov", "CZE", 9), ("XVI Obert Internacional Sant Jordi 2014 Grup B", "Barrona. Carrer Major nº 2.", "ESP", 10),
         ("Extraliga 2013-2014", "Trnovec", "SVK", 11), ("Red Mesa Open", "Red Mesa Hotel", "USA", 9))
TEAMS = ("KŠ Pezin", "ŠK Dopravák C", "Schachfreunde Graz-Ost", "Fürstenau", "SV Sankt Elbin", "Union Weizen", "SC Lindenhof", "TJ Slávia Trnovec")


Plan = collections.namedtuple("Plan", "kind white black elos year begin")
CLUB, TEAM, SERVER = "club", "team", "server"  # ways in which collections write games


def strangers(chance, n, names):
    """(name, best rating, first and last year) of players who play once, or twice."""
    found = []
    while len(found) < n:
        surname = pick(chance, BEGINNINGS) + pick(chance, MIDDLES) + pick(chance, ENDS)
        given = pick(chance, GIVEN)
        name = draw(chance, ((f"{surname}, {given}", 14), (f"{surname}, {given} {pick(chance, GIVEN)}", 3), (f"{surname},{given[0]}", 4),
                             (f"{surname}, {given[0]}.", 1), (f"{surname.upper()}, {given}", 1)))
        best = between(chance, *draw(chance, (((2600, 2750), 3), ((2450, 2600), 6), ((2200, 2450), 5), ((1900, 2200), 6), ((1100, 1900), 4))))
        if name not in names:
            names.add(name)
            found += [(name, best, 1985, 2023)] * (2 if chance.random() < 0.04 else 1)
    found = found[:n]
    shuffle(chance, found)
    return found


def pairs_of(chance):
    """Who meets whom: each known player as often as said, and others. Those who meet were active at the same time."""
    known = [player[:1] + player[2:] for player in KNOWN for _ in range(player[1])]
    shuffle(chance, known)
    others = strangers(chance, 2 * (GAMES - 6) - len(known), {player[0] for player in KNOWN})
    pairs = []
    while known:
        one = known.pop()
        fits = [i for i, other in enumerate(known) if other[0].split(",")[0] != one[0].split(",")[0] and
                max(one[2], other[2]) <= min(one[3], other[3])]
        pairs.append((one, known.pop(pick(chance, fits)) if fits and chance.random() < 0.3 else
                      others.pop(max(range(-min(4, len(others)), 0), key=lambda at: others[at][1]))))
    while others:
        one = others.pop()
        pairs.append((one, others.pop(next(i for i in range(len(others) - 1, -1, -1) if others[i][0] != one[0]))))
    return pairs


def elo_of(chance, player, year):
    told = max(1000, player[1] - between(chance, 0, 130))
    return None if year < 1975 else draw(chance, ((told, 94), (None, 4), (0, 2)))


def plan():
    """What every game is to be but for its moves; the first is one with White of the first known player."""
    chance = random.Random(SEED + "/plan")
    begins = [begin for begin, n in FAMILIES for _ in range(n)]
    shuffle(chance, begins)
    known = {player[0] for player in KNOWN}
    games = []
    for pair in pairs_of(chance):
        one, other = pair if chance.random() < 0.5 else pair[::-1]
        first, last = max(one[2], other[2]), min(one[3], other[3])
        team = not known & {one[0], other[0]} and sum(game.kind == TEAM for game in games) < 77
        year = pick(chance, (2013, 2014, 2014, 2014, 2014)) if team else between(chance, max(first, 1913), last)
        elos = [elo_of(chance, player, year) for player in (one, other)]
        games.append(Plan(TEAM if team else CLUB, one[0], other[0], elos, year, begins[len(games)]))
    for i in range(6):
        elos = [between(chance, 1850, 2150) for _ in range(2)]
        games.append(Plan(SERVER, HANDLES[2 * i], HANDLES[2 * i + 1], elos, 2000, begins[len(games)]))
    shuffle(chance, games)
    first = next(i for i, game in enumerate(games) if game.white == KNOWN[0][0])
    return [games.pop(first)] + games


# ---- Text ----------------------------------------------------------------------------------------

def club_tags(chance, game, result, eco):
    """As collections by players have them."""
    event, site = pick(chance, BIG)
    date = f"{game.year}.{between(chance, 1, 12):02}.{between(chance, 1, 28):02}"
    if game.year < 2000 and chance.random() < 0.75:
        date = f"{game.year}.??.??"
    return [("Event", event), ("Site", site), ("Date", date), ("Round", draw(chance, ((str(between(chance, 1, 11)), 22), ("?", 1), (
        f"{between(chance, 1, 7)}.{between(chance, 1, 4)}", 3)))), ("White", game.white), ("Black", game.black), ("Result", result),
            *zip(("WhiteElo", "BlackElo"), map(str_elo, game.elos)), ("ECO", eco)]


def team_tags(chance, game, result, eco, plies):
    """As bulletins of opens and leagues have them."""
    event, site, country, rounds = pick(chance, SMALL)
    month, day = between(chance, 1, 12), between(chance, 1, 14)
    tags = [("Event", event), ("Site", site), ("Date", f"{game.year}.{month:02}.{day + between(chance, 0, 14):02}"),
            ("Round", str(between(chance, 1, rounds))), ("Board", str(between(chance, 1, 40))), ("White", game.white), ("Black", game.black),
            ("Result", result), ("ECO", eco), *zip(("WhiteElo", "BlackElo"), map(str_elo, game.elos)), ("PlyCount", str(plies)),
            ("EventDate", f"{game.year}.{month:02}.{day:02}")]
    teams = "liga" in event
    tags += [("EventType", "team")] if teams else []
    tags += [("EventRounds", str(rounds)), ("EventCountry", country)]
    if teams:
        at = between(chance, 0, len(TEAMS) - 2)
        tags += [("WhiteTeam", TEAMS[at]), ("BlackTeam", TEAMS[at + 1])]
    return tags


def server_tags(chance, game, result, eco, plies):
    return [("Event", "Server rated standard game"), ("Site", "games.chess.example"), ("ServerGameNo", str(between(chance, 44000000, 44999999))),
            ("White", game.white), ("Black", game.black), *zip(("WhiteElo", "BlackElo"), map(str_elo, game.elos)), ("WhiteRD", "na"),
            ("BlackRD", "na"), ("TimeControl", "900+0"), ("Date", f"{game.year}.12.{between(chance, 10, 31)}"),
            ("Time", f"{between(chance, 0, 23):02}:{between(chance, 0, 59):02}:00"), ("WhiteClock", "0:15:00.000"),
            ("BlackClock", "0:15:00.000"), ("ECO", eco), ("PlyCount", str(plies)), ("Result", result)]


def str_elo(elo):
    return "" if elo is None else str(elo)


def wrapped(words, width):
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def game_text(number, game, book):
    """A game as PGN. It depends on its own number alone, beside the plan."""
    chance = random.Random(f"{SEED}/{number}")
    moves, result = play(book.draw(chance, game.begin), chance, [elo or 2200 for elo in game.elos])
    eco = book.code(moves)
    if game.kind == CLUB:
        tags = club_tags(chance, game, result, eco)
    else:
        tags = (team_tags if game.kind == TEAM else server_tags)(chance, game, result, eco, len(moves))
    if number == 117:
        tags = [(name, "" if name == "Date" else value) for name, value in tags if name != "ECO"]
    if game.kind == CLUB:
        words = [f"{ply // 2 + 1}.{san}" if ply % 2 == 0 else san for ply, san in enumerate(moves)]
        body = wrapped(words, 82) + "  " + result
    else:
        words = [word for ply, san in enumerate(moves) for word in ([f"{ply // 2 + 1}."] if ply % 2 == 0 else []) + [san]]
        body = wrapped(words + [result], 79 if game.kind == TEAM else 10000)
    return "".join(f'[{name} "{value}"]\n' for name, value in tags) + "\n" + body + "\n\n"


# ---- Tables --------------------------------------------------------------------------------------

def counted(games):
    """{position: (results, first plies, {move: results})}, and (games, plies, results), of (tags, text of moves)."""
    positions, results, n_plies = {}, [0] * 4, 0
    for tags, text in games:
        path = chess_slow.replay(chess_slow.plain_moves(text))
        at = chess_slow.RESULTS.index(tags["Result"])
        results[at] += 1
        n_plies += len(path) - 1
        first, played = {}, set(path[:-1])
        for ply, (key, _) in enumerate(path):
            first.setdefault(key, ply)
        for key, ply in first.items():
            counts, plies, _ = positions.setdefault(key, ([0] * 4, collections.Counter(), {}))
            counts[at] += 1
            plies[ply] += 1
        for key, uci in played:
            positions[key][2].setdefault(uci, [0] * 4)[at] += 1
    return positions, (len(games), n_plies, results)


def told(results):
    """White's, draws, Black's, others; the order of chess_slow.RESULTS is another."""
    return "/".join(str(results[i]) for i in (0, 2, 1, 3))


def table(text):
    """The positions of several games; the sum is over the lines of all positions."""
    positions, (n_games, n_plies, results) = counted(chess_slow.read_pgn(text))
    lines = {key: "\t".join((key, told(counts), " ".join(f"{ply}:{n}" for ply, n in sorted(plies.items())),
                             " ".join(f"{uci}:{told(moves[uci])}" for uci in sorted(moves)))) + "\n"
             for key, (counts, plies, moves) in positions.items()}
    crc = zlib.crc32("".join(lines[key] for key in sorted(lines)).encode())
    return (f"# games {n_games} plies {n_plies} results {told(results)} positions {len(lines)} crc32 {crc}\n" +
            "".join(lines[key] for key in sorted(lines) if sum(positions[key][0]) > 1))


# ---- The command ---------------------------------------------------------------------------------

def make(numbers):
    """The texts of these games."""
    book, games = Book(), plan()
    return [game_text(number, games[number - 1], book) for number in numbers]


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files")
    parser.add_argument("first", nargs="?", type=int, default=1)
    parser.add_argument("last", nargs="?", type=int, default=GAMES)
    args = parser.parse_args()
    numbers = range(args.first, args.last + 1)
    shares = [numbers[i::os.cpu_count()] for i in range(os.cpu_count())]
    made = {}
    with multiprocessing.Pool() as pool:
        for share, texts in zip(shares, pool.map(make, shares)):
            made.update(zip(share, texts))
    if args.check:
        there = re.split(r"(?m)^(?=\[Event )", read("games_300.pgn"))[1:]
        wrong = [number for number in numbers if there[number - 1:number] != [made[number]]]
        if wrong or len(there) != GAMES or read("games_300.positions.tsv") != table("".join(there)):
            sys.exit(f"not what is made: the tables, or games {wrong}")
    elif len(numbers) == GAMES:
        text = "".join(made[number] for number in numbers)
        for name, content in (("games_300.pgn", text), ("games_300.positions.tsv", table(text))):
            with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as file:
                file.write(content)
    else:
        print("".join(made[number] for number in numbers), end="")


if __name__ == "__main__":
    main()
