/* SPDX-License-Identifier: MIT */
/*
 * Reading everything and believing nothing. One committed state is read page by page, without LMDB,
 * which would follow the pointers of a damaged page. Each entry is checked where it lies.
 *
 * The lesser depths do the same walks: what an entry means is left out, or all entries are.
 */
#include "store/admin/verify_priv.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/gamesets/gamesets.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/pages.h"
#include "store/record/clients.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/store.h"

/* A meta page that is read while it is written may be half of each: then it is read again. */
#define LOOKS	100
#define LOOK_US 1000

/* ---- The smaller trees -------------------------------------------------------------------- */

static int take_game(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_game_id game;
	(void)tree;
	int rc = chi_game_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size, &game);
	if (rc == CHI_OK) {
		++*chi_counts_of(&v->games, game.result);
		chi_verify_identity(v, &game);
		return CHI_OK;
	}
	char name[2 * CHI_GAME_ID_SIZE + 1] = "";
	chi_hex_print(key->mv_data,
		      key->mv_size < CHI_GAME_ID_SIZE ? key->mv_size : CHI_GAME_ID_SIZE, name);
	chi_page_complain(walk, "game %s: its entry is damaged", name);
	return CHI_OK;
}

static int take_client(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		       const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	(void)tree;
	if (chi_remembered_decode(key, value, &client) < 0 || client.last_use > v->state.sequence) {
		chi_page_complain(walk, "a client's entry is damaged");
	}
	return CHI_OK;
}

