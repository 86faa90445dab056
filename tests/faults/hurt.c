/* SPDX-License-Identifier: MIT */
#include "tests/faults/hurt.h"

#include <string.h>

#include "base/attr.h"

#define SECTOR	   512
#define META_BYTES 152
#define META_TXN   144

static uint8_t *page(const struct hurt *hurt, size_t number)
{
	return hurt->bytes + number * PAGE;
}

static size_t any_page(const struct hurt *hurt)
{
	return 2 + seed_below(hurt->seed, hurt->pages - 2);
}

static void flip_bit(struct hurt *hurt)
{
	page(hurt, any_page(hurt))[seed_below(hurt->seed, PAGE)] ^=
		(uint8_t)(1u << seed_below(hurt->seed, 8));
}

/* In the head of a page and its pointers to nodes, which no checksum covers. */
static void flip_bit_of_head(struct hurt *hurt)
{
	page(hurt, any_page(hurt))[seed_below(hurt->seed, 48)] ^=
		(uint8_t)(1u << seed_below(hurt->seed, 8));
}

static void zero_sector(struct hurt *hurt)
{
	memset(page(hurt, any_page(hurt)) + SECTOR * seed_below(hurt->seed, PAGE / SECTOR), 0,
	       SECTOR);
}

static void fill_sector(struct hurt *hurt)
{
	uint8_t *at = page(hurt, any_page(hurt)) + SECTOR * seed_below(hurt->seed, PAGE / SECTOR);
	for (size_t i = 0; i < SECTOR; i++) {
		at[i] = (uint8_t)seed_next(hurt->seed);
	}
}

static void zero_page(struct hurt *hurt)
{
	memset(page(hurt, any_page(hurt)), 0, PAGE);
}

static void exchange_pages(struct hurt *hurt)
{
	uint8_t kept[PAGE];
	uint8_t *a = page(hurt, any_page(hurt));
	uint8_t *b = page(hurt, any_page(hurt));
	memcpy(kept, a, PAGE);
	memmove(a, b, PAGE);
	memcpy(b, kept, PAGE);
}

/* Written to the wrong place. */
static void misplace_page(struct hurt *hurt)
{
	memmove(page(hurt, any_page(hurt)), page(hurt, any_page(hurt)), PAGE);
}

/* A write that was lost: the page is as it was in an older state. */
static void lose_page(struct hurt *hurt)
{
	for (unsigned tries = 0; tries < 10000; tries++) {
		const struct hurt_image *old =
			&hurt->images[1 + seed_below(hurt->seed, COMMITS - 1)];
		size_t number = any_page(hurt);
		if (old->bytes != NULL && (number + 1) * PAGE <= old->len &&
		    memcmp(page(hurt, number), old->bytes + number * PAGE, PAGE) != 0) {
			memcpy(page(hurt, number), old->bytes + number * PAGE, PAGE);
			return;
		}
	}
}

static void lose_sector(struct hurt *hurt)
{
	for (unsigned tries = 0; tries < 10000; tries++) {
		const struct hurt_image *old =
			&hurt->images[1 + seed_below(hurt->seed, COMMITS - 1)];
		size_t at = SECTOR * (2 * PAGE / SECTOR +
				      seed_below(hurt->seed, (hurt->pages - 2) * PAGE / SECTOR));
		if (old->bytes != NULL && at + SECTOR <= old->len &&
		    memcmp(hurt->bytes + at, old->bytes + at, SECTOR) != 0) {
			memcpy(hurt->bytes + at, old->bytes + at, SECTOR);
			return;
		}
	}
}

/* The transaction of the newest state, set back by two, makes the one before it the newest. That
 * cannot be told from a commit that failed, and is left out. */
static void change_meta(struct hurt *hurt, uint8_t bits)
{
	size_t one = seed_below(hurt->seed, 2);
	size_t at = seed_below(hurt->seed, META_BYTES);
	if (at != META_TXN || bits != 2) {
		page(hurt, one)[at] ^= bits;
	}
}

static void flip_bit_of_meta(struct hurt *hurt)
{
	change_meta(hurt, (uint8_t)(1u << seed_below(hurt->seed, 8)));
}

static void change_byte_of_meta(struct hurt *hurt)
{
	change_meta(hurt, (uint8_t)(1 + seed_below(hurt->seed, 255)));
}

/* Exchanged, or one over the other. */
static void misplace_meta(struct hurt *hurt)
{
	uint8_t kept[PAGE];
	size_t one = seed_below(hurt->seed, 2);
	memcpy(kept, page(hurt, one), PAGE);
	memcpy(page(hurt, one), page(hurt, 1 - one), PAGE);
	if (seed_below(hurt->seed, 2) == 0) {
		memcpy(page(hurt, 1 - one), kept, PAGE);
	}
}

static void lose_meta(struct hurt *hurt)
{
	const struct hurt_image *old = &hurt->images[1 + seed_below(hurt->seed, COMMITS - 1)];
	size_t one = seed_below(hurt->seed, 2);
	memcpy(page(hurt, one), old->bytes + one * PAGE, PAGE);
}

const struct hurt_kind hurt_kinds[] = {
	{"a bit", flip_bit, HURT_VERIFIED},
	{"a bit of a page's head", flip_bit_of_head, HURT_VERIFIED},
	{"a sector of zeros", zero_sector, HURT_SEEN},
	{"a sector of noise", fill_sector, HURT_SEEN},
	{"a page of zeros", zero_page, HURT_SEEN},
	{"two pages exchanged", exchange_pages, HURT_VERIFIED},
	{"a page over another", misplace_page, HURT_VERIFIED},
	{"a sector of an older state", lose_sector, HURT_ALIKE},
	{"a page of an older state", lose_page, HURT_ALIKE},
	{"a bit of a meta page", flip_bit_of_meta, HURT_SEEN},
	{"a byte of a meta page", change_byte_of_meta, HURT_SEEN},
	{"meta pages misplaced", misplace_meta, HURT_SEEN},
	{"a meta page of an older state", lose_meta, HURT_ALIKE},
};

const size_t hurt_n_kinds = CHI_COUNT(hurt_kinds);
