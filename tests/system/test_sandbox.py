# SPDX-License-Identifier: MIT
"""Who the daemon is, and what is left to it once it serves. Run as root it becomes someone else; run
by someone else it can only stay who it is, and both are held."""

import ctypes
import errno
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import unittest

import harness
import webserver
from certificates import Authority
from harness import PATIENCE, wait_for
from peer import Peer, put
from pychistore import pb

ROOT = os.geteuid() == 0
INSTRUMENTED = os.environ["CHISTORE_INSTRUMENTED"] == "yes"
SECCOMP = os.environ["CHISTORE_SECCOMP"] == "yes"

# Someone whom every system has, without a home.
NOBODY = 65534

KEPT = "sandboxed: files (Landlock"

# What the preloaded library tries, in its order; what each says where nothing is kept away; and
# whether it takes the filter to keep it away.
ALLOWED = ["read the store"]
WRITING = ["write the store"]
FILES = {"read a file": 0, "list a directory": 0, "read of itself": 0, "write a file": 0,
         "make a file": 0, "remove a file": 0}
CALLS = {"start a process": 0, "tcp socket": 0, "unix socket": 0, "run a program": errno.ENOENT,
         "trace a process": errno.ESRCH, "send a signal": 0, "mount": errno.EFAULT,
         "new namespaces": 0, "change the user": 0, "map code": 0, "turn data into code": 0}
# To itself the server may send signals, as abort does; no other process may send it any.
TELLING = ["signal to the server"]
TRIED = [*ALLOWED, *WRITING, *FILES, *CALLS, *TELLING]
NOTES_SIZE = 8 + 4 * 32

# Becomes the command, with some system calls answered as the kernel is told. A filter in BPF: load the
# number, compare, return.
OTHER_KERNEL = """
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
answer, calls = {answer}, {calls}[platform.machine() == "x86_64"]
code = [(0x20, 0, 0, 0)]
for i, call in enumerate(calls):
    code.append((0x15, len(calls) - i, 0, call))
code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, answer)]
program = b"".join(struct.pack("=HBBI", *line) for line in code)
bytes_ = ctypes.create_string_buffer(program)
head = struct.pack("@HP", len(code), ctypes.addressof(bytes_))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, head, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""

# Landlock's first call and seccomp, elsewhere and on x86-64, fail with ENOSYS.
OLD_KERNEL = {"answer": 0x00050000 | errno.ENOSYS, "calls": ((444, 277), (444, 317))}


def on(kernel):
    """What has a command run on it."""
    return [sys.executable, "-c", OTHER_KERNEL.format(**kernel)]


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(re.findall(r"(?m)^(\w+):\s*(.*)$", file.read()))


# What a container, say, has put on all that runs in it.
INHERITED = status_of("self")["Seccomp"]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def refused(*args, wrapper=(), **more):
    """The exit status and what was said by a daemon that does not start."""
    done = subprocess.run([*wrapper, os.environ["CHISTORED"], *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                          check=False, timeout=PATIENCE, **more)
    return done.returncode, done.stderr


GAME = '[Result "1-0"]\n\n1. e4 e5 2. {} 1-0\n'


def work(address):
    """One of each kind: writes, streams, an import and a merge, all that works on a whole store."""
    with Peer(address) as peer:
        assert peer.call(put=put(range(500))).code == pb.OK
        for request in ({"scan": pb.Scan(chi2_max=25599)}, {"backup": pb.Backup()},
                        {"verify": pb.Verify()}, {"compact": pb.Compact()},
                        {"rescore": pb.Rescore()}, {"verify": pb.Verify()}):
            last = list(peer.stream(**request))[-1]
            assert last.code == pb.OK, (request, last)
    other = harness.make_store()
    for place, move in ((address, "Nf3"), (other, "Nc3")):
        done = harness.run_cli("import", "--format", "pgn", "-", input=GAME.format(move),
                               address=place)
        assert done.returncode == 0, done.stderr
    done = harness.run_cli("merge", other, address=address)
    assert done.returncode == 0, done.stderr


class Base(unittest.TestCase):
    def setUp(self):
        self.directory = harness.make_temp_dir()
        os.chmod(self.directory, 0o755)

    def path(self, name, owner=None):
        """A new directory in the test's own."""
        path = os.path.join(self.directory, name)
        os.mkdir(path, 0o700)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def start(self, *args, name="store", owner=None, **more):
        """Serves a new store in a directory of `owner`; sockets and files are in another."""
        store = os.path.join(self.path(name, owner), "store")
        return harness.start_daemon({"default": store}, extra_args=["--create", "control", *args],
                                    **more)


