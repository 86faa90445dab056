# SPDX-License-Identifier: MIT
"""What the daemon does with several clients at once: group commit and crashes, stopping under
writes, scans under flow control beside everything else, and the whole-store operations.

CHISTORE_KILL_CYCLES: how often the daemon is killed under its writers (default: 20).
"""

import functools
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import unittest

import harness
from harness import wait_for
from peer import Peer, fen, found, put
from pychistore import Closed, pb

CYCLES = int(os.environ.get("CHISTORE_KILL_CYCLES", "20"))
WRITERS = 4
EVAL_LIMIT = 64


def new_path():
    return os.path.join(harness.make_temp_dir(), "store")


def start(*args, path=None, statistic="external"):
    return harness.start_daemon({"default": path or new_path()},
                                extra_args=["--create", statistic, *args])


# Most stores here are filled with the same.
batch = functools.cache(functools.partial(put, durability=pb.ASYNC))


def fill(peer, count, chi2=lambda n: n % 25599 + 1):
    for first in range(0, count, 5000):
        answer = peer.call(put=batch(range(first, min(first + 5000, count)), chi2=chi2))
        assert answer.code == pb.OK, answer
    assert peer.call(put=put([0], chi2=chi2)).code == pb.OK


def written_by(daemon):
    """How often the process has called write() and its like, sockets apart."""
    with open(f"/proc/{daemon.pid}/io") as file:
        return int(dict(line.split(": ") for line in file)["syscw"])


class Writers:
    """Clients that put positions until the daemon goes; each notes what was acknowledged."""

    def __init__(self, address, first):
        self.acknowledged = []
        self.lock = threading.Lock()
        self.enough = threading.Event()
        self.goal = 40
        self.threads = [threading.Thread(target=self.run, args=(address, first + i, WRITERS))
                        for i in range(WRITERS)]
        for thread in self.threads:
            thread.start()

    def run(self, address, number, step):
        try:
            with Peer(address) as peer:
                waiting = {}
                while True:
                    # Some in flight at any time, so that the end finds writes half-way.
                    while len(waiting) < 8:
                        waiting[peer.send(put=put([number]))] = number
                        number += step
                    self.take(peer, waiting)
        except (Closed, OSError):
            self.drain(peer, waiting)
        finally:
            self.enough.set()

    def take(self, peer, waiting):
        answer = peer.receive()
        assert answer.code == pb.OK, answer
        with self.lock:
            self.acknowledged.append(waiting.pop(answer.id))
            if len(self.acknowledged) >= self.goal:
                self.enough.set()

    def drain(self, peer, waiting):
        """Answers that came before the end."""
        try:
            while True:
                self.take(peer, waiting)
        except (Closed, OSError):
            pass

    def join(self):
        for thread in self.threads:
            thread.join()
        return self.acknowledged


