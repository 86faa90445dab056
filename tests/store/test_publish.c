/* SPDX-License-Identifier: MIT */
/*
 * Published copies: read without the right to write, never written, replaced at one moment. What
 * only looks like one is opened with locks.
 */
#include "tests/store/help.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/attr.h"
#include "base/num.h"
#include "import/importer.h"
#include "store/pages/pages.h"
#include "store/record/meta.h"

#define POSITIONS 300
#define NOBODY	  65534
#define READERS	  1100 /* more than a table of readers has places */
#define CHILDREN  8
#define ROUNDS	  20
#define KILLS	  12

static struct chi_key keys[POSITIONS + ROUNDS];

static int back_up(struct chi_dir *store, const char *path)
{
	struct chi_copy *copy;
	int fd;
	ok(chi_copy_begin(path, CHI_BACKUP_STORE, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	return chi_copy_finish(copy, &fault);
}

static struct chi_dir *filled(const char *name)
{
	struct chi_dir *store = help_store(name, CHI_STATISTIC_CONTROL);
	help_fill(store, keys, POSITIONS);
	return store;
}

static const char *path_in(const char *dir, const char *name)
{
	static char path[1024];
	snprintf(path, sizeof(path), "%s/%s", help_path(dir), name);
	return path;
}

static bool is_there(const char *dir, const char *name)
{
	return access(path_in(dir, name), F_OK) == 0;
}

static void set_mode(const char *dir, const char *name, mode_t mode)
{
	assert_int_equal(chmod(path_in(dir, name), mode), 0);
}

CASE(test_modes_and_files, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	struct stat dir;
	struct stat file;
	mode_t mask = umask(077);
	ok(help_publish(store, help_path("modes")));
	umask(mask);
	assert_int_equal(stat(help_path("modes"), &dir), 0);
	assert_int_equal(stat(path_in("modes", "data.mdb"), &file), 0);
	assert_int_equal(dir.st_mode & 07777, 0755);
	assert_int_equal(file.st_mode & 07777, 0444);
	assert_int_equal(help_entries(help_path("modes"), ""), 1);
	chi_dir_close(store);
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* All that a reader can ask for, compared with the store that was copied. */
static void read_all(struct chi_dir *store, const char *text, size_t len)
{
	size_t n;
	struct chi_info info;
	struct chi_verify_result result;
	struct chi_row row;
	struct chi_row strength;
	struct chi_prefetch *ahead;
	uint64_t ticket;
	int freed;
	char *again = help_dump(store, &n);
	assert_int_equal(n, len);
	assert_memory_equal(again, text, len);
	free(again);
	assert_int_equal(help_count(store), POSITIONS);
	assert_int_equal(help_get(store, &keys[7], &row), CHI_OK);
	assert_int_equal(help_get(store, &keys[POSITIONS], &row), CHI_NONE);
	ok(help_verify(store, &result));
	assert_int_equal(result.positions, POSITIONS);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.positions, POSITIONS);
	assert_int_equal(info.read_only, CHI_READ_ONLY_PUBLISHED);
	ok(chi_dir_check(store, &freed, &fault));
	ok(chi_prefetch_open(store, &ahead));
	ok(chi_prefetch_ask(ahead, &keys[5], 1, &ticket));
	ok(chi_prefetch_take(ahead, ticket, &strength));
	assert_true(strength.found);
	chi_prefetch_close(ahead);
}

static void explore(struct chi_dir *store)
{
	struct chi_arena arena;
	struct chi_read *read;
	struct chi_explored found;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_begin(store, &read));
	ok(chi_read_explore(read, &keys[0], &arena, &found, &fault));
	chi_read_end(read);
	chi_arena_deinit(&arena);
}

/* Gives up every right to write; without being root, who tests is taken the right in the directory.
 */
static void become_stranger(const char *dir)
{
	if (geteuid() != 0) {
		assert_int_equal(chmod(dir, 0555), 0);
		return;
	}
	assert_int_equal(setgroups(0, NULL), 0);
	assert_int_equal(setgid(NOBODY), 0);
	assert_int_equal(setuid(NOBODY), 0);
}

/* Many strangers at once; nothing is made in the directory, and nothing changes in it. */
CASE(test_strangers_read_everything, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	size_t len;
	char *text = help_dump(store, &len);
	pid_t pids[CHILDREN];
	struct stat before;
	struct stat after;
	ok(help_publish(store, help_path("strange")));
	chi_dir_close(store);
	assert_int_equal(chmod(help_path("."), 0755), 0);
	assert_int_equal(stat(help_path("strange"), &before), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			become_stranger(help_path("strange"));
			assert_int_equal(access(help_path("strange"), W_OK), -1);
			struct chi_dir *copy = help_open(help_path("strange"), CHI_STORE_READ);
			read_all(copy, text, len);
			explore(copy);
			chi_dir_close(copy);
			_exit(0);
		}
	}
	for (size_t i = 0; i < CHILDREN; i++) {
		assert_int_equal(help_child_status(pids[i]), 0);
	}
	assert_int_equal(stat(help_path("strange"), &after), 0);
	assert_int_equal(help_entries(help_path("strange"), ""), 1);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	free(text);
}

