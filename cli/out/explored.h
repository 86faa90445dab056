/* SPDX-License-Identifier: MIT */
/*
 * Moves and what they led to on standard output: a table for people, with bars; tab-separated rows
 * and JSON for programs. Each is made whole before it is printed: -CHI_EKEY, -CHI_EMOVE (what is
 * told fits no position) and -CHI_ENOMEM print nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"
#include "cli/out/card.h"
#include "propagate/backed.h"

/* A row for each of the first `n` moves, or all of it as one object, which the card's opening is
 * added to. `backed`: NULL if there are none. */
CHI_MUSTUSE int explored_print(const struct chi_explored *explore, size_t n,
			       const struct chi_backed *backed, const struct card *card, bool json);

/* The first `n` moves in aligned columns, a blank line before them; without moves nothing. */
CHI_MUSTUSE int explored_table(const struct chi_explored *explore, size_t n,
			       const struct chi_backed *backed, const struct table *table);

/* The same of a record's moves, the most played first. */
CHI_MUSTUSE int explored_record(const struct chi_key *key, const struct chi_record *record,
				const struct table *table);

/* An option's value: the name of backed-up scores. */
int explored_take_engine(struct cli *cli, const struct cli_option *option, const char *value,
			 void *out);
