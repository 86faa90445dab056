/* SPDX-License-Identifier: MIT */
/* One fork for each check: some of them end by a signal, as they must. */
#include "tests/faults/judge.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"

/* A check that takes so many seconds hangs, sanitizers and a busy machine included. */
#define PATIENCE 120

void judge_in_memory(void)
{
	static const char memory[] = "/dev/shm";
	if (access(memory, W_OK | X_OK) == 0) {
		(void)setenv("TMPDIR", memory, 0);
	}
}

struct judge *judge_new(void)
{
	/* Each store that is opened asks for zeroed megabytes and uses a page of them. Taken from
	 * the heap, where others have lain, they would be cleared and copied in every child. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 17);
	/* Nor are they filled, which touches each page and takes most of the time. Unit tests run
	 * with MALLOC_PERTURB_, and ASan fills the beginning of each block here, too. */
	(void)mallopt(M_PERTURB, 0);
	struct judge *judge = mmap(NULL, sizeof(*judge), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (judge == MAP_FAILED) {
		abort();
	}
	return judge;
}

/* cmocka's handlers would go on with the parent's tests in the child. */
static void die_of_signals(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	for (size_t i = 0; i < CHI_COUNT(signals); i++) {
		(void)signal(signals[i], SIG_DFL);
	}
}

int judge_run(struct judge *judge, int (*check)(void *context), void *context, bool loud)
{
	judge->why.text[0] = '\0';
	pid_t child = fork();
	if (child < 0) {
		abort();
	}
	if (child == 0) {
		int null = loud ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0) {
			/* What a sanitizer says of a store that is damaged on purpose. */
			(void)dup2(null, STDERR_FILENO);
		}
		die_of_signals();
		(void)alarm(PATIENCE);
		_exit(check(context));
	}
	int status;
	if (waitpid(child, &status, 0) != child) {
		abort();
	}
	if (WIFSIGNALED(status)) {
		(void)chi_fail(&judge->why, 0, "killed by signal %d", WTERMSIG(status));
		return -1;
	}
	return WEXITSTATUS(status);
}
