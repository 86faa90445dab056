/* SPDX-License-Identifier: MIT */
/* Material signatures, and the filter on key bytes against counting on the decoded position. */
#include "tests/chess/support.h"

#include "chess/bitboard.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/material.h"
#include "chess/sieve.h"

static struct chi_material material_of(const char *text)
{
	struct chi_material material = {{0}, {0}};
	struct chi_fault fault = {{0}};
	if (chi_material_parse(text, strlen(text), &material, &fault) != CHI_OK) {
		fail_msg("%s: %s", text, fault.text);
	}
	return material;
}

CASE(parses_and_prints)
{
	static const struct {
		const char *text;
		const char *printed;
	} table[] = {
		{"KRPKR", "KRPvKR"},
		{"KRPvKR", "KRPvKR"},
		{"KPRvRK", "KRPvKR"},
		{"RPKKR", "KRPvKR"},
		{"KK", "KvK"},
		{"KvK", "KvK"},
		{"vK", "vK"},
		{"Kv", "Kv"},
		{"QvR", "QvR"},
		{"PNBRQKKQRBNP", "KQRBNPvKQRBNP"},
		{"KQRRBBNNPPPPPPPPKQRRBBNNPPPPPPPP", "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP"},
		{"QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQv", "QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQv"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_material material = material_of(table[i].text);
		char text[CHI_MATERIAL_TEXT_SIZE];
		size_t len = chi_material_print(&material, text);
		assert_int_equal(len, strlen(text));
		assert_string_equal(text, table[i].printed);
		struct chi_material again = material_of(text);
		assert_memory_equal(&material, &again, sizeof(again));
	}
	struct chi_material material = material_of("KRPPKB");
	assert_int_equal(material.white[CHI_PAWN], 2);
	assert_int_equal(material.white[CHI_ROOK], 1);
	assert_int_equal(material.black[CHI_BISHOP], 1);
	assert_int_equal(material.black[CHI_KING], 1);
	assert_int_equal(material.black[CHI_PAWN], 0);
}

CASE(refuses)
{
	static const struct {
		const char *text;
		const char *reason;
	} table[] = {
		{"", "empty"},
		{"v", "0 pieces"},
		{"K", "second K"},
		{"KRP", "second K"},
		{"QR", "second K"},
		{"KKK", "two black kings"},
		{"KKvK", "two white kings"},
		{"KvKK", "two black kings"},
		{"KvKvK", "something other"},
		{"krpkr", "second K"},
		{"krpvkr", "something other"},
		{"KRP KR", "something other"},
		{"KXK", "something other"},
		{"KQRRBBNNPPPPPPPPKQRRBBNNPPPPPPPPP", "33 pieces"},
		{"QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQv", "33 pieces"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_material material = {{99}, {0}};
		struct chi_fault fault = {{0}};
		int rc =
			chi_material_parse(table[i].text, strlen(table[i].text), &material, &fault);
		if (rc != -CHI_ESYNTAX || strstr(fault.text, table[i].reason) == NULL) {
			fail_msg("'%s': %d '%s'", table[i].text, rc, fault.text);
		}
		assert_int_equal(material.white[0], 99);
	}
	struct chi_material material;
	assert_int_equal(chi_material_parse("K\0K", 3, &material, NULL), -CHI_ESYNTAX);
}

/* Counts out of range cannot make the printer write too far. */
CASE(prints_nonsense_safely)
{
	struct chi_material material;
	char text[CHI_MATERIAL_TEXT_SIZE];
	memset(&material, 0xff, sizeof(material));
	size_t len = chi_material_print(&material, text);
	assert_int_equal(len, strlen(text));
	assert_true(len < sizeof(text));
}

static bool passes(const struct chi_filter *filter, const struct chi_key *key)
{
	struct chi_sieve sieve;
	chi_sieve_init(&sieve, filter);
	uint32_t n = chi_sieve_count(key->bytes, key->len);
	assert_in_range(n, 1, 32);
	return chi_sieve_passes(&sieve, key->bytes, key->len, n);
}

static bool is_idle(const struct chi_filter *filter)
{
	struct chi_sieve sieve;
	chi_sieve_init(&sieve, filter);
	return sieve.idle;
}

static bool matches(const struct chi_filter *filter, const char *fen)
{
	struct chi_position position = position_of(fen);
	struct chi_key key;
	chi_key_encode(&position, &key);
	return passes(filter, &key);
}

CASE(filters_by_table)
{
	static const char white_up[] = "4k2r/8/8/8/8/8/4P3/4K2R w Kk -";
	static const char black_up[] = "4k2r/4p3/8/8/8/8/8/4K2R w Kk -";
	struct chi_filter filter = {.has_material = true, .material = material_of("KRPKR")};
	assert_true(matches(&filter, white_up));
	assert_false(matches(&filter, black_up));
	assert_false(matches(&filter, "4k2r/8/8/8/8/8/4N3/4K2R w - -"));
	assert_false(matches(&filter, "4k2r/8/8/8/8/8/4PP2/4K2R w - -"));
	filter.either_colour = true;
	assert_true(matches(&filter, white_up));
	assert_true(matches(&filter, black_up));
	filter.side = CHI_SIDE_BLACK;
	assert_false(matches(&filter, white_up));
	assert_true(matches(&filter, "4k2r/8/8/8/8/8/4P3/4K2R b Kk -"));
	filter = (struct chi_filter){.has_material = true, .material = material_of("KPKP")};
	/* the pawn that may be taken en passant is the other side's */
	assert_true(matches(&filter, "4k3/8/8/3pP3/8/8/8/4K3 w - d6"));
	assert_true(matches(&filter, "4k3/8/8/8/3pP3/8/8/4K3 b - e3"));
	filter.material = material_of("KPPK");
	assert_false(matches(&filter, "4k3/8/8/3pP3/8/8/8/4K3 w - d6"));
	filter = (struct chi_filter){.pieces_min = 3, .pieces_max = 4};
	assert_false(matches(&filter, "4k3/8/8/8/8/8/8/4K3 w - -"));
	assert_true(matches(&filter, "4k3/8/8/8/8/8/8/Q3K3 w - -"));
	assert_true(matches(&filter, "4k3/8/8/8/8/8/8/Q2QK3 w - -"));
	assert_false(matches(&filter, "4k3/8/8/8/8/8/8/QQ1QK3 w - -"));
}

static struct chi_material count_material(const struct chi_position *position, bool exchanged)
{
	struct chi_material material;
	int white = exchanged ? CHI_BLACK : CHI_WHITE;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		material.white[kind] =
			(uint8_t)chi_popcount(chi_position_pieces(position, white, kind));
		material.black[kind] =
			(uint8_t)chi_popcount(chi_position_pieces(position, white ^ 1, kind));
	}
	return material;
}

static bool slow_match(const struct chi_filter *filter, const struct chi_position *position)
{
	int n = chi_popcount(chi_position_occupied(position));
	struct chi_material plain = count_material(position, false);
	struct chi_material exchanged = count_material(position, true);
	bool same = memcmp(&plain, &filter->material, sizeof(plain)) == 0;
	bool other = memcmp(&exchanged, &filter->material, sizeof(plain)) == 0;
	return (!filter->has_material || same || (filter->either_colour && other)) &&
	       (filter->pieces_min == 0 || n >= filter->pieces_min) &&
	       (filter->pieces_max == 0 || n <= filter->pieces_max) &&
	       (filter->side == CHI_SIDE_ANY ||
		(filter->side == CHI_SIDE_WHITE) == (position->side == CHI_WHITE));
}

/* A filter that has a fair chance to fit: made from the position, then changed a little. */
static struct chi_filter random_filter(struct seed *seed, const struct chi_position *position)
{
	struct chi_filter filter = {
		.has_material = seed_below(seed, 4) != 0,
		.either_colour = seed_below(seed, 2) != 0,
		.side = (uint8_t)seed_below(seed, 3),
	};
	filter.material = count_material(position, seed_below(seed, 2) != 0);
	if (seed_below(seed, 2) == 0) {
		uint8_t *counts = filter.material.white;
		size_t from = seed_below(seed, 5);
		if (counts[from] > 0) {
			counts[from]--;
			counts[seed_below(seed, 5)]++;
		}
	}
	if (seed_below(seed, 3) == 0) {
		filter.pieces_min = (uint8_t)seed_below(seed, 33);
		filter.pieces_max = (uint8_t)seed_below(seed, 33);
	}
	return filter;
}

CASE(filters_like_counting)
{
	struct seed seed = seed_start("material filter");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 30000 : 500000);
	uint64_t matched = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		struct chi_position position = random_placement(&seed);
		struct chi_filter filter = random_filter(&seed, &position);
		struct chi_key key;
		chi_key_encode(&position, &key);
		bool found = passes(&filter, &key);
		if (found != slow_match(&filter, &position)) {
			char fen[CHI_FEN_SIZE];
			chi_fen_print(&position, fen);
			fail_msg("%s: filter says %d", fen, found);
		}
		assert_true(found || !is_idle(&filter));
		matched += found;
	}
	assert_true(matched > rounds / 100 && matched < rounds);
	print_message("# figures: %" PRIu64 " random filters, %" PRIu64 " of them passed\n", rounds,
		      matched);
}

