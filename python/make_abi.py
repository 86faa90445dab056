#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes chistore/_abi.py, the ctypes declarations, from the C headers.

    make_abi.py HEADER... > chistore/_abi.py

The headers are plain: enums, structs of simple fields, typedefs of functions, prototypes. What is
written otherwise ends this program with the text it could not read, so that nothing is passed over.
"""

import re
import sys

SIMPLE = {
    "bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "size_t": "c_size_t",
    "int8_t": "c_int8", "int16_t": "c_int16", "int32_t": "c_int32", "int64_t": "c_int64",
    "uint8_t": "c_uint8", "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
    "double": "c_double", "float": "c_float", "chi_move": "c_uint16",
}

HEAD = '''# SPDX-License-Identifier: MIT
"""The C interface as ctypes sees it. Made from the C headers by make_abi.py: do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float,
                    c_int, c_int8, c_int16, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p, sizeof)


class Sized(Structure):
    """What the library reads begins with its size (chistore/types.h)."""

    def __init__(self, *values, **fields):
        super().__init__(*values, **fields)
        self.size = sizeof(self)
'''


class Unreadable(Exception):
    """Text that is no declaration as these headers have them."""


class Abi:
    """What the declarations say, in the order in which Python needs it."""

    def __init__(self):
        self.numbers = {}
        self.structs = {}  # name: [(field, type)]; None: declared, but not said what it holds
        self.functions = {}  # of typedefs: "CFUNCTYPE(...)"
        self.prototypes = {}

    def number(self, text):
        """A constant expression of C."""
        text = re.sub(r"\b(?:U?INT\d+_C)\((\w+)\)", r"\1", text)
        text = text.replace("UINT32_MAX", "0xffffffff")
        return eval(text, {"__builtins__": {}}, self.numbers)  # pylint: disable=eval-used

    def type(self, text):
        """Of a field or an argument without its name: const struct chi_key *"""
        words = re.sub(r"\b(const|volatile|enum \w+)\b",
                       lambda m: "int" if m[0].startswith("enum") else "", text)
        stars = words.count("*")
        words = " ".join(words.replace("*", " ").split())
        if words in SIMPLE:
            if words == "char" and stars == 1:
                return "c_char_p" if "const" in text else "POINTER(c_char)"
            base = SIMPLE[words]
        elif words == "void":
            if stars == 0:
                return "None"
            base, stars = "c_void_p", stars - 1
        elif words in self.functions:
            base, stars = words, stars - 1
        elif words.startswith("struct "):
            base = words[7:]
            self.structs.setdefault(base, None)
        else:
            raise Unreadable(text)
        for _ in range(stars):
            base = f"POINTER({base})"
        return base

    def declared(self, text):
        """(name, type) of a field or an argument; the type "None" for a lone void."""
        match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[[^]]*\])*)", text.strip(), re.S)
        if text.strip() == "void":
            return "", "None"
        if match is None:
            raise Unreadable(text)
        kind = self.type(match[1])
        for size in reversed(re.findall(r"\[([^]]*)\]", match[3])):
            kind = f"{kind} * {self.number(size)}" if size else f"POINTER({kind})"
        return match[2], kind

    def arguments(self, text):
        """The types of a list of arguments. An array is passed as a pointer to what it holds."""
        types = [self.declared(part)[1] for part in text.split(",")]
        types = [re.sub(r"^(\S+) \* \d+$", r"POINTER(\1)", kind) for kind in types]
        return [] if types == ["None"] else types

    def enum(self, body):
        """Values go on from the one before, unless one is given."""
        following = 0
        for part in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (word.strip() for word in part.partition("="))
            following = self.number(value) if value else following
            self.numbers[name] = following
            following += 1

    def struct(self, name, body):
        """A field a semicolon."""
        fields = [self.declared(part) for part in body.split(";") if part.strip()]
        self.structs.pop(name, None)
        self.structs[name] = fields

    def read(self, text):
        """All of a header."""
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
        text = re.sub(r"^#(?!define (?!CHI_MUSTUSE|\w+_INIT )\w+[ \t]+\S).*$", "", text, flags=re.M)
        text = text.replace("CHI_MUSTUSE", "")
        place = re.compile(r"""\s*(?:
            \#define\ (?P<constant>\w+)[ \t]+(?P<value>[^\n]+)
          | enum\s+\w+\s*\{(?P<enum>[^}]*)\}\s*;
          | struct\s+(?P<struct>\w+)\s*\{(?P<fields>[^}]*)\}\s*;
          | struct\s+(?P<opaque>\w+)\s*;
          | typedef\s+(?P<was>[^;(]*?\b)(?P<typedef>\w+)\s*(?:\((?P<given>[^)]*)\))?\s*;
          | (?P<result>[^;{}()]*?[\s*])(?P<function>\w+)\s*\((?P<arguments>[^)]*)\)\s*;
          | $)""", re.X)
        at = 0
        while at < len(text):
            match = place.match(text, at)
            if match is None:
                raise Unreadable(text[at:at + 200])
            at = match.end()
            if match["constant"]:
                self.numbers[match["constant"]] = self.number(match["value"])
            elif match["enum"] is not None:
                self.enum(match["enum"])
            elif match["struct"]:
                self.struct(match["struct"], match["fields"])
            elif match["opaque"]:
                self.structs.setdefault(match["opaque"], None)
            elif match["given"] is not None:
                kinds = [self.type(match["was"])] + self.arguments(match["given"])
                self.functions[match["typedef"]] = f"CFUNCTYPE({', '.join(kinds)})"
            elif match["function"]:
                self.prototypes[match["function"]] = (self.type(match["result"]),
                                                      self.arguments(match["arguments"]))

    def write(self, out):
        """The module."""
        print(HEAD, file=out)
        for name, value in self.numbers.items():
            print(f"{name} = {value}", file=out)
        for name, fields in self.structs.items():
            base = "Sized" if fields and fields[0][0] == "size" else "Structure"
            print(f"\n\nclass {name}({base}):\n    pass", file=out)
        print("\n", file=out)
        for name, text in self.functions.items():
            print(f"{name} = {text}", file=out)
        for name, fields in self.structs.items():
            if fields is not None:
                print(f"{name}._fields_ = [", file=out)
                for field, kind in fields:
                    print(f'    ("{field}", {kind}),', file=out)
                print("]", file=out)
        print("\n# Of each function: what it returns, what it takes.\nFUNCTIONS = {", file=out)
        for name, (result, arguments) in self.prototypes.items():
            print(f'    "{name}": ({result}, [{", ".join(arguments)}]),', file=out)
        print("}", file=out)


def main():
    """The headers in the order of their includes."""
    abi = Abi()
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as header:
            abi.read(header.read())
    abi.write(sys.stdout)


if __name__ == "__main__":
    main()
