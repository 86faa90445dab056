# SPDX-License-Identifier: MIT
"""chistore-uci drives another engine, which may lie, hang and die."""

import json
import os
import sys
import time

import harness
from cli_base import program
from uci_base import Uci

LIAR = """
import sys, time
def say(text):
    sys.stdout.write(text + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == {hello!r}:
        while True: say("info string not yet")
    elif word == "uci": say("option name Lies type spin default 1 min 0 max 9"); say("uciok")
    elif word == "isready": say("readyok")
    elif word == "quit": break
    elif word == "go":
        {go}
"""


class Others(Uci):
    """Another engine searches."""

    def liar(self, go, hello=""):
        path = self.write("liar.py", LIAR.format(go=go, hello=hello))
        return f"{sys.executable} {path}"

    def answers(self, go, line="go movetime 200"):
        gui = self.gui("-e", self.liar(go))
        gui.ready()
        lines = gui.ask("position startpos", line)
        return gui, lines

    def test_an_engine(self):
        gui = self.gui("-e", program("CHISTORE_UCI", "chistore-uci"))
        lines = gui.ask("setoption name MultiPV value 2", "position startpos moves d2d4", "go depth 5")
        self.assertTrue(any(" multipv 2 " in line for line in lines))
        self.best(lines)
        gui.say("go infinite")
        gui.until("info")
        self.best(gui.ask("stop"))
        self.assertEqual(gui.quit(), (0, ""))

    def test_learns_from_it(self):
        store = self.new_store()
        command = self.liar('say("info depth 30 score cp 55 nodes 7 pv e2e4 e7e5"); say("bestmove e2e4")')
        gui = self.gui("-a", store, "-e", command)
        self.assertEqual(self.best(gui.ask("setoption name Learn value root", "position startpos", "go depth 30")), "e2e4")
        gui.quit()
        row, = json.loads(self.out("get", "startpos", "--json", address=store))["evals"]
        self.assertEqual((row["engine"], row["depth"], row["cp"]), ("engine", 30, 55))

    def test_liars(self):
        for go in (
                'say("bestmove e2e5")',                         # illegal
                'say("bestmove")',
                'say("bestmove " + "x" * 100000)',
                'sys.exit(1)',                                  # dies
                'say("info depth 9 score cp 1 pv e2e4"); sys.exit(1)',
                'sys.stdout.write("\\0\\xff" * 100000); sys.stdout.flush(); say(""); say("bestmove a1a1")',
        ):
            gui, lines = self.answers(go)
            self.best(lines)
            self.assertTrue(any("started again" in line or "no answer in time" in line for line in lines), (go, lines[:3]))
            # The next search has a new one, or none at all: there is an answer.
            self.best(gui.ask("go movetime 50"))
            gui.quit()

    def test_half_lines_and_nuls(self):
        """A line may come in pieces; a NUL ends it; what is no line yet when the engine ends is none."""
        for go, move in (
                ('sys.stdout.write("best"); sys.stdout.flush(); time.sleep(0.2); say("move e2e4")', "e2e4"),
                ('say("info depth 1\\0 bestmove a2a3"); say("bestmove e2e4\\0xyz")', "e2e4"),
                ('say("info depth 9 score cp 1 pv d2d4\\r"); sys.stdout.write("bestmove e2e4"); sys.exit(0)', "d2d4"),
        ):
            gui, lines = self.answers(go, "go movetime 2000")
            self.assertEqual(self.best(lines), move)
            gui.quit()

    def test_numbers_that_are_none(self):
        """Absurd figures of a search do not reach the store; its move is played."""
        store = self.new_store()
        for info in ("depth 99999999999 score cp 1 pv e2e4", "depth -3 score cp 1 pv e2e4", "depth 5 score cp x pv e2e4",
                     "depth 5 score mate 100000 pv e2e4", "depth 5 score cp 1 pv e2e5", "depth 5 score cp 1",
                     "depth 5 score cp 1 lowerbound pv e2e4", "depth 5 multipv 2 score cp 1 pv e2e4"):
            gui = self.gui("-a", store, "-e", self.liar(f'say("info {info}"); say("bestmove e2e4")'))
            self.assertEqual(self.best(gui.ask("setoption name Learn value root", "go depth 5")), "e2e4")
            gui.quit()
        self.assertEqual(self.cli("get", "startpos", address=store, code=1).stdout, "")

    def test_ponderhit_and_one_that_hangs(self):
        gui = self.gui("-e", self.liar("time.sleep(1000)"))
        gui.say("go ponder wtime 1000 btime 1000", "isready")
        gui.until("readyok")
        self.best(gui.ask("ponderhit"))
        gui.quit()

    def test_stop_at_once(self):
        """`stop` on the heels of `go` is heard by the other engine, however the two threads go."""
        gui = self.gui("-e", program("CHISTORE_UCI", "chistore-uci"))
        for _ in range(20):
            lines = gui.ask("position startpos", "go infinite", "stop")
            self.assertFalse([line for line in lines if "started again" in line], lines)
            self.best(lines)
        self.assertEqual(gui.quit(), (0, ""))

    def test_no_move_to_ask_for(self):
        gui = self.gui("-e", self.liar("sys.exit(1)"))
        self.assertEqual(gui.ask("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3"), ["bestmove 0000"])
        gui.quit()

    def test_one_that_floods_from_the_start(self):
        """`uciok` never comes; that is found out, and we search."""
        gui = self.gui("-e", self.liar("pass", hello="uci"))
        lines = gui.ask("position startpos", "go depth 2")
        self.assertIn("does not answer 'uci'", lines[0])
        self.best(lines)
        gui.quit()

    def test_one_that_hangs(self):
        gui, lines = self.answers("time.sleep(1000)", "go wtime 1500 btime 1500")
        self.best(lines)
        gui.quit()

    def test_one_that_floods(self):
        gui, lines = self.answers('\n        while True: say("info string " + "f" * 1000)', "go wtime 600 btime 600")
        self.best(lines)
        gui.quit()

    def test_commands_that_are_none(self):
        for command in ("/no/such/program", "'", "/bin/true", "$(reboot)"):
            gui = self.gui("-e", command)
            lines = gui.ask("position startpos", "go depth 2")
            self.assertTrue(lines[0].startswith("info string engine: "), lines)
            self.best(lines)
            gui.quit()


WAYWARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wayward_engine.py")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Wayward(Uci):
    """Whatever the other engine does, a move is out before the clock, and what the GUI says is heard at once."""

    def start(self, *faults):
        self.log = self.path("log")
        words = " ".join(f"'{word}'" for word in (sys.executable, WAYWARD, self.log, *faults))
        return self.gui("-e", words)

    def heard(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def quits(self, gui):
        """At once, and no engine is left."""
        begun = time.monotonic()
        self.assertEqual(gui.quit(), (0, ""))
        self.assertLess(time.monotonic() - begun, 5)
        for line in self.heard():
            if line.startswith("start "):
                self.assertFalse(is_alive(line.split()[2]))

    def test_one_that_hangs_does_not_lose_on_time(self):
        """movetime 100 was answered after 3.1 s, wtime 1000 after 1.9 s."""
        for fault in ("hangs at go", "half at go", "late at stop"):
            gui = self.start(fault)
            gui.ready()
            for line, limit in (("go movetime 100", 0.7), ("go wtime 2000 btime 2000", 2)):
                if fault.startswith("late") and "movetime" in line:
                    continue
                lines, took = gui.timed("position startpos", line)
                self.best(lines)
                self.assertLess(took, limit, (fault, line))
            self.quits(gui)
            os.remove(self.log)

    def test_one_that_is_late_is_kept(self):
        """Its best move is played, what it says later is dropped, and it goes on."""
        gui = self.start("late at stop")
        gui.ready()
        lines = gui.ask("position startpos", "go wtime 400 btime 400")
        self.assertIn("info string engine: no answer in time", lines)
        self.assertEqual(self.best(lines), "e2e4")
        self.assertEqual(gui.ready(), [])
        self.assertEqual(self.best(gui.ask("go movetime 5000")), "e2e4")
        self.assertEqual([line for line in self.heard() if line.startswith("start")].__len__(), 1)
        self.quits(gui)

    def test_one_that_owes_an_answer_is_told_nothing_else(self):
        """`setoption` and `ucinewgame` came while it searched still, where UCI allows only `stop`."""
        gui = self.start("owes at stop")
        gui.ready()
        lines = gui.ask("position startpos", "go wtime 400 btime 400")
        self.assertIn("info string engine: no answer in time", lines)
        told = ["setoption name SyzygyPath value /a", "setoption name Hash value 32", "ucinewgame",
                "setoption name SyzygyPath value /b"]
        gui.say(*told)
        self.best(gui.ask("position startpos", "go movetime 60000", "stop"))
        gui.ready()
        heard = self.heard()
        after = heard[heard.index("stop") + 1:]
        self.assertEqual(after[0], "bestmove")
        self.assertEqual([line for line in after if line in told], told)
        self.assertLess(after.index(told[-1]), after.index("isready"))
        self.quits(gui)

    def test_one_that_dies_and_hangs_when_it_is_started_again(self):
        """`stop` and `quit` were not heard for ten seconds."""
        gui = self.start("dies at go", "2:hangs at uci")
        gui.ready()
        self.best(gui.ask("position startpos", "go movetime 300"))
        harness.wait_for(lambda: any(line.startswith("start 2") for line in self.heard()))
        gui.say("go infinite")
        time.sleep(0.3)
        lines, took = gui.timed("stop")
        self.best(lines)
        self.assertLess(took, 3)
        lines, took = gui.timed("go wtime 2000 btime 2000")
        self.best(lines)
        self.assertLess(took, 2)
        self.quits(gui)

    def test_one_that_is_never_ready(self):
        """The GUI is heard while `isready` waits."""
        gui = self.start("hangs at isready")
        gui.say("uci")
        gui.until("uciok")
        gui.say("isready")
        lines, took = gui.timed("position startpos", "go wtime 2000 btime 2000")
        self.best(lines)
        self.assertLess(took, 2)
        gui.say("isready")
        self.quits(gui)

    def test_one_that_never_answers_is_given_up(self):
        gui = self.start("dies at go")
        gui.ready()
        lines = [line for _ in range(4) for line in gui.ask("position startpos", "go depth 1") if "engine: " in line]
        self.assertEqual(["not started" in line for line in lines], [False, False, True])
        self.quits(gui)

    def test_it_is_told_once(self):
        """`stop` and `ponderhit` on the heels of `go` came twice."""
        gui = self.start()
        gui.ready()
        for _ in range(10):
            self.best(gui.ask("position startpos", "go infinite", "stop"))
            self.best(gui.ask("go ponder wtime 9000 btime 9000", "ponderhit"))
        self.quits(gui)
        told = [line for line in self.heard() if line.split()[0] in ("go", "stop", "ponderhit")]
        for line, after in zip(told, told[1:]):
            self.assertNotEqual(line, after)
        self.assertLessEqual(told.count("stop"), 10)

    def test_its_options_are_the_hosts(self):
        """Threads, SyzygyPath and others were hidden; the Hash and Move Overhead that we had told it was not told."""
        gui = self.start()
        gui.say("uci")
        lines = gui.until("uciok")
        names = [line.split(" type ")[0].removeprefix("option name ") for line in lines if line.startswith("option ")]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("option name Threads type spin default 1 min 1 max 64", lines)
        self.assertLess({"Threads", "SyzygyPath", "UCI_ShowWDL", "Hash", "Store"}, set(names))
        gui.say("setoption name SyzygyPath value /a b", "setoption name hash value 32", "setoption name Ponder value true")
        gui.ready()
        self.best(gui.ask("position startpos", "go depth 1"))
        self.quits(gui)
        heard = self.heard()
        for line in ("setoption name Hash value 64", "setoption name Move Overhead value 30"):
            self.assertLess(heard.index(line), heard.index("isready"))
        for line in ("setoption name SyzygyPath value /a b", "setoption name hash value 32"):
            self.assertLess(heard.index(line), heard.index("go depth 1"))
        self.assertFalse([line for line in heard if "Ponder" in line or "Store" in line])

    def test_draws_of_the_game_are_not_learned_from_it(self):
        """A draw that it tells may be one by repetition."""
        store = self.new_store()
        for info, moves, code in (("cp 0", "g1f3 g8f6", 1), ("cp 0", "e2e4 e7e5", 0), ("cp 9", "b1c3 b8c6", 0),
                                  ("cp 9", "b1c3 b8c6 c3b1 c6b8 b1c3 b8c6 c3b1", 1)):
            with open(self.path("say.py"), "w", encoding="ascii") as file:
                move = "g8f6" if len(moves.split()) % 2 else "d2d4"
                file.write(LIAR.format(hello="", go=f'say("info depth 5 score {info} pv {move}"); say("bestmove {move}")'))
            gui = self.gui("-a", store, "-e", f"{sys.executable} {self.path('say.py')}")
            gui.say("setoption name Learn value root")
            gui.ready()
            gui.ask(f"position startpos moves {moves}", "go depth 5")
            gui.quit()
            self.cli("get", "startpos", *moves.split(), address=store, code=code)
