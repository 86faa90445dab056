/* SPDX-License-Identifier: MIT */
/* The commands of the protocol (S. Meyer-Kahlen's description of 2006). */
#include "uci/session_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/notation.h"

#define BLANKS " \t\r"

/* The next word, NULL at the end. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS);
	if (*word == '\0') {
		return NULL;
	}
	char *end = word + strcspn(word, BLANKS);
	*at = *end == '\0' ? end : end + 1;
	*end = '\0';
	return word;
}

/* ---- Searching ----------------------------------------------------------------------------- */

static void release(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->waits = false;
	pthread_cond_signal(&session->released);
	pthread_mutex_unlock(&session->mutex);
}

static void to_child(struct chi_session *session, const char *line)
{
	/* The searching thread takes it away under the mutex. */
	pthread_mutex_lock(&session->mutex);
	if (session->child != NULL) {
		chi_child_send(session->child, line);
	}
	pthread_mutex_unlock(&session->mutex);
}

static void stop(struct chi_session *session)
{
	if (session->searching) {
		atomic_store(&session->stopped, true);
		chi_engine_stop(session->engine);
		to_child(session, "stop");
		release(session);
	}
}

/* The search's thread is done, and its answer given. */
static void finish(struct chi_session *session)
{
	if (session->searching) {
		pthread_join(session->thread, NULL);
		session->searching = false;
	}
}

static void ponderhit(struct chi_session *session)
{
	if (session->searching) {
		chi_engine_ponderhit(session->engine);
		to_child(session, "ponderhit");
		if (!session->limits.infinite) {
			release(session);
		}
	}
}

/* ---- position ------------------------------------------------------------------------------ */

/* "fen" and what follows up to "moves"; the clock is the fifth field. */
static int take_fen(char **at, struct chi_position *start, unsigned *clock, struct chi_fault *fault)
{
	char fen[CHI_FEN_INPUT_MAX + 1] = "";
	char *word;
	size_t len = 0;
	for (int field = 0; field < 6; field++) {
		char *before = *at;
		word = next_word(at);
		if (word == NULL || strcmp(word, "moves") == 0) {
			if (word != NULL) {
				word[5] = **at == '\0' ? '\0' : ' ';
				*at = before;
			}
			break;
		}
		size_t n = strlen(word);
		if (len + n + 1 >= sizeof(fen)) {
			return chi_fault(fault, -CHI_EFEN, "the FEN is too long");
		}
		memcpy(fen + len, word, n);
		len += n;
		fen[len++] = ' ';
		uint64_t value;
		if (field == 4 && chi_num_u64(word, n, 1000, &value) == CHI_OK) {
			*clock = (unsigned)value;
		}
	}
	return chi_fen_parse(fen, len, start, fault);
}

static int take_moves(char **at, const struct chi_position *start, chi_move *moves, size_t *n,
		      struct chi_fault *fault)
{
	struct chi_position p = *start;
	struct chi_position next;
	char *word;
	while ((word = next_word(at)) != NULL) {
		if (*n == CHI_GAME_PLIES_MAX) {
			return chi_fault(fault, -CHI_ETOOBIG, "more than %d moves",
					 CHI_GAME_PLIES_MAX);
		}
		int rc = chi_uci_parse(&p, word, strlen(word), &moves[*n], fault);
		if (rc != CHI_OK) {
			return rc;
		}
		chi_position_play(&p, moves[(*n)++], &next);
		p = next;
	}
	return CHI_OK;
}

static int parse_position(struct chi_session *session, char *at, struct chi_fault *fault)
{
	struct chi_position start;
	unsigned clock = 0;
	size_t n = 0;
	char *word = next_word(&at);
	bool fen = word != NULL && strcmp(word, "fen") == 0;
	if (!fen && (word == NULL || strcmp(word, "startpos") != 0)) {
		return chi_fault(fault, -CHI_EFEN, "startpos or fen is missing");
	}
	int rc = fen ? take_fen(&at, &start, &clock, fault)
		     : chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, fault);
	if (rc == CHI_OK && (chi_position_king(&start, CHI_WHITE) == CHI_NO_SQUARE ||
			     chi_position_king(&start, CHI_BLACK) == CHI_NO_SQUARE ||
			     chi_position_in_check(&start, start.side ^ 1))) {
		rc = chi_fault(fault, -CHI_EFEN, "a king is missing, or may be taken");
	}
	word = rc == CHI_OK ? next_word(&at) : NULL;
	if (word != NULL && strcmp(word, "moves") != 0) {
		rc = chi_fault(fault, -CHI_EFEN, "'%.40s' instead of moves", word);
	}
	chi_move *moves = calloc(CHI_GAME_PLIES_MAX, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = rc == CHI_OK && word != NULL ? take_moves(&at, &start, moves, &n, fault) : rc;
	if (rc == CHI_OK) {
		chi_engine_set(session->engine, &start, clock, moves, n);
		session->ply = (unsigned)n;
	}
	free(moves);
	return rc;
}

