/* SPDX-License-Identifier: MIT */
/* The commit's part: what the threads put by, in order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "import/dump/carry.h"
#include "store/load/load.h"

/* Games between two looks at whether to go on. */
#define CHECK_EVERY UINT64_C(65536)

/* Numbers of games have so much of the memory. */
#define NUMBERS_SHARE 8u

/* ---- Identities ----------------------------------------------------------------------------- */

/* A line of the dump, until the next item tells whether its game is there. */
struct pairs {
	chi_carried_take *take;
	void *context;
	struct chi_game_id line;
	bool waits; /* `line` was not taken yet, */
	bool met;   /* and its game has come */
};

static int unpaired(const struct pairs *pairs, const char *what, struct chi_fault *fault)
{
	char id[2 * CHI_GAME_ID_SIZE + 1];
	chi_hex_print(pairs->line.id, CHI_GAME_ID_SIZE, id);
	return chi_fail(fault, -CHI_ESYNTAX, "the dump is damaged: game %" PRIu32 " (%s): %s",
			pairs->line.number, id, what);
}

static int end_pair(struct pairs *pairs, struct chi_fault *fault)
{
	if (!pairs->waits) {
		return CHI_OK;
	}
	pairs->waits = false;
	if ((pairs->line.number != 0) != pairs->met) {
		return unpaired(pairs, "its text is missing, or another's", fault);
	}
	return pairs->take(pairs->context, &pairs->line, fault);
}

static struct chi_game_id game_of(const struct chi_sort_item *item)
{
	uint64_t rest;
	struct chi_game_id game;
	memcpy(&rest, item->bytes + CHI_SORT_GROUP, sizeof(rest));
	game = (struct chi_game_id){.number = (uint32_t)(rest >> 32),
				    .max_ply = (uint16_t)(rest >> 16),
				    .pruned = (rest >> 8 & 1) != 0,
				    .result = (uint8_t)rest};
	memcpy(game.id, item->bytes, sizeof(game.id));
	return game;
}

static int pair(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct pairs *pairs = context;
	struct chi_game_id game = game_of(item);
	if (item->bytes[CHI_GAME_ID_SIZE] == 0) {
		int rc = end_pair(pairs, fault);
		pairs->line = game;
		pairs->waits = true;
		pairs->met = false;
		return rc;
	}
	bool fits = pairs->waits && !pairs->met && pairs->line.number == game.number &&
		    pairs->line.result == game.result &&
		    memcmp(pairs->line.id, game.id, sizeof(game.id)) == 0;
	pairs->met = true;
	if (!fits) {
		pairs->line = game;
		return unpaired(pairs, "no line tells of it, or it is not what that says", fault);
	}
	return CHI_OK;
}

int chi_carried_each(struct chi_carried *carried, chi_carried_take *take, void *context,
		     struct chi_fault *fault)
{
	struct pairs pairs = {.take = take, .context = context};
	int rc = chi_importer_walk(carried->importer, carried->ids, "games", pair, &pairs, fault);
	return rc == CHI_OK ? end_pair(&pairs, fault) : rc;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

int chi_plan_carried(const struct chi_importer *importer, uint64_t last,
		     struct chi_carried_plan *out, struct chi_fault *fault)
{
	uint64_t room = importer->options.memory / NUMBERS_SHARE;
	size_t n = (size_t)last + 1;
	if (last > UINT32_MAX || last > room / sizeof(*out->numbers)) {
		return chi_fail(fault, -CHI_ETOOBIG,
				"games have numbers up to %" PRIu64
				": they need more memory than is allowed",
				last);
	}
	out->last = (uint32_t)last;
	out->numbers = calloc(n, sizeof(*out->numbers));
	out->plies = calloc(n, sizeof(*out->plies));
	out->known = calloc(n / 8 + 1, 1);
	out->pruned = calloc(n / 8 + 1, 1);
	return out->numbers != NULL && out->plies != NULL && out->known != NULL &&
			       out->pruned != NULL
		       ? CHI_OK
		       : chi_fault_plain(fault, -CHI_ENOMEM);
}

void chi_carried_plan_deinit(struct chi_carried_plan *plan)
{
	free(plan->numbers);
	free(plan->plies);
	free(plan->known);
	free(plan->pruned);
}

int chi_plan_game(struct chi_carried_plan *plan, const struct chi_game_id *game, const char *name,
		  struct chi_fault *fault)
{
	uint32_t number = game->number;
	if (number > plan->last || plan->numbers[number] != 0 ||
	    chi_carried_bit(plan->known, number)) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"%s is damaged: two games have the number %" PRIu32
				", or it is too large",
				name, number);
	}
	plan->numbers[number] = number;
	plan->plies[number] = game->max_ply;
	if (game->pruned) {
		chi_carried_set(plan->pruned, number);
	}
	return CHI_OK;
}

