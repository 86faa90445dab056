/* SPDX-License-Identifier: MIT */
/*
 * Fits the weights of the evaluation to the results of games: chi-tune STORE > uci/search/weights.c
 *
 * Quiet positions of the archive's games are taken; the evaluation, as a chance to win by the
 * logistic curve, is to come as near to their games' results as it can, in the least squares'
 * sense (P. Österlund's method, as chess programmers know it). The gradient is followed by Adam
 * (Kingma and Ba, 2015).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chistore.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "uci/search/evaluate.h"
#include "uci/search/node.h"

#define FIRST_PLY 12
#define EVERY	  4
#define ROUNDS	  60
#define BATCH	  16384
#define RATE	  1.0
#define SLOPE	  (2.302585 / 400) /* of the curve: 400 centipawns are ten to one */

struct feature {
	uint16_t term;
	int8_t count;
};

struct tuning_sample {
	size_t first; /* of its features */
	uint16_t n;
	uint8_t phase;
	uint8_t scale;
	float result;
};

struct data {
	struct feature *features;
	size_t n_features;
	size_t room_features;
	struct tuning_sample *samples;
	size_t n;
	size_t room;
	struct chi_classes classes;
};

static void *grown(void *old, size_t *room, size_t needed, size_t size)
{
	if (needed <= *room) {
		return old;
	}
	*room = needed * 2;
	void *bytes = realloc(old, *room * size);
	if (bytes == NULL) {
		fprintf(stderr, "chi-tune: out of memory\n");
		exit(1);
	}
	return bytes;
}

static void take_sample(struct data *data, const struct chi_position *p, double result)
{
	struct chi_trace trace;
	chi_evaluate_trace(p, &data->classes, &trace);
	data->samples = grown(data->samples, &data->room, data->n + 1, sizeof(*data->samples));
	data->features = grown(data->features, &data->room_features, data->n_features + CHI_TERMS,
			       sizeof(*data->features));
	struct tuning_sample *sample = &data->samples[data->n++];
	*sample = (struct tuning_sample){.first = data->n_features,
					 .phase = (uint8_t)trace.phase,
					 .scale = (uint8_t)trace.scale,
					 .result = (float)result};
	for (int i = 0; i < CHI_TERMS; i++) {
		if (trace.counts[i] != 0) {
			data->features[data->n_features++] =
				(struct feature){(uint16_t)i, trace.counts[i]};
			sample->n++;
		}
	}
}

/* Nothing is to be won by taking, and nothing was taken. */
static bool is_quiet(const struct chi_position *p, chi_move played)
{
	struct chi_move_list list;
	if (chi_position_in_check(p, p->side) || !chi_is_quiet(p, played)) {
		return false;
	}
	chi_movegen_legal(p, &list);
	for (size_t i = 0; i < list.n; i++) {
		if (!chi_is_quiet(p, list.moves[i]) && chi_see_at_least(p, list.moves[i], 1)) {
			return false;
		}
	}
	return true;
}

static void take_tuning_game(struct data *data, const struct chi_game *game)
{
	struct chi_position p;
	struct chi_position next;
	double result = game->head.result == CHI_RESULT_WHITE  ? 1
			: game->head.result == CHI_RESULT_DRAW ? 0.5
							       : 0;
	if (game->has_start || game->head.result == CHI_RESULT_OTHER ||
	    chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &p, NULL) != CHI_OK) {
		return;
	}
	for (size_t i = 0; i < game->n_plies; i++) {
		if (i >= FIRST_PLY && (i + game->head.number) % EVERY == 0 &&
		    is_quiet(&p, game->moves[i])) {
			take_sample(data, &p, result);
		}
		chi_position_play(&p, game->moves[i], &next);
		p = next;
	}
}

static int read_tuning_games(struct data *data, const char *address)
{
	struct chi_client *client;
	struct chi_info info;
	struct chi_fault fault;
	if (chi_open(address, NULL, &client, &fault) != CHI_OK) {
		fprintf(stderr, "chi-tune: %s\n", fault.text);
		return 1;
	}
	int rc = chi_store_info(client, &info);
	for (uint32_t i = 1; rc == CHI_OK && i <= info.last_game; i++) {
		struct chi_game_row row;
		struct chi_game game;
		int got = chi_game_get(client, i, &row, &game);
		rc = got < 0 ? got : CHI_OK;
		if (got == CHI_OK) {
			take_tuning_game(data, &game);
		}
	}
	if (rc != CHI_OK) {
		fprintf(stderr, "chi-tune: %s\n", chi_error(client));
	}
	chi_close(client);
	return rc != CHI_OK;
}

/* ---- Fitting ------------------------------------------------------------------------------- */

/* Middlegame first, then endgame. */
struct fit {
	double weights[2 * CHI_TERMS];
	double gradient[2 * CHI_TERMS];
	double mean[2 * CHI_TERMS];
	double square[2 * CHI_TERMS];
	double steps;
};

