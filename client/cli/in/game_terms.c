/* SPDX-License-Identifier: MIT */
/*
 * Options to a filter's text. Terms are kept as they were given and written at the end, when it is
 * known what belongs together: a player, colour and opponent; all conditions of a board.
 */
#include "client/cli/in/game_terms.h"

#include <string.h>

#include "base/num.h"
#include "client/cli/in/game_filter.h"

/* ---- Taking options ---------------------------------------------------------------------- */

static int add(struct cli *cli, const struct cli_option *option, const char *value, bool negated,
	       struct game_terms *terms)
{
	if (terms->n == GAME_TERMS_MAX) {
		return cli_usage(cli, "more than %d options choose games", GAME_TERMS_MAX);
	}
	terms->term[terms->n++] =
		(struct game_term){.name = option->name, .value = value, .negated = negated};
	return EXIT_DONE;
}

int game_term_take(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	return add(cli, option, value, false, out);
}

int game_term_deny(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	return add(cli, option, value, true, out);
}

static bool is(const struct game_term *term, const char *name)
{
	return strcmp(term->name, name) == 0;
}

static bool is_player(const struct game_term *term)
{
	return is(term, "player") || is(term, "white") || is(term, "black");
}

/* The player named last, whose colour or opponent comes next; NULL: there is none. */
static struct game_term *last_player(struct game_terms *terms)
{
	for (size_t i = terms->n; i > 0; i--) {
		if (is_player(&terms->term[i - 1])) {
			return &terms->term[i - 1];
		}
	}
	return NULL;
}

/* Without a value the colour of the player before, if that has none; else it needs a name. */
int game_term_side(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct game_term *player = last_player(out);
	if (value != NULL) {
		return add(cli, option, value, false, out);
	}
	if (player == NULL || player->side != NULL || !is(player, "player")) {
		return OPTION_NEEDS_VALUE;
	}
	player->side = option->name;
	return EXIT_DONE;
}

int game_term_deny_side(struct cli *cli, const struct cli_option *option, const char *value,
			void *out)
{
	return value != NULL ? add(cli, option, value, true, out) : OPTION_NEEDS_VALUE;
}

int game_term_opponent(struct cli *cli, const struct cli_option *option, const char *value,
		       void *out)
{
	struct game_term *player = last_player(out);
	if (player == NULL || player->opponent != NULL) {
		return cli_usage(cli, "--%s goes after the --player whose opponent it is",
				 option->name);
	}
	player->opponent = value;
	return EXIT_DONE;
}

/* ---- Writing the text -------------------------------------------------------------------- */

struct writer {
	char *at; /* NUL-terminated there */
	char *end;
	bool full;
};

static void put(struct writer *w, char c)
{
	if (w->at + 1 >= w->end) {
		w->full = true;
		return;
	}
	*w->at++ = c;
	*w->at = '\0';
}

/* A blank, unless it is the first, and the text. */
static void put_text(struct writer *w, const char *text, const char *begin)
{
	if (w->at > begin) {
		put(w, ' ');
	}
	for (; *text != '\0'; text++) {
		put(w, *text);
	}
}

static void put_value(struct writer *w, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-.,/=+:_*";
	bool quoted = value[0] == '\0' || value[strspn(value, plain)] != '\0';
	put(w, ' ');
	if (quoted) {
		put(w, '"');
	}
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\') {
			put(w, '\\');
		}
		put(w, *value);
	}
	if (quoted) {
		put(w, '"');
	}
}

/* What an option is called in the language, where that is not its name. */
static const char *word_of(const char *name)
{
	static const struct {
		const char *option;
		const char *word;
	} words[] = {
		{"fen-part", "fen"},
		{"rating-both", "both"},
		{"rating-average", "average"},
		{"time", "speed"},
	};
	for (size_t i = 0; i < CHI_COUNT(words); i++) {
		if (strcmp(name, words[i].option) == 0) {
			return words[i].word;
		}
	}
	return name;
}

static bool is_condition(const struct game_term *term)
{
	static const char *const names[] = {"has",	"fen-part", "pawns",
					    "material", "balance",  "endgame",
					    "to-move",	"mirror",   "either-colour"};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (is(term, names[i])) {
			return true;
		}
	}
	return false;
}

static void put_term(struct writer *w, struct game_term *term, const char *begin)
{
	term->at = (size_t)(w->at - begin);
	if (is(term, "filter")) {
		put_text(w, term->value, begin);
		return;
	}
	if (term->negated) {
		put_text(w, is_condition(term) ? "not pattern" : "not", begin);
	}
	put_text(w, word_of(term->name), begin);
	if (term->value != NULL) {
		put_value(w, term->value);
	}
	if (term->side != NULL) {
		put_text(w, "as", begin);
		put_text(w, term->side, begin);
	}
	if (term->opponent != NULL) {
		put_text(w, "opponent", begin);
		put_value(w, term->opponent);
	}
}

