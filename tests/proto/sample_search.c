/* SPDX-License-Identifier: MIT */
/* Random messages that have to do with names, gamesets and patterns, and whether two say the same.
 */
#include "tests/proto/sample.h"

#include <stdio.h>
#include <string.h>

static const char *string(struct sample *s, size_t max)
{
	return sample_text(s, max).bytes;
}

/* NULL or a text that is not empty. */
static const char *some(struct sample *s, size_t max)
{
	struct chi_text text = sample_text(s, max);
	return text.len > 0 ? text.bytes : NULL;
}

static uint32_t window(struct sample *s)
{
	return (uint32_t)sample_below(s, CHI_WINDOW_MAX + 1);
}

static void change_names(struct sample *s, struct chi_request *out)
{
	size_t n = sample_below(s, 5);
	struct chi_name_change *changes = sample_take(s, n, sizeof(*changes));
	for (size_t i = 0; i < n; i++) {
		changes[i] = (struct chi_name_change){
			.action = (uint8_t)sample_below(s, CHI_NAME_FIDE + 1),
			.kind = (uint8_t)sample_below(s, CHI_NAME_KINDS),
			.name = some(s, 20),
			.to = some(s, 20),
			.fide = (uint32_t)sample_number(s),
		};
	}
	out->u.change_names.changes = changes;
	out->u.change_names.n = n;
	out->u.change_names.dry_run = sample_coin(s);
}

static void find(struct sample *s, struct chi_request *out)
{
	out->u.find.pattern = string(s, 40);
	out->u.find.filter = string(s, 40);
	out->u.find.cursor = string(s, CHI_SEARCH_CURSOR_SIZE - 1);
	out->u.find.games = sample_coin(s);
	out->u.find.only_count = sample_coin(s);
	out->u.find.want_total = sample_coin(s);
	out->u.find.progress = sample_coin(s);
	out->u.find.want = (uint8_t)sample_below(s, CHI_GAMES_PGN + 1);
	out->u.find.limit = sample_number(s);
	out->u.find.window = window(s);
}

void sample_search_request(struct sample *s, struct chi_request *out)
{
	switch (out->op) {
	case CHI_OP_CHANGE_NAMES:
		change_names(s, out);
		break;
	case CHI_OP_MAKE_GAMESET:
	case CHI_OP_DROP_GAMESET:
		out->u.gameset.name = string(s, CHI_GAMESET_TEXT_MAX);
		out->u.gameset.filter = out->op == CHI_OP_MAKE_GAMESET ? string(s, 40) : NULL;
		break;
	case CHI_OP_FIND:
		find(s, out);
		break;
	default:
		sample_queue_request(s, out);
		break;
	}
}

static bool same_changes(const struct chi_request *a, const struct chi_request *b)
{
	bool same = a->u.change_names.n == b->u.change_names.n &&
		    a->u.change_names.dry_run == b->u.change_names.dry_run;
	for (size_t i = 0; same && i < a->u.change_names.n; i++) {
		const struct chi_name_change *x = &a->u.change_names.changes[i];
		const struct chi_name_change *y = &b->u.change_names.changes[i];
		same = x->action == y->action && x->kind == y->kind && x->fide == y->fide &&
		       same_string(x->name, y->name) && same_string(x->to, y->to);
	}
	return same;
}

static bool same_find(const struct chi_request *a, const struct chi_request *b)
{
	return same_string(a->u.find.pattern, b->u.find.pattern) &&
	       same_string(a->u.find.filter, b->u.find.filter) &&
	       same_string(a->u.find.cursor, b->u.find.cursor) &&
	       a->u.find.games == b->u.find.games && a->u.find.only_count == b->u.find.only_count &&
	       a->u.find.want_total == b->u.find.want_total && a->u.find.want == b->u.find.want &&
	       a->u.find.progress == b->u.find.progress && a->u.find.limit == b->u.find.limit &&
	       a->u.find.window == b->u.find.window;
}

