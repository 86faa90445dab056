/* SPDX-License-Identifier: MIT */
/*
 * Bytes to structs: one walk a message. Each field is looked at before anything is done with it
 * (see pbc.h), and kept by its row at once, but for the elements of lists: these are counted first,
 * so that their memory comes in one piece and not before it is known that there are not too many.
 * Types of messages are not recursive, so the stack is as deep as they are nested.
 */
#include "proto/message.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "proto/record.h"

#define FIELDS_MAX 64 /* no message type has more fields; the walk refuses one that had */

/* ---- Places in structs ------------------------------------------------------------------- */

/* Says in the struct that the member is there. */
static void set_there(const struct chi_member *member, void *base)
{
	void *other = chi_member_room(base, member->other);
	if (member->presence == CHI_IF_FLAG) {
		*(bool *)other = true;
	} else if (member->presence == CHI_IF_CASE) {
		chi_set_number(other, sizeof(uint32_t), member->instead);
	}
}

/* ---- What is wrong with a field ---------------------------------------------------------- */

/* A message on its way into a struct. */
struct walk {
	struct chi_unpacker *u;
	const struct chi_message *type;
	void *out;	 /* NULL: it is only looked at; a function reads it afterwards */
	bool oneof_seen; /* no message type has two oneofs */
	bool has_lists;
	uint32_t seen[FIELDS_MAX]; /* elements so far of each field */
};

/* The field at hand. */
struct place_of {
	const ProtobufCFieldDescriptor *field;
	const struct chi_member *member;
	uint32_t *seen;
};

static bool is_repeated(const ProtobufCFieldDescriptor *field)
{
	return field->label == PROTOBUF_C_LABEL_REPEATED;
}

/* The path is written only where there is a flaw: almost no message has one, and printing costs. */
static __attribute__((__cold__, __noinline__)) int
refuse_field(const struct walk *walk, const struct place_of *at, int status, const char *reason)
{
	return is_repeated(at->field)
		       ? chi_flaw_set(walk->u->flaw, status, reason, "%s[%u]", at->field->name,
				      *at->seen)
		       : chi_flaw_set(walk->u->flaw, status, reason, "%s", at->field->name);
}

/* Says in which field the nested message is that is refused; of none if it is memory that lacks. */
static __attribute__((__cold__, __noinline__)) int
name_nested(const struct walk *walk, const struct place_of *at, int status)
{
	struct chi_flaw *flaw = walk->u->flaw;
	if (flaw->path[0] == '\0' && flaw->lacks_memory) {
		return status;
	}
	if (is_repeated(at->field)) {
		chi_flaw_under(flaw, "%s[%u]", at->field->name, *at->seen);
	} else {
		chi_flaw_under(flaw, "%s", at->field->name);
	}
	return status;
}

