/* SPDX-License-Identifier: MIT */
/*
 * A disk as a journal leaves it: of every file and directory what is certain, and the changes not
 * yet synced, of which a power cut may keep any. The rules are harder than those of the file
 * systems in use: changes survive in any combination, whole, not at all, or torn at sectors; a new
 * name is certain only when its directory was synced, whatever was done to the file.
 */
#pragma once

#include <stdint.h>

#include "tests/base/seed.h"
#include "tests/faults/journal.h"

/* What a sector holds, in bytes: it is written whole or not. */
#define DISK_SECTOR 512

/* Syncs that the disk only pretends to do: controls, in which writes must get lost. */
enum disk_lie {
	DISK_HONEST,
	DISK_NO_SYNC,  /* nothing is ever synced */
	DISK_NO_DATA,  /* files are not, but writes with O_DSYNC and directories are */
	DISK_NO_NAMES, /* directories are not */
};

/* What the cut leaves of the changes that are not certain. */
enum disk_cut {
	DISK_NONE,
	DISK_ALL,
	DISK_SOME,
	DISK_TORN
};

struct disk;

/* An empty directory. The journal and the seed must outlive the disk. */
struct disk *disk_new(uint64_t root_ino, struct seed *seed);
void disk_free(struct disk *disk);

/* One call more. A write with O_DSYNC is uncertain until disk_settle is called after it: that is
 * when the call returns. */
void disk_apply(struct disk *disk, const struct journal_call *call, enum disk_lie lie);
void disk_settle(struct disk *disk);

/* One file or directory of a state; a directory comes before what is in it. */
struct image_file {
	char path[JOURNAL_PATH];
	bool directory;
	uint8_t *bytes;
	uint64_t len;
};

#define IMAGE_FILES 32

struct image {
	struct image_file files[IMAGE_FILES];
	size_t n;
};

/* The state after a power cut now. */
void disk_cut(const struct disk *disk, enum disk_cut how, struct image *out);

/* A number by which images are told apart. */
uint64_t image_hash(const struct image *image);
/* Writes the image into the empty directory `path`; false and errno on failure. */
bool image_write(const struct image *image, const char *path);
void image_deinit(struct image *image);
