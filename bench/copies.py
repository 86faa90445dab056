#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times copies of a store: `publish`, `publish --verify`, `backup`, and `cp` of its data file.

    copies.py BUILD_DIR STORE [--before BUILD_DIR] [--turns N] [--folder DIR]

By turns, on the file system of DIR, which needs room for three copies. Prints for each the medians of
the time in s, of the processor time in s, and of the memory in MB. With --before `publish` and
`backup` of another build are timed beside them.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time


def timed(command):
    """Its time, its processor time, and the most memory it had. Its output is dropped."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        status, used = os.wait4(child.pid, 0)[1:]
        took = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def commands(args, copy):
    """What is timed, by name."""
    def ours(build, *words):
        return [os.path.join(build, "cli", "chistore"), "-a", args.store, *words]
    listed = {"publish": ours(args.build, "publish", copy),
              "publish --verify": ours(args.build, "publish", "--verify", copy),
              "backup": ours(args.build, "backup", copy)}
    if args.before is not None:
        listed["publish, before"] = ours(args.before, "publish", copy)
        listed["backup, before"] = ours(args.before, "backup", copy)
    listed["cp"] = ["cp", os.path.join(args.store, "data.mdb"), copy]
    return listed


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("store")
    parser.add_argument("--before")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        copy = os.path.join(folder, "copy")
        listed = commands(args, copy)
        figures = {name: [] for name in listed}
        for _ in range(args.turns):
            for name, command in listed.items():
                figures[name].append(timed(command))
                remove(copy)
    for name, rows in figures.items():
        took, used, memory = (statistics.median(row) for row in zip(*rows))
        print(f"{name}\t{took:.2f}\t{used:.2f}\t{memory:.0f}")


if __name__ == "__main__":
    main()
