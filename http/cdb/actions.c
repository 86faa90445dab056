/* SPDX-License-Identifier: MIT */
/*
 * The actions. Each answers as text or as JSON; a failure is a word, the same in both, and status
 * 200: clients of chessdb.cn know no other. Text that answers a `board` ends with a NUL byte.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "http/cdb/answer.h"
#include "http/net/config.h"
#include "http/net/server.h"
#include "http/net/session.h"

#define TABLEBASE_MEN 7 /* that chessdb's tablebases have at most */

typedef int action_handler(struct answer *answer);

/* ---- Words ------------------------------------------------------------------------------- */

void cdb_say_word(struct answer *answer, const char *word)
{
	struct writer *out = &answer->call->out;
	out_reset(out);
	if (answer->json) {
		out_object(out, NULL);
		out_text(out, "status", word);
		out_end(out, '}');
	} else {
		out_raw(out, word);
	}
}

static void say_nothing(struct answer *answer)
{
	out_raw(&answer->call->out, answer->json ? "{}" : "");
}

void cdb_begin_ok(struct answer *answer)
{
	out_object(&answer->call->out, NULL);
	out_text(&answer->call->out, "status", "ok");
}

static void say_ply(struct answer *answer)
{
	if (answer->board.min_ply >= 0) {
		out_integer(&answer->call->out, "ply", answer->board.min_ply);
	}
	out_end(&answer->call->out, '}');
}

bool cdb_is_over(struct answer *answer)
{
	uint32_t state = answer->board.state;
	if ((state & (CHI_STATE_CHECKMATE | CHI_STATE_STALEMATE)) == 0) {
		return false;
	}
	cdb_say_word(answer, (state & CHI_STATE_CHECKMATE) != 0 ? "checkmate" : "stalemate");
	return true;
}

/* ---- queryall ---------------------------------------------------------------------------- */

struct row {
	char note[32];
	char winrate[16]; /* "": none */
};

static struct row row_of(const struct cdb_move *move)
{
	struct row row = {.winrate = ""};
	char mark = "?*!"[move->rank];
	double winrate = move->known ? cdb_winrate(move->score) : 100 * move->book.share;
	if (move->known) {
		(void)snprintf(row.note, sizeof(row.note), "%c (%02d-%02d)", mark, move->replies,
			       move->good);
	} else {
		(void)snprintf(row.note, sizeof(row.note), "%c (\?\?-\?\?)", mark);
	}
	if (move->known ? move->score > -CDB_SHORT && move->score < CDB_SHORT
			: move->book.games > 0) {
		(void)snprintf(row.winrate, sizeof(row.winrate), "%.2f", winrate);
	}
	return row;
}

static void say_move_json(struct writer *out, const struct cdb_move *move)
{
	struct row row = row_of(move);
	out_object(out, NULL);
	out_text(out, "uci", move->uci);
	out_text(out, "san", move->san);
	if (move->known) {
		out_integer(out, "score", move->score);
	} else {
		out_text(out, "score", "??");
	}
	out_integer(out, "rank", move->rank);
	out_text(out, "note", row.note);
	if (row.winrate[0] != '\0') {
		out_text(out, "winrate", row.winrate);
	}
	out_end(out, '}');
}

static void say_move_text(struct writer *out, const struct cdb_move *move, bool first)
{
	struct row row = row_of(move);
	out_format(out, "%smove:%s,score:%d,rank:%d,note:%s", first ? "" : "|", move->uci,
		   move->score, move->rank, row.note);
	if (row.winrate[0] != '\0') {
		out_format(out, ",winrate:%s", row.winrate);
	}
}

