/* SPDX-License-Identifier: MIT */
/*
 * Verification under running writes. That the trees of a shard agree is found as in a directory:
 * the strength entries that the records call for, and those that are there, are summed up as
 * hashes. Only where the sums differ, by damage or by a write in between, entries are looked up one
 * by one, each with its other half in one operation, which no write comes between.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/record.h"
#include "rados/verify/mend.h"
#include "rados/walk.h"
#include "store/lmdb_err.h"
#include "store/record/examine.h"

struct tally {
	uint64_t wanted; /* strength entries that records call for, as a sum of hashes */
	uint64_t there;
	int64_t positions;
	int64_t known;
	int64_t games[4];
	uint64_t before; /* versions of its object */
	uint64_t after;
};

struct verify {
	struct chi_rados *rados;
	chi_verify_report *report;
	void *context;
	struct chi_verify_result *result;
	struct tally *tallies;
	struct chi_mend *mend; /* NULL: nothing is changed */
	struct chi_arena arena;
};

CHI_PRINTF(2, 3)
static void complain(struct verify *v, const char *format, ...)
{
	char text[CHI_FAULT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	v->result->errors++;
	if (v->report != NULL) {
		v->report(v->context, text);
	}
}

static const char *fen_of(const struct chi_key *key, char out[CHI_FEN_SIZE])
{
	return chi_key_name(key->bytes, key->len, out);
}

/* ---- Entries ----------------------------------------------------------------------------- */

/* The strength entry that a record calls for. */
static size_t line_of(const struct chi_record *record, uint8_t out[CHI_STRENGTH_VALUE_MAX])
{
	return chi_strength_value(record->line, record->n_line, out);
}

static uint64_t hash_of(const char *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum((const uint8_t *)key, key_len, value, len);
}

/* NULL: sound, and *record is filled, in memory of the arena. Negative: not known. */
static int examine(struct verify *v, const struct chi_key *key, const uint8_t *value, size_t len,
		   struct chi_record *record, const char **problem)
{
	size_t record_len = 0;
	const uint8_t *bytes = chi_omap_record(key, value, len, &record_len);
	if (bytes == NULL) {
		*problem = "its checksum is wrong";
		return CHI_OK;
	}
	const MDB_val k = chi_val(key->bytes, key->len);
	const MDB_val r = chi_val(bytes, record_len);
	int rc = chi_record_examine((enum chi_statistic)v->rados->head.statistic, &k, &r, &v->arena,
				    record, NULL, problem);
	return rc == -CHI_ECORRUPT ? CHI_OK : rc;
}

static bool in_shard(const struct verify *v, const uint8_t *bytes, size_t len, uint32_t shard)
{
	return chi_shard_of(bytes, len, v->rados->head.shards) == shard;
}

/* ---- Mending ----------------------------------------------------------------------------- */

static int remove_entry(struct verify *v, const struct chi_walk_entry *entry)
{
	if (v->mend == NULL) {
		return CHI_OK;
	}
	return chi_mend_remove(v->rados, entry->shard, entry->key, entry->key_len, entry->value,
			       entry->len);
}

/* With its strength entry, wherever in the tree that is. */
static int remove_position(struct verify *v, const struct chi_key *key)
{
	uint64_t removed = 0;
	int status = v->mend != NULL ? chi_rados_del(v->rados, key, 1, &removed) : CHI_OK;
	if (v->mend != NULL) {
		v->mend->lost += removed;
	}
	return status;
}

/* ---- The trees --------------------------------------------------------------------------- */

static int take_stored_position(void *context, const struct chi_walk_entry *entry)
{
	struct verify *v = context;
	struct tally *tally = &v->tallies[entry->shard];
	struct chi_key key;
	uint16_t chi2 = CHI_CHI2_UNKNOWN;
	struct chi_record record;
	const char *problem = NULL;
	char name[CHI_FEN_SIZE];
	tally->positions++;
	if (chi_omap_position(entry->key, entry->key_len, &chi2, &key) < 0) {
		complain(v, "shard %08" PRIx32 ": a key is no position", entry->shard);
		return remove_entry(v, entry);
	}
	int rc = examine(v, &key, entry->value, entry->len, &record, &problem);
	if (rc < 0) {
		return rc;
	}
	if (problem == NULL && !in_shard(v, key.bytes, key.len, entry->shard)) {
		problem = "it is in another shard than it belongs to";
	}
	if (problem != NULL) {
		complain(v, "position %s: %s", fen_of(&key, name), problem);
		return in_shard(v, key.bytes, key.len, entry->shard) ? remove_position(v, &key)
								     : remove_entry(v, entry);
	}
	v->result->positions++;
	if (record.chi2 != CHI_CHI2_UNKNOWN) {
		struct chi_omap_key strength;
		uint8_t line[CHI_STRENGTH_VALUE_MAX];
		size_t len = line_of(&record, line);
		chi_omap_strength(record.chi2, &key, &strength);
		tally->wanted += hash_of(strength.bytes, strength.len, line, len);
	}
	return CHI_OK;
}

static int take_strength(void *context, const struct chi_walk_entry *entry)
{
	struct verify *v = context;
	struct tally *tally = &v->tallies[entry->shard];
	struct chi_key key;
	uint16_t chi2;
	tally->known++;
	if (chi_omap_position(entry->key, entry->key_len, &chi2, &key) < 0) {
		complain(v, "shard %08" PRIx32 ": a key of the strength tree is none",
			 entry->shard);
		return remove_entry(v, entry);
	}
	v->result->known++;
	tally->there += hash_of(entry->key, entry->key_len, entry->value, entry->len);
	return CHI_OK;
}

static int take_stored_game(void *context, const struct chi_walk_entry *entry)
{
	struct verify *v = context;
	uint8_t id[CHI_GAME_ID_SIZE];
	struct chi_game_id game;
	size_t len = 0;
	int rc = chi_omap_bytes(entry->key, entry->key_len, id, sizeof(id), &len);
	rc = rc < 0 ? rc : chi_game_decode(id, len, entry->value, entry->len, &game);
	if (rc < 0 || !in_shard(v, id, len, entry->shard)) {
		complain(v, "shard %08" PRIx32 ": the entry of a game is damaged", entry->shard);
		return remove_entry(v, entry);
	}
	v->tallies[entry->shard].games[game.result & 3]++;
	return CHI_OK;
}

/* ---- Entry by entry ---------------------------------------------------------------------- */

struct value {
	bool there;
	const uint8_t *bytes;
	size_t len;
};

/* A position, and a statistic that it may have an entry of. */
struct doubt {
	struct chi_key key;
	uint16_t chi2;
	uint32_t shard;
	bool entry; /* listed was the entry, which is all that is in doubt; else the record */
};

/* The strength entry as the record has it: `len` bytes of `line`, or none. */
static int mend_strength(struct verify *v, const struct doubt *doubt, const struct value *position,
			 const struct value *strength, const uint8_t *line, size_t len)
{
	struct chi_omap_edit edits[2] = {{.guarded = true,
					  .old = position->bytes,
					  .old_len = position->there ? position->len : 0},
					 {.guarded = true,
					  .old = strength->bytes,
					  .old_len = strength->there ? strength->len : 0,
					  .what = line != NULL ? CHI_EDIT_SET : CHI_EDIT_REMOVE,
					  .value = line,
					  .len = len}};
	chi_omap_key_make(CHI_OMAP_POSITION, doubt->key.bytes, doubt->key.len, &edits[0].key);
	chi_omap_strength(doubt->chi2, &doubt->key, &edits[1].key);
	return v->mend != NULL ? chi_mend_edit(v->rados, doubt->shard, edits, 2) : CHI_OK;
}

/* Of a position and a strength entry of it that were read together: whether they agree. */
static int judge(struct verify *v, const struct doubt *doubt, const struct value *position,
		 const struct value *strength)
{
	const struct chi_key *key = &doubt->key;
	struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN};
	const char *problem = NULL;
	char name[CHI_FEN_SIZE];
	int rc = position->there
			 ? examine(v, key, position->bytes, position->len, &record, &problem)
			 : CHI_OK;
	/* Damaged records were reported. */
	if (rc < 0 || problem != NULL) {
		return rc;
	}
	bool wanted = position->there && record.chi2 == doubt->chi2;
	uint8_t line[CHI_STRENGTH_VALUE_MAX];
	size_t len = line_of(&record, line);
	if (strength->there && !wanted) {
		complain(v, "strength entry %s: %s", fen_of(key, name),
			 position->there ? "the record has another statistic"
					 : "there is no such position");
		return mend_strength(v, doubt, position, strength, NULL, 0);
	}
	if (doubt->entry) {
		return CHI_OK;
	}
	if (!strength->there && wanted) {
		complain(v, "position %s: its strength entry is missing", fen_of(key, name));
		return mend_strength(v, doubt, position, strength, line, len);
	}
	if (wanted && (len != strength->len || memcmp(line, strength->bytes, len) != 0)) {
		complain(v, "position %s: its strength entry has another line", fen_of(key, name));
		return mend_strength(v, doubt, position, strength, line, len);
	}
	return CHI_OK;
}

