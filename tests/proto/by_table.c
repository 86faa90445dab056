/* SPDX-License-Identifier: MIT */
#include "tests/proto/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/attr.h"
#include "chistore/games.h"
#include "proto/operations.h"

static void *at(const struct chi_member *member, const void *base)
{
	void *out;
	const uint8_t *place = (const uint8_t *)base + member->at;
	memcpy(&out, &place, sizeof(out));
	return out;
}

static size_t *count_at(const struct chi_member *member, const void *base)
{
	return at(&(struct chi_member){.at = member->other}, base);
}

static const ProtobufCEnumDescriptor *enum_of(const struct chi_message *type, uint32_t field)
{
	const ProtobufCFieldDescriptor *found =
		protobuf_c_message_descriptor_get_field(type->descriptor, field);
	return found->type == PROTOBUF_C_TYPE_ENUM ? found->descriptor : NULL;
}

static void sample_number_of(struct sample *s, const struct chi_message *type,
			     const struct chi_member *member, void *out)
{
	const ProtobufCEnumDescriptor *values = enum_of(type, member->field);
	uint64_t number = sample_number(s);
	if (values != NULL) {
		number = (uint64_t)values->values[sample_below(s, values->n_values)].value;
	} else if (member->max != 0) {
		number %= member->max + 1;
	}
	/* Little-endian, as all machines that the tests run on. */
	memcpy(out, &number, member->size);
}

static void sample_list(struct sample *s, const struct chi_member *member, void *out)
{
	size_t n = sample_below(s, 4);
	uint8_t *elements = sample_take(s, n, member->size);
	for (size_t i = 0; i < n; i++) {
		sample_message(s, member->type, elements + i * member->size);
	}
	memcpy(at(member, out), &elements, sizeof(elements));
	*count_at(member, out) = n;
}

static void sample_numbers(struct sample *s, const struct chi_member *member, void *out)
{
	size_t n = sample_below(s, 4);
	uint32_t *numbers = sample_take(s, n, sizeof(*numbers));
	for (size_t i = 0; i < n; i++) {
		numbers[i] = (uint32_t)sample_number(s);
	}
	memcpy(at(member, out), &numbers, sizeof(numbers));
	*count_at(member, out) = n;
}

/* A struct where one is pointed to, or in its place; with its flag, if it has one. */
static void sample_nested(struct sample *s, const struct chi_member *member, void *out)
{
	bool there = sample_coin(s);
	if (member->presence == CHI_IF_POINTER) {
		void *inner = there ? sample_take(s, 1, member->size) : NULL;
		if (there) {
			sample_message(s, member->type, inner);
		}
		memcpy(at(member, out), &inner, sizeof(inner));
		return;
	}
	if (member->presence == CHI_IF_FLAG) {
		*(bool *)at(&(struct chi_member){.at = member->other}, out) = there;
	}
	if (member->presence != CHI_IF_FLAG || there) {
		sample_message(s, member->type, at(member, out));
	}
}

static void sample_member(struct sample *s, const struct chi_message *type,
			  const struct chi_member *member, void *out)
{
	struct chi_text text =
		sample_text(s, member->most > 0 && member->most < 40 ? member->most : 40);
	switch (member->kind) {
	case CHI_NUMBER:
		sample_number_of(s, type, member, at(member, out));
		break;
	case CHI_SIGNED:
		*(int32_t *)at(member, out) =
			member->min +
			(int32_t)sample_below(s, (size_t)(member->max - member->min + 1));
		break;
	case CHI_BOOL:
		*(bool *)at(member, out) = sample_coin(s);
		break;
	case CHI_STRING:
		memcpy(at(member, out), &text.bytes, sizeof(text.bytes));
		break;
	case CHI_BYTES:
		memcpy(at(member, out), &text.bytes, sizeof(text.bytes));
		*count_at(member, out) = text.len;
		break;
	case CHI_KEY: {
		struct chi_key *key = sample_take(s, 1, sizeof(*key));
		*key = sample_key(s);
		if (member->presence == CHI_IF_POINTER) {
			memcpy(at(member, out), &key, sizeof(key));
		} else {
			memcpy(at(member, out), key, sizeof(*key));
		}
		break;
	}
	case CHI_FIXED:
		memcpy(at(member, out), sample_ids(s, 1)->id, member->size);
		break;
	case CHI_NUMBERS:
		sample_numbers(s, member, out);
		break;
	case CHI_NESTED:
		sample_nested(s, member, out);
		break;
	case CHI_LIST:
		sample_list(s, member, out);
		break;
	default:
		break; /* those that no table below has so far */
	}
}

