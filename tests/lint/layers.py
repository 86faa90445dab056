# SPDX-License-Identifier: MIT
"""Holds the include arrows: which room may include whom, and which room alone may use a library.

    layers.py SOURCE_ROOT
"""

import os
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Room -> rooms whose headers it may include, beside its own. The longest prefix decides, so
# client/cli is a room of its own. "api" is the installed header, "types" the one below it.
ARROWS = {
    "include/chistore": set(),
    "include": {"types"},
    "base": {"types"},
    "chess": {"types", "base"},
    "store": {"types", "base", "chess"},
    "import": {"types", "base", "chess", "store"},
    "proto": {"types", "base"},
    "client": {"types", "api", "base", "chess", "store", "import", "proto"},
    "formats": {"types", "base", "chess"},
    # Text forms (moves, dumps, cursors) come from where they are defined; what travels does not.
    "client/cli": {"types", "api", "base", "chess", "store", "client", "formats"},
    "daemon": {"types", "base", "chess", "store", "import", "proto"},
    "bench": {"types", "api", "base", "chess", "store", "import", "proto", "client"},
    "tests": {"types", "api", "base", "chess", "store", "import", "proto", "client", "formats",
              "client/cli", "daemon"},
    "examples": {"api"},
}

# System headers with a meaning: whoever else includes one takes over a job that is not its own.
OWNERS = {
    "lmdb.h": {"store", "bench", "tests"},
    "protobuf-c/": {"proto", "tests"},
    "event2/": {"daemon", "tests"},
    "openssl/": {"base", "client", "daemon", "tests"},
    "archive": {"formats", "tests"},
    "jansson.h": {"client/cli", "tests"},
    "xxhash.h": {"base", "store", "import", "tests", "bench"},
}


def room_of(path):
    """The room a source file belongs to, None if it is in none."""
    folder = os.path.dirname(path)
    while folder:
        if folder in ARROWS:
            return folder
        folder = os.path.dirname(folder)
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
    if target is None:
        return "include project headers by their path from the root"
    if target != room and target not in ARROWS[room]:
        return f"{room} must not see {target}"
    return None


def check_system(room, header):
    for prefix, owners in OWNERS.items():
        if header.startswith(prefix) and room not in owners:
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


PLANTED = [
    ("store/x.c", '#include "proto/msg.h"'),
    ("store/x.c", '#include "import/importer.h"'),
    ("import/x.c", '#include "client/core/client.h"'),
    ("proto/x.c", '#include "store/store.h"'),
    ("proto/x.c", '#include "chess/key.h"'),
    ("base/x.h", '# include "chess/key.h"'),
    ("chess/x.c", '#include "store/store.h"'),
    ("chess/x.c", '#include "chistore.h"'),
    ("client/x.c", '#include "client/cli/command.h"'),
    ("client/cli/x.c", '#include "proto/msg.h"'),
    ("formats/x.c", '#include "client/core/client.h"'),
    ("daemon/x.c", '#include "formats/epd.h"'),
    ("daemon/x.c", '#include "client/client.h"'),
    ("daemon/x.c", '#include "chistore.pb-c.h"'),
    ("daemon/x.c", "#include <lmdb.h>"),
    ("store/x.c", "#include <event2/event.h>"),
    ("store/x.c", '#include "codec.h"'),
    ("include/chistore/types.h", '#include "base/num.h"'),
    ("kitchen/x.c", '#include "base/num.h"'),
]

ALLOWED = [
    ("store/x.c", '#include "store/record/codec.h"\n#include "chess/key.h"\n#include <lmdb.h>'),
    ("client/x.c", '#include "proto/msg.h"\n#include "store/store.h"\n#include <stdio.h>'),
    ("client/cli/x.c", '#include "client/cli/command.h"\n#include "chistore.h"'),
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
    report.finish()


main()
