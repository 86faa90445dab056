# SPDX-License-Identifier: MIT
"""What the page does not trust: texts of games, which anyone may have written, and who it may be
asked by: a server that wants a token."""

import hashlib
import os
import urllib.request

import browser
from browser import Page, cli, harness

if browser.webdriver:
    from browser import Keys

MARKUP = "<img src=x onerror=window.owned=1>"
SCRIPT = "</script><script>window.owned=1</script>"
RIGHT_TO_LEFT = "\u202egnusraC\u05d0\u05d1\u05d2"
LONG = "Wolfe" * 204 + "Wol"  # the longest name that is not refused
STYLE = "javascript:window.owned=1"
TAGS = "[Event \"{0}\"]\n[Site \"{1}\"]\n[Date \"2020.01.0{2}\"]\n[White \"{3}\"]\n[Black \"{4}\"]\n" \
       "[WhiteElo \"2700\"]\n[BlackElo \"2700\"]\n[Result \"1-0\"]\n\n{5} 1-0\n\n"
GAMES = "".join([
    TAGS.format(MARKUP, SCRIPT, 1, MARKUP, RIGHT_TO_LEFT, "1. e4 e5 2. Nf3 Nc6"),
    TAGS.format(LONG, STYLE, 2, LONG, LONG[:-1] + "b", "1. e4 c5 2. Nf3 d6"),
    TAGS.format("\"'&lt;b&gt;`${1}", "..", 3, "{{7*7}}", "&amp;amp;", "1. d4 d5"),
]).replace('"\"\'', '"\\"\'')


def make_store():
    folder = harness.make_temp_dir()
    path, store = os.path.join(folder, "hostile.pgn"), os.path.join(folder, "store")
    with open(path, "w", encoding="utf-8") as file:
        file.write(GAMES)
    for args in (("import", path), ("put", "startpos", "--note", MARKUP),
                 ("gameset", "create", "b-onload", "--result", "1-0")):
        done = harness.run_cli(*args, address=store)
        assert done.returncode == 0, done.stderr
    return store


