/* SPDX-License-Identifier: MIT */
#include "tests/daemon/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/ops/handler.h"
#include "proto/wire/frame.h"
#include "tests/store/trees.h"

#define POSITIONS 500 /* of the store "default" */
#define TURNS_MAX 1000

struct chi_config loop_config;
struct chi_server *loop_server;
struct chi_worker *loop_worker;

static struct chi_served_copy copies[2];
static struct chi_key keys[POSITIONS];
static struct chi_key large[LOOP_LARGE];
static const struct chi_listen listen_here = {.kind = CHI_LISTEN_UNIX, .role = CHI_ROLE_ADMIN};

int loop_init(void **state)
{
	(void)state;
	chi_config_init(&loop_config);
	loop_server = calloc(1, sizeof(*loop_server));
	assert_non_null(loop_server);
	loop_server->config = &loop_config;
	loop_server->ops = &chi_worker_ops;
	loop_server->n_stores = 2;
	loop_server->stores[0] = (struct chi_served){
		.server = loop_server,
		.name = "default",
		.copy = &copies[0],
	};
	loop_server->stores[1] = loop_server->stores[0];
	loop_server->stores[1].name = "large";
	loop_server->stores[1].copy = &copies[1];
	copies[0].store = help_store("turns", CHI_STATISTIC_EXTERNAL);
	copies[1].store = help_store("large", CHI_STATISTIC_EXTERNAL);
	trees_keys(large, LOOP_LARGE);
	trees_fill(copies[1].store, large, LOOP_LARGE, false);
	help_keys(keys, POSITIONS);
	help_fill(copies[0].store, keys, POSITIONS);
	ok(chi_guard_init(&loop_server->guard, &loop_config, &fault));
	ok(chi_worker_new(loop_server, 0, &loop_worker, &fault));
	return 0;
}

int loop_deinit(void **state)
{
	(void)state;
	chi_worker_free(loop_worker);
	chi_dir_close(copies[0].store);
	chi_dir_close(copies[1].store);
	free(loop_server);
	help_clean();
	return 0;
}

void loop_turn(void)
{
	chi_loop_turn(&loop_worker->loop, false);
}

void loop_pack(struct chi_buffer *out, const struct chi_request *request)
{
	assert_int_equal(chi_request_pack(request, out), CHI_OK);
}

void loop_pack_probe(struct chi_buffer *out, uint64_t id)
{
	const struct chi_positions asked = {.keys = &keys[id % POSITIONS], .n = 1};
	const struct chi_request request = {.id = id, .op = CHI_OP_PROBE, .body = &asked};
	loop_pack(out, &request);
}

void loop_send(const struct loop_client *client, struct chi_buffer *out)
{
	ssize_t n = send(client->fd, chi_buffer_bytes(out), out->len, 0);
	assert_int_equal(n, out->len);
	chi_buffer_deinit(out);
}

void loop_send_probes(const struct loop_client *client, unsigned n)
{
	struct chi_buffer out;
	chi_buffer_init(&out, 1 << 20);
	for (unsigned i = 1; i <= n; i++) {
		loop_pack_probe(&out, i);
	}
	loop_send(client, &out);
}

size_t loop_take(struct loop_client *client)
{
	const uint8_t *body = NULL;
	size_t body_len = 0;
	size_t len = 0;
	uint8_t bytes[65536];
	ssize_t n = 0;
	while ((n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		assert_int_equal(chi_buffer_append(&client->in, bytes, (size_t)n), CHI_OK);
	}
	while (chi_frame_take(chi_buffer_bytes(&client->in), client->in.len, CHI_FRAME_RESPONSE_MAX,
			      &body, &body_len, &len) == CHI_OK) {
		chi_buffer_consume(&client->in, len);
		client->answers++;
		client->bytes += len;
	}
	return client->answers;
}

void loop_connect(struct loop_client *client)
{
	int fds[2];
	*client = (struct loop_client){0};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	client->fd = fds[0];
	chi_buffer_init(&client->in, (size_t)16 << 20);
	atomic_fetch_add(&loop_server->connections, 1);
	atomic_fetch_add(&loop_worker->n_conns, 1);
	chi_conn_new(loop_worker, fds[1], &listen_here);
}

void loop_enter(struct loop_client *client)
{
	struct chi_buffer out;
	struct chi_request hello = {.id = 1, .op = CHI_OP_HELLO};
	hello.u.hello.version = CHI_PROTOCOL_VERSION;
	loop_connect(client);
	chi_buffer_init(&out, 4096);
	loop_pack(&out, &hello);
	loop_send(client, &out);
	loop_turn();
	assert_int_equal(loop_take(client), 1);
	client->answers = 0;
	client->bytes = 0;
}

void loop_leave(struct loop_client *client)
{
	close(client->fd);
	chi_buffer_deinit(&client->in);
}

void loop_all_left(void)
{
	for (unsigned i = 0; loop_worker->n_conns > 0; i++) {
		assert_in_range(i, 0, TURNS_MAX);
		loop_turn();
	}
}
