/* SPDX-License-Identifier: MIT */
/* A game's id: the bytes are put together and hashed at once, which is faster than in bits. */
#include "import/identity.h"

#include <string.h>

#include <xxhash.h>

static uint8_t *put_tag(uint8_t *at, const struct chi_pgn_span *tag)
{
	size_t len = tag->len < CHI_PGN_VALUE_MAX ? tag->len : CHI_PGN_VALUE_MAX;
	if (tag->text != NULL) {
		memcpy(at, tag->text, len);
		at += len;
	}
	*at++ = 0;
	return at;
}

void chi_identity(const struct chi_pgn_game *game, const struct chi_key *start,
		  uint8_t scratch[CHI_IDENTITY_SIZE], uint8_t out[CHI_GAME_ID_SIZE])
{
	uint8_t *at = put_tag(scratch, &game->tags[CHI_PGN_WHITE]);
	at = put_tag(at, &game->tags[CHI_PGN_BLACK]);
	at = put_tag(at, &game->tags[CHI_PGN_DATE]);
	*at++ = (uint8_t)game->result;
	*at++ = start->len;
	memcpy(at, start->bytes, start->len);
	at += start->len;
	for (size_t i = 0; i < game->n_plies; i++) {
		*at++ = (uint8_t)(game->moves[i] & 0xff);
		*at++ = (uint8_t)(game->moves[i] >> 8);
	}
	XXH128_canonical_t canonical;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(scratch, (size_t)(at - scratch)));
	memcpy(out, canonical.digest, CHI_GAME_ID_SIZE);
}
