/* SPDX-License-Identifier: MIT */
/*
 * A request and its answer, as a handler sees them. A handler runs on a thread that may wait for
 * the store and has a client of its own; it reads the parameters, asks the store and writes the
 * answer. Everything it takes from the arena lives as long as the call.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chistore.h"
#include "service/net/http_head.h"
#include "http/net/params.h"
#include "http/net/writer.h"
#include "service/access.h"
#include "service/net/loop.h"
#include "service/net/peer.h"

struct session;
struct call;
struct pack;

/* CHI_OK: the answer is written. Negative: the fault says why; the answer is that, as the room of
 * the route words it. */
typedef int call_handler(struct call *call);

/* Puts the answer of a failure into call->out, which is empty; call->http is set already. */
typedef void call_complain(struct call *call, const char *why);

enum route_flag {
	ROUTE_POST = 1 << 0,   /* besides GET, */
	ROUTE_PUT = 1 << 1,    /* the same */
	ROUTE_NO_GET = 1 << 2, /* only these */
	ROUTE_LONG = 1 << 3,   /* may take longer than others can be made to wait */
	ROUTE_WRITE = 1 << 4,  /* asks for the role write */
	ROUTE_OPEN = 1 << 5,   /* is answered without a token */
	ROUTE_UNDER = 1 << 6,  /* and all paths that begin so */
	ROUTE_END = 1 << 7,    /* all paths that end so */
	ROUTE_LOCAL = 1 << 9,  /* does not ask the store */
	ROUTE_LIVE = 1 << 10,  /* its answer changes though the store does not */
	ROUTE_LARGE = 1 << 8,  /* its body may have the size of imports */
};

/* The parameters of a route. Any other is refused, so that a mistyped filter is not an answer about
 * everything. */
struct route_params {
	const char *const *own; /* the last is NULL; those with '?' before their name are yes or no
				 */
	const char *(*filters)(size_t); /* the i-th, NULL after the last; each may have "not-"
					   before it. NULL: none */
};

struct route {
	const char *path;
	unsigned flags;
	call_handler *run;
	call_complain *complain;	  /* NULL: {"error": why} */
	const struct route_params *takes; /* NULL: what it does not know is ignored */
};

/* A file of the page, loaded at the start. */
struct page_file {
	const char *name; /* its path on the server */
	const char *type;
	char tag[24];
	const void *bytes;
	size_t len;
	const void *gzip; /* NULL: not smaller */
	size_t gzip_len;
};

static inline void chi_rows_closep(struct chi_rows **rows)
{
	chi_rows_close(*rows);
}

struct call {
	/* The request. */
	enum chi_http_method method;
	int version; /* as struct chi_http_head */
	bool keep_alive;
	bool gzip; /* taken by the client */
	bool zstd;
	enum chi_role role;
	struct chi_peer_address peer; /* who asks; of a proxy that is trusted, for whom */
	uint32_t share;		      /* chi_peer_number */
	const char *write_ban;	      /* server_write_ban; NULL with a token */
	bool writes;		      /* it was to write, allowed or not */
	const char *path;	      /* decoded */
	const char *target;	      /* path and query as they came; NULL without memory */
	const char *tags;	      /* If-None-Match; "" */
	struct params params;
	char *body; /* NUL-terminated */
	size_t body_len;
	const char *type_in; /* of the body; "" */
	const struct route *route;

	/* The answer. */
	int http; /* status; 200 at the start */
	const char *type;
	struct writer out;
	const struct page_file *file; /* instead of `out` */
	struct kept *kept;	      /* the same: an answer of the cache */
	/* Of a stream: the handler is called again, once what it wrote is sent, until this stays
	 * false. `state` is its own. */
	bool more;
	void *state;
	struct chi_client *own; /* its client from the first part on, in process: of one copy */
	bool live;		/* it must not be kept for the next who asks */

	/* To work with. */
	struct chi_arena arena;
	struct session *session;
	struct chi_client *client;
	int64_t deadline_ms;	/* chi_now_ms() */
	_Atomic bool cancelled; /* no one waits for the answer */
	struct chi_fault fault;

	/* Of net. */
	struct conn *conn; /* NULL: closed meanwhile */
	struct loop *loop;
	struct call *next;
	struct chi_mail mail;
	int64_t begun_us;
	bool streaming;	     /* its head is sent */
	struct pack *pack;   /* compresses the stream; NULL: it is not */
	int result;	     /* of the handler */
	uint64_t state_seen; /* of the store when the call came, as its loop numbers them; 0: not
				known */
};

/* Before anything is written for the call, which the log will name: -CHI_EACCES. */
CHI_MUSTUSE int call_may_write(struct call *call);

/* The failure of a call on call->client. */
CHI_MUSTUSE int call_failed(struct call *call, int status);

/* -CHI_ETIMEOUT once the deadline is over, -CHI_ECANCELED once the client is gone; asked now and
 * then by what takes long. */
CHI_MUSTUSE int call_check(struct call *call);

/* Runs the route, whose queries on call->client are ended by call_check while they have no rows
 * yet, too; its result. It leaves no query open. */
CHI_MUSTUSE int call_watched(struct call *call);

/* "no such thing": an answer of 404 with that text. */
CHI_MUSTUSE int call_not_found(struct call *call, const char *why);

/* The HTTP status of a failure. */
int call_http_of(int status);

/* What `params` say of a FEN, `name` or another parameter: blanks may be '_', and it may be
 * "startpos". -CHI_EFEN. */
CHI_MUSTUSE int call_fen(struct call *call, const char *text, struct chi_key *out);
CHI_MUSTUSE int call_fen_param(struct call *call, const char *name, struct chi_key *out);

/* -CHI_EINVAL: the route has no parameter of a name that was given, and *why names it and those
 * that it has; or what is yes or no has another value. */
CHI_MUSTUSE int call_check_params(struct call *call, const char **why);

/* {"error": why} */
void call_complain_json(struct call *call, const char *why);
