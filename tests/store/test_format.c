/* SPDX-License-Identifier: MIT */
/* The bytes in FORMAT.md are those that the code writes. */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/notation.h"
#include "chess/pgn/notes.h"
#include "store/block/block.h"
#include "store/games/archive.h"
#include "store/games/moves.h"
#include "store/games/number.h"
#include "store/gamesets/gamesets.h"
#include "store/queue/queue.h"
#include "store/names.h"
#include "store/lmdb_err.h"
#include "store/names/names_priv.h"
#include "store/postings/postings.h"
#include "store/record/clients.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "tests/chess/notes_check.h"
#include "tests/store/archive.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static uint8_t buffer[CHI_RECORD_BYTES_MAX];

static char *format_text;

static void load_format(void)
{
	const char *path = getenv("CHISTORE_FORMAT");
	assert_non_null(path);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	format_text = calloc(1, 1 << 20);
	assert_non_null(format_text);
	assert_true(fread(format_text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
}

/* Compares with the hex after "example NAME:", up to an empty line. */
static void check_example(const char *name, const uint8_t *bytes, size_t len)
{
	char head[64];
	char expected[1024] = "";
	char found[1024] = "";
	snprintf(head, sizeof(head), "example %s:", name);
	for (size_t i = 0; i < len; i++) {
		snprintf(expected + 2 * i, 3, "%02x", bytes[i]);
	}
	const char *at = strstr(format_text, head);
	if (at != NULL) {
		at += strlen(head);
		size_t n = 0;
		for (; !(at[0] == '\n' && (at[1] == '\n' || at[1] == '`')); at++) {
			if (strchr("0123456789abcdef", *at) != NULL && *at != '\0') {
				found[n++] = *at;
			}
		}
	}
	if (strcmp(expected, found) != 0) {
		print_message("# example %s:\n# code says  %s\n# FORMAT.md  %s\n", name, expected,
			      found);
	}
	assert_string_equal(expected, found);
}

static void check_record(const char *name, const struct chi_record *record)
{
	size_t len;
	assert_int_equal(chi_record_encode(record, NULL, buffer, sizeof(buffer), &len), CHI_OK);
	check_example(name, buffer, len);
}

static chi_move uci(const char *text)
{
	return chi_move_make(text[0] - 'a' + (text[1] - '1') * 8,
			     text[2] - 'a' + (text[3] - '1') * 8, 0);
}

/* A record with a list of games, which is no part of its struct. */
static void check_listed(const char *name, const struct chi_record *record,
			 const struct chi_record_rest *rest)
{
	size_t len;
	struct chi_record back;
	struct chi_record_rest found;
	struct chi_arena arena;
	struct chi_row row = {0};
	ok(chi_record_encode(record, rest, buffer, sizeof(buffer), &len));
	check_example(name, buffer, len);
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	ok(chi_record_decode(buffer, len, &arena, &back, &found));
	assert_int_equal(found.n_games, rest->n_games);
	for (size_t i = 0; i < rest->n_games; i++) {
		assert_int_equal(found.games[i].game, rest->games[i].game);
		assert_int_equal(found.games[i].move, rest->games[i].move);
	}
	assert_int_equal(found.listed, rest->listed);
	assert_int_equal(found.listed_games, rest->listed_games);
	chi_arena_deinit(&arena);
	ok(chi_record_decode_strength(buffer, len, NULL, &row));
	assert_true(chi_counts_equal(&row.counts, &record->counts));
	struct chi_record_summary summary;
	ok(chi_record_summarise(buffer, len, NULL, &summary));
	assert_int_equal(chi_record_is_listed(buffer, len), rest->listed > 0);
}

static void check_lists(const struct chi_move_stat *move, const struct chi_ply_stat *ply)
{
	struct chi_posting games[] = {{300, move->move}, {301, 0}, {455, uci("d2d4")}};
	struct chi_record_rest rest = {.games = games, .n_games = 1};
	struct chi_record record = {
		.counts.white = 1, .moves = move, .n_moves = 1, .plies = ply, .n_plies = 1};
	check_listed("one-game-number", &record, &rest);
	struct chi_move_stat moves[] = {{uci("d2d4"), {.black = 1}}, *move};
	record = (struct chi_record){
		.counts = {1, 1, 1, 0}, .moves = moves, .n_moves = 2, .plies = NULL};
	rest.n_games = 3;
	check_listed("list-here", &record, &rest);
	record.counts.draws = 70;
	check_listed("list-apart", &record,
		     &(struct chi_record_rest){.listed = 72, .listed_games = 71});
	struct chi_key start = help_fen(START);
	uint8_t chunk_key[CHI_POSTINGS_CHUNK_KEY_MAX];
	uint8_t chunk[CHI_POSTINGS_CHUNK_MAX];
	size_t key_len;
	size_t len;
	assert_int_equal(chi_postings_chunk_encode(start.bytes, start.len, games, 3, chunk_key,
						   &key_len, chunk, &len),
			 3);
	check_example("chunk-key", chunk_key, key_len);
	check_example("chunk", chunk, len);
}

CASE(test_examples)
{
	load_format();
	struct chi_key key = help_fen(START);
	check_example("key", key.bytes, key.len);
	check_record("empty", &(struct chi_record){0});
	check_record("known", &(struct chi_record){.chi2 = 7600});
	struct chi_move_stat one = {uci("e2e4"), {.white = 1}};
	check_record("one-game",
		     &(struct chi_record){.counts.white = 1, .moves = &one, .n_moves = 1});
	struct chi_ply_stat plies[] = {{0, 1}, {4, 2}, {130, 2}};
	check_record("one-game-ply", &(struct chi_record){.counts.white = 1,
							  .moves = &one,
							  .n_moves = 1,
							  .plies = plies,
							  .n_plies = 1});
	check_lists(&one, plies);
	plies[0].games = 5;
	struct chi_record five = {.counts = {3, 0, 0, 2}, .plies = plies, .n_plies = 1};
	check_record("plies-all", &five);
	five.plies = plies + 1;
	five.n_plies = 2;
	check_record("plies-list", &five);
	struct chi_move_stat two[] = {{uci("e2e4"), {.white = 2, .draws = 1}},
				      {uci("d2d4"), {.black = 300}}};
	struct chi_move_stat sorted[] = {two[1], two[0]};
	check_record("many-games", &(struct chi_record){.chi2 = 7600,
							.counts = {2, 1, 300, 1},
							.moves = sorted,
							.n_moves = 2});
	chi_move line[] = {uci("e2e4"), uci("e7e5")};
	struct chi_eval eval = {.engine = "Gull 3",
				.engine_len = 6,
				.depth = 20,
				.score = -35,
				.nodes = 1000000,
				.date = 1700000000,
				.pv = line,
				.n_pv = 2};
	check_record("sections", &(struct chi_record){.chi2 = 7600,
						      .line = line,
						      .n_line = 2,
						      .evals = &eval,
						      .n_evals = 1,
						      .note = "start",
						      .n_note = 5});
	uint8_t entry[CHI_STRENGTH_KEY_MAX];
	size_t len = chi_strength_key(7645, key.bytes, key.len, entry);
	check_example("entry-key", entry, len);
	check_example("entry-value", buffer, chi_strength_value(line, 2, buffer));
}

CASE(test_meta_examples)
{
	struct chi_stamp stamp = {.major = CHI_FORMAT_MAJOR,
				  .statistic = CHI_STATISTIC_CONTROL,
				  .created = 1700000000,
				  .creator = "chistore 0.1.0"};
	for (size_t i = 0; i < sizeof(stamp.uuid); i++) {
		stamp.uuid[i] = (uint8_t)(i * 17);
	}
	uint8_t bytes[CHI_STATE_SIZE > CHI_STAMP_SIZE ? CHI_STATE_SIZE : CHI_STAMP_SIZE];
	chi_stamp_encode(&stamp, bytes);
	check_example("stamp", bytes, CHI_STAMP_SIZE);
	struct chi_store_state meta = {.sequence = 3,
				       .base = {4, 5, 6, 7},
				       .games = {8, 9, 10, 11},
				       .positions = 12,
				       .known = 13,
				       .position_bytes = 14,
				       .strength_bytes = 15,
				       .last_game = 0x10,
				       .txn = 2,
				       .horizon = 1,
				       .partial = 1,
				       .expected = {17, -18, 19, 20}};
	chi_state_encode(&meta, bytes);
	check_example("state", bytes, CHI_STATE_SIZE);
	struct chi_store_state read;
	ok(chi_state_decode(bytes, CHI_STATE_SIZE, &read));
	assert_memory_equal(&read, &meta, sizeof(meta));
	/* As it was before the performance statistic: without its four numbers. */
	const size_t older = CHI_STATE_SIZE_LEAST;
	static const uint8_t sum[] = {0xed, 0x56, 0xa2, 0x98, 0x1c, 0xb4, 0x25, 0xc5};
	memcpy(bytes + older - sizeof(sum), sum, sizeof(sum));
	ok(chi_state_decode(bytes, older, &read));
	meta.expected = (struct chi_expectation){0};
	assert_memory_equal(&read, &meta, sizeof(meta));
	assert_int_equal(chi_state_decode(bytes, older - 1, &read), -CHI_ECORRUPT);
	assert_int_equal(chi_state_decode(bytes, older + 1, &read), -CHI_ECORRUPT);
	struct chi_game_id game = {.result = CHI_RESULT_DRAW};
	for (size_t i = 0; i < sizeof(game.id); i++) {
		game.id[i] = (uint8_t)(i * 17);
	}
	check_example("game-key", game.id, sizeof(game.id));
	check_example("game", bytes, chi_game_encode(&game, bytes));
	game.pruned = true;
	game.max_ply = 300;
	game.result = CHI_RESULT_BLACK;
	check_example("game-pruned", bytes, chi_game_encode(&game, bytes));
	struct chi_done done[] = {{41, {.kind = CHI_IDEMPOTENCY_PUT, .counts = {2, 300}}},
				  {42, {.kind = CHI_IDEMPOTENCY_DELETE, .counts = {1}}}};
	struct chi_remembered client = {
		.last_use = 1300, .peer = 7, .floor = 40, .n = 2, .done = done};
	static uint8_t record[CHI_REMEMBERED_BYTES];
	memcpy(client.id, game.id, sizeof(client.id));
	check_example("client-key", client.id, sizeof(client.id));
	check_example("client", record, chi_remembered_encode(&client, record));
	free(format_text);
}

struct made {
	uint8_t bytes[1024];
	size_t len;
	size_t low_len;
};

static int take_block(void *context, const uint8_t *low, size_t low_len, const uint8_t *bytes,
		      size_t len)
{
	struct made *made = context;
	made->low_len = low_len;
	made->len = len;
	memcpy(made->bytes, low, low_len);
	memcpy(made->bytes + low_len, bytes, len);
	return CHI_OK;
}

CASE(test_block_examples)
{
	static uint8_t room[CHI_BUILDER_ROOM];
	static struct chi_builder builder;
	static const uint8_t once[] = {0x62, 0x01, 0x24, 0x0d};
	static const uint8_t line[] = {0x1c, 0x03, 0x24, 0x0d};
	struct chi_key keys[] = {
		help_fen("rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"),
		help_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
		help_fen(START),
	};
	struct made made;
	load_format();
	chi_builder_init(&builder, CHI_TREE_POSITION, room, take_block, &made);
	for (size_t i = 0; i < CHI_COUNT(keys); i++) {
		ok(chi_builder_add(&builder, keys[i].bytes, keys[i].len, once, sizeof(once)));
	}
	ok(chi_builder_finish(&builder));
	check_example("block-low", made.bytes, made.low_len);
	check_example("block", made.bytes + made.low_len, made.len);
	chi_builder_init(&builder, CHI_TREE_STRENGTH, room, take_block, &made);
	for (size_t i = 1; i < CHI_COUNT(keys); i++) {
		uint8_t entry[CHI_STRENGTH_KEY_MAX];
		size_t len = chi_strength_key((uint16_t)(7600 + 45 * (i - 1)), keys[i].bytes,
					      keys[i].len, entry);
		ok(chi_builder_add(&builder, entry, len, line, i == 2 ? sizeof(line) : 0));
	}
	ok(chi_builder_finish(&builder));
	check_example("strength-block-low", made.bytes, made.low_len);
	check_example("strength-block", made.bytes + made.low_len, made.len);
	free(format_text);
}

/* The entry whose key begins as that of an item, as two examples. */
static void check_list(MDB_txn *txn, MDB_dbi dbi, const char *name, struct chi_name_item item)
{
	char example[64];
	uint8_t from[] = {item.entry, item.kind, (uint8_t)(item.bucket >> 8), (uint8_t)item.bucket};
	MDB_val key = {sizeof(from), from};
	MDB_val value;
	MDB_cursor *cursor;
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	assert_int_equal(chi_chain_step(cursor, CHI_CHAIN_NAMES, &key, &value, MDB_SET_RANGE), 0);
	snprintf(example, sizeof(example), "%s-key", name);
	check_example(example, key.mv_data, key.mv_size);
	check_example(name, value.mv_data, value.mv_size);
	mdb_cursor_close(cursor);
}

static void check_names(MDB_txn *txn, MDB_dbi dbi)
{
	uint8_t bytes[CHI_MEMBER_KEY];
	MDB_val key = {CHI_CHUNK_KEY, bytes};
	MDB_val value;
	chi_chunk_key(CHI_NAME_PLAYER, 0, bytes);
	assert_int_equal(chi_chain_get(txn, dbi, CHI_CHAIN_NAMES, &key, &value), 0);
	check_example("names-key", bytes, CHI_CHUNK_KEY);
	check_example("names-chunk", value.mv_data, value.mv_size);
	check_list(txn, dbi, "names-text", chi_text_item(CHI_NAME_PLAYER, "Tal, Mikhail", 12));
	check_list(txn, dbi, "names-word", chi_word_item(CHI_NAME_PLAYER, "tal", 3));
	check_list(txn, dbi, "names-fide", chi_fide_item(CHI_NAME_PLAYER, 300));
	key.mv_size = CHI_MEMBER_KEY;
	chi_member_key(CHI_NAME_PLAYER, 2, 1, bytes);
	assert_int_equal(chi_chain_get(txn, dbi, CHI_CHAIN_NAMES, &key, &value), 0);
	assert_int_equal(value.mv_size, 0);
	check_example("names-member-key", bytes, CHI_MEMBER_KEY);
}

CASE(test_names_examples)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	struct chi_name_cache *cache;
	uint32_t id;
	load_format();
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 1), 0);
	assert_int_equal(mdb_env_open(env, help_path("names.mdb"), MDB_NOSUBDIR, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, NAMES_TREE, MDB_CREATE, &dbi), 0);
	assert_int_equal(chi_chain_make(txn, dbi, CHI_CHAIN_NAMES), 0);
	ok(chi_name_cache_new(0, &cache));
	ok(chi_names_intern(cache, txn, dbi, CHI_NAME_PLAYER, "Tal, M", 6, 0, &id));
	ok(chi_names_intern(cache, txn, dbi, CHI_NAME_PLAYER, "Tal, Mikhail", 12, 300, &id));
	ok(chi_names_flush(cache, txn, dbi));
	ok(chi_names_alias(txn, dbi, CHI_NAME_PLAYER, 1, 2, &fault));
	check_names(txn, dbi);
	chi_name_cache_free(cache);
	mdb_txn_abort(txn);
	mdb_env_close(env);
	free(format_text);
}

