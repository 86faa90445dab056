/* SPDX-License-Identifier: MIT */
/*
 * Bytes packed by gzip, bzip2, xz or zstd, unpacked by the library of each as they come. All
 * checksums and lengths that the bytes carry are compared. What is joined of several files (gzip's
 * members, zstd's frames) is one text; whatever else follows the end of one is damage.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

struct chi_codec;
struct chi_unpack;

/* So many bytes tell. */
#define CHI_CODEC_MAGIC 4

/* How what begins so is packed, or NULL. With less than CHI_CODEC_MAGIC bytes the answer is what it
 * may be: ask again with more. */
const struct chi_codec *chi_codec_of(const uint8_t *bytes, size_t len);

/* How a file of that name is expected to be packed, or NULL. */
const struct chi_codec *chi_codec_of_name(const char *path);
const char *chi_codec_name(const struct chi_codec *codec);

/* -CHI_EUNSUPPORTED (its library is not installed), -CHI_ENOMEM. */
CHI_MUSTUSE int chi_unpack_new(const struct chi_codec *codec, struct chi_unpack **out,
			       struct chi_fault *fault);

/* NULL is fine. */
void chi_unpack_free(struct chi_unpack *unpack);

/* Packed bytes that are not read yet. */
struct chi_packed_bytes {
	const uint8_t *at;
	size_t len;
	bool last; /* no more come after these */
};

/*
 * Unpacks into `out`, at most `room` bytes; *len is how many. None: all packed bytes are read, and
 * more are needed. CHI_NONE: the end, where nothing is missing. -CHI_EIO: the bytes are damaged or
 * cut; -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_unpack_read(struct chi_unpack *unpack, struct chi_packed_bytes *packed,
				uint8_t *out, size_t room, size_t *len, struct chi_fault *fault);
