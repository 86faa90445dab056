/* SPDX-License-Identifier: MIT */
/*
 * A session that reads games: the text goes through a queue to threads that read it; each makes
 * items of the games and gives them to two sorters, one of positions, one of games. The commit ends
 * the threads, decides game by game which are taken, and folds the positions' items into records.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorter.h"
#include "import/evals.h"
#include "import/importer_priv.h"
#include "import/reading.h"
#include "import/archive/sources.h"
#include "import/archive/spill.h"
#include "store/load/load.h"

/*
 * A game in the second sorter: its id; then, big-endian, where it is, so that of equal games
 * the first of the input comes first: stream (24 bits), game (20) and line (20) in it; then its
 * number (32), result (2), "cut" (1), number of moves that are counted (13), "bounded" (1: by
 * max_ply), 15 bits free.
 */
#define CHI_PLACE_STREAM_MAX 0xffffffu
#define CHI_PLACE_MAX	     0xfffffu /* of game and line; more is given as this */

#define CHI_GAME_NUMBERS INT32_MAX /* so many games a session may have */

/* Shares of the memory: for the bit that the commit holds for each game, for the places of streams
 * if it is to tell of games, and for the last plies counted. */
#define CHI_IMPORT_BITS_SHARE  16u
#define CHI_IMPORT_BASES_SHARE 16u
#define CHI_IMPORT_PLIES_SHARE 8u

/* Parts that may be on their way to the load: one for each thread, and some that are done. Their
 * packed records have a share of the memory, too, and twice that, since memory doubles. */
#define CHI_IMPORT_WINDOW(options) ((options)->threads + 2)
#define CHI_IMPORT_BLOCKS_SHARE	   32u
#define CHI_IMPORT_BLOCK_MIN	   ((size_t)64 << 10)

/* And for the numbers of games, and the names of their sources. */
#define CHI_IMPORT_NUMBERS_SHARE 8u
#define CHI_IMPORT_SOURCES_SHARE 64u

/* What is counted of the games, by number. All is zero at first, so that memory is taken only where
 * something is noted: most sessions drop few games and hold none to a ply. */
struct chi_import_limits {
	uint8_t *dropped;  /* a bit each: the game is not taken */
	uint16_t *plies;   /* the last ply counted, 0: all are; NULL: of every game all are */
	bool whole;	   /* no game is dropped or held to a ply */
	uint32_t *numbers; /* in the archive; NULL: games are not kept */
	uint32_t *least;   /* of each CHI_IMPORT_LEAST_STEP games and all after them; to add */
};
#define CHI_IMPORT_LEAST_STEP 1024

static inline bool chi_import_is_dropped(const struct chi_import_limits *limits, uint32_t game)
{
	return (limits->dropped[game / 8] >> game % 8 & 1) != 0;
}

struct chi_pgn_session;

/* One thread that reads. */
struct chi_import_reader {
	struct chi_pgn_session *games;
	uint64_t n;
	uint64_t skipped;
	uint64_t empty;
	uint64_t filtered;
	uint64_t conflicts;
};

/* Where a stream begins in the input; kept for remarks at the commit. */
struct chi_import_base {
	char *file; /* owned by the first base that has it; NULL: no name was given */
	uint64_t games;
	uint64_t lines;
};

struct chi_pgn_session {
	struct chi_importer *importer;
	struct chi_reading reading;
	struct chi_sorter *positions;
	struct chi_sorter *ids;
	struct chi_eval_file evals;
	struct chi_spill spill; /* open: the games are kept */
	struct chi_sources sources;
	_Atomic uint64_t evaluations; /* of the games taken */
	_Atomic uint64_t numbers;     /* given out */
	struct chi_import_reader *readers;
	/* The feeding thread's. */
	bool inside;	     /* the piece that is filled begins inside a line */
	char *file;	     /* of the stream collected last */
	uint64_t file_games; /* of that file, collected so far */
	uint64_t file_lines;
	struct chi_import_base *bases; /* by stream, if the commit is to tell of games; as many as
					  memory allows */
	size_t n_bases;
	uint64_t bases_size; /* bytes of them, names included */
	bool bases_end;	     /* no more are kept */
};

/* A thread's work: argument and result as pthread_create wants them. */
void *chi_import_read(void *reader);

/* import/commit.c: all that follows when the threads have ended. */
CHI_MUSTUSE int chi_importer_commit_pgn(struct chi_pgn_session *games,
					struct chi_import_result *result, struct chi_fault *fault);

/* import/parts.c: the positions' items become records, and go to the load in order. */
CHI_MUSTUSE int chi_import_fold(struct chi_pgn_session *games, size_t n_parts,
				const struct chi_import_limits *limits,
				const struct chi_load_spec *spec, struct chi_load *load,
				struct chi_fault *fault);

/* ---- import/aggregate.c: one thread's part in making records of items */

struct chi_aggregator;

/* Empties a block that is full, before the part goes on. Another code than CHI_OK ends the part. */
typedef int chi_aggregate_pass(void *context, struct chi_load_block *block);

/* What it is given must outlive it. `full`: so many bytes make a block full. NULL: out of memory.
 */
struct chi_aggregator *chi_aggregator_new(struct chi_pgn_session *games,
					  const struct chi_import_limits *limits,
					  const struct chi_load_spec *spec, size_t full,
					  chi_aggregate_pass *pass, void *context);
void chi_aggregator_free(struct chi_aggregator *aggregator);

/* Packs the records of a part of the sorted positions behind what the block has. */
CHI_MUSTUSE int chi_aggregate_part(struct chi_aggregator *aggregator, size_t part,
				   struct chi_load_block *block, struct chi_fault *fault);
