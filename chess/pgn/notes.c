/* SPDX-License-Identifier: MIT */
/* Annotations to bytes and back; store/FORMAT.md has the form. */
#include "chess/pgn/notes.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

#define KIND_BITS 63
#define JOINED	  64
#define NEXT	  128

#define KIND_SKIP 5
#define KIND_NAGS 32 /* and the 31 after it */

/* Of times. */
#define TENTHS	   1
#define TWO_DIGITS 2

/* Of evaluations. */
#define DEPTH 1
#define MATE  2

#define TIME_MAX    (100 * 3600) /* seconds, exclusive */
#define VALUE_MAX   9999999
#define RUN_MAX	    127
#define VARINT_SIZE 10

/* What an item lets follow. */
enum after {
	AFTER_OTHER,
	AFTER_PIECE,  /* of a comment: more of it */
	AFTER_UNREAD, /* the end of the variation only */
};

static bool is_time(uint8_t kind)
{
	return kind >= CHI_NOTE_CLOCK && kind < CHI_NOTE_EVAL;
}

static bool is_eval(uint8_t kind)
{
	return kind >= CHI_NOTE_EVAL && kind < CHI_NOTE_EVAL + 4;
}

static bool is_piece(uint8_t kind)
{
	return kind == CHI_NOTE_TEXT || is_time(kind) || is_eval(kind);
}

static uint64_t zigzag(int64_t value)
{
	return value < 0 ? (uint64_t)-value * 2 - 1 : (uint64_t)value * 2;
}

static int64_t unzigzag(uint64_t value)
{
	return (value & 1) != 0 ? -(int64_t)(value / 2) - 1 : (int64_t)(value / 2);
}

/* ---- Reading ------------------------------------------------------------------------------ */

struct chi_notes_reader chi_notes_reader_of(const uint8_t *notes, size_t len, size_t n_plies)
{
	return (struct chi_notes_reader){.bytes = chi_reader_of(notes, len), .n_plies = n_plies};
}

/* A line like that begins a game even in a comment. */
static const char event[] = "\n[Event \"";

static bool is_clean(const char *text, size_t len)
{
	if (memmem(text, len, event, sizeof(event) - 1) != NULL) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f) {
			return false;
		}
	}
	return chi_utf8_valid(text, len);
}

static void read_text(struct chi_notes_reader *reader, struct chi_note *out)
{
	uint64_t len = chi_read_varint(&reader->bytes);
	out->text = (const char *)chi_read_bytes(&reader->bytes, len);
	out->len = len;
	if (out->text == NULL || len == 0 || !is_clean(out->text, len)) {
		reader->bytes.bad = true;
		return;
	}
	reader->after = AFTER_PIECE;
	if (out->kind == CHI_NOTE_UNREAD) {
		reader->after = AFTER_UNREAD;
	} else if (memchr(out->text, '}', len) != NULL) {
		reader->after = AFTER_OTHER;
		reader->bytes.bad = out->joined || memchr(out->text, '\n', len) != NULL;
	}
}

static void read_time(struct chi_notes_reader *reader, struct chi_note *out)
{
	uint64_t number = chi_read_varint(&reader->bytes);
	uint32_t unit = (out->kind & TENTHS) != 0 ? 1 : 10;
	int64_t value = (int64_t)number;
	if (number > UINT32_MAX) {
		reader->bytes.bad = true;
		return;
	}
	if (out->kind < CHI_NOTE_ELAPSED) {
		uint32_t *last = &reader->clock[out->ply & 1];
		value = (int64_t)(*last / unit) - unzigzag(number);
		*last = (uint32_t)(value * unit);
	}
	if (value < 0 || value >= TIME_MAX * 10 / unit) {
		reader->bytes.bad = true;
	}
	out->value = (int32_t)value;
}

