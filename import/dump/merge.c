/* SPDX-License-Identifier: MIT */
/* Taking the dump in: lines put together, read, checked, put by. */
#include "import/dump/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"

/* A line's fields take less than some times its text. */
#define ARENA_BUDGET (8 * (size_t)CHI_DUMP_LINE_MAX)

int chi_merging_fault(struct chi_fault *fault, const char *what)
{
	return chi_fault(fault, chi_fault_errno(errno), "cannot %s what was read so far (%s)", what,
			 strerror(errno));
}

static int open_file(FILE **out, const char *dir, struct chi_fault *fault)
{
	int fd = chi_file_nameless(dir);
	*out = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (*out != NULL) {
		return CHI_OK;
	}
	int rc = chi_merging_fault(fault, "keep");
	if (fd >= 0) {
		(void)close(fd);
	}
	return rc;
}

static int keep_bytes(FILE *file, const void *bytes, size_t len, struct chi_fault *fault)
{
	return fwrite(bytes, 1, len, file) == len ? CHI_OK : chi_merging_fault(fault, "keep");
}

static int merge_begin(struct chi_importer *importer, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = calloc(1, sizeof(*merging));
	if (merging == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->state = merging;
	if (chi_dump_seal_init(&merging->seal) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	chi_dump_reader_init(&merging->reader);
	chi_arena_init(&merging->arena, ARENA_BUDGET);
	chi_buffer_init(&merging->line, CHI_DUMP_LINE_MAX);
	int rc = open_file(&merging->lines, importer->spill, fault);
	rc = rc == CHI_OK ? chi_carried_init(&merging->archive, importer, fault) : rc;
	chi_carrier_init(&merging->carrier, &merging->archive);
	return rc;
}

static void merge_end(struct chi_importer *importer)
{
	struct chi_dump_merging *merging = importer->state;
	if (merging == NULL) {
		return;
	}
	if (merging->lines != NULL) {
		(void)fclose(merging->lines);
	}
	chi_dump_seal_deinit(&merging->seal);
	chi_other_free(merging->other);
	chi_carrier_deinit(&merging->carrier);
	chi_carried_deinit(&merging->archive);
	free(merging->kept);
	chi_buffer_deinit(&merging->line);
	chi_arena_deinit(&merging->arena);
	free(merging);
	importer->state = NULL;
}

/* One store, one transaction. */
static int merge_file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	(void)name;
	if (merging->n_files++ > 0) {
		return chi_fault(fault, -CHI_EINVAL, "one store is merged in a session");
	}
	return CHI_OK;
}

static int merge_store(struct chi_importer *importer, const char *dir, struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	if (merging->other != NULL || merging->reader.line > 0 || merging->line.len > 0) {
		return chi_fault(fault, -CHI_EINVAL, "one store is merged in a session");
	}
	return chi_other_open(importer, dir, &merging->other, fault);
}

/* The order of the position tree: bytewise, what is at the other's start first. */
static int compare_keys(const struct chi_key *a, const struct chi_key *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->bytes, b->bytes, len);
	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

/* An outside dump is checked like an outside put. */
static int check_position(struct chi_dump_merging *merging, const struct chi_put *put,
			  struct chi_fault *fault)
{
	struct chi_fault detail = {.text = ""};
	int rc = chi_put_check(put, CHI_STATISTIC_EXTERNAL, &detail);
	if (rc < 0) {
		return chi_fault(fault, rc, "line %" PRIu64 ": %s", merging->reader.line,
				 detail.text);
	}
	if (merging->positions > 0 && compare_keys(&put->key, &merging->last) <= 0) {
		return chi_fault(fault, -CHI_ESYNTAX,
				 "line %" PRIu64 ": the positions are not in order",
				 merging->reader.line);
	}
	merging->last = put->key;
	merging->positions++;
	return CHI_OK;
}

static int take_merge_line(struct chi_dump_merging *merging, const char *line, size_t len,
			   struct chi_fault *fault)
{
	struct chi_put put;
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	chi_arena_reset(&merging->arena);
	int rc = chi_dump_read(&merging->reader, line, len, &merging->arena, &kind, &put, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	if (kind == CHI_DUMP_TAIL) {
		merging->whole = true;
		return chi_carrier_end(&merging->carrier, fault);
	}
	if (kind == CHI_DUMP_SUMMED) {
		return CHI_OK;
	}
	if (kind != CHI_DUMP_HEAD && kind != CHI_DUMP_POSITION) {
		return chi_carrier_line(&merging->carrier, &merging->reader, kind, 0, fault);
	}
	rc = kind == CHI_DUMP_POSITION ? check_position(merging, &put, fault) : CHI_OK;
	if (rc == CHI_OK) {
		rc = keep_bytes(merging->lines, line, len, fault);
	}
	return rc == CHI_OK ? keep_bytes(merging->lines, "\n", 1, fault) : rc;
}

/* Keeps the part of a line whose end has not come. */
static int keep_part(struct chi_dump_merging *merging, const char *bytes, size_t len,
		     struct chi_fault *fault)
{
	int rc = chi_buffer_append(&merging->line, bytes, len);
	if (rc == -CHI_ETOOBIG) {
		return chi_fault(fault, -CHI_ESYNTAX, "line %" PRIu64 ": longer than %u bytes",
				 merging->reader.line + 1, CHI_DUMP_LINE_MAX);
	}
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

static int merge_feed(struct chi_importer *importer, const void *bytes, size_t len,
		      struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	const char *at = bytes;
	const char *end = at + len;
	if (merging->other != NULL) {
		return chi_fault(fault, -CHI_EINVAL, "one store is merged in a session");
	}
	int rc = chi_dump_seal_check(&merging->seal, bytes, len, fault);
	while (rc == CHI_OK && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop != NULL ? stop : end) - at);
		if (stop == NULL || merging->line.len > 0) {
			rc = keep_part(merging, at, n, fault);
		}
		if (rc == CHI_OK && stop != NULL) {
			bool joined = merging->line.len > 0;
			const char *line =
				joined ? (const char *)chi_buffer_bytes(&merging->line) : at;
			rc = take_merge_line(merging, line, joined ? merging->line.len : n, fault);
			chi_buffer_consume(&merging->line, merging->line.len);
		}
		at += n + (stop != NULL ? 1 : 0);
	}
	return rc;
}

/* A dump that is not whole would merge a part, and merging the whole later count that twice. */
static int merge_commit(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	struct chi_dump_merging *merging = importer->state;
	if (merging->other == NULL && !merging->whole) {
		return chi_fault(fault, -CHI_ESYNTAX,
				 "line %" PRIu64 ": the dump is cut: its last line is missing",
				 merging->reader.line);
	}
	int rc = merging->other == NULL ? chi_dump_seal_whole(&merging->seal, fault) : CHI_OK;
	return rc != CHI_OK ? rc : chi_merging_apply(importer, merging, result, fault);
}

const struct chi_importer_kind chi_importer_merge = {
	.begin = merge_begin,
	.file = merge_file,
	.feed = merge_feed,
	.store = merge_store,
	.commit = merge_commit,
	.end = merge_end,
};
