/* SPDX-License-Identifier: MIT */
/*
 * A server that a test scripts: it accepts connections on a Unix socket one after the other, in a
 * thread of its own, and hands each to the script. It shows the client what no real server would
 * do at will: silence, garbage, answers out of order, ends at the wrong moment.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "chistore.h"
#include "proto/msg.h"

/* For call_ms: short where a test waits for a timeout, long where one must not happen. */
#define SHORT_MS 100
#define LONG_MS	 60000

struct server_conn {
	int fd;
	unsigned number; /* of the connection, from 0 */
	struct chi_arena arena;
	struct chi_buffer in;
	size_t taken;
	size_t piece; /* answers go out so many bytes at a time; 0: whole */
	size_t cut;   /* after so many bytes in all nothing more goes out; 0: no end */
	size_t sent;
	const struct chi_hello_limits *limits; /* that it tells; NULL: see server_greet */
};

/* Serves one connection; it is closed when the script returns. */
typedef void server_script(struct server_conn *conn);

struct server {
	char dir[64];
	char address[96];
	int fd;
	server_script *script;
	pthread_t thread;
	atomic_uint connections;
};

void server_start(struct server *server, server_script *script);
void server_stop(struct server *server);

/* The next request; false when the client closed. It lives until the next. */
bool server_next(struct server_conn *conn, struct chi_request *request);

/* Sends an answer, without a result's own struct one of zeros, or bytes as they are. A client that
 * is gone is no failure. */
void server_answer(struct server_conn *conn, const struct chi_response *response);
void server_send(struct server_conn *conn, const void *bytes, size_t len);

/* Waits for the Hello and answers it with one store, "default", and few positions of a probe.
 * False if the client closed. */
bool server_greet(struct server_conn *conn);

/* Reads until the client closes. */
void server_wait_end(struct server_conn *conn);

/* Answers a ping; answers a probe so that position i is found with chi2 = 1 + keys[i].bytes[7]. */
void server_pong(struct server_conn *conn, const struct chi_request *request);
void server_answer_probe(struct server_conn *conn, uint64_t id, const struct chi_key *keys,
			 size_t n);

/* A client of the server with this call_ms. */
struct chi_client *server_open(const struct server *server, uint32_t ms);
