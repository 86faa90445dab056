/* SPDX-License-Identifier: MIT */
/* Positions missed as EPD: what was better (bm), what was played (am), by whom (id), and what it
 * cost (c0). */
#include "cli/work/review.h"

#include <stdio.h>
#include <string.h>

#include "chess/notation.h"
#include "formats/epd.h"

#define ID_MAX (4 * (CHI_PGN_VALUE_MAX + 8))

/* The tag's text; empty for what says nothing. */
static const char *tag_of(const struct review *review, enum chi_pgn_tag tag)
{
	const char *text = review->game->tags[tag].text;
	return text != NULL && strspn(text, "?. ") < strlen(text) ? text : "";
}

/* "Doe, Jane - Roe, Club 2024.01.02, move 3" */
static size_t print_id(const struct review *review, size_t i, char out[ID_MAX])
{
	const char *white = tag_of(review, CHI_PGN_WHITE);
	const char *black = tag_of(review, CHI_PGN_BLACK);
	const char *event = tag_of(review, CHI_PGN_EVENT);
	const char *date = tag_of(review, CHI_PGN_DATE);
	bool more = *event != '\0' || *date != '\0';
	size_t move = (i + (review->game->positions[0].side == CHI_BLACK)) / 2 + 1;
	int n = snprintf(out, ID_MAX, "%s - %s%s%s%s%s, move %zu", *white != '\0' ? white : "?",
			 *black != '\0' ? black : "?", more ? ", " : "", event,
			 *event != '\0' && *date != '\0' ? " " : "", date, move);
	return n < 0 ? 0 : (size_t)n < ID_MAX ? (size_t)n : ID_MAX - 1;
}

static int write_missed_line(struct review *review, size_t i)
{
	const struct chi_position *position = &review->game->positions[i];
	const struct remark *remark = &review->remarks[i];
	char fen[CHI_FEN_SIZE];
	char better[CHI_SAN_SIZE];
	char played[CHI_SAN_SIZE];
	char id[ID_MAX];
	char quoted_id[3 * ID_MAX + 2];
	char quoted_cost[3 * REVIEW_COMMENT + 2];
	int status = chi_key_to_fen(&review->keys[i], fen, NULL);
	if (status != CHI_OK) {
		return cli_fail(review->cli->client, status);
	}
	(void)chi_san_print(position, review->known[i].pv[0], better);
	(void)chi_san_print(position, review->game->moves[i], played);
	size_t n_id = chi_epd_quote(id, print_id(review, i, id), quoted_id);
	size_t n_cost = chi_epd_quote(remark->text + remark->swing, remark->better - remark->swing,
				      quoted_cost);
	/* Counters are no part of EPD: " 0 1" at the end of every FEN. */
	if (fprintf(review->missed.file, "%.*s bm %s; am %s; id %.*s; c0 %.*s;\n",
		    (int)strlen(fen) - 4, fen, better, played, (int)n_id, quoted_id, (int)n_cost,
		    quoted_cost) < 0) {
		return target_fail(&review->missed);
	}
	review->n_missed++;
	return EXIT_DONE;
}

int review_write_missed(struct review *review)
{
	int code = EXIT_DONE;
	for (size_t i = 0; i < review->game->n_plies && code == EXIT_DONE; i++) {
		if (review->remarks[i].variation) {
			code = write_missed_line(review, i);
		}
	}
	return code;
}