static void read_eval(struct chi_notes_reader *reader, struct chi_note *out)
{
	uint64_t number = chi_read_varint(&reader->bytes);
	uint64_t depth = (out->kind & DEPTH) != 0 ? chi_read_varint(&reader->bytes) : 0;
	if (number > 2 * VALUE_MAX || depth > VALUE_MAX) {
		reader->bytes.bad = true;
		return;
	}
	out->value = (int32_t)unzigzag(number);
	out->extra = (uint32_t)depth;
}

static void read_moves(struct chi_notes_reader *reader, struct chi_note *out)
{
	out->n_moves = chi_read_u8(&reader->bytes);
	out->moves = chi_read_bytes(&reader->bytes, 2 * out->n_moves);
	reader->bytes.bad |= out->n_moves == 0 || out->n_moves > RUN_MAX;
}

static void read_nag(struct chi_notes_reader *reader, struct chi_note *out)
{
	uint64_t nag = out->kind - KIND_NAGS;
	if (out->kind == CHI_NOTE_NAG) {
		nag = chi_read_varint(&reader->bytes);
		reader->bytes.bad |= nag <= KIND_BITS - KIND_NAGS || nag > CHI_NOTE_NAG_MAX;
	}
	out->kind = CHI_NOTE_NAG;
	out->nag = (uint32_t)nag;
}

/* What comes after the head byte. */
static void read_body(struct chi_notes_reader *reader, struct chi_note *out)
{
	bool inside = reader->depth > 0;
	reader->after = is_piece(out->kind) ? AFTER_PIECE : AFTER_OTHER;
	if (out->kind == CHI_NOTE_CLOSE && inside) {
		out->depth = --reader->depth;
	} else if (out->kind == CHI_NOTE_OPEN && reader->depth < CHI_NOTES_DEPTH_MAX) {
		reader->depth++;
	} else if (out->kind == CHI_NOTE_MOVES && inside) {
		read_moves(reader, out);
	} else if (out->kind == CHI_NOTE_TEXT || (out->kind == CHI_NOTE_UNREAD && inside)) {
		read_text(reader, out);
	} else if (is_time(out->kind)) {
		read_time(reader, out);
	} else if (is_eval(out->kind)) {
		read_eval(reader, out);
	} else if (out->kind == CHI_NOTE_NAG || out->kind >= KIND_NAGS) {
		read_nag(reader, out);
	} else {
		reader->bytes.bad = true;
	}
}

/* Moves the place on. */
static void advance(struct chi_notes_reader *reader, uint64_t by)
{
	if (reader->depth > 0 || by == 0 || by > reader->n_plies - reader->ply) {
		reader->bytes.bad = true;
		return;
	}
	reader->ply += by;
	reader->after = AFTER_OTHER;
}

int chi_notes_next(struct chi_notes_reader *reader, struct chi_note *out)
{
	struct chi_reader *bytes = &reader->bytes;
	if (!bytes->bad && bytes->at == bytes->end) {
		return reader->depth > 0 ? -CHI_ECORRUPT : CHI_NONE;
	}
	uint8_t head = chi_read_u8(bytes);
	if (head == KIND_SKIP) {
		advance(reader, chi_read_varint(bytes));
		head = chi_read_u8(bytes);
	}
	if ((head & NEXT) != 0) {
		advance(reader, 1);
	}
	uint8_t before = reader->after;
	*out = (struct chi_note){
		.kind = head & KIND_BITS,
		.joined = (head & JOINED) != 0,
		.ply = reader->ply,
		.depth = reader->depth,
	};
	if ((out->joined && (before != AFTER_PIECE || !is_piece(out->kind))) ||
	    (before == AFTER_UNREAD && out->kind != CHI_NOTE_CLOSE)) {
		bytes->bad = true;
	}
	if (!bytes->bad) {
		read_body(reader, out);
	}
	return bytes->bad ? -CHI_ECORRUPT : CHI_OK;
}