/* There is no table of readers that could be full; the store's own is the control. */
static size_t snapshots(struct chi_dir *store)
{
	static struct chi_read *reads[READERS];
	size_t n = 0;
	while (n < READERS && chi_read_begin(store, &reads[n]) == CHI_OK) {
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		chi_read_end(reads[i]);
	}
	return n;
}

CASE(test_any_number_of_snapshots, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("many")));
	struct chi_dir *copy = help_open(help_path("many"), CHI_STORE_READ);
	assert_int_equal(snapshots(copy), READERS);
	assert_int_equal(snapshots(store), 1024);
	chi_dir_close(copy);
	chi_dir_close(store);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void refused(const char *name)
{
	assert_int_equal(help_try(help_path(name), CHI_STORE_WRITE), -CHI_EREADONLY);
	assert_non_null(strstr(fault.text, "published copy"));
	assert_int_equal(help_try(help_path(name), CHI_STORE_DAEMON), -CHI_EREADONLY);
}

CASE(test_nobody_writes, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("kept")));
	chi_dir_close(store);
	refused("kept");
	assert_int_equal(help_entries(help_path("kept"), ""), 1);
	/* Also where this process has it open already, and after someone changed the mode. */
	struct chi_dir *copy = help_open(help_path("kept"), CHI_STORE_READ);
	struct chi_write *write;
	refused("kept");
	assert_int_equal(chi_write_begin(copy, &write, &fault), -CHI_EREADONLY);
	chi_dir_close(copy);
	set_mode("kept", "data.mdb", 0644);
	refused("kept");
}

CASE(test_a_backup_is_a_store, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("first")));
	chi_dir_close(store);
	struct chi_dir *copy = help_open(help_path("first"), CHI_STORE_READ);
	ok(back_up(copy, help_path("again")));
	ok(help_publish(copy, help_path("second")));
	chi_dir_close(copy);
	store = help_open(help_path("again"), CHI_STORE_WRITE);
	help_fill(store, &keys[POSITIONS], 10);
	assert_int_equal(help_count(store), POSITIONS + 10);
	ok(help_verify(store, NULL));
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.read_only, CHI_READ_ONLY_NOT);
	chi_dir_close(store);
	refused("second");
}

/* It shows the number of the state that was copied, and no more than that takes. */
CASE(test_state_and_size, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	struct chi_write *write;
	struct chi_info there;
	struct chi_info here;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 10; i < POSITIONS; i++) {
		ok(chi_write_delete(write, &keys[i]));
	}
	ok(chi_write_commit(write, &fault));
	ok(help_publish(store, help_path("small")));
	struct chi_dir *copy = help_open(help_path("small"), CHI_STORE_READ);
	ok(chi_dir_info(store, &there));
	ok(chi_dir_info(copy, &here));
	assert_int_equal(here.sequence, there.sequence);
	assert_memory_equal(here.uuid, there.uuid, sizeof(here.uuid));
	assert_int_equal(here.positions, 10);
	assert_int_equal(here.file_bytes, here.used_bytes);
	assert_true(here.file_bytes < there.file_bytes / 2);
	chi_dir_close(copy);
	chi_dir_close(store);
}

