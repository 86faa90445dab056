/* SPDX-License-Identifier: MIT */
/* Files of positions: the same store, the same numbers and the same refusals as puts one by one
 * give, for every format, whatever is stored before and however the text is cut. */
#include "tests/import/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/key.h"
#include "formats/lines.h"
#include "import/lines/lines.h"

#define MIB    ((size_t)1 << 20)
#define ENDING "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"
#define START  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static struct chi_import_result result;

/* The lines that were told, of any number of files; and what was said of files. */
static uint64_t told[100000];
static size_t n_told;
static char said[4096];

static void report(void *context, const struct chi_import_note *note)
{
	(void)context;
	assert_true(note->text[0] != '\0');
	assert_in_range(n_told, 0, CHI_COUNT(told) - 1);
	if (note->line > 0) {
		told[n_told++] = note->line;
	} else {
		size_t len = strlen(said);
		snprintf(said + len, sizeof(said) - len, "%s: %s\n", note->file, note->text);
	}
}

static int import_text(struct chi_importer_target target, struct chi_import_options options,
		       const char *name, const char *text, size_t len, size_t piece)
{
	struct chi_importer *importer = NULL;
	options.kind = CHI_IMPORT_PUT;
	options.report = report;
	n_told = 0;
	said[0] = '\0';
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	int rc = chi_importer_file(importer, name, &fault);
	for (size_t at = 0; rc == CHI_OK && at < len;) {
		size_t n = 1 + help_below((unsigned)piece);
		n = len - at < n ? len - at : n;
		rc = chi_importer_feed(importer, text + at, n, &fault);
		at += n;
	}
	if (rc == CHI_OK) {
		rc = chi_importer_commit(importer, &result, &fault);
	}
	chi_importer_free(importer);
	return rc;
}

static int compare_lines(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;
	return (*x > *y) - (*x < *y);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* A few positions, so that they come again. */
static char fens[16][CHI_FEN_SIZE];

static void choose_fens(void)
{
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		struct chi_key key = help_key();
		ok(chi_key_to_fen(&key, fens[i], NULL));
	}
	strcpy(fens[0], START);
}

struct row {
	const char *fen;
	bool counted;
	uint64_t white;
	char note[64];
	bool line;
	char engine[16]; /* "": no evaluation */
	unsigned depth;
	bool bad;
};

static struct row random_row(void)
{
	/* Sums of these are beyond what a record holds; more engines than it has room for. */
	static const uint64_t counts[] = {0, 1, 7, INT64_MAX};
	static const char *const notes[] = {"", "n", "two\nlines", "a \"quoted\" word", ",", "\t;"};
	struct row row = {.fen = fens[help_below(CHI_COUNT(fens))],
			  .counted = help_below(2) == 0,
			  .white = counts[help_below(CHI_COUNT(counts))],
			  .depth = help_below(20),
			  .bad = help_below(9) == 0};
	row.line = row.fen == fens[0] && help_below(3) == 0;
	strcpy(row.note, notes[help_below(CHI_COUNT(notes))]);
	if (help_below(2) == 0) {
		snprintf(row.engine, sizeof(row.engine), "e%u", help_below(90));
	}
	return row;
}

static void print_cell(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text != '\0'; text++) {
		fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
	}
	fputc('"', file);
}

static void print_json(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text != '\0'; text++) {
		fprintf(file, *text < ' ' || *text == '"' ? "\\u%04x" : "%c", *text);
	}
	fputc('"', file);
}

static void print_csv(FILE *file, const struct row *row, char separator)
{
	fprintf(file, "%s%c", row->fen, separator);
	if (row->counted) {
		fprintf(file, "%llu", (unsigned long long)row->white);
	}
	fputc(separator, file);
	print_cell(file, row->note);
	fprintf(file, "%c%s%c", separator, row->line ? "e4 e5" : "", separator);
	if (row->engine[0] != '\0') {
		fprintf(file, "%s%c%u%c-12", row->engine, separator, row->depth, separator);
	} else {
		fprintf(file, "%c%c", separator, separator);
	}
	fprintf(file, "%c%s", separator, row->bad ? "x" : help_below(2) == 0 ? "" : "62.75");
}

