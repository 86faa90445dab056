# SPDX-License-Identifier: MIT
"""Every operation of the protocol, and every misuse that PROTOCOL.md names, against the real
daemon; with the client that was written from PROTOCOL.md alone."""

import collections
import itertools
import os
import re
import unittest

import harness
import pychistore
from pychistore import Client, Closed, Failure, Row, frame, move, pb, put_varint

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOL = os.path.join(HERE, "..", "..", "proto", "PROTOCOL.md")

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
START_KEY = bytes.fromhex("ffff00000000ffff7315213744444444ccccccccfb9da9bf")
E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
E4_KEY = bytes.fromhex("fff700080000ffff7315213744444444ccccccccfb9d09bf")
KINGS = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"
KINGS_KEY = bytes.fromhex("08000000000000082a")
NINE = "rnbqkbnrr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

WHITE_KING, WHITE_ROOK, BLACK_KING = 2, 6, 10

# Bodies of pings for the splitting of streams.
SIZES = range(10, 130)

# Enough for several responses to a scan, as one has at most 10,000 rows.
MANY = 45000


def make_key(pieces):
    """A position key from {square: nibble}."""
    squares = sorted(pieces)
    mask = sum(1 << (63 - square) for square in squares)
    nibbles = [pieces[square] for square in squares]
    nibbles += [0] * (len(nibbles) % 2)
    packed = bytes(nibbles[i] << 4 | nibbles[i + 1] for i in range(0, len(nibbles), 2))
    return mask.to_bytes(8, "big") + packed


def rook_endings():
    """Keys of king and rook against king, White to move."""
    for white, black, rook in itertools.permutations(range(64), 3):
        yield make_key({white: WHITE_KING, black: BLACK_KING, rook: WHITE_ROOK})


def entry(key=b"", fen="", parts=0, **record):
    return pb.PutEntry(key=key, fen=fen, parts=parts,
                       record=pb.Record(**record) if record else None)


def sized_ping(size, id=1):
    """A Ping of exactly `size` bytes, filled up with an unknown field."""
    body = pb.Request(id=id, ping=pb.Ping()).SerializeToString()
    tag = put_varint(100 << 3 | 2)
    for width in range(1, 5):
        rest = size - len(body) - len(tag) - width
        if rest >= 0 and len(put_varint(rest)) == width:
            return body + tag + put_varint(rest) + b"x" * rest
    raise ValueError(size)


def say(field, value):
    """A number as the examples print it."""
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    if field.type == field.TYPE_BOOL:
        return "true" if value else "false"
    if field.type in (field.TYPE_SINT32, field.TYPE_SINT64):
        value = value >> 1 ^ -(value & 1)
    elif field.type in (field.TYPE_INT32, field.TYPE_INT64) and value >> 63:
        value -= 1 << 64
    return str(value)


def meaning(data, first, end, message):
    """{offset: what is said there} of the fields between two offsets, those of messages too."""
    said = {}
    while first < end:
        start = first
        tag, first = pychistore.take_varint(data, first)
        field = message.fields_by_number[tag >> 3]
        value, first = pychistore.take_varint(data, first)
        if tag & 7 == 0:
            said[start] = f"{field.name} = {say(field, value)}"
            continue
        said[start] = f"{field.name}, " + (f"{value} byte{'s' * (value != 1)}" if value else "empty")
        if field.message_type is not None:
            said |= meaning(data, first, first + value, field.message_type)
        elif field.type == field.TYPE_STRING:
            said[first] = '"' + data[first:first + value].decode() + '"'
        first += value
    return said


class ProtocolTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stores = {"default": harness.make_store(statistic="external"),
                  "control": harness.make_store(statistic="control"),
                  "outcome": harness.make_store(statistic="outcome"),
                  "many": harness.make_store(statistic="external")}
        path = os.path.join(harness.make_temp_dir(), "socket")
        cls.daemon = harness.start_daemon(stores, ["unix:" + path, "tcp:127.0.0.1:0"])
        cls.addClassCleanup(cls.stop_daemon)

    @classmethod
    def stop_daemon(cls):
        code = cls.daemon.stop()
        assert code in (0, None), f"chistored stopped with {code}:\n{cls.daemon.stderr_text()}"

    def setUp(self):
        self.client = self.connect()

    def connect(self, **more):
        return self.enterContext(Client(self.daemon.address, **more))

    def assertFails(self, code, call, *args, field=None, **more):
        with self.assertRaises(Failure) as caught:
            call(*args, **more)
        self.assertEqual(pychistore.code_name(caught.exception.code), pychistore.code_name(code),
                         str(caught.exception))
        if field is not None:
            self.assertEqual(caught.exception.field, field)
        self.assertTrue(caught.exception.response.message)
        self.assertTrue(caught.exception.response.last)
        self.client.ping()


