/* SPDX-License-Identifier: MIT */
/* The public calls: what holds for all addresses is done here, once; the rest is the backend's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "client/core/client.h"
#include "client/core/pages.h"
#include "import/importer.h"
#include "ops/answer.h"

/* What a 0 in chi_options means, as chistore.h says. */
#define CONNECT_MS 5000
#define CALL_MS	   30000
#define REPEAT_MS  30000

const char *chi_version(void)
{
	return CHI_VERSION;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* Copies a name that goes over the wire; `what` is for the message. */
static int copy_name(const char *name, const char *what, char *out, size_t size,
		     struct chi_fault *fault)
{
	size_t len = strlen(name);
	if (len >= size) {
		return chi_fail(fault, -CHI_EINVAL, "%s has %zu bytes, at most %zu are allowed",
				what, len, size - 1);
	}
	memcpy(out, name, len + 1);
	return CHI_OK;
}

/* Relative paths are those of the moment when a connection is made. */
static int copy_paths(struct chi_client *client)
{
	const char **const paths[CHI_CLIENT_PATHS] = {
		&client->options.token_file, &client->options.tls_ca, &client->options.tls_cert,
		&client->options.tls_key};
	bool good = true;
	for (size_t i = 0; i < CHI_CLIENT_PATHS; i++) {
		if (*paths[i] != NULL) {
			client->paths[i] = strdup(*paths[i]);
			good = good && client->paths[i] != NULL;
			*paths[i] = client->paths[i];
		}
	}
	return good ? CHI_OK : -CHI_ENOMEM;
}

/* The names are copied and the options pointed to the copies: what the caller gave need not live
 * longer than the call to chi_open. */
static int set_options(struct chi_client *client, const struct chi_options *options)
{
	struct chi_options *own = &client->options;
	int status = CHI_OK;
	if (options != NULL) {
		status = CHI_TAKE_SIZED(own, options, &client->error);
	}
	if (status != CHI_OK) {
		return status;
	}
	own->size = sizeof(*own);
	if (own->connect_ms == 0) {
		own->connect_ms = CONNECT_MS;
	}
	if (own->call_ms == 0) {
		own->call_ms = CALL_MS;
	}
	if (own->repeat_ms == 0) {
		own->repeat_ms = REPEAT_MS;
	}
	status = copy_name(own->store != NULL ? own->store : "", "the store's name", client->store,
			   sizeof(client->store), &client->error);
	if (status != CHI_OK) {
		return status;
	}
	const char *name = own->client_name;
	status = copy_name(name != NULL ? name : "libchistore " CHI_VERSION, "the client's name",
			   client->name, sizeof(client->name), &client->error);
	if (status == CHI_OK && (own->tls_cert == NULL) != (own->tls_key == NULL)) {
		status = chi_fail(&client->error, -CHI_EINVAL,
				  "a certificate and its key go together");
	}
	own->store = client->store;
	own->client_name = client->name;
	return status == CHI_OK ? copy_paths(client) : status;
}

/* A directory that is not there and whose name has a colon: perhaps it was meant otherwise. */
static void hint_scheme(struct chi_client *client)
{
	if (client->address.path == client->text && strchr(client->text, ':') != NULL) {
		struct chi_fault fault = client->error;
		chi_fail(&client->error, 0,
			 "%.150s; addresses other than directories start with unix:, tcp:, tls: "
			 "or rados:",
			 fault.text);
	}
}

static const struct chi_backend *backend_of(enum chi_address_kind kind)
{
	return kind == CHI_ADDRESS_DIR	   ? &chi_backend_inproc
	       : kind == CHI_ADDRESS_RADOS ? &chi_backend_rados
					   : &chi_backend_remote;
}

/* The backend is chosen before anything of it is called, so that chi_close knows whose to clean up
 * also after a failure; without one it has nothing to close. */
static int prepare_client(struct chi_client *client, const char *address,
			  const struct chi_options *options)
{
	client->text = strdup(address);
	if (client->text == NULL) {
		return -CHI_ENOMEM;
	}
	int status = chi_address_parse(client->text, &client->address, &client->error);
	if (status == CHI_OK) {
		status = set_options(client, options);
	}
	if (status == CHI_OK) {
		client->backend = backend_of(client->address.kind);
	}
	return status;
}

static int open_client(struct chi_client *client, const char *address,
		       const struct chi_options *options)
{
	int status = prepare_client(client, address, options);
	if (status == CHI_OK) {
		status = client->backend->open(client);
	}
	if (status == -CHI_ENOSTORE && client->address.kind == CHI_ADDRESS_DIR) {
		hint_scheme(client);
	}
	return status;
}

/* The client exists before anything can fail, so that one chi_close cleans up after each failure
 * and the fault is the same text that chi_error would give. */
int chi_open(const char *address, const struct chi_options *options, struct chi_client **out,
	     struct chi_fault *fault)
{
	*out = NULL;
	struct chi_client *client = chi_client_new();
	if (client == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = chi_client_fail(client, open_client(client, address, options));
	if (status != CHI_OK) {
		if (fault != NULL) {
			*fault = client->error;
		}
		chi_close(client);
		return status;
	}
	*out = client;
	return CHI_OK;
}

/* A directory's; takes the store in every case. */
static int client_of(struct chi_client *from, struct chi_dir *store, struct chi_client **out)
{
	struct chi_client *client = chi_client_new();
	int status =
		client == NULL ? -CHI_ENOMEM : prepare_client(client, from->text, &from->options);
	if (status != CHI_OK) {
		chi_dir_close(store);
		chi_close(client);
		return status;
	}
	client->options.writable = false;
	client->inproc.store = store;
	*out = client;
	return CHI_OK;
}

static int share_client(struct chi_client *from, struct chi_client **out)
{
	struct chi_dir *store = NULL;
	int status = chi_dir_share(from->inproc.store, &store);
	return status == CHI_OK ? client_of(from, store, out) : status;
}

int chi_open_again(struct chi_client *client, struct chi_client **out)
{
	*out = NULL;
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = client->address.kind == CHI_ADDRESS_DIR
				 ? share_client(client, out)
				 : chi_open(client->text, &client->options, out, &client->error);
	}
	return chi_client_end(client, status);
}

static int open_newest(struct chi_client *client, struct chi_client **out)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ,
						.force_netfs = client->options.force_netfs};
	struct chi_dir *store = NULL;
	int status = chi_dir_follow(client->inproc.store, &options, &store, &client->error);
	return status == CHI_OK && store != NULL ? client_of(client, store, out) : status;
}

