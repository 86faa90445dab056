/* SPDX-License-Identifier: MIT */
/*
 * An import on its way: what its public calls (games.c) share with the half that works over a
 * socket (remote_import.c). In-process everything is import/'s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore.h"
#include "proto/msg.h"

struct chi_importer;
struct chi_client;

struct chi_import {
	struct chi_client *client;     /* own; NULL while its store does not exist */
	struct chi_importer *importer; /* in-process; else NULL */
	struct chi_import_options options;
	int status; /* the first failure */
	struct chi_fault error;
	bool done; /* committed */
	/* Remote. */
	uint64_t id;
	uint64_t credit;		    /* what the server takes still */
	char file[CHI_IMPORT_FILE_MAX + 1]; /* name to go with the next data; "" if there is none */
	bool over;			    /* the last answer has come */
	struct chi_idempotency_key idempotency_key; /* its mark; sequence 0: none */
};

/* Each returns a status with its text in games->client->error, as the backends' calls do. */
CHI_MUSTUSE int chi_remote_import_open(struct chi_import *games);
CHI_MUSTUSE int chi_remote_import_feed(struct chi_import *games, const uint8_t *bytes, size_t len);
CHI_MUSTUSE int chi_remote_import_commit(struct chi_import *games,
					 struct chi_import_result *result);

/* Takes a name for the next input: what is not UTF-8 or too long is cut to what may travel. */
void chi_remote_import_file(struct chi_import *games, const char *name);
