/* SPDX-License-Identifier: MIT */
/* Everything about a record follows from the numbers of its key and of the step that put it. */
#include "tests/faults/model.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/importer.h"
#include "store/load/load.h"
#include "tests/faults/aliases.h"
#include "tests/store/help.h"

/* Most records that one step of batches changes. */
#define BATCH 9

/* Most records of a step of loads: all of them together are no more than there are keys. */
#define LOADED 3

/* Bytes for sorting. */
#define MEMORY (UINT64_C(1) << 20)

/* Decoding one record of this model. */
#define ARENA (1u << 20)

/* Whether a step, the first of which have nothing to delete, is one of deletions. */
static bool deletes(enum model_mix mix, unsigned step)
{
	return mix == MODEL_DELETES && step > 4 && help_below(2) == 0;
}

/* Positions that have no record so far, while there are any. */
static void plan_load(struct disk_model *model, unsigned step)
{
	uint8_t *now = model->version[step];
	unsigned changes = 1 + help_below(LOADED);
	for (unsigned i = 0, left = MODEL_KEYS; i < changes && left > 0; left--) {
		unsigned k = help_below(MODEL_KEYS);
		if (now[k] == 0) {
			now[k] = (uint8_t)step;
			i++;
		}
	}
}

void model_plan(struct disk_model *model, enum model_mix mix, unsigned n)
{
	memset(model, 0, sizeof(*model));
	model->games = mix == MODEL_GAMES;
	model->aliases = mix == MODEL_ALIASES;
	help_keys(model->keys, MODEL_KEYS);
	model->n = n;
	for (unsigned step = 1; step <= n; step++) {
		uint8_t *now = model->version[step];
		memcpy(now, model->version[step - 1], MODEL_KEYS);
		if (mix == MODEL_LOADS) {
			plan_load(model, step);
			continue;
		}
		bool away = deletes(mix, step);
		unsigned changes = mix == MODEL_SMALL ? 1 : 1 + help_below(BATCH);
		for (unsigned i = 0; i < changes; i++) {
			unsigned k = help_below(MODEL_KEYS);
			now[k] = away ? 0 : (uint8_t)step;
		}
		/* Every step changes something, or there would be no transaction. */
		if (memcmp(now, model->version[step - 1], MODEL_KEYS) == 0) {
			now[help_below(MODEL_KEYS)] = (uint8_t)step;
		}
	}
}

struct chi_put_entry model_put(const struct disk_model *model, unsigned step, unsigned k,
			       char note[MODEL_NOTE])
{
	unsigned version = model->version[step][k];
	/* Every sixth position has a note that does not fit into a page. */
	size_t len = k % 6 == 0 ? 3000 + version * 977 % 6000 : version * 13 % 60;
	memset(note, 'a' + (int)((k + version) % 26), len);
	struct chi_put_entry put = {.key = model->keys[k],
				    .parts = CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_NOTE};
	/* Every fifth has no statistic, and so is not in the strength tree. */
	put.record.chi2 = k % 5 == 0 ? CHI_CHI2_UNKNOWN
				     : (uint16_t)(1 + (k * 7919 + version * 10473) % CHI_CHI2_MAX);
	put.record.counts.white = version;
	put.record.counts.draws = k;
	put.record.note = note;
	put.record.n_note = len;
	return put;
}

static int change(const struct disk_model *model, struct chi_write *write, unsigned step)
{
	char note[MODEL_NOTE];
	int rc = CHI_OK;
	for (unsigned i = 0; i < MODEL_KEYS && rc == CHI_OK; i++) {
		unsigned k = model->backwards ? MODEL_KEYS - 1 - i : i;
		if (model->version[step][k] == model->version[step - 1][k]) {
			continue;
		}
		if (model->version[step][k] == 0) {
			rc = chi_write_delete(write, &model->keys[k]);
			rc = rc == CHI_NONE ? -CHI_EINTERNAL : rc;
		} else {
			struct chi_put_result result = {0};
			struct chi_put_entry put = model_put(model, step, k, note);
			rc = chi_write_put(write, &put, &result);
		}
	}
	return rc;
}

