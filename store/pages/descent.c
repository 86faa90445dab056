/* SPDX-License-Identifier: MIT */
/*
 * All descents of a group are on the same level of the tree at the same time, because all leaves
 * are on the last. On each level they halve their ranges in turns. A descent that meets something
 * unexpected drops out; so does a page's number that lies outside the file, so that no more memory
 * is touched than mdb_get would touch.
 *
 * The halving compares keys by their heads alone, as numbers, and has no branch that depends on
 * them: half of those would be guessed wrong, and each such guess costs as much as a whole step. It
 * finds the last of the nodes with the same head; where there are several, refine goes back to the
 * right one by whole keys.
 *
 * Pages that are on the disk are waited for together as well, if all of a level are asked for
 * before the first is looked at. That is a system call each, which takes as long as some look-ups
 * in memory: so only in files larger than half of the memory, and only while look-ups are so slow
 * that the disk must be why.
 *
 * The search compares no page's first node: in a branch page it stands for "less than all", in a
 * leaf page the block knows for which keys it is responsible.
 */
#include "store/pages/descent.h"

#include <endian.h>
#include <string.h>
#include <sys/mman.h>

#include "base/attr.h"
#include "base/clock.h"
#include "store/block/block.h"
#include "store/pages/block_cursor.h"
#include "store/pages/guide.h"
#include "store/record/codec.h"
#include "store/lmdb_err.h"
#include "store/pages/pages.h"

#define LINE 64 /* bytes of a cache line */
/* Of a page: they hold its head, and the offsets of up to 120 nodes. */
#define HEAD_LINES 4
/* Branch pages, of 4 KiB, that are likely to stay in the processor's cache. */
#define NEAR_PAGES 1024
/* A group of look-ups that takes so long has waited for the disk, and the next ones are likely to.
 * Without the disk it takes a tenth of that. */
#define WAITED_US 100
#define WAITS	  16
/* Levels of branch pages above the leaves that may be on the disk, too. */
#define FAR_BRANCHES 1
/* Bytes at the start of a key that are compared as a number. */
#define HEAD 8u

/* One by one: what is written as a whole is copied, and waited for. */
static inline void begin_lane(const struct chi_descent *descent, struct chi_lane *lane,
			      const struct chi_key *key)
{
	lane->page = descent->pages.base;
	lane->head = be64toh(chi_u64_at(key->bytes));
	lane->key = key;
	lane->node = 0;
	lane->at = 0;
	lane->left = 0;
	lane->group.n = 0;
}

/* Further steps do nothing, on a page that is there. */
static inline void drop(const struct chi_descent *descent, struct chi_lane *lane)
{
	lane->page = descent->pages.base;
	lane->at = 0;
	lane->left = 0;
}

/* Goes to a page of `level`, from 1 on, without looking at it yet. */
static inline void enter_page(const struct chi_descent *descent, struct chi_lane *lane,
			      uint64_t number, unsigned level)
{
	if (CHI_UNLIKELY(number >= descent->end)) {
		drop(descent, lane);
		return;
	}
	lane->page = descent->pages.base + number * descent->pages.size;
	lane->left = 1;
	/* A leaf has few nodes. */
	unsigned lines = level < descent->depth ? HEAD_LINES : 1;
	for (unsigned i = 0; i < lines; i++) {
		__builtin_prefetch(lane->page + (size_t)LINE * i);
	}
}

static inline uint32_t offset_at(const struct chi_lane *lane, uint32_t index)
{
	return chi_u16_at(lane->page + PAGE_HEADER + 2 * (size_t)index);
}

/* Takes aim at the middle of what is left. An offset that is wrong leads to another place on the
 * page, and is found out when the node is settled on. */
static inline void aim(const struct chi_descent *descent, struct chi_lane *lane)
{
	uint32_t offset = offset_at(lane, lane->at + lane->left / 2);
	uint32_t last = descent->pages.size - NODE_HEADER - HEAD;
	lane->node = offset < last ? offset : last;
	/* A node may begin in one line and end in the next. */
	__builtin_prefetch(lane->page + lane->node);
	__builtin_prefetch(lane->page + lane->node + NODE_HEADER + CHI_KEY_MAX - 1);
}

