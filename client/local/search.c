/* SPDX-License-Identifier: MIT */
/* Positions that fit a pattern, of one snapshot of a directory. */
#include "client/local/local.h"

#include <sched.h>
#include <string.h>

#include "search/find.h"

#define ROWS 256
/* Between two looks at the clock: some 10 ms. */
#define STEPS	    4096
#define THREADS_MAX 16

/* Processors that this thread may run on. */
static unsigned processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

/* Threads count where no one waits for rows or progress. */
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
		.threads = asked->progress == NULL ? processors() : 1,
	};
}

/* Some rows; CHI_NONE at the end. */
static int step(struct chi_find *find, const struct chi_search_spec *spec,
		struct chi_search_result *out)
{
	struct chi_row rows[ROWS];
	struct chi_games_row games[1];
	size_t n = 0;
	uint64_t steps = spec->progress != NULL ? STEPS : UINT64_MAX;
	int status = spec->games ? chi_find_games(find, games, 1, steps, &n)
				 : chi_find_positions(find, rows, ROWS, steps, &n);
	for (size_t i = 0; i < n && spec->each != NULL && !spec->games; i++) {
		int told = spec->each(spec->context, &rows[i]);
		if (told != CHI_OK) {
			return told;
		}
	}
	if (n > 0 && !spec->games) {
		/* Of the last row: the search itself may be far beyond, counting. */
		const struct chi_cursor cursor = {
			.set = true, .chi2 = rows[n - 1].chi2, .key = rows[n - 1].key};
		(void)chi_cursor_print(&cursor, out->cursor);
	}
	if (status == CHI_OK && spec->progress != NULL) {
		return spec->progress(spec->context, chi_find_progress(find));
	}
	return status;
}

int chi_inproc_search(struct chi_client *client, const struct chi_search_spec *spec,
		      struct chi_search_result *out)
{
	struct chi_find_spec asked;
	struct chi_read *read = NULL;
	struct chi_find *find = NULL;
	fill_spec(spec, &asked);
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_find_open(read, &asked, &find, &client->error);
	while (status == CHI_OK) {
		status = step(find, spec, out);
	}
	if (status == CHI_NONE) {
		out->has_total = chi_find_total(find, &out->total);
		status = CHI_OK;
	}
	if (find != NULL) {
		chi_find_close(find);
	}
	chi_read_end(read);
	return status;
}
