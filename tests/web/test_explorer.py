# SPDX-License-Identifier: MIT
"""The explorer of the page: moves, filters and games, compared with what the command line says."""

import os
import re

import browser
import harness
from browser import Page, START, cli

if browser.webdriver:
    from browser import ActionChains, Keys

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"


def number(value):
    return "–" if value is None else f"{value:,}"


def further(name, before):
    """What a name says that the one before does not: "Najdorf Variation" of a Sicilian."""
    return re.sub(f"^{re.escape(before)}[:,] (?=.)", "", name) if before else name


def row_of(move, moved, before):
    """A row of the table as it should read; `moved` is 1 if White made the move, else -1, `before`
    the opening that led there."""
    child, value = move["child"], move["child"]["eval"]
    pawns = None if value is None else -value["cp"] * moved / 100
    return [move["san"], number(move["games"]), f"{move['score']:.1f}", number(child["games"]),
            "–" if child["chi2"] is None else f"{child['chi2']:.2f}",
            "–" if pawns is None else f"{'−' if pawns < 0 else '+'}{abs(pawns):.2f}",
            f"{child['eco']} {further(child['opening'], before)}" if child["opening"] else ""]


class Explorer(Page):
    def rows(self):
        """The table of moves without the bars, whose text is of their title."""
        return self.script(
            "return [...document.querySelectorAll('.moves tbody tr[data-uci]')].map((row) =>"
            "[...row.children].filter((cell) => !cell.classList.contains('wide'))"
            ".map((cell) => cell.textContent))")

    def wait_total(self, total):
        self.until(lambda: int(self.text(".game-list .total").split(" of ")[-1]
                               .replace(",", "")) == total, f"no total of {total}")

    def expect(self, *args, fen=START):
        """Waits until the page shows what `chistore explore` and `games` answer."""
        found = cli(self.store, "explore", fen, *args)[0]
        moved = 1 if fen.split()[1] == "w" else -1
        wanted = [row_of(move, moved, found["opening"]) for move in found["moves"]][:12]
        self.until(lambda: self.rows()[:12] == wanted,
                   f"the page has other rows than {wanted}")
        self.wait_total(cli(self.store, "games", "--position", fen, *args, "--count")[0]["games"])

    def filters(self):
        if self.one("#filters").get_attribute("open") is None:
            self.click("#filters summary")

    def test_moves(self):
        self.expect()
        self.click("[data-uci=e2e4] button")
        self.until(lambda: self.moves() == ["e4"])
        self.expect(fen=cli(self.store, "get", "e4")[0]["fen"])
        self.click("[data-uci=c7c5] .number")  # anywhere in the row
        self.until(lambda: self.moves() == ["e4", "c5"])
        self.expect(fen=SICILIAN)
        self.assertIn("B20 Sicilian Defense", self.text(".about h2"))
        self.picture("moves")

    def test_bars_can_be_read(self):
        """Percents in the bars, where they have room; all of them in words."""
        self.wait_rows("e4")
        move = next(move for move in cli(self.store, "explore", START)[0]["moves"] if move["san"] == "e4")
        total = move["white"] + move["draws"] + move["black"]
        shares = [round(100 * move[side] / total) for side in ("white", "draws", "black")]
        self.assertEqual(self.texts("[data-uci=e2e4] .results i"), [f"{share}%" for share in shares])
        label = self.one("[data-uci=e2e4] .results").get_attribute("aria-label")
        self.assertEqual([round(float(n)) for n in re.findall(r"[\d.]+", label)], shares)

    def test_half_typed_filters_leave_what_is_shown(self):
        self.filters()
        self.expect()
        for name, texts in (("since", ("2", "20", "201")), ("eco", ("B9", "B90.", "B90.."))):
            for text in texts:
                self.type(f"[name={name}]", text)
                self.until(lambda: self.one(f"[name={name}]").get_attribute("value") == text)
                self.until(lambda: self.script("return new Promise((done) => setTimeout(() => done(true), 250))"))
                self.assertFalse(self.one("#explorer .empty").is_displayed(), text)
            self.type(f"[name={name}]", "")
        self.type("[name=since]", "2010-")
        self.expect("--since", "2010")
        self.type("[name=since]", "2010-14")
        self.until(lambda: (self.text("#explorer .empty") or "").startswith("'2010-14' is no date"))

    def test_hovering_shows_the_arrow(self):
        self.wait_rows("e4")
        self.assertEqual(len(self.all("#board .arrow")), 0)
        ActionChains(self.driver).move_to_element(self.one("[data-uci=d2d4]")).perform()
        self.until(lambda: len(self.all("#board .arrow")) == 1)
        ActionChains(self.driver).move_to_element(self.one("header")).perform()
        self.until(lambda: len(self.all("#board .arrow")) == 0)

    def test_all_rows_are_to_be_had(self):
        """Of sixteen first moves, most after a click."""
        games = os.path.join(harness.make_temp_dir(), "games.pgn")
        with open(games, "w", encoding="utf-8") as file:
            for square in (file_ + rank for file_ in "abcdefgh" for rank in "34"):
                file.write(f'[White "{square}"]\n[Result "1-0"]\n\n1. {square} a6 1-0\n\n')
        store = os.path.join(os.path.dirname(games), "store")
        self.assertEqual(harness.run_cli("import", games, address=store).returncode, 0)
        server = browser.Server(store)
        self.addCleanup(server.stop)
        self.driver.get(server.url)
        wanted = [move["san"] for move in cli(store, "explore", START)[0]["moves"]]
        self.assertEqual(len(wanted), 16)
        self.wait_rows(*wanted[:12])
        self.assertEqual(self.texts(".moves .move"), wanted[:12])
        self.click(".moves .quiet")
        self.assertEqual(self.texts(".moves .move"), wanted)

    def test_order_by_a_column(self):
        """The greatest first, what is not known last; a link names the column."""
        moves = cli(self.store, "explore", START)[0]["moves"]
        values = {"Score": lambda m: m["score"], "Statistic": lambda m: m["child"]["chi2"],
                  "Reached": lambda m: m["child"]["games"],
                  "Eval": lambda m: -m["child"]["eval"]["cp"] if m["child"]["eval"] else -10000}
        for column, value in values.items():
            self.order_by(column)
            wanted = sorted((value(m) for m in moves), reverse=True)[:12]
            shown = {m["san"]: value(m) for m in moves}
            self.until(lambda wanted=wanted, shown=shown: [shown[san] for san in
                       self.texts(".moves .move")[:12]] == wanted, column)
        self.assertEqual(self.texts("th[aria-sort=descending]"), ["Eval"])
        self.driver.refresh()
        best = sorted(browser.EVALUATED, key=browser.EVALUATED.get)
        self.wait_rows(*best)
        self.order_by("Eval")  # once more
        self.expect()

    def test_order_before_there_is_an_answer(self):
        """A press on a column's name was an error of the page while the first answer was on its way."""
        self.driver.set_script_timeout(60)
        self.assertEqual(self.driver.execute_async_script("""
            const end = arguments[0];
            import("/explorer.js").then(({ Explorer }) => {
                const explorer = new Explorer(document.createElement("div"),
                    { link: { update: () => end(explorer.by) } });
                explorer.order("Score");
            }).catch((error) => end(String(error)));"""), "Score")

    def order_by(self, column):
        self.wait_rows()
        next(button for button in self.all(".moves .sort") if button.text == column).click()

    def test_what_is_told_can_be_closed(self):
        """The button was a letter wide on phones."""
        self.resize(360, 740, phone=True)
        try:
            self.type("#move-text", "Ke2" + Keys.ENTER)
            self.until(lambda: self.one("#notice").is_displayed())
            button = self.one("#notice button")
            self.assertLess(button.rect["height"], button.rect["width"])
            button.click()
            self.assertFalse(self.one("#notice").is_displayed())
        finally:
            self.resize(1400, 1000)

    def test_analyse_is_offered_where_it_can_be_done(self):
        self.assertFalse(self.one("#analyse").is_displayed())

    def test_filters_apply_as_one_types(self):
        self.filters()
        for name, text, args in (
                ("player", "Norheim", ("--player", "Norheim")),
                ("since", "2010", ("--since", "2010")),
                ("until", "2020", ("--until", "2020"))):
            self.type(f"#filter-form [name={name}]", text)
            given = getattr(self, "given", ()) + args
            self.given = given
            self.expect(*given)
        self.one("#filter-form [name=colour]").send_keys("White")
        self.expect("--player", "Norheim", "--white", "--since", "2010", "--until", "2020")
        self.assertEqual(self.text("#filters-summary"), "Norheim · White · 2010 · 2020")
        self.assertIn("50.0 %", self.text("#explorer .facts"))  # as the bar above it, not of all games
        self.picture("filters")
        self.click("#filters-clear")
        self.expect()
        self.assertEqual(self.text("#filters-summary"), "all games")

    def test_summary_is_of_what_is_typed(self):
        """At each letter and at once when all is cleared, whatever is still being fetched."""
        self.filters()
        typed = self.script("const field = document.querySelector('#filter-form [name=player]');"
                            "const summary = () => document.querySelector('#filters-summary').textContent;"
                            "field.value = 'Velan'; field.dispatchEvent(new Event('input', {bubbles: true}));"
                            "const before = summary(); document.querySelector('#filter-form').reset();"
                            "return new Promise((done) => setTimeout(() => done([before, summary()])))")
        self.assertEqual(typed, ["Velan", "all games"])
        self.expect()

    def test_filters_of_ratings_openings_and_results(self):
        self.filters()
        self.type("[name=rating-from]", "2700")
        self.expect("--rating", "2700..")
        self.one("[name=rated]").send_keys("both")
        self.expect("--both", "2700..")
        self.type("[name=eco]", "B20..B99")
        self.expect("--both", "2700..", "--eco", "B20..B99")
        self.click("[name=white-wins]")
        self.click("[name=drawn]")
        self.expect("--both", "2700..", "--eco", "B20..B99", "--result", "1-0,1/2-1/2")

    def test_filters_by_gameset_and_in_words(self):
        self.filters()
        self.one("[name=in]").send_keys("sicilians")
        self.expect("--in", "sicilians")
        self.type("[name=filter]", "length 40..")
        self.expect("--in", "sicilians", "--filter", "length 40..")

    def test_filter_that_is_no_filter_is_told(self):
        self.filters()
        self.type("[name=filter]", "colour purple")
        self.until(lambda: self.one("#explorer .empty").is_displayed() and
                   self.text("#explorer .empty") != "")
        self.click("#filters-clear")
        self.expect()

    def test_suggestions(self):
        self.filters()
        self.type("[name=player]", "norh")
        self.until(lambda: self.texts(".suggestions li span:first-child")[:1] == ["Norheim,M"])
        self.press(Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(self.one("[name=player]").get_attribute("value"), "Norheim,M")
        self.expect("--player", "Norheim,M")
        self.type("[name=opponent]", "velan")
        self.until(lambda: any("Velan" in text for text in self.texts(".suggestions li")))
        self.until(lambda: self.one("[name=opponent] + .suggestions").is_displayed())
        self.press(Keys.ESCAPE)
        self.assertFalse(self.one("[name=opponent] + .suggestions").is_displayed())

    def test_games_in_pages(self):
        total = cli(self.store, "games", "--position", START, "--count")[0]["games"]
        self.wait_total(total)
        self.assertEqual(len(self.all(".games tbody tr")), 20)
        self.click(".game-list > button")
        self.until(lambda: len(self.all(".games tbody tr")) == 40)
        self.assertEqual(self.text(".game-list .total"), f"40 shown of {total}")
        self.one(".game-list select").send_keys("as imported")
        wanted = [(g["white"], g["black"]) for g in
                  cli(self.store, "games", "--position", START, "--limit", "20")]
        self.until(lambda: list(zip(self.texts(".games td:nth-child(1)"),
                                    self.texts(".games td:nth-child(3)"))) == wanted)

    def test_a_row_opens_its_game_wherever_it_is_pressed(self):
        for cell in range(1, 9):
            self.open()
            self.until(lambda: self.texts(".games a"))
            self.click(f".games tbody tr:nth-child(2) td:nth-child({cell})")
            self.until(lambda: "#game=" in self.driver.current_url)

    def test_totals_say_of_what(self):
        self.open("#play=e2e4,c7c5")
        self.until(lambda: self.texts(".games a"))
        self.assertIn("300 games in the store", self.text("#store"))
        self.assertIn("Reached by 65 games: White", self.text(".results-words"))
        self.assertIn("Games that reached it 20 shown of 65", self.text(".game-list h3"))

    def test_moves_typed_anywhere(self):
        """A list with its numbers, where no field has the focus: digits were keys of the panels."""
        self.press("1. e4 e5 2. Nf3", Keys.ENTER)
        self.until(lambda: self.moves() == ["e4", "e5", "Nf3"])
        self.assertTrue(self.one("#explorer").is_displayed())
        self.press("2...Nc6 3. Bb5 Zz9 a6", Keys.ENTER)
        self.until(lambda: self.moves() == ["e4", "e5", "Nf3", "Nc6", "Bb5"])
        self.until(lambda: self.one("#move-text").get_attribute("value") == "Zz9 a6")
        self.assertIn("Zz9 is no legal move", self.text("#notice"))

    def test_a_game_to_click_through(self):
        row = cli(self.store, "games", "--position", SICILIAN, "--sort", "rating", "--descending",
                  "--limit", "1")[0]
        game = cli(self.store, "game", row["game"])[0]
        self.open("#play=e2e4,c7c5")
        self.until(lambda: self.texts(".games a")[:1] == [row["white"]])
        self.click(".games a")
        self.until(lambda: self.moves() == game["moves"])
        self.until(lambda: self.played() == game["moves"][row["ply"] - 1])
        self.assertIn(row["white"], self.text("#game-head"))
        for _ in range(4):
            self.press(Keys.ARROW_RIGHT)
        self.until(lambda: self.played() == game["moves"][row["ply"] + 3])
        self.until(lambda: re.search(r"ply=6$", self.driver.current_url))
        self.picture("game")
        self.check_curve(game)
        self.click("#line-moves li:nth-child(9) button")
        self.until(lambda: "ply=9" in self.driver.current_url)
        self.driver.back()
        self.until(lambda: self.moves() == ["e4", "c5"])

    def check_curve(self, game):
        """A point for each position with a statistic; a press on the curve goes there."""
        known = sum(row["chi2"] is not None for row in (
            cli(self.store, "get", *game["moves"][:ply])[0]
            for ply in range(1, min(6, len(game["moves"])) + 1)))
        self.assertGreaterEqual(len(self.all("#game-curve circle")), known)
        curve = self.one("#game-curve svg")
        ActionChains(self.driver).move_to_element(curve).click().perform()
        self.until(lambda: self.played() != game["moves"][5])
        middle = len(self.script("return [...document.querySelectorAll('#line-moves li')]"
                                 ".slice(0, [...document.querySelectorAll('#line-moves button')]"
                                 ".findIndex((b) => b.hasAttribute('aria-current')) + 1)"))
        self.assertLess(abs(middle - len(game["moves"]) / 2), 0.2 * len(game["moves"]))
        for kind in ("score", "eval"):
            self.script("const s = document.getElementById('curve-kind'); s.value = arguments[0];"
                        "s.dispatchEvent(new Event('change'))", kind)
            self.until(lambda kind=kind: len(self.all(f"#game-curve path.{kind}")) == 1)

    def test_moves_that_were_new(self):
        """Marked as `novelties` has them, by one request."""
        found = {}
        for row in cli(self.store, "novelties", "--min-games", "1", "--known", "1"):
            found.setdefault(row["game"], []).append(row)
        often = max(found, key=lambda game: max(row["before"] for row in found[game]))
        never = next(game["game"] for game in cli(self.store, "games") if game["game"] not in found)
        asked = "return performance.getEntriesByType('resource').filter((e) => e.name.includes('kind=novelties')).map((e) => e.name)"
        for game in (often, never, min(found)):
            self.open(f"#game={game}")
            self.until(lambda: len(self.script(asked)) == 1)
            wanted = {row["ply"]: row for row in found.get(game, [])}
            self.until(lambda wanted=wanted: len(self.all("#line-moves .new")) == len(wanted))
            items = self.all("#line-moves li")
            for ply, row in wanted.items():
                mark = items[ply].find_element(browser.By.CSS_SELECTOR, "abbr.new")
                self.assertEqual((mark.text, self.moves()[ply]), ("N", row["move"]))
                games = "game" if row["before"] == 1 else "games"
                self.assertIn(f"{row['before']} {games} had come here before", mark.get_attribute("title"))
            self.assertIn(f"number={game}", *self.script(asked))
        self.picture("new-moves")
        # A move on the board ends the game, and its marks.
        self.press(Keys.HOME)
        self.legal()
        self.drag("a2", "a3")
        self.until(lambda: self.moves() == ["a3"])
        self.assertEqual(self.all("#line-moves .new"), [])

    def test_position_that_no_game_reached(self):
        self.open("#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1")
        self.until(lambda: self.text("#explorer .empty") == "No game of the store reached this position.")
        self.until(lambda: self.text(".game-list .empty") == "No game fits.")

    def test_opening_on_the_way(self):
        game = cli(self.store, "games", "--eco", "B90..B99", "--limit", "1")[0]
        self.open(f"#game={game['game']}&ply=50")
        self.until(lambda: "Sicilian" in (self.text(".opening-name") or ""))


class Queue(Page):
    """A server that writes to a daemon."""

    @classmethod
    def start_server(cls):
        cls.daemon = browser.harness.start_daemon({"default": cls.store})
        return browser.Server(cls.store, "--write-to", cls.daemon.address)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.daemon.stop()

    def test_positions_are_put_into_the_queue(self):
        self.open("#play=h2h4")
        self.click("#analyse")
        self.until(lambda: "in the queue" in (self.text("#notice span") or ""))
        done = browser.harness.run_cli("queue", "list", "--json", address=self.daemon.address)
        self.assertIn("rnbqkbnr/pppppppp/8/8/7P/8/PPPPPPP1/RNBQKBNR b KQkq - 0 1", done.stdout)
        self.open("#play=e2e4")
        self.click("#analyse")
        self.until(lambda: "evaluated already" in (self.text("#notice span") or ""))


browser.main()
