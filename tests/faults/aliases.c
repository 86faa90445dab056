/* SPDX-License-Identifier: MIT */
#include "tests/faults/aliases.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/importer.h"
#include "search/games.h"
#include "search/gamesets.h"
#include "search/verify.h"
#include "store/archive.h"

#define PLAYER "Adams, Anna"

/* The others are joined to the first. */
static const char *const players[] = {PLAYER, "Brown, B", "Clark, C", "Davis, D"};

#define JOINED 2 /* of the others */
#define ROUNDS 3 /* that each plays in the first step */

enum kind {
	FIRST_GAMES,
	NEW_GAMESET,
	JOIN,
	ONE_GAME, /* of the first that is joined */
	GAMESET_AGAIN,
	SPLIT,
};

static enum kind kind_of(unsigned step)
{
	static const enum kind later[] = {JOIN, ONE_GAME, GAMESET_AGAIN, SPLIT, ONE_GAME};
	return step == 1   ? FIRST_GAMES
	       : step == 2 ? NEW_GAMESET
			   : later[(step - 3) % CHI_COUNT(later)];
}

/* ---- Steps -------------------------------------------------------------------------------- */

static size_t write_game(char *text, size_t size, const char *player, unsigned step, unsigned round)
{
	static const char *const moves[] = {"e4 e5 2. Nf3", "d4 d5 2. c4", "e4 c5 2. Nc3"};
	return (size_t)snprintf(text, size,
				"[White \"%s\"]\n[Black \"Rival\"]\n[Date \"20%02u.01.%02u\"]\n"
				"[Result \"1-0\"]\n\n1. %s 1-0\n\n",
				player, step, round + 1, moves[(step + round) % 3]);
}

static int import(struct chi_dir *store, const char *text, struct chi_fault *why)
{
	const struct chi_importer_target target = {.store = store};
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
						   .memory = CHI_IMPORT_MEMORY_MIN, .threads = 1};
	struct chi_importer *importer;
	struct chi_import_result result;
	int rc = chi_importer_begin(&target, &options, &importer, why);
	if (rc < 0) {
		return rc;
	}
	rc = chi_importer_file(importer, "games.pgn", why);
	rc = rc == CHI_OK ? chi_importer_feed(importer, text, strlen(text), why) : rc;
	rc = rc == CHI_OK ? chi_importer_commit(importer, &result, why) : rc;
	chi_importer_free(importer);
	return rc;
}

static int add_games(struct chi_dir *store, unsigned step, struct chi_fault *why)
{
	char text[4096];
	size_t at = 0;
	if (kind_of(step) == ONE_GAME) {
		(void)write_game(text, sizeof(text), players[1], step, 0);
		return import(store, text, why);
	}
	for (unsigned i = 0; i < CHI_COUNT(players); i++) {
		for (unsigned round = 0; round < ROUNDS; round++) {
			at += write_game(text + at, sizeof(text) - at, players[i], i, round);
		}
	}
	return import(store, text, why);
}