static int take_meta(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		     const MDB_val *value)
{
	struct chi_verify *v = walk->context;
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

/* The commit that the newer meta page refers to must be the one that wrote this state, and the one
 * after the other head's: else a meta page is damaged, and the last commit may be lost. A copy that
 * LMDB has compacted begins again at its transaction 1, beside a head without trees. */
static void check_heads(struct chi_verify *v)
{
	const struct chi_page_file *file_image = &v->walk.file_image;
	bool compacted = file_image->txn == 1 && file_image->older_root == NO_PAGE;
	if (!chi_page_file_adjoins(file_image)) {
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

static void check_meta(struct chi_verify *v)
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
	} else if (v->state.horizon > v->state.sequence) {
		chi_page_complain(&v->walk, "the clients' horizon is damaged");
	}
	check_heads(v);
}

/* The record of a named tree. One that only a later version knows is walked at once. */
static int take_tree_name(struct chi_page_walk *walk, struct chi_page_tree *tree,
			  const MDB_val *key, const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_page_tree other = {.name = "unknown", .least = 2};
	struct chi_page_tree *named = &other;
	(void)tree;
	for (int i = 0; i < CHI_VERIFY_TREES; i++) {
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

/* ---- Chains ------------------------------------------------------------------------------- */

/* A chained tree is named by its chain, and its keys are in LMDB's own order. */
static const struct {
	enum chi_chain chain;
	const char *name;
	int (*compare)(const MDB_val *a, const MDB_val *b);
	chi_page_take *take;
} kinds[CHI_VERIFY_TREES] = {
	[CHI_VERIFY_META] = {0, META_TREE, chi_page_bytewise, take_meta},
	[CHI_VERIFY_POSITION] = {0, POSITION_TREE, chi_page_bytewise, chi_verify_block},
	[CHI_VERIFY_STRENGTH] = {0, STRENGTH_TREE, chi_trees_compare, chi_verify_block},
	[CHI_VERIFY_IDS] = {.chain = CHI_CHAIN_IDS, .take = take_game},
	[CHI_VERIFY_NAMES] = {.chain = CHI_CHAIN_NAMES, .take = chi_verify_name},
	[CHI_VERIFY_COLUMNS] = {.chain = CHI_CHAIN_COLUMNS, .take = chi_verify_columns},
	[CHI_VERIFY_GAMES] = {.chain = CHI_CHAIN_GAMES, .take = chi_verify_bodies},
	[CHI_VERIFY_TRAITS] = {.chain = CHI_CHAIN_TRAITS, .take = chi_verify_traits},
	[CHI_VERIFY_POSTINGS] = {.chain = CHI_CHAIN_POSTINGS, .take = chi_verify_postings},
	[CHI_VERIFY_GAMESETS] = {.chain = CHI_CHAIN_GAMESETS, .take = chi_verify_gameset},
	[CHI_VERIFY_CLIENTS] = {.chain = CHI_CHAIN_CLIENTS, .take = take_client},
	[CHI_VERIFY_QUEUE] = {.chain = CHI_CHAIN_QUEUE, .take = chi_verify_queued},
};

_Static_assert(CHI_GAMESET_KEY_MAX <= sizeof(((struct chi_chain_at *)NULL)->last),
	       "the longest keys are remembered whole");

/* What is between the last key and the next one; NULL: the end. */
static void complain_chain(struct chi_verify *v, const struct chi_chain_at *at, const MDB_val *key)
{
	char from[CHI_CHAIN_TEXT];
	char to[CHI_CHAIN_TEXT] = "its end";
	const MDB_val last = chi_val(at->last, at->len);
	chi_page_complain(&v->walk, "the %s tree: entries between %s and %s may be missing",
			  chi_chain_name(at->chain), chi_chain_key_name(at->chain, &last, from),
			  key != NULL ? chi_chain_key_name(at->chain, key, to) : to);
}

/* An entry's link, and then the entry. */
static int take_chained(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
			const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	const struct chi_chain_at before = v->chain;
	MDB_val own = *value;
	/* A tree that is walked again was followed the first time. */
	if (!v->walk.quiet && !chi_chain_follow(&v->chain, key, value)) {
		complain_chain(v, &before, key);
	}
	return chi_chain_strip(key, &own) ? kinds[tree - v->trees].take(walk, tree, key, &own)
					  : CHI_OK;
}

static int walk_tree(struct chi_verify *v, int tree)
{
	v->chain = (struct chi_chain_at){.chain = kinds[tree].chain};
	int rc = chi_page_walk_tree(&v->walk, &v->trees[tree]);
	if (rc == CHI_OK && kinds[tree].chain != 0 && !chi_chain_over(&v->chain)) {
		complain_chain(v, &v->chain, NULL);
	}
	return rc;
}

/* ---- The order of the walks --------------------------------------------------------------- */

static int was_before(struct chi_verify *v, int tree)
{
	switch (tree) {
	case CHI_VERIFY_GAMES:
		return chi_verify_bodies_begin(v);
	case CHI_VERIFY_POSITION:
		return chi_verify_lists_begin(v);
	default:
		return CHI_OK;
	}
}

static int after(struct chi_verify *v, int tree)
{
	switch (tree) {
	case CHI_VERIFY_META:
		check_meta(v);
		return chi_verify_archive_begin(v);
	case CHI_VERIFY_NAMES:
		return chi_verify_names_end(v);
	case CHI_VERIFY_GAMES:
		chi_verify_bodies_end(v);
		return CHI_OK;
	case CHI_VERIFY_TRAITS:
		chi_verify_traits_end(v);
		return CHI_OK;
	case CHI_VERIFY_POSITION:
		chi_verify_lists_end(v);
		return CHI_OK;
	case CHI_VERIFY_QUEUE:
		chi_verify_queue_end(v);
		return CHI_OK;
	default:
		return CHI_OK;
	}
}

/* Heads are compared with the state in the meta tree. */
static int walk_tree_pages(struct chi_verify *v, int tree)
{
	int rc = chi_page_walk_tree(&v->walk, &v->trees[tree]);
	if (rc == CHI_OK && tree == CHI_VERIFY_META) {
		check_heads(v);
	}
	return rc;
}

int chi_verify_tree(struct chi_verify *v, int tree)
{
	if (!v->found[tree]) {
		chi_page_complain(&v->walk, "the %s tree is missing", v->trees[tree].name);
	}
	if (v->depth == CHI_VERIFY_PAGES) {
		return walk_tree_pages(v, tree);
	}
	int rc = was_before(v, tree);
	rc = rc == CHI_OK ? walk_tree(v, tree) : rc;
	return rc == CHI_OK ? after(v, tree) : rc;
}

static int walk_trees(struct chi_verify *v, const int *trees, size_t n)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = chi_verify_tree(v, trees[i]);
	}
	return rc;
}

/* What games and positions are held against, these two and strength together, and the rest. */
static int walk_side_by_side(struct chi_verify *v)
{
	static const int before[] = {CHI_VERIFY_META, CHI_VERIFY_IDS, CHI_VERIFY_NAMES,
				     CHI_VERIFY_COLUMNS, CHI_VERIFY_POSTINGS};
	static const int rest[] = {CHI_VERIFY_TRAITS, CHI_VERIFY_GAMESETS, CHI_VERIFY_CLIENTS,
				   CHI_VERIFY_QUEUE};
	int rc = walk_trees(v, before, CHI_COUNT(before));
	rc = rc == CHI_OK ? chi_verify_together(v) : rc;
	return rc == CHI_OK ? walk_trees(v, rest, CHI_COUNT(rest)) : rc;
}

static int walk_in_order(struct chi_verify *v)
{
	int rc = CHI_OK;
	for (int i = 0; rc == CHI_OK && i < CHI_VERIFY_TREES; i++) {
		rc = chi_verify_tree(v, i);
	}
	return rc;
}

/* The meta tree first: the others are held against the state. */
static int walk_all(struct chi_verify *v)
{
	struct chi_page_tree main = chi_page_names(&v->walk.file_image);
	main.take = take_tree_name;
	int rc = chi_page_walk_free(&v->walk);
	if (rc == CHI_OK) {
		rc = chi_page_walk_tree(&v->walk, &main);
	}
	if (rc == CHI_OK) {
		rc = v->threads > 1 ? walk_side_by_side(v) : walk_in_order(v);
	}
	if (v->depth == CHI_VERIFY_PAGES) {
		return rc;
	}
	chi_verify_end_blocks(v);
	rc = rc == CHI_OK ? chi_verify_compare_games(v) : rc;
	return rc == CHI_OK ? chi_verify_compare(v) : rc;
}

/* What was counted against the state record; only where nothing was damaged, which is not counted.
 */
static void compare_state(struct chi_verify *v)
{
	if (!chi_counts_equal(&v->games, &v->state.games)) {
		chi_page_complain(&v->walk,
				  "the games by result are not as many as the state record says");
	}
	if (v->result->positions != v->state.positions || v->result->known != v->state.known ||
	    v->blocks[CHI_TREE_POSITION].bytes != v->state.position_bytes ||
	    v->blocks[CHI_TREE_STRENGTH].bytes != v->state.strength_bytes) {
		chi_page_complain(&v->walk,
				  "the positions or their blocks are not as many as the state "
				  "record says");
	}
}

static int verify_all(struct chi_verify *v)
{
	for (int i = 0; i < CHI_VERIFY_TREES; i++) {
		bool chained = kinds[i].chain != 0;
		bool taken = v->depth != CHI_VERIFY_PAGES || i == CHI_VERIFY_META;
		chi_page_take *take = chained ? take_chained : kinds[i].take;
		v->trees[i] = (struct chi_page_tree){
			.name = chained ? chi_chain_name(kinds[i].chain) : kinds[i].name,
			.root = NO_PAGE,
			.least = 2,
			.compare = chained ? chi_page_bytewise : kinds[i].compare,
			.take = taken ? take : NULL};
	}
	int rc = chi_page_walk_init(&v->walk);
	if (rc == CHI_OK) {
		chi_arena_init(&v->arena, CHI_RECORD_ARENA);
		chi_verify_begin_blocks(v, CHI_TREE_POSITION);
		chi_verify_begin_blocks(v, CHI_TREE_STRENGTH);
		rc = walk_all(v);
		chi_arena_deinit(&v->arena);
		chi_verify_archive_deinit(v);
	}
	chi_page_walk_deinit(&v->walk);
	if (rc == CHI_OK && v->walk.errors == 0 && v->depth != CHI_VERIFY_PAGES) {
		compare_state(v);
	}
	return rc;
}

/*
 * Whether several threads find the store sound. Damage is found in an order that changes with the
 * threads, and some of it is named by what was found before: where there is any, all is walked
 * again by one thread, which reports it.
 */
static bool is_sound(const struct chi_verify *v, unsigned threads)
{
	atomic_bool damaged = false;
	struct chi_verify_result result = {0};
	struct chi_verify quick = {.walk = v->walk,
				   .env = v->env,
				   .depth = v->depth,
				   .result = &result,
				   .threads = threads};
	quick.walk.report = NULL;
	quick.walk.context = &quick;
	quick.walk.damaged = &damaged;
	bool sound = verify_all(&quick) == CHI_OK && quick.walk.errors == 0;
	if (sound) {
		*v->result = result;
	}
	return sound;
}

static bool same_heads(const struct chi_page_file *a, const struct chi_page_file *b)
{
	return a->txn == b->txn && a->older_txn == b->older_txn && a->main_root == b->main_root &&
	       a->free_root == b->free_root && a->last == b->last;
}

/* The newest committed state, by two looks that agree, as writers may go on meanwhile; numbers that
 * cannot be are looked at longest. The descriptor is LMDB's: the file that is mapped, whatever has
 * its name by now. */
static int look_at_env(const struct chi_env *env, struct chi_page_file *file_image,
		       struct chi_fault *fault)
{
	struct chi_page_file before = {.txn = UINT64_MAX};
	int same = 0;
	int rc = mdb_env_get_fd(env->mdb, &file_image->fd) == 0 ? CHI_OK : -CHI_EINTERNAL;
	for (int i = 0; rc == CHI_OK && i < LOOKS; i++) {
		rc = chi_page_file_look(file_image, CHI_PAGE_FILE_BOTH, fault);
		same = same_heads(file_image, &before) ? same + 1 : 0;
		if (same > 0 && (chi_page_file_adjoins(file_image) || same >= LOOKS / 4)) {
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
static int look_reported(struct chi_verify *v, const struct chi_env *env)
{
	struct chi_fault fault = {.text = ""};
	int rc = look_at_env(env, &v->walk.file_image, &fault);
	if (rc < 0 && rc != -CHI_EBUSY && rc != -CHI_EINTERNAL && rc != -CHI_ENOMEM) {
		chi_page_complain(&v->walk, "%s",
				  fault.text[0] != '\0' ? fault.text : chi_strerror(rc));
	}
	return rc;
}

/* LMDB gives no snapshot: damaged heads may be the reason. */
static void explain(struct chi_verify *v, struct chi_env *env)
{
	(void)pthread_mutex_lock(&env->mutex);
	if (look_reported(v, env) == CHI_OK && !chi_page_file_adjoins(&v->walk.file_image)) {
		check_heads(v);
	}
	(void)pthread_mutex_unlock(&env->mutex);
}

/* *unread: the system has failed a read. */
static int verify(struct chi_dir *store, enum chi_verify_depth depth, unsigned threads,
		  const atomic_bool *stop, chi_verify_report *report, void *context,
		  struct chi_verify_result *result, bool *unread)
{
	*result = (struct chi_verify_result){0};
	struct chi_verify v = {.result = result, .env = store->env, .depth = depth};
	struct chi_read *read;
	v.walk.report = report;
	v.walk.report_context = context;
	v.walk.context = &v;
	v.walk.stop = stop;
	/* No page of its state, nor of one committed since, is written while it lives. */
	int rc = chi_read_begin(store, &read);
	if (rc == CHI_OK) {
		rc = look_reported(&v, read->env);
		if (rc == CHI_OK && (threads < 2 || !is_sound(&v, threads))) {
			rc = verify_all(&v);
		}
		chi_read_end(read);
	} else if (!chi_env_forked(store->env)) {
		explain(&v, store->env);
	}
	result->errors = v.walk.errors;
	*unread = v.walk.file_image.error != 0;
	return rc == -CHI_ENOMEM || rc == -CHI_ECANCELED || result->errors == 0 ? rc
										: -CHI_ECORRUPT;
}

int chi_dir_verify_until(struct chi_dir *store, unsigned threads, const atomic_bool *stop,
			 chi_verify_report *report, void *context, struct chi_verify_result *result)
{
	bool unread;
	return verify(store, CHI_VERIFY_WHOLE, threads, stop, report, context, result, &unread);
}

int chi_dir_verify(struct chi_dir *store, chi_verify_report *report, void *context,
		   struct chi_verify_result *result)
{
	return chi_dir_verify_until(store, 1, NULL, report, context, result);
}

int chi_verify_readable(struct chi_dir *store, enum chi_verify_depth depth, unsigned threads,
			struct chi_verify_result *result)
{
	bool unread;
	int rc = verify(store, depth, threads, NULL, NULL, NULL, result, &unread);
	return rc == -CHI_ECORRUPT && unread ? -CHI_EIO : rc;
}

int chi_verify_pages(int file, uint64_t *errors, struct chi_fault *fault)
{
	struct chi_verify_result result = {0};
	struct chi_verify v = {.result = &result, .depth = CHI_VERIFY_PAGES};
	v.walk.context = &v;
	v.walk.file_image.fd = file;
	int rc = chi_page_file_look(&v.walk.file_image, CHI_PAGE_FILE_BOTH, fault);
	if (rc < 0) {
		*errors = 1;
		return rc;
	}
	rc = verify_all(&v);
	*errors = v.walk.errors;
	if (rc == CHI_OK && v.walk.errors > 0) {
		rc = v.walk.file_image.error != 0 ? -CHI_EIO : -CHI_ECORRUPT;
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : rc;
}
