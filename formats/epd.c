/* SPDX-License-Identifier: MIT */
/*
 * EPD in two walks over the operations: the first finds what makes an evaluation and a line, the
 * second writes what is left over into the note. No table of operations is kept, so a line may
 * have any number of them.
 */
#include "formats/epd.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/checked.h"

/* A run of bytes in the line. */
struct span {
	const char *at;
	size_t len;
};

struct operation {
	struct span opcode;
	struct span operand; /* without the white space around it */
};

/* Operations that matter; up to ENGINE they are an evaluation's where there is a score. */
enum opcode {
	CE,
	DM,
	ACD,
	ACN,
	PV,
	ENGINE,
	BM,
	OTHER, /* any other */
};

static const char *const opcodes[OTHER] = {"ce", "dm", "acd", "acn", "pv", "engine", "bm"};

struct reader {
	const char *at;
	const char *end;
	struct chi_position position;
	struct span found[OTHER]; /* their operands, as in the line; at == NULL: not there */
	bool has_counts;
	struct chi_counts counts;
	struct chi_arena *arena;
	struct chi_fault *fault;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_space(struct reader *r)
{
	while (r->at < r->end && is_space(*r->at)) {
		r->at++;
	}
}

/* Bytes up to white space or a semicolon; empty at the end. */
static struct span take_word(struct reader *r)
{
	skip_space(r);
	struct span word = {.at = r->at};
	while (r->at < r->end && !is_space(*r->at) && *r->at != ';') {
		r->at++;
	}
	word.len = (size_t)(r->at - word.at);
	return word;
}

static bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* Digits alone, as a FEN's counters are; opcodes begin with a letter. */
static bool is_number(struct span span)
{
	for (size_t i = 0; i < span.len; i++) {
		if (span.at[i] < '0' || span.at[i] > '9') {
			return false;
		}
	}
	return span.len > 0;
}

/* The four fields of the position, and the counters if they follow, joined by single spaces for
 * the FEN parser: EPD files separate them with tabs and runs of spaces too. */
static int read_position(struct reader *r)
{
	char fen[CHI_FEN_INPUT_MAX + 1];
	size_t len = 0;
	for (int field = 0; field < 6; field++) {
		const char *before = r->at;
		struct span word = take_word(r);
		if (word.len == 0 || (field >= 4 && !is_number(word))) {
			r->at = before;
			break;
		}
		size_t gap = field > 0 ? 1 : 0;
		if (gap + word.len > CHI_FEN_INPUT_MAX - len) {
			return chi_fail(r->fault, -CHI_EFEN, "the position is longer than %d bytes",
					CHI_FEN_INPUT_MAX);
		}
		if (gap > 0) {
			fen[len++] = ' ';
		}
		memcpy(fen + len, word.at, word.len);
		len += word.len;
	}
	return chi_fen_parse(fen, len, &r->position, r->fault);
}

/* The operand ends at a semicolon outside quotation marks, or with the line. */
static int take_operand(struct reader *r, struct span *operand)
{
	bool quoted = false;
	skip_space(r);
	operand->at = r->at;
	while (r->at < r->end && (quoted || *r->at != ';')) {
		quoted ^= *r->at == '"';
		r->at++;
	}
	if (quoted) {
		return chi_fail(r->fault, -CHI_ESYNTAX, "a quotation mark is not closed");
	}
	const char *last = r->at;
	while (last > operand->at && is_space(last[-1])) {
		last--;
	}
	operand->len = (size_t)(last - operand->at);
	return CHI_OK;
}

/* The next operation; CHI_NONE at the line's end. Stray semicolons are skipped. */
static int next_operation(struct reader *r, struct operation *out)
{
	while (r->at < r->end && (is_space(*r->at) || *r->at == ';')) {
		r->at++;
	}
	if (r->at == r->end) {
		return CHI_NONE;
	}
	out->opcode = take_word(r);
	if (!is_letter(out->opcode.at[0]) || out->opcode.len > 15) {
		int shown = out->opcode.len > 40 ? 40 : (int)out->opcode.len;
		return chi_fail(r->fault, -CHI_ESYNTAX, "'%.*s' is not an opcode", shown,
				out->opcode.at);
	}
	return take_operand(r, &out->operand);
}

static enum opcode opcode_of(struct span name)
{
	int i = 0;
	while (i < OTHER && !span_is(name, opcodes[i])) {
		i++;
	}
	return (enum opcode)i;
}

/* c0 to c9. */
static bool is_comment(struct span name)
{
	return name.len == 2 && name.at[0] == 'c' && name.at[1] >= '0' && name.at[1] <= '9';
}

/* Counts as export writes them; false, and *out as it was, if the text is any other. */
static bool read_counts_opcode(struct span text, struct chi_counts *out)
{
	struct chi_counts c = {0};
	char copy[CHI_EPD_COUNTS_SIZE];
	char again[CHI_EPD_COUNTS_SIZE];
	if (text.len >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	if (sscanf(copy, "\"white %" SCNu64 " draws %" SCNu64 " black %" SCNu64 " other %" SCNu64,
		   &c.white, &c.draws, &c.black, &c.other) < 3) {
		return false;
	}
	(void)chi_epd_counts(&c, again);
	if (strcmp(copy, again) != 0) {
		return false;
	}
	*out = c;
	return true;
}

size_t chi_epd_counts(const struct chi_counts *c, char out[CHI_EPD_COUNTS_SIZE])
{
	char other[32] = "";
	if (c->other > 0) {
		(void)snprintf(other, sizeof(other), " other %" PRIu64, c->other);
	}
	int len = snprintf(out, CHI_EPD_COUNTS_SIZE,
			   "\"white %" PRIu64 " draws %" PRIu64 " black %" PRIu64 "%s\"", c->white,
			   c->draws, c->black, other);
	return (size_t)len;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* True if text[i] and what follows would be read as an escaped byte. */
static bool is_escape(const char *text, size_t len, size_t i)
{
	return text[i] == '\\' && i + 2 < len && hex_digit(text[i + 1]) >= 0 &&
	       hex_digit(text[i + 2]) >= 0;
}

size_t chi_epd_quote(const char *text, size_t len, char *to)
{
	char *start = to;
	*to++ = '"';
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c < 0x20 || c == 0x7f || c == '"' || is_escape(text, len, i)) {
			*to++ = '\\';
			*to++ = "0123456789abcdef"[c >> 4];
			*to++ = "0123456789abcdef"[c & 15];
		} else {
			*to++ = (char)c;
		}
	}
	*to++ = '"';
	return (size_t)(to - start);
}

/* The text between quotation marks, unescaped, in the arena; at == NULL if the operand is no such
 * text. */
static int unquote(struct reader *r, struct span operand, struct span *out)
{
	*out = (struct span){.at = NULL};
	if (operand.len < 2 || operand.at[0] != '"' ||
	    memchr(operand.at + 1, '"', operand.len - 1) != operand.at + operand.len - 1) {
		return CHI_OK;
	}
	const char *text = operand.at + 1;
	size_t len = operand.len - 2;
	char *to = chi_arena_text(r->arena, text, len);
	if (to == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	out->at = to;
	for (size_t i = 0; i < len; i++) {
		bool escaped = is_escape(text, len, i);
		to[out->len++] =
			escaped ? (char)(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]))
				: text[i];
		i += escaped ? 2 : 0;
	}
	return CHI_OK;
}

