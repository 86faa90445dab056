/* SPDX-License-Identifier: MIT */
/*
 * What servers report when a path leads to another copy of a store by now, and they move to it:
 * the same lines of the log, the same numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/idempotency.h"
#include "service/metrics.h"

/* Zeroed at the start. The thread that looks writes it, any may read the numbers. */
struct chi_moves {
	chi_counter looks;	  /* at the path, that have ended */
	_Atomic uint64_t count;	  /* moves to another copy */
	_Atomic uint64_t last_s;  /* when the last one was, as time(); 0: there was none */
	struct chi_fault refused; /* why the last look did not open what is there; "": it did */
};

/* A copy, as the log names it. */
struct chi_moves_copy {
	uint8_t store[CHI_IDEMPOTENCY_STORE]; /* which store it is of */
	uint64_t sequence;
};

/* Writes a line about a move; a warning if the new copy is older or of another store. */
void chi_moves_log(const char *path, const struct chi_moves_copy *was,
		   const struct chi_moves_copy *is);

/* Writes a line if the cause is another than at the last look, or `again`. */
void chi_moves_refuse(struct chi_moves *moves, const char *path, const struct chi_fault *cause,
		      bool again);
