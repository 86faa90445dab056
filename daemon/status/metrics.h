/* SPDX-License-Identifier: MIT */
/* The page of counters, in the text format of Prometheus (version 0.0.4). */
#pragma once

#include "chistore/types.h"

struct chi_server;
struct evbuffer;

/*
 * Appends the page as of now: the sums of what all threads have counted, and what the stores say
 * of themselves, which is left out while one of them is being exchanged by a compaction. Main
 * thread, while workers exist. -CHI_ENOMEM: the page is not whole.
 */
CHI_MUSTUSE int chi_metrics_page(struct chi_server *server, struct evbuffer *out);
