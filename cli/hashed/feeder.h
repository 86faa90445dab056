/* SPDX-License-Identifier: MIT */
/* What was found by a walk over hashes, on its way to an import as lines of JSON. */
#pragma once

#include "base/buffer.h"
#include "cli/cli.h"

struct feeder {
	struct chi_import *import;
	struct chi_buffer text; /* to be sent */
};

/* Begins an import of lines of JSON, all or nothing; what `options` says of kind, format, reports
 * and cancelling is set here. Returns an exit code. */
int feeder_open(struct cli *cli, enum chi_statistic create,
		const struct chi_import_options *options, struct feeder *feeder);

/* Harmless on a zeroed feeder. */
void feeder_deinit(struct feeder *feeder);

/* Room for a line of at most `most` bytes, as many as the feeder's lines ever have; NULL: no
 * memory. */
char *feeder_room(struct feeder *feeder, size_t most);

/* The line has `len` bytes. A status, as of feeder_send. */
CHI_MUSTUSE int feeder_added(struct feeder *feeder, size_t len);

/* Sends what is waiting. */
CHI_MUSTUSE int feeder_send(struct feeder *feeder);

/* Says why the import failed; returns an exit code. */
int feeder_fail(const struct feeder *feeder, int status);
