/* SPDX-License-Identifier: MIT */
/*
 * Lines out of libarchive's raw format. Only filters compiled into libarchive are offered: for one
 * that is missing the library would start an external program, and what an outside file says
 * must not start programs.
 */
#include "formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"

#define BLOCK_SIZE ((size_t)64 * 1024)

struct chi_source {
	struct chi_source_options options;
	struct archive *archive;   /* NULL until the first line is asked for */
	struct chi_buffer pending; /* the start of a line that goes over a block's end */
	const char *block;	   /* unpacked bytes, owned by the archive */
	size_t block_len;	   /* of them, not yet delivered */
	uint64_t line;
	uint64_t bytes_read;
	uint64_t bytes_total;
	size_t taken; /* of `pending`, delivered by the last call */
	int fd;
	bool own_fd;
	bool ended;
	bool looked; /* the first block was seen, and can be read as text */
	bool canceled;
	bool all_read; /* the file's end was seen */
	bool returned; /* the line delivered last ended in a carriage return */
	ssize_t held;  /* of `packed`, read before the archive asks */
	char packed[BLOCK_SIZE];
};

static ssize_t read_packed(struct archive *archive, void *context, const void **out)
{
	struct chi_source *source = context;
	ssize_t held = source->held;
	*out = source->packed;
	if (held > 0 || source->all_read) {
		source->held = 0;
		return held;
	}
	if (source->options.before_read != NULL) {
		source->options.before_read(source->options.context);
	}
	for (;;) {
		if (source->options.cancel != NULL && *source->options.cancel != 0) {
			source->canceled = true;
			archive_set_error(archive, EINTR, "interrupted");
			return -1;
		}
		ssize_t n = read(source->fd, source->packed, sizeof(source->packed));
		if (n >= 0) {
			source->bytes_read += (uint64_t)n;
			source->all_read = n == 0;
			return n;
		}
		if (errno != EINTR) {
			archive_set_error(archive, errno, "cannot read (%s)", strerror(errno));
			return -1;
		}
	}
}

/* The system's reason as a status: missing and forbidden are told apart from the rest. */
static int open_fault(int error, struct chi_fault *fault)
{
	int status = error == ENOENT || error == ENOTDIR ? -CHI_ENOSTORE
		     : error == EACCES || error == EPERM ? -CHI_EACCES
							 : -CHI_EIO;
	return chi_fault(fault, status, "%s", strerror(error));
}

/* Standard input is used but never closed: it is not ours. */
static int open_fd(struct chi_source *source, const char *path, struct chi_fault *fault)
{
	struct stat status;
	if (strcmp(path, "-") == 0) {
		source->fd = STDIN_FILENO;
	} else {
		source->fd = open(path, O_RDONLY | O_CLOEXEC);
		source->own_fd = true;
	}
	if (source->fd < 0 || fstat(source->fd, &status) != 0) {
		return open_fault(errno, fault);
	}
	if (S_ISDIR(status.st_mode)) {
		return open_fault(EISDIR, fault);
	}
	if (S_ISREG(status.st_mode) && status.st_size > 0) {
		source->bytes_total = (uint64_t)status.st_size;
	}
	return CHI_OK;
}

static void source_freep(struct chi_source **source)
{
	chi_source_close(*source);
}

