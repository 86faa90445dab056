/* SPDX-License-Identifier: MIT */
/*
 * Records at the limits of types.h, one over them and broken in every way, to a directory and to a
 * daemon: both must accept or refuse alike, and for the same reason. What was accepted must be read
 * back by get, by probe and by scan, and be the same from both.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "chistore.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/client/world.h"

/* A put with room for each list, one over its limit. */
struct draft {
	struct chi_put_entry put;
	struct chi_move_stat moves[CHI_MOVES_MAX + 1];
	struct chi_ply_stat plies[CHI_PLY_MAX + 2];
	struct chi_eval evals[CHI_EVALS_MAX + 1];
	char names[CHI_EVALS_MAX + 1][CHI_ENGINE_MAX + 2];
	chi_move pv[CHI_PV_MAX + 1];
	chi_move line[CHI_LINE_MAX + 1];
	char note[CHI_NOTE_MAX + 1];
};

/* Two worlds of the same puts. */
struct pair {
	struct world file;
	struct world daemon;
	struct chi_key start;
	unsigned cases;
	unsigned wrong;
};

static struct draft draft;

/* ---- Parts ----------------------------------------------------------------------------------- */

/* The knights go out and back: a legal line of any length from the start. */
static void shuffle(chi_move *out, size_t n)
{
	static const chi_move cycle[] = {6 << 6 | 21, 62 << 6 | 45, 21 << 6 | 6, 45 << 6 | 62};
	for (size_t i = 0; i < n; i++) {
		out[i] = cycle[i % CHI_COUNT(cycle)];
	}
}

static void begin(const struct pair *pair, uint32_t parts)
{
	memset(&draft, 0, sizeof(draft));
	draft.put.key = pair->start;
	draft.put.parts = parts;
	struct chi_record *r = &draft.put.record;
	r->moves = draft.moves;
	r->plies = draft.plies;
	r->evals = draft.evals;
	r->line = draft.line;
	r->note = draft.note;
}

/* `n` evaluations in order: the i-th of engine "eNNN". */
static void set_evals(size_t n)
{
	draft.put.record.n_evals = n;
	for (size_t i = 0; i < n; i++) {
		struct chi_eval *eval = &draft.evals[i];
		eval->engine = draft.names[i];
		eval->engine_len = (size_t)snprintf(draft.names[i], 8, "e%03zu", i);
		eval->depth = (uint32_t)i;
		eval->pv = draft.pv;
	}
}

/* Of pawns: legal, ascending. */
static void set_moves(size_t n, uint64_t games)
{
	draft.put.record.n_moves = n;
	for (size_t i = 0; i < n; i++) {
		draft.moves[i].move = (chi_move)((8 + i) << 6 | (16 + i));
		draft.moves[i].counts.draws = games;
	}
}

static void set_plies(size_t n)
{
	draft.put.record.n_plies = n;
	draft.put.record.counts.white = n;
	for (size_t i = 0; i < n; i++) {
		draft.plies[i] = (struct chi_ply_stat){(uint16_t)i, 1};
	}
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool same(const void *a, size_t n_a, const void *b, size_t n_b, size_t size)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * size) == 0);
}

static bool same_evals(const struct chi_record *a, const struct chi_record *b)
{
	bool all = a->n_evals == b->n_evals;
	for (size_t i = 0; all && i < a->n_evals; i++) {
		const struct chi_eval *x = &a->evals[i];
		const struct chi_eval *y = &b->evals[i];
		all = same(x->engine, x->engine_len, y->engine, y->engine_len, 1) &&
		      same(x->pv, x->n_pv, y->pv, y->n_pv, sizeof(chi_move)) &&
		      x->depth == y->depth && x->is_mate == y->is_mate && x->score == y->score &&
		      x->nodes == y->nodes && x->date == y->date;
	}
	return all;
}

static bool same_records(const struct chi_record *a, const struct chi_record *b)
{
	return a->chi2 == b->chi2 && same(&a->counts, 1, &b->counts, 1, sizeof(a->counts)) &&
	       same(a->note, a->n_note, b->note, b->n_note, 1) &&
	       same(a->line, a->n_line, b->line, b->n_line, sizeof(chi_move)) && same_evals(a, b) &&
	       a->n_moves == b->n_moves && a->n_plies == b->n_plies;
}

