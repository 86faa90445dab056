/* SPDX-License-Identifier: MIT */
/*
 * Imports. All reading, sorting and counting is the importer's, into a temporary store in a
 * file without a name (in TMPDIR); of games that the cluster counts already it hears before it
 * counts. What is in that store then becomes a journal, which is committed and applied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "rados/import/journal.h"
#include "import/importer.h"
#include "store/load/load.h"

#define TOGETHER 4096

/* ---- Opening ----------------------------------------------------------------------------- */

struct chi_rados_import {
	struct chi_rados *rados;
	struct chi_import_options options;
	struct chi_importer *importer; /* the caller's */
	struct chi_load *load;	       /* what it read, in a store without a name; NULL: not yet */
	uint8_t before[16]; /* import that was committed last when this one began to commit */
};

void chi_rados_import_close(struct chi_rados_import *import)
{
	free(import);
}

/* Which of the games the cluster counts. */
static int is_counted(void *context, const uint8_t (*ids)[CHI_GAME_ID_SIZE], size_t n, bool *said)
{
	return chi_rados_has_games(context, ids, n, said);
}

static int begin_importer(struct chi_rados_import *import)
{
	struct chi_rados *rados = import->rados;
	struct chi_import_options options = import->options;
	const char *dir = getenv("TMPDIR");
	/* A merge is a load of theirs, added to ours. */
	if (options.kind == CHI_IMPORT_MERGE) {
		options.kind = CHI_IMPORT_LOAD;
		options.count_twice = false;
	}
	options.keep = CHI_KEEP_COUNTS;
	const struct chi_importer_target target = {
		.path = dir != NULL && dir[0] != '\0' ? dir : "/tmp",
		.unnamed = &import->load,
		.statistic = (enum chi_statistic)rados->head.statistic,
		.keep = CHI_KEEP_COUNTS};
	int status = chi_importer_begin(&target, &options, &import->importer, rados->fault);
	if (status == CHI_OK && options.kind == CHI_IMPORT_ADD) {
		chi_importer_ask_counted(import->importer, is_counted, rados);
	}
	return status;
}

int chi_rados_import_open(struct chi_rados *rados, const struct chi_import_options *options,
			  struct chi_rados_import **out, struct chi_importer **importer)
{
	struct chi_put_result unwanted = {0};
	*out = NULL;
	if (options->kind == CHI_IMPORT_SUBTRACT) {
		return chi_fail(rados->fault, -CHI_EUNSUPPORTED, "not on RADOS: subtract");
	}
	if (options->skip_known) {
		return chi_fail(rados->fault, -CHI_EUNSUPPORTED,
				"not on RADOS: merges that skip known games");
	}
	int status = chi_rados_roll(rados, options->progress, options->context, &unwanted);
	status = status == CHI_OK ? chi_leases_sweep(rados) : status;
	if (status < 0) {
		return status;
	}
	struct chi_rados_import *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		return -CHI_ENOMEM;
	}
	import->rados = rados;
	import->options = *options;
	status = begin_importer(import);
	if (status != CHI_OK) {
		chi_rados_import_close(import);
		return status;
	}
	*importer = import->importer;
	*out = import;
	return CHI_OK;
}

/* ---- The journal ------------------------------------------------------------------------- */

struct copying {
	struct chi_rados_import *import;
	struct chi_rados *rados;
	struct chi_read *read; /* of the temporary store */
	struct chi_journal *journal;
	struct chi_info info; /* of the temporary store */
};

static enum chi_journal_mode mode_of(const struct chi_import_options *options)
{
	switch (options->kind) {
	case CHI_IMPORT_LOAD:
		return CHI_JOURNAL_RESTORE;
	case CHI_IMPORT_PUT:
		return options->add	   ? CHI_JOURNAL_ADD
		       : options->unplayed ? CHI_JOURNAL_UNPLAYED
					   : CHI_JOURNAL_SET;
	case CHI_IMPORT_ADD:
	case CHI_IMPORT_MERGE:
	case CHI_IMPORT_SUBTRACT:
	default:
		return CHI_JOURNAL_ADD;
	}
}

