/* SPDX-License-Identifier: MIT */
/* Made-up positions: men thrown on a board until it is one. */
#include "cli/bench/synthetic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "chess/key.h"
#include "chess/position.h"
#include "chess/statistic.h"
#include "cli/bench/rng.h"

int synthetic_init(struct synthetic *synthetic, enum chi_statistic statistic)
{
	*synthetic = (struct synthetic){.statistic = statistic};
	if (getrandom(synthetic->salt, sizeof(synthetic->salt), 0) != sizeof(synthetic->salt)) {
		return -CHI_EIO;
	}
	(void)snprintf(synthetic->note, sizeof(synthetic->note), "chistore bench %016" PRIx64,
		       rng_mix(synthetic->salt[0]));
	for (int i = 0; i < SYNTHETIC_EVALS; i++) {
		synthetic->evals[i] = (struct chi_eval){
			.engine = "bench", .engine_len = 5, .depth = 1, .score = 37 * i - 300};
	}
	return CHI_OK;
}

/* Two streams side by side, so that all 128 bits of the salt count. */
struct throw
{
	struct rng a;
	struct rng b;
};

static uint32_t below(struct throw *throw, uint32_t bound)
{
	uint64_t bits = rng_next(&throw->a) ^ rng_next(&throw->b);
	return (uint32_t)((bits >> 32) * bound >> 32);
}

/* A square from `first` on, of `n`, that is free. */
static int free_square(struct throw *throw, const struct chi_position *position, int first,
		       uint32_t n)
{
	int square;
	do {
		square = first + (int)below(throw, n);
	} while ((chi_position_occupied(position) & chi_bit(square)) != 0);
	return square;
}

/* Both kings, and of each other man of the initial position three in four. */
static void place(struct throw *throw, struct chi_position *position)
{
	static const int men[] = {[CHI_PAWN] = 8, [CHI_KNIGHT] = 2, [CHI_BISHOP] = 2,
				  [CHI_ROOK] = 2, [CHI_QUEEN] = 1,  [CHI_KING] = 1};
	chi_position_clear(position);
	for (int kind = CHI_PAWN; kind <= CHI_KING; kind++) {
		for (int i = 0; i < 2 * men[kind]; i++) {
			if (kind == CHI_KING || below(throw, 4) != 0) {
				int square = kind == CHI_PAWN ? free_square(throw, position, 8, 48)
							      : free_square(throw, position, 0, 64);
				chi_position_put(position, i % 2, kind, square);
			}
		}
	}
	position->side = (uint8_t)below(throw, 2);
}

void synthetic_key(const struct synthetic *synthetic, uint32_t client, uint64_t number,
		   struct chi_key *out)
{
	struct throw throw = {
		.a = {rng_mix(synthetic->salt[0] ^ rng_mix(client + UINT64_C(1)))},
		.b = {rng_mix(synthetic->salt[1] + number)},
	};
	struct chi_position position;
	do {
		place(&throw, &position);
	} while (chi_position_in_check(&position, 1 - position.side));
	chi_key_encode(&position, out);
}

/* A record changes both trees: it is put into the one by strength if it has a statistic. */
void synthetic_put(const struct synthetic *synthetic, uint32_t client, uint64_t number,
		   struct chi_put_entry *out)
{
	uint64_t bits = rng_mix(synthetic->salt[0] ^ number);
	*out = (struct chi_put_entry){
		.parts = CHI_PUT_NOTE,
		.record = {.note = synthetic->note, .n_note = strlen(synthetic->note)},
	};
	synthetic_key(synthetic, client, number, &out->key);
	if (synthetic->statistic == CHI_STATISTIC_EXTERNAL) {
		out->parts |= CHI_PUT_CHI2;
		out->record.chi2 = (uint16_t)(1 + bits % CHI_CHI2_MAX);
	} else if (chi_statistic_has_base(synthetic->statistic)) {
		out->parts |= CHI_PUT_COUNTS;
		out->record.counts = (struct chi_counts){
			.white = 1 + bits % 9, .draws = bits >> 8 & 7, .black = bits >> 16 & 7};
	} else if (synthetic->statistic == CHI_STATISTIC_EVAL) {
		out->parts |= CHI_PUT_EVALS;
		out->record.evals = &synthetic->evals[bits % SYNTHETIC_EVALS];
		out->record.n_evals = 1;
	}
}
