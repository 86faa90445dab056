/* SPDX-License-Identifier: MIT */
/*
 * Outside bytes are taken one code point at a time. What a terminal or a viewer would act upon -
 * control characters, separators of lines, changes of the direction of writing - and what is no
 * UTF-8 is spelled out, so that no line can be made to look like two, or like another.
 */
#include "service/log_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

/* Kept free for what closes a line of JSON. */
#define CLOSING_SIZE 32

/* Bytes are added while they fit; `full` once something has not. */
struct out {
	char *at;
	char *end;
	bool full;
};

static const char *level_name(enum chi_log_level level)
{
	static const char *const names[CHI_LOG_LEVELS] = {
		[CHI_LOG_ERROR] = "error",
		[CHI_LOG_WARNING] = "warning",
		[CHI_LOG_INFO] = "info",
		[CHI_LOG_DEBUG] = "debug",
	};
	return names[level];
}

/* All of it or nothing. */
static void append_whole(struct out *out, const char *bytes, size_t len)
{
	if (out->full || (size_t)(out->end - out->at) < len) {
		out->full = true;
		return;
	}
	memcpy(out->at, bytes, len);
	out->at += len;
}

CHI_PRINTF(2, 3) static void print(struct out *out, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	size_t len = n < 0 ? 0 : (size_t)n;
	append_whole(out, text, len < sizeof(text) ? len : sizeof(text) - 1);
}

/* ---- Outside bytes ----------------------------------------------------------------------- */

/* The code point that begins `text` and its length; UINT32_MAX and 1 if it is no UTF-8. */
static uint32_t decode(const char *text, size_t *len)
{
	unsigned char first = (unsigned char)text[0];
	*len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (strnlen(text, *len) < *len || !chi_utf8_valid(text, *len)) {
		*len = 1;
		return UINT32_MAX;
	}
	uint32_t point = *len == 1 ? first : first & (0xffu >> (*len + 1));
	for (size_t i = 1; i < *len; i++) {
		point = point << 6 | ((unsigned char)text[i] & 0x3fu);
	}
	return point;
}

static bool is_plain(uint32_t point)
{
	return point >= ' ' && !(point >= 0x7f && point < 0xa0) &&
	       !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
	       point != 0x061c && point != 0x200e && point != 0x200f && point != 0xfeff &&
	       point != UINT32_MAX;
}

/* Where outside bytes are put. */
enum inside {
	SENTENCE,
	QUOTES,
	JSON
};

/* Between quotes neither the quote nor what escapes it is taken as it is. */
static void add_outside(struct out *out, const char *text, enum inside inside)
{
	const uint32_t quote = inside == JSON ? '"' : '\'';
	while (*text != '\0' && !out->full) {
		size_t len;
		uint32_t point = decode(text, &len);
		if (inside != SENTENCE && (point == quote || point == '\\')) {
			print(out, "\\%c", (char)point);
		} else if (is_plain(point)) {
			append_whole(out, text, len);
		} else if (inside == JSON) {
			print(out, "\\u%04x", point == UINT32_MAX ? 0xfffdu : (unsigned)point);
		} else {
			for (size_t i = 0; i < len; i++) {
				print(out, "\\x%02x", (unsigned)(unsigned char)text[i]);
			}
		}
		text += len;
	}
}

/* ---- Sentences --------------------------------------------------------------------------- */

static const struct chi_log_field *find_field(const struct chi_event *event, const char *key,
					      size_t len)
{
	for (const struct chi_log_field *field = event->fields; field->key != NULL; field++) {
		if (strlen(field->key) == len && memcmp(field->key, key, len) == 0) {
			return field;
		}
	}
	return NULL;
}

static void add_value(struct out *out, const struct chi_log_field *field, enum inside inside)
{
	switch (field->kind) {
	case CHI_FIELD_NUMBER:
		print(out, "%" PRIu64, field->u.number);
		break;
	case CHI_FIELD_SECONDS:
		print(out, "%.3f", field->u.seconds);
		break;
	default:
		add_outside(out, field->u.text != NULL ? field->u.text : "", inside);
	}
}

/* The message with its fields in their places. */
static void add_message(struct out *out, const struct chi_event *event)
{
	const char *at = event->message;
	while (*at != '\0') {
		size_t plain = strcspn(at, "{");
		append_whole(out, at, plain);
		bool quoted = plain > 0 && at[plain - 1] == '\'';
		at += plain;
		size_t len = strcspn(at, "}");
		const struct chi_log_field *field =
			at[0] == '{' && at[len] == '}' ? find_field(event, at + 1, len - 1) : NULL;
		if (field != NULL) {
			add_value(out, field, quoted ? QUOTES : SENTENCE);
			at += len + 1;
		} else if (*at != '\0') {
			/* No field has that name: tests/lint/log.py finds such messages. */
			append_whole(out, at++, 1);
		}
	}
}

static void print_text(struct out *out, const struct chi_log_head *head,
		       const struct chi_event *event)
{
	if (head->time != NULL) {
		print(out, "%s ", head->time);
	}
	print(out, "%s: %s: ", head->program != NULL ? head->program : "chistored",
	      level_name(event->level));
	add_message(out, event);
}

/* ---- JSON -------------------------------------------------------------------------------- */

/* A member is there or not; only a long text may lack its end. */
static void add_member(struct out *out, const struct chi_log_field *field)
{
	bool text = field->kind == CHI_FIELD_TEXT;
	char *before = out->at;
	print(out, ",\"%s\":%s", field->key, text ? "\"" : "");
	if (out->full) {
		return;
	}
	add_value(out, field, JSON);
	if (text) {
		/* From what is kept free. */
		*out->at++ = '"';
	} else if (out->full) {
		out->at = before;
	}
}

static void print_json_event(struct out *out, const struct chi_log_head *head,
			     const struct chi_event *event)
{
	char message[CHI_LOG_LINE_SIZE / 4];
	struct out sentence = {message, message + sizeof(message) - 1, false};
	add_message(&sentence, event);
	*sentence.at = '\0';
	print(out, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"",
	      head->time != NULL ? head->time : "", level_name(event->level), event->name);
	if (head->pid >= 0) {
		print(out, ",\"pid\":%d", head->pid);
	}
	add_member(out, &(struct chi_log_field){"message", CHI_FIELD_TEXT, {.text = message}});
	for (const struct chi_log_field *field = event->fields; field->key != NULL; field++) {
		add_member(out, field);
	}
	bool cut = out->full || sentence.full;
	*out = (struct out){out->at, out->end + CLOSING_SIZE, false};
	print(out, cut ? ",\"truncated\":true}" : "}");
}

size_t chi_log_line(enum chi_log_format format, const struct chi_log_head *head,
		    const struct chi_event *event, char line[CHI_LOG_LINE_SIZE])
{
	struct out out = {line, line + CHI_LOG_LINE_SIZE - 1, false};
	if (head->priority >= 0) {
		print(&out, "<%d>", head->priority);
	}
	if (format == CHI_LOG_JSON) {
		out.end -= CLOSING_SIZE;
		print_json_event(&out, head, event);
	} else {
		print_text(&out, head, event);
	}
	*out.at++ = '\n';
	return (size_t)(out.at - line);
}