/* Looks at the head of the page entered. */
static inline void open_page(const struct chi_descent *descent, struct chi_lane *lane,
			     unsigned kind)
{
	uint32_t size = descent->pages.size;
	uint64_t place = (uint64_t)(lane->page - descent->pages.base);
	uint32_t flags = chi_u16_at(lane->page + PAGE_FLAGS);
	uint32_t lower = chi_u16_at(lane->page + PAGE_LOWER);
	if (CHI_UNLIKELY((flags & FLAG_KINDS) != kind || lower < PAGE_HEADER + 2 || lower > size ||
			 chi_u64_at(lane->page + PAGE_NUMBER) * size != place)) {
		drop(descent, lane);
		return;
	}
	lane->at = 0;
	lane->left = (lower - PAGE_HEADER) / 2;
	aim(descent, lane);
}

static inline uint64_t head_at(const struct chi_lane *lane)
{
	return be64toh(chi_u64_at(lane->page + lane->node + NODE_HEADER));
}

/* Halves the range. With one node left, or none, it does nothing. */
static inline void halve(const struct chi_descent *descent, struct chi_lane *lane)
{
	uint32_t half = lane->left / 2;
	bool not_greater = head_at(lane) <= lane->head;
	lane->at += half & -(uint32_t)not_greater;
	lane->left -= half;
	aim(descent, lane);
}

/* The bytes from the node on that its page still has. */
static inline uint32_t room(const struct chi_descent *descent, const struct chi_lane *lane)
{
	return descent->pages.size - lane->node;
}

static inline uint32_t key_size(const struct chi_lane *lane)
{
	return chi_u16_at(lane->page + lane->node + NODE_KSIZE);
}

/* True if the node's key has a head and lies in its page. */
static inline bool key_ok(const struct chi_descent *descent, const struct chi_lane *lane)
{
	uint32_t ksize = key_size(lane);
	return ksize >= HEAD && NODE_HEADER + ksize <= room(descent, lane);
}

/* Goes to one node; false if it does not lie in the page. */
static inline bool settle_on(const struct chi_descent *descent, struct chi_lane *lane, uint32_t at)
{
	uint32_t offset = offset_at(lane, at);
	lane->at = at;
	lane->node = offset;
	return CHI_LIKELY(offset >= PAGE_HEADER && offset <= descent->pages.size - NODE_HEADER);
}

/* The last node up to the one settled on that is not greater than the key, by whole keys. Rare,
 * unless many positions have their pieces on the same squares. */
static bool refine(const struct chi_descent *descent, struct chi_lane *lane)
{
	uint32_t at = 0;
	uint32_t left = lane->at + 1;
	while (left > 1) {
		uint32_t half = left / 2;
		if (!settle_on(descent, lane, at + half) || !key_ok(descent, lane)) {
			return false;
		}
		if (chi_position_compare(lane->page + lane->node + NODE_HEADER, key_size(lane),
					 lane->key->bytes, lane->key->len) <= 0) {
			at += half;
			left -= half;
		} else {
			left = half;
		}
	}
	return settle_on(descent, lane, at);
}

/* One node is left: is it there, and is it the right one? */
static inline void settle_lane(const struct chi_descent *descent, struct chi_lane *lane)
{
	if (CHI_UNLIKELY(lane->left == 0)) {
		return;
	}
	bool ok = settle_on(descent, lane, lane->at);
	if (lane->at > 0 && ok) {
		ok = key_ok(descent, lane) &&
		     (CHI_LIKELY(head_at(lane) != lane->head) || refine(descent, lane));
	}
	if (CHI_UNLIKELY(!ok)) {
		drop(descent, lane);
	}
}

/* Searches the pages that the lanes have entered, in turns. All take as many as the longest: to
 * leave out those that need one less would be guessed wrong. */
