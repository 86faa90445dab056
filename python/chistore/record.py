# SPDX-License-Identifier: MIT
"""What is known about a position, as plain Python values, and how the library's structs become
them and are made of them."""

import ctypes
import dataclasses
import operator
import struct
import typing

from . import _abi
from ._library import BadInput
from .position import Position


class Counts(typing.NamedTuple):
    """Games by result. `other` counts games without one."""

    white: int = 0
    draws: int = 0
    black: int = 0
    other: int = 0

    @property
    def games(self):
        """With a result."""
        return self.white + self.draws + self.black

    @property
    def score(self):
        """White's, 0 to 1; None without a result."""
        return (self.white + self.draws / 2) / self.games if self.games else None


@dataclasses.dataclass
class Evaluation:
    """An engine's. `score` and `mate` are the side to move's view; one of them is None."""

    engine: str
    depth: int = 0
    rank: int = 0  # of the engine's lines: 0 the best
    score: typing.Optional[int] = None  # centipawns
    mate: typing.Optional[int] = None  # moves; below 0: is mated
    nodes: int = 0
    date: int = 0  # seconds since 1970 UTC; 0: not given
    pv: typing.Sequence[str] = ()  # UCI; SAN is taken too


@dataclasses.dataclass
class Move:
    """Played from a position."""

    uci: str
    san: str
    counts: Counts


@dataclasses.dataclass
class Record:
    """All that the store knows about a position."""

    position: Position
    chi2: typing.Optional[float] = None  # the statistic; None: not known
    counts: Counts = Counts()
    moves: typing.Sequence[Move] = ()
    plies: typing.Mapping[int, int] = dataclasses.field(default_factory=dict)  # ply: games
    evals: typing.Sequence[Evaluation] = ()
    line: typing.Sequence[str] = ()  # UCI
    note: str = ""


class Row(typing.NamedTuple):
    """One answer of a probe, or one row of a scan."""

    position: Position
    found: bool
    chi2: typing.Optional[float]  # None: not known
    counts: Counts
    depth: typing.Optional[int]  # of the deepest evaluation; None, as those below: there is none
    score: typing.Optional[int]  # centipawns, side to move's view
    mate: typing.Optional[int]
    best_move: typing.Optional[int]  # the store's 16 bits; None: none is known, or a row of a scan
    best_source: typing.Optional[str]  # "eval", "line" or "played"

    @property
    def best(self):
        """The best move in UCI, or None."""
        return self.position.uci(self.best_move) if self.best_move else None


_LETTERS = {ctypes.c_bool: "?", ctypes.c_uint8: "B", ctypes.c_uint16: "H",
            ctypes.c_int32: "i", ctypes.c_uint64: "Q"}


def _layout(*paths):
    """A struct.Struct of some fields of chi_row, for all of it at once."""
    fields = []
    for path in paths:
        kind, offset = _abi.chi_row, 0
        for name in path.split("."):
            offset += getattr(kind, name).offset
            kind = dict(kind._fields_)[name]
        size = ctypes.sizeof(kind)
        # struct's sizes, which are not those of ctypes' letters.
        code = _LETTERS.get(kind, f"{size}s")
        fields.append((offset, size, code))
    text, at = "=", 0
    for offset, size, code in fields:
        text += f"{offset - at}x{code}"
        at = offset + size
    return struct.Struct(f"{text}{ctypes.sizeof(_abi.chi_row) - at}x")


_BEST = {value: name[len("CHI_BEST_"):].lower() for name, value in vars(_abi).items()
         if name.startswith("CHI_BEST_")}
_BEST[_abi.CHI_BEST_NONE] = None

_FIELDS = ("key", "found", "chi2", "has_eval", "is_mate", "depth", "score", "best", "best_source",
           "counts.white", "counts.draws", "counts.black", "counts.other")
_IN_ORDER = sorted(_FIELDS, key=lambda path: (getattr(_abi.chi_row, path.split(".")[0]).offset,
                                              _FIELDS.index(path)))
_ROW = _layout(*_IN_ORDER)
_PICK = operator.itemgetter(*map(_IN_ORDER.index, _FIELDS))
_COLUMN = {name: _layout(name) for name in _FIELDS}


def row_of(values):
    """Of what _ROW has unpacked."""
    key, found, chi2, evaluated, is_mate, depth, score, best, source, *counts = _PICK(values)
    depth, mate, score = ((None, None, None) if not evaluated else
                          (depth, score, None) if is_mate else (depth, None, score))
    return Row(Position._of(key), found, chi2 / 100 if chi2 else None, Counts(*counts), depth,
               score, mate, best or None, _BEST[source])


def row_at(pointer):
    """Of a POINTER(chi_row)."""
    return row_of(_ROW.unpack(ctypes.string_at(pointer, _ROW.size)))


class Rows:
    """
    The answers to a batch, in its order: a sequence of Row, made when they are looked at.

    `column(name)` is faster where one value of each is wanted. `numpy()` gives all as an array.
    """

    def __init__(self, array):
        self._array = array

    def __len__(self):
        return len(self._array)

    def __getitem__(self, i):
        return row_of(_ROW.unpack(bytes(self._array[i])))

    def __iter__(self):
        return map(row_of, _ROW.iter_unpack(memoryview(self._array).cast("B")))

    def column(self, name):
        """
        A list of one field of each: "found", "chi2" (in hundredths, 0: not known), "depth",
        "score", "counts.white" and so on. What is not found is 0.
        """
        return [value for value, in _COLUMN[name].iter_unpack(memoryview(self._array).cast("B"))]

    def numpy(self):
        """A structured array of the same memory, with the fields of C's struct chi_row."""
        import numpy  # pylint: disable=import-outside-toplevel
        return numpy.frombuffer(self._array, dtype=numpy.dtype(_abi.chi_row))


