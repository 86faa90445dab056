/* SPDX-License-Identifier: MIT */
/* Offsets and flags of pages are those of pages.h; what a meta page holds, below. */
#include "store/pages/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/pages.h"

_Static_assert(sizeof(size_t) == 8, "the layouts below are those of 64-bit machines");

#define LMDB_MAGIC_SWAPPED UINT32_C(0xDEC0EFBE)
#define LMDB_VERSION	   1

/* Offsets in a meta page: page header, then the meta. */
#define META_VERSION 20
#define META_PSIZE   40
#define META_FREE    40 /* the record of the tree of free pages */
#define META_MAIN    88 /* of the tree of names */
#define META_LAST    136
#define META_TXN     144
#define META_BYTES   152

#define PAGE_SIZE_LEAST 256
#define PAGE_SIZE_MOST	65536

/* Where the second head is looked for if the first one does not tell. */
#define PAGE_SIZE_USUAL 4096

bool chi_page_file_read(struct chi_page_file *file_image, void *out, uint64_t len, uint64_t offset)
{
	ssize_t n;
	do {
		n = pread(file_image->fd, out, len, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		file_image->error = errno;
	}
	return n >= 0 && (uint64_t)n == len;
}

/* One meta page. */
static int check_meta(const uint8_t meta[META_BYTES], struct chi_fault *fault)
{
	uint32_t magic = chi_u32_at(meta + META_MAGIC);
	if (magic == LMDB_MAGIC_SWAPPED) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store was made on a machine of another byte order; move it "
				"with dump and load");
	}
	if (magic != LMDB_MAGIC) {
		return chi_fail(fault, -CHI_ENOSTORE, "%s is not a chistore file", DATA_NAME);
	}
	uint32_t version = chi_u32_at(meta + META_VERSION) & 0xffff;
	if (version != LMDB_VERSION) {
		return chi_fail(fault, -CHI_EVERSION, "%s has LMDB data format %u, not %d",
				DATA_NAME, version, LMDB_VERSION);
	}
	uint32_t size = chi_u32_at(meta + META_PSIZE);
	if (size < PAGE_SIZE_LEAST || size > PAGE_SIZE_MOST || (size & (size - 1)) != 0) {
		return chi_fail(fault, -CHI_ECORRUPT, "%s: bad page size %u", DATA_NAME, size);
	}
	return CHI_OK;
}

/* Reads and checks one head; `place` says where it is. */
static int read_meta(struct chi_page_file *file_image, uint64_t place, uint8_t meta[META_BYTES],
		     struct chi_fault *fault)
{
	if (chi_page_file_read(file_image, meta, META_BYTES, place)) {
		return check_meta(meta, fault);
	}
	if (file_image->error != 0) {
		return chi_lmdb_fault(fault, file_image->error, "read", DATA_NAME);
	}
	return place == 0 ? chi_fail(fault, -CHI_ENOSTORE, "%s is not a chistore file (too short)",
				     DATA_NAME)
			  : chi_fail(fault, -CHI_ECORRUPT, "%s is cut short", DATA_NAME);
}

static void take_meta(struct chi_page_file *file_image, const uint8_t meta[META_BYTES])
{
	file_image->last = chi_u64_at(meta + META_LAST);
	file_image->free_root = chi_u64_at(meta + META_FREE + TREE_ROOT);
	file_image->free_entries = chi_u64_at(meta + META_FREE + TREE_ENTRIES);
	file_image->main_root = chi_u64_at(meta + META_MAIN + TREE_ROOT);
	file_image->main_entries = chi_u64_at(meta + META_MAIN + TREE_ENTRIES);
	file_image->txn = chi_u64_at(meta + META_TXN);
}

/* The size of the file, and what is so if no head tells it. */
static int measure_file(struct chi_page_file *file_image, struct chi_fault *fault)
{
	struct stat st;
	if (fstat(file_image->fd, &st) < 0) {
		return chi_lmdb_fault(fault, errno, "look at", DATA_NAME);
	}
	file_image->bytes = (uint64_t)st.st_size;
	file_image->page_size = PAGE_SIZE_USUAL;
	file_image->last = chi_page_file_pages(file_image) - 1;
	file_image->free_root = 0;
	file_image->main_root = 0;
	file_image->txn = 0;
	file_image->free_entries = 0;
	file_image->main_entries = 0;
	file_image->head_lost = false;
	return CHI_OK;
}

