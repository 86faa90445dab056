# SPDX-License-Identifier: MIT
"""TLS: who is let in by certificate or token, what is no TLS, and that answers are the same."""

import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess

import certificates
import harness
from harness import PATIENCE, wait_for
from peer import Peer, fen, put
from pychistore import Client, Closed, pb
import test_access  # its Matrix is not to run once more here
from test_access import ADMIN, READ, ROLES, WRITE, Case, token, token_line, write_file

LOCAL = "IP:127.0.0.1,DNS:localhost"


class TlsCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.base = harness.make_temp_dir()
        cls.authority = certificates.Authority(cls.base, "authority")
        cls.foreign = certificates.Authority(cls.base, "foreign")
        cls.server = cls.authority.issue("server", LOCAL)
        cls.reader = cls.authority.issue("reader")
        cls.writer = cls.authority.issue("writer")
        cls.plain = certificates.context(cls.authority)
        cls.contexts = {}

    def serve(self, rules, listen=None, extra=(), server=None):
        certificate, key = server or self.server
        return self.start(rules, listen or ["tls:127.0.0.1:0"],
                          ["--tls-cert", certificate, "--tls-key", key,
                           "--tls-ca", self.authority.file, *extra])

    def context(self, identity=None):
        if identity not in self.contexts:
            self.contexts[identity] = certificates.context(self.authority, identity)
        return self.contexts[identity]

    def address_of(self, daemon):
        """Where it listens with TLS, host and port."""
        tls, = (a for a in daemon.addresses if a.startswith("tls:"))
        host, _, port = tls[len("tls:"):].rpartition(":")
        return host, int(port)

    def refused(self, address, context, token=""):
        """The code of a refused hello, or None where not even TLS came about."""
        try:
            with Peer(address, hello=False, tls=context) as peer:
                return peer.call(hello=pb.Hello(version=1, access_token=token)).code
        except (ssl.SSLError, Closed, ConnectionError):
            return None


class TlsMatrix(TlsCase, test_access.Matrix):
    """The operations and roles of test_access over TLS, by token and by certificate."""

    def enter(self, address, shown):
        return Peer(address, token=shown[0], tls=self.context(shown[1]))

    def listens(self):
        return {f"tls:127.0.0.1:0,role={ROLES[role]}": role for role in (READ, WRITE, ADMIN)}

    def serve_matrix(self, rules, listen):
        return self.serve(rules, list(listen) + ["unix:" + self.path("s")])

    def test_roles_by_token(self):
        rules = "".join(token_line(token(role), role) for role in ROLES[1:])
        listen = self.listens()
        with self.serve_matrix(rules, listen) as daemon, \
                Peer("unix:" + self.path("s"), token=token("admin")) as self.owner:
            for address, most in zip(daemon.addresses, listen.values()):
                for role in (READ, WRITE, ADMIN):
                    self.check(address, (token(ROLES[role]), None), min(role, most))

    def test_roles_by_certificate(self):
        admin = self.authority.issue("admin")
        rules = ("cert reader read\ncert writer write\n"
                 f"cert sha256:{certificates.fingerprint(admin[0])} admin\n" +
                 token_line("owner", "admin"))
        listen = self.listens()
        with self.serve_matrix(rules, listen) as daemon, \
                Peer("unix:" + self.path("s"), token="owner") as self.owner:
            for address, most in zip(daemon.addresses, listen.values()):
                for role, identity in ((READ, self.reader), (WRITE, self.writer), (ADMIN, admin)):
                    self.check(address, ("", identity), min(role, most))
                self.assertEqual(self.refused(address, self.context()), pb.DENIED)

    def test_without_rules_the_socket_decides(self):
        """Over TLS there are always rules: test_start_is_refused."""


