/* SPDX-License-Identifier: MIT */
/*
 * Reading everything and believing nothing. One committed state is read page by page, without LMDB,
 * which would follow the pointers of a damaged page. Each entry is checked where it lies.
 *
 * That the two large trees agree is found without a look-up for each entry: the strength entries
 * that the records call for, and those that are there, are summed up as hashes. Only if these sums
 * differ are the entries looked up one by one, to say which are wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chess/key.h"
#include "chess/legal.h"
#include "base/record.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/page_walk.h"
#include "store/pages/pages.h"
#include "store/record/checksum.h"
#include "store/record/clients.h"
#include "store/record/codec.h"
#include "store/record/examine.h"
#include "store/record/merge.h"
#include "store/record/meta.h"
#include "store/store.h"

/* A meta page that is read while it is written may be half of each: then it is read again. */
#define LOOKS	100
#define LOOK_US 1000

/* Strength entries, of any order. */
struct entries {
	uint64_t n;
	uint64_t sum; /* of their hashes */
};

enum {
	META,
	POSITION,
	STRENGTH,
	GAMES,
	CLIENTS,
	TREES
};

struct verify {
	struct chi_page_walk walk;
	const struct chi_env *env;
	struct chi_verify_result *result;
	struct chi_arena arena;
	struct chi_page_tree trees[TREES];
	bool found[TREES];
	struct chi_state state;
	bool stated;		 /* the state was found and is sound */
	bool stamped;		 /* so was the stamp */
	struct chi_counts games; /* entries of the games tree by result */
	struct entries wanted;	 /* by the records */
	struct entries there;
	uint8_t *page; /* room for look-ups */
};

static void add_entry(struct entries *entries, const uint8_t *key, size_t key_len,
		      const uint8_t *value, size_t len)
{
	entries->n++;
	entries->sum += chi_checksum_inline(key, key_len, value, len);
}

/* ---- Records ------------------------------------------------------------------------------ */

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

int chi_record_examine(enum chi_statistic statistic, const MDB_val *key, const MDB_val *value,
		       struct chi_arena *arena, struct chi_record *record, const char **problem)
{
	struct chi_position position;
	*problem = NULL;
	if (!decode_key(key->mv_data, key->mv_size, &position)) {
		*problem = "its key is not a position";
		return -CHI_ECORRUPT;
	}
	chi_arena_reset(arena);
	int rc = chi_record_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size,
				   arena, record, NULL);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc < 0) {
		*problem = "its record is damaged";
	} else if (chi_record_legal(&position, record, NULL) < 0) {
		*problem = "a move of its record is not legal";
	}
	if (*problem == NULL && !chi_record_statistic_ok(statistic, &position, record)) {
		*problem = "its statistic is not what the position and its record give";
	}
	return *problem == NULL ? CHI_OK : -CHI_ECORRUPT;
}

/* The strength entry that a record with a known statistic calls for. */
struct wanted_entry {
	uint8_t key[CHI_STRENGTH_KEY_MAX];
	size_t key_len;
	uint8_t value[CHI_STRENGTH_VALUE_MAX];
	size_t len;
};

static void want_entry(const MDB_val *key, const struct chi_record *record,
		       struct wanted_entry *out)
{
	out->key_len = chi_strength_key(record->chi2, key->mv_data, key->mv_size, out->key);
	out->len = chi_strength_value(out->key, out->key_len, record->line, record->n_line,
				      out->value);
}

static void complain_position(struct verify *v, const MDB_val *key, const char *problem)
{
	char name[CHI_FEN_SIZE];
	chi_page_complain(&v->walk, "position %s: %s",
			  chi_key_name(key->mv_data, key->mv_size, name), problem);
}

static void complain_strength(struct verify *v, const MDB_val *key, const char *problem)
{
	char name[CHI_FEN_SIZE];
	const uint8_t *bytes = key->mv_data;
	size_t len = key->mv_size;
	chi_page_complain(&v->walk, "strength entry %s: %s",
			  len > 2 ? chi_key_name(bytes + 2, len - 2, name) : "too short", problem);
}

