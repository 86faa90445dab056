/* SPDX-License-Identifier: MIT */
/* What all changes have in common. */
#include "ops/change.h"

#include "base/fault.h"
#include "store/store.h"

int chi_change_check(const struct chi_change_ops *ops, struct chi_ask *ask, void *request)
{
	return ops->check != NULL ? ops->check(ask, request) : CHI_OK;
}

bool chi_change_is_trial(const struct chi_change_ops *ops, const void *request)
{
	return ops->is_trial != NULL && ops->is_trial(request);
}

int chi_change_explain(const struct chi_write *write, int status, struct chi_fault *fault)
{
	const char *why = chi_write_why(write);
	if (why[0] != '\0') {
		return chi_fail(fault, status, "%s", why);
	}
	return fault->text[0] == '\0' ? chi_fault_plain(fault, status) : status;
}