class WhoIsWho(TlsCase):
    def test_foreign_and_expired_certificates(self):
        with self.serve("anyone read\ncert writer write\n") as daemon:
            for authority, expired in ((self.foreign, False), (self.authority, True)):
                identity = authority.issue("writer", expired=expired)
                self.assertIsNone(self.refused(daemon.addresses[0], self.context(identity)))
            wait_for(lambda: "certificate has expired" in daemon.stderr_text())
            with Peer(daemon.addresses[0], tls=self.context(self.writer)) as peer:
                self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            # Who shows none is anyone.
            with Peer(daemon.addresses[0], tls=self.plain) as peer:
                self.assertEqual(peer.call(put=put([1])).code, pb.DENIED)

    def test_certificates_are_good_for_one_side(self):
        with self.serve("cert writer write\n") as daemon:
            address = daemon.addresses[0]
            for usage, code in (("clientAuth", pb.OK), ("serverAuth", None)):
                identity = self.authority.issue("writer", usage=usage)
                with self.subTest(usage=usage):
                    if code is None:
                        self.assertIsNone(self.refused(address, self.context(identity)))
                    else:
                        self.assertEqual(self.refused(address, self.context(identity)), code)

    def test_users_of_sockets_are_nobody_here(self):
        with self.serve(f"user {os.getuid()} admin\n") as daemon:
            self.assertEqual(self.refused(daemon.addresses[0], self.plain), pb.DENIED)

    def test_new_files_after_sighup(self):
        certificate, key = self.path("server.crt"), self.path("server.key")
        shutil.copy(self.server[0], certificate)
        shutil.copy(self.server[1], key)
        with self.serve("cert reader read\n", server=(certificate, key)) as daemon:
            address = daemon.addresses[0]
            old = Peer(address, tls=self.context(self.reader))
            before = old.socket.getpeercert(True)
            # Broken files change nothing.
            os.truncate(certificate, 10)
            daemon.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "the old ones stay" in daemon.stderr_text())
            with Peer(address, tls=self.context(self.reader)) as peer:
                self.assertEqual(peer.socket.getpeercert(True), before)
            other = self.authority.issue("server", LOCAL)
            shutil.copy(other[0], certificate)
            shutil.copy(other[1], key)
            self.reload(daemon, "cert reader read\n", says="access rules of")
            with Peer(address, tls=self.context(self.reader)) as peer:
                self.assertNotEqual(peer.socket.getpeercert(True), before)
            self.assertEqual(old.call(ping=pb.Ping()).code, pb.OK)
            self.reload(daemon, "cert writer read\n", says="access rules of")
            self.assertEqual(old.receive().code, pb.DENIED)
            self.assertTrue(old.at_end())
            old.close()

    def test_new_authorities_after_sighup(self):
        """Who is vouched for by none of them any more is closed; a token does not help."""
        authorities = self.path("authorities.crt")
        shutil.copy(self.authority.file, authorities)
        strange = self.foreign.issue("writer")
        rules = "cert reader read\ncert writer write\n" + token_line("token", "admin")
        daemon = self.start(rules, ["tls:127.0.0.1:0"],
                            ["--tls-cert", self.server[0], "--tls-key", self.server[1],
                             "--tls-ca", authorities])
        with daemon:
            address = daemon.addresses[0]
            with Peer(address, tls=self.context(self.reader)) as old, \
                    Peer(address, tls=self.context(self.reader), token="token") as both, \
                    Peer(address, tls=self.plain, token="token") as plain, \
                    Peer(address, tls=self.context(self.reader), hello=False) as silent:
                # Both vouch: no one has to go.
                with open(authorities, "a", encoding="ascii") as file, \
                        open(self.foreign.file, encoding="ascii") as more:
                    file.write(more.read())
                self.reload(daemon, rules, says="access rules of")
                with Peer(address, tls=self.context(strange)) as new:
                    self.assertEqual(new.call(put=put([1])).code, pb.OK)
                    self.assertEqual(old.call(ping=pb.Ping()).code, pb.OK)
                    shutil.copy(self.foreign.file, authorities)
                    self.reload(daemon, rules, says="access rules of")
                    for peer in (old, both):
                        self.assertEqual(peer.receive().code, pb.DENIED)
                        self.assertTrue(peer.at_end())
                    self.assertEqual(new.call(ping=pb.Ping()).code, pb.OK)
                    self.assertEqual(plain.call(ping=pb.Ping()).code, pb.OK)
                answer = silent.call(hello=pb.Hello(version=1))
                self.assertEqual(answer.code, pb.DENIED)
                self.assertIn("no longer trusted", answer.message)

    def test_files_that_are_none(self):
        """A pipe in the place of a file does not hold up the start, nor a reload."""
        pipe = self.path("pipe")
        os.mkfifo(pipe, 0o600)
        for option in ("--tls-cert", "--tls-key", "--tls-ca"):
            files = {"--tls-cert": self.server[0], "--tls-key": self.server[1],
                     "--tls-ca": self.authority.file, option: pipe}
            with self.assertRaises(RuntimeError) as caught:
                self.start("anyone read\n", ["tls:127.0.0.1:0"],
                           [word for pair in files.items() for word in pair])
            self.assertIn("not a regular file", str(caught.exception))

    def test_start_is_refused(self):
        store = ["--store", self.path("none"), "--listen", "tls:127.0.0.1:0"]
        write_file(self.rules, "anyone read\n")
        open_key = self.path("open.key")
        shutil.copy(self.server[1], open_key)
        os.chmod(open_key, 0o644)
        certificate, key = self.server
        for code, says, args in (
                (2, "needs --tls-cert and --tls-key", ["--access", self.rules]),
                (2, "needs --access", ["--tls-cert", certificate, "--tls-key", key]),
                (3, "open to everyone", ["--access", self.rules, "--tls-cert", certificate,
                                         "--tls-key", open_key]),
                (3, "cannot use the key", ["--access", self.rules, "--tls-cert", certificate,
                                           "--tls-key", self.reader[1]]),
                (3, "cannot use the certificate", ["--access", self.rules, "--tls-cert", key,
                                                   "--tls-key", key]),
                (3, "cannot use the authorities", ["--access", self.rules, "--tls-cert", certificate,
                                                   "--tls-key", key, "--tls-ca", "/dev/null"])):
            done = subprocess.run([os.environ["CHISTORED"], *store, *args], timeout=60,
                                  stderr=subprocess.PIPE, encoding="utf-8", check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)


