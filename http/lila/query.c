/* SPDX-License-Identifier: MIT */
/* Parameters of the explorer, as filters of games. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/openings/openings.h"
#include "chess/pgn/speed.h"
#include "formats/filter_text.h"
#include "http/lila/lila.h"

#define TERMS_MAX 16
#define MOVES	  12 /* that are told if no number is asked for */

/* ---- The position -------------------------------------------------------------------------- */

static void note_opening(struct lila_query *query)
{
	const char *eco = NULL;
	const char *name = NULL;
	if (chi_opening_find(&query->key, &eco, &name) == CHI_OK) {
		query->eco = eco;
		query->opening = name;
	}
}

/* A FEN that no game can have is mended where that is plain: rights without king and rook, and an
 * en passant square without a pawn, are left out. */
static int read_fen(struct call *call, const char *text, struct chi_key *out)
{
	char fen[CHI_FEN_INPUT_MAX + 8];
	int status = call_fen(call, text, out);
	size_t len = strcspn(text, " _+");
	if (status == CHI_OK || text[len] == '\0' || text[len + 1] == '\0' || len > 90) {
		return status;
	}
	(void)snprintf(fen, sizeof(fen), "%.*s %c - - 0 1", (int)len, text, text[len + 1]);
	return call_fen(call, fen, out);
}

static int play(struct call *call, struct lila_query *query, const char *moves)
{
	while (moves != NULL && *moves != '\0') {
		size_t len = strcspn(moves, ",");
		chi_move move = 0;
		int status = chi_key_move(&query->key, moves, len, &move, NULL);
		status = status == CHI_OK ? chi_key_play(&query->key, move, &query->key) : status;
		if (status < 0) {
			return chi_fail(&call->fault, -CHI_EMOVE,
					"play: '%.*s' is no legal move there",
					len < 8 ? (int)len : 8, moves);
		}
		note_opening(query);
		moves += len + (moves[len] == ',' ? 1 : 0);
	}
	return CHI_OK;
}

int lila_check_variant(struct call *call)
{
	static const char *const known[] = {"standard", "chess", "chess960", "fromPosition"};
	const char *variant = params_get(&call->params, "variant");
	for (size_t i = 0; variant != NULL && i < CHI_COUNT(known); i++) {
		if (strcmp(variant, known[i]) == 0) {
			return CHI_OK;
		}
	}
	return variant == NULL ? CHI_OK
			       : chi_fail(&call->fault, -CHI_EINVAL,
					  "variant: only standard chess and Chess960 are known");
}

/* More games than are shown are not an error for clients that ask for all. */
static int take_most(struct call *call, const char *name, uint64_t initial, uint64_t most,
		     uint64_t *out)
{
	int status = params_number(&call->params, name, 0, UINT32_MAX, initial, out, &call->fault);
	*out = *out < most ? *out : most;
	return status;
}

int lila_query_of(struct call *call, uint64_t moves, uint64_t top, uint64_t recent,
		  struct lila_query *out)
{
	const char *fen = params_get(&call->params, "fen");
	*out = (struct lila_query){.filter = ""};
	int status = lila_check_variant(call);
	status = status == CHI_OK ? read_fen(call, fen != NULL ? fen : CHI_FEN_START, &out->key)
				  : status;
	if (status < 0) {
		return status;
	}
	note_opening(out);
	status = play(call, out, params_get(&call->params, "play"));
	status = status == CHI_OK ? take_most(call, "moves", moves, LILA_MOVES_MOST, &out->moves)
				  : status;
	status = status == CHI_OK ? take_most(call, "topGames", top, LILA_GAMES_MOST, &out->top)
				  : status;
	status = status == CHI_OK
			 ? take_most(call, "recentGames", recent, LILA_GAMES_MOST, &out->recent)
			 : status;
	char text[CHI_FEN_SIZE] = "";
	const char *blank = status == CHI_OK && chi_key_to_fen(&out->key, text, NULL) == CHI_OK
				    ? strchr(text, ' ')
				    : NULL;
	out->black = blank != NULL && blank[1] == 'b';
	return status;
}

/* ---- Filters ------------------------------------------------------------------------------- */

struct terms {
	struct chi_filter_term list[TERMS_MAX];
	size_t n;
};

static void add_either(struct terms *terms, bool negated, const char *name, const char *value)
{
	if (value != NULL && terms->n < TERMS_MAX) {
		terms->list[terms->n++] =
			(struct chi_filter_term){.name = name, .value = value, .negated = negated};
	}
}

static void add_term(struct terms *terms, const char *name, const char *value)
{
	add_either(terms, false, name, value);
}

