/* SPDX-License-Identifier: MIT */
/*
 * Loading positions and games by the million, in key order: into a store that does not exist yet,
 * which is built beside its place with appends and appears whole, or into one that does, in one
 * write transaction. Either way others see all of it or nothing.
 *
 * Order of calls: chi_load_new or chi_load_into; chi_load_game and chi_load_ungame by ascending
 * id; chi_load_start; chi_load_apply of blocks, or chi_load_fold of puts, by ascending key;
 * chi_load_finish. All by one thread, which is the store's writer meanwhile. Only chi_load_pack and
 * chi_load_keep are for any thread. A load that found nothing to change may be finished without a
 * start: what it saw is durable then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"
#include "store/store.h"

struct chi_load;

/* Makes the hidden directory in which the new store is built. As chi_dir_create. */
CHI_MUSTUSE int chi_load_new(const char *path, enum chi_statistic statistic, enum chi_keep keep,
			     struct chi_load **out, struct chi_fault *fault);

/*
 * A new store in a file without a name, made in `dir`, a text that lives as long; filled as any
 * other. chi_load_open comes in place of chi_load_finish, after chi_load_complete: it opens it for
 * reading by this process and frees the load in every case. Closed it is gone.
 */
CHI_MUSTUSE int chi_load_unnamed(const char *dir, enum chi_statistic statistic, enum chi_keep keep,
				 struct chi_load **out, struct chi_fault *fault);
CHI_MUSTUSE int chi_load_open(struct chi_load *load, struct chi_dir **out, struct chi_fault *fault);

/* Begins the write transaction. As chi_write_begin. */
CHI_MUSTUSE int chi_load_into(struct chi_dir *store, struct chi_load **out,
			      struct chi_fault *fault);

/* What it may hold: bytes, of which names and changed pages get their shares. Before anything else;
 * without it CHI_IMPORT_MEMORY_DEFAULT. Into an open store changed pages are not bounded by it. */
void chi_load_memory(struct chi_load *load, uint64_t memory);

/* Looks the game's id up in the store: CHI_OK and *out; CHI_NONE; -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_load_find_game(struct chi_load *load, const uint8_t id[CHI_GAME_ID_SIZE],
				   struct chi_game_id *out);

/* The number that the next game gets. */
uint64_t chi_load_next_game(struct chi_load *load);

/* Adds a game that is not there, or takes out one that is. */
CHI_MUSTUSE int chi_load_game(struct chi_load *load, const struct chi_game_id *game);
CHI_MUSTUSE int chi_load_ungame(struct chi_load *load, const struct chi_game_id *game);

/*
 * Keeps a game that was added: `packed` by chi_game_pack (store/games/body.h), its number the one
 * it was added with, greater than all before. `source`: where it comes from, "" for not known. When
 * all are kept chi_load_archived writes what was gathered: before chi_load_start.
 */
CHI_MUSTUSE int chi_load_archive(struct chi_load *load, uint32_t number, const char *source,
				 const uint8_t *packed, size_t len, struct chi_fault *fault);
CHI_MUSTUSE int chi_load_archived(struct chi_load *load, struct chi_fault *fault);

/* The same of a game out of another store's archive (chi_archive_packed). */
struct chi_packed_game;
CHI_MUSTUSE int chi_load_archive_packed(struct chi_load *load, uint32_t number, const char *source,
					const struct chi_packed_game *game,
					struct chi_fault *fault);

/*
 * Takes a game that was kept out of the archive. When all are out chi_load_unarchived takes out
 * what only these brought: names that are in no game any more, unless an alias joins them or their
 * FIDE id was given, and FIDE ids of others that no game has any more. It walks the columns once.
 */
CHI_MUSTUSE int chi_load_unarchive(struct chi_load *load, uint32_t number, struct chi_fault *fault);
CHI_MUSTUSE int chi_load_unarchived(struct chi_load *load, struct chi_fault *fault);

/*
 * What a dump says of the archive, which is to have the very same numbers: a name, the next one of
 * its kind; after chi_load_archived that an alias joins it to another, which CHI_NONE means it does
 * already. -CHI_EINVAL: the dump cannot be right. All before chi_load_start.
 */
