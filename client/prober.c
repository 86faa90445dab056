/* SPDX-License-Identifier: MIT */
/*
 * Probing for engines. In this process every call is a few instructions around the store's own:
 * no part of a client's state is touched, so that each thread has all it needs in its prober. Over
 * a socket it has a connection of its own, and prefetched positions gather until one is collected.
 */
#include "client/core/client.h"
#include "client/remote/remote.h"

#include <stdlib.h>

#include "base/fault.h"
#include "chess/key.h"
#include "client/remote/connect.h"

/* What a 0 in chi_prober_options means, as chistore.h says. */
#define DEADLINE_MS 50
/* A server that was not there or did not answer is asked again after so many deadlines, but soon
 * enough to be there again when a person looks. */
#define PAUSE_DEADLINES 10
#define PAUSE_MOST_MS	1000

/* Of a prefetched position, over a socket. */
struct asked {
	uint64_t ticket; /* 0: none */
	bool answered;
	struct chi_key key;
	struct chi_row row;
};

struct chi_prober {
	struct chi_dir *store; /* in-process: a handle of its own, else NULL */
	struct chi_prefetch *prefetch;
	struct chi_read *held; /* the snapshot of look-ups, or NULL... */
	int64_t held_until;    /* ...in chi_tick_ms */
	uint32_t hold_ms;      /* how long; 0: for one call */
	bool force_netfs;
	struct chi_client *client; /* over a socket: a connection of its own, else NULL */
	uint64_t tickets;	   /* over a socket: given out so far */
	struct asked *asked;	   /* CHI_PREFETCH_MAX; ticket t in place t % CHI_PREFETCH_MAX */
	uint32_t deadline_ms;	   /* over a socket: of a call */
	int lost;		   /* over a socket: how the last call failed, if the server... */
	int64_t until;		   /* ...is not asked again before this time, in chi_now_ms */
	struct chi_fault why;	   /* its text */
	struct chi_fault error;
};

/* ---- Opening ----------------------------------------------------------------------------- */

static int open_remote(struct chi_prober *prober, const struct chi_client *client,
		       struct chi_fault *fault)
{
	prober->asked = calloc(CHI_PREFETCH_MAX, sizeof(*prober->asked));
	if (prober->asked == NULL) {
		return -CHI_ENOMEM;
	}
	int status = chi_open(client->text, &client->options, &prober->client, fault);
	if (status == CHI_OK && prober->client->peer == NULL) {
		/* On RADOS the connection is shared, and a call waits by itself. */
		prober->client->options.call_ms = prober->deadline_ms;
	} else if (status == CHI_OK) {
		/* Opening may take its time; from here on the engine's clock runs. */
		struct chi_options *options = &prober->client->options;
		options->connect_ms = prober->deadline_ms;
		options->call_ms = prober->deadline_ms;
		options->repeat_ms = CHI_NO_REPEAT;
		chi_connect_keep(prober->client->peer->fd, &prober->client->address);
	}
	return status;
}

static int open_local(struct chi_prober *prober, const struct chi_client *client,
		      struct chi_fault *fault)
{
	prober->force_netfs = client->options.force_netfs;
	if (prober->hold_ms > CHI_HOLD_MS_MAX) {
		return chi_fail(fault, -CHI_EINVAL,
				"a prober holds a state for %u ms at most, not for %u",
				CHI_HOLD_MS_MAX, prober->hold_ms);
	}
	int status = chi_dir_share(client->inproc.store, &prober->store);
	return status == CHI_OK ? chi_prefetch_open(prober->store, &prober->prefetch) : status;
}

int chi_prober_open(struct chi_client *client, const struct chi_prober_options *options,
		    struct chi_prober **out)
{
	*out = NULL;
	struct chi_prober_options own = {.deadline_ms = 0};
	int status =
		options != NULL ? CHI_BEGIN_WITH(client, &own, options) : chi_client_begin(client);
	struct chi_prober *prober = calloc(1, sizeof(*prober));
	if (status == CHI_OK && prober == NULL) {
		status = -CHI_ENOMEM;
	}
	if (status == CHI_OK) {
		prober->deadline_ms = own.deadline_ms != 0 ? own.deadline_ms : DEADLINE_MS;
		prober->hold_ms = own.hold_ms;
		status = client->address.kind == CHI_ADDRESS_DIR
				 ? open_local(prober, client, &client->error)
				 : open_remote(prober, client, &client->error);
	}
	if (status != CHI_OK) {
		chi_prober_close(prober);
		prober = NULL;
	}
	*out = prober;
	return chi_client_end(client, status);
}