static int take_position(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
			 const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_record record = {0};
	const char *problem = NULL;
	struct wanted_entry wanted;
	(void)tree;
	int rc = chi_record_examine(v->env->stamp.statistic, key, value, &v->arena, &record,
				    &problem);
	if (problem != NULL) {
		complain_position(v, key, problem);
	}
	if (rc < 0) {
		return rc == -CHI_ENOMEM ? rc : CHI_OK;
	}
	if (record.chi2 != CHI_CHI2_UNKNOWN) {
		want_entry(key, &record, &wanted);
		add_entry(&v->wanted, wanted.key, wanted.key_len, wanted.value, wanted.len);
	}
	v->result->positions++;
	return CHI_OK;
}

static int take_strength(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
			 const MDB_val *value)
{
	struct verify *v = walk->context;
	(void)tree;
	if (!chi_strength_ok(key->mv_data, key->mv_size, value->mv_data, value->mv_size)) {
		complain_strength(v, key, "the entry is damaged");
		return CHI_OK;
	}
	add_entry(&v->there, key->mv_data, key->mv_size, value->mv_data, value->mv_size);
	v->result->known++;
	return CHI_OK;
}

/* ---- Where the trees disagree ------------------------------------------------------------- */

/* Looks up a key in the other tree. *memory is the caller's to free. */
static int find(struct verify *v, int tree, const MDB_val *key, MDB_val *value, uint8_t **memory)
{
	struct chi_page_file_node node;
	int rc = chi_page_find(&v->walk.file_image, &v->trees[tree], key, v->page, &node);
	return rc == CHI_OK ? chi_page_value(&v->walk.file_image, &node, value, memory) : rc;
}

/* A record, sound in itself, and the strength entry that it calls for. */
static int compare_position(struct chi_page_walk *walk, struct chi_page_tree *tree,
			    const MDB_val *key, const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_record record = {0};
	const char *problem = NULL;
	struct wanted_entry wanted;
	MDB_val there;
	_cleanup_(chi_freep) uint8_t *memory = NULL;
	(void)tree;
	int rc = chi_record_examine(v->env->stamp.statistic, key, value, &v->arena, &record,
				    &problem);
	if (rc < 0 || record.chi2 == CHI_CHI2_UNKNOWN) {
		return rc == -CHI_ENOMEM ? rc : CHI_OK;
	}
	want_entry(key, &record, &wanted);
	const MDB_val entry = chi_val(wanted.key, wanted.key_len);
	rc = find(v, STRENGTH, &entry, &there, &memory);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc != CHI_OK) {
		problem = rc == CHI_NONE ? "it has no entry in the strength tree"
					 : "its entry in the strength tree cannot be read";
	} else if (there.mv_size != wanted.len ||
		   memcmp(there.mv_data, wanted.value, wanted.len) != 0) {
		problem = "its entry in the strength tree differs or is damaged";
	}
	if (problem != NULL) {
		complain_position(v, key, problem);
		v->result->positions--;
	}
	return CHI_OK;
}

/* A strength entry, sound in itself, and the record it came from. Lines were compared by the other
 * walk: here only whether there is such a record. */
static int compare_strength(struct chi_page_walk *walk, struct chi_page_tree *tree,
			    const MDB_val *key, const MDB_val *value)
{
	struct verify *v = walk->context;
	const uint8_t *bytes = key->mv_data;
	_cleanup_(chi_freep) uint8_t *memory = NULL;
	MDB_val record;
	uint16_t chi2;
	struct chi_counts counts;
	const char *problem = NULL;
	(void)tree;
	if (!chi_strength_ok(bytes, key->mv_size, value->mv_data, value->mv_size)) {
		return CHI_OK;
	}
	const MDB_val position = chi_val(bytes + 2, key->mv_size - 2);
	int rc = find(v, POSITION, &position, &record, &memory);
	if (rc == -CHI_ENOMEM) {
		return rc;
	}
	if (rc != CHI_OK) {
		problem = rc == CHI_NONE ? "the position tree does not have it"
					 : "its record cannot be read";
	} else if (chi_record_peek(position.mv_data, position.mv_size, record.mv_data,
				   record.mv_size, &chi2, &counts) < 0) {
		problem = "its record is damaged";
	} else if (chi2 != chi_chi2_of(bytes)) {
		problem = "its record has another statistic";
	}
	if (problem != NULL) {
		complain_strength(v, key, problem);
		v->result->known--;
	}
	return CHI_OK;
}

