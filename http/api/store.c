/* SPDX-License-Identifier: MIT */
/* What the store has as a whole: itself, its names, gamesets and statistics. */
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/names/words.h"
#include "http/api/api.h"
#include "http/net/config.h"
#include "http/net/session.h"

#define NAMES_INITIAL 20

int api_info(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_info info;
	int status = chi_store_info(call->client, &info);
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(out, NULL);
	out_text(out, "version", chi_version());
	out_text(out, "statistic", chi_statistic_name(info.statistic));
	out_number(out, "positions", info.positions);
	say_counts(out, &info.games, true);
	out_bool(out, "games_kept", info.keep == CHI_KEEP_GAMES);
	out_bool(out, "writable", call->session->config->write_to != NULL);
	out_number(out, "sequence", info.sequence);
	out_end(out, '}');
	return CHI_OK;
}

/* ---- Names ------------------------------------------------------------------------------- */

static int take_kind(struct call *call, uint8_t *out)
{
	const char *text = params_get(&call->params, "kind");
	*out = CHI_NAME_PLAYER;
	for (uint8_t kind = CHI_NAME_PLAYER; text != NULL && kind < CHI_NAME_KINDS; kind++) {
		if (strcmp(text, chi_name_kind_name(kind)) == 0) {
			*out = kind;
			return CHI_OK;
		}
	}
	return text == NULL ? CHI_OK
			    : chi_fail(&call->fault, -CHI_EINVAL,
				       "kind: not player, event, site, source, round or annotator");
}

/* As one types: each word of what is wanted begins a word of the name. */
static bool begins_wanted(const struct chi_name_words *wanted, const char *text)
{
	struct chi_name_words name;
	bool all = true;
	chi_name_split(text, strlen(text), &name);
	for (size_t i = 0; all && i < wanted->n; i++) {
		size_t len = wanted->word[i].len;
		bool one = false;
		for (size_t k = 0; !one && k < name.n; k++) {
			one = name.word[k].len >= len &&
			      memcmp(chi_name_word_text(wanted, i), chi_name_word_text(&name, k),
				     len) == 0;
		}
		all = one;
	}
	return all;
}

/* Those with most games so far, in order. */
struct best {
	struct chi_name_row *rows;
	size_t n;
	size_t most;
	uint64_t total;
};

static int keep_name(struct call *call, struct best *best, const struct chi_name_row *row)
{
	size_t at = best->n;
	best->total++;
	while (at > 0 && best->rows[at - 1].games < row->games) {
		at--;
	}
	if (at == best->most) {
		return CHI_OK;
	}
	size_t moved = (best->n < best->most ? best->n : best->most - 1) - at;
	memmove(&best->rows[at + 1], &best->rows[at], moved * sizeof(*row));
	best->n += best->n < best->most ? 1 : 0;
	best->rows[at] = *row;
	best->rows[at].text = chi_arena_text(&call->arena, row->text, strlen(row->text));
	return best->rows[at].text != NULL ? CHI_OK : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

/* Every name is looked at: a hundred thousand take some hundredths of a second. Fewer than asked
 * for are not the last: names that have gone meanwhile are left out. */
static int find_names(struct call *call, struct chi_names_spec *spec, const char *wanted,
		      struct best *best)
{
	struct chi_name_words words = {.n = 0};
	struct chi_names names;
	bool whole = false;
	int status = CHI_OK;
	chi_name_split(wanted, strlen(wanted), &words);
	do {
		whole = spec->after == 0;
		status = chi_names_list(call->client, spec, &names);
		if (status < 0) {
			return call_failed(call, status);
		}
		whole = whole && names.n == names.total;
		for (size_t i = 0; status == CHI_OK && i < names.n; i++) {
			spec->after = names.rows[i].id;
			status = begins_wanted(&words, names.rows[i].text)
					 ? keep_name(call, best, &names.rows[i])
					 : CHI_OK;
		}
		status = status == CHI_OK ? call_check(call) : status;
	} while (status == CHI_OK && names.n > 0 && !whole);
	return status;
}

int api_names(struct call *call)
{
	struct writer *out = &call->out;
	const char *wanted = params_get(&call->params, "q");
	struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .limit = CHI_NAMES_MAX};
	struct best best = {.n = 0};
	uint64_t limit = 0;
	int status = take_kind(call, &spec.kind);
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, CHI_NAMES_MAX,
						  NAMES_INITIAL, &limit, &call->fault)
				  : status;
	if (status < 0) {
		return status;
	}
	best.most = (size_t)limit;
	best.rows = chi_arena_array(&call->arena, best.most, sizeof(*best.rows));
	status = best.rows == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				   : find_names(call, &spec, wanted != NULL ? wanted : "", &best);
	if (status < 0) {
		return status;
	}
	out_object(out, NULL);
	out_number(out, "total", best.total);
	out_array(out, "names");
	for (size_t i = 0; i < best.n; i++) {
		const struct chi_name_row *row = &best.rows[i];
		out_object(out, NULL);
		out_number(out, "id", row->id);
		out_text(out, "name", row->text);
		out_number(out, "games", row->games);
		out_end(out, '}');
	}
	out_end(out, ']');
	out_end(out, '}');
	return CHI_OK;
}

