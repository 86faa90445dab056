/* SPDX-License-Identifier: MIT */
/*
 * Sockets are bound first, which may take root; then the server becomes its user, reads the page,
 * opens the store, locks itself in and serves.
 */
#include "http/serve.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "http/jail.h"
#include "http/net/server.h"
#include "http/routes.h"
#include "service/events.h"
#include "service/log.h"
#include "store/store.h"

/* A copy that was replaced is noticed within so long. */
#define LOOK_MS 1000

static int look_at_place(void *context, struct chi_fault *cause)
{
	struct http_server *server = context;
	int status = place_look(&server->place, cause);
	if (status == CHI_OK) {
		for (size_t i = 0; i < server->n_loops; i++) {
			loop_go_over(server->loops[i]);
		}
		pool_go_over(&server->pool);
	}
	return status;
}

static void on_look(evutil_socket_t fd, short what, void *context)
{
	struct http_server *server = context;
	(void)fd;
	(void)what;
	if (atomic_load(&server->place.stale)) {
		/* Started again, it opens what is there. */
		log_error("store.stale",
			  "stopping: the files of the store at '{path}' were replaced",
			  log_text("path", server->config->address));
		event_base_loopbreak(server->main.base);
		return;
	}
	chi_moves_tick(&server->place.moves);
}

static void reload(void *context)
{
	struct http_server *server = context;
	(void)chi_rules_reload(&server->rules);
	chi_moves_ask(&server->place.moves);
}

static const char *path_of(const struct http_config *config)
{
	return config->address + (strncmp(config->address, "file:", 5) == 0 ? 5 : 0);
}

static int start_looking(struct http_server *server, struct chi_fault *fault)
{
	const struct timeval period = chi_event_ms(LOOK_MS);
	if (!server->config->in_process) {
		return CHI_OK;
	}
	server->look = event_new(server->main.base, -1, EV_PERSIST, on_look, server);
	if (server->look == NULL || event_add(server->look, &period) < 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a timer");
	}
	return chi_moves_start(&server->place.moves, path_of(server->config), look_at_place, server,
			       fault);
}

/* ---- Start and stop ---------------------------------------------------------------------- */

static int bind_sockets(struct http_server *server, struct chi_fault *fault)
{
	const struct http_config *config = server->config;
	const struct chi_binding how = {
		.listens = config->server.listens,
		.n = config->server.n_listens,
		.user = &config->server.user,
		.output_ms = config->send_ms,
		.http = true,
		.shared = true,
		.local = config->public_read || config->server.access_path != NULL
				 ? NULL
				 : ": --public-read lets any client read, --access those with a "
				   "token",
	};
	struct chi_passed_list passed = config->server.passed;
	int status = chi_sockets_open(&server->sockets[0], &how, &passed, fault);
	for (size_t i = 1; i < config->threads && status == CHI_OK; i++) {
		status = chi_sockets_share(&server->sockets[0], &server->sockets[i], fault);
	}
	return status;
}

static int make_loops(struct http_server *server, struct chi_fault *fault)
{
	int status = CHI_OK;
	for (size_t i = 0; i < server->config->threads && status == CHI_OK; i++) {
		status = loop_new(server, &server->sockets[i], &server->loops[i], fault);
		if (status == CHI_OK) {
			chi_main_loop_watch(&server->main, &server->loops[i]->turns);
			server->n_loops++;
		}
	}
	return status;
}

static int bind_and_become(struct http_server *server, struct chi_fault *fault)
{
	const struct chi_user *user = &server->config->server.user;
	int status = chi_user_can(user, fault);
	status = status == CHI_OK ? bind_sockets(server, fault) : status;
	status = status == CHI_OK ? chi_user_become(user, chi_log_descriptor(), fault) : status;
	status = status == CHI_OK ? routes_init(server, fault) : status;
	status = status == CHI_OK ? place_open(&server->place, server->config, fault) : status;
	return status == CHI_OK ? make_loops(server, fault) : status;
}

/* A store behind a socket is asked once, so that a wrong address is known at the start. */
static int try_store(struct http_server *server, struct chi_fault *fault)
{
	struct session session;
	if (server->config->in_process) {
		return CHI_OK;
	}
	session_init(&session, &server->place);
	int status = session_ready(&session, fault);
	session_close(&session);
	return status;
}

static int start_server(struct http_server *server, struct chi_fault *fault)
{
	const struct chi_server_settings *settings = &server->config->server;
	int status = chi_rules_open(&server->rules, settings->access_path,
				    settings->user.given ? settings->user.uid : geteuid(), fault);
	status = status == CHI_OK ? chi_main_loop_init(&server->main, reload, server, fault)
				  : status;
	status = status == CHI_OK ? bind_and_become(server, fault) : status;
	status = status == CHI_OK ? try_store(server, fault) : status;
	status = status == CHI_OK ? jail_enter(server, fault) : status;
	if (status == CHI_OK && server->config->write_to != NULL) {
		status = unknown_start(server->config, &server->unknown, fault);
	}
	status = status == CHI_OK ? pool_start(&server->pool, server, fault) : status;
	status = status == CHI_OK ? start_looking(server, fault) : status;
	for (size_t i = 0; status == CHI_OK && i < server->n_loops; i++) {
		status = loop_start(server->loops[i], fault);
	}
	return status;
}

/* Answers under way are sent; what takes longer than --stop-timeout is cut off. False: a look at
 * the store's path hangs, and what that uses is left as it is. */
static bool stop(struct http_server *server)
{
	chi_moves_end(&server->place.moves);
	for (size_t i = 0; i < server->n_loops; i++) {
		chi_loop_leave(&server->loops[i]->turns, server->config->stop_ms);
	}
	for (size_t i = 0; i < server->n_loops; i++) {
		chi_loop_join(&server->loops[i]->turns);
	}
	bool ended = chi_moves_join(&server->place.moves);
	pool_stop(&server->pool);
	unknown_stop(server->unknown);
	/* A look that still hangs would tell them, if it ended before the process does. */
	for (size_t i = 0; ended && i < server->n_loops; i++) {
		loop_free(server->loops[i]);
	}
	for (size_t i = 0; i < server->config->threads; i++) {
		chi_sockets_close(&server->sockets[i]);
	}
	if (ended) {
		place_close(&server->place);
	}
	chi_event_drop(&server->look);
	routes_deinit(server);
	chi_rules_close(&server->rules);
	chi_main_loop_deinit(&server->main);
	return ended;
}

int serve(const void *config, struct chi_fault *fault)
{
	struct http_server *server = calloc(1, sizeof(*server));
	if (server == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_dir_guard_lock_files();
	server->config = config;
	server->find = routes_find;
	int status = start_server(server, fault);
	if (status == CHI_OK) {
		status = chi_main_loop_run(&server->main, &server->sockets[0], fault);
	}
	if (status == CHI_OK && atomic_load(&server->place.stale)) {
		status = chi_fail(fault, -CHI_ESTALE, "the store's files were replaced");
	}
	if (stop(server)) {
		free(server);
	}
	return status;
}
