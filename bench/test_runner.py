#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the tables promise: a figure is told only where it can be, and judged by its target alone."""

import argparse
import contextlib
import io
import os
import tempfile
import unittest
import unittest.mock

import runner
import table
from table import Failed, Line, Size


def setting(rounds=7, quick=False):
    args = argparse.Namespace(build=".", rounds=rounds, quick=quick, only=None, markdown=None,
                              data=None, prepare=False)
    made = runner.Setting(args)
    made.clean_up()
    return made


class TestInterval(unittest.TestCase):
    def test_ranks_of_published_tables(self):
        # The ranks of the 95 % interval of a median, as tables of order statistics have them.
        for n, low, high in ((6, 1, 6), (8, 1, 8), (9, 2, 8), (12, 3, 10), (15, 4, 12),
                             (20, 6, 15), (25, 8, 18), (30, 10, 21)):
            values = list(range(n, 0, -1))
            self.assertEqual(table.interval(values), (low, high), n)

    def test_few_values_are_told_whole(self):
        self.assertEqual(table.interval([3.0]), (3.0, 3.0))
        self.assertEqual(table.interval([3.0, 1.0, 2.0]), (1.0, 3.0))

    def test_one_outlier_among_many_is_no_noise(self):
        self.assertFalse(table.is_noisy([1.0] * 10 + [5.0]))
        self.assertTrue(table.is_noisy([1.0] * 4 + [5.0]))


class TestLine(unittest.TestCase):
    def test_targets(self):
        self.assertEqual(Line("a", [1.0, 1.1], 1.0).verdict(), table.MET)
        self.assertEqual(Line("a", [0.9, 0.95], 1.0).verdict(), table.MISSED)
        self.assertEqual(Line("a", [0.9, 0.95], 1.0, at_most=True).verdict(), table.MET)
        self.assertEqual(Line("a", [1.0, 1.1], 1.0, at_most=True).verdict(), table.MISSED)
        self.assertEqual(Line("a", [1.0]).verdict(), "-")

    def test_a_noisy_figure_is_not_told(self):
        for ratios, target in (([1.0, 4.0], 0.5), ([1.0, 4.0], None)):
            cells = Line("a", ratios, target).cells()
            self.assertEqual((cells[2], cells[5]), ("-", table.NOISY))

    def test_a_disturbed_figure_is_not_told(self):
        line = Line("a", [2.0, 2.0], 1.0)
        line.disturbed = True
        self.assertEqual((line.cells()[2], line.cells()[5]), ("-", table.NOISY))

    def test_sizes_are_told_beside_other_work(self):
        setting_, line = setting(), Size("a", 18.3, 21)
        suite = runner.Suite(setting_)
        suite.chosen = [runner.Part("size", lambda: [line], (0, 0))]
        with unittest.mock.patch.object(runner.Disturbance, "shares", lambda _: (0.9, 0.0)), \
                contextlib.redirect_stderr(io.StringIO()):
            suite.measure()
        self.assertEqual((line.verdict(), suite.disturbed), (table.MET, []))
        self.assertEqual(Size("b", 0.5, 0.6, at_most=False).verdict(), table.MISSED)

    def test_exit_status(self):
        met, missed = Line("a", [2.0], 1.0), Line("b", [0.5], 1.0)
        noisy, free = Line("c", [1.0, 9.0], 1.0), Line("d", [1.0, 9.0])
        failed = Failed("e", "no such program")
        for lines, quick, status in (([met], False, 0), ([met, free], False, 0),
                                     ([met, missed], False, 1), ([met, noisy], False, 2),
                                     ([noisy, missed], False, 1), ([met, failed], False, 2),
                                     ([missed, noisy], True, 0), ([failed], True, 2)):
            self.assertEqual(table.exit_status(lines, quick), status,
                             [line.name for line in lines])


class TestRounds(unittest.TestCase):
    def calls(self, values, rounds=7, quick=False):
        """How often repeat() measures, each time with the next of the values."""
        source = iter(values)
        suite = runner.Suite(setting(rounds, quick))
        return len(suite.repeat(lambda: [next(source), 1.0], base=1)[0]), suite.longer

    def test_steady_rounds_are_enough(self):
        self.assertEqual(self.calls([1.0] * 8), (7, 0))

    def test_noise_gets_three_times_the_rounds_and_no_more(self):
        self.assertEqual(self.calls([1.0, 9.0] * 11), (21, 1))

    def test_an_outlier_is_outvoted(self):
        # The round that counts not, six steady ones, an outlier: nine tell it from noise.
        self.assertEqual(self.calls([1.0] * 7 + [9.0] + [1.0] * 20), (9, 1))

    def test_quick_runs_never_go_on(self):
        self.assertEqual(self.calls([1.0, 9.0] * 11, rounds=2, quick=True), (2, 0))


class OnePart(runner.Suite):
    name = "one"

    def __init__(self, made, function):
        super().__init__(made)
        self.chosen = [runner.Part("part", function, (0, 0))]


class TestParts(unittest.TestCase):
    def measured(self, function, others=0.0, stolen=0.0):
        class Shares(runner.Disturbance):
            def shares(self):
                return others, stolen

        original, runner.Disturbance = runner.Disturbance, Shares
        try:
            suite = OnePart(setting(), function)
            with contextlib.redirect_stderr(io.StringIO()):
                suite.measure()
        finally:
            runner.Disturbance = original
        return suite

    def test_a_busy_machine_refuses_all_lines(self):
        for others, stolen, verdict in ((0.0, 0.0, table.MET), (0.09, 0.0, table.MET),
                                        (0.2, 0.0, table.NOISY), (0.0, 0.2, table.NOISY)):
            suite = self.measured(lambda: [Line("a", [2.0], 1.0)], others, stolen)
            self.assertEqual(suite.lines[0].verdict(), verdict)
            self.assertEqual("Not told" in suite.foot(), verdict == table.NOISY)

    def test_a_part_that_fails_is_a_line(self):
        def fail():
            raise table.CannotMeasure("no such program")

        suite = self.measured(fail)
        self.assertEqual(suite.lines[0].verdict(), table.NOT_MEASURED)

    def test_shares_are_those_of_others(self):
        disturbance = runner.Disturbance()
        # Seconds of all processors, busy without our own, stolen.
        disturbance.start = (100.0, 20.0, 1.0)
        for now, shares in (((110.0, 21.0, 1.5), (0.1, 0.05)), ((110.0, 19.9, 1.0), (0.0, 0.0))):
            disturbance.read = lambda now=now: now
            self.assertEqual(disturbance.shares(), shares)


class TestDocument(unittest.TestCase):
    def test_a_section_is_put_in_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# Title\n\n<!-- figures: a -->\nold\n<!-- end of figures: a -->\n\nEnd\n")
            table.put_into(path, "a", "new\n")
            table.put_into(path, "b", "more\n")
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.assertEqual(text, "# Title\n\n<!-- figures: a -->\nnew\n<!-- end of figures: a -->\n\n"
                               "End\n\n<!-- figures: b -->\nmore\n<!-- end of figures: b -->\n")


if __name__ == "__main__":
    unittest.main()
