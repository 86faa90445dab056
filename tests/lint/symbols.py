# SPDX-License-Identifier: MIT
"""Compares what the shared library exports with its symbol list and with the public headers.

    symbols.py SOURCE_ROOT LIBRARY.so SYMBOL_LIST
"""

import re
import subprocess
import sys

import tree

HEADERS = ("include/chistore.h", "include/chistore/types.h", "include/chistore/games.h",
           "include/chistore/names.h", "include/chistore/search.h", "include/chistore/insight.h", "include/chistore/queue.h", "include/chistore/imports.h")


def exported(library):
    """Names of functions and data the dynamic linker can see."""
    output = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in output.splitlines()]
    # 'A' is the name of a symbol version, and no symbol.
    names = {row[-1].split("@")[0] for row in rows if row[-2] != "A"}
    return {name for name in names if not name.startswith(("__asan", "__ubsan", "__odr_asan"))}


def listed(text):
    """Names in the 'global:' parts of a version script, one a version."""
    parts = re.findall(r"global:(.*?)(?:local:|\})", strip_comments(text), re.S)
    return set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", " ".join(parts)))


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|#[^\n]*", "", text, flags=re.S)


def declared(text):
    """Functions a header declares: names before a parenthesis, outside comments and bodies."""
    code = re.sub(r"\{[^{}]*\}", "", strip_comments(text))
    # A callback's type has its name inside parentheses: (*name)(...) or name as typedef.
    code = re.sub(r"typedef[^;]*;", "", code)
    return set(re.findall(r"\b(chi_[a-z0-9_]+)\s*\(", code))


def difference(left, right, text):
    return [f"{name}: {text}" for name in sorted(left - right)]


def self_test(report):
    header = "/* chi_a(x) */ int chi_b(int x);\ntypedef int chi_c(int);\n#define D chi_d(1)\n"
    faults = [] if declared(header) == {"chi_b"} else [f"saw {declared(header)}"]
    report.line("symbols: reads a header", faults)
    script = "V {\n\tglobal:\n\t\tchi_a;\n\t\tchi_b; /* chi_c */\n\tlocal:\n\t\t*;\n};\n"
    faults = [] if listed(script) == {"chi_a", "chi_b"} else [f"saw {listed(script)}"]
    report.line("symbols: reads a version script", faults)
    later = script + "V_1 {\n\tglobal:\n\t\tchi_d;\n} V;\n"
    faults = [] if listed(later) == {"chi_a", "chi_b", "chi_d"} else [f"saw {listed(later)}"]
    report.line("symbols: reads a second version", faults)
    faults = [] if difference({"a"}, {"b"}, "x") else ["a difference was not found"]
    report.line("symbols: finds a planted fault", faults)


def main():
    root, library, script = sys.argv[1:4]
    report = tree.Report()
    self_test(report)
    names = exported(library)
    with open(script, encoding="utf-8") as file:
        wanted = listed(file.read())
    public = set()
    for header in HEADERS:
        public |= declared(tree.read(root, header))
    report.line("the library exports something", [] if names else ["nothing is exported"])
    report.line("all that is exported is listed",
                difference(names, wanted, "exported, but not in the symbol list"))
    report.line("all that is listed is exported",
                difference(wanted, names, "in the symbol list, but not exported"))
    report.line("all that is exported is declared",
                difference(names, public, "exported, but not in a public header"))
    report.line("all that is declared is exported",
                difference(public, names, "in a public header, but not exported"))
    report.finish()


main()
