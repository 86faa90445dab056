/* SPDX-License-Identifier: MIT */
/* A pattern made ready to be asked of positions. Thread safe once it is made; allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/pattern/pattern.h"
#include "search/filter/terms.h"

struct chi_wanted {
	struct chi_pattern pattern;
	uint8_t family; /* enum chi_endgame_family; NONE: not asked */
};

/* `term` is a pattern that chi_terms_parse has accepted. */
CHI_MUSTUSE int chi_wanted_init(const struct chi_terms *terms, const struct chi_term *term,
				struct chi_wanted *out);

/* A text of the conditions of one pattern, as a filter has them; none fit every position. Errors as
 * chi_terms_parse; -CHI_EINVAL: it has other terms, or several. */
CHI_MUSTUSE int chi_wanted_parse(const char *text, struct chi_wanted *out, struct chi_fault *fault);

/* Whether a position fits; `key` as for chi_pattern_matches. */
bool chi_wanted_fits(const struct chi_wanted *wanted, const uint8_t *key);
