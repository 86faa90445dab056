# SPDX-License-Identifier: MIT
"""The games that a store keeps: by filters, with their PGN, and those that are likely one."""

import builtins
import contextlib
import ctypes
import os
import typing

from . import _abi
from ._library import lib
from .position import Position
from .record import evidence_of

_SORTS = {"number": _abi.CHI_GAMES_NUMBER, "date": _abi.CHI_GAMES_DATE,
          "rating": _abi.CHI_GAMES_RATING}
_WHY = {_abi.CHI_TWINS_BEGINNING: "beginning", _abi.CHI_TWINS_NAMES: "names",
        _abi.CHI_TWINS_DATES: "dates"}
_RESULTS = ("1-0", "1/2-1/2", "0-1", "*")


class Game(typing.NamedTuple):
    """A game of the archive; texts are "" and numbers None where nothing is known."""

    number: int
    white: str
    black: str
    result: str
    date: str  # as in PGN: "1999.12.??"
    event: str
    site: str
    round: str
    source: str
    eco: str
    white_elo: typing.Optional[int]
    black_elo: typing.Optional[int]
    plies: int
    ply: typing.Optional[int]  # where it reached what was asked for
    pgn: typing.Optional[str]  # all of it, if that was wanted


class TwinGroup(list):
    """Numbers of games that are likely one, ascending; `why`: what they differ in, a set of
    "beginning" (one is the beginning of another), "names" and "dates"."""

    def __init__(self, group):
        super().__init__(group.games[:group.n])
        self.why = {word for bit, word in _WHY.items() if group.why & bit}


class Opinion(typing.NamedTuple):
    """What an engine says of a position, as White sees it: centipawns, or who mates in how many
    moves, Black's less than 0."""
    engine: str
    depth: int
    cp: typing.Optional[int]
    mate: typing.Optional[int]


class Finding(typing.NamedTuple):
    """A row of weak() and the others; see docs/INSIGHT.md.
    Scores are points of a game, 0 to 1, `low` and `high` the 95 % interval of `score`, or of its
    difference to `expected`; drift() has none with fewer than 20 rated games before or after."""
    position: Position
    move: typing.Optional[str]  # novelties: in UCI
    game: typing.Optional[int]  # one with it; novelties: the first with the move
    ply: int  # where, in that game
    games: int
    others: int  # positions of the finding; games before; games a move behind
    followed: int  # novelties; drift: positions of the finding
    score: typing.Optional[float]
    expected: typing.Optional[float]  # of tempo: the score a move behind
    low: typing.Optional[float]
    high: typing.Optional[float]
    chance: float  # not novelties, tempo: that luck alone does this
    adjusted: float  # the same for all positions that were tested
    share_before: typing.Optional[float] = None  # drift: of all games before the split
    share: typing.Optional[float] = None  # and from it on
    eval: typing.Optional[int] = None  # gap: centipawns as White sees them
    best: typing.Optional[Opinion] = None  # spread: `score` is what it lets White expect
    worst: typing.Optional[Opinion] = None  # and `expected` by this
    loss: typing.Optional[int] = None  # novelties: centipawns, by the evaluations before and after


def _score(points):
    return None if points == _abi.CHI_INSIGHT_UNKNOWN else points / _abi.CHI_INSIGHT_POINT


def _opinion(c):
    cp, most = c.eval - _abi.CHI_EVAL_EVEN, _abi.CHI_EVAL_CP_MAX
    mate = None if abs(cp) <= most else _abi.CHI_CHI2_MAX - c.eval if cp > 0 else 1 - c.eval
    return Opinion(c.engine.decode("utf-8", "replace"), c.depth, cp if mate is None else None, mate)


def _finding(row):
    position = Position._of(bytes(row.key))  # pylint: disable=protected-access
    chance = 1 / _abi.CHI_INSIGHT_CHANCE
    return Finding(position, position.uci(row.move) if row.move else None, row.game or None,
                   row.ply, row.games, row.others, row.followed, _score(row.score),
                   _score(row.expected), *((None, None) if row.score == _abi.CHI_INSIGHT_UNKNOWN
                                           else (_score(row.low), _score(row.high))),
                   row.chance * chance, row.adjusted * chance)


def _bytes(text):
    return None if text is None else text.encode()


def _date(head):
    if head.year == 0 and head.month == 0:
        return ""
    return ".".join((f"{head.year:04}" if head.year else "????",
                     f"{head.month:02}" if head.month else "??",
                     f"{head.day:02}" if head.day else "??"))


def _game(row, pgn):
    head, eco = row.head, row.head.eco - 1
    return Game(head.number, row.white.decode(), row.black.decode(), _RESULTS[head.result],
                _date(head), row.event.decode(), row.site.decode(), row.round.decode(),
                row.source.decode(), f"{chr(ord('A') + eco // 100)}{eco % 100:02}" if eco >= 0 else "",
                head.white_elo or None, head.black_elo or None, head.plies,
                row.ply if row.ply >= 0 else None,
                row.pgn[:row.pgn_len].decode() if pgn else None)