def counts_of(c):
    """Of a chi_counts."""
    return Counts(c.white, c.draws, c.black, c.other)


def evidence_of(engine="", depth=None, eval_date=None):
    """A chi_evidence: a pattern of names, and (low, high) in plies and in seconds since 1970, in
    which None is no bound."""
    c, raw = _abi.chi_evidence(), engine.encode()
    if len(raw) > _abi.CHI_ENGINE_MAX:
        raise BadInput(f"too long a pattern: {engine}", "EINVAL")
    c.engine = raw
    if depth is not None:
        low, high = depth
        low, high = 0 if low is None else low, 0xffff if high is None else high
        if not 0 <= low <= high <= 0xffff:
            raise BadInput(f"out of range: {depth}", "EINVAL")
        c.depth = _abi.chi_range(True, low, high)
    if eval_date is not None:
        c.since, c.until = (bound or 0 for bound in eval_date)
        c.since = c.since or 1
    return c


def record_of(position, c):
    """Of a chi_record, whose memory may go away after."""
    evals = []
    for e in c.evals[:c.n_evals]:
        evals.append(Evaluation(
            e.engine.decode("utf-8"), e.depth, e.rank, None if e.is_mate else e.score,
            e.score if e.is_mate else None, e.nodes, e.date, position.line(e.pv[:e.n_pv])))
    moves = [Move(position.uci(m.move), position.san(m.move), counts_of(m.counts))
             for m in c.moves[:c.n_moves]]
    return Record(position, c.chi2 / 100 if c.chi2 else None, counts_of(c.counts), moves,
                  {p.ply: p.games for p in c.plies[:c.n_plies]}, evals,
                  position.line(c.line[:c.n_line]), (c.note or b"").decode("utf-8"))


def hundredths(value):
    """A statistic as the library counts it; None is not known."""
    return 0 if value is None else round(value * 100)


class Put(typing.NamedTuple):
    """
    What to store of a position. What is None stays as it is.

    `counts` and `moves` are set, or added to what is stored if `add` is true (`subtract`: taken
    away again). `evals` are merged: of each engine and rank the deeper stays. An empty `line` or `note`
    removes it. `chi2` is for stores of an external statistic.
    """

    position: typing.Any
    chi2: typing.Optional[float] = None
    counts: typing.Optional[typing.Sequence[int]] = None  # white, draws, black, other
    moves: typing.Optional[typing.Mapping[str, typing.Sequence[int]]] = None  # move: counts
    evals: typing.Optional[typing.Sequence[Evaluation]] = None
    line: typing.Optional[typing.Sequence[str]] = None
    note: typing.Optional[str] = None
    add: bool = False
    subtract: bool = False


def _numbers(position, moves):
    """Moves one after the other as an array of C."""
    numbers = []
    for move in moves:
        numbers.append(position.move_number(move))
        position = position.play(numbers[-1])
    return (ctypes.c_uint16 * len(numbers))(*numbers)


def _eval_into(c, position, e):
    engine, pv = e.engine.encode("utf-8"), _numbers(position, e.pv)
    c.engine, c.engine_len, c.depth, c.nodes, c.date = engine, len(engine), e.depth, e.nodes, e.date
    c.rank, c.is_mate = e.rank, e.mate is not None
    c.score = e.mate if c.is_mate else e.score or 0
    c.pv, c.n_pv = pv, len(pv)


def put_into(c, put):
    """Fills a chi_put, which keeps alive what it points to."""
    position = put.position if isinstance(put.position, Position) else Position(put.position)
    c.key = position._c()
    record, parts = c.record, 0
    if put.chi2 is not None:
        parts |= _abi.CHI_PUT_CHI2
        record.chi2 = hundredths(put.chi2)
    if put.counts is not None:
        parts |= _abi.CHI_PUT_COUNTS
        record.counts = _abi.chi_counts(*put.counts)
    if put.moves is not None:
        parts |= _abi.CHI_PUT_MOVES
        pairs = sorted((position.move_number(move), counts) for move, counts in put.moves.items())
        moves = (_abi.chi_move_stat * len(pairs))(
            *[(move, _abi.chi_counts(*counts)) for move, counts in pairs])
        record.moves, record.n_moves = moves, len(pairs)
    if put.add or put.subtract:
        parts &= ~(_abi.CHI_PUT_COUNTS | _abi.CHI_PUT_MOVES)
        parts |= _abi.CHI_PUT_ADD if put.add else _abi.CHI_PUT_SUBTRACT
    if put.evals is not None:
        parts |= _abi.CHI_PUT_EVALS
        evals = (_abi.chi_eval * len(put.evals))()
        for one, e in zip(evals, sorted(put.evals, key=lambda e: (e.engine.encode("utf-8"), e.rank))):
            _eval_into(one, position, e)
        record.evals, record.n_evals = evals, len(evals)
    if put.line is not None:
        parts |= _abi.CHI_PUT_LINE
        line = _numbers(position, put.line)
        record.line, record.n_line = line, len(line)
    if put.note is not None:
        parts |= _abi.CHI_PUT_NOTE
        note = put.note.encode("utf-8")
        record.note, record.n_note = note, len(note)
    c.parts = parts
