/* SPDX-License-Identifier: MIT */
/*
 * Decoding groups. Two loops: one over headers and masks, which needs neither pieces nor values and
 * is all that a look-up does for most entries; and one over the pieces. Where the processor can
 * count bits and shuffle bytes, functions that let it are taken.
 *
 * All bytes are read from before their column's end backwards, whose start has the head before it:
 * nothing is read past a group.
 */
#include "base/attr.h"
#include "store/block/block_priv.h"
#include "store/record/codec.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define FAST  __attribute__((target("popcnt,ssse3")))
#define QUICK __attribute__((target("avx2,bmi,bmi2,popcnt")))
#endif

/* From `p` shared bytes at the start and `s` at the end. */
#define WAY(p, s)                                                                                  \
	{                                                                                          \
		(UINT64_MAX >> (64 - 8 * (8 - (p) - (s)))) << (8 * (p)), 8 * (s), 8 - (p) - (s)    \
	}

/* In the order of the shared bytes at the start, then at the end; the rest is as if all were. */
const struct mask_way chi_mask_ways[WAY_BITS + 1] = {
	WAY(0, 0), WAY(0, 1), WAY(0, 2), WAY(0, 3), WAY(0, 4), WAY(0, 5), WAY(0, 6), WAY(0, 7),
	WAY(1, 0), WAY(1, 1), WAY(1, 2), WAY(1, 3), WAY(1, 4), WAY(1, 5), WAY(1, 6), WAY(2, 0),
	WAY(2, 1), WAY(2, 2), WAY(2, 3), WAY(2, 4), WAY(2, 5), WAY(3, 0), WAY(3, 1), WAY(3, 2),
	WAY(3, 3), WAY(3, 4), WAY(4, 0), WAY(4, 1), WAY(4, 2), WAY(4, 3), WAY(5, 0), WAY(5, 1),
	WAY(5, 2), WAY(6, 0), WAY(6, 1), WAY(7, 0), {0, 0, 0},
};

/* A group that is being decoded. */
struct group_columns {
	uint32_t n;
	const uint8_t *headers;
	const uint8_t *masks;  /* the next one's bytes */
	const uint8_t *values; /* where they begin */
	const uint8_t *end;    /* of the group, and of the first entry's pieces */
	uint64_t mask;	       /* the last one; at first the leader's */
};

/* Verifies the group's checksum. */
CHI_INLINE bool open_columns(enum chi_tree_kind kind, const struct chi_group *group,
			     struct group_columns *out)
{
	if (CHI_UNLIKELY(!verify_group(kind, group))) {
		return false;
	}
	out->n = group->n;
	out->headers = group->at + CHECKSUM_SIZE;
	out->masks = out->headers + HEADER_SIZE * (size_t)out->n;
	out->end = group->end;
	out->mask = load_u64(group->leader + chi_tree_skip(kind));
	size_t start = load_u16(out->headers) & START_BITS;
	out->values = out->masks + start;
	return CHI_LIKELY(start <= (size_t)(out->end - out->masks));
}

CHI_INLINE uint32_t header_at(const uint8_t *headers, uint32_t i)
{
	return load_u16(headers + HEADER_SIZE * (size_t)i);
}

/* The mask of the next entry, which is not the first. False: there is no such. */
CHI_INLINE bool next_mask(struct group_columns *c, uint32_t header)
{
	const struct mask_way *way = &chi_mask_ways[header & WAY_BITS];
	c->masks += way->bytes;
	if (CHI_UNLIKELY(c->masks > c->values)) {
		return false;
	}
	uint64_t literal = load_u64(c->masks - MASK_SIZE) >> way->above;
	c->mask = (c->mask & ~way->literal) | (literal & way->literal);
	return true;
}

