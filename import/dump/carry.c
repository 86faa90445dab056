/* SPDX-License-Identifier: MIT */
/* A thread's part: lines of the archive are read, and put where the commit finds them. */
#include "import/dump/carry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "import/count.h"
#include "import/identity.h"
#include "store/gamesets/gamesets.h"

/* Shares of the memory, in sixteenths. */
#define POSITIONS_SHARE 4
#define IDS_SHARE	1

int chi_carried_init(struct chi_carried *carried, struct chi_importer *importer,
		     struct chi_fault *fault)
{
	const struct chi_import_options *options = &importer->options;
	carried->importer = importer;
	carried->games.fd = -1;
	carried->texts.fd = -1;
	int rc = chi_sorter_new(importer->spill, options->memory / 16 * POSITIONS_SHARE,
				options->threads, &carried->positions);
	if (rc == CHI_OK) {
		rc = chi_sorter_new(importer->spill, options->memory / 16 * IDS_SHARE,
				    options->threads, &carried->ids);
	}
	if (rc != CHI_OK) {
		return chi_fault_plain(fault, rc);
	}
	rc = chi_spill_open(&carried->games, importer->spill, fault);
	return rc == CHI_OK ? chi_spill_open(&carried->texts, importer->spill, fault) : rc;
}

void chi_carried_deinit(struct chi_carried *carried)
{
	chi_sorter_free(carried->positions);
	chi_sorter_free(carried->ids);
	/* Not begun: the descriptors are no one's. */
	if (carried->importer != NULL) {
		chi_spill_close(&carried->games);
		chi_spill_close(&carried->texts);
	}
}

void chi_carrier_init(struct chi_carrier *carrier, struct chi_carried *carried)
{
	*carrier = (struct chi_carrier){.carried = carried};
	carrier->positions.sorter = carried->positions;
	carrier->ids.sorter = carried->ids;
}

void chi_carrier_deinit(struct chi_carrier *carrier)
{
	chi_filler_drop(&carrier->positions);
	chi_filler_drop(&carrier->ids);
	chi_pgn_free(carrier->pgn);
	if (carrier->pgn != NULL) {
		chi_keeper_deinit(&carrier->keeper);
	}
	free(carrier->counter);
	free(carrier->scratch);
	free(carrier->texts);
}

/* ---- Identities --------------------------------------------------------------------------- */

static int add_id(struct chi_carrier *carrier, const struct chi_game_id *game, bool body,
		  struct chi_fault *fault)
{
	struct chi_sort_item item = {{0}};
	uint64_t rest = (uint64_t)game->number << 32 | (uint64_t)game->max_ply << 16 |
			(uint64_t)game->pruned << 8 | game->result;
	memcpy(item.bytes, game->id, CHI_GAME_ID_SIZE);
	item.bytes[CHI_GAME_ID_SIZE] = body;
	memcpy(item.bytes + CHI_SORT_GROUP, &rest, sizeof(rest));
	return chi_filler_add(&carrier->ids, &item, 1, fault);
}

/* ---- Games -------------------------------------------------------------------------------- */

static int refuse_carried(const struct chi_carrier *carrier, const char *why,
			  struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ESYNTAX, "line %" PRIu64 ": game %" PRIu32 ": %s",
			carrier->line, carrier->number, why);
}

