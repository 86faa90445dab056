# SPDX-License-Identifier: MIT
"""
Chistore from Python: stores of chess positions, in this process or served by a daemon.

    import chistore

    with chistore.open("masters.chi") as store:
        print(store.get("startpos").counts)
        for row in store.scan((62.0, 65.0), limit=10):
            print(row.position.fen, row.chi2)

README.md beside this package has more.
"""

from ._library import (BadInput, Busy, Corrupt, Denied, Error, NoStore, Stale, TimedOut,
                       Unreachable, lib as _lib)
from .games import Finding, Game, TwinGroup
from .position import LegalMove, Position, Positions
from .queue import Lease, QueueAdded, QueueRow
from .record import Counts, Evaluation, Move, Put, Record, Row, Rows
from .search import Gameset, Name, NamesChanged, Suspects
from .store import Child, Explored, Prober, Store, create, import_pgn, open

__version__ = _lib.chi_version().decode()
__all__ = ["BadInput", "Busy", "Child", "Corrupt", "Counts", "Denied", "Error", "Evaluation",
           "Explored", "Finding", "Game", "Gameset", "Lease", "LegalMove", "Move", "Name", "NamesChanged", "NoStore", "Position", "Positions", "Prober", "Put", "QueueAdded", "QueueRow", "Record", "Row",
           "Rows", "Stale", "Store", "Suspects", "TimedOut", "TwinGroup", "Unreachable", "create", "import_pgn", "open"]
