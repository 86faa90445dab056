/* SPDX-License-Identifier: MIT */
/*
 * The lists of games that reached a position, as games come and go. A short list is part of the
 * record that is merged; what is longer is changed in the postings tree here, at once. Of the
 * longest ones pieces come ahead of the record, which then says only how many they were.
 */
#include <string.h>

#include "base/fault.h"
#include "store/load/load_priv.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "store/record/examine.h"
#include "store/record/list.h"

static int damaged(const MDB_val *key, const char *what, struct chi_fault *fault)
{
	char name[CHI_FEN_SIZE];
	return chi_fail(fault, -CHI_ECORRUPT, "position %s: %s",
			chi_key_name(key->mv_data, key->mv_size, name), what);
}

static int out_of_order(const MDB_val *key, struct chi_fault *fault)
{
	return damaged(key, "games that come later are in its list", fault);
}

/* A code of LMDB's, of a change of a list. */
static int lists_changed(struct chi_load *load, const MDB_val *key, int error,
			 struct chi_fault *fault)
{
	return error == MDB_CORRUPTED ? damaged(key, "its list of games is damaged", fault)
				      : chi_load_error(load, error, fault);
}

static int short_list(const MDB_val *key, struct chi_fault *fault)
{
	return damaged(key, "its list of games is not as long as its record says", fault);
}

/* Before a list is changed that its record says is in the postings tree. */
static int check_listed(struct chi_load *load, const MDB_val *key, uint64_t listed,
			struct chi_fault *fault)
{
	uint64_t n;
	int error = chi_postings_count(load->txn, load->archive.postings, key->mv_data,
				       key->mv_size, &n);
	return error == 0 && n != listed ? short_list(key, fault)
					 : lists_changed(load, key, error, fault);
}

/* Of a store that had no positions the lists come in the order of the tree. */
static int append_last(struct chi_load *load, const MDB_val *key, const struct chi_posting *games,
		       size_t n)
{
	uint8_t chunk[CHI_POSTINGS_CHUNK_KEY_MAX];
	uint8_t bytes[CHI_POSTINGS_CHUNK_MAX + CHI_CHAIN_LINK];
	int rc = 0;
	for (size_t done = 0; done < n && rc == 0;) {
		MDB_val at = {.mv_data = chunk};
		MDB_val value = {.mv_data = bytes + CHI_CHAIN_LINK};
		done += chi_postings_chunk_encode(key->mv_data, key->mv_size, games + done,
						  n - done, chunk, &at.mv_size, value.mv_data,
						  &value.mv_size);
		rc = chi_load_put_postings(load, &at, &value);
	}
	return rc;
}

int chi_load_list_append(struct chi_load *load, const MDB_val *key, const struct chi_posting *games,
			 size_t n, struct chi_fault *fault)
{
	int error = load->append ? append_last(load, key, games, n)
				 : chi_postings_append(load->txn, load->archive.postings,
						       CHI_CHAIN_POSTINGS, key->mv_data,
						       key->mv_size, games, n);
	return error == MDB_KEYEXIST ? out_of_order(key, fault)
				     : lists_changed(load, key, error, fault);
}