class Crashes(unittest.TestCase):
    def test_kill_loses_no_acknowledged_write(self):
        path = new_path()
        everything = []
        for cycle in range(CYCLES):
            daemon = start(path=path)
            with Peer(daemon.address) as peer:
                self.assertEqual(found(peer, everything), len(everything))
            writers = Writers(daemon.address, cycle * 100000)
            writers.enough.wait()
            daemon.kill()
            got = writers.join()
            self.assertGreaterEqual(len(got), 40)
            everything += got
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            self.assertEqual(found(peer, everything), len(everything))
            self.assertGreaterEqual(peer.call(info=pb.Info()).info.positions, len(everything))
            last = list(peer.stream(verify=pb.Verify()))[-1]
            self.assertEqual((last.code, last.verify.errors), (pb.OK, 0))

    def test_stop_loses_no_acknowledged_write(self):
        path = new_path()
        for cycle in range(5):
            daemon = start(path=path)
            writers = Writers(daemon.address, cycle * 100000)
            writers.enough.wait()
            self.assertEqual(daemon.stop(), 0)
            got = writers.join()
            with start(path=path) as again, Peer(again.address) as peer:
                self.assertEqual(found(peer, got), len(got))

    def signal_while_stopping(self, patience, first, again):
        """Stops a daemon that has `patience` ms with a client that does not read, and sends it the
        other signal until it has ended; returns its exit code."""
        daemon = start("--stop-timeout", patience)
        with Peer(daemon.address) as peer:
            entry = pb.PutEntry(fen=fen(1), parts=32, record=pb.Record(note="n" * 60000))
            peer.call(put=pb.Put(entries=[entry]))
            peer.send(get=pb.Get(fens=[fen(1)] * 50))
            peer.send(get=pb.Get(fens=[fen(1)] * 50))
            peer.take_bytes()
            daemon.process.send_signal(first)
            while "stopping" not in daemon.stderr_text():
                pass
            # Not once: handlers are put back a moment after the first.
            while daemon.process.poll() is None:
                daemon.process.send_signal(again)
                try:
                    daemon.process.wait(0.05)
                except subprocess.TimeoutExpired:
                    pass
            return daemon.process.returncode

    def test_second_signal_ends_at_once(self):
        """The first one waits for a client that does not read; the second does not."""
        code = self.signal_while_stopping("3600000", signal.SIGINT, signal.SIGINT)
        self.assertEqual(code, -signal.SIGINT)

    def test_hangup_while_stopping(self):
        """SIGHUP rotates logs; that the server is stopping is no reason to die of it."""
        code = self.signal_while_stopping("1000", signal.SIGTERM, signal.SIGHUP)
        self.assertEqual(code, 0)

    def test_synced_answer_vouches_for_async_ones(self):
        path = new_path()
        for cycle in range(5):
            first = cycle * 10000
            daemon = start(path=path)
            with Peer(daemon.address) as peer:
                data = b"".join(peer.build(put=put([first + i], durability=pb.ASYNC))[0]
                                for i in range(50))
                peer.socket.sendall(data)
                answers = [peer.receive() for _ in range(50)]
                # Applied when answered: each knows what it did.
                self.assertEqual([(a.code, a.put.added) for a in answers], [(pb.OK, 1)] * 50)
                self.assertEqual(peer.call(put=pb.Put()).code, pb.OK)
                daemon.kill()
            with start(path=path) as again, Peer(again.address) as peer:
                self.assertEqual(found(peer, range(first, first + 50)), 50)

    def test_kill_leaves_whole_async_batches(self):
        """Answered ones may be lost, but only from the end on, and no batch in halves."""
        path = new_path()
        for cycle in range(CYCLES):
            first = cycle * 100000
            batches = [range(first + i * 10, first + i * 10 + 10) for i in range(20 + cycle * 20)]
            daemon = start(path=path)
            with Peer(daemon.address) as peer:
                for numbers in batches:
                    answer = peer.call(put=put(numbers, durability=pb.ASYNC))
                    self.assertEqual((answer.code, answer.put.added), (pb.OK, 10))
                daemon.kill()
            with start(path=path) as again, Peer(again.address) as peer:
                there = [found(peer, numbers) for numbers in batches]
                self.assertEqual(there, sorted(there, reverse=True))
                self.assertLessEqual(set(there), {0, 10})

    def test_stop_in_every_state(self):
        """Clients that neither read nor end, in the middle of everything: the stop comes."""
        scan = pb.Scan(chi2_max=25599, want=pb.RECORDS)
        nothing = pb.Filter(games_min=5)
        states = {
            "pings": lambda peer, n: peer.build(id=n, ping=pb.Ping()),
            "gets": lambda peer, n: peer.build(id=n, get=pb.Get(fens=[fen(1)] * 1000)),
            "scans": lambda peer, n: peer.build(id=n, window=1024, scan=scan),
            "counts": lambda peer, n: peer.build(
                id=n, count=pb.Count(chi2_max=25599, filter=nothing)),
            "backups": lambda peer, n: peer.build(id=n, window=1, backup=pb.Backup()),
            "verifies": lambda peer, n: peer.build(id=n, verify=pb.Verify()),
            "puts": lambda peer, n: peer.build(id=n, put=put([n, n + 1])),
            "compactions": lambda peer, n: peer.build(id=n, compact=pb.Compact()),
            "rescores": lambda peer, n: peer.build(id=n, rescore=pb.Rescore()),
            "halves": lambda peer, n: (b"\x80\x80\x40" + b"x" * 1000, n),
            "ends": lambda peer, n: (b"\0" * 1000, n),
        }
        path = new_path()
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            fill(peer, 20000)
        for half_closed in (False, True):
            for name, build in states.items():
                with self.subTest(state=name, half_closed=half_closed):
                    daemon = start("--stop-timeout", "50", path=path)
                    peers = [Peer(daemon.address) for _ in range(4)]
                    request = functools.cache(lambda n, build=build, one=peers[0]: build(one, n)[0])
                    for peer in peers:
                        self.addCleanup(peer.close)
                        peer.socket.setblocking(False)
                        try:
                            for n in range(2, 3000):
                                peer.socket.send(request(n))
                        except OSError:
                            pass
                        if half_closed:
                            peer.socket.shutdown(socket.SHUT_WR)
                    self.assertEqual(daemon.stop(), 0)


