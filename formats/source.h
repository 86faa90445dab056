/* SPDX-License-Identifier: MIT */
/*
 * Lines, or bytes, of a file, of standard input, or of either compressed by gzip, bzip2, zstd or
 * xz. What a stream is packed with is recognised by its content; a name that says it is packed only
 * makes sure that it is, if it is no text. It is unpacked in this process, block by block, so that
 * memory stays bounded however long the stream or a line is.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* The longest line the importers take, in bytes without its newline. */
#define CHI_SOURCE_LINE_MAX (1u << 20)

struct chi_source;

struct chi_source_options {
	size_t line_max; /* 0: CHI_SOURCE_LINE_MAX */
	bool binary;	 /* it is no text: nothing but how it is packed is looked at */
	/* Looked at while waiting for input; when it is not 0, reading gives -CHI_ECANCELED. May be
	 * NULL. Set by a signal handler, which must be installed without SA_RESTART. */
	const volatile sig_atomic_t *cancel;
	/* Called before more input is waited for, so that a program that answers line by line can
	 * hand out what it has. May be NULL. */
	void (*before_read)(void *context);
	void *context;
};

/*
 * Opens `path`, or standard input for "-". `options` may be NULL. A directory is refused.
 * -CHI_ENOSTORE (no such file), -CHI_EACCES, -CHI_EIO, -CHI_ENOMEM. Nothing is read yet.
 */
CHI_MUSTUSE int chi_source_open(const char *path, const struct chi_source_options *options,
				struct chi_source **out, struct chi_fault *fault);

/* NULL is fine. */
void chi_source_close(struct chi_source *source);
static inline void chi_source_closep(struct chi_source **source)
{
	chi_source_close(*source);
}

/*
 * The next line without its end ("\n" or "\r\n"), not NUL-terminated, valid until the next call.
 * A byte order mark at the start of the stream is dropped; a last line without a newline counts.
 * CHI_NONE after the last line. -CHI_ETOOBIG: the line was longer than line_max and has been
 * skipped; go on calling. After these, asked again they are the same: -CHI_EIO: the stream cannot
 * be read or unpacked to its end, or what is packed in it is not what was;
 * -CHI_EUNSUPPORTED: it begins as an archive of files (ZIP, tar) or UTF-16 does; -CHI_ECANCELED.
 */
CHI_MUSTUSE int chi_source_line(struct chi_source *source, const char **line, size_t *len,
				struct chi_fault *fault);

/*
 * The next bytes as they are, unpacked, cut anywhere, never none: not copied, and valid until the
 * next call. What a line was made of does not come again. Else as chi_source_line.
 */
CHI_MUSTUSE int chi_source_read(struct chi_source *source, const char **bytes, size_t *len,
				struct chi_fault *fault);

/* The first of the bytes to come, without taking them. */
CHI_MUSTUSE int chi_source_peek(struct chi_source *source, const char **bytes, size_t *len,
				struct chi_fault *fault);

/* The largest file that is read as a whole, in bytes. One that is packed may unpack to so many for
 * each of its own, and some more: books unpack to three, and are not worth what a bomb takes. */
#define CHI_SOURCE_WHOLE_MAX  (UINT64_C(4) << 30)
#define CHI_SOURCE_WHOLE_EACH 16
#define CHI_SOURCE_WHOLE_MORE ((uint64_t)16 << 20)

/*
 * Reads a file of entries by hash, which can only be asked as a whole; `path` as above. *bytes is
 * the caller's to free, NULL for none. `what` names such a file in the fault. -CHI_ENOSTORE,
 * -CHI_EACCES, -CHI_EIO, -CHI_ENOMEM, -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_source_whole(const char *path, const char *what, uint8_t **bytes, size_t *len,
				 struct chi_fault *fault);

/* Number of the line delivered or skipped last, or that could not be read, from 1. */
uint64_t chi_source_line_number(const struct chi_source *source);

/* Bytes taken from the file so far, packed as they are, and the file's size; the size is 0 for
 * what has none (pipes, terminals). */
uint64_t chi_source_bytes_read(const struct chi_source *source);
uint64_t chi_source_bytes_total(const struct chi_source *source);
