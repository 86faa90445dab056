/* SPDX-License-Identifier: MIT */
/*
 * Writing records. 97 of 100 positions of a game collection were seen in one game with one move:
 * their record is a head byte, the move and the checksum, seven bytes in all. Whatever the
 * decoder would refuse is refused here, so that nothing unreadable is ever stored.
 */
#include "store/record/codec.h"

#include "base/wire.h"
#include "store/record/list.h"
#include "store/record/record_priv.h"

/* Small numbers are the rule: one game costs a byte, and no byte is spent on a 0 or a 1. */
static void write_counts(struct chi_writer *w, struct chi_counts counts)
{
	unsigned mask = 0;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t value = *chi_counts_of(&counts, i);
		mask |= (value != 0 ? 1u : 0) << i | (value == 1 ? 16u : 0) << i;
	}
	chi_write_u8(w, (uint8_t)mask);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t value = *chi_counts_of(&counts, i);
		if (value > 1) {
			chi_write_varint(w, value);
		}
	}
}

static void write_moves(struct chi_writer *w, const chi_move *moves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		chi_write_le(w, moves[i], 2);
	}
}

static uint32_t magnitude(int32_t score)
{
	return score < 0 ? -(uint32_t)score : (uint32_t)score;
}

/* How many bytes write_eval takes: a section's length precedes its bytes. */
static size_t eval_size(const struct chi_eval *eval)
{
	size_t size = chi_varint_size(eval->engine_len) + eval->engine_len;
	size += chi_varint_size(eval->depth) + 1 + chi_varint_size(magnitude(eval->score));
	size += eval->rank != 0 ? 1 : 0;
	size += eval->nodes != 0 ? chi_varint_size(eval->nodes) : 0;
	size += eval->date != 0 ? chi_varint_size(eval->date) : 0;
	size += eval->n_pv != 0 ? chi_varint_size(eval->n_pv) + 2 * eval->n_pv : 0;
	return size;
}

/* What is 0 by default is announced by a flag and takes no byte otherwise. */
static void write_eval(struct chi_writer *w, const struct chi_eval *eval)
{
	unsigned flags = (eval->is_mate ? EVAL_MATE : 0u) | (eval->score < 0 ? EVAL_NEGATIVE : 0u) |
			 (eval->nodes != 0 ? EVAL_NODES : 0u) | (eval->date != 0 ? EVAL_DATE : 0u) |
			 (eval->n_pv != 0 ? EVAL_PV : 0u) | (eval->rank != 0 ? EVAL_RANK : 0u);
	chi_write_varint(w, eval->engine_len);
	chi_write_bytes(w, eval->engine, eval->engine_len);
	chi_write_varint(w, eval->depth);
	chi_write_u8(w, (uint8_t)flags);
	chi_write_varint(w, magnitude(eval->score));
	if (eval->rank != 0) {
		chi_write_u8(w, eval->rank);
	}
	if (eval->nodes != 0) {
		chi_write_varint(w, eval->nodes);
	}
	if (eval->date != 0) {
		chi_write_varint(w, eval->date);
	}
	if (eval->n_pv != 0) {
		chi_write_varint(w, eval->n_pv);
		write_moves(w, eval->pv, eval->n_pv);
	}
}

/* Of one game, the ply alone. Most positions of many games are reached at one ply by all of them,
 * which takes a number too; else a list, each ply as the distance from the one before. */
static void write_plies(struct chi_writer *w, const struct chi_record *record, uint64_t total,
			bool one)
{
	const struct chi_ply_stat *plies = record->plies;
	if (one) {
		chi_write_varint(w, plies[0].ply);
		return;
	}
	if (record->n_plies == 1 && plies[0].games == total) {
		chi_write_varint(w, (uint64_t)plies[0].ply << 1 | PLIES_ALL);
		return;
	}
	chi_write_varint(w, (uint64_t)record->n_plies << 1);
	unsigned last = 0;
	for (size_t i = 0; i < record->n_plies; i++) {
		chi_write_varint(w, plies[i].ply - last);
		chi_write_varint(w, plies[i].games);
		last = plies[i].ply;
	}
}

/* The moves played; if they are one game's, its counts are in the head byte. */
static void write_played(struct chi_writer *w, const struct chi_record *record, bool one)
{
	if (one && record->n_moves > 0) {
		chi_write_le(w, record->moves[0].move, 2);
		return;
	}
	if (record->n_moves > 0) {
		chi_write_varint(w, record->n_moves);
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		chi_write_le(w, record->moves[i].move, 2);
		write_counts(w, record->moves[i].counts);
	}
}

/* The list of games, or the size of one in the postings tree. */
static void write_list(struct chi_writer *w, const struct chi_record *record,
		       const struct chi_record_rest *rest)
{
	chi_move moves[CHI_MOVES_MAX];
	if (rest->listed > 0) {
		chi_write_varint(w, rest->listed);
		chi_write_varint(w, rest->listed_games);
		return;
	}
	if (rest->n_games == 0) {
		return;
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		moves[i] = record->moves[i].move;
	}
	chi_write_varint(w, rest->n_games);
	(void)chi_postings_write(w, rest->games, rest->n_games, 0, moves, record->n_moves);
}

