/* SPDX-License-Identifier: MIT */
/*
 * Records from the wire, read and then checked (base/record.h), so that the rest may rely on them;
 * whether moves are legal only the rooms that know chess can tell. A number too large for its field
 * becomes one that the check refuses.
 */
#include "proto/record.h"

#include <string.h>

#include "base/attr.h"
#include "base/record.h"
#include "base/wire.h"
#include "proto/wire/fields.h"

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

/* From bytes that the check has passed; of a field given twice the last counts. */
struct chi_counts chi_counts_read(const uint8_t *bytes, size_t len)
{
	struct chi_counts counts = {0};
	uint64_t *const places[] = {&counts.white, &counts.draws, &counts.black, &counts.other};
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number - 1 < CHI_COUNT(places)) {
			*places[field.number - 1] = field.value;
		}
	}
	return counts;
}

int chi_text_read(struct chi_unpacker *u, const struct chi_field *field, struct chi_text *out)
{
	out->len = field->len;
	out->bytes = chi_arena_text(u->arena, field->bytes, field->len);
	return out->bytes != NULL ? CHI_OK : chi_flaw_memory(u->flaw, u->arena, field->len + 1);
}

/* ---- Lists of moves ---------------------------------------------------------------------- */

/* Moves of a repeated field, which may come in several pieces. */
struct move_list {
	chi_move *moves;
	size_t n;
};

/* An array, or NULL if there is nothing for it, or *rc if there is no memory. */
static void *take_array(struct chi_unpacker *u, size_t n, size_t size, int *rc)
{
	if (n == 0 || *rc != CHI_OK) {
		return NULL;
	}
	void *array = chi_arena_array(u->arena, n, size);
	*rc = array != NULL ? CHI_OK : chi_flaw_memory(u->flaw, u->arena, n * size);
	return array;
}

/* Room for what was counted into `n`; from then on `n` counts what is there. */
static int move_list_alloc(struct chi_unpacker *u, struct move_list *list)
{
	int rc = CHI_OK;
	list->moves = take_array(u, list->n, sizeof(*list->moves), &rc);
	list->n = 0;
	return rc;
}

/* No move is 0. */
static chi_move move_of(uint64_t value)
{
	return value <= UINT16_MAX ? (chi_move)value : 0;
}

/* One piece of the list: packed numbers, or a single one from a writer that does not pack. */
static void move_list_read(struct move_list *list, const struct chi_field *field)
{
	if (field->type == CHI_WIRE_VARINT) {
		list->moves[list->n++] = move_of(field->value);
		return;
	}
	struct chi_reader r = chi_reader_of(field->bytes, field->len);
	while (chi_reader_left(&r) > 0) {
		list->moves[list->n++] = move_of(chi_field_varint(&r));
	}
}

/* ---- Moves with counts ------------------------------------------------------------------- */

static void move_stat_read(const struct chi_field *from, struct chi_move_stat *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number == 1) {
			out->move = move_of(field.value);
		} else if (field.number == 2) {
			out->counts = chi_counts_read(field.bytes, field.len);
		}
	}
}

/* ---- Plies ------------------------------------------------------------------------------- */

static void ply_stat_read(const struct chi_field *from, struct chi_ply_stat *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		if (field.number == 1) {
			out->ply = field.value <= CHI_PLY_MAX ? (uint16_t)field.value : UINT16_MAX;
		} else if (field.number == 2) {
			out->games = field.value;
		}
	}
}

/* ---- Evaluations ------------------------------------------------------------------------- */

/* An evaluation's fields as they were found; later ones of the same number count. */
struct eval_fields {
	struct chi_field engine;
	struct chi_field score;
	struct move_list pv;
};

/* Moves are only counted here, so that they get one piece of memory and not one a field. */
static void eval_fields_read(const struct chi_field *from, struct eval_fields *out,
			     struct chi_eval *eval)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		switch (field.number) {
		case 1:
			out->engine = field;
			break;
		case 2:
			eval->depth = (uint32_t)field.value;
			break;
		case 3:
		case 4:
			out->score = field;
			break;
		case 5:
			eval->nodes = field.value;
			break;
		case 6:
			eval->date = field.value;
			break;
		case 7:
			out->pv.n += chi_field_numbers(&field);
			break;
		case 8:
			/* Beyond its range too: it is checked with the record. */
			eval->rank = field.value > UINT8_MAX ? UINT8_MAX : (uint8_t)field.value;
			break;
		default:
			break;
		}
	}
}

/* The member of the oneof says what the score is; 0 of neither kind may be left out. */
static int score_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_eval *out)
{
	if (from->number == 0) {
		return chi_flaw(u->flaw, -CHI_EINVAL, "missing", "score");
	}
	out->is_mate = from->number == 4;
	out->score = chi_unzigzag((uint32_t)from->value);
	return CHI_OK;
}

