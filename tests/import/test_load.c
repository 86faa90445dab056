/* SPDX-License-Identifier: MIT */
/* Loading dumps: the same store as puts line by line make, whatever the order of the lines and the
 * store before; the first bad line is the one that is named, and then nothing has changed. */
#include "tests/import/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/attr.h"
#include "base/idempotency.h"
#include "store/text/dump.h"
#include "tests/store/sealed.h"

#define MIB ((size_t)1 << 20)

static struct chi_import_result result;

/* A text cut into lines. */
struct lines {
	char *text;
	char *line[20000];
	size_t n;
	size_t positions; /* the first is after the head */
};

static void cut(struct lines *lines, char *text)
{
	*lines = (struct lines){.text = text};
	for (char *at = text; *at != '\0'; lines->n++) {
		char *end = strchr(at, '\n');
		assert_in_range(lines->n, 0, CHI_COUNT(lines->line) - 1);
		lines->line[lines->n] = at;
		*end = '\0';
		at = end + 1;
		lines->positions += lines->n >= CHI_DUMP_HEAD_LINES &&
				    strncmp(lines->line[lines->n], "game\t", 5) != 0 &&
				    strncmp(lines->line[lines->n], "end\t", 4) != 0;
	}
}

/* A store of games, with notes, lines, evaluations, and statistics where these are given. */
static struct chi_dir *sample(const char *name, enum chi_statistic statistic)
{
	char *games = session_games(30, 40);
	const char *texts[] = {games, NULL};
	struct import_session session = {.statistic = statistic,
					 .options = {.kind = CHI_IMPORT_ADD, .evals = true}};
	help_remove(help_path(name));
	ok(session_run(&session, name, texts));
	free(games);
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_WRITE);
	for (unsigned i = 0; i < 60; i++) {
		struct chi_eval eval = {.engine = "one",
					.engine_len = 3,
					.depth = 1 + help_below(40),
					.score = (int32_t)help_below(2000) - 1000};
		char note[2000];
		memset(note, 'n', sizeof(note));
		struct chi_put_entry put = {
			.key = help_key(),
			.parts = CHI_PUT_NOTE | CHI_PUT_EVALS |
				 (statistic == CHI_STATISTIC_EXTERNAL ? CHI_PUT_CHI2 : 0),
			.record = {.chi2 = (uint16_t)(1 + help_below(25599)),
				   .note = note,
				   .n_note = 1 + help_below(i % 9 == 0 ? sizeof(note) : 20),
				   .evals = &eval,
				   .n_evals = 1},
		};
		help_put(store, &put);
	}
	return store;
}

/* The dump of `a`, its positions in any order, and among them such as `b` says them: one position
 * may come twice, and not alike. To be freed. */
static char *shuffled(struct chi_dir *a, struct chi_dir *b)
{
	static struct lines of_a;
	static struct lines of_b;
	size_t len = 0;
	cut(&of_a, help_dump(a, &len));
	cut(&of_b, help_dump(b, &len));
	size_t n = of_a.positions + of_b.positions;
	const char **all = calloc(n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = i < of_a.positions ? of_a.line[CHI_DUMP_HEAD_LINES + i]
					    : of_b.line[CHI_DUMP_HEAD_LINES + i - of_a.positions];
		size_t j = help_below((unsigned)i + 1);
		const char *other = all[j];
		all[j] = all[i];
		all[i] = other;
	}
	char *out = NULL;
	FILE *file = open_memstream(&out, &len);
	for (size_t i = 0; i < CHI_DUMP_HEAD_LINES; i++) {
		fprintf(file, "%s\n", of_a.line[i]);
	}
	for (size_t i = 0; i < n; i++) {
		fprintf(file, "%s\n", all[i]);
	}
	size_t games = of_a.n - 1 - CHI_DUMP_HEAD_LINES - of_a.positions;
	for (size_t i = 0; i < games; i++) {
		fprintf(file, "%s\n", of_a.line[of_a.n - 1 - games + i]);
	}
	fprintf(file, "end\t%zu\t%zu\n", n, games);
	assert_int_equal(fclose(file), 0);
	char *text = sealed(out, &len);
	free(out);
	free(all);
	free(of_a.text);
	free(of_b.text);
	return text;
}

