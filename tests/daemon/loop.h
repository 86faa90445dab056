/* SPDX-License-Identifier: MIT */
/*
 * A worker without its thread, whose turns a test takes one by one, and clients of it in the same
 * process. One of them at a time; from one thread.
 */
#pragma once

#include "base/attr.h"
#include "base/buffer.h"
#include "daemon/net/net.h"
#include "daemon/settings/limits.h"
#include "daemon/net/server.h"
#include "tests/base/cases.h"

#define LOOP_LARGE 120000 /* positions of the store "large": many turns to look at each */

struct loop_client {
	int fd;
	struct chi_buffer in; /* an answer that is not whole */
	size_t answers;
	size_t bytes; /* of theirs */
};

extern struct chi_config loop_config; /* the defaults; changes hold at once */
extern struct chi_server *loop_server;
extern struct chi_worker *loop_worker;

/* For cmocka: the worker, with the stores "default" and "large". */
int loop_init(void **state);
int loop_deinit(void **state);

/* One turn: what can be read is read, served and answered. Waits for nothing. */
void loop_turn(void);

/* Connects, without a word; the second says hello, too, and takes the answer. */
void loop_connect(struct loop_client *client);
void loop_enter(struct loop_client *client);
void loop_leave(struct loop_client *client);

/* Takes turns until all are gone who have left. */
void loop_all_left(void);

/* Appends a request, one of number `id` for a position of "default". */
void loop_pack(struct chi_buffer *out, const struct chi_request *request);
void loop_pack_probe(struct chi_buffer *out, uint64_t id);

/* Sends all of it, and frees the buffer. */
void loop_send(const struct loop_client *client, struct chi_buffer *out);
void loop_send_probes(const struct loop_client *client, unsigned n);

/* Takes what answers have come, and says how many there have been so far. */
size_t loop_take(struct loop_client *client);
