/* SPDX-License-Identifier: MIT */
/* Names in a directory: one snapshot for a list, one transaction for changes. */
#include "client/local/local.h"

#include "search/names.h"
#include "store/archive.h"

static int count_all(struct chi_names_query *query)
{
	int status;
	do {
		status = chi_names_query_step(query, UINT64_MAX);
	} while (status == CHI_OK);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_inproc_names(struct chi_client *client, const struct chi_names_spec *spec,
		     struct chi_names *out)
{
	struct chi_read *read = NULL;
	struct chi_names_query *query = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_names_query_open(read, spec, &query, &client->error);
	status = status == CHI_OK ? count_all(query) : status;
	status = status == CHI_OK
			 ? chi_names_query_rows(query, 0, SIZE_MAX, &client->answer->arena, out)
			 : status;
	chi_names_query_close(query);
	chi_read_end(read);
	return status;
}

int chi_inproc_suspects(struct chi_client *client, uint8_t kind, uint8_t least, uint32_t limit,
			struct chi_suspect_groups *out)
{
	struct chi_read *read = NULL;
	struct chi_names_query *query = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_suspects_query_open(read, kind, least, limit, &query, &client->error);
	status = status == CHI_OK ? count_all(query) : status;
	status = status == CHI_OK ? chi_names_query_groups(query, &client->answer->arena, out)
				  : status;
	chi_names_query_close(query);
	chi_read_end(read);
	return status;
}

int chi_inproc_change_names(struct chi_client *client, const struct chi_name_change *changes,
			    size_t n, bool dry_run, chi_name_conflict *conflict, void *context,
			    struct chi_names_changed *result)
{
	struct chi_write *write = NULL;
	int status = chi_write_begin(client->inproc.store, &write, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_write_names(write, changes, n, conflict, context, result);
	if (status != CHI_OK || dry_run) {
		chi_write_abort(write);
		return status;
	}
	return chi_write_commit(write, &client->error);
}
