/* SPDX-License-Identifier: MIT */
/*
 * A file in memory and the walk over it. Entries are sorted by their reduced key, which is the same
 * for all counters of plies, and then by the key. So most positions that are asked for cost one bit
 * of a filter, and one that is found is looked up with each counter. Each key is queued at most
 * once, so the queue is never longer than the file.
 */
#include "formats/evals/exp.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/polyglot/polyglot.h"
#include "formats/evals/stockfish.h"
#include "formats/hash_walk.h"
#include "formats/source.h"

static const char version_1[] = "SugaR";
static const char version_2[] = "SugaR Experience version 2";
static const char any_version[] = "SugaR Experience version ";
static const char version_3[] = "Experience version 3";

struct entry {
	uint64_t reduced;
	uint64_t key;
	int16_t value; /* NO_VALUE: none */
	uint16_t depth;
	uint16_t move;
	uint16_t reached; /* of the first with its key */
};
_Static_assert(sizeof(struct entry) == CHI_EXP_ENTRY, "they take the place of the file's bytes");

#define NO_VALUE INT16_MAX

/* Bytes of another version's name that are repeated, at most. */
#define VERSION_SHOWN 28

/* The lines of the position that is visited. */
struct lines {
	size_t n;
	struct chi_eval evals[CHI_EXP_LINES + 1];
	int16_t values[CHI_EXP_LINES + 1];
	chi_move moves[CHI_EXP_LINES + 1];
	struct chi_hash_moves played;
};

struct chi_exp {
	struct chi_hash_walk
		walk; /* places are keys in the file, without a counter; hashes reduced */
	struct chi_sf_keys keys;
	uint8_t *bytes;
	struct entry *entries; /* the same memory */
	size_t n;
	struct lines lines;
	struct chi_exp_result result;
};

static void exp_freep(struct chi_exp **exp)
{
	chi_exp_close(*exp);
}

void chi_exp_close(struct chi_exp *exp)
{
	if (exp == NULL) {
		return;
	}
	chi_hash_walk_deinit(&exp->walk);
	free(exp->bytes);
	free(exp);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static bool bytes_begin(const uint8_t *bytes, size_t len, const char *text)
{
	size_t n = strlen(text);
	return len >= n && memcmp(bytes, text, n) == 0;
}

static uint64_t take64(const uint8_t *at)
{
	uint64_t number;
	memcpy(&number, at, sizeof(number));
	return le64toh(number);
}

static uint32_t take32(const uint8_t *at)
{
	uint32_t number;
	memcpy(&number, at, sizeof(number));
	return le32toh(number);
}

/* Some engines put a header of their own after the text of version 2: one byte for it, a seed, and
 * then numbers of 4 bytes, the second of them how long an entry is; or zeros up to 32 bytes. */
static bool has_header(const uint8_t *bytes, size_t len)
{
	static const uint8_t zeros[6];
	const uint8_t *after = bytes + strlen(version_2);
	size_t left = len - strlen(version_2);
	return (left >= 17 && after[0] == 2 && take32(after + 13) == 34) ||
	       (left >= sizeof(zeros) && memcmp(after, zeros, sizeof(zeros)) == 0);
}

/* Bytes before the first entry. */
static int find_version(const uint8_t *bytes, size_t len, size_t *start, struct chi_fault *fault)
{
	if (bytes_begin(bytes, len, version_2) && !has_header(bytes, len)) {
		*start = strlen(version_2);
	} else if (bytes_begin(bytes, len, version_2)) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"'%s' with a header after it: only entries of %d bytes that follow "
				"at once are read",
				version_2, CHI_EXP_ENTRY);
	} else if (bytes_begin(bytes, len, any_version) || bytes_begin(bytes, len, version_3)) {
		char shown[VERSION_SHOWN + 1];
		size_t n = 0;
		while (n < len && n < VERSION_SHOWN && bytes[n] >= ' ' && bytes[n] <= '~') {
			shown[n] = (char)bytes[n];
			n++;
		}
		shown[n] = '\0';
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"'%s' is not read; BrainLearn's files are, '%s' and '%s'", shown,
				version_1, version_2);
	} else {
		bool first = bytes_begin(bytes, len, version_1) &&
			     (len - strlen(version_1)) % CHI_EXP_ENTRY == 0;
		*start = first ? strlen(version_1) : 0;
	}
	if (len == *start) {
		return chi_fail(fault, -CHI_ESYNTAX, "there is no entry");
	}
	if ((len - *start) % CHI_EXP_ENTRY != 0) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"entries have %d bytes, and the last one %zu: this is no .exp "
				"file, or it was cut short",
				CHI_EXP_ENTRY, (len - *start) % CHI_EXP_ENTRY);
	}
	return CHI_OK;
}