class Hostile(Page):
    make_store = staticmethod(make_store)

    def harmless(self):
        self.assertIsNone(self.script("return window.owned ?? null"))
        self.assertEqual(self.script("return document.querySelectorAll('img[src=x], script:not([src])')"
                                     ".length"), 0)
        self.assertLessEqual(self.script("return document.scrollingElement.scrollWidth"),
                             self.script("return innerWidth"))

    def test_texts_are_texts(self):
        self.wait_rows("e4")
        self.until(lambda: MARKUP in self.texts(".games a"))
        self.assertIn(LONG, self.texts(".games a"))
        self.assertIn(MARKUP, self.text(".about"))
        self.harmless()
        self.picture("hostile")

    def test_games(self):
        for row in cli(self.store, "games"):
            self.open(f"#game={row['game']}")
            self.until(lambda row=row: row["white"] in self.text("#game-head"))
            self.harmless()
        self.picture("hostile-game")

    def test_a_phone(self):
        self.resize(360, 740, phone=True)
        try:
            for address in ("", "#game=2", "#tab=statistics"):
                self.open(address)
                self.until(lambda: self.texts(".games a, .chart text"))
                self.harmless()
        finally:
            self.resize(1400, 1000)

    def test_names_are_suggested(self):
        self.click("#filters summary")
        self.type("[name=player]", "<img")
        self.until(lambda: self.texts(".suggestions li span:first-child") == [MARKUP])
        self.harmless()
        self.click(".suggestions li")
        self.until(lambda: self.text("#filters-summary") == MARKUP)
        self.type("[name=event]", "Wolfe")
        self.until(lambda: self.one("[name=event] + .suggestions").is_displayed())
        self.harmless()

    def test_statistics(self):
        self.open("#tab=statistics")
        self.until(lambda: any("img src" in text for text in self.texts("[data-by=player] text")))
        self.harmless()

    def test_names_keep_their_own_direction(self):
        """Text from right to left does not turn what is beside it around."""
        self.open("#game=1")
        self.until(lambda: self.texts("#game-head bdi")[:2] == [MARKUP, RIGHT_TO_LEFT])
        self.open("#player=" + RIGHT_TO_LEFT + "&since=2010")
        self.until(lambda: self.texts("#filters-summary bdi") == [RIGHT_TO_LEFT, "2010"])

    def test_addresses(self):
        for address in ("#game=..%2Finfo", "#fen=" + "%3Cimg src=x%3E", "#play=<script>",
                        "#tab=__proto__", "#tab=%3Cb%3E", "#__proto__=1&constructor=2", "#ply=NaN",
                        "#%E0%A4%A", "#player=" + "%3Csvg onload%3E"):
            self.open(address)
            self.harmless()
            self.assertTrue(self.one("#explorer").is_displayed(), address)

    def test_a_pasted_game(self):
        self.click("#open-paste")
        self.script("document.getElementById('paste-text').value = arguments[0]", GAMES)
        self.click("#paste button.main")
        self.until(lambda: MARKUP in (self.text("#game-head") or ""))
        self.harmless()

    def test_policy(self):
        with urllib.request.urlopen(self.server.url) as answer:
            policy = answer.headers["Content-Security-Policy"].split("; ")
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(policy[0], "default-src 'none'")
        for rule in ("script-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
                     "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
            self.assertIn(rule, policy)


class Forgetful(Page):
    def test_a_browser_that_keeps_nothing(self):
        """Neither colours nor cards nor tokens, as with all cookies refused; all else works."""
        planted = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            for (const name of ["localStorage", "sessionStorage"]) {
                Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
            }"""})
        try:
            self.open("#play=e2e4")
            self.wait_rows("c5")
            self.click("#theme")
            self.click("#tab-trainer")
            self.until(lambda: "cards are due" in self.text("#trainer"))
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", planted)


class Tokens(Page):
    @classmethod
    def start_server(cls):
        path = os.path.join(harness.make_temp_dir(), "access")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"token {hashlib.sha256(b'secret').hexdigest()} read\n")
        return browser.Server(cls.store, "--access", path)

    def open(self, hash_=""):
        """Without waiting: the page is ready only once it has a token."""
        self.driver.get("about:blank")
        self.driver.get(self.server.url + hash_)

    def setUp(self):
        super().setUp()
        self.script("sessionStorage.clear()")
        self.open("#play=e2e4")

    def answer(self, text):
        self.until(lambda: self.one("#token").is_displayed())
        self.type("#token-text", text + Keys.ENTER)

    def test_token(self):
        self.until(lambda: "asks for a token" in self.text("#token-why"))
        self.answer("wrong")
        self.until(lambda: self.one("#token").is_displayed() and
                   self.one("#token-text").get_attribute("value") == "")
        self.picture("token")
        self.answer("secret")
        self.until(lambda: self.moves() == ["e4"])
        self.wait_rows("c5")
        self.assertNotIn("secret", self.driver.current_url)
        self.assertIsNone(self.script("return localStorage.getItem('chistore.token')"))
        self.driver.refresh()
        self.wait_rows("c5")  # it is not asked for twice
        self.assertFalse(self.one("#token").is_displayed())

    def test_no_token(self):
        self.until(lambda: self.one("#token").is_displayed())
        self.picture("token")
        self.press(Keys.ESCAPE)
        self.until(lambda: "token" in self.text("#failure-text"))
        self.assertFalse(self.one("#token").is_displayed())
        self.press("2")  # nothing is there to be shown
        self.click("#open-token")
        self.answer("secret")
        self.wait_rows("c5")

    def test_token_that_ends(self):
        self.answer("secret")
        self.wait_rows("c5")
        self.script("sessionStorage.setItem('chistore.token', 'wrong')")
        self.click("[data-uci=c7c5] button")
        self.answer("secret")
        self.until(lambda: self.moves() == ["e4", "c5"] or self.moves() == ["e4"])
        self.assertFalse(self.one("#token").is_displayed())

    def test_games_are_saved(self):
        self.answer("secret")
        self.wait_rows("c5")
        self.open("#game=1")
        self.until(lambda: self.one("#export-pgn").is_displayed())
        self.script("const made = URL.createObjectURL; window.saved = '';"
                    "URL.createObjectURL = (file) => { file.text().then((text) => { saved = text; });"
                    " return made(file); }")
        self.click("#export-pgn")
        self.until(lambda: "[White " in self.script("return window.saved"))


class Writers(Page):
    """Any one may read; the queue is for those with a token."""

    @classmethod
    def start_server(cls):
        path = os.path.join(harness.make_temp_dir(), "access")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"token {hashlib.sha256(b'pen').hexdigest()} write\n")
        cls.daemon = harness.start_daemon({"default": cls.store})
        return browser.Server(cls.store, "--access", path, "--public-read", "--write-to", cls.daemon.address)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.daemon.stop()

    def test_a_token_is_asked_for_where_it_is_needed(self):
        self.open("#play=h2h4")
        self.click("#analyse")
        self.until(lambda: "needs the role write" in self.text("#token-why"))
        self.type("#token-text", "pen" + Keys.ENTER)
        self.until(lambda: "in the queue" in (self.text("#notice span") or ""))


browser.main()
