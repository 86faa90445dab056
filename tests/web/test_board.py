# SPDX-License-Identifier: MIT
"""The board of the page: moves by mouse, keyboard and text, taking back, set up, paste, links."""


import browser
from browser import Page, START, squares

if browser.webdriver:
    from browser import Keys

PROMOTES = "8/P6k/8/8/8/8/7K/8_w_-_-_0_1"


class Board(Page):
    def position(self):
        return self.board()

    def test_drag_click_and_take_back(self):
        self.legal()
        self.drag("e2", "e4")
        self.until(lambda: self.moves() == ["e4"])
        self.legal()
        self.click_square("c7")
        self.assertEqual(len(self.all("#board .target")), 2)
        self.click_square("c5")
        self.until(lambda: self.moves() == ["e4", "c5"])
        self.assertEqual(self.board()["c5"], "p")
        self.assertEqual(len(self.all("#board .last")), 2)
        self.click("#back")
        self.until(lambda: self.played() == "e4")
        self.assertNotIn("c5", self.board())
        self.click("#forward")
        self.until(lambda: self.played() == "c5")
        self.click("#first")
        self.until(lambda: self.played() is None)
        self.assertEqual(self.board(), squares(START))
        self.assertEqual(self.moves(), ["e4", "c5"])
        self.click("#last")
        self.until(lambda: self.played() == "c5")

    def test_what_is_not_legal_is_not_played(self):
        self.legal()
        self.drag("e2", "e5")
        self.drag("e7", "e5")
        self.drag("a1", "a4")
        self.type("#move-text", "Ke2" + Keys.ENTER)
        self.until(lambda: "no legal move" in (self.text("#notice") or ""))
        self.assertEqual(self.moves(), [])
        self.assertEqual(self.board(), squares(START))

    def test_another_move_replaces_the_rest(self):
        self.open("#play=e2e4,c7c5,g1f3")
        self.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.until(lambda: self.played() == "e4")
        self.legal()
        self.drag("e7", "e5")
        self.until(lambda: self.moves() == ["e4", "e5"])

    def test_flip(self):
        self.click("#flip")
        self.legal()
        self.drag("d2", "d4", flipped=True)
        self.until(lambda: self.moves() == ["d4"])
        self.assertEqual(self.texts("#board .coordinates .file"), list("hgfedcba"))

    def test_typed_moves(self):
        for text, san in (("e4", "e4"), ("e7e5", "e5"), ("nf3", "Nf3"), ("Nc6", "Nc6"),
                          ("Bb5", "Bb5"), ("Nf6", "Nf6"), ("0-0", "O-O")):
            self.type("#move-text", text + Keys.ENTER)
            self.until(lambda san=san: self.played() == san)
        self.assertEqual(self.board()["g1"], "K")
        self.assertEqual(self.board()["f1"], "R")

    def test_cursor_on_the_board(self):
        self.legal()
        self.script("document.querySelector('#board .board').focus()")
        self.press(Keys.ENTER)  # shows the cursor, on e2
        self.press(Keys.ENTER, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ENTER)
        self.until(lambda: self.moves() == ["e4"])
        self.press(Keys.ESCAPE, Keys.ARROW_LEFT)
        self.until(lambda: self.played() is None)

    def test_keyboard(self):
        self.open("#play=e2e4,c7c5,g1f3,d7d6")
        for key, san in ((Keys.ARROW_LEFT, "Nf3"), (Keys.ARROW_UP, None), (Keys.ARROW_RIGHT, "e4"),
                         (Keys.ARROW_DOWN, "d6")):
            self.press(key)
            self.until(lambda san=san: self.played() == san)
        self.press("?")
        self.until(lambda: self.one("#help").get_attribute("open") is not None)
        self.assertIn("take back", self.text("#help-keys"))
        self.press(Keys.ESCAPE)
        self.press("m")
        self.press("d", "4", Keys.ENTER)
        self.until(lambda: self.played() == "d4")
        self.script("document.activeElement.blur()")
        self.press("n")
        self.until(lambda: self.moves() == [])

    def test_promotion(self):
        self.open(f"#fen={PROMOTES}")
        self.legal()
        self.click_square("a7")
        self.click_square("a8")
        self.until(lambda: len(self.all(".promotion button")) == 4)
        self.click(".promotion button[aria-label=knight]")
        self.until(lambda: self.moves() == ["a8=N"])
        self.assertEqual(self.board()["a8"], "N")

    def test_promotion_that_is_not_meant(self):
        self.open(f"#fen={PROMOTES}")
        self.legal()
        self.drag("a7", "a8")
        self.until(lambda: len(self.all(".promotion button")) == 4)
        self.press(Keys.ARROW_DOWN, Keys.ESCAPE)
        self.assertEqual(len(self.all(".promotion")), 0)
        self.drag("a7", "a8")
        self.until(lambda: len(self.all(".promotion button")) == 4)
        self.click_square("d4")
        self.assertEqual(len(self.all(".promotion")), 0)
        self.assertEqual(self.moves(), [])
        self.drag("a7", "a8")
        self.until(lambda: len(self.all(".promotion button")) == 4)
        self.press(Keys.ARROW_DOWN, Keys.ENTER)
        self.until(lambda: self.moves() == ["a8=R"])

    def test_king_on_his_rook_castles(self):
        self.open("#fen=r3k2r/8/8/8/8/8/8/R3K2R_w_KQkq_-_0_1")
        self.legal()
        self.drag("e1", "h1")
        self.until(lambda: self.moves() == ["O-O"])
        self.legal()
        self.click_square("e8")
        self.click_square("a8")
        self.until(lambda: self.moves() == ["O-O", "O-O-O"])
        self.open("#fen=4k3/8/8/8/8/8/8/R4K1R_w_-_-_0_1")  # no right to castle: the rook is taken up
        self.legal()
        self.click_square("f1")
        self.click_square("h1")
        self.click_square("h5")
        self.until(lambda: self.moves() == ["Rh5"])

    def test_check_and_mate(self):
        self.open("#play=f2f3,e7e5,g2g4,d8h4")
        self.until(lambda: len(self.all("#board .check")) == 1)
        self.until(lambda: self.text("#explorer .empty") == "Checkmate.")

    def test_setup(self):
        self.click("#open-setup")
        self.click("#setup-clear")
        board = "#setup-board .board"
        for brush, name in (("K", "e1"), ("k", "e8"), ("R", "a1"), ("P", "h2")):
            self.click(f"#setup-board [data-brush={brush}]")
            self.click_square(name, board)
        self.click_square("h2", board)  # the same again removes it
        self.click("[name=castle-Q]")
        self.assertEqual(self.one("#setup [name=fen]").get_attribute("value"),
                         "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
        self.picture("setup")
        self.click("#setup button.main")
        self.until(lambda: not self.one("#setup").is_displayed())
        self.assertEqual(self.board(), {"a1": "R", "e1": "K", "e8": "k"})
        self.type("#move-text", "O-O-O" + Keys.ENTER)
        self.until(lambda: self.moves() == ["O-O-O"])

    def test_setup_that_is_not_possible_is_told(self):
        self.click("#open-setup")
        self.click("#setup-clear")
        self.click("#setup button.main")
        self.until(lambda: "empty" in self.text("#setup-wrong"))
        self.press(Keys.ESCAPE)
        self.assertEqual(self.board(), squares(START))

    def test_setup_without_a_king_is_told(self):
        self.click("#open-setup")
        self.click("#setup-board [data-brush=remove]")
        self.click_square("e8", "#setup-board .board")
        self.click("#setup button.main")
        self.until(lambda: self.text("#setup-wrong") == "Black has no king.")
        self.type("#setup [name=fen]", "4k3/8/8/8/8/8/8/P3K3 w - - 0 1")
        self.click("#setup button.main")
        self.until(lambda: "first or last rank" in self.text("#setup-wrong"))
        self.type("#setup [name=fen]", "4k3/8/8/8/8/8/8/4K2R b")
        self.click("#setup button.main")
        self.until(lambda: self.board() == {"e8": "k", "e1": "K", "h1": "R"})

    def test_typed_move_that_the_server_cannot_judge(self):
        self.legal()
        self.drag("e2", "e4")
        self.until(lambda: self.moves() == ["e4"])
        self.script("window.fetch = () => Promise.reject(new TypeError('planted'))")
        self.press("n")
        self.type("#move-text", "d4" + Keys.ENTER)
        self.press(Keys.TAB)
        self.script("const board = document.querySelector('#board .board'); board.blur()")
        self.drag("d2", "d4")
        self.until(lambda: "cannot be reached" in (self.text("#notice") or ""))

    def paste(self, text):
        self.click("#open-paste")
        self.script("document.getElementById('paste-text').value = arguments[0]", text)
        self.click("#paste button.main")

    def test_paste(self):
        self.paste("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
        self.until(lambda: self.board() == {"e1": "K", "e2": "P", "e8": "k"})
        self.paste('[White "A"]\n[Black "B"]\n\n1. e4 {best by test} e5 2. Nf3 (2. f4 exf4) Nc6 1-0')
        self.until(lambda: self.moves() == ["e4", "e5", "Nf3", "Nc6"])
        self.paste("d4 d5 c4")
        self.until(lambda: self.moves() == ["d4", "d5", "c4"])
        self.paste("4k3/8/8/8/8/8/8/4K2R")  # only what is on the board
        self.until(lambda: self.board() == {"e8": "k", "e1": "K", "h1": "R"})
        self.paste("d4 d5 c4")
        self.until(lambda: self.moves() == ["d4", "d5", "c4"])
        self.paste("1. e4 e5 2. Ke3")
        self.until(lambda: "Ke3" in self.text("#paste-wrong"))
        self.press(Keys.ESCAPE)
        self.assertEqual(self.moves(), ["d4", "d5", "c4"])

    def test_pasted_game_keeps_its_names(self):
        self.paste('[Event "Match"]\n[White "Adams"]\n[Black "Torre"]\n[WhiteElo "2600"]\n'
                   '[Date "1920.??.??"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 d6 1-0')
        self.until(lambda: self.moves() == ["e4", "e5", "Nf3", "d6"])
        self.assertEqual(self.text("#game-head"), "Adams (2600) – Torre 1–0Match, 1920")
        self.assertEqual(self.driver.title, "Adams – Torre · Chistore")
        self.until(lambda: len(self.all("#game-curve circle")) >= 2)
        self.assertFalse(self.one("#export-pgn").is_displayed())

    def test_paste_by_key(self):
        self.script("const data = new DataTransfer(); data.setData('text', 'e4 c5');"
                    "document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data,"
                    "bubbles: true, cancelable: true}))")
        self.until(lambda: self.one("#paste").is_displayed())
        self.click("#paste button.main")
        self.until(lambda: self.moves() == ["e4", "c5"])

    def test_links(self):
        self.open("#play=e2e4,c7c5")
        self.assertEqual(self.moves(), ["e4", "c5"])
        self.type("#move-text", "Nf3" + Keys.ENTER)
        self.until(lambda: self.driver.current_url.endswith("#play=e2e4,c7c5,g1f3"))
        self.press(Keys.TAB)
        address = self.driver.current_url
        self.open(address[address.index("#"):])
        self.assertEqual(self.moves(), ["e4", "c5", "Nf3"])
        self.open("#fen=4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1&play=e2e4&tab=bands")
        self.assertEqual(self.moves(), ["e4"])
        self.assertTrue(self.one("#bands").is_displayed())

    def test_link_that_names_nothing_is_told(self):
        self.open("#fen=nonsense")
        self.until(lambda: self.one("#notice").is_displayed())
        self.assertEqual(self.board(), squares(START))
        self.open("#game=99999999")
        self.until(lambda: self.one("#notice").is_displayed())


browser.main()
