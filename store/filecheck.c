/* SPDX-License-Identifier: MIT */
/*
 * Looks at a data file with plain reads before LMDB maps it. In a map, a page that the file is too
 * short for is a SIGBUS; here it is an error message.
 *
 * LMDB may end a file early on its own: pages that a transaction took and gave back before
 * its commit are never written. Such a page is in the list of free pages. So a short file is
 * sound exactly if every page behind its end is free, and finding that out takes a walk through
 * LMDB's free list, whose layout (data version 1) is what pages.h and the constants below describe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/lmdb_err.h"
#include "store/pages.h"
#include "store/store_priv.h"

_Static_assert(sizeof(size_t) == 8, "the layouts below are those of 64-bit machines");

#define LMDB_MAGIC_SWAPPED UINT32_C(0xDEC0EFBE)
#define LMDB_VERSION	   1

/* Offsets in a meta page: header, then the meta. */
#define META_VERSION 20
#define META_PSIZE   40
#define META_ROOT    80 /* root of the free list's tree */
#define META_LAST    136
#define META_TXN     144
#define META_BYTES   152

#define PAGE_SIZE_LEAST 256
#define PAGE_SIZE_MOST	65536
#define DEPTH_MOST	32

/* A short file lacks a few pages at its end; one that lacks more was cut. */
#define MISSING_MOST (UINT64_C(1) << 20)

/* A writer that goes on meanwhile may reuse the free list's pages: then look again. */
#define LOOKS 5

struct file {
	int fd;
	uint64_t page_size;
	uint64_t bytes;
	uint64_t last; /* last page in use */
	uint64_t root; /* of the free list */
	uint64_t txn;
	uint8_t *missing; /* one flag for each page behind the file's end */
	uint64_t first_missing;
	uint64_t left; /* bound on the pages still to be read */
	int error;     /* errno of a read that failed: says nothing about the file */
};

static void close_fd(const int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd);
	}
}

