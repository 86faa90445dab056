/* SPDX-License-Identifier: MIT */
/* Patterns over a socket. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/core/rows.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"
#include "search/find.h"

/* ---- Patterns ----------------------------------------------------------------------------- */

struct search {
	const struct chi_search_spec *spec;
	struct chi_search_result *out;
	uint64_t delivered; /* rows */
	bool ended_here;    /* by what the caller's function returned */
};

/* What is still to be asked for. After rows were delivered the total is asked for apart. */
static void make_request(const struct search *search, struct chi_request *request)
{
	const struct chi_search_spec *spec = search->spec;
	bool resumes = search->delivered > 0;
	*request = (struct chi_request){
		.op = CHI_OP_FIND,
		.u.find = {.pattern = spec->pattern,
			   .filter = spec->filter,
			   .games = spec->games,
			   .want = spec->want,
			   .only_count = spec->only_count,
			   .want_total = spec->want_total && !resumes,
			   .progress = spec->progress != NULL,
			   .limit = spec->limit > 0 ? spec->limit - search->delivered : 0,
			   .cursor = resumes ? search->out->cursor : spec->cursor},
	};
}

/* The rows of an answer, positions or games. */
static int take_rows(struct search *search, const struct chi_response *response)
{
	const struct chi_search_spec *spec = search->spec;
	char *cursor = search->out->cursor;
	size_t n = spec->games ? response->u.find.n_games : response->u.find.n;
	bool wanted = spec->games ? spec->each_game != NULL : spec->each != NULL;
	int status = CHI_OK;
	for (size_t i = 0; wanted && i < n; i++) {
		size_t len = 0;
		if (spec->games) {
			struct chi_game_row row = response->u.find.games[i];
			row.pgn = row.pgn != NULL ? row.pgn : "";
			status = spec->each_game(spec->context, &row);
			len = chi_find_game_cursor(row.head.number, cursor);
		} else {
			const struct chi_row *row = &response->u.find.rows[i];
			const struct chi_cursor at = {
				.set = true, .chi2 = row->chi2, .key = row->key};
			status = spec->each(spec->context, row);
			len = chi_cursor_print(&at, cursor);
		}
		cursor[len] = '\0';
		search->delivered++;
		if (status != CHI_OK) {
			return status;
		}
	}
	return CHI_OK;
}

/* Hands on an answer. */
static int take_found(struct search *search, const struct chi_response *response)
{
	const struct chi_search_spec *spec = search->spec;
	struct chi_search_result *out = search->out;
	int status = take_rows(search, response);
	if (status != CHI_OK) {
		return status;
	}
	out->mixed = out->mixed || response->u.find.mixed;
	if (response->last) {
		out->has_total = response->u.find.counted;
		out->total = response->u.find.total;
	} else if (spec->progress != NULL) {
		status = spec->progress(spec->context, response->u.find.thousandths);
	}
	return status;
}

static int try_search(struct chi_client *client, struct search *search)
{
	struct chi_request request;
	struct chi_stream stream;
	struct chi_response response = {.last = false};
	make_request(search, &request);
	int status = chi_stream_begin(client, &stream, &request);
	search->out->mixed = search->out->mixed || search->delivered > 0;
	while (status == CHI_OK) {
		status = chi_stream_next(client, &stream, CHI_OP_FIND, &response);
		int told = status >= 0 ? take_found(search, &response) : CHI_OK;
		search->ended_here = told != CHI_OK;
		status = told != CHI_OK ? told : status;
	}
	chi_stream_cancel(client, &stream);
	return status == CHI_NONE && !search->ended_here ? CHI_OK : status;
}

/* False: all rows were delivered, and only word of it was lost. */
static bool has_rest(const struct search *search)
{
	return search->spec->limit == 0 || search->delivered < search->spec->limit;
}

static int search_rows(struct chi_client *client, struct search *search)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = has_rest(search) ? try_search(client, search) : CHI_OK;
	} while (!search->ended_here && chi_repeat_again(client, &repeat, status));
	return status;
}

int chi_remote_search(struct chi_client *client, const struct chi_search_spec *spec,
		      struct chi_search_result *out)
{
	struct search search = {.spec = spec, .out = out};
	int status = search_rows(client, &search);
	if (status != CHI_OK || out->has_total || !spec->want_total) {
		return status;
	}
	struct chi_search_result total = {0};
	const struct chi_search_spec again = {.pattern = spec->pattern,
					      .filter = spec->filter,
					      .games = spec->games,
					      .only_count = true,
					      .progress = spec->progress,
					      .context = spec->context};
	search = (struct search){.spec = &again, .out = &total};
	status = search_rows(client, &search);
	out->has_total = total.has_total;
	out->total = total.total;
	return status;
}
