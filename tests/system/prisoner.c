/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into chistored: what someone would try who had taken it over. On SIGUSR2, in the
 * thread that gets it, it tries one thing after the other, undoes what has worked, and notes what
 * the kernel said in a file that a test has mapped at the same time; test_sandbox.py knows its
 * layout and the order. The file is named by CHISTORE_NOTES, the data file of a store by
 * CHISTORE_INSIDE, a directory that is not the daemon's by CHISTORE_OUTSIDE.
 *
 * Nothing here is undone by a C library: calls are made by syscall(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 32

struct notes {
	_Atomic uint64_t done; /* how often all was tried */
	int32_t said[TRIES];   /* errno, 0: it worked */
};

static struct notes *notes;
static char inside[4096];
static char made[4096];
static char victim[4096];
static pid_t server;

static void try_files(int32_t *said)
{
	const struct {
		const char *path;
		int flags;
	} files[] = {
		{inside, O_RDONLY},
		{inside, O_WRONLY},
		{"/etc/passwd", O_RDONLY},
		{"/", O_RDONLY | O_DIRECTORY},
		{"/proc/self/maps", O_RDONLY},
		{victim, O_WRONLY},
		{made, O_WRONLY | O_CREAT},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		long fd = syscall(SYS_openat, AT_FDCWD, files[i].path, files[i].flags, 0600);
		*said++ = fd < 0 ? errno : 0;
		if (fd >= 0) {
			close((int)fd);
		}
	}
	*said = syscall(SYS_unlinkat, AT_FDCWD, victim, 0) < 0 ? errno : 0;
}

static int32_t try_process(void)
{
	long pid = syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		syscall(SYS_exit_group, 0);
	}
	int32_t said = pid < 0 ? errno : 0;
	if (pid > 0) {
		syscall(SYS_wait4, pid, NULL, 0, NULL);
	}
	return said;
}

static int32_t try_socket(int family)
{
	long fd = syscall(SYS_socket, family, SOCK_STREAM, 0);
	int32_t said = fd < 0 ? errno : 0;
	if (fd >= 0) {
		close((int)fd);
	}
	return said;
}

/* Each is without effect where it works, or fails for another reason than not being allowed to. */
static void try_calls(int32_t *said)
{
	const char *const none[] = {NULL};
	*said++ = try_process();
	*said++ = try_socket(AF_INET);
	*said++ = try_socket(AF_UNIX);
	*said++ = syscall(SYS_execve, "/no such program", none, none) < 0 ? errno : 0;
	*said++ = syscall(SYS_ptrace, PTRACE_ATTACH, 0x3fffffff, 0, 0) < 0 ? errno : 0;
	*said++ = syscall(SYS_kill, getpid(), 0) < 0 ? errno : 0;
	*said++ = syscall(SYS_mount, NULL, NULL, NULL, 0, NULL) < 0 ? errno : 0;
	*said++ = syscall(SYS_unshare, 0) < 0 ? errno : 0;
	*said++ = syscall(SYS_setuid, geteuid()) < 0 ? errno : 0;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*said++ = code == MAP_FAILED ? errno : 0;
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*said++ = mprotect(data, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
	munmap(data, 4096);
	if (code != MAP_FAILED) {
		munmap(code, 4096);
	}
	*said = syscall(SYS_tgkill, server, server, 0) < 0 ? errno : 0;
}

static void try_all(void)
{
	int before = errno;
	try_files(notes->said);
	try_calls(notes->said + 8);
	atomic_fetch_add(&notes->done, 1);
	errno = before;
}

static void on_signal(int number)
{
	(void)number;
	try_all();
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CHISTORE_NOTES");
	const char *data = getenv("CHISTORE_INSIDE");
	const char *outside = getenv("CHISTORE_OUTSIDE");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0 || data == NULL || outside == NULL) {
		return;
	}
	void *at = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	notes = at == MAP_FAILED ? NULL : at;
	server = getpid();
	snprintf(inside, sizeof(inside), "%s", data);
	snprintf(made, sizeof(made), "%s/made", outside);
	snprintf(victim, sizeof(victim), "%s/victim", outside);
	signal(SIGUSR2, on_signal);
}
