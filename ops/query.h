/* SPDX-License-Identifier: MIT */
/*
 * Operations whose answer is rows. What one does is its struct chi_query_ops (stats.c, twins.c,
 * games.c); who runs it, and where its rows go, is a driver's: a server's run in slices
 * (daemon/ops/query.c), a call in this process to its end (client/local/query.c). Both are driven
 * by a request that has passed the checks of the wire, and so they answer alike.
 *
 *    open -> attach -> work ... work -> rows ... rows -> close
 *               ^--- detach <---- at any time that may_detach allows
 *
 * A query is used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "chistore/types.h"
#include "ops/page.h"
#include "proto/types.h"

struct chi_game_texts;
struct chi_operation;
struct chi_query;
struct chi_read;

/* Room for any query's cursor. */
#define CHI_CURSOR_SIZE 64

/* Room for any result's own struct. */
#define CHI_RESULT_SIZE 256

struct chi_query_ops {
	size_t size;	/* of its own struct, which begins with a struct chi_query; zeroed */
	bool whole;	/* its work cannot be done by halves: a server has a thread do it */
	bool finds;	/* its work finds all, on one snapshot, which then may end; the rows come by
			   query->at */
	unsigned steps; /* of work or rows between two looks at the clock */
	/* Of the member of the request that is a filter of games or NULL, which is checked before
	 * `open`; 0: it has none. */
	size_t filter_at;

	/* Looks at the request without a snapshot; *field names what is wrong. NULL: nothing. */
	int (*open)(struct chi_query *query, const char **field, struct chi_fault *fault);
	/* Begins, or goes on where it was, on query->read. */
	int (*attach)(struct chi_query *query, struct chi_fault *fault);
	/* Lets go of the snapshot; also after a failed attach. One that finds is closed instead
	 * while it works, and then may have nothing to let go of: NULL. */
	void (*detach)(struct chi_query *query);
	/* False while another snapshot would mean to begin again. NULL: it never would; of one that
	 * finds, while it works. */
	bool (*may_detach)(const struct chi_query *query);
	/* Before there are rows. CHI_OK: call again; CHI_NONE: now rows come. NULL: they come at
	 * once. */
	int (*work)(struct chi_query *query, struct chi_fault *fault);
	/* Bytes of a row in memory. NULL: as the result's list says. */
	size_t (*row_size)(const void *request);
	/* Some rows into the page. CHI_OK: call again; CHI_NONE: these were the last. */
	int (*rows)(struct chi_query *query, struct chi_page *page, struct chi_fault *fault);
	/* The rows of the page are delivered: what else the result says. NULL: nothing. */
	void (*deliver)(struct chi_query *query, const struct chi_page *page, bool last,
			void *result);
	/* False: rows that are not delivered cannot be found again. NULL: they always can. */
	bool (*may_forget)(const struct chi_query *query);
	/* Detached: the page's rows are not delivered, they are found again. NULL: from query->at
	 * on, or there are none. */
	void (*forget)(struct chi_query *query, const struct chi_page *page);
	/* Makes of the request one for what comes after `row`, the last of `n` delivered. `cursor`
	 * is memory for it. CHI_NONE: nothing comes but a total; -CHI_EUNSUPPORTED: nothing can be
	 * asked for after this row. NULL: it is asked from the beginning. */
	int (*resume)(void *request, const void *row, size_t n, char cursor[CHI_CURSOR_SIZE]);
	/* Rows that a request asks for; 0: no limit. NULL: it never has one. */
	uint64_t (*limit)(const void *request);
	size_t (*memory)(const struct chi_query *query);
	/* How much was looked at, in thousandths, while it is attached. NULL: it does not say. */
	unsigned (*progress)(const struct chi_query *query);
	/* How it is being answered, as lines, to be freed; NULL: it is detached, or there is no
	 * memory. NULL: it does not say. */
	char *(*describe)(const struct chi_query *query);
	/* The i-th name in its filter that no name in the store fits, or NULL. NULL: it has no
	 * filter. */
	const char *(*unknown)(const struct chi_query *query, size_t i);
	/* Frees what was found, or was not yet. May be called again. */
	void (*close)(struct chi_query *query);
};

struct chi_query {
	const struct chi_query_ops *ops;
	const struct chi_operation *operation;
	enum chi_op op;
	struct chi_arena arena;	   /* of the request */
	void *request;		   /* its own struct */
	struct chi_read *read;	   /* NULL: detached */
	struct chi_arena *passing; /* memory until the next call, where rows are made */
	struct chi_game_texts
		*texts; /* lent, not of a snapshot so far; NULL: a query makes its own */
	uint64_t steps;
	unsigned threads; /* that may help it, and then it does all in one step; 0: none */
	size_t at;	  /* of one that finds: the next row, */
	size_t delivered; /* and the first one after those that were delivered */
	unsigned ahead;	  /* rows that are made at once for a caller in this process; 0: as most */
	bool is_ready;	  /* rows come */
};

/* NULL: the operation is no query. */
const struct chi_query_ops *chi_query_ops_of(enum chi_op op);

/* Takes the arena's contents, in which the request is, also on failure. *field: static storage. */
CHI_MUSTUSE int chi_query_open(const struct chi_request *request, struct chi_arena *arena,
			       struct chi_query **out, const char **field, struct chi_fault *fault);
void chi_query_close(struct chi_query *query); /* detached or not; NULL is fine */

CHI_MUSTUSE int chi_query_attach(struct chi_query *query, struct chi_read *read,
				 struct chi_fault *fault);
void chi_query_detach(struct chi_query *query);
bool chi_query_may_detach(const struct chi_query *query);

/* Detached: what is in the page was not delivered. False: it cannot be found again. */
bool chi_query_forget(struct chi_query *query, const struct chi_page *page);

/* Work, or rows. CHI_OK: call again; CHI_NONE: it is over. */
CHI_MUSTUSE int chi_query_step(struct chi_query *query, struct chi_page *page,
			       struct chi_fault *fault);

/* The page's rows, and what goes with them, as the operation's own result. */
void chi_query_result(struct chi_query *query, const struct chi_page *page, bool last,
		      void *result);

/* The i-th name in its filter that no name in the store fits, or NULL. */
const char *chi_query_unknown(const struct chi_query *query, size_t i);

/* How much was looked at, in thousandths, while it is attached; 0: not known. */
unsigned chi_query_progress(const struct chi_query *query);

/* How it is being answered, as lines (games --explain), to be freed; NULL: it does not say. */
char *chi_query_describe(const struct chi_query *query);

/* Bytes that it takes, about. */
size_t chi_query_memory(const struct chi_query *query);

/* The rows of a result of this operation; NULL: it has none. */
const struct chi_member *chi_query_list(const struct chi_operation *operation);

/* Bytes of one of these rows in memory. */
size_t chi_query_row_size(enum chi_op op, const void *request);

/* Parses a filter, which may be NULL, for `open`. */
CHI_MUSTUSE int chi_query_filter(const char *filter, const char **field, struct chi_fault *fault);
