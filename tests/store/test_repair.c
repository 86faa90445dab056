/* SPDX-License-Identifier: MIT */
/*
 * Repair: whatever happens to the pages, every record that is still whole is saved, none is saved
 * that was not stored, and what had been deleted or replaced stays so as long as the list of free
 * pages can be read.
 */
#include "tests/store/help.h"

#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chess/key.h"
#include "chess/movegen.h"
#include "import/importer.h"
#include "store/pages/page_file.h"
#include "store/pages/pages.h"
#include "store/record/codec.h"
#include "tests/base/seed.h"
#include "tests/store/raw.h"

#define POSITIONS 3000
#define GAMES	  500
#define PAGE	  4096

static struct chi_key keys[POSITIONS];
static char *whole; /* the dump of the undamaged store */
static unsigned reports;
static bool stateless; /* the state record, which tells how many there were, is lost */

static void count_report(void *context, const char *text)
{
	(void)context;
	assert_true(text[0] != '\0');
	reports++;
	stateless = stateless || strstr(text, "the state record is lost") != NULL;
}

/* Some with notes, a few of them too long for a page. */
static void put_notes(struct chi_dir *store)
{
	static char note[6000];
	memset(note, 'n', sizeof(note));
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < POSITIONS; i += 7) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		put.record.note = note;
		put.record.n_note = i % 49 == 0 ? 2100 + help_below(1900) : 1 + help_below(60);
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

static void put_game_ids(struct chi_dir *store)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (unsigned i = 0; i < GAMES; i++) {
		struct chi_game_id game = {.result = (uint8_t)(i % 4)};
		for (size_t j = 0; j < CHI_GAME_ID_SIZE; j += 8) {
			uint64_t bits = help_random();
			memcpy(game.id + j, &bits, sizeof(bits));
		}
		ok(chi_write_game_id(write, &game));
	}
	ok(chi_write_commit(write, &fault));
}

/* Every fifth position goes, so that free pages hold what must not come back. */
static void delete_some(struct chi_dir *store)
{
	for (size_t start = 0; start < POSITIONS; start += 500) {
		struct chi_write *write;
		ok(chi_write_begin(store, &write, &fault));
		for (size_t i = start; i < start + 500; i += 5) {
			ok(chi_write_delete(write, &keys[i]));
		}
		ok(chi_write_commit(write, &fault));
	}
}

static void make_store(enum chi_statistic statistic)
{
	struct chi_dir *store = help_store("damaged", statistic);
	size_t len;
	help_keys(keys, POSITIONS);
	help_fill(store, keys, POSITIONS);
	put_notes(store);
	put_game_ids(store);
	struct chi_write *write;
	const struct chi_counts base = {.white = 30, .draws = 20, .black = 10};
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_base(write, &base));
	ok(chi_write_commit(write, &fault));
	delete_some(store);
	free(whole);
	whole = help_dump(store, &len);
	chi_dir_close(store);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static uint8_t *file_image;
static size_t image_len;

static void read_image(void)
{
	struct stat st;
	int fd = open(help_path("damaged/data.mdb"), O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	image_len = (size_t)st.st_size;
	free(file_image);
	file_image = malloc(image_len);
	assert_non_null(file_image);
	assert_int_equal(read(fd, file_image, image_len), image_len);
	(void)close(fd);
}

/* `len` bytes of the image become the data file. */
static void write_image(size_t len)
{
	int fd = open(help_path("damaged/data.mdb"), O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file_image, len), len);
	(void)close(fd);
}

static uint8_t *page_at(uint64_t number)
{
	assert_true(number < image_len / PAGE);
	return file_image + number * PAGE;
}

static void noise(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bytes[i] = (uint8_t)help_random();
	}
}