/* How many pieces a mask has. */
CHI_INLINE uint32_t count_pieces(uint64_t mask, bool fast)
{
	return (uint32_t)(fast ? __builtin_popcountll(mask) : chi_popcount(mask));
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* Pieces to be put together: those of entries that have so many each. */
struct assembly {
	const uint8_t *headers;
	const uint8_t *counts;
	uint32_t n;
	const uint8_t *at;    /* after the next one's bytes */
	const uint8_t *floor; /* where the last one's may begin */
};

/* How the pieces of one entry are made of those of the one before. */
struct join {
	size_t start;
	size_t end;
	size_t size;
	size_t before; /* the size of those before */
};

/* Steps over the bytes of entry `i`. False: they cannot be so. */
CHI_INLINE bool next_pieces(struct assembly *a, uint32_t i, struct join *j)
{
	uint32_t header = i > 0 ? header_at(a->headers, i) : 0;
	j->before = j->size;
	j->start = header >> 6 & 15;
	j->end = header >> 10 & 7;
	j->size = ((size_t)a->counts[i] + 1) / 2;
	size_t least = j->size < j->before ? j->size : j->before;
	size_t literal = j->size - j->start - j->end;
	if (CHI_UNLIKELY(j->start + j->end > least || (size_t)(a->at - a->floor) < literal)) {
		return false;
	}
	a->at -= literal;
	return true;
}

/* Writes the pieces of each entry and zeros after them, 16 bytes, `stride` bytes from one to the
 * next. */
static bool assemble(struct assembly *a, uint8_t *out, size_t stride)
{
	uint8_t last[16] = {0};
	struct join j = {0};
	for (uint32_t i = 0; i < a->n; i++, out += stride) {
		uint8_t next[16] = {0};
		if (!next_pieces(a, i, &j)) {
			return false;
		}
		memcpy(next, last, j.start);
		memcpy(next + j.start, a->at, j.size - j.start - j.end);
		memcpy(next + j.size - j.end, last + j.before - j.end, j.end);
		memcpy(last, next, sizeof(last));
		memcpy(out, next, sizeof(next));
	}
	return true;
}

#if defined(FAST)
/* Sixteen bytes from `16 - n` on: the first n are set. */
static const uint8_t first_bytes[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
/* From `16 + n` on: shuffled by them, bytes move down by n places, up by -n. */
static const uint8_t places[48] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9,
				   0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0,    1,	   2,	 3,
				   4,	 5,    6,    7,	   8,	 9,    10,   11,   12,	 13,
				   14,	 15,   0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0,
				   0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0};

FAST static inline __m128i load_lane(const uint8_t *bytes)
{
	return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* The same: of what was shared its start stays, its end moves with the size; between them comes
 * the end of the sixteen bytes that end where this entry's own do. */
FAST static bool assemble_fast(struct assembly *a, uint8_t *out, size_t stride)
{
	__m128i last = _mm_setzero_si128();
	struct assembly local = *a;
	struct join j = {0};
	for (uint32_t i = 0; i < local.n; i++, out += stride) {
		__m128i own = load_lane(local.at - 16);
		if (CHI_UNLIKELY(!next_pieces(&local, i, &j))) {
			return false;
		}
		size_t to = j.size - j.end;
		__m128i start = load_lane(first_bytes + 16 - j.start);
		__m128i front = load_lane(first_bytes + 16 - to);
		__m128i end = _mm_shuffle_epi8(last, load_lane(places + 16 + j.before - j.size));
		own = _mm_shuffle_epi8(own, load_lane(places + 32 - to));
		own = _mm_or_si128(_mm_and_si128(start, last), _mm_andnot_si128(start, own));
		last = _mm_or_si128(_mm_and_si128(front, own), _mm_andnot_si128(front, end));
		last = _mm_and_si128(last, load_lane(first_bytes + 16 - j.size));
		_mm_storeu_si128((__m128i *)(void *)out, last);
	}
	a->at = local.at;
	return true;
}
#else
#define assemble_fast assemble
#endif

/* ---- Values --------------------------------------------------------------------------------- */

/* Where the next value is. */
struct value_place {
	const uint8_t *lengths; /* after those that no header tells, going down */
	const uint8_t *at;
};

/* A length that takes more than a byte, backwards. Shortest form only. */
static bool read_length(struct value_place *place, const uint8_t *floor, uint32_t *out)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift <= 21; shift += 7) {
		if (place->lengths == floor) {
			return false;
		}
		uint8_t byte = *--place->lengths;
		value |= (uint32_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = value;
			return byte != 0 || shift == 0;
		}
	}
	return false;
}

/* The length of the next value; steps over its own length, which is not before `floor`. */
CHI_INLINE bool next_length(struct value_place *place, const uint8_t *floor, uint32_t header,
			    uint32_t *out)
{
	uint32_t code = header >> 13;
	uint32_t byte = place->lengths[-1];
	bool own = code == LENGTH_VARINT;
	if (CHI_UNLIKELY(own && (byte >= 0x80 || place->lengths == floor))) {
		return read_length(place, floor, out);
	}
	place->lengths -= own;
	*out = usual_lengths[code] | (byte & -(uint32_t)own);
	return true;
}

