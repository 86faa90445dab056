/* SPDX-License-Identifier: MIT */
#include "tests/store/trees.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/block/block.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/record/codec.h"
#include "store/txn/txn.h"

void trees_runs(struct chi_key *out, size_t n, unsigned run)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < n; i++) {
		if (mask == 0 || help_below(run) == 0) {
			mask = (help_random() & help_random()) | 3;
			while (__builtin_popcountll(mask) > 32) {
				mask &= mask - 1;
			}
		}
		size_t pieces = (size_t)__builtin_popcountll(mask);
		out[i] = (struct chi_key){.len = (uint8_t)(8 + (pieces + 1) / 2)};
		for (size_t j = 0; j < 8; j++) {
			out[i].bytes[j] = (uint8_t)(mask >> (56 - 8 * j));
		}
		for (size_t j = 8; j < out[i].len; j++) {
			out[i].bytes[j] = (uint8_t)help_random();
		}
		out[i].bytes[out[i].len - 1] &= pieces % 2 == 0 ? 0xff : 0xf0;
	}
}

void trees_keys(struct chi_key *out, size_t n)
{
	trees_runs(out, n, 3);
}

void trees_fill(struct chi_dir *store, const struct chi_key *list, size_t n, bool notes)
{
	static char note[CHI_NOTE_MAX];
	struct chi_write *write;
	struct chi_put_result result = {0};
	memset(note, 'x', sizeof(note));
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n; i++) {
		struct chi_put_entry put = {.key = list[i], .parts = CHI_PUT_COUNTS};
		put.record.counts.white = 1 + help_below(1000);
		if (help_below(3) > 0) {
			/* Many share theirs, as they do in a store of many positions. */
			put.parts |= CHI_PUT_CHI2;
			put.record.chi2 =
				(uint16_t)(1 + help_below(help_below(2) ? 500 : CHI_CHI2_MAX));
		}
		if (notes) {
			put.parts |= CHI_PUT_NOTE;
			put.record.note = note;
			put.record.n_note = 1 + help_below(i % 2 == 0 ? 3000 : CHI_NOTE_MAX);
		}
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

void trees_delete(struct chi_dir *store, const struct chi_key *list, size_t n)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < n; i++) {
		assert_in_range(chi_write_delete(write, &list[i]), CHI_OK, CHI_NONE);
	}
	ok(chi_write_commit(write, &fault));
}

static int by_key(const void *a, const void *b)
{
	return help_key_compare(&((const struct chi_row *)a)->key,
				&((const struct chi_row *)b)->key);
}

static int by_strength(const void *a, const void *b)
{
	const struct chi_row *x = a;
	const struct chi_row *y = b;
	return x->chi2 != y->chi2 ? (x->chi2 > y->chi2) - (x->chi2 < y->chi2) : by_key(a, b);
}

