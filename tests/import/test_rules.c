/* SPDX-License-Identifier: MIT */
/* Which games are counted and how far: the options, the results, and what refuses to begin. */
#include "tests/import/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "import/identity.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"

/* In LMDB's place, too. */
static unsigned syncs;
int count_fdatasync(int fd) __asm__("fdatasync");
int count_fdatasync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

/* A good game, one with an illegal move, one with a null move, one without moves, one of other
 * rules, one without a start. */
static const char mixed[] =
	"[Event \"1\"]\n[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n"
	"[Event \"2\"]\n[White \"B\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. Ke3 Nc6 0-1\n\n"
	"[Event \"3\"]\n[White \"C\"]\n[Result \"*\"]\n\n1. d4 -- 2. c4 *\n\n"
	"[Event \"4\"]\n[White \"D\"]\n[Result \"1-0\"]\n\n1-0\n\n"
	"[Event \"5\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n"
	"[Event \"6\"]\n[FEN \"nonsense\"]\n[SetUp \"1\"]\n\n1. e4 *\n\n";

static uint64_t positions(const char *store)
{
	struct chi_dir *opened = help_open(help_path(store), CHI_STORE_READ);
	uint64_t n = help_count(opened);
	chi_dir_close(opened);
	return n;
}

CASE(odd_games_are_cut_or_passed_over)
{
	struct import_session session = {0};
	const char *texts[] = {mixed, NULL};
	ok(session_run(&session, "lenient", texts));
	const struct chi_import_result *r = &session.result;
	assert_int_equal(r->games, 6);
	assert_int_equal(r->taken, 3);
	assert_int_equal(r->skipped, 2);
	assert_int_equal(r->empty, 1);
	assert_int_equal(r->cut, 2);
	assert_int_equal(r->plies, 4 + 2 + 1);
	assert_int_equal(positions("lenient"), 6);
	session.options.strict = true;
	ok(session_run(&session, "strict", texts));
	assert_int_equal(r->taken, 1);
	assert_int_equal(r->skipped, 4);
	assert_int_equal(r->empty, 1);
	assert_int_equal(r->cut, 0);
	assert_int_equal(positions("strict"), 5);
}

CASE(nothing_makes_no_store)
{
	struct import_session session = {0};
	static const char empty[] = "[Event \"x\"]\n[White \"y\"]\n\n*\n";
	const char *inputs[][2] = {{"", NULL}, {NULL}, {"Some words.", NULL}, {empty, NULL}};
	for (size_t i = 0; i < CHI_COUNT(inputs); i++) {
		assert_int_equal(session_run(&session, "nothing", inputs[i]), -CHI_ESYNTAX);
		assert_int_equal(help_try(help_path("nothing"), CHI_STORE_READ), -CHI_ENOSTORE);
	}
	/* To a store that is there nothing is added. */
	chi_dir_close(help_store("none", CHI_STATISTIC_CONTROL));
	_cleanup_(chi_freep) char *before = session_dump("none");
	ok(session_run(&session, "none", (const char *[]){empty, NULL}));
	assert_int_equal(session.result.empty, 1);
	_cleanup_(chi_freep) char *after = session_dump("none");
	assert_string_equal(before, after);
}

CASE(plies_are_held_to_the_bound)
{
	struct import_session session = {.options.max_ply = 2};
	const char *texts[] = {mixed, NULL};
	ok(session_run(&session, "bound", texts));
	assert_int_equal(session.result.plies, 2 + 2 + 1);
	assert_int_equal(positions("bound"), 4);
	/* The same games, whatever the bound: the id is of the whole game. */
	session.options.max_ply = 0;
	ok(session_run(&session, "bound", texts));
	assert_int_equal(session.result.known, 3);
	assert_int_equal(session.result.taken, 0);
	session.options.kind = CHI_IMPORT_SUBTRACT;
	ok(session_run(&session, "bound", texts));
	assert_int_equal(session.result.taken, 3);
	assert_int_equal(session.result.plies, 2 + 2 + 1);
	assert_int_equal(positions("bound"), 0);
}

static int told;
static char tale[256];

static void tell(void *context, const struct chi_import_note *note)
{
	(void)context;
	told++;
	snprintf(tale, sizeof(tale), "%s %llu %llu %s", note->file, (unsigned long long)note->game,
		 (unsigned long long)note->line, note->text);
}