static void position(struct chi_session *session, const char *line, char *at)
{
	struct chi_fault fault;
	char *copy = strdup(line);
	int rc = copy == NULL ? chi_fault_plain(&fault, -CHI_ENOMEM)
			      : parse_position(session, at, &fault);
	if (rc != CHI_OK) {
		chi_session_say("position: %s; the last one stays", fault.text);
		free(copy);
		return;
	}
	free(session->position);
	session->position = copy;
}

/* ---- go ------------------------------------------------------------------------------------ */

struct number {
	const char *word;
	uint64_t *value;
};

/* The rest are the moves to be searched. */
static void take_searched(struct chi_session *session, char *at)
{
	const struct chi_position *p = chi_engine_position(session->engine);
	struct chi_engine_limits *limits = &session->limits;
	struct chi_fault fault;
	char *word;
	while ((word = next_word(&at)) != NULL) {
		chi_move move;
		if (limits->n_moves == CHI_LEGAL_MAX ||
		    chi_uci_parse(p, word, strlen(word), &move, &fault) != CHI_OK) {
			chi_session_say("go: searchmoves: %.40s is left out", word);
			continue;
		}
		session->searched[limits->n_moves++] = move;
	}
	limits->moves = session->searched;
}

static void take_number(const char *name, char **at, uint64_t max, uint64_t *out)
{
	char *word = next_word(at);
	bool minus = word != NULL && word[0] == '-';
	if (word == NULL || chi_num_u64(word + minus, strlen(word + minus), max, out) != CHI_OK) {
		chi_session_say("go: %s is a number, not '%.40s'", name, word != NULL ? word : "");
	} else if (minus) {
		*out = 1; /* a clock that has run out */
	}
}

static void parse_go(struct chi_session *session, char *at)
{
	struct chi_engine_limits *limits = &session->limits;
	bool white = chi_engine_position(session->engine)->side == CHI_WHITE;
	uint64_t depth = 0;
	uint64_t mate = 0;
	uint64_t to_go = 0;
	uint64_t other = 0;
	*limits = (struct chi_engine_limits){.lines = (unsigned)session->options.lines};
	const struct number numbers[] = {
		{"depth", &depth},
		{"nodes", &limits->nodes},
		{"movetime", &limits->move_ms},
		{"mate", &mate},
		{"movestogo", &to_go},
		{"wtime", white ? &limits->clock_ms : &other},
		{"btime", white ? &other : &limits->clock_ms},
		{"winc", white ? &limits->bonus_ms : &other},
		{"binc", white ? &other : &limits->bonus_ms},
	};
	char *word;
	while ((word = next_word(&at)) != NULL) {
		if (strcmp(word, "searchmoves") == 0) {
			take_searched(session, at);
			break;
		}
		limits->infinite = limits->infinite || strcmp(word, "infinite") == 0;
		limits->ponder = limits->ponder || strcmp(word, "ponder") == 0;
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			if (strcmp(word, numbers[i].word) == 0) {
				take_number(word, &at, UINT32_MAX, numbers[i].value);
			}
		}
	}
	limits->depth = (unsigned)depth;
	limits->mate = mate > CHI_PLIES_MAX ? CHI_PLIES_MAX : (unsigned)mate;
	limits->to_go = (unsigned)to_go;
	bool bounded = depth != 0 || mate != 0 || limits->nodes != 0 || limits->move_ms != 0 ||
		       limits->clock_ms != 0;
	limits->infinite = limits->infinite || !bounded;
}

