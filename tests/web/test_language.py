# SPDX-License-Identifier: MIT
"""The page's table of the language of filters has the words of the parser, all of them and no others,
and its examples are those of the manual. Reads the sources: no browser."""

import os
import re
import unittest

ROOT = os.environ["CHISTORE_ROOT"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


PARSER = read("search", "filter", "terms.c") + read("search", "filter", "terms_motif.c")
PAGE = read("http", "web", "language.js")
PAIR = '"((?:[^"\\\\]|\\\\.)*)"'


def array(text, name):
    """The words of an array of C or JavaScript."""
    body = re.search(rf"{name}(?:\[\w*\])?(?:: | = )[{{\[](.*?)[}}\]][;,]", text, re.S)[1]
    return re.findall('"([^"]*)"', body)


def page_words():
    table = re.search(r"export const WORDS = \[\n(.*?)\n\];", PAGE, re.S)[1]
    rows = [re.fullmatch(rf"\t\[{PAIR}, {PAIR}, {PAIR}, {PAIR}\],", line)
            for line in table.split("\n")]
    assert None not in rows, table
    return {row[1]: (row[2], row[3]) for row in rows}


class Language(unittest.TestCase):
    def setUp(self):
        self.terms = dict(re.findall(r'\[CHI_TERM_\w+\] = \{"([^"]+)", (SHAPE_\w+)', PARSER))
        self.tests = dict(re.findall(r'\[CHI_TEST_\w+\] = \{"([^"]+)", (TEST_\w+)', PARSER))
        self.patterns = array(PARSER, "chi_condition_words")
        self.page = page_words()

    def test_words_are_those_of_the_parser(self):
        asked = set(re.findall(r'chi_parser_is_at\(\w+, "([^"]+)"\)', PARSER))
        self.assertGreater(min(map(len, (self.terms, self.tests, self.patterns, asked))), 5)
        self.assertEqual(set(self.page), {*self.terms, *self.tests, *self.patterns, *asked})

    def test_conditions_stand_in_moments(self):
        conditions = {word for word, (place, _) in self.page.items() if place == "condition"}
        self.assertEqual(conditions, {*self.tests, *self.patterns, "to-move"})
        plain = {word for word in conditions if self.page[word][1] == ""}
        self.assertEqual(plain, {word for word, shape in self.tests.items() if shape == "TEST_PLAIN"})
        terms = {word for word, (place, _) in self.page.items() if place == "term"}
        self.assertEqual(terms, {*self.terms, "white", "black", "in"} - {"pattern"})

    def test_lists_are_those_of_the_parser(self):
        values = read("search", "filter", "terms_value.c")
        lists = {"result": array(values, "results"), "title": array(values, "titles")[1:],
                 "speed": array(read("chess", "pgn", "speed.c"), "chi_speed_names")[1:],
                 "family": array(read("chess", "endgame", "name.c"), "family_names")[1:]}
        for name, words in lists.items():
            self.assertGreater(len(words), 3)
            self.assertEqual(array(PAGE, name), words)
        self.assertEqual({word for word, shape in self.terms.items() if shape == "SHAPE_LIST"},
                         {word for word in self.terms if self.page.get(word, ("", ""))[1] in lists})

    def test_examples_are_those_of_the_manual(self):
        manual = read("cli", "chistore-filters.7").replace("\\(dq", '"').split("\n")
        table = re.search(r"export const EXAMPLES = \[\n(.*?)\n\];", PAGE, re.S)[1]
        examples = [re.fullmatch(rf"\t\[{PAIR}, {PAIR}\],", line)[1].replace('\\"', '"')
                    for line in table.split("\n")]
        self.assertGreater(len(examples), 3)
        written = [line[len(".Dl "):] for line in manual if line.startswith(".Dl ")]
        self.assertEqual([text for text in examples if text not in written], [])


unittest.main()