int chi_open_newest(struct chi_client *client, struct chi_client **out)
{
	*out = NULL;
	int status = chi_client_begin(client);
	if (status == CHI_OK && client->address.kind == CHI_ADDRESS_DIR) {
		status = open_newest(client, out);
	}
	return chi_client_end(client, status);
}

void chi_close(struct chi_client *client)
{
	if (client == NULL) {
		return;
	}
	if (chi_client_is_running(client)) {
		/* Its callback: the call closes it. */
		client->closing = true;
		return;
	}
	/* The walk or query first: it holds a snapshot of the store that is closed next. */
	chi_rows_close(client->rows);
	if (client->backend != NULL) {
		client->backend->close(client);
	}
	chi_client_free(client);
}

/* The address of a directory; `what` says what only a directory is good for. */
static int parse_dir(const char *address, const char *what, struct chi_address *out,
		     struct chi_fault *fault)
{
	int status = chi_address_parse(address, out, fault);
	if (status == CHI_OK && out->kind != CHI_ADDRESS_DIR) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"a store is %s directory, '%.120s' is a server", what, address);
	}
	return status;
}

/* Where a connection is needed to create a store. */
static int create_there(const char *address, enum chi_statistic statistic, enum chi_keep keep,
			struct chi_fault *fault)
{
	struct chi_client *client = chi_client_new();
	if (client == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = prepare_client(client, address, NULL);
	if (status == CHI_OK) {
		status = client->backend->create(client, statistic, keep);
	}
	status = chi_client_fail(client, status);
	if (status != CHI_OK && fault != NULL) {
		*fault = client->error;
	}
	chi_close(client);
	return status;
}

int chi_store_create(const char *address, enum chi_statistic statistic, enum chi_keep keep,
		     struct chi_fault *fault)
{
	struct chi_address parsed;
	int status = chi_address_parse(address, &parsed, fault);
	if (status == CHI_OK && backend_of(parsed.kind)->create != NULL) {
		return create_there(address, statistic, keep, fault);
	}
	status = parse_dir(address, "created in a", &parsed, fault);
	return status < 0 ? status : chi_dir_create(parsed.path, statistic, keep, fault);
}

/* A store that is repaired where it is. */
static int repair_there(const char *address, const struct chi_address *parsed, const char *path,
			enum chi_statistic statistic, chi_verify_report *report, void *context,
			struct chi_repair_result *result, struct chi_fault *fault)
{
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_client *client = NULL;
	struct chi_address same;
	int status = chi_address_parse(path, &same, fault);
	if (status == CHI_OK &&
	    (same.kind != parsed->kind || strcmp(same.rados.pool, parsed->rados.pool) != 0 ||
	     strcmp(same.rados.name, parsed->rados.name) != 0 || statistic != 0)) {
		return chi_fail(fault, -CHI_EINVAL,
				"a store on RADOS is repaired in place, by its own statistic: "
				"give its address again");
	}
	status = status == CHI_OK ? chi_open(address, &options, &client, fault) : status;
	if (status == CHI_OK) {
		status = chi_client_fail(client,
					 client->backend->repair(client, report, context, result));
		if (fault != NULL) {
			*fault = client->error;
		}
	}
	chi_close(client);
	return status;
}

int chi_store_repair(const char *address, const char *path, enum chi_statistic statistic,
		     chi_verify_report *report, void *context, struct chi_repair_result *result,
		     struct chi_fault *fault)
{
	struct chi_address parsed;
	*result = (struct chi_repair_result){0};
	int status = chi_address_parse(address, &parsed, fault);
	if (status == CHI_OK && parsed.kind == CHI_ADDRESS_RADOS) {
		return repair_there(address, &parsed, path, statistic, report, context, result,
				    fault);
	}
	status = parse_dir(address, "repaired in its", &parsed, fault);
	if (status < 0) {
		return status;
	}
	return chi_dir_repair(parsed.path, path, statistic, chi_import_relist, report, context,
			      result, fault);
}

int chi_store_set_statistic(const char *address, enum chi_statistic statistic,
			    const struct chi_counts *base, uint64_t *changed,
			    struct chi_fault *fault)
{
	struct chi_address parsed;
	struct chi_dir *store;
	*changed = 0;
	int status = parse_dir(address, "given another statistic in its", &parsed, fault);
	status = status == CHI_OK ? chi_dir_open(parsed.path,
						 &(struct chi_dir_options){.mode = CHI_STORE_WRITE},
						 &store, fault)
				  : status;
	if (status != CHI_OK) {
		return status;
	}
	status = chi_dir_set_statistic(store, statistic, base, changed, fault);
	chi_dir_close(store);
	return status;
}

/* ---- Calls -------------------------------------------------------------------------------- */

/*
 * Each has the same frame: begin, check what does not depend on the address, settle what was
 * written without waiting, the backend, end.
 * Numbers for the caller are set in every case, so that what a failure left there is not read.
 */
int chi_on_progress(struct chi_client *client, chi_progress *progress, void *context)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		client->progress = progress;
		client->progress_context = context;
	}
	return chi_client_end(client, status);
}

