/* SPDX-License-Identifier: MIT */
/* Chained trees: they agree with an array, and no bit of their pages hides an entry. */
#include "tests/base/seed.h"
#include "tests/store/help.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/pages/pages.h"

#define CHAIN CHI_CHAIN_NAMES
#define PAGE  4096
#define MAP   ((size_t)1 << 26)
#define KEY   8

struct tree {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
};

static void open_tree(struct tree *tree, unsigned flags)
{
	flags |= MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC;
	assert_int_equal(mdb_env_create(&tree->env), 0);
	assert_int_equal(mdb_env_set_mapsize(tree->env, MAP), 0);
	assert_int_equal(mdb_env_open(tree->env, help_path("chain"), flags, 0600), 0);
	assert_int_equal(mdb_txn_begin(tree->env, NULL, flags & MDB_RDONLY, &tree->txn), 0);
	assert_int_equal(mdb_dbi_open(tree->txn, NULL, 0, &tree->dbi), 0);
}

static void make_tree(struct tree *tree)
{
	(void)unlink(help_path("chain"));
	open_tree(tree, 0);
	assert_int_equal(chi_chain_make(tree->txn, tree->dbi, CHAIN), 0);
}

static void close_tree(struct tree *tree)
{
	mdb_txn_abort(tree->txn);
	mdb_env_close(tree->env);
}

/* Keys ascend with their numbers; the value is the key's, but of every third there is none. */
static MDB_val key_of(uint32_t number, uint8_t out[KEY])
{
	memcpy(out, "key.", 4);
	for (size_t i = 0; i < 4; i++) {
		out[4 + i] = (uint8_t)(number >> (24 - 8 * i));
	}
	return chi_val(out, KEY);
}

static MDB_val value_of(uint32_t number, uint8_t out[KEY])
{
	MDB_val value = key_of(~number, out);
	value.mv_size = number % 3 == 0 ? 0 : KEY;
	return value;
}

/* False: key or value are none of ours, which a checksum would have told. */
static bool number_of(const MDB_val *key, const MDB_val *value, uint32_t *out)
{
	const uint8_t *bytes = key->mv_data;
	uint8_t own[KEY];
	uint8_t wanted[KEY];
	if (key->mv_size != KEY || memcmp(bytes, "key.", 4) != 0) {
		return false;
	}
	*out = (uint32_t)bytes[4] << 24 | (uint32_t)bytes[5] << 16 | (uint32_t)bytes[6] << 8 |
	       bytes[7];
	const MDB_val should = value_of(*out, own);
	(void)key_of(*out, wanted);
	return value->mv_size == should.mv_size &&
	       memcmp(value->mv_data, should.mv_data, should.mv_size) == 0;
}

/* ---- Against an array --------------------------------------------------------------------- */

#define ROOM 3000

struct model {
	uint32_t n;
	bool there[ROOM];
};

/* The next one in a direction, from a number on; -1 if there is none. */
static int32_t beside(const struct model *model, int32_t from, int32_t step)
{
	int32_t at = from;
	while (at >= 0 && at < ROOM && !model->there[at]) {
		at += step;
	}
	return at >= 0 && at < ROOM ? at : -1;
}

/* What a step found is what the model has; negative: an error, that damage excuses. */
static int agrees(int rc, const MDB_val *key, const MDB_val *value, int32_t wanted)
{
	uint32_t number;
	if (rc != 0 && rc != MDB_NOTFOUND) {
		return -1;
	}
	if (rc == MDB_NOTFOUND) {
		return wanted < 0;
	}
	return number_of(key, value, &number) ? wanted >= 0 && number == (uint32_t)wanted : -1;
}

static int check_walk(struct tree *tree, const struct model *model, bool backwards)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	int32_t at = backwards ? ROOM - 1 : 0;
	MDB_cursor_op op = backwards ? MDB_LAST : MDB_FIRST;
	int good = 1;
	if (mdb_cursor_open(tree->txn, tree->dbi, &cursor) != 0) {
		return -1;
	}
	while (good == 1) {
		at = beside(model, at, backwards ? -1 : 1);
		good = agrees(chi_chain_step(cursor, CHAIN, &key, &value, op), &key, &value, at);
		if (at < 0) {
			break;
		}
		at += backwards ? -1 : 1;
		op = backwards ? MDB_PREV : MDB_NEXT;
	}
	mdb_cursor_close(cursor);
	return good;
}