class TestUser(Base):
    """Root becomes another user, and another user can only stay itself."""

    def as_whom(self):
        """The user that the daemon can become here, with its group."""
        return (NOBODY, NOBODY) if ROOT else (os.geteuid(), os.getegid())

    def assert_is(self, pid, uid, gid):
        status = status_of(pid)
        self.assertEqual(status["Uid"].split(), [str(uid)] * 4)
        self.assertEqual(status["Gid"].split(), [str(gid)] * 4)
        self.assertEqual(status["NoNewPrivs"], "1")
        for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[kind], 16), 0, kind)
        if ROOT:
            self.assertEqual(status["Groups"].split(), [str(gid)])

    def test_it_works_as_the_user(self):
        uid, gid = self.as_whom()
        run = self.path("run", uid if ROOT else None)
        log, rules, sock = (os.path.join(run, name) for name in ("log", "rules", "socket"))
        with open(rules, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(f"user {os.geteuid()} admin\nuser root admin\n" if os.geteuid() else
                       "user root admin\n")
        with self.start("--user", f"{uid}:{gid}", "--log-file", log, "--access", rules,
                        owner=uid if ROOT else None, listen=["unix:" + sock]) as daemon:
            for pid in (daemon.pid, *children_of(daemon.pid)):
                self.assert_is(pid, uid, gid)
            for task in os.listdir(f"/proc/{daemon.pid}/task"):
                self.assertEqual(status_of(f"{daemon.pid}/task/{task}")["Uid"].split()[1], str(uid))
            for path in (sock, sock + ".lock", log):
                self.assertEqual((os.stat(path).st_uid, os.stat(path).st_gid), (uid, gid), path)
            # Who listens is who the clients are told.
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(sock)
                peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                self.assertEqual(struct.unpack("=iII", peer)[1:], (uid, gid))
            work(daemon.address)
            os.rename(log, log + ".1")
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: os.path.exists(log))
            with open(log, encoding="utf-8") as file:
                text = ""
                while "reloaded the" not in text:
                    text += file.read()
            self.assertIn("reopened log", text)
            self.assertNotIn("running as root", text)
        self.assertEqual(sorted(os.listdir(run)), ["log", "log.1", "rules"])

    def test_root_is_warned(self):
        with self.start() as daemon:
            self.assertEqual("running as root" in daemon.stderr_text(), ROOT)
            self.assertEqual(status_of(daemon.pid)["NoNewPrivs"], "1")

    def test_a_socket_that_it_cannot_remove(self):
        """It stays behind, and a next server finds it dead."""
        uid, gid = self.as_whom()
        sock = os.path.join(self.directory, "socket")
        for name in ("first", "second"):
            with self.start("--user", f"{uid}:{gid}", name=name, owner=uid if ROOT else None,
                            listen=["unix:" + sock]) as daemon, Peer(daemon.address) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            self.assertEqual(os.path.exists(sock), ROOT)
            self.assertEqual("failed to remove socket" in daemon.stderr_text(), ROOT)

    def test_files_that_it_cannot_reload(self):
        uid, gid = self.as_whom()
        rules = os.path.join(self.directory, "rules")
        with open(rules, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write("anyone admin\n")
        with self.start("--user", f"{uid}:{gid}", "--access", rules,
                        owner=uid if ROOT else None) as daemon:
            text = daemon.stderr_text()
            self.assertEqual(f"SIGHUP cannot reload '{rules}'" in text, ROOT)
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: ("the old ones stay" if ROOT else ": reloaded the") in daemon.stderr_text())
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(put=put([1])).code, pb.OK)

    def test_a_store_of_somebody_else(self):
        store = self.path("store")
        whom = str(NOBODY) + ":0" if ROOT else "0:0"
        code, said = refused("--store", store, "--create", "control", "--user", whom,
                             "--listen", "unix:" + store + ".socket")
        self.assertEqual(code, 3 if ROOT else 2)
        if ROOT:
            self.assertRegex(said, rf"cannot open store '{store}' as user '\w+' \(.*[Pp]ermission")
        self.assertFalse(os.path.exists(store + ".socket") and not ROOT)

    def test_users_that_cannot_be(self):
        args = ["--store", self.directory + "/store", "--listen", f"unix:{self.directory}/socket"]
        for whom, code, word in (
                ("root", 2, "is root"), ("0:0", 2, "is root"), ("no-such-user", 2, "no user"),
                ("", 2, "not NAME"), (f"{NOBODY}:no-such-group", 2, "no group"),
                ("4000000000", 2, "give a group"), ("4294967295:1", 2, "no user")):
            self.assertIn(word, refused(*args, "--user", whom)[1])
            self.assertEqual(refused(*args, "--user", whom)[0], code, whom)
        if not ROOT:
            code, said = refused(*args, "--user", "1:1")
            self.assertEqual(code, 3)
            self.assertIn("only root can become", said)


