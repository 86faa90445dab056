# SPDX-License-Identifier: MIT
"""Games that are there twice, by the command line: games under other spellings and dates,
found, listed and taken out, so that the store is again what it was without them."""

import json
import re

from cli_base import MASTERS, Base, summary

# Each twelfth game comes again.
STEP = 12


def again(text):
    """The game as another source has it: no comma's blank, less of the date, one more tag."""
    text = re.sub(r'(?m)^\[(White|Black) "([^,"]+), ?(\w)[^"]*"\]$', r'[\1 "\2, \3."]', text)
    text = re.sub(r'(?m)^\[Date "(\d+)\.\d+\.\d+"\]$', r'[Date "\1.??.??"]', text)
    return re.sub(r'(?m)^(\[Result .*)$', r'\1\n[Annotator "one who was there"]', text)


class Twins(Base):
    def setUp(self):
        super().setUp()
        with open(MASTERS, encoding="utf-8") as file:
            self.games = re.split(r"(?m)^(?=\[Event )", file.read())[1:]
        self.store = self.path("games")
        first = self.write("first.pgn", "".join(self.games))
        self.cli("import", "--statistic", "outcome", first, address=self.store)
        self.before = self.content()
        second = self.write("second.pgn", "".join(again(game) for game in self.games[::STEP]))
        done = summary(self.out("import", second, address=self.store))
        # A game that has no date and short names is the same game again.
        self.added = int(done["imported"])
        self.assertGreater(self.added, 20)

    def content(self):
        """All that a store says of games, players and positions, but for numbers."""
        rows = [json.loads(line) for line in
                self.out("games", "--json", address=self.store).splitlines()]
        for row in rows:
            del row["game"]
        return (rows, self.out("scan", "--json", address=self.store),
                self.out("export", "--format", "pgn", "-o", "-", address=self.store),
                sorted(self.out("stats", "--by", "player", address=self.store).splitlines()))

    def groups(self, *args):
        return [json.loads(line) for line in
                self.out("twins", "--json", "--shortest", "1", *args,
                         address=self.store).splitlines()]

    def test_lists(self):
        groups = self.groups()
        self.assertEqual(len(groups), self.added)
        for group in groups:
            old, new = group["games"]
            self.assertLessEqual(old["game"], 300)
            self.assertGreater(new["game"], 300)
            self.assertEqual((old["eco"], old["plies"]), (new["eco"], new["plies"]))
        rows = self.out("twins", "--shortest", "1", address=self.store).splitlines()
        self.assertEqual(rows[0].split("\t")[:5], ["group", "keep", "why", "game", "white"])
        self.assertEqual(len(rows), 1 + 2 * len(groups))
        self.assertEqual([row.split("\t")[1] for row in rows[1:]].count("yes"), len(groups))
        for row in rows[1:]:
            keep, why = row.split("\t")[1:3]
            self.assertRegex(why, "^-$" if keep == "yes" else "^same moves(, names)?(, date)?$")
        self.assertEqual(self.content()[0][:300], self.before[0], "a list changes nothing")

    def test_rules(self):
        kept = {rule: [group["keep"] > 300 for group in self.groups("--keep", rule)]
                for rule in ("first", "last")}
        self.assertEqual((any(kept["first"]), all(kept["last"])), (False, True))
        size = {}
        for line in self.out("game", "--json", *map(str, range(1, 301 + self.added)),
                             address=self.store).splitlines():
            game = json.loads(line)
            size[game["game"]] = sum(len((k + v).encode()) for k, v in game["tags"].items())
        for group in self.groups("--keep", "longest-tags"):
            most = max(size[row["game"]] for row in group["games"])
            self.assertEqual(size[group["keep"]], most)

    def test_choice(self):
        """Other options choose games; dates and lengths choose groups."""
        half = self.groups("--since", "2010")
        self.assertTrue(all(row["date"] >= "2010" for group in half for row in group["games"]))
        self.assertEqual(self.groups("--number", "..300"), [])
        done = self.cli("twins", "--plies", "4000..", address=self.store)
        self.assertEqual((done.stdout, done.stderr), ("", "chistore: no game is there twice\n"))
        far = self.write("far.pgn", re.sub(r'(?m)^\[Date .*$', '[Date "1801.01.01"]',
                                           self.games[0]))
        self.cli("import", far, address=self.store)
        self.assertEqual(len(self.groups("--number", "1..")), self.added)
        self.cli("twins", "--keep", "best", code=2, address=self.store)
        self.cli("twins", "--rating", "high", code=2, address=self.store)

    def test_beginnings(self):
        """A game that was cut short is found in the whole one, which is kept; with all of its tags the
        short one is not better."""
        short = re.sub(r"(?m)^(\[Result .*)$", r'\1\n[Annotator "one who left early"]', self.games[1])
        short = re.sub(r"(?s)\s12\..*", " *\n\n", short)
        self.assertNotEqual(short, self.games[1])
        self.cli("import", self.write("short.pgn", short), address=self.store)
        number = 301 + self.added
        groups = [group for group in self.groups() if len({row["plies"] for row in group["games"]}) > 1]
        self.assertEqual([[row["game"] for row in group["games"]] for group in groups], [[2, number]])
        self.assertEqual(groups[0]["keep"], 2)
        self.assertEqual([row["why"] for row in groups[0]["games"]], [None, "beginning"])
        kept = [group for group in self.groups("--keep", "last") if group["keep"] == number]
        self.assertEqual([row["why"] for row in kept[0]["games"]], ["longer", None])
        self.assertEqual(len(self.groups("--beginning", "0")), self.added)
        self.assertEqual(len(self.groups("--beginning", "22")), self.added + 1)
        self.assertEqual(len(self.groups("--beginning", "23")), self.added)
        self.cli("twins", "--beginning", "4097", code=2, address=self.store)

    def test_limit(self):
        """At most so many groups, of which alone games are taken out."""
        self.assertEqual(self.groups("--limit", "3"), self.groups()[:3])
        before = int(self.out("games", "--count", address=self.store))
        self.out("twins", "--shortest", "1", "--limit", "3", "--remove", address=self.store)
        self.assertEqual(int(self.out("games", "--count", address=self.store)), before - 3)
        self.cli("twins", "--limit", "0", code=2, address=self.store)

    def test_removal(self):
        done = summary(self.out("twins", "--shortest", "1", "--keep", "first", "--remove",
                                address=self.store))
        self.assertEqual(int(done["removed"]), self.added)
        self.assertEqual(self.content(), self.before)
        self.assertEqual(self.groups(), [])
        self.assertIn("sound\tyes", self.out("verify", address=self.store))

    def test_removal_of_the_older(self):
        """What remains is what the new ones and those without a twin make."""
        older = {group["games"][0]["game"] for group in self.groups()}
        alone = [i for i in range(300) if i + 1 not in older]
        self.out("twins", "--shortest", "1", "--keep", "last", "--remove", address=self.store)
        after = self.content()
        other = self.path("other")
        self.cli("extract", other, address=self.store)
        self.store, other = other, self.store
        self.assertEqual(self.content(), after)
        self.assertEqual([row["plies"] for row in after[0][:len(alone)]],
                         [row["plies"] for i, row in enumerate(self.before[0]) if i in alone])
        self.assertIn("sound\tyes", self.out("verify", address=other))
