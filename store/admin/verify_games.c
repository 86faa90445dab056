/* SPDX-License-Identifier: MIT */
/* What each tree of the archive says of a game, held against the others. */
#include "store/admin/verify_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/env/env.h"
#include "store/games/bodies.h"
#include "store/games/number.h"
#include "store/gamesets/gamesets.h"
#include "store/names/names.h"

/* A whole game in memory: its body, its tags, its moves. */
#define GAME_ARENA ((size_t)32 << 20)

void chi_verify_disagree(struct chi_verify *v, const char *format, ...)
{
	char text[CHI_VERIFY_TEXT];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	v->archive.disagreements++;
	chi_page_complain(&v->walk, "%s", text);
}

struct chi_verify_game *chi_verify_find_game(struct chi_verify *v, uint32_t number)
{
	return number != 0 && number < v->archive.n ? &v->archive.games[number] : NULL;
}

static void report_fault(void *context, const char *text)
{
	chi_page_complain(context, "%s", text);
}

int chi_verify_archive_begin(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	a->n = (v->stated ? v->state.last_game : 0) + UINT64_C(1);
	a->games = calloc(a->n, sizeof(*a->games));
	a->sums = calloc(a->n, sizeof(*a->sums));
	a->list = malloc(CHI_POSTINGS_CHUNK_ENTRIES * sizeof(*a->list));
	a->room = chi_verify_room_new();
	chi_arena_init(&a->arena, GAME_ARENA);
	if (a->games == NULL || a->sums == NULL || a->list == NULL || a->room == NULL) {
		return -CHI_ENOMEM;
	}
	int rc = chi_bodies_reader_new(&a->bodies);
	if (rc == CHI_OK && v->stated && v->stamped &&
	    v->env->stamp.statistic == CHI_STATISTIC_PERFORMANCE) {
		rc = chi_performance_new(&v->state.expected, (uint32_t)v->state.last_game,
					 &a->performance);
	}
	return rc == CHI_OK ? chi_names_checker_new(report_fault, &v->walk, &a->names) : rc;
}

void chi_verify_archive_deinit(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	free(a->games);
	free(a->sums);
	free(a->list);
	free(a->room);
	free(a->filter);
	free(a->calls);
	chi_performance_free(a->performance);
	chi_names_checker_free(a->names);
	chi_bodies_reader_free(a->bodies);
	chi_page_cursor_deinit(&a->heads);
	chi_page_cursor_deinit(&a->lists);
	chi_arena_deinit(&a->arena);
}

/* ---- Identities and names ----------------------------------------------------------------- */

void chi_verify_identity(struct chi_verify *v, const struct chi_game_id *id)
{
	struct chi_verify_game *game = chi_verify_find_game(v, id->number);
	if (id->number == 0) {
		return;
	}
	if (v->stated && v->state.partial == 0 && !chi_game_is_whole(id)) {
		chi_verify_disagree(v,
				    "game %u: it is not listed in all of its positions, as the "
				    "state says of each",
				    id->number);
	}
	if (game == NULL) {
		chi_verify_disagree(v, "game %u: no game was given that number", id->number);
	} else if ((game->flags & CHI_VERIFY_IDENTITY) != 0) {
		chi_verify_disagree(v, "game %u: two identities have that number", id->number);
	} else {
		game->flags = CHI_VERIFY_IDENTITY | (id->pruned ? CHI_VERIFY_PRUNED : 0);
		game->result = id->result;
		game->max_ply = id->max_ply;
	}
}

int chi_verify_name(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		    const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	(void)tree;
	return chi_names_checker_entry(v->archive.names, key, value);
}

int chi_verify_names_end(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	uint64_t names;
	for (int kind = CHI_NAME_PLAYER; kind < CHI_NAME_KINDS; kind++) {
		a->last_name[kind] = chi_names_checker_last(a->names, (enum chi_name_kind)kind);
	}
	int rc = chi_names_checker_end(a->names, &names);
	return rc == -CHI_ECORRUPT ? CHI_OK : rc;
}

