/* SPDX-License-Identifier: MIT */
/* The public calls on names (chistore/names.h). */
#include "client/core/pages.h"

#include "base/fault.h"
#include "store/archive.h"

int chi_names_list(struct chi_client *client, const struct chi_names_spec *spec,
		   struct chi_names *out)
{
	struct chi_names_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	/* On the wire an empty text is none, and every name is another thing than none. */
	if (status == CHI_OK && asked.wanted != NULL && asked.wanted[0] == '\0') {
		asked.wanted = "=";
	}
	return chi_pages_all(client, status, CHI_OP_NAMES, &asked, out);
}

int chi_suspects_list(struct chi_client *client, const struct chi_suspects_spec *spec,
		      struct chi_suspect_groups *out)
{
	struct chi_suspects_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	return chi_pages_all(client, status, CHI_OP_SUSPECTS, &asked, out);
}

/* Of a list that was done when it was sent before no more is known than the counts: what conflicted
 * then does so still, unless names have changed meanwhile. */
static int tell_conflicts(struct chi_client *client, struct chi_change_names_request *request,
			  struct chi_names_done *done, chi_name_conflict *conflict, void *context)
{
	int status = CHI_OK;
	if (done->n_refused < done->counts.conflicts) {
		struct chi_names_changed counts = done->counts;
		request->dry_run = true;
		status = chi_client_call(client, CHI_OP_CHANGE_NAMES, request, done);
		done->counts = counts;
	}
	for (size_t i = 0; status == CHI_OK && i < done->n_refused; i++) {
		conflict(context, done->refused[i].entry, done->refused[i].reason);
	}
	return status;
}

int chi_names_change(struct chi_client *client, const struct chi_name_change *changes, size_t n,
		     bool dry_run, chi_name_conflict *conflict, void *context,
		     struct chi_names_changed *result)
{
	struct chi_change_names_request request = {changes, n, dry_run};
	struct chi_names_done done = {0};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_name_changes_check(changes, n, &client->error);
	}
	status = chi_client_ready(client, status, CHI_OP_CHANGE_NAMES);
	if (status == CHI_OK && n > 0) {
		status = chi_client_call(client, CHI_OP_CHANGE_NAMES, &request, &done);
	}
	if (status == CHI_OK && conflict != NULL) {
		status = tell_conflicts(client, &request, &done, conflict, context);
	}
	if (result != NULL) {
		*result = status == CHI_OK ? done.counts : (struct chi_names_changed){0};
	}
	return chi_client_end(client, status);
}