static void print_object(FILE *file, const struct row *row)
{
	fprintf(file, "{\"fen\":\"%s\",\"note\":", row->bad ? "no" : row->fen);
	print_json(file, row->note);
	if (row->counted) {
		fprintf(file, ",\"white\":%llu,\"plies\":[{\"ply\":3,\"games\":1}]",
			(unsigned long long)row->white);
	}
	if (row->line) {
		fprintf(file, ",\"line\":\"d4\",\"moves\":[{\"uci\":\"e2e4\",\"draws\":2}]");
	}
	if (row->engine[0] != '\0') {
		fprintf(file,
			",\"evals\":[{\"engine\":\"%s\",\"depth\":%u,\"cp\":3},"
			"{\"engine\":\"%s\",\"depth\":%u,\"cp\":9,\"multipv\":2}]",
			row->engine, row->depth, row->engine, help_below(20));
	}
	fprintf(file, "%s}", help_below(2) == 0 ? "" : ",\"chi2\":99.5");
}

static void print_epd(FILE *file, const struct row *row)
{
	fprintf(file, "%s", row->bad ? "8/8 w - -" : row->fen);
	if (row->counted) {
		fprintf(file, " c0 \"white %llu draws 0 black 0\";",
			(unsigned long long)row->white);
	}
	if (row->engine[0] != '\0') {
		fprintf(file, " engine \"%s\"; ce 5; acd %u;", row->engine, row->depth);
	} else if (row->line) {
		fprintf(file, " pv e4 c5;");
	}
	fprintf(file, "%s",
		strchr(row->note, '"') == NULL && row->note[0] > ' ' ? " id \"x\";" : "");
}

/* `n` rows; to be freed. */
static char *random_text(enum chi_format format, unsigned n, size_t *len)
{
	static const char header[] = "fen,white,note,line,engine,depth,cp,chi2,strange\n";
	char *out = NULL;
	FILE *file = open_memstream(&out, len);
	char separator = format == CHI_FORMAT_CSV ? ',' : '\t';
	fprintf(file, "%s", help_below(2) == 0 ? "\xef\xbb\xbf" : "\n  \n");
	for (const char *c = header;
	     chi_lines_span(&(struct chi_lines){.format = format}) && *c != '\0'; c++) {
		fputc(*c == ',' ? separator : *c, file);
	}
	for (unsigned i = 0; i < n; i++) {
		struct row row = random_row();
		if (chi_lines_span(&(struct chi_lines){.format = format})) {
			print_csv(file, &row, separator);
			fputc(separator, file);
		} else if (format == CHI_FORMAT_EPD) {
			print_epd(file, &row);
		} else {
			print_object(file, &row);
		}
		fprintf(file, "%s", help_below(6) == 0 ? "\r\n" : "\n");
		fprintf(file, "%s", help_below(9) == 0 ? "\n" : "");
	}
	assert_int_equal(fclose(file), 0);
	return out;
}

/* ---- The same by puts --------------------------------------------------------------------------
 */

struct expected {
	struct chi_put_result done;
	uint64_t read;
	uint64_t bad[100000];
	size_t n_bad;
};

/* A put that is refused takes nothing along. */
static bool put_one(struct chi_write *write, enum chi_statistic statistic,
		    const struct chi_put_entry *put, struct chi_put_result *done)
{
	struct chi_put_result more = *done;
	if (chi_put_check(put, statistic, &fault) < 0) {
		return false;
	}
	ok(chi_write_savepoint(write));
	if (chi_write_put(write, put, &more) < 0) {
		ok(chi_write_rollback(write));
		return false;
	}
	*done = more;
	return true;
}

