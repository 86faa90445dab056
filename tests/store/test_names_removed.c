/* SPDX-License-Identifier: MIT */
/* Names that are removed from the names tree, as those of games that are subtracted. */
#include "tests/store/names_tree.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/seed.h"

/* Names that come and go, with words and FIDE ids that many have, against a list of texts: no
 * number comes again, nothing leads to a name that went, and the lists are those of the others. */
CASE(test_removed_names, names_setup, names_teardown)
{
	enum {
		MOST = 4000
	};
	static uint32_t numbers[MOST];
	uint32_t next = 1;
	uint32_t count;
	size_t rounds = seed_rounds(20000);
	memset(numbers, 0, sizeof(numbers));
	for (size_t i = 0; i < rounds; i++) {
		char text[64];
		unsigned n = help_below(MOST);
		snprintf(text, sizeof(text), "=Player%u, Ab%u %u", n % 7, n % 3, n);
		if (i / 2000 % 2 == 0) {
			numbers[n] = numbers[n] != 0 ? numbers[n] : next++;
			assert_int_equal(
				names_intern(CHI_NAME_PLAYER, text + 1, n % 3 == 0 ? 1 + n : 0),
				numbers[n]);
			continue;
		}
		ok(chi_names_flush(names_cache, names_txn, names_dbi));
		chi_name_cache_reset(names_cache);
		assert_int_equal(
			chi_names_remove(names_txn, names_dbi, CHI_NAME_PLAYER, numbers[n]),
			numbers[n] != 0 ? CHI_OK : CHI_NONE);
		numbers[n] = 0;
		if (i % 97 == 0) {
			assert_string_equal(names_found(CHI_NAME_PLAYER, text), "");
			names_check();
		}
	}
	names_commit();
	names_begin();
	ok(chi_names_count(names_txn, names_dbi, CHI_NAME_PLAYER, &count));
	assert_int_equal(count, next - 1);
	for (unsigned n = 0; n < MOST; n++) {
		char text[64];
		char expected[16] = "";
		snprintf(text, sizeof(text), "=Player%u, Ab%u %u", n % 7, n % 3, n);
		if (numbers[n] != 0) {
			snprintf(expected, sizeof(expected), "%u", numbers[n]);
		}
		assert_string_equal(names_found(CHI_NAME_PLAYER, text), expected);
	}
}

/* The number stays given also if it was the last; what aliases join stays as a whole. */
CASE(test_removes_the_last_and_no_alias, names_setup, names_teardown)
{
	struct chi_name name;
	names_player("A");
	names_player("B");
	names_intern(CHI_NAME_PLAYER, "C", 5);
	names_commit();
	names_begin();
	ok(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 1, 2, &fault));
	for (uint32_t id = 1; id <= 2; id++) {
		assert_int_equal(chi_names_remove(names_txn, names_dbi, CHI_NAME_PLAYER, id),
				 -CHI_EINVAL);
	}
	ok(chi_names_remove(names_txn, names_dbi, CHI_NAME_PLAYER, 3));
	assert_int_equal(chi_names_remove(names_txn, names_dbi, CHI_NAME_PLAYER, 3), CHI_NONE);
	assert_int_equal(chi_names_remove(names_txn, names_dbi, CHI_NAME_PLAYER, 9), CHI_NONE);
	assert_int_equal(chi_name_text(names_txn, names_dbi, CHI_NAME_PLAYER, 3, &name), CHI_NONE);
	assert_int_equal(chi_names_alias(names_txn, names_dbi, CHI_NAME_PLAYER, 3, 1, &fault),
			 -CHI_EINVAL);
	names_commit();
	names_begin();
	assert_int_equal(names_intern(CHI_NAME_PLAYER, "C", 5), 4);
	expect_found("C", "4");
	ok(chi_names_clear_fide(names_txn, names_dbi, 4));
	assert_int_equal(chi_names_clear_fide(names_txn, names_dbi, 4), CHI_NONE);
	assert_int_equal(names_at(CHI_NAME_PLAYER, 4).fide, 0);
	ok(chi_names_set_fide(names_txn, names_dbi, 4, 6, false, &fault));
	assert_false(names_at(CHI_NAME_PLAYER, 4).given);
	/* What games told before is given once it is set by hand, and stays so. */
	ok(chi_names_set_fide(names_txn, names_dbi, 4, 6, true, &fault));
	assert_int_equal(chi_names_set_fide(names_txn, names_dbi, 4, 6, false, &fault), CHI_NONE);
	assert_true(names_at(CHI_NAME_PLAYER, 4).given);
	names_commit();
}

CASES_MAIN(NULL, help_teardown)
