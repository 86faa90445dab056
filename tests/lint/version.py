# SPDX-License-Identifier: MIT
"""The version of the project is in meson.build: the programs say it, the changelog begins with it, Python's
package, which is installed from its folder alone, repeats it, and no other file states one.

    version.py SOURCE_ROOT PROGRAM...
"""

import re
import subprocess
import sys

import tree

NUMBER = r"\d+\.\d+\.\d+"
PLACE = "meson.build"
STATED = re.compile(rf"(?<![a-z-])version[\"_]*\s*[:=]\s*[\"']?{NUMBER}[\"']?\s*(?:,|$)", re.I | re.M)
PROJECT = re.compile(rf"^  version: '({NUMBER})',$", re.M)
# Where it is repeated, and how; a packaging need not be there.
LISTS = (("CHANGELOG.md", rf"^## ({NUMBER}) ", True),
         ("python/pyproject.toml", rf'^version = "({NUMBER})"$', True),
         ("packaging/debian/changelog", rf"\A\S+ \(({NUMBER})[^\d.]", False))


def check_stated(path, text):
    if path in (PLACE, *(name for name, _, _ in LISTS)):
        return []
    return [f"{text.count(chr(10), 0, found.start()) + 1}: states a version, {found[0].strip()}"
            for found in STATED.finditer(text)]


def first_is(pattern, text, version):
    found = re.search(pattern, text, re.M)
    said = found[1] if found else "none"
    return [] if said == version else [f"1: the version is {said}, not {version}"]


def program_faults(program, version):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return [] if version in said.split() else [f"{program} says {said.strip()}, not {version}"]


def main():
    root, programs = sys.argv[1], sys.argv[2:]
    report = tree.Report()
    paths = [path for path in tree.files(root) if not path.startswith(tree.DATA)]
    stated = PROJECT.findall(tree.read(root, PLACE))
    version = stated[0] if stated else "0.0.0"
    report.line("version: meson.build has one", [] if len(stated) == 1 else [f"{PLACE}: {stated}"])

    for planted in ('version = "N"\n', "__version__ = 'N'\n", '{"version": "N",\n'):
        report.planted("version", check_stated, "x.py", planted.replace("N", "9.8.7"))
    report.clean("version", check_stated, "x.py", "meson_version: '>= 1.0.1',\nversion: project\n")
    report.over("no other file states one", check_stated, root, paths)

    report.planted("lists", lambda path, text: first_is(LISTS[0][1], text, version), "x.md",
                   "# Changes\n\n## 9.8.7 (unreleased)\n")
    for path, pattern, needed in LISTS:
        if needed or path in paths:
            report.line(f"{path} has it", first_is(pattern, tree.read(root, path), version))
    for program in programs:
        report.line("a program says it", program_faults(program, version))
    report.finish()


main()
