#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the golden files of a release, tests/golden/releases/X.Y.Z: RELEASING.md says when. All that is in
them is invented here.

    tests/golden/record.py BUILD_DIRECTORY
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(sys.argv[1])
os.environ["CHISTORE_BIN"] = os.path.join(BUILD, "cli", "chistore")
os.environ["CHISTORED"] = os.path.join(BUILD, "daemon", "chistored")
sys.path[:0] = [os.path.join(SOURCE, "tests", "system"), os.path.join(BUILD, "tests", "system")]

# pylint: disable=wrong-import-position
import golden
import harness
from pychistore import Connection, frame, pb

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
ENDING = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"
PASSED = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
SHUFFLED = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w FDfd - 0 1"

PLAYERS = ["Amber, Ida", "Birch, Otto", "Cedar, Una", "Dorn, Ivo", "Elm, Mara", "Fern, Leo", "Gale, Nils"]
LINES = [
    ("1/2-1/2", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7"),
    ("1-0", "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#"),
    ("0-1", "1. f3 e5 2. g4 Qh4#"),
    ("0-1", "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Nbd7 5. cxd5 exd5 6. Nxd5 Nxd5 7. Bxd8 Bb4+ 8. Qd2 "
            "Bxd2+ 9. Kxd2 Kxd8"),
    ("1/2-1/2", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6"),
    ("1-0", "1. e4 e5 2. Nf3 Nc6 3. Bc4 d6 4. Nc3 Bg4 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5#"),
    ("*", "1. e4 a6 2. e5 d5 3. exd6"),
]
ODD_GAMES = f"""\
[Event "Notes"]
[White "Amber, I"]
[Black "Birch, Otto"]
[Result "1-0"]
[Annotator "No one in particular"]

{{What all begin with.}} 1. e4 {{[%clk 0:03:00] [%eval 0.3]}} e5 $6 (1... c5 2. Nf3 (2. c3)) 2. Bc4 Nc6 3. Qh5 Nf6?? 4. Qxf7# 1-0

[Event "Cup 1, again"]
[Date "2021.02.11"]
[White "Birch, Oto"]
[Black "Cedar, U"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0

[Event "A promotion"]
[White "?"]
[Black "?"]
[Result "*"]
[SetUp "1"]
[FEN "8/P7/8/8/8/2k5/8/2K5 w - - 0 1"]

1. a8=Q Kd3 2. Qa3+ *

[Event "Shuffled"]
[White "Cedar, Una"]
[Black "Dorn, Ivo"]
[Result "1/2-1/2"]
[Variant "Chess960"]
[SetUp "1"]
[FEN "{SHUFFLED}"]

1. Nf3 Nf6 2. O-O O-O 1/2-1/2
"""
MORE_GAMES = """\
[Event "Later"]
[White "Elm, Mara"]
[Black "Hazel, Pia"]
[Result "1-0"]
[Date "2031.05.01"]

1. c4 e5 2. g3 1-0
"""


def games():
    """Games enough for lists of them in pieces, with a pair of twins in two spellings."""
    text = []
    for i in range(42):
        result, moves = LINES[i % len(LINES)]
        white, black = PLAYERS[i % 7], PLAYERS[(i + 1 + i // 7) % 7]
        text.append(f'[Event "Cup {i % 3}"]\n[Site "Somewhere"]\n[Date "20{20 + i % 10}.0{1 + i % 9}.1{i % 10}"]\n'
                    f'[Round "{1 + i // 7}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
                    f'[WhiteElo "{2000 + 7 * i}"]\n[BlackElo "{2300 - 5 * i}"]\n\n{moves} {result}\n\n')
    return "".join(text) + ODD_GAMES


def packed(numbers):
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def mark(hello, store, number):
    known = {known.name: known for known in hello.stores}[store]
    return pb.IdempotencyKey(client=bytes(range(16)), since=known.sequence, sequence=number, store=known.uuid)


class Recorder:
    """Says things to a daemon, and keeps what was said."""

    def __init__(self, address):
        self.connection = Connection(address)
        self.turns = []

    def say_bytes(self, title, data, count=None):
        bodies = golden.exchange(self.connection, data, lambda body: pb.Response.FromString(body).last, count)
        self.turns.append((title, data, bodies))
        return pb.Response.FromString(bodies[-1])

    def say(self, title, code=pb.OK, **request):
        request = pb.Request(id=self.connection.new_id(), **request)
        response = self.say_bytes(title, frame(request.SerializeToString()))
        assert response.code == code, (title, response)
        return response

    def import_text(self, title, name, text, **options):
        """Two turns: the data may be sent when they were granted."""
        id = self.connection.new_id()
        self.say_bytes(title, frame(pb.Request(id=id, import_games=pb.Import(**options)).SerializeToString()), 1)
        data = [pb.Request(id=id, import_data=pb.ImportData(file=name, data=text.encode())),
                pb.Request(id=id, import_end=pb.ImportEnd())]
        done = self.say_bytes(title + ", its data", b"".join(frame(one.SerializeToString()) for one in data))
        assert done.code == pb.OK, done


def ask(talk):
    """What changes nothing."""
    hello = talk.say("Hello", hello=pb.Hello(version=1, client="golden")).hello
    talk.say("Ping", ping=pb.Ping())
    talk.say("CheckDisk", check_disk=pb.CheckDisk())
    for store in golden.STORES:
        talk.say("Info of " + store, store=store, info=pb.Info())
        talk.say("Probe", store=store, probe=pb.Probe(fens=[START, AFTER_E4, ENDING, PASSED, SHUFFLED]))
        talk.say("Get", store=store, get=pb.Get(fens=[START, AFTER_E4, ENDING, PASSED, SHUFFLED]))
        talk.say("Scan, the strongest", store=store, scan=pb.Scan(chi2_min=1, chi2_max=25599, descending=True, want=pb.COUNTS, limit=5))
        talk.say("Scan, whole records", store=store, scan=pb.Scan(chi2_max=25599, order=pb.BY_POSITION, want=pb.RECORDS, limit=3))
        talk.say("Scan, filtered", store=store, scan=pb.Scan(
            chi2_max=25599, order=pb.BY_POSITION, filter=pb.Filter(pieces_max=5, side=pb.WHITE_TO_MOVE)))
        talk.say("Count", store=store, count=pb.Count(chi2_max=25599, filter=pb.Filter(material="KPvK")))
        talk.say("Explore", store=store, explore=pb.Explore(fen=START))
        talk.say("Stats by pieces", store=store, stats=pb.Stats(by=pb.PER_PIECES))
    talk.say("Scan by pattern", scan=pb.Scan(chi2_max=25599, order=pb.BY_POSITION, pattern="has Qh5"))
    talk.say("Games counted", games=pb.GameIds(limit=4))
    talk.say("GameQuery", game_query=pb.GameQuery(filter='white "Amber"', want=pb.TEXTS, want_total=True, limit=3))
    talk.say("GameQuery, whole", game_query=pb.GameQuery(filter="result *", want=pb.PGN, limit=2))
    talk.say("GameQuery, by rating", game_query=pb.GameQuery(filter="result 1-0", sort=pb.BY_RATING, descending=True, limit=3))
    talk.say("GetGame", get_game=pb.GetGame(number=43, whole=True))
    talk.say("GetHeads", get_heads=pb.GetHeads(numbers=packed([1, 2, 9999])))
    talk.say("Stats by year", stats=pb.Stats(by=pb.PER_YEAR))
    talk.say("Stats by player", stats=pb.Stats(by=pb.PER_PLAYER, filter="result 1-0"))
    talk.say("Names", names=pb.Names(kind=pb.PLAYER, wanted="amber", limit=10))
    talk.say("Suspects", suspects=pb.Suspects(kind=pb.PLAYER, least=60, limit=10))
    talk.say("Gamesets", gamesets=pb.Gamesets())
    talk.say("Twins", twins=pb.Twins(days=100, plies=6))
    talk.say("Insight, tempo", insight=pb.Insight(kind=pb.TEMPO, min_games=2, limit=5))
    talk.say("Insight, performance", insight=pb.Insight(kind=pb.PERFORMANCE, min_games=5, limit=5))
    talk.say("QueueList", store="positions", queue_list=pb.QueueList(state=pb.WAITING, limit=10))
    # The same, refused.
    talk.say("no FEN", pb.BAD_FEN, get=pb.Get(fens=["9/8/8/8/8/8/8/8 w - - 0 1"]))
    talk.say("no key", pb.BAD_KEY, probe=pb.Probe(keys=b"\x09" + bytes(9)))
    talk.say("no filter", pb.BAD_SYNTAX, game_query=pb.GameQuery(filter="weather fine"))
    talk.say("no such store", pb.NO_SUCH_STORE, store="elsewhere", info=pb.Info())
    talk.say("out of range", pb.INVALID, scan=pb.Scan(chi2_min=2, chi2_max=1))
    talk.say("a second Hello", pb.INVALID, hello=pb.Hello(version=1))
    talk.say("no games kept", pb.UNSUPPORTED, store="positions", get_game=pb.GetGame(number=1))
    odd = pb.Request(id=talk.connection.new_id()).SerializeToString()
    talk.say_bytes("an unknown operation", frame(odd + b"\xba\x7d\x00"))
    odd = pb.Request(id=talk.connection.new_id(), ping=pb.Ping()).SerializeToString()
    talk.say_bytes("an unknown field", frame(odd + b"\xb8\x7d\x07"))
    return hello


def change(talk, hello):
    """What writes, and what came of it. A marked write is sent twice and done once."""
    key = mark(hello, "positions", 100)
    entry = pb.PutEntry(fen=ENDING, parts=4 | 32, record=pb.Record(counts=pb.Counts(white=1), note="again"))
    for title in ("Put, marked", "the same again"):
        talk.say(title, store="positions", idempotency_key=key, put=pb.Put(entries=[entry]))
    talk.say("Outcome", store="positions", idempotency_key=key, outcome=pb.Outcome())
    talk.say("Get of it", store="positions", get=pb.Get(fens=[ENDING]))
    talk.say("a move that is none", pb.BAD_MOVE, store="positions", put=pb.Put(entries=[
        pb.PutEntry(fen=START, parts=16, record=pb.Record(line=[12 * 64 + 36]))]))
    talk.say("Delete", store="positions", delete=pb.Delete(fens=[PASSED, "8/8/8/8/8/8/8/K1k5 w - - 0 1"]))
    talk.say("QueueAdd", store="positions", queue_add=pb.QueueAdd(fens=[ENDING], priority=9))
    taken = talk.say("QueueTake", store="positions", queue_take=pb.QueueTake(holder="golden", lease_ms=604800000, limit=1))
    talk.say("QueueSettle", store="positions", queue_settle=pb.QueueSettle(
        fens=[ENDING], lease=taken.queue_take.lease, action=pb.DONE))
    talk.say("Rescore", rescore=pb.Rescore())
    talk.say("ChangeNames", change_names=pb.ChangeNames(changes=[
        pb.NameChange(action=pb.JOIN, kind=pb.PLAYER, name="Birch, Otto", to="Cedar, Una"),
        pb.NameChange(action=pb.PART, kind=pb.PLAYER, name="Dorn, Ivo")]))
    talk.say("MakeGameset", make_gameset=pb.MakeGameset(name="draws", filter="result 1/2-1/2"))
    talk.say("MakeGameset of that name", pb.EXISTS, make_gameset=pb.MakeGameset(name="draws", filter="result *"))
    talk.say("DropGameset", drop_gameset=pb.DropGameset(name="wins"))
    talk.import_text("Import of games", "later.pgn", MORE_GAMES, kind=pb.ADD_GAMES)
    talk.import_text("taken out again", "later.pgn", MORE_GAMES, kind=pb.SUBTRACT_GAMES)
    talk.say("Compact", compact=pb.Compact())
    for store in golden.STORES:
        talk.say("Verify", store=store, verify=pb.Verify())


def cli(address, *args):
    done = harness.run_cli("--quiet", *args, address=address)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def make_stores(stores):
    """One with games and one of positions without, with something in each tree."""
    place = harness.make_temp_dir()
    pgn = os.path.join(place, "golden.pgn")
    with open(pgn, "w", encoding="utf-8") as file:
        file.write(games())
    cli(stores["default"], "init", "--statistic", "score")
    cli(stores["default"], "import", pgn)
    cli(stores["default"], "gameset", "create", "wins", "--result", "1-0")
    cli(stores["default"], "name", "alias", "Amber, I", "Amber, Ida")
    cli(stores["default"], "rescore")
    cli(stores["positions"], "init", "--statistic", "control", "--games", "none")
    cli(stores["positions"], "put", START, "--line", "e2e4 e7e5", "--note", "where all begins\ttwice",
        "--eval", "one:20:35", "--eval", "two:18:-7", "--counts", "3,2,1")
    cli(stores["positions"], "put", AFTER_E4, "--eval", "one:19:mate-3")
    for fen in (ENDING, PASSED, SHUFFLED):
        cli(stores["positions"], "put", fen)
    cli(stores["positions"], "queue", "add", START, "--priority", "3")
    cli(stores["positions"], "queue", "add", PASSED)


def main():
    place = harness.make_temp_dir()
    stores = {name: os.path.join(place, name) for name in golden.STORES}
    make_stores(stores)
    # A marked write, so that the store remembers a client.
    with harness.start_daemon(stores) as daemon:
        cli(daemon.address, "--store", "positions", "put", "8/8/8/8/8/2k5/8/K7 w - - 0 1", "--note", "by a client")
        version = cli(daemon.address, "--version").split()[1]
    folder = os.path.join(golden.ROOT, version)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(os.path.join(SOURCE, "proto", "chistore.proto"), folder)
    for name, path in stores.items():
        cli(path, "compact")
        os.mkdir(os.path.join(folder, name))
        shutil.copy(os.path.join(path, "data.mdb"), os.path.join(folder, name))
        with open(os.path.join(folder, name + ".dump"), "w", encoding="utf-8", newline="") as file:
            file.write(cli(path, "dump"))
    with harness.start_daemon(stores) as daemon:
        talk = Recorder(daemon.address)
        change(talk, ask(talk))
    golden.write_conversation(os.path.join(folder, "conversation.hex"), talk.turns)
    subprocess.run(["du", "-ab", folder], check=True)


main()
