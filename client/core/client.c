/* SPDX-License-Identifier: MIT */
/* Where every public call begins and ends. */
#include "client/core/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "ops/op.h"
#include "store/store.h"

struct chi_client *chi_client_new(void)
{
	struct chi_client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < CHI_COUNT(client->answers); i++) {
		chi_arena_init(&client->answers[i].arena, CHI_CLIENT_BUDGET);
		chi_arena_init(&client->answers[i].gathered, CHI_CLIENT_BUDGET);
	}
	client->answer = &client->answers[0];
	chi_dir_forget_damage();
	return client;
}

void chi_client_free(struct chi_client *client)
{
	for (size_t i = 0; i < CHI_COUNT(client->answers); i++) {
		chi_arena_deinit(&client->answers[i].arena);
		chi_arena_deinit(&client->answers[i].gathered);
	}
	for (size_t i = 0; i < CHI_CLIENT_PATHS; i++) {
		free(client->paths[i]);
	}
	free(client->text);
	free(client);
}

/* A call made by a callback is refused without touching what the call that runs has to tell. */
bool chi_client_is_running(const struct chi_client *client)
{
	return client->uses > 0 && (client->rows == NULL || client->in_next);
}

static int refuse_open(struct chi_client *client)
{
	return chi_client_is_running(client)
		       ? -CHI_EBUSY
		       : chi_fail(&client->error, -CHI_EBUSY,
				  "a %s is open on this client; close it first",
				  client->rows_op == CHI_OP_SCAN ? "scan" : "query of games");
}

const char *chi_error(const struct chi_client *client)
{
	return chi_client_is_running(client)
		       ? "a call on this client has called back; it must end first"
		       : client->error.text;
}

int chi_client_begin(struct chi_client *client)
{
	if (CHI_UNLIKELY(client->uses++ > 0)) {
		return refuse_open(client);
	}
	client->error.text[0] = '\0';
	chi_dir_forget_damage();
	client->unknown.n = 0;
	client->unknown.used = CHI_UNKNOWN_OLD;
	return CHI_OK;
}

/* The first of a call goes to the other half of the texts: one half may be arguments of this call.
 */
void chi_client_tell_unknown(struct chi_client *client, const char *name)
{
	struct chi_unknown *unknown = &client->unknown;
	size_t size = name != NULL ? strlen(name) + 1 : 0;
	if (name == NULL) {
		unknown->n = 0;
		unknown->used = unknown->used != CHI_UNKNOWN_OLD ? 0 : CHI_UNKNOWN_OLD;
		return;
	}
	if (unknown->used == CHI_UNKNOWN_OLD) {
		unknown->used = 0;
		unknown->half = !unknown->half;
	}
	char *texts = unknown->texts[unknown->half];
	if (unknown->n < CHI_UNKNOWN_MAX && size <= sizeof(unknown->texts[0]) - unknown->used) {
		unknown->names[unknown->n++] = memcpy(texts + unknown->used, name, size);
		unknown->used += size;
	}
}

int chi_client_tell_progress(struct chi_client *client, unsigned thousandths)
{
	return client->progress == NULL ||
			       client->progress(client->progress_context, thousandths) == CHI_OK
		       ? CHI_OK
		       : -CHI_ECANCELED;
}

int chi_client_settle(struct chi_client *client, int status)
{
	return CHI_LIKELY(status == CHI_OK) ? client->backend->settle(client) : status;
}

int chi_client_can(struct chi_client *client, const struct chi_request *request)
{
	const struct chi_dir *store = client->inproc.store;
	bool counts = store != NULL && chi_dir_keep(store) == CHI_KEEP_COUNTS;
	return chi_op_check(request,
			    client->rados != NULL ? CHI_HOLDS_ON_RADOS
			    : counts		  ? CHI_HOLDS_COUNTS
						  : CHI_HOLDS_GAMES,
			    &client->error);
}

int chi_client_ready(struct chi_client *client, int status, enum chi_op op)
{
	const struct chi_request request = {.op = op};
	status = status == CHI_OK ? chi_client_can(client, &request) : status;
	return chi_client_settle(client, status);
}

int chi_client_fail(struct chi_client *client, int status)
{
	if (CHI_UNLIKELY(status < 0) && client->error.text[0] == '\0') {
		return chi_fail(&client->error, status, "%s", chi_dir_error(status));
	}
	return status;
}

