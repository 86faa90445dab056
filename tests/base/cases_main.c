/* SPDX-License-Identifier: MIT */
/* Taken from its library by programs that have no main() of their own. */
#include "tests/base/cases.h"

int main(void)
{
	return cases_run(NULL, NULL);
}
