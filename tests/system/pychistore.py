# SPDX-License-Identifier: MIT
"""A client for chistored in Python, written from PROTOCOL.md alone: the proof that this can be
done. It knows nothing of Chistore's own code; of chess only the table of nibbles.

The generated module chistore_pb2 is made from chistore.proto by `protoc --python_out`; its
directory is in PYTHONPATH.

    with Client("unix:/run/chistore/socket") as client:
        row, = client.probe(fens=["4k3/8/8/8/8/8/8/4K3 w - - 0 1"])
"""

import collections
import os
import socket
import time

import chistore_pb2 as pb

VERSION = 1
CHI2_MAX = 25599

# Bits of PutEntry.parts.
CHI2, COUNTS, ADD, MOVES, LINE, NOTE, EVALS, RESTORE, SUBTRACT = (1 << bit for bit in range(9))

# What an ImportData takes of the credit beside its data, and data that surely fits a request.
IMPORT_OVERHEAD = 256
IMPORT_PIECE = 1 << 18

# Longest wait for bytes, in seconds; only a server that is broken takes so long.
PATIENCE = int(os.environ.get("CHISTORE_PATIENCE", "120"))

Row = collections.namedtuple("Row", "key found chi2 counts evaluation best", defaults=(None, 0))
Evaluation = collections.namedtuple("Evaluation", "depth score mate")
Counts = collections.namedtuple("Counts", "white draws black other")
Game = collections.namedtuple("Game", "id result pruned max_ply")
Queried = collections.namedtuple("Queried", "games cursor total unknown responses")
Scanned = collections.namedtuple("Scanned", "rows cursor mixed responses")


class Closed(Exception):
    """The server has closed the connection."""


class Failure(Exception):
    """A response whose code is not OK."""

    def __init__(self, response):
        super().__init__(f"{code_name(response.code)} {response.field}: {response.message}")
        self.response = response
        self.code = response.code
        self.field = response.field


def code_name(code):
    """The name of a code, or its number if it is of a later version."""
    return pb.Code.Name(code) if code in pb.Code.values() else str(code)


# ---- Bytes ------------------------------------------------------------------------------------


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def frame(body):
    return put_varint(len(body)) + body


def join_keys(keys):
    """Keys for a `keys` field: each after its length."""
    return b"".join(bytes([len(key)]) + key for key in keys)


def unpack_rows(data, count):
    """Packed rows; `chi2` is None where it is not known, `counts` None where there are none, `best` 0
    where no move is."""
    rows = []
    at = 0
    for _ in range(count):
        flags, chi2 = data[at], data[at + 1] | data[at + 2] << 8
        end = at + 4 + data[at + 3]
        key, at = data[at + 4:end], end
        counts = None
        if flags & 2:
            numbers = []
            for _ in range(4):
                number, at = take_varint(data, at)
                numbers.append(number)
            counts = Counts(*numbers)
        evaluation = None
        if flags & 4:
            depth, at = take_varint(data, at)
            score, at = take_varint(data, at)
            evaluation = Evaluation(depth, score >> 1 ^ -(score & 1), bool(flags & 8))
        best = 0
        if flags & 48:
            best, at = data[at] | data[at + 1] << 8, at + 2
        if flags & ~63:
            raise ValueError(f"unknown flags {flags}")
        rows.append(Row(key, bool(flags & 1), chi2 or None, counts, evaluation, best))
    if at != len(data):
        raise ValueError("bytes after the last row")
    return rows


def unpack_games(data, count):
    """Packed games, 20 bytes each."""
    if len(data) != 20 * count:
        raise ValueError("not 20 bytes a game")
    games = []
    for at in range(0, len(data), 20):
        result, flags, low, high = data[at + 16:at + 20]
        if result > 3 or flags & ~1:
            raise ValueError(f"unknown result {result} or flags {flags}")
        games.append(Game(data[at:at + 16], result, bool(flags & 1), low | high << 8))
    return games


def pack_games(games):
    return b"".join(game.id + bytes([game.result, game.pruned, game.max_ply & 255,
                                     game.max_ply >> 8]) for game in games)


