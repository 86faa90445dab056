/* SPDX-License-Identifier: MIT */
/* What a bench draws: kinds of requests by their weight, and made-up positions. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/validate.h"
#include "cli/bench/synthetic.h"
#include "store/store.h"
#include "cli/bench/mix.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define POSITIONS 20000

static struct cli cli;

CASE(mixes)
{
	struct mix mix;
	assert_int_equal(mix_parse(&cli, NULL, "probe=90,put=3,scan=7", &mix), EXIT_DONE);
	assert_int_equal(mix.weights[MIX_PROBE], 90);
	assert_int_equal(mix.weights[MIX_PUT], 3);
	assert_int_equal(mix.weights[MIX_SCAN], 7);
	assert_int_equal(mix.weights[MIX_GET], 0);
	assert_int_equal(mix.sum, 100);
	assert_int_equal(mix_parse(&cli, NULL, "put=1000000", &mix), EXIT_DONE);
	static const char *const bad[] = {"",	      ",",	  "probe",     "probe=",
					  "probe=0",  "probe=-1", "probe=1.5", "probe=1000001",
					  "probe=1,", ",probe=1", "probes=1",  "probe=1,probe=2",
					  "prob=1",   " probe=1", "probe =1",  "probe=1;get=1"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		assert_int_equal(mix_parse(&cli, NULL, bad[i], &mix), EXIT_USAGE);
	}
}

/* Within a tenth of its share each, and none that is not in the mix. */
CASE(kinds_come_by_weight)
{
	struct mix mix;
	unsigned counts[MIX_KINDS] = {0};
	struct seed seed = seed_start("bench mix");
	struct rng rng = {seed_next(&seed)};
	assert_int_equal(mix_parse(&cli, NULL, "batch=600,scan=300,put=100", &mix), EXIT_DONE);
	for (unsigned i = 0; i < 100000; i++) {
		counts[mix_draw(&mix, &rng)]++;
	}
	assert_in_range(counts[MIX_BATCH], 54000, 66000);
	assert_in_range(counts[MIX_SCAN], 27000, 33000);
	assert_in_range(counts[MIX_PUT], 9000, 11000);
	assert_int_equal(counts[MIX_PROBE] + counts[MIX_GET] + counts[MIX_EXPLORE], 0);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct chi_key));
}

/* Positions that can be stored, all different, whatever client they are of, and named again by
 * their number. */
CASE(inventions)
{
	static struct chi_key keys[POSITIONS];
	struct synthetic synthetic;
	struct synthetic other;
	struct chi_key again;
	assert_int_equal(synthetic_init(&synthetic, CHI_STATISTIC_CONTROL), CHI_OK);
	assert_int_equal(synthetic_init(&other, CHI_STATISTIC_CONTROL), CHI_OK);
	assert_string_not_equal(synthetic.note, other.note);
	for (unsigned i = 0; i < POSITIONS; i++) {
		struct chi_position position;
		if (i < POSITIONS / 2) {
			synthetic_key(&synthetic, i % 2, i / 2, &keys[i]);
		} else {
			synthetic_key(&other, i % 2, i / 2, &keys[i]);
		}
		assert_int_equal(chi_key_decode(&keys[i], &position, NULL), CHI_OK);
		assert_int_equal(chi_position_check(&position, -CHI_EFEN, NULL), CHI_OK);
		assert_false(chi_position_in_check(&position, 1 - position.side));
	}
	synthetic_key(&synthetic, 1, 7, &again);
	assert_memory_equal(&again, &keys[15], sizeof(again));
	qsort(keys, POSITIONS, sizeof(keys[0]), compare);
	for (unsigned i = 1; i < POSITIONS; i++) {
		assert_true(compare(&keys[i - 1], &keys[i]) < 0);
	}
}

/* Each kind of store gets what it may be given, and all a note. */
CASE(puts_fit_their_store)
{
	struct synthetic synthetic;
	struct chi_put_entry put;
	for (int statistic = CHI_STATISTIC_EXTERNAL; statistic <= CHI_STATISTIC_MAX; statistic++) {
		assert_int_equal(synthetic_init(&synthetic, (enum chi_statistic)statistic), CHI_OK);
		synthetic_put(&synthetic, 3, 4, &put);
		assert_string_equal(put.record.note, synthetic.note);
		assert_int_equal(put.record.n_note, strlen(synthetic.note));
		assert_true((put.parts & CHI_PUT_NOTE) != 0);
		assert_int_equal((put.parts & CHI_PUT_CHI2) != 0,
				 statistic == CHI_STATISTIC_EXTERNAL);
		assert_int_equal((put.parts & CHI_PUT_COUNTS) != 0,
				 statistic == CHI_STATISTIC_OUTCOME ||
					 statistic == CHI_STATISTIC_SCORE);
		assert_int_equal((put.parts & CHI_PUT_EVALS) != 0, statistic == CHI_STATISTIC_EVAL);
		assert_int_equal(chi_put_check(&put, (enum chi_statistic)statistic, NULL), CHI_OK);
	}
}
