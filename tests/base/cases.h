/* SPDX-License-Identifier: MIT */
/*
 * Cases of a test. Each stands where it is written and in no list, so none is forgotten; they run
 * in the order of the file, and a program that only runs them needs no main().
 *
 *	CASE(name)
 *	{
 *		assert_true(...);
 *	}
 *
 * CASE(name, setup, teardown) has cmocka's functions around it. They and the case see
 * `void **state`.
 */
#pragma once

/* What cmocka wants before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CASES_MAX 100

#define CASE(...) CASE_OF(__VA_ARGS__, )
#define CASE_OF(name, ...)                                                                         \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		cases_add(__LINE__, #name, name, (CMFixtureFunction[3]){__VA_ARGS__ NULL});        \
	}                                                                                          \
	static void name(void **state __attribute__((unused)))

/* Before main(): the case of that line, which is kept, and its setup and teardown or NULL. At most
 * CASES_MAX, all of one file. */
void cases_add(int line, const char *name, CMUnitTestFunction function,
	       const CMFixtureFunction around[3]);

/* Runs all between the two functions, which may be NULL; returns how many failed. */
int cases_run(CMFixtureFunction setup, CMFixtureFunction teardown);

/* The main() that does so, and nothing else. */
#define CASES_MAIN(setup, teardown)                                                                \
	int main(void)                                                                             \
	{                                                                                          \
		return cases_run(setup, teardown);                                                 \
	}
