# SPDX-License-Identifier: MIT
"""A UCI engine that errs: wayward_engine.py LOG [FAULT]...

Each line that it reads is added to the file LOG, and "start" with its number when it begins. It searches until it is
told to stop, or of "movetime" and "depth" at once, and answers e2e4. A fault is of all starts, or with "2:" before
it of the second and later ones: "hangs at WORD", "dies at WORD", "half at WORD" (writes half a line, and hangs),
"late at WORD" (by two seconds). "owes at stop": the answer to `stop` comes two seconds later, and is noted as
"bestmove", while it reads on.
"""

import os
import sys
import threading
import time


class Engine:
    def __init__(self, log, faults):
        self.log = log
        start = 1 + (open(log, encoding="utf-8").read().count("start ") if os.path.exists(log) else 0)
        self.note(f"start {start} {os.getpid()}")
        self.faults = [fault.removeprefix("2:") for fault in faults if start > 1 or not fault.startswith("2:")]

    def note(self, line):
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def say(self, *lines):
        print("\n".join(lines), flush=True)

    def err(self, word):
        for fault in self.faults:
            what, at = fault.split(" at ")
            if at != word or what == "owes":
                continue
            if what == "dies":
                os._exit(1)
            if what == "half":
                sys.stdout.write("bestmo")
                sys.stdout.flush()
            time.sleep(2 if what == "late" else 1000)

    def obey(self, line):
        words = line.split()
        self.err(words[0])
        if words[0] == "uci":
            self.say("id name Wayward", "option name Threads type spin default 1 min 1 max 64",
                     "option name Hash type spin default 16 min 1 max 1024",
                     "option name Move Overhead type spin default 0 min 0 max 5000",
                     "option name UCI_ShowWDL type check default false",
                     "option name SyzygyPath type string default <empty>", "uciok")
        elif words[0] == "isready":
            self.say("readyok")
        elif words[0] == "go":
            self.say("info depth 3 score cp 11 nodes 5 pv e2e4 e7e5")
            if "movetime" in words or "depth" in words:
                self.say("bestmove e2e4")
        elif words[0] == "stop" and "owes at stop" in self.faults:
            threading.Timer(2, self.answer_late).start()
        elif words[0] in ("stop", "ponderhit"):
            self.say("bestmove e2e4")

    def answer_late(self):
        self.note("bestmove")
        self.say("bestmove e2e4")


def main():
    engine = Engine(sys.argv[1], sys.argv[2:])
    for line in sys.stdin:
        engine.note(line.rstrip("\n"))
        if line.split()[:1] == ["quit"]:
            break
        if line.split():
            engine.obey(line)


if __name__ == "__main__":
    main()
