/* SPDX-License-Identifier: MIT */
/* The messages that PROTOCOL.md shows in hex, as the structs they stand for. */
#pragma once

#include <stddef.h>

#include "proto/msg.h"

/* Exactly one of the two is set. */
struct example {
	const char *name; /* as after "```hex " in PROTOCOL.md */
	const struct chi_request *request;
	const struct chi_response *response;
};

extern const struct example examples[];
extern const size_t n_examples;
