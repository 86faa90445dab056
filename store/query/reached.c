/* SPDX-License-Identifier: MIT */
/* The games that reached a position: from its record, or from the postings tree. */
#include "store/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/games/seen.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/postings/postings.h"
#include "store/query/read.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/record/list.h"
#include "store/record/meta.h"

struct chi_reached {
	uint64_t games;
	uint64_t entries;
	uint32_t from;
	bool apart; /* in the postings tree */
	bool begun;
	struct chi_postings_walk walk;
	size_t n;		   /* of the record's list, or of a chunk */
	struct chi_posting some[]; /* CHI_LIST_HERE_MAX, or CHI_POSTINGS_CHUNK_ENTRIES */
};

int chi_read_archive(struct chi_read *read, struct chi_archive_view *out)
{
	struct chi_store_state state;
	int rc = chi_state_get(read->txn, read->env->meta, &state);
	if (rc < 0) {
		return rc;
	}
	chi_seen_begin(&read->seen, read->txn);
	*out = (struct chi_archive_view){.txn = read->txn,
					 .trees = read->env->archive,
					 .last = (uint32_t)state.last_game,
					 .positions = state.positions,
					 .whole = state.partial == 0};
	out->trees.seen = read->seen;
	out->trees.briefs = &read->env->briefs;
	return CHI_OK;
}

static int make_reached(const struct chi_record_rest *rest, uint32_t from, struct chi_reached **out)
{
	bool apart = rest->listed > 0;
	size_t room = apart ? CHI_POSTINGS_CHUNK_ENTRIES : CHI_LIST_HERE_MAX;
	if (!apart && rest->n_games == 0) {
		return CHI_NONE;
	}
	struct chi_reached *reached = malloc(sizeof(*reached) + room * sizeof(reached->some[0]));
	if (reached == NULL) {
		return -CHI_ENOMEM;
	}
	*reached = (struct chi_reached){.from = from, .apart = apart};
	reached->games =
		apart ? rest->listed_games : chi_postings_games(rest->games, rest->n_games);
	reached->entries = apart ? rest->listed : rest->n_games;
	if (!apart) {
		memcpy(reached->some, rest->games, rest->n_games * sizeof(reached->some[0]));
		reached->n = rest->n_games;
	}
	*out = reached;
	return CHI_OK;
}

/* The lists of the record. */
static int look(const uint8_t *value, size_t len, uint32_t from, struct chi_reached **out)
{
	struct chi_record record;
	struct chi_record_rest rest;
	struct chi_arena arena;
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	int rc = chi_record_decode(value, len, &arena, &record, &rest);
	rc = rc == CHI_OK ? make_reached(&rest, from, out) : rc;
	chi_arena_deinit(&arena);
	return rc;
}

int chi_reached_of(struct chi_read *read, const uint8_t *key, size_t key_len, const uint8_t *value,
		   size_t len, uint32_t from, struct chi_reached **out)
{
	int rc = look(value, len, from, out);
	if (rc != CHI_OK || !(*out)->apart) {
		return rc;
	}
	rc = chi_lmdb_status(chi_postings_open(&(*out)->walk, read->txn,
					       read->env->archive.postings, CHI_CHAIN_POSTINGS, key,
					       key_len));
	if (rc != CHI_OK) {
		chi_reached_close(*out);
		*out = NULL;
	}
	return rc;
}

int chi_reached_open(struct chi_read *read, const struct chi_key *key, uint32_t from,
		     struct chi_reached **out)
{
	struct chi_found found;
	if (chi_env_forked(read->env)) {
		return -CHI_EFORK;
	}
	if (key->len < CHI_KEY_MIN || key->len > CHI_KEY_MAX) {
		return -CHI_EKEY;
	}
	int rc = chi_read_find(read, key, 1, &found);
	if (rc < 0 || found.finding != CHI_FINDING_THERE) {
		return rc < 0 ? rc : CHI_NONE;
	}
	return chi_reached_of(read, key->bytes, key->len, found.value, found.len, from, out);
}

void chi_reached_close(struct chi_reached *reached)
{
	if (reached != NULL) {
		chi_postings_close(&reached->walk);
		free(reached);
	}
}

uint64_t chi_reached_games(const struct chi_reached *reached)
{
	return reached->games;
}

uint64_t chi_reached_entries(const struct chi_reached *reached)
{
	return reached->entries;
}

int chi_reached_next(struct chi_reached *reached, const struct chi_posting **entries, size_t *n)
{
	bool first = !reached->begun;
	reached->begun = true;
	*entries = reached->some;
	*n = first ? reached->n : 0;
	if (!reached->apart) {
		return first ? CHI_OK : CHI_NONE;
	}
	int rc = first ? chi_postings_seek(&reached->walk, reached->from, reached->some, n)
		       : chi_postings_next(&reached->walk, reached->some, n);
	/* A list that the record speaks of has a chunk. */
	return rc == MDB_NOTFOUND && first ? -CHI_ECORRUPT : chi_lmdb_status(rc);
}
