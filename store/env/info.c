/* SPDX-License-Identifier: MIT */
/* What a store says of itself, and the care of its reader table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/record/meta.h"
#include "store/store.h"

/* Number of the tree that holds LMDB's free pages. */
#define FREE_TREE 0

struct reader_sum {
	uint32_t n;
	uint64_t oldest; /* transaction number; UINT64_MAX: no reader */
};

/* LMDB prints its reader table as text only: "pid thread txnid", with "-" for an idle slot. */
static int sum_reader(const char *line, void *context)
{
	struct reader_sum *sum = context;
	unsigned long pid;
	unsigned long thread;
	unsigned long long txn;
	int n = sscanf(line, "%lu %lx %llu", &pid, &thread, &txn);
	if (n >= 2) {
		sum->n++;
	}
	if (n == 3 && txn < sum->oldest) {
		sum->oldest = txn;
	}
	return 0;
}

/* Pages in the free list; each entry begins with their number. */
static int count_free(MDB_txn *txn, uint64_t *pages)
{
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(txn, FREE_TREE, &cursor);
	if (rc != 0) {
		return rc;
	}
	MDB_val key;
	MDB_val value;
	MDB_stat stat;
	rc = mdb_stat(txn, FREE_TREE, &stat);
	uint64_t left = rc == 0 ? stat.ms_entries : 0;
	while (rc == 0 && left-- > 0) {
		rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
		if (rc == 0 && value.mv_size >= sizeof(size_t)) {
			size_t n;
			memcpy(&n, value.mv_data, sizeof(n));
			*pages += n;
		}
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Bytes of a tree's pages. */
static uint64_t bytes_of(const MDB_stat *stat)
{
	return (stat->ms_leaf_pages + stat->ms_branch_pages + stat->ms_overflow_pages) *
	       (uint64_t)stat->ms_psize;
}

/* The trees that games are kept in. */
static int fill_archive(struct chi_read *read, struct chi_info *out)
{
	const struct chi_archive_trees *trees = &read->env->archive;
	const MDB_dbi archive[] = {trees->games, trees->columns, trees->names, trees->gamesets};
	MDB_stat stat;
	int rc = mdb_stat(read->txn, trees->postings, &stat);
	if (rc == 0) {
		out->postings_bytes = bytes_of(&stat);
	}
	rc = rc == 0 ? mdb_stat(read->txn, trees->traits, &stat) : rc;
	if (rc == 0) {
		out->traits_bytes = bytes_of(&stat);
	}
	for (size_t i = 0; i < CHI_COUNT(archive) && rc == 0; i++) {
		rc = mdb_stat(read->txn, archive[i], &stat);
		if (rc == 0) {
			out->archive_bytes += bytes_of(&stat);
		}
	}
	return rc;
}

/* Sizes are LMDB's of now, entries those of the snapshot: one transaction apart at most. */
static int fill_sizes(struct chi_read *read, struct chi_info *out)
{
	const struct chi_env *env = read->env;
	MDB_envinfo info;
	MDB_stat stat;
	int rc = mdb_env_info(env->mdb, &info);
	if (rc == 0) {
		rc = mdb_stat(read->txn, env->position, &stat);
	}
	if (rc != 0) {
		return rc;
	}
	out->blocks = stat.ms_entries;
	out->position_bytes = bytes_of(&stat);
	out->map_bytes = info.me_mapsize;
	out->readers_max = info.me_maxreaders;
	rc = mdb_stat(read->txn, env->strength, &stat);
	uint64_t free_pages = 0;
	if (rc == 0) {
		out->blocks += stat.ms_entries;
		out->strength_bytes = bytes_of(&stat);
		rc = count_free(read->txn, &free_pages);
	}
	if (rc == 0) {
		rc = fill_archive(read, out);
	}
	uint64_t pages = info.me_last_pgno + 1;
	out->used_bytes = (pages > free_pages ? pages - free_pages : 0) * stat.ms_psize;
	struct reader_sum sum = {.oldest = UINT64_MAX};
	(void)mdb_reader_list(env->mdb, sum_reader, &sum);
	out->readers = sum.n;
	if (sum.oldest != UINT64_MAX && info.me_last_txnid > sum.oldest) {
		out->oldest_reader = info.me_last_txnid - sum.oldest;
	}
	return rc;
}

int chi_read_info(struct chi_read *read, struct chi_info *out)
{
	const struct chi_env *env = read->env;
	struct chi_store_state state;
	*out = (struct chi_info){0};
	int rc = chi_state_get(read->txn, env->meta, &state);
	if (rc < 0) {
		return rc;
	}
	memcpy(out->uuid, env->stamp.uuid, sizeof(out->uuid));
	memcpy(out->creator, env->stamp.creator, sizeof(out->creator));
	out->format_major = env->stamp.major;
	out->format_minor = env->stamp.minor;
	out->statistic = (uint8_t)env->stamp.statistic;
	out->created = env->stamp.created;
	out->sequence = state.sequence;
	out->positions = state.positions;
	out->known = state.known;
	out->block_bytes = state.position_bytes + state.strength_bytes;
	out->base = state.base;
	out->expected = state.expected;
	out->games = state.games;
	out->keep = (uint8_t)env->stamp.keep;
	out->last_game = state.last_game;
	out->partial = state.partial != 0;
	out->read_only = env->read_only;
	/* Of the file that is open: a newer copy may have been published under its name. */
	struct stat st;
	mdb_filehandle_t fd;
	rc = mdb_env_get_fd(env->mdb, &fd);
	if (rc != 0 || fstat(fd, &st) < 0) {
		return chi_lmdb_status(rc != 0 ? rc : errno);
	}
	out->file_bytes = (uint64_t)st.st_size;
	return chi_lmdb_status(fill_sizes(read, out));
}

int chi_dir_info(struct chi_dir *store, struct chi_info *out)
{
	*out = (struct chi_info){0};
	struct chi_read *read;
	int rc = chi_read_begin(store, &read);
	if (rc < 0) {
		return rc;
	}
	rc = chi_read_info(read, out);
	chi_read_end(read);
	return rc;
}

int chi_dir_check(struct chi_dir *store, int *freed, struct chi_fault *fault)
{
	struct chi_env *env = store->env;
	*freed = 0;
	if (chi_env_forked(env)) {
		return chi_fault_plain(fault, -CHI_EFORK);
	}
	(void)pthread_mutex_lock(&env->mutex);
	int rc = env->mdb != NULL ? chi_files_check(env, fault) : CHI_OK;
	if (rc == CHI_OK && env->mdb != NULL) {
		int error = mdb_reader_check(env->mdb, freed);
		rc = chi_lmdb_fault(fault, error, "check the readers of", env->path);
	}
	(void)pthread_mutex_unlock(&env->mutex);
	if (rc < 0) {
		return rc;
	}
	/* And that a snapshot can be had of them. */
	struct chi_read *read = NULL;
	rc = chi_read_begin(store, &read);
	chi_read_end(read);
	return rc == -CHI_ESTALE ? chi_lmdb_fault(fault, ESTALE, "read", env->path)
				 : chi_fault_plain(fault, rc);
}
