/* SPDX-License-Identifier: MIT */
/*
 * LMDB's own writer mutex would make a second writer wait for ever and could not say for whom;
 * so writers queue here first, with a limit and a name.
 */
#include "store/env/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/names.h"

#define WRITER_BYTE 0
#define USERS_BYTE  1
#define NEXT_BYTE   2
#define SERVED_BYTE 3

/* Room for "<role>, process <pid>, at <address>". */
#define HOLDER_SIZE 256

/* Pauses between attempts grow from the first to the last, in milliseconds. The next in turn
 * looks often: while it sleeps no process may write. */
#define PAUSE_FIRST 1
#define PAUSE_LAST  50
#define PAUSE_NEXT  1

/* The lock file lives for ever, a compaction's swap for a moment: worth waiting for even if the
 * caller gave no time. */
#define SWAP_WAIT_MS 2000

static int set_lock(const struct chi_lock *lock, short type, off_t byte)
{
	struct flock fl = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	int rc;
	do {
		rc = fcntl(lock->fd, F_OFD_SETLK, &fl);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? errno : 0;
}

static void pause_ms(uint32_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
	(void)nanosleep(&ts, NULL);
}

/* Tries until it succeeds or the time is over, which is taken from *left_ms. Returns an errno. */
static int wait_lock(const struct chi_lock *lock, short type, off_t byte, uint32_t longest_pause,
		     uint32_t *left_ms)
{
	uint32_t pause = PAUSE_FIRST;
	for (;;) {
		int rc = set_lock(lock, type, byte);
		if ((rc != EAGAIN && rc != EACCES) || *left_ms == 0) {
			return rc;
		}
		uint32_t now = pause < *left_ms ? pause : *left_ms;
		pause_ms(now);
		*left_ms -= now;
		pause = pause * 2 < longest_pause ? pause * 2 : longest_pause;
	}
}

/* First the right to be next, then the writer's place. Without the first, a process that writes
 * again and again would take the place back before another has woken up. */
static int wait_turn(const struct chi_lock *lock, uint32_t wait_ms)
{
	int rc = wait_lock(lock, F_WRLCK, NEXT_BYTE, PAUSE_LAST, &wait_ms);
	if (rc == 0) {
		rc = wait_lock(lock, F_WRLCK, WRITER_BYTE, PAUSE_NEXT, &wait_ms);
		(void)set_lock(lock, F_UNLCK, NEXT_BYTE);
	}
	return rc;
}

/* A pipe of that name would otherwise wait for another program. */
#define OPEN_FLAGS (O_CLOEXEC | O_NONBLOCK)

static int open_file(struct chi_lock *lock, const char *path, bool write)
{
	struct stat st;
	int flags = write ? O_RDWR | O_CREAT : O_RDONLY;
	lock->fd = open(path, flags | OPEN_FLAGS, FILE_MODE);
	if (lock->fd < 0 && errno == ENOENT && !write) {
		/* A store put together by hand: the next one finds the file. */
		lock->fd = open(path, O_RDWR | O_CREAT | OPEN_FLAGS, FILE_MODE);
	}
	int error = lock->fd < 0 || fstat(lock->fd, &st) < 0 ? errno : 0;
	if (error == 0 && !S_ISREG(st.st_mode)) {
		error = EBADF;
	}
	if (error != 0 && lock->fd >= 0) {
		(void)close(lock->fd);
		lock->fd = -1;
	}
	lock->writable = lock->fd >= 0 && write;
	return error;
}

int chi_lock_make(const char *dir)
{
	char path[CHI_PATH_SIZE];
	if (chi_path_join(path, dir, CHI_LOCK_NAME) < 0) {
		return ENAMETOOLONG;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (fd < 0) {
		return errno;
	}
	return close(fd) < 0 ? errno : 0;
}

int chi_lock_open(struct chi_lock *lock, const char *dir, bool write, uint32_t wait_ms,
		  struct chi_fault *fault)
{
	*lock = (struct chi_lock){.fd = -1};
	char path[CHI_PATH_SIZE];
	int rc = chi_path_join(path, dir, CHI_LOCK_NAME);
	if (rc < 0) {
		return chi_fail(fault, rc, "the path '%s' is too long", dir);
	}
	int error = open_file(lock, path, write);
	if (error == EROFS && !write) {
		return CHI_OK;
	}
	if (error == EBADF) {
		return chi_fail(fault, -CHI_ENOSTORE,
				"the directory '%s' holds no store: its '%s' is no file", dir,
				CHI_LOCK_NAME);
	}
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "open", path);
	}
	uint32_t patience = wait_ms > SWAP_WAIT_MS ? wait_ms : SWAP_WAIT_MS;
	error = wait_lock(lock, F_RDLCK, USERS_BYTE, PAUSE_LAST, &patience);
	if (error == 0) {
		return CHI_OK;
	}
	chi_lock_close(lock);
	if (error == EAGAIN || error == EACCES) {
		return chi_fail(fault, -CHI_EBUSY, "'%s' is being rewritten", dir);
	}
	return chi_lmdb_fault(fault, error, "lock", path);
}

