/* SPDX-License-Identifier: MIT */
/*
 * Random requests and responses, every field of every operation, and whether two say the same.
 * What is made lives in the arena. Sizes are small, so that many thousand can be made; the limits
 * have tests of their own.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "proto/msg.h"
#include "tests/base/seed.h"

struct sample {
	struct seed *seed;
	struct chi_arena *arena;
};

struct chi_message;

/* A zeroed struct of any message that has a table of its fields (by_table.c). */
void sample_message(struct sample *s, const struct chi_message *type, void *out);
/* The own struct of an operation's request or result; NULL: it has none. */
void *sample_body(struct sample *s, enum chi_op op, bool request);
bool same_message(const struct chi_message *type, const void *a, const void *b);

void sample_request(struct sample *sample, enum chi_op op, struct chi_request *out);
bool same_request(const struct chi_request *a, const struct chi_request *b);

/* `op` may be any; those without a result of their own give an error response. */
void sample_response(struct sample *sample, enum chi_op op, struct chi_response *out);
bool same_response(const struct chi_response *a, const struct chi_response *b);

/* Parts, for the files of samples and tests that need single ones. */
size_t sample_below(struct sample *s, size_t bound);
bool sample_coin(struct sample *s);
uint64_t sample_number(struct sample *s);
void *sample_take(struct sample *s, size_t n, size_t size);
struct chi_text sample_text(struct sample *s, size_t max);
struct chi_counts sample_counts(struct sample *s);
chi_move sample_move(struct sample *s);
const struct chi_game_id *sample_ids(struct sample *s, size_t n);
void sample_explore(struct sample *s, struct chi_explore *out);
struct chi_key sample_key(struct sample *sample);
struct chi_record sample_record(struct sample *sample);
const struct chi_game_row *sample_games(struct sample *s, size_t n);
struct chi_row *sample_rows(struct sample *sample, size_t n, bool counts, bool all_found);

/* Gives a row that was found an evaluation and a best move, or not: rows of probes alone have
 * them. */
static inline void sample_eval(struct sample *s, struct chi_row *row)
{
	row->has_eval = row->found && seed_below(s->seed, 2) == 0;
	if (row->has_eval) {
		row->is_mate = seed_below(s->seed, 2) == 0;
		int32_t max = row->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
		row->depth = (uint16_t)seed_below(s->seed, UINT16_MAX + 1);
		row->score = (int32_t)seed_below(s->seed, 2 * (uint64_t)max + 1) - max;
	}
	row->best_source = row->found ? (uint8_t)seed_below(s->seed, CHI_BEST_PLAYED + 1) : 0;
	if (row->best_source == CHI_BEST_EVAL && !row->has_eval) {
		row->best_source = CHI_BEST_NONE;
	}
	row->best = row->best_source != CHI_BEST_NONE
			    ? (chi_move)(64 * (1 + seed_below(s->seed, 63)))
			    : 0;
}

/* The options of an import; they need not go together. */
void sample_import(struct sample *s, struct chi_request *out);

/* Messages that have to do with games (sample_games.c); false: it is none of these. */
void sample_games_request(struct sample *s, struct chi_request *out);
bool sample_games_response(struct sample *s, struct chi_response *out);

/* And whether two say the same (same_games.c). */
bool same_text(struct chi_text a, struct chi_text b);
bool same_string(const char *a, const char *b);
bool same_game_rows(const struct chi_game_row *a, const struct chi_game_row *b, size_t n);
bool same_key(const struct chi_key *a, const struct chi_key *b);
bool same_counts(const struct chi_counts *a, const struct chi_counts *b);
bool same_explore(const struct chi_explore *a, const struct chi_explore *b);
bool same_archive_request(const struct chi_request *a, const struct chi_request *b);
bool same_archive_response(const struct chi_response *a, const struct chi_response *b);

/* The same with names, gamesets and patterns (sample_search.c). */
void sample_search_request(struct sample *s, struct chi_request *out);
bool sample_search_response(struct sample *s, struct chi_response *out);
bool same_search_request(const struct chi_request *a, const struct chi_request *b);
bool same_search_response(const struct chi_response *a, const struct chi_response *b);

/* The same with the queue (sample_queue.c). */
void sample_queue_request(struct sample *s, struct chi_request *out);
bool sample_queue_response(struct sample *s, struct chi_response *out);
bool same_queue_request(const struct chi_request *a, const struct chi_request *b);
bool same_queue_response(const struct chi_response *a, const struct chi_response *b);