/* Get, probe and scan of the one position; the record is valid until the client's next call. */
static int read_back(struct chi_client *client, const struct chi_key *key,
		     struct chi_record *record, bool *scanned)
{
	struct chi_row row;
	struct chi_rows *iter = NULL;
	const struct chi_row *found;
	const struct chi_record *whole;
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .want = CHI_WANT_RECORDS};
	int status = chi_probe(client, key, 1, &row);
	if (status == CHI_OK) {
		status = chi_scan_open(client, &spec, &iter);
	}
	if (status == CHI_OK) {
		status = chi_scan_next(iter, &found, &whole);
		*scanned = status == CHI_OK && memcmp(&found->key, key, sizeof(*key)) == 0;
		chi_rows_close(iter);
	}
	return status < 0 ? status : chi_get(client, key, record);
}

static bool same_content(struct pair *pair, const struct chi_key *key, const char *what)
{
	struct chi_record ours;
	struct chi_record theirs;
	bool scanned[2] = {false, false};
	int here = read_back(pair->file.client, key, &ours, &scanned[0]);
	int there = read_back(pair->daemon.client, key, &theirs, &scanned[1]);
	if (here == CHI_OK && there == CHI_OK && scanned[0] && scanned[1] &&
	    same_records(&ours, &theirs)) {
		return true;
	}
	print_error("# %s: read back: %d in-process, %d from the daemon (%s)\n", what, here, there,
		    chi_error(pair->daemon.client));
	return false;
}

/* Puts the draft to both; `wanted` is how each must answer. */
static void try(struct pair *pair, int wanted, const char *what)
{
	struct chi_put_result results[2];
	const struct chi_key *key = &draft.put.key;
	uint64_t gone;
	int here = chi_put(pair->file.client, &draft.put, 1, CHI_ASYNC, &results[0]);
	int there = chi_put(pair->daemon.client, &draft.put, 1, CHI_ASYNC, &results[1]);
	bool fine = here == wanted && there == wanted;
	pair->cases++;
	if (!fine) {
		print_error("# %s: %d in-process, %d from the daemon, not %d (%s)\n", what, here,
			    there, wanted, chi_error(pair->daemon.client));
	}
	if (here == CHI_OK && there == CHI_OK) {
		fine = same_content(pair, key, what) && fine &&
		       memcmp(&results[0], &results[1], sizeof(results[0])) == 0;
	}
	if (here == CHI_OK || there == CHI_OK) {
		for (unsigned i = 0; i < 2; i++) {
			struct chi_client *client =
				i == 0 ? pair->file.client : pair->daemon.client;
			world_ok(client, chi_delete(client, key, 1, CHI_ASYNC, &gone));
		}
	}
	pair->wrong += fine ? 0 : 1;
}

static int make_pair(void **state)
{
	static struct pair pair;
	static const char fen[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	memset(&pair, 0, sizeof(pair));
	world_make(&pair.file, WORLD_FILE, CHI_STATISTIC_EXTERNAL);
	world_make(&pair.daemon, WORLD_UNIX, CHI_STATISTIC_EXTERNAL);
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &pair.start, NULL), CHI_OK);
	*state = &pair;
	return 0;
}

static int drop_pair(void **state)
{
	struct pair *pair = *state;
	world_free(&pair->file);
	world_free(&pair->daemon);
	return 0;
}

static void verdict(const struct pair *pair)
{
	print_message("# %u records\n", pair->cases);
	assert_int_equal(pair->wrong, 0);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* One text as an engine's name, merged and restored, and as a note. */
static void try_text(struct pair *pair, const char *text, size_t len, int as_engine, int as_note)
{
	char what[64];
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t parts[] = {CHI_PUT_EVALS, CHI_PUT_RESTORE, CHI_PUT_NOTE};
		begin(pair, parts[i]);
		if (i < 2) {
			set_evals(1);
			draft.evals[0].engine = text;
			draft.evals[0].engine_len = len;
		} else {
			memcpy(draft.note, text, len);
			draft.put.record.n_note = len;
		}
		(void)snprintf(what, sizeof(what), "text %zu: %02x %02x, parts %#x", len,
			       (uint8_t)text[1], (uint8_t)text[2], parts[i]);
		try(pair, i < 2 ? as_engine : as_note, what);
	}
}

