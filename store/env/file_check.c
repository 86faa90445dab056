/* SPDX-License-Identifier: MIT */
/*
 * Looks at a data file with plain reads before LMDB maps it. In a map, a page that the file is too
 * short for is a SIGBUS; here it is an error message.
 *
 * LMDB may end a file early on its own: pages that a transaction took and gave back before
 * its commit are never written. Such a page is in the list of free pages. So a short file is
 * sound exactly if every page behind its end is free.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/fault.h"
#include "store/pages/page_file.h"
#include "store/env/lmdb_err.h"
#include "store/env/env_priv.h"

/* A short file lacks a few pages at its end; one that lacks more was cut. */
#define MISSING_MOST (UINT64_C(1) << 20)

/* A writer that goes on meanwhile may reuse the free list's pages: then look again. */
#define LOOKS 5

/* The pages behind the file's end, a flag for each. */
struct missing {
	uint8_t *flags;
	uint64_t first;
	uint64_t n;
};

static void note_free(void *context, uint64_t page)
{
	const struct missing *missing = context;
	if (page >= missing->first && page - missing->first < missing->n) {
		missing->flags[page - missing->first] = 0;
	}
}

/* True if every page behind the file's end is free. */
static bool missing_are_free(struct chi_page_file *file_image)
{
	struct missing missing = {.first = chi_page_file_pages(file_image)};
	missing.n = file_image->last + 1 - missing.first;
	if (missing.n == 0 || missing.n > MISSING_MOST) {
		return false;
	}
	_cleanup_(chi_freep) uint8_t *flags = malloc(missing.n);
	if (flags == NULL) {
		file_image->error = ENOMEM;
		return false;
	}
	memset(flags, 1, missing.n);
	missing.flags = flags;
	return chi_page_file_free(file_image, note_free, &missing) &&
	       memchr(flags, 1, missing.n) == NULL;
}

int chi_file_check(const char *dir, struct chi_fault *fault)
{
	_cleanup_(chi_page_file_close) struct chi_page_file file_image;
	int rc = chi_page_file_open(&file_image, dir, CHI_PAGE_FILE_BOTH, fault);
	uint64_t seen = 0;
	for (int look = 0; rc == CHI_OK && look < LOOKS; look++) {
		if (chi_page_file_pages(&file_image) > file_image.last ||
		    missing_are_free(&file_image)) {
			return CHI_OK;
		}
		if (file_image.error != 0) {
			return chi_lmdb_fault(fault, file_image.error, "read the data file of",
					      dir);
		}
		if (look > 0 && file_image.txn == seen) {
			break;
		}
		seen = file_image.txn;
		rc = chi_page_file_look(&file_image, CHI_PAGE_FILE_BOTH, fault);
	}
	return rc < 0 ? rc
		      : chi_fault(fault, -CHI_ECORRUPT,
				  "'%s/%s' is cut short: pages in use are missing", dir, DATA_NAME);
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
