/* SPDX-License-Identifier: MIT */
/* A whole record as a line of JSON; the fields are described in chistore.1. Written directly and
 * not by way of jansson's objects: an export writes millions of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "chistore.h"

/* Enough for any record. */
#define RECORD_ARENA ((size_t)4 << 20)

/* The line with its newline, in `arena`; with the class of an endgame or, as an export has it,
 * without what follows from the position alone. -CHI_ENOMEM; -CHI_ECORRUPT: a move is not legal
 * where it is played, or a text is not UTF-8; -CHI_EKEY. */
CHI_MUSTUSE int record_text(const struct chi_key *key, const struct chi_record *record,
			    bool with_endgame, struct chi_arena *arena, const char **out,
			    size_t *len);

/* A string of JSON in quotation marks, up to six bytes for each of its own. -CHI_ECORRUPT: it is
 * not UTF-8. */
struct chi_writer;
CHI_MUSTUSE int record_put_string(struct chi_writer *w, const char *text, size_t len);