/* ---- Heads -------------------------------------------------------------------------------- */

static void verify_name(struct chi_verify *v, uint32_t number, enum chi_name_kind kind,
			const char *what, uint32_t id)
{
	if (id > v->archive.last_name[kind] ||
	    chi_names_checker_removed(v->archive.names, kind, id)) {
		chi_verify_disagree(v, "game %u: its %s, name %u, is not there", number, what, id);
	}
}

static void check_head(struct chi_verify *v, const struct chi_game_head *head)
{
	struct chi_verify_game *game = chi_verify_find_game(v, head->number);
	if (game == NULL || (game->flags & CHI_VERIFY_IDENTITY) == 0) {
		chi_verify_disagree(v, "game %u: it has columns, but no identity", head->number);
		return;
	}
	if (game->result != head->result) {
		chi_verify_disagree(v, "game %u: its columns tell another result than its identity",
				    head->number);
	}
	verify_name(v, head->number, CHI_NAME_PLAYER, "white player", head->white);
	verify_name(v, head->number, CHI_NAME_PLAYER, "black player", head->black);
	verify_name(v, head->number, CHI_NAME_EVENT, "event", head->event);
	verify_name(v, head->number, CHI_NAME_SITE, "site", head->site);
	verify_name(v, head->number, CHI_NAME_SOURCE, "source", head->source);
	game->flags |= CHI_VERIFY_HEAD;
	v->archive.pruned_plies +=
		(game->flags & CHI_VERIFY_PRUNED) != 0 ? head->plies + UINT64_C(1) : 0;
}

/* Chunks ascend, and no number is in two. */
static void check_next(struct chi_verify *v, const char *what, uint32_t first, uint32_t n,
		       uint32_t *next)
{
	if (first < *next) {
		chi_verify_disagree(v, "game %u: its %s are there twice", first, what);
	}
	*next = first + n;
}

int chi_verify_columns(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		       const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_columns_chunk chunk;
	struct chi_game_head head;
	(void)tree;
	if (chi_columns_open(key, value, &chunk) != CHI_OK) {
		chi_page_complain(walk, "the columns tree, from game %u on: a chunk is damaged",
				  key->mv_size == CHI_NUMBER_SIZE ? chi_number_of(key->mv_data)
								  : 0);
		return CHI_OK;
	}
	check_next(v, "columns", chunk.first, chunk.n, &v->archive.next_head);
	if (v->archive.performance != NULL && v->state.expected.scale > 0) {
		chi_performance_add_games(v->archive.performance, &chunk);
	}
	for (uint32_t row = 0; row < chunk.n; row++) {
		if (chi_column_value(&chunk, CHI_COLUMN_RESULT, row) < CHI_ROW_REMOVED) {
			chi_columns_head(&chunk, row, &head);
			check_head(v, &head);
		}
	}
	return CHI_OK;
}

/* ---- Bodies ------------------------------------------------------------------------------- */

