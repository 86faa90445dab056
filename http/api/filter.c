/* SPDX-License-Identifier: MIT */
/* Parameters have the names of the command line's options, and become the same filters. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/evidence.h"
#include "base/fault.h"
#include "store/store.h"
#include "formats/scan_text.h"
#include "http/api/api.h"

#define TERMS_MAX  64
#define WORDS_SIZE 256 /* of a list of words */

/* ---- Filters of games -------------------------------------------------------------------- */

struct terms {
	struct chi_filter_term list[TERMS_MAX];
	size_t n;
};

const char *filter_name(size_t i)
{
	return chi_filter_names[i].name;
}

/* As params_truth; but of the words a player may be called No, or On. */
static int truth_of(enum chi_filter_kind kind, const char *value)
{
	bool name = kind == CHI_FILTER_SIDE && strcmp(value, "1") != 0 && strcmp(value, "0") != 0 &&
		    strcmp(value, "true") != 0 && strcmp(value, "false") != 0;
	return !name && (kind == CHI_FILTER_SIDE || kind == CHI_FILTER_FLAG) ? params_truth(value)
									     : -1;
}

/* The player named last without what is asked for now; NULL: there is none. */
static struct chi_filter_term *last_player(struct terms *terms, bool opponent)
{
	for (size_t i = terms->n; i > 0; i--) {
		struct chi_filter_term *term = &terms->list[i - 1];
		bool player = strcmp(term->name, "player") == 0;
		bool side = strcmp(term->name, "white") == 0 || strcmp(term->name, "black") == 0;
		if (player || (side && opponent)) {
			return (opponent ? term->opponent : term->side) == NULL ? term : NULL;
		}
	}
	return NULL;
}

/* What belongs to a player is added to it. */
static int add_to_player(struct call *call, struct terms *terms, const struct param *param,
			 bool opponent)
{
	struct chi_filter_term *player = last_player(terms, opponent);
	if (player == NULL) {
		return chi_fail(&call->fault, -CHI_EINVAL, "%s: goes after the player whose it is",
				param->name);
	}
	if (opponent) {
		player->opponent = param->value;
	} else {
		player->side = param->name;
	}
	return CHI_OK;
}

/* A FEN may have '_' for blanks, here too. */
static const char *value_of(struct call *call, const struct param *param, enum chi_filter_kind kind)
{
	if (kind != CHI_FILTER_LINE || strcmp(param->name, "position") != 0) {
		return param->value;
	}
	char *fen = chi_arena_text(&call->arena, param->value, strlen(param->value));
	for (char *c = fen; c != NULL && *c != '\0'; c++) {
		*c = (char)(*c == '_' ? ' ' : *c);
	}
	return fen;
}

static int add_param(struct call *call, struct terms *terms, const struct param *param)
{
	bool negated = strncmp(param->name, "not-", 4) == 0;
	const char *name = param->name + (negated ? 4 : 0);
	enum chi_filter_kind kind = chi_filter_kind_of(name);
	if (kind == 0 || param->value[0] == '\0') {
		return CHI_OK;
	}
	int truth = truth_of(kind, param->value);
	if (negated && (kind == CHI_FILTER_RAW || kind == CHI_FILTER_FLAG ||
			kind == CHI_FILTER_OPPONENT || truth >= 0)) {
		return chi_fail(&call->fault, -CHI_EINVAL, "%s: this has no opposite", param->name);
	}
	if (kind == CHI_FILTER_FLAG && truth < 0) {
		return chi_fail(&call->fault, -CHI_EINVAL, "%s: '%.40s' is neither 1 nor 0",
				param->name, param->value);
	}
	if (truth == 0) {
		return CHI_OK;
	}
	if (kind == CHI_FILTER_OPPONENT || (kind == CHI_FILTER_SIDE && truth == 1)) {
		return add_to_player(call, terms, param, kind == CHI_FILTER_OPPONENT);
	}
	if (terms->n == TERMS_MAX) {
		return chi_fail(&call->fault, -CHI_ETOOBIG, "more than %d conditions", TERMS_MAX);
	}
	/* By itself, so that an error names the place in this text, and it closes no parentheses
	 * but its own. */
	int status = kind == CHI_FILTER_RAW ? chi_games_filter_check(param->value, &call->fault)
					    : CHI_OK;
	if (status < 0) {
		return status;
	}
	const char *value = kind != CHI_FILTER_FLAG ? value_of(call, param, kind) : NULL;
	terms->list[terms->n++] =
		(struct chi_filter_term){.name = name, .value = value, .negated = negated};
	return CHI_OK;
}

