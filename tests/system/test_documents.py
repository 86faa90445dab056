# SPDX-License-Identifier: MIT
"""Every command block of docs/TOUR.md and of the manual pages' EXAMPLES runs, line by line and in its order, as a new
user would type it: in a directory like the project's, after `make build`. `/tmp` and the ports are this test's own.

A block with `# not run: REASON` is left out; there may be ten. Of a fence of the tour the word behind the backquotes
says what it is: sh, where `$ ` or `# ` begins a command and other lines are output; python; c (a lint compares it with
the program that is compiled); text."""

import os
import re
import shutil
import subprocess
import time
import unittest

import harness

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(os.environ["CHISTORED"])))
PAGES = ["client/chistore.3", "cli/chistore.1", "daemon/chistored.8", "http/chistore-http.8",
         "uci/chistore-uci.6"]
MOST_NOT_RUN = 10
SERVER = re.compile(r"(chistored|chistore-http) ")
# Their answers have a line at least.
ASKING = re.compile(r"chistore (-a \S+ )?(count|explore|find|game|games|get|info|name find|scan|stats|verify)\b")


def not_run(lines):
    return any(line.startswith("# not run: ") and len(line) > len("# not run: ") for line in lines)


def joined(lines):
    """Commands from lines: a backslash at the end goes on, and so does a here-document until its end."""
    commands, end = [], None
    for line in lines:
        if end is not None or (commands and commands[-1].endswith("\\")):
            commands[-1] += "\n" + line
            end = None if line == end else end
        else:
            commands.append(line)
        here = re.search(r"<<(\w+)$", line)
        end = here.group(1) if here else end
    return commands


def typed(lines):
    """The commands of a block with prompts; what follows a whole command without a prompt is output."""
    chosen, open_end = [], None
    for line in lines:
        goes_on = chosen and (open_end or chosen[-1].endswith("\\"))
        if goes_on:
            chosen.append(line)
            open_end = None if line == open_end else open_end
        elif re.match(r"[$#] ", line) and not line.startswith("# not run:"):
            chosen.append(line[2:])
            here = re.search(r"<<(\w+)$", line)
            open_end = here.group(1) if here else None
    return joined(chosen)


def fences(text):
    """(kind, lines) of each fence."""
    for kind, body in re.findall(r"(?m)^```(\w*)\n(.*?)^```$", text, re.S):
        yield kind, body.splitlines()


def page_blocks(text):
    """Lines of each literal block of the section EXAMPLES of a manual page, as they are displayed."""
    section = re.search(r'(?ms)^\.S[hH] "?EXAMPLES"?\n(.*?)(?=^\.S[hH] )', text)
    for body in re.findall(r"(?ms)^(?:\.Bd -literal[^\n]*|\.nf)\n(.*?)^\.(?:Ed|fi)", section.group(1) if section else ""):
        yield [re.sub(r"\\(.)", lambda m: {"e": "\\", "&": ""}.get(m.group(1), m.group(1)), line)
               for line in body.splitlines()]


class Place:
    """Where the commands of a document are typed; servers run on until the end, as in terminals of their own."""

    def __init__(self):
        self.top = harness.make_temp_dir()
        self.tmp = os.path.join(self.top, "t")
        self.here = os.path.join(self.top, "h")
        self.state = os.path.join(self.top, "state")
        os.mkdir(self.tmp)
        os.mkdir(self.here)
        for name in ("demo", "tests", "examples"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.here, name))
        os.symlink(BUILD, os.path.join(self.here, "build"))
        self.ports = {str(port): str(harness.free_port()) for port in (7227, 7228, 7229, 8080)}
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("CHISTORE", "PYTHONPATH")}
        self.environment.update(PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"),
                                CPATH=os.path.join(ROOT, "include"), LD_LIBRARY_PATH=os.path.join(BUILD, "client"),
                                LIBRARY_PATH=os.path.join(BUILD, "client"),
                                PYTHONPATH=os.path.join(ROOT, "python"), HOME=self.here,
                                TMPDIR=self.tmp, no_proxy="*")
        self.servers = []

    def here_and_now(self, text):
        """The text with this test's own places."""
        text = text.replace("/tmp/", self.tmp + "/").replace("0.0.0.0", "127.0.0.1")
        for port, mine in self.ports.items():
            text = re.sub(rf":{port}\b", ":" + mine, text)
        return text

    def bash(self, command):
        # What a command sets is there for the next one.
        whole = f"[ ! -f {self.state} ] || . {self.state}\n{command}\nstatus=$?; declare -px >{self.state}; exit $status\n"
        return subprocess.run(["bash", "-c", whole], cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=120, check=False)

    def serve(self, command):
        """Starts a server; returns what is wrong, if it does not become ready."""
        if command.startswith("chistore-http") and "--listen" not in command:
            command += " --listen tcp:127.0.0.1:" + self.ports["8080"]
        for name, process in self.servers:
            if name == command.split()[0] == "chistore-http":
                process.terminate()
                process.wait(harness.STOP_TIMEOUT)
        log = os.path.join(self.top, f"log{len(os.listdir(self.top))}")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(["bash", "-c", f"[ ! -f {self.state} ] || . {self.state}; exec {command}"],
                                       cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, stderr=file)
        self.servers.append((command.split()[0], process))
        end = time.monotonic() + harness.PATIENCE
        while time.monotonic() < end:
            with open(log, encoding="utf-8") as file:
                said = file.read()
            if "ready, listening on" in said:
                return None
            if process.poll() is not None:
                break
            time.sleep(0.01)
        return said or "not ready"

    def close(self):
        for _, process in self.servers:
            process.terminate()
        for _, process in self.servers:
            process.wait(harness.STOP_TIMEOUT)
        shutil.rmtree(self.top, ignore_errors=True)


