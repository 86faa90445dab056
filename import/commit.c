/* SPDX-License-Identifier: MIT */
/*
 * The commit of a session that reads games. The games come first, in the order of their ids: equal
 * ones are then side by side, and a new store's tree of games grows at its end. That settles
 * which games count and, since base rates are the sum of the games' results, every statistic. Then
 * follow the positions.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/session_priv.h"

/* Items of a part, by which the threads that make records share the work: those that may be on
 * their way are so much of the memory. */
#define PART_SHARE 32u
#define PART_MIN   UINT64_C(2048)
#define PART_MAX   UINT64_C(131072)

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 2

/* Games that are kept between two looks at whether to go on. */
#define CHECK_EVERY 1024

/* Games that another store is asked for together. */
#define ASK_TOGETHER 4096

struct commit {
	struct chi_pgn_session *games;
	struct chi_importer *importer;
	struct chi_load *load;
	struct chi_import_result *result;
	struct chi_fault *fault;
	struct chi_import_limits limits;
	uint8_t *counted; /* a bit for each item, in their order: another store counts the game;
			     NULL: none was asked */
	uint8_t (*asked)[CHI_GAME_ID_SIZE]; /* ASK_TOGETHER ids, of which so many are to be asked */
	size_t n_asked;
	uint64_t seen;
	uint8_t last[CHI_GAME_ID_SIZE]; /* the id before, when `seen` */
};

/* A game's item, taken apart. */
struct entry {
	uint32_t stream;
	uint32_t game;
	uint32_t line;
	uint32_t number;
	uint8_t result;
	bool cut;
	bool bounded;
	uint16_t plies;
};

static struct entry entry_of(const struct chi_sort_item *item)
{
	uint64_t place;
	uint64_t payload;
	memcpy(&place, item->bytes + CHI_GAME_ID_SIZE, sizeof(place));
	memcpy(&payload, item->bytes + CHI_SORT_GROUP, sizeof(payload));
	place = be64toh(place);
	payload = be64toh(payload);
	return (struct entry){
		.stream = (uint32_t)(place >> 40),
		.game = (uint32_t)(place >> 20) & CHI_PLACE_MAX,
		.line = (uint32_t)place & CHI_PLACE_MAX,
		.number = (uint32_t)(payload >> 32),
		.result = payload >> 30 & 3,
		.cut = (payload >> 29 & 1) != 0,
		.bounded = (payload >> 15 & 1) != 0,
		.plies = payload >> 16 & 0x1fff,
	};
}

static uint64_t numbers(const struct commit *commit)
{
	return atomic_load(&commit->games->numbers);
}

/* `limit`: the last ply that is counted; 0: all are. */
static int take_counted_game(struct commit *commit, const struct entry *entry, uint16_t limit)
{
	struct chi_import_limits *limits = &commit->limits;
	if (limit != 0 && limits->plies == NULL) {
		uint64_t room = commit->importer->options.memory / CHI_IMPORT_PLIES_SHARE;
		if (numbers(commit) > room / sizeof(*limits->plies)) {
			return chi_fail(commit->fault, -CHI_ETOOBIG,
					"more than %" PRIu64 " games, some counted to a ply: take "
					"them out in parts, or with more memory",
					room / sizeof(*limits->plies));
		}
		limits->plies = calloc((size_t)numbers(commit), sizeof(*limits->plies));
		if (limits->plies == NULL) {
			return -CHI_ENOMEM;
		}
	}
	if (limit != 0) {
		limits->plies[entry->number] = limit;
		commit->limits.whole = false;
	}
	commit->result->taken++;
	commit->result->plies += limit != 0 && limit < entry->plies ? limit : entry->plies;
	commit->result->cut += entry->cut;
	return CHI_OK;
}

static void drop(struct commit *commit, const struct entry *entry)
{
	commit->limits.dropped[entry->number / 8] |= (uint8_t)(1u << entry->number % 8);
	commit->limits.whole = false;
}