static void check_raw(MDB_txn *txn, MDB_dbi dbi, const char *key, size_t len, const char *name)
{
	MDB_val at = chi_val(key, len);
	MDB_val value;
	assert_int_equal(mdb_get(txn, dbi, &at, &value), 0);
	assert_true(value.mv_size >= CHI_CHAIN_LINK);
	check_example(name, value.mv_data, CHI_CHAIN_LINK);
}

CASE(test_chain_examples, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	MDB_dbi dbi = archive->trees.gamesets;
	const MDB_val key = chi_val("najdorf", 7);
	load_format();
	check_raw(archive->txn, dbi, "", 1, "chain-empty");
	assert_int_equal(chi_chain_put(archive->txn, dbi, CHI_CHAIN_GAMESETS, &key, &key, 0), 0);
	check_raw(archive->txn, dbi, "najdorf", 7, "chain-link");
	check_raw(archive->txn, dbi, "", 1, "chain-head");
	free(format_text);
}

/* A value of a tree of games, under the number of its first game. */
static void check_chunk(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const char *name)
{
	uint8_t number[CHI_NUMBER_SIZE];
	MDB_val key = {sizeof(number), number};
	MDB_val value;
	chi_number_key(5, number);
	assert_int_equal(chi_chain_get(txn, dbi, chain, &key, &value), 0);
	check_example(name, value.mv_data, value.mv_size);
}