/* Both trees once more, entry by entry. Their pages were reported before. */
static int compare_trees(struct verify *v)
{
	uint64_t before = v->walk.errors;
	if (v->wanted.n == v->there.n && v->wanted.sum == v->there.sum) {
		return CHI_OK;
	}
	_cleanup_(chi_freep) uint8_t *page = malloc(v->walk.file_image.page_size);
	if (page == NULL) {
		return -CHI_ENOMEM;
	}
	v->page = page;
	memset(v->walk.pages, CHI_PAGE_UNKNOWN, v->walk.n_pages);
	v->walk.quiet = true;
	v->trees[POSITION].take = compare_position;
	v->trees[STRENGTH].take = compare_strength;
	int rc = chi_page_walk_tree(&v->walk, &v->trees[POSITION]);
	if (rc == CHI_OK) {
		rc = chi_page_walk_tree(&v->walk, &v->trees[STRENGTH]);
	}
	v->walk.quiet = false;
	if (rc == CHI_OK && v->walk.errors == before) {
		chi_page_complain(&v->walk, "the position and strength trees do not agree");
	}
	return rc;
}

/* ---- The smaller trees -------------------------------------------------------------------- */

static int take_game(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_game_id game;
	(void)tree;
	int rc = chi_game_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size, &game);
	if (rc == CHI_OK) {
		++*chi_counts_of(&v->games, game.result);
		return CHI_OK;
	}
	char name[2 * CHI_GAME_ID_SIZE + 1] = "";
	const uint8_t *id = key->mv_data;
	for (size_t i = 0; i < key->mv_size && i < CHI_GAME_ID_SIZE; i++) {
		(void)snprintf(name + 2 * i, 3, "%02x", id[i]);
	}
	chi_page_complain(walk, "game %s: its entry is damaged", name);
	return CHI_OK;
}

static int take_client(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		       const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	uint64_t last_use;
	(void)tree;
	if (chi_horizon_is(key)) {
		if (chi_horizon_decode(key, value, &last_use) < 0 || last_use > v->state.sequence) {
			chi_page_complain(walk, "the clients tree's horizon is damaged");
		}
	} else if (chi_remembered_decode(key, value, &client) < 0 ||
		   client.last_use > v->state.sequence) {
		chi_page_complain(walk, "a client's entry is damaged");
	}
	return CHI_OK;
}

