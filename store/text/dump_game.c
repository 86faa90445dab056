/* SPDX-License-Identifier: MIT */
/* The games of a dump, read, and the names and games of the archive. */
#include "base/attr.h"
#include "chess/names/words.h"
#include "chistore/names.h"
#include "store/text/dump_line.h"
#include "store/text/dump_priv.h"

static int read_id(const struct parse *p, struct chi_dump_text text, uint8_t id[CHI_GAME_ID_SIZE])
{
	if (text.len != 2 * (size_t)CHI_GAME_ID_SIZE) {
		return refuse_line(p, -CHI_ESYNTAX, text.at, "an id has 32 digits");
	}
	for (size_t i = 0; i < CHI_GAME_ID_SIZE; i++) {
		int high = hex_digit(text.at[2 * i]);
		int low = hex_digit(text.at[2 * i + 1]);
		if (high < 0 || low < 0) {
			return refuse_line(p, -CHI_ESYNTAX, text.at + 2 * i,
					   "not a digit of a number in hex");
		}
		id[i] = (uint8_t)(high << 4 | low);
	}
	return CHI_OK;
}

/* A number that is written in one way only: 1 or more. */
static int read_number(const struct parse *p, struct chi_dump_text text, uint32_t *out)
{
	uint64_t value = 0;
	int rc = read_u64(p, text, UINT32_MAX, &value);
	*out = (uint32_t)value;
	return rc == CHI_OK && *text.at == '0'
		       ? refuse_line(p, -CHI_ESYNTAX, text.at, "the number is 0, or begins with 0")
		       : rc;
}

/* The same, or "-" for 0. */
static int read_given(const struct parse *p, struct chi_dump_text text, uint32_t *out)
{
	*out = 0;
	return equals(text, "-") ? CHI_OK : read_number(p, text, out);
}

/* The fields in their order: five, or six with the number of one that is kept. */
static int read_game_fields(const struct parse *p, struct chi_dump_text line,
			    struct chi_game_id *game)
{
	static const char *const results[] = DUMP_RESULTS;
	struct chi_dump_text fields[DUMP_GAME_FIELDS_KEPT];
	uint64_t max_ply = 0;
	bool kept = p->reader->head.archive && split(line, '\t', fields, DUMP_GAME_FIELDS_KEPT);
	if (!kept && !split(line, '\t', fields, DUMP_GAME_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at,
				   p->reader->head.archive ? "a game has five fields or six"
							   : "a game has five fields");
	}
	int rc = read_id(p, fields[1], game->id);
	rc = rc == CHI_OK && kept ? read_number(p, fields[5], &game->number) : rc;
	if (rc < 0) {
		return rc;
	}
	game->result = 0;
	while (game->result < CHI_COUNT(results) && !equals(fields[2], results[game->result])) {
		game->result++;
	}
	if (game->result == CHI_COUNT(results)) {
		return refuse_line(p, -CHI_ESYNTAX, fields[2].at, "not a result");
	}
	if (!equals(fields[3], "-")) {
		rc = read_u64(p, fields[3], UINT16_MAX, &max_ply);
		if (rc == CHI_OK && max_ply == 0) {
			rc = refuse_line(p, -CHI_ESYNTAX, fields[3].at, "a bound of 0 is no bound");
		} else if (rc == CHI_OK && *fields[3].at == '0') {
			/* A game has one line. */
			rc = refuse_line(p, -CHI_ESYNTAX, fields[3].at, "a bound begins with 0");
		}
	}
	game->max_ply = (uint16_t)max_ply;
	game->pruned = equals(fields[4], DUMP_PRUNED);
	if (rc == CHI_OK && !game->pruned && !equals(fields[4], "-")) {
		rc = refuse_line(p, -CHI_ESYNTAX, fields[4].at, "neither \"pruned\" nor \"-\"");
	}
	return rc;
}

int chi_dump_read_game(const struct parse *p, struct chi_dump_reader *reader,
		       struct chi_dump_text line)
{
	struct chi_game_id game = {.result = 0};
	int rc = read_game_fields(p, line, &game);
	if (rc < 0) {
		return rc;
	}
	if (reader->n.games > 0 && memcmp(reader->game.id, game.id, CHI_GAME_ID_SIZE) >= 0) {
		return refuse_line(p, -CHI_ESYNTAX, line.at, "the games are not in order");
	}
	reader->game = game;
	reader->n.games++;
	return CHI_OK;
}

/* ---- The archive -------------------------------------------------------------------------- */

static int read_kind(const struct parse *p, struct chi_dump_text text, uint8_t *out)
{
	for (uint8_t kind = CHI_NAME_PLAYER; kind < CHI_NAME_KINDS; kind++) {
		if (equals(text, chi_name_kind_name(kind))) {
			*out = kind;
			return CHI_OK;
		}
	}
	return refuse_line(p, -CHI_ESYNTAX, text.at, "not a kind of names");
}

