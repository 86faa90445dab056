/* SPDX-License-Identifier: MIT */
/* A whole store as the text of its dump (store/text/dump.h), over any address. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

/* Takes the next bytes; returns an exit code, having said what is wrong. */
typedef int dump_sink(void *context, const char *bytes, size_t len);

/* Writes the dump of the store of `from` into `sink`, with the games that it keeps, their names and
 * gamesets, or none of these. Failures of the store are said as cli_fail does. *mixed: it is of
 * more than one committed state. Stops between two lines when cli_stop is set, with its exit code.
 */
int dump_write(struct chi_client *from, enum chi_keep keep, dump_sink *sink, void *context,
	       bool *mixed);
