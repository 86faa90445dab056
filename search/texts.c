/* SPDX-License-Identifier: MIT */
/* Rows with texts. Names of the four columns and the round are the game's own tags, since names of
 * the archive are one text for all ways to write it. */
#include "search/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
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

struct chi_archive_reader *chi_game_texts_reader(struct chi_game_texts *texts)
{
	return texts->reader;
}

/* Of a row; the others are enum chi_head_names and CHI_GAME_ROUND. */
#define SOURCE CHI_GAME_TEXTS
#define SPANS  (CHI_GAME_TEXTS + 1)

/* Takes texts of the archive into the arena, with a NUL each; first finds that of the source. */
static int keep_texts(struct chi_game_texts *texts, struct chi_span spans[SPANS],
		      struct chi_arena *arena, struct chi_game_row *out)
{
	const char **const to[SPANS] = {
		[CHI_HEAD_WHITE] = &out->white, [CHI_HEAD_BLACK] = &out->black,
		[CHI_HEAD_EVENT] = &out->event, [CHI_HEAD_SITE] = &out->site,
		[CHI_GAME_ROUND] = &out->round, [SOURCE] = &out->source,
	};
	int rc = chi_archive_name(texts->reader, CHI_NAME_SOURCE, out->head.source, &spans[SOURCE]);
	for (size_t i = 0; rc == CHI_OK && i < SPANS; i++) {
		const char *bytes = (const char *)spans[i].bytes;
		*to[i] = spans[i].len > 0 ? chi_arena_text(arena, bytes, spans[i].len) : "";
		rc = *to[i] != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	return rc;
}

/* Those of a game's own tags. */
static int take_texts(struct chi_game_texts *texts, struct chi_arena *arena,
		      struct chi_game_row *out)
{
	struct chi_span spans[SPANS];
	int rc = chi_archive_texts(texts->reader, &out->head, spans);
	return rc == CHI_OK ? keep_texts(texts, spans, arena, out) : rc;
}

int chi_game_texts_head(struct chi_game_texts *texts, uint32_t number, struct chi_arena *arena,
			struct chi_game_row *row)
{
	struct chi_span spans[SPANS] = {{0}};
	*row = (struct chi_game_row){.ply = -1, .pgn = ""};
	int rc = chi_archive_head(texts->reader, number, &row->head);
	rc = rc == CHI_OK ? chi_archive_names(texts->reader, &row->head, spans) : rc;
	return rc == CHI_OK ? keep_texts(texts, spans, arena, row) : rc;
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
	rc = take_texts(texts, arena, row);
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
		rc = take_texts(texts, arena, out);
	}
	if (rc == CHI_OK && want == CHI_GAMES_PGN) {
		rc = chi_archive_game(texts->reader, row->head.number, arena, &game);
		rc = rc == CHI_OK ? take_pgn(texts, &game, out) : rc;
	}
	return rc;
}
