/* SPDX-License-Identifier: MIT */
/*
 * Another UCI engine as a child process. It may print anything, flood, hang or die: lines are cut
 * at CHI_CHILD_LINE, waits have an end, and what it says is only text.
 *
 * chi_child_send may be called by any thread, the rest by one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#define CHI_CHILD_LINE 65536

struct chi_child;

/* Starts `command`, split into words as a shell does but without running others for them, in a
 * process group of its own, and says `uci`; it is there when it has said `uciok`, within ten
 * seconds. */
CHI_MUSTUSE int chi_child_open(const char *command, struct chi_child **out,
			       struct chi_fault *fault);

/* What it calls itself, as the name of an engine in a record; "engine" if it does not. */
const char *chi_child_name(const struct chi_child *child);

/* Options that it may have. */
enum chi_child_option {
	CHI_CHILD_MULTIPV = 1 << 0,
	CHI_CHILD_CHESS960 = 1 << 1, /* UCI_Chess960 */
};
bool chi_child_has(const struct chi_child *child, enum chi_child_option option);

/* Says `quit`, waits a second, and kills it with what it has started itself. NULL is fine. */
void chi_child_close(struct chi_child *child);

/* A line without its end; what cannot be written is lost with the child. */
void chi_child_send(struct chi_child *child, const char *line);

/* The next line, until the next call; waits `ms` at most (-1: without end). CHI_NONE: it is gone.
 * -CHI_ETIMEOUT. */
CHI_MUSTUSE int chi_child_line(struct chi_child *child, int ms, const char **line);

/* Waits for `readyok`, for ten seconds, and drops what comes before it. */
CHI_MUSTUSE int chi_child_ready(struct chi_child *child);
