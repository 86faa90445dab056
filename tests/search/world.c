/* SPDX-License-Identifier: MIT */
#include "tests/search/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/endgame/endgame.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/names/fits.h"
#include "chess/notation.h"
#include "chess/moment/features.h"
#include "chess/moment/played.h"
#include "chess/movegen.h"
#include "chess/pattern/pattern.h"
#include "store/games/archive.h"
#include "store/names/names.h"
#include "tests/import/session.h"

static const char *const players[] = {"Carlsen, Magnus", "Anand, Viswanathan", "Carlsen, Henrik",
				      "Magnus Carlsen",	 "Polgar, Judit",      "Polgar, S",
				      "Karpov, Anatoly", "Petrosian, Tigran"};
static const char *const events[] = {"Tata Steel Masters", "Tata Steel Challengers", "Linares",
				     "?"};
static const char *const sites[] = {"Wijk aan Zee", "Linares ESP", "Moscow", "?"};
static const char *const sources[] = {"twic", "mega base", "own games"};
static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
static const char *const controls[] = {"60", "300+2", "900+10", "5400+30", "?"};
static const char *const titles[] = {"GM", "IM", "FM", NULL};
static const char *const rows[] = {"A00", "B90", "B99", "C42", "E99", NULL};

#define PICK(list) (list)[help_below(CHI_COUNT(list))]

/* ---- Games as text ------------------------------------------------------------------------ */

static int compare_moves(const void *a, const void *b)
{
	return *(const chi_move *)a - *(const chi_move *)b;
}

/* Few moves of each position are played, so that games meet. */
static void print_moves(FILE *out, const char *result)
{
	struct chi_position position[2];
	char san[CHI_SAN_SIZE];
	size_t n = 1 + help_below(WORLD_PLIES);
	ok(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position[0], &fault));
	for (size_t i = 0; i < n; i++) {
		struct chi_move_list list;
		chi_movegen_legal(&position[i & 1], &list);
		if (list.n == 0) {
			break;
		}
		qsort(list.moves, list.n, sizeof(list.moves[0]), compare_moves);
		unsigned most = i < 12 ? 2 : 6;
		chi_move move = list.moves[help_below(most) * 7 % list.n];
		chi_san_print(&position[i & 1], move, san);
		fprintf(out, "%s ", san);
		chi_position_play(&position[i & 1], move, &position[~i & 1]);
	}
	fprintf(out, "%s\n\n", result);
}

static void print_date(FILE *out)
{
	unsigned year = 2010 + help_below(6);
	switch (help_below(7)) {
	case 0:
		fprintf(out, "[Date \"????.??.??\"]\n");
		break;
	case 1:
		fprintf(out, "[Date \"%u.??.??\"]\n", year);
		break;
	case 2:
		fprintf(out, "[Date \"%u.%02u.??\"]\n", year, 1 + help_below(12));
		break;
	case 3:
		fprintf(out, "[Date \"%u.??.%02u\"]\n", year, 1 + help_below(28));
		break;
	default:
		fprintf(out, "[Date \"%u.%02u.%02u\"]\n", year, 1 + help_below(12),
			1 + help_below(28));
		break;
	}
}

static void print_tag(FILE *out, const char *name, const char *text)
{
	if (text != NULL) {
		fprintf(out, "[%s \"%s\"]\n", name, text);
	}
}

static void print_elo(FILE *out, const char *name)
{
	if (help_below(4) != 0) {
		fprintf(out, "[%s \"%u\"]\n", name, 2300 + help_below(500));
	}
}

static void print_game(FILE *out)
{
	const char *result = PICK(results);
	print_tag(out, "Event", PICK(events));
	print_tag(out, "Site", PICK(sites));
	print_date(out);
	fprintf(out, "[Round \"%u\"]\n", help_below(1000000));
	print_tag(out, "White", PICK(players));
	print_tag(out, "Black", PICK(players));
	print_tag(out, "Result", result);
	print_elo(out, "WhiteElo");
	print_elo(out, "BlackElo");
	print_tag(out, "WhiteTitle", PICK(titles));
	print_tag(out, "BlackTitle", PICK(titles));
	print_tag(out, "ECO", PICK(rows));
	print_tag(out, "TimeControl", PICK(controls));
	fprintf(out, "\n");
	print_moves(out, result);
}

