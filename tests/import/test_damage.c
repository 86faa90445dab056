/* SPDX-License-Identifier: MIT */
/*
 * A store of games with a bit, a sector or two pages changed anywhere: whatever is asked of its
 * games, names, lists, gamesets, queue and identities is answered as before, or with an error.
 * Never is something that is there "not found", nor a list shorter.
 */
#include "tests/import/session.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/attr.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/gamesets/gamesets.h"
#include "store/names/names.h"
#include "store/queue.h"
#include "tests/base/seed.h"

#define GAMES 300
#define PAGE  4096
#define ASKED 64 /* of a kind that is looked up one by one */

static struct chi_key keys[ASKED];

/* ---- What is asked ------------------------------------------------------------------------ */

enum {
	IDENTITIES,
	LIST,
	GAMESETS,
	WAITING,
	LEASED,
	NAMES,
	BODIES = NAMES + CHI_NAME_KINDS,
	LOOK_UPS = BODIES + ASKED,
	ANSWERS = LOOK_UPS + ASKED,
};

/* Hashes; 0: an error. */
struct answers {
	uint64_t hash[ANSWERS];
};

struct asking {
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_arena arena;
	uint64_t hash;
};

static void note(struct asking *a, const void *bytes, size_t len)
{
	a->hash = XXH3_64bits_withSeed(bytes, len, a->hash);
}

static int ask_identities(struct asking *a)
{
	struct chi_game_id page[50];
	size_t n = CHI_COUNT(page);
	int rc = CHI_OK;
	for (bool first = true; rc == CHI_OK && n == CHI_COUNT(page); first = false) {
		rc = chi_read_game_ids(a->read, first ? NULL : page[n - 1].id, page,
				       CHI_COUNT(page), &n);
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			note(a, page[i].id, sizeof(page[i].id));
		}
	}
	return rc;
}

static int ask_list(struct asking *a)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	int rc = chi_reached_open(a->read, &keys[0], 0, &reached);
	if (rc != CHI_OK) {
		return rc;
	}
	while ((rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; i < n; i++) {
			note(a, &entries[i].game, sizeof(entries[i].game));
		}
	}
	chi_reached_close(reached);
	return rc == CHI_NONE ? CHI_OK : rc;
}

