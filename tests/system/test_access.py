# SPDX-License-Identifier: MIT
"""Who gets in: every operation on every kind of socket with every role, users and groups, tokens,
and what changes when the access file does."""

import grp
import hashlib
import os
import pwd
import signal
import socket
import stat
import subprocess
import unittest

import harness
from harness import wait_for
from peer import Peer, fen, put
from pychistore import pb

NONE, READ, WRITE, ADMIN = range(4)
ROLES = ["none", "read", "write", "admin"]

# An operation as a client sends it, and the role that PROTOCOL.md gives it.
OPERATIONS = {
    "hello": (READ, lambda n: pb.Hello(version=1)),
    "ping": (READ, lambda n: pb.Ping()),
    "check_disk": (READ, lambda n: pb.CheckDisk()),
    "info": (READ, lambda n: pb.Info()),
    "probe": (READ, lambda n: pb.Probe(fens=[fen(n)])),
    "get": (READ, lambda n: pb.Get(fens=[fen(n)])),
    "put": (WRITE, lambda n: put([n])),
    "delete": (WRITE, lambda n: pb.Delete(fens=[fen(1)])),
    "scan": (READ, lambda n: pb.Scan(chi2_max=25599)),
    "count": (READ, lambda n: pb.Count(chi2_max=25599)),
    "credit": (READ, lambda n: pb.Credit(responses=1)),
    "cancel": (READ, lambda n: pb.Cancel()),
    "backup": (ADMIN, lambda n: pb.Backup()),
    "verify": (ADMIN, lambda n: pb.Verify()),
    "compact": (ADMIN, lambda n: pb.Compact()),
    "rescore": (ADMIN, lambda n: pb.Rescore()),
    "explore": (READ, lambda n: pb.Explore(fen=fen(n))),
    "import_games": (WRITE, lambda n: pb.Import(kind=pb.ADD_GAMES)),
    "import_data": (WRITE, lambda n: pb.ImportData(file="f", data=b"x")),
    "import_end": (WRITE, lambda n: pb.ImportEnd()),
    "games": (READ, lambda n: pb.GameIds()),
    "outcome": (WRITE, lambda n: pb.Outcome()),
    "game_query": (READ, lambda n: pb.GameQuery()),
    "get_game": (READ, lambda n: pb.GetGame(number=1)),
    "get_heads": (READ, lambda n: pb.GetHeads(numbers=b"\1\0\0\0")),
    "stats": (READ, lambda n: pb.Stats()),
    "names": (READ, lambda n: pb.Names(kind=pb.PLAYER, limit=1)),
    "suspects": (READ, lambda n: pb.Suspects(kind=pb.PLAYER, limit=1)),
    "change_names": (WRITE, lambda n: pb.ChangeNames()),
    "gamesets": (READ, lambda n: pb.Gamesets()),
    "make_gameset": (WRITE, lambda n: pb.MakeGameset(name=f"set{n}")),
    "drop_gameset": (WRITE, lambda n: pb.DropGameset(name="none")),
    "queue_add": (WRITE, lambda n: pb.QueueAdd(fens=[fen(n)])),
    "queue_take": (WRITE, lambda n: pb.QueueTake(holder="a", lease_ms=1, limit=1)),
    "queue_settle": (WRITE, lambda n: pb.QueueSettle(fens=[fen(n)], action=pb.DONE)),
    "queue_list": (READ, lambda n: pb.QueueList(state=pb.WAITING)),
    "twins": (READ, lambda n: pb.Twins()),
    "insight": (READ, lambda n: pb.Insight()),
}

# Answers of requests that were allowed; that there is nothing to say of them is another matter.
ALLOWED = {pb.OK, pb.INVALID, pb.EXISTS, pb.UNSUPPORTED, pb.BUSY}


