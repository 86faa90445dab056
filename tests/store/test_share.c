/* SPDX-License-Identifier: MIT */
/* One store and many users: handles, snapshots, threads, forks, other processes. */
#include "tests/store/help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/store.h"
#include "store/txn/txn.h"

#define CONTROL CHI_STATISTIC_CONTROL

/* Sanitizers reserve more addresses than any limit leaves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWED 1
#elif defined(__has_feature)
#define SHADOWED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SHADOWED 0
#endif

CASE(test_two_handles)
{
	struct chi_dir *a = help_store("handles", CONTROL);
	struct chi_dir *b = help_open(help_path("./handles"), CHI_STORE_READ);
	struct chi_key key = help_key();
	struct chi_row row;
	assert_int_equal(help_get(b, &key, &row), CHI_NONE);
	help_put(a, &(struct chi_put_entry){.key = key});
	assert_int_equal(help_get(b, &key, &row), CHI_OK);
	struct chi_write *write;
	assert_int_equal(chi_write_begin(b, &write, &fault), -CHI_EREADONLY);
	chi_dir_close(a);
	assert_int_equal(help_get(b, &key, &row), CHI_OK);
	/* The environment is still the first handle's, who might write. */
	a = help_open(help_path("handles"), CHI_STORE_WRITE);
	assert_int_equal(help_try(help_path("handles"), CHI_STORE_DAEMON), -CHI_EBUSY);
	chi_dir_close(a);
	chi_dir_close(b);
	b = help_open(help_path("handles"), CHI_STORE_READ);
	assert_int_equal(help_try(help_path("handles"), CHI_STORE_WRITE), -CHI_EBUSY);
	chi_dir_close(b);
}

CASE(test_snapshot)
{
	struct chi_dir *store = help_store("snapshot", CONTROL);
	struct chi_key key = help_key();
	struct chi_read *before;
	struct chi_read *after;
	struct chi_row row;
	ok(chi_read_begin(store, &before));
	assert_int_equal(chi_read_sequence(before), 0);
	help_put(store, &(struct chi_put_entry){.key = key});
	ok(chi_read_begin(store, &after));
	assert_int_equal(chi_read_row(before, &key, &row), CHI_NONE);
	assert_int_equal(chi_read_row(after, &key, &row), CHI_OK);
	assert_int_equal(chi_read_sequence(after), 1);
	/* What changes nothing is no transaction. */
	help_put(store, &(struct chi_put_entry){.key = key});
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.sequence, 1);
	assert_int_equal(info.oldest_reader, 1);
	chi_read_end(before);
	chi_read_end(after);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.oldest_reader, 0);
	chi_dir_close(store);
}

CASE(test_fork)
{
	struct chi_dir *store = help_store("fork", CONTROL);
	struct chi_key key = help_key();
	struct chi_read *read;
	struct chi_write *write;
	struct chi_put_result result = {0};
	help_put(store, &(struct chi_put_entry){.key = key});
	ok(chi_read_begin(store, &read));
	ok(chi_write_begin(store, &write, &fault));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_row row;
		struct chi_read *mine;
		struct chi_write *other;
		struct chi_info info;
		int bad = chi_read_row(read, &key, &row) != -CHI_EFORK;
		bad |= (chi_read_begin(store, &mine) != -CHI_EFORK) << 1;
		bad |= (chi_write_put(write, &(struct chi_put_entry){.key = key}, &result) !=
			-CHI_EFORK)
		       << 2;
		bad |= (chi_write_begin(store, &other, NULL) != -CHI_EFORK) << 3;
		bad |= (chi_dir_info(store, &info) != -CHI_EFORK) << 4;
		bad |= (chi_write_commit(write, NULL) != -CHI_EFORK) << 5;
		chi_read_end(read);
		chi_dir_close(store);
		/* Its own opening works. */
		store = help_open(help_path("fork"), CHI_STORE_READ);
		bad |= (help_get(store, &key, &row) != CHI_OK) << 6;
		chi_dir_close(store);
		_exit(bad);
	}
	assert_int_equal(help_child_status(pid), 0);
	struct chi_row row;
	assert_int_equal(chi_read_row(read, &key, &row), CHI_OK);
	chi_read_end(read);
	struct chi_key other = help_key();
	ok(chi_write_put(write, &(struct chi_put_entry){.key = other}, &result));
	ok(chi_write_commit(write, &fault));
	assert_int_equal(help_get(store, &other, &row), CHI_OK);
	chi_dir_close(store);
}

static void hold_daemon(void)
{
	(void)help_open(help_path("locks"), CHI_STORE_DAEMON);
}