static int answer_doubt(struct verify *v, const struct doubt *doubt, struct chi_object_op *op)
{
	struct value found[2] = {{.there = false}, {.there = false}};
	struct chi_omap_entry entry;
	int status = chi_object_stamp(v->rados, op, NULL);
	while (status == CHI_OK && chi_object_next(op->values, &entry)) {
		found[entry.key[0] == CHI_OMAP_STRENGTH] =
			(struct value){.there = true, .bytes = entry.value, .len = entry.len};
	}
	return status == CHI_OK ? judge(v, doubt, &found[0], &found[1]) : status;
}

/* Each position and its strength entry, read in one operation. */
static int look_up(struct verify *v, const struct doubt *doubts, size_t n)
{
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(n, sizeof(*ops));
	int status = ops != NULL || n == 0 ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_omap_key keys[3] = {chi_stamp_key};
		chi_omap_key_make(CHI_OMAP_POSITION, doubts[i].key.bytes, doubts[i].key.len,
				  &keys[1]);
		chi_omap_strength(doubts[i].chi2, &doubts[i].key, &keys[2]);
		chi_object_of_shard(v->rados, doubts[i].shard, &ops[i]);
		status = chi_object_get(&ops[i], keys, 3);
	}
	status = status == CHI_OK ? chi_objects_run(v->rados, ops, n) : status;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = answer_doubt(v, &doubts[i], &ops[i]);
	}
	if (ops != NULL) {
		chi_objects_end(ops, n);
	}
	return status;
}