static int print_time(const struct chi_note *note, char *out)
{
	const char *name = note->kind < CHI_NOTE_ELAPSED ? "clk" : "emt";
	bool tenths = (note->kind & TENTHS) != 0;
	unsigned seconds = (unsigned)note->value / (tenths ? 10 : 1);
	int n = snprintf(out, CHI_NOTE_TEXT_SIZE, "[%%%s %0*u:%02u:%02u", name,
			 (note->kind & TWO_DIGITS) != 0 ? 2 : 1, seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
	if (tenths) {
		n += sprintf(out + n, ".%u", (unsigned)note->value % 10);
	}
	return n;
}

static int print_eval(const struct chi_note *note, char *out)
{
	unsigned size = (unsigned)(note->value < 0 ? -note->value : note->value);
	const char *sign = note->value < 0 ? "-" : "";
	int n = (note->kind & MATE) != 0
			? sprintf(out, "[%%eval #%s%u", sign, size)
			: sprintf(out, "[%%eval %s%u.%02u", sign, size / 100, size % 100);
	if ((note->kind & DEPTH) != 0) {
		n += sprintf(out + n, ",%u", note->extra);
	}
	return n;
}

size_t chi_note_print(const struct chi_note *note, char out[CHI_NOTE_TEXT_SIZE])
{
	int n = 0;
	if (is_time(note->kind)) {
		n = print_time(note, out);
	} else if (is_eval(note->kind)) {
		n = print_eval(note, out);
	}
	if (n > 0) {
		out[n++] = ']';
	}
	out[n] = '\0';
	return (size_t)n;
}

/* ---- Times and evaluations in comments ---------------------------------------------------- */

/* A text being read from its start. */
struct scan {
	const char *at;
	const char *end;
};

static bool skip(struct scan *scan, const char *text)
{
	size_t len = strlen(text);
	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, text, len) != 0) {
		return false;
	}
	scan->at += len;
	return true;
}

/* Digits; more than fit in VALUE_MAX are not taken. */
static uint32_t scan_number(struct scan *scan)
{
	uint32_t value = 0;
	while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9' &&
	       value <= VALUE_MAX / 10) {
		value = value * 10 + (uint32_t)(*scan->at++ - '0');
	}
	return value;
}

static void scan_time(struct scan *scan, struct chi_note *out)
{
	const char *from = scan->at;
	uint32_t hours = scan_number(scan);
	if (scan->at - from == 2 && hours < 10) {
		out->kind |= TWO_DIGITS;
	}
	skip(scan, ":");
	uint32_t minutes = scan_number(scan);
	skip(scan, ":");
	uint64_t value = (uint64_t)hours * 3600 + minutes * 60 + scan_number(scan);
	value = value < TIME_MAX ? value : 0;
	if (skip(scan, ".")) {
		out->kind |= TENTHS;
		value = value * 10 + scan_number(scan) % 10;
	}
	out->value = (int32_t)value;
}

static void scan_eval(struct scan *scan, struct chi_note *out)
{
	bool mate = skip(scan, "#");
	int64_t sign = skip(scan, "-") ? -1 : 1;
	int64_t value = scan_number(scan);
	out->kind |= mate ? MATE : 0;
	if (!mate) {
		skip(scan, ".");
		value = value * 100 + scan_number(scan) % 100;
	}
	out->value = (int32_t)(value <= VALUE_MAX ? sign * value : 0);
	if (skip(scan, ",")) {
		out->kind |= DEPTH;
		out->extra = scan_number(scan);
	}
}

/* A time or an evaluation that begins the text and prints back as it is: its length, else 0. What
 * is read needs no more checks than that. */
static size_t scan_item(const char *text, size_t len, struct chi_note *out)
{
	struct scan scan = {text, text + len};
	char print[CHI_NOTE_TEXT_SIZE];
	*out = (struct chi_note){.kind = CHI_NOTE_CLOCK};
	if (skip(&scan, "[%clk ")) {
		scan_time(&scan, out);
	} else if (skip(&scan, "[%emt ")) {
		out->kind = CHI_NOTE_ELAPSED;
		scan_time(&scan, out);
	} else if (skip(&scan, "[%eval ")) {
		out->kind = CHI_NOTE_EVAL;
		scan_eval(&scan, out);
	} else {
		return 0;
	}
	size_t n = chi_note_print(out, print);
	return n <= len && memcmp(print, text, n) == 0 ? n : 0;
}

