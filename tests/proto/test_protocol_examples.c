/* SPDX-License-Identifier: MIT */
/*
 * PROTOCOL.md is what others write clients from: each of its examples must be the very bytes that
 * this code writes for what it reads in them, and there must be one of each operation. What the
 * document says of the bytes is compared by tests/system/test_protocol.py.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/num.h"
#include "proto/wire/frame.h"
#include "proto/msg.h"
#include "tests/base/cases.h"

#define BUDGET	((size_t)1 << 20)
#define HEX_MAX 8192

/* The operations that have an example. */
struct seen {
	bool op[CHI_OP_COUNT_OF_OPS];
};

/* Read and packed again it is the same. */
static void check_meaning(const char *name, bool is_request, const uint8_t *frame, size_t frame_len,
			  struct seen *seen)
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
	int rc;
	chi_arena_init(&arena, BUDGET);
	chi_buffer_init(&again, BUDGET);
	assert_int_equal(chi_frame_take(frame, frame_len, BUDGET, &body, &len, &taken), CHI_OK);
	assert_int_equal(taken, frame_len);
	if (is_request) {
		rc = chi_request_unpack(body, len, &arena, &request, &field, &fault);
		assert_int_equal(rc, CHI_OK);
		seen->op[request.op] = true;
		rc = chi_request_pack(&request, &again);
	} else {
		rc = chi_response_unpack(body, len, &arena, &response, &fault);
		assert_int_equal(rc, CHI_OK);
		rc = chi_response_pack(&response, &again);
	}
	assert_int_equal(rc, CHI_OK);
	if (again.len != frame_len || memcmp(chi_buffer_bytes(&again), frame, frame_len) != 0) {
		fail_msg("example '%s' is read as something else", name);
	}
}

static void check_example(const char *name, const char *hex, struct seen *seen)
{
	uint8_t bytes[HEX_MAX / 2];
	size_t len = strlen(hex) / 2;
	const char *direction = strrchr(name, '-');
	if (chi_hex_parse(hex, strlen(hex), bytes) != CHI_OK) {
		fail_msg("example '%s' is not hex: %s", name, hex);
	}
	assert_non_null(direction);
	check_meaning(name, strcmp(direction, "-request") == 0, bytes, len, seen);
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

CASE(examples_are_true)
{
	char line[512];
	char name[64] = "";
	char hex[HEX_MAX + 1] = "";
	struct seen seen = {{false}};
	FILE *file = fopen(PROTOCOL_MD, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (name[0] == '\0') {
			if (sscanf(line, "```hex %63s", name) == 1) {
				hex[0] = '\0';
			}
		} else if (strncmp(line, "```", 3) == 0) {
			check_example(name, hex, &seen);
			name[0] = '\0';
		} else {
			add_digits(hex, line);
		}
	}
	fclose(file);
	for (int op = CHI_OP_UNKNOWN + 1; op < CHI_OP_COUNT_OF_OPS; op++) {
		if (!seen.op[op]) {
			fail_msg("PROTOCOL.md has no example of operation %d", op);
		}
	}
}
