# SPDX-License-Identifier: MIT
"""Holds the names that a debugger shows: a tag has one body and is no function's name, too, and the
name of a static function says what it does, as a backtrace shows nothing else of it.

    identifiers.py SOURCE_ROOT
"""

import collections
import functools
import re
import sys

import tree

# Say only that something is done. `run <- run <- begin <- run` is no backtrace: put the noun in.
BARE = {"run", "begin", "take", "add", "refuse", "settle"}

# So many static functions of the product may have one name. The number only sinks.
REPEATED_MAX = 3

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
# An attribute or a macro for one stands before the name, too; neither is written like a function.
CALLED = re.compile(r"\b(?!__attribute__)([a-z_]\w*)\s*\(")


def blank(match):
    return "\n".join(" " * len(line) for line in match[0].split("\n"))


@functools.cache
def code(text):
    """Without comments, texts and directives; lines keep their numbers."""
    return DIRECTIVE.sub(blank, COMMENT_OR_TEXT.sub(blank, text))


def tags(text):
    """(line, tag) of those that get their body here."""
    text = code(text)
    return [(text.count("\n", 0, m.start()) + 1, m[1]) for m in TAG.finditer(text)]


@functools.cache
def functions(text):
    """(line, name, whether it is static) of the functions defined here. A body begins with a brace
    alone on its line, which is clang-format's."""
    text = code(text)
    found = []
    end = 0
    for body in re.finditer(r"^\{\n.*?^\}", text, re.M | re.S):
        start = max(text.rfind(c, end, body.start()) for c in ";}") + 1
        head = text[max(start, end):body.start()]
        name = CALLED.search(head)
        if name:
            found.append((text.count("\n", 0, max(start, end) + name.start()) + 1, name[1],
                          re.search(r"\bstatic\b", head) is not None))
        end = body.end()
    return found


def statics(text):
    return [(line, name) for line, name, is_static in functions(text) if is_static]


def is_test(path):
    return path.startswith("tests/")


def is_product(path):
    return not path.startswith(("tests/", "bench/", "examples/"))


class Tags:
    """A check over all files: a tag that begins with chi_, or that stands in a header, has one body.
    Sources of tests may define what only headers of others define, and their own."""

    def __init__(self, texts):
        self.found = collections.defaultdict(list)
        for path, text in texts.items():
            for line, tag in tags(text):
                self.found[tag].append((path, line))

    def check(self, path, text):
        faults = []
        for line, tag in tags(text):
            here = self.found[tag]
            if not tag.startswith("chi_"):
                here = [p for p in here if p[0].endswith(".h") or not is_test(p[0])]
                # A test's header may be named like a source's, as no file sees both.
                headers = [p for p in here if p[0].endswith(".h")]
                if all(is_test(p[0]) for p in headers):
                    here = headers
                if not headers or (path, line) not in here:
                    continue
            others = [f"{p}:{n}" for p, n in here if (p, n) != (path, line)]
            if others:
                faults.append(f"{line}: '{tag}' has another body in {others[0]}")
        return faults


class Both:
    """A check over all files: a name is a tag's or a function's. `chi_take` says what is done, and
    `struct chi_take` what it is done with: a reader, a binding and a tool that looks for one find
    the other."""

    def __init__(self, texts):
        self.tags = {tag for text in texts.values() for _, tag in tags(text)}

    def check(self, path, text):
        return [f"{line}: function '{name}' is named as a struct or an enum is"
                for line, name, _ in functions(text) if name.startswith("chi_") and name in self.tags]


def check_bare(path, text):
    return [f"{line}: static '{name}' does not say what; put the noun in"
            for line, name in statics(text) if name in BARE]


class Repeated:
    """A check over all files: no name is that of more than so many static functions."""

    def __init__(self, texts):
        self.count = collections.Counter(
            name for text in texts.values() for _, name in statics(text))

    def check(self, path, text):
        return [f"{line}: one of {self.count[name]} static functions '{name}'"
                for line, name in statics(text) if self.count[name] > REPEATED_MAX]

    def sinks(self):
        most = max(self.count.values(), default=0)
        if most < REPEATED_MAX:
            return [f"the most repeated name stands {most} times: let REPEATED_MAX be {most}"]
        return []


def plant_tags(report):
    """Pairs of files, and whether their tags clash."""
    body = "struct %s {\n\tint x;\n};\n"
    for a, b, tag, clash in (
            ("x/a.h", "y/b.h", "part", True),
            ("x/a.h", "y/b.c", "part", True),
            ("x/a.c", "y/b.c", "chi_part", True),
            ("x/a.c", "tests/b.c", "chi_part", True),
            ("x/a.h", "tests/b.h", "part", True),
            ("tests/x/a.h", "tests/y/b.h", "part", True),
            ("x/a.c", "y/b.c", "part", False),
            ("x/a.c", "tests/b.h", "part", False),
            ("x/a.h", "tests/b.c", "part", False)):
        text = body % tag
        check = Tags({a: text, b: text}).check
        if clash:
            report.planted(f"tags of {a} and {b}", check, a, text)
        else:
            report.clean(f"tags of {a} and {b}", check, a, text)
    one = {"x.h": body % "chi_part", "y.c": "int chi_part(void)\n{\n}\n"}
    report.planted("tags and functions", Both(one).check, "y.c", one["y.c"])
    report.clean("tags and functions", Both(one).check, "y.c", "int chi_apart(void)\n{\n}\n")


def plant_statics(report):
    report.planted("bare names", check_bare, "x.c", "static int run(void)\n{\n\tf();\n}\n")
    report.planted("bare names with attributes", check_bare, "x.c",
                   "int a[] = {1};\n\n__attribute__((cold)) CHI_PRINTF(1, 2) static struct s *\nadd(\n"
                   "\tconst char *f)\n{\n}\n")
    report.clean("bare names", check_bare, "x.c",
                 "/* static run( */\nint run(void)\n{\n\treturn add(1);\n}\n\n"
                 "static int run_load(int run)\n{\n\tstatic int settle;\n}\n")
    text = "static int f%s(void)\n{\n}\n\n"
    most = "".join(text % "" for _ in range(REPEATED_MAX))
    report.planted("repeated names", Repeated({"x.c": most, "y.c": text % ""}).check, "x.c", most)
    report.clean("repeated names", Repeated({"x.c": most, "y.c": text % 2}).check, "x.c", most)


def main():
    root = sys.argv[1]
    report = tree.Report()
    paths = [p for p in tree.files(root) if p.endswith((".c", ".h"))]
    texts = {p: tree.read(root, p) or "" for p in paths}
    product = {p: text for p, text in texts.items() if is_product(p)}

    plant_tags(report)
    report.over("tags", Tags(texts).check, root, paths)
    report.over("tags and functions", Both(texts).check, root, paths)

    plant_statics(report)
    report.over("bare names", check_bare, root, [p for p in texts if not is_test(p)])
    repeated = Repeated(product)
    report.over("repeated names", repeated.check, root, product)
    report.line("repeated names: the limit is what is reached", repeated.sinks())
    report.finish()


main()
