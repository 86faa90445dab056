# SPDX-License-Identifier: MIT
"""What the checks of the tree share: the list of its files, and a report in TAP.

A check is a function (path, text) -> list of "line: what is wrong". Each script first gives its
checks a planted fault: a check that finds nothing there would find nothing anywhere, and fails.
"""

import os
import sys

SKIPPED_DIRS = {".git", "__pycache__", ".cache"}

# Text that others or earlier versions wrote, or that is meant to be odd.
DATA = ("tests/data/", "tests/fuzz/corpus/", "tests/golden/releases/", "LICENSES/")


def files(root):
    """Paths relative to root, sorted, without build directories."""
    found = []
    for folder, dirs, names in os.walk(root):
        top = os.path.samefile(folder, root)
        dirs[:] = sorted(
            d for d in dirs if d not in SKIPPED_DIRS and not (top and d.startswith("build"))
        )
        # In a linked work tree .git is a file.
        names = [name for name in names if name not in SKIPPED_DIRS]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def read(root, path):
    """The text of a file, or None if it is binary."""
    with open(os.path.join(root, path), "rb") as file:
        data = file.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


class Report:
    """TAP: one line for each check, the faults below it as comments."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def line(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.count} - {name}")
        for fault in faults:
            print(f"# {fault}")

    def planted(self, name, check, path, text):
        """The check must find something in (path, text)."""
        faults = [] if check(path, text) else [f"the planted fault in {path} was not found"]
        self.line(f"{name}: finds a planted fault", faults)

    def clean(self, name, check, path, text):
        """The check must find nothing in (path, text)."""
        self.line(f"{name}: accepts what is right", check(path, text))

    def over(self, name, check, root, paths):
        faults = []
        checked = 0
        for path in paths:
            text = read(root, path)
            if text is not None:
                checked += 1
                faults += [f"{path}:{fault}" for fault in check(path, text)]
        if checked == 0:
            faults = ["no file was checked"]
        self.line(f"{name} ({checked} files)", faults)

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