/* ---- Looking for one ------------------------------------------------------------------------ */

/* An entry has the key's mask: whether it has its pieces. */
static int compare_entry(const struct group_columns *c, const uint8_t *counts, uint32_t i,
			 const uint8_t *key, size_t key_len)
{
	uint8_t pieces[16];
	struct assembly a = {.headers = c->headers,
			     .counts = counts,
			     .n = i + 1,
			     .at = c->end,
			     .floor = c->values};
	if (CHI_UNLIKELY(!assemble(&a, pieces, 0))) {
		return -CHI_ECORRUPT;
	}
	size_t size = ((size_t)counts[i] + 1) / 2;
	bool same = key_len == MASK_SIZE + size && memcmp(pieces, key + MASK_SIZE, size) == 0;
	return same ? CHI_OK : CHI_NONE;
}

/* In the position tree. Masks ascend. */
static int find_plain(const struct chi_group *group, const uint8_t *key, size_t key_len,
		      const uint8_t **value, size_t *len)
{
	struct group_columns c;
	uint8_t counts[CHI_GROUP_MOST];
	uint64_t wanted = load_u64(key);
	uint64_t order = load_mask(key);
	if (CHI_UNLIKELY(!open_columns(CHI_TREE_POSITION, group, &c))) {
		return -CHI_ECORRUPT;
	}
	const uint8_t *floor = c.masks;
	struct value_place place = {.lengths = c.values, .at = c.values};
	for (uint32_t i = 0; i < c.n; i++) {
		uint32_t size;
		uint32_t header = header_at(c.headers, i);
		uint32_t n = count_pieces(c.mask, false);
		if (i > 0) {
			if (CHI_UNLIKELY(!next_mask(&c, header))) {
				return -CHI_ECORRUPT;
			}
			n = count_pieces(c.mask, false);
		}
		counts[i] = (uint8_t)n;
		if (CHI_UNLIKELY(n - 1 >= 32 || !next_length(&place, floor, header, &size))) {
			return -CHI_ECORRUPT;
		}
		if (be64toh(htole64(c.mask)) >= order) {
			int rc = c.mask == wanted ? compare_entry(&c, counts, i, key, key_len)
						  : CHI_NONE;
			if (rc == CHI_OK) {
				*value = place.at;
				*len = size;
				bool inside = size <= (size_t)(c.end - c.values) &&
					      place.at <= c.end - size;
				return CHI_LIKELY(inside) ? CHI_OK : -CHI_ECORRUPT;
			}
			if (rc < 0 || c.mask != wanted) {
				return rc;
			}
		}
		place.at += size;
	}
	return CHI_NONE;
}

#if defined(QUICK)
/* The pieces of one entry after the other, as assemble_fast puts them together. What is in a lane
 * after the last piece is anything. */
struct piecing {
	__m128i last;
	size_t before;	      /* the size of those in `last` */
	const uint8_t *at;    /* after the next one's bytes */
	const uint8_t *floor; /* where the last one's may begin */
};

QUICK static inline bool join_pieces(struct piecing *p, uint32_t header, size_t size)
{
	size_t start = header >> 6 & 15;
	size_t end = header >> 10 & 7;
	size_t least = size < p->before ? size : p->before;
	size_t literal = size - start - end;
	if (CHI_UNLIKELY(start + end > least || (size_t)(p->at - p->floor) < literal)) {
		return false;
	}
	size_t to = size - end;
	__m128i own = _mm_shuffle_epi8(load_lane(p->at - 16), load_lane(places + 32 - to));
	__m128i tail = _mm_shuffle_epi8(p->last, load_lane(places + 16 + p->before - size));
	own = _mm_blendv_epi8(own, p->last, load_lane(first_bytes + 16 - start));
	p->last = _mm_blendv_epi8(tail, own, load_lane(first_bytes + 16 - to));
	p->at -= literal;
	p->before = size;
	return true;
}

/* Goes to the first entry whose mask is not less than the key's. CHI_NONE: there is none, or its
 * mask is a greater one. `sizes` of the pieces up to there. */
