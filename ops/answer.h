/* SPDX-License-Identifier: MIT */
/*
 * Operations that are answered at once, on one snapshot: a function each, from the request's own
 * struct to the result's. Who calls it is a driver's: a server (daemon/ops/answer.c), a call in
 * this process (client/local/query.c). Both hand it a request that has passed the checks of the
 * wire, and so they answer alike.
 */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "base/attr.h"
#include "chistore/types.h"

struct chi_game_texts;
struct chi_positions;
struct chi_read;
struct chi_dir;

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

/* Finds the keys of the FENs among the positions. */
CHI_MUSTUSE int chi_ask_keys(struct chi_ask *ask, const struct chi_positions *positions);

/* `result` is zeroed. */
typedef int chi_answer(struct chi_ask *ask, const void *request, void *result);

chi_answer chi_answer_explore;			 /* explore.c */
chi_answer chi_answer_game, chi_answer_heads;	 /* game.c */
chi_answer chi_answer_game_ids, chi_answer_info; /* read.c */
chi_answer chi_answer_probe, chi_answer_get;	 /* read.c */
chi_answer chi_answer_queue_list;		 /* queue.c */
chi_answer chi_answer_check_disk;		 /* read.c */

/*
 * Work on a store as a whole, which may take hours: copied, verified, compacted (whole.c). It takes
 * its own snapshots. A server has a thread do it, whose bytes go into a pipe
 * (daemon/ops/pipe_task.c); its writer compacts in steps of its own (daemon/write/compact.c).
 */

/* Where it goes. */
struct chi_sink {
	int fd;			   /* a copy's bytes */
	const char *path;	   /* of the copy, for messages */
	chi_verify_report *report; /* each damage of a verification; may be NULL */
	void *context;
	const atomic_bool *stop; /* a verification is to end; may be NULL */
	unsigned threads;	 /* that may help a verification; 0: none */
};

/* `result` is zeroed: a struct chi_verify_result, chi_compacted; nothing of a copy. A failure
 * without a text has none of its own. */
typedef int chi_whole(struct chi_dir *store, const struct chi_sink *sink, void *result,
		      struct chi_fault *fault);

chi_whole chi_whole_backup, chi_whole_verify, chi_whole_compact;
