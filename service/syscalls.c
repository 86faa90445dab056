/* SPDX-License-Identifier: MIT */
/*
 * Lists are by name, so that one holds for all architectures: a name that one of them, or an old
 * libseccomp, does not know is skipped. The lists hold what the C library may use for what we do,
 * not only what it uses here: stat for newfstatat, select for poll.
 */
#include "service/syscalls.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef CHI_HAVE_SECCOMP

#include <seccomp.h>

#define NAME_SIZE 32

/* Memory, time, locks, signals, the end; files, as far as they may be opened. */
static const char common[] =
	"access arch_prctl brk clock_getres clock_gettime clock_nanosleep close "
	"close_range dup dup2 dup3 exit exit_group faccessat faccessat2 fallocate "
	"fadvise64 fcntl fdatasync flock fstat fstatfs fsync ftruncate futex futex_waitv "
	"get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid "
	"getgroups getpid getppid getpriority getrandom getresgid getresuid getrlimit "
	"getrusage gettid gettimeofday getuid lseek lstat madvise membarrier mincore mlock "
	"mlock2 mremap msync munlock munmap nanosleep newfstatat open openat pause pipe "
	"pipe2 poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev pwritev2 read "
	"readahead readlink readlinkat readv restart_syscall rseq rt_sigaction "
	"rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait "
	"sched_getaffinity sched_getparam sched_getscheduler sched_yield select "
	"set_robust_list set_tid_address sigaltstack stat statfs statx sync_file_range "
	"sysinfo time times uname write writev";

/* Clients, threads, and directories whose files come and go. Binding and listening are over. */
static const char serving[] =
	"accept accept4 alarm copy_file_range epoll_create epoll_create1 epoll_ctl epoll_pwait "
	"epoll_pwait2 epoll_wait eventfd eventfd2 fchmod fchown getpeername getsockname "
	"getsockopt recv recvfrom recvmsg rename renameat renameat2 send sendfile sendmsg "
	"sendto setitimer setpriority setsockopt shutdown timerfd_create timerfd_gettime "
	"timerfd_settime unlink unlinkat";

/* Names with a space between them. */
static int allow_list(scmp_filter_ctx context, const char *names)
{
	int rc = 0;
	while (rc == 0 && *names != '\0') {
		char name[NAME_SIZE];
		size_t len = strcspn(names, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		names += names[len] == ' ' ? len + 1 : len;
		int call = seccomp_syscall_resolve_name(name);
		if (call != __NR_SCMP_ERROR) {
			rc = seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
			/* One that this architecture does not have cannot be called. */
			rc = rc == -EEXIST || rc == -EDOM ? 0 : rc;
		}
	}
	return rc;
}

static struct scmp_arg_cmp equals(unsigned argument, uint64_t value)
{
	return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value};
}

/* Of the bits in `mask` those of `value` are set, and no others. */
static struct scmp_arg_cmp has_bits(unsigned argument, uint64_t mask, uint64_t value)
{
	return (struct scmp_arg_cmp){
		.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

static int allow_if(scmp_filter_ctx context, const char *name, struct scmp_arg_cmp condition)
{
	int call = seccomp_syscall_resolve_name(name);
	int rc = call == __NR_SCMP_ERROR
			 ? 0
			 : seccomp_rule_add_array(context, SCMP_ACT_ALLOW, call, 1, &condition);
	return rc == -EDOM ? 0 : rc;
}

/* Memory that is written is never run, also not later. */
static int add_memory(scmp_filter_ctx context)
{
	const struct scmp_arg_cmp no_code = has_bits(2, PROT_EXEC, 0);
	int rc = allow_if(context, "mmap", no_code);
	return rc == 0 ? allow_if(context, "mprotect", no_code) : rc;
}

/* Signals to itself, as abort sends; its own limits; names of threads and of memory; what is left
 * to read. */
static int add_self(scmp_filter_ctx context)
{
	int rc = allow_if(context, "tgkill", equals(0, (uint64_t)getpid()));
	rc = rc == 0 ? allow_if(context, "prlimit64", equals(0, 0)) : rc;
	rc = rc == 0 ? allow_if(context, "prctl", equals(0, PR_SET_NAME)) : rc;
	rc = rc == 0 ? allow_if(context, "prctl", equals(0, PR_SET_VMA)) : rc;
	return rc == 0 ? allow_if(context, "ioctl", equals(1, FIONREAD)) : rc;
}

/* Threads, but no processes. The flags of clone3 are out of a filter's sight: without it C
 * libraries use clone. */
static int add_threads(scmp_filter_ctx context)
{
#ifdef __s390__
	const unsigned flags = 1;
#else
	const unsigned flags = 0;
#endif
	return allow_if(context, "clone", has_bits(flags, CLONE_THREAD, CLONE_THREAD));
}

static int add_sockets(scmp_filter_ctx context, const struct chi_syscalls_options *options)
{
	int rc = 0;
	if (options->names || options->notify) {
		rc = allow_if(context, "socket", equals(0, AF_UNIX));
	}
	if (rc == 0 && options->names) {
		rc = allow_list(context, "connect");
	}
	return rc;
}

static int add_rules(scmp_filter_ctx context, const struct chi_syscalls_options *options)
{
	int rc = allow_list(context, common);
	rc = rc == 0 ? add_memory(context) : rc;
	rc = rc == 0 ? add_self(context) : rc;
	rc = rc == 0 ? allow_list(context, serving) : rc;
	rc = rc == 0 ? add_threads(context) : rc;
	return rc == 0 ? add_sockets(context, options) : rc;
}

int chi_syscalls_enter(const struct chi_syscalls_options *options)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (context == NULL) {
		return ENOMEM;
	}
	/* A tree of numbers instead of a row of them: every call pays for the way to its rule.
	 * Older libraries do not have it. */
	(void)seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* Not a thread alone, for which the others would wait. */
	(void)seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	int error = -add_rules(context, options);
	error = error == 0 ? -seccomp_load(context) : error;
	seccomp_release(context);
	return error;
}

#else

int chi_syscalls_enter(const struct chi_syscalls_options *options)
{
	(void)options;
	return ENOSYS;
}

#endif
