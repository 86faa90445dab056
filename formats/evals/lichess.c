/* SPDX-License-Identifier: MIT */
/* The scanner remembers where texts lie; only the evaluation that is taken is decoded. */
#include "formats/evals/lichess.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/checked.h"

/* So many lines of one evaluation can be stored. */
#define LINES_MAX (CHI_RANK_MAX + 1)

/* A text of the line, between its quotation marks; `at` NULL: not there. */
struct span {
	const char *at;
	size_t len;
};

/* A principal variation, as it is written. */
struct variation {
	bool scored;
	bool is_mate;
	int64_t score; /* White's view */
	struct span moves;
};

struct search {
	int64_t depth;
	int64_t knodes;
	size_t n;
	struct variation lines[LINES_MAX];
};

struct scan {
	const char *start;
	const char *at;
	const char *end;
	struct chi_fault *fault;
	struct span fen;
	struct search searches[2];
	struct search *best; /* NULL: none yet */
};

/* Reads the value of a member. CHI_NONE: the name is not known, nothing was read. */
typedef int take_member(struct scan *scan, struct span name, void *into);

static int refuse_byte(struct scan *scan, const char *what)
{
	return chi_fail(scan->fault, -CHI_ESYNTAX, "byte %zu: %s",
			(size_t)(scan->at - scan->start) + 1, what);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* The next character that is no white space; 0 at the end. */
static char peek(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t')) {
		scan->at++;
	}
	return scan->at < scan->end ? *scan->at : '\0';
}

static bool take_char(struct scan *scan, char c)
{
	bool there = peek(scan) == c;
	scan->at += there;
	return there;
}

/* Escapes stay as they are. */
static int read_text(struct scan *scan, struct span *out)
{
	if (!take_char(scan, '"')) {
		return refuse_byte(scan, "no text");
	}
	const char *from = scan->at;
	const char *to = from;
	do {
		to = memchr(to, '"', (size_t)(scan->end - to));
		if (to == NULL) {
			return refuse_byte(scan, "a text that does not end");
		}
		const char *slash = to;
		while (slash > from && slash[-1] == '\\') {
			slash--;
		}
		to++;
		if ((to - 1 - slash) % 2 == 0) {
			break;
		}
	} while (true);
	*out = (struct span){from, (size_t)(to - 1 - from)};
	scan->at = to;
	return CHI_OK;
}

/* A number or a word. */
static struct span read_word(struct scan *scan)
{
	const char *from = scan->at;
	while (scan->at < scan->end && strchr(",:]} \t\"[{", *scan->at) == NULL) {
		scan->at++;
	}
	return (struct span){from, (size_t)(scan->at - from)};
}

/* A whole number from 0 on, or of either sign; null says nothing, *given stays. */
static int read_number(struct scan *scan, bool sign, bool *given, int64_t *out)
{
	int64_t number = 0;
	(void)peek(scan);
	struct span word = read_word(scan);
	if (word.len == 4 && memcmp(word.at, "null", 4) == 0) {
		return CHI_OK;
	}
	if (chi_num_i64(word.at, word.len, INT64_MAX, &number) != CHI_OK || (number < 0 && !sign)) {
		scan->at = word.at;
		return refuse_byte(scan, "no whole number");
	}
	*out = number;
	*given = true;
	return CHI_OK;
}

/* Any value; what is in its lists and objects is not looked at but for where they end. */
static int skip_value(struct scan *scan)
{
	size_t open = 0;
	do {
		struct span text;
		char c = peek(scan);
		if (c == '"') {
			int rc = read_text(scan, &text);
			if (rc != CHI_OK) {
				return rc;
			}
		} else if (c == '[' || c == '{') {
			open++;
			scan->at++;
		} else if (open > 0 && c != '\0' && strchr("]},:", c) != NULL) {
			open -= c == ']' || c == '}';
			scan->at++;
		} else if (read_word(scan).len == 0) {
			return refuse_byte(scan, "no value");
		}
	} while (open > 0);
	return CHI_OK;
}

