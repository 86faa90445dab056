# SPDX-License-Identifier: MIT
"""Pages about openings, players and gamesets: each command that a page names is run, and gives the page's numbers again,
whatever names and paths it has to quote; a page has nothing from elsewhere, and no text is taken for HTML."""

import html.parser
import json
import os
import random
import re
import shlex
import shutil

import harness
from cli_base import MASTERS, Base

HOSTILE = '<script>alert("x")</script> & \'O\'Brien\' <b>'
VOID = {"meta", "link", "img", "br", "input"}


class Page(html.parser.HTMLParser):
    """Its elements, its texts, and the commands with the tables before them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], set(), []
        self.title, self.heads, self.table, self.row, self.text = "", [], None, None, None
        self.tables, self.commands = [], []  # commands: (words, the table, the row or None)
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = []
            self.tables.append(self.table)
        elif tag == "tr":
            self.row = []
            self.table.append(self.row)
        elif tag in ("td", "th", "title", "h1", "h2", "dd", "code"):
            self.text = ""

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        if tag in ("td", "th"):
            self.row.append(self.text)
        elif tag in ("title", "h1", "h2", "dd"):
            self.heads.append(self.text)
        elif tag == "code":
            within = "table" in self.open
            self.commands.append((shlex.split(self.text), self.tables[-1] if self.tables else None,
                                  self.row if within else None))
        self.text = None if tag != "summary" else self.text


class Report(Base):
    def make(self, text, name="games of 'me' & \"you\""):
        store = self.path(name)
        self.cli("import", "--quiet", self.write("made.pgn", text), address=store)
        return store

    def run_words(self, words):
        self.assertEqual(words[0], "chistore")
        done = harness.run_cli(*words[1:])
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def check_row(self, row, words):
        """A row's own command: how many games there are, or a game."""
        said = self.run_words(words)
        if "--count" in words:
            self.assertEqual(said.strip(), row[2])
        else:
            self.assertIn(f'[White "{row[1]}"]', said.replace('\\"', '"').replace("\\\\", "\\"))

    def check_table(self, table, words):
        """Its rows by their columns, whose names are those of the command, or of another of the same table."""
        said = [line.split("\t") for line in self.run_words(words).splitlines()]
        head = [{"rated": "games", "White": "score"}.get(name, name) for name in table[0]]
        ours = head
        if words[3 + 2 * ("--store" in words)] == "performance" and "san" in head:
            ours = [None] * 5 + [None] + head[6:]
            ours[0] = "move"
        elif "san" in head:
            ours = head[:6] + [None] * (len(head) - 6)
        columns = {name: said[0].index(name) for name in ours if name}
        theirs = [[line[at] for at in columns.values()] for line in said[1:]]
        seen = 0
        for row in table[1:]:
            mine = [cell for name, cell in zip(ours, row) if name]
            if ours[0] == "move" and mine[1] == "0":
                continue
            self.assertIn(mine, theirs, (words, mine))
            seen += 1
        if "san" not in head:
            self.assertEqual(len(theirs), seen)
        return seen

    def check(self, store, *args, title="An opening"):
        """The page, all of whose commands were run."""
        path = self.path("page.html")
        self.cli("report", title, "-o", path, *args, address=store)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        page = Page(text)
        self.assertEqual(page.heads[:2], [title, title])
        info = json.loads(self.out("info", "--json", address=store))
        self.assertEqual(page.heads[2:4], [info["uuid"], str(info["sequence"])])
        self.assertFalse(page.tags & {"script", "img", "link", "iframe", "object", "b", "form"}, page.tags)
        self.assertFalse([name for name, _ in page.attributes if name in ("src", "href", "style") or name.startswith("on")])
        self.assertNotIn("http", text)
        self.assertNotIn("url(", text)
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertIn('content="width=device-width', text)
        self.assertGreater(len(page.commands), 5)
        self.assertEqual(self.out("report", title, *args, address=store), text)
        games = self.run_words(page.commands[0][0]).strip()
        self.assertIn(f"<p>{games} games</p>", text)
        nothing = re.findall(r"<p>Nothing.</p>\n<pre><code class=\"command\">(.*?)</code>", text, re.S)
        self.rows = 0
        for words, table, row in page.commands[1:]:
            if row is not None:
                self.check_row(row, words)
            elif any(shlex.split(html.unescape(one)) == words for one in nothing):
                self.assertEqual(len(self.run_words(words).splitlines()), 1)
            else:
                self.rows += self.check_table(table, words)
        return page

    def test_an_opening(self):
        with open(MASTERS, encoding="utf-8") as file:
            store = self.make(file.read())
        page = self.check(store, "--moves", "e4 c5")
        self.assertEqual(page.heads[4:5], ["Moves"])
        self.assertIn("After Nf3", page.heads)
        self.assertIn("Plans", page.heads)
        self.assertIn("Model games", page.heads)
        self.assertGreater(self.rows, 20)
        # The squares are those that another count finds: White's knights in the 20 plies.
        squares = {(row[0], row[1]): int(row[2]) for table in page.tables if table[0][0] == "piece" for row in table[1:]}
        self.assertGreater(len(squares), 25)
        counted = 0
        for line in self.out("games", "--moves", "e4 c5", "--json", address=store).splitlines():
            game = json.loads(self.out("game", str(json.loads(line)["game"]), "--json", address=store))
            moves = game["moves"][json.loads(line)["ply"]:][:20]
            counted += any(re.fullmatch(r"N[a-h]?[1-8]?x?c3\+?", move) for move in moves[::2])
        self.assertEqual(squares["N", "c3"], counted)

    def test_the_same_of_a_daemon(self):
        with open(MASTERS, encoding="utf-8") as file:
            store = self.make(file.read(), "plain")
        with harness.start_daemon({"default": shutil.copytree(store, self.path("served"))}) as daemon:
            there = self.check(daemon.addresses[0], "--player", "Norheim", "--split", "2010")
        here = self.check(store, "--player", "Norheim", "--split", "2010")
        self.assertEqual([table for table in there.tables if table[0][-1] != ""],
                         [table for table in here.tables if table[0][-1] != ""])
        self.assertIn("Strong with Black", here.heads)
        self.assertIn("What changed", here.heads)

    def test_hostile_names(self):
        """Of players, events, the page and the store's path."""
        chance = random.Random(7)
        quoted = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
        text = ""
        for i in range(400):
            name, other = (quoted, f"B{i}") if i % 2 else (f"A{i}", quoted)
            line = "1. e4 e5 2. Nf3 Nc6" if i % 3 else "1. d4 d5 2. c4 e6"
            lost = i % 3 == 0 and chance.random() < 0.8
            result = ("0-1" if i % 2 else "1-0") if lost else chance.choice(("1-0", "0-1", "1/2-1/2"))
            tail = " 3. Ng1 Nb8 4. Nf3 Nc6" * 12 if i % 3 else ""
            text += (f'[Event "<i>{i}</i>"]\n[White "{name}"]\n[Black "{other}"]\n[Date "{1990 + i % 20}.01.01"]\n'
                     f'[WhiteElo "2500"]\n[BlackElo "2500"]\n[Result "{result}"]\n\n{line}{tail} {result}\n\n')
        store = self.make(text)
        self.cli("gameset", "create", "mine-1", "--player", HOSTILE, address=store)
        page = self.check(store, "--player", HOSTILE, title=HOSTILE)
        self.assertIn("Weak with White", page.heads)
        self.assertIn(HOSTILE, [cell for table in page.tables for row in table for cell in row])
        self.check(store, "--in", "mine-1", title="'\"<")
        self.check(store, "--position", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
        self.check(store, "--filter", "year 1980..2050\n\tand plies 4..")

    def test_evaluations(self):
        """Where there are some, results against them."""
        text = "".join(f'[White "A{i}"]\n[Black "B{i}"]\n[WhiteElo "2500"]\n[BlackElo "2500"]\n[Date "{1990 + i % 9}.01.01"]\n'
                       f'[Result "{result}"]\n\n{moves} {result}\n\n'
                       for moves, results in (("1. e4", 5 * ["1-0"] + ["0-1"]), ("1. d4", ["1-0", "0-1", "1/2-1/2"]))
                       for i in range(300) for result in [results[i % len(results)]])
        store = self.make(text)
        for moves, score in (("", 30), ("e4", -400), ("d4", 300), ("d4", 0)):
            fen = json.loads(self.out("key", *moves.split(), "--json"))["fen"] if moves else "startpos"
            self.cli("put", fen, "--eval", f"sf:20:{score}", address=store)
        self.check(store)

    def test_what_is_wrong(self):
        store = self.make('[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n')
        done = self.cli("report", "x", "--player", "Nemo", address=store, code=1)
        self.assertEqual((done.stdout, "no game fits" in done.stderr), ("", True))
        kept = self.write("kept.html", "yesterday's")
        self.cli("report", "x", "-o", kept, "--moves", "e5", address=store, code=2)
        self.cli("report", "x", "-o", kept, "--filter", "(", address=store, code=2)
        self.cli("report", "x", "-o", kept, "--json", address=store, code=2)
        self.cli("report", "-o", kept, address=store, code=2)
        self.cli("report", os.fsdecode(b"\xff"), "-o", kept, address=store, code=2)
        self.cli("report", "x", "-o", self.path("none/x"), address=store, code=3)
        self.cli("report", "x", "-o", os.path.join(store, "data.mdb"), address=store, code=2)
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), "yesterday's")
        self.check(store)


if __name__ == "__main__":
    harness.main()