/* Puts as they come, and what became of them. */
struct putting {
	struct chi_dir *store;
	struct chi_write *write;
	struct chi_lines lines;
	struct chi_arena arena;
	struct chi_buffer record; /* of several lines */
	struct expected *out;
};

static void put_record(struct putting *putting, const char *record, size_t len, uint64_t line)
{
	enum chi_statistic statistic = chi_dir_statistic(putting->store);
	struct expected *out = putting->out;
	struct chi_put_entry put;
	int rc = chi_lines_read(&putting->lines, record, len, &putting->arena, &put, &fault);
	if (rc == CHI_OK && statistic != CHI_STATISTIC_EXTERNAL) {
		put.parts &= ~(uint32_t)CHI_PUT_CHI2;
		put.record.chi2 = CHI_CHI2_UNKNOWN;
	}
	out->read += rc != CHI_NONE;
	if (rc < 0 || (rc == CHI_OK && !put_one(putting->write, statistic, &put, &out->done))) {
		out->bad[out->n_bad++] = line;
	}
	chi_arena_reset(&putting->arena);
}

/* A record of several lines keeps their ends, but for its own. */
static void put_lines(struct putting *putting, const char *text, size_t len)
{
	struct chi_buffer *record = &putting->record;
	bool begun = false;
	bool open = false;
	uint64_t number = 0;
	uint64_t first = 0;
	size_t end = 0;
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	for (const char *at = text + mark; at < text + len;) {
		const char *newline = memchr(at, '\n', (size_t)(text + len - at));
		const char *line = at;
		size_t n = (size_t)((newline != NULL ? newline : text + len) - line);
		bool returned = n > 0 && line[n - 1] == '\r';
		at = line + n + 1;
		n -= returned;
		first = open ? first : number + 1;
		number++;
		if (n > CHI_LINES_MAX) {
			putting->out->read++;
			putting->out->bad[putting->out->n_bad++] = first;
			open = false;
			continue;
		}
		if (!open && chi_line_is_blank(line, n)) {
			continue;
		}
		if (!begun) {
			begun = true;
			if (chi_lines_begin(&putting->lines, line, n, &putting->arena, &fault) ==
			    CHI_OK) {
				continue;
			}
		}
		if (!open && !chi_lines_open(&putting->lines, line, n, false)) {
			put_record(putting, line, n, first);
			continue;
		}
		if (!open) {
			chi_buffer_consume(record, record->len);
		}
		open = chi_lines_open(&putting->lines, line, n, open);
		end = returned ? 2 : 1;
		if (chi_buffer_append(record, line, n) != CHI_OK ||
		    chi_buffer_append(record, returned ? "\r\n" : "\n", end) != CHI_OK) {
			putting->out->read++;
			putting->out->bad[putting->out->n_bad++] = first;
			open = false;
		} else if (!open) {
			put_record(putting, (const char *)chi_buffer_bytes(record),
				   record->len - end, first);
		}
	}
	if (open) {
		put_record(putting, (const char *)chi_buffer_bytes(record), record->len - end,
			   first);
	}
}

static void put_text(struct chi_dir *store, const struct chi_import_options *how, const char *text,
		     size_t len, struct expected *out)
{
	struct putting putting = {.store = store, .out = out};
	*out = (struct expected){.read = 0};
	chi_arena_init(&putting.arena, 64 * MIB);
	chi_buffer_init(&putting.record, CHI_LINES_MAX);
	ok(chi_lines_init(&putting.lines, how->format, how->engine, how->add, &fault));
	ok(chi_write_begin(store, &putting.write, &fault));
	put_lines(&putting, text, len);
	ok(chi_write_commit(putting.write, &fault));
	chi_buffer_deinit(&putting.record);
	chi_arena_deinit(&putting.arena);
}

