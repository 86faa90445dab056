/* SPDX-License-Identifier: MIT */
/*
 * Reaches store/pages/page_file.h and store/rescue/salvage.h, the readers of damaged data files: a
 * store of 100 positions, damaged as the input says. The input is the number of 256-byte pieces cut
 * off the file's end (2 bytes), then patches: page (1), offset (2), length (1), the bytes.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "tests/fuzz/fuzz.h"
#include "base/arena.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/names.h"
#include "store/record/codec.h"
#include "store/rescue/salvage.h"
#include "store/store.h"
#include "store/txn/txn.h"

#define START	  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define POSITIONS 100
#define IMAGE_MAX (1u << 20)
#define PIECE	  256

/* In memory: the file is written to in every run. */
static char dir[64] = "/dev/shm/chistore-fuzz-XXXXXX";
static uint8_t base[IMAGE_MAX]; /* the undamaged file */
static size_t base_len;
static int fd = -1;

static void remove_dir(void)
{
	static const char *const names[] = {DATA_NAME, LMDB_LOCK, CHI_LOCK_NAME};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[CHI_PATH_SIZE];
		if (chi_path_join(path, dir, names[i]) == CHI_OK) {
			(void)unlink(path);
		}
	}
	(void)rmdir(dir);
}

/* The positions of a game in which always the move in the middle of the list is played; one has a
 * note that takes two pages of its own. No more, as every run decodes all records, and most of its
 * time would go into the letters of notes. */
static void fill(struct chi_write *write)
{
	static char text[4100];
	struct chi_position position;
	struct chi_put_result result = {0};
	memset(text, 'n', sizeof(text));
	REQUIRE(chi_fen_parse(START, strlen(START), &position, NULL) == CHI_OK);
	for (int i = 0; i < POSITIONS; i++) {
		struct chi_put_entry put = {.parts = CHI_PUT_COUNTS, .record.counts.white = 1};
		struct chi_move_list list;
		struct chi_position next;
		chi_key_encode(&position, &put.key);
		if (i == 20) {
			put.parts |= CHI_PUT_NOTE;
			put.record.note = text;
			put.record.n_note = sizeof(text);
		}
		REQUIRE(chi_write_put(write, &put, &result) == CHI_OK);
		chi_movegen_legal(&position, &list);
		if (list.n == 0) {
			REQUIRE(chi_fen_parse(START, strlen(START), &position, NULL) == CHI_OK);
			continue;
		}
		chi_position_play(&position, list.moves[(list.n + (size_t)i) / 2 % list.n], &next);
		position = next;
	}
}

static void make_base(void)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_WRITE,
						.map_bytes = UINT64_C(1) << 30};
	struct chi_dir *store;
	struct chi_write *write;
	char path[CHI_PATH_SIZE];
	REQUIRE(mkdtemp(dir) != NULL);
	(void)atexit(remove_dir);
	REQUIRE(chi_dir_create(dir, CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS, NULL) == CHI_OK);
	REQUIRE(chi_dir_open(dir, &options, &store, NULL) == CHI_OK);
	REQUIRE(chi_write_begin(store, &write, NULL) == CHI_OK);
	fill(write);
	REQUIRE(chi_write_commit(write, NULL) == CHI_OK);
	chi_dir_close(store);
	REQUIRE(chi_path_join(path, dir, DATA_NAME) == CHI_OK);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t n = read(fd, base, sizeof(base));
	REQUIRE(n > 0 && n < (ssize_t)sizeof(base));
	base_len = (size_t)n;
}

/* Bytes are looked at, so that a length that lies is seen. */
static int take(void *context, enum chi_salvage_tree tree, const MDB_val *key, const MDB_val *value)
{
	struct chi_arena *arena = context;
	struct chi_record record;
	struct chi_game_id game;
	const uint8_t *bytes = value->mv_data;
	size_t len = value->mv_size;
	(void)tree;
	(void)chi_checksum(key->mv_data, key->mv_size, bytes, len);
	(void)chi_strength_ok(key->mv_data, key->mv_size, len);
	(void)!chi_game_decode(key->mv_data, key->mv_size, bytes, len, &game);
	chi_arena_reset(arena);
	(void)!chi_record_decode(bytes, len, arena, &record, NULL);
	return CHI_OK;
}

static void salvage(void)
{
	struct chi_salvage s;
	struct chi_arena arena;
	struct chi_fault fault;
	(void)!chi_file_check(dir, &fault);
	chi_arena_init(&arena, CHI_RECORD_ARENA);
	int rc = chi_salvage_open(&s, dir, take, NULL, &arena, &fault);
	if (rc == CHI_OK) {
		for (int i = 0; i < CHI_SALVAGE_TREES; i++) {
			REQUIRE(chi_salvage_walk(&s, (enum chi_salvage_tree)i) == CHI_OK);
		}
		REQUIRE(chi_salvage_lost(&s, true) == CHI_OK);
		chi_salvage_close(&s);
	}
	chi_arena_deinit(&arena);
}

/* Writes the patches over the file, or what was there before. */
static void patch(struct chi_reader r, bool undo)
{
	while (chi_reader_left(&r) > 4) {
		size_t at = (size_t)chi_read_le(&r, 1) * 4096;
		at += (size_t)chi_read_le(&r, 2) % 4096;
		size_t len = (size_t)chi_read_le(&r, 1);
		len = len < chi_reader_left(&r) ? len : chi_reader_left(&r);
		const uint8_t *bytes = chi_read_bytes(&r, len);
		if (bytes != NULL && at + len <= base_len) {
			REQUIRE(pwrite(fd, undo ? base + at : bytes, len, (off_t)at) ==
				(ssize_t)len);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (fd < 0) {
		make_base();
	}
	struct chi_reader r = chi_reader_of(data, size);
	size_t cut = (size_t)chi_read_le(&r, 2) * PIECE;
	if (r.bad) {
		return 0;
	}
	patch(r, false);
	if (cut > 0 && cut <= base_len) {
		REQUIRE(ftruncate(fd, (off_t)(base_len - cut)) == 0);
	}
	salvage();
	if (cut > 0 && cut <= base_len) {
		REQUIRE(pwrite(fd, base, base_len, 0) == (ssize_t)base_len);
	}
	patch(r, true);
	return 0;
}
