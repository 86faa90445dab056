/* SPDX-License-Identifier: MIT */
#include "base/evidence.h"

#include <string.h>

#include "base/arena.h"
#include "base/fault.h"

/* ---- Patterns ----------------------------------------------------------------------------- */

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Bytes of the character of UTF-8 that begins at text[0]; len > 0. */
static size_t char_len(const char *text, size_t len)
{
	size_t n = 1;
	while (n < len && ((unsigned char)text[n] & 0xc0) == 0x80) {
		n++;
	}
	return n;
}

/* Where the set that begins at "[" ends, after its "]"; NULL: it has no end, and is no set. */
static const char *set_end(const char *set)
{
	const char *at = set + 1;
	at += *at == '!' || *at == '^';
	at += *at == ']';
	at = strchr(at, ']');
	return at != NULL ? at + 1 : NULL;
}

static bool set_has(const char *set, const char *end, unsigned char c)
{
	const char *at = set + 1;
	bool negated = *at == '!' || *at == '^';
	bool has = false;
	at += negated;
	while (at < end - 1) {
		bool is_range = at + 2 < end - 1 && at[1] == '-';
		has = has || (c >= lower(at[0]) && c <= lower(at[is_range ? 2 : 0]));
		at += is_range ? 3 : 1;
	}
	return has != negated;
}

/* One character of the name, at least one byte, against what the pattern has at *at, which is moved
 * past it. Bytes of the name; 0: it does not fit. */
static size_t match_one(const char **at, const char *name, size_t len)
{
	const char *end = **at == '[' ? set_end(*at) : NULL;
	size_t n = 1;
	bool fits = true;
	if (end != NULL) {
		fits = set_has(*at, end, lower(name[0]));
		n = char_len(name, len);
		*at = end;
	} else if (**at == '?') {
		n = char_len(name, len);
		++*at;
	} else {
		fits = lower(**at) == lower(name[0]);
		++*at;
	}
	return fits ? n : 0;
}

/* The whole name. Where it does not fit, the last star takes one byte more: no pattern costs more
 * than its length times the name's. */
static bool matches(const char *pattern, const char *name, size_t len)
{
	const char *star = NULL; /* what follows the last star, and */
	size_t from = 0;	 /* where in the name that was tried */
	size_t i = 0;
	while (i < len) {
		size_t n = 0;
		if (*pattern == '*') {
			star = ++pattern;
			from = i;
			continue;
		}
		if (*pattern != '\0') {
			n = match_one(&pattern, name + i, len - i);
		}
		if (n == 0 && star == NULL) {
			return false;
		}
		if (n == 0) {
			pattern = star;
			i = ++from;
		}
		i += n;
	}
	while (*pattern == '*') {
		pattern++;
	}
	return *pattern == '\0';
}

/* ---- Evaluations -------------------------------------------------------------------------- */

const struct chi_evidence *chi_evidence_or_null(const struct chi_evidence *evidence)
{
	bool all = evidence == NULL || (evidence->engine[0] == '\0' && !evidence->depth.set &&
					evidence->since == 0 && evidence->until == 0);
	return all ? NULL : evidence;
}

bool chi_evidence_sees(const struct chi_evidence *evidence, const char *engine, size_t engine_len,
		       uint64_t depth, uint64_t date)
{
	if (evidence->depth.set && (depth < evidence->depth.min || depth > evidence->depth.max)) {
		return false;
	}
	if ((evidence->since != 0 || evidence->until != 0) &&
	    (date == 0 || date < evidence->since ||
	     (evidence->until != 0 && date > evidence->until))) {
		return false;
	}
	return evidence->engine[0] == '\0' || matches(evidence->engine, engine, engine_len);
}

int chi_evidence_apply(const struct chi_evidence *evidence, struct chi_arena *arena,
		       struct chi_record *record)
{
	size_t n = 0;
	if (chi_evidence_or_null(evidence) == NULL || record->n_evals == 0) {
		return CHI_OK;
	}
	struct chi_eval *seen = chi_arena_array(arena, record->n_evals, sizeof(*seen));
	if (seen == NULL) {
		return -CHI_ENOMEM;
	}
	bool best = false;
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		bool sees = chi_evidence_sees(evidence, eval->engine, eval->engine_len, eval->depth,
					      eval->date);
		/* They come by engine, its best line first: others are nothing without it. */
		best = eval->rank == 0 ? sees : best;
		if (sees && best) {
			seen[n++] = *eval;
		}
	}
	record->evals = seen;
	record->n_evals = n;
	return CHI_OK;
}

int chi_evidence_check(const struct chi_evidence *evidence, struct chi_fault *fault)
{
	const struct chi_range *depth = &evidence->depth;
	if (memchr(evidence->engine, '\0', sizeof(evidence->engine)) == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "engine: a pattern of more than %d bytes",
				CHI_ENGINE_MAX);
	}
	for (const char *at = strchr(evidence->engine, '['); at != NULL; at = strchr(at, '[')) {
		const char *end = set_end(at);
		for (at++; end != NULL && at < end; at++) {
			if ((unsigned char)*at >= 0x80) {
				return chi_fail(fault, -CHI_EINVAL,
						"engine: only ASCII can be between [ and ]");
			}
		}
	}
	if (depth->set && depth->min > depth->max) {
		return chi_fail(fault, -CHI_EINVAL, "depth: %u..%u is no range", depth->min,
				depth->max);
	}
	if (evidence->until != 0 && evidence->since > evidence->until) {
		return chi_fail(fault, -CHI_EINVAL, "dates: the first is after the last");
	}
	return CHI_OK;
}