static int read_object(struct scan *scan, take_member *member, void *into)
{
	if (!take_char(scan, '{')) {
		return refuse_byte(scan, "no JSON object");
	}
	if (take_char(scan, '}')) {
		return CHI_OK;
	}
	do {
		struct span name;
		int rc = read_text(scan, &name);
		if (rc == CHI_OK && !take_char(scan, ':')) {
			rc = refuse_byte(scan, "':' is missing");
		}
		rc = rc == CHI_OK ? member(scan, name, into) : rc;
		rc = rc == CHI_NONE ? skip_value(scan) : rc;
		if (rc != CHI_OK) {
			return rc;
		}
	} while (take_char(scan, ','));
	return take_char(scan, '}') ? CHI_OK : refuse_byte(scan, "'}' is missing");
}

/* Each entry is read by `entry`. */
static int read_list(struct scan *scan, int (*entry)(struct scan *scan, void *into), void *into)
{
	if (!take_char(scan, '[')) {
		return refuse_byte(scan, "no list");
	}
	if (take_char(scan, ']')) {
		return CHI_OK;
	}
	do {
		int rc = entry(scan, into);
		if (rc != CHI_OK) {
			return rc;
		}
	} while (take_char(scan, ','));
	return take_char(scan, ']') ? CHI_OK : refuse_byte(scan, "']' is missing");
}

static bool span_is(struct span name, const char *text)
{
	return name.len == strlen(text) && memcmp(name.at, text, name.len) == 0;
}

/* ---- The members --------------------------------------------------------------------------- */

static int take_variation(struct scan *scan, struct span name, void *into)
{
	struct variation *line = into;
	if (span_is(name, "cp")) {
		int64_t unused = 0;
		return read_number(scan, true, &line->scored,
				   line->is_mate ? &unused : &line->score);
	}
	if (span_is(name, "mate")) {
		int rc = read_number(scan, true, &line->is_mate, &line->score);
		line->scored = line->scored || line->is_mate;
		return rc;
	}
	return span_is(name, "line") ? read_text(scan, &line->moves) : CHI_NONE;
}

static int read_variation(struct scan *scan, void *into)
{
	struct search *search = into;
	if (search->n == LINES_MAX) {
		return chi_fail(scan->fault, -CHI_ETOOBIG, "pvs: more than %d", LINES_MAX);
	}
	struct variation *line = &search->lines[search->n++];
	*line = (struct variation){.moves = {scan->at, 0}};
	int rc = read_object(scan, take_variation, line);
	return rc == CHI_OK && !line->scored ? refuse_byte(scan, "pvs: neither 'cp' nor 'mate'")
					     : rc;
}

static int take_search(struct scan *scan, struct span name, void *into)
{
	struct search *search = into;
	bool given = false;
	if (span_is(name, "pvs")) {
		return read_list(scan, read_variation, search);
	}
	if (span_is(name, "knodes")) {
		return read_number(scan, false, &given, &search->knodes);
	}
	return span_is(name, "depth") ? read_number(scan, false, &given, &search->depth) : CHI_NONE;
}

static bool is_better(const struct search *a, const struct search *b)
{
	return a->depth != b->depth ? a->depth > b->depth
	       : a->n != b->n	    ? a->n > b->n
				    : a->knodes > b->knodes;
}

static int read_search(struct scan *scan, void *into)
{
	struct search *search = &scan->searches[scan->best == &scan->searches[0]];
	(void)into;
	search->depth = 0;
	search->knodes = 0;
	search->n = 0;
	int rc = read_object(scan, take_search, search);
	if (rc == CHI_OK && search->n > 0 &&
	    (scan->best == NULL || is_better(search, scan->best))) {
		scan->best = search;
	}
	return rc;
}

static int take_lichess_line(struct scan *scan, struct span name, void *into)
{
	if (span_is(name, "fen")) {
		return read_text(scan, &scan->fen);
	}
	return span_is(name, "evals") ? read_list(scan, read_search, into) : CHI_NONE;
}

/* ---- The position -------------------------------------------------------------------------- */