/* Imports `n` games; one in ten is taken out again. */
static void import_some(unsigned n)
{
	char *text = NULL;
	char *less = NULL;
	size_t len = 0;
	size_t less_len = 0;
	FILE *out = open_memstream(&text, &len);
	FILE *out_less = open_memstream(&less, &less_len);
	for (unsigned i = 0; i < n; i++) {
		fflush(out);
		size_t from = len;
		print_game(out);
		fflush(out);
		if (help_below(10) == 0) {
			fwrite(text + from, 1, len - from, out_less);
		}
	}
	fclose(out);
	fclose(out_less);
	struct import_session session = {0};
	snprintf(session.options.source, sizeof(session.options.source), "%s", PICK(sources));
	const char *const texts[] = {text, NULL};
	ok(session_run(&session, "world", texts));
	if (less_len > 0) {
		session_subtract("world", less);
	}
	free(text);
	free(less);
}

/* ---- Games in memory ---------------------------------------------------------------------- */

static void take_name(const struct chi_archive_view *view, enum chi_name_kind kind, uint32_t id,
		      char out[64])
{
	struct chi_name name;
	out[0] = '\0';
	if (id != 0) {
		ok(chi_name_text(view->txn, view->trees.names, kind, id, &name));
		memcpy(out, name.text, name.len);
		out[name.len] = '\0';
	}
}

static void take_moves(struct world_game *game, const struct chi_game *from)
{
	struct chi_position position[2];
	ok(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position[0], &fault));
	game->plies = from->n_plies;
	chi_key_encode(&position[0], &game->keys[0]);
	for (size_t i = 0; i < from->n_plies; i++) {
		game->moves[i] = from->moves[i];
		chi_position_play(&position[i & 1], from->moves[i], &position[~i & 1]);
		chi_key_encode(&position[~i & 1], &game->keys[i + 1]);
	}
}

static void take_game(const struct search_world *world, struct chi_archive_reader *reader,
		      uint32_t number, struct world_game *game)
{
	struct chi_arena arena;
	struct chi_game from;
	const struct chi_archive_view *view = &world->view;
	chi_arena_init(&arena, SIZE_MAX);
	int rc = chi_archive_game(reader, number, &arena, &from);
	*game = (struct world_game){.there = rc == CHI_OK};
	if (game->there) {
		game->head = from.head;
		take_name(view, CHI_NAME_PLAYER, from.head.white, game->white);
		take_name(view, CHI_NAME_PLAYER, from.head.black, game->black);
		take_name(view, CHI_NAME_EVENT, from.head.event, game->event);
		take_name(view, CHI_NAME_SITE, from.head.site, game->site);
		take_name(view, CHI_NAME_SOURCE, from.head.source, game->source);
		take_moves(game, &from);
	} else {
		assert_int_equal(rc, CHI_NONE);
	}
	chi_arena_deinit(&arena);
}

static void show(struct search_world *world)
{
	struct chi_archive_reader *reader;
	world->store = help_open(help_path("world"), CHI_STORE_WRITE);
	ok(chi_read_begin(world->store, &world->read));
	ok(chi_read_archive(world->read, &world->view));
	world->n = world->view.last;
	free(world->games);
	world->games = calloc(world->n + 1, sizeof(*world->games));
	assert_non_null(world->games);
	ok(chi_archive_reader_new(&reader));
	ok(chi_archive_reader_begin(reader, world->view.txn, &world->view.trees));
	for (uint32_t number = 1; number <= world->n; number++) {
		take_game(world, reader, number, &world->games[number]);
	}
	chi_archive_reader_free(reader);
}

void world_open(struct search_world *world, unsigned games)
{
	*world = (struct search_world){0};
	help_remove(help_path("world"));
	import_some(games / 3);
	import_some(games / 3);
	import_some(games / 3);
	show(world);
}

void world_grow(struct search_world *world, unsigned games)
{
	chi_read_end(world->read);
	chi_dir_close(world->store);
	import_some(games);
	show(world);
}

void world_close(struct search_world *world)
{
	chi_read_end(world->read);
	chi_dir_close(world->store);
	free(world->games);
	*world = (struct search_world){0};
}

/* ---- Filters ------------------------------------------------------------------------------ */

static bool player_fits(const char *wanted, const char *name)
{
	return name[0] != '\0' && chi_player_fits(wanted, name);
}

static bool has_words(const char *wanted, const char *name)
{
	struct chi_name_words a;
	struct chi_name_words b;
	chi_name_split(wanted, strlen(wanted), &a);
	chi_name_split(name, strlen(name), &b);
	return chi_name_has_words(&a, &b);
}

