# SPDX-License-Identifier: MIT
"""Starts chistore-http (CHISTORE_HTTP) for tests, asks it, and checks answers by openapi.json."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
READY = re.compile(r"chistore-http: ready, listening on http://([^/ ]+)/")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

GAMES = """\
[Event "Spring Open"]
[Site "Bern"]
[Date "2019.04.02"]
[Round "1"]
[White "Muster, Anna"]
[Black "Beispiel, Bruno"]
[Result "1-0"]
[WhiteElo "2410"]
[BlackElo "2380"]
[ECO "C65"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Nxe4 5. d4 Nd6 1-0

[Event "Spring Open"]
[Site "Bern"]
[Date "2019.04.03"]
[Round "2"]
[White "Beispiel, Bruno"]
[Black "Muster, Anna"]
[Result "1/2-1/2"]
[WhiteElo "2380"]
[BlackElo "2410"]
[ECO "B20"]

1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 1/2-1/2

[Event "Casual"]
[Site "?"]
[Date "2021.??.??"]
[Round "?"]
[White "Zoe \\"Zz\\" O'Neil"]
[Black "Muster, Anna"]
[Result "0-1"]

1. Nf3 Nc6 2. e4 e5 3. Bb5 a6 0-1

[Event "Mate"]
[Site "?"]
[Date "2022.01.05"]
[Round "-"]
[White "Fool"]
[Black "Muster, Anna"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
"""


class Server:
    """A running chistore-http; `port` on loopback."""

    def __init__(self, process, port, lines):
        self.process, self.port, self.lines = process, port, lines
        self.pid = process.pid

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(harness.STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        code = self.stop()
        if kind is not None or code != 0:
            sys.stderr.write("".join(self.lines))
        assert kind is not None or code == 0, f"chistore-http ended with {code}"

    def request(self, path, method="GET", body=None, headers=None):
        """Status, header fields and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def json(self, path, want=200, **parameters):
        if parameters:
            path += "?" + urllib.parse.urlencode(
                [(name.replace("_", "-"), value) for name, value in parameters.items()])
        status, fields, content = self.request(path)
        assert status == want, (path, status, content)
        assert fields["Content-Type"] == "application/json", fields["Content-Type"]
        return json.loads(content)

    def raw(self, *parts, end=False):
        """All that comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as peer:
            for part in parts:
                peer.sendall(part)
            if end:
                peer.shutdown(socket.SHUT_WR)
            answer = b""
            try:
                while part := peer.recv(65536):
                    answer += part
            except ConnectionResetError:
                pass
            return answer


def collect(stream, lines, ready):
    for line in stream:
        lines.append(line)
        if READY.search(line):
            ready.set()
    stream.close()
    ready.set()


def start(address, *options, want=True, wrapper=(), env=None):
    """A server on a free port; with want=False the finished process instead. `wrapper`: a command
    that becomes it; `env`: what its environment has besides."""
    command = [*wrapper, harness.program("CHISTORE_HTTP", "chistore-http"), "-a", address, "--web",
               os.environ.get("CHISTORE_WEB", os.path.join(ROOT, "http", "web")), *options]
    if "--listen" not in options:
        command += ["--listen", "tcp:127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               encoding="utf-8", env={**os.environ, **(env or {})})
    lines, ready = [], threading.Event()
    reader = threading.Thread(target=collect, args=(process.stderr, lines, ready), daemon=True)
    reader.start()
    assert ready.wait(harness.START_TIMEOUT), "chistore-http is not ready"
    found = READY.search("".join(lines))
    if not want or found is None:
        process.wait(harness.STOP_TIMEOUT)
        reader.join()
        assert not want, "".join(lines)
        return process.returncode, "".join(lines)
    return Server(process, int(found.group(1).rsplit(":", 1)[1]), lines)


def make_store(games=GAMES, statistic="outcome"):
    path = os.path.join(harness.make_temp_dir(), "store")
    done = harness.run_cli("import", "--statistic", statistic, "--quiet", "-", address=path,
                           input=games)
    assert done.returncode == 0, done.stderr
    return path


# ---- openapi.json ------------------------------------------------------------------------------

with open(os.path.join(ROOT, "http", "openapi.json"), encoding="utf-8") as _file:
    API = json.load(_file)

TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def is_of(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, place="$"):
    """What of a value does not fit: the part of JSON Schema that the file uses."""
    if "$ref" in schema:
        target = API
        for name in schema["$ref"].split("/")[1:]:
            target = target[name]
        return faults(value, target, place)
    if "oneOf" in schema:
        tried = [faults(value, one, place) for one in schema["oneOf"]]
        return [] if any(not one for one in tried) else min(tried, key=len)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        return [f"{place}: {value!r} is no {'/'.join(names)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        found.append(f"{place}: {value} is too small")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}: {name} is missing" for name in schema.get("required", [])
                  if name not in value]
        for name, inner in value.items():
            if name in known:
                found += faults(inner, known[name], f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{place}: {name} is not described")
            elif isinstance(schema.get("additionalProperties"), dict):
                found += faults(inner, schema["additionalProperties"], f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for number, inner in enumerate(value):
            found += faults(inner, schema["items"], f"{place}[{number}]")
    return found


def schema_of(path, method="get", code="200"):
    content = API["paths"][path][method]["responses"][code]["content"]
    (kind, body), = content.items()
    return kind, body["schema"]


def parameters_of(path, method):
    """Names of those in the query."""
    names = set()
    for one in API["paths"][path][method].get("parameters", []):
        if "$ref" in one:
            one = API["components"]["parameters"][one["$ref"].rsplit("/", 1)[1]]
        names |= {one["name"]} if one["in"] == "query" else set()
    return names
