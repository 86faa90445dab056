/* SPDX-License-Identifier: MIT */
/* Games of a directory that are likely one, of one snapshot. */
#include "client/local/local.h"

#include <string.h>

#include "search/twins.h"

static int find_all(struct chi_twins *twins)
{
	int status;
	do {
		status = chi_twins_step(twins, UINT64_MAX);
	} while (status == CHI_OK);
	return status == CHI_NONE ? CHI_OK : status;
}

struct list {
	struct chi_arena *arena;
	struct chi_twin_group *groups;
	size_t n;
	size_t room;
};

static int grow(struct list *list)
{
	size_t room = list->room > 0 ? 2 * list->room : 64;
	struct chi_twin_group *groups = chi_arena_array(list->arena, room, sizeof(*groups));
	if (groups == NULL) {
		return -CHI_ENOMEM;
	}
	if (list->n > 0) {
		memcpy(groups, list->groups, list->n * sizeof(*groups));
	}
	list->groups = groups;
	list->room = room;
	return CHI_OK;
}

static int add(struct list *list, const uint32_t *numbers, size_t n)
{
	uint32_t *copy = chi_arena_array(list->arena, n, sizeof(*copy));
	if (copy == NULL || (list->n == list->room && grow(list) != CHI_OK)) {
		return -CHI_ENOMEM;
	}
	memcpy(copy, numbers, n * sizeof(*copy));
	list->groups[list->n++] = (struct chi_twin_group){.games = copy, .n = n};
	return CHI_OK;
}

static int keep_groups(struct chi_twins *twins, struct chi_arena *arena,
		       struct chi_twin_groups *out)
{
	struct list list = {.arena = arena};
	const uint32_t *numbers;
	size_t n = 0;
	int status = CHI_OK;
	while (status == CHI_OK && chi_twins_next(twins, &numbers, &n) == CHI_OK) {
		status = add(&list, numbers, n);
	}
	*out = (struct chi_twin_groups){.groups = list.groups, .n = list.n};
	return status;
}

int chi_inproc_twins(struct chi_client *client, const struct chi_twin_spec *spec,
		     struct chi_twin_groups *out)
{
	const char *filter = spec->filter != NULL ? spec->filter : "";
	const struct chi_twins_spec asked = {.filter = filter,
					     .filter_len = strlen(filter),
					     .days = spec->days,
					     .plies = spec->plies};
	struct chi_read *read = NULL;
	struct chi_twins *twins = NULL;
	const char *name = NULL;
	int status = chi_read_begin(client->inproc.store, &read);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_twins_open(read, &asked, &twins, &client->error);
	for (size_t i = 0; status == CHI_OK && (name = chi_twins_unknown(twins, i)) != NULL; i++) {
		chi_client_tell_unknown(client, name);
	}
	status = status == CHI_OK ? find_all(twins) : status;
	status = status == CHI_OK ? keep_groups(twins, &client->answer->arena, out) : status;
	chi_twins_close(twins);
	chi_read_end(read);
	return status;
}
