# SPDX-License-Identifier: MIT
"""Gamesets by the command line: made, counted, kept up to date by what is imported, taken out and
joined, dropped; and names and filters that are none."""

import json

from cli_base import MASTERS, Base, summary


class Gamesets(Base):
    def setUp(self):
        super().setUp()
        self.store = self.path("games")
        with open(MASTERS, "rb") as file:
            self.games = [b"[Event " + part for part in file.read().split(b"[Event ")[1:]]
        self.cli("import", self.write("half.pgn", b"".join(self.games[:150])), address=self.store)

    def gameset(self, *args, **extra):
        return self.out("gameset", *args, address=self.store, **extra)

    def games_of(self, name):
        return int(summary(self.gameset("show", name))["games"])

    def with_tag(self, games, text):
        return sum(text in game for game in games)

    def test_follows_what_is_stored(self):
        """The same as a count over the file's text, whatever comes and goes."""
        norheim = b'"Norheim,M"]'
        made = self.gameset("create", "norheim", "--player", "Norheim")
        self.assertEqual(int(summary(made)["games"]), self.with_tag(self.games[:150], norheim))
        self.cli("import", MASTERS, address=self.store)
        self.assertEqual(self.games_of("norheim"), self.with_tag(self.games, norheim))
        stays = next(game for game in self.games if norheim in game)
        rest = self.games[100:] + [stays]
        out = self.write("out.pgn", b"".join(set(self.games) - set(rest)))
        self.cli("subtract", out, address=self.store)
        self.assertEqual(self.games_of("norheim"), self.with_tag(rest, norheim))
        self.cli("name", "alias", "Velan,V", "Norheim,M", address=self.store)
        either = sum(norheim in game or b'"Velan,V"]' in game for game in rest)
        self.assertEqual(self.games_of("norheim"), either)
        self.cli("name", "unalias", "Velan,V", address=self.store)
        self.assertEqual(self.games_of("norheim"), self.with_tag(rest, norheim))
        self.assertIn("sound\tyes", self.out("verify", address=self.store))

    def test_one_by_name_of_another(self):
        self.gameset("create", "norheim", "--player", "Norheim")
        self.gameset("create", "won", "--in", "norheim", "--result", "1-0,0-1")
        self.gameset("create", "drawn", "--in", "norheim", "--not-in", "won")
        self.assertEqual(self.games_of("won") + self.games_of("drawn"), self.games_of("norheim"))
        done = self.cli("gameset", "drop", "norheim", address=self.store, code=2)
        self.assertIn("norheim", done.stderr)
        for name in ("drawn", "won", "norheim"):
            self.gameset("drop", name)
        self.assertEqual(self.gameset("list"), "name\tgames\tupto\tbytes\tfilter\n")

    def test_list(self):
        self.gameset("create", "b", "--eco", "B")
        self.gameset("create", "a.2", "--since", "2000", "--not-result", "1/2-1/2")
        rows = [json.loads(line) for line in self.gameset("list", "--json").splitlines()]
        self.assertEqual([row["name"] for row in rows], ["a.2", "b"])
        self.assertEqual(self.gameset("list").splitlines()[0], "name\tgames\tupto\tbytes\tfilter")
        self.assertEqual([row["upto"] for row in rows], [150, 150])

    def test_garbage(self):
        self.gameset("create", "a", "--eco", "B")
        for args in (("create", "a", "--eco", "C"), ("create", "..", "--eco", "B"),
                     ("create", "a b"), ("create", ""), ("create", "x" * 65),
                     ("create", "n", "--in", "not-there"), ("create", "n", "--eco", "Z"),
                     ("create", "n", "--filter", "player"), ("create", "n", "--since", "soon"),
                     ("create", "n", "--has", "Ke1 Ke2"), ("list", "x"), ("show",),
                     ("show", "a", "--eco", "B"), ("make", "n"), ("drop", "a", "b")):
            with self.subTest(args):
                done = self.cli("gameset", *args, address=self.store, code=2)
                self.assertLess(len(done.stderr), 1000)
        for verb in ("show", "drop"):
            self.assertIn("there is no gameset", self.cli("gameset", verb, "n", address=self.store,
                                                          code=1).stderr)