static struct entry unpack(const struct chi_exp *exp, const uint8_t *at, bool sugar)
{
	uint64_t key = take64(at);
	int32_t value = (int32_t)take32(at + 12);
	int32_t depth = (int32_t)take32(at + (sugar ? 16 : 8));
	bool scored = depth > 0 && depth <= UINT16_MAX && value > -NO_VALUE && value < NO_VALUE;
	return (struct entry){
		.reduced = chi_sf_reduce(&exp->keys, key),
		.key = key,
		.value = scored ? (int16_t)value : NO_VALUE,
		.depth = scored ? (uint16_t)depth : 0,
		.move = (uint16_t)take32(at + (sugar ? 8 : 16)),
	};
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->reduced != b->reduced) {
		return a->reduced < b->reduced ? -1 : 1;
	}
	return (a->key > b->key) - (a->key < b->key);
}

/* Entries begin at the memory's start, so that they take the place of bytes already read. */
static void make_entries(struct chi_exp *exp, bool sugar)
{
	exp->entries = (struct entry *)(void *)exp->bytes;
	for (size_t i = 0; i < exp->n; i++) {
		struct entry entry = unpack(exp, exp->bytes + i * CHI_EXP_ENTRY, sugar);
		memcpy(exp->bytes + i * CHI_EXP_ENTRY, &entry, sizeof(entry));
	}
	qsort(exp->entries, exp->n, sizeof(*exp->entries), compare_entries);
}

/* ---- The walk ---------------------------------------------------------------------------- */

