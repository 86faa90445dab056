/* SPDX-License-Identifier: MIT */
/* The filter on games: names as they are written, time controls as servers and referees write
 * them, and each member by itself. */
#include "tests/chess/pgn_games.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "chess/pgn/filter.h"
#include "chess/names/fits.h"

static const struct {
	const char *wanted;
	const char *name;
	bool fits;
} players[] = {
	{"Carlsen, Magnus", "Carlsen, Magnus", true},
	{"Carlsen, Magnus", "Magnus Carlsen", true},
	{"Carlsen, Magnus", "carlsen,m.", true},
	{"Carlsen, Magnus", "CARLSEN MAGNUS", true},
	{"Carlsen, Magnus", "Carlsen, Sven Magnus Oen", true},
	{"Carlsen, Magnus", "Carlsen, Henrik", false},
	{"Carlsen, Magnus", "Carlsen, H", false},
	{"Carlsen, Magnus", "Carlsen", false},
	{"Carlsen, Magnus", "Nielsen, Magnus C", false},
	{"Magnus Carlsen", "Carlsen, M", true},
	{"Carlsen, M", "Carlsen, Magnus", true},
	{"Carlsen", "Carlsen, Magnus", true},
	{"Carlsen", "Carlsson, Pontus", false},
	{"Carlsen", "C, Magnus", false},
	{"Huebner, Robert",
	 "H\xc3\xbc"
	 "bner, Robert",
	 false},
	{"Hubner, Robert",
	 "H\xc3\xbc"
	 "bner, Robert",
	 true},
	{"\xc5\x81\xc3\xb3"
	 "d\xc5\xba",
	 "Lodz", true},
	{"O'Kelly", "OKelly de Galway, Alberic", true},
	{"Vachier Lagrave", "Vachier-Lagrave, Maxime", true},
	{"Stockfish", "Stockfish 16", true},
	{"Stockfish 1", "Stockfish 16", false},
	{"\xd0\x9a\xd0\xb0\xd1\x80\xd0\xbf\xd0\xbe\xd0\xb2",
	 "\xd0\x9a\xd0\xb0\xd1\x80\xd0\xbf\xd0\xbe\xd0\xb2, A.", true},
	{"\xd0\xba\xd0\xb0\xd1\x80\xd0\xbf\xd0\xbe\xd0\xb2",
	 "\xd0\x9a\xd0\x90\xd0\xa0\xd0\x9f\xd0\x9e\xd0\x92", true},
	{"\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2 \xd0\x92",
	 "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2, "
	 "\xd0\x92\xd0\xbb\xd0\xb0\xd0\xb4\xd0\xb8\xd0\xbc\xd0\xb8\xd1\x80",
	 true},
	{"\xd0\x92. \xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2",
	 "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2, "
	 "\xd0\x92\xd0\xbb\xd0\xb0\xd0\xb4\xd0\xb8\xd0\xbc\xd0\xb8\xd1\x80",
	 true},
	{"\xd0\x92\xd0\xbb\xd0\xb0\xd0\xb4\xd0\xb8\xd0\xbc\xd0\xb8\xd1\x80 "
	 "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2",
	 "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2 \xd0\x92.", true},
	{"\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2 \xd0\x92",
	 "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2, "
	 "\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd",
	 false},
	{"\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2 \xd0\x92",
	 "\xd0\x92\xd0\xbb\xd0\xb0\xd0\xb4\xd0\xb8\xd0\xbc\xd0\xb8\xd1\x80\xd0\xbe\xd0\xb2,"
	 " \xd0\x9f",
	 false},
	{"\xce\x93 \xce\xa4\xce\xb1\xcf\x83\xce\xbf\xcf\x82",
	 "\xce\xa4\xce\xb1\xcf\x83\xce\xbf\xcf\x82, "
	 "\xce\x93\xce\xb9\xcf\x89\xcf\x81\xce\xb3\xce\xbf\xcf\x82",
	 true},
	/* Without a comma the order says nothing; with one it says which is the surname. */
	{"Carlsen Magnus", "Carlsen,M", true},
	{"Magnus Carlsen", "Carlsen,M", true},
	{"Carlsen Magnus", "Carlsen, Magnus", true},
	{"Carlsen Magnus", "M Carlsen", true},
	{"Carlsen Magnus", "Carlsen, H", false},
	{"Carlsen Magnus", "Carlsen", false},
	{"Carlsen Magnus", "C, M", false},
	{"Magnus, Carlsen", "Carlsen,M", false},
	{"Van Foreest Jorden", "Van Foreest,J", true},
	{"Jorden van Foreest", "Foreest, J van", true},
	{"Polgar J", "Polgar Judit", true},
	{"J Polgar", "Polgar,Judit", true},
	{"OKelly", "O\xe2\x80\x99Kelly", true},
	{"=Carlsen, M", "Carlsen, M", true},
	{"=Carlsen, M", "Carlsen, Magnus", false},
	{"drnykterstein", "DrNykterstein", true},
	{",", "Tal", false},
	{"Tal", "", false},
};

