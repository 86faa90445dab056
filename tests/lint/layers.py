# SPDX-License-Identifier: MIT
"""Holds the include arrows: which room may include whom, which room alone may use a library, and that
no files include each other in a circle.

    layers.py SOURCE_ROOT
"""

import os
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Room -> rooms whose headers it may include, beside its own. The longest prefix decides, so a
# sub-room is a room of its own. "api" is the installed header, "types" the one below it.
BELOW = {"types", "base"}
BOARD = BELOW | {"chess", "chess/names", "chess/moves", "chess/pgn", "chess/openings", "chess/polyglot", "chess/pattern", "chess/moment", "chess/traits",
                 "chess/endgame"}
STORE = BOARD | {"store"}
ARCHIVE = {"store/chain", "store/names", "store/games", "store/postings", "store/traits", "store/gamesets", "store/queue", "store/ratings"}
SEARCH = STORE | {"search"}
CLIENT = SEARCH | {"api", "import", "rados", "proto", "proto/wire", "ops", "client/core"}
CLI = BOARD | {"api", "store", "formats", "formats/evals", "formats/rows", "cli"}
HTTP = BOARD | {"api", "store", "formats", "formats/rows", "service", "service/net"}
DAEMON = SEARCH | {"import", "proto", "proto/wire", "ops", "service", "service/net", "daemon/settings"}

ARROWS = {
    "include/chistore": {"types"},
    "include": {"types"},
    "base": {"types"},
    "chess": BELOW,
    "chess/names": BELOW,
    "chess/moves": BELOW | {"chess"},
    "chess/pgn": BELOW | {"chess", "chess/names"},
    "chess/openings": BELOW | {"chess"},
    "chess/polyglot": BELOW | {"chess"},
    "chess/pattern": BELOW | {"chess"},
    "chess/moment": BELOW | {"chess", "chess/pattern"},
    "chess/traits": BELOW | {"chess", "chess/moment"},
    "chess/endgame": BELOW | {"chess"},

    # store/ itself: store.h, which is all that others see of it, and LMDB's errors.
    "store": BELOW,
    # What LMDB's calls are to its trees, for those whose entries are chained.
    "store/chain": STORE,
    "store/record": STORE | {"store/chain"},
    "store/block": STORE | {"store/record"},
    # The archive of games, on handles of trees: no environment, no transaction of ours.
    "store/names": STORE | {"store/chain", "store/record"},
    "store/games": STORE | {"store/chain", "store/record", "store/names", "store/traits"},
    "store/postings": STORE | {"store/chain", "store/record"},
    "store/traits": STORE | {"store/chain", "store/record", "store/postings"},
    "store/ratings": STORE | {"store/chain", "store/record", "store/games", "store/postings"},
    "store/gamesets": STORE | {"store/chain", "store/record"},
    "store/queue": STORE | {"store/chain", "store/record"},
    "store/pages": STORE | {"store/record", "store/block"},
    "store/env": STORE | {"store/chain", "store/record", "store/block", "store/pages"},
    "store/txn": STORE | ARCHIVE | {"store/record", "store/block", "store/pages", "store/env"},
    "store/query": STORE | ARCHIVE | {"store/record", "store/block", "store/pages", "store/env"},
    "store/text": STORE | {"store/record"},
    "store/load": STORE | ARCHIVE | {"store/record", "store/block", "store/pages", "store/env",
                                     "store/txn"},
    "store/admin": STORE | ARCHIVE | {"store/record", "store/block", "store/pages", "store/env", "store/txn",
                            "store/query"},
    "store/rescue": STORE | ARCHIVE | {"store/record", "store/block", "store/pages", "store/env", "store/txn",
                             "store/load"},

    # A second kind of store: its records, in objects instead of blocks.
    "rados": STORE | {"store/record"},
    "rados/import": STORE | {"store/record", "import", "rados"},
    "rados/verify": STORE | {"store/record", "rados", "rados/import"},

    "propagate": BOARD | {"api"},
    "search/filter": STORE,
    "search": STORE | {"search/filter"},
    "insight": SEARCH | {"search/filter"},
    "import/archive": STORE,
    "import": SEARCH | {"import/archive"},
    "import/lines": STORE | {"import", "formats"},
    "import/dump": STORE | {"import", "import/archive"},
    "proto/wire": BELOW,
    "proto": BELOW | {"proto/wire"},
    # What operations do: for a server's runs and for calls in this process.
    "ops": SEARCH | {"insight", "proto", "proto/wire"},
    "formats": BOARD | {"formats/evals"},
    "formats/evals": BOARD | {"formats"},
    # What the rows of answers have, for all who print them.
    "formats/rows": BELOW,

    "client/core": SEARCH | {"api", "import", "rados", "proto", "proto/wire", "ops"},
    "client/local": CLIENT,
    "client/remote": CLIENT,
    "client": CLIENT | {"client/local", "client/remote"},
    # Text forms (moves, dumps, cursors) come from where they are defined; what travels does not.
    "cli": BOARD | {"api", "store"},
    "cli/out": CLI | {"propagate"},
    "cli/in": CLI | {"cli/out"},
    "cli/hashed": CLI | {"cli/in", "cli/out"},
    "cli/games": CLI | {"cli/in", "cli/out"},
    # Its pipelines go over a connection of the library, which has no calls for them.
    "cli/bench": CLI | {"cli/in", "cli/out", "client/core", "client/remote"},
    "cli/work": CLI | {"propagate", "cli/in", "cli/out", "uci/engines"},
    "cli/cmd": CLI | {"propagate", "cli/games", "cli/hashed", "cli/in", "cli/out",
                         "cli/bench"},

    # What every server program needs; no store, no protocol.
    "service": BELOW,
    "service/net": BELOW | {"service"},
    "daemon/settings": BOARD | {"proto", "proto/wire", "service"},
    "daemon/access": DAEMON,
    "daemon/net": DAEMON | {"daemon/access"},
    "daemon/write": DAEMON | {"daemon/access", "daemon/net"},
    "daemon/ops": DAEMON | {"daemon/access", "daemon/net", "daemon/write"},
    "daemon/status": DAEMON | {"daemon/access", "daemon/net", "daemon/write", "daemon/ops"},
    "daemon": DAEMON | {"daemon/access", "daemon/net", "daemon/write", "daemon/ops",
                        "daemon/status"},

    # A program above the library; cursors as text come from the store.
    "http/net": HTTP,
    "http/api": HTTP | {"http/net", "propagate"},
    "http/lila": HTTP | {"http/net", "propagate"},
    "http/cdb": HTTP | {"http/net", "propagate"},
    "http": HTTP | {"http/net", "http/api", "http/lila", "http/cdb"},
    # An engine for GUIs: sees the store through the library alone, which sets no handlers of signals.
    "uci/search": BOARD | {"api"},
    "uci": BOARD | {"api", "store", "uci/search"},

    "examples": {"api"},
}
# These two look everywhere.
ARROWS["bench"] = ARROWS["tests"] = set(ARROWS) | {"types", "api", "uci/engines"}
ARROWS["bench/games"] = ARROWS["bench/engine"] = ARROWS["bench/peers"] = ARROWS["bench"] | {"bench"}

