# SPDX-License-Identifier: MIT
"""chistore quickstart: from a file of games to the page, as one who has just installed it types it."""

import os
import signal
import subprocess
import urllib.request

import harness
import webserver
from cli_base import Base

HTTP = os.environ["CHISTORE_HTTP"]


class Quickstart(Base):
    def setUp(self):
        super().setUp()
        self.games = self.write("games.pgn", webserver.GAMES)
        # In place of the desktop's: it writes what it shall open into a pipe.
        self.opened = self.path("opened")
        os.mkfifo(self.opened)
        self.browser = self.path("bin")
        os.mkdir(self.browser)
        with open(os.path.join(self.browser, "xdg-open"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >{self.opened}\n')  # with the shell's own echo
        os.chmod(os.path.join(self.browser, "xdg-open"), 0o755)

    def start(self, *args, path=os.path.dirname(HTTP), **extra):
        env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "CHISTORE")}
        env.update(PATH=f"{self.browser}:{path}", **extra)
        process = subprocess.Popen([harness.program(), "quickstart", *args], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def url(self, process):
        for line in process.stderr:
            ready = webserver.READY.search(line)
            if ready:
                return f"http://{ready.group(1)}/"
        return self.fail(f"not ready: exit {process.wait()}")

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=harness.STOP_TIMEOUT)
        self.assertEqual(process.returncode, 0)
        return dict(line.split("\t") for line in out.splitlines())

    def test_games_on_the_page(self):
        listen = f"tcp:127.0.0.1:{harness.free_port()}"
        for imported in ("4", "0"):  # repeated, it shows them again
            process = self.start(self.games, "--listen", listen, DISPLAY=":0")
            url = self.url(process)
            self.assertEqual(url, listen.replace("tcp:", "http://") + "/")
            with open(self.opened, encoding="utf-8") as file:
                self.assertEqual(file.read(), url + "\n")
            with urllib.request.urlopen(url + "masters", timeout=harness.PATIENCE) as answer:
                self.assertIn(b'"white":1,"draws":1,"black":2', answer.read())
            self.assertEqual(self.stop(process)["imported"], imported)
        self.assertTrue(os.path.exists(os.path.join(self.dir, "games", "data.mdb")))

    def test_wrong(self):
        for args, code, said in ((("none.pgn",), 2, "none.pgn: No such file"),
                                 ((self.games, "-a", "unix:/x"), 2, "is a server's store; give a directory"),
                                 ((), 2, "quickstart needs"),
                                 ((self.games, "--listen", "nonsense"), 2, "nonsense")):
            process = self.start(*args, "--no-browser", DISPLAY=":0")
            _, errors = process.communicate(timeout=harness.PATIENCE)
            self.assertIn(said, errors)
            self.assertEqual(process.returncode, code, errors)
        process = self.start(self.games, path="/nowhere")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("the games are in ./games; cannot run chistore-http, which shows them: No such file", errors)