class Documents(unittest.TestCase):
    left_out = 0

    def type_all(self, place, commands):
        for command in commands:
            with self.subTest(command=command):
                mine = place.here_and_now(command)
                if SERVER.match(command):
                    self.assertIsNone(place.serve(mine))
                    continue
                done = place.bash(mine)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                if ASKING.match(command):
                    self.assertGreater(len(done.stdout.splitlines()), 0, done.stderr)

    def place(self):
        place = Place()
        self.addCleanup(place.close)
        return place

    def test_tour(self):
        place, left_out, run = self.place(), 0, 0
        with open(os.path.join(ROOT, "docs", "TOUR.md"), encoding="utf-8") as file:
            blocks = list(fences(file.read()))
        for kind, lines in blocks:
            self.assertIn(kind, ("sh", "python", "c", "text"), lines[:2])
            if kind == "sh" and not_run(lines):
                left_out += 1
            elif kind == "sh":
                commands = typed(lines)
                self.assertTrue(commands, lines)
                self.type_all(place, commands)
                run += len(commands)
            elif kind == "python":
                with self.subTest(python=lines):
                    with open(os.path.join(place.here, "it.py"), "w", encoding="utf-8") as file:
                        file.write(place.here_and_now("\n".join(lines)))
                    done = place.bash("/usr/bin/python3 it.py")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(done.stdout)
        self.assertGreater(run, 50)
        Documents.left_out += left_out
        self.assertLessEqual(Documents.left_out, MOST_NOT_RUN)

    def test_manual_pages(self):
        run = 0
        for page in PAGES:
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                blocks = list(page_blocks(file.read()))
            self.assertTrue(blocks, page)
            place = self.place()
            place.bash(f"PATH={BUILD}/cli:{BUILD}/daemon:{BUILD}/http:{BUILD}/uci:$PATH")
            place.bash("cp tests/data/pgn/games_300.pgn masters.pgn")
            for lines in blocks:
                if not_run(lines):
                    Documents.left_out += 1
                elif lines[0].startswith("#include"):
                    self.compile(place, lines)
                else:
                    commands = joined(lines)
                    self.type_all(place, commands)
                    run += len(commands)
        self.assertGreater(run, 15)
        self.assertLessEqual(Documents.left_out, MOST_NOT_RUN)

    def compile(self, place, lines):
        with open(os.path.join(place.here, "program.c"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.type_all(place, ["cc -Wall -Werror program.c $(pkg-config --cflags --libs chistore) -o program",
                              "chistore -a ./games import masters.pgn", "./program ./games | grep stored"])

    def test_what_a_block_is(self):
        """The reading of blocks itself: prompts, output, here-documents, what goes on."""
        self.assertEqual(typed(["$ a \\", "  b", "out", "$ cat >x <<END", "$ text", "END", "more", "# c"]),
                         ["a \\\n  b", "cat >x <<END\n$ text\nEND", "c"])
        self.assertTrue(not_run(["# not run: it takes an hour", "$ a"]))
        self.assertFalse(not_run(["# not run: ", "$ a"]))
        page = ".SH EXAMPLES\n.nf\na \\-b 'c\\\\n'\n.fi\n.SH NEXT\n.nf\nno\n.fi\n"
        self.assertEqual(list(page_blocks(page)), [["a -b 'c\\n'"]])
        self.assertEqual(list(fences("```sh\n$ a\n```\n\n```\nb\n```\n")), [("sh", ["$ a"]), ("", ["b"])])
