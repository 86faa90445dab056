# SPDX-License-Identifier: MIT
"""Opens the page of chistore-http in a real browser, on a store of games.

Debian's chromium, chromium-driver and python3-selenium do it. Without them, or unless
CHISTORE_BROWSER is "yes", the test is skipped (exit 77): a browser takes minutes, `make browser`. CHISTORE_HTTP names the program, CHISTORE_WEB its files, and CHISTORE_WEB_URL,
if it is set, a server of the same store that runs already. Pictures of what was seen are kept in
the directory CHISTORE_PICTURES.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "system"))
import harness  # noqa: E402

SKIP = 77
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

GAMES = os.path.join(ROOT, "tests", "data", "pgn", "games_300.pgn")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
READY = re.compile(r"ready, listening on \S*?(127\.0\.0\.1:\d+)")
# First moves with an evaluation, side to move's view after the move.
EVALUATED = {"e4": -25, "d4": -22, "Nf3": -18, "c4": -10}


def need_browser():
    """Ends the test as skipped where there is nothing to run it with."""
    if os.environ.get("CHISTORE_BROWSER") != "yes":
        print("# skipped: 'make browser' runs it")
        sys.exit(SKIP)
    if not (CHROMIUM and DRIVER and webdriver):
        print("# skipped: no chromium, chromium-driver or python3-selenium")
        sys.exit(SKIP)


def cli(store, *args):
    """The rows that the command line answers with."""
    done = harness.run_cli(*args, "--json", address=store)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def make_store():
    """Games, a gameset, and some evaluations."""
    store = os.path.join(harness.make_temp_dir(), "store")
    for args in (("import", GAMES), ("gameset", "create", "sicilians", "--eco", "B20..B99"),
                 ("put", "startpos", "--eval", "stockfish:30:28")):
        done = harness.run_cli(*args, address=store)
        assert done.returncode == 0, done.stderr
    for move, score in EVALUATED.items():
        fen = cli(store, "get", move)[0]["fen"]
        harness.run_cli("put", fen, "--eval", f"stockfish:28:{score}", address=store)
    return store


class Server:
    """chistore-http on a free port."""

    def __init__(self, store, *args):
        self.url = os.environ.get("CHISTORE_WEB_URL")
        self.process, self.args = None, args
        if not self.url:
            self.start(store)

    def start(self, store):
        command = [harness.program("CHISTORE_HTTP", "chistore-http"), "-a", store,
                   "--listen", "tcp:127.0.0.1:0", *self.args]
        if os.environ.get("CHISTORE_WEB"):
            command += ["--web", os.environ["CHISTORE_WEB"]]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        atexit.register(self.stop)
        deadline = threading.Timer(harness.START_TIMEOUT, self.process.kill)
        deadline.start()
        said = ""
        for line in self.process.stderr:
            said += line
            match = READY.search(line)
            if match:
                deadline.cancel()
                self.url = f"http://{match.group(1)}/"
                self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)
                self.reader.start()
                return
        raise RuntimeError(f"chistore-http did not start: {said}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=harness.STOP_TIMEOUT)
            self.reader.join()
            self.process.stderr.close()


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--force-prefers-reduced-motion", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    atexit.register(driver.quit)
    return driver


class Page(unittest.TestCase):
    """One browser and one server for the tests of a class; each test begins with a fresh page."""

    make_store = staticmethod(make_store)

    @classmethod
    def start_server(cls):
        return Server(cls.store)

    @classmethod
    def setUpClass(cls):
        cls.store = cls.make_store()
        cls.server = cls.start_server()
        cls.driver = open_browser()
        cls.resize(1400, 1000)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.server.stop()

    @classmethod
    def resize(cls, width, height, phone=False):
        cls.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})

    def setUp(self):
        self.planted = 0  # errors that the test itself put into the page
        self.open()

    def tearDown(self):
        """No error in the page's scripts, whatever else was tested, and none that it hid."""
        errors = self.script("return document.documentElement.dataset.errors")
        severe = [entry["message"] for entry in self.driver.get_log("browser")
                  if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]
        self.assertEqual(errors, str(self.planted), severe)
        self.assertEqual(self.one("#error-count").is_displayed(), self.planted > 0)
        if not self.planted:
            self.assertEqual(severe, [])

    def open(self, hash_=""):
        self.driver.get("about:blank")
        self.driver.get(self.server.url + hash_)
        self.until(lambda: self.script("return 'ready' in document.documentElement.dataset"))

    def script(self, text, *args):
        return self.driver.execute_script(text, *args)

    def until(self, condition, what="waited in vain"):
        """Waits for what the page does by itself."""
        def holds(_):
            try:
                return condition()
            except (AssertionError, IndexError):
                return False
        return WebDriverWait(self.driver, harness.PATIENCE, 0.02).until(holds, what)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])]"
                           ".map((node) => node.textContent)", selector)

    def click(self, selector):
        self.one(selector).click()

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def hold(self, modifier, key):
        ActionChains(self.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def type(self, selector, text):
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def moves(self):
        return self.texts("#line-moves button")

    def played(self):
        return self.text("#line-moves [aria-current]")

    def wait_rows(self, *first):
        """Waits until the table of moves begins with these."""
        self.until(lambda: self.texts(".moves .move")[:len(first)] == list(first))

    def square(self, name, board="#board .board", flipped=False):
        """The middle of a square, in pixels from the middle of the board."""
        size = self.one(board).rect["width"] / 8
        file, rank = "abcdefgh".index(name[0]), int(name[1]) - 1
        if flipped:
            file, rank = 7 - file, 7 - rank
        return round((file - 3.5) * size), round((3.5 - rank) * size)

    def point(self, name, board="#board .board", flipped=False):
        x, y = self.square(name, board, flipped)
        return ActionChains(self.driver, duration=10).move_to_element_with_offset(
            self.one(board), x, y)

    def click_square(self, name, board="#board .board", flipped=False):
        self.point(name, board, flipped).click().perform()

    def drag(self, start, end, flipped=False):
        here, there = self.square(start, flipped=flipped), self.square(end, flipped=flipped)
        (self.point(start, flipped=flipped).click_and_hold()
         .move_by_offset((there[0] - here[0]) // 2, (there[1] - here[1]) // 2)
         .move_by_offset(there[0] - here[0] - (there[0] - here[0]) // 2,
                         there[1] - here[1] - (there[1] - here[1]) // 2).release().perform())

    def legal(self):
        """Waits until the board knows what may be played; otherwise a click comes too early."""
        self.until(lambda: self.one("#board .board").get_attribute("data-legal") == "")

    def board(self, board="#board .board"):
        """What stands where, as the SVG has it: {"e4": "P"}. The board is not flipped."""
        found = self.script(
            "return [...document.querySelectorAll(arguments[0] + ' .piece')].map((node) =>"
            "[node.getAttribute('x'), node.getAttribute('y'), node.getAttribute('href'),"
            "node.classList.contains('white')])", board)
        return {"abcdefgh"[int(x)] + str(8 - int(y)): href[-1] if white else href[-1].lower()
                for x, y, href, white in found}

    def picture(self, name):
        folder = os.environ.get("CHISTORE_PICTURES")
        if folder:
            os.makedirs(folder, exist_ok=True)
            self.driver.save_screenshot(os.path.join(folder, name + ".png"))


def squares(fen):
    """{"e4": "P", ...} of a FEN."""
    found = {}
    for rank, row in zip("87654321", fen.split()[0].split("/")):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                found["abcdefgh"[file] + rank] = letter
                file += 1
    return found


def main():
    need_browser()
    unittest.main(verbosity=2)
