/* SPDX-License-Identifier: MIT */
/*
 * Packing and unpacking a game. The parts (FORMAT.md, "Games tree"):
 *
 *	moves	chess/moves/movecode.h
 *	shape	flags (1)  number of tags (varint)  a code for each (1), with TEXT if a text of its
 *		own is kept
 *	texts	for each tag: length and name if its code is CHI_TAG_OTHER; length and text if there
 *		is one. Then what the flags tell of: id (16)  key of the start position, length
 *		first  notes, length first  rest, length first
 */
#include "store/games/body.h"

#include <string.h>

#include "base/num.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/moves/movecode.h"
#include "chess/openings/openings.h"
#include "store/games/moves.h"
#include "store/games/tags.h"

#define TEXT	   0x80
#define FLAG_START 0x01
#define FLAG_NOTES 0x02
#define FLAG_REST  0x04
#define FLAG_ID	   0x08
#define FLAGS	   0x0f

/* Ahead of a packed game's bytes: its head and the lengths of what follows. */
struct lengths {
	struct chi_game_head head;
	uint32_t fide[2];
	uint32_t names[CHI_HEAD_NAMES];
	uint32_t parts[CHI_BODY_PARTS];
	uint32_t traits;
};

static const enum chi_tag_code name_tags[CHI_HEAD_NAMES] = {
	[CHI_HEAD_WHITE] = CHI_TAG_WHITE,
	[CHI_HEAD_BLACK] = CHI_TAG_BLACK,
	[CHI_HEAD_EVENT] = CHI_TAG_EVENT,
	[CHI_HEAD_SITE] = CHI_TAG_SITE,
};

/* Which name the tag's text is; CHI_HEAD_NAMES: none. */
static unsigned name_of(enum chi_tag_code code)
{
	unsigned i = 0;
	while (i < CHI_HEAD_NAMES && name_tags[i] != code) {
		i++;
	}
	return i;
}

/* ---- Packing ----------------------------------------------------------------------------- */

/* Whether the head or the names say the tag's text by themselves. */
static bool follows(const struct chi_game_head *head, const struct chi_tag *tag,
		    enum chi_tag_code code)
{
	char text[CHI_HEAD_TEXT_SIZE];
	size_t len = 0;
	if (name_of(code) < CHI_HEAD_NAMES) {
		const char *name;
		chi_head_name(code, tag->value, tag->value_len, &name, &len);
		return len == tag->value_len;
	}
	return chi_head_print(head, code, text, &len) && len == tag->value_len &&
	       memcmp(text, tag->value, len) == 0;
}

static void write_text(struct chi_writer *to, const void *bytes, size_t len)
{
	chi_write_varint(to, len);
	chi_write_bytes(to, bytes, len);
}

static bool is_zero(const uint8_t *id)
{
	static const uint8_t zeros[CHI_GAME_ID_SIZE];
	return memcmp(id, zeros, sizeof(zeros)) == 0;
}

static uint8_t flags_of(const struct chi_game *game)
{
	return (uint8_t)((game->has_start ? FLAG_START : 0) | (game->n_notes > 0 ? FLAG_NOTES : 0) |
			 (game->n_rest > 0 ? FLAG_REST : 0) | (is_zero(game->id) ? 0 : FLAG_ID));
}

static void write_shape(const struct chi_game *game, const struct chi_game_head *head,
			struct chi_writer *to)
{
	chi_write_u8(to, flags_of(game));
	chi_write_varint(to, game->n_tags);
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		enum chi_tag_code code = chi_tag_code_of(tag->name, tag->name_len);
		chi_write_u8(to, (uint8_t)(code | (follows(head, tag, code) ? 0 : TEXT)));
	}
}

/* `codes`: those of the tags, in the shape. */
static void write_texts(const struct chi_game *game, const uint8_t *codes, struct chi_writer *to)
{
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if ((codes[i] & ~TEXT) == CHI_TAG_OTHER) {
			write_text(to, tag->name, tag->name_len);
		}
		if ((codes[i] & TEXT) != 0) {
			write_text(to, tag->value, tag->value_len);
		}
	}
	uint8_t flags = flags_of(game);
	if ((flags & FLAG_ID) != 0) {
		chi_write_bytes(to, game->id, sizeof(game->id));
	}
	if (game->has_start) {
		write_text(to, game->start.bytes, game->start.len);
	}
	if (game->n_notes > 0) {
		write_text(to, game->notes, game->n_notes);
	}
	if (game->n_rest > 0) {
		write_text(to, game->rest, game->n_rest);
	}
}

