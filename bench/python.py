#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the Python package: positions a second, in batches and one at a time.

    CHISTORE_LIBRARY=build-release/client/libchistore.so.0 bench/python.py STORE [POSITIONS]

Of each line the median of five rounds. Packing, probing and taking a column are counted.
"""

import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

# pylint: disable=wrong-import-position
import chistore

ROUNDS = 5
SINGLES = 20000


def measure(name, count, work):
    """Prints the median speed of `work`, which handles `count` positions."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    print(f"{name:46} {count / statistics.median(times) / 1e6:8.3f} million positions/s", flush=True)


def main():
    """Over the first positions of a store."""
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
    with chistore.open(sys.argv[1]) as store, store.prober() as prober:
        positions = [row.position for row in store.scan(order="position", limit=wanted,
                                                        counts=False)]
        keys, packed = [p.key for p in positions], chistore.Positions(positions)
        n, few = len(positions), positions[:SINGLES]
        measure("probe: Position objects, one column", n,
                lambda: store.probe(positions).column("counts.white"))
        measure("probe: bytes of keys, one column", n,
                lambda: store.probe(chistore.Positions.from_keys(keys)).column("counts.white"))
        measure("probe: packed before, one column", n,
                lambda: store.probe(packed).column("counts.white"))
        measure("probe: packed before, all as Row", n, lambda: list(store.probe(packed)))
        measure("scan: all as Row", n,
                lambda: sum(1 for _ in store.scan(order="position", limit=n)))
        measure("Prober.probe, one at a time", len(few), lambda: [prober.probe(p) for p in few])
        measure("Store.get, one at a time", len(few), lambda: [store.get(p) for p in few])


if __name__ == "__main__":
    main()
