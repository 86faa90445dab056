/* SPDX-License-Identifier: MIT */
/*
 * Readers that are in the way: dead ones that hold slots and pages, more than there are slots for,
 * and those under whom the map or the file must not change. Each child here opens the store by
 * itself and is killed or kept, as processes are.
 */
#include "tests/store/help.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"

#define CONTROL	  CHI_STATISTIC_CONTROL
#define SLOTS	  1024
#define SMALL_MAP (UINT64_C(2) << 20)

static void hold_read(void)
{
	struct chi_read *read;
	ok(chi_read_begin(help_open(help_path("readers"), CHI_STORE_READ), &read));
}

static void hold_all_slots(void)
{
	struct chi_dir *store = help_open(help_path("readers"), CHI_STORE_READ);
	struct chi_read *read;
	int rc;
	while ((rc = chi_read_begin(store, &read)) == CHI_OK) {
	}
	assert_int_equal(rc, -CHI_EBUSY);
}

static struct chi_dir *open_small(enum chi_dir_mode mode)
{
	struct chi_dir_options options = {.mode = mode, .map_bytes = SMALL_MAP};
	struct chi_dir *store;
	ok(chi_dir_open(help_path("readers"), &options, &store, &fault));
	return store;
}

static void hold_small(void)
{
	struct chi_read *read;
	ok(chi_read_begin(open_small(CHI_STORE_READ), &read));
}

static uint32_t readers_of(struct chi_dir *store)
{
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	return info.readers;
}

/* A live one keeps the table from being made again. */
CASE(test_opening_frees_slots)
{
	chi_dir_close(help_store("readers", CONTROL));
	pid_t living = help_hold(hold_read);
	struct chi_dir *store = help_open(help_path("readers"), CHI_STORE_READ);
	uint32_t with_one = readers_of(store);
	chi_dir_close(store);
	help_kill(help_hold(hold_read));
	store = help_open(help_path("readers"), CHI_STORE_READ);
	assert_int_equal(readers_of(store), with_one);
	chi_dir_close(store);
	help_kill(living);
}

/* Every slot belongs to someone who died since we opened: room is made when it is needed. */
CASE(test_full_table_is_looked_through)
{
	struct chi_dir *store = help_store("readers", CONTROL);
	struct chi_read *read;
	help_kill(help_hold(hold_all_slots));
	ok(chi_read_begin(store, &read));
	chi_read_end(read);
	assert_true(readers_of(store) < SLOTS);
	chi_dir_close(store);
}

/* Records of many pages, others each time: those of the last go to the free list. */
static int put_pages(struct chi_dir *store, const struct chi_key *keys, size_t n)
{
	static char note[CHI_NOTE_MAX];
	static char letter;
	struct chi_put_result result = {0};
	struct chi_write *write;
	int rc = CHI_OK;
	memset(note, 'a' + letter++ % 26, sizeof(note));
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		put.record.note = note;
		put.record.n_note = sizeof(note);
		rc = chi_write_put(write, &put, &result);
	}
	/* It may be the commit that finds no room, for its list of free pages. */
	int end = chi_write_commit(write, &fault);
	assert_true(rc == CHI_OK || end == rc);
	return end;
}

/* A dead reader holds all pages that were given back since; when there are no others the write
 * fails, and the next one has them: be it that there was no room for the changes, or, as one record
 * happens to have it, for what comes with the commit. */
CASE(test_full_map_is_looked_through)
{
	struct chi_key keys[5];
	help_keys(keys, CHI_COUNT(keys));
	for (size_t n = 1; n <= CHI_COUNT(keys); n++) {
		chi_dir_close(help_store("readers", CONTROL));
		struct chi_dir *store = open_small(CHI_STORE_WRITE);
		ok(put_pages(store, keys, n));
		help_kill(help_hold(hold_small));
		int rc = CHI_OK;
		for (unsigned i = 0; rc == CHI_OK && i < 2 * SMALL_MAP / CHI_NOTE_MAX; i++) {
			rc = put_pages(store, keys, n);
		}
		assert_int_equal(rc, -CHI_EFULL);
		for (unsigned i = 0; i < 2 * SMALL_MAP / CHI_NOTE_MAX / n; i++) {
			ok(put_pages(store, keys, n));
		}
		chi_dir_close(store);
	}
}

/* Someone else made the store larger than our map; who reads in ours keeps it until he is done. */
CASE(test_map_stays_under_a_reader)
{
	chi_dir_close(help_store("readers", CONTROL));
	struct chi_dir *store = open_small(CHI_STORE_WRITE);
	struct chi_key key = help_key();
	struct chi_read *old;
	struct chi_read *later;
	struct chi_row row;
	help_put(store, &(struct chi_put_entry){.key = key});
	ok(chi_read_begin(store, &old));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_dir *other = help_open(help_path("readers"), CHI_STORE_WRITE);
		struct chi_key keys[64];
		help_keys(keys, CHI_COUNT(keys));
		for (size_t i = 0; i < CHI_COUNT(keys); i++) {
			ok(put_pages(other, &keys[i], 1));
		}
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
	assert_int_equal(chi_read_begin(store, &later), -CHI_EBUSY);
	assert_int_equal(chi_read_row(old, &key, &row), CHI_OK);
	chi_read_end(old);
	ok(chi_read_begin(store, &later));
	assert_int_equal(chi_read_row(later, &key, &row), CHI_OK);
	chi_read_end(later);
	chi_dir_close(store);
}

static void hold_daemon_that_wrote(void)
{
	struct chi_dir *store = help_open(help_path("readers"), CHI_STORE_DAEMON);
	help_put(store, &(struct chi_put_entry){.key = help_key()});
}

/* Between two transactions of a daemon no one else writes. */
CASE(test_daemon_keeps_its_place)
{
	chi_dir_close(help_store("readers", CONTROL));
	pid_t pid = help_hold(hold_daemon_that_wrote);
	struct chi_dir *store = help_open(help_path("readers"), CHI_STORE_WRITE);
	struct chi_write *write;
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	help_kill(pid);
	ok(chi_write_begin(store, &write, &fault));
	chi_write_abort(write);
	chi_dir_close(store);
}
