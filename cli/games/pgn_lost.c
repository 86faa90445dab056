/* SPDX-License-Identifier: MIT */
/* The text that a game had is no longer anywhere but in the store, from where it is taken. */
#include "cli/games/pgn_lost.h"

#include "base/attr.h"
#include "base/fault.h"

struct taking {
	struct chi_client *client;
	struct chi_import *games;
	struct pgn_offsets *lost;
};

static void taking_deinit(struct taking *taking)
{
	chi_close(taking->client);
	chi_import_close(taking->games);
	pgn_offsets_free(taking->lost);
}

static int take_lost_game(struct taking *taking, uint32_t number, struct chi_fault *fault)
{
	struct chi_game_row row;
	struct chi_game game;
	int status = chi_game_get(taking->client, number, &row, &game);
	if (status < 0) {
		return chi_fault(fault, status, "%s", chi_error(taking->client));
	}
	if (status != CHI_OK || !pgn_offsets_has(taking->lost, &game)) {
		return CHI_OK;
	}
	status = chi_import_feed(taking->games, row.pgn, row.pgn_len);
	return status < 0 ? chi_fault(fault, status, "%s", chi_import_error(taking->games))
			  : CHI_OK;
}

static int take_games(struct taking *taking, struct chi_fault *fault)
{
	struct chi_import_result result;
	struct chi_info info;
	int status = chi_get_info(taking->client, &info);
	if (status < 0) {
		return chi_fault(fault, status, "%s", chi_error(taking->client));
	}
	for (uint64_t number = 1; status == CHI_OK && number <= info.last_game; number++) {
		status = take_lost_game(taking, (uint32_t)number, fault);
	}
	if (status < 0) {
		return status;
	}
	status = chi_import_commit(taking->games, &result);
	return status < 0 ? chi_fault(fault, status, "%s", chi_import_error(taking->games))
			  : CHI_OK;
}

int pgn_lost_take_out(const char *address, const struct chi_options *options,
		      struct pgn_offsets *now, const char *book, struct chi_fault *fault)
{
	_cleanup_(taking_deinit) struct taking taking = {.client = NULL};
	const struct chi_import_options kind = {.kind = CHI_IMPORT_SUBTRACT};
	int status = pgn_offsets_lost(now, book, &taking.lost, fault);
	if (status < 0 || taking.lost == NULL) {
		return status == -CHI_ENOMEM ? chi_fault_plain(fault, status) : status;
	}
	status = chi_open(address, options, &taking.client, fault);
	status = status == CHI_OK
			 ? chi_import_open(address, options, 0, &kind, &taking.games, fault)
			 : status;
	if (status == CHI_OK && chi_import_file(taking.games, book) < 0) {
		status = chi_fault_plain(fault, -CHI_ENOMEM);
	}
	return status == CHI_OK ? take_games(&taking, fault) : status;
}