/* The parts of a game that are a language of their own; what is in FORMAT.md is read, too. */
CASE(test_parts_examples)
{
	static const char line[] = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3";
	struct chi_position start;
	chi_move moves[16];
	uint8_t bytes[16 * CHI_MOVES_ROOM];
	size_t n;
	size_t len;
	load_format();
	ok(chi_fen_parse(START, strlen(START), &start, NULL));
	ok(chi_line_parse(&start, line, strlen(line), moves, CHI_COUNT(moves), &n, NULL));
	ok(chi_moves_pack(NULL, moves, n, bytes, &len));
	check_example("moves", bytes, len);
	struct chi_notes_writer notes = chi_notes_writer_of(bytes, sizeof(bytes));
	static const char comment[] = "[%clk 0:03:00] good";
	chi_notes_nag(&notes, 1, 1);
	chi_notes_comment(&notes, 1, comment, strlen(comment));
	chi_notes_open(&notes, 2);
	chi_notes_move(&notes, uci("c7c5"));
	chi_notes_close(&notes);
	check_example("notes", bytes, notes.n);
	ok(check_notes(bytes, notes.n, 2));
	free(format_text);
}

CASE(test_games_examples, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_name_cache *names;
	struct chi_archive_writer *writer;
	struct chi_traits_writer *traits;
	const struct chi_tag tags[] = {{"Event", 5, "Riga", 4}, {"Date", 4, "1950.??.??", 10},
				       {"Round", 5, "3", 1},	{"White", 5, "Tal, M", 6},
				       {"Black", 5, "?", 1},	{"WhiteElo", 8, "", 0}};
	const chi_move moves[] = {uci("e2e4"), uci("e7e5")};
	struct chi_game game = {.head = {.number = 5, .plies = 2, .result = CHI_RESULT_DRAW},
				.tags = tags,
				.n_tags = CHI_COUNT(tags),
				.moves = moves,
				.n_plies = 2};
	load_format();
	ok(chi_name_cache_new(1 << 20, &names));
	ok(chi_traits_writer_new(1 << 20, &traits));
	ok(chi_archive_writer_new(archive->txn, &archive->trees, names, traits, &writer));
	ok(archive_put(writer, &game));
	game.head = (struct chi_game_head){.number = 6, .result = CHI_RESULT_WHITE, .source = 300};
	game.n_plies = 0;
	ok(archive_put(writer, &game));
	ok(chi_archive_flush(writer));
	check_chunk(archive->txn, archive->trees.columns, CHI_CHAIN_COLUMNS, "columns-value");
	check_chunk(archive->txn, archive->trees.games, CHI_CHAIN_GAMES, "games-value");
	chi_archive_writer_free(writer);
	chi_traits_writer_free(traits);
	chi_name_cache_free(names);
	free(format_text);
}