CASE(rare_positions_are_left_out)
{
	static const char text[] =
		"[Event \"1\"]\n[White \"X\"]\n\n1. e4 e5 1-0\n\n[Event \"2\"]\n[White \"Y\"]\n\n"
		"1. e4 c5 0-1\n\n[Event \"3\"]\n[White \"Z\"]\n\n1. d4 *\n";
	struct import_session session = {.options.games_min = 2, .options.report = tell};
	const char *texts[] = {text, NULL};
	ok(session_run(&session, "rare", texts));
	assert_int_equal(session.result.taken, 3);
	assert_int_equal(session.result.dropped, 3);
	assert_int_equal(positions("rare"), 2);
	/* They cannot be taken out again. */
	session.options.kind = CHI_IMPORT_SUBTRACT;
	ok(session_run(&session, "rare", (const char *[]){mixed, text, NULL}));
	assert_int_equal(session.result.taken, 0);
	assert_int_equal(session.result.known, 3);
	assert_int_equal(session.result.skipped, 2 + 3);
	assert_int_equal(told, 4 + 3);
	assert_int_equal(positions("rare"), 2);
	assert_int_equal(strncmp(tale, "1.pgn ", 6), 0);
	assert_non_null(strstr(tale, "rare positions"));
}

/* Two blitz games of a day with the same moves; and one game from two collections. */
CASE(online_games_are_told_apart)
{
#define BLITZ(tags)                                                                                \
	"[Event \"b\"]\n[White \"w\"]\n[Black \"b\"]\n[Date \"2024.01.02\"]\n" tags                \
	"\n1. e4 e5 1-0\n\n"
	static const struct {
		const char *text;
		uint64_t taken;
	} cases[] = {
		{BLITZ("[Site \"https://lichess.org/aaaaaaaa\"]\n")
			 BLITZ("[Site \"https://lichess.org/bbbbbbbb\"]\n"),
		 2},
		{BLITZ("[Link \"https://www.chess.com/game/live/1\"]\n")
			 BLITZ("[Link \"https://www.chess.com/game/live/2\"]\n"),
		 2},
		{BLITZ("[GameId \"a\"]\n") BLITZ("[GameId \"b\"]\n"), 2},
		{BLITZ("[UTCTime \"10:00:01\"]\n") BLITZ("[UTCTime \"10:05:00\"]\n"), 2},
		/* the same game */
		{BLITZ("[Site \"https://lichess.org/aaaaaaaa\"]\n")
			 BLITZ("[Site \"http://www.lichess.org/aaaaaaaa\"]\n[Round \"7\"]\n"),
		 1},
		{BLITZ("[Site \"Chess.com\"]\n[Round \"1\"]\n")
			 BLITZ("[Site \"chess.com INT\"]\n[Round \"-\"]\n"),
		 1},
		{BLITZ("[Site \"https://lichess.org\"]\n") BLITZ("[Site \"lichess.org INT\"]\n"),
		 1},
		{BLITZ("[UTCTime \"??:??:??\"]\n") BLITZ("[GameId \"\"]\n"), 1},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct import_session session = {0};
		help_remove(help_path("online"));
		ok(session_run(&session, "online", (const char *[]){cases[i].text, NULL}));
		if (session.result.taken != cases[i].taken) {
			fail_msg("case %zu: %d games", i, (int)session.result.taken);
		}
	}
}

/* Bytes that the format names: a change would make every stored game a stranger. */
CASE(identities_do_not_change)
{
	static const char text[] =
		"[Event \"e\"]\n[White \"White, A.\"]\n[Black \"Black\"]\n"
		"[Date \"2001.02.03\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n";
	struct chi_game_id game;
	size_t n;
	struct chi_read *read;
	help_remove(help_path("id"));
	session_add("id", text);
	struct chi_dir *store = help_open(help_path("id"), CHI_STORE_READ);
	ok(chi_read_begin(store, &read));
	ok(chi_read_game_ids(read, NULL, &game, 1, &n));
	assert_int_equal(n, 1);
	chi_read_end(read);
	chi_dir_close(store);
	char hex[33];
	for (size_t i = 0; i < sizeof(game.id); i++) {
		snprintf(hex + 2 * i, 3, "%02x", game.id[i]);
	}
	assert_string_equal(hex, "bf110abee6cde071ac404c759c9fb2da");
	/* Events and rounds are not part of it, players and results are. */
	struct import_session session = {0};
	static const char same[] =
		"[Event \"f\"]\n[White \"White, A.\"]\n[Black \"Black\"]\n"
		"[Date \"2001.02.03\"]\n[Round \"7\"]\n\n1. e4 {!} e5 2. Nf3 1-0\n";
	static const char other[] = "[Event \"e\"]\n[White \"White, B.\"]\n[Black \"Black\"]\n"
				    "[Date \"2001.02.03\"]\n\n1. e4 e5 2. Nf3 1-0\n";
	ok(session_run(&session, "id", (const char *[]){same, other, NULL}));
	assert_int_equal(session.result.known, 1);
	assert_int_equal(session.result.taken, 1);
}