static inline void search_lanes(const struct chi_descent *descent, struct chi_lane *lanes, size_t n,
				unsigned kind)
{
	uint32_t most = 1;
	for (size_t i = 0; i < n; i++) {
		if (CHI_LIKELY(lanes[i].left != 0)) {
			open_page(descent, &lanes[i], kind);
		}
		most = lanes[i].left > most ? lanes[i].left : most;
	}
	for (; most > 1; most -= most / 2) {
		for (size_t i = 0; i < n; i++) {
			halve(descent, &lanes[i]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		settle_lane(descent, &lanes[i]);
	}
}

/* The entry that the lane has settled on: a block of the position tree. */
struct spot {
	const uint8_t *low;
	size_t low_len;
	const uint8_t *bytes;
	size_t len;
};

/* A value in pages of its own. */
static bool find_big(const struct chi_descent *descent, const uint8_t *at, struct spot *spot)
{
	uint64_t number = chi_u64_at(at);
	uint64_t pages = (PAGE_HEADER + (uint64_t)spot->len - 1) / descent->pages.size + 1;
	if (number >= descent->end || pages > descent->end - number) {
		return false;
	}
	const uint8_t *page = descent->pages.base + number * descent->pages.size;
	spot->bytes = page + PAGE_HEADER;
	return (chi_u16_at(page + PAGE_FLAGS) & FLAG_KINDS) == FLAG_OVERFLOW &&
	       chi_u64_at(page + PAGE_NUMBER) == number;
}

/* False if it does not lie where it can. */
static inline bool locate(const struct chi_descent *descent, const struct chi_lane *lane,
			  struct spot *spot)
{
	if (CHI_UNLIKELY(lane->left != 1)) {
		return false;
	}
	const uint8_t *node = lane->page + lane->node;
	uint32_t flags = chi_u16_at(node + NODE_FLAGS);
	bool big = flags == NODE_BIG;
	spot->low = node + NODE_HEADER;
	spot->low_len = key_size(lane);
	spot->bytes = spot->low + spot->low_len;
	spot->len = chi_node_size(node);
	uint64_t end = NODE_HEADER + spot->low_len + (big ? sizeof(uint64_t) : spot->len);
	return !CHI_UNLIKELY((flags != 0 && !big) || end > room(descent, lane) ||
			     (big && !find_big(descent, spot->bytes, spot)));
}

/* Asks for the blocks' heads, and then for the groups that the keys are in. */
static inline void aim_at_groups(const struct chi_descent *descent, struct chi_lane *lanes,
				 size_t n)
{
	struct spot spots[CHI_DESCENT_LANES];
	for (size_t i = 0; i < n; i++) {
		if (CHI_UNLIKELY(!locate(descent, &lanes[i], &spots[i]))) {
			spots[i].bytes = lanes[i].page;
			spots[i].len = 0;
		}
		chi_block_ask(spots[i].bytes, spots[i].len);
	}
	for (size_t i = 0; i < n; i++) {
		chi_block_aim(spots[i].bytes, spots[i].len, lanes[i].key->bytes, &lanes[i].group);
	}
	for (size_t line = 0; line < CHI_GROUP_LINES; line++) {
		for (size_t i = 0; i < n; i++) {
			chi_group_ask(&lanes[i].group, line);
		}
	}
}

/* The branches may lead to the leaf after the one that a key belongs to, if blocks there were
 * joined with those before: a walk knows the way back. */
static int find_before(const struct chi_descent *descent, const struct chi_key *key,
		       struct chi_found *found)
{
	struct chi_block_cursor walk;
	int rc = chi_block_cursor_seek(&walk, descent, CHI_TREE_POSITION, true, key->bytes,
				       key->len);
	return rc == CHI_OK ? chi_block_find(&walk.block, key->bytes, key->len, &found->value,
					     &found->len)
			    : -CHI_ECORRUPT;
}

/* What the lane has found in its leaf. */
static inline void finish_lane(const struct chi_descent *descent, const struct chi_lane *lane,
			       struct chi_found *found)
{
	struct spot spot;
	if (CHI_UNLIKELY(!locate(descent, lane, &spot))) {
		found->finding = CHI_FINDING_UNSURE;
		return;
	}
	int rc = chi_block_probe(CHI_TREE_POSITION, spot.low, spot.low_len, spot.bytes, spot.len,
				 &lane->group, lane->key->bytes, lane->key->len, &found->value,
				 &found->len);
	if (CHI_UNLIKELY(rc < 0 && lane->at == 0)) {
		rc = find_before(descent, lane->key, found);
	}
	found->finding = CHI_LIKELY(rc == CHI_OK) ? CHI_FINDING_THERE
			 : rc == CHI_NONE	  ? CHI_FINDING_NONE
						  : CHI_FINDING_DAMAGED;
}

/* To the page below the node settled on. */
static inline void step_down(const struct chi_descent *descent, struct chi_lane *lane,
			     unsigned level)
{
	if (CHI_LIKELY(lane->left == 1)) {
		enter_page(descent, lane, chi_node_child(lane->page + lane->node), level);
	}
}

/* A level of branch pages, in turns, and on to the pages below. */
static inline void search_branches(const struct chi_descent *descent, struct chi_lane *lanes,
				   size_t n, unsigned level)
{
	search_lanes(descent, lanes, n, FLAG_BRANCH);
	for (size_t i = 0; i < n; i++) {
		step_down(descent, &lanes[i], level + 1);
	}
}

/* Has the disk read the pages entered that are not in memory. */
static void ask_disk(const struct chi_descent *descent, const struct chi_lane *lanes, size_t n)
{
	const uint8_t *last = NULL;
	for (size_t i = 0; i < n; i++) {
		if (lanes[i].left != 0 && lanes[i].page != last) {
			last = lanes[i].page;
			/* Advice: a failure shows when the page is looked at. */
			(void)madvise((void *)(uintptr_t)last, descent->pages.size, MADV_WILLNEED);
		}
	}
}

/* Searches the page alone. Here each comparison is a branch: while its line is waited for, the
 * processor guesses and asks for the next one, and is right half of the time. */
static inline void search_alone(const struct chi_descent *descent, struct chi_lane *lane,
				unsigned kind)
{
	open_page(descent, lane, kind);
	while (lane->left > 1) {
		uint32_t half = lane->left / 2;
		if (head_at(lane) <= lane->head) {
			lane->at += half;
			lane->left -= half;
		} else {
			lane->left = half;
		}
		aim(descent, lane);
	}
	settle_lane(descent, lane);
}

/* From a page of `level` that the lane has entered to one of level `last`, which is entered only.
 */
static inline void go_down(const struct chi_descent *descent, struct chi_lane *lane, unsigned level,
			   unsigned last)
{
	for (; level < last && lane->left == 1; level++) {
		search_alone(descent, lane, FLAG_BRANCH);
		step_down(descent, lane, level + 1);
	}
}

/* Begins lanes in the root, or in the leaves that a guide names. Returns their level. */
static inline unsigned enter_tree(const struct chi_descent *descent, const struct chi_key *keys,
				  size_t n, struct chi_lane *lanes)
{
	uint64_t pages[CHI_DESCENT_LANES];
	unsigned level = 1;
	if (CHI_LIKELY(descent->guide != NULL)) {
		level = descent->depth;
		chi_guide_search(descent->guide, keys, n, pages);
	}
	for (size_t i = 0; i < n; i++) {
		begin_lane(descent, &lanes[i], &keys[i]);
		if (level == 1 || CHI_UNLIKELY(pages[i] == CHI_GUIDE_NO_LEAF)) {
			enter_page(descent, &lanes[i], descent->root, 1);
			go_down(descent, &lanes[i], 1, level);
		} else {
			enter_page(descent, &lanes[i], pages[i], level);
		}
	}
	return level;
}

/* From the pages of `level` that the lanes have entered down into the leaves. */
static inline void search_from(const struct chi_descent *descent, struct chi_lane *lanes, size_t n,
			       unsigned level)
{
	for (; level < descent->depth; level++) {
		search_branches(descent, lanes, n, level);
		if (CHI_UNLIKELY(descent->waits != 0) &&
		    level + 1 + FAR_BRANCHES >= descent->depth) {
			ask_disk(descent, lanes, n);
		}
	}
	search_lanes(descent, lanes, n, FLAG_LEAF);
	aim_at_groups(descent, lanes, n);
}

/* The same for keys. */
static inline void search_group(struct chi_descent *descent, const struct chi_key *keys, size_t n,
				struct chi_lane *lanes)
{
	bool far = CHI_UNLIKELY(descent->pages.far);
	int64_t begun = far ? chi_now_us() : 0;
	search_from(descent, lanes, n, enter_tree(descent, keys, n, lanes));
	if (far && chi_now_us() - begun >= WAITED_US) {
		descent->waits = WAITS;
	} else if (descent->waits > 0) {
		descent->waits--;
	}
}

void chi_descent_find(struct chi_descent *descent, const struct chi_key *keys, size_t n,
		      struct chi_found *out)
{
	struct chi_lane lanes[CHI_DESCENT_LANES];
	if (CHI_UNLIKELY(descent->depth == 0)) {
		for (size_t i = 0; i < n; i++) {
			out[i].finding = CHI_FINDING_NONE;
		}
		return;
	}
	search_group(descent, keys, n, lanes);
	for (size_t i = 0; i < n; i++) {
		finish_lane(descent, &lanes[i], &out[i]);
	}
}

/* To the end. */
static inline void search_rest(const struct chi_descent *descent, struct chi_lane *lane,
			       unsigned level)
{
	go_down(descent, lane, level, descent->depth);
	if (CHI_LIKELY(lane->left == 1)) {
		search_alone(descent, lane, FLAG_LEAF);
		aim_at_groups(descent, lane, 1);
	}
}

void chi_descent_find_one(const struct chi_descent *descent, const struct chi_key *key,
			  struct chi_found *out)
{
	struct chi_lane lane;
	if (CHI_UNLIKELY(descent->depth == 0)) {
		out->finding = CHI_FINDING_NONE;
		return;
	}
	search_rest(descent, &lane, enter_tree(descent, key, 1, &lane));
	finish_lane(descent, &lane, out);
}

bool chi_descent_block(const struct chi_descent *descent, const struct chi_key *key, MDB_val *low,
		       MDB_val *bytes)
{
	struct chi_lane lane;
	begin_lane(descent, &lane, key);
	struct spot spot;
	if (descent->depth == 0) {
		return false;
	}
	enter_page(descent, &lane, descent->root, 1);
	search_rest(descent, &lane, 1);
	if (!locate(descent, &lane, &spot)) {
		return false;
	}
	*low = chi_val(spot.low, spot.low_len);
	*bytes = chi_val(spot.bytes, spot.len);
	if (lane.at == 0 &&
	    chi_position_compare(spot.low, spot.low_len, key->bytes, key->len) > 0) {
		struct chi_block_cursor walk;
		if (chi_block_cursor_seek(&walk, descent, CHI_TREE_POSITION, true, key->bytes,
					  key->len) != CHI_OK) {
			return false;
		}
		*low = chi_val(walk.block.low, walk.block.low_len);
		*bytes = chi_val(walk.block.bytes, walk.block.len);
	}
	return true;
}

/* ---- In two parts ------------------------------------------------------------------------- */

void chi_lane_start(const struct chi_descent *descent, const struct chi_key *key,
		    struct chi_lane *lane)
{
	if (CHI_UNLIKELY(descent->depth == 0)) {
		return;
	}
	lane->level = enter_tree(descent, key, 1, lane);
	if (lane->level < descent->near) {
		go_down(descent, lane, lane->level, descent->near);
		lane->level = descent->near;
	}
	for (unsigned i = HEAD_LINES; i < descent->pages.size / LINE; i++) {
		__builtin_prefetch(lane->page + (size_t)LINE * i);
	}
}

void chi_lane_go_on(const struct chi_descent *descent, struct chi_lane *lane)
{
	if (CHI_LIKELY(descent->depth != 0)) {
		search_rest(descent, lane, lane->level);
	}
}

void chi_lane_search(struct chi_descent *descent, const struct chi_key *keys, size_t n,
		     struct chi_lane *lanes)
{
	if (CHI_UNLIKELY(descent->depth == 0)) {
		return;
	}
	if (n == 1) {
		search_rest(descent, lanes, enter_tree(descent, keys, 1, lanes));
	} else {
		search_group(descent, keys, n, lanes);
	}
}

void chi_lane_finish(const struct chi_descent *descent, const struct chi_lane *lane,
		     struct chi_found *out)
{
	if (CHI_UNLIKELY(descent->depth == 0)) {
		out->finding = CHI_FINDING_NONE;
		return;
	}
	finish_lane(descent, lane, out);
}

void chi_descent_start(MDB_env *mdb, MDB_txn *txn, const struct chi_pages *pages, const char *name,
		       struct chi_descent *out)
{
	*out = (struct chi_descent){.pages = *pages, .txn = mdb_txn_id(txn)};
	MDB_val key = {.mv_size = strlen(name), .mv_data = (void *)(uintptr_t)name};
	MDB_val value;
	MDB_envinfo info;
	if (pages->base == NULL || mdb_env_info(mdb, &info) != 0 ||
	    mdb_get(txn, pages->main, &key, &value) != 0 || value.mv_size != TREE_BYTES) {
		return;
	}
	const uint8_t *tree = value.mv_data;
	out->depth = chi_u16_at(tree + TREE_DEPTH);
	out->root = chi_u64_at(tree + TREE_ROOT);
	out->branches = chi_u64_at(tree + TREE_BRANCHES);
	out->leaves = chi_u64_at(tree + TREE_LEAVES);
	bool near = out->branches <= NEAR_PAGES;
	out->near = near || out->depth < 2 ? out->depth : (uint16_t)(out->depth - 1);
	/* The newest commit's end: files only grow. It may lie past this map's end, if another
	 * process has a larger one; then this snapshot's does not. */
	out->end = info.me_last_pgno + 1;
	if (out->end > info.me_mapsize / pages->size) {
		out->end = info.me_mapsize / pages->size;
	}
	bool empty = out->root == NO_PAGE;
	out->usable = chi_u16_at(tree + TREE_FLAGS) == 0 && out->depth <= CHI_TREE_DEPTH_MOST &&
		      empty == (out->depth == 0);
}
