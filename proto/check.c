/* SPDX-License-Identifier: MIT */
/*
 * Walks the bytes of a message beside its description and refuses what must not reach the
 * unpacking (see pbc.h). Takes no memory: the way to the field at hand is a list of stack frames,
 * as deep as the message types are nested, which are not recursive.
 */
#include "proto/pbc.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/wire.h"
#include "proto/operations.h"
#include "proto/wire/field_read.h"

#define FIELDS_MAX 64 /* no message type has more fields; the walk refuses one that had */

struct walk {
	enum chi_enums enums;
	struct chi_flaw *flaw;
};

/* The field at hand in one message, and the message that holds this one. */
struct level {
	const struct level *outer;
	const struct chi_message *bound; /* its rows, with their limits; NULL: `limits` has them */
	const ProtobufCFieldDescriptor *field;
	uint32_t index;		   /* of the element, if the field is repeated */
	uint32_t seen[FIELDS_MAX]; /* elements so far of each field */
	bool oneof_seen;	   /* no message type has two oneofs */
};

/*
 * Limits of single fields: bytes of a text, elements of a repeated field. FENs have none here:
 * their readers refuse one that is too long, as everywhere.
 */
static const struct limit {
	const ProtobufCMessageDescriptor *type;
	uint32_t field;
	size_t max;
	const char *reason;
} limits[] = {
	{&chistore__v1__request__descriptor, 2, CHI_STORE_NAME_MAX, "more than 64 bytes"},
	{&chistore__v1__response__descriptor, 6, CHI_UNKNOWN_MAX, "more than 64 names"},
	{&chistore__v1__hello__descriptor, 2, CHI_CLIENT_NAME_MAX, "more than 64 bytes"},
	{&chistore__v1__hello__descriptor, 3, CHI_ACCESS_TOKEN_MAX, "more than 256 bytes"},
	{&chistore__v1__probe__descriptor, 2, CHI_PROBE_MAX, "more than 4096 positions"},
	{&chistore__v1__get__descriptor, 2, CHI_PROBE_MAX, "more than 4096 positions"},
	{&chistore__v1__delete__descriptor, 2, CHI_PUT_MAX, "more than 10000 positions"},
	{&chistore__v1__put__descriptor, 2, CHI_PUT_MAX, "more than 10000 entries"},
	{&chistore__v1__record__descriptor, 3, CHI_MOVES_MAX, "more than 256 moves"},
	{&chistore__v1__record__descriptor, 4, CHI_EVALS_MAX, "more than 64 evaluations"},
	{&chistore__v1__record__descriptor, 5, CHI_LINE_MAX, "more than 1024 moves"},
	{&chistore__v1__record__descriptor, 6, CHI_NOTE_MAX, "more than 65536 bytes"},
	{&chistore__v1__eval__descriptor, 1, CHI_ENGINE_MAX, "more than 64 bytes"},
	{&chistore__v1__eval__descriptor, 7, CHI_PV_MAX, "more than 256 moves"},
	{&chistore__v1__record__descriptor, 7, CHI_PLY_MAX + 1, "more than 4097 plies"},
	{&chistore__v1__put__descriptor, 4, CHI_PUT_GAME_IDS_MAX *CHI_GAME_BYTES,
	 "more than 10000 games"},
	{&chistore__v1__import_data__descriptor, 1, CHI_IMPORT_FILE_MAX, "more than 255 bytes"},
	{&chistore__v1__explore_result__descriptor, 9, CHI_MOVES_MAX, "more than 256 moves"},
	{&chistore__v1__game_note__descriptor, 1, CHI_IMPORT_FILE_MAX, "more than 255 bytes"},
	{&chistore__v1__game_note__descriptor, 4, CHI_NOTE_TEXT_MAX, "more than 1024 bytes"},
	{&chistore__v1__import_result__descriptor, 2, CHI_IMPORT_NOTES_MAX, "more than 1000 notes"},
	{&chistore__v1__import_result__descriptor, 12, CHI_IMPORT_PHASE_MAX, "more than 32 bytes"},
	{&chistore__v1__game_ids_result__descriptor, 1, CHI_GAME_IDS_MAX *CHI_GAME_BYTES,
	 "more than 40000 games"},
	{&chistore__v1__game_ids_result__descriptor, 3, 4 * CHI_GAME_IDS_MAX,
	 "more than 40000 games"},
	{&chistore__v1__get_heads__descriptor, 1, 4 * CHI_GAME_HEADS_MAX, "more than 1000 games"},
	{&chistore__v1__heads_result__descriptor, 1, CHI_GAME_HEADS_MAX, "more than 1000 games"},
	{&chistore__v1__explore_games__descriptor, 3, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__game__descriptor, 2, CHI_TAGS_MAX, "more than 4096 tags"},
	{&chistore__v1__get_result__descriptor, 1, CHI_PROBE_MAX, "more than 4096 entries"},
	{&chistore__v1__names__descriptor, 3, CHI_NAME_WANTED_MAX, "more than 1024 bytes"},
	{&chistore__v1__name__descriptor, 6, CHI_NAME_TEXT_MAX, "more than 1023 bytes"},
	{&chistore__v1__names_result__descriptor, 1, CHI_NAMES_MAX, "more than 10000 names"},
	{&chistore__v1__name_change__descriptor, 3, CHI_NAME_TEXT_MAX, "more than 1023 bytes"},
	{&chistore__v1__name_change__descriptor, 4, CHI_NAME_TEXT_MAX, "more than 1023 bytes"},
	{&chistore__v1__change_names__descriptor, 1, CHI_NAME_CHANGES_MAX,
	 "more than 10000 changes"},
	{&chistore__v1__name_refusal__descriptor, 2, CHI_REFUSAL_TEXT_MAX, "more than 255 bytes"},
	{&chistore__v1__change_names_result__descriptor, 4, CHI_NAME_CHANGES_MAX,
	 "more than 10000 refusals"},
	{&chistore__v1__gamesets__descriptor, 1, CHI_GAMESET_TEXT_MAX, "more than 64 bytes"},
	{&chistore__v1__gamesets__descriptor, 2, CHI_GAMESET_TEXT_MAX, "more than 64 bytes"},
	{&chistore__v1__gameset__descriptor, 1, CHI_GAMESET_TEXT_MAX, "more than 64 bytes"},
	{&chistore__v1__gameset__descriptor, 2, CHI_FILTER_PRINT_MAX, "more than 16384 bytes"},
	{&chistore__v1__gamesets_result__descriptor, 1, CHI_GAMESETS_MAX,
	 "more than 10000 gamesets"},
	{&chistore__v1__make_gameset__descriptor, 1, CHI_GAMESET_TEXT_MAX, "more than 64 bytes"},
	{&chistore__v1__make_gameset__descriptor, 2, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__drop_gameset__descriptor, 1, CHI_GAMESET_TEXT_MAX, "more than 64 bytes"},
	{&chistore__v1__find__descriptor, 1, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__find__descriptor, 2, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__find__descriptor, 8, CHI_SEARCH_CURSOR_SIZE - 1, "more than 63 bytes"},
	{&chistore__v1__find_result__descriptor, 8, CHI_SCAN_ROWS_MAX, "more than 10000 games"},
	{&chistore__v1__scan__descriptor, 11, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__count__descriptor, 4, CHI_FILTER_MAX, "more than 4096 bytes"},
	{&chistore__v1__queue_add__descriptor, 2, CHI_QUEUE_BATCH_MAX, "more than 4096 positions"},
	{&chistore__v1__queue_take__descriptor, 2, CHI_QUEUE_BATCH_MAX, "more than 4096 positions"},
	{&chistore__v1__queue_take__descriptor, 3, CHI_QUEUE_HOLDER_MAX, "more than 64 bytes"},
	{&chistore__v1__queue_settle__descriptor, 2, CHI_QUEUE_BATCH_MAX,
	 "more than 4096 positions"},
	{&chistore__v1__queue_row__descriptor, 10, CHI_QUEUE_HOLDER_MAX, "more than 64 bytes"},
	{&chistore__v1__queue_take_result__descriptor, 3, CHI_QUEUE_BATCH_MAX,
	 "more than 4096 positions"},
	{&chistore__v1__queue_list_result__descriptor, 1, CHI_QUEUE_BATCH_MAX,
	 "more than 4096 positions"},
	{&chistore__v1__scan_result__descriptor, 3, CHI_SCAN_ROWS_MAX, "more than 10000 entries"},
};

