# SPDX-License-Identifier: MIT
"""Holds the form of the sources: clang-format, the sizes of files and functions, blanks, licence.

    style.py SOURCE_ROOT
"""

import os
import re
import subprocess
import sys

import tree

# The version, Debian 12's, whose form the sources have: later ones break some lines elsewhere.
CLANG_FORMAT = "14"
FILE_LINES_MAX = 900
FUNCTION_LINES_MAX = 60
SPDX = "SPDX-License-" + "Identifier: MIT"
LICENSED = (".c", ".h", ".py", ".sh", ".js", ".css", ".proto", "meson.build", "meson_options.txt",
            "Makefile")

DATA_ENDS = (".epd", ".csv", ".tsv", ".pgn", ".hex", ".patch")


def check_length(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES_MAX:
        return [f"{lines}: more than {FILE_LINES_MAX} lines; split by noun"]
    return []


def check_blanks(path, text):
    faults = [
        f"{number}: blank at the end of the line"
        for number, line in enumerate(text.split("\n"), 1)
        if line.endswith((" ", "\t", "\r"))
    ]
    if text and not text.endswith("\n"):
        faults.append("0: no line feed at the end of the file")
    if text.endswith("\n\n"):
        faults.append("0: empty lines at the end of the file")
    return faults


def check_licence(path, text):
    head = text.split("\n", 2)[:2]
    first = head[1] if head[0].startswith("#!") and len(head) > 1 else head[0]
    return [] if SPDX in first else [f"1: the first line is not '{SPDX}'"]


def check_functions(path, text):
    """Lines from a function's name to its closing brace, which are alone on their lines
    in what clang-format has formatted."""
    faults = []
    first = start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"[a-zA-Z].*\(", line):
            first = number
        elif line == "{":
            start = first
        elif line == "}" and start:
            if number - start + 1 > FUNCTION_LINES_MAX:
                faults.append(f"{start}: a function of {number - start + 1} lines")
            start = 0
    return faults


def format_faults(root, paths):
    """clang-format's complaints, one a file."""
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=False).stdout
    if f"version {CLANG_FORMAT}." not in version:
        print(f"# form not compared, as clang-format {CLANG_FORMAT} is not here: {version.strip()}")
        return []
    result = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *paths],
        cwd=root, capture_output=True, text=True, check=False)
    faults = sorted(set(re.findall(r"^([^:\s]+:\d+):\d+: error", result.stderr, re.M)))
    if result.returncode != 0 and not faults:
        faults = result.stderr.splitlines()[:5]
    return [f"{fault}: run make format" for fault in faults]


def check_format(path, text):
    """For the planted fault: the configuration is that of the project."""
    root = sys.argv[1]
    result = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", f"--assume-filename={os.path.join(root, path)}"],
        input=text, cwd=root, capture_output=True, text=True, check=False)
    return [result.stderr] if result.returncode != 0 else []


def check_python(path, text):
    try:
        compile(text, path, "exec")
    except SyntaxError as error:
        return [f"{error.lineno}: {error.msg}"]
    return []


# Folders from which tests/mutants/run.py imports: of two of one name it would take the first.
IMPORTED_TOGETHER = ("tests/lint", "tests/mutants")


def same_names(paths):
    taken = {}
    modules = [p for p in paths if os.path.dirname(p) in IMPORTED_TOGETHER and p.endswith(".py")]
    return [f"{path}: {taken[os.path.basename(path)]} has the same name" for path in modules
            if taken.setdefault(os.path.basename(path), path) != path]


def check_names(path, text):
    """For the planted fault: beside the file are those of the text."""
    return same_names([path, *text.split()])


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = [p for p in tree.files(root) if not p.startswith(tree.DATA)]
    sources = [p for p in paths if p.endswith((".c", ".h"))]
    scripts = [p for p in paths if p.endswith((".js", ".css"))]
    texts = [p for p in paths if not p.endswith(DATA_ENDS)]

    report.planted("file length", check_length, "x.c", "\n" * (FILE_LINES_MAX + 1))
    report.clean("file length", check_length, "x.c", "\n" * FILE_LINES_MAX)
    report.over("file length", check_length, root, [*sources, *scripts])

    body = "int f(void)\n{\n" + "\tg();\n" * (FUNCTION_LINES_MAX - 3) + "}\n"
    report.planted("function length", check_functions, "x.c", body.replace("}", "\tg();\n}"))
    report.clean("function length", check_functions, "x.c", body)
    report.over("function length", check_functions, root, sources)

    report.planted("blanks", check_blanks, "x.c", "int x; \n")
    report.planted("blanks at the end", check_blanks, "x.c", "int x;\n\n")
    report.over("blanks", check_blanks, root, texts)

    report.planted("licence", check_licence, "x.c", "int x;\n")
    report.clean("licence", check_licence, "x.sh", f"#!/bin/sh\n# {SPDX}\n")
    report.over("licence", check_licence, root, [p for p in paths if p.endswith(LICENSED)])

    report.planted("format", check_format, "x.c", "int f (void) { return 1; }\n")
    report.clean("format", check_format, "x.c", "int f(void)\n{\n\treturn 1;\n}\n")
    report.line(f"format ({len(sources)} files)", format_faults(root, sources))

    report.planted("Python syntax", check_python, "x.py", "def f(:\n")
    report.over("Python syntax", check_python, root, [p for p in paths if p.endswith(".py")])

    report.planted("module names", check_names, "tests/mutants/x.py", "tests/lint/x.py")
    report.clean("module names", check_names, "tests/mutants/x.py", "tests/lint/y.py tests/web/x.py tools/x.py")
    report.line("module names", same_names(paths))
    report.finish()


main()