static bool fits_player(const struct world_game *game, const struct chi_terms *terms,
			const struct chi_term *term)
{
	const char *name = chi_term_text_of(terms, term->text);
	const char *other = term->opponent != 0 ? chi_term_text_of(terms, term->opponent) : NULL;
	bool white = player_fits(name, game->white) &&
		     (other == NULL || player_fits(other, game->black));
	bool black = player_fits(name, game->black) &&
		     (other == NULL || player_fits(other, game->white));
	return (white && term->side != CHI_SIDE_BLACK) || (black && term->side != CHI_SIDE_WHITE);
}

/* Every date that the game may have had is on the right side. */
static bool fits_date(const struct chi_game_head *head, const struct chi_term *term)
{
	unsigned bound[3] = {term->min / 10000, term->min / 100 % 100, term->min % 100};
	bool since = term->kind == CHI_TERM_SINCE;
	unsigned date[3] = {head->year, head->month, head->month != 0 ? head->day : 0};
	date[1] = date[1] == 0 ? (since ? 1 : 12) : date[1];
	date[2] = date[2] == 0 ? (since ? 1 : 31) : date[2];
	if (head->year == 0) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		if (bound[i] == 0) {
			return true;
		}
		if (date[i] != bound[i]) {
			return (date[i] > bound[i]) == since;
		}
	}
	return true;
}

static bool fits_position(const struct world_game *game, const struct chi_term *term)
{
	for (size_t i = 0; i <= game->plies; i++) {
		if (memcmp(&game->keys[i], &term->key, sizeof(term->key)) == 0) {
			return true;
		}
	}
	return false;
}

/* ---- Motifs: straight from what they mean ------------------------------------------------- */

/* A pattern knows its turns; other tests are asked of the position as it is. */
static bool fits_test(const struct world_game *game, const struct chi_terms *terms,
		      const struct chi_term *term, const struct chi_term_test *test, size_t ply)
{
	struct chi_position position;
	struct chi_pattern_spec spec;
	struct chi_pattern pattern;
	struct chi_move_list list;
	struct chi_played_moves moves;
	struct chi_moment moment;
	struct chi_moment_view view;
	chi_move move = ply < game->plies ? game->moves[ply] : 0;
	ok(chi_key_decode(&game->keys[ply], &position, &fault));
	bool check = chi_position_in_check(&position, position.side);
	chi_movegen_legal(&position, &list);
	switch (test->kind) {
	case CHI_TEST_PATTERN:
		chi_term_pattern_spec(terms, &test->pattern, &spec);
		spec.mirror = term->motif.mirror;
		spec.either_colour = term->motif.either_colour;
		ok(chi_pattern_compile(&spec, &pattern, &fault));
		return chi_pattern_matches(&pattern, game->keys[ply].bytes) &&
		       (test->pattern.family == CHI_ENDGAME_NONE ||
			chi_endgame_family_of(game->keys[ply].bytes) == test->pattern.family);
	case CHI_TEST_ANY:
		return true;
	case CHI_TEST_CHECK:
		return check;
	case CHI_TEST_MATE:
		return check && list.n == 0;
	case CHI_TEST_STALEMATE:
		return !check && list.n == 0;
	case CHI_TEST_FIRST:
		return ply == 0;
	case CHI_TEST_LAST:
		return ply == game->plies;
	case CHI_TEST_PLY:
		return (int32_t)ply >= test->min && (int32_t)ply <= test->max;
	case CHI_TEST_POINTS: {
		int points = chi_position_points(&position);
		return points >= test->min && points <= test->max;
	}
	case CHI_TEST_PLAYED:
		ok(chi_played_parse(chi_term_text_of(terms, test->text), &moves, &fault));
		chi_moment_init(&moment, &position, move, NULL);
		chi_moment_view_init(&view, &moment, (struct chi_turn){false, false}, NULL);
		return chi_played_fits(&moves, &view);
	default:
		fail_msg("a test that a loop cannot answer");
		return false;
	}
}

static bool fits_node(const struct world_game *game, const struct chi_terms *terms,
		      const struct chi_term *term, uint8_t at, size_t ply)
{
	const struct chi_term_node *node = &terms->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		const struct chi_term_test *test = &terms->tests[node->left];
		return fits_test(game, terms, term, test, ply) != test->negated;
	}
	bool left = fits_node(game, terms, term, node->left, ply);
	bool right = fits_node(game, terms, term, node->right, ply);
	return node->op == CHI_NODE_AND ? left && right : left || right;
}