class Prison(Base):
    """For servers that try what they should not, when told to."""

    def prison(self, owner=None):
        """The environment that makes a server one."""
        self.notes_path = os.path.join(self.directory, "notes")
        self.outside = self.path("outside", owner)
        with open(self.notes_path, "wb") as file:
            file.write(b"\0" * NOTES_SIZE)
        os.chmod(self.notes_path, 0o666)
        self.make_victim()
        with open(self.notes_path, "r+b") as file:
            self.notes = mmap.mmap(file.fileno(), 0)
        return {"LD_PRELOAD": os.environ["CHISTORE_PRISONER"], "CHISTORE_NOTES": self.notes_path,
                "CHISTORE_INSIDE": self.directory + "/store/store/data.mdb",
                "CHISTORE_OUTSIDE": self.outside}

    def make_victim(self):
        path = os.path.join(self.outside, "victim")
        with open(path, "wb") as file:
            os.fchmod(file.fileno(), 0o666)

    def said(self):
        values = struct.unpack_from(f"={len(TRIED)}i", self.notes, 8)
        return dict(zip(TRIED, values))

    def done(self):
        return struct.unpack_from("=Q", self.notes, 0)[0]

    def tried_by(self, daemon, thread):
        """What the kernel says to that thread; None if it has ended, as those of a verification do
        soon after its last response."""
        before = self.done()
        calls = {"x86_64": 234, "aarch64": 131}
        ctypes.CDLL(None).syscall(calls[os.uname().machine], daemon.pid, int(thread),
                                  int(signal.SIGUSR2))
        task = f"/proc/{daemon.pid}/task/{thread}"
        wait_for(lambda: self.done() > before or not os.path.exists(task))
        return self.said() if self.done() > before else None

    def assert_kept(self, said):
        self.assertEqual((said[ALLOWED[0]], said[WRITING[0]]), (0, 0))
        for name in FILES:
            self.assertEqual(said[name], errno.EACCES, name)
        for name in CALLS if SECCOMP else ():
            self.assertIn(said[name], (errno.EPERM, errno.ENOSYS), name)


