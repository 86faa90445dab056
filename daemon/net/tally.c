/* SPDX-License-Identifier: MIT */
#include "daemon/net/tally.h"

void chi_tally_answer(struct chi_tally *tally, enum chi_op op, int status, int64_t us)
{
	size_t result = status < 0 ? (size_t)-status : 0;
	if (result >= CHI_RESULTS) {
		result = CHI_EINTERNAL;
	}
	chi_counter_add(&tally->answers[op][result], 1);
	if (us >= 0) {
		chi_histogram_add(&tally->latency[chi_op_row_of(op)->op_class], us);
	}
}
