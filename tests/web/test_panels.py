# SPDX-License-Identifier: MIT
"""The other panels of the page: bands of the statistic, patterns, charts, and the trainer."""

import json
import os
import re

import browser
from browser import Page, cli, harness, squares

if browser.webdriver:
    from browser import ActionChains, Keys

PAGE = 12
BEFORE = "e4 e5 Nf3 Nc6"
MINE = """[Event "Club"]
[White "Müller"]
[Black "Roe"]

1. e4 e5 2. Nf3 Nc6 3. Ba6 bxa6 *
"""


class Panels(Page):
    def small_boards(self, panel):
        return self.script("return [...document.querySelectorAll(arguments[0])].map((a) => a.title)",
                           f"#{panel} .boards a")

    def count(self, *args):
        return cli(self.store, *args)[0]["positions"]

    def scanned(self, *args):
        return [row["fen"] for row in cli(self.store, "scan", *args)]

    def wait_page(self, panel, words):
        self.until(lambda: self.text(f"#{panel} .page-words") == words, f"not {words}")

    def fill(self, name, text, panel):
        self.type(f"#{panel} [name='{name}']", text)

    def histogram(self):
        return self.one("#bands .histogram svg")

    def test_bands(self):
        self.open("#tab=bands")
        self.until(lambda: len(self.small_boards("bands")) > 0)
        self.assertEqual(len(self.all("#bands rect.plain")), len(
            [text for text in self.texts("#bands .chart g title") if not text.endswith(": 0 positions")]))
        self.fill("from", "80", "bands")
        self.fill("to", "81.5", "bands")
        band = ("--min", "80", "--max", "81.5")
        total = int(harness.run_cli("count", *band, address=self.store).stdout)
        self.wait_page("bands", f"1–12 of {total:,}")
        wanted = self.scanned(*band, "--desc", "--limit", "24")
        self.assertEqual(self.small_boards("bands"), wanted[:PAGE])
        shown = self.board("#bands .boards li:nth-child(3) svg.board")
        self.assertEqual(shown, squares(wanted[2]))
        self.click("#bands .pager button:last-child")
        self.wait_page("bands", f"13–24 of {total:,}")
        self.assertEqual(self.small_boards("bands"), wanted[PAGE:])
        self.click("#bands .pager button:first-child")
        self.wait_page("bands", f"1–12 of {total:,}")
        self.picture("bands")
        self.click("#bands .boards li:nth-child(3) a")
        self.until(lambda: self.board() == squares(wanted[2]))
        self.assertTrue(self.one("#explorer").is_displayed())

    def test_bands_are_dragged(self):
        self.open("#tab=bands")
        self.until(lambda: len(self.small_boards("bands")) > 0)
        before = self.one("#bands [name=from]").get_attribute("value")
        (ActionChains(self.driver, duration=20).move_to_element_with_offset(self.histogram(), -60, 0)
         .click_and_hold().move_by_offset(40, 0).move_by_offset(40, 0).release().perform())
        low, high = (float(self.one(f"#bands [name={name}]").get_attribute("value"))
                     for name in ("from", "to"))
        self.assertNotEqual(before, str(low))
        ends = [text.split(":")[0].split("–") for text in self.texts("#bands .chart g title")]
        middle = (float(ends[0][0]) + float(ends[-1][1])) / 2
        self.assertTrue(0.5 * middle < low < middle < high < 1.5 * middle, (low, high))
        band = ("--min", low, "--max", high)
        total = int(harness.run_cli("count", *band, address=self.store).stdout)
        self.until(lambda: self.text("#bands .page-words").endswith(f"of {total:,}"))
        self.assertEqual(self.small_boards("bands"), self.scanned(*band, "--desc", "--limit", PAGE))

    def test_bands_are_filtered(self):
        self.open("#tab=bands")
        self.until(lambda: len(self.small_boards("bands")) > 0)
        self.fill("min-games", "5", "bands")
        self.one("#bands [name=side]").send_keys("Black")
        self.fill("from", "0.01", "bands")
        self.fill("to", "255.99", "bands")
        args = ("--min-games", "5", "--side", "b", "--min", "0.01", "--max", "255.99")
        total = int(harness.run_cli("count", *args, address=self.store).stdout)
        self.wait_page("bands", f"1–12 of {total:,}")
        self.assertEqual(self.small_boards("bands"), self.scanned(*args, "--desc", "--limit", PAGE))
        self.fill("material", "KXK", "bands")
        self.until(lambda: "material" in self.text("#bands .page-words").lower() or
                   "KXK" in self.text("#bands .page-words"))

    def put(self, brush, *names, negated=False):
        box = self.one(".pattern-board .check input")
        if box.is_selected() != negated:
            box.click()
        self.click(f".pattern-board [data-brush='{brush}']")
        for name in names:
            self.click_square(name, "#pattern .pattern-board .board")

    def test_pattern(self):
        self.open("#tab=pattern")
        self.put("N", "d5")
        self.put("k", "g8")
        self.put(".", "e6")
        self.put("P", "c4", negated=True)
        has = "!Pc4 Nd5 .e6 kg8"
        self.assertEqual(self.one("[name=has]").get_attribute("value"), has)
        found = cli(self.store, "find", "--has", has)
        self.wait_page("pattern", f"1–12 of {len(found):,}")
        self.assertEqual(self.small_boards("pattern"), [row["fen"] for row in found[:PAGE]])
        self.picture("pattern")
        self.click("#pattern [data-kind=games]")
        games = cli(self.store, "games", "--has", has, "--count")[0]["games"]
        self.until(lambda: self.text("#pattern .total").split(" of ")[-1] == str(games))
        self.click("#pattern .actions button:first-child")
        self.until(lambda: not self.one(".pattern-results").is_displayed())
        self.assertEqual(self.one("[name=has]").get_attribute("value"), "")

    def test_pattern_of_material_with_a_filter(self):
        self.open("#tab=pattern")
        self.fill("material", "KRP*vKRP*", "pattern")
        args = ("find", "--material", "KRP*vKRP*")
        found = cli(self.store, *args)
        self.until(lambda: self.text("#pattern .page-words").endswith(f"of {len(found):,}"))
        self.click("#filters summary")
        self.type("[name=player]", "Norheim")
        found = cli(self.store, *args, "--player", "Norheim")
        self.until(lambda: self.text("#pattern .page-words").endswith(f"of {len(found):,}"))
        self.assertEqual(self.small_boards("pattern"), [row["fen"] for row in found[:PAGE]])
        self.fill("has", "Zz9", "pattern")
        self.until(lambda: "piece is expected" in self.text("#pattern .page-words"))

    def test_statistics(self):
        self.open("#tab=statistics")
        self.check_statistics()
        self.picture("statistics")
        self.click("#filters summary")
        self.type("[name=eco]", "B20..B99")
        self.check_statistics("--eco", "B20..B99")

    def check_statistics(self, *args):
        """The titles of the columns and bars say what `chistore stats` answers."""
        for by, limit in (("year", ()), ("rating", ()), ("player", ("--limit", "15"))):
            rows = [row for row in cli(self.store, "stats", "--by", by, *limit, *args)
                    if row[by] is not None]
            wanted = [f"{row[by]}: {row['games']:,} game{'s' * (row['games'] != 1)}: "
                      f"{'won' if by == 'player' else 'White'}" for row in rows]
            self.until(lambda by=by, wanted=wanted: [
                re.match(r".* games?: \w+", text)[0] for text in self.texts(
                    f"[data-by={by}] .chart g title") if "no game" not in text] == wanted,
                f"{by}: not {wanted}")

    def test_findings(self):
        """Of a player's few games there is nothing to say; new moves are those of `novelties`."""
        name = cli(self.store, "stats", "--by", "player", "--limit", "1")[0]["player"]
        self.open("#tab=statistics")
        self.click("#filters summary")
        self.type("[name=player]", name)
        self.until(lambda: len(self.all(".findings .player [data-kind]")) == 4)
        for kind in ("weak", "strong"):
            for side in ("white", "black"):
                found = cli(self.store, kind, f"--{side}", name)
                text = self.text(f".findings [data-kind={kind}][data-side={side}]")
                self.assertIn("Worse" if kind == "weak" else "Better", text)
                self.assertEqual("Nothing, in" in text, found == [])
        self.open("#tab=statistics")
        self.assertEqual(self.all(".findings .player [data-kind]"), [])
        self.click(".findings button")
        found = cli(self.store, "novelties", "--limit", "12")
        self.until(lambda: "Looking" not in self.text(".findings .novelties"))
        self.assertEqual(len(self.all(".findings .novelties li")), len(found))

    def test_charts_choose_filters(self):
        self.open("#tab=statistics")
        self.check_statistics()
        name = self.text("[data-by=player] .choice text")
        self.script("document.querySelector('[data-by=player] .choice')"
                    ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.until(lambda: self.text("#filters-summary") == name)
        self.check_statistics("--player", name)
        self.driver.back()
        self.until(lambda: self.text("#filters-summary") == "all games")

    def test_trainer_ends_when_something_else_is_shown(self):
        self.learn()
        self.press_button("Start")
        self.until(lambda: "What is best" in self.text("#trainer .question"))
        self.click("#open-paste")
        self.script("document.getElementById('paste-text').value = 'd4 d5 c4'")
        self.click("#paste button.main")
        self.until(lambda: self.moves() == ["d4", "d5", "c4"])
        self.assertEqual(self.text("#trainer .question"), "")
        self.legal()
        self.drag("d5", "c4")
        self.until(lambda: self.moves() == ["d4", "d5", "c4", "dxc4"])

    def learn(self):
        """Cards from the first moves of a game."""
        self.open()
        self.script("localStorage.removeItem('chistore.cards')")
        self.open("#play=e2e4,c7c5")
        self.click("#tab-trainer")
        self.script("[...document.querySelectorAll('#trainer button')].find((b) =>"
                    "b.textContent.startsWith('Add')).click()")
        self.until(lambda: "added" in self.text("#trainer .question"))
        return self.script("return JSON.parse(localStorage.getItem('chistore.cards'))")

    def press_button(self, text):
        self.script("[...document.querySelectorAll('#trainer button')].find((b) =>"
                    "b.textContent === arguments[0]).click()", text)

    def asked(self):
        """The number of the card on the board among those kept."""
        cards = self.script("return JSON.parse(localStorage.getItem('chistore.cards'))")
        return next(card for card in cards if squares(card["fen"]) == self.flat_board())

    def flat_board(self):
        if self.texts("#board .coordinates .file")[0] == "a":
            return self.board()
        return {chr(ord("a") + ord("h") - ord(name[0])) + str(9 - int(name[1])): letter
                for name, letter in self.board().items()}

    def test_trainer(self):
        cards = self.learn()
        self.assertGreaterEqual(len(cards), 3)
        self.press_button("Start")
        self.until(lambda: "to move. What is best here?" in self.text("#trainer .question"))
        card = self.asked()
        if card["fen"] == browser.START:
            self.legal()
            self.drag("e2", "e4")  # the best of the evaluations
            self.until(lambda: self.text("#trainer .question") == "Right, e4 is best by evaluations." or
                       "Right. By evaluations" in self.text("#trainer .question"))
        else:
            self.press_button("Show the move")
            self.until(lambda: self.text("#trainer .question").startswith("Best by"))
        self.picture("trainer")
        self.assertGreater(len(self.all("#board .arrow")), 0)
        after = self.asked()
        self.assertEqual(after["asked"], 1)
        self.assertEqual(after["box"], 1 if after["missed"] == 0 else 0)
        self.press_button("Next")
        self.until(lambda: self.asked()["fen"] != card["fen"])

    def test_trainer_repeats_what_was_missed(self):
        self.learn()
        self.press_button("Start")
        self.until(lambda: "to move" in self.text("#trainer .question"))
        first = self.asked()["fen"]
        self.press_button("Show the move")
        self.until(lambda: self.asked()["missed"] == 1)
        for _ in range(10):
            self.press_button("Next")
            self.until(lambda: "What is best" in self.text("#trainer .question") or
                       "Nothing is due" in self.text("#trainer .question"))
            if "Nothing" in self.text("#trainer .question"):
                break
            self.assertNotEqual(self.asked()["fen"], first)  # not before its minute has passed
            self.press_button("Show the move")
        # A minute later, for the page's clock.
        self.script("const cards = JSON.parse(localStorage.getItem('chistore.cards'));"
                    "cards.forEach((card) => { card.due -= 61000; });"
                    "localStorage.setItem('chistore.cards', JSON.stringify(cards))")
        self.open("#tab=trainer")
        self.press_button("Start")
        self.until(lambda: "to move" in self.text("#trainer .question"))
        self.assertEqual(self.asked()["fen"], first)

    def review(self):
        """The file of what was missed in a game, by evaluations of the store."""
        folder = harness.make_temp_dir()
        game, missed = os.path.join(folder, "mine.pgn"), os.path.join(folder, "missed.epd")
        with open(game, "w", encoding="utf-8") as file:
            file.write(MINE)
        for moves, evaluation in ((BEFORE, "sf:20:30:Bb5"), (BEFORE + " Ba6", "sf:20:310:bxa6")):
            fen = cli(self.store, "get", *moves.split())[0]["fen"] if moves == BEFORE else None
            fen = fen or json.loads(harness.run_cli("key", *moves.split(), "--json").stdout)["fen"]
            engine, depth, score, move = evaluation.split(":")
            record = {"fen": fen, "evals": [{"engine": engine, "depth": int(depth), "cp": int(score), "pv": move}]}
            done = harness.run_cli("import", "--format", "jsonl", "-", address=self.store,
                                   input=json.dumps(record) + "\n")
            self.assertEqual(done.returncode, 0, done.stderr)
        done = harness.run_cli("review", "--player", "Müller", "--missed", missed, game, address=self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        return missed

    def add_missed(self, path):
        self.one("#trainer input[type=file]").send_keys(path)

    def open_trainer(self):
        self.open()
        self.script("localStorage.removeItem('chistore.cards')")
        self.open("#tab=trainer")

    def test_trainer_asks_what_was_missed(self):
        missed = self.review()
        self.open_trainer()
        self.add_missed(missed)
        self.until(lambda: self.text("#trainer .question") == "1 position added.")
        self.press_button("Start")
        self.until(lambda: "White to move" in self.text("#trainer .question"))
        self.legal()
        self.drag("f1", "c4")
        self.until(lambda: self.text("#trainer .question") == "Missed. Best by the review: Bb5.")
        self.assertEqual(self.text("#trainer .about"), "Müller - Roe, Club, move 3: Ba6 was played, "
                         "from +0.30 to -3.10")
        self.assertEqual(self.asked()["missed"], 2)
        # Once more, a minute later: the file asks at once.
        self.add_missed(missed)
        self.press_button("Stop")
        self.press_button("Start")
        self.until(lambda: "White to move" in self.text("#trainer .question"))
        self.legal()
        self.drag("f1", "b5")
        self.until(lambda: self.text("#trainer .question") == "Right, Bb5 is best by the review.")
        self.assertEqual(self.asked()["box"], 1)
        self.picture("missed")

    def test_files_that_are_no_positions_missed(self):
        path = os.path.join(harness.make_temp_dir(), "bad.epd")
        good = browser.START.replace(" 0 1", " bm e4;\n")
        self.open_trainer()
        for text, told in ((good + "\n# remark\n8/8/8 w - - bm e4;\n", "Line 4: "),
                           (good + good.replace("e4", "e5"), "Line 2: e5 is no legal move there."),
                           (good.replace("bm", "am"), "Line 1: it has no best move (bm)."),
                           ("prose\n", "Line 1: no position with a best move (bm)."),
                           ("\n", "There is no position in it."),
                           (good * 1001, "More than 1000 positions."),
                           ("x" * (1 << 20) + "x", "Bad.epd is larger than a mebibyte.")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.add_missed(path)
            self.until(lambda told=told: self.text("#trainer .question").startswith(told), told)
            self.assertEqual(self.script("return localStorage.getItem('chistore.cards')"), None)

    def test_positions_looked_at_become_cards(self):
        self.script("localStorage.removeItem('chistore.cards')")
        self.open()
        self.type("#move-text", "e4" + Keys.ENTER)
        self.until(lambda: "4P3" in (self.script("return localStorage.getItem('chistore.cards')") or ""))
        self.click("#tab-trainer")
        self.until(lambda: self.text("#trainer .actions + .question + .answer + .hint")
                   == "1 of 1 cards are due.")


class Outliers(Page):
    """A year in which much was played, and a date that is a mistake, do not flatten the others."""

    @staticmethod
    def make_store():
        store = os.path.join(harness.make_temp_dir(), "store")
        games = [(year, 1) for year in range(1990, 2021)] + [(2021, i) for i in range(300)] + [(1001, 1)]
        done = harness.run_cli("import", "-", address=store, input="".join(
            f'[White "A{i}"]\n[Black "B"]\n[Date "{year}.01.01"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
            for year, i in games))
        assert done.returncode == 0, done.stderr
        return store

    def test_years(self):
        self.open("#tab=statistics")
        self.until(lambda: self.texts("[data-by=year] .chart g title"))
        titles = [text.split(":")[0] for text in self.texts("[data-by=year] .chart g title")]
        self.assertEqual(titles[0], "1001")
        self.assertEqual(len(titles), 33)
        sizes = self.script("return [...document.querySelectorAll('[data-by=year] .chart rect')]"
                            ".map((rect) => [Number(rect.getAttribute('width')), Number(rect.getAttribute('height'))])")
        self.assertGreater(min(height for _, height in sizes), 100)
        self.assertGreater(min(width for width, _ in sizes), 4)
        self.assertEqual(len(self.all("[data-by=year] .chart .cut")), 1)
        self.assertIn("300", self.texts("[data-by=year] .chart text"))
        self.assertIn("…", self.texts("[data-by=year] .chart text"))
        self.picture("outliers")


class Evaluations(Page):
    """A store whose statistic is the evaluation."""

    VALUES = {"startpos": "30", "e4": "-25", "d4": "12", "Nf3": "mate3", "c4": "mate-2"}

    @staticmethod
    def make_store():
        store = os.path.join(harness.make_temp_dir(), "store")
        lines = [("init", "--statistic", "eval")]
        lines += [("put", position, "--eval", "sf:20:" + value)
                  for position, value in Evaluations.VALUES.items()]
        for line in lines:
            done = harness.run_cli(*line, address=store)
            assert done.returncode == 0, done.stderr
        return store

    def test_a_band_is_one_of_pawns(self):
        self.open("#tab=bands")
        self.until(lambda: len(self.all("#bands .boards li")) == 5)
        self.assertEqual([text.split(" ")[-1] for text in self.texts("#bands .value")],
                         ["#2", "+0.30", "+0.25", "−0.12", "−#3"])
        self.open("#tab=bands&from=-0.2&to=0.28")
        self.until(lambda: self.text("#bands .page-words") == "1–2 of 2")
        self.until(lambda: [text.split(" ")[-1] for text in self.texts("#bands .value")] == ["+0.25", "−0.12"])

    def test_columns_are_of_what_there_is(self):
        """All games are in a few columns of 64 over the whole range, where no band could be chosen."""
        for name in ("Nf3", "c4"):
            fen = cli(self.store, "get", name)[0]["fen"]
            harness.run_cli("delete", fen, address=self.store)
        self.open("#tab=bands")
        self.until(lambda: len(self.all("#bands .boards li")) == 3)
        self.until(lambda: self.texts("#bands .chart .axis"))
        self.assertGreater(len(self.all("#bands .chart g:not(.grid)")), 30)
        self.assertTrue(all(-1 < float(text) < 1 for text in self.texts("#bands .chart .axis")))


browser.main()
