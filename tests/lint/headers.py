# SPDX-License-Identifier: MIT
"""Compiles each header alone, so that none leans on what happens to be included before it; the
installed ones also as C++, and without the project's own settings. A header that a source includes
first is compiled alone with it, by every build, and is not compiled here again.

    headers.py SOURCE_ROOT BUILD_ROOT

BUILD_ROOT has the headers that are generated.
"""

import os
import re
import subprocess
import sys

import tree

ROOMS = ("base/", "import/", "chess/", "client/", "daemon/", "http/", "service/", "include/", "proto/", "store/")


def syntax(command, text):
    result = subprocess.run(
        [*command, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-"],
        input=text, cwd="/", capture_output=True, text=True, check=False)
    return [f"0: {line}" for line in result.stderr.splitlines() if "error:" in line][:3]


def check_c(path, text):
    root, build = map(os.path.abspath, sys.argv[1:3])
    return syntax(["cc", "-std=c11", "-D_GNU_SOURCE", "-I", root, "-I", f"{root}/include",
                   "-I", build, "-x", "c"], text)


def check_installed(path, text):
    """As a program sees it: /usr/include alone, strict C and C++."""
    root = os.path.abspath(sys.argv[1])
    faults = []
    for command in (["cc", "-std=c11", "-pedantic", "-x", "c"],
                    ["c++", "-std=c++11", "-pedantic", "-x", "c++"]):
        faults += syntax([*command, "-I", f"{root}/include"], text)
    return faults


def check_sized(path, text):
    """Options and specs of installed headers begin with their size, and have an initialiser."""
    faults = []
    for match in re.finditer(
            r"^struct (chi_\w+_(?:spec|options)) \{\n(.*?)^\};\n([^\n]*\n?)", text, re.M | re.S):
        name, body, rest = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if not body.startswith("\tsize_t size;\n"):
            faults.append(f"{line}: struct {name} does not begin with its size")
        if not rest.startswith(f"#define {name.upper()}_INIT .size = sizeof(struct {name})\n"):
            faults.append(f"{line}: struct {name} has no initialiser behind it")
    return faults


def begun_with(root):
    """What sources of the project include first."""
    begun = set()
    for path in tree.files(root):
        if path.endswith(".c"):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                begun.update(re.findall(r"\A.*?^#include [\"<]([^\">]+)", file.read(), re.M | re.S))
    return begun


def include(path, text):
    return check_c(path, f'#include "{path}"\n')


def include_installed(path, text):
    header = path.removeprefix("include/")
    return check_installed(path, f"#include <{header}>\n")


def main():
    root = os.path.abspath(sys.argv[1])
    report = tree.Report()
    headers = [p for p in tree.files(root) if p.endswith(".h") and p.startswith(ROOMS)]
    report.planted("header", check_c, "x.h", "static inline size_t f(void) { return 0; }\n")
    begun = begun_with(root)
    report.over("each header compiles alone", include, root,
                [p for p in headers if p.removeprefix("include/") not in begun])
    report.planted("installed header", check_installed, "x.h", '#include "base/num.h"\n')
    report.planted("installed header", check_installed, "x.h", "enum x { A } class;\n")
    report.planted("options", check_sized, "x.h", "struct chi_x_options {\n\tint a;\n};\n")
    report.planted("specs", check_sized, "x.h", "struct chi_x_spec {\n\tsize_t size;\n};\n")
    report.over("options and specs have sizes", check_sized, root,
                [p for p in headers if p.startswith("include/")])
    report.over("installed headers compile as C and C++", include_installed, root,
                [p for p in headers if p.startswith("include/")])
    report.finish()


main()