NIBBLES = "kBKNPQRRPbknpqrr"


def placement(key):
    """A key as the first field of a FEN and the side to move."""
    mask = int.from_bytes(key[:8], "big")
    squares = [square for square in range(64) if mask >> (63 - square) & 1]
    nibbles = [byte >> shift & 15 for byte in key[8:] for shift in (4, 0)]
    board = {}
    side = "w"
    for square, nibble in zip(squares, nibbles):
        piece = NIBBLES[nibble]
        if nibble == 0:
            side = "b"
        if nibble == 8:
            piece = "P" if square // 8 == 3 else "p"
        board[square] = piece
    ranks = []
    for rank in reversed(range(8)):
        text = "".join(board.get(rank * 8 + file, "1") for file in range(8))
        for run in range(8, 1, -1):
            text = text.replace("1" * run, str(run))
        ranks.append(text)
    return "/".join(ranks), side


def move(text):
    """"e2e4" or "e7e8q" as 16 bits; castling as king takes rook."""
    def square(name):
        return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)
    promotion = " nbrq".index(text[4]) if len(text) > 4 else 0
    return promotion << 12 | square(text[:2]) << 6 | square(text[2:4])


# ---- Connection -------------------------------------------------------------------------------


def open_socket(address, tls=None):
    """A connected socket for unix:PATH, tcp:HOST:PORT or, with an ssl.SSLContext, tls:HOST:PORT."""
    kind, _, rest = address.partition(":")
    if kind == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(rest)
        return sock
    if kind in ("tcp", "tls"):
        host, _, port = rest.rpartition(":")
        sock = socket.create_connection((host.strip("[]"), int(port)), PATIENCE)
        # Else a greeting behind the last message of a handshake waits 40 ms to be sent.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock if kind == "tcp" else tls.wrap_socket(sock, server_hostname=host.strip("[]"))
    raise ValueError(f"'{address}' is no address of a server")