/* The mark of a step. The last few may come again. */
static struct chi_idempotency_key mark_of(unsigned step)
{
	struct chi_idempotency_key idempotency_key = {.sequence = step,
						      .unanswered = step > 4 ? step - 4 : 1};
	memset(idempotency_key.client, 0x5c, sizeof(idempotency_key.client));
	return idempotency_key;
}

/* CHI_OK: the step was done before, and answered as it must have been; CHI_NONE: it was not. */
static int known(struct chi_write *write, unsigned step, struct chi_fault *why)
{
	struct chi_idempotency_key idempotency_key = mark_of(step);
	struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_PUT};
	int rc = chi_write_known(write, &idempotency_key, CHI_IDEMPOTENCY_PUT, &outcome, why);
	if (rc == CHI_OK && outcome.counts[0] != step) {
		return chi_fail(why, -CHI_EINTERNAL, "step %u was answered as step %d", step,
				(int)outcome.counts[0]);
	}
	return rc;
}

static int change_marked(const struct disk_model *model, struct chi_write *write, unsigned step,
			 struct chi_fault *why)
{
	struct chi_idempotency_key idempotency_key = mark_of(step);
	struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_PUT, .counts = {step}};
	int rc = known(write, step, why);
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = change(model, write, step);
	return rc < 0 ? rc : chi_write_note(write, &idempotency_key, &outcome);
}

/* ---- Games ------------------------------------------------------------------------------- */

/* Of a step that adds some. Every fourth takes those of the step before out again. */
#define STEP_GAMES 3

static bool takes_out(unsigned step)
{
	return step % 4 == 0;
}

/* How many there are after a step: enough for lists in the postings tree, and not always. */
static unsigned games_after(unsigned step)
{
	unsigned n = 0;
	for (unsigned i = 1; i <= step; i++) {
		n = takes_out(i) ? n - STEP_GAMES : n + STEP_GAMES;
	}
	return n;
}

/* Games that begin alike and go on in their own ways. */
static void write_games(unsigned step, char *text, size_t size)
{
	static const char *const moves[] = {"e4 e5 2. Nf3 {again} Nc6", "d4 (1. c4 e5) d5 2. c4 e6",
					    "Nf3 Nf6 2. Ng1 Ng8 3. a4 a5", "e4 c5 2. Nf3 d6"};
	size_t at = 0;
	for (unsigned i = 0; i < STEP_GAMES; i++) {
		at += (size_t)snprintf(text + at, size - at,
				       "[Event \"E%u\"]\n[White \"W%u\"]\n[Black \"B%u\"]\n"
				       "[Date \"20%02u.??.??\"]\n[Result \"1-0\"]\n\n1. %s 1-0\n\n",
				       step / 5, step % 7, i, step, moves[(step + i) % 4]);
	}
}

static int step_games(struct chi_dir *store, unsigned step, struct chi_fault *why)
{
	const struct chi_importer_target target = {.store = store};
	const struct chi_import_options options = {
		CHI_IMPORT_OPTIONS_INIT,
		.kind = takes_out(step) ? CHI_IMPORT_SUBTRACT : CHI_IMPORT_ADD,
		.memory = CHI_IMPORT_MEMORY_MIN,
		.threads = 1,
	};
	struct chi_importer *importer;
	struct chi_import_result result;
	char text[1024];
	write_games(takes_out(step) ? step - 1 : step, text, sizeof(text));
	int rc = chi_importer_begin(&target, &options, &importer, why);
	if (rc < 0) {
		return rc;
	}
	rc = chi_importer_file(importer, "games.pgn", why);
	rc = rc == CHI_OK ? chi_importer_feed(importer, text, strlen(text), why) : rc;
	rc = rc == CHI_OK ? chi_importer_commit(importer, &result, why) : rc;
	chi_importer_free(importer);
	if (rc == CHI_OK && result.taken != STEP_GAMES) {
		return chi_fail(why, -CHI_EINTERNAL, "step %u took %d games", step,
				(int)result.taken);
	}
	return rc;
}