static void hold_write(void)
{
	struct chi_write *write;
	ok(chi_write_begin(help_open(help_path("locks"), CHI_STORE_WRITE), &write, &fault));
}

static void hold_read(void)
{
	struct chi_read *read;
	ok(chi_read_begin(help_open(help_path("locks"), CHI_STORE_READ), &read));
}

CASE(test_writers)
{
	chi_dir_close(help_store("locks", CONTROL));
	struct chi_key key = help_key();
	struct chi_write *write;
	char expected[64];
	pid_t pid = help_hold(hold_daemon);
	snprintf(expected, sizeof(expected), "chistored, process %d", (int)pid);
	assert_int_equal(help_try(help_path("locks"), CHI_STORE_DAEMON), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, expected));
	struct chi_dir *store = help_open(help_path("locks"), CHI_STORE_WRITE);
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, expected));
	struct chi_row row;
	assert_int_equal(help_get(store, &key, &row), CHI_NONE);
	help_kill(pid);
	help_put(store, &(struct chi_put_entry){.key = key});
	chi_dir_close(store);
	/* A writer that died in a transaction leaves nothing behind. */
	pid = help_hold(hold_write);
	snprintf(expected, sizeof(expected), "chistore, process %d", (int)pid);
	store = help_open(help_path("locks"), CHI_STORE_WRITE);
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, expected));
	help_kill(pid);
	help_put(store, &(struct chi_put_entry){.key = help_key()});
	/* One thread cannot wait for itself. */
	struct chi_write *second;
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(chi_write_begin(store, &second, &fault), -CHI_EBUSY);
	chi_write_abort(write);
	assert_int_equal(help_count(store), 2);
	chi_dir_close(store);
}

/* Waits a minute if need be, then holds the transaction. */
static void wait_and_hold(int ready)
{
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE, .lock_wait_ms = 60000};
	struct chi_dir *store;
	struct chi_write *write;
	ok(chi_dir_open(help_path("locks"), &options, &store, &fault));
	ok(chi_write_begin(store, &write, &fault));
	(void)!dprintf(ready, "x");
	for (;;) {
		pause();
	}
}

/* True if some process holds the byte of the lock file. */
static bool byte_taken(off_t byte)
{
	char path[1024];
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	snprintf(path, sizeof(path), "%s/chistore.lock", help_path("locks"));
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
	close(fd);
	return lock.l_type != F_UNLCK;
}

/* Who waits comes before who asks later, also at the moment the writer goes. */
CASE(test_writers_take_turns)
{
	struct chi_dir *store = help_store("locks", CONTROL);
	pid_t first = help_hold(hold_write);
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t second = help_fork();
	if (second == 0) {
		wait_and_hold(ready[1]);
	}
	while (!byte_taken(2)) {
		usleep(1000);
	}
	struct chi_write *write;
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	help_kill(first);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	help_kill(second);
	assert_false(byte_taken(0));
	assert_false(byte_taken(2));
	help_put(store, &(struct chi_put_entry){.key = help_key()});
	chi_dir_close(store);
	close(ready[0]);
	close(ready[1]);
}

/* A daemon keeps the writer's lock, any other writer gives it back soon. */
CASE(test_who_serves_is_told_from_who_writes)
{
	struct chi_dir *store = help_store("locks", CONTROL);
	ok(chi_dir_served(store, &fault));
	pid_t writer = help_hold(hold_write);
	ok(chi_dir_served(store, &fault));
	help_kill(writer);
	pid_t daemon = help_hold(hold_daemon);
	assert_int_equal(chi_dir_served(store, &fault), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "chistored, process"));
	struct chi_dir *reader;
	ok(chi_dir_share(store, &reader));
	assert_int_equal(chi_dir_served(reader, &fault), -CHI_EBUSY);
	chi_dir_close(reader);
	help_kill(daemon);
	ok(chi_dir_served(store, &fault));
	help_put(store, &(struct chi_put_entry){.key = help_key()});
	chi_dir_close(store);
}

CASE(test_dead_reader)
{
	struct chi_dir *store = help_store("locks", CONTROL);
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	uint32_t before = info.readers;
	pid_t pid = help_hold(hold_read);
	int freed;
	ok(chi_dir_check(store, &freed, &fault));
	assert_int_equal(freed, 0);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.readers, before + 1);
	help_kill(pid);
	ok(chi_dir_check(store, &freed, &fault));
	assert_int_equal(freed, 1);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.readers, before);
	assert_int_equal(info.readers_max, 1024);
	chi_dir_close(store);
}

struct writer {
	pthread_t thread;
	struct chi_dir *store;
	struct chi_key keys[20];
};

