/* SPDX-License-Identifier: MIT */
/* A chunk of bodies in memory, and its bytes (FORMAT.md, "Games tree"). */
#pragma once

#include <zstd.h>

#include "store/games/bodies.h"

/* Bytes of a chunk's bodies at most. */
#define BODIES_RAW_MAX (CHI_BODY_MAX + (64u << 10))

/* Bodies part by part. ends[p][i] is where the one of row i begins in bytes[p], and that of row
 * i - 1 ends. */
struct bodies {
	uint32_t first;
	uint32_t n;
	uint32_t ends[CHI_BODY_PARTS][CHI_BODIES_ROWS + 1];
	uint8_t *bytes[CHI_BODY_PARTS];
	size_t room[CHI_BODY_PARTS];
};

void bodies_deinit(struct bodies *bodies);

/* Appends a row. -CHI_ENOMEM. */
CHI_MUSTUSE int bodies_add(struct bodies *bodies, const struct chi_body *body);

/* Drops the first `n` rows. */
void bodies_drop(struct bodies *bodies, uint32_t n);

/* `row` < bodies->n. A removed one has no shape. */
static inline struct chi_body bodies_at(const struct bodies *bodies, uint32_t row)
{
	struct chi_body body;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		const uint32_t *ends = bodies->ends[p];
		body.parts[p] = (struct chi_span){
			.bytes = bodies->bytes[p] != NULL ? bodies->bytes[p] + ends[row] : NULL,
			.len = ends[row + 1] - ends[row],
		};
	}
	return body;
}

/* Where chunks are packed and unpacked. Zeroed at the start. */
struct bodies_coder {
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *expander;
	uint8_t *bytes;
	size_t room;
};

void bodies_coder_deinit(struct bodies_coder *coder);

/* The first `n` rows as the bytes of a chunk, in the coder's memory. -CHI_ENOMEM. */
CHI_MUSTUSE int bodies_pack(struct bodies_coder *coder, const struct bodies *bodies, uint32_t n,
			    MDB_val *out);

/* Puts the checksum into a chunk's first four bytes. */
void bodies_sign(const MDB_val *key, uint8_t *bytes, size_t len);

/* Verifies a chunk and makes it the bodies. -CHI_ECORRUPT, -CHI_ENOMEM: then they are none. */
CHI_MUSTUSE int bodies_unpack(struct bodies_coder *coder, const MDB_val *key, const MDB_val *value,
			      struct bodies *bodies);
