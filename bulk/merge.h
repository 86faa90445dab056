/* SPDX-License-Identifier: MIT */
/*
 * Adding another store, which arrives as the text of its dump: read and checked line by line as it
 * comes, put by, and applied at the commit in one transaction. chistore.1 has the table of what
 * becomes of what both stores hold (bulk/merge_apply.c does it).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "bulk/bulk_priv.h"
#include "bulk/spool.h"
#include "store/dump.h"

/* The state of a session of kind CHI_GAMES_MERGE. */
struct chi_merging {
	struct chi_dump_reader reader;
	struct chi_arena arena; /* of one line */
	struct chi_buffer line; /* one that has come in part */
	struct chi_spool lines; /* the head's and the positions', without newlines */
	struct chi_spool games; /* struct chi_game each */
	struct chi_key last;	/* the position before */
	uint64_t n_files;	/* inputs begun: one store each session */
	uint64_t positions;
	uint64_t n_games;
	bool whole; /* the dump's last line has come */
};

/* Applies what was read. Nothing is changed unless it returns CHI_OK. */
CHI_MUSTUSE int chi_merging_apply(struct chi_bulk *bulk, struct chi_merging *merging,
				  struct chi_games_result *result, struct chi_fault *fault);
