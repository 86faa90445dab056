# SPDX-License-Identifier: MIT
"""Under a service manager: sockets that are passed, the watchdog, and the units that are installed.
The manager here is a script that keeps the same protocol."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import unittest

import harness
from peer import Peer, fen, put
from pychistore import Client, pb

# Makes listening sockets, puts them where a manager does, and becomes the daemon. Its arguments:
# the names, the kinds of the sockets with commas, and the command.
MANAGER = """
import os, socket, sys
names, kinds, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
sockets = []
for kind in kinds if kinds != [""] else []:
    what, _, where = kind.partition("=")
    family = socket.AF_UNIX if what in ("unix", "datagram", "deaf") else socket.AF_INET
    type = socket.SOCK_DGRAM if what == "datagram" else socket.SOCK_STREAM
    made = socket.socket(family, type)
    made.bind(where.replace("@", chr(0)) if family == socket.AF_UNIX else (where, 0))
    if what in ("unix", "tcp"):
        made.listen(16)
    sockets.append(os.dup(made.fileno()))
moved = [os.dup2(fd, 100 + i) for i, fd in enumerate(sockets)]
for i, fd in enumerate(moved):
    os.dup2(fd, 3 + i, inheritable=True)
os.closerange(3 + len(moved), 200)
os.environ.update(LISTEN_PID=os.environ.get("FAKE_PID") or str(os.getpid()),
                  LISTEN_FDS=os.environ.get("FAKE_FDS") or str(len(moved)))
if names:
    os.environ["LISTEN_FDNAMES"] = names
os.execv(command[0], command)
"""


# Allows the system calls named before the command, and the memory and addresses that the unit allows;
# whatever else is called ends the process. Becomes the user and the group given, if it may.
FENCE = """
import ctypes, errno, os, sys
user, group, calls, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
if os.getuid() == 0:
    os.setgroups([group])
    os.setgid(user)
    os.setuid(user)
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
KILL, ALLOW = 0x80000000, 0x7fff0000
context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(KILL)))
for call in calls:
    number = seccomp.seccomp_syscall_resolve_name(call.encode())
    if number != -1:  # else none of this architecture
        seccomp.seccomp_rule_add(context, ctypes.c_uint32(ALLOW), number, 0)
