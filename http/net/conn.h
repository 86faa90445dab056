/* SPDX-License-Identifier: MIT */
/*
 * A connection: requests one after the other, each answered before the next is looked at. Limits
 * are kept here: a head and a body must be whole in time however they are dripped in, a client
 * must read its answers, and what it sends ahead waits in the kernel.
 */
#pragma once

#include <event2/event_struct.h>

#include "http/net/server.h"

enum conn_state {
	CONN_IDLE,    /* nothing of a request has come */
	CONN_HEAD,    /* a part of one */
	CONN_BODY,    /* its head */
	CONN_WAITING, /* a worker has the call */
	CONN_STREAM,  /* what was written is being sent; then the handler goes on */
	CONN_LAST,    /* the last answer is being sent */
	CONN_LINGER,  /* it is sent; what still comes is dropped until the client closes */
};

struct conn {
	struct loop *loop;
	struct conn *next;
	struct conn **link; /* what points here */
	int fd;
	struct chi_peer_address from; /* the other end, */
	struct chi_peer_address here; /* and this one */
	bool is_proxy;
	uint32_t share; /* who has `held`: the peer of the latest call */
	enum conn_state state;
	struct event readable;
	struct event writable;
	bool reading;
	bool at_end; /* the client has ended its input */
	bool cut;    /* there was no memory for output: none may follow */
	struct chi_buffer in;
	struct chi_buffer out;
	int64_t deadline_ms; /* of the state; chi_now_ms */
	int64_t read_by_ms;  /* so much of the output must be sent by then; 0: none waits */
	uint64_t wanted;     /* `sent` by then */
	uint64_t sent;	     /* bytes, in all */
	size_t held;	     /* memory of the output, as the loop counts it */
	struct call *call;
	size_t body_at; /* bytes of it that have come */
};

/* To conn->in or conn->out, whose memory is lent by the loop while they hold something. False:
 * there is none. */
bool conn_append(struct conn *conn, struct chi_buffer *to, const void *bytes, size_t len);

/* Puts head and body of call's answer into conn->out. */
void answer_put(struct conn *conn, struct call *call);
/* Compresses as the client takes it: the number of bytes in `out`, of which there are `len`; 0: it
 * would not be smaller, or is none of those that are compressed. */
size_t answer_compress(struct call *call, const void *bytes, size_t len, void *out);
/* A part of a stream. */
void answer_put_part(struct conn *conn, struct call *call);

/* Answers from what was answered before, as long as the store has not changed. */
struct cache;
CHI_MUSTUSE int cache_new(size_t bytes, struct cache **out);
void cache_free(struct cache *cache);
/* True: call->kept and call->type are the answer. */
bool cache_find(struct cache *cache, struct call *call);
/* Bytes of a kept answer; NULL: there are none. */
struct kept_bytes {
	const void *bytes;
	size_t len;
};

/* What call->kept has, and the hash of these bytes; they stay until another answer is kept. */
struct kept_bytes kept_plain(const struct kept *kept, uint64_t *hash);
/* The same bytes, compressed for this client when the first one asked for them so. */
struct kept_bytes kept_packed(struct cache *cache, struct call *call);
void cache_keep(struct cache *cache, const struct call *call);