QUICK static inline int find_mask(struct group_columns *c, const uint8_t *key, uint8_t *sizes,
				  uint32_t *at)
{
	uint64_t order = load_mask(key);
	for (uint32_t i = 0;;) {
		uint32_t n = count_pieces(c->mask, true);
		if (CHI_UNLIKELY(n - 1 >= 32)) {
			return -CHI_ECORRUPT;
		}
		sizes[i] = (uint8_t)((n + 1) / 2);
		if (be64toh(c->mask) >= order) {
			*at = i;
			return c->mask == load_u64(key) ? CHI_OK : CHI_NONE;
		}
		if (++i == c->n) {
			return CHI_NONE;
		}
		if (CHI_UNLIKELY(!next_mask(c, header_at(c->headers, i)))) {
			return -CHI_ECORRUPT;
		}
	}
}

/* Of the entries from *at on that have this mask, goes to the one with the key's pieces. */
QUICK static inline int find_pieces(struct group_columns *c, const uint8_t *key,
				    const uint8_t *sizes, uint32_t *at)
{
	struct piecing p = {
		.last = _mm_setzero_si128(), .before = 16, .at = c->end, .floor = c->values};
	uint8_t padded[16] = {0};
	size_t size = sizes[*at];
	uint32_t all = (1u << size) - 1;
	memcpy(padded, key + MASK_SIZE, size);
	const __m128i wanted = load_lane(padded);
	bool good = join_pieces(&p, 0, sizes[0]);
	for (uint32_t i = 1; good && i <= *at; i++) {
		good = join_pieces(&p, header_at(c->headers, i), sizes[i]);
	}
	while (good && ((uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(p.last, wanted)) & all) != all) {
		if (++*at == c->n) {
			return CHI_NONE;
		}
		uint32_t header = header_at(c->headers, *at);
		if (CHI_UNLIKELY(!next_mask(c, header))) {
			return -CHI_ECORRUPT;
		}
		if (c->mask != load_u64(key)) {
			return CHI_NONE;
		}
		good = join_pieces(&p, header, size);
	}
	return CHI_LIKELY(good) ? CHI_OK : -CHI_ECORRUPT;
}

/* The value of entry `at`. Lengths of those before it are in their headers, but for the ones that
 * stand before the values; these are found in order. */
QUICK static inline int find_value(const struct group_columns *c, const uint8_t *floor, uint32_t at,
				   const uint8_t **value, size_t *len)
{
	struct value_place place = {.lengths = c->values, .at = c->values};
	uint32_t own = 0;
	uint32_t own_len = 0;
	for (uint32_t i = 0; i < at; i++) {
		uint32_t code = header_at(c->headers, i) >> 13;
		place.at += usual_lengths[code];
		own += code == LENGTH_VARINT;
	}
	for (; own > 0; own--) {
		if (CHI_UNLIKELY(!next_length(&place, floor, LENGTH_VARINT << 13, &own_len))) {
			return -CHI_ECORRUPT;
		}
		place.at += own_len;
	}
	if (CHI_UNLIKELY(!next_length(&place, floor, header_at(c->headers, at), &own_len) ||
			 place.at > c->end || own_len > (size_t)(c->end - place.at))) {
		return -CHI_ECORRUPT;
	}
	*value = place.at;
	*len = own_len;
	return CHI_OK;
}

/* The same as find_plain: masks first, and of all else only what the entry needs. */
QUICK static int find_quick(const struct chi_group *group, const uint8_t *key, size_t key_len,
			    const uint8_t **value, size_t *len)
{
	struct group_columns c;
	uint8_t sizes[CHI_GROUP_MOST];
	uint32_t at = 0;
	if (CHI_UNLIKELY(!open_columns(CHI_TREE_POSITION, group, &c))) {
		return -CHI_ECORRUPT;
	}
	const uint8_t *floor = c.masks;
	int rc = find_mask(&c, key, sizes, &at);
	if (rc != CHI_OK || CHI_UNLIKELY(key_len != MASK_SIZE + (size_t)sizes[at])) {
		return rc != CHI_OK ? rc : CHI_NONE;
	}
	rc = find_pieces(&c, key, sizes, &at);
	return rc == CHI_OK ? find_value(&c, floor, at, value, len) : rc;
}

