/* SPDX-License-Identifier: MIT */
/*
 * Whether LMDB's pages can be walked by us, and where they are: LMDB does not tell the address of
 * its map, but each page bears its number. A damaged page may bear a wrong one, so several must
 * agree, and the address they give must be that of a meta page, before it is believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/pages/page_walk.h"
#include "store/pages/pages.h"

/* Keys spread evenly over all there could be; each is looked up, and the next one stored. */
#define SAMPLES 8

#define PAGE_SIZE_LEAST 512
#define PAGE_SIZE_MOST	32768

/* The position tree read without LMDB, which is to follow no damaged page here. */
struct plain {
	struct chi_page_file file_image;
	struct chi_page_tree tree;
	uint8_t *page;	/* the last one on the way to the key looked up */
	MDB_val before; /* the entry that was found for the first of two keys, in memory after it */
};

static void close_cursor(MDB_cursor **cursor)
{
	if (*cursor != NULL) {
		mdb_cursor_close(*cursor);
	}
}

/* Page 0 by what the page that `value` lies in says of itself, if pages begin at multiples of their
 * size, `shift` bytes on; 0: it cannot be a leaf. */
static uintptr_t base_by(const MDB_val *value, uint32_t size, uintptr_t shift)
{
	uintptr_t at = (uintptr_t)value->mv_data;
	uintptr_t page = ((at - shift) & ~((uintptr_t)size - 1)) + shift;
	const uint8_t *head = (const uint8_t *)value->mv_data - (at - page);
	uint64_t number = chi_u64_at(head + PAGE_NUMBER);
	if ((chi_u16_at(head + PAGE_FLAGS) & FLAG_KINDS) != FLAG_LEAF || number > page / size) {
		return 0;
	}
	return page - number * size;
}

/* True if both meta pages are at the address. Asks the kernel first whether anything is. */
static bool heads_at(uintptr_t base, const MDB_val *value, uint32_t size)
{
	unsigned char resident[2 * PAGE_SIZE_MOST / PAGE_SIZE_LEAST];
	uint8_t *head = (uint8_t *)value->mv_data - ((uintptr_t)value->mv_data - base);
	/* A sandbox may forbid the question. */
	bool mapped = mincore(head, 2 * (size_t)size, resident) == 0 ||
		      (errno != ENOMEM && errno != EINVAL);
	if (base == 0 || !mapped) {
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *page = head + (size_t)size * i;
		if (chi_u64_at(page + PAGE_NUMBER) != i ||
		    (chi_u16_at(page + PAGE_FLAGS) & FLAG_KINDS) != FLAG_META ||
		    chi_u32_at(page + META_MAGIC) != LMDB_MAGIC) {
			return false;
		}
	}
	return true;
}

/* True if the descents find the block that mdb_get finds: the last one in its leaf whose low key is
 * not greater, which plain reads have found. All of them find the same in it. So for the bytes and
 * for their beginning, if they are longer than the shortest key. */
static bool agrees(struct chi_descent *descent, MDB_txn *txn, MDB_dbi position, struct plain *plain,
		   MDB_val bytes)
{
	if (bytes.mv_size < CHI_KEY_MIN || bytes.mv_size > CHI_KEY_MAX) {
		/* The low key of the first block. */
		return bytes.mv_size > 0 && bytes.mv_size < CHI_KEY_MIN;
	}
	struct chi_key keys[2] = {{.len = (uint8_t)bytes.mv_size}, {.len = CHI_KEY_MIN}};
	memcpy(keys[0].bytes, bytes.mv_data, bytes.mv_size);
	memcpy(keys[1].bytes, bytes.mv_data, CHI_KEY_MIN);
	struct chi_found found[2];
	unsigned differ = bytes.mv_size > CHI_KEY_MIN ? 2 : 1;
	chi_descent_find(descent, keys, 2, found);
	for (unsigned i = 0; i < differ; i++) {
		MDB_val asked = chi_val(keys[i].bytes, keys[i].len);
		MDB_val low;
		MDB_val block;
		MDB_val value;
		struct chi_found one;
		struct chi_page_file_node node = {.key = plain->page};
		chi_descent_find_one(descent, &keys[i], &one);
		/* What makes a descent unsure, or a page on the way damaged, might kill mdb_get. */
		if (found[i].finding != one.finding || one.finding > CHI_FINDING_THERE ||
		    chi_page_find(&plain->file_image, &plain->tree, &asked, plain->page, &node) <
			    0) {
			return false;
		}
		if (i == 0) {
			uint8_t *copy = plain->page + plain->file_image.page_size;
			plain->before = chi_val(memcpy(copy, node.key, node.key_len), node.key_len);
		}
		bool there = chi_descent_block(descent, &keys[i], &low, &block);
		if (node.key_len == 0) {
			/* There is none. */
			continue;
		}
		asked = chi_val(node.key, node.key_len);
		if (!there || mdb_get(txn, position, &asked, &value) != 0 ||
		    value.mv_data != block.mv_data || value.mv_size != block.mv_size ||
		    (one.finding == CHI_FINDING_THERE && one.value != found[i].value)) {
			return false;
		}
	}
	return true;
}

