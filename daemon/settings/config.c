/* SPDX-License-Identifier: MIT */
/* The command line of chistored. */
#include "daemon/settings/config.h"

#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "chess/statistic.h"
#include "service/options.h"
#include "proto/wire/frame.h"
#include "proto/msg.h"

#define MIB    (UINT64_C(1) << 20)
#define DAY_MS (UINT64_C(24) * 3600 * 1000)

#define FIELD(name) offsetof(struct chi_config, name)

static chi_option_apply add_store, set_mode, set_metrics;

static const char *const disk_words[] = {
	[CHI_DISK_EXIT] = "exit",
	[CHI_DISK_READ_ONLY] = "read-only",
};

static const struct chi_option options[] = {
	{"store", "[NAME=]DIR", 0, .apply = add_store,
	 .help = "a store to serve (default name: default); repeatable"},
	{"listen", "ADDRESS[,...]", FIELD(server), .apply = chi_option_listen,
	 .help = "unix:PATH, tcp:HOST:PORT (loopback only) or tls:HOST:PORT; port 0: any free one; "
		 "or fd:NAME, passed by the service manager; repeatable. Settings after commas: "
		 "role=read, write or admin, the highest role there (default: admin); for unix "
		 "sockets also mode=OCTAL and group=NAME"},
	{"access", "FILE", FIELD(server.access_path),
	 .help = "rules for who may do what (default: every client that can connect may do "
		 "everything); reloaded by SIGHUP"},
	{"tls-cert", "FILE", FIELD(tls_certificate),
	 .help = "the server's certificate, PEM; reloaded by SIGHUP"},
	{"tls-key", "FILE", FIELD(tls_key), .help = "its key, the same"},
	{"tls-ca", "FILE", FIELD(tls_authorities),
	 .help = "authorities for clients' certificates, PEM; reloaded by SIGHUP"},
	{"create", "STATISTIC", FIELD(create), .words = chi_statistic_names,
	 .n_words = CHI_COUNT(chi_statistic_names),
	 .help = "create stores that do not exist: external, control, outcome, score, eval or "
		 "performance"},
	{"read-only", NULL, FIELD(read_only),
	 .help = "serve without writing; another process may write"},
	{"socket-mode", "OCTAL", FIELD(socket_mode), .apply = set_mode,
	 .help = "mode of unix sockets (default: 0660)"},
	{"metrics", "ADDRESS", 0, .apply = set_metrics,
	 .help = "tcp:HOST:PORT (loopback only): counters for Prometheus by HTTP, GET /metrics"},
	CHI_SERVER_OPTIONS(struct chi_config),
	{"threads", "N", FIELD(threads), 1, CHI_THREADS_MAX, 0,
	 .help = "threads that serve clients (default: one per core)"},
	{"spin", "US", FIELD(spin_us), 0, CHI_SPIN_MAX, 0,
	 .help = "how long a thread looks for the next request before it sleeps"},
	{"map-bytes", "BYTES", FIELD(map_bytes), MIB, MIB << 27, 0,
	 .help = "address space for each store (default: 1T)"},
	{"max-connections", "N", FIELD(limits.connections), 1, 1000000, 4096,
	 .help = "clients at once"},
	{"max-handshakes", "N", FIELD(limits.handshakes), 1, 1000000, 256,
	 .help = "TLS clients before their hello; one more closes the oldest"},
	{"max-in-flight", "N", FIELD(limits.in_flight), 1, CHI_IN_FLIGHT_MAX, CHI_IN_FLIGHT_MAX,
	 .help = "unanswered requests of a connection"},
	{"max-request", "BYTES", FIELD(limits.request_bytes), 1024, CHI_FRAME_REQUEST_MAX,
	 CHI_FRAME_REQUEST_MAX, .help = "size of a request"},
	{"frame-timeout", "MS", FIELD(limits.frame_ms), 1, DAY_MS, 10000,
	 .help = "for a request to arrive completely, and for the first one"},
	{"output-pause", "BYTES", FIELD(limits.output_pause), 1024, MIB << 10, MIB,
	 .help = "unread answers above which no more requests are read"},
	{"output-close", "BYTES", FIELD(limits.output_close), 1024, MIB << 10, 8 * MIB,
	 .help = "unread answers above which a client is cut off"},
	{"output-timeout", "MS", FIELD(limits.output_ms), 1, DAY_MS, 30000,
	 .help = "for a client to read 64 KiB of what waits, or be cut off"},
	{"buffer-bytes", "BYTES", FIELD(limits.buffer_bytes), 64 << 10, MIB << 20, 256 * MIB,
	 .help = "memory for all clients' buffers together"},
	{"queue-bytes", "BYTES", FIELD(limits.queue_bytes), 1024, MIB << 20, 64 * MIB,
	 .help = "write queue of a store"},
	{"queue-records", "N", FIELD(limits.queue_records), 1, 100000000, 100000,
	 .help = "the same in positions"},
	{"max-query-time", "MS", FIELD(limits.query_ms), 0, DAY_MS, 0,
	 .help = "work for a query, after which it is given up; 0: no end"},
	{"snapshot-time", "MS", FIELD(limits.snapshot_ms), 1, DAY_MS, 1000,
	 .help = "longest snapshot of a scan"},
	{"imports", "N", FIELD(limits.imports), 1, CHI_IMPORTS_MAX, 1,
	 .help = "imports of games at once, all stores together"},
	{"import-memory", "BYTES", FIELD(limits.import_memory), CHI_IMPORT_MEMORY_MIN, MIB << 20,
	 256 * MIB, .help = "memory of each import"},
	{"import-timeout", "MS", FIELD(limits.import_ms), 1, DAY_MS, 600000,
	 .help = "without data, after which an import is dropped"},
	{"crash-limit", "N", FIELD(limits.crashes), 0, 1000, 3,
	 .help = "crashes after which a store is served read-only; 0: never"},
	{"crash-window", "MS", FIELD(limits.crash_ms), 1, 30 * DAY_MS, 3600000,
	 .help = "crashes count if the last is younger than this"},
	{"on-disk-failure", "WHAT", FIELD(on_disk_failure), .words = disk_words,
	 .n_words = CHI_COUNT(disk_words),
	 .help = "when the disk of a store fails: exit (the default; status 4) or read-only "
		 "(writes "
		 "are refused until a restart)"},
	{"disk-timeout", "MS", FIELD(limits.disk_ms), 0, DAY_MS, 30000,
	 .help = "a disk that has not answered a read by then has failed; 0: waits for ever"},
	{"stop-timeout", "MS", FIELD(limits.stop_ms), 1, DAY_MS, 5000,
	 .help = "for clients to read their last answers at the end"},
};