/* ---- Writing ------------------------------------------------------------------------------ */

struct chi_notes_writer chi_notes_writer_of(uint8_t *bytes, size_t size)
{
	return (struct chi_notes_writer){.bytes = bytes, .size = size};
}

/* Bytes that may be written now: each open variation still needs its end. */
static size_t room(const struct chi_notes_writer *writer)
{
	size_t kept = writer->n + writer->depth;
	return writer->lost == 0 && kept < writer->size ? writer->size - kept : 0;
}

/* The head byte, and before it what moves the place on. */
static size_t make_head(const struct chi_notes_writer *writer, size_t ply, uint8_t head,
			uint8_t *out)
{
	size_t by = writer->depth == 0 ? ply - writer->ply : 0;
	struct chi_writer bytes = chi_writer_of(out, 2 + VARINT_SIZE);
	if (by > 1) {
		chi_write_u8(&bytes, KIND_SKIP);
		chi_write_varint(&bytes, by - 1);
	}
	chi_write_u8(&bytes, by > 0 ? head | NEXT : head);
	return (size_t)(bytes.at - out);
}

/* Adds an item without a text; false if it was left out. `reserve`: bytes that must be left. */
static bool put_note(struct chi_notes_writer *writer, size_t ply, uint8_t head, const void *body,
		     size_t len, size_t reserve)
{
	uint8_t bytes[2 + VARINT_SIZE];
	size_t n = make_head(writer, ply, head, bytes);
	if (n + len + reserve > room(writer)) {
		writer->lost++;
		return false;
	}
	memcpy(writer->bytes + writer->n, bytes, n);
	if (len > 0) {
		memcpy(writer->bytes + writer->n + n, body, len);
	}
	writer->n += n + len;
	writer->ply = writer->depth == 0 ? ply : writer->ply;
	writer->run = 0;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n';
}

/* The longest beginning of at most `most` bytes that ends with a whole character, no blank. */
static size_t cut_text(const char *text, size_t len, size_t most)
{
	size_t n = len < most ? len : most;
	while (n < len && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
		n--;
	}
	while (n < len && n > 0 && is_blank(text[n - 1])) {
		n--;
	}
	return n;
}

static void put_text(struct chi_notes_writer *writer, size_t ply, uint8_t head, const char *text,
		     size_t len)
{
	uint8_t prefix[2 + 2 * VARINT_SIZE];
	uint8_t length[VARINT_SIZE];
	size_t n = make_head(writer, ply, head, prefix);
	size_t left = room(writer);
	size_t most = left > n + VARINT_SIZE ? left - n - VARINT_SIZE : 0;
	size_t fits = cut_text(text, len, most);
	struct chi_writer bytes = chi_writer_of(length, sizeof(length));
	chi_write_varint(&bytes, fits);
	if (fits > 0 && put_note(writer, ply, head, length, (size_t)(bytes.at - length), fits)) {
		memcpy(writer->bytes + writer->n, text, fits);
		writer->n += fits;
	}
	writer->lost += fits < len;
}

static void put_item(struct chi_notes_writer *writer, size_t ply, uint8_t joined,
		     const struct chi_note *note)
{
	uint8_t body[2 * VARINT_SIZE];
	struct chi_writer bytes = chi_writer_of(body, sizeof(body));
	uint32_t unit = is_time(note->kind) && (note->kind & TENTHS) == 0 ? 10 : 1;
	uint32_t *last = &writer->clock[(writer->depth == 0 ? ply : writer->ply) & 1];
	bool clock = note->kind < CHI_NOTE_ELAPSED;
	if (clock) {
		chi_write_varint(&bytes, zigzag((int64_t)(*last / unit) - note->value));
	} else {
		chi_write_varint(&bytes,
				 is_eval(note->kind) ? zigzag(note->value) : (uint64_t)note->value);
	}
	if (is_eval(note->kind) && (note->kind & DEPTH) != 0) {
		chi_write_varint(&bytes, note->extra);
	}
	if (put_note(writer, ply, note->kind | joined, body, (size_t)(bytes.at - body), 0) &&
	    clock) {
		*last = (uint32_t)note->value * unit;
	}
}