class Connection:
    """Requests go out and responses come in, one by one; nothing is made of what they say."""

    def __init__(self, address, tls=None):
        self.socket = open_socket(address, tls)
        self.pending = b""
        self.next_id = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send_bytes(self, data):
        self.socket.sendall(data)

    def end_sending(self):
        self.socket.shutdown(socket.SHUT_WR)

    def receive_body(self):
        """The next message's bytes; Closed at the end of the stream."""
        while True:
            head = 0
            while head < len(self.pending) and self.pending[head] >= 0x80:
                head += 1
            if head < len(self.pending):
                length, start = take_varint(self.pending, 0)
                if len(self.pending) >= start + length:
                    body = self.pending[start:start + length]
                    self.pending = self.pending[start + length:]
                    return body
            self.take_bytes()

    def take_bytes(self):
        """Waits for some bytes; Closed at the end of the stream."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed()
        self.pending += data

    def receive(self):
        """The next response, whichever request it answers."""
        response = pb.Response()
        response.ParseFromString(self.receive_body())
        return response

    def at_end(self):
        """True once the server has closed; a response that comes instead is an error."""
        try:
            response = self.receive()
        except Closed:
            return True
        raise AssertionError(f"not closed, but: {response}")

    def new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def send(self, id=None, store="", **op):
        """Sends Request{id, store, op}; returns the id."""
        id = self.new_id() if id is None else id
        self.send_bytes(frame(pb.Request(id=id, store=store, **op).SerializeToString()))
        return id


class Client(Connection):
    """The operations, each waiting for its answers; send() and receive() do not."""

    def __init__(self, address, hello=True, client="pychistore", access_token="", tls=None):
        super().__init__(address, tls)
        self.waiting = collections.defaultdict(collections.deque)
        self.server = None
        if hello:
            self.server = self.hello(client=client, access_token=access_token)

    def answer(self, id):
        """The next response to that request; those to others are kept for later."""
        while not self.waiting[id]:
            response = self.receive()
            self.waiting[response.id].append(response)
        response = self.waiting[id].popleft()
        if response.last and not self.waiting[id]:
            del self.waiting[id]
        return response

    def call(self, store="", **op):
        """One request, its one response; Failure unless that is OK."""
        response = self.answer(self.send(store=store, **op))
        if response.code != pb.OK:
            raise Failure(response)
        if not response.last:
            raise ValueError("more than one response")
        return response

    # -- Operations --

    def hello(self, version=VERSION, client="pychistore", access_token=""):
        return self.call(hello=pb.Hello(version=version, client=client,
                                        access_token=access_token)).hello

    def ping(self):
        self.call(ping=pb.Ping())

    def info(self, store=""):
        return self.call(store, info=pb.Info()).info

    def probe(self, keys=(), fens=(), store=""):
        result = self.call(store, probe=pb.Probe(keys=join_keys(keys), fens=fens)).probe
        return unpack_rows(result.rows, result.count)

    def get(self, keys=(), fens=(), store=""):
        return list(self.call(store, get=pb.Get(keys=join_keys(keys), fens=fens)).get.entries)

    def explore(self, key=b"", fen="", filter="", store=""):
        return self.call(store, explore=pb.Explore(key=key, fen=fen, filter=filter)).explore

    def put(self, entries, durability=pb.SYNC, base_rates=None, games=(), store=""):
        request = pb.Put(durability=durability, entries=entries, base_rates=base_rates,
                         games=pack_games(games))
        return self.call(store, put=request).put

    def delete(self, keys=(), fens=(), durability=pb.SYNC, store=""):
        request = pb.Delete(keys=join_keys(keys), fens=fens, durability=durability)
        return self.call(store, delete=request).delete.deleted

    def count(self, chi2_min=0, chi2_max=CHI2_MAX, filter=None, games="", store=""):
        return self.call(store, count=pb.Count(chi2_min=chi2_min, chi2_max=chi2_max, filter=filter,
                                               games=games)).count.count

    def start_scan(self, chi2_min=0, chi2_max=CHI2_MAX, store="", window=0, **more):
        return self.send(store=store, window=window,
                         scan=pb.Scan(chi2_min=chi2_min, chi2_max=chi2_max, **more))

    def stream(self, id):
        """The responses to a Scan, Backup, GameQuery or Stats, with one Credit granted for each."""
        while True:
            response = self.answer(id)
            if response.code != pb.OK:
                raise Failure(response)
            yield response
            if response.last:
                return
            self.credit(id, 1)

    def scan(self, store="", **more):
        """All rows, or entries if `want` is RECORDS."""
        rows, cursor, mixed, responses = [], None, False, 0
        for response in self.stream(self.start_scan(store=store, **more)):
            part = response.scan
            rows += part.entries or unpack_rows(part.rows, part.count)
            cursor = part.cursor if part.HasField("cursor") else cursor
            mixed |= part.mixed
            responses += 1
        return Scanned(rows, cursor, mixed, responses)

    def credit(self, id, responses):
        self.send(id=id, credit=pb.Credit(responses=responses))

    def cancel(self, id):
        self.send(id=id, cancel=pb.Cancel())

    def backup(self, window=0, store=""):
        id = self.send(store=store, window=window, backup=pb.Backup())
        return b"".join(response.backup.data for response in self.stream(id))

    def verify(self, store=""):
        """The damages reported, and the last response's totals."""
        id = self.send(store=store, verify=pb.Verify())
        reports = []
        while True:
            response = self.answer(id)
            if response.last:
                if response.code not in (pb.OK, pb.CORRUPT):
                    raise Failure(response)
                return reports, response.verify
            reports.append(response.verify.report)

    def games(self, after=b"", limit=0, store=""):
        result = self.call(store, games=pb.GameIds(after=after, limit=limit)).games
        if len(result.numbers) != 4 * result.count:
            raise ValueError("not 4 bytes a number")
        return unpack_games(result.games, result.count)

    def start_query(self, filter="", store="", **more):
        window = more.pop("window", 0)
        return self.send(store=store, window=window, game_query=pb.GameQuery(filter=filter, **more))

    def game_rows(self, filter="", store="", **more):
        """The games that fit, one by one as they come."""
        for response in self.stream(self.start_query(filter, store, **more)):
            yield from response.game_query.games

    def query_games(self, filter="", store="", **more):
        """All of them together, and what is said beside; `total` is None if it is not known."""
        games, responses, part, unknown = [], 0, None, []
        for response in self.stream(self.start_query(filter, store, **more)):
            part = response.game_query
            games += part.games
            unknown = list(response.unknown)
            responses += 1
        return Queried(games, part.cursor, part.total if part.has_total else None, unknown,
                       responses)

    def get_game(self, number, whole=False, store=""):
        """A GameResult; None if there is no such game."""
        result = self.call(store, get_game=pb.GetGame(number=number, whole=whole)).get_game
        return result if result.HasField("row") else None

    def get_heads(self, numbers, store=""):
        """GameRows of those that there are."""
        packed = b"".join(number.to_bytes(4, "little") for number in numbers)
        return self.call(store, get_heads=pb.GetHeads(numbers=packed)).get_heads.rows

    def stats(self, by=pb.PER_YEAR, filter="", store="", **more):
        id = self.send(store=store, stats=pb.Stats(by=by, filter=filter, **more))
        return [group for response in self.stream(id) for group in response.stats.groups]

    def names(self, kind, wanted=None, after=0, limit=10000, store=""):
        """Names that fit, or without `wanted` all of the kind; and how many there are in all."""
        id = self.send(store=store, names=pb.Names(kind=kind, wanted=wanted or "", after=after,
                                                   limit=limit))
        responses = list(self.stream(id))
        return [name for r in responses for name in r.names.names], responses[-1].names.total

    def suspects(self, kind, least=60, limit=10000, store=""):
        """Groups of names, each with its score; and how many there are in all."""
        id = self.send(store=store, suspects=pb.Suspects(kind=kind, least=least, limit=limit))
        groups, total = [], 0
        for response in self.stream(id):
            total = response.suspects.total
            groups += [(group.score, list(group.names)) for group in response.suspects.groups]
        return groups, total

    def change_names(self, changes, dry_run=False, idempotency_key=None, store=""):
        return self.call(store, change_names=pb.ChangeNames(changes=changes, dry_run=dry_run),
                         idempotency_key=idempotency_key).change_names

    def gamesets(self, name="", store=""):
        id = self.send(store=store, gamesets=pb.Gamesets(name=name))
        return [row for response in self.stream(id) for row in response.gamesets.gamesets]

    def make_gameset(self, name, filter="", idempotency_key=None, store=""):
        return self.call(store, make_gameset=pb.MakeGameset(name=name, filter=filter),
                         idempotency_key=idempotency_key).make_gameset.games

    def drop_gameset(self, name, idempotency_key=None, store=""):
        return self.call(store, drop_gameset=pb.DropGameset(name=name),
                         idempotency_key=idempotency_key).drop_gameset.dropped

    def twins(self, filter="", days=0, plies=0, beginning=0, store=""):
        """Groups of games, as lists of numbers."""
        id = self.send(store=store, twins=pb.Twins(filter=filter, days=days, plies=plies, beginning=beginning))
        groups = [group for response in self.stream(id) for group in response.twins.groups]
        return [[int.from_bytes(group.games[i:i + 4], "little") for i in range(0, len(group.games), 4)]
                for group in groups]

    def start_import(self, kind=pb.ADD_GAMES, store="", **options):
        return Import(self, self.send(store=store, import_games=pb.Import(kind=kind, **options)))

    def import_games(self, inputs, store="", **options):
        """Imports (name, bytes) pairs; the totals, and the notes."""
        job = self.start_import(store=store, **options)
        for name, data in inputs:
            job.feed(data, name)
        return job.commit(), job.notes

    def compact(self, store=""):
        result = self.call(store, compact=pb.Compact()).compact
        return result.bytes_before, result.bytes_after

    def rescore(self, base_rates=None, store=""):
        return self.call(store, rescore=pb.Rescore(base_rates=base_rates)).rescore.changed


