/* SPDX-License-Identifier: MIT */
/*
 * Verification of the archive: each tree damaged, then each made to say something else than the
 * others in entries that are sound by themselves.
 */
#include "import/importer.h"
#include "tests/import/merging.h"
#include "tests/import/session.h"

#include <lmdb.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/attr.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/games/bodies.h"
#include "store/games/columns_priv.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "store/traits/traits.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "tests/base/seed.h"
#include "tests/store/raw.h"

#define GAMES 300

static char said[8192];
static uint32_t taken; /* by the import: the games are numbered 1 to this */

static void note_report(void *context, const char *text)
{
	(void)context;
	size_t at = strlen(said);
	(void)snprintf(said + at, sizeof(said) - at, "%s\n", text);
}

static int verify(const char *name)
{
	struct chi_verify_result result;
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_READ);
	said[0] = '\0';
	int rc = help_verify_told(store, note_report, NULL, &result);
	chi_dir_close(store);
	assert_int_equal(rc == CHI_OK, result.errors == 0);
	return rc;
}

static void finds(const char *text)
{
	assert_int_equal(verify("store"), -CHI_ECORRUPT);
	if (strstr(said, text) == NULL) {
		fail_msg("'%s' is not in what was said: %.60s\n", text, said);
	}
}

static void make(struct chi_import_options options)
{
	struct import_session session = {.options = options, .statistic = CHI_STATISTIC_EXTERNAL};
	char *text = session_games(GAMES, 40);
	const char *texts[] = {text, NULL};
	help_remove(help_path("store"));
	ok(session_run(&session, "store", texts));
	free(text);
	taken = (uint32_t)session.result.taken;
	ok(verify("store"));
}

/* An entry of a tree: the first, or the first from a key on. */
struct entry {
	uint8_t key[64];
	size_t key_len;
	uint8_t value[8192];
	size_t len;
};

static void find(const char *tree, const void *key, size_t key_len, struct entry *out)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val k = chi_val(key, key_len);
	MDB_val v;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, help_path("store"), MDB_RDONLY, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, tree, 0, &dbi), 0);
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	enum chi_chain chain = raw_chain(tree);
	MDB_cursor_op op = key_len == 0 ? MDB_FIRST : MDB_SET_RANGE;
	assert_int_equal(chain != 0 ? chi_chain_step(cursor, chain, &k, &v, op)
				    : mdb_cursor_get(cursor, &k, &v, op),
			 0);
	assert_true(k.mv_size <= sizeof(out->key) && v.mv_size <= sizeof(out->value));
	memcpy(out->key, k.mv_data, k.mv_size);
	memcpy(out->value, v.mv_data, v.mv_size);
	out->key_len = k.mv_size;
	out->len = v.mv_size;
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	mdb_env_close(env);
}

static void put(const char *tree, const struct entry *entry)
{
	raw_put("store", tree, entry->key, entry->key_len, entry->value, entry->len);
}

/* A merge that reads the store as it is refuses it, and changes nothing. */
static int merge_refuses(void)
{
	struct chi_dir *other = help_open(help_path("store"), CHI_STORE_READ);
	const char *path = help_path("into");
	help_remove(path);
	ok(chi_dir_create(path, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault));
	struct chi_dir *into = help_open(path, CHI_STORE_WRITE);
	int rc = merging_store(into, other);
	if (rc != CHI_OK) {
		assert_non_null(strstr(fault.text, "damaged"));
		assert_int_equal(help_count(into), 0);
	}
	chi_dir_close(into);
	chi_dir_close(other);
	return rc;
}

static uint64_t sum_store(const char *name);

static int publish(enum chi_backup_kind kind)
{
	struct chi_dir *store = help_open(help_path("store"), CHI_STORE_READ);
	int rc = help_publish_kind(store, help_path("published"), kind);
	chi_dir_close(store);
	return rc;
}

/* To whatever depth; the older copy, of the same games, stays. */
static void is_not_published(uint64_t games)
{
	assert_int_equal(publish(CHI_BACKUP_PUBLISHED), -CHI_ECORRUPT);
	assert_non_null(strstr(fault.text, "nothing was published"));
	assert_int_equal(publish(CHI_BACKUP_VERIFIED), -CHI_ECORRUPT);
	ok(verify("published"));
	assert_true(sum_store("published") == games);
}

