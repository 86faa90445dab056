/* SPDX-License-Identifier: MIT */
/*
 * Bodies to the bytes of a chunk and back:
 *
 *	0 checksum (4)  rows (varint)  length of all moves, shapes, texts (3 varints)  zstd frame
 *
 * The frame holds the moves one after the other; then of each row the length of its moves, of each
 * the length of its shape, of each the length of its texts (varints); then the shapes, then the
 * texts. Its first block ends after the moves: their bytes are of a kind of their own, and so are
 * their Huffman codes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "store/games/bodies_priv.h"
#include "store/games/number.h"
#include "store/lmdb_err.h"
#include "store/record/checksum.h"

/* Higher levels find little more in moves. */
#define LEVEL 1

#define HEAD_MAX  (4 + 4 * 5)
#define SIZES_MAX ((size_t)3 * 5 * CHI_BODIES_ROWS)

void bodies_deinit(struct bodies *bodies)
{
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		free(bodies->bytes[p]);
		bodies->bytes[p] = NULL;
		bodies->room[p] = 0;
	}
	bodies->n = 0;
}

void bodies_coder_deinit(struct bodies_coder *coder)
{
	ZSTD_freeCCtx(coder->compressor);
	ZSTD_freeDCtx(coder->expander);
	free(coder->bytes);
	*coder = (struct bodies_coder){0};
}

/* Room for so many bytes, which are not kept from before. */
static bool have(uint8_t **bytes, size_t *room, size_t len)
{
	if (*room >= len) {
		return true;
	}
	size_t more = len < ((size_t)1 << 16) ? (size_t)1 << 16 : len + len / 4;
	uint8_t *moved = realloc(*bytes, more);
	if (moved == NULL) {
		return false;
	}
	*bytes = moved;
	*room = more;
	return true;
}

int bodies_add(struct bodies *bodies, const struct chi_body *body)
{
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		uint32_t *ends = bodies->ends[p];
		ends[0] = 0;
		size_t end = ends[bodies->n];
		size_t len = body->parts[p].len;
		if (!have(&bodies->bytes[p], &bodies->room[p], end + len + 1)) {
			return -CHI_ENOMEM;
		}
		if (len > 0) {
			memcpy(bodies->bytes[p] + end, body->parts[p].bytes, len);
		}
		ends[bodies->n + 1] = (uint32_t)(end + len);
	}
	bodies->n++;
	return CHI_OK;
}

void bodies_drop(struct bodies *bodies, uint32_t n)
{
	for (size_t p = 0; p < CHI_BODY_PARTS && n > 0; p++) {
		uint32_t *ends = bodies->ends[p];
		uint32_t from = ends[n];
		memmove(bodies->bytes[p], bodies->bytes[p] + from, ends[bodies->n] - from);
		for (uint32_t i = n; i <= bodies->n; i++) {
			ends[i - n] = ends[i] - from;
		}
	}
	bodies->first += n;
	bodies->n -= n;
}

/* ---- Packing ----------------------------------------------------------------------------- */

static size_t write_sizes(const struct bodies *bodies, uint32_t n, uint8_t *out)
{
	struct chi_writer to = chi_writer_of(out, SIZES_MAX);
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		for (uint32_t i = 0; i < n; i++) {
			chi_write_varint(&to, bodies->ends[p][i + 1] - bodies->ends[p][i]);
		}
	}
	return (size_t)(to.at - out);
}

/* Gives zstd some bytes; false if it fails. */
static bool feed_frame(ZSTD_CCtx *to, ZSTD_outBuffer *out, const void *bytes, size_t len,
		       ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {.src = bytes, .size = len};
	size_t left = ZSTD_compressStream2(to, out, &in, end);
	return !ZSTD_isError(left) && in.pos == len && (end == ZSTD_e_continue || left == 0);
}

static bool compress(ZSTD_CCtx *to, const struct bodies *bodies, uint32_t n, ZSTD_outBuffer *out)
{
	uint8_t sizes[SIZES_MAX];
	size_t sizes_len = write_sizes(bodies, n, sizes);
	size_t all = sizes_len;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		all += bodies->ends[p][n];
	}
	(void)ZSTD_CCtx_reset(to, ZSTD_reset_session_and_parameters);
	return !ZSTD_isError(ZSTD_CCtx_setParameter(to, ZSTD_c_compressionLevel, LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(to, ZSTD_c_contentSizeFlag, 0)) &&
	       !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(to, all)) &&
	       feed_frame(to, out, bodies->bytes[CHI_BODY_MOVES], bodies->ends[CHI_BODY_MOVES][n],
			  ZSTD_e_flush) &&
	       feed_frame(to, out, sizes, sizes_len, ZSTD_e_continue) &&
	       feed_frame(to, out, bodies->bytes[CHI_BODY_SHAPE], bodies->ends[CHI_BODY_SHAPE][n],
			  ZSTD_e_continue) &&
	       feed_frame(to, out, bodies->bytes[CHI_BODY_TEXTS], bodies->ends[CHI_BODY_TEXTS][n],
			  ZSTD_e_end);
}

static uint32_t checksum_of(const MDB_val *key, const uint8_t *bytes, size_t len)
{
	return (uint32_t)chi_checksum_apart(key->mv_data, key->mv_size, bytes, len);
}