/* The shape of keys, told twice over: bytes cut, lengthened and changed. */
CASE(counts_well_shaped_keys)
{
	struct seed seed = seed_start("key shapes");
	unsigned good = 0;
	for (unsigned i = 0; i < 20000; i++) {
		struct chi_position position = random_placement(&seed);
		struct chi_key key;
		chi_key_encode(&position, &key);
		if (seed_below(&seed, 2) == 0) {
			key.bytes[seed_below(&seed, key.len)] ^=
				(uint8_t)(1u << seed_below(&seed, 8));
		}
		size_t len =
			seed_below(&seed, 3) == 0 ? seed_below(&seed, CHI_KEY_MAX + 1) : key.len;
		uint32_t n = chi_sieve_count(key.bytes, len);
		assert_int_equal(n != 0, chi_key_shape_ok(key.bytes, len));
		uint64_t mask;
		memcpy(&mask, key.bytes, sizeof(mask));
		assert_true(n == 0 || n == (uint32_t)chi_popcount(mask));
		good += n != 0;
	}
	assert_in_range(good, 5000, 19000);
}

/* 32 of a kind overflow a five-bit counter; it must not look like one of the next kind. */
CASE(all_of_a_kind)
{
	static const char fen[] = "nnnnnnnn/nnnnnnnn/nnnnnnnn/nnnnnnnn/8/8/8/8 w - -";
	struct chi_filter filter = {.has_material = true};
	filter.material.black[CHI_KNIGHT] = 32;
	assert_true(matches(&filter, fen));
	filter.material.black[CHI_KNIGHT] = 31;
	filter.material.black[CHI_BISHOP] = 1;
	assert_false(matches(&filter, fen));
	assert_true(matches(&filter, "nnnnnnnn/nnnnnnnn/nnnnnnnn/nnnnnnnb/8/8/8/8 w - -"));
	filter.material.black[CHI_KNIGHT] = 0;
	assert_false(matches(&filter, fen));
}

