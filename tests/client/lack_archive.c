/* SPDX-License-Identifier: MIT */
#include "tests/client/lack_archive.h"

#include <string.h>

#include "tests/client/lack.h"

/* Names that the import before has brought. */
void lack_ask_names(struct chi_client *client)
{
	const struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					    .wanted = "a", .limit = CHI_NAMES_MAX};
	const struct chi_name_change join = {
		.action = CHI_NAME_CORRECT, .kind = CHI_NAME_PLAYER, .name = "A", .to = "C, D"};
	struct chi_names names;
	struct chi_suspect_groups groups;
	struct chi_names_changed did;
	(void)lack_went(chi_names_list(client, &spec, &names), chi_error(client));
	(void)lack_went(chi_suspects_list(client,
					  &(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT,
								      .kind = CHI_NAME_PLAYER,
								      .least = 60, .limit = 10},
					  &groups),
			chi_error(client));
	(void)lack_went(chi_names_change(client, &join, 1, false, NULL, NULL, &did),
			chi_error(client));
}

void lack_use_queue(struct chi_client *client)
{
	struct chi_key key;
	struct chi_queue_lease lease;
	struct chi_queue_page list;
	const struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = "a",
						 .lease_ms = 1000, .limit = 1};
	const char *fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	if (chi_key_from_fen(fen, strlen(fen), &key, NULL) != CHI_OK) {
		return;
	}
	(void)lack_went(chi_queue_add(client, &key, 1, 1, NULL), chi_error(client));
	(void)lack_went(chi_queue_take(client, &take, &lease), chi_error(client));
	(void)lack_went(chi_queue_list(client, CHI_QUEUE_LEASED, NULL, 1, &list),
			chi_error(client));
	(void)lack_went(chi_queue_settle(client, 1, CHI_QUEUE_RELEASE, &key, 1, 0, NULL),
			chi_error(client));
	(void)lack_went(chi_queue_settle(client, 0, CHI_QUEUE_DROP, &key, 1, 0, NULL),
			chi_error(client));
}

void lack_use_gamesets(struct chi_client *client)
{
	struct chi_gamesets sets;
	uint64_t n = 0;
	/* A run before may have had no memory to drop it. */
	int status = chi_gameset_drop(client, "mine");
	if (!lack_went(status == CHI_NONE ? CHI_OK : status, chi_error(client))) {
		return;
	}
	status = chi_gameset_make(client, "mine", "player A", &n);
	if (lack_went(status, chi_error(client))) {
		(void)lack_went(chi_gamesets_list(client, "mine", &sets), chi_error(client));
	}
	struct chi_stats_result stats;
	(void)lack_went(
		chi_stats_list(client,
			       &(struct chi_stats_spec){CHI_STATS_SPEC_INIT, .by = CHI_STATS_YEAR,
							.filter = "player A"},
			       &stats),
		chi_error(client));
	/* Sets of games: of a gameset, of a position, and of what is found. */
	const struct chi_scan_spec scans[] = {
		{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .games = "player A"},
		{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .games = "player A",
		 .pattern = "has Ke1"},
		{CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
		 .games = status == CHI_OK ? "in mine" : "", .pattern = "has Ke1"}};
	for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		(void)lack_went(chi_scan_count(client, &scans[i], &n, NULL), chi_error(client));
	}
	const struct chi_game_spec games = {CHI_GAME_SPEC_INIT,
					    .filter = "has Ke1 plies 1.. moves \"e4\"",
					    .by_positions = true};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	if (lack_went(chi_games_open(client, &games, &query), chi_error(client))) {
		status = chi_games_next(query, &row);
		(void)lack_went(status == CHI_NONE ? CHI_OK : status, chi_error(client));
	}
	chi_rows_close(query);
	struct chi_fault fault;
	(void)lack_went(chi_games_filter_check("player A", &fault), fault.text);
	struct chi_twin_groups twins;
	(void)lack_went(chi_twins_list(client, &(struct chi_twin_spec){CHI_TWIN_SPEC_INIT}, &twins),
			chi_error(client));
	struct chi_insight_result insight;
	for (uint8_t kind = 0; kind < CHI_INSIGHTS; kind++) {
		const struct chi_insight_spec spec = {CHI_INSIGHT_SPEC_INIT, .kind = kind,
						      .min_games = 5, .fdr = 1000, .split = 2000};
		(void)lack_went(chi_insight_list(client, &spec, &insight), chi_error(client));
	}
	/* It may be stored, and then lack what its games are counted with. */
	status = chi_gameset_drop(client, "mine");
	(void)lack_went(status == CHI_NONE ? CHI_OK : status, chi_error(client));
}
