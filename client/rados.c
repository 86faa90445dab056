/* SPDX-License-Identifier: MIT */
/*
 * Stores on RADOS: each call is one of rados/rados.h. What is not here is never asked for:
 * chi_client_can refuses it. What a cluster acknowledges is durable, so that CHI_ASYNC is not
 * faster, and there is nothing to settle and nothing to flush.
 */
#include "rados/rados.h"

#include "client/core/import.h"
#include "client/core/pages.h"
#include "ops/answer.h"
#include "ops/scan.h"

/* The address with the patience of the options. */
static const struct chi_rados_place *place_of(struct chi_client *client)
{
	client->address.rados.connect_ms = client->options.connect_ms;
	client->address.rados.call_ms = client->options.call_ms;
	return &client->address.rados;
}

static int create_store(struct chi_client *client, enum chi_statistic statistic, enum chi_keep keep)
{
	return chi_rados_create(place_of(client), statistic, keep, &client->error);
}

static int open_store(struct chi_client *client)
{
	return chi_rados_open(place_of(client), &client->error, &client->rados);
}

static void close_store(struct chi_client *client)
{
	chi_rados_close(client->rados);
	client->rados = NULL;
}

static int ping_store(struct chi_client *client)
{
	return chi_rados_ping(client->rados);
}

static int do_nothing(struct chi_client *client)
{
	(void)client;
	return CHI_OK;
}

static int is_changed(struct chi_client *client, bool *changed)
{
	return chi_rados_changed(client->rados, changed);
}

static int probe_keys(struct chi_client *client, const struct chi_key *keys, size_t n,
		      struct chi_row *rows)
{
	return chi_rados_probe(client->rados, keys, n, rows);
}

static int get_record(struct chi_client *client, const struct chi_key *key, struct chi_record *out)
{
	return chi_rados_get(client->rados, key, &client->answer->arena, out);
}

static int get_records(struct chi_client *client, const struct chi_key *keys, size_t n,
		       chi_get_each *each, void *context)
{
	return chi_rados_get_many(client->rados, keys, n, &client->answer->arena, each, context);
}

static int put_entries(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
		       enum chi_durability durability, struct chi_put_result *result)
{
	(void)durability;
	return chi_rados_put(client->rados, entries, n, result);
}

static int delete_keys(struct chi_client *client, const struct chi_key *keys, size_t n,
		       enum chi_durability durability, uint64_t *deleted)
{
	(void)durability;
	return chi_rados_del(client->rados, keys, n, deleted);
}

static int list_game_ids(struct chi_client *client, const struct chi_game_ids_request *asked,
			 struct chi_game_id_list *out)
{
	struct chi_game_id *games =
		chi_arena_array(&client->answer->arena, asked->limit, sizeof(*games));
	out->games = games;
	return games == NULL
		       ? -CHI_ENOMEM
		       : chi_rados_game_ids(client->rados, asked->after_set ? asked->after : NULL,
					    games, asked->limit, &out->n);
}

static int call_store(struct chi_client *client, const struct chi_request *request, void *out)
{
	const struct chi_explore_request *explored = request->body;
	switch (request->op) {
	case CHI_OP_INFO:
		return chi_rados_info(client->rados, out);
	case CHI_OP_CHECK_DISK:
		/* Its cluster keeps nothing here that could be read instead. */
		((struct chi_disk_check *)out)->direct = true;
		return chi_rados_ping(client->rados);
	case CHI_OP_GAME_IDS:
		return list_game_ids(client, request->body, out);
	case CHI_OP_RESCORE:
		return chi_rados_rescore(client->rados,
					 ((const struct chi_rescore_request *)request->body)->base,
					 &((struct chi_affected *)out)->n);
	default:
		return chi_rados_explore(client->rados, &explored->key, &explored->evidence,
					 &client->answer->arena, out);
	}
}

static chi_scan_wanted *shows_of(const struct chi_motif *pattern)
{
	return pattern != NULL ? chi_scan_shows : NULL;
}

/* Of scans, and the list of a count: no other queries come here. */
static int open_scan(struct chi_client *client, struct chi_row_pages *rows,
		     const struct chi_request *request)
{
	struct chi_scan_spec spec;
	const struct chi_motif *pattern = NULL;
	const char *field = NULL;
	int status = chi_scan_asked(request->body, &rows->arena, &spec, &pattern, &field,
				    &client->error);
	return status == CHI_OK ? chi_rados_scan_open(client->rados, &spec, shows_of(pattern),
						      pattern, &rows->shards)
				: status;
}

static int scan_more(struct chi_client *client, struct chi_row_pages *rows)
{
	(void)client;
	struct chi_scan_page *page = (void *)rows->result;
	const void *found = NULL;
	int status = chi_rados_scan_next(rows->shards, &found, &rows->n, &page->mixed);
	rows->rows = found;
	rows->at = 0;
	rows->last = status == CHI_NONE;
	return status < 0 ? status : CHI_OK;
}

static void close_scan(struct chi_client *client, struct chi_row_pages *rows)
{
	(void)client;
	chi_rados_scan_close(rows->shards);
}

static int count_scan(struct chi_client *client, struct chi_row_pages *rows,
		      const struct chi_request *request, void *out)
{
	struct chi_counted *counted = out;
	struct chi_scan_spec spec;
	const struct chi_motif *pattern = NULL;
	const char *field = NULL;
	int status = chi_scan_asked(request->body, &rows->arena, &spec, &pattern, &field,
				    &client->error);
	return status == CHI_OK ? chi_rados_count(client->rados, &spec, shows_of(pattern), pattern,
						  &counted->count, &counted->mixed)
				: status;
}

/* A verification: no other operation's bytes are asked for here. */
static int verify_store(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
			void *result)
{
	(void)op;
	return chi_rados_verify(client->rados, sink->report, sink->context, result);
}

static int repair_store(struct chi_client *client, chi_verify_report *report, void *context,
			struct chi_repair_result *result)
{
	return chi_rados_repair(client->rados, report, context, result);
}

const struct chi_backend chi_backend_rados = {
	.create = create_store,
	.open = open_store,
	.close = close_store,
	.ping = ping_store,
	.settle = do_nothing,
	.changed = is_changed,
	.probe = probe_keys,
	.get = get_record,
	.get_many = get_records,
	.call = call_store,
	.put = put_entries,
	.del = delete_keys,
	.flush = do_nothing,
	.rows_open = open_scan,
	.rows_more = scan_more,
	.rows_close = close_scan,
	.rows_all = count_scan,
	.bytes = verify_store,
	.repair = repair_store,
};
