/* SPDX-License-Identifier: MIT */
/* A whole record as JSON; the fields are described in chistore.1. */
#pragma once

#include <jansson.h>

#include "chistore.h"

/* A new object, or NULL when memory is out or a move is not legal in the position. */
json_t *record_json(const struct chi_key *key, const struct chi_record *record);
