/* SPDX-License-Identifier: MIT */
/* Names as they are written, time controls as servers and referees write them. */
#include <string.h>

#include "base/attr.h"
#include "chess/names/fits.h"
#include "chess/pgn/speed.h"
#include "tests/base/cases.h"

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

CASE(classes_time_controls)
{
	static const struct {
		const char *control;
		const char *event;
		enum chi_speed speed;
	} table[] = {
		{"60+0", "", CHI_SPEED_BULLET},
		{"15+0", "", CHI_SPEED_ULTRABULLET},
		{"29", "", CHI_SPEED_ULTRABULLET},
		{"30", "", CHI_SPEED_BULLET},
		{"120+1", "", CHI_SPEED_BULLET},
		{"180+0", "", CHI_SPEED_BLITZ},
		{"180", "", CHI_SPEED_BLITZ},
		{"300+3", "", CHI_SPEED_BLITZ},
		{"479", "", CHI_SPEED_BLITZ},
		{"480", "", CHI_SPEED_RAPID},
		{"1499", "", CHI_SPEED_RAPID},
		{"1500", "", CHI_SPEED_CLASSICAL},
		{"900+10", "", CHI_SPEED_RAPID},
		{"1800+20", "", CHI_SPEED_CLASSICAL},
		{"40/7200:20/3600:900+30", "", CHI_SPEED_CLASSICAL},
		{"40/60:40/60", "", CHI_SPEED_BULLET},
		{"1/259200", "", CHI_SPEED_CORRESPONDENCE},
		{"*180", "", CHI_SPEED_BLITZ},
		{"-", "", CHI_SPEED_UNKNOWN},
		{"?", "", CHI_SPEED_UNKNOWN},
		{"90 min", "", CHI_SPEED_UNKNOWN},
		{"1/0/", "", CHI_SPEED_UNKNOWN},
		{"", "World Blitz Championship 2023", CHI_SPEED_BLITZ},
		{"-", "Rated Correspondence game", CHI_SPEED_CORRESPONDENCE},
		{"", "Rapid and Blitz", CHI_SPEED_RAPID},
		{"", "Tata Steel", CHI_SPEED_UNKNOWN},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		enum chi_speed speed = chi_speed_of(table[i].control, strlen(table[i].control),
						    table[i].event, strlen(table[i].event));
		if (speed != table[i].speed) {
			fail_msg("%s %s: %d", table[i].control, table[i].event, (int)speed);
		}
	}
}