static int check_message(struct walk *walk, const struct level *outer,
			 const ProtobufCMessageDescriptor *type, const struct chi_message *bound,
			 const uint8_t *bytes, size_t len);

/* ---- Saying what is wrong ---------------------------------------------------------------- */

static void print_path(const struct level *level, char *out, size_t size, size_t *len)
{
	if (level == NULL || level->field == NULL) {
		return;
	}
	if (level->outer != NULL) {
		print_path(level->outer, out, size, len);
		*len += (size_t)snprintf(out + *len, size - *len, ".");
	}
	*len += (size_t)snprintf(out + *len, size - *len, "%s", level->field->name);
	if (level->field->label == PROTOBUF_C_LABEL_REPEATED) {
		*len += (size_t)snprintf(out + *len, size - *len, "[%u]", level->index);
	}
	/* The names are ours and the path fits; should it ever not, it is cut and no more. */
	if (*len >= size) {
		*len = size - 1;
	}
}

/* The path is written only now: almost no message has a flaw, and printing costs. */
static int refuse(struct walk *walk, const struct level *level, int status, const char *reason)
{
	size_t len = 0;
	print_path(level, walk->flaw->path, sizeof(walk->flaw->path), &len);
	walk->flaw->reason = reason;
	return status;
}

/* ---- A first look ------------------------------------------------------------------------ */

