/* SPDX-License-Identifier: MIT */
/* Start and stop of chistore-http. */
#pragma once

#include "http/net/config.h"

/* Binds, becomes the user, opens the store, serves until a signal, and drains. */
CHI_MUSTUSE int serve(const void *config, struct chi_fault *fault);
