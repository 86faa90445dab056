/* SPDX-License-Identifier: MIT */
/* Encoding groups: entry by entry, each column apart, until all are put one after the other. */
#include "store/block/block_priv.h"

/* Which way a mask goes on from the one before. */
static uint32_t way_of(const uint8_t *before, const uint8_t *mask)
{
	/* The first way with so many bytes shared at the start. */
	static const uint8_t first[MASK_SIZE] = {0, 8, 15, 21, 26, 30, 33, 35};
	uint64_t differ = load_u64(before) ^ load_u64(mask);
	if (differ == 0) {
		return MASK_ALL;
	}
	return first[__builtin_ctzll(differ) / 8] + (uint32_t)__builtin_clzll(differ) / 8;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many bytes of the pieces are shared at the start, and of what is left at the end. Looks at
 * eight at once; those before the end may reach into the mask. */
static void share_pieces(const uint8_t *before, size_t before_len, const uint8_t *key,
			 size_t key_len, size_t *start, size_t *end)
{
	size_t least = min_size(before_len, key_len) - MASK_SIZE;
	size_t n = 0;
	uint64_t differ = 0;
	if (least >= 8) {
		differ = load_u64(before + MASK_SIZE) ^ load_u64(key + MASK_SIZE);
		n = differ != 0 ? (size_t)__builtin_ctzll(differ) / 8 : 8;
	}
	while (differ == 0 && n < least && n < SHARED_START_MOST &&
	       before[MASK_SIZE + n] == key[MASK_SIZE + n]) {
		n++;
	}
	*start = n;
	differ = load_u64(before + before_len - 8) ^ load_u64(key + key_len - 8);
	n = differ != 0 ? (size_t)__builtin_clzll(differ) / 8 : SHARED_END_MOST;
	*end = min_size(n, min_size(least - *start, SHARED_END_MOST));
}

/* The code of a value's length. */
static uint32_t code_of(size_t len)
{
	uint32_t code = 0;
	while (code < LENGTH_VARINT && usual_lengths[code] != len) {
		code++;
	}
	return code;
}

void chi_group_begin(struct chi_group_writer *group, enum chi_tree_kind kind, uint8_t *out)
{
	group->kind = kind;
	group->out = out;
	group->n = 0;
	group->masks_len = 0;
	group->statistics_len = 0;
	group->lengths_len = 0;
	group->values_len = 0;
	group->pieces_len = 0;
}

/* How the key goes on from the last one. */
static void form_key(const struct chi_group_writer *group, const uint8_t *key, size_t key_len,
		     struct entry_form *form)
{
	size_t skip = chi_tree_skip(group->kind);
	const uint8_t *mask = key + skip;
	uint32_t way = way_of(group->last + skip, mask);
	size_t start;
	size_t end;
	share_pieces(group->last + skip, group->last_len - skip, mask, key_len - skip, &start,
		     &end);
	const struct mask_way *ways = &chi_mask_ways[way];
	form->header = way | (uint32_t)(start << 6 | end << 10);
	form->mask_len = ways->bytes;
	form->mask_at = (uint8_t)(MASK_SIZE - ways->bytes - ways->above / 8);
	form->piece_at = (uint8_t)start;
	form->piece_len = (uint8_t)(key_len - skip - MASK_SIZE - start - end);
	form->statistic = memcmp(group->last, key, skip) != 0 ? (uint8_t)skip : 0;
}

/* `own`: the value's length is not in the header. */
static void measure(bool own, size_t len, struct entry_form *form)
{
	form->length = !own ? 0 : len < 1u << 7 ? 1 : len < 1u << 14 ? 2 : 3;
	form->size = HEADER_SIZE + (size_t)form->mask_len + form->statistic + form->piece_len +
		     form->length + len;
}

void chi_group_form(const struct chi_group_writer *group, bool first, const uint8_t *key,
		    size_t key_len, size_t len, struct entry_form *form)
{
	size_t skip = chi_tree_skip(group->kind);
	uint32_t code;
	if (first) {
		*form = (struct entry_form){.piece_len = (uint8_t)(key_len - skip - MASK_SIZE)};
	} else {
		form_key(group, key, key_len, form);
	}
	bool own;
	if (group->kind == CHI_TREE_POSITION) {
		code = code_of(len);
		own = code == LENGTH_VARINT;
	} else {
		code = (form->statistic > 0 ? LENGTH_STATISTIC : 0u) | (len > 0 ? LENGTH_LINE : 0u);
		own = len > 0;
	}
	form->header |= code << 13;
	measure(own, len, form);
}

void chi_group_form_again(enum chi_tree_kind kind, uint32_t header, size_t key_len, size_t len,
			  struct entry_form *form)
{
	const struct mask_way *ways = &chi_mask_ways[header & WAY_BITS];
	uint32_t code = header >> 13;
	size_t start = header >> 6 & SHARED_START_MOST;
	size_t end = header >> 10 & SHARED_END_MOST;
	bool strength = kind == CHI_TREE_STRENGTH;
	form->header = header;
	form->mask_len = ways->bytes;
	form->mask_at = (uint8_t)(MASK_SIZE - ways->bytes - ways->above / 8);
	form->piece_at = (uint8_t)start;
	form->piece_len = (uint8_t)(key_len - chi_tree_skip(kind) - MASK_SIZE - start - end);
	form->statistic = strength && (code & LENGTH_STATISTIC) != 0 ? 2 : 0;
	measure(strength ? len > 0 : code == LENGTH_VARINT, len, form);
}

void chi_group_add(struct chi_group_writer *group, const struct entry_form *form,
		   const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	size_t skip = chi_tree_skip(group->kind);
	if (group->n == 0) {
		memcpy(group->leader, key, skip + MASK_SIZE);
	}
	store_u16(group->headers + HEADER_SIZE * (size_t)group->n, form->header);
	memcpy(group->masks + group->masks_len, key + skip + form->mask_at, form->mask_len);
	memcpy(group->statistics + group->statistics_len, key, form->statistic);
	group->masks_len += form->mask_len;
	group->statistics_len += form->statistic;
	group->pieces_len += form->piece_len;
	memcpy(group->pieces + sizeof(group->pieces) - group->pieces_len,
	       key + skip + MASK_SIZE + form->piece_at, form->piece_len);
	for (size_t i = 0, left = len; i < form->length; i++, left >>= 7) {
		uint8_t more = i + 1u < form->length ? 0x80 : 0;
		group->lengths[sizeof(group->lengths) - ++group->lengths_len] =
			(uint8_t)((left & 0x7f) | more);
	}
	/* An entry of the strength tree may have none. */
	if (len > 0) {
		memcpy(group->out + GROUP_FRONT_MOST + group->values_len, value, len);
	}
	group->values_len += len;
	group->n++;
	memcpy(group->last, key, key_len);
	group->last_len = key_len;
}

size_t chi_group_size(const struct chi_group_writer *group)
{
	return CHECKSUM_SIZE + HEADER_SIZE * (size_t)group->n + group->masks_len +
	       group->statistics_len + group->lengths_len + group->values_len + group->pieces_len;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

size_t chi_group_finish(struct chi_group_writer *group)
{
	uint8_t *body = group->out + CHECKSUM_SIZE;
	uint32_t start = (uint32_t)(group->masks_len + group->statistics_len + group->lengths_len);
	store_u16(group->headers, load_u16(group->headers) | start);
	uint8_t *at = put_bytes(body, group->headers, HEADER_SIZE * (size_t)group->n);
	at = put_bytes(at, group->statistics, group->statistics_len);
	at = put_bytes(at, group->masks, group->masks_len);
	at = put_bytes(at, group->lengths + sizeof(group->lengths) - group->lengths_len,
		       group->lengths_len);
	memmove(at, group->out + GROUP_FRONT_MOST, group->values_len);
	at += group->values_len;
	at = put_bytes(at, group->pieces + sizeof(group->pieces) - group->pieces_len,
		       group->pieces_len);
	store_u32(group->out,
		  group_sum(group->kind, group->leader, group->n, body, (size_t)(at - body)));
	return (size_t)(at - group->out);
}
