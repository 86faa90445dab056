# SPDX-License-Identifier: MIT
"""Runs the cases of a script of this folder, or some of them: cases.py test_games Trouble.test_mixed"""

import sys
import unittest

unittest.main(module=sys.argv.pop(1), verbosity=2)