def memory_of(pid):
    """All that the process may write of its own memory."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, \
            open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            fields = line.split()
            start, end = (int(text, 16) for text in fields[0].split("-"))
            if fields[1].startswith("rw") and end - start < 1 << 28:
                memory.seek(start)
                found.append(memory.read(end - start))
    return b"".join(found)


def token(role):
    return f"the-token-to-{role}-with"


def token_line(text, role):
    return f"token {hashlib.sha256(text.encode()).hexdigest()} {role}\n"


def write_file(path, text, mode=0o600):
    """In one step, as an operator should: the daemon sees the one or the other."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    os.rename(path + ".new", path)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = harness.make_temp_dir()
        os.chmod(self.directory, 0o755)
        self.rules = os.path.join(self.directory, "access")

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, rules, listen=None, extra=()):
        args = list(extra)
        if rules is not None:
            write_file(self.rules, rules)
            args += ["--access", self.rules]
        return harness.start_daemon(listen=listen or ["unix:" + self.path("s")], extra_args=args)

    def reload(self, daemon, rules, says=": reloaded the"):
        """Puts other rules in place and waits until the daemon has spoken of them."""
        before = daemon.stderr_text().count(says)
        write_file(self.rules, rules)
        daemon.process.send_signal(signal.SIGHUP)
        wait_for(lambda: daemon.stderr_text().count(says) > before)

    def greet(self, address, token=""):
        """What hello is answered."""
        with Peer(address, hello=False) as peer:
            answer = peer.call(hello=pb.Hello(version=1, client="test", access_token=token))
            if answer.code != pb.OK:
                self.assertEqual(answer.code, pb.DENIED)
                self.assertTrue(peer.at_end())
            return answer


def enter(address, token=""):
    peer = Peer(address, hello=False)
    answer = peer.call(hello=pb.Hello(version=1, client="test", access_token=token))
    assert answer.code == pb.OK, answer
    return peer


class Matrix(Case):
    """Every operation x every role x every listener."""

    def enter(self, address, shown):
        return enter(address, shown)

    def positions(self):
        return self.owner.call(info=pb.Info()).info.positions

    def try_one(self, peer, name, number):
        """The code of the answer; OK where there is none, as the one to a ping after it shows."""
        _, build = OPERATIONS[name]
        id = peer.send(**{name: build(number)})
        if name in ("credit", "cancel", "import_data", "import_end"):
            peer.send(ping=pb.Ping())
            answer = peer.receive()
            return answer.code if answer.id == id else pb.OK
        code = peer.receive_for(id).code
        if name == "import_games" and code == pb.OK:
            peer.send(id=id, cancel=pb.Cancel())
            while not peer.receive_for(id).last:
                pass
        elif name in ("backup", "verify", "scan") and code == pb.OK:
            peer.send(id=id, cancel=pb.Cancel())
        return code

    def goes_on(self, peer):
        """A refused request costs the connection nothing."""
        id = peer.send(ping=pb.Ping())
        while peer.receive().id != id:
            pass

    def check(self, address, shown, role):
        for number, field in enumerate(pb.Request.DESCRIPTOR.oneofs_by_name["op"].fields):
            with self.subTest(address=address, role=ROLES[role], op=field.name):
                needed, _ = OPERATIONS[field.name]
                before = self.positions()
                # A connection each: streams that are canceled end when they like.
                with self.enter(address, shown) as peer:
                    code = self.try_one(peer, field.name, 1000 + number)
                    if role >= needed:
                        self.assertIn(code, ALLOWED)
                    else:
                        self.assertEqual(code, pb.DENIED)
                        self.goes_on(peer)
                # What was refused has not happened, and what was not has.
                if field.name == "put":
                    self.assertEqual(self.positions() - before, 1 if role >= WRITE else 0)
                    self.owner.call(delete=pb.Delete(fens=[fen(1000 + number)]))

    def test_every_operation_is_here(self):
        fields = {f.name for f in pb.Request.DESCRIPTOR.oneofs_by_name["op"].fields}
        self.assertEqual(fields, set(OPERATIONS))

    def listens(self):
        """Address -> the most that its clients get."""
        listen = {}
        for role in (READ, WRITE, ADMIN):
            listen[f"unix:{self.path(ROLES[role])},role={ROLES[role]}"] = role
            listen[f"tcp:127.0.0.1:0,role={ROLES[role]}"] = role
        return listen

    def test_roles_by_token(self):
        rules = "".join(token_line(token(role), role) for role in ROLES[1:])
        listen = self.listens()
        with self.start(rules, list(listen)) as daemon:
            with enter(daemon.addresses[0].replace("/read", "/admin"), token("admin")) as owner:
                self.owner = owner
                for address, most in zip(daemon.addresses, listen.values()):
                    for role in (READ, WRITE, ADMIN):
                        self.check(address, token(ROLES[role]), min(role, most))
                    self.assertEqual(self.greet(address).code, pb.DENIED)
                    self.assertEqual(self.greet(address, "guessed").code, pb.DENIED)

    def test_without_rules_the_socket_decides(self):
        listen = self.listens()
        with self.start(None, list(listen)) as daemon:
            with enter(daemon.addresses[0].replace("/read", "/admin")) as owner:
                self.owner = owner
                for address, most in zip(daemon.addresses, listen.values()):
                    # A token is of no use then, and no harm.
                    self.check(address, "whatever" if most == READ else "", most)