class NoTls(TlsCase):
    def test_plain_bytes(self):
        with self.serve("anyone read\n") as daemon:
            for data in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)), b"\x14\x08\x01\x82\x01\x0f",
                         b"\x16\x03\x01\xff\xff" + bytes(70000)):
                with socket.create_connection(self.address_of(daemon), 60) as sock:
                    sock.settimeout(60)
                    try:
                        sock.sendall(data)
                        while sock.recv(4096):
                            pass
                    except ConnectionError:
                        pass
            with Peer(daemon.addresses[0], tls=self.plain) as peer:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_older_versions(self):
        with self.serve("anyone read\n") as daemon:
            old = certificates.context(self.authority)
            old.minimum_version = ssl.TLSVersion.TLSv1_2
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            with self.assertRaisesRegex(ssl.SSLError, "(?i)version"):
                Peer(daemon.addresses[0], tls=old)
            with Peer(daemon.addresses[0], tls=self.plain) as peer:
                self.assertEqual(peer.socket.version(), "TLSv1.3")

    def test_silent_clients_are_closed_in_time(self):
        # Nothing else may end them.
        limits = ["--frame-timeout", "200", "--output-timeout", "3600000"]
        with self.serve("anyone read\n", extra=limits) as daemon:
            with socket.create_connection(self.address_of(daemon), PATIENCE) as mute, \
                    Peer(daemon.addresses[0], hello=False, tls=self.plain) as silent:
                mute.sendall(b"\x16\x03\x01")
                try:
                    while mute.recv(4096):
                        pass
                except ConnectionError:
                    pass
                self.assertEqual(silent.receive().code, pb.TIMED_OUT)
                self.assertTrue(silent.at_end())

    def test_half_handshakes_keep_nobody_out(self):
        """At the limit, below it and above: the oldest go, and who does his part comes in."""
        most = 8
        with self.serve("anyone read\n", extra=["--threads", "1", "--max-handshakes", most]) \
                as daemon:
            where = self.address_of(daemon)
            half = []

            def enters():
                with Peer(daemon.addresses[0], tls=self.plain) as peer:
                    return peer.call(ping=pb.Ping()).code == pb.OK

            def gone(sock):
                sock.settimeout(PATIENCE)
                try:
                    return sock.recv(1) == b""
                except ConnectionError:
                    return True
            for count in range(1, most):
                half.append(socket.create_connection(where, 60))
                half[-1].sendall(b"\x16\x03\x01\x02\x00\x01")
            # With one more place: no one has to go.
            self.assertTrue(enters())
            self.assertNotIn("have not said hello", daemon.stderr_text())
            half.append(socket.create_connection(where, 60))
            self.assertTrue(enters())
            self.assertTrue(gone(half[0]))
            wait_for(lambda: "have not said hello" in daemon.stderr_text())
            for sock in half[1:]:
                sock.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    sock.recv(1)
            # A flood of them, and still.
            for count in range(10 * most):
                half.append(socket.create_connection(where, 60))
            self.assertTrue(enters())
            for sock in half:
                sock.close()

    def test_known_clients_do_not_count(self):
        with self.serve("anyone read\n", extra=["--threads", "1", "--max-handshakes", "2"]) \
                as daemon:
            peers = [Peer(daemon.addresses[0], tls=self.plain) for _ in range(8)]
            for peer in peers:
                self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
                peer.close()

    def test_cut_without_farewell(self):
        """What was acknowledged stays; the daemon goes on."""
        with self.serve("anyone write\n") as daemon:
            peer = Peer(daemon.addresses[0], tls=self.plain)
            self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
            with Peer(daemon.addresses[0], tls=self.plain) as peer:
                self.assertEqual(peer.call(info=pb.Info()).info.positions, 1)