/* Keys that need not be stored, and the stored ones before them in their leaves; so also the last.
 * An empty tree has nothing to compare but that. */
static bool samples_agree(struct chi_descent *descent, MDB_env *mdb, MDB_txn *txn, MDB_dbi position)
{
	struct stat st;
	struct plain plain = {.file_image.page_size = descent->pages.size,
			      .tree = {.root = descent->depth == 0 ? NO_PAGE : descent->root,
				       .compare = chi_page_bytewise}};
	if (mdb_env_get_fd(mdb, &plain.file_image.fd) != 0 || fstat(plain.file_image.fd, &st) < 0) {
		return false;
	}
	plain.file_image.bytes = (uint64_t)st.st_size;
	_cleanup_(chi_freep) uint8_t *page = malloc(2 * (size_t)descent->pages.size);
	if (page == NULL) {
		return false;
	}
	plain.page = page;
	bool good = true;
	for (unsigned i = 0; good && i <= SAMPLES; i++) {
		uint8_t bytes[CHI_KEY_MIN];
		memset(bytes, i < SAMPLES ? 0 : 0xff, sizeof(bytes));
		bytes[0] |= (uint8_t)(i * (256 / SAMPLES));
		const MDB_val key = chi_val(bytes, sizeof(bytes));
		good = agrees(descent, txn, position, &plain, key);
		const MDB_val before = plain.before;
		good = good &&
		       (before.mv_size == 0 || agrees(descent, txn, position, &plain, before));
	}
	return good;
}

/* A page of the main tree and one of the meta tree, the same in all stores: two that agree. */
static bool find_base(MDB_txn *txn, MDB_dbi meta, uintptr_t system_page, struct chi_pages *pages)
{
	static const char name[] = META_TREE;
	_cleanup_(close_cursor) MDB_cursor *cursor = NULL;
	MDB_val key = chi_val(name, sizeof(name) - 1);
	MDB_val tree;
	MDB_val value;
	if (mdb_dbi_open(txn, NULL, 0, &pages->main) != 0 ||
	    mdb_get(txn, pages->main, &key, &tree) != 0 ||
	    mdb_cursor_open(txn, meta, &cursor) != 0 ||
	    mdb_cursor_get(cursor, &key, &value, MDB_FIRST) != 0) {
		return false;
	}
	/* The map begins at a page of the system: smaller pages are aligned in it, larger ones need
	 * not be. */
	for (uintptr_t shift = 0; shift < pages->size; shift += system_page) {
		uintptr_t base = base_by(&tree, pages->size, shift);
		if (base == base_by(&value, pages->size, shift) &&
		    heads_at(base, &tree, pages->size)) {
			pages->base =
				(const uint8_t *)tree.mv_data - ((uintptr_t)tree.mv_data - base);
			return true;
		}
	}
	return false;
}

void chi_pages_locate(MDB_env *mdb, MDB_txn *txn, MDB_dbi meta, MDB_dbi position,
		      struct chi_pages *pages)
{
	int major = 0;
	int minor = 0;
	unsigned flags = 0;
	MDB_stat stat;
	long page = sysconf(_SC_PAGESIZE);
	*pages = (struct chi_pages){0};
	(void)mdb_version(&major, &minor, NULL);
	if (major != 0 || minor != 9 || mdb_env_stat(mdb, &stat) != 0 ||
	    mdb_env_get_flags(mdb, &flags) != 0 || stat.ms_psize < PAGE_SIZE_LEAST ||
	    stat.ms_psize > PAGE_SIZE_MOST || page <= 0) {
		return;
	}
	struct chi_pages found = {.size = stat.ms_psize, .far = (flags & MDB_NORDAHEAD) != 0};
	struct chi_descent descent;
	if (!find_base(txn, meta, (uintptr_t)page, &found)) {
		return;
	}
	chi_descent_start(mdb, txn, &found, POSITION_TREE, &descent);
	if (descent.usable && samples_agree(&descent, mdb, txn, position)) {
		*pages = found;
	}
}
