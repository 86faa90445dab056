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
#include "service/options.h"

/* What is done when the disk of a store fails; in the order of the option's words. */
enum chi_on_disk_failure {
	CHI_DISK_EXIT = 0,
	CHI_DISK_READ_ONLY,
};

struct chi_store_config {
	char name[68]; /* CHI_STORE_NAME_MAX and a NUL */
	const char *path;
};

/* Texts point into argv. */
struct chi_config {
	struct chi_store_config stores[CHI_STORES_MAX];
	size_t n_stores;
	struct chi_listen metrics; /* TCP; meaningful if has_metrics */
	bool has_metrics;
	const char *tls_certificate; /* PEM; NULL: no TLS */
	const char *tls_key;
	const char *tls_authorities; /* who signs clients' certificates; NULL: none is asked
					for */
	struct chi_server_settings server;
	uint64_t threads;
	uint64_t spin_us;
	uint64_t map_bytes; /* 0: the store's default */
	unsigned socket_mode;
	unsigned create; /* statistic of stores to create when missing; 0: none are created */
	bool read_only;
	unsigned on_disk_failure; /* enum chi_on_disk_failure */
	struct chi_limits limits;
};

void chi_config_init(struct chi_config *config);

extern const struct chi_option_table chi_config_options;

/* Checks what no option can tell alone: something to serve, somewhere to listen, names once. */
CHI_MUSTUSE int chi_config_check(void *config, struct chi_fault *fault);
