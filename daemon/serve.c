/* SPDX-License-Identifier: MIT */
/*
 * Start and stop in order. Sockets are bound first, which may take root; then the server becomes
 * its user, opens the stores and accepts. A second daemon is refused by the store's lock; the lock
 * beside the socket has kept it from taking the socket from the first.
 */
#include "daemon/serve.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fault.h"
#include "chess/statistic.h"
#include "base/clock.h"
#include "service/events.h"
#include "daemon/status/http.h"
#include "service/log.h"
#include "service/notify.h"
#include "daemon/sandbox.h"
#include "daemon/net/net.h"
#include "store/store.h"
#include "daemon/net/server.h"
#include "daemon/ops/handler.h"
#include "daemon/write/disk.h"
#include "daemon/write/follow.h"
#include "daemon/write/writer.h"
#include "daemon/settings/config.h"
#include "daemon/settings/crashes.h"

/* ---- Stores ------------------------------------------------------------------------------ */

/* What others are to use instead of the directory: the first socket of this machine, with a
 * path that means the same everywhere, else the first address. */
static void main_address(const char *addresses, char out[PATH_MAX + sizeof("unix:")])
{
	const char *local = strstr(addresses, "unix:");
	const char *first = local != NULL ? local : addresses;
	char path[PATH_MAX];
	char full[PATH_MAX];
	(void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(first, " "), first);
	if (local != NULL && realpath(path + strlen("unix:"), full) != NULL) {
		(void)snprintf(out, PATH_MAX + sizeof("unix:"), "unix:%s", full);
	} else {
		(void)snprintf(out, PATH_MAX, "%s", path);
	}
}

/* For writing with the writer lock held permanently, so that a second daemon is refused now and not
 * at its first write. A store that is read-only for its crashes can be repaired meanwhile; it is
 * the lock on its crashes that keeps a second daemon out, which would serve the damaged pages as
 * well and forget the crashes at its end. */
static int open_store(const struct chi_config *config, const struct chi_served *served,
		      const char *path, struct chi_dir **out, struct chi_fault *fault)
{
	char addresses[CHI_ADDRESSES_SIZE];
	char address[PATH_MAX + sizeof("unix:")];
	chi_sockets_print(&served->server->sockets, addresses);
	main_address(addresses, address);
	struct chi_dir_options options = {
		.mode = served->writable ? CHI_STORE_DAEMON : CHI_STORE_READ,
		.map_bytes = config->map_bytes,
		.address = address,
	};
	if (served->read_only == CHI_READ_ONLY_CRASHES && !served->crashes.ours) {
		return chi_fail(fault, -CHI_EBUSY, "another daemon serves it");
	}
	int status = chi_dir_open(path, &options, out, fault);
	if (status == -CHI_ENOSTORE && config->create != 0) {
		status = chi_dir_create(path, (enum chi_statistic)config->create, CHI_KEEP_GAMES,
					fault);
		if (status == CHI_OK) {
			log_info("store.create", "created store '{path}'", log_text("path", path));
			status = chi_dir_open(path, &options, out, fault);
		}
	}
	return status;
}

/* Whether the store may be written, by the crashes of the last servers. They are counted before it
 * is opened, which may be what ends the process. */
static void look_back(const struct chi_config *config, struct chi_served *served, const char *path)
{
	const struct chi_limits *limits = &config->limits;
	served->read_only = config->read_only ? CHI_READ_ONLY_SERVER : CHI_READ_ONLY_NOT;
	if (config->read_only || limits->crashes == 0) {
		return;
	}
	chi_crashes_open(&served->crashes, path, limits->crash_ms);
	unsigned count = served->crashes.count;
	if (count >= limits->crashes) {
		served->read_only = CHI_READ_ONLY_CRASHES;
		log_error("store.crashed",
			  "store '{store}' is served read-only after {crashes} crashes since the "
			  "last clean stop: check it with 'chistore verify'; a clean stop or a "
			  "verification that finds no damage ends this",
			  log_text("store", served->name), log_number("crashes", count));
	} else if (count > 0) {
		log_warning("store.crashes",
			    "store '{store}': {crashes} crashes since the last clean stop; after "
			    "{limit} it will be served read-only",
			    log_text("store", served->name), log_number("crashes", count),
			    log_number("limit", limits->crashes));
	}
}