/* The root page of a tree, by a reader of its own. */
static uint64_t root_of(const char *name)
{
	struct chi_page_file file;
	static uint8_t page[PAGE];
	uint64_t root = UINT64_MAX;
	ok(chi_page_file_open(&file, help_path("damaged"), CHI_PAGE_FILE_BOTH, &fault));
	assert_true(chi_page_file_page(&file, file.main_root, page));
	for (unsigned i = 0; i < chi_page_file_nodes(page); i++) {
		struct chi_page_file_node node;
		assert_true(chi_page_file_read_node(&file, page, i, &node));
		if (node.key_len == strlen(name) && memcmp(node.key, name, node.key_len) == 0) {
			root = chi_u64_at(node.value + TREE_ROOT);
		}
	}
	chi_page_file_close(&file);
	return root;
}

/* ---- Repair, and what came of it ---------------------------------------------------------- */

static struct chi_repair_result result;

static int repair(enum chi_statistic statistic)
{
	help_remove(help_path("saved"));
	reports = 0;
	stateless = false;
	fault.text[0] = '\0';
	return chi_dir_repair(help_path("damaged"), help_path("saved"), statistic,
			      chi_import_relist, count_report, NULL, &result, &fault);
}

static char *saved_dump(void)
{
	size_t len;
	struct chi_verify_result verified;
	struct chi_dir *store = help_open(help_path("saved"), CHI_STORE_READ);
	assert_int_equal(help_verify(store, &verified), CHI_OK);
	char *text = help_dump(store, &len);
	chi_dir_close(store);
	return text;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a dump between its head and its tail, sorted; cuts `text`. */
static char **lines_of(char *text, size_t *n)
{
	char **lines = calloc(POSITIONS + GAMES + 8, sizeof(*lines));
	size_t all = 0;
	assert_non_null(lines);
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		lines[all++] = line;
	}
	assert_true(all >= 5);
	*n = all - 5;
	memmove(lines, lines + 4, *n * sizeof(*lines));
	qsort(lines, *n, sizeof(*lines), compare_lines);
	return lines;
}

/* How many lines of the undamaged dump are missing in the saved one, and how many are strange. */
static void difference(size_t *gone, size_t *strange)
{
	char *before = strdup(whole);
	char *after = saved_dump();
	size_t n;
	size_t m;
	char **theirs = lines_of(before, &n);
	char **ours = lines_of(after, &m);
	size_t i = 0;
	size_t j = 0;
	*gone = 0;
	*strange = 0;
	while (i < n || j < m) {
		int order = i == n ? 1 : j == m ? -1 : strcmp(theirs[i], ours[j]);
		*gone += order < 0;
		*strange += order > 0;
		i += order <= 0;
		j += order >= 0;
	}
	assert_int_equal(m, result.positions + result.games);
	free(theirs);
	free(ours);
	free(before);
	free(after);
}

static void expect_all(void)
{
	char *after = saved_dump();
	assert_string_equal(after, whole);
	free(after);
	assert_int_equal(result.missing, 0);
	assert_int_equal(result.damaged, 0);
}

/* ---- Tests -------------------------------------------------------------------------------- */

CASE(test_sound_store_is_copied)
{
	static const enum chi_statistic kinds[] = {CHI_STATISTIC_EXTERNAL, CHI_STATISTIC_OUTCOME,
						   CHI_STATISTIC_CONTROL};
	for (size_t i = 0; i < 3; i++) {
		make_store(kinds[i]);
		ok(repair(0));
		expect_all();
		assert_int_equal(result.found, 0);
		assert_int_equal(result.pages, 0);
		assert_int_equal(reports, 0);
		assert_false(result.unsure);
	}
}

/* Everything after the root is found without it; what was deleted is not, although it is there:
 * the same file with its list of free pages destroyed as well gives it back. */
