/* SPDX-License-Identifier: MIT */
/*
 * A new store of what a damaged one still holds. The strength tree is not read: its entries
 * follow from the records. Each record is proved by its checksum, which covers its key; so
 * it does not matter from which page it comes, only that the page is not a free one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "base/arena.h"
#include "base/record.h"
#include "store/block/block.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/env/path.h"
#include "store/env/published.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/record/codec.h"
#include "store/record/examine.h"
#include "store/record/meta.h"
#include "store/rescue/saved_games.h"
#include "store/rescue/saved_positions.h"
#include "store/rescue/salvage.h"
#include "store/store.h"
#include "store/txn/txn.h"

/* Entries a transaction: its pages stay in memory until the commit. */
#define COMMIT_ENTRIES 50000

/* How much further the new store's sequence number is than the damaged one's newest state that was
 * found: more than the transactions that may have come after it. */
#define SEQUENCE_AHEAD (UINT64_C(1) << 32)

#define REPORT_SIZE 256

struct repair {
	struct chi_salvage salvage;
	struct chi_repair_result *result;
	chi_verify_report *report;
	void *context;
	struct chi_fault *fault;
	enum chi_statistic statistic;
	struct chi_stamp stamp;
	bool stamped; /* `stamp` was found */
	struct chi_store_state state;
	bool stated;	       /* `state` was found */
	bool newer;	       /* a newer one lies in pages that are not of its state */
	uint64_t bytes;	       /* blocks of positions that the tree led to, */
	bool unopened;	       /* and one could not be read */
	struct chi_dir *store; /* the new one; NULL while stamp and state are looked for */
	struct chi_write *write;
	unsigned unsaved; /* entries since the last commit */
	uint64_t bare;	  /* games whose moves are not saved */
	chi_repair_relist *relist;
	bool archive;		      /* games are kept */
	struct chi_saved_games games; /* of the archive */
	struct chi_saved_positions positions;
	struct chi_arena arena;
};

static void pass_on(void *context, const char *text)
{
	struct repair *r = context;
	if (r->report != NULL) {
		r->report(r->context, text);
	}
}