CHI_MUSTUSE int chi_load_name(struct chi_load *load, enum chi_name_kind kind, uint32_t id,
			      const char *text, size_t len, uint32_t fide, struct chi_fault *fault);
CHI_MUSTUSE int chi_load_alias(struct chi_load *load, enum chi_name_kind kind, uint32_t id,
			       uint32_t root, struct chi_fault *fault);

/* When aliases may come too: a player's FIDE id was given by hand or by a spelling file. CHI_NONE:
 * that is known. -CHI_EINVAL as above. */
CHI_MUSTUSE int chi_load_give_fide(struct chi_load *load, uint32_t id, uint32_t fide,
				   struct chi_fault *fault);

/* The number that a text has, or gets (store/names/names.h). */
CHI_MUSTUSE int chi_load_find_name(struct chi_load *load, enum chi_name_kind kind, const char *text,
				   size_t len, uint32_t fide, uint32_t *id,
				   struct chi_fault *fault);

/* A filter gets a name; its games are looked for when it is used. CHI_NONE: it has it already;
 * -CHI_EEXIST, not sticky: another has it. */
CHI_MUSTUSE int chi_load_gameset(struct chi_load *load, const char *name, size_t name_len,
				 const char *filter, size_t filter_len, struct chi_fault *fault);

/* No game gets a number up to this one any more. */
void chi_load_last_game(struct chi_load *load, uint32_t number);

/* What packing needs to know; plain data, the same for all threads. */
struct chi_load_spec {
	enum chi_statistic statistic;
	struct chi_counts base; /* base rates after the games above: of an outcome or score store */
	bool subtract;
	uint64_t games_min; /* see struct chi_import_options */
	bool computed;	    /* records come with the statistic that they are to have */
};

struct chi_load_options {
	bool subtract;
	uint64_t games_min; /* see struct chi_import_options */
	bool unplayed;	    /* a fold leaves positions that have games or moves as they are */
	uint64_t expected;  /* about so many positions come: decides whether a store's trees are
			       changed in place or written again; 0: few */
	uint64_t memory;    /* bytes for sorting the strength tree's entries */
	const char *dir;    /* where these may be spilled */
};

/* All games are in: sets the base rates to their results and fills *spec. */
CHI_MUSTUSE int chi_load_start(struct chi_load *load, const struct chi_load_options *options,
			       struct chi_load_spec *spec, struct chi_fault *fault);

/* Of a position's list, what came ahead of its record. */
struct chi_load_ahead {
	uint64_t n;
	uint64_t games;
};

/* Packed positions, ascending; zeroed at first. Applied and with `len` and `n` zeroed it may be
 * filled again, also between the pieces of a list. */
struct chi_load_block {
	struct chi_load_ahead ahead; /* of the position that is packed next */
	uint8_t *bytes;
	size_t len;
	size_t capacity;
	size_t n;
};
void chi_load_block_free(struct chi_load_block *block);

/*
 * Packs what games say about a position: counts, moves and plies; computes the statistic that it
 * has if it is new. `games` are those of the archive, sorted here, each move one of the record's:
 * they are added to the position's list, or taken out of it. Any thread. -CHI_ENOMEM, -CHI_EINVAL
 * (a record no store may hold).
 */
CHI_MUSTUSE int chi_load_pack(const struct chi_load_spec *spec, const struct chi_key *key,
			      const struct chi_record *record, struct chi_posting *games,
			      size_t n_games, struct chi_load_block *block);

/*
 * Before that, of a list too long to be held: a piece of it. Of games that are added those below
 * `least` are packed, before which none comes any more. Games that are taken out may come in any
 * order, but each by itself: all are packed but the last. *n are left. In the end there must be
 * more than CHI_LIST_HERE_MAX entries, of `games_min` games at least. Any thread. -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_load_pack_ahead(const struct chi_load_spec *spec, const struct chi_key *key,
				    struct chi_posting *games, size_t *n, uint32_t least,
				    struct chi_load_block *block);

/*
 * The same for a position that one game reached, which most are: at `ply`, and with `move` played
 * there, 0 for none. `game` is its number in the archive, 0 if it is not kept. `key` has zeros
 * after its `key_len` bytes. The bytes are those that chi_load_pack makes.
 */