/* What is to be looked up of a listed entry; false: nothing, or it was reported. */
static bool make_doubt(const struct chi_omap_entry *entry, uint32_t shard, struct doubt *out)
{
	struct chi_counts counts;
	size_t len = 0;
	if (chi_omap_position(entry->key, entry->key_len, &out->chi2, &out->key) < 0) {
		return false;
	}
	out->shard = shard;
	out->entry = entry->key[0] == CHI_OMAP_STRENGTH;
	if (!out->entry) {
		const uint8_t *record = chi_omap_record(&out->key, entry->value, entry->len, &len);
		if (record == NULL || chi_record_peek(record, len, &out->chi2, &counts) < 0) {
			return false;
		}
	}
	return out->chi2 != CHI_CHI2_UNKNOWN;
}

/* A listing of a tree of the shard, from *after on, which is moved. */
static int list_some(struct verify *v, uint32_t shard, enum chi_omap_tree tree,
		     struct chi_omap_key *after, struct doubt *doubts, size_t *n, bool *more)
{
	struct chi_object_op op = {.rc = 0};
	struct chi_omap_entry entry;
	int status = chi_shard_list(v->rados, shard, tree, after->bytes, &op);
	*n = 0;
	*more = op.more != 0;
	while (status == CHI_OK) {
		status = chi_object_listed(v->rados, &op, after, &entry);
		*n += status == CHI_OK && make_doubt(&entry, shard, &doubts[*n]);
	}
	chi_objects_end(&op, 1);
	return status == CHI_NONE ? CHI_OK : status;
}

static int doubt_shard(struct verify *v, uint32_t shard)
{
	static const enum chi_omap_tree trees[] = {CHI_OMAP_POSITION, CHI_OMAP_STRENGTH};
	_cleanup_(chi_freep) struct doubt *doubts = calloc(CHI_LISTED, sizeof(*doubts));
	int status = doubts != NULL ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; i < CHI_COUNT(trees); i++) {
		struct chi_omap_key after = {.len = 0};
		bool more = true;
		while (status == CHI_OK && more) {
			size_t n = 0;
			status = list_some(v, shard, trees[i], &after, doubts, &n, &more);
			status = status == CHI_OK ? look_up(v, doubts, n) : status;
		}
	}
	return status;
}

/* ---- Shards ------------------------------------------------------------------------------ */

/* The stamps, before and after the walks. */
static int take_before(struct chi_rados *rados, void *context, uint32_t shard,
		       struct chi_object_op *op)
{
	struct verify *v = context;
	struct chi_counts base;
	int status = chi_object_stamp(rados, op, &base);
	v->tallies[shard].before = op->version;
	if (status == CHI_OK && !chi_counts_equal(&base, &rados->head.base)) {
		complain(v, "shard %08" PRIx32 ": other base rates than the head's; rescore",
			 shard);
	}
	return status;
}

