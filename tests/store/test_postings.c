/* SPDX-License-Identifier: MIT */
/* Lists of games, short and long: what goes in comes out, what is damaged is refused, and the tree
 * agrees with an array through random additions and removals. */
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/seed.h"
#include "tests/store/help.h"
#include "base/attr.h"
#include "store/chain/chain.h"
#include "store/postings/postings.h"
#include "store/record/list.h"

#define MOST 6000

static struct chi_key key;
static const chi_move played[] = {0, 0x031c, 0x02db, 0x0d24, 0x0195, 0x0146};

static struct chi_posting entry_of(uint32_t game, uint64_t random)
{
	return (struct chi_posting){.game = game, .move = played[random % CHI_COUNT(played)]};
}

/* Ascending entries from game `from` on, some games with two. */
static size_t make_entries(struct seed *seed, uint32_t from, struct chi_posting *out, size_t n)
{
	uint32_t game = from;
	for (size_t i = 0; i < n; i++) {
		out[i] = entry_of(game, seed_next(seed));
		if (i > 0 && out[i - 1].game == game && out[i].move <= out[i - 1].move) {
			out[i].game = ++game;
		}
		game += seed_next(seed) % 5 == 0 ? 0 : 1 + (uint32_t)(seed_next(seed) % 40);
	}
	return n;
}

CASE(test_chunks_come_back)
{
	struct seed seed = seed_start("chunks");
	static struct chi_posting in[MOST];
	static struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES];
	uint8_t chunk[CHI_POSTINGS_CHUNK_KEY_MAX];
	uint8_t bytes[CHI_POSTINGS_CHUNK_MAX];
	for (size_t round = 0; round < 200; round++) {
		size_t n =
			make_entries(&seed, 1 + (uint32_t)round, in, 1 + seed_next(&seed) % MOST);
		MDB_val at = {.mv_data = chunk};
		MDB_val value = {.mv_data = bytes};
		size_t some = chi_postings_chunk_encode(key.bytes, key.len, in, n, chunk,
							&at.mv_size, bytes, &value.mv_size);
		size_t key_len;
		size_t found;
		assert_true(some >= 1 && some <= n);
		assert_true(some == n || in[some].game != in[some - 1].game);
		assert_int_equal(chi_postings_chunk_decode(&at, &value, &key_len, out, &found), 0);
		assert_int_equal(found, some);
		assert_int_equal(key_len, key.len);
		for (size_t i = 0; i < some; i++) {
			assert_int_equal(out[i].game, in[i].game);
			assert_int_equal(out[i].move, in[i].move);
		}
		bytes[seed_next(&seed) % value.mv_size] ^= (uint8_t)(1 << seed_next(&seed) % 8);
		assert_int_equal(chi_postings_chunk_decode(&at, &value, &key_len, out, &found),
				 MDB_CORRUPTED);
	}
}

struct tree {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
};

static void open_tree(struct tree *tree)
{
	help_path("postings");
	assert_int_equal(mdb_env_create(&tree->env), 0);
	assert_int_equal(mdb_env_set_mapsize(tree->env, (size_t)1 << 28), 0);
	assert_int_equal(mdb_env_open(tree->env, help_path("postings"),
				      MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600),
			 0);
	assert_int_equal(mdb_txn_begin(tree->env, NULL, 0, &tree->txn), 0);
	assert_int_equal(mdb_dbi_open(tree->txn, NULL, 0, &tree->dbi), 0);
	assert_int_equal(chi_chain_make(tree->txn, tree->dbi, CHI_CHAIN_POSTINGS), 0);
}

static void close_tree(struct tree *tree)
{
	mdb_txn_abort(tree->txn);
	mdb_env_close(tree->env);
}

