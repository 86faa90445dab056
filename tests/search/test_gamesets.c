/* SPDX-License-Identifier: MIT */
/* Gamesets hold what their filters say, after imports, removals and aliases too. */
#include "tests/search/world.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "search/games.h"
#include "search/filter/numbers.h"
#include "search/gamesets.h"
#include "search/verify.h"
#include "store/gamesets/gamesets.h"
#include "store/names/names.h"

#define GAMES 900
#define SETS  12

static struct search_world world;

/* A gameset's filter, and that of the one it names. */
static char filters[SETS][2048];

static struct chi_write *begin(void)
{
	struct chi_write *write;
	ok(chi_write_begin(world.store, &write, &fault));
	return write;
}

/* Ends the write and shows what it made. */
static void end(struct chi_write *write)
{
	ok(chi_write_commit(write, &fault));
	chi_read_end(world.read);
	ok(chi_read_begin(world.store, &world.read));
	ok(chi_read_archive(world.read, &world.view));
}

/* Makes one to its end; the status of the first call. */
static int make(const char *name, const char *filter, struct chi_gameset_job **job)
{
	int rc = chi_gameset_open(world.read, name, filter, filter != NULL ? strlen(filter) : 0,
				  job, &fault);
	if (rc != CHI_OK) {
		return rc;
	}
	while ((rc = chi_gameset_step(*job, help_below(20))) == CHI_OK) {
	}
	assert_int_equal(rc, CHI_NONE);
	return CHI_OK;
}

static void save(const char *name, const char *filter)
{
	struct chi_gameset_job *job;
	ok(make(name, filter, &job));
	struct chi_write *write = begin();
	ok(chi_gameset_save(job, write, &fault));
	end(write);
	chi_gameset_close(job);
}

static char complaint[256];

static void hear(void *context, const char *text)
{
	(void)context;
	snprintf(complaint, sizeof(complaint), "%s", text);
}

static int verify(void)
{
	struct chi_verify_result result;
	int rc = chi_search_verify(world.store, 1, NULL, hear, NULL, &result);
	assert_int_equal(result.errors, rc != CHI_OK);
	return rc;
}

static int drop(const char *name)
{
	struct chi_write *write = begin();
	int rc = chi_gameset_remove(write, name, &fault);
	if (rc == CHI_OK) {
		end(write);
	} else {
		chi_write_abort(write);
	}
	return rc;
}

/* What a filter finds is the same as with another one. */
static uint64_t same(const char *filter, const char *other)
{
	const char *texts[2] = {filter, other};
	struct chi_game_walk *games[2];
	struct chi_games_row rows[2];
	uint64_t found = 0;
	for (int i = 0; i < 2; i++) {
		struct chi_games_spec spec = {.filter = texts[i], .filter_len = strlen(texts[i])};
		ok(chi_game_walk_open(world.read, &spec, &games[i], &fault));
	}
	for (;;) {
		size_t n[2] = {0};
		for (int i = 0; i < 2; i++) {
			int rc = CHI_OK;
			while (rc == CHI_OK && n[i] == 0) {
				rc = chi_game_walk_next(games[i], &rows[i], 1, 10, &n[i]);
			}
			assert_true(rc == CHI_OK || rc == CHI_NONE);
		}
		if (n[0] != n[1] || (n[0] > 0 && rows[0].head.number != rows[1].head.number)) {
			fail_msg("'%s' is not '%s'", filter, other);
		}
		if (n[0] == 0) {
			break;
		}
		found++;
	}
	chi_game_walk_close(games[0]);
	chi_game_walk_close(games[1]);
	return found;
}

static void check_all(void)
{
	for (unsigned i = 0; i < SETS; i++) {
		char text[64];
		char other[4096] = "year 2012.. ";
		snprintf(text, sizeof(text), "in set%u", i);
		same(text, filters[i]);
		strcat(other, filters[i]);
		snprintf(text, sizeof(text), "year 2012.. in set%u", i);
		same(text, other);
	}
	same("in set0 not in set1 in set2 result 1-0", "not in set1 in set0 result 1-0 in set2");
}

