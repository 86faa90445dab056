/* SPDX-License-Identifier: MIT */
/* Positions that fit a pattern, or their games, of one snapshot of a directory. */
#include "client/local/local.h"

#include <string.h>

#include "client/local/games.h"
#include "search/find.h"
#include "search/texts.h"

#define ROWS 256
/* Between two looks at the clock: some 10 ms. */
#define STEPS 4096

static void fill_spec(const struct chi_search_spec *asked, struct chi_find_spec *spec)
{
	const char *pattern = asked->pattern != NULL ? asked->pattern : "";
	const char *filter = asked->filter != NULL ? asked->filter : "";
	const char *cursor = asked->cursor != NULL ? asked->cursor : "";
	*spec = (struct chi_find_spec){
		.pattern = pattern,
		.pattern_len = strlen(pattern),
		.filter = filter,
		.filter_len = strlen(filter),
		.games = asked->games,
		.only_count = asked->only_count,
		.limit = asked->limit,
		.cursor = cursor,
		.cursor_len = strlen(cursor),
		.want_total = asked->want_total || asked->only_count,
		.threads = chi_inproc_threads(),
	};
}

/* A search on its way. */
struct search {
	struct chi_client *client;
	const struct chi_search_spec *spec;
	struct chi_read *read;
	struct chi_find *find;
	struct chi_game_texts *texts; /* NULL: games are not listed */
	struct chi_search_result *out;
};

static int tell_positions(struct search *search, uint64_t steps)
{
	const struct chi_search_spec *spec = search->spec;
	struct chi_row rows[ROWS];
	size_t n = 0;
	int told = CHI_OK;
	int status = chi_find_positions(search->find, rows, ROWS, steps, &n);
	size_t i = 0;
	while (i < n && told == CHI_OK) {
		told = spec->each(spec->context, &rows[i++]);
	}
	if (i > 0) {
		/* Of the last row told, not of the last one found: the caller may end it here. */
		const struct chi_cursor at = {
			.set = true, .chi2 = rows[i - 1].chi2, .key = rows[i - 1].key};
		search->out->cursor[chi_cursor_print(&at, search->out->cursor)] = '\0';
	}
	return told != CHI_OK ? told : status;
}

static int tell_games(struct search *search, uint64_t steps)
{
	const struct chi_search_spec *spec = search->spec;
	struct chi_games_row row;
	struct chi_game_row whole;
	size_t n = 0;
	int status = chi_find_games(search->find, &row, 1, steps, &n);
	if (n == 0) {
		return status;
	}
	chi_arena_reset(&search->client->answer->arena);
	int told = chi_game_texts_row(search->texts, &row, spec->want,
				      &search->client->answer->arena, &whole);
	told = told == CHI_NONE ? -CHI_ECORRUPT : told;
	told = told == CHI_OK ? spec->each_game(spec->context, &whole) : told;
	(void)chi_find_cursor(search->find, search->out->cursor);
	return told != CHI_OK ? told : status;
}

/* Some rows; CHI_NONE at the end. */
static int step_search(struct search *search)
{
	const struct chi_search_spec *spec = search->spec;
	uint64_t steps = spec->progress != NULL ? STEPS : UINT64_MAX;
	int status = spec->games ? tell_games(search, steps) : tell_positions(search, steps);
	if (status == CHI_OK && spec->progress != NULL) {
		return spec->progress(spec->context, chi_find_progress(search->find));
	}
	return status;
}

/* What was opened before a failure stays in `search`. */
static int run_search(struct search *search)
{
	struct chi_find_spec asked;
	fill_spec(search->spec, &asked);
	const char *name = NULL;
	int status = chi_find_open(search->read, &asked, &search->find, &search->client->error);
	for (size_t i = 0; status == CHI_OK && (name = chi_find_unknown(search->find, i)) != NULL;
	     i++) {
		chi_client_tell_unknown(search->client, name);
	}
	if (status == CHI_OK && asked.games && !asked.only_count) {
		status = chi_inproc_texts(search->client, search->read, &search->texts);
	}
	while (status == CHI_OK) {
		status = step_search(search);
	}
	if (status == CHI_NONE) {
		search->out->has_total = chi_find_total(search->find, &search->out->total);
		status = CHI_OK;
	}
	return status;
}

int chi_inproc_search(struct chi_client *client, const struct chi_search_spec *spec,
		      struct chi_search_result *out)
{
	struct search search = {.client = client, .spec = spec, .out = out};
	int status = chi_read_begin(client->inproc.store, &search.read);
	if (status != CHI_OK) {
		return status;
	}
	status = run_search(&search);
	if (search.texts != NULL) {
		chi_game_texts_end(search.texts);
	}
	if (search.find != NULL) {
		chi_find_close(search.find);
	}
	chi_read_end(search.read);
	return status;
}
