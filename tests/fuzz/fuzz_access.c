/* SPDX-License-Identifier: MIT */
/* Reaches the parser of access files, and the judging by what it made of them. No client that shows
 * nothing may come in by a file that does not say `anyone`. */
#include <string.h>

#include "service/access.h"
#include "tests/fuzz/fuzz.h"

static bool find_name(const char *name, uint32_t *id)
{
	*id = (uint32_t)strlen(name);
	return name[0] != 'x';
}

static const struct chi_access_names names = {find_name, find_name};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const uint32_t groups[] = {1, 5, 2000};
	const uint8_t zeros[CHI_DIGEST_SIZE] = {0};
	const struct chi_shown all = {.has_user = true,
				      .uid = 5,
				      .groups = groups,
				      .n_groups = 3,
				      .certificate = "a",
				      .fingerprint = zeros,
				      .token = zeros};
	const struct chi_shown nothing = {0};
	struct chi_access *access = NULL;
	struct chi_fault fault = {0};
	const char *why = NULL;
	if (chi_access_parse(text, size, "file", &names, &access, &fault) < 0) {
		REQUIRE(access == NULL && fault.text[0] != '\0');
		return 0;
	}
	REQUIRE(chi_access_authorize(access, &all, &why) < CHI_ROLES && why != NULL);
	if (memmem(text, size, "anyone", 6) == NULL) {
		REQUIRE(chi_access_authorize(access, &nothing, &why) == CHI_ROLE_NONE);
	}
	chi_access_free(access);
	return 0;
}
