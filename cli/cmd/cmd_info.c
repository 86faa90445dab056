/* SPDX-License-Identifier: MIT */
/* chistore info: what a store says of itself. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cli/command.h"
#include "cli/out/output.h"

static json_t *uuid_json(const uint8_t uuid[16])
{
	char text[UUID_SIZE];
	uuid_print(uuid, text);
	return json_string(text);
}

/* Null until base rates have been set. */
static json_t *base_json(const struct chi_info *info, uint64_t count)
{
	return games_of(&info->base) == 0 ? json_null() : json_count(count);
}

/* Bytes, of which each of `n` has a share; null without anything to share them. */
static json_t *share_json(uint64_t bytes, uint64_t n)
{
	return n == 0 ? json_null() : json_real((double)bytes / (double)n);
}

static uint64_t all_games(const struct chi_info *info)
{
	return games_of(&info->games) + info->games.other;
}

/* Null where writes are taken. */
static json_t *read_only_json(uint8_t why)
{
	static const char *const reasons[] = {
		[CHI_READ_ONLY_PUBLISHED] = "published", [CHI_READ_ONLY_SERVER] = "server",
		[CHI_READ_ONLY_CRASHES] = "crashes",	 [CHI_READ_ONLY_DISK] = "disk",
		[CHI_READ_ONLY_MEDIA] = "media",
	};
	return why == CHI_READ_ONLY_NOT || why >= CHI_COUNT(reasons) ? json_null()
								     : json_string(reasons[why]);
}

/* Bytes that a block of several entries may take. */
#define BLOCK_ROOM 2030

/* What the performance statistic was computed with, if that was. */
static json_t *expected_json(const struct chi_info *info, double thousandths)
{
	return info->expected.games > 0 ? json_real(thousandths / 1000) : json_null();
}

/* The order of the members is the order of the lines; names are documented in chistore.1. */
static json_t *info_json(const struct chi_info *info)
{
	const char *statistic = chi_statistic_name(info->statistic);
	size_t creator_len = strnlen(info->creator, sizeof(info->creator));
	return json_pack(
		"{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, "
		"s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"uuid", uuid_json(info->uuid), "format",
		json_sprintf("%u.%u", info->format_major, info->format_minor), "statistic",
		statistic != NULL ? statistic : "unknown", "created", json_time(info->created),
		"creator", json_text(info->creator, creator_len), "sequence",
		json_count(info->sequence), "positions", json_count(info->positions), "known",
		json_count(info->known), "unknown", json_count(info->positions - info->known),
		"base_white", base_json(info, info->base.white), "base_draws",
		base_json(info, info->base.draws), "base_black", base_json(info, info->base.black),
		"games", json_count(all_games(info)), "games_white", json_count(info->games.white),
		"games_draws", json_count(info->games.draws), "games_black",
		json_count(info->games.black), "games_other", json_count(info->games.other),
		"file_bytes", json_count(info->file_bytes), "used_bytes",
		json_count(info->used_bytes), "bytes_per_position",
		share_json(info->used_bytes, info->positions), "bytes_per_game",
		share_json(info->used_bytes, all_games(info)), "position_tree_bytes",
		share_json(info->position_bytes, info->positions), "strength_tree_bytes",
		share_json(info->strength_bytes, info->known), "block_fill",
		share_json(info->block_bytes, info->blocks * BLOCK_ROOM), "map_bytes",
		json_count(info->map_bytes), "readers", json_count(info->readers), "readers_max",
		json_count(info->readers_max), "oldest_reader", json_count(info->oldest_reader),
		"read_only", read_only_json(info->read_only), "games_kept",
		info->keep == CHI_KEEP_GAMES, "games_whole",
		info->keep == CHI_KEEP_GAMES && !info->partial, "last_game",
		json_count(info->last_game), "archive_bytes", json_count(info->archive_bytes),
		"postings_bytes", json_count(info->postings_bytes), "traits_bytes",
		json_count(info->traits_bytes), "shards", json_count(info->shards),
		"expected_games",
		info->expected.games > 0 ? json_count(info->expected.games) : json_null(),
		"expected_move", expected_json(info, (double)info->expected.move), "expected_scale",
		expected_json(info, (double)info->expected.scale), "expected_spread",
		expected_json(info, (double)info->expected.spread));
}

static int run_info(struct cli *cli)
{
	struct chi_info info;
	int status = chi_store_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	return output_object(cli, info_json(&info));
}

const struct command cmd_info = {
	.name = "info",
	.arguments = "",
	.summary = "print what a store holds and how large it is",
	.help = "Prints lines of name, tab, value:\n"
		"  uuid, format, created, creator  identity of the store\n"
		"  statistic                       which statistic it holds\n"
		"  sequence                        committed write transactions\n"
		"  positions, known, unknown       positions; with a statistic; without one\n"
		"  base_white, ..draws, ..black    base rates of the outcome or score statistic\n"
		"  games                           games that are counted in the store\n"
		"  games_white, ..draws, ..black,  those won by White, drawn, won by Black,\n"
		"    ..other                       without a result\n"
		"  file_bytes, used_bytes          size of the file; the part in use\n"
		"  bytes_per_position, ..game      from the bytes in use\n"
		"  position_tree_bytes             of that tree, for each position\n"
		"  strength_tree_bytes             of that tree, for each known position\n"
		"  block_fill                      how full the blocks of both trees are, 0 to 1\n"
		"  map_bytes                       address space reserved (not memory)\n"
		"  readers, readers_max            registered readers, and their limit\n"
		"  oldest_reader                   how old the oldest's state is, in transactions\n"
		"  read_only                       why it cannot be written: published (a copy),\n"
		"                                  server (started so), crashes (of the server);\n"
		"                                  or -\n"
		"  games_kept                      whether it keeps the games that it counts\n"
		"  games_whole                     whether these are in the lists of all their\n"
		"                                  positions\n"
		"  last_game                       the highest number that a game was given\n"
		"  archive_bytes                   of the games with their headers and names\n"
		"  postings_bytes                  of the lists of games of frequent positions\n"
		"  traits_bytes                    of the lists of games by material and the like\n"
		"  shards                          objects on RADOS that hold its positions; else "
		"0\n"
		"  expected_games, ..move,         what the performance statistic was computed "
		"with:\n"
		"    ..scale, ..spread             rated games, the move in rating points, the "
		"scale\n"
		"                                  of differences (Elo's is 400), how far results\n"
		"                                  are spread about it; or -",
	.example = "chistore -a unix:/run/chistore/socket info --json",
	.needs = NEEDS_READ,
	.run = run_info,
};
