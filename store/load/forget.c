/* SPDX-License-Identifier: MIT */
/*
 * Names that only games brought which are taken out go with them, and so do FIDE ids that no other
 * game has. Only the names of those games are in question: a walk over the columns tells which of
 * them other games have, and of players whose FIDE id came from games it reads those games' tags,
 * up to the first that has it.
 */
#include <stdlib.h>

#include "base/attr.h"
#include "store/games/bodies.h"
#include "store/games/columns.h"
#include "store/load/load_priv.h"
#include "store/names/names.h"

static const struct {
	enum chi_column column;
	enum chi_name_kind kind;
} columns[] = {
	{CHI_COLUMN_WHITE, CHI_NAME_PLAYER},  {CHI_COLUMN_BLACK, CHI_NAME_PLAYER},
	{CHI_COLUMN_EVENT, CHI_NAME_EVENT},   {CHI_COLUMN_SITE, CHI_NAME_SITE},
	{CHI_COLUMN_SOURCE, CHI_NAME_SOURCE},
};

struct forgetting {
	struct chi_load *load;
	uint8_t *doubted; /* players whose FIDE id no game was found to have */
	struct chi_bodies_reader *bodies;
};

static bool has_bit(const uint8_t *bits, uint32_t id)
{
	return (bits[id / 8] >> id % 8 & 1) != 0;
}

static void clear_bit(uint8_t *bits, uint32_t id)
{
	bits[id / 8] &= (uint8_t) ~(1u << id % 8);
}

/* ---- Before ------------------------------------------------------------------------------ */

static int make_forget_room(struct chi_load *load, enum chi_name_kind kind)
{
	struct chi_touched *touched = &load->touched[kind];
	if (touched->bits != NULL) {
		return CHI_OK;
	}
	int rc = chi_names_count(load->txn, load->archive.names, kind, &touched->last);
	if (rc == CHI_OK) {
		touched->bits = calloc((size_t)touched->last / 8 + 1, 1);
	}
	return rc != CHI_OK ? rc : touched->bits != NULL ? CHI_OK : -CHI_ENOMEM;
}

static int touch(struct chi_load *load, enum chi_name_kind kind, uint32_t id)
{
	struct chi_touched *touched = &load->touched[kind];
	int rc = make_forget_room(load, kind);
	if (rc != CHI_OK || id > touched->last) {
		return rc != CHI_OK ? rc : -CHI_ECORRUPT;
	}
	touched->bits[id / 8] |= (uint8_t)(1u << id % 8);
	return CHI_OK;
}

int chi_load_touch_names(struct chi_load *load, uint32_t number)
{
	struct chi_game_head head;
	int rc = chi_columns_get(load->txn, load->archive.columns, number, &head);
	rc = rc == CHI_OK ? touch(load, CHI_NAME_PLAYER, head.white) : rc;
	rc = rc == CHI_OK ? touch(load, CHI_NAME_PLAYER, head.black) : rc;
	rc = rc == CHI_OK ? touch(load, CHI_NAME_EVENT, head.event) : rc;
	rc = rc == CHI_OK ? touch(load, CHI_NAME_SITE, head.site) : rc;
	return rc == CHI_OK ? touch(load, CHI_NAME_SOURCE, head.source) : rc;
}

/* ---- The games that are left -------------------------------------------------------------- */