/* All that chistore.proto uses; it has no fixed-width field. */
static inline enum chi_wire_type wire_type_of(const ProtobufCFieldDescriptor *field)
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
static inline const char *number_flaw(const struct walk *walk,
				      const ProtobufCFieldDescriptor *field, uint64_t number)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SINT32:
		return number <= UINT32_MAX ? NULL : "number over 32 bits";
	case PROTOBUF_C_TYPE_ENUM:
		if (walk->u->enums == CHI_ENUMS_OPEN) {
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
static const char *packed_flaw(const struct walk *walk, const ProtobufCFieldDescriptor *field,
			       const struct chi_field *value, uint32_t *count)
{
	struct chi_reader r = chi_reader_of(value->bytes, value->len);
	*count = 0;
	while (chi_reader_left(&r) > 0) {
		const char *flaw = number_flaw(walk, field, chi_field_varint(&r));
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

/* What is wrong with the contents, if they are no message. A piece of packed numbers is several
 * elements, which *elements tells. */
static const char *value_flaw(const struct walk *walk, const ProtobufCFieldDescriptor *field,
			      const struct chi_field *value, uint32_t *elements)
{
	enum chi_wire_type wanted = wire_type_of(field);
	if (value->type != wanted) {
		return value->type == CHI_WIRE_BYTES && is_repeated(field)
			       ? packed_flaw(walk, field, value, elements)
			       : "field of another type";
	}
	if (wanted == CHI_WIRE_VARINT) {
		return number_flaw(walk, field, value->value);
	}
	return field->type == PROTOBUF_C_TYPE_STRING ? text_flaw(value) : NULL;
}

/* Says that there are more than so many bytes or elements. */
static __attribute__((__cold__, __noinline__)) const char *too_many(const struct walk *walk,
								    const struct place_of *at)
{
	struct chi_flaw *flaw = walk->u->flaw;
	if (at->member->reason != NULL) {
		return at->member->reason;
	}
	(void)snprintf(flaw->text, sizeof(flaw->text), "more than %u %s", at->member->most,
		       is_repeated(at->field) ? at->field->name : "bytes");
	return flaw->text;
}

/* Whether so many bytes of a text, or elements, are over the field's limit. */
static bool is_too_much(const struct place_of *at, size_t len, size_t elements)
{
	return at->member->most > 0 && (is_repeated(at->field) ? elements : len) > at->member->most;
}

/* Which rules of the message as a whole the field breaks by being here. */
static const char *presence_flaw(struct walk *walk, const struct place_of *at)
{
	if ((at->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
		if (walk->oneof_seen) {
			return "more than one of fields that exclude each other";
		}
		walk->oneof_seen = true;
	}
	return at->field->type == PROTOBUF_C_TYPE_MESSAGE && *at->seen > 0 &&
			       !is_repeated(at->field)
		       ? "given twice"
		       : NULL;
}

/* ---- Keeping a field --------------------------------------------------------------------- */

/* Without a limit of its own: what its bytes can hold. */
static inline uint64_t most_of(const struct chi_member *member)
{
	return member->max != 0 ? member->max : UINT64_MAX >> (64 - 8 * member->size);
}

static int keep_number(const struct chi_member *member, uint64_t value, void *out,
		       const char **reason)
{
	if (value > most_of(member)) {
		if (member->max == 0 || member->reason != NULL) {
			*reason = member->reason != NULL ? member->reason : "out of range";
			return -CHI_EINVAL;
		}
		value = member->instead;
	}
	chi_set_number(out, member->size, value);
	return CHI_OK;
}

static int keep_signed(const struct chi_member *member, uint64_t value, void *base,
		       const char **reason)
{
	int32_t number = chi_unzigzag((uint32_t)value);
	if (number < member->min || number > (int32_t)member->max) {
		*reason = member->reason;
		return -CHI_EINVAL;
	}
	memcpy(chi_member_room(base, member->at), &number, sizeof(number));
	set_there(member, base);
	return CHI_OK;
}

static int keep_fixed(const struct chi_member *member, const struct chi_field *field, void *base,
		      const char **reason)
{
	if (field->len == 0 && member->presence != CHI_ALWAYS) {
		return CHI_OK;
	}
	if (field->len != member->size) {
		*reason = "not 16 bytes";
		return -CHI_EINVAL;
	}
	memcpy(chi_member_room(base, member->at), field->bytes, member->size);
	set_there(member, base);
	return CHI_OK;
}

static int keep_chars(const struct chi_member *member, const struct chi_field *field, void *out,
		      const char **reason)
{
	if (field->len >= member->size) {
		*reason = "too long";
		return -CHI_EINVAL;
	}
	memcpy(out, field->bytes, field->len);
	return CHI_OK;
}

static int keep_text(struct chi_unpacker *u, const struct chi_member *member,
		     const struct chi_field *field, void *out)
{
	struct chi_text text = {0};
	int rc = chi_text_read(u, field, &text);
	if (rc == CHI_OK && member->kind == CHI_TEXT) {
		memcpy(out, &text, sizeof(text));
	} else if (rc == CHI_OK && (field->len > 0 || member->presence == CHI_ALWAYS)) {
		memcpy(out, &text.bytes, sizeof(text.bytes));
	}
	return rc;
}

static int keep_bytes(struct chi_unpacker *u, const struct chi_member *member,
		      const struct chi_field *field, void *base)
{
	const char *bytes = chi_arena_text(u->arena, field->bytes, field->len);
	if (bytes == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, field->len + 1);
	}
	memcpy(chi_member_room(base, member->at), &bytes, sizeof(bytes));
	memcpy(chi_member_room(base, member->other), &field->len, sizeof(field->len));
	return CHI_OK;
}

static int keep_nested(struct chi_unpacker *u, const struct chi_member *member,
		       const struct chi_field *field, void *base)
{
	void *inner = chi_member_room(base, member->at);
	if (member->presence == CHI_IF_POINTER) {
		void *made = chi_arena_array(u->arena, 1, member->size);
		if (made == NULL) {
			return chi_flaw_memory(u->flaw, u->arena, member->size);
		}
		memcpy(inner, &made, sizeof(made));
		inner = made;
	}
	set_there(member, base);
	return chi_message_read(u, member->type, field->bytes, field->len, inner);
}

static int keep_numbers(struct chi_unpacker *u, const struct chi_member *member,
			const struct chi_field *field, void *base, const char **reason)
{
	size_t n = field->len / sizeof(uint32_t);
	uint32_t *numbers = chi_arena_array(u->arena, n, sizeof(*numbers));
	if (numbers == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, field->len);
	}
	if (field->len % sizeof(uint32_t) != 0) {
		*reason = "not 4 bytes a number";
		return -CHI_EINVAL;
	}
	struct chi_reader r = chi_reader_of(field->bytes, field->len);
	for (size_t i = 0; i < n; i++) {
		numbers[i] = (uint32_t)chi_read_le(&r, sizeof(*numbers));
	}
	memcpy(chi_member_room(base, member->at), &numbers, sizeof(numbers));
	memcpy(chi_member_room(base, member->other), &n, sizeof(n));
	return CHI_OK;
}

static int keep_key(struct chi_unpacker *u, const struct chi_member *member,
		    const struct chi_field *field, void *out, const char **reason)
{
	if (member->presence == CHI_IF_POINTER && field->len > 0) {
		struct chi_key *made = chi_arena_array(u->arena, 1, sizeof(*made));
		if (made == NULL) {
			return chi_flaw_memory(u->flaw, u->arena, sizeof(*made));
		}
		memcpy(out, &made, sizeof(made));
		out = made;
	}
	*reason = field->len > 0 ? chi_key_from(field->bytes, field->len, out) : NULL;
	return *reason == NULL ? CHI_OK : -CHI_EKEY;
}

static int keep_member(struct chi_unpacker *u, const struct chi_member *member,
		       const struct chi_field *field, void *base, const char **reason)
{
	void *out = chi_member_room(base, member->at);
	switch (member->kind) {
	case CHI_NUMBER:
		return keep_number(member, field->value, out, reason);
	case CHI_SIGNED:
		return keep_signed(member, field->value, base, reason);
	case CHI_BOOL:
		*(bool *)out = field->value != 0;
		return CHI_OK;
	case CHI_CHARS:
		return keep_chars(member, field, out, reason);
	case CHI_BYTES:
		return keep_bytes(u, member, field, base);
	case CHI_SLICE:
		memcpy(out, &field->bytes, sizeof(field->bytes));
		memcpy(chi_member_room(base, member->other), &field->len, sizeof(field->len));
		return CHI_OK;
	case CHI_FIXED:
		return keep_fixed(member, field, base, reason);
	case CHI_KEY:
		return keep_key(u, member, field, out, reason);
	case CHI_NUMBERS:
		return keep_numbers(u, member, field, base, reason);
	case CHI_NESTED:
		return keep_nested(u, member, field, base);
	case CHI_UNKEPT:
		return CHI_OK;
	default: /* TEXT, STRING */
		return keep_text(u, member, field, out);
	}
}

/* ---- A message --------------------------------------------------------------------------- */

/* What is only counted, until there is memory for all of it. */
static bool is_list(const struct chi_member *member)
{
	return member->kind == CHI_LIST || member->kind == CHI_MOVES;
}

static int look_at_message(struct chi_unpacker *u, const struct chi_message *type,
			   const uint8_t *bytes, size_t len, void *out);

/* A message in a field. An element of a list is only counted, until there is memory for all. */
CHI_INLINE int walk_nested(struct walk *walk, const struct place_of *at,
			   const struct chi_field *value)
{
	const struct chi_member *member = at->member;
	if (value->type != CHI_WIRE_BYTES) {
		return refuse_field(walk, at, -CHI_EINVAL, "field of another type");
	}
	int rc = CHI_OK;
	if (walk->out == NULL || member->kind == CHI_UNKEPT) {
		if (member->type != NULL) {
			rc = look_at_message(walk->u, member->type, value->bytes, value->len, NULL);
		}
	} else if (member->kind == CHI_LIST) {
		walk->has_lists = true;
	} else {
		rc = keep_nested(walk->u, member, value, walk->out);
	}
	if (rc != CHI_OK) {
		return name_nested(walk, at, rc);
	}
	*at->seen += 1;
	return CHI_OK;
}

/* Keeps what is no message, or counts it. */
static int walk_plain(struct walk *walk, const struct place_of *at, const struct chi_field *value)
{
	uint32_t elements = 1;
	const char *reason = value_flaw(walk, at->field, value, &elements);
	if (reason != NULL) {
		return refuse_field(walk, at, -CHI_EINVAL, reason);
	}
	if (elements > 1 && is_too_much(at, value->len, (size_t)*at->seen + elements)) {
		return refuse_field(walk, at, -CHI_ETOOBIG, too_many(walk, at));
	}
	*at->seen += elements;
	if (walk->out == NULL) {
		return CHI_OK;
	}
	if (is_list(at->member)) {
		walk->has_lists = true;
		return CHI_OK;
	}
	int rc = keep_member(walk->u, at->member, value, walk->out, &reason);
	return reason == NULL ? rc : chi_flaw_set(walk->u->flaw, rc, reason, "%s", at->field->name);
}

CHI_INLINE int walk_field(struct walk *walk, const struct place_of *at,
			  const struct chi_field *value)
{
	const char *reason = presence_flaw(walk, at);
	if (reason != NULL) {
		return refuse_field(walk, at, -CHI_EINVAL, reason);
	}
	/* Before the contents: what is too much is not worth looking at. */
	if (is_too_much(at, value->len, (size_t)*at->seen + 1)) {
		return refuse_field(walk, at, -CHI_ETOOBIG, too_many(walk, at));
	}
	return at->field->type == PROTOBUF_C_TYPE_MESSAGE ? walk_nested(walk, at, value)
							  : walk_plain(walk, at, value);
}

/* Where the number is among the message's fields; -1: it is of a later version. Nearly always its
 * numbers are without a gap. */
static inline int index_of(const ProtobufCMessageDescriptor *type, uint32_t number)
{
	const ProtobufCIntRange *range = type->field_ranges;
	for (unsigned i = 0; i < type->n_field_ranges; i++, range++) {
		uint32_t away = number - (uint32_t)range->start_value;
		/* After the last range there is one more, which ends it. */
		if (away < range[1].orig_index - range[0].orig_index) {
			return (int)(range->orig_index + away);
		}
	}
	return -1;
}

/* The field of that number, with its row. */
CHI_INLINE bool find_field(struct walk *walk, uint32_t number, struct place_of *out)
{
	static const struct chi_member none = {.kind = CHI_UNKEPT};
	const struct chi_message *type = walk->type;
	int index = index_of(type->descriptor, number);
	if (index < 0) {
		return false;
	}
	out->field = &type->descriptor->fields[index];
	out->seen = &walk->seen[index];
	if (CHI_LIKELY((size_t)index < type->n)) {
		out->member = &type->members[index];
	} else {
		out->member = type->rest != NULL ? type->rest : &none;
	}
	return true;
}

/* Now that they are counted: memory for the elements of each list, */
static int take_lists(struct walk *walk)
{
	for (size_t i = 0; i < walk->type->n; i++) {
		const struct chi_member *member = &walk->type->members[i];
		size_t n = walk->seen[i];
		if (!is_list(member) || n == 0) {
			continue;
		}
		void *elements = chi_arena_array(walk->u->arena, n, member->size);
		if (elements == NULL) {
			return chi_flaw_memory(walk->u->flaw, walk->u->arena, n * member->size);
		}
		memcpy(chi_member_room(walk->out, member->at), &elements, sizeof(elements));
		walk->seen[i] = 0;
	}
	return CHI_OK;
}

/* One piece of them: packed numbers, or a single one from a writer that does not pack. What is too
 * large becomes 0, which is no move. */
static void keep_moves(const struct chi_field *value, chi_move *moves, uint32_t *n)
{
	struct chi_reader r = chi_reader_of(value->bytes, value->len);
	uint64_t move = value->value;
	bool is_single = value->type == CHI_WIRE_VARINT;
	while (is_single || chi_reader_left(&r) > 0) {
		move = is_single ? move : chi_field_varint(&r);
		moves[(*n)++] = move <= UINT16_MAX ? (chi_move)move : 0;
		is_single = false;
	}
}

/* and the elements themselves. */
static int keep_lists(struct walk *walk, const uint8_t *bytes, size_t len)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field value;
	struct place_of at;
	int rc = take_lists(walk);
	while (rc == CHI_OK && chi_field_next(&r, &value)) {
		if (!find_field(walk, value.number, &at) || !is_list(at.member)) {
			continue;
		}
		uint8_t *elements = NULL;
		memcpy(&elements, chi_member_room(walk->out, at.member->at), sizeof(elements));
		if (at.member->kind == CHI_MOVES) {
			keep_moves(&value, (chi_move *)elements, at.seen);
		} else {
			rc = chi_message_read(walk->u, at.member->type, value.bytes, value.len,
					      elements + *at.seen * at.member->size);
			if (rc != CHI_OK) {
				return name_nested(walk, &at, rc);
			}
			*at.seen += 1;
		}
		size_t n = *at.seen;
		memcpy(chi_member_room(walk->out, at.member->other), &n, sizeof(n));
	}
	return rc;
}

/* What a field has that was not sent: texts are empty ones, and bytes that must be there fail. */
static int keep_absent(const struct walk *walk)
{
	static const char *const empty = "";
	for (size_t i = 0; i < walk->type->n; i++) {
		const struct chi_member *member = &walk->type->members[i];
		bool always = member->presence == CHI_ALWAYS;
		if ((!always && member->kind != CHI_TEXT && member->presence != CHI_UNLESS_FLAG) ||
		    walk->seen[i] > 0) {
			continue;
		}
		if (member->kind == CHI_TEXT || (member->kind == CHI_STRING && always)) {
			/* A chi_text begins with its bytes. */
			memcpy(chi_member_room(walk->out, member->at), &empty, sizeof(empty));
		} else if (member->presence == CHI_UNLESS_FLAG && !walk->oneof_seen) {
			return chi_flaw_set(walk->u->flaw, -CHI_EINVAL, "missing", "%s",
					    walk->type->descriptor->fields[i].name);
		} else if (member->kind == CHI_FIXED && always) {
			return chi_flaw_set(walk->u->flaw, -CHI_EINVAL, "not 16 bytes", "%s",
					    walk->type->descriptor->fields[i].name);
		}
	}
	return CHI_OK;
}

/* Most fields are numbers as they should be, with a tag of one byte, in a message whose fields are
 * numbered from 1 without a gap; none of a oneof is a CHI_NUMBER. False: this is none, and nothing
 * was done. */
CHI_INLINE bool keep_plain_number(struct walk *walk, struct chi_reader *r)
{
	const struct chi_message *type = walk->type;
	const uint8_t tag = *r->at;
	const uint32_t index = (tag >> 3) - 1u;
	if ((tag & 0x87) != CHI_WIRE_VARINT || index >= type->n || walk->out == NULL) {
		return false;
	}
	const struct chi_member *member = &type->members[index];
	const ProtobufCFieldDescriptor *field = &type->descriptor->fields[index];
	struct chi_reader after = *r;
	after.at++;
	uint64_t value = chi_field_varint(&after);
	if (member->kind != CHI_NUMBER || field->type == PROTOBUF_C_TYPE_ENUM || after.bad ||
	    member->field != index + 1 || value > most_of(member) ||
	    (value > UINT32_MAX && field->type != PROTOBUF_C_TYPE_UINT64)) {
		return false;
	}
	chi_set_number(chi_member_room(walk->out, member->at), member->size, value);
	walk->seen[index] += 1;
	*r = after;
	return true;
}

/* Into a struct, or NULL. */
static int look_at_message(struct chi_unpacker *u, const struct chi_message *type,
			   const uint8_t *bytes, size_t len, void *out)
{
	/* Not zeroed as a whole: most messages have few fields, and there are thousands. */
	struct walk walk;
	struct place_of at;
	struct chi_field value;
	walk.u = u;
	walk.type = type;
	walk.out = out;
	walk.oneof_seen = false;
	walk.has_lists = false;
	if (type->descriptor->n_fields > FIELDS_MAX) {
		return chi_flaw_set(u->flaw, -CHI_EINTERNAL, "message type with too many fields",
				    "%s", "");
	}
	memset(walk.seen, 0, type->descriptor->n_fields * sizeof(walk.seen[0]));
	struct chi_reader r = chi_reader_of(bytes, len);
	while (chi_reader_left(&r) > 0) {
		if (keep_plain_number(&walk, &r)) {
			continue;
		}
		if (!chi_field_next(&r, &value)) {
			return chi_flaw_set(u->flaw, -CHI_EPROTO, "not a protobuf message", "%s",
					    "");
		}
		/* A field of a later version is not ours to judge. */
		if (!find_field(&walk, value.number, &at)) {
			continue;
		}
		int rc = walk_field(&walk, &at, &value);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (out == NULL) {
		return CHI_OK;
	}
	int rc = walk.has_lists ? keep_lists(&walk, bytes, len) : CHI_OK;
	return rc == CHI_OK ? keep_absent(&walk) : rc;
}

int chi_message_read(struct chi_unpacker *u, const struct chi_message *type, const uint8_t *bytes,
		     size_t len, void *out)
{
	int rc = CHI_OK;
	if (type->descriptor != NULL) {
		rc = look_at_message(u, type, bytes, len, out);
	}
	if (rc == CHI_OK && type->read != NULL) {
		rc = type->read(u, bytes, len, out);
	}
	return rc == CHI_OK && type->check != NULL ? type->check(u, out) : rc;
}

int chi_message_check(struct chi_unpacker *u, const struct chi_message *type, const uint8_t *bytes,
		      size_t len)
{
	return look_at_message(u, type, bytes, len, NULL);
}
