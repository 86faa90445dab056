/* SPDX-License-Identifier: MIT */
/*
 * The performance statistic of positions whose lists of games change. Expectations stay those that
 * the other positions were computed with, until twice as many games are rated: then all are
 * computed again, in the same transaction.
 */
#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/ratings/performance.h"

int chi_load_performance_begin(struct chi_load *load, struct chi_fault *fault)
{
	struct chi_store_state *state = chi_load_state(load);
	/* Without games no list changes. */
	bool changes = load->games_changed || load->append;
	if (load->statistic != CHI_STATISTIC_PERFORMANCE || !changes) {
		return CHI_OK;
	}
	/* No position is stored that was computed with others. */
	const struct chi_expectation *given = load->append ? NULL : &state->expected;
	int rc = chi_performance_load(load->txn, load->archive.columns, (uint32_t)state->last_game,
				      given, &load->performance);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	state->expected = *chi_performance_expectation(load->performance);
	return CHI_OK;
}

int chi_load_performance_end(struct chi_load *load, struct chi_fault *fault)
{
	uint64_t changed;
	if (load->write == NULL || load->performance == NULL) {
		return CHI_OK;
	}
	uint64_t games = chi_performance_games(load->performance);
	chi_performance_free(load->performance);
	load->performance = NULL;
	if (games == 0 || games < 2 * chi_load_state(load)->expected.games) {
		return CHI_OK;
	}
	chi_load_put_down(load);
	return chi_write_rescore(load->write, NULL, &changed, fault);
}

void chi_load_perform(struct chi_load *load, const struct chi_posting *games, size_t n,
		      uint16_t *chi2)
{
	struct chi_performance_sums sums = load->performed;
	if (load->performance != NULL) {
		chi_performance_add(load->performance, games, n, &sums);
		*chi2 = chi_performance_of(load->performance, &sums);
	}
}

/* It has so many games at least, by its counts. */
static bool has_games(const MDB_val *value)
{
	uint16_t chi2;
	uint64_t total = 0;
	struct chi_counts counts;
	return chi_record_peek(value->mv_data, value->mv_size, &chi2, &counts) == CHI_OK &&
	       chi_counts_total(&counts, &total) && total >= CHI_PERFORMANCE_GAMES;
}

int chi_load_perform_new(struct chi_load *load, MDB_val *value, const struct chi_posting *games,
			 size_t n, struct chi_fault *fault)
{
	struct chi_record record;
	struct chi_record_rest rest;
	if (load->performance == NULL || !has_games(value)) {
		return CHI_OK;
	}
	int rc = chi_load_room(load);
	chi_arena_reset(&load->arena);
	rc = rc == CHI_OK ? chi_record_decode(value->mv_data, value->mv_size, &load->arena, &record,
					      &rest)
			  : rc;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	uint16_t before = record.chi2;
	chi_load_perform(load, n > 0 ? games : rest.games, n > 0 ? n : rest.n_games, &record.chi2);
	if (record.chi2 == before) {
		return CHI_OK;
	}
	size_t len;
	rc = chi_record_encode(&record, &rest, load->fold_room, CHI_RECORD_BYTES_MAX, &len);
	*value = chi_val(load->fold_room, rc == CHI_OK ? len : 0);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_load_perform_stored(struct chi_load *load, const struct chi_key *key,
			    const struct chi_record_rest *rest, uint16_t *chi2,
			    struct chi_fault *fault)
{
	int error = load->performance == NULL
			    ? 0
			    : chi_performance_of_list(load->performance, load->txn,
						      load->archive.postings, key, rest, chi2);
	return chi_load_error(load, error, fault);
}
