/* SPDX-License-Identifier: MIT */
/* The limit of memory that control groups set, read from files that are laid out like theirs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/env/memory.h"
#include "tests/base/cases.h"
#include "tests/store/help.h"

#define MIB (UINT64_C(1) << 20)

/* A file, with the directories above it. */
static void put(const char *name, const char *text)
{
	char path[1024];
	const char *whole = help_path("groups");
	(void)mkdir(whole, 0700);
	assert_true(snprintf(path, sizeof(path), "%s/%s", whole, name) < (int)sizeof(path));
	for (char *slash = path + strlen(whole) + 1; (slash = strchr(slash, '/')) != NULL;
	     slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static uint64_t limit(const char *groups)
{
	char path[1024];
	put("self", groups);
	(void)snprintf(path, sizeof(path), "%s/self", help_path("groups"));
	return chi_memory_limit(path, help_path("groups"));
}

CASE(version_2, NULL, help_teardown)
{
	assert_true(limit("0::/\n") == UINT64_MAX);
	put("a/b/memory.max", "max\n");
	assert_true(limit("0::/a/b\n") == UINT64_MAX);
	put("a/memory.max", "104857600\n");
	assert_true(limit("0::/a/b\n") == 100 * MIB); /* of the group above */
	put("a/b/memory.max", "52428800\n");
	assert_true(limit("0::/a/b\n") == 50 * MIB);
	assert_true(limit("0::/a/b") == 50 * MIB);
	assert_true(limit("0::/a\n") == 100 * MIB);
	assert_true(limit("0::/ab\n") == UINT64_MAX);
	/* In a container: the path begins above what is mounted. */
	put("memory.max", "10485760\n");
	assert_true(limit("0::/docker/0123456789abcdef\n") == 10 * MIB);
}

CASE(version_1, NULL, help_teardown)
{
	put("memory/job/memory.limit_in_bytes", "1073741824\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	assert_true(limit("5:cpu:/job\n4:cpuset,memory:/job\n0::/\n") == 1024 * MIB);
	assert_true(limit("4:memory:/job/x\n") == 1024 * MIB);
	assert_true(limit("4:memory:/other\n") == UINT64_C(9223372036854771712));
	assert_true(limit("4:cpu:/job\n") == UINT64_MAX);
	assert_true(limit("4:memory2:/job\n") == UINT64_MAX);
}

CASE(what_is_no_limit, NULL, help_teardown)
{
	static const char *const groups[] = {
		"", "\n", "0", "0:", "0:memory", "::", ":memory:", "0::x"};
	static const char *const texts[] = {"",	    "\n",      "max",
					    "-1\n", "12 MB\n", "99999999999999999999999\n"};
	put("memory.max", "max\n");
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		assert_true(limit(groups[i]) == UINT64_MAX);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put("x/memory.max", texts[i]);
		assert_true(limit("0::/x\n") == UINT64_MAX);
	}
	assert_true(chi_memory_limit(help_path("absent"), help_path("absent")) == UINT64_MAX);
	assert_true(chi_memory_bytes() > 0);
	assert_true(chi_memory_bytes() < UINT64_MAX);
}