/* The tree has exactly these entries, from any game on. */
static void check_tree(const struct tree *tree, const struct chi_posting *all, size_t n,
		       uint32_t from)
{
	static struct chi_posting some[CHI_POSTINGS_CHUNK_ENTRIES];
	struct chi_postings_walk walk;
	size_t found;
	size_t i = 0;
	while (i < n && all[i].game < from) {
		i++;
	}
	assert_int_equal(chi_postings_open(&walk, tree->txn, tree->dbi, CHI_CHAIN_POSTINGS,
					   key.bytes, key.len),
			 0);
	int rc = chi_postings_seek(&walk, from, some, &found);
	for (; rc == 0; rc = chi_postings_next(&walk, some, &found)) {
		for (size_t j = 0; j < found; j++) {
			if (some[j].game < from) {
				continue;
			}
			assert_true(i < n);
			assert_int_equal(some[j].game, all[i].game);
			assert_int_equal(some[j].move, all[i++].move);
		}
	}
	assert_int_equal(rc, MDB_NOTFOUND);
	assert_int_equal(i, n);
	chi_postings_close(&walk);
}

/* Lists of neighbours, which nothing may touch. */
static void put_neighbours(const struct tree *tree)
{
	const struct chi_posting one[] = {{7, 0}, {9, 0}};
	struct chi_key before = key;
	struct chi_key after = key;
	before.bytes[9]--;
	after.bytes[9]++;
	assert_int_equal(chi_postings_append(tree->txn, tree->dbi, CHI_CHAIN_POSTINGS, before.bytes,
					     before.len, one, 2),
			 0);
	assert_int_equal(chi_postings_append(tree->txn, tree->dbi, CHI_CHAIN_POSTINGS, after.bytes,
					     after.len, one, 2),
			 0);
}

CASE(test_the_tree_agrees_with_an_array, NULL, help_teardown)
{
	struct seed seed = seed_start("tree");
	static struct chi_posting all[MOST];
	static struct chi_posting less[MOST];
	struct tree tree;
	size_t n = 0;
	open_tree(&tree);
	put_neighbours(&tree);
	for (size_t round = 0; round < 300; round++) {
		size_t some = 1 + seed_next(&seed) % 200;
		if (n + some < MOST && seed_next(&seed) % 3 != 0) {
			uint32_t from = n > 0 ? all[n - 1].game + 1 : 1;
			make_entries(&seed, from, all + n, some);
			assert_int_equal(chi_postings_append(tree.txn, tree.dbi, CHI_CHAIN_POSTINGS,
							     key.bytes, key.len, all + n, some),
					 0);
			n += some;
		} else {
			size_t kept = 0;
			size_t out = 0;
			for (size_t i = 0; i < n; i++) {
				if (seed_next(&seed) % 4 == 0) {
					less[out++] = all[i];
				} else {
					all[kept++] = all[i];
				}
			}
			n = kept;
			assert_int_equal(chi_postings_remove(tree.txn, tree.dbi, CHI_CHAIN_POSTINGS,
							     key.bytes, key.len, less, out),
					 0);
		}
		check_tree(&tree, all, n, 0);
		check_tree(&tree, all, n, (uint32_t)(seed_next(&seed) % 20000));
	}
	const struct chi_posting missing = {all[n - 1].game + 1, 0};
	assert_int_equal(chi_postings_remove(tree.txn, tree.dbi, CHI_CHAIN_POSTINGS, key.bytes,
					     key.len, &missing, 1),
			 MDB_NOTFOUND);
	assert_int_equal(chi_postings_append(tree.txn, tree.dbi, CHI_CHAIN_POSTINGS, key.bytes,
					     key.len, all, 1),
			 MDB_KEYEXIST);
	assert_int_equal(chi_postings_drop(tree.txn, tree.dbi, key.bytes, key.len), 0);
	check_tree(&tree, all, 0, 0);
	MDB_stat stat;
	assert_int_equal(mdb_stat(tree.txn, tree.dbi, &stat), 0);
	assert_int_equal(stat.ms_entries, 3); /* with the head */
	close_tree(&tree);
}

int main(void)
{
	key = help_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
	return cases_run(NULL, NULL);
}