# Headers of sub-rooms of the store that other rooms may include as they may include store.h.
DOORS = {header: "store" for header in (
    "store/load/load.h", "store/text/dump.h", "store/text/seal.h", "store/archive.h", "store/archive_trees.h",
    "store/games/archive.h", "store/games/body.h", "store/games/columns.h", "store/games/tags.h", "store/record/briefs.h", "store/gamesets/gamesets.h",
    "store/names/names.h", "store/ratings/expect.h", "store/traits/traits.h")} | {"search/filter/terms.h": "search", "search/filter/unstored.h": "search", "search/filter/motif.h": "search",
    # Other engines as children: what the analyser shares with chistore-uci.
    "uci/child.h": "uci/engines", "uci/info.h": "uci/engines",
    # Numbers alone: what an operation asks of a client, and what a client is given.
    "service/role.h": "base"}

# System headers with a meaning: another room that includes one takes over a job that is not its own.
OWNERS = {
    "lmdb.h": {"store", "bench", "tests"},
    "protobuf-c/": {"proto", "tests"},
    "event2/": {"daemon", "http", "service", "tests"},
    "openssl/": {"base", "client", "daemon", "service", "tests"},
    "rados/": {"rados", "bench", "tests"},
    "zstd.h": {"store", "formats", "http", "tests", "bench"}, "bzlib.h": {"formats", "tests"}, "lzma.h": {"formats", "tests"},
    "jansson.h": {"cli", "formats", "http", "tests"},
    "xxhash.h": {"base", "store", "insight", "import", "propagate", "cli/cmd", "cli/games", "cli/work", "http", "uci/search", "tests", "bench"},
}


def room_of(path):
    """The room a source file belongs to, None if it is in none."""
    folder = os.path.dirname(path)
    while folder:
        if folder in ARROWS:
            return folder
        # Only tests have folders that are no rooms.
        folder = os.path.dirname(folder) if folder.startswith("tests/") else None
    return None


def target_of(header):
    """The room of an included project header; None if the path names none."""
    if header == "chistore.h":
        return "api"
    if header.startswith("chistore/"):
        return "types"
    room = room_of(header)
    return None if room in ("include", "include/chistore") else room


def check_project(room, header, generated=".pb-c.h"):
    if header.endswith(generated):
        return None if room in ("proto", "tests") else "generated messages are for proto alone"
    target = target_of(header)
    if room.split("/")[0] != header.split("/")[0]:
        target = DOORS.get(header, target)
    if target is None:
        return "include project headers by their path from the root"
    if target != room and target not in ARROWS[room]:
        return f"{room} must not see {target}"
    return None


def check_system(room, header):
    for prefix, owners in OWNERS.items():
        if header.startswith(prefix) and not any(f"{room}/".startswith(f"{o}/") for o in owners):
            return f"{prefix} belongs to {', '.join(sorted(owners - {'tests', 'bench'}))}"
    return None


