/* SPDX-License-Identifier: MIT */
/*
 * A line of lichess.org's file of evaluations (lichess_db_eval.jsonl) to one position to store:
 *
 *   {"fen":F,"evals":[{"pvs":[{"cp":N or "mate":N,"line":"e2e4 e7e5 ..."},...],
 *                      "knodes":N,"depth":N},...]}
 *
 * F has four fields or six. Scores are White's view. Of several evaluations the deepest is taken,
 * of equal depth the one with more lines, then with more nodes; its lines become those of one
 * engine, in their order. Other members are skipped. Hundreds of millions of such lines are read,
 * so that they are scanned without making a tree of them.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "chistore/types.h"

/* The engine's name of these evaluations unless the caller has one. */
#define CHI_LICHESS_ENGINE "lichess"

/* Fills *put, its memory in `arena`, its engine name pointing to `engine` (NUL-terminated, must
 * outlive the put). CHI_NONE: a blank line or a comment (#). -CHI_EFEN, -CHI_ESYNTAX, -CHI_EMOVE,
 * -CHI_ETOOBIG, -CHI_ENOMEM with the reason. */
CHI_MUSTUSE int chi_lichess_read(const char *line, size_t len, const char *engine,
				 struct chi_arena *arena, struct chi_put_entry *put,
				 struct chi_fault *fault);