static bool is_quick(void)
{
	return CHI_LIKELY(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
			  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"));
}
#else
#define find_quick find_plain
#define is_quick() false
#endif

/* ---- Reading all ---------------------------------------------------------------------------- */

/* The next entry's value. */
CHI_INLINE bool next_value(enum chi_tree_kind kind, uint32_t header, const struct group_columns *c,
			   const uint8_t *floor, struct value_place *place,
			   struct chi_block_entry *entry)
{
	/* In the strength tree the values' lengths never are in the header. */
	uint32_t code = header >> 13;
	if (kind == CHI_TREE_STRENGTH && (code & LENGTH_LINE) == 0) {
		entry->len = 0;
	} else if (!next_length(place, floor, kind == CHI_TREE_STRENGTH ? UINT16_MAX : header,
				&entry->len)) {
		return false;
	}
	entry->value = place->at;
	if (CHI_UNLIKELY(entry->len > (size_t)(c->end - place->at))) {
		return false;
	}
	place->at += entry->len;
	return kind == CHI_TREE_POSITION || code <= (LENGTH_STATISTIC | LENGTH_LINE);
}

/* Steps over the statistics: the masks come after them. */
CHI_INLINE bool pass_statistics(struct group_columns *c)
{
	size_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		n += header_at(c->headers, i) >> 13 & LENGTH_STATISTIC;
	}
	bool good = 2 * n <= (size_t)(c->values - c->masks);
	c->masks += good ? 2 * n : 0;
	return good;
}

/* The statistics so far, of the strength tree. */
struct statistics {
	const uint8_t *at;
	uint32_t last;
};

/* True if the entry has another statistic than the last, which is not less: *bad. */
CHI_INLINE bool next_statistic(struct statistics *s, uint32_t header, bool *bad)
{
	bool other = (header >> 13 & LENGTH_STATISTIC) != 0;
	if (other) {
		uint32_t before = s->last;
		s->last = statistic_at(s->at);
		s->at += 2;
		*bad |= s->last <= before;
	}
	return other;
}

/* All but the pieces; a column must end where the next one begins. *same: a bit for each entry with
 * the statistic and mask of the one before. */
CHI_INLINE bool read_fronts(enum chi_tree_kind kind, bool fast, struct group_columns *c,
			    struct statistics statistics, struct chi_block_entry *entries,
			    uint8_t *counts, const uint8_t **values, uint32_t *same)
{
	struct value_place place = {.lengths = c->values, .at = c->values};
	bool bad = kind == CHI_TREE_STRENGTH && !pass_statistics(c);
	const uint8_t *floor = c->masks;
	*same = 0;
	for (uint32_t i = 0; i < c->n && CHI_LIKELY(!bad); i++) {
		struct chi_block_entry *entry = &entries[i];
		uint32_t header = header_at(c->headers, i);
		uint64_t before = c->mask;
		bool later = i == 0;
		bad = i > 0 && ((header & WAY_BITS) > MASK_ALL || !next_mask(c, header));
		if (kind == CHI_TREE_STRENGTH && next_statistic(&statistics, header, &bad)) {
			bad |= i == 0;
			later = true;
		}
		uint32_t n = count_pieces(c->mask, fast);
		bad |= n - 1 >= 32;
		bad |= !later && be64toh(htole64(c->mask)) < be64toh(htole64(before));
		*same |= (uint32_t)(!later && c->mask == before) << i;
		store_u16(entry->bytes, statistics.last);
		store_u64(entry->bytes + 2, c->mask);
		counts[i] = (uint8_t)n;
		entry->pieces = (uint8_t)n;
		entry->key_len = (uint8_t)(MASK_SIZE + (n + 1) / 2);
		bad |= !next_value(kind, header, c, floor, &place, entry);
	}
	*values = place.at;
	return !bad && c->masks == place.lengths;
}

/* With the pieces: the keys ascend, and the half of a byte that is over is 0. */
static bool check_pieces(const struct chi_block_entry *entries, uint32_t n, uint32_t same)
{
	const size_t pieces = 2 + MASK_SIZE;
	unsigned over = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct chi_block_entry *entry = &entries[i];
		over |= entry->bytes[1 + entry->key_len] & 15u & -(entry->pieces & 1u);
	}
	if (CHI_UNLIKELY(over != 0)) {
		return false;
	}
	for (uint32_t left = same; left != 0; left &= left - 1) {
		const struct chi_block_entry *entry = &entries[__builtin_ctz(left)];
		if (memcmp(entry[-1].bytes + pieces, entry->bytes + pieces, 16) >= 0) {
			return false;
		}
	}
	return true;
}