static int finish_query(struct call *call, struct terms *terms, struct lila_query *query)
{
	char *text = chi_arena_alloc(&call->arena, CHI_FILTER_TEXT_SIZE);
	if (text == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = chi_filter_text(terms->list, terms->n, text, CHI_FILTER_TEXT_SIZE);
	query->filter = text;
	return status < 0 ? chi_fail(&call->fault, status, "the parameters are too long") : CHI_OK;
}

/* "a" or, as some clients send it, "a[]", of which there may be several. */
static const char *list_of(struct call *call, const char *name)
{
	char array[32];
	size_t len = strlen(name);
	const char *text = params_get(&call->params, name);
	(void)snprintf(array, sizeof(array), "%s[]", name);
	for (size_t i = 0; i < call->params.n; i++) {
		const struct param *param = &call->params.list[i];
		if (strncmp(param->name, name, len) != 0 || strcmp(param->name, array) != 0) {
			continue;
		}
		size_t have = text != NULL ? strlen(text) : 0;
		size_t more = strlen(param->value);
		char *both = chi_arena_alloc(&call->arena, have + more + 2);
		if (both == NULL) {
			return text;
		}
		(void)sprintf(both, "%s%s%s", have > 0 ? text : "", have > 0 ? "," : "",
			      param->value);
		text = both;
	}
	return text;
}

static int take_speed(struct call *call, const char *at, size_t len, bool wanted[CHI_SPEEDS])
{
	for (size_t i = 1; i < CHI_SPEEDS; i++) {
		if (strlen(chi_speed_names[i]) == len && memcmp(chi_speed_names[i], at, len) == 0) {
			wanted[i] = true;
			return CHI_OK;
		}
	}
	return chi_fail(&call->fault, -CHI_EINVAL,
			"speeds: a list of ultraBullet, bullet, blitz, rapid, classical, "
			"correspondence");
}

/* Games without a time control are said to be classical, and fit no speed: where classical ones are
 * wanted, those of the others are left out. */
static int add_speeds(struct call *call, struct terms *terms)
{
	const char *text = list_of(call, "speeds");
	bool wanted[CHI_SPEEDS] = {false};
	char list[64] = "";
	int status = CHI_OK;
	while (status == CHI_OK && text != NULL && *text != '\0') {
		size_t len = strcspn(text, ",");
		status = take_speed(call, text, len, wanted);
		text += len + (text[len] == ',' ? 1 : 0);
	}
	for (size_t i = 1; i < CHI_SPEEDS; i++) {
		if (wanted[i] != wanted[CHI_SPEED_CLASSICAL]) {
			(void)sprintf(list + strlen(list), "%s%s", list[0] != '\0' ? "," : "",
				      chi_speed_names[i]);
		}
	}
	if (status < 0 || list[0] == '\0') {
		return status;
	}
	const char *value = chi_arena_text(&call->arena, list, strlen(list));
	add_either(terms, wanted[CHI_SPEED_CLASSICAL], "speed", value);
	return value != NULL ? CHI_OK : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

static const unsigned groups[] = {0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500, 65536};
#define GROUPS (CHI_COUNT(groups) - 1)

static int take_group(struct call *call, const char *at, size_t len, bool wanted[GROUPS])
{
	uint64_t value = 0;
	if (chi_num_u64(at, len, 9999, &value) != CHI_OK) {
		return chi_fail(&call->fault, -CHI_EINVAL,
				"ratings: a list of 0, 1000, 1200, ... 2200, 2500");
	}
	for (size_t i = 0; i < GROUPS; i++) {
		wanted[i] = wanted[i] || (value >= groups[i] && value < groups[i + 1]);
	}
	return CHI_OK;
}

static const char *range_text(struct call *call, unsigned from, unsigned to)
{
	char text[32];
	int n = to > 65535 ? snprintf(text, sizeof(text), "%u..", from)
			   : snprintf(text, sizeof(text), "%u..%u", from, to - 1);
	return chi_arena_text(&call->arena, text, (size_t)n);
}

/* Groups of the average rating: all from the least to the greatest, without those between that are
 * not wanted. */
static int add_ratings(struct call *call, struct terms *terms)
{
	const char *text = list_of(call, "ratings");
	bool wanted[GROUPS] = {false};
	size_t first = GROUPS;
	size_t last = 0;
	int status = CHI_OK;
	while (status == CHI_OK && text != NULL && *text != '\0') {
		size_t len = strcspn(text, ",");
		status = take_group(call, text, len, wanted);
		text += len + (text[len] == ',' ? 1 : 0);
	}
	for (size_t i = 0; i < GROUPS; i++) {
		first = wanted[i] && first == GROUPS ? i : first;
		last = wanted[i] ? i : last;
	}
	if (status < 0 || first == GROUPS) {
		return status;
	}
	if (first > 0 || last + 1 < GROUPS) {
		add_term(terms, "average", range_text(call, groups[first], groups[last + 1]));
	}
	for (size_t i = first; i < last; i++) {
		if (!wanted[i]) {
			add_either(terms, true, "average",
				   range_text(call, groups[i], groups[i + 1]));
		}
	}
	return CHI_OK;
}

/* What is asked by default asks for nothing. */
static void add_dates(struct call *call, struct terms *terms)
{
	const char *since = params_get(&call->params, "since");
	const char *until = params_get(&call->params, "until");
	bool first = since != NULL && (strcmp(since, "1952") == 0 || strcmp(since, "1952-01") == 0);
	add_term(terms, "since", first ? NULL : since);
	add_term(terms, "until", until != NULL && strncmp(until, "3000", 4) == 0 ? NULL : until);
}

/* ---- Handlers ------------------------------------------------------------------------------ */

static int answer_query(struct call *call, struct lila_query *query, struct terms *terms)
{
	struct lila_pass *pass = chi_arena_alloc(&call->arena, sizeof(*pass));
	int status = pass == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				  : finish_query(call, terms, query);
	status = status == CHI_OK ? lila_pass_run(call, query, pass) : status;
	return status == CHI_OK ? lila_say(call, query, pass) : status;
}

int lila_masters(struct call *call)
{
	struct lila_query query;
	struct terms terms = {.n = 0};
	int status = lila_query_of(call, MOVES, 15, 0, &query);
	add_dates(call, &terms);
	return status < 0 ? status : answer_query(call, &query, &terms);
}

static int lichess_terms(struct call *call, struct terms *terms)
{
	add_dates(call, terms);
	int status = add_speeds(call, terms);
	return status == CHI_OK ? add_ratings(call, terms) : status;
}

int lila_lichess(struct call *call)
{
	struct lila_query query;
	struct terms terms = {.n = 0};
	int status = lila_query_of(call, MOVES, 4, 4, &query);
	status = status == CHI_OK ? lichess_terms(call, &terms) : status;
	query.online = true;
	query.history = params_flag(&call->params, "history");
	return status < 0 ? status : answer_query(call, &query, &terms);
}

/* The same without moves and games. */
int lila_history(struct call *call)
{
	struct lila_query query;
	struct terms terms = {.n = 0};
	int status = lila_query_of(call, 0, 0, 0, &query);
	status = status == CHI_OK ? lichess_terms(call, &terms) : status;
	query.online = true;
	query.history = true;
	query.moves = 0;
	query.top = 0;
	query.recent = 0;
	return status < 0 ? status : answer_query(call, &query, &terms);
}

/* As lichess names its games: "Casual Blitz game". */
static void add_modes(struct call *call, struct terms *terms)
{
	const char *text = list_of(call, "modes");
	bool casual = text != NULL && strstr(text, "casual") != NULL;
	bool rated = text != NULL && strstr(text, "rated") != NULL;
	if (casual != rated) {
		add_either(terms, rated, "event", LILA_CASUAL);
	}
}

/* One line of NDJSON: what lila sends while it still reads games, and we have read them. */
int lila_player(struct call *call)
{
	struct lila_query query;
	struct terms terms = {.n = 0};
	const char *colour = params_get(&call->params, "color");
	int status = lila_query_of(call, LILA_MOVES_MOST, 0, 8, &query);
	query.player = params_get(&call->params, "player");
	query.online = true;
	if (status == CHI_OK && query.player == NULL) {
		status = chi_fail(&call->fault, -CHI_EINVAL, "the parameter 'player' is missing");
	}
	if (status == CHI_OK &&
	    (colour == NULL || (strcmp(colour, "white") != 0 && strcmp(colour, "black") != 0))) {
		status = chi_fail(&call->fault, -CHI_EINVAL,
				  "the parameter 'color' is white or black");
	}
	status = status == CHI_OK ? add_speeds(call, &terms) : status;
	if (status < 0) {
		return status;
	}
	query.as_black = strcmp(colour, "black") == 0;
	add_term(&terms, query.as_black ? "black" : "white", query.player);
	add_dates(call, &terms);
	add_modes(call, &terms);
	call->type = "application/x-ndjson";
	status = answer_query(call, &query, &terms);
	out_newline(&call->out);
	return status;
}

int lila_pgn(struct call *call)
{
	const char *text = call->path + strlen(call->route->path);
	struct chi_game_row row;
	uint64_t number = 0;
	if (chi_num_u64(text, strlen(text), UINT32_MAX, &number) != CHI_OK) {
		return call_not_found(call, "there is no such game");
	}
	int status = chi_game_get(call->client, (uint32_t)number, &row, NULL);
	if (status != CHI_OK) {
		return status < 0 ? call_failed(call, status)
				  : call_not_found(call, "there is no such game");
	}
	call->type = "application/x-chess-pgn";
	out_bytes(&call->out, row.pgn, row.pgn_len);
	return CHI_OK;
}