/* Moves without a score are in JSON alone: programs that read the text know no "??". */
static int query_all(struct answer *answer)
{
	const struct cdb_board *board = &answer->board;
	struct writer *out = &answer->call->out;
	bool all = answer->json && params_flag(&answer->call->params, "showall");
	if (cdb_is_over(answer)) {
		return CHI_OK;
	}
	if (board->n_known == 0 && !all) {
		cdb_say_word(answer, "unknown");
		return CHI_OK;
	}
	if (!answer->json) {
		for (size_t i = 0; i < board->n_known; i++) {
			say_move_text(out, &board->moves[i], i == 0);
		}
		return CHI_OK;
	}
	cdb_begin_ok(answer);
	out_array(out, "moves");
	for (size_t i = 0; i < (all ? board->n : board->n_known); i++) {
		say_move_json(out, &board->moves[i]);
	}
	out_end(out, ']');
	say_ply(answer);
	return CHI_OK;
}

/* ---- Scores -------------------------------------------------------------------------------- */

static int query_score(struct answer *answer)
{
	struct writer *out = &answer->call->out;
	if (cdb_is_over(answer)) {
		return CHI_OK;
	}
	if (!answer->board.known) {
		cdb_say_word(answer, "unknown");
	} else if (answer->json) {
		cdb_begin_ok(answer);
		out_integer(out, "eval", answer->board.score);
		say_ply(answer);
	} else {
		out_format(out, "eval:%d", answer->board.score);
	}
	return CHI_OK;
}

/* ---- Engines, and what is asked to be looked at ---------------------------------------------- */

static const struct cdb_move *find_move(const struct cdb_board *board, const char *uci, size_t len)
{
	for (size_t i = 0; i < board->n; i++) {
		if (strlen(board->moves[i].uci) == len &&
		    memcmp(board->moves[i].uci, uci, len) == 0) {
			return &board->moves[i];
		}
	}
	return NULL;
}

/* Plays "e2e4|e7e5". */
static int play_list(struct chi_key *key, const char *list)
{
	while (*list != '\0') {
		size_t len = strcspn(list, "|");
		chi_move move = 0;
		int status = chi_key_move(key, list, len, &move, NULL);
		status = status == CHI_OK ? chi_key_play(key, move, key) : status;
		if (status < 0) {
			return status;
		}
		list += len + (list[len] == '|' ? 1 : 0);
	}
	return CHI_OK;
}

/* The best move after a line of moves, which may be empty, but must be there. */
static int query_engine(struct answer *answer)
{
	struct call *call = answer->call;
	struct cdb_board *board = &answer->board;
	const char *list = params_given(&call->params, "movelist");
	if (list == NULL || play_list(&board->key, list) < 0) {
		cdb_say_word(answer, list == NULL ? "invalid parameters" : "invalid movelist");
		return CHI_OK;
	}
	const struct chi_key key = board->key;
	int status = cdb_look(call, &key, board);
	if (status == CHI_OK && board->n_known + board->n_book > 0) {
		cdb_say_best(answer, board->moves[0].uci);
	} else if (status == CHI_OK) {
		cdb_say_word(answer, "nobestmove");
	}
	return status;
}

/* Into the store's queue, through the daemon that takes writes; "ok" also if it waits there
 * already. Without a daemon the answer is chessdb's for what cannot be queued: clients ask again
 * without end where it is an error. */
static int add_to_queue(struct answer *answer, const struct chi_key *key)
{
	struct call *call = answer->call;
	struct chi_client *writer = NULL;
	struct chi_queue_added result = {.added = 0};
	if (call->session->config->write_to == NULL) {
		say_nothing(answer);
		return CHI_OK;
	}
	call->live = true;
	int status = call_may_write(call);
	if (status < 0) {
		return status;
	}
	status = session_writer(call->session, &writer, &call->fault);
	if (status < 0) {
		return status;
	}
	status = chi_queue_add(writer, key, 1, 1, &result);
	if (status < 0 || result.refused > 0) {
		return chi_fail(&call->fault, status < 0 ? status : -CHI_EBUSY, "%s",
				status < 0 ? chi_error(writer) : "the queue is full");
	}
	cdb_say_word(answer, "ok");
	return CHI_OK;
}

