/* SPDX-License-Identifier: MIT */
/*
 * Lists are by name, so that one holds for all architectures: a name that one of them, or an old
 * libseccomp, does not know is skipped. The lists hold what the C library may use for what we do,
 * not only what it uses here: stat for newfstatat, select for poll.
 */
#include "daemon/jail/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"

#ifdef CHI_HAVE_SECCOMP

#include <seccomp.h>

#define NAME_SIZE 32

/* Instructions of a filter, at least as many as there can be. */
#define CODE_MAX 4096

/* Of the processor, for what takes some milliseconds of it, and of the clock. */
#define MAKE_CPU_SECONDS 1
#define MAKE_SECONDS	 30

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Memory, time, locks, signals, the end; files, as far as they may be opened. */
static const char common[] =
	"access arch_prctl brk clock_getres clock_gettime clock_gettime64 clock_nanosleep "
	"clock_nanosleep_time64 close close_range dup dup2 dup3 exit exit_group faccessat "
	"faccessat2 fallocate fadvise64 fadvise64_64 fcntl fcntl64 fdatasync flock fstat "
	"fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futex futex_time64 "
	"futex_waitv get_robust_list getcpu getcwd getdents getdents64 getegid getegid32 "
	"geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpid getppid getpriority "
	"getrandom getresgid getresuid getrlimit getrusage gettid gettimeofday getuid "
	"getuid32 llseek _llseek lseek lstat lstat64 madvise membarrier mincore mlock mlock2 "
	"mremap msync munlock munmap nanosleep newfstatat open openat pause pipe pipe2 poll "
	"ppoll ppoll_time64 pread64 preadv preadv2 pselect6 pselect6_time64 pwrite64 pwritev "
	"pwritev2 read readahead readlink readlinkat readv restart_syscall rseq rt_sigaction "
	"rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait "
	"sched_getaffinity sched_getparam sched_getscheduler sched_yield select _newselect "
	"set_robust_list set_tid_address sigaltstack sigreturn stat stat64 statfs statfs64 "
	"statx sync_file_range sysinfo time times ugetrlimit uname write writev";

/* Clients, threads, and directories whose files come and go. Binding and listening are over. */
static const char serving[] =
	"accept accept4 copy_file_range epoll_create epoll_create1 epoll_ctl epoll_pwait "
	"epoll_pwait2 epoll_wait eventfd eventfd2 fchmod fchown fchown32 getpeername getsockname "
	"getsockopt recv "
	"recvfrom recvmsg rename renameat renameat2 send sendfile sendfile64 sendmsg sendto "
	"setpriority setsockopt shutdown timerfd_create timerfd_gettime timerfd_settime "
	"unlink unlinkat wait4 waitid";

/* Told apart from what a C library may be trying out: whoever meets one of these was made to do
 * what we never do. */
static const char harmful[] =
	"acct add_key adjtimex bind bpf chmod chown chroot clock_settime connect "
	"delete_module execve execveat fchmodat fchownat finit_module fork "
	"fsconfig fsmount fsopen init_module io_uring_enter io_uring_register io_uring_setup "
	"ioperm iopl kcmp kexec_file_load kexec_load keyctl kill lchown link linkat listen "
	"memfd_create mkdir mkdirat mknod mknodat mount mount_setattr move_mount "
	"name_to_handle_at open_by_handle_at open_tree perf_event_open personality "
	"pidfd_getfd pidfd_open pidfd_send_signal pivot_root pkey_mprotect process_madvise "
	"process_vm_readv process_vm_writev ptrace quotactl reboot request_key rmdir "
	"rt_sigqueueinfo rt_tgsigqueueinfo setdomainname setfsgid setfsuid setgid setgroups "
	"sethostname setns setregid setresgid setresuid setreuid setrlimit settimeofday "
	"setuid setxattr shmat shmget swapoff swapon symlink symlinkat sysfs syslog tkill "
	"truncate umount2 unshare userfaultfd vfork";

