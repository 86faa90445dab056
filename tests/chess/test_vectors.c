/* SPDX-License-Identifier: MIT */
/* The 306 published vectors: normalised FEN, key and control statistic of each, without exception,
 * and the way back from the key. */
#include "tests/chess/support.h"

#include "base/num.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "tests/chess/position_equal.h"

#define VECTORS 306

/* Cuts a line at its commas. */
static void split_columns(char *line, char *columns[4])
{
	for (int i = 0; i < 4; i++) {
		columns[i] = line;
		line += strcspn(line, ",");
		if (i < 3) {
			assert_int_equal(*line, ',');
			*line++ = '\0';
		}
	}
	assert_int_equal(*line, '\0');
}

static void check_vector(char *columns[4])
{
	struct chi_position position = position_of(columns[0]);
	struct chi_position back = {0};
	struct chi_key key;
	char fen[CHI_FEN_SIZE];
	char hex[2 * CHI_KEY_MAX + 1];
	char number[16];
	assert_int_equal(chi_fen_print(&position, fen), strlen(columns[1]));
	assert_string_equal(fen, columns[1]);
	chi_key_encode(&position, &key);
	chi_hex_print(key.bytes, key.len, hex);
	assert_string_equal(hex, columns[2]);
	assert_true(chi_key_shape_ok(key.bytes, key.len));
	snprintf(number, sizeof(number), "%u", chi_statistic_control(&position));
	if (strcmp(number, columns[3]) != 0) {
		fail_msg("control of %s: %s, expected %s", columns[0], number, columns[3]);
	}
	assert_int_equal(chi_key_decode(&key, &back, NULL), CHI_OK);
	assert_true(chi_position_equal(&position, &back));
	assert_int_equal(chi_key_to_fen(&key, fen, NULL), CHI_OK);
	assert_string_equal(fen, columns[1]);
}

CASE(published_vectors)
{
	FILE *file = open_data("vectors.csv");
	char line[512];
	char *columns[4];
	int n = 0;
	assert_true(read_line(file, line, sizeof(line)));
	assert_string_equal(line, "fen,normalised_fen,position_key,control_hundredths");
	while (read_line(file, line, sizeof(line))) {
		split_columns(line, columns);
		check_vector(columns);
		n++;
	}
	fclose(file);
	assert_int_equal(n, VECTORS);
}