/* What only a whole verification finds. */
static void is_published_unless_verified(void)
{
	ok(publish(CHI_BACKUP_PUBLISHED));
	assert_int_equal(publish(CHI_BACKUP_VERIFIED), -CHI_ECORRUPT);
}

/* Bytes that this process has read; 0: the system does not tell. */
static uint64_t bytes_read(void)
{
	uint64_t n = 0;
	FILE *file = fopen("/proc/self/io", "r");
	if (file != NULL) {
		if (fscanf(file, "rchar: %" SCNu64, &n) != 1) {
			n = 0;
		}
		(void)fclose(file);
	}
	return n;
}

static uint64_t bytes_of_verify(struct chi_dir *store, unsigned threads)
{
	struct chi_verify_result result;
	uint64_t before = bytes_read();
	ok(chi_dir_verify_until(store, threads, NULL, NULL, NULL, &result));
	assert_true(result.positions > 0 && result.errors == 0);
	return bytes_read() - before;
}

/* Several threads are believed where they find a store sound: it is not walked a second time. Parts
 * as small as here look their first lists up at some cost. */
CASE(sound_stores_are_read_once, NULL, help_teardown)
{
	make((struct chi_import_options){0});
	struct chi_dir *store = help_open(help_path("store"), CHI_STORE_READ);
	if (bytes_read() > 0) {
		uint64_t one = bytes_of_verify(store, 1);
		assert_true(bytes_of_verify(store, 2) < 2 * one);
		assert_true(bytes_of_verify(store, 64) < 2 * one);
	}
	chi_dir_close(store);
}

CASE(a_flipped_bit_in_each_tree_is_found, NULL, help_teardown)
{
	static const char *const trees[][2] = {
		{"ids", ": its entry is damaged"},
		{"names", "names: "},
		{"columns", "the columns tree, from game 1 on: a chunk is damaged"},
		{"games", "the games tree, from game 1 on: a chunk is damaged"},
		{"postings", "the postings tree, position "},
		{"traits", "the traits tree, "},
	};
	make((struct chi_import_options){0});
	ok(publish(CHI_BACKUP_VERIFIED));
	uint64_t games = sum_store("store");
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct entry good;
		struct entry bad;
		find(trees[i][0], NULL, 0, &good);
		bad = good;
		bad.value[help_below((unsigned)bad.len)] ^= (uint8_t)(1u << help_below(8));
		put(trees[i][0], &bad);
		finds(trees[i][1]);
		is_not_published(games);
		int rc = merge_refuses();
		/* Names are read by their numbers: their indexes are not looked at. Traits are
		 * found by the moves. */
		assert_true(rc == -CHI_ECORRUPT || (rc == CHI_OK && (i == 1 || i == 5)));
		put(trees[i][0], &good);
		ok(verify("store"));
		raw_put("store", trees[i][0], good.key, good.key_len, NULL, 0);
		assert_int_equal(verify("store"), -CHI_ECORRUPT);
		/* That a list lacks a part follows from records and games, not from its tree. */
		if (i < 4) {
			is_not_published(games);
		} else {
			is_published_unless_verified();
		}
		put(trees[i][0], &good);
		ok(verify("store"));
		ok(publish(CHI_BACKUP_VERIFIED));
	}
}