static int load_text(struct chi_importer_target target, struct chi_import_options options,
		     const struct chi_idempotency_key *mark, const char *text, size_t piece)
{
	struct chi_importer *importer = NULL;
	size_t len = strlen(text);
	options.kind = CHI_IMPORT_LOAD;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	int rc = chi_importer_file(importer, "dump", &fault);
	for (size_t at = 0; rc == CHI_OK && at < len;) {
		size_t n = 1 + help_below((unsigned)piece);
		n = len - at < n ? len - at : n;
		rc = chi_importer_feed(importer, text + at, n, &fault);
		at += n;
	}
	if (rc == CHI_OK && mark != NULL) {
		chi_importer_once(importer, mark);
	}
	if (rc == CHI_OK) {
		rc = chi_importer_commit(importer, &result, &fault);
	}
	chi_importer_free(importer);
	return rc;
}

static int load_into(struct chi_dir *store, const char *text)
{
	struct chi_import_options options = {.threads = 1 + help_below(4), .memory = 16 * MIB};
	return load_text((struct chi_importer_target){.store = store}, options, NULL, text, 90000);
}

/* The same line by line. */
static void put_lines(struct chi_dir *store, const char *text, struct chi_put_result *did)
{
	struct chi_write *write = NULL;
	struct chi_dump_reader reader;
	struct chi_arena arena;
	char *copy = strdup(text);
	char *rest = copy;
	const char *line = NULL;
	chi_dump_reader_init(&reader);
	chi_arena_init(&arena, 32 * MIB);
	ok(chi_write_begin(store, &write, &fault));
	while (*rest != '\0' && (line = strsep(&rest, "\n")) != NULL) {
		enum chi_dump_line kind;
		struct chi_put_entry put;
		chi_arena_reset(&arena);
		ok(chi_dump_read(&reader, line, strlen(line), &arena, &kind, &put, &fault));
		if (kind == CHI_DUMP_POSITION) {
			ok(chi_put_check(&put, chi_dir_statistic(store), &fault));
			ok(chi_write_put(write, &put, did));
		} else if (kind == CHI_DUMP_GAME) {
			assert_in_range(chi_write_game_id(write, &reader.game), CHI_OK, CHI_NONE);
		}
	}
	ok(chi_write_base(write, &reader.head.base));
	ok(chi_write_commit(write, &fault));
	chi_arena_deinit(&arena);
	free(copy);
}

static void compare(struct chi_dir *a, struct chi_dir *b)
{
	struct chi_verify_result sound;
	size_t len = 0;
	char *text_a = help_dump(a, &len);
	char *text_b = help_dump(b, &len);
	assert_string_equal(text_a, text_b);
	ok(help_verify(a, &sound));
	ok(help_verify(b, &sound));
	free(text_a);
	free(text_b);
}

/* Into stores that are empty, that are not there, and that hold a part already. */
CASE(puts_make_the_same_store)
{
	for (int kind = 1; kind <= CHI_STATISTIC_MAX; kind++) {
		struct chi_dir *a = sample("a", (enum chi_statistic)kind);
		struct chi_dir *b = sample("b", (enum chi_statistic)kind);
		struct chi_dir *puts = help_store("puts", (enum chi_statistic)kind);
		struct chi_dir *loads = help_store("loads", (enum chi_statistic)kind);
		for (unsigned round = 0; round < 3; round++) {
			struct chi_put_result did = {0};
			char *text = round == 1 ? shuffled(b, a) : shuffled(a, b);
			put_lines(puts, text, &did);
			ok(load_into(loads, text));
			assert_memory_equal(&did, &result.positions, sizeof(did));
			compare(puts, loads);
			if (round == 0) {
				const struct chi_importer_target fresh = {
					.path = help_path("fresh"),
					.statistic = chi_dir_statistic(a)};
				help_remove(fresh.path);
				ok(load_text(fresh, (struct chi_import_options){0}, NULL, text, 7));
				assert_memory_equal(&did, &result.positions, sizeof(did));
				struct chi_dir *made = help_open(fresh.path, CHI_STORE_READ);
				compare(puts, made);
				chi_dir_close(made);
			}
			free(text);
		}
		chi_dir_close(a);
		chi_dir_close(b);
		chi_dir_close(puts);
		chi_dir_close(loads);
	}
}

/* Replaces the line of that number, from 1. With memchr: strict ASan has strchr look at all that
 * follows. */
static char *with_line(const char *text, unsigned number, const char *line)
{
	char *out = NULL;
	const char *at = text;
	const char *end = text + strlen(text);
	for (unsigned i = 1; i < number; i++) {
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
	}
	const char *rest = memchr(at, '\n', (size_t)(end - at));
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, line, rest) > 0);
	return out;
}