/* U+0080..U+009F let get, scans and dumps over a socket stop. */
CASE(control_characters, make_pair, drop_pair)
{
	struct pair *pair = *state;
	for (unsigned c = 0; c <= 0xa0; c++) {
		const bool wide = c >= 0x80;
		const char name[] = {'a', wide ? '\xc2' : (char)c, (char)c, 'z'};
		const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
		try_text(pair, name, sizeof(name), control ? -CHI_EINVAL : CHI_OK,
			 c == 0 ? -CHI_EINVAL : CHI_OK);
	}
	verdict(pair);
}

CASE(texts_that_are_not_utf8, make_pair, drop_pair)
{
	struct pair *pair = *state;
	static const char *const bad[] = {
		"a\xff",     "a\xc2", "a\xc0\x80", "a\xed\xa0\x80", "a\xf4\x90\x80\x80",
		"a\xe2\x82", "\x80"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		char name[8] = {0};
		memcpy(name, bad[i], strlen(bad[i]));
		try_text(pair, name, strlen(bad[i]), -CHI_EINVAL, -CHI_EINVAL);
	}
	verdict(pair);
}

CASE(lengths_of_texts, make_pair, drop_pair)
{
	struct pair *pair = *state;
	char name[CHI_ENGINE_MAX + 2];
	memset(name, 'e', sizeof(name));
	try_text(pair, name, 0, -CHI_EINVAL, CHI_OK);
	try_text(pair, name, CHI_ENGINE_MAX, CHI_OK, CHI_OK);
	try_text(pair, name, CHI_ENGINE_MAX + 1, -CHI_ETOOBIG, CHI_OK);
	/* Over by the second byte of the last character. */
	memcpy(name + CHI_ENGINE_MAX - 1, "\xc3\xa9", 2);
	try_text(pair, name, CHI_ENGINE_MAX + 1, -CHI_ETOOBIG, CHI_OK);
	memcpy(name + CHI_ENGINE_MAX - 2, "\xc3\xa9", 2);
	try_text(pair, name, CHI_ENGINE_MAX, CHI_OK, CHI_OK);
	for (size_t n = CHI_NOTE_MAX - 1; n <= CHI_NOTE_MAX + 1; n++) {
		begin(pair, CHI_PUT_NOTE);
		memset(draft.note, 'n', n);
		draft.put.record.n_note = n;
		try(pair, n > CHI_NOTE_MAX ? -CHI_ETOOBIG : CHI_OK, "length of a note");
	}
	verdict(pair);
}

/* ---- Evaluations ----------------------------------------------------------------------------- */

CASE(order_of_evaluations, make_pair, drop_pair)
{
	struct pair *pair = *state;
	static const struct {
		const char *names[3];
		int wanted;
	} table[] = {
		{{"a", "b", "c"}, CHI_OK},	  {{"b", "a", "c"}, -CHI_EINVAL},
		{{"a", "c", "b"}, -CHI_EINVAL},	  {{"a", "a", "b"}, -CHI_EINVAL},
		{{"a", "ab", "b"}, CHI_OK},	  {{"ab", "a", "b"}, -CHI_EINVAL},
		{{"a", "z", "\xc3\xa9"}, CHI_OK}, {{"a", "\xc3\xa9", "z"}, -CHI_EINVAL},
	};
	for (size_t i = 0; i < CHI_COUNT(table) * 2; i++) {
		begin(pair, i % 2 == 0 ? CHI_PUT_EVALS : CHI_PUT_RESTORE);
		set_evals(3);
		for (size_t k = 0; k < 3; k++) {
			draft.evals[k].engine = table[i / 2].names[k];
			draft.evals[k].engine_len = strlen(table[i / 2].names[k]);
		}
		try(pair, table[i / 2].wanted, "order of evaluations");
	}
	for (size_t n = 0; n <= CHI_EVALS_MAX + 1; n += n == 1 ? CHI_EVALS_MAX - 1 : 1) {
		begin(pair, CHI_PUT_EVALS);
		set_evals(n);
		try(pair, n > CHI_EVALS_MAX ? -CHI_ETOOBIG : CHI_OK, "number of evaluations");
	}
	verdict(pair);
}

