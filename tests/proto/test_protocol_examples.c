/* SPDX-License-Identifier: MIT */
/*
 * PROTOCOL.md is what others write clients from: each of its examples must be the very bytes that
 * this code writes, and must mean what the text says when read. With CHISTORE_PRINT_EXAMPLES set
 * the bytes are printed, for the editor of the document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/num.h"
#include "proto/wire/frame.h"
#include "tests/proto/examples.h"

#define BUDGET	((size_t)1 << 20)
#define HEX_MAX 8192

static void pack(const struct example *example, struct chi_buffer *out)
{
	int rc = example->request != NULL ? chi_request_pack(example->request, out)
					  : chi_response_pack(example->response, out);
	assert_int_equal(rc, CHI_OK);
}

static const struct example *example_at(size_t i)
{
	if (i < n_examples) {
		return &examples[i];
	}
	i -= n_examples;
	return i < n_search_examples ? &search_examples[i] : &queue_examples[i - n_search_examples];
}

static const struct example *find(const char *name)
{
	for (size_t i = 0; i < n_examples + n_search_examples + n_queue_examples; i++) {
		if (strcmp(example_at(i)->name, name) == 0) {
			return example_at(i);
		}
	}
	fail_msg("PROTOCOL.md has an example '%s', the test has not", name);
	return NULL;
}

/* Read and packed again it is the same. */
static void check_meaning(const struct example *example, const uint8_t *frame, size_t frame_len)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_buffer_deinit) struct chi_buffer again;
	struct chi_request request;
	struct chi_response response;
	struct chi_fault fault = {""};
	const char *field = NULL;
	const uint8_t *body = NULL;
	size_t len = 0;
	size_t taken = 0;
	chi_arena_init(&arena, BUDGET);
	chi_buffer_init(&again, BUDGET);
	assert_int_equal(chi_frame_take(frame, frame_len, BUDGET, &body, &len, &taken), CHI_OK);
	assert_int_equal(taken, frame_len);
	if (example->request != NULL) {
		assert_int_equal(chi_request_unpack(body, len, &arena, &request, &field, &fault),
				 CHI_OK);
		assert_int_equal(chi_request_pack(&request, &again), CHI_OK);
	} else {
		assert_int_equal(chi_response_unpack(body, len, &arena, &response, &fault), CHI_OK);
		assert_int_equal(chi_response_pack(&response, &again), CHI_OK);
	}
	if (again.len != frame_len || memcmp(chi_buffer_bytes(&again), frame, frame_len) != 0) {
		fail_msg("example '%s' is read as something else", example->name);
	}
}

static void check_example(const char *name, const char *hex)
{
	const struct example *example = find(name);
	_cleanup_(chi_buffer_deinit) struct chi_buffer packed;
	uint8_t bytes[HEX_MAX / 2];
	size_t len = strlen(hex) / 2;
	if (chi_hex_parse(hex, strlen(hex), bytes) != CHI_OK) {
		fail_msg("example '%s' is not hex: %s", name, hex);
	}
	chi_buffer_init(&packed, BUDGET);
	pack(example, &packed);
	if (packed.len != len || memcmp(chi_buffer_bytes(&packed), bytes, len) != 0) {
		char right[HEX_MAX + 1];
		chi_hex_print(chi_buffer_bytes(&packed), packed.len, right);
		fail_msg("example '%s' should be %s", name, right);
	}
	check_meaning(example, bytes, len);
}

/* Appends the digits of a line up to ';', which their meaning follows. */
static void add_digits(char *hex, const char *line)
{
	size_t len = strlen(hex);
	for (const char *c = line; *c != '\0' && *c != ';' && *c != '\n'; c++) {
		if (*c != ' ') {
			assert_true(len < HEX_MAX);
			hex[len++] = *c;
		}
	}
	hex[len] = '\0';
}

static void examples_are_true(void **state)
{
	(void)state;
	char line[512];
	char name[64] = "";
	char hex[HEX_MAX + 1] = "";
	size_t found = 0;
	FILE *file = fopen(PROTOCOL_MD, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (name[0] == '\0') {
			if (sscanf(line, "```hex %63s", name) == 1) {
				hex[0] = '\0';
			}
		} else if (strncmp(line, "```", 3) == 0) {
			check_example(name, hex);
			name[0] = '\0';
			found++;
		} else {
			add_digits(hex, line);
		}
	}
	fclose(file);
	/* Each once: as every name found is known, the number says that none is missing. */
	assert_int_equal(found, n_examples + n_search_examples + n_queue_examples);
}

static int print_examples(void)
{
	for (size_t i = 0; i < n_examples + n_search_examples + n_queue_examples; i++) {
		_cleanup_(chi_buffer_deinit) struct chi_buffer packed;
		char hex[HEX_MAX + 1];
		chi_buffer_init(&packed, HEX_MAX / 2);
		pack(example_at(i), &packed);
		chi_hex_print(chi_buffer_bytes(&packed), packed.len, hex);
		printf("%s %s\n", example_at(i)->name, hex);
	}
	return 0;
}

int main(void)
{
	if (getenv("CHISTORE_PRINT_EXAMPLES") != NULL) {
		return print_examples();
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_are_true),
	};
	return cmocka_run_group_tests_name("protocol examples", tests, NULL, NULL);
}
