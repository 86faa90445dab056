/* SPDX-License-Identifier: MIT */
/* GET /api/find: positions by what is on the board. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "http/api/api.h"
#include "store/store.h"

#define POSITIONS_INITIAL 50
#define POSITIONS_MOST	  10000

/* The rows, and in spec->after where the last one is. */
static int say_rows(struct call *call, struct chi_scan_spec *spec, uint64_t *n)
{
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	int status = chi_scan_open(call->client, spec, &iter);
	while (status == CHI_OK && (status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
		say_position_row(&call->out, row);
		*n += 1;
		status = call_check(call);
	}
	if (iter != NULL) {
		spec->after = chi_rows_state(iter)->cursor;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

static int count_games(struct call *call, const struct chi_scan_spec *asked, uint64_t *total)
{
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	/* The games' filter is no condition of the pattern. */
	bool both = asked->pattern[0] != '\0' && asked->games[0] != '\0';
	size_t size = strlen(asked->pattern) + strlen(asked->games) + sizeof(" and ");
	char *filter = chi_arena_alloc(&call->arena, size);
	if (filter == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	(void)snprintf(filter, size, "%s%s%s", asked->pattern, both ? " and " : "", asked->games);
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = filter,
					   .by_positions = true, .want_total = true, .limit = 1};
	int status = chi_games_open(call->client, &spec, &query);
	while (status == CHI_OK) {
		status = chi_games_next(query, &row);
	}
	if (status == CHI_NONE) {
		*total = chi_rows_state(query)->total;
	}
	chi_rows_close(query);
	return status == CHI_NONE ? CHI_OK : status;
}

static int take_spec(struct call *call, struct chi_scan_spec *spec)
{
	const char *cursor = params_get(&call->params, "cursor");
	*spec = (struct chi_scan_spec){CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				       .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS,
				       .whole_counts = true};
	int status = filter_of(call, FILTER_BOARDS, &spec->pattern);
	status = status == CHI_OK ? filter_of(call, FILTER_GAMES, &spec->games) : status;
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, POSITIONS_MOST,
						  POSITIONS_INITIAL, &spec->limit, &call->fault)
				  : status;
	if (status == CHI_OK && cursor != NULL &&
	    chi_cursor_parse(cursor, strlen(cursor), &spec->after) != CHI_OK) {
		return chi_fail(&call->fault, -CHI_EINVAL, "cursor: no search has given this one");
	}
	return status;
}

static void say_end(struct call *call, const uint64_t *total, const struct chi_cursor *next)
{
	char text[CHI_CURSOR_TEXT_SIZE];
	if (total != NULL) {
		out_number(&call->out, "total", *total);
	} else {
		out_null(&call->out, "total");
	}
	out_text(&call->out, "next",
		 next != NULL && chi_cursor_print(next, text) > 0 ? text : NULL);
}

static int find(struct call *call, struct chi_scan_spec *spec)
{
	bool count = params_flag(&call->params, "count");
	bool games = params_flag(&call->params, "games");
	bool counts = count || (params_flag(&call->params, "total") && !spec->after.set);
	uint64_t total = 0;
	uint64_t n = 0;
	if (games && !count) {
		return chi_fail(&call->fault, -CHI_EINVAL,
				"games=1 goes with count=1; /api/games lists games");
	}
	out_object(&call->out, NULL);
	out_array(&call->out, "positions");
	int status = count ? CHI_OK : say_rows(call, spec, &n);
	if (status == CHI_OK && counts) {
		status = games ? count_games(call, spec, &total)
			       : chi_scan_count(call->client, spec, &total, NULL);
	}
	if (status < 0) {
		return call->fault.text[0] != '\0' ? status : call_failed(call, status);
	}
	out_end(&call->out, ']');
	say_end(call, counts ? &total : NULL, !count && n == spec->limit ? &spec->after : NULL);
	out_end(&call->out, '}');
	return CHI_OK;
}

int api_find(struct call *call)
{
	struct chi_scan_spec spec;
	int status = take_spec(call, &spec);
	return status == CHI_OK ? find(call, &spec) : status;
}
