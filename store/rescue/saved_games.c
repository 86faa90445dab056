/* SPDX-License-Identifier: MIT */
/* Sound chunks are copied in transactions; the last of these makes them one archive. */
#include "store/rescue/saved_games.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "chistore/names.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/games/archive.h"
#include "store/games/bodies.h"
#include "store/games/columns.h"
#include "store/gamesets/gamesets.h"
#include "store/lmdb_err.h"
#include "store/names/names.h"
#include "store/record/meta.h"
#include "store/txn/txn.h"

#define TRAITS_MEMORY (UINT64_C(64) << 20)
#define GAME_ARENA    ((size_t)64 << 20)
#define NAMES_MEMORY  ((size_t)32 << 20)

enum {
	CLAIMED = 1,
	WHOLE = 2,
};

void chi_saved_games_deinit(struct chi_saved_games *saved)
{
	free(saved->claimed);
	chi_bodies_reader_free(saved->bodies);
	*saved = (struct chi_saved_games){0};
}

static bool reserve(struct chi_saved_games *saved, uint64_t number)
{
	size_t before = saved->size;
	if (chi_grow(&saved->claimed, &saved->size, number + 1, 1) < 0) {
		return false;
	}
	memset(saved->claimed + before, 0, saved->size - before);
	return true;
}

bool chi_saved_games_claim(struct chi_saved_games *saved, const struct chi_game_id *game)
{
	if (game->number == 0 || !reserve(saved, game->number) ||
	    saved->claimed[game->number] != 0) {
		return false;
	}
	saved->claimed[game->number] = CLAIMED;
	return true;
}

/* ---- Copying -------------------------------------------------------------------------------- */

static bool is_sound(struct chi_saved_games *saved, enum chi_salvage_tree tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct chi_columns_chunk chunk;
	struct chi_gameset_entry entry;
	uint32_t first;
	uint32_t n;
	switch (tree) {
	case CHI_SALVAGE_COLUMNS:
		return chi_columns_open(key, value, &chunk) == CHI_OK;
	case CHI_SALVAGE_GAMES:
		return (saved->bodies != NULL || chi_bodies_reader_new(&saved->bodies) == CHI_OK) &&
		       chi_bodies_open(saved->bodies, key, value, &first, &n) == CHI_OK;
	case CHI_SALVAGE_GAMESETS:
		if (chi_gameset_decode(key, value, &entry) != CHI_OK) {
			return false;
		}
		saved->last = entry.mark.last > saved->last ? entry.mark.last : saved->last;
		return true;
	case CHI_SALVAGE_NAMES:
	default:
		return tree == CHI_SALVAGE_NAMES; /* looked at when all are there */
	}
}

/* What an entry of no tree is, its checksum tells; of names it is not asked. */
static enum chi_salvage_tree tree_of(struct chi_saved_games *saved, const MDB_val *key,
				     const MDB_val *value)
{
	static const enum chi_salvage_tree trees[] = {CHI_SALVAGE_COLUMNS, CHI_SALVAGE_GAMES,
						      CHI_SALVAGE_GAMESETS};
	for (size_t i = 0; i < CHI_COUNT(trees); i++) {
		if (is_sound(saved, trees[i], key, value)) {
			return trees[i];
		}
	}
	return CHI_SALVAGE_LOST;
}

int chi_saved_games_take(struct chi_saved_games *saved, struct chi_write *write,
			 enum chi_salvage_tree tree, const MDB_val *key, const MDB_val *value,
			 bool *taken)
{
	const struct chi_archive_trees *trees = &write->env->archive;
	const struct {
		const MDB_dbi *dbi;
		enum chi_chain chain;
	} to[CHI_SALVAGE_TREES] = {
		[CHI_SALVAGE_NAMES] = {&trees->names, CHI_CHAIN_NAMES},
		[CHI_SALVAGE_COLUMNS] = {&trees->columns, CHI_CHAIN_COLUMNS},
		[CHI_SALVAGE_GAMES] = {&trees->games, CHI_CHAIN_GAMES},
		[CHI_SALVAGE_GAMESETS] = {&trees->gamesets, CHI_CHAIN_GAMESETS},
	};
	*taken = false;
	tree = tree == CHI_SALVAGE_LOST ? tree_of(saved, key, value) : tree;
	if (tree == CHI_SALVAGE_LOST || key->mv_size == 0 || !is_sound(saved, tree, key, value)) {
		return CHI_OK;
	}
	int error = chi_chain_put(write->txn, *to[tree].dbi, to[tree].chain, key, value,
				  MDB_NOOVERWRITE);
	*taken = error == 0;
	write->changed |= *taken;
	return error == MDB_KEYEXIST || error == MDB_BAD_VALSIZE ? CHI_OK : chi_lmdb_status(error);
}