/* Steps through the columns up to a game's. */
static int join_game(struct chi_verify *v, uint32_t number, struct chi_game_head *out)
{
	struct chi_verify_archive *a = &v->archive;
	MDB_val key;
	MDB_val value;
	int rc = CHI_OK;
	while (rc == CHI_OK && (a->chunk.n == 0 || number - a->chunk.first >= a->chunk.n)) {
		rc = chi_page_cursor_next(&a->heads, &key, &value);
		if (rc == CHI_OK && !chi_chain_strip(&key, &value)) {
			continue;
		}
		rc = rc == CHI_OK ? chi_columns_open(&key, &value, &a->chunk) : rc;
	}
	if (rc == CHI_OK) {
		chi_columns_head(&a->chunk, number - a->chunk.first, out);
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int check_body(struct chi_verify *v, uint32_t number, const struct chi_body *body)
{
	static const struct chi_span names[CHI_HEAD_NAMES];
	struct chi_verify_archive *a = &v->archive;
	struct chi_verify_game *known = chi_verify_find_game(v, number);
	struct chi_game_head head;
	struct chi_game game;
	if (known == NULL || (known->flags & CHI_VERIFY_HEAD) == 0) {
		chi_verify_disagree(v, "game %u: it has a body, but no columns", number);
		return CHI_OK;
	}
	known->body = true;
	if (v->depth != CHI_VERIFY_WHOLE) {
		return CHI_OK;
	}
	int rc = join_game(v, number, &head);
	chi_arena_reset(&a->arena);
	rc = rc == CHI_OK ? chi_body_unpack(&head, body, names, &a->arena, &game) : rc;
	rc = rc == CHI_OK ? chi_verify_replay(v, &game) : rc;
	if (rc == -CHI_ECORRUPT) {
		chi_verify_disagree(v, "game %u: its body is no game, or not that of its columns",
				    number);
	}
	return rc == -CHI_ENOMEM ? rc : CHI_OK;
}

int chi_verify_bodies(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		      const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_verify_archive *a = &v->archive;
	struct chi_body body;
	uint32_t first;
	uint32_t n;
	(void)tree;
	int rc = chi_bodies_open(a->bodies, key, value, &first, &n);
	if (rc == -CHI_ECORRUPT) {
		chi_page_complain(walk, "the games tree, from game %u on: a chunk is damaged",
				  key->mv_size == CHI_NUMBER_SIZE ? chi_number_of(key->mv_data)
								  : 0);
		return CHI_OK;
	}
	if (rc == CHI_OK) {
		check_next(v, "bodies", first, n, &a->next_body);
	}
	for (uint32_t i = 0; rc == CHI_OK && a->joined && i < n; i++) {
		if (chi_bodies_read(a->bodies, first + i, &body) == CHI_OK) {
			rc = check_body(v, first + i, &body);
		}
	}
	return rc;
}

/* ---- Gamesets ----------------------------------------------------------------------------- */

/* What a filter means is not known here, only that the entry is whole, and of games that were. */
int chi_verify_gameset(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		       const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_gameset_entry entry;
	(void)tree;
	if (chi_gameset_decode(key, value, &entry) != CHI_OK ||
	    !chi_gameset_named(entry.name, entry.name_len)) {
		chi_page_complain(walk, "the gamesets tree: an entry is damaged");
	} else if (v->stated && entry.mark.last > v->state.last_game) {
		chi_verify_disagree(v, "gameset %.*s: it is of games that there never were",
				    (int)entry.name_len, entry.name);
	}
	return CHI_OK;
}

/* Two bits and more for each ply, while that is not too much memory. */
#define FILTER_MOST (UINT64_C(1) << 31)
static int make_filter(struct chi_verify_archive *a)
{
	uint64_t bits = 1024;
	while (bits < 16 * a->pruned_plies && bits < FILTER_MOST) {
		bits *= 2;
	}
	a->filter_mask = bits - 1;
	a->filter = calloc(bits / 64, sizeof(*a->filter));
	return a->filter != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_verify_bodies_begin(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	/* What is damaged was reported: games are played only where all can be. */
	a->joined = v->walk.errors == a->disagreements;
	a->next_body = 0;
	a->chunk.n = 0;
	chi_page_cursor_deinit(&a->heads);
	chi_page_cursor_init(&a->heads, &v->walk.file_image, &v->trees[CHI_VERIFY_COLUMNS]);
	return a->filter == NULL ? make_filter(a) : CHI_OK;
}

void chi_verify_bodies_end(struct chi_verify *v)
{
	struct chi_verify_archive *a = &v->archive;
	a->joined = a->joined && v->walk.errors == a->disagreements;
	for (uint64_t i = 1; a->joined && i < a->n; i++) {
		uint8_t flags = a->games[i].flags;
		if ((flags & CHI_VERIFY_IDENTITY) != 0 && !a->games[i].body) {
			chi_verify_disagree(v, "game %" PRIu64 ": it has an identity, but no %s", i,
					    (flags & CHI_VERIFY_HEAD) == 0 ? "columns" : "body");
		}
	}
}
