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

static const struct chi_number_option numbers[] = {
	{"threads", "N", FIELD(threads), 1, CHI_THREADS_MAX, 0,
	 "threads that serve clients (default: one per core)"},
	{"map-bytes", "BYTES", FIELD(map_bytes), MIB, MIB << 27, 0,
	 "address space for each store (default: 1T)"},
	{"max-connections", "N", FIELD(limits.connections), 1, 1000000, 4096, "clients at once"},
	{"max-handshakes", "N", FIELD(limits.handshakes), 1, 1000000, 256,
	 "TLS clients before their hello; one more closes the oldest"},
	{"max-in-flight", "N", FIELD(limits.in_flight), 1, CHI_IN_FLIGHT_MAX, CHI_IN_FLIGHT_MAX,
	 "unanswered requests of a connection"},
	{"max-request", "BYTES", FIELD(limits.request_bytes), 1024, CHI_FRAME_REQUEST_MAX,
	 CHI_FRAME_REQUEST_MAX, "size of a request"},
	{"frame-timeout", "MS", FIELD(limits.frame_ms), 1, DAY_MS, 10000,
	 "for a request to arrive completely, and for the first one"},
	{"output-pause", "BYTES", FIELD(limits.output_pause), 1024, MIB << 10, MIB,
	 "unread answers above which no more requests are read"},
	{"output-close", "BYTES", FIELD(limits.output_close), 1024, MIB << 10, 8 * MIB,
	 "unread answers above which a client is cut off"},
	{"output-timeout", "MS", FIELD(limits.output_ms), 1, DAY_MS, 30000,
	 "without reading, after which a client is cut off"},
	{"buffer-bytes", "BYTES", FIELD(limits.buffer_bytes), 64 << 10, MIB << 20, 256 * MIB,
	 "memory for all clients' buffers together"},
	{"queue-bytes", "BYTES", FIELD(limits.queue_bytes), 1024, MIB << 20, 64 * MIB,
	 "write queue of a store"},
	{"queue-records", "N", FIELD(limits.queue_records), 1, 100000000, 100000,
	 "the same in positions"},
	{"snapshot-time", "MS", FIELD(limits.snapshot_ms), 1, DAY_MS, 1000,
	 "longest snapshot of a scan"},
	{"imports", "N", FIELD(limits.imports), 1, CHI_IMPORTS_MAX, 1,
	 "imports of games at once, all stores together"},
	{"import-memory", "BYTES", FIELD(limits.import_memory), CHI_IMPORT_MEMORY_MIN, MIB << 20,
	 256 * MIB, "memory of each import"},
	{"import-timeout", "MS", FIELD(limits.import_ms), 1, DAY_MS, 600000,
	 "without data, after which an import is dropped"},
	{"crash-limit", "N", FIELD(limits.crashes), 0, 1000, 3,
	 "crashes after which a store is served read-only; 0: never"},
	{"crash-window", "MS", FIELD(limits.crash_ms), 1, 30 * DAY_MS, 3600000,
	 "crashes count if the last is younger than this"},
	{"stop-timeout", "MS", FIELD(limits.stop_ms), 1, DAY_MS, 5000,
	 "for clients to read their last answers at the end"},
};

