/* SPDX-License-Identifier: MIT */
/*
 * Checking puts where they enter: everything that the stored record is not needed for. The one
 * writer then only merges, and a bad put of one client cannot fail the batch of another.
 */
#include "base/fault.h"
#include "base/record.h"
#include "chess/key.h"
#include "chess/legal.h"
#include "chess/statistic.h"
#include "store/record/merge.h"
#include "store/store.h"

/* Which parts go together, and with the store's kind of statistic. */
static int check_parts(uint32_t parts, enum chi_statistic statistic, struct chi_fault *fault)
{
	const char *flaw = chi_put_parts_flaw(parts);
	if (flaw != NULL) {
		return chi_fail(fault, -CHI_EINVAL, "parts %#x: %s", parts, flaw);
	}
	if ((parts & CHI_PUT_CHI2) != 0 && statistic != CHI_STATISTIC_EXTERNAL) {
		return chi_fail(fault, -CHI_EINVAL,
				"the store computes its statistic (%s); it cannot be given",
				chi_statistic_name((int)statistic));
	}
	return CHI_OK;
}

int chi_put_check(const struct chi_put_entry *put, enum chi_statistic statistic,
		  struct chi_fault *fault)
{
	struct chi_position position;
	struct chi_record_flaw flaw;
	int rc = check_parts(put->parts, statistic, fault);
	if (rc == CHI_OK) {
		rc = chi_key_decode(&put->key, &position, fault);
	}
	if (rc < 0) {
		return rc;
	}
	struct chi_record named = put->record;
	chi_record_name(&named, put->parts);
	rc = chi_record_check(&named, &flaw);
	if (rc < 0) {
		return chi_fail(fault, rc, "%s: %s", flaw.where, flaw.reason);
	}
	rc = chi_record_legal(&position, &named, fault);
	/* Also in a dump. */
	if (rc == CHI_OK && put->parts == CHI_PUT_RESTORE &&
	    !chi_record_statistic_ok(statistic, &position, &named)) {
		rc = chi_fail(fault, -CHI_EINVAL,
			      "statistic %u is not the %s statistic that follows from the record",
			      named.chi2, chi_statistic_name((int)statistic));
	}
	return rc;
}
