/* SPDX-License-Identifier: MIT */
/* The frame of every commit: one load, which is finished or given up. */
#include "base/attr.h"
#include "base/fault.h"
#include "import/importer_priv.h"

/* Items between two looks at whether to go on. */
#define CHECK_EVERY UINT64_C(4096)

static void abandonp(struct chi_load **load)
{
	chi_load_abandon(*load);
}

/* CHI_NONE, go on; CHI_OK: the marked import was done before, *result are its totals. */
static int look_up_mark(const struct chi_importer *importer, struct chi_write *write,
			struct chi_import_result *result, struct chi_fault *fault)
{
	struct chi_outcome outcome;
	if (write == NULL || importer->idempotency_key.sequence == 0) {
		return CHI_NONE;
	}
	int rc = chi_write_known(write, &importer->idempotency_key, CHI_IDEMPOTENCY_IMPORT,
				 &outcome, fault);
	if (rc == CHI_OK) {
		*result = outcome.import;
	}
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

static int note_mark(const struct chi_importer *importer, struct chi_write *write,
		     const struct chi_import_result *result, struct chi_fault *fault)
{
	const struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_IMPORT, .import = *result};
	if (write == NULL || importer->idempotency_key.sequence == 0) {
		return CHI_OK;
	}
	int rc = chi_write_note(write, &importer->idempotency_key, &outcome);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_importer_check(const struct chi_importer *importer, const char *phase, uint64_t done,
		       uint64_t total, struct chi_fault *fault)
{
	if (chi_importer_canceled(importer)) {
		return chi_fault_plain(fault, -CHI_ECANCELED);
	}
	if (phase != NULL) {
		chi_importer_progress(importer, phase, done, total);
	}
	return CHI_OK;
}

int chi_importer_walk(const struct chi_importer *importer, struct chi_sorter *sorter,
		      const char *phase, chi_importer_take *take, void *context,
		      struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	const struct chi_sort_item *item;
	uint64_t n = chi_sorter_count(sorter);
	int rc = chi_sorter_read(sorter, &reader, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	for (uint64_t seen = 0; rc == CHI_OK; seen++) {
		if (seen % CHECK_EVERY == 0) {
			rc = chi_importer_check(importer, phase, seen, n, fault);
		}
		rc = rc == CHI_OK ? chi_sort_next(reader, &item) : rc;
		rc = rc == CHI_OK ? take(context, item, fault) : rc;
	}
	chi_sort_close(reader);
	return rc == CHI_NONE			  ? CHI_OK
	       : rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc)
						  : rc;
}

int chi_importer_start(const struct chi_importer *importer, struct chi_load *load,
		       uint64_t expected, unsigned share, struct chi_load_spec *spec,
		       struct chi_fault *fault)
{
	const struct chi_import_options *options = &importer->options;
	bool games = options->kind == CHI_IMPORT_ADD || options->kind == CHI_IMPORT_SUBTRACT;
	const struct chi_load_options how = {
		.subtract = options->kind == CHI_IMPORT_SUBTRACT,
		.games_min = games ? options->games_min : 0,
		.unplayed = options->unplayed,
		.expected = expected,
		.memory = options->memory / 16 * share,
		.dir = importer->spill,
	};
	return chi_load_start(load, &how, spec, fault);
}

static int begin_load(const struct chi_importer *importer, struct chi_load **out,
		      struct chi_fault *fault)
{
	if (importer->store != NULL) {
		return chi_load_into(importer->store, out, fault);
	}
	return importer->unnamed != NULL ? chi_load_unnamed(importer->spill, importer->statistic,
							    importer->keep, out, fault)
					 : chi_load_new(importer->path, importer->statistic,
							importer->keep, out, fault);
}

int chi_importer_apply(const struct chi_importer *importer, chi_importer_fill *fill, void *context,
		       struct chi_import_result *result, struct chi_fault *fault)
{
	_cleanup_(abandonp) struct chi_load *load = NULL;
	int rc = begin_load(importer, &load, fault);
	if (rc != CHI_OK) {
		load = NULL;
		return rc;
	}
	chi_load_memory(load, importer->options.memory);
	struct chi_write *write = chi_load_write(load);
	rc = look_up_mark(importer, write, result, fault);
	if (rc == CHI_NONE) {
		rc = fill(context, load, fault);
		if (rc == CHI_OK && chi_importer_canceled(importer)) {
			rc = chi_fault_plain(fault, -CHI_ECANCELED);
		}
		rc = rc == CHI_OK
			     ? chi_load_complete(load, &result->positions, &result->dropped, fault)
			     : rc;
		rc = rc == CHI_OK ? note_mark(importer, write, result, fault) : rc;
	}
	if (rc < 0) {
		return rc;
	}
	struct chi_load *last = load;
	load = NULL;
	if (importer->unnamed != NULL) {
		*importer->unnamed = last;
		return CHI_OK;
	}
	return chi_load_finish(last, &result->positions, &result->dropped, fault);
}