/* A new game is noted with its number, which all that come before it in the input must have. */
static int add_game(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct commit *commit = context;
	const struct chi_import_options *options = &commit->importer->options;
	const uint32_t *numbers = commit->limits.numbers;
	struct entry entry = entry_of(item);
	struct chi_game_id game = {
		.result = entry.result,
		.pruned = options->games_min > 1,
		/* 0 would be none; of a game that ends at once nothing comes after it. */
		.max_ply = !entry.bounded    ? 0
			   : entry.plies > 0 ? entry.plies
					     : 1,
		.number = numbers != NULL ? numbers[entry.number] : 0,
	};
	(void)fault;
	memcpy(game.id, item->bytes, sizeof(game.id));
	return chi_import_is_dropped(&commit->limits, entry.number)
		       ? CHI_OK
		       : chi_load_game(commit->load, &game);
}

/* A game that is to be added, for now with its stream, from 1. */
static int mark(struct commit *commit, const struct entry *entry)
{
	if (commit->limits.numbers != NULL) {
		commit->limits.numbers[entry->number] = entry->stream + 1;
	}
	return take_counted_game(commit, entry, 0);
}

/* Tells of a game of which only the item is left. */
static void tell_game(struct commit *commit, const struct entry *entry, const char *text)
{
	const struct chi_pgn_session *games = commit->games;
	const struct chi_import_options *options = &commit->importer->options;
	struct chi_import_note note = {.file = "", .text = text};
	if (options->report == NULL) {
		return;
	}
	if (entry->stream < games->n_bases) {
		const struct chi_import_base *base = &games->bases[entry->stream];
		note.file = base->file != NULL ? base->file : "";
		note.game = base->games + entry->game;
		note.line = base->lines + entry->line;
	}
	options->report(options->context, &note);
}

/* A game that is counted already, or was here before, or is not there to be taken out. */
static void pass(struct commit *commit, const struct entry *entry, bool twice)
{
	bool adding = commit->importer->options.kind == CHI_IMPORT_ADD;
	commit->result->known++;
	drop(commit, entry);
	if (commit->importer->options.verbose) {
		tell_game(commit, entry,
			  twice	   ? "it came before in this input"
			  : adding ? "it is counted already"
				   : "it is not counted");
	}
}

static int subtract(struct commit *commit, const struct chi_game_id *stored,
		    const struct entry *entry)
{
	if (stored->pruned) {
		drop(commit, entry);
		commit->result->skipped++;
		tell_game(commit, entry,
			  "it was stored without its rare positions and cannot be subtracted, "
			  "skipped");
		return CHI_OK;
	}
	if (commit->limits.numbers != NULL) {
		commit->limits.numbers[entry->number] = stored->number;
	}
	int rc = take_counted_game(commit, entry, stored->max_ply);
	rc = rc == CHI_OK ? chi_load_ungame(commit->load, stored) : rc;
	return rc == CHI_OK && stored->number != 0
		       ? chi_load_unarchive(commit->load, stored->number, commit->fault)
		       : rc;
}

static int decide(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct commit *commit = context;
	struct entry entry = entry_of(item);
	struct chi_game_id stored;
	bool twice = commit->seen > 0 && memcmp(commit->last, item->bytes, CHI_GAME_ID_SIZE) == 0;
	bool elsewhere = commit->counted != NULL &&
			 (commit->counted[commit->seen / 8] >> commit->seen % 8 & 1) != 0;
	(void)fault;
	memcpy(commit->last, item->bytes, CHI_GAME_ID_SIZE);
	commit->seen++;
	if (elsewhere) {
		pass(commit, &entry, twice);
		return CHI_OK;
	}
	int rc = twice ? CHI_NONE : chi_load_find_game(commit->load, item->bytes, &stored);
	if (rc < 0) {
		return rc;
	}
	bool adding = commit->importer->options.kind == CHI_IMPORT_ADD;
	bool there = rc == CHI_OK;
	if (twice || there == adding) {
		pass(commit, &entry, twice);
		return CHI_OK;
	}
	return adding ? mark(commit, &entry) : subtract(commit, &stored, &entry);
}

static int each_game(struct commit *commit, const char *phase, chi_importer_take *take,
		     struct chi_fault *fault)
{
	return chi_importer_walk(commit->importer, commit->games->ids, phase, take, commit, fault);
}

/* Asks for the games at hand, which are the last that were seen. */
static int ask_games(struct commit *commit)
{
	const struct chi_importer *importer = commit->importer;
	bool said[ASK_TOGETHER];
	size_t n = commit->n_asked;
	uint64_t first = commit->seen - n;
	int rc = n > 0 ? importer->counted(importer->counted_context,
					   (const uint8_t(*)[CHI_GAME_ID_SIZE])commit->asked, n,
					   said)
		       : CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		commit->counted[(first + i) / 8] |= (uint8_t)((unsigned)said[i] << (first + i) % 8);
	}
	commit->n_asked = 0;
	return rc;
}

