/* SPDX-License-Identifier: MIT */
/* From a draft to tests on bytes of keys, in each view that is asked for. */
#include "chess/pattern/draft.h"

#include <string.h>

#include "base/fault.h"

#define BALANCE_ZERO 64
#define HIGH_BITS    UINT64_C(0x8080808080808080)
#define RANK_5	     (UINT64_C(0xff) << 32)

/* How a view differs from what is written. */
struct change {
	bool mirror;
	bool swap;
};

static int change_square(struct change change, int square)
{
	return square ^ (change.mirror ? 7 : 0) ^ (change.swap ? 56 : 0);
}

static uint64_t change_squares(struct change change, uint64_t squares)
{
	uint64_t changed = 0;
	while (squares != 0) {
		changed |= chi_bit(change_square(change, chi_pop(&squares)));
	}
	return changed;
}

static uint32_t change_set(struct change change, uint32_t set)
{
	if (!change.swap) {
		return set;
	}
	return (set & SET_WHITE) << CHI_KINDS | (set & SET_BLACK) >> CHI_KINDS | (set & SET_EMPTY);
}

/* The codes of key.h for `set`. A pawn that may be taken en passant is black on rank 5. */
static uint32_t codes_of(uint32_t set, bool rank_5)
{
	static const uint32_t codes[PIECES] = {
		1u << 4,  1u << 3,  1u << 1, 1u << 6 | 1u << 7,	  1u << 5,  1u << 2,
		1u << 12, 1u << 11, 1u << 9, 1u << 14 | 1u << 15, 1u << 13, 1u << 0 | 1u << 10,
	};
	uint32_t all = (set & SET_EMPTY) != 0 ? 1u << 16 : 0;
	for (uint64_t pieces = set & ~SET_EMPTY; pieces != 0;) {
		all |= codes[chi_pop(&pieces)];
	}
	uint32_t passed = chi_set_of(rank_5 ? CHI_BLACK : CHI_WHITE, CHI_PAWN);
	return (set & passed) != 0 ? all | 1u << 8 : all;
}

/* What is asked of one square of a view. */
static void add_square(struct chi_pattern_view *view, int square, uint32_t set)
{
	bool any_piece = (set | SET_EMPTY) == SET_ALL;
	if (set == SET_ALL) {
		return;
	}
	uint32_t codes = codes_of(set & ~SET_EMPTY, square >> 3 == 4);
	if (set == SET_EMPTY) {
		view->empty |= KEY_BIT(square);
	} else if ((set & SET_EMPTY) == 0) {
		view->occupied |= KEY_BIT(square);
		if (!any_piece) {
			view->tests[view->n_tests++] = (struct chi_pattern_test){
				.codes = codes, .shift = (uint8_t)(63 - square)};
		}
	} else if (!any_piece) {
		view->limited |= KEY_BIT(square);
		view->codes[63 - square] = (uint16_t)codes;
	}
}

static void add_squares(struct chi_pattern_view *view, const struct chi_draft *draft,
			struct change change)
{
	const uint32_t pawns = chi_set_of(CHI_WHITE, CHI_PAWN) | chi_set_of(CHI_BLACK, CHI_PAWN);
	for (int square = 0; square < 64; square++) {
		uint32_t set = change_set(change, draft->allowed[change_square(change, square)]);
		if ((square < 8 || square > 55) && set != SET_EMPTY) {
			/* No pawn is there, which need not be tested. */
			set |= pawns;
		}
		add_square(view, square, set);
	}
}

/* A term for the squares of rank 5, another for the rest: codes differ. */
static void add_term(struct chi_pattern_view *view, uint64_t squares, uint32_t set)
{
	for (int part = 0; part < 2; part++) {
		uint64_t some = part == 0 ? squares & ~RANK_5 : squares & RANK_5;
		struct chi_pattern_term term = {.codes = codes_of(set, part == 1)};
		while (some != 0) {
			term.squares |= KEY_BIT(chi_pop(&some));
		}
		if (term.squares != 0) {
			view->terms[view->n_terms++] = term;
		}
	}
}

static void add_clauses(struct chi_pattern_view *view, const struct chi_draft *draft,
			struct change change)
{
	for (size_t i = 0; i < draft->n_clauses; i++) {
		const struct chi_draft_clause *clause = &draft->clauses[i];
		for (size_t j = 0; j < clause->n; j++) {
			const struct chi_draft_term *term = &draft->terms[clause->first + j];
			add_term(view, change_squares(change, term->squares),
				 change_set(change, term->set));
		}
		view->terms[view->n_terms - 1].last = true;
	}
}

/* Bounds of one byte for each kind. */
static struct chi_pattern_bounds pack(const struct chi_range_int ranges[CHI_KINDS], int zero)
{
	struct chi_pattern_bounds bounds = {.most = HIGH_BITS};
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		bounds.least |= (uint64_t)(ranges[kind].least + zero) << (8 * kind);
		bounds.most |= (uint64_t)(ranges[kind].most + zero) << (8 * kind);
	}
	return bounds;
}

