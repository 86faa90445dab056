# SPDX-License-Identifier: MIT
"""chistore bench: what it counts, what it leaves behind, and what it does when things go wrong."""

import json
import signal
import subprocess

import harness
from cli_base import Base, START, spawn

COLUMNS = ("operation requests errors positions seconds requests_s positions_s mean_us p50_us p90_us "
           "p99_us p999_us max_us").split()
POSITIONS = 400
PUTS = ["--mix", "probe=9,put=1", "--allow-writes"]
ALL = "probe=1,batch=1,get=1,explore=1,scan=1,put=1"


class Bench(Base):
    def filled(self, statistic="control"):
        store = self.new_store(statistic)
        self.cli("import", "--quiet", self.many("many.csv", POSITIONS), address=store)
        return store

    def rows(self, text):
        lines = [line.split("\t") for line in text.splitlines()]
        self.assertEqual(lines[0], COLUMNS)
        return {line[0]: dict(zip(COLUMNS, line)) for line in lines[1:]}

    def bench(self, *args, address, code=0, **extra):
        """The rows, checked against each other: one of all after one of each kind."""
        done = self.cli("bench", "--warmup", "0", *args, address=address, code=code, **extra)
        rows = self.rows(done.stdout)
        self.assertEqual(list(rows)[-1], "all")
        for name in ("requests", "errors", "positions"):
            kinds = sum(int(row[name]) for kind, row in rows.items() if kind != "all")
            self.assertEqual(int(rows["all"][name]), kinds)
        for row in rows.values():
            if int(row["requests"]) > 0:
                times = [float(row[name]) for name in COLUMNS[8:]]
                self.assertEqual(times, sorted(times))
                self.assertGreater(float(row["requests_s"]), 0)
                self.assertLessEqual(float(row["mean_us"]), times[-1])
        return rows, done.stderr

    def check_all_kinds(self, address, *args):
        before = self.out("dump", address=address)
        rows, said = self.bench("--requests", 600, "--mix", ALL, "--allow-writes", "--batch", 7,
                                "--rows", 5, "--put-size", 3, *args, address=address)
        self.assertEqual(list(rows), ALL.replace("=1", "").split(",") + ["all"])
        self.assertEqual((rows["all"]["requests"], rows["all"]["errors"]), ("600", "0"))
        for kind, size in (("probe", 1), ("batch", 7), ("get", 1), ("explore", 1), ("put", 3)):
            self.assertEqual(int(rows[kind]["positions"]), size * int(rows[kind]["requests"]))
            self.assertGreater(int(rows[kind]["requests"]), 50)
        self.assertLessEqual(int(rows["scan"]["positions"]), 5 * int(rows["scan"]["requests"]))
        self.assertGreater(int(rows["scan"]["positions"]), 4 * int(rows["scan"]["requests"]))
        # One put of three more, to see that the store takes them.
        self.assertIn(f"the {int(rows['put']['positions']) + 3} positions that were put", said)
        self.assertIn(f"asking for {POSITIONS} of {POSITIONS} positions", said)
        self.assertEqual(self.out("dump", address=address), before)

    def test_directory(self):
        store = self.filled()
        self.check_all_kinds(store)
        self.check_all_kinds(store, "--clients", 3)
        self.check_all_kinds(store, "--clients", 2, "--pipeline", 8)
        self.check_all_kinds(store, "--durability", "none")

    def test_other_statistics(self):
        for statistic in ("external", "outcome", "score", "eval", "performance"):
            self.check_all_kinds(self.filled(statistic), "--clients", 2)

    def test_daemon(self):
        listen = ["unix:" + self.path("socket"), "tcp:127.0.0.1:0"]
        with harness.start_daemon({"default": self.filled()}, listen=listen) as daemon:
            self.check_all_kinds(daemon.unix_address, "--clients", 4)
            self.check_all_kinds(daemon.unix_address, "--clients", 4, "--pipeline", 16)
            self.check_all_kinds(daemon.tcp_address, "--durability", "none", "--clients", 5)

    def test_keep(self):
        store = self.filled()
        _, said = self.bench("--requests", 10, "--mix", "put=1", "--allow-writes", "--keep",
                             address=store)
        note = said.split("the note '")[1].split("'")[0]
        self.assertRegex(note, r"^chistore bench [0-9a-f]{16}$")
        # One more than was measured: the trial.
        self.assertEqual(self.out("export", "--json", address=store).count(note), 11)
        self.assertEqual(self.out("count", address=store), f"{POSITIONS + 11}\n")

    def test_empty_store(self):
        store = self.new_store()
        done = self.cli("bench", "--requests", 5, code=2, address=store)
        self.assertIn("the store is empty", done.stderr)
        self.bench("--requests", 5, "--mix", "put=1", "--allow-writes", address=store)
        rows, said = self.bench("--requests", 5, "--positions", "-", address=store,
                                input=f"# one\n\n{START}\n")
        self.assertEqual(rows["all"]["requests"], "5")
        self.assertIn("asking for 1 positions of -, 0 of them stored", said)

    def test_file(self):
        store = self.filled()
        fens = list(self.fens(20))
        _, said = self.bench("--requests", 50, "--positions", self.write("fens", "\n".join(fens)),
                             "--clients", 3, "--mix", "probe=1,scan=1", address=store)
        self.assertIn("20 of them stored, in this order", said)
        bad = self.write("bad", "\n".join(fens[:3] + ["nonsense"] * 3))
        done = self.cli("bench", "--positions", bad, code=2, address=store)
        self.assertIn("bad:4: no move, and no opening is called 'nonsense'", done.stderr)
        self.assertEqual(done.stderr.count("nonsense"), 1)
        noise = self.write("noise", bytes(range(256)) * 1000)
        for path, code in ((self.path("absent"), 2), (self.dir, 2), ("/dev/null", 2), (noise, 2)):
            done = self.cli("bench", "--positions", path, code=code, address=store)
            self.assertEqual(done.stdout, "")

    def test_json(self):
        store = self.filled()
        text = self.out("bench", "--json", "--warmup", 0, "--requests", 20, address=store)
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            self.assertEqual(list(line), COLUMNS + ["failures"])
            self.assertEqual(line["failures"], [])
        self.assertEqual(lines[-1]["operation"], "all")
        self.assertEqual(lines[-1]["requests"], 20)

    def test_rate(self):
        """As many as are due, at a rate that can be kept; what cannot be sent is counted."""
        store = self.filled()
        rows, _ = self.bench("--rate", 100, "--requests", 30, "--clients", 3, address=store)
        self.assertEqual((rows["all"]["requests"], rows["all"]["errors"]), ("30", "0"))
        self.assertGreater(float(rows["all"]["seconds"]), 0.28)
        with harness.start_daemon({"default": store}) as daemon:
            rows, said = self.bench("--rate", 10000000, "--seconds", 1, "--clients", 3,
                                    "--mix", "probe=1,batch=2", address=daemon.address)
            total = int(rows["all"]["requests"]) + int(rows["all"]["errors"])
            self.assertEqual(total, 10000000)
            self.assertGreater(int(rows["all"]["errors"]), 0)
            self.assertIn("not sent in time", said)

    def test_a_stall_is_not_hidden(self):
        """A stopped server delays all requests that are due meanwhile, not one of each
        client alone."""
        with harness.start_daemon({"default": self.filled()}) as daemon:
            child = self.spawn_bench(daemon.address, "--rate", 1000, "--requests", 3000, *PUTS)
            self.wait_for_requests(daemon.address)
            daemon.freeze()
            # It is stopped for half a second at least.
            self.assertRaises(subprocess.TimeoutExpired, child.wait, 0.5)
            daemon.thaw()
            out, said = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 0, said)
            rows = self.rows(out)
            self.assertEqual(rows["all"]["requests"], "3000")
            # Some 500 of 3000 were due meanwhile, and waited a quarter of a second on average.
            self.assertGreater(float(rows["all"]["p90_us"]), 50000)

    def test_bad_options(self):
        store = self.filled()
        for args, words in (
                (["--seconds", "0"], "--seconds"), (["--clients", "0"], "--clients"),
                (["--clients", "10001"], "--clients"), (["--requests", "-1"], "--requests"),
                (["--warmup", "x"], "--warmup"), (["--batch", "4097"], "--batch"),
                (["--rows", "0"], "--rows"), (["--put-size", "10001"], "--put-size"),
                (["--pipeline", "65"], "--pipeline"), (["--rate", "0"], "--rate"),
                (["--sample", "0"], "--sample"), (["--timeout", "0"], "--timeout"),
                (["--seed", "1.5"], "--seed"), (["--draw", "x"], "--draw"),
                (["--durability", "x"], "--durability"), (["--mix", "proble=1"], "proble"),
                (["--mix", "probe=0"], "probe=0"), (["--mix", "probe=1,probe=2"], "twice"),
                (["--seconds", "1", "--requests", "1"], "exclude"),
                (["--mix", "put=1"], "--allow-writes"), (["--allow-writes"], "no puts"),
                (["--keep"], "no puts"), (["extra"], "extra"),
                (["--mix", "put=1", "--allow-writes", "--durability", "none", "--clients", "2"],
                 "one client")):
            with self.subTest(args):
                done = self.cli("bench", *args, code=2, address=store)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_refused_from_the_start(self):
        """Told in the server's words, before anything is measured."""
        store = self.filled()
        done = self.cli("bench", code=3, address="unix:" + self.path("absent"))
        self.assertEqual(done.stderr.count("\n"), 1)
        with harness.start_daemon({"default": store}, extra_args=["--read-only"]) as daemon:
            done = self.cli("bench", "--mix", "put=1", "--allow-writes", code=3,
                            address=daemon.address)
            self.assertIn("put: ", done.stderr)
        with harness.start_daemon({"default": store},
                                  extra_args=["--max-connections", 5]) as daemon:
            self.bench("--requests", 50, "--clients", 5, address=daemon.address)
        with harness.start_daemon({"default": store},
                                  extra_args=["--max-connections", 5]) as daemon:
            done = self.cli("bench", "--clients", 6, code=3, address=daemon.address)
            self.assertIn("client 6 of 6: ", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_server_with_a_short_pipeline(self):
        with harness.start_daemon({"default": self.filled()},
                                  extra_args=["--max-in-flight", 4]) as daemon:
            rows, said = self.bench("--requests", 300, "--pipeline", 16, "--mix", "probe=1",
                                    address=daemon.address)
            self.assertEqual((rows["all"]["requests"], rows["all"]["errors"]), ("300", "0"))
            self.assertIn("takes 4 unanswered requests", said)

    def spawn_bench(self, address, *args):
        child = spawn("bench", "--warmup", 0, *args, address=address, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.kill)
        return child

    def wait_for_requests(self, address):
        """Until puts have been answered."""
        while int(self.out("count", address=address)) < POSITIONS + 10:
            pass

    def test_killed_daemon(self):
        """What was answered before counts, the rest are errors, and the exit code tells."""
        children = []
        for pipeline, statistic in ((1, "control"), (16, "external")):
            daemon = harness.start_daemon({"default": self.filled(statistic)})
            child = self.spawn_bench(daemon.address, "--seconds", 4, "--clients", 3,
                                     "--pipeline", pipeline, *PUTS)
            self.wait_for_requests(daemon.address)
            daemon.kill()
            children.append((pipeline, child))
        for pipeline, child in children:
            out, said = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 3, said)
            rows = self.rows(out)
            self.assertGreater(int(rows["all"]["requests"]), 0)
            # More than one a client: a failure is told at once, not after repeating for a while.
            self.assertGreater(int(rows["all"]["errors"]), 3 * pipeline)
            self.assertIn("failed, no connection to the store", said)
            self.assertRegex(said, "positions with the note 'chistore bench .*' may still be in")
            self.assertIn("3 of 3 clients had no connection at the end", said)

    def test_interrupt(self):
        """Prints what was measured and takes back what was put; also beside a server that is
        silent."""
        store = self.filled()
        before = self.out("dump", address=store)
        with harness.start_daemon({"default": store}) as daemon:
            for silent in (False, True):
                child = self.spawn_bench(daemon.address, "--seconds", 600, "--clients", 3, *PUTS)
                self.wait_for_requests(daemon.address)
                if silent:
                    daemon.freeze()
                child.send_signal(signal.SIGINT)
                out, said = child.communicate(timeout=60)
                if silent:
                    daemon.thaw()
                    self.assertIn("still waiting for answers", said)
                else:
                    self.assertIn("removed the ", said)
                    self.assertEqual(self.out("dump", address=daemon.address), before)
                self.assertEqual(child.returncode, 130, said)
                self.assertGreater(int(self.rows(out)["all"]["requests"]), 0)
