/* SPDX-License-Identifier: MIT */
/* Options and target checked, the kind of input chosen, its failures kept. */
#include "bulk/bulk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "bulk/bulk_priv.h"

#define THREADS_MAX 256u

static const struct chi_bulk_kind *kind_of(enum chi_games_kind kind)
{
	switch (kind) {
	case CHI_GAMES_ADD:
	case CHI_GAMES_SUBTRACT:
		return &chi_bulk_games;
	case CHI_GAMES_MERGE:
		return &chi_bulk_merge;
	}
	return NULL;
}

static int check(const struct chi_bulk_target *target, const struct chi_games_options *options,
		 struct chi_fault *fault)
{
	if (target->store == NULL && target->path == NULL) {
		return chi_fault(fault, -CHI_EINVAL, "neither a store nor a path");
	}
	if (options->kind < CHI_GAMES_ADD || options->kind > CHI_GAMES_MERGE) {
		return chi_fault(fault, -CHI_EINVAL, "kind: no such kind of input");
	}
	if (target->store == NULL && options->kind != CHI_GAMES_ADD) {
		return chi_fault(fault, -CHI_EINVAL, "kind: needs a store that exists");
	}
	if (options->memory != 0 && options->memory < CHI_GAMES_MEMORY_MIN) {
		return chi_fault(fault, -CHI_EINVAL, "memory: at least %llu MiB are needed",
				 (unsigned long long)(CHI_GAMES_MEMORY_MIN >> 20));
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

static void set_defaults(struct chi_games_options *options)
{
	if (options->memory == 0) {
		options->memory = CHI_GAMES_MEMORY_DEFAULT;
	}
	if (options->threads == 0) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);
		options->threads = cores < 1		       ? 1
				   : cores > (long)THREADS_MAX ? THREADS_MAX
							       : (unsigned)cores;
	}
}

static void free_bulkp(struct chi_bulk **bulk)
{
	chi_bulk_free(*bulk);
}

int chi_bulk_begin(const struct chi_bulk_target *target, const struct chi_games_options *options,
		   struct chi_bulk **out, struct chi_fault *fault)
{
	int rc = check(target, options, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	_cleanup_(free_bulkp) struct chi_bulk *bulk = calloc(1, sizeof(*bulk));
	if (bulk == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	bulk->kind = kind_of(options->kind);
	bulk->options = *options;
	bulk->store = target->store;
	bulk->statistic =
		target->store != NULL ? chi_store_statistic(target->store) : target->statistic;
	set_defaults(&bulk->options);
	/* Whoever serves a store may have nothing but its directory. */
	bulk->spill = target->store != NULL ? strdup(chi_store_path(target->store))
					    : spill_dir(target->path);
	if (target->store == NULL) {
		bulk->path = strdup(target->path);
	}
	if (bulk->spill == NULL || (target->store == NULL && bulk->path == NULL)) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = bulk->kind->begin(bulk, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	*out = bulk;
	bulk = NULL;
	return CHI_OK;
}

/* Keeps the first failure: what comes behind it is told the same. */
static int keep(struct chi_bulk *bulk, int rc, struct chi_fault *fault)
{
	if (rc < 0 && bulk->status == CHI_OK) {
		bulk->status = rc;
	}
	if (rc < 0 && fault != NULL) {
		*fault = bulk->fault;
	}
	return rc;
}

/* CHI_OK if there is nothing against another call. */
static int usable(struct chi_bulk *bulk, struct chi_fault *fault)
{
	if (bulk->status != CHI_OK) {
		return keep(bulk, bulk->status, fault);
	}
	if (bulk->done) {
		return chi_fault(fault, -CHI_EINVAL, "the games are stored already");
	}
	if (chi_bulk_canceled(bulk)) {
		(void)chi_fault_plain(&bulk->fault, -CHI_ECANCELED);
		return keep(bulk, -CHI_ECANCELED, fault);
	}
	return CHI_OK;
}

int chi_bulk_file(struct chi_bulk *bulk, const char *name, struct chi_fault *fault)
{
	int rc = usable(bulk, fault);
	return rc != CHI_OK ? rc : keep(bulk, bulk->kind->file(bulk, name, &bulk->fault), fault);
}

int chi_bulk_feed(struct chi_bulk *bulk, const void *bytes, size_t len, struct chi_fault *fault)
{
	int rc = usable(bulk, fault);
	return rc != CHI_OK ? rc
			    : keep(bulk, bulk->kind->feed(bulk, bytes, len, &bulk->fault), fault);
}

int chi_bulk_commit(struct chi_bulk *bulk, struct chi_games_result *result, struct chi_fault *fault)
{
	int rc = usable(bulk, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	*result = (struct chi_games_result){0};
	rc = keep(bulk, bulk->kind->commit(bulk, result, &bulk->fault), fault);
	bulk->done = rc == CHI_OK;
	return rc;
}

void chi_bulk_mark(struct chi_bulk *bulk, const struct chi_once *once)
{
	bulk->once = *once;
}

int chi_bulk_known(const struct chi_bulk *bulk, struct chi_write *write,
		   struct chi_games_result *result, struct chi_fault *fault)
{
	struct chi_outcome outcome;
	if (bulk->once.sequence == 0) {
		return CHI_NONE;
	}
	int rc = chi_write_known(write, &bulk->once, CHI_ONCE_IMPORT, &outcome, fault);
	if (rc == CHI_OK) {
		*result = chi_outcome_games(&outcome);
	}
	return rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}

int chi_bulk_note(const struct chi_bulk *bulk, struct chi_write *write,
		  const struct chi_games_result *result, struct chi_fault *fault)
{
	struct chi_outcome outcome = chi_outcome_of_games(result);
	if (bulk->once.sequence == 0) {
		return CHI_OK;
	}
	int rc = chi_write_note(write, &bulk->once, &outcome);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

void chi_bulk_free(struct chi_bulk *bulk)
{
	if (bulk == NULL) {
		return;
	}
	bulk->kind->end(bulk);
	free(bulk->spill);
	free(bulk->path);
	free(bulk);
}