/* All bytes or false: a page that is cut is as bad as one that is missing. */
static bool read_at(struct file *file, void *out, size_t len, uint64_t offset)
{
	ssize_t n;
	do {
		n = pread(file->fd, out, len, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	file->error = n < 0 ? errno : file->error;
	return n == (ssize_t)len;
}

/* One head page. Which of both is damaged makes no difference: LMDB writes them in turn and needs
 * both to be its own. */
static int check_meta(const uint8_t meta[META_BYTES], struct chi_fault *fault)
{
	uint32_t magic = chi_u32_at(meta + META_MAGIC);
	if (magic == LMDB_MAGIC_SWAPPED) {
		return chi_fault(fault, -CHI_EVERSION,
				 "the store was made on a machine of another byte order; move it "
				 "with dump and load");
	}
	if (magic != LMDB_MAGIC) {
		return chi_fault(fault, -CHI_ENOSTORE, "%s is not a chistore file", DATA_NAME);
	}
	uint32_t version = chi_u32_at(meta + META_VERSION) & 0xffff;
	if (version != LMDB_VERSION) {
		return chi_fault(fault, -CHI_EVERSION, "%s has LMDB data format %u, not %d",
				 DATA_NAME, version, LMDB_VERSION);
	}
	uint32_t size = chi_u32_at(meta + META_PSIZE);
	if (size < PAGE_SIZE_LEAST || size > PAGE_SIZE_MOST || (size & (size - 1)) != 0) {
		return chi_fault(fault, -CHI_ECORRUPT, "%s: bad page size %u", DATA_NAME, size);
	}
	return CHI_OK;
}

/* Both metas; the newer one counts. */
static int read_metas(struct file *file, struct chi_fault *fault)
{
	uint8_t meta[2][META_BYTES];
	if (!read_at(file, meta[0], META_BYTES, 0)) {
		return file->error != 0
			       ? chi_lmdb_fault(fault, file->error, "read", DATA_NAME)
			       : chi_fault(fault, -CHI_ENOSTORE,
					   "%s is not a chistore file (too short)", DATA_NAME);
	}
	int rc = check_meta(meta[0], fault);
	if (rc < 0) {
		return rc;
	}
	file->page_size = chi_u32_at(meta[0] + META_PSIZE);
	if (!read_at(file, meta[1], META_BYTES, file->page_size)) {
		return file->error != 0
			       ? chi_lmdb_fault(fault, file->error, "read", DATA_NAME)
			       : chi_fault(fault, -CHI_ECORRUPT, "%s is cut short", DATA_NAME);
	}
	rc = check_meta(meta[1], fault);
	if (rc < 0) {
		return chi_fault(fault, -CHI_ECORRUPT, "%s: the second head page is damaged",
				 DATA_NAME);
	}
	const uint8_t *newer =
		chi_u64_at(meta[1] + META_TXN) > chi_u64_at(meta[0] + META_TXN) ? meta[1] : meta[0];
	file->last = chi_u64_at(newer + META_LAST);
	file->root = chi_u64_at(newer + META_ROOT);
	file->txn = chi_u64_at(newer + META_TXN);
	struct stat st;
	if (fstat(file->fd, &st) < 0) {
		return chi_lmdb_fault(fault, errno, "look at", DATA_NAME);
	}
	file->bytes = (uint64_t)st.st_size;
	return CHI_OK;
}

/* Notes the free pages of one entry of the free list: a count, then the numbers. */
static bool note_free(struct file *file, const uint8_t *list, uint64_t bytes)
{
	uint64_t n = bytes >= 8 ? chi_u64_at(list) : UINT64_MAX;
	if (n > bytes / 8 - 1) {
		return false;
	}
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t page = chi_u64_at(list + 8 * i);
		if (page >= file->first_missing && page <= file->last) {
			file->missing[page - file->first_missing] = 0;
		}
	}
	return true;
}

/* An entry too large for its page stands in pages of its own. */
static bool note_big(struct file *file, uint64_t page, uint64_t bytes)
{
	if (page > file->last || bytes > file->bytes) {
		return false;
	}
	_cleanup_(chi_freep) uint8_t *list = malloc(bytes);
	return list != NULL && read_at(file, list, bytes, page * file->page_size + PAGE_HEADER) &&
	       note_free(file, list, bytes);
}

static bool walk_free(struct file *file, uint64_t page, int depth);

/* A node holds low and high half of a number or a size, flags or its third part, and a key. */
static bool walk_node(struct file *file, const uint8_t *bytes, uint32_t at, uint32_t flags,
		      int depth)
{
	if (at + NODE_HEADER > file->page_size) {
		return false;
	}
	const uint8_t *node = bytes + at;
	uint64_t low = chi_u16_at(node) | (uint64_t)chi_u16_at(node + 2) << 16;
	if ((flags & FLAG_BRANCH) != 0) {
		return walk_free(file, low | (uint64_t)chi_u16_at(node + 4) << 32, depth + 1);
	}
	uint64_t data = at + NODE_HEADER + chi_u16_at(node + 6);
	if ((chi_u16_at(node + 4) & NODE_BIG) != 0) {
		return data + 8 <= file->page_size && note_big(file, chi_u64_at(bytes + data), low);
	}
	return data + low <= file->page_size && note_free(file, bytes + data, low);
}

/* A page of the free list's tree: numbers of pages below it, or entries. The depth and the number
 * of pages are bounded, because a damaged page may point anywhere. */
static bool walk_free(struct file *file, uint64_t page, int depth)
{
	if (page > file->last || depth > DEPTH_MOST || file->left == 0) {
		return false;
	}
	file->left--;
	_cleanup_(chi_freep) uint8_t *bytes = malloc(file->page_size);
	if (bytes == NULL || !read_at(file, bytes, file->page_size, page * file->page_size)) {
		return false;
	}
	uint32_t flags = chi_u16_at(bytes + PAGE_FLAGS);
	uint32_t lower = chi_u16_at(bytes + PAGE_LOWER);
	if ((flags & (FLAG_BRANCH | FLAG_LEAF)) == 0 || lower < PAGE_HEADER ||
	    lower > file->page_size) {
		return false;
	}
	for (uint32_t i = PAGE_HEADER; i + 2 <= lower; i += 2) {
		if (!walk_node(file, bytes, chi_u16_at(bytes + i), flags, depth)) {
			return false;
		}
	}
	return true;
}

/* True if every page behind the file's end is free. */
static bool missing_are_free(struct file *file)
{
	file->first_missing = file->bytes / file->page_size;
	uint64_t n = file->last + 1 - file->first_missing;
	if (n > MISSING_MOST || file->root == NO_PAGE) {
		return false;
	}
	_cleanup_(chi_freep) uint8_t *missing = malloc(n);
	if (missing == NULL) {
		return false;
	}
	memset(missing, 1, n);
	file->missing = missing;
	file->left = file->last + 1;
	return walk_free(file, file->root, 0) && memchr(missing, 1, n) == NULL;
}

int chi_file_check(const char *dir, struct chi_fault *fault)
{
	char path[CHI_PATH_SIZE];
	int rc = chi_path_join(path, dir, DATA_NAME);
	if (rc < 0) {
		return chi_fault(fault, rc, "the path '%s' is too long", dir);
	}
	_cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		return chi_fault(fault, -CHI_ENOSTORE, "the directory '%s' holds no store", dir);
	}
	if (fd < 0) {
		return chi_lmdb_fault(fault, errno, "open", path);
	}
	uint64_t seen = 0;
	for (int look = 0; look < LOOKS; look++) {
		struct file file = {.fd = fd};
		rc = read_metas(&file, fault);
		if (rc < 0) {
			return rc;
		}
		bool whole = file.bytes / file.page_size > file.last;
		if (whole || missing_are_free(&file)) {
			return CHI_OK;
		}
		if (file.error != 0) {
			return chi_lmdb_fault(fault, file.error, "read", path);
		}
		if (look > 0 && file.txn == seen) {
			break;
		}
		seen = file.txn;
	}
	return chi_fault(fault, -CHI_ECORRUPT, "'%s' is cut short: pages in use are missing", path);
}

int chi_file_system_check(const char *path, struct chi_fault *fault)
{
	/* Values of linux/magic.h, and of file systems that are not in it. FUSE is not among
	 * them: all processes of one machine share its page cache and locks, which is what LMDB
	 * needs, and the kernel does not tell what is behind it. */
	static const struct {
		uint32_t type;
		const char *name;
	} network[] = {
		{0x6969, "NFS"},	  {0x517b, "SMB"},	  {0xfe534d42, "SMB"},
		{0xff534d42, "CIFS"},	  {0x5346414f, "AFS"},	  {0x6b414653, "AFS"},
		{0x01021997, "9P"},	  {0x00c36400, "Ceph"},	  {0x73757245, "Coda"},
		{0x564c, "NCP"},	  {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
		{0x01161970, "GFS2"},	  {0x7461636f, "OCFS2"},  {0x19830326, "BeeGFS"},
		{0x20030528, "OrangeFS"},
	};
	struct statfs fs;
	if (statfs(path, &fs) < 0) {
		return chi_lmdb_fault(fault, errno, "look at", path);
	}
	for (size_t i = 0; i < CHI_COUNT(network); i++) {
		if ((uint32_t)fs.f_type == network[i].type) {
			return chi_fault(fault, -CHI_ENETFS,
					 "'%s' is on a network file system (%s), where a store "
					 "can be damaged",
					 path, network[i].name);
		}
	}
	return CHI_OK;
}
