/* SPDX-License-Identifier: MIT */
/*
 * What a store lies on, and with whom: network file systems, two containers that share a
 * directory, a disk that fails a commit. None is to be had in a test, so the calls that would tell
 * are put in front of the real ones; and the syncs that follow are counted.
 */
#include "tests/store/help.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "store/txn/txn.h"

#define CONTROL CHI_STATISTIC_CONTROL

/* What statfs says instead of the truth; 0: the truth. */
static uint32_t type;

/* What the next transaction begins or ends with; 0: nothing strange. */
static int failure;
static int commit_failure;

/* Syncs of LMDB's that we asked for, beside those of its commits. */
static unsigned syncs;

/* What the table of mounts says of everything; NULL: that there is no table. */
static const char *mounts;

int __wrap_chi_mountinfo_load(char **text, size_t *len);
int __wrap_statfs(const char *path, struct statfs *out);
int __wrap_statfs64(const char *path, struct statfs *out);
int __real_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned flags, MDB_txn **out);
int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned flags, MDB_txn **out);
int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn);
int __real_mdb_env_sync(MDB_env *env, int force);
int __wrap_mdb_env_sync(MDB_env *env, int force);

int __wrap_statfs(const char *path, struct statfs *out)
{
	int rc = (int)syscall(SYS_statfs, path, out);
	if (rc == 0 && type != 0) {
		/* Of either sign, as it is on some machines. */
		out->f_type = (__typeof__(out->f_type))(int32_t)type;
	}
	return rc;
}

int __wrap_chi_mountinfo_load(char **text, size_t *len)
{
	*text = mounts != NULL ? strdup(mounts) : NULL;
	*len = mounts != NULL ? strlen(mounts) : 0;
	return mounts != NULL ? 0 : ENOENT;
}

/* Its name where files may be large. */
int __wrap_statfs64(const char *path, struct statfs *out)
{
	return __wrap_statfs(path, out);
}

int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned flags, MDB_txn **out)
{
	int rc = failure;
	failure = 0;
	return rc != 0 ? rc : __real_mdb_txn_begin(env, parent, flags, out);
}

int __wrap_mdb_txn_commit(MDB_txn *txn)
{
	int rc = commit_failure;
	commit_failure = 0;
	if (rc == 0) {
		return __real_mdb_txn_commit(txn);
	}
	mdb_txn_abort(txn);
	return rc;
}

int __wrap_mdb_env_sync(MDB_env *env, int force)
{
	syncs += force != 0;
	return __real_mdb_env_sync(env, force);
}

/* NFS, SMB as CIFS mounts it, 9P, Ceph, GFS2: a store there is neither opened nor made. */
CASE(network_file_systems_are_refused)
{
	static const uint32_t types[] = {0x6969,     0xff534d42, 0xfe534d42,
					 0x01021997, 0x00c36400, 0x01161970};
	chi_dir_close(help_store("media", CONTROL));
	for (size_t i = 0; i < CHI_COUNT(types); i++) {
		type = types[i];
		assert_int_equal(help_try(help_path("media"), CHI_STORE_READ), -CHI_ENETFS);
		assert_non_null(strstr(fault.text, "network file system"));
		assert_int_equal(help_try(help_path("media"), CHI_STORE_DAEMON), -CHI_ENETFS);
		assert_int_equal(
			chi_dir_create(help_path("other"), CONTROL, CHI_KEEP_COUNTS, &fault),
			-CHI_ENETFS);
		type = 0;
		assert_int_equal(help_try(help_path("other"), CHI_STORE_READ), -CHI_ENOSTORE);
	}
	chi_dir_close(help_open(help_path("media"), CHI_STORE_WRITE));
}

/* FUSE is one number for all of them: the type of the mount tells. */
CASE(network_file_systems_of_fuse_are_refused)
{
	static const struct {
		const char *mounts;
		int status;
		const char *why;
	} rows[] = {
		{"1 1 0:0 / / rw - fuse.ceph-fuse ceph-fuse rw\n", -CHI_ENETFS,
		 "network file system (fuse.ceph-fuse)"},
		{"1 1 0:0 / / rw - fuse.mine some rw\n", -CHI_ENETFS, "CHISTORE_ANY_FILESYSTEM"},
		{NULL, -CHI_ENETFS, "CHISTORE_ANY_FILESYSTEM"},
		{"1 1 0:0 / / rw - fuse.fuse2fs image rw\n", CHI_OK, ""},
		{"1 1 0:0 / / rw - fuseblk /dev/sda1 rw\n", CHI_OK, ""},
	};
	chi_dir_close(help_store("media", CONTROL));
	type = 0x65735546;
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		mounts = rows[i].mounts;
		assert_int_equal(chi_dir_file_system(help_path("media"), &fault), rows[i].status);
		if (rows[i].status != CHI_OK) {
			assert_non_null(strstr(fault.text, rows[i].why));
			assert_int_equal(help_try(help_path("media"), CHI_STORE_READ), -CHI_ENETFS);
		}
	}
	mounts = rows[0].mounts;
	assert_int_equal(setenv("CHISTORE_ANY_FILESYSTEM", "1", 1), 0);
	chi_dir_close(help_open(help_path("media"), CHI_STORE_WRITE));
	assert_int_equal(unsetenv("CHISTORE_ANY_FILESYSTEM"), 0);
	mounts = NULL;
	type = 0;
}

CASE(who_forces_it_is_believed)
{
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE, .force_netfs = true};
	struct chi_dir *store;
	chi_dir_close(help_store("media", CONTROL));
	type = 0x6969;
	ok(chi_dir_open(help_path("media"), &options, &store, &fault));
	help_put(store, &(struct chi_put_entry){.key = help_key()});
	chi_dir_close(store);
	type = 0;
}