void chi_pb_peek(const uint8_t *bytes, size_t len, uint64_t *id, uint32_t *op_field)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	*id = 0;
	*op_field = 0;
	while (chi_field_next(&r, &field)) {
		if (field.number == 1 && field.type == CHI_WIRE_VARINT) {
			*id = field.value;
		} else if (field.number >= CHI_OP_FIELD(CHI_OP_HELLO) &&
			   field.number < CHI_OP_FIELD(CHI_OP_COUNT_OF_OPS) && *op_field == 0) {
			*op_field = field.number;
		}
	}
}

/* ---- Single fields ----------------------------------------------------------------------- */

/* All that chistore.proto uses; it has no fixed-width field. */
static enum chi_wire_type wire_type_of(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return CHI_WIRE_BYTES;
	default:
		return CHI_WIRE_VARINT;
	}
}

/* NULL if the number fits the field's type, else what is wrong. */
static const char *number_flaw(const struct walk *walk, const ProtobufCFieldDescriptor *field,
			       uint64_t number)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SINT32:
		return number <= UINT32_MAX ? NULL : "number over 32 bits";
	case PROTOBUF_C_TYPE_ENUM:
		if (walk->enums == CHI_ENUMS_OPEN) {
			return NULL;
		}
		return number <= INT32_MAX && protobuf_c_enum_descriptor_get_value(
						      field->descriptor, (int)number) != NULL
			       ? NULL
			       : "unknown value";
	default:
		return NULL;
	}
}

/* Numbers of a repeated field in one piece; *count: how many. */
static const char *packed_flaw(const struct walk *walk, const struct level *level,
			       const struct chi_field *value, uint32_t *count)
{
	struct chi_reader r = chi_reader_of(value->bytes, value->len);
	*count = 0;
	while (chi_reader_left(&r) > 0) {
		const char *flaw = number_flaw(walk, level->field, chi_field_varint(&r));
		if (r.bad) {
			return "numbers cut short";
		}
		if (flaw != NULL) {
			return flaw;
		}
		*count += 1;
	}
	return NULL;
}

/* A NUL is valid UTF-8, but would end the text early for readers in C. */
static const char *text_flaw(const struct chi_field *value)
{
	const char *text = (const char *)value->bytes;
	if (value->len > 0 && memchr(text, '\0', value->len) != NULL) {
		return "NUL in a text";
	}
	return chi_utf8_valid(text, value->len) ? NULL : "text is not UTF-8";
}

/* Says that there are more than so many bytes or elements. */
static const char *too_many(struct walk *walk, const ProtobufCFieldDescriptor *field, size_t most)
{
	bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	(void)snprintf(walk->flaw->text, sizeof(walk->flaw->text), "more than %zu %s", most,
		       repeated ? field->name : "bytes");
	return walk->flaw->text;
}

/* NULL unless the text's length, or the elements up to now, are over the field's limit. */
static const char *limit_flaw(struct walk *walk, const struct level *level,
			      const ProtobufCMessageDescriptor *type, size_t len, size_t elements)
{
	const ProtobufCFieldDescriptor *field = level->field;
	bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	/* Most fields are single numbers, which have none. */
	if (!repeated && field->type != PROTOBUF_C_TYPE_STRING &&
	    field->type != PROTOBUF_C_TYPE_BYTES) {
		return NULL;
	}
	if (level->bound != NULL) {
		const struct chi_member *member = chi_message_member(level->bound, field->id);
		size_t most = member != NULL ? member->most : 0;
		return most > 0 && (repeated ? elements : len) > most ? too_many(walk, field, most)
								      : NULL;
	}
	for (size_t i = 0; i < CHI_COUNT(limits); i++) {
		if (limits[i].type == type && limits[i].field == field->id) {
			return (repeated ? elements : len) > limits[i].max ? limits[i].reason
									   : NULL;
		}
	}
	return NULL;
}