CHI_INLINE int read_in(enum chi_tree_kind kind, bool fast, const struct chi_group *group,
		       struct chi_block_entry *entries, uint32_t *n)
{
	struct group_columns c;
	uint32_t same;
	uint8_t counts[CHI_GROUP_MOST];
	const uint8_t *values;
	*n = 0;
	if (CHI_UNLIKELY(!open_columns(kind, group, &c))) {
		return -CHI_ECORRUPT;
	}
	const struct statistics first = {.at = c.masks, .last = statistic_at(group->leader)};
	if (CHI_UNLIKELY(!read_fronts(kind, fast, &c, first, entries, counts, &values, &same))) {
		return -CHI_ECORRUPT;
	}
	struct assembly a = {
		.headers = c.headers, .counts = counts, .n = c.n, .at = c.end, .floor = values};
	uint8_t *out = entries[0].bytes + 2 + MASK_SIZE;
	bool good = fast ? assemble_fast(&a, out, sizeof(*entries))
			 : assemble(&a, out, sizeof(*entries));
	if (CHI_UNLIKELY(!good || a.at != values || !check_pieces(entries, c.n, same))) {
		return -CHI_ECORRUPT;
	}
	*n = c.n;
	return CHI_OK;
}

/* ---- Reading some --------------------------------------------------------------------------- */

/* The masks of a group and their numbers of pieces. */
CHI_INLINE bool read_masks(bool fast, struct group_columns *c, uint64_t *masks, uint8_t *counts)
{
	uint32_t over = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		if (CHI_UNLIKELY(i > 0 && !next_mask(c, header_at(c->headers, i)))) {
			return false;
		}
		uint32_t n = count_pieces(c->mask, fast);
		over |= n - 1;
		masks[i] = c->mask;
		counts[i] = (uint8_t)n;
	}
	return over < 32;
}

/* Which masks fit, a bit each. */
CHI_INLINE uint32_t fitting_masks(const struct chi_mask_wants *wants, const uint64_t *masks,
				  const uint8_t *counts, uint32_t n)
{
	uint32_t fit = 0;
	for (uint32_t i = 0; i < wants->n; i++) {
		const struct chi_mask_want want = wants->any[i];
		for (uint32_t j = 0; j < n; j++) {
			fit |= (uint32_t)chi_mask_fits(&want, masks[j], counts[j]) << j;
		}
	}
	return fit;
}

/* All but the pieces of the first `n` entries, as read_fronts has them; of those that do not fit
 * nothing is kept. */
CHI_INLINE bool pick_fronts(enum chi_tree_kind kind, const struct group_columns *c, uint32_t n,
			    struct statistics statistics, const uint8_t *floor, uint32_t fit,
			    const uint64_t *masks, struct chi_block_entry *entries)
{
	struct value_place place = {.lengths = c->values, .at = c->values};
	bool bad = false;
	for (uint32_t i = 0; i < n; i++) {
		struct chi_block_entry skipped;
		bool fits = (fit >> i & 1) != 0;
		uint32_t header = header_at(c->headers, i);
		if (kind == CHI_TREE_STRENGTH) {
			(void)next_statistic(&statistics, header, &bad);
		}
		if (!next_value(kind, header, c, floor, &place, fits ? &entries[i] : &skipped)) {
			return false;
		}
		if (fits) {
			store_u16(entries[i].bytes, statistics.last);
			store_u64(entries[i].bytes + 2, masks[i]);
		}
	}
	return !bad;
}

/* With the pieces of the first `n`: the lengths of those that fit, whose half of a byte that is
 * over is 0. */
static bool end_picked(struct chi_block_entry *entries, const uint8_t *counts, uint32_t fit)
{
	unsigned over = 0;
	for (uint32_t left = fit; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		struct chi_block_entry *entry = &entries[i];
		entry->pieces = counts[i];
		entry->key_len = (uint8_t)(MASK_SIZE + (counts[i] + 1) / 2);
		over |= entry->bytes[1 + entry->key_len] & 15u & -(entry->pieces & 1u);
	}
	return over == 0;
}