/* ---- Names ---------------------------------------------------------------------------------- */

struct settling {
	struct chi_saved_games *saved;
	struct chi_write *write;
	chi_verify_report *report;
	void *context;
	uint64_t last;
	uint32_t names[CHI_NAME_KINDS]; /* the highest number that games refer to, or that is there
					 */
	uint32_t given[CHI_NAME_KINDS]; /* the highest number given; 0: not known */
};

static void tell(const struct settling *s, const char *text)
{
	s->report(s->context, text);
}

static void refer(struct settling *s, enum chi_name_kind kind, uint32_t id)
{
	s->names[kind] = id > s->names[kind] ? id : s->names[kind];
}

static int find_references(struct settling *s)
{
	const struct chi_archive_trees *trees = &s->write->env->archive;
	struct chi_columns_reader reader;
	struct chi_game_head head;
	int rc = chi_columns_reader_init(&reader, s->write->txn, trees->columns);
	for (uint64_t i = 1; rc == CHI_OK && i <= s->last; i++) {
		int found = chi_columns_read(&reader, (uint32_t)i, &head);
		if (found == CHI_OK) {
			refer(s, CHI_NAME_PLAYER, head.white);
			refer(s, CHI_NAME_PLAYER, head.black);
			refer(s, CHI_NAME_EVENT, head.event);
			refer(s, CHI_NAME_SITE, head.site);
			refer(s, CHI_NAME_SOURCE, head.source);
		}
		rc = found < 0 ? found : CHI_OK;
	}
	chi_columns_reader_deinit(&reader);
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		uint32_t n = 0;
		/* The last chunk may be damaged: then what games refer to is all that is known. */
		if (chi_names_count(s->write->txn, trees->names, (enum chi_name_kind)kind, &n) ==
		    CHI_OK) {
			s->given[kind] = n;
			refer(s, (enum chi_name_kind)kind, n);
		}
	}
	return rc;
}

static void say_nothing(void *context, const char *text)
{
	(void)context;
	(void)text;
}

/* All names are there, and all their indexes. CHI_NONE: not so; -CHI_ENOMEM. */
static int check_names(const struct settling *s)
{
	MDB_dbi dbi = s->write->env->archive.names;
	uint64_t n = 0;
	int rc = chi_names_check(s->write->txn, dbi, say_nothing, NULL, &n);
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		uint32_t last = 0;
		rc = chi_names_count(s->write->txn, dbi, (enum chi_name_kind)kind, &last);
		rc = rc == CHI_OK && last < s->names[kind] ? CHI_NONE : rc;
	}
	return rc == CHI_OK || rc == -CHI_ENOMEM ? rc : CHI_NONE;
}

/* The names of a kind that can be read, in memory; a lost one has no text, one that was removed an
 * empty one. */
static int read_names(const struct settling *s, enum chi_name_kind kind, struct chi_arena *arena,
		      struct chi_name **out)
{
	size_t n = s->names[kind];
	struct chi_name *names = chi_arena_array(arena, n + 1, sizeof(*names));
	if (names == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_name name;
		names[i] = (struct chi_name){.id = (uint32_t)i + 1};
		int rc = chi_name_text(s->write->txn, s->write->env->archive.names, kind,
				       names[i].id, &name);
		if (rc == CHI_OK) {
			names[i] = name;
			names[i].text = chi_arena_text(arena, name.text, name.len);
			rc = names[i].text != NULL ? CHI_OK : -CHI_ENOMEM;
		}
		if (rc == -CHI_ENOMEM) {
			return rc;
		}
		if (rc == CHI_NONE && names[i].id <= s->given[kind]) {
			names[i].text = "";
		}
	}
	*out = names;
	return CHI_OK;
}

