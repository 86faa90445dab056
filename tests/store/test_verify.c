/* SPDX-License-Identifier: MIT */
/*
 * Verification by plain reads: a lost commit is named, whichever meta page is damaged; a sound
 * store is never called damaged, beside a writer either; it ends soon when it is to.
 */
#include "tests/store/help.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/pages/page_file.h"
#include "store/pages/pages.h"
#include "tests/base/seed.h"

#define POSITIONS 400
#define PAGE	  4096
#define META_TXN  144 /* where a meta page has its transaction's number */

static struct chi_key keys[POSITIONS];
static char said[4096];

static void note_report(void *context, const char *text)
{
	(void)context;
	size_t at = strlen(said);
	(void)snprintf(said + at, sizeof(said) - at, "%s\n", text);
}

static int verify(struct chi_dir *store)
{
	struct chi_verify_result result;
	said[0] = '\0';
	int rc = help_verify_told(store, note_report, NULL, &result);
	assert_int_equal(rc == CHI_OK, result.errors == 0);
	return rc;
}

static int open_data(void)
{
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data.mdb", help_path("verified"));
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

static uint64_t head_txn(int fd, int head)
{
	uint64_t txn;
	assert_int_equal(pread(fd, &txn, sizeof(txn), head * PAGE + META_TXN), sizeof(txn));
	return txn;
}

static void set_head_txn(int fd, int head, uint64_t txn)
{
	assert_int_equal(pwrite(fd, &txn, sizeof(txn), head * PAGE + META_TXN), sizeof(txn));
}

static void make(void)
{
	help_keys(keys, POSITIONS);
	struct chi_dir *store = help_store("verified", CHI_STATISTIC_CONTROL);
	help_fill(store, keys, POSITIONS / 2);
	help_fill(store, keys, POSITIONS);
	chi_dir_close(store);
}

/* The page's own number was not looked at, by verify neither: every walk ended with an error. */
CASE(test_damaged_heads_of_meta_pages)
{
	/* The page's number, flags, flags of the tree of free pages and of that of names. */
	static const off_t places[] = {0, 10, 44, 92};
	make();
	int fd = open_data();
	for (unsigned i = 0; i < 2 * CHI_COUNT(places); i++) {
		struct chi_dir_options options = {.mode = CHI_STORE_READ};
		struct chi_dir *store = NULL;
		off_t at = i % 2 * PAGE + places[i / 2];
		uint8_t byte;
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 4;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(chi_dir_open(help_path("verified"), &options, &store, &fault),
				 -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, i % 2 == 0 ? "first meta" : "second meta"));
		byte ^= 4;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
	ok(verify(store));
	chi_dir_close(store);
}

/* The number in either meta page, each bit of it. Of the newer one, LMDB takes the other, and the
 * last commit is lost without a word. Only a newer head that is set back by exactly two cannot be
 * told from a commit that failed: LMDB itself leaves the page so. */
CASE(test_damaged_numbers_of_heads)
{
	make();
	int fd = open_data();
	for (int head = 0; head < 2; head++) {
		uint64_t txn = head_txn(fd, head);
		bool newer = txn > head_txn(fd, 1 - head);
		for (unsigned bit = 0; bit < 64; bit++) {
			uint64_t flipped = txn ^ UINT64_C(1) << bit;
			set_head_txn(fd, head, flipped);
			struct chi_dir_options options = {.mode = CHI_STORE_READ};
			struct chi_dir *store = NULL;
			int rc = chi_dir_open(help_path("verified"), &options, &store, &fault);
			assert_int_equal(rc, newer && flipped == txn - 2 ? CHI_OK : -CHI_ECORRUPT);
			assert_true(rc < 0 || verify(store) == CHI_OK);
			assert_true(rc == CHI_OK || strstr(fault.text, "last commit may be lost") ||
				    strstr(fault.text, "meta page is damaged"));
			chi_dir_close(store);
		}
		set_head_txn(fd, head, txn);
	}
	close(fd);
	struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
	ok(verify(store));
	chi_dir_close(store);
}

/* The same under a store that is open, as a daemon has it: also where LMDB's snapshots fail. */
CASE(test_heads_damaged_while_open)
{
	static const uint8_t noise[PAGE] = {1, 2, 3};
	make();
	for (int head = 0; head < 2; head++) {
		for (int how = 0; how < 2; how++) {
			uint8_t good[PAGE];
			struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
			ok(verify(store));
			int fd = open_data();
			assert_int_equal(pread(fd, good, PAGE, head * PAGE), PAGE);
			if (how == 0) {
				assert_int_equal(pwrite(fd, noise, PAGE, head * PAGE), PAGE);
			} else {
				set_head_txn(fd, head, how == 1 ? 0 : UINT64_C(1) << 40);
			}
			assert_int_equal(verify(store), -CHI_ECORRUPT);
			assert_true(said[0] != '\0');
			assert_int_equal(pwrite(fd, good, PAGE, head * PAGE), PAGE);
			close(fd);
			ok(verify(store));
			chi_dir_close(store);
		}
	}
}

/* Look-ups go by the keys of branches, walks do not: a position that no look-up finds is named,
 * although both trees hold it. */
CASE(test_damaged_key_of_a_branch)
{
	struct chi_page_file file_image;
	uint8_t page[PAGE];
	unsigned branches = 0;
	make();
	ok(chi_page_file_open(&file_image, help_path("verified"), CHI_PAGE_FILE_BOTH, &fault));
	struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
	int fd = open_data();
	for (uint64_t number = 2; number < chi_page_file_pages(&file_image); number++) {
		if (!chi_page_file_page(&file_image, number, page) ||
		    !chi_page_file_is_branch(page)) {
			continue;
		}
		off_t at =
			(off_t)(number * PAGE) + chi_u16_at(page + PAGE_HEADER + 2) + NODE_HEADER;
		uint16_t start;
		assert_int_equal(pread(fd, &start, 2, at), 2);
		uint16_t flipped = (uint16_t)~start;
		assert_int_equal(pwrite(fd, &flipped, 2, at), 2);
		/* Branches of states that are over stay where they were. */
		branches += verify(store) != CHI_OK && strstr(said, "out of order") != NULL;
		assert_int_equal(pwrite(fd, &start, 2, at), 2);
	}
	/* Both large trees have one. */
	assert_true(branches >= 2);
	ok(verify(store));
	close(fd);
	chi_dir_close(store);
	chi_page_file_close(&file_image);
}

/* A writer that commits all the time exchanges the meta pages under the look at them. */
CASE(test_sound_beside_a_writer)
{
	atomic_bool *over = mmap(NULL, sizeof(*over), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(over, MAP_FAILED);
	make();
	fflush(stdout);
	pid_t pid = help_fork();
	if (pid == 0) {
		struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_WRITE);
		for (unsigned i = 0; !atomic_load(over); i = (i + 1) % (POSITIONS - 1)) {
			help_fill(store, &keys[i], 1);
		}
		chi_dir_close(store);
		_exit(0);
	}
	struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
	size_t rounds = seed_rounds(300);
	for (size_t i = 0; i < rounds; i++) {
		int rc = verify(store);
		if (rc != CHI_OK) {
			print_message("# %d: %s\n", rc, said);
		}
		ok(rc);
	}
	chi_dir_close(store);
	atomic_store(over, true);
	assert_int_equal(help_child_status(pid), 0);
	munmap(over, sizeof(*over));
}

CASE(test_canceled)
{
	struct chi_verify_result result;
	atomic_bool stop = true;
	make();
	struct chi_dir *store = help_open(help_path("verified"), CHI_STORE_READ);
	assert_int_equal(chi_dir_verify_until(store, 1, &stop, NULL, NULL, &result),
			 -CHI_ECANCELED);
	stop = false;
	ok(chi_dir_verify_until(store, 1, &stop, NULL, NULL, &result));
	assert_int_equal(result.positions, POSITIONS);
	chi_dir_close(store);
}

CASES_MAIN(NULL, help_teardown)
