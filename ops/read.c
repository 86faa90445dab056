/* SPDX-License-Identifier: MIT */
/* What is stored of positions, which games are counted, and what a store says of itself. In this
 * process probes and gets go past this (client/local/inproc.c), and so do most probes of a server
 * (daemon/net/probe_batch.c). */
#include "ops/answer.h"

#include <stdio.h>

#include "base/fault.h"
#include "chess/key.h"
#include "proto/msg.h"
#include "store/store.h"

int chi_ask_keys(struct chi_ask *ask, const struct chi_positions *positions)
{
	struct chi_key *keys = positions->keys + (positions->n - positions->n_fens);
	for (size_t i = 0; i < positions->n_fens; i++) {
		const struct chi_text *fen = &positions->fens[i];
		int status = chi_key_from_fen(fen->bytes, fen->len, &keys[i], ask->fault);
		if (status < 0) {
			(void)snprintf(ask->place, sizeof(ask->place), "fens[%zu]", i);
			ask->field = ask->place;
			return status;
		}
	}
	return CHI_OK;
}

/* Whose record could not be read. */
static int name_position(struct chi_ask *ask, int status, const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE];
	bool is_its = status == -CHI_ECORRUPT || status == -CHI_EIO;
	return !is_its || chi_key_to_fen(key, fen, NULL) < 0
		       ? status
		       : chi_fail(ask->fault, status, "cannot read the record of '%s' (%s)", fen,
				  chi_strerror(status));
}

int chi_answer_probe(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_positions *asked = request;
	struct chi_row *rows = chi_arena_array(ask->arena, asked->n, sizeof(*rows));
	int status = rows != NULL ? chi_ask_keys(ask, asked) : -CHI_ENOMEM;
	if (status < 0) {
		return status;
	}
	status = chi_read_rows(ask->read, asked->keys, asked->n, rows);
	/* Together they do not tell which it was. */
	for (size_t i = 0; status < 0 && i < asked->n; i++) {
		int rc = chi_read_row(ask->read, &asked->keys[i], &rows[i]);
		if (rc < 0) {
			return name_position(ask, rc, &asked->keys[i]);
		}
	}
	*(struct chi_probed *)result =
		(struct chi_probed){.rows = rows, .n = asked->n, .counts = true};
	return status;
}

/* Keys that are looked up together, before it is seen how much they have become. */
#define GET_TOGETHER 64

static int read_some(struct chi_ask *ask, const struct chi_key *keys, struct chi_entry *entries,
		     size_t n)
{
	struct chi_record records[GET_TOGETHER];
	bool found[GET_TOGETHER];
	size_t done = 0;
	int status = chi_read_records(ask->read, keys, n, ask->arena, records, found, &done);
	if (status < 0) {
		return name_position(ask, status, &keys[done < n ? done : 0]);
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].key = keys[i];
		entries[i].record = records[i];
		entries[i].found = found[i];
	}
	return CHI_OK;
}

/* How large records are is known only when they have been read. Packed they take less than twice
 * their memory: those of a small answer are not measured. */
int chi_answer_get(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_positions *asked = request;
	struct chi_entry *entries = chi_arena_array(ask->arena, asked->n, sizeof(*entries));
	uint64_t bytes = 0;
	size_t measured = 0;
	int status = entries != NULL ? chi_ask_keys(ask, asked) : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < asked->n; i += GET_TOGETHER) {
		size_t n = asked->n - i < GET_TOGETHER ? asked->n - i : GET_TOGETHER;
		status = read_some(ask, &asked->keys[i], &entries[i], n);
		while (status == CHI_OK && ask->arena->used > ask->most / 2 && measured < i + n) {
			bytes += chi_entry_size(&entries[measured++]);
			if (bytes > ask->most) {
				return chi_fail(ask->fault, -CHI_ETOOBIG,
						"the records from number %zu on do not fit one "
						"response, ask for fewer at a time",
						measured - 1);
			}
		}
	}
	*(struct chi_got *)result = (struct chi_got){.entries = entries, .n = asked->n};
	return status;
}

/* ---- Of the store -------------------------------------------------------------------------- */

int chi_answer_info(struct chi_ask *ask, const void *request, void *result)
{
	struct chi_info *out = result;
	(void)request;
	int status = chi_read_info(ask->read, out);
	if (out->read_only == CHI_READ_ONLY_NOT) {
		out->read_only = ask->read_only;
	}
	return status;
}

int chi_answer_check_disk(struct chi_ask *ask, const void *request, void *result)
{
	struct chi_disk_check *out = result;
	(void)request;
	return chi_read_check_disk(ask->read, &out->direct, ask->fault);
}

/* So many at a time that others need not wait. */
int chi_answer_game_ids(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_game_ids_request *asked = request;
	struct chi_game_id_list *out = result;
	size_t max = asked->limit == 0 || asked->limit > CHI_GAME_IDS_MAX ? CHI_GAME_IDS_MAX
									  : asked->limit;
	struct chi_game_id *games = chi_arena_array(ask->arena, max, sizeof(*games));
	out->games = games;
	return games == NULL ? -CHI_ENOMEM
			     : chi_read_game_ids(ask->read, asked->after_set ? asked->after : NULL,
						 games, max, &out->n);
}