void bodies_sign(const MDB_val *key, uint8_t *bytes, size_t len)
{
	struct chi_writer to = chi_writer_of(bytes, 4);
	chi_write_le(&to, checksum_of(key, bytes + 4, len - 4), 4);
}

int bodies_pack(struct bodies_coder *coder, const struct bodies *bodies, uint32_t n, MDB_val *out)
{
	size_t all = SIZES_MAX;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		all += bodies->ends[p][n];
	}
	size_t room = HEAD_MAX + ZSTD_compressBound(all) + 64;
	if (coder->compressor == NULL) {
		coder->compressor = ZSTD_createCCtx();
	}
	if (coder->compressor == NULL || !have(&coder->bytes, &coder->room, room)) {
		return -CHI_ENOMEM;
	}
	struct chi_writer to = chi_writer_of(coder->bytes, HEAD_MAX);
	chi_write_le(&to, 0, 4);
	chi_write_varint(&to, n);
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		chi_write_varint(&to, bodies->ends[p][n]);
	}
	ZSTD_outBuffer frame = {.dst = to.at, .size = room - (size_t)(to.at - coder->bytes)};
	if (!compress(coder->compressor, bodies, n, &frame)) {
		return -CHI_ENOMEM;
	}
	size_t len = (size_t)(to.at - coder->bytes) + frame.pos;
	uint8_t number[CHI_NUMBER_SIZE];
	chi_number_key(bodies->first, number);
	MDB_val key = chi_val(number, sizeof(number));
	bodies_sign(&key, coder->bytes, len);
	*out = chi_val(coder->bytes, len);
	return CHI_OK;
}

/* ---- Unpacking --------------------------------------------------------------------------- */

struct lengths {
	uint32_t n;
	uint32_t parts[CHI_BODY_PARTS];
	size_t all;
};

static bool read_lengths(struct chi_reader *from, struct lengths *out)
{
	uint64_t n = chi_read_small(from);
	out->all = 0;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		uint64_t len = chi_read_small(from);
		if (len > BODIES_RAW_MAX) {
			return false;
		}
		out->parts[p] = (uint32_t)len;
		out->all += (size_t)len;
	}
	out->n = (uint32_t)n;
	return !from->bad && n >= 1 && n <= CHI_BODIES_ROWS && out->all <= BODIES_RAW_MAX;
}

/* Where each row of each part begins; false if they are not as long as all together. */
static bool read_sizes(struct chi_reader *from, const struct lengths *lengths,
		       struct bodies *bodies)
{
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		uint64_t end = 0;
		bodies->ends[p][0] = 0;
		for (uint32_t i = 0; i < lengths->n; i++) {
			end += chi_read_small(from) & UINT32_MAX;
			if (end > lengths->parts[p]) {
				return false;
			}
			bodies->ends[p][i + 1] = (uint32_t)end;
		}
		if (end != lengths->parts[p]) {
			return false;
		}
	}
	return !from->bad;
}

/* Takes the parts out of the bytes of the frame, which begins with the moves and is where these
 * stay.
 */
static int take_parts(size_t len, const struct lengths *lengths, struct bodies *bodies)
{
	struct chi_reader from = chi_reader_of(bodies->bytes[CHI_BODY_MOVES], len);
	if (chi_read_bytes(&from, lengths->parts[CHI_BODY_MOVES]) == NULL ||
	    !read_sizes(&from, lengths, bodies) ||
	    chi_reader_left(&from) !=
		    lengths->parts[CHI_BODY_SHAPE] + lengths->parts[CHI_BODY_TEXTS]) {
		return -CHI_ECORRUPT;
	}
	for (size_t p = CHI_BODY_MOVES + 1; p < CHI_BODY_PARTS; p++) {
		size_t part = lengths->parts[p];
		if (!have(&bodies->bytes[p], &bodies->room[p], part + 1)) {
			return -CHI_ENOMEM;
		}
		memcpy(bodies->bytes[p], chi_read_bytes(&from, part), part);
	}
	bodies->n = lengths->n;
	return CHI_OK;
}

int bodies_unpack(struct bodies_coder *coder, const MDB_val *key, const MDB_val *value,
		  struct bodies *bodies)
{
	struct chi_reader from = chi_reader_of(value->mv_data, value->mv_size);
	struct lengths lengths;
	bodies->n = 0;
	uint32_t checksum = (uint32_t)chi_read_le(&from, 4);
	if (key->mv_size != CHI_NUMBER_SIZE || from.bad ||
	    checksum != checksum_of(key, from.at, chi_reader_left(&from)) ||
	    !read_lengths(&from, &lengths)) {
		return -CHI_ECORRUPT;
	}
	bodies->first = chi_number_of(key->mv_data);
	if (bodies->first == 0 || bodies->first + (lengths.n - 1) < bodies->first) {
		return -CHI_ECORRUPT;
	}
	size_t room = lengths.all + SIZES_MAX;
	if (coder->expander == NULL) {
		coder->expander = ZSTD_createDCtx();
	}
	uint8_t **moves = &bodies->bytes[CHI_BODY_MOVES];
	if (coder->expander == NULL || !have(moves, &bodies->room[CHI_BODY_MOVES], room)) {
		return -CHI_ENOMEM;
	}
	size_t len =
		ZSTD_decompressDCtx(coder->expander, *moves, room, from.at, chi_reader_left(&from));
	return ZSTD_isError(len) ? -CHI_ECORRUPT : take_parts(len, &lengths, bodies);
}
