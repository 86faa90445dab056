# SPDX-License-Identifier: MIT
"""Stores: opened by an address, read, scanned, written, filled from PGN."""

import builtins
import bz2
import ctypes
import gzip
import lzma
import os
import typing
import weakref

from . import _abi
from ._library import BadInput, check_fault, error_of, lib
from .position import Position, packed
from .games import Gaming
from .queue import Queueing
from .record import (Counts, Put, Rows, counts_of, evidence_of, hundredths, put_into, record_of,
                     row_at)
from .search import Searching

_STATISTICS = {name[len("CHI_STATISTIC_"):].lower(): value for name, value in vars(_abi).items()
               if name.startswith("CHI_STATISTIC_")}
_SIDES = {None: 0, "white": _abi.CHI_SIDE_WHITE, "black": _abi.CHI_SIDE_BLACK}
_ORDERS = {"strength": _abi.CHI_ORDER_STRENGTH, "position": _abi.CHI_ORDER_POSITION}
_SORTS = {None: _abi.CHI_SORT_NONE, "games": _abi.CHI_SORT_GAMES, "score": _abi.CHI_SORT_SCORE,
          "eval": _abi.CHI_SORT_EVAL, "gap": _abi.CHI_SORT_GAP}
_READ_ONLY = {value: name[len("CHI_READ_ONLY_"):].lower() for name, value in vars(_abi).items()
              if name.startswith("CHI_READ_ONLY_")}
_PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CHUNK = 1 << 20
_PUT_MAX = 10000


class Child(typing.NamedTuple):
    """A move of `explore` and where it leads."""

    uci: str
    san: str
    played: Counts  # games that played it here
    child: typing.Any  # Row of the position after it, by whatever way it was reached
    eco: typing.Optional[str]
    opening: typing.Optional[str]


class Explored(typing.NamedTuple):
    """What was played from a position, and how it ended."""

    row: typing.Any
    min_ply: typing.Optional[int]
    eco: typing.Optional[str]
    opening: typing.Optional[str]
    moves: typing.Sequence[Child]


def create(address, statistic="control", games=True):
    """Makes an empty store in a directory. `statistic`: one of the names that chistore-init(1)
    has. `games`: keep the games that are counted."""
    fault = _abi.chi_fault()
    check_fault(lib.chi_store_create(os.fsencode(address), _STATISTICS[statistic],
                               _abi.CHI_KEEP_GAMES if games else _abi.CHI_KEEP_COUNTS, fault), fault)


def open(address, **options):  # pylint: disable=redefined-builtin
    """See Store."""
    return Store(address, **options)


def _options(options):
    c = _abi.chi_options()
    fields = dict(_abi.chi_options._fields_)
    for name, value in options.items():
        if name not in fields:
            raise TypeError(f"no such option: {name}")
        setattr(c, name, os.fsencode(value) if isinstance(value, (str, os.PathLike)) else value)
    return c


def _text(value):
    return value.decode("utf-8", "replace") if value else None


def _range(bounds, convert=int, least=0, most=0xffff):
    """A chi_range of (low, high), in which None is no bound; None is no range."""
    if bounds is None:
        return _abi.chi_range()
    low, high = bounds
    low = least if low is None else convert(low)
    high = most if high is None else convert(high)
    if not 0 <= low <= 0xffff or not 0 <= high <= 0xffff:
        raise BadInput(f"out of range: {bounds}", "EINVAL")
    return _abi.chi_range(True, low, high)


def _filter(c, material=None, side=None, pieces=None, games_min=0, score=None, eval=None,
            ply=None, engines=0, **evidence):  # pylint: disable=redefined-builtin
    """Fills a chi_filter with what scan and count take."""
    c.side, c.games_min, c.engines_min = _SIDES[side], games_min, engines
    if pieces is not None:
        c.pieces_min, c.pieces_max = pieces
    if material is not None:
        raw, fault = material.encode(), _abi.chi_fault()
        c.has_material = True
        check_fault(lib.chi_material_parse(raw, len(raw), c.material, fault), fault)
    c.score = _range(score, hundredths, 0, _abi.CHI_SHARE_MAX)
    c.eval = _range(eval, lambda pawns: _abi.CHI_EVAL_EVEN + hundredths(pawns), 1,
                    _abi.CHI_CHI2_MAX)
    c.ply = _range(ply, int, 0, _abi.CHI_PLY_MAX)
    c.evidence = evidence_of(**evidence)


