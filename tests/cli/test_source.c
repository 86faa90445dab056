/* SPDX-License-Identifier: MIT */
/* Lines of plain and packed files: the same lines whatever the packing, bounded memory, and damage
 * told instead of an early end. */
#include <fcntl.h>

#include "base/attr.h"
#include "formats/source.h"
#include "formats/unpack.h"
#include "tests/base/cases.h"
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
CASE(every_packing)
{
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
CASE(empty_files)
{
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
CASE(line_limits)
{
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
CASE(endless_line)
{
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
CASE(random_lines)
{
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
CASE(cut_files)
{
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
			assert_non_null(strstr(fault.text, "the compressed data is cut short"));
			/* The number is of the line that could not be read. */
			assert_int_equal(chi_source_line_number(source), lines + 1);
			chi_source_close(source);
		}
		file_remove(path);
	}
}

/* What is read of a file; its length, or what is wrong. */
static int read_file(const char *path, char *out, size_t room, struct chi_fault *fault)
{
	struct chi_source *source = open_file(path, 0);
	const char *block = NULL;
	size_t n = 0;
	size_t at = 0;
	int status;
	while ((status = chi_source_read(source, &block, &n, fault)) == CHI_OK) {
		assert_in_range(at + n, 0, room);
		memcpy(out + at, block, n);
		at += n;
	}
	chi_source_close(source);
	return status == CHI_NONE ? (int)at : status;
}

/* The same of packed bytes, in a file of that name. */
static int read_packed(const void *bytes, size_t len, const char *suffix, char *out, size_t room,
		       struct chi_fault *fault)
{
	char *path = file_named(bytes, len, suffix);
	assert_non_null(path);
	int n = read_file(path, out, room, fault);
	file_remove(path);
	return n;
}

static const char *const suffixes[] = {"", ".pgn.gz", ".pgn.bz2", ".pgn.xz", ".pgn.zst"};

/* Three texts, each packed, one after the other; to be freed. */
static uint8_t *joined(char text[3000], enum packing packing, size_t *len)
{
	uint8_t *all = NULL;
	*len = 0;
	for (size_t i = 0; i < 3; i++) {
		size_t n = 0;
		memset(text + i * 1000, 'a' + (int)i, 900);
		for (size_t j = 900; j < 1000; j++) {
			text[i * 1000 + j] = (char)(j % 50 == 49 ? '\n' : 'A' + (i + j * j) % 57);
		}
		uint8_t *one = packed(text + i * 1000, 1000, packing, &n);
		all = realloc(all, *len + n);
		memcpy(all + *len, one, n);
		*len += n;
		free(one);
	}
	return all;
}

/* With any bit of it changed a packed file is refused, or gives the text that it gave. */
CASE(a_flipped_bit_gave_another_text)
{
	char text[3000];
	char got[8000];
	for (int packing = GZIP; packing < PACKINGS; packing++) {
		struct chi_fault fault = {.text = ""};
		unsigned refused = 0;
		size_t len = 0;
		uint8_t *all = joined(text, (enum packing)packing, &len);
		char *path = file_named(all, len, suffixes[packing]);
		int fd = open(path, O_RDWR);
		assert_int_equal(read_file(path, got, sizeof(got), &fault), 3000);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			uint8_t byte = all[bit / 8] ^ (uint8_t)(1 << bit % 8);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
			int n = read_file(path, got, sizeof(got), &fault);
			assert_int_equal(pwrite(fd, &all[bit / 8], 1, (off_t)(bit / 8)), 1);
			if (n >= 0 && (n != 3000 || memcmp(got, text, 3000) != 0)) {
				fail_msg("%s: bit %zu: %d bytes", suffixes[packing], bit, n);
			}
			refused += n < 0;
		}
		close(fd);
		file_remove(path);
		/* Dates, and hints of how it was packed, are what no check is of. */
		assert_in_range(refused, 8 * len - 3 * 8 * 10, 8 * len);
		free(all);
	}
}

/* What follows the end of a stream, and is none, was dropped. */
CASE(what_follows_was_dropped)
{
	static const char *const tails[] = {"[Event \"x\"]", "\n", "\037", "BZ",
					    "\377\377\377\377"};
	char text[3000];
	char got[8000];
	for (int packing = GZIP; packing < PACKINGS; packing++) {
		size_t len = 0;
		size_t other_len = 0;
		uint8_t *all = joined(text, (enum packing)packing, &len);
		uint8_t *other = joined(text, (enum packing)(packing % ZSTD + 1), &other_len);
		all = realloc(all, len + other_len);
		for (size_t i = 0; i <= CHI_COUNT(tails); i++) {
			const void *tail = i < CHI_COUNT(tails) ? (const void *)tails[i] : other;
			size_t n = i < CHI_COUNT(tails) ? strlen(tails[i]) : other_len;
			struct chi_fault fault = {.text = ""};
			unsigned long long at = 0;
			memcpy(all + len, tail, n);
			assert_int_equal(read_packed(all, len + n, suffixes[packing], got,
						     sizeof(got), &fault),
					 -CHI_EIO);
			const char *digits = strpbrk(fault.text, "0123456789");
			while (digits != NULL && sscanf(digits, "%llu", &at) == 1 && at < len) {
				digits = strpbrk(digits + strspn(digits, "0123456789"),
						 "0123456789");
			}
			assert_in_range(at, len, len + n);
		}
		free(other);
		free(all);
	}
}

/* The beginning damaged, the whole gone: a name tells that this is no text. */
CASE(damage_at_the_beginning_made_a_text)
{
	char text[3000];
	char got[8000];
	struct chi_fault fault = {.text = ""};
	for (int packing = GZIP; packing < PACKINGS; packing++) {
		size_t len = 0;
		uint8_t *all = joined(text, (enum packing)packing, &len);
		for (size_t cut = 0; cut < CHI_CODEC_MAGIC; cut++) {
			assert_int_equal(
				read_packed(all, cut, suffixes[packing], got, sizeof(got), &fault),
				-CHI_EIO);
		}
		/* One that was unpacked. */
		assert_int_equal(
			read_packed(text, 3000, suffixes[packing], got, sizeof(got), &fault), 3000);
		free(all);
	}
}

/* Of a file that is held as a whole what it unpacks to is bounded by its own size. */
CASE(a_small_file_took_gigabytes)
{
	const size_t most = CHI_SOURCE_WHOLE_MORE;
	uint8_t *zeros = calloc(1, 2 * most);
	assert_non_null(zeros);
	for (int packing = PLAIN; packing < PACKINGS; packing++) {
		struct chi_fault fault = {.text = ""};
		for (size_t size = most; size <= 2 * most; size += most) {
			uint8_t *bytes = NULL;
			size_t len = 0;
			char *path = file_write(zeros, size, (enum packing)packing);
			int rc = chi_source_whole(path, "a book", &bytes, &len, &fault);
			bool fits = packing == PLAIN || size == most;
			assert_int_equal(rc, fits ? CHI_OK : -CHI_ETOOBIG);
			assert_true(fits ? len == size
					 : strstr(fault.text, "a book is over") != NULL);
			free(bytes);
			file_remove(path);
		}
	}
	free(zeros);
}

/* A byte changed in the middle is not told as a cut. */
CASE(damaged_files)
{
	static char text[400000];
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
		assert_int_equal(status, -CHI_EIO);
		assert_non_null(strstr(fault.text, "data is damaged at byte "));
		chi_source_close(source);
		file_remove(path);
	}
}

/* Bytes as they stand, however packed; looking at the first takes nothing away. */
CASE(raw_bytes)
{
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
CASE(lines_after_a_look)
{
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
CASE(archives_were_read_as_text)
{
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
			/* It is no end: asked again it is the same. */
			assert_int_equal(chi_source_line(source, &line, &len, &fault),
					 files[i].status);
			assert_int_equal(chi_source_line_number(source), 1);
		}
		chi_source_close(source);
		file_remove(path);
	}
}

CASE(not_there)
{
	struct chi_source *source = NULL;
	struct chi_fault fault = {.text = ""};
	assert_int_equal(chi_source_open("/nonexistent/file", NULL, &source, &fault),
			 -CHI_ENOSTORE);
	assert_null(source);
	assert_string_not_equal(fault.text, "");
	assert_int_equal(chi_source_open("/tmp", NULL, &source, &fault), -CHI_EINVAL);
	assert_null(source);
}

/* The stop was asked for before the first read: not even that is done. */
CASE(canceled)
{
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
