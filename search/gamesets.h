/* SPDX-License-Identifier: MIT */
/*
 * Gamesets: filters with a name, and the games that fit as a bitmap. A bitmap says up to which game
 * it was made, and from which names; where games came since, these alone are looked at when it is
 * used, and where aliases changed what a name means, all are. So a gameset always holds what its
 * filter does, and nothing that writes games or aliases has to know of it. Games that were removed
 * may stay in a bitmap: every query looks whether they are there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/search.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_gameset_job;

/*
 * Makes the bitmap of a new gameset, or, `filter` NULL, that of one there is again, so that it is
 * used without a delay. Nothing is written before chi_gameset_save. -CHI_EEXIST, -CHI_EINVAL (the
 * name, a gameset that the filter names is not there), and as chi_game_walk_open; CHI_NONE: there
 * is none of the name.
 */
CHI_MUSTUSE int chi_gameset_open(struct chi_read *read, const char *name, const char *filter,
				 size_t len, struct chi_gameset_job **out, struct chi_fault *fault);
void chi_gameset_close(struct chi_gameset_job *job);

/* CHI_OK: call again; CHI_NONE: it is made. */
CHI_MUSTUSE int chi_gameset_step(struct chi_gameset_job *job, uint64_t steps);

/* After CHI_NONE: how many games it has, in the snapshot that it was made in. */
uint64_t chi_gameset_games(const struct chi_gameset_job *job);

/* Stores it, after CHI_NONE; the snapshot it was made in may have ended. -CHI_EEXIST: there is one
 * of that name by now, or, made again, it is another one; as all failures of a write, sticky. */
CHI_MUSTUSE int chi_gameset_save(struct chi_gameset_job *job, struct chi_write *write,
				 struct chi_fault *fault);

/* CHI_NONE: there is none. -CHI_EINVAL: another one's filter names it. */
CHI_MUSTUSE int chi_gameset_remove(struct chi_write *write, const char *name,
				   struct chi_fault *fault);

/* What is known without looking at games. Texts are valid during the call. */
struct chi_gameset {
	const char *name;
	const char *filter;
	uint32_t upto;	/* the bitmap was made when this was the last game */
	uint64_t games; /* so many it had then */
	uint64_t bytes; /* of the bitmap */
};
typedef int chi_gameset_visit(void *context, const struct chi_gameset *gameset);

/* By name, those after `after` ("": all), until something other than CHI_OK is returned, which it
 * then returns. */
CHI_MUSTUSE int chi_gamesets_all(struct chi_read *read, const char *after, chi_gameset_visit *visit,
				 void *context);

/* Of that name; `visit` NULL: is only looked for. CHI_NONE: there is none; else what `visit` says.
 */
CHI_MUSTUSE int chi_gamesets_one(struct chi_read *read, const char *name, chi_gameset_visit *visit,
				 void *context);