/* The bitmap is made by hand, and the value read again. */
CASE(test_gameset_example)
{
	static const char name[] = "najdorf";
	static const char filter[] = "eco B90..B99";
	/* Page 0, of 2 numbers: 3, and 13 between that and 17. 16 pages, then one of 70000 alone.
	 */
	static const uint8_t bitmap[] = {0, 2, 3, 13, 16, 1, 0xf0, 2};
	struct chi_gameset_entry read;
	struct chi_gameset_entry entry = {.name = name,
					  .name_len = strlen(name),
					  .filter = filter,
					  .filter_len = strlen(filter),
					  .mark = {.last = 70001, .names = {900, 80, 70, 2}},
					  .games = 3,
					  .bitmap = bitmap,
					  .bitmap_len = sizeof(bitmap)};
	load_format();
	check_example("gameset-key", (const uint8_t *)name, strlen(name));
	chi_gameset_encode(&entry, buffer);
	check_example("gameset", buffer, chi_gameset_size(&entry));
	const MDB_val key = {strlen(name), (void *)(uintptr_t)name};
	const MDB_val value = {chi_gameset_size(&entry), buffer};
	ok(chi_gameset_decode(&key, &value, &read));
	assert_int_equal(read.games, 3);
	assert_int_equal(read.bitmap_len, entry.bitmap_len);
	assert_memory_equal(read.bitmap, bitmap, read.bitmap_len);
	free(format_text);
}

