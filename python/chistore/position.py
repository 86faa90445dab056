# SPDX-License-Identifier: MIT
"""Positions, moves, and many positions packed for one call."""

import ctypes
import struct
import typing

from . import _abi
from ._library import BadInput, check_fault, error_of, lib

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_KEY_SIZE = ctypes.sizeof(_abi.chi_key)
_PACK = struct.Struct(f"B{_abi.CHI_KEY_MAX}s").pack


_STATES = {value: name[len("CHI_STATE_"):].lower() for name, value in vars(_abi).items()
           if name.startswith("CHI_STATE_")}


class LegalMove(typing.NamedTuple):
    """A legal move. `flags` are those of C's enum chi_move_flag."""

    uci: str
    san: str
    after: typing.Any  # the Position; None if no key can hold it
    flags: int

    @property
    def is_capture(self):
        """En passant too."""
        return bool(self.flags & _abi.CHI_MOVE_CAPTURE)

    @property
    def gives_check(self):
        """Or mate."""
        return bool(self.flags & _abi.CHI_MOVE_CHECK)


class Position:
    """
    A chess position, exact and normalised; it never changes, and can be a key of a dict.

    Made from a FEN, "startpos", the bytes of a key, another Position, or a board of python-chess.
    BadInput says what is wrong with it.
    """

    __slots__ = ("_raw",)  # the bytes of a struct chi_key

    def __init__(self, what="startpos"):
        if isinstance(what, Position):
            self._raw = what._raw
        elif isinstance(what, str):
            self._raw = _from_fen(START if what == "startpos" else what)
        elif isinstance(what, (bytes, bytearray)):
            self._raw = bytes(_checked(what))
        elif hasattr(what, "occupied_co"):
            self._raw = _from_board(what)
        else:
            raise TypeError(f"no position: {type(what).__name__}")

    @property
    def key(self):
        """The key, 9 to 24 bytes, as the store orders positions."""
        return self._raw[1:1 + self._raw[0]]

    @property
    def fen(self):
        """The normalised X-FEN, counters "0 1"."""
        fault, out = _abi.chi_fault(), ctypes.create_string_buffer(_abi.CHI_FEN_SIZE)
        check_fault(lib.chi_key_to_fen(self._c(), out, fault), fault)
        return out.value.decode("ascii")

    @property
    def control(self):
        """The control statistic; None if one side attacks nothing."""
        out = ctypes.c_uint16()
        _check(lib.chi_key_control(self._c(), out))
        return out.value / 100 if out.value else None

    @property
    def state(self):
        """A set of "check", "checkmate", "stalemate", "insufficient" (to mate, for both sides)."""
        n, state = ctypes.c_size_t(), ctypes.c_uint32()
        _check(lib.chi_key_moves(self._c(), 0, None, 0, n, state))
        return {name for bit, name in _STATES.items() if state.value & bit}

    def moves(self):
        """The legal moves: a list of LegalMove."""
        n, room = ctypes.c_size_t(), (_abi.chi_legal_move * _abi.CHI_LEGAL_MAX)()
        want = _abi.CHI_MOVES_UCI | _abi.CHI_MOVES_SAN | _abi.CHI_MOVES_KEYS
        _check(lib.chi_key_moves(self._c(), want, room, len(room), n, None))
        return [LegalMove(m.uci.decode("ascii"), m.san.decode("ascii"),
                          Position._of(bytes(m.after)) if m.after.len else None, m.flags)
                for m in room[:n.value]]

    def play(self, *moves):
        """The position after moves in SAN or UCI."""
        here = self
        for move in moves:
            after = _abi.chi_key()
            number = here.move_number(move)
            _check(lib.chi_key_play(here._c(), number, after))
            here = Position._of(bytes(after))
        return here

    def uci(self, move):
        """A legal move as UCI; `move` is SAN, UCI, or the store's 16 bits."""
        return self._text(lib.chi_key_uci, move)

    def san(self, move):
        """A legal move as SAN."""
        return self._text(lib.chi_key_san, move)

    def line(self, numbers, san=False):
        """Moves played one after the other, as the store's 16 bits, in UCI or SAN."""
        here, out = self, []
        for number in numbers:
            out.append(here.san(number) if san else here.uci(number))
            here = here.play(number)
        return out

    def move_number(self, move):
        """The store's 16 bits of a legal move in SAN or UCI, or of a python-chess move."""
        if isinstance(move, int):
            return move
        text = (move if isinstance(move, str) else move.uci()).encode()
        out, fault = ctypes.c_uint16(), _abi.chi_fault()
        check_fault(lib.chi_key_move(self._c(), text, len(text), out, fault), fault)
        return out.value

    @classmethod
    def _of(cls, raw):
        self = cls.__new__(cls)
        self._raw = raw
        return self

    def _c(self):
        return _abi.chi_key.from_buffer_copy(self._raw)

    def _text(self, function, move):
        out = ctypes.create_string_buffer(_abi.CHI_MOVE_TEXT_SIZE)
        _check(function(self._c(), self.move_number(move), out))
        return out.value.decode("ascii")

    def __eq__(self, other):
        return isinstance(other, Position) and self._raw == other._raw

    def __lt__(self, other):
        return self.key < other.key

    def __hash__(self):
        return hash(self._raw)

    def __repr__(self):
        return f"Position({self.fen!r})"