/* Where moments 0 to i begin if the last of them ends at a ply, -1: they do not. */
static int32_t begin_of(const struct world_game *game, const struct chi_terms *terms,
			const struct chi_term *term, int i, int32_t end)
{
	const struct chi_term_moment *moment = &terms->moments[term->motif.first + i];
	int32_t start = end - moment->run + 1;
	for (int32_t ply = end; ply >= start; ply--) {
		if (ply < 0 || !fits_node(game, terms, term, moment->root, (size_t)ply)) {
			return -1;
		}
	}
	if (i == 0) {
		return start;
	}
	for (int32_t before = start - 1; before >= 0; before--) {
		if ((moment->link == CHI_LINK_NEXT && before < start - 1) ||
		    (moment->within != 0 && before < start - moment->within)) {
			return -1;
		}
		int32_t begin = begin_of(game, terms, term, i - 1, before);
		if (begin >= 0) {
			return begin;
		}
	}
	return -1;
}

bool world_motif(const struct world_game *game, const struct chi_terms *terms,
		 const struct chi_term *term, int32_t *ply)
{
	const struct chi_term_moment *first = &terms->moments[term->motif.first];
	uint32_t n = 0;
	*ply = -1;
	for (int32_t end = 0; end <= (int32_t)game->plies; end++) {
		int32_t begin = begin_of(game, terms, term, term->motif.n - 1, end);
		if (begin < 0) {
			continue;
		}
		*ply = *ply < 0 ? begin : *ply;
		if (!first->counted) {
			return true;
		}
		n++;
	}
	return first->counted && n >= first->least && n <= first->most;
}

static bool fits_term(const struct world_game *game, const struct chi_terms *terms,
		      const struct chi_term *term)
{
	const struct chi_game_head *h = &game->head;
	const char *text = chi_term_text_of(terms, term->text);
	int32_t ply;
#define IN(value) ((value) >= term->min && (value) <= term->max)
	switch (term->kind) {
	case CHI_TERM_PLAYER:
		return fits_player(game, terms, term);
	case CHI_TERM_EVENT:
		return has_words(text, game->event);
	case CHI_TERM_SITE:
		return has_words(text, game->site);
	case CHI_TERM_SOURCE:
		return has_words(text, game->source);
	case CHI_TERM_SINCE:
	case CHI_TERM_UNTIL:
		return fits_date(h, term);
	case CHI_TERM_YEAR:
		return IN(h->year);
	case CHI_TERM_NUMBER:
		return IN(h->number);
	case CHI_TERM_RATING:
		return IN(h->white_elo) || IN(h->black_elo);
	case CHI_TERM_ELO_WHITE:
		return IN(h->white_elo);
	case CHI_TERM_ELO_BLACK:
		return IN(h->black_elo);
	case CHI_TERM_BOTH:
		return IN(h->white_elo) && IN(h->black_elo);
	case CHI_TERM_AVERAGE:
		return h->white_elo != 0 && h->black_elo != 0 &&
		       IN((h->white_elo + h->black_elo) / 2.0);
	case CHI_TERM_ECO:
		return IN(h->eco);
	case CHI_TERM_RESULT:
		return (term->set >> h->result & 1) != 0;
	case CHI_TERM_LENGTH:
		return IN((game->plies + 1) / 2);
	case CHI_TERM_PLIES:
		return IN(game->plies);
	case CHI_TERM_SPEED:
		return (term->set >> h->speed & 1) != 0;
	case CHI_TERM_TITLE:
		return (term->set >> h->white_title & 1) != 0 ||
		       (term->set >> h->black_title & 1) != 0;
	case CHI_TERM_POSITION:
	case CHI_TERM_MOVES:
		return fits_position(game, term);
	case CHI_TERM_MOTIF:
		return world_motif(game, terms, term, &ply);
	default:
		fail_msg("a term that a loop cannot answer");
		return false;
	}
#undef IN
}

static bool fits_tree(const struct world_game *game, const struct chi_terms *terms, uint8_t at)
{
	const struct chi_term_node *node = &terms->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		const struct chi_term *term = &terms->term[node->left];
		return fits_term(game, terms, term) != term->negated;
	}
	bool left = fits_tree(game, terms, node->left);
	return node->op == CHI_NODE_AND ? left && fits_tree(game, terms, node->right)
					: left || fits_tree(game, terms, node->right);
}

