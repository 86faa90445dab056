/* SPDX-License-Identifier: MIT */
/*
 * Changing blocks. Only the groups that the keys belong to are decoded and written again; the
 * others are copied as they are, checksums included: damage in them stays what it was. A block that
 * has become too long is split between groups.
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

/* Groups of an edit at most: those of two blocks, and of the groups that are written again. */
#define PARTS_MOST (2 * UINT8_MAX + CHI_BLOCK_ROOM / 4 + CHI_EDIT_CHANGES)

/* Entries of a group, of the one after it that it takes in, and what is put. */
#define ITEMS_MOST (2 * CHI_GROUP_MOST + CHI_EDIT_CHANGES)

/* An entry as it will be written. */
struct item {
	const uint8_t *key;
	size_t key_len;
	const uint8_t *value;
	size_t len;
	const uint8_t *before; /* the key that `header` goes on from; NULL: there is none */
	uint32_t header;
};

struct edit {
	enum chi_tree_kind kind;
	struct chi_block_edit *out;
	struct chi_group_part parts[PARTS_MOST];
	uint32_t n_parts;
	struct chi_block_entry
		entries[2 * CHI_GROUP_MOST]; /* as they were read; what items point into */
	uint32_t n_entries;
	struct item items[ITEMS_MOST];
	uint32_t n_items;
	uint32_t place; /* of the items: where the next change is looked for */
	uint32_t tail;	/* the items from here on were put after all others */
	bool removed;	/* one of the items' entries */
	bool append;	/* the block is filled from its start when it is divided */
	uint32_t next;	/* the first group that was not copied or read */
	int added;	/* entries */
	uint8_t *spare; /* where new groups are written, to be copied into blocks */
	size_t spare_len;
	size_t spare_size;
};

/* ---- Groups --------------------------------------------------------------------------------- */

/* Writes a group of the first items, as many as `entries` and `bytes` allow, but one at least. The
 * leader goes before it. Returns how many, 0 if there is no room. */
static uint32_t write_group(struct edit *e, const struct item *items, uint32_t n, uint32_t entries,
			    size_t bytes)
{
	struct chi_group_writer group;
	struct entry_form form;
	uint8_t *leader = e->spare + e->spare_len;
	uint8_t *out = leader + leader_size(e->kind);
	size_t room = e->spare_size - e->spare_len - leader_size(e->kind);
	uint32_t i = 0;
	chi_group_begin(&group, e->kind, out);
	for (; i < n && i < entries; i++) {
		const struct item *item = &items[i];
		if (i > 0 && item->before == item[-1].key) {
			chi_group_form_again(e->kind, item->header, item->key_len, item->len,
					     &form);
		} else {
			chi_group_form(&group, i == 0, item->key, item->key_len, item->len, &form);
		}
		size_t size = chi_group_size(&group) + form.size;
		if (i > 0 && size > bytes) {
			break;
		}
		if (e->n_parts == PARTS_MOST || room < GROUP_FRONT_MOST + size) {
			return 0;
		}
		chi_group_add(&group, &form, item->key, item->key_len, item->value, item->len);
	}
	size_t len = chi_group_finish(&group);
	memcpy(leader, items[0].key, leader_size(e->kind));
	e->parts[e->n_parts++] =
		(struct chi_group_part){.leader = leader, .bytes = out, .len = len, .n = i};
	e->spare_len += leader_size(e->kind) + len;
	return i;
}

/* The items as groups, halved until none is too long. */
static int write_groups(struct edit *e, const struct item *items, uint32_t n)
{
	size_t spare_len = e->spare_len;
	if (n <= GROUP_ENTRIES_MOST) {
		uint32_t done = write_group(e, items, n, n, group_bytes_most(e->kind));
		if (done == n || done == 0) {
			return done == n ? CHI_OK : -CHI_EINTERNAL;
		}
		e->n_parts--;
		e->spare_len = spare_len;
	}
	int rc = write_groups(e, items, n / 2);
	return rc < 0 ? rc : write_groups(e, items + n / 2, n - n / 2);
}

/* Bytes of a group that make the block full which the last parts are in, whose low key has
 * `low_len` bytes. */
static size_t bytes_left(const struct edit *e, size_t low_len)
{
	size_t used = 0;
	uint32_t groups = 1;
	for (uint32_t i = 0; i < e->n_parts; i++) {
		if (groups > 1 && low_len + head_size(e->kind, groups, CHI_TREE_KEY_MAX) + used +
						  e->parts[i].len >
					  CHI_BLOCK_ROOM) {
			low_len = CHI_TREE_KEY_MAX;
			used = 0;
			groups = 1;
		}
		used += e->parts[i].len;
		groups++;
	}
	used += low_len + head_size(e->kind, groups, CHI_TREE_KEY_MAX);
	return used < CHI_BLOCK_ROOM ? CHI_BLOCK_ROOM - used : 0;
}

