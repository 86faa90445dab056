/* SPDX-License-Identifier: MIT */
/*
 * Entries go over in batches, a ring of them: one is filled without a lock while the thread writes
 * those before. A batch holds entries one behind the other, each with its head.
 */
#include "store/load/appender.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

#define BATCHES	    4
#define BATCH_BYTES (256u << 10)

_Static_assert(BATCH_BYTES > CHI_RECORD_BYTES_MAX + (32u << 10), "any entry fits into a batch");

/* Bytes put between two commits: LMDB's list of changed pages, and they themselves, stay in the
 * processor's cache. */
#define COMMIT_BYTES ((size_t)1 << 20)

/* Trees that are appended to at the same time. */
#define TREES_MAX 3

struct entry_head {
	MDB_dbi tree;
	uint32_t key_len;
	uint32_t len;
};

struct append_batch {
	uint8_t *bytes;
	size_t len;
};

struct chi_appender {
	MDB_env *mdb;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Under the mutex. */
	uint64_t filled;  /* batches, so far */
	uint64_t written; /* of these */
	bool finished;	  /* no more come */
	bool abandoned;
	int error;
	/* Those from `written` to `filled` are the thread's, the others the filler's. */
	struct append_batch batches[BATCHES];
	int failed; /* the filler's: what it was told */
	/* The thread's. */
	MDB_txn *txn;
	MDB_dbi trees[TREES_MAX];
	MDB_cursor *cursors[TREES_MAX]; /* those of the transaction, */
	size_t n;			/* so many */
	size_t unsaved;
};

/* ---- The thread -------------------------------------------------------------------------- */

/* Only advice: what it fails to begin, the sync at the end does. */
static void start_writing(MDB_env *mdb)
{
	mdb_filehandle_t fd;
	if (mdb_env_get_fd(mdb, &fd) == 0) {
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
}

int chi_append_commit(MDB_env *mdb, MDB_txn **txn)
{
	int rc = mdb_txn_commit(*txn);
	*txn = NULL;
	start_writing(mdb);
	return rc == 0 ? mdb_txn_begin(mdb, NULL, 0, txn) : rc;
}

static int find_cursor(struct chi_appender *a, MDB_dbi tree, MDB_cursor **out)
{
	size_t i = 0;
	while (i < a->n && a->trees[i] != tree) {
		i++;
	}
	if (i == TREES_MAX) {
		return EINVAL;
	}
	if (i == a->n) {
		int rc = mdb_cursor_open(a->txn, tree, &a->cursors[i]);
		if (rc != 0) {
			return rc;
		}
		a->trees[a->n++] = tree;
	}
	*out = a->cursors[i];
	return 0;
}

static int append_pair(struct chi_appender *a, MDB_dbi tree, MDB_val *key, MDB_val *value)
{
	MDB_cursor *cursor;
	int rc = find_cursor(a, tree, &cursor);
	rc = rc == 0 ? mdb_cursor_put(cursor, key, value, MDB_APPEND) : rc;
	rc = rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
	a->unsaved += key->mv_size + value->mv_size;
	if (rc == 0 && a->unsaved >= COMMIT_BYTES) {
		a->unsaved = 0;
		a->n = 0; /* cursors end with their transaction */
		rc = chi_append_commit(a->mdb, &a->txn);
	}
	return rc;
}

static int write_batch(struct chi_appender *a, const struct append_batch *batch)
{
	int rc = 0;
	for (size_t at = 0; rc == 0 && at < batch->len;) {
		struct entry_head head;
		memcpy(&head, batch->bytes + at, sizeof(head));
		at += sizeof(head);
		MDB_val key = chi_val(batch->bytes + at, head.key_len);
		MDB_val value = chi_val(batch->bytes + at + head.key_len, head.len);
		at += head.key_len + head.len;
		rc = append_pair(a, head.tree, &key, &value);
	}
	return rc;
}

/* The next batch to be written; NULL: there is none, or it no longer matters. */
static const struct append_batch *wait_for_batch(struct chi_appender *a)
{
	const struct append_batch *batch = NULL;
	pthread_mutex_lock(&a->mutex);
	while (!a->abandoned && !a->finished && a->written == a->filled) {
		pthread_cond_wait(&a->changed, &a->mutex);
	}
	if (!a->abandoned && a->written < a->filled) {
		batch = &a->batches[a->written % BATCHES];
	}
	pthread_mutex_unlock(&a->mutex);
	return batch;
}

static void report_written(struct chi_appender *a, int error)
{
	pthread_mutex_lock(&a->mutex);
	a->written++;
	a->error = error;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->mutex);
}

