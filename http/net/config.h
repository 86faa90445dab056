/* SPDX-License-Identifier: MIT */
/* What chistore-http is started with, all from the command line; defaults in config.c, meaning in
 * chistore-http(8). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"
#include "service/listen.h"
#include "service/options.h"
#include "service/net/peer.h"

#define HTTP_THREADS_MAX 64
#define HTTP_NAMES_MAX	 16

/* Texts point into argv. */
struct http_config {
	const char *address;  /* of the store */
	bool in_process;      /* a directory's: reading does not wait for another process */
	const char *store;    /* name on a daemon; NULL: its default */
	const char *write_to; /* a daemon's address; NULL: nothing is written */
	const char *token_file;
	const char *tls_ca;
	const char *tls_cert;
	const char *tls_key;
	bool public_read;		   /* any client may read */
	const char *hosts[HTTP_NAMES_MAX]; /* names of this server */
	size_t n_hosts;
	struct chi_peer_address proxies[HTTP_NAMES_MAX]; /* that are trusted */
	size_t n_proxies;
	const char *web; /* directory of the page */
	struct chi_server_settings server;
	uint64_t threads; /* loops */
	uint64_t workers; /* threads for answers that take long */
	uint64_t connections;
	uint64_t waiting;     /* calls that wait for a worker */
	uint64_t body_bytes;  /* of a request, */
	uint64_t large_bytes; /* of an import */
	uint64_t head_ms;     /* for a head to arrive, from its first byte; for a body, a MiB */
	uint64_t idle_ms;     /* a connection without a request */
	uint64_t send_ms;     /* without the client reading */
	uint64_t query_ms;    /* for an answer to be made */
	uint64_t stop_ms;     /* for answers to be read at the end */
	uint64_t cache_bytes; /* of answers kept, by each loop */
};

void http_config_init(struct http_config *config);

extern const struct chi_option_table http_config_options;

/* Checks what no option can tell alone, and computes the rest. */
CHI_MUSTUSE int http_config_check(void *config, struct chi_fault *fault);
