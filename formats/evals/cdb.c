/* SPDX-License-Identifier: MIT */
/* The score and its variation; the position is the EPD reader's. */
#include "formats/evals/cdb.h"

#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/checked.h"
#include "formats/epd.h"

#define MATE_BASE 30000 /* less the plies it takes */

struct span {
	const char *at;
	size_t len;
};

static struct span trimmed(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t')) {
		at++;
	}
	while (end > at && (end[-1] == ' ' || end[-1] == '\t')) {
		end--;
	}
	return (struct span){at, (size_t)(end - at)};
}

/* What follows `name` up to a semicolon; at NULL: it is not there. */
static struct span cdb_value(const char *name, const char *at, const char *end)
{
	const char *found = memmem(at, (size_t)(end - at), name, strlen(name));
	if (found == NULL) {
		return (struct span){NULL, 0};
	}
	found += strlen(name);
	const char *stop = memchr(found, ';', (size_t)(end - found));
	return trimmed(found, stop != NULL ? stop : end);
}

/* A mate in moves: the side that mates plays one ply more than the other. */
static void set_mate(struct chi_eval *eval, int64_t plies, bool loses)
{
	int32_t moves = (int32_t)((plies + 1) / 2);
	eval->is_mate = true;
	eval->score = loses ? -moves : moves;
}

/* M11 or -M10. False: it is no such text. */
static bool read_mate(struct span text, struct chi_eval *eval)
{
	int64_t plies = 0;
	bool loses = text.len > 0 && text.at[0] == '-';
	if (text.len < (loses ? 3 : 2) || text.at[loses] != 'M') {
		return false;
	}
	text.at += loses + 1;
	text.len -= loses + 1;
	if (text.at[0] < '0' || text.at[0] > '9' ||
	    chi_num_i64(text.at, text.len, 2 * CHI_MATE_MAX, &plies) != CHI_OK) {
		return false;
	}
	set_mate(eval, plies, loses);
	return true;
}

static int read_cdb_score(struct span value, struct chi_eval *eval, struct chi_fault *fault)
{
	int64_t score = 0;
	const char *comma = memchr(value.at, ',', value.len);
	struct span text = trimmed(value.at, comma != NULL ? comma : value.at + value.len);
	if (text.len == 5 && memcmp(text.at, "mated", 5) == 0) {
		eval->is_mate = true;
		return CHI_OK;
	}
	if (read_mate(text, eval)) {
		return CHI_OK;
	}
	if (chi_num_i64(text.at, text.len, MATE_BASE, &score) != CHI_OK) {
		return chi_fail(fault, -CHI_ESYNTAX, CHI_CDB_MARK " '%.*s' is no score",
				(int)(text.len < 40 ? text.len : 40), text.at);
	}
	if (score > CHI_CDB_CP_MAX || score < -CHI_CDB_CP_MAX) {
		set_mate(eval, MATE_BASE - (score < 0 ? -score : score), score < 0);
	} else {
		eval->score = (int32_t)score;
	}
	return CHI_OK;
}

static int read_cdb_moves(const struct chi_key *key, struct span text, struct chi_arena *arena,
			  struct chi_eval *eval, struct chi_fault *fault)
{
	struct chi_position position;
	struct chi_fault inner = {.text = ""};
	/* A move takes two bytes and a space at least. */
	size_t room = text.len / 2 + 1 < CHI_PV_MAX ? text.len / 2 + 1 : CHI_PV_MAX;
	chi_move *moves = chi_arena_array(arena, room, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = chi_key_decode(key, &position, fault);
	if (status != CHI_OK) {
		return status;
	}
	status = chi_line_parse(&position, text.at, text.len, moves, room, &eval->n_pv, &inner);
	eval->pv = moves;
	return status == CHI_OK ? CHI_OK : chi_fail(fault, status, "PV: %s", inner.text);
}

int chi_cdb_read(const char *line, size_t len, const char *engine, struct chi_arena *arena,
		 struct chi_put_entry *put, struct chi_fault *fault)
{
	const char *end = line + len;
	const char *mark = memmem(line, len, CHI_CDB_MARK, strlen(CHI_CDB_MARK));
	size_t before = mark != NULL ? (size_t)(mark - line) : len;
	int status = chi_epd_read(line, before, engine, arena, put, fault);
	if (status != CHI_OK) {
		return status;
	}
	if (mark == NULL) {
		return chi_fail(fault, -CHI_ESYNTAX, "'" CHI_CDB_MARK "' is missing");
	}
	struct chi_eval *eval = chi_arena_array(arena, 1, sizeof(*eval));
	if (eval == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*eval = (struct chi_eval){.engine = engine, .engine_len = strlen(engine)};
	status = read_cdb_score(cdb_value(CHI_CDB_MARK, mark, end), eval, fault);
	struct span moves = cdb_value("; PV:", mark, end);
	if (status == CHI_OK && moves.at != NULL) {
		status = read_cdb_moves(&put->key, moves, arena, eval, fault);
	}
	put->parts |= CHI_PUT_EVALS;
	put->record.evals = eval;
	put->record.n_evals = 1;
	return status == CHI_OK ? chi_put_checked(put, fault) : status;
}
