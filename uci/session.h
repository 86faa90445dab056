/* SPDX-License-Identifier: MIT */
/* A conversation in UCI: the commands of a GUI in, answers out. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

struct chi_session;

/* `store` and `engine` set the options of these names; either may be NULL. */
CHI_MUSTUSE int chi_session_new(const char *store, const char *engine, struct chi_session **out,
				struct chi_fault *fault);

/* One line, without its end. Does not wait for what it asks for. False: it was `quit`. */
bool chi_session_take_line(struct chi_session *session, const char *line);

/* Waits until all lines are obeyed, or a search goes on that does not end by itself. */
void chi_session_wait(struct chi_session *session);

/* Stops a search, whose answer is still given, and stores what waits to be. NULL is fine. */
void chi_session_free(struct chi_session *session);
