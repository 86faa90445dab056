/* SPDX-License-Identifier: MIT */
/* The child's life, and a search by it: its lines are passed on, and read as far as they are
 * needed. */
#include "uci/relay.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "chess/notation.h"
#include "uci/child.h"
#include "uci/info.h"
#include "uci/say.h"
#include "uci/session_priv.h"

#define HELLO_MS      10000 /* large tables and networks are loaded meanwhile */
#define READY_MS      10000
#define HUNG_MS	      5000 /* from `stop` to its answer: then it will not come */
#define ANSWER_MS     500  /* from `stop` to ours, if nothing else says when that is due */
#define QUIT_MS	      1000
#define REAP_MS	      10    /* how often it is looked whether one that goes has gone */
#define FAILURES_MAX  3	    /* searches in a row: it is not started again */
#define HELLO_LINES   10000 /* and `readyok`: with more it is no engine */
#define OVERDUE_LINES 1000  /* that came in time, perhaps, but are read after it */
#define STRAY_LINES   100   /* before a search, of the one before */
#define SAID_MAX      256
#define PART_AT_FIRST 2	 /* of the time for a move, in which it may become ready */
#define PART_AGAIN    10 /* the same of one that has failed, or owes an answer */

enum state {
	ABSENT,
	STARTING,
	LOADING,
	IDLE,
	SEARCHING,
	STOPPING
};

/* The child's best line so far. */
struct heard {
	unsigned depth;
	int score;
	uint64_t nodes;
	chi_move pv[CHI_PLIES_MAX];
	size_t n_pv;
};

struct search {
	const struct chi_position *from;
	struct chi_engine_result *result;
	struct heard heard;
	bool over; /* there will be no more of it: */
	bool answered;
};

/* A line of setoption, and the option that it is of. */
struct said {
	char *line;
	char *option;
};

/* A line for a child that owes an answer, which it does for five seconds at most. */
struct late_line {
	struct late_line *next;
	char text[];
};

struct chi_relay {
	struct chi_session *session;
	int wake;
	char command[CHI_UCI_TEXT]; /* of the child */
	enum state state;
	int64_t deadline; /* of the state, by chi_now_ms; INT64_MAX: none */
	unsigned lines;	  /* read in it, */
	unsigned overdue; /* after its end */
	unsigned owed;	  /* `readyok` */
	unsigned failures;
	struct chi_child *child;
	struct chi_child *leaving; /* it was told to, or killed */
	int64_t kill_at;
	struct search *search; /* that still wants its answer */
	struct said said[SAID_MAX];
	size_t n_said;
	struct late_line *late; /* said when it is idle: until then it may be told only to stop */
	struct late_line **late_end;
};

static void enter_state(struct chi_relay *relay, enum state state, int64_t ms)
{
	relay->state = state;
	relay->deadline = ms > 0 ? chi_now_ms() + ms : INT64_MAX;
	relay->lines = 0;
	relay->overdue = 0;
}

/* ---- What it says of a search ----------------------------------------------------------------
 */

/* The score as the search has it; false: it is a mate further away than that goes. */
static bool take_score(const struct chi_uci_info *info, int *score)
{
	int most = CHI_MATE_BOUND - 1;
	int value = info->score;
	if (!info->is_mate) {
		*score = value > most ? most : value < -most ? -most : value;
		return true;
	}
	*score = value > 0 ? CHI_MATE - (2 * value - 1) : -CHI_MATE - 2 * value;
	return value > -CHI_PLIES_MAX && value < CHI_PLIES_MAX;
}

/* Bounds and lines that are not the best are only passed on. */
static void take_info(const struct chi_position *from, const char *at, struct heard *heard)
{
	struct chi_uci_info info;
	struct heard fresh = {0};
	if (!chi_uci_info_read(from, at, &info) || info.rank != 0 ||
	    !take_score(&info, &fresh.score)) {
		return;
	}
	fresh.depth = info.depth;
	fresh.nodes = info.nodes;
	fresh.n_pv = info.n_pv < CHI_PLIES_MAX ? info.n_pv : CHI_PLIES_MAX;
	memcpy(fresh.pv, info.pv, fresh.n_pv * sizeof(fresh.pv[0]));
	*heard = fresh;
}

/* "bestmove e2e4 ponder e7e5" */
static bool take_best(const struct chi_position *from, const char *at,
		      struct chi_engine_result *result)
{
	struct chi_position next;
	char text[CHI_MOVE_SIZE];
	if (!chi_uci_word(&at, text, sizeof(text)) ||
	    chi_uci_parse(from, text, strlen(text), &result->best, NULL) != CHI_OK) {
		return false;
	}
	chi_position_play(from, result->best, &next);
	if (!chi_uci_word(&at, text, sizeof(text)) || strcmp(text, "ponder") != 0 ||
	    !chi_uci_word(&at, text, sizeof(text)) ||
	    chi_uci_parse(&next, text, strlen(text), &result->ponder, NULL) != CHI_OK) {
		result->ponder = 0;
	}
	return true;
}

