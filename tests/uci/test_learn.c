/* SPDX-License-Identifier: MIT */
/* Evaluations on their way to a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chistore.h"
#include "uci/learn.h"
#include "tests/base/cases.h"

#define LESSONS 64
#define BAD	37

static struct chi_fault fault;
static unsigned n_learned;

static void learned(void *context, const struct chi_key *key, unsigned depth)
{
	(void)context;
	(void)key;
	(void)depth;
	n_learned++;
}

/* A king on each square of the board, as far as that may be. */
static struct chi_position position_of(int i)
{
	struct chi_position position;
	char fen[CHI_FEN_SIZE];
	snprintf(fen, sizeof(fen), "7k/%d%s%d/8/8/8/8/%d%s%d/K7 w - - 0 1", i % 6 + 1, "p",
		 6 - i % 6, i / 6 % 6 + 1, i / 36 == 0 ? "P" : "N", 6 - i / 6 % 6);
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &position, &fault), CHI_OK);
	return position;
}

static bool is_stored(struct chi_client *client, const struct chi_position *position)
{
	struct chi_key key;
	struct chi_record record;
	chi_key_encode(position, &key);
	int rc = chi_get(client, &key, &record);
	assert_true(rc >= 0);
	return rc == CHI_OK && record.n_evals == 1 && record.evals[0].depth == 5 &&
	       record.evals[0].engine_len == 4 && memcmp(record.evals[0].engine, "mine", 4) == 0;
}

/* A batch was all or nothing. */
CASE(test_a_bad_one_takes_no_good_ones_with_it)
{
	char path[] = "/tmp/chi-learn-XXXXXX";
	char address[64];
	struct chi_learner *learner;
	struct chi_client *client;
	assert_non_null(mkdtemp(path));
	snprintf(address, sizeof(address), "%s/store", path);
	assert_int_equal(chi_store_create(address, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
			 CHI_OK);
	assert_int_equal(chi_learner_open(address, learned, NULL, &learner, &fault), CHI_OK);
	for (int i = 0; i < LESSONS; i++) {
		struct chi_position position = position_of(i);
		struct chi_move_list list;
		chi_movegen_legal(&position, &list);
		/* No store takes a mate so far away. */
		chi_learn(learner, "mine", &position, i == BAD ? 30000 * CHI_MATE : i, 5, 0,
			  list.moves, 1);
	}
	assert_int_equal(chi_learner_close(learner), 1);
	assert_int_equal(n_learned, LESSONS - 1);
	assert_int_equal(chi_open(address, NULL, &client, &fault), CHI_OK);
	for (int i = 0; i < LESSONS; i++) {
		struct chi_position position = position_of(i);
		assert_int_equal(is_stored(client, &position), i != BAD);
	}
	chi_close(client);
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", path);
	assert_int_equal(system(command), 0);
}
