/* SPDX-License-Identifier: MIT */
/* Reaches formats/spelling.h: any bytes as a spelling file. What comes out must be a name that a
 * tag could have. */
#include <string.h>

#include "formats/spelling.h"
#include "tests/fuzz/fuzz.h"

static void check_name(const char *name)
{
	size_t len = strlen(name);
	REQUIRE(len > 0 && len <= CHI_NAME_MAX && name[0] != ' ' && name[len - 1] != ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_spelling_reader reader = {0};
	const char *at = (const char *)data;
	const char *end = at + size;
	while (at < end) {
		struct chi_spelling out;
		struct chi_fault fault = {.text = ""};
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		int status = chi_spelling_line(&reader, at, (size_t)(stop - at), &out, &fault);
		if (status == CHI_OK) {
			check_name(out.name);
			REQUIRE((out.alias != NULL) == (out.fide == 0));
			if (out.alias != NULL) {
				check_name(out.alias);
			}
		} else {
			REQUIRE((status == CHI_NONE) == (fault.text[0] == '\0'));
		}
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}
