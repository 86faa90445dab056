#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every function that the library exports is called by the test of memory that runs out.

    test_nomem_calls.py TEST_SOURCE SYMBOLS
"""

import re
import sys


def uncalled(source, symbols):
    exported = re.findall(r"^\t(chi_\w+);$", symbols, re.M)
    return [name for name in exported if not re.search(rf"\b{name}\(", source)]


with open(sys.argv[1], encoding="utf-8") as file:
    SOURCE = file.read()
with open(sys.argv[2], encoding="utf-8") as file:
    SYMBOLS = file.read()

# The check sees what it is to see.
assert uncalled(SOURCE, SYMBOLS + "\tchi_planted;\n")[-1:] == ["chi_planted"]
missing = uncalled(SOURCE, SYMBOLS)
if missing:
    sys.exit("test_nomem.c calls no " + ", ".join(missing))
