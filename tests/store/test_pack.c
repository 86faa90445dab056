/* SPDX-License-Identifier: MIT */
/* A position of one game has two ways into a block: they must give the same bytes. */
#include "tests/store/help.h"

#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/load/load.h"

static const enum chi_statistic kinds[] = {CHI_STATISTIC_EXTERNAL, CHI_STATISTIC_CONTROL,
					   CHI_STATISTIC_OUTCOME};

static void pack_both(const struct chi_load_spec *spec, const struct chi_key *key,
		      enum chi_result result, uint16_t ply, chi_move move)
{
	_cleanup_(chi_load_block_free) struct chi_load_block full = {0};
	_cleanup_(chi_load_block_free) struct chi_load_block one = {0};
	struct chi_record record = {0};
	uint64_t *of[] = {&record.counts.white, &record.counts.draws, &record.counts.black,
			  &record.counts.other};
	*of[result] = 1;
	struct chi_move_stat played = {.move = move, .counts = record.counts};
	struct chi_ply_stat reached = {ply, 1};
	record.moves = &played;
	record.n_moves = move != 0;
	record.plies = &reached;
	record.n_plies = 1;
	/* Twice: after something else, too. */
	for (size_t n = 1; n <= 2; n++) {
		ok(chi_load_pack(spec, key, &record, NULL, 0, &full));
		ok(chi_load_pack_one(spec, key->bytes, key->len, result, ply, move, 0, &one));
		assert_int_equal(one.n, n);
		assert_int_equal(one.len, full.len);
		assert_memory_equal(one.bytes, full.bytes, full.len);
	}
}

CASE(both_ways_give_the_same_bytes)
{
	static const uint16_t plies[] = {0, 1, 127, 128, 300, CHI_PLY_MAX};
	for (int round = 0; round < 2000; round++) {
		struct chi_position position;
		struct chi_key key;
		struct chi_move_list list;
		help_position(&position);
		chi_key_encode(&position, &key);
		chi_movegen_legal(&position, &list);
		chi_move move = list.n > 0 && help_below(4) != 0
					? list.moves[help_below((unsigned)list.n)]
					: 0;
		struct chi_load_spec spec = {
			.statistic = kinds[help_below(3)],
			.base = {help_below(100), help_below(100), help_below(100), 0},
			.subtract = help_below(4) == 0,
		};
		pack_both(&spec, &key, (enum chi_result)help_below(4), plies[help_below(6)], move);
	}
}

CASE(what_no_store_may_hold_is_refused)
{
	_cleanup_(chi_load_block_free) struct chi_load_block block = {0};
	const struct chi_load_spec spec = {.statistic = CHI_STATISTIC_OUTCOME};
	const struct chi_key key = help_key();
	const enum chi_result draw = CHI_RESULT_DRAW;
	assert_int_equal(
		chi_load_pack_one(&spec, key.bytes, key.len, draw, CHI_PLY_MAX + 1, 0, 0, &block),
		-CHI_EINVAL);
	assert_int_equal(
		chi_load_pack_one(&spec, key.bytes, key.len, (enum chi_result)4, 0, 0, 0, &block),
		-CHI_EINVAL);
	assert_int_equal(chi_load_pack_one(&spec, key.bytes, key.len, draw, 0, 0x7fff, 0, &block),
			 -CHI_EINVAL);
	assert_int_equal(chi_load_pack_one(&spec, key.bytes, 3, draw, 0, 0, 0, &block),
			 -CHI_EINVAL);
	assert_int_equal(block.n, 0);
	assert_int_equal(block.len, 0);
}