/* `copies` times the positions of a dump, in many pieces; to be freed. *n: its lines. */
static char *long_text(struct chi_dir *store, unsigned copies, unsigned *n)
{
	static struct lines lines;
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);
	cut(&lines, help_dump(store, &len));
	*n = (unsigned)(CHI_DUMP_HEAD_LINES + copies * lines.positions);
	for (size_t i = 0; i < *n; i++) {
		size_t at =
			i < CHI_DUMP_HEAD_LINES
				? i
				: CHI_DUMP_HEAD_LINES + (i - CHI_DUMP_HEAD_LINES) % lines.positions;
		fprintf(file, "%s\n", lines.line[at]);
	}
	assert_int_equal(fclose(file), 0);
	free(lines.text);
	return out;
}

/* However the text falls into pieces, and whichever thread is first. */
CASE(the_first_bad_line_is_named)
{
	struct chi_dir *a = sample("a", CHI_STATISTIC_OUTCOME);
	struct chi_dir *store = help_store("store", CHI_STATISTIC_OUTCOME);
	const struct chi_import_options options = {.threads = 4, .memory = 16 * MIB};
	unsigned n = 0;
	char *text = long_text(a, 30, &n);
	for (unsigned i = 0; i < 30; i++) {
		char says[32];
		unsigned first = 5 + help_below(n - 3000);
		char *once = with_line(text, first, "bad");
		char *twice = with_line(once, first + 1 + help_below(2000), "worse");
		snprintf(says, sizeof(says), "line %u,", first);
		assert_int_equal(load_text((struct chi_importer_target){.store = store}, options,
					   NULL, twice, 90000),
				 -CHI_ESYNTAX);
		if (strstr(fault.text, says) == NULL) {
			fail_msg("'%s' lacks '%s'", fault.text, says);
		}
		free(once);
		free(twice);
	}
	assert_int_equal(help_count(store), 0);
	free(text);
	chi_dir_close(a);
	chi_dir_close(store);
}

#define HEAD                                                                                       \
	"chistore-dump\t1\nstatistic\texternal\nbase\t0\t0\t0\t0\n"                                \
	"fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
#define BARE "8/8/8/4k3/8/8/8/4K3 w - - 0 1\t-\t1\t0\t0\t0\t\t\t\t\t\n"
#define GAME "game\t000102030405060708090a0b0c0d0e0f\t1-0\t-\t-\n"

CASE(what_is_no_whole_dump)
{
	static const struct {
		const char *text;
		int status;
		const char *says;
	} cases[] = {
		{HEAD BARE GAME "end\t1\t1\n", CHI_OK, ""},
		{HEAD "end\t0\t0\n", CHI_OK, ""},
		{"", -CHI_ESYNTAX, "cut"},
		{HEAD, -CHI_ESYNTAX, "cut"},
		{HEAD BARE, -CHI_ESYNTAX, "line 5: the dump is cut"},
		{HEAD BARE GAME, -CHI_ESYNTAX, "line 7: the dump is cut"},
		{HEAD BARE BARE "end\t1\t0\n", -CHI_ESYNTAX, "number of positions"},
		{HEAD BARE GAME "end\t1\t0\n", -CHI_ESYNTAX, "number of games"},
		{HEAD GAME BARE "end\t1\t1\n", -CHI_ESYNTAX, "line 6"},
		{HEAD BARE GAME GAME "end\t1\t2\n", -CHI_ESYNTAX, "line 7"},
		{HEAD BARE "end\t1\t0\n" BARE, -CHI_ESYNTAX, "line 7"},
		{HEAD BARE "end\t1\t0\n\n", -CHI_ESYNTAX, "line 7"},
		{"no dump\n", -CHI_ESYNTAX, "line 1"},
		{"chistore-dump\t3\n", -CHI_EVERSION, "line 1"},
		{"chistore-dump\t1\nstatistic\tcontrol\nbase\t0\t0\t0\t0\n"
		 "fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n",
		 -CHI_EINVAL, "control"},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct chi_dir *store = help_store("store", CHI_STATISTIC_EXTERNAL);
		size_t len = 0;
		/* Some end as if they were whole. */
		bool ends = strstr(cases[i].text, "end") != NULL ||
			    strstr(cases[i].text, "game\t") != NULL;
		char *text = ends ? sealed(cases[i].text, &len) : strdup(cases[i].text);
		fault.text[0] = '\0';
		assert_int_equal(load_into(store, text), cases[i].status);
		free(text);
		assert_non_null(strstr(fault.text, cases[i].says));
		assert_int_equal(help_count(store), strstr(cases[i].text, "end\t1") != NULL &&
							    cases[i].status == CHI_OK);
		chi_dir_close(store);
	}
}

