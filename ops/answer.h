/* SPDX-License-Identifier: MIT */
/*
 * Operations that are answered at once, on one snapshot: a function each, from the request's own
 * struct to the result's. Who calls it is a driver's: a server (daemon/ops/answer.c), a call in
 * this process (client/local/query.c). Both hand it a request that has passed the checks of the
 * wire, and so they answer alike.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "chistore/types.h"

struct chi_game_texts;
struct chi_read;

/* Room for a field's name that is made up. */
#define CHI_FIELD_SIZE 48

/* What a driver lends. */
struct chi_ask {
	struct chi_read *read;	       /* the snapshot; NULL: what writes has none */
	struct chi_arena *arena;       /* what the result leads to, but what is static */
	struct chi_game_texts **texts; /* NULL in it until made; the driver ends and frees them */
	size_t most;		       /* bytes of the result, packed, that can be sent */
	uint8_t read_only;	       /* enum chi_read_only: as who asks is served */
	/* Of the request, at fault; static, in the arena or the place; NULL: none; "": the
	 * operation itself. */
	const char *field;
	char place[CHI_FIELD_SIZE];
	enum chi_statistic statistic; /* of the store, for a change's check */
	void *made;		      /* of a change (ops/change.h): what it needs; or NULL */
	struct chi_fault *fault;
};

/* `result` is zeroed. */
typedef int chi_answer(struct chi_ask *ask, const void *request, void *result);

chi_answer chi_answer_explore;		      /* explore.c */
chi_answer chi_answer_game, chi_answer_heads; /* game.c */
chi_answer chi_answer_game_ids;		      /* game_ids.c */
chi_answer chi_answer_info;		      /* info.c */
chi_answer chi_answer_queue_list;	      /* queue.c */