class Files(Case):
    def run_daemon(self, *args):
        done = subprocess.run([os.environ["CHISTORED"], "--store", self.path("none"), *args],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              encoding="utf-8", timeout=60, check=False)
        return done.returncode, done.stderr

    def test_bad_rules_refuse_to_start(self):
        write_file(self.rules, "anyone read\nuser no-such-user-here write\n")
        listen = ["--listen", "unix:" + self.path("s"), "--access"]
        code, text = self.run_daemon(*listen, self.rules)
        self.assertEqual(code, 3)
        self.assertIn(f"{self.rules}:2: there is no user 'no-such-user-here'", text)
        self.assertEqual(self.run_daemon(*listen, self.path("missing"))[0], 3)
        write_file(self.rules, "anyone read\n", 0o660)
        self.assertIn("writable by its owner alone", self.run_daemon(*listen, self.rules)[1])
        self.assertFalse(os.path.exists(self.path("s")))

    def test_who_has_a_token(self):
        rules = token_line("first", "read") + token_line("second", "write backup-script")
        with self.start(rules) as daemon:
            self.assertEqual(self.greet(daemon.address, "first").code, pb.OK)
            self.assertEqual(self.greet(daemon.address, "second").code, pb.OK)
            refused = self.greet(daemon.address, "third")
            self.assertIn("unknown access token", refused.message)
            # As long as can be, and one byte more.
            self.assertIn("unknown access token", self.greet(daemon.address, "x" * 256).message)
            with Peer(daemon.address, hello=False) as peer:
                answer = peer.call(hello=pb.Hello(version=1, access_token="y" * 257))
                self.assertEqual((answer.code, answer.field),
                                 (pb.TOO_LARGE, "hello.access_token"))
            for secret in ("first", "second", "third", "yyyy", "xxxx"):
                self.assertNotIn(secret, daemon.stderr_text())

    def test_refused_operation_names_the_role(self):
        with self.start("anyone read\n") as daemon, Peer(daemon.address) as peer:
            answer = peer.call(put=put([1]))
            self.assertEqual(answer.code, pb.DENIED)
            self.assertEqual(answer.message,
                             "access denied: put needs the role 'write', and this client has 'read'")
            self.assertTrue(answer.last)

    def test_data_of_an_import_is_refused_with_it(self):
        with self.start("anyone read\n") as daemon, Peer(daemon.address) as peer:
            id = peer.send(import_games=pb.Import(kind=pb.ADD_GAMES))
            peer.send(id=id, import_data=pb.ImportData(data=b"1. e4 *"))
            peer.send(id=id, import_end=pb.ImportEnd())
            self.assertEqual([peer.receive_for(id).code for _ in range(3)], [pb.DENIED] * 3)
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_socket_of_a_group(self):
        group = (os.getgroups() or [os.getgid()])[0] if os.getuid() else grp.getgrall()[-1].gr_gid
        listen = [f"unix:{self.path('s')},mode=0620,group={group}", "unix:" + self.path("t")]
        with self.start(None, listen, ["--socket-mode", "0600"]):
            status = os.stat(self.path("s"))
            self.assertEqual((stat.S_IMODE(status.st_mode), status.st_gid), (0o620, group))
            self.assertEqual(stat.S_IMODE(os.stat(self.path("t")).st_mode), 0o600)


