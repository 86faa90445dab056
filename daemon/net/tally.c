/* SPDX-License-Identifier: MIT */
/* Times run from what a look-up takes to what a store takes that is copied. */
#include "daemon/net/tally.h"

const uint64_t chi_histogram_bounds[CHI_HISTOGRAM_BOUNDS] = {
	50,    100,    250,    500,    1000,	2500,	 5000,	   10000,    25000,
	50000, 100000, 250000, 500000, 1000000, 2500000, 10000000, 60000000,
};

void chi_histogram_add(struct chi_histogram *histogram, int64_t us)
{
	size_t i = 0;
	uint64_t took = us < 0 ? 0 : (uint64_t)us;
	/* Most are found at once: the bounds begin where probes are. */
	while (i < CHI_HISTOGRAM_BOUNDS && took > chi_histogram_bounds[i]) {
		i++;
	}
	chi_scan_count(&histogram->buckets[i], 1);
	chi_scan_count(&histogram->sum_us, took);
}

void chi_tally_answer(struct chi_tally *tally, enum chi_op op, int status, int64_t us)
{
	size_t result = status < 0 ? (size_t)-status : 0;
	if (result >= CHI_RESULTS) {
		result = CHI_EINTERNAL;
	}
	chi_scan_count(&tally->answers[op][result], 1);
	if (us >= 0) {
		chi_histogram_add(&tally->latency[chi_op_row_of(op)->op_class], us);
	}
}