/* The first entry of a key; n if there is none. */
static size_t find_entry(const struct chi_exp *exp, uint64_t reduced, uint64_t key)
{
	const struct entry wanted = {.reduced = reduced, .key = key};
	size_t low = 0;
	size_t high = exp->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_entries(&exp->entries[middle], &wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < exp->n && exp->entries[low].key == key ? low : exp->n;
}

/* CHI_NONE: the file has no entry for the position with that key, whatever the counter. */
static int enqueue_key(struct chi_exp *exp, const struct chi_position *position, uint64_t theirs)
{
	uint64_t reduced = chi_sf_reduce(&exp->keys, theirs);
	bool found = false;
	bool fresh = false;
	if (!chi_hash_walk_may(&exp->walk, reduced)) {
		return CHI_NONE;
	}
	for (size_t i = 0; i < CHI_SF_CLOCKS; i++) {
		size_t at = find_entry(exp, reduced, theirs ^ exp->keys.clock[i]);
		if (at < exp->n) {
			found = true;
			fresh = fresh || exp->entries[at].reached == 0;
			exp->entries[at].reached = 1;
		}
	}
	return fresh ? chi_hash_walk_push(&exp->walk, position, theirs) : found ? CHI_OK : CHI_NONE;
}

/* With the en passant square as engines count it, and as our positions have it, from which export
 * makes files. */
static int look_up_exp(struct chi_hash_walk *walk, const struct chi_position *position, int ep)
{
	struct chi_exp *exp = (struct chi_exp *)walk;
	uint64_t theirs = chi_sf_key(&exp->keys, position, ep);
	int status = enqueue_key(exp, position, theirs);
	if (ep == position->ep || status < 0) {
		return status;
	}
	uint64_t ours = chi_sf_key(&exp->keys, position, position->ep);
	int other = ours != theirs ? enqueue_key(exp, position, ours) : CHI_NONE;
	return other != CHI_NONE ? other : status;
}

int chi_exp_root(struct chi_exp *exp, const struct chi_position *position)
{
	return chi_hash_walk_root(&exp->walk, position);
}

/* Where an evaluation belongs; false: before it there is one of its move. */
static bool find_place(const struct lines *lines, chi_move move, uint32_t depth, int16_t value,
		       size_t *at)
{
	for (*at = 0; *at < lines->n; ++*at) {
		uint32_t other = lines->evals[*at].depth;
		if (depth > other || (depth == other && value > lines->values[*at])) {
			return true;
		}
		if (lines->moves[*at] == move) {
			return false;
		}
	}
	return true;
}

/* False: of this move, or of too many others, there is a better one, or it takes one's place. */
static bool add_line(struct lines *lines, chi_move move, const struct chi_eval *eval, int16_t value)
{
	size_t at = 0;
	if (!find_place(lines, move, eval->depth, value, &at)) {
		return false;
	}
	size_t end = at;
	while (end < lines->n && lines->moves[end] != move) {
		end++;
	}
	bool replaces = end < lines->n;
	memmove(lines->evals + at + 1, lines->evals + at, (end - at) * sizeof(*eval));
	memmove(lines->moves + at + 1, lines->moves + at, (end - at) * sizeof(move));
	memmove(lines->values + at + 1, lines->values + at, (end - at) * sizeof(value));
	lines->evals[at] = *eval;
	lines->moves[at] = move;
	lines->values[at] = value;
	lines->n += !replaces && lines->n < CHI_EXP_LINES;
	return !replaces && end < CHI_EXP_LINES;
}

static void take_exp_entry(struct chi_exp *exp, const struct chi_position *position,
			   const struct entry *entry)
{
	struct chi_eval eval = {.depth = entry->depth};
	chi_move move = 0;
	if (chi_sf_move(position, entry->move, &move) != CHI_OK) {
		exp->result.illegal++;
		return;
	}
	chi_hash_moves_add(&exp->lines.played, move);
	bool scored =
		entry->value != NO_VALUE && chi_sf_score(position, entry->value, &eval) == CHI_OK;
	/* Who has a move is not mated yet. */
	if (!scored || (eval.is_mate && eval.score == 0)) {
		exp->result.unscored++;
	} else if (!add_line(&exp->lines, move, &eval, entry->value)) {
		exp->result.repeated++;
	}
}

/* One position: its lines, and what all its legal moves lead to. */
static int visit_one(struct chi_hash_walk *walk, const struct chi_hashed *hashed,
		     const struct chi_position *position, chi_hashed_take *take, void *context)
{
	struct chi_exp *exp = (struct chi_exp *)walk;
	struct lines *lines = &exp->lines;
	uint64_t reduced = chi_sf_reduce(&exp->keys, hashed->place);
	lines->n = 0;
	lines->played.n = 0;
	for (size_t k = 0; k < CHI_SF_CLOCKS; k++) {
		uint64_t key = hashed->place ^ exp->keys.clock[k];
		for (size_t i = find_entry(exp, reduced, key);
		     i < exp->n && exp->entries[i].key == key; i++) {
			take_exp_entry(exp, position, &exp->entries[i]);
		}
	}
	int status = chi_hash_walk_expand(walk, position, &lines->played);
	if (status != CHI_OK || lines->n == 0) {
		return status;
	}
	for (size_t i = 0; i < lines->n; i++) {
		lines->evals[i].rank = (uint8_t)i;
		lines->evals[i].pv = &lines->moves[i];
		lines->evals[i].n_pv = 1;
	}
	exp->result.positions++;
	exp->result.lines += lines->n;
	const struct chi_put_entry put = {.key = hashed->key,
					  .parts = CHI_PUT_EVALS,
					  .record = {.evals = lines->evals, .n_evals = lines->n}};
	return take(context, &put);
}

/* ---- Files ------------------------------------------------------------------------------- */

int chi_exp_take(uint8_t *bytes, size_t len, struct chi_exp **out, struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(exp_freep) struct chi_exp *exp = calloc(1, sizeof(*exp));
	size_t start = 0;
	if (exp == NULL) {
		free(bytes);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	exp->bytes = bytes;
	int status = find_version(bytes, len, &start, fault);
	if (status != CHI_OK) {
		return status;
	}
	exp->n = (len - start) / CHI_EXP_ENTRY;
	memmove(bytes, bytes + start, len - start);
	chi_sf_keys_init(&exp->keys);
	make_entries(exp, start > 0);
	exp->walk.look = look_up_exp;
	exp->walk.visit = visit_one;
	if (chi_hash_walk_init(&exp->walk, exp->n) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < exp->n; i++) {
		chi_hash_walk_note(&exp->walk, exp->entries[i].reduced);
	}
	*out = exp;
	exp = NULL;
	return CHI_OK;
}

int chi_exp_open(const char *path, struct chi_exp **out, struct chi_fault *fault)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	*out = NULL;
	int status = chi_source_whole(path, "a file of experience", &bytes, &len, fault);
	return status == CHI_OK ? chi_exp_take(bytes, len, out, fault) : status;
}

static void count_unplaced(struct chi_exp *exp)
{
	bool reached = false;
	for (size_t i = 0; i < exp->n; i++) {
		if (i == 0 || exp->entries[i].key != exp->entries[i - 1].key) {
			reached = exp->entries[i].reached != 0;
		}
		exp->result.unplaced += !reached;
	}
}

int chi_exp_walk(struct chi_exp *exp, chi_hashed_take *take, void *context,
		 const volatile sig_atomic_t *cancel, struct chi_exp_result *result)
{
	exp->result = (struct chi_exp_result){.entries = exp->n};
	int status = chi_hash_walk_run(&exp->walk, take, context, cancel);
	count_unplaced(exp);
	*result = exp->result;
	return status;
}

/* ---- Writing ----------------------------------------------------------------------------- */

void chi_exp_pack(const struct chi_sf_keys *keys, const struct chi_position *position,
		  const struct chi_eval *eval, uint8_t out[CHI_EXP_ENTRY])
{
	int32_t value = chi_sf_value(position, eval);
	uint64_t key = htole64(chi_sf_key(keys, position, position->ep));
	const uint32_t rest[4] = {
		htole32(eval->depth),
		htole32((uint32_t)value),
		htole32(chi_sf_bits(position, eval->pv[0])),
		htole32((uint32_t)chi_sf_percent(position, value)),
	};
	memcpy(out, &key, sizeof(key));
	memcpy(out + sizeof(key), rest, sizeof(rest));
}
