/* SPDX-License-Identifier: MIT */
/*
 * A line as the tools around chessdb.cn write it, EPD with that site's score after it:
 *
 *   rnbqkbnr/.../RNBQKBNR w KQkq - ; cdb eval: 12, ply: 0; PV: e2e4 e7e5;
 *
 * What is before "cdb eval:" is read as EPD (formats/epd.h), but for evaluations. The score is in
 * centipawns, of the side to move; M11 and -M10 are mates by the number of plies, as are 29989 and
 * -29990 (30000 less the plies); "mated" is a checkmate. The variation may be missing, and what
 * follows it is skipped, as is "ply": how far the site's initial position is.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "chistore/types.h"

/* The engine's name of these evaluations unless the caller has one. */
#define CHI_CDB_ENGINE "cdb"

/* What is in front of a score, and tells these lines from others. */
#define CHI_CDB_MARK "cdb eval:"

/* Scores beyond are mates. */
#define CHI_CDB_CP_MAX 25000

/* Fills *put, its memory in `arena`, its engine name pointing to `engine` (NUL-terminated, must
 * outlive the put). CHI_NONE: a blank line or a comment (#). -CHI_EFEN, -CHI_ESYNTAX (a score that
 * is not known, too), -CHI_EMOVE, -CHI_ETOOBIG, -CHI_ENOMEM with the reason. */
CHI_MUSTUSE int chi_cdb_read(const char *line, size_t len, const char *engine,
			     struct chi_arena *arena, struct chi_put_entry *put,
			     struct chi_fault *fault);
