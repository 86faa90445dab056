/* SPDX-License-Identifier: MIT */
/* Options and target checked, the kind of input chosen, its failures kept. */
#include "import/importer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/importer_priv.h"

#define THREADS_MAX 256u

static const struct chi_importer_kind *kind_of(enum chi_import_kind kind)
{
	switch (kind) {
	case CHI_IMPORT_ADD:
	case CHI_IMPORT_SUBTRACT:
		return &chi_importer_pgn;
	case CHI_IMPORT_MERGE:
		return &chi_importer_merge;
	}
	return NULL;
}

static int check(const struct chi_importer_target *target, const struct chi_import_options *options,
		 struct chi_fault *fault)
{
	if (target->store == NULL && target->path == NULL) {
		return chi_fault(fault, -CHI_EINVAL, "neither a store nor a path");
	}
	if (options->kind < CHI_IMPORT_ADD || options->kind > CHI_IMPORT_MERGE) {
		return chi_fault(fault, -CHI_EINVAL, "kind: no such kind of input");
	}
	if (target->store == NULL && options->kind != CHI_IMPORT_ADD) {
		return chi_fault(fault, -CHI_EINVAL, "kind: needs a store that exists");
	}
	if (options->memory != 0 && options->memory < CHI_IMPORT_MEMORY_MIN) {
		return chi_fault(fault, -CHI_EINVAL, "memory: at least %llu MiB are needed",
				 (unsigned long long)(CHI_IMPORT_MEMORY_MIN >> 20));
	}
	if (options->threads > THREADS_MAX) {
		return chi_fault(fault, -CHI_EINVAL, "threads: at most %u", THREADS_MAX);
	}
	if (kind_of(options->kind) == NULL) {
		return chi_fault(fault, -CHI_EUNSUPPORTED, "kind: cannot be read yet");
	}
	return CHI_OK;
}

/* The directory in which a store is to stand; where that takes no files, its own. NULL: out of
 * memory. */
static char *spill_dir(const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	while (len > 0 && path[len - 1] != '/') {
		len--;
	}
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	char *dir = len > 0 ? strndup(path, len) : strdup(".");
	if (dir == NULL || access(dir, W_OK | X_OK) == 0) {
		return dir;
	}
	free(dir);
	return strdup(path);
}

static void set_defaults(struct chi_import_options *options)
{
	if (options->memory == 0) {
		options->memory = CHI_IMPORT_MEMORY_DEFAULT;
	}
	if (options->threads == 0) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);
		options->threads = cores < 1		       ? 1
				   : cores > (long)THREADS_MAX ? THREADS_MAX
							       : (unsigned)cores;
	}
}

static void free_bulkp(struct chi_importer **importer)
{
	chi_importer_free(*importer);
}

int chi_importer_begin(const struct chi_importer_target *target,
		       const struct chi_import_options *options, struct chi_importer **out,
		       struct chi_fault *fault)
{
	int rc = check(target, options, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	_cleanup_(free_bulkp) struct chi_importer *importer = calloc(1, sizeof(*importer));
	if (importer == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->kind = kind_of(options->kind);
	importer->options = *options;
	importer->store = target->store;
	importer->statistic =
		target->store != NULL ? chi_store_statistic(target->store) : target->statistic;
	set_defaults(&importer->options);
	/* Whoever serves a store may have nothing but its directory. */
	importer->spill = target->store != NULL ? strdup(chi_store_path(target->store))
						: spill_dir(target->path);
	if (target->store == NULL) {
		importer->path = strdup(target->path);
	}
	if (importer->spill == NULL || (target->store == NULL && importer->path == NULL)) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = importer->kind->begin(importer, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	*out = importer;
	importer = NULL;
	return CHI_OK;
}

/* Keeps the first failure: what comes behind it is told the same. */
static int keep(struct chi_importer *importer, int rc, struct chi_fault *fault)
{
	if (rc < 0 && importer->status == CHI_OK) {
		importer->status = rc;
	}
	if (rc < 0 && fault != NULL) {
		*fault = importer->fault;
	}
	return rc;
}

/* CHI_OK if there is nothing against another call. */
static int usable(struct chi_importer *importer, struct chi_fault *fault)
{
	if (importer->status != CHI_OK) {
		return keep(importer, importer->status, fault);
	}
	if (importer->done) {
		return chi_fault(fault, -CHI_EINVAL, "the games are stored already");
	}
	if (chi_importer_canceled(importer)) {
		(void)chi_fault_plain(&importer->fault, -CHI_ECANCELED);
		return keep(importer, -CHI_ECANCELED, fault);
	}
	return CHI_OK;
}

int chi_importer_file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	int rc = usable(importer, fault);
	return rc != CHI_OK ? rc
			    : keep(importer, importer->kind->file(importer, name, &importer->fault),
				   fault);
}

int chi_importer_feed(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	int rc = usable(importer, fault);
	return rc != CHI_OK
		       ? rc
		       : keep(importer,
			      importer->kind->feed(importer, bytes, len, &importer->fault), fault);
}

int chi_importer_commit(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	int rc = usable(importer, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	*result = (struct chi_import_result){0};
	rc = keep(importer, importer->kind->commit(importer, result, &importer->fault), fault);
	importer->done = rc == CHI_OK;
	return rc;
}

void chi_importer_once(struct chi_importer *importer,
		       const struct chi_idempotency_key *idempotency_key)
{
	importer->idempotency_key = *idempotency_key;
}

int chi_importer_known(const struct chi_importer *importer, struct chi_write *write,
		       struct chi_import_result *result, struct chi_fault *fault)
{
	struct chi_outcome outcome;
	if (importer->idempotency_key.sequence == 0) {
		return CHI_NONE;
	}
	int rc = chi_write_known(write, &importer->idempotency_key, CHI_IDEMPOTENCY_IMPORT,
				 &outcome, fault);
	if (rc == CHI_OK) {
		*result = chi_outcome_import(&outcome);
	}
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

int chi_importer_note(const struct chi_importer *importer, struct chi_write *write,
		      const struct chi_import_result *result, struct chi_fault *fault)
{
	struct chi_outcome outcome = chi_outcome_of_import(result);
	if (importer->idempotency_key.sequence == 0) {
		return CHI_OK;
	}
	int rc = chi_write_note(write, &importer->idempotency_key, &outcome);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

void chi_importer_free(struct chi_importer *importer)
{
	if (importer == NULL) {
		return;
	}
	importer->kind->end(importer);
	free(importer->spill);
	free(importer->path);
	free(importer);
}
