/* SPDX-License-Identifier: MIT */
/*
 * What an operation is to those who serve it: who may ask for it, what it needs, and what does it.
 * Its messages are in proto/operations.h. Both tables have a row for every operation, and who
 * drives it - a server, a call in this process - looks here instead of having a table of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "ops/answer.h"
#include "proto/types.h"
#include "service/role.h"

struct chi_change_ops;
struct chi_query_ops;

/* How it is served. */
enum chi_op_kind {
	CHI_KIND_OTHER,	 /* in a way of its own: hello, import, compact */
	CHI_KIND_ANSWER, /* at once, on one snapshot */
	CHI_KIND_QUERY,	 /* rows, in slices (ops/query.h) */
	CHI_KIND_WRITE,	 /* in a transaction */
	CHI_KIND_BYTES,	 /* a thread writes into a pipe */
};

enum chi_op_flag {
	CHI_NEEDS_STORE = 1 << 0,     /* the request names one */
	CHI_NEEDS_WRITABLE = 1 << 1,  /* it is changed */
	CHI_NEEDS_ARCHIVE = 1 << 2,   /* it keeps its games; if of_games, only where that says so */
	CHI_NEEDS_DIRECTORY = 1 << 3, /* it is one: what objects on RADOS do not have */
	CHI_IS_LONG = 1 << 4,	      /* may look at every entry: a client waits while pings are
				 answered */
	CHI_IS_LOGGED = 1 << 5,	      /* the log names the peer */
	CHI_IS_SILENT = 1 << 6,	      /* no answer of its own; its id is another request's */
	CHI_STAYS = 1 << 7,	      /* in flight after its handler: answered by and by */
	CHI_FEEDS = 1 << 8,	      /* part of another request, which ends if this fails */
	CHI_WHEN_FULL = 1 << 9,	      /* served also when memory is used up */
};

/* Operations that take about as long as each other, and share a histogram. */
enum chi_op_class {
	CHI_CLASS_SESSION, /* hello, ping, info, games */
	CHI_CLASS_PROBE,
	CHI_CLASS_GET,	 /* get, explore */
	CHI_CLASS_SCAN,	 /* scan, count */
	CHI_CLASS_WRITE, /* put, delete */
	CHI_CLASS_IMPORT,
	CHI_CLASS_STORE, /* work on a whole store */
	CHI_CLASSES,
};

struct chi_op_row {
	enum chi_role role; /* the least that may ask for it; NONE: there is no such operation */
	enum chi_op_kind kind;
	enum chi_op_class op_class;
	unsigned flags;			     /* enum chi_op_flag */
	const struct chi_query_ops *query;   /* of a QUERY; NULL: its driver knows how */
	chi_answer *answer;		     /* of an ANSWER; likewise; with a query as well: of
						requests that are not of games */
	const struct chi_change_ops *change; /* of a WRITE; likewise */
	chi_whole *whole;		     /* of BYTES, and of COMPACT in this process */
	/* Whether a server's result is of this request; NULL: it cannot be of another. */
	bool (*fits)(const void *request, const void *result);
	/* Of one that needs the archive for some requests only. */
	bool (*of_games)(const struct chi_request *request);
	const char *instead; /* of one that needs a directory: what is done elsewhere; or NULL */
};

/* Of CHI_OP_UNKNOWN for what is no operation; never NULL. */
const struct chi_op_row *chi_op_row_of(enum chi_op op);

/* What it is called where someone is refused; never NULL. */
const char *chi_op_label(enum chi_op op);

/* Whether its row's query answers the request, and not what answers at once. */
bool chi_op_is_query(const struct chi_request *request);

/* What a store has beside positions. */
enum chi_holding {
	CHI_HOLDS_GAMES,    /* a directory, with its games */
	CHI_HOLDS_COUNTS,   /* a directory that only counts them (CHI_KEEP_COUNTS) */
	CHI_HOLDS_ON_RADOS, /* objects: positions and counts, no more */
};

/* -CHI_EUNSUPPORTED: such a store cannot answer the request, by its operation's row. */
CHI_MUSTUSE int chi_op_check(const struct chi_request *request, enum chi_holding holding,
			     struct chi_fault *fault);
