/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <signal.h>

unsigned chi_threads_start(pthread_t *out, unsigned n, void *(*run)(void *context), void *context)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	sigset_t blocked;
	sigset_t before;
	unsigned begun = 0;
	(void)sigfillset(&blocked);
	for (size_t i = 0; i < CHI_COUNT(own); i++) {
		(void)sigdelset(&blocked, own[i]);
	}
	(void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
	while (begun < n && pthread_create(&out[begun], NULL, run, context) == 0) {
		begun++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}