class Batches(unittest.TestCase):
    def test_only_the_guilty_batch_fails(self):
        """Batches that share a commit with one that cannot be applied are stored all the same."""
        with start() as daemon, Peer(daemon.address) as peer:
            def evals(first, count):
                return [pb.Eval(engine=f"engine {first + i:02}", depth=1, centipawns=1)
                        for i in range(count)]

            def entry(number, *more):
                return pb.PutEntry(fen=fen(number), parts=64, record=pb.Record(evals=more))

            answer = peer.call(put=pb.Put(entries=[entry(1, *evals(0, EVAL_LIMIT))]))
            self.assertEqual(answer.code, pb.OK)
            ids = {}
            data = b""
            for i in range(20):
                bad = i % 5 == 2
                entries = [entry(100 + i), entry(1, *evals(99, 1))] if bad else [entry(100 + i)]
                part, id = peer.build(put=pb.Put(entries=entries))
                ids[id] = bad
                data += part
            peer.socket.sendall(data)
            for _ in range(20):
                answer = peer.receive()
                if ids[answer.id]:
                    self.assertEqual((answer.code, answer.field),
                                     (pb.TOO_LARGE, "put.entries[1]"))
                else:
                    self.assertEqual((answer.code, answer.put.added), (pb.OK, 1))
            self.assertEqual(found(peer, range(100, 120)), 16)

    def share_commits(self, clients, each):
        """Transactions for that many writes of as many clients."""
        with start() as daemon, Peer(daemon.address) as control:
            before = control.call(info=pb.Info()).info.sequence
            peers = [Peer(daemon.address) for _ in range(clients)]
            # Keeps the writer busy while the others' writes arrive, on the fastest disk too.
            large = [pb.PutEntry(key=two_piece_key(n % 4000)) for n in range(10000)]
            control.send(put=pb.Put(entries=large))
            for i, peer in enumerate(peers):
                data = [peer.build(put=put([i * 1000 + n]))[0] for n in range(each)]
                peer.socket.sendall(b"".join(data))
            for peer in peers:
                self.assertEqual([peer.receive().code for _ in range(each)], [pb.OK] * each)
                peer.close()
            self.assertEqual(control.receive().put.added, 4000)
            after = control.call(info=pb.Info()).info
            self.assertEqual(after.positions, 4000 + clients * each)
            return after.sequence - before

    def test_batches_share_commits(self):
        """Eight clients with many writes waiting: far fewer transactions than writes."""
        self.assertLess(self.share_commits(8, 60), 240)

    def test_fifty_clients_share_commits(self):
        self.assertLess(self.share_commits(50, 10), 250)

    def test_async_batches_share_commits(self):
        """One after the other, each answered: they gather in a transaction; and a synced write ends
        it."""
        with start() as daemon, Peer(daemon.address) as peer:
            before = peer.call(info=pb.Info()).info.sequence
            for i in range(400):
                answer = peer.call(put=put([i], durability=pb.ASYNC))
                self.assertEqual((answer.code, answer.put.added), (pb.OK, 1))
            self.assertEqual(peer.call(put=pb.Put()).code, pb.OK)
            after = peer.call(info=pb.Info()).info
            self.assertEqual(after.positions, 400)
            self.assertLess(after.sequence - before, 200)

    def test_async_batch_is_committed_though_nothing_follows(self):
        with start() as daemon, Peer(daemon.address) as peer:
            self.assertEqual(peer.call(put=put([1], durability=pb.ASYNC)).code, pb.OK)
            while found(peer, [1]) == 0:
                pass

    def test_guilty_async_batch_takes_no_other_with_it(self):
        """It comes after others that are answered already and not committed."""
        path = new_path()
        daemon = start(path=path)
        with Peer(daemon.address) as peer:
            evals = [pb.Eval(engine=f"engine {i:02}", depth=1, centipawns=1)
                     for i in range(EVAL_LIMIT)]
            one_more = [pb.Eval(engine="one more", depth=1, centipawns=1)]
            full = pb.PutEntry(fen=fen(1), parts=64, record=pb.Record(evals=evals))
            over = pb.PutEntry(fen=fen(1), parts=64, record=pb.Record(evals=one_more))
            new = pb.PutEntry(fen=fen(2))
            batches = [([full], pb.OK), (put([3]).entries, pb.OK), ([new, over], pb.TOO_LARGE),
                       (put([4]).entries, pb.OK)]
            data = b"".join(peer.build(put=pb.Put(entries=entries, durability=pb.ASYNC))[0]
                            for entries, _ in batches)
            peer.socket.sendall(data)
            self.assertEqual([peer.receive().code for _ in batches], [code for _, code in batches])
            self.assertEqual(peer.call(put=pb.Put()).code, pb.OK)
            daemon.kill()
        with start(path=path) as again, Peer(again.address) as peer:
            self.assertEqual([found(peer, [n]) for n in (1, 2, 3, 4)], [1, 0, 1, 1])

    def test_no_room_for_a_group(self):
        """Every write of a group hears of it, and is not stored."""
        with start() as daemon, Peer(daemon.address) as control:
            fill(control, 2000)
            size = control.call(info=pb.Info()).info.file_bytes
            peers = [Peer(daemon.address) for _ in range(8)]
            limit = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, limit[1]))
            numbers = [range(2000 + i * 2000, 4000 + i * 2000) for i in range(8)]
            ids = [peer.send(put=put(part)) for peer, part in zip(peers, numbers)]
            for peer, id, part in zip(peers, ids, numbers):
                self.assertEqual(peer.receive_for(id).code, pb.DISK_FULL)
                self.assertEqual(found(peer, part), 0)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limit)
            for peer, part in zip(peers, numbers):
                self.assertEqual(peer.call(put=put(part)).put.added, 2000)
                peer.close()

    def test_what_fits_is_stored(self):
        """A batch that the disk has no room for fails alone; those that waited with it do not."""
        with start("--threads", "1") as daemon, Peer(daemon.address) as peer:
            # Pages that were given up have room for a few records, not for thousands.
            fill(peer, 4000)
            for first in range(2000, 2200, 50):
                fens = [fen(n) for n in range(first, first + 50)]
                self.assertEqual(peer.call(delete=pb.Delete(fens=fens)).delete.deleted, 50)
            size = peer.call(info=pb.Info()).info.file_bytes
            limit = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, limit[1]))
            for i in range(10):
                # While the first is committed the other two gather.
                parts = [put([5000 + 3 * i]), put(range(10000, 16000)), put([5001 + 3 * i])]
                built = [peer.build(put=part) for part in parts]
                peer.socket.sendall(b"".join(data for data, _ in built))
                answers = [peer.receive_for(id) for _, id in built]
                self.assertEqual([answer.code for answer in answers],
                                 [pb.OK, pb.DISK_FULL, pb.OK])
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limit)
            self.assertEqual(found(peer, range(5000, 5029)), 20)

    def test_no_room_for_the_file(self):
        """A file that may not grow: writes say so, reads go on, and writes too once it may."""
        with start() as daemon, Peer(daemon.address) as peer:
            fill(peer, 2000)
            size = peer.call(info=pb.Info()).info.file_bytes
            limit = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, limit[1]))
            answer = peer.call(put=put(range(2000, 7000)))
            self.assertEqual(answer.code, pb.DISK_FULL)
            self.assertEqual(found(peer, range(1990, 2010)), 10)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limit)
            self.assertEqual(peer.call(put=put(range(2000, 7000))).code, pb.OK)
            self.assertEqual(found(peer, range(6990, 7010)), 10)

    def test_lost_async_write_is_vouched_for_by_none(self):
        """It was answered, and then its commit failed: its client hears no OK after it."""
        with start() as daemon, Peer(daemon.address) as peer, Peer(daemon.address) as other:
            fill(peer, 2000)
            size = peer.call(info=pb.Info()).info.file_bytes
            limit = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, limit[1]))
            id = peer.send(put=put(range(2000, 7000), durability=pb.ASYNC))
            try:
                self.assertEqual(peer.receive_for(id).code, pb.OK)
            except Closed:
                pass  # the commit failed before the answer was sent: so much the better
            while "answered before" not in daemon.stderr_text():
                pass
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limit)
            self.assertEqual(found(other, [2000, 6999]), 0)
            with self.assertRaises((Closed, OSError)):
                peer.call(put=pb.Put())
            self.assertEqual(other.call(put=pb.Put()).code, pb.OK)

    def lose_async_batches(self, daemon, peer, first):
        """Puts one position after the other, ASYNC, until the connection breaks: in windows, so
        that none is refused for how many are in flight."""
        number = first
        try:
            while True:
                frames = [peer.build(put=put([number + i], durability=pb.ASYNC))[0]
                          for i in range(EVAL_LIMIT)]
                peer.socket.sendall(b"".join(frames))
                for _ in frames:
                    self.assertEqual(peer.receive().code, pb.OK)
                number += len(frames)
        except (Closed, OSError):
            return number - first

    def test_many_async_batches_without_room(self):
        """They shared a transaction, and the disk is full: that is found out by a few more, not by
        one for each, for which everyone would have to wait."""
        with start() as daemon, Peer(daemon.address) as control:
            fill(control, 2000)
            size = control.call(info=pb.Info()).info.file_bytes
            limit = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, limit[1]))
            lost, first = 0, 2000
            while lost < 500:
                before, lines = written_by(daemon), daemon.stderr_text().count("answered before")
                with Peer(daemon.address) as peer:
                    lost = self.lose_async_batches(daemon, peer, first)
                first += lost + EVAL_LIMIT
                # Answered when the writer has the others after it.
                self.assertIn(control.call(put=put([1])).code, (pb.OK, pb.DISK_FULL))
            self.assertLess(written_by(daemon) - before, 2 * lost)
            lines = daemon.stderr_text().count("answered before") - lines
            self.assertTrue(1 <= lines <= 3, lines)
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limit)
            self.assertEqual(control.call(put=put([3])).code, pb.OK)

    def test_full_queue(self):
        """While a batch is being written the queue holds so much and no more."""
        with start("--queue-records", "3000", "--threads", "1") as daemon:
            with Peer(daemon.address) as peer:
                data, ids = b"", []
                for i in range(40):
                    keys = (two_piece_key((i * 100 + n) % 4000) for n in range(1000))
                    entries = [pb.PutEntry(key=key) for key in keys]
                    part, id = peer.build(put=pb.Put(entries=entries))
                    data += part
                    ids.append(id)
                peer.socket.sendall(data)
                codes = [peer.receive().code for _ in ids]
                self.assertEqual(set(codes), {pb.OK, pb.BUSY})
                self.assertGreaterEqual(codes.count(pb.OK), 3)
                self.assertEqual(peer.call(put=put([1])).code, pb.OK)

    def test_client_that_goes_is_no_matter(self):
        with start() as daemon:
            for i in range(30):
                with Peer(daemon.address) as peer:
                    peer.send(put=put(range(i * 50, i * 50 + 50)))
            with Peer(daemon.address) as peer:
                self.assertEqual(peer.call(put=put([5000])).code, pb.OK)

    def test_too_many_entries(self):
        with start() as daemon, Peer(daemon.address) as peer:
            # Keys, as so many FENs do not fit a request: lone white kings and queens.
            for count, code in ((9999, pb.OK), (10000, pb.OK), (10001, pb.TOO_LARGE)):
                entries = [pb.PutEntry(key=two_piece_key(i % 4000)) for i in range(count)]
                self.assertEqual(peer.call(put=pb.Put(entries=entries)).code, code)
            for count, code in ((4095, pb.OK), (4096, pb.OK), (4097, pb.TOO_LARGE)):
                keys = b"".join(b"\x09" + two_piece_key(i % 4000) for i in range(count))
                answer = peer.call(probe=pb.Probe(keys=keys))
                self.assertEqual(answer.code, code)

    def test_requests_in_flight(self):
        with start("--threads", "1") as daemon, Peer(daemon.address) as peer:
            fill(peer, 12000)
            scan = pb.Scan(chi2_max=25599)
            ids = [peer.send(window=1, scan=scan) for _ in range(63)]
            self.assertEqual(sorted(peer.receive().id for _ in ids), ids)
            self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            ids.append(peer.send(window=1, scan=scan))
            self.assertEqual(peer.receive_for(ids[-1]).code, pb.OK)
            self.assertEqual(peer.call(put=put([1])).code, pb.BUSY)
            self.assertEqual(peer.call(scan=scan).code, pb.BUSY)
            # What is answered at once is never in flight, and served beside anything that is.
            for request in ({"ping": pb.Ping()}, {"info": pb.Info()},
                            {"probe": pb.Probe(fens=[fen(1)])}, {"get": pb.Get(fens=[fen(1)])}):
                self.assertEqual(peer.call(**request).code, pb.OK)
            peer.send(id=ids[0], cancel=pb.Cancel())
            self.assertEqual(peer.receive_for(ids[0]).code, pb.CANCELED)
            self.assertEqual(peer.call(put=put([1])).code, pb.OK)
            self.assertEqual(peer.call(id=ids[1], ping=pb.Ping()).code, pb.INVALID)


