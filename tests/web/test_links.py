# SPDX-License-Identifier: MIT
"""Addresses of the page: everything one sees is named by them, and the browser's "back" undoes it."""


import browser
from browser import Page, START, squares

if browser.webdriver:
    from browser import ActionChains, Keys


class Links(Page):
    def address(self):
        return self.driver.current_url.partition("#")[2]

    def wait_address(self, text):
        self.until(lambda: self.address() == text, f"{self.address()} is not {text}")

    def reopened(self):
        """The same address in a page that knows nothing else."""
        self.open("#" + self.address())

    def value(self, selector):
        return self.script("return document.querySelector(arguments[0]).value", selector)

    def fill(self, name, text):
        if self.one("#filters").get_attribute("open") is None:
            self.click("#filters summary")
        self.type(f"#filter-form [name={name}]", text)

    def back(self):
        self.driver.back()

    def test_moves(self):
        self.open("#play=e2e4,c7c5,g1f3")
        self.press(Keys.ARROW_LEFT)
        self.wait_address("play=e2e4,c7c5,g1f3&ply=2")
        self.reopened()
        self.assertEqual(self.moves(), ["e4", "c5", "Nf3"])
        self.assertEqual(self.played(), "c5")
        self.assertEqual(self.driver.title, "1. e4 c5 · Chistore")

    def test_filters(self):
        self.fill("player", "Norheim")
        self.one("#filter-form [name=colour]").send_keys("White")
        self.fill("rating-from", "2600")
        self.one("#filter-form [name=rated]").send_keys("both")
        self.click("[name=drawn]")
        self.one("#filter-form [name=in]").send_keys("sicilians")
        self.wait_address("player=Norheim&colour=white&rated=both&rating-from=2600&drawn=1&in=sicilians")
        self.one(".game-list select").send_keys("oldest")
        self.until(lambda: self.address().endswith("order=oldest"))
        total = self.text(".game-list .total")
        self.reopened()
        self.assertEqual(self.text("#filters-summary"), "Norheim · White · 2600.. · 1/2-1/2 · sicilians")
        self.until(lambda: self.text(".game-list .total") == total)
        self.assertEqual(self.value(".game-list select"), "oldest")

    def test_filter_that_the_store_has_not(self):
        self.open("#in=gone")
        self.until(lambda: "gone" in self.text("#explorer .empty"))

    def test_back_undoes_filters(self):
        self.open("#play=e2e4")
        self.fill("player", "Norheim")
        self.wait_address("play=e2e4&player=Norheim")
        self.fill("since", "2010")
        self.wait_address("play=e2e4&player=Norheim&since=2010")
        self.back()
        self.until(lambda: self.text("#filters-summary") == "Norheim")
        self.assertEqual(self.value("[name=since]"), "")
        self.back()
        self.until(lambda: self.text("#filters-summary") == "all games")
        self.driver.forward()
        self.until(lambda: self.text("#filters-summary") == "Norheim")
        self.assertEqual(self.moves(), ["e4"])

    def test_back_undoes_moves_games_and_panels(self):
        self.open()
        self.wait_rows("e4")
        self.click("[data-uci=e2e4] button")
        self.wait_address("play=e2e4")
        self.until(lambda: len(self.all(".games a")) > 1)
        self.fill("until", "2015")
        self.wait_address("play=e2e4&until=2015")
        self.until(lambda: len(self.all(".games a")) > 1)
        self.click(".games a")
        self.until(lambda: self.address().startswith("game="))
        self.assertIn("until=2015", self.address())  # filters stay while one looks at games
        self.click("#tab-statistics")
        self.until(lambda: self.address().endswith("tab=statistics"))
        self.back()
        self.until(lambda: self.one("#explorer").is_displayed())
        self.back()
        self.until(lambda: self.moves() == ["e4"])
        self.assertFalse(self.one("#game-head").is_displayed())
        self.back()
        self.until(lambda: self.text("#filters-summary") == "all games")
        self.back()
        self.until(lambda: self.board() == squares(START))

    def test_bands(self):
        self.open("#play=e2e4&tab=bands&from=80&to=81.5&order=lowest&side=b&min-games=2")
        self.until(lambda: len(self.all("#bands .boards li")) > 0)
        for name, value in (("from", "80"), ("to", "81.5"), ("order", "lowest"), ("side", "b")):
            self.assertEqual(self.value(f"#bands [name={name}]"), value)
        words = self.text("#bands .page-words")
        self.reopened()
        self.until(lambda: self.text("#bands .page-words") == words)
        (ActionChains(self.driver, duration=20)
         .move_to_element_with_offset(self.one("#bands .histogram svg"), -60, 0)
         .click_and_hold().move_by_offset(80, 0).release().perform())
        self.until(lambda: self.value("#bands [name=from]") != "80")
        self.back()
        self.until(lambda: self.value("#bands [name=from]") == "80")
        self.until(lambda: self.text("#bands .page-words") == words)
        self.click("#bands .boards a")
        self.until(lambda: self.one("#explorer").is_displayed())
        self.back()
        self.until(lambda: self.text("#bands .page-words") == words)

    def test_pages(self):
        """A page of positions, and how many games are listed, are named; other conditions begin again."""
        words = "#bands .page-words"
        self.open("#tab=bands&from=75&to=77&min-games=1")
        self.until(lambda: self.text(words).startswith("1–12 of "))
        first, total = self.text(words).split(" of ")
        self.click("#bands .pager button:last-child")
        self.until(lambda: self.text(words) == f"13–24 of {total}")
        self.wait_address("tab=bands&from=75&to=77&min-games=1&page=2")
        boards = [one.get_attribute("href") for one in self.all("#bands .boards a")]
        self.reopened()
        self.until(lambda: self.text(words) == f"13–24 of {total}")
        self.assertEqual([one.get_attribute("href") for one in self.all("#bands .boards a")], boards)
        self.click("#bands .pager button:last-child")
        self.until(lambda: self.text(words) == f"25–36 of {total}")
        self.back()
        self.until(lambda: self.text(words) == f"13–24 of {total}")
        self.type("#bands [name=pieces]", "32")
        self.until(lambda: self.address() == "tab=bands&from=75&to=77&min-games=1&pieces=32")
        self.until(lambda: self.text(words).startswith("1–12 of ") and total not in self.text(words))
        self.open("#tab=bands&from=75&to=77&min-games=1&page=799")
        self.until(lambda: self.text(words) == f"{first} of {total}")
        self.open("#play=e2e4")
        self.click("#explorer .game-list > button")
        self.wait_address("play=e2e4&rows=40")
        self.until(lambda: len(self.all("#explorer .games tbody tr")) == 40)
        self.reopened()
        self.until(lambda: len(self.all("#explorer .games tbody tr")) == 40)
        self.press(Keys.ARROW_LEFT)
        self.wait_address("play=e2e4&ply=0")
        self.until(lambda: len(self.all("#explorer .games tbody tr")) == 20)

    def test_pattern(self):
        self.open("#tab=pattern&has=Nd5+kg8+!Pc4+Rd*&to-move=white&mirror=1&show=games&order=oldest")
        self.until(lambda: len(self.all("#pattern .games tbody tr")) > 0)
        self.assertEqual(len(self.all("#pattern .board .piece")), 3)
        self.assertEqual(len(self.all("#pattern .board .denied")), 1)
        self.assertTrue(self.one("#pattern [name=mirror]").is_selected())
        self.click("#pattern [data-brush=Q]")
        self.click_square("h5", "#pattern .board")
        self.assertEqual(self.value("#pattern [name=has]"), "!Pc4 Nd5 Qh5 kg8 Rd*")
        self.until(lambda: "Qh5" in self.address())
        self.back()
        self.until(lambda: self.value("#pattern [name=has]") == "Nd5 kg8 !Pc4 Rd*")
        self.type("#pattern [name=has]", "kh8")
        self.until(lambda: self.board("#pattern .board") == {"h8": "k"})

    def test_view(self):
        self.press("f")
        self.wait_address("view=black")
        self.reopened()
        self.assertEqual(self.texts("#board .coordinates .file"), list("hgfedcba"))

    def test_a_late_answer_does_not_win(self):
        self.open()
        self.script("location.hash = '#game=1&ply=30'; location.hash = '#play=d2d4'")
        self.until(lambda: self.moves() == ["d4"])
        self.legal()
        self.assertEqual(self.moves(), ["d4"])
        self.assertEqual(self.address(), "play=d2d4")


browser.main()
