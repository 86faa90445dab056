# SPDX-License-Identifier: MIT
"""The queue of positions to be analysed."""

import ctypes
import typing

from . import _abi
from ._library import lib
from .position import Position

_STATES = {"waiting": _abi.CHI_QUEUE_WAITING, "leased": _abi.CHI_QUEUE_LEASED,
           "failed": _abi.CHI_QUEUE_FAILED}
_NAMES = {number: name for name, number in _STATES.items()}
_ACTIONS = {"done": _abi.CHI_QUEUE_DONE, "release": _abi.CHI_QUEUE_RELEASE,
            "fail": _abi.CHI_QUEUE_FAIL, "extend": _abi.CHI_QUEUE_EXTEND}


class QueueRow(typing.NamedTuple):
    """A position of the queue; times are seconds since 1970."""

    position: Position
    state: str  # "waiting", "leased", "failed"
    priority: int
    tries: int
    asked: float
    lease: typing.Optional[int]
    expires: typing.Optional[float]
    holder: typing.Optional[str]


class QueueAdded(typing.NamedTuple):
    """What queue_add did."""

    added: int
    raised: int
    refused: int


class Lease(typing.NamedTuple):
    """Positions that were taken, until a time."""

    number: int
    expires: float
    rows: typing.Sequence[QueueRow]


def _keys(positions):
    keys = [Position(position)._c() for position in positions]  # pylint: disable=protected-access
    return (_abi.chi_key * len(keys))(*keys), len(keys)


def _row(c):
    leased = c.state == _abi.CHI_QUEUE_LEASED
    position = Position._of(bytes(c.key))  # pylint: disable=protected-access
    return QueueRow(position, _NAMES[c.state], c.priority, c.tries,
                    c.asked / 1000, c.lease if leased else None,
                    c.expires / 1000 if leased else None, c.holder.decode() if leased else None)


class Queueing:
    """Part of Store."""

    def queue_add(self, positions, priority=1):
        """Asks for positions to be analysed, at most 4,096: QueueAdded."""
        keys, n = _keys(positions)
        did = _abi.chi_queue_added()
        self._check(lib.chi_queue_add(self._c(), keys, n, priority, did))
        return QueueAdded(did.added, did.raised, did.refused)

    def queue_take(self, holder, limit=1, seconds=60.0, positions=None):
        """
        Takes the first positions that wait or, of `positions`, those that no one holds: Lease, or
        None if there were none.
        """
        keys, n = (None, 0) if positions is None else _keys(positions)
        take = _abi.chi_queue_take_spec(holder=holder.encode(), lease_ms=round(seconds * 1000),
                                   limit=limit, keys=keys, n_keys=n)
        out = _abi.chi_queue_lease()
        self._check(lib.chi_queue_take(self._c(), take, out))
        rows = [_row(row) for row in out.rows[:out.n]]
        return Lease(out.lease, out.expires / 1000, rows) if rows else None

    def queue_settle(self, lease, positions, action="done", seconds=60.0):
        """What became of positions of a lease: "done", "release", "fail" or, for so many seconds,
        "extend". How many were still held."""
        keys, n = _keys(positions)
        done = ctypes.c_uint64()
        self._check(lib.chi_queue_settle(self._c(), getattr(lease, "number", lease),
                                         _ACTIONS[action], keys, n, round(seconds * 1000), done))
        return done.value

    def queue_drop(self, positions=None):
        """Takes positions out, or all; how many."""
        keys, n = (None, 0) if positions is None else _keys(positions)
        dropped = ctypes.c_uint64()
        self._check(lib.chi_queue_settle(self._c(), 0, _abi.CHI_QUEUE_DROP, keys, n, 0, dropped))
        return dropped.value

    def queue(self, state="waiting", limit=1000):
        """Rows in the order in which they are taken or come back, at most 4,096: QueueRow."""
        out = _abi.chi_queue_page()
        self._check(lib.chi_queue_list(self._c(), _STATES[state], None, limit, out))
        return [_row(row) for row in out.rows[:out.n]]

    def queue_counts(self):
        """Positions by state."""
        out = _abi.chi_queue_page()
        self._check(lib.chi_queue_list(self._c(), _STATES["waiting"], None, 0, out))
        return {name: getattr(out.counts, name) for name in _STATES}