int model_step(const struct disk_model *model, struct chi_dir *store, unsigned step,
	       struct chi_fault *why)
{
	struct chi_write *write;
	if (model->games || model->aliases) {
		return model->games ? step_games(store, step, why) : aliases_step(store, step, why);
	}
	int rc = chi_write_begin(store, &write, why);
	if (rc < 0) {
		return rc;
	}
	rc = model->marked ? change_marked(model, write, step, why) : change(model, write, step);
	if (rc < 0) {
		chi_write_abort(write);
		return chi_fault_plain(why, rc);
	}
	return chi_write_commit(write, why);
}

/* One game, then the positions by ascending key. */
static int feed(const struct disk_model *model, struct chi_load *load, unsigned step,
		struct chi_fault *why)
{
	char note[MODEL_NOTE];
	struct chi_load_spec spec;
	struct chi_load_block block = {0};
	const struct chi_key *last = NULL;
	struct chi_game_id game = {.id = {(uint8_t)(step * 37), (uint8_t)step}};
	int rc = chi_load_game(load, &game);
	if (rc == CHI_OK) {
		rc = chi_load_start(load,
				    &(struct chi_load_options){
					    /* Every other load rewrites the trees. */
					    .expected = step % 2 == 0 ? 0 : 1000000,
					    .memory = MEMORY,
					    .dir = help_path("."),
				    },
				    &spec, why);
	}
	while (rc == CHI_OK) {
		unsigned least = MODEL_KEYS;
		for (unsigned k = 0; k < MODEL_KEYS; k++) {
			const struct chi_key *key = &model->keys[k];
			bool wanted = model->version[step][k] != model->version[step - 1][k] &&
				      (last == NULL || help_key_compare(last, key) < 0);
			if (wanted && (least == MODEL_KEYS ||
				       help_key_compare(key, &model->keys[least]) < 0)) {
				least = k;
			}
		}
		if (least == MODEL_KEYS) {
			break;
		}
		struct chi_put_entry put = model_put(model, step, least, note);
		last = &model->keys[least];
		rc = chi_load_pack(&spec, last, &put.record, NULL, 0, &block);
	}
	rc = rc == CHI_OK ? chi_load_apply(load, &block, why) : rc;
	chi_load_block_free(&block);
	return rc;
}

int model_load(const struct disk_model *model, struct chi_dir *store, const char *path,
	       unsigned step, struct chi_fault *why)
{
	struct chi_load *load;
	struct chi_put_result result = {0};
	uint64_t dropped = 0;
	int rc = store != NULL
			 ? chi_load_into(store, &load, why)
			 : chi_load_new(path, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &load, why);
	if (rc < 0) {
		return rc;
	}
	rc = feed(model, load, step, why);
	if (rc < 0) {
		chi_load_abandon(load);
		return rc;
	}
	return chi_load_finish(load, &result, &dropped, why);
}

/* ---- Checking ---------------------------------------------------------------------------- */

static bool same(const struct chi_record *a, const struct chi_record *b)
{
	return a->chi2 == b->chi2 && a->counts.white == b->counts.white &&
	       a->counts.draws == b->counts.draws && a->n_note == b->n_note &&
	       (a->n_note == 0 || memcmp(a->note, b->note, a->n_note) == 0);
}

static bool check_records(const struct disk_model *model, struct chi_read *read, unsigned step,
			  struct chi_arena *arena, struct chi_fault *why)
{
	char note[MODEL_NOTE];
	for (unsigned k = 0; k < MODEL_KEYS; k++) {
		struct chi_record record = {0};
		chi_arena_reset(arena);
		int rc = chi_read_record(read, &model->keys[k], arena, &record);
		if (rc != (model->version[step][k] != 0 ? CHI_OK : CHI_NONE)) {
			(void)chi_fail(why, rc, "after step %u position %u: status %d", step, k,
				       rc);
			return false;
		}
		struct chi_put_entry put = model_put(model, step, k, note);
		if (rc == CHI_OK && !same(&record, &put.record)) {
			(void)chi_fail(why, rc, "after step %u position %u is another", step, k);
			return false;
		}
	}
	return true;
}

static void keep_report(void *context, const char *text)
{
	(void)chi_fail(context, -CHI_ECORRUPT, "verify: %.200s", text);
}

