/* SPDX-License-Identifier: MIT */
/* Each file is compressed once, and its tag is the hash of its bytes. */
#include "http/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"
#include "http/net/pack.h"

#define FILES_MAX 64
#define FILE_MOST (1 << 20)

struct page {
	struct page_file files[FILES_MAX];
	size_t n;
	struct chi_arena arena;
};

static const char *type_of(const char *name)
{
	static const struct {
		const char *end;
		const char *type;
	} types[] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".svg", "image/svg+xml"},
		{".json", "application/json"},
		{".png", "image/png"},
		{".ico", "image/x-icon"},
		{".txt", "text/plain; charset=utf-8"},
		{".webmanifest", "application/manifest+json"},
	};
	size_t len = strlen(name);
	for (size_t i = 0; i < CHI_COUNT(types); i++) {
		size_t n = strlen(types[i].end);
		if (len > n && strcmp(name + len - n, types[i].end) == 0) {
			return types[i].type;
		}
	}
	return NULL;
}

/* Only if it becomes smaller. */
static void compress_file(struct page *page, struct page_file *file)
{
	void *out = chi_arena_alloc(&page->arena, file->len);
	file->gzip_len = out != NULL ? pack_gzip(9, file->bytes, file->len, out) : 0;
	file->gzip = file->gzip_len > 0 ? out : NULL;
}

static int load_file(struct page *page, int dir, const char *name, struct chi_fault *fault)
{
	struct stat stat;
	_cleanup_(chi_closep) int fd =
		openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &stat) < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot read the page's file '%s' (%s)", name,
				strerror(errno));
	}
	if (!S_ISREG(stat.st_mode) || type_of(name) == NULL) {
		return CHI_OK;
	}
	if (page->n == FILES_MAX || stat.st_size > FILE_MOST) {
		return chi_fail(fault, -CHI_ETOOBIG,
				"the page's file '%s' is too large, or one too many", name);
	}
	struct page_file *file = &page->files[page->n];
	size_t len = (size_t)stat.st_size;
	void *bytes = chi_arena_alloc(&page->arena, len + 1);
	char *path = chi_arena_alloc(&page->arena, strlen(name) + 2);
	if (bytes == NULL || path == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = chi_file_pread(fd, bytes, len, 0);
	if (status < 0) {
		return chi_fail(fault, status, "cannot read the page's file '%s'", name);
	}
	(void)sprintf(path, "/%s", name);
	*file = (struct page_file){.name = path, .type = type_of(name), .bytes = bytes, .len = len};
	(void)snprintf(file->tag, sizeof(file->tag), "%016llx",
		       (unsigned long long)XXH3_64bits(bytes, len));
	compress_file(page, file);
	page->n++;
	return CHI_OK;
}

int page_load(const char *dir, struct page **out, struct chi_fault *fault)
{
	struct page *page = calloc(1, sizeof(*page));
	DIR *list = page != NULL ? opendir(dir) : NULL;
	int status = page == NULL ? chi_fault_plain(fault, -CHI_ENOMEM) : CHI_OK;
	*out = page;
	if (list == NULL) {
		return status;
	}
	chi_arena_init(&page->arena, SIZE_MAX);
	for (const struct dirent *entry; status == CHI_OK && (entry = readdir(list)) != NULL;) {
		if (entry->d_name[0] != '.') {
			status = load_file(page, dirfd(list), entry->d_name, fault);
		}
	}
	closedir(list);
	return status;
}

void page_free(struct page *page)
{
	if (page != NULL) {
		chi_arena_deinit(&page->arena);
	}
	free(page);
}

const struct page_file *page_find(const struct page *page, const char *path)
{
	path = strcmp(path, "/") == 0 ? "/index.html" : path;
	for (size_t i = 0; i < page->n; i++) {
		if (strcmp(page->files[i].name, path) == 0) {
			return &page->files[i];
		}
	}
	return NULL;
}
