/* SPDX-License-Identifier: MIT */
/* Keys that are not what an encoder would write are refused; keys in a row can be told apart. */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/key.h"

/* A key from "e1:2 e8:10": squares in order and their codes, sensible or not. */
static struct chi_key key_of(const char *pieces)
{
	struct chi_key key = {.len = 8};
	for (int n = 0; *pieces != '\0'; n++) {
		unsigned code = 0;
		int file = pieces[0] - 'a';
		int rank = pieces[1] - '1';
		assert_int_equal(sscanf(pieces + 2, ":%u", &code), 1);
		key.bytes[rank] |= (uint8_t)(0x80 >> file);
		key.bytes[8 + n / 2] |= (uint8_t)(n % 2 == 0 ? code << 4 : code);
		key.len = (uint8_t)(9 + n / 2);
		pieces += strcspn(pieces, " ");
		pieces += strspn(pieces, " ");
	}
	return key;
}

CASE(accepts)
{
	static const struct {
		const char *pieces;
		const char *fen;
	} table[] = {
		{"e1:2 e8:10", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
		{"e1:2 e8:0", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"},
		{"a1:5", "8/8/8/8/8/8/8/Q7 w - - 0 1"},
		{"h8:0", "7k/8/8/8/8/8/8/8 b - - 0 1"},
		{"e1:2 h1:7 a8:15 e8:10", "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"},
		{"e1:2 g1:7 h1:6 e8:10", "4k3/8/8/8/8/8/8/4K1RR w G - 0 1"},
		{"d4:8 e4:12 e8:0", "4k3/8/8/8/3Pp3/8/8/8 b - d3 0 1"},
		{"d5:8 e5:4", "8/8/8/3pP3/8/8/8/8 w - d6 0 1"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_key key = key_of(table[i].pieces);
		struct chi_key again;
		char fen[CHI_FEN_SIZE];
		assert_int_equal(chi_key_to_fen(&key, fen, NULL), CHI_OK);
		assert_string_equal(fen, table[i].fen);
		assert_int_equal(chi_key_from_fen(fen, strlen(fen), &again, NULL), CHI_OK);
		assert_memory_equal(&key, &again, sizeof(key));
	}
}

CASE(refuses)
{
	static const struct {
		const char *pieces;
		const char *reason; /* a part of the fault's text */
	} table[] = {
		{"", "mask"},
		{"a1:2 h1:2", "2 white kings"},
		{"a1:0 h1:10", "2 black kings"},
		{"e1:4", "pawn on the first"},
		{"e8:12", "pawn on the first"},
		/* en passant pawns: on the wrong rank, two, of the side to move, out of reach */
		{"e3:8 e8:0", "misplaced en passant"},
		{"d5:8 e5:4 f5:8 e8:10", "misplaced en passant"},
		{"d4:8 e4:12 e8:10", "en passant right"},
		{"d5:8 e5:4 e8:0", "en passant right"},
		{"d4:8 f4:12 e8:0", "en passant right"},
		{"d3:1 d4:8 e4:12 e8:0", "en passant right"},
		{"d2:1 d4:8 e4:12 e8:0", "en passant right"},
		/* ... taken only by a pinned pawn */
		{"a4:0 d4:8 e4:12 h4:5", "en passant right"},
		/* rooks that may castle: no king, king or rook elsewhere, two on one side */
		{"h1:7 e8:10", "may castle"},
		{"e2:2 h1:7", "may castle"},
		{"h1:7 e2:2 e8:10", "may castle"},
		{"e1:2 h2:7 e8:10", "may castle"},
		{"e1:2 h8:7", "may castle"},
		{"e1:10 h1:15", "may castle"},
		{"e1:2 g1:7 h1:7 e8:10", "two white rooks"},
		{"e1:2 b8:15 c8:15 e8:10", "two black rooks"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_key key = key_of(table[i].pieces);
		struct chi_position position = {.ep = 77};
		struct chi_fault fault = {{0}};
		int rc = chi_key_decode(&key, &position, &fault);
		if (rc != -CHI_EKEY || strstr(fault.text, table[i].reason) == NULL) {
			fail_msg("%s: %d '%s'", table[i].pieces, rc, fault.text);
		}
		assert_int_equal(position.ep, 77);
		assert_int_equal(chi_key_decode(&key, &position, NULL), -CHI_EKEY);
	}
}

CASE(refuses_shapes)
{
	struct chi_position position;
	const struct chi_key good = key_of("e1:2 h1:6 e8:10");
	assert_int_equal(chi_key_decode(&good, &position, NULL), CHI_OK);
	/* every length but its own */
	for (unsigned len = 0; len <= UINT8_MAX; len++) {
		struct chi_key key = good;
		key.len = (uint8_t)len;
		int wanted = len == good.len ? CHI_OK : -CHI_EKEY;
		assert_int_equal(chi_key_decode(&key, &position, NULL), wanted);
	}
	/* padding, and bytes after the key */
	for (size_t i = good.len - 1U; i < CHI_KEY_MAX; i++) {
		struct chi_key key = good;
		key.bytes[i] |= 1;
		assert_int_equal(chi_key_decode(&key, &position, NULL), -CHI_EKEY);
	}
	/* 33 pieces */
	struct chi_key many = {.len = CHI_KEY_MAX};
	memset(many.bytes, 0x11, sizeof(many.bytes));
	memset(many.bytes, 0xff, 4);
	many.bytes[4] = 0x80;
	memset(many.bytes + 5, 0, 3);
	assert_false(chi_key_shape_ok(many.bytes, many.len));
	assert_int_equal(chi_key_decode(&many, &position, NULL), -CHI_EKEY);
	many.bytes[4] = 0;
	assert_true(chi_key_shape_ok(many.bytes, many.len));
	assert_int_equal(chi_key_decode(&many, &position, NULL), CHI_OK);
}

/* Bytes that were never a key: refused, or exactly what the encoder makes of the position. */
CASE(random_bytes)
{
	struct seed seed = seed_start("random keys");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 50000 : 500000);
	uint64_t accepted = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		struct chi_key key = {.len = (uint8_t)(9 + seed_below(&seed, 16))};
		struct chi_key again;
		struct chi_position position;
		for (size_t k = 0; k < key.len; k++) {
			/* Few squares, so that some lengths fit and some boards are legal. */
			key.bytes[k] = (uint8_t)(seed_below(&seed, 256) &
						 (k < 8 ? seed_below(&seed, 256) : 255));
		}
		if (seed_below(&seed, 8) > 0) {
			size_t n = 0;
			for (size_t k = 0; k < 8; k++) {
				n += (size_t)__builtin_popcount(key.bytes[k]);
			}
			key.len = (uint8_t)(8 + (n + 1) / 2);
			if (key.len > CHI_KEY_MAX) {
				continue;
			}
			for (size_t k = key.len; k < CHI_KEY_MAX; k++) {
				key.bytes[k] = 0;
			}
		}
		if (chi_key_decode(&key, &position, NULL) == CHI_OK) {
			chi_key_encode(&position, &again);
			assert_memory_equal(&key, &again, sizeof(key));
			accepted++;
		}
	}
	print_message("# figures: %" PRIu64 " random keys, %" PRIu64 " of them accepted\n", rounds,
		      accepted);
	assert_true(accepted > 0 && accepted < rounds);
}

/* Damaged keys: refused, or exactly the key of another position. */
CASE(mutated)
{
	struct seed seed = seed_start("key mutations");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 50000 : 500000);
	uint64_t accepted = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		struct chi_position position = random_placement(&seed);
		struct chi_key key;
		struct chi_key again;
		chi_key_encode(&position, &key);
		for (size_t k = 1 + seed_below(&seed, 3); k > 0; k--) {
			key.bytes[seed_below(&seed, key.len)] ^=
				(uint8_t)(1U << seed_below(&seed, 8));
		}
		int rc = chi_key_decode(&key, &position, NULL);
		if (rc != CHI_OK) {
			assert_int_equal(rc, -CHI_EKEY);
			continue;
		}
		chi_key_encode(&position, &again);
		assert_memory_equal(&key, &again, sizeof(key));
		/* Its text says all that the key does. */
		char fen[CHI_FEN_SIZE];
		size_t len = chi_fen_print(&position, fen);
		assert_int_equal(chi_key_from_fen(fen, len, &again, NULL), CHI_OK);
		assert_memory_equal(&key, &again, sizeof(key));
		accepted++;
	}
	print_message("# figures: %" PRIu64 " changed keys, %" PRIu64 " of them accepted\n", rounds,
		      accepted);
	assert_true(accepted > 0 && accepted < rounds);
}
