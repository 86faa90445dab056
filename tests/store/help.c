/* SPDX-License-Identifier: MIT */
#include "tests/store/help.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/pages/guide.h"
#include "store/text/dump.h"

struct chi_fault fault;

static char scratch[256];
static pid_t owner; /* who made it: a forked child must not remove it */

/* CHISTORE_TEST_GUIDE: after how many look-ups a snapshot gets its guide (store/pages/guide.h); 0:
 * never. */
__attribute__((constructor)) static void set_guide(void)
{
	const char *after = getenv("CHISTORE_TEST_GUIDE");
	if (after != NULL) {
		chi_guide_after = (uint32_t)strtoul(after, NULL, 10);
	}
}

void help_ok(int rc, const char *call, const char *file, int line)
{
	if (rc != CHI_OK) {
		print_message("# %s: %d (%s): %s\n", call, rc, chi_strerror(rc), fault.text);
		_fail(file, line);
	}
}

void help_real_path(const char *path, char real[static 256])
{
	char *all = realpath(path, NULL);
	assert_non_null(all);
	assert_true(strlen(all) < 256);
	strcpy(real, all);
	free(all);
}

const char *help_path(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	if (scratch[0] == '\0') {
		const char *tmp = getenv("TMPDIR");
		snprintf(scratch, sizeof(scratch), "%s/chistore-test-XXXXXX",
			 tmp != NULL ? tmp : "/tmp");
		assert_non_null(mkdtemp(scratch));
		owner = getpid();
		atexit(help_clean);
	}
	char *path = paths[next++ % 8];
	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void help_remove(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *copy_from;
static const char *copy_to;

static int copy_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	char target[1024];
	(void)ftw;
	(void)snprintf(target, sizeof(target), "%s%s", copy_to, path + strlen(copy_from));
	if (kind == FTW_D) {
		return strcmp(path, copy_from) == 0 ? 0 : mkdir(target, st->st_mode & 07777);
	}
	int in = open(path, O_RDONLY | O_CLOEXEC);
	int out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 07777);
	ssize_t n = 0;
	if (in >= 0 && out >= 0) {
		do {
			n = sendfile(out, in, NULL, 1 << 30);
		} while (n > 0);
	}
	bool good = in >= 0 && out >= 0 && n == 0;
	if (in >= 0) {
		(void)close(in);
	}
	return (out < 0 || close(out) == 0) && good ? 0 : -1;
}

void help_copy_tree(const char *from, const char *to)
{
	copy_from = from;
	copy_to = to;
	assert_int_equal(nftw(from, copy_one, 16, FTW_PHYS), 0);
}

void help_clean(void)
{
	if (scratch[0] != '\0' && owner == getpid()) {
		help_remove(scratch);
		scratch[0] = '\0';
	}
}

int help_teardown(void **state)
{
	(void)state;
	help_clean();
	return 0;
}