/* Where the next item that a blank is before begins, or the end. */
static size_t find_item(const char *text, size_t len, size_t at)
{
	struct chi_note note;
	while (at < len) {
		const char *found = memmem(text + at, len - at, " [%", 3);
		if (found == NULL) {
			return len;
		}
		size_t next = (size_t)(found - text) + 1;
		size_t n = scan_item(text + next, len - next, &note);
		if (n > 0 && (next + n == len || text[next + n] == ' ')) {
			return next - 1;
		}
		at = next;
	}
	return len;
}

void chi_notes_comment(struct chi_notes_writer *writer, size_t ply, const char *text, size_t len)
{
	uint8_t joined = 0;
	size_t at = 0;
	/* One that has to be written with ';' is not taken apart. */
	if (memchr(text, '}', len) != NULL) {
		put_text(writer, ply, CHI_NOTE_TEXT, text, len);
		return;
	}
	while (at < len) {
		struct chi_note note;
		size_t n = scan_item(text + at, len - at, &note);
		if (n > 0 && (at + n == len || (text[at + n] == ' ' && at + n + 1 < len))) {
			put_item(writer, ply, joined, &note);
		} else {
			/* Not empty, even where it begins with a blank. */
			n = find_item(text, len, at + 1) - at;
			put_text(writer, ply, CHI_NOTE_TEXT | joined, text + at, n);
		}
		at += n + 1;
		joined = JOINED;
	}
}

void chi_notes_nag(struct chi_notes_writer *writer, size_t ply, uint32_t nag)
{
	uint8_t body[VARINT_SIZE];
	struct chi_writer bytes = chi_writer_of(body, sizeof(body));
	if (nag <= KIND_BITS - KIND_NAGS) {
		put_note(writer, ply, (uint8_t)(KIND_NAGS + nag), NULL, 0, 0);
		return;
	}
	chi_write_varint(&bytes, nag);
	put_note(writer, ply, CHI_NOTE_NAG, body, (size_t)(bytes.at - body), 0);
}

void chi_notes_open(struct chi_notes_writer *writer, size_t ply)
{
	if (put_note(writer, ply, CHI_NOTE_OPEN, NULL, 0, 1)) {
		writer->depth++;
	} else {
		writer->lost_depth++;
	}
}

void chi_notes_move(struct chi_notes_writer *writer, chi_move move)
{
	uint8_t body[3] = {1, (uint8_t)move, (uint8_t)(move >> 8)};
	size_t run = writer->run;
	if (run == 0 || writer->bytes[run] == RUN_MAX) {
		if (put_note(writer, 0, CHI_NOTE_MOVES, body, 3, 0)) {
			writer->run = writer->n - 3;
		}
	} else if (room(writer) >= 2) {
		writer->bytes[run]++;
		memcpy(writer->bytes + writer->n, body + 1, 2);
		writer->n += 2;
	} else {
		writer->lost++;
	}
}

void chi_notes_unread(struct chi_notes_writer *writer, const char *text, size_t len)
{
	/* Whole or not at all: its variations and comments must end. */
	if (len + 2 * VARINT_SIZE > room(writer)) {
		writer->lost++;
	} else {
		put_text(writer, 0, CHI_NOTE_UNREAD, text, len);
	}
}

void chi_notes_close(struct chi_notes_writer *writer)
{
	if (writer->lost_depth > 0) {
		writer->lost_depth--;
		return;
	}
	writer->bytes[writer->n++] = CHI_NOTE_CLOSE;
	writer->depth--;
	writer->run = 0;
}