static int make_gameset(struct chi_read *read, const char *filter, struct chi_gameset_job **job,
			struct chi_fault *why)
{
	int rc = chi_gameset_open(read, "hers", filter, filter != NULL ? strlen(filter) : 0, job,
				  why);
	while (rc == CHI_OK) {
		rc = chi_gameset_step(*job, UINT64_MAX);
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

static int save_gameset(struct chi_dir *store, const char *filter, struct chi_fault *why)
{
	struct chi_gameset_job *job = NULL;
	struct chi_write *write = NULL;
	struct chi_read *read;
	int rc = chi_read_begin(store, &read);
	if (rc < 0) {
		return chi_fault_plain(why, rc);
	}
	rc = make_gameset(read, filter, &job, why);
	chi_read_end(read);
	rc = rc == CHI_OK ? chi_write_begin(store, &write, why) : rc;
	rc = rc == CHI_OK ? chi_gameset_save(job, write, why) : rc;
	chi_gameset_close(job);
	if (rc < 0) {
		chi_write_abort(write);
		return rc;
	}
	return chi_write_commit(write, why);
}

/* A list of changes, which are done together. */
static int change_names(struct chi_dir *store, uint8_t action, struct chi_fault *why)
{
	struct chi_name_change changes[JOINED];
	struct chi_names_changed result = {0};
	struct chi_write *write;
	for (unsigned i = 0; i < JOINED; i++) {
		changes[i] =
			(struct chi_name_change){.action = action,
						 .kind = CHI_NAME_PLAYER,
						 .name = players[1 + i],
						 .to = action == CHI_NAME_JOIN ? PLAYER : NULL};
	}
	int rc = chi_write_begin(store, &write, why);
	if (rc < 0) {
		return rc;
	}
	rc = chi_write_names(write, changes, JOINED, NULL, NULL, &result);
	if (rc < 0 || result.changed != JOINED) {
		chi_write_abort(write);
		return chi_fail(why, rc < 0 ? rc : -CHI_EINTERNAL, "%d names were changed",
				(int)result.changed);
	}
	return chi_write_commit(write, why);
}

int aliases_step(struct chi_dir *store, unsigned step, struct chi_fault *why)
{
	switch (kind_of(step)) {
	case NEW_GAMESET:
		return save_gameset(store, "player \"" PLAYER "\"", why);
	case GAMESET_AGAIN:
		return save_gameset(store, NULL, why);
	case JOIN:
		return change_names(store, CHI_NAME_JOIN, why);
	case SPLIT:
		return change_names(store, CHI_NAME_PART, why);
	case FIRST_GAMES:
	case ONE_GAME:
	default:
		return add_games(store, step, why);
	}
}

/* ---- What they leave ----------------------------------------------------------------------- */

/* How many games fit the filter. */
static int count(struct chi_read *read, const char *filter, uint64_t *n, struct chi_fault *why)
{
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = strlen(filter), .want_total = true};
	struct chi_game_walk *games;
	struct chi_games_row row;
	size_t got;
	int rc = chi_game_walk_open(read, &spec, &games, why);
	if (rc < 0) {
		return rc;
	}
	while (rc == CHI_OK) {
		rc = chi_game_walk_next(games, &row, 1, UINT64_MAX, &got);
	}
	bool counted = chi_game_walk_total(games, n);
	chi_game_walk_close(games);
	return rc == CHI_NONE && counted ? CHI_OK : chi_fault_plain(why, rc);
}

/* What it must be after the step. */
static uint64_t games_of_player(unsigned step, bool *has_gameset)
{
	uint64_t others = (uint64_t)JOINED * ROUNDS;
	bool joined = false;
	*has_gameset = step >= 2;
	for (unsigned i = 3; i <= step; i++) {
		others += kind_of(i) == ONE_GAME;
		joined = kind_of(i) == JOIN || (joined && kind_of(i) != SPLIT);
	}
	return step == 0 ? 0 : ROUNDS + (joined ? others : 0);
}

static void report(void *context, const char *text)
{
	(void)chi_fail(context, -CHI_ECORRUPT, "verify: %.200s", text);
}

bool aliases_hold(struct chi_dir *store, unsigned step, struct chi_fault *why)
{
	struct chi_verify_result result = {0};
	struct chi_read *read;
	uint64_t hers = 0;
	uint64_t in = 0;
	bool has_gameset;
	uint64_t wanted = games_of_player(step, &has_gameset);
	if (chi_search_verify(store, 1, NULL, report, why, &result) < 0 || result.errors > 0 ||
	    chi_read_begin(store, &read) < 0) {
		return false;
	}
	int rc = count(read, "player \"" PLAYER "\"", &hers, why);
	rc = rc == CHI_OK && has_gameset ? count(read, "in hers", &in, why) : rc;
	chi_read_end(read);
	if (rc == CHI_OK && (hers != wanted || (has_gameset && in != wanted))) {
		rc = chi_fail(why, -CHI_ECORRUPT,
			      "after step %u the player has %d games, the gameset %d, not %d", step,
			      (int)hers, (int)in, (int)wanted);
	}
	return rc == CHI_OK;
}
