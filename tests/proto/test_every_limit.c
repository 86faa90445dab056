/* SPDX-License-Identifier: MIT */
/*
 * Every limit of every field, by the rows of the messages: so many are taken, one more is refused
 * with the field's path, the status and the words; so is what is no text, number or enumerator. The
 * numbers stand here once more, so that a limit does not change unnoticed. A message is made of
 * nothing but the field, in the messages that lead to it: what else is missing in it comes after
 * its limit.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "proto/operations.h"
#include "tests/base/cases.h"
#include "tests/proto/wire.h"

#define PATH_MAX_LEN 200
#define DEPTH_MAX    8

/* Bytes of a text, elements of a list, or the greatest number. Each has its line. */
struct known {
	const char *field; /* with its message */
	uint64_t most;
};

static const struct known known[] = {
	{"Hello.client", 64},
	{"Hello.access_token", 256},
	{"StoreName.statistic", 6},
	{"InfoResult.format_major", 65535},
	{"InfoResult.format_minor", 65535},
	{"InfoResult.statistic", 6},
	{"InfoResult.creator", 31},
	{"InfoResult.counts_only", 1},
	{"Probe.fens", 4096},
	{"GetResult.entries", 4096},
	{"Record.chi2", 25599},
	{"Record.moves", 256},
	{"MoveStat.move", 65535},
	{"Record.evals", 64},
	{"Eval.engine", 64},
	{"Eval.depth", 65535},
	{"Eval.centipawns", 1000000},
	{"Eval.mate", 10000},
	{"Eval.pv", 256},
	{"Eval.rank", 63},
	{"Record.line", 1024},
	{"Record.note", 65536},
	{"Record.plies", 4097},
	{"PlyStat.ply", 4096},
	{"Put.entries", 10000},
	{"Put.games", 200000},
	{"Delete.fens", 10000},
	{"Scan.chi2_min", 25599},
	{"Scan.chi2_max", 25599},
	{"Filter.pieces_min", 32},
	{"Filter.pieces_max", 32},
	{"Range.min", 65535},
	{"Range.max", 65535},
	{"Evidence.engine", 64},
	{"Filter.engines_min", 64},
	{"Cursor.chi2", 25599},
	{"Scan.games", 4096},
	{"Scan.pattern", 4096},
	{"ScanResult.entries", 10000},
	{"Count.chi2_min", 25599},
	{"Count.chi2_max", 25599},
	{"Count.games", 4096},
	{"Count.pattern", 4096},
	{"Row.chi2", 25599},
	{"Row.depth", 65535},
	{"Row.score", 1000000},
	{"Row.best", 65535},
	{"Row.best_source", 3},
	{"ExploreResult.min_ply", 4096},
	{"ExploreResult.moves", 256},
	{"ExploreMove.move", 65535},
	{"Import.filter", 4096},
	{"Import.source", 255},
	{"Import.engine", 64},
	{"ImportResult.notes", 1000},
	{"GameNote.file", 255},
	{"GameNote.text", 1024},
	{"ImportResult.phase", 32},
	{"ImportData.file", 255},
	{"GameIdsResult.games", 200000},
	{"GameIdsResult.numbers", 40000},
	{"ChangeNamesResult.refused", 10000},
	{"NameRefusal.reason", 255},
	{"QueueTakeResult.rows", 4096},
	{"QueueRow.holder", 64},
	{"GameQuery.filter", 4096},
	{"GameQuery.cursor", 31},
	{"GameQueryResult.games", 10000},
	{"GameRow.result", 3},
	{"GameRow.year", 9999},
	{"GameRow.month", 12},
	{"GameRow.day", 31},
	{"GameRow.eco", 500},
	{"GameRow.ply", 65535},
	{"GameQueryResult.cursor", 31},
	{"GameQueryResult.plan", 4096},
	{"Game.tags", 4096},
	{"Explore.filter", 4096},
	{"Stats.filter", 4096},
	{"StatsResult.groups", 10000},
	{"StatsGroup.expected", 10000},
	{"StatsGroup.beyond", 1000000},
	{"Names.wanted", 1024},
	{"NamesResult.names", 10000},
	{"Name.text", 1023},
	{"SuspectsResult.groups", 10000},
	{"ChangeNames.changes", 10000},
	{"NameChange.name", 1023},
	{"NameChange.to", 1023},
	{"Gamesets.name", 64},
	{"GamesetsResult.gamesets", 10000},
	{"Gameset.name", 64},
	{"Gameset.filter", 16384},
	{"MakeGameset.name", 64},
	{"MakeGameset.filter", 4096},
	{"DropGameset.name", 64},
	{"QueueAdd.fens", 4096},
	{"QueueTake.fens", 4096},
	{"QueueTake.holder", 64},
	{"QueueSettle.fens", 4096},
	{"QueueListResult.rows", 4096},
	{"Twins.filter", 4096},
	{"TwinsResult.groups", 262144},
	{"Insight.filter", 4096},
	{"Insight.fdr", 1000},
	{"Insight.years", 1000},
	{"Insight.engines", 64},
	{"InsightOpinion.engine", 64},
	{"InsightOpinion.depth", 65535},
	{"InsightOpinion.eval", 25599},
	{"InsightRow.move", 65535},
	{"InsightRow.low", 10000},
	{"InsightRow.high", 10000},
	{"InsightRow.eval", 1000000},
	{"InsightRow.loss", 2000000},
	{"InsightResult.rows", 10000},
	{"GetHeads.numbers", 4000},
	{"HeadsResult.rows", 1000},
};

