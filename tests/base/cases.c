/* SPDX-License-Identifier: MIT */
/* Gathers a file's cases. No order is promised to constructors, so they are sorted by their lines.
 */
#include "tests/base/cases.h"

#include <errno.h>
#include <stdlib.h>

static struct CMUnitTest cases[CASES_MAX];
static int lines[CASES_MAX];
static size_t n_cases;

void cases_add(int line, const char *name, CMUnitTestFunction function,
	       const CMFixtureFunction around[3])
{
	size_t at = n_cases++;
	if (n_cases > CASES_MAX) {
		abort();
	}
	for (; at > 0 && lines[at - 1] > line; at--) {
		cases[at] = cases[at - 1];
		lines[at] = lines[at - 1];
	}
	lines[at] = line;
	cases[at] = (struct CMUnitTest){.name = name,
					.test_func = function,
					.setup_func = around[0],
					.teardown_func = around[1]};
}

int cases_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	return _cmocka_run_group_tests(program_invocation_short_name, cases, n_cases, setup,
				       teardown);
}
