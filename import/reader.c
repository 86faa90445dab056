/* SPDX-License-Identifier: MIT */
/* A thread that reads: streams of text to games, games to items. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/count.h"
#include "base/sorter.h"
#include "import/archive/keep.h"
#include "import/session_priv.h"
#include "import/identity.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "search/filter/unstored.h"

/* What a thread has while it runs. */
struct work {
	struct chi_import_reader *reader;
	struct chi_pgn_session *games;
	struct chi_pgn *pgn;
	struct chi_counter *counter;
	uint8_t *scratch;	      /* CHI_IDENTITY_SIZE bytes */
	struct chi_unstored *filter;  /* NULL: all games fit */
	struct chi_eval_chunk *evals; /* NULL: they are not wanted */
	struct chi_keeper keeper;     /* without a chunk: games are not kept */
	struct chi_filler positions;
	struct chi_filler ids;
	struct chi_import_stream *stream;
	struct chi_fault fault;
};

static uint32_t at_most(uint64_t value, uint32_t most)
{
	return value < most ? (uint32_t)value : most;
}

static int give_id(struct work *work, const struct chi_pgn_game *game, uint32_t number,
		   size_t plies, bool bounded)
{
	struct chi_sort_item item;
	struct chi_key start;
	chi_key_encode(&game->positions[0], &start);
	chi_identity_of_game(game, &start, work->scratch, item.bytes);
	uint64_t place = (uint64_t)(work->stream->number & CHI_PLACE_STREAM_MAX) << 40 |
			 (uint64_t)at_most(game->number, CHI_PLACE_MAX) << 20 |
			 at_most(game->line, CHI_PLACE_MAX);
	bool cut = game->end != CHI_PGN_COMPLETE;
	uint64_t payload = (uint64_t)number << 32 | (uint64_t)game->result << 30 |
			   (uint64_t)cut << 29 | (uint64_t)plies << 16 | (uint64_t)bounded << 15;
	place = htobe64(place);
	payload = htobe64(payload);
	memcpy(item.bytes + CHI_GAME_ID_SIZE, &place, sizeof(place));
	memcpy(item.bytes + CHI_SORT_GROUP, &payload, sizeof(payload));
	return chi_filler_add(&work->ids, &item, 1, &work->fault);
}

/* Those whose moves are not known are skipped always, those cut short when reading strictly. */
static bool is_skipped(const struct work *work, enum chi_pgn_end end)
{
	return end >= CHI_PGN_TOO_LONG ||
	       (end != CHI_PGN_COMPLETE && work->games->importer->options.strict);
}

/* Gives the evaluations of the game's positions up to ply `plies`. */
static int give_evals(struct work *work, const struct chi_pgn_game *game, uint32_t number,
		      size_t plies)
{
	struct chi_pgn_eval read;
	struct chi_sort_item item;
	struct chi_eval_origin origin = {
		.place = (uint64_t)work->stream->number << 32 | at_most(game->number, UINT32_MAX),
		.number = number,
	};
	int rc = CHI_OK;
	for (size_t i = 0; i < game->n_comments && rc == CHI_OK; i++) {
		if (chi_pgn_eval_read(game, &game->comments[i], &read) != CHI_OK ||
		    read.ply > plies) {
			continue;
		}
		origin.index = (uint32_t)i;
		chi_key_bytes(&game->positions[read.ply], item.bytes);
		rc = chi_eval_file_add(&work->games->evals, work->evals, &read.eval, &origin, &item,
				       &work->fault);
		rc = rc == CHI_OK ? chi_filler_add(&work->positions, &item, 1, &work->fault) : rc;
	}
	return rc;
}

static int note(struct work *work, const struct chi_pgn_game *game, enum chi_stream_note_kind kind)
{
	int rc = chi_notes_add(&work->stream->notes, game, kind);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(&work->fault, rc);
}

static int count_game(struct work *work, const struct chi_pgn_game *game)
{
	const struct chi_import_options *options = &work->games->importer->options;
	uint64_t number = atomic_fetch_add_explicit(&work->games->numbers, 1, memory_order_relaxed);
	uint64_t most = options->memory / CHI_IMPORT_BITS_SHARE * 8;
	most = most < CHI_GAME_NUMBERS ? most : CHI_GAME_NUMBERS;
	if (number >= most) {
		return chi_fail(&work->fault, -CHI_ETOOBIG,
				"more than %llu games at once: import them in parts, or with "
				"more memory",
				(unsigned long long)most);
	}
	/* When games are taken out, the store says how far each was counted. */
	size_t plies = chi_count_plies(game);
	if (options->kind == CHI_IMPORT_ADD && options->max_ply != 0 && options->max_ply < plies) {
		plies = options->max_ply;
	}
	bool bounded = options->kind == CHI_IMPORT_ADD && plies < game->n_plies;
	size_t n = chi_count_game_items(work->counter, game, plies, (uint32_t)number);
	int rc = chi_filler_add(&work->positions, work->counter->items, n, &work->fault);
	rc = rc == CHI_OK ? give_evals(work, game, (uint32_t)number, plies) : rc;
	if (rc == CHI_OK && work->keeper.chunk != NULL) {
		rc = chi_keeper_add(&work->keeper, game, work->stream->number, (uint32_t)number,
				    &work->fault);
		rc = rc == CHI_OK && chi_keeper_loses(&work->keeper, game->whole)
			     ? note(work, game, CHI_NOTE_LOST)
			     : rc;
	}
	return rc != CHI_OK ? rc : give_id(work, game, (uint32_t)number, plies, bounded);
}