CASE(test_queue_examples)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	const struct chi_queue_row row = {
		.key = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
		.state = CHI_QUEUE_LEASED,
		.priority = 7,
		.tries = 1,
		.asked = UINT64_C(1767225600000),
		.number = 1,
		.lease = 2,
		.expires = UINT64_C(1767225660000),
		.holder = "a"};
	const struct chi_queue_totals totals = {.next = 3, .counts = {.leased = 1}};
	struct chi_queue_bytes key = chi_queued_entry_key(&row.key);
	const struct chi_queue_bytes place = chi_queued_place(&row);
	struct chi_queue_row read;
	chi_arena_init(&arena, 1 << 16);
	load_format();
	check_example("queue-key", key.bytes, key.len);
	size_t len = chi_queued_encode(&row, buffer);
	check_example("queue-value", buffer, len);
	check_example("queue-place", place.bytes, place.len);
	const MDB_val name = {key.len, key.bytes};
	const MDB_val value = {len, buffer};
	ok(chi_queued_decode(&name, &value, &arena, &read));
	assert_string_equal(read.holder, "a");
	assert_int_equal(read.expires, row.expires);
	chi_queued_totals_encode(&totals, buffer);
	check_example("queue-totals", buffer, CHI_QUEUE_TOTALS_SIZE);
	free(format_text);
}

CASES_MAIN(NULL, help_teardown)
