/* SPDX-License-Identifier: MIT */
/* Reaches chess/material.h: any text as a material signature. What is accepted prints to a
 * signature of the same material, and as a filter it can be asked about any position. */
#include <string.h>

#include "chess/key.h"
#include "chess/material.h"
#include "chess/sieve.h"
#include "tests/fuzz/fuzz.h"

static bool same_material(const struct chi_material *a, const struct chi_material *b)
{
	return memcmp(a->white, b->white, sizeof(a->white)) == 0 &&
	       memcmp(a->black, b->black, sizeof(a->black)) == 0;
}

static bool passes(const struct chi_filter *filter, const struct chi_key *key)
{
	struct chi_sieve sieve;
	chi_sieve_init(&sieve, filter);
	REQUIRE(!sieve.idle);
	return chi_sieve_passes(&sieve, key->bytes, key->len,
				chi_sieve_count(key->bytes, key->len));
}

/* A rook ending that KRPKR names, and that KRKRP names with the colours exchanged. */
static void check_filter(const struct chi_material *material)
{
	static const char fen[] = "8/8/8/4k3/8/1r2P3/4K3/R7 w - - 0 1";
	static const struct chi_material krpkr = {.white = {1, 0, 0, 1, 0, 1},
						  .black = {0, 0, 0, 1, 0, 1}};
	static const struct chi_material krkrp = {.white = {0, 0, 0, 1, 0, 1},
						  .black = {1, 0, 0, 1, 0, 1}};
	struct chi_filter filter = {.has_material = true, .material = *material};
	struct chi_key key;
	REQUIRE(chi_key_from_fen(fen, sizeof(fen) - 1, &key, NULL) == CHI_OK);
	if (chi_filter_check(&filter, NULL) != CHI_OK) {
		return;
	}
	REQUIRE(passes(&filter, &key) == same_material(material, &krpkr));
	filter.either_colour = true;
	REQUIRE(passes(&filter, &key) ==
		(same_material(material, &krpkr) || same_material(material, &krkrp)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_material material;
	struct chi_material again;
	struct chi_fault fault = {.text = ""};
	char text[CHI_MATERIAL_TEXT_SIZE];
	if (chi_material_parse((const char *)data, size, &material, &fault) != CHI_OK) {
		REQUIRE(fault.text[0] != '\0');
		return 0;
	}
	size_t len = chi_material_print(&material, text);
	REQUIRE(len < sizeof(text) && strlen(text) == len);
	REQUIRE(chi_material_parse(text, len, &again, NULL) == CHI_OK);
	REQUIRE(same_material(&material, &again));
	check_filter(&material);
	return 0;
}