/* Fills in names and FIDE ids; the texts of names are the game's. */
static void find_names(const struct chi_game *game, struct lengths *lengths,
		       const char *names[CHI_HEAD_NAMES])
{
	for (size_t i = game->n_tags; i-- > 0;) {
		const struct chi_tag *tag = &game->tags[i];
		enum chi_tag_code code = chi_tag_code_of(tag->name, tag->name_len);
		unsigned name = name_of(code);
		if (name < CHI_HEAD_NAMES) {
			size_t len;
			chi_head_name(code, tag->value, tag->value_len, &names[name], &len);
			lengths->names[name] = (uint32_t)len;
		} else if (code == CHI_TAG_WHITE_FIDE_ID || code == CHI_TAG_BLACK_FIDE_ID) {
			uint64_t id = 0;
			bool read =
				chi_num_u64(tag->value, tag->value_len, UINT32_MAX, &id) == CHI_OK;
			lengths->fide[code == CHI_TAG_BLACK_FIDE_ID] = read ? (uint32_t)id : 0;
		}
	}
}

/* The most bytes that the game may take; 0: too many. */
static size_t room_for(const struct chi_game *game)
{
	uint64_t size = sizeof(struct lengths) + CHI_TRAITS_MAX * sizeof(chi_trait) + 64 +
			CHI_GAME_ID_SIZE + CHI_KEY_MAX + CHI_HEAD_NAMES * CHI_HEAD_NAME_MAX;
	if (game->n_tags > CHI_GAME_TAGS_MAX || game->n_plies > UINT16_MAX ||
	    game->n_notes > CHI_BODY_MAX || game->n_rest > CHI_BODY_MAX) {
		return 0;
	}
	size += (uint64_t)game->n_plies * CHI_MOVES_ROOM + game->n_notes + game->n_rest;
	for (size_t i = 0; i < game->n_tags && size <= CHI_BODY_MAX; i++) {
		const struct chi_tag *tag = &game->tags[i];
		size += tag->name_len + (uint64_t)tag->value_len + 16;
	}
	return size <= CHI_BODY_MAX ? (size_t)size : 0;
}

static int check_tags(const struct chi_game *game)
{
	for (size_t i = 0; i < game->n_tags; i++) {
		if (game->tags[i].name_len == 0 || game->tags[i].name_len > UINT8_MAX) {
			return -CHI_EINVAL;
		}
	}
	return game->head.result > CHI_RESULT_OTHER || game->head.plies != game->n_plies
		       ? -CHI_EINVAL
		       : CHI_OK;
}

/* Everything but the lengths, which it fills in. */
static int pack_body(const struct chi_game *game, const struct chi_position *positions,
		     struct lengths *lengths, struct chi_writer *to)
{
	const char *names[CHI_HEAD_NAMES] = {NULL};
	size_t moves = 0;
	find_names(game, lengths, names);
	for (size_t i = 0; i < CHI_HEAD_NAMES; i++) {
		chi_write_bytes(to, names[i], lengths->names[i]);
	}
	int rc = positions != NULL ? chi_movecode_encode_played(positions, game->moves,
								game->n_plies, to->at, &moves)
				   : chi_moves_pack(game->has_start ? &game->start : NULL,
						    game->moves, game->n_plies, to->at, &moves);
	if (rc != CHI_OK) {
		return rc;
	}
	to->at += moves;
	const uint8_t *shape = to->at;
	write_shape(game, &lengths->head, to);
	const uint8_t *texts = to->at;
	write_texts(game, texts - game->n_tags, to);
	lengths->parts[CHI_BODY_MOVES] = (uint32_t)moves;
	lengths->parts[CHI_BODY_SHAPE] = (uint32_t)(texts - shape);
	lengths->parts[CHI_BODY_TEXTS] = (uint32_t)(to->at - texts);
	return to->bad ? -CHI_EINTERNAL : CHI_OK;
}

uint16_t chi_game_eco(const struct chi_position *positions, size_t n)
{
	const char *eco;
	const char *name;
	return chi_opening_of_game(positions, n, &eco, &name) == CHI_OK
		       ? (uint16_t)(1 + 100 * (eco[0] - 'A') + 10 * (eco[1] - '0') + (eco[2] - '0'))
		       : 0;
}

