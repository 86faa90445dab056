/* SPDX-License-Identifier: MIT */
/* Walks: rows are handed out one by one from blocks that the backend brings. */
#include "client/core/client.h"

#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static void free_iter(struct chi_iter *iter)
{
	free(iter->games);
	free(iter);
}

int chi_iter_open(struct chi_client *client, const struct chi_scan_spec *spec,
		  struct chi_iter **out)
{
	*out = NULL;
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_scan_check(spec, &client->error);
	}
	if (status == CHI_OK) {
		status = chi_client_check_games(client, spec->games);
	}
	const struct chi_request request = {.op = CHI_OP_SCAN, .u.scan.spec.games = spec->games};
	status = status == CHI_OK ? chi_client_can(client, &request) : status;
	status = chi_client_settle(client, status);
	if (status != CHI_OK) {
		return chi_client_end(client, status);
	}
	struct chi_iter *iter = calloc(1, sizeof(*iter));
	if (iter == NULL) {
		return chi_client_end(client, -CHI_ENOMEM);
	}
	iter->client = client;
	iter->spec = *spec;
	iter->games = spec->games != NULL && spec->games[0] != '\0' ? strdup(spec->games) : NULL;
	iter->spec.games = iter->games;
	/* Before the first row the walk is where it was told to continue. */
	iter->cursor = spec->after;
	bool copied = spec->games == NULL || spec->games[0] == '\0' || iter->games != NULL;
	status = copied ? client->backend->scan_open(client, iter) : -CHI_ENOMEM;
	if (status != CHI_OK) {
		/* What was opened before the failure is the iterator's, and closed with it. */
		client->backend->scan_close(client, iter);
		free_iter(iter);
		return chi_client_end(client, status);
	}
	client->iter = iter;
	client->uses++;
	*out = iter;
	return chi_client_end(client, CHI_OK);
}

/* Fetches blocks until one has rows. CHI_NONE at the end; a failure stays what it is. */
static int fetch(struct chi_iter *iter)
{
	struct chi_client *client = iter->client;
	while (iter->at == iter->n) {
		if (iter->status < 0) {
			client->error = iter->fault;
		}
		if (iter->status != CHI_OK) {
			return iter->status;
		}
		iter->n = 0;
		iter->at = 0;
		chi_store_forget_damage();
		iter->status = chi_client_fail(client, client->backend->scan_more(client, iter));
		if (iter->status < 0) {
			/* Rows read before the failure are delivered first. */
			iter->fault = client->error;
		}
	}
	return CHI_OK;
}

int chi_iter_next(struct chi_iter *iter, const struct chi_row **row,
		  const struct chi_record **record)
{
	iter->client->error.text[0] = '\0';
	if (record != NULL) {
		*record = NULL;
	}
	int status = iter->at < iter->n ? CHI_OK : fetch(iter);
	if (status != CHI_OK) {
		*row = NULL;
		return status;
	}
	/* A failure after rows that are still delivered has left its text. */
	iter->client->error.text[0] = '\0';
	iter->delivered++;
	if (iter->entries == NULL) {
		*row = &iter->rows[iter->at++];
	} else {
		const struct chi_entry *entry = &iter->entries[iter->at++];
		iter->row = (struct chi_row){
			.key = entry->key,
			.found = true,
			.chi2 = entry->record.chi2,
			.counts = entry->record.counts,
		};
		*row = &iter->row;
		if (record != NULL) {
			*record = &entry->record;
		}
	}
	/* Of the row delivered, not of the block: the rows after it may never be asked for. */
	iter->cursor = (struct chi_cursor){
		.set = iter->spec.sort == CHI_SORT_NONE, .chi2 = (*row)->chi2, .key = (*row)->key};
	return CHI_OK;
}

void chi_iter_cursor(const struct chi_iter *iter, struct chi_cursor *out)
{
	*out = iter->cursor;
}

bool chi_iter_mixed(const struct chi_iter *iter)
{
	return iter->mixed;
}

void chi_iter_close(struct chi_iter *iter)
{
	if (iter == NULL) {
		return;
	}
	struct chi_client *client = iter->client;
	client->backend->scan_close(client, iter);
	client->iter = NULL;
	chi_client_release(client);
	free_iter(iter);
}
