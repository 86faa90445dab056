/* SPDX-License-Identifier: MIT */
/*
 * What an import holds is bounded by its memory, whatever the games are; and lists of games that
 * are too long to be held arrive whole. Measured are the pages of the process that belong to no
 * file
 * ("RssAnon"), by a thread that looks all the time.
 */
#include "tests/import/session.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "tests/base/seed.h"

#define MIB ((size_t)1 << 20)

/* A sanitizer's memory, and valgrind's, is not the import's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWED 1
#elif defined(__has_feature)
#define SHADOWED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SHADOWED 0
#endif

static bool can_measure(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return !SHADOWED && (preload == NULL || strstr(preload, "vgpreload") == NULL);
}

/* ---- Measuring --------------------------------------------------------------------------- */

static size_t held(void)
{
	char line[256];
	size_t kib = 0;
	FILE *status = fopen("/proc/self/status", "r");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status) != NULL &&
	       sscanf(line, "RssAnon: %zu", &kib) != 1) {
	}
	fclose(status);
	return kib << 10;
}

struct watch {
	pthread_t thread;
	atomic_bool over;
	size_t before;
	size_t most;
};

static void *look(void *argument)
{
	struct watch *watch = argument;
	const struct timespec while_it_works = {.tv_nsec = 500000};
	while (!atomic_load(&watch->over)) {
		size_t now = held();
		watch->most = now > watch->most ? now : watch->most;
		nanosleep(&while_it_works, NULL);
	}
	return NULL;
}

static void begin(struct watch *watch)
{
	*watch = (struct watch){.before = held()};
	assert_int_equal(pthread_create(&watch->thread, NULL, look, watch), 0);
}

static size_t end(struct watch *watch)
{
	atomic_store(&watch->over, true);
	assert_int_equal(pthread_join(watch->thread, NULL), 0);
	return watch->most > watch->before ? watch->most - watch->before : 0;
}

/* ---- Games ------------------------------------------------------------------------------- */

/* Writes the i-th game of a kind. */
typedef void write_game(unsigned i, char *out, size_t size);

static void tiny(unsigned i, char *out, size_t size)
{
	snprintf(out, size, "[Event \"e\"]\n[White \"%u\"]\n[Black \"%u\"]\n\n1. e4 *\n\n", i,
		 i % 1000);
}

static void hot(unsigned i, char *out, size_t size)
{
	snprintf(out, size,
		 "[Event \"e\"]\n[White \"%u\"]\n[Black \"%u\"]\n[Result \"1-0\"]\n\n"
		 "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n",
		 i % 500, i / 500);
}

static void long_names(unsigned i, char *out, size_t size)
{
	char fill[1000];
	memset(fill, 'x', sizeof(fill));
	for (size_t at = i % 7; at < sizeof(fill); at += 2 + i % 50) {
		fill[at] = ' ';
	}
	snprintf(out, size,
		 "[Event \"E%u %.990s\"]\n[White \"W%u %.990s\"]\n[Black \"B%u %.990s\"]\n\n1. d4 "
		 "*\n\n",
		 i, fill, i, fill, i, fill);
}

static void many_names(unsigned i, char *out, size_t size)
{
	unsigned mixed = i * 2654435761u;
	snprintf(out, size,
		 "[Event \"Cup %u\"]\n[Site \"Town %u\"]\n[White \"Ab%u, Cd%u\"]\n[Black \"Ef%u, "
		 "Gh%u\"]\n"
		 "\n1. c4 *\n\n",
		 i, mixed, mixed % 9973, i, mixed % 7919, i);
}

static void feed(struct chi_importer *importer, unsigned n, write_game *write)
{
	char text[4096];
	for (unsigned i = 0; i < n; i++) {
		write(i, text, sizeof(text));
		ok(chi_importer_feed(importer, text, strlen(text), &fault));
	}
}

