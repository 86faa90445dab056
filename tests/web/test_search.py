# SPDX-License-Identifier: MIT
"""Search in the language of filters: words offered, errors marked, games with the moment found."""

import browser
from browser import Page, cli, harness

if browser.webdriver:
    from browser import Keys

TEXT = "#search textarea"
FOUND = "played captures next played captures next played captures"
BROKEN = "played captures nex played"
# What the server answers once to a search for all that fits.
TIMES_OUT = """
const real = window.fetch;
window.asked = [];
window.fetch = (path, ...rest) => {
	window.asked.push(path);
	return path.startsWith("/api/games") && !path.includes("total=0")
		? Promise.resolve(new Response('{"error": "the answer takes longer"}', { status: 504 }))
		: real(path, ...rest);
};
"""
# Searches that have no answer until they are ended.
HANGS = """
const real = window.fetch;
window.fetch = (path, options) => path.startsWith("/api/games") ? new Promise((_, fail) =>
	options.signal.addEventListener("abort", () => fail(options.signal.reason))) : real(path, options);
"""


class Search(Page):
    def setUp(self):
        super().setUp()
        self.open("#tab=search")

    def write(self, text):
        self.type(TEXT, text)

    def value(self):
        return self.script(f"return document.querySelector('{TEXT}').value")

    def offered(self):
        shown = "[...document.querySelectorAll('#search .suggestions:not([hidden]) li span:first-child')]"
        return self.script(f"return {shown}.map((node) => node.textContent)")

    def total(self):
        return (self.text("#search .total") or "").split(" of ")[-1].replace(",", "")

    def games(self, text):
        return cli(self.store, "games", "--filter", text)

    def wait_found(self, text):
        wanted = str(len(self.games(text)))
        self.until(lambda: self.total() == wanted, f"not {wanted}")

    def test_words_are_offered_with_the_keyboard(self):
        self.write("pl")
        self.until(lambda: self.offered() == ["player", "plies", "ply", "played"])
        self.press(Keys.ARROW_DOWN)
        self.press(Keys.ARROW_UP, Keys.ENTER)  # the last one
        self.assertEqual(self.value(), "played ")
        self.press("captures n")
        self.until(lambda: "next" in self.offered())
        self.press(Keys.ARROW_DOWN)
        active = self.one(TEXT).get_attribute("aria-activedescendant")
        self.assertEqual(self.one("#" + active).get_attribute("aria-selected"), "true")
        self.press(Keys.ESCAPE)
        self.assertEqual(self.offered(), [])
        self.assertIsNone(self.one(TEXT).get_attribute("aria-activedescendant"))

    def test_what_can_stand_at_the_cursor(self):
        for text, wanted, other in (
                ("", {"player", "has", "not", "("}, {"next", "and", "within", ")"}),
                ("check ", {"next", "then", "for", "times", "and", "or", "mate"}, {"within", ")"}),
                ("check then ", {"within", "mate"}, {"player", "next"}),
                ("(check or ", {"mate", "player"}, {"or", ")"}),
                ("(check ", {")", "or"}, {"within"}),
                ("player Norheim ", {"as", "opponent", "and"}, {"next"}),
                ("player Norheim as ", {"white", "black"}, {"player"}),
                ("shift ", {"files", "ranks"}, {"within"}),
                ("result 1-0,", {"1/2-1/2", "*"}, {"player"}),
                ("speed ", {"blitz"}, {"GM"}),
                ("title ", {"GM"}, {"blitz"}),
                ("endgame ", {"rook endings"}, {"check"}),
                ("nonsense ", set(), {"player"}),
                ("length ", set(), {"player"})):
            with self.subTest(text):
                self.write(text)
                self.until(lambda text=text: self.value() == text)
                self.hold(Keys.CONTROL, " ")
                self.until(lambda wanted=wanted: wanted <= set(self.offered()))
                self.assertEqual(set(self.offered()) & other, set())

    def test_a_word_in_the_middle_with_the_mouse(self):
        self.write("res 1-0 check")
        self.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "u")
        self.until(lambda: self.offered() == ["result"])
        self.click("#search .suggestions:not([hidden]) li")
        self.assertEqual(self.value(), "result 1-0 check")
        self.wait_found("result 1-0 check")

    def test_names_are_offered_and_quoted(self):
        name = self.games("player Norheim")[0]
        name = next(name[side] for side in ("white", "black") if "Norheim" in name[side])
        self.write("player Norh")
        self.until(lambda: name in self.offered())
        self.press(Keys.ARROW_DOWN)
        first = self.offered()[0]
        self.press(Keys.ENTER)
        written = f'"{first}"' if " " in first else first
        self.assertEqual(self.value(), f"player {written} ")
        self.wait_found(f"player {written}")

    def test_offered_in_the_filters_too(self):
        self.open()
        self.click("#filters summary")
        self.type("#filter-form [name=filter]", "resu")
        self.until(lambda: self.texts("[name=filter] + .suggestions:not([hidden]) span:first-child") == ["result"])
        self.press(Keys.ARROW_DOWN, Keys.ENTER)
        self.press("1-0")
        self.until(lambda: self.text("#filters-summary") == "result 1-0")

    def test_an_error_is_marked_where_it_is(self):
        self.write(FOUND)
        self.wait_found(FOUND)
        rows = self.texts("#search .games a")
        for text, marked, why in ((BROKEN, "nex", "'nex' begins no term"),
                                  ("player \u00e9\u00e9 fo", "fo", "'fo' begins no term"),
                                  ("check has \"Nd5 Zz9\"", "has", "piece"),
                                  ("played", "\u00a0", "played needs a value")):
            with self.subTest(text):
                self.write(text)
                self.until(lambda why=why: why.lower() in self.text("#search-wrong").lower())
                self.assertEqual(self.texts("#search mark"), [marked])
                self.assertEqual(self.one(TEXT).get_attribute("aria-invalid"), "true")
                self.assertEqual(self.texts("#search .games a"), rows)  # the last good ones
        self.picture("search-error")
        at, mark = self.one(TEXT).rect, self.one("#search mark").rect
        self.assertTrue(at["x"] < mark["x"] and mark["y"] + mark["height"] <= at["y"] + at["height"])
        self.write("result 1-0")
        self.wait_found("result 1-0")
        self.assertEqual((self.text("#search-wrong"), self.texts("#search mark")), ("", []))
        self.assertEqual(self.one(TEXT).get_attribute("aria-invalid"), "false")

    def test_games_have_the_board_at_the_moment_found(self):
        self.write(FOUND)
        self.wait_found(FOUND)
        self.until(lambda: self.all("#search .found .board"))
        found = {row["game"]: row["ply"] for row in self.games(FOUND)}
        number, ply = self.script("const { game, ply } = document.querySelector('.found').dataset;"
                                  "return [Number(game), Number(ply)]")
        self.assertEqual(found[number], ply)
        small = self.board("#search tbody tr:first-child .found .board")
        move = self.text("#search tbody tr:first-child td:last-child")
        self.assertEqual(move.split()[0], f"{ply // 2 + 1}." + ".." * (ply % 2))
        self.assertIn("x", move)
        self.picture("search")
        self.click("#search tbody tr:first-child a")
        self.until(lambda: f"game={number}&ply={ply}" in self.driver.current_url)
        self.until(lambda: self.board() == small)
        self.assertEqual(self.moves()[ply], move.split()[-1])
        self.driver.back()
        self.until(lambda: self.value() == FOUND)
        self.wait_found(FOUND)

    def test_pages(self):
        self.write("result 1-0")
        self.wait_found("result 1-0")
        self.until(lambda: len(self.all("#search tbody tr")) == 20)
        self.click("#search .game-list > button")
        self.until(lambda: len(self.all("#search tbody tr")) == 40)
        self.assertIn("rows=40", self.driver.current_url)

    def test_the_address_has_the_text(self):
        self.write(FOUND)
        self.wait_found(FOUND)
        self.write("length ..25 result 0-1")
        self.wait_found("length ..25 result 0-1")
        self.open("#" + self.driver.current_url.partition("#")[2])
        self.wait_found("length ..25 result 0-1")
        self.assertEqual(self.value(), "length ..25 result 0-1")
        self.click("#search summary")
        example = self.text("#search .examples li:last-child code")
        self.click("#search .examples li:last-child a")
        self.until(lambda: self.value() == example)
        self.wait_found(example)
        self.driver.back()
        self.until(lambda: self.value() == "length ..25 result 0-1")
        self.wait_found("length ..25 result 0-1")
        self.driver.forward()
        self.until(lambda: self.value() == example)

    def test_examples_can_be_read_by_the_server(self):
        for example in self.texts("#search .examples code"):
            done = harness.run_cli("games", "--filter", example, "--limit", "1", address=self.store)
            self.assertEqual((example, done.returncode), (example, 0), done.stderr)

    def test_a_search_that_is_cut_off_shows_the_first_games(self):
        self.script(TIMES_OUT)
        self.write("result 1-0")
        self.until(lambda: "cut off" in self.text("#search .actions .hint"))
        self.assertEqual(self.texts("#search .games a"), [row["white"] for row in self.games("result 1-0")][:20])
        self.assertEqual(self.text("#search .total"), "20 shown")
        self.click("#search .game-list > button")
        self.until(lambda: len(self.all("#search tbody tr")) == 40)

    def test_a_search_that_takes_long_is_stopped(self):
        self.write("result 1-0")
        self.wait_found("result 1-0")
        rows = self.texts("#search .games a")
        self.script(HANGS)
        self.write("result 0-1")
        self.until(lambda: self.text("#search .actions .hint") == "Still searching …")
        self.click("#search .actions button")
        self.until(lambda: self.text("#search .actions .hint") == "Stopped.")
        self.assertFalse(self.one("#search .actions button").is_displayed())
        self.assertEqual(self.texts("#search .games a"), rows)

    def test_markup_is_text(self):
        markup = "<img src=x onerror=window.owned=1>"
        self.open("#tab=search&search=" + markup.replace(" ", "%20"))
        self.until(lambda: self.text("#search-wrong") != "")
        self.assertEqual(self.texts("#search mark"), ["<img"])
        self.assertIsNone(self.script("return window.owned ?? null"))
        self.assertEqual(self.all("img[src=x]"), [])


browser.main()
