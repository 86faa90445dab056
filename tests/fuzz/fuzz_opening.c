/* SPDX-License-Identifier: MIT */
/* Reaches chess/openings/search.c: any text as the name of an opening. What is found has the name
 * and the position that a look-up finds, in the order of the names. */
#include <string.h>

#include "chess/key.h"
#include "chess/openings/openings.h"
#include "tests/fuzz/fuzz.h"

#define FOUND_MAX 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_opening_match found[FOUND_MAX];
	char text[300];
	size_t n = 0;
	if (size >= sizeof(text)) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	int status = chi_opening_search(text, found, FOUND_MAX, &n);
	REQUIRE(status == (n > 0 ? CHI_OK : CHI_NONE));
	for (size_t i = 0; i < n && i < FOUND_MAX; i++) {
		struct chi_position position;
		const char *eco;
		const char *name;
		REQUIRE(chi_key_decode(&found[i].key, &position, NULL) == CHI_OK);
		REQUIRE(chi_opening_find(&found[i].key, &eco, &name) == CHI_OK);
		REQUIRE(name == found[i].name && eco == found[i].eco);
		REQUIRE(i == 0 || strcmp(found[i - 1].name, name) <= 0);
	}
	return 0;
}