/* What LMDB takes for granted of its meta page: each has its number, the transactions write them in
 * turn, and flags of the two trees are those that it gave them (compact makes a file without a
 * directory). A new file has transaction 0 in both. */
static bool head_is_sound(const uint8_t meta[META_BYTES], uint64_t number)
{
	uint64_t txn = chi_u64_at(meta + META_TXN);
	return chi_u64_at(meta + PAGE_NUMBER) == number &&
	       chi_u16_at(meta + PAGE_FLAGS) == FLAG_META && (txn == 0 || txn % 2 == number) &&
	       (chi_u16_at(meta + META_FREE + TREE_FLAGS) & ~MDB_NOSUBDIR) == MDB_INTEGERKEY &&
	       chi_u16_at(meta + META_MAIN + TREE_FLAGS) == 0;
}

/* LMDB writes its heads in turn and needs both to be its own. */
static int both_heads(struct chi_page_file *file_image, struct chi_fault *fault)
{
	uint8_t first[META_BYTES];
	uint8_t second[META_BYTES];
	int rc = read_meta(file_image, 0, first, fault);
	if (rc < 0) {
		return rc;
	}
	file_image->page_size = chi_u32_at(first + META_PSIZE);
	rc = read_meta(file_image, file_image->page_size, second, fault);
	bool sound = rc < 0 || head_is_sound(second, 1);
	if (rc == -CHI_ENOSTORE || rc == -CHI_EVERSION || !sound || !head_is_sound(first, 0)) {
		return chi_fail(fault, -CHI_ECORRUPT, "%s: the %s meta page is damaged", DATA_NAME,
				sound && rc == CHI_OK ? "first" : "second");
	}
	if (rc == CHI_OK) {
		bool newer = chi_u64_at(second + META_TXN) > chi_u64_at(first + META_TXN);
		const uint8_t *older = newer ? first : second;
		take_meta(file_image, newer ? second : first);
		file_image->older_txn = chi_u64_at(older + META_TXN);
		file_image->older_root = chi_u64_at(older + META_MAIN + TREE_ROOT);
	}
	return rc;
}

/* What can be had: of two the newer. A file of another kind of machine cannot be read at all. */
static int any_head(struct chi_page_file *file_image, struct chi_fault *fault)
{
	uint8_t meta[META_BYTES];
	bool sound = true;
	file_image->older_txn = 0;
	for (uint64_t i = 0; i < 2; i++) {
		int rc = read_meta(file_image, i * file_image->page_size, meta, fault);
		if (rc == -CHI_EVERSION && i == 0) {
			return rc;
		}
		sound = sound && rc == CHI_OK && head_is_sound(meta, i);
		uint64_t txn = rc == CHI_OK ? chi_u64_at(meta + META_TXN) : 0;
		if (rc == CHI_OK && (i == 0 || txn > file_image->txn)) {
			file_image->page_size = chi_u32_at(meta + META_PSIZE);
			file_image->older_txn = file_image->txn;
			take_meta(file_image, meta);
		} else {
			file_image->older_txn = txn;
		}
	}
	file_image->head_lost = !sound || !chi_page_file_adjoins(file_image);
	return CHI_OK;
}

int chi_page_file_look(struct chi_page_file *file_image, enum chi_page_file_metas heads,
		       struct chi_fault *fault)
{
	struct stat st;
	int rc = measure_file(file_image, fault);
	if (rc == CHI_OK) {
		rc = heads == CHI_PAGE_FILE_BOTH ? both_heads(file_image, fault)
						 : any_head(file_image, fault);
	}
	/* What the head refers to is in the file by now, which it need not have been before. */
	if (rc == CHI_OK && fstat(file_image->fd, &st) == 0) {
		file_image->bytes = (uint64_t)st.st_size;
	}
	return rc;
}

static int check_is_file(const struct chi_page_file *file_image, const char *dir,
			 struct chi_fault *fault)
{
	struct stat st;
	char named[PATH_MAX];
	return fstat(file_image->fd, &st) == 0 && S_ISREG(st.st_mode)
		       ? CHI_OK
		       : chi_fail(fault, -CHI_ENOSTORE,
				  "the directory '%s' holds no store: its '%s' is no file",
				  chi_path_said(dir, named), DATA_NAME);
}

