/* SPDX-License-Identifier: MIT */
/*
 * A line: number of the mount, of its parent, major:minor, root, place, options, any number of
 * optional fields, "-", type, source, options of the file system. Fields are parted by one space;
 * space, tab, newline and backslash in them are written as a backslash and three octal digits.
 */
#include "store/env/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

/* Larger tables than any machine has. */
#define TABLE_MAX ((size_t)64 << 20)

struct field {
	const char *at;
	size_t len;
};

/* Takes the next field off the line's rest; empty at its end. */
static struct field take_field(struct field *rest)
{
	const char *space = memchr(rest->at, ' ', rest->len);
	struct field field = {rest->at, space != NULL ? (size_t)(space - rest->at) : rest->len};
	size_t used = field.len + (space != NULL ? 1 : 0);
	rest->at += used;
	rest->len -= used;
	return field;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Takes the next character, with its escape undone; the field is not empty. */
static char take_char(struct field *field)
{
	const char *at = field->at;
	bool escaped = field->len >= 4 && at[0] == '\\' && at[1] <= '3' && is_octal(at[1]) &&
		       is_octal(at[2]) && is_octal(at[3]);
	field->at += escaped ? 4 : 1;
	field->len -= escaped ? 4 : 1;
	return escaped ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : at[0];
}

/* False if it was cut. */
static bool copy_field(struct field field, char *out, size_t size)
{
	size_t n = 0;
	while (field.len > 0 && n + 1 < size) {
		out[n++] = take_char(&field);
	}
	out[n] = '\0';
	return field.len == 0;
}

/* Bytes of the path that the place is a beginning of, as directories go; 0: it is none. */
static size_t covers(struct field place, const char *path)
{
	size_t n = 0;
	while (place.len > 0) {
		if (path[n] == '\0' || take_char(&place) != path[n]) {
			return 0;
		}
		n++;
	}
	return n > 0 && (path[n - 1] == '/' || path[n] == '/' || path[n] == '\0') ? n : 0;
}

static bool holds_number(struct field field, uint64_t wanted)
{
	uint64_t number;
	return field.len > 0 && chi_num_u64(field.at, field.len, UINT64_MAX, &number) == CHI_OK &&
	       number == wanted;
}

static bool is_device(struct field field, const struct chi_mount_key *key)
{
	const char *colon = memchr(field.at, ':', field.len);
	if (colon == NULL) {
		return false;
	}
	struct field major_id = {field.at, (size_t)(colon - field.at)};
	struct field minor_id = {colon + 1, field.len - major_id.len - 1};
	return holds_number(major_id, key->major_id) && holds_number(minor_id, key->minor_id);
}

/* Of a line: the file system, its source and its options. */
struct described {
	struct field type;
	struct field source;
	struct field options;
};

/* How well a line fits; 0: not at all. What it describes is set if it does. */
static uint64_t rank_line(struct field line, const struct chi_mount_key *key, struct described *out)
{
	struct field id = take_field(&line);
	(void)take_field(&line);
	struct field device = take_field(&line);
	(void)take_field(&line);
	struct field place = take_field(&line);
	struct field option = take_field(&line);
	while (line.len > 0 && !(option.len == 1 && option.at[0] == '-')) {
		option = take_field(&line);
	}
	out->type = take_field(&line);
	out->source = take_field(&line);
	out->options = take_field(&line);
	if (out->type.len == 0) {
		return 0;
	}
	if (key->id != 0 && holds_number(id, key->id)) {
		return UINT64_MAX;
	}
	uint64_t n = covers(place, key->path);
	return n > 0 && is_device(device, key) ? n + (UINT64_C(1) << 32) : n;
}

/* The first of a file system's options is "ro" or "rw". */
static bool is_read_only(struct field options)
{
	return options.len >= 2 && memcmp(options.at, "ro", 2) == 0 &&
	       (options.len == 2 || options.at[2] == ',');
}

bool chi_mountinfo_find(const char *text, size_t len, const struct chi_mount_key *key,
			struct chi_mount *out)
{
	uint64_t best = 0;
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		struct field line = {text, end != NULL ? (size_t)(end - text) : len};
		struct described found;
		uint64_t rank = rank_line(line, key, &found);
		if (rank > 0 && rank >= best) {
			best = rank;
			out->still = is_read_only(found.options);
			(void)copy_field(found.type, out->type, sizeof(out->type));
			if (!copy_field(found.source, out->source, sizeof(out->source))) {
				out->source[0] = '\0';
			}
		}
		size_t used = line.len + (end != NULL ? 1 : 0);
		text += used;
		len -= used;
	}
	return best > 0;
}

/* Its size is not known before it ends. */
static int read_mounts(int fd, char **text, size_t *len)
{
	size_t size = 0;
	for (;;) {
		if (*len == size) {
			size = size == 0 ? (size_t)64 << 10 : 2 * size;
			char *more = size <= TABLE_MAX ? realloc(*text, size) : NULL;
			if (more == NULL) {
				return ENOMEM;
			}
			*text = more;
		}
		ssize_t n = read(fd, *text + *len, size - *len);
		if (n < 0 && errno != EINTR) {
			return errno;
		}
		if (n == 0) {
			return 0;
		}
		*len += n > 0 ? (size_t)n : 0;
	}
}

int chi_mountinfo_load(char **text, size_t *len)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return errno;
	}
	*text = NULL;
	*len = 0;
	int error = read_mounts(fd, text, len);
	(void)close(fd);
	if (error != 0) {
		free(*text);
		*text = NULL;
	}
	return error;
}

static bool is_one_of(const char *type, const char *const *types, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(type, types[i]) == 0) {
			return true;
		}
	}
	return false;
}

enum chi_fuse chi_fuse_kind(const char *type, bool on_disk)
{
	static const char *const local[] = {"fuseblk", "fuse.fuse2fs", "fuse.fuse-overlayfs"};
	static const char *const network[] = {
		"fuse.ceph-fuse", "fuse.ceph",	    "fuse.glusterfs", "fuse.sshfs",
		"fuse.juicefs",	  "fuse.JuiceFS",   "fuse.s3fs",      "fuse.rclone",
		"fuse.goofys",	  "fuse.mount-s3",  "fuse.gcsfuse",   "fuse.blobfuse",
		"fuse.blobfuse2", "fuse.seaweedfs", "fuse.moosefs",   "fuse.mfs",
		"fuse.lizardfs",  "fuse.davfs",	    "fuse.curlftpfs", "fuse.smbnetfs",
		"fuse.nfs",	  "fuse.beegfs",    "fuse.cvmfs2",    "virtiofs",
	};
	if (is_one_of(type, network, sizeof(network) / sizeof(network[0]))) {
		return CHI_FUSE_NETWORK;
	}
	return on_disk || is_one_of(type, local, sizeof(local) / sizeof(local[0]))
		       ? CHI_FUSE_LOCAL
		       : CHI_FUSE_UNKNOWN;
}