static void *write_some(void *argument)
{
	struct writer *w = argument;
	for (size_t i = 0; i < CHI_COUNT(w->keys); i++) {
		struct chi_write *write;
		struct chi_put_result result = {0};
		struct chi_row row;
		struct chi_read *read;
		struct chi_put_entry put = {.key = w->keys[i]};
		if (chi_write_begin(w->store, &write, NULL) != CHI_OK ||
		    chi_write_put(write, &put, &result) != CHI_OK ||
		    chi_write_commit(write, NULL) != CHI_OK ||
		    chi_read_begin(w->store, &read) != CHI_OK) {
			return w;
		}
		int rc = chi_read_row(read, &w->keys[i], &row);
		chi_read_end(read);
		if (rc != CHI_OK) {
			return w;
		}
	}
	return NULL;
}

CASE(test_threads)
{
	static struct writer writers[8];
	struct chi_dir *store = help_store("threads", CONTROL);
	for (size_t i = 0; i < CHI_COUNT(writers); i++) {
		writers[i].store = store;
		help_keys(writers[i].keys, CHI_COUNT(writers[i].keys));
	}
	for (size_t i = 0; i < CHI_COUNT(writers); i++) {
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_some, &writers[i]),
				 0);
	}
	for (size_t i = 0; i < CHI_COUNT(writers); i++) {
		void *failed;
		assert_int_equal(pthread_join(writers[i].thread, &failed), 0);
		assert_null(failed);
	}
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Another process, with a map of the usual size, puts more than 3 MiB, `key` among it. */
/* One that asks for its turn once. */
struct asker {
	struct chi_dir *store;
	atomic_bool had; /* its turn */
};

static void *ask_once(void *argument)
{
	struct asker *asker = argument;
	struct chi_write *write;
	struct chi_fault own;
	if (chi_write_begin(asker->store, &write, &own) == CHI_OK) {
		atomic_store(&asker->had, true);
		chi_write_abort(write);
	}
	return NULL;
}

static uint64_t times_asked(struct chi_env *env)
{
	pthread_mutex_lock(&env->mutex);
	uint64_t asked = env->asked;
	pthread_mutex_unlock(&env->mutex);
	return asked;
}

/* A daemon's writer begins again at once: an import waited until it paused. */
CASE(test_a_thread_that_begins_again_kept_others_out)
{
	struct asker asker = {.store = help_store("turns", CONTROL)};
	for (unsigned i = 0; i < 20; i++) {
		struct chi_write *write;
		pthread_t thread;
		uint64_t before = times_asked(asker.store->env);
		atomic_store(&asker.had, false);
		ok(chi_write_begin(asker.store, &write, &fault));
		assert_int_equal(pthread_create(&thread, NULL, ask_once, &asker), 0);
		while (times_asked(asker.store->env) < before + 2) {
			sched_yield();
		}
		chi_write_abort(write);
		ok(chi_write_begin(asker.store, &write, &fault));
		bool had = atomic_load(&asker.had);
		chi_write_abort(write);
		pthread_join(thread, NULL);
		assert_true(had);
	}
	chi_dir_close(asker.store);
}

