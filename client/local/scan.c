/* SPDX-License-Identifier: MIT */
/* Walks and counts of a directory, each of one snapshot; with a filter of games, its games are
 * looked for first. */
#include "client/local/local.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "search/among.h"

/* Rows fetched at once: few first, so that the first row comes at once, then more. */
#define BLOCK_FIRST 16
#define BLOCK_MAX   512

/* More wait for memory rather than for processors. */
#define THREADS_MAX 16

unsigned chi_inproc_threads(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static int find_games(struct chi_client *client, struct chi_read *read, const char *filter,
		      struct chi_among **among)
{
	const char *name = NULL;
	uint64_t steps;
	int status = chi_among_open(read, filter, strlen(filter), among, &client->error);
	for (size_t i = 0; status == CHI_OK && (name = chi_among_unknown(*among, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
	while (status == CHI_OK) {
		steps = UINT64_MAX;
		status = chi_among_step(*among, &steps);
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* Both are the caller's to close, also after a failure. */
static int open_scan(struct chi_client *client, struct chi_read *read,
		     const struct chi_scan_spec *spec, struct chi_among **among,
		     struct chi_scan **scan)
{
	bool of_games = spec->games != NULL && spec->games[0] != '\0';
	int status = chi_scan_open(read, spec, scan, &client->error);
	if (status == CHI_OK && of_games) {
		status = find_games(client, read, spec->games, among);
	}
	if (status == CHI_OK && of_games) {
		chi_among_judge(*among, *scan);
	}
	return status;
}

/* On a failure what was opened stays in the iterator: scan_close takes any part of it.
 * Rows need a block; records come one by one. */
int chi_inproc_scan_open(struct chi_client *client, struct chi_iter *iter)
{
	int status = chi_read_begin(client->inproc.store, &iter->read);
	if (status == CHI_OK) {
		status = open_scan(client, iter->read, &iter->spec, &iter->among, &iter->scan);
	}
	if (status == CHI_OK && iter->spec.want != CHI_WANT_RECORDS) {
		iter->block_size = BLOCK_FIRST;
		/* Zeroed: scans fill in no evaluation. */
		iter->block = calloc(BLOCK_MAX, sizeof(*iter->block));
		status = iter->block != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	return status;
}

/* Records come one by one: each may be large, and lives in the arena until the next. */
static int more_record(struct chi_client *client, struct chi_iter *iter)
{
	bool got = false;
	struct chi_row row = {.found = false};
	int status = CHI_OK;
	chi_arena_reset(&client->answer->arena);
	while (status == CHI_OK && !got) {
		status = chi_scan_record(iter->scan, UINT64_MAX, &client->answer->arena, &row,
					 &iter->entry.record, &got);
	}
	if (got) {
		iter->entry.key = row.key;
		iter->entry.found = true;
		iter->entries = &iter->entry;
		iter->n = 1;
	}
	return status;
}

int chi_inproc_scan_more(struct chi_client *client, struct chi_iter *iter)
{
	if (iter->spec.want == CHI_WANT_RECORDS) {
		return more_record(client, iter);
	}
	int status = chi_scan_rows(iter->scan, iter->block, iter->block_size, UINT64_MAX, &iter->n);
	iter->rows = iter->block;
	/* A caller that takes a few rows pays for a few; one that goes on soon has full blocks. */
	if (iter->block_size < BLOCK_MAX) {
		iter->block_size *= 2;
	}
	return status;
}

void chi_inproc_scan_close(struct chi_client *client, struct chi_iter *iter)
{
	(void)client;
	if (iter->scan != NULL) {
		chi_scan_close(iter->scan);
	}
	chi_among_close(iter->among);
	if (iter->read != NULL) {
		chi_read_end(iter->read);
	}
	free(iter->block);
}

static int count_in(struct chi_client *client, struct chi_read *read,
		    const struct chi_scan_spec *spec, uint64_t *count)
{
	struct chi_among *among = NULL;
	struct chi_scan *scan = NULL;
	int status = open_scan(client, read, spec, &among, &scan);
	if (status == CHI_OK) {
		status = chi_scan_count_all(scan, chi_inproc_threads(), count);
	}
	if (scan != NULL) {
		chi_scan_close(scan);
	}
	chi_among_close(among);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_inproc_count(struct chi_client *client, const struct chi_scan_spec *spec, uint64_t *count,
		     bool *mixed)
{
	*mixed = false;
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = count_in(client, read, spec, count);
	chi_read_end(read);
	return status;
}