static void add_counts(struct chi_pattern_view *view, const struct chi_draft *draft,
		       const struct chi_draft *solved, struct change change)
{
	int own = change.swap ? CHI_BLACK : CHI_WHITE;
	struct chi_range_int balance[CHI_KINDS];
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		const struct chi_range_int *less = &draft->balance[kind];
		balance[kind] = *less;
		if (change.swap) {
			balance[kind].least = -less->most;
			balance[kind].most = -less->least;
		}
		view->has_balance |= less->least > -MEN_MAX || less->most < MEN_MAX;
	}
	view->balance = pack(balance, BALANCE_ZERO);
	for (int piece = 0; piece < PIECES; piece++) {
		int most = piece % CHI_KINDS == CHI_KING ? 1 : MEN_MAX;
		view->has_counts |=
			draft->counts[piece].least > 0 || draft->counts[piece].most < most;
	}
	view->counts[own] = pack(draft->counts, 0);
	view->counts[own ^ 1] = pack(draft->counts + CHI_KINDS, 0);
	view->follow[own] = pack(solved->counts, 0);
	view->follow[own ^ 1] = pack(solved->counts + CHI_KINDS, 0);
}

/* White's pawns on rank 2, then Black's on rank 7. */
static void add_home(struct chi_pattern_view *view, const struct chi_draft *solved,
		     struct change change)
{
	for (int i = 0; i < 16; i++) {
		int square = change_square(change, i < 8 ? 8 + i : 40 + i);
		uint32_t set = change_set(change, solved->allowed[square]);
		uint32_t pawn = chi_set_of(i / 8, CHI_PAWN);
		view->home[0] |= (uint16_t)(((set & pawn) == 0) << i);
		view->home[1] |= (uint16_t)((set == pawn) << i);
	}
}

static void make_view(struct chi_pattern_view *view, const struct chi_draft *draft,
		      const struct chi_draft *solved, struct change change)
{
	memset(view, 0, sizeof(*view));
	view->least = (uint8_t)solved->men.least;
	view->span = (uint8_t)(solved->men.most - solved->men.least);
	view->bishops = draft->bishops;
	view->side = draft->side;
	if (change.swap && draft->side != CHI_SIDE_ANY) {
		view->side = draft->side == CHI_SIDE_WHITE ? CHI_SIDE_BLACK : CHI_SIDE_WHITE;
	}
	add_squares(view, draft, change);
	add_clauses(view, draft, change);
	add_counts(view, draft, solved, change);
	add_home(view, solved, change);
	view->has_rest = view->n_tests > 0 || view->n_terms > 0 || view->limited != 0 ||
			 view->occupied != 0 || view->empty != 0 || view->side != CHI_SIDE_ANY ||
			 view->bishops != CHI_BISHOPS_ANY;
}

/* Adds a view unless it asks the same as one before it. */
static void add_view(struct chi_pattern *pattern, const struct chi_draft *draft,
		     const struct chi_draft *solved, struct change change)
{
	struct chi_pattern_view *view = &pattern->views[pattern->n_views];
	make_view(view, draft, solved, change);
	for (uint32_t i = 0; i < pattern->n_views; i++) {
		if (memcmp(&pattern->views[i], view, sizeof(*view)) == 0) {
			return;
		}
	}
	pattern->n_views++;
}

static bool counts_bits_fast(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("popcnt");
#else
	return false;
#endif
}

static bool asks_nothing(const struct chi_pattern_view *view)
{
	return !view->has_rest && !view->has_counts && !view->has_balance && view->least <= 1 &&
	       view->least + view->span >= MEN_MAX;
}

/* Reads all texts. */
static int read_spec(struct chi_draft *draft, const struct chi_pattern_spec *spec,
		     struct chi_fault *fault)
{
	const struct {
		const char *name;
		const char *text;
		int (*read)(struct chi_draft *, const char *, struct chi_fault *);
	} texts[] = {
		{"has", spec->has, chi_draft_has},
		{"fen", spec->fen, chi_draft_fen},
		{"pawns", spec->pawns, chi_draft_pawns},
		{"material", spec->material, chi_draft_material},
		{"balance", spec->balance, chi_draft_balance},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].text == NULL) {
			continue;
		}
		if (strnlen(texts[i].text, CHI_PATTERN_TEXT_MAX + 1) > CHI_PATTERN_TEXT_MAX) {
			return chi_fail(fault, -CHI_ETOOBIG, "%s: over %d bytes", texts[i].name,
					CHI_PATTERN_TEXT_MAX);
		}
		int rc = texts[i].read(draft, texts[i].text, fault);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

int chi_pattern_compile(const struct chi_pattern_spec *spec, struct chi_pattern *out,
			struct chi_fault *fault)
{
	struct chi_draft draft;
	struct chi_draft solved;
	if (spec->side > CHI_SIDE_BLACK) {
		return chi_fail(fault, -CHI_EINVAL, "side: %u is none", spec->side);
	}
	chi_draft_init(&draft);
	draft.side = spec->side;
	draft.shift = spec->shift;
	int rc = read_spec(&draft, spec, fault);
	if (rc == CHI_OK) {
		rc = chi_draft_solve(&draft, &solved, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	out->n_views = 0;
	for (int swap = 0; swap <= (spec->either_colour ? 1 : 0); swap++) {
		for (int mirror = 0; mirror <= (spec->mirror ? 1 : 0); mirror++) {
			add_view(out, &draft, &solved, (struct change){mirror == 1, swap == 1});
		}
	}
	out->idle = out->n_views == 1 && asks_nothing(&out->views[0]);
	out->fast_count = counts_bits_fast();
	return CHI_OK;
}
