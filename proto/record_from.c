/* SPDX-License-Identifier: MIT */
/*
 * Records from the wire, read by their rows and then checked (base/record.h), so that the rest may
 * rely on them; whether moves are legal only the rooms that know chess can tell.
 */
#include "proto/record.h"

#include "base/attr.h"
#include "base/record.h"
#include "proto/operations.h"

#define MOVE   struct chi_move_stat
#define PLY    struct chi_ply_stat
#define EVAL   struct chi_eval
#define RECORD struct chi_record

#define PIECES_MAX 32
#define MASK_BYTES 8

const char *chi_key_from(const uint8_t *bytes, size_t len, struct chi_key *out)
{
	*out = (struct chi_key){0};
	if (len < CHI_KEY_MIN || len > CHI_KEY_MAX) {
		return "a key has 9 to 24 bytes";
	}
	/* The number of bits is the same in any byte order. */
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

int chi_text_read(struct chi_unpacker *u, const struct chi_field *field, struct chi_text *out)
{
	out->len = field->len;
	out->bytes = chi_arena_text(u->arena, field->bytes, field->len);
	return out->bytes != NULL ? CHI_OK : chi_flaw_memory(u->flaw, u->arena, field->len + 1);
}

/* ---- Rows -------------------------------------------------------------------------------- */

static const struct chi_member move_stat[] = {
	CHI_M_UP_TO(1, MOVE, move, UINT16_MAX, "not a move"),
	CHI_M_NESTED(2, MOVE, counts, CHI_IF_SET, &chi_counts_message),
};
static CHI_TABLE(move_stat_message, move_stat, move_stat, NULL);

static const struct chi_member ply_stat[] = {
	CHI_M_UP_TO(1, PLY, ply, CHI_PLY_MAX, "over 4096"),
	CHI_M_NUMBER(2, PLY, games),
};
static CHI_TABLE(ply_stat_message, ply_stat, ply_stat, NULL);

/* Which of the two scores is there says what it is, so that one of 0 is sent, too. */
#define SCORE(no, when, top, why)                                                                  \
	{                                                                                          \
		CHI_PLACE(no, CHI_SIGNED, EVAL, score),                                            \
			.presence = (when), .other = offsetof(EVAL, is_mate), .min = -(top),       \
			.max = (top), .reason = (why)                                              \
	}

static const struct chi_member eval[] = {
	CHI_M_LIMITED_BYTES(1, EVAL, engine, engine_len, CHI_ENGINE_MAX),
	CHI_M_UP_TO(2, EVAL, depth, CHI_DEPTH_MAX, "over 65535"),
	SCORE(3, CHI_UNLESS_FLAG, CHI_SCORE_MAX, "beyond 1000000"),
	SCORE(4, CHI_IF_FLAG, CHI_MATE_MAX, "beyond 10000"),
	CHI_M_NUMBER(5, EVAL, nodes),
	CHI_M_NUMBER(6, EVAL, date),
	CHI_M_MOVES(7, EVAL, pv, n_pv, CHI_PV_MAX, "more than 256 moves"),
	CHI_M_UP_TO(8, EVAL, rank, CHI_RANK_MAX, "over 63"),
};
static CHI_TABLE(eval_message, eval, eval, NULL);

static const struct chi_member record[] = {
	CHI_M_UP_TO(1, RECORD, chi2, CHI_CHI2_MAX, "over 25599"),
	CHI_M_NESTED(2, RECORD, counts, CHI_IF_SET, &chi_counts_message),
	CHI_M_ROWS(3, RECORD, moves, n_moves, &move_stat_message, CHI_MOVES_MAX),
	CHI_M_ROWS_OF(4, RECORD, evals, n_evals, &eval_message, CHI_EVALS_MAX,
		      "more than 64 evaluations"),
	CHI_M_MOVES(5, RECORD, line, n_line, CHI_LINE_MAX, "more than 1024 moves"),
	CHI_M_LIMITED_BYTES(6, RECORD, note, n_note, CHI_NOTE_MAX),
	CHI_M_ROWS(7, RECORD, plies, n_plies, &ply_stat_message, CHI_PLY_MAX + 1),
};

/* A stored position of which nothing is known has no record at all: not found and empty differ. */
static size_t record_len(const void *from, size_t *noted)
{
	(void)noted;
	return chi_record_len(from);
}

static uint8_t *put_record(uint8_t *at, const void *from, size_t noted)
{
	(void)noted;
	return chi_put_record(at, from);
}

static int check_record(struct chi_unpacker *u, void *out)
{
	struct chi_record_flaw flaw;
	int rc = chi_record_check(out, &flaw);
	return rc < 0 ? chi_flaw_set(u->flaw, rc, flaw.reason, "%s", flaw.where) : CHI_OK;
}

const struct chi_message chi_record_message = {
	.descriptor = &chistore__v1__record__descriptor,
	.members = record,
	.n = CHI_COUNT(record),
	.check = check_record,
	.len = record_len,
	.put = put_record,
};

CHI_TABLE(chi_named_record_message, record, record, NULL);
