# SPDX-License-Identifier: MIT
"""The questions that the help asks as examples find something in the stores of the demo: who copies one sees an
answer. test_documents.py runs those of docs/TOUR.md and of the manual pages."""

import os
import re
import shlex

from cli_base import Base, run_cli

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MASTERS = os.path.join(ROOT, "tests", "data", "pgn", "games_300.pgn")
ASKING = {"count", "explore", "export", "find", "game", "games", "get", "key", "name", "scan", "stats"}


def examples():
    """(where, words) of each example that asks; words without the address."""
    texts = {f"help {name}": run_cli("help", name).stdout for name in sorted(ASKING)}
    for where, text in texts.items():
        for line in re.findall(r"(?m)^(?:\$ |  )?chistore (.*)$", text.replace("\\\n", " ")):
            words = shlex.split(line.split(" | ")[0], comments=True)
            address = None
            if words[:1] == ["-a"]:
                address, words = words[1], words[2:]
            # Only millions of games reach the end of the scale.
            if words and words[0] in ASKING and not words[-1].endswith("...") \
                    and "255.99" not in words:
                yield where, address, words


class Examples(Base):
    def test_every_example_finds_something(self):
        positions, masters = self.path("positions"), self.path("masters")
        self.cli("init", address=positions)
        self.cli("import", os.path.join(ROOT, "demo", "positions.epd.gz"), address=positions)
        self.cli("import", MASTERS, address=positions)
        # What two engines think, for the filters that ask for it.
        self.cli("put", "e4", "--eval", "one:20:-60", "--eval", "two:18:-70", address=positions)
        self.cli("import", "--statistic", "outcome", MASTERS, address=masters)
        tried = 0
        for where, address, words in examples():
            output = self.path("output")
            named = [i for i, word in enumerate(words) if word == "-o"]
            for i in named:
                words[i + 1] = os.path.join(self.dir, words[i + 1])
                output = words[i + 1]
            store = masters if address == "/tmp/masters" else positions
            with self.subTest(where=where, words=words):
                done = run_cli(*words, address=store)
                self.assertEqual(done.returncode, 0, done.stderr)
                if named:
                    self.assertGreater(os.path.getsize(output), 0)
                elif words[0] == "count":
                    self.assertGreater(int(done.stdout), 0)
                elif words[0] in ("scan", "explore", "games", "find", "name", "stats") and "--count" not in words and "--json" not in words:
                    self.assertGreater(done.stdout.count("\n"), 1)
                else:
                    self.assertGreater(len(done.stdout), 0)
            tried += 1
        self.assertGreater(tried, 20)
