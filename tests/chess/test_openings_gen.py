# SPDX-License-Identifier: MIT
"""The program that makes the table of openings: which line names a position that several lead to,
and that it refuses tables that it cannot read.

    test_openings_gen.py GENERATOR
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

GENERATOR = sys.argv.pop(1)
HEAD = "eco\tname\tpgn\n"
ENTRY = re.compile(r'^\t\{\{([0-9,]+)\}, "(...)", (\d+), \d+\},$', re.M)


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_on(self, *tables):
        """The finished process, and what it wrote or None."""
        paths = []
        for i, table in enumerate(tables):
            paths.append(os.path.join(self.folder.name, f"{i}.tsv"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(HEAD + table)
        out = os.path.join(self.folder.name, "out.c")
        done = subprocess.run([GENERATOR, out, *paths], capture_output=True, text=True, timeout=60,
                              check=False)
        if done.returncode != 0:
            return done, None
        with open(out, encoding="utf-8") as file:
            return done, file.read()

    def names(self, *tables):
        """(eco, name) of each position, in the table's order."""
        done, text = self.run_on(*tables)
        self.assertEqual(done.returncode, 0, done.stderr)
        literals = re.findall(r'^\t"(.*)\\0"$', text, re.M)
        pool = "".join(re.sub(r"\\(.)", r"\1", name) + "\0" for name in literals).encode()
        entries = ENTRY.findall(text)
        self.assertIn(f"chi_openings_count = {len(entries)};", text)
        keys = [bytes(map(int, key.split(","))) for key, _, _ in entries]
        self.assertEqual(keys, sorted(set(keys)))
        return [(eco, pool[int(at):].split(b"\0")[0].decode()) for _, eco, at in entries]

    def test_shortest_names_the_position(self):
        long = "A01\tLong\t1. e3 e6 2. e4 e5\n"
        short = "A02\tShort\t1. e4 e5\n"
        for tables in ([long + short], [short + long], [long, short], [short, long]):
            self.assertEqual(self.names(*tables), [("A02", "Short")])

    def test_first_of_equals_names_the_position(self):
        one = "A01\tOne\t1. e4 e5 2. Nf3\n"
        other = "A02\tOther\t1. Nf3 e5 2. e4\n"
        self.assertEqual(self.names(one + other), [("A01", "One")])
        self.assertEqual(self.names(other + one), [("A02", "Other")])
        self.assertEqual(self.names(other, one), [("A02", "Other")])

    def test_names(self):
        lines = ('A01\tSaid "so" \\ B\u00fccker\t1. e4\nA02\tSame\t1. d4\nA03\tSame\t1. c4\n')
        self.assertEqual(sorted(self.names(lines)), [
            ("A01", 'Said "so" \\ B\u00fccker'), ("A02", "Same"), ("A03", "Same")])

    def test_refused(self):
        for line in ("A01\tNo moves\n", "A01\tBad\t1. e5\n", "A01\tBad\t1. e4 e4\n",
                     "A0\tShort\t1. e4\n", "A01\tOne\t1. e4\tmore\n", "\n"):
            done, text = self.run_on("A00\tGood\t1. Nh3\n" + line)
            self.assertNotEqual(done.returncode, 0, line)
            self.assertIn("0.tsv:3: ", done.stderr)
            self.assertIsNone(text)
        done = subprocess.run([GENERATOR, "x", "/nonesuch/a.tsv"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertIn("/nonesuch/a.tsv", done.stderr)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