CASE(finds_players_however_written)
{
	for (size_t i = 0; i < CHI_COUNT(players); i++) {
		if (chi_player_fits(players[i].wanted, players[i].name) != players[i].fits) {
			fail_msg("%s: %s", players[i].wanted, players[i].name);
		}
	}
}

/* The header of a game with these tags. */
static struct chi_game_header header_of(const char *tags, struct read_games *games)
{
	char text[512];
	struct chi_game_header header;
	snprintf(text, sizeof(text), "%s\n1. e4 e5 2. Nf3 *", tags);
	*games = read_games(text, strlen(text), 4096, NULL);
	assert_int_equal(games->n, 1);
	chi_game_header_of(&games->games[0].game, &header);
	return header;
}

CASE(classes_time_controls)
{
	static const struct {
		const char *tags;
		uint8_t time;
	} table[] = {
		{"[TimeControl \"60+0\"]\n", CHI_TIME_BULLET},
		{"[TimeControl \"15+0\"]\n", CHI_TIME_ULTRABULLET},
		{"[TimeControl \"29\"]\n", CHI_TIME_ULTRABULLET},
		{"[TimeControl \"30\"]\n", CHI_TIME_BULLET},
		{"[TimeControl \"120+1\"]\n", CHI_TIME_BULLET},
		{"[TimeControl \"180+0\"]\n", CHI_TIME_BLITZ},
		{"[TimeControl \"180\"]\n", CHI_TIME_BLITZ},
		{"[TimeControl \"300+3\"]\n", CHI_TIME_BLITZ},
		{"[TimeControl \"479\"]\n", CHI_TIME_BLITZ},
		{"[TimeControl \"480\"]\n", CHI_TIME_RAPID},
		{"[TimeControl \"1499\"]\n", CHI_TIME_RAPID},
		{"[TimeControl \"1500\"]\n", CHI_TIME_CLASSICAL},
		{"[TimeControl \"900+10\"]\n", CHI_TIME_RAPID},
		{"[TimeControl \"1800+20\"]\n", CHI_TIME_CLASSICAL},
		{"[TimeControl \"40/7200:20/3600:900+30\"]\n", CHI_TIME_CLASSICAL},
		{"[TimeControl \"40/60:40/60\"]\n", CHI_TIME_BULLET},
		{"[TimeControl \"1/259200\"]\n", CHI_TIME_CORRESPONDENCE},
		{"[TimeControl \"*180\"]\n", CHI_TIME_BLITZ},
		{"[TimeControl \"-\"]\n", 0},
		{"[TimeControl \"?\"]\n", 0},
		{"[TimeControl \"90 min\"]\n", 0},
		{"[TimeControl \"1/0/\"]\n", 0},
		{"[Event \"World Blitz Championship 2023\"]\n[White \"x\"]\n", CHI_TIME_BLITZ},
		{"[Event \"Rated Correspondence game\"]\n[TimeControl \"-\"]\n",
		 CHI_TIME_CORRESPONDENCE},
		{"[Event \"Rapid and Blitz\"]\n[White \"x\"]\n", CHI_TIME_RAPID},
		{"[Event \"Tata Steel\"]\n[White \"x\"]\n", 0},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games;
		struct chi_game_header header = header_of(table[i].tags, &games);
		if (header.time != table[i].time) {
			fail_msg("%s: %d", table[i].tags, header.time);
		}
		free_games(&games);
	}
}

