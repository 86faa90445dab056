# SPDX-License-Identifier: MIT
"""Runs shellcheck over the shell scripts, mandoc's lint over the man pages, and deps.sh beside one that
installs packages.

    tools.py SOURCE_ROOT
"""

import os
import re
import subprocess
import sys
import tempfile

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
    # In an argument it begins a comment, and the rest of the line is not shown.
    faults += [f"{number}: text behind \\\" is a comment" for number, line in enumerate(text.splitlines(), 1)
               if '\\"' in re.sub(r'^[.\']\\".*|\\\\', "", line)]
    # Complaints about what the page refers to depend on the machine, not on the page.
    return [re.sub(r"^mandoc: <stdin>:", "", f) for f in faults if "referenced manual" not in f]


# What deps.sh calls: nothing is installed, and apt-get finds the lists locked twice.
APT = {
    "dpkg-query": "exit 1",
    "id": "echo 0",
    "sleep": "echo sleep >>\"$LOG\"",
    "apt-get": "echo \"$*\" >>\"$LOG\"; [ \"$(grep -c sleep \"$LOG\")\" -ge \"$LOCKED\" ] || "
               "{ echo 'E: Could not get lock /lists/lock' >&2; exit 100; }",
}


def check_waits(path, locked):
    """How deps.sh ends, and what it called, where the lock is held for so many tries."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in APT.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(file.name, 0o755)
        log = os.path.join(folder, "log")
        env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", LOG=log, LOCKED=str(locked))
        open(log, "w", encoding="utf-8").close()
        code = subprocess.run([path, "coverage"], env=env, capture_output=True, check=False).returncode
        with open(log, encoding="utf-8") as file:
            calls = file.read().splitlines()
    installs = [c for c in calls if "install" in c.split()]
    return ([] if code == 0 else [f"ended with {code}"]) + [
        f"does not wait for dpkg's lock: {c}" for c in installs if "DPkg::Lock::Timeout=" not in c] + (
        [] if calls.count("sleep") == locked and installs else [f"called {len(calls)} commands"])


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = tree.files(root)
    report.planted("shellcheck", check_shell, "x.sh", "#!/bin/sh\nrm $1\n")
    report.clean("shellcheck", check_shell, "x.sh", "#!/bin/sh\nrm -- \"$1\"\n")
    report.over("shellcheck", check_shell, root, [p for p in paths if is_script(root, p)])
    page = ".Dd $Mdocdate$\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n"
    report.planted("mandoc", check_page, "x.1", page + ".Nonesuch\n")
    report.planted("mandoc", check_page, "x.1", page + ".Sh DESCRIPTION\nThe option \"\\\"Move Overhead\\\"\".\n")
    report.over("mandoc", check_page, root,
                [p for p in paths if PAGE.search(p) and not p.startswith("tests/")])
    deps = os.path.join(root, "tools/deps.sh")
    report.planted("a lock that stays", check_waits, deps, 1000)
    report.line("deps.sh waits for apt's locks", check_waits(deps, 2))
    report.finish()


main()