static void *run_appender(void *argument)
{
	struct chi_appender *a = argument;
	const struct append_batch *batch;
	int rc = mdb_txn_begin(a->mdb, NULL, 0, &a->txn);
	while ((batch = wait_for_batch(a)) != NULL) {
		rc = rc == 0 ? write_batch(a, batch) : rc;
		report_written(a, rc);
	}
	if (rc == 0 && !a->abandoned) {
		rc = mdb_txn_commit(a->txn);
	} else if (a->txn != NULL) {
		mdb_txn_abort(a->txn);
	}
	a->error = rc;
	return NULL;
}

/* ---- Who fills --------------------------------------------------------------------------- */

static void free_appender(struct chi_appender *a)
{
	for (size_t i = 0; i < BATCHES; i++) {
		free(a->batches[i].bytes);
	}
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

int chi_appender_start(MDB_env *mdb, struct chi_appender **out)
{
	struct chi_appender *a = calloc(1, sizeof(*a));
	if (a == NULL) {
		return ENOMEM;
	}
	int rc = 0;
	a->mdb = mdb;
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (size_t i = 0; i < BATCHES; i++) {
		a->batches[i].bytes = malloc(BATCH_BYTES);
		rc = a->batches[i].bytes == NULL ? ENOMEM : rc;
	}
	rc = rc == 0 ? pthread_create(&a->thread, NULL, run_appender, a) : rc;
	if (rc != 0) {
		free_appender(a);
		return rc;
	}
	*out = a;
	return 0;
}

/* The batch goes to the thread; waits until there is another to fill. */
static int hand_over(struct chi_appender *a)
{
	pthread_mutex_lock(&a->mutex);
	a->filled++;
	pthread_cond_signal(&a->changed);
	while (a->error == 0 && a->filled - a->written == BATCHES) {
		pthread_cond_wait(&a->changed, &a->mutex);
	}
	int rc = a->error;
	pthread_mutex_unlock(&a->mutex);
	if (rc == 0) {
		a->batches[a->filled % BATCHES].len = 0;
	}
	return rc;
}

int chi_appender_put(struct chi_appender *a, MDB_dbi tree, const MDB_val *key, const MDB_val *value)
{
	const struct entry_head head = {tree, (uint32_t)key->mv_size, (uint32_t)value->mv_size};
	size_t size = sizeof(head) + key->mv_size + value->mv_size;
	if (key->mv_size > BATCH_BYTES || value->mv_size > BATCH_BYTES || size > BATCH_BYTES) {
		return MDB_BAD_VALSIZE;
	}
	if (a->failed == 0 && BATCH_BYTES - a->batches[a->filled % BATCHES].len < size) {
		a->failed = hand_over(a);
	}
	if (a->failed != 0) {
		return a->failed;
	}
	struct append_batch *batch = &a->batches[a->filled % BATCHES];
	uint8_t *to = batch->bytes + batch->len;
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), key->mv_data, key->mv_size);
	memcpy(to + sizeof(head) + key->mv_size, value->mv_data, value->mv_size);
	batch->len += size;
	return 0;
}

/* Ends the thread. Returns its code, and frees. */
static int end_appender(struct chi_appender *a, bool abandoned)
{
	pthread_mutex_lock(&a->mutex);
	a->filled += a->failed == 0;
	a->finished = true;
	a->abandoned = abandoned;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->mutex);
	pthread_join(a->thread, NULL);
	int rc = a->error;
	free_appender(a);
	return rc;
}

int chi_appender_finish(struct chi_appender *a)
{
	return end_appender(a, false);
}

void chi_appender_abandon(struct chi_appender *a)
{
	if (a != NULL) {
		(void)end_appender(a, true);
	}
}