def two_piece_key(number):
    """A key of a white king and a white queen: 64 * 63 / 2 pairs of squares, either first."""
    swap, number = divmod(number, 2016)
    first = 0
    while number >= 63 - first:
        number -= 63 - first
        first += 1
    second = first + 1 + number
    mask = 1 << 63 - first | 1 << 63 - second
    return mask.to_bytes(8, "big") + bytes([0x52 if swap else 0x25])


def lengthen_nodes(content, page):
    """Of a leaf at that place every value becomes 64 KiB long, whatever is after the page."""
    flags, lower = struct.unpack_from("<HH", content, page + 10)
    if flags & 0x0f != 0x02 or not 16 <= lower <= 4096:
        return
    for i in range(16, lower, 2):
        node, = struct.unpack_from("<H", content, page + i)
        if 16 <= node <= 4096 - 8:
            struct.pack_into("<HH", content, page + node, 0xffff, 0)


class Scans(unittest.TestCase):
    COUNT = 35000

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(start("--threads", "1", "--snapshot-time", "200"))
        with Peer(cls.daemon.address) as peer:
            fill(peer, cls.COUNT)

    def setUp(self):
        self.peer = self.enterContext(Peer(self.daemon.address))

    def rows(self, window=0, **scan):
        return sum(r.scan.count + len(r.scan.entries)
                   for r in self.peer.stream(window=window, scan=pb.Scan(**scan)))

    def test_bounded_responses(self):
        for response in self.peer.stream(scan=pb.Scan(chi2_max=25599, want=pb.COUNTS)):
            self.assertLessEqual(response.scan.count, 10000)
            self.assertLessEqual(response.ByteSize(), 1 << 20)
            self.assertEqual(response.code, pb.OK)

    def test_large_records_come_in_several_responses(self):
        with start() as daemon, Peer(daemon.address) as peer:
            for first in range(0, 60, 15):
                entries = [pb.PutEntry(fen=fen(n), parts=32, record=pb.Record(note="n" * 60000))
                           for n in range(first, first + 15)]
                self.assertEqual(peer.call(put=pb.Put(entries=entries)).code, pb.OK)
            responses = list(peer.stream(scan=pb.Scan(chi2_max=25599, want=pb.RECORDS)))
            self.assertEqual(sum(len(r.scan.entries) for r in responses), 60)
            self.assertLessEqual(max(r.ByteSize() for r in responses), 1 << 20)

    def test_max_query_time(self):
        """A count that looks at every position, in steps, has a millisecond; a probe beside it is answered."""
        count = pb.Count(chi2_max=25599, pattern="has A** attacked \"k+ by ? 60..\" shift")
        self.assertEqual(self.peer.call(count=count).code, pb.OK)
        with start("--max-query-time", "1") as daemon, Peer(daemon.address) as peer:
            fill(peer, self.COUNT)
            answer = peer.call(count=count)
            self.assertEqual(answer.code, pb.TIMED_OUT)
            self.assertIn("more than 1 ms of work", answer.message)
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            self.assertEqual(peer.call(count=pb.Count(chi2_min=1, chi2_max=2)).code, pb.OK)

    def test_window_stops_an_unread_scan(self):
        id = self.peer.send(window=2, scan=pb.Scan(chi2_max=25599))
        self.assertEqual([self.peer.receive_for(id).last for _ in range(2)], [False, False])
        # Nothing more comes: pings are answered and no third response between them.
        for _ in range(50):
            self.assertEqual(self.peer.call(ping=pb.Ping()).code, pb.OK)
        self.peer.send(id=id, credit=pb.Credit(responses=1))
        self.assertEqual(self.peer.receive_for(id).code, pb.OK)
        for _ in range(50):
            self.assertEqual(self.peer.call(ping=pb.Ping()).code, pb.OK)
        self.peer.send(id=id, cancel=pb.Cancel())
        last = self.peer.receive_for(id)
        self.assertEqual((last.code, last.last), (pb.CANCELED, True))
        # Credit and cancel for what has ended are skipped.
        self.peer.send(id=id, credit=pb.Credit(responses=1))
        self.peer.send(id=id, cancel=pb.Cancel())
        self.assertEqual(self.peer.call(ping=pb.Ping()).code, pb.OK)

    def test_probes_beside_scans(self):
        """On the one thread, with scans running and scans unread."""
        with Peer(self.daemon.address) as unread, Peer(self.daemon.address) as filtered:
            for _ in range(10):
                unread.send(window=1000, scan=pb.Scan(chi2_max=25599, want=pb.RECORDS))
            # A filter that nothing passes makes work without output.
            nothing = pb.Filter(games_min=5)
            ids = [filtered.send(scan=pb.Scan(chi2_max=25599, want=pb.COUNTS, filter=nothing))
                   for _ in range(10)]
            for i in range(200):
                answer = self.peer.call(probe=pb.Probe(fens=[fen(i)]))
                self.assertEqual((answer.code, answer.probe.count), (pb.OK, 1))
            answers = [filtered.receive() for _ in ids]
            self.assertEqual(sorted(a.id for a in answers), ids)
            self.assertTrue(all(a.last and a.scan.count == 0 for a in answers))

    def test_one_snapshot_or_mixed(self):
        """A put while a scan is paused: it goes on with another snapshot and says so."""
        id = self.peer.send(window=1, scan=pb.Scan(chi2_max=25599))
        rows = self.peer.receive_for(id).scan.count
        with Peer(self.daemon.address) as other:
            self.assertEqual(other.call(put=put([3], chi2=lambda n: 7)).code, pb.OK)
            self.assertEqual(other.call(put=put([3], chi2=lambda n: 4)).code, pb.OK)
            # The scan's is the oldest snapshot, and it is given up in time.
            wait_for(lambda: other.call(info=pb.Info()).info.oldest_reader == 0)
        last = None
        while last is None or not last.last:
            self.peer.send(id=id, credit=pb.Credit(responses=1))
            last = self.peer.receive_for(id)
            rows += last.scan.count
        self.assertTrue(last.scan.mixed)
        self.assertEqual(rows, self.COUNT)

    def test_one_snapshot(self):
        """Nothing is written: however often the snapshot changes, it shows the same."""
        responses = list(self.peer.stream(window=1, scan=pb.Scan(chi2_max=25599)))
        self.assertFalse(responses[-1].scan.mixed)

    def test_client_that_goes_in_the_middle(self):
        for _ in range(20):
            with Peer(self.daemon.address) as peer:
                peer.send(window=1, scan=pb.Scan(chi2_max=25599))
                peer.send(count=pb.Count(chi2_max=25599))
                peer.take_bytes()
        self.assertEqual(self.peer.call(ping=pb.Ping()).code, pb.OK)


