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
	const struct chi_message *bound; /* its rows, with their limits; NULL: there are none */
	const ProtobufCFieldDescriptor *field;
	uint32_t index;		   /* of the element, if the field is repeated */
	uint32_t seen[FIELDS_MAX]; /* elements so far of each field */
	bool oneof_seen;	   /* no message type has two oneofs */
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
static int refuse_message(struct walk *walk, const struct level *level, int status,
			  const char *reason)
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
static const char *too_many(struct walk *walk, const ProtobufCFieldDescriptor *field,
			    const struct chi_member *member)
{
	bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	if (member->reason != NULL) {
		return member->reason;
	}
	(void)snprintf(walk->flaw->text, sizeof(walk->flaw->text), "more than %u %s", member->most,
		       repeated ? field->name : "bytes");
	return walk->flaw->text;
}

/* NULL unless the text's length, or the elements up to now, are over the field's limit. */
static const char *limit_flaw(struct walk *walk, const struct level *level, size_t len,
			      size_t elements)
{
	const ProtobufCFieldDescriptor *field = level->field;
	bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
	/* Most fields are single numbers, which have none. */
	if (level->bound == NULL || (!repeated && field->type != PROTOBUF_C_TYPE_STRING &&
				     field->type != PROTOBUF_C_TYPE_BYTES)) {
		return NULL;
	}
	const struct chi_member *member = chi_message_member(level->bound, field->id);
	size_t most = member != NULL ? member->most : 0;
	return most > 0 && (repeated ? elements : len) > most ? too_many(walk, field, member)
							      : NULL;
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

/* The rows of a message in a field; in Request and Response those of the operation. */
static const struct chi_message *bound_of(const struct level *level,
					  const ProtobufCFieldDescriptor *field)
{
	const struct chi_member *member =
		level->bound != NULL ? chi_message_member(level->bound, field->id) : NULL;
	if (member != NULL || level->outer != NULL) {
		return member != NULL ? member->type : NULL;
	}
	const struct chi_operation *operation = chi_operation_of(CHI_OP_OF_FIELD(field->id));
	return level->bound == &chi_request_message ? operation->request : operation->result;
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
	return flaw == NULL ? CHI_OK : refuse_message(walk, level, -CHI_EINVAL, flaw);
}

static int check_field(struct walk *walk, struct level *level,
		       const ProtobufCMessageDescriptor *type, const struct chi_field *value)
{
	uint32_t *seen = &level->seen[level->field - type->fields];
	uint32_t elements = 0;
	level->index = *seen;
	const char *flaw = place_flaw(level, *seen);
	if (flaw != NULL) {
		return refuse_message(walk, level, -CHI_EINVAL, flaw);
	}
	/* Before the contents: what is too much is not worth looking at. */
	flaw = limit_flaw(walk, level, value->len, (size_t)*seen + 1);
	if (flaw != NULL) {
		return refuse_message(walk, level, -CHI_ETOOBIG, flaw);
	}
	int rc = check_value(walk, level, value, &elements);
	if (rc != CHI_OK) {
		return rc;
	}
	*seen += elements;
	flaw = elements > 1 ? limit_flaw(walk, level, value->len, *seen) : NULL;
	return flaw == NULL ? CHI_OK : refuse_message(walk, level, -CHI_ETOOBIG, flaw);
}

static int check_message(struct walk *walk, const struct level *outer,
			 const ProtobufCMessageDescriptor *type, const struct chi_message *bound,
			 const uint8_t *bytes, size_t len)
{
	/* Not zeroed as a whole: most messages have few fields, and there are thousands. */
	struct level level;
	if (type->n_fields > FIELDS_MAX) {
		return refuse_message(walk, outer, -CHI_EINTERNAL,
				      "message type with too many fields");
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
			return refuse_message(walk, outer, -CHI_EPROTO, "not a protobuf message");
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

int chi_pb_check(const struct chi_message *type, const uint8_t *bytes, size_t len,
		 enum chi_enums enums, struct chi_flaw *flaw)
{
	struct walk walk = {.enums = enums, .flaw = flaw};
	*flaw = (struct chi_flaw){.reason = ""};
	return check_message(&walk, NULL, type->descriptor, type, bytes, len);
}
