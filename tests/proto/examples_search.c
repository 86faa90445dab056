/* SPDX-License-Identifier: MIT */
/* The examples of PROTOCOL.md that have to do with names, gamesets and patterns. */
#include "tests/proto/examples.h"

#include "base/attr.h"

#define MARK                                                                                       \
	{                                                                                          \
		.client =                                                                          \
			{0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255}, \
		.since = 1200, .sequence = 43, .unanswered = 43                                    \
	}

static const struct chi_request names_request = {
	.id = 30,
	.op = CHI_OP_NAMES,
	.body = &(const struct chi_names_spec){.kind = CHI_NAME_PLAYER,
					       .wanted = "carlsen",
					       .limit = 100},
};
static const struct chi_name_row names[] = {
	{.id = 12, .fide = 1503014, .counted = true, .games = 28, .text = "Carlsen,M"},
	{.id = 318, .root = 12, .counted = true, .games = 2, .text = "Carlsen, Magnus"},
};
static const struct chi_response names_response = {
	.id = 30,
	.last = true,
	.op = CHI_OP_NAMES,
	.body = &(const struct chi_names){.rows = names, .n = 2, .total = 2},
};

static const struct chi_request suspects_request = {
	.id = 31,
	.op = CHI_OP_SUSPECTS,
	.window = 4,
	.body = &(const struct chi_suspects_spec){.kind = CHI_NAME_EVENT, .least = 60, .limit = 1},
};
static const struct chi_name_row alike[] = {
	{.id = 4, .counted = true, .games = 90, .text = "Tata Steel"},
	{.id = 7, .counted = true, .games = 3, .text = "Tata-Steel"},
};
static const struct chi_name_suspects suspects[] = {{.score = 90, .names = alike, .n = 2}};
static const struct chi_response suspects_response = {
	.id = 31,
	.last = true,
	.op = CHI_OP_SUSPECTS,
	.body = &(const struct chi_suspect_groups){.groups = suspects, .n = 1, .total = 17},
};

static const struct chi_name_change changes[] = {
	{.action = CHI_NAME_JOIN,
	 .kind = CHI_NAME_PLAYER,
	 .name = "Carlsen, Magnus",
	 .to = "Carlsen,M"},
	{.action = CHI_NAME_PART, .kind = CHI_NAME_EVENT, .name = "#9"},
	{.action = CHI_NAME_FIDE, .kind = CHI_NAME_PLAYER, .name = "Anand,V", .fide = 5000017},
};
static const struct chi_request change_names_request = {
	.id = 32,
	.idempotency_key = MARK,
	.op = CHI_OP_CHANGE_NAMES,
	.body = &(const struct chi_change_names_request){.changes = changes, .n = 3},
};
static const struct chi_name_refusal refused[] = {{1, "there is no event \"#9\""}};
static const struct chi_response change_names_response = {
	.id = 32,
	.last = true,
	.op = CHI_OP_CHANGE_NAMES,
	.body = &(const struct chi_names_done){.counts = {.changed = 1, .same = 1, .conflicts = 1},
					       .refused = refused,
					       .n_refused = 1},
};

static const struct chi_request gamesets_request = {
	.id = 33, .op = CHI_OP_GAMESETS, .body = &(const struct chi_gamesets_spec){.name = "a"}};
static const struct chi_gameset_row gamesets[] = {
	{.name = "carlsen", .filter = "player Carlsen", .games = 28, .upto = 300, .bytes = 72},
};
static const struct chi_response gamesets_response = {
	.id = 33,
	.last = true,
	.op = CHI_OP_GAMESETS,
	.body = &(const struct chi_gamesets){.rows = gamesets, .n = 1},
};

static const struct chi_request make_gameset_request = {
	.id = 34,
	.op = CHI_OP_MAKE_GAMESET,
	.body = &(const struct chi_gameset_request){.name = "carlsen", .filter = "player Carlsen"},
};
static const struct chi_response make_gameset_response = {.id = 34,
							  .last = true,
							  .op = CHI_OP_MAKE_GAMESET,
							  .body = &(const struct chi_affected){28}};

