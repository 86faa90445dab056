#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Imports, removals and changes of names killed at any moment, and repeated: what is stored in the
end is what one that is not disturbed stores, byte for byte, and the archive agrees with it.

CHISTORE_IMPORT_KILLS: how often an import is killed (default: 20); changes of names a quarter as often.
"""

import os
import re
import shutil
import signal
import subprocess
import time

import harness
from cli_base import Base, spawn

DATA = os.environ["CHISTORE_TEST_DATA"]
GAMES = os.path.join(DATA, "pgn", "games_300.pgn")
KILLS = int(os.environ.get("CHISTORE_IMPORT_KILLS", "20"))


class Kill(Base):
    def setUp(self):
        super().setUp()
        self.random = harness.seed()
        with open(GAMES, encoding="latin-1") as file:
            parts = file.read().split('[Event "')
        games = ['[Event "' + part for part in parts[1:]]
        # Enough for lists of games in each tree; more would only make each of many imports longer.
        games = games[:120]
        half = len(games) // 2
        self.halves = [self.write("first.pgn", "".join(games[:half]).encode("latin-1")),
                       self.write("second.pgn", "".join(games[half:]).encode("latin-1"))]

    def dump(self, store):
        return self.counts(store)

    def kill_one(self, store, pgn, longest, command="import"):
        """Kills the command after a random share of the time it takes; True if it was in time."""
        process = spawn("--quiet", command, "--threads", "2", pgn, address=store,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # Chance, not order, decides where the kill falls; nothing depends on when it does.
            process.wait(self.random.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def test_killed_and_repeated(self):
        """Into a new store, and into one that holds games; each state is before or after."""
        base, whole = self.path("base"), self.path("whole")
        begin = time.monotonic()
        self.out("import", self.halves[0], address=base)
        longest = (time.monotonic() - begin) * 1.2
        shutil.copytree(base, whole)
        self.out("import", self.halves[1], address=whole)
        before, after = self.dump(base), self.dump(whole)
        killed, unfinished = 0, 0
        for number in range(KILLS):
            store = self.path(f"store{number}")
            fresh = number % 2 == 0
            if not fresh:
                shutil.copytree(base, store)
            in_time = self.kill_one(store, self.halves[0 if fresh else 1], longest)
            killed += in_time
            if os.path.exists(store):
                found = self.dump(store)
                self.assertIn(found, (before, after))
                unfinished += in_time and found == before and not fresh
                self.cli("verify", address=store)
            else:
                self.assertTrue(fresh and in_time)
                unfinished += 1
            self.out("import", self.halves[0], address=store)
            self.out("import", self.halves[1], address=store)
            self.assertEqual(self.dump(store), after)
            shutil.rmtree(store)
        # Otherwise nothing was tried.
        self.assertGreater(killed, 0)
        self.assertGreater(unfinished, 0)
        print(f"# figures: {KILLS} imports, {killed} killed, {unfinished} of them before their "
              "commit, each repeated to the same bytes", flush=True)
        left = [name for name in os.listdir(self.dir) if name.startswith(".")]
        print(f"# left behind: {len(left)}")

    def test_removals_killed_and_repeated(self):
        """Games are taken out of all trees, or of none; then they come again."""
        both = self.path("both")
        for half in self.halves:
            self.out("import", half, address=both)
        store = self.path("store")
        shutil.copytree(both, store)
        begin = time.monotonic()
        self.out("subtract", self.halves[0], address=store)
        longest = (time.monotonic() - begin) * 1.2
        before, after = self.dump(both), self.dump(store)
        killed, unfinished = 0, 0
        for _ in range(KILLS):
            shutil.rmtree(store)
            shutil.copytree(both, store)
            in_time = self.kill_one(store, self.halves[0], longest, "subtract")
            found = self.dump(store)
            self.assertIn(found, (before, after))
            killed += in_time
            unfinished += in_time and found == before
            self.cli("verify", address=store)
            self.cli("subtract", self.halves[0], address=store)
            self.assertEqual(self.dump(store), after)
            self.cli("verify", address=store)
            self.out("import", self.halves[0], address=store)
            self.assertEqual(self.dump(store), before)
            self.cli("verify", address=store)
        self.assertGreater(killed, 0)
        self.assertGreater(unfinished, 0)
        print(f"# figures: {KILLS} removals, {killed} killed, {unfinished} of them before their "
              "commit, each repeated to the same bytes", flush=True)

    # ---- Names ----

    def names_of_players(self):
        players = []
        for half in self.halves:
            with open(half, encoding="latin-1") as file:
                players += re.findall(r'(?m)^\[(?:White|Black) "([^"]+)"\]$', file.read())
        return sorted(set(players))

    def write_spelling(self, name, pairs):
        """A spelling file: each second name is another way to write the first."""
        text = "@PLAYER\n" + "".join(f"{right}\n= {wrong}\n" for right, wrong in pairs)
        return self.write(name, text.encode("latin-1"))

    def of_names(self, store):
        """All that names mean: which are joined, the games of a player, and a gameset of his games."""
        return (self.out("dump", address=store),
                self.out("games", "--player", self.player, "--count", address=store),
                self.out("games", "--in", "his", "--count", address=store),
                self.out("stats", "--by", "player", address=store))

    def make_named(self):
        """A store with a gameset of a player, and what changes his name: commands, and the states
        before and after them."""
        players = self.names_of_players()
        pairs = list(zip(players[::2], players[1::2]))
        self.player = pairs[0][0]
        self.assertGreater(len(pairs), 50)
        spelling = self.write_spelling("all.ssp", pairs)
        store = self.path("named")
        for half in self.halves:
            self.out("import", half, address=store)
        self.out("gameset", "create", "his", "--player", self.player, address=store)
        states = [self.of_names(store)]
        commands = [("alias", "import", spelling), ("name", "unalias", pairs[0][1]),
                    ("name", "alias", pairs[0][1], pairs[0][0])]
        longest = 0
        for number, command in enumerate(commands):
            shutil.copytree(store, self.path(f"before{number}"))
            begin = time.monotonic()
            self.out(*command, address=store)
            longest = max(longest, (time.monotonic() - begin) * 1.2)
            self.cli("verify", address=store)
            states.append(self.of_names(store))
        self.assertEqual(states[1][1:], states[3][1:])
        self.assertNotIn(states[2][1], (states[1][1], "0\n"))
        # The control: half of the changes is seen to be none of the states.
        half = shutil.copytree(self.path("before0"), self.path("half"))
        self.out("alias", "import", self.write_spelling("half.ssp", pairs[:len(pairs) // 2]), address=half)
        self.assertNotIn(self.of_names(half), states)
        return commands, states, longest

    def kill_change(self, command, store, longest, served):
        """Kills the command, or the daemon that does it; True if it was in time."""
        if not served:
            process = spawn("--quiet", *command, address=store, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
            try:
                process.wait(self.random.uniform(0, longest))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        daemon = harness.start_daemon({"default": store})
        process = spawn("--quiet", *command, address=daemon.address, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
        try:
            process.wait(self.random.uniform(0, longest))
        except subprocess.TimeoutExpired:
            pass
        in_time = process.poll() is None
        daemon.kill()
        process.kill()
        process.wait()
        return in_time

    def kill_changes(self, served):
        commands, states, longest = self.make_named()
        killed = rounds = 0
        # On a busy machine changes may all be done before they are killed: more rounds then.
        while rounds < max(KILLS // 4, 3) or (killed == 0 and rounds < 60):
            number, rounds = rounds, rounds + 1
            which = number % len(commands)
            store = shutil.copytree(self.path(f"before{which}"), self.path("store"))
            killed += self.kill_change(commands[which], store, longest, served)
            self.assertIn(self.of_names(store), states[which:which + 2])
            self.cli("verify", address=store)
            self.out(*commands[which], address=store)
            self.assertEqual(self.of_names(store), states[which + 1])
            self.cli("verify", address=store)
            shutil.rmtree(store)
        self.assertGreater(killed, 0)
        print(f"# figures: {rounds} changes of names{' by a daemon' if served else ''}, {killed} killed, "
              "each repeated to the same bytes", flush=True)

    def test_changes_of_names_killed_and_repeated(self):
        """Names, their gameset and games by them are as before or as after, wherever one dies."""
        self.kill_changes(False)

    def test_daemon_killed_that_changes_names(self):
        self.kill_changes(True)
