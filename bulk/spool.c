/* SPDX-License-Identifier: MIT */
/* A spool is a stream of pieces, each with its length in front, in this machine's order: no other
 * ever sees it. */
#include "bulk/spool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/nameless.h"

static int spool_fault(struct chi_fault *fault, const char *what)
{
	return chi_fault(fault, chi_fault_errno(errno), "cannot %s what was read so far (%s)", what,
			 strerror(errno));
}

int chi_spool_open(struct chi_spool *spool, const char *dir, struct chi_fault *fault)
{
	int fd = chi_nameless_open(dir);
	chi_buffer_init(&spool->piece, CHI_SPOOL_PIECE_MAX);
	spool->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (spool->file == NULL) {
		int rc = spool_fault(fault, "keep");
		if (fd >= 0) {
			(void)close(fd);
		}
		return rc;
	}
	return CHI_OK;
}

void chi_spool_close(struct chi_spool *spool)
{
	if (spool->file != NULL) {
		(void)fclose(spool->file);
		spool->file = NULL;
	}
	chi_buffer_deinit(&spool->piece);
}

int chi_spool_put(struct chi_spool *spool, const void *bytes, size_t len, struct chi_fault *fault)
{
	uint32_t size = (uint32_t)len;
	if (len > CHI_SPOOL_PIECE_MAX) {
		return chi_fault_plain(fault, -CHI_ETOOBIG);
	}
	if (fwrite(&size, sizeof(size), 1, spool->file) != 1 ||
	    fwrite(bytes, 1, len, spool->file) != len) {
		return spool_fault(fault, "keep");
	}
	return CHI_OK;
}

int chi_spool_rewind(struct chi_spool *spool, struct chi_fault *fault)
{
	if (fflush(spool->file) != 0 || fseek(spool->file, 0, SEEK_SET) != 0) {
		return spool_fault(fault, "keep");
	}
	return CHI_OK;
}

int chi_spool_get(struct chi_spool *spool, const uint8_t **bytes, size_t *len,
		  struct chi_fault *fault)
{
	uint32_t size = 0;
	if (fread(&size, sizeof(size), 1, spool->file) != 1) {
		return ferror(spool->file) == 0 ? CHI_NONE : spool_fault(fault, "read");
	}
	chi_buffer_consume(&spool->piece, spool->piece.len);
	uint8_t *room = chi_buffer_reserve(&spool->piece, size);
	if (room == NULL && size > 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	if (size > 0 && fread(room, 1, size, spool->file) != size) {
		return spool_fault(fault, "read");
	}
	chi_buffer_added(&spool->piece, size);
	*bytes = chi_buffer_bytes(&spool->piece);
	*len = size;
	return CHI_OK;
}
