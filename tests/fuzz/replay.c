/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over its corpus without a fuzzer, as an ordinary test: each file as it is,
 * cut at every length, and with single bytes changed. The changes come from a fixed seed, so
 * that a failure is the same failure next time.
 *
 *	fuzz_<name>_replay CORPUS_DIRECTORY | FILE
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/seed.h"
#include "tests/fuzz/fuzz.h"

/* Bounds that keep a target at a second or two: no file of a corpus is large, and one that grows
 * beyond the bounds is sampled. CHISTORE_EFFORT multiplies the changes. */
#define CUTS_MAX    2048
#define CHANGES_MAX 4096

/* Runs the target on an allocation of its own size. */
static void run_once(const uint8_t *data, size_t size)
{
	_cleanup_(chi_freep) uint8_t *copy = malloc(size > 0 ? size : 1);
	REQUIRE(copy != NULL);
	if (size > 0) {
		memcpy(copy, data, size);
	}
	LLVMFuzzerTestOneInput(copy, size);
}

static void run_cuts(const uint8_t *data, size_t size)
{
	size_t step = size / CUTS_MAX + 1;
	for (size_t len = 0; len < size; len += step) {
		run_once(data, len);
	}
}

/* Single bytes overwritten, removed and inserted: the neighbours of good input, where parsers
 * have their edges. */
static void run_changes(const uint8_t *data, size_t size, struct seed *seed)
{
	static const uint8_t telling[] = {0,   1,   ' ',  '/',	'0',  '9',
					  'K', 'a', 0x7f, 0x80, 0xfe, 0xff};
	_cleanup_(chi_freep) uint8_t *changed = malloc(size + 1);
	REQUIRE(changed != NULL);
	size_t rounds = seed_rounds(size * 24 < CHANGES_MAX ? size * 24 : CHANGES_MAX);
	for (size_t i = 0; i < rounds; i++) {
		size_t at = seed_below(seed, size);
		uint64_t random = seed_next(seed);
		uint8_t byte = (uint8_t)(random >> 8);
		if ((random & 1) != 0) {
			byte = telling[byte % CHI_COUNT(telling)];
		}
		memcpy(changed, data, size);
		size_t len = size;
		switch (random >> 2 & 7) {
		case 0: /* removed */
			memmove(changed + at, changed + at + 1, size - at - 1);
			len--;
			break;
		case 1: /* inserted */
			memmove(changed + at + 1, changed + at, size - at);
			changed[at] = byte;
			len++;
			break;
		case 2: /* one bit */
			changed[at] ^= (uint8_t)(1 << (byte & 7));
			break;
		default:
			changed[at] = byte;
			break;
		}
		run_once(changed, len);
	}
}

/* The file's bytes; the process ends if they cannot be read. */
static uint8_t *read_file(const char *path, size_t *size)
{
	struct stat st;
	_cleanup_(chi_freep) uint8_t *data = NULL;
	FILE *file = fopen(path, "rb");
	if (file == NULL || fstat(fileno(file), &st) != 0) {
		perror(path);
		exit(1);
	}
	*size = (size_t)st.st_size;
	data = malloc(*size + 1);
	if (data == NULL || fread(data, 1, *size, file) != *size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	uint8_t *result = data;
	data = NULL;
	return result;
}

/* In a child, so that one crash neither hides the other files nor loses the test's report. */
static bool file_survives(const char *path)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		size_t size = 0;
		_cleanup_(chi_freep) uint8_t *data = read_file(path, &size);
		struct seed seed = {.state = size};
		run_once(data, size);
		run_cuts(data, size);
		if (size > 0) {
			run_changes(data, size, &seed);
		}
		chi_freep(&data);
		data = NULL;
		exit(0);
	}
	int status = 0;
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The files of a directory in the order of their names; a lone file is itself. */
static char **list_files(const char *path, size_t *count)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_visible, alphasort);
	char **files = calloc(n > 0 ? (size_t)n : 1, sizeof(*files));
	REQUIRE(files != NULL);
	*count = 0;
	if (n < 0) {
		files[(*count)++] = strdup(path);
	}
	for (int i = 0; i < n; i++) {
		REQUIRE(asprintf(&files[(*count)++], "%s/%s", path, entries[i]->d_name) > 0);
		free(entries[i]);
	}
	free(entries);
	return files;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS_DIRECTORY | FILE\n", argv[0]);
		return 2;
	}
	size_t count = 0;
	size_t failed = 0;
	/* Static, so that a leak checker in a child still sees it: the compiler may drop a local
	 * that the child never uses again. */
	static char **files;
	files = list_files(argv[1], &count);
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		bool ok = file_survives(files[i]);
		failed += !ok;
		printf("%s %zu - %s\n", ok ? "ok" : "not ok", i + 1, basename(files[i]));
		free(files[i]);
	}
	free(files);
	/* A corpus that is not found would otherwise pass for ever. */
	return failed == 0 && count > 0 ? 0 : 1;
}
