# SPDX-License-Identifier: MIT
"""What record.py of tests/golden writes and test_golden.py reads: a folder for each release, with its
stores, their dumps, its chistore.proto, and a conversation.

A conversation is text: '# ' and what follows is for people, '> ' is a request's frame and '< ' the
body of an answer, in hex. A request that goes on (an import and its data) has the answers that came before it
goes on.
"""

import os
import subprocess

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "releases")
STORES = ("default", "positions")

# What is not promised: docs/COMPATIBILITY.md. A name is a message's and its field's.
NOT_COMPARED = {
    "Response.message", "Response.thousandths", "HelloResult.server", "HelloResult.limits",
    "InfoResult.file_bytes", "InfoResult.used_bytes", "InfoResult.map_bytes", "InfoResult.readers",
    "InfoResult.readers_max", "InfoResult.oldest_reader", "InfoResult.position_bytes",
    "InfoResult.strength_bytes", "InfoResult.blocks", "InfoResult.block_bytes",
    "CheckDiskResult.direct", "CompactResult.bytes_before", "CompactResult.bytes_after",
    "GameQueryResult.cursor", "Gameset.bytes", "ImportResult.credit", "ImportResult.phase",
    "ImportResult.done", "ImportResult.total", "ExploreMove.eco", "ExploreMove.opening",
    "InsightRow.score", "InsightRow.expected", "InsightRow.low", "InsightRow.high", "InsightRow.chance",
    "InsightRow.adjusted", "StatsGroup.expected", "StatsGroup.beyond", "SuspectsResult.groups",
    "QueueRow.asked", "QueueRow.expires", "QueueTakeResult.expires",
}


class Schema:
    """Messages as a release knew them: Request and Response are classes of its own chistore.proto,
    next to those of today."""

    def __init__(self, folder, scratch):
        described = os.path.join(scratch, "schema")
        subprocess.run([os.environ.get("PROTOC", "protoc"), "--descriptor_set_out=" + described, "--proto_path=" + folder,
                        "chistore.proto"], check=True)
        with open(described, "rb") as file:
            files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
        pool = descriptor_pool.DescriptorPool()
        for one in files.file:
            pool.Add(one)
        factory = message_factory.MessageFactory(pool)
        self.Request, self.Response = (
            factory.GetPrototype(pool.FindMessageTypeByName("chistore.v1." + name))
            for name in ("Request", "Response"))

    def is_last(self, body):
        return self.Response.FromString(body).last

    def told(self, bodies):
        """What these answers to one request say together that is promised, as a client of that
        release reads it."""
        whole = self.Response()
        for body in bodies:
            whole.MergeFrom(self.Response.FromString(body))
        whole.DiscardUnknownFields()
        clear(whole)
        return whole


def clear(message):
    """Takes out what is not compared."""
    for field, value in message.ListFields():
        if f"{message.DESCRIPTOR.name}.{field.name}" in NOT_COMPARED:
            message.ClearField(field.name)
        elif field.message_type:
            for part in value if field.label == field.LABEL_REPEATED else (value,):
                clear(part)


def read_conversation(path):
    """[(title, request's frame, bodies of its answers)]."""
    turns, title = [], ""
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, text = line[:2], line[2:].strip()
            if kind == "# ":
                title = text
            elif kind == "> ":
                turns.append((title, bytes.fromhex(text), []))
            elif kind == "< ":
                turns[-1][2].append(bytes.fromhex(text))
            else:
                raise ValueError(line)
    return turns


def write_conversation(path, turns):
    with open(path, "w", encoding="ascii") as file:
        for title, request, answers in turns:
            file.write(f"# {title}\n> {request.hex()}\n")
            file.writelines(f"< {answer.hex()}\n" for answer in answers)


def exchange(connection, request, last, count=None):
    """Sends a frame, or several; the bodies of the answers up to one that is the `last`, or `count`
    of them."""
    connection.send_bytes(request)
    bodies = []
    while not (last(bodies[-1]) if count is None and bodies else len(bodies) == count):
        bodies.append(connection.receive_body())
    return bodies