class Gaming:
    """Part of Store. Filters are texts as chistore-filters(7) has them: 'player "Carlsen" since 2015'."""

    unknown_names: typing.List[str] = []  # of the last filter, those that no name in the store fits

    def games(self, filter="", position=None, *,  # pylint: disable=redefined-builtin
              sort="number", descending=False, limit=0, pgn=False, by_positions=False):
        """
        Games that fit, of those that reached a position if one is given: Game. `sort`: "number",
        "date" or "rating"; without a limit only ascending numbers. `pgn`: with their whole text.
        `by_positions`: patterns of the filter are looked for in the positions of the store, not in
        games played again: faster where its other terms leave many games.

        The walk has a connection of its own: the store can be asked meanwhile.
        """
        spec = self._game_spec(filter, position, pgn)
        spec.sort, spec.descending, spec.limit = _SORTS[sort], descending, limit
        spec.by_positions = by_positions
        return self._query(spec, pgn)

    def count_games(self, filter="", position=None, *,  # pylint: disable=redefined-builtin
                    by_positions=False):
        """How many games fit, all of them."""
        spec = self._game_spec(filter, position, False)
        spec.skip_ply, spec.by_positions = True, by_positions
        spec.limit, spec.want_total, spec.want = 1, True, _abi.CHI_GAMES_HEADS
        with self._own() as other, other._asked(spec) as query:  # pylint: disable=protected-access
            row = ctypes.POINTER(_abi.chi_game_row)()
            while self._of(other, lib.chi_games_next(query, row)) == _abi.CHI_OK:
                pass
            total = lib.chi_rows_state(query).contents.total
            self._note_unknown(lambda i: lib.chi_unknown_name(other._client, i))  # pylint: disable=protected-access
        return total

    def export_pgn(self, target, filter="", position=None):  # pylint: disable=redefined-builtin
        """Writes the games that fit as PGN, to a path or a binary file; how many."""
        named = isinstance(target, (str, os.PathLike))
        done = 0
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(builtins.open(target, "wb")) if named else target
            for game in self.games(filter, position, pgn=True):
                file.write(game.pgn.encode())
                done += 1
        return done

    def game(self, number):
        """The Game of that number with its PGN, or None."""
        row = _abi.chi_game_row()
        status = self._check(lib.chi_game_get(self._c(), number, row, None))
        return None if status == _abi.CHI_NONE else _game(row, True)

    def twins(self, filter="", days=3, plies=20, beginning=20):  # pylint: disable=redefined-builtin
        """
        TwinGroups, lists of numbers of games that are likely one: the same moves, names alike,
        dates at most so many days apart, or not known. Games of fewer plies are left out. Also
        one of `beginning` plies or more and one that goes on after it, if names and days are known;
        0: not these.
        """
        out = _abi.chi_twin_groups()
        spec = _abi.chi_twin_spec(filter=_bytes(filter), days=days, plies=plies,
                                  beginning=beginning)
        self._check(lib.chi_twins_list(self._c(), spec, out))
        found = [TwinGroup(group) for group in out.groups[:out.n]]
        self._note_unknown()
        return found

    # ---- Insight ----

    def weak(self, filter, black=False, min_games=0, fdr=5, limit=0):  # pylint: disable=redefined-builtin
        """
        Findings, positions where White, or Black, does worse in the games of the filter (of one
        player with this side) than in its others, by more than ratings and luck explain. Of them
        so many percent may be luck. An empty list is an answer.
        """
        return self._insight(_abi.CHI_INSIGHT_WEAK, filter=_bytes(filter), black=black,
                             min_games=min_games, fdr=max(1, round(10 * fdr)), limit=limit)

    def strong(self, filter, black=False, min_games=0, fdr=5, limit=0):  # pylint: disable=redefined-builtin
        """The same where it does better."""
        return self._insight(_abi.CHI_INSIGHT_STRONG, filter=_bytes(filter), black=black,
                             min_games=min_games, fdr=max(1, round(10 * fdr)), limit=limit)

    def novelties(self, filter="", min_games=0, known=0, years=0, limit=0, **evidence):  # pylint: disable=redefined-builtin
        """
        Findings, moves that were new in a known position, by the first game, one of the filter's;
        `followed` counts the games with the move in the years after it. Evaluations, by which
        `loss` is known, are chosen as in `scan`.
        """
        return self._insight(_abi.CHI_INSIGHT_NOVELTIES, filter=_bytes(filter),
                             min_games=min_games, known=known, years=years, limit=limit,
                             evidence=evidence_of(**evidence))

    def tempo(self, min_games=0, limit=0):
        """Findings, positions that also occur a move behind: what the move is worth."""
        return self._insight(_abi.CHI_INSIGHT_TEMPO, min_games=min_games, limit=limit)

    def performance(self, filter="", position=None, min_games=0, fdr=5, limit=0):  # pylint: disable=redefined-builtin
        """
        Findings, positions where White's results in the games of the filter are better or worse
        than ratings let expect, by more than luck explains. Of them so many percent may be luck;
        100 gives all that were tested. `position`: only those after its moves, each with its move.
        """
        after = None if position is None else ctypes.pointer(Position(position)._c())  # pylint: disable=protected-access
        return self._insight(_abi.CHI_INSIGHT_PERFORMANCE, filter=_bytes(filter), position=after,
                             min_games=min_games, fdr=max(1, round(10 * fdr)), limit=limit)

    def drift(self, split, filter="", min_games=0, fdr=5, limit=0):  # pylint: disable=redefined-builtin
        """
        Findings, positions of which the share of the filter's games, or the results beyond what
        ratings let expect, are other ones from the year `split` on: `games` against `others`.
        """
        return self._insight(_abi.CHI_INSIGHT_DRIFT, filter=_bytes(filter), split=split,
                             min_games=min_games, fdr=max(1, round(10 * fdr)), limit=limit)

    def gap(self, filter="", engines=1, min_games=0, fdr=5, limit=0, **evidence):  # pylint: disable=redefined-builtin
        """
        Findings, positions where White's results, as of equals, are other ones than the deepest
        evaluation lets expect: `eval` in centipawns as White sees them. Evaluations are chosen as
        in `scan`.
        """
        return self._insight(_abi.CHI_INSIGHT_GAP, filter=_bytes(filter), engines=engines,
                             min_games=min_games, fdr=max(1, round(10 * fdr)), limit=limit,
                             evidence=evidence_of(**evidence))

    def spread(self, filter="", engines=2, min_games=0, limit=0, **evidence):  # pylint: disable=redefined-builtin
        """
        Findings, positions where engines disagree, of so many engines at least: `best` and `worst`
        for White, by which it expects `score` and `expected`; `others` are engines. At most 10,000.
        With a filter, only positions that its games reached. Evaluations are chosen as in `scan`.
        """
        return self._insight(_abi.CHI_INSIGHT_SPREAD, filter=_bytes(filter), engines=engines,
                             min_games=min_games, limit=limit, evidence=evidence_of(**evidence))

    def _insight(self, kind, **asked):
        out = _abi.chi_insight_result()
        self._check(lib.chi_insight_list(self._c(), _abi.chi_insight_spec(kind=kind, **asked), out))
        found = [_finding(row) for row in out.rows[:out.n]]
        if kind == _abi.CHI_INSIGHT_GAP:
            found = [one._replace(eval=row.eval) for one, row in zip(found, out.rows[:out.n])]
        if kind == _abi.CHI_INSIGHT_NOVELTIES:
            found = [one._replace(loss=row.loss if row.has_loss else None)
                     for one, row in zip(found, out.rows[:out.n])]
        if kind == _abi.CHI_INSIGHT_SPREAD:
            found = [one._replace(best=_opinion(row.best), worst=_opinion(row.worst))
                     for one, row in zip(found, out.rows[:out.n])]
        if kind == _abi.CHI_INSIGHT_DRIFT:
            found = [one._replace(share_before=one.others / out.before,
                                  share=one.games / (out.games - out.before)) for one in found]
        self._note_unknown()
        return found

    # ---- What they share ----

    @staticmethod
    def _game_spec(text, position, pgn):
        spec = _abi.chi_game_spec(filter=_bytes(text),
                                  want=_abi.CHI_GAMES_PGN if pgn else _abi.CHI_GAMES_TEXTS)
        if position is not None:
            spec.position = ctypes.pointer(Position(position)._c())  # pylint: disable=W0212
        return spec

    def _note_unknown(self, name=None):
        name = name or (lambda i: lib.chi_unknown_name(self._c(), i))
        self.unknown_names, i = [], 0
        while (text := name(i)) is not None:
            self.unknown_names.append(text.decode())
            i += 1

    @staticmethod
    def _of(other, status):
        return other._check(status)  # pylint: disable=protected-access

    @contextlib.contextmanager
    def _asked(self, spec):
        query = ctypes.POINTER(_abi.chi_rows)()
        self._check(lib.chi_games_open(self._c(), spec, query))
        try:
            yield query
        finally:
            if self._end.alive:  # closing the store closes them, also at the program's end
                lib.chi_rows_close(query)

    def _query(self, spec, pgn):
        """The generator that games returns."""
        with self._own() as other, other._asked(spec) as query:  # pylint: disable=protected-access
            row = ctypes.POINTER(_abi.chi_game_row)()
            while self._of(other, lib.chi_games_next(query, row)) == _abi.CHI_OK:
                yield _game(row.contents, pgn)
            self._note_unknown(lambda i: lib.chi_unknown_name(other._client, i))  # pylint: disable=protected-access
