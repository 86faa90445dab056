/* SPDX-License-Identifier: MIT */
/*
 * Reading everything and believing nothing: every page, before LMDB is to follow it; every entry of
 * either tree, and that the other tree says the same; the games, and their totals. One snapshot,
 * walks of it, each bounded by the number of entries its tree claims.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/statistic.h"
#include "store/record/clients.h"
#include "store/env/env_priv.h"
#include "store/pages/page_check.h"

#define REPORT_SIZE 512

struct verify {
	struct chi_read *read;
	chi_verify_report *report;
	void *context;
	struct chi_verify_result *result;
	struct chi_arena arena;
	struct chi_state state;
	struct chi_counts games; /* entries of the games tree by result */
	uint64_t with_statistic; /* position records that must have a strength entry */
	bool no_memory;		 /* which is no damage: nothing is known of the rest */
};

/* Counts a damage and tells it to whoever listens. */
CHI_PRINTF(2, 3) static void complain(struct verify *v, const char *format, ...)
{
	v->result->errors++;
	if (v->report == NULL) {
		return;
	}
	char text[REPORT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	v->report(v->context, text);
}

const char *chi_key_name(const uint8_t *bytes, size_t len, char out[CHI_FEN_SIZE])
{
	struct chi_key key = {.len = (uint8_t)(len < CHI_KEY_MAX ? len : CHI_KEY_MAX)};
	memcpy(key.bytes, bytes, key.len);
	if (len <= CHI_KEY_MAX && chi_key_to_fen(&key, out, NULL) == CHI_OK) {
		return out;
	}
	size_t at = 0;
	for (size_t i = 0; i < key.len; i++) {
		at += (size_t)snprintf(out + at, CHI_FEN_SIZE - at, "%02x", key.bytes[i]);
	}
	out[at] = '\0';
	return out;
}

/* Keys come from a page: the length first, then all that chess knows. */
static bool decode_key(const uint8_t *bytes, size_t len, struct chi_position *position)
{
	struct chi_key key = {0};
	if (!chi_key_shape_ok(bytes, len)) {
		return false;
	}
	key.len = (uint8_t)len;
	memcpy(key.bytes, bytes, len);
	return chi_key_decode(&key, position, NULL) == CHI_OK;
}

/* What is wrong with a decoded record in its position; NULL if nothing. */
static const char *moves_problem(const struct chi_position *position,
				 const struct chi_record *record)
{
	for (size_t i = 0; i < record->n_moves; i++) {
		if (!chi_movegen_is_legal(position, record->moves[i].move)) {
			return "a move played is not legal";
		}
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (chi_line_check(position, eval->pv, eval->n_pv, NULL) < 0) {
			return "a principal variation is not legal";
		}
	}
	if (chi_line_check(position, record->line, record->n_line, NULL) < 0) {
		return "the line is not legal";
	}
	return NULL;
}

/* What is wrong with the strength entry of a record; NULL if nothing. */
static const char *entry_problem(struct verify *v, const MDB_val *key,
				 const struct chi_record *record)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	MDB_val entry = {chi_strength_key(record->chi2, key->mv_data, key->mv_size, bytes), bytes};
	MDB_val value;
	int rc = mdb_get(v->read->txn, v->read->env->strength, &entry, &value);
	if (rc != 0) {
		return rc == MDB_NOTFOUND ? "it has no entry in the strength tree"
					  : "its entry in the strength tree cannot be read";
	}
	uint8_t expected[CHI_STRENGTH_VALUE_MAX];
	size_t len =
		chi_strength_value(bytes, entry.mv_size, record->line, record->n_line, expected);
	if (value.mv_size != len || memcmp(value.mv_data, expected, len) != 0) {
		return "its entry in the strength tree differs or is damaged";
	}
	return NULL;
}

int chi_record_examine(enum chi_statistic statistic, const MDB_val *key, const MDB_val *value,
		       struct chi_arena *arena, struct chi_record *record, const char **problem)
{
	struct chi_position position;
	*problem = NULL;
	if (!decode_key(key->mv_data, key->mv_size, &position)) {
		*problem = "its key is no position";
		return -CHI_ECORRUPT;
	}
	chi_arena_reset(arena);
	int rc = chi_record_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size,
				   arena, record, NULL);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	*problem = rc < 0 ? "its record is damaged" : moves_problem(&position, record);
	if (*problem == NULL && statistic == CHI_STATISTIC_CONTROL &&
	    record->chi2 != chi_statistic_control(&position)) {
		*problem = "its statistic is not what the position gives";
	}
	return *problem == NULL ? CHI_OK : -CHI_ECORRUPT;
}

