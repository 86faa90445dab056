# SPDX-License-Identifier: MIT
"""
The dialogue of mcostalba's chess_db, which PyChess' database view asks for the moves and the games
of a position; `chistore chess-db` starts it. Its index is a store, and beside the PGN file one of
places in it, as games are named by these: lines of one width, ascending, each with what tells a
game from others (a hash of its players, date, result and moves) and its place. Games that agree in
these are one, and the first of them counts.

The reader of the answers has standard output and standard error in one pipe, and takes all of it
for JSON: what is wrong is told in the answer, as "error".
"""

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from . import _abi
from ._library import Error, lib
from .position import Position
from .store import Store, import_pgn

REQUEST_MAX = 8191  # bytes of a line
LIMIT, LIMIT_MAX = 10, 3000
WALK_SECONDS = 5  # through the games of a position
LOOK_EVERY = 4096  # games between two looks at the clock
LINE = 34  # bytes of the index's lines, with the line feed
FIRST_LINE = b"chistore chess-db 1".ljust(LINE - 1) + b"\n"
ESCAPED = {code: f"\\u{code:04x}" for code in range(0x7f, 0xa0)}  # terminals obey them


def beside(name, ending):
    """games.pgn or games.bin with another ending."""
    return os.path.splitext(name)[0] + ending


def dumps(value, **how):
    return json.dumps(value, ensure_ascii=False, **how).encode("utf-8", "replace").decode().translate(ESCAPED)


def parse_line(path, number, line):
    try:
        if len(line) == LINE:
            return int(line[:16], 16), int(line[17:33], 16)
    except ValueError:
        pass
    raise Error(f"{path}: line {number} is damaged; remove this file and the store beside it, and "
                "make the book again")