bool world_fits(const struct world_game *game, const struct chi_terms *terms)
{
	return game->there && (terms->n == 0 || fits_tree(game, terms, terms->root));
}

/* A position that some game reached. */
static void print_position(const struct search_world *world, FILE *out)
{
	char fen[CHI_FEN_SIZE];
	const struct world_game *game = &world->games[1 + help_below(world->n)];
	size_t most = help_below(3) == 0 ? WORLD_PLIES : 6;
	most = most < game->plies ? most : game->plies;
	if (!game->there) {
		fprintf(out, "moves e4 ");
		return;
	}
	ok(chi_key_to_fen(&game->keys[help_below((unsigned)most + 1)], fen, &fault));
	fprintf(out, "position \"%s\" ", fen);
}

/* Terms that need no numbers. */
static const char *const others[] = {
	"player Carlsen",
	"player \"Carlsen, M\" as white",
	"player Nimzowitsch",
	"player Carlsen opponent Polgar",
	"player Polgar as black opponent \"Anand, V\"",
	"white \"=Magnus Carlsen\"",
	"black \"Petrosian, T\"",
	"event \"tata steel\"",
	"event linares",
	"site moscow",
	"source twic",
	"source \"mega base\"",
	"rating 2500..",
	"rating ..2400",
	"elo-white 2400..2600",
	"elo-black 2500..",
	"both 2450..",
	"average 2500..2550",
	"average 2500",
	"eco B",
	"eco B90..C50",
	"eco ..",
	"result 1-0",
	"result 1-0,*",
	"result 1/2-1/2",
	"length ..10",
	"length 5..20",
	"plies 17",
	"plies 10..",
	"speed blitz",
	"speed bullet,rapid",
	"title GM",
	"title IM,FM",
	"pattern has Pe4",
	"pattern material P=..12 to-move black",
	"pattern has Nf3 mirror",
	"pattern balance \"P v\" either-colour",
	"played captures next played captures",
	"pattern played N-** then within 4 check",
	"pattern (played quiet or check) for 7",
	"pattern played captures times 3..5",
	"pattern last mate",
	"pattern to-move black played B-**|N-** next not played captures then has Pe4 for 3",
	"pattern points 1..9 not check ply 9..",
	"pattern first then within 6 played captures then within 3 check",
	"year 2012..2013",
	"since 2012",
	"until 2013",
	"since 2012-06",
	"until 2013-06",
	"since 2012-06-15",
	"until 2013-06-15",
	"since 2012-01",
	"until 2013-12-31",
};

static void print_term(const struct search_world *world, FILE *out)
{
	if (help_below(4) == 0) {
		fprintf(out, "not ");
	}
	unsigned which = help_below(CHI_COUNT(others) + 8);
	if (which < CHI_COUNT(others)) {
		fprintf(out, "%s ", others[which]);
	} else if (which < CHI_COUNT(others) + 2) {
		uint32_t from = 1 + help_below(world->n);
		fprintf(out, "number %u..%u ", from, from + help_below(world->n));
	} else {
		print_position(world, out);
	}
}

/* Terms, and groups of them with `or` in between. */
static void print_conjunction(const struct search_world *world, FILE *out, unsigned depth)
{
	for (unsigned n = help_below(depth > 0 ? 3 : 4); n > 0; n--) {
		print_term(world, out);
	}
	if (depth > 0) {
		fprintf(out, "%s(", help_below(3) == 0 ? "not " : "");
		print_term(world, out);
		print_conjunction(world, out, depth - 1);
		fprintf(out, " or ");
		print_term(world, out);
		fprintf(out, ") ");
	}
}

void world_filter(const struct search_world *world, char *out, size_t size)
{
	FILE *to = fmemopen(out, size, "w");
	assert_non_null(to);
	print_conjunction(world, to, help_below(3) == 0 ? 2 : 0);
	fputc('\0', to);
	fclose(to);
}

/* ---- A program ------------------------------------------------------------------------------ */

static struct {
	struct search_world *world;
	unsigned games;
} shared;

static int setup(void **state)
{
	(void)state;
	world_open(shared.world, shared.games);
	return 0;
}

static int teardown(void **state)
{
	world_close(shared.world);
	return help_teardown(state);
}

int world_run(struct search_world *world, unsigned games)
{
	shared.world = world;
	shared.games = games;
	return cases_run(setup, teardown);
}