/* An entry of the position tree, and the strength entry it calls for. */
static void verify_position(struct verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_record record = {0};
	const char *problem = NULL;
	if (chi_record_examine(v->read->env->stamp.statistic, key, value, &v->arena, &record,
			       &problem) == -CHI_ENOMEM) {
		v->no_memory = true;
		return;
	}
	if (problem == NULL && record.chi2 != CHI_CHI2_UNKNOWN) {
		v->with_statistic++;
		problem = entry_problem(v, key, &record);
	}
	if (problem != NULL) {
		char name[CHI_FEN_SIZE];
		complain(v, "position %s: %s", chi_key_name(key->mv_data, key->mv_size, name),
			 problem);
		return;
	}
	v->result->positions++;
}

/* An entry of the strength tree, and the record it came from. Lines were compared by the other
 * walk: here only whether there is such a record. */
static void verify_strength(struct verify *v, const MDB_val *key, const MDB_val *value)
{
	const char *problem = NULL;
	const uint8_t *bytes = key->mv_data;
	size_t len = key->mv_size;
	MDB_val record;
	uint16_t chi2;
	struct chi_counts counts;
	if (!chi_strength_ok(bytes, len, value->mv_data, value->mv_size)) {
		problem = "the entry is damaged";
	} else {
		MDB_val position = chi_val(bytes + 2, len - 2);
		int rc = mdb_get(v->read->txn, v->read->env->position, &position, &record);
		if (rc != 0) {
			problem = "the position tree does not have it";
		} else if (chi_record_peek(bytes + 2, len - 2, record.mv_data, record.mv_size,
					   &chi2, &counts) < 0) {
			problem = "its record is damaged";
		} else if (chi2 != chi_chi2_of(bytes)) {
			problem = "its record has another statistic";
		}
	}
	if (problem != NULL) {
		char name[CHI_FEN_SIZE];
		complain(v, "strength entry %s: %s",
			 len > 2 ? chi_key_name(bytes + 2, len - 2, name) : "too short", problem);
		return;
	}
	v->result->known++;
}

/* An entry of the games tree. */
static void verify_game(struct verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_game_id game;
	int rc = chi_game_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size, &game);
	if (rc == CHI_OK) {
		++*chi_counts_of(&v->games, game.result);
		return;
	}
	char name[2 * CHI_GAME_ID_SIZE + 1] = "";
	const uint8_t *id = key->mv_data;
	for (size_t i = 0; i < key->mv_size && i < CHI_GAME_ID_SIZE; i++) {
		(void)snprintf(name + 2 * i, 3, "%02x", id[i]);
	}
	complain(v, "game %s: its entry is damaged", name);
}

/* An entry of the clients tree. */
static void verify_client(struct verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	uint64_t horizon;
	if (chi_horizon_is(key)) {
		if (chi_horizon_decode(key, value, &horizon) < 0 || horizon > v->state.sequence) {
			complain(v, "the clients tree's horizon is damaged");
		}
	} else if (chi_remembered_decode(key, value, &client) < 0 ||
		   client.last_use > v->state.sequence) {
		complain(v, "what is remembered of a client is damaged");
	}
}

/* Bytewise for all but the strength tree. */
static int compare_keys(const MDB_val *a, const MDB_val *b)
{
	size_t least = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
	int order = memcmp(a->mv_data, b->mv_data, least);
	return order != 0 ? order : (a->mv_size > b->mv_size) - (a->mv_size < b->mv_size);
}

struct tree {
	const char *name;
	MDB_dbi dbi;
	void (*verify)(struct verify *v, const MDB_val *key, const MDB_val *value);
	int (*compare)(const MDB_val *a, const MDB_val *b);
};

