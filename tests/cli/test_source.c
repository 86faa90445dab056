/* SPDX-License-Identifier: MIT */
/* Lines of plain and packed files: the same lines whatever the packing, bounded memory, and damage
 * told instead of an early end. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attr.h"
#include "formats/source.h"
#include "tests/base/seed.h"
#include "tests/cli/files.h"

static struct chi_source *open_file(const char *path, size_t line_max)
{
	struct chi_source *source = NULL;
	struct chi_source_options options = {.line_max = line_max};
	struct chi_fault fault = {.text = ""};
	assert_int_equal(chi_source_open(path, &options, &source, &fault), CHI_OK);
	return source;
}

static void expect_line(struct chi_source *source, const char *text, uint64_t number)
{
	const char *line = NULL;
	size_t len = 0;
	assert_int_equal(chi_source_line(source, &line, &len, NULL), CHI_OK);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(line, text, len);
	assert_int_equal(chi_source_line_number(source), number);
}

static void expect_end(struct chi_source *source)
{
	const char *line = NULL;
	size_t len = 0;
	/* Asked again it says the same. */
	assert_int_equal(chi_source_line(source, &line, &len, NULL), CHI_NONE);
	assert_int_equal(chi_source_line(source, &line, &len, NULL), CHI_NONE);
}

/* Same lines and numbers; marks at a file's start and line ends of both kinds are no text. */
static void every_packing(void **state)
{
	(void)state;
	static const char text[] = "\xef\xbb\xbf"
				   "first\r\n\nthird\n\xef\xbb\xbf"
				   "fourth\nlast";
	for (int packing = 0; packing < PACKINGS; packing++) {
		char *path = file_write(text, sizeof(text) - 1, (enum packing)packing);
		assert_non_null(path);
		struct chi_source *source = open_file(path, 0);
		assert_true(chi_source_bytes_total(source) > 0);
		expect_line(source, "first", 1);
		expect_line(source, "", 2);
		expect_line(source, "third", 3);
		expect_line(source,
			    "\xef\xbb\xbf"
			    "fourth",
			    4);
		expect_line(source, "last", 5);
		expect_end(source);
		assert_int_equal(chi_source_bytes_read(source), chi_source_bytes_total(source));
		chi_source_close(source);
		file_remove(path);
	}
}

/* No bytes are no lines, also when the nothing is packed. */
static void empty_files(void **state)
{
	(void)state;
	for (int packing = 0; packing < PACKINGS; packing++) {
		char *path = file_write("", 0, (enum packing)packing);
		assert_non_null(path);
		struct chi_source *source = open_file(path, 0);
		expect_end(source);
		chi_source_close(source);
		file_remove(path);
	}
}

/* Lines of n - 1, n and n + 1 bytes, with both line ends, at the front, in the middle, last. */
static void line_limits(void **state)
{
	(void)state;
	const size_t max = 1000;
	static const char *const ends[] = {"\n", "\r\n", ""};
	for (size_t size = max - 1; size <= max + 1; size++) {
		for (size_t e = 0; e < CHI_COUNT(ends); e++) {
			char text[2048] = "front\n";
			size_t at = strlen(text);
			memset(text + at, 'x', size);
			strcpy(text + at + size, ends[e]);
			if (ends[e][0] != '\0') {
				strcat(text, "behind\n");
			}
			char *path = file_write(text, strlen(text), PLAIN);
			struct chi_source *source = open_file(path, max);
			const char *line = NULL;
			size_t len = 0;
			expect_line(source, "front", 1);
			int status = chi_source_line(source, &line, &len, NULL);
			assert_int_equal(status, size <= max ? CHI_OK : -CHI_ETOOBIG);
			assert_int_equal(chi_source_line_number(source), 2);
			if (ends[e][0] != '\0') {
				expect_line(source, "behind", 3);
			}
			expect_end(source);
			chi_source_close(source);
			file_remove(path);
		}
	}
}

/* A line far longer than a block is skipped as one line. */
static void endless_line(void **state)
{
	(void)state;
	size_t size = (size_t)5 << 20;
	char *text = malloc(size + 8);
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text + size, "\nafter\n", 7);
	for (int packing = 0; packing < PACKINGS; packing++) {
		char *path = file_write(text, size + 7, (enum packing)packing);
		struct chi_source *source = open_file(path, 0);
		const char *line = NULL;
		size_t len = 0;
		assert_int_equal(chi_source_line(source, &line, &len, NULL), -CHI_ETOOBIG);
		expect_line(source, "after", 2);
		expect_end(source);
		chi_source_close(source);
		file_remove(path);
	}
	free(text);
}

