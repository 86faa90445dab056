/* SPDX-License-Identifier: MIT */
/* Verification with what only searches know: what the filters of gamesets mean. */
#pragma once

#include <stdatomic.h>

#include "chistore/types.h"
#include "store/store.h"

/*
 * chi_dir_verify_until; and in a store that is sound, each gameset's bitmap against the games
 * that fit its filter, looked for as if there were no bitmap. One that is out of date, as aliases
 * have changed since, holds nothing that is believed, and need only be readable. Memory for it is a
 * quarter of a byte a game. `stop` may be NULL.
 */
CHI_MUSTUSE int chi_search_verify(struct chi_dir *store, unsigned threads, const atomic_bool *stop,
				  chi_verify_report *report, void *context,
				  struct chi_verify_result *result);