class TheDocument(unittest.TestCase):
    def test_what_is_said_of_bytes_is_what_they_mean(self):
        with open(PROTOCOL, encoding="utf-8") as file:
            blocks = re.findall(r"^```hex (\S+)\n(.*?)^```", file.read(), re.M | re.S)
        for name, text in blocks:
            lines = [line.partition(";")[::2] for line in text.splitlines()]
            data = bytes.fromhex("".join(line for line, _ in lines))
            length, at = pychistore.take_varint(data, 0)
            message = pb.Request if name.endswith("-request") else pb.Response
            said = meaning(data, at, len(data), message.DESCRIPTOR)
            said[0] = f"a message of {length} bytes"
            at = 0
            for line, comment in lines:
                if comment:
                    wanted = said.pop(at, None)
                    with self.subTest(example=name, line=line):
                        # Inside bytes, and of what they hold, the document speaks as it likes.
                        if wanted is not None:
                            self.assertEqual(comment.replace("\\", "").strip()[:len(wanted)],
                                             wanted)
                at += len(bytes.fromhex(line))
            self.assertEqual(said, {}, f"{name}: nothing is said of these")

    def test_examples_are_protobuf(self):
        """What the C code writes is what Google's library writes."""
        with open(PROTOCOL, encoding="utf-8") as file:
            blocks = re.findall(r"^```hex (\S+)\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 30)
        for name, text in blocks:
            data = bytes.fromhex("".join(line.split(";")[0] for line in text.splitlines()))
            length, start = pychistore.take_varint(data, 0)
            self.assertEqual(len(data), start + length, name)
            message = (pb.Request if name.endswith("request") else pb.Response)()
            message.ParseFromString(data[start:])
            self.assertEqual(message.SerializeToString(deterministic=True), data[start:], name)

    def send_part(self, client, text, id):
        data = bytes.fromhex("".join(line.split(";")[0] for line in text.splitlines()))
        request = pb.Request.FromString(data[pychistore.take_varint(data, 0)[1]:])
        operation = request.WhichOneof("op")
        client.send(id=id, **{operation: getattr(request, operation)})

    def test_examples_can_be_sent(self):
        """A server that holds nothing takes every request of the document as it is."""
        with open(PROTOCOL, encoding="utf-8") as file:
            blocks = dict(re.findall(r"^```hex (\S+)\n(.*?)^```", file.read(), re.M | re.S))
        stores = {"default": harness.make_store(statistic="control"),
                  "masters": harness.make_store(statistic="outcome")}
        path = os.path.join(harness.make_temp_dir(), "socket")
        with harness.start_daemon(stores, ["unix:" + path]) as daemon:
            with Client(daemon.address) as client:
                for name, text in blocks.items():
                    if not name.endswith("-request") or name.startswith(
                            ("hello", "credit", "cancel", "import-data", "import-end")):
                        continue
                    data = bytes.fromhex("".join(l.split(";")[0] for l in text.splitlines()))
                    _, start = pychistore.take_varint(data, 0)
                    request = pb.Request.FromString(data[start:])
                    operation = request.WhichOneof("op")
                    # The document's mark is of another store, which has no part in its outcome.
                    if operation == "outcome":
                        more = {"idempotency_key": pychistore.Marks(client).next()}
                    else:
                        more = {}
                    id = client.send(store=request.store, **more,
                                     **{operation: getattr(request, operation)})
                    response = client.answer(id)
                    if name == "import-request":
                        # What belongs to it carries its id.
                        for part in ("import-data-request", "import-end-request"):
                            self.send_part(client, blocks[part], id)
                    while not response.last:
                        response = client.answer(id)
                    self.assertEqual(response.code, pb.OK, (name, response.message))


class Greeting(ProtocolTest):
    def test_hello(self):
        hello = self.client.server
        self.assertEqual(hello.version, 1)
        self.assertRegex(hello.server, "^chistored ")
        self.assertEqual(hello.limits, pb.Limits(
            request_bytes=1 << 20, response_bytes=4 << 20, probe_positions=4096,
            put_entries=10000, requests_in_flight=64, scan_rows=10000))
        kinds = {store.name: store.statistic for store in hello.stores}
        self.assertEqual(kinds, {"default": pb.EXTERNAL, "control": pb.CONTROL,
                                 "outcome": pb.OUTCOME, "many": pb.EXTERNAL})
        self.assertTrue(all(store.writable for store in hello.stores))

    def test_wrong_version(self):
        for version in (0, 2, 2**32 - 1):
            client = self.connect(hello=False)
            with self.assertRaises(Failure) as caught:
                client.hello(version=version)
            self.assertEqual(caught.exception.code, pb.WRONG_VERSION)
            self.assertEqual(caught.exception.field, "hello.version")
            self.assertTrue(client.at_end())

    def test_second_hello(self):
        self.assertFails(pb.INVALID, self.client.hello)

    def test_tcp(self):
        if self.daemon.tcp_address is None:
            self.skipTest("the daemon does not listen on TCP")
        with Client(self.daemon.tcp_address) as client:
            client.ping()


class Framing(ProtocolTest):
    def test_size_of_a_request(self):
        limit = self.client.server.limits.request_bytes
        for size in (limit - 1, limit):
            id = self.client.new_id()
            self.client.send_bytes(frame(sized_ping(size, id)))
            self.assertEqual(self.client.answer(id).code, pb.OK)
        # The head alone is enough to be refused.
        self.client.send_bytes(put_varint(limit + 1))
        response = self.client.receive()
        self.assertEqual((response.id, response.code, response.last), (0, pb.TOO_LARGE, True))
        self.assertTrue(self.client.at_end())

    def test_wrong_heads(self):
        for head, code in ((b"\x00", pb.MALFORMED), (b"\x81\x00", pb.MALFORMED),
                           (b"\x80\x80\x00", pb.MALFORMED), (b"\xff\xff\xff\xff", pb.TOO_LARGE)):
            client = self.connect()
            client.send_bytes(head)
            response = client.receive()
            self.assertEqual((response.id, response.code, response.last), (0, code, True))
            self.assertTrue(client.at_end())
        self.client.ping()

    def test_any_split(self):
        stream = b"".join(frame(sized_ping(size, size)) for size in SIZES)
        for byte in stream[:600]:
            self.client.send_bytes(bytes([byte]))
        self.client.send_bytes(stream[600:])
        for size in SIZES:
            self.assertEqual(self.client.receive().id, size)

    def test_truncated(self):
        whole = frame(pb.Request(id=1, put=pb.Put(entries=[entry(fen=START)])).SerializeToString())
        for cut in range(len(whole)):
            with Client(self.daemon.address) as client:
                client.send_bytes(whole[:cut])
                client.end_sending()
                self.assertTrue(client.at_end())
        self.assertFalse(self.client.probe(fens=[START])[0].found)

    def test_answers_after_the_end_of_sending(self):
        ids = [self.client.send(ping=pb.Ping()) for _ in range(10)]
        ids.append(self.client.send(put=pb.Put(entries=[entry(fen=KINGS)])))
        self.client.end_sending()
        self.assertEqual({self.client.receive().id for _ in ids}, set(ids))
        self.assertTrue(self.client.at_end())
        self.connect().delete(fens=[KINGS])


class Messages(ProtocolTest):
    def raw(self, body):
        self.client.send_bytes(frame(body))
        return self.client.receive()

    def test_malformed(self):
        for body in (b"\x08\x07\x8a\x01\x05", b"\x08\x07\x00\x00", b"\x08\x07\x8b\x01"):
            client = self.connect()
            client.send_bytes(frame(body))
            response = client.receive()
            self.assertEqual((response.id, response.code), (7, pb.MALFORMED))
            self.assertTrue(client.at_end())

    def test_unknown_operation(self):
        for body in (b"\x08\x07", b"\x08\x07" + put_varint(99 << 3 | 2) + b"\x00"):
            response = self.raw(body)
            self.assertEqual((response.id, response.code), (7, pb.UNKNOWN_OPERATION))
            self.assertTrue(response.last)
        self.client.ping()

    def test_unknown_field(self):
        response = self.raw(sized_ping(40, 7))
        self.assertEqual((response.id, response.code), (7, pb.OK))
        # Inside an operation too.
        inner = put_varint(15 << 3) + b"\x01"
        response = self.raw(b"\x08\x08\x8a\x01" + put_varint(len(inner)) + inner)
        self.assertEqual((response.id, response.code), (8, pb.OK))

    def test_what_protobuf_would_bear(self):
        for body, field in ((b"\x08\x07\x8a\x01\x00\x92\x01\x00", "info"),
                            (b"\x08\x07\xf2\x01\x04\x0a\x00\x0a\x00", "rescore.base_rates"),
                            (b"\x08\x07\xba\x01\x02\x20\x09", "scan.order"),
                            (b"\x08\x07\xba\x01\x06\x08\x80\x80\x80\x80\x10", "scan.chi2_min"),
                            (b"\x08\x07\x12\x01\xff\x92\x01\x00", "store"),
                            (b"\x08\x07\x12\x02a\x00\x92\x01\x00", "store"),
                            (b"\x08\x07\x88\x01\x00", "ping")):
            response = self.raw(body)
            self.assertEqual((response.id, response.code, response.field),
                             (7, pb.INVALID, field))
        self.client.ping()

    def test_id(self):
        response = self.raw(pb.Request(ping=pb.Ping()).SerializeToString())
        self.assertEqual((response.id, response.code, response.field), (0, pb.INVALID, "id"))
        self.assertEqual(self.client.answer(self.client.send(id=2**64 - 1, ping=pb.Ping())).code,
                         pb.OK)

    def test_stores(self):
        self.assertFails(pb.NO_SUCH_STORE, self.client.info, store="nowhere", field="store")
        self.assertFails(pb.INVALID, self.client.info, store="../x", field="store")
        self.assertFails(pb.NO_SUCH_STORE, self.client.info, store="s" * 64, field="store")
        self.assertFails(pb.TOO_LARGE, self.client.info, store="s" * 65, field="store")
        self.assertEqual(self.client.info(store="default").uuid, self.client.info().uuid)

    def test_memory_of_a_request(self):
        # Within every count: 2,200 entries of 64 evaluations that hardly say anything.
        evals = [pb.Eval(engine=chr(0x20 + n), centipawns=0) for n in range(64)]
        entries = [entry(key=KINGS_KEY, parts=pychistore.EVALS, evals=evals)] * 2200
        body = pb.Request(id=7, put=pb.Put(entries=entries)).SerializeToString()
        self.assertLessEqual(len(body), self.client.server.limits.request_bytes)
        response = self.raw(body)
        self.assertEqual((response.id, response.code), (7, pb.TOO_LARGE))
        self.client.ping()


class Operations(ProtocolTest):
    def tearDown(self):
        with Client(self.daemon.address) as client:
            for store in ("default", "control", "outcome"):
                client.delete(fens=[START, E4, KINGS], store=store)

    def test_info(self):
        before = self.client.info()
        self.client.put([entry(fen=START, parts=pychistore.CHI2, chi2=1234), entry(fen=E4)])
        after = self.client.info()
        self.assertEqual(len(after.uuid), 16)
        self.assertEqual(after.statistic, pb.EXTERNAL)
        self.assertEqual(after.positions, before.positions + 2)
        self.assertEqual(after.known, before.known + 1)
        self.assertGreater(after.sequence, before.sequence)
        self.assertGreater(after.map_bytes, after.file_bytes)
        self.assertNotEqual(after.uuid, self.client.info(store="control").uuid)

    def test_probe(self):
        self.client.put([entry(fen=START, parts=pychistore.CHI2 | pychistore.COUNTS, chi2=25599,
                               counts=pb.Counts(white=2**63, draws=300, other=1))])
        rows = self.client.probe(keys=[KINGS_KEY, START_KEY], fens=[START, E4])
        start = Row(START_KEY, True, 25599, pychistore.Counts(2**63, 300, 0, 1))
        self.assertEqual(rows, [Row(KINGS_KEY, False, None, None), start, start,
                                Row(E4_KEY, False, None, None)])
        self.assertEqual(self.client.probe(), [])

    def test_positions_print_back(self):
        for fen, key in ((START, START_KEY), (E4, E4_KEY), (KINGS, KINGS_KEY)):
            self.assertEqual(self.client.probe(fens=[fen])[0].key, key)
            self.assertEqual(list(pychistore.placement(key)), fen.split()[:2])

    def test_wrong_positions_are_named(self):
        for name, call in (("probe", self.client.probe), ("get", self.client.get),
                           ("delete", self.client.delete)):
            self.assertFails(pb.BAD_FEN, call, fens=[START, START, NINE], field=name + ".fens[2]")
            self.assertFails(pb.BAD_FEN, call, fens=["x" * 128], field=name + ".fens[0]")
            self.assertFails(pb.TOO_LARGE, call, fens=["x" * 129], field=name + ".fens[0]")
            self.assertFails(pb.BAD_KEY, call, keys=[KINGS_KEY, b"\1" * 8],
                             field=name + ".keys[1]")
            self.assertFails(pb.BAD_KEY, call, keys=[KINGS_KEY + b"\0"], field=name + ".keys[0]")

    def test_put_and_get_a_whole_record(self):
        full = pb.Record(
            chi2=4711, counts=pb.Counts(white=5, draws=4, black=3, other=2),
            moves=[pb.MoveStat(move=move("e2e4"), counts=pb.Counts(white=5, black=3)),
                   pb.MoveStat(move=move("d2d4"), counts=pb.Counts(draws=4))],
            evals=[pb.Eval(engine="A", depth=0, mate=-3),
                   pb.Eval(engine="B 1.0", depth=30, centipawns=0, nodes=2**63, date=1700000000,
                           pv=[move("e2e4"), move("e7e5")])],
            line=[move("g1f3"), move("g8f6")], note="Grundstellung \u2656")
        full.moves.sort(key=lambda stat: stat.move)
        result = self.client.put([pb.PutEntry(fen=START, parts=pychistore.RESTORE, record=full)])
        self.assertEqual((result.added, result.updated, result.unchanged), (1, 0, 0))
        found, missing = self.client.get(keys=[START_KEY, KINGS_KEY])
        self.assertEqual((found.key, found.found, found.record), (START_KEY, True, full))
        self.assertEqual((missing.key, missing.found), (KINGS_KEY, False))
        self.assertFalse(missing.HasField("record"))

    def test_explore(self):
        e4, d4 = move("e2e4"), move("d2d4")
        played = {e4: pb.Counts(white=2, other=2**40), d4: pb.Counts(draws=4)}
        self.client.put([
            entry(fen=START, parts=pychistore.RESTORE, chi2=921,
                  counts=pb.Counts(white=5, draws=4, black=3, other=2**40),
                  moves=[pb.MoveStat(move=m, counts=played[m]) for m in sorted(played)],
                  plies=[pb.PlyStat(ply=0, games=7)]),
            entry(fen=E4, parts=pychistore.CHI2 | pychistore.COUNTS | pychistore.EVALS, chi2=25599,
                  counts=pb.Counts(black=2**63),
                  evals=[pb.Eval(engine="A", depth=20, centipawns=-35),
                         pb.Eval(engine="B", depth=9, mate=3)])])
        for result in (self.client.explore(key=START_KEY), self.client.explore(fen=START)):
            self.assertEqual(
                (result.position.key, result.position.found, result.position.chi2, result.min_ply,
                 result.position.counts.white, result.position.counts.other, result.eco,
                 result.opening), (START_KEY, True, 921, 0, 5, 2**40, "", ""))
            self.assertEqual((result.position.best, result.position.best_source), (e4, 3))
            first, second = result.moves
            self.assertEqual(
                (first.move, first.played, first.eco, first.opening),
                (e4, played[e4], "B00", "King's Pawn Game"))
            self.assertEqual(first.child, pb.Row(
                key=E4_KEY, found=True, chi2=25599, counts=pb.Counts(black=2**63), has_eval=True,
                depth=20, score=-35))
            self.assertEqual((second.move, second.played, second.child.found, second.eco,
                              second.child.has_eval), (d4, played[d4], False, "A40", False))
        # Not stored, and not in vain: others may have got behind it.
        self.client.delete(fens=[START])
        result = self.client.explore(fen=START)
        self.assertEqual((result.position.found, result.min_ply, [m.move for m in result.moves]),
                         (False, -1, [e4]))
        # Nothing to say of a position beside all.
        self.assertEqual(len(self.client.explore(key=KINGS_KEY).moves), 0)

    def test_wrong_explorations_are_named(self):
        explore = self.client.explore
        self.assertFails(pb.INVALID, explore)
        self.assertFails(pb.INVALID, explore, key=START_KEY, fen=START)
        self.assertFails(pb.BAD_FEN, explore, fen=NINE, field="explore.fen")
        self.assertFails(pb.BAD_FEN, explore, fen="x" * 128, field="explore.fen")
        self.assertFails(pb.TOO_LARGE, explore, fen="x" * 129, field="explore.fen")
        self.assertFails(pb.BAD_KEY, explore, key=b"\1" * 8, field="explore.key")
        self.assertFails(pb.BAD_KEY, explore, key=START_KEY + b"\0", field="explore.key")
        # Of the right length, but a white pawn on the first rank.
        self.assertFails(pb.BAD_KEY, explore, key=b"\x80" + 7 * b"\0" + b"\x40",
                         field="explore.key")
        self.assertFails(pb.NO_SUCH_STORE, explore, key=START_KEY, store="nonesuch")

    def test_parts(self):
        put = self.client.put
        put([entry(fen=START, parts=pychistore.COUNTS | pychistore.NOTE | pychistore.LINE,
                   counts=pb.Counts(white=1), note="one", line=[move("e2e4")])])
        put([entry(fen=START, parts=pychistore.ADD, note="ignored",
                   counts=pb.Counts(white=2, draws=1),
                   moves=[pb.MoveStat(move=move("e2e4"), counts=pb.Counts(white=2))])])
        record = self.client.get(fens=[START])[0].record
        self.assertEqual((record.counts.white, record.counts.draws, record.note), (3, 1, "one"))
        self.assertEqual(record.moves[0].counts.white, 2)
        put([entry(fen=START, parts=pychistore.NOTE)])
        record = self.client.get(fens=[START])[0].record
        self.assertEqual((record.note, list(record.line)), ("", [move("e2e4")]))
        result = put([entry(fen=START)])
        self.assertEqual((result.added, result.updated, result.unchanged), (0, 0, 1))

    def test_adding_beyond_what_fits(self):
        fen = "4k3/8/8/8/8/8/8/3KQ3 w - - 0 1"
        self.client.put([entry(fen=fen, parts=2, counts=pb.Counts(white=2**64 - 2))])
        one = entry(fen=fen, parts=pychistore.ADD, counts=pb.Counts(black=1))
        self.client.put([one])
        self.assertFails(pb.TOO_LARGE, self.client.put, [one], field="put.entries[0]")
        counts = self.client.get(fens=[fen])[0].record.counts
        self.assertEqual((counts.white, counts.black), (2**64 - 2, 1))
        self.client.delete(fens=[fen])

    def test_put_names_the_fault_and_stores_nothing(self):
        good = [entry(fen=fen) for fen in (START, E4, KINGS)]
        cases = (
            (pb.BAD_FEN, "fen", entry(fen=NINE)),
            (pb.INVALID, "fen", entry(fen=START, key=START_KEY)),
            (pb.INVALID, "record.evals[0].centipawns", entry(fen=START, parts=64, evals=[pb.Eval(engine="E")])),
            # Too much for a message, named or not.
            (pb.TOO_LARGE, "record.note", entry(fen=START, parts=0, note="n" * 65537)),
        )
        for code, field, bad in cases:
            with self.subTest(field=field, code=code):
                with self.assertRaises(Failure) as caught:
                    self.client.put(good + [bad])
                failure = caught.exception
                self.assertEqual(pychistore.code_name(failure.code), pychistore.code_name(code),
                                 str(failure))
                self.assertEqual(failure.field, "put.entries[3]." + field)
        self.assertFalse(any(row.found for row in self.client.probe(fens=[START, E4, KINGS])))

    def test_records_that_fit_no_answer(self):
        keys = list(itertools.islice(rook_endings(), 65))
        for start in range(0, 65, 13):
            self.client.put([entry(key=key, parts=pychistore.NOTE, note="n" * 65536)
                             for key in keys[start:start + 13]])
        for n in (62, 63):
            self.assertEqual({len(each.record.note) for each in self.client.get(keys=keys[:n])},
                             {65536})
        for n in (64, 65):
            self.assertFails(pb.TOO_LARGE, self.client.get, keys=keys[:n])
            with self.assertRaisesRegex(Failure, "number 63 on"):
                self.client.get(keys=keys[:n])
        self.client.delete(keys=keys)

    def test_statistic_is_computed(self):
        self.client.put([entry(fen=START)], store="control")
        self.assertEqual(self.client.probe(fens=[START], store="control")[0].chi2, 7600)
        self.assertFails(pb.INVALID, self.client.put,
                         [entry(fen=START, parts=pychistore.CHI2, chi2=1)], store="control")

    def test_async(self):
        self.client.put([entry(fen=START)], durability=pb.ASYNC)
        self.client.put([])
        self.assertTrue(self.client.probe(fens=[START])[0].found)
        self.assertEqual(self.client.delete(fens=[START], durability=pb.ASYNC), 1)
        self.client.put([])
        self.assertFalse(self.client.probe(fens=[START])[0].found)

    def test_delete(self):
        self.client.put([entry(fen=START), entry(fen=E4)])
        self.assertEqual(self.client.delete(keys=[KINGS_KEY, E4_KEY], fens=[START]), 2)
        self.assertEqual(self.client.delete(fens=[START]), 0)

    def test_empty_batches(self):
        result = self.client.put([])
        self.assertEqual((result.added, result.updated, result.unchanged), (0, 0, 0))
        self.assertEqual(self.client.delete(), 0)
        self.assertEqual(self.client.get(), [])

    def test_rescore(self):
        self.assertFails(pb.UNSUPPORTED, self.client.rescore)
        counts = pb.Counts(white=50, draws=10, black=40)
        self.client.put([entry(fen=START, parts=pychistore.COUNTS, counts=counts)],
                        store="outcome")
        base = pb.Counts(white=1, draws=1, black=1)
        self.client.rescore(base_rates=base, store="outcome")
        self.assertEqual(self.client.info(store="outcome").base_rates, base)
        # (50 - 33.3)^2 + (10 - 33.3)^2 + (40 - 33.3)^2 over 33.3 is 26.00.
        self.assertEqual(self.client.probe(fens=[START], store="outcome")[0].chi2, 2600)
        self.assertEqual(self.client.rescore(base_rates=base, store="outcome"), 0)
        self.client.rescore(store="outcome")
        self.assertEqual(self.client.info(store="outcome").base_rates, counts)

    def test_base_rates_in_put(self):
        base = pb.Counts(white=38, draws=34, black=28)
        self.client.put([], base_rates=base, store="outcome")
        self.assertEqual(self.client.info(store="outcome").base_rates, base)

    def test_verify_and_compact(self):
        self.client.put([entry(fen=START), entry(fen=E4)], store="control")
        reports, total = self.client.verify(store="control")
        self.assertEqual((reports, total.errors), ([], 0))
        self.assertEqual(total.positions, self.client.info(store="control").positions)
        before, after = self.client.compact(store="control")
        self.assertGreaterEqual(before, after)
        self.assertGreater(after, 0)
        self.assertTrue(self.client.probe(fens=[START], store="control")[0].found)

    def test_pipelining(self):
        self.client.put([entry(fen=START)])
        probes = {self.client.send(probe=pb.Probe(fens=[START] * (n + 1))): n + 1
                  for n in range(64)}
        for _ in range(64):
            response = self.client.receive()
            self.assertEqual(response.code, pb.OK)
            self.assertEqual(response.probe.count, probes.pop(response.id))
        self.assertEqual(probes, {})

    def test_many_writes_at_once(self):
        keys = list(itertools.islice(rook_endings(), 64))
        ids = {self.client.send(put=pb.Put(entries=[entry(key=key)])) for key in keys}
        self.assertEqual({self.client.receive().id for _ in keys}, ids)
        self.assertEqual(self.client.delete(keys=keys), 64)


class Scans(ProtocolTest):
    """A store of many positions: the n-th rook ending has the statistic n % 1000 + 1 and n games,
    but every hundredth has none that is known."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = list(itertools.islice(rook_endings(), MANY))
        cls.chi2 = {key: 0 if n % 100 == 0 else n % 1000 + 1 for n, key in enumerate(cls.keys)}
        parts = pychistore.CHI2 | pychistore.COUNTS
        with Client(cls.daemon.address) as client:
            for at in range(0, MANY, 5000):
                client.put([entry(key=key, parts=parts if cls.chi2[key] else pychistore.COUNTS,
                                  chi2=cls.chi2[key], counts=pb.Counts(draws=at + n))
                            for n, key in enumerate(cls.keys[at:at + 5000])],
                           durability=pb.ASYNC, store="many")
            client.put([], store="many")
        cls.by_strength = sorted(cls.keys, key=lambda key: (cls.chi2[key], key))

    def assertEqual(self, first, second, message=None):
        """Without printing thousands of keys when lists differ."""
        if isinstance(first, list) and len(first) > 100:
            self.assertTrue(first == second, message or f"{len(first)} and {len(second)} differ")
        else:
            super().assertEqual(first, second, message)

    def keys_of(self, rows):
        return [row.key for row in rows]

    def test_whole(self):
        done = self.client.scan(store="many")
        self.assertEqual(self.keys_of(done.rows), self.by_strength)
        self.assertEqual([row.chi2 or 0 for row in done.rows],
                         [self.chi2[key] for key in self.by_strength])
        self.assertTrue(all(row.found and row.counts is None for row in done.rows))
        self.assertGreaterEqual(done.responses, MANY // 10000 + 1)
        self.assertFalse(done.mixed)

    def test_descending(self):
        done = self.client.scan(store="many", descending=True)
        self.assertEqual(self.keys_of(done.rows), self.by_strength[::-1])

    def test_by_position(self):
        done = self.client.scan(store="many", order=pb.BY_POSITION, chi2_min=500, chi2_max=600)
        self.assertEqual(self.keys_of(done.rows),
                         sorted(key for key in self.keys if 500 <= self.chi2[key] <= 600))

    def test_bands(self):
        for low, high in ((0, 0), (0, 1), (1, 1), (2, 2), (999, 25599), (1000, 25599), (1001, 5000)):
            expected = [key for key in self.by_strength if low <= self.chi2[key] <= high]
            done = self.client.scan(store="many", chi2_min=low, chi2_max=high)
            self.assertEqual(self.keys_of(done.rows), expected)
            self.assertEqual(self.client.count(low, high, store="many"), len(expected))

    def test_counts(self):
        done = self.client.scan(store="many", want=pb.COUNTS, filter=pb.Filter(games_min=44990))
        draws = {key: n for n, key in enumerate(self.keys)}
        self.assertEqual({row.key: row.counts.draws for row in done.rows},
                         {key: draws[key] for key in self.keys[44990:]})

    def test_records(self):
        done = self.client.scan(store="many", want=pb.RECORDS, limit=50, descending=True)
        self.assertEqual([found.key for found in done.rows], self.by_strength[:-51:-1])
        for found in done.rows:
            self.assertTrue(found.found)
            self.assertEqual(found.record.chi2, self.chi2[found.key])

    def test_limit_and_resuming(self):
        for more, limits in (({}, (1, 9999, 10000, 10001, MANY - 1, MANY, MANY + 1)),
                             ({"descending": True}, (1, 10000)), ({"order": pb.BY_POSITION}, (9999, MANY))):
            whole = self.keys_of(self.client.scan(store="many", **more).rows)
            for limit in limits:
                part = self.client.scan(store="many", limit=limit, **more)
                self.assertEqual(self.keys_of(part.rows), whole[:limit])
                # On another connection; a limit counts again.
                rest = self.connect().scan(store="many", after=part.cursor, **more)
                self.assertEqual(self.keys_of(rest.rows), whole[limit:])

    def test_nothing(self):
        done = self.client.scan(store="many", chi2_min=20000)
        self.assertEqual((done.rows, done.responses), ([], 1))

    def test_credit_is_never_an_error(self):
        self.client.credit(12345, 1)
        self.client.cancel(12345)
        id = self.client.start_scan(store="many", window=1)
        self.client.credit(id, 0)
        self.client.credit(id, 2**32 - 1)
        self.client.credit(id, 2**32 - 1)
        rows = 0
        while True:
            response = self.client.answer(id)
            self.assertEqual(response.code, pb.OK)
            rows += response.scan.count
            if response.last:
                break
        self.assertEqual(rows, MANY)
        self.client.credit(id, 1)
        self.client.ping()
        self.assertEqual(dict(self.client.waiting), {})

    def test_cancel(self):
        id = self.client.start_scan(store="many", window=1)
        self.assertEqual(self.client.answer(id).code, pb.OK)
        self.client.cancel(id)
        self.client.cancel(id)
        response = self.client.answer(id)
        self.assertEqual((response.id, response.code, response.last), (id, pb.CANCELED, True))
        self.client.ping()
        self.assertEqual(dict(self.client.waiting), {})

    def test_in_flight(self):
        limit = self.client.server.limits.requests_in_flight
        ids = [self.client.start_scan(store="many", window=1) for _ in range(limit)]
        for id in ids:
            self.assertEqual(self.client.answer(id).code, pb.OK)
        # All wait for Credit: one more is too many, whatever it is; no other client minds.
        response = self.client.answer(self.client.start_scan(store="many", window=1))
        self.assertEqual((response.code, response.last), (pb.BUSY, True))
        self.connect().ping()
        # An id in use; ids are free again after the last answer.
        self.client.cancel(ids[0])
        self.assertEqual(self.client.answer(ids[0]).code, pb.CANCELED)
        response = self.client.answer(self.client.send(id=ids[1], ping=pb.Ping()))
        self.assertEqual((response.code, response.field), (pb.INVALID, "id"))
        self.assertEqual(self.client.answer(self.client.send(id=ids[0], ping=pb.Ping())).code,
                         pb.OK)
        for id in ids[1:]:
            self.client.cancel(id)
            self.assertEqual(self.client.answer(id).code, pb.CANCELED)

    def test_wrong_scans(self):
        scan = self.client.scan
        for code, field, more in (
                (pb.INVALID, "scan.want", {"want": 3}),
                (pb.INVALID, "scan.filter.side", {"filter": pb.Filter(side=3)}),
                (pb.BAD_SYNTAX, "scan.filter.material", {"filter": pb.Filter(material="KXK")}),
                (pb.BAD_KEY, "scan.after.key", {"after": pb.Cursor(chi2=1, key=b"x")})):
            with self.subTest(field=field):
                self.assertFails(code, scan, field=field, **more)

    def test_mixed(self):
        if not self.daemon.owned:
            self.skipTest("the daemon is not ours to start with another option")
        store = harness.make_store(statistic="external")
        with harness.start_daemon({"default": store},
                                  extra_args=["--snapshot-time", "1"]) as daemon, \
                Client(daemon.address) as client, Client(daemon.address) as writer:
            for at in range(0, MANY, 5000):
                writer.put([entry(key=key) for key in self.keys[at:at + 5000]],
                           durability=pb.ASYNC)
            writer.put([])
            id = client.start_scan(window=1)
            rows = []
            for chi2 in itertools.count(1):
                response = client.answer(id)
                self.assertEqual(response.code, pb.OK)
                rows += pychistore.unpack_rows(response.scan.rows, response.scan.count)
                if response.last:
                    break
                # Changes what the scan has not reached or has passed, but not its order.
                writer.put([entry(fen=START, parts=pychistore.NOTE, note=str(chi2))])
                client.credit(id, 1)
            self.assertTrue(response.scan.mixed)
            expected = set(self.keys)
            found = collections.Counter(row.key for row in rows)
            self.assertTrue(expected <= set(found) <= expected | {START_KEY})
            self.assertEqual(max(found.values()), 1)

    def test_backup(self):
        data = self.client.backup(window=1, store="many")
        copy = os.path.join(harness.make_temp_dir(), "copy")
        os.mkdir(copy, 0o750)
        with open(os.path.join(copy, "data.mdb"), "wb") as file:
            file.write(data)
        done = harness.run_cli("verify", address=copy)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = harness.run_cli("count", address=copy)
        self.assertEqual(done.stdout.strip(), str(MANY), done.stderr)

    def test_half_closed_streams_end(self):
        self.client.start_scan(store="many", window=1)
        self.client.end_sending()
        with self.assertRaises(Closed):
            while True:
                self.client.receive()
