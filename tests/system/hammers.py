# SPDX-License-Identifier: MIT
"""Runs the hammer, for the tests that set several of them on one store. CHISTORE_HAMMER: the
program."""

import os
import re
import subprocess
import tempfile
import time

FOUND = 1  # the exit code of one that saw what must not be
CUT = 3  # of a writer whose daemon went away
TIMEOUT = 120


class Hammer:
    """One process. What it says goes to files, for which it never has to wait."""

    def __init__(self, mode, address, *args):
        command = [os.environ["CHISTORE_HAMMER"], mode, address] + [str(arg) for arg in args]
        self._out = tempfile.TemporaryFile()
        self._err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self._out, stderr=self._err,
                                        stdin=subprocess.DEVNULL)

    def _text(self, file, most=None):
        """All that was said, or the last so many bytes of it."""
        size = os.fstat(file.fileno()).st_size
        part = min(size, most or size)
        return os.pread(file.fileno(), part, size - part).decode()

    def running(self):
        return self.process.poll() is None

    def reading(self):
        """A reader has had its first look, so it has a slot in the table of readers."""
        return self._text(self._out).startswith("reading ")

    def last_ack(self, before=0):
        """The last generation or game that it has told of; `before` if there is none."""
        acks = re.findall(r"^ack (\d+)\n", self._text(self._out, 100), re.M)
        return int(acks[-1]) if acks else before

    def finish(self, timeout=TIMEOUT):
        """(exit code, {word: [numbers]}, standard error)."""
        self.process.wait(timeout)
        words = {}
        for word, value in re.findall(r"^(\w+) (\d+)$", self._text(self._out), re.M):
            words.setdefault(word, []).append(int(value))
        return self.process.returncode, words, self._text(self._err)

    def stop(self):
        """Ends it in good order."""
        self.process.terminate()
        return self.finish()

    def close(self):
        if self.running():
            self.process.kill()
        self.process.wait()
        self._out.close()
        self._err.close()


def wait_until(writers, done):
    """Until done() is true; a writer that ends before is an error."""
    while not done():
        for writer in writers:
            if not writer.running():
                raise AssertionError(f"a writer ended early: {writer.finish()[2]}")
        time.sleep(0.0005)


def check(address, acked=(), added=(), exactly=False, first=0):
    """Of the writers from `first` on, what each had acknowledged; of the adders after them, what
    each was told of. The exit code, {"top": [...], "games": [...]}, and the complaints."""
    args = ["--writer", first]
    for name, numbers in (("--acked", acked), ("--added", added)):
        args += [name, ",".join(map(str, numbers))] if numbers else []
    hammer = Hammer("check", address, *args, *(["--exactly"] if exactly else []))
    try:
        return hammer.finish()
    finally:
        hammer.close()
