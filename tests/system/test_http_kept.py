# SPDX-License-Identifier: MIT
"""chistore-http where its store is replaced, and where it is told to stop."""

import os
import re
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import webserver  # noqa: E402


def publish(games, copy):
    """As a store that is made again each night takes the place of yesterday's."""
    done = harness.run_cli("publish", copy, address=webserver.make_store(games))
    assert done.returncode == 0, done.stderr
    return copy


POSITION = "/api/position?fen=" + webserver.START.replace(" ", "_")


def cached(server):
    _, _, content = server.request("/metrics")
    return int(re.search(rb"^chistore_http_cached_total (\d+)", content, re.MULTILINE).group(1))


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


class TestStop(unittest.TestCase):
    def test_who_lets_it_wait_is_cut_off(self):
        """--stop-timeout was read, and nothing came of it."""
        with webserver.start(webserver.make_store(), "--head-timeout", "86400000", "--stop-timeout",
                             "100") as server, socket.socket() as peer:
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(b"POST /api/pgn HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            self.assertTrue(peer.recv(99).startswith(b"HTTP/1.1 100 "))
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
