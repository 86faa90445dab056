/* SPDX-License-Identifier: MIT */
/* What a store says of itself. */
#include "ops/answer.h"

#include "store/store.h"

int chi_answer_info(struct chi_ask *ask, const void *request, void *result)
{
	struct chi_info *out = result;
	(void)request;
	int status = chi_read_info(ask->read, out);
	if (out->read_only == CHI_READ_ONLY_NOT) {
		out->read_only = ask->read_only;
	}
	return status;
}