void chi_prober_close(struct chi_prober *prober)
{
	if (prober == NULL) {
		return;
	}
	chi_prober_release(prober);
	chi_prefetch_close(prober->prefetch);
	chi_dir_close(prober->store);
	chi_close(prober->client);
	free(prober->asked);
	free(prober);
}

const char *chi_prober_error(const struct chi_prober *prober)
{
	return prober->error.text;
}

/* ---- What the calls share ------------------------------------------------------------------ */

/* A failure that has no text yet gets its own. */
static int end_call(struct chi_prober *prober, int status)
{
	if (CHI_UNLIKELY(status < 0) && prober->error.text[0] == '\0') {
		return chi_fault_plain(&prober->error, status);
	}
	return status;
}

/* What is stored is a key, so that only others are checked. */
static int check_rows(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		      const struct chi_row *rows)
{
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].found && CHI_UNLIKELY(!chi_key_shape_ok(keys[i].bytes, keys[i].len))) {
			return chi_client_check_keys(keys, n, &prober->error);
		}
	}
	return CHI_OK;
}

void chi_prober_release(struct chi_prober *prober)
{
	chi_read_end(prober->held);
	prober->held = NULL;
}

/* The snapshot that is held, or a new one when it is too old. */
static int begin_held(struct chi_prober *prober, struct chi_read **out)
{
	int64_t now = chi_tick_ms();
	if (prober->held != NULL && now >= prober->held_until) {
		chi_prober_release(prober);
	}
	if (CHI_LIKELY(prober->held != NULL)) {
		*out = prober->held;
		return chi_read_check(prober->held);
	}
	int status = chi_read_begin(prober->store, out);
	if (status == CHI_OK) {
		prober->held = *out;
		prober->held_until = now + prober->hold_ms;
	}
	return status;
}

/* A snapshot that failed is not kept. */
static void end_read(struct chi_prober *prober, struct chi_read *read, int status)
{
	if (read != prober->held) {
		chi_read_end(read);
	} else if (status < 0) {
		chi_prober_release(prober);
	}
}

/* One state's answers, in this process. */
static int probe_local(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		       struct chi_row *out)
{
	struct chi_read *read;
	int status = prober->hold_ms == 0 ? chi_read_begin(prober->store, &read)
					  : begin_held(prober, &read);
	if (CHI_UNLIKELY(status != CHI_OK)) {
		return status;
	}
	status = n == 1 ? chi_read_row(read, keys, out) : chi_read_rows(read, keys, n, out);
	end_read(prober, read, status);
	if (CHI_UNLIKELY(status < 0)) {
		return status == -CHI_EKEY ? chi_client_check_keys(keys, n, &prober->error)
					   : status;
	}
	return check_rows(prober, keys, n, out);
}

/* A server that does not answer costs each call its deadline: after such a call the next ones fail
 * at once, for some deadlines, so that a search goes on without it. */
static int probe_remote(struct chi_prober *prober, const struct chi_key *keys, size_t n,
			struct chi_row *out)
{
	if (prober->lost != CHI_OK && chi_now_ms() < prober->until) {
		prober->error = prober->why;
		return prober->lost;
	}
	uint64_t requests = (n + CHI_PROBE_MAX - 1) / CHI_PROBE_MAX;
	uint64_t ms = prober->deadline_ms * requests;
	prober->client->deadline_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
	int status = chi_probe(prober->client, keys, n, out);
	bool lost = status == -CHI_ECONNECT || status == -CHI_ETIMEOUT;
	prober->lost = lost ? status : CHI_OK;
	if (status < 0) {
		prober->error = prober->client->error;
	}
	if (lost) {
		uint64_t pause = (uint64_t)prober->deadline_ms * PAUSE_DEADLINES;
		prober->until =
			chi_now_ms() + (int64_t)(pause < PAUSE_MOST_MS ? pause : PAUSE_MOST_MS);
		prober->why = prober->error;
	}
	return status;
}

static int probe(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		 struct chi_row *out)
{
	return end_call(prober, CHI_LIKELY(prober->store != NULL)
					? probe_local(prober, keys, n, out)
					: probe_remote(prober, keys, n, out));
}

/* ---- Probing ----------------------------------------------------------------------------- */

int chi_prober_key(struct chi_prober *prober, const struct chi_key *key, struct chi_row *out)
{
	prober->error.text[0] = '\0';
	return probe(prober, key, 1, out);
}

int chi_prober_board(struct chi_prober *prober, const struct chi_board *board, struct chi_row *out)
{
	struct chi_key key;
	prober->error.text[0] = '\0';
	int status = chi_key_from_board(board, &key, &prober->error);
	return CHI_LIKELY(status == CHI_OK) ? probe(prober, &key, 1, out) : status;
}

