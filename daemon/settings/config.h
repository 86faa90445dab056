/* SPDX-License-Identifier: MIT */
/* The daemon's settings, all from the command line; defaults in config.c, meaning in
 * chistored(8). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "chistore/types.h"
#include "daemon/settings/limits.h"
#include "service/listen.h"
#include "service/notify.h"
#include "service/options.h"

/* What the command line asks the program to do. */
enum chi_action {
	CHI_ACTION_SERVE,
	CHI_ACTION_HELP,
	CHI_ACTION_VERSION,
};

struct chi_store_config {
	char name[68]; /* CHI_STORE_NAME_MAX and a NUL */
	const char *path;
};

/* Texts point into argv. */
struct chi_config {
	enum chi_action action;
	struct chi_store_config stores[CHI_STORES_MAX];
	size_t n_stores;
	struct chi_listen listens[CHI_LISTENS_MAX];
	size_t n_listens;
	struct chi_listen metrics; /* TCP; meaningful if has_metrics */
	bool has_metrics;
	struct chi_passed_list passed; /* by the service manager: not from the command line */
	const char *tls_certificate;   /* PEM; NULL: no TLS */
	const char *tls_key;
	const char *tls_authorities; /* who signs clients' certificates; NULL: none is asked
					for */
	const char *access_path;     /* NULL: anyone who can connect may do everything */
	struct chi_server_settings server;
	uint64_t threads;
	uint64_t map_bytes; /* 0: the store's default */
	unsigned socket_mode;
	unsigned create; /* statistic of stores to create when missing; 0: none are created */
	bool read_only;
	struct chi_limits limits;
};

void chi_config_init(struct chi_config *config);

/* Reads the command line; -CHI_EINVAL or -CHI_ESYNTAX names the option and what is wrong. */
CHI_MUSTUSE int chi_config_parse(struct chi_config *config, int argc, char *const argv[],
				 struct chi_fault *fault);

/* Checks what no option can tell alone: something to serve, somewhere to listen, names once. */
CHI_MUSTUSE int chi_config_check(const struct chi_config *config, struct chi_fault *fault);

/* The help text, with the defaults. */
void chi_config_help(FILE *out);
