/* SPDX-License-Identifier: MIT */
/*
 * Changing blocks. Only the group that the key belongs to is decoded and written again; the others
 * are copied as they are, checksums included: damage in them stays what it was. A block that has
 * become too long is split between groups.
 */
#include "store/block/block.h"

#include "chess/key.h"
#include "store/block/block_priv.h"

/* A group that is written again is split if it has more entries, or more bytes and not only one. In
 * the position tree no more bytes than one that is written by append, for the sake of look-ups. */
#define GROUP_ENTRIES_MOST 24
static inline size_t group_bytes_most(enum chi_tree_kind kind)
{
	return kind == CHI_TREE_STRENGTH ? 400 : group_bytes(kind);
}

/* Two blocks are joined up to so many bytes: not to be split again soon. */
#define JOINED_MOST (CHI_BLOCK_ROOM * 9 / 10)

/* Groups of a change at most: all those of a block, and of one group's entries each its own. */
#define PARTS_MOST (2 * UINT8_MAX + CHI_GROUP_MOST + 1)

/* An entry as it will be written. */
struct item {
	const uint8_t *key;
	size_t key_len;
	const uint8_t *value;
	size_t len;
};

/* One change. */
struct edit {
	enum chi_tree_kind kind;
	struct chi_edit *out;
	const uint8_t *fence;
	size_t fence_len;
	struct part parts[PARTS_MOST];
	uint32_t n_parts;
	struct chi_entry entries[2 * CHI_GROUP_MOST]; /* as they were read; what items point into */
	uint32_t n_entries;
	struct item items[2 * CHI_GROUP_MOST + 1];
	uint32_t n_items;
	uint8_t *spare; /* where new groups are written, to be copied into blocks */
	size_t spare_len;
	size_t spare_size;
};

/* ---- Groups --------------------------------------------------------------------------------- */

/* Writes items as one group, if that is not too long. */
static bool write_group(struct edit *e, const struct item *items, uint32_t n, struct part *out)
{
	struct chi_group_writer group;
	struct entry_form form;
	size_t room = e->spare_size - e->spare_len;
	chi_group_begin(&group, e->kind, e->spare + e->spare_len);
	for (uint32_t i = 0; i < n; i++) {
		const struct item *item = &items[i];
		chi_group_form(&group, i == 0, item->key, item->key_len, item->len, &form);
		size_t size = chi_group_size(&group) + form.size;
		if (room < GROUP_FRONT_MOST + size || (n > 1 && size > group_bytes_most(e->kind))) {
			return false;
		}
		chi_group_add(&group, &form, item->key, item->key_len, item->value, item->len);
	}
	size_t len = chi_group_finish(&group);
	*out = (struct part){
		.leader = items[0].key, .bytes = e->spare + e->spare_len, .len = len, .n = n};
	e->spare_len += len;
	return true;
}

/* The items as groups, halved until none is too long. */
static int write_groups(struct edit *e, const struct item *items, uint32_t n)
{
	struct part part;
	bool fits = n <= GROUP_ENTRIES_MOST && write_group(e, items, n, &part);
	if (fits) {
		e->parts[e->n_parts++] = part;
		return CHI_OK;
	}
	if (n < 2) {
		return -CHI_EINTERNAL;
	}
	int rc = write_groups(e, items, n / 2);
	return rc < 0 ? rc : write_groups(e, items + n / 2, n - n / 2);
}

/* CHI_OK, or -CHI_ECORRUPT. */
static int copy_group(struct edit *e, const struct chi_block *block, uint32_t group)
{
	struct chi_group place;
	if (!group_at(block, group, &place)) {
		return -CHI_ECORRUPT;
	}
	e->parts[e->n_parts++] = (struct part){.leader = place.leader,
					       .bytes = place.at,
					       .len = (size_t)(place.end - place.at),
					       .n = place.n};
	return CHI_OK;
}

