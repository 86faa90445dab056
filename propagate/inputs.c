/* SPDX-License-Identifier: MIT */
#include "propagate/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/fault.h"
#include "base/wire.h"
#include "chess/key.h"
#include "propagate/evals.h"

#define MAGIC	 "chiback2"
#define HEAD_MAX (8 + 16 + 2 + 1 + CHI_ENGINE_MAX)
#define TAIL	 (1 + 8)

enum input_flag {
	POSITION = 1,
	DIRECT = 2,
	FIRST = 4,
	FULL = 8,
	FLAGS = 15,
};

struct stream {
	FILE *file;
	XXH3_state_t *hash;
	uint64_t count;
	struct chi_key last;
};

struct chi_inputs_reader {
	struct stream stream;
	struct chi_input input;
};

struct chi_inputs_writer {
	struct stream stream;
};

struct chi_input chi_input_of(const struct chi_key *key, const struct chi_record *record,
			      const char *name)
{
	const struct chi_eval *eval = chi_eval_direct(record);
	return (struct chi_input){.key = *key,
				  .direct = chi_worth_direct(eval),
				  .first = eval != NULL && eval->n_pv > 0 ? eval->pv[0] : 0,
				  .full = !chi_eval_fits(record, name)};
}

static int stream_init(struct stream *stream, FILE *file)
{
	*stream = (struct stream){.file = file, .hash = XXH3_createState()};
	if (stream->hash == NULL || XXH3_64bits_reset(stream->hash) != XXH_OK) {
		return -CHI_ENOMEM;
	}
	return CHI_OK;
}

static size_t head_bytes(const struct chi_inputs_of *of, uint8_t out[HEAD_MAX])
{
	size_t len = strlen(of->engine);
	memcpy(out, MAGIC, 8);
	memcpy(out + 8, of->uuid, 16);
	out[24] = (uint8_t)of->decay;
	out[25] = (uint8_t)(of->decay >> 8);
	out[26] = (uint8_t)len;
	memcpy(out + 27, of->engine, len);
	return 27 + len;
}

static void put_le(uint8_t *out, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++) {
		out[i] = (uint8_t)(value >> (8 * i));
	}
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_bytes(struct stream *stream, void *out, size_t len, struct chi_fault *fault)
{
	if (fread(out, 1, len, stream->file) != len) {
		return ferror(stream->file) != 0
			       ? chi_fail(fault, -CHI_EIO, "cannot read: %s", strerror(errno))
			       : chi_fail(fault, -CHI_ECORRUPT, "the file is cut short");
	}
	(void)XXH3_64bits_update(stream->hash, out, len);
	return CHI_OK;
}

static int damaged(const struct stream *stream, const char *what, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ECORRUPT, "%s after %llu positions", what,
			(unsigned long long)stream->count);
}

static int check_head(struct stream *stream, const struct chi_inputs_of *of,
		      struct chi_fault *fault)
{
	uint8_t expected[HEAD_MAX];
	uint8_t head[HEAD_MAX];
	size_t len = head_bytes(of, expected);
	int rc = read_bytes(stream, head, 27, fault);
	if (rc == CHI_OK && memcmp(head, MAGIC, 8) != 0) {
		rc = chi_fail(fault, -CHI_ECORRUPT, "not a file of 'propagate'");
	}
	if (rc == CHI_OK && memcmp(head, expected, 24) != 0) {
		rc = chi_fail(fault, -CHI_EINVAL, "it is of another store");
	}
	if (rc == CHI_OK && memcmp(head, expected, 26) != 0) {
		rc = chi_fail(fault, -CHI_EINVAL, "it is of a run with --decay %u",
			      (unsigned)(head[24] | head[25] << 8));
	}
	if (rc == CHI_OK && (head[26] == 0 || head[26] > CHI_ENGINE_MAX)) {
		rc = chi_fail(fault, -CHI_ECORRUPT, "a name of %u bytes", head[26]);
	}
	rc = rc == CHI_OK ? read_bytes(stream, head + 27, head[26], fault) : rc;
	if (rc == CHI_OK && (head[26] != expected[26] || memcmp(head, expected, len) != 0)) {
		rc = chi_fail(fault, -CHI_EINVAL, "it is of a run with --engine '%.*s'", head[26],
			      (const char *)head + 27);
	}
	return rc;
}

int chi_inputs_open(FILE *file, const struct chi_inputs_of *of, struct chi_inputs_reader **out,
		    struct chi_fault *fault)
{
	*out = calloc(1, sizeof(**out));
	int rc = *out != NULL ? stream_init(&(*out)->stream, file) : -CHI_ENOMEM;
	rc = rc == CHI_OK ? check_head(&(*out)->stream, of, fault) : chi_fault_plain(fault, rc);
	if (rc != CHI_OK) {
		chi_inputs_close(*out);
		*out = NULL;
	}
	return rc;
}

void chi_inputs_close(struct chi_inputs_reader *reader)
{
	if (reader != NULL) {
		(void)XXH3_freeState(reader->stream.hash);
		free(reader);
	}
}