int chi_source_open(const char *path, const struct chi_source_options *options,
		    struct chi_source **out, struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(source_freep) struct chi_source *source = calloc(1, sizeof(*source));
	if (source == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	source->fd = -1;
	if (options != NULL) {
		source->options = *options;
	}
	if (source->options.line_max == 0) {
		source->options.line_max = CHI_SOURCE_LINE_MAX;
	}
	/* Room for one byte more: the carriage return that may precede a newline. */
	chi_buffer_init(&source->pending, source->options.line_max + 1);
	int status = open_fd(source, path, fault);
	if (status != CHI_OK) {
		return status;
	}
	*out = source;
	source = NULL;
	return CHI_OK;
}

void chi_source_close(struct chi_source *source)
{
	if (source == NULL) {
		return;
	}
	if (source->archive != NULL) {
		archive_read_free(source->archive);
	}
	if (source->own_fd && source->fd >= 0) {
		close(source->fd);
	}
	chi_buffer_deinit(&source->pending);
	free(source);
}

/* Whether it begins as one of the packers' files does. A filter that is offered waits for more
 * bytes than a short question has, such as "e4" of a program that then waits for its answer. */
static bool may_be_packed(const char *bytes, size_t len)
{
	static const char *const marks[] = {"\x1f\x8b", "BZh", "\3757zXZ", "\x28\xb5\x2f\xfd"};
	for (size_t i = 0; i < CHI_COUNT(marks); i++) {
		size_t n = strlen(marks[i]);
		if (memcmp(bytes, marks[i], len < n ? len : n) == 0) {
			return true;
		}
	}
	/* A frame of zstd that is to be skipped. */
	return len >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0;
}

/* Offers the filters this libarchive has inside. Their return codes tell nothing more than the
 * version functions did. */
static void offer_filters(struct archive *archive)
{
	if (archive_zlib_version() != NULL) {
		(void)archive_read_support_filter_gzip(archive);
	}
	if (archive_bzlib_version() != NULL) {
		(void)archive_read_support_filter_bzip2(archive);
	}
	if (archive_liblzma_version() != NULL) {
		(void)archive_read_support_filter_xz(archive);
	}
	if (archive_libzstd_version() != NULL) {
		(void)archive_read_support_filter_zstd(archive);
	}
}

/* What libarchive says of the stream, unless reading was given up on request. Where
 * it asks for more than there is the file is not whole; it says "no progress is possible". */
static int archive_fault(struct chi_source *source, struct chi_fault *fault)
{
	if (source->canceled) {
		return chi_fault_plain(fault, -CHI_ECANCELED);
	}
	/* The line that cannot be read is the next one. */
	source->line++;
	const char *text = source->all_read ? "the compressed data is cut short"
					    : archive_error_string(source->archive);
	return chi_fault(fault, -CHI_EIO, "%s", text != NULL ? text : "damaged compressed data");
}

/* Opens the archive at the first read, since telling the packing waits for input. */
static int start(struct chi_source *source, struct chi_fault *fault)
{
	struct archive_entry *entry = NULL;
	source->archive = archive_read_new();
	if (source->archive == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	const void *bytes = NULL;
	source->held = read_packed(source->archive, source, &bytes);
	if (source->held < 0) {
		return archive_fault(source, fault);
	}
	if (may_be_packed(bytes, (size_t)source->held)) {
		offer_filters(source->archive);
	}
	if (archive_read_support_format_raw(source->archive) != ARCHIVE_OK ||
	    archive_read_support_format_empty(source->archive) != ARCHIVE_OK ||
	    archive_read_open(source->archive, source, NULL, read_packed, NULL) != ARCHIVE_OK) {
		return archive_fault(source, fault);
	}
	int status = archive_read_next_header(source->archive, &entry);
	if (status == ARCHIVE_EOF) {
		source->ended = true;
		return CHI_OK;
	}
	return status >= ARCHIVE_WARN ? CHI_OK : archive_fault(source, fault);
}

/* What the first bytes show to be no text, or NULL. Read all the same it would be a file without
 * games, or thousands of bad lines. */
static const char *foreign_kind(const char *bytes, size_t len)
{
	/* A header of tar begins with a name, filled up with NUL. */
	if (len >= 262 && memcmp(bytes + 257, "ustar", 5) == 0 && memchr(bytes, '\0', 100)) {
		return "a tar archive; give the files in it, or pipe them: tar -xO -f ARCHIVE";
	}
	if (len >= 4 && memcmp(bytes, "PK\3\4", 4) == 0) {
		return "a ZIP archive; give the files in it, or pipe them: unzip -p ARCHIVE";
	}
	bool wide = len >= 2 &&
		    (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0 ||
		     memcmp(bytes, "[\0", 2) == 0 || memcmp(bytes, "\0[", 2) == 0);
	return wide ? "UTF-16; make it UTF-8 first: iconv -f UTF-16 -t UTF-8" : NULL;
}

/* Looks at the first block. */
static int check_text(struct chi_source *source, const char *bytes, size_t len,
		      struct chi_fault *fault)
{
	bool skip = source->looked || source->options.binary;
	const char *kind = skip ? NULL : foreign_kind(bytes, len);
	source->looked = true;
	if (kind == NULL) {
		return CHI_OK;
	}
	source->ended = true;
	source->line++;
	return chi_fault(fault, -CHI_EUNSUPPORTED, "this is %s", kind);
}

/* Makes the next unpacked bytes the block; sets `ended` when there are none. */
static int next_block(struct chi_source *source, struct chi_fault *fault)
{
	if (source->archive == NULL) {
		int status = start(source, fault);
		if (status != CHI_OK || source->ended) {
			return status;
		}
	}
	const void *bytes = NULL;
	size_t len = 0;
	la_int64_t offset = 0;
	while (len == 0) {
		int status = archive_read_data_block(source->archive, &bytes, &len, &offset);
		if (status == ARCHIVE_EOF) {
			source->ended = true;
			return CHI_OK;
		}
		if (status < ARCHIVE_WARN) {
			/* What follows is not to be asked for again. */
			source->ended = true;
			return archive_fault(source, fault);
		}
	}
	int status = check_text(source, bytes, len, fault);
	if (status == CHI_OK) {
		source->block = bytes;
		source->block_len = len;
	}
	return status;
}

/* Bytes delivered or skipped. */
static void take_block(struct chi_source *source, size_t len)
{
	source->block += len;
	source->block_len -= len;
}

static int too_long(const struct chi_source *source, struct chi_fault *fault)
{
	return chi_fault(fault, -CHI_ETOOBIG, "line is longer than %zu bytes",
			 source->options.line_max);
}

/* Drops a byte order mark and a carriage return; checks the length. */
static int deliver(struct chi_source *source, const char *text, size_t size, const char **line,
		   size_t *len, struct chi_fault *fault)
{
	static const char mark[] = "\xef\xbb\xbf";
	source->line++;
	source->returned = size > 0 && text[size - 1] == '\r';
	size -= source->returned ? 1 : 0;
	if (source->line == 1 && size >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		size -= 3;
	}
	*line = text;
	*len = size;
	return size > source->options.line_max ? too_long(source, fault) : CHI_OK;
}

/* Lines longer than the buffer: reads on to the newline without keeping anything. */
static int skip_line(struct chi_source *source, struct chi_fault *fault)
{
	chi_buffer_consume(&source->pending, source->pending.len);
	while (!source->ended) {
		const char *end = memchr(source->block, '\n', source->block_len);
		if (end != NULL) {
			take_block(source, (size_t)(end - source->block) + 1);
			break;
		}
		source->block_len = 0;
		int status = next_block(source, fault);
		if (status != CHI_OK) {
			return status;
		}
	}
	source->line++;
	return too_long(source, fault);
}

/* The line is whole, at a newline in the block or at the end of the stream; it may have begun in
 * `pending`. */
int chi_source_line(struct chi_source *source, const char **line, size_t *len,
		    struct chi_fault *fault)
{
	struct chi_buffer *pending = &source->pending;
	chi_buffer_consume(pending, source->taken);
	source->taken = 0;
	for (;;) {
		const char *text = source->block;
		const char *end =
			source->block_len == 0 ? NULL : memchr(text, '\n', source->block_len);
		size_t size = end != NULL ? (size_t)(end - text) : source->block_len;
		if (end != NULL && pending->len == 0) {
			take_block(source, size + 1);
			return deliver(source, text, size, line, len, fault);
		}
		int status = chi_buffer_append(pending, text, size);
		if (status != CHI_OK) {
			return status == -CHI_ETOOBIG ? skip_line(source, fault)
						      : chi_fault_plain(fault, status);
		}
		take_block(source, end != NULL ? size + 1 : size);
		status = end != NULL || source->ended ? CHI_OK : next_block(source, fault);
		if (status != CHI_OK) {
			return status;
		}
		if (end == NULL && !source->ended) {
			continue;
		}
		if (end == NULL && pending->len == 0) {
			return CHI_NONE;
		}
		source->taken = pending->len;
		return deliver(source, (const char *)chi_buffer_bytes(pending), pending->len, line,
			       len, fault);
	}
}

int chi_source_peek(struct chi_source *source, const char **bytes, size_t *len,
		    struct chi_fault *fault)
{
	int status = source->block_len > 0 || source->ended ? CHI_OK : next_block(source, fault);
	*bytes = source->block;
	*len = source->block_len;
	return status != CHI_OK || source->block_len > 0 ? status : CHI_NONE;
}

int chi_source_read(struct chi_source *source, const char **bytes, size_t *len,
		    struct chi_fault *fault)
{
	int status = chi_source_peek(source, bytes, len, fault);
	if (status == CHI_OK) {
		take_block(source, *len);
	}
	return status;
}

const char *chi_source_line_end(const struct chi_source *source)
{
	return source->returned ? "\r\n" : "\n";
}

uint64_t chi_source_line_number(const struct chi_source *source)
{
	return source->line;
}

uint64_t chi_source_bytes_read(const struct chi_source *source)
{
	return source->bytes_read;
}

uint64_t chi_source_bytes_total(const struct chi_source *source)
{
	return source->bytes_total;
}
