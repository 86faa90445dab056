/* SPDX-License-Identifier: MIT */
/*
 * The checksums of a dump (FORMAT.md, "Dump"): after every 1,000 lines, and after its last, a line
 * says how many lines and which XXH3-64 of all bytes are before it. So any change is noticed, and
 * the lines in which it is are known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* A checksum's line: this word, the lines before it, the checksum in hex. */
#define CHI_DUMP_SUM	  "sum\t"
#define CHI_DUMP_SUM_SIZE 48 /* room for the line, newline and NUL included */

struct chi_dump_seal {
	struct XXH3_state_s *hash; /* of all bytes so far */
	uint64_t lines;		   /* that have ended */
	uint64_t summed;	   /* those up to the last checksum, that line included */
	/* Only where a dump is checked: */
	char held[CHI_DUMP_SUM_SIZE]; /* a line that has come in part and may be a checksum */
	size_t n_held;
	bool inside; /* a part of another line has come */
};

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_dump_seal_init(struct chi_dump_seal *seal);

/* Harmless on one that is zeroed. */
void chi_dump_seal_deinit(struct chi_dump_seal *seal);

/* Whole lines that are written next; those of PGN with their game's. If a checksum is due before
 * them, `sum` is its line, and its length is returned; else 0. */
size_t chi_dump_seal_lines(struct chi_dump_seal *seal, const char *lines, size_t len,
			   char sum[CHI_DUMP_SUM_SIZE]);

/* The dump's last line, after all others. Returns its length. */
size_t chi_dump_seal_end(struct chi_dump_seal *seal, char sum[CHI_DUMP_SUM_SIZE]);

/* Bytes of a dump as they come, cut anywhere. -CHI_ESYNTAX: a checksum in them is not that of what
 * came before. */
CHI_MUSTUSE int chi_dump_seal_check(struct chi_dump_seal *seal, const char *bytes, size_t len,
				    struct chi_fault *fault);

/* Nothing more comes. -CHI_ESYNTAX: what came does not end with a checksum. */
CHI_MUSTUSE int chi_dump_seal_whole(const struct chi_dump_seal *seal, struct chi_fault *fault);