/* A key, the one at it or after it, and the one before. */
static int check_look_up(struct tree *tree, const struct model *model, uint32_t number)
{
	MDB_cursor *cursor;
	MDB_val value;
	uint8_t bytes[KEY];
	const MDB_val wanted = key_of(number, bytes);
	int rc = chi_chain_get(tree->txn, tree->dbi, CHAIN, &wanted, &value);
	int good = agrees(rc, &wanted, &value, model->there[number] ? (int32_t)number : -1);
	if (good == 0 || mdb_cursor_open(tree->txn, tree->dbi, &cursor) != 0) {
		return good == 0 ? 0 : -1;
	}
	MDB_val key = wanted;
	rc = chi_chain_step(cursor, CHAIN, &key, &value, MDB_SET_RANGE);
	good = agrees(rc, &key, &value, beside(model, (int32_t)number, 1));
	if (good == 1) {
		rc = chi_chain_step(cursor, CHAIN, &key, &value, rc == 0 ? MDB_PREV : MDB_LAST);
		good = agrees(rc, &key, &value, beside(model, (int32_t)number - 1, -1));
	}
	mdb_cursor_close(cursor);
	return good;
}

static void change(struct tree *tree, struct model *model, uint32_t number)
{
	uint8_t bytes[KEY];
	uint8_t own[KEY];
	const MDB_val key = key_of(number, bytes);
	const MDB_val value = value_of(number, own);
	bool there = model->there[number];
	if (help_below(3) > 0) {
		assert_int_equal(chi_chain_put(tree->txn, tree->dbi, CHAIN, &key, &value, 0), 0);
		model->there[number] = true;
		model->n += !there;
		assert_int_equal(
			chi_chain_put(tree->txn, tree->dbi, CHAIN, &key, &value, MDB_NOOVERWRITE),
			MDB_KEYEXIST);
	} else {
		assert_int_equal(chi_chain_del(tree->txn, tree->dbi, CHAIN, &key),
				 there ? 0 : MDB_NOTFOUND);
		model->there[number] = false;
		model->n -= there;
	}
}

CASE(test_agrees_with_an_array, NULL, help_teardown)
{
	static struct model model;
	struct tree tree;
	MDB_stat stat;
	make_tree(&tree);
	assert_int_equal(check_walk(&tree, &model, false), 1);
	assert_int_equal(check_walk(&tree, &model, true), 1);
	for (size_t round = 0; round < seed_rounds(30); round++) {
		for (size_t i = 0; i < 500; i++) {
			change(&tree, &model, help_below(ROOM));
			assert_int_equal(check_look_up(&tree, &model, help_below(ROOM)), 1);
		}
		assert_int_equal(check_walk(&tree, &model, false), 1);
		assert_int_equal(check_walk(&tree, &model, true), 1);
		assert_int_equal(mdb_txn_commit(tree.txn), 0);
		assert_int_equal(mdb_txn_begin(tree.env, NULL, 0, &tree.txn), 0);
	}
	assert_int_equal(mdb_stat(tree.txn, tree.dbi, &stat), 0);
	assert_int_equal(stat.ms_entries, model.n + 1);
	assert_int_equal(chi_chain_drop(tree.txn, tree.dbi, CHAIN), 0);
	assert_int_equal(check_walk(&tree, &(struct model){0}, false), 1);
	close_tree(&tree);
}

