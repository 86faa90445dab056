/* SPDX-License-Identifier: MIT */
/* Single games, and heads of several. */
#include "ops/answer.h"

#include <string.h>

#include "base/fault.h"
#include "ops/game_rows.h"
#include "proto/operations.h"
#include "proto/types.h"
#include "search/texts.h"

static int texts_of(struct chi_ask *ask)
{
	int status = *ask->texts == NULL ? chi_game_texts_new(ask->texts) : CHI_OK;
	return status == CHI_OK ? chi_game_texts_begin(*ask->texts, ask->read) : status;
}

static int game_fault(struct chi_ask *ask, int status, uint32_t number)
{
	return status >= 0 ? status
			   : chi_fail(ask->fault, status, "cannot read game %u (%s)", number,
				      chi_strerror(status));
}

static const void *copy_bytes(struct chi_arena *arena, const void *bytes, size_t size, bool *good)
{
	void *out = chi_arena_alloc(arena, size > 0 ? size : 1);
	*good = *good && out != NULL;
	return out != NULL && size > 0 ? memcpy(out, bytes, size) : out;
}

/* What it points to moves into the arena: it outlives the snapshot. */
static int keep_game(struct chi_arena *arena, struct chi_game *game)
{
	bool good = true;
	struct chi_tag *tags = chi_arena_array(arena, game->n_tags + 1, sizeof(*tags));
	if (tags == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < game->n_tags; i++) {
		tags[i] = game->tags[i];
		tags[i].name = copy_bytes(arena, tags[i].name, tags[i].name_len, &good);
		tags[i].value = copy_bytes(arena, tags[i].value, tags[i].value_len, &good);
	}
	game->tags = tags;
	game->moves = copy_bytes(arena, game->moves, game->n_plies * sizeof(*game->moves), &good);
	game->notes = copy_bytes(arena, game->notes, game->n_notes, &good);
	game->rest = copy_bytes(arena, game->rest, game->n_rest, &good);
	return good ? CHI_OK : -CHI_ENOMEM;
}

/* Sent at once it may stay in the texts; in this process those serve the next query, too. Asked
 * alone it cannot be sent in parts. */
static int keep_pgn(const struct chi_ask *ask, struct chi_game_found *found, uint32_t number)
{
	const struct chi_message *type = chi_operation_of(CHI_OP_GET_GAME)->result;
	struct chi_game_row *row = &found->row;
	size_t noted = 0;
	if (ask->most == SIZE_MAX) {
		row->pgn = chi_arena_text(ask->arena, row->pgn, row->pgn_len);
		return row->pgn != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	return chi_message_len(type, found, &noted) <= ask->most
		       ? CHI_OK
		       : chi_fail(ask->fault, -CHI_ETOOBIG, CHI_GAME_TOO_LARGE, number);
}

int chi_answer_game(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_game_request *asked = request;
	struct chi_game_found *out = result;
	int status = texts_of(ask);
	if (status == CHI_OK) {
		status = chi_game_texts_game(*ask->texts, asked->number, ask->arena, &out->row,
					     &out->game);
	}
	out->found = status == CHI_OK;
	out->whole = out->found && asked->whole;
	if (out->whole) {
		status = keep_game(ask->arena, &out->game);
	}
	if (status != CHI_OK) {
		return status == CHI_NONE ? CHI_OK : game_fault(ask, status, asked->number);
	}
	return keep_pgn(ask, out, asked->number);
}

/* Those that are there, in the order asked. */
int chi_answer_heads(struct chi_ask *ask, const void *request, void *result)
{
	const struct chi_heads_request *asked = request;
	struct chi_heads *out = result;
	struct chi_game_row *rows = chi_arena_array(ask->arena, asked->n, sizeof(*rows));
	int status = rows != NULL ? texts_of(ask) : -CHI_ENOMEM;
	out->rows = rows;
	for (size_t i = 0; status >= 0 && i < asked->n; i++) {
		status = chi_game_texts_head(*ask->texts, asked->numbers[i], ask->arena,
					     &rows[out->n]);
		out->n += status == CHI_OK;
		status = game_fault(ask, status, asked->numbers[i]);
	}
	return status < 0 ? status : CHI_OK;
}