/* Opening and traits of a game whose positions are not known. */
static int replay(const struct chi_game *game, uint16_t *eco, struct chi_traits *traits)
{
	struct chi_position at[2] = {chi_position_initial};
	*eco = 0;
	chi_traits_begin(traits);
	if (game->has_start && chi_key_decode(&game->start, &at[0], NULL) != CHI_OK) {
		return -CHI_EKEY;
	}
	for (size_t i = 0; i <= game->n_plies; i++) {
		uint16_t found = chi_game_eco(at, 1);
		*eco = found != 0 ? found : *eco;
		if (i < game->n_plies && !chi_movegen_is_legal(&at[0], game->moves[i])) {
			return -CHI_EMOVE;
		}
		chi_traits_add(traits, &at[0], i < game->n_plies ? game->moves[i] : 0);
		if (i < game->n_plies) {
			chi_position_play(&at[0], game->moves[i], &at[1]);
			at[0] = at[1];
		}
	}
	chi_traits_end(traits);
	return CHI_OK;
}

/* The same of one whose positions are. */
static void look(const struct chi_game *game, const struct chi_position *positions, uint16_t *eco,
		 struct chi_traits *traits)
{
	*eco = chi_game_eco(positions, game->n_plies + 1);
	chi_traits_begin(traits);
	for (size_t i = 0; i <= game->n_plies; i++) {
		chi_traits_add(traits, &positions[i], i < game->n_plies ? game->moves[i] : 0);
	}
	chi_traits_end(traits);
}