class Memory(unittest.TestCase):
    COUNT = 12000

    def start(self, *args):
        daemon = start("--threads", "1", *args)
        self.addCleanup(daemon.stop)
        with Peer(daemon.address) as peer:
            fill(peer, self.COUNT)
        return daemon

    def test_scan_that_waits_holds_no_memory(self):
        """Each has collected a full response before it waits; 60 of them fit none the less."""
        with Peer(self.start("--buffer-bytes", "3M").address) as peer:
            for _ in range(60):
                id = peer.send(window=1, scan=pb.Scan(chi2_max=25599, want=pb.COUNTS))
                answer = peer.receive_for(id)
                self.assertEqual((answer.code, answer.last), (pb.OK, False))
            self.assertEqual(peer.call(probe=pb.Probe(fens=[fen(1)])).code, pb.OK)

    def test_request_in_pieces_is_not_counted_twice(self):
        """It fits the memory, whether it comes at once or piece by piece."""
        daemon = self.start("--buffer-bytes", "300K")
        with Peer(daemon.address) as peer, Peer(daemon.address) as slow:
            data, id = slow.build(put=put(range(5000), chi2=lambda n: n % 25599 + 1))
            self.assertGreater(len(data), 160000)
            for first in range(0, len(data), 20000):
                slow.socket.sendall(data[first:first + 20000])
                # One thread serves both: it has read the piece before it answers a second time.
                for _ in range(2):
                    self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
            self.assertEqual(slow.receive_for(id).code, pb.OK)

    def test_scans_short_of_memory_miss_nothing(self):
        """Far less memory than they want, and a client that reads late."""
        with Peer(self.start("--buffer-bytes", "300K").address) as peer:
            wants = (pb.KEYS, pb.COUNTS, pb.RECORDS)
            limits = (0, 11111)
            data, expected = b"", {}
            for n in range(24):
                scan = pb.Scan(chi2_max=25599, want=wants[n % 3], limit=limits[n % 2],
                               descending=n % 5 == 0)
                part, id = peer.build(window=1024, scan=scan)
                data += part
                expected[id] = limits[n % 2] or self.COUNT
            rows = {id: [] for id in expected}
            peer.socket.sendall(data)
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            while expected.keys() & rows.keys():
                answer = peer.receive()
                if answer.code == pb.BUSY:
                    del rows[answer.id]
                    continue
                self.assertEqual(answer.code, pb.OK)
                rows[answer.id].append(answer.scan.count + len(answer.scan.entries))
                if answer.last:
                    self.assertEqual(sum(rows.pop(answer.id)), expected[answer.id])


