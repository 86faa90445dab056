/* SPDX-License-Identifier: MIT */
/*
 * Counting without building rows. The trees know their sizes, so that the whole store, its known
 * and its unknown part are counted at once; a band is counted by walking the strength tree's keys,
 * without touching a value unless a filter needs it.
 */
#include "store/scan_priv.h"

static bool unfiltered(const struct chi_scan *scan)
{
	return scan->sieve.idle && scan->spec.filter.games_min == 0;
}

/* True, and *count raised, if the rest of this phase stands in the trees' sizes. */
static bool count_at_once(const struct chi_scan *scan, uint64_t *count)
{
	const struct chi_scan_spec *spec = &scan->spec;
	if (scan->begun || !unfiltered(scan) || spec->after.set) {
		return false;
	}
	if (scan->phase == CHI_PHASE_UNKNOWN && scan->positions >= scan->known) {
		*count += scan->positions - scan->known;
		return true;
	}
	if (scan->phase == CHI_PHASE_STRENGTH && spec->chi2_min <= 1 &&
	    spec->chi2_max == CHI_CHI2_MAX) {
		*count += scan->known;
		return true;
	}
	return false;
}

/* Whether the entry counts. In the strength tree its key may be all there is to look at. */
static int match(struct chi_scan *scan, struct chi_entry *entry, bool *matched)
{
	if (scan->phase != CHI_PHASE_STRENGTH || scan->spec.filter.games_min > 0) {
		struct chi_row row = {0};
		MDB_val record;
		return chi_walk_match(scan, entry, &row, &record, matched);
	}
	*matched = true;
	if (scan->sieve.idle) {
		return CHI_OK;
	}
	uint32_t n = chi_sieve_count(entry->key, entry->key_len);
	*matched = n != 0 && chi_sieve_passes(&scan->sieve, entry->key, entry->key_len, n);
	return n != 0 ? CHI_OK : -CHI_ECORRUPT;
}

static int count_steps(struct chi_scan *scan, uint64_t steps, uint64_t *count)
{
	while (scan->phase != CHI_PHASE_OVER && count_at_once(scan, count)) {
		chi_phase_leave(scan);
	}
	while (steps > 0) {
		struct chi_entry entry;
		if (scan->phase == CHI_PHASE_STRENGTH && scan->spec.filter.games_min > 0) {
			struct chi_row rows[CHI_DESCENT_LANES];
			size_t n;
			int rc = chi_walk_join(scan, &steps, rows, CHI_DESCENT_LANES, &n);
			*count += n;
			if (rc != CHI_OK) {
				return rc;
			}
			continue;
		}
		steps--;
		int rc = chi_walk_next(scan, &entry);
		if (rc != CHI_OK) {
			return rc;
		}
		bool matched;
		rc = match(scan, &entry, &matched);
		if (rc < 0) {
			return rc;
		}
		*count += matched;
	}
	return CHI_OK;
}

int chi_scan_count(struct chi_scan *scan, uint64_t steps, uint64_t *count)
{
	if (chi_env_forked(scan->read->env)) {
		return -CHI_EFORK;
	}
	if (scan->rc != CHI_OK) {
		return scan->rc;
	}
	/* The number is the same in any order; by strength it is cheaper. What is wanted of each
	 * row does not matter, so nothing is joined for it. */
	if (scan->phase == CHI_PHASE_POSITION && !scan->begun && !scan->spec.after.set) {
		scan->spec.order = CHI_ORDER_STRENGTH;
		scan->spec.descending = false;
		scan->phase = scan->spec.chi2_min == 0 ? CHI_PHASE_UNKNOWN : CHI_PHASE_STRENGTH;
	}
	int rc = count_steps(scan, steps, count);
	if (rc != CHI_OK) {
		scan->rc = rc;
	}
	return rc;
}
