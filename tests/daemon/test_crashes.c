/* SPDX-License-Identifier: MIT */
/*
 * What a crash leaves behind, in every way that a process can crash by itself. Each does so in a
 * child, whose end and whose record are looked at. How they are counted, and what follows, the
 * system test says.
 */
#include "daemon/status/crashes.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attr.h"

#define HOUR_MS 3600000
#define FRAME	16384

static char dir[64];
static char record[96];

static void path_of(const char *name, char out[static 96])
{
	snprintf(out, 96, "%s/%s", dir, name);
}

static void put_file(const char *name, const char *text)
{
	char path[96];
	path_of(name, path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void get_file(const char *name, char out[static 8192])
{
	char path[96];
	path_of(name, path);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	out[fread(out, 1, 8191, file)] = '\0';
	fclose(file);
}

static bool is_there(const char *name)
{
	char path[96];
	path_of(name, path);
	return access(path, F_OK) == 0;
}

/* A directory with what daemons serve, as far as is looked at here. */
static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/chistore-crashes-XXXXXX");
	assert_non_null(mkdtemp(dir));
	put_file("data.mdb", "");
	put_file("chistore.lock", "");
	path_of("chistore.crashes", record);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	static const char *const names[] = {"data.mdb", "chistore.lock", "chistore.crashes",
					    "other"};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		char path[96];
		path_of(names[i], path);
		(void)unlink(path);
	}
	return rmdir(dir);
}

/* How a child ends that does `body` after it began to remember its crashes: 1000 and the signal, or
 * what it returned. */
static int end_of(int (*body)(const struct chi_crashes *crashes))
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
	int how = 0;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct chi_crashes crashes;
		const struct rlimit no_core = {0, 0};
		(void)setrlimit(RLIMIT_CORE, &no_core);
		/* Without the handlers of a sanitizer. */
		for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
			(void)signal(numbers[i], SIG_DFL);
		}
		chi_crashes_open(&crashes, dir, HOUR_MS);
		int code = body(&crashes);
		chi_crashes_close(&crashes, true);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &how, 0), pid);
	return WIFSIGNALED(how) ? 1000 + WTERMSIG(how) : WEXITSTATUS(how);
}

/* The signal of the one crash there was; 0: none, 255: several. */
static int look_back(const struct chi_crashes *crashes)
{
	return crashes->count > 1 ? 255 : (int)crashes->last_signal;
}

static void expect(int (*body)(const struct chi_crashes *crashes), int number)
{
	assert_int_equal(end_of(body), 1000 + number);
	assert_int_equal(end_of(look_back), number);
	assert_false(is_there("chistore.crashes"));
}

/* ---- Ways to crash --------------------------------------------------------------------------- */

static volatile int depth;

static void sink(volatile char *bytes, int more)
{
	volatile char frame[FRAME];
	frame[0] = bytes[0];
	frame[FRAME - 1] = (char)depth;
	if (more > 0) {
		sink(frame, more - 1);
	}
	depth += frame[FRAME - 1];
}

static int overflow(const struct chi_crashes *crashes)
{
	(void)crashes;
	volatile char first = 0;
	sink(&first, 1000000);
	return 0;
}

static void *overflow_in_thread(void *context)
{
	(void)context;
	struct chi_crash_stack stack;
	chi_crashes_stack(&stack);
	(void)overflow(NULL);
	return NULL;
}

static int overflow_elsewhere(const struct chi_crashes *crashes)
{
	(void)crashes;
	pthread_t thread;
	(void)pthread_create(&thread, NULL, overflow_in_thread, NULL);
	(void)pthread_join(thread, NULL);
	return 0;
}

/* So many threads crash at once: none ends the process before all have done what they do. */
static atomic_int crashing;
static atomic_int in_handlers;

ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

/* Whoever has written the line waits for the others, */
ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	ssize_t n = __real_write(fd, bytes, len);
	atomic_fetch_add(&in_handlers, 1);
	while (atomic_load(&in_handlers) < atomic_load(&crashing)) {
	}
	return n;
}

/* who wait for him. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	atomic_fetch_add(&in_handlers, 1);
	return __real_nanosleep(time, left);
}

static void *fault_in_thread(void *context)
{
	volatile char *byte = context;
	*byte = 1;
	return NULL;
}

static int fault_everywhere(const struct chi_crashes *crashes)
{
	(void)crashes;
	pthread_t threads[8];
	/* A byte for each of them: they are to meet in the handler alone. */
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	atomic_store(&in_handlers, 0);
	atomic_store(&crashing, CHI_COUNT(threads));
	for (size_t i = 0; i < CHI_COUNT(threads); i++) {
		(void)pthread_create(&threads[i], NULL, fault_in_thread, page + i);
	}
	for (size_t i = 0; i < CHI_COUNT(threads); i++) {
		(void)pthread_join(threads[i], NULL);
	}
	return 0;
}

/* Such a call is not made, and the program is told so by a signal; nothing happens again. */
static int forbidden_call(const struct chi_crashes *crashes)
{
	(void)crashes;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {CHI_COUNT(rules), rules};
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	(void)syscall(SYS_getppid);
	return 0;
}

static int end_it(const struct chi_crashes *crashes)
{
	(void)crashes;
	abort();
}

static void test_a_stack_that_is_used_up(void **state)
{
	(void)state;
	expect(overflow, SIGSEGV);
	expect(overflow_elsewhere, SIGSEGV);
}

static void test_a_forbidden_call(void **state)
{
	(void)state;
	expect(forbidden_call, SIGSYS);
}

static void test_an_abort(void **state)
{
	(void)state;
	expect(end_it, SIGABRT);
}

/* One crash, however many threads have a share in it. */
static void test_all_threads_at_once(void **state)
{
	(void)state;
	expect(fault_everywhere, SIGSEGV);
}

static void test_no_crash(void **state)
{
	(void)state;
	assert_int_equal(end_of(look_back), 0);
	assert_false(is_there("chistore.crashes"));
}

/* ---- Where nothing is remembered --------------------------------------------------------------
 */

/* A name more of another file: neither is it cut nor added to. */
static void test_a_record_with_two_names(void **state)
{
	(void)state;
	char path[96];
	char before[8192];
	char after[8192];
	memset(before, 'x', 8000);
	before[8000] = '\0';
	put_file("other", before);
	path_of("other", path);
	assert_int_equal(link(path, record), 0);
	assert_int_equal(end_of(end_it), 1000 + SIGABRT);
	get_file("other", after);
	assert_string_equal(after, before);
}

/* A published copy has no lock file, and nothing is to lie beside its data. */
static void test_a_directory_that_is_not_written(void **state)
{
	(void)state;
	char path[96];
	path_of("chistore.lock", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(end_of(end_it), 1000 + SIGABRT);
	assert_false(is_there("chistore.crashes"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_stack_that_is_used_up, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_a_forbidden_call, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_an_abort, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_all_threads_at_once, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_no_crash, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_a_record_with_two_names, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_a_directory_that_is_not_written, make_dir,
						remove_dir),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