const struct chi_option_table chi_config_options = {
	.options = options,
	.n = CHI_COUNT(options),
	.usage = "usage: chistored --store [NAME=]DIR --listen ADDRESS [OPTION...]\n"
		 "Serves Chistore stores to many programs at once.\n\n",
	.notes = "\nN is a number, MS milliseconds, US microseconds, BYTES may end in K, M, G or "
		 "T. Exit status: 0 "
		 "stopped,\n2 usage, 3 a store or an address failed, 4 the disk of a store failed. "
		 "See "
		 "chistored(8).\n",
};

void chi_config_init(struct chi_config *config)
{
	*config = (struct chi_config){.server.log.level = CHI_LOG_INFO, .socket_mode = 0660};
	chi_options_init(&chi_config_options, config);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	config->threads = cores < 1 ? 1 : (uint64_t)cores;
	if (config->threads > CHI_THREADS_MAX) {
		config->threads = CHI_THREADS_MAX;
	}
}

/* NAME=DIR, or DIR alone for the store named default. What comes before a '=' is a name unless
 * a slash tells that it belongs to a path. */
static int add_store(void *at, const struct chi_option *option, const char *text,
		     struct chi_fault *fault)
{
	struct chi_config *config = at;
	(void)option;
	if (config->n_stores == CHI_STORES_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "--store: more than %d stores", CHI_STORES_MAX);
	}
	struct chi_store_config *store = &config->stores[config->n_stores];
	const char *equals = strchr(text, '=');
	const char *slash = strchr(text, '/');
	const char *name = "default";
	size_t len = strlen(name);
	store->path = text;
	if (equals != NULL && (slash == NULL || equals < slash)) {
		name = text;
		len = (size_t)(equals - text);
		store->path = equals + 1;
	}
	if (len == 0 || len > CHI_STORE_NAME_MAX || !chi_store_name_ok(name, len)) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"--store: '%s' names a store with other than 1 to %d letters, "
				"digits, '-', '_', '.'",
				text, CHI_STORE_NAME_MAX);
	}
	if (store->path[0] == '\0') {
		return chi_fail(fault, -CHI_ESYNTAX, "--store: '%s' has no directory", text);
	}
	memcpy(store->name, name, len);
	store->name[len] = '\0';
	config->n_stores++;
	return CHI_OK;
}