static bool black_moves(const struct chi_key *key, unsigned pieces)
{
	for (unsigned i = 0; i < pieces; i++) {
		if ((key->bytes[8 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15) == 0) {
			return true;
		}
	}
	return false;
}

static bool fits(const struct chi_scan_spec *spec, const struct chi_row *row)
{
	const struct chi_filter *filter = &spec->filter;
	unsigned pieces = 0;
	for (unsigned i = 0; i < 8; i++) {
		pieces += (unsigned)__builtin_popcount(row->key.bytes[i]);
	}
	bool black = black_moves(&row->key, pieces);
	if (spec->after.set) {
		struct chi_row at = {.key = spec->after.key, .chi2 = spec->after.chi2};
		int order = spec->order == CHI_ORDER_POSITION ? by_key(row, &at)
							      : by_strength(row, &at);
		if (spec->descending ? order >= 0 : order <= 0) {
			return false;
		}
	}
	return row->chi2 >= spec->chi2_min && row->chi2 <= spec->chi2_max &&
	       pieces >= filter->pieces_min &&
	       (filter->pieces_max == 0 || pieces <= filter->pieces_max) &&
	       filter->side != (black ? CHI_SIDE_WHITE : CHI_SIDE_BLACK) &&
	       row->counts.white + row->counts.draws + row->counts.black >= filter->games_min;
}

static size_t rows_of(const struct chi_block *block, struct chi_row *out)
{
	struct chi_block_entry entries[CHI_GROUP_MOST];
	size_t all = 0;
	uint32_t n;
	for (uint32_t i = 0; i < block->groups; i++) {
		ok(chi_group_read(block, i, entries, &n));
		for (uint32_t j = 0; j < n; j++) {
			struct chi_row *row = &out[all++];
			*row = (struct chi_row){.found = true, .key.len = entries[j].key_len};
			memcpy(row->key.bytes, chi_entry_key(&entries[j], CHI_TREE_POSITION),
			       row->key.len);
			ok(chi_record_peek(entries[j].value, entries[j].len, &row->chi2,
					   &row->counts));
		}
	}
	return all;
}

int trees_get(struct chi_read *read, const struct chi_key *key, MDB_val *value)
{
	MDB_cursor *cursor;
	MDB_val low = chi_val(key->bytes, key->len);
	MDB_val bytes;
	struct chi_block block;
	const uint8_t *found = NULL;
	size_t len = 0;
	assert_int_equal(mdb_cursor_open(read->txn, read->env->position, &cursor), 0);
	int rc = mdb_cursor_get(cursor, &low, &bytes, MDB_SET_RANGE);
	if (rc != 0) {
		rc = mdb_cursor_get(cursor, &low, &bytes, MDB_LAST);
	} else if (chi_position_compare(low.mv_data, low.mv_size, key->bytes, key->len) > 0) {
		rc = mdb_cursor_get(cursor, &low, &bytes, MDB_PREV);
	}
	mdb_cursor_close(cursor);
	rc = rc != 0 ? CHI_NONE
		     : chi_block_open(CHI_TREE_POSITION, low.mv_data, low.mv_size, bytes.mv_data,
				      bytes.mv_size, &block);
	rc = rc == CHI_OK ? chi_block_find(&block, key->bytes, key->len, &found, &len) : rc;
	*value = chi_val(found, len);
	return rc;
}

size_t trees_expect(struct chi_read *read, const struct chi_scan_spec *spec, struct chi_row *out)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	size_t n = 0;
	size_t kept = 0;
	assert_int_equal(mdb_cursor_open(read->txn, read->env->position, &cursor), 0);
	while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
		struct chi_block block;
		ok(chi_block_open(CHI_TREE_POSITION, key.mv_data, key.mv_size, value.mv_data,
				  value.mv_size, &block));
		n += rows_of(&block, out + n);
	}
	mdb_cursor_close(cursor);
	qsort(out, n, sizeof(*out), spec->order == CHI_ORDER_POSITION ? by_key : by_strength);
	for (size_t i = 0; spec->descending && i < n / 2; i++) {
		struct chi_row row = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = row;
	}
	for (size_t i = 0; i < n && (spec->limit == 0 || kept < spec->limit); i++) {
		if (fits(spec, &out[i])) {
			out[kept] = out[i];
			if (spec->want == CHI_WANT_KEYS) {
				out[kept].counts = (struct chi_counts){0};
			}
			kept++;
		}
	}
	return kept;
}

size_t trees_damage(int fd, const uint8_t *good, off_t bytes, off_t *at)
{
	uint8_t junk[512] = {0};
	size_t len = 1 + help_below(4);
	*at = (off_t)(help_random() % (uint64_t)(bytes - 4096));
	if (help_below(2) == 0) {
		*at = (*at & ~(off_t)4095) + (off_t)help_below(300);
	}
	if (help_below(8) == 0) {
		*at &= ~(off_t)511;
		len = sizeof(junk);
	}
	bool zero = help_below(4) == 0;
	for (size_t i = 0; i < len && !zero; i++) {
		uint8_t flip = (uint8_t)help_random();
		junk[i] = len < 3 ? good[*at + (off_t)i] ^ (uint8_t)(1u << flip % 8) : flip;
	}
	return pwrite(fd, junk, len, *at) == (ssize_t)len ? len : 0;
}

off_t trees_page(const struct chi_read *read)
{
	static const char name[] = POSITION_TREE;
	const struct chi_pages *pages = &read->env->pages;
	MDB_val key = chi_val(name, sizeof(name) - 1);
	MDB_val value;
	assert_int_equal(mdb_get(read->txn, pages->main, &key, &value), 0);
	off_t at = (const uint8_t *)value.mv_data - pages->base;
	return at - at % pages->size;
}

void trees_in_child(int (*run)(unsigned rounds), unsigned rounds)
{
	pid_t pid = fork();
	if (pid == 0) {
		static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
		for (size_t i = 0; i < CHI_COUNT(deadly); i++) {
			signal(deadly[i], SIG_DFL);
		}
		_exit(run(rounds));
	}
	assert_int_equal(help_child_status(pid), 0);
}
