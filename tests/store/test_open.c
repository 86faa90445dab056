/* SPDX-License-Identifier: MIT */
/* Creating and opening: each thing that can be wrong has its own code. */
#include "tests/store/help.h"

#include <fcntl.h>
#include <sched.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/record/codec.h"
#include "store/record/meta.h"

#define CONTROL CHI_STATISTIC_CONTROL

static const char *join(const char *dir, const char *name)
{
	static char path[1024];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

CASE(test_create)
{
	const char *path = help_path("create");
	ok(chi_dir_create(path, CONTROL, CHI_KEEP_COUNTS, &fault));
	assert_int_equal(chi_dir_create(path, CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EEXIST);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	mode_t mask = umask(0);
	(void)umask(mask);
	assert_int_equal(st.st_mode & 0777, 0750 & ~mask);
	/* A user who may write lock.mdb can make an acknowledged write vanish. */
	static const char *const files[] = {"data.mdb", "lock.mdb", "chistore.lock"};
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		assert_int_equal(stat(join(path, files[i]), &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600 & ~mask);
	}
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.statistic, CONTROL);
	assert_int_equal(info.positions, 0);
	assert_int_equal(info.sequence, 0);
	if (getenv("CHISTORE_MAP_BYTES") == NULL) {
		assert_int_equal(info.map_bytes, UINT64_C(1) << 40);
	}
	assert_int_equal(info.uuid[6] >> 4, 4);
	assert_true(info.created > 1700000000);
	chi_dir_close(store);
	/* An empty directory is taken, anything else is not. */
	const char *empty = help_path("empty/");
	assert_int_equal(mkdir(empty, 0700), 0);
	ok(chi_dir_create(empty, CONTROL, CHI_KEEP_COUNTS, &fault));
	const char *full = help_path("full");
	assert_int_equal(mkdir(full, 0700), 0);
	write_file(join(full, "x"), "x", 1);
	assert_int_equal(chi_dir_create(full, CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EEXIST);
	assert_int_equal(chi_dir_create(join(full, "x"), CONTROL, CHI_KEEP_COUNTS, &fault),
			 -CHI_EEXIST);
	assert_int_equal(chi_dir_create(help_path("no/parent"), CONTROL, CHI_KEEP_COUNTS, &fault),
			 -CHI_ENOSTORE);
	assert_int_equal(
		chi_dir_create(help_path("y"), (enum chi_statistic)9, CHI_KEEP_COUNTS, &fault),
		-CHI_EINVAL);
	assert_int_equal(chi_dir_create("", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EINVAL);
	assert_int_equal(chi_dir_create("/proc/self/store", CONTROL, CHI_KEEP_COUNTS, NULL) < 0, 1);
}

/* The path names the same store however it is written. */
CASE(test_paths)
{
	char back[1024];
	char name[251];
	char longest[5000];
	assert_non_null(getcwd(back, sizeof(back)));
	const char *dir = help_path("paths");
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chdir(dir), 0);
	ok(chi_dir_create("./plain//", CONTROL, CHI_KEEP_COUNTS, &fault));
	assert_int_equal(symlink("plain", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	struct chi_dir *store = help_open("plain", CHI_STORE_WRITE);
	assert_int_equal(help_try("link", CHI_STORE_WRITE), CHI_OK);
	/* Shared with the first, or it would be the first of its environment and be given. */
	assert_int_equal(help_try("link/", CHI_STORE_DAEMON), -CHI_EBUSY);
	assert_int_equal(help_try("../paths/plain///", CHI_STORE_DAEMON), -CHI_EBUSY);
	chi_dir_close(store);
	assert_int_equal(help_try("dangling", CHI_STORE_READ), -CHI_ENOSTORE);
	assert_int_equal(chi_dir_create("link", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EEXIST);
	assert_int_equal(chi_dir_create("link/", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EEXIST);
	assert_int_equal(chi_dir_create("dangling", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EEXIST);
	assert_int_equal(chi_dir_create(".", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EINVAL);
	assert_int_equal(chi_dir_create("plain/..", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EINVAL);
	assert_int_equal(chi_dir_create("/", CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[4096] = '\0';
	assert_int_equal(chi_dir_create(longest, CONTROL, CHI_KEEP_COUNTS, &fault), -CHI_EINVAL);
	assert_int_equal(help_try(longest, CHI_STORE_READ), -CHI_EINVAL);
	/* Reachable from here, but without an absolute name: said so, not "out of memory". */
	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 20; i++) {
		assert_int_equal(mkdir(name, 0700), 0);
		assert_int_equal(chdir(name), 0);
	}
	ok(chi_dir_create("deep", CONTROL, CHI_KEEP_COUNTS, &fault));
	assert_int_equal(help_try("deep", CHI_STORE_READ), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "too long"));
	help_remove("deep");
	for (int i = 0; i < 20; i++) {
		assert_int_equal(chdir(".."), 0);
		assert_int_equal(rmdir(name), 0);
	}
	assert_int_equal(chdir(back), 0);
}

/* True if a descriptor of this process is on the directory, which keeps its inode number taken. */
static bool is_held(const char *path)
{
	struct stat wanted;
	assert_int_equal(stat(path, &wanted), 0);
	for (int fd = 0; fd < 64; fd++) {
		struct stat st;
		if (fstat(fd, &st) == 0 && st.st_dev == wanted.st_dev &&
		    st.st_ino == wanted.st_ino) {
			return true;
		}
	}
	return false;
}

/* A store that was removed while it was open is not the one that is in its place. */
CASE(test_removed_and_made_anew)
{
	const char *path = help_path("again");
	struct chi_dir *old = NULL;
	for (int i = 0; i < 4; i++) {
		ok(chi_dir_create(path, CONTROL, CHI_KEEP_COUNTS, &fault));
		struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
		assert_int_equal(help_count(store), 0);
		help_put(store, &(struct chi_put_entry){.key = help_key()});
		assert_true(is_held(path));
		chi_dir_close(old);
		old = store;
		if (i == 3) {
			chi_dir_close(old);
			assert_false(is_held(path));
		}
		help_remove(path);
	}
}

/* A write into a file that could never be opened again was acknowledged. */
CASE(test_no_commit_into_a_deleted_file)
{
	struct chi_dir *store = help_store("deleted", CONTROL);
	struct chi_key key = help_key();
	help_put(store, &(struct chi_put_entry){.key = key});
	struct chi_put_entry put = {.key = help_key()};
	struct chi_put_result result = {0};
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_put(write, &put, &result));
	help_remove(help_path("deleted"));
	assert_int_equal(chi_write_commit(write, &fault), -CHI_ESTALE);
	assert_non_null(strstr(fault.text, "removed"));
	/* Nor is what was stored before, by a write that changes nothing. */
	put.key = key;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_put(write, &put, &result));
	assert_int_equal(chi_write_commit(write, &fault), -CHI_ESTALE);
	chi_dir_close(store);
}

/* A directory that a process which was killed left behind is removed, one being built is not. */
CASE(test_leftovers)
{
	const char *left = help_path(".place.new-1-0");
	assert_int_equal(mkdir(left, 0700), 0);
	write_file(join(left, "data.mdb"), "x", 1);
	const char *busy = help_path(".place.new-1-1");
	assert_int_equal(mkdir(busy, 0700), 0);
	write_file(join(busy, "data.mdb"), "x", 1);
	int lock = open(busy, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	/* Another's name, and something in it that no store has. */
	const char *other = help_path(".places.new-1-0");
	assert_int_equal(mkdir(other, 0700), 0);
	const char *strange = help_path(".place.new-1-2");
	assert_int_equal(mkdir(strange, 0700), 0);
	write_file(join(strange, "letter"), "x", 1);

	ok(chi_dir_create(help_path("place"), CONTROL, CHI_KEEP_COUNTS, &fault));
	assert_int_not_equal(access(left, F_OK), 0);
	assert_int_equal(access(join(busy, "data.mdb"), F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(join(strange, "letter"), F_OK), 0);
	close(lock);
}

CASE(test_open_nothing)
{
	assert_int_equal(help_try(help_path("missing"), CHI_STORE_READ), -CHI_ENOSTORE);
	assert_non_null(strstr(fault.text, "does not exist"));
	const char *path = help_path("bare");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(help_try(path, CHI_STORE_WRITE), -CHI_ENOSTORE);
	assert_non_null(strstr(fault.text, "holds no store"));
	/* The attempt leaves no trace. */
	assert_int_equal(rmdir(path), 0);
	write_file(help_path("file"), "x", 1);
	assert_int_equal(help_try(help_path("file"), CHI_STORE_READ), -CHI_ENOSTORE);
	assert_non_null(strstr(fault.text, "not a directory"));
	const char *other = help_path("other");
	assert_int_equal(mkdir(other, 0700), 0);
	char junk[10000];
	memset(junk, 'j', sizeof(junk));
	write_file(join(other, "data.mdb"), junk, sizeof(junk));
	assert_int_equal(help_try(other, CHI_STORE_READ), -CHI_ENOSTORE);
	write_file(join(other, "data.mdb"), junk, 10);
	assert_int_equal(help_try(other, CHI_STORE_READ), -CHI_ENOSTORE);
	write_file(join(other, "data.mdb"), junk, 0);
	assert_int_equal(help_try(other, CHI_STORE_READ), -CHI_ENOSTORE);
	/* A pipe, which no one writes to, is not waited for. */
	assert_int_equal(unlink(join(other, "data.mdb")), 0);
	assert_int_equal(mkfifo(join(other, "data.mdb"), 0600), 0);
	(void)alarm(20);
	assert_int_equal(help_try(other, CHI_STORE_READ), -CHI_ENOSTORE);
	assert_non_null(strstr(fault.text, "is no file"));
	(void)alarm(0);
}

CASE(test_foreign_lmdb)
{
	const char *path = help_path("foreign");
	assert_int_equal(mkdir(path, 0700), 0);
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_open(env, path, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, NULL, 0, &dbi), 0);
	char name[] = "name";
	MDB_val value = {4, name};
	assert_int_equal(mdb_put(txn, dbi, &value, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
	assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ENOSTORE);
	assert_non_null(strstr(fault.text, "not a Chistore store"));
}

/* Replaces the stamp, as another version of the program would have written it. */
static void restamp(const char *path, const void *bytes, size_t len)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, path, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "meta", 0, &dbi), 0);
	char name[] = "stamp";
	uint8_t copy[256];
	memcpy(copy, bytes, len);
	MDB_val key = {5, name};
	MDB_val value = {len, copy};
	assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static int try_stamp(const char *path, const struct chi_stamp *stamp, enum chi_dir_mode mode)
{
	uint8_t bytes[CHI_STAMP_SIZE];
	chi_stamp_encode(stamp, bytes);
	restamp(path, bytes, sizeof(bytes));
	return help_try(path, mode);
}

CASE(test_stamps)
{
	const char *path = help_path("stamped");
	ok(chi_dir_create(path, CONTROL, CHI_KEEP_COUNTS, &fault));
	struct chi_stamp good = {.major = CHI_FORMAT_MAJOR, .statistic = CONTROL};
	assert_int_equal(try_stamp(path, &good, CHI_STORE_WRITE), CHI_OK);
	struct chi_stamp stamp = good;
	stamp.major = CHI_FORMAT_MAJOR + 1;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_READ), -CHI_EVERSION);
	stamp.major = CHI_FORMAT_MAJOR - 1;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_READ), -CHI_EVERSION);
	assert_non_null(strstr(fault.text, "dump with the old version, load with this one"));
	stamp = good;
	stamp.minor = 7;
	stamp.compatible = UINT64_MAX;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_WRITE), CHI_OK);
	stamp = good;
	stamp.ro_compatible = 4;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_READ), CHI_OK);
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_WRITE), -CHI_EVERSION);
	stamp = good;
	stamp.incompatible = UINT64_C(1) << 63;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_READ), -CHI_EVERSION);
	stamp = good;
	stamp.statistic = (enum chi_statistic)77;
	assert_int_equal(try_stamp(path, &stamp, CHI_STORE_READ), -CHI_EVERSION);
	uint8_t bytes[CHI_STAMP_SIZE];
	chi_stamp_encode(&good, bytes);
	for (size_t at = 12; at < sizeof(bytes); at += 9) {
		bytes[at] ^= 0x10;
		restamp(path, bytes, sizeof(bytes));
		assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ECORRUPT);
		bytes[at] ^= 0x10;
	}
	restamp(path, bytes, sizeof(bytes) - 1);
	assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ECORRUPT);
	/* Under a right checksum: byte order, word size, and the three layouts. */
	for (size_t at = 12; at < 20; at++) {
		bytes[at] ^= 0x10;
		uint64_t sum = chi_checksum((const uint8_t *)"stamp", 5, bytes, sizeof(bytes) - 8);
		for (size_t i = 0; i < 8; i++) {
			bytes[sizeof(bytes) - 8 + i] = (uint8_t)(sum >> (8 * i));
		}
		restamp(path, bytes, sizeof(bytes));
		assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_EVERSION);
		assert_non_null(strstr(fault.text, at < 17 ? "byte order" : "layouts"));
		bytes[at] ^= 0x10;
	}
}