/* Of a search for positions: what is asked of the games that reached them. */
static bool is_wanted(const struct param *param, enum filter_part part)
{
	bool negated = strncmp(param->name, "not-", 4) == 0;
	enum chi_filter_kind kind = chi_filter_kind_of(param->name + (negated ? 4 : 0));
	bool board = chi_filter_is_board(kind) && !negated;
	return part == FILTER_ALL || board == (part == FILTER_BOARDS);
}

int filter_of(struct call *call, enum filter_part part, const char **out)
{
	struct terms terms = {.n = 0};
	int status = CHI_OK;
	/* Players first: their colour and opponent may be given in any order. */
	for (int late = 0; late < 2; late++) {
		for (size_t i = 0; status == CHI_OK && i < call->params.n; i++) {
			const struct param *param = &call->params.list[i];
			enum chi_filter_kind kind = chi_filter_kind_of(param->name);
			bool later = kind == CHI_FILTER_OPPONENT ||
				     (kind == CHI_FILTER_SIDE && truth_of(kind, param->value) == 1);
			if (later == (late == 1) && is_wanted(param, part)) {
				status = add_param(call, &terms, param);
			}
		}
	}
	*out = "";
	if (status < 0 || terms.n == 0) {
		return status;
	}
	char *text = chi_arena_alloc(&call->arena, CHI_FILTER_TEXT_SIZE);
	if (text == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	status = chi_filter_text(terms.list, terms.n, text, CHI_FILTER_TEXT_SIZE);
	*out = text;
	return status == CHI_OK ? CHI_OK
				: chi_fail(&call->fault, status, "the conditions are too long");
}

/* ---- Scans ------------------------------------------------------------------------------- */

int filter_word(struct call *call, const char *name, const char *const *words, size_t n,
		uint8_t *out)
{
	const char *text = params_get(&call->params, name);
	*out = 0;
	for (uint8_t i = 0; text != NULL && i < n; i++) {
		if (words[i] != NULL && strcmp(text, words[i]) == 0) {
			*out = i;
			return CHI_OK;
		}
	}
	if (text == NULL) {
		return CHI_OK;
	}
	char list[WORDS_SIZE] = "";
	for (size_t i = 0, at = 0; i < n && at < sizeof(list); i++) {
		if (words[i] == NULL) {
			continue;
		}
		int len = snprintf(list + at, sizeof(list) - at, "%s%s", i > 0 ? ", " : "none of ",
				   words[i]);
		at += len > 0 ? (size_t)len : 0;
	}
	return chi_fail(&call->fault, -CHI_EINVAL, "%s: '%.40s' is %s", name, text, list);
}

/* Those of the parameters that are there; the list ends with NULL. */
static int take_texts(struct call *call, const char *const *names, void *out)
{
	int status = CHI_OK;
	for (; status == CHI_OK && *names != NULL; names++) {
		const char *text = params_get(&call->params, *names);
		status = text != NULL ? chi_scan_text(*names, text, out, &call->fault) : CHI_OK;
	}
	return status;
}

int filter_evidence(struct call *call, struct chi_evidence *out)
{
	static const char *const names[] = {"engine", "depth", "eval-date", NULL};
	*out = (struct chi_evidence){.since = 0};
	int status = take_texts(call, names, out);
	return status == CHI_OK ? chi_evidence_check(out, &call->fault) : status;
}

int filter_scan(struct call *call, struct chi_scan_spec *out)
{
	static const char *const names[] = {"from",  "to",   "material", "pieces", "engines",
					    "score", "eval", "ply",	 NULL};
	static const char *const sides[] = {"any", "w", "b"};
	static const char *const sorts[] = {"statistic", "games", "score", "eval", "gap"};
	struct chi_filter *filter = &out->filter;
	*out = (struct chi_scan_spec){CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				      .want = CHI_WANT_COUNTS};
	out->descending = params_flag(&call->params, "desc");
	int status = take_texts(call, names, out);
	filter->either_colour = filter->has_material && params_flag(&call->params, "either-colour");
	status = status == CHI_OK ? params_number(&call->params, "min-games", 0, UINT64_MAX, 0,
						  &filter->games_min, &call->fault)
				  : status;
	status = status == CHI_OK ? filter_word(call, "side", sides, 3, &filter->side) : status;
	status = status == CHI_OK ? filter_word(call, "sort", sorts, 5, &out->sort) : status;
	if (out->sort != CHI_SORT_NONE) {
		out->descending = !params_flag(&call->params, "asc");
	}
	status = status == CHI_OK ? filter_evidence(call, &filter->evidence) : status;
	if (status == CHI_OK && out->chi2_min > out->chi2_max) {
		return chi_fail(&call->fault, -CHI_EINVAL, "from is greater than to");
	}
	return status;
}
