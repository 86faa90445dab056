/* SPDX-License-Identifier: MIT */
/*
 * Games by number, whole: heads in columns, names by number, bodies. Statuses and transactions are
 * as in columns.h; of handles columns, games and names are used.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "chess/moves/movecode.h"
#include "chess/position.h"
#include "chistore/games.h"
#include "store/archive_trees.h"
#include "store/games/body.h"
#include "store/names/names.h"
#include "store/traits/traits.h"

/* ---- Reading ----------------------------------------------------------------------------- */

/* Remembers what it has unpacked: games one after the other cost one chunk for all of them. One
 * thread at a time; any number of transactions one after the other. */
struct chi_archive_reader;

/* What a reader takes, about, with a chunk of games unpacked and the names met. */
#define CHI_ARCHIVE_READER_BYTES ((size_t)512 << 10)

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_archive_reader_new(struct chi_archive_reader **out);
/* NULL is fine. */
void chi_archive_reader_free(struct chi_archive_reader *reader);

/* Between these the reader works in a transaction. A transaction that writes must have flushed. */
CHI_MUSTUSE int chi_archive_reader_begin(struct chi_archive_reader *reader, MDB_txn *txn,
					 const struct chi_archive_trees *trees);
void chi_archive_reader_end(struct chi_archive_reader *reader);

/* What the columns hold of a game. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_archive_head(struct chi_archive_reader *reader, uint32_t number,
				 struct chi_game_head *out);

/* The text of a name that columns have the number of; empty if that is 0. Not NUL-terminated, and
 * valid until the transaction ends. */
CHI_MUSTUSE int chi_archive_name(struct chi_archive_reader *reader, enum chi_name_kind kind,
				 uint32_t id, struct chi_span *out);

/* Those of a head, the store's own. */
CHI_MUSTUSE int chi_archive_names(struct chi_archive_reader *reader,
				  const struct chi_game_head *head,
				  struct chi_span names[CHI_HEAD_NAMES]);

/* Names and round as the game's own tags have them, valid until the reader is asked for another.
 * CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_archive_texts(struct chi_archive_reader *reader,
				  const struct chi_game_head *head,
				  struct chi_span texts[CHI_GAME_TEXTS]);

/*
 * A whole game: its tags, in the order of the input, have the texts that they had; the id is zeros
 * if none was given. Valid until the reader is asked for another game, and the arena's reset.
 * CHI_NONE: there is no such game.
 */
CHI_MUSTUSE int chi_archive_game(struct chi_archive_reader *reader, uint32_t number,
				 struct chi_arena *arena, struct chi_game *out);

/* A game as chi_game_pack would pack it, its moves played again, and the text of its source, empty
 * if there is none; valid until the reader's next call. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_archive_packed(struct chi_archive_reader *reader, uint32_t number,
				   struct chi_packed_game *out, struct chi_span *source);

/* The moves of a game, played again by chi_replay_init, and the position they begin from. The bytes
 * are valid until the reader's next call. CHI_NONE: there is no such game. */
struct chi_game_moves {
	bool has_start; /* else the initial position of chess */
	struct chi_position start;
	const uint8_t *bytes;
	size_t len;
};
CHI_MUSTUSE int chi_archive_moves(struct chi_archive_reader *reader, uint32_t number,
				  struct chi_game_moves *out);

/* What the lists of traits have a game in. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_archive_traits(struct chi_archive_reader *reader, uint32_t number,
				   struct chi_traits *out);

/* ---- Writing ----------------------------------------------------------------------------- */

/* Appends games in one write transaction. */
struct chi_archive_writer;

/* `names` and `traits` are the caller's, and are flushed by the caller. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_archive_writer_new(MDB_txn *txn, const struct chi_archive_trees *trees,
				       struct chi_name_cache *names,
				       struct chi_traits_writer *traits,
				       struct chi_archive_writer **out);
/* What was not flushed is lost. NULL is fine. */
void chi_archive_writer_free(struct chi_archive_writer *writer);

/*
 * Appends a game that chi_game_pack made the bytes of, opened, maybe out of another store's
 * archive. Its number must be greater than all before: -CHI_EINVAL. `source`: the name's id, 0:
 * none. `head`: as it is in the columns; may be NULL.
 */
CHI_MUSTUSE int chi_archive_append_packed(struct chi_archive_writer *writer, uint32_t number,
					  uint32_t source, const struct chi_packed_game *packed,
					  struct chi_game_head *head);

/* Writes what is kept of games: before the commit, and before anything else reads or changes the
 * trees. Names are flushed by chi_names_flush, traits by chi_traits_flush. */
CHI_MUSTUSE int chi_archive_flush(struct chi_archive_writer *writer);

/* Takes a game out that was flushed; its names stay. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_archive_remove(struct chi_archive_writer *writer, uint32_t number);
