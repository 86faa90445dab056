/* SPDX-License-Identifier: MIT */
/* The file is read at random, but by this process alone and soon: its layout is the machine's. */
#include "import/evals.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/record.h"

#define LENGTH_BITS 10

/* Before the engine's name and the moves. */
struct eval_head {
	struct chi_eval_origin origin;
	uint64_t nodes;
	uint64_t date;
	int32_t score;
	uint16_t depth;
	uint16_t n_pv;
	uint8_t engine_len;
	uint8_t is_mate;
};

#define LENGTH_MAX (sizeof(struct eval_head) + CHI_ENGINE_MAX + CHI_PV_MAX * sizeof(chi_move))
_Static_assert(LENGTH_MAX < 1u << LENGTH_BITS, "an item has room for the length");

/* ---- The file ---------------------------------------------------------------------------- */

int chi_eval_file_open(struct chi_eval_file *file, const char *dir, struct chi_fault *fault)
{
	atomic_init(&file->end, 0);
	file->fd = chi_file_nameless(dir);
	return file->fd >= 0 ? CHI_OK
			     : chi_fail(fault, chi_fault_errno(errno),
					"cannot make a file in '%s' for evaluations (%s)", dir,
					strerror(errno));
}

void chi_eval_file_close(struct chi_eval_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
	}
	file->fd = -1;
}

int chi_eval_file_flush(struct chi_eval_file *file, struct chi_eval_chunk *chunk,
			struct chi_fault *fault)
{
	int rc = chi_file_pwrite(file->fd, chunk->bytes, chunk->used, chunk->place);
	chunk->used = 0;
	return rc == CHI_OK ? CHI_OK
			    : chi_fail(fault, rc, "cannot write evaluations to sort them (%s)",
				       chi_strerror(rc));
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t len)
{
	if (len > 0) {
		memcpy(at, bytes, len);
	}
	return at + len;
}

int chi_eval_file_add(struct chi_eval_file *file, struct chi_eval_chunk *chunk,
		      const struct chi_eval *eval, const struct chi_eval_origin *origin,
		      struct chi_sort_item *item, struct chi_fault *fault)
{
	if (chunk->used + LENGTH_MAX > sizeof(chunk->bytes)) {
		int rc = chi_eval_file_flush(file, chunk, fault);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (chunk->used == 0) {
		chunk->place = atomic_fetch_add(&file->end, sizeof(chunk->bytes));
	}
	struct eval_head head;
	memset(&head, 0, sizeof(head));
	head.origin = *origin;
	head.nodes = eval->nodes;
	head.date = eval->date;
	head.score = eval->score;
	head.depth = (uint16_t)eval->depth;
	head.n_pv = (uint16_t)eval->n_pv;
	head.engine_len = (uint8_t)eval->engine_len;
	head.is_mate = eval->is_mate;
	uint8_t *start = chunk->bytes + chunk->used;
	uint8_t *at = put_bytes(start, &head, sizeof(head));
	at = put_bytes(at, eval->engine, eval->engine_len);
	at = put_bytes(at, eval->pv, eval->n_pv * sizeof(*eval->pv));
	uint64_t payload = htobe64(CHI_EVALS_ITEM | (chunk->place + chunk->used) << LENGTH_BITS |
				   (uint64_t)(at - start));
	memcpy(item->bytes + CHI_SORT_GROUP, &payload, sizeof(payload));
	chunk->used += (size_t)(at - start);
	return CHI_OK;
}

int chi_eval_file_get(const struct chi_eval_file *file, uint64_t payload, struct chi_eval_copy *out)
{
	uint8_t bytes[1 << LENGTH_BITS];
	struct eval_head head;
	size_t len = payload & ((1u << LENGTH_BITS) - 1);
	int rc = chi_file_pread(file->fd, bytes, len, (payload & ~CHI_EVALS_ITEM) >> LENGTH_BITS);
	if (rc != CHI_OK) {
		return rc;
	}
	memcpy(&head, bytes, sizeof(head));
	memcpy(out->engine, bytes + sizeof(head), head.engine_len);
	memcpy(out->pv, bytes + sizeof(head) + head.engine_len, head.n_pv * sizeof(*out->pv));
	out->origin = head.origin;
	out->eval = (struct chi_eval){
		.engine = out->engine,
		.engine_len = head.engine_len,
		.depth = head.depth,
		.is_mate = head.is_mate != 0,
		.score = head.score,
		.nodes = head.nodes,
		.date = head.date,
		.pv = out->pv,
		.n_pv = head.n_pv,
	};
	return CHI_OK;
}

/* ---- Those of one position --------------------------------------------------------------- */

/* True if `a` is to be kept rather than `b`. No two have the same origin. */
static bool beats(const struct chi_eval_copy *a, const struct chi_eval_copy *b)
{
	if (a->eval.depth != b->eval.depth) {
		return a->eval.depth > b->eval.depth;
	}
	return a->origin.place != b->origin.place ? a->origin.place > b->origin.place
						  : a->origin.index > b->origin.index;
}

static void set_copy(struct chi_eval_copy *to, const struct chi_eval_copy *from)
{
	*to = *from;
	to->eval.engine = to->engine;
	to->eval.pv = to->pv;
}

void chi_eval_set_add(struct chi_eval_set *set, const struct chi_eval_copy *copy)
{
	size_t least = 0;
	for (size_t i = 0; i < set->n; i++) {
		struct chi_eval_copy *other = &set->copies[i];
		if (chi_eval_compare(&other->eval, &copy->eval) == 0) {
			if (beats(copy, other)) {
				set_copy(other, copy);
			}
			return;
		}
		least = beats(&set->copies[least], other) ? i : least;
	}
	if (set->n < CHI_EVALS_MAX) {
		set_copy(&set->copies[set->n++], copy);
	} else if (beats(copy, &set->copies[least])) {
		set_copy(&set->copies[least], copy);
	}
}

static int compare_evals(const void *a, const void *b)
{
	return chi_eval_compare(a, b);
}

void chi_eval_set_sort(struct chi_eval_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		set->sorted[i] = set->copies[i].eval;
	}
	qsort(set->sorted, set->n, sizeof(set->sorted[0]), compare_evals);
}
