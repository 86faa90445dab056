/* SPDX-License-Identifier: MIT */
/* A game of the reader becomes one of the archive: nothing that its text says is left out but what
 * follows from the rest. */
#include "import/archive/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "store/games/body.h"

int chi_keeper_init(struct chi_keeper *keeper, struct chi_spill *spill, bool bare,
		    struct chi_pgn *pgn)
{
	keeper->spill = spill;
	keeper->bare = bare;
	keeper->head = NULL;
	keeper->head_len = 0;
	keeper->chunk = calloc(1, sizeof(*keeper->chunk));
	chi_buffer_init(&keeper->packed, 2 * (size_t)CHI_BODY_MAX);
	return keeper->chunk != NULL ? chi_pgn_keep_all(pgn) : -CHI_ENOMEM;
}

void chi_keeper_deinit(struct chi_keeper *keeper)
{
	free(keeper->chunk);
	chi_buffer_deinit(&keeper->packed);
}

static void copy_tags(const struct chi_pgn_whole *whole, struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX])
{
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		tags[i] = (struct chi_tag){tag->name.text, tag->name.len, tag->value.text,
					   tag->value.len};
	}
}

/* The initial position of chess is not written down for each game. */
static bool has_start(const struct chi_pgn_game *game, struct chi_key *start)
{
	static const uint8_t initial[CHI_KEY_MAX] = {
		0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x73, 0x15, 0x21, 0x37,
		0x44, 0x44, 0x44, 0x44, 0xcc, 0xcc, 0xcc, 0xcc, 0xfb, 0x9d, 0xa9, 0xbf};
	chi_key_encode(&game->positions[0], start);
	return memcmp(start->bytes, initial, sizeof(initial)) != 0;
}

int chi_keeper_add(struct chi_keeper *keeper, const struct chi_pgn_game *game, uint32_t stream,
		   uint32_t number, struct chi_fault *fault)
{
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX];
	struct chi_game kept = {
		.head = {.result = (uint8_t)game->result, .plies = (uint16_t)game->n_plies},
		.tags = tags,
		.n_tags = whole->n_tags,
		.moves = game->moves,
		.n_plies = game->n_plies,
		.notes = keeper->bare ? NULL : whole->notes,
		.n_notes = keeper->bare ? 0 : whole->n_notes,
		.rest = whole->rest,
		.n_rest = whole->n_rest,
	};
	copy_tags(whole, tags);
	kept.has_start = has_start(game, &kept.start);
	chi_buffer_consume(&keeper->packed, keeper->packed.len);
	int rc = chi_buffer_append(&keeper->packed, keeper->head, keeper->head_len);
	rc = rc == CHI_OK ? chi_game_pack(&kept, game->positions, &keeper->packed) : rc;
	if (rc != CHI_OK) {
		return chi_fail(fault, rc, "game %llu cannot be kept (%s)",
				(unsigned long long)game->number, chi_strerror(rc));
	}
	return chi_spill_add(keeper->spill, keeper->chunk, stream, number,
			     chi_buffer_bytes(&keeper->packed), keeper->packed.len, fault);
}

bool chi_keeper_loses(const struct chi_keeper *keeper, const struct chi_pgn_whole *whole)
{
	return whole->lost_tags > 0 || whole->rest_cut ||
	       (!keeper->bare && (whole->lost_notes > 0 || whole->lost_text > 0));
}

int chi_keeper_end(struct chi_keeper *keeper, struct chi_fault *fault)
{
	return chi_spill_flush(keeper->spill, keeper->chunk, fault);
}
