/* SPDX-License-Identifier: MIT */
/*
 * Games into the archive and out of it. Into a new store, whose transaction is committed now and
 * then, what is gathered is flushed before each commit.
 */
#include <string.h>

#include "base/fault.h"
#include "store/games/archive.h"
#include "store/load/load_priv.h"
#include "store/names/names.h"

/* The numbers of names have so much of the memory. */
#define NAMES_SHARE 8

/* A game has no more names, its source among them. */
#define GAME_NAMES 5

#define PAGE ((size_t)4096)

static int begin(struct chi_load *load)
{
	int rc = load->names == NULL
			 ? chi_name_cache_new((size_t)(load->memory / NAMES_SHARE), &load->names)
			 : CHI_OK;
	if (rc == CHI_OK && load->keeper == NULL) {
		rc = chi_archive_writer_new(load->txn, &load->archive, load->names, &load->keeper);
	}
	return rc;
}

static int turn(void *context, MDB_txn **txn)
{
	struct chi_load *load = context;
	int rc = chi_load_error(load, chi_load_saved(load, load->commit_bytes), &load->fault);
	*txn = load->txn;
	return rc;
}

/* Everything gathered goes to LMDB. The numbers of names stay known. */
static int flush(struct chi_load *load)
{
	const struct chi_name_turns turns = {
		.entries = load->commit_bytes / PAGE, .turn = turn, .context = load};
	if (load->keeper == NULL) {
		return CHI_OK;
	}
	int rc = chi_archive_flush(load->keeper);
	chi_archive_writer_free(load->keeper);
	load->keeper = NULL;
	return rc == CHI_OK ? chi_names_flush_by_turns(load->names, load->txn, load->archive.names,
						       load->write == NULL ? &turns : NULL)
			    : rc;
}

/* A new store commits at times, and before names need its transaction for all at once. */
static int settle(struct chi_load *load, size_t len, struct chi_fault *fault)
{
	load->kept += len;
	if (load->write != NULL ||
	    (load->kept < load->commit_bytes && !chi_name_cache_full(load->names, GAME_NAMES))) {
		return CHI_OK;
	}
	load->kept = 0;
	int rc = flush(load);
	if (chi_name_cache_full(load->names, GAME_NAMES)) {
		chi_name_cache_reset(load->names);
	}
	return rc < 0 ? rc : chi_load_error(load, chi_load_saved(load, load->commit_bytes), fault);
}

/* The source of one game is mostly that of the game before. */
static int find_source(struct chi_load *load, const char *source)
{
	size_t len = strlen(source);
	if (len == 0 || len >= sizeof(load->source_name)) {
		load->source = 0;
		load->source_name[0] = '\0';
		return CHI_OK;
	}
	if (strcmp(source, load->source_name) == 0) {
		return CHI_OK;
	}
	memcpy(load->source_name, source, len + 1);
	return chi_names_intern(load->names, load->txn, load->archive.names, CHI_NAME_SOURCE,
				source, len, 0, &load->source);
}

static int keep(struct chi_load *load, uint32_t number, const char *source, const uint8_t *packed,
		size_t len, struct chi_fault *fault)
{
	int rc = begin(load);
	if (rc == CHI_OK) {
		rc = find_source(load, source);
	}
	if (rc == CHI_OK) {
		rc = chi_archive_append(load->keeper, number, load->source, packed, len, NULL);
	}
	if (load->write != NULL) {
		load->write->changed = true;
	}
	return rc == CHI_OK ? settle(load, len, fault) : rc;
}

static int told(struct chi_load *load, int rc, struct chi_fault *fault)
{
	if (rc < 0 && load->fault.text[0] == '\0') {
		(void)chi_fault(&load->fault, rc, "cannot write games to '%s' (%s)", load->dir,
				chi_strerror(rc));
	}
	if (rc < 0 && fault != NULL) {
		*fault = load->fault;
	}
	return chi_load_stick(load, rc, &load->fault);
}

int chi_load_archive(struct chi_load *load, uint32_t number, const char *source,
		     const uint8_t *packed, size_t len, struct chi_fault *fault)
{
	return load->rc < 0
		       ? chi_fault_plain(fault, load->rc)
		       : told(load, keep(load, number, source, packed, len, &load->fault), fault);
}

int chi_load_archived(struct chi_load *load, struct chi_fault *fault)
{
	if (load->rc < 0) {
		return chi_fault_plain(fault, load->rc);
	}
	int rc = told(load, flush(load), fault);
	chi_load_archive_free(load);
	return rc;
}

int chi_load_unarchive(struct chi_load *load, uint32_t number, struct chi_fault *fault)
{
	int rc = load->rc < 0 ? load->rc : chi_archive_remove(load->txn, &load->archive, number);
	return told(load, rc == CHI_NONE ? -CHI_ECORRUPT : rc, fault);
}

void chi_load_archive_free(struct chi_load *load)
{
	chi_archive_writer_free(load->keeper);
	chi_name_cache_free(load->names);
	load->keeper = NULL;
	load->names = NULL;
}