class SameAnswers(TlsCase):
    """Big batches and long scans: records of 16 KiB, full sockets, bytes that lie within TLS."""

    def setUp(self):
        super().setUp()
        self.daemon = self.serve("anyone admin\n", ["unix:" + self.path("s"), "tls:127.0.0.1:0"])
        self.unix, self.tls = self.daemon.addresses

    def tearDown(self):
        self.assertEqual(self.daemon.stop(), 0)

    def test_batches_and_scans(self):
        numbers = range(30000)
        with Client(self.tls, tls=self.plain) as over, Client(self.unix) as local:
            for start in range(0, len(numbers), 10000):
                entries = [pb.PutEntry(fen=fen(n)) for n in numbers[start:start + 10000]]
                over.put(entries)
            one, other = over.scan(), local.scan()
            self.assertEqual(len(one.rows), len(numbers))
            self.assertEqual(one.rows, other.rows)
            records = over.scan(want=pb.RECORDS)
            self.assertEqual(records.rows, local.scan(want=pb.RECORDS).rows)
            fens = [fen(n) for n in range(4096)]
            self.assertEqual(over.probe(fens=fens), local.probe(fens=fens))
            self.assertEqual(over.get(fens=fens), local.get(fens=fens))
            self.assertEqual(len(over.backup()), len(local.backup()))

    def test_pipelines(self):
        """Many requests before the first answer is taken: both ways are full at once."""
        with Client(self.unix) as local:
            local.put([pb.PutEntry(fen=fen(n)) for n in range(4000)])
            wanted = local.probe(fens=[fen(n) for n in range(4000)])
        with Client(self.tls, tls=self.plain) as over:
            ids = [over.send(probe=pb.Probe(fens=[fen(n) for n in range(4000)]))
                   for _ in range(4)]
            for id in ids:
                result = over.answer(id).probe
                self.assertEqual(result.count, len(wanted))

    def test_any_split_of_a_stream(self):
        """One byte a record, records across requests, and a slow reader."""
        request = b""
        with Peer(self.tls, tls=self.plain) as peer:
            ids = []
            for number in range(60):
                frame, id = peer.build(get=pb.Get(fens=[fen(number)]))
                request += frame
                ids.append(id)
            for at in range(300):
                peer.send_bytes(request[at:at + 1])
            for at in range(300, len(request), 777):
                peer.send_bytes(request[at:at + 777])
            self.assertEqual([peer.receive().id for _ in ids], ids)

    def test_pausing_clients(self):
        """Reading stops at 1 MiB of unread answers and goes on after it, with bytes in TLS."""
        fens = [fen(n) for n in range(4096)]
        with Peer(self.unix) as peer:
            peer.call(put=put(range(4096)))
        with Peer(self.tls, tls=self.plain) as peer:
            ask = pb.Probe(fens=fens[:2000])
            ids = []
            for _ in range(60):
                frame, id = peer.build(probe=ask)
                ids.append(id)
                # Small enough for the sockets to take all of it while nothing is read.
                if len(ids) <= 12:
                    peer.send_bytes(frame)
            self.assertEqual([peer.receive().id for _ in ids[:12]], ids[:12])

    def test_the_client_library(self):
        """The command line does over TLS what it does over the socket."""
        pgn = os.path.join(harness.make_temp_dir(), "games.pgn")
        with open(pgn, "w", encoding="utf-8") as file:
            for number in range(3000):
                file.write(f'[Event "{number}"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n')
        trust = ["--tls-ca", self.authority.file]
        done = harness.run_cli(*trust, "import", pgn, address=self.tls)
        self.assertEqual(done.returncode, 0, done.stderr)
        with Client(self.unix) as local:
            local.put([pb.PutEntry(fen=fen(n)) for n in range(10000)])
        over = harness.run_cli(*trust, "dump", address=self.tls)
        local = harness.run_cli("dump", address=self.unix)
        self.assertEqual(over.returncode, 0, over.stderr)
        self.assertEqual(over.stdout, local.stdout)
        copy = os.path.join(harness.make_temp_dir(), "copy")
        self.assertEqual(harness.run_cli(*trust, "backup", copy, address=self.tls).returncode, 0)
        self.assertEqual(harness.run_cli("verify", address=copy).returncode, 0)


