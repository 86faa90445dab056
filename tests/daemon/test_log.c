/* SPDX-License-Identifier: MIT */
/* Lines of the log: what people and programs read, whatever strangers put into them, and how many
 * of them strangers can cause. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/attr.h"
#include "base/num.h"
#include "service/log.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

static const struct chi_log_head bare = {.priority = -1, .pid = -1};

/* The line without its newline, as a text. */
static void print(enum chi_log_format format, const struct chi_log_head *head,
		  const struct chi_event *event, char out[CHI_LOG_LINE_SIZE + 1])
{
	char line[CHI_LOG_LINE_SIZE];
	size_t len = chi_log_line(format, head, event, line);
	assert_in_range(len, 1, CHI_LOG_LINE_SIZE);
	assert_int_equal(line[len - 1], '\n');
	assert_null(memchr(line, '\n', len - 1));
	assert_null(memchr(line, '\0', len));
	memcpy(out, line, len - 1);
	out[len - 1] = '\0';
}

static void expect_text(const char *message, const char *value, const char *expected)
{
	char line[CHI_LOG_LINE_SIZE + 1];
	const struct chi_log_field fields[] = {log_text("x", value), {.key = NULL}};
	print(CHI_LOG_TEXT, &bare, &(struct chi_event){CHI_LOG_WARNING, "e", message, fields},
	      line);
	assert_string_equal(line, expected);
}

CASE(test_sentences)
{
	expect_text("a '{x}' b", "y", "chistored: warning: a 'y' b");
	expect_text("{x}{x}", "y", "chistored: warning: yy");
	expect_text("no place", "y", "chistored: warning: no place");
	expect_text("'{x}'", NULL, "chistored: warning: ''");
	expect_text("({x})", "it's \\o/", "chistored: warning: (it's \\o/)");
	/* Programming errors show and do no harm. */
	expect_text("{y} {x", "y", "chistored: warning: {y} {x");
}

CASE(test_hostile_texts)
{
	expect_text("'{x}' (ok)", "a' (bad) 'b", "chistored: warning: 'a\\' (bad) \\'b' (ok)");
	expect_text("'{x}'", "\\", "chistored: warning: '\\\\'");
	expect_text("{x}", "a\nchistored: error: b",
		    "chistored: warning: a\\x0achistored: error: b");
	expect_text("{x}", "\x1b[2J\x7f", "chistored: warning: \\x1b[2J\\x7f");
	expect_text("{x}", "Zo\xc3\xab", "chistored: warning: Zo\xc3\xab");
	/* No UTF-8, in all the ways there are. */
	expect_text("{x}", "\xff\xc3", "chistored: warning: \\xff\\xc3");
	expect_text("{x}", "\xc0\xaf\xed\xa0\x80", "chistored: warning: \\xc0\\xaf\\xed\\xa0\\x80");
	expect_text("{x}", "\xf0\x9f\x98", "chistored: warning: \\xf0\\x9f\\x98");
	/* The other controls, a separator of lines, a change of direction. */
	expect_text("{x}", "\xc2\x85", "chistored: warning: \\xc2\\x85");
	expect_text("{x}", "\xe2\x80\xa8", "chistored: warning: \\xe2\\x80\\xa8");
	expect_text("{x}", "\xe2\x80\xae", "chistored: warning: \\xe2\\x80\\xae");
}

CASE(test_heads)
{
	char line[CHI_LOG_LINE_SIZE + 1];
	const struct chi_log_field fields[] = {
		log_number("n", UINT64_MAX), log_seconds("s", 1.5), {.key = NULL}};
	const struct chi_event event = {CHI_LOG_ERROR, "a.b", "{n} in {s} s", fields};
	const struct chi_log_head head = {NULL, "2026-11-22T00:00:00Z", 3, 17};
	print(CHI_LOG_TEXT, &head, &event, line);
	assert_string_equal(
		line, "<3>2026-11-22T00:00:00Z chistored: error: 18446744073709551615 in 1.500 s");
	print(CHI_LOG_JSON, &head, &event, line);
	assert_string_equal(line, "<3>{\"time\":\"2026-11-22T00:00:00Z\",\"level\":\"error\","
				  "\"event\":\"a.b\",\"pid\":17,"
				  "\"message\":\"18446744073709551615 in 1.500 s\","
				  "\"n\":18446744073709551615,\"s\":1.500}");
}

/* Bytes that like to be misread, among others. */
static void fill(struct seed *seed, char *text, size_t room)
{
	static const char nasty[] = "'\"\\\n\x1b\x7f{}\xc3\xab\xe2\x80\xa8\xf0\x9f\x98\x80";
	size_t len = seed_next(seed) % room;
	for (size_t i = 0; i < len; i++) {
		uint64_t dice = seed_next(seed);
		text[i] = dice % 2 == 0 ? nasty[dice / 2 % (sizeof(nasty) - 1)] : (char)(dice >> 8);
		text[i] = text[i] == '\0' ? ' ' : text[i];
	}
	text[len] = '\0';
}

/* Whatever the bytes, a line is one of text that a terminal shows as it is, or one of JSON that
 * gives the same text again. */
