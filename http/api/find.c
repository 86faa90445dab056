/* SPDX-License-Identifier: MIT */
/* GET /api/find: positions by what is on the board. */
#include "base/fault.h"
#include "http/api/api.h"

#define POSITIONS_INITIAL 50
#define POSITIONS_MOST	  10000

struct search {
	struct call *call;
	uint64_t n;
};

static int each(void *context, const struct chi_row *row)
{
	struct search *search = context;
	say_position_row(&search->call->out, row);
	search->n++;
	return call_check(search->call);
}

static int progress(void *context, unsigned thousandths)
{
	const struct search *search = context;
	(void)thousandths;
	return call_check(search->call);
}

static void say_end(struct call *call, const struct chi_search_result *result, bool more)
{
	if (result->has_total) {
		out_number(&call->out, "total", result->total);
	} else {
		out_null(&call->out, "total");
	}
	out_text(&call->out, "next", more && result->cursor[0] != '\0' ? result->cursor : NULL);
}

int api_find(struct call *call)
{
	struct search search = {call, 0};
	struct chi_search_spec spec = {.each = each, .progress = progress, .context = &search};
	struct chi_search_result result = {.has_total = false};
	int status = filter_of(call, FILTER_BOARDS, &spec.pattern);
	status = status == CHI_OK ? filter_of(call, FILTER_GAMES, &spec.filter) : status;
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, POSITIONS_MOST,
						  POSITIONS_INITIAL, &spec.limit, &call->fault)
				  : status;
	if (status < 0) {
		return status;
	}
	spec.only_count = params_flag(&call->params, "count");
	spec.games = params_flag(&call->params, "games");
	spec.cursor = params_get(&call->params, "cursor");
	spec.want_total = spec.cursor == NULL && params_flag(&call->params, "total");
	if (spec.only_count) {
		spec.limit = 0;
		spec.cursor = NULL;
		spec.want_total = false;
		spec.each = NULL;
	} else if (spec.games) {
		return chi_fault(&call->fault, -CHI_EINVAL,
				 "games=1 goes with count=1; /api/games lists games");
	}
	out_object(&call->out, NULL);
	out_array(&call->out, "positions");
	status = chi_search_positions(call->client, &spec, &result);
	if (status < 0) {
		return call->fault.text[0] != '\0' ? status : call_failed(call, status);
	}
	out_end(&call->out, ']');
	say_end(call, &result, search.n == spec.limit);
	out_end(&call->out, '}');
	return CHI_OK;
}
