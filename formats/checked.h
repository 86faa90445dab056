/* SPDX-License-Identifier: MIT */
/* The end of every reader of a position: what no store takes is the line's fault. */
#pragma once

#include "base/fault.h"
#include "base/record.h"

/* CHI_OK, or the status with the flaw in the fault. */
static inline int chi_put_checked(const struct chi_put_entry *put, struct chi_fault *fault)
{
	struct chi_record_flaw flaw;
	int status = chi_record_check(&put->record, &flaw);
	return status == CHI_OK ? CHI_OK
				: chi_fail(fault, status == -CHI_EINVAL ? -CHI_ESYNTAX : status,
					   "%s: %s", flaw.where, flaw.reason);
}