/* The first walk. An opcode that occurs twice counts as its later value. */
static int find_all(struct reader *r)
{
	struct operation operation;
	int status;
	while ((status = next_operation(r, &operation)) == CHI_OK) {
		enum opcode opcode = opcode_of(operation.opcode);
		if (opcode != OTHER) {
			r->found[opcode] = operation.operand;
		}
		if (is_comment(operation.opcode)) {
			r->has_counts |= read_counts_opcode(operation.operand, &r->counts);
		}
	}
	return status == CHI_NONE ? CHI_OK : status;
}

static bool has_score(const struct reader *r)
{
	return r->found[CE].at != NULL || r->found[DM].at != NULL;
}

/* True if the operation has been kept otherwise, or says nothing about the position. */
static bool is_kept_elsewhere(const struct reader *r, const struct operation *operation)
{
	struct span name = operation->opcode;
	struct chi_counts counts;
	enum opcode opcode = opcode_of(name);
	return opcode == PV ||
	       (is_comment(name) && read_counts_opcode(operation->operand, &counts)) ||
	       (opcode <= ENGINE && has_score(r)) || span_is(name, "hmvc") || span_is(name, "fmvn");
}

/* A number that may be missing; only scores have signs. */
static int read_opcode_number(struct reader *r, enum opcode opcode, int64_t most, int64_t *out)
{
	struct span text = r->found[opcode];
	if (text.at == NULL || ((opcode <= DM || is_number(text)) &&
				chi_num_i64(text.at, text.len, most, out) == CHI_OK)) {
		return CHI_OK;
	}
	int shown = text.len > 40 ? 40 : (int)text.len;
	return chi_fail(r->fault, -CHI_ESYNTAX, "%s: '%.*s' is not a number in its range",
			opcodes[opcode], shown, text.at);
}