static void check_result(const struct expected *expected)
{
	assert_memory_equal(&expected->done, &result.positions, sizeof(expected->done));
	assert_int_equal(result.games, expected->read);
	assert_int_equal(result.skipped, expected->n_bad);
	assert_int_equal(result.taken, expected->read - expected->n_bad);
	qsort(told, n_told, sizeof(told[0]), compare_lines);
	assert_int_equal(n_told, expected->n_bad);
	assert_memory_equal(told, expected->bad, n_told * sizeof(told[0]));
}

static void compare(struct chi_dir *a, struct chi_dir *b)
{
	struct chi_verify_result sound;
	size_t len = 0;
	char *text_a = help_dump(a, &len);
	char *text_b = help_dump(b, &len);
	assert_string_equal(text_a, text_b);
	ok(help_verify(b, &sound));
	free(text_a);
	free(text_b);
}

static struct chi_dir *with_games(const char *name, enum chi_statistic statistic, const char *games)
{
	const char *texts[] = {games, NULL};
	struct import_session session = {.statistic = statistic,
					 .options = {.kind = CHI_IMPORT_ADD}};
	help_remove(help_path(name));
	ok(session_run(&session, name, texts));
	return help_open(help_path(name), CHI_STORE_WRITE);
}

/* Games that the store keeps say what the initial position's counts are; outcomes need rates. */
static void one_format(enum chi_statistic statistic, enum chi_format format, bool games)
{
	static struct expected expected;
	char *pgn = session_games(40, 30);
	struct chi_dir *puts =
		games ? with_games("puts", statistic, pgn) : help_store("puts", statistic);
	struct chi_dir *lines =
		games ? with_games("lines", statistic, pgn) : help_store("lines", statistic);
	free(pgn);
	for (unsigned round = 0; round < 3; round++) {
		struct chi_import_options options = {.format = format,
						     .engine = "mine",
						     .add = round != 1,
						     .threads = 1 + help_below(3),
						     .memory = 16 * MIB};
		size_t len = 0;
		choose_fens();
		char *text = random_text(format, 120, &len);
		put_text(puts, &options, text, len, &expected);
		ok(import_text((struct chi_importer_target){.store = lines}, options, "t", text,
			       len, 1 + help_below(3000)));
		check_result(&expected);
		compare(puts, lines);
		if (round == 0 && !games) {
			const struct chi_importer_target fresh = {.path = help_path("fresh"),
								  .statistic = statistic};
			help_remove(fresh.path);
			ok(import_text(fresh, options, "t", text, len, 100));
			check_result(&expected);
			struct chi_dir *made = help_open(fresh.path, CHI_STORE_READ);
			compare(puts, made);
			chi_dir_close(made);
		}
		free(text);
	}
	chi_dir_close(puts);
	chi_dir_close(lines);
}

CASE(puts_make_the_same_store)
{
	for (int statistic = 1; statistic <= CHI_STATISTIC_MAX; statistic++) {
		for (int format = CHI_FORMAT_EPD; format <= CHI_FORMAT_JSONL; format++) {
			one_format((enum chi_statistic)statistic, (enum chi_format)format, false);
		}
	}
}

/* What games of the archive say is not set by a put, but may be added to. */
CASE(into_a_store_of_games)
{
	for (int format = CHI_FORMAT_EPD; format <= CHI_FORMAT_JSONL; format++) {
		one_format(CHI_STATISTIC_OUTCOME, (enum chi_format)format, true);
		one_format(CHI_STATISTIC_CONTROL, (enum chi_format)format, true);
	}
}

/* Appends to a text; to be freed. */
static char *repeated(const char *head, const char *line, size_t n, const char *tail, size_t *len)
{
	char *out = NULL;
	FILE *file = open_memstream(&out, len);
	fputs(head, file);
	for (size_t i = 0; i < n; i++) {
		fputs(line, file);
	}
	fputs(tail, file);
	assert_int_equal(fclose(file), 0);
	return out;
}