/* Options whose argument is no number. */
static const struct option texts[] = {
	{"store", required_argument, NULL, 's'},
	{"listen", required_argument, NULL, 'l'},
	{"socket-mode", required_argument, NULL, 'm'},
	{"access", required_argument, NULL, 'a'},
	{"create", required_argument, NULL, 'c'},
	CHI_SERVER_OPTIONS,
	{"read-only", no_argument, NULL, 'r'},
	{"metrics", required_argument, NULL, 'M'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{"tls-cert", required_argument, NULL, 'C'},
	{"tls-key", required_argument, NULL, 'K'},
	{"tls-ca", required_argument, NULL, 'A'},
};

static chi_option_apply apply;

static const struct chi_option_table table = {
	.texts = texts,
	.n_texts = CHI_COUNT(texts),
	.numbers = numbers,
	.n_numbers = CHI_COUNT(numbers),
	.letters = "hv",
	.apply = apply,
};

void chi_config_init(struct chi_config *config)
{
	*config = (struct chi_config){.server.log.level = CHI_LOG_INFO, .socket_mode = 0660};
	chi_options_init(&table, config);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	config->threads = cores < 1 ? 1 : (uint64_t)cores;
	if (config->threads > CHI_THREADS_MAX) {
		config->threads = CHI_THREADS_MAX;
	}
}

/* NAME=DIR, or DIR alone for the store named default. What comes before a '=' is a name unless
 * a slash tells that it belongs to a path. */
static int parse_store(struct chi_config *config, const char *text, struct chi_fault *fault)
{
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
static int parse_metrics(struct chi_config *config, const char *text, struct chi_fault *fault)
{
	if (strchr(text, ',') != NULL || chi_listen_parse(text, &config->metrics, NULL) < 0 ||
	    config->metrics.kind != CHI_LISTEN_TCP) {
		return chi_fail(fault, -CHI_ESYNTAX, "--metrics: '%s' is not tcp:HOST:PORT", text);
	}
	config->has_metrics = true;
	return CHI_OK;
}

/* One that is no number. */
static int apply(void *settings, int option, const char *text, struct chi_fault *fault)
{
	struct chi_config *config = settings;
	int status = CHI_OK;
	if (chi_server_option(&config->server, option, text, &status, fault)) {
		return status;
	}
	switch (option) {
	case 's':
		return parse_store(config, text, fault);
	case 'l':
		return chi_server_listen(config->listens, &config->n_listens, text, fault);
	case 'm':
		return chi_listen_mode("--socket-mode", text, &config->socket_mode, fault);
	case 'a':
		config->access_path = text;
		return CHI_OK;
	case 'C':
		config->tls_certificate = text;
		return CHI_OK;
	case 'K':
		config->tls_key = text;
		return CHI_OK;
	case 'A':
		config->tls_authorities = text;
		return CHI_OK;
	case 'c':
		return CHI_OPTION_CHOOSE("create", chi_statistic_names, text, &config->create,
					 fault);
	case 'M':
		return parse_metrics(config, text, fault);
	case 'r':
		config->read_only = true;
		return CHI_OK;
	case 'h':
		config->action = CHI_ACTION_HELP;
		return CHI_NONE;
	default:
		config->action = CHI_ACTION_VERSION;
		return CHI_NONE;
	}
}

int chi_config_parse(struct chi_config *config, int argc, char *const argv[],
		     struct chi_fault *fault)
{
	return chi_options_parse(&table, config, argc, argv, fault);
}

/* Files that nothing uses are a mistake: the operator believes that something is encrypted. */
static int check_tls(const struct chi_config *config, struct chi_fault *fault)
{
	bool used = false;
	for (size_t i = 0; i < config->n_listens; i++) {
		used = used || config->listens[i].kind == CHI_LISTEN_TLS;
	}
	if (used && (config->tls_certificate == NULL || config->tls_key == NULL)) {
		return chi_fail(fault, -CHI_EINVAL,
				"--listen: tls: needs --tls-cert and --tls-key");
	}
	if (used && config->access_path == NULL) {
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

int chi_config_check(const struct chi_config *config, struct chi_fault *fault)
{
	if (config->n_stores == 0) {
		return chi_fail(fault, -CHI_EINVAL, "nothing to serve: --store is missing");
	}
	if (config->n_listens == 0) {
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

void chi_config_help(FILE *out)
{
	fputs("usage: chistored --store [NAME=]DIR --listen ADDRESS [OPTION...]\n"
	      "Serves Chistore stores to many programs at once.\n\n"
	      "  --store [NAME=]DIR     a store to serve (default name: default); repeatable\n"
	      "  --listen ADDRESS[,...] unix:PATH, tcp:HOST:PORT (loopback only) or\n"
	      "                         tls:HOST:PORT; port 0: any free one; or fd:NAME, passed\n"
	      "                         by the service manager; repeatable. Settings after\n"
	      "                         commas: role=read, write or admin, the highest role there\n"
	      "                         (default: admin); for unix sockets also mode=OCTAL and\n"
	      "                         group=NAME\n"
	      "  --access FILE          rules for who may do what (default: every client that\n"
	      "                         can connect may do everything); reloaded by SIGHUP\n"
	      "  --tls-cert FILE, --tls-key FILE\n"
	      "                         the server's certificate and key, PEM; reloaded by SIGHUP\n"
	      "  --tls-ca FILE          authorities for clients' certificates, PEM; reloaded by\n"
	      "                         SIGHUP\n"
	      "  --user NAME[:GROUP]    started as root: become this user before opening stores\n"
	      "  --sandbox WHICH        restrict files and system calls to what serving needs:\n"
	      "                         auto (as far as the kernel can), require, off\n"
	      "  --create STATISTIC     create stores that do not exist: external, control,\n"
	      "                         outcome, score or eval\n"
	      "  --read-only            serve without writing; another process may write\n"
	      "  --socket-mode OCTAL    mode of unix sockets (default: 0660)\n"
	      "  --log-level LEVEL      error, warning, info or debug (default: info)\n"
	      "  --log-file PATH        append the log to a file (default: standard error);\n"
	      "                         reopened by SIGHUP\n"
	      "  --log-format FORMAT    text or json, an object a line (default: text)\n"
	      "  --metrics ADDRESS      tcp:HOST:PORT (loopback only): counters for Prometheus by\n"
	      "                         HTTP, GET /metrics\n"
	      "  --help, --version\n\n",
	      out);
	chi_options_help(&table, out);
	fputs("\nN is a number, MS milliseconds, BYTES may end in K, M, G or T. Exit status: 0 "
	      "stopped,\n2 usage, 3 a store or an address failed. See chistored(8).\n",
	      out);
}