static int read_end(struct stream *stream, struct chi_fault *fault)
{
	uint8_t bytes[8];
	int rc = read_bytes(stream, bytes, 8, fault);
	struct chi_reader number = chi_reader_of(bytes, 8);
	if (rc == CHI_OK && chi_read_le(&number, 8) != stream->count) {
		rc = damaged(stream, "a wrong number", fault);
	}
	uint64_t hash = XXH3_64bits_digest(stream->hash);
	rc = rc == CHI_OK ? read_bytes(stream, bytes, 8, fault) : rc;
	number = chi_reader_of(bytes, 8);
	if (rc == CHI_OK && (chi_read_le(&number, 8) != hash || fgetc(stream->file) != EOF)) {
		rc = damaged(stream, "a wrong checksum", fault);
	}
	return rc == CHI_OK ? CHI_NONE : rc;
}

static int read_key(struct stream *stream, struct chi_key *key, struct chi_fault *fault)
{
	uint8_t lengths[2];
	int rc = read_bytes(stream, lengths, 2, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	size_t len = (size_t)lengths[0] + lengths[1];
	if (lengths[0] > stream->last.len || len < CHI_KEY_MIN || len > CHI_KEY_MAX) {
		return damaged(stream, "a wrong length", fault);
	}
	*key = (struct chi_key){.len = (uint8_t)len};
	memcpy(key->bytes, stream->last.bytes, lengths[0]);
	rc = read_bytes(stream, key->bytes + lengths[0], lengths[1], fault);
	if (rc == CHI_OK && (!chi_key_shape_ok(key->bytes, key->len) ||
			     memcmp(key->bytes, stream->last.bytes, CHI_KEY_MAX) <= 0)) {
		rc = damaged(stream, "a wrong key", fault);
	}
	stream->last = *key;
	return rc;
}

int chi_inputs_next(struct chi_inputs_reader *reader, const struct chi_input **out,
		    struct chi_fault *fault)
{
	struct stream *stream = &reader->stream;
	struct chi_input *input = &reader->input;
	uint8_t flags;
	uint8_t bytes[6] = {0};
	*out = input;
	int rc = read_bytes(stream, &flags, 1, fault);
	if (rc != CHI_OK || flags == 0) {
		return rc != CHI_OK ? rc : read_end(stream, fault);
	}
	if (flags > FLAGS || (flags & POSITION) == 0 || (flags & (DIRECT | FIRST)) == FIRST) {
		return damaged(stream, "wrong flags", fault);
	}
	*input = (struct chi_input){.full = (flags & FULL) != 0, .direct = CHI_WORTH_NONE};
	rc = read_key(stream, &input->key, fault);
	if (rc == CHI_OK && (flags & DIRECT) != 0) {
		rc = read_bytes(stream, bytes, (flags & FIRST) != 0 ? 6 : 4, fault);
		struct chi_reader numbers = chi_reader_of(bytes, sizeof(bytes));
		input->direct = (chi_worth)(uint32_t)chi_read_le(&numbers, 4);
		input->first = (chi_move)chi_read_le(&numbers, 2);
	}
	stream->count++;
	return rc;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void write_bytes(struct stream *stream, const void *bytes, size_t len)
{
	(void)fwrite(bytes, 1, len, stream->file);
	(void)XXH3_64bits_update(stream->hash, bytes, len);
}

int chi_inputs_create(FILE *file, const struct chi_inputs_of *of, struct chi_inputs_writer **out)
{
	uint8_t head[HEAD_MAX];
	*out = calloc(1, sizeof(**out));
	int rc = *out != NULL ? stream_init(&(*out)->stream, file) : -CHI_ENOMEM;
	if (rc != CHI_OK) {
		chi_inputs_drop(*out);
		*out = NULL;
		return rc;
	}
	write_bytes(&(*out)->stream, head, head_bytes(of, head));
	return CHI_OK;
}

void chi_inputs_add(struct chi_inputs_writer *writer, const struct chi_input *input)
{
	struct stream *stream = &writer->stream;
	const struct chi_key *key = &input->key;
	uint8_t bytes[3 + CHI_KEY_MAX + 6];
	uint8_t flags = POSITION | (input->full ? FULL : 0);
	uint8_t shared = 0;
	while (shared < key->len && shared < stream->last.len &&
	       key->bytes[shared] == stream->last.bytes[shared]) {
		shared++;
	}
	size_t len = 3 + (size_t)key->len - shared;
	memcpy(bytes + 3, key->bytes + shared, key->len - shared);
	if (input->direct != CHI_WORTH_NONE) {
		put_le(bytes + len, (uint32_t)input->direct, 4);
		put_le(bytes + len + 4, input->first, 2);
		flags |= input->first != 0 ? DIRECT | FIRST : DIRECT;
		len += input->first != 0 ? 6 : 4;
	}
	bytes[0] = flags;
	bytes[1] = shared;
	bytes[2] = (uint8_t)(key->len - shared);
	write_bytes(stream, bytes, len);
	stream->last = *key;
	stream->count++;
}

void chi_inputs_finish(struct chi_inputs_writer *writer)
{
	struct stream *stream = &writer->stream;
	uint8_t bytes[TAIL] = {0};
	put_le(bytes + 1, stream->count, 8);
	write_bytes(stream, bytes, sizeof(bytes));
	put_le(bytes, XXH3_64bits_digest(stream->hash), 8);
	write_bytes(stream, bytes, 8);
}

void chi_inputs_drop(struct chi_inputs_writer *writer)
{
	if (writer != NULL) {
		(void)XXH3_freeState(writer->stream.hash);
		free(writer);
	}
}
