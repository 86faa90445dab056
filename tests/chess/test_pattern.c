/* SPDX-License-Identifier: MIT */
/* Patterns as a person would write them, and every way to get them wrong or contradict oneself. */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pattern/pattern.h"

static void print_spec(const struct chi_pattern_spec *spec)
{
	print_message("# has '%s' fen '%s' pawns '%s' material '%s' balance '%s' side %u%s%s\n",
		      spec->has, spec->fen, spec->pawns, spec->material, spec->balance, spec->side,
		      spec->mirror ? " mirror" : "", spec->either_colour ? " either" : "");
}

CASE(on_nothing_asked_matches_all)
{
	static struct chi_pattern pattern;
	struct chi_pattern_spec spec = {.mirror = true, .either_colour = true};
	struct chi_key key;
	struct chi_position start = position_of(START_FEN);
	assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL), CHI_OK);
	assert_true(pattern.idle);
	assert_int_equal(pattern.n_views, 1);
	chi_key_encode(&start, &key);
	assert_true(chi_pattern_matches(&pattern, key.bytes));
	spec.side = CHI_SIDE_BLACK;
	assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL), CHI_OK);
	assert_false(pattern.idle);
	assert_int_equal(pattern.n_views, 2);
}

/* ---- What is asked of masks ---------------------------------------------------------------- */

struct masked {
	struct chi_pattern_spec spec;
	const char *fen; /* where only which squares are occupied counts */
	bool fits;
};

static const char full[] = "4k3/8/4p3/3p4/8/8/8/4K2R w - - 0 1";
static const struct masked masked[] = {
	{{.has = "Qd5 ne6 Ah1 .a1"}, full, true},
	{{.has = "Qd5 .e6"}, full, false},
	{{.has = "Qd5 .e4"}, full, true},
	{{.has = "Qd4"}, full, false},
	{{.has = "!.d4"}, full, false},
	{{.has = "!Qd4 !Qd5 ?d6 [.p]c2"}, full, true},
	{{.has = "Q**"}, full, true},
	{{.has = "Qe5", .mirror = true}, full, true},
	{{.has = "Qe5 qd6", .mirror = true}, full, true},
	{{.has = "Qe5 qd5", .mirror = true}, full, false},
	{{.has = "Qd4 Qe3", .either_colour = true}, full, true},
	{{.has = "Qd4 Qe3", .mirror = true}, full, false},
	{{.has = "Qe4 Qd3", .mirror = true, .either_colour = true}, full, true},
	{{.has = "Qe4 Qd3", .either_colour = true}, full, false},
	{{.material = "men=5"}, full, true},
	{{.material = "men=..4"}, full, false},
	{{.material = "men=6.."}, full, false},
	{{.material = "KQRvKR"}, full, true},
	{{.material = "KQRvKRP"}, full, false},
	{{.fen = "4k3/8/4!.3/8/8/8/8/8"}, full, true},
	{{.fen = "4k3/8/3!.4/8/8/8/8/8"}, full, false},
	{{.side = CHI_SIDE_BLACK}, full, true},
};

CASE(masks_are_asked)
{
	static struct chi_pattern pattern;
	for (size_t i = 0; i < CHI_COUNT(masked); i++) {
		struct chi_position position = position_of(masked[i].fen);
		uint64_t mask = chi_mirror_files(chi_position_occupied(&position));
		struct chi_mask_wants wants;
		assert_int_equal(chi_pattern_compile(&masked[i].spec, &pattern, NULL), CHI_OK);
		chi_pattern_masks_of(&pattern, &wants);
		bool fits = chi_masks_fit(&wants, mask, (uint32_t)chi_popcount(mask));
		if (fits != masked[i].fits) {
			print_spec(&masked[i].spec);
			fail_msg("fits: %d", fits);
		}
	}
}