CASE(test_truncated)
{
	static struct chi_key keys[2000];
	for (size_t i = 0; i < 2000; i++) {
		keys[i] = help_key();
	}
	struct chi_dir *store = help_store("cut", CONTROL);
	help_fill(store, keys, 2000);
	chi_dir_close(store);
	char data[1024];
	snprintf(data, sizeof(data), "%s", join(help_path("cut"), "data.mdb"));
	struct stat st;
	assert_int_equal(stat(data, &st), 0);
	static const off_t lengths[] = {4096, 8192, 12288, 40000};
	for (off_t cut = st.st_size - 4096; cut > st.st_size / 2; cut -= 4096 * 3) {
		assert_int_equal(truncate(data, cut), 0);
		assert_int_equal(help_try(help_path("cut"), CHI_STORE_READ), -CHI_ECORRUPT);
	}
	for (int i = 3; i >= 0; i--) {
		assert_int_equal(truncate(data, lengths[i]), 0);
		assert_int_equal(help_try(help_path("cut"), CHI_STORE_WRITE), -CHI_ECORRUPT);
	}
}

/*
 * LMDB itself may end a file early, when a transaction gave its last pages back: pages after the
 * end that are free are not missed. Here the file is cut page by page, and must open, whole,
 * as long as only free pages are gone.
 */
