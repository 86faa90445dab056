/* SPDX-License-Identifier: MIT */
/* The commands of the protocol (S. Meyer-Kahlen's description of 2006). */
#include "uci/session_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/fault.h"
#include "chess/notation.h"

#define PATIENCE_MS 1000 /* with a server, before a move: meanwhile the clock runs */

/* ---- Searching ----------------------------------------------------------------------------- */

static void release(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->waits = false;
	pthread_cond_broadcast(&session->changed);
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

static void *work(void *argument)
{
	struct chi_session *session = argument;
	pthread_mutex_lock(&session->mutex);
	for (;;) {
		while (!session->wanted && !session->ends) {
			pthread_cond_wait(&session->changed, &session->mutex);
		}
		if (!session->wanted) {
			break;
		}
		session->wanted = false;
		pthread_mutex_unlock(&session->mutex);
		chi_session_think(session);
		pthread_mutex_lock(&session->mutex);
		session->busy = false;
		pthread_cond_broadcast(&session->changed);
	}
	pthread_mutex_unlock(&session->mutex);
	return NULL;
}

static void begin(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->wanted = true;
	session->busy = true;
	pthread_cond_broadcast(&session->changed);
	pthread_mutex_unlock(&session->mutex);
	session->searching = true;
}

/* The search is done, and its answer given. */
static void finish(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	while (session->busy) {
		pthread_cond_wait(&session->changed, &session->mutex);
	}
	pthread_mutex_unlock(&session->mutex);
	session->searching = false;
}

/* The thread, at last. */
static void dismiss(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->ends = true;
	pthread_cond_broadcast(&session->changed);
	pthread_mutex_unlock(&session->mutex);
	if (session->has_thread) {
		pthread_join(session->thread, NULL);
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

static void position(struct chi_session *session, const char *line, char *at)
{
	struct chi_fault fault;
	char *copy = strdup(line);
	int rc = copy == NULL ? chi_fault_plain(&fault, -CHI_ENOMEM)
			      : chi_parse_position(session, at, &fault);
	if (rc != CHI_OK) {
		chi_session_say("position: %s; the last one stays", fault.text);
		free(copy);
		return;
	}
	free(session->position);
	session->position = copy;
}

static void go(struct chi_session *session, const char *line, char *at)
{
	free(session->go);
	session->go = strdup(line);
	session->limits = (struct chi_engine_limits){
		.lines = (unsigned)session->options.lines,
		.lag_ms = (uint64_t)session->options.lag,
		.begun_ms = session->read_ms,
	};
	chi_parse_go(session, at);
	chi_session_settle(session, false);
	chi_engine_ready(session->engine);
	atomic_store(&session->stopped, false);
	atomic_store(&session->answers, false);
	session->waits = session->limits.infinite || session->limits.ponder;
	if (session->go == NULL) {
		chi_session_say("go: out of memory");
		puts("bestmove 0000");
		fflush(stdout);
		return;
	}
	begin(session);
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
static void remember(struct chi_session *session, const char *name, const char *line)
{
	size_t at = 0;
	while (at < session->n_said && strcasecmp(session->said_name[at], name) != 0) {
		at++;
	}
	char *said = strdup(line);
	char *said_name = strdup(name);
	if (said == NULL || said_name == NULL || at == CHI_SAID_MAX) {
		chi_session_say("setoption: too many, an engine started later will not see it");
		free(said);
		free(said_name);
		return;
	}
	if (at < session->n_said) {
		free(session->said[at]);
		free(session->said_name[at]);
	} else {
		session->n_said++;
	}
	session->said[at] = said;
	session->said_name[at] = said_name;
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
	name += 5 + strspn(name + 5, CHI_BLANKS);
	char *value = strstr(name, " value");
	if (value != NULL && (value[6] == ' ' || value[6] == '\0')) {
		*value = '\0';
		value += 6;
		value += strspn(value, CHI_BLANKS);
	} else {
		value = NULL;
	}
	size_t len = strlen(name);
	while (len > 0 && strchr(CHI_BLANKS, name[len - 1]) != NULL) {
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
		remember(session, name, line);
	}
}

/* ---- What the options name ------------------------------------------------------------------- */

/* What is read of it. */
static void close_client(struct chi_session *session)
{
	chi_engine_ask(session->engine, NULL, 1);
	chi_prober_close(session->prober);
	chi_close(session->client);
	session->prober = NULL;
	session->client = NULL;
}

static void close_store(struct chi_session *session)
{
	uint64_t lost = chi_learner_close(session->learner);
	close_client(session);
	session->learner = NULL;
	session->opened[0] = '\0';
	if (lost > 0) {
		chi_session_say("store: %" PRIu64 " evaluations could not be stored", lost);
	}
}

/* In the learner's thread. */
static void learned(void *context, const struct chi_key *key, unsigned depth)
{
	struct chi_session *session = context;
	char fen[CHI_FEN_SIZE];
	if (atomic_load(&session->tells) && chi_key_to_fen(key, fen, NULL) == CHI_OK) {
		chi_session_say("learned: depth %u of %s", depth, fen);
	}
}

static void open_learner(struct chi_session *session)
{
	struct chi_fault fault;
	const char *name = session->child != NULL ? chi_child_name(session->child) : "chistore";
	int rc = chi_learner_open(session->options.store, name, learned, session, &session->learner,
				  &fault);
	if (rc != CHI_OK) {
		chi_session_say("learn: %s%s", fault.text,
				rc == CHI_NONE ? "; what is learned waits" : "");
	}
}

/* The learner first: what a process has open for reading alone it cannot open for writing. One that
 * is there stays: evaluations may wait in it. */
static void open_store(struct chi_session *session, bool learns)
{
	const struct chi_options options = {.client_name = "chistore-uci",
					    .connect_ms = PATIENCE_MS,
					    .call_ms = PATIENCE_MS,
					    .repeat_ms = CHI_NO_REPEAT};
	struct chi_fault fault;
	const char *address = session->options.store;
	if (learns && session->learner == NULL) {
		open_learner(session);
	}
	if (chi_open(address, &options, &session->client, &fault) != CHI_OK) {
		chi_session_say("store: %s", fault.text);
	} else if (chi_prober_open(session->client, NULL, &session->prober) != CHI_OK) {
		chi_session_say("store: %s", chi_error(session->client));
		session->prober = NULL;
	}
	session->book_failed = false;
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

/* Not before every move: a server that is away may take its time to say so. */
static bool lacks_store(const struct chi_session *session, bool learns)
{
	return session->options.store[0] != '\0' &&
	       (session->prober == NULL || (learns && session->learner == NULL));
}

void chi_session_settle(struct chi_session *session, bool again)
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
	} else if (again && lacks_store(session, learns)) {
		close_client(session);
		open_store(session, learns);
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
	session->book_failed = false;
	chi_engine_clear(session->engine);
	to_child(session, "ucinewgame");
}

static void ready(struct chi_session *session)
{
	if (!session->searching || atomic_load(&session->answers)) {
		finish(session);
		chi_session_settle(session, true);
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
	char *word = copy == NULL ? NULL : chi_next_word(&at);
	bool goes_on = true;
	session->read_ms = chi_now_ms();
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
	} else if (strcmp(word, "debug") == 0) {
		word = chi_next_word(&at);
		atomic_store(&session->tells, word == NULL || strcmp(word, "off") != 0);
	} else if (strcmp(word, "register") != 0) {
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
	pthread_cond_init(&session->changed, NULL);
	chi_uci_options_init(&session->options);
	session->engine = chi_engine_new((size_t)session->options.hash);
	session->position = strdup("position startpos");
	char start[] = "startpos";
	int rc = session->engine == NULL || session->position == NULL
			 ? chi_fault_plain(fault, -CHI_ENOMEM)
			 : chi_parse_position(session, start, fault);
	if (rc == CHI_OK && store != NULL) {
		rc = chi_uci_options_set(&session->options, "Store", store, fault);
	}
	if (rc == CHI_OK && engine != NULL) {
		rc = chi_uci_options_set(&session->options, "Engine", engine, fault);
	}
	session->has_thread =
		rc == CHI_OK && pthread_create(&session->thread, NULL, work, session) == 0;
	if (rc == CHI_OK && !session->has_thread) {
		rc = chi_fault(fault, -CHI_ENOMEM, "cannot start a thread");
	}
	if (rc != CHI_OK) {
		chi_session_free(session);
		return rc;
	}
	*out = session;
	return CHI_OK;
}

void chi_session_wait(struct chi_session *session)
{
	if (!session->limits.infinite && !session->limits.ponder) {
		finish(session);
	}
}

void chi_session_free(struct chi_session *session)
{
	if (session == NULL) {
		return;
	}
	stop(session);
	finish(session);
	dismiss(session);
	if (session->engine != NULL) {
		close_store(session);
	}
	chi_child_close(session->child);
	chi_engine_free(session->engine);
	pthread_cond_destroy(&session->changed);
	pthread_mutex_destroy(&session->mutex);
	for (size_t i = 0; i < session->n_said; i++) {
		free(session->said[i]);
		free(session->said_name[i]);
	}
	free(session->position);
	free(session->go);
	free(session);
}
