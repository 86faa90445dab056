/* SPDX-License-Identifier: MIT */
/*
 * The public calls of an import. The store, or the connection, is that of a client of its own, so
 * that opening and its words are the same as everywhere.
 */
#include "client/core/import.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "import/importer.h"
#include "search/filter/unstored.h"
#include "client/core/client.h"
#include "client/remote/remote.h"
#include "rados/rados.h"

static bool is_remote(const struct chi_import *games)
{
	return games->importer == NULL;
}

/* Remembers the first failure and its text. */
static int end_import(struct chi_import *games, int status)
{
	if (status >= 0) {
		return status;
	}
	if (games->error.text[0] == '\0' && games->client != NULL) {
		games->error = games->client->error;
	}
	if (games->error.text[0] == '\0') {
		(void)chi_fault_plain(&games->error, status);
	}
	games->status = status;
	return status;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* A directory with something in it is not to become a store; better said now than at the commit. */
static int check_place(const char *path, struct chi_fault *fault)
{
	DIR *dir = opendir(path);
	bool empty = true;
	const struct dirent *entry = NULL;
	while (dir != NULL && empty && (entry = readdir(dir)) != NULL) {
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	}
	if (dir != NULL) {
		closedir(dir);
	}
	return empty ? CHI_OK
		     : chi_fail(fault, -CHI_EEXIST,
				"'%.150s' is a directory with other files in it", path);
}

/* The kind asked for and the kind that is there. */
static int check_kind(struct chi_import *games, enum chi_statistic create)
{
	struct chi_info info;
	bool counts = games->options.keep == CHI_KEEP_COUNTS;
	if (create == 0 && !counts) {
		return CHI_OK;
	}
	int status = chi_store_info(games->client, &info);
	if (status == CHI_OK && create != 0 && info.statistic != (uint8_t)create) {
		status = chi_fail(&games->error, -CHI_EINVAL, "the store's statistic is %s, not %s",
				  chi_statistic_name(info.statistic), chi_statistic_name(create));
	}
	if (status == CHI_OK && counts && info.keep != CHI_KEEP_COUNTS) {
		status = chi_fail(&games->error, -CHI_EINVAL,
				  "the store keeps its games; only a new one can be made that "
				  "counts them alone");
	}
	return status;
}

static int begin_importer(struct chi_import *games, const char *path, enum chi_statistic create)
{
	struct chi_importer_target target = {
		.path = path, .statistic = create, .keep = games->options.keep};
	if (games->client != NULL) {
		target = (struct chi_importer_target){.store = games->client->inproc.store};
	}
	return chi_importer_begin(&target, &games->options, &games->importer, &games->error);
}

/* A store that is not there is made now, empty. */
static int open_on_rados(struct chi_import *games, const char *address,
			 const struct chi_options *options, enum chi_statistic create)
{
	int status = chi_open(address, options, &games->client, &games->error);
	if (status == -CHI_ENOSTORE && create != 0) {
		games->error.text[0] = '\0';
		status = chi_store_create(address, create, CHI_KEEP_COUNTS, &games->error);
		if (status == CHI_OK) {
			status = chi_open(address, options, &games->client, &games->error);
		}
	}
	if (status == CHI_OK) {
		status = check_kind(games, create);
	}
	return status == CHI_OK ? chi_rados_import_open(games->client->rados, &games->options,
							&games->on_rados, &games->importer)
				: status;
}

/* A store that is there is opened as by chi_open; one that is not is left to the commit. */
static int open_games(struct chi_import *games, const char *address,
		      const struct chi_options *options, enum chi_statistic create)
{
	struct chi_address parsed;
	struct chi_options own = {CHI_OPTIONS_INIT};
	int status = options != NULL ? CHI_TAKE_SIZED(&own, options, &games->error) : CHI_OK;
	own.writable = true;
	status = status == CHI_OK ? chi_address_parse(address, &parsed, &games->error) : status;
	if (status != CHI_OK) {
		return status;
	}
	if (create != 0 && chi_statistic_name((int)create) == NULL) {
		return chi_fail(&games->error, -CHI_EINVAL, "statistic %d is unknown", (int)create);
	}
	if (parsed.kind == CHI_ADDRESS_RADOS) {
		return open_on_rados(games, address, &own, create);
	}
	status = chi_open(address, &own, &games->client, &games->error);
	bool local = parsed.kind == CHI_ADDRESS_DIR;
	if (status == -CHI_ENOSTORE && local && create != 0) {
		games->error.text[0] = '\0';
		status = check_place(parsed.path, &games->error);
		return status == CHI_OK ? begin_importer(games, parsed.path, create) : status;
	}
	if (status == CHI_OK) {
		status = check_kind(games, create);
	}
	/* The commit would find out, too, when all had been read in vain. */
	if (status == CHI_OK && local) {
		status = chi_dir_served(games->client->inproc.store, &games->error);
	}
	if (status == CHI_OK) {
		status = local ? begin_importer(games, NULL, 0) : chi_remote_import_open(games);
	}
	return status;
}

int chi_import_open(const char *address, const struct chi_options *options,
		    enum chi_statistic create, const struct chi_import_options *games,
		    struct chi_import **out, struct chi_fault *fault)
{
	*out = NULL;
	struct chi_import *made = calloc(1, sizeof(*made));
	if (made == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	const struct chi_import_options *own = &made->options;
	int status = CHI_TAKE_SIZED(&made->options, games, &made->error);
	if (status == CHI_OK && (own->kind < CHI_IMPORT_ADD || own->kind > CHI_IMPORT_PUT)) {
		status = chi_fail(&made->error, -CHI_EINVAL, "kind %d of import is unknown",
				  (int)own->kind);
	}
	/* A server would find out, too, but only when data is on the way. */
	if (status == CHI_OK && own->filter != NULL) {
		struct chi_terms terms;
		status = chi_unstored_parse(own->filter, &terms, &made->error);
	}
	if (status == CHI_OK) {
		status = open_games(made, address, options, create);
	}
	if (end_import(made, status) < 0) {
		if (fault != NULL) {
			*fault = made->error;
		}
		chi_import_close(made);
		return status;
	}
	*out = made;
	return CHI_OK;
}

/* Of a connection the server notices that it is closed, and drops the import. */
void chi_import_close(struct chi_import *games)
{
	if (games == NULL) {
		return;
	}
	if (games->uses > 0) {
		/* Its callback: the call closes it. */
		games->closing = true;
		return;
	}
	/* Before the store that it reads into. */
	chi_importer_free(games->importer);
	chi_rados_import_close(games->on_rados);
	chi_close(games->client);
	free(games);
}

const char *chi_import_error(const struct chi_import *games)
{
	return games->uses > 0 ? "a call of this import has called back; it must end first"
			       : games->error.text;
}

/* ---- Calls ------------------------------------------------------------------------------- */

/* The failure that was first, or that there is nothing left to do. A call made by a callback is
 * refused. */
static int begin_call(struct chi_import *games)
{
	if (games->uses++ > 0) {
		return -CHI_EBUSY;
	}
	if (games->status == CHI_OK && games->done) {
		return chi_fail(&games->error, -CHI_EINVAL, "the import is committed already");
	}
	return games->status;
}

static int end_call(struct chi_import *games, int status)
{
	if (--games->uses > 0) {
		return status;
	}
	status = end_import(games, status);
	if (games->closing) {
		chi_import_close(games);
	}
	return status;
}

int chi_import_file(struct chi_import *games, const char *name)
{
	int status = begin_call(games);
	if (status == CHI_OK && is_remote(games)) {
		chi_remote_import_file(games, name);
	} else if (status == CHI_OK) {
		status = chi_importer_file(games->importer, name, &games->error);
	}
	return end_call(games, status);
}

int chi_import_feed(struct chi_import *games, const void *bytes, size_t len)
{
	int status = begin_call(games);
	if (status == CHI_OK && len > 0) {
		status = is_remote(games)
				 ? chi_remote_import_feed(games, bytes, len)
				 : chi_importer_feed(games->importer, bytes, len, &games->error);
	}
	return end_call(games, status);
}

static int take_store(struct chi_import *games, const char *other)
{
	struct chi_address parsed;
	int status = chi_address_parse(other, &parsed, &games->error);
	if (status == CHI_OK &&
	    (is_remote(games) || games->on_rados != NULL || parsed.kind != CHI_ADDRESS_DIR)) {
		return games->options.kind == CHI_IMPORT_MERGE
			       ? CHI_NONE
			       : chi_fail(&games->error, -CHI_EINVAL,
					  "only a merge takes another store");
	}
	return status == CHI_OK ? chi_importer_store(games->importer, parsed.path, &games->error)
				: status;
}

int chi_import_store(struct chi_import *games, const char *other)
{
	int status = begin_call(games);
	return end_call(games, status == CHI_OK ? take_store(games, other) : status);
}

static int commit_import(struct chi_import *games, struct chi_import_result *did)
{
	int status = is_remote(games) ? chi_remote_import_commit(games, did)
		     : games->on_rados != NULL
			     ? chi_rados_import_commit(games->on_rados, did)
			     : chi_importer_commit(games->importer, did, &games->error);
	games->done = true;
	if (status < 0) {
		*did = (struct chi_import_result){0};
	}
	return status;
}

int chi_import_commit(struct chi_import *games, struct chi_import_result *result)
{
	struct chi_import_result unwanted;
	struct chi_import_result *did = result != NULL ? result : &unwanted;
	*did = (struct chi_import_result){0};
	int status = begin_call(games);
	return end_call(games, status == CHI_OK ? commit_import(games, did) : status);
}
