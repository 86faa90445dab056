/* SPDX-License-Identifier: MIT */
/* Statistics over a socket: groups of several responses become one list. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"

/* In client->gathered; the list doubles. */
struct gathered {
	struct chi_stats_group *groups;
	size_t n;
	size_t room;
};

static int make_room(struct chi_arena *arena, struct gathered *all, size_t n)
{
	if (n <= all->room - all->n) {
		return CHI_OK;
	}
	size_t room = 2 * all->room > all->n + n ? 2 * all->room : all->n + n;
	struct chi_stats_group *groups = chi_arena_array(arena, room, sizeof(*groups));
	if (groups == NULL) {
		return -CHI_ENOMEM;
	}
	if (all->n > 0) {
		memcpy(groups, all->groups, all->n * sizeof(*groups));
	}
	all->groups = groups;
	all->room = room;
	return CHI_OK;
}

static int gather(struct chi_arena *arena, struct gathered *all,
		  const struct chi_stats_group *groups, size_t n)
{
	int status = make_room(arena, all, n);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_stats_group *kept = &all->groups[all->n + i];
		*kept = groups[i];
		kept->text = chi_arena_text(arena, groups[i].text, strlen(groups[i].text));
		status = kept->text != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	all->n += status == CHI_OK ? n : 0;
	return status;
}

static int ask(struct chi_client *client, struct chi_request *request, struct gathered *all)
{
	struct chi_stream stream;
	struct chi_response response = {.last = false};
	*all = (struct gathered){0};
	chi_arena_reset(&client->gathered);
	int status = chi_stream_begin(client, &stream, request);
	while (status == CHI_OK) {
		status = chi_stream_next(client, &stream, CHI_OP_STATS, &response);
		int kept = status >= 0 ? gather(&client->gathered, all, response.u.stats.groups,
						response.u.stats.n)
				       : CHI_OK;
		status = kept < 0 ? kept : status;
	}
	chi_stream_cancel(client, &stream);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_remote_stats(struct chi_client *client, uint8_t by, const char *filter, uint64_t limit,
		     struct chi_stats_result *out)
{
	struct chi_request request = {.op = CHI_OP_STATS};
	struct chi_repeat repeat = {0};
	struct gathered all;
	int status = CHI_OK;
	request.u.stats.by = by;
	request.u.stats.filter = (struct chi_text){filter, strlen(filter)};
	request.u.stats.limit = limit;
	request.u.stats.window = CHI_WINDOW_DEFAULT;
	do {
		status = ask(client, &request, &all);
	} while (chi_repeat_again(client, &repeat, status));
	*out = (struct chi_stats_result){.groups = all.groups, .n = all.n};
	return status;
}