/* Reads moves played from the position into the arena; the fault names the opcode. */
static int read_epd_moves(struct reader *r, enum opcode opcode, struct span text, size_t max,
			  const chi_move **moves, size_t *n)
{
	struct chi_fault inner = {.text = ""};
	/* A move takes two bytes and a space at least, so this many fit. */
	size_t room = text.len / 2 + 1 < max ? text.len / 2 + 1 : max;
	chi_move *out = chi_arena_array(r->arena, room, sizeof(*out));
	if (out == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	int status = chi_line_parse(&r->position, text.at, text.len, out, room, n, &inner);
	if (status != CHI_OK) {
		return chi_fail(r->fault, status, "%s: %s", opcodes[opcode], inner.text);
	}
	*moves = out;
	return CHI_OK;
}

/* Score, depth, nodes and principal variation to the one evaluation a line can hold. */
static int read_epd_eval(struct reader *r, const char *engine, struct chi_put_entry *put)
{
	int64_t score = 0;
	int64_t depth = 0;
	int64_t nodes = 0;
	bool is_mate = r->found[DM].at != NULL;
	int64_t most = is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	int status = read_opcode_number(r, is_mate ? DM : CE, most, &score);
	if (status == CHI_OK) {
		status = read_opcode_number(r, ACD, UINT16_MAX, &depth);
	}
	if (status == CHI_OK) {
		status = read_opcode_number(r, ACN, INT64_MAX, &nodes);
	}
	if (status != CHI_OK) {
		return status;
	}
	struct span name = {.at = engine, .len = strlen(engine)};
	struct chi_eval *eval = chi_arena_array(r->arena, 1, sizeof(*eval));
	if (eval == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	if (r->found[ENGINE].at != NULL) {
		status = unquote(r, r->found[ENGINE], &name);
		if (status != CHI_OK || name.at == NULL) {
			return status != CHI_OK ? status
						: chi_fail(r->fault, -CHI_ESYNTAX,
							   "engine: no text in quotation marks");
		}
	}
	*eval = (struct chi_eval){
		.engine = name.at,
		.engine_len = name.len,
		.depth = (uint32_t)depth,
		.is_mate = is_mate,
		.score = (int32_t)score,
		.nodes = (uint64_t)nodes,
	};
	if (r->found[PV].at != NULL) {
		status = read_epd_moves(r, PV, r->found[PV], CHI_PV_MAX, &eval->pv, &eval->n_pv);
		if (status != CHI_OK) {
			return status;
		}
	}
	put->parts |= CHI_PUT_EVALS;
	put->record.evals = eval;
	put->record.n_evals = 1;
	return CHI_OK;
}

/* The line: the principal variation of a position without a score, else the best move. */
static int read_line(struct reader *r, struct chi_put_entry *put)
{
	enum opcode opcode = PV;
	struct span text = r->found[PV];
	if (text.at != NULL && has_score(r)) {
		return CHI_OK;
	}
	if (text.at == NULL && r->found[BM].at != NULL) {
		/* Several best moves are alternatives: the first is taken. */
		opcode = BM;
		struct reader words = {.at = r->found[BM].at,
				       .end = r->found[BM].at + r->found[BM].len};
		text = take_word(&words);
	}
	if (text.at == NULL || text.len == 0) {
		return CHI_OK;
	}
	int status = read_epd_moves(r, opcode, text, CHI_LINE_MAX, &put->record.line,
				    &put->record.n_line);
	if (status == CHI_OK && put->record.n_line > 0) {
		put->parts |= CHI_PUT_LINE;
	}
	return status;
}

static char *append_span(char *to, struct span span)
{
	if (span.len > 0) {
		memcpy(to, span.at, span.len);
	}
	return to + span.len;
}

static int take_note(struct reader *r, struct span note, struct chi_put_entry *put)
{
	if (note.len > CHI_NOTE_MAX) {
		return chi_fail(r->fault, -CHI_ETOOBIG, "operations are longer than %d bytes",
				CHI_NOTE_MAX);
	}
	if (!chi_utf8_valid(note.at, note.len) || memchr(note.at, '\0', note.len) != NULL) {
		return chi_fail(r->fault, -CHI_ESYNTAX, "operations are not UTF-8 text");
	}
	put->parts |= CHI_PUT_NOTE;
	put->record.note = note.at;
	put->record.n_note = note.len;
	return CHI_OK;
}

/* Every operation not kept elsewhere, as `opcode operand;` with single spaces between; of a lone
 * comment its text. `r` is before the operations again. */
static int read_note(struct reader *r, struct chi_put_entry *put)
{
	struct operation operation;
	struct span comment = {.at = NULL};
	size_t n = 0;
	int status;
	/* An operation "x;" grows by no more than its space and the one before the next. */
	char *note = chi_arena_alloc(r->arena, (size_t)(r->end - r->at) * 2 + 4);
	char *to = note;
	if (note == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	while ((status = next_operation(r, &operation)) == CHI_OK) {
		if (is_kept_elsewhere(r, &operation)) {
			continue;
		}
		n++;
		comment = span_is(operation.opcode, "c9") ? operation.operand
							  : (struct span){.at = NULL};
		to = to > note ? append_span(to, (struct span){" ", 1}) : to;
		to = append_span(to, operation.opcode);
		to = operation.operand.len > 0 ? append_span(to, (struct span){" ", 1}) : to;
		to = append_span(to, operation.operand);
		to = append_span(to, (struct span){";", 1});
	}
	if (status != CHI_NONE || n == 0) {
		return status == CHI_NONE ? CHI_OK : status;
	}
	struct span text = {.at = NULL};
	status = n == 1 && comment.at != NULL ? unquote(r, comment, &text) : CHI_OK;
	if (status != CHI_OK) {
		return status;
	}
	return take_note(r, text.len > 0 ? text : (struct span){note, (size_t)(to - note)}, put);
}

int chi_epd_read(const char *line, size_t len, const char *engine, struct chi_arena *arena,
		 struct chi_put_entry *put, struct chi_fault *fault)
{
	struct reader r = {.at = line, .end = line + len, .arena = arena, .fault = fault};
	skip_space(&r);
	if (r.at == r.end || *r.at == '#') {
		return CHI_NONE;
	}
	*put = (struct chi_put_entry){.parts = 0};
	int status = read_position(&r);
	if (status != CHI_OK) {
		return status;
	}
	chi_key_encode(&r.position, &put->key);
	const char *operations = r.at;
	status = find_all(&r);
	if (status == CHI_OK && has_score(&r)) {
		status = read_epd_eval(&r, engine, put);
	}
	if (status == CHI_OK) {
		status = read_line(&r, put);
	}
	if (status == CHI_OK && r.has_counts) {
		put->parts |= CHI_PUT_COUNTS;
		put->record.counts = r.counts;
	}
	if (status == CHI_OK) {
		r.at = operations;
		status = read_note(&r, put);
	}
	return status == CHI_OK ? chi_put_checked(put, fault) : status;
}
