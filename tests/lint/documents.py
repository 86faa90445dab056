# SPDX-License-Identifier: MIT
"""Links in the documents lead somewhere, in the tree and in the document itself, and codespell finds no word in
documents, manual pages and sources.

    documents.py SOURCE_ROOT
"""

import os
import re
import subprocess
import sys

import tree

# Not words of prose: mdoc's Nd and .bu, names in the sources and of files.
WORDS = "nd,bu,acn,upto,statics,ue,smove,get's,importend"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(text):
    """Without blocks and words of code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


def anchors(text):
    """What GitHub calls the headings, as pandoc does."""
    headings = re.findall(r"(?m)^#+ +(.*)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(root):
    def check(path, text):
        faults = []
        for target in LINK.findall(prose(text)):
            file, _, anchor = target.partition("#")
            if re.match(r"\w+:", target):
                continue
            at = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            there = tree.read(root, at) if os.path.isfile(os.path.join(root, at)) else None
            if there is None and not os.path.exists(os.path.join(root, at)):
                faults.append(f" {target} is not there")
            elif anchor and anchor not in anchors(text if not file else there or ""):
                faults.append(f" {target}: no such heading")
        return faults
    return check


def spelling(root, paths):
    done = subprocess.run(["codespell", "-L", WORDS, *paths], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() + ([done.stderr] if done.returncode not in (0, 65) else [])


def main(root):
    report = tree.Report()
    files = tree.files(root)
    pages = [path for path in files if path.endswith(".md")]
    for wrong in ("[x](nowhere.md)", "[x](#no-heading)", "[x](README.md#no-heading)"):
        report.planted("links", links(root), "README.md", f"# Title\n{wrong}\n")
    report.clean("links", links(root), "README.md", "# A `b` title\n[x](#a-b-title) [x](docs/) `[x](no.md)` [x](https://example.org)\n")
    report.over("links", links(root), root, pages)
    texts = [path for path in files if path.endswith((".md", ".c", ".h", ".proto", ".sh")) or re.search(r"\.[1-8]$", path)]
    texts = [path for path in texts if not path.startswith(("tests/", "bench/data"))]
    planted = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"chistore-spelling-{os.getpid()}.md")
    with open(planted, "w", encoding="utf-8") as file:
        file.write("It is " + "recie" + "ved.\n")
    found = spelling(root, [planted])
    os.remove(planted)
    report.line("spelling: finds a planted fault", [] if found else ["the planted fault was not found"])
    report.line(f"spelling ({len(texts)} files)", spelling(root, texts))
    report.finish()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
