/* SPDX-License-Identifier: MIT */
#include "http/net/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* The fastest: a loop waits for it. */
#define GZIP_LEVEL 1
#define ZSTD_LEVEL 1
#define STEP	   ((size_t)16 << 10)

struct pack {
	ZSTD_CStream *zstd; /* NULL: gzip */
	z_stream gzip;
};

struct pack *pack_new(bool zstd)
{
	struct pack *pack = calloc(1, sizeof(*pack));
	bool fine = false;
	if (pack != NULL && zstd) {
		pack->zstd = ZSTD_createCStream();
		fine = pack->zstd != NULL &&
		       !ZSTD_isError(ZSTD_initCStream(pack->zstd, ZSTD_LEVEL));
	} else if (pack != NULL) {
		fine = deflateInit2(&pack->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
				    Z_DEFAULT_STRATEGY) == Z_OK;
	}
	if (!fine) {
		pack_free(pack);
		return NULL;
	}
	return pack;
}

size_t pack_gzip(int level, const void *bytes, size_t len, void *out)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
		      .avail_in = (uInt)len,
		      .next_out = out,
		      .avail_out = (uInt)len};
	if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		return 0;
	}
	size_t n = deflate(&z, Z_FINISH) == Z_STREAM_END ? z.total_out : 0;
	deflateEnd(&z);
	return n;
}

void pack_free(struct pack *pack)
{
	if (pack != NULL) {
		ZSTD_freeCStream(pack->zstd);
		deflateEnd(&pack->gzip);
		free(pack);
	}
}

/* Into `room` bytes; *used of the input. True: nothing more is to come of it. */
static bool step_zstd(struct pack *pack, ZSTD_inBuffer *in, bool last, uint8_t *out, size_t room,
		      size_t *made)
{
	ZSTD_outBuffer packed = {.dst = out, .size = room};
	size_t left =
		ZSTD_compressStream2(pack->zstd, &packed, in, last ? ZSTD_e_end : ZSTD_e_flush);
	*made = packed.pos;
	return left == 0 || ZSTD_isError(left);
}

static bool step_gzip(struct pack *pack, ZSTD_inBuffer *in, bool last, uint8_t *out, size_t room,
		      size_t *made)
{
	z_stream *z = &pack->gzip;
	z->next_in = (Bytef *)(uintptr_t)in->src + in->pos;
	z->avail_in = (uInt)(in->size - in->pos);
	z->next_out = out;
	z->avail_out = (uInt)room;
	int status = deflate(z, last ? Z_FINISH : Z_SYNC_FLUSH);
	*made = room - z->avail_out;
	in->pos = in->size - z->avail_in;
	return last ? status == Z_STREAM_END : z->avail_out > 0;
}

int pack_add(struct pack *pack, const void *bytes, size_t len, bool last, struct chi_buffer *out)
{
	ZSTD_inBuffer in = {.src = bytes, .size = len};
	bool done = len == 0 && !last;
	while (!done) {
		size_t made = 0;
		uint8_t *room = chi_buffer_reserve(out, STEP);
		if (room == NULL) {
			return -CHI_ENOMEM;
		}
		done = pack->zstd != NULL ? step_zstd(pack, &in, last, room, STEP, &made)
					  : step_gzip(pack, &in, last, room, STEP, &made);
		chi_buffer_added(out, made);
	}
	return CHI_OK;
}
