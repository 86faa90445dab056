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

static const struct chi_number_option numbers[] = {
	{"threads", "N", FIELD(threads), 1, HTTP_THREADS_MAX, 0,
	 "loops that serve connections (default: one per core)"},
	{"workers", "N", FIELD(workers), 1, HTTP_THREADS_MAX, 0,
	 "threads for answers that take long (default: two per core)"},
	{"max-connections", "N", FIELD(connections), 1, 1000000, 4096,
	 "connections at once, of one client half of them"},
	{"max-waiting", "N", FIELD(waiting), 1, 1000000, 256,
	 "requests that wait for a worker, of one client half of them"},
	{"max-body", "BYTES", FIELD(body_bytes), 0, 64 * MIB, MIB, "body of a request"},
	{"max-import", "BYTES", FIELD(large_bytes), 0, 64 * MIB, 16 * MIB, "body of an import"},
	{"head-timeout", "MS", FIELD(head_ms), 1, DAY_MS, 10000,
	 "for a request to arrive, however it is dripped in; more for a large body"},
	{"idle-timeout", "MS", FIELD(idle_ms), 1, DAY_MS, 60000, "without a request"},
	{"send-timeout", "MS", FIELD(send_ms), 1, DAY_MS, 30000,
	 "for a client to read 64 KiB of what waits, or be cut off"},
	{"answer-timeout", "MS", FIELD(answer_ms), 1, DAY_MS, 30000,
	 "for an answer that takes long to be made"},
	{"stop-timeout", "MS", FIELD(stop_ms), 1, DAY_MS, 5000,
	 "for clients to read their last answers at the end"},
	{"cache", "BYTES", FIELD(cache_bytes), 0, MIB << 20, 64 * MIB,
	 "answers that each loop keeps until the store changes"},
};

static const struct option texts[] = {
	{"address", required_argument, NULL, 'a'},
	{"listen", required_argument, NULL, 'l'},
	{"store", required_argument, NULL, 's'},
	{"write-to", required_argument, NULL, 'w'},
	{"token-file", required_argument, NULL, 't'},
	{"tls-ca", required_argument, NULL, 'A'},
	{"tls-cert", required_argument, NULL, 'C'},
	{"tls-key", required_argument, NULL, 'K'},
	{"access", required_argument, NULL, 'r'},
	{"public-read", no_argument, NULL, 'p'},
	{"host", required_argument, NULL, 'H'},
	{"trust-proxy", required_argument, NULL, 'P'},
	{"web", required_argument, NULL, 'W'},
	CHI_SERVER_OPTIONS,
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
};

static chi_option_apply apply;

static const struct chi_option_table table = {
	.texts = texts,
	.n_texts = CHI_COUNT(texts),
	.numbers = numbers,
	.n_numbers = CHI_COUNT(numbers),
	.letters = "a:hv",
	.apply = apply,
};

void http_config_init(struct http_config *config)
{
	*config = (struct http_config){
		.server.log = {.level = CHI_LOG_INFO, .program = "chistore-http"},
		.web = CHI_WEB_DIR};
	chi_options_init(&table, config);
	long found = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t cores = found < 1 ? 1 : (uint64_t)found;
	config->threads = cores < HTTP_THREADS_MAX ? cores : HTTP_THREADS_MAX;
	config->workers = 2 * cores < HTTP_THREADS_MAX ? 2 * cores : HTTP_THREADS_MAX;
}

static int parse_listen(struct http_config *config, const char *text, struct chi_fault *fault)
{
	const struct chi_listen *listen = &config->listens[config->n_listens];
	int status = chi_server_listen(config->listens, &config->n_listens, text, fault);
	if (status == CHI_OK &&
	    (strchr(text, ',') != NULL ||
	     (listen->kind != CHI_LISTEN_TCP && listen->kind != CHI_LISTEN_PASSED))) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"--listen: '%s' is not tcp:HOST:PORT or fd:NAME", text);
	}
	return status;
}

/* Where an option's text is kept; NULL: it is more than a text. */
static const char **text_of(struct http_config *config, int option)
{
	switch (option) {
	case 'a':
		return &config->address;
	case 's':
		return &config->store;
	case 'w':
		return &config->write_to;
	case 't':
		return &config->token_file;
	case 'A':
		return &config->tls_ca;
	case 'C':
		return &config->tls_cert;
	case 'K':
		return &config->tls_key;
	case 'r':
		return &config->access_path;
	case 'W':
		return &config->web;
	default:
		return NULL;
	}
}

