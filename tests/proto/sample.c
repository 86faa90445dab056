/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/proto/sample.h"

#include <string.h>

#include "base/attr.h"
#include "base/record.h"
#include "proto/operations.h"
#include "proto/rows.h"
#include "tests/proto/wire.h"

#define TRIES	   20000
#define STRUCT_MAX 4096 /* bytes of any */

/* A message on its way. */
struct maker {
	struct seed *seed;
	const struct chi_message *type;
	struct chi_buffer *out;
	size_t one_in;	/* so many fields are left out */
	uint32_t parts; /* of a record that is put */
	size_t rows;	/* packed ones that it has */
	uint64_t made;	/* fields, by their index */
};

/* ---- Contents ---------------------------------------------------------------------------- */

uint64_t sample_number(struct seed *seed, uint64_t max)
{
	size_t bits = seed_below(seed, 65);
	uint64_t number = bits == 0 ? 0 : seed_next(seed) >> (64 - bits);
	return max == UINT64_MAX ? number : number % (max + 1);
}

static chi_move any_move(struct seed *seed)
{
	chi_move move = (chi_move)(1 + seed_below(seed, 0x4fff));
	return chi_move_possible(move) ? move : 1;
}

size_t sample_text(struct seed *seed, size_t max, char out[SAMPLE_TEXT_MAX])
{
	static const char *const letters[] = {
		"a", "Z", "0", "-", " ", "\xc3\xa4", "\xe2\x99\x9e", "\xf0\x9f\x8f\xb0"};
	size_t n_letters = seed_below(seed, 2) == 0 ? 5 : CHI_COUNT(letters);
	size_t want = seed_below(seed, (max < SAMPLE_TEXT_MAX ? max : SAMPLE_TEXT_MAX) + 1);
	size_t len = 0;
	for (;;) {
		const char *letter = letters[seed_below(seed, n_letters)];
		if (len + strlen(letter) > want) {
			return len;
		}
		memcpy(out + len, letter, strlen(letter));
		len += strlen(letter);
	}
}

void sample_random(struct seed *seed, size_t len, struct chi_buffer *out)
{
	for (; len > 0; len--) {
		uint8_t byte = (uint8_t)seed_next(seed);
		wire_append(out, &byte, 1);
	}
}

static struct chi_key any_key(struct seed *seed)
{
	struct chi_key key = {0};
	size_t pieces = 1 + seed_below(seed, 32);
	for (size_t placed = 0; placed < pieces;) {
		size_t square = seed_below(seed, 64);
		uint8_t bit = (uint8_t)(0x80 >> (square % 8));
		placed += (key.bytes[square / 8] & bit) == 0;
		key.bytes[square / 8] |= bit;
	}
	key.len = (uint8_t)(8 + (pieces + 1) / 2);
	for (size_t i = 8; i < key.len; i++) {
		key.bytes[i] = (uint8_t)seed_next(seed);
	}
	if (pieces % 2 == 1) {
		key.bytes[key.len - 1] &= 0xf0;
	}
	return key;
}

static void any_eval(struct seed *seed, struct chi_row *row)
{
	row->is_mate = seed_below(seed, 2) == 0;
	int32_t max = row->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	row->has_eval = true;
	row->depth = (uint16_t)seed_next(seed);
	row->score = (int32_t)seed_below(seed, 2 * (size_t)max + 1) - max;
}

static struct chi_row any_row(struct seed *seed, bool found, bool counted)
{
	struct chi_row row = {.key = any_key(seed), .found = found};
	if (!found) {
		return row;
	}
	row.chi2 = (uint16_t)seed_below(seed, CHI_CHI2_MAX + 1);
	if (counted) {
		row.counts = (struct chi_counts){
			sample_number(seed, UINT64_MAX), sample_number(seed, UINT64_MAX),
			sample_number(seed, UINT64_MAX), sample_number(seed, UINT64_MAX)};
	}
	if (seed_below(seed, 2) == 0) {
		any_eval(seed, &row);
	}
	if (seed_below(seed, 2) == 0) {
		row.best = any_move(seed);
		row.best_source = CHI_BEST_PLAYED;
	}
	return row;
}