CHI_MUSTUSE int chi_load_pack_one(const struct chi_load_spec *spec, const uint8_t key[CHI_KEY_MAX],
				  size_t key_len, enum chi_result result, uint16_t ply,
				  chi_move move, uint32_t game, struct chi_load_block *block);

/* Takes counts, moves and plies that games account for out of a record, whose lists it then has in
 * memory of `arena`. -CHI_EINVAL: less is there, which the fault says; -CHI_ENOMEM. Any thread. */
CHI_MUSTUSE int chi_load_less(const struct chi_record *games, struct chi_arena *arena,
			      struct chi_record *record, struct chi_fault *fault);

/* Stores a block: new positions as they are packed, others merged with what is stored. */
CHI_MUSTUSE int chi_load_apply(struct chi_load *load, const struct chi_load_block *block,
			       struct chi_fault *fault);

/*
 * A put as bytes, to be kept until all are in order: `out` has room for `room` bytes, *len are
 * used. The put has passed chi_put_check for a store of that statistic. Memory for the time of the
 * call is `arena`'s. Any thread. -CHI_ETOOBIG: there is no room, which CHI_LOAD_KEPT_MAX bytes
 * always are, or no store takes the record; -CHI_EINVAL, -CHI_ENOMEM.
 */
#define CHI_LOAD_KEPT_MAX ((192u << 10) + 8)
CHI_MUSTUSE int chi_load_keep(const struct chi_put_entry *put, enum chi_statistic statistic,
			      struct chi_arena *arena, uint8_t *out, size_t room, size_t *len);

/*
 * What several puts, kept as above, make of one position, in place of chi_load_apply: the key, by
 * ascending key, with zeros after its length; then one put after the other, whose bytes live until
 * the end; then the end, which stores what came out. CHI_NONE: what the position holds by then
 * refuses the put, and the fault says why; the load goes on without it.
 */
CHI_MUSTUSE int chi_load_fold_begin(struct chi_load *load, const struct chi_key *key,
				    struct chi_fault *fault);
CHI_MUSTUSE int chi_load_fold(struct chi_load *load, const uint8_t *kept, size_t len,
			      struct chi_fault *fault);
CHI_MUSTUSE int chi_load_fold_end(struct chi_load *load, struct chi_fault *fault);

/* Before the end: the list of games of a position that has none, ascending, each move one of the
 * record's. They live until the end. */
void chi_load_fold_games(struct chi_load *load, const struct chi_posting *games, size_t n);

/* What is to be stored as it is by now; CHI_NONE: nothing. In memory of `arena`. */
CHI_MUSTUSE int chi_load_folded(const struct chi_load *load, struct chi_arena *arena,
				struct chi_record *out);

/* The base rates, where games do not decide them: after chi_load_start. */
void chi_load_base(struct chi_load *load, const struct chi_counts *base);

/* The write transaction of a load into a store that is there, for what is to be stored with it; of
 * a new one NULL. The load's, to its end. */
struct chi_write *chi_load_write(struct chi_load *load);

/* The strength tree follows: what the load does is done in the transaction, and added to
 * *positions, *dropped. Once; only chi_load_finish or chi_load_abandon come after. */
CHI_MUSTUSE int chi_load_complete(struct chi_load *load, struct chi_put_result *positions,
				  uint64_t *dropped, struct chi_fault *fault);

/*
 * Completes what is not complete; everything is committed and synced, a new store gets its name.
 * Frees `load` in every case. What was done is added to *positions, *dropped (may not be NULL)
 * unless chi_load_complete has added it.
 */
CHI_MUSTUSE int chi_load_finish(struct chi_load *load, struct chi_put_result *positions,
				uint64_t *dropped, struct chi_fault *fault);

/* Gives up: nothing happened. NULL is fine. */
void chi_load_abandon(struct chi_load *load);
