/* SPDX-License-Identifier: MIT */
/* For the test of how long answers live: what they lead to, and the calls that take it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "chistore.h"

struct world;

#define HOUR   3600000
#define QUEUED 4
#define PLIES  2 /* of a line */

/* Of an answer, what it leads to and a call may take; NULL: it has none of these. */
struct offer {
	const struct chi_key *key;
	const struct chi_record *record;
	const char *name; /* of a player, or another short text */
	const char *filter;
	const char *gameset;
	const uint32_t *games;
	size_t n_games;
	const struct chi_queue_row *queued;
	const struct chi_game *game;
};

struct fixture {
	struct world *world;
	struct chi_client *client;
	struct chi_client *other; /* fills the store, and reads what was written */
	struct chi_client *third; /* has answers of which no one else knows */
	struct chi_key start;
	struct chi_key queued[QUEUED];
	char name[160];
	char filter[400];
	char *note;
};

/* What an answer is in; the pointers in it are the client's. */
struct client_answer {
	struct chi_record record;
	struct chi_explored explore;
	struct chi_names names;
	struct chi_suspect_groups suspects;
	struct chi_gamesets gamesets;
	struct chi_stats_result stats;
	struct chi_twin_groups twins;
	struct chi_insight_result insight;
	struct chi_queue_lease lease;
	struct chi_queue_page list;
	struct chi_game_row row;
	struct chi_game game;
	struct chi_game_row heads[2];
};
extern struct client_answer in;

/* The note of a position is the fixture's. */
void fixture_note(const struct fixture *f, struct chi_key key);

/* The queue and the gamesets become what they were at first. */
void fixture_restore(const struct fixture *f);

/* A call that takes what an answer leads to, and tells what came of it. */
struct taker {
	const char *name;
	bool (*fits)(const struct offer *o);
	void (*take)(const struct fixture *f, const struct offer *o, FILE *to);
	bool of_games;
};

#define TAKERS 28
extern const struct taker takers[TAKERS];
