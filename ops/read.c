/* SPDX-License-Identifier: MIT */
/* What a store says of itself, and which games are counted in it. */
#include "ops/answer.h"

#include "proto/types.h"
#include "store/store.h"

int chi_answer_info(struct chi_ask *ask, const void *request, void *result)
{
	struct chi_info *out = result;
	(void)request;
	int status = chi_read_info(ask->read, out);
	if (out->read_only == CHI_READ_ONLY_NOT) {
		out->read_only = ask->read_only;
	}
	return status;
}

/* So many at a time that others need not wait. */
int chi_answer_game_ids(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_game_ids_request *asked = request;
	struct chi_game_id_list *out = result;
	size_t max = asked->limit == 0 || asked->limit > CHI_GAME_IDS_MAX ? CHI_GAME_IDS_MAX
									  : asked->limit;
	struct chi_game_id *games = chi_arena_array(ask->arena, max, sizeof(*games));
	out->games = games;
	return games == NULL ? -CHI_ENOMEM
			     : chi_read_game_ids(ask->read, asked->after_set ? asked->after : NULL,
						 games, max, &out->n);
}
