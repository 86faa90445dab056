/* SPDX-License-Identifier: MIT */
/*
 * What is kept of one game beside its head (FORMAT.md, "Games tree"): moves, and tags, start
 * position and annotations in two parts, the shape, which is the same in many games, and the texts.
 *
 * A game is packed by any thread into bytes of its own, which need no store; the thread that
 * commits gives its names numbers and appends it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "chess/position.h"
#include "chess/traits/traits.h"
#include "chistore/games.h"

/* Bytes of a body at most, all parts together. */
#define CHI_BODY_MAX	  (8u << 20)
#define CHI_GAME_TAGS_MAX 4096

enum chi_body_part {
	CHI_BODY_MOVES,
	CHI_BODY_SHAPE,
	CHI_BODY_TEXTS,
	CHI_BODY_PARTS
};

struct chi_span {
	const uint8_t *bytes;
	size_t len;
};

struct chi_body {
	struct chi_span parts[CHI_BODY_PARTS];
};

/* Names of a game. */
enum chi_head_names {
	CHI_HEAD_WHITE,
	CHI_HEAD_BLACK,
	CHI_HEAD_EVENT,
	CHI_HEAD_SITE,
	CHI_HEAD_NAMES
};

/* A packed game, as it was packed. */
struct chi_packed_game {
	struct chi_game_head head;	       /* number and names 0 */
	uint32_t fide[2];		       /* of White and Black; 0: not known */
	struct chi_span names[CHI_HEAD_NAMES]; /* for the columns; empty: none */
	struct chi_body body;
	struct chi_span traits; /* of its moves: chi_trait, one after the other */
};

/* The code of the opening of the last of n positions that has one, as in heads; 0: none has. */
uint16_t chi_game_eco(const struct chi_position *positions, size_t n);

/*
 * Packs a game, appending to `out`. Of the head only result, plies and source are read (plies must
 * be n_plies), the others follow from the tags, the opening and the traits from the moves. An id of
 * zeros is not kept. `positions`: those before each move and after the last, if they are known, or
 * NULL: the game is played. -CHI_ETOOBIG: over CHI_BODY_MAX, CHI_GAME_TAGS_MAX, or the buffer's
 * limit; -CHI_EMOVE: a move is not legal; -CHI_EKEY: no such start position; -CHI_EINVAL: a tag's
 * name is empty or over 255 bytes; -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_game_pack(const struct chi_game *game, const struct chi_position *positions,
			      struct chi_buffer *out);

/* What was packed; points into the bytes. -CHI_EINTERNAL if they are not what chi_game_pack made.
 */
CHI_MUSTUSE int chi_packed_open(const uint8_t *bytes, size_t len, struct chi_packed_game *out);

/*
 * A whole game from its head, its body and the texts of the names in its columns; the id is zeros
 * if none was kept. What it points to is in the arena, or where body and names are. -CHI_ECORRUPT,
 * -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_body_unpack(const struct chi_game_head *head, const struct chi_body *body,
				const struct chi_span names[CHI_HEAD_NAMES],
				struct chi_arena *arena, struct chi_game *out);

/* What a row of a game shows beside its head: its names, and its round. */
#define CHI_GAME_ROUND CHI_HEAD_NAMES
#define CHI_GAME_TEXTS (CHI_HEAD_NAMES + 1)

/* The texts of these tags as chi_body_unpack has them, without the moves; empty: there is no such
 * tag. They are where body and names are. -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_body_texts(const struct chi_body *body,
			       const struct chi_span names[CHI_HEAD_NAMES],
			       struct chi_span out[CHI_GAME_TEXTS]);

/* What the tags of a body say of the players' FIDE ids, White's first; 0: not known. -CHI_ECORRUPT.
 */
CHI_MUSTUSE int chi_body_fides(const struct chi_body *body, uint32_t out[2]);

/* The start position that is kept of a game; CHI_NONE: it begins from the initial one.
 * -CHI_ECORRUPT. Whether it is a position at all is not looked at. */
CHI_MUSTUSE int chi_body_start(const struct chi_body *body, struct chi_key *out);
