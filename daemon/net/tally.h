/* SPDX-License-Identifier: MIT */
/* Counters of what the daemon does. */
#pragma once

#include "chistore/types.h"
#include "ops/op.h"
#include "proto/msg.h"
#include "service/metrics.h"

/* Results: 0 is CHI_OK, others are the status without its sign. */
#define CHI_RESULTS CHI_ERROR_COUNT

/* States of a connection that is not closed: enum chi_conn_state up to CHI_CONN_DEAD. */
#define CHI_CONN_STATES 4

/* What one worker has done, or for connections: what it has. */
struct chi_tally {
	chi_counter answers[CHI_OP_COUNT_OF_OPS][CHI_RESULTS]; /* last answers of requests */
	struct chi_histogram latency[CHI_CLASSES];	       /* of the same, but UNKNOWN's */
	chi_counter abandoned;	     /* requests whose client was gone before the last answer */
	chi_counter no_tls;	     /* handshakes that failed */
	chi_counter cut_off;	     /* connections closed because the client did not read */
	chi_counter moved_for_query; /* connections given to another worker */
	chi_counter received;	     /* bytes */
	chi_counter sent;	     /* bytes */
	chi_counter connections[CHI_CONN_STATES];
};
