/* SPDX-License-Identifier: MIT */
/* The small notations of put's options. */
#include "cli/in/put_text.h"

#include <string.h>

#include "base/num.h"
#include "chess/key.h"
#include "chess/notation.h"

/* Bounded to 32 bits each, so that their sum always fits. */
int option_counts(struct cli *cli, const struct cli_option *option, const char *text, void *out)
{
	struct chi_counts *to = out;
	uint64_t *const counts[] = {&to->white, &to->draws, &to->black};
	const char *at = text;
	for (size_t i = 0; i < CHI_COUNT(counts); i++) {
		bool last = i + 1 == CHI_COUNT(counts);
		const char *stop = last ? at + strlen(at) : strchr(at, ',');
		if (stop == NULL || chi_num_u64(at, (size_t)(stop - at), UINT32_MAX, counts[i])) {
			return cli_usage(cli, "--%s: '%s' is not W,D,L: three numbers up to %u",
					 option->name, text, UINT32_MAX);
		}
		at = last ? stop : stop + 1;
	}
	return EXIT_DONE;
}

/* Moves are read by the rules of chess, so an illegal one is refused here with its name. */
int text_line(struct cli *cli, const struct chi_key *key, const char *text, struct chi_arena *arena,
	      const chi_move **moves, size_t *n)
{
	struct chi_fault fault = {.text = ""};
	struct chi_position position;
	chi_move *out = chi_arena_array(arena, CHI_LINE_MAX, sizeof(*out));
	if (out == NULL) {
		return cli_no_memory();
	}
	int status = chi_key_decode(key, &position, &fault);
	if (status == CHI_OK) {
		status =
			chi_line_parse(&position, text, strlen(text), out, CHI_LINE_MAX, n, &fault);
	}
	if (status != CHI_OK) {
		return cli_usage(cli, "--line: %s", fault.text);
	}
	*moves = out;
	return EXIT_DONE;
}

/* The last colon in front of `end`, or NULL. */
static const char *last_colon(const char *text, const char *end)
{
	while (end > text && end[-1] != ':') {
		end--;
	}
	return end > text ? end - 1 : NULL;
}

/* "/2" at the end: the engine's second line. Moves *end before it. */
static int read_line_number(struct cli *cli, const char *text, const char *score, const char **end,
			    uint64_t *line)
{
	const char *slash = strchr(score, '/');
	if (slash == NULL) {
		return EXIT_DONE;
	}
	if (chi_num_u64(slash + 1, (size_t)(*end - slash - 1), CHI_RANK_MAX + 1, line) != CHI_OK ||
	    *line == 0) {
		return cli_usage(cli, "--eval: the line in '%s' is not a number from 1 to %d", text,
				 CHI_RANK_MAX + 1);
	}
	*end = slash;
	return EXIT_DONE;
}

int text_eval(struct cli *cli, const char *text, struct chi_eval *out)
{
	const char *end = text + strlen(text);
	const char *score = last_colon(text, end);
	const char *depth = score != NULL ? last_colon(text, score) : NULL;
	uint64_t plies = 0;
	uint64_t line = 1;
	int64_t value = 0;
	int code = score != NULL ? read_line_number(cli, text, score, &end, &line) : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	/* Read from the end: an engine's name may have colons. */
	if (depth == NULL || depth == text) {
		return cli_usage(cli,
				 "--eval: '%s' is not ENGINE:DEPTH:CP or ENGINE:DEPTH:mateN, with "
				 "/LINE or without",
				 text);
	}
	if (depth - text > CHI_ENGINE_MAX) {
		return cli_usage(cli, "--eval: an engine's name has at most %d bytes",
				 CHI_ENGINE_MAX);
	}
	if (chi_num_u64(depth + 1, (size_t)(score - depth - 1), UINT16_MAX, &plies) != CHI_OK) {
		return cli_usage(cli, "--eval: the depth in '%s' is not a number from 0 to %u",
				 text, UINT16_MAX);
	}
	bool is_mate = strncmp(score + 1, "mate", 4) == 0;
	const char *number = score + 1 + (is_mate ? 4 : 0);
	int64_t limit = is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	if (chi_num_i64(number, (size_t)(end - number), limit, &value) != CHI_OK) {
		return cli_usage(cli,
				 "--eval: the score in '%s' is neither centipawns (35, -120) "
				 "nor mateN (mate3, mate-2)",
				 text);
	}
	*out = (struct chi_eval){
		.engine = text,
		.engine_len = (size_t)(depth - text),
		.depth = (uint32_t)plies,
		.is_mate = is_mate,
		.rank = (uint8_t)(line - 1),
		.score = (int32_t)value,
	};
	return EXIT_DONE;
}
