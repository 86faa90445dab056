/* SPDX-License-Identifier: MIT */
/* The commit of an import of positions: they are put by ascending key, in the order of the input
 * where the keys are equal. */
#include "base/attr.h"
#include "base/fault.h"
#include "import/lines/lines.h"
#include "store/load/load.h"

/* Sixteenths of the memory that sort the strength tree's entries. */
#define STRENGTH_SHARE 5

static void abandonp(struct chi_load **load)
{
	chi_load_abandon(*load);
}

static void refused(void *context, uint32_t stream, uint32_t line, const char *why)
{
	struct chi_lining *lining = context;
	const struct chi_lines_place *place = &lining->places[stream];
	lining->n_bad++;
	chi_lines_tell(lining, place->file, place->line + line - 1, why);
}

static int apply(struct chi_lining *lining, struct chi_load *load, struct chi_import_result *result,
		 struct chi_fault *fault)
{
	const struct chi_importer *importer = lining->importer;
	struct chi_write *write = chi_load_write(load);
	struct chi_load_spec spec;
	const struct chi_load_options options = {
		.unplayed = importer->options.unplayed,
		.expected = chi_sorter_count(lining->puts.sorter),
		.memory = importer->options.memory / 16 * STRENGTH_SHARE,
		.dir = importer->spill,
	};
	int rc = write != NULL ? chi_importer_known(importer, write, result, fault) : CHI_NONE;
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = chi_load_start(load, &options, &spec, fault);
	if (rc == CHI_OK) {
		rc = chi_puts_fold(&lining->puts, load, refused, NULL, lining, fault);
	}
	if (rc == CHI_OK) {
		result->skipped = lining->n_bad;
		result->taken = lining->n_read - lining->n_bad;
		rc = chi_load_complete(load, &result->positions, &result->dropped, fault);
	}
	return rc == CHI_OK && write != NULL ? chi_importer_note(importer, write, result, fault)
					     : rc;
}

int chi_lining_apply(struct chi_lining *lining, struct chi_import_result *result,
		     struct chi_fault *fault)
{
	struct chi_importer *importer = lining->importer;
	_cleanup_(abandonp) struct chi_load *load = NULL;
	int rc = importer->store != NULL ? chi_load_into(importer->store, &load, fault)
					 : chi_load_new(importer->path, importer->statistic,
							importer->keep, &load, fault);
	if (rc != CHI_OK) {
		load = NULL;
		return rc;
	}
	rc = apply(lining, load, result, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_load *done = load;
	load = NULL;
	return chi_load_finish(done, &result->positions, &result->dropped, fault);
}
