/* SPDX-License-Identifier: MIT */
/*
 * Lists of games against the games. A list is held against its record and taken from the sums of
 * its games. Of games whose sums are not 0 then, a second pass says which entries are wrong.
 */
#include "store/admin/verify_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "chess/key.h"
#include "store/record/codec.h"
#include "store/record/examine.h"
#include "store/record/list.h"

/* So many games are located. */
#define LOCATED 16

static void disagree_at(struct chi_verify *v, const uint8_t *key, size_t key_len, const char *what,
			uint32_t game)
{
	char name[CHI_FEN_SIZE];
	char number[32] = "";
	if (game != 0) {
		(void)snprintf(number, sizeof(number), "game %u ", game);
	}
	chi_verify_disagree(v, "position %s: %s%s", chi_key_name(key, key_len, name), number, what);
}

int chi_verify_postings(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
			const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	char name[CHI_FEN_SIZE];
	size_t key_len;
	size_t n;
	(void)tree;
	if (chi_postings_chunk_decode(key, value, &key_len, v->archive.list, &n) != 0) {
		chi_page_complain(
			walk, "the postings tree, position %s: a chunk is damaged",
			chi_key_name(key->mv_data, key->mv_size > 4 ? key->mv_size - 4 : 0, name));
	}
	return CHI_OK;
}

/* ---- One list ----------------------------------------------------------------------------- */

/* A list as it is read, and what its record says of the games. */
struct list {
	const MDB_val *key;
	uint64_t hash; /* of the position */
	const struct chi_record *record;
	struct chi_counts counts; /* of the games in the list */
	struct chi_move_stat moves[CHI_MOVES_MAX];
	struct chi_posting last;
	uint64_t entries;
	uint64_t games;
	bool unknown; /* a move is not in the record */
	struct chi_performance_sums performed;
};

static void begin_list(struct list *list, const MDB_val *key, const struct chi_record *record)
{
	uint8_t bytes[CHI_KEY_MAX] = {0};
	memcpy(bytes, key->mv_data, key->mv_size);
	list->key = key;
	list->hash = chi_verify_hash(bytes);
	list->record = record;
	list->counts = (struct chi_counts){0};
	list->last = (struct chi_posting){0};
	list->entries = 0;
	list->games = 0;
	list->unknown = false;
	list->performed = (struct chi_performance_sums){0};
	for (size_t i = 0; i < record->n_moves; i++) {
		list->moves[i].counts = (struct chi_counts){0};
	}
}

static void tally(struct list *list, const struct chi_posting *entry, uint8_t result)
{
	const struct chi_record *record = list->record;
	list->entries++;
	if (entry->game != list->last.game) {
		list->games++;
		++*chi_counts_of(&list->counts, result);
	}
	if (entry->move != 0) {
		size_t i = 0;
		while (i < record->n_moves && record->moves[i].move != entry->move) {
			i++;
		}
		if (i < record->n_moves) {
			++*chi_counts_of(&list->moves[i].counts, result);
		} else {
			list->unknown = true;
		}
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct chi_verify_call *x = a;
	const struct chi_verify_call *y = b;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

/* An entry of a game whose sum was wrong. */
static void locate_posting(struct chi_verify *v, const struct list *list,
			   const struct chi_posting *entry, uint64_t hash)
{
	struct chi_verify_archive *a = &v->archive;
	const struct chi_verify_call wanted = {.hash = hash};
	struct chi_verify_call *call = a->n_calls == 0 ? NULL
						       : bsearch(&wanted, a->calls, a->n_calls,
								 sizeof(wanted), compare_calls);
	if (call == NULL) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "is in its list, with what it did not play here", entry->game);
	} else {
		call->found = true;
	}
}

/* Where bodies are walked meanwhile, that all games have theirs is found by that walk. */
static bool is_game(const struct chi_verify_archive *a, const struct chi_verify_game *game)
{
	return game != NULL &&
	       (a->side_by_side ? (game->flags & CHI_VERIFY_HEAD) != 0 : game->body);
}

static void take_posting(struct chi_verify *v, struct list *list, const struct chi_posting *entry)
{
	struct chi_verify_archive *a = &v->archive;
	struct chi_verify_game *game = chi_verify_find_game(v, entry->game);
	if (!is_game(a, game)) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "is in its list, but there is no such game", entry->game);
		return;
	}
	uint64_t hash = chi_verify_entry_hash(list->hash, entry->game, entry->move);
	if (a->locating) {
		if ((game->flags & CHI_VERIFY_WRONG) != 0) {
			locate_posting(v, list, entry, hash);
		}
		return;
	}
	if ((game->flags & CHI_VERIFY_PRUNED) == 0) {
		a->sums[entry->game] -= (uint32_t)hash;
	} else if (!chi_verify_may_be(a, hash)) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "is in its list, with what it did not play here", entry->game);
	}
	tally(list, entry, game->result);
	if (a->performance != NULL) {
		chi_performance_add(a->performance, entry, 1, &list->performed);
	}
	list->last = *entry;
}

