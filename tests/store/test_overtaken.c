/* SPDX-License-Identifier: MIT */
/*
 * A snapshot shows the state whose number it bears. LMDB reads the number of the last commit and
 * then that commit's meta page, one of two; a reader kept from the processor between the two
 * while two commits go by finds the page overwritten by the second, which other readers cannot
 * see yet. Here that is made to happen: the meta pages are taken from the reader, and when it
 * misses them it waits for the commits. And it happens by itself: more readers than processors,
 * always beginning, and a writer whose commits cost no sync (memory file system).
 */
#include "tests/store/help.h"

#include <inttypes.h>
#include <lmdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/base/seed.h"

#define READERS	     6
#define COMMITS	     8000 /* in the ordinary run */
#define COMMITS_SLOW 300  /* on a disk, where there is no memory file system */
#define OVERTAKERS   4	  /* commits that go by, at most */

struct shared {
	atomic_bool over;
	atomic_ulong begun; /* snapshots taken, all readers */
};

/* What a reader saw, and the number that its snapshot bears. */
struct sight {
	uint64_t sequence;
	uint64_t commit;
};

/* The reader's, for its handler. */
static void *heads;
static size_t heads_size;
static int to_writer;
static int from_writer;

/* The number of the last commit is hidden from the code under test: it is told that its own is. */
static bool blind;
static size_t own;

size_t __real_mdb_txn_id(MDB_txn *txn);
size_t __wrap_mdb_txn_id(MDB_txn *txn);
int __real_mdb_env_info(MDB_env *env, MDB_envinfo *out);
int __wrap_mdb_env_info(MDB_env *env, MDB_envinfo *out);

size_t __wrap_mdb_txn_id(MDB_txn *txn)
{
	own = __real_mdb_txn_id(txn);
	return own;
}

int __wrap_mdb_env_info(MDB_env *env, MDB_envinfo *out)
{
	int rc = __real_mdb_env_info(env, out);
	out->me_last_txnid = blind ? own : out->me_last_txnid;
	return rc;
}

/* The reader knows the number of the last commit and misses its meta page. It is given back when
 * others have committed. */
static void let_others_commit(int signal)
{
	char byte = 0;
	(void)signal;
	if (write(to_writer, &byte, 1) != 1 || read(from_writer, &byte, 1) != 1 ||
	    mprotect(heads, heads_size, PROT_READ) < 0) {
		_exit(2);
	}
}

/* Where the data file is mapped: its meta pages come first. */
static void find_heads(const char *path)
{
	char name[600];
	char line[1000];
	FILE *maps = fopen("/proc/self/maps", "r");
	(void)snprintf(name, sizeof(name), "%s/data.mdb\n", path);
	heads = NULL;
	while (maps != NULL && heads == NULL && fgets(line, sizeof(line), maps) != NULL) {
		const char *at = strstr(line, name);
		uintptr_t from = 0;
		if (at != NULL && sscanf(line, "%" SCNxPTR, &from) == 1) {
			heads = (void *)from; /* NOLINT(performance-no-int-to-ptr) */
		}
	}
	heads_size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	if (maps == NULL || heads == NULL || fclose(maps) != 0) {
		_exit(3);
	}
}

/* Takes a snapshot for each number of commits that overtake it, and tells what it has seen. The
 * first is of a new transaction, the others of one from the pool. */
static void read_slowly(const char *path, const struct chi_key *key)
{
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	struct sigaction action = {.sa_handler = let_others_commit};
	(void)sigaction(SIGSEGV, &action, NULL);
	find_heads(path);
	for (int n = 0; n < 2 * (OVERTAKERS + 1); n++) {
		struct chi_read *read;
		struct chi_row row = {0};
		if (mprotect(heads, heads_size, PROT_NONE) < 0) {
			_exit(4);
		}
		ok(chi_read_begin(store, &read));
		ok(chi_read_row(read, key, &row));
		struct sight sight = {chi_read_sequence(read), row.counts.white};
		chi_read_end(read);
		if (write(to_writer, &sight, sizeof(sight)) != sizeof(sight)) {
			_exit(5);
		}
	}
	chi_dir_close(store);
	_exit(0);
}

