/* SPDX-License-Identifier: MIT */
/*
 * Memory that libevent gets when there is no other. What it does about a failed allocation cannot
 * be relied on: a timer is not set, which nobody hears of who waits for it, and its HTTP server
 * crashes. All that it asks for at a time is small, and soon given back.
 */
#pragma once

/* Before anything else of libevent is called. */
void chi_rescue_init(void);
