/* SPDX-License-Identifier: MIT */
/* Blocks of a file's bytes, unpacked where they are packed, and lines out of the blocks. */
#include "formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "formats/unpack.h"

#define BLOCK_SIZE ((size_t)64 * 1024)

struct chi_source {
	struct chi_source_options options;
	const struct chi_codec *named;	/* how its name says that it is packed, or NULL */
	struct chi_unpack *unpack;	/* NULL: as it stands */
	struct chi_packed_bytes packed; /* of `bytes`, not unpacked or delivered yet */
	struct chi_buffer pending;	/* the start of a line that goes over a block's end */
	const char *block;		/* of `bytes` or `unpacked` */
	size_t block_len;		/* of them, not yet delivered */
	uint64_t line;
	uint64_t bytes_read;
	uint64_t bytes_total;
	size_t taken; /* of `pending`, delivered by the last call */
	int fd;
	bool own_fd;
	bool started; /* it is known whether it is packed */
	bool ended;
	bool looked; /* the first block was seen, and can be read as text */
	int failed;
	struct chi_fault failure;
	uint8_t bytes[BLOCK_SIZE];
	uint8_t unpacked[BLOCK_SIZE];
};

/* Adds the file's next bytes to those that are there, of which all are at the front. */
static int read_packed(struct chi_source *source, struct chi_fault *fault)
{
	struct chi_packed_bytes *packed = &source->packed;
	uint8_t *to = source->bytes + packed->len;
	packed->at = source->bytes;
	if (source->options.before_read != NULL) {
		source->options.before_read(source->options.context);
	}
	for (;;) {
		if (source->options.cancel != NULL && *source->options.cancel != 0) {
			return chi_fault_plain(fault, -CHI_ECANCELED);
		}
		ssize_t n = read(source->fd, to, BLOCK_SIZE - packed->len);
		if (n >= 0) {
			source->bytes_read += (uint64_t)n;
			packed->len += (size_t)n;
			packed->last = n == 0;
			return CHI_OK;
		}
		if (errno != EINTR) {
			return chi_fail(fault, -CHI_EIO, "cannot read (%s)", strerror(errno));
		}
	}
}

/* The system's reason as a status: missing and forbidden are told apart from the rest. */
static int open_fault(int error, struct chi_fault *fault)
{
	int status = error == ENOENT || error == ENOTDIR ? -CHI_ENOSTORE
		     : error == EACCES || error == EPERM ? -CHI_EACCES
		     : error == EISDIR			 ? -CHI_EINVAL
							 : -CHI_EIO;
	return chi_fail(fault, status, "%s", strerror(error));
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
	source->named = chi_codec_of_name(path);
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
	chi_unpack_free(source->unpack);
	if (source->own_fd && source->fd >= 0) {
		close(source->fd);
	}
	chi_buffer_deinit(&source->pending);
	free(source);
}

/* Control characters that no text has. */
static bool has_control(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] < ' ' &&
		    (bytes[i] == '\0' || strchr("\t\n\v\f\r\x1a\x1b", bytes[i]) == NULL)) {
			return true;
		}
	}
	return false;
}

/* Looks how it is packed. That waits for input, but no longer than it must: for the answer to "e4"
 * a program may be waiting. A file that is packed by its name only may be text that was
 * unpacked, or one whose beginning is damaged. */
