/* SPDX-License-Identifier: MIT */
/*
 * The archive in a verification. Its trees hold games in parts; what each says of a game is noted
 * by its number, and compared. All games are replayed: what their moves say the lists must hold and
 * what the lists hold is summed up for each game, as hashes.
 *
 * The order of the walks: identities, names, columns, games, traits, postings, positions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore/games.h"
#include "store/games/columns.h"
#include "store/pages/page_cursor.h"
#include "store/postings/postings.h"
#include "store/ratings/performance.h"
#include "store/traits/traits.h"

struct chi_verify;
struct chi_record_rest;

enum {
	CHI_VERIFY_IDENTITY = 1, /* where the game was met */
	CHI_VERIFY_HEAD = 2,
	CHI_VERIFY_PRUNED = 4,
	CHI_VERIFY_WRONG = 8, /* its lists and its moves disagree: to be located */
};

struct chi_verify_game {
	uint32_t traits; /* the sum that its moves call for, less those in lists of traits */
	uint16_t max_ply;
	uint8_t result;
	uint8_t flags;
	bool body; /* it was met. Apart from the flags, which other threads read meanwhile */
};

/* A position of a game whose lists are wrong. */
struct chi_verify_call {
	uint64_t hash;
	struct chi_posting entry;
	uint8_t key[CHI_KEY_MAX];
	bool found;
};

struct chi_verify_archive {
	struct chi_verify_game *games; /* by number */
	uint32_t *sums; /* by number: of the entries that its moves call for, less those in lists */
	uint64_t n;	/* of them, the unused 0 included */
	uint64_t disagreements; /* reported, between parts that are sound */
	bool locating;		/* a second pass: only games that are wrong matter */
	bool side_by_side;	/* bodies and positions are walked at the same time */

	struct chi_names_checker *names; /* of the names tree */
	uint32_t last_name[CHI_NAME_KINDS];

	chi_trait last_trait; /* of the lists of traits, and its last game */
	uint32_t last_listed;

	uint32_t next_head; /* number after the last chunk of columns */
	uint32_t next_body;
	struct chi_page_cursor heads; /* beside the walk through bodies */
	struct chi_columns_chunk chunk;
	bool joined; /* `heads` can be used */
	struct chi_bodies_reader *bodies;
	struct chi_arena arena;
	struct chi_verify_room *room; /* of a replay */

	/* Entries that moves of pruned games call for: a Bloom filter, as not all are there. */
	uint64_t pruned_plies;
	uint64_t *filter;
	uint64_t filter_mask; /* of numbers of bits */

	struct chi_page_cursor lists; /* beside the walk through positions */
	bool lists_read;	      /* it can be used */
	bool list_left;		      /* `list` was not taken yet */
	MDB_val list_key;
	size_t list_key_len; /* of the position's */
	struct chi_posting *list;
	size_t n_list;

	struct chi_performance *performance; /* by the columns, of a performance store, or NULL */

	struct chi_verify_call *calls; /* when locating: ascending */
	size_t n_calls;
	size_t calls_size;
};

/* `state` tells how many games there may be: after the meta tree. */
CHI_MUSTUSE int chi_verify_archive_begin(struct chi_verify *verify);
void chi_verify_archive_deinit(struct chi_verify *verify);

/* A disagreement of parts that are sound by themselves. */
CHI_PRINTF(2, 3) void chi_verify_disagree(struct chi_verify *verify, const char *format, ...);

/* NULL: no game was given that number. */
struct chi_verify_game *chi_verify_find_game(struct chi_verify *verify, uint32_t number);

/* ---- verify_games.c: for the walks ------------------------------------------------------- */

void chi_verify_identity(struct chi_verify *verify, const struct chi_game_id *id);
chi_page_take chi_verify_name;
chi_page_take chi_verify_columns;
chi_page_take chi_verify_bodies;
chi_page_take chi_verify_gameset;

/* Between the walks: names were walked; columns were; bodies were. */
CHI_MUSTUSE int chi_verify_names_end(struct chi_verify *verify);
CHI_MUSTUSE int chi_verify_bodies_begin(struct chi_verify *verify);
void chi_verify_bodies_end(struct chi_verify *verify);

/* ---- verify_replay.c --------------------------------------------------------------------- */

/* Memory for replays, to be freed. NULL: there is none. */
struct chi_verify_room *chi_verify_room_new(void);

/* Of the bytes of a position, zeros after them; and of an entry in its list. */
uint64_t chi_verify_hash(const uint8_t key[CHI_KEY_MAX]);
uint64_t chi_verify_entry_hash(uint64_t position, uint32_t game, chi_move move);

/* Of a game in the list of a trait. */
uint32_t chi_verify_trait_hash(chi_trait trait, uint32_t game);

/* Plays a game and adds up what its lists must hold; or notes it, when locating. */
CHI_MUSTUSE int chi_verify_replay(struct chi_verify *verify, const struct chi_game *game);

/* Whether a pruned game may be in a list with that hash. */
bool chi_verify_may_be(const struct chi_verify_archive *archive, uint64_t hash);

/* ---- verify_lists.c ---------------------------------------------------------------------- */

chi_page_take chi_verify_postings;
chi_page_take chi_verify_traits;

/* After the walk through the traits. */
void chi_verify_traits_end(struct chi_verify *verify);

/* Before and after the walk through the positions. */
CHI_MUSTUSE int chi_verify_lists_begin(struct chi_verify *verify);
void chi_verify_lists_end(struct chi_verify *verify);

/* The same of a part of the positions, from `low` to before `end`, NULL: to the last one. */
CHI_MUSTUSE int chi_verify_lists_begin_at(struct chi_verify *verify, const MDB_val *low);
void chi_verify_lists_end_at(struct chi_verify *verify, const MDB_val *end);

/* The list of a position, in its record or in the postings tree. */
CHI_MUSTUSE int chi_verify_list(struct chi_verify *verify, const MDB_val *key,
				const struct chi_record *record,
				const struct chi_record_rest *rest);

/* When all trees were walked without damage: games whose sums differ, and where. */
CHI_MUSTUSE int chi_verify_compare_games(struct chi_verify *verify);