static int ask_gamesets(struct asking *a)
{
	struct chi_gameset_entry entry = {.name = ""};
	char name[CHI_GAMESET_KEY_MAX];
	int rc;
	size_t len = 0;
	while ((rc = chi_gameset_after(a->view.txn, a->view.trees.gamesets, name, len, &entry)) ==
	       CHI_OK) {
		len = entry.name_len;
		memcpy(name, entry.name, len);
		note(a, name, len);
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

static int ask_queue(struct asking *a, enum chi_queue_state state)
{
	struct chi_queue_page list;
	int rc = chi_read_queue(a->read, state, NULL, CHI_QUEUE_BATCH_MAX, &a->arena, &list);
	for (size_t i = 0; rc == CHI_OK && i < list.n; i++) {
		note(a, list.rows[i].key.bytes, list.rows[i].key.len);
	}
	return rc;
}

static int note_name(void *context, const struct chi_name *name)
{
	note(context, name->text, name->len);
	return CHI_OK;
}

static int ask_names(struct asking *a, enum chi_name_kind kind)
{
	uint32_t n = 0;
	MDB_txn *txn = a->view.txn;
	int rc = chi_names_walk(txn, a->view.trees.names, kind, 1, note_name, a);
	rc = rc == CHI_OK ? chi_names_count(txn, a->view.trees.names, kind, &n) : rc;
	note(a, &n, sizeof(n));
	return rc;
}

static int ask_body(struct asking *a, uint32_t number)
{
	struct chi_archive_reader *reader;
	struct chi_game game = {.n_tags = 0};
	int rc = chi_archive_reader_new(&reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(reader, a->view.txn, &a->view.trees) : rc;
	rc = rc == CHI_OK ? chi_archive_game(reader, number, &a->arena, &game) : rc;
	note(a, &game.n_tags, sizeof(game.n_tags));
	note(a, &rc, sizeof(rc));
	chi_archive_reader_free(reader);
	return rc < 0 ? rc : CHI_OK;
}

/* The number of a player by name. */
static int ask_name(struct asking *a, unsigned i)
{
	char text[32];
	uint32_t id = 0;
	int len = snprintf(text, sizeof(text), "w%u", i);
	int rc = chi_names_lookup(a->view.txn, a->view.trees.names, CHI_NAME_PLAYER, text,
				  (size_t)len, &id);
	note(a, &id, sizeof(id));
	note(a, &rc, sizeof(rc));
	return rc < 0 ? rc : CHI_OK;
}

static int ask(struct asking *a, int what)
{
	return what == IDENTITIES ? ask_identities(a)
	       : what == LIST	  ? ask_list(a)
	       : what == GAMESETS ? ask_gamesets(a)
	       : what == WAITING  ? ask_queue(a, CHI_QUEUE_WAITING)
	       : what == LEASED	  ? ask_queue(a, CHI_QUEUE_LEASED)
	       : what < BODIES	  ? ask_names(a, (enum chi_name_kind)(what - NAMES + 1))
	       : what < LOOK_UPS  ? ask_body(a, 1 + (uint32_t)(what - BODIES) * 5)
				  : ask_name(a, (unsigned)(what - LOOK_UPS));
}

static bool ask_all(struct answers *out)
{
	struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	*out = (struct answers){0};
	if (chi_dir_open(help_path("store"), &options, &store, NULL) < 0) {
		return false;
	}
	for (int what = 0; what < ANSWERS; what++) {
		struct asking a = {.hash = 1};
		chi_arena_init(&a.arena, (size_t)1 << 24);
		if (chi_read_begin(store, &a.read) == CHI_OK) {
			int rc = chi_read_archive(a.read, &a.view);
			rc = rc == CHI_OK ? ask(&a, what) : rc;
			out->hash[what] = rc == CHI_OK ? a.hash | 1 : 0;
			chi_read_end(a.read);
		}
		chi_arena_deinit(&a.arena);
	}
	chi_dir_close(store);
	return true;
}

/* ---- The store ---------------------------------------------------------------------------- */

static void add_gamesets(struct chi_write *write)
{
	static const uint8_t none[] = {0x3a, 0x30, 0, 0, 0, 0, 0, 0};
	for (unsigned i = 0; i < 40; i++) {
		char name[32];
		const struct chi_gameset_entry entry = {
			.name = name,
			.name_len = (size_t)snprintf(name, sizeof(name), "set-%u", i),
			.filter = "eco B90..B99",
			.filter_len = 12,
			.bitmap = none,
			.bitmap_len = sizeof(none)};
		ok(chi_write_gameset(write, &entry));
	}
}

static void make_store(void)
{
	struct import_session session = {.statistic = CHI_STATISTIC_CONTROL};
	struct chi_write *write;
	struct chi_queue_added added = {0};
	struct chi_queue_lease lease;
	struct chi_arena arena;
	const struct chi_queue_take_spec take = {
		.holder = "engine", .limit = 20, .lease_ms = 60000};
	char *text = session_games(GAMES, 40);
	const char *texts[] = {text, NULL};
	ok(session_run(&session, "store", texts));
	free(text);
	for (size_t i = 0; i < ASKED; i++) {
		keys[i] =
			i == 0 ? help_fen(
					 "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
			       : help_key();
	}
	struct chi_dir *store = help_open(help_path("store"), CHI_STORE_WRITE);
	chi_arena_init(&arena, (size_t)1 << 20);
	ok(chi_write_begin(store, &write, &fault));
	add_gamesets(write);
	ok(chi_write_queue_add(write, keys, ASKED, 3, chi_queue_clock(), &added));
	ok(chi_write_queue_take(write, &take, chi_queue_clock(), &arena, &lease));
	ok(chi_write_commit(write, &fault));
	chi_arena_deinit(&arena);
	chi_dir_close(store);
}

/* ---- Damage ------------------------------------------------------------------------------- */

/* Of the pages after the heads: with those the last commit may go, as is told elsewhere. */
static void damage(int fd, const uint8_t *good, size_t size)
{
	size_t pages = size / PAGE - 2;
	size_t at = 2 * PAGE + help_random() % (pages * PAGE);
	switch (help_below(4)) {
	case 0: {
		static const uint8_t zeros[512];
		at &= ~(size_t)511;
		assert_int_equal(pwrite(fd, zeros, sizeof(zeros), (off_t)at), sizeof(zeros));
		break;
	}
	case 1: {
		size_t other = PAGE * (2 + help_random() % pages);
		at -= at % PAGE;
		assert_int_equal(pwrite(fd, good + at, PAGE, (off_t)other), PAGE);
		assert_int_equal(pwrite(fd, good + other, PAGE, (off_t)at), PAGE);
		break;
	}
	default: {
		uint8_t byte = good[at] ^ (uint8_t)(1u << help_below(8));
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		break;
	}
	}
}

enum {
	SAME,
	ERRORS,
	REFUSED,
	WRONG
};

static int compare(const struct answers *wanted)
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct answers found;
	int end = SAME;
	for (size_t i = 0; i < CHI_COUNT(deadly); i++) {
		(void)signal(deadly[i], SIG_DFL); /* cmocka's would go on with the parent's tests */
	}
	(void)alarm(60);
	if (!ask_all(&found)) {
		return REFUSED;
	}
	for (int what = 0; what < ANSWERS; what++) {
		if (found.hash[what] != 0 && found.hash[what] != wanted->hash[what]) {
			return WRONG + what;
		}
		end = found.hash[what] == 0 ? ERRORS : end;
	}
	return end;
}

CASE(no_damage_hides_an_entry, NULL, help_teardown)
{
	struct answers wanted;
	char path[1024];
	unsigned seen[WRONG] = {0};
	unsigned stopped = 0;
	make_store();
	assert_true(ask_all(&wanted));
	(void)snprintf(path, sizeof(path), "%s/data.mdb", help_path("store"));
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *good = malloc((size_t)size);
	assert_non_null(good);
	assert_int_equal(pread(fd, good, (size_t)size, 0), size);
	size_t rounds = seed_rounds(400);
	for (size_t i = 0; i < rounds; i++) {
		int status;
		damage(fd, good, (size_t)size);
		pid_t child = fork();
		if (child == 0) {
			(void)fclose(stderr);
			_exit(compare(&wanted));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFSIGNALED(status)) {
			assert_int_not_equal(WTERMSIG(status), SIGALRM);
			stopped++;
		} else {
			if (WEXITSTATUS(status) >= WRONG) {
				print_message("# round %zu: answer %d is wrong\n", i,
					      WEXITSTATUS(status) - WRONG);
			}
			assert_in_range(WEXITSTATUS(status), SAME, REFUSED);
			seen[WEXITSTATUS(status)]++;
		}
		assert_int_equal(pwrite(fd, good, (size_t)size, 0), size);
	}
	print_message("# figures: %zu damaged stores of games: %u stopped, %u refused, %u with "
		      "errors, %u unharmed, 0 wrong answers\n",
		      rounds, stopped, seen[REFUSED], seen[ERRORS], seen[SAME]);
	assert_true(seen[ERRORS] > 0);
	free(good);
	(void)close(fd);
}