/* Imports `n` games into a new store; what the process held then. */
static size_t measure(const char *name, unsigned n, write_game *write)
{
	struct watch watch;
	struct chi_import_result result;
	struct chi_importer *importer;
	const struct chi_importer_target target = {.path = help_path(name),
						   .statistic = CHI_STATISTIC_OUTCOME};
	const struct chi_import_options options = {
		.kind = CHI_IMPORT_ADD, .memory = CHI_IMPORT_MEMORY_MIN, .threads = 2};
	(void)malloc_trim(0);
	begin(&watch);
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	feed(importer, n, write);
	ok(chi_importer_commit(importer, &result, &fault));
	chi_importer_free(importer);
	assert_int_equal(result.taken, n);
	return end(&watch);
}

CASE(memory_is_bounded, NULL, help_teardown)
{
	static const struct {
		const char *name;
		write_game *write;
		unsigned n;
	} kinds[] = {
		{"tiny", tiny, 100000},
		{"hot", hot, 100000},
		{"long", long_names, 5000},
		{"many", many_names, 40000},
	};
	if (!can_measure()) {
		/* Not by skip(), which this cmocka prints as a failure in TAP. */
		return;
	}
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		size_t most = measure(kinds[i].name, kinds[i].n, kinds[i].write);
		fprintf(stderr, "# %s: %.1f MiB\n", kinds[i].name, (double)most / MIB);
		assert_in_range(most, MIB, CHI_IMPORT_MEMORY_MIN + 2 * MIB);
	}
}

/* ---- Long lists -------------------------------------------------------------------------- */

/* Enough that lists come in pieces. */
#define MANY 9001u

/* The games from..to of those that all reach the same positions; `by`: in what order. */
static char *hot_games(unsigned from, unsigned to, unsigned by)
{
	size_t room = (size_t)(to - from) * 128 + 1;
	size_t len = 0;
	char *text = malloc(room);
	assert_non_null(text);
	for (unsigned i = 0; i < to - from; i++) {
		hot(from + (unsigned)((uint64_t)i * by % (to - from)), text + len, room - len);
		len += strlen(text + len);
	}
	return text;
}

static void run(const char *store, enum chi_import_kind kind, const char *text)
{
	struct import_session session = {
		.options = {.kind = kind, .memory = 16 * MIB, .threads = 3},
		.statistic = CHI_STATISTIC_OUTCOME};
	ok(session_run(&session, store, (const char *[]){text, NULL}));
}

/* Games that a list takes in in pieces: behind one that a record holds, and behind another long
 * one; and gives back, in any order, down to what a record holds. */
CASE(long_lists, NULL, help_teardown)
{
	_cleanup_(chi_freep) char *few = hot_games(0, 10, 1);
	_cleanup_(chi_freep) char *first = hot_games(10, MANY, 1);
	_cleanup_(chi_freep) char *mixed = hot_games(10, MANY, 7919);
	_cleanup_(chi_freep) char *second = hot_games(MANY, 2 * MANY, 1);
	run("few", CHI_IMPORT_ADD, few);
	run("whole", CHI_IMPORT_ADD, few);
	run("whole", CHI_IMPORT_ADD, first);
	free(session_dump("whole"));
	run("twice", CHI_IMPORT_ADD, first);
	run("twice", CHI_IMPORT_ADD, second);
	free(session_dump("twice"));
	run("whole", CHI_IMPORT_SUBTRACT, mixed);
	session_same("whole", "few");
}

/* A position that is rare for all its games is left out with its list. */
CASE(rare_hot_positions, NULL, help_teardown)
{
	_cleanup_(chi_freep) char *text = hot_games(0, MANY, 1);
	const char *texts[] = {text, NULL};
	struct import_session session = {.options = {.games_min = MANY + 1, .threads = 2},
					 .statistic = CHI_STATISTIC_OUTCOME};
	ok(session_run(&session, "rare", texts));
	assert_int_equal(session.result.positions.added, 0);
	free(session_dump("rare"));
	session.options.games_min = MANY;
	ok(session_run(&session, "common", texts));
	assert_int_equal(session.result.positions.added, 7);
	free(session_dump("common"));
}

int main(void)
{
	/* Meson has what is allocated filled, so that no page of it would be untouched. */
	(void)mallopt(M_PERTURB, 0);
	return cases_run(NULL, NULL);
}
