/* SPDX-License-Identifier: MIT */
/*
 * An import on its way: what its public calls (client/import.c) share with the half that works over
 * a socket (client/remote/remote_import.c). In-process everything is import/'s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chistore.h"
#include "proto/msg.h"

struct chi_importer;
struct chi_client;
struct chi_rados_import;

struct chi_import {
	struct chi_client *client;     /* own; NULL while its store does not exist */
	struct chi_importer *importer; /* in-process, and on RADOS; else NULL */
	struct chi_rados_import *on_rados;
	struct chi_import_options options;
	int status; /* the first failure */
	struct chi_fault error;
	bool done;     /* committed */
	unsigned uses; /* calls that run: the second is made by a callback */
	bool closing;  /* one has closed it */
	/* Remote. */
	uint64_t id;
	uint64_t credit;		    /* what the server takes still */
	char file[CHI_IMPORT_FILE_MAX + 1]; /* name to go with the next data; "" if there is none */
	bool over;			    /* the last answer has come */
	struct chi_idempotency_key idempotency_key; /* its mark; sequence 0: none */
};