CASE(masks_are_bounded)
{
	struct chi_mask_wants wants;
	chi_masks_init(&wants);
	assert_true(chi_masks_idle(&wants));
	chi_masks_bound(&wants, 0, 40);
	assert_true(chi_masks_idle(&wants));
	chi_masks_bound(&wants, 5, 3);
	assert_false(chi_masks_idle(&wants));
	for (uint32_t n = 1; n <= 32; n++) {
		assert_true(chi_masks_fit(&wants, 1, n) == (n >= 5 && n <= 8));
	}
	chi_masks_bound(&wants, 7, 20);
	assert_false(chi_masks_fit(&wants, 1, 6));
	assert_true(chi_masks_fit(&wants, 1, 7) && chi_masks_fit(&wants, 1, 8));
	chi_masks_bound(&wants, 9, 0);
	assert_int_equal(wants.n, 0);
	assert_false(chi_masks_idle(&wants));
	assert_false(chi_masks_fit(&wants, 1, 8));
}

/* ---- What a person would write ------------------------------------------------------------- */

struct example {
	struct chi_pattern_spec spec;
	const char *fen;
	bool matches;
};

static const char iqp[] = "r1bq1rk1/pp2bppp/2n1pn2/8/3P4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 1";
static const char ep[] = "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1";
static const char ep_black[] = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
static const char castle[] = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1";
static const struct example examples[] = {
	{{.has = "Pd4 !Pc* !Pe*"}, iqp, true},
	{{.has = "Pd4 !Pc* !Pe* kg8 .d5 Nc3|Nd2 b**"}, iqp, true},
	{{.has = "Pd5"}, iqp, false},
	{{.has = "pd5", .either_colour = true}, iqp, true},
	{{.has = "Pe4", .mirror = true}, iqp, true},
	{{.has = "pe5", .mirror = true, .either_colour = true}, iqp, true},
	{{.has = "pe5", .mirror = true}, iqp, false},
	{{.has = "Pd4"}, ep, true},
	{{.has = "P*4, p*4"}, ep, true},
	{{.has = "P*5"}, ep_black, true},
	{{.has = "pd5 p**"}, ep_black, true},
	{{.has = "Pd5"}, ep_black, false},
	{{.material = "KPvKP"}, ep, true},
	{{.material = "KPvKP"}, ep_black, true},
	{{.material = "P=1 p=1 men=4"}, ep, true},
	{{.balance = "v"}, ep, true},
	{{.pawns = "d4 / e4"}, ep, true},
	{{.pawns = "d4 / +"}, ep, true},
	{{.pawns = "d4 /"}, ep, false},
	{{.pawns = "+ / +"}, ep, true},
	{{.has = "Ra1 rh8 ke8", .side = CHI_SIDE_BLACK}, castle, true},
	{{.has = "Ra1 rh8 ke8", .side = CHI_SIDE_WHITE}, castle, false},
	{{.material = "KRRKRR"}, castle, true},
	{{.material = "KR*vKR*"}, castle, true},
	{{.material = "KRvKR*"}, castle, false},
	{{.fen = "r3k2r/8/8/8/8/8/8/8 b"}, castle, true},
	{{.fen = "r3k2r/8/8/8/8/8/8/8 w"}, castle, false},
	{{.fen = "8/8/......../8/8/8/8/[RN]6?"}, castle, true},
	{{.fen = "8/8/......../8/8/8/8/[BN]6?"}, castle, false},
	{{.balance = "Q v RR"}, "3rr1k1/8/8/8/8/8/8/3Q2K1 w - - 0 1", true},
	{{.balance = "Q v RR"}, "3rr1k1/p7/8/8/8/8/8/3Q2K1 w - - 0 1", false},
	{{.balance = "QP* v RRP*"}, "3rr1k1/p7/8/8/8/8/8/3Q2K1 w - - 0 1", true},
	{{.balance = "RR v Q", .either_colour = true}, "3rr1k1/8/8/8/8/8/8/3Q2K1 w - - 0 1", true},
	{{.material = "bishops=opposite"}, "4k1b1/8/8/8/8/8/8/4KB2 w - - 0 1", false},
	{{.material = "bishops=same"}, "4k1b1/8/8/8/8/8/8/4KB2 w - - 0 1", true},
	{{.material = "bishops=opposite"}, "4kb2/8/8/8/8/8/8/4KB2 w - - 0 1", true},
};