int chi_game_pack(const struct chi_game *game, const struct chi_position *positions,
		  struct chi_buffer *out)
{
	struct lengths lengths = {.head = {.result = game->head.result,
					   .plies = game->head.plies,
					   .source = game->head.source}};
	struct chi_traits traits;
	int rc = check_tags(game);
	if (rc != CHI_OK) {
		return rc;
	}
	size_t room = room_for(game);
	if (room == 0 || room > out->limit - out->len) {
		return -CHI_ETOOBIG;
	}
	uint8_t *start = chi_buffer_reserve(out, room);
	if (start == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_writer to = chi_writer_of(start + sizeof(lengths), room - sizeof(lengths));
	chi_head_read(game->tags, game->n_tags, &lengths.head);
	if (positions != NULL) {
		look(game, positions, &lengths.head.eco, &traits);
	} else {
		rc = replay(game, &lengths.head.eco, &traits);
	}
	rc = rc != CHI_OK ? rc : pack_body(game, positions, &lengths, &to);
	if (rc == CHI_OK) {
		lengths.traits = (uint32_t)(traits.n * sizeof(chi_trait));
		chi_write_bytes(&to, traits.trait, lengths.traits);
		memcpy(start, &lengths, sizeof(lengths));
		chi_buffer_added(out, (size_t)(to.at - start));
	}
	return rc;
}

int chi_packed_open(const uint8_t *bytes, size_t len, struct chi_packed_game *out)
{
	struct chi_reader from = chi_reader_of(bytes, len);
	struct lengths lengths;
	const uint8_t *head = chi_read_bytes(&from, sizeof(lengths));
	if (head == NULL) {
		return -CHI_EINTERNAL;
	}
	memcpy(&lengths, head, sizeof(lengths));
	out->head = lengths.head;
	memcpy(out->fide, lengths.fide, sizeof(out->fide));
	for (size_t i = 0; i < CHI_HEAD_NAMES; i++) {
		out->names[i] = (struct chi_span){chi_read_bytes(&from, lengths.names[i]),
						  lengths.names[i]};
	}
	for (size_t i = 0; i < CHI_BODY_PARTS; i++) {
		out->body.parts[i] = (struct chi_span){chi_read_bytes(&from, lengths.parts[i]),
						       lengths.parts[i]};
	}
	out->traits = (struct chi_span){chi_read_bytes(&from, lengths.traits), lengths.traits};
	return from.bad || from.at != from.end ? -CHI_EINTERNAL : CHI_OK;
}

/* ---- Unpacking --------------------------------------------------------------------------- */

static const char *read_text(struct chi_reader *from, size_t *len)
{
	uint64_t size = chi_read_small(from);
	const uint8_t *bytes = NULL;
	if (size > chi_reader_left(from)) {
		from->bad = true;
	} else {
		bytes = chi_read_bytes(from, (size_t)size);
	}
	*len = bytes != NULL ? (size_t)size : 0;
	return bytes != NULL ? (const char *)bytes : "";
}

/* The text that the head or a name says for a tag. */
static int read_column(const struct chi_game_head *head, const struct chi_span *names,
		       enum chi_tag_code code, struct chi_arena *arena, struct chi_tag *tag)
{
	char text[CHI_HEAD_TEXT_SIZE];
	unsigned name = name_of(code);
	if (name < CHI_HEAD_NAMES) {
		tag->value = names[name].len > 0 ? (const char *)names[name].bytes : "";
		tag->value_len = names[name].len;
		return CHI_OK;
	}
	if (!chi_head_print(head, code, text, &tag->value_len)) {
		return -CHI_ECORRUPT;
	}
	tag->value = chi_arena_text(arena, text, tag->value_len);
	return tag->value != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* The tags of a body, one after the other: `shape` is at the next one's code, `texts` at its texts.
 */
struct tag_walk {
	struct chi_reader shape;
	struct chi_reader texts;
	uint8_t flags;
	size_t n; /* tags left */
};

static int begin_tags(const struct chi_body *body, struct tag_walk *walk)
{
	const struct chi_span *parts = body->parts;
	walk->shape = chi_reader_of(parts[CHI_BODY_SHAPE].bytes, parts[CHI_BODY_SHAPE].len);
	walk->texts = chi_reader_of(parts[CHI_BODY_TEXTS].bytes, parts[CHI_BODY_TEXTS].len);
	walk->flags = chi_read_u8(&walk->shape);
	uint64_t n = chi_read_small(&walk->shape);
	walk->n = (size_t)n;
	return walk->shape.bad || (walk->flags & ~FLAGS) != 0 || n != chi_reader_left(&walk->shape)
		       ? -CHI_ECORRUPT
		       : CHI_OK;
}

/* The next one; *kept: it has a text of its own, else that follows from the head. CHI_NONE: there
 * is no more. */
static int next_tag(struct tag_walk *walk, enum chi_tag_code *code, struct chi_tag *tag, bool *kept)
{
	if (walk->n == 0) {
		return walk->texts.bad ? -CHI_ECORRUPT : CHI_NONE;
	}
	uint8_t byte = chi_read_u8(&walk->shape);
	walk->n--;
	*kept = (byte & TEXT) != 0;
	*code = (enum chi_tag_code)(byte & ~TEXT);
	if (*code >= CHI_TAGS || byte == CHI_TAG_OTHER) {
		return -CHI_ECORRUPT;
	}
	if (*code == CHI_TAG_OTHER) {
		tag->name = read_text(&walk->texts, &tag->name_len);
	}
	if (*kept) {
		tag->value = read_text(&walk->texts, &tag->value_len);
	}
	return CHI_OK;
}

static int read_tags(const struct chi_game_head *head, const struct chi_span *names,
		     struct tag_walk *walk, struct chi_arena *arena, struct chi_game *out)
{
	struct chi_tag *tags = chi_arena_array(arena, walk->n, sizeof(*tags));
	if (tags == NULL) {
		return -CHI_ENOMEM;
	}
	out->tags = tags;
	for (;; out->n_tags++) {
		struct chi_tag *tag = &tags[out->n_tags];
		enum chi_tag_code code;
		bool kept;
		int rc = walk->n > 0 ? next_tag(walk, &code, tag, &kept) : CHI_NONE;
		if (rc == CHI_OK && code != CHI_TAG_OTHER) {
			tag->name = chi_tag_name(code);
			tag->name_len = strlen(tag->name);
		}
		rc = rc == CHI_OK && !kept ? read_column(head, names, code, arena, tag) : rc;
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? CHI_OK : rc;
		}
	}
}

/* The key of the start position. */
static int read_start(struct chi_reader *texts, struct chi_key *out)
{
	size_t len;
	const char *key = read_text(texts, &len);
	if (len > CHI_KEY_MAX) {
		return -CHI_ECORRUPT;
	}
	*out = (struct chi_key){.len = (uint8_t)len};
	memcpy(out->bytes, key, len);
	return CHI_OK;
}

/* What the flags tell of. */
static int read_rest(uint8_t flags, struct chi_reader *texts, struct chi_game *out)
{
	if ((flags & FLAG_ID) != 0) {
		const uint8_t *id = chi_read_bytes(texts, sizeof(out->id));
		if (id != NULL) {
			memcpy(out->id, id, sizeof(out->id));
		}
	}
	if ((flags & FLAG_START) != 0) {
		out->has_start = true;
		if (read_start(texts, &out->start) != CHI_OK) {
			return -CHI_ECORRUPT;
		}
	}
	if ((flags & FLAG_NOTES) != 0) {
		out->notes = (const uint8_t *)read_text(texts, &out->n_notes);
	}
	if ((flags & FLAG_REST) != 0) {
		out->rest = read_text(texts, &out->n_rest);
	}
	return texts->bad || texts->at != texts->end ? -CHI_ECORRUPT : CHI_OK;
}

int chi_body_unpack(const struct chi_game_head *head, const struct chi_body *body,
		    const struct chi_span names[CHI_HEAD_NAMES], struct chi_arena *arena,
		    struct chi_game *out)
{
	const struct chi_span *moves_part = &body->parts[CHI_BODY_MOVES];
	struct tag_walk walk;
	*out = (struct chi_game){.head = *head, .n_plies = head->plies};
	int rc = begin_tags(body, &walk);
	rc = rc == CHI_OK ? read_tags(head, names, &walk, arena, out) : rc;
	rc = rc == CHI_OK ? read_rest(walk.flags, &walk.texts, out) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	chi_move *moves = chi_arena_array(arena, out->n_plies, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	out->moves = moves;
	return chi_moves_unpack(out->has_start ? &out->start : NULL, moves_part->bytes,
				moves_part->len, moves, out->n_plies);
}

int chi_body_texts(const struct chi_body *body, const struct chi_span names[CHI_HEAD_NAMES],
		   struct chi_span out[CHI_GAME_TEXTS])
{
	struct tag_walk walk;
	struct chi_tag tag = {.name = NULL};
	enum chi_tag_code code;
	bool kept;
	unsigned met = 0;
	int rc = begin_tags(body, &walk);
	memset(out, 0, CHI_GAME_TEXTS * sizeof(*out));
	while (rc == CHI_OK && (rc = next_tag(&walk, &code, &tag, &kept)) == CHI_OK) {
		unsigned at = code == CHI_TAG_ROUND ? CHI_GAME_ROUND : name_of(code);
		bool shown = at != CHI_HEAD_NAMES || code == CHI_TAG_ROUND;
		if (shown && !kept && code == CHI_TAG_ROUND) {
			return -CHI_ECORRUPT;
		}
		if (shown && (met >> at & 1) == 0) {
			met |= 1U << at;
			out[at] =
				kept ? (struct chi_span){(const uint8_t *)tag.value, tag.value_len}
				     : names[at];
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_body_fides(const struct chi_body *body, uint32_t out[2])
{
	struct tag_walk walk;
	struct chi_tag tag;
	enum chi_tag_code code;
	bool kept;
	bool met[2] = {false, false};
	int rc = begin_tags(body, &walk);
	memset(out, 0, 2 * sizeof(*out));
	while (rc == CHI_OK && (rc = next_tag(&walk, &code, &tag, &kept)) == CHI_OK) {
		unsigned black = code == CHI_TAG_BLACK_FIDE_ID;
		uint64_t id = 0;
		/* Of a tag that comes twice the first one counts, as when a game is packed. */
		if (kept && (black != 0 || code == CHI_TAG_WHITE_FIDE_ID) && !met[black]) {
			met[black] = true;
			out[black] =
				chi_num_u64(tag.value, tag.value_len, UINT32_MAX, &id) == CHI_OK
					? (uint32_t)id
					: 0;
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_body_start(const struct chi_body *body, struct chi_key *out)
{
	struct tag_walk walk;
	struct chi_tag tag;
	enum chi_tag_code code;
	bool kept;
	int rc = begin_tags(body, &walk);
	if (rc != CHI_OK || (walk.flags & FLAG_START) == 0) {
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	while (rc == CHI_OK) {
		rc = next_tag(&walk, &code, &tag, &kept);
	}
	if ((walk.flags & FLAG_ID) != 0) {
		(void)chi_read_bytes(&walk.texts, CHI_GAME_ID_SIZE);
	}
	return rc < 0 || read_start(&walk.texts, out) != CHI_OK || walk.texts.bad ? -CHI_ECORRUPT
										  : CHI_OK;
}
