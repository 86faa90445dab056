/* SPDX-License-Identifier: MIT */
/*
 * A codec is a row of a table: how its streams begin, and three functions. `step` moves input to
 * output once; that input is missing at the end, or that no bytes are left over, is seen here for
 * all of them.
 */
#include "formats/unpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bzlib.h>
#include <lzma.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/library.h"

/* What a file makes us hold while it is unpacked: twice what `xz -9` needs, and as much as zstd has
 * for its windows by itself. */
#define XZ_MEMORY ((uint64_t)128 << 20)

/* ---- The libraries ------------------------------------------------------------------------- */

/* Loaded by the first file that needs them; zstd is in every program, for games. */
#define ZLIB(CALL)                                                                                 \
	CALL(inflate) CALL(inflateEnd) CALL(inflateInit2_) CALL(inflateReset) CALL(zError)
#define BZIP2(CALL) CALL(BZ2_bzDecompress) CALL(BZ2_bzDecompressEnd) CALL(BZ2_bzDecompressInit)
#define LZMA(CALL)  CALL(lzma_code) CALL(lzma_end) CALL(lzma_stream_decoder)

static struct {
	ZLIB(CHI_LIBRARY_MEMBER)
} zlib;
static struct {
	BZIP2(CHI_LIBRARY_MEMBER)
} bzip2;
static struct {
	LZMA(CHI_LIBRARY_MEMBER)
} lzma;

static const char *const zlib_names[] = {ZLIB(CHI_LIBRARY_NAME)};
static const char *const bzip2_names[] = {BZIP2(CHI_LIBRARY_NAME)};
static const char *const lzma_names[] = {LZMA(CHI_LIBRARY_NAME)};

static struct chi_library libraries[] = {
	{"libz.so.1", "gzip's format needs zlib", zlib_names, CHI_COUNT(zlib_names), &zlib, false},
	{"libbz2.so.1.0", "bzip2's format needs libbz2", bzip2_names, CHI_COUNT(bzip2_names),
	 &bzip2, false},
	{"liblzma.so.5", "xz's format needs liblzma", lzma_names, CHI_COUNT(lzma_names), &lzma,
	 false},
};

enum step {
	STEP_MORE,
	STEP_ENDED, /* a stream: nothing, or another one follows */
	STEP_BAD,   /* `why` of the state says why; NULL: no memory */
};

/* What one step reads and writes. */
struct span {
	const uint8_t *in;
	size_t in_len;
	bool last;
	uint8_t *out;
	size_t room;
};

struct chi_unpack {
	const struct chi_codec *codec;
	uint64_t read; /* packed bytes, for messages */
	bool inside;   /* of a stream */
	bool open;     /* `close` has something to free */
	const char *why;
	union {
		z_stream gzip;
		bz_stream bzip2;
		lzma_stream xz;
		ZSTD_DStream *zstd;
	} as;
};

struct chi_codec {
	const char *name;
	const char *suffix;
	struct chi_library *library; /* NULL: none is to be loaded */
	const char *magic;
	size_t n_magic;
	uint8_t first;				  /* bits of the first byte that count */
	bool (*begin)(struct chi_unpack *unpack); /* a stream; false: no memory */
	enum step (*step)(struct chi_unpack *unpack, struct span *span);
	void (*close)(struct chi_unpack *unpack);
};

static enum step bad(struct chi_unpack *unpack, const char *why)
{
	unpack->why = why;
	return STEP_BAD;
}

/* ---- gzip ----------------------------------------------------------------------------------- */

/* zlib's header and both of gzip's checks, CRC and length. */
#define GZIP_WINDOW (15 + 16)

static bool gzip_begin(struct chi_unpack *unpack)
{
	z_stream *z = &unpack->as.gzip;
	return (unpack->open
			? zlib.inflateReset(z)
			: zlib.inflateInit2_(z, GZIP_WINDOW, ZLIB_VERSION, sizeof(*z))) == Z_OK;
}

static enum step gzip_step(struct chi_unpack *unpack, struct span *span)
{
	z_stream *z = &unpack->as.gzip;
	z->next_in = span->in;
	z->avail_in = (uInt)span->in_len;
	z->next_out = span->out;
	z->avail_out = (uInt)span->room;
	int rc = zlib.inflate(z, Z_NO_FLUSH);
	span->in = z->next_in;
	span->in_len = z->avail_in;
	span->out = z->next_out;
	span->room = z->avail_out;
	if (rc == Z_STREAM_END) {
		return STEP_ENDED;
	}
	if (rc == Z_MEM_ERROR) {
		return bad(unpack, NULL);
	}
	return rc == Z_OK || rc == Z_BUF_ERROR
		       ? STEP_MORE
		       : bad(unpack, z->msg != NULL ? z->msg : zlib.zError(rc));
}