/* How many snapshots showed another state than their number says, capped for the exit code. */
static int read_on(const char *path, const struct chi_key *key, struct shared *shared)
{
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	int wrong = 0;
	while (!atomic_load(&shared->over) && wrong < 100) {
		struct chi_read *read;
		struct chi_row row;
		ok(chi_read_begin(store, &read));
		int rc = chi_read_row(read, key, &row);
		/* Commit number n says so in the record; there is none before the first. */
		uint64_t n = rc == CHI_OK ? row.counts.white : 0;
		wrong += rc < 0 || n != chi_read_sequence(read);
		chi_read_end(read);
		atomic_fetch_add(&shared->begun, 1);
	}
	chi_dir_close(store);
	return wrong;
}

/* One commit, whose number the record bears. */
static void commit(struct chi_dir *store, const struct chi_key *key, uint64_t n)
{
	help_put(store, &(struct chi_put_entry){
				.key = *key, .parts = CHI_PUT_COUNTS, .record.counts.white = n});
}

static void write_on(const char *path, const struct chi_key *key, uint64_t commits)
{
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	for (uint64_t n = 1; n <= commits; n++) {
		commit(store, key, n);
	}
	chi_dir_close(store);
}

static void take(int from, void *bytes, size_t len)
{
	assert_int_equal(read(from, bytes, len), len);
}

/* How many of the snapshots were wrong. */
static unsigned overtake(const char *name, bool hide)
{
	char path[300];
	int up[2];
	int down[2];
	unsigned wrong = 0;
	struct chi_key key = help_key();
	(void)snprintf(path, sizeof(path), "%s", help_path(name));
	ok(chi_dir_create(path, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &fault));
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	pid_t pid = help_fork();
	if (pid == 0) {
		close(up[0]);
		close(down[1]);
		to_writer = up[1];
		from_writer = down[0];
		/* The first commit has come to pass before it looks. */
		char byte = 0;
		blind = hide;
		if (read(from_writer, &byte, 1) != 1) {
			_exit(1);
		}
		read_slowly(path, &key);
	}
	close(up[1]);
	close(down[0]);
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	uint64_t n = 1;
	char byte = 0;
	commit(store, &key, n);
	assert_int_equal(write(down[1], &byte, 1), 1);
	for (uint64_t i = 0; i < UINT64_C(2) * (OVERTAKERS + 1); i++) {
		struct sight sight;
		uint64_t before = n;
		take(up[0], &byte, 1);
		while (n < before + i % (OVERTAKERS + 1)) {
			commit(store, &key, ++n);
		}
		assert_int_equal(write(down[1], &byte, 1), 1);
		take(up[0], &sight, sizeof(sight));
		assert_in_range(sight.commit, before, n);
		/* Commit number n says so in the record. */
		wrong += sight.commit != sight.sequence;
	}
	chi_dir_close(store);
	assert_int_equal(help_child_status(pid), 0);
	close(up[0]);
	close(down[1]);
	return wrong;
}

CASE(test_overtaken_between_number_and_head)
{
	assert_int_equal(overtake("settled", false), 0);
}

/* Without the rule two commits and more are seen under an older number, each time. */
CASE(test_overtaken_unnoticed)
{
	assert_int_equal(overtake("blind", true), 2 * (OVERTAKERS - 1));
}

CASE(test_overtaken_reader)
{
	char memory[] = "/dev/shm/chistore-test-XXXXXX";
	bool fast = mkdtemp(memory) != NULL;
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/store", fast ? memory : "/tmp");
	if (!fast) {
		(void)snprintf(path, sizeof(path), "%.60s", help_path("overtaken"));
	}
	struct chi_key key = help_key();
	ok(chi_dir_create(path, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &fault));
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid_t pids[READERS];
	for (int i = 0; i < READERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			_exit(read_on(path, &key, shared));
		}
	}
	write_on(path, &key, fast ? seed_rounds(COMMITS) : COMMITS_SLOW);
	atomic_store(&shared->over, true);
	for (int i = 0; i < READERS; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_true(atomic_load(&shared->begun) > READERS);
	munmap(shared, sizeof(*shared));
	help_remove(path);
	if (fast) {
		(void)rmdir(memory);
	}
}

CASES_MAIN(NULL, help_teardown)