static int take_meta(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_fault fault = {.text = ""};
	struct chi_stamp stamp;
	(void)tree;
	if (chi_page_key_is(key, "stamp")) {
		v->stamped = true;
		if (chi_stamp_decode(value->mv_data, value->mv_size, true, &stamp, &fault) < 0) {
			chi_page_complain(walk, "stamp: %s", fault.text);
		}
	} else if (chi_page_key_is(key, "state")) {
		v->stated = chi_state_decode(value->mv_data, value->mv_size, &v->state) == CHI_OK;
	}
	return CHI_OK;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* The meta pages are of two commits, one after the other. */
static bool adjoining(const struct chi_page_file *file_image)
{
	return file_image->txn - file_image->older_txn == 1;
}

/* The commit that the newer meta page refers to must be the one that wrote this state, and the one
 * after the other head's: else a meta page is damaged, and the last commit may be lost. A copy that
 * LMDB has compacted begins again at its transaction 1, beside a head without trees. */
static void check_heads(struct verify *v)
{
	const struct chi_page_file *file_image = &v->walk.file_image;
	bool compacted = file_image->txn == 1 && file_image->older_root == NO_PAGE;
	if (!adjoining(file_image)) {
		chi_page_complain(&v->walk,
				  "the meta pages are of transactions %" PRIu64 " and %" PRIu64
				  ": one is damaged, and the last commit may be lost",
				  file_image->older_txn, file_image->txn);
	} else if (v->stated && v->state.txn != file_image->txn && !compacted) {
		chi_page_complain(&v->walk,
				  "the meta page of transaction %" PRIu64
				  " leads to the state of transaction %" PRIu64
				  ": the last commit may be lost",
				  file_image->txn, v->state.txn);
	}
}

static void check_meta(struct verify *v)
{
	if (!v->stamped) {
		chi_page_complain(&v->walk, "the stamp is missing");
	}
	if (!v->stated) {
		chi_page_complain(&v->walk, "the state record is damaged");
		v->state.sequence = UINT64_MAX;
	} else if (v->state.sequence != v->walk.file_image.txn + v->env->bias) {
		chi_page_complain(&v->walk,
				  "the sequence number %" PRIu64
				  " does not fit LMDB's transaction number",
				  v->state.sequence);
	}
	check_heads(v);
}

/* The record of a named tree. One that only a later version knows is walked at once. */
static int take_name(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct verify *v = walk->context;
	struct chi_page_tree other = {.name = "unknown", .least = 2};
	struct chi_page_tree *named = &other;
	(void)tree;
	for (int i = 0; i < TREES; i++) {
		if (chi_page_key_is(key, v->trees[i].name)) {
			named = &v->trees[i];
			v->found[i] = true;
		}
	}
	if (!chi_page_record(value, named)) {
		chi_page_complain(walk, "the record of the %s tree is damaged", named->name);
		named->root = NO_PAGE;
		named->entries = 0;
	}
	return named == &other ? chi_page_walk_tree(walk, named) : CHI_OK;
}

/* The meta tree first: the others are held against the state. */
static int walk_all(struct verify *v)
{
	struct chi_page_tree main = chi_page_names(&v->walk.file_image);
	main.take = take_name;
	int rc = chi_page_walk_free(&v->walk);
	if (rc == CHI_OK) {
		rc = chi_page_walk_tree(&v->walk, &main);
	}
	for (int i = 0; rc == CHI_OK && i < TREES; i++) {
		if (!v->found[i]) {
			chi_page_complain(&v->walk, "the %s tree is missing", v->trees[i].name);
		}
		rc = chi_page_walk_tree(&v->walk, &v->trees[i]);
		if (i == META && rc == CHI_OK) {
			check_meta(v);
		}
	}
	return rc == CHI_OK ? compare_trees(v) : rc;
}

static int verify_all(struct verify *v)
{
	static const struct chi_page_tree trees[TREES] = {
		[META] = {.name = META_TREE, .compare = chi_page_bytewise, .take = take_meta},
		[POSITION] = {.name = POSITION_TREE,
			      .compare = chi_page_bytewise,
			      .take = take_position},
		[STRENGTH] = {.name = STRENGTH_TREE,
			      .compare = chi_trees_compare,
			      .take = take_strength},
		[GAMES] = {.name = GAME_IDS_TREE, .compare = chi_page_bytewise, .take = take_game},
		[CLIENTS] = {.name = CLIENTS_TREE,
			     .compare = chi_page_bytewise,
			     .take = take_client},
	};
	for (int i = 0; i < TREES; i++) {
		v->trees[i] = trees[i];
		v->trees[i].least = 2;
		v->trees[i].root = NO_PAGE;
	}
	int rc = chi_page_walk_init(&v->walk);
	if (rc == CHI_OK) {
		chi_arena_init(&v->arena, CHI_RECORD_ARENA);
		rc = walk_all(v);
		chi_arena_deinit(&v->arena);
	}
	chi_page_walk_deinit(&v->walk);
	/* Damaged entries are counted for neither. */
	if (rc == CHI_OK && v->walk.errors == 0 && !chi_counts_equal(&v->games, &v->state.games)) {
		chi_page_complain(&v->walk,
				  "the games by result are not as many as the state record says");
	}
	return rc;
}

static bool same_heads(const struct chi_page_file *a, const struct chi_page_file *b)
{
	return a->txn == b->txn && a->older_txn == b->older_txn && a->main_root == b->main_root &&
	       a->free_root == b->free_root && a->last == b->last;
}

/* The newest committed state, by two looks that agree, as writers may go on meanwhile; numbers that
 * cannot be are looked at longest. The descriptor is LMDB's: the file that is mapped, whatever has
 * its name by now. */
static int look(const struct chi_env *env, struct chi_page_file *file_image,
		struct chi_fault *fault)
{
	struct chi_page_file before = {.txn = UINT64_MAX};
	int same = 0;
	int rc = mdb_env_get_fd(env->mdb, &file_image->fd) == 0 ? CHI_OK : -CHI_EINTERNAL;
	for (int i = 0; rc == CHI_OK && i < LOOKS; i++) {
		rc = chi_page_file_look(file_image, CHI_PAGE_FILE_BOTH, fault);
		same = same_heads(file_image, &before) ? same + 1 : 0;
		if (same > 0 && (adjoining(file_image) || same >= LOOKS / 4)) {
			return rc;
		}
		if (same > 0) {
			(void)usleep(LOOK_US);
		}
		before = *file_image;
	}
	return rc < 0 ? rc : -CHI_EBUSY;
}

/* What is said of the heads, if they cannot be read. */
static int look_reported(struct verify *v, const struct chi_env *env)
{
	struct chi_fault fault = {.text = ""};
	int rc = look(env, &v->walk.file_image, &fault);
	if (rc < 0 && rc != -CHI_EBUSY && rc != -CHI_EINTERNAL && rc != -CHI_ENOMEM) {
		chi_page_complain(&v->walk, "%s",
				  fault.text[0] != '\0' ? fault.text : chi_strerror(rc));
	}
	return rc;
}

/* LMDB gives no snapshot: damaged heads may be the reason. */
static void explain(struct verify *v, struct chi_env *env)
{
	(void)pthread_mutex_lock(&env->mutex);
	if (look_reported(v, env) == CHI_OK && !adjoining(&v->walk.file_image)) {
		check_heads(v);
	}
	(void)pthread_mutex_unlock(&env->mutex);
}

/* *unread: the system has failed a read. */
static int verify(struct chi_store *store, const atomic_bool *stop, chi_verify_report *report,
		  void *context, struct chi_verify_result *result, bool *unread)
{
	*result = (struct chi_verify_result){0};
	struct verify v = {.result = result, .env = store->env};
	struct chi_read *read;
	v.walk.report = report;
	v.walk.report_context = context;
	v.walk.context = &v;
	v.walk.stop = stop;
	/* No page of its state, nor of one committed since, is written while it lives. */
	int rc = chi_read_begin(store, &read);
	if (rc == CHI_OK) {
		rc = look_reported(&v, read->env);
		rc = rc == CHI_OK ? verify_all(&v) : rc;
		chi_read_end(read);
	} else if (!chi_env_forked(store->env)) {
		explain(&v, store->env);
	}
	result->errors = v.walk.errors;
	*unread = v.walk.file_image.error != 0;
	return rc == -CHI_ENOMEM || rc == -CHI_ECANCELED || result->errors == 0 ? rc
										: -CHI_ECORRUPT;
}

int chi_store_verify_until(struct chi_store *store, const atomic_bool *stop,
			   chi_verify_report *report, void *context,
			   struct chi_verify_result *result)
{
	bool unread;
	return verify(store, stop, report, context, result, &unread);
}

int chi_store_verify(struct chi_store *store, chi_verify_report *report, void *context,
		     struct chi_verify_result *result)
{
	return chi_store_verify_until(store, NULL, report, context, result);
}

int chi_verify_readable(struct chi_store *store, struct chi_verify_result *result)
{
	bool unread;
	int rc = verify(store, NULL, NULL, NULL, result, &unread);
	return rc == -CHI_ECORRUPT && unread ? -CHI_EIO : rc;
}