/* The fault of a published copy does not know how it can be served, that of a directory without a
 * store not how it gets one. */
static int say_why(const struct chi_config *config, const char *path, int status,
		   const struct chi_fault *cause, struct chi_fault *fault)
{
	/* For another user's directory, name the user that the daemon runs as. */
	bool whose = config->server.user.given && status == -CHI_EACCES;
	const char *advice = status == -CHI_EREADONLY  ? "; --read-only serves it"
			     : status == -CHI_ENOSTORE ? "; 'chistore init' makes one, and so does "
							 "--create at the start"
						       : "";
	return chi_fail(fault, status, "cannot open store '%s'%s%s%s (%s%s)", path,
			whose ? " as user '" : "", whose ? config->server.user.name : "",
			whose ? "'" : "", cause->text, advice);
}

static int open_stores(struct chi_server *server, struct chi_fault *fault)
{
	const struct chi_config *config = server->config;
	for (size_t i = 0; i < config->n_stores; i++) {
		struct chi_served *served = &server->stores[i];
		const char *path = config->stores[i].path;
		struct chi_fault cause = {0};
		served->server = server;
		served->name = config->stores[i].name;
		served->index = i;
		look_back(config, served, path);
		served->writable = served->read_only == CHI_READ_ONLY_NOT;
		struct chi_dir *store = NULL;
		int status = open_store(config, served, path, &store, &cause);
		if (status < 0) {
			chi_crashes_close(&served->crashes, false);
			return say_why(config, path, status, &cause, fault);
		}
		served->copy = calloc(1, sizeof(*served->copy));
		served->writer = calloc(1, sizeof(*served->writer));
		served->disk = calloc(1, sizeof(*served->disk));
		if (served->copy == NULL || served->writer == NULL || served->disk == NULL) {
			free(served->copy);
			free(served->writer);
			free(served->disk);
			chi_dir_close(store);
			chi_crashes_close(&served->crashes, false);
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
		served->copy->store = store;
		chi_store_writer_init(served->writer, served, config->limits.queue_bytes,
				      config->limits.queue_records);
		chi_disk_watch_init(served->disk, served);
		server->n_stores++;
		if (chi_any_file_system() && chi_dir_file_system(path, &cause) < 0) {
			log_warning("store.forced",
				    "store '{store}' is served although {cause} "
				    "(CHISTORE_ANY_FILESYSTEM)",
				    log_text("store", served->name), log_text("cause", cause.text));
		}
		log_info("store.serve",
			 "serving store '{store}' in '{path}' ({statistic} statistic, {mode})",
			 log_text("store", served->name), log_text("path", path),
			 log_text("statistic", chi_statistic_name((int)chi_dir_statistic(store))),
			 log_text("mode", served->writable ? "read-write" : "read-only"));
	}
	/* Before the handler that counts crashes. */
	chi_dir_guard_lock_files();
	return CHI_OK;
}

/* Readers that died leave their slots, and old pages with them, until someone looks: with many
 * small commits the file grows by hundreds of megabytes in seconds. Of a failed disk, too, nothing
 * is known until someone reads it. */
static void on_reader_check(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_server *server = context;
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_disk_watch_tick(server->stores[i].disk);
		chi_moves_tick(&server->stores[i].moves);
	}
	/* A compaction exchanges environments: the next time will do. */
	if (pthread_mutex_trylock(&server->compact_lock) != 0) {
		return;
	}
	for (size_t i = 0; i < server->n_stores; i++) {
		int freed = 0;
		struct chi_fault fault = {{0}};
		int status = chi_dir_check(server->stores[i].copy->store, &freed, &fault);
		if (status == -CHI_ESTALE) {
			/* Nothing can be promised from here on. Started again, it opens what is
			 * there.
			 */
			log_error("store.stale", "stopping: store '{store}' ({cause})",
				  log_text("store", server->stores[i].name),
				  log_text("cause", fault.text));
			server->stale = true;
			event_base_loopbreak(server->main.base);
		} else if (status < 0) {
			log_warning("readers.fail",
				    "failed to check readers of store '{store}' ({cause})",
				    log_text("store", server->stores[i].name),
				    log_text("cause", fault.text));
		} else if (freed > 0) {
			log_info("readers.free",
				 "freed {slots} reader slots of dead processes in store '{store}'",
				 log_number("slots", (uint64_t)freed),
				 log_text("store", server->stores[i].name));
		}
	}
	pthread_mutex_unlock(&server->compact_lock);
}