/* What a message asks of its fields together: what its check would refuse. */
static void make_good(struct sample *s, const struct chi_message *type, void *out)
{
	if (type == &chi_game_row_message) {
		struct chi_game_row *row = out;
		row->head.number += row->head.number == 0;
		row->move = sample_move(s);
	} else if (type->descriptor == NULL) {
		/* The contents of a field, which who holds it makes. */
	} else if (strcmp(type->descriptor->short_name, "GetGame") == 0) {
		struct chi_game_request *request = out;
		request->number += request->number == 0;
	} else if (strcmp(type->descriptor->short_name, "Game") == 0) {
		struct chi_game *game = out;
		chi_move *moves = sample_take(s, 5, sizeof(*moves));
		game->n_plies = sample_below(s, 6);
		for (size_t i = 0; i < game->n_plies; i++) {
			moves[i] = sample_move(s);
		}
		game->moves = moves;
		game->has_start = game->start.len > 0;
	} else if (strcmp(type->descriptor->short_name, "SuspectGroup") == 0) {
		struct chi_name_suspects *group = out;
		const size_t n = group->n + 2;
		struct chi_name_row *rows = sample_take(s, n, sizeof(*rows));
		for (size_t i = 0; i < n; i++) {
			rows[i].text = "";
		}
		memcpy(rows, group->names, group->n * sizeof(*rows));
		*group = (struct chi_name_suspects){.score = group->score, .names = rows, .n = n};
	} else if (strcmp(type->descriptor->short_name, "TwinGroup") == 0) {
		struct chi_twin_group *group = out;
		uint32_t *numbers = sample_take(s, 5, sizeof(*numbers));
		group->n = 2 + sample_below(s, 4);
		for (size_t i = 0; i < group->n; i++) {
			numbers[i] = (uint32_t)(i * 1000 + 1 + sample_below(s, 1000));
		}
		group->games = numbers;
	}
}

void sample_message(struct sample *s, const struct chi_message *type, void *out)
{
	for (size_t i = 0; i < type->n; i++) {
		sample_member(s, type, &type->members[i], out);
	}
	make_good(s, type, out);
}

void *sample_body(struct sample *s, enum chi_op op, bool request)
{
	const struct chi_operation *operation = chi_operation_of(op);
	size_t size = request ? operation->request_size : operation->result_size;
	void *made = size > 0 ? sample_take(s, 1, size) : NULL;
	if (made != NULL) {
		sample_message(s, request ? operation->request : operation->result, made);
	}
	return made;
}

/* ---- Comparing --------------------------------------------------------------------------- */

static const char *string_at(const struct chi_member *member, const void *base)
{
	const char *text;
	memcpy(&text, at(member, base), sizeof(text));
	return text != NULL ? text : "";
}

static bool same_lists(const struct chi_member *member, const void *a, const void *b)
{
	const uint8_t *x;
	const uint8_t *y;
	size_t n = *count_at(member, a);
	memcpy(&x, at(member, a), sizeof(x));
	memcpy(&y, at(member, b), sizeof(y));
	bool same = n == *count_at(member, b);
	if (member->kind == CHI_LIST) {
		for (size_t i = 0; same && i < n; i++) {
			same = same_message(member->type, x + i * member->size,
					    y + i * member->size);
		}
		return same;
	}
	size_t size = member->kind == CHI_NUMBERS ? sizeof(uint32_t) : 1;
	return same && (n == 0 || memcmp(x, y, n * size) == 0);
}

static bool same_keys(const struct chi_member *member, const void *a, const void *b)
{
	const struct chi_key *x = at(member, a);
	const struct chi_key *y = at(member, b);
	if (member->presence == CHI_IF_POINTER) {
		memcpy(&x, at(member, a), sizeof(x));
		memcpy(&y, at(member, b), sizeof(y));
	}
	return x == NULL || y == NULL ? x == y : same_key(x, y);
}

/* Of a message with functions of its own: its bytes. */
static bool same_bytes(const struct chi_message *type, const void *a, const void *b)
{
	static uint8_t x[1 << 16];
	static uint8_t y[1 << 16];
	size_t noted = 0;
	size_t len = chi_message_len(type, a, &noted);
	assert_true(len <= sizeof(x));
	(void)chi_message_put(x, type, a, noted);
	bool same = chi_message_len(type, b, &noted) == len;
	if (same) {
		(void)chi_message_put(y, type, b, noted);
	}
	return same && memcmp(x, y, len) == 0;
}

static bool same_nested(const struct chi_member *member, const void *a, const void *b)
{
	const void *x = at(member, a);
	const void *y = at(member, b);
	if (member->presence == CHI_IF_FLAG) {
		const struct chi_member flag = {.at = member->other};
		bool there = *(const bool *)at(&flag, a);
		return there == *(const bool *)at(&flag, b) &&
		       (!there || same_message(member->type, x, y));
	}
	if (member->presence == CHI_IF_POINTER) {
		memcpy(&x, at(member, a), sizeof(x));
		memcpy(&y, at(member, b), sizeof(y));
	}
	return x == NULL || y == NULL ? x == y : same_message(member->type, x, y);
}

static bool same_member(const struct chi_member *member, const void *a, const void *b)
{
	switch (member->kind) {
	case CHI_STRING:
		return strcmp(string_at(member, a), string_at(member, b)) == 0;
	case CHI_KEY:
		return same_keys(member, a, b);
	case CHI_NESTED:
		return same_nested(member, a, b);
	case CHI_BYTES:
	case CHI_LIST:
	case CHI_NUMBERS:
		return same_lists(member, a, b);
	default:
		return memcmp(at(member, a), at(member, b), member->size) == 0;
	}
}

bool same_message(const struct chi_message *type, const void *a, const void *b)
{
	bool same = type->put == NULL || same_bytes(type, a, b);
	for (size_t i = 0; same && i < type->n; i++) {
		same = same_member(&type->members[i], a, b);
	}
	return same;
}
