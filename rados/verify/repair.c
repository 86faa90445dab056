/* SPDX-License-Identifier: MIT */
/*
 * Repairing a store where it is, since it may be larger than any other place. First what every
 * operation needs: shards with stamps, clients' entries that can be added up. Then the entries.
 * Then the import that is committed, if there is one, which may have waited for one of them; what
 * of its journal is damaged is left out. At last the counters, and what the import met.
 */
#include "rados/import/journal.h"
#include "rados/verify/mend.h"

#include "base/fault.h"

struct skipping {
	chi_verify_report *report;
	void *context;
	uint64_t n;
};

static void skipped(void *context, const char *text)
{
	struct skipping *skipping = context;
	skipping->n++;
	if (skipping->report != NULL) {
		skipping->report(skipping->context, text);
	}
}

static int finish_import(struct chi_rados *rados, struct skipping *skipping)
{
	struct chi_put_result did = {0};
	rados->skip = skipped;
	rados->skip_context = skipping;
	int status = chi_rados_roll(rados, NULL, NULL, &did);
	rados->skip = NULL;
	return status;
}

/* A pass that found damage has mended it. */
static int pass(struct chi_rados *rados, struct chi_mend *mend, struct skipping *skipping,
		struct chi_repair_result *result)
{
	struct chi_verify_result found = {0};
	int status = chi_verify_pass(rados, mend, skipping->report, skipping->context, &found,
				     &result->games);
	result->positions = found.positions;
	result->damaged += found.errors;
	/* Damage that could not be mended has a text. */
	return status == -CHI_ECORRUPT && rados->fault->text[0] == '\0' ? CHI_OK : status;
}

int chi_rados_repair(struct chi_rados *rados, chi_verify_report *report, void *context,
		     struct chi_repair_result *result)
{
	struct skipping skipping = {.report = report, .context = context};
	struct chi_mend mend = {.lost = 0};
	int status = chi_mend_shards(rados, report, context, &result->damaged);
	status = status == CHI_OK ? pass(rados, &mend, &skipping, result) : status;
	status = status == CHI_OK ? finish_import(rados, &skipping) : status;
	status = status == CHI_OK ? pass(rados, &mend, &skipping, result) : status;
	result->damaged += skipping.n;
	result->missing = mend.lost;
	return status;
}
