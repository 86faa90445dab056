/* SPDX-License-Identifier: MIT */
/* Whether the moves of a record are legal in its position; all else is base/record.h's. */
#pragma once

#include "chess/position.h"
#include "chistore/types.h"

/* CHI_OK, or -CHI_EMOVE naming the first move that is not. `fault` may be NULL. */
CHI_MUSTUSE int chi_record_legal(const struct chi_position *position,
				 const struct chi_record *record, struct chi_fault *fault);