int help_child_status(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

pid_t help_fork(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	return pid;
}

pid_t help_hold(void (*body)(void))
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = help_fork();
	if (pid == 0) {
		body();
		(void)!write(ready[1], "x", 1);
		for (;;) {
			pause();
		}
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

void help_kill(pid_t pid)
{
	int status;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

int help_key_compare(const struct chi_key *a, const struct chi_key *b)
{
	int order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);
	return order != 0 ? order : (int)a->len - (int)b->len;
}

uint64_t help_random(void)
{
	static uint64_t state;
	if (state == 0) {
		const char *text = getenv("CHISTORE_SEED");
		uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 20040917;
		fprintf(stderr, "# CHISTORE_SEED=%llu\n", (unsigned long long)seed);
		state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	}
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void help_position(struct chi_position *position)
{
	static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	ok(chi_fen_parse(start, strlen(start), position, &fault));
	unsigned plies = 2 + help_below(90);
	while (plies-- > 0) {
		struct chi_move_list list;
		struct chi_position next;
		chi_movegen_legal(position, &list);
		if (list.n == 0) {
			return;
		}
		chi_position_play(position, list.moves[help_below((unsigned)list.n)], &next);
		*position = next;
	}
}

struct chi_key help_key(void)
{
	struct chi_position position;
	struct chi_key key;
	help_position(&position);
	chi_key_encode(&position, &key);
	return key;
}

void help_keys(struct chi_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool fresh;
		do {
			keys[i] = help_key();
			fresh = true;
			for (size_t j = 0; j < i && fresh; j++) {
				fresh = help_key_compare(&keys[i], &keys[j]) != 0;
			}
		} while (!fresh);
	}
}

struct chi_key help_fen(const char *fen)
{
	struct chi_key key;
	ok(chi_key_from_fen(fen, strlen(fen), &key, &fault));
	return key;
}

struct chi_dir *help_open(const char *path, enum chi_dir_mode mode)
{
	struct chi_dir_options options = {.mode = mode};
	struct chi_dir *store = NULL;
	ok(chi_dir_open(path, &options, &store, &fault));
	return store;
}

int help_try(const char *path, enum chi_dir_mode mode)
{
	struct chi_dir_options options = {.mode = mode};
	struct chi_dir *store = NULL;
	fault.text[0] = '\0';
	int rc = chi_dir_open(path, &options, &store, &fault);
	if (rc == CHI_OK) {
		chi_dir_close(store);
	} else {
		assert_true(fault.text[0] != '\0');
	}
	return rc;
}

struct chi_dir *help_store(const char *name, enum chi_statistic statistic)
{
	const char *path = help_path(name);
	help_remove(path);
	bool needs_games = statistic == CHI_STATISTIC_PERFORMANCE;
	ok(chi_dir_create(path, statistic, needs_games ? CHI_KEEP_GAMES : CHI_KEEP_COUNTS, &fault));
	return help_open(path, CHI_STORE_WRITE);
}

void help_put(struct chi_dir *store, const struct chi_put_entry *put)
{
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_put_check(put, chi_dir_statistic(store), &fault));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_put(write, put, &result));
	ok(chi_write_commit(write, &fault));
	assert_int_equal(result.added + result.updated + result.unchanged, 1);
}

void help_fill(struct chi_dir *store, const struct chi_key *keys, size_t n)
{
	struct chi_write *write;
	struct chi_put_result result = {0};
	bool external = chi_dir_statistic(store) == CHI_STATISTIC_EXTERNAL;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_COUNTS};
		put.record.counts.white = 1 + help_below(3);
		put.record.counts.draws = help_below(200);
		if (external && help_below(4) > 0) {
			put.parts |= CHI_PUT_CHI2;
			put.record.chi2 = (uint16_t)(1 + help_below(CHI_CHI2_MAX));
		}
		ok(chi_put_check(&put, chi_dir_statistic(store), &fault));
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

int help_get(struct chi_dir *store, const struct chi_key *key, struct chi_row *row)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	int rc = chi_read_row(read, key, row);
	chi_read_end(read);
	return rc;
}

uint64_t help_count(struct chi_dir *store)
{
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	return info.positions;
}

static void print_report(void *context, const char *text)
{
	(void)context;
	assert_true(text[0] != '\0' && strchr(text, '\n') == NULL);
	print_message("# verify: %s\n", text);
}

/* All that a verification said, a line each. */
struct said {
	char *text;
	size_t len;
	size_t size;
};

static void keep_report(void *context, const char *text)
{
	struct said *said = context;
	size_t len = strlen(text) + 1;
	assert_int_equal(chi_grow(&said->text, &said->size, said->len + len, 1), 0);
	memcpy(said->text + said->len, text, len);
	said->len += len;
}

int help_verify_told(struct chi_dir *store, chi_verify_report *report, void *context,
		     struct chi_verify_result *result)
{
	struct said one = {0};
	struct said many = {0};
	struct chi_verify_result other;
	int rc = chi_dir_verify_until(store, 1, NULL, keep_report, &one, result);
	assert_int_equal(chi_dir_verify_until(store, 3, NULL, keep_report, &many, &other), rc);
	assert_memory_equal(&other, result, sizeof(other));
	assert_int_equal(many.len, one.len);
	if (one.len > 0) {
		assert_memory_equal(many.text, one.text, one.len);
	}
	for (size_t at = 0; report != NULL && at < one.len; at += strlen(one.text + at) + 1) {
		report(context, one.text + at);
	}
	free(one.text);
	free(many.text);
	return rc;
}

