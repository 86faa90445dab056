/* SPDX-License-Identifier: MIT */
/* Records to the wire. Field numbers as in chistore.proto. */
#include "proto/wire/fields.h"
#include "proto/record.h"

/* Counts of 0 are left out, so all zeroes are no bytes. */
size_t chi_counts_len(const struct chi_counts *counts)
{
	return chi_uint_len(1, counts->white) + chi_uint_len(2, counts->draws) +
	       chi_uint_len(3, counts->black) + chi_uint_len(4, counts->other);
}

uint8_t *chi_put_counts(uint8_t *at, const struct chi_counts *counts)
{
	at = chi_put_uint(at, 1, counts->white);
	at = chi_put_uint(at, 2, counts->draws);
	at = chi_put_uint(at, 3, counts->black);
	return chi_put_uint(at, 4, counts->other);
}

/* A sub-message of counts, left out if all are 0. */
static size_t counts_field_len(uint32_t field, const struct chi_counts *counts)
{
	return chi_bytes_len(field, chi_counts_len(counts));
}

static uint8_t *put_counts_field(uint8_t *at, uint32_t field, const struct chi_counts *counts)
{
	size_t len = chi_counts_len(counts);
	return len == 0 ? at : chi_put_counts(chi_put_head(at, field, len), counts);
}

/* Packed numbers, without tag and length. */
static size_t moves_len(const chi_move *moves, size_t n)
{
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		len += chi_varint_size(moves[i]);
	}
	return len;
}

static uint8_t *put_moves(uint8_t *at, uint32_t field, const chi_move *moves, size_t n)
{
	if (n == 0) {
		return at;
	}
	at = chi_put_head(at, field, moves_len(moves, n));
	for (size_t i = 0; i < n; i++) {
		at = chi_put_varint(at, moves[i]);
	}
	return at;
}

static size_t move_stat_len(const struct chi_move_stat *stat)
{
	return chi_uint_len(1, stat->move) + counts_field_len(2, &stat->counts);
}

static uint32_t score_field(const struct chi_eval *eval)
{
	return eval->is_mate ? 4 : 3;
}

/* The score is always there (see put_eval); everything else is left out where it is 0. */
static size_t eval_len(const struct chi_eval *eval)
{
	return chi_bytes_len(1, eval->engine_len) + chi_uint_len(2, eval->depth) +
	       chi_number_len(score_field(eval), chi_zigzag(eval->score)) +
	       chi_uint_len(5, eval->nodes) + chi_uint_len(6, eval->date) +
	       chi_bytes_len(7, moves_len(eval->pv, eval->n_pv)) + chi_uint_len(8, eval->rank);
}

static uint8_t *put_eval(uint8_t *at, const struct chi_eval *eval)
{
	at = chi_put_bytes(at, 1, eval->engine, eval->engine_len);
	at = chi_put_uint(at, 2, eval->depth);
	/* Of a oneof the member says what it is, so that a score of 0 is sent too. */
	at = chi_put_number(at, score_field(eval), chi_zigzag(eval->score));
	at = chi_put_uint(at, 5, eval->nodes);
	at = chi_put_uint(at, 6, eval->date);
	at = put_moves(at, 7, eval->pv, eval->n_pv);
	return chi_put_uint(at, 8, eval->rank);
}

static size_t ply_stat_len(const struct chi_ply_stat *stat)
{
	return chi_uint_len(1, stat->ply) + chi_uint_len(2, stat->games);
}

/* Mirrors chi_put_record: the caller has reserved exactly this. */
size_t chi_record_len(const struct chi_record *record)
{
	size_t len = chi_uint_len(1, record->chi2) + counts_field_len(2, &record->counts);
	for (size_t i = 0; i < record->n_moves; i++) {
		len += chi_nested_len(3, move_stat_len(&record->moves[i]));
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		len += chi_nested_len(4, eval_len(&record->evals[i]));
	}
	for (size_t i = 0; i < record->n_plies; i++) {
		len += chi_nested_len(7, ply_stat_len(&record->plies[i]));
	}
	return len + chi_bytes_len(5, moves_len(record->line, record->n_line)) +
	       chi_bytes_len(6, record->n_note);
}

uint8_t *chi_put_record(uint8_t *at, const struct chi_record *record)
{
	at = chi_put_uint(at, 1, record->chi2);
	at = put_counts_field(at, 2, &record->counts);
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_move_stat *stat = &record->moves[i];
		at = chi_put_head(at, 3, move_stat_len(stat));
		at = put_counts_field(chi_put_uint(at, 1, stat->move), 2, &stat->counts);
	}
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		at = put_eval(chi_put_head(at, 4, eval_len(eval)), eval);
	}
	at = put_moves(at, 5, record->line, record->n_line);
	at = chi_put_bytes(at, 6, record->note, record->n_note);
	for (size_t i = 0; i < record->n_plies; i++) {
		const struct chi_ply_stat *stat = &record->plies[i];
		at = chi_put_head(at, 7, ply_stat_len(stat));
		at = chi_put_uint(at, 1, stat->ply);
		at = chi_put_uint(at, 2, stat->games);
	}
	return at;
}
