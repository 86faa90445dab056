/* SPDX-License-Identifier: MIT */
/* The public calls on names (chistore/names.h). */
#include "client/core/rows.h"

#include "base/fault.h"
#include "store/archive.h"

int chi_get_names(struct chi_client *client, const struct chi_names_spec *spec,
		  struct chi_names *out)
{
	struct chi_names_spec asked = *spec;
	/* On the wire an empty text is none, and every name is another thing than none. */
	if (asked.wanted != NULL && asked.wanted[0] == '\0') {
		asked.wanted = "=";
	}
	return chi_rows_all(client, CHI_OP_NAMES, &asked, out);
}

int chi_get_suspects(struct chi_client *client, uint8_t kind, uint8_t least, uint32_t limit,
		     struct chi_suspect_groups *out)
{
	const struct chi_suspects_spec spec = {.kind = kind, .least = least, .limit = limit};
	return chi_rows_all(client, CHI_OP_SUSPECTS, &spec, out);
}

static void ignore(void *context, size_t i, const char *reason)
{
	(void)context;
	(void)i;
	(void)reason;
}

int chi_change_names(struct chi_client *client, const struct chi_name_change *changes, size_t n,
		     bool dry_run, chi_name_conflict *conflict, void *context,
		     struct chi_names_changed *result)
{
	struct chi_names_changed unwanted;
	struct chi_names_changed *did = result != NULL ? result : &unwanted;
	*did = (struct chi_names_changed){0};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_name_changes_check(changes, n, &client->error);
	}
	status = chi_client_ready(client, status, CHI_OP_CHANGE_NAMES);
	if (status == CHI_OK && n > 0) {
		status = client->backend->change_names(client, changes, n, dry_run,
						       conflict != NULL ? conflict : ignore,
						       context, did);
	}
	if (status != CHI_OK) {
		*did = (struct chi_names_changed){0};
	}
	return chi_client_end(client, status);
}