static int gather_game(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct commit *commit = context;
	(void)fault;
	memcpy(commit->asked[commit->n_asked++], item->bytes, CHI_GAME_ID_SIZE);
	commit->seen++;
	return commit->n_asked == ASK_TOGETHER ? ask_games(commit) : CHI_OK;
}

/* Which of all games another store counts. */
static int walk_counted(struct commit *commit, struct chi_fault *fault)
{
	uint64_t n = chi_sorter_count(commit->games->ids);
	if (commit->importer->counted == NULL) {
		return CHI_OK;
	}
	commit->counted = calloc((size_t)(n / 8) + 1, 1);
	commit->asked = calloc(ASK_TOGETHER, sizeof(*commit->asked));
	int rc = commit->counted != NULL && commit->asked != NULL
			 ? each_game(commit, NULL, gather_game, fault)
			 : -CHI_ENOMEM;
	rc = rc == CHI_OK ? ask_games(commit) : rc;
	commit->seen = 0;
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

/* What is known of each game while the commit lasts. */
static int make_limits(struct commit *commit, struct chi_fault *fault)
{
	struct chi_import_limits *limits = &commit->limits;
	uint64_t n = numbers(commit);
	limits->dropped = calloc((size_t)(n / 8) + 1, 1);
	if (limits->dropped == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	if (commit->importer->keep != CHI_KEEP_GAMES) {
		return CHI_OK;
	}
	uint64_t room = commit->importer->options.memory / CHI_IMPORT_NUMBERS_SHARE;
	if (n > room / sizeof(*limits->numbers)) {
		return chi_fail(fault, -CHI_ETOOBIG,
				"more than %" PRIu64 " games at once: import them in parts, or "
				"with more memory",
				room / sizeof(*limits->numbers));
	}
	limits->numbers = calloc((size_t)n + 1, sizeof(*limits->numbers));
	return limits->numbers != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
}

static int note_least(struct chi_import_limits *limits, uint64_t n, struct chi_fault *fault)
{
	uint32_t least = UINT32_MAX;
	limits->least = calloc((size_t)(n / CHI_IMPORT_LEAST_STEP) + 1, sizeof(*limits->least));
	if (limits->least == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (uint64_t i = n; i-- > 0;) {
		uint32_t number = limits->numbers[i];
		least = number != 0 && number < least ? number : least;
		limits->least[i / CHI_IMPORT_LEAST_STEP] = least;
	}
	return CHI_OK;
}

/* Games are numbered in the order of the input: by stream, and in a stream as they were read. */
static int number_games(struct commit *commit, struct chi_fault *fault)
{
	uint32_t *of = commit->limits.numbers;
	uint64_t n = numbers(commit);
	uint32_t streams = 0;
	for (uint64_t i = 0; i < n; i++) {
		streams = of[i] > streams ? of[i] : streams;
	}
	_cleanup_(chi_freep) uint64_t *next = calloc((size_t)streams + 2, sizeof(*next));
	if (next == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (uint64_t i = 0; i < n; i++) {
		next[of[i] + 1] += of[i] != 0;
	}
	next[1] = chi_load_next_game(commit->load);
	for (uint32_t stream = 2; stream <= streams + 1; stream++) {
		next[stream] += next[stream - 1];
	}
	if (next[streams + 1] > (uint64_t)UINT32_MAX + 1) {
		return chi_fail(fault, -CHI_ETOOBIG, "a store numbers %u games, not more",
				UINT32_MAX);
	}
	for (uint64_t i = 0; i < n; i++) {
		of[i] = of[i] != 0 ? (uint32_t)next[of[i]]++ : 0;
	}
	return note_least(&commit->limits, n, fault);
}

static int walk_games(struct commit *commit, struct chi_fault *fault)
{
	int rc = make_limits(commit, fault);
	rc = rc == CHI_OK ? walk_counted(commit, fault) : rc;
	rc = rc == CHI_OK ? each_game(commit, "sorting", decide, fault) : rc;
	if (rc == CHI_OK && commit->importer->options.kind == CHI_IMPORT_ADD) {
		rc = commit->limits.numbers != NULL ? number_games(commit, fault) : CHI_OK;
		rc = rc == CHI_OK ? each_game(commit, NULL, add_game, fault) : rc;
	}
	chi_sorter_free(commit->games->ids);
	commit->games->ids = NULL;
	return rc;
}

static int keep_game(void *context, uint32_t stream, uint32_t number, const uint8_t *bytes,
		     size_t len)
{
	struct commit *commit = context;
	const struct chi_pgn_session *games = commit->games;
	const char *given = commit->importer->options.source;
	const char *source = given[0] != '\0' ? given : chi_sources_of(&games->sources, stream);
	uint32_t kept = commit->limits.numbers[number];
	if (kept == 0) {
		return CHI_OK;
	}
	if (kept % CHECK_EVERY == 0 && chi_importer_canceled(commit->importer)) {
		return chi_fault_plain(commit->fault, -CHI_ECANCELED);
	}
	return chi_load_archive(commit->load, kept, source != NULL ? source : "", bytes, len,
				commit->fault);
}

/* The games themselves, in the order of their numbers. */
static int keep_games(struct commit *commit, struct chi_fault *fault)
{
	struct chi_pgn_session *games = commit->games;
	if (games->spill.fd < 0) {
		return CHI_OK;
	}
	chi_importer_progress(commit->importer, "keeping", 0, 0);
	int rc = chi_spill_walk(&games->spill, keep_game, commit, fault);
	rc = rc == CHI_OK ? chi_load_archived(commit->load, fault) : rc;
	chi_spill_close(&games->spill);
	return rc;
}

static int store_positions(struct commit *commit, struct chi_fault *fault)
{
	struct chi_pgn_session *games = commit->games;
	const struct chi_import_options *options = &commit->importer->options;
	struct chi_load_spec spec;
	size_t n_parts;
	uint64_t part = options->memory / PART_SHARE / CHI_IMPORT_WINDOW(options) / CHI_SORT_ITEM;
	part = part < PART_MIN ? PART_MIN : part > PART_MAX ? PART_MAX : part;
	int rc = chi_sorter_seal(games->positions, part, &n_parts, fault);
	if (rc == CHI_OK) {
		rc = chi_importer_start(commit->importer, commit->load, commit->result->plies,
					STRENGTH_SHARE, &spec, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_import_fold(games, n_parts, &commit->limits, &spec, commit->load, fault);
	}
	commit->result->evaluations = atomic_load(&games->evaluations);
	chi_sorter_free(games->positions);
	games->positions = NULL;
	return rc;
}

/* A place that was free when the reading began, and no longer is. */
static int overtaken(const struct chi_importer *importer, int rc, struct chi_fault *fault)
{
	struct chi_fault what = *fault;
	return rc == -CHI_EEXIST && importer->store == NULL
		       ? chi_fail(fault, rc,
				  "%.150s; it came while the games were read, nothing was stored",
				  what.text)
		       : rc;
}

static int fill_from_commit(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct commit *commit = context;
	const struct chi_importer *importer = commit->importer;
	commit->load = load;
	int rc = walk_games(commit, fault);
	rc = rc == CHI_OK ? keep_games(commit, fault) : rc;
	if (rc == CHI_OK && importer->options.kind == CHI_IMPORT_SUBTRACT) {
		rc = chi_load_unarchived(load, fault);
	}
	/* A load that changes nothing leaves even the sequence number, but is committed too: a
	 * client told that its games are stored already may rely on it as if it had stored them. */
	return rc == CHI_OK && (commit->result->taken > 0 || importer->store == NULL)
		       ? store_positions(commit, fault)
		       : rc;
}

int chi_importer_commit_pgn(struct chi_pgn_session *games, struct chi_import_result *result,
			    struct chi_fault *fault)
{
	struct commit commit = {.games = games,
				.importer = games->importer,
				.result = result,
				.fault = fault,
				.limits = {.whole = true}};
	int rc = overtaken(
		games->importer,
		chi_importer_apply(games->importer, fill_from_commit, &commit, result, fault),
		fault);
	free(commit.counted);
	free(commit.asked);
	free(commit.limits.dropped);
	free(commit.limits.plies);
	free(commit.limits.numbers);
	free(commit.limits.least);
	return rc;
}