def _spec(band, filters):
    """A chi_scan_spec of a band and what _filter takes."""
    c, filters = _abi.chi_scan_spec(chi2_max=_abi.CHI_CHI2_MAX), dict(filters)
    if band is not None:
        bounds = _range(band, hundredths, 0, _abi.CHI_CHI2_MAX)
        c.chi2_min, c.chi2_max = bounds.min, bounds.max
    c.games, c.pattern = (filters.pop(name, "").encode() for name in ("games", "pattern"))
    c.whole_counts = filters.pop("whole_counts", False)
    _filter(c.filter, **filters)
    return c


class Store(Searching, Queueing, Gaming):
    """
    An open store: `DIR` in this process, `unix:PATH`, `tcp:HOST:PORT` or `tls:HOST:PORT`.

    One thread uses a Store at a time; open one for each. Calls let other Python threads run. Use
    it in a `with`, or call `close`. Options are the fields of C's struct chi_options: writable,
    store, token_file, tls_ca, call_ms ... Where a position is taken, all that Position takes is.
    """

    def __init__(self, address, **options):
        self._address, self._options = os.fsencode(address), _options(options)
        self._client = self._open()
        self._end = weakref.finalize(self, lib.chi_close, self._client)

    def close(self):
        """Commits what asynchronous writes left open. Calling it again does nothing."""
        self._end()
        self._client = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- Reading ----

    def probe(self, positions):
        """Statistic, counts and deepest evaluation of each: Rows. An iterable or Positions."""
        keys = packed(positions)
        rows = (_abi.chi_row * len(keys))()
        self._check(lib.chi_probe(self._c(), keys._array, len(keys), rows))
        return Rows(rows)

    def get(self, position):
        """The Record, or None."""
        position, out = Position(position), _abi.chi_record()
        status = self._check(lib.chi_get(self._c(), position._c(), out))
        return None if status == _abi.CHI_NONE else record_of(position, out)

    def get_many(self, positions):
        """A list of Record and None, from one snapshot if the store is in this process."""
        keys, out, failed = packed(positions), [], []

        @_abi.chi_get_each
        def each(_, i, record):
            try:
                out.append(record_of(keys[i], record.contents) if record else None)
                return _abi.CHI_OK
            except BaseException as error:  # pylint: disable=broad-except
                failed.append(error)
                return -_abi.CHI_ECANCELED

        status = lib.chi_get_many(self._c(), keys._array, len(keys), each, None)
        if failed:
            raise failed[0]
        self._check(status)
        return out

    def explore(self, position="startpos", games="", **evidence):
        """What was played from here, how it ended, and where it led: Explored. `games`: a filter,
        which only games that fit it count. Evaluations are chosen as in `scan`."""
        position, c = Position(position), _abi.chi_explored()
        self._check(lib.chi_explore(self._c(), position._c(), games.encode(),
                                    evidence_of(**evidence), c))
        moves = [Child(position.uci(m.move), position.san(m.move), counts_of(m.played),
                       row_at(ctypes.pointer(m.child)), _text(m.eco), _text(m.opening))
                 for m in c.moves[:c.n_moves]]
        found = Explored(row_at(ctypes.pointer(c.position)), c.min_ply if c.min_ply >= 0 else None,
                         _text(c.eco), _text(c.opening), moves)
        if games:
            self._note_unknown()
        return found

    def scan(self, band=None, *, descending=None, order="strength", sort=None, limit=0,
             after=None, counts=True, records=False, **filters):
        """
        Rows of a band (low, high) of the statistic, bounds included, in its order; None is no
        bound, and without a lower one those are in whose statistic is not known. With `records`,
        pairs (Row, Record).

        Filters: material="KRPvKR", side="white", pieces=(3, 6), games_min=5, score=(55, None) in
        percent of White, eval=(0.5, 1.0) in pawns of White's view, ply=(0, 20), engines=2,
        pattern='has "Nd5 kg8" mirror'. engine="stockfish 1[67]*", depth=(30, None) and
        eval_date=(low, high), in seconds since 1970, say which evaluations are seen: others are as
        if they were not there. `sort` is "games", "score" or "eval", the greatest first, for
        up to `limit` rows; else `order` is "strength" or "position", and `after` a Row of an earlier
        scan in that order, after which it goes on. games='player "Carlsen"' counts only the games
        that fit, and leaves out positions that none of them reached; with `records` it exports
        these, with `whole_counts` counts are still those of all games.

        The walk has a connection of its own: the store can be asked meanwhile.
        """
        spec = _spec(band, filters)
        spec.descending = sort is not None if descending is None else descending
        spec.limit, spec.sort = limit, _SORTS[sort]
        spec.order = _ORDERS[order]
        if after is not None:
            spec.after = _abi.chi_cursor(True, hundredths(after.chi2 or 0), after.position._c())
        spec.want = (_abi.CHI_WANT_RECORDS if records
                     else _abi.CHI_WANT_COUNTS if counts else _abi.CHI_WANT_KEYS)
        return self._walk(spec, records)

    def count(self, band=None, **filters):
        """How many positions a scan would give."""
        out = ctypes.c_uint64()
        self._check(lib.chi_scan_count(self._c(), _spec(band, filters), out, None))
        if filters.get("games"):
            self._note_unknown()
        return out.value

    def prober(self, deadline_ms=0):
        """
        The fastest way to ask about single positions again and again: a Prober. Over a socket a
        call of it ends after `deadline_ms` (0: 50), and it comes back when the server does.
        """
        return Prober(self, deadline_ms)

    # ---- Writing ----

    def put(self, *entries, durable=True, **fields):
        """
        Stores positions, 10,000 in a transaction: `put(Put(...), Put(...))`, or one by
        `put(position, note="...")` with the fields of Put. Not durable: a later durable write or
        `flush` makes it so. Returns {"added", "updated", "unchanged", "removed"}.
        """
        if fields:
            position, = entries
            entries = [Put(position, **fields)]
        total = dict.fromkeys(("added", "updated", "unchanged", "removed"), 0)
        durability = _abi.CHI_SYNC if durable else _abi.CHI_ASYNC
        for at in range(0, len(entries), _PUT_MAX):
            some = entries[at:at + _PUT_MAX]
            array, result = (_abi.chi_put_entry * len(some))(), _abi.chi_put_result()
            for c, entry in zip(array, some):
                put_into(c, entry if isinstance(entry, Put) else Put(entry))
            self._check(lib.chi_put(self._c(), array, len(some), durability, result))
            for name in total:
                total[name] += getattr(result, name)
        return total

    def delete(self, *positions):
        """Deletes positions, all or nothing; the number of those that were stored."""
        keys, deleted = packed(positions), ctypes.c_uint64()
        self._check(lib.chi_delete(self._c(), keys._array, len(keys), _abi.CHI_SYNC, deleted))
        return deleted.value

    def flush(self):
        """Makes every earlier write durable."""
        self._check(lib.chi_flush(self._c()))

    def rescore(self):
        """Computes every statistic again; how many changed."""
        changed = ctypes.c_uint64()
        self._check(lib.chi_store_rescore(self._c(), None, changed))
        return changed.value

    # ---- The whole ----

    def ping(self):
        """Raises if the store cannot be asked."""
        self._check(lib.chi_ping(self._c()))

    def check_disk(self):
        """Has the disk under the store read past the page cache; raises if it fails. False if its file
        system has no such reads, so that nothing is known."""
        out = _abi.chi_disk_check()
        self._check(lib.chi_store_check_disk(self._c(), out))
        return out.direct

    def changed(self):
        """Whether the address leads to another store by now: replaced, published again, restored."""
        out = ctypes.c_bool()
        self._check(lib.chi_store_changed(self._c(), out))
        return out.value

    def info(self):
        """What the store says of itself: a dict of the fields of C's struct chi_info."""
        c = _abi.chi_info()
        self._check(lib.chi_store_info(self._c(), c))
        out = {}
        for name, _ in c._fields_:
            value = getattr(c, name)
            if isinstance(value, _abi.chi_counts):
                value = counts_of(value)
            elif isinstance(value, ctypes.Array):
                value = bytes(value).hex()
            out[name] = value.decode("utf-8") if isinstance(value, bytes) else value
        out["statistic"] = lib.chi_statistic_name(c.statistic).decode()
        out["read_only"] = _READ_ONLY.get(c.read_only, c.read_only)
        return out

    def verify(self):
        """Reads and checks everything; a list of texts, one for each damage."""
        found = []

        @_abi.chi_verify_report
        def report(_, text):
            found.append(text.decode("utf-8", "replace"))

        status = lib.chi_store_verify(self._c(), report, None, _abi.chi_verify_result())
        if status != -_abi.CHI_ECORRUPT:
            self._check(status)
        return found

    def backup(self, path):
        """A consistent copy in the new directory `path`, under running writes."""
        self._check(lib.chi_store_backup(self._c(), os.fsencode(path),
                                         _abi.CHI_BACKUP_STORE))

    # ---- Inside ----

    def _open(self):
        client, fault = ctypes.POINTER(_abi.chi_client)(), _abi.chi_fault()
        check_fault(lib.chi_open(self._address, self._options, client, fault), fault)
        return client

    def _c(self):
        if self._client is None:
            raise ValueError("the store is closed")
        return self._client

    def _check(self, status):
        if status < 0:
            raise error_of(status, lib.chi_error(self._client))
        return status

    def _own(self):
        """The same store, over a connection of its own."""
        self._c()
        other = Store.__new__(Store)
        other._address, other._options = self._address, self._options
        other._client = other._open()
        other._end = weakref.finalize(other, lib.chi_close, other._client)
        return other

    def _walk(self, spec, records):
        """The generator that scan returns."""
        with self._own() as other:
            walk = ctypes.POINTER(_abi.chi_rows)()
            other._check(lib.chi_scan_open(other._client, spec, walk))
            try:
                row = ctypes.POINTER(_abi.chi_row)()
                record = ctypes.POINTER(_abi.chi_record)()
                while other._check(lib.chi_scan_next(walk, row, record)) == _abi.CHI_OK:
                    got = row_at(row)
                    yield (got, record_of(got.position, record.contents)) if records else got
                self._note_unknown(lambda i: lib.chi_unknown_name(other._client, i))
            finally:
                if other._end.alive:  # closing the store closes them, also at the program's end
                    lib.chi_rows_close(walk)


