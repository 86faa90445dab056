/* SPDX-License-Identifier: MIT */
/* Signatures as text, and the bounds of filters. */
#include "chess/material.h"

#include <string.h>

#include "base/evidence.h"
#include "base/fault.h"
#include "chess/position.h"

#define PIECES_MAX 32

int chi_material_total(const struct chi_material *material)
{
	int total = 0;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		total += material->white[kind] + material->black[kind];
	}
	return total;
}

/* Reads one side's letters into `counts`. */
static int parse_side(const char *text, size_t len, const char *colour, uint8_t counts[CHI_KINDS],
		      struct chi_fault *fault)
{
	for (size_t i = 0; i < len; i++) {
		int kind = chi_kind_of(text[i]);
		if (kind == CHI_KINDS) {
			return chi_fail(fault, -CHI_ESYNTAX,
					"material: %s has something other than K Q R B N P",
					colour);
		}
		if (kind == CHI_KING && counts[kind] > 0) {
			return chi_fail(fault, -CHI_ESYNTAX, "material: two %s kings", colour);
		}
		counts[kind]++;
	}
	return CHI_OK;
}

/* Where Black's part starts, and how long the separator is; false if nothing tells. */
static bool find_black(const char *text, size_t len, size_t *white_len, size_t *separator)
{
	const char *v = memchr(text, 'v', len);
	if (v != NULL) {
		*white_len = (size_t)(v - text);
		*separator = 1;
		return true;
	}
	const char *first = memchr(text, 'K', len);
	if (first == NULL) {
		return false;
	}
	const char *second = memchr(first + 1, 'K', (size_t)(text + len - first) - 1);
	if (second == NULL) {
		return false;
	}
	*white_len = (size_t)(second - text);
	*separator = 0;
	return true;
}

int chi_material_parse(const char *text, size_t len, struct chi_material *out,
		       struct chi_fault *fault)
{
	struct chi_material material = {0};
	size_t white_len = 0;
	size_t separator = 0;
	if (len == 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "material: empty");
	}
	if (!find_black(text, len, &white_len, &separator)) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"material: neither a second K nor a 'v' starts black's part");
	}
	if (len - separator > PIECES_MAX || len == separator) {
		return chi_fail(fault, -CHI_ESYNTAX, "material: %zu pieces, 1 to %d are possible",
				len - separator, PIECES_MAX);
	}
	int rc = parse_side(text, white_len, "white", material.white, fault);
	if (rc == CHI_OK) {
		size_t start = white_len + separator;
		rc = parse_side(text + start, len - start, "black", material.black, fault);
	}
	if (rc == CHI_OK) {
		*out = material;
	}
	return rc;
}

static char *print_side(const uint8_t counts[CHI_KINDS], char *at, const char *end)
{
	for (int kind = CHI_KING; kind >= 0; kind--) {
		for (int i = 0; i < counts[kind] && at < end; i++) {
			*at++ = CHI_KIND_LETTERS[kind];
		}
	}
	return at;
}

size_t chi_material_print(const struct chi_material *material, char out[CHI_MATERIAL_TEXT_SIZE])
{
	/* Counts out of range, which chi_filter_check would refuse, are cut, not written past. */
	char *at = print_side(material->white, out, out + CHI_MATERIAL_TEXT_SIZE - 2);
	*at++ = 'v';
	at = print_side(material->black, at, out + CHI_MATERIAL_TEXT_SIZE - 1);
	*at = '\0';
	return (size_t)(at - out);
}

static int check_range(const struct chi_range *range, uint16_t least, uint16_t most,
		       const char *name, struct chi_fault *fault)
{
	if (range->set && (range->min < least || range->min > range->max || range->max > most)) {
		return chi_fail(fault, -CHI_EINVAL, "%s: %u..%u is no range within %u..%u", name,
				range->min, range->max, least, most);
	}
	return CHI_OK;
}

/* What is asked of records. */
static int check_ranges(const struct chi_filter *filter, struct chi_fault *fault)
{
	int rc = check_range(&filter->score, 0, CHI_SHARE_MAX, "score", fault);
	if (rc == CHI_OK) {
		rc = check_range(&filter->eval, 1, CHI_CHI2_MAX, "eval", fault);
	}
	if (rc == CHI_OK) {
		rc = check_range(&filter->ply, 0, CHI_PLY_MAX, "ply", fault);
	}
	if (rc == CHI_OK && filter->engines_min > CHI_EVALS_MAX) {
		rc = chi_fail(fault, -CHI_EINVAL, "engines: %u is over %d", filter->engines_min,
			      CHI_EVALS_MAX);
	}
	return rc == CHI_OK ? chi_evidence_check(&filter->evidence, fault) : rc;
}

int chi_filter_check(const struct chi_filter *filter, struct chi_fault *fault)
{
	const struct chi_material *material = &filter->material;
	if (filter->pieces_min > PIECES_MAX || filter->pieces_max > PIECES_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "pieces: %d..%d is not within 1..%d",
				filter->pieces_min, filter->pieces_max, PIECES_MAX);
	}
	if (filter->pieces_max != 0 && filter->pieces_min > filter->pieces_max) {
		return chi_fail(fault, -CHI_EINVAL, "pieces: the least, %d, is above the most, %d",
				filter->pieces_min, filter->pieces_max);
	}
	if (filter->side > CHI_SIDE_BLACK) {
		return chi_fail(fault, -CHI_EINVAL, "side: %d is none of 0, 1, 2", filter->side);
	}
	int rc = check_ranges(filter, fault);
	if (rc < 0 || !filter->has_material) {
		return rc;
	}
	int total = chi_material_total(material);
	if (total < 1 || total > PIECES_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "material: %d pieces, 1 to %d are possible",
				total, PIECES_MAX);
	}
	if (material->white[CHI_KING] > 1 || material->black[CHI_KING] > 1) {
		return chi_fail(fault, -CHI_EINVAL, "material: more than one king of a colour");
	}
	return CHI_OK;
}
