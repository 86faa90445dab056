/* SPDX-License-Identifier: MIT */
/* Statistics of a directory, of one snapshot. */
#include "client/local/local.h"

#include <string.h>

#include "search/stats.h"

static int keep_groups(struct chi_read *read, uint8_t by, const struct chi_stats *stats,
		       struct chi_arena *arena, struct chi_stats_result *out)
{
	size_t n = 0;
	const struct chi_stats_row *rows = chi_stats_rows(stats, &n);
	struct chi_stats_group *groups = chi_arena_array(arena, n, sizeof(*groups));
	int status = groups != NULL ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_stats_group_of(read, by, &rows[i], arena, &groups[i]);
	}
	*out = (struct chi_stats_result){.groups = groups, .n = n};
	return status;
}

int chi_inproc_stats(struct chi_client *client, uint8_t by, const char *filter, uint64_t limit,
		     struct chi_stats_result *out)
{
	const struct chi_stats_spec spec = {
		.by = by, .filter = filter, .filter_len = strlen(filter), .limit = limit};
	struct chi_read *read = NULL;
	struct chi_stats *stats = NULL;
	const char *name = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_stats_open(read, &spec, &stats, &client->error);
	for (size_t i = 0; status == CHI_OK && (name = chi_stats_unknown(stats, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
	while (status == CHI_OK) {
		status = chi_stats_step(stats, UINT64_MAX);
	}
	if (status == CHI_NONE) {
		status = keep_groups(read, by, stats, &client->answer->arena, out);
	}
	if (stats != NULL) {
		chi_stats_close(stats);
	}
	chi_read_end(read);
	return status;
}
