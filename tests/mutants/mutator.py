# SPDX-License-Identifier: MIT
"""Changes of a program that take out one rule: a function, a kind of change, and the words it is at.

    never WORDS         the condition of an `if` or `while` that has these words is false
    always WORDS        it is true
    not WORDS           it is the other way round
    without WORDS       the statement, or the part of `&&` and `||`, that has these words is gone
    WORDS => OTHERS     other words are there; without any they are dropped

Words are tokens of C: how they are laid out in lines does not matter, nor do comments. They have to
be in the function exactly once. A function's name `-` stands for the whole file: for tables,
macros, and what is not C.
"""

import re

TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\w+|
	->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||\S""", re.S | re.X)
ENDS = {"(": ")", "[": "]", "{": "}"}
JOINS = ("&&", "||")
LIMITS = (";", "return", "?", ":", "=")


class Tokens:
    """The tokens of a text, and where each stands in it."""

    def __init__(self, text, first=0, last=None):
        found = [m for m in TOKEN.finditer(text, first, len(text) if last is None else last)
                 if not m[0].startswith(("/*", "//"))]
        self.words = [m[0] for m in found]
        self.spans = [m.span() for m in found]

    def places(self, words):
        n = len(words)
        return [i for i in range(len(self.words) - n + 1) if self.words[i:i + n] == words]

    def close(self, i):
        """Where the bracket at i is closed."""
        depth = 0
        for j in range(i, len(self.words)):
            depth += (self.words[j] in ENDS) - (self.words[j] in ENDS.values())
            if depth == 0:
                return j
        raise ValueError("a bracket stays open")

    def conditions(self):
        """(first, end) of what stands in the brackets of each `if` and `while`."""
        return [(i + 2, self.close(i + 1)) for i, word in enumerate(self.words[:-1])
                if word in ("if", "while") and self.words[i + 1] == "("]

    def bound(self, i, step):
        """The token that ends, to one side of i, the statement or the part of a condition."""
        depth = 0
        opens, closes = (ENDS, ENDS.values()) if step > 0 else (ENDS.values(), ENDS)
        while 0 <= i + step < len(self.words):
            word = self.words[i + step]
            if depth == 0 and (word in (*JOINS, *LIMITS) or word in closes or word == "}"):
                return i + step
            depth += (word in opens) - (word in closes)
            i += step
        raise ValueError("nothing ends it")

    def part(self, first, end):
        """(first, end) of the part of a condition, or of the statement, around these tokens."""
        left, right = self.bound(first, -1), self.bound(end - 1, 1)
        if self.words[left] in JOINS:
            return left, right
        return left + 1, right + (self.words[right] in (*JOINS, ";"))


def body(text, function):
    """(first, end) of a function with its head, as the kernel's layout has it."""
    if function == "-":
        return 0, len(text)
    heads = list(re.finditer(rf"^(?=\w)[^\n;#]*\b{function}\([^;{{]*?\)\n\{{\n.*?^\}}$",
                             text, re.M | re.S))
    if len(heads) != 1:
        raise ValueError(f"there are {len(heads)} functions {function}")
    return heads[0].span()


def once(found, what):
    if len(found) != 1:
        raise ValueError(f"found {len(found)} times: {what}")
    return found[0]


def change(tokens, text, edit):
    """(first, end, new): what an edit puts in the place of these tokens."""
    kind, _, rest = edit.partition(" ")
    if kind in ("never", "always", "not"):
        words = Tokens(rest).words
        places = tokens.places(words)
        first, end = once([(a, b) for a, b in tokens.conditions()
                           if any(a <= i and i + len(words) <= b for i in places)], edit)
        old = text[tokens.spans[first][0]:tokens.spans[end - 1][1]]
        return first, end, {"never": "false", "always": "true", "not": f"!({old})"}[kind]
    if kind == "without":
        words = Tokens(rest).words
        at = once(tokens.places(words), edit)
        return *tokens.part(at, at + len(words)), ""
    old, arrow, new = edit.partition("=>")
    if arrow == "":
        raise ValueError(f"no kind of change: {edit}")
    words = Tokens(old).words
    first = once(tokens.places(words), edit)
    return first, first + len(words), new.strip()


def apply(text, function, edit):
    """The text with one edit; ValueError if it does not fit."""
    tokens = Tokens(text, *body(text, function))
    first, end, new = change(tokens, text, edit)
    if tokens.words[first:end] == Tokens(new).words:
        raise ValueError(f"changes nothing: {edit}")
    return text[:tokens.spans[first][0]] + new + text[tokens.spans[end - 1][1]:]
