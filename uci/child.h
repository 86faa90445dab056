/* SPDX-License-Identifier: MIT */
/*
 * Another UCI engine as a child process. It may print anything, flood, hang or die: lines are cut
 * at CHI_CHILD_LINE, waits have an end, and what it says is only text.
 *
 * Used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

#define CHI_CHILD_LINE 65536

struct chi_child;

/* Starts `command`, split into words as a shell does but without running others for them, in a
 * process group of its own, and says `uci`. */
CHI_MUSTUSE int chi_child_start(const char *command, struct chi_child **out,
				struct chi_fault *fault);

/* Takes a line of before `uciok`: its name, its options. True: it is `uciok`. */
bool chi_child_hello(struct chi_child *child, const char *line);

/* Both, with a wait for `uciok` of ten seconds at most. */
CHI_MUSTUSE int chi_child_open(const char *command, struct chi_child **out,
			       struct chi_fault *fault);

/* What it calls itself, as the name of an engine in a record; "engine" if it does not. */
const char *chi_child_name(const struct chi_child *child);

/* Whether it has an option of that name; case does not matter. */
bool chi_child_has(const struct chi_child *child, const char *option);

/* Its i-th line "option name ..."; NULL: it has no more. */
const char *chi_child_option(const struct chi_child *child, size_t i);

/* A line without its end. Does not wait: a child that has left so much unread that the line does
 * not fit into its pipe is killed. */
void chi_child_send(struct chi_child *child, const char *line);

/* The next line, until the next call; waits `ms` at most (-1: without end). CHI_NONE: it is gone.
 * -CHI_ETIMEOUT. */
CHI_MUSTUSE int chi_child_line(struct chi_child *child, int ms, const char **line);

/* To wait for lines together with other things: readable if there may be some. */
int chi_child_fd(const struct chi_child *child);

/* Says `quit`; chi_child_reap tells when it has followed. */
void chi_child_quit(struct chi_child *child);

/* Frees one that has ended, with all that it has started itself. False: it runs still. `kills`: it
 * is killed, and will have ended soon. Does not wait. */
bool chi_child_reap(struct chi_child *child, bool kills);

/* Says `quit`, waits a second, and kills it. NULL is fine. */
void chi_child_close(struct chi_child *child);