/* Lines of random lengths over many blocks come back whole. */
static void random_lines(void **state)
{
	(void)state;
	struct seed seed = seed_start("lines of random lengths");
	size_t n = 20000;
	size_t size = 0;
	char *text = malloc(n * 101);
	size_t *lengths = calloc(n, sizeof(*lengths));
	assert_non_null(text);
	assert_non_null(lengths);
	for (size_t i = 0; i < n; i++) {
		lengths[i] = (size_t)seed_below(&seed, 100);
		memset(text + size, 'a' + (int)(i % 26), lengths[i]);
		size += lengths[i];
		text[size++] = '\n';
	}
	for (int packing = 0; packing < PACKINGS; packing++) {
		char *path = file_write(text, size, (enum packing)packing);
		struct chi_source *source = open_file(path, 100);
		for (size_t i = 0; i < n; i++) {
			const char *line = NULL;
			size_t len = 0;
			assert_int_equal(chi_source_line(source, &line, &len, NULL), CHI_OK);
			assert_int_equal(len, lengths[i]);
			assert_true(len == 0 || line[len - 1] == (char)('a' + (int)(i % 26)));
		}
		expect_end(source);
		chi_source_close(source);
		file_remove(path);
	}
	free(text);
	free(lengths);
}

/* A packed file cut anywhere never ends as if it were whole. */
static void cut_files(void **state)
{
	(void)state;
	char text[4000];
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = i % 40 == 39 ? '\n' : (char)('a' + i * 7 % 26);
	}
	for (int packing = GZIP; packing < PACKINGS; packing++) {
		char *path = file_write(text, sizeof(text), (enum packing)packing);
		struct chi_source *whole = open_file(path, 0);
		off_t size = (off_t)chi_source_bytes_total(whole);
		chi_source_close(whole);
		for (off_t cut = size - 1; cut > 20; cut -= size / 10) {
			assert_int_equal(truncate(path, cut), 0);
			struct chi_source *source = open_file(path, 0);
			struct chi_fault fault = {.text = ""};
			const char *line = NULL;
			size_t len = 0;
			int status;
			uint64_t lines = 0;
			while ((status = chi_source_line(source, &line, &len, &fault)) == CHI_OK) {
				lines++;
			}
			assert_int_equal(status, -CHI_EIO);
			assert_string_equal(fault.text, "the compressed data is cut short");
			/* The number is of the line that could not be read. */
			assert_int_equal(chi_source_line_number(source), lines + 1);
			chi_source_close(source);
		}
		file_remove(path);
	}
}

/* A byte changed in the middle is not told as a cut, where the packing notices it at all. */
static void damaged_files(void **state)
{
	(void)state;
	static char text[400000];
	unsigned noticed = 0;
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = i % 40 == 39 ? '\n' : (char)('a' + i * i % 7919 % 26);
	}
	for (int packing = GZIP; packing < PACKINGS; packing++) {
		char *path = file_write(text, sizeof(text), (enum packing)packing);
		int fd = open(path, O_RDWR);
		off_t middle = lseek(fd, 0, SEEK_END) / 2;
		char byte;
		assert_int_equal(pread(fd, &byte, 1, middle), 1);
		byte ^= 0x55;
		assert_int_equal(pwrite(fd, &byte, 1, middle), 1);
		close(fd);
		struct chi_source *source = open_file(path, 0);
		struct chi_fault fault = {.text = ""};
		const char *line = NULL;
		size_t len = 0;
		int status;
		while ((status = chi_source_line(source, &line, &len, &fault)) == CHI_OK) {
		}
		if (status < 0) {
			assert_string_not_equal(fault.text, "");
			assert_null(strstr(fault.text, "cut short"));
			noticed++;
		}
		chi_source_close(source);
		file_remove(path);
	}
	assert_true(noticed > 0);
}