static double chance(const struct fit *fit, const struct data *data,
		     const struct tuning_sample *sample, double *middle, double *end)
{
	double score[2] = {0, 0};
	for (unsigned i = 0; i < sample->n; i++) {
		const struct feature *feature = &data->features[sample->first + i];
		score[0] += feature->count * fit->weights[feature->term];
		score[1] += feature->count * fit->weights[CHI_TERMS + feature->term];
	}
	*middle = (double)sample->phase / CHI_PHASE_MAX;
	*end = (1 - *middle) * sample->scale / 64;
	return 1 / (1 + exp(-SLOPE * (score[0] * *middle + score[1] * *end)));
}

/* Returns the squared error. */
static double add_gradient(struct fit *fit, const struct data *data,
			   const struct tuning_sample *sample)
{
	double middle;
	double end;
	double p = chance(fit, data, sample, &middle, &end);
	double error = p - (double)sample->result;
	double slope = error * p * (1 - p);
	for (unsigned i = 0; i < sample->n; i++) {
		const struct feature *feature = &data->features[sample->first + i];
		fit->gradient[feature->term] += slope * middle * feature->count;
		fit->gradient[CHI_TERMS + feature->term] += slope * end * feature->count;
	}
	return error * error;
}

static void step_fit(struct fit *fit, double rate)
{
	fit->steps++;
	for (int i = 0; i < 2 * CHI_TERMS; i++) {
		double g = fit->gradient[i] / BATCH * 1000;
		fit->mean[i] = 0.9 * fit->mean[i] + 0.1 * g;
		fit->square[i] = 0.999 * fit->square[i] + 0.001 * g * g;
		double mean = fit->mean[i] / (1 - pow(0.9, fit->steps));
		double square = fit->square[i] / (1 - pow(0.999, fit->steps));
		fit->weights[i] -= rate * mean / (sqrt(square) + 1e-6);
		fit->gradient[i] = 0;
	}
}

static void shuffle(struct data *data)
{
	uint64_t state = 1;
	for (size_t i = data->n; i > 1; i--) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		size_t j = (size_t)((state >> 33) % i);
		struct tuning_sample sample = data->samples[i - 1];
		data->samples[i - 1] = data->samples[j];
		data->samples[j] = sample;
	}
}

/* One sample in ten is kept out, and judges. */
static void run_fit(struct fit *fit, const struct data *data)
{
	size_t held = data->n / 10;
	for (int round = 0; round < ROUNDS; round++) {
		double rate = RATE * (round < ROUNDS / 2 ? 1 : 2.0 * (ROUNDS - round) / ROUNDS);
		double error = 0;
		double unseen = 0;
		for (size_t i = held; i < data->n; i++) {
			error += add_gradient(fit, data, &data->samples[i]);
			if ((i - held) % BATCH == BATCH - 1) {
				step_fit(fit, rate);
			}
		}
		for (size_t i = 0; i < held; i++) {
			double middle;
			double end;
			double p = chance(fit, data, &data->samples[i], &middle, &end);
			unseen += (p - (double)data->samples[i].result) *
				  (p - (double)data->samples[i].result);
		}
		fprintf(stderr, "round %d: %.6f, of unseen positions %.6f\n", round + 1,
			error / (double)(data->n - held), unseen / (double)held);
	}
}

/* What a pawn is worth becomes 100. */
static void print_fit(const struct fit *fit)
{
	double pawn = (fit->weights[CHI_TERM_PIECE] + fit->weights[CHI_TERMS + CHI_TERM_PIECE]) / 2;
	double by = pawn > 1 ? 100 / pawn : 1;
	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/* Written by chi-tune (uci/tune.c) from games; not by hand. */\n"
	       "#include \"uci/search/terms.h\"\n\n"
	       "const struct chi_weight chi_weights[CHI_TERMS] = {\n");
	for (int i = 0; i < CHI_TERMS; i++) {
		printf("%s{%ld, %ld},%s", i % 8 == 0 ? "\t" : " ", lround(fit->weights[i] * by),
		       lround(fit->weights[CHI_TERMS + i] * by),
		       i % 8 == 7 || i == CHI_TERMS - 1 ? "\n" : "");
	}
	printf("};\n");
}

int main(int argc, char **argv)
{
	static struct data data;
	static struct fit fit;
	if (argc != 2) {
		fprintf(stderr, "usage: chi-tune STORE > uci/search/weights.c\n");
		return 2;
	}
	if (read_tuning_games(&data, argv[1]) != 0) {
		return 1;
	}
	fprintf(stderr, "%zu positions, %zu features\n", data.n, data.n_features);
	for (int i = 0; i < CHI_TERMS; i++) {
		fit.weights[i] = chi_weights[i].middle;
		fit.weights[CHI_TERMS + i] = chi_weights[i].end;
	}
	shuffle(&data);
	run_fit(&fit, &data);
	print_fit(&fit);
	free(data.features);
	free(data.samples);
	return 0;
}