static void grow_elsewhere(const char *path, const struct chi_key *key)
{
	pid_t pid = fork();
	if (pid == 0) {
		static char note[60000];
		struct chi_put_result result = {0};
		struct chi_write *write;
		struct chi_dir *other = help_open(path, CHI_STORE_WRITE);
		memset(note, 'n', sizeof(note));
		ok(chi_write_begin(other, &write, &fault));
		for (int i = 0; i < 60; i++) {
			struct chi_put_entry put = {.key = i == 0 ? *key : help_key(),
						    .parts = CHI_PUT_NOTE};
			put.record.note = note;
			put.record.n_note = sizeof(note);
			ok(chi_write_put(write, &put, &result));
		}
		ok(chi_write_commit(write, &fault));
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
}

/* Another process makes the store larger than this one's map. */
CASE(test_map_growth)
{
	chi_dir_close(help_store("growth", CONTROL));
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE, .map_bytes = 1 << 20};
	struct chi_dir *store;
	struct chi_key key = help_key();
	struct chi_row row;
	ok(chi_dir_open(help_path("growth"), &options, &store, &fault));
	assert_int_equal(help_get(store, &key, &row), CHI_NONE);
	/* The writer's lock is given back with each transaction. */
	help_put(store, &(struct chi_put_entry){.key = help_key()});
	grow_elsewhere(help_path("growth"), &key);
	assert_int_equal(help_get(store, &key, &row), CHI_OK);
	struct chi_key mine = help_key();
	help_put(store, &(struct chi_put_entry){.key = mine});
	assert_int_equal(help_get(store, &mine, &row), CHI_OK);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* The map of the other process does not fit this one's limit on its memory: a smaller one does. */
CASE(test_map_growth_without_room)
{
	if (SHADOWED) {
		/* Not by skip(), which this cmocka prints as a failure in TAP. */
		print_message("# skipped: the sanitizer needs the address space\n");
		return;
	}
	chi_dir_close(help_store("tight", CONTROL));
	struct chi_dir_options options = {.mode = CHI_STORE_READ, .map_bytes = 1 << 20};
	struct chi_dir *store;
	struct rlimit before;
	struct chi_key key = help_key();
	struct chi_row row;
	ok(chi_dir_open(help_path("tight"), &options, &store, &fault));
	assert_int_equal(help_get(store, &key, &row), CHI_NONE);
	grow_elsewhere(help_path("tight"), &key);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	struct rlimit tight = {.rlim_cur = (rlim_t)1 << 36, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
	int rc[2];
	for (size_t i = 0; i < CHI_COUNT(rc); i++) {
		struct chi_read *read = NULL;
		rc[i] = chi_read_begin(store, &read);
		chi_read_end(read);
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(rc[0], CHI_OK);
	assert_int_equal(rc[1], CHI_OK);
	assert_int_equal(help_get(store, &key, &row), CHI_OK);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* A limit on the address space, or a kernel with 39 bits of it, made every store fail to open. */
CASE(test_smaller_map_under_a_limit)
{
	struct rlimit before;
	struct chi_info info;
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE};
	if (SHADOWED || getenv("CHISTORE_MAP_BYTES") != NULL) {
		print_message("# skipped: the sanitizer needs the address space\n");
		return;
	}
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	for (unsigned bits = 39; bits >= 36; bits--) {
		struct rlimit limit = {.rlim_cur = (rlim_t)1 << bits, .rlim_max = before.rlim_max};
		struct chi_dir *store = NULL;
		help_remove(help_path("limited"));
		assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
		int made = chi_dir_create(help_path("limited"), CONTROL, CHI_KEEP_COUNTS, &fault);
		int opened = chi_dir_open(help_path("limited"), &options, &store, &fault);
		assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
		ok(made);
		ok(opened);
		ok(chi_dir_info(store, &info));
		assert_int_equal(info.map_bytes, UINT64_C(1) << (bits - 1));
		chi_dir_close(store);
	}
}

/* The table of readers is full: a clear answer, and room again when one ends. */
CASE(test_every_reader_slot_taken)
{
	static struct chi_read *reads[1100];
	struct chi_dir *store = help_store("crowd", CONTROL);
	struct chi_key key = help_key();
	struct chi_read *more;
	struct chi_row row;
	size_t n = 0;
	int rc = CHI_OK;
	while (n < CHI_COUNT(reads) && (rc = chi_read_begin(store, &reads[n])) == CHI_OK) {
		n++;
	}
	assert_int_equal(n, 1024);
	assert_int_equal(rc, -CHI_EBUSY);
	/* Writing needs none. */
	help_put(store, &(struct chi_put_entry){.key = key});
	chi_read_end(reads[--n]);
	ok(chi_read_begin(store, &more));
	assert_int_equal(chi_read_row(more, &key, &row), CHI_OK);
	assert_int_equal(chi_read_row(reads[0], &key, &row), CHI_NONE);
	chi_read_end(more);
	while (n > 0) {
		chi_read_end(reads[--n]);
	}
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.readers, 64);
	chi_dir_close(store);
}

/* Another process' writes, and a compaction, keep number and state together. */
CASE(test_sequence_after_others_wrote)
{
	struct chi_dir *store = help_store("locks", CONTROL);
	struct chi_key keys[8];
	help_keys(keys, CHI_COUNT(keys));
	pid_t pid = fork();
	if (pid == 0) {
		struct chi_dir *other = help_open(help_path("locks"), CHI_STORE_WRITE);
		for (int i = 0; i < 5; i++) {
			help_put(other, &(struct chi_put_entry){.key = keys[i]});
		}
		chi_dir_close(other);
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
	for (int i = 0; i < 3; i++) {
		struct chi_compaction *compaction;
		struct chi_read *read;
		struct chi_info info;
		uint64_t before;
		uint64_t after;
		ok(chi_dir_info(store, &info));
		ok(chi_read_begin(store, &read));
		assert_int_equal(chi_read_sequence(read), info.sequence);
		assert_int_equal(info.sequence, 5 + i);
		chi_read_end(read);
		ok(chi_compact_prepare(store, &compaction, &fault));
		ok(chi_compact_swap(compaction, &before, &after, &fault));
		help_put(store, &(struct chi_put_entry){.key = keys[5 + i]});
	}
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}
