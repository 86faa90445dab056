/* SPDX-License-Identifier: MIT */
/* The backend that asks a server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chess/material.h"
#include "client/core/client.h"
#include "client/remote/peer.h"
#include "proto/msg.h"

struct chi_import;

int chi_remote_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows);
int chi_remote_get(struct chi_client *client, const struct chi_key *key, struct chi_record *out);
int chi_remote_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
			chi_get_each *each, void *context);
int chi_remote_call(struct chi_client *client, const struct chi_request *request, void *out);
int chi_remote_rows_open(struct chi_client *client, struct chi_row_pages *rows,
			 const struct chi_request *request);
int chi_remote_rows_more(struct chi_client *client, struct chi_row_pages *rows);
void chi_remote_rows_close(struct chi_client *client, struct chi_row_pages *rows);
int chi_remote_rows_all(struct chi_client *client, struct chi_row_pages *rows,
			const struct chi_request *request, void *out);
int chi_remote_put(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
		   enum chi_durability durability, struct chi_put_result *result);
int chi_remote_del(struct chi_client *client, const struct chi_key *keys, size_t n,
		   enum chi_durability durability, uint64_t *deleted);

int chi_remote_flush(struct chi_client *client);

/* Sends a write that changes something until it is answered, for as long as it may be repeated. */
CHI_MUSTUSE int chi_remote_repeat_write(struct chi_client *client, struct chi_request *request,
					enum chi_durability durability,
					struct chi_response *response);

/* Keeps account of what is not known to be durable; `n` records of an answered write. */
void chi_remote_written(struct chi_peer *peer, size_t n, bool async);

struct chi_put_request chi_remote_put_request(const struct chi_put_entry *entries, size_t n,
					      enum chi_durability durability);

/* Before reads: makes answered CHI_ASYNC writes visible. Says nothing of those whose connection
 * broke; that is chi_remote_flush's. */
CHI_MUSTUSE int chi_remote_settle(struct chi_client *client);
/* ---- Imports (remote_import.c) ----------------------------------------------------------- */

/* Each returns a status with its text in games->client->error, as the backends' calls do. */
CHI_MUSTUSE int chi_remote_import_open(struct chi_import *games);
CHI_MUSTUSE int chi_remote_import_feed(struct chi_import *games, const uint8_t *bytes, size_t len);
CHI_MUSTUSE int chi_remote_import_commit(struct chi_import *games,
					 struct chi_import_result *result);

/* Takes a name for the next input: what is not UTF-8 or too long is cut to what may travel. */
void chi_remote_import_file(struct chi_import *games, const char *name);
