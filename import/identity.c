/* SPDX-License-Identifier: MIT */
/* A game's id: the bytes are put together and hashed at once, which is faster than in bits. */
#include "import/identity.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "base/attr.h"

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

/* What follows the scheme and "www." of a page's address; NULL if the text is none. */
static const char *page_of(const struct chi_pgn_span *tag)
{
	static const char *const starts[] = {"https://", "http://"};
	for (size_t i = 0; tag->text != NULL && i < CHI_COUNT(starts); i++) {
		size_t n = strlen(starts[i]);
		if (strncasecmp(tag->text, starts[i], n) != 0) {
			continue;
		}
		const char *host = tag->text + n;
		host += strncasecmp(host, "www.", 4) == 0 ? 4 : 0;
		const char *path = strchr(host, '/');
		return path != NULL && path[1] != '\0' ? host : NULL;
	}
	return NULL;
}

/* What tells an online game from another of the same players, day and moves. */
static uint8_t *put_online(uint8_t *at, const struct chi_pgn_game *game)
{
	const char *time = game->tags[CHI_PGN_UTC_TIME].text;
	const char *const texts[] = {
		page_of(&game->tags[CHI_PGN_SITE]),
		page_of(&game->tags[CHI_PGN_LINK]),
		game->tags[CHI_PGN_GAME_ID].text,
		time != NULL && strchr(time, '?') == NULL ? time : NULL,
	};
	bool any = false;
	for (size_t i = 0; i < CHI_COUNT(texts); i++) {
		if (texts[i] == NULL || texts[i][0] == '\0') {
			continue;
		}
		if (!any) {
			*at++ = 0;
			*at++ = 0;
			any = true;
		}
		*at++ = (uint8_t)(i + 1);
		const struct chi_pgn_span text = {texts[i], strlen(texts[i])};
		at = put_tag(at, &text);
	}
	return at;
}

void chi_identity_of_game(const struct chi_pgn_game *game, const struct chi_key *start,
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
	at = put_online(at, game);
	XXH128_canonical_t canonical;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(scratch, (size_t)(at - scratch)));
	memcpy(out, canonical.digest, CHI_GAME_ID_SIZE);
}