/* ---- Fields that go together ------------------------------------------------------------- */

static bool is_of(const struct maker *m, const char *message)
{
	return strcmp(m->type->descriptor->short_name, message) == 0;
}

/* Packed rows and their number; only a probe has rows that were not found. */
static void put_rows(struct maker *m)
{
	struct chi_row rows[7];
	uint8_t bytes[CHI_COUNT(rows) * 80 + CHI_ROWS_SLACK];
	bool counted = is_of(m, "FindResult") || seed_below(m->seed, 2) == 0;
	size_t noted = 0;
	m->rows = seed_below(m->seed, CHI_COUNT(rows) + 1);
	for (size_t i = 0; i < m->rows; i++) {
		bool found = !is_of(m, "ProbeResult") || seed_below(m->seed, 2) == 0;
		rows[i] = any_row(m->seed, found, counted);
	}
	size_t len = chi_rows_fields_len(rows, m->rows, counted, &noted);
	assert_true(len + CHI_ROWS_SLACK <= sizeof(bytes));
	(void)chi_put_rows_fields(bytes, rows, m->rows, counted, noted);
	wire_append(m->out, bytes, len);
	m->made |= 3;
}

static void append_games(struct seed *seed, size_t n, struct chi_buffer *out)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t result_and_flags[2] = {(uint8_t)seed_below(seed, 4),
						     (uint8_t)seed_below(seed, 2)};
		sample_random(seed, CHI_GAME_ID_SIZE, out);
		wire_append(out, result_and_flags, sizeof(result_and_flags));
		sample_random(seed, sizeof(uint16_t), out);
	}
}

/* Games, how many, and their numbers in the archive. */
static void put_games(struct maker *m)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer games;
	_cleanup_(chi_buffer_deinit) struct chi_buffer numbers;
	size_t n = 1 + seed_below(m->seed, 4);
	chi_buffer_init(&games, WIRE_LIMIT);
	chi_buffer_init(&numbers, WIRE_LIMIT);
	append_games(m->seed, n, &games);
	sample_random(m->seed, n * sizeof(uint32_t), &numbers);
	wire_nested(m->out, 1, &games);
	wire_number(m->out, 2, n);
	wire_nested(m->out, 3, &numbers);
	m->made |= 7;
}

static uint32_t any_parts(struct seed *seed)
{
	for (;;) {
		uint32_t parts = seed_below(seed, 2) == 0 ? UINT32_C(1) << seed_below(seed, 10)
							  : (uint32_t)seed_below(seed, 1 << 10);
		if (chi_put_parts_flaw(parts) == NULL) {
			return parts;
		}
	}
}

/* Which parts a field of a record is one of. */
static uint32_t parts_of(uint32_t field)
{
	static const uint32_t games = CHI_PUT_ADD | CHI_PUT_SUBTRACT;
	static const uint32_t parts[] = {
		[1] = CHI_PUT_CHI2,	      [2] = CHI_PUT_COUNTS | games,
		[3] = CHI_PUT_MOVES | games,  [4] = CHI_PUT_EVALS | CHI_PUT_DROP_EVALS,
		[5] = CHI_PUT_LINE,	      [6] = CHI_PUT_NOTE,
		[7] = CHI_PUT_COUNTS | games,
	};
	assert_true(field < CHI_COUNT(parts));
	return parts[field] | CHI_PUT_RESTORE;
}

/* ---- Fields ------------------------------------------------------------------------------ */