static bool within(const struct chi_counts *some, const struct chi_counts *all)
{
	return some->white <= all->white && some->draws <= all->draws &&
	       some->black <= all->black && some->other <= all->other;
}

/* More may be counted than is listed, never less. */
static void end_list(struct chi_verify *v, const struct list *list)
{
	const struct chi_record *record = list->record;
	bool fits = within(&list->counts, &record->counts);
	for (size_t i = 0; fits && i < record->n_moves; i++) {
		fits = within(&list->moves[i].counts, &record->moves[i].counts);
	}
	if (list->unknown || !fits) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "it counts less than the games in its list", 0);
	}
	if (v->archive.performance != NULL &&
	    record->chi2 != chi_performance_of(v->archive.performance, &list->performed)) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "its statistic is not what its games and their ratings give", 0);
	}
}

/* ---- Lists apart -------------------------------------------------------------------------- */

static int read_chunk(struct chi_verify_archive *a)
{
	MDB_val value;
	int rc = chi_page_cursor_next(&a->lists, &a->list_key, &value);
	while (rc == CHI_OK && !chi_chain_strip(&a->list_key, &value)) {
		rc = chi_page_cursor_next(&a->lists, &a->list_key, &value);
	}
	if (rc == CHI_OK && chi_postings_chunk_decode(&a->list_key, &value, &a->list_key_len,
						      a->list, &a->n_list) != 0) {
		return -CHI_ECORRUPT;
	}
	a->list_left = rc == CHI_OK;
	return rc;
}

/* Steps to the chunks of a position; on the way are those of none. CHI_NONE: it has no more. A list
 * in the tree comes in the order of the positions, since no key starts another. */
static int next_chunk(struct chi_verify *v, const MDB_val *key)
{
	struct chi_verify_archive *a = &v->archive;
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		rc = a->list_left ? CHI_OK : read_chunk(a);
		int order = rc != CHI_OK ? -1
			    : key == NULL
				    ? 1
				    : chi_position_compare(key->mv_data, key->mv_size,
							   a->list_key.mv_data, a->list_key_len);
		if (rc != CHI_OK || order <= 0) {
			return rc == CHI_OK && order < 0 ? CHI_NONE : rc;
		}
		if (!a->locating) {
			disagree_at(v, a->list_key.mv_data, a->list_key_len,
				    "it has a list of games that its record does not tell of", 0);
		}
		a->list_left = false;
	}
	return rc;
}

static int take_apart(struct chi_verify *v, struct list *list, const struct chi_record_rest *rest)
{
	struct chi_verify_archive *a = &v->archive;
	bool ascends = true;
	int rc;
	while ((rc = next_chunk(v, list->key)) == CHI_OK) {
		ascends = ascends && chi_posting_before(&list->last, &a->list[0]);
		for (size_t i = 0; i < a->n_list; i++) {
			take_posting(v, list, &a->list[i]);
		}
		a->list_left = false;
	}
	if (rc != CHI_NONE) {
		return rc == -CHI_ENOMEM ? rc : CHI_OK;
	}
	if (!a->locating &&
	    (!ascends || list->entries != rest->listed || list->games != rest->listed_games)) {
		disagree_at(v, list->key->mv_data, list->key->mv_size,
			    "its list of games is not as long as its record says", 0);
	}
	return CHI_OK;
}

int chi_verify_list(struct chi_verify *v, const MDB_val *key, const struct chi_record *record,
		    const struct chi_record_rest *rest)
{
	struct list list;
	int rc = CHI_OK;
	bool performs = v->archive.performance != NULL && record->chi2 != CHI_CHI2_UNKNOWN;
	if (!v->archive.lists_read || (rest->n_games == 0 && rest->listed == 0 && !performs)) {
		return CHI_OK;
	}
	begin_list(&list, key, record);
	for (size_t i = 0; i < rest->n_games; i++) {
		take_posting(v, &list, &rest->games[i]);
	}
	if (rest->listed > 0) {
		rc = take_apart(v, &list, rest);
	}
	if (rc == CHI_OK && !v->archive.locating) {
		end_list(v, &list);
	}
	return rc;
}

int chi_verify_lists_begin(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	a->lists_read = v->depth == CHI_VERIFY_WHOLE && a->joined &&
			(a->locating || v->walk.errors == a->disagreements);
	a->list_left = false;
	chi_page_cursor_deinit(&a->lists);
	chi_page_cursor_init(&a->lists, &v->walk.file_image, &v->trees[CHI_VERIFY_POSTINGS]);
	return CHI_OK;
}

