/* SPDX-License-Identifier: MIT */
/* Names in a directory: changes, in one transaction. */
#include "client/local/local.h"

#include "store/archive.h"

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
