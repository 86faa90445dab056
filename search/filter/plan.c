/* SPDX-License-Identifier: MIT */
/* How a filter would be answered, in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "search/filter/matcher_priv.h"

/* A text that ends where its room does. */
struct plan_text {
	char *out;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct plan_text *text, const char *format,
						      ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text->out + text->len, CHI_PLAN_SIZE - text->len, format, args);
	va_end(args);
	text->len += len > 0 ? (size_t)len : 0;
	text->len = text->len < CHI_PLAN_SIZE ? text->len : CHI_PLAN_SIZE - 1;
}

/* What is known of a motif before games are looked at, of which there are so many. Returns how many
 * are played again for it. */
static uint64_t say_motif(const struct chi_matcher *matcher, size_t motif, uint64_t looked,
			  struct plan_text *text)
{
	static const char *const kinds[] = {[CHI_TRAIT_MATERIAL] = "material",
					    [CHI_TRAIT_HOME] = "pawns at home",
					    [CHI_TRAIT_EVENT] = "events"};
	const struct chi_numbers *games = chi_matcher_listed(matcher, motif);
	uint64_t n = games != NULL ? chi_numbers_count(games) : matcher->view.last;
	bool exact = games != NULL && chi_listed_is_exact(matcher->listed[motif]);
	bool positional = chi_motif_is_positional(chi_motifs_at(matcher->motifs, motif));
	const char *by = "by";
	say(text, "motif %zu: ", motif + 1);
	if (games != NULL) {
		say(text, "%s%" PRIu64 " games, ", exact ? "" : "at most ", n);
	} else {
		say(text, matcher->is_listed ? "any game" : "any game, lists are not read");
	}
	for (unsigned i = CHI_TRAIT_MATERIAL; games != NULL && i <= CHI_TRAIT_EVENT; i++) {
		if ((chi_listed_kinds(matcher->listed[motif]) >> i & 1) != 0) {
			say(text, "%s %s", by, kinds[i]);
			by = " and";
		}
	}
	n = exact ? 0 : n < looked ? n : looked;
	bool asked = matcher->shown != NULL && matcher->shown[motif] != NULL;
	bool walks =
		asked || (positional && matcher->view.whole && n > chi_matcher_few(matcher, motif));
	say(text, walks ? "; looks at all positions\n" : "\n");
	return walks ? 0 : n;
}

/* How many games are looked at. */
static uint64_t count_looked(const struct chi_matcher *matcher)
{
	const struct member *leader = matcher->leader;
	const struct chi_numbers *games = leader != NULL ? leader->numbers : matcher->least;
	return matcher->over				   ? 0
	       : games != NULL				   ? chi_numbers_count(games)
	       : leader != NULL && leader->reached != NULL ? chi_reached_games(leader->reached)
							   : matcher->view.last;
}

void chi_matcher_describe(const struct chi_matcher *matcher, uint64_t rest, char out[CHI_PLAN_SIZE])
{
	struct plan_text text = {.out = out};
	const struct member *leader = matcher->leader;
	uint64_t played = 0;
	uint64_t looked = count_looked(matcher);
	looked = looked < rest ? looked : rest;
	for (size_t i = 0; matcher->motifs != NULL && i < chi_motifs_count(matcher->motifs); i++) {
		played += say_motif(matcher, i, looked, &text);
	}
	say(&text, "leads: %s\n",
	    leader == NULL ? (matcher->least != NULL ? "a motif" : "nothing")
	    : matcher->terms->term[leader->term].kind == CHI_TERM_GAMESET ? "a gameset"
									  : "a position");
	played = played < looked ? played : looked;
	say(&text, "games to look at: %" PRIu64 " of %" PRIu32 "\n", looked, matcher->view.last);
	say(&text, "games to play again: %s%" PRIu64 "\n", played > 0 ? "at most " : "", played);
}

int chi_matcher_explain(struct chi_matcher *matcher, uint64_t rest, uint64_t *steps,
			char out[CHI_PLAN_SIZE])
{
	const struct member *leader = matcher->leader;
	bool few = leader != NULL && leader->reached != NULL &&
		   chi_reached_games(leader->reached) <= PLAYED_MAX;
	matcher->to_play = few ? 0 : UINT64_MAX;
	int rc = chi_matcher_fill_sets(matcher, steps);
	rc = rc == CHI_OK ? chi_matcher_read_lists(matcher, steps) : rc;
	if (rc == CHI_OK) {
		chi_matcher_describe(matcher, rest, out);
	}
	return rc;
}