/* Names with a space between them. */
static int add_list(scmp_filter_ctx context, uint32_t action, const char *names)
{
	int rc = 0;
	while (rc == 0 && *names != '\0') {
		char name[NAME_SIZE];
		size_t len = strcspn(names, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		names += names[len] == ' ' ? len + 1 : len;
		int call = seccomp_syscall_resolve_name(name);
		if (call != __NR_SCMP_ERROR) {
			rc = seccomp_rule_add(context, action, call, 0);
			/* What is allowed already stays so; one that this architecture does not
			 * have cannot be called. */
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
	rc = rc == 0 ? allow_if(context, "mmap2", no_code) : rc;
	return rc == 0 ? allow_if(context, "mprotect", no_code) : rc;
}

/* Signals to itself, as abort sends; its own limits; names of threads and of memory; what is left
 * to read. */
static int add_self(scmp_filter_ctx context, pid_t self)
{
	/* Who verifies has a number that is not known yet, and must not have the server's. */
	int rc = self > 0 ? allow_if(context, "tgkill", equals(0, (uint64_t)self)) : 0;
	rc = rc == 0 ? allow_if(context, "prlimit64", equals(0, 0)) : rc;
	rc = rc == 0 ? allow_if(context, "prctl", equals(0, PR_SET_NAME)) : rc;
	rc = rc == 0 ? allow_if(context, "prctl", equals(0, PR_SET_VMA)) : rc;
	return rc == 0 ? allow_if(context, "ioctl", equals(1, FIONREAD)) : rc;
}

/* Threads, but no processes. The flags of clone3 are out of a filter's sight: without it C
 * libraries use clone. */
static int add_threads(scmp_filter_ctx context)
{
#if defined(__s390__) || defined(__CRIS__)
	return allow_if(context, "clone", has_bits(1, CLONE_THREAD, CLONE_THREAD));
#else
	return allow_if(context, "clone", has_bits(0, CLONE_THREAD, CLONE_THREAD));
#endif
}

static int add_sockets(scmp_filter_ctx context, const struct chi_syscalls_options *options)
{
	const struct scmp_arg_cmp local = equals(0, AF_UNIX);
	int rc = allow_if(context, "socketpair", local);
	if (rc == 0 && (options->names || options->notify)) {
		rc = allow_if(context, "socket", local);
	}
	if (rc == 0 && options->names) {
		rc = add_list(context, SCMP_ACT_ALLOW, "connect");
	}
	return rc;
}

static int add_rules(scmp_filter_ctx context, enum chi_caller caller,
		     const struct chi_syscalls_options *options)
{
	int rc = add_list(context, SCMP_ACT_ALLOW, common);
	rc = rc == 0 ? add_memory(context) : rc;
	rc = rc == 0 ? add_self(context, caller == CHI_CALLER_SERVER ? options->server : 0) : rc;
	if (caller == CHI_CALLER_SERVER) {
		rc = rc == 0 ? add_list(context, SCMP_ACT_ALLOW, serving) : rc;
		rc = rc == 0 ? add_threads(context) : rc;
		rc = rc == 0 ? add_sockets(context, options) : rc;
	}
	return rc == 0 ? add_list(context, SCMP_ACT_ERRNO(EPERM), harmful) : rc;
}

/* A filter as the kernel takes it. */
struct program {
	struct sock_filter code[CODE_MAX];
	size_t len; /* bytes */
};

/* libseccomp writes to descriptors only; the file has no name. */
static int export_code(scmp_filter_ctx context, struct program *out)
{
	int fd = memfd_create("chistored-filter", MFD_CLOEXEC);
	if (fd < 0) {
		return errno;
	}
	int error = -seccomp_export_bpf(context, fd);
	ssize_t n = error == 0 ? pread(fd, out->code, sizeof(out->code), 0) : 0;
	error = n < 0 ? errno : error;
	out->len = n > 0 ? (size_t)n : 0;
	close(fd);
	return error == 0 && (n == 0 || (size_t)n == sizeof(out->code)) ? E2BIG : error;
}

static int make(enum chi_caller caller, const struct chi_syscalls_options *options,
		struct program *out)
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
	int error = -add_rules(context, caller, options);
	error = error == 0 ? export_code(context, out) : error;
	seccomp_release(context);
	return error;
}

/* What was prepared: memory shared with who made it, read-only since. A child has it from the
 * process that it was forked of. */
static const struct program *programs;

/* libseccomp leaves out rules when there is no memory for them, and does not say so: a filter
 * counts if it comes out the same twice. */
static int make_all(const struct chi_syscalls_options *options, struct program *out)
{
	static struct program again;
	int error = 0;
	for (int i = 0; error == 0 && i < CHI_CALLERS; i++) {
		error = make((enum chi_caller)i, options, &out[i]);
		error = error == 0 ? make((enum chi_caller)i, options, &again) : error;
		if (error == 0 &&
		    (out[i].len != again.len || memcmp(out[i].code, again.code, again.len) != 0)) {
			error = ENOMEM;
		}
	}
	return error;
}

/* In a process of its own, which libseccomp may take down with it: without memory it frees twice,
 * or runs in circles. */
static int make_apart(const struct chi_syscalls_options *options, struct program *out)
{
	int how;
	pid_t pid = fork();
	if (pid == 0) {
		const struct itimerval cpu = {.it_value.tv_sec = MAKE_CPU_SECONDS};
		(void)setitimer(ITIMER_PROF, &cpu, NULL);
		alarm(MAKE_SECONDS);
		_exit(make_all(options, out));
	}
	while (pid > 0 && waitpid(pid, &how, 0) < 0) {
		if (errno != EINTR) {
			return errno;
		}
	}
	return pid < 0 ? errno : WIFEXITED(how) ? WEXITSTATUS(how) : ECANCELED;
}

int chi_syscalls_prepare(const struct chi_syscalls_options *options)
{
	const size_t size = CHI_CALLERS * sizeof(struct program);
	struct program *made =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED) {
		return errno;
	}
	int error = make_apart(options, made);
	if (error == 0 && mprotect(made, size, PROT_READ) < 0) {
		error = errno;
	}
	if (error != 0) {
		munmap(made, size);
		return error;
	}
	programs = made;
	return 0;
}

int chi_syscalls_enter(enum chi_caller caller)
{
	if (programs == NULL) {
		return ENOMEM;
	}
	const struct sock_fprog filter = {
		.len = (unsigned short)(programs[caller].len / sizeof(struct sock_filter)),
		/* The kernel copies it; its structure is shared with those who write it. */
		.filter = (struct sock_filter *)(uintptr_t)programs[caller].code,
	};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0
		       ? errno
		       : 0;
}

#else

int chi_syscalls_prepare(const struct chi_syscalls_options *options)
{
	(void)options;
	return ENOSYS;
}

int chi_syscalls_enter(enum chi_caller caller)
{
	(void)caller;
	return ENOSYS;
}

#endif