/* ---- What is none --------------------------------------------------------------------------- */

/* Opened for reading with locks, which leaves LMDB's file behind. */
static void opened_with_locks(const char *name)
{
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_READ);
	struct chi_info info;
	assert_int_equal(help_count(store), POSITIONS);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.read_only, CHI_READ_ONLY_NOT);
	assert_true(is_there(name, "lock.mdb"));
	chi_dir_close(store);
}

/* All but the mark: a store that rests, of which someone took the rights and the lock files. */
CASE(test_a_resting_store_is_locked, NULL, help_teardown)
{
	chi_dir_close(filled("resting"));
	const char *const locks[] = {"lock.mdb", "chistore.lock"};
	for (size_t i = 0; i < CHI_COUNT(locks); i++) {
		assert_int_equal(unlink(path_in("resting", locks[i])), 0);
	}
	set_mode("resting", "data.mdb", 0444);
	opened_with_locks("resting");
}

/* The mark, but something that a writer would have brought: its mode, or a lock file. */
CASE(test_a_touched_copy_is_locked, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("touched")));
	set_mode("touched", "data.mdb", 0644);
	opened_with_locks("touched");
	refused("touched");
	const char *const locks[] = {"lock.mdb", "chistore.lock"};
	for (size_t i = 0; i < CHI_COUNT(locks); i++) {
		help_remove(help_path("touched"));
		ok(help_publish(store, help_path("touched")));
		FILE *file = fopen(path_in("touched", locks[i]), "w");
		assert_non_null(file);
		fclose(file);
		opened_with_locks("touched");
		if (geteuid() == 0) {
			refused("touched");
		} else {
			/* The mode of its file speaks first. */
			assert_int_equal(help_try(help_path("touched"), CHI_STORE_WRITE),
					 -CHI_EACCES);
		}
		/* Nor is it replaced: no one knows what it is by now. */
		assert_int_equal(help_publish(store, help_path("touched")), -CHI_EEXIST);
	}
	chi_dir_close(store);
}

/* ---- Replacing ------------------------------------------------------------------------------ */

CASE(test_only_copies_are_replaced, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	struct chi_dir *other = filled("other");
	ok(help_publish(store, help_path("real")));
	assert_int_equal(symlink(help_path("real"), help_path("link")), 0);
	assert_int_equal(mkdir(help_path("empty"), 0755), 0);
	FILE *file = fopen(help_path("file"), "w");
	assert_non_null(file);
	fclose(file);
	const char *const names[] = {"other", "link", "empty", "file", "source"};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		assert_int_equal(help_publish(store, help_path(names[i])), -CHI_EEXIST);
		assert_non_null(strstr(fault.text, names[i]));
	}
	assert_int_equal(help_count(other), POSITIONS);
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(other);
	chi_dir_close(store);
}

