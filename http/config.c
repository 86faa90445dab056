/* SPDX-License-Identifier: MIT */
/* The command line of chistore-http. */
#include "http/net/config.h"

#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "service/options.h"

#define MIB    (UINT64_C(1) << 20)
#define DAY_MS (UINT64_C(24) * 3600 * 1000)

#define FIELD(name) offsetof(struct http_config, name)

static chi_option_apply add_server_name;

static const struct chi_option options[] = {
	{"address", "ADDRESS", FIELD(address), .letter = 'a',
	 .help = "the store: DIR, unix:PATH, tcp:HOST:PORT, tls:HOST:PORT"},
	{"listen", "ADDRESS", FIELD(server), .apply = chi_option_listen,
	 .help = "tcp:HOST:PORT (default: tcp:127.0.0.1:8080); port 0: any free one; or fd:NAME, "
		 "passed by the service manager; repeatable. Other addresses than loopback need "
		 "--access or --public-read"},
	{"write-to", "ADDRESS", FIELD(write_to),
	 .help = "a daemon that takes what clients write; without, nothing is written"},
	{"access", "FILE", FIELD(server.access_path),
	 .help = "tokens and their roles, as chistored --access; reloaded by SIGHUP"},
	{"public-read", NULL, FIELD(public_read), .help = "any client may read, without a token"},
	{"host", "NAME", 0, .apply = add_server_name,
	 .help = "a name of this server, by which clients may write; repeatable"},
	{"trust-proxy", "ADDR", 0, .apply = add_server_name,
	 .help = "the client is what a proxy at that address says in X-Forwarded-For; "
		 "repeatable"},
	{"web", "DIR", FIELD(web), .help = "the page's files (default: " CHI_WEB_DIR ")"},
	{"store", "NAME", FIELD(store), .help = "which of a daemon's stores"},
	{"token-file", "FILE", FIELD(token_file),
	 .help = "to connect to the daemon with, as chistore has it"},
	{"tls-ca", "FILE", FIELD(tls_ca), .help = "the same"},
	{"tls-cert", "FILE", FIELD(tls_cert), .help = "the same"},
	{"tls-key", "FILE", FIELD(tls_key), .help = "the same"},
	CHI_SERVER_OPTIONS(struct http_config),
	{"threads", "N", FIELD(threads), 1, HTTP_THREADS_MAX, 0,
	 .help = "loops that serve connections (default: one per core)"},
	{"workers", "N", FIELD(workers), 1, HTTP_THREADS_MAX, 0,
	 .help = "threads for answers that take long (default: two per core)"},
	{"max-connections", "N", FIELD(connections), 1, 1000000, 4096,
	 .help = "connections at once, of one client half of them"},
	{"max-waiting", "N", FIELD(waiting), 1, 1000000, 256,
	 .help = "requests that wait for a worker, of one client half of them"},
	{"max-body", "BYTES", FIELD(body_bytes), 0, 64 * MIB, MIB, .help = "body of a request"},
	{"max-import", "BYTES", FIELD(large_bytes), 0, 64 * MIB, 16 * MIB,
	 .help = "body of an import"},
	{"head-timeout", "MS", FIELD(head_ms), 1, DAY_MS, 10000,
	 .help = "for a request to arrive, however it is dripped in; more for a large body"},
	{"idle-timeout", "MS", FIELD(idle_ms), 1, DAY_MS, 60000, .help = "without a request"},
	{"send-timeout", "MS", FIELD(send_ms), 1, DAY_MS, 30000,
	 .help = "for a client to read 64 KiB of what waits, or be cut off"},
	{"max-query-time", "MS", FIELD(query_ms), 1, DAY_MS, 5000,
	 .help = "for an answer that takes long to be made"},
	{"stop-timeout", "MS", FIELD(stop_ms), 1, DAY_MS, 5000,
	 .help = "for clients to read their last answers at the end"},
	{"cache", "BYTES", FIELD(cache_bytes), 0, MIB << 20, 64 * MIB,
	 .help = "answers that each loop keeps until the store changes"},
};

const struct chi_option_table http_config_options = {
	.options = options,
	.n = CHI_COUNT(options),
	.usage = "usage: chistore-http -a ADDRESS [--listen tcp:HOST:PORT]... [OPTION...]\n"
		 "Serves a store of chess positions over HTTP: a page to explore it, JSON for\n"
		 "programs, and the interfaces of lichess' opening explorer and of "
		 "chessdb.cn.\n\n",
};

void http_config_init(struct http_config *config)
{
	*config = (struct http_config){.server.log.level = CHI_LOG_INFO, .web = CHI_WEB_DIR};
	chi_options_init(&http_config_options, config);
	long found = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t cores = found < 1 ? 1 : (uint64_t)found;
	config->threads = cores < HTTP_THREADS_MAX ? cores : HTTP_THREADS_MAX;
	config->workers = 2 * cores < HTTP_THREADS_MAX ? 2 * cores : HTTP_THREADS_MAX;
}

static int add_server_name(void *at, const struct chi_option *option, const char *text,
			   struct chi_fault *fault)
{
	struct http_config *config = at;
	const char *name = option->name;
	bool is_host = name[0] == 'h';
	size_t *n = is_host ? &config->n_hosts : &config->n_proxies;
	if (*n == HTTP_NAMES_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "--%s: more than %d", name, HTTP_NAMES_MAX);
	}
	if (is_host && (text[0] == '\0' || strpbrk(text, ":/ ") != NULL)) {
		return chi_fail(fault, -CHI_ESYNTAX, "--%s: '%s' is no name of a host", name, text);
	}
	if (is_host) {
		config->hosts[*n] = text;
	} else if (!chi_peer_parse(text, strlen(text), &config->proxies[*n]) ||
		   config->proxies[*n].port != 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "--%s: '%s' is no IP address", name, text);
	}
	(*n)++;
	return CHI_OK;
}

int http_config_check(void *settings, struct chi_fault *fault)
{
	struct http_config *config = settings;
	static const char *const sockets[] = {"unix:", "tcp:", "tls:"};
	if (config->address == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "no store: -a ADDRESS is missing");
	}
	config->in_process = true;
	for (size_t i = 0; i < CHI_COUNT(sockets); i++) {
		bool is = strncmp(config->address, sockets[i], strlen(sockets[i])) == 0;
		config->in_process = config->in_process && !is;
	}
	if (config->server.n_listens == 0) {
		return chi_option_listen(&config->server, NULL, "tcp:127.0.0.1:8080", fault);
	}
	for (size_t i = 0; i < config->server.n_listens; i++) {
		const struct chi_listen *listen = &config->server.listens[i];
		if ((listen->kind != CHI_LISTEN_TCP && listen->kind != CHI_LISTEN_PASSED) ||
		    listen->role != CHI_ROLE_ADMIN || listen->has_mode || listen->has_group) {
			return chi_fail(fault, -CHI_ESYNTAX,
					"--listen: addresses are tcp:HOST:PORT or fd:NAME");
		}
	}
	return CHI_OK;
}
