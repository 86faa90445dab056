/* SPDX-License-Identifier: MIT */
/* The checksums of dumps, written and compared. */
#include "store/text/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/fault.h"
#include "store/text/dump_priv.h"

/* A checksum is due after so many lines. */
#define STRETCH 1000

int chi_dump_seal_init(struct chi_dump_seal *seal)
{
	*seal = (struct chi_dump_seal){.hash = XXH3_createState()};
	if (seal->hash == NULL) {
		return -CHI_ENOMEM;
	}
	(void)XXH3_64bits_reset(seal->hash);
	return CHI_OK;
}

void chi_dump_seal_deinit(struct chi_dump_seal *seal)
{
	(void)XXH3_freeState(seal->hash);
	seal->hash = NULL;
}

/* The line that is right at this place. */
static size_t print_sum(const struct chi_dump_seal *seal, char sum[CHI_DUMP_SUM_SIZE])
{
	return (size_t)snprintf(sum, CHI_DUMP_SUM_SIZE,
				CHI_DUMP_SUM "%" PRIu64 "\t%016" PRIx64 "\n", seal->lines,
				(uint64_t)XXH3_64bits_digest(seal->hash));
}

/* ---- Writing -------------------------------------------------------------------------------- */

size_t chi_dump_seal_end(struct chi_dump_seal *seal, char sum[CHI_DUMP_SUM_SIZE])
{
	size_t len = print_sum(seal, sum);
	(void)XXH3_64bits_update(seal->hash, sum, len);
	seal->summed = ++seal->lines;
	return len;
}

/* No line comes between a game and its PGN: threads may read games side by side. */
size_t chi_dump_seal_lines(struct chi_dump_seal *seal, const char *lines, size_t len,
			   char sum[CHI_DUMP_SUM_SIZE])
{
	bool due = seal->lines - seal->summed >= STRETCH && *lines != DUMP_PGN &&
		   *lines != DUMP_PGN_JOINED;
	size_t n = due ? chi_dump_seal_end(seal, sum) : 0;
	const char *end = lines + len;
	(void)XXH3_64bits_update(seal->hash, lines, len);
	for (; lines < end; lines = (const char *)memchr(lines, '\n', (size_t)(end - lines)) + 1) {
		seal->lines++;
	}
	return n;
}

/* ---- Checking ------------------------------------------------------------------------------- */

/* A line that was held has ended. */
static int check_held(struct chi_dump_seal *seal, struct chi_fault *fault)
{
	char sum[CHI_DUMP_SUM_SIZE];
	bool is_sum = seal->n_held >= strlen(CHI_DUMP_SUM) &&
		      memcmp(seal->held, CHI_DUMP_SUM, strlen(CHI_DUMP_SUM)) == 0;
	if (is_sum &&
	    (print_sum(seal, sum) != seal->n_held || memcmp(sum, seal->held, seal->n_held) != 0)) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"lines %" PRIu64 " to %" PRIu64
				" are not those of the checksum: the dump was damaged, or edited "
				"(then 'chistore dump --seal' gives it new checksums)",
				seal->summed + 1, seal->lines + 1);
	}
	(void)XXH3_64bits_update(seal->hash, seal->held, seal->n_held);
	seal->n_held = 0;
	seal->lines++;
	seal->summed = is_sum ? seal->lines : seal->summed;
	return CHI_OK;
}

/* A part of a line that may be a checksum, or is the end of one. */
static int hold(struct chi_dump_seal *seal, const char *bytes, size_t len, bool ends,
		struct chi_fault *fault)
{
	if (len > sizeof(seal->held) - seal->n_held) {
		/* It is longer than any checksum. */
		(void)XXH3_64bits_update(seal->hash, seal->held, seal->n_held);
		(void)XXH3_64bits_update(seal->hash, bytes, len);
		seal->n_held = 0;
		seal->inside = !ends;
		seal->lines += ends;
		return CHI_OK;
	}
	memcpy(seal->held + seal->n_held, bytes, len);
	seal->n_held += len;
	return ends ? check_held(seal, fault) : CHI_OK;
}

/* Lines are hashed together: only those that begin as a checksum does are looked at one by one. */
int chi_dump_seal_check(struct chi_dump_seal *seal, const char *bytes, size_t len,
			struct chi_fault *fault)
{
	const char *from = bytes; /* not hashed yet */
	const char *end = bytes + len;
	while (bytes < end) {
		const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *next = stop != NULL ? stop + 1 : end;
		if (seal->n_held > 0 || (!seal->inside && *bytes == *CHI_DUMP_SUM)) {
			(void)XXH3_64bits_update(seal->hash, from, (size_t)(bytes - from));
			int rc = hold(seal, bytes, (size_t)(next - bytes), stop != NULL, fault);
			if (rc != CHI_OK) {
				return rc;
			}
			from = next;
		} else {
			seal->inside = stop == NULL;
			seal->lines += stop != NULL;
		}
		bytes = next;
	}
	(void)XXH3_64bits_update(seal->hash, from, (size_t)(end - from));
	return CHI_OK;
}

int chi_dump_seal_whole(const struct chi_dump_seal *seal, struct chi_fault *fault)
{
	bool whole = seal->lines > 0 && seal->summed == seal->lines && !seal->inside &&
		     seal->n_held == 0;
	return whole ? CHI_OK
		     : chi_fail(fault, -CHI_ESYNTAX,
				"line %" PRIu64 ": the dump is cut: its last line is missing",
				seal->lines);
}