/* The head byte, then the statistic, the counts, the plies and the moves played. */
static void write_head(struct chi_writer *w, const struct chi_record *record, bool sections,
		       const struct chi_record_rest *rest)
{
	uint64_t total = 0;
	(void)chi_counts_total(&record->counts, &total);
	bool single = is_single(&record->counts, record->moves, record->n_moves);
	bool one = total == 1 && (record->n_moves == 0 || single);
	unsigned form = total == 0 ? COUNTS_NONE : COUNTS_FULL;
	unsigned result = 0;
	if (one) {
		form = rest->n_games > 0 ? COUNTS_NUMBERED : COUNTS_ONE;
		result = record->counts.white	? 0
			 : record->counts.draws ? 1
			 : record->counts.black ? 2
						: 3;
	}
	if (form == COUNTS_FULL) {
		result = rest->listed > 0    ? HEAD_LIST_APART >> 3
			 : rest->n_games > 0 ? HEAD_LIST_HERE >> 3
					     : 0;
	}
	unsigned head = form << 1 | result << 3 | (record->chi2 != CHI_CHI2_UNKNOWN) |
			(record->n_plies > 0 ? HEAD_PLIES : 0u) |
			(record->n_moves > 0 ? HEAD_MOVES : 0u) | (sections ? HEAD_SECTIONS : 0u);
	chi_write_u8(w, (uint8_t)head);
	if (record->chi2 != CHI_CHI2_UNKNOWN) {
		uint8_t bytes[2];
		chi_chi2_bytes(record->chi2, bytes);
		chi_write_bytes(w, bytes, 2);
	}
	if (form == COUNTS_FULL) {
		write_counts(w, record->counts);
	} else if (form == COUNTS_NUMBERED) {
		chi_write_varint(w, rest->games[0].game);
	}
	if (record->n_plies > 0) {
		write_plies(w, record, total, one);
	}
	write_played(w, record, one);
	if (form == COUNTS_FULL) {
		write_list(w, record, rest);
	}
}

/* Ascending tags; what a later version wrote keeps its place after ours. */
static void write_sections(struct chi_writer *w, const struct chi_record *record,
			   const struct chi_record_rest *rest)
{
	if (record->n_line > 0) {
		chi_write_varint(w, SECTION_LINE);
		chi_write_varint(w, 2 * record->n_line);
		write_moves(w, record->line, record->n_line);
	}
	if (record->n_evals > 0) {
		size_t size = 0;
		for (size_t i = 0; i < record->n_evals; i++) {
			size += eval_size(&record->evals[i]);
		}
		chi_write_varint(w, SECTION_EVALS);
		chi_write_varint(w, size);
		for (size_t i = 0; i < record->n_evals; i++) {
			write_eval(w, &record->evals[i]);
		}
	}
	if (record->n_note > 0) {
		chi_write_varint(w, SECTION_NOTE);
		chi_write_varint(w, record->n_note);
		chi_write_bytes(w, record->note, record->n_note);
	}
	chi_write_bytes(w, rest->bytes, rest->len);
}

/* The moves of a list are played, its games are counted, and it is where it must be. */
static bool list_ok(const struct chi_record *record, const struct chi_record_rest *rest)
{
	uint64_t total;
	size_t at = 0;
	if (rest->n_games == 0 && rest->listed == 0) {
		return true;
	}
	if (!chi_counts_total(&record->counts, &total) || rest->listed_games > total) {
		return false;
	}
	if (total == 1 &&
	    (record->n_moves == 0 || is_single(&record->counts, record->moves, record->n_moves))) {
		chi_move move = record->n_moves > 0 ? record->moves[0].move : 0;
		return rest->n_games == 1 && rest->listed == 0 && rest->games[0].game != 0 &&
		       rest->games[0].move == move;
	}
	if (rest->listed > 0) {
		return rest->n_games == 0 && rest->listed > CHI_LIST_HERE_MAX &&
		       rest->listed_games > 0 && rest->listed_games <= rest->listed;
	}
	bool ok = rest->n_games <= CHI_LIST_HERE_MAX &&
		  chi_postings_ascends(rest->games, rest->n_games) &&
		  chi_postings_games(rest->games, rest->n_games) <= total;
	for (size_t i = 0; ok && i < rest->n_games; i++) {
		chi_move move = rest->games[i].move;
		for (at = 0; at < record->n_moves && record->moves[at].move != move;) {
			at++;
		}
		ok = move == 0 || at < record->n_moves;
	}
	return ok;
}

int chi_record_encode(const struct chi_record *record, const struct chi_record_rest *rest,
		      uint8_t *out, size_t size, size_t *len)
{
	int rc = chi_record_check(record, NULL);
	if (rc < 0) {
		return rc;
	}
	const struct chi_record_rest nothing = {0};
	rest = rest != NULL ? rest : &nothing;
	if (!list_ok(record, rest)) {
		return -CHI_EINVAL;
	}
	bool sections =
		record->n_line > 0 || record->n_evals > 0 || record->n_note > 0 || rest->len > 0;
	size_t room = size < CHI_RECORD_BYTES_MAX ? size : CHI_RECORD_BYTES_MAX;
	struct chi_writer w = chi_writer_of(out, room);
	write_head(&w, record, sections, rest);
	write_sections(&w, record, rest);
	if (w.bad) {
		return -CHI_ETOOBIG;
	}
	*len = (size_t)(w.at - out);
	return CHI_OK;
}
