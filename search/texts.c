/* SPDX-License-Identifier: MIT */
/* Rows with texts. Names of the four columns and the round are the game's own tags, since names of
 * the archive are one text for all ways to write it. */
#include "search/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chess/pgn/write.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/names/names.h"

/* Bytes of a game's PGN; those of its body are bounded long before. */
#define PGN_MAX (64u << 20)

struct chi_game_texts {
	struct chi_archive_reader *reader;
	struct chi_archive_view view;
	struct chi_buffer pgn;
};

int chi_game_texts_new(struct chi_game_texts **out)
{
	struct chi_game_texts *texts = calloc(1, sizeof(*texts));
	if (texts == NULL || chi_archive_reader_new(&texts->reader) != CHI_OK) {
		free(texts);
		return -CHI_ENOMEM;
	}
	chi_buffer_init(&texts->pgn, PGN_MAX);
	*out = texts;
	return CHI_OK;
}

void chi_game_texts_free(struct chi_game_texts *texts)
{
	if (texts != NULL) {
		chi_archive_reader_free(texts->reader);
		chi_buffer_deinit(&texts->pgn);
		free(texts);
	}
}

size_t chi_game_texts_memory(const struct chi_game_texts *texts)
{
	return sizeof(*texts) + CHI_ARCHIVE_READER_BYTES + texts->pgn.capacity;
}

int chi_game_texts_begin(struct chi_game_texts *texts, struct chi_read *read)
{
	int rc = chi_read_archive(read, &texts->view);
	return rc == CHI_OK ? chi_archive_reader_begin(texts->reader, texts->view.txn,
						       &texts->view.trees)
			    : rc;
}

void chi_game_texts_end(struct chi_game_texts *texts)
{
	chi_archive_reader_end(texts->reader);
}

/* The value of a tag, as a text of the arena. NULL: out of memory. */
static const char *tag_text(const struct chi_game *game, const char *name, struct chi_arena *arena)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if (tag->name_len == len && memcmp(tag->name, name, len) == 0) {
			return chi_arena_text(arena, tag->value, tag->value_len);
		}
	}
	return "";
}

static int source_text(struct chi_game_texts *texts, uint32_t id, struct chi_arena *arena,
		       const char **out)
{
	struct chi_name name = {.len = 0};
	*out = "";
	if (id == 0) {
		return CHI_OK;
	}
	int rc =
		chi_name_text(texts->view.txn, texts->view.trees.names, CHI_NAME_SOURCE, id, &name);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	*out = chi_arena_text(arena, name.text, name.len);
	return CHI_OK;
}

static int take_texts(struct chi_game_texts *texts, const struct chi_game *game,
		      struct chi_arena *arena, struct chi_game_row *out)
{
	int rc = source_text(texts, game->head.source, arena, &out->source);
	out->white = tag_text(game, "White", arena);
	out->black = tag_text(game, "Black", arena);
	out->event = tag_text(game, "Event", arena);
	out->site = tag_text(game, "Site", arena);
	out->round = tag_text(game, "Round", arena);
	bool whole = out->white != NULL && out->black != NULL && out->event != NULL &&
		     out->site != NULL && out->round != NULL && out->source != NULL;
	return rc == CHI_OK && !whole ? -CHI_ENOMEM : rc;
}

static const char *span_text(const struct chi_span *span, struct chi_arena *arena)
{
	return span->len > 0 ? chi_arena_text(arena, (const char *)span->bytes, span->len) : "";
}

int chi_game_texts_head(struct chi_game_texts *texts, uint32_t number, struct chi_arena *arena,
			struct chi_game_row *row)
{
	struct chi_span names[CHI_HEAD_NAMES];
	*row = (struct chi_game_row){.ply = -1, .round = "", .pgn = ""};
	int rc = chi_archive_head(texts->reader, number, &row->head);
	rc = rc == CHI_OK ? chi_archive_names(texts->reader, &row->head, names) : rc;
	rc = rc == CHI_OK ? source_text(texts, row->head.source, arena, &row->source) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	row->white = span_text(&names[CHI_HEAD_WHITE], arena);
	row->black = span_text(&names[CHI_HEAD_BLACK], arena);
	row->event = span_text(&names[CHI_HEAD_EVENT], arena);
	row->site = span_text(&names[CHI_HEAD_SITE], arena);
	bool whole = row->white != NULL && row->black != NULL && row->event != NULL &&
		     row->site != NULL && row->source != NULL;
	return whole ? CHI_OK : -CHI_ENOMEM;
}

static int take_pgn(struct chi_game_texts *texts, const struct chi_game *game,
		    struct chi_game_row *out)
{
	chi_buffer_consume(&texts->pgn, texts->pgn.len);
	int rc = chi_pgn_write(game, &texts->pgn);
	out->pgn = (const char *)chi_buffer_bytes(&texts->pgn);
	out->pgn_len = texts->pgn.len;
	return rc;
}

int chi_game_texts_game(struct chi_game_texts *texts, uint32_t number, struct chi_arena *arena,
			struct chi_game_row *row, struct chi_game *game)
{
	int rc = chi_archive_game(texts->reader, number, arena, game);
	if (rc != CHI_OK) {
		return rc;
	}
	*row = (struct chi_game_row){.head = game->head, .ply = -1, .pgn = ""};
	rc = take_texts(texts, game, arena, row);
	return rc == CHI_OK ? take_pgn(texts, game, row) : rc;
}

int chi_game_texts_row(struct chi_game_texts *texts, const struct chi_games_row *row, uint8_t want,
		       struct chi_arena *arena, struct chi_game_row *out)
{
	struct chi_game game;
	int rc = CHI_OK;
	*out = (struct chi_game_row){
		.head = row->head,
		.ply = row->ply,
		.move = row->move,
		.white = "",
		.black = "",
		.event = "",
		.site = "",
		.round = "",
		.source = "",
		.pgn = "",
	};
	if (want >= CHI_GAMES_TEXTS) {
		rc = chi_archive_game(texts->reader, row->head.number, arena, &game);
		rc = rc == CHI_OK ? take_texts(texts, &game, arena, out) : rc;
	}
	if (rc == CHI_OK && want == CHI_GAMES_PGN) {
		rc = take_pgn(texts, &game, out);
	}
	return rc;
}