static int look_at_fides(struct forgetting *f, uint32_t number, const uint32_t players[2])
{
	const struct chi_load *load = f->load;
	struct chi_body body;
	uint32_t fides[2];
	int rc = chi_bodies_read(f->bodies, number, &body);
	rc = rc == CHI_OK ? chi_body_fides(&body, fides) : rc;
	for (size_t side = 0; rc == CHI_OK && side < 2; side++) {
		struct chi_name name;
		if (!has_bit(f->doubted, players[side])) {
			continue;
		}
		rc = chi_name_text(load->txn, load->archive.names, CHI_NAME_PLAYER, players[side],
				   &name);
		if (rc == CHI_OK && name.fide == fides[side]) {
			clear_bit(f->doubted, players[side]);
		}
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int look_at_game(struct forgetting *f, const struct chi_columns_chunk *chunk, uint32_t row)
{
	uint32_t players[2] = {0, 0};
	for (size_t i = 0; i < CHI_COUNT(columns); i++) {
		const struct chi_touched *touched = &f->load->touched[columns[i].kind];
		uint32_t id = chi_column_value(chunk, columns[i].column, row);
		if (id > touched->last) {
			continue; /* it came after the walk began, or is damaged */
		}
		clear_bit(touched->bits, id);
		if (i < CHI_COUNT(players)) {
			players[i] = id;
		}
	}
	return has_bit(f->doubted, players[0]) || has_bit(f->doubted, players[1])
		       ? look_at_fides(f, chunk->first + row, players)
		       : CHI_OK;
}

static int look_at_games(struct forgetting *f)
{
	struct chi_columns_reader reader;
	const struct chi_archive_trees *trees = &f->load->archive;
	int rc = chi_columns_reader_init(&reader, f->load->txn, trees->columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, 1);
	while (rc == CHI_OK) {
		const struct chi_columns_chunk *chunk = &reader.chunk;
		for (uint32_t row = 0; rc == CHI_OK && row < chunk->n; row++) {
			if (chi_column_value(chunk, CHI_COLUMN_RESULT, row) != CHI_ROW_REMOVED) {
				rc = look_at_game(f, chunk, row);
			}
		}
		rc = rc == CHI_OK ? chi_columns_next(&reader) : rc;
	}
	chi_columns_reader_deinit(&reader);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* ---- After ------------------------------------------------------------------------------- */

/* Doubts the FIDE ids that games have brought. */
static int doubt_fides(struct forgetting *f)
{
	const struct chi_load *load = f->load;
	const struct chi_touched *touched = &load->touched[CHI_NAME_PLAYER];
	int rc = CHI_OK;
	f->doubted = calloc((size_t)touched->last / 8 + 1, 1);
	if (f->doubted == NULL) {
		return -CHI_ENOMEM;
	}
	for (uint64_t id = 1; rc == CHI_OK && id <= touched->last; id++) {
		struct chi_name name;
		if (!has_bit(touched->bits, (uint32_t)id)) {
			continue;
		}
		rc = chi_name_text(load->txn, load->archive.names, CHI_NAME_PLAYER, (uint32_t)id,
				   &name);
		if (rc == CHI_OK && name.fide != 0 && !name.given) {
			f->doubted[id / 8] |= (uint8_t)(1u << id % 8);
		}
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* A name that no game has any more. */
static int forget_name(const struct chi_load *load, enum chi_name_kind kind, uint32_t id)
{
	struct chi_name name;
	int rc = chi_name_text(load->txn, load->archive.names, kind, id, &name);
	if (rc != CHI_OK || name.given) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	rc = chi_names_remove(load->txn, load->archive.names, kind, id);
	return rc == -CHI_EINVAL ? CHI_OK : rc; /* aliases are kept */
}

static int forget_all(struct forgetting *f)
{
	const struct chi_load *load = f->load;
	const struct chi_touched *players = &load->touched[CHI_NAME_PLAYER];
	int rc = CHI_OK;
	for (int kind = CHI_NAME_PLAYER; kind <= CHI_NAME_SOURCE; kind++) {
		const struct chi_touched *touched = &load->touched[kind];
		for (uint64_t id = 1; rc == CHI_OK && id <= touched->last; id++) {
			if (has_bit(touched->bits, (uint32_t)id)) {
				rc = forget_name(load, (enum chi_name_kind)kind, (uint32_t)id);
			}
		}
	}
	for (uint64_t id = 1; rc == CHI_OK && id <= players->last; id++) {
		if (has_bit(f->doubted, (uint32_t)id)) {
			rc = chi_names_clear_fide(load->txn, load->archive.names, (uint32_t)id);
			rc = rc == CHI_NONE ? CHI_OK : rc; /* the name has gone */
		}
	}
	return rc;
}

int chi_load_forget_names(struct chi_load *load)
{
	struct forgetting f = {.load = load};
	if (load->touched[CHI_NAME_PLAYER].bits == NULL) {
		return CHI_OK;
	}
	int rc = chi_bodies_reader_new(&f.bodies);
	rc = rc == CHI_OK ? doubt_fides(&f) : rc;
	rc = rc == CHI_OK ? chi_bodies_reader_begin(f.bodies, load->txn, load->archive.games) : rc;
	if (rc == CHI_OK) {
		rc = look_at_games(&f);
		chi_bodies_reader_end(f.bodies);
	}
	rc = rc == CHI_OK ? forget_all(&f) : rc;
	chi_bodies_reader_free(f.bodies);
	free(f.doubted);
	return rc;
}
