/* SPDX-License-Identifier: MIT */
/*
 * In a container the machine's memory says nothing. A line of /proc/self/cgroup names a control
 * group as "0::/path" (version 2) or "4:cpu,memory:/path" (version 1). A limit holds for all groups
 * below it, and inside a container the path may begin above what is mounted: so each part of it
 * is tried, from the longest to none.
 */
#include "store/env/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/file.h"
#include "base/num.h"

#define CGROUPS_SIZE 16384
#define NAME_SIZE    4352 /* of a file: a path and what is around it */

/* The beginning of a file as text; false: it cannot be read. */
static bool read_kernel_text(const char *name, char *out, size_t size)
{
	_cleanup_(chi_closep) int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? chi_file_read(fd, out, size - 1) : -1;
	out[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* "max" is no number, and so no limit. */
static uint64_t limit_of(const char *mount, const char *kind, const char *path, size_t len,
			 const char *file)
{
	char name[NAME_SIZE];
	char text[32];
	uint64_t limit = UINT64_MAX;
	int n = snprintf(name, sizeof(name), "%s%s%.*s/%s", mount, kind, (int)len, path, file);
	if (n < 0 || (size_t)n >= sizeof(name) || !read_kernel_text(name, text, sizeof(text))) {
		return UINT64_MAX;
	}
	if (chi_num_u64(text, strcspn(text, "\n"), UINT64_MAX, &limit) != CHI_OK) {
		return UINT64_MAX;
	}
	return limit;
}

static uint64_t least_limit(const char *mount, const char *kind, const char *path, size_t len,
			    const char *file)
{
	uint64_t least = UINT64_MAX;
	while (true) {
		uint64_t limit = limit_of(mount, kind, path, len, file);
		least = limit < least ? limit : least;
		if (len == 0) {
			return least;
		}
		do {
			len--;
		} while (len > 0 && path[len] != '/');
	}
}

static bool lists_memory(const char *names, size_t len)
{
	static const char word[] = "memory";
	const char *end = names + len;
	while (names < end) {
		size_t n = strcspn(names, ",:");
		if (n == strlen(word) && memcmp(names, word, n) == 0) {
			return true;
		}
		names += n + 1;
	}
	return false;
}

/* That of a line: number, names of what is controlled (version 2: none), path. */
static uint64_t line_limit(const char *line, size_t len, const char *mount)
{
	const char *end = line + len;
	const char *names = memchr(line, ':', len);
	const char *path = names != NULL ? memchr(names + 1, ':', (size_t)(end - names) - 1) : NULL;
	if (path == NULL) {
		return UINT64_MAX;
	}
	size_t left = (size_t)(end - path) - 1;
	if (path == names + 1) {
		return least_limit(mount, "", path + 1, left, "memory.max");
	}
	return lists_memory(names + 1, (size_t)(path - names) - 1)
		       ? least_limit(mount, "/memory", path + 1, left, "memory.limit_in_bytes")
		       : UINT64_MAX;
}

uint64_t chi_memory_limit(const char *cgroups, const char *mount)
{
	char text[CGROUPS_SIZE];
	uint64_t least = UINT64_MAX;
	if (!read_kernel_text(cgroups, text, sizeof(text))) {
		return UINT64_MAX;
	}
	const char *line = text;
	while (*line != '\0') {
		size_t len = strcspn(line, "\n");
		uint64_t limit = line_limit(line, len, mount);
		least = limit < least ? limit : least;
		line += len + (line[len] != '\0');
	}
	return least;
}

uint64_t chi_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long size = sysconf(_SC_PAGESIZE);
	uint64_t machine = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
	uint64_t limit = chi_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup");
	return limit < machine ? limit : machine;
}
