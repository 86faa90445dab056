/* SPDX-License-Identifier: MIT */
/* A spool is a stream of pieces, each with its length in front, in this machine's order: no other
 * ever sees it. */
#include "import/spill_file.h"

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

int chi_spill_file_open(struct chi_spill_file *spill_file, const char *dir, struct chi_fault *fault)
{
	int fd = chi_nameless_open(dir);
	chi_buffer_init(&spill_file->piece, CHI_SPILL_FILE_PIECE_MAX);
	spill_file->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (spill_file->file == NULL) {
		int rc = spool_fault(fault, "keep");
		if (fd >= 0) {
			(void)close(fd);
		}
		return rc;
	}
	return CHI_OK;
}

void chi_spill_file_close(struct chi_spill_file *spill_file)
{
	if (spill_file->file != NULL) {
		(void)fclose(spill_file->file);
		spill_file->file = NULL;
	}
	chi_buffer_deinit(&spill_file->piece);
}

int chi_spill_file_put(struct chi_spill_file *spill_file, const void *bytes, size_t len,
		       struct chi_fault *fault)
{
	uint32_t size = (uint32_t)len;
	if (len > CHI_SPILL_FILE_PIECE_MAX) {
		return chi_fault_plain(fault, -CHI_ETOOBIG);
	}
	if (fwrite(&size, sizeof(size), 1, spill_file->file) != 1 ||
	    fwrite(bytes, 1, len, spill_file->file) != len) {
		return spool_fault(fault, "keep");
	}
	return CHI_OK;
}

int chi_spill_file_rewind(struct chi_spill_file *spill_file, struct chi_fault *fault)
{
	if (fflush(spill_file->file) != 0 || fseek(spill_file->file, 0, SEEK_SET) != 0) {
		return spool_fault(fault, "keep");
	}
	return CHI_OK;
}

int chi_spill_file_get(struct chi_spill_file *spill_file, const uint8_t **bytes, size_t *len,
		       struct chi_fault *fault)
{
	uint32_t size = 0;
	if (fread(&size, sizeof(size), 1, spill_file->file) != 1) {
		return ferror(spill_file->file) == 0 ? CHI_NONE : spool_fault(fault, "read");
	}
	chi_buffer_consume(&spill_file->piece, spill_file->piece.len);
	uint8_t *room = chi_buffer_reserve(&spill_file->piece, size);
	if (room == NULL && size > 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	if (size > 0 && fread(room, 1, size, spill_file->file) != size) {
		return spool_fault(fault, "read");
	}
	chi_buffer_added(&spill_file->piece, size);
	*bytes = chi_buffer_bytes(&spill_file->piece);
	*len = size;
	return CHI_OK;
}