/* A bit of the copy is wrong when all of it was received; */
static int publish_flipped(enum chi_backup_kind kind, uint64_t byte, unsigned bit)
{
	struct chi_copy *copy;
	uint8_t value;
	int fd;
	struct chi_dir *store = help_open(help_path("store"), CHI_STORE_READ);
	ok(chi_copy_begin(help_path("published"), kind, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	chi_dir_close(store);
	assert_int_equal(pread(fd, &value, 1, (off_t)byte), 1);
	value ^= (uint8_t)(1u << bit);
	assert_int_equal(pwrite(fd, &value, 1, (off_t)byte), 1);
	return chi_copy_finish(copy, &fault);
}

/* Of one bit, wherever it is, the lesser depth finds what the whole verification does; and where
 * both find nothing, it was no part of what is stored. */
CASE(a_published_copy_has_no_flipped_bit, NULL, help_teardown)
{
	struct seed seed = seed_start("flipped");
	struct stat st;
	size_t refused = 0;
	make((struct chi_import_options){0});
	uint64_t games = sum_store("store");
	_cleanup_(chi_freep) char *dump = session_dump("store");
	assert_int_equal(stat(help_path("store/data.mdb"), &st), 0);
	size_t rounds = seed_rounds(60);
	for (size_t i = 0; i < rounds; i++) {
		/* The heads more often than by their size. */
		uint64_t byte = seed_below(&seed, i % 8 == 0 ? 8192 : (size_t)st.st_size);
		unsigned bit = (unsigned)seed_below(&seed, 8);
		int rc = publish_flipped(CHI_BACKUP_PUBLISHED, byte, bit);
		if ((rc == CHI_OK) != (publish_flipped(CHI_BACKUP_VERIFIED, byte, bit) == CHI_OK)) {
			fail_msg("bit %u of byte %" PRIu64 ": %s", bit, byte, chi_strerror(rc));
		}
		if (rc == CHI_OK) {
			_cleanup_(chi_freep) char *other = session_dump("published");
			assert_string_equal(other, dump);
			assert_true(sum_store("published") == games);
		}
		refused += rc != CHI_OK;
	}
	assert_in_range(refused, rounds / 4, rounds);
}

/* ---- Identities, columns, bodies ---------------------------------------------------------- */

CASE(identities_that_lead_elsewhere_are_found, NULL, help_teardown)
{
	struct entry entry;
	struct chi_game_id game;
	make((struct chi_import_options){0});
	find("ids", NULL, 0, &entry);
	struct entry good = entry;
	ok(chi_game_decode(entry.key, entry.key_len, entry.value, entry.len, &game));
	uint32_t number = game.number;
	game.number = number == 1 ? 2 : number - 1;
	entry.len = chi_game_encode(&game, entry.value);
	put("ids", &entry);
	finds("two identities have that number");
	game.number = taken + 1;
	entry.len = chi_game_encode(&game, entry.value);
	put("ids", &entry);
	finds("no game was given that number");
	game.number = 0;
	entry.len = chi_game_encode(&game, entry.value);
	put("ids", &entry);
	finds("it has columns, but no identity");
	game.number = number;
	game.max_ply = 3;
	entry.len = chi_game_encode(&game, entry.value);
	put("ids", &entry);
	finds("1 games are not listed with the positions that they reached");
	put("ids", &good);
	ok(verify("store"));
}

/* Changes a chunk of columns, and signs it. */
static void set_column(enum chi_column column, uint32_t base)
{
	struct entry entry;
	find("columns", NULL, 0, &entry);
	const MDB_val key = {entry.key_len, entry.key};
	uint8_t *at = entry.value + 2 + 5 * (size_t)column;
	base = htole32(base);
	memcpy(at, &base, sizeof(base));
	uint32_t sum = htole32(chi_columns_checksum(&key, entry.value, entry.len - 4));
	memcpy(entry.value + entry.len - 4, &sum, sizeof(sum));
	put("columns", &entry);
}

/* Takes a player out of the names tree. */
static void remove_player(uint32_t id)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, help_path("store"), 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "names", 0, &dbi), 0);
	ok(chi_names_remove(txn, dbi, CHI_NAME_PLAYER, id));
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

CASE(columns_that_say_something_else_are_found, NULL, help_teardown)
{
	struct entry good;
	make((struct chi_import_options){0});
	find("columns", NULL, 0, &good);
	set_column(CHI_COLUMN_BLACK, 100000);
	finds("its black player, name 100");
	put("columns", &good);
	set_column(CHI_COLUMN_EVENT, 100000);
	finds("its event, name 100");
	put("columns", &good);
	set_column(CHI_COLUMN_PLIES, 7);
	finds("its body is no game, or not that of its columns");
	put("columns", &good);
	set_column(CHI_COLUMN_RESULT, 1);
	finds("its columns tell another result than its identity");
	put("columns", &good);
	ok(verify("store"));
	remove_player(1);
	finds("player, name 1, is not there");
}