CHI_PRINTF(2, 3) static void complain(struct repair *r, const char *format, ...)
{
	char text[REPORT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pass_on(r, text);
}

/* ---- Stamp and state ---------------------------------------------------------------------- */

/* Of several states, lost pages hold old ones, the last. */
static int take_meta(struct repair *r, const MDB_val *key, const MDB_val *value)
{
	struct chi_store_state state;
	if (chi_page_key_is(key, "stamp") && !r->stamped) {
		struct chi_fault why = {.text = ""};
		int rc = chi_stamp_decode(value->mv_data, value->mv_size, true, &r->stamp, &why);
		if (rc == -CHI_EVERSION) {
			return chi_fail(r->fault, rc, "%s", why.text);
		}
		r->stamped = rc == CHI_OK;
	} else if (chi_page_key_is(key, "state") &&
		   chi_state_decode(value->mv_data, value->mv_size, &state) == CHI_OK &&
		   (!r->stated || state.sequence > r->state.sequence)) {
		r->state = state;
		r->stated = true;
	}
	return CHI_OK;
}

/* ---- Entries ------------------------------------------------------------------------------ */

static int begin_write(struct repair *r)
{
	return r->write != NULL ? CHI_OK : chi_write_begin(r->store, &r->write, r->fault);
}

static int commit_write(struct repair *r)
{
	struct chi_write *write = r->write;
	r->write = NULL;
	r->unsaved = 0;
	return write == NULL ? CHI_OK : chi_write_commit(write, r->fault);
}

static int stored(struct repair *r, bool lost)
{
	r->result->found += lost;
	return ++r->unsaved < COMMIT_ENTRIES ? CHI_OK : commit_write(r);
}

/* That the game is counted, and its number where games are kept. */
static int put_game(struct repair *r, const struct chi_game_id *game, bool lost)
{
	struct chi_game_id bare = *game;
	int rc = begin_write(r);
	if (rc < 0) {
		return rc;
	}
	bare.number = r->archive && chi_saved_games_claim(&r->games, game) ? game->number : 0;
	rc = chi_write_game_id(r->write, &bare);
	if (rc == CHI_NONE) {
		return CHI_OK;
	}
	if (rc < 0) {
		return chi_fail(r->fault, rc, "cannot store what was saved (%s)", chi_strerror(rc));
	}
	r->result->games++;
	r->bare += game->number != 0 && bare.number == 0;
	return stored(r, lost);
}

static int take_position(struct repair *r, const MDB_val *key, const MDB_val *value, bool lost)
{
	struct chi_record record = {0};
	const char *problem = NULL;
	char name[CHI_FEN_SIZE];
	int rc = chi_record_examine(r->statistic, key, value, &r->arena, &record, NULL, &problem);
	if (rc != -CHI_ECORRUPT) {
		return rc == CHI_OK
			       ? chi_saved_positions_add(&r->positions, key, value, lost, r->fault)
			       : chi_fault_plain(r->fault, rc);
	}
	if (!lost) {
		complain(r, "position %s: %s", chi_key_name(key->mv_data, key->mv_size, name),
			 problem);
		r->result->damaged++;
	}
	return CHI_OK;
}

/* All groups of a block whose checksums hold. */
static int take_block(struct repair *r, const struct chi_block *block, bool lost)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	char name[CHI_FEN_SIZE];
	uint32_t n;
	int rc = CHI_OK;
	for (uint32_t i = 0; rc == CHI_OK && i < block->groups; i++) {
		bool good = chi_group_read(block, i, entries, &n) == CHI_OK;
		if (!good && !lost) {
			complain(r, "a group of %u positions from %s on is damaged",
				 block->counts[i], chi_key_name(block->low, block->low_len, name));
			r->result->damaged += block->counts[i];
		}
		for (uint32_t j = 0; good && rc == CHI_OK && j < n; j++) {
			const MDB_val key = chi_val(chi_entry_key(&entries[j], block->kind),
						    entries[j].key_len);
			const MDB_val value = chi_val(entries[j].value, entries[j].len);
			rc = take_position(r, &key, &value, lost);
		}
	}
	return rc;
}

/* An entry of the archive, as it is, if it is sound. */
static int take_archive(struct repair *r, enum chi_salvage_tree tree, const MDB_val *key,
			const MDB_val *value)
{
	bool taken = false;
	int rc = r->archive ? begin_write(r) : CHI_OK;
	if (rc < 0 || !r->archive) {
		return rc;
	}
	rc = chi_saved_games_take(&r->games, r->write, tree, key, value, &taken);
	if (rc < 0) {
		return chi_fault_plain(r->fault, rc);
	}
	if (!taken && tree != CHI_SALVAGE_LOST && tree != CHI_SALVAGE_NAMES) {
		complain(r, "a chunk of the archive is damaged");
		r->result->damaged++;
	}
	return taken ? stored(r, tree == CHI_SALVAGE_LOST) : CHI_OK;
}

/* What an entry of no tree is, the bytes must tell. No game is as long as a block. */
static int take_found(struct repair *r, enum chi_salvage_tree tree, const MDB_val *key,
		      const MDB_val *value)
{
	struct chi_block block;
	struct chi_game_id game;
	char name[CHI_FEN_SIZE];
	bool lost = tree == CHI_SALVAGE_LOST;
	MDB_val own = *value;
	if (!chi_chain_strip(key, &own)) {
		return CHI_OK;
	}
	if (tree >= CHI_SALVAGE_NAMES && tree != CHI_SALVAGE_LOST) {
		return take_archive(r, tree, key, &own);
	}
	if (tree != CHI_SALVAGE_GAME_IDS &&
	    chi_block_open(CHI_TREE_POSITION, key->mv_data, key->mv_size, value->mv_data,
			   value->mv_size, &block) == CHI_OK) {
		r->bytes += lost ? 0 : chi_block_taken(key->mv_size, value->mv_size);
		return take_block(r, &block, lost);
	}
	if (tree != CHI_SALVAGE_POSITION && chi_game_decode(key->mv_data, key->mv_size, own.mv_data,
							    own.mv_size, &game) == CHI_OK) {
		return put_game(r, &game, lost);
	}
	if (lost && r->archive) {
		return take_archive(r, tree, key, &own);
	}
	if (tree == CHI_SALVAGE_POSITION) {
		r->unopened = true;
		complain(r, "the block of positions from %s on is damaged",
			 chi_key_name(key->mv_data, key->mv_size, name));
	} else if (!lost) {
		complain(r, "a game's entry is damaged");
	}
	r->result->damaged += !lost;
	return CHI_OK;
}