static const struct chi_request drop_gameset_request = {
	.id = 35,
	.op = CHI_OP_DROP_GAMESET,
	.body = &(const struct chi_gamesets_spec){.name = "carlsen"}};
static const struct chi_response drop_gameset_response = {
	.id = 35, .last = true, .op = CHI_OP_DROP_GAMESET, .body = &(const struct chi_affected){1}};

static const struct chi_request find_request = {
	.id = 36,
	.op = CHI_OP_SCAN,
	.window = 4,
	.progress = true,
	.body = &(const struct chi_scan_request){.spec = {.chi2_max = CHI_CHI2_MAX,
							  .order = CHI_ORDER_POSITION,
							  .want = CHI_WANT_COUNTS,
							  .limit = 1,
							  .games = "player Carlsen",
							  .whole_counts = true,
							  .pattern = "has \"Nd5 kg8\" mirror"}},
};
static const struct chi_response find_progress_response = {
	.id = 36,
	.op = CHI_OP_SCAN,
	.thousandths = 312,
	.body = &(const struct chi_scan_page){.want = CHI_WANT_COUNTS}};

static const struct chi_request count_games_request = {
	.id = 37,
	.op = CHI_OP_COUNT,
	.body = &(const struct chi_scan_request){.spec = {.chi2_max = CHI_CHI2_MAX,
							  .games = "player Nemo"}},
};
static struct chi_text count_games_unknown[1] = {{"Nemo", 4}};
static const struct chi_response count_games_response = {
	.id = 37,
	.last = true,
	.unknown = count_games_unknown,
	.n_unknown = 1,
	.op = CHI_OP_COUNT,
	.body = &(const struct chi_counted){.count = 0},
};

static const struct chi_request find_games_request = {
	.id = 38,
	.op = CHI_OP_GAME_QUERY,
	.body = &(const struct chi_game_spec){.filter = "has Nd5",
					      .want = CHI_GAMES_TEXTS,
					      .limit = 1,
					      .by_positions = true},
};

static const struct chi_request twins_request = {
	.id = 39,
	.op = CHI_OP_TWINS,
	.body = &(const struct chi_twin_spec){.filter = "since 2010", .days = 3, .plies = 20},
};
static const uint32_t first_twins[] = {7, 300};
static const uint32_t other_twins[] = {11, 12, 90};
static const struct chi_twin_group twin_groups[] = {{first_twins, 2}, {other_twins, 3}};
static const struct chi_response twins_response = {
	.id = 39,
	.last = true,
	.op = CHI_OP_TWINS,
	.body = &(const struct chi_twin_groups){.groups = twin_groups, .n = CHI_COUNT(twin_groups)},
};

const struct example search_examples[] = {
	{"names-request", &names_request, NULL},
	{"names-response", NULL, &names_response},
	{"suspects-request", &suspects_request, NULL},
	{"suspects-response", NULL, &suspects_response},
	{"change-names-request", &change_names_request, NULL},
	{"change-names-response", NULL, &change_names_response},
	{"gamesets-request", &gamesets_request, NULL},
	{"gamesets-response", NULL, &gamesets_response},
	{"make-gameset-request", &make_gameset_request, NULL},
	{"make-gameset-response", NULL, &make_gameset_response},
	{"drop-gameset-request", &drop_gameset_request, NULL},
	{"drop-gameset-response", NULL, &drop_gameset_response},
	{"find-request", &find_request, NULL},
	{"find-progress-response", NULL, &find_progress_response},
	{"count-games-request", &count_games_request, NULL},
	{"count-games-response", NULL, &count_games_response},
	{"find-games-request", &find_games_request, NULL},
	{"twins-request", &twins_request, NULL},
	{"twins-response", NULL, &twins_response},
};
const size_t n_search_examples = CHI_COUNT(search_examples);