/* The items as groups that are as full as those that are written by append, and fill blocks. */
static int append_groups(struct edit *e, const struct item *items, uint32_t n, size_t low_len)
{
	for (uint32_t i = 0; i < n;) {
		size_t left = bytes_left(e, low_len);
		size_t bytes = group_bytes(e->kind);
		/* What does not take one item begins the next block. */
		bool fits = left >= CHECKSUM_SIZE + ENTRY_MOST + items[i].len;
		uint32_t done = write_group(e, items + i, n - i, group_full(e->kind),
					    fits && left < bytes ? left : bytes);
		if (done == 0) {
			return -CHI_EINTERNAL;
		}
		i += done;
	}
	return CHI_OK;
}

/* CHI_OK, or -CHI_ECORRUPT. */
static int copy_group(struct edit *e, const struct chi_block *block, uint32_t group)
{
	struct chi_group place;
	if (!group_at(block, group, &place)) {
		return -CHI_ECORRUPT;
	}
	if (e->n_parts == PARTS_MOST) {
		return -CHI_EINTERNAL;
	}
	e->parts[e->n_parts++] = (struct chi_group_part){.leader = place.leader,
							 .bytes = place.at,
							 .len = (size_t)(place.end - place.at),
							 .n = place.n};
	return CHI_OK;
}