class Marks:
    """A client's identity, and the marks of its writes: call(put=..., once=marks.next())."""

    def __init__(self, client, store="default"):
        known = {known.name: known for known in client.server.stores}[store]
        self.identity = os.urandom(16)
        self.since = known.sequence
        self.store = known.uuid
        self.sequence = 0

    def next(self, unanswered=0):
        self.sequence += 1
        return pb.IdempotencyKey(client=self.identity, since=self.since, sequence=self.sequence,
                       unanswered=unanswered, store=self.store)


def outcome(client, idempotency_key, store=""):
    """What became of the marked write: its result, or None if it was not done and never will be."""
    while True:
        result = client.call(store, outcome=pb.Outcome(), idempotency_key=idempotency_key).outcome
        if not result.running:
            done = result.WhichOneof("done")
            return getattr(result, done) if done else None
        time.sleep(0.01)


class Pipe:
    """Marked writes on their way. A connection that breaks is made again, and all that has no
    answer goes out again, in order; answers come in the order of sending."""

    def __init__(self, address):
        self.address = address
        self.client = Client(address)
        self.marks = Marks(self.client)
        self.window = 64  # writes of one client that the server remembers
        self.waiting = collections.deque()  # (number, operation and mark), without an answer
        self.ids = {}  # number: id of its request on this connection

    def close(self):
        self.client.close()

    def send(self, **op):
        """Queues a write; the answers that must be taken first, to keep within the window."""
        answers = []
        while len(self.waiting) >= self.window:
            answers.append(self.answer())
        oldest = self.waiting[0][0] if self.waiting else self.marks.sequence + 1
        op["idempotency_key"] = self.marks.next(unanswered=oldest)
        self.waiting.append((op["idempotency_key"].sequence, op))
        try:
            self.transmit(self.waiting[-1])
        except OSError:
            pass  # taking the answer finds out, and sends it again
        return answers

    def transmit(self, write):
        self.ids[write[0]] = self.client.send(**write[1])

    def answer(self):
        """The answer to the oldest write."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                response = self.client.answer(self.ids[self.waiting[0][0]])
                del self.ids[self.waiting.popleft()[0]]
                return response
            except (Closed, OSError, KeyError):
                if time.monotonic() > deadline:
                    raise
            self.again()

    def again(self):
        self.client.close()
        self.ids = {}
        try:
            self.client = Client(self.address)
            for write in self.waiting:
                self.transmit(write)
        except (Closed, OSError):
            time.sleep(0.005)

    def drain(self):
        return [self.answer() for _ in range(len(self.waiting))]


class Import:
    """An import on its way: sends what the server has granted, and no more."""

    def __init__(self, client, id):
        self.client = client
        self.id = id
        self.credit = 0
        self.notes = []
        self.take()

    def take(self):
        """Waits for an answer; Failure if the import is over."""
        response = self.client.answer(self.id)
        if response.code != pb.OK:
            raise Failure(response)
        self.credit += response.import_games.credit
        self.notes += response.import_games.notes
        return response

    def send(self, data=b"", name=""):
        """One ImportData, whatever was granted."""
        self.client.send(id=self.id, import_data=pb.ImportData(file=name, data=data))
        self.credit -= IMPORT_OVERHEAD + len(data)

    def feed(self, data, name=""):
        at = 0
        while at < len(data) or name:
            while self.credit <= IMPORT_OVERHEAD:
                self.take()
            piece = data[at:at + min(IMPORT_PIECE, self.credit - IMPORT_OVERHEAD)]
            self.send(piece, name)
            at += len(piece)
            name = ""

    def end(self, idempotency_key=None):
        op = {"idempotency_key": idempotency_key} if idempotency_key else {}
        self.client.send(id=self.id, import_end=pb.ImportEnd(), **op)

    def commit(self, idempotency_key=None):
        """Asks for it to be stored; the totals."""
        self.end(idempotency_key)
        while True:
            response = self.take()
            if response.last:
                return response.import_games