/* 262 legal moves, each played in a game: more than a record can hold. */
CASE(more_moves_than_a_record_holds)
{
	static const char fen[] = "1Q1QQQQk/1Q5Q/Q6Q/2Q4Q/Q6Q/2Q4Q/Q6Q/KQ1QQQQ1 w - - 0 1";
	struct chi_position position;
	struct chi_move_list list;
	ok(chi_fen_parse(fen, strlen(fen), &position, &fault));
	chi_movegen_legal(&position, &list);
	assert_true(list.n > CHI_MOVES_MAX);
	size_t size = list.n * 256;
	size_t len = 0;
	_cleanup_(chi_freep) char *text = calloc(1, size);
	assert_non_null(text);
	for (size_t i = 0; i < list.n; i++) {
		char uci[CHI_UCI_SIZE];
		chi_uci_print(&position, list.moves[i], uci);
		len += (size_t)snprintf(text + len, size - len,
					"[Event \"%zu\"]\n[White \"x\"]\n[SetUp \"1\"]\n"
					"[FEN \"%s\"]\n\n%s 1-0\n\n",
					i, fen, uci);
	}
	session_add("common", mixed);
	session_add("queens", mixed);
	struct import_session session = {0};
	ok(session_run(&session, "queens", (const char *[]){text, NULL}));
	assert_int_equal(session.result.taken, list.n);
	assert_int_equal(session.result.positions.added, 1);
	session = (struct import_session){.options.kind = CHI_IMPORT_SUBTRACT};
	ok(session_run(&session, "queens", (const char *[]){text, NULL}));
	assert_int_equal(session.result.taken, list.n);
	session_same("common", "queens");
}

/* Who stored the games may have been killed before he synced them. */
CASE(what_is_there_already_is_synced)
{
	session_add("synced", mixed);
	syncs = 0;
	struct import_session session = {0};
	ok(session_run(&session, "synced", (const char *[]){mixed, NULL}));
	assert_int_equal(session.result.taken, 0);
	assert_true(syncs > 0);
}

CASE(bad_options_are_refused)
{
	struct chi_importer *importer;
	const struct chi_importer_target new = {.path = help_path("refused"),
						.statistic = CHI_STATISTIC_OUTCOME};
	struct chi_import_options options = {.kind = CHI_IMPORT_SUBTRACT};
	assert_int_equal(chi_importer_begin(&new, &options, &importer, &fault), -CHI_EINVAL);
	options.kind = (enum chi_import_kind)9;
	assert_int_equal(chi_importer_begin(&new, &options, &importer, &fault), -CHI_EINVAL);
	options.kind = CHI_IMPORT_ADD;
	options.memory = 1000;
	assert_int_equal(chi_importer_begin(&new, &options, &importer, &fault), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "memory"));
	options.memory = 0;
	options.threads = 100000;
	assert_int_equal(chi_importer_begin(&new, &options, &importer, &fault), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "threads"));
	const struct chi_importer_target nowhere = {0};
	options.threads = 0;
	assert_int_equal(chi_importer_begin(&nowhere, &options, &importer, &fault), -CHI_EINVAL);
}

CASE(what_is_not_committed_did_not_happen)
{
	struct chi_importer *importer;
	volatile int cancel = 0;
	const char *path = help_path("given-up");
	const struct chi_importer_target target = {.path = path,
						   .statistic = CHI_STATISTIC_OUTCOME};
	struct chi_import_options options = {.kind = CHI_IMPORT_ADD, .cancel = &cancel};
	struct chi_import_result result;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_feed(importer, mixed, strlen(mixed), &fault));
	chi_importer_free(importer);
	assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ENOSTORE);
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_feed(importer, mixed, strlen(mixed), &fault));
	cancel = 1;
	assert_int_equal(chi_importer_commit(importer, &result, &fault), -CHI_ECANCELED);
	cancel = 0;
	chi_importer_free(importer);
	assert_int_equal(help_try(path, CHI_STORE_READ), -CHI_ENOSTORE);
	/* A path that is taken is told at the commit at the latest. */
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_feed(importer, mixed, strlen(mixed), &fault));
	chi_dir_close(help_store("given-up", CHI_STATISTIC_CONTROL));
	assert_int_equal(chi_importer_commit(importer, &result, &fault), -CHI_EEXIST);
	chi_importer_free(importer);
	chi_importer_free(NULL);
}

/* Files may not grow beyond a megabyte: what memory does not hold cannot be spilled. */
CASE(a_full_disk_stops_the_session)
{
	_cleanup_(chi_freep) char *text = session_games(6000, 120);
	struct rlimit old;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	struct rlimit small = old;
	small.rlim_cur = 1 << 20;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct import_session session = {.options.memory = CHI_IMPORT_MEMORY_MIN,
					 .options.threads = 3};
	int rc = session_run(&session, "full", (const char *[]){text, NULL});
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, -CHI_EFULL);
	assert_true(fault.text[0] != '\0');
	assert_int_equal(help_try(help_path("full"), CHI_STORE_READ), -CHI_ENOSTORE);
	ok(session_run(&session, "full", (const char *[]){text, NULL}));
}