static bool met[CHI_COUNT(known)];

/* A field on the way to one that has a limit; the operation's has no row. */
struct step {
	const struct step *outer;
	uint32_t number;
	const ProtobufCFieldDescriptor *field;
};

struct subject {
	bool is_request;
	enum chi_op op;
	const struct step *step;
	const struct chi_member *member;
};

/* ---- Making messages --------------------------------------------------------------------- */

/* What is in `contents` becomes a field of it. */
static void wrap(struct chi_buffer *contents, uint32_t number)
{
	_cleanup_(chi_buffer_deinit) struct chi_buffer inner = *contents;
	chi_buffer_init(contents, WIRE_LIMIT);
	wire_nested(contents, number, &inner);
}

static void wrap_all(struct chi_buffer *contents, const struct subject *subject)
{
	uint8_t id[2] = {0x08, 1};
	for (const struct step *step = subject->step->outer; step != NULL; step = step->outer) {
		wrap(contents, step->number);
	}
	wrap(contents, CHI_OP_FIELD(subject->op));
	wire_append(contents, id, sizeof(id));
}

static bool is_repeated(const ProtobufCFieldDescriptor *field)
{
	return field->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_number(const ProtobufCFieldDescriptor *field)
{
	return field->type < PROTOBUF_C_TYPE_STRING;
}

/* The field with so many bytes or elements, or that number. Numbers are packed. */
static void put_so_much(struct chi_buffer *out, const ProtobufCFieldDescriptor *field, uint64_t n)
{
	static uint8_t letters[1 << 20];
	memset(letters, 'a', sizeof(letters));
	if (is_repeated(field) && is_number(field)) {
		assert_true(n <= sizeof(letters));
		wire_append(out, letters, n);
		wrap(out, field->id);
	} else if (is_repeated(field)) {
		for (uint64_t i = 0; i < n; i++) {
			wire_bytes(out, field->id, "", 0);
		}
	} else if (is_number(field)) {
		uint64_t number =
			field->type == PROTOBUF_C_TYPE_SINT32 ? chi_zigzag((int32_t)n) : n;
		wire_number(out, field->id, number);
	} else {
		assert_true(n <= sizeof(letters));
		wire_append(out, letters, n);
		wrap(out, field->id);
	}
}

/* ---- What is said of them ---------------------------------------------------------------- */

/* As a flaw names it: elements by their index. */
static void print_path(const struct subject *subject, uint64_t index, char out[PATH_MAX_LEN])
{
	const struct step *way[DEPTH_MAX];
	size_t n = 0;
	for (const struct step *step = subject->step; step != NULL; step = step->outer) {
		assert_true(n < DEPTH_MAX);
		way[n++] = step;
	}
	size_t at = (size_t)snprintf(out, PATH_MAX_LEN, "%s", chi_op_name(subject->op));
	while (n-- > 0) {
		const ProtobufCFieldDescriptor *field = way[n]->field;
		at += (size_t)snprintf(out + at, PATH_MAX_LEN - at, ".%s", field->name);
		if (is_repeated(field)) {
			at += (size_t)snprintf(out + at, PATH_MAX_LEN - at, "[%llu]",
					       (unsigned long long)(n == 0 ? index : 0));
		}
	}
}

/* Unpacks the messages around the contents, which it frees. */
static int status_of(const struct subject *subject, struct chi_buffer *contents,
		     char field_out[PATH_MAX_LEN], struct chi_fault *fault)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	_cleanup_(chi_buffer_deinit) struct chi_buffer wire = *contents;
	struct chi_request request;
	struct chi_response response;
	const char *field = "";
	chi_arena_init(&arena, WIRE_LIMIT);
	*fault = (struct chi_fault){""};
	wrap_all(&wire, subject);
	int status = subject->is_request ? chi_request_unpack(chi_buffer_bytes(&wire), wire.len,
							      &arena, &request, &field, fault)
					 : chi_response_unpack(chi_buffer_bytes(&wire), wire.len,
							       &arena, &response, fault);
	(void)snprintf(field_out, PATH_MAX_LEN, "%s", field);
	return status;
}

