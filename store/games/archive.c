/* SPDX-License-Identifier: MIT */
/* Reading whole games: head, body and names put together. */
#include "store/games/archive.h"

#include <stdlib.h>
#include <string.h>

#include "chess/key.h"
#include "store/games/bodies.h"
#include "store/games/columns.h"
#include "store/games/seen.h"

struct chi_archive_reader {
	struct chi_name_reader names;
	struct chi_columns_reader columns;
	struct chi_bodies_reader *bodies;
	struct chi_traits traits; /* of chi_archive_packed */
};

int chi_archive_reader_new(struct chi_archive_reader **out)
{
	struct chi_archive_reader *reader = calloc(1, sizeof(*reader));
	if (reader == NULL) {
		return -CHI_ENOMEM;
	}
	int rc = chi_bodies_reader_new(&reader->bodies);
	if (rc != CHI_OK) {
		free(reader);
		return rc;
	}
	*out = reader;
	return CHI_OK;
}

void chi_archive_reader_free(struct chi_archive_reader *reader)
{
	if (reader != NULL) {
		chi_archive_reader_end(reader);
		chi_bodies_reader_free(reader->bodies);
		free(reader);
	}
}

int chi_archive_reader_begin(struct chi_archive_reader *reader, MDB_txn *txn,
			     const struct chi_archive_trees *trees)
{
	chi_archive_reader_end(reader);
	chi_name_reader_begin(&reader->names, txn, trees->names,
			      trees->seen != NULL ? trees->seen->serial : chi_seen_serial());
	int rc = chi_columns_reader_begin(&reader->columns, txn, trees);
	return rc == CHI_OK ? chi_bodies_reader_begin(reader->bodies, txn, trees->games) : rc;
}

void chi_archive_reader_end(struct chi_archive_reader *reader)
{
	chi_columns_reader_deinit(&reader->columns);
	chi_bodies_reader_end(reader->bodies);
}

int chi_archive_head(struct chi_archive_reader *reader, uint32_t number, struct chi_game_head *out)
{
	return chi_columns_read(&reader->columns, number, out);
}

/* Every number in the columns has a name. */
int chi_archive_name(struct chi_archive_reader *reader, enum chi_name_kind kind, uint32_t id,
		     struct chi_span *out)
{
	const char *text = NULL;
	*out = (struct chi_span){0};
	if (id == 0) {
		return CHI_OK;
	}
	int rc = chi_name_reader_text(&reader->names, kind, id, &text, &out->len);
	out->bytes = (const uint8_t *)text;
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int chi_archive_names(struct chi_archive_reader *reader, const struct chi_game_head *head,
		      struct chi_span names[CHI_HEAD_NAMES])
{
	static const enum chi_name_kind kinds[CHI_HEAD_NAMES] = {
		[CHI_HEAD_WHITE] = CHI_NAME_PLAYER,
		[CHI_HEAD_BLACK] = CHI_NAME_PLAYER,
		[CHI_HEAD_EVENT] = CHI_NAME_EVENT,
		[CHI_HEAD_SITE] = CHI_NAME_SITE,
	};
	const uint32_t ids[CHI_HEAD_NAMES] = {
		[CHI_HEAD_WHITE] = head->white,
		[CHI_HEAD_BLACK] = head->black,
		[CHI_HEAD_EVENT] = head->event,
		[CHI_HEAD_SITE] = head->site,
	};
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < CHI_HEAD_NAMES; i++) {
		rc = chi_archive_name(reader, kinds[i], ids[i], &names[i]);
	}
	return rc;
}

int chi_archive_texts(struct chi_archive_reader *reader, const struct chi_game_head *head,
		      struct chi_span texts[CHI_GAME_TEXTS])
{
	struct chi_body body;
	struct chi_span names[CHI_HEAD_NAMES];
	int rc = chi_bodies_read(reader->bodies, head->number, &body);
	rc = rc == CHI_OK ? chi_archive_names(reader, head, names) : rc;
	return rc == CHI_OK ? chi_body_texts(&body, names, texts) : rc;
}

int chi_archive_game(struct chi_archive_reader *reader, uint32_t number, struct chi_arena *arena,
		     struct chi_game *out)
{
	struct chi_game_head head;
	struct chi_body body;
	struct chi_span names[CHI_HEAD_NAMES];
	int rc = chi_columns_read(&reader->columns, number, &head);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_bodies_read(reader->bodies, number, &body);
	rc = rc == CHI_OK ? chi_archive_names(reader, &head, names) : rc;
	rc = rc == CHI_OK ? chi_body_unpack(&head, &body, names, arena, out) : rc;
	/* A head without a body is no game that was removed. */
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int chi_archive_packed(struct chi_archive_reader *reader, uint32_t number,
		       struct chi_packed_game *out, struct chi_span *source)
{
	int rc = chi_columns_read(&reader->columns, number, &out->head);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_bodies_read(reader->bodies, number, &out->body);
	rc = rc == CHI_OK ? chi_archive_traits(reader, number, &reader->traits) : rc;
	rc = rc == CHI_OK ? chi_body_fides(&out->body, out->fide) : rc;
	rc = rc == CHI_OK ? chi_archive_names(reader, &out->head, out->names) : rc;
	rc = rc == CHI_OK ? chi_archive_name(reader, CHI_NAME_SOURCE, out->head.source, source)
			  : rc;
	out->traits = (struct chi_span){(const uint8_t *)reader->traits.trait,
					reader->traits.n * sizeof(chi_trait)};
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int chi_archive_moves(struct chi_archive_reader *reader, uint32_t number,
		      struct chi_game_moves *out)
{
	struct chi_body body;
	struct chi_key start;
	int rc = chi_bodies_read(reader->bodies, number, &body);
	if (rc != CHI_OK) {
		return rc;
	}
	out->bytes = body.parts[CHI_BODY_MOVES].bytes;
	out->len = body.parts[CHI_BODY_MOVES].len;
	rc = chi_body_start(&body, &start);
	out->has_start = rc == CHI_OK;
	if (rc == CHI_NONE) {
		out->start = chi_position_initial;
		return CHI_OK;
	}
	return rc == CHI_OK && chi_key_decode(&start, &out->start, NULL) == CHI_OK ? CHI_OK
										   : -CHI_ECORRUPT;
}

int chi_archive_traits(struct chi_archive_reader *reader, uint32_t number, struct chi_traits *out)
{
	struct chi_game_moves moves;
	struct chi_replay replay;
	const struct chi_position *position;
	chi_move move;
	int rc = chi_archive_moves(reader, number, &moves);
	if (rc != CHI_OK) {
		return rc;
	}
	chi_replay_init(&replay, &moves.start, moves.bytes, moves.len);
	chi_traits_begin(out);
	do {
		position = chi_replay_position(&replay);
		rc = chi_replay_next(&replay, &move);
		chi_traits_add(out, position, rc == CHI_OK ? move : 0);
	} while (rc == CHI_OK);
	chi_traits_end(out);
	return rc == CHI_NONE ? CHI_OK : rc;
}
