/* SPDX-License-Identifier: MIT */
/* Files for the tests of the readers: written to a temporary name, packed or not. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

enum packing {
	PLAIN,
	GZIP,
	BZIP2,
	XZ,
	ZSTD,
	PACKINGS,
};

static inline size_t pack_gzip(const void *bytes, size_t len, uint8_t *out, size_t room)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
		      .avail_in = (uInt)len,
		      .next_out = out,
		      .avail_out = (uInt)room};
	bool good = deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK &&
		    deflate(&z, Z_FINISH) == Z_STREAM_END;
	size_t n = good ? room - z.avail_out : 0;
	(void)deflateEnd(&z);
	return n;
}

static inline size_t pack_bzip2(const void *bytes, size_t len, uint8_t *out, size_t room)
{
	unsigned n = (unsigned)room;
	char *from = (char *)(uintptr_t)bytes;
	return BZ2_bzBuffToBuffCompress((char *)out, &n, from, (unsigned)len, 1, 0, 0) == BZ_OK ? n
												: 0;
}

static inline size_t pack_xz(const void *bytes, size_t len, uint8_t *out, size_t room)
{
	size_t n = 0;
	lzma_ret rc = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, (const uint8_t *)bytes,
					      len, out, &n, room);
	return rc == LZMA_OK ? n : 0;
}

/* With a checksum, as the program of that name does. */
static inline size_t pack_zstd(const void *bytes, size_t len, uint8_t *out, size_t room)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	size_t n = ZSTD_compress2(zstd, out, room, bytes, len);
	(void)ZSTD_freeCCtx(zstd);
	return ZSTD_isError(n) ? 0 : n;
}

/* The bytes packed, to be freed; *n is their number. NULL: it failed. */
static inline uint8_t *packed(const void *bytes, size_t len, enum packing packing, size_t *n)
{
	size_t room = len + len / 8 + 4096;
	uint8_t *out = malloc(room);
	switch (out != NULL ? packing : PACKINGS) {
	case PLAIN:
		*n = len;
		memcpy(out, bytes, len);
		return out;
	case GZIP:
		*n = pack_gzip(bytes, len, out, room);
		break;
	case BZIP2:
		*n = pack_bzip2(bytes, len, out, room);
		break;
	case XZ:
		*n = pack_xz(bytes, len, out, room);
		break;
	case ZSTD:
		*n = pack_zstd(bytes, len, out, room);
		break;
	default:
		*n = 0;
	}
	if (*n == 0) {
		free(out);
		return NULL;
	}
	return out;
}

/* Writes `len` bytes to a new file of a name that ends so; the name, to be unlinked and freed, or
 * NULL. */
static inline char *file_named(const void *bytes, size_t len, const char *suffix)
{
	char *path = NULL;
	int fd = asprintf(&path, "/tmp/chi-test-XXXXXX%s", suffix) > 0
			 ? mkstemps(path, (int)strlen(suffix))
			 : -1;
	bool good = fd >= 0 && write(fd, bytes, len) == (ssize_t)len;
	if (fd >= 0) {
		close(fd);
	}
	if (!good) {
		free(path);
		return NULL;
	}
	return path;
}

/* The same of the bytes packed. */
static inline char *file_write(const void *bytes, size_t len, enum packing packing)
{
	size_t n = 0;
	uint8_t *out = packed(bytes, len, packing, &n);
	char *path = out != NULL ? file_named(out, n, "") : NULL;
	free(out);
	return path;
}

static inline void file_remove(char *path)
{
	unlink(path);
	free(path);
}