/* ---- Beginning and end -----------------------------------------------------------------------
 */

static void reap(struct chi_relay *relay)
{
	if (relay->leaving != NULL &&
	    chi_child_reap(relay->leaving, chi_now_ms() >= relay->kill_at)) {
		relay->leaving = NULL;
	}
}

static void drop_late(struct chi_relay *relay)
{
	while (relay->late != NULL) {
		struct late_line *line = relay->late;
		relay->late = line->next;
		free(line);
	}
	relay->late_end = &relay->late;
}

/* It goes by itself if it is given time, or else is killed. There is no other that goes: only then
 * one is started. */
static void leave(struct chi_relay *relay, int64_t ms)
{
	if (relay->child == NULL) {
		return;
	}
	if (ms > 0) {
		chi_child_quit(relay->child);
	}
	relay->leaving = relay->child;
	relay->kill_at = chi_now_ms() + ms;
	relay->child = NULL;
	drop_late(relay);
	enter_state(relay, ABSENT, 0);
	reap(relay);
}

static int64_t time_to_quit(const struct chi_relay *relay)
{
	return relay->state == IDLE || relay->state == LOADING ? QUIT_MS : 0;
}

static bool may_start(const struct chi_relay *relay)
{
	return relay->command[0] != '\0' && relay->failures < FAILURES_MAX;
}

/* `why`: what it has done. One that did not even come up does not the next time, either. */
static void fail_engine(struct chi_relay *relay, const char *why)
{
	relay->failures = relay->state == STARTING ? FAILURES_MAX : relay->failures + 1;
	if (relay->search != NULL) {
		relay->search->over = true;
	}
	chi_session_say("engine: '%.100s' %s%s", relay->command, why,
			may_start(relay)	   ? ": it is started again"
			: relay->state == STARTING ? ""
						   : ": it is not started again");
	leave(relay, 0);
}

static const char *what_is_owed(const struct chi_relay *relay)
{
	return relay->state == STARTING	 ? "does not answer 'uci'"
	       : relay->state == LOADING ? "does not answer 'isready'"
					 : "does not answer 'stop'";
}

/* The command that is there, if there is no child of it. */
static void start_engine(struct chi_relay *relay)
{
	struct chi_fault fault;
	reap(relay);
	if (relay->child != NULL || relay->leaving != NULL || !may_start(relay)) {
		return;
	}
	if (chi_child_start(relay->command, &relay->child, &fault) != CHI_OK) {
		relay->failures = FAILURES_MAX;
		chi_session_say("engine: %s", fault.text);
		return;
	}
	enter_state(relay, STARTING, HELLO_MS);
}

void chi_relay_settle(struct chi_relay *relay)
{
	const char *wanted = relay->session->options.engine;
	if (strcmp(relay->command, wanted) != 0) {
		leave(relay, time_to_quit(relay));
		strcpy(relay->command, wanted);
		relay->failures = 0;
	}
	start_engine(relay);
}

/* ---- Options ---------------------------------------------------------------------------------
 */

void chi_relay_print_options(const struct chi_relay *relay, FILE *out)
{
	const char *line;
	for (size_t i = 0;
	     relay->child != NULL && (line = chi_child_option(relay->child, i)) != NULL; i++) {
		if (!chi_uci_options_has_line(line)) {
			fprintf(out, "%s\n", line);
		}
	}
}

/* For a child that is started later, or again. */
static void remember_option(struct chi_relay *relay, const char *option, const char *line)
{
	size_t at = 0;
	while (at < relay->n_said && strcasecmp(relay->said[at].option, option) != 0) {
		at++;
	}
	struct said said = {strdup(line), strdup(option)};
	if (said.line == NULL || said.option == NULL || at == SAID_MAX) {
		chi_session_say("setoption: too many, an engine started later will not see it");
		free(said.line);
		free(said.option);
		return;
	}
	if (at < relay->n_said) {
		free(relay->said[at].line);
		free(relay->said[at].option);
	} else {
		relay->n_said++;
	}
	relay->said[at] = said;
}

static void tell_later(struct chi_relay *relay, const char *text)
{
	struct late_line *line = calloc(1, sizeof(*line) + strlen(text) + 1);
	if (line == NULL) {
		chi_session_say("out of memory: the engine is not told '%.40s'", text);
		return;
	}
	strcpy(line->text, text);
	*relay->late_end = line;
	relay->late_end = &line->next;
}

static void tell_late(struct chi_relay *relay)
{
	for (const struct late_line *line = relay->late; line != NULL; line = line->next) {
		chi_child_send(relay->child, line->text);
	}
	drop_late(relay);
}

