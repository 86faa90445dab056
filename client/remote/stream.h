/* SPDX-License-Identifier: MIT */
/*
 * An answer in many responses. The server sends a window of them ahead and waits for credit, so at
 * most that much lies in memory however slow the caller is; credit goes back half a window at a
 * time, which halves the messages and never lets the server run dry.
 */
#pragma once

#include "client/core/client.h"
#include "proto/msg.h"

/* Makes sure of the connection and sends the request, whose window is the default one, as one that
 * may take the server long. */
CHI_MUSTUSE int chi_stream_begin(struct chi_client *client, struct chi_stream *stream,
				 struct chi_request *request);

/* The next response, which lives until the next call or a send; for the one before credit is given.
 * CHI_OK: others follow; CHI_NONE: it is the last; negative: there are no more. */
CHI_MUSTUSE int chi_stream_next(struct chi_client *client, struct chi_stream *stream,
				enum chi_op op, struct chi_response *response);

/* Abandons it, if it is not over, and reads on to its last response, so that the connection serves
 * the next call. client->error stays. */
void chi_stream_cancel(struct chi_client *client, struct chi_stream *stream);