/* "Polgar, S" becomes another name of "Polgar, Judit", or no longer. */
static void alias(bool join)
{
	struct chi_archive_view view;
	uint32_t ids[2];
	struct chi_write *write = begin();
	ok(chi_write_archive(write, &view));
	ok(chi_names_lookup(view.txn, view.trees.names, CHI_NAME_PLAYER, "Polgar, S", 9, &ids[0]));
	ok(chi_names_lookup(view.txn, view.trees.names, CHI_NAME_PLAYER, "Karpov, Anatoly", 15,
			    &ids[1]));
	if (join) {
		ok(chi_names_alias(view.txn, view.trees.names, CHI_NAME_PLAYER, ids[0], ids[1],
				   &fault));
	} else {
		ok(chi_names_unalias(view.txn, view.trees.names, CHI_NAME_PLAYER, ids[0], &fault));
	}
	/* A write that changed nothing else would not be committed. */
	struct chi_put_result result = {0};
	struct chi_put_entry put = {.key = help_key(), .parts = CHI_PUT_NOTE};
	put.record.note = join ? "a" : "b";
	put.record.n_note = 1;
	ok(chi_write_put(write, &put, &result));
	end(write);
}

/* The entry of a gameset with other games in its bitmap, and another number of them. */
static void write_wrong(const char *name, uint32_t without, uint32_t with, uint64_t more)
{
	struct chi_archive_view view;
	struct chi_gameset_entry entry;
	struct chi_numbers *old;
	struct chi_numbers *new;
	uint32_t number = 0;
	struct chi_write *write = begin();
	ok(chi_write_archive(write, &view));
	ok(chi_gameset_get(view.txn, view.trees.gamesets, name, strlen(name), &entry));
	ok(chi_numbers_read(entry.bitmap, entry.bitmap_len, entry.mark.last, &old));
	ok(chi_numbers_new(&new));
	while (chi_numbers_next(old, number + 1, &number)) {
		if (number != without) {
			ok(chi_numbers_add(new, number));
		}
	}
	if (with != 0) {
		ok(chi_numbers_add(new, with));
	}
	uint8_t bitmap[8192];
	char filter[CHI_GAMESET_FILTER_MAX];
	memcpy(filter, entry.filter, entry.filter_len);
	entry.filter = filter;
	entry.games = chi_numbers_count(new) + more;
	entry.bitmap = bitmap;
	assert_in_range(chi_numbers_room(new), 1, sizeof(bitmap));
	entry.bitmap_len = chi_numbers_write(new, bitmap);
	ok(chi_write_gameset(write, &entry));
	end(write);
	chi_numbers_free(old);
	chi_numbers_free(new);
}

/* A game that is there and has that result. */
static uint32_t one_with(enum chi_result result)
{
	uint32_t number = 20;
	while (!world.games[number].there || world.games[number].head.result != (uint8_t)result) {
		number++;
	}
	return number;
}

static int count_one(void *context, const struct chi_gameset *gameset)
{
	++*(unsigned *)context;
	assert_true(strlen(gameset->name) > 0);
	assert_true(gameset->upto > 0 && gameset->games <= world.n);
	return CHI_OK;
}

static int see_b(void *context, const struct chi_gameset *gameset)
{
	++*(unsigned *)context;
	assert_string_equal(gameset->name, "b");
	assert_string_equal(gameset->filter, "gameset a");
	return CHI_OK;
}

/* No other is visited: all of them would take a turn of the server. */
static void one_gameset_is_looked_up(void)
{
	unsigned n = 0;
	ok(chi_gamesets_one(world.read, "b", see_b, &n));
	assert_int_equal(n, 1);
	ok(chi_gamesets_one(world.read, "a", NULL, NULL));
	assert_int_equal(chi_gamesets_one(world.read, "ab", see_b, &n), CHI_NONE);
	assert_int_equal(n, 1);
}

