/* SPDX-License-Identifier: MIT */
/*
 * Which evaluations of a record are seen (struct chi_evidence). One place says so: rows, records,
 * filters and findings all ask here. Thread-safe: nothing is kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_arena;
struct chi_fault;

/* NULL if it sees all, which is cheaper to ask for; else itself. NULL is fine. */
const struct chi_evidence *chi_evidence_or_null(const struct chi_evidence *evidence);

/* Whether one with these is seen. `engine`: engine_len bytes, at most CHI_ENGINE_MAX. */
bool chi_evidence_sees(const struct chi_evidence *evidence, const char *engine, size_t engine_len,
		       uint64_t depth, uint64_t date);

/* Leaves of the record the evaluations that are seen; NULL: all. What is left is in the arena.
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_evidence_apply(const struct chi_evidence *evidence, struct chi_arena *arena,
				   struct chi_record *record);

/* -CHI_EINVAL: a pattern without an end, or a bound over the other. */
CHI_MUSTUSE int chi_evidence_check(const struct chi_evidence *evidence, struct chi_fault *fault);