/* The greatest that a field may hold whose row does not say it. */
static uint64_t known_max(const struct maker *m, const char *field)
{
	static const struct {
		const char *message;
		const char *field;
		uint64_t max;
	} known[] = {
		{"Record", "chi2", CHI_CHI2_MAX},      {"PlyStat", "ply", CHI_PLY_MAX},
		{"Eval", "depth", UINT16_MAX},	       {"Eval", "rank", CHI_RANK_MAX},
		{"Eval", "centipawns", CHI_SCORE_MAX}, {"Eval", "mate", CHI_MATE_MAX},
		{"Counts", "white", UINT64_MAX / 4},   {"Counts", "draws", UINT64_MAX / 4},
		{"Counts", "black", UINT64_MAX / 4},   {"Counts", "other", UINT64_MAX / 4},
	};
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		if (is_of(m, known[i].message) && strcmp(field, known[i].field) == 0) {
			return known[i].max;
		}
	}
	return UINT64_MAX;
}

static uint64_t max_of(const struct maker *m, const ProtobufCFieldDescriptor *field,
		       const struct chi_member *member)
{
	uint64_t max = known_max(m, field->name);
	if (field->type == PROTOBUF_C_TYPE_BOOL) {
		max = 1;
	} else if (member->max != 0) {
		max = member->max;
	} else if (member->kind == CHI_NUMBER && member->size < sizeof(max)) {
		max = (UINT64_C(1) << (8 * member->size)) - 1;
	}
	return field->type == PROTOBUF_C_TYPE_UINT32 && max > UINT32_MAX ? UINT32_MAX : max;
}

static uint64_t number_of(const struct maker *m, const ProtobufCFieldDescriptor *field,
			  const struct chi_member *member)
{
	uint64_t max = max_of(m, field, member);
	if (field->type == PROTOBUF_C_TYPE_ENUM) {
		const ProtobufCEnumDescriptor *values = field->descriptor;
		return (uint64_t)values->values[seed_below(m->seed, values->n_values)].value;
	}
	if (field->type == PROTOBUF_C_TYPE_SINT32) {
		int64_t min = member->kind == CHI_SIGNED ? member->min : -(int64_t)max;
		uint64_t range = (uint64_t)((int64_t)max - min) + 1;
		return chi_zigzag((int32_t)(min + (int64_t)seed_below(m->seed, range)));
	}
	bool is_move = strcmp(field->name, "move") == 0 || strcmp(field->name, "best") == 0;
	return is_move ? any_move(m->seed) : sample_number(m->seed, max);
}

static void put_moves(struct maker *m, uint32_t field)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer contents;
	chi_buffer_init(&contents, WIRE_LIMIT);
	for (size_t n = 1 + seed_below(m->seed, 5); n > 0; n--) {
		uint8_t bytes[10];
		uint8_t *end = chi_put_varint(bytes, any_move(m->seed));
		wire_append(&contents, bytes, (size_t)(end - bytes));
	}
	wire_nested(m->out, field, &contents);
}

static void append_keys(struct seed *seed, struct chi_buffer *out)
{
	for (size_t n = seed_below(seed, 5); n > 0; n--) {
		struct chi_key key = any_key(seed);
		wire_append(out, &key.len, 1);
		wire_append(out, key.bytes, key.len);
	}
}

/* Ascending, as some have to be. */
static void append_numbers(struct seed *seed, struct chi_buffer *out)
{
	uint32_t number = 0;
	for (size_t n = seed_below(seed, 5); n > 0; n--) {
		number += 1 + (uint32_t)seed_below(seed, UINT32_C(1) << (1 + seed_below(seed, 28)));
		wire_append(out, &number, sizeof(number)); /* on machines that are little-endian */
	}
}

