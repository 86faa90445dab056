/* SPDX-License-Identifier: MIT */
/* A store that was replaced is noticed within a second. */
#include "http/net/session.h"

#include "base/clock.h"
#include "base/fault.h"
#include "http/net/config.h"

#define CHECK_MS 1000

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

int session_open(struct session *session, const struct http_config *config, struct chi_fault *fault)
{
	*session = (struct session){.config = config, .checked_ms = chi_now_ms(), .opened = 1};
	return open_client(config, config->address, config->query_ms, &session->client, fault);
}

void session_close(struct session *session)
{
	chi_close(session->client);
	chi_close(session->writer);
	session->client = NULL;
	session->writer = NULL;
}

int session_ready(struct session *session, struct chi_fault *fault)
{
	int64_t now = chi_now_ms();
	bool changed = false;
	if (session->client != NULL && now - session->checked_ms < CHECK_MS) {
		return CHI_OK;
	}
	session->checked_ms = now;
	if (session->client != NULL && session->config->in_process) {
		int status = chi_store_changed(session->client, &changed);
		if (status == CHI_OK && !changed) {
			return CHI_OK;
		}
		chi_close(session->client);
		session->client = NULL;
	}
	if (session->client != NULL) {
		return CHI_OK;
	}
	session->opened++;
	return open_client(session->config, session->config->address, session->config->query_ms,
			   &session->client, fault);
}

void session_doubt(struct session *session)
{
	session->checked_ms = chi_now_ms() - CHECK_MS;
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
