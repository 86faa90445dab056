/* SPDX-License-Identifier: MIT */
/* Options that choose games: the filter's text that a command line becomes, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "cli/command.h"
#include "cli/in/game_terms.h"
#include "cli/options.h"
#include "search/filter/terms.h"
#include "tests/base/cases.h"

struct terms_state {
	struct game_terms terms;
};

static const struct cli_option options[] = {
	GAME_TERM_OPTIONS(terms_state, terms),
	OPTIONS_END,
};

static const struct command command = {.name = "games", .options = options};

#define ARGS_MAX 32

/* Parses arguments that are separated by '|'. */
static int take(const char *line, struct terms_state *state, int *left)
{
	static char copy[1024];
	char *argv[ARGS_MAX] = {copy};
	int argc = 1;
	char *rest = copy;
	(void)snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strsep(&rest, "|"); word != NULL && argc < ARGS_MAX;
	     word = strsep(&rest, "|")) {
		argv[argc++] = word;
	}
	*state = (struct terms_state){.terms = {.n = 0}};
	struct cli cli = {.command = &command, .state = state};
	int code = options_parse(&cli, argc, argv, left);
	return code == EXIT_DONE ? game_terms_take(&cli, &state->terms) : code;
}

/* What is made is also what the language takes. */
static void expect(const char *line, const char *text, int n)
{
	static struct terms_state state;
	static struct chi_terms terms;
	struct chi_fault fault = {.text = ""};
	int left = 0;
	assert_int_equal(take(line, &state, &left), EXIT_DONE);
	assert_string_equal(state.terms.text, text);
	assert_int_equal(left, n);
	if (chi_terms_parse(text, strlen(text), &terms, &fault) != CHI_OK) {
		fail_msg("'%s': %s", text, fault.text);
	}
}

static void refuse(const char *line)
{
	static struct terms_state state;
	int left = 0;
	assert_int_equal(take(line, &state, &left), EXIT_USAGE);
}

CASE(test_text)
{
	expect("x", "", 1);
	expect("--player|Carlsen, Magnus|--white|--since|2015",
	       "player \"Carlsen, Magnus\" as white since 2015", 0);
	expect("--rating|2600..|--eco=B90..B99|--result|1-0,*",
	       "rating 2600.. eco B90..B99 result 1-0,*", 0);
	expect("--event|a \"b\" \\c", "event \"a \\\"b\\\" \\\\c\"", 0);
	expect("--not-player|Tal|--opponent|Keres|--not-result|1/2-1/2",
	       "not player Tal opponent Keres not result 1/2-1/2", 0);
	expect("--in|A|--in|B|--not-in|C", "in A in B not in C", 0);
	expect("--filter|white Tal not year 1960|--black|Keres",
	       "( white Tal not year 1960 ) black Keres", 0);
	/* Each --filter stands by itself, whatever is around it. */
	expect("--has|Nd5|--filter|check|--event|x|--filter|eco B or eco C|--filter| ",
	       "( check ) event x and ( eco B or eco C ) pattern has Nd5", 0);
	expect("--moves|e4 c5 Nf3", "moves \"e4 c5 Nf3\"", 0);
}

/* A colour without a name belongs to the player before; with none before it takes a name. */
CASE(test_colours)
{
	expect("--player|Tal|--since|1960|--black|file", "player Tal as black since 1960", 1);
	expect("--white|Tal|--black|Keres", "white Tal black Keres", 0);
	expect("--player|Tal|--white=Keres", "player Tal white Keres", 0);
	expect("--player|Tal|--white|--black|Keres", "player Tal as white black Keres", 0);
	expect("--not-white|Tal", "not white Tal", 0);
	refuse("--white");
	refuse("--not-white");
	refuse("--opponent|Tal");
	refuse("--player|A|--opponent|B|--opponent|C");
	refuse("--not-opponent|Tal");
	refuse("--not-filter|x");
	refuse("--not-nothing|x");
}

/* Boards are one condition together, whatever is given between; opposites are each their own. */
CASE(test_boards)
{
	expect("--has|Nd5|--player|Tal|--balance|Q v RR|--mirror|--to-move|black",
	       "player Tal pattern has Nd5 balance \"Q v RR\" mirror to-move black", 0);
	expect("--not-has|Nd5|--has|kg8|--not-endgame|rook endings",
	       "not pattern has Nd5 not pattern endgame \"rook endings\" pattern has kg8", 0);
}

/* Each option of the table makes a term that the language takes; and each word of it has one. */
CASE(test_every_option)
{
	static const struct {
		const char *name;
		const char *value;
	} values[] = {
		{"since", "1960"},
		{"until", "1960-12"},
		{"year", "1960..1965"},
		{"number", "7"},
		{"rating", "2600.."},
		{"both", "2600.."},
		{"average", "2600.."},
		{"elo-white", "2600.."},
		{"elo-black", "2600.."},
		{"eco", "B90"},
		{"result", "1-0"},
		{"length", "..40"},
		{"plies", "..40"},
		{"speed", "blitz"},
		{"title", "GM"},
		{"filter", "year 1960"},
		{"fen-part", "8/8/8/8/8/8/8/4K3"},
		{"pawns", "d4 / d5"},
		{"material", "KRPvKR"},
		{"balance", "Q v RR"},
		{"endgame", "rook"},
		{"to-move", "black"},
		{"moves", "e4 c5"},
		{"has", "Nd5"},
		{"position", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
	};
	uint32_t kinds = 0;
	for (const struct chi_filter_name *at = chi_filter_names; at->name != NULL; at++) {
		static struct terms_state given;
		static struct chi_terms terms;
		struct chi_fault fault = {.text = ""};
		const char *value = "X";
		char line[256];
		int left = 0;
		for (size_t i = 0; i < CHI_COUNT(values); i++) {
			value = strcmp(values[i].name, at->name) == 0 ? values[i].value : value;
		}
		(void)snprintf(line, sizeof(line), "%s--%s%s%s",
			       at->kind == CHI_FILTER_OPPONENT ? "--player|Tal|"
			       : at->kind == CHI_FILTER_MOVER || at->kind == CHI_FILTER_FLAG
				       ? "--has|Nd5|"
				       : "",
			       at->name, at->kind == CHI_FILTER_FLAG ? "" : "|",
			       at->kind == CHI_FILTER_FLAG ? "" : value);
		assert_int_equal(take(line, &given, &left), EXIT_DONE);
		assert_int_equal(
			chi_terms_parse(given.terms.text, strlen(given.terms.text), &terms, &fault),
			CHI_OK);
		kinds |= UINT32_C(1) << terms.term[0].kind;
	}
	assert_int_equal(kinds, (UINT32_C(1) << CHI_TERM_KINDS) - 1);
}
