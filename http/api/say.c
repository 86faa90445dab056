/* SPDX-License-Identifier: MIT */
/* Values that several answers have, said in one way. */
#include <stdio.h>
#include <string.h>

#include "http/api/api.h"

uint64_t say_games(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

static void say_count(struct writer *out, const char *name, uint64_t count, bool known)
{
	if (known) {
		out_number(out, name, count);
	} else {
		out_null(out, name);
	}
}

void say_counts(struct writer *out, const struct chi_counts *counts, bool known)
{
	say_count(out, "games", say_games(counts), known);
	say_count(out, "white", counts->white, known);
	say_count(out, "draws", counts->draws, known);
	say_count(out, "black", counts->black, known);
	say_count(out, "other", counts->other, known);
}

void say_chi2(struct writer *out, const char *name, uint16_t chi2)
{
	if (chi2 == CHI_CHI2_UNKNOWN) {
		out_null(out, name);
	} else {
		out_real(out, name, chi2 / 100.0, 2);
	}
}

void say_score(struct writer *out, const char *name, const struct chi_counts *counts, bool black)
{
	double games = (double)say_games(counts);
	double wins = (double)(black ? counts->black : counts->white);
	if (games > 0) {
		out_real(out, name, 100 * (wins + (double)counts->draws / 2) / games, 4);
	} else {
		out_null(out, name);
	}
}

void say_eval(struct writer *out, const char *name, const struct chi_row *row)
{
	if (!row->has_eval) {
		out_null(out, name);
		return;
	}
	out_object(out, name);
	out_number(out, "depth", row->depth);
	out_integer(out, row->is_mate ? "mate" : "cp", row->score);
	out_end(out, '}');
}

void say_fen(struct writer *out, const char *name, const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE];
	bool fine = key->len > 0 && chi_key_to_fen(key, fen, NULL) == CHI_OK;
	out_text(out, name, fine ? fen : NULL);
}

void say_opening(struct writer *out, const char *name, const char *eco, const char *opening)
{
	if (opening == NULL) {
		out_null(out, name);
		return;
	}
	out_object(out, name);
	out_text(out, "eco", eco);
	out_text(out, "name", opening);
	out_end(out, '}');
}

void say_position_row(struct writer *out, const struct chi_row *row)
{
	out_object(out, NULL);
	say_fen(out, "fen", &row->key);
	say_chi2(out, "chi2", row->chi2);
	out_number(out, "games", say_games(&row->counts));
	out_number(out, "white", row->counts.white);
	out_number(out, "draws", row->counts.draws);
	out_number(out, "black", row->counts.black);
	out_end(out, '}');
}

int say_uci(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE])
{
	return chi_key_uci(key, move, out);
}

int say_move(struct call *call, const struct chi_key *key, chi_move move)
{
	char san[CHI_MOVE_TEXT_SIZE];
	char uci[CHI_MOVE_TEXT_SIZE];
	int status = chi_key_san(key, move, san);
	status = status == CHI_OK ? say_uci(key, move, uci) : status;
	if (status == CHI_OK) {
		out_text(&call->out, "san", san);
		out_text(&call->out, "uci", uci);
	}
	return status;
}

static void say_cell(struct writer *out, const char *name, const struct chi_cell *value)
{
	if (value->kind == VALUE_TEXT) {
		out_text_n(out, name, value->text, value->len);
	} else if (value->kind == VALUE_NUMBER) {
		char text[sizeof(value->own) + 1];
		(void)snprintf(text, sizeof(text), "%.*s", (int)value->len, value->text);
		out_json(out, name, text);
	} else if (value->kind == VALUE_REAL) {
		out_real(out, name, value->real, 4);
	} else {
		out_null(out, name);
	}
}

void say_columns(struct writer *out, const struct chi_row_column *columns, size_t n,
		 const void *row)
{
	for (size_t i = 0; i < n; i++) {
		struct chi_cell value;
		chi_cell_fill(&columns[i], row, &value);
		say_cell(out, columns[i].name, &value);
	}
}

bool is_black_to_move(const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE] = "";
	const char *blank = chi_key_to_fen(key, fen, NULL) == CHI_OK ? strchr(fen, ' ') : NULL;
	return blank != NULL && blank[1] == 'b';
}
