# SPDX-License-Identifier: MIT
"""A client for tests of the daemon that can also be rude: it sends what it is told, and a failure
is an answer like any other."""

import functools

from pychistore import Connection, frame, pb


class Peer(Connection):
    """One connection. Requests are sent by send(), answers taken by receive(), as they come."""

    def __init__(self, address, hello=True, token="", tls=None):
        super().__init__(address, tls)
        self.welcome = None
        if hello:
            self.welcome = self.call(hello=pb.Hello(version=1, client="test", access_token=token))

    def build(self, id=None, store="", **op):
        """A request's frame, and its id."""
        id = self.new_id() if id is None else id
        return frame(pb.Request(id=id, store=store, **op).SerializeToString()), id

    def receive_for(self, id):
        """The next response to request `id`; others on the way are an error."""
        response = self.receive()
        assert response.id == id, f"answer to {response.id} instead of {id}: {response}"
        return response

    def call(self, **request):
        """One request, its only or last answer."""
        return self.receive_for(self.send(**request))

    def stream(self, *, credit=True, **request):
        """All responses to a request; gives credit for each one taken."""
        id = self.send(**request)
        while True:
            response = self.receive_for(id)
            yield response
            if response.last:
                return
            if credit:
                self.send(id=id, credit=pb.Credit(responses=1))


# The same few thousand are put and asked for again and again.
@functools.cache
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
