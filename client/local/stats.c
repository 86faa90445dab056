/* SPDX-License-Identifier: MIT */
/* Statistics of a directory, of one snapshot. */
#include "client/local/local.h"

#include <string.h>

#include "search/stats.h"
#include "store/archive.h"
#include "store/names/names.h"

/* The kind of names whose numbers groups have; 0: none. */
static int kind_of(uint8_t by)
{
	switch (by) {
	case CHI_STATS_EVENT:
		return CHI_NAME_EVENT;
	case CHI_STATS_SITE:
		return CHI_NAME_SITE;
	case CHI_STATS_SOURCE:
		return CHI_NAME_SOURCE;
	case CHI_STATS_PLAYER:
		return CHI_NAME_PLAYER;
	default:
		return 0;
	}
}

static int text_of(const struct chi_archive_view *view, uint8_t by, const struct chi_stats_row *row,
		   struct chi_arena *arena, const char **out)
{
	struct chi_name name = {.text = row->text, .len = strlen(row->text)};
	int status = CHI_OK;
	if (kind_of(by) != 0 && row->value != 0) {
		status = chi_name_text(view->txn, view->trees.names,
				       (enum chi_name_kind)kind_of(by), row->value, &name);
	}
	if (status != CHI_OK) {
		return status == CHI_NONE ? -CHI_ECORRUPT : status;
	}
	*out = chi_arena_text(arena, name.text, name.len);
	return *out != NULL ? CHI_OK : -CHI_ENOMEM;
}

static int keep_groups(struct chi_read *read, uint8_t by, const struct chi_stats *stats,
		       struct chi_arena *arena, struct chi_stats_result *out)
{
	struct chi_archive_view view;
	size_t n = 0;
	const struct chi_stats_row *rows = chi_stats_rows(stats, &n);
	struct chi_stats_group *groups = chi_arena_array(arena, n, sizeof(*groups));
	int status = groups != NULL ? chi_read_archive(read, &view) : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		groups[i].value = rows[i].value;
		groups[i].counts = rows[i].counts;
		groups[i].positions = rows[i].positions;
		status = text_of(&view, by, &rows[i], arena, &groups[i].text);
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
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_stats_open(read, &spec, &stats, &client->error);
	while (status == CHI_OK) {
		status = chi_stats_step(stats, UINT64_MAX);
	}
	if (status == CHI_NONE) {
		status = keep_groups(read, by, stats, &client->arena, out);
	}
	if (stats != NULL) {
		chi_stats_close(stats);
	}
	chi_read_end(read);
	return status;
}