/* What is listened on is the same, what is said is not: HTTP, in the clear, to any client. */
static int set_metrics(void *at, const struct chi_option *option, const char *text,
		       struct chi_fault *fault)
{
	struct chi_config *config = at;
	(void)option;
	if (strchr(text, ',') != NULL || chi_listen_parse(text, &config->metrics, NULL) < 0 ||
	    config->metrics.kind != CHI_LISTEN_TCP) {
		return chi_fail(fault, -CHI_ESYNTAX, "--metrics: '%s' is not tcp:HOST:PORT", text);
	}
	config->has_metrics = true;
	return CHI_OK;
}

static int set_mode(void *at, const struct chi_option *option, const char *text,
		    struct chi_fault *fault)
{
	(void)option;
	return chi_listen_mode("--socket-mode", text, at, fault);
}

/* Files that nothing uses are a mistake: the operator believes that something is encrypted. */
static int check_tls(const struct chi_config *config, struct chi_fault *fault)
{
	bool used = false;
	for (size_t i = 0; i < config->server.n_listens; i++) {
		used = used || config->server.listens[i].kind == CHI_LISTEN_TLS;
	}
	if (used && (config->tls_certificate == NULL || config->tls_key == NULL)) {
		return chi_fail(fault, -CHI_EINVAL,
				"--listen: tls: needs --tls-cert and --tls-key");
	}
	if (used && config->server.access_path == NULL) {
		return chi_fail(
			fault, -CHI_EINVAL,
			"--listen: tls: needs --access, without which every client is refused");
	}
	if (!used && (config->tls_certificate != NULL || config->tls_key != NULL ||
		      config->tls_authorities != NULL)) {
		return chi_fail(
			fault, -CHI_EINVAL,
			"--tls-cert, --tls-key and --tls-ca are for --listen tls:HOST:PORT, "
			"which is missing");
	}
	return CHI_OK;
}

int chi_config_check(void *settings, struct chi_fault *fault)
{
	const struct chi_config *config = settings;
	if (config->n_stores == 0) {
		return chi_fail(fault, -CHI_EINVAL, "nothing to serve: --store is missing");
	}
	if (config->server.n_listens == 0) {
		return chi_fail(fault, -CHI_EINVAL, "nowhere to listen: --listen is missing");
	}
	for (size_t i = 0; i < config->n_stores; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(config->stores[i].name, config->stores[j].name) == 0) {
				return chi_fail(fault, -CHI_EINVAL,
						"--store: two stores are named '%s'",
						config->stores[i].name);
			}
		}
	}
	if (config->limits.output_close < config->limits.output_pause) {
		return chi_fail(fault, -CHI_EINVAL, "--output-close is below --output-pause");
	}
	if (config->create != 0 && config->read_only) {
		return chi_fail(fault, -CHI_EINVAL, "--create and --read-only exclude each other");
	}
	return check_tls(config, fault);
}