/* What is appended and what is put give the same tree. */
CASE(test_appends, NULL, help_teardown)
{
	static struct model model;
	struct tree tree;
	struct chi_chain_at at = {.chain = CHAIN};
	struct chi_chain_at read = {.chain = CHAIN};
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	make_tree(&tree);
	assert_int_equal(chi_chain_begin(tree.txn, tree.dbi, &at), 0);
	for (uint32_t i = 0; i < ROOM; i += 1 + help_below(5)) {
		uint8_t bytes[KEY];
		uint8_t own[KEY + CHI_CHAIN_LINK];
		key = key_of(i, bytes);
		value = value_of(i, own + CHI_CHAIN_LINK);
		assert_int_equal(mdb_put(tree.txn, tree.dbi, &key,
					 chi_chain_sign(&at, &key, &value), MDB_APPEND),
				 0);
		model.there[i] = true;
	}
	/* Not before it is said that this is all. */
	assert_int_equal(check_walk(&tree, &model, false), -1);
	/* The error says so, once. */
	const char *why = chi_dir_error(-CHI_ECORRUPT);
	assert_non_null(strstr(why, "the names tree is damaged: entries between key 6b65792e"));
	assert_non_null(strstr(why, "its end"));
	assert_string_equal(chi_dir_error(-CHI_ECORRUPT), chi_strerror(-CHI_ECORRUPT));
	/* And not of what fails later. */
	assert_int_equal(check_walk(&tree, &model, false), -1);
	chi_dir_forget_damage();
	assert_string_equal(chi_dir_error(-CHI_ECORRUPT), chi_strerror(-CHI_ECORRUPT));
	assert_int_equal(chi_chain_end(tree.txn, tree.dbi, &at), 0);
	assert_int_equal(check_walk(&tree, &model, false), 1);
	assert_int_equal(mdb_cursor_open(tree.txn, tree.dbi, &cursor), 0);
	while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
		assert_false(chi_chain_over(&read));
		assert_true(chi_chain_follow(&read, &key, &value));
	}
	assert_true(chi_chain_over(&read));
	mdb_cursor_close(cursor);
	close_tree(&tree);
}

/* ---- Changes that fail -------------------------------------------------------------------- */

/* LMDB's refusal came after the next entry had its link already. */
CASE(test_a_long_key_broke_the_chain, NULL, help_teardown)
{
	static struct model model;
	static const uint8_t bytes[512] = "key";
	struct tree tree;
	const MDB_val key = chi_val(bytes, sizeof(bytes));
	const MDB_val value = chi_val(bytes, 1);
	make_tree(&tree);
	for (uint32_t i = 0; i < 40; i++) {
		change(&tree, &model, i);
	}
	assert_int_equal(chi_chain_put(tree.txn, tree.dbi, CHAIN, &key, &value, 0),
			 MDB_BAD_VALSIZE);
	assert_int_equal(check_walk(&tree, &model, false), 1);
	close_tree(&tree);
}

/* Entries in the middle, long ones too, until LMDB has no room: what was changed by half cannot be
 * committed, and what was there before is whole. */
CASE(test_a_full_map_in_the_middle_of_a_change, NULL, help_teardown)
{
	static struct model model;
	static const uint8_t long_value[3000] = "long";
	struct tree tree;
	int rc = 0;
	make_tree(&tree);
	for (uint32_t i = 0; i < ROOM; i += 2) {
		change(&tree, &model, i);
	}
	assert_int_equal(mdb_txn_commit(tree.txn), 0);
	for (uint32_t pages = 1; pages <= 24; pages++) {
		MDB_envinfo info;
		assert_int_equal(mdb_env_info(tree.env, &info), 0);
		assert_int_equal(
			mdb_env_set_mapsize(tree.env, (info.me_last_pgno + 1 + pages) * PAGE), 0);
		assert_int_equal(mdb_txn_begin(tree.env, NULL, 0, &tree.txn), 0);
		rc = 0;
		for (uint32_t i = ROOM; rc == 0 && i-- > 0;) {
			uint8_t bytes[KEY];
			const MDB_val key = key_of(i, bytes);
			const MDB_val value = chi_val(long_value, i % 7 * 500);
			rc = model.there[i]
				     ? chi_chain_del(tree.txn, tree.dbi, CHAIN, &key)
				     : chi_chain_put(tree.txn, tree.dbi, CHAIN, &key, &value, 0);
		}
		assert_int_equal(rc, MDB_MAP_FULL);
		assert_int_not_equal(mdb_txn_commit(tree.txn), 0);
		assert_int_equal(mdb_txn_begin(tree.env, NULL, 0, &tree.txn), 0);
		assert_int_equal(check_walk(&tree, &model, false), 1);
		assert_int_equal(check_walk(&tree, &model, true), 1);
		mdb_txn_abort(tree.txn);
	}
	mdb_env_close(tree.env);
}

