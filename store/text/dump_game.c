/* SPDX-License-Identifier: MIT */
/* The games of a dump, read. */
#include "base/attr.h"
#include "store/text/dump_line.h"
#include "store/text/dump_priv.h"

static int read_id(const struct parse *p, struct text text, uint8_t id[CHI_GAME_ID_SIZE])
{
	if (text.len != 2 * (size_t)CHI_GAME_ID_SIZE) {
		return refuse(p, -CHI_ESYNTAX, text.at, "an id has 32 digits");
	}
	for (size_t i = 0; i < CHI_GAME_ID_SIZE; i++) {
		int high = hex_digit(text.at[2 * i]);
		int low = hex_digit(text.at[2 * i + 1]);
		if (high < 0 || low < 0) {
			return refuse(p, -CHI_ESYNTAX, text.at + 2 * i,
				      "not a digit of a number in hex");
		}
		id[i] = (uint8_t)(high << 4 | low);
	}
	return CHI_OK;
}

/* The five fields in their order. */
static int read_game_fields(const struct parse *p, struct text line, struct chi_game_id *game)
{
	static const char *const results[] = DUMP_RESULTS;
	struct text fields[DUMP_GAME_FIELDS];
	uint64_t max_ply = 0;
	if (!split(line, '\t', fields, DUMP_GAME_FIELDS)) {
		return refuse(p, -CHI_ESYNTAX, line.at, "a game has five fields");
	}
	int rc = read_id(p, fields[1], game->id);
	if (rc < 0) {
		return rc;
	}
	game->result = 0;
	while (game->result < CHI_COUNT(results) && !equals(fields[2], results[game->result])) {
		game->result++;
	}
	if (game->result == CHI_COUNT(results)) {
		return refuse(p, -CHI_ESYNTAX, fields[2].at, "not a result");
	}
	if (!equals(fields[3], "-")) {
		rc = read_u64(p, fields[3], UINT16_MAX, &max_ply);
		if (rc == CHI_OK && max_ply == 0) {
			rc = refuse(p, -CHI_ESYNTAX, fields[3].at, "a bound of 0 is no bound");
		} else if (rc == CHI_OK && *fields[3].at == '0') {
			/* A game has one line. */
			rc = refuse(p, -CHI_ESYNTAX, fields[3].at, "a bound begins with 0");
		}
	}
	game->max_ply = (uint16_t)max_ply;
	game->pruned = equals(fields[4], DUMP_PRUNED);
	if (rc == CHI_OK && !game->pruned && !equals(fields[4], "-")) {
		rc = refuse(p, -CHI_ESYNTAX, fields[4].at, "neither \"pruned\" nor \"-\"");
	}
	return rc;
}

int chi_dump_read_game(const struct parse *p, struct chi_dump_reader *reader, struct text line)
{
	struct chi_game_id game = {.result = 0};
	int rc = read_game_fields(p, line, &game);
	if (rc < 0) {
		return rc;
	}
	if (reader->games > 0 && memcmp(reader->game.id, game.id, CHI_GAME_ID_SIZE) >= 0) {
		return refuse(p, -CHI_ESYNTAX, line.at, "the games are not in order");
	}
	reader->game = game;
	reader->games++;
	return CHI_OK;
}
