/* SPDX-License-Identifier: MIT */
/* Clients that have connected go to the workers, as many as the server takes. */
#include "daemon/net/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "daemon/access/certificate.h"
#include "daemon/net/net.h"
#include "proto/msg.h"
#include "service/log.h"

/* Over the limit: an answer without a request, so that the client knows why; one that expects TLS
 * could not read it. */
static void turn_away(struct chi_server *server, int fd, bool plain)
{
	static const char text[] = "too many connections";
	struct chi_response response = {
		.status = -CHI_EBUSY, .message = {text, sizeof(text) - 1}, .last = true};
	struct chi_buffer out;
	if (!server->full) {
		log_limited_warning("listen.full",
				    "refusing connections, '{peer}' first ({connections} are open)",
				    log_text("peer", chi_peer_name_of(fd, NULL).text),
				    log_number("connections", server->connections_max));
		server->full = true;
	}
	chi_counter_add(&server->turned_away, 1);
	chi_buffer_init(&out, 4096);
	if (plain && chi_response_pack(&response, &out) == CHI_OK) {
		ssize_t sent =
			send(fd, chi_buffer_bytes(&out), out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)sent;
	}
	chi_buffer_deinit(&out);
	close(fd);
}

static void take_client(void *owner, int fd, const struct chi_listen *listen)
{
	struct chi_server *server = owner;
	if (atomic_load(&server->connections) >= server->connections_max) {
		turn_away(server, fd, listen->kind != CHI_LISTEN_TLS);
		return;
	}
	struct chi_worker *worker = chi_spread_pick(server, listen->kind == CHI_LISTEN_TLS);
	server->full = false;
	chi_counter_add(&server->accepted, 1);
	atomic_fetch_add(&server->connections, 1);
	if (chi_worker_give(worker, fd, listen) < 0) {
		atomic_fetch_sub(&server->connections, 1);
		close(fd);
	}
}

const struct chi_listener_ops chi_server_door = {.take = take_client};