/* So many games; that all trees agree on which these are was verified. */
static bool check_games(struct chi_dir *store, unsigned step, struct chi_fault *why)
{
	struct chi_info info;
	int rc = chi_dir_info(store, &info);
	if (rc < 0 || info.games.white != games_after(step)) {
		(void)chi_fail(why, rc, "after step %u there are %d games", step,
			       (int)info.games.white);
		return false;
	}
	return true;
}

/* Nothing but what the model says: sound trees, so many positions, these records. */
static bool check_content(const struct disk_model *model, struct chi_dir *store, unsigned step,
			  struct chi_fault *why)
{
	struct chi_verify_result result = {0};
	if (model->aliases) {
		return aliases_hold(store, step, why);
	}
	int rc = chi_dir_verify(store, keep_report, why, &result);
	if (rc < 0 || result.errors > 0) {
		return false;
	}
	if (model->games) {
		return check_games(store, step, why);
	}
	uint64_t positions = 0;
	uint64_t known = 0;
	for (unsigned k = 0; k < MODEL_KEYS; k++) {
		positions += model->version[step][k] != 0;
		known += model->version[step][k] != 0 && k % 5 != 0;
	}
	if (result.positions != positions || result.known != known) {
		(void)chi_fail(why, -CHI_ECORRUPT, "after step %u the trees hold %d and %d", step,
			       (int)result.positions, (int)result.known);
		return false;
	}
	struct chi_read *read;
	rc = chi_read_begin(store, &read);
	if (rc < 0) {
		(void)chi_fault_plain(why, rc);
		return false;
	}
	struct chi_arena arena;
	chi_arena_init(&arena, ARENA);
	bool good = check_records(model, read, step, &arena, why);
	chi_arena_deinit(&arena);
	chi_read_end(read);
	return good;
}

/* The store's number, as a step. */
static int step_of(const struct disk_model *model, struct chi_dir *store, uint64_t *step)
{
	struct chi_info info;
	int rc = chi_dir_info(store, &info);
	*step = rc < 0 ? 0 : info.sequence - model->ahead;
	return rc;
}

/* The last step comes again, and changes nothing; the next one was never there. */
static bool check_marks(const struct disk_model *model, struct chi_dir *store, unsigned step,
			struct chi_fault *why)
{
	struct chi_write *write;
	int rc = chi_write_begin(store, &write, why);
	if (rc < 0) {
		return false;
	}
	int last = step > 0 ? known(write, step, why) : CHI_OK;
	int next = known(write, step + 1, why);
	chi_write_abort(write);
	uint64_t now;
	if (last != CHI_OK || next != CHI_NONE ||
	    (step > 0 && model_step(model, store, step, why) < 0) ||
	    step_of(model, store, &now) < 0 || now != step) {
		(void)chi_fail(why, last, "after step %u: its mark %d, the next one's %d", step,
			       last, next);
		return false;
	}
	return true;
}

static bool check_open(const struct disk_model *model, struct chi_dir *store, unsigned least,
		       unsigned most, unsigned *step, struct chi_fault *why)
{
	uint64_t now;
	int rc = step_of(model, store, &now);
	if (rc < 0 || now < least || now > most) {
		(void)chi_fail(why, rc, "the store is at step %d, not at %u to %u",
			       rc < 0 ? rc : (int)now, least, most);
		return false;
	}
	*step = (unsigned)now;
	if (!check_content(model, store, *step, why) ||
	    (model->marked && !check_marks(model, store, *step, why))) {
		return false;
	}
	if (*step == model->n) {
		return true;
	}
	rc = model_step(model, store, *step + 1, why);
	return rc == CHI_OK && check_content(model, store, *step + 1, why);
}

bool model_check(const struct disk_model *model, const char *path, unsigned least, unsigned most,
		 unsigned *step, struct chi_fault *why)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_WRITE};
	struct chi_dir *store;
	if (chi_dir_open(path, &options, &store, why) < 0) {
		return false;
	}
	bool good = check_open(model, store, least, most, step, why);
	chi_dir_close(store);
	return good;
}

bool model_holds(const struct disk_model *model, const char *path, unsigned step,
		 struct chi_fault *why)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	if (chi_dir_open(path, &options, &store, why) < 0) {
		return false;
	}
	bool good = check_content(model, store, step, why);
	chi_dir_close(store);
	return good;
}