CASE(games_without_a_part_are_found, NULL, help_teardown)
{
	make((struct chi_import_options){0});
	raw_edit("store", "games", chi_bodies_remove, 7);
	finds("game 7: it has an identity, but no body");
	make((struct chi_import_options){0});
	raw_edit("store", "columns", chi_columns_remove, 8);
	finds("game 8: it has a body, but no columns");
	finds("game 8: it has an identity, but no columns");
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* The record of a position, and what else it holds. */
static void read_record(const struct chi_key *key, struct chi_arena *arena,
			struct chi_record *record, struct chi_record_rest *rest)
{
	struct raw_block block;
	struct chi_block opened;
	const uint8_t *value;
	size_t at;
	size_t len;
	raw_find("store", "position", CHI_TREE_POSITION, key->bytes, key->len, &block, &at, &len);
	ok(chi_block_open(CHI_TREE_POSITION, block.low, block.low_len, block.bytes, block.len,
			  &opened));
	ok(chi_block_find(&opened, key->bytes, key->len, &value, &len));
	ok(chi_record_decode(value, len, arena, record, rest));
}

static void write_record(const struct chi_key *key, const struct chi_record *record,
			 const struct chi_record_rest *rest)
{
	static uint8_t bytes[CHI_RECORD_BYTES_MAX];
	size_t len;
	ok(chi_record_encode(record, rest, bytes, sizeof(bytes), &len));
	raw_change("store", "position", key->bytes, key->len, bytes, len);
}

static const char first_game[] = "[White \"Last\"]\n[Result \"1-0\"]\n\n1. a4 h5 2. Ra2 Rh7 "
				 "3. Ra1 Rh8 4. Ra2 Rg8 1-0\n\n";
#define AFTER_RA2 "rnbqkbnr/ppppppp1/8/7p/P7/8/RPPPPPPP/1NBQKBNR b Kkq - 1 2"

CASE(wrong_lists_in_records_are_located, NULL, help_teardown)
{
	struct chi_arena arena;
	struct chi_record record;
	struct chi_record_rest rest;
	struct chi_posting wrong[2];
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	make((struct chi_import_options){0});
	session_add("store", first_game);
	ok(verify("store"));
	struct chi_key key = help_fen(AFTER_RA2);
	read_record(&key, &arena, &record, &rest);
	assert_int_equal(rest.n_games, 1);
	struct chi_record_rest good = rest;
	wrong[0] = rest.games[0];
	assert_int_equal(wrong[0].game, taken + 1);
	/* Another game in its place. */
	wrong[0].game = 5;
	rest.games = wrong;
	write_record(&key, &record, &rest);
	finds("game 5 is in its list, with what it did not play here");
	finds("RPPPPPPP/1NBQKBNR b Kkq - 0 1: game ");
	finds("is not in its list, with what it played here");
	is_published_unless_verified();
	/* Lists are compared with a second walk over the games, whose links were judged by the
	 * first. */
	assert_null(strstr(said, "may be missing"));
	/* One that there is not. */
	wrong[0].game = taken + 2;
	write_record(&key, &record, &rest);
	finds("is in its list, but there is no such game");
	/* None at all. */
	rest.n_games = 0;
	write_record(&key, &record, &rest);
	finds("is not in its list, with what it played here");
	write_record(&key, &record, &good);
	ok(verify("store"));
	chi_arena_deinit(&arena);
}

CASE(a_record_that_counts_less_is_found, NULL, help_teardown)
{
	struct chi_arena arena;
	struct chi_record record;
	struct chi_record_rest rest;
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	make((struct chi_import_options){0});
	struct chi_key key = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	read_record(&key, &arena, &record, &rest);
	assert_true(rest.listed >= taken && rest.listed_games == taken);
	/* As many games, but one that was won is drawn. */
	record.counts.white--;
	record.counts.draws++;
	write_record(&key, &record, &rest);
	finds("it counts less than the games in its list");
	record.counts.white += 2;
	write_record(&key, &record, &rest);
	ok(verify("store"));
	rest.listed++;
	write_record(&key, &record, &rest);
	finds("its list of games is not as long as its record says");
	rest.listed = 0;
	rest.listed_games = 0;
	write_record(&key, &record, &rest);
	finds("it has a list of games that its record does not tell of");
	chi_arena_deinit(&arena);
}

/* Which only the walk through the lists can tell: its games' sums do not know of it. */
CASE(a_list_of_no_position_is_found, NULL, help_teardown)
{
	struct entry chunk;
	make((struct chi_import_options){0});
	const struct chi_posting one = {.game = 1, .move = 796};
	struct chi_key key = help_fen("8/8/8/3k4/8/8/8/3K4 w - - 0 1");
	assert_int_equal(chi_postings_chunk_encode(key.bytes, key.len, &one, 1, chunk.key,
						   &chunk.key_len, chunk.value, &chunk.len),
			 1);
	put("postings", &chunk);
	finds("it has a list of games that its record does not tell of");
}

static int drop_one(MDB_txn *txn, MDB_dbi dbi, uint32_t number)
{
	struct chi_postings_walk walk;
	static struct chi_posting entries[CHI_POSTINGS_CHUNK_ENTRIES];
	struct chi_key key = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	size_t n = 0;
	assert_int_equal(chi_postings_open(&walk, txn, dbi, CHI_CHAIN_POSTINGS, key.bytes, key.len),
			 0);
	assert_int_equal(chi_postings_seek(&walk, number, entries, &n), 0);
	chi_postings_close(&walk);
	size_t i = 0;
	while (entries[i].game < number) {
		i++;
	}
	struct chi_posting one = entries[i];
	assert_int_equal(
		chi_postings_remove(txn, dbi, CHI_CHAIN_POSTINGS, key.bytes, key.len, &one, 1), 0);
	/* As long as before, with a game that moved otherwise. */
	const struct chi_posting more = {.game = taken, .move = one.move == 796 ? 731 : 796};
	bool there = entries[n - 1].game == more.game && entries[n - 1].move >= more.move;
	if (!there) {
		assert_int_equal(chi_postings_append(txn, dbi, CHI_CHAIN_POSTINGS, key.bytes,
						     key.len, &more, 1),
				 0);
	}
	return CHI_OK;
}

/* Takes the first entry of the last list out of it. */
static int drop_trait(MDB_txn *txn, MDB_dbi dbi, uint32_t number)
{
	static struct chi_posting games[CHI_POSTINGS_CHUNK_ENTRIES];
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	chi_trait trait;
	size_t n = 0;
	uint8_t bytes[7];
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	assert_int_equal(chi_chain_step(cursor, CHI_CHAIN_TRAITS, &key, &value, MDB_LAST), 0);
	ok(chi_traits_open(&key, &value, &trait, games, &n));
	memcpy(bytes, key.mv_data, sizeof(bytes));
	mdb_cursor_close(cursor);
	games[0].game = number != 0 ? number : games[0].game;
	assert_int_equal((number != 0 ? chi_postings_append : chi_postings_remove)(
				 txn, dbi, CHI_CHAIN_TRAITS, bytes, sizeof(bytes), games, 1),
			 0);
	return CHI_OK;
}

CASE(a_game_that_lists_of_traits_lack_is_found, NULL, help_teardown)
{
	make((struct chi_import_options){0});
	raw_edit("store", "traits", drop_trait, 0);
	finds("the lists of traits and its moves disagree");
}

CASE(a_game_that_lists_of_traits_invent_is_found, NULL, help_teardown)
{
	make((struct chi_import_options){0});
	raw_edit("store", "traits", drop_trait, 1000000);
	finds("game 1000000 is in its list, but there is no such game");
}

CASE(wrong_lists_apart_are_located, NULL, help_teardown)
{
	make((struct chi_import_options){0});
	raw_edit("store", "postings", drop_one, 12);
	finds("position rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1: game 12 is not "
	      "in its list");
}

/* ---- Games that were not counted whole ---------------------------------------------------- */

static int call_whole(MDB_txn *txn, MDB_dbi meta, uint32_t number)
{
	struct chi_store_state state;
	int rc = chi_state_get(txn, meta, &state);
	assert_int_equal(state.partial, number);
	state.partial = 0;
	return rc == CHI_OK ? chi_state_put(txn, meta, &state) : rc;
}

CASE(a_store_is_whole_only_if_its_games_are, NULL, help_teardown)
{
	make((struct chi_import_options){.max_ply = 5});
	raw_edit("store", "meta", call_whole, 1);
	finds("it is not listed in all of its positions, as the state says");
	make((struct chi_import_options){.games_min = 2});
	raw_edit("store", "meta", call_whole, 1);
	finds("it is not listed in all of its positions, as the state says");
	make((struct chi_import_options){0});
	raw_edit("store", "meta", call_whole, 0);
	ok(verify("store"));
}

CASE(bounded_and_pruned_games_are_compared, NULL, help_teardown)
{
	struct chi_arena arena;
	struct chi_record record;
	struct chi_record_rest rest;
	struct chi_key key = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	make((struct chi_import_options){.max_ply = 5});
	make((struct chi_import_options){.games_min = 2});
	make((struct chi_import_options){.games_min = 2, .max_ply = 3});
	make((struct chi_import_options){.games_min = 200, .max_ply = 3});
	read_record(&key, &arena, &record, &rest);
	/* Pruned games may lack, but what is there must be so. */
	struct chi_key other = help_fen(AFTER_RA2);
	struct chi_posting wrong = {.game = 5, .move = 0};
	const struct chi_record one = {.counts = {.white = 1, .draws = 1, .black = 1, .other = 1}};
	rest = (struct chi_record_rest){.games = &wrong, .n_games = 1};
	write_record(&other, &one, &rest);
	finds("game 5 is in its list, with what it did not play here");
	chi_arena_deinit(&arena);
}

/* ---- Copies ------------------------------------------------------------------------------- */

static uint64_t sum_text(uint64_t sum, const void *bytes, size_t len)
{
	return len > 0 ? XXH3_64bits_withSeed(bytes, len, sum) : sum + 1;
}

/* Of all that is kept of all games. */
static uint64_t sum_games(struct chi_read *read)
{
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	struct chi_arena arena;
	struct chi_game game;
	uint64_t sum = 0;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_read_archive(read, &view));
	ok(chi_archive_reader_new(&reader));
	ok(chi_archive_reader_begin(reader, view.txn, &view.trees));
	for (uint32_t number = 1; number <= view.last; number++) {
		chi_arena_reset(&arena);
		int rc = chi_archive_game(reader, number, &arena, &game);
		if (rc == CHI_NONE) {
			continue;
		}
		ok(rc);
		sum = sum_text(sum, &game.head, sizeof(game.head));
		sum = sum_text(sum, game.moves, game.n_plies * sizeof(*game.moves));
		for (size_t i = 0; i < game.n_tags; i++) {
			sum = sum_text(sum, game.tags[i].value, game.tags[i].value_len);
		}
	}
	chi_archive_reader_free(reader);
	chi_arena_deinit(&arena);
	return sum;
}