static void append_bytes_of(struct maker *m, const ProtobufCFieldDescriptor *field,
			    const struct chi_member *member, struct chi_buffer *out)
{
	struct chi_key key = any_key(m->seed);
	bool is_contents = member->kind == CHI_NESTED;
	if (member->kind == CHI_KEY || strcmp(field->name, "key") == 0) {
		wire_append(out, key.bytes, key.len);
	} else if (member->kind == CHI_FIXED) {
		sample_random(m->seed, member->size, out);
	} else if (member->kind == CHI_NUMBERS) {
		append_numbers(m->seed, out);
	} else if (is_contents && strcmp(field->name, "keys") == 0) {
		append_keys(m->seed, out);
	} else if (is_contents && strcmp(field->name, "moves") == 0) {
		for (size_t n = seed_below(m->seed, 6); n > 0; n--) {
			chi_move move = any_move(m->seed);
			wire_append(out, &move, sizeof(move));
		}
	} else if (is_of(m, "Put") && strcmp(field->name, "games") == 0) {
		append_games(m->seed, seed_below(m->seed, 4), out);
	} else {
		sample_random(m->seed, seed_below(m->seed, SAMPLE_TEXT_MAX), out);
	}
}

static void append_text_of(struct maker *m, const struct chi_member *member, struct chi_buffer *out)
{
	char text[SAMPLE_TEXT_MAX];
	size_t max = SAMPLE_TEXT_MAX;
	if (member->kind == CHI_CHARS) {
		max = member->size - 1;
	} else if (member->most > 0 && member->kind != CHI_LIST) {
		max = member->most;
	}
	wire_append(out, text, sample_text(m->seed, max, text));
}

static void make_message(struct maker *m);

/* A text, bytes or a message. */
static void put_element(struct maker *m, const ProtobufCFieldDescriptor *field,
			const struct chi_member *member)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer contents;
	bool is_sent_empty = field->label == PROTOBUF_C_LABEL_REPEATED;
	chi_buffer_init(&contents, WIRE_LIMIT);
	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		struct maker inner = {m->seed, member->type, &contents, .parts = m->parts};
		make_message(&inner);
		is_sent_empty |=
			member->presence != CHI_IF_SET || strcmp(field->name, "base_rates") == 0;
	} else if (field->type == PROTOBUF_C_TYPE_STRING) {
		append_text_of(m, member, &contents);
	} else {
		append_bytes_of(m, field, member, &contents);
	}
	if (contents.len > 0 || is_sent_empty) {
		wire_nested(m->out, field->id, &contents);
	}
}

static void put_field(struct maker *m, const ProtobufCFieldDescriptor *field,
		      const struct chi_member *member)
{
	bool is_repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	bool is_number = field->type < PROTOBUF_C_TYPE_STRING;
	if (is_number && is_repeated) {
		put_moves(m, field->id);
	} else if (is_number) {
		bool is_parts = is_of(m, "PutEntry") && strcmp(field->name, "parts") == 0;
		uint64_t number = is_parts ? m->parts : number_of(m, field, member);
		if (number != 0 || (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
			wire_number(m->out, field->id, number);
		}
	} else {
		for (size_t n = is_repeated ? 1 + seed_below(m->seed, 3) : 1; n > 0; n--) {
			put_element(m, field, member);
		}
	}
}

/* ---- Messages ---------------------------------------------------------------------------- */

/* Some messages keep not all that others of their type do. */
static bool is_kept(const struct chi_message *type, const struct chi_member *member)
{
	if (member->kind != CHI_UNKEPT || type->read != NULL) {
		return true;
	}
	for (size_t i = 0; i < type->n; i++) {
		if (type->members[i].kind != CHI_UNKEPT) {
			return false;
		}
	}
	return true;
}

static bool is_wanted(struct maker *m, const ProtobufCFieldDescriptor *field,
		      const struct chi_member *member, uint32_t of_oneof)
{
	if (!is_kept(m->type, member)) {
		return false;
	}
	if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
		return field->id == of_oneof;
	}
	if (is_of(m, "Record") && (m->parts & parts_of(field->id)) == 0) {
		return false;
	}
	if (is_of(m, "ScanResult") && strcmp(field->name, "entries") == 0 && m->rows > 0) {
		return false;
	}
	bool always = member->presence == CHI_ALWAYS &&
		      (member->kind == CHI_NESTED || member->kind == CHI_FIXED);
	return always || strcmp(field->name, "parts") == 0 || seed_below(m->seed, 8) >= m->one_in;
}

