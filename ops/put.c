/* SPDX-License-Identifier: MIT */
/* Positions that are put and deleted, and the statistics of all computed again. In this process
 * puts and deletions go past this (client/local/inproc.c). */
#include "ops/change.h"

#include <stdio.h>

#include "base/fault.h"
#include "chess/key.h"
#include "store/store.h"

/* ---- Put ---------------------------------------------------------------------------------- */

/* Names a part of an entry, or the entry itself. */
static int name_entry(struct chi_ask *ask, int status, size_t i, const char *part)
{
	int len = snprintf(ask->place, sizeof(ask->place), "entries[%zu]%s", i, part);
	ask->field = len < 0 ? NULL : ask->place;
	return status;
}

/* Key and content of each entry; names the first one that is not right. */
static int check_put(struct chi_ask *ask, void *request)
{
	struct chi_put_request *asked = request;
	for (size_t i = 0; i < asked->n; i++) {
		struct chi_put_entry *put = &asked->entries[i];
		const struct chi_text *fen = &asked->fens[i];
		int status = fen->len == 0 ? CHI_OK
					   : chi_key_from_fen(fen->bytes, fen->len, &put->key,
							      ask->fault);
		if (status < 0) {
			return name_entry(ask, status, i, ".fen");
		}
		status = chi_put_check(put, ask->statistic, ask->fault);
		if (status < 0) {
			return name_entry(ask, status, i, status == -CHI_EKEY ? ".key" : ".record");
		}
	}
	return CHI_OK;
}

/* Games count as positions do: a batch of them takes the writer as long. */
static size_t records_of_put(const void *request)
{
	const struct chi_put_request *asked = request;
	return asked->n + asked->n_games;
}

static enum chi_durability durability_of_put(const void *request)
{
	return ((const struct chi_put_request *)request)->durability;
}

/* Statistics of an outcome store are computed with the base rates, so these come first. */
static int put_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			 void *result)
{
	const struct chi_put_request *asked = request;
	int status = asked->base != NULL ? chi_write_base(write, asked->base) : CHI_OK;
	for (size_t i = 0; status >= 0 && i < asked->n; i++) {
		status = chi_write_put(write, &asked->entries[i], result);
		if (status < 0) {
			(void)name_entry(ask, status, i, "");
		}
	}
	/* A game that is counted already counts once. */
	for (size_t i = 0; status >= 0 && i < asked->n_games; i++) {
		status = chi_write_game_id(write, &asked->games[i]);
	}
	return status < 0 ? status : CHI_OK;
}

const struct chi_change_ops chi_put_ops = {
	.kind = CHI_IDEMPOTENCY_PUT,
	.n_counts = 4,
	.check = check_put,
	.records = records_of_put,
	.durability = durability_of_put,
	.write = put_positions,
};

/* ---- Delete ------------------------------------------------------------------------------- */

static int check_delete(struct chi_ask *ask, void *request)
{
	return chi_ask_keys(ask, &((struct chi_delete_request *)request)->positions);
}

static size_t records_of_delete(const void *request)
{
	return ((const struct chi_delete_request *)request)->positions.n;
}

static enum chi_durability durability_of_delete(const void *request)
{
	return ((const struct chi_delete_request *)request)->durability;
}

/* Positions that were not stored are no failure; they are not counted. */
static int delete_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			    void *result)
{
	const struct chi_positions *positions =
		&((const struct chi_delete_request *)request)->positions;
	struct chi_affected *done = result;
	int status = CHI_OK;
	for (size_t i = 0; status >= 0 && i < positions->n; i++) {
		status = chi_write_delete(write, &positions->keys[i]);
		done->n += status == CHI_OK;
		if (status < 0) {
			(void)snprintf(ask->place, sizeof(ask->place), "[%zu]", i);
			ask->field = ask->place;
		}
	}
	return status < 0 ? status : CHI_OK;
}

const struct chi_change_ops chi_delete_ops = {
	.kind = CHI_IDEMPOTENCY_DELETE,
	.n_counts = 1,
	.check = check_delete,
	.records = records_of_delete,
	.durability = durability_of_delete,
	.write = delete_positions,
};

/* ---- Rescore ------------------------------------------------------------------------------ */

static int rescore_positions(struct chi_ask *ask, struct chi_write *write, const void *request,
			     void *result)
{
	const struct chi_rescore_request *asked = request;
	struct chi_affected *done = result;
	return chi_write_rescore(write, asked->base, &done->n, ask->fault);
}

const struct chi_change_ops chi_rescore_ops = {.write = rescore_positions};
