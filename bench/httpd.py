#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Processor time that chistore-http takes for an answer: the first time, and kept.

    httpd.py BUILD_DIR STORE [-n POSITIONS] [--least GAMES]

Asks /masters and queryall about positions that at least GAMES games reached, each once and then
again, over one connection. Times are of the server's process alone, so that other work on the
machine disturbs them little; rates against another server are wrk's to tell (docs/MEASURED.md).
"""

import argparse
import os
import random
import re
import socket
import subprocess
import sys
import urllib.parse

SEED = 20261123
AHEAD = 32  # requests that are sent before an answer is read
ASKED = (("/masters", "/masters?fen="), ("queryall", "/cdb.php?action=queryall&json=1&board="))


def positions(build, store, least, n):
    program = os.path.join(build, "cli/chistore")
    scan = subprocess.run([program, "-a", store, "scan", "--min-games", str(least)],
                          stdout=subprocess.PIPE, text=True, check=True)
    fens = [line.split("\t")[1] for line in scan.stdout.splitlines()[1:]]
    random.Random(SEED).shuffle(fens)
    return fens[:n]


def processor_time(pid):
    """Seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def port_of(server):
    """The port of a server that has just been started, as its log says it."""
    while True:
        line = server.stderr.readline()
        assert line != "", "chistore-http has ended"
        ready = re.search(r"listening on http://[^ ]*:(\d+)/", line)
        if ready:
            return int(ready[1])


def ask(port, paths):
    """Bytes of the answers, all of which must be 200."""
    size = 0
    with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
        answers = peer.makefile("rb")
        for at in range(0, len(paths), AHEAD):
            group = paths[at:at + AHEAD]
            peer.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode()
                                  for path in group))
            for path in group:
                size += answer_size(answers, path)
    return size


def answer_size(answers, path):
    first = answers.readline()
    length = 0
    while (line := answers.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    content = answers.read(length)
    assert b" 200 " in first, (path, first, content)
    return length


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("store")
    parser.add_argument("-n", type=int, default=10000, help="positions (%(default)s)")
    parser.add_argument("--least", type=int, default=10, help="games of each (%(default)s)")
    options = parser.parse_args()
    fens = positions(options.build, options.store, options.least, options.n)
    program = os.path.join(options.build, "http/chistore-http")
    server = subprocess.Popen([program, "-a", options.store, "--listen", "tcp:127.0.0.1:0",
                               "--threads", "1"], stderr=subprocess.PIPE, text=True)
    try:
        port = port_of(server)
        for name, path in ASKED:
            paths = [path + urllib.parse.quote(fen) for fen in fens]
            for turn in ("first", "kept", "kept"):
                before = processor_time(server.pid)
                size = ask(port, paths)
                taken = processor_time(server.pid) - before
                print(f"{name:9} {turn:6} {len(fens)} positions  {size // len(fens):6} bytes"
                      f"  {1e6 * taken / len(fens):7.1f} us")
                sys.stdout.flush()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
