/* SPDX-License-Identifier: MIT */
/* Making an empty store. */
#pragma once

#include "chistore/types.h"

/* Makes an empty store in the empty directory `dir`, synced. */
CHI_MUSTUSE int chi_store_make(const char *dir, enum chi_statistic statistic,
			       struct chi_fault *fault);