/* What takes the name while the copy is being made is not ours to remove. */
CASE(test_a_store_made_meanwhile_stays, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	struct chi_copy *copy;
	int fd;
	ok(help_publish(store, help_path("meanwhile")));
	ok(chi_copy_begin(help_path("meanwhile"), CHI_BACKUP_PUBLISHED, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	help_remove(help_path("meanwhile"));
	const char *path = help_path("meanwhile");
	ok(chi_dir_create(path, CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, &fault));
	assert_int_equal(chi_copy_finish(copy, &fault), -CHI_EEXIST);
	struct chi_dir *made = help_open(path, CHI_STORE_WRITE);
	assert_int_equal(chi_dir_statistic(made), CHI_STATISTIC_OUTCOME);
	chi_dir_close(made);
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(store);
}

/* Who has the old one open keeps it, and who opens again gets the new one, in the same process. */
CASE(test_readers_keep_theirs, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	struct chi_dir *copies[4];
	for (size_t i = 0; i < CHI_COUNT(copies); i++) {
		ok(help_publish(store, help_path("kept")));
		copies[i] = help_open(help_path("kept"), CHI_STORE_READ);
		help_fill(store, &keys[POSITIONS + i], 1);
	}
	for (size_t i = 0; i < CHI_COUNT(copies); i++) {
		assert_int_equal(help_count(copies[i]), POSITIONS + i);
		ok(help_verify(copies[i], NULL));
		struct chi_info info;
		ok(chi_dir_info(copies[i], &info));
		assert_int_equal(info.file_bytes, info.used_bytes);
		chi_dir_close(copies[i]);
	}
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(store);
}

/* Another process opens it at every moment: there is always a whole one, and it never goes back. */
CASE(test_replaced_under_openers, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("moving")));
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t seen = POSITIONS;
		while (seen < POSITIONS + ROUNDS) {
			struct chi_dir *copy = help_open(help_path("moving"), CHI_STORE_READ);
			uint64_t now = help_count(copy);
			ok(help_verify(copy, NULL));
			chi_dir_close(copy);
			assert_true(now >= seen);
			seen = now;
		}
		_exit(0);
	}
	for (size_t i = 0; i < ROUNDS; i++) {
		help_fill(store, &keys[POSITIONS + i], 1);
		ok(help_publish(store, help_path("moving")));
	}
	assert_int_equal(help_child_status(pid), 0);
	assert_int_equal(help_entries(help_path("moving"), ""), 1);
	chi_dir_close(store);
}

/* Killed at any moment: there is a whole copy, and the next publication removes what is left. */
CASE(test_killed_publishers, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("killed")));
	unsigned left = 0;
	/* On a busy machine later and later, until one was met in the middle. */
	for (unsigned i = 0; i < KILLS || (left == 0 && i < 8 * KILLS); i++) {
		int ready[2];
		assert_int_equal(pipe(ready), 0);
		pid_t pid = fork();
		if (pid == 0) {
			struct chi_dir *own = help_open(help_path("source"), CHI_STORE_READ);
			(void)!write(ready[1], "", 1);
			for (;;) {
				ok(help_publish(own, help_path("killed")));
			}
		}
		char byte;
		assert_int_equal(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		close(ready[1]);
		usleep(help_below(12000 << i / KILLS));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(help_child_status(pid), 1000 + SIGKILL);
		left += help_entries(help_path("."), ".new-") > 0;
		struct chi_dir *copy = help_open(help_path("killed"), CHI_STORE_READ);
		assert_int_equal(help_count(copy), POSITIONS);
		ok(help_verify(copy, NULL));
		chi_dir_close(copy);
	}
	print_message("# %u of %u kills left something behind\n", left, KILLS);
	assert_true(left > 0);
	ok(help_publish(store, help_path("killed")));
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(store);
}

/* ---- Damage --------------------------------------------------------------------------------- */

