/* SPDX-License-Identifier: MIT */
/* The daemon's command line: what it takes, what it refuses and what it says then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/notation.h"
#include "chess/pgn/pgn.h"
#include "chess/statistic.h"
#include "chistore/types.h"
#include "daemon/settings/config.h"
#include "daemon/settings/limits.h"
#include "proto/wire/frame.h"
#include "proto/msg.h"
#include "tests/base/cases.h"

static struct chi_fault fault;

/* Parses words separated by spaces; they stay, as argv does. */
static int parse(struct chi_config *config, const char *words)
{
	static char text[1024];
	static char *arguments[64];
	static char program[] = "chistored";
	int n = 0;
	snprintf(text, sizeof(text), "%s", words);
	arguments[n++] = program;
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
		arguments[n++] = word;
	}
	arguments[n] = NULL;
	chi_config_init(config);
	fault.text[0] = '\0';
	return chi_options_parse(&chi_config_options, config, n, arguments, &fault);
}

CASE(test_defaults)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--store /s --listen unix:/l"), CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), CHI_OK);
	assert_int_equal(config.server.action, CHI_ACTION_SERVE);
	assert_string_equal(config.stores[0].name, "default");
	assert_string_equal(config.stores[0].path, "/s");
	assert_int_equal(config.socket_mode, 0660);
	assert_true(config.threads >= 1);
}

/* A path may have a '=', a name may not have a slash. */
CASE(test_stores)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--store a=/x --store /y=z --store ./b=c"), CHI_OK);
	assert_int_equal(config.n_stores, 3);
	assert_string_equal(config.stores[0].name, "a");
	assert_string_equal(config.stores[0].path, "/x");
	/* A '=' after a slash belongs to the path. */
	assert_string_equal(config.stores[1].name, "default");
	assert_string_equal(config.stores[1].path, "/y=z");
	assert_string_equal(config.stores[2].path, "./b=c");
	/* Both are named default. */
	assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--store =x"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--store a="), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--store a!b=x"), -CHI_ESYNTAX);
}

/* The protocol's bound, or a store would be served that no client can name. */
CASE(test_store_name_length)
{
	struct chi_config config;
	char words[128];
	for (int n = CHI_STORE_NAME_MAX - 1; n <= CHI_STORE_NAME_MAX + 1; n++) {
		snprintf(
			words, sizeof(words), "--store %.*s=d", n,
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
		assert_int_equal(parse(&config, words),
				 n <= CHI_STORE_NAME_MAX ? CHI_OK : -CHI_ESYNTAX);
	}
}

CASE(test_addresses)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--listen unix:a:b --listen tcp:127.0.0.1:0 "
					"--listen tcp:[::1]:65535 --listen tcp:localhost:7"),
			 CHI_OK);
	assert_int_equal(config.server.listens[0].kind, CHI_LISTEN_UNIX);
	assert_int_equal(config.server.listens[0].role, CHI_ROLE_ADMIN);
	assert_false(config.server.listens[0].has_mode);
	assert_false(config.server.listens[0].has_group);
	assert_string_equal(config.server.listens[0].path, "a:b");
	assert_string_equal(config.server.listens[1].host, "127.0.0.1");
	assert_string_equal(config.server.listens[1].port, "0");
	assert_string_equal(config.server.listens[2].host, "::1");
	assert_string_equal(config.server.listens[2].port, "65535");
	assert_string_equal(config.server.listens[3].host, "localhost");
	const char *const bad[] = {"x:/a",     "unix:",	    "tcp:",    "tcp:h",
				   "tcp::1",   "tcp:h:",    "tcp:h:x", "tcp:h:65536",
				   "tcp:h:-1", "tcp:::1:5", "/a",      ""};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		char words[64];
		snprintf(words, sizeof(words), "--listen=%s", bad[i]);
		assert_true(parse(&config, words) < 0);
		assert_non_null(strstr(fault.text, "--listen"));
	}
}

/* No one must believe that something is encrypted or guarded which is not. */
CASE(test_tls)
{
	struct chi_config config;
	static const struct {
		const char *words;
		const char *says;
	} bad[] = {
		{"--listen tls:h:1 --access a", "--tls-cert"},
		{"--listen tls:h:1 --access a --tls-cert c", "--tls-key"},
		{"--listen tls:h:1 --tls-cert c --tls-key k", "--access"},
		{"--listen unix:s --tls-cert c --tls-key k", "is missing"},
		{"--listen tcp:localhost:1 --tls-ca c", "is missing"},
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		char words[128];
		snprintf(words, sizeof(words), "--store d %s", bad[i].words);
		assert_int_equal(parse(&config, words), CHI_OK);
		assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
		assert_non_null(strstr(fault.text, bad[i].says));
	}
	assert_int_equal(parse(&config, "--store d --listen tls:[::]:0,role=read --access a "
					"--tls-cert c --tls-key k --tls-ca a"),
			 CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), CHI_OK);
	assert_int_equal(config.server.listens[0].kind, CHI_LISTEN_TLS);
	assert_string_equal(config.server.listens[0].host, "::");
	assert_int_equal(config.limits.handshakes, 256);
	assert_int_equal(parse(&config, "--listen tls:h:1,mode=0600"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--max-handshakes 0"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--max-handshakes 1"), CHI_OK);
}