/* Lines and records about as long as one may be, of more pieces than one, and an open mark. */
CASE(long_records)
{
	static struct expected expected;
	const struct chi_import_options options = {
		.format = CHI_FORMAT_CSV, .engine = "mine", .threads = 3, .memory = 16 * MIB};
	for (int i = -3; i <= 3; i++) {
		static const char *const units[] = {"n", "n\n", "n\r\n", "\"\""};
		for (size_t unit = 0; unit < CHI_COUNT(units); unit++) {
			struct chi_dir *puts = help_store("puts", CHI_STATISTIC_CONTROL);
			struct chi_dir *lines = help_store("lines", CHI_STATISTIC_CONTROL);
			size_t len = 0;
			size_t head = sizeof(START ",\"\"") - 1;
			size_t n = ((size_t)((int)(MIB - head) + i)) / strlen(units[unit]);
			char *text = repeated("fen,note\n" START ",\"", units[unit], n,
					      i % 2 == 0 ? "\"\n8/8/8/4k3/8/8/8/4K3 w - -,a\n"
							 : "\n" START ",b\n" START ",c",
					      &len);
			put_text(puts, &options, text, len, &expected);
			ok(import_text((struct chi_importer_target){.store = lines}, options, "t",
				       text, len, 200000));
			check_result(&expected);
			compare(puts, lines);
			free(text);
			chi_dir_close(puts);
			chi_dir_close(lines);
		}
	}
}

/* A file that is none of positions ends the import, and nothing has happened. */
CASE(what_ends_it)
{
	static const struct {
		const char *name;
		const char *text;
		int status;
		const char *says;
	} cases[] = {
		{"x.csv", "\n\nposition,chi2\n", -CHI_ESYNTAX, "x.csv:3: the header has no column"},
		{"x.epd", "[Event \"x\"]\n", -CHI_EUNSUPPORTED, "x.epd:1: this is a file of games"},
		{"x.bin", "", -CHI_EUNSUPPORTED, "x.bin: Polyglot"},
		{"x", START "\n", CHI_OK, ""},
		{"x.csv.gz", "fen\n", CHI_OK, ""},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		const struct chi_importer_target fresh = {.path = help_path("fresh"),
							  .statistic = CHI_STATISTIC_CONTROL};
		help_remove(fresh.path);
		assert_int_equal(import_text(fresh, (struct chi_import_options){.threads = 2},
					     cases[i].name, cases[i].text, strlen(cases[i].text),
					     5),
				 cases[i].status);
		if (cases[i].status < 0) {
			assert_non_null(strstr(fault.text, cases[i].says));
		}
		/* Nor is a store made for nothing. */
		assert_int_equal(access(fresh.path, F_OK), i == 3 ? 0 : -1);
	}
	assert_int_equal(result.empty, 1);
	assert_string_equal(said, "x.csv.gz: no position was found\n");
}