/* ---- Games ---------------------------------------------------------------------------------- */

struct archiving {
	const struct chi_carried *carried;
	const struct chi_carried_plan *plan;
	struct chi_load *load;
	struct chi_fault *fault;
	uint32_t before; /* the number of the game before */
	uint64_t done;
};

static int archive_one(void *context, uint32_t stream, uint32_t number, const uint8_t *bytes,
		       size_t len)
{
	struct archiving *archiving = context;
	char source[CHI_SOURCE_SIZE] = "";
	size_t skip = (size_t)1 + bytes[0];
	(void)stream;
	if (number <= archiving->before) {
		return chi_fail(archiving->fault, -CHI_ESYNTAX,
				"the dump is damaged: game %" PRIu32 " comes after game %" PRIu32,
				number, archiving->before);
	}
	archiving->before = number;
	if (archiving->done++ % CHECK_EVERY == 0 &&
	    chi_importer_canceled(archiving->carried->importer)) {
		return chi_fault_plain(archiving->fault, -CHI_ECANCELED);
	}
	uint32_t kept = archiving->plan->numbers[number];
	memcpy(source, bytes + 1, bytes[0]);
	return kept == 0 ? CHI_OK
			 : chi_load_archive(archiving->load, kept, source, bytes + skip, len - skip,
					    archiving->fault);
}

int chi_carried_archive(struct chi_carried *carried, const struct chi_carried_plan *plan,
			struct chi_load *load, struct chi_fault *fault)
{
	struct archiving archiving = {
		.carried = carried, .plan = plan, .load = load, .fault = fault};
	chi_importer_progress(carried->importer, "keeping", 0, 0);
	int rc = chi_spill_walk(&carried->games, archive_one, &archiving, fault);
	return rc == CHI_OK ? chi_load_archived(load, fault) : rc;
}

/* ---- Names and gamesets --------------------------------------------------------------------- */

struct texts {
	chi_carried_name *name;
	chi_carried_gameset *gameset;
	void *context;
	struct chi_dump_reader reader;
	struct chi_arena arena; /* of a line */
	struct chi_fault *fault;
};

/* A line that was read before, by a thread. */
static int take_text(void *context, uint32_t stream, uint32_t kind, const uint8_t *bytes,
		     size_t len)
{
	struct texts *texts = context;
	struct chi_dump_reader *reader = &texts->reader;
	struct chi_put_entry put;
	enum chi_dump_line read;
	(void)stream;
	if ((kind == CHI_DUMP_NAME) != (texts->name != NULL)) {
		return CHI_OK;
	}
	chi_arena_reset(&texts->arena);
	int rc = chi_dump_read(reader, (const char *)bytes, len, &texts->arena, &read, &put,
			       texts->fault);
	return rc != CHI_OK ? rc
	       : texts->name != NULL
		       ? texts->name(texts->context, &reader->name)
		       : texts->gameset(texts->context, &reader->text, &reader->filter);
}

int chi_carried_texts(struct chi_carried *carried, chi_carried_name *name,
		      chi_carried_gameset *gameset, void *context, struct chi_fault *fault)
{
	static const struct chi_dump_head head = {.archive = true};
	struct texts texts = {.name = name, .gameset = gameset, .context = context, .fault = fault};
	chi_arena_init(&texts.arena, CHI_DUMP_LINE_MAX);
	chi_dump_reader_part(&texts.reader, &head, 0);
	int rc = chi_spill_walk(&carried->texts, take_text, &texts, fault);
	chi_arena_deinit(&texts.arena);
	return rc;
}