CASE(test_short_but_sound)
{
	static struct chi_key keys[3000];
	for (size_t i = 0; i < CHI_COUNT(keys); i++) {
		keys[i] = help_key();
	}
	struct chi_dir *store = help_store("short", CONTROL);
	help_fill(store, keys, CHI_COUNT(keys));
	for (size_t round = 0; round < 5; round++) {
		struct chi_write *write;
		ok(chi_write_begin(store, &write, &fault));
		for (size_t i = round; i < CHI_COUNT(keys); i += 5) {
			if (i % 100 != 0) {
				assert_true(chi_write_delete(write, &keys[i]) >= 0);
			}
		}
		ok(chi_write_commit(write, &fault));
	}
	uint64_t positions = help_count(store);
	chi_dir_close(store);
	char data[1024];
	snprintf(data, sizeof(data), "%s", join(help_path("short"), "data.mdb"));
	struct stat st;
	assert_int_equal(stat(data, &st), 0);
	unsigned sound = 0;
	unsigned cut = 0;
	for (off_t size = st.st_size - 4096; size > 4096 * 8; size -= 4096) {
		assert_int_equal(truncate(data, size), 0);
		int rc = help_try(help_path("short"), CHI_STORE_READ);
		if (rc != CHI_OK) {
			assert_int_equal(rc, -CHI_ECORRUPT);
			cut++;
			continue;
		}
		assert_int_equal(cut, 0);
		sound++;
		store = help_open(help_path("short"), CHI_STORE_READ);
		ok(help_verify(store, NULL));
		assert_int_equal(help_count(store), positions);
		chi_dir_close(store);
	}
	print_message("# %u pages could go, %u not\n", sound, cut);
	assert_true(sound > 0 && cut > 0);
}