int chi_verify_lists_begin_at(struct chi_verify *v, const MDB_val *low)
{
	struct chi_verify_archive *a = &v->archive;
	a->list_left = false;
	int rc = chi_page_cursor_seek(&a->lists, &v->trees[CHI_VERIFY_POSTINGS], low);
	/* A chunk's key is a position's and more. */
	while (rc == CHI_OK && (rc = read_chunk(a)) == CHI_OK &&
	       chi_position_compare(a->list_key.mv_data, a->list_key_len, low->mv_data,
				    low->mv_size) < 0) {
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

void chi_verify_lists_end_at(struct chi_verify *v, const MDB_val *end)
{
	if (v->archive.lists_read) {
		(void)next_chunk(v, end);
	}
}

void chi_verify_lists_end(struct chi_verify *v)
{
	chi_verify_lists_end_at(v, NULL);
}

/* ---- Traits ------------------------------------------------------------------------------- */

int chi_verify_traits(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		      const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_verify_archive *a = &v->archive;
	chi_trait trait;
	size_t n = 0;
	(void)tree;
	if (chi_traits_open(key, value, &trait, a->list, &n) != CHI_OK) {
		char name[CHI_CHAIN_TEXT];
		chi_page_complain(walk, "the traits tree, %s: a chunk is damaged",
				  chi_chain_key_name(CHI_CHAIN_TRAITS, key, name));
		return CHI_OK;
	}
	if (trait == a->last_trait && a->list[0].game <= a->last_listed) {
		chi_verify_disagree(v, "trait %014" PRIx64 ": game %u is in its list after game %u",
				    trait, a->list[0].game, a->last_listed);
	}
	a->last_trait = trait;
	a->last_listed = a->list[n - 1].game;
	for (size_t i = 0; i < n; i++) {
		struct chi_verify_game *game = chi_verify_find_game(v, a->list[i].game);
		if (game != NULL && (game->body || !a->joined)) {
			game->traits -= chi_verify_trait_hash(trait, a->list[i].game);
		} else {
			chi_verify_disagree(v,
					    "trait %014" PRIx64
					    ": game %u is in its list, but there is no such game",
					    trait, a->list[i].game);
		}
	}
	return CHI_OK;
}

void chi_verify_traits_end(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	uint64_t wrong = 0;
	bool known =
		v->depth == CHI_VERIFY_WHOLE && a->joined && v->walk.errors == a->disagreements;
	for (uint64_t i = 1; known && i < a->n; i++) {
		if (a->games[i].traits != 0 && wrong++ < LOCATED) {
			chi_verify_disagree(
				v, "game %" PRIu64 ": the lists of traits and its moves disagree",
				i);
		}
	}
	if (wrong > LOCATED) {
		chi_verify_disagree(
			v, "%" PRIu64 " games are not in the lists of their traits, as they are",
			wrong);
	}
}

/* ---- Games that disagree ------------------------------------------------------------------ */

/* Marks those whose sums are not 0, some of them to be located; returns how many. */
static uint64_t mark_wrong(struct chi_verify_archive *a)
{
	uint64_t n = 0;
	for (uint64_t i = 1; i < a->n; i++) {
		if (a->sums[i] != 0 && n++ < LOCATED) {
			a->games[i].flags |= CHI_VERIFY_WRONG;
		}
	}
	return n;
}

/* The trees once more, for the games that are marked. */
static int walk_again(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	chi_page_walk_restart(&v->walk);
	int rc = chi_verify_bodies_begin(v);
	a->joined = true;
	rc = rc == CHI_OK ? chi_page_walk_tree(&v->walk, &v->trees[CHI_VERIFY_GAMES]) : rc;
	if (a->n_calls > 0) {
		qsort(a->calls, a->n_calls, sizeof(*a->calls), compare_calls);
	}
	rc = rc == CHI_OK ? chi_verify_lists_begin(v) : rc;
	return rc == CHI_OK ? chi_verify_locate_positions(v) : rc;
}

int chi_verify_compare_games(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	uint64_t wrong = a->lists_read ? mark_wrong(a) : 0;
	if (wrong == 0) {
		return CHI_OK;
	}
	chi_verify_disagree(v,
			    "%" PRIu64 " games are not listed with the positions that they "
			    "reached, as they are",
			    wrong);
	v->walk.quiet = true;
	a->locating = true;
	int rc = walk_again(v);
	for (size_t i = 0; rc == CHI_OK && i < a->n_calls; i++) {
		const struct chi_verify_call *call = &a->calls[i];
		if (!call->found) {
			disagree_at(v, call->key, chi_key_length(call->key),
				    "is not in its list, with what it played here",
				    call->entry.game);
		}
	}
	v->walk.quiet = false;
	return rc;
}