/* A second pass over the evaluation, now that the number of moves is known. */
static int pv_read(struct chi_unpacker *u, const struct chi_field *from, struct move_list *pv,
		   struct chi_eval *out)
{
	struct chi_reader r = chi_reader_of(from->bytes, from->len);
	struct chi_field field;
	int rc = move_list_alloc(u, pv);
	while (rc == CHI_OK && pv->moves != NULL && chi_field_next(&r, &field)) {
		if (field.number == 7) {
			move_list_read(pv, &field);
		}
	}
	out->pv = pv->moves;
	out->n_pv = pv->n;
	return rc;
}

static int eval_read(struct chi_unpacker *u, const struct chi_field *from, struct chi_eval *out)
{
	struct eval_fields fields = {0};
	struct chi_text engine;
	eval_fields_read(from, &fields, out);
	int rc = chi_text_read(u, &fields.engine, &engine);
	if (rc == CHI_OK) {
		out->engine = engine.bytes;
		out->engine_len = engine.len;
		rc = score_read(u, &fields.score, out);
	}
	return rc == CHI_OK ? pv_read(u, from, &fields.pv, out) : rc;
}

/* ---- The record -------------------------------------------------------------------------- */

/* A record on its way: how much there is of each kind, then where it goes. */
struct parts {
	uint64_t chi2;
	size_t n_moves;
	size_t n_evals;
	size_t n_plies;
	struct move_list line;
	struct chi_field note;
	struct chi_move_stat *moves;
	struct chi_eval *evals;
	struct chi_ply_stat *plies;
};

/* First pass: single fields, and how many there are of the repeated ones. */
static void tally(const uint8_t *bytes, size_t len, struct parts *parts, struct chi_record *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	while (chi_field_next(&r, &field)) {
		switch (field.number) {
		case 1:
			parts->chi2 = field.value;
			break;
		case 2:
			out->counts = chi_counts_read(field.bytes, field.len);
			break;
		case 3:
			parts->n_moves++;
			break;
		case 4:
			parts->n_evals++;
			break;
		case 5:
			parts->line.n += chi_field_numbers(&field);
			break;
		case 6:
			parts->note = field;
			break;
		case 7:
			parts->n_plies++;
			break;
		default:
			break;
		}
	}
}

/* One allocation for each kind, of the right size: nothing grows, nothing is left over. */
static int take_room(struct chi_unpacker *u, struct parts *parts)
{
	int rc = CHI_OK;
	parts->moves = take_array(u, parts->n_moves, sizeof(*parts->moves), &rc);
	parts->evals = take_array(u, parts->n_evals, sizeof(*parts->evals), &rc);
	parts->plies = take_array(u, parts->n_plies, sizeof(*parts->plies), &rc);
	return rc == CHI_OK ? move_list_alloc(u, &parts->line) : rc;
}

/* Second pass: the repeated fields, in the order they come in. */
static int fill_record(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
		       struct parts *parts, struct chi_record *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	int rc = CHI_OK;
	while (rc == CHI_OK && chi_field_next(&r, &field)) {
		if (field.number == 3) {
			move_stat_read(&field, &parts->moves[out->n_moves++]);
		} else if (field.number == 4) {
			rc = eval_read(u, &field, &parts->evals[out->n_evals++]);
		} else if (field.number == 5 && parts->line.moves != NULL) {
			move_list_read(&parts->line, &field);
		} else if (field.number == 7) {
			ply_stat_read(&field, &parts->plies[out->n_plies++]);
		}
	}
	if (rc != CHI_OK) {
		chi_flaw_under(u->flaw, "evals[%zu]", out->n_evals - 1);
	}
	out->plies = parts->plies;
	out->moves = parts->moves;
	out->evals = parts->evals;
	out->line = parts->line.moves;
	out->n_line = parts->line.n;
	return rc;
}

int chi_record_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, uint32_t named,
		    struct chi_record *out)
{
	struct parts parts = {0};
	struct chi_text note;
	struct chi_record_flaw flaw;
	*out = (struct chi_record){.chi2 = CHI_CHI2_UNKNOWN};
	tally(bytes, len, &parts, out);
	out->chi2 = parts.chi2 <= CHI_CHI2_MAX ? (uint16_t)parts.chi2 : UINT16_MAX;
	int rc = take_room(u, &parts);
	if (rc == CHI_OK &&
	    parts.n_moves + parts.n_evals + parts.n_plies + (parts.line.moves != NULL) > 0) {
		rc = fill_record(u, bytes, len, &parts, out);
	}
	if (rc == CHI_OK && parts.note.len > 0) {
		rc = chi_text_read(u, &parts.note, &note);
		out->note = note.bytes;
		out->n_note = note.len;
	}
	if (rc != CHI_OK) {
		return rc;
	}
	chi_record_name(out, named);
	rc = chi_record_check(out, &flaw);
	return rc < 0 ? chi_flaw(u->flaw, rc, flaw.reason, "%s", flaw.where) : CHI_OK;
}