CASE(test_lost_root)
{
	size_t gone;
	size_t strange;
	make_store(CHI_STATISTIC_CONTROL);
	read_image();
	noise(page_at(root_of("position")), PAGE);
	noise(page_at(root_of("ids")), PAGE);
	noise(page_at(root_of("strength")), PAGE);
	write_image(image_len);
	ok(repair(0));
	assert_int_equal(result.missing, 0);
	assert_int_equal(result.found, result.positions + result.games);
	assert_int_equal(result.pages, 3);
	assert_int_equal(reports, 3);
	assert_false(result.unsure);
	difference(&gone, &strange);
	assert_int_equal(gone, 0);
	assert_int_equal(strange, 0);

	struct chi_page_file file;
	ok(chi_page_file_open(&file, help_path("damaged"), CHI_PAGE_FILE_BOTH, &fault));
	noise(page_at(file.free_root), PAGE);
	chi_page_file_close(&file);
	write_image(image_len);
	ok(repair(0));
	assert_true(result.unsure);
	difference(&gone, &strange);
	assert_true(strange > 0);
}

/* Without the older head all is known. Without the newer, its state is looked for: no position that
 * it added is missing, and that what it deleted or replaced may be back is told. */
CASE(test_lost_heads)
{
	size_t gone;
	size_t strange;
	make_store(CHI_STATISTIC_CONTROL);
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_WRITE);
	size_t len;
	help_fill(store, keys, POSITIONS / 2); /* some of them were deleted */
	free(whole);
	whole = help_dump(store, &len);
	chi_dir_close(store);
	read_image();
	uint64_t txn[2] = {chi_u64_at(page_at(0) + 144), chi_u64_at(page_at(1) + 144)};
	unsigned newer = txn[1] > txn[0];
	uint8_t head[PAGE];
	memcpy(head, page_at(1 - newer), PAGE);
	noise(page_at(1 - newer), PAGE);
	write_image(image_len);
	assert_int_not_equal(help_try(help_path("damaged"), CHI_STORE_READ), CHI_OK);
	ok(repair(0));
	expect_all();
	assert_false(result.unsure);
	assert_int_equal(reports, 1);
	memcpy(page_at(1 - newer), head, PAGE);
	noise(page_at(newer), PAGE);
	write_image(image_len);
	ok(repair(0));
	assert_true(result.unsure);
	assert_in_range(result.positions, POSITIONS - POSITIONS / 10, POSITIONS);
	difference(&gone, &strange);
	assert_true(gone <= strange);
	noise(page_at(0), 2 * PAGE);
	write_image(image_len);
	ok(repair(0));
	assert_true(result.unsure);
	difference(&gone, &strange);
	assert_true(gone <= strange);
}

/* Many stores with a few pages of noise: nothing strange is saved, and as much is told to be
 * missing as is. */
CASE(test_noise)
{
	make_store(CHI_STATISTIC_EXTERNAL);
	read_image();
	static uint8_t good[4 << 20];
	assert_true(image_len <= sizeof(good));
	memcpy(good, file_image, image_len);
	struct chi_page_file file;
	ok(chi_page_file_open(&file, help_path("damaged"), CHI_PAGE_FILE_BOTH, &fault));
	const size_t names = file.main_root * PAGE;
	chi_page_file_close(&file);
	for (size_t round = 0; round < seed_rounds(40); round++) {
		size_t gone;
		size_t strange;
		memcpy(file_image, good, image_len);
		unsigned pages = 1 + help_below(6);
		for (unsigned i = 0; i < pages; i++) {
			uint8_t *page = page_at(2 + help_below((unsigned)(image_len / PAGE - 2)));
			switch (help_below(4)) {
			case 0:
				noise(page, PAGE);
				break;
			case 1:
				memset(page, 0, PAGE);
				break;
			case 2:
				memcpy(page,
				       page_at(2 + help_below((unsigned)(image_len / PAGE - 2))),
				       PAGE);
				break;
			default:
				page[help_below(PAGE)] ^= (uint8_t)(1u << help_below(8));
				break;
			}
		}
		write_image(image_len);
		int rc = repair(CHI_STATISTIC_EXTERNAL);
		ok(rc);
		difference(&gone, &strange);
		if (!result.unsure) {
			assert_int_equal(strange, 0);
		}
		if (!result.unsure && !stateless &&
		    memcmp(file_image + names, good + names, PAGE) == 0) {
			assert_int_equal(gone, result.missing);
		}
		assert_true(gone == 0 || reports > 0);
	}
}