CASE(test_settings_of_an_address)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--listen unix:/s,mode=0666,group=17,role=read "
					"--listen tcp:[::1]:0,role=write"),
			 CHI_OK);
	const struct chi_listen *listen = &config.server.listens[0];
	assert_string_equal(listen->path, "/s");
	assert_true(listen->has_mode);
	assert_int_equal(listen->mode, 0666);
	assert_true(listen->has_group);
	assert_int_equal(listen->group, 17);
	assert_int_equal(listen->role, CHI_ROLE_READ);
	assert_string_equal(config.server.listens[1].host, "::1");
	assert_int_equal(config.server.listens[1].role, CHI_ROLE_WRITE);
	assert_int_equal(parse(&config, "--listen unix:/s,group=root"), CHI_OK);
	assert_int_equal(config.server.listens[0].group, 0);
	const char *const bad[] = {
		"unix:/s,",
		"unix:/s,b",
		"unix:/s,mode=8",
		"unix:/s,mode=",
		"unix:/s,mode=1777",
		"unix:/s,role=none",
		"unix:/s,role=root",
		"unix:/s,role",
		"unix:/s,Role=read",
		"tcp:h:1,mode=0600",
		"tcp:h:1,group=root",
		"unix:,role=read",
		"unix:/s,group=no-such-group-here",
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		char words[64];
		snprintf(words, sizeof(words), "--listen %s", bad[i]);
		assert_true(parse(&config, words) < 0);
		assert_non_null(strstr(fault.text, "--listen"));
	}
}

/* 107 bytes are what the kernel takes; the next one would be cut off silently. */
CASE(test_socket_path_length)
{
	struct chi_config config;
	char path[120];
	char words[160];
	memset(path, 'p', sizeof(path));
	for (int n = 106; n <= 108; n++) {
		snprintf(words, sizeof(words), "--listen unix:%.*s", n, path);
		assert_int_equal(parse(&config, words), n <= 107 ? CHI_OK : -CHI_EINVAL);
	}
	assert_non_null(strstr(fault.text, "108 bytes"));
}

/* Bounds are allowed and one beyond is refused; so is a number with more than a suffix after it.
 */
CASE(test_limit_bounds)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--max-in-flight 63"), CHI_OK);
	assert_int_equal(parse(&config, "--max-in-flight 64"), CHI_OK);
	assert_int_equal(parse(&config, "--max-in-flight 65"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--max-in-flight 0"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--max-request 1048575"), CHI_OK);
	assert_int_equal(parse(&config, "--max-request 1M"), CHI_OK);
	assert_int_equal(parse(&config, "--max-request 1048577"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--queue-bytes 2M"), CHI_OK);
	assert_int_equal(config.limits.queue_bytes, 2 << 20);
	assert_int_equal(parse(&config, "--queue-bytes 2MB"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--frame-timeout 1.5"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--threads 257"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--imports 0"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--imports 1"), CHI_OK);
	assert_int_equal(parse(&config, "--imports 63"), CHI_OK);
	assert_int_equal(parse(&config, "--imports 64"), CHI_OK);
	assert_int_equal(config.limits.imports, 64);
	assert_int_equal(parse(&config, "--imports 65"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--import-memory 16777215"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--import-memory 16M"), CHI_OK);
	assert_int_equal(parse(&config, "--import-memory 16777217"), CHI_OK);
	assert_int_equal(parse(&config, "--import-timeout 0"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--store d --listen unix:s --output-close 1K"), CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
}

CASE(test_other_options)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--socket-mode 0600 --create outcome --log-level debug "
					"--log-file f --map-bytes 1G"),
			 CHI_OK);
	assert_int_equal(config.socket_mode, 0600);
	assert_int_equal(config.create, CHI_STATISTIC_OUTCOME);
	assert_int_equal(config.server.log.level, CHI_LOG_DEBUG);
	assert_string_equal(config.server.log.path, "f");
	assert_int_equal(config.map_bytes, 1 << 30);
	assert_int_equal(parse(&config, "--socket-mode 8"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--socket-mode 1777"), -CHI_EINVAL);
	assert_int_equal(parse(&config, "--create nothing"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--log-level loud"), -CHI_ESYNTAX);
	assert_int_equal(parse(&config, "--store d --listen unix:s --create control --read-only"),
			 CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
}

CASE(test_actions)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--help --nonsense"), CHI_OK);
	assert_int_equal(config.server.action, CHI_ACTION_HELP);
	assert_int_equal(parse(&config, "--version"), CHI_OK);
	assert_int_equal(config.server.action, CHI_ACTION_VERSION);
}

CASE(test_help_names_every_statistic)
{
	char *help = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&help, &len);
	assert_non_null(out);
	chi_options_help(&chi_config_options, out);
	assert_int_equal(fclose(out), 0);
	const char *create = strstr(help, "--create");
	assert_non_null(create);
	char *end = strstr(create, "--read-only");
	assert_non_null(end);
	*end = '\0';
	for (int i = 1; i <= CHI_STATISTIC_MAX; i++) {
		assert_non_null(strstr(create, chi_statistic_names[i]));
	}
	free(help);
}

CASE(test_mistakes_are_named)
{
	struct chi_config config;
	assert_int_equal(parse(&config, "--nonsense"), -CHI_EINVAL);
	assert_string_equal(fault.text, "unknown option '--nonsense'");
	assert_int_equal(parse(&config, "--store"), -CHI_EINVAL);
	assert_string_equal(fault.text, "option '--store' needs an argument");
	assert_int_equal(parse(&config, "--read-only more"), -CHI_EINVAL);
	assert_string_equal(fault.text, "unexpected argument 'more'");
	assert_int_equal(parse(&config, "--listen unix:s"), CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "--store"));
	assert_int_equal(parse(&config, "--store d"), CHI_OK);
	assert_int_equal(chi_config_check(&config, &fault), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "--listen"));
}

CASE(test_counts_of_repeats)
{
	struct chi_config config;
	char words[1024] = "";
	for (int i = 0; i <= CHI_LISTENS_MAX; i++) {
		assert_int_equal(parse(&config, words), CHI_OK);
		strcat(words, " --listen unix:s");
	}
	assert_int_equal(parse(&config, words), -CHI_EINVAL);
}