CASE(test_any_bytes)
{
	struct seed seed = seed_start("test_any_bytes");
	static char a[6000];
	static char b[300];
	char line[CHI_LOG_LINE_SIZE + 1];
	size_t cut = 0;
	const size_t rounds = seed_rounds(4000);
	for (size_t i = 0; i < rounds; i++) {
		fill(&seed, a, i % 8 == 0 ? sizeof(a) : 60);
		fill(&seed, b, sizeof(b));
		const struct chi_log_field fields[] = {
			log_text("a", a), log_number("n", 7), log_text("b", b), {.key = NULL}};
		const struct chi_event event = {CHI_LOG_INFO, "e", "'{a}' {b}", fields};
		print(CHI_LOG_TEXT, &bare, &event, line);
		assert_true(chi_utf8_valid(line, strlen(line)));
		for (const char *at = line; *at != '\0'; at++) {
			assert_true((unsigned char)*at >= ' ' && *at != 127);
		}
		print(CHI_LOG_JSON, &bare, &event, line);
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(object);
		assert_string_equal(json_string_value(json_object_get(object, "event")), "e");
		if (json_object_get(object, "truncated") != NULL) {
			cut++;
		} else if (chi_utf8_valid(b, strlen(b))) {
			assert_string_equal(json_string_value(json_object_get(object, "b")), b);
			assert_int_equal(json_integer_value(json_object_get(object, "n")), 7);
		}
		json_decref(object);
	}
	assert_in_range(cut, rounds / 20, rounds / 8);
}

/* At each length a line may be cut anywhere, and has to be whole all the same. */
CASE(test_every_length)
{
	static char text[CHI_LOG_LINE_SIZE + 64];
	char line[CHI_LOG_LINE_SIZE + 1];
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		text[len] = "'\n\xe2\x80\x99x"[len % 6];
		const struct chi_log_field fields[] = {
			log_text("a", text), log_number("n", 1), log_text("b", "c"), {.key = NULL}};
		const struct chi_event event = {CHI_LOG_INFO, "e", "{n}", fields};
		print(CHI_LOG_JSON, &bare, &event, line);
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(object);
		bool cut = json_object_get(object, "truncated") != NULL;
		const char *last = json_string_value(json_object_get(object, "b"));
		bool all = last != NULL && strcmp(last, "c") == 0;
		assert_int_equal(cut, !all);
		json_decref(object);
	}
}

/* ---- Lines that are left out ------------------------------------------------------------- */

static char path[] = "/tmp/chi-log-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static char *read_file(void)
{
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	char *text = calloc(1, 1 << 16);
	assert_non_null(text);
	(void)!fread(text, 1, (1 << 16) - 1, file);
	(void)fclose(file);
	return text;
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
		n++;
	}
	return n;
}

/* Of each name so many lines and no more, and the number of the others at the end. */
CASE(test_what_strangers_cause)
{
	const struct chi_log_options options = {.level = CHI_LOG_INFO, .path = path};
	assert_int_equal(chi_log_open(&options, NULL), CHI_OK);
	for (int i = 0; i < 1000; i++) {
		log_limited_info("x.refuse", "refused {n}", log_number("n", (uint64_t)i));
		log_limited_warning("x.other", "other");
		log_info("x.own", "own");
	}
	chi_log_tick();
	_cleanup_(chi_freep) char *before = read_file();
	assert_int_equal(count_of(before, "left out"), 0);
	chi_log_close();
	_cleanup_(chi_freep) char *text = read_file();
	assert_int_equal(count_of(text, "info: refused"), CHI_LOG_BURST);
	assert_int_equal(count_of(text, "warning: other"), CHI_LOG_BURST);
	assert_int_equal(count_of(text, "info: own"), 1000);
	assert_int_equal(count_of(text, "info: left out 990 lines of event 'x.refuse'"), 1);
	assert_int_equal(count_of(text, "warning: left out 990 lines of event 'x.other'"), 1);
}

/* Text on standard error is for people and the journal, and the latter alone has use for numbers.
 */
CASE(test_the_journal)
{
	struct stat file;
	char stream[64];
	int kept = dup(STDERR_FILENO);
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
	assert_true(kept >= 0 && fd >= 0 && fstat(fd, &file) == 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)file.st_dev,
		 (unsigned long long)file.st_ino);
	const struct chi_log_options options = {.level = CHI_LOG_INFO};
	setenv("JOURNAL_STREAM", "1:1", 1);
	int status = chi_log_open(&options, NULL);
	log_warning("x", "elsewhere");
	setenv("JOURNAL_STREAM", stream, 1);
	status += chi_log_open(&options, NULL);
	log_warning("x", "here");
	chi_log_close();
	(void)dup2(kept, STDERR_FILENO);
	close(kept);
	close(fd);
	assert_int_equal(status, CHI_OK);
	_cleanup_(chi_freep) char *text = read_file();
	assert_string_equal(text, "chistored: warning: elsewhere\n<4>chistored: warning: here\n");
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cases_run(make_file, remove_file);
}
