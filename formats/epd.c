/* SPDX-License-Identifier: MIT */
/*
 * EPD in two walks over the operations: the first finds what makes an evaluation and a line, the
 * second writes what is left over into the note. No table of operations is kept, so a line may
 * have any number of them.
 */
#include "formats/epd.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"

/* A run of bytes in the line. */
struct span {
	const char *at;
	size_t len;
};

struct operation {
	struct span opcode;
	struct span operand; /* without the white space around it */
};

/* The operands that matter, as they stand in the line; at == NULL: not there. */
struct findings {
	struct span ce;
	struct span dm;
	struct span acd;
	struct span acn;
	struct span pv;
	struct span bm;
};

struct reader {
	const char *at;
	const char *end;
	struct chi_position position;
	struct findings found;
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
			return chi_fault(r->fault, -CHI_EFEN,
					 "the position is longer than %d bytes", CHI_FEN_INPUT_MAX);
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
		return chi_fault(r->fault, -CHI_ESYNTAX, "a quotation mark is not closed");
	}
	const char *last = r->at;
	while (last > operand->at && is_space(last[-1])) {
		last--;
	}
	operand->len = (size_t)(last - operand->at);
	return CHI_OK;
}

/* The next operation; CHI_NONE at the line's end. Stray semicolons are passed over. */
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
		return chi_fault(r->fault, -CHI_ESYNTAX, "'%.*s' is no opcode", shown,
				 out->opcode.at);
	}
	return take_operand(r, &out->operand);
}

/* Where the operand of this opcode is remembered; NULL if it goes to the note alone. */
static struct span *slot(struct findings *found, struct span opcode)
{
	const struct {
		const char *name;
		struct span *slot;
	} slots[] = {
		{"ce", &found->ce},   {"dm", &found->dm}, {"acd", &found->acd},
		{"acn", &found->acn}, {"pv", &found->pv}, {"bm", &found->bm},
	};
	for (size_t i = 0; i < CHI_COUNT(slots); i++) {
		if (span_is(opcode, slots[i].name)) {
			return slots[i].slot;
		}
	}
	return NULL;
}

/* The first walk. An opcode that stands twice counts as the later says. */
static int find_all(struct reader *r)
{
	struct operation operation;
	int status;
	while ((status = next_operation(r, &operation)) == CHI_OK) {
		struct span *place = slot(&r->found, operation.opcode);
		if (place != NULL) {
			*place = operation.operand;
		}
	}
	return status == CHI_NONE ? CHI_OK : status;
}

static bool has_score(const struct findings *found)
{
	return found->ce.at != NULL || found->dm.at != NULL;
}

/* True if the operation has been kept otherwise, or says nothing about the position. */
static bool is_kept_elsewhere(const struct findings *found, struct span opcode)
{
	if (span_is(opcode, "hmvc") || span_is(opcode, "fmvn") || span_is(opcode, "pv")) {
		return true;
	}
	return has_score(found) && (span_is(opcode, "ce") || span_is(opcode, "dm") ||
				    span_is(opcode, "acd") || span_is(opcode, "acn"));
}

static int number_fault(struct reader *r, const char *opcode, struct span text)
{
	int shown = text.len > 40 ? 40 : (int)text.len;
	return chi_fault(r->fault, -CHI_ESYNTAX, "%s: '%.*s' is no number in its range", opcode,
			 shown, text.at);
}

/* Reads moves played from the position into the arena; the fault names the opcode. */
static int read_moves(struct reader *r, const char *opcode, struct span text, size_t max,
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
		return chi_fault(r->fault, status, "%s: %s", opcode, inner.text);
	}
	*moves = out;
	return CHI_OK;
}