def check(path, text):
    room = room_of(path)
    if room is None:
        return ["1: the file is in no room that tests/lint/layers.py knows"]
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, header = match.group(1) == '"', match.group(2)
        known = header == "chistore.h" or header.startswith("chistore/")
        fault = check_project(room, header) if quoted or known else check_system(room, header)
        if fault:
            faults.append(f'{number}: includes "{header}": {fault}')
    return faults


def module_of(path):
    """A header, its source and their private header are one."""
    return os.path.splitext(path)[0].removesuffix("_priv")


def circles(texts):
    """Groups of modules that include each other, by Tarjan's algorithm; texts: path -> text."""
    graph = {}
    for path, text in texts.items():
        targets = graph.setdefault(module_of(path), set())
        for line in text.splitlines():
            match = INCLUDE.match(line)
            if match and match.group(2) in texts:
                targets.add(module_of(match.group(2)))
    number, low, stack, found = {}, {}, [], []

    def visit(module):
        number[module] = low[module] = len(number)
        stack.append(module)
        for target in graph[module] - {module}:
            if target not in number:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == number[module]:
            group = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(group) > 1:
                found.append("a circle of includes: " + ", ".join(sorted(group)))

    for module in graph:
        if module not in number:
            visit(module)
    return found


ROOM_MOST = 40  # sources and headers of a room, beside those of its sub-rooms


def crowded(paths):
    """Rooms that have grown too large to find one's way in."""
    count = {}
    for path in paths:
        room = room_of(path)
        if room and room.split("/")[0] not in ("tests", "bench"):
            count[room] = count.get(room, 0) + 1
    return [f"{room} has {n} files, more than {ROOM_MOST}" for room, n in sorted(count.items())
            if n > ROOM_MOST]


CIRCLE = {"a/x.h": '#include "a/y.h"', "a/y.c": '#include "a/x.h"', "a/y.h": ""}
NO_CIRCLE = {"a/x.h": '#include "a/x_priv.h"', "a/x_priv.h": '#include "a/x.h"', "a/x.c": ""}

PLANTED = [
    ("store/x.c", '#include "proto/msg.h"'),
    ("store/x.c", '#include "import/importer.h"'),
    ("import/x.c", '#include "client/core/client.h"'),
    ("proto/x.c", '#include "store/store.h"'),
    ("proto/x.c", '#include "chess/key.h"'),
    ("base/x.h", '# include "chess/key.h"'),
    ("chess/x.c", '#include "store/store.h"'),
    ("chess/x.c", '#include "chistore.h"'),
    ("client/x.c", '#include "cli/command.h"'),
    ("cli/x.c", '#include "proto/msg.h"'),
    ("formats/x.c", '#include "client/core/client.h"'),
    ("daemon/x.c", '#include "formats/epd.h"'),
    ("daemon/x.c", '#include "client/client.h"'),
    ("daemon/x.c", '#include "chistore.pb-c.h"'),
    ("daemon/x.c", "#include <lmdb.h>"),
    ("store/x.c", "#include <event2/event.h>"),
    ("store/x.c", '#include "codec.h"'),
    ("include/chistore/types.h", '#include "base/num.h"'),
    ("store/record/x.c", '#include "store/txn/txn.h"'),
    ("client/core/x.c", '#include "client/remote/peer.h"'),
    ("daemon/net/x.c", '#include "daemon/ops/query.h"'),
    ("import/x.c", '#include "store/record/codec.h"'),
    ("kitchen/x.c", '#include "base/num.h"'),
]

ALLOWED = [
    ("store/txn/x.c", '#include "store/record/codec.h"\n#include "chess/key.h"\n#include <lmdb.h>'),
    ("client/x.c", '#include "proto/msg.h"\n#include "store/store.h"\n#include <stdio.h>'),
    ("cli/x.c", '#include "cli/command.h"\n#include "chistore.h"'),
    ("include/chistore.h", '#include "chistore/types.h"'),
    ("tests/base/x.c", '#include "base/num.h"\n#include "tests/base/seed.h"'),
]


def main():
    root = sys.argv[1]
    report = tree.Report()
    for path, text in PLANTED:
        report.planted(f"layers {path} {text.split(maxsplit=1)[1]}", check, path, text)
    for path, text in ALLOWED:
        report.clean(f"layers {path}", check, path, text)
    sources = [p for p in tree.files(root) if p.endswith((".c", ".h"))]
    report.over("the include arrows hold", check, root, sources)
    report.line("circles: finds a planted one", [] if circles(CIRCLE) else ["it found none"])
    report.line("circles: a header, its source and their private header", circles(NO_CIRCLE))
    report.line("no circles of includes", circles({p: tree.read(root, p) or "" for p in sources}))
    full = [f"base/x{i}.c" for i in range(ROOM_MOST)]
    report.line("rooms: finds a crowded one", [] if crowded(full + ["base/x.h"]) else ["none"])
    report.line("rooms: one that is full", crowded(full))
    report.line("no room is crowded", crowded(sources))
    report.finish()


main()
