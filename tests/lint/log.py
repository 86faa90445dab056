# SPDX-License-Identifier: MIT
"""Calls of the daemon's log: each place in a message has its field, names are ones that programs
can rely on, and no field is called like what every line has.

    log.py SOURCE_ROOT BUILD_ROOT
"""

import os
import re
import sys

import tree

CALL = re.compile(r"\b(?:log_(?:limited_)?(?:error|warning|info|debug)|CHI_LOG_AT)\(")
STRINGS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
FIELD = re.compile(r'\blog_(?:text|number|seconds)\(\s*"([^"]*)"')
RESERVED = {"time", "level", "event", "message", "pid", "truncated"}


def arguments(text, start):
    """What is between the parentheses, the first of which is before `start`."""
    depth, at = 1, start
    while depth and at < len(text):
        if text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end() - 1
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def literal(strings):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))


def check_call(call):
    head = re.search(STRINGS + r",\s*" + STRINGS, call)
    if head is None:
        return ["neither name nor message are constants"]
    name, message = literal(head.group(1)), literal(head.group(2))
    keys = FIELD.findall(call)
    faults = []
    if not re.fullmatch(r"[a-z_]+(\.[a-z_]+)?", name):
        faults.append(f"'{name}' is no name of an event")
    faults += [f"no field '{place}'" for place in re.findall(r"\{(.*?)\}", message)
               if place not in keys]
    faults += [f"'{key}' is no name of a field" for key in keys
               if key in RESERVED or not re.fullmatch(r"[a-z_]+", key)]
    faults += [f"two fields '{key}'" for key in set(keys) if keys.count(key) > 1]
    return faults


def check(path, text):
    text = re.sub(r"(?m)^#define .*(?:\\\n.*)*|/\*[\s\S]*?\*/",
                  lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    faults = []
    for call in CALL.finditer(text):
        line = text.count("\n", 0, call.start()) + 1
        faults += [f"{line}: {fault}" for fault in check_call(arguments(text, call.end()))]
    return faults


def main():
    root = os.path.abspath(sys.argv[1])
    report = tree.Report()
    for fault in ('log_info("x", "a {b}", log_text("c", d));', 'log_info("x y", "a");',
                  'log_debug("x", "a", log_number("pid", f(1)));', 'log_error("x", text);',
                  'log_error("x", "a" " {b}", log_text("b", ")"), log_text("b", "x"));'):
        report.planted("log", check, "x.c", fault + "\n")
    report.clean("log", check, "x.c",
                 'log_limited_info("a.b_c", "{d} " "\\"e\\"", log_text("d", f(")", g())));\n')
    report.over("calls of the log", check, root,
                [p for p in tree.files(root) if p.startswith(("daemon/", "service/", "http/")) and p.endswith(".c")])
    report.finish()


main()