static int start_unpacking(struct chi_source *source, struct chi_fault *fault)
{
	struct chi_packed_bytes *packed = &source->packed;
	int rc = read_packed(source, fault);
	while (rc == CHI_OK && packed->len < CHI_CODEC_MAGIC && !packed->last &&
	       chi_codec_of(packed->at, packed->len) != NULL) {
		rc = read_packed(source, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	const struct chi_codec *codec =
		packed->len >= CHI_CODEC_MAGIC ? chi_codec_of(packed->at, packed->len) : NULL;
	if (codec == NULL && source->named != NULL &&
	    (packed->len < CHI_CODEC_MAGIC || has_control(packed->at, packed->len))) {
		return chi_fail(fault, -CHI_EIO,
				"named as %s data is, but it does not begin so: it is damaged",
				chi_codec_name(source->named));
	}
	source->started = true;
	return codec != NULL ? chi_unpack_new(codec, &source->unpack, fault) : CHI_OK;
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
	return kind == NULL ? CHI_OK : chi_fail(fault, -CHI_EUNSUPPORTED, "this is %s", kind);
}

/* The next bytes as they stand, without a copy. */
static int plain_block(struct chi_source *source, struct chi_fault *fault)
{
	struct chi_packed_bytes *packed = &source->packed;
	int rc = packed->len == 0 && !packed->last ? read_packed(source, fault) : CHI_OK;
	source->block = (const char *)packed->at;
	source->block_len = packed->len;
	packed->len = 0;
	return rc == CHI_OK && source->block_len == 0 ? CHI_NONE : rc;
}

static int unpacked_block(struct chi_source *source, struct chi_fault *fault)
{
	struct chi_packed_bytes *packed = &source->packed;
	size_t len = 0;
	int rc = CHI_OK;
	while (rc == CHI_OK && len == 0) {
		rc = chi_unpack_read(source->unpack, packed, source->unpacked, BLOCK_SIZE, &len,
				     fault);
		if (rc == CHI_OK && len == 0) {
			rc = read_packed(source, fault);
		}
	}
	source->block = (const char *)source->unpacked;
	source->block_len = len;
	return rc;
}

static int read_block(struct chi_source *source, struct chi_fault *fault)
{
	int rc = source->started ? CHI_OK : start_unpacking(source, fault);
	if (rc == CHI_OK) {
		rc = source->unpack != NULL ? unpacked_block(source, fault)
					    : plain_block(source, fault);
	}
	return rc == CHI_OK ? check_text(source, source->block, source->block_len, fault) : rc;
}

/* Makes the next unpacked bytes the block; sets `ended` when there are none. A failure is no end:
 * asked again it is the same. */
static int next_block(struct chi_source *source, struct chi_fault *fault)
{
	if (source->failed == CHI_OK) {
		int rc = read_block(source, &source->failure);
		source->ended = rc == CHI_NONE;
		source->failed = rc < 0 ? rc : CHI_OK;
		source->block_len = rc == CHI_OK ? source->block_len : 0;
		/* The line that cannot be read is the next one. */
		source->line += rc < 0 && rc != -CHI_ECANCELED;
	}
	if (source->failed != CHI_OK && fault != NULL) {
		*fault = source->failure;
	}
	return source->failed;
}

/* Bytes delivered or skipped. */
static void take_block(struct chi_source *source, size_t len)
{
	source->block += len;
	source->block_len -= len;
}

static int too_long(const struct chi_source *source, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ETOOBIG, "line is longer than %zu bytes",
			source->options.line_max);
}

/* Drops a byte order mark and a carriage return; checks the length. */
static int deliver(struct chi_source *source, const char *text, size_t size, const char **line,
		   size_t *len, struct chi_fault *fault)
{
	static const char mark[] = "\xef\xbb\xbf";
	source->line++;
	size -= size > 0 && text[size - 1] == '\r';
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

/* What the file may make us hold, by its size; of a pipe, by what came. */
static uint64_t whole_most(const struct chi_source *source)
{
	uint64_t size =
		source->bytes_total > source->bytes_read ? source->bytes_total : source->bytes_read;
	uint64_t most = size * CHI_SOURCE_WHOLE_EACH + CHI_SOURCE_WHOLE_MORE;
	return most < CHI_SOURCE_WHOLE_MAX ? most : CHI_SOURCE_WHOLE_MAX;
}

static int read_source(struct chi_buffer *content, struct chi_source *source, const char *what,
		       struct chi_fault *fault)
{
	const char *bytes = NULL;
	size_t len = 0;
	int rc;
	while ((rc = chi_source_read(source, &bytes, &len, fault)) == CHI_OK) {
		uint64_t most = whole_most(source);
		if (len > most - content->len) {
			return chi_fail(fault, -CHI_ETOOBIG,
					"%s is over %" PRIu64
					" bytes, the most that a file of its size is unpacked to",
					what, most);
		}
		if (chi_buffer_append(content, bytes, len) < 0) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_source_whole(const char *path, const char *what, uint8_t **bytes, size_t *len,
		     struct chi_fault *fault)
{
	const struct chi_source_options options = {.binary = true};
	_cleanup_(source_freep) struct chi_source *source = NULL;
	struct chi_buffer content;
	int rc = chi_source_open(path, &options, &source, fault);
	if (rc < 0) {
		return rc;
	}
	chi_buffer_init(&content, (size_t)CHI_SOURCE_WHOLE_MAX + 1);
	rc = read_source(&content, source, what, fault);
	if (rc < 0) {
		chi_buffer_deinit(&content);
		return rc;
	}
	*bytes = content.data;
	*len = content.len;
	return CHI_OK;
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