/* ---- Gamesets ---------------------------------------------------------------------------- */

int api_gamesets(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_gamesets sets;
	int status = chi_gamesets_list(call->client, NULL, &sets);
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(out, NULL);
	out_array(out, "gamesets");
	for (size_t i = 0; i < sets.n; i++) {
		out_object(out, NULL);
		out_text(out, "name", sets.rows[i].name);
		out_number(out, "games", sets.rows[i].games);
		out_text(out, "filter", sets.rows[i].filter);
		out_end(out, '}');
	}
	out_end(out, ']');
	out_end(out, '}');
	return CHI_OK;
}

/* ---- Statistics -------------------------------------------------------------------------- */

int api_stats(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_stats_result result;
	struct chi_row_column columns[CHI_STATS_COLUMNS];
	const char *filter = "";
	uint64_t limit = 0;
	uint8_t by = 0;
	uint8_t side = 0;
	int status = filter_word(call, "by", chi_stats_words, CHI_STATS_KINDS, &by);
	status = status == CHI_OK ? filter_word(call, "as", chi_stats_sides, 3, &side) : status;
	if (status == CHI_OK && side != 0 && by != CHI_STATS_PLAYER) {
		return chi_fail(&call->fault, -CHI_EINVAL, "as goes with by=player alone");
	}
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, UINT32_MAX, 0, &limit,
						  &call->fault)
				  : status;
	status = status == CHI_OK ? filter_of(call, FILTER_ALL, &filter) : status;
	if (status < 0) {
		return status;
	}
	status = chi_stats_list(call->client,
				&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
							 .by = (uint8_t)(by + side),
							 .filter = filter, .limit = limit},
				&result);
	if (status < 0) {
		return call_failed(call, status);
	}
	size_t n = chi_stats_columns((uint8_t)(by + side), columns);
	columns[0].name = "value";
	out_object(out, NULL);
	out_text(out, "by", chi_stats_words[by]);
	out_array(out, "rows");
	for (size_t i = 0; i < result.n; i++) {
		out_object(out, NULL);
		say_columns(out, columns, n, &result.groups[i]);
		out_end(out, '}');
	}
	out_end(out, ']');
	out_end(out, '}');
	return CHI_OK;
}

/* ---- The table --------------------------------------------------------------------------- */

#define NAMES(...) ((const char *const[]){__VA_ARGS__})
#define EVIDENCE   "engine", "depth", "eval-date"
#define POSITIONS                                                                                  \
	"from", "to", "material", "?either-colour", "side", "pieces", "min-games", "score",        \
		"eval", "ply", "engines", EVIDENCE

static const struct route_params none = {NAMES(NULL), NULL};
static const struct route_params board = {NAMES("fen", NULL), NULL};
static const struct route_params position = {NAMES("fen", EVIDENCE, NULL), NULL};
static const struct route_params explore = {NAMES("fen", "backed", EVIDENCE, NULL), filter_name};
static const struct route_params games = {
	NAMES("fen", "sort", "?descending", "limit", "cursor", "?total", "?explain", NULL),
	filter_name};
static const struct route_params find = {
	NAMES("limit", "cursor", "?total", "?games", "?count", NULL), filter_name};
static const struct route_params scan = {
	NAMES(POSITIONS, "sort", "?desc", "?asc", "limit", "cursor", "?total", NULL), NULL};
static const struct route_params histogram = {NAMES("bins", POSITIONS, NULL), NULL};
static const struct route_params names = {NAMES("kind", "q", "limit", NULL), NULL};
static const struct route_params stats = {NAMES("by", "as", "limit", NULL), filter_name};
static const struct route_params insight = {NAMES("kind", "fen", "side", "min-games", "fdr",
						  "known", "caught-on", "split", "engines",
						  EVIDENCE, "limit", NULL),
					    filter_name};

const struct route api_routes[] = {
	{"/api/info", 0, api_info, NULL, &none},
	{"/api/position", ROUTE_POST, api_position, NULL, &position},
	{"/api/explore", ROUTE_LONG, api_explore, NULL, &explore},
	{"/api/games", ROUTE_LONG, api_games, NULL, &games},
	{"/api/game/", ROUTE_UNDER, api_game, NULL, &none},
	{"/api/pgn", ROUTE_POST | ROUTE_NO_GET | ROUTE_LOCAL, api_pgn, NULL, &board},
	{"/api/find", ROUTE_LONG, api_find, NULL, &find},
	{"/api/scan", ROUTE_LONG, api_scan, NULL, &scan},
	{"/api/histogram", ROUTE_LONG, api_histogram, NULL, &histogram},
	{"/api/names", ROUTE_LONG, api_names, NULL, &names},
	{"/api/gamesets", 0, api_gamesets, NULL, &none},
	{"/api/stats", ROUTE_LONG, api_stats, NULL, &stats},
	{"/api/insight", ROUTE_LONG, api_insight, NULL, &insight},
	{.path = NULL},
};