CASE(test_refused)
{
	struct chi_gameset_job *job;
	struct chi_gameset_job *second;
	struct chi_game_walk *games;
	struct chi_games_spec spec = {.filter = "in nothing", .filter_len = 10};
	unsigned n = 0;
	assert_int_equal(make("a b", "", &job), -CHI_EINVAL);
	assert_int_equal(make("a", "result 2-0", &job), -CHI_ESYNTAX);
	assert_int_equal(make("a", "in nothing", &job), -CHI_EINVAL);
	assert_string_equal(fault.text, "filter: there is no gameset 'nothing'");
	assert_int_equal(chi_game_walk_open(world.read, &spec, &games, &fault), -CHI_EINVAL);
	assert_int_equal(make("a", NULL, &job), CHI_NONE);
	assert_int_equal(drop("a"), CHI_NONE);
	save("a", "result 1-0");
	assert_int_equal(make("a", "result 1-0", &job), -CHI_EEXIST);
	save("b", "in a");
	assert_int_equal(drop("a"), -CHI_EINVAL);
	assert_string_equal(fault.text, "gameset 'a' is named by the filter of 'b'");
	ok(chi_gamesets_all(world.read, "", count_one, &n));
	assert_int_equal(n, 2);
	one_gameset_is_looked_up();
	/* Two are made at a time, and what one names is dropped. */
	ok(make("c", "not in b", &job));
	ok(make("c", "result *", &second));
	struct chi_write *write = begin();
	ok(chi_gameset_save(second, write, &fault));
	end(write);
	write = begin();
	assert_int_equal(chi_gameset_save(job, write, &fault), -CHI_EEXIST);
	chi_write_abort(write);
	ok(drop("c"));
	ok(drop("b"));
	write = begin();
	assert_int_equal(chi_gameset_save(job, write, &fault), -CHI_EINVAL);
	chi_write_abort(write);
	chi_gameset_close(job);
	chi_gameset_close(second);
	ok(drop("a"));
}

/* One in the other, up to the limit. */
CASE(test_nested)
{
	struct chi_gameset_job *job;
	char name[16];
	char filter[32] = "result 1-0";
	int rc = CHI_OK;
	unsigned i = 0;
	for (; rc == CHI_OK && i < 20; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		rc = make(name, filter, &job);
		if (rc == CHI_OK) {
			struct chi_write *write = begin();
			ok(chi_gameset_save(job, write, &fault));
			end(write);
			chi_gameset_close(job);
			snprintf(filter, sizeof(filter), "in %s", name);
			same(filter, "result 1-0");
		}
	}
	assert_true(i >= 8 && i < 20);
	assert_true(rc == -CHI_ETOOBIG || rc == -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "gameset"));
	for (i--; i-- > 0;) {
		snprintf(name, sizeof(name), "n%u", i);
		ok(drop(name));
	}
}

CASE(test_verify_compares_bitmaps)
{
	char wanted[96];
	uint32_t won = one_with(CHI_RESULT_WHITE);
	uint32_t lost = one_with(CHI_RESULT_BLACK);
	save("won", "result 1-0");
	assert_int_equal(verify(), CHI_OK);
	write_wrong("won", won, 0, 0);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	snprintf(wanted, sizeof(wanted),
		 "gameset won: its bitmap lacks games that fit its filter: 1, from %u on", won);
	assert_string_equal(complaint, wanted);
	write_wrong("won", 0, won, 0);
	assert_int_equal(verify(), CHI_OK);
	write_wrong("won", 0, lost, 0);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	snprintf(wanted, sizeof(wanted),
		 "gameset won: its bitmap has games that do not fit its filter: 1, from %u on",
		 lost);
	assert_string_equal(complaint, wanted);
	write_wrong("won", lost, 0, 3);
	assert_int_equal(verify(), -CHI_ECORRUPT);
	assert_non_null(strstr(complaint, "gameset won: its bitmap has "));
	write_wrong("won", 0, 0, 0);
	assert_int_equal(verify(), CHI_OK);
	ok(drop("won"));
}

CASE(test_kept)
{
	snprintf(filters[0], sizeof(filters[0]), "player Karpov");
	snprintf(filters[1], sizeof(filters[1]), "player \"Polgar, S\" opponent Karpov");
	save("set0", filters[0]);
	save("set1", filters[1]);
	for (unsigned i = 2; i < SETS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "set%u", i);
		world_filter(&world, filters[i], sizeof(filters[i]) - 32);
		/* Some name another gameset. */
		if (i % 4 == 3) {
			strcat(filters[i], i % 8 == 3 ? " not in set0" : " not in set1");
		}
		save(name, filters[i]);
	}
	check_all();
	world_grow(&world, 300);
	check_all();
	uint64_t before = same("in set0", "player Karpov");
	alias(true);
	check_all();
	assert_true(same("in set0", "player Karpov") > before);
	for (unsigned i = 0; i < SETS; i += 2) {
		char name[16];
		snprintf(name, sizeof(name), "set%u", i);
		save(name, NULL);
	}
	check_all();
	assert_int_equal(verify(), CHI_OK);
	alias(false);
	check_all();
	assert_int_equal(same("in set0", "player Karpov"), before);
	world_grow(&world, 300);
	check_all();
	assert_int_equal(verify(), CHI_OK);
}

int main(void)
{
	return world_run(&world, GAMES);
}