static int add_saved_name(const struct settling *s, struct chi_name_cache *cache,
			  enum chi_name_kind kind, const struct chi_name *name)
{
	MDB_dbi dbi = s->write->env->archive.names;
	char text[96];
	uint32_t id = 0;
	int rc = name->len > 0 ? chi_names_add(cache, s->write->txn, dbi, kind, name->text,
					       name->len, name->fide, &id)
			       : CHI_NONE;
	if (rc != CHI_NONE && rc != -CHI_EINVAL) {
		return rc;
	}
	int len = snprintf(text, sizeof(text), "(lost %s %" PRIu32 ")", chi_name_kind_name(kind),
			   name->id);
	if (name->text == NULL || name->len > 0) {
		tell(s, text);
	}
	rc = chi_names_add(cache, s->write->txn, dbi, kind, text, (size_t)len, 0, &id);
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* What is more than a text: aliases, FIDE ids that were given, numbers whose names were removed. */
static int finish_names(const struct settling *s, enum chi_name_kind kind,
			const struct chi_name *names)
{
	MDB_dbi dbi = s->write->env->archive.names;
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < s->names[kind]; i++) {
		if (names[i].root != 0) {
			rc = chi_names_alias(s->write->txn, dbi, kind, names[i].id, names[i].root,
					     NULL);
		}
		if (rc >= 0 && names[i].given) {
			rc = chi_names_set_fide(s->write->txn, dbi, names[i].id, names[i].fide,
						true, NULL);
		}
		if (rc >= 0 && names[i].text != NULL && names[i].len == 0) {
			rc = chi_names_remove(s->write->txn, dbi, kind, names[i].id);
		}
		rc = rc == CHI_NONE || rc == -CHI_EINVAL ? CHI_OK : rc;
	}
	return rc;
}

static int fill_names(const struct settling *s, struct chi_name *const names[CHI_NAME_KINDS])
{
	MDB_dbi dbi = s->write->env->archive.names;
	struct chi_name_cache *cache = NULL;
	int rc = chi_name_cache_new(NAMES_MEMORY, &cache);
	rc = rc == CHI_OK ? chi_lmdb_status(chi_chain_drop(s->write->txn, dbi, CHI_CHAIN_NAMES))
			  : rc;
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		for (size_t i = 0; rc == CHI_OK && i < s->names[kind]; i++) {
			rc = add_saved_name(s, cache, (enum chi_name_kind)kind, &names[kind][i]);
		}
	}
	rc = rc == CHI_OK ? chi_names_flush(cache, s->write->txn, dbi) : rc;
	chi_name_cache_free(cache);
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		rc = finish_names(s, (enum chi_name_kind)kind, names[kind]);
	}
	return rc;
}

static int settle_names(struct settling *s)
{
	struct chi_name *names[CHI_NAME_KINDS] = {NULL};
	struct chi_arena arena;
	int rc = find_references(s);
	rc = rc == CHI_OK ? check_names(s) : rc;
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = CHI_OK;
	tell(s, "names of the games are damaged");
	chi_arena_init(&arena, SIZE_MAX);
	for (int kind = CHI_NAME_PLAYER; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		rc = read_names(s, (enum chi_name_kind)kind, &arena, &names[kind]);
	}
	rc = rc == CHI_OK ? fill_names(s, names) : rc;
	chi_arena_deinit(&arena);
	return rc;
}

/* ---- Games ---------------------------------------------------------------------------------- */

/* Marks the games that are whole. */
static int find_whole(struct settling *s)
{
	struct chi_archive_reader *reader = NULL;
	struct chi_arena arena;
	struct chi_game game;
	int rc = chi_archive_reader_new(&reader);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_arena_init(&arena, GAME_ARENA);
	rc = chi_archive_reader_begin(reader, s->write->txn, &s->write->env->archive);
	for (uint64_t i = 1; rc == CHI_OK && i <= s->last; i++) {
		chi_arena_reset(&arena);
		int found = chi_archive_game(reader, (uint32_t)i, &arena, &game);
		if (found == CHI_OK && s->saved->claimed[i] == CLAIMED) {
			s->saved->claimed[i] = WHOLE;
		}
		rc = found == CHI_OK || found == CHI_NONE || found == -CHI_ECORRUPT ? CHI_OK
										    : found;
	}
	chi_archive_reader_end(reader);
	chi_archive_reader_free(reader);
	chi_arena_deinit(&arena);
	return rc;
}