/* Unless learn=0 forbids it, an unknown position joins the queue once the answer is on its way. */
static void learn(struct answer *answer)
{
	struct call *call = answer->call;
	bool may =
		params_get(&call->params, "learn") == NULL || params_flag(&call->params, "learn");
	if (may && !answer->board.known && answer->board.n_known == 0 && answer->board.n > 0 &&
	    call->write_ban == NULL && call->role >= CHI_ROLE_WRITE) {
		call->writes = unknown_add(call->loop->server->unknown, &answer->board.key);
	}
}

/* Where an evaluation is stored there is nothing to do, and it is done. */
static int queue_position(struct answer *answer)
{
	if (answer->board.n == 0) {
		say_nothing(answer);
		return CHI_OK;
	}
	if (answer->board.row.has_eval) {
		cdb_say_word(answer, "ok");
		return CHI_OK;
	}
	return add_to_queue(answer, &answer->board.key);
}

/* A move that someone thinks worth a look: the position after it is. */
static int store_move(struct answer *answer)
{
	const char *text = params_get(&answer->call->params, "move");
	if (text != NULL && strncmp(text, "move:", 5) == 0) {
		text += 5;
	}
	const struct cdb_move *move =
		text != NULL ? find_move(&answer->board, text, strlen(text)) : NULL;
	if (move == NULL) {
		cdb_say_word(answer, "invalid parameters");
		return CHI_OK;
	}
	if (move->known) {
		say_nothing(answer);
		return CHI_OK;
	}
	return add_to_queue(answer, &move->after);
}

/* ---- The call ---------------------------------------------------------------------------- */

enum action_flag {
	ASKS = 1 << 0, /* what is known of a position: one that is not known is learned */
	BOOK = 1 << 1, /* endgame=1 asks for moves of tablebases alone, of which there are none */
};

static const struct action {
	const char *name;
	action_handler *run;
	unsigned flags;
} actions[] = {
	{"queryall", query_all, ASKS},
	{"querybest", cdb_query_best, ASKS | BOOK},
	{"query", cdb_query_any, ASKS | BOOK},
	{"querylearn", cdb_query_learn, ASKS | BOOK},
	{"querysearch", cdb_query_search, ASKS | BOOK},
	{"queryscore", query_score, ASKS},
	{"querypv", cdb_query_pv, ASKS},
	{"queryengine", query_engine, BOOK},
	{"queue", queue_position, 0},
	{"store", store_move, 0},
};

static const struct action *find_action(const char *name)
{
	for (size_t i = 0; name != NULL && i < CHI_COUNT(actions); i++) {
		if (strcmp(name, actions[i].name) == 0) {
			return &actions[i];
		}
	}
	return NULL;
}

/* Of a FEN the rights to castle and what follows may be left out. */
static int read_board(struct call *call, struct chi_key *out)
{
	static const char *const rest[] = {"", "", " - -", " -"};
	const char *text = params_get(&call->params, "board");
	char fen[CHI_FEN_INPUT_MAX + 8];
	size_t fields = 0;
	for (const char *at = text; at != NULL && *at != '\0'; fields++) {
		at += strcspn(at, " _+");
		at += strspn(at, " _+");
	}
	(void)snprintf(fen, sizeof(fen), "%s%s", text != NULL ? text : "",
		       fields < CHI_COUNT(rest) ? rest[fields] : "");
	return call_fen(call, fen, out);
}

/* egtbmetric asks for what tablebases say, where they have the position. An evaluation must not be
 * taken for that. */
static bool asks_tablebases(const struct call *call, const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE] = "";
	size_t men = 0;
	if (params_get(&call->params, "egtbmetric") == NULL || chi_key_to_fen(key, fen, NULL) < 0) {
		return false;
	}
	for (const char *at = fen; *at != '\0' && *at != ' '; at++) {
		men += isalpha((unsigned char)*at) != 0 ? 1 : 0;
	}
	return men <= TABLEBASE_MEN;
}