/* One of the fields that exclude each other, or 0. */
static uint32_t choose_oneof(struct maker *m)
{
	const ProtobufCMessageDescriptor *type = m->type->descriptor;
	uint32_t chosen = 0;
	size_t n = 1;
	for (unsigned i = 0; i < type->n_fields; i++) {
		bool is_one = (type->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
		if (is_one && seed_below(m->seed, ++n) == 0) {
			chosen = type->fields[i].id;
		}
	}
	return chosen;
}

static void put_fields(struct maker *m)
{
	const ProtobufCMessageDescriptor *type = m->type->descriptor;
	uint32_t of_oneof = choose_oneof(m);
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		size_t before = m->out->len;
		if (!is_wanted(m, field, &m->type->members[i], of_oneof)) {
			continue;
		}
		if (strcmp(field->name, "rows") == 0 && field->type == PROTOBUF_C_TYPE_BYTES) {
			put_rows(m);
		} else if (is_of(m, "GameIdsResult")) {
			put_games(m);
			break;
		} else if (strcmp(field->name, "count") != 0 || m->type->read == NULL) {
			put_field(m, field, &m->type->members[i]);
		}
		m->made |= m->out->len > before ? UINT64_C(1) << i : 0;
	}
}

static bool is_accepted(const struct chi_message *type, const struct chi_buffer *bytes)
{
	static _Alignas(max_align_t) uint8_t made[STRUCT_MAX];
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_flaw flaw = {.reason = ""};
	struct chi_unpacker u = {.arena = &arena, .flaw = &flaw, .enums = CHI_ENUMS_CLOSED};
	chi_arena_init(&arena, WIRE_LIMIT);
	memset(made, 0, sizeof(made));
	return chi_message_read(&u, type, chi_buffer_bytes(bytes), bytes->len, made) == CHI_OK;
}

/* Which fields of each message were ever made. */
static struct {
	const ProtobufCMessageDescriptor *type;
	uint64_t fields;
} made[128];

static uint64_t *made_of(const ProtobufCMessageDescriptor *type)
{
	size_t i = 0;
	while (made[i].type != NULL && made[i].type != type) {
		i++;
	}
	assert_true(i + 1 < CHI_COUNT(made));
	made[i].type = type;
	return &made[i].fields;
}

/* Until one is accepted: what its check wants of fields together comes by chance. */
static void make_message(struct maker *m)
{
	for (int tries = 0; tries < TRIES; tries++) {
		chi_buffer_consume(m->out, m->out->len);
		m->one_in = seed_below(m->seed, 8);
		m->rows = 0;
		m->made = 0;
		if (is_of(m, "PutEntry")) {
			m->parts = any_parts(m->seed);
		}
		put_fields(m);
		if (is_accepted(m->type, m->out)) {
			*made_of(m->type->descriptor) |= m->made;
			return;
		}
	}
	fail_msg("no %s of %d is accepted", m->type->descriptor->short_name, TRIES);
}

void sample_bytes(struct seed *seed, const struct chi_message *type, struct chi_buffer *out)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer contents;
	struct maker m = {seed, type, &contents, .parts = CHI_PUT_RESTORE};
	chi_buffer_init(&contents, WIRE_LIMIT);
	make_message(&m);
	wire_append(out, chi_buffer_bytes(&contents), contents.len);
}

void every_field_was_made(const struct chi_message *type)
{
	if (type == NULL || type->descriptor == NULL) {
		return;
	}
	for (size_t i = 0; i < type->n; i++) {
		uint64_t fields = *made_of(type->descriptor);
		if (is_kept(type, &type->members[i]) && (fields & UINT64_C(1) << i) == 0) {
			fail_msg("%s.%s was never made", type->descriptor->short_name,
				 type->descriptor->fields[i].name);
		}
		if (is_kept(type, &type->members[i])) {
			every_field_was_made(type->members[i].type);
		}
	}
}