static int make_reader(struct chi_carrier *carrier, struct chi_fault *fault)
{
	struct chi_pgn *pgn = NULL;
	if (carrier->pgn != NULL) {
		return CHI_OK;
	}
	carrier->counter = malloc(sizeof(*carrier->counter));
	carrier->scratch = malloc(CHI_IDENTITY_SIZE);
	if (carrier->counter == NULL || carrier->scratch == NULL || chi_pgn_new(&pgn) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	carrier->pgn = pgn;
	int rc = chi_keeper_init(&carrier->keeper, &carrier->carried->games, false, pgn);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

static int count_game(struct chi_carrier *carrier, const struct chi_pgn_game *game,
		      struct chi_fault *fault)
{
	struct chi_game_id id = {.number = carrier->number, .result = (uint8_t)game->result};
	struct chi_key start;
	size_t n = chi_count_game_items(carrier->counter, game, chi_count_plies(game),
					carrier->number);
	int rc = chi_filler_add(&carrier->positions, carrier->counter->items, n, fault);
	if (rc == CHI_OK) {
		carrier->keeper.head = carrier->source;
		carrier->keeper.head_len = (size_t)1 + carrier->source[0];
		rc = chi_keeper_add(&carrier->keeper, game, carrier->stream, carrier->number,
				    fault);
	}
	chi_key_encode(&game->positions[0], &start);
	chi_identity_of_game(game, &start, carrier->scratch, id.id);
	return rc == CHI_OK ? add_id(carrier, &id, true, fault) : rc;
}

/* All games that the reader has by now: one, in the whole text. */
static int take_games(struct chi_carrier *carrier, struct chi_fault *fault)
{
	const struct chi_pgn_game *game;
	int rc = CHI_OK;
	while (rc == CHI_OK && chi_pgn_next(carrier->pgn, &game) == CHI_OK) {
		if (carrier->n_pgn++ > 0) {
			return refuse_carried(carrier, "its text is more than one game", fault);
		}
		rc = game->end >= CHI_PGN_TOO_LONG || game->n_plies == 0
			     ? refuse_carried(carrier, "its text has no move", fault)
		     : chi_keeper_loses(&carrier->keeper, game->whole)
			     ? refuse_carried(carrier,
					      "its text is over the limits of what is kept", fault)
			     : count_game(carrier, game, fault);
	}
	return rc;
}

static int feed_games(struct chi_carrier *carrier, const char *text, size_t len,
		      struct chi_fault *fault)
{
	int rc = take_games(carrier, fault);
	for (size_t done = 0; rc == CHI_OK && done < len;) {
		done += chi_pgn_feed(carrier->pgn, text + done, len - done);
		rc = take_games(carrier, fault);
	}
	return rc;
}

static int close_game(struct chi_carrier *carrier, struct chi_fault *fault)
{
	if (!carrier->open) {
		return CHI_OK;
	}
	carrier->open = false;
	int rc = feed_games(carrier, "\n", 1, fault);
	if (rc == CHI_OK) {
		chi_pgn_finish(carrier->pgn);
		rc = take_games(carrier, fault);
	}
	return rc == CHI_OK && carrier->n_pgn == 0
		       ? refuse_carried(carrier, "its text is no game", fault)
		       : rc;
}

static int open_game(struct chi_carrier *carrier, const struct chi_dump_reader *reader,
		     struct chi_fault *fault)
{
	int rc = make_reader(carrier, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_pgn_restart(carrier->pgn);
	carrier->open = true;
	carrier->n_pgn = 0;
	carrier->ended = true;
	carrier->number = reader->kept;
	carrier->line = reader->line;
	carrier->source[0] = (uint8_t)reader->source.len;
	memcpy(carrier->source + 1, reader->source.at, reader->source.len);
	return CHI_OK;
}

/* A line's end is fed with the next one: that may go on with it. */
static int add_pgn(struct chi_carrier *carrier, const struct chi_dump_reader *reader,
		   struct chi_fault *fault)
{
	int rc = carrier->ended || reader->joined ? CHI_OK : feed_games(carrier, "\n", 1, fault);
	carrier->ended = false;
	return rc == CHI_OK ? feed_games(carrier, reader->text.at, reader->text.len, fault) : rc;
}

/* ---- Names and gamesets: as they are in the dump ------------------------------------------- */

static int add_text(struct chi_carrier *carrier, const struct chi_dump_text *line,
		    enum chi_dump_line kind, struct chi_fault *fault)
{
	if (carrier->texts == NULL) {
		carrier->texts = calloc(1, sizeof(*carrier->texts));
	}
	return carrier->texts != NULL
		       ? chi_spill_add(&carrier->carried->texts, carrier->texts, carrier->stream,
				       kind, line->at, line->len, fault)
		       : chi_fault_plain(fault, -CHI_ENOMEM);
}

static int add_gameset(struct chi_carrier *carrier, const struct chi_dump_reader *reader,
		       const struct chi_dump_text *line, struct chi_fault *fault)
{
	return chi_gameset_named(reader->text.at, reader->text.len) &&
			       reader->filter.len <= CHI_GAMESET_FILTER_MAX
		       ? add_text(carrier, line, CHI_DUMP_GAMESET, fault)
		       : chi_fail(fault, -CHI_ESYNTAX,
				  "line %" PRIu64 ": no name of a gameset, or no filter",
				  reader->line);
}

int chi_carrier_line(struct chi_carrier *carrier, const struct chi_dump_reader *reader,
		     const struct chi_dump_text *line, enum chi_dump_line kind, uint32_t stream,
		     struct chi_fault *fault)
{
	int rc = kind != CHI_DUMP_PGN ? close_game(carrier, fault) : CHI_OK;
	if (rc != CHI_OK) {
		return rc;
	}
	carrier->stream = stream;
	switch (kind) {
	case CHI_DUMP_GAME:
		return add_id(carrier, &reader->game, false, fault);
	case CHI_DUMP_NAME:
		return add_text(carrier, line, kind, fault);
	case CHI_DUMP_KEPT:
		return open_game(carrier, reader, fault);
	case CHI_DUMP_PGN:
		return add_pgn(carrier, reader, fault);
	case CHI_DUMP_GAMESET:
		return add_gameset(carrier, reader, line, fault);
	default:
		return CHI_OK;
	}
}

int chi_carrier_pause(struct chi_carrier *carrier, struct chi_fault *fault)
{
	return close_game(carrier, fault);
}

int chi_carrier_end(struct chi_carrier *carrier, struct chi_fault *fault)
{
	int rc = close_game(carrier, fault);
	if (rc == CHI_OK && carrier->texts != NULL) {
		rc = chi_spill_flush(&carrier->carried->texts, carrier->texts, fault);
	}
	if (rc == CHI_OK && carrier->pgn != NULL) {
		rc = chi_keeper_end(&carrier->keeper, fault);
	}
	rc = rc == CHI_OK ? chi_filler_end(&carrier->positions, fault) : rc;
	return rc == CHI_OK ? chi_filler_end(&carrier->ids, fault) : rc;
}
