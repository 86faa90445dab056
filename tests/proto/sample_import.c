/* SPDX-License-Identifier: MIT */
/* Random options of an import. */
#include "tests/proto/sample.h"

#include <stdio.h>
#include <string.h>

static size_t below(struct sample *s, size_t bound)
{
	return seed_below(s->seed, bound);
}

/* Member by member: the bytes between them stay as they are, and are compared. */
static void range(struct sample *s, struct chi_range *out)
{
	if (below(s, 2) == 0) {
		out->set = true;
		out->min = (uint16_t)below(s, 65536);
		out->max = (uint16_t)below(s, 3);
	}
}

/* One of the two, or nothing. */
static void text(struct sample *s, char *out, size_t size, const char *a, const char *b)
{
	static const char *const none = "";
	const char *const texts[] = {none, a, b};
	(void)snprintf(out, size, "%s", texts[below(s, 3)]);
}

static void filter_of(struct sample *s, struct chi_game_filter *out)
{
	memset(out, 0, sizeof(*out));
	range(s, &out->years);
	range(s, &out->rating);
	range(s, &out->rating_both);
	range(s, &out->rating_average);
	range(s, &out->plies);
	out->results = (uint8_t)below(s, 16);
	out->times = (uint8_t)below(s, 64);
	text(s, out->player, sizeof(out->player), "Tal", "Karpov, A");
	text(s, out->white, sizeof(out->white), "w", "H\xc3\xbc");
	text(s, out->black, sizeof(out->black), "b", "a longer name than most");
	text(s, out->eco_min, sizeof(out->eco_min), "A00", "B90");
	text(s, out->eco_max, sizeof(out->eco_max), "B99", "E99");
}

void sample_import(struct sample *s, struct chi_request *out)
{
	out->u.import.kind = (enum chi_import_kind)(1 + below(s, 5));
	out->u.import.max_ply = (uint32_t)below(s, 5000);
	out->u.import.games_min = seed_next(s->seed) >> below(s, 64);
	out->u.import.strict = below(s, 2) != 0;
	out->u.import.skip_known = below(s, 2) != 0;
	out->u.import.count_twice = below(s, 2) != 0;
	out->u.import.verbose = below(s, 2) != 0;
	out->u.import.evals = below(s, 2) != 0;
	out->u.import.bare = below(s, 2) != 0;
	text(s, out->u.import.source, sizeof(out->u.import.source), "twic", "my games");
	text(s, out->u.import.engine, sizeof(out->u.import.engine), "sf", "mine");
	out->u.import.format = (enum chi_format)below(s, 5);
	out->u.import.add = below(s, 2) != 0;
	out->u.import.unplayed = below(s, 2) != 0;
	filter_of(s, &out->u.import.filter);
}