static inline void empty_arena(struct chi_arena *arena)
{
	if (arena->blocks != NULL) {
		chi_arena_reset(arena);
	}
}

/* Inline, as probes end here: without a call where there is nothing to do. */
static inline void release_client(struct chi_client *client)
{
	if (CHI_UNLIKELY(--client->uses > 0)) {
		return;
	}
	empty_arena(&client->answer->arena);
	empty_arena(&client->answer->gathered);
	if (CHI_UNLIKELY(client->closing)) {
		chi_close(client);
	}
}

static inline int end_call(struct chi_client *client, int status)
{
	if (CHI_UNLIKELY(status < 0)) {
		bool nested = client->uses > 1 && (client->rows == NULL || client->in_next);
		status = nested ? status : chi_client_fail(client, status);
	}
	release_client(client);
	return status;
}

void chi_client_release(struct chi_client *client)
{
	release_client(client);
}

int chi_client_end(struct chi_client *client, int status)
{
	return end_call(client, status);
}

/* What the call worked in is the last answer now; what had the one before is emptied. */
int chi_client_answer(struct chi_client *client, int status)
{
	if (status == CHI_OK) {
		client->answer = &client->answers[client->answer == &client->answers[0]];
	}
	return end_call(client, status);
}

/* More is no size, but what lay there. */
#define SIZED_MAX 4096

int chi_take_sized(void *out, size_t size, const void *given, const char *name,
		   struct chi_fault *fault)
{
	const uint8_t *bytes = given;
	size_t theirs = 0;
	memcpy(&theirs, given, sizeof(theirs));
	if (theirs < sizeof(theirs) || theirs > SIZED_MAX) {
		return chi_fail(fault, -CHI_EINVAL,
				"%s has no size: begin it with its initialiser, CHI_..._INIT",
				name);
	}
	for (size_t i = size; i < theirs; i++) {
		if (bytes[i] != 0) {
			return chi_fail(fault, -CHI_EUNSUPPORTED,
					"%s asks for what this library does not know, at byte %zu",
					name, i);
		}
	}
	memset(out, 0, size);
	memcpy(out, given, theirs < size ? theirs : size);
	memcpy(out, &size, sizeof(size));
	return CHI_OK;
}

int chi_client_begin_with(struct chi_client *client, void *out, size_t size, const void *given,
			  const char *name)
{
	int status = chi_client_begin(client);
	return status == CHI_OK ? chi_take_sized(out, size, given, name, &client->error) : status;
}

/* Shape only (length, padding): cheap enough for probes, and all that the rooms below rely on. A
 * well-shaped key of no possible position is simply not stored. */
int chi_client_check_keys(const struct chi_key *keys, size_t n, struct chi_fault *fault)
{
	for (size_t i = 0; i < n; i++) {
		if (CHI_UNLIKELY(keys[i].len > CHI_KEY_MAX ||
				 !chi_key_shape_ok(keys[i].bytes, keys[i].len))) {
			return chi_fail(fault, -CHI_EKEY,
					"entry %zu: the bytes are not a position key", i);
		}
	}
	return CHI_OK;
}

/* The limits of a server hold in-process, too: a program must not find them only when it moves. */
int chi_client_check_batch(struct chi_client *client, size_t n, enum chi_durability durability)
{
	if (n > CHI_PUT_MAX) {
		return chi_fail(&client->error, -CHI_ETOOBIG,
				"%zu entries in one batch, at most %d are allowed", n, CHI_PUT_MAX);
	}
	if (durability != CHI_SYNC && durability != CHI_ASYNC) {
		return chi_fail(&client->error, -CHI_EINVAL, "durability %d is unknown",
				(int)durability);
	}
	return CHI_OK;
}

/* The rest of a put is checked where it is applied: in-process by the store, else by the server,
 * with the same rules. */
int chi_client_check_put(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
			 enum chi_durability durability)
{
	int status = chi_client_check_batch(client, n, durability);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		const struct chi_key *key = &entries[i].key;
		if (key->len > CHI_KEY_MAX || !chi_key_shape_ok(key->bytes, key->len)) {
			status = chi_fail(&client->error, -CHI_EKEY,
					  "entry %zu: the bytes are not a position key", i);
		}
	}
	return status;
}
