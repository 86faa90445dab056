/* SPDX-License-Identifier: MIT */
/* What a store on RADOS does not do: all that needs the games themselves, and what a cluster does
 * by its own means. */
#include "client/rados/refuse.h"

#include "base/fault.h"

static int refuse_call(struct chi_client *client, const char *what)
{
	return chi_fault(&client->error, -CHI_EUNSUPPORTED, "not on RADOS: %s", what);
}

int chi_rados_refuse_game(struct chi_client *client, uint32_t number, struct chi_game_row *row,
			  struct chi_game *game)
{
	(void)number;
	(void)row;
	(void)game;
	return refuse_call(client, "games");
}

int chi_rados_refuse_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
				struct chi_game_row *rows)
{
	(void)numbers;
	(void)n;
	(void)rows;
	return refuse_call(client, "games");
}

int chi_rados_refuse_explore_filtered(struct chi_client *client, const struct chi_key *key,
				      const char *filter, struct chi_explore *out)
{
	(void)key;
	(void)filter;
	(void)out;
	return refuse_call(client, "filters of games");
}

int chi_rados_refuse_backup(struct chi_client *client, const char *path, bool publish)
{
	(void)path;
	(void)publish;
	return refuse_call(client, "backups; take a snapshot of the pool, or a dump");
}

int chi_rados_refuse_compact(struct chi_client *client, uint64_t *before, uint64_t *after)
{
	(void)before;
	(void)after;
	return refuse_call(client, "compaction; the cluster does it by itself");
}

int chi_rados_refuse_change_names(struct chi_client *client, const struct chi_name_change *changes,
				  size_t n, bool dry_run, chi_name_conflict *conflict,
				  void *context, struct chi_names_changed *result)
{
	(void)changes;
	(void)n;
	(void)dry_run;
	(void)conflict;
	(void)context;
	(void)result;
	return refuse_call(client, "names");
}

int chi_rados_refuse_make_gameset(struct chi_client *client, const char *name, const char *filter,
				  uint64_t *games)
{
	(void)name;
	(void)filter;
	(void)games;
	return refuse_call(client, "gamesets");
}

int chi_rados_refuse_drop_gameset(struct chi_client *client, const char *name)
{
	(void)name;
	return refuse_call(client, "gamesets");
}

int chi_rados_refuse_search(struct chi_client *client, const struct chi_search_spec *spec,
			    struct chi_search_result *out)
{
	(void)spec;
	(void)out;
	return refuse_call(client, "searches of boards");
}

int chi_rados_refuse_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			       uint32_t priority, struct chi_queue_added *result)
{
	(void)keys;
	(void)n;
	(void)priority;
	(void)result;
	return refuse_call(client, "the queue");
}

int chi_rados_refuse_queue_take(struct chi_client *client, const struct chi_queue_take *take,
				struct chi_queue_lease *out)
{
	(void)take;
	(void)out;
	return refuse_call(client, "the queue");
}

int chi_rados_refuse_queue_settle(struct chi_client *client, uint64_t lease, unsigned action,
				  const struct chi_key *keys, size_t n, uint32_t lease_ms,
				  uint64_t *done)
{
	(void)lease;
	(void)action;
	(void)keys;
	(void)n;
	(void)lease_ms;
	(void)done;
	return refuse_call(client, "the queue");
}

int chi_rados_refuse_queue_list(struct chi_client *client, enum chi_queue_state state,
				const struct chi_queue_row *after, uint32_t limit,
				struct chi_queue_list *out)
{
	(void)state;
	(void)after;
	(void)limit;
	(void)out;
	return refuse_call(client, "the queue");
}
