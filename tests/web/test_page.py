# SPDX-License-Identifier: MIT
"""The page as a whole: phones, both themes, what everyone can read and reach, weight, and errors."""


import browser
from browser import Page

if browser.webdriver:
    from browser import Keys

PANELS = ("explorer", "bands", "pattern", "search", "statistics", "trainer")
TRANSFER_MOST = 150 * 1024
PAINT_MOST = 300      # milliseconds
CONTRAST_LEAST = 4.5  # WCAG AA for text
TOUCH_LEAST = 24      # pixels, WCAG 2.2 AA

# Text that is hard to read: [text, ratio] of each visible text node, against what is behind it.
CONTRASTS = """
const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => {
	const [r, g, b] = numbers(colour).map((value) => channel(value / 255));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
	for (let at = node; at; at = at.parentElement) {
		const colour = getComputedStyle(at).backgroundColor;
		if (numbers(colour)[3] !== 0) return colour;
	}
	return "rgb(255, 255, 255)";
};
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
	const node = walk.currentNode.parentElement;
	if (!walk.currentNode.textContent.trim() || node.closest("svg, script, noscript, .unseen, option") ||
		!node.checkVisibility() || node.closest(":disabled")) continue;
	const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
	found.push([walk.currentNode.textContent.trim(), (a + 0.05) / (b + 0.05)]);
}
return found;
"""

# Controls that a screen reader could not name.
NAMELESS = """
return [...document.querySelectorAll("button, input, select, textarea, a[href], [role=application]")]
	.filter((node) => !(node.getAttribute("aria-label") || node.labels?.length ||
		node.textContent.trim() || node.title))
	.map((node) => node.outerHTML.slice(0, 120));
"""