/* ---- Checksums ------------------------------------------------------------------------------ */

/* Where the line begins that `at` is in, or the one after it. */
static size_t line_start(const char *text, size_t at)
{
	while (at > 0 && text[at - 1] != '\n') {
		at--;
	}
	return at;
}

static size_t line_end(const char *text, size_t at)
{
	return at + strcspn(text + at, "\n") + (text[at + strcspn(text + at, "\n")] != '\0');
}

enum change {
	OTHER_BYTE,
	OTHER_DIGIT,
	LINE_DROPPED,
	LINE_DOUBLED,
	LINES_EXCHANGED,
	CUT,
	CHANGES,
};

/* The text with one change; to be freed. *line: the number of the first line that differs. */
static char *changed(const char *text, enum change change, unsigned *line)
{
	size_t len = strlen(text);
	char *out = malloc(2 * len);
	size_t at = help_below((unsigned)len);
	strcpy(out, text);
	while (change == OTHER_DIGIT && (text[at] < '0' || text[at] > '9')) {
		at = (at + 1) % len;
	}
	size_t from = line_start(text, at);
	size_t to = line_end(text, at);
	size_t next = to < len ? line_end(text, to) : to;
	switch (change) {
	case OTHER_BYTE:
		out[at] = (char)(out[at] ^ (1 << help_below(7)));
		out[at] = (char)(out[at] != '\0' ? out[at] : '~');
		break;
	case OTHER_DIGIT:
		out[at] = (char)('0' + (out[at] - '0' + 1 + help_below(9)) % 10);
		break;
	case LINE_DROPPED:
		strcpy(out + from, text + to);
		break;
	case LINE_DOUBLED:
		strcpy(out + to, text + from);
		break;
	case LINES_EXCHANGED:
		memcpy(out + from, text + to, next - to);
		memcpy(out + from + (next - to), text + from, to - from);
		/* The last line has none after it. */
		out[next == to ? from : next] = next == to ? '\0' : out[next];
		break;
	default:
		out[at] = '\0';
	}
	*line = 1;
	for (size_t i = 0; i < len && out[i] == text[i]; i++) {
		*line += text[i] == '\n';
	}
	return out;
}

/* A message says "lines A to B", or "line A". */
static bool names_line(unsigned line)
{
	unsigned from = 0;
	unsigned to = 0;
	if (sscanf(fault.text, "lines %u to %u ", &from, &to) == 2) {
		return from <= line && line <= to;
	}
	return sscanf(fault.text, "line %u", &from) == 1 && from + 2 >= line;
}

CASE(a_changed_dump_is_refused)
{
	struct chi_dir *a = sample("a", CHI_STATISTIC_OUTCOME);
	struct chi_dir *store = help_store("store", CHI_STATISTIC_OUTCOME);
	const struct chi_importer_target fresh = {.path = help_path("fresh"),
						  .statistic = CHI_STATISTIC_OUTCOME};
	size_t len = 0;
	char *lines = help_dump(a, &len);
	char *text = sealed(lines, &len);
	free(lines);
	help_remove(fresh.path);
	chi_dir_close(a);
	for (unsigned i = 0; i < 240; i++) {
		unsigned line = 0;
		char *other = changed(text, (enum change)(i % CHANGES), &line);
		bool is_new = help_below(2) == 0;
		int rc = is_new ? load_text(fresh, (struct chi_import_options){0}, NULL, other,
					    90000)
				: load_into(store, other);
		if (rc >= 0 || !names_line(line)) {
			fail_msg("change %u in line %u: %d, '%s'", i, line, rc, fault.text);
		}
		assert_int_equal(access(fresh.path, F_OK), -1);
		free(other);
	}
	assert_int_equal(help_count(store), 0);
	ok(load_into(store, text));
	free(text);
	chi_dir_close(store);
}

/* Each is of all bytes before its line, and they are where the format says. */
CASE(checksums_are_those_of_the_format)
{
	struct chi_dir *a = sample("a", CHI_STATISTIC_OUTCOME);
	size_t len = 0;
	unsigned n = 0;
	unsigned sums = 0;
	char *text = long_text(a, 4, &n);
	char *whole = sealed(text, &len);
	unsigned lines = 0;
	for (const char *at = whole; *at != '\0'; at += strcspn(at, "\n") + 1, lines++) {
		char expected[64];
		snprintf(expected, sizeof(expected), "sum\t%u\t%016llx\n", lines,
			 (unsigned long long)XXH3_64bits(at > whole ? whole : "",
							 (size_t)(at - whole)));
		bool is_sum = strncmp(at, "sum\t", 4) == 0;
		assert_int_equal(is_sum, lines == 1000 + 1001 * sums || lines == n + sums);
		assert_true(!is_sum || strncmp(at, expected, strlen(expected)) == 0);
		sums += is_sum;
	}
	assert_int_equal(sums, n / 1000 + 1);
	free(whole);
	free(text);
	chi_dir_close(a);
}

