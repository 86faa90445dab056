/* SPDX-License-Identifier: MIT */
/* The file of direct scores: what is written is read, and nothing that was changed. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "propagate/inputs.h"
#include "tests/base/cases.h"

#define N 21

static const struct chi_inputs_of of = {.uuid = {1, 2, 3}, .decay = 513, .engine = "backed-up"};

static int compare(const void *a, const void *b)
{
	const struct chi_key *x = a;
	const struct chi_key *y = b;
	return memcmp(x->bytes, y->bytes, CHI_KEY_MAX);
}

/* The positions after the first moves, in order. */
static void make_inputs(struct chi_input inputs[N])
{
	struct chi_position start;
	struct chi_move_list list;
	struct chi_key keys[N] = {0};
	assert_int_equal(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, NULL), CHI_OK);
	chi_movegen_legal(&start, &list);
	assert_int_equal(list.n, N - 1);
	chi_key_encode(&start, &keys[N - 1]);
	for (size_t i = 0; i < list.n; i++) {
		struct chi_position next;
		chi_position_play(&start, list.moves[i], &next);
		chi_key_encode(&next, &keys[i]);
	}
	qsort(keys, N, sizeof(keys[0]), compare);
	for (size_t i = 0; i < N; i++) {
		inputs[i] = (struct chi_input){.key = keys[i], .direct = CHI_WORTH_NONE};
		inputs[i].full = i % 5 == 0;
		if (i % 3 != 0) {
			inputs[i].direct = chi_worth_of(i % 4 == 0, (int32_t)i - 10);
			inputs[i].first = i % 3 == 1 ? (chi_move)(i * 100) : 0;
		}
	}
}

static void filep(FILE **file)
{
	if (*file != NULL) {
		(void)fclose(*file);
	}
}

/* The bytes of a file of these positions; the caller's to free. */
static char *write_inputs(const struct chi_input *inputs, size_t n, size_t *len)
{
	struct chi_inputs_writer *writer = NULL;
	char *bytes = NULL;
	FILE *file = open_memstream(&bytes, len);
	assert_non_null(file);
	assert_int_equal(chi_inputs_create(file, &of, &writer), CHI_OK);
	for (size_t i = 0; i < n; i++) {
		chi_inputs_add(writer, &inputs[i]);
	}
	chi_inputs_finish(writer);
	chi_inputs_drop(writer);
	assert_int_equal(fclose(file), 0);
	return bytes;
}

/* Reads to the end; CHI_NONE, or what was wrong. */
static int read_inputs(char *bytes, size_t len, const struct chi_input *expected, size_t n,
		       struct chi_fault *fault)
{
	struct chi_inputs_reader *reader = NULL;
	const struct chi_input *input;
	_cleanup_(filep) FILE *file = fmemopen(bytes, len, "r");
	assert_non_null(file);
	int rc = chi_inputs_open(file, &of, &reader, fault);
	size_t i = 0;
	while (rc == CHI_OK && (rc = chi_inputs_next(reader, &input, fault)) == CHI_OK) {
		if (expected != NULL) {
			assert_true(i < n);
			assert_memory_equal(&input->key, &expected[i].key, sizeof(input->key));
			assert_int_equal(input->direct, expected[i].direct);
			assert_int_equal(input->first, expected[i].first);
			assert_int_equal(input->full, expected[i].full);
		}
		i++;
	}
	assert_true(rc != CHI_NONE || expected == NULL || i == n);
	chi_inputs_close(reader);
	return rc;
}

CASE(as_written)
{
	struct chi_input inputs[N];
	size_t len = 0;
	struct chi_fault fault;
	make_inputs(inputs);
	for (size_t n = 0; n <= N; n += N) {
		_cleanup_(chi_freep) char *bytes = write_inputs(inputs, n, &len);
		assert_int_equal(read_inputs(bytes, len, inputs, n, &fault), CHI_NONE);
	}
}

/* Every byte changed, every length cut: none is taken for sound. */
CASE(damage_is_found)
{
	struct chi_input inputs[N];
	size_t len = 0;
	struct chi_fault fault;
	make_inputs(inputs);
	_cleanup_(chi_freep) char *bytes = write_inputs(inputs, N, &len);
	for (size_t i = 0; i < len; i++) {
		for (unsigned change = 1; change < 256; change += change < 8 ? 1 : 31) {
			bytes[i] = (char)(bytes[i] ^ (int)change);
			int rc = read_inputs(bytes, len, NULL, 0, &fault);
			assert_true(rc == -CHI_ECORRUPT || (rc == -CHI_EINVAL && i < 36));
			bytes[i] = (char)(bytes[i] ^ (int)change);
		}
	}
	for (size_t cut = 1; cut < len; cut++) {
		assert_int_equal(read_inputs(bytes, cut, NULL, 0, &fault), -CHI_ECORRUPT);
	}
	_cleanup_(chi_freep) char *longer = calloc(1, len + 1);
	memcpy(longer, bytes, len);
	assert_int_equal(read_inputs(longer, len + 1, NULL, 0, &fault), -CHI_ECORRUPT);
}

CASE(of_another_run)
{
	struct chi_inputs_of others[] = {of, of, of};
	static const char *const texts[] = {"it is of another store",
					    "it is of a run with --decay 513",
					    "it is of a run with --engine 'backed-up'"};
	size_t len = 0;
	others[0].uuid[15] = 1;
	others[1].decay = 5;
	others[2].engine = "backed";
	_cleanup_(chi_freep) char *bytes = write_inputs(NULL, 0, &len);
	for (size_t i = 0; i < 3; i++) {
		struct chi_inputs_reader *reader = NULL;
		struct chi_fault fault;
		_cleanup_(filep) FILE *file = fmemopen(bytes, len, "r");
		assert_int_equal(chi_inputs_open(file, &others[i], &reader, &fault), -CHI_EINVAL);
		assert_string_equal(fault.text, texts[i]);
		assert_null(reader);
	}
}