int chi_prober_many(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		    struct chi_row *out)
{
	prober->error.text[0] = '\0';
	return n > 0 ? probe(prober, keys, n, out) : CHI_OK;
}

/* ---- Ahead of time ------------------------------------------------------------------------- */

/* Over a socket a ticket is a place in a list, until the first answer is wanted. */
static void ask_later(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		      uint64_t *tickets)
{
	for (size_t i = 0; i < n; i++) {
		tickets[i] = i < CHI_PREFETCH_MAX ? ++prober->tickets : 0;
		if (tickets[i] != 0) {
			prober->asked[tickets[i] % CHI_PREFETCH_MAX] =
				(struct asked){.ticket = tickets[i], .key = keys[i]};
		}
	}
}

static int ask_keys(struct chi_prober *prober, const struct chi_key *keys, size_t n,
		    uint64_t *tickets)
{
	if (CHI_LIKELY(prober->prefetch != NULL)) {
		return end_call(prober, chi_prefetch_ask(prober->prefetch, keys, n, tickets));
	}
	ask_later(prober, keys, n, tickets);
	return CHI_OK;
}

int chi_prober_prefetch(struct chi_prober *prober, const struct chi_key *keys, size_t n,
			uint64_t *tickets)
{
	prober->error.text[0] = '\0';
	int status = chi_client_check_keys(keys, n, &prober->error);
	if (CHI_LIKELY(status == CHI_OK && n > 0)) {
		status = ask_keys(prober, keys, n, tickets);
	}
	for (size_t i = 0; status != CHI_OK && i < n; i++) {
		tickets[i] = 0;
	}
	return status;
}

/* All positions that wait for an answer, in one request. */
static int ask_server(struct chi_prober *prober)
{
	struct chi_key keys[CHI_PREFETCH_MAX];
	struct chi_row rows[CHI_PREFETCH_MAX];
	size_t places[CHI_PREFETCH_MAX];
	size_t n = 0;
	for (size_t i = 0; i < CHI_PREFETCH_MAX; i++) {
		if (prober->asked[i].ticket != 0 && !prober->asked[i].answered) {
			keys[n] = prober->asked[i].key;
			places[n++] = i;
		}
	}
	int status = probe(prober, keys, n, rows);
	for (size_t i = 0; i < n && status == CHI_OK; i++) {
		prober->asked[places[i]].row = rows[i];
		prober->asked[places[i]].answered = true;
	}
	return status;
}

static int collect_remote(struct chi_prober *prober, uint64_t ticket, struct chi_row *out)
{
	struct asked *asked = &prober->asked[ticket % CHI_PREFETCH_MAX];
	*out = (struct chi_row){0};
	if (ticket == 0 || asked->ticket != ticket) {
		return CHI_NONE;
	}
	int status = asked->answered ? CHI_OK : ask_server(prober);
	if (status == -CHI_ECORRUPT) {
		/* One of them is damaged, and each is to fail for itself alone. */
		prober->error.text[0] = '\0';
		status = probe(prober, &asked->key, 1, &asked->row);
	}
	if (status == CHI_OK) {
		*out = asked->row;
	}
	asked->ticket = 0;
	return status;
}

int chi_prober_collect(struct chi_prober *prober, uint64_t ticket, struct chi_row *out)
{
	prober->error.text[0] = '\0';
	if (CHI_LIKELY(prober->prefetch != NULL)) {
		return end_call(prober, chi_prefetch_take(prober->prefetch, ticket, out));
	}
	return collect_remote(prober, ticket, out);
}

/* Opens what is at the path now if it is another store, and gives up what was open. */
static int move_over(struct chi_prober *prober, bool *moved)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ,
						.force_netfs = prober->force_netfs};
	struct chi_dir *store = NULL;
	int status = chi_dir_follow(prober->store, &options, &store, &prober->error);
	*moved = store != NULL;
	if (*moved) {
		chi_prober_release(prober);
		chi_prefetch_move(prober->prefetch, store);
		chi_dir_close(prober->store);
		prober->store = store;
	}
	return status;
}

int chi_prober_follow(struct chi_prober *prober, bool *moved)
{
	*moved = false;
	prober->error.text[0] = '\0';
	return prober->store == NULL ? CHI_OK : end_call(prober, move_over(prober, moved));
}

void chi_prober_drop(struct chi_prober *prober)
{
	if (prober->prefetch != NULL) {
		chi_prefetch_drop(prober->prefetch);
		return;
	}
	for (size_t i = 0; i < CHI_PREFETCH_MAX; i++) {
		prober->asked[i].ticket = 0;
	}
}
