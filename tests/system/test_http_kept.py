# SPDX-License-Identifier: MIT
"""chistore-http where its store is replaced, and where it is told to stop."""

import gzip
import os
import re
import select
import socket
import time
import unittest

import harness
import webserver


def publish(games, copy):
    """As a store that is made again each night takes the place of yesterday's."""
    done = harness.run_cli("publish", copy, address=webserver.make_store(games))
    assert done.returncode == 0, done.stderr
    return copy


POSITION = "/api/position?fen=" + webserver.START.replace(" ", "_")


def counted(server, name):
    _, _, content = server.request("/metrics")
    return int(re.search(rb"^chistore_http_%s_total (\d+)" % name, content, re.MULTILINE).group(1))


def cached(server):
    return counted(server, b"cached")


class TestKept(unittest.TestCase):
    def test_answers_of_a_store_that_was_replaced(self):
        """Both have the same sequence: what was kept of the old one was answered for ever."""
        copy = publish(webserver.GAMES, os.path.join(harness.make_temp_dir(), "copy"))
        with webserver.start(copy, "--threads", "1") as server:
            paths = ("/api/info", "/api/stats")
            before = [server.json(path) for path in paths]
            time.sleep(0.15)
            self.assertEqual([server.json(path) for path in paths], before)
            publish("1. d4 d5 *\n", copy)
            harness.wait_for(lambda: server.json(POSITION)["other"])
            after = [server.json(path) for path in paths]
            self.assertEqual(before[0]["sequence"], after[0]["sequence"])
            self.assertEqual(before[0]["games"], 4)
            self.assertEqual((after[0]["games"], after[0]["other"]), (0, 1))
            self.assertNotEqual(after[1], before[1])

    def test_an_answer_larger_than_all_memory(self):
        """All others were forgotten for it, and it was not kept either."""
        with webserver.start(webserver.make_store(), "--threads", "1", "--cache", "2000") as server:
            server.json("/api/info")
            before = cached(server)
            self.assertGreater(len(server.request(POSITION)[2]), 2000)
            server.json("/api/info")
            self.assertEqual(cached(server) - before, 1)

    def test_a_kept_answer_is_compressed_once(self):
        """It was at every hit."""
        with webserver.start(webserver.make_store(), "--threads", "1") as server:
            plain = server.request(POSITION)[2]
            for encoding, inflate in (("gzip", gzip.decompress), ("zstd", None)):
                for _ in range(5):
                    _, fields, body = server.request(POSITION, headers={"Accept-Encoding": encoding})
                    self.assertEqual(fields["Content-Encoding"], encoding)
                    self.assertEqual(inflate(body) if inflate else plain, plain)
            self.assertEqual((cached(server), counted(server, b"compressed")), (10, 2))

    def test_compressed_bytes_count_as_kept(self):
        with webserver.start(webserver.make_store(), "--threads", "1", "--cache", "4000") as server:
            size = len(server.request(POSITION)[2])
            self.assertTrue(2000 < size < 4000, size)
            for encoding in ("gzip", "zstd", "gzip"):
                self.assertEqual(len(server.request(POSITION, headers={"Accept-Encoding": "x"})[2]), size)
                server.request(POSITION, headers={"Accept-Encoding": encoding})
            self.assertGreater(counted(server, b"cached"), 0)


class TestDescriptors(unittest.TestCase):
    def test_it_says_when_there_are_none(self):
        """It said nothing, and slept on its loop for each client that it could not take."""
        head = b"POST /api/pgn HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        with webserver.start(webserver.make_store(), "--threads", "1", "--workers", "1", "--head-timeout",
                             "86400000", wrapper=("prlimit", "--nofile=60")) as server:
            def says_so():
                return any("not accepting for" in line and "Too many open files" in line
                           for line in server.lines)
            # Each has sent a part: none can be closed for another.
            peers = []
            while not says_so():
                self.assertLess(len(peers), 60)
                peers.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
                peers[-1].sendall(head)
                harness.wait_for(lambda: select.select(peers[-1:], [], [], 0)[0] or says_so())
            for peer in (peers[0], peers[-1]):
                peer.sendall(b"d4")
                answer = b""
                while b"HTTP/1.1 200 " not in answer:
                    part = peer.recv(999)
                    self.assertTrue(part)
                    answer += part
                peer.close()
            for peer in peers:
                peer.close()


class TestStop(unittest.TestCase):
    def test_who_lets_it_wait_is_cut_off(self):
        """--stop-timeout was read, and nothing came of it."""
        with webserver.start(webserver.make_store(), "--head-timeout", "86400000", "--stop-timeout",
                             "100") as server, socket.socket() as peer:
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(b"POST /api/pgn HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            self.assertTrue(peer.recv(99).startswith(b"HTTP/1.1 100 "))
            self.assertEqual(server.stop(), 0)
