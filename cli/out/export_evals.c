/* SPDX-License-Identifier: MIT */
#include "cli/out/export_evals.h"

#include <inttypes.h>
#include <string.h>

#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "formats/evals/cdb.h"

int export_moves(FILE *file, const struct chi_position *from, const chi_move *moves, size_t n,
		 bool rook)
{
	struct chi_position position = *from;
	for (size_t i = 0; i < n; i++) {
		char uci[CHI_UCI_SIZE];
		struct chi_position next;
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return -CHI_ECORRUPT;
		}
		(void)chi_uci_print(&position, moves[i], uci);
		if (rook && chi_position_is_castling(&position, moves[i])) {
			uci[2] = (char)('a' + chi_move_to(moves[i]) % 8);
		}
		fprintf(file, i > 0 ? " %s" : "%s", uci);
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	return CHI_OK;
}

/* Four fields: without the counters. */
static int print_fen(FILE *file, const struct chi_key *key, struct chi_position *position)
{
	char fen[CHI_FEN_SIZE];
	int status = chi_key_decode(key, position, NULL);
	if (status == CHI_OK) {
		size_t len = chi_fen_print(position, fen);
		(void)fwrite(fen, 1, len - strlen(" 0 1"), file);
	}
	return status;
}

static int print_variation(FILE *file, const struct chi_position *position,
			   const struct chi_eval *eval)
{
	int32_t score = position->side == CHI_WHITE ? eval->score : -eval->score;
	fprintf(file, "{\"%s\":%" PRId32 ",\"line\":\"", eval->is_mate ? "mate" : "cp", score);
	int status = export_moves(file, position, eval->pv, eval->n_pv, true);
	fputs("\"}", file);
	return status;
}

/* The evaluations of the first one's engine; *n is how many these are. */
static int print_search(FILE *file, const struct chi_position *position,
			const struct chi_eval *evals, size_t *n)
{
	const struct chi_eval *first = &evals[0];
	size_t most = *n;
	int status = CHI_OK;
	fputs("{\"pvs\":[", file);
	for (*n = 0; *n < most && evals[*n].engine_len == first->engine_len &&
		     memcmp(evals[*n].engine, first->engine, first->engine_len) == 0;
	     (*n)++) {
		fputs(*n > 0 ? "," : "", file);
		status = status == CHI_OK ? print_variation(file, position, &evals[*n]) : status;
	}
	fprintf(file, "],\"knodes\":%" PRIu64 ",\"depth\":%" PRIu32 "}", first->nodes / 1000,
		first->depth);
	return status;
}

int export_lichess(FILE *file, const struct chi_key *key, const struct chi_record *record)
{
	struct chi_position position;
	if (record->n_evals == 0) {
		return CHI_OK;
	}
	fputs("{\"fen\":\"", file);
	int status = print_fen(file, key, &position);
	fputs("\",\"evals\":[", file);
	for (size_t i = 0; status == CHI_OK && i < record->n_evals;) {
		size_t n = record->n_evals - i;
		fputs(i > 0 ? "," : "", file);
		status = print_search(file, &position, &record->evals[i], &n);
		i += n;
	}
	fputs("]}\n", file);
	return status;
}

/* Mates in plies: the side that mates plays the last one. What would be read as one stays a score.
 */
static void print_cdb_score(FILE *file, const struct chi_eval *eval)
{
	int32_t score = eval->score;
	if (eval->is_mate && score == 0) {
		fputs("mated", file);
	} else if (eval->is_mate) {
		fprintf(file, score > 0 ? "M%" PRId32 : "-M%" PRId32,
			score > 0 ? 2 * score - 1 : -2 * score);
	} else {
		score = score < CHI_CDB_CP_MAX ? score : CHI_CDB_CP_MAX;
		fprintf(file, "%" PRId32, score > -CHI_CDB_CP_MAX ? score : -CHI_CDB_CP_MAX);
	}
}

int export_cdb(FILE *file, const struct chi_key *key, const struct chi_record *record)
{
	struct chi_position position;
	const struct chi_eval *eval = chi_evals_deepest(record->evals, record->n_evals);
	if (eval == NULL) {
		return CHI_OK;
	}
	int status = print_fen(file, key, &position);
	if (status != CHI_OK) {
		return status;
	}
	fputs(" ; " CHI_CDB_MARK " ", file);
	print_cdb_score(file, eval);
	if (eval->n_pv > 0) {
		fputs("; PV: ", file);
		status = export_moves(file, &position, eval->pv, eval->n_pv, false);
	}
	fputs(";\n", file);
	return status;
}
