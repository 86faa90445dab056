/* SPDX-License-Identifier: MIT */
/* Where the pages of an environment are, and in a snapshot the root of a tree. */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the pages of an open environment are; zeroed: not to be looked at. */
struct chi_pages {
	const uint8_t *base; /* page 0 */
	uint32_t size;	     /* of a page, in bytes */
	MDB_dbi main;	     /* the tree of the trees */
	bool far;	     /* the file is larger than half of the memory: some are on the disk */
};

/* Deeper than any tree that fits a file. */
#define CHI_TREE_DEPTH_MOST 32

/* Descents that take turns at most, where pages may have to be read from the disk. */
#define CHI_DESCENT_LANES 32
/* Where they are in memory. More hide little more, and the lines that they have asked for leave the
 * processor's nearest cache before they are looked at. */
#define CHI_DESCENT_NEAR 16

struct chi_guide;

/* A tree of one snapshot. Descents are for the position tree and its order; leaves.h walks any. */
struct chi_descent {
	struct chi_pages pages;
	bool usable;
	uint16_t depth; /* 0: the tree is empty */
	uint16_t near;	/* a level; the pages above it are likely to be in the cache */
	uint16_t waits; /* for how many groups of look-ups the disk is asked ahead */
	uint64_t root;
	uint64_t end;	   /* pages from this number on belong to no one in this snapshot */
	uint64_t txn;	   /* LMDB's number of the snapshot */
	uint64_t branches; /* pages, */
	uint64_t leaves;   /* as the tree's record has them */
	const struct chi_guide *guide; /* of this snapshot, or NULL */
};