/* Reads a group's entries, to be after those that were read. */
static int read_items(struct edit *e, const struct chi_block *block, uint32_t group)
{
	uint32_t n;
	struct chi_group place;
	const uint8_t *before = NULL;
	struct chi_block_entry *entries = e->entries + e->n_entries;
	int rc = chi_group_read(block, group, entries, &n);
	if (rc < 0 || !group_at(block, group, &place)) {
		return -CHI_ECORRUPT;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct item *item = &e->items[e->n_items++];
		*item = (struct item){
			.key = chi_entry_key(&entries[i], e->kind),
			.key_len = chi_entry_key_len(&entries[i], e->kind),
			.value = entries[i].value,
			.len = entries[i].len,
			.before = before,
			.header = load_u16(place.at + CHECKSUM_SIZE + HEADER_SIZE * (size_t)i)};
		before = item->key;
	}
	e->n_entries += n;
	return CHI_OK;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/* The low key of a block that begins with this group: its first entry's whole key. */
static size_t first_key(enum chi_tree_kind kind, const struct chi_group_part *part,
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
	struct chi_block_edit *out = e->out;
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

/* Where the first block ends that is filled. */
static uint32_t end_of_full(const struct edit *e, size_t low_len, uint32_t from, uint32_t to)
{
	size_t len = low_len + e->parts[from].len;
	uint32_t at = from + 1;
	while (at < to - 1 &&
	       len + e->parts[at].len + head_size(e->kind, at - from + 1, CHI_TREE_KEY_MAX) <=
		       CHI_BLOCK_ROOM) {
		len += e->parts[at++].len;
	}
	return at;
}

/* As many blocks as the parts need. */
static int put_blocks(struct edit *e, const uint8_t *low, size_t low_len, uint32_t from,
		      uint32_t to, const uint8_t *fence, size_t fence_len)
{
	uint8_t border[CHI_TREE_KEY_MAX];
	int rc = put_block(e, low, low_len, from, to, fence, fence_len, CHI_BLOCK_ROOM);
	if (rc != CHI_NONE) {
		return rc;
	}
	uint32_t middle = e->append ? end_of_full(e, low_len, from, to) : middle_of(e, from, to);
	size_t border_len = first_key(e->kind, &e->parts[middle], border);
	rc = put_blocks(e, low, low_len, from, middle, border, border_len);
	return rc < 0 ? rc : put_blocks(e, border, border_len, middle, to, fence, fence_len);
}

/* ---- Changes -------------------------------------------------------------------------------- */

static void begin_edit(struct edit *e, const struct chi_block *block, struct chi_block_edit *out)
{
	e->kind = block->kind;
	e->out = out;
	e->n_parts = 0;
	e->append = false;
	e->next = 0;
	e->added = 0;
	/* The upper half of the room is for new groups. */
	e->spare_size = out->size / 2;
	e->spare = out->bytes + e->spare_size;
	e->spare_len = 0;
	out->n = 0;
}

/* Puts, replaces or removes one of the items, which is not before the last that was changed. */
static int change_item(struct edit *e, const struct chi_change *change)
{
	uint32_t at = e->place;
	int order = -1;
	while (at < e->n_items &&
	       (order = chi_tree_compare(e->kind, e->items[at].key, e->items[at].key_len,
					 change->key, change->key_len)) < 0) {
		at++;
	}
	bool there = at < e->n_items && order == 0;
	bool removes = change->value == NULL;
	e->place = at;
	if (removes && !there) {
		return change->may_lack ? CHI_OK : CHI_NONE;
	}
	struct item *place = &e->items[at];
	size_t rest = (size_t)(e->n_items - at - there) * sizeof(*place);
	if (removes) {
		memmove(place, place + 1, rest);
		e->removed = true;
		e->n_items--;
		e->tail -= at < e->tail;
		e->added--;
		return CHI_OK;
	}
	if (!there) {
		memmove(place + 1, place, rest);
		e->n_items++;
		/* After all others it is of the tail. */
		e->tail += rest > 0;
		e->added++;
	}
	*place = (struct item){.key = change->key,
			       .key_len = change->key_len,
			       .value = change->value,
			       .len = change->len};
	return CHI_OK;
}

/* A group that has become small takes in the next one, if that is sound and small too. */
static void take_next(struct edit *e, const struct chi_block *block)
{
	uint32_t n = e->n_items;
	if (!e->removed || n >= group_full(e->kind) / 2 || e->next >= block->groups ||
	    n + block->counts[e->next] > group_full(e->kind)) {
		return;
	}
	if (read_items(e, block, e->next) < 0) {
		e->n_items = n;
		return;
	}
	e->tail = e->n_items;
	e->next++;
}

/* Writes the items again. What is put after all others of a block is likely to be followed by more:
 * groups and blocks that are full stay so. */
static int write_items(struct edit *e, const struct chi_block *block)
{
	size_t more = 0;
	for (uint32_t i = e->tail; i < e->n_items; i++) {
		more += ENTRY_MOST + e->items[i].len;
	}
	bool is_full = block->low_len + block->len + more > CHI_BLOCK_ROOM;
	if (e->next >= block->groups && e->tail < e->n_items && e->n_items > 1 &&
	    (is_full || e->n_items > group_full(e->kind))) {
		e->append = true;
		return append_groups(e, e->items, e->n_items, block->low_len);
	}
	return e->n_items > 0 ? write_groups(e, e->items, e->n_items) : CHI_OK;
}

/* Reads a group, makes the changes that are to be in it, or in the one that it takes in, and writes
 * it. *done: how many. */
static int change_group(struct edit *e, const struct chi_block *block, uint32_t group,
			const struct chi_change *changes, uint32_t n, uint32_t *done)
{
	uint32_t i = 0;
	bool taken = block->groups == 0;
	int rc = CHI_OK;
	e->n_items = 0;
	e->n_entries = 0;
	e->place = 0;
	e->removed = false;
	if (block->groups > 0) {
		rc = read_items(e, block, group);
		e->next = group + 1;
	}
	e->tail = e->n_items;
	while (rc == CHI_OK && i < n && (block->groups == 0 || group < e->next)) {
		rc = change_item(e, &changes[i]);
		if (rc == CHI_OK && ++i < n && block->groups > 0) {
			rc = chi_block_seek(block, changes[i].key, changes[i].key_len, &group);
		}
		if (rc == CHI_OK && !taken && (i == n || group >= e->next)) {
			take_next(e, block);
			taken = true;
		}
	}
	*done = i;
	return rc != CHI_OK ? rc : write_items(e, block);
}

static int change_block(struct edit *e, const struct chi_block *block,
			const struct chi_change *changes, uint32_t n)
{
	int rc = CHI_OK;
	for (uint32_t i = 0; rc == CHI_OK && i < n;) {
		uint32_t done = 0;
		uint32_t group = 0;
		if (block->groups > 0) {
			rc = chi_block_seek(block, changes[i].key, changes[i].key_len, &group);
		}
		for (; rc == CHI_OK && e->next < group; e->next++) {
			rc = copy_group(e, block, e->next);
		}
		rc = rc == CHI_OK ? change_group(e, block, group, changes + i, n - i, &done) : rc;
		i += done;
	}
	for (; rc == CHI_OK && e->next < block->groups; e->next++) {
		rc = copy_group(e, block, e->next);
	}
	return rc != CHI_OK ? rc
			    : put_blocks(e, block->low, block->low_len, 0, e->n_parts, block->fence,
					 block->fence_len);
}

/* Changes that the block is responsible for, and in order. */
static int check_changes(const struct chi_block *block, const struct chi_change *changes,
			 uint32_t n)
{
	size_t skip = chi_tree_skip(block->kind);
	if (n == 0 || n > CHI_EDIT_CHANGES) {
		return -CHI_EINTERNAL;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct chi_change *change = &changes[i];
		if (change->key_len > CHI_TREE_KEY_MAX || change->key_len < skip ||
		    !chi_block_covers(block, change->key, change->key_len) ||
		    !chi_key_shape_ok(change->key + skip, change->key_len - skip)) {
			return -CHI_ECORRUPT;
		}
		if (i > 0 && chi_tree_compare(block->kind, change[-1].key, change[-1].key_len,
					      change->key, change->key_len) >= 0) {
			return -CHI_EINTERNAL;
		}
	}
	return CHI_OK;
}

int chi_edit_block(const struct chi_block *block, const struct chi_change *changes, uint32_t n,
		   struct chi_block_edit *out, int *added)
{
	struct edit e;
	*added = 0;
	int rc = check_changes(block, changes, n);
	if (rc < 0) {
		return rc;
	}
	begin_edit(&e, block, out);
	rc = change_block(&e, block, changes, n);
	*added = e.added;
	return rc;
}

int chi_block_join(const struct chi_block *left, const struct chi_block *right,
		   struct chi_block_edit *out)
{
	struct edit e;
	if (left->kind != right->kind || left->fence_len != right->low_len ||
	    memcmp(left->fence, right->low, right->low_len) != 0) {
		return -CHI_ECORRUPT;
	}
	int rc = CHI_OK;
	begin_edit(&e, left, out);
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
