/* SPDX-License-Identifier: MIT */
/*
 * Rows of a query (ops/query.h) on their way to the caller: what its public calls share with the
 * backends. A page of them is at hand; when it is used up the backend brings the next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "client/core/client.h"
#include "ops/query.h"

struct chi_rados_scan;

struct chi_row_pages {
	enum chi_op op;
	const struct chi_member *list; /* where a result has its rows; NULL: it has none */
	size_t size;		       /* bytes of a row */
	struct chi_arena arena;	       /* of the request; in-process the query takes its contents */
	void *request;		       /* remote: for what is still wanted */
	const uint8_t *rows;	       /* of the page at hand */
	size_t n;
	size_t at;
	bool last;  /* it is the last page */
	int failed; /* after the page: negative, with its fault */
	struct chi_fault fault;
	_Alignas(max_align_t) uint8_t result[CHI_RESULT_SIZE]; /* of the page */
	char cursor[CHI_CURSOR_SIZE];
	/* In-process. */
	struct chi_read *read;
	struct chi_query *query;
	struct chi_page page;
	/* Remote. */
	struct chi_stream stream;
	bool has_delivered; /* of pages before the one at hand */
	bool is_full;	    /* all rows that were asked for are delivered */
	bool is_bound;	    /* to its connection: what comes cannot be asked for */
	bool is_mixed;	    /* it went on over another, from another snapshot */
	/* On RADOS. */
	struct chi_rados_scan *shards;
};

/* Begins a query that can go on after a row (`resume`); others come as one list. Closed also after
 * a failure. -CHI_EUNSUPPORTED: not on this kind of address. */
CHI_MUSTUSE int chi_pages_begin(struct chi_client *client, enum chi_op op, const void *spec,
				struct chi_row_pages *rows);

/* Another page, with at least one row; the one at hand is used up. CHI_NONE: there are no more. A
 * failure stays what it is. */
CHI_MUSTUSE int chi_pages_more(struct chi_client *client, struct chi_row_pages *rows);

/* The next row, until the next call; CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_pages_next(struct chi_client *client, struct chi_row_pages *rows,
			       const void **row);
void chi_pages_end(struct chi_client *client, struct chi_row_pages *rows);

/* The operation's result, of a query with all rows, of a change what it did; on failure it is
 * zeroed. */
CHI_MUSTUSE int chi_client_call(struct chi_client *client, enum chi_op op, const void *spec,
				void *out);

/* A public call that has begun with `status`, but for its end, and the same with it, of one that
 * returns pointers. */
CHI_MUSTUSE int chi_client_ask(struct chi_client *client, int status, enum chi_op op,
			       const void *spec, void *out);
CHI_MUSTUSE int chi_pages_all(struct chi_client *client, int status, enum chi_op op,
			      const void *spec, void *out);
