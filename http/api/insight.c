/* SPDX-License-Identifier: MIT */
/* Findings (docs/INSIGHT.md): the columns of the command line, but for its commands. */
#include "base/fault.h"
#include "formats/insight_text.h"
#include "formats/rows/insight.h"
#include "http/api/api.h"

#define ROWS_MOST    500
#define ROWS_INITIAL 20

/* A number, `usual` if it is not there. */
static int insight_number(struct call *call, const char *name, uint64_t most, uint64_t usual,
			  uint64_t *out)
{
	return params_number(&call->params, name, 1, most, usual, out, &call->fault);
}

static int spec_of_insight(struct call *call, struct chi_insight_spec *spec, struct chi_key *key)
{
	static const char *const sides[] = {"white", "black"};
	uint8_t side = 0;
	uint64_t fdr = 0; /* percent */
	uint64_t known = 0;
	uint64_t years = 0;
	uint64_t split = 0;
	uint64_t engines = 0;
	int status = filter_word(call, "kind", chi_insight_words, CHI_INSIGHTS, &spec->kind);
	status = status == CHI_OK ? filter_word(call, "side", sides, 2, &side) : status;
	status = status == CHI_OK ? filter_of(call, FILTER_ALL, &spec->filter) : status;
	status = status == CHI_OK
			 ? insight_number(call, "min-games", UINT32_MAX, 0, &spec->min_games)
			 : status;
	status = status == CHI_OK
			 ? insight_number(call, "limit", ROWS_MOST, ROWS_INITIAL, &spec->limit)
			 : status;
	status = status == CHI_OK ? insight_number(call, "fdr", 100, 0, &fdr) : status;
	status = status == CHI_OK ? insight_number(call, "known", UINT32_MAX, 0, &known) : status;
	status = status == CHI_OK
			 ? insight_number(call, "caught-on", CHI_INSIGHT_YEARS_MAX, 0, &years)
			 : status;
	status = status == CHI_OK ? insight_number(call, "split", UINT16_MAX, 0, &split) : status;
	status = status == CHI_OK ? insight_number(call, "engines", CHI_EVALS_MAX, 0, &engines)
				  : status;
	status = status == CHI_OK ? filter_evidence(call, &spec->evidence) : status;
	if (status == CHI_OK && params_get(&call->params, "fen") != NULL) {
		status = call_fen_param(call, "fen", key);
		spec->position = key;
	}
	spec->black = side == 1;
	spec->engines = (uint8_t)engines;
	spec->split = (uint32_t)split;
	spec->fdr = (uint32_t)fdr * 10;
	spec->known = (uint32_t)known;
	spec->years = (uint32_t)years;
	return status;
}

static int say_finding(struct call *call, const struct chi_insight_spec *spec,
		       const struct chi_insight_result *all, const struct chi_insight_row *row)
{
	struct chi_insight_text text;
	struct chi_game_row head;
	struct chi_game game;
	size_t n = 0;
	const struct chi_row_column *columns = chi_insight_columns(spec->kind, &n);
	int status =
		row->game != 0 ? chi_game_get(call->client, row->game, &head, &game) : CHI_NONE;
	bool is_there = status == CHI_OK;
	if (status < 0) {
		return call_failed(call, status);
	}
	status = chi_insight_tell(row, is_there ? &game : NULL, &text);
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(&call->out, NULL);
	say_columns(&call->out, columns, n - 1,
		    &(struct chi_insight_line){.row = *row,
					       .side = spec->black ? "black" : "white",
					       .fen = text.fen,
					       .line = text.line,
					       .move = text.move,
					       .before = all->before,
					       .after = all->games - all->before,
					       .head = is_there ? &head : NULL});
	out_text(&call->out, "after", text.after);
	out_end(&call->out, '}');
	return call_check(call);
}

int api_insight(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT};
	struct chi_insight_result result;
	struct chi_key key;
	int status = spec_of_insight(call, &spec, &key);
	if (status < 0) {
		return status;
	}
	status = chi_insight_list(call->client, &spec, &result);
	if (status < 0) {
		return call_failed(call, status);
	}
	/* What the library returned ends with its next call. */
	size_t n = result.n;
	struct chi_insight_row *rows = chi_arena_array(&call->arena, n + 1, sizeof(*rows));
	if (rows == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < n; i++) {
		rows[i] = result.rows[i];
	}
	out_object(out, NULL);
	out_text(out, "kind", chi_insight_words[spec.kind]);
	out_number(out, "tested", result.tested);
	out_number(out, "games", result.games);
	if (spec.kind == CHI_INSIGHT_DRIFT) {
		out_number(out, "before", result.before);
	}
	out_array(out, "rows");
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = say_finding(call, &spec, &result, &rows[i]);
	}
	out_end(out, ']');
	out_end(out, '}');
	return status;
}
