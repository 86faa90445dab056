/* SPDX-License-Identifier: MIT */
/*
 * Getting over a connection that broke: the request that was not answered is sent again over a new
 * one, within a time, with growing waits in between. Reads are repeated freely, writes only if they
 * are marked, so that the server knows them again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/idempotency.h"
#include "chistore/types.h"

struct chi_client;
struct chi_request;
struct chi_response;

/* One call's. Zeroed: nothing has been lost. */
struct chi_repeat {
	unsigned lost;	  /* how often the request went out and was not answered */
	int64_t by;	  /* ms: from then on no more; 0: nothing was lost yet */
	uint32_t wait_ms; /* before the next attempt */
};

/*
 * After an attempt that ended with `status`: true if another is to be made, having waited; false if
 * it is over, and if it failed finally after lost attempts client->error says how many.
 */
bool chi_repeat_again(struct chi_client *client, struct chi_repeat *repeat, int status);

/* The mark of a write over the connection that chi_peer_ready has made sure of, unless it has one
 * already. Of a client that does not repeat it stays empty. -CHI_EIO: no random bytes. */
CHI_MUSTUSE int chi_repeat_key(struct chi_client *client,
			       struct chi_idempotency_key *idempotency_key);

/* Takes an identity for the store that the connection leads to, which had the sequence number
 * `since` a moment ago. -CHI_EIO: no random bytes. */
CHI_MUSTUSE int chi_repeat_choose(struct chi_client *client, uint64_t since);

/* Ready, then ask; again when the connection is lost. For what may be done more than once. */
CHI_MUSTUSE int chi_repeat_call(struct chi_client *client, struct chi_request *request,
				struct chi_response *response);