void chi_relay_tell(struct chi_relay *relay, const char *option, const char *line)
{
	bool shared = option != NULL && chi_uci_options_shared(option);
	bool there = relay->child != NULL && relay->state != STARTING;
	if (option != NULL && !shared) {
		remember_option(relay, option, line);
	}
	if (!there || (shared && !chi_child_has(relay->child, option))) {
		return;
	}
	if (relay->state == SEARCHING || relay->state == STOPPING) {
		tell_later(relay, line);
	} else {
		chi_child_send(relay->child, line);
	}
}

static void ask_ready(struct chi_relay *relay)
{
	chi_child_send(relay->child, "isready");
	relay->owed++;
	enter_state(relay, LOADING, READY_MS);
}

/* It begins with our values of the options that both have, as we have told the GUI ours. */
static void introduce(struct chi_relay *relay)
{
	char line[CHI_UCI_LINE];
	const char *name;
	for (size_t i = 0;
	     chi_uci_options_line(&relay->session->options, i, &name, line, sizeof(line)); i++) {
		if (chi_child_has(relay->child, name)) {
			chi_child_send(relay->child, line);
		}
	}
	for (size_t i = 0; i < relay->n_said; i++) {
		chi_child_send(relay->child, relay->said[i].line);
	}
	relay->owed = 0;
	ask_ready(relay);
}

/* ---- Its lines -------------------------------------------------------------------------------
 */

static void hear_best(struct chi_relay *relay, const char *at)
{
	struct search *search = relay->search;
	if (search != NULL && !take_best(search->from, at, search->result)) {
		fail_engine(relay, "gave no legal move");
		return;
	}
	if (search != NULL) {
		search->over = true;
		search->answered = true;
		relay->failures = 0;
	}
	enter_state(relay, IDLE, 0);
	tell_late(relay);
}

static void hear_search(struct chi_relay *relay, const char *line)
{
	if (strncmp(line, "bestmove", 8) == 0) {
		hear_best(relay, line + 8);
	} else if (relay->search != NULL && strncmp(line, "info ", 5) == 0) {
		puts(line);
		if (fflush(stdout) != 0) {
			/* There is no GUI any more. */
			chi_session_stop(relay->session);
		}
		take_info(relay->search->from, line + 5, &relay->search->heard);
	}
}