/* ---- Connections and tasks --------------------------------------------------------------- */

/* Takes as many descriptors as may be had, and no more clients than these allow. */
static void set_connections_max(struct chi_server *server)
{
	const struct chi_config *config = server->config;
	uint64_t reserved = CHI_RESERVED_FDS + 4 * config->threads + 4 * config->n_stores;
	struct rlimit limit;
	server->connections_max = config->limits.connections;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		return;
	}
	uint64_t wanted = config->limits.connections + reserved;
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < wanted) {
			uint64_t left = limit.rlim_cur > reserved ? limit.rlim_cur - reserved : 1;
			log_warning("descriptors.few",
				    "taking {connections} connections instead of {wanted} "
				    "(descriptors are limited to {descriptors})",
				    log_number("connections", left),
				    log_number("wanted", server->connections_max),
				    log_number("descriptors", limit.rlim_cur));
			server->connections_max = left;
		}
	}
}

/* Rereads the access rules, and has the newest copies served. */
static void reload(void *context)
{
	struct chi_server *server = context;
	if (chi_guard_reload(&server->guard)) {
		for (size_t i = 0; i < server->n_workers; i++) {
			chi_worker_authorize(server->workers[i]);
		}
	}
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_moves_ask(&server->stores[i].moves);
	}
}

/* ---- Start and stop ---------------------------------------------------------------------- */

/* Everything is made before anything runs: a gate counts on all workers being there. */
static int start_threads(struct chi_server *server, struct chi_fault *fault)
{
	server->workers = calloc(server->config->threads, sizeof(*server->workers));
	int status = server->workers == NULL ? chi_fault_plain(fault, -CHI_ENOMEM) : CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < server->config->threads; i++) {
		status = chi_worker_new(server, i, &server->workers[i], fault);
		if (status == CHI_OK) {
			chi_main_loop_watch(&server->main, &server->workers[i]->loop);
			server->n_workers++;
		}
	}
	for (size_t i = 0; status == CHI_OK && i < server->n_stores; i++) {
		if (server->stores[i].writable) {
			status = chi_store_writer_start(server->stores[i].writer, fault);
		}
	}
	for (size_t i = 0; status == CHI_OK && i < server->n_stores; i++) {
		status = chi_disk_watch_start(server->stores[i].disk, fault);
		if (status == CHI_OK) {
			status = chi_follow_start(&server->stores[i], fault);
		}
	}
	for (size_t i = 0; status == CHI_OK && i < server->n_workers; i++) {
		status = chi_loop_start(&server->workers[i]->loop, fault);
	}
	return status;
}

static int start_timer(struct chi_server *server, struct chi_fault *fault)
{
	const struct timeval period = chi_event_ms(CHI_DISK_TICK_MS);
	server->reader_timer =
		event_new(server->main.base, -1, EV_PERSIST, on_reader_check, server);
	if (server->reader_timer == NULL || event_add(server->reader_timer, &period) < 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a timer");
	}
	return CHI_OK;
}

/* What only root may open, if the daemon is still root. Before the threads: see
 * chi_socket_bind. */
static int open_as_started(struct chi_server *server, struct chi_fault *fault)
{
	const struct chi_config *config = server->config;
	int status = chi_user_can(&config->server.user, fault);
	if (status == CHI_OK) {
		status = chi_guard_init(&server->guard, config, fault);
	}
	if (status == CHI_OK) {
		const struct chi_binding how = {
			.listens = config->server.listens,
			.n = config->server.n_listens,
			.user = &config->server.user,
			.mode = config->socket_mode,
			.output_ms = config->limits.output_ms,
			.local = ", and tcp: is not encrypted: use tls:, 127.0.0.1, [::1] or a "
				 "unix socket",
		};
		struct chi_passed_list passed = config->server.passed;
		status = chi_sockets_open(&server->sockets, &how, &passed, fault);
	}
	if (status == CHI_OK && config->has_metrics) {
		status = chi_http_new(server, &config->metrics, &server->http, fault);
	}
	return status;
}