int chi_ping(struct chi_client *client)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = client->backend->ping(client);
	}
	return chi_client_end(client, status);
}

int chi_store_check_disk(struct chi_client *client, struct chi_disk_check *out)
{
	return chi_client_end(client, chi_client_ask(client, chi_client_begin(client),
						     CHI_OP_CHECK_DISK, NULL, out));
}

int chi_store_info(struct chi_client *client, struct chi_info *out)
{
	return chi_client_end(
		client, chi_client_ask(client, chi_client_begin(client), CHI_OP_INFO, NULL, out));
}

int chi_store_changed(struct chi_client *client, bool *changed)
{
	*changed = false;
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = client->backend->changed(client, changed);
	}
	return chi_client_end(client, status);
}

int chi_probe(struct chi_client *client, const struct chi_key *keys, size_t n, struct chi_row *rows)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_keys(keys, n, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK && n > 0) {
		status = client->backend->probe(client, keys, n, rows);
	}
	return chi_client_end(client, status);
}

int chi_get(struct chi_client *client, const struct chi_key *key, struct chi_record *out)
{
	*out = (struct chi_record){0};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_keys(key, 1, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		status = client->backend->get(client, key, out);
	}
	return chi_client_answer(client, status);
}

int chi_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
		 chi_get_each *each, void *context)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_keys(keys, n, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		status = client->backend->get_many(client, keys, n, each, context);
	}
	return chi_client_end(client, status);
}