/* Replaces a record by nonsense, behind the store's back. */
static void damage(const char *path, const struct chi_key *key)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	char nonsense[] = "nonsense";
	uint8_t bytes[CHI_KEY_MAX];
	memcpy(bytes, key->bytes, key->len);
	MDB_val name = {key->len, bytes};
	MDB_val value = {strlen(nonsense), nonsense};
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSYNC, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "position", 0, &dbi), 0);
	assert_int_equal(mdb_put(txn, dbi, &name, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

int __real_mdb_env_copyfd2(MDB_env *env, mdb_filehandle_t fd, unsigned flags);
int __wrap_mdb_env_copyfd2(MDB_env *env, mdb_filehandle_t fd, unsigned flags);

static unsigned compactions;

/* What another user does once the copy is written. */
static void (*after_copy)(void);

int __wrap_mdb_env_copyfd2(MDB_env *env, mdb_filehandle_t fd, unsigned flags)
{
	void (*hook)(void) = after_copy;
	compactions += (flags & MDB_CP_COMPACT) != 0;
	int rc = __real_mdb_env_copyfd2(env, fd, flags);
	after_copy = NULL;
	if (hook != NULL) {
		hook();
	}
	return rc;
}

/* The hidden directory's owner is not the parent's, who may give its name to another one, in which
 * the data file is a link. */
static void put_link_to_secret(void)
{
	char name[1100];
	char data[1200];
	(void)snprintf(name, sizeof(name), "%s/.swapped.new-%ld-0", help_path("."), (long)getpid());
	(void)snprintf(data, sizeof(data), "%s/data.mdb", name);
	assert_int_equal(rename(name, help_path("aside")), 0);
	assert_int_equal(mkdir(name, 0755), 0);
	assert_int_equal(symlink(help_path("secret/data.mdb"), data), 0);
}

/* A store that none but its owner may read became readable to all, and marked as published. */
CASE(test_link_in_place_of_the_hidden_directory, NULL, help_teardown)
{
	struct stat st;
	chi_dir_close(filled("secret"));
	struct chi_dir *store = filled("source");
	for (int i = 0; i < 2; i++) {
		after_copy = put_link_to_secret;
		assert_int_equal(help_publish(store, help_path("swapped")), -CHI_EACCES);
		assert_int_equal(stat(help_path("secret/data.mdb"), &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		chi_dir_close(help_open(help_path("secret"), CHI_STORE_WRITE));
		help_remove(help_path("swapped"));
		help_remove(help_path("aside"));
		/* The second time in place of a copy. */
		ok(help_publish(store, help_path("swapped")));
	}
	chi_dir_close(store);
}

/* A number in the page of an entry, by which LMDB would find it. */
static void damage_page(const char *path)
{
	struct stat st;
	uint8_t page[4096];
	int file = open(path, O_RDWR | O_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(fstat(file, &st), 0);
	/* The last leaf. */
	off_t at = st.st_size;
	do {
		at -= (off_t)sizeof(page);
		assert_true(at > 0);
		assert_int_equal(pread(file, page, sizeof(page), at), sizeof(page));
	} while (page[10] != 2);
	page[16] ^= 0x80;
	assert_int_equal(pwrite(file, page, sizeof(page), at), sizeof(page));
	assert_int_equal(close(file), 0);
}

/* Nor compacted, if pages are: LMDB may write past its memory there. */
CASE(test_damage_is_not_published, NULL, help_teardown)
{
	static const enum chi_backup_kind kinds[] = {CHI_BACKUP_PUBLISHED, CHI_BACKUP_VERIFIED};
	struct chi_dir *store = filled("source");
	compactions = 0;
	ok(help_publish(store, help_path("sound")));
	assert_int_equal(compactions, 1);
	ok(back_up(store, help_path("pages")));
	chi_dir_close(store);
	damage(help_path("source"), &keys[3]);
	store = help_open(help_path("source"), CHI_STORE_READ);
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		assert_int_equal(help_publish_kind(store, help_path("sound"), kinds[i]),
				 -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "nothing was published"));
		assert_int_equal(compactions, 1);
	}
	/* The control: a copy that was not verified. */
	ok(back_up(store, help_path("unsound")));
	chi_dir_close(store);
	damage_page(path_in("pages", "data.mdb"));
	store = help_open(help_path("pages"), CHI_STORE_READ);
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		assert_int_equal(help_publish_kind(store, help_path("sound"), kinds[i]),
				 -CHI_ECORRUPT);
		assert_int_equal(compactions, 1);
	}
	chi_dir_close(store);
	struct chi_dir *copy = help_open(help_path("sound"), CHI_STORE_READ);
	ok(help_verify(copy, NULL));
	chi_dir_close(copy);
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
}

/* Whether a damage is found before LMDB may write by it: by opening, or by verification, after
 * which nothing is published. */
static bool is_found(const char *name)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store = NULL;
	int rc = chi_dir_open(help_path(name), &options, &store, &fault);
	if (rc < 0) {
		assert_int_equal(rc, -CHI_ECORRUPT);
		return true;
	}
	bool found = help_verify(store, NULL) == -CHI_ECORRUPT;
	if (found) {
		assert_int_equal(help_publish(store, help_path("copy")), -CHI_ECORRUPT);
	}
	chi_dir_close(store);
	return found;
}

/* Changes bits in the file, looks, and changes them back. */
static bool is_found_with(int file, off_t at, uint16_t bits)
{
	uint16_t was;
	assert_int_equal(pread(file, &was, sizeof(was), at), sizeof(was));
	const uint16_t is = was ^ bits;
	assert_int_equal(pwrite(file, &is, sizeof(is), at), sizeof(is));
	bool found = is_found("pages");
	assert_int_equal(pwrite(file, &was, sizeof(was), at), sizeof(was));
	return found;
}

/* Each bit of the flags of a node that leads to a tree, and of that tree's record. */
static unsigned find_flags_of_trees(int file, const uint8_t *page, off_t at)
{
	unsigned trees = 0;
	unsigned n = (chi_u16_at(page + PAGE_LOWER) - PAGE_HEADER) / 2u;
	for (unsigned i = 0; i < n; i++) {
		unsigned node = chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
		unsigned record = node + NODE_HEADER + chi_u16_at(page + node + NODE_KSIZE);
		if ((chi_u16_at(page + node + NODE_FLAGS) & NODE_TREE) == 0) {
			continue;
		}
		trees++;
		for (unsigned bit = 0; bit < 16; bit++) {
			assert_true(
				is_found_with(file, at + node + NODE_FLAGS, (uint16_t)(1 << bit)));
			assert_true(is_found_with(file, at + record + TREE_FLAGS,
						  (uint16_t)(1 << bit)));
		}
	}
	return trees;
}

/* LMDB acts by the flags that a file keeps: it writes into a page that says that it is the
 * writer's own, and walks a tree by what its record says of its values. */
CASE(test_flags_are_not_published, NULL, help_teardown)
{
	static const unsigned bits[] = {4, 5, 6, 12, 14, 15};
	uint8_t page[4096];
	unsigned pages = 0;
	unsigned trees = 0;
	struct chi_dir *store = filled("source");
	ok(back_up(store, help_path("pages")));
	chi_dir_close(store);
	int file = open(path_in("pages", "data.mdb"), O_RDWR | O_CLOEXEC);
	assert_true(file >= 0);
	assert_false(is_found("pages"));
	for (off_t at = 2 * (off_t)sizeof(page);
	     pread(file, page, sizeof(page), at) == (ssize_t)sizeof(page); at += sizeof(page)) {
		unsigned kind = chi_u16_at(page + PAGE_FLAGS);
		/* One of no use has any number. */
		if ((kind != FLAG_LEAF && kind != FLAG_BRANCH && kind != FLAG_OVERFLOW) ||
		    !is_found_with(file, at + PAGE_NUMBER, 1)) {
			continue;
		}
		pages++;
		for (size_t i = 0; i < CHI_COUNT(bits); i++) {
			assert_true(is_found_with(file, at + PAGE_FLAGS, (uint16_t)(1 << bits[i])));
		}
		trees += kind == FLAG_LEAF ? find_flags_of_trees(file, page, at) : 0;
	}
	assert_true(pages > 3 && trees > 3);
	assert_false(is_found("pages"));
	assert_int_equal(close(file), 0);
}

/* A published copy needs no lock file to be saved either. */
CASE(test_repair_leaves_it_alone, NULL, help_teardown)
{
	struct chi_repair_result result;
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("broken")));
	chi_dir_close(store);
	ok(chi_dir_repair(help_path("broken"), help_path("saved"), 0, chi_import_relist, NULL, NULL,
			  &result, &fault));
	assert_int_equal(result.positions, POSITIONS);
	assert_int_equal(help_entries(help_path("broken"), ""), 1);
	store = help_open(help_path("saved"), CHI_STORE_WRITE);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Each test begins with nothing there. */
int main(void)
{
	help_keys(keys, CHI_COUNT(keys));
	return cases_run(NULL, NULL);
}
