/* SPDX-License-Identifier: MIT */
/* Making a copy a published one, and a published one a store. */
#pragma once

#include "chistore/types.h"

struct chi_hidden;

/* Makes a published copy of the copy in the hidden directory. */
CHI_MUSTUSE int chi_published_make(const struct chi_hidden *hidden, struct chi_fault *fault);

/* Makes it a store again. */
CHI_MUSTUSE int chi_published_unmake(const char *dir, struct chi_fault *fault);