static void gzip_close(struct chi_unpack *unpack)
{
	(void)zlib.inflateEnd(&unpack->as.gzip);
}

/* ---- bzip2 ---------------------------------------------------------------------------------- */

static void bzip2_close(struct chi_unpack *unpack)
{
	(void)bzip2.BZ2_bzDecompressEnd(&unpack->as.bzip2);
}

static bool bzip2_begin(struct chi_unpack *unpack)
{
	if (unpack->open) {
		bzip2_close(unpack);
	}
	unpack->as.bzip2 = (bz_stream){.bzalloc = NULL};
	return bzip2.BZ2_bzDecompressInit(&unpack->as.bzip2, 0, 0) == BZ_OK;
}

static enum step bzip2_step(struct chi_unpack *unpack, struct span *span)
{
	bz_stream *bz = &unpack->as.bzip2;
	bz->next_in = (char *)(uintptr_t)span->in;
	bz->avail_in = (unsigned)span->in_len;
	bz->next_out = (char *)span->out;
	bz->avail_out = (unsigned)span->room;
	int rc = bzip2.BZ2_bzDecompress(bz);
	span->in = (const uint8_t *)bz->next_in;
	span->in_len = bz->avail_in;
	span->out = (uint8_t *)bz->next_out;
	span->room = bz->avail_out;
	switch (rc) {
	case BZ_OK:
		return STEP_MORE;
	case BZ_STREAM_END:
		return STEP_ENDED;
	case BZ_MEM_ERROR:
		return bad(unpack, NULL);
	case BZ_DATA_ERROR_MAGIC:
		return bad(unpack, "not the beginning of a file");
	default:
		return bad(unpack, "a block is damaged, or its checksum differs");
	}
}

/* ---- xz ------------------------------------------------------------------------------------- */

/* Joined streams, with the padding that may be between them, are read on by the library. */
static bool xz_begin(struct chi_unpack *unpack)
{
	if (!unpack->open) {
		unpack->as.xz = (lzma_stream)LZMA_STREAM_INIT;
	}
	return lzma.lzma_stream_decoder(&unpack->as.xz, XZ_MEMORY,
					LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
}

static enum step xz_step(struct chi_unpack *unpack, struct span *span)
{
	lzma_stream *xz = &unpack->as.xz;
	xz->next_in = span->in;
	xz->avail_in = span->in_len;
	xz->next_out = span->out;
	xz->avail_out = span->room;
	lzma_ret rc = lzma.lzma_code(xz, span->last ? LZMA_FINISH : LZMA_RUN);
	span->in = xz->next_in;
	span->in_len = xz->avail_in;
	span->out = xz->next_out;
	span->room = xz->avail_out;
	switch (rc) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return STEP_MORE;
	case LZMA_STREAM_END:
		return STEP_ENDED;
	case LZMA_MEM_ERROR:
		return bad(unpack, NULL);
	case LZMA_MEMLIMIT_ERROR:
		return bad(unpack, "unpacking it takes more than 128 MiB of memory");
	case LZMA_FORMAT_ERROR:
		return bad(unpack, "not the beginning of a file");
	case LZMA_OPTIONS_ERROR:
	case LZMA_UNSUPPORTED_CHECK:
		return bad(unpack, "its options or its kind of checksum are not known");
	default:
		return bad(unpack, "a block is damaged, or its checksum differs");
	}
}

static void xz_close(struct chi_unpack *unpack)
{
	lzma.lzma_end(&unpack->as.xz);
}

/* ---- zstd ----------------------------------------------------------------------------------- */

static bool zstd_begin(struct chi_unpack *unpack)
{
	if (!unpack->open) {
		unpack->as.zstd = ZSTD_createDStream();
	}
	return unpack->as.zstd != NULL;
}

static enum step zstd_step(struct chi_unpack *unpack, struct span *span)
{
	ZSTD_inBuffer in = {span->in, span->in_len, 0};
	ZSTD_outBuffer out = {span->out, span->room, 0};
	size_t rc = ZSTD_decompressStream(unpack->as.zstd, &out, &in);
	span->in += in.pos;
	span->in_len -= in.pos;
	span->out += out.pos;
	span->room -= out.pos;
	if (ZSTD_isError(rc)) {
		bool memory = ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation;
		return bad(unpack, memory ? NULL : ZSTD_getErrorName(rc));
	}
	return rc == 0 ? STEP_ENDED : STEP_MORE;
}