/* As another user: root is denied nothing. */
CASE(test_permissions)
{
	/* Not by skip(), which this cmocka prints as a failure in TAP. */
	if (geteuid() != 0) {
		print_message("# skipped: only root can become another user\n");
		return;
	}
	chi_dir_close(help_store("private", CONTROL));
	assert_int_equal(chmod(help_path("."), 0755), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0) {
			_exit(100);
		}
		int bad = help_try(help_path("private"), CHI_STORE_READ) != -CHI_EACCES;
		bad |= (help_try(help_path("private"), CHI_STORE_WRITE) != -CHI_EACCES) << 1;
		bad |= (chi_dir_create(help_path("mine"), CONTROL, CHI_KEEP_COUNTS, &fault) !=
			-CHI_EACCES)
		       << 2;
		_exit(bad);
	}
	assert_int_equal(help_child_status(pid), 0);
}

/* What a child sees of a store on media mounted read-only; 77: it may not mount. */
static int look_read_only(void)
{
	const char *path = help_path("media");
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount(path, path, "none", MS_BIND, NULL) != 0 ||
	    mount(NULL, path, "none", MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) {
		return 77;
	}
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	struct chi_info info;
	int bad = help_verify(store, NULL) != CHI_OK || help_count(store) != 5;
	bad |= (chi_dir_info(store, &info) != CHI_OK || info.read_only != CHI_READ_ONLY_NOT) << 1;
	chi_dir_close(store);
	bad |= (help_try(path, CHI_STORE_WRITE) != -CHI_EREADONLY) << 2;
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	return bad;
}

