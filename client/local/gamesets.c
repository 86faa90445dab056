/* SPDX-License-Identifier: MIT */
/* Gamesets in a directory. The bitmap is made in a snapshot, and stored in a transaction after it.
 */
#include "client/local/local.h"

#include <stdio.h>
#include <string.h>

#include "search/games.h"
#include "search/gamesets.h"
#include "search/filter/terms.h"

/* ---- Making and dropping ------------------------------------------------------------------ */

static int make_job(struct chi_client *client, const char *name, const char *filter,
		    struct chi_gameset_job **out)
{
	struct chi_read *read = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_gameset_open(read, name, filter, strlen(filter), out, &client->error);
	while (status == CHI_OK) {
		status = chi_gameset_step(*out, UINT64_MAX);
	}
	chi_read_end(read);
	return status == CHI_NONE ? CHI_OK : status;
}

static int save(struct chi_client *client, struct chi_gameset_job *job)
{
	struct chi_write *write = NULL;
	int status = chi_write_begin(client->inproc.store, &write, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_gameset_save(job, write, &client->error);
	if (status != CHI_OK) {
		chi_write_abort(write);
		return status;
	}
	return chi_write_commit(write, &client->error);
}

int chi_inproc_make_gameset(struct chi_client *client, const char *name, const char *filter,
			    uint64_t *games)
{
	struct chi_gameset_job *job = NULL;
	int status = make_job(client, name, filter, &job);
	status = status == CHI_OK ? save(client, job) : status;
	if (job != NULL) {
		*games = status == CHI_OK ? chi_gameset_games(job) : 0;
		chi_gameset_close(job);
	}
	return status;
}

int chi_inproc_drop_gameset(struct chi_client *client, const char *name)
{
	struct chi_write *write = NULL;
	int status = chi_write_begin(client->inproc.store, &write, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_gameset_drop(write, name, &client->error);
	if (status != CHI_OK) {
		chi_write_abort(write);
		return status;
	}
	return chi_write_commit(write, &client->error);
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* How many games the gameset has now. */
static int count_set(struct chi_client *client, const char *name, uint64_t *games)
{
	char filter[16 + CHI_GAMESET_NAME_MAX];
	struct chi_read *read = NULL;
	struct chi_games *query = NULL;
	struct chi_games_row row;
	size_t n = 0;
	int len = snprintf(filter, sizeof(filter), "in %s", name);
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = (size_t)len, .limit = 1, .want_total = true};
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_games_open(read, &spec, &query, &client->error);
	while (status == CHI_OK) {
		status = chi_games_next(query, &row, 1, UINT64_MAX, &n);
	}
	if (status == CHI_NONE) {
		(void)chi_games_total(query, games);
		status = CHI_OK;
	}
	if (query != NULL) {
		chi_games_close(query);
	}
	chi_read_end(read);
	return status;
}

int chi_inproc_gamesets(struct chi_client *client, const char *name, struct chi_gamesets *out)
{
	const struct chi_gamesets_spec spec = {
		.name = name != NULL ? name : "", .after = "", .max = SIZE_MAX, .bytes = SIZE_MAX};
	struct chi_read *read = NULL;
	bool more = false;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_gamesets_rows(read, &spec, &client->answer->arena, out, &more);
	chi_read_end(read);
	if (status != CHI_OK || name == NULL) {
		return status;
	}
	if (out->n == 0) {
		return CHI_NONE;
	}
	struct chi_gameset_row *row = chi_arena_array(&client->answer->arena, 1, sizeof(*row));
	if (row == NULL) {
		return -CHI_ENOMEM;
	}
	*row = out->rows[0];
	*out = (struct chi_gamesets){.rows = row, .n = 1};
	return count_set(client, name, &row->games);
}
