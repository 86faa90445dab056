/* SPDX-License-Identifier: MIT */
/* The backend's calls that are refused: "not on RADOS". */
#pragma once

#include "client/core/client.h"

int chi_rados_refuse_game(struct chi_client *client, uint32_t number, struct chi_game_row *row,
			  struct chi_game *game);
int chi_rados_refuse_game_heads(struct chi_client *client, const uint32_t *numbers, size_t n,
				struct chi_game_row *rows);
int chi_rados_refuse_explore_filtered(struct chi_client *client, const struct chi_key *key,
				      const char *filter, struct chi_explore *out);
int chi_rados_refuse_backup(struct chi_client *client, const char *path, bool publish);
int chi_rados_refuse_compact(struct chi_client *client, uint64_t *before, uint64_t *after);
int chi_rados_refuse_change_names(struct chi_client *client, const struct chi_name_change *changes,
				  size_t n, bool dry_run, chi_name_conflict *conflict,
				  void *context, struct chi_names_changed *result);
int chi_rados_refuse_make_gameset(struct chi_client *client, const char *name, const char *filter,
				  uint64_t *games);
int chi_rados_refuse_drop_gameset(struct chi_client *client, const char *name);
int chi_rados_refuse_search(struct chi_client *client, const struct chi_search_spec *spec,
			    struct chi_search_result *out);
int chi_rados_refuse_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			       uint32_t priority, struct chi_queue_added *result);
int chi_rados_refuse_queue_take(struct chi_client *client, const struct chi_queue_take *take,
				struct chi_queue_lease *out);
int chi_rados_refuse_queue_settle(struct chi_client *client, uint64_t lease, unsigned action,
				  const struct chi_key *keys, size_t n, uint32_t lease_ms,
				  uint64_t *done);
int chi_rados_refuse_queue_list(struct chi_client *client, enum chi_queue_state state,
				const struct chi_queue_row *after, uint32_t limit,
				struct chi_queue_list *out);