class Reload(Case):
    def test_revoked_token_is_closed(self):
        rules = token_line("one", "write") + token_line("two", "write")
        with self.start(rules) as daemon, enter(daemon.address, "one") as one, \
                enter(daemon.address, "two") as two:
            self.reload(daemon, token_line("two", "write"))
            goodbye = one.receive()
            self.assertEqual((goodbye.id, goodbye.code, goodbye.last), (0, pb.DENIED, True))
            self.assertTrue(one.at_end())
            self.assertEqual(two.call(put=put([1])).code, pb.OK)
            self.assertEqual(self.greet(daemon.address, "one").code, pb.DENIED)

    def test_less_closes_and_more_is_there_at_once(self):
        with self.start(token_line("t", "read")) as daemon, enter(daemon.address, "t") as peer:
            self.assertEqual(peer.call(put=put([1])).code, pb.DENIED)
            self.reload(daemon, token_line("t", "write"))
            wait_for(lambda: peer.call(put=put([1])).code == pb.OK)
            self.reload(daemon, token_line("t", "read"))
            self.assertEqual(peer.receive().code, pb.DENIED)
            self.assertTrue(peer.at_end())

    def test_streams_of_a_revoked_client_end(self):
        with self.start("anyone write\n") as daemon, Peer(daemon.address) as peer:
            peer.call(put=put(range(3000)))
            for numbers in range(3000, 60000, 3000):
                peer.call(put=put(range(numbers, numbers + 3000), durability=1))
            job = peer.send(import_games=pb.Import(kind=pb.ADD_GAMES))
            self.assertEqual(peer.receive_for(job).code, pb.OK)
            self.reload(daemon, "anyone read\n")
            self.assertEqual(peer.receive().code, pb.DENIED)
            self.assertTrue(peer.at_end())
            # The one import that may run is free for others again.
            self.reload(daemon, "anyone write\n")
            with Peer(daemon.address) as other:
                def begins():
                    id = other.send(import_games=pb.Import(kind=pb.ADD_GAMES))
                    return other.receive_for(id).code == pb.OK
                wait_for(begins)

    def test_bad_rules_leave_the_old_ones(self):
        with self.start("anyone write\n") as daemon, Peer(daemon.address) as peer:
            self.reload(daemon, "anyone nonsense\n", says="the old ones stay")
            self.assertIn(f"{self.rules}:1: a role is", daemon.stderr_text())
            self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            self.assertEqual(self.greet(daemon.address).code, pb.OK)
            os.unlink(self.rules)
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "cannot read" in daemon.stderr_text())
            self.assertEqual(peer.call(put=put([2])).code, pb.OK)
            # No rules at all would let everyone do everything.
            with Peer(daemon.address) as late:
                for one in (peer, late):
                    self.assertEqual(one.call(compact=pb.Compact()).code, pb.DENIED)


def as_user(uid, gid, groups, work):
    """What `work` returns, 0 to 200, run as someone else in a child; None without a result."""
    child = os.fork()
    if child == 0:
        code = 255
        try:
            os.setgroups(groups)
            os.setgid(gid)
            os.setuid(uid)
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


