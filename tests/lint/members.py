# SPDX-License-Identifier: MIT
"""Every member of a struct that travels has a row in a table of proto/. One without it would be lost
on every path alike, and no comparison of two paths would tell.

    members.py SOURCE_ROOT BUILD_ROOT
"""

import os
import re
import sys

import tree

# What they carry is in unions, each with its own tables.
ENVELOPES = {"chi_request", "chi_response", "chi_outcome"}

# Members that are never sent, or that functions beside the rows read and write.
BY_HAND = {
    "chi_cursor": {"set"},  # whether it was sent at all
    "chi_range": {"set"},
    "chi_eval": {"is_mate", "score"},  # one of two fields
    "chi_game": {"head", "has_start", "moves", "n_plies"},  # the row's; of what is packed
    "chi_idempotency_key": {"peer"},  # a server's own
    "chi_info": {"shards"},  # of what no server serves
    "chi_put_request": {"fens", "games", "n_games"},  # those of entries; packed
    "chi_scan_page": {"want", "rows"},  # which of the fields it has; packed
    "chi_scan_request": {"spec.filter.has_material", "spec.filter.material"},  # read from its text
}


def bare(text):
    """Without comments, and with lines that go on joined."""
    return re.sub(r"\\\n", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


def structs_of(text):
    """{tag: {member: tag of its struct, if it is one, or None}}; those of a union are the struct's."""
    found = {}
    for tag, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", bare(text), re.M | re.S):
        members = found[tag] = {}
        body = re.sub(r"\b(union|struct) \{|\};", " ", body)
        for statement in body.split(";"):
            for part in statement.split(","):
                name = re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", re.sub(r":\s*\d+\s*$", "", part))
                if name:
                    inner = re.match(r"\s*struct (\w+) \w+\s*$", part)
                    members[name[1]] = inner[1] if inner else None
    return found


def expanded(text):
    """Short names of structs, and macros of rows, replaced by what they stand for."""
    for name, words in re.findall(r"^#define (\w+)\s+(struct \w+)\s*$", text, re.M):
        text = re.sub(rf"\b{name}\b", words, text)
    for name, arguments, words in re.findall(r"^#define ([A-Z]\w+)(?:\(([\w, ]*)\))?\s+(\w.*)$", text, re.M):
        names = [a.strip() for a in arguments.split(",")] if arguments else []

        def put(match, names=names, words=words):
            given = [a.strip() for a in (match[1] or "").split(",")]
            for a, b in zip(names, given):
                words = re.sub(rf"\b{a}\b", b, words)
            return words
        if "CHI_M" in words:
            call = r"\(([^()]*)\)" if names else r"()"
            text = re.sub(rf"(?<!#define )\b{name}\b{call}", put, text)
    return text


def rows_of(text):
    """{tag: the paths in it that rows name}."""
    found = {}
    for table in re.findall(r"^static const struct chi_member \w+\[\] = \{(.*?)\};", expanded(bare(text)),
                            re.M | re.S):
        for tag, paths in re.findall(r"struct (\w+)((?:, [a-z_][\w.]*)+)", table.replace(". ", ".")):
            found.setdefault(tag, set()).update(re.findall(r"[\w.]+", paths))
    return found


def uncovered(tag, paths, structs, at=""):
    """The paths of its members that none of the rows names."""
    found = []
    for member, inner in structs[tag].items():
        path = at + member
        if path in paths:
            continue
        if inner in structs and any(other.startswith(path + ".") for other in paths):
            found += uncovered(inner, paths, structs, path + ".")
        else:
            found.append(path)
    return found


def check(structs, rows, by_hand):
    faults = [f"struct {tag} has no rows" for tag in by_hand.keys() - rows.keys()]
    for tag, paths in sorted(rows.items()):
        if tag in ENVELOPES:
            continue
        if tag not in structs:
            faults.append(f"struct {tag} was not found")
            continue
        # A caller's struct begins with its own size.
        without = [path for path in uncovered(tag, paths, structs) if path.rpartition(".")[2] != "size"]
        known = by_hand.get(tag, set())
        faults += [f"struct {tag}: no row for '{path}'" for path in without if path not in known]
        faults += [f"struct {tag}: '{path}' has a row" for path in known if path not in without]
    return faults


def main():
    root = os.path.abspath(sys.argv[1])
    report = tree.Report()
    paths = tree.files(root)
    structs, rows = {}, {}
    for path in paths:
        if path.endswith((".c", ".h")) and path.startswith(("include/", "base/", "proto/", "ops/")):
            structs |= structs_of(tree.read(root, path))
        if path.startswith("proto/") and path.endswith(".c"):
            shared = tree.read(root, "proto/operations.h")
            shared = "\n".join(re.findall(r"^#define CHI_M_POSITIONS.*$", bare(shared), re.M)) + "\n"
            for tag, named in rows_of(shared + tree.read(root, path)).items():
                rows.setdefault(tag, set()).update(named)

    def planted(_, text):
        header, _, table = text.partition("---")
        return check(structs_of(header), rows_of(table), {})

    good = ("struct b {\n\tint x, y[2];\n};\nstruct a {\n\tstruct b b;\n\tbool set;\n\tunsigned z : 2;\n};\n---"
            "\n#define A struct a\n#define TWO(n) CHI_M(1, A, b.x), CHI_M(2, A, n)\n"
            "static const struct chi_member t[] = {\n\tTWO(b.y), CHI_M_BYTES(3, A, set, z),\n};\n")
    report.clean("members", planted, "a struct", good)
    for old, new in (("y[2]", "y[2], w"), ("bool set", "bool set, other"), (", set, z", ", set")):
        report.planted("members", planted, "a struct", good.replace(old, new))
    report.line("members: every one has a row",
                check(structs, rows, BY_HAND) if len(rows) > 40 else [f"only {len(rows)} structs"])
    report.finish()


main()