/* Masks first; if none fits, nothing else. Entries after the last that fits are not looked at. */
CHI_INLINE int pick_in(enum chi_tree_kind kind, bool fast, const struct chi_group *group,
		       const struct chi_mask_wants *wants, struct chi_block_entry *entries,
		       uint32_t *fit, uint16_t ends[2])
{
	struct group_columns c;
	uint64_t masks[CHI_GROUP_MOST];
	uint8_t counts[CHI_GROUP_MOST];
	if (CHI_UNLIKELY(!open_columns(kind, group, &c))) {
		return -CHI_ECORRUPT;
	}
	const struct statistics first = {.at = c.masks, .last = statistic_at(group->leader)};
	if (CHI_UNLIKELY(kind == CHI_TREE_STRENGTH && !pass_statistics(&c))) {
		return -CHI_ECORRUPT;
	}
	const uint8_t *floor = c.masks;
	if (kind == CHI_TREE_STRENGTH) {
		ends[0] = chi_chi2_of(group->leader);
		ends[1] = floor > first.at ? chi_chi2_of(floor - 2) : ends[0];
	}
	if (CHI_UNLIKELY(!read_masks(fast, &c, masks, counts))) {
		return -CHI_ECORRUPT;
	}
	*fit = fitting_masks(wants, masks, counts, c.n);
	if (*fit == 0) {
		return CHI_OK;
	}
	uint32_t n = 32 - (uint32_t)__builtin_clz(*fit);
	struct assembly a = {
		.headers = c.headers, .counts = counts, .n = n, .at = c.end, .floor = c.values};
	uint8_t *out = entries[0].bytes + 2 + MASK_SIZE;
	bool good = pick_fronts(kind, &c, n, first, floor, *fit, masks, entries) &&
		    (fast ? assemble_fast(&a, out, sizeof(*entries))
			  : assemble(&a, out, sizeof(*entries))) &&
		    end_picked(entries, counts, *fit);
	return CHI_LIKELY(good) ? CHI_OK : -CHI_ECORRUPT;
}

/* ---- For each processor --------------------------------------------------------------------- */

#define FUNCTIONS(suffix, target, fast)                                                            \
	target static int pick_##suffix(enum chi_tree_kind kind, const struct chi_group *group,    \
					const struct chi_mask_wants *wants,                        \
					struct chi_block_entry *entries, uint32_t *fit,            \
					uint16_t ends[2])                                          \
	{                                                                                          \
		return kind == CHI_TREE_STRENGTH ? pick_in(CHI_TREE_STRENGTH, fast, group, wants,  \
							   entries, fit, ends)                     \
						 : pick_in(CHI_TREE_POSITION, fast, group, wants,  \
							   entries, fit, ends);                    \
	}                                                                                          \
	target static int read_##suffix(enum chi_tree_kind kind, const struct chi_group *group,    \
					struct chi_block_entry *entries, uint32_t *n)              \
	{                                                                                          \
		return kind == CHI_TREE_STRENGTH                                                   \
			       ? read_in(CHI_TREE_STRENGTH, fast, group, entries, n)               \
			       : read_in(CHI_TREE_POSITION, fast, group, entries, n);              \
	}

FUNCTIONS(plain, , false)
#if defined(FAST)
FUNCTIONS(fast, FAST, true)

static bool is_fast(void)
{
	return CHI_LIKELY(__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3"));
}
#else
#define pick_fast pick_plain
#define read_fast read_plain
#define is_fast() false
#endif

int chi_group_find(const struct chi_group *group, const uint8_t *key, size_t key_len,
		   const uint8_t **value, size_t *len)
{
	return is_quick() ? find_quick(group, key, key_len, value, len)
			  : find_plain(group, key, key_len, value, len);
}

int chi_group_at(const struct chi_block *block, uint32_t group, struct chi_group *out)
{
	return CHI_LIKELY(group_at(block, group, out)) ? CHI_OK : -CHI_ECORRUPT;
}

int chi_group_decode(enum chi_tree_kind kind, const struct chi_group *group,
		     struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *n)
{
	return is_fast() ? read_fast(kind, group, entries, n) : read_plain(kind, group, entries, n);
}

int chi_group_read(const struct chi_block *block, uint32_t group,
		   struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *n)
{
	struct chi_group place;
	*n = 0;
	int rc = chi_group_at(block, group, &place);
	return CHI_LIKELY(rc == CHI_OK) ? chi_group_decode(block->kind, &place, entries, n) : rc;
}

int chi_group_pick(enum chi_tree_kind kind, const struct chi_group *group,
		   const struct chi_mask_wants *wants,
		   struct chi_block_entry entries[CHI_GROUP_MOST], uint32_t *fit, uint16_t ends[2])
{
	return is_fast() ? pick_fast(kind, group, wants, entries, fit, ends)
			 : pick_plain(kind, group, wants, entries, fit, ends);
}