/* Columns and body of what is not whole. */
static int drop_parts(struct settling *s)
{
	const struct chi_archive_trees *trees = &s->write->env->archive;
	int rc = CHI_OK;
	for (uint64_t i = 1; rc >= 0 && i <= s->last; i++) {
		if (s->saved->claimed[i] == WHOLE) {
			continue;
		}
		rc = chi_columns_remove(s->write->txn, trees->columns, (uint32_t)i);
		rc = rc < 0 ? rc : chi_bodies_remove(s->write->txn, trees->games, (uint32_t)i);
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The games that are whole are played again: their lists by trait are made from that. */
static int list_traits(struct settling *s)
{
	const struct chi_archive_trees *trees = &s->write->env->archive;
	struct chi_archive_reader *reader = NULL;
	struct chi_traits_writer *writer = NULL;
	struct chi_traits traits;
	int rc = chi_archive_reader_new(&reader);
	rc = rc == CHI_OK ? chi_traits_writer_new(TRAITS_MEMORY, &writer) : rc;
	rc = rc == CHI_OK ? chi_archive_reader_begin(reader, s->write->txn, trees) : rc;
	for (uint64_t i = 1; rc == CHI_OK && i <= s->last; i++) {
		if (s->saved->claimed[i] == WHOLE) {
			rc = chi_archive_traits(reader, (uint32_t)i, &traits);
			rc = rc == CHI_OK
				     ? chi_traits_append(writer, s->write->txn, trees->traits,
							 (uint32_t)i, (const uint8_t *)traits.trait,
							 traits.n)
			     : rc == CHI_NONE ? -CHI_ECORRUPT
					      : rc;
		}
	}
	rc = rc == CHI_OK ? chi_traits_flush(writer, s->write->txn, trees->traits) : rc;
	chi_traits_writer_free(writer);
	chi_archive_reader_free(reader);
	return rc;
}

struct unkept {
	const struct chi_saved_games *saved;
	struct chi_game_id game;
};

/* CHI_NONE: it is the identity of a game that is lost. */
static int find_unkept(void *context, const MDB_val *key, const MDB_val *value)
{
	struct unkept *unkept = context;
	struct chi_game_id *game = &unkept->game;
	int rc = chi_game_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size, game);
	return rc == CHI_OK && game->number != 0 && unkept->saved->claimed[game->number] != WHOLE
		       ? CHI_NONE
		       : rc;
}

/* Lost games are counted as before, one at a time. */
static int count_only(struct settling *s, uint64_t *lost)
{
	struct unkept unkept = {.saved = s->saved};
	struct chi_game_id *game = &unkept.game;
	uint8_t after[CHI_GAME_ID_SIZE];
	const MDB_val from = {sizeof(after), after};
	struct chi_game_id was;
	char text[64];
	bool first = true;
	int rc;
	while ((rc = chi_chain_walk(s->write->txn, s->write->env->ids, CHI_CHAIN_IDS,
				    first ? NULL : &from, 0, find_unkept, &unkept)) == CHI_NONE) {
		first = false;
		memcpy(after, game->id, sizeof(after));
		(void)snprintf(text, sizeof(text), "game %" PRIu32 " is lost, and only counted",
			       game->number);
		tell(s, text);
		++*lost;
		game->number = 0;
		rc = chi_write_remove_game_id(s->write, game->id, &was);
		rc = rc == CHI_OK ? chi_write_game_id(s->write, game) : rc;
		if (rc != CHI_OK) {
			return rc < 0 ? rc : -CHI_ECORRUPT;
		}
	}
	return rc;
}

int chi_saved_games_settle(struct chi_saved_games *saved, struct chi_write *write, uint64_t last,
			   chi_verify_report *report, void *context, uint64_t *lost)
{
	struct settling s = {.saved = saved, .write = write, .report = report, .context = context};
	s.last = write->state.last_game > last ? write->state.last_game : last;
	/* A state that is there knows better than what was taken for a gameset. */
	s.last = last == 0 && saved->last > s.last ? saved->last : s.last;
	s.last = s.last < UINT32_MAX ? s.last : UINT32_MAX;
	chi_state_number(&write->state, (uint32_t)s.last);
	write->changed = true;
	if (!reserve(saved, s.last)) {
		return -CHI_ENOMEM;
	}
	int rc = settle_names(&s);
	rc = rc == CHI_OK ? find_whole(&s) : rc;
	rc = rc == CHI_OK ? drop_parts(&s) : rc;
	rc = rc == CHI_OK ? list_traits(&s) : rc;
	return rc == CHI_OK ? count_only(&s, lost) : rc;
}