CASE(checks_filters)
{
	const struct chi_filter good[] = {
		{0},
		{.pieces_min = 32, .pieces_max = 32},
		{.pieces_min = 5},
		{.side = CHI_SIDE_BLACK, .games_min = UINT64_MAX},
		{.has_material = true, .material = material_of("KK")},
		{.material = {{200}, {200}}}, /* not asked for, not looked at */
	};
	const struct chi_filter bad[] = {
		{.pieces_min = 33},
		{.pieces_max = 33},
		{.pieces_min = 4, .pieces_max = 3},
		{.side = 3},
		{.has_material = true},
		{.has_material = true, .material = {{33}, {0}}},
		{.has_material = true, .material = {{255, 1}, {255, 255, 255, 255, 255, 255}}},
		{.has_material = true, .material = {.white = {[CHI_KING] = 2}}},
		{.has_material = true, .material = {.black = {[CHI_KING] = 2}}},
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		assert_int_equal(chi_filter_check(&good[i], NULL), CHI_OK);
	}
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_fault fault = {{0}};
		assert_int_equal(chi_filter_check(&bad[i], &fault), -CHI_EINVAL);
		assert_true(fault.text[0] != '\0');
	}
	assert_true(is_idle(&good[0]));
	const struct chi_filter games_only = {.games_min = 5};
	assert_true(is_idle(&games_only));
	assert_false(is_idle(&good[2]));
	assert_false(is_idle(&good[3]));
	assert_false(is_idle(&good[4]));
}