CASE(test_cut_file)
{
	make_store(CHI_STATISTIC_CONTROL);
	read_image();
	for (size_t round = 0; round < seed_rounds(12); round++) {
		size_t gone;
		size_t strange;
		size_t len = help_below((unsigned)image_len);
		write_image(len);
		int rc = repair(CHI_STATISTIC_CONTROL);
		ok(rc);
		difference(&gone, &strange);
		assert_true(gone == 0 || reports > 0);
	}
	write_image(0);
	assert_int_equal(repair(CHI_STATISTIC_CONTROL), CHI_OK);
	assert_int_equal(result.positions, 0);
}

/* A node of the free list whose value lies beside it, and is longer than 24 bytes. */
static uint8_t *free_node(void)
{
	struct chi_page_file file;
	ok(chi_page_file_open(&file, help_path("damaged"), CHI_PAGE_FILE_BOTH, &fault));
	uint8_t *page = page_at(file.free_root);
	chi_page_file_close(&file);
	assert_false(chi_page_file_is_branch(page));
	for (unsigned i = 0; i < chi_page_file_nodes(page); i++) {
		uint8_t *node = page + chi_u16_at(page + PAGE_HEADER + 2 * (size_t)i);
		if (chi_node_size(node) > 24 && chi_u16_at(node + NODE_FLAGS) == 0) {
			return node;
		}
	}
	fail();
	return NULL;
}

/* An entry too short for the count that it begins with, or with a count that it is too short for,
 * is damage, whether the list is read before a store is opened or to repair it. */
CASE(test_free_list_lies)
{
	static const uint16_t lengths[] = {0, 1, 7, 8, 15, 16};
	size_t gone;
	size_t strange;
	make_store(CHI_STATISTIC_CONTROL);
	read_image();
	uint8_t *node = free_node();
	uint8_t *count = node + NODE_HEADER + chi_u16_at(node + NODE_KSIZE);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int huge = 0; huge < 2; huge++) {
			uint8_t good[16];
			memcpy(good, node, 2);
			memcpy(good + 2, count, 8);
			memcpy(node, &lengths[i], 2);
			memset(count, huge ? 0xff : 2, huge ? 8 : 1);
			write_image(image_len);
			ok(repair(0));
			assert_true(result.unsure);
			difference(&gone, &strange);
			assert_int_equal(gone, 0);
			write_image(image_len - PAGE);
			assert_int_not_equal(help_try(help_path("damaged"), CHI_STORE_READ),
					     CHI_OK);
			memcpy(node, good, 2);
			memcpy(count, good + 2, 8);
		}
	}
}

CASE(test_lost_stamp)
{
	make_store(CHI_STATISTIC_EXTERNAL);
	read_image();
	/* The leaf, and what older commits left of it. */
	for (size_t i = 0; i + 8 <= image_len; i++) {
		if (memcmp(file_image + i, "chistore", 8) == 0) {
			file_image[i] ^= 1;
		}
	}
	write_image(image_len);
	assert_int_equal(repair(0), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "stamp"));
	assert_int_equal(access(help_path("saved"), F_OK), -1);
	ok(repair(CHI_STATISTIC_EXTERNAL));
	assert_true(reports > 0);
	expect_all();
	/* And one that is there is believed. */
	make_store(CHI_STATISTIC_EXTERNAL);
	assert_int_equal(repair(CHI_STATISTIC_CONTROL), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "external"));
}

static uint64_t sequence_of(const char *name)
{
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_READ);
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	uint64_t sequence = chi_read_sequence(read);
	chi_read_end(read);
	chi_dir_close(store);
	return sequence;
}