CASE(examples_match)
{
	static struct chi_pattern pattern;
	for (size_t i = 0; i < CHI_COUNT(examples); i++) {
		struct chi_position position = position_of(examples[i].fen);
		struct chi_fault fault = {{0}};
		struct chi_key key;
		chi_key_encode(&position, &key);
		if (chi_pattern_compile(&examples[i].spec, &pattern, &fault) != CHI_OK) {
			fail_msg("example %zu: %s", i, fault.text);
		}
		if (chi_pattern_matches(&pattern, key.bytes) != examples[i].matches) {
			print_spec(&examples[i].spec);
			fail_msg("example %zu, %s", i, examples[i].fen);
		}
	}
}

/* ---- What is refused --------------------------------------------------------------------- */

struct refusal {
	struct chi_pattern_spec spec;
	int status;
	const char *reason;
};

static void refuses_each(const struct refusal *table, size_t n)
{
	static struct chi_pattern pattern;
	for (size_t i = 0; i < n; i++) {
		struct chi_fault fault = {{0}};
		int rc = chi_pattern_compile(&table[i].spec, &pattern, &fault);
		if (rc != -table[i].status || strstr(fault.text, table[i].reason) == NULL) {
			print_spec(&table[i].spec);
			fail_msg("row %zu: %d '%s', expected %d '%s'", i, rc, fault.text,
				 -table[i].status, table[i].reason);
		}
	}
}

CASE(syntax_is_refused)
{
	static const struct refusal table[] = {
		{{.has = ""}, CHI_ESYNTAX, "has, character 1: empty"},
		{{.has = "  "}, CHI_ESYNTAX, "has, character 3: empty"},
		{{.has = "Nd5 e4"}, CHI_ESYNTAX, "has, character 5: a piece is expected"},
		{{.has = "Nd5 Ni4"}, CHI_ESYNTAX, "has, character 6: a file is expected"},
		{{.has = "Nd9"}, CHI_ESYNTAX, "has, character 3: a rank is expected"},
		{{.has = "Nd"}, CHI_ESYNTAX, "has, character 3: a rank is expected"},
		{{.has = "Nd5x"}, CHI_ESYNTAX, "has, character 4: a space"},
		{{.has = "[NBd5"}, CHI_ESYNTAX, "has, character 4: in brackets"},
		{{.has = "[NB"}, CHI_ESYNTAX, "']' is missing"},
		{{.has = "[]d5"}, CHI_ESYNTAX, "nothing in the brackets"},
		{{.has = "!?d5"}, CHI_ESYNTAX, "not anything"},
		{{.has = "Nd5|"}, CHI_ESYNTAX, "has, character 5: a piece"},
		{{.has = "Nd5|!Pd*"}, CHI_ESYNTAX, "one of several alternatives"},
		{{.has = "!Pd*|Nd5"}, CHI_ESYNTAX, "one of several alternatives"},
		{{.has = "!!Pd4"}, CHI_ESYNTAX, "has, character 2"},
		{{.fen = "8/8"}, CHI_ESYNTAX, "fen, character 4: 8 ranks"},
		{{.fen = "9/8/8/8/8/8/8/8"}, CHI_ESYNTAX, "fen, character 1"},
		{{.fen = "44K/8/8/8/8/8/8/8"}, CHI_ESYNTAX, "rank 8 has more than 8"},
		{{.fen = "8/7/8/8/8/8/8/8"}, CHI_ESYNTAX, "fen, character 4: the rank has less"},
		{{.fen = "8/8/8/8/8/8/8/8/8"}, CHI_ESYNTAX, "8 ranks already"},
		{{.fen = "8/8/8/8/8/8/8/8 x"}, CHI_ESYNTAX, "w or b"},
		{{.fen = "8/8/8/8/8/8/8/8 w KQkq"}, CHI_ESYNTAX, "castling"},
		{{.pawns = "a2"}, CHI_ESYNTAX, "'/' and black's pawns"},
		{{.pawns = "a2 / b7 / c3"}, CHI_ESYNTAX, "second '/'"},
		{{.pawns = "a* /"}, CHI_ESYNTAX, "no square of a pawn"},
		{{.pawns = "Pa2 /"}, CHI_ESYNTAX, "pawns, character 1: a file"},
		{{.material = ""}, CHI_ESYNTAX, "material, character 1: empty"},
		{{.material = "KRP"}, CHI_ESYNTAX, "material, character 1: neither a second K"},
		{{.material = "P=1 KXvK"},
		 CHI_ESYNTAX,
		 "material, character 5: white has something"},
		{{.material = "KP*K"}, CHI_ESYNTAX, "'v' and black's pieces"},
		{{.material = "K*P**vK"}, CHI_ESYNTAX, "material, character 5: '*' is not after"},
		{{.material = "KP*vKvK"}, CHI_ESYNTAX, "second 'v'"},
		{{.material = "x=1"}, CHI_ESYNTAX, "before '='"},
		{{.material = "P="}, CHI_ESYNTAX, "after '='"},
		{{.material = "P=.."}, CHI_ESYNTAX, "after '='"},
		{{.material = "P=33"}, CHI_ESYNTAX, "after '='"},
		{{.material = "P=-1"}, CHI_ESYNTAX, "after '='"},
		{{.material = "P=5..3"}, CHI_ESYNTAX, "ends before"},
		{{.material = "bishops=red"}, CHI_ESYNTAX, "'opposite' or 'same'"},
		{{.balance = "Q"}, CHI_ESYNTAX, "'v' and black's"},
		{{.balance = "KQ v RR"}, CHI_ESYNTAX, "kings"},
		{{.balance = "q v r"}, CHI_ESYNTAX, "balance, character 1"},
	};
	refuses_each(table, CHI_COUNT(table));
}