int chi_explore(struct chi_client *client, const struct chi_key *key, const char *filter,
		const struct chi_evidence *evidence, struct chi_explored *out)
{
	struct chi_explore_request asked = {.key = *key, .filter = filter};
	const struct chi_request plain = {.op = CHI_OP_EXPLORE, .body = &asked};
	int status = chi_client_begin(client);
	if (evidence != NULL) {
		asked.evidence = *evidence;
	}
	if (status == CHI_OK) {
		status = chi_client_check_keys(key, 1, &client->error);
	}
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		/* A key that is checked has no need of the wire's checks. */
		status = filter == NULL || filter[0] == '\0'
				 ? client->backend->call(client, &plain, out)
				 : chi_client_call(client, CHI_OP_EXPLORE, &asked, out);
	}
	if (status != CHI_OK) {
		*out = (struct chi_explored){.min_ply = -1};
	}
	out->position.key = asked.key;
	return chi_client_answer(client, status);
}

int chi_put(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
	    enum chi_durability durability, struct chi_put_result *result)
{
	struct chi_put_result unwanted;
	struct chi_put_result *did = result != NULL ? result : &unwanted;
	*did = (struct chi_put_result){0};
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_put(client, entries, n, durability);
	}
	if (status == CHI_OK) {
		status = client->backend->put(client, entries, n, durability, did);
	}
	/* All or nothing: what was counted before the failure did not happen. */
	if (status != CHI_OK) {
		*did = (struct chi_put_result){0};
	}
	return chi_client_end(client, status);
}

int chi_delete(struct chi_client *client, const struct chi_key *keys, size_t n,
	       enum chi_durability durability, uint64_t *deleted)
{
	uint64_t count = 0;
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = chi_client_check_batch(client, n, durability);
	}
	if (status == CHI_OK) {
		status = chi_client_check_keys(keys, n, &client->error);
	}
	if (status == CHI_OK) {
		status = client->backend->del(client, keys, n, durability, &count);
	}
	if (deleted != NULL) {
		*deleted = status == CHI_OK ? count : 0;
	}
	return chi_client_end(client, status);
}

/* One answer's worth. */
static int get_some_ids(struct chi_client *client, const uint8_t *after, struct chi_game_id *out,
			size_t max, size_t *n)
{
	struct chi_game_ids_request asked = {.after_set = after != NULL, .limit = (uint32_t)max};
	const struct chi_request request = {.op = CHI_OP_GAME_IDS, .body = &asked};
	struct chi_game_id_list found = {.n = 0};
	if (after != NULL) {
		memcpy(asked.after, after, sizeof(asked.after));
	}
	chi_arena_reset(&client->answer->arena);
	int status = client->backend->call(client, &request, &found);
	if (status == CHI_OK && found.n > 0) {
		memcpy(out, found.games, found.n * sizeof(*out));
	}
	*n = found.n;
	return status;
}

