# SPDX-License-Identifier: MIT
"""The files of a store are replaced or emptied while a daemon serves it. The daemon notices, says
what happened and ends with an error; started again it serves what is there. The command line ends
with an error, too, where it would read for ever."""

import os
import shutil
import unittest

import harness

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
SECONDS = 30  # it looks every two


def made(commits):
    store = harness.make_store()
    for n in range(1, commits + 1):
        harness.run_cli("put", START, "--counts", f"{n},0,0", address=store)
    return store


def replace(store, name, source=None):
    path = os.path.join(store, name)
    shutil.copyfile(source or path, path + ".new")
    os.rename(path + ".new", path)


def zero(store, name):
    path = os.path.join(store, name)
    with open(path, "r+b") as file:
        file.write(bytes(os.path.getsize(path)))


class Stale(unittest.TestCase):
    def test_replaced_files_end_the_daemon(self):
        """Each by itself; they wait for it side by side."""
        daemons = []
        for change, name in ((replace, "data.mdb"), (replace, "lock.mdb"), (replace, "chistore.lock"),
                             (zero, "lock.mdb")):
            store = made(6)
            daemons.append((harness.start_daemon({"default": store}), store, change, name))
            change(store, name)
        for daemon, store, change, name in daemons:
            with self.subTest(name, change=change.__name__):
                self.assertGreater(daemon._wait(SECONDS), 0, "ended in order, or by a signal")
                self.assertIn(name, daemon.stderr_text())
                if change == replace:
                    with harness.start_daemon({"default": store}) as again:
                        self.assertEqual(again.stop(), 0)

    def test_lock_file_cut_short_ends_the_daemon(self):
        """It was a SIGBUS, and counted as a crash. Requests before it looks get an error."""
        store = made(6)
        daemon = harness.start_daemon({"default": store})
        os.truncate(os.path.join(store, "lock.mdb"), 0)
        for command in (("get", START), ("put", START, "--counts", "9,0,0"), ("scan",)):
            result = harness.run_cli(*command, address=daemon.address, timeout=SECONDS)
            self.assertEqual(result.returncode, 3, result.stderr)
        self.assertGreater(daemon._wait(SECONDS), 0)
        self.assertIn("was cut to 0 bytes", daemon.stderr_text())
        self.assertFalse(os.path.exists(os.path.join(store, "chistore.crashes")))
        with harness.start_daemon({"default": store}) as daemon:
            result = harness.run_cli("get", START, address=daemon.address)
            self.assertIn("6", result.stdout)
            self.assertEqual(daemon.stop(), 0)

    def test_zeroed_lock_file(self):
        """Nothing is read under it, nothing written over the last commit; it stops when told."""
        store = made(6)
        daemon = harness.start_daemon({"default": store})
        zero(store, "lock.mdb")
        for command in (("get", START), ("put", START, "--counts", "9,0,0")):
            result = harness.run_cli(*command, address=daemon.address, timeout=SECONDS)
            self.assertEqual(result.returncode, 3, result.stderr)
        self.assertGreaterEqual(daemon.stop(SECONDS), 0)
        result = harness.run_cli("get", START, address=store)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_command_line_beside_a_holder(self):
        """A program has the old file open: get and verify of the new one end with an error."""
        store, other = made(3), made(40)
        daemon = harness.start_daemon({"default": store})
        os.kill(daemon.pid, 19)  # so that it cannot look
        try:
            replace(store, "data.mdb", os.path.join(other, "data.mdb"))
            for command in (("get", START), ("verify",)):
                result = harness.run_cli(*command, address=store, timeout=SECONDS)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("lock.mdb", result.stderr)
        finally:
            daemon.kill()

    def test_hard_links_are_refused(self):
        store = made(1)
        second = harness.make_temp_dir()
        os.link(os.path.join(store, "data.mdb"), os.path.join(second, "data.mdb"))
        for path in (store, second):
            with self.assertRaisesRegex(RuntimeError, "2 hard links"):
                harness.start_daemon({"default": path})