static int status_of_so_much(const struct subject *subject, uint64_t n,
			     char field_out[PATH_MAX_LEN], struct chi_fault *fault)
{
	struct chi_buffer contents;
	chi_buffer_init(&contents, WIRE_LIMIT);
	put_so_much(&contents, subject->step->field, n);
	return status_of(subject, &contents, field_out, fault);
}

/* The words of too much, and its status. */
static int refusal_of(const struct subject *subject, uint64_t most, char words[PATH_MAX_LEN])
{
	const struct chi_member *member = subject->member;
	const ProtobufCFieldDescriptor *field = subject->step->field;
	bool is_text = member->most > 0;
	char path[PATH_MAX_LEN];
	char why[PATH_MAX_LEN];
	print_path(subject, is_number(field) ? 0 : most, path);
	(void)snprintf(why, sizeof(why), "more than %llu %s", (unsigned long long)most,
		       is_repeated(field) ? field->name : "bytes");
	const char *reason = member->reason != NULL	 ? member->reason
			     : member->kind == CHI_CHARS ? "too long"
							 : why;
	(void)snprintf(words, PATH_MAX_LEN, "%.90s: %.90s", path, reason);
	return !subject->is_request ? -CHI_EPROTO : is_text ? -CHI_ETOOBIG : -CHI_EINVAL;
}

static void check_limit(const struct subject *subject, uint64_t most)
{
	char words[PATH_MAX_LEN];
	char field[PATH_MAX_LEN];
	struct chi_fault fault;
	int wanted = refusal_of(subject, most, words);
	for (uint64_t n = most > 0 ? most - 1 : 0; n <= most; n++) {
		(void)status_of_so_much(subject, n, field, &fault);
		/* Whatever else is missing, it is not too much. Most numbers are no move, though.
		 */
		if (strcmp(fault.text, words) == 0 && strstr(words, "not a move") == NULL) {
			fail_msg("%llu are refused: %s", (unsigned long long)n, words);
		}
	}
	int status = status_of_so_much(subject, most + 1, field, &fault);
	if (status != wanted || strcmp(fault.text, words) != 0) {
		fail_msg("%llu: status %d, \"%s\" instead of \"%s\"",
			 (unsigned long long)(most + 1), status, fault.text, words);
	}
	if (subject->is_request) {
		assert_int_equal(strncmp(words, field, strlen(field)), 0);
		assert_int_equal(words[strlen(field)], ':');
	}
}

/* ---- Contents that are no limit's matter -------------------------------------------------- */

/* The bytes of the field are refused for this reason. */
static void check_refused(const struct subject *subject, const void *bytes, size_t len,
			  const char *reason)
{
	struct chi_buffer contents;
	struct chi_fault fault;
	char field[PATH_MAX_LEN];
	char path[PATH_MAX_LEN];
	char words[PATH_MAX_LEN];
	chi_buffer_init(&contents, WIRE_LIMIT);
	wire_append(&contents, bytes, len);
	print_path(subject, 0, path);
	(void)snprintf(words, sizeof(words), "%.90s: %.90s", path, reason);
	int status = status_of(subject, &contents, field, &fault);
	if (status != (subject->is_request ? -CHI_EINVAL : -CHI_EPROTO) ||
	    strcmp(fault.text, words) != 0 || strcmp(field, subject->is_request ? path : "") != 0) {
		fail_msg("status %d, \"%s\" instead of \"%s\"", status, fault.text, words);
	}
}

static void check_number_refused(const struct subject *subject, uint64_t number, const char *reason)
{
	uint8_t bytes[24];
	uint8_t *end = chi_put_number(bytes, subject->step->number, number);
	check_refused(subject, bytes, (size_t)(end - bytes), reason);
}