int chi_page_file_open(struct chi_page_file *file_image, const char *dir,
		       enum chi_page_file_metas heads, struct chi_fault *fault)
{
	char path[CHI_PATH_SIZE];
	*file_image = (struct chi_page_file){.fd = -1};
	int rc = chi_path_join(path, dir, DATA_NAME);
	if (rc < 0) {
		return chi_fail(fault, rc, "the path '%s' is too long", dir);
	}
	/* A pipe of that name would otherwise wait for a writer. */
	file_image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file_image->fd < 0 && errno == ENOENT) {
		char named[PATH_MAX];
		return chi_fail(fault, -CHI_ENOSTORE, "the directory '%s' holds no store",
				chi_path_said(dir, named));
	}
	if (file_image->fd < 0) {
		return chi_lmdb_fault(fault, errno, "open", path);
	}
	rc = check_is_file(file_image, dir, fault);
	if (rc == CHI_OK) {
		rc = chi_page_file_look(file_image, heads, fault);
	}
	if (rc < 0) {
		chi_page_file_close(file_image);
	}
	return rc;
}

void chi_page_file_close(struct chi_page_file *file_image)
{
	if (file_image->fd >= 0) {
		(void)close(file_image->fd);
		file_image->fd = -1;
	}
}

bool chi_page_file_page(struct chi_page_file *file_image, uint64_t number, uint8_t *out)
{
	if (number >= chi_page_file_pages(file_image) ||
	    !chi_page_file_read(file_image, out, file_image->page_size,
				number * file_image->page_size)) {
		return false;
	}
	uint32_t kind = chi_u16_at(out + PAGE_FLAGS) & FLAG_KINDS;
	uint32_t lower = chi_u16_at(out + PAGE_LOWER);
	return chi_u64_at(out + PAGE_NUMBER) == number &&
	       (kind == FLAG_BRANCH || kind == FLAG_LEAF) && lower >= PAGE_HEADER &&
	       lower <= file_image->page_size;
}

unsigned chi_page_file_nodes(const uint8_t *page)
{
	return (chi_u16_at(page + PAGE_LOWER) - PAGE_HEADER) / 2u;
}

bool chi_page_file_is_branch(const uint8_t *page)
{
	return (chi_u16_at(page + PAGE_FLAGS) & FLAG_BRANCH) != 0;
}

bool chi_page_file_read_node(const struct chi_page_file *file_image, const uint8_t *page,
			     unsigned i, struct chi_page_file_node *out)
{
	uint64_t at = chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
	if (at < PAGE_HEADER || at + NODE_HEADER > file_image->page_size) {
		return false;
	}
	const uint8_t *node = page + at;
	*out = (struct chi_page_file_node){
		.key = node + NODE_HEADER,
		.key_len = chi_u16_at(node + NODE_KSIZE),
	};
	uint64_t data = at + NODE_HEADER + out->key_len;
	if (data > file_image->page_size) {
		return false;
	}
	if (chi_page_file_is_branch(page)) {
		out->child = chi_node_child(node);
		return true;
	}
	out->flags = chi_u16_at(node + NODE_FLAGS);
	out->len = chi_node_size(node);
	if ((out->flags & NODE_BIG) != 0) {
		out->big = data + 8 <= file_image->page_size ? chi_u64_at(page + data) : UINT64_MAX;
		return out->big != UINT64_MAX;
	}
	out->value = page + data;
	return data + out->len <= file_image->page_size;
}

bool chi_page_file_big(struct chi_page_file *file_image, const struct chi_page_file_node *node,
		       uint8_t *out)
{
	uint8_t head[PAGE_HEADER];
	uint64_t pages = chi_page_file_pages(file_image);
	if (node->big >= pages ||
	    node->len > (pages - node->big) * file_image->page_size - PAGE_HEADER) {
		return false;
	}
	uint64_t place = node->big * file_image->page_size;
	return chi_page_file_read(file_image, head, PAGE_HEADER, place) &&
	       (chi_u16_at(head + PAGE_FLAGS) & FLAG_KINDS) == FLAG_OVERFLOW &&
	       chi_page_file_read(file_image, out, node->len, place + PAGE_HEADER);
}
