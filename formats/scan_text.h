/* SPDX-License-Identifier: MIT */
/* What chooses positions, as people write it: options of commands and parameters of HTTP. */
#pragma once

#include "chistore/types.h"

/*
 * Reads the value of an option into the struct that it is part of: min and max (or from and to),
 * material, pieces, engines, score, eval, performance and ply of struct chi_scan_spec; engine,
 * depth and eval-date of struct chi_evidence. `name` is one of these. -CHI_EINVAL, and what
 * chi_material_parse returns: `fault` begins with the name and says what is possible, and the
 * struct may be half set.
 */
CHI_MUSTUSE int chi_scan_text(const char *name, const char *value, void *out,
			      struct chi_fault *fault);