/* Score, depth, nodes and principal variation to the one evaluation a line can hold. */
static int read_eval(struct reader *r, const char *engine, struct chi_put *put)
{
	const struct findings *found = &r->found;
	int64_t score = 0;
	uint64_t depth = 0;
	uint64_t nodes = 0;
	bool is_mate = found->dm.at != NULL;
	struct span text = is_mate ? found->dm : found->ce;
	if (chi_num_i64(text.at, text.len, is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX, &score) != 0) {
		return number_fault(r, is_mate ? "dm" : "ce", text);
	}
	if (found->acd.at != NULL &&
	    chi_num_u64(found->acd.at, found->acd.len, UINT16_MAX, &depth) != CHI_OK) {
		return number_fault(r, "acd", found->acd);
	}
	if (found->acn.at != NULL &&
	    chi_num_u64(found->acn.at, found->acn.len, INT64_MAX, &nodes) != CHI_OK) {
		return number_fault(r, "acn", found->acn);
	}
	struct chi_eval *eval = chi_arena_array(r->arena, 1, sizeof(*eval));
	if (eval == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	*eval = (struct chi_eval){
		.engine = engine,
		.engine_len = strlen(engine),
		.depth = (uint32_t)depth,
		.is_mate = is_mate,
		.score = (int32_t)score,
		.nodes = nodes,
	};
	if (found->pv.at != NULL) {
		int status = read_moves(r, "pv", found->pv, CHI_PV_MAX, &eval->pv, &eval->n_pv);
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
static int read_line(struct reader *r, struct chi_put *put)
{
	const char *opcode = "pv";
	struct span text = r->found.pv;
	if (text.at != NULL && has_score(&r->found)) {
		return CHI_OK;
	}
	if (text.at == NULL && r->found.bm.at != NULL) {
		/* Several best moves are alternatives: the first stands for them. */
		opcode = "bm";
		struct reader words = {.at = r->found.bm.at,
				       .end = r->found.bm.at + r->found.bm.len};
		text = take_word(&words);
	}
	if (text.at == NULL || text.len == 0) {
		return CHI_OK;
	}
	int status =
		read_moves(r, opcode, text, CHI_LINE_MAX, &put->record.line, &put->record.n_line);
	if (status == CHI_OK && put->record.n_line > 0) {
		put->parts |= CHI_PUT_LINE;
	}
	return status;
}

static char *append(char *to, struct span span)
{
	if (span.len > 0) {
		memcpy(to, span.at, span.len);
	}
	return to + span.len;
}

/* Every operation not kept elsewhere, as `opcode operand;` with single spaces between. `r` stands
 * in front of the operations again. */
static int read_note(struct reader *r, struct chi_put *put)
{
	struct operation operation;
	int status;
	/* An operation "x;" grows by no more than its space and the one before the next. */
	char *note = chi_arena_alloc(r->arena, (size_t)(r->end - r->at) * 2 + 4);
	char *to = note;
	if (note == NULL) {
		return chi_fault_plain(r->fault, -CHI_ENOMEM);
	}
	while ((status = next_operation(r, &operation)) == CHI_OK) {
		if (is_kept_elsewhere(&r->found, operation.opcode)) {
			continue;
		}
		to = to > note ? append(to, (struct span){" ", 1}) : to;
		to = append(to, operation.opcode);
		to = operation.operand.len > 0 ? append(to, (struct span){" ", 1}) : to;
		to = append(to, operation.operand);
		to = append(to, (struct span){";", 1});
	}
	size_t len = (size_t)(to - note);
	if (status != CHI_NONE || len == 0) {
		return status == CHI_NONE ? CHI_OK : status;
	}
	if (len > CHI_NOTE_MAX) {
		return chi_fault(r->fault, -CHI_ETOOBIG, "operations are longer than %d bytes",
				 CHI_NOTE_MAX);
	}
	if (!chi_utf8_valid(note, len) || memchr(note, '\0', len) != NULL) {
		return chi_fault(r->fault, -CHI_ESYNTAX, "operations are not UTF-8 text");
	}
	put->parts |= CHI_PUT_NOTE;
	put->record.note = note;
	put->record.n_note = len;
	return CHI_OK;
}

int chi_epd_read(const char *line, size_t len, const char *engine, struct chi_arena *arena,
		 struct chi_put *put, struct chi_fault *fault)
{
	struct reader r = {.at = line, .end = line + len, .arena = arena, .fault = fault};
	skip_space(&r);
	if (r.at == r.end || *r.at == '#') {
		return CHI_NONE;
	}
	*put = (struct chi_put){.parts = 0};
	int status = read_position(&r);
	if (status != CHI_OK) {
		return status;
	}
	chi_key_encode(&r.position, &put->key);
	const char *operations = r.at;
	status = find_all(&r);
	if (status == CHI_OK && has_score(&r.found)) {
		status = read_eval(&r, engine, put);
	}
	if (status == CHI_OK) {
		status = read_line(&r, put);
	}
	if (status == CHI_OK) {
		r.at = operations;
		status = read_note(&r, put);
	}
	return status;
}