void chi_lock_close(struct chi_lock *lock)
{
	if (lock->fd < 0) {
		return;
	}
	chi_lock_writer_release(lock);
	/* By hand: a child forked meanwhile may still hold the same description open. */
	(void)set_lock(lock, F_UNLCK, SERVED_BYTE);
	(void)set_lock(lock, F_UNLCK, USERS_BYTE);
	(void)close(lock->fd);
	lock->fd = -1;
}

void chi_lock_forget(struct chi_lock *lock)
{
	if (lock->fd >= 0) {
		(void)close(lock->fd);
		lock->fd = -1;
	}
	lock->writer = false;
}

static void write_holder(const struct chi_lock *lock, const char *role, const char *address)
{
	char text[HOLDER_SIZE];
	int n = snprintf(text, sizeof(text), "%.32s, process %ld%s%.150s\n", role, (long)getpid(),
			 address != NULL ? ", at " : "", address != NULL ? address : "");
	/* Only a courtesy to the next one: a failure changes nothing. */
	if (n > 0 && pwrite(lock->fd, text, (size_t)n, 0) == n && ftruncate(lock->fd, n) < 0) {
		return;
	}
}

static void read_holder(const struct chi_lock *lock, char text[HOLDER_SIZE])
{
	ssize_t n = pread(lock->fd, text, HOLDER_SIZE - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text[0] == '\0') {
		(void)snprintf(text, HOLDER_SIZE, "another process");
	}
}

int chi_lock_writer(struct chi_lock *lock, uint32_t wait_ms, const char *role,
		    struct chi_fault *fault)
{
	if (lock->writer) {
		return CHI_OK;
	}
	if (!lock->writable) {
		return chi_fail(fault, -CHI_EREADONLY, "the store was opened for reading only");
	}
	int error = wait_turn(lock, wait_ms);
	if (error == EAGAIN || error == EACCES) {
		char holder[HOLDER_SIZE];
		int served = chi_lock_served(lock, fault);
		if (served < 0) {
			return served;
		}
		read_holder(lock, holder);
		return chi_fail(fault, -CHI_EBUSY, "the store is being written by %s", holder);
	}
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "lock", CHI_LOCK_NAME);
	}
	lock->writer = true;
	write_holder(lock, role, NULL);
	return CHI_OK;
}

void chi_lock_writer_release(struct chi_lock *lock)
{
	if (lock->writer) {
		lock->writer = false;
		(void)set_lock(lock, F_UNLCK, WRITER_BYTE);
	}
}

int chi_lock_serve(struct chi_lock *lock, const char *address, struct chi_fault *fault)
{
	write_holder(lock, "chistored", address);
	return chi_lmdb_fault(fault, set_lock(lock, F_WRLCK, SERVED_BYTE), "lock", CHI_LOCK_NAME);
}

/* Whether someone else has a lock on the byte. Asked and not taken: two that ask at the same time
 * must not see each other. */
static bool is_locked(const struct chi_lock *lock, off_t byte)
{
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
	return lock->fd >= 0 && fcntl(lock->fd, F_OFD_GETLK, &fl) == 0 && fl.l_type != F_UNLCK;
}

int chi_lock_served(const struct chi_lock *lock, struct chi_fault *fault)
{
	if (!is_locked(lock, SERVED_BYTE)) {
		return CHI_OK;
	}
	char holder[HOLDER_SIZE];
	read_holder(lock, holder);
	return chi_fail(fault, -CHI_EBUSY, "the store is served by %s: use %s address", holder,
			strstr(holder, ", at ") != NULL ? "that" : "its");
}

static int has_company(const struct chi_lock *lock, struct chi_fault *fault)
{
	int served = chi_lock_served(lock, fault);
	return served < 0 ? served
			  : chi_fail(fault, -CHI_EBUSY, "another process has the store open");
}

int chi_lock_company(const struct chi_lock *lock, struct chi_fault *fault)
{
	return is_locked(lock, USERS_BYTE) ? has_company(lock, fault) : CHI_OK;
}

int chi_lock_alone(struct chi_lock *lock, struct chi_fault *fault)
{
	int error = set_lock(lock, F_WRLCK, USERS_BYTE);
	if (error == EAGAIN || error == EACCES) {
		return has_company(lock, fault);
	}
	return error == 0 ? CHI_OK : chi_lmdb_fault(fault, error, "lock", CHI_LOCK_NAME);
}

void chi_lock_share(struct chi_lock *lock)
{
	(void)set_lock(lock, F_RDLCK, USERS_BYTE);
}