/* A client of the first repaired store could write again, to the second, what it had written. */
CASE(test_a_second_repair_took_less_than_the_first)
{
	make_store(CHI_STATISTIC_EXTERNAL);
	read_image();
	write_image(image_len);
	ok(repair(0));
	help_remove(help_path("damaged"));
	assert_int_equal(rename(help_path("saved"), help_path("damaged")), 0);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t before = sequence_of("damaged");
		assert_true(before > UINT32_MAX);
		read_image();
		for (size_t at = 0; at + 5 <= image_len; at++) {
			if (memcmp(file_image + at, "state", 5) == 0) {
				file_image[at] ^= 1;
			}
		}
		write_image(image_len);
		ok(repair(0));
		assert_true(stateless);
		assert_true(sequence_of("saved") > before);
		help_remove(help_path("damaged"));
		assert_int_equal(rename(help_path("saved"), help_path("damaged")), 0);
	}
}

/* A branch that leads into a tree which is not saved: what it led to before is looked for. */
CASE(test_astray_in_another_tree)
{
	size_t gone;
	size_t strange;
	struct chi_page_file file;
	make_store(CHI_STATISTIC_CONTROL);
	read_image();
	ok(chi_page_file_open(&file, help_path("damaged"), CHI_PAGE_FILE_BOTH, &fault));
	chi_page_file_close(&file);
	uint8_t *root = page_at(root_of("position"));
	assert_true(chi_page_file_is_branch(root));
	uint16_t number = (uint16_t)file.free_root;
	uint8_t *node = root + chi_u16_at(root + PAGE_HEADER + 2 * (size_t)1);
	memcpy(node, &number, sizeof(number));
	write_image(image_len);
	ok(repair(0));
	difference(&gone, &strange);
	assert_int_equal(gone, 0);
	assert_int_equal(strange, 0);
	assert_int_equal(result.missing, 0);
	assert_true(result.found > 0);
	assert_true(result.pages > 0);
}

/* What is no record, and what is no chess, under checksums that hold. */
CASE(test_nonsense_is_not_saved)
{
	size_t gone;
	size_t strange;
	uint8_t value[64];
	size_t len;
	struct chi_position position;
	struct chi_move_stat never = {.counts = {.white = 1}};
	struct chi_record record = {.counts = {.white = 1}, .moves = &never, .n_moves = 1};
	make_store(CHI_STATISTIC_EXTERNAL);
	ok(chi_key_decode(&keys[1], &position, &fault));
	do {
		never.move++;
	} while (chi_movegen_is_legal(&position, never.move) ||
		 chi_record_encode(&record, NULL, value, sizeof(value), &len) != CHI_OK);
	raw_change("damaged", "position", keys[1].bytes, keys[1].len, value, len);
	memset(value, 0xff, sizeof(value));
	raw_change("damaged", "position", keys[2].bytes, keys[2].len, value, sizeof(value));
	ok(repair(0));
	difference(&gone, &strange);
	assert_int_equal(gone, 2);
	assert_int_equal(strange, 0);
	assert_int_equal(result.damaged, 2);
}

CASE(test_refused)
{
	make_store(CHI_STATISTIC_CONTROL);
	ok(repair(0));
	assert_int_equal(chi_dir_repair(help_path("damaged"), help_path("saved"), 0,
					chi_import_relist, NULL, NULL, &result, &fault),
			 -CHI_EEXIST);
	assert_int_equal(chi_dir_repair(help_path("nowhere"), help_path("other"), 0,
					chi_import_relist, NULL, NULL, &result, &fault),
			 -CHI_ENOSTORE);
	assert_int_equal(access(help_path("other"), F_OK), -1);
	struct chi_dir *store = help_open(help_path("damaged"), CHI_STORE_DAEMON);
	assert_int_equal(repair(0), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "process"));
	chi_dir_close(store);
}

int main(void)
{
	int failed = cases_run(NULL, NULL);
	help_clean();
	free(whole);
	free(file_image);
	return failed;
}