bool same_search_request(const struct chi_request *a, const struct chi_request *b)
{
	switch (a->op) {
	case CHI_OP_CHANGE_NAMES:
		return same_changes(a, b);
	case CHI_OP_MAKE_GAMESET:
		return same_string(a->u.gameset.name, b->u.gameset.name) &&
		       same_string(a->u.gameset.filter, b->u.gameset.filter);
	case CHI_OP_DROP_GAMESET:
		return same_string(a->u.gameset.name, b->u.gameset.name);
	case CHI_OP_FIND:
		return same_find(a, b);
	default:
		return same_queue_request(a, b);
	}
}

/* ---- Responses --------------------------------------------------------------------------- */

static void change_names_result(struct sample *s, struct chi_response *out)
{
	size_t n = sample_below(s, 4);
	struct chi_name_refusal *refused = sample_take(s, n, sizeof(*refused));
	for (size_t i = 0; i < n; i++) {
		refused[i] = (struct chi_name_refusal){(uint32_t)sample_number(s), string(s, 20)};
	}
	out->u.change_names.outcome.names =
		(struct chi_names_changed){sample_number(s), sample_number(s), sample_number(s)};
	out->u.change_names.refused = refused;
	out->u.change_names.n_refused = n;
}

static void find_result(struct sample *s, struct chi_response *out)
{
	out->u.find.n = sample_below(s, 6);
	out->u.find.rows = sample_rows(s, out->u.find.n, true, true);
	out->u.find.n_games = sample_below(s, 4);
	out->u.find.games = sample_games(s, out->u.find.n_games);
	(void)snprintf(out->u.find.cursor, sizeof(out->u.find.cursor), "%s", string(s, 30));
	out->u.find.thousandths = (uint16_t)sample_below(s, CHI_FIND_THOUSANDTHS + 1);
	out->u.find.counted = sample_coin(s);
	out->u.find.total = sample_number(s);
	out->u.find.mixed = sample_coin(s);
}

bool sample_search_response(struct sample *s, struct chi_response *out)
{
	switch (out->op) {
	case CHI_OP_CHANGE_NAMES:
		change_names_result(s, out);
		return true;
	case CHI_OP_MAKE_GAMESET:
		out->u.outcome.games = sample_number(s);
		return true;
	case CHI_OP_DROP_GAMESET:
		out->u.outcome.dropped = sample_below(s, 2);
		return true;
	case CHI_OP_FIND:
		find_result(s, out);
		return true;
	default:
		return sample_queue_response(s, out);
	}
}

static bool same_refusals(const struct chi_change_names_result *a,
			  const struct chi_change_names_result *b)
{
	bool same = memcmp(&a->outcome.names, &b->outcome.names, sizeof(a->outcome.names)) == 0 &&
		    a->n_refused == b->n_refused;
	for (size_t i = 0; same && i < a->n_refused; i++) {
		same = a->refused[i].entry == b->refused[i].entry &&
		       same_string(a->refused[i].reason, b->refused[i].reason);
	}
	return same;
}

static bool same_found(const struct chi_response *a, const struct chi_response *b)
{
	bool same = a->u.find.n == b->u.find.n && same_string(a->u.find.cursor, b->u.find.cursor) &&
		    a->u.find.thousandths == b->u.find.thousandths &&
		    a->u.find.counted == b->u.find.counted && a->u.find.total == b->u.find.total &&
		    a->u.find.mixed == b->u.find.mixed && a->u.find.n_games == b->u.find.n_games &&
		    same_game_rows(a->u.find.games, b->u.find.games, a->u.find.n_games);
	for (size_t i = 0; same && i < a->u.find.n; i++) {
		const struct chi_row *x = &a->u.find.rows[i];
		const struct chi_row *y = &b->u.find.rows[i];
		same = same_key(&x->key, &y->key) && x->chi2 == y->chi2 && x->found == y->found &&
		       same_counts(&x->counts, &y->counts);
	}
	return same;
}

bool same_search_response(const struct chi_response *a, const struct chi_response *b)
{
	switch (a->op) {
	case CHI_OP_CHANGE_NAMES:
		return same_refusals(&a->u.change_names, &b->u.change_names);
	case CHI_OP_MAKE_GAMESET:
		return a->u.outcome.games == b->u.outcome.games;
	case CHI_OP_DROP_GAMESET:
		return a->u.outcome.dropped == b->u.outcome.dropped;
	case CHI_OP_FIND:
		return same_found(a, b);
	default:
		return same_queue_response(a, b);
	}
}
