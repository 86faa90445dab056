# SPDX-License-Identifier: MIT
"""What releases wrote, read by this one: docs/COMPATIBILITY.md. tests/golden/README.md says what is there."""

import os
import re
import shutil

import golden
import harness
from cli_base import Base, summary
from pychistore import Connection, pb


def releases():
    folders = sorted(os.listdir(golden.ROOT), key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    return [os.path.join(golden.ROOT, name) for name in folders
            if os.path.isdir(os.path.join(golden.ROOT, name))]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


class Golden(Base):
    def copies(self, folder):
        """The stores of a release, where they may be written."""
        place = os.path.join(self.dir, os.path.basename(folder))
        shutil.rmtree(place, ignore_errors=True)
        stores = {name: os.path.join(place, name) for name in golden.STORES}
        for name, path in stores.items():
            shutil.copytree(os.path.join(folder, name), path)
        return stores

    def assert_sound(self, path):
        report = summary(self.cli("verify", address=path).stdout)
        self.assertEqual((report["sound"], report["errors"]), ("yes", "0"))

    def test_there_are_some(self):
        self.assertGreater(len(releases()), 0)

    def test_stores(self):
        """Each opens, is sound, says the same, and can be written."""
        for folder in releases():
            for name, path in self.copies(folder).items():
                with self.subTest(release=folder, store=name):
                    self.assert_sound(path)
                    dump = read(os.path.join(folder, name + ".dump"))
                    self.assertEqual(self.cli("dump", address=path).stdout, dump)
                    self.cli("put", "8/8/8/8/8/8/8/K1k5 w - - 0 1", "--note", "today", address=path)
                    self.cli("compact", address=path)
                    self.assert_sound(path)

    def test_dumps(self):
        """Each is loaded, and dumped again as it was."""
        for folder in releases():
            for name in golden.STORES:
                with self.subTest(release=folder, store=name):
                    place = self.path(f"{os.path.basename(folder)}-{name}")
                    dump = os.path.join(folder, name + ".dump")
                    self.cli("load", dump, address=place)
                    self.assert_sound(place)
                    self.assertEqual(self.cli("dump", address=place).stdout, read(dump))

    def test_conversations(self):
        """A client of that release, which knows its own chistore.proto alone, is told the same."""
        for folder in releases():
            schema = golden.Schema(folder, self.dir)
            turns = golden.read_conversation(os.path.join(folder, "conversation.hex"))
            self.assertGreater(len(turns), 50)
            with harness.start_daemon(self.copies(folder)) as daemon, Connection(daemon.address) as connection:
                for title, request, answers in turns:
                    with self.subTest(release=folder, turn=title):
                        count = None if schema.is_last(answers[-1]) else len(answers)
                        told = golden.exchange(connection, request, schema.is_last, count)
                        self.assertEqual(schema.told(told), schema.told(answers))

    def test_what_is_compared(self):
        """Another value is noticed, one that is not promised is not, nor a field of a later version."""
        schema = golden.Schema(releases()[-1], self.dir)
        answer = pb.Response(id=1, last=True, info=pb.InfoResult(positions=7, readers=3)).SerializeToString()
        for change, same in ({"positions": 8}, False), ({"positions": 0}, False), ({"readers": 4}, True):
            other = pb.Response.FromString(answer)
            for field, value in change.items():
                setattr(other.info, field, value)
            self.assertEqual(schema.told([other.SerializeToString()]) == schema.told([answer]), same, change)
        self.assertEqual(schema.told([answer + b"\xb8\x7d\x07"]), schema.told([answer]))
