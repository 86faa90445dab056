# SPDX-License-Identifier: MIT
"""What the benchmarks share: their options, the programs and servers they drive, rounds in turns,
how busy the machine was meanwhile, and the report.

A benchmark is a Suite: parts that make lines. Programs that are compared run in turns, round by
round, and a ratio is made of each round: so what else the machine does hits both alike. A comparison
that is too noisy gets more rounds, and at last is refused. Exit status: table.exit_status.
"""

import argparse
import datetime
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import records
import table
from table import CannotMeasure, Failed, Line, Speed

START_TIMEOUT = 60
ROUNDS_TIMES = 3  # so many times the rounds are made, at most, for a comparison that is too noisy
# A part's lines are refused if others took more than this share of the processors meanwhile.
DISTURBED_MAX = 0.10
RECORDS, REAL_RECORDS, LARGE_RECORDS = 1000000, 10000000, 100000000
PROBES, ROUNDS = 1000000, 7
QUICK_RECORDS, QUICK_LARGE_RECORDS, QUICK_ROUNDS = 20000, 100000, 2
ORDERS = ("games", "random", "search")


class Tools:
    """The programs of a build directory."""

    def __init__(self, build):
        self.build = os.path.abspath(build)

    def path(self, *parts):
        """The first part is the room; the program may lie in a folder below it."""
        for folder, _, files in os.walk(os.path.join(self.build, parts[0])):
            if parts[-1] in files and os.access(os.path.join(folder, parts[-1]), os.X_OK):
                return os.path.join(folder, parts[-1])
        raise CannotMeasure(f"{parts[-1]} is not built in {self.build}")

    def run(self, room, name, *args, stdout=subprocess.PIPE):
        """What it prints, unless that goes elsewhere."""
        done = subprocess.run([self.path(room, name), *args], check=True, stdout=stdout,
                              encoding="utf-8", timeout=records.PROGRAM_TIMEOUT)
        return done.stdout

    def chistore(self, *args):
        return self.run("cli", "chistore", *args)


class Program:
    """A measuring program that obeys line by line (bench.h); several can work at once."""

    def __init__(self, *command):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")
        if self.process.stdout.readline() != "ready\n":
            self.__exit__()
            raise CannotMeasure(f"{self.name} did not start")

    def begin(self, operation):
        self.process.stdin.write(operation + "\n")
        self.process.stdin.flush()

    def end(self):
        """(entries a second, number of entries, sum over them)"""
        words = self.process.stdout.readline().split()
        if len(words) != 3:
            raise CannotMeasure(f"{self.name} failed")
        done, ns, total = (int(word) for word in words)
        if done == 0 or ns == 0:
            raise CannotMeasure(f"{self.name} did nothing")
        return done * 1e9 / ns, done, total

    def run(self, operation):
        self.begin(operation)
        return self.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait(START_TIMEOUT)
        self.process.stdout.close()


class Server:
    """A server on a Unix socket of its own; ended by its process, whatever happens."""

    def __init__(self, command, path):
        self.path = path
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise CannotMeasure(f"{os.path.basename(command[0])} did not start")
            time.sleep(0.02)

    def answers(self):
        with socket.socket(socket.AF_UNIX) as sock:
            try:
                sock.connect(self.path)
                return True
            except OSError:
                return False

    def private_memory(self):
        """Bytes that are this process' own: neither files mapped nor shared."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as text:
            for line in text:
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) * 1024
        raise CannotMeasure("no Anonymous in smaps_rollup")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(START_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Disturbance:
    """What others took of the processors since it was made: the hypervisor (steal), and programs
    that are not this one's children. To be read when all children have ended."""

    FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

    def __init__(self):
        self.start = self.read()

    def read(self):
        with open("/proc/stat", encoding="ascii") as text:
            ticks = dict(zip(self.FIELDS, (int(word) for word in text.readline().split()[1:])))
        second = os.sysconf("SC_CLK_TCK")
        own = sum(usage.ru_utime + usage.ru_stime
                  for usage in (resource.getrusage(resource.RUSAGE_SELF),
                                resource.getrusage(resource.RUSAGE_CHILDREN)))
        busy = sum(ticks.get(name, 0) for name in ("user", "nice", "system", "irq", "softirq"))
        return sum(ticks.values()) / second, busy / second - own, ticks.get("steal", 0) / second

    def shares(self):
        """(of other programs, stolen), each a share of all processors' time"""
        now, start = self.read(), self.start
        whole = max(now[0] - start[0], 0.01)
        return max(now[1] - start[1], 0) / whole, max(now[2] - start[2], 0) / whole


