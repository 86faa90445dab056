/* SPDX-License-Identifier: MIT */
#include "http/net/session.h"

#include <string.h>

#include "base/fault.h"
#include "http/net/config.h"

/* 0 ms: the usual patience, which writes take: one may wait for another's. */
static int open_client(const struct http_config *config, const char *address, uint64_t call_ms,
		       struct chi_client **out, struct chi_fault *fault)
{
	const struct chi_options options = {
		CHI_OPTIONS_INIT,
		.store = config->store,
		.token_file = config->token_file,
		.tls_ca = config->tls_ca,
		.tls_cert = config->tls_cert,
		.tls_key = config->tls_key,
		.client_name = "chistore-http",
		.repeat_ms = 2000,
		.call_ms = (uint32_t)call_ms,
	};
	return chi_open(address, &options, out, fault);
}

/* ---- The place --------------------------------------------------------------------------- */

static int open_place(struct http_place *place, struct chi_fault *fault)
{
	const struct http_config *config = place->config;
	int status = open_client(config, config->address, config->query_ms, &place->head, fault);
	if (status == CHI_OK && chi_open_again(place->head, &place->looker) < 0) {
		status = chi_fail(fault, -CHI_ENOMEM, "%s", chi_error(place->head));
	}
	return status;
}

int place_open(struct http_place *place, const struct http_config *config, struct chi_fault *fault)
{
	place->config = config;
	(void)pthread_mutex_init(&place->lock, NULL);
	return config->in_process ? open_place(place, fault) : CHI_OK;
}

void place_close(struct http_place *place)
{
	if (place->config != NULL) {
		chi_close(place->looker);
		chi_close(place->head);
		(void)pthread_mutex_destroy(&place->lock);
	}
}

static int describe_copy(struct chi_client *client, struct chi_moves_copy *out)
{
	struct chi_info info = {0};
	int status = chi_store_info(client, &info);
	*out = (struct chi_moves_copy){.sequence = info.sequence,
				       .statistic = chi_statistic_name(info.statistic),
				       .games = info.keep == CHI_KEEP_GAMES};
	memcpy(out->store, info.uuid, sizeof(out->store));
	return status;
}

/* Takes both clients of the new copy in every case. */
static bool exchange_copy(struct http_place *place, struct chi_client *head,
			  struct chi_client *looker)
{
	(void)pthread_mutex_lock(&place->lock);
	bool stays = chi_moves_ends(&place->moves);
	struct chi_client *left = stays ? head : place->head;
	if (!stays) {
		place->head = head;
		atomic_fetch_add(&place->moves.count, 1);
	}
	(void)pthread_mutex_unlock(&place->lock);
	chi_close(left);
	chi_close(stays ? looker : place->looker);
	place->looker = stays ? place->looker : looker;
	return !stays;
}

/* A copy that cannot be read is not moved to; one that cannot be read any more is left. */
static int move_place(struct http_place *place, struct chi_client *newest, struct chi_fault *cause)
{
	struct chi_moves_copy was;
	struct chi_moves_copy is;
	struct chi_client *looker = NULL;
	int status = describe_copy(newest, &is);
	status = status == CHI_OK ? chi_open_again(newest, &looker) : status;
	if (status < 0) {
		(void)chi_fail(cause, status, "%s", chi_error(newest));
		chi_close(newest);
		return status;
	}
	(void)describe_copy(place->looker, &was);
	if (!exchange_copy(place, newest, looker)) {
		return CHI_NONE;
	}
	chi_moves_done(&place->moves, &was, &is);
	return CHI_OK;
}

int place_look(struct http_place *place, struct chi_fault *cause)
{
	struct chi_client *newest = NULL;
	int status = chi_open_newest(place->looker, &newest);
	if (status < 0) {
		struct chi_info info;
		(void)chi_fail(cause, status, "%s", chi_error(place->looker));
		atomic_store(&place->stale, status == -CHI_ESTALE &&
						    chi_store_info(place->looker, &info) == status);
		return status;
	}
	return newest == NULL ? CHI_NONE : move_place(place, newest, cause);
}

/* ---- Sessions ---------------------------------------------------------------------------- */

void session_init(struct session *session, struct http_place *place)
{
	*session = (struct session){.config = place->config, .place = place};
}

void session_close(struct session *session)
{
	chi_close(session->client);
	chi_close(session->writer);
	session->client = NULL;
	session->writer = NULL;
}

/* The copy that is served, whatever the address leads to. */
static int go_over(struct session *session, struct chi_fault *fault)
{
	struct http_place *place = session->place;
	struct chi_client *client = NULL;
	(void)pthread_mutex_lock(&place->lock);
	uint64_t moves = atomic_load(&place->moves.count);
	int status = chi_open_again(place->head, &client);
	if (status < 0) {
		(void)chi_fail(fault, status, "%s", chi_error(place->head));
	}
	(void)pthread_mutex_unlock(&place->lock);
	if (status == CHI_OK) {
		chi_close(session->client);
		session->client = client;
		session->moves = moves;
	}
	return status;
}

int session_ready(struct session *session, struct chi_fault *fault)
{
	const struct http_config *config = session->config;
	if (session_is_current(session)) {
		return CHI_OK;
	}
	return config->in_process ? go_over(session, fault)
				  : open_client(config, config->address, config->query_ms,
						&session->client, fault);
}

int session_writer(struct session *session, struct chi_client **out, struct chi_fault *fault)
{
	int status = CHI_OK;
	if (session->config->write_to == NULL) {
		return chi_fail(fault, -CHI_EREADONLY,
				"this server only reads: it was started without --write-to");
	}
	if (session->writer == NULL) {
		status = open_client(session->config, session->config->write_to, 0,
				     &session->writer, fault);
	}
	*out = session->writer;
	return status;
}