/* Lines longer than a piece, and the longest that there may be. */
CASE(long_lines)
{
	static const char front[] = HEAD "8/8/8/4k3/8/8/8/4K3 w - - 0 1\t-\t1\t0\t0\t0\t\t\t\t\t";
	struct chi_dir *store = help_store("store", CHI_STATISTIC_EXTERNAL);
	const size_t lengths[] = {CHI_NOTE_MAX, CHI_NOTE_MAX + 1, CHI_DUMP_LINE_MAX, 5 * MIB};
	for (size_t i = 0; i < CHI_COUNT(lengths); i++) {
		char *text = calloc(1, sizeof(front) + lengths[i] + 100);
		strcpy(text, front);
		memset(text + sizeof(front) - 1, 'n', lengths[i]);
		strcat(text, "\n" BARE "end\t2\t0\n");
		size_t len = 0;
		char *whole = sealed(text, &len);
		assert_int_equal(load_into(store, whole), i == 0 ? CHI_OK : -CHI_ESYNTAX);
		free(whole);
		assert_true(i == 0 || strstr(fault.text, "line 5") != NULL);
		assert_int_equal(result.positions.updated, i == 0);
		free(text);
	}
	chi_dir_close(store);
}

static void feed_sealed(struct chi_importer *importer, struct chi_dump_seal *seal,
			const char *lines)
{
	char sum[CHI_DUMP_SUM_SIZE];
	size_t n = chi_dump_seal_lines(seal, lines, strlen(lines), sum);
	ok(chi_importer_feed(importer, sum, n, &fault));
	ok(chi_importer_feed(importer, lines, strlen(lines), &fault));
}

CASE(memory_is_bounded)
{
	struct chi_importer *importer = NULL;
	struct chi_dir *store = help_store("store", CHI_STATISTIC_EXTERNAL);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {
		.kind = CHI_IMPORT_LOAD, .memory = 16 * MIB, .threads = 2};
	struct chi_dump_seal seal;
	char sum[CHI_DUMP_SUM_SIZE];
	char tail[40];
	const unsigned n = 600000;
	ok(chi_dump_seal_init(&seal));
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	feed_sealed(importer, &seal, HEAD);
	size_t most = 0;
	for (unsigned i = 0; i < n; i++) {
		feed_sealed(importer, &seal, BARE);
		if (i % 10000 == 0) {
			size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
			most = now > most ? now : most;
		}
	}
	assert_in_range(most, 0, before + 32 * MIB);
	snprintf(tail, sizeof(tail), "end\t%u\t0\n", n);
	feed_sealed(importer, &seal, tail);
	ok(chi_importer_feed(importer, sum, chi_dump_seal_end(&seal, sum), &fault));
	chi_dump_seal_deinit(&seal);
	ok(chi_importer_commit(importer, &result, &fault));
	assert_int_equal(result.positions.added, 1);
	assert_int_equal(result.positions.unchanged, n - 1);
	chi_importer_free(importer);
	chi_dir_close(store);
}

CASE(once_is_once)
{
	struct chi_dir *store = help_store("store", CHI_STATISTIC_EXTERNAL);
	struct chi_importer_target target = {.store = store};
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	struct chi_idempotency_key mark = {.sequence = 1, .unanswered = 1, .since = info.sequence};
	memcpy(mark.store, info.uuid, sizeof(mark.store));
	size_t len = 0;
	char *text = sealed(HEAD BARE "end\t1\t0\n", &len);
	for (unsigned i = 0; i < 2; i++) {
		ok(load_text(target, (struct chi_import_options){0}, &mark, text, 9));
		assert_int_equal(result.positions.added, 1);
		assert_int_equal(result.positions.unchanged, 0);
	}
	ok(load_text(target, (struct chi_import_options){0}, NULL, text, 9));
	assert_int_equal(result.positions.unchanged, 1);
	free(text);
	chi_dir_close(store);
}

CASES_MAIN(NULL, help_teardown)