/* Each piece is asked for after the last game of the one before. */
int chi_game_ids(struct chi_client *client, const uint8_t *after, struct chi_game_id *out,
		 size_t max, size_t *n)
{
	size_t wanted = 0;
	size_t got = 0;
	*n = 0;
	int status = chi_client_settle(client, chi_client_begin(client));
	while (status == CHI_OK && got == wanted && *n < max) {
		wanted = max - *n < CHI_GAME_IDS_MAX ? max - *n : CHI_GAME_IDS_MAX;
		status = get_some_ids(client, *n > 0 ? out[*n - 1].id : after, out + *n, wanted,
				      &got);
		*n += got;
	}
	if (status != CHI_OK) {
		*n = 0;
	}
	return chi_client_end(client, status);
}

int chi_flush(struct chi_client *client)
{
	int status = chi_client_begin(client);
	if (status == CHI_OK) {
		status = client->backend->flush(client);
	}
	return chi_client_end(client, status);
}

int chi_store_verify(struct chi_client *client, chi_verify_report *report, void *context,
		     struct chi_verify_result *result)
{
	struct chi_verify_result unwanted;
	struct chi_verify_result *found = result != NULL ? result : &unwanted;
	const struct chi_sink sink = {.fd = -1, .report = report, .context = context};
	*found = (struct chi_verify_result){0};
	int status = chi_client_settle(client, chi_client_begin(client));
	if (status == CHI_OK) {
		status = client->backend->bytes(client, CHI_OP_VERIFY, &sink, found);
	}
	/* Said here, so that a directory and a server give the same message. */
	if (status == -CHI_ECORRUPT && client->error.text[0] == '\0') {
		(void)chi_fail(&client->error, status, "the store is damaged in %" PRIu64 " places",
			       found->errors);
	}
	return chi_client_end(client, status);
}

/* The bytes go into a hidden directory beside `path`, which gets that name only when all are there
 * and the stamp is right. */
static int copy_store(struct chi_client *client, const char *path, enum chi_backup_kind kind)
{
	struct chi_sink sink = {.fd = -1, .path = path};
	struct chi_copy *copy = NULL;
	int status = kind <= CHI_BACKUP_VERIFIED
			     ? chi_copy_begin(path, kind, &copy, &sink.fd, &client->error)
			     : chi_fail(&client->error, -CHI_EINVAL, "no kind of backup is %d",
					(int)kind);
	if (status != CHI_OK) {
		return status;
	}
	status = client->backend->bytes(client, CHI_OP_BACKUP, &sink, NULL);
	if (status != CHI_OK) {
		chi_copy_abandon(copy);
		return status;
	}
	return chi_copy_finish(copy, &client->error);
}

int chi_store_backup(struct chi_client *client, const char *path, enum chi_backup_kind kind)
{
	int status = chi_client_ready(client, chi_client_begin(client), CHI_OP_BACKUP);
	status = status == CHI_OK ? copy_store(client, path, kind) : status;
	return chi_client_end(client, status);
}

int chi_store_compact(struct chi_client *client, uint64_t *bytes_before, uint64_t *bytes_after)
{
	struct chi_compacted done;
	int status = chi_client_ask(client, chi_client_begin(client), CHI_OP_COMPACT, NULL, &done);
	if (bytes_before != NULL) {
		*bytes_before = done.before;
	}
	if (bytes_after != NULL) {
		*bytes_after = done.after;
	}
	return chi_client_end(client, status);
}

int chi_store_rescore(struct chi_client *client, const struct chi_counts *base, uint64_t *changed)
{
	const struct chi_rescore_request asked = {base};
	struct chi_affected done;
	int status =
		chi_client_ask(client, chi_client_begin(client), CHI_OP_RESCORE, &asked, &done);
	if (changed != NULL) {
		*changed = done.n;
	}
	return chi_client_end(client, status);
}