static void go(struct chi_session *session, const char *line, char *at)
{
	free(session->go);
	session->go = strdup(line);
	parse_go(session, at);
	chi_session_settle(session);
	chi_engine_ready(session->engine);
	atomic_store(&session->stopped, false);
	session->waits = session->limits.infinite || session->limits.ponder;
	if (session->go == NULL ||
	    pthread_create(&session->thread, NULL, chi_session_think, session) != 0) {
		chi_session_say("go: out of memory");
		puts("bestmove 0000");
		fflush(stdout);
		return;
	}
	session->searching = true;
}

/* ---- setoption ------------------------------------------------------------------------------- */

static void set_hash(struct chi_session *session, int64_t before)
{
	if (session->options.hash != before &&
	    chi_engine_resize(session->engine, (size_t)session->options.hash) != CHI_OK) {
		chi_session_say("no memory for a table of %" PRId64 " MiB", session->options.hash);
		session->options.hash = before;
	}
}

/* For a child that is started later, or again. */
static void remember(struct chi_session *session, const char *line)
{
	char *copy = strdup(line);
	if (copy == NULL || session->n_said == CHI_SAID_MAX) {
		chi_session_say("setoption: too many, an engine started later will not see it");
		free(copy);
		return;
	}
	session->said[session->n_said++] = copy;
}

/* "name N... [value V...]" */
static void setoption(struct chi_session *session, const char *line, char *at)
{
	struct chi_fault fault;
	int64_t hash = session->options.hash;
	char *name = strstr(at, "name ");
	if (name == NULL) {
		chi_session_say("setoption: the name is missing");
		return;
	}
	name += 5 + strspn(name + 5, BLANKS);
	char *value = strstr(name, " value");
	if (value != NULL && (value[6] == ' ' || value[6] == '\0')) {
		*value = '\0';
		value += 6;
		value += strspn(value, BLANKS);
	} else {
		value = NULL;
	}
	size_t len = strlen(name);
	while (len > 0 && strchr(BLANKS, name[len - 1]) != NULL) {
		name[--len] = '\0';
	}
	bool ours = chi_uci_options_ours(name);
	if (chi_uci_options_set(&session->options, name, value, &fault) == CHI_OK) {
		set_hash(session, hash);
		if (strcasecmp(name, "Clear Hash") == 0) {
			chi_engine_clear(session->engine);
		}
	} else if (ours || session->options.engine[0] == '\0') {
		chi_session_say("setoption: %s", fault.text);
	}
	if (!ours) {
		to_child(session, line);
		remember(session, line);
	}
}

/* ---- What the options name ------------------------------------------------------------------- */

static void close_store(struct chi_session *session)
{
	uint64_t lost = chi_learner_close(session->learner);
	chi_engine_ask(session->engine, NULL, 1);
	chi_prober_close(session->prober);
	chi_close(session->client);
	session->learner = NULL;
	session->prober = NULL;
	session->client = NULL;
	session->opened[0] = '\0';
	if (lost > 0) {
		chi_session_say("store: %" PRIu64 " evaluations could not be stored", lost);
	}
}

/* The learner first: what a process has open for reading alone it cannot open for writing. */
static void open_store(struct chi_session *session, bool learns)
{
	const struct chi_options options = {.client_name = "chistore-uci", .repeat_ms = 2000};
	struct chi_fault fault;
	const char *address = session->options.store;
	const char *name = session->child != NULL ? chi_child_name(session->child) : "chistore";
	if (learns && chi_learner_open(address, name, &session->learner, &fault) != CHI_OK) {
		chi_session_say("learn: %s", fault.text);
	}
	if (chi_open(address, &options, &session->client, &fault) != CHI_OK) {
		chi_session_say("store: %s", fault.text);
	} else if (chi_prober_open(session->client, NULL, &session->prober) != CHI_OK) {
		chi_session_say("store: %s", chi_error(session->client));
		session->prober = NULL;
	}
	/* Also what cannot be opened is not tried again at every move. */
	strcpy(session->opened, address);
	session->learns = learns;
}

static void start_child(struct chi_session *session)
{
	struct chi_fault fault;
	chi_child_close(session->child);
	session->child = NULL;
	strcpy(session->started, session->options.engine);
	if (session->options.engine[0] == '\0') {
		return;
	}
	if (chi_child_open(session->options.engine, &session->child, &fault) != CHI_OK) {
		chi_session_say("engine: %s", fault.text);
		return;
	}
	for (size_t i = 0; i < session->n_said; i++) {
		chi_child_send(session->child, session->said[i]);
	}
}