CASE(each_member_asks_its_question)
{
	static const char tags[] = "[White \"Tal, M\"]\n[Black \"Bot, B\"]\n[Date \"2015.??.??\"]\n"
				   "[WhiteElo \"2601\"]\n[BlackElo \"2400\"]\n[ECO \"A00\"]\n"
				   "[TimeControl \"300\"]\n[Result \"1-0\"]\n";
	static const struct {
		struct chi_game_filter filter;
		bool fits;
		bool bare; /* a game without tags fits */
	} table[] = {
		{{.player = "Tal"}, true, false},
		{{.player = "Bot"}, true, false},
		{{.white = "Tal"}, true, false},
		{{.white = "Bot"}, false, false},
		{{.black = "Bot"}, true, false},
		{{.player = "Tal", .black = "Tal"}, false, false},
		{{.years = {true, 2015, 2015}}, true, false},
		{{.years = {true, 2016, 9999}}, false, false},
		{{.years = {true, 0, 2014}}, false, false},
		{{.rating = {true, 2601, 9999}}, true, false},
		{{.rating = {true, 2602, 9999}}, false, false},
		{{.rating = {true, 0, 2400}}, true, false},
		{{.rating_both = {true, 2400, 2601}}, true, false},
		{{.rating_both = {true, 2401, 2700}}, false, false},
		{{.rating_average = {true, 2500, 2501}}, true, false},
		{{.rating_average = {true, 2501, 9999}}, false, false},
		{{.rating_average = {true, 0, 2500}}, false, false},
		{{.results = 1 << CHI_RESULT_WHITE}, true, false},
		{{.results = 1 << CHI_RESULT_BLACK | 1 << CHI_RESULT_OTHER}, false, true},
		{{.eco_min = "B90", .eco_max = "B90"}, true, false},
		{{.eco_min = "B00"}, true, false},
		{{.eco_min = "B91"}, false, false},
		{{.eco_max = "B89"}, false, false},
		{{.times = CHI_TIME_BLITZ | CHI_TIME_RAPID}, true, false},
		{{.times = CHI_TIME_BULLET}, false, false},
		{{.plies = {true, 3, 3}}, true, true},
		{{.plies = {true, 4, 9999}}, false, false},
		{{.plies = {true, 0, 2}}, false, false},
	};
	struct read_games games;
	struct read_games none;
	struct chi_game_header header = header_of(tags, &games);
	struct chi_game_header bare = header_of("[Site \"?\"]\n", &none);
	memcpy(header.eco, "B90", 4); /* of its moves: no tag says what was played */
	static const struct chi_game_filter all = {.plies = {false, 0, 0}};
	assert_true(chi_game_filter_fits(&all, &bare));
	assert_false(chi_game_filter_is_set(&all));
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		const struct chi_game_filter *filter = &table[i].filter;
		assert_int_equal(chi_game_filter_check(filter, NULL), CHI_OK);
		assert_true(chi_game_filter_is_set(filter));
		if (chi_game_filter_fits(filter, &header) != table[i].fits ||
		    chi_game_filter_fits(filter, &bare) != table[i].bare) {
			fail_msg("filter %zu", i);
		}
	}
	free_games(&games);
	free_games(&none);
}

CASE(refuses_what_fits_no_game)
{
	static const struct {
		struct chi_game_filter filter;
		const char *member;
	} table[] = {
		{{.years = {true, 2, 1}}, "years"},
		{{.rating = {true, 2, 1}}, "rating"},
		{{.rating_both = {true, 2, 1}}, "rating_both"},
		{{.rating_average = {true, 2, 1}}, "rating_average"},
		{{.plies = {true, 2, 1}}, "plies"},
		{{.results = 16}, "results"},
		{{.times = 64}, "times"},
		{{.eco_min = "F00"}, "eco_min"},
		{{.eco_max = "B9"}, "eco_max"},
		{{.eco_min = "B01", .eco_max = "B00"}, "eco_max"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_fault fault;
		char want[64];
		snprintf(want, sizeof(want), "filter.%s: fits no game", table[i].member);
		assert_int_equal(chi_game_filter_check(&table[i].filter, &fault), -CHI_EINVAL);
		assert_string_equal(fault.text, want);
	}
}
