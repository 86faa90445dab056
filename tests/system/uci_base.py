# SPDX-License-Identifier: MIT
"""A GUI's end of a conversation with chistore-uci."""

import os
import queue
import re
import subprocess
import threading
import time

from cli_base import Base, program

PATIENCE = float(os.environ.get("CHISTORE_PATIENCE", "120"))
MOVE = re.compile(r"^bestmove ([a-h][1-8][a-h][1-8][nbrq]?)( ponder [a-h][1-8][a-h][1-8][nbrq]?)?$")


class Gui:
    """One end of a conversation."""

    def __init__(self, *args):
        self.process = subprocess.Popen([program("CHISTORE_UCI", "chistore-uci"), *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def say(self, *lines):
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else (line + "\n").encode())
        self.process.stdin.flush()

    def until(self, word):
        """The lines up to the one that begins with the word."""
        lines = []
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"ended before '{word}': {lines}")
            lines.append(line)
            if line.split(" ", 1)[0] == word:
                return lines

    def ask(self, *lines):
        """A search: its lines."""
        self.say(*lines)
        return self.until("bestmove")

    def timed(self, *lines):
        """The same, and how long it took."""
        begun = time.monotonic()
        lines = self.ask(*lines)
        return lines, time.monotonic() - begun

    def ready(self):
        self.say("isready")
        return self.until("readyok")[:-1]

    def quit(self):
        self.say("quit")
        self.process.stdin.close()
        self.reader.join(PATIENCE)
        code = self.process.wait(PATIENCE)
        text = self.process.stderr.read().decode()
        self.process.stderr.close()
        self.process.stdout.close()
        return code, text

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass


class Uci(Base):
    def gui(self, *args):
        gui = Gui(*args)
        self.addCleanup(gui.__exit__, None)
        return gui

    def best(self, lines):
        match = MOVE.match(lines[-1])
        self.assertIsNotNone(match, lines)
        return match.group(1)
