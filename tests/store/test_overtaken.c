/* SPDX-License-Identifier: MIT */
/*
 * A snapshot shows the state whose number it bears. LMDB reads the number of the last commit and
 * then that commit's head page, one of two; a reader kept from the processor between the two
 * while two commits go by finds the page overwritten by the second, which other readers cannot
 * see yet. More readers than processors, always beginning, and a writer whose commits cost no
 * sync (memory file system) make that happen dozens of times a second.
 */
#include "tests/store/help.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READERS	     6
#define COMMITS	     20000
#define COMMITS_SLOW 300 /* on a disk, where there is no memory file system */

struct shared {
	atomic_bool over;
	atomic_ulong begun; /* snapshots taken, all readers */
};

/* How many snapshots showed another state than their number says, capped for the exit code. */
static int read_on(const char *path, const struct chi_key *key, struct shared *shared)
{
	struct chi_store *store = help_open(path, CHI_STORE_READ);
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
	chi_store_close(store);
	return wrong;
}

static void write_on(const char *path, const struct chi_key *key, uint64_t commits)
{
	struct chi_store *store = help_open(path, CHI_STORE_WRITE);
	for (uint64_t n = 1; n <= commits; n++) {
		help_put(store, &(struct chi_put){.key = *key,
						  .parts = CHI_PUT_COUNTS,
						  .record.counts.white = n});
	}
	chi_store_close(store);
}

static void test_overtaken_reader(void **state)
{
	(void)state;
	char memory[] = "/dev/shm/chistore-test-XXXXXX";
	bool fast = mkdtemp(memory) != NULL;
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/store", fast ? memory : "/tmp");
	if (!fast) {
		(void)snprintf(path, sizeof(path), "%.60s", help_path("overtaken"));
	}
	struct chi_key key = help_key();
	ok(chi_store_create(path, CHI_STATISTIC_EXTERNAL, &fault));
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
	write_on(path, &key, fast ? COMMITS : COMMITS_SLOW);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overtaken_reader),
	};
	int rc = cmocka_run_group_tests_name("store/overtaken", tests, NULL, NULL);
	help_clean();
	return rc;
}