class Prober:
    """
    Asks about positions for one thread. In the store's own process nothing is shared with the
    Store, which may do other things or be closed meanwhile.
    """

    def __init__(self, store, deadline_ms=0):
        self._prober = ctypes.POINTER(_abi.chi_prober)()
        options = _abi.chi_prober_options(deadline_ms=deadline_ms)
        store._check(lib.chi_prober_open(store._c(), options, self._prober))
        self._end = weakref.finalize(self, lib.chi_prober_close, self._prober)
        self._row = _abi.chi_row()
        self._pointer = ctypes.pointer(self._row)

    def probe(self, position):
        """A Row; `found` says whether it is stored."""
        position = position if isinstance(position, Position) else Position(position)
        self._check(lib.chi_prober_key(self._prober, position._c(), self._row))
        return row_at(self._pointer)

    def probe_many(self, positions):
        """Rows, from one state of the store."""
        keys = packed(positions)
        rows = (_abi.chi_row * len(keys))()
        self._check(lib.chi_prober_many(self._prober, keys._array, len(keys), rows))
        return Rows(rows)

    def follow(self):
        """Goes over to the store that is at the address now, if it was replaced; whether it did."""
        moved = ctypes.c_bool()
        self._check(lib.chi_prober_follow(self._prober, moved))
        return moved.value

    def close(self):
        """Calling it again does nothing; asking after it is an error."""
        self._end()
        self._prober = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _check(self, status):
        if status < 0:
            raise error_of(status, lib.chi_prober_error(self._prober))