class Positions:
    """
    Many positions, packed as the library takes them: what is probed again and again is packed once.

    `Positions(iterable)` takes all that Position takes, mixed. Indexing gives a Position.
    """

    def __init__(self, what=()):
        raw = b"".join([p._raw if type(p) is Position else Position(p)._raw for p in what])
        self._count = len(raw) // _KEY_SIZE
        self._array = (_abi.chi_key * self._count).from_buffer_copy(raw)

    @classmethod
    def from_keys(cls, keys):
        """From the bytes of keys, which are checked when they are used, not now: the fastest way."""
        self = cls.__new__(cls)
        try:
            raw = b"".join([_PACK(len(key), key) for key in keys])
        except struct.error as error:
            raise BadInput(f"keys are bytes, at most {_abi.CHI_KEY_MAX} each", "EKEY") from error
        self._count = len(raw) // _KEY_SIZE
        self._array = (_abi.chi_key * self._count).from_buffer_copy(raw)
        return self

    def __len__(self):
        return self._count

    def __getitem__(self, i):
        return Position._of(bytes(self._array[i]))


def packed(what):
    """Positions as they are, or made of an iterable."""
    return what if isinstance(what, Positions) else Positions(what)


def _check(status):
    if status < 0:
        raise error_of(status)


def _from_fen(text):
    key, fault, raw = _abi.chi_key(), _abi.chi_fault(), text.encode("utf-8")
    check_fault(lib.chi_key_from_fen(raw, len(raw), key, fault), fault)
    return bytes(key)


def _checked(what):
    """A key's bytes as the struct; only what gives a position back is one."""
    if len(what) > _abi.CHI_KEY_MAX:
        raise BadInput(f"a key has at most {_abi.CHI_KEY_MAX} bytes, not {len(what)}", "EKEY")
    key = _abi.chi_key(len(what), (ctypes.c_uint8 * _abi.CHI_KEY_MAX)(*what))
    fault, out = _abi.chi_fault(), ctypes.create_string_buffer(_abi.CHI_FEN_SIZE)
    check_fault(lib.chi_key_to_fen(key, out, fault), fault)
    return key


def _from_board(board):
    """Of python-chess: its bitboards are ours, and castling rights are squares of rooks there too."""
    white, black = board.occupied_co[True], board.occupied_co[False]
    en_passant = -1 if board.ep_square is None else board.ep_square
    c = _abi.chi_board(white=white, black=black, pawns=board.pawns, knights=board.knights,
                       bishops=board.bishops, rooks=board.rooks, queens=board.queens,
                       kings=board.kings, castling=board.castling_rights, en_passant=en_passant,
                       black_to_move=not board.turn)
    key, fault = _abi.chi_key(), _abi.chi_fault()
    check_fault(lib.chi_key_from_board(c, key, fault), fault)
    return bytes(key)