/* Bytes as they stand, however packed; looking at the first takes nothing away. */
static void raw_bytes(void **state)
{
	(void)state;
	static char text[300000];
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)(i * 31 % 251);
	}
	for (int packing = 0; packing < PACKINGS; packing++) {
		char *path = file_write(text, sizeof(text), (enum packing)packing);
		struct chi_source *source = open_file(path, 0);
		const char *bytes = NULL;
		size_t len = 0;
		size_t at = 0;
		assert_int_equal(chi_source_peek(source, &bytes, &len, NULL), CHI_OK);
		assert_memory_equal(bytes, text, len);
		while (chi_source_read(source, &bytes, &len, NULL) == CHI_OK) {
			assert_true(len > 0 && len <= sizeof(text) - at);
			assert_memory_equal(bytes, text + at, len);
			at += len;
		}
		assert_int_equal(at, sizeof(text));
		assert_int_equal(chi_source_peek(source, &bytes, &len, NULL), CHI_NONE);
		assert_int_equal(chi_source_read(source, &bytes, &len, NULL), CHI_NONE);
		chi_source_close(source);
		file_remove(path);
	}
}

/* Lines after a look are all the lines there are; bytes after a line are those after it. */
static void lines_after_a_look(void **state)
{
	(void)state;
	char *path = file_write("one\ntwo\nrest", 12, GZIP);
	struct chi_source *source = open_file(path, 0);
	const char *bytes = NULL;
	size_t len = 0;
	assert_int_equal(chi_source_peek(source, &bytes, &len, NULL), CHI_OK);
	assert_int_equal(len, 12);
	expect_line(source, "one", 1);
	expect_line(source, "two", 2);
	assert_int_equal(chi_source_read(source, &bytes, &len, NULL), CHI_OK);
	assert_int_equal(len, 4);
	assert_memory_equal(bytes, "rest", 4);
	chi_source_close(source);
	file_remove(path);
}

/* Files that are no text, and text that only looks a little like them. */
static void archives_were_read_as_text(void **state)
{
	(void)state;
	char tar[512] = "games.pgn";
	(void)memcpy(tar + 257, "ustar", 5);
	const struct {
		const char *bytes;
		size_t len;
		int status;
	} files[] = {
		{tar, 262, -CHI_EUNSUPPORTED},
		{tar, 261, CHI_OK},
		{"PK\3\4", 4, -CHI_EUNSUPPORTED},
		{"PK\3", 3, CHI_OK},
		{"\xff\xfe[", 3, -CHI_EUNSUPPORTED},
		{"\xfe\xff\0[", 4, -CHI_EUNSUPPORTED},
		{"[\0E", 3, -CHI_EUNSUPPORTED},
		{"\0[", 2, -CHI_EUNSUPPORTED},
		{"[", 1, CHI_OK},
		{"\xff[", 2, CHI_OK},
	};
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		const char *line = NULL;
		size_t len = 0;
		struct chi_fault fault = {.text = ""};
		char *path = file_write(files[i].bytes, files[i].len, i % 2 == 0 ? PLAIN : GZIP);
		assert_non_null(path);
		struct chi_source *source = open_file(path, 0);
		assert_int_equal(chi_source_line(source, &line, &len, &fault), files[i].status);
		if (files[i].status != CHI_OK) {
			assert_string_not_equal(fault.text, "");
			assert_int_equal(chi_source_line_number(source), 1);
			expect_end(source);
		}
		chi_source_close(source);
		file_remove(path);
	}
}

static void not_there(void **state)
{
	(void)state;
	struct chi_source *source = NULL;
	struct chi_fault fault = {.text = ""};
	assert_int_equal(chi_source_open("/nonexistent/file", NULL, &source, &fault),
			 -CHI_ENOSTORE);
	assert_null(source);
	assert_string_not_equal(fault.text, "");
	assert_int_equal(chi_source_open("/tmp", NULL, &source, &fault), -CHI_EIO);
	assert_null(source);
}

/* The stop was asked for before the first read: not even that is done. */
static void canceled(void **state)
{
	(void)state;
	volatile sig_atomic_t cancel = 1;
	struct chi_source *source = NULL;
	struct chi_source_options options = {.cancel = &cancel};
	const char *line = NULL;
	size_t len = 0;
	char *path = file_write("x\n", 2, PLAIN);
	assert_int_equal(chi_source_open(path, &options, &source, NULL), CHI_OK);
	assert_int_equal(chi_source_line(source, &line, &len, NULL), -CHI_ECANCELED);
	chi_source_close(source);
	file_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packing),      cmocka_unit_test(empty_files),
		cmocka_unit_test(line_limits),	      cmocka_unit_test(endless_line),
		cmocka_unit_test(random_lines),	      cmocka_unit_test(cut_files),
		cmocka_unit_test(damaged_files),      cmocka_unit_test(raw_bytes),
		cmocka_unit_test(lines_after_a_look), cmocka_unit_test(not_there),
		cmocka_unit_test(canceled),	      cmocka_unit_test(archives_were_read_as_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
