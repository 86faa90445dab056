/* SPDX-License-Identifier: MIT */
#include "tests/import/merging.h"

#include <stdlib.h>
#include <string.h>

#include "import/importer.h"
#include "tests/store/sealed.h"

struct chi_import_result merging_result;

/* Feeds a text in pieces of `piece` bytes. */
int merging_text(struct chi_dir *store, const char *text, size_t len, size_t piece)
{
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	int rc = chi_importer_file(importer, "other", &fault);
	for (size_t at = 0; rc == CHI_OK && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		rc = chi_importer_feed(importer, text + at, n, &fault);
	}
	if (rc == CHI_OK) {
		rc = chi_importer_commit(importer, &merging_result, &fault);
	}
	chi_importer_free(importer);
	return rc;
}

void merging_same(struct chi_dir *a, struct chi_dir *b, bool same)
{
	size_t len_a = 0;
	size_t len_b = 0;
	char *text_a = help_dump(a, &len_a);
	char *text_b = help_dump(b, &len_b);
	assert_int_equal(len_a == len_b && memcmp(text_a, text_b, len_a) == 0, same);
	free(text_a);
	free(text_b);
}

/* The other store, read directly. */
int merging_store(struct chi_dir *store, struct chi_dir *other)
{
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	int rc = chi_importer_store(importer, chi_dir_path(other), &fault);
	rc = rc == CHI_OK ? chi_importer_commit(importer, &merging_result, &fault) : rc;
	chi_importer_free(importer);
	return rc;
}

struct chi_dir *merging_copy(struct chi_dir *store)
{
	struct chi_copy *copy;
	int fd;
	help_remove(help_path("copy"));
	ok(chi_copy_begin(help_path("copy"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	ok(chi_copy_finish(copy, &fault));
	return help_open(help_path("copy"), CHI_STORE_WRITE);
}

/* Both ways, which must do the same. */
int merging(struct chi_dir *store, struct chi_dir *other)
{
	size_t len = 0;
	char *lines = help_dump(other, &len);
	char *text = sealed(lines, &len);
	free(lines);
	struct chi_dir *copy = merging_copy(store);
	int rc = merging_text(copy, text, len, 1 + help_below(5000));
	struct chi_import_result by_text = merging_result;
	free(text);
	assert_int_equal(merging_store(store, other), rc);
	if (rc == CHI_OK) {
		assert_memory_equal(&merging_result, &by_text, sizeof(merging_result));
	}
	merging_same(store, copy, true);
	assert_int_equal(help_verify(store, &(struct chi_verify_result){0}), CHI_OK);
	chi_dir_close(copy);
	return rc;
}

/* Games of a text into a new store. */
struct chi_dir *merging_import(const char *name, enum chi_statistic statistic, const char *text,
			       size_t len)
{
	struct chi_dir *store = help_store(name, statistic);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_ADD};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_file(importer, name, &fault));
	ok(chi_importer_feed(importer, text, len, &fault));
	ok(chi_importer_commit(importer, &merging_result, &fault));
	chi_importer_free(importer);
	return store;
}