static int take_salvaged(void *context, enum chi_salvage_tree tree, const MDB_val *key,
			 const MDB_val *value)
{
	struct repair *r = context;
	if (tree == CHI_SALVAGE_META || r->store == NULL) {
		return take_meta(r, key, value);
	}
	return tree == CHI_SALVAGE_STRENGTH ? CHI_OK : take_found(r, tree, key, value);
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* With a meta page the state that it stood for may be lost, the newest, also if the page is sound
 * and is that of the state before. Every transaction writes a state record: if there is one newer
 * than ours, what it refers to is in pages that ours calls free. Under sound meta pages it may as
 * well be that of a commit that failed. */
static int find_newer(struct repair *r)
{
	struct chi_store_state ours = r->state;
	bool stated = r->stated;
	int rc = chi_salvage_lost(&r->salvage, true);
	r->newer = !stated || r->state.sequence != ours.sequence;
	if (rc == CHI_OK && r->newer && r->salvage.walk.file_image.head_lost) {
		chi_salvage_doubt(&r->salvage);
	} else if (stated) {
		r->state = ours;
	}
	return rc;
}

/* What the store is, from the meta tree, or from any page that holds it. */
static int find_meta(struct repair *r, enum chi_statistic given)
{
	int rc = chi_salvage_walk(&r->salvage, CHI_SALVAGE_META);
	if (rc == CHI_OK) {
		bool whole = r->stamped && r->stated;
		rc = whole || r->salvage.walk.file_image.head_lost
			     ? find_newer(r)
			     : chi_salvage_lost(&r->salvage, false);
	}
	if (rc < 0) {
		return rc;
	}
	if (r->stamped && given != 0 && given != r->stamp.statistic) {
		return chi_fail(r->fault, -CHI_EINVAL, "the store holds the %s statistic",
				chi_statistic_name((int)r->stamp.statistic));
	}
	if (!r->stamped && given == 0 && r->salvage.walk.file_image.error != 0) {
		return chi_fail(r->fault, chi_lmdb_status(r->salvage.walk.file_image.error),
				"the store's stamp cannot be read (%s): give its statistic",
				strerror(r->salvage.walk.file_image.error));
	}
	if (!r->stamped && given == 0) {
		return chi_fail(r->fault, -CHI_EINVAL,
				"the store's stamp is lost: give its statistic");
	}
	if (!r->stamped) {
		complain(r, "the stamp is lost");
	}
	if (!r->stated) {
		complain(r, "the state record is lost, and the base rates with it");
	}
	r->statistic = r->stamped ? r->stamp.statistic : given;
	return CHI_OK;
}

/* What a chained tree claimed to hold and the new store does not. */
static uint64_t lacking(const struct chi_salvage *s, enum chi_salvage_tree tree, uint64_t have)
{
	uint64_t entries = have + 1; /* with the head of its chain */
	return s->found[tree] && s->trees[tree].entries > entries ? s->trees[tree].entries - entries
								  : 0;
}

static uint64_t missing(const struct repair *r)
{
	uint64_t positions = r->stated ? r->state.positions : 0;
	uint64_t found = r->result->positions > 0 ? r->result->positions : r->positions.in_tree;
	return (positions > found ? positions - found : 0) +
	       lacking(&r->salvage, CHI_SALVAGE_GAME_IDS, r->result->games);
}

static int walk_all(struct repair *r)
{
	int rc = CHI_OK;
	static const enum chi_salvage_tree trees[] = {
		CHI_SALVAGE_POSITION, CHI_SALVAGE_GAME_IDS, CHI_SALVAGE_STRENGTH, CHI_SALVAGE_NAMES,
		CHI_SALVAGE_COLUMNS,  CHI_SALVAGE_GAMES,    CHI_SALVAGE_GAMESETS};
	for (size_t i = 0; rc == CHI_OK && i < CHI_COUNT(trees); i++) {
		rc = chi_salvage_walk(&r->salvage, trees[i]);
	}
	/* A branch may lead to a page of a tree that is not walked, which then is no damaged page.
	 */
	if (rc == CHI_OK && (r->salvage.walk.errors > 0 || r->result->damaged > 0 ||
			     r->positions.astray || missing(r) > 0)) {
		rc = chi_salvage_lost(&r->salvage, false);
	}
	return rc;
}

/* Instead of that of a state that is lost, which an earlier repair may have set so: about a
 * millionth of a second is one, and no store has as many transactions. */
static uint64_t sequence_by_clock(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec << 20 | (uint64_t)now.tv_nsec >> 10;
}

/* The sums of games follow from their entries; the base rates are what they were. What was
 * remembered of clients is not saved, as gaps in it could not be detected: no client that wrote to
 * the damaged store may take the new one for it, or its write would be done a second time. */
static int settle_sums(struct repair *r)
{
	int rc = begin_write(r);
	if (rc == CHI_OK && r->stated) {
		rc = chi_write_base(r->write, &r->state.base);
	}
	if (rc == CHI_OK) {
		struct chi_store_state *state = &r->write->state;
		uint64_t known = r->stated ? r->state.sequence : sequence_by_clock();
		known += known <= UINT64_MAX - 2 * SEQUENCE_AHEAD ? SEQUENCE_AHEAD : 0;
		state->sequence = state->sequence > known ? state->sequence : known;
		state->horizon = state->sequence + 1;
		/* Positions may be lost, or lists of them that no game makes whole again. */
		state->partial = 1;
		r->write->changed = true;
	}
	if (rc == CHI_OK && r->archive) {
		uint64_t lost = 0;
		rc = chi_saved_games_settle(&r->games, r->write, r->stated ? r->state.last_game : 0,
					    pass_on, r, &lost);
		r->bare += lost;
		rc = rc < 0 ? chi_fault_plain(r->fault, rc) : rc;
	}
	return rc == CHI_OK ? commit_write(r) : rc;
}

/* ---- Positions, by ascending key ------------------------------------------------------------ */

static int store_positions(struct repair *r, const char *dir)
{
	const struct chi_repair_positions positions = {.context = &r->positions,
						       .n = r->positions.in_tree,
						       .next = chi_saved_positions_next};
	int rc = chi_saved_positions_seal(&r->positions, r->fault);
	chi_dir_close(r->store);
	r->store = NULL;
	rc = rc == CHI_OK ? r->relist(dir, &positions, r->fault) : rc;
	r->result->positions = r->positions.handed;
	r->result->found += r->positions.found;
	return rc;
}

static void conclude(struct repair *r)
{
	struct chi_repair_result *result = r->result;
	result->missing = missing(r) + r->bare;
	if (r->bare > 0) {
		complain(r,
			 "the moves and names of %" PRIu64 " games are not saved, only that the "
			 "games are counted: they can be had from the PGN that was imported",
			 r->bare);
	}
	result->pages = r->salvage.walk.errors;
	/* Where all could be read and is not what the state counts, a page is of an older one. */
	bool older = r->stated && !r->unopened && result->pages == 0 &&
		     r->bytes != r->state.position_bytes;
	result->unsure = !r->salvage.free_known || r->newer || older;
}

static int open_new(struct repair *r, const char *dir, const char *to)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_WRITE};
	int rc = chi_saved_positions_init(&r->positions, dir, to, r->fault);
	if (rc == CHI_OK) {
		rc = chi_dir_make(dir, r->statistic, r->archive ? CHI_KEEP_GAMES : CHI_KEEP_COUNTS,
				  r->fault);
	}
	return rc == CHI_OK ? chi_dir_open(dir, &options, &r->store, r->fault) : rc;
}

