/* SPDX-License-Identifier: MIT */
/* What disks, cables and hands do to a store's file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/base/seed.h"

#define PAGE	4096
#define COMMITS 6 /* states that pages are taken from */

/* The file as it was after a commit; bytes NULL: there is none. */
struct hurt_image {
	uint8_t *bytes;
	size_t len;
};

struct hurt {
	uint8_t *bytes; /* changed in place */
	size_t pages;
	const struct hurt_image *images; /* COMMITS of them, the newest first */
	struct seed *seed;
};

struct hurt_kind {
	const char *name;
	void (*hurt)(struct hurt *hurt);
	enum {
		HURT_SEEN,     /* no answer is false */
		HURT_VERIFIED, /* an older state of one leaf may be read; verify sees it */
		HURT_ALIKE,    /* it may be a sound state: told, not demanded */
	} shows;
};

extern const struct hurt_kind hurt_kinds[];
extern const size_t hurt_n_kinds;
