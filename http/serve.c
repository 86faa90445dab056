/* SPDX-License-Identifier: MIT */
/*
 * Sockets are bound first, which may take root; then the server becomes its user, reads the page,
 * opens the store, locks itself in and serves.
 */
#include "http/serve.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "http/jail.h"
#include "http/net/server.h"
#include "http/routes.h"
#include "service/events.h"
#include "service/notify.h"
#include "service/program.h"
#include "store/store.h"

struct state {
	struct http_server server;
	struct event_base *base;
	struct chi_signals signals;
	struct event *tick;
};

static void reload(void *context)
{
	struct chi_fault fault = {{0}};
	if (server_load_access(context, &fault) < 0) {
		log_error("access.fail", "access rules stay as they were ({cause})",
			  log_text("cause", fault.text));
	}
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct timeval second = chi_event_ms(1000);
	const struct state *state = context;
	(void)fd;
	(void)what;
	chi_log_tick();
	if (chi_notify_watchdog() > 0) {
		chi_notify("WATCHDOG=1");
	}
	chi_event_add(state->tick, &second);
}

static int watch_signals(struct state *state, struct chi_fault *fault)
{
	state->base = event_base_new();
	state->tick = state->base != NULL ? evtimer_new(state->base, on_tick, state) : NULL;
	state->signals = (struct chi_signals){
		.base = state->base, .reload = reload, .context = &state->server};
	return state->tick != NULL ? chi_signals_watch(&state->signals, fault)
				   : chi_fault_plain(fault, -CHI_ENOMEM);
}

/* ---- Start and stop ---------------------------------------------------------------------- */

static int bind_sockets(struct http_server *server, struct chi_fault *fault)
{
	const struct http_config *config = server->config;
	const struct chi_binding how = {
		.listens = config->server.listens,
		.n = config->server.n_listens,
		.user = &config->server.user,
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
		server->n_loops += status == CHI_OK ? 1 : 0;
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
	return status == CHI_OK ? make_loops(server, fault) : status;
}

/* A store behind a socket is asked once, so that a wrong address is known at the start. */
static int try_store(const struct http_config *config, struct chi_fault *fault)
{
	struct session session;
	int status = config->in_process ? CHI_OK : session_open(&session, config, fault);
	if (!config->in_process && status == CHI_OK) {
		session_close(&session);
	}
	return status;
}

static int start_server(struct state *state, struct chi_fault *fault)
{
	struct http_server *server = &state->server;
	int status = watch_signals(state, fault);
	status = status == CHI_OK ? server_load_access(server, fault) : status;
	status = status == CHI_OK ? bind_and_become(server, fault) : status;
	status = status == CHI_OK ? try_store(server->config, fault) : status;
	status = status == CHI_OK ? jail_enter(server, fault) : status;
	if (status == CHI_OK && server->config->write_to != NULL) {
		status = unknown_start(server->config, &server->unknown, fault);
	}
	status = status == CHI_OK ? pool_start(&server->pool, server, fault) : status;
	for (size_t i = 0; status == CHI_OK && i < server->n_loops; i++) {
		status = loop_start(server->loops[i], fault);
	}
	return status;
}

/* Answers under way are sent; what takes longer than --stop-timeout is cut off. */
static void stop(struct state *state)
{
	struct http_server *server = &state->server;
	chi_notify("STOPPING=1");
	for (size_t i = 0; i < server->n_loops; i++) {
		loop_stop(server->loops[i]);
	}
	for (size_t i = 0; i < server->n_loops; i++) {
		loop_join(server->loops[i]);
	}
	pool_stop(&server->pool);
	unknown_stop(server->unknown);
	for (size_t i = 0; i < server->n_loops; i++) {
		loop_free(server->loops[i]);
	}
	for (size_t i = 0; i < server->config->threads; i++) {
		chi_sockets_close(&server->sockets[i]);
	}
	routes_deinit(server);
	chi_access_free(server->access);
	pthread_rwlock_destroy(&server->access_lock);
	chi_signals_drop(&state->signals);
	chi_event_drop(&state->tick);
	if (state->base != NULL) {
		event_base_free(state->base);
	}
}

int serve(const void *config, struct chi_fault *fault)
{
	struct state *state = calloc(1, sizeof(*state));
	struct timeval second = chi_event_ms(1000);
	if (state == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_dir_guard_lock_files();
	state->server.config = config;
	state->server.find = routes_find;
	pthread_rwlock_init(&state->server.access_lock, NULL);
	int status = start_server(state, fault);
	if (status == CHI_OK) {
		chi_event_add(state->tick, &second);
		char addresses[CHI_ADDRESSES_SIZE];
		chi_sockets_print(&state->server.sockets[0], addresses);
		chi_log_ready(addresses);
		chi_notify("READY=1");
		event_base_dispatch(state->base);
	}
	stop(state);
	free(state);
	return status;
}