/* The store in `dir`, which becomes `to`. */
static int fill_store(struct repair *r, const char *dir, const char *to)
{
	chi_arena_init(&r->arena, CHI_RECORD_ARENA);
	int rc = open_new(r, dir, to);
	if (rc == CHI_OK) {
		rc = walk_all(r);
		rc = rc == CHI_OK ? settle_sums(r) : rc;
		chi_write_abort(r->write);
		r->write = NULL;
		if (rc == CHI_OK) {
			rc = store_positions(r, dir);
			conclude(r);
		}
		chi_dir_close(r->store);
	}
	chi_saved_positions_deinit(&r->positions);
	chi_arena_deinit(&r->arena);
	chi_saved_games_deinit(&r->games);
	return rc;
}

static int build(struct repair *r, const char *to)
{
	struct chi_hidden hidden;
	int rc = chi_path_begin(to, &hidden, r->fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_file_system_check(hidden.dir, r->fault);
	if (rc == CHI_OK) {
		rc = fill_store(r, hidden.dir, to);
	}
	if (rc == CHI_OK) {
		rc = chi_path_publish(&hidden, to, r->fault);
	}
	if (rc < 0) {
		chi_path_remove(&hidden);
	}
	return rc;
}

/* A directory that holds no store gets no lock file. Where we may not write, another user's daemon
 * may: all that can be done then is to look for one. */
static int keep_writers_out(struct chi_lock *lock, const char *from, struct chi_fault *fault)
{
	struct chi_page_file file_image;
	int rc = chi_page_file_open(&file_image, from, CHI_PAGE_FILE_ANY, fault);
	if (rc < 0) {
		return rc;
	}
	chi_page_file_close(&file_image);
	*lock = (struct chi_lock){.fd = -1};
	if (chi_published_looks(from)) {
		/* No one can be writing it, and no lock file is to be made in it. */
		return CHI_OK;
	}
	rc = chi_lock_open(lock, from, true, 0, fault);
	if (rc == CHI_OK) {
		rc = chi_lock_writer(lock, 0, "a repair", fault);
		if (rc < 0) {
			chi_lock_close(lock);
		}
	} else if (rc == -CHI_EREADONLY || rc == -CHI_EACCES) {
		rc = chi_lock_open(lock, from, false, 0, fault);
		if (rc == CHI_OK) {
			rc = chi_lock_served(lock, fault);
		}
		if (rc < 0) {
			chi_lock_close(lock);
		}
	}
	return rc;
}

int chi_dir_repair(const char *from, const char *to, enum chi_statistic statistic,
		   chi_repair_relist *relist, chi_verify_report *report, void *context,
		   struct chi_repair_result *result, struct chi_fault *fault)
{
	struct repair r = {.result = result,
			   .report = report,
			   .context = context,
			   .fault = fault,
			   .relist = relist};
	struct chi_lock lock;
	*result = (struct chi_repair_result){0};
	if (statistic != 0 && chi_statistic_name((int)statistic) == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "unknown statistic %d", (int)statistic);
	}
	int rc = chi_place_check(to, fault);
	if (rc == CHI_OK) {
		rc = keep_writers_out(&lock, from, fault);
	}
	if (rc < 0) {
		return rc;
	}
	rc = chi_salvage_open(&r.salvage, from, take_salvaged, pass_on, &r, fault);
	if (rc == CHI_OK) {
		rc = find_meta(&r, statistic);
		/* A store that keeps only counts has no archive. */
		r.archive = !r.stamped || r.stamp.keep == CHI_KEEP_GAMES;
		if (rc == CHI_OK) {
			rc = build(&r, to);
		}
		chi_salvage_close(&r.salvage);
	}
	chi_lock_close(&lock);
	return rc < 0 && rc == -CHI_ENOMEM ? chi_fault_plain(fault, rc) : rc;
}
