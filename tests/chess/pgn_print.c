/* SPDX-License-Identifier: MIT */
#include "tests/chess/pgn_print.h"

#include <stdlib.h>
#include <string.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pgn/write.h"

void whole_game(const struct chi_pgn_game *game, struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX],
		struct chi_game *out)
{
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_key initial;
	*out = (struct chi_game){
		.head = {.result = (uint8_t)game->result, .plies = (uint16_t)game->n_plies},
		.tags = tags,
		.n_tags = whole->n_tags,
		.moves = game->moves,
		.n_plies = game->n_plies,
		.notes = whole->notes,
		.n_notes = whole->n_notes,
		.rest = whole->rest,
		.n_rest = whole->n_rest,
	};
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		tags[i] = (struct chi_tag){tag->name.text, tag->name.len, tag->value.text,
					   tag->value.len};
	}
	(void)!chi_key_from_fen(CHI_FEN_START, strlen(CHI_FEN_START), &initial, NULL);
	chi_key_encode(&game->positions[0], &out->start);
	out->has_start = out->start.len != initial.len ||
			 memcmp(out->start.bytes, initial.bytes, initial.len) != 0;
}

char *print_game(const struct chi_pgn_game *game, size_t *len)
{
	struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX];
	struct chi_game whole;
	struct chi_buffer out;
	char *text = NULL;
	chi_buffer_init(&out, SIZE_MAX / 2);
	whole_game(game, tags, &whole);
	if (chi_pgn_write(&whole, &out) == CHI_OK) {
		*len = out.len;
		text = malloc(out.len + 1);
	}
	if (text != NULL) {
		memcpy(text, chi_buffer_bytes(&out), out.len);
		text[out.len] = '\0';
	}
	chi_buffer_deinit(&out);
	return text;
}
