/* SPDX-License-Identifier: MIT */
/* The commit of an import of positions: they are put by ascending key, in the order of the input
 * where the keys are equal. */
#include "base/attr.h"
#include "base/fault.h"
#include "import/lines/lines.h"
#include "store/load/load.h"

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 5

static void refused(void *context, uint32_t stream, uint32_t line, const char *why)
{
	struct chi_lining *lining = context;
	const struct chi_lines_place *place = &lining->places[stream];
	lining->n_bad++;
	chi_lines_tell(lining, place->file, place->line + line - 1, why);
}

static int fill(void *context, struct chi_load *load, struct chi_fault *fault)
{
	struct chi_lining *lining = context;
	struct chi_load_spec spec;
	int rc = chi_importer_start(lining->importer, load, chi_sorter_count(lining->puts.sorter),
				    STRENGTH_SHARE, &spec, fault);
	if (rc == CHI_OK) {
		rc = chi_puts_fold(&lining->puts, load, refused, NULL, lining, fault);
	}
	lining->result->skipped = lining->n_bad;
	lining->result->taken = lining->n_read - lining->n_bad;
	return rc;
}

int chi_lining_apply(struct chi_lining *lining, struct chi_import_result *result,
		     struct chi_fault *fault)
{
	lining->result = result;
	return chi_importer_apply(lining->importer, fill, lining, result, fault);
}
