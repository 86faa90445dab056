/* SPDX-License-Identifier: MIT */
/* Options are kept as they were given, and written at the end by formats/filter_text.h. */
#include "cli/in/game_terms.h"

#include <string.h>

#include "base/num.h"

/* ---- Taking options ---------------------------------------------------------------------- */

static int add_term(struct cli *cli, const struct cli_option *option, const char *value,
		    bool negated, struct game_terms *terms)
{
	if (option->min == CHI_FILTER_SIDE && strncmp(value, "--", 2) == 0) {
		return cli_usage(cli, "--%s goes after a --player, or before a name", option->name);
	}
	if (terms->n == GAME_TERMS_MAX) {
		return cli_usage(cli, "more than %d options choose games", GAME_TERMS_MAX);
	}
	terms->term[terms->n++] =
		(struct chi_filter_term){.name = option->name, .value = value, .negated = negated};
	return EXIT_DONE;
}

static bool is(const struct chi_filter_term *term, const char *name)
{
	return strcmp(term->name, name) == 0;
}

/* The player named last, whose colour or opponent comes next; NULL: there is none. */
static struct chi_filter_term *last_player(struct game_terms *terms)
{
	for (size_t i = terms->n; i > 0; i--) {
		struct chi_filter_term *term = &terms->term[i - 1];
		if (is(term, "player") || is(term, "white") || is(term, "black")) {
			return term;
		}
	}
	return NULL;
}

/* Without a value the colour of the player before, if that has none; else it needs a name, which
 * the next option is not. */
static int take_side(struct cli *cli, const struct cli_option *option, const char *value,
		     struct game_terms *terms)
{
	struct chi_filter_term *player = last_player(terms);
	if (value == NULL && terms->of_player) {
		terms->side = terms->side == NULL ? option->name : "both";
		return EXIT_DONE;
	}
	if (value == NULL && (player == NULL || player->side != NULL || !is(player, "player"))) {
		return OPTION_NEEDS_VALUE;
	}
	if (value == NULL) {
		player->side = option->name;
		return EXIT_DONE;
	}
	return add_term(cli, option, value, false, terms);
}

int game_term_take(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_filter_term *player = last_player(out);
	if (option->min == CHI_FILTER_SIDE) {
		return take_side(cli, option, value, out);
	}
	if (option->min != CHI_FILTER_OPPONENT) {
		return add_term(cli, option, value, false, out);
	}
	if (player == NULL || player->opponent != NULL) {
		return cli_usage(cli, "--%s goes after the --player whose opponent it is",
				 option->name);
	}
	player->opponent = value;
	return EXIT_DONE;
}

int game_term_deny(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	return value != NULL ? add_term(cli, option, value, true, out) : OPTION_NEEDS_VALUE;
}

/* ---- Mistakes ---------------------------------------------------------------------------- */

/* The option whose term is at that place of the text. */
static const struct chi_filter_term *term_at(const struct game_terms *terms, size_t at)
{
	const struct chi_filter_term *found = &terms->term[0];
	for (size_t i = 1; i < terms->n; i++) {
		const struct chi_filter_term *term = &terms->term[i];
		bool before = term->at <= at;
		if (before && (found->at > at || term->at > found->at)) {
			found = term;
		}
	}
	return found;
}

/* Of a board the message names the condition, which may be another than the one at that place;
 * *text moves past that name. */
static const struct chi_filter_term *term_named(const struct game_terms *terms, size_t at,
						const char **text)
{
	size_t len = strcspn(*text, " ,:");
	for (size_t i = 0; i < terms->n; i++) {
		const char *word = chi_filter_word(terms->term[i].name);
		if (strlen(word) == len && strncmp(word, *text, len) == 0) {
			*text += len;
			return &terms->term[i];
		}
	}
	return term_at(terms, at);
}

/* "filter, character N: WHY": the place from 0, and *why; false for another text. */
static bool read_place(const char *text, size_t *place, const char **why)
{
	static const char prefix[] = "filter, character ";
	uint64_t number = 0;
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0) {
		return false;
	}
	text += sizeof(prefix) - 1;
	size_t digits = strspn(text, "0123456789");
	if (chi_num_u64(text, digits, CHI_FILTER_TEXT_SIZE, &number) != CHI_OK || number == 0 ||
	    strncmp(text + digits, ": ", 2) != 0) {
		return false;
	}
	*place = (size_t)number - 1;
	*why = text + digits + 2;
	return true;
}

/* Who gave options sees no text and no place in it, but for that of --filter: what is wrong names
 * the option. */
static int refuse_terms(struct cli *cli, const struct game_terms *terms, const char *text)
{
	const char *why = NULL;
	size_t place = 0;
	if (terms->n == 0 || !read_place(text, &place, &why)) {
		return cli_usage(cli, "%s", text);
	}
	const char *rest = why;
	const struct chi_filter_term *term = term_at(terms, place);
	term = term_named(terms, place, &rest);
	return cli_usage(cli, "--%s%s%s%s", term->negated ? "not-" : "", term->name,
			 rest == why ? ": " : "", rest);
}

/* Each --filter is one by itself: none can close the parentheses that it is put in. */
static int check_filters(struct cli *cli, const struct game_terms *terms)
{
	struct chi_fault fault = {.text = ""};
	int status = EXIT_DONE;
	for (size_t i = 0; status == EXIT_DONE && i < terms->n; i++) {
		const struct chi_filter_term *term = &terms->term[i];
		if (is(term, "filter") && chi_games_filter_check(term->value, &fault) != CHI_OK) {
			status = cli_usage(cli, "--%s", fault.text);
		}
	}
	return status;
}

int game_terms_take(struct cli *cli, struct game_terms *terms)
{
	struct chi_fault fault = {.text = ""};
	int status = check_filters(cli, terms);
	if (status != EXIT_DONE) {
		return status;
	}
	if (chi_filter_text(terms->term, terms->n, terms->text, sizeof(terms->text)) < 0) {
		return cli_usage(cli, "the options that choose games are too long");
	}
	return chi_games_filter_check(terms->text, &fault) == CHI_OK
		       ? EXIT_DONE
		       : refuse_terms(cli, terms, fault.text);
}

void game_terms_remark(const struct cli *cli)
{
	const char *name = NULL;
	for (size_t i = 0; !cli->quiet && (name = chi_unknown_name(cli->client, i)) != NULL; i++) {
		cli_message("no name in the store fits '%s'", name);
	}
}
