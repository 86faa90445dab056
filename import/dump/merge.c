/* SPDX-License-Identifier: MIT */
/* Taking the other store in: a directory, or the text of a dump, which a load takes. */
#include "import/dump/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

static int one_store(struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_EINVAL, "one store is merged in a session");
}

static int merge_begin(struct chi_importer *importer, struct chi_fault *fault)
{
	importer->state = calloc(1, sizeof(struct chi_dump_merging));
	return importer->state != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
}

static void merge_end(struct chi_importer *importer)
{
	struct chi_dump_merging *merging = importer->state;
	if (merging == NULL) {
		return;
	}
	chi_importer_free(merging->text);
	chi_other_free(merging->other);
	chi_load_abandon(merging->made);
	free(merging);
	importer->state = NULL;
}

/* One store, one transaction. */
static int merge_file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	(void)name;
	return merging->n_files++ > 0 ? one_store(fault) : CHI_OK;
}

static int merge_store(struct chi_importer *importer, const char *dir, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	return merging->other != NULL || merging->text != NULL
		       ? one_store(fault)
		       : chi_other_open(importer, dir, &merging->other, fault);
}

/* What loads the text, as this session would: into a store of the kind that the dump is of. */
static int begin_text(struct chi_importer *importer, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	struct chi_importer *text = calloc(1, sizeof(*text));
	if (text == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	merging->text = text;
	text->kind = &chi_importer_load;
	text->options = importer->options;
	text->options.kind = CHI_IMPORT_LOAD;
	text->unnamed = &merging->made;
	text->as_dump = true;
	text->spill = strdup(importer->spill);
	return text->spill != NULL ? text->kind->begin(text, fault)
				   : chi_fault_plain(fault, -CHI_ENOMEM);
}

static int merge_feed(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	if (merging->other != NULL) {
		return one_store(fault);
	}
	int rc = merging->text == NULL ? begin_text(importer, fault) : CHI_OK;
	return rc == CHI_OK ? chi_importer_feed(merging->text, bytes, len, fault) : rc;
}

/* A dump that is not whole would merge a part, and merging the whole later count that twice. */
static int load_text(struct chi_importer *importer, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	struct chi_import_result loaded;
	int rc = merging->text == NULL ? begin_text(importer, fault) : CHI_OK;
	rc = rc == CHI_OK ? chi_importer_commit(merging->text, &loaded, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	if (loaded.positions.updated + loaded.positions.unchanged > 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "the dump is damaged: a position comes twice");
	}
	struct chi_load *made = merging->made;
	merging->made = NULL;
	rc = chi_other_made(importer, made, &merging->other, fault);
	/* What it has of the memory the merge needs. */
	chi_importer_free(merging->text);
	merging->text = NULL;
	return rc;
}

static int merge_commit(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	int rc = merging->other == NULL ? load_text(importer, fault) : CHI_OK;
	return rc == CHI_OK ? chi_merging_apply(importer, merging->other, result, fault) : rc;
}

const struct chi_importer_kind chi_importer_merge = {
	.begin = merge_begin,
	.file = merge_file,
	.feed = merge_feed,
	.store = merge_store,
	.commit = merge_commit,
	.end = merge_end,
};
