/* SPDX-License-Identifier: MIT */
/* Gamesets in a directory. The bitmap is made in a snapshot, and stored in a transaction after it.
 */
#include "client/local/local.h"

#include <string.h>

#include "search/gamesets.h"

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
