/* SPDX-License-Identifier: MIT */
/* Options and target checked, the kind of input chosen. */
#include "import/importer.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/importer_priv.h"
#include "search/filter/unstored.h"

#define THREADS_MAX 256u

/* Each thread needs so much memory at least; there are fewer if need be. */
#define THREAD_MEMORY (UINT64_C(4) << 20)

/* True for kinds whose input is PGN. */
static bool is_games(enum chi_import_kind kind)
{
	return kind == CHI_IMPORT_ADD || kind == CHI_IMPORT_SUBTRACT;
}

/* An option that would do nothing is a mistake. */
static int check_kind(const struct chi_import_options *options, struct chi_fault *fault)
{
	enum chi_import_kind kind = options->kind;
	if (kind != CHI_IMPORT_MERGE && (options->skip_known || options->count_twice)) {
		return chi_fail(fault, -CHI_EINVAL, "%s: goes with a merge",
				options->skip_known ? "skip_known" : "count_twice");
	}
	if (kind != CHI_IMPORT_ADD && options->evals) {
		return chi_fail(fault, -CHI_EINVAL, "evals: goes with games that are added");
	}
	if (kind != CHI_IMPORT_PUT &&
	    (options->format != CHI_FORMAT_AUTO || options->engine[0] != '\0' || options->add ||
	     options->unplayed)) {
		return chi_fail(fault, -CHI_EINVAL, "%s: goes with positions",
				options->format != CHI_FORMAT_AUTO ? "format"
				: options->add			   ? "add"
				: options->unplayed		   ? "unplayed"
								   : "engine");
	}
	if (options->format < CHI_FORMAT_AUTO || options->format > CHI_FORMAT_MAX ||
	    options->format == CHI_FORMAT_PGN || options->format == CHI_FORMAT_POLYGLOT ||
	    options->format == CHI_FORMAT_EXP) {
		return chi_fail(fault, -CHI_EINVAL, "format: not of lines of positions");
	}
	if (!is_games(kind) && options->filter != NULL && options->filter[0] != '\0') {
		return chi_fail(fault, -CHI_EINVAL, "filter: goes with games");
	}
	return CHI_OK;
}

static int check_target(const struct chi_importer_target *target,
			const struct chi_import_options *options, struct chi_fault *fault)
{
	if (target->store == NULL && target->path == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "neither a store nor a path");
	}
	if (options->kind < CHI_IMPORT_ADD || options->kind > CHI_IMPORT_PUT) {
		return chi_fail(fault, -CHI_EINVAL, "kind: no such kind of input");
	}
	bool needs = options->kind == CHI_IMPORT_SUBTRACT || options->kind == CHI_IMPORT_MERGE;
	if (target->store == NULL && needs) {
		return chi_fail(fault, -CHI_EINVAL, "kind: needs a store that exists");
	}
	int rc = check_kind(options, fault);
	if (rc < 0) {
		return rc;
	}
	if (options->skip_known && options->count_twice) {
		return chi_fail(fault, -CHI_EINVAL, "skip_known: excludes count_twice");
	}
	if (options->memory != 0 && options->memory < CHI_IMPORT_MEMORY_MIN) {
		return chi_fail(fault, -CHI_EINVAL, "memory: at least %llu MiB are needed",
				(unsigned long long)(CHI_IMPORT_MEMORY_MIN >> 20));
	}
	if (options->threads > THREADS_MAX) {
		return chi_fail(fault, -CHI_EINVAL, "threads: at most %u", THREADS_MAX);
	}
	return CHI_OK;
}

/* The directory that holds the store's; if that takes no files, the store's own. NULL: out of
 * memory. */
static char *spill_dir(const char *path)
{
	_cleanup_(chi_freep) char *copy = strdup(path);
	const char *dir = copy != NULL ? dirname(copy) : NULL;
	return dir == NULL ? NULL : strdup(access(dir, W_OK | X_OK) == 0 ? dir : path);
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
	uint64_t most = options->memory / THREAD_MEMORY;
	options->threads = options->threads < most ? options->threads : (unsigned)most;
}