/* The name decides, else the first line; of records over lines the first is told. */
CASE(formats_and_bad_lines)
{
	static const struct {
		const char *name;
		const char *text;
		uint64_t good;
		uint64_t bad[3];
	} cases[] = {
		{"x", START "\n" ENDING "\n", 2, {0}},
		{"x.EPD.GZ", START "\n" ENDING, 2, {0}},
		{"x", "fen\n" START "\n" ENDING "\n", 2, {0}},
		{"x.csv", "fen,chi2\n" START ",1\n" ENDING ",", 2, {0}},
		{"x.txt", "\n\nfen,chi2\n" START ",1\n\n" ENDING ",\n", 2, {0}},
		{"x", "chi2\tfen\n-\t" START "\n2\t" ENDING "\n", 2, {0}},
		{"x.tsv.zst", "chi2\tfen\r\n-\t" START "\r\n2\t" ENDING "\r\n", 2, {0}},
		{"x.csv",
		 "\xef\xbb\xbf"
		 "fen,chi2\n" START ",1\n" ENDING ",",
		 2,
		 {0}},
		{"x.epd", START "\nbad\n\n" ENDING "\n" START " bm Ke5;\n" ENDING, 3, {2, 5}},
		{"x.csv",
		 "fen,note\n" START ",\"two\nlines\"\nbad,x\n" ENDING ",\"three\r\n\r\nlines\"\n",
		 2,
		 {4}},
		/* A mark that is never closed is one bad record, and no end of the world. */
		{"x.csv", "fen,note\n" START ",ok\n" ENDING ",\"open\nrest\n", 1, {3}},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct chi_dir *store = help_store("store", CHI_STATISTIC_EXTERNAL);
		ok(import_text((struct chi_importer_target){.store = store},
			       (struct chi_import_options){.threads = 2}, cases[i].name,
			       cases[i].text, strlen(cases[i].text), 7));
		assert_int_equal(result.taken, cases[i].good);
		assert_memory_equal(told, cases[i].bad, n_told * sizeof(told[0]));
		assert_int_equal(cases[i].bad[n_told], 0);
		chi_dir_close(store);
	}
	assert_int_equal(chi_format_of("tsv"), CHI_FORMAT_TSV);
	assert_int_equal(chi_format_of("png"), CHI_FORMAT_AUTO);
	assert_int_equal(chi_format_of_path("a.PGN.zst"), CHI_FORMAT_PGN);
}

/* By what comes first. */
CASE(games_are_told)
{
	static const char *const games[] = {
		"[Event \"x\"]\n", "\xef\xbb\xbf[White", "\r\n \t\n[", "% escaped\n[", "1. e4 e5",
		"12.e4",	   "{ text } 1. d4",	 "; text",
	};
	static const char *const others[] = {
		"", "\n\n", START, "8/8/8 w", "fen,chi2", "1", "12", "\xef\xbb", "1 e4", "POLY",
	};
	for (size_t i = 0; i < CHI_COUNT(games); i++) {
		assert_true(chi_text_is_pgn(games[i], strlen(games[i])));
	}
	for (size_t i = 0; i < CHI_COUNT(others); i++) {
		assert_false(chi_text_is_pgn(others[i], strlen(others[i])));
	}
	/* Binary files may begin with anything. */
	assert_false(chi_text_is_pgn("\0[", 2));
}

/* Where games or moves are by then, of the store or of the text, nothing changes; elsewhere counts
 * are added to what else is stored. */
CASE(what_was_played_stays)
{
	static const char before[] = "{\"fen\":\"" START "\",\"moves\":[{\"uci\":\"e2e4\"}]}\n"
				     "{\"fen\":\"8/8/8/4k3/8/8/8/4K3 w - -\",\"note\":\"n\"}\n"
				     "{\"fen\":\"8/8/8/4k3/8/8/8/4K3 b - -\",\"other\":1}\n";
	static const char text[] = "{\"fen\":\"" START "\",\"other\":5}\n"
				   "{\"fen\":\"8/8/8/4k3/8/8/8/4K3 w - -\",\"white\":3}\n"
				   "{\"fen\":\"8/8/8/4k3/8/8/8/4K3 b - -\",\"other\":5}\n"
				   "{\"fen\":\"8/8/8/4k3/8/8/8/3K4 w - -\",\"other\":5}\n"
				   "{\"fen\":\"8/8/8/4k3/8/8/8/3K4 w - -\",\"other\":6}\n";
	static const char after[] = "{\"fen\":\"8/8/8/4k3/8/8/8/4K3 w - -\",\"white\":3}\n"
				    "{\"fen\":\"8/8/8/4k3/8/8/8/3K4 w - -\",\"other\":5}\n";
	struct chi_import_options options = {.format = CHI_FORMAT_JSONL, .add = true, .threads = 2};
	struct chi_dir *store = help_store("store", CHI_STATISTIC_OUTCOME);
	struct chi_dir *plain = help_store("plain", CHI_STATISTIC_OUTCOME);
	const struct chi_importer_target into = {.store = store};
	ok(import_text(into, options, "t", before, strlen(before), 50));
	ok(import_text((struct chi_importer_target){.store = plain}, options, "t", before,
		       strlen(before), 50));
	ok(import_text((struct chi_importer_target){.store = plain}, options, "t", after,
		       strlen(after), 50));
	options.unplayed = true;
	ok(import_text(into, options, "t", text, strlen(text), 50));
	assert_int_equal(result.taken, 5);
	assert_int_equal(result.positions.added, 1);
	assert_int_equal(result.positions.updated, 1);
	assert_int_equal(result.positions.unchanged, 3);
	compare(plain, store);
	chi_dir_close(store);
	chi_dir_close(plain);
}