void chi_session_settle(struct chi_session *session)
{
	const struct chi_uci_options *options = &session->options;
	bool learns = options->learn != CHI_LEARN_OFF;
	if (strcmp(options->engine, session->started) != 0) {
		start_child(session);
	}
	if (strcmp(options->store, session->opened) != 0 || learns != session->learns) {
		close_store(session);
		if (options->store[0] != '\0') {
			open_store(session, learns);
		}
	}
	chi_engine_ask(session->engine, options->probe > 0 ? session->prober : NULL,
		       (int)options->probe);
}

/* ---- The conversation ------------------------------------------------------------------------ */

static void hello(void)
{
	flockfile(stdout);
	printf("id name Chistore %s\nid author the Chistore authors\n", chi_version());
	chi_uci_options_print(stdout);
	puts("uciok");
	fflush(stdout);
	funlockfile(stdout);
}

static void new_game(struct chi_session *session)
{
	chi_engine_clear(session->engine);
	to_child(session, "ucinewgame");
}

static void ready(struct chi_session *session)
{
	if (!session->searching) {
		chi_session_settle(session);
		if (session->child != NULL && chi_child_ready(session->child) != CHI_OK) {
			session->started[0] = '\0';
			start_child(session);
		}
	}
	puts("readyok");
	fflush(stdout);
}

/* Those that wait for the end of a search. */
static void command(struct chi_session *session, const char *word, const char *line, char *at)
{
	bool known = strcmp(word, "position") == 0 || strcmp(word, "go") == 0 ||
		     strcmp(word, "setoption") == 0 || strcmp(word, "ucinewgame") == 0;
	if (!known) {
		chi_session_say("no such command: '%.40s'", word);
		return;
	}
	stop(session);
	finish(session);
	if (strcmp(word, "position") == 0) {
		position(session, line, at);
	} else if (strcmp(word, "go") == 0) {
		go(session, line, at);
	} else if (strcmp(word, "setoption") == 0) {
		setoption(session, line, at);
	} else {
		new_game(session);
	}
}

bool chi_session_line(struct chi_session *session, char *line)
{
	char *at = line;
	char *copy = strdup(line);
	char *word = copy == NULL ? NULL : next_word(&at);
	bool goes_on = true;
	if (word == NULL) {
		free(copy);
		return true;
	}
	if (strcmp(word, "quit") == 0) {
		goes_on = false;
	} else if (strcmp(word, "uci") == 0) {
		hello();
	} else if (strcmp(word, "isready") == 0) {
		ready(session);
	} else if (strcmp(word, "stop") == 0) {
		stop(session);
	} else if (strcmp(word, "ponderhit") == 0) {
		ponderhit(session);
	} else if (strcmp(word, "debug") != 0 && strcmp(word, "register") != 0) {
		command(session, word, copy, at);
	}
	free(copy);
	return goes_on;
}

int chi_session_new(const char *store, const char *engine, struct chi_session **out,
		    struct chi_fault *fault)
{
	struct chi_session *session = calloc(1, sizeof(*session));
	*out = NULL;
	if (session == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	pthread_mutex_init(&session->mutex, NULL);
	pthread_cond_init(&session->released, NULL);
	chi_uci_options_init(&session->options);
	session->engine = chi_engine_new((size_t)session->options.hash);
	session->position = strdup("position startpos");
	char start[] = "startpos";
	int rc = session->engine == NULL || session->position == NULL
			 ? chi_fault_plain(fault, -CHI_ENOMEM)
			 : parse_position(session, start, fault);
	if (rc == CHI_OK && store != NULL) {
		rc = chi_uci_options_set(&session->options, "Store", store, fault);
	}
	if (rc == CHI_OK && engine != NULL) {
		rc = chi_uci_options_set(&session->options, "Engine", engine, fault);
	}
	if (rc != CHI_OK) {
		chi_session_free(session);
		return rc;
	}
	*out = session;
	return CHI_OK;
}

void chi_session_free(struct chi_session *session)
{
	if (session == NULL) {
		return;
	}
	stop(session);
	finish(session);
	if (session->engine != NULL) {
		close_store(session);
	}
	chi_child_close(session->child);
	chi_engine_free(session->engine);
	pthread_cond_destroy(&session->released);
	pthread_mutex_destroy(&session->mutex);
	for (size_t i = 0; i < session->n_said; i++) {
		free(session->said[i]);
	}
	free(session->position);
	free(session->go);
	free(session);
}
