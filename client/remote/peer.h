/* SPDX-License-Identifier: MIT */
/*
 * The connection to a server: frames out, frames in, deadlines, the handshake, and getting over a
 * broken one. A connection that broke, or over which something arrived that cannot be, is
 * closed at once; chi_peer_ready of the next call makes it again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/idempotency.h"
#include "proto/msg.h"

struct chi_client;
struct chi_tls;

/* Who a client is when it writes, and how many writes it has numbered. */
struct chi_identity {
	bool chosen;
	struct chi_idempotency_key last; /* of the last write */
};

struct chi_peer {
	int fd;			    /* -1: not connected */
	struct chi_tls *tls;	    /* NULL: plain */
	bool eof;		    /* the server sends nothing more */
	bool sent;		    /* bytes of a request went out since chi_peer_ready */
	bool unanswered;	    /* the last call's request went out before and was lost */
	bool patient;		    /* see chi_peer_receive */
	bool gathers;		    /* answers go into client->answer->gathered, and stay there */
	int64_t until;		    /* chi_now_ms: the call's end, whatever progress it makes */
	const volatile int *cancel; /* the same; NULL: no one can */
	struct chi_buffer in;
	struct chi_buffer out;
	size_t taken; /* bytes at the front of `in`: the frame that the last answer points into */
	uint64_t last_id;
	uint64_t ping_id;		/* a ping sent while waiting, not answered yet; 0: none */
	struct chi_hello_limits limits; /* the server's, none larger than this library's own */
	uint64_t sequence;		/* of the store when the connection was made */
	uint8_t uuid[CHI_IDEMPOTENCY_STORE]; /* the store's; all 0: not given */
	uint64_t async_open; /* CHI_ASYNC writes answered since the last synced one */
	uint64_t async_lost; /* such writes whose connection broke: their outcome is unknown */
	struct chi_identity identity; /* outlives connections */
};

void chi_peer_init(struct chi_peer *peer);

/* Closes the connection; what the last answer pointed to stays until the next call. */
void chi_peer_close(struct chi_client *client);

/* Closes and frees; nothing if open failed before there was one. */
void chi_peer_free(struct chi_client *client);

/*
 * Begins a call's time (chi_client.deadline_ms), and
 * makes sure that there is a connection with its handshake done. One that the server closed
 * while it lay idle is made again unnoticed: nothing was sent on it that could be lost.
 */
CHI_MUSTUSE int chi_peer_ready(struct chi_client *client);

/* An id for a request. */
uint64_t chi_peer_next_id(struct chi_client *client);

/*
 * Sends a request whole, with the store's name filled in; reads meanwhile what comes, so that
 * both sides never wait for each other. -CHI_ETOOBIG: over the server's limit, nothing was sent.
 * An end of the connection noticed here is left to chi_peer_receive: the server may have said why.
 */
CHI_MUSTUSE int chi_peer_send(struct chi_client *client, struct chi_request *request);

/* The same, but what is sent gathers, so that many small requests take one system call: it goes out
 * when enough has come together, and before an answer is waited for. */
CHI_MUSTUSE int chi_peer_queue(struct chi_client *client, struct chi_request *request);

/*
 * The next response, of whichever request; it lives until the next receive or send.
 * -CHI_ETIMEOUT after call_ms without a byte, or at peer->until. With peer->patient a server that
 * works for long is asked by a ping for a sign of life, which counts as progress. -CHI_ECANCELED,
 * and the connection stays as it is: *peer->cancel was set while it waited.
 */
CHI_MUSTUSE int chi_peer_receive(struct chi_client *client, struct chi_response *response);

/* The next response, which must be to request `id`; a refusal by the server becomes its status
 * and text. CHI_NONE only to a get; an answer with a result other than `op`'s is -CHI_EPROTO. */
CHI_MUSTUSE int chi_peer_answer(struct chi_client *client, uint64_t id, enum chi_op op,
				struct chi_response *response);

/* Sends a request on the connection that chi_peer_ready has made sure of, and takes its answer. */
CHI_MUSTUSE int chi_peer_ask(struct chi_client *client, struct chi_request *request,
			     struct chi_response *response);

/* What a server's refusal says, as a status with its text. */
int chi_peer_refusal(const struct chi_response *response, struct chi_fault *fault);

/* Closes the connection and reports; the text names the address: "lost '%s' (why)" and so on. */
CHI_PRINTF(3, 4)
int chi_peer_fail(struct chi_client *client, int status, const char *format, ...);

/* After a failed write: adds that it may have happened if a request went out and the connection
 * is gone, or went out before and what is answered now says nothing of that. Returns `status`. */
int chi_peer_doubt(struct chi_client *client, int status);
