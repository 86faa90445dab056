/* SPDX-License-Identifier: MIT */
/*
 * Scid's spelling files (.ssp): names as they should be written, each followed by other ways in
 * which it is found. Line by line:
 *
 *	@PLAYER, @EVENT, @SITE or @ROUND   begins a section; what is after the word does not matter
 *	Name            #remark            the right name
 *	= Other name                       another way of writing the name above
 *	%Bio FIDEID 1503014                the FIDE id of the player above
 *	%..., >..., # remark               rewriting rules, lives, ratings: not needed here
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/names/words.h"
#include "chistore/types.h"

enum chi_spelling_kind {
	CHI_SPELLING_NONE,
	CHI_SPELLING_PLAYER,
	CHI_SPELLING_EVENT,
	CHI_SPELLING_SITE,
	CHI_SPELLING_ROUND, /* rounds are no names here: said of no line */
};

/* What a line says. */
struct chi_spelling {
	enum chi_spelling_kind kind;
	const char *name;  /* as it should be written; NUL-terminated, in the reader */
	const char *alias; /* as it is found, in the reader; NULL: the line gives a FIDE id */
	uint32_t fide;	   /* 0: the line gives an alias */
};

/* Between lines. Zeroed at the start. */
struct chi_spelling_reader {
	enum chi_spelling_kind kind;
	uint64_t line; /* number of the last one read, from 1 */
	char name[CHI_NAME_MAX + 1];
	char alias[CHI_NAME_MAX + 1];
};

/*
 * One line, with or without its end. Names become what a PGN tag's value becomes (UTF-8; else
 * Windows-1252), so that they equal the tags. CHI_OK: *out is filled, valid until the next line;
 * CHI_NONE: it says nothing that is wanted. -CHI_EINVAL with a text that names the line: an unknown
 * section, a name outside of one, an alias or a FIDE id without a name, a name that is too long.
 */
CHI_MUSTUSE int chi_spelling_line(struct chi_spelling_reader *reader, const char *line, size_t len,
				  struct chi_spelling *out, struct chi_fault *fault);