static int read_lichess_moves(struct scan *scan, const struct chi_position *from, struct span text,
			      struct chi_arena *arena, struct chi_eval *eval)
{
	/* A move takes four bytes and a space at least. */
	size_t room = text.len / 5 + 1 < CHI_PV_MAX ? text.len / 5 + 1 : CHI_PV_MAX;
	struct chi_position position = *from;
	chi_move *moves = chi_arena_alloc(arena, room * sizeof(*moves));
	const char *end = text.at + text.len;
	if (moves == NULL) {
		return chi_fault_plain(scan->fault, -CHI_ENOMEM);
	}
	for (const char *at = text.at; at < end; at++) {
		struct chi_position next;
		const char *space = memchr(at, ' ', (size_t)(end - at));
		size_t len = (size_t)((space != NULL ? space : end) - at);
		if (eval->n_pv == room) {
			return chi_fail(scan->fault, -CHI_ETOOBIG, "line: more than %d moves",
					CHI_PV_MAX);
		}
		chi_move *move = &moves[eval->n_pv++];
		if (chi_uci_parse(&position, at, len, move, NULL) != CHI_OK) {
			return chi_fail(scan->fault, -CHI_EMOVE,
					"line: move %zu: '%.*s' is not a legal move here",
					eval->n_pv, (int)(len < 16 ? len : 16), at);
		}
		chi_position_play(&position, *move, &next);
		position = next;
		at += len;
	}
	eval->pv = moves;
	return CHI_OK;
}

static int read_lichess_eval(struct scan *scan, const struct chi_position *position,
			     const struct variation *line, struct chi_arena *arena,
			     struct chi_eval *eval)
{
	int64_t most = line->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (line->score < -most || line->score > most) {
		return chi_fail(scan->fault, -CHI_ESYNTAX,
				"%s: %" PRId64 " is not from -%" PRId64 " to %" PRId64,
				line->is_mate ? "mate" : "cp", line->score, most, most);
	}
	int32_t score = (int32_t)line->score;
	eval->is_mate = line->is_mate;
	eval->score = position->side == CHI_WHITE ? score : -score;
	return read_lichess_moves(scan, position, line->moves, arena, eval);
}

/* The best search, each of its lines an evaluation. */
static int read_lichess_evals(struct scan *scan, const struct chi_position *position,
			      const char *engine, struct chi_arena *arena,
			      struct chi_put_entry *put)
{
	const struct search *best = scan->best;
	if (best == NULL) {
		return refuse_byte(scan, "evals: missing, or empty");
	}
	if (best->depth > CHI_DEPTH_MAX || best->knodes > INT64_MAX / 1000) {
		return chi_fail(scan->fault, -CHI_ESYNTAX, "%s: too large",
				best->depth > CHI_DEPTH_MAX ? "depth" : "knodes");
	}
	struct chi_eval *evals = chi_arena_array(arena, best->n, sizeof(*evals));
	if (evals == NULL) {
		return chi_fault_plain(scan->fault, -CHI_ENOMEM);
	}
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < best->n; i++) {
		evals[i] = (struct chi_eval){.engine = engine,
					     .engine_len = strlen(engine),
					     .depth = (uint32_t)best->depth,
					     .rank = (uint8_t)i,
					     .nodes = (uint64_t)best->knodes * 1000};
		rc = read_lichess_eval(scan, position, &best->lines[i], arena, &evals[i]);
	}
	put->parts = CHI_PUT_EVALS;
	put->record.evals = evals;
	put->record.n_evals = best->n;
	return rc;
}

int chi_lichess_read(const char *line, size_t len, const char *engine, struct chi_arena *arena,
		     struct chi_put_entry *put, struct chi_fault *fault)
{
	struct chi_position position;
	struct scan scan;
	/* Not all of it is cleared: what is not filled is not looked at, and it is large. */
	scan.start = line;
	scan.at = line;
	scan.end = line + len;
	scan.fault = fault;
	scan.fen = (struct span){NULL, 0};
	scan.best = NULL;
	char first = peek(&scan);
	if (scan.at == scan.end || first == '#') {
		return CHI_NONE;
	}
	int rc = read_object(&scan, take_lichess_line, NULL);
	if (rc == CHI_OK && (peek(&scan), scan.at < scan.end)) {
		rc = refuse_byte(&scan, "more than one value");
	}
	if (rc == CHI_OK && scan.fen.at == NULL) {
		rc = refuse_byte(&scan, "fen: missing");
	}
	if (rc == CHI_OK) {
		rc = chi_fen_parse(scan.fen.at, scan.fen.len, &position, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	*put = (struct chi_put_entry){.parts = 0};
	chi_key_encode(&position, &put->key);
	rc = read_lichess_evals(&scan, &position, engine, arena, put);
	return rc == CHI_OK ? chi_put_checked(put, fault) : rc;
}
