/* SPDX-License-Identifier: MIT */
/*
 * An import on its way: what its public calls (games.c) share with the half that works over a
 * socket (remote_import.c). In-process everything is bulk/'s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore.h"
#include "proto/msg.h"

struct chi_bulk;
struct chi_client;

struct chi_games {
	struct chi_client *client; /* own; NULL while its store does not exist */
	struct chi_bulk *bulk;	   /* in-process; else NULL */
	struct chi_games_options options;
	int status; /* the first failure */
	struct chi_fault error;
	bool done; /* committed */
	/* Remote. */
	uint64_t id;
	uint64_t credit;		    /* what the server takes still */
	char file[CHI_IMPORT_FILE_MAX + 1]; /* name to go with the next data; "" if there is none */
	bool over;			    /* the last answer has come */
	struct chi_once once;		    /* its mark; sequence 0: none */
};

/* Each returns a status with its text in games->client->error, as the backends' calls do. */
CHI_MUSTUSE int chi_remote_import_open(struct chi_games *games);
CHI_MUSTUSE int chi_remote_import_feed(struct chi_games *games, const uint8_t *bytes, size_t len);
CHI_MUSTUSE int chi_remote_import_commit(struct chi_games *games, struct chi_games_result *result);

/* Takes a name for the next input: what is not UTF-8 or too long is cut to what may travel. */
void chi_remote_import_file(struct chi_games *games, const char *name);
