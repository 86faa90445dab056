/* SPDX-License-Identifier: MIT */
/*
 * Faults quote what others sent. Before such text reaches a terminal or a log, everything that
 * could move the cursor, forge a second line or break the encoding is replaced here, once for all
 * callers.
 */
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/* Room to format in, larger than the result: some text shrinks when it is cleaned, and the cut
 * must see the whole of a UTF-8 sequence at the limit to tell it from a broken one. */
#define SCRATCH_SIZE (2 * CHI_FAULT_SIZE + 4)

/* Length of the well-formed sequence at text[0]; 0 if there is none within `left` bytes. */
static size_t sequence_length(const char *text, size_t left)
{
	for (size_t n = 1; n <= 4 && n <= left; n++) {
		if (chi_utf8_valid(text, n)) {
			return n;
		}
	}
	return 0;
}

static bool is_control(const char *text, size_t n)
{
	unsigned char first = (unsigned char)text[0];
	if (n == 1) {
		return first < 0x20 || first == 0x7f;
	}
	/* U+0080..U+009F: terminals take some of them for the start of an escape sequence. */
	return n == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

void chi_text_clean(char *out, size_t size, const char *text)
{
	size_t left = strlen(text);
	size_t len = 0;
	while (left > 0) {
		size_t n = sequence_length(text, left);
		bool bad = n == 0 || is_control(text, n);
		size_t taken = n == 0 ? 1 : n;
		size_t written = bad ? 1 : n;
		if (len + written > size - 1) {
			break;
		}
		if (bad) {
			out[len] = '?';
		} else {
			memmove(out + len, text, n);
		}
		len += written;
		text += taken;
		left -= taken;
	}
	out[len] = '\0';
}

int chi_fail(struct chi_fault *fault, int status, const char *format, ...)
{
	if (fault == NULL) {
		return status;
	}
	char scratch[SCRATCH_SIZE];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(scratch, sizeof(scratch), format, args);
	va_end(args);
	chi_text_clean(fault->text, sizeof(fault->text), n < 0 ? chi_strerror(status) : scratch);
	return status;
}

int chi_fault_plain(struct chi_fault *fault, int status)
{
	return chi_fail(fault, status, "%s", chi_strerror(status));
}

int chi_fault_errno(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return -CHI_EFULL;
	case ENOMEM:
		return -CHI_ENOMEM;
	default:
		return -CHI_EIO;
	}
}