class TestSandbox(Prison):
    def prisoner(self, *args, owner=None):
        return self.start(*args, owner=owner, env=self.prison(owner))

    def try_and_verify(self, daemon):
        """What each thread is told, after a verification."""
        with Peer(daemon.address) as peer:
            peer.call(put=put(range(10)))
            self.assertEqual(list(peer.stream(verify=pb.Verify()))[-1].code, pb.OK)
        threads = os.listdir(f"/proc/{daemon.pid}/task")
        self.assertGreaterEqual(len(threads), 3)
        for thread in threads:
            self.make_victim()
            said = self.tried_by(daemon, thread)
            if said is not None:
                yield said

    def held(self, *args, **more):
        if INSTRUMENTED:
            with self.start(*args, **more) as daemon:
                self.assertIn("this build is instrumented", daemon.stderr_text())
            return
        with self.prisoner("--sandbox", "require" if SECCOMP else "auto", *args, **more) as daemon:
            for pid in (daemon.pid, *(f"{daemon.pid}/task/{t}"
                                      for t in os.listdir(f"/proc/{daemon.pid}/task"))):
                self.assertEqual(status_of(pid)["Seccomp"], "2" if SECCOMP else INHERITED)
            for said in self.try_and_verify(daemon):
                self.assert_kept(said)
            self.assertEqual(said[TELLING[0]], 0)
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
        self.assertEqual(os.listdir(self.outside), ["victim"])

    def test_what_is_kept_from_it(self):
        self.held()

    def test_what_is_kept_from_the_user(self):
        owner = NOBODY if ROOT else None
        whom = f"{NOBODY}:{NOBODY}" if ROOT else f"{os.geteuid()}:{os.getegid()}"
        self.held("--user", whom, owner=owner)

    def test_without_it_all_that_works(self):
        """The control: the same is tried, and nothing prevents it."""
        if INSTRUMENTED:
            return
        with self.prisoner("--sandbox", "off") as daemon:
            for said in self.try_and_verify(daemon):
                free = dict.fromkeys([*ALLOWED, *WRITING, *TELLING], 0)
                self.assertEqual(said, {**free, **FILES, **CALLS})
            self.assertEqual(status_of(daemon.pid)["Seccomp"], INHERITED)
            self.assertNotIn(KEPT, daemon.stderr_text())
        self.assertIn("made", os.listdir(self.outside))

    def test_it_serves_all_the_same(self):
        with self.start() as daemon:
            self.assertEqual(KEPT in daemon.stderr_text(), SECCOMP and not INSTRUMENTED)
            work(daemon.address)

    def test_files_that_are_replaced(self):
        """Rules, certificates and the log are found again when others have taken their places."""
        etc = self.path("etc")
        authority = Authority(etc, "authority")
        listen = [f"unix:{self.directory}/socket", "tls:127.0.0.1:0"]
        names = [os.path.join(etc, name) for name in ("rules", "cert", "key", "ca")]
        log = os.path.join(self.path("log"), "log")

        def replace():
            certificate, key = authority.issue("server", "IP:127.0.0.1")
            for name, source in zip(names, (None, certificate, key, authority.file)):
                with open(name + ".new", "w", encoding="utf-8") as file:
                    os.fchmod(file.fileno(), 0o600)
                    if source is None:
                        file.write(f"user {os.geteuid()} admin\n")
                    else:
                        with open(source, encoding="utf-8") as old:
                            file.write(old.read())
                os.rename(name + ".new", name)

        replace()
        with self.start("--access", names[0], "--tls-cert", names[1], "--tls-key", names[2],
                        "--tls-ca", names[3], "--log-file", log, listen=listen) as daemon:
            for _ in range(2):
                replace()
                os.rename(log, log + ".1")
                daemon.process.send_signal(signal.SIGHUP)
                wait_for(lambda: os.path.exists(log))
                with open(log, encoding="utf-8") as file:
                    text = ""
                    while "access rules" not in text:
                        text += file.read()
                self.assertNotIn("the old ones stay", text)
                self.assertIn("reloaded the certificate", text)
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(put=put([1])).code, pb.OK)

    def test_a_kernel_that_has_nothing(self):
        """It goes on and says so, or does not start, as it was told."""
        old = on(OLD_KERNEL)
        with self.start(wrapper=old) as daemon:
            self.assertIn("no sandbox against other files", daemon.stderr_text())
            work(daemon.address)
        store = os.path.join(self.directory, "store", "store")
        code, said = refused("--store", store, "--listen", f"unix:{self.directory}/socket",
                             "--sandbox", "require", wrapper=old)
        self.assertEqual(code, 3)
        self.assertIn("--sandbox=require: no sandbox against other files", said)
        self.assertFalse(os.path.exists(self.directory + "/socket"))
        code, said = refused("--sandbox", "maybe")
        self.assertEqual((code, "none of auto, require, off" in said), (2, True))

    def test_files_that_only_root_gets_to(self):
        """They were read before; they are no reason to keep the rest less well."""
        uid, gid = (NOBODY, NOBODY) if ROOT else (os.geteuid(), os.getegid())
        rules = os.path.join(self.path("private"), "below", "rules")
        os.mkdir(os.path.dirname(rules))
        with open(rules, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write("anyone admin\n")
        how = "require" if SECCOMP and not INSTRUMENTED else "auto"
        with self.start("--user", f"{uid}:{gid}", "--access", rules, "--sandbox", how,
                        owner=uid if ROOT else None) as daemon:
            self.assertNotIn("from other files (Perm", daemon.stderr_text())
            work(daemon.address)


class TestHttp(Prison):
    """chistore-http keeps the same away."""

    def serve(self, *args, **more):
        store = os.path.join(self.path("store"), "store")
        game = GAME.format("Nf3")
        done = harness.run_cli("import", "--format", "pgn", "-", input=game, address=store)
        self.assertEqual(done.returncode, 0, done.stderr)
        return webserver.start(store, *args, **more)

    def tries(self, server):
        """What each thread is told, while it serves."""
        threads = os.listdir(f"/proc/{server.pid}/task")
        self.assertGreaterEqual(len(threads), 3)
        for thread in threads:
            self.assertEqual(server.json("/masters")["white"], 1)
            self.make_victim()
            said = self.tried_by(server, thread)
            if said is not None:
                yield said

    def test_what_is_kept_from_it(self):
        if INSTRUMENTED:
            with self.serve() as server:
                self.assertIn("this build is instrumented", "".join(server.lines))
            return
        how = "require" if SECCOMP else "auto"
        with self.serve("--sandbox", how, env=self.prison()) as server:
            self.assertRegex("".join(server.lines), KEPT.replace("(", r"\(") + " [1-9]")
            for said in self.tries(server):
                self.assert_kept(said)
            self.assertEqual(said[TELLING[0]], 0)
        self.assertEqual(os.listdir(self.outside), ["victim"])

    def test_without_it_all_that_works(self):
        if INSTRUMENTED:
            return
        with self.serve("--sandbox", "off", env=self.prison()) as server:
            for said in self.tries(server):
                free = dict.fromkeys([*ALLOWED, *WRITING, *TELLING], 0)
                self.assertEqual(said, {**free, **FILES, **CALLS})
            self.assertNotIn(KEPT, "".join(server.lines))

    def test_a_copy_that_is_published_again(self):
        """Of a published copy what is beside it is read, as the next one is there."""
        store = os.path.join(self.path("source"), "store")
        copy = os.path.join(self.path("copies"), "copy")
        for move, games in (("Nf3", 1), ("Nc3", 2)):
            for args in (("import", "--format", "pgn", "-"), ("publish", copy)):
                done = harness.run_cli(*args, input=GAME.format(move), address=store)
                self.assertEqual(done.returncode, 0, done.stderr)
            if games == 1:
                server = webserver.start(copy)
        with server:
            wait_for(lambda: server.json("/masters")["white"] == 2)
            self.assertEqual(KEPT in "".join(server.lines), SECCOMP and not INSTRUMENTED)

    def test_a_kernel_that_has_nothing(self):
        with self.serve(wrapper=on(OLD_KERNEL)) as server:
            self.assertIn("no sandbox against other files", "".join(server.lines))
            self.assertEqual(server.json("/masters")["white"], 1)
        code, said = webserver.start(os.path.join(self.directory, "store", "store"), "--sandbox",
                                     "require", want=False, wrapper=on(OLD_KERNEL))
        self.assertEqual(code, 3)
        self.assertIn("--sandbox=require: no sandbox against other files", said)