assert seccomp.seccomp_load(context) == 0
os.execv(command[0], command)
"""


def start(names, kinds, listen, env=None, extra=()):
    return harness.start_daemon(listen=listen, env=env, extra_args=extra,
                                wrapper=[sys.executable, "-c", MANAGER, names, kinds])


class TestActivation(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(harness.make_temp_dir(), "socket")

    def ask(self, address, code=pb.OK):
        with Peer(address) as peer:
            self.assertEqual(peer.call(put=put([1])).code, code)

    def refused(self, *args, **more):
        with self.assertRaises(RuntimeError) as caught:
            start(*args, **more).kill()
        self.assertIn("ended with 3", str(caught.exception))
        return str(caught.exception)

    def test_a_unix_socket(self):
        with start("clients", "unix=" + self.path, ["fd:clients"]) as daemon:
            self.assertEqual(daemon.addresses, ["unix:" + self.path])
            self.ask(daemon.address)
        # It is the manager's, which goes on listening.
        self.assertTrue(os.path.exists(self.path))
        self.assertFalse(os.path.exists(self.path + ".lock"))

    def test_several_with_roles_beside_one_of_our_own(self):
        own = self.path + ".own"
        with start("a:ro:a", f"unix={self.path},unix={self.path}.ro,tcp=127.0.0.1",
                   ["fd:ro,role=read", "fd:a", "unix:" + own]) as daemon:
            self.assertEqual([a.split(":")[0] for a in daemon.addresses],
                             ["unix", "unix", "tcp", "unix"])
            self.ask(daemon.addresses[0], pb.DENIED)
            for address in daemon.addresses[1:]:
                self.ask(address)

    def test_users_are_known_on_it(self):
        rules = self.path + ".rules"
        with open(rules, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(f"user {os.getuid()} read\n")
        with start("c", "unix=" + self.path, ["fd:c"], extra=["--access", rules]) as daemon:
            self.ask(daemon.address, pb.DENIED)

    def test_a_name_without_a_file(self):
        name = f"@chistore-test-{os.getpid()}"
        with start("c", "unix=" + name, ["fd:c"]) as daemon:
            self.assertEqual(daemon.addresses, ["unix:" + name])

    def test_without_names(self):
        with start("", "unix=" + self.path, ["fd:unknown"]) as daemon:
            self.ask(daemon.address)

    def test_what_nobody_listens_on_is_closed_and_said(self):
        with start("a:b", f"unix={self.path},unix={self.path}.b", ["fd:a"]) as daemon:
            self.assertIn("socket passed as 'b'", daemon.stderr_text())
            with socket.socket(socket.AF_UNIX) as client, self.assertRaises(ConnectionRefusedError):
                client.connect(self.path + ".b")

    def test_what_is_not_there(self):
        text = self.refused("clients", "unix=" + self.path, ["fd:other"])
        self.assertIn("no socket named 'other' was passed", text)

    def test_meant_for_another_process(self):
        text = self.refused("c", "unix=" + self.path, ["fd:c"], env={"FAKE_PID": "1"})
        self.assertIn("no socket named 'c' was passed", text)

    def test_what_is_no_listening_socket(self):
        for kind in ("datagram", "deaf"):
            text = self.refused("c", f"{kind}={self.path}.{kind}", ["fd:c"])
            self.assertIn("is not a listening stream socket", text)

    def test_what_others_can_reach(self):
        text = self.refused("c", "tcp=0.0.0.0", ["fd:c"])
        self.assertIn("neither a unix socket nor on a loopback address", text)

    def test_more_than_there_are(self):
        for number, complaint in (("9", "is not open"), ("17", "more than 16 sockets")):
            text = self.refused("c", "unix=" + self.path + number, ["fd:c"],
                                env={"FAKE_FDS": number})
            self.assertIn(complaint, text)

    def test_children_do_not_have_it(self):
        """A child, were there one, could keep the socket open for ever."""
        with start("c", "unix=" + self.path, ["fd:c"]) as daemon:
            with Peer(daemon.address) as peer:
                peer.call(put=put(range(100)))
                self.assertEqual(peer.call(verify=pb.Verify()).code, pb.OK)
            with open(f"/proc/{daemon.pid}/fdinfo/3", encoding="ascii") as info:
                flags = int(re.search(r"flags:\s*(\d+)", info.read()).group(1), 8)
            self.assertTrue(flags & os.O_CLOEXEC)


class TestNotify(unittest.TestCase):
    def test_a_name_without_a_file(self):
        name = f"chistore-notify-{os.getpid()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.settimeout(60)
            told.bind("\0" + name)
            with harness.start_daemon(env={"NOTIFY_SOCKET": "@" + name}):
                self.assertEqual(told.recv(100), b"READY=1")

    def test_the_watchdog_hears_of_us(self):
        path = os.path.join(harness.make_temp_dir(), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.settimeout(60)
            told.bind(path)
            daemon = harness.start_daemon(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "40000"})
            self.assertEqual(told.recv(100), b"READY=1")
            for _ in range(20):
                self.assertEqual(told.recv(100), b"WATCHDOG=1")
            self.assertEqual(daemon.stop(), 0)
            rest = []
            told.setblocking(False)
            try:
                while True:
                    rest.append(told.recv(100))
            except BlockingIOError:
                pass
            self.assertEqual(rest[-1], b"STOPPING=1")

    def test_a_watchdog_of_another_process(self):
        path = os.path.join(harness.make_temp_dir(), "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.settimeout(60)
            told.bind(path)
            daemon = harness.start_daemon(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "4000",
                                               "WATCHDOG_PID": "1"})
            self.assertEqual(told.recv(100), b"READY=1")
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(told.recv(100), b"STOPPING=1")


class TestUnits(unittest.TestCase):
    UNITS = os.environ["CHISTORE_UNITS"]
    PAGE = os.path.join(os.path.dirname(os.environ["CHISTORE_HTTP"]), "chistore-http.service")

    def setUp(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed: the units are not judged")

    def judge(self, path):
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15",
                               "--no-pager", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", check=False, timeout=60)
        level = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
        self.assertIsNotNone(level, done.stdout)
        return done.returncode, float(level.group(1)), done.stdout

    def test_the_service_is_shut_off(self):
        code, level, output = self.judge(self.UNITS + "/chistored.service")
        self.assertEqual(code, 0, output)
        self.assertLessEqual(level, 1.5, output)

    def test_the_measure_can_fail(self):
        """The same without what shuts it off is above."""
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            lines = [line for line in file
                     if not re.match(r"(Protect|Private|Restrict|SystemCall|Capab|NoNew)", line)]
        path = os.path.join(harness.make_temp_dir(), "chistored.service")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
        code, level, _ = self.judge(path)
        self.assertNotEqual(code, 0)
        self.assertGreater(level, 1.5)

    def copy_units(self):
        """All three, with a program that is there, as the installed ones may not be."""
        directory = harness.make_temp_dir()
        for path in (self.UNITS + "/chistored.service", self.UNITS + "/chistored.socket", self.PAGE):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", file.read())
            with open(os.path.join(directory, os.path.basename(path)), "w", encoding="utf-8") as file:
                file.write(text)
        return directory

    def test_all_parse(self):
        directory = self.copy_units()
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                               *(os.path.join(directory, name) for name in os.listdir(directory))],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                              check=False, timeout=60)
        self.assertNotRegex(done.stdout, r"chistore(d|-http)\.(service|socket)", done.stdout)

    def test_the_page_brings_the_daemon(self):
        """Which makes the store that the page shows, and says when it is there."""
        with open(self.PAGE, encoding="utf-8") as file:
            page = file.read()
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            daemon = file.read()
        self.assertRegex(page, r"(?m)^Wants=chistored\.service$")
        self.assertRegex(page, r"(?m)^After=chistored\.service\b")
        self.assertRegex(daemon, r"(?m)^Type=notify$")
        made = re.search(r"(?m)^ExecStart=.* --store (\S+) --create ", daemon).group(1)
        self.assertRegex(page, rf"(?m)^ExecStart=\S+ -a {made} ")

    def test_the_page_is_for_reading(self):
        """Its package starts it, and any program of the machine reaches it."""
        with open(self.PAGE, encoding="utf-8") as file:
            self.assertNotRegex(file.read(), r"(?m)^ExecStart=.*--write-to")

    def test_the_service_may_shut_itself_in(self):
        """The calls for that are in none of the groups that the unit names."""
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            calls = re.search(r"(?m)^SystemCallFilter=([^~\n]*)$", file.read()).group(1).split()
        for call in ("create_ruleset", "add_rule", "restrict_self"):
            self.assertIn("landlock_" + call, calls)
        self.assertIn("seccomp", calls)

    def allowed_calls(self):
        """All that SystemCallFilter= says, as its names."""
        groups, group = {}, None
        listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                encoding="utf-8", timeout=60)
        for line in listed.stdout.splitlines():
            if line.startswith(("@", "#")):
                group = groups.setdefault(line, [])
            elif line.strip() and not line.strip().startswith("#"):
                group.append(line.strip())

        def names(word):
            return {name for part in groups[word] for name in names(part)} if word in groups \
                else {word}

        calls = set()
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            for line in re.findall(r"(?m)^SystemCallFilter=(.*)$", file.read()):
                listed = {name for word in line.lstrip("~").split() for name in names(word)}
                calls = calls - listed if line.startswith("~") else calls | listed
        return calls

    @unittest.skipUnless(os.environ.get("CHISTORE_SECCOMP"), "without libseccomp")
    @unittest.skipIf(os.environ.get("CHISTORE_INSTRUMENTED"), "instrumented code has calls of its own")
    def test_the_service_lets_the_daemon_work(self):
        """Everything it can be asked for, shut in by itself as well, under a filter that ends it at
        the first call that the unit does not allow."""
        user, group = (65534, 54321) if os.getuid() == 0 else (os.getuid(), os.getgid())
        store = harness.make_store()
        directory = harness.make_temp_dir()
        os.chmod(os.path.dirname(store), 0o755)
        for path in (directory, store, *(os.path.join(store, name) for name in os.listdir(store))):
            os.chown(path, user, -1)
        # As of an operator who lets a group of his own read the store.
        os.chown(os.path.join(store, "data.mdb"), -1, group)
        rules = os.path.join(directory, "access")
        with open(rules, "w", encoding="utf-8") as file:
            file.write("anyone admin\nuser root admin\n")
        os.chmod(rules, 0o600)
        os.chown(rules, user, -1)
        fence = [sys.executable, "-c", FENCE, str(user), str(group), " ".join(self.allowed_calls())]
        with harness.start_daemon({"default": store}, ["unix:" + directory + "/s"],
                                  ["--sandbox", "require", "--access", rules],
                                  wrapper=fence) as daemon, Client(daemon.address) as client:
            client.put([pb.PutEntry(fen=fen(n)) for n in range(3000)])
            client.put([pb.PutEntry(fen=fen(1))], pb.ASYNC)
            self.assertEqual(len(client.probe(fens=[fen(n) for n in range(100)])), 100)
            client.get(fens=[fen(1)])
            client.explore(fen=fen(1))
            client.import_games([("a.pgn", b"1. e4 e5 1-0\n\n" * 1000)])
            self.assertGreater(len(client.scan().rows), 2000)
            client.count()
            client.info()
            client.games()
            client.backup()
            client.verify()
            client.rescore()
            client.delete(fens=[fen(2)])
            client.compact()
            daemon.process.send_signal(signal.SIGHUP)
            client.ping()
            self.assertEqual(client.verify()[1].errors, 0)
        self.assertEqual(os.stat(os.path.join(store, "data.mdb")).st_gid, group)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: makes a user and a directory below another root")
    def test_the_user_and_its_directory_are_declared(self):
        root = harness.make_temp_dir()
        for kind in ("sysusers", "tmpfiles"):
            os.makedirs(f"{root}/usr/lib/{kind}.d")
            shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "daemon", f"chistore.{kind}"), f"{root}/usr/lib/{kind}.d/chistore.conf")
        os.mkdir(root + "/etc")
        for command in (["systemd-sysusers"], ["systemd-tmpfiles", "--create"]):
            subprocess.run([*command, "--root=" + root], check=True, stderr=subprocess.DEVNULL, timeout=60)
        with open(root + "/etc/passwd", encoding="utf-8") as file:
            users = {line.split(":")[0]: int(line.split(":")[2]) for line in file}
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            user = re.search(r"(?m)^User=(\S+)", file.read()).group(1)
        made = os.stat(root + "/var/lib/chistore")
        self.assertEqual((made.st_uid, stat.S_IMODE(made.st_mode)), (users[user], 0o750))

    def test_they_fit_together(self):
        """What the socket is called is what the service listens on."""
        with open(self.UNITS + "/chistored.socket", encoding="utf-8") as file:
            name = re.search(r"(?m)^FileDescriptorName=(\S+)", file.read()).group(1)
        with open(self.UNITS + "/chistored.service", encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, rf"(?m)^ExecStart=/\S*/chistored .*--listen fd:{name}$")