/* Reads a group's entries, to be after those that were read. */
static int read_items(struct edit *e, const struct chi_block *block, uint32_t group)
{
	uint32_t n;
	struct chi_entry *entries = e->entries + e->n_entries;
	int rc = chi_group_read(block, group, entries, &n);
	for (uint32_t i = 0; rc == CHI_OK && i < n; i++) {
		e->items[e->n_items++] = (struct item){chi_entry_key(&entries[i], e->kind),
						       chi_entry_key_len(&entries[i], e->kind),
						       entries[i].value, entries[i].len};
	}
	e->n_entries += n;
	return rc;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/* The low key of a block that begins with this group: its first entry's whole key. */
static size_t first_key(enum chi_tree_kind kind, const struct part *part,
			uint8_t out[CHI_TREE_KEY_MAX])
{
	size_t size = leader_size(kind);
	size_t pieces = pieces_size(load_u64(part->leader + chi_tree_skip(kind)));
	memcpy(out, part->leader, size);
	memcpy(out + size, part->bytes + part->len - pieces, pieces);
	return size + pieces;
}

/* One block of the parts `from` .. to - 1, with all that they have: CHI_NONE if it is too long. */
static int put_block(struct edit *e, const uint8_t *low, size_t low_len, uint32_t from, uint32_t to,
		     const uint8_t *fence, size_t fence_len, size_t most)
{
	struct chi_edit *out = e->out;
	size_t len = low_len + head_size(e->kind, to - from, fence_len);
	for (uint32_t i = from; i < to; i++) {
		len += e->parts[i].len;
	}
	if (to - from > 1 && (len > most || to - from > UINT8_MAX)) {
		return CHI_NONE;
	}
	size_t at = out->n == 0 ? 0
				: out->blocks[out->n - 1].at + out->blocks[out->n - 1].low_len +
					  out->blocks[out->n - 1].len;
	if (out->n == CHI_EDIT_MOST) {
		return -CHI_EINTERNAL;
	}
	len = chi_block_write(e->kind, low, low_len, fence, fence_len, e->parts + from, to - from,
			      out->bytes + at, e->spare_size - at);
	if (len == 0) {
		return -CHI_EINTERNAL;
	}
	out->blocks[out->n].at = at;
	out->blocks[out->n].low_len = low_len;
	out->blocks[out->n++].len = len;
	return CHI_OK;
}

/* Where the parts are best divided: as evenly as can be. */
static uint32_t middle_of(const struct edit *e, uint32_t from, uint32_t to)
{
	size_t all = 0;
	size_t left = 0;
	uint32_t at = from;
	for (uint32_t i = from; i < to; i++) {
		all += e->parts[i].len;
	}
	do {
		left += e->parts[at++].len;
	} while (at < to - 1 && left + e->parts[at].len / 2 < all / 2);
	return at;
}

/* As many blocks as the parts need. */
static int put_blocks(struct edit *e, const uint8_t *low, size_t low_len, uint32_t from,
		      uint32_t to, const uint8_t *fence, size_t fence_len, bool append)
{
	uint8_t border[CHI_TREE_KEY_MAX];
	int rc = put_block(e, low, low_len, from, to, fence, fence_len, CHI_BLOCK_ROOM);
	if (rc != CHI_NONE) {
		return rc;
	}
	/* `append`: the last part alone is new. */
	uint32_t middle = append ? to - 1 : middle_of(e, from, to);
	size_t border_len = first_key(e->kind, &e->parts[middle], border);
	rc = put_blocks(e, low, low_len, from, middle, border, border_len, false);
	return rc < 0 ? rc : put_blocks(e, border, border_len, middle, to, fence, fence_len, false);
}

/* ---- Changes -------------------------------------------------------------------------------- */

static void begin(struct edit *e, const struct chi_block *block, struct chi_edit *out)
{
	e->kind = block->kind;
	e->out = out;
	e->n_parts = 0;
	e->n_items = 0;
	e->n_entries = 0;
	/* The upper half of the room is for new groups. */
	e->spare_size = out->size / 2;
	e->spare = out->bytes + e->spare_size;
	e->spare_len = 0;
	out->n = 0;
}

/* Puts, replaces or removes one of the items. CHI_NONE: it is not there to be removed. */
static int change_items(struct edit *e, const struct item *item, bool removes, int *added)
{
	uint32_t at = 0;
	int order = -1;
	while (at < e->n_items &&
	       (order = chi_tree_compare(e->kind, e->items[at].key, e->items[at].key_len, item->key,
					 item->key_len)) < 0) {
		at++;
	}
	bool there = at < e->n_items && order == 0;
	if (removes && !there) {
		return CHI_NONE;
	}
	struct item *place = &e->items[at];
	size_t rest = (size_t)(e->n_items - at - there) * sizeof(*place);
	*added = removes ? -1 : !there;
	if (removes) {
		memmove(place, place + 1, rest);
	} else {
		memmove(place + 1, place + there, rest);
		*place = *item;
	}
	e->n_items = (uint32_t)((int)e->n_items + *added);
	return CHI_OK;
}

/* A group that has become small takes in the next one, if that is sound and small too. */
static bool takes_next(struct edit *e, const struct chi_block *block, uint32_t group)
{
	uint32_t n = e->n_items;
	if (group + 1 >= block->groups || n + block->counts[group + 1] > group_full(e->kind)) {
		return false;
	}
	if (read_items(e, block, group + 1) < 0) {
		e->n_items = n;
		return false;
	}
	return true;
}

/* The entry would make the block too long. */
static bool is_full(const struct chi_block *block, const struct item *item)
{
	return block->low_len + block->len + ENTRY_MOST + item->len > CHI_BLOCK_ROOM;
}

static int change_group(struct edit *e, const struct chi_block *block, const struct item *item,
			bool removes, int *added)
{
	uint32_t group = 0;
	int rc = CHI_OK;
	if (block->groups > 0) {
		rc = chi_block_seek(block, item->key, item->key_len, &group);
		rc = rc < 0 ? rc : read_items(e, block, group);
	}
	rc = rc < 0 ? rc : change_items(e, item, removes, added);
	if (rc != CHI_OK) {
		return rc;
	}
	for (uint32_t i = 0; rc == CHI_OK && i < group; i++) {
		rc = copy_group(e, block, i);
	}
	bool united =
		removes && e->n_items < group_full(e->kind) / 2 && takes_next(e, block, group);
	uint32_t next = group + 1 + united;
	/* What is put after all others is likely to be followed by more: groups and blocks that
	 * are full stay so. */
	bool last = *added > 0 && next >= block->groups && e->n_items > 1 &&
		    e->items[e->n_items - 1].key == item->key;
	bool apart = last && (e->n_items > group_full(e->kind) || is_full(block, item));
	if (rc == CHI_OK && e->n_items > apart) {
		rc = write_groups(e, e->items, e->n_items - apart);
	}
	rc = rc == CHI_OK && apart ? write_groups(e, item, 1) : rc;
	for (uint32_t i = next; rc == CHI_OK && i < block->groups; i++) {
		rc = copy_group(e, block, i);
	}
	return rc < 0 ? rc
		      : put_blocks(e, block->low, block->low_len, 0, e->n_parts, block->fence,
				   block->fence_len, apart);
}

int chi_block_edit(const struct chi_block *block, const uint8_t *key, size_t key_len,
		   const uint8_t *value, size_t len, struct chi_edit *out, int *added)
{
	struct edit e;
	const struct item item = {key, key_len, value, len};
	*added = 0;
	if (!chi_block_covers(block, key, key_len) || key_len > CHI_TREE_KEY_MAX ||
	    !chi_key_shape_ok(key + chi_tree_skip(block->kind),
			      key_len - chi_tree_skip(block->kind))) {
		return -CHI_ECORRUPT;
	}
	begin(&e, block, out);
	return change_group(&e, block, &item, value == NULL, added);
}

int chi_block_join(const struct chi_block *left, const struct chi_block *right,
		   struct chi_edit *out)
{
	struct edit e;
	if (left->kind != right->kind || left->fence_len != right->low_len ||
	    memcmp(left->fence, right->low, right->low_len) != 0) {
		return -CHI_ECORRUPT;
	}
	int rc = CHI_OK;
	begin(&e, left, out);
	for (uint32_t i = 0; rc == CHI_OK && i < left->groups; i++) {
		rc = copy_group(&e, left, i);
	}
	for (uint32_t i = 0; rc == CHI_OK && i < right->groups; i++) {
		rc = copy_group(&e, right, i);
	}
	if (rc < 0) {
		return rc;
	}
	/* One without entries is joined with any. Of small groups there may be more than a head can
	 * name. */
	return put_block(&e, left->low, left->low_len, 0, e.n_parts, right->fence, right->fence_len,
			 left->groups == 0 || right->groups == 0 ? CHI_BLOCK_ROOM : JOINED_MOST);
}

size_t chi_block_empty(enum chi_tree_kind kind, uint8_t *out, size_t size)
{
	return chi_block_write(kind, chi_tree_first, chi_tree_first_len(kind), NULL, 0, NULL, 0,
			       out, size);
}
