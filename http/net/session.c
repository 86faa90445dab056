/* SPDX-License-Identifier: MIT */
#include "http/net/session.h"

#include <string.h>
#include <time.h>

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

int place_open(struct http_place *place, const struct http_config *config, struct chi_fault *fault)
{
	place->config = config;
	(void)pthread_mutex_init(&place->lock, NULL);
	return config->in_process
		       ? open_client(config, config->address, config->query_ms, &place->head, fault)
		       : CHI_OK;
}

void place_close(struct http_place *place)
{
	if (place->config != NULL) {
		chi_close(place->head);
		(void)pthread_mutex_destroy(&place->lock);
	}
}

/* Only the main thread exchanges the head. */
static int look_at_address(struct http_place *place, bool *changed, struct chi_info *is,
			   struct chi_fault *fault)
{
	(void)pthread_mutex_lock(&place->lock);
	int status = chi_store_changed(place->head, changed);
	if (status == CHI_OK && *changed) {
		status = chi_store_info(place->head, is);
	}
	if (status < 0) {
		(void)chi_fail(fault, status, "%s", chi_error(place->head));
	}
	(void)pthread_mutex_unlock(&place->lock);
	return status;
}

static int open_newest(struct http_place *place, struct chi_client **out, struct chi_info *is,
		       struct chi_fault *fault)
{
	const struct http_config *config = place->config;
	bool changed = false;
	int status = open_client(config, config->address, config->query_ms, out, fault);
	if (status < 0) {
		return status;
	}
	status = chi_store_changed(*out, &changed);
	if (status == CHI_OK && !changed) {
		status = chi_store_info(*out, is);
	}
	if (status < 0) {
		(void)chi_fail(fault, status, "%s", chi_error(*out));
	} else if (changed) {
		/* What was opened are the open files again. */
		status = chi_fail(fault, -CHI_ESTALE,
				  "a file was replaced while this process has the store open: "
				  "start it again");
	}
	if (status < 0) {
		chi_close(*out);
		*out = NULL;
	}
	return status;
}

static void exchange_head(struct http_place *place, struct chi_client *newest)
{
	(void)pthread_mutex_lock(&place->lock);
	struct chi_client *old = place->head;
	place->head = newest;
	atomic_fetch_add(&place->moves.count, 1);
	(void)pthread_mutex_unlock(&place->lock);
	atomic_store(&place->moves.last_s, (uint64_t)time(NULL));
	chi_close(old);
}

static struct chi_moves_copy describe_copy(const struct chi_info *info)
{
	struct chi_moves_copy copy = {.sequence = info->sequence};
	memcpy(copy.store, info->uuid, sizeof(copy.store));
	return copy;
}

/* CHI_NONE: the address leads to the open files. */
static int move_place(struct http_place *place, struct chi_fault *cause)
{
	struct chi_client *newest = NULL;
	struct chi_info was = {0};
	struct chi_info is = {0};
	bool changed = false;
	int status = look_at_address(place, &changed, &was, cause);
	if (status == CHI_OK && changed) {
		status = open_newest(place, &newest, &is, cause);
	}
	if (status < 0 || !changed) {
		return status < 0 ? status : CHI_NONE;
	}
	exchange_head(place, newest);
	const struct chi_moves_copy from = describe_copy(&was);
	const struct chi_moves_copy to = describe_copy(&is);
	chi_moves_log(place->config->address, &from, &to);
	return CHI_OK;
}

bool place_look(struct http_place *place, bool again)
{
	struct chi_fault cause = {{0}};
	if (!place->config->in_process) {
		return false;
	}
	int status = move_place(place, &cause);
	if (status < 0) {
		chi_moves_refuse(&place->moves, place->config->address, &cause, again);
	} else {
		place->moves.refused.text[0] = '\0';
	}
	chi_counter_add(&place->moves.looks, 1);
	return status == CHI_OK;
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