CASE(numbers_of_an_evaluation, make_pair, drop_pair)
{
	struct pair *pair = *state;
	static const struct {
		struct chi_eval eval;
		int wanted;
	} table[] = {
		{{.depth = 65535}, CHI_OK},
		{{.depth = 65536}, -CHI_EINVAL},
		{{.score = CHI_SCORE_MAX}, CHI_OK},
		{{.score = CHI_SCORE_MAX + 1}, -CHI_EINVAL},
		{{.score = -CHI_SCORE_MAX}, CHI_OK},
		{{.score = -CHI_SCORE_MAX - 1}, -CHI_EINVAL},
		{{.score = INT32_MIN}, -CHI_EINVAL},
		{{.is_mate = true, .score = CHI_MATE_MAX}, CHI_OK},
		{{.is_mate = true, .score = CHI_MATE_MAX + 1}, -CHI_EINVAL},
		{{.is_mate = true, .score = -CHI_MATE_MAX}, CHI_OK},
		{{.is_mate = true, .score = -CHI_MATE_MAX - 1}, -CHI_EINVAL},
		{{.is_mate = true, .score = INT32_MIN}, -CHI_EINVAL},
		{{.nodes = UINT64_MAX, .date = UINT64_MAX}, CHI_OK},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char what[32];
		begin(pair, CHI_PUT_EVALS);
		draft.evals[0] = table[i].eval;
		draft.evals[0].engine = "e";
		draft.evals[0].engine_len = 1;
		draft.put.record.n_evals = 1;
		(void)snprintf(what, sizeof(what), "evaluation %zu", i);
		try(pair, table[i].wanted, what);
	}
	verdict(pair);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

/* Moves that none is in any position, and one that is none in this. */
static const struct {
	chi_move move;
	int wanted;
} wrong_moves[] = {
	{0, -CHI_EINVAL},
	{6 << 6 | 6, -CHI_EINVAL},
	{5 << 12 | 6 << 6 | 21, -CHI_EINVAL},
	{0x8000 | 6 << 6 | 21, -CHI_EINVAL},
	{1 << 6 | 2, -CHI_EMOVE},
	{4 << 12 | 6 << 6 | 21, -CHI_EMOVE},
};

CASE(lines, make_pair, drop_pair)
{
	struct pair *pair = *state;
	static const uint32_t parts[] = {CHI_PUT_LINE, CHI_PUT_EVALS, CHI_PUT_RESTORE};
	for (unsigned p = 0; p < CHI_COUNT(parts); p++) {
		const bool pv = parts[p] == CHI_PUT_EVALS;
		const size_t max = pv ? CHI_PV_MAX : CHI_LINE_MAX;
		for (size_t n = 0; n <= max + 1; n += n == 1 ? max - 1 : 1) {
			for (size_t i = 0; i <= CHI_COUNT(wrong_moves); i++) {
				bool bad = i < CHI_COUNT(wrong_moves);
				begin(pair, parts[p]);
				set_evals(pv ? 1 : 0);
				chi_move *moves = pv ? draft.pv : draft.line;
				shuffle(moves, n);
				if (bad && (n == 0 || n > max)) {
					continue;
				}
				if (bad) {
					moves[n - 1] = wrong_moves[i].move;
				}
				draft.evals[0].n_pv = pv ? n : 0;
				draft.put.record.n_line = pv ? 0 : n;
				try(pair,
				    n > max ? -CHI_ETOOBIG
				    : bad   ? wrong_moves[i].wanted
					    : CHI_OK,
				    pv ? "variation" : "line");
			}
		}
	}
	verdict(pair);
}

CASE(moves_played, make_pair, drop_pair)
{
	struct pair *pair = *state;
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t parts[] = {CHI_PUT_MOVES, CHI_PUT_ADD, CHI_PUT_RESTORE};
		begin(pair, parts[i % 3]);
		try(pair, CHI_OK, "no moves");
		set_moves(8, i);
		try(pair, CHI_OK, "moves");
		set_moves(8, UINT64_MAX);
		try(pair, CHI_OK, "as many games as there can be");
		draft.moves[7].counts.other = 1;
		try(pair, -CHI_EINVAL, "one game more");
		set_moves(8, 1);
		draft.moves[7].move = draft.moves[6].move;
		draft.moves[7].counts.other = 0;
		try(pair, -CHI_EINVAL, "a move twice");
		draft.moves[7].move = draft.moves[0].move;
		try(pair, -CHI_EINVAL, "moves that do not ascend");
		for (size_t k = 0; k < CHI_COUNT(wrong_moves); k++) {
			set_moves(1, 1);
			draft.moves[0].move = wrong_moves[k].move;
			try(pair, wrong_moves[k].wanted, "wrong move");
		}
		begin(pair, parts[i % 3]);
		set_moves(CHI_MOVES_MAX + 1, 1);
		try(pair, -CHI_ETOOBIG, "257 moves");
	}
	verdict(pair);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static const uint32_t with_counts[] = {CHI_PUT_COUNTS, CHI_PUT_ADD, CHI_PUT_RESTORE};

CASE(plies, make_pair, drop_pair)
{
	struct pair *pair = *state;
	for (unsigned i = 0; i < CHI_COUNT(with_counts); i++) {
		begin(pair, with_counts[i]);
		set_plies(CHI_PLY_MAX + 1);
		try(pair, CHI_OK, "every ply");
		draft.put.record.counts.white--;
		try(pair, -CHI_EINVAL, "more plies than games");
		set_plies(CHI_PLY_MAX + 2);
		try(pair, -CHI_ETOOBIG, "4098 plies");
		set_plies(2);
		draft.plies[1].ply = CHI_PLY_MAX;
		try(pair, CHI_OK, "the last ply");
		draft.plies[1].ply++;
		try(pair, -CHI_EINVAL, "a ply after the last");
		draft.plies[1].ply = 0;
		try(pair, -CHI_EINVAL, "a ply twice");
		set_plies(2);
		draft.plies[0].games = 0;
		try(pair, -CHI_EINVAL, "a ply without games");
		draft.plies[0].games = UINT64_MAX;
		draft.plies[1].games = 3;
		try(pair, -CHI_EINVAL, "plies whose sum does not fit");
	}
	begin(pair, CHI_PUT_NOTE);
	set_plies(1);
	try(pair, -CHI_EINVAL, "plies without counts");
	verdict(pair);
}

CASE(counts_and_statistic, make_pair, drop_pair)
{
	struct pair *pair = *state;
	for (unsigned i = 0; i < CHI_COUNT(with_counts); i++) {
		begin(pair, with_counts[i]);
		try(pair, CHI_OK, "nothing");
		draft.put.record.counts.white = UINT64_MAX;
		try(pair, CHI_OK, "as many games as there can be");
		draft.put.record.counts.other = 1;
		try(pair, -CHI_EINVAL, "one game more");
	}
	static const uint16_t chi2[] = {0, 1, CHI_CHI2_MAX, CHI_CHI2_MAX + 1, UINT16_MAX};
	for (unsigned i = 0; i < 2 * CHI_COUNT(chi2); i++) {
		begin(pair, i % 2 == 0 ? CHI_PUT_CHI2 : CHI_PUT_RESTORE);
		draft.put.record.chi2 = chi2[i / 2];
		try(pair, chi2[i / 2] > CHI_CHI2_MAX ? -CHI_EINVAL : CHI_OK, "statistic");
	}
	verdict(pair);
}

CASE(parts_and_keys, make_pair, drop_pair)
{
	struct pair *pair = *state;
	static const struct {
		uint32_t parts;
		int wanted;
	} table[] = {
		{0, CHI_OK},
		{CHI_PUT_DROP_EVALS << 1, -CHI_EINVAL},
		{1u << 31, -CHI_EINVAL},
		{CHI_PUT_RESTORE | CHI_PUT_NOTE, -CHI_EINVAL},
		{CHI_PUT_SUBTRACT | CHI_PUT_ADD, -CHI_EINVAL},
		{CHI_PUT_ADD | CHI_PUT_COUNTS, -CHI_EINVAL},
		{CHI_PUT_ADD | CHI_PUT_MOVES, -CHI_EINVAL},
		{CHI_PUT_EVALS | CHI_PUT_DROP_EVALS, -CHI_EINVAL},
		{CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_MOVES | CHI_PUT_LINE | CHI_PUT_NOTE |
			 CHI_PUT_EVALS,
		 CHI_OK},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		begin(pair, table[i].parts);
		try(pair, table[i].wanted, "parts");
	}
	for (uint8_t len = 1; len <= CHI_KEY_MAX; len++) {
		begin(pair, 0);
		draft.put.key.len = len;
		try(pair, len == pair->start.len ? CHI_OK : -CHI_EKEY, "length of a key");
	}
	memset(draft.put.key.bytes, 0xff, CHI_KEY_MAX);
	try(pair, -CHI_EKEY, "a key that is no position");
	verdict(pair);
}

/* What a put does not name is not looked at. */
CASE(parts_not_named, make_pair, drop_pair)
{
	struct pair *pair = *state;
	for (unsigned i = 0; i < 6; i++) {
		begin(pair, CHI_PUT_COUNTS);
		struct chi_record *r = &draft.put.record;
		r->chi2 = i == 0 ? UINT16_MAX : 0;
		set_evals(i == 1 ? CHI_EVALS_MAX + 1 : 0);
		r->n_line = i == 2 ? CHI_LINE_MAX + 1 : 0;
		r->n_note = i == 3 ? CHI_NOTE_MAX + 1 : 0;
		r->n_moves = i == 4 ? 3 : 0;
		draft.put.parts = i == 5 ? CHI_PUT_NOTE : CHI_PUT_COUNTS;
		r->counts.white = i == 5 ? UINT64_MAX : 1;
		r->counts.black = i == 5 ? UINT64_MAX : 0;
		try(pair, CHI_OK, "a part not named");
	}
	verdict(pair);
}

/* Several parts at a limit together: the largest record there is among them. */
CASE(all_at_once, make_pair, drop_pair)
{
	struct pair *pair = *state;
	struct seed seed = seed_start("records");
	const size_t rounds = seed_rounds(32);
	for (size_t i = 0; i < rounds; i++) {
		uint64_t with = i == 0 ? UINT64_MAX : seed_next(&seed);
		begin(pair, CHI_PUT_RESTORE);
		struct chi_record *r = &draft.put.record;
		shuffle(draft.pv, CHI_PV_MAX);
		shuffle(draft.line, CHI_LINE_MAX);
		memset(draft.note, '\x01', CHI_NOTE_MAX);
		set_plies((with & 1) != 0 ? CHI_PLY_MAX + 1 : 0);
		set_evals((with & 2) != 0 ? CHI_EVALS_MAX : 0);
		set_moves((with & 4) != 0 ? 8 : 0, UINT64_MAX);
		r->n_line = (with & 8) != 0 ? CHI_LINE_MAX : 0;
		r->n_note = (with & 16) != 0 ? CHI_NOTE_MAX : 0;
		r->chi2 = (with & 32) != 0 ? CHI_CHI2_MAX : 0;
		for (size_t k = 0; k < r->n_evals; k++) {
			struct chi_eval *eval = &draft.evals[k];
			memset(draft.names[k] + 4, 'x', CHI_ENGINE_MAX - 4);
			eval->engine_len = (with & 64) != 0 ? CHI_ENGINE_MAX : 4;
			eval->n_pv = (with & 128) != 0 ? CHI_PV_MAX : 0;
			eval->nodes = (with & 256) != 0 ? UINT64_MAX : 0;
			eval->date = (with & 512) != 0 ? UINT64_MAX : 0;
		}
		try(pair, CHI_OK, "all at once");
	}
	verdict(pair);
}

int main(void)
{
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED names no daemon\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cases_run(NULL, NULL);
}