CASE(test_read_only_media)
{
	struct chi_key keys[5];
	help_keys(keys, 5);
	struct chi_dir *store = help_store("media", CONTROL);
	help_fill(store, keys, 5);
	chi_dir_close(store);
	pid_t pid = fork();
	if (pid == 0) {
		_exit(look_read_only());
	}
	int status = help_child_status(pid);
	if (status == 77) {
		print_message("# skipped: not allowed to mount\n");
		return;
	}
	assert_int_equal(status, 0);
}

/* The table of readers is written to through a map, where a block that is not there yet and no
 * longer to be had ends the process. All of it is there from the beginning. */
CASE(test_lock_file_has_its_blocks)
{
	const char *path = help_path("blocks");
	ok(chi_dir_create(path, CONTROL, CHI_KEEP_COUNTS, &fault));
	struct stat st;
	assert_int_equal(stat(join(path, "lock.mdb"), &st), 0);
	assert_true(st.st_size > 1024 * 64);
	int fd = open(help_path("probe"), O_RDWR | O_CREAT, 0600);
	bool possible = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 65536) == 0;
	close(fd);
	if (!possible) {
		print_message("# this file system reserves nothing\n");
		return;
	}
	assert_true(st.st_blocks * 512 >= st.st_size);
	/* Where the file is missing, opening makes it whole as well. */
	assert_int_equal(unlink(join(path, "lock.mdb")), 0);
	chi_dir_close(help_open(path, CHI_STORE_READ));
	assert_int_equal(stat(join(path, "lock.mdb"), &st), 0);
	assert_true(st.st_blocks * 512 >= st.st_size);
}

#define FULL_BYTES (1 << 20)

/* Leaves `room` bytes of the file system of `path`. */
static void fill_media(const char *path, size_t room)
{
	static char block[4096];
	int fd = open(join(path, "filler"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while (write(fd, block, sizeof(block)) > 0) {
	}
	off_t end = lseek(fd, 0, SEEK_END);
	if (ftruncate(fd, end > (off_t)room ? end - (off_t)room : 0) != 0) {
		_exit(100);
	}
	close(fd);
}

/* A child makes stores on media with ever more room; 77: it may not mount. Of a store that was
 * made another reader finds its place, too, when nothing is left at all. */
static int create_on_full_media(void)
{
	const char *path = help_path("small");
	char size[32];
	snprintf(size, sizeof(size), "size=%d", FULL_BYTES);
	if (mkdir(path, 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", path, "tmpfs", 0, size) != 0) {
		return 77;
	}
	int bad = 0;
	int made = 0;
	for (size_t room = 0; room <= 40 * 4096; room += 4096) {
		fill_media(path, room);
		int rc = chi_dir_create(join(path, "store"), CONTROL, CHI_KEEP_COUNTS, &fault);
		if (rc == CHI_OK) {
			fill_media(path, 0);
			bad |= help_try(join(path, "store"), CHI_STORE_READ) != CHI_OK;
			made++;
			break;
		}
		bad |= (rc != -CHI_EFULL) << 1;
		bad |= (strstr(fault.text, "No space left") == NULL) << 2;
		bad |= (access(join(path, "store"), F_OK) == 0) << 3;
	}
	return bad | (made == 0) << 4;
}

CASE(test_full_media)
{
	pid_t pid = fork();
	if (pid == 0) {
		_exit(create_on_full_media());
	}
	int status = help_child_status(pid);
	if (status == 77) {
		print_message("# skipped: not allowed to mount\n");
		return;
	}
	assert_int_equal(status, 0);
}