static void zstd_close(struct chi_unpack *unpack)
{
	(void)ZSTD_freeDStream(unpack->as.zstd);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static const struct chi_codec codecs[] = {
	{"gzip", ".gz", &libraries[0], "\x1f\x8b", 2, 0xff, gzip_begin, gzip_step, gzip_close},
	{"bzip2", ".bz2", &libraries[1], "BZh", 3, 0xff, bzip2_begin, bzip2_step, bzip2_close},
	{"xz", ".xz", &libraries[2], "\xfd\x37zX", 4, 0xff, xz_begin, xz_step, xz_close},
	{"zstd", ".zst", NULL, "\x28\xb5\x2f\xfd", 4, 0xff, zstd_begin, zstd_step, zstd_close},
	/* A frame that is to be skipped. */
	{"zstd", ".zst", NULL, "\x50\x2a\x4d\x18", 4, 0xf0, zstd_begin, zstd_step, zstd_close},
};

const struct chi_codec *chi_codec_of(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < CHI_COUNT(codecs) && len > 0; i++) {
		const struct chi_codec *codec = &codecs[i];
		size_t n = len < codec->n_magic ? len : codec->n_magic;
		if ((bytes[0] & codec->first) == (uint8_t)codec->magic[0] &&
		    memcmp(bytes + 1, codec->magic + 1, n - 1) == 0) {
			return codec;
		}
	}
	return NULL;
}

const struct chi_codec *chi_codec_of_name(const char *path)
{
	size_t len = strlen(path);
	for (size_t i = 0; i < CHI_COUNT(codecs); i++) {
		size_t n = strlen(codecs[i].suffix);
		if (len > n && strcmp(path + len - n, codecs[i].suffix) == 0) {
			return &codecs[i];
		}
	}
	return NULL;
}

const char *chi_codec_name(const struct chi_codec *codec)
{
	return codec->name;
}

int chi_unpack_new(const struct chi_codec *codec, struct chi_unpack **out, struct chi_fault *fault)
{
	*out = NULL;
	int status = codec->library != NULL ? chi_library_load(codec->library, fault) : CHI_OK;
	struct chi_unpack *unpack = status == CHI_OK ? calloc(1, sizeof(*unpack)) : NULL;
	if (unpack == NULL) {
		return status < 0 ? status : chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*out = unpack;
	unpack->codec = codec;
	return CHI_OK;
}

void chi_unpack_free(struct chi_unpack *unpack)
{
	if (unpack != NULL && unpack->open) {
		unpack->codec->close(unpack);
	}
	free(unpack);
}

static int cut_short(const struct chi_unpack *unpack, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_EIO, "after %" PRIu64 " bytes the compressed data is cut short",
			unpack->read);
}

/* One step; *moved: something was read or written. */
static int unpack_step(struct chi_unpack *unpack, struct span *span, bool *moved,
		       struct chi_fault *fault)
{
	size_t in_len = span->in_len;
	size_t room = span->room;
	enum step step = unpack->codec->step(unpack, span);
	unpack->read += in_len - span->in_len;
	unpack->inside = step != STEP_ENDED;
	*moved = in_len != span->in_len || room != span->room || !unpack->inside;
	if (step != STEP_BAD) {
		return CHI_OK;
	}
	return unpack->why == NULL
		       ? chi_fault_plain(fault, -CHI_ENOMEM)
		       : chi_fail(fault, -CHI_EIO, "the %s data is damaged at byte %" PRIu64 ": %s",
				  unpack->codec->name, unpack->read, unpack->why);
}

int chi_unpack_read(struct chi_unpack *unpack, struct chi_packed_bytes *packed, uint8_t *out,
		    size_t room, size_t *len, struct chi_fault *fault)
{
	struct span span = {packed->at, packed->len, packed->last, out, room};
	bool moved = true;
	int rc = CHI_OK;
	while (rc == CHI_OK && moved && span.room > 0) {
		if (!unpack->inside && span.in_len == 0) {
			rc = packed->last && span.room == room ? CHI_NONE : CHI_OK;
			break;
		}
		if (!unpack->inside) {
			if (!unpack->codec->begin(unpack)) {
				return chi_fault_plain(fault, -CHI_ENOMEM);
			}
			unpack->open = true;
		}
		rc = unpack_step(unpack, &span, &moved, fault);
	}
	packed->at = span.in;
	packed->len = span.in_len;
	*len = room - span.room;
	if (rc == CHI_OK && !moved && *len == 0 && (packed->last || packed->len > 0)) {
		return cut_short(unpack, fault);
	}
	return rc;
}
