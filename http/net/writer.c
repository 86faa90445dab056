/* SPDX-License-Identifier: MIT */
/* Texts are copied in runs: most need no escape. */
#include "http/net/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

void out_init(struct writer *w, size_t limit)
{
	*w = (struct writer){.failed = false};
	chi_buffer_init(&w->buffer, limit);
}

void out_deinit(struct writer *w)
{
	chi_buffer_deinit(&w->buffer);
}

void out_reset(struct writer *w)
{
	chi_buffer_consume(&w->buffer, w->buffer.len);
	w->failed = false;
	w->comma = false;
}

void out_bytes(struct writer *w, const void *bytes, size_t len)
{
	if (!w->failed && len > 0) {
		w->failed = chi_buffer_append(&w->buffer, bytes, len) != CHI_OK;
	}
}

void out_raw(struct writer *w, const char *text)
{
	out_bytes(w, text, strlen(text));
}

void out_format(struct writer *w, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	w->failed = w->failed || n < 0 || (size_t)n >= sizeof(text);
	out_bytes(w, text, w->failed ? 0 : (size_t)n);
}

/* ---- JSON -------------------------------------------------------------------------------- */

/* The length of the run that needs no escape. */
static size_t plain(const char *text, size_t len)
{
	size_t n = 0;
	while (n < len && (unsigned char)text[n] >= ' ' && text[n] != '"' && text[n] != '\\') {
		n++;
	}
	return n;
}

static void escape(struct writer *w, const char *text, size_t len)
{
	out_bytes(w, "\"", 1);
	while (len > 0) {
		size_t n = plain(text, len);
		out_bytes(w, text, n);
		text += n;
		len -= n;
		if (len > 0) {
			unsigned char c = (unsigned char)*text++;
			len--;
			if (c == '"' || c == '\\') {
				out_bytes(w, (const char[]){'\\', (char)c}, 2);
			} else {
				out_format(w, "\\u%04x", c);
			}
		}
	}
	out_bytes(w, "\"", 1);
}

/* A comma if something is before, and the member's name. */
static void begin_member(struct writer *w, const char *name)
{
	if (w->comma) {
		out_bytes(w, ",", 1);
	}
	if (name != NULL) {
		out_bytes(w, "\"", 1);
		out_raw(w, name);
		out_bytes(w, "\":", 2);
	}
	w->comma = true;
}

void out_object(struct writer *w, const char *name)
{
	begin_member(w, name);
	out_bytes(w, "{", 1);
	w->comma = false;
}

void out_array(struct writer *w, const char *name)
{
	begin_member(w, name);
	out_bytes(w, "[", 1);
	w->comma = false;
}

void out_end(struct writer *w, char bracket)
{
	out_bytes(w, &bracket, 1);
	w->comma = true;
}

void out_number(struct writer *w, const char *name, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);
	begin_member(w, name);
	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	out_bytes(w, digits + n, sizeof(digits) - n);
}

void out_integer(struct writer *w, const char *name, int64_t value)
{
	begin_member(w, name);
	out_format(w, "%" PRId64, value);
}

void out_real(struct writer *w, const char *name, double value, int places)
{
	char text[64];
	begin_member(w, name);
	int n = snprintf(text, sizeof(text), "%.*f", places, value);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		w->failed = true;
		return;
	}
	while (places > 0 && n > 0 && text[n - 1] == '0') {
		n--;
	}
	n -= n > 0 && text[n - 1] == '.' ? 1 : 0;
	out_bytes(w, text, (size_t)n);
}

void out_bool(struct writer *w, const char *name, bool value)
{
	begin_member(w, name);
	out_raw(w, value ? "true" : "false");
}

void out_null(struct writer *w, const char *name)
{
	begin_member(w, name);
	out_raw(w, "null");
}

void out_text_n(struct writer *w, const char *name, const char *text, size_t len)
{
	begin_member(w, name);
	if (chi_utf8_valid(text, len)) {
		escape(w, text, len);
		return;
	}
	out_bytes(w, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		bool fine = (unsigned char)text[i] < 0x7f && plain(text + i, 1) == 1;
		out_bytes(w, fine ? text + i : "?", 1);
	}
	out_bytes(w, "\"", 1);
}

void out_text(struct writer *w, const char *name, const char *text)
{
	if (text == NULL) {
		out_null(w, name);
	} else {
		out_text_n(w, name, text, strlen(text));
	}
}

void out_json(struct writer *w, const char *name, const char *json)
{
	begin_member(w, name);
	out_raw(w, json);
}

void out_newline(struct writer *w)
{
	out_bytes(w, "\n", 1);
	w->comma = false;
}
