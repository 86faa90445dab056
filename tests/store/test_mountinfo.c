/* SPDX-License-Identifier: MIT */
/* The table of mounts: which line is a file's, and what FUSE's types mean. */
#include "store/env/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/cases.h"

#define LINES                                                                                      \
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"                                  \
	"22 21 0:40 / /mnt/a rw - fuse.sshfs host:/a rw,user_id=0\n"                               \
	"23 21 0:41 /sub /mnt/with\\040space rw shared:2 master:3 propagate_from:1 - "             \
	"fuse.fuse2fs /tmp/an\\040image rw\n"                                                      \
	"24 21 0:42 / /mnt/a rw - fuse.s3fs bucket rw\n"                                           \
	"25 21 0:43 / /mnt/a/b rw - fuseblk /dev/sdb1 rw\n"

/* By path, of a device that no mount has. */
static const struct {
	const char *path;
	const char *type;
	const char *source;
} by_path[] = {
	{"/", "ext4", "/dev/sda1"},
	{"/var/lib", "ext4", "/dev/sda1"},
	{"/mnt/a", "fuse.s3fs", "bucket"}, /* the later one covers the other */
	{"/mnt/a/store", "fuse.s3fs", "bucket"},
	{"/mnt/ab", "ext4", "/dev/sda1"}, /* not below /mnt/a */
	{"/mnt/a/b/c", "fuseblk", "/dev/sdb1"},
	{"/mnt/a/bc", "fuse.s3fs", "bucket"},
	{"/mnt/with space/x", "fuse.fuse2fs", "/tmp/an image"},
	{"/mnt/with\\040space", "ext4", "/dev/sda1"},
};

static bool find(const char *text, const struct chi_mount_key *key, struct chi_mount *out)
{
	/* Without a NUL after it, so that a read beyond its end is seen. */
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	bool found = chi_mountinfo_find(copy, len, key, out);
	free(copy);
	return found;
}

CASE(longest_place_and_last_mount)
{
	for (size_t i = 0; i < sizeof(by_path) / sizeof(by_path[0]); i++) {
		struct chi_mount mount;
		assert_true(find(LINES,
				 &(struct chi_mount_key){.major_id = 9, .path = by_path[i].path},
				 &mount));
		assert_string_equal(mount.type, by_path[i].type);
		assert_string_equal(mount.source, by_path[i].source);
	}
}

/* The options of the file system count, not those of the mount. */
CASE(read_only_file_systems)
{
	static const struct {
		const char *options;
		bool still;
	} rows[] = {{"ro", true},   {"ro,noload", true}, {"rw", false},
		    {"rox", false}, {"rw,ro", false},	 {"", false}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];
		struct chi_mount mount;
		(void)snprintf(text, sizeof(text), "22 21 0:40 / /mnt ro - ext4 /dev/sda1%s%s\n",
			       rows[i].options[0] != '\0' ? " " : "", rows[i].options);
		assert_true(find(text, &(struct chi_mount_key){.path = "/mnt/a"}, &mount));
		assert_int_equal(mount.still, rows[i].still);
	}
}

/* /mnt was covered after /mnt/a was mounted: a file of the cover's is not of the longer place. */
CASE(device_before_place)
{
	static const char text[] = "22 21 0:40 / /mnt/a rw - fuse.sshfs host:/a rw\n"
				   "23 21 8:2 / /mnt rw - ext4 /dev/sda2 rw\n";
	struct chi_mount mount;
	assert_true(find(text,
			 &(struct chi_mount_key){.major_id = 8, .minor_id = 2, .path = "/mnt/a/x"},
			 &mount));
	assert_string_equal(mount.type, "ext4");
	assert_true(
		find(text, &(struct chi_mount_key){.minor_id = 40, .path = "/mnt/a/x"}, &mount));
	assert_string_equal(mount.type, "fuse.sshfs");
}

CASE(number_before_all)
{
	struct chi_mount mount;
	assert_true(find(LINES, &(struct chi_mount_key){.id = 22, .path = "/mnt/a/b"}, &mount));
	assert_string_equal(mount.source, "host:/a");
	/* A number that is not there: by the place. */
	assert_true(find(LINES, &(struct chi_mount_key){.id = 2, .path = "/mnt/a/b"}, &mount));
	assert_string_equal(mount.type, "fuseblk");
}

CASE(malformed_lines_are_passed_over)
{
	static const char *const none[] = {
		"",
		"\n",
		"1",
		"1 2 3",
		"1 1 0:1 / / rw",
		"1 1 0:1 / / rw -",
		"1 1 0:1 / / rw - ",
		"1 1 0:1 /  rw - ext4 x rw\n",
	};
	const struct chi_mount_key key = {.path = "/a"};
	struct chi_mount mount;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_false(find(none[i], &key, &mount));
	}
	assert_true(find("x\n1 1 0:1 / / rw - ext4 dev", &key, &mount));
	assert_string_equal(mount.source, "dev");
	/* An escape that is none, or that the line's end cuts. */
	assert_true(find("1 1 0:1 / / rw - ext4 a\\9\\04", &key, &mount));
	assert_string_equal(mount.source, "a\\9\\04");
}

/* What does not fit is not taken for something else. */
CASE(overlong_lines)
{
	static const char head[] = "1 1 0:1 / / rw ";
	static const char tail[] = "- fuse.sshfs ";
	const size_t n = 100000;
	const struct chi_mount_key key = {.path = "/a"};
	struct chi_mount mount;
	char *text = malloc(sizeof(head) + sizeof(tail) + 2 * n + 2);
	assert_non_null(text);
	char *at = text + strlen(strcpy(text, head));
	memset(at, 'x', n);
	at[n] = ' ';
	at = strcpy(at + n + 1, tail) + strlen(tail);
	memset(at, 'y', n);
	at[n] = '\0';
	assert_true(find(text, &key, &mount));
	assert_string_equal(mount.type, "fuse.sshfs");
	assert_string_equal(mount.source, "");
	free(text);
}

CASE(kinds_of_fuse)
{
	assert_int_equal(chi_fuse_kind("fuse.ceph-fuse", false), CHI_FUSE_NETWORK);
	assert_int_equal(chi_fuse_kind("fuse.glusterfs", false), CHI_FUSE_NETWORK);
	assert_int_equal(chi_fuse_kind("fuse.rclone", true), CHI_FUSE_NETWORK);
	assert_int_equal(chi_fuse_kind("fuseblk", false), CHI_FUSE_LOCAL);
	assert_int_equal(chi_fuse_kind("fuse.fuse2fs", false), CHI_FUSE_LOCAL);
	assert_int_equal(chi_fuse_kind("fuse.fuse-overlayfs", false), CHI_FUSE_LOCAL);
	assert_int_equal(chi_fuse_kind("fuse.mine", true), CHI_FUSE_LOCAL);
	assert_int_equal(chi_fuse_kind("fuse.mine", false), CHI_FUSE_UNKNOWN);
	assert_int_equal(chi_fuse_kind("fuse.ceph-fused", false), CHI_FUSE_UNKNOWN);
}

/* The real one has the root. */
CASE(table_of_this_machine)
{
	char *text = NULL;
	size_t len = 0;
	struct chi_mount mount;
	assert_int_equal(chi_mountinfo_load(&text, &len), 0);
	assert_true(chi_mountinfo_find(text, len, &(struct chi_mount_key){.path = "/"}, &mount));
	assert_true(mount.type[0] != '\0');
	free(text);
}
