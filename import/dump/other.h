/* SPDX-License-Identifier: MIT */
/*
 * The other store of a merge: read as it is, in a directory, or made of a dump. Its games are known
 * by the numbers that they have there; what these are in ours, struct chi_carried_plan says. What
 * is read is one committed state, also while it is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "import/dump/carry.h"
#include "import/dump/lists.h"
#include "store/archive.h"
#include "store/games/archive.h"

struct chi_other {
	struct chi_importer *importer;
	struct chi_dir *store;
	bool trusted;	       /* what it has computed is right */
	const char *name;      /* for faults */
	struct chi_read *read; /* since chi_other_begin */
	struct chi_info info;  /* of the same state */
	struct chi_archive_view view;
	struct chi_archive_reader *games;
	struct chi_records *records;
	struct chi_carried known; /* positions of its games that are counted here, if asked for */
	struct chi_posting *list; /* of one position, or a part of it; room for CHI_OTHER_LIST */
};

/* Entries of a list that are held at once, and so many more. */
#define CHI_OTHER_LIST ((size_t)64 << 10)

/* Opens the store in directory `dir`. -CHI_EINVAL: it is ours, or a copy; whatever chi_dir_open
 * returns. */
CHI_MUSTUSE int chi_other_open(struct chi_importer *importer, const char *dir,
			       struct chi_other **out, struct chi_fault *fault);

/* The store that the load was filled with, which is freed in every case. */
CHI_MUSTUSE int chi_other_made(struct chi_importer *importer, struct chi_load *load,
			       struct chi_other **out, struct chi_fault *fault);

/* NULL is fine. */
void chi_other_free(struct chi_other *other);

/* Takes a snapshot, once. */
CHI_MUSTUSE int chi_other_begin(struct chi_other *other, struct chi_fault *fault);

/* It has games, names or gamesets to be carried over. */
bool chi_other_keeps(const struct chi_other *other);

/* Calls for all games that a store counts, of which there are `all`, by ascending id. */
CHI_MUSTUSE int chi_each_game_id(const struct chi_importer *importer, struct chi_read *read,
				 uint64_t all, chi_carried_take *take, void *context,
				 struct chi_fault *fault);

/* As those of carry.h. */
CHI_MUSTUSE int chi_other_each(struct chi_other *other, chi_carried_take *take, void *context,
			       struct chi_fault *fault);
CHI_MUSTUSE int chi_other_names(struct chi_other *other, chi_carried_name *take, void *context,
				struct chi_fault *fault);
CHI_MUSTUSE int chi_other_gamesets(struct chi_other *other, chi_carried_gameset *take,
				   void *context, struct chi_fault *fault);
CHI_MUSTUSE int chi_other_archive(struct chi_other *other, const struct chi_carried_plan *plan,
				  struct chi_load *load, struct chi_fault *fault);

/* What its games that are known here say of positions: these games are played. */
CHI_MUSTUSE int chi_other_known(struct chi_other *other, const struct chi_carried_plan *plan,
				struct chi_lists **out, struct chi_fault *fault);

/* The next position, by ascending key. CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_other_next(struct chi_other *other, struct chi_arena *arena,
			       struct chi_stored *out, struct chi_fault *fault);

/*
 * The games of that position, with the numbers that they have in ours, ascending: those that have
 * none are left out. `take` is called with the beginning of a list that is too long to be held, all
 * of it but a rest: it takes some of the `*n` entries away from the front. *games, *n: what is
 * left, until the next call.
 */
typedef int chi_other_part(void *context, struct chi_posting *games, size_t *n, uint32_t least);
CHI_MUSTUSE int chi_other_list(struct chi_other *other, const struct chi_stored *stored,
			       const struct chi_carried_plan *plan, chi_other_part *take,
			       void *context, struct chi_posting **games, size_t *n,
			       struct chi_fault *fault);