def has_localhost():
    """A container may have no entry for it, and says so here."""
    try:
        return bool(socket.getaddrinfo("localhost", None))
    except OSError as error:
        print(f"# not tried with the name localhost ({error})", flush=True)
        return False


class CommandLine(TlsCase):
    def ping(self, address, *args, env=None):
        done = harness.run_cli(*args, "ping", address=address, env=env)
        return done.returncode, done.stderr

    def test_whom_the_client_believes(self):
        with self.serve("anyone read\n") as daemon:
            address = daemon.addresses[0]
            trust = ["--tls-ca", self.authority.file]
            self.assertEqual(self.ping(address, *trust)[0], 0)
            if has_localhost():
                self.assertEqual(self.ping(address.replace("127.0.0.1", "localhost"), *trust)[0], 0)
            by_environment = {"CHISTORE_TLS_CA": self.authority.file}
            self.assertEqual(self.ping(address, env=by_environment)[0], 0)
            for args, says in (([], "certificate is not accepted"),
                               (["--tls-ca", self.foreign.file], "certificate is not accepted"),
                               (["--tls-ca", "/nonexistent"], "cannot use the authorities")):
                code, text = self.ping(address, *args)
                self.assertEqual(code, 3)
                self.assertIn(says, text)

    def test_other_hosts_and_expired_servers(self):
        for server, says in ((self.authority.issue("server", "DNS:elsewhere"), "mismatch"),
                             (self.authority.issue("server", LOCAL, expired=True), "expired"),
                             (self.authority.issue("server", LOCAL, usage="clientAuth"), "purpose"),
                             # The holder of a client's certificate may have chosen that name.
                             (self.authority.issue("localhost"), "mismatch")):
            if "localhost" in server[0] and not has_localhost():
                continue
            with self.subTest(says=says, server=server), \
                    self.serve("anyone read\n", server=server) as daemon:
                code, text = self.ping(daemon.addresses[0].replace("127.0.0.1", "localhost")
                                       if "localhost" in server[0] else daemon.addresses[0],
                                       "--tls-ca", self.authority.file)
                self.assertEqual(code, 3)
                self.assertIn(says, text)

    def test_certificates_and_tokens(self):
        with self.serve("cert writer write\n" + token_line("abc", "read")) as daemon:
            address, trust = daemon.addresses[0], ["--tls-ca", self.authority.file]
            writer = ["--tls-cert", self.writer[0], "--tls-key", self.writer[1]]
            done = harness.run_cli(*trust, *writer, "put", fen(1), address=address)
            self.assertEqual(done.returncode, 0, done.stderr)
            write_file(self.path("token"), "abc\n")
            secret = ["--token-file", self.path("token")]
            self.assertEqual(self.ping(address, *trust, *secret)[0], 0)
            self.assertIn("no rule matches", self.ping(address, *trust)[1])
            stranger = self.foreign.issue("writer")
            code, text = self.ping(address, *trust, "--tls-cert", stranger[0], "--tls-key",
                                   stranger[1])
            self.assertEqual(code, 3)
            self.assertRegex(text, "broke off TLS|lost|closed|no TLS")
            self.assertEqual(self.ping(address, *trust, "--tls-cert", self.writer[0])[0], 2)

    def test_keys_with_a_passphrase(self):
        """No one is asked for it: neither terminal nor standard input are ours."""
        locked = self.path("locked.key")
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", self.writer[1], "-out", locked,
                        "-passout", "pass:secret"], timeout=60, check=True)
        os.chmod(locked, 0o600)
        with self.serve("cert writer write\n") as daemon:
            done = harness.run_cli("--tls-ca", self.authority.file, "--tls-cert", self.writer[0],
                                   "--tls-key", locked, "ping", address=daemon.addresses[0],
                                   input="secret\n")
            self.assertEqual(done.returncode, 3)
            self.assertIn("cannot use the key", done.stderr)
            self.assertNotIn("pass phrase", done.stderr)

    def test_no_tls_behind_the_address(self):
        with harness.start_daemon(listen=["tcp:127.0.0.1:0"]) as daemon:
            code, text = self.ping(daemon.addresses[0].replace("tcp:", "tls:"), "--tls-ca",
                                   self.authority.file)
            self.assertEqual(code, 3)
            self.assertIn("no TLS with", text)
