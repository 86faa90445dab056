/* SPDX-License-Identifier: MIT */
/* Statistics and twins over a socket. */
#include "client/remote/remote.h"

#include <string.h>

#include "base/fault.h"
#include "client/remote/stream.h"

/* ---- Statistics --------------------------------------------------------------------------- */

static int take_groups(struct chi_client *client, struct chi_gather *all,
		       const struct chi_response *response)
{
	size_t n = response->u.stats.n;
	int status = chi_gather_room(client, all, n);
	struct chi_stats_group *groups = all->items;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_stats_group *kept = &groups[all->n + i];
		*kept = response->u.stats.groups[i];
		kept->text = chi_gather_text(client, kept->text);
		status = kept->text != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	all->n += status == CHI_OK ? n : 0;
	return status;
}

int chi_remote_stats(struct chi_client *client, uint8_t by, const char *filter, uint64_t limit,
		     struct chi_stats_result *out)
{
	struct chi_request request = {.op = CHI_OP_STATS};
	struct chi_gather all = {.size = sizeof(struct chi_stats_group)};
	request.u.stats.by = by;
	request.u.stats.filter = (struct chi_text){filter, strlen(filter)};
	request.u.stats.limit = limit;
	request.u.stats.window = CHI_WINDOW_DEFAULT;
	int status = chi_gather_all(client, &request, &all, take_groups);
	*out = (struct chi_stats_result){.groups = all.items, .n = all.n};
	return status;
}

/* ---- Twins -------------------------------------------------------------------------------- */

static int take_numbers(struct chi_client *client, struct chi_gather *all,
			const struct chi_response *response)
{
	size_t n = response->u.twins.n;
	int status = chi_gather_room(client, all, n);
	uint32_t *numbers = all->items;
	if (status == CHI_OK && n > 0) {
		memcpy(numbers + all->n, response->u.twins.numbers, n * sizeof(*numbers));
		all->n += n;
	}
	return status;
}

/* The group that begins at `at`. */
static bool read_group(const uint32_t *numbers, size_t n, size_t at, struct chi_twin_group *out)
{
	*out = (struct chi_twin_group){.games = numbers + at + 1, .n = numbers[at]};
	if (out->n < 2 || out->n > n - at - 1 || out->games[0] == 0) {
		return false;
	}
	for (size_t i = 1; i < out->n; i++) {
		if (out->games[i] <= out->games[i - 1]) {
			return false;
		}
	}
	return true;
}

static int make_groups(struct chi_client *client, const struct chi_gather *all,
		       struct chi_twin_groups *out)
{
	/* A group takes three numbers at least. */
	struct chi_twin_group *groups =
		chi_arena_array(&client->answer->gathered, all->n / 3, sizeof(*groups));
	size_t n = 0;
	if (groups == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t at = 0; at < all->n; at += 1 + groups[n++].n) {
		bool sound = n < all->n / 3 && read_group(all->items, all->n, at, &groups[n]) &&
			     (n == 0 || groups[n].games[0] > groups[n - 1].games[0]);
		if (!sound) {
			return chi_peer_fail(client, -CHI_EPROTO, "not groups of games");
		}
	}
	*out = (struct chi_twin_groups){.groups = groups, .n = n};
	return CHI_OK;
}

int chi_remote_twins(struct chi_client *client, const struct chi_twin_spec *spec,
		     struct chi_twin_groups *out)
{
	struct chi_gather all = {.size = sizeof(uint32_t)};
	struct chi_request request = {
		.op = CHI_OP_TWINS,
		.u.twins = {.filter = spec->filter, .days = spec->days, .plies = spec->plies},
	};
	int status = chi_gather_all(client, &request, &all, take_numbers);
	return status == CHI_OK ? make_groups(client, &all, out) : status;
}