/* Someone asked to give up, which is possible until the journal is committed. */
static bool is_canceled(const struct chi_rados_import *import)
{
	const volatile int *cancel = import->options.cancel;
	return cancel != NULL && *cancel != 0;
}

static int copy_positions(struct copying *copying)
{
	const struct chi_scan_spec spec = {
		.chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION, .want = CHI_WANT_RECORDS};
	struct chi_arena arena;
	struct chi_scan *scan = NULL;
	enum chi_journal_mode mode = mode_of(&copying->import->options);
	int status = chi_read_scan(copying->read, &spec, &scan, copying->rados->fault);
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	while (status == CHI_OK) {
		struct chi_row row = {.found = false};
		struct chi_record record;
		bool got = false;
		chi_arena_reset(&arena);
		status = chi_scan_record(scan, UINT64_MAX, &arena, &row, &record, &got);
		int rc = is_canceled(copying->import) ? -CHI_ECANCELED
			 : got && status >= 0
				 ? chi_journal_position(copying->journal, mode, &row.key, &record)
				 : CHI_OK;
		status = rc < 0 ? rc : status;
	}
	chi_arena_deinit(&arena);
	if (scan != NULL) {
		chi_scan_free(scan);
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* Games of a merge that are counted here already: nothing tells which positions are theirs. */
static int check_games(struct copying *copying, const struct chi_game_id *games, size_t n)
{
	uint8_t ids[TOGETHER][CHI_GAME_ID_SIZE];
	bool said[TOGETHER];
	const struct chi_import_options *options = &copying->import->options;
	if (options->kind != CHI_IMPORT_MERGE || options->count_twice) {
		return CHI_OK;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(ids[i], games[i].id, sizeof(ids[i]));
	}
	int status = chi_rados_has_games(copying->rados, (const uint8_t(*)[CHI_GAME_ID_SIZE])ids, n,
					 said);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		if (said[i]) {
			char hex[2 * CHI_GAME_ID_SIZE + 1];
			chi_hex_print(ids[i], sizeof(ids[i]), hex);
			return chi_fail(copying->rados->fault, -CHI_EINVAL,
					"game %s is counted in both stores; --count-twice adds "
					"all of them",
					hex);
		}
	}
	return status;
}

static int copy_games(struct copying *copying)
{
	_cleanup_(chi_freep) struct chi_game_id *games = calloc(TOGETHER, sizeof(*games));
	uint8_t after[CHI_GAME_ID_SIZE];
	size_t n = TOGETHER;
	int status = games != NULL ? CHI_OK : -CHI_ENOMEM;
	for (bool first = true; status == CHI_OK && n == TOGETHER; first = false) {
		status =
			chi_read_game_ids(copying->read, first ? NULL : after, games, TOGETHER, &n);
		status = status == CHI_OK ? check_games(copying, games, n) : status;
		for (size_t i = 0; status == CHI_OK && i < n; i++) {
			status = chi_journal_game(copying->journal, &games[i]);
		}
		if (n > 0) {
			memcpy(after, games[n - 1].id, sizeof(after));
		}
	}
	return status;
}

/* As in a directory: of the games that are counted afterwards, if any came; a load's are its own.
 */
static bool new_base(const struct copying *copying, const struct chi_shard_client *sum,
		     struct chi_counts *base)
{
	const struct chi_counts *theirs = &copying->info.games;
	uint64_t came = 0;
	uint64_t games = 0;
	if (copying->import->options.kind == CHI_IMPORT_LOAD) {
		*base = copying->info.base;
		return true;
	}
	struct chi_counts all = chi_shard_games(sum);
	bool fits = chi_counts_total(theirs, &came) && chi_counts_add(&all, theirs) &&
		    chi_counts_total(&all, &games);
	if (came > 0) {
		*base = all;
	} else if (games == 0 && copying->import->options.kind == CHI_IMPORT_MERGE) {
		fits = fits && chi_counts_add(base, &copying->info.base);
	}
	return fits;
}

static int copy_all(struct copying *copying)
{
	struct chi_rados *rados = copying->rados;
	struct chi_shard_client sum;
	int status = chi_rados_sum(rados, &sum);
	int64_t games = sum.games[0] + sum.games[1] + sum.games[2] + sum.games[3];
	if (status == CHI_OK && copying->import->options.kind == CHI_IMPORT_LOAD &&
	    (sum.positions > 0 || games > 0)) {
		return chi_fail(rados->fault, -CHI_EEXIST,
				"a dump is loaded into an empty store; this one has %lld positions",
				(long long)sum.positions);
	}
	struct chi_counts base = rados->head.base;
	if (status == CHI_OK && !new_base(copying, &sum, &base)) {
		return chi_fail(rados->fault, -CHI_ETOOBIG, "the base rates' sum does not fit");
	}
	status = status == CHI_OK ? copy_positions(copying) : status;
	status = status == CHI_OK ? copy_games(copying) : status;
	return status == CHI_OK
		       ? chi_journal_commit(copying->journal, copying->import->before, &base)
		       : status;
}

/* From the temporary store to a journal that is committed. */
static int copy(struct chi_rados_import *import)
{
	struct copying copying = {.import = import, .rados = import->rados};
	struct chi_dir *store = NULL;
	int status = chi_load_open(import->load, &store, import->rados->fault);
	store = status == CHI_OK ? store : NULL;
	status = status == CHI_OK ? chi_dir_info(store, &copying.info) : status;
	status = status == CHI_OK ? chi_read_begin(store, &copying.read) : status;
	status = status == CHI_OK ? chi_journal_new(import->rados, &copying.journal) : status;
	status = status == CHI_OK ? copy_all(&copying) : status;
	chi_journal_free(copying.journal);
	if (copying.read != NULL) {
		chi_read_end(copying.read);
	}
	chi_dir_close(store);
	return status;
}

/* The head, with no journal, after the identity of the import that was committed last: one that is
 * being applied, or whose client was killed, has games that are not counted yet, and must not be
 * forgotten. */
static int settle_head(struct chi_rados_import *import, struct chi_rados_head *head)
{
	struct chi_rados *rados = import->rados;
	struct chi_put_result unwanted = {0};
	int status = chi_rados_refresh(rados);
	status = status == CHI_OK ? chi_leases_read_last(rados, import->before) : status;
	status = status == CHI_OK ? chi_rados_read_head(rados, head, NULL) : status;
	while (status == CHI_OK && head->import_parts > 0) {
		status = chi_rados_roll(rados, import->options.progress, import->options.context,
					&unwanted);
		status = status == CHI_OK ? chi_leases_read_last(rados, import->before) : status;
		status = status == CHI_OK ? chi_rados_read_head(rados, head, NULL) : status;
	}
	return status;
}

int chi_rados_import_commit(struct chi_rados_import *import, struct chi_import_result *result)
{
	struct chi_rados *rados = import->rados;
	struct chi_rados_head head;
	struct chi_put_result did = {0};
	/* Before the cluster is asked which games it counts. */
	int status = settle_head(import, &head);
	rados->head.base = status == CHI_OK ? head.base : rados->head.base;
	if (status == CHI_OK) {
		status = chi_importer_commit(import->importer, result, rados->fault);
		if (status < 0) {
			return status;
		}
	}
	status = status == CHI_OK ? copy(import) : status;
	if (status == CHI_OK) {
		status = chi_rados_roll(rados, import->options.progress, import->options.context,
					&did);
	}
	result->positions = did;
	return status;
}
