/* SPDX-License-Identifier: MIT */
#include "chess/moment/reading.h"

#include "base/fault.h"
#include "chess/pattern/contents.h"

int chi_condition_refuse(const struct chi_condition_text *text, const char *why)
{
	return chi_fail(text->fault, -CHI_ESYNTAX, "%s, character %zu: %s", text->field,
			(size_t)(text->at - text->text) + 1, why);
}

int chi_condition_pieces(struct chi_condition_text *text, uint32_t of, const char *none,
			 uint32_t *set)
{
	const char *why = chi_contents_read(&text->at, set);
	*set &= of;
	if (why == NULL && *set == 0) {
		why = none;
	}
	return why == NULL ? CHI_OK : chi_condition_refuse(text, why);
}

bool chi_condition_squares(struct chi_condition_text *text, uint64_t *squares)
{
	const char *at = text->at;
	if (chi_squares_read(&at, squares) != NULL) {
		return false;
	}
	text->at = at;
	return true;
}