/* A FIDE id; with a + after it if it was given by hand or by a spelling file. */
static int read_fide(const struct parse *p, struct chi_dump_text text, struct chi_dump_name *name)
{
	name->given = text.len > 0 && text.at[text.len - 1] == '+';
	text.len -= name->given;
	int rc = name->given ? read_number(p, text, &name->fide) : read_given(p, text, &name->fide);
	return rc == CHI_OK && name->given && name->kind != CHI_NAME_PLAYER
		       ? refuse_line(p, -CHI_ESYNTAX, text.at, "only players have FIDE ids")
		       : rc;
}

int chi_dump_read_name(const struct parse *p, struct chi_dump_reader *reader,
		       struct chi_dump_text line)
{
	struct chi_dump_text fields[DUMP_NAME_FIELDS];
	struct chi_dump_name *name = &reader->name;
	if (!split(line, '\t', fields, DUMP_NAME_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at, "a name has six fields");
	}
	int rc = read_kind(p, fields[1], &name->kind);
	rc = rc == CHI_OK ? read_number(p, fields[2], &name->id) : rc;
	rc = rc == CHI_OK ? chi_dump_unescape(p, fields[3], &name->text, &name->len) : rc;
	rc = rc == CHI_OK ? read_fide(p, fields[4], name) : rc;
	rc = rc == CHI_OK ? read_given(p, fields[5], &name->root) : rc;
	if (rc == CHI_OK && (name->len == 0 || name->len > CHI_NAME_MAX)) {
		rc = refuse_line(p, -CHI_ESYNTAX, fields[3].at, "the name is empty, or too long");
	}
	reader->n.names += rc == CHI_OK;
	return rc;
}

int chi_dump_read_kept(const struct parse *p, struct chi_dump_reader *reader,
		       struct chi_dump_text line)
{
	struct chi_dump_text fields[DUMP_KEPT_FIELDS];
	struct chi_dump_text *source = &reader->source;
	if (!split(line, '\t', fields, DUMP_KEPT_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at, "a kept game has three fields");
	}
	int rc = read_number(p, fields[1], &reader->kept);
	rc = rc == CHI_OK ? chi_dump_unescape(p, fields[2], &source->at, &source->len) : rc;
	if (rc == CHI_OK && source->len >= CHI_SOURCE_SIZE) {
		rc = refuse_line(p, -CHI_ESYNTAX, fields[2].at, "the source is too long");
	}
	reader->n.kept += rc == CHI_OK;
	return rc;
}

int chi_dump_read_gameset(const struct parse *p, struct chi_dump_reader *reader,
			  struct chi_dump_text line)
{
	struct chi_dump_text fields[DUMP_GAMESET_FIELDS];
	if (!split(line, '\t', fields, DUMP_GAMESET_FIELDS)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at, "a gameset has three fields");
	}
	int rc = chi_dump_unescape(p, fields[1], &reader->text.at, &reader->text.len);
	rc = rc == CHI_OK ? chi_dump_unescape(p, fields[2], &reader->filter.at, &reader->filter.len)
			  : rc;
	reader->n.gamesets += rc == CHI_OK;
	return rc;
}

/* ---- The last line ------------------------------------------------------------------------ */

/* A dump whose numbers do not fit lost lines, or got some. */
static int check_tail(const struct parse *p, const struct chi_dump_reader *reader,
		      const struct chi_dump_text *numbers, const uint64_t *said)
{
	static const char *const refusals[] = {
		"not the number of positions read: the dump is damaged",
		"not the number of games read: the dump is damaged",
		"not the number of names read: the dump is damaged",
		"not the number of kept games read: the dump is damaged",
		"not the number of gamesets read: the dump is damaged",
	};
	const struct chi_dump_tail *n = &reader->n;
	const uint64_t read[] = {n->positions, n->games, n->names, n->kept, n->gamesets};
	for (size_t i = 0; i < CHI_COUNT(read) && !reader->part; i++) {
		if (said[i] != read[i]) {
			return refuse_line(p, -CHI_ESYNTAX, numbers[i].at, refusals[i]);
		}
	}
	return CHI_OK;
}

int chi_dump_read_tail(const struct parse *p, struct chi_dump_reader *reader,
		       struct chi_dump_text line)
{
	bool archive = reader->head.archive;
	size_t n = archive ? DUMP_END_NUMBERS_ARCHIVE : DUMP_END_NUMBERS;
	struct chi_dump_text fields[1 + DUMP_END_NUMBERS_ARCHIVE];
	uint64_t said[DUMP_END_NUMBERS_ARCHIVE] = {0};
	if (!split(line, '\t', fields, 1 + n)) {
		return refuse_line(p, -CHI_ESYNTAX, line.at,
				   archive ? "the end has six numbers" : "the end has two numbers");
	}
	for (size_t i = 0; i < n; i++) {
		/* The last is the number of a game. */
		int rc = read_u64(p, fields[1 + i],
				  i == DUMP_END_NUMBERS_ARCHIVE - 1 ? UINT32_MAX : UINT64_MAX,
				  &said[i]);
		if (rc < 0) {
			return rc;
		}
	}
	int rc = check_tail(p, reader, fields + 1, said);
	if (rc == CHI_OK) {
		reader->n = (struct chi_dump_tail){said[0], said[1], said[2],
						   said[3], said[4], said[5]};
	}
	return rc;
}