class Whole(Page):
    def show(self, panel):
        self.open(f"#play=e2e4,c7c5&tab={panel}")
        self.settle(panel)

    def settle(self, panel):
        """Waits until a panel shows what it fetched."""
        wanted = {"explorer": ".moves tbody tr", "bands": "#bands .boards li",
                  "pattern": "#pattern .palette button", "search": "#search .examples a", "statistics": "[data-by=player] .chart g",
                  "trainer": "#trainer .actions button"}
        self.until(lambda: len(self.all(wanted[panel])) > 0)

    def emulate(self, dark):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def tearDown(self):
        super().tearDown()
        self.resize(1400, 1000)
        self.emulate(dark=False)

    def test_phone(self):
        self.resize(360, 740, phone=True)
        for panel in PANELS:
            with self.subTest(panel):
                self.show(panel)
                self.assertLessEqual(self.script("return document.scrollingElement.scrollWidth"), 360)
                tabs = self.all("#tabs [role=tab]")
                self.assertLessEqual(max(tab.rect["x"] + tab.rect["width"] for tab in tabs), 360)
                self.picture(f"phone-{panel}")
        self.show("explorer")
        self.legal()
        self.click_square("g1")
        self.click_square("f3")
        self.until(lambda: self.moves() == ["e4", "c5", "Nf3"])
        sizes = [(button.rect["width"], button.rect["height"], button.get_attribute("outerHTML")[:80])
                 for button in self.all("#board-side button") if button.is_displayed()]
        self.assertEqual([size for size in sizes if min(size[:2]) < TOUCH_LEAST], [])

    def test_screens(self):
        """Nothing is cut or pushed out of sight, whatever the width: the first moves stand on the first screen, the games
        have all their columns."""
        for width, height, phone in ((320, 640, True), (390, 844, True), (768, 1024, True), (1280, 800, False)):
            self.resize(width, height, phone)
            for panel in PANELS:
                with self.subTest(panel, width=width):
                    self.show(panel)
                    self.assertLessEqual(self.script("return document.scrollingElement.scrollWidth"), width)
            with self.subTest(width=width):
                self.show("explorer")
                self.until(lambda: self.texts(".games a"))
                bottoms = self.script("return [...document.querySelectorAll('.moves tbody tr')]"
                                      ".map((row) => row.getBoundingClientRect().bottom)")
                self.assertGreaterEqual(len([bottom for bottom in bottoms if bottom <= height]), 3, bottoms)
                cut = self.script("return [...document.querySelectorAll('.scroll')].filter((place) =>"
                                  "place.scrollWidth > place.clientWidth).map((place) => place.textContent.slice(0, 60))")
                self.assertEqual(cut, [])
                self.picture(f"screen-{width}")

    def test_phone_with_a_game(self):
        self.resize(360, 740, phone=True)
        self.open("#game=1&ply=12")
        self.until(lambda: self.one("#game-curve svg").is_displayed())
        self.assertLessEqual(self.script("return document.scrollingElement.scrollWidth"), 360)
        self.picture("phone-game")

    def test_themes_can_be_read(self):
        for dark in (False, True):
            self.emulate(dark)
            for panel in PANELS:
                with self.subTest(panel, dark=dark):
                    self.show(panel)
                    found = self.script(CONTRASTS)
                    self.assertGreater(len(found), 10)
                    self.assertEqual([f for f in found if f[1] < CONTRAST_LEAST], [])
                    if dark:
                        self.picture(f"dark-{panel}")

    def test_theme_switch(self):
        back = "return getComputedStyle(document.body).backgroundColor"
        light = self.script(back)
        self.emulate(dark=True)
        dark = self.script(back)
        self.assertNotEqual(light, dark)
        self.click("#theme")  # from the system's to light
        self.assertEqual(self.script(back), light)
        self.open()
        self.assertEqual(self.script(back), light)
        self.click("#theme")
        self.emulate(dark=False)
        self.assertEqual(self.script(back), dark)
        self.click("#theme")
        self.assertEqual(self.script(back), light)

    def test_controls_have_names(self):
        for panel in PANELS:
            with self.subTest(panel):
                self.show(panel)
                self.assertEqual(self.script(NAMELESS), [])

    def test_tab_key_reaches_the_board_and_the_moves(self):
        self.open()
        self.wait_rows("e4")
        reached = []
        for _ in range(60):
            self.press(Keys.TAB)
            reached.append(self.script("const a = document.activeElement;"
                                       "return a.id || a.className.baseVal || a.className"))
        for wanted in ("board", "move-text", "tab-explorer", "move"):
            self.assertIn(wanted, reached)

    def test_panels_by_keys(self):
        self.open()
        for key, panel in zip("654321", reversed(PANELS)):
            self.hold(Keys.SHIFT, key)
            self.until(lambda panel=panel: self.one(f"#{panel}").is_displayed())
            self.assertEqual([p for p in PANELS if self.one(f"#{p}").is_displayed()], [panel])
        self.one("#tab-explorer").send_keys(Keys.ARROW_RIGHT)
        self.until(lambda: self.one("#bands").is_displayed())
        self.assertIn("tab=bands", self.driver.current_url)

    def test_weight(self):
        """What a first visit transfers, and how soon something is seen: the best of five visits."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        self.open()
        self.wait_rows("e4")
        entries = self.script("return performance.getEntries().filter((e) => 'transferSize' in e)"
                              ".map((e) => [e.name, e.transferSize])")
        total = sum(size for _, size in entries)
        self.assertGreater(len(entries), 20)
        self.assertLess(total, TRANSFER_MOST, entries)
        hosts = {name.split("/")[2] for name, _ in entries}
        self.assertEqual(hosts, {self.server.url.split("/")[2]})
        paints = [self.first_paint() for _ in range(5)]
        print(f"# {total / 1024:.1f} KB in {len(entries)} answers; first paint after "
              f"{', '.join(f'{paint:.0f}' for paint in paints)} ms")
        self.assertLess(min(paints), PAINT_MOST)

    def first_paint(self):
        self.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        self.open()
        paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
        self.until(lambda: self.script(paint) > 0)
        return self.script(paint)

    def test_picture_for_the_readme(self):
        self.resize(1280, 820)
        self.open("#play=e2e4,c7c5,g1f3,d7d6,d2d4")
        self.until(lambda: self.texts(".games a"))
        self.wait_rows("cxd4")
        self.legal()
        self.picture("explorer")


class Errors(Page):
    def test_errors_are_counted(self):
        self.script("document.querySelector('#board .coordinates').replaceChildren = null")
        self.click("#flip")
        self.until(lambda: self.text("#error-count") == "1 error in this page")
        self.script("Response.prototype.json = () => Promise.reject(new TypeError('planted'))")
        self.legal()
        self.drag("e2", "e4", flipped=True)
        self.until(lambda: "errors in this page" in self.text("#error-count"))
        self.planted = int(self.text("#error-count").split()[0])
        self.assertGreaterEqual(self.planted, 2)

    def test_server_that_is_gone_is_told(self):
        if not self.server.process:
            self.skipTest("the server is not ours")
        self.open()
        self.wait_rows("e4")
        self.server.stop()
        try:
            self.click("[data-uci=e2e4] button")
            self.until(lambda: "cannot be reached" in (self.text("#notice") or ""))
            self.click("#tab-statistics")
            self.until(lambda: "cannot be reached" in self.text("#statistics .statistic .hint"))
        finally:
            self.server.start(self.store)


browser.main()