static int run_action(struct call *call)
{
	struct answer answer = {.call = call, .json = params_flag(&call->params, "json")};
	const struct action *action = find_action(params_get(&call->params, "action"));
	struct chi_key key;
	int status = CHI_OK;
	call->type = answer.json ? "application/json" : "text/plain; charset=utf-8";
	if (action == NULL) {
		cdb_say_word(&answer, "invalid parameters");
		return CHI_OK;
	}
	if (read_board(call, &key) < 0) {
		cdb_say_word(&answer, "invalid board");
	} else if ((action->flags & BOOK) != 0 && params_flag(&call->params, "endgame")) {
		say_nothing(&answer);
	} else if ((action->flags & ASKS) != 0 && asks_tablebases(call, &key)) {
		cdb_say_word(&answer, "unknown");
	} else {
		status = cdb_look(call, &key, &answer.board);
		if (status == CHI_OK && (action->flags & ASKS) != 0) {
			learn(&answer);
		}
		status = status == CHI_OK ? action->run(&answer) : status;
	}
	if (!answer.json) {
		out_bytes(&call->out, "", 1);
	}
	return status;
}

static void say_zeros(struct writer *out, const char *name)
{
	out_object(out, name);
	out_number(out, "wdl", 0);
	out_number(out, "dtz", 0);
	out_end(out, '}');
}

/* Zeros are for what chessdb has besides: workers and tablebases. */
static int run_statistics(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_info info;
	struct chi_queue_page list;
	int status = chi_store_info(call->client, &info);
	status = status == CHI_OK ? chi_queue_list(call->client, CHI_QUEUE_WAITING, NULL, 1, &list)
				  : status;
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(out, NULL);
	out_text(out, "status", "ok");
	out_number(out, "positions", info.positions);
	out_number(out, "games",
		   info.games.white + info.games.draws + info.games.black + info.games.other);
	out_object(out, "queue");
	out_number(out, "scoring", list.counts.waiting);
	out_number(out, "sieving", 0);
	out_end(out, '}');
	out_object(out, "worker");
	out_number(out, "backlog", 0);
	out_number(out, "speed", 0);
	out_end(out, '}');
	out_object(out, "egtb");
	say_zeros(out, "count");
	say_zeros(out, "size");
	out_end(out, '}');
	out_end(out, '}');
	return CHI_OK;
}

static int run_queue(struct call *call)
{
	uint64_t limit = 0;
	struct chi_queue_page list;
	char fen[CHI_FEN_SIZE];
	int status = params_number(&call->params, "limit", 1, CHI_QUEUE_BATCH_MAX, 100, &limit,
				   &call->fault);
	if (status < 0) {
		return status;
	}
	status = chi_queue_list(call->client, CHI_QUEUE_WAITING, NULL, (uint32_t)limit, &list);
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(&call->out, NULL);
	out_number(&call->out, "total", list.counts.waiting);
	out_array(&call->out, "positions");
	for (size_t i = 0; i < list.n; i++) {
		if (chi_key_to_fen(&list.rows[i].key, fen, NULL) == CHI_OK) {
			out_text(&call->out, NULL, fen);
		}
	}
	out_end(&call->out, ']');
	out_end(&call->out, '}');
	return CHI_OK;
}

static const struct route_params queue_params = {(const char *const[]){"limit", NULL}, NULL};

/* Asking changes nothing but the queue, and that is checked where it does: it waits for a daemon,
 * so that a worker runs it. */
const struct route cdb_routes[] = {
	{"/cdb.php", ROUTE_END | ROUTE_POST | ROUTE_LONG, run_action, NULL, NULL},
	{"/statsc.php", ROUTE_END | ROUTE_LIVE, run_statistics, NULL, NULL},
	{"/api/queue", ROUTE_LIVE, run_queue, NULL, &queue_params},
	{.path = NULL},
};