CASE(contradictions_are_refused)
{
	static const struct refusal table[] = {
		{{.has = "Nd5 kd5"},
		 CHI_EINVAL,
		 "has, character 5: contradicts has, character 1: nothing can be on d5"},
		{{.has = "Nd5 .d5"}, CHI_EINVAL, "nothing can be on d5"},
		{{.has = "Nd5 !Nd5"}, CHI_EINVAL, "nothing can be on d5"},
		{{.has = "Nd5 !N**"}, CHI_EINVAL, "has, character 5: contradicts has, character 1"},
		{{.has = "!Nd5 Nd5"}, CHI_EINVAL, "nothing can be on d5"},
		{{.has = "Nd5", .fen = "8/8/8/3b4/8/8/8/8"}, CHI_EINVAL, "fen, character 8"},
		{{.has = "Pa1"}, CHI_EINVAL, "no pawn can be on a1"},
		{{.has = "[Pp]h8"}, CHI_EINVAL, "no pawn can be on h8"},
		{{.has = "P*8"}, CHI_EINVAL, "has, character 1: contradicts"},
		{{.has = "Kd5 Ke5"}, CHI_EINVAL, "2 of white king"},
		{{.has = "Kd5 K*1"}, CHI_EINVAL, "has, character 5: contradicts what else"},
		{{.has = "Kd5 [Kk]e5 k*1"}, CHI_EINVAL, "has, character 12"},
		{{.has = "Nd5 N*5|Ne4 .d*"}, CHI_OK, ""},
		{{.has = "!.*1 !.*2 !.*3 !.*4 !.a5"}, CHI_EINVAL, "33 men"},
		{{.has = "!.*1 !.*2 !.*3 !.*4"}, CHI_OK, ""},
		{{.has = ".**"}, CHI_OK, ""},
		{{.has = "!A** !a**"}, CHI_EINVAL, "1 men or more"},
		{{.has = "Nd5", .material = "KRvKR"},
		 CHI_EINVAL,
		 "has, character 1: squares ask for 1 of white knight, contradicts material, "
		 "character 1: at most 0"},
		{{.has = "Nd5", .material = "P=2 KRvKR"}, CHI_EINVAL, "material, character 5"},
		{{.has = "N*5", .material = "N=0"}, CHI_EINVAL, "has, character 1: contradicts"},
		{{.has = "!P**", .material = "P=1.."}, CHI_EINVAL, "leave room for 0"},
		{{.has = "Ad5 Ae5 Af5", .material = "men=3 Q=..1 R=0 N=0 B=0 P=0"},
		 CHI_EINVAL,
		 "3 white men"},
		{{.has = "Ad5 Ae5", .material = "KvKR"}, CHI_EINVAL, "2 of white king"},
		{{.material = "P=9.. p=9.. men=..17"}, CHI_EINVAL, "18 men"},
		{{.material = "KRvKR P=1"}, CHI_EINVAL, "material, character 7"},
		{{.material = "men=5 KRvKR"}, CHI_EINVAL, "5 men"},
		{{.material = "bishops=same bishops=opposite"}, CHI_EINVAL, "opposite and same"},
		{{.material = "bishops=same B=0"}, CHI_EINVAL, "material, character 14"},
		{{.material = "KRvKR", .balance = "Q v"}, CHI_EINVAL, "balance: contradicts"},
		{{.material = "men=..4", .balance = "Q v RRP"}, CHI_OK, ""},
		{{.material = "men=..3", .balance = "Q v RRP"}, CHI_EINVAL, "4 men"},
		{{.pawns = "a2 / a2"}, CHI_EINVAL, "pawns, character 6"},
		{{.pawns = "a1 /"}, CHI_EINVAL, "no pawn can be on a1"},
		{{.pawns = "a2 /", .has = "Pb2"}, CHI_EINVAL, "squares ask for 2 of white pawn"},
		{{.pawns = "a2 b2 /", .material = "P=1"}, CHI_EINVAL, "material, character 1"},
		{{.fen = "8/8/8/8/8/8/8/8 w", .side = CHI_SIDE_BLACK}, CHI_EINVAL, "side to move"},
		{{.material = "k=0", .side = CHI_SIDE_BLACK}, CHI_EINVAL, "no black king"},
		{{.side = 3}, CHI_EINVAL, "side"},
	};
	refuses_each(table, CHI_COUNT(table));
}

