# SPDX-License-Identifier: MIT
"""A client for tests of the daemon: frames and protobuf messages by hand, so that a test can also
be rude. The generated module is made from proto/chistore.proto by protoc, once a process."""

import importlib
import os
import socket
import subprocess
import sys

import harness

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "proto")

# Longest wait for bytes from the daemon, in seconds; only a broken one takes so long.
PATIENCE = 60


def _generate():
    out = harness.make_temp_dir()
    subprocess.run(["protoc", "--proto_path=" + PROTO, "--python_out=" + out, "chistore.proto"],
                   check=True)
    sys.path.insert(0, out)
    return importlib.import_module("chistore_pb2")


pb = _generate()


class Closed(Exception):
    """The daemon has closed the connection."""


def frame(body):
    """The body with its length as a varint before it."""
    head = bytearray()
    n = len(body)
    while n >= 128:
        head.append(n & 127 | 128)
        n >>= 7
    head.append(n)
    return bytes(head) + body


class Peer:
    """One connection. Requests are sent by send(), answers taken by recv()."""

    def __init__(self, address, hello=True):
        kind, rest = address.split(":", 1)
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            where = rest
        else:
            host, port = rest.rsplit(":", 1)
            host = host.strip("[]")
            self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
            where = (host, int(port))
        self.socket.settimeout(PATIENCE)
        self.socket.connect(where)
        self.buffer = b""
        self.next_id = 1
        self.welcome = None
        if hello:
            self.welcome = self.call(hello=pb.Hello(version=1, client="test"))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def build(self, id=None, store="", **op):
        """A request's frame, and its id."""
        if id is None:
            id = self.next_id
            self.next_id += 1
        return frame(pb.Request(id=id, store=store, **op).SerializeToString()), id

    def send(self, **request):
        """Sends a request, returns its id."""
        data, id = self.build(**request)
        self.socket.sendall(data)
        return id

    def _fill(self, n):
        while len(self.buffer) < n:
            try:
                part = self.socket.recv(1 << 20)
            except (ConnectionResetError, BrokenPipeError) as error:
                raise Closed from error
            if not part:
                raise Closed
            self.buffer += part

    def recv(self):
        """The next response; raises Closed at the end of the stream."""
        length, at = 0, 0
        while True:
            self._fill(at + 1)
            byte = self.buffer[at]
            length |= (byte & 127) << 7 * at
            at += 1
            if byte < 128:
                break
        self._fill(at + length)
        response = pb.Response.FromString(self.buffer[at:at + length])
        self.buffer = self.buffer[at + length:]
        return response

    def recv_for(self, id):
        """The next response to request `id`; others on the way are an error."""
        response = self.recv()
        assert response.id == id, f"answer to {response.id} instead of {id}: {response}"
        return response

    def call(self, **request):
        """One request, its only or last answer."""
        return self.recv_for(self.send(**request))

    def stream(self, credit=True, **request):
        """All responses to a request; gives credit for each one taken."""
        id = self.send(**request)
        while True:
            response = self.recv_for(id)
            yield response
            if response.last:
                return
            if credit:
                self.send(id=id, credit=pb.Credit(responses=1))

    def at_end(self):
        """Waits until the daemon closes; True if nothing but the end came."""
        try:
            self.recv()
        except Closed:
            return True
        return False


def fen(number):
    """Position `number`: four pieces on squares that tell the number, Black's king among them. All
    different below 60 * 61 * 62 * 63."""
    free = list(range(64))
    board = [""] * 64
    for piece, choices in (("K", 63), ("k", 62), ("N", 61), ("b", 60)):
        board[free.pop(number % choices)] = piece
        number //= choices
    assert number == 0
    ranks = []
    for start in range(0, 64, 8):
        rank, empty = "", 0
        for square in board[start:start + 8]:
            if square and empty:
                rank += str(empty)
            empty = 0 if square else empty + 1
            rank += square
        ranks.append(rank + (str(empty) if empty else ""))
    return "/".join(ranks) + " w - - 0 1"


def put(numbers, durability=0, chi2=None):
    """A Put of those positions; with `chi2`, a function of the number, for an external store."""
    entries = []
    for number in numbers:
        entry = pb.PutEntry(fen=fen(number))
        if chi2:
            entry.parts = 1
            entry.record.chi2 = chi2(number)
        entries.append(entry)
    return pb.Put(entries=entries, durability=durability)


def found(peer, numbers, store=""):
    """How many of those positions are stored."""
    total = 0
    numbers = list(numbers)
    for start in range(0, len(numbers), 200):
        part = numbers[start:start + 200]
        got = peer.call(store=store, get=pb.Get(fens=[fen(n) for n in part]))
        assert got.code == pb.OK, got
        total += sum(entry.found for entry in got.get.entries)
    return total