/* LMDB's own mark, the other way round: what wrote it is sound, on another machine. */
CASE(other_byte_order_is_told_from_damage)
{
	static const uint8_t swapped[] = {0xbe, 0xef, 0xc0, 0xde};
	chi_dir_close(help_store("media", CONTROL));
	int fd = open(help_path("media/data.mdb"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, swapped, sizeof(swapped), 16), sizeof(swapped));
	(void)close(fd);
	assert_int_equal(help_try(help_path("media"), CHI_STORE_READ), -CHI_EVERSION);
	assert_non_null(strstr(fault.text, "byte order"));
}

/* LMDB's own text would be "resource temporarily unavailable". */
CASE(two_containers_are_told_so)
{
	chi_dir_close(help_store("media", CONTROL));
	failure = EAGAIN;
	assert_int_equal(help_try(help_path("media"), CHI_STORE_READ), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "containers"));
	struct chi_dir *store = help_open(help_path("media"), CHI_STORE_WRITE);
	struct chi_write *write;
	failure = EAGAIN;
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "containers"));
	chi_dir_close(store);
}

/* LMDB gives an environment up whose meta page it could not write: who asks next gets another. */
CASE(panic_is_mended_without_a_restart)
{
	struct chi_dir *store = help_store("media", CONTROL);
	struct chi_put_entry put = {.key = help_key()};
	struct chi_row row;
	failure = MDB_PANIC;
	help_put(store, &put);
	failure = MDB_PANIC;
	assert_int_equal(help_get(store, &put.key, &row), CHI_OK);
	chi_dir_close(store);
}

/* A put that finds all stored already says that it is stored; who wrote it may have been killed
 * before its sync. */
CASE(nothing_new_is_synced_once)
{
	struct chi_dir *store = help_store("media", CONTROL);
	struct chi_put_entry put = {.key = help_key()};
	pid_t pid = fork();
	if (pid == 0) {
		help_put(help_open(help_path("media"), CHI_STORE_WRITE), &put);
		_exit(0);
	}
	assert_int_equal(help_child_status(pid), 0);
	syncs = 0;
	help_put(store, &put);
	assert_int_equal(syncs, 1);
	help_put(store, &put);
	assert_int_equal(syncs, 1);
	/* Our own commits are known to be synced. */
	put.key = help_key();
	help_put(store, &put);
	help_put(store, &put);
	assert_int_equal(syncs, 1);
	chi_dir_close(store);
}

/* LMDB puts the old head back and leaves it to the cache; another process' pages may not get to
 * the disk before it. */
CASE(failed_commit_is_followed_by_a_sync)
{
	struct chi_dir *store = help_store("media", CONTROL);
	struct chi_put_entry put = {.key = help_key()};
	struct chi_put_result result = {0};
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_put(write, &put, &result));
	syncs = 0;
	commit_failure = EIO;
	assert_int_equal(chi_write_commit(write, &fault), -CHI_EIO);
	assert_int_equal(syncs, 1);
	help_put(store, &put);
	chi_dir_close(store);
}

/* LMDB writes pages of a large transaction before its commit. */
CASE(failure_within_a_transaction_is_the_disks)
{
	struct chi_dir *store = help_store("media", CONTROL);
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(chi_write_stick(write, -CHI_EFULL), -CHI_EFULL);
	assert_int_equal(chi_write_stick(write, chi_lmdb_status(EMFILE)), -CHI_EBUSY);
	assert_int_equal(chi_dir_disk_failure(store), CHI_OK);
	assert_int_equal(chi_write_stick(write, -CHI_EIO), -CHI_EIO);
	assert_int_equal(chi_dir_disk_failure(store), -CHI_EIO);
	chi_write_abort(write);
	chi_dir_close(store);
}

/* Was INTERNAL, or DISK_FULL on a disk with space. */
CASE(test_damage_is_told_from_a_full_disk)
{
	const struct rlimit limit = {1 << 20, RLIM_INFINITY};
	assert_int_equal(chi_lmdb_status(MDB_CURSOR_FULL), -CHI_ECORRUPT);
	assert_int_equal(chi_lmdb_status(MDB_PAGE_FULL), -CHI_ECORRUPT);
	assert_int_equal(chi_lmdb_write_fault(&fault, EFBIG, "write to", "/"), -CHI_ECORRUPT);
	pid_t pid = help_fork();
	if (pid == 0) {
		_exit(setrlimit(RLIMIT_FSIZE, &limit) < 0 ||
		      chi_lmdb_write_fault(&fault, EFBIG, "write to", "/") != -CHI_EFULL);
	}
	assert_int_equal(help_child_status(pid), 0);
}

/* In both meta pages the number of the last page, after the head of the page and LMDB's first 120
 * bytes, says that the map is full. Was DISK_FULL. */
CASE(test_a_damaged_page_count_is_no_full_disk)
{
	struct chi_dir *store = help_store("count", CONTROL);
	struct chi_info info;
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_dir_info(store, &info));
	long page = sysconf(_SC_PAGESIZE);
	uint64_t last = info.map_bytes / (uint64_t)page - 1;
	int fd = open(help_path("count/data.mdb"), O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, &last, sizeof(last), 136), sizeof(last));
	assert_int_equal(pwrite(fd, &last, sizeof(last), page + 136), sizeof(last));
	close(fd);
	ok(chi_write_begin(store, &write, &fault));
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		struct chi_put_entry put = {.key = help_key()};
		rc = chi_write_put(write, &put, &result);
	}
	assert_int_equal(rc, -CHI_ECORRUPT);
	chi_write_abort(write);
	chi_dir_close(store);
}
