# SPDX-License-Identifier: MIT
"""Clients that add a game to a position of their own, again and again, each synced; the library repeats
what was not answered.

    adders.py ADDRESS CLIENTS FIRST CALL_MS REPEAT_MS [TLS_CA]

Each acknowledgement is a line `ack TIME CLIENT`, with the time of this machine's clock; a call that failed, so
that its game may have been added, is `failed TIME CLIENT TEXT`. It ends at SIGTERM, when its open calls have, and then
tells of the longest one: `longest SECONDS`. Exit 1 if a client ended of anything else. CHISTORE_PYTHON: folder of the Python package.
"""

import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.environ["CHISTORE_PYTHON"])
import chistore  # noqa: E402

CLIENTS_MAX = 20


def position_of(client):
    """Positions after White's first move: CLIENTS_MAX of them."""
    return chistore.Position("startpos").moves()[client].after


class Adders:
    def __init__(self, address, options):
        self.address, self.options = address, options
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.longest = 0.0
        self.finished = 0

    def tell(self, line):
        with self.lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def open(self):
        """None if there is no server yet, or none any more."""
        while not self.stopped.is_set():
            try:
                return chistore.open(self.address, **self.options)
            except chistore.Error:
                self.stopped.wait(0.2)
        return None

    def add(self, store, client, position):
        begin = time.time()
        try:
            store.put(position, counts=(1, 0, 0, 0), add=True)
            self.tell(f"ack {time.time():.3f} {client}")
        except chistore.Busy:
            self.stopped.wait(0.05)
        except chistore.Error as error:
            self.tell(f"failed {time.time():.3f} {client} {error}")
            self.stopped.wait(0.2)
        with self.lock:
            self.longest = max(self.longest, time.time() - begin)

    def run(self, client):
        position, store = position_of(client), self.open()
        while store and not self.stopped.is_set():
            self.add(store, client, position)
        if store:
            store.close()
        with self.lock:
            self.finished += 1


def main():
    address, clients, first, call_ms, repeat_ms, *tls_ca = sys.argv[1:]
    options = {"writable": True, "client_name": "adder", "connect_ms": 3000, "call_ms": int(call_ms),
               "repeat_ms": int(repeat_ms), **({"tls_ca": tls_ca[0]} if tls_ca else {})}
    adders = Adders(address, options)
    signal.signal(signal.SIGTERM, lambda *_: adders.stopped.set())
    threads = [threading.Thread(target=adders.run, args=(int(first) + i,)) for i in range(int(clients))]
    for thread in threads:
        thread.start()
    # Joining in steps lets the signal in.
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.1)
    print(f"longest {adders.longest:.1f}")
    # A thread that raised has printed why, and is not counted.
    return 0 if adders.finished == len(threads) else 1


if __name__ == "__main__":
    sys.exit(main())
