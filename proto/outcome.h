/* SPDX-License-Identifier: MIT */
/* What became of a marked write, as the result of Outcome. */
#pragma once

#include "proto/msg.h"
#include "proto/pbc.h"

/* To the generated structs, with memory of the arena; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_outcome_to(struct chi_arena *arena, const struct chi_response *from,
			       PB(OutcomeResult) * *out);

/* And back. */
CHI_MUSTUSE int chi_outcome_from(struct chi_unpacker *u, const PB(OutcomeResult) * from,
				 struct chi_response *out);