class Users(Case):
    """Whom the kernel names at the other end of a unix socket."""

    def code_for(self, uid, gid, groups, request):
        def work():
            with Peer(self.address, hello=False) as peer:
                answer = peer.call(hello=pb.Hello(version=1))
                return answer.code if answer.code != pb.OK else peer.call(**request).code
        return as_user(uid, gid, groups, work)

    def test_own_user(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        with self.start(f"user {me} write\n") as daemon, Peer(daemon.address) as peer:
            self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            self.assertEqual(peer.call(compact=pb.Compact()).code, pb.DENIED)

    def test_own_user_is_unknown_over_tcp(self):
        rules = f"user {os.getuid()} admin\ngroup {os.getgid()} admin\n"
        with self.start(rules, ["tcp:127.0.0.1:0"]) as daemon:
            self.assertEqual(self.greet(daemon.address).code, pb.DENIED)

    def test_users_and_groups(self):
        if os.getuid() != 0:
            self.skipTest("only root can be someone else")
        rules = "user 4001 read\ngroup 5001 write\ngroup 5002 read\nuser 4009 none\n"
        many = list(range(6000, 6200)) + [5001]
        put_one, ask = {"put": put([1])}, {"ping": pb.Ping()}
        with self.start(rules, [f"unix:{self.path('s')},mode=0666"]) as daemon:
            self.address = daemon.address
            for uid, gid, groups, request, code in (
                    (4001, 9, [], ask, pb.OK),
                    (4001, 9, [], put_one, pb.DENIED),
                    (4002, 9, [], ask, pb.DENIED),
                    (4002, 5001, [], put_one, pb.OK),           # the first group
                    (4002, 9, [5001], put_one, pb.OK),          # another one
                    (4002, 9, many, put_one, pb.OK),            # more than are asked for at once
                    (4002, 9, many[:-1], put_one, pb.DENIED),
                    (4001, 5002, [5001], put_one, pb.OK),       # the best of all
                    (4009, 5001, [5001], ask, pb.DENIED)):      # but for who is shut out
                with self.subTest(uid=uid, gid=gid, groups=groups[-1:]):
                    self.assertEqual(self.code_for(uid, gid, groups, request), code)

    def test_mode_keeps_others_out(self):
        if os.getuid() != 0:
            self.skipTest("only root can be someone else")

        def work():
            with socket.socket(socket.AF_UNIX) as sock:
                try:
                    sock.connect(self.address[len("unix:"):])
                except PermissionError:
                    return 1
            return 0
        with self.start(None, [f"unix:{self.path('s')},mode=0660,group=5001"]) as daemon:
            self.address = daemon.address
            self.assertEqual(as_user(4001, 5001, [], work), 0)
            self.assertEqual(as_user(4001, 9, [5001], work), 0)
            self.assertEqual(as_user(4001, 9, [], work), 1)


class CommandLine(Case):
    def run_cli(self, daemon, *args, secret=None, mode=0o600, env=None):
        if secret is not None:
            write_file(self.path("token"), secret, mode)
            args = ("--token-file", self.path("token"), *args)
        return harness.run_cli(*args, address=daemon.address, env=env)

    def test_token_file(self):
        position = fen(1)
        rules = token_line("reader-0123", "read") + token_line("writer-4567", "write")
        with self.start(rules) as daemon:
            self.assertEqual(self.run_cli(daemon, "put", position, secret="writer-4567\n").returncode,
                             0)
            self.assertEqual(self.run_cli(daemon, "get", position, secret="reader-0123").returncode, 0)
            by_environment = {"CHISTORE_TOKEN_FILE": self.path("token")}
            self.assertEqual(self.run_cli(daemon, "info", env=by_environment).returncode, 0)
            refused = self.run_cli(daemon, "put", position, secret="reader-0123")
            self.assertEqual(refused.returncode, 3)
            self.assertIn("put needs the role 'write'", refused.stderr)
            for done, says in (
                    (self.run_cli(daemon, "info"), "no rule matches these credentials"),
                    (self.run_cli(daemon, "info", secret="wrong-token"), "unknown access token"),
                    (self.run_cli(daemon, "info", secret="reader-0123", mode=0o644),
                     "open to everyone"),
                    (self.run_cli(daemon, "--token-file", "/nonexistent", "info"), "cannot read")):
                self.assertEqual(done.returncode, 3)
                self.assertIn(says, done.stderr)
            for secret in ("", "\n", "two words", "two\nlines", "x" * 257, "\x00\n",
                           "x" + "\n" * 300 + "y"):
                done = self.run_cli(daemon, "info", secret=secret)
                self.assertEqual(done.returncode, 2)
                self.assertIn("one line with an access token", done.stderr)
            self.assertNotIn("reader-0123", daemon.stderr_text())

    def test_a_token_file_that_is_none(self):
        """No one waits for the writer of a pipe."""
        os.mkfifo(self.path("pipe"), 0o600)
        writer = os.open(self.path("pipe"), os.O_RDWR)
        self.addCleanup(os.close, writer)
        with self.start(token_line("reader-0123", "read")) as daemon:
            for path in (self.path("pipe"), "/dev/null", self.path("")):
                done = self.run_cli(daemon, "--token-file", path, "info")
                self.assertEqual(done.returncode, 2)
                self.assertIn("not a regular file", done.stderr)

    @unittest.skipIf(os.environ.get("CHISTORE_SANITIZE", "none") != "none",
                     "a sanitizer keeps memory that was freed")
    def test_no_token_stays_in_memory(self):
        """Of a token the daemon keeps the digest. The name in the same hello is the control."""
        token = "needle-in-the-haystack"
        with self.start(token_line(token, "read")) as daemon:
            with Peer(daemon.address, hello=False) as peer, \
                    Peer(daemon.address, hello=False) as wrong:
                hello = pb.Hello(version=1, client="the-haystack-itself", access_token=token)
                self.assertEqual(peer.call(hello=hello).code, pb.OK)
                hello.access_token = token + "-too-long"
                self.assertEqual(wrong.call(hello=hello).code, pb.DENIED)
                memory = memory_of(daemon.pid)
                self.assertIn(b"the-haystack-itself", memory)
                self.assertNotIn(token.encode(), memory)
