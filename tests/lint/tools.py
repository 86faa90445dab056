# SPDX-License-Identifier: MIT
"""Runs shellcheck over the shell scripts and mandoc's lint over the man pages.

    tools.py SOURCE_ROOT
"""

import re
import subprocess
import sys

import tree

SHELL = re.compile(r"^#!\s*(/usr)?/bin/(env\s+)?(ba|da)?sh\b")
PAGE = re.compile(r"\.[1-8]$")


def is_script(root, path):
    text = None if path.startswith("tests/fuzz/corpus/") else tree.read(root, path)
    return text is not None and SHELL.match(text) is not None


def run(command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]


def check_shell(path, text):
    faults = run(["shellcheck", "--format=gcc", "-"], text)
    return [re.sub(r"^-:", "", fault) for fault in faults]


def check_page(path, text):
    faults = run(["mandoc", "-T", "lint", "-W", "warning"], text)
    # Complaints about what the page refers to depend on the machine, not on the page.
    return [re.sub(r"^mandoc: <stdin>:", "", f) for f in faults if "referenced manual" not in f]


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = tree.files(root)
    report.planted("shellcheck", check_shell, "x.sh", "#!/bin/sh\nrm $1\n")
    report.clean("shellcheck", check_shell, "x.sh", "#!/bin/sh\nrm -- \"$1\"\n")
    report.over("shellcheck", check_shell, root, [p for p in paths if is_script(root, p)])
    page = ".Dd $Mdocdate$\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n"
    report.planted("mandoc", check_page, "x.1", page + ".Nonesuch\n")
    report.over("mandoc", check_page, root,
                [p for p in paths if PAGE.search(p) and not p.startswith("tests/")])
    report.finish()


main()
