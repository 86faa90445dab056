/* SPDX-License-Identifier: MIT */
/* The directory of the store that an import reads into, below TMPDIR. */
#pragma once

#include "base/attr.h"
#include "chistore/types.h"

/* Locked as long as the process lives that made it. */
struct chi_temporary {
	char *path; /* NULL: none */
	int lock;
};

/* Makes one, and removes those that processes of this user have left that were killed. -CHI_EIO,
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_temporary_make(struct chi_temporary *out, struct chi_fault *fault);

/* Removes it and all in it. Harmless on a zeroed one. */
void chi_temporary_remove(struct chi_temporary *temporary);
