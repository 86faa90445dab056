#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a read costs the daemon beside the look-up: no allocation, one read and one send for
whatever arrived together, and no more of others' answers before one's own than a turn has. Counted
inside the daemon by counter.c, which is preloaded into it, and never by time.

Each claim has a control: the same count over something that does cost it."""

import fcntl
import itertools
import mmap
import os
import struct
import termios
import threading
import time
import unittest

import harness
from peer import Peer, fen, put
from pychistore import Closed, join_keys, pb

COUNTER = os.environ.get("CHISTORE_COUNTER", "")

# counter.c's struct counts.
ALLOCATIONS, READS, WRITES, WAITS, OTHERS = range(5)
COUNTS = struct.Struct("=5QQ")
NOTE = struct.Struct("=Iiq")
NOTES = 1 << 16

# The longest that a state of another process is waited for, in looks a millisecond apart.
LOOKS = 60000

# How often one client may be sent something before another's single answer: in the turn that goes on
# when the question comes, and in the turn that answers it. A turn reads from all who have sent
# something, serves them, and sends to each once; how many answers that are is up to the sockets.
AHEAD = 2


def crowded(number):
    """Position `number`, of 4,096 different ones with all 32 pieces: the largest keys."""
    back = []
    free = list(range(8))
    for piece, places in zip("KQRRBBNN", (8, 7, 6, 5, 4, 3, 2, 1)):
        back.append((free.pop(number % places), piece))
        number //= places
    rank = "".join(piece for _, piece in sorted(back))
    return f"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/{rank} w - - 0 1"


def different(make, n):
    """n different texts of make(0), make(1), ..."""
    seen = dict.fromkeys(itertools.islice((make(i) for i in itertools.count()), 20 * n))
    return list(itertools.islice(seen, n))


def unsent(peer):
    """Bytes that the client has sent and the daemon has not read."""
    return struct.unpack("i", fcntl.ioctl(peer.socket, termios.TIOCOUTQ, bytes(4)))[0]


class Counted:
    """What counter.c has counted so far."""

    def __init__(self):
        self.path = os.path.join(harness.make_temp_dir(), "counts")
        with open(self.path, "wb") as file:
            file.truncate(COUNTS.size + NOTES * NOTE.size)
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def environment(self):
        return {"LD_PRELOAD": COUNTER, "CHISTORE_COUNTS": self.path}

    def counts(self):
        return COUNTS.unpack_from(self.map)[:5]

    def noted(self):
        return COUNTS.unpack_from(self.map)[5]

    def notes(self, since):
        """(READS or WRITES, descriptor, bytes) of each call since then, in their order."""
        until = self.noted()
        assert until - since < NOTES, "more calls than there are notes"
        return [NOTE.unpack_from(self.map, COUNTS.size + at % NOTES * NOTE.size)
                for at in range(since, until)]


class ReadPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not COUNTER:
            raise unittest.SkipTest("nothing is preloaded before a sanitizer's own allocator")
        if os.environ.get("CHISTORE_TEST_ADDR"):
            raise unittest.SkipTest("a daemon that runs already has no counter in it")
        cls.counted = Counted()
        cls.daemon = harness.start_daemon(extra_args=["--threads", "1"],
                                          env=cls.counted.environment())
        cls.addClassCleanup(cls.daemon.stop)
        cls.fens = different(crowded, 4096)
        with Peer(cls.daemon.address) as peer:
            for start in range(0, 4096, 512):
                entries = [pb.PutEntry(fen=text) for text in cls.fens[start:start + 512]]
                assert peer.call(put=pb.Put(entries=entries)).code == pb.OK
            cls.keys = []
            for start in range(0, 4096, 512):
                got = peer.call(get=pb.Get(fens=cls.fens[start:start + 512])).get.entries
                cls.keys += [entry.key for entry in got if entry.found]
        assert len(cls.keys) == 4096
        assert min(len(key) for key in cls.keys) == 24

    def peer(self):
        """A client, and its descriptor in the daemon."""
        peer = self.enterContext(Peer(self.daemon.address))
        mark = self.counted.noted()
        self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)
        sent, = {fd for what, fd, _ in self.counted.notes(mark) if what == WRITES}
        return peer, sent

    def probe(self, n, at=0):
        return {"probe": pb.Probe(keys=join_keys((self.keys + self.keys)[at:at + n]))}

    def get(self, n, at=0):
        return {"get": pb.Get(keys=join_keys((self.keys + self.keys)[at:at + n]))}

    def spent(self, requests, rounds, together=1):
        """What `rounds` times as many requests as are sent at once cost in the end, once the daemon
        knows them: (ALLOCATIONS, READS, ...). Each is request(i)."""
        peer, _ = self.peer()
        groups = []
        for group in range(min(rounds, 64)):
            frames = [peer.build(**requests(group * together + i))[0] for i in range(together)]
            groups.append(b"".join(frames))

        def run(n):
            for number in range(n):
                peer.send_bytes(groups[number % len(groups)])
                for _ in range(together):
                    peer.receive_body()
            # Not answered before the waiting for it has begun, which counts with those above.
            self.assertEqual(peer.call(ping=pb.Ping()).code, pb.OK)

        for group in groups:
            peer.send_bytes(group)
            for _ in range(together):
                self.assertEqual(peer.receive().code, pb.OK)
        run(rounds // 8 + 1)
        before = self.counted.counts()
        run(rounds)
        after = self.counted.counts()
        spent = [b - a for a, b in zip(before, after)]
        for what in READS, WRITES, WAITS:
            spent[what] -= 1  # the ping's
        return spent

    # ---- Memory --------------------------------------------------------------------------------

    def test_reads_allocate_nothing(self):
        shapes = [
            ("10,000 probes", 10000, 1, lambda i: self.probe(1, i)),
            ("1,000 probes by FEN", 1000, 1, lambda i: {"probe": pb.Probe(fens=[self.fens[i]])}),
            ("1,000 probes of nothing stored", 1000, 1, lambda i: {"probe": pb.Probe(fens=[fen(i)])}),
            ("10,000 probes, 16 at once", 625, 16, lambda i: self.probe(1, i)),
            ("10,000 positions, 100 a probe", 100, 1, lambda i: self.probe(100, i)),
            ("16 probes of 100 at once", 50, 16, lambda i: self.probe(100, i)),
            ("probes of 500", 50, 1, lambda i: self.probe(500, i)),
            ("probes of 4,096", 50, 1, lambda i: self.probe(4096, i)),
            ("1,000 gets", 1000, 1, lambda i: self.get(1, i)),
            ("gets, 16 at once", 50, 16, lambda i: self.get(1, i)),
            ("gets of 100", 50, 1, lambda i: self.get(100, i)),
            ("gets of 2,000", 50, 1, lambda i: self.get(2000, i)),
            ("explore", 200, 1, lambda i: {"explore": pb.Explore(key=self.keys[i])}),
        ]
        for name, rounds, together, request in shapes:
            with self.subTest(name):
                spent = self.spent(request, rounds, together)
                print(f"# {name}: {spent[ALLOCATIONS]} allocations")
                self.assertEqual(spent[ALLOCATIONS], 0)

    def test_others_allocate_little(self):
        """What lives longer than its turn, and what is not asked in a hurry: bounds, and by the way
        the proof that allocations are counted. A query has its run, itself, its request and its
        walk; the page of a scan's rows doubles twice up to 100."""
        for name, most, request in [
            ("info", 1, {"info": pb.Info()}),
            ("count", 4, {"count": pb.Count(chi2_max=25599)}),
            ("scan of 100 rows", 7, {"scan": pb.Scan(chi2_max=25599, limit=100)}),
            ("put", 40, {"put": put([1])}),
        ]:
            with self.subTest(name):
                each = self.spent(lambda i: request, 100)[ALLOCATIONS] / 100
                print(f"# {name}: {each} allocations each")
                self.assertGreaterEqual(each, 1)
                self.assertLessEqual(each, most)

    # ---- System calls --------------------------------------------------------------------------

    def check_calls(self, name, spent, reads, writes):
        print(f"# {name}: {spent[READS]} reads, {spent[WRITES]} writes, {spent[WAITS]} waits")
        self.assertEqual(spent[READS], reads)
        self.assertEqual(spent[WRITES], writes)
        self.assertEqual(spent[OTHERS], 0)

    def test_calls_of_a_pipeline(self):
        """One wake-up: a wait, a read, a send. Deadlines are looked at in between now and then."""
        for n in 1, 16:
            spent = self.spent(lambda i: self.probe(1, i), 500, n)
            self.check_calls(f"500 times {n} probes", spent, 500, 500)
            self.assertLessEqual(spent[WAITS], 500 + 50)
        spent = self.spent(lambda i: self.get(1, i), 200, 16)
        self.check_calls("200 times 16 gets", spent, 200, 200)
        # More than are served in one turn are sent together all the same.
        spent = self.spent(lambda i: self.probe(1, i), 100, 100)
        self.check_calls("100 times 100 probes", spent, 100, 100)

    def test_calls_of_singles(self):
        """The control: sixteen that do not come together cost sixteen times as much."""
        self.check_calls("16 times 500 probes", self.spent(lambda i: self.probe(1, i), 8000),
                         8000, 8000)

    def test_calls_of_a_batch(self):
        """A large answer is sent at once, unless the socket's buffer is full. How many reads its
        request takes is up to the client."""
        spent = self.spent(lambda i: self.probe(4096, i), 100)
        self.check_calls("100 probes of 4,096", spent, spent[READS], 100)
        spent = self.spent(lambda i: self.probe(100, i), 100)
        self.check_calls("100 probes of 100", spent, 100, 100)

    # ---- Fairness ------------------------------------------------------------------------------

    def wait_until(self, condition):
        for _ in range(LOOKS):
            if condition():
                return
            time.sleep(0.001)
        self.fail("waited for a state in vain")

    def is_stopped(self):
        for task in os.listdir(f"/proc/{self.daemon.pid}/task"):
            with open(f"/proc/{self.daemon.pid}/task/{task}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] != "T":
                    return False
        return True

    def ask_while_stopped(self, greedy, polite, question):
        """While the daemon is stopped and the greedy client has more than it can take in at
        once, all others ask: everything has arrived before anything is answered. Returns where the
        notes stood."""
        self.daemon.freeze()
        try:
            self.wait_until(self.is_stopped)
            self.wait_until(lambda: unsent(greedy) >= 1 << 16)
            mark = self.counted.noted()
            for peer, _ in polite:
                peer.send_bytes(question)
        finally:
            self.daemon.thaw()
        for peer, _ in polite:
            peer.receive_body()
        return mark

    def sent_before(self, mark, greedy, polite):
        """What each send to the greedy client took before the polite one had an answer, in bytes."""
        sent = []
        for what, fd, length in self.counted.notes(mark):
            if what == WRITES and fd == polite:
                return sent
            if what == WRITES and fd == greedy and length > 0:
                sent.append(length)
        self.fail("the polite client was not answered")

    def test_nobody_starves(self):
        greedy, greedy_fd = self.peer()
        polite = [self.peer() for _ in range(10)]
        request = greedy.build(id=1, **self.probe(4096))[0]
        question = greedy.build(id=1, **self.probe(1))[0]
        greedy.send_bytes(request)
        answer = len(greedy.receive_body())
        room = threading.Semaphore(64)
        over = threading.Event()
        answers = itertools.count()

        def send():
            while not over.is_set():
                room.acquire()
                greedy.send_bytes(request)
            greedy.end_sending()

        def receive():
            try:
                while greedy.receive_body():
                    next(answers)
                    room.release()
            except Closed:
                pass

        threads = [threading.Thread(target=send), threading.Thread(target=receive)]
        for thread in threads:
            thread.start()
        most = total = largest = 0
        try:
            for _ in range(50):
                mark = self.ask_while_stopped(greedy, polite, question)
                ahead = [self.sent_before(mark, greedy_fd, fd) for _, fd in polite]
                most = max(most, *map(len, ahead))
                largest = max(largest, *map(sum, ahead))
                total += max(map(sum, ahead))
        finally:
            over.set()
            room.release()
            for thread in threads:
                thread.join()
        print(f"# {next(answers)} answers of 4,096 rows; ahead of one of 10 single probes "
              f"{most} sends at most, {largest / answer:.2f} answers at most and "
              f"{total / answer / 50:.2f} on average")
        self.assertGreater(total, 0)
        self.assertLessEqual(most, AHEAD)

    def test_a_queue_would_starve(self):
        """The control: behind the same 64 requests on one connection a question waits for all."""
        peer, fd = self.peer()
        request = peer.build(id=1, **self.probe(4096))[0]
        last = peer.build(id=2, **self.probe(1))[0]
        mark = self.counted.noted()
        sender = threading.Thread(target=peer.send_bytes, args=(request * 64 + last,))
        sender.start()
        for _ in range(65):
            peer.receive_body()
        sender.join()
        sent = [length for what, of, length in self.counted.notes(mark)
                if what == WRITES and of == fd and length > 0]
        print(f"# {len(sent)} sends")
        self.assertGreater(len(sent), 4 * AHEAD)
