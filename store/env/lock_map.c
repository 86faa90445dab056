/* SPDX-License-Identifier: MIT */
/*
 * Someone cuts lock.mdb short while it is open: LMDB's next access to its table of readers is a
 * SIGBUS, which would end the process without a word. The handler puts empty pages in the table's
 * place. Everything that was found in it is lost, as if the file had been filled with zeros, and
 * that chi_txn_settle and chi_files_check notice: each call ends with -CHI_ESTALE from then on.
 * What was committed is synced, and stays.
 *
 * Whether the address is one of the table only the kernel knows, as LMDB does not tell where it is.
 * A SIGBUS of anything else goes on to the handler that was there before. The handler only makes
 * system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/names.h"
#include "store/store.h"

#define LINE_SIZE (PATH_MAX + 100) /* of /proc/self/maps */

static struct sigaction before;
static int maps = -1; /* opened before a sandbox denies it; to the end of the process */

struct range {
	uintptr_t from;
	uintptr_t to;
};

static uintptr_t hex(const char **text)
{
	uintptr_t value = 0;
	for (;; ++*text) {
		char c = **text;
		if (c >= '0' && c <= '9') {
			value = value * 16 + (uintptr_t)(c - '0');
		} else if (c >= 'a' && c <= 'f') {
			value = value * 16 + (uintptr_t)(c - 'a') + 10;
		} else {
			return value;
		}
	}
}

/* "FROM-TO rw-s ... PATH", where a removed file has a word more behind. */
static bool is_lock_file(const char *text)
{
	static const char name[] = "/" LMDB_LOCK;
	const char *last = strrchr(text, '/');
	const char *after = last != NULL && strncmp(last, name, sizeof(name) - 1) == 0
				    ? last + sizeof(name) - 1
				    : NULL;
	return after != NULL && (*after == '\0' || strcmp(after, " (deleted)") == 0);
}

static bool is_table(const char *line, uintptr_t at, struct range *out)
{
	const char *text = line;
	out->from = hex(&text);
	text += *text == '-';
	out->to = hex(&text);
	return at >= out->from && at < out->to && is_lock_file(text);
}

static bool find_table(uintptr_t at, struct range *out)
{
	char line[LINE_SIZE];
	char bytes[512];
	size_t len = 0;
	ssize_t n;
	bool found = false;
	for (off_t place = 0; !found && (n = pread(maps, bytes, sizeof(bytes), place)) > 0;
	     place += n) {
		for (ssize_t i = 0; i < n && !found; i++) {
			if (bytes[i] != '\n') {
				line[len] = bytes[i];
				len += len < sizeof(line) - 1;
				continue;
			}
			line[len] = '\0';
			len = 0;
			found = is_table(line, at, out);
		}
	}
	return found;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if ((before.sa_flags & SA_SIGINFO) != 0) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		/* Of a fault it comes again by itself. */
		(void)sigaction(number, &before, NULL);
		if (info->si_code <= 0) {
			(void)raise(number);
		}
	}
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	int error = errno;
	struct range table;
	if (info->si_code != BUS_ADRERR || !find_table((uintptr_t)info->si_addr, &table) ||
	    mmap((void *)table.from, table.to - table.from, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		pass_on(number, info, context);
	}
	errno = error;
}

void chi_dir_guard_lock_files(void)
{
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	maps = maps >= 0 ? maps : open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	(void)sigaction(SIGBUS, &action, &before);
}