/* The record's own list with others behind it. */
static int join_games(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		      const struct chi_posting *games, size_t n, struct chi_fault *fault)
{
	struct chi_posting *all =
		chi_arena_array(&load->write->arena, rest->n_games + n, sizeof(*all));
	if (all == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	if (rest->n_games > 0) {
		memcpy(all, rest->games, rest->n_games * sizeof(*all));
	}
	memcpy(all + rest->n_games, games, n * sizeof(*all));
	rest->games = all;
	rest->n_games += n;
	return chi_postings_ascends(all, rest->n_games) ? CHI_OK : out_of_order(key, fault);
}

/* Before entries are appended: the record's own list goes where they go. */
static int begin_list(struct chi_load *load, const MDB_val *key, const struct chi_record_rest *rest,
		      struct chi_fault *fault)
{
	if (rest->n_games > 0) {
		return chi_load_list_append(load, key, rest->games, rest->n_games, fault);
	}
	return rest->listed > 0 ? check_listed(load, key, rest->listed, fault) : CHI_OK;
}

static int add_games(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		     const struct chi_posting *games, size_t n, struct chi_fault *fault)
{
	if (rest->listed == 0 && load->ahead.n == 0 && rest->n_games + n <= CHI_LIST_HERE_MAX) {
		return join_games(load, key, rest, games, n, fault);
	}
	int rc = load->ahead.n == 0 ? begin_list(load, key, rest, fault) : CHI_OK;
	if (rc == CHI_OK && n > 0) {
		rc = chi_load_list_append(load, key, games, n, fault);
	}
	rest->listed += rest->n_games + load->ahead.n + n;
	rest->listed_games += chi_postings_games(rest->games, rest->n_games) + load->ahead.games +
			      chi_postings_games(games, n);
	rest->n_games = 0;
	return rc;
}

static int lacking(const MDB_val *key, struct chi_fault *fault)
{
	return damaged(key, "a game that reached it is not in its list", fault);
}

/* From the record's own list. */
static int take_here(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		     const struct chi_posting *games, size_t n, struct chi_fault *fault)
{
	size_t kept = 0;
	size_t done = 0;
	struct chi_posting *left =
		chi_arena_array(&load->write->arena, rest->n_games + 1, sizeof(*left));
	if (left == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < rest->n_games; i++) {
		const struct chi_posting *entry = &rest->games[i];
		if (done < n && entry->game == games[done].game &&
		    entry->move == games[done].move) {
			done++;
		} else {
			left[kept++] = *entry;
		}
	}
	rest->games = left;
	rest->n_games = kept;
	return done == n ? CHI_OK : lacking(key, fault);
}

/* What is left of a list in the tree fits into the record. */
static int bring_home(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		      struct chi_fault *fault)
{
	struct chi_postings_walk walk;
	size_t n = 0;
	size_t had = 0;
	struct chi_posting *all =
		chi_arena_array(&load->write->arena, CHI_POSTINGS_CHUNK_ENTRIES, sizeof(*all));
	struct chi_posting *some =
		chi_arena_array(&load->write->arena, CHI_POSTINGS_CHUNK_ENTRIES, sizeof(*some));
	if (all == NULL || some == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int error = chi_postings_open(&walk, load->txn, load->archive.postings, CHI_CHAIN_POSTINGS,
				      key->mv_data, key->mv_size);
	error = error == 0 ? chi_postings_seek(&walk, 0, some, &n) : error;
	while (error == 0 && had + n <= CHI_LIST_HERE_MAX) {
		memcpy(all + had, some, n * sizeof(*all));
		had += n;
		error = chi_postings_next(&walk, some, &n);
	}
	chi_postings_close(&walk);
	if (error != 0 && error != MDB_NOTFOUND) {
		return lists_changed(load, key, error, fault);
	}
	if (had != rest->listed) {
		return short_list(key, fault);
	}
	error = chi_postings_drop(load->txn, load->archive.postings, key->mv_data, key->mv_size);
	rest->games = all;
	rest->n_games = had;
	rest->listed = 0;
	rest->listed_games = 0;
	return chi_load_error(load, error, fault);
}

/* From the postings tree. */
static int take_listed(struct chi_load *load, const MDB_val *key, const struct chi_posting *games,
		       size_t n, struct chi_fault *fault)
{
	int error = chi_postings_remove(load->txn, load->archive.postings, CHI_CHAIN_POSTINGS,
					key->mv_data, key->mv_size, games, n);
	return error == MDB_NOTFOUND ? lacking(key, fault) : lists_changed(load, key, error, fault);
}

static int take_games(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		      const struct chi_posting *games, size_t n, struct chi_fault *fault)
{
	if (rest->listed == 0) {
		return load->ahead.n > 0 ? lacking(key, fault)
					 : take_here(load, key, rest, games, n, fault);
	}
	uint64_t all = load->ahead.n + n;
	uint64_t given = load->ahead.games + chi_postings_games(games, n);
	if (all > rest->listed || given > rest->listed_games) {
		return lacking(key, fault);
	}
	int rc = load->ahead.n == 0 ? check_listed(load, key, rest->listed, fault) : CHI_OK;
	rc = rc == CHI_OK ? take_listed(load, key, games, n, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	rest->listed -= all;
	rest->listed_games -= given;
	return rest->listed <= CHI_LIST_HERE_MAX ? bring_home(load, key, rest, fault) : CHI_OK;
}

int chi_load_list(struct chi_load *load, const MDB_val *key, struct chi_record_rest *rest,
		  const struct chi_posting *games, size_t n, struct chi_fault *fault)
{
	if (n == 0 && load->ahead.n == 0) {
		return CHI_OK;
	}
	int rc = load->subtract ? take_games(load, key, rest, games, n, fault)
				: add_games(load, key, rest, games, n, fault);
	load->ahead = (struct chi_load_ahead){0};
	load->performed = (struct chi_performance_sums){0};
	return rc;
}

/* Before the first piece. */
static int begin_ahead(struct chi_load *load, MDB_val *key, struct chi_fault *fault)
{
	MDB_val stored;
	struct chi_record record;
	struct chi_record_rest rest = {0};
	int error = chi_load_look(load, key, &stored);
	if (error == MDB_NOTFOUND) {
		return CHI_OK;
	}
	if (error != MDB_KEYEXIST) {
		return chi_load_error(load, error, fault);
	}
	chi_arena_reset(&load->arena);
	int rc = chi_record_decode(stored.mv_data, stored.mv_size, &load->arena, &record, &rest);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	if (load->subtract) {
		return rest.listed > 0 ? check_listed(load, key, rest.listed, fault)
				       : lacking(key, fault);
	}
	return begin_list(load, key, &rest, fault);
}

int chi_load_list_ahead(struct chi_load *load, MDB_val *key, const struct chi_posting *games,
			size_t n, struct chi_fault *fault)
{
	int rc = CHI_OK;
	if (load->ahead.n == 0 && !load->append) {
		rc = begin_ahead(load, key, fault);
	}
	if (rc == CHI_OK) {
		rc = load->subtract ? take_listed(load, key, games, n, fault)
				    : chi_load_list_append(load, key, games, n, fault);
	}
	load->ahead.n += n;
	load->ahead.games += chi_postings_games(games, n);
	if (load->performance != NULL) {
		chi_performance_add(load->performance, games, n, &load->performed);
	}
	return rc;
}
