/* SPDX-License-Identifier: MIT */
/*
 * The archive of a dump on its way into a store. The threads that read its lines read each game's
 * PGN as an import does: the game is packed and spilled, its positions become items to be sorted
 * (import/count.h), its identity is held against the line that the dump has for it. Names and
 * gamesets are spilled, too. The commit then has all of it in order.
 *
 * Games have the numbers of the dump here; what they are in the store, struct chi_carried_plan
 * says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorter.h"
#include "import/archive/keep.h"
#include "import/archive/spill.h"
#include "import/importer_priv.h"
#include "store/text/dump.h"

struct chi_carried {
	struct chi_importer *importer;
	struct chi_spill games; /* each: its source's length (1 byte), its source, packed */
	struct chi_spill texts; /* lines of names and gamesets */
	struct chi_sorter *positions;
	/* An id, then a byte: 0 for a line of it, 1 for a game. In the last 8 bytes the number
	 * (upper 32 bits), last ply counted (16), pruned (1 bit), result (8). */
	struct chi_sorter *ids;
};

/* May fail half done: chi_carried_deinit is called in every case. */
CHI_MUSTUSE int chi_carried_init(struct chi_carried *carried, struct chi_importer *importer,
				 struct chi_fault *fault);
void chi_carried_deinit(struct chi_carried *carried);

/* ---- A thread that reads: zeroed at first ------------------------------------------------- */

struct chi_pgn;
struct chi_counter;

struct chi_carrier {
	struct chi_carried *carried;
	struct chi_filler positions;
	struct chi_filler ids;
	struct chi_spill_chunk *texts;
	/* What games need, made for the first one. */
	struct chi_pgn *pgn;
	struct chi_counter *counter;
	uint8_t *scratch;
	struct chi_keeper keeper;
	/* The game whose lines come. */
	bool open;
	uint32_t number;
	uint64_t line;	/* of its first */
	uint64_t n_pgn; /* games that its text has */
	uint32_t stream;
	uint8_t source[CHI_SOURCE_SIZE]; /* its length before it */
	bool ended;			 /* its last line has an end */
};

void chi_carrier_init(struct chi_carrier *carrier, struct chi_carried *carried);
void chi_carrier_deinit(struct chi_carrier *carrier);

/* A line of the dump that was read, of the stream with that number: all but the head's, positions
 * and the last one. The faults name the line. */
CHI_MUSTUSE int chi_carrier_line(struct chi_carrier *carrier, const struct chi_dump_reader *reader,
				 const struct chi_dump_text *line, enum chi_dump_line kind,
				 uint32_t stream, struct chi_fault *fault);

/* No more lines come of the stream; or no more streams. */
CHI_MUSTUSE int chi_carrier_pause(struct chi_carrier *carrier, struct chi_fault *fault);
CHI_MUSTUSE int chi_carrier_end(struct chi_carrier *carrier, struct chi_fault *fault);

/* ---- The commit, when the threads have ended ---------------------------------------------- */

/* Calls for each game that is counted, by ascending id; its number is 0 if it is not kept. A game
 * without a line, or the other way round, is -CHI_ESYNTAX. May be called again. */
typedef int chi_carried_take(void *context, const struct chi_game_id *game,
			     struct chi_fault *fault);
CHI_MUSTUSE int chi_carried_each(struct chi_carried *carried, chi_carried_take *take, void *context,
				 struct chi_fault *fault);

/* What becomes of the games, by their number in the dump. Zeroed at first. */
struct chi_carried_plan {
	uint32_t last;
	uint32_t *numbers; /* in the store; 0: it is not kept there */
	uint16_t *plies;   /* the last one counted; 0: all are */
	uint8_t *known;	   /* bits: it is counted in the store already */
	uint8_t *pruned;   /* bits */
};

/* `last`: the highest number. -CHI_ETOOBIG, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_plan_carried(const struct chi_importer *importer, uint64_t last,
				 struct chi_carried_plan *out, struct chi_fault *fault);
void chi_carried_plan_deinit(struct chi_carried_plan *plan);

/* Notes a game, which for now has the same number in the store. -CHI_ESYNTAX: another one has it,
 * or it is too large; `name` says what is damaged then. */
CHI_MUSTUSE int chi_plan_game(struct chi_carried_plan *plan, const struct chi_game_id *game,
			      const char *name, struct chi_fault *fault);

static inline bool chi_carried_bit(const uint8_t *bits, uint32_t number)
{
	return (bits[number / 8] >> number % 8 & 1) != 0;
}

static inline void chi_carried_set(uint8_t *bits, uint32_t number)
{
	bits[number / 8] |= (uint8_t)(1u << number % 8);
}

/* The games that have a number in the store, in their order, into the archive. */
struct chi_load;
CHI_MUSTUSE int chi_carried_archive(struct chi_carried *carried,
				    const struct chi_carried_plan *plan, struct chi_load *load,
				    struct chi_fault *fault);

/* Calls for each name, or for each gameset, the other being NULL; in the order of the dump. */
typedef int chi_carried_name(void *context, const struct chi_dump_name *name);
typedef int chi_carried_gameset(void *context, const struct chi_dump_text *name,
				const struct chi_dump_text *filter);
CHI_MUSTUSE int chi_carried_texts(struct chi_carried *carried, chi_carried_name *name,
				  chi_carried_gameset *gameset, void *context,
				  struct chi_fault *fault);