static void hear(struct chi_relay *relay, const char *line)
{
	switch (relay->state) {
	case STARTING:
		if (chi_child_hello(relay->child, line)) {
			introduce(relay);
		}
		break;
	case LOADING:
		if (strcmp(line, "readyok") == 0 && --relay->owed == 0) {
			enter_state(relay, IDLE, 0);
		}
		break;
	case SEARCHING:
	case STOPPING:
		hear_search(relay, line);
		break;
	default:
		break;
	}
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void wait_for_something(const struct chi_relay *relay, int64_t until)
{
	int64_t now = chi_now_ms();
	uint64_t drained;
	until = earlier(until, relay->deadline);
	until = relay->leaving != NULL ? earlier(until, now + REAP_MS) : until;
	int64_t ms = until == INT64_MAX ? -1 : until > now ? earlier(until - now, INT32_MAX) : 0;
	struct pollfd fds[] = {
		{.fd = relay->wake, .events = POLLIN},
		{.fd = relay->child != NULL ? chi_child_fd(relay->child) : -1, .events = POLLIN}};
	if (poll(fds, 2, (int)ms) > 0 && fds[0].revents != 0) {
		(void)!read(relay->wake, &drained, sizeof(drained));
	}
}

/* What came in time is heard even if it is looked at later: we may have searched meanwhile. */
void chi_relay_turn(struct chi_relay *relay, int64_t until)
{
	const char *line;
	bool floods =
		relay->lines > HELLO_LINES && (relay->state == STARTING || relay->state == LOADING);
	bool late = chi_now_ms() >= relay->deadline || floods;
	int rc = relay->child != NULL ? chi_child_line(relay->child, 0, &line) : -CHI_ETIMEOUT;
	start_engine(relay);
	if (rc == CHI_OK && (!late || relay->overdue++ < OVERDUE_LINES)) {
		relay->lines++;
		hear(relay, line);
	} else if (rc == CHI_NONE) {
		fail_engine(relay, relay->state == STARTING ? "ended at once" : "has ended");
	} else if (late) {
		fail_engine(relay, what_is_owed(relay));
	} else {
		wait_for_something(relay, until);
	}
}

/* ---- Waiting ---------------------------------------------------------------------------------
 */

void chi_relay_hello(struct chi_relay *relay)
{
	while ((relay->state == STARTING || relay->leaving != NULL) &&
	       !chi_session_hurries(relay->session)) {
		chi_relay_turn(relay, INT64_MAX);
	}
}

void chi_relay_ready(struct chi_relay *relay)
{
	bool asked = false;
	while ((relay->child != NULL || relay->leaving != NULL) &&
	       !(asked && relay->state == IDLE) && !chi_session_hurries(relay->session)) {
		if (!asked && (relay->state == IDLE || relay->state == LOADING)) {
			ask_ready(relay);
			asked = true;
		}
		chi_relay_turn(relay, INT64_MAX);
	}
}

/* For a search that begins: part of its time. */
static bool await_idle(struct chi_relay *relay)
{
	for (;;) {
		struct chi_due due = chi_session_due(relay->session);
		bool again = relay->failures > 0 || relay->state == STOPPING;
		int64_t until = due.stop;
		if (until != INT64_MAX) {
			until = due.begun +
				(due.stop - due.begun) / (again ? PART_AGAIN : PART_AT_FIRST);
		}
		bool comes = relay->child != NULL || (relay->leaving != NULL && may_start(relay));
		if (relay->state == IDLE || !comes) {
			return relay->state == IDLE;
		}
		if (chi_now_ms() >= until || chi_session_stopped(relay->session)) {
			chi_session_say("engine: it is not ready in time");
			return false;
		}
		chi_relay_turn(relay, until);
	}
}

/* ---- A search --------------------------------------------------------------------------------
 */

static bool begin_engine(struct chi_relay *relay)
{
	const char *line;
	int rc = CHI_OK;
	for (int i = 0; i < STRAY_LINES && rc == CHI_OK; i++) {
		rc = chi_child_line(relay->child, 0, &line);
	}
	if (rc == CHI_NONE) {
		fail_engine(relay, "has ended");
		return false;
	}
	chi_child_send(relay->child, relay->session->position);
	chi_child_send(relay->child, relay->session->go);
	enter_state(relay, SEARCHING, 0);
	return true;
}

/* When our answer is due, now that it was told to stop: without a line of its own part of that time
 * is for us to find a move. */
static int64_t answer_by(const struct search *search, int64_t stopped, int64_t due)
{
	int64_t by = earlier(stopped + ANSWER_MS, due);
	return search->heard.n_pv > 0 || by <= stopped ? by : stopped + (by - stopped) / 2;
}

static void listen(struct chi_relay *relay, struct search *search)
{
	struct chi_session *session = relay->session;
	int64_t stopped = 0;
	bool hit = false;
	while (!search->over) {
		struct chi_due due = chi_session_due(session);
		int64_t now = chi_now_ms();
		if (!hit && session->limits.ponder && chi_engine_hit(session->engine) != 0) {
			hit = true;
			chi_child_send(relay->child, "ponderhit");
		}
		if (stopped == 0 && (now >= due.stop || chi_session_stopped(session))) {
			stopped = now;
			chi_child_send(relay->child, "stop");
			enter_state(relay, STOPPING, HUNG_MS);
		}
		int64_t until = stopped != 0 ? answer_by(search, stopped, due.answer) : due.stop;
		if (stopped != 0 && now >= until) {
			return;
		}
		chi_relay_turn(relay, until);
	}
}

bool chi_relay_search(struct chi_relay *relay, struct chi_engine_result *result)
{
	struct chi_session *session = relay->session;
	struct search search = {.from = chi_engine_position(session->engine), .result = result};
	const struct heard *heard = &search.heard;
	if (!await_idle(relay) || !begin_engine(relay)) {
		return false;
	}
	relay->search = &search;
	listen(relay, &search);
	relay->search = NULL;
	if (search.answered && heard->n_pv > 0) {
		chi_session_learn_heard(session, chi_child_name(relay->child), heard->score,
					heard->depth, heard->nodes, heard->pv, heard->n_pv);
	}
	if (!search.answered && !search.over) {
		chi_session_say("engine: no answer in time");
	}
	if (!search.answered) {
		result->best = heard->n_pv > 0 ? heard->pv[0] : 0;
		result->ponder = 0;
	}
	return result->best != 0;
}

/* ---- Life ------------------------------------------------------------------------------------
 */

int chi_relay_new(struct chi_session *session, int wake, struct chi_relay **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	(*out)->session = session;
	(*out)->wake = wake;
	(*out)->late_end = &(*out)->late;
	enter_state(*out, ABSENT, 0);
	return CHI_OK;
}

void chi_relay_free(struct chi_relay *relay)
{
	if (relay == NULL) {
		return;
	}
	leave(relay, time_to_quit(relay));
	relay->command[0] = '\0';
	int64_t until = relay->kill_at + QUIT_MS;
	while (relay->leaving != NULL && chi_now_ms() < until) {
		chi_relay_turn(relay, chi_now_ms() + REAP_MS);
	}
	for (size_t i = 0; i < relay->n_said; i++) {
		free(relay->said[i].line);
		free(relay->said[i].option);
	}
	free(relay);
}