/* Which rules of the message as a whole the field breaks by being here. */
static const char *place_flaw(struct level *level, uint32_t seen)
{
	const ProtobufCFieldDescriptor *field = level->field;
	if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
		if (level->oneof_seen) {
			return "more than one of fields that exclude each other";
		}
		level->oneof_seen = true;
	}
	if (field->type == PROTOBUF_C_TYPE_MESSAGE && seen > 0 &&
	    field->label != PROTOBUF_C_LABEL_REPEATED) {
		return "given twice";
	}
	return NULL;
}

/* The rows of a message in a field. In Request and Response: the operation's, if they are its own.
 */
static const struct chi_message *bound_of(const struct level *level,
					  const ProtobufCFieldDescriptor *field)
{
	if (level->outer != NULL) {
		const struct chi_member *member =
			level->bound != NULL ? chi_message_member(level->bound, field->id) : NULL;
		return member != NULL ? member->type : NULL;
	}
	const struct chi_operation *operation = chi_operation_of(CHI_OP_OF_FIELD(field->id));
	if (field->descriptor == (const void *)operation->request->descriptor) {
		return operation->request_size > 0 ? operation->request : NULL;
	}
	return operation->result_size > 0 ? operation->result : NULL;
}

/* The contents. A piece of packed numbers is several elements, which *elements tells. */
static int check_value(struct walk *walk, struct level *level, const struct chi_field *value,
		       uint32_t *elements)
{
	const ProtobufCFieldDescriptor *field = level->field;
	const char *flaw = NULL;
	*elements = 1;
	if (value->type == CHI_WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED &&
	    wire_type_of(field) == CHI_WIRE_VARINT) {
		flaw = packed_flaw(walk, level, value, elements);
	} else if (value->type != wire_type_of(field)) {
		flaw = "field of another type";
	} else if (field->type == PROTOBUF_C_TYPE_STRING) {
		flaw = text_flaw(value);
	} else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		return check_message(walk, level, field->descriptor, bound_of(level, field),
				     value->bytes, value->len);
	} else {
		flaw = number_flaw(walk, field, value->value);
	}
	return flaw == NULL ? CHI_OK : refuse(walk, level, -CHI_EINVAL, flaw);
}

static int check_field(struct walk *walk, struct level *level,
		       const ProtobufCMessageDescriptor *type, const struct chi_field *value)
{
	size_t index = (size_t)(level->field - type->fields);
	uint32_t *seen = &level->seen[index];
	uint32_t elements = 0;
	level->index = *seen;
	const char *flaw = place_flaw(level, *seen);
	if (flaw != NULL) {
		return refuse(walk, level, -CHI_EINVAL, flaw);
	}
	/* Before the contents: what is too much is not worth looking at. */
	flaw = limit_flaw(walk, level, type, value->len, (size_t)*seen + 1);
	if (flaw != NULL) {
		return refuse(walk, level, -CHI_ETOOBIG, flaw);
	}
	int rc = check_value(walk, level, value, &elements);
	if (rc != CHI_OK) {
		return rc;
	}
	*seen += elements;
	flaw = elements > 1 ? limit_flaw(walk, level, type, value->len, *seen) : NULL;
	return flaw == NULL ? CHI_OK : refuse(walk, level, -CHI_ETOOBIG, flaw);
}

static int check_message(struct walk *walk, const struct level *outer,
			 const ProtobufCMessageDescriptor *type, const struct chi_message *bound,
			 const uint8_t *bytes, size_t len)
{
	/* Not zeroed as a whole: most messages have few fields, and there are thousands. */
	struct level level;
	if (type->n_fields > FIELDS_MAX) {
		return refuse(walk, outer, -CHI_EINTERNAL, "message type with too many fields");
	}
	level.outer = outer;
	level.bound = bound;
	level.field = NULL;
	level.index = 0;
	level.oneof_seen = false;
	memset(level.seen, 0, type->n_fields * sizeof(level.seen[0]));
	struct chi_reader r = chi_reader_of(bytes, len);
	while (chi_reader_left(&r) > 0) {
		struct chi_field value;
		if (!chi_field_next(&r, &value)) {
			return refuse(walk, outer, -CHI_EPROTO, "not a protobuf message");
		}
		level.field = protobuf_c_message_descriptor_get_field(type, value.number);
		/* A field of a later version: not ours to judge. */
		if (level.field == NULL) {
			continue;
		}
		int rc = check_field(walk, &level, type, &value);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

int chi_pb_check(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len,
		 enum chi_enums enums, struct chi_flaw *flaw)
{
	struct walk walk = {.enums = enums, .flaw = flaw};
	*flaw = (struct chi_flaw){.reason = ""};
	return check_message(&walk, NULL, type, NULL, bytes, len);
}