class Index:
    """The file of places, read where it is looked up."""

    def __init__(self, path):
        self.path, self.file = path, open(path, "rb")
        self.count = os.fstat(self.file.fileno()).st_size // LINE - 1
        if self.file.read(LINE) != FIRST_LINE:
            self.file.close()
            raise Error(f"{path}: chess-db has not made this file")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def hashes(self):
        self.file.seek(LINE)
        return [parse_line(self.path, i + 2, self.file.read(LINE))[0] for i in range(self.count)]

    def find(self, wanted):
        """The game's place, or None."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            self.file.seek((middle + 1) * LINE)
            found, place = parse_line(self.path, middle + 2, self.file.read(LINE))
            if found == wanted:
                return place
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return None


def save_index(path, places):
    """Whole or not at all; its size."""
    temporary = f"{path}.{os.getpid()}.tmp"
    # Where others write, a file of that name may be theirs, or a link of theirs.
    file = open(temporary, "xb")
    try:
        with file:
            file.write(FIRST_LINE)
            for found in sorted(places):
                file.write(b"%016x %016x\n" % (found, places[found]))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return size


class Dialogue:
    """`program` is chistore's own; without an address each file has a store beside it."""

    def __init__(self, program, address, store):
        self.program, self.address = program, address
        self.server = ["--store", store] if store else []
        self.options = {"lock_wait_ms": 2000, "client_name": "chistore", **{
            name: os.environ[variable] for name, variable in (
                ("token_file", "CHISTORE_TOKEN_FILE"), ("tls_ca", "CHISTORE_TLS_CA"),
                ("tls_cert", "CHISTORE_TLS_CERT"), ("tls_key", "CHISTORE_TLS_KEY"))
            if variable in os.environ}}
        if store:
            self.options["store"] = store
        self.open = self.opened = None  # the store, and its address

    # ---- Help of others ----

    def run(self, *arguments, **how):
        """What a command of chistore prints, though it may fail after that."""
        how = how if "input" in how else {"stdin": subprocess.DEVNULL, **how}
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, **how)
        if done.returncode and not done.stdout:
            text = done.stderr.decode("utf-8", "replace").splitlines()
            raise Error(text[0][len("chistore: "):] if text else f"{self.program} failed")
        return done.stdout

    def games_of(self, path, **how):
        """Hash and place of each game, in the order of the file."""
        lines = self.run("chess-db", "--places", path, **how).splitlines()
        return [(int(line[:16], 16), int(line[17:], 16)) for line in lines]

    def address_of(self, name):
        return self.address or beside(name, ".chistore")

    def close(self):
        if self.open is not None:
            self.open.close()
        self.open = None

    def store_of(self, name):
        """Open; one that was replaced since is opened again."""
        address = self.address_of(name)
        try:
            if self.open is not None and address == self.opened and not self.open.changed():
                return self.open
        except Error:
            pass
        self.close()
        self.open, self.opened = Store(address, **self.options), address
        return self.open

    # ---- book: games into the store ----

    def take_out_lost(self, name, book, now):
        """The games that the file had when it was read last, and no longer has. Their text is
        nowhere but in the store; one of several files has games of the others as well, which stay."""
        try:
            with Index(book) as index:
                lost = set(index.hashes()) - now.keys()
        except OSError:
            return
        except Error:
            with open(book, "rb") as file:
                if file.read(LINE) == FIRST_LINE:
                    raise
            return
        if not lost:
            return
        with tempfile.TemporaryFile() as texts:
            for game in self.store_of(name).games(pgn=True):
                texts.write(game.pgn.encode())
            size = texts.tell()
            texts.seek(0)
            games = self.games_of("-", stdin=texts)
            found = io.BytesIO()
            for (one, start), (_, end) in zip(games, [*games[1:], (0, size)]):
                if one in lost:
                    texts.seek(start)
                    found.write(texts.read(end - start) + b"\n")
        self.close()
        found.seek(0)
        import_pgn(self.address_of(name), found, subtract=True, **self.options)

    def make_book(self, name, book, answer):
        self.close()
        places = {}
        for found, place in self.games_of(name):
            places.setdefault(found, place)
        made = json.loads(self.run("-a", self.address_of(name), *self.server, "import", "--quiet", "--json",
                                   "--format", "pgn", "--", name))
        positions = made["positions_new"] + made["positions_updated"]
        answer.update({"Games": made["games"], "Moves": made["plies"], "Incorrect moves": made["cut"],
                       "Unique positions (%)": 100 * positions // made["plies"] if made["plies"] else 0})
        if not self.address:
            self.take_out_lost(name, book, places)
        # The index is the last: until it is written, this is done again.
        answer["Size of index file (bytes)"] = save_index(book, places)

    def book(self, text):
        """FILE.pgn full: all of it is always kept."""
        name = text[:-len(" full")] if text.endswith(" full") else text
        book, start = beside(name, ".bin") if name else "", time.monotonic()
        answer = dict.fromkeys(("Games", "Moves", "Incorrect moves", "Unique positions (%)", "Games/second",
                                "Moves/second", "Size of index file (bytes)"), 0)
        answer["Book file"], error = book, None
        try:
            if not name:
                raise Error("book FILE.pgn [full]")
            self.make_book(name, book, answer)
        except (Error, OSError) as failed:
            error = said(failed)
        ms = int(1000 * (time.monotonic() - start)) + 1
        answer.update({"Games/second": 1000 * answer["Games"] // ms, "Moves/second": 1000 * answer["Moves"] // ms,
                       "Processing time (ms)": ms})
        if error is not None:
            answer["error"] = error
        print(dumps(answer, separators=(",", ":")))

    # ---- find: moves and games of a position ----

    def numbers_of(self, store, position, moves, limit, skip):
        """Of each move the numbers of its games; a store that keeps none has counts alone."""
        numbers = {move: [] for move, _ in moves}
        wanted = {move: min(limit, max(0, games - skip)) for move, games in moves}
        seen, unfilled = dict.fromkeys(numbers, 0), sum(n > 0 for n in wanted.values())
        spec = store._game_spec("", position, False)  # pylint: disable=protected-access
        spec.want = _abi.CHI_GAMES_HEADS
        row, end, n = ctypes.POINTER(_abi.chi_game_row)(), time.monotonic() + WALK_SECONDS, 0
        try:
            with store._asked(spec) as query:  # pylint: disable=protected-access
                while unfilled:
                    if store._check(lib.chi_games_next(query, row)):  # pylint: disable=protected-access
                        break
                    move, n = row.contents.move, n + 1
                    if move in numbers:
                        seen[move] += 1
                        if seen[move] > skip and len(numbers[move]) < wanted[move]:
                            numbers[move].append(row.contents.head.number)
                            unfilled -= len(numbers[move]) == wanted[move]
                    if n % LOOK_EVERY == 0 and time.monotonic() > end:
                        break
        except Error as error:
            if error.code != "EUNSUPPORTED":
                raise
        return numbers

    def find_moves(self, book, position, limit, skip, out):
        store = self.store_of(book)
        found = [(move, move.played.games + move.played.other) for move in store.explore(position).moves]
        found = [(move, games) for move, games in found if games]
        total, error = sum(games for _, games in found), None
        numbers = self.numbers_of(store, position, [(position.move_number(move.uci), games)
                                                    for move, games in found], limit, skip)
        for (move, games), some in zip(found, numbers.values()):
            out.append({"move": move.uci, "weight": int(games * 65535 / total), "games": games,
                        "wins": move.played.white, "losses": move.played.black, "draws": move.played.draws,
                        "pgn offsets": some})
        texts = [[game.pgn for game in map(store.game, some) if game] for some in numbers.values()]
        hashes = iter(self.games_of("-", input="".join(map("".join, texts)).encode()) if any(texts) else ())
        try:
            index = Index(book)
        except (Error, OSError) as failed:
            index, error = None, failed
        for move, some in zip(out, texts):
            move["pgn offsets"] = []
            for _ in some:
                place = index.find(next(hashes)[0]) if index else None
                if place is not None:  # chess_db cuts places to eight bytes
                    move["pgn offsets"].append(place & ~7)
        if error is not None:
            raise error

    def find(self, text):
        moves, fen, key, error = [], "", 0, None
        try:
            book, position, limit, skip = read_question(text)
            fen = position.fen
            key = json.loads(self.run("key", "--polyglot", "--json", "--", fen))["polyglot"]
            self.find_moves(book, position, limit, skip, moves)
        except (Error, OSError) as failed:
            error = said(failed)
        print(f'{{"fen": "{fen}", "key": {key}, "moves": {dumps(moves)}' +
              (f', "error": {dumps(error)}' if error is not None else "") + "}")

    # ---- The dialogue ----

    def answer(self, line):
        """False: it is over."""
        name, _, text = line.partition(" ")
        if line == "isready":
            print("readyok")
        elif name in ("book", "find"):
            getattr(self, name)(text)
        elif line and line != "quit":
            print("chistore: unknown command:", "".join(c if c.isprintable() else "?" for c in line),
                  file=sys.stderr)
        return line != "quit"


def said(error):
    """What an answer says of an exception."""
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)


def read_question(text):
    """NAME.bin limit 10 skip 0 limit 1 FEN: of options given twice the last counts. The name ends
    where its ending does, so that it may have blanks."""
    end = text.find(".bin ")
    end = end + len(".bin") if end >= 0 else text.find(" ")
    if end < 0:
        raise Error("find BOOK [limit N] [skip N] FEN")
    given, fen, words = {"limit": LIMIT, "skip": 0}, [], iter(text[end:].split(" "))
    for word in filter(None, words):
        if word not in given:
            fen.append(word)
            continue
        value, limit = next(filter(None, words), ""), word == "limit"
        number = int(value) if value.isascii() and value.isdigit() else -1
        if not limit <= number <= (LIMIT_MAX if limit else 2**64 - 1):
            raise Error(f"limit is 1 to {LIMIT_MAX}" if limit else "skip is a number")
        given[word] = number
    if len(" ".join(fen)) >= _abi.CHI_FEN_INPUT_MAX:
        raise Error("the FEN is too long")
    return text[:end], Position(" ".join(fen)), given["limit"], given["skip"]


def main(program, address="", store=""):
    """Answers what standard input asks; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    dialogue, lines = Dialogue(program, address, store), sys.stdin.buffer
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    more = True
    while more and (line := lines.readline(REQUEST_MAX)):
        if (not line.endswith(b"\n") and len(line) == REQUEST_MAX) or b"\0" in line:
            print("chistore: a line of standard input is too long, or has a NUL", file=sys.stderr)
            return 2
        try:
            more = dialogue.answer(os.fsdecode(line.rstrip(b"\r\n")))
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 3
    return 0
