/* SPDX-License-Identifier: MIT */
/* What the rules of a sandbox say. */
#undef NDEBUG
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/sandbox.h"
#include "tests/base/cases.h"

#define RIGHTS (CHI_MAY_READ | CHI_MAY_LIST)

static struct chi_sandbox_rules rules;

static void begin(void)
{
	memset(&rules, 0, sizeof(rules));
	rules.paths.budget = SIZE_MAX;
}

/* All files of the machine are beneath it. */
CASE(the_root_is_no_place)
{
	static const char *const paths[] = {"/tmp", "/tmp/", "/tmp//", "/", "//tmp", "/tmp/../tmp"};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		begin();
		chi_sandbox_add_places(&rules, paths[i], RIGHTS);
		assert_int_equal(rules.n, 0);
		chi_arena_deinit(&rules.paths);
	}
}

CASE(a_link_and_where_it_leads)
{
	char dir[] = "/tmp/chi-sandbox-XXXXXX";
	char link[64];
	assert_non_null(mkdtemp(dir));
	(void)snprintf(link, sizeof(link), "%s/link", dir);
	begin();
	assert_int_equal(symlink("/usr/lib", link), 0);
	chi_sandbox_add_places(&rules, link, RIGHTS);
	assert_int_equal(rules.n, 2);
	assert_string_equal(rules.list[0].path, dir);
	assert_string_equal(rules.list[1].path, "/usr");
	chi_arena_deinit(&rules.paths);
	/* Into the root: only the link's own directory. */
	begin();
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/tmp", link), 0);
	chi_sandbox_add_places(&rules, link, RIGHTS);
	assert_int_equal(rules.n, 1);
	assert_string_equal(rules.list[0].path, dir);
	chi_arena_deinit(&rules.paths);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

CASE(rules_beyond_the_room_are_left_out)
{
	begin();
	for (size_t i = 0; i <= CHI_SANDBOX_RULES_MAX; i++) {
		chi_sandbox_add(&rules, "/tmp", RIGHTS);
	}
	assert_int_equal(rules.n, CHI_SANDBOX_RULES_MAX);
}