class Part:
    """`seconds`: about what it takes, fixed and for a round; `sets`: the records it needs."""

    def __init__(self, name, function, seconds, sets=()):
        self.name = name
        self.function = function
        self.seconds = seconds
        self.sets = sets


class Setting:
    """What the options say, and what all suites of one run share."""

    def __init__(self, args):
        self.tools = Tools(args.build)
        self.rounds = args.rounds
        self.quick = args.quick
        self.args = args
        self.folder = tempfile.mkdtemp(prefix="chi-bench-", dir=os.environ.get("TMPDIR", "/tmp"))
        self.sets = {}
        self.unpacked = None

    def clean_up(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def records(self, kind, size=None):
        """The record set; prepared when it is first measured."""
        size = size or self.args.records or (REAL_RECORDS if kind == "real" else RECORDS)
        if (kind, size) not in self.sets:
            self.sets[kind, size] = records.Records(
                self.tools, kind, self.args.data or self.folder, size, self.args.probes,
                self.args.pgn if kind == "real" else None)
        return self.sets[kind, size]

    def main_records(self):
        """Those of the games if there are any."""
        return self.records("real" if self.args.pgn else "synthetic")

    def plain_pgn(self):
        if self.unpacked is None:
            self.unpacked = records.unpack(self.args.pgn, self.path("games.pgn"))
        return self.unpacked


class Suite:
    """Parts that are measured one after the other; their lines become one table."""

    name = ""
    title = ""

    def __init__(self, setting):
        self.setting = setting
        self.tools = setting.tools
        self.rounds = setting.rounds
        self.quick = setting.quick
        self.chosen = []  # parts
        self.lines = []
        self.speeds = []
        self.longer = 0  # comparisons that got more rounds
        self.disturbed = []  # (part, shares of other programs, of steal)
        self.load = 0.0  # highest load average seen

    def parts(self):
        raise NotImplementedError

    def missing(self):
        """Part -> why it cannot be measured here."""
        return {}

    def sets(self):
        """The record sets that the chosen parts need."""
        return list(dict.fromkeys(one for part in self.chosen for one in part.sets))

    def describe(self):
        return [one.describe() for one in self.sets()]

    def seconds(self, part):
        return part.seconds[0] + part.seconds[1] * (self.rounds + 1)

    # ---- What parts are made of ----------------------------------------------------------------

    def note_speed(self, what, speeds):
        if all(speed.what != what for speed in self.speeds):  # what two lines are made of
            self.speeds.append(Speed(what, speeds))

    def turn(self, sides, same):
        results = [program.run(operation) for program, operation in sides]
        if len({result[1:1 + same] for result in results}) > 1:
            raise CannotMeasure("the programs did not do the same: " +
                                ", ".join(str(result[1:1 + same]) for result in results))
        return [result[0] for result in results]

    def repeat(self, once, base=None, warm_up=True):
        """
        Calls `once`, which returns a number for each side, round by round; the numbers of each
        side. A round before those counts not: it takes the page faults. While the sides' ratios to
        the side `base`, or without one the sides themselves, are too noisy there are more rounds.
        """
        if warm_up:
            once()
        rounds = [once() for _ in range(self.rounds)]

        def is_noisy():
            return any(table.is_noisy([one[side] / (1 if base is None else one[base])
                                       for one in rounds]) for side in range(len(rounds[0])))

        while not self.quick and len(rounds) < self.rounds * ROUNDS_TIMES and is_noisy():
            self.longer += len(rounds) == self.rounds
            rounds.append(once())
        return [list(mine) for mine in zip(*rounds)]

    def turns(self, sides, same=2, base=1):
        """Runs (program, operation) in turns, as `repeat` does it; the speeds of each. `same`: all
        must have done as much (1), and found the same (2)."""
        return self.repeat(lambda: self.turn(sides, same), base)

    def compare(self, name, mine, base, target, unit="positions/s"):
        """A line for (label, speeds) against (label, speeds)."""
        label, speeds = mine
        other, base_speeds = base
        self.note_speed(f"{name}: {label}, {unit}", speeds)
        self.note_speed(f"{name}: {other}, {unit}", base_speeds)
        return Line(f"{name}: {label} / {other}", [a / b for a, b in zip(speeds, base_speeds)],
                    target)

    # ---- Running -------------------------------------------------------------------------------

    def measure(self):
        """A part that fails does not stop the others."""
        for part in self.chosen:
            about = self.seconds(part)
            print(f"measuring: {self.name} {part.name}, about {about:.0f} s ...", end="",
                  file=sys.stderr, flush=True)
            begin, disturbance = time.monotonic(), Disturbance()
            try:
                lines = part.function()
            except (CannotMeasure, OSError, subprocess.SubprocessError) as reason:
                lines = [Failed(part.name, reason)]
            others, stolen = disturbance.shares()
            timed = any(line.timed for line in lines)
            disturbed = timed and others + stolen > DISTURBED_MAX
            if timed:
                self.disturbed.append((part.name, others, stolen))
            self.load = max(self.load, os.getloadavg()[0])
            for line in lines:
                line.judged = not self.quick
                line.disturbed = disturbed
            self.lines += lines
            print(f" took {time.monotonic() - begin:.0f} s" +
                  (f", but others took {others:.0%} of the processors, and {stolen:.0%} was stolen"
                   if disturbed else ""), file=sys.stderr, flush=True)

    def foot(self):
        """How far the figures can be trusted."""
        others = max((entry[1] for entry in self.disturbed), default=0)
        stolen = max((entry[2] for entry in self.disturbed), default=0)
        text = [f"Other programs took at most {others:.1%} of the processors during a part, the "
                f"hypervisor {stolen:.1%}; load average up to {self.load:.1f}."]
        if self.longer:
            text.append(f"{self.longer} comparisons got more rounds for their noise.")
        refused = [name for name, mine, steal in self.disturbed if mine + steal > DISTURBED_MAX]
        if refused and not self.quick:
            text.append(f"Not told, since others took more than {DISTURBED_MAX:.0%}: " +
                        ", ".join(refused) + ".")
        return " ".join(text)

    def tables(self):
        text = table.table_of_lines(self.lines)
        if self.speeds:
            text += [""] + table.table_of_speeds(self.speeds)
        return text

    def facts(self):
        return self.describe() + [f"{self.rounds} rounds"]

    def markdown(self, command):
        facts = [f"- {fact}" for fact in table.machine() + self.facts()]
        # Fenced, as an indented table after a list would be the list's.
        body = ["```", *self.tables(), "```"]
        return "\n".join([f"{self.title}, {datetime.date.today()}, by `{command}`:", "", *facts, "",
                          *body, "", self.foot(), ""])


# ---- One run -----------------------------------------------------------------------------------

def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def choose(suites, only):
    """The suites with parts that `only` names, each by suite or part; all without any."""
    known = {word for suite in suites for word in
             [suite.name] + [part.name for part in suite.parts()]}
    wrong = sorted(set(only or []) - known)
    if wrong:
        raise CannotMeasure(f"no part {', '.join(wrong)}; there are {', '.join(sorted(known))}")
    for suite in suites:
        missing = suite.missing()
        for part, reason in missing.items():
            print(f"not here: {part} ({reason})")
        suite.chosen = [part for part in suite.parts()
                        if not only or suite.name in only or part.name in only]
        if suite.quick:  # tests do not ask for the packages of the benchmark
            suite.chosen = [part for part in suite.chosen if part.name not in missing]
    return [suite for suite in suites if suite.chosen]


def announce(chosen):
    preparing = sum(one.seconds() for one in {one for suite in chosen for one in suite.sets()})
    times = [sum(suite.seconds(part) for part in suite.chosen) for suite in chosen]
    each = ", ".join(f"{suite.name} {minutes(time)}" for suite, time in zip(chosen, times))
    print(f"This takes about {minutes(preparing + sum(times))}: preparing {minutes(preparing)}, "
          f"{each}; longer where the machine is noisy.\n", flush=True)


def summary(lines):
    found = table.count_verdicts(lines)
    text = ["targets: " + ", ".join(f"{len(names)} {verdict}"
                                    for verdict, names in found.items())]
    for verdict in (table.MISSED, table.NOISY, table.NOT_MEASURED):
        text += [f"  {verdict}: {name}" for name in found[verdict]]
    return text


def run_suites(setting, suites, command):
    """All of them, one table each; returns the exit status."""
    lines = []
    for text in table.machine() + [str(datetime.date.today())]:
        print(text)
    chosen = choose(suites, setting.args.only)
    announce(chosen)
    for suite in chosen:
        for one in suite.sets():
            one.prepare()
        if setting.args.prepare:
            continue
        suite.measure()
        print(f"\n{suite.title}\n")
        print("\n".join(suite.facts() + [""] + suite.tables() + ["", suite.foot(), ""]), flush=True)
        if setting.args.markdown:
            table.put_into(setting.args.markdown, suite.name, suite.markdown(command))
        lines += suite.lines
    if lines and not setting.quick:
        print("\n".join(summary(lines)))
    return table.exit_status(lines, setting.quick)


def parse_args(text, needs_pgn):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("build", help="the build directory")
    parser.add_argument("--pgn", required=needs_pgn,
                        help="a file of games, which may be packed (.zst, .gz, .bz2)")
    parser.add_argument("--records", type=int,
                        help="positions in a set; default a million, with --pgn ten")
    parser.add_argument("--large", type=int, default=LARGE_RECORDS,
                        help="positions in the large set of 'own-large', 'growth' and 'disk'; default a hundred "
                             "million")
    parser.add_argument("--probes", type=int, default=PROBES, help="of a list, at most")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of each comparison")
    parser.add_argument("--quick", action="store_true",
                        help="20,000 records, 2 rounds, no verdicts: shows that it works")
    parser.add_argument("--only", action="append", metavar="PART",
                        help="this part only (may be given several times)")
    parser.add_argument("--data", metavar="FOLDER",
                        help="keep the record sets here, or take them from an earlier run")
    parser.add_argument("--prepare", action="store_true",
                        help="only make the record sets; they may be made while the machine is busy")
    parser.add_argument("--markdown", metavar="FILE",
                        help="put the tables into this document, in the place of older ones")
    args = parser.parse_args()
    if args.quick:
        args.records, args.large, args.rounds = QUICK_RECORDS, QUICK_LARGE_RECORDS, QUICK_ROUNDS
    if (args.records is not None and args.records < 5000) or min(args.probes, args.large) < 5000 \
            or args.rounds < 1:
        parser.error("at least 5,000 records and probes, and 1 round")
    if args.prepare and not args.data:
        parser.error("--prepare wants --data, where the record sets are kept")
    if args.markdown and args.only:
        parser.error("--markdown wants whole tables, not --only some lines")
    if args.pgn and not os.path.isfile(args.pgn):
        parser.error(f"no file {args.pgn}")
    return args


def main(text, make_suites, needs_pgn=False):
    """`make_suites(setting)` returns them in the order they are to run."""
    args = parse_args(text, needs_pgn)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left behind
    shown = [f"bench/{os.path.basename(sys.argv[0])}"] + [
        os.path.basename(word) if os.path.exists(word) else word for word in sys.argv[1:]]
    try:
        setting = Setting(args)
    except (CannotMeasure, OSError) as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 2
    suites = []
    try:
        suites = make_suites(setting)
        return run_suites(setting, suites, " ".join(shown))
    except (CannotMeasure, OSError, subprocess.SubprocessError) as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench: given up", file=sys.stderr)
        return 130
    finally:
        setting.clean_up()
