#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every function that the library exports is called by the test of memory that runs out.

    test_nomem_calls.py TEST_SOURCE... SYMBOLS
"""

import re
import sys


def uncalled(source, symbols):
    exported = re.findall(r"^\t(chi_\w+);$", symbols, re.M)
    return [name for name in exported if not re.search(rf"\b{name}\(", source)]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


SOURCE = "".join(text_of(path) for path in sys.argv[1:-1])
SYMBOLS = text_of(sys.argv[-1])

# The check sees what it is to see.
assert uncalled(SOURCE, SYMBOLS + "\tchi_planted;\n")[-1:] == ["chi_planted"]
missing = uncalled(SOURCE, SYMBOLS)
if missing:
    sys.exit("test_nomem.c calls no " + ", ".join(missing))