static int read_filter(const char *text, struct chi_terms **out, struct chi_fault *fault)
{
	if (text == NULL || text[0] == '\0') {
		return CHI_OK;
	}
	*out = malloc(sizeof(**out));
	return *out != NULL ? chi_unstored_parse(text, *out, fault)
			    : chi_fault_plain(fault, -CHI_ENOMEM);
}

static void free_importerp(struct chi_importer **importer)
{
	chi_importer_free(*importer);
}

int chi_importer_begin(const struct chi_importer_target *target,
		       const struct chi_import_options *options, struct chi_importer **out,
		       struct chi_fault *fault)
{
	int rc = check_target(target, options, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	_cleanup_(free_importerp) struct chi_importer *importer = calloc(1, sizeof(*importer));
	if (importer == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->kind = options->kind == CHI_IMPORT_MERGE  ? &chi_importer_merge
			 : options->kind == CHI_IMPORT_LOAD ? &chi_importer_load
			 : options->kind == CHI_IMPORT_PUT  ? &chi_importer_lines
							    : &chi_importer_pgn;
	importer->options = *options;
	importer->store = target->store;
	importer->statistic =
		target->store != NULL ? chi_dir_statistic(target->store) : target->statistic;
	importer->keep = target->store != NULL ? chi_dir_keep(target->store) : target->keep;
	set_defaults(&importer->options);
	/* A server may write to nothing but the store's directory. */
	importer->spill = target->store != NULL	    ? strdup(chi_dir_path(target->store))
			  : target->unnamed != NULL ? strdup(target->path)
						    : spill_dir(target->path);
	importer->unnamed = target->unnamed;
	if (target->store == NULL) {
		importer->path = strdup(target->path);
	}
	if (importer->spill == NULL || (target->store == NULL && importer->path == NULL)) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = read_filter(options->filter, &importer->filter, fault);
	importer->options.filter = NULL;
	rc = rc == CHI_OK ? importer->kind->begin(importer, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	*out = importer;
	importer = NULL;
	return CHI_OK;
}

static int ready_importer(const struct chi_importer *importer, struct chi_fault *fault)
{
	fault->text[0] = '\0';
	return chi_importer_canceled(importer) ? chi_fault_plain(fault, -CHI_ECANCELED) : CHI_OK;
}

int chi_importer_file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	int rc = ready_importer(importer, fault);
	return rc == CHI_OK ? importer->kind->file(importer, name, fault) : rc;
}

int chi_importer_feed(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	int rc = ready_importer(importer, fault);
	return rc == CHI_OK ? importer->kind->feed(importer, bytes, len, fault) : rc;
}

int chi_importer_store(struct chi_importer *importer, const char *dir, struct chi_fault *fault)
{
	int rc = ready_importer(importer, fault);
	if (rc == CHI_OK && importer->kind->store == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "only a merge takes a store in a directory");
	}
	return rc == CHI_OK ? importer->kind->store(importer, dir, fault) : rc;
}

int chi_importer_commit(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	int rc = ready_importer(importer, fault);
	*result = (struct chi_import_result){0};
	return rc == CHI_OK ? importer->kind->commit(importer, result, fault) : rc;
}

void chi_importer_once(struct chi_importer *importer,
		       const struct chi_idempotency_key *idempotency_key)
{
	importer->idempotency_key = *idempotency_key;
}

void chi_importer_ask_counted(struct chi_importer *importer, chi_importer_counted *counted,
			      void *context)
{
	importer->counted = counted;
	importer->counted_context = context;
}

void chi_importer_free(struct chi_importer *importer)
{
	if (importer == NULL) {
		return;
	}
	importer->kind->end(importer);
	free(importer->spill);
	free(importer->path);
	free(importer->filter);
	free(importer);
}
