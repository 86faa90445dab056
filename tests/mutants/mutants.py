# SPDX-License-Identifier: MIT
"""All mutants, in the order of docs/RELIABILITY.md."""

import analysis
import archive
import cage
import copies
import doors
import limits
import messages
import names
import promises
import traps
import web
from mutant import Mutant

SECTIONS = (*promises.SECTIONS, *traps.SECTIONS, *copies.SECTIONS, *messages.SECTIONS,
            *limits.SECTIONS, *names.SECTIONS, *archive.SECTIONS,
            *analysis.SECTIONS, *doors.SECTIONS, *cage.SECTIONS, *web.SECTIONS)
ALL = tuple(mutant for _, mutants in SECTIONS for mutant in mutants)

# Changes nothing that a test could see.
CONTROLS = (
    Mutant(
        "control-changes-a-comment",
        "",
        "base/arena.c",
        "/* Puts a block in front that holds at least `size` bytes. */",
        "/* Puts a block of at least `size` bytes in front. */",
        "base arena", "budget_is_exact"),
)