static int take_game(struct work *work, const struct chi_pgn_game *game)
{
	struct chi_import_reader *reader = work->reader;
	bool skipped = is_skipped(work, game->end);
	int rc = CHI_OK;
	reader->n++;
	if (work->filter != NULL && !chi_unstored_fits(work->filter, game)) {
		reader->filtered++;
		return CHI_OK;
	}
	if (game->end != CHI_PGN_COMPLETE) {
		rc = note(work, game, skipped ? CHI_NOTE_SKIPPED : CHI_NOTE_CUT);
	}
	if (rc != CHI_OK || skipped) {
		reader->skipped += skipped;
		return rc;
	}
	if (game->n_plies == 0) {
		reader->empty++;
		bool verbose = work->games->importer->options.verbose;
		return verbose ? note(work, game, CHI_NOTE_EMPTY) : CHI_OK;
	}
	if (game->results_differ) {
		reader->conflicts++;
		rc = note(work, game, CHI_NOTE_CONFLICT);
	}
	return rc == CHI_OK ? count_game(work, game) : rc;
}

/* All games that the reader has by now. */
static int take_games(struct work *work)
{
	const struct chi_pgn_game *game;
	while (chi_pgn_next(work->pgn, &game) == CHI_OK) {
		work->stream->games = game->number;
		int rc = take_game(work, game);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

static int read_piece(struct work *work, const struct chi_piece *piece)
{
	size_t done = 0;
	for (;;) {
		int rc = take_games(work);
		if (rc != CHI_OK || done == piece->len) {
			return rc;
		}
		done += chi_pgn_feed(work->pgn, piece->bytes + done, piece->len - done);
	}
}

static int read_stream(void *context, struct chi_import_stream *stream)
{
	struct work *work = context;
	struct chi_queue *queue = &work->games->reading.queue;
	struct chi_piece *piece = NULL;
	work->stream = stream;
	chi_pgn_restart(work->pgn);
	while ((piece = chi_queue_next(queue, work->stream, piece)) != NULL) {
		int rc = read_piece(work, piece);
		if (rc != CHI_OK) {
			free(piece);
			return rc;
		}
	}
	chi_pgn_finish(work->pgn);
	int rc = take_games(work);
	work->stream->lines = chi_pgn_lines(work->pgn);
	return rc;
}

static int prepare(struct work *work)
{
	bool evals = work->games->importer->options.evals;
	work->counter = malloc(sizeof(*work->counter));
	work->scratch = malloc(CHI_IDENTITY_SIZE);
	work->evals = evals ? calloc(1, sizeof(*work->evals)) : NULL;
	bool ok = work->counter != NULL && work->scratch != NULL &&
		  (!evals || work->evals != NULL) && chi_pgn_new(&work->pgn) == CHI_OK &&
		  (!evals || chi_pgn_keep_comments(work->pgn) == CHI_OK);
	if (ok && work->games->spill.fd >= 0) {
		ok = chi_keeper_init(&work->keeper, &work->games->spill,
				     work->games->importer->options.bare, work->pgn) == CHI_OK;
	}
	const struct chi_terms *filter = work->games->importer->filter;
	if (ok && filter != NULL) {
		return chi_unstored_new(filter, &work->filter, &work->fault);
	}
	return ok ? CHI_OK : chi_fault_plain(&work->fault, -CHI_ENOMEM);
}

static int read_all(struct work *work)
{
	int rc = prepare(work);
	rc = rc == CHI_OK ? chi_reading_streams(&work->games->reading, read_stream, work) : rc;
	rc = rc == CHI_OK ? chi_filler_end(&work->positions, &work->fault) : rc;
	if (rc == CHI_OK && work->evals != NULL) {
		rc = chi_eval_file_flush(&work->games->evals, work->evals, &work->fault);
	}
	if (rc == CHI_OK && work->keeper.chunk != NULL) {
		rc = chi_keeper_end(&work->keeper, &work->fault);
	}
	return rc != CHI_OK ? rc : chi_filler_end(&work->ids, &work->fault);
}

void *chi_import_read(void *reader)
{
	struct chi_import_reader *me = reader;
	struct work work = {
		.reader = me,
		.games = me->games,
		.positions = {.sorter = me->games->positions},
		.ids = {.sorter = me->games->ids},
	};
	int rc = read_all(&work);
	if (rc != CHI_OK) {
		chi_queue_fail(&me->games->reading.queue, rc, &work.fault);
	}
	chi_filler_drop(&work.positions);
	chi_filler_drop(&work.ids);
	chi_pgn_free(work.pgn);
	free(work.counter);
	free(work.scratch);
	free(work.evals);
	chi_unstored_free(work.filter);
	chi_keeper_deinit(&work.keeper);
	return NULL;
}
