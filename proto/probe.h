/* SPDX-License-Identifier: MIT */
/*
 * A Probe by keys in its plain form, the request that engines send by the million: read straight
 * from its bytes, without an arena, in about the time that copying its keys takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"

struct chi_probe_answer {
	uint64_t id;
	const char
		*store;	  /* in the request's bytes, not NUL-terminated, any bytes; see store_len */
	size_t store_len; /* 0: "default" */
	size_t n;	  /* keys, at least 1 */
};

/*
 * True if the body of a frame is such a Probe, whole and without a flaw, with the fields in the
 * order of their numbers and each at most once; its keys are in keys[0 .. n). False says nothing
 * about the request but that chi_request_unpack must look at it. `keys` has room for
 * CHI_PROBE_MAX, and may be overwritten in either case.
 */
CHI_MUSTUSE bool chi_probe_read(const uint8_t *bytes, size_t len, struct chi_key *keys,
				struct chi_probe_answer *out);
