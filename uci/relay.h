/* SPDX-License-Identifier: MIT */
/*
 * The child engine as a session drives it. Whatever it does, no one waits for it longer than he
 * wants to: each state that it may leave us in has an end.
 *
 *            `uci`             `uciok`              `readyok`
 *   absent ---------> starting ---------> loading <------------> idle
 *     ^ ^                | 10 s              | 10 s `isready`    |  ^
 *     | +----------------+-------------------+              `go` |  | `bestmove`
 *     |                                                          v  |
 *     +------------------- 5 s --------------- stopping <--- searching
 *     (from all: it has ended, or lied)                 `stop`
 *
 * One that has gone is killed with all that it started, reaped when it has ended, and started again
 * unless that fails, or three searches in a row did. An answer that comes when ours is given is
 * dropped.
 *
 * Belongs to the thread that searches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "chistore/types.h"

struct chi_engine_result;
struct chi_relay;
struct chi_session;

/* `wake`: a descriptor that is readable when the session is to be looked at again. Borrowed. */
CHI_MUSTUSE int chi_relay_new(struct chi_session *session, int wake, struct chi_relay **out);

/* Has it end as it is used to, within a second. NULL is fine. */
void chi_relay_free(struct chi_relay *relay);

/* Begins to start the engine that the options name, if another is there, or none. */
void chi_relay_settle(struct chi_relay *relay);

/* The options that it has and the session has not, as it lists them. */
void chi_relay_print_options(const struct chi_relay *relay, FILE *out);

/* A command that is no search, now, when it is there, or when it has answered. `option`: the name
 * of an option that `line` sets; NULL: it is forgotten with this child. */
void chi_relay_tell(struct chi_relay *relay, const char *option, const char *line);

/* Waits until something happens, or that time by chi_now_ms, and sees to the child. */
void chi_relay_turn(struct chi_relay *relay, int64_t until);

/* Waits until it has said its name and options; until it is ready, which it is asked. Both end
 * early if it fails or the session hurries. */
void chi_relay_hello(struct chi_relay *relay);
void chi_relay_ready(struct chi_relay *relay);

/* Hands the search to it, and what it prints to the GUI. False: it gave no legal move in time. */
bool chi_relay_search(struct chi_relay *relay, struct chi_engine_result *result);
