/* SPDX-License-Identifier: MIT */
/* Files for the tests of the readers: written to a temporary name, packed or not. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

enum packing {
	PLAIN,
	GZIP,
	BZIP2,
	XZ,
	ZSTD,
	PACKINGS,
};

static inline bool set_packing(struct archive *archive, enum packing packing)
{
	switch (packing) {
	case GZIP:
		return archive_write_add_filter_gzip(archive) == ARCHIVE_OK;
	case BZIP2:
		return archive_write_add_filter_bzip2(archive) == ARCHIVE_OK;
	case XZ:
		return archive_write_add_filter_xz(archive) == ARCHIVE_OK;
	case ZSTD:
		return archive_write_add_filter_zstd(archive) == ARCHIVE_OK;
	default:
		return archive_write_add_filter_none(archive) == ARCHIVE_OK;
	}
}

/* Writes `len` bytes to a new file; its name, to be unlinked and freed, or NULL. */
static inline char *file_write(const void *bytes, size_t len, enum packing packing)
{
	char *path = strdup("/tmp/chi-test-XXXXXX");
	int fd = path != NULL ? mkstemp(path) : -1;
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_filetype(entry, AE_IFREG);
	bool good = fd >= 0 && set_packing(archive, packing) &&
		    archive_write_set_format_raw(archive) == ARCHIVE_OK &&
		    archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK &&
		    archive_write_open_fd(archive, fd) == ARCHIVE_OK &&
		    archive_write_header(archive, entry) == ARCHIVE_OK &&
		    archive_write_data(archive, bytes, len) == (la_ssize_t)len &&
		    archive_write_close(archive) == ARCHIVE_OK;
	archive_entry_free(entry);
	archive_write_free(archive);
	if (fd >= 0) {
		close(fd);
	}
	if (!good) {
		free(path);
		return NULL;
	}
	return path;
}

static inline void file_remove(char *path)
{
	unlink(path);
	free(path);
}