CASE(limits_are_kept)
{
	static char text[CHI_PATTERN_TEXT_MAX + 2];
	struct chi_pattern_spec spec = {.has = text};
	static struct chi_pattern pattern;
	memset(text, ' ', CHI_PATTERN_TEXT_MAX + 1);
	memcpy(text, "Nd5", 3);
	assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL), -CHI_ETOOBIG);
	text[CHI_PATTERN_TEXT_MAX] = '\0';
	assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL), CHI_OK);

	for (size_t n = CHI_PATTERN_CLAUSES_MAX; n <= CHI_PATTERN_CLAUSES_MAX + 1; n++) {
		text[0] = '\0';
		for (size_t i = 0; i < n; i++) {
			strcat(text, "Rd* ");
		}
		assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL),
				 n == CHI_PATTERN_CLAUSES_MAX ? CHI_OK : -CHI_ETOOBIG);
	}
	for (size_t n = CHI_PATTERN_TERMS_MAX; n <= CHI_PATTERN_TERMS_MAX + 1; n++) {
		strcpy(text, "P**");
		for (size_t i = 1; i < n; i++) {
			strcat(text, "|P**");
		}
		assert_int_equal(chi_pattern_compile(&spec, &pattern, NULL),
				 n == CHI_PATTERN_TERMS_MAX ? CHI_OK : -CHI_ETOOBIG);
	}
}

/* Texts of letters at random: an error or a pattern, and nothing is written past. */
CASE(any_text_is_survived)
{
	static const char letters[] = "KQRBNPkqrbnpAa.?![]|*/+=v abcdefgh12345678men-";
	static struct chi_pattern pattern;
	struct seed seed = seed_start("pattern texts");
	size_t rounds = seed_rounds(40000);
	for (size_t i = 0; i < rounds; i++) {
		char text[48];
		size_t len = seed_below(&seed, sizeof(text));
		for (size_t j = 0; j < len; j++) {
			text[j] = letters[seed_below(&seed, sizeof(letters) - 1)];
		}
		text[len] = '\0';
		struct chi_pattern_spec spec = {0};
		const char **fields[] = {&spec.has, &spec.fen, &spec.pawns, &spec.material,
					 &spec.balance};
		*fields[i % 5] = text;
		struct chi_fault fault = {{0}};
		int rc = chi_pattern_compile(&spec, &pattern, &fault);
		assert_true(rc == CHI_OK || fault.text[0] != '\0');
	}
}