static int add_name(struct http_config *config, int option, const char *text,
		    struct chi_fault *fault)
{
	const char *name = option == 'H' ? "--host" : "--trust-proxy";
	size_t *n = option == 'H' ? &config->n_hosts : &config->n_proxies;
	if (*n == HTTP_NAMES_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "%s: more than %d", name, HTTP_NAMES_MAX);
	}
	if (option == 'H' && (text[0] == '\0' || strpbrk(text, ":/ ") != NULL)) {
		return chi_fail(fault, -CHI_ESYNTAX, "%s: '%s' is no name of a host", name, text);
	}
	if (option == 'H') {
		config->hosts[*n] = text;
	} else if (!chi_peer_parse(text, strlen(text), &config->proxies[*n]) ||
		   config->proxies[*n].port != 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "%s: '%s' is no IP address", name, text);
	}
	(*n)++;
	return CHI_OK;
}

/* One that is no number. */
static int apply(void *settings, int option, const char *text, struct chi_fault *fault)
{
	struct http_config *config = settings;
	const char **kept = text_of(config, option);
	int status = CHI_OK;
	if (kept != NULL) {
		*kept = text;
		return CHI_OK;
	}
	if (chi_server_option(&config->server, option, text, &status, fault)) {
		return status;
	}
	switch (option) {
	case 'l':
		return parse_listen(config, text, fault);
	case 'p':
		config->public_read = true;
		return CHI_OK;
	case 'H':
	case 'P':
		return add_name(config, option, text, fault);
	case 'h':
		config->action = HTTP_HELP;
		return CHI_NONE;
	default:
		config->action = HTTP_VERSION;
		return CHI_NONE;
	}
}

static int check_config(struct http_config *config, struct chi_fault *fault)
{
	static const char *const sockets[] = {"unix:", "tcp:", "tls:"};
	if (config->address == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "no store: -a ADDRESS is missing");
	}
	config->in_process = true;
	for (size_t i = 0; i < CHI_COUNT(sockets); i++) {
		bool is = strncmp(config->address, sockets[i], strlen(sockets[i])) == 0;
		config->in_process = config->in_process && !is;
	}
	if (config->n_listens == 0) {
		return parse_listen(config, "tcp:127.0.0.1:8080", fault);
	}
	return CHI_OK;
}

int http_config_parse(struct http_config *config, int argc, char *const argv[],
		      struct chi_fault *fault)
{
	int status = chi_options_parse(&table, config, argc, argv, fault);
	return status < 0 || config->action != HTTP_SERVE ? status : check_config(config, fault);
}

void http_config_help(FILE *out)
{
	fputs("usage: chistore-http -a ADDRESS [--listen tcp:HOST:PORT]... [OPTION...]\n"
	      "Serves a store of chess positions over HTTP: a page to explore it, JSON for\n"
	      "programs, and the interfaces of lichess' opening explorer and of chessdb.cn.\n\n"
	      "  -a, --address ADDRESS  the store: DIR, unix:PATH, tcp:HOST:PORT, tls:HOST:PORT\n"
	      "  --listen tcp:HOST:PORT where (default: tcp:127.0.0.1:8080); port 0: any free\n"
	      "                         one; or fd:NAME, passed by the service manager;\n"
	      "                         repeatable. Other addresses than loopback need --access\n"
	      "                         or --public-read\n"
	      "  --write-to ADDRESS     a daemon that takes what clients write; without, nothing\n"
	      "                         is written\n"
	      "  --access FILE          tokens and their roles, as chistored --access; reloaded "
	      "by\n"
	      "                         SIGHUP\n"
	      "  --public-read          any client may read, without a token\n"
	      "  --host NAME            a name of this server, by which clients may write;\n"
	      "                         repeatable\n"
	      "  --trust-proxy ADDR     who asks is what a proxy at that address says in\n"
	      "                         X-Forwarded-For; repeatable\n"
	      "  --web DIR              the page's files (default: " CHI_WEB_DIR ")\n"
	      "  --store NAME           which of a daemon's stores\n"
	      "  --token-file FILE, --tls-ca FILE, --tls-cert FILE, --tls-key FILE\n"
	      "                         to connect to the daemon with, as chistore has them\n"
	      "  --user NAME[:GROUP]    started as root: become this user\n"
	      "  --sandbox WHICH        auto, require or off: no files and system calls but those\n"
	      "                         that serving needs\n"
	      "  --log-level LEVEL, --log-file PATH, --log-format text|json\n",
	      out);
	chi_options_help(&table, out);
	fputs("  -h, --help             this text\n  -v, --version          the version\n", out);
}