static void check_bytes_refused(const struct subject *subject, const char *text, size_t len,
				const char *reason)
{
	uint8_t bytes[24];
	uint8_t *end = chi_put_head(bytes, subject->step->number, len);
	memcpy(end, text, len);
	check_refused(subject, bytes, (size_t)(end - bytes) + len, reason);
}

/* Of another wire type; texts, numbers and enumerators that are none. */
static void check_contents(const struct subject *subject)
{
	const ProtobufCFieldDescriptor *field = subject->step->field;
	if (!is_number(field)) {
		check_number_refused(subject, 1, "field of another type");
	} else if (!is_repeated(field)) {
		check_bytes_refused(subject, "", 0, "field of another type");
	}
	if (field->type == PROTOBUF_C_TYPE_STRING) {
		check_bytes_refused(subject, "a\xff", 2, "text is not UTF-8");
		check_bytes_refused(subject, "a\0b", 3, "NUL in a text");
	} else if (field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_SINT32) {
		check_number_refused(subject, (uint64_t)UINT32_MAX + 1, "number over 32 bits");
	} else if (field->type == PROTOBUF_C_TYPE_ENUM && subject->is_request) {
		check_number_refused(subject, 1000, "unknown value");
	}
}

/* ---- All of them ------------------------------------------------------------------------- */

/* What the row says; 0: nothing. */
static uint64_t limit_of(const struct chi_member *member)
{
	if (member->most > 0) {
		return member->most;
	}
	if (member->kind == CHI_CHARS) {
		return member->size - 1;
	}
	bool is_bounded = (member->kind == CHI_NUMBER || member->kind == CHI_SIGNED) &&
			  member->reason != NULL;
	return is_bounded ? member->max : 0;
}

/* Each stands in the list above. */
static uint64_t known_of(const struct chi_message *type, const struct chi_member *member,
			 const char *field)
{
	char name[PATH_MAX_LEN];
	(void)snprintf(name, sizeof(name), "%s.%s", type->descriptor->short_name, field);
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		if (strcmp(known[i].field, name) == 0) {
			met[i] = true;
			return known[i].most;
		}
	}
	fail_msg("a limit that is not listed: {\"%s\", %llu},", name,
		 (unsigned long long)limit_of(member));
	return 0;
}

/* One row for each field, in their order. Plain numbers are kept without a look at oneofs. */
static void check_rows(const struct chi_message *type)
{
	if (type->n != type->descriptor->n_fields) {
		fail_msg("%s: %zu rows", type->descriptor->short_name, type->n);
	}
	for (size_t i = 0; i < type->n; i++) {
		const ProtobufCFieldDescriptor *field = &type->descriptor->fields[i];
		const struct chi_member *member = &type->members[i];
		if (member->field != field->id) {
			fail_msg("%s.%s: row %zu is of field %u", type->descriptor->short_name,
				 field->name, i, member->field);
		}
		if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
		    member->kind == CHI_NUMBER) {
			fail_msg("%s.%s: a plain number of a oneof", type->descriptor->short_name,
				 field->name);
		}
		const struct chi_message *inner = member->type;
		if (inner != NULL && inner->descriptor != NULL) {
			assert_int_equal(field->type, PROTOBUF_C_TYPE_MESSAGE);
			assert_ptr_equal(inner->descriptor, field->descriptor);
		}
	}
}

static void check_message(const struct subject *outer, const struct chi_message *type)
{
	if (type == NULL || type->descriptor == NULL) {
		return;
	}
	check_rows(type);
	for (size_t i = 0; i < type->n; i++) {
		struct step step = {outer->step, type->members[i].field,
				    &type->descriptor->fields[i]};
		struct subject subject = {outer->is_request, outer->op, &step, &type->members[i]};
		if (limit_of(subject.member) > 0) {
			check_limit(&subject, known_of(type, subject.member, step.field->name));
		}
		check_contents(&subject);
		check_message(&subject, subject.member->type);
	}
}

CASE(every_limit)
{
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		const struct chi_operation *operation = chi_operation_of((enum chi_op)op);
		struct subject request = {.is_request = true, .op = (enum chi_op)op};
		struct subject result = {.is_request = false, .op = (enum chi_op)op};
		if (operation->request->n > 0) {
			check_message(&request, operation->request);
		}
		check_message(&result, operation->result);
	}
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		if (!met[i]) {
			fail_msg("%s has no limit any more", known[i].field);
		}
	}
}
