/* SPDX-License-Identifier: MIT */
/* What the files of a merge's commit share. */
#pragma once

#include "import/dump/lists.h"
#include "import/dump/merge.h"
#include "store/load/load.h"

struct chi_merge_apply {
	struct chi_importer *importer;
	struct chi_import_result *result;
	struct chi_other *other;
	struct chi_stored stored; /* the position of theirs that is merged */
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block;
	struct chi_read *read; /* ours, as it was before */
	struct chi_carried_plan plan;
	struct chi_lists *lists;  /* of known games that are left out; NULL: there are none */
	struct chi_arena arena;	  /* of one position: theirs and ours */
	struct chi_counts totals; /* of the games counted afterwards */
	uint64_t games;		  /* of theirs that were looked at */
	uint64_t inseparable;	  /* of those known: what they account for is not told */
	bool skip_counts;	  /* all games of theirs are counted here already */
	bool subtract;		  /* what known games account for is left out */
	uint32_t *names[CHI_NAME_KINDS]; /* ours, by theirs */
	size_t n_names[CHI_NAME_KINDS];
	size_t room[CHI_NAME_KINDS];
	struct chi_fault *fault; /* where it cannot be handed on */
};

/* Games, names and what follows from them: before the positions. */
CHI_MUSTUSE int chi_merge_games(struct chi_merge_apply *apply, struct chi_fault *fault);

/* And after them. */
CHI_MUSTUSE int chi_merge_gamesets(struct chi_merge_apply *apply, struct chi_fault *fault);