/* ---- Mistakes ---------------------------------------------------------------------------- */

/* The option whose term is at that place of the text. */
static const struct game_term *term_at(const struct game_terms *terms, size_t at)
{
	const struct game_term *found = &terms->term[0];
	for (size_t i = 1; i < terms->n; i++) {
		const struct game_term *term = &terms->term[i];
		bool before = term->at <= at;
		if (before && (found->at > at || term->at > found->at)) {
			found = term;
		}
	}
	return found;
}

/* Of a board the message names the condition, which may be another than the one at that place;
 * *text moves past that name. */
static const struct game_term *term_named(const struct game_terms *terms, size_t at,
					  const char **text)
{
	size_t len = strcspn(*text, " ,:");
	for (size_t i = 0; i < terms->n; i++) {
		const char *word = word_of(terms->term[i].name);
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
	if (chi_num_u64(text, digits, GAME_TERMS_SIZE, &number) != CHI_OK || number == 0 ||
	    strncmp(text + digits, ": ", 2) != 0) {
		return false;
	}
	*place = (size_t)number - 1;
	*why = text + digits + 2;
	return true;
}

/* Who gave options sees no text and no place in it, but for that of --filter: what is wrong names
 * the option. */
static int refuse(struct cli *cli, const struct game_terms *terms, const char *text)
{
	const char *why = NULL;
	size_t place = 0;
	if (terms->n == 0 || !read_place(text, &place, &why)) {
		return cli_usage(cli, "%s", text);
	}
	const char *rest = why;
	const struct game_term *term = term_at(terms, place);
	if (is(term, "filter")) {
		size_t start = term->at + (term->at > 0 ? 1 : 0);
		return cli_usage(cli, "--filter, character %zu: %s", place - start + 1, why);
	}
	term = term_named(terms, place, &rest);
	return cli_usage(cli, "--%s%s%s%s", term->negated ? "not-" : "", term->name,
			 rest == why ? ": " : "", rest);
}

/* One pattern has all conditions; those with `not` are each a pattern of their own. */
static void write_text(struct game_terms *terms, struct writer *w)
{
	bool pattern = false;
	terms->text[0] = '\0';
	for (size_t i = 0; i < terms->n; i++) {
		struct game_term *term = &terms->term[i];
		if (!is_condition(term) || term->negated) {
			put_term(w, term, terms->text);
		}
	}
	for (size_t i = 0; i < terms->n; i++) {
		struct game_term *term = &terms->term[i];
		if (is_condition(term) && !term->negated) {
			size_t at = (size_t)(w->at - terms->text);
			if (!pattern) {
				put_text(w, "pattern", terms->text);
			}
			put_term(w, term, terms->text);
			term->at = at;
			pattern = true;
		}
	}
}

int game_terms_take(struct cli *cli, struct game_terms *terms)
{
	struct writer w = {.at = terms->text, .end = terms->text + sizeof(terms->text)};
	struct chi_fault fault = {.text = ""};
	write_text(terms, &w);
	if (w.full) {
		return cli_usage(cli, "the options that choose games are too long");
	}
	return chi_games_filter_check(terms->text, &fault) == CHI_OK
		       ? EXIT_DONE
		       : refuse(cli, terms, fault.text);
}

/* ---- Games of files ---------------------------------------------------------------------- */

/* The state that the rows below fill in. */
struct of_files {
	struct chi_game_filter filter;
};

static const struct cli_option of_files[] = {
	GAME_FILTER_OPTIONS(of_files, filter),
	OPTIONS_END,
};

int game_terms_of_files(struct cli *cli, const struct game_terms *terms,
			struct chi_game_filter *out)
{
	struct of_files state = {.filter = {.years = {.set = false}}};
	for (size_t i = 0; i < terms->n; i++) {
		const struct game_term *term = &terms->term[i];
		const struct cli_option *option = of_files;
		while (option->name != NULL &&
		       strcmp(word_of(option->name), word_of(term->name)) != 0) {
			option++;
		}
		if (option->name == NULL || term->negated || term->side != NULL ||
		    term->opponent != NULL) {
			return cli_usage(cli, "--%s%s cannot be asked of games in files",
					 term->negated ? "not-" : "",
					 term->side != NULL	  ? term->side
					 : term->opponent != NULL ? "opponent"
								  : term->name);
		}
		int code = option->read(cli, option, term->value, (char *)&state + option->offset);
		if (code != EXIT_DONE) {
			return code;
		}
	}
	*out = state.filter;
	return EXIT_DONE;
}
