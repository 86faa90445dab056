/* SPDX-License-Identifier: MIT */
/* The kernel's table of mounts, /proc/self/mountinfo: proc(5) has its format. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* What is known of the file whose mount is looked for. */
struct chi_mount_key {
	uint64_t id;	   /* of the mount; 0: not known */
	unsigned major_id; /* of the file's device; matters if the mount is not known */
	unsigned minor_id;
	const char *path; /* absolute, without symbolic links; the same */
};

struct chi_mount {
	char type[64];	   /* "ext4", "fuse.sshfs"; cut to fit */
	char source[1024]; /* "/dev/sda1", "host:/export"; "" if it does not fit */
	bool still;	   /* the file system is read-only, not this mount of it alone */
};

/*
 * Finds the mount of a file in the table's text: that with its number, or else, of those of its
 * device if there are any, that whose place is the longest beginning of the path; of two at one
 * place the last, which covers the other. False: there is none. Malformed lines are passed over.
 * Pure.
 */
CHI_MUSTUSE bool chi_mountinfo_find(const char *text, size_t len, const struct chi_mount_key *key,
				    struct chi_mount *out);

/* Reads the table; the text is the caller's. An errno. */
CHI_MUSTUSE int chi_mountinfo_load(char **text, size_t *len);

/* What of FUSE's many file systems a mount is of. */
enum chi_fuse {
	CHI_FUSE_LOCAL,	  /* on a disk of this machine */
	CHI_FUSE_NETWORK, /* on other machines */
	CHI_FUSE_UNKNOWN,
};

/* `on_disk`: the mount's source is a block device. Pure. */
enum chi_fuse chi_fuse_kind(const char *type, bool on_disk);