def import_pgn(address, *inputs, statistic=None, max_ply=0, games_min=0, strict=False, evals=False,
               report=None, subtract=False, filter="", **options):  # pylint: disable=W0622
    """
    Counts the games of PGN files (paths, packed by gzip, bzip2 or xz if their names end so, or
    binary files) that are not counted yet; all of them or, on an error, none.

    `statistic`: a directory that holds no store gets one of that kind. `evals`: the evaluations in
    the games' comments are stored, too. `report`: called with a line for each game that could not
    be read whole. `filter`: a text as for `games`, without terms that only a store answers; games
    that do not fit are not counted. Returns a dict of what became of the games.
    """
    @_abi.chi_import_report
    def told(_, note):
        n = note.contents
        report(f"{_text(n.file)}:{n.line}: game {n.game}: {_text(n.text)}")

    c = _abi.chi_import_options(
        kind=_abi.CHI_IMPORT_SUBTRACT if subtract else _abi.CHI_IMPORT_ADD, max_ply=max_ply,
        games_min=games_min, strict=strict, evals=evals, filter=(filter or "").encode())
    if report is not None:
        c.report = told
    work, fault = ctypes.POINTER(_abi.chi_import)(), _abi.chi_fault()
    kind = _STATISTICS[statistic] if statistic is not None else 0
    check_fault(lib.chi_import_open(os.fsencode(address), _options(options), kind, c, work, fault),
                fault)

    def check(status):
        if status < 0:
            raise error_of(status, lib.chi_import_error(work))

    try:
        for source in inputs:
            named = isinstance(source, (str, os.PathLike))
            name = os.fsencode(source if named else getattr(source, "name", "-"))
            check(lib.chi_import_file(work, name))
            ending = os.path.splitext(source)[1] if named else ""
            file = _PACKED.get(ending, builtins.open)(source, "rb") if named else source
            try:
                while chunk := file.read(_CHUNK):
                    check(lib.chi_import_feed(work, chunk, len(chunk)))
            finally:
                if named:
                    file.close()
        result = _abi.chi_import_result()
        check(lib.chi_import_commit(work, result))
    finally:
        lib.chi_import_close(work)
    out = {name: getattr(result, name) for name, _ in result._fields_ if name != "positions"}
    out["positions"] = {name: getattr(result.positions, name)
                        for name, _ in result.positions._fields_}
    return out