int help_verify(struct chi_dir *store, struct chi_verify_result *result)
{
	struct chi_verify_result ignored;
	return help_verify_told(store, print_report, NULL, result != NULL ? result : &ignored);
}

/* Adds text to one that grows. */
static void append(char **all, size_t *len, size_t *capacity, const char *text, size_t n)
{
	if (*capacity - *len <= n) {
		*capacity = 2 * (*capacity + n);
		*all = realloc(*all, *capacity);
		assert_non_null(*all);
	}
	memcpy(*all + *len, text, n);
	*len += n;
	(*all)[*len] = '\0';
}

char *help_dump(struct chi_dir *store, size_t *len)
{
	struct chi_arena arena;
	struct chi_read *read;
	struct chi_scan *scan;
	struct chi_info info;
	char *all = NULL;
	char *text;
	size_t n;
	size_t capacity = 0;
	*len = 0;
	chi_arena_init(&arena, 16 << 20);
	ok(chi_dir_info(store, &info));
	struct chi_dump_head head = {.statistic = (enum chi_statistic)info.statistic,
				     .base = info.base};
	ok(chi_dump_print_head(&head, &arena, &text, &n));
	append(&all, len, &capacity, text, n);
	struct chi_scan_spec spec = {
		.chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION, .want = CHI_WANT_RECORDS};
	ok(chi_read_begin(store, &read));
	ok(chi_read_scan(read, &spec, &scan, &fault));
	int rc = CHI_OK;
	while (rc == CHI_OK) {
		struct chi_row row;
		struct chi_record record;
		bool got;
		chi_arena_reset(&arena);
		rc = chi_scan_record(scan, UINT64_MAX, &arena, &row, &record, &got);
		assert_true(rc >= 0);
		if (got) {
			ok(chi_dump_print(&row.key, &record, &arena, &text, &n));
			append(&all, len, &capacity, text, n);
		}
	}
	chi_scan_free(scan);
	chi_read_end(read);
	static struct chi_game_id games[1000];
	uint8_t after[CHI_GAME_ID_SIZE];
	uint64_t total = 0;
	size_t n_games = CHI_COUNT(games);
	ok(chi_read_begin(store, &read));
	while (n_games == CHI_COUNT(games)) {
		ok(chi_read_game_ids(read, total > 0 ? after : NULL, games, CHI_COUNT(games),
				     &n_games));
		for (size_t i = 0; i < n_games; i++) {
			chi_arena_reset(&arena);
			games[i].number = 0;
			ok(chi_dump_print_game(&games[i], &arena, &text, &n));
			append(&all, len, &capacity, text, n);
			memcpy(after, games[i].id, sizeof(after));
		}
		total += n_games;
	}
	chi_read_end(read);
	const struct chi_dump_tail tail = {.positions = info.positions, .games = total};
	ok(chi_dump_print_tail(&tail, false, &arena, &text, &n));
	append(&all, len, &capacity, text, n);
	chi_arena_deinit(&arena);
	return all;
}

int help_publish_kind(struct chi_dir *store, const char *path, enum chi_backup_kind kind)
{
	struct chi_copy *copy;
	int fd;
	int rc = chi_copy_begin(path, kind, &copy, &fd, &fault);
	if (rc < 0) {
		return rc;
	}
	ok(chi_dir_copy(store, fd, &fault));
	return chi_copy_finish(copy, &fault);
}

int help_publish(struct chi_dir *store, const char *path)
{
	return help_publish_kind(store, path, CHI_BACKUP_PUBLISHED);
}

unsigned help_entries(const char *path, const char *part)
{
	unsigned n = 0;
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		     strstr(e->d_name, part) != NULL;
	}
	closedir(dir);
	return n;
}

int help_rescore(struct chi_dir *store, const struct chi_counts *base, uint64_t *changed,
		 struct chi_fault *why)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, why));
	*changed = 0;
	int rc = chi_write_rescore(write, base, changed, why);
	if (rc < 0) {
		chi_write_abort(write);
		return rc;
	}
	return chi_write_commit(write, why);
}