/* Notes name the file, and its lines; each file has its own header and format. */
CASE(several_files)
{
	struct chi_dir *store = help_store("store", CHI_STATISTIC_CONTROL);
	struct chi_import_options options = {
		.kind = CHI_IMPORT_PUT, .report = report, .threads = 2};
	static const char *const files[][2] = {{"a.csv", "note,fen,odd\nx," START ",\ny,bad,"},
					       {"b.tsv", "fen\tchi2\n" START "\t7\nbad\t1\n"},
					       {"c", "bad\n\nworse"}};
	struct chi_importer *importer = NULL;
	n_told = 0;
	said[0] = '\0';
	ok(chi_importer_begin(&(struct chi_importer_target){.store = store}, &options, &importer,
			      &fault));
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		ok(chi_importer_file(importer, files[i][0], &fault));
		ok(chi_importer_feed(importer, files[i][1], strlen(files[i][1]), &fault));
	}
	ok(chi_importer_commit(importer, &result, &fault));
	chi_importer_free(importer);
	static const uint64_t lines[] = {3, 3, 1, 3};
	assert_int_equal(n_told, CHI_COUNT(lines));
	assert_memory_equal(told, lines, sizeof(lines));
	assert_string_equal(said, "a.csv: ignored: 'odd'\n"
				  "b.tsv: the chi2 column is ignored: this store computes its "
				  "statistic\n"
				  "c: no position was found\n");
	assert_int_equal(help_count(store), 1);
	chi_dir_close(store);
}

/* However large the file is, what is bad in it included. */
CASE(memory_is_bounded)
{
	struct chi_dir *store = help_store("store", CHI_STATISTIC_CONTROL);
	const struct chi_import_options options = {
		.format = CHI_FORMAT_EPD, .threads = 2, .memory = 16 * MIB};
	size_t len = 0;
	char *text = repeated("", START " id \"a note of some length\";\nbad\n", 300000, "", &len);
	struct mallinfo2 before = mallinfo2();
	size_t most = 0;
	struct chi_import_options put = options;
	put.kind = CHI_IMPORT_PUT;
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&(struct chi_importer_target){.store = store}, &put, &importer,
			      &fault));
	for (size_t at = 0; at < len; at += 100000) {
		ok(chi_importer_feed(importer, text + at, len - at < 100000 ? len - at : 100000,
				     &fault));
		struct mallinfo2 now = mallinfo2();
		size_t held = now.uordblks + now.hblkhd - before.uordblks - before.hblkhd;
		most = held > most ? held : most;
	}
	ok(chi_importer_commit(importer, &result, &fault));
	chi_importer_free(importer);
	/* A sanitizer's allocator tells nothing. */
	assert_true(most > 0 || before.uordblks == 0);
	assert_true(most <= 32 * MIB);
	assert_int_equal(result.taken, 300000);
	assert_int_equal(result.skipped, 300000);
	free(text);
	chi_dir_close(store);
}

CASES_MAIN(NULL, help_teardown)
