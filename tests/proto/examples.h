/* SPDX-License-Identifier: MIT */
/* The messages that PROTOCOL.md shows in hex, as the structs they stand for. */
#pragma once

#include <stddef.h>

#include "proto/msg.h"

/* Exactly one of the two is set. */
struct example {
	const char *name; /* as after "```hex " in PROTOCOL.md */
	const struct chi_request *request;
	const struct chi_response *response;
};

extern const struct example examples[];
extern const size_t n_examples;

/* Of the archive of games (examples_games.c). */
extern const struct chi_request example_game_query, example_get_game, example_get_heads;
extern const struct chi_request example_explore_games;
extern const struct chi_request example_stats;
extern const struct chi_response example_game_query_result, example_get_game_result;
extern const struct chi_response example_get_heads_result;
extern const struct chi_response example_stats_result;
/* Those with names, gamesets and patterns (examples_search.c). */
extern const struct example search_examples[];
extern const size_t n_search_examples;
/* Those of the queue (examples_queue.c). */
extern const struct example queue_examples[];
extern const size_t n_queue_examples;
