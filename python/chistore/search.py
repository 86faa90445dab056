# SPDX-License-Identifier: MIT
"""Names and gamesets of a store."""

import ctypes
import typing

from . import _abi
from ._library import lib

_KINDS = {name: getattr(_abi, "CHI_NAME_" + name.upper())
          for name in ("player", "event", "site", "source")}


class Name(typing.NamedTuple):
    """What someone or something is called in the games of a store."""

    number: int
    text: str
    games: int  # that have this very name
    fide: typing.Optional[int]
    alias_of: typing.Optional[int]  # the number of the name that aliases join this one to


class Suspects(typing.NamedTuple):
    """Names that may be the same, differently written."""

    score: int  # 60..95
    names: typing.Sequence[Name]


class NamesChanged(typing.NamedTuple):
    """What a list of changes did; `conflicts`: (place in the list, reason) of those not done."""

    changed: int
    same: int
    conflicts: typing.Sequence[typing.Tuple[int, str]]


class Gameset(typing.NamedTuple):
    """A filter with a name."""

    name: str
    filter: str
    games: int


def _bytes(text):
    return None if text is None else text.encode()


def _name(c):
    return Name(c.id, c.text.decode(), c.games, c.fide or None,
                c.root or None)


class Searching:
    """Part of Store."""

    def names(self, wanted=None, kind="player"):
        """
        Names that fit: of players all words, initials for names; after "=" exactly that text; and
        all names joined to these. Without `wanted` all of the kind: "player", "event", "site",
        "source", "round" or "annotator".
        """
        spec = _abi.chi_names_spec(kind=_KINDS[kind], wanted=_bytes(wanted),
                                   limit=_abi.CHI_NAMES_MAX)
        out, found = _abi.chi_names(), []
        while True:
            self._check(lib.chi_names_list(self._c(), spec, out))
            found += [_name(row) for row in out.rows[:out.n]]
            # Fewer than asked for are not the last: those that went meanwhile are left out.
            if out.n == 0 or (spec.after == 0 and out.n == out.total):
                return found
            spec.after = found[-1].number

    def suspects(self, kind="player", least=60, limit=1000):
        """Groups of names that may be the same, the likeliest first: Suspects."""
        out = _abi.chi_suspect_groups()
        spec = _abi.chi_suspects_spec(kind=_KINDS[kind], least=least, limit=limit)
        self._check(lib.chi_suspects_list(self._c(), spec, out))
        return [Suspects(group.score, [_name(row) for row in group.names[:group.n]])
                for group in out.groups[:out.n]]

    def join_names(self, pairs, kind="player", dry_run=False):
        """
        Makes of each pair (name, to) the first another way to write the second, or with `to` None
        parts it again; by exact texts, or "#5". All in one transaction: NamesChanged.
        """
        pairs, conflicts = list(pairs), []
        changes = (_abi.chi_name_change * len(pairs))()
        for change, (name, to) in zip(changes, pairs):
            change.action = _abi.CHI_NAME_PART if to is None else _abi.CHI_NAME_JOIN
            change.kind, change.name, change.to = _KINDS[kind], _bytes(name), _bytes(to)
        did = _abi.chi_names_changed()

        @_abi.chi_name_conflict
        def told(_, i, reason):
            conflicts.append((i, reason.decode()))

        self._check(lib.chi_names_change(self._c(), changes, len(pairs), dry_run, told, None, did))
        return NamesChanged(did.changed, did.same, conflicts)

    def gamesets(self):
        """All of them, with the games that each had when it was used last."""
        out = _abi.chi_gamesets()
        self._check(lib.chi_gamesets_list(self._c(), None, out))
        return [Gameset(row.name.decode(), row.filter.decode(), row.games)
                for row in out.rows[:out.n]]

    def make_gameset(self, name, filter=""):  # pylint: disable=redefined-builtin
        """Gives a filter of games a name; how many games it has."""
        games = ctypes.c_uint64()
        self._check(lib.chi_gameset_make(self._c(), _bytes(name), _bytes(filter), games))
        return games.value

    def drop_gameset(self, name):
        """Whether there was one of that name."""
        return self._check(lib.chi_gameset_drop(self._c(), _bytes(name))) == _abi.CHI_OK
