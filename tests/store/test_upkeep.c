/* SPDX-License-Identifier: MIT */
/* Compaction and copies in company: other processes, lost directories, file owners, open writes. */
#include "tests/store/help.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "tests/store/raw.h"

#define CONTROL	  CHI_STATISTIC_CONTROL
#define POSITIONS 50
#define OPENINGS  150

static struct chi_key keys[POSITIONS];

static struct chi_dir *filled(const char *name)
{
	struct chi_dir *store = help_store(name, CONTROL);
	help_keys(keys, POSITIONS);
	help_fill(store, keys, POSITIONS);
	return store;
}

static int compact(struct chi_dir *store)
{
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	int rc = chi_compact_prepare(store, &compaction, &fault);
	return rc < 0 ? rc : chi_compact_swap(compaction, &before, &after, &fault);
}

/* Users who could read the store through its group still can. */
CASE(test_compact_keeps_owner_and_mode)
{
	char data[1024];
	struct stat before;
	struct stat after;
	struct chi_dir *store = filled("owner");
	snprintf(data, sizeof(data), "%s/data.mdb", help_path("owner"));
	if (chown(data, (uid_t)-1, 12345) < 0) {
		print_message("# skipped: not allowed to change the group (%d)\n", errno);
		chi_dir_close(store);
		return;
	}
	assert_int_equal(chmod(data, 0664), 0);
	assert_int_equal(stat(data, &before), 0);
	ok(compact(store));
	assert_int_equal(stat(data, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_uid, after.st_uid);
	assert_int_equal(before.st_gid, after.st_gid);
	assert_int_equal(before.st_mode, after.st_mode);
	chi_dir_close(store);
}

/* In a process that owns the store and is in no group of its files. */
static int compact_as_stranger(const char *name)
{
	struct chi_dir *store = NULL;
	if (setgroups(0, NULL) < 0 || setgid(12346) < 0 || setuid(12346) < 0 ||
	    chi_dir_open(help_path(name), &(struct chi_dir_options){.mode = CHI_STORE_WRITE},
			 &store, &fault) < 0) {
		return 99;
	}
	int rc = compact(store);
	chi_dir_close(store);
	return -rc;
}

/* A group that may not read the store loses nothing; one that may keeps its rights, or nothing is
 * done. */
CASE(test_compact_by_an_owner_outside_the_group)
{
	if (getuid() != 0) {
		print_message("# skipped: only root becomes someone else\n");
		return;
	}
	static const char *const names[] = {"", "data.mdb", "lock.mdb", "chistore.lock"};
	static const mode_t modes[] = {0600, 0640};
	static const int wanted[] = {CHI_OK, CHI_EACCES};
	char path[1024];
	chi_dir_close(filled("given"));
	assert_int_equal(chmod(help_path(""), 0711), 0);
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", help_path("given"), names[i]);
		assert_int_equal(chown(path, 12346, (gid_t)-1), 0);
	}
	snprintf(path, sizeof(path), "%s/data.mdb", help_path("given"));
	for (size_t i = 0; i < CHI_COUNT(modes); i++) {
		int status = 0;
		assert_int_equal(chown(path, 12346, 12347), 0);
		assert_int_equal(chmod(path, modes[i]), 0);
		pid_t child = fork();
		if (child == 0) {
			_exit(compact_as_stranger("given"));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(WEXITSTATUS(status), wanted[i]);
	}
}

/* The directory is away when the swap looks for it: a failure, and readers go on once it is
 * back, without waiting for a writer. */
CASE(test_compact_of_a_lost_directory)
{
	struct chi_dir *store = filled("lost");
	struct chi_compaction *compaction;
	struct chi_read *read;
	struct chi_row row;
	uint64_t before;
	uint64_t after;
	ok(chi_compact_prepare(store, &compaction, &fault));
	assert_int_equal(rename(help_path("lost"), help_path("away")), 0);
	assert_true(chi_compact_swap(compaction, &before, &after, &fault) < 0);
	assert_int_equal(chi_read_begin(store, &read), -CHI_EIO);
	assert_int_equal(rename(help_path("away"), help_path("lost")), 0);
	assert_int_equal(help_get(store, &keys[0], &row), CHI_OK);
	assert_int_equal(help_count(store), POSITIONS);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

#define MANY 18000

/* The same entries, put in their order or in another, and taken away in part. */
static struct chi_dir *many(const char *name, size_t step)
{
	struct chi_dir *store = help_store(name, CONTROL);
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < MANY; i++) {
		/* Two pieces and eight pawns; `step` is prime to MANY. */
		size_t n = i * step % MANY;
		char fen[CHI_FEN_SIZE];
		char pawns[9];
		for (size_t bit = 0; bit < 8; bit++) {
			pawns[bit] = (n / 71 >> bit & 1) != 0 ? 'P' : 'p';
		}
		pawns[8] = '\0';
		size_t pieces = n % 71;
		(void)snprintf(fen, sizeof(fen), "%c6k/8/%s/8/8/8/%c7/K7 w - - 0 1",
			       "QRBNqrbn"[pieces % 8], pawns, "QRBNqrbnP"[pieces / 8]);
		struct chi_put_entry put = {.key = help_fen(fen), .parts = CHI_PUT_COUNTS};
		put.record.counts.white = n % 200;
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
	return store;
}

static uint64_t size_of(const char *name)
{
	char data[1024];
	struct stat st;
	(void)snprintf(data, sizeof(data), "%s/data.mdb", help_path(name));
	assert_int_equal(stat(data, &st), 0);
	return (uint64_t)st.st_size;
}

/* LMDB's copy left the pages that were split half empty: a compacted store was a third larger than
 * a fresh one. What was the order of the puts does not show any more. */
CASE(test_compact_left_half_of_the_pages_empty)
{
	struct chi_verify_result sound = {0};
	struct chi_dir *sorted = many("sorted", 1);
	struct chi_dir *shuffled = many("shuffled", 7919);
	_cleanup_(chi_freep) char *before = help_dump(shuffled, &(size_t){0});
	struct chi_info info;
	ok(chi_dir_info(shuffled, &info));
	ok(compact(sorted));
	ok(compact(shuffled));
	assert_int_equal(size_of("sorted"), size_of("shuffled"));
	assert_true(size_of("shuffled") * 5 < info.used_bytes * 4);
	ok(help_verify(shuffled, &sound));
	_cleanup_(chi_freep) char *after = help_dump(shuffled, &(size_t){0});
	assert_string_equal(before, after);
	/* And once more it has nothing to gain. */
	uint64_t size = size_of("shuffled");
	ok(compact(shuffled));
	assert_int_equal(size_of("shuffled"), size);
	chi_dir_close(sorted);
	chi_dir_close(shuffled);
}

static int add_unlinked(MDB_txn *txn, MDB_dbi dbi, uint32_t number)
{
	uint8_t bytes[4] = {0};
	uint8_t name[] = {'x', 'x'};
	MDB_val key = {.mv_size = sizeof(name), .mv_data = name};
	MDB_val value = {.mv_size = sizeof(bytes), .mv_data = bytes};
	(void)number;
	return chi_lmdb_status(mdb_put(txn, dbi, &key, &value, 0));
}

/* They were copied as they were, over the file that may have had what the links missed. */
CASE(test_compact_kept_broken_chains)
{
	static const char *const trees[] = {"ids",     "clients", "queue",    "games",
					    "columns", "names",	  "postings", "gamesets"};
	for (size_t i = 0; i < CHI_COUNT(trees); i++) {
		struct chi_compaction *compaction;
		chi_dir_close(filled("chains"));
		raw_edit("chains", trees[i], add_unlinked, 0);
		struct chi_dir *store = help_open(help_path("chains"), CHI_STORE_WRITE);
		assert_int_equal(chi_compact_prepare(store, &compaction, &fault), -CHI_ECORRUPT);
		chi_dir_close(store);
		help_remove(help_path("chains"));
	}
}

/* Other processes open the store at every moment of a compaction: they get the whole store. */
CASE(test_compact_while_others_open)
{
	chi_dir_close(filled("opened"));
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < OPENINGS; i++) {
			struct chi_dir *store = help_open(help_path("opened"), CHI_STORE_READ);
			struct chi_row row;
			if (help_count(store) != POSITIONS ||
			    help_get(store, &keys[i % POSITIONS], &row) != CHI_OK) {
				_exit(1);
			}
			chi_dir_close(store);
		}
		_exit(0);
	}
	struct chi_dir *store = help_open(help_path("opened"), CHI_STORE_WRITE);
	unsigned done = 0;
	unsigned refused = 0;
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int rc = compact(store);
		assert_true(rc == CHI_OK || rc == -CHI_EBUSY);
		done += rc == CHI_OK;
		refused += rc != CHI_OK;
	}
	assert_int_equal(status, 0);
	print_message("# compacted %u times, refused %u\n", done, refused);
	ok(compact(store));
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* A compaction that was killed may have left as much as a whole store. */
CASE(test_leftover_of_a_compaction)
{
	static const char leftover[] = "leftover/data.mdb.compact";
	chi_dir_close(help_store("leftover", CHI_STATISTIC_CONTROL));
	struct chi_dir *store = help_open(help_path("leftover"), CHI_STORE_WRITE);
	struct chi_compaction *c;
	ok(chi_compact_prepare(store, &c, &fault));
	/* Neither a reader takes it for one, nor a daemon that cannot come in. */
	chi_dir_close(help_open(help_path("leftover"), CHI_STORE_READ));
	assert_int_equal(access(help_path(leftover), F_OK), 0);
	chi_compact_drop(c);
	chi_dir_close(store);
	int fd = open(help_path(leftover), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	chi_dir_close(help_open(help_path("leftover"), CHI_STORE_READ));
	assert_int_equal(access(help_path(leftover), F_OK), 0);
	chi_dir_close(help_open(help_path("leftover"), CHI_STORE_DAEMON));
	assert_int_equal(access(help_path(leftover), F_OK), -1);
}

/* LMDB would make the thread wait for itself. */
CASE(test_copy_in_the_writing_thread)
{
	struct chi_dir *store = filled("writing");
	struct chi_write *write;
	struct chi_copy *copy;
	int fd;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_copy_begin(help_path("copy"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	assert_int_equal(chi_dir_copy(store, fd, &fault), -CHI_EBUSY);
	chi_write_abort(write);
	ok(chi_dir_copy(store, fd, &fault));
	ok(chi_copy_finish(copy, &fault));
	chi_dir_close(store);
}

struct stalled {
	struct chi_dir *store;
	int to;
	int rc;
};

static void *copy_to_pipe(void *argument)
{
	struct stalled *stalled = argument;
	stalled->rc = chi_dir_copy(stalled->store, stalled->to, NULL);
	(void)close(stalled->to);
	return NULL;
}

/* All records change, and all pages with them. */
static void rewrite(struct chi_dir *store, char letter)
{
	char note[5000];
	struct chi_write *write;
	struct chi_put_result result = {0};
	memset(note, letter, sizeof(note));
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < POSITIONS; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		put.record.note = note;
		put.record.n_note = sizeof(note);
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

/* The process that copies stops in the middle, while the store is written over and over: he gets
 * the state of the beginning. */
CASE(test_copy_that_is_not_taken)
{
	struct chi_dir *store = filled("stalled");
	rewrite(store, 'a');
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	struct stalled stalled = {.store = store, .to = ends[1]};
	pthread_t thread;
	struct chi_copy *copy;
	char bytes[4096];
	int fd;
	help_remove(help_path("taken"));
	ok(chi_copy_begin(help_path("taken"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	assert_int_equal(pthread_create(&thread, NULL, copy_to_pipe, &stalled), 0);
	ssize_t n = read(ends[0], bytes, sizeof(bytes));
	for (unsigned i = 0; i < 6; i++) {
		rewrite(store, (char)('b' + i));
	}
	while (n > 0) {
		assert_int_equal(write(fd, bytes, (size_t)n), n);
		n = read(ends[0], bytes, sizeof(bytes));
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	ok(stalled.rc);
	(void)close(ends[0]);
	ok(chi_copy_finish(copy, &fault));
	chi_dir_close(store);
	store = help_open(help_path("taken"), CHI_STORE_READ);
	ok(help_verify(store, NULL));
	struct chi_read *reader;
	struct chi_arena arena;
	ok(chi_read_begin(store, &reader));
	chi_arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < POSITIONS; i++) {
		struct chi_record record;
		ok(chi_read_record(reader, &keys[i], &arena, &record));
		assert_int_equal(record.n_note > 0 ? record.note[0] : 0, 'a');
		chi_arena_reset(&arena);
	}
	chi_arena_deinit(&arena);
	chi_read_end(reader);
	chi_dir_close(store);
}

/* Of many positions few stay: the blocks that they were in are joined, and none is lost. */
CASE(test_small_blocks_are_joined)
{
	const size_t n = 4000;
	const size_t stays = 20; /* one of so many */
	struct chi_key *many = calloc(n, sizeof(*many));
	struct chi_dir *store = help_store("joined", CHI_STATISTIC_EXTERNAL);
	struct chi_write *write;
	struct chi_info before;
	struct chi_info after;
	struct chi_row row;
	assert_non_null(many);
	help_keys(many, n);
	help_fill(store, many, n);
	ok(chi_dir_info(store, &before));
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n; i++) {
		if (i % stays != 0) {
			ok(chi_write_delete(write, &many[i]));
		}
	}
	ok(chi_write_commit(write, &fault));
	ok(chi_dir_info(store, &after));
	assert_int_equal(after.positions, n / stays);
	assert_true(after.blocks < before.blocks / 8);
	assert_true(after.block_bytes * 2 > after.blocks * 2030);
	for (size_t i = 0; i < n; i += stays) {
		assert_int_equal(help_get(store, &many[i], &row), CHI_OK);
	}
	ok(help_verify(store, NULL));
	chi_dir_close(store);
	free(many);
}