/* The games, and how many reached the initial position. */
static uint64_t sum_store(const char *name)
{
	struct chi_key key = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_READ);
	struct chi_reached *reached;
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	uint64_t sum = sum_games(read);
	ok(chi_reached_open(read, &key, 0, &reached));
	sum += chi_reached_games(reached);
	chi_reached_close(reached);
	chi_read_end(read);
	chi_dir_close(store);
	ok(verify(name));
	return sum;
}

static void copy(struct chi_dir *store, const char *name)
{
	struct chi_copy *copy;
	int fd;
	ok(chi_copy_begin(help_path(name), CHI_BACKUP_STORE, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	ok(chi_copy_finish(copy, &fault));
}

CASE(games_survive_copies_and_compaction, NULL, help_teardown)
{
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	_cleanup_(chi_freep) char *some = session_games(GAMES / 3, 40);
	make((struct chi_import_options){0});
	/* Free pages, rows of games that are gone, lists that have become short. */
	session_add("store", some);
	session_subtract("store", some);
	session_add("store", first_game);
	_cleanup_(chi_freep) char *dump = session_dump("store");
	uint64_t sum = sum_store("store");
	struct chi_dir *store = help_open(help_path("store"), CHI_STORE_WRITE);
	copy(store, "copy");
	ok(help_publish(store, help_path("published")));
	ok(chi_compact_prepare(store, &compaction, &fault));
	ok(chi_compact_swap(compaction, &before, &after, &fault));
	chi_dir_close(store);
	assert_true(after < before);
	static const char *const names[] = {"store", "copy", "published"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(sum_store(names[i]) == sum);
		_cleanup_(chi_freep) char *other = session_dump(names[i]);
		assert_string_equal(other, dump);
	}
	/* Numbers go on where they were. */
	session_add("store", some);
	session_add("copy", some);
	assert_true(sum_store("store") == sum_store("copy"));
}

/* Of a store without damage all is saved, and goes on counting games once. */
CASE(repair_saves_all_that_is_sound, NULL, help_teardown)
{
	struct chi_repair_result result = {0};
	make((struct chi_import_options){0});
	said[0] = '\0';
	ok(chi_dir_repair(help_path("store"), help_path("saved"), 0, chi_import_relist, note_report,
			  NULL, &result, &fault));
	assert_string_equal(said, "");
	assert_int_equal(result.games, taken);
	assert_int_equal(result.missing, 0);
	_cleanup_(chi_freep) char *saved = session_dump("saved");
	_cleanup_(chi_freep) char *dump = session_dump("store");
	assert_string_equal(saved, dump);
	ok(verify("saved"));
}
