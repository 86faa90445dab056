/* SPDX-License-Identifier: MIT */
/*
 * Records from the wire. Everything types.h limits is checked here, so that whoever gets the
 * structs may rely on it; whether moves are legal only the rooms that know chess can tell.
 */
#include "proto/record.h"

#include <string.h>

#include "base/num.h"

#define MOVE_MAX   0x4fffu /* bit 15 is 0 and the promotion at most a queen (4) */
#define DEPTH_MAX  65535
#define PIECES_MAX 32
#define MASK_BYTES 8

struct chi_counts chi_counts_from(const PB(Counts) * from)
{
	if (from == NULL) {
		return (struct chi_counts){0};
	}
	return (struct chi_counts){
		.white = from->white,
		.draws = from->draws,
		.black = from->black,
		.other = from->other,
	};
}

const char *chi_key_from(const uint8_t *bytes, size_t len, struct chi_key *out)
{
	*out = (struct chi_key){0};
	if (len < CHI_KEY_MIN || len > CHI_KEY_MAX) {
		return "a key has 9 to 24 bytes";
	}
	uint64_t mask = 0;
	memcpy(&mask, bytes, MASK_BYTES);
	size_t pieces = (size_t)__builtin_popcountll(mask);
	if (pieces == 0 || pieces > PIECES_MAX || len != MASK_BYTES + (pieces + 1) / 2) {
		return "the key's length does not fit its mask";
	}
	if (pieces % 2 == 1 && (bytes[len - 1] & 0x0f) != 0) {
		return "the key's last half byte is not 0";
	}
	out->len = (uint8_t)len;
	memcpy(out->bytes, bytes, len);
	return NULL;
}

int chi_cursor_from(struct chi_unpacker *u, const PB(Cursor) * from, struct chi_cursor *out)
{
	if (from->chi2 > CHI_CHI2_MAX) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "over 25599", "chi2");
	}
	const char *reason = chi_key_from(from->key.data, from->key.len, &out->key);
	if (reason != NULL) {
		return chi_flaw(u->flaw, -CHI_EKEY, reason, "key");
	}
	out->set = true;
	out->chi2 = (uint16_t)from->chi2;
	return CHI_OK;
}

static bool is_move(uint32_t move)
{
	return move != 0 && move <= MOVE_MAX;
}

/* Numbers to moves, in the arena; NULL for none. `name` is the field's. */
static int moves_from(struct chi_unpacker *u, const uint32_t *from, size_t n, const char *name,
		      const chi_move **out, size_t *n_out)
{
	*out = NULL;
	*n_out = n;
	if (n == 0) {
		return CHI_OK;
	}
	chi_move *moves = chi_arena_alloc(u->arena, n * sizeof(*moves));
	if (moves == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*moves));
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_move(from[i])) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "not a move", "%s[%zu]", name, i);
		}
		moves[i] = (chi_move)from[i];
	}
	*out = moves;
	return CHI_OK;
}

static int move_stats_from(struct chi_unpacker *u, const PB(Record) * from, struct chi_record *out)
{
	size_t n = from->n_moves;
	if (n == 0) {
		return CHI_OK;
	}
	struct chi_move_stat *stats = chi_arena_array(u->arena, n, sizeof(*stats));
	if (stats == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*stats));
	}
	for (size_t i = 0; i < n; i++) {
		const PB(MoveStat) *stat = from->moves[i];
		if (!is_move(stat->move)) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "not a move", "moves[%zu].move", i);
		}
		if (i > 0 && stat->move <= stats[i - 1].move) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "moves do not ascend",
					"moves[%zu].move", i);
		}
		stats[i].move = (chi_move)stat->move;
		stats[i].counts = chi_counts_from(stat->counts);
	}
	out->moves = stats;
	out->n_moves = n;
	return CHI_OK;
}

/* Engines' names end up in tables and logs, one a line. */
static bool has_controls(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0;
		if (c < 0x20 || c == 0x7f || c1) {
			return true;
		}
	}
	return false;
}

static int score_from(struct chi_unpacker *u, const PB(Eval) * from, struct chi_eval *out)
{
	switch (from->score_case) {
	case CHISTORE__V1__EVAL__SCORE_CENTIPAWNS:
		if (from->centipawns < -CHI_SCORE_MAX || from->centipawns > CHI_SCORE_MAX) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "beyond 1000000", "centipawns");
		}
		out->score = from->centipawns;
		return CHI_OK;
	case CHISTORE__V1__EVAL__SCORE_MATE:
		if (from->mate < -CHI_MATE_MAX || from->mate > CHI_MATE_MAX) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "beyond 10000", "mate");
		}
		out->is_mate = true;
		out->score = from->mate;
		return CHI_OK;
	default:
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "score");
	}
}

static int eval_from(struct chi_unpacker *u, const PB(Eval) * from, struct chi_eval *out)
{
	out->engine = from->engine;
	out->engine_len = strlen(from->engine);
	if (out->engine_len == 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "engine");
	}
	if (has_controls(out->engine, out->engine_len)) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "control character", "engine");
	}
	if (from->depth > DEPTH_MAX) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "over 65535", "depth");
	}
	out->depth = from->depth;
	out->nodes = from->nodes;
	out->date = from->date;
	int rc = score_from(u, from, out);
	if (rc != CHI_OK) {
		return rc;
	}
	return moves_from(u, from->pv, from->n_pv, "pv", &out->pv, &out->n_pv);
}

static int evals_from(struct chi_unpacker *u, const PB(Record) * from, struct chi_record *out)
{
	size_t n = from->n_evals;
	if (n == 0) {
		return CHI_OK;
	}
	struct chi_eval *evals = chi_arena_array(u->arena, n, sizeof(*evals));
	if (evals == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, n * sizeof(*evals));
	}
	for (size_t i = 0; i < n; i++) {
		int rc = eval_from(u, from->evals[i], &evals[i]);
		if (rc != CHI_OK) {
			chi_flaw_under(u->flaw, "evals[%zu]", i);
			return rc;
		}
		/* NUL-terminated and without NUL inside: strcmp is the bytewise order. */
		if (i > 0 && strcmp(evals[i - 1].engine, evals[i].engine) >= 0) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "engines do not ascend",
					"evals[%zu].engine", i);
		}
	}
	out->evals = evals;
	out->n_evals = n;
	return CHI_OK;
}

int chi_record_from(struct chi_unpacker *u, const PB(Record) * from, struct chi_record *out)
{
	*out = (struct chi_record){.chi2 = CHI_CHI2_UNKNOWN};
	if (from == NULL) {
		return CHI_OK;
	}
	if (from->chi2 > CHI_CHI2_MAX) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "over 25599", "chi2");
	}
	out->chi2 = (uint16_t)from->chi2;
	out->counts = chi_counts_from(from->counts);
	out->n_note = strlen(from->note);
	out->note = out->n_note > 0 ? from->note : NULL;
	int rc = move_stats_from(u, from, out);
	if (rc == CHI_OK) {
		rc = evals_from(u, from, out);
	}
	if (rc == CHI_OK) {
		rc = moves_from(u, from->line, from->n_line, "line", &out->line, &out->n_line);
	}
	return rc;
}
