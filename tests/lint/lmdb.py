# SPDX-License-Identifier: MIT
"""Holds what may be asked of LMDB, and where: a flag that drops a promise is not found by reading
every call again. Also who names lock.mdb, since a process that opens and closes it loses all of
its readers.

    lmdb.py SOURCE_ROOT
"""

import re
import sys

import tree

# Word -> files that may use it. A word with an empty list is used nowhere.
FLAGS = {
    "MDB_WRITEMAP": set(),  # a full disk is a SIGBUS
    "MDB_MAPASYNC": set(),  # commits without sync
    "MDB_NOLOCK": {"store/admin/publish.c", "store/env/env.c", "store/admin/copy.c",  # where no one can write,
                   "store/admin/repack.c"},  # or the file is not yet anyone's
    "MDB_DUPSORT": set(),  # known bugs in 0.9.24
    "MDB_DUPFIXED": set(),
    "MDB_REVERSEDUP": set(),
    "MDB_FIXEDMAP": set(),
    "MDB_NOSYNC": {"store/load/new_store.c", "store/admin/publish.c", "store/admin/repack.c"},  # what has no name yet
    "MDB_NOMETASYNC": {"store/load/new_store.c", "store/admin/repack.c"},
    "mdb_env_set_mapsize": {"store/env/env.c"},  # resizing under a reader unmaps its pages
    "mdb_env_set_flags": set(),  # flags are those of the opening
    "mdb_env_open": {"store/env/env.c"},  # with these settings, once a process
}

# Opening makes it, the removal of a hidden directory unlinks it, a published copy has none; its
# identity is compared, without opening it, and an error names it.
LOCK_FILE = re.compile(r"LMDB_LOCK|lock\.mdb")
LOCK_FILES = {"base/file.h", "base/file.c", "store/env/env.c", "store/env/path.c",
              "store/env/file_identity.c", "store/env/lock_map.c", "store/lmdb_err.c", "store/admin/publish.c"}

ROOMS = ("base/", "chess/", "store/", "import/", "proto/", "client/", "daemon/", "http/", "service/", "include/",
         "examples/")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def code(text):
    """Without comments, every line where it was."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def check_flags(path, text):
    return [f"{number}: {word} is not for this file"
            for number, line in enumerate(code(text).split("\n"), 1)
            for word in re.findall(r"\w+", line)
            if word in FLAGS and path not in FLAGS[word]]


def check_lock_file(path, text):
    return [f"{number}: lock.mdb is not for this file"
            for number, line in enumerate(code(text).split("\n"), 1)
            if LOCK_FILE.search(line) and path not in LOCK_FILES]


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = [path for path in tree.files(root)
             if path.startswith(ROOMS) and path.endswith((".c", ".h"))]

    def over(name, check):
        faults = [f"{path}:{fault}" for path in paths for fault in check(path, tree.read(root, path))]
        report.line(name, faults)

    report.planted("flags", check_flags, "store/env/env.c", "x | MDB_WRITEMAP")
    report.planted("flags", check_flags, "store/env/create.c", "\nx | MDB_NOSYNC")
    report.clean("flags", check_flags, "store/load/new_store.c", "MDB_NOSYNC /* MDB_WRITEMAP */")
    over("flags: each where it may be", check_flags)
    report.planted("lock.mdb", check_lock_file, "store/env/info.c", "open(LMDB_LOCK)")
    report.clean("lock.mdb", check_lock_file, "store/env/info.c", "/* lock.mdb */ chistore.lock")
    over("lock.mdb: named where it may be", check_lock_file)
    report.finish()


main()
