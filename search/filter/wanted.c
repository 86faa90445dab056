/* SPDX-License-Identifier: MIT */
#include "search/filter/wanted.h"

#include <string.h>

#include "base/fault.h"
#include "chess/endgame/endgame.h"

int chi_wanted_init(const struct chi_terms *terms, const struct chi_term *term,
		    struct chi_wanted *out)
{
	struct chi_pattern_spec spec;
	chi_term_pattern(terms, term, &spec);
	out->family = term->pattern.family;
	return chi_pattern_compile(&spec, &out->pattern, NULL);
}

int chi_wanted_parse(const char *text, struct chi_wanted *out, struct chi_fault *fault)
{
	static const struct chi_term all = {.kind = CHI_TERM_PATTERN};
	struct chi_fault why = {.text = ""};
	struct chi_terms terms;
	int rc = chi_terms_parse(text, strlen(text), &terms, &why);
	if (rc < 0) {
		/* It begins with "filter", which is another text here. */
		return chi_fail(fault, rc, "pattern%s", why.text + strcspn(why.text, ",:"));
	}
	const struct chi_term *term = terms.n > 0 ? &terms.term[0] : &all;
	if (terms.n > 1 || term->kind != CHI_TERM_PATTERN || term->negated) {
		return chi_fail(fault, -CHI_EINVAL,
				"pattern: conditions of one pattern are possible, and no terms of "
				"a filter");
	}
	rc = chi_wanted_init(&terms, term, out);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

bool chi_wanted_fits(const struct chi_wanted *wanted, const uint8_t *key)
{
	return chi_pattern_matches(&wanted->pattern, key) &&
	       (wanted->family == CHI_ENDGAME_NONE || chi_endgame_family_of(key) == wanted->family);
}