/* ---- Damage ------------------------------------------------------------------------------- */

#define KEYS 600 /* some leaf pages and a branch */

/* All of a damaged tree that there is to ask; false: an answer is wrong. */
static bool ask_all(struct tree *tree, const struct model *model, uint32_t step)
{
	bool good = check_walk(tree, model, false) != 0 && check_walk(tree, model, true) != 0;
	for (uint32_t i = help_below(step); good && i < KEYS; i += step) {
		good = check_look_up(tree, model, i) != 0;
	}
	return good;
}

static void flip(int fd, uint64_t bit)
{
	uint8_t byte;
	assert_int_equal(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
	byte ^= (uint8_t)(1 << bit % 8);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

/* In a child, as LMDB may be stopped by what it reads: the first bit with a wrong answer is told by
 * the status, the one that was tried last by the file. */
static void try_bits(uint64_t from, uint64_t end, uint64_t step, const struct model *model,
		     int told)
{
	struct tree tree;
	int fd = open(help_path("chain"), O_RDWR | O_CLOEXEC);
	static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	for (size_t i = 0; i < CHI_COUNT(signals); i++) {
		(void)signal(signals[i], SIG_DFL); /* cmocka's would end the test */
	}
	(void)alarm(60);
	open_tree(&tree, MDB_RDONLY);
	for (uint64_t bit = from; bit < end; bit += step) {
		if (pwrite(told, &bit, sizeof(bit), 0) != sizeof(bit)) {
			_exit(2);
		}
		flip(fd, bit);
		bool good = ask_all(&tree, model, KEYS / 8);
		flip(fd, bit);
		mdb_txn_reset(tree.txn);
		if (!good || mdb_txn_renew(tree.txn) != 0) {
			_exit(1);
		}
	}
	_exit(0);
}

CASE(test_no_bit_hides_an_entry, NULL, help_teardown)
{
	static struct model model;
	struct tree tree;
	MDB_stat stat;
	unsigned stopped = 0;
	make_tree(&tree);
	for (uint32_t i = 1; i < KEYS; i += 2) {
		uint8_t bytes[KEY];
		uint8_t own[KEY];
		const MDB_val key = key_of(i, bytes);
		const MDB_val value = value_of(i, own);
		assert_int_equal(chi_chain_put(tree.txn, tree.dbi, CHAIN, &key, &value, 0), 0);
		model.there[i] = true;
	}
	assert_int_equal(mdb_stat(tree.txn, tree.dbi, &stat), 0);
	assert_true(stat.ms_branch_pages == 1 && stat.ms_leaf_pages >= 2);
	assert_int_equal(mdb_txn_commit(tree.txn), 0);
	mdb_env_close(tree.env);
	/* A place past the file's end reads as zeros. */
	assert_int_equal(truncate(help_path("chain"), MAP), 0);
	int told = open(help_path("told"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t step = seed_rounds(10) > 10 ? 1 : 5; /* all of them, or some of each byte */
	uint64_t end = UINT64_C(8) * PAGE * (2 + stat.ms_branch_pages + stat.ms_leaf_pages);
	for (uint64_t from = UINT64_C(8) * PAGE * 2; from < end;) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			try_bits(from, end, step, &model, told);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(pread(told, &from, sizeof(from), 0), sizeof(from));
		if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
			print_message("# bit %u of byte %u of page %u\n", (unsigned)(from % 8),
				      (unsigned)(from / 8 % PAGE), (unsigned)(from / 8 / PAGE));
		}
		assert_true(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
		if (!WIFEXITED(status)) {
			int fd = open(help_path("chain"), O_RDWR | O_CLOEXEC);
			flip(fd, from);
			(void)close(fd);
			stopped++;
		}
		from += step;
	}
	print_message("# figures: %u bits, LMDB stopped the process for %u of them\n",
		      (unsigned)((end - UINT64_C(8) * PAGE * 2) / step), stopped);
	(void)close(told);
}