/* Every entry of a tree. Returns LMDB's code for what keeps the walk from beginning. */
static int walk(struct verify *v, const struct tree *tree)
{
	MDB_stat stat;
	MDB_cursor *cursor;
	int rc = mdb_stat(v->read->txn, tree->dbi, &stat);
	if (rc == 0) {
		rc = mdb_cursor_open(v->read->txn, tree->dbi, &cursor);
	}
	if (rc != 0) {
		return rc;
	}
	uint64_t n = 0;
	MDB_val key;
	MDB_val value;
	MDB_val last = {0};
	while (!v->no_memory && (rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		if (n++ == stat.ms_entries) {
			complain(v, "the %s tree has more entries than it says", tree->name);
			break;
		}
		if (n > 1 && tree->compare(&last, &key) >= 0) {
			complain(v, "the %s tree is out of order at entry %llu", tree->name,
				 (unsigned long long)n);
		}
		last = key;
		tree->verify(v, &key, &value);
	}
	mdb_cursor_close(cursor);
	if (v->no_memory) {
		return ENOMEM;
	}
	if (rc != 0 && rc != MDB_NOTFOUND) {
		complain(v, "the %s tree cannot be read behind entry %llu: %s", tree->name,
			 (unsigned long long)n, mdb_strerror(rc));
	} else if (n < stat.ms_entries) {
		complain(v, "the %s tree has %llu entries, not %llu", tree->name,
			 (unsigned long long)n, (unsigned long long)stat.ms_entries);
	}
	return 0;
}

/* Anew, from the snapshot: opening saw another one. */
static void verify_meta(struct verify *v)
{
	struct chi_stamp stamp;
	struct chi_fault fault = {.text = ""};
	const struct chi_env *env = v->read->env;
	if (chi_stamp_get(v->read->txn, env->meta, true, &stamp, &fault) < 0) {
		complain(v, "stamp: %s", fault.text);
	}
	if (chi_state_get(v->read->txn, env->meta, &v->state) < 0) {
		complain(v, "the state record is damaged");
	} else if (v->state.sequence != chi_read_sequence(v->read)) {
		complain(v, "the sequence number %llu does not fit LMDB's transaction number",
			 (unsigned long long)v->state.sequence);
	}
}

/* The sums are compared only if nothing else was found: damaged entries count for neither. */
static int verify_all(struct verify *v)
{
	const struct chi_env *env = v->read->env;
	const struct tree position = {POSITION_TREE, env->position, verify_position, compare_keys};
	const struct tree strength = {STRENGTH_TREE, env->strength, verify_strength,
				      chi_trees_compare};
	const struct tree games = {GAME_IDS_TREE, env->games, verify_game, compare_keys};
	const struct tree clients = {CLIENTS_TREE, env->clients, verify_client, compare_keys};
	verify_meta(v);
	int rc = walk(v, &position);
	if (rc == 0) {
		rc = walk(v, &strength);
	}
	if (rc == 0) {
		rc = walk(v, &games);
	}
	if (rc == 0) {
		rc = walk(v, &clients);
	}
	if (rc == ENOMEM) {
		return -CHI_ENOMEM;
	}
	if (rc != 0) {
		complain(v, "a tree cannot be read: %s", mdb_strerror(rc));
	}
	if (v->result->errors == 0 && v->with_statistic != v->result->known) {
		complain(v, "%llu records have a statistic, the strength tree has %llu entries",
			 (unsigned long long)v->with_statistic,
			 (unsigned long long)v->result->known);
	}
	if (v->result->errors == 0 && !chi_counts_equal(&v->games, &v->state.games)) {
		complain(v, "the games by result are not as many as the state record says");
	}
	return v->result->errors == 0 ? CHI_OK : -CHI_ECORRUPT;
}

int chi_verify_how(struct chi_store *store, bool careful, chi_verify_report *report, void *context,
		   struct chi_verify_result *result)
{
	*result = (struct chi_verify_result){0};
	struct verify v = {.report = report, .context = context, .result = result};
	int rc = chi_read_begin(store, &v.read);
	if (rc < 0) {
		return rc;
	}
	rc = chi_page_check(v.read, report, context, &result->errors);
	if (rc == CHI_OK && careful && result->errors > 0) {
		rc = -CHI_ECORRUPT;
	} else if (rc == -CHI_EIO && !careful) {
		/* A page that the disk does not give away is damaged, and there are others. */
		rc = CHI_OK;
	}
	if (rc == CHI_OK) {
		chi_arena_init(&v.arena, CHI_RECORD_ARENA);
		rc = verify_all(&v);
		chi_arena_deinit(&v.arena);
	}
	chi_read_end(v.read);
	return rc;
}

int chi_store_verify(struct chi_store *store, chi_verify_report *report, void *context,
		     struct chi_verify_result *result)
{
	return chi_verify_how(store, false, report, context, result);
}
