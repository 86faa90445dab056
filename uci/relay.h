/* SPDX-License-Identifier: MIT */
/* A search by the child engine. */
#pragma once

#include "uci/session_priv.h"

/* Hands the search to the child, and what it prints to the GUI. False: it gave no legal move, and
 * said so; the child is gone, and the caller searches. */
bool chi_relay(struct chi_session *session, struct chi_engine_result *result);
