/* SPDX-License-Identifier: MIT */
/*
 * A list of positions that several threads, and by the store's leases several analysers, work off
 * together. What another holds is asked for again after the rest, as he may be killed.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

#define SOURCE_MAX 1000000

struct key_source {
	pthread_mutex_t mutex;
	struct chi_key *keys;
	size_t n;
	size_t room;
	size_t next;   /* to be taken in this round */
	size_t kept;   /* of this round, for the next: the first of `keys` */
	size_t active; /* taken, and neither kept nor done */
};

void source_init(struct key_source *source);
void source_free(struct key_source *source);

/* -CHI_ENOMEM; -CHI_ETOOBIG: over SOURCE_MAX. Before threads take. */
CHI_MUSTUSE int source_add(struct key_source *source, const struct chi_key *key);

enum source_next {
	SOURCE_TAKEN, /* *key is to be given back by source_done or source_keep */
	SOURCE_WAIT,  /* nothing now; others may keep theirs */
	SOURCE_ROUND, /* the same, and a round is over: what was kept begins again */
	SOURCE_END,
};
enum source_next source_take(struct key_source *source, struct chi_key *key);
/* Positions of this list that are neither done nor kept; of any thread. */
size_t source_left(struct key_source *source);
void source_done(struct key_source *source);
void source_keep(struct key_source *source, const struct chi_key *key);