static int take_after(struct chi_rados *rados, void *context, uint32_t shard,
		      struct chi_object_op *op)
{
	struct verify *v = context;
	v->tallies[shard].after = op->version;
	return chi_object_stamp(rados, op, NULL);
}

/* The counters of a shard that was not written meanwhile, since it had that version. */
static int check_counters(struct verify *v, uint32_t shard)
{
	const struct tally *tally = &v->tallies[shard];
	struct chi_shard_client sum = {.sequence = 0};
	struct chi_shard_client missing = {.sequence = 0};
	bool differ = false;
	int status = chi_rados_sum_shard(v->rados, shard, &sum);
	if (status != CHI_OK) {
		return status;
	}
	missing.positions = tally->positions - sum.positions;
	missing.known = tally->known - sum.known;
	if (missing.positions != 0 || missing.known != 0) {
		complain(v,
			 "shard %08" PRIx32 ": its counters say %" PRId64 " positions, %" PRId64
			 " known; there are %" PRId64 " and %" PRId64,
			 shard, sum.positions, sum.known, tally->positions, tally->known);
		differ = true;
	}
	if (memcmp(sum.games, tally->games, sizeof(sum.games)) != 0) {
		complain(v, "shard %08" PRIx32 ": its counters of games are wrong", shard);
		differ = true;
	}
	if (!differ || v->mend == NULL) {
		return CHI_OK;
	}
	v->mend->lost += missing.positions < 0 ? (uint64_t)-missing.positions : 0;
	for (unsigned i = 0; i < 4; i++) {
		missing.games[i] = tally->games[i] - sum.games[i];
		v->mend->lost += missing.games[i] < 0 ? (uint64_t)-missing.games[i] : 0;
	}
	return chi_mend_counters(v->rados, shard, tally->after, &missing);
}

static int verify(struct verify *v)
{
	struct chi_rados *rados = v->rados;
	uint32_t shards = rados->head.shards;
	int status = chi_shards_run(rados, shards, chi_shard_ask_stamp, take_before, v);
	status = status == CHI_OK ? chi_walk_tree(rados, CHI_OMAP_POSITION, take_stored_position, v)
				  : status;
	status = status == CHI_OK ? chi_walk_tree(rados, CHI_OMAP_STRENGTH, take_strength, v)
				  : status;
	status = status == CHI_OK ? chi_walk_tree(rados, CHI_OMAP_GAME, take_stored_game, v)
				  : status;
	for (uint32_t i = 0; status == CHI_OK && i < shards; i++) {
		if (v->tallies[i].wanted != v->tallies[i].there) {
			status = doubt_shard(v, i);
		}
	}
	/* Counters are read before it is known that nothing was written until then. */
	status = status == CHI_OK
			 ? chi_shards_run(rados, shards, chi_shard_ask_stamp, take_after, v)
			 : status;
	for (uint32_t i = 0; status == CHI_OK && i < shards; i++) {
		if (v->tallies[i].before == v->tallies[i].after) {
			status = check_counters(v, i);
		}
	}
	return status;
}

int chi_verify_pass(struct chi_rados *rados, struct chi_mend *mend, chi_verify_report *report,
		    void *context, struct chi_verify_result *result, uint64_t *games)
{
	int status = chi_rados_refresh(rados);
	if (status < 0) {
		return status;
	}
	uint32_t shards = rados->head.shards;
	_cleanup_(chi_freep) struct tally *tallies = calloc(shards, sizeof(*tallies));
	struct verify v = {.rados = rados,
			   .report = report,
			   .context = context,
			   .result = result,
			   .tallies = tallies,
			   .mend = mend};
	if (tallies == NULL) {
		return -CHI_ENOMEM;
	}
	chi_arena_init(&v.arena, CHI_RECORD_ARENA);
	status = verify(&v);
	chi_arena_deinit(&v.arena);
	*games = 0;
	for (uint32_t i = 0; i < shards; i++) {
		for (unsigned j = 0; j < 4; j++) {
			*games += (uint64_t)tallies[i].games[j];
		}
	}
	return status == CHI_OK && result->errors > 0 ? -CHI_ECORRUPT : status;
}

int chi_rados_verify(struct chi_rados *rados, chi_verify_report *report, void *context,
		     struct chi_verify_result *result)
{
	uint64_t games;
	return chi_verify_pass(rados, NULL, report, context, result, &games);
}