/* What will not work for the daemon's user, and what could be better. */
static void warn_of_user(const struct chi_config *config)
{
	const char *const files[] = {config->server.access_path, config->tls_certificate,
				     config->tls_key, config->tls_authorities};
	if (geteuid() == 0) {
		log_warning("user.root", "running as root: use --user");
		return;
	}
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		if (files[i] != NULL && faccessat(AT_FDCWD, files[i], R_OK, AT_EACCESS) < 0) {
			log_warning("user.unreadable", "SIGHUP cannot reload '{path}' ({cause})",
				    log_text("path", files[i]), log_text("cause", strerror(errno)));
		}
	}
}

int chi_server_init(struct chi_server *server, const struct chi_config *config,
		    struct chi_fault *fault)
{
	*server = (struct chi_server){
		.ops = &chi_worker_ops, .config = config, .started_us = chi_now_us()};
	pthread_mutex_init(&server->compact_lock, NULL);
	pthread_mutex_init(&server->import_sessions.lock, NULL);
	set_connections_max(server);
	int status = chi_main_loop_init(&server->main, reload, server, fault);
	if (status == CHI_OK) {
		status = open_as_started(server, fault);
	}
	if (status == CHI_OK) {
		status = chi_user_become(&config->server.user, chi_log_descriptor(), fault);
	}
	if (status == CHI_OK) {
		warn_of_user(config);
		status = open_stores(server, fault);
	}
	if (status == CHI_OK) {
		/* Before the threads, which have what they are started with. */
		status = chi_listener_start(&server->listener, server->main.base, &server->sockets,
					    &chi_server_door, server, fault);
	}
	if (status == CHI_OK) {
		status = chi_daemon_confine(server, fault);
	}
	if (status == CHI_OK) {
		status = start_threads(server, fault);
	}
	if (status == CHI_OK) {
		status = start_timer(server, fault);
	}
	return status;
}

/* All are stopped before the first is waited for. */
static void stop_workers(struct chi_server *server)
{
	for (size_t i = 0; i < server->n_workers; i++) {
		chi_loop_leave(&server->workers[i]->loop, server->config->limits.stop_ms);
	}
	for (size_t i = 0; i < server->n_workers; i++) {
		chi_worker_free(server->workers[i]);
	}
	free(server->workers);
	server->workers = NULL;
	server->n_workers = 0;
}

/* No copy is moved to from here on: workers that end cannot be made to stand still. */
static void end_moves(struct chi_server *server)
{
	pthread_mutex_lock(&server->compact_lock);
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_moves_end(&server->stores[i].moves);
	}
	pthread_mutex_unlock(&server->compact_lock);
}

/* Nothing new comes in; everything received is answered. */
static void drain(struct chi_server *server)
{
	pthread_mutex_lock(&server->compact_lock);
	chi_worker_quiesce_all(server);
	pthread_mutex_unlock(&server->compact_lock);
}

static void close_doors(struct chi_server *server)
{
	chi_listener_stop(&server->listener);
	chi_sockets_close(&server->sockets);
	chi_http_free(server->http);
	server->http = NULL;
}

int chi_server_run(struct chi_server *server, struct chi_fault *fault)
{
	int status = chi_main_loop_run(&server->main, &server->sockets, fault);
	if (status < 0) {
		return status;
	}
	close_doors(server);
	end_moves(server);
	drain(server);
	server->clean = true;
	return server->stale ? chi_fail(fault, -CHI_ESTALE, "a store's files were replaced")
			     : CHI_OK;
}

void chi_server_deinit(struct chi_server *server)
{
	close_doors(server);
	end_moves(server);
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_store_writer_stop(server->stores[i].writer);
	}
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_disk_watch_stop(server->stores[i].disk);
	}
	stop_workers(server);
	for (size_t i = 0; i < server->n_stores; i++) {
		chi_store_writer_deinit(server->stores[i].writer);
		free(server->stores[i].writer);
		chi_disk_watch_deinit(server->stores[i].disk);
		free(server->stores[i].disk);
		chi_follow_end(&server->stores[i]);
		chi_crashes_close(&server->stores[i].crashes, server->clean);
	}
	chi_event_drop(&server->reader_timer);
	chi_main_loop_deinit(&server->main);
	chi_guard_deinit(&server->guard);
	pthread_mutex_destroy(&server->import_sessions.lock);
	pthread_mutex_destroy(&server->compact_lock);
}
