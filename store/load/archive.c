/* SPDX-License-Identifier: MIT */
/*
 * Games into the archive and out of it. Into a new store, whose transaction is committed now and
 * then, what is gathered is flushed before each commit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chistore/names.h"
#include "store/archive.h"
#include "store/chain/chain.h"
#include "store/games/archive.h"
#include "store/gamesets/gamesets.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/names/names.h"

/* The numbers of names have so much of the memory. */
#define NAMES_SHARE 8
/* What is gathered by trait. */
#define TRAITS_SHARE 4

/* A game has no more names, its source among them. */
#define GAME_NAMES 5

#define PAGE ((size_t)4096)

static int begin_archive(struct chi_load *load)
{
	int rc = load->names == NULL
			 ? chi_name_cache_new((size_t)(load->memory / NAMES_SHARE), &load->names)
			 : CHI_OK;
	rc = rc == CHI_OK && load->traits == NULL
		     ? chi_traits_writer_new(load->memory / TRAITS_SHARE, &load->traits)
		     : rc;
	if (rc == CHI_OK && load->keeper == NULL) {
		rc = chi_archive_writer_new(load->txn, &load->archive, load->names, load->traits,
					    &load->keeper);
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

/* Games and names that are gathered go to LMDB. The numbers of names stay known. */
static int flush_archive(struct chi_load *load)
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

/* And the lists of games by trait, which a new store gets at once. */
static int finish_archive(struct chi_load *load)
{
	int rc = flush_archive(load);
	return rc == CHI_OK && load->traits != NULL
		       ? chi_traits_flush(load->traits, load->txn, load->archive.traits)
		       : rc;
}

/* A new store commits at times, and before names need its transaction for all at once. */
static int commit_kept(struct chi_load *load, size_t len, struct chi_fault *fault)
{
	load->kept += len;
	if (load->write != NULL ||
	    (load->kept < load->commit_bytes && !chi_name_cache_full(load->names, GAME_NAMES))) {
		return CHI_OK;
	}
	load->kept = 0;
	int rc = flush_archive(load);
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

static size_t size_of(const struct chi_packed_game *game)
{
	size_t size = sizeof(game->head);
	for (size_t i = 0; i < CHI_BODY_PARTS; i++) {
		size += game->body.parts[i].len;
	}
	return size;
}

static int keep_body(struct chi_load *load, uint32_t number, const char *source,
		     const struct chi_packed_game *game, struct chi_fault *fault)
{
	int rc = begin_archive(load);
	if (rc == CHI_OK) {
		rc = find_source(load, source);
	}
	if (rc == CHI_OK) {
		rc = chi_archive_append_packed(load->keeper, number, load->source, game, NULL);
	}
	if (load->write != NULL) {
		load->write->changed = true;
	}
	return rc == CHI_OK ? commit_kept(load, size_of(game), fault) : rc;
}

static int told(struct chi_load *load, int rc, struct chi_fault *fault)
{
	if (rc < 0 && load->fault.text[0] == '\0') {
		(void)chi_fail(&load->fault, rc, "cannot write games to '%s' (%s)", load->dir,
			       chi_strerror(rc));
	}
	if (rc < 0 && fault != NULL) {
		*fault = load->fault;
	}
	return chi_load_stick(load, rc, &load->fault);
}

int chi_load_archive_packed(struct chi_load *load, uint32_t number, const char *source,
			    const struct chi_packed_game *game, struct chi_fault *fault)
{
	return load->rc < 0
		       ? chi_fault_plain(fault, load->rc)
		       : told(load, keep_body(load, number, source, game, &load->fault), fault);
}

int chi_load_archive(struct chi_load *load, uint32_t number, const char *source,
		     const uint8_t *packed, size_t len, struct chi_fault *fault)
{
	struct chi_packed_game game;
	int rc = load->rc == CHI_OK ? chi_packed_open(packed, len, &game) : load->rc;
	return rc < 0 ? told(load, rc, fault)
		      : chi_load_archive_packed(load, number, source, &game, fault);
}

int chi_load_archived(struct chi_load *load, struct chi_fault *fault)
{
	if (load->rc < 0) {
		return chi_fault_plain(fault, load->rc);
	}
	int rc = told(load, finish_archive(load), fault);
	chi_load_archive_free(load);
	return rc;
}

int chi_load_unarchive(struct chi_load *load, uint32_t number, struct chi_fault *fault)
{
	int rc = load->rc < 0 ? load->rc : chi_load_touch_names(load, number);
	rc = rc == CHI_OK ? begin_archive(load) : rc;
	rc = rc == CHI_OK ? chi_archive_remove(load->keeper, number) : rc;
	return told(load, rc == CHI_NONE ? -CHI_ECORRUPT : rc, fault);
}

int chi_load_unarchived(struct chi_load *load, struct chi_fault *fault)
{
	int rc = load->rc < 0 ? load->rc : finish_archive(load);
	return told(load, rc == CHI_OK ? chi_load_forget_names(load) : rc, fault);
}

/* ---- As another store has it -------------------------------------------------------------- */

static int add_archive_name(struct chi_load *load, enum chi_name_kind kind, uint32_t id,
			    const char *text, size_t len, uint32_t fide, struct chi_fault *fault)
{
	uint32_t given = 0;
	int rc = begin_archive(load);
	if (rc == CHI_OK) {
		rc = chi_names_add(load->names, load->txn, load->archive.names, kind, text, len,
				   fide, &given);
	}
	if (rc == CHI_NONE || rc == -CHI_EINVAL || (rc == CHI_OK && given != id)) {
		return chi_fail(fault, -CHI_EINVAL, "%s %u: %s", chi_name_kind_name((int)kind), id,
				rc == CHI_NONE ? "another name has the text and the FIDE id"
				: rc < 0       ? "it cannot be a name"
					       : "the number is not the next one");
	}
	return rc == CHI_OK ? commit_kept(load, len, fault) : rc;
}

int chi_load_name(struct chi_load *load, enum chi_name_kind kind, uint32_t id, const char *text,
		  size_t len, uint32_t fide, struct chi_fault *fault)
{
	return load->rc < 0
		       ? chi_fault_plain(fault, load->rc)
		       : told(load, add_archive_name(load, kind, id, text, len, fide, &load->fault),
			      fault);
}

/* Of a change of a name that may be refused, and then changes nothing. */
static int settle_name(struct chi_load *load, int rc, struct chi_fault *fault)
{
	if (load->write != NULL) {
		load->write->changed |= rc == CHI_OK;
	}
	return rc == -CHI_EINVAL ? rc : told(load, rc, rc < 0 ? fault : NULL);
}

int chi_load_alias(struct chi_load *load, enum chi_name_kind kind, uint32_t id, uint32_t root,
		   struct chi_fault *fault)
{
	return load->rc < 0 ? chi_fault_plain(fault, load->rc)
			    : settle_name(load,
					  chi_names_alias(load->txn, load->archive.names, kind, id,
							  root, fault),
					  fault);
}

int chi_load_give_fide(struct chi_load *load, uint32_t id, uint32_t fide, struct chi_fault *fault)
{
	return load->rc < 0 ? chi_fault_plain(fault, load->rc)
			    : settle_name(load,
					  chi_names_set_fide(load->txn, load->archive.names, id,
							     fide, true, fault),
					  fault);
}

int chi_load_find_name(struct chi_load *load, enum chi_name_kind kind, const char *text, size_t len,
		       uint32_t fide, uint32_t *id, struct chi_fault *fault)
{
	uint32_t before = 0;
	int rc = load->rc < 0 ? load->rc : begin_archive(load);
	if (rc == CHI_OK) {
		rc = chi_names_count(load->txn, load->archive.names, kind, &before);
	}
	if (rc == CHI_OK) {
		rc = chi_names_intern(load->names, load->txn, load->archive.names, kind, text, len,
				      fide, id);
	}
	if (load->write != NULL) {
		load->write->changed |= fide != 0 || *id > before;
	}
	return told(load, rc, fault);
}

static int put_gameset(struct chi_load *load, const struct chi_gameset_entry *entry)
{
	if (load->write != NULL) {
		return chi_write_gameset(load->write, entry);
	}
	size_t len = chi_gameset_size(entry);
	_cleanup_(chi_freep) uint8_t *bytes = malloc(len);
	if (bytes == NULL) {
		return -CHI_ENOMEM;
	}
	chi_gameset_encode(entry, bytes);
	MDB_val key = chi_val((const uint8_t *)entry->name, entry->name_len);
	MDB_val value = {len, bytes};
	int error = chi_load_regain(load);
	error = error == 0 ? chi_chain_put(load->txn, load->archive.gamesets, CHI_CHAIN_GAMESETS,
					   &key, &value, 0)
			   : error;
	return chi_load_error(load, error, &load->fault);
}

int chi_load_gameset(struct chi_load *load, const char *name, size_t name_len, const char *filter,
		     size_t filter_len, struct chi_fault *fault)
{
	struct chi_gameset_entry there;
	/* Without a bitmap: as games come after it is not up to date, and a reader adds them. */
	const struct chi_gameset_entry entry = {
		.name = name, .name_len = name_len, .filter = filter, .filter_len = filter_len};
	int rc = load->rc < 0 ? load->rc : chi_load_error(load, chi_load_regain(load), fault);
	rc = rc < 0 ? rc
		    : chi_gameset_get(load->txn, load->archive.gamesets, name, name_len, &there);
	if (rc == CHI_OK) {
		bool same = there.filter_len == filter_len &&
			    memcmp(there.filter, filter, filter_len) == 0;
		return same ? CHI_NONE
			    : chi_fail(fault, -CHI_EEXIST,
				       "gameset '%.*s' is there with another filter", (int)name_len,
				       name);
	}
	return told(load, rc == CHI_NONE ? put_gameset(load, &entry) : rc, fault);
}

void chi_load_last_game(struct chi_load *load, uint32_t number)
{
	chi_state_number(chi_load_state(load), number);
}

void chi_load_archive_free(struct chi_load *load)
{
	chi_archive_writer_free(load->keeper);
	chi_traits_writer_free(load->traits);
	chi_name_cache_free(load->names);
	load->keeper = NULL;
	load->traits = NULL;
	load->names = NULL;
	for (int kind = 0; kind < CHI_NAME_KINDS; kind++) {
		free(load->touched[kind].bits);
		load->touched[kind].bits = NULL;
	}
}