class WholeStore(unittest.TestCase):
    def test_backup_under_writes(self):
        with start() as daemon, Peer(daemon.address) as peer, Peer(daemon.address) as other:
            fill(peer, 20000)
            target = harness.make_temp_dir()
            parts = []
            for response in peer.stream(window=2, backup=pb.Backup()):
                self.assertEqual(response.code, pb.OK)
                parts.append(response.backup.data)
                other.call(put=put([30000 + len(parts)], durability=pb.ASYNC))
            with open(target + "/data.mdb", "wb") as file:
                file.write(b"".join(parts))
            with harness.start_daemon({"default": target}) as copy, Peer(copy.address) as reader:
                self.assertEqual(found(reader, range(0, 20000, 97)), len(range(0, 20000, 97)))
                last = list(reader.stream(verify=pb.Verify()))[-1]
                self.assertEqual((last.code, last.verify.errors), (pb.OK, 0))

    def test_backups_given_up(self):
        """Cancelled, left by their client, and cut short by the stop: none holds a place."""
        daemon = start("--output-timeout", "60000")
        with Peer(daemon.address) as peer:
            fill(peer, 30000)
            for _ in range(10):
                id = peer.send(window=1, backup=pb.Backup())
                answer = peer.receive_for(id)
                peer.send(id=id, cancel=pb.Cancel())
                # The first may be the last: BUSY, while the one before is being put away.
                while not answer.last:
                    answer = peer.receive_for(id)
                self.assertIn(answer.code, (pb.CANCELED, pb.OK, pb.BUSY))
            for _ in range(10):
                with Peer(daemon.address) as leaver:
                    leaver.send(window=1, backup=pb.Backup())
                    leaver.take_bytes()
            while True:
                answers = list(peer.stream(backup=pb.Backup()))
                if answers[-1].code != pb.BUSY:
                    break
            self.assertEqual(answers[-1].code, pb.OK)
            id = peer.send(window=1, backup=pb.Backup())
            peer.receive_for(id)
            self.assertEqual(daemon.stop(), 0)

    def test_searches_leave_a_place_to_the_administrator(self):
        """Three tasks run: a search, which any reader may ask for, is refused; a verification is not."""
        with start("--output-timeout", "60000") as daemon, Peer(daemon.address) as peer:
            fill(peer, 30000)
            backups = [Peer(daemon.address) for _ in range(3)]
            for backup in backups:
                backup.receive_for(backup.send(window=1, backup=pb.Backup()))
            for search in ({"twins": pb.Twins()}, {"suspects": pb.Suspects(kind=pb.PLAYER, limit=9)}):
                answer = list(peer.stream(**search))[-1]
                self.assertEqual(answer.code, pb.BUSY)
                self.assertIn("3 backups, verifications, compactions and searches", answer.message)
            self.assertEqual(list(peer.stream(verify=pb.Verify()))[-1].code, pb.OK)
            for backup in backups:
                backup.close()

    def test_backup_ends_without_credit(self):
        """The last response takes none: a client that knows the size need not grant it."""
        with start("--output-timeout", "1000") as daemon, Peer(daemon.address) as peer:
            fill(peer, 100)
            size = sum(len(r.backup.data) for r in peer.stream(window=1, backup=pb.Backup()))
            for _ in range(5):
                id = peer.send(window=1, backup=pb.Backup())
                answer, taken = peer.receive_for(id), 0
                while not answer.last:
                    taken += len(answer.backup.data)
                    if taken < size:
                        peer.send(id=id, credit=pb.Credit(responses=1))
                    answer = peer.receive_for(id)
                self.assertEqual((answer.code, taken), (pb.OK, size))

    def test_backup_that_is_not_read(self):
        with start("--output-timeout", "300") as daemon, Peer(daemon.address) as peer:
            fill(peer, 30000)
            id = peer.send(window=1, backup=pb.Backup())
            self.assertEqual(peer.receive_for(id).code, pb.OK)
            self.assertEqual(peer.receive_for(id).code, pb.TIMED_OUT)

    def test_verify_names_damage(self):
        path = new_path()
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            fill(peer, 1000)
            entry = pb.PutEntry(fen=fen(5), parts=32, record=pb.Record(note="needle in a stack"))
            self.assertEqual(peer.call(put=pb.Put(entries=[entry])).code, pb.OK)
            last = list(peer.stream(verify=pb.Verify()))
            self.assertEqual((len(last), last[0].code, last[0].verify.errors), (1, pb.OK, 0))
            self.assertEqual(last[0].verify.positions, 1000)
        with open(path + "/data.mdb", "r+b") as file:
            content = file.read()
            at = -1
            while (at := content.find(b"needle", at + 1)) >= 0:
                file.seek(at)
                file.write(b"noodle")
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            answers = list(peer.stream(verify=pb.Verify()))
            self.assertEqual(answers[-1].code, pb.CORRUPT)
            self.assertGreaterEqual(answers[-1].verify.errors, 1)
            self.assertTrue(all(a.verify.report for a in answers[:-1]))
            self.assertGreater(len(answers), 1)
            answer = peer.call(get=pb.Get(fens=[fen(5)]))
            self.assertEqual(answer.code, pb.CORRUPT)
            self.assertEqual(found(peer, range(10, 20)), 10)

    def test_verify_of_a_page_that_kills(self):
        """Torn pages: the daemon lives and reports them."""
        path = new_path()
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            fill(peer, 20000)
            with open(path + "/data.mdb", "r+b") as file:
                size = file.seek(0, os.SEEK_END)
                for page in range(2, size // 4096, 3):
                    file.seek(page * 4096 + 10)
                    file.write(b"\xff" * 100)
            answers = list(peer.stream(verify=pb.Verify()))
            self.assertEqual(answers[-1].code, pb.CORRUPT)
            self.assertGreater(len(answers), 1)
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_verify_of_values_that_go_on_after_the_file(self):
        """Records that say they go on after the end of the file: following them is a signal."""
        path = new_path()
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            fill(peer, 20000)
            with open(path + "/data.mdb", "r+b") as file:
                content = bytearray(file.read())
                for page in range(max(2, len(content) // 4096 - 12), len(content) // 4096):
                    lengthen_nodes(content, page * 4096)
                file.seek(0)
                file.write(content)
            answers = list(peer.stream(verify=pb.Verify()))
            self.assertEqual(answers[-1].code, pb.CORRUPT)
            self.assertTrue(any("is damaged" in a.verify.report for a in answers))
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

    def test_verify_of_a_lost_commit(self):
        """The number in either meta page is damaged: the last commit may be lost."""
        for head in range(2):
            path = new_path()
            with start(path=path) as daemon, Peer(daemon.address) as peer:
                for number in range(10):
                    self.assertEqual(peer.call(put=put([number])).code, pb.OK)
                self.assertEqual(list(peer.stream(verify=pb.Verify()))[-1].code, pb.OK)
                with open(path + "/data.mdb", "r+b") as file:
                    file.seek(head * 4096 + 144)
                    file.write(struct.pack("<Q", 0))
                answers = list(peer.stream(verify=pb.Verify()))
                self.assertEqual(answers[-1].code, pb.CORRUPT)
                self.assertIn("last commit may be lost", answers[0].verify.report)

    def test_verify_given_up(self):
        with start() as daemon, Peer(daemon.address) as peer:
            fill(peer, 10000)
            for _ in range(8):
                id = peer.send(verify=pb.Verify())
                peer.send(id=id, cancel=pb.Cancel())
                self.assertIn(peer.receive_for(id).code, (pb.CANCELED, pb.OK, pb.BUSY))
            while True:
                last = list(peer.stream(verify=pb.Verify()))[-1]
                if last.code != pb.BUSY:
                    break
            self.assertEqual(last.code, pb.OK)

    def test_compact_under_scans_and_writes(self):
        with start("--threads", "2") as daemon, Peer(daemon.address) as peer:
            fill(peer, 35000)
            peer.call(delete=pb.Delete(fens=[fen(n) for n in range(10000)]))
            peer.call(delete=pb.Delete(fens=[fen(n) for n in range(10000, 15000)]))
            readers = [Peer(daemon.address) for _ in range(4)]
            ids = [r.send(window=1, scan=pb.Scan(chi2_max=25599)) for r in readers]
            rows = [r.receive_for(id).scan.count for r, id in zip(readers, ids)]
            with Peer(daemon.address) as writer:
                compact = peer.send(compact=pb.Compact())
                self.assertEqual(writer.call(put=put([0], chi2=lambda n: 9)).code, pb.OK)
            answer = peer.receive_for(compact)
            self.assertEqual(answer.code, pb.OK, answer.message)
            self.assertLess(answer.compact.bytes_after, answer.compact.bytes_before)
            for i, (reader, id) in enumerate(zip(readers, ids)):
                last = None
                while last is None or not last.last:
                    reader.send(id=id, credit=pb.Credit(responses=1))
                    last = reader.receive_for(id)
                    rows[i] += last.scan.count
                self.assertIn(rows[i], (20000, 20001))
                reader.close()
            last = list(peer.stream(verify=pb.Verify()))[-1]
            self.assertEqual((last.code, last.verify.positions), (pb.OK, 20001))

    def test_compact_beside_another_process(self):
        """Someone reads the directory: the file cannot be exchanged, and nothing changes."""
        path = new_path()
        with start(path=path) as daemon, Peer(daemon.address) as peer:
            fill(peer, 1000)
            with harness.start_daemon({"default": path}, extra_args=["--read-only"]) as reader:
                answer = peer.call(compact=pb.Compact())
                self.assertEqual(answer.code, pb.BUSY)
                self.assertTrue(answer.message)
                self.assertEqual(peer.call(put=put([2000])).code, pb.OK)
                with Peer(reader.address) as other:
                    self.assertEqual(other.call(info=pb.Info()).info.positions, 1001)
            self.assertEqual(peer.call(compact=pb.Compact()).code, pb.OK)
            self.assertEqual(found(peer, [0, 999, 2000]), 3)

    def test_rescore(self):
        with start(statistic="outcome") as daemon, Peer(daemon.address) as peer:
            entries = []
            for n in range(50):
                counts = pb.Counts(white=10 + n, draws=20, black=60 - n)
                entries.append(pb.PutEntry(fen=fen(n), parts=2,
                                           record=pb.Record(counts=counts)))
            self.assertEqual(peer.call(put=pb.Put(entries=entries)).code, pb.OK)
            answer = peer.call(rescore=pb.Rescore())
            self.assertEqual(answer.code, pb.OK)
            self.assertGreater(answer.rescore.changed, 0)
            self.assertEqual(peer.call(rescore=pb.Rescore()).rescore.changed, 0)
            last = list(peer.stream(verify=pb.Verify()))[-1]
            self.assertEqual(last.code, pb.OK)
