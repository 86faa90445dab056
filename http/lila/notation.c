/* SPDX-License-Identifier: MIT */
/* Moves and ratings as lichess writes them. */
#include <string.h>

#include "chess/position.h"
#include "http/lila/lila.h"

void lila_uci(chi_move move, char out[CHI_MOVE_TEXT_SIZE])
{
	static const char pieces[] = "\0nbrq\0\0\0\0\0\0\0\0\0\0";
	const int squares[] = {chi_move_from(move), chi_move_to(move)};
	size_t len = 0;
	for (size_t i = 0; i < CHI_COUNT(squares); i++) {
		out[len++] = (char)('a' + squares[i] % 8);
		out[len++] = (char)('1' + squares[i] / 8);
	}
	out[len++] = pieces[chi_move_promotion(move)];
	out[len] = '\0';
}

double lila_rating_difference(double score, double games)
{
	/* Of 50, 51, ... 100 percent. */
	static const short table[] = {0,   7,	14,  21,  29,  36,  43,	 50,  57,  65,	72,
				      80,  87,	95,  102, 110, 117, 125, 133, 141, 149, 158,
				      166, 175, 184, 193, 202, 211, 220, 230, 240, 251, 262,
				      273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422,
				      444, 470, 501, 538, 589, 677, 800};
	double percent = games > 0 ? 100 * score / games : 50;
	double over = percent >= 50 ? percent - 50 : 50 - percent;
	size_t at = over < 50 ? (size_t)over : 49;
	double difference = table[at] + (over - (double)at) * (table[at + 1] - table[at]);
	return percent >= 50 ? difference : -difference;
}
