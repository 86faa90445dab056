/* SPDX-License-Identifier: MIT */
/* The commands of the protocol (S. Meyer-Kahlen's description of 2006), in their order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/fault.h"
#include "uci/lookup.h"
#include "uci/relay.h"
#include "uci/say.h"
#include "uci/session_priv.h"

#define LOOK_MS 50 /* how often `isready` looks whether something does not wait any more */

/* Begins to open and close what the options name. */
static void settle_options(struct chi_session *session, bool again)
{
	chi_relay_settle(session->relay);
	chi_engine_ask(session->engine, NULL, 1);
	chi_lookup_settle(session->lookup, &session->options, again);
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

static void obey_go(struct chi_session *session, const struct chi_session_line *line, char *at)
{
	free(session->go);
	session->go = strdup(line->text);
	session->limits = (struct chi_engine_limits){
		.lines = (unsigned)session->options.lines,
		.lag_ms = (uint64_t)session->options.lag,
		.begun_ms = line->read_ms,
	};
	chi_parse_go(session, at);
	chi_session_begin(session);
	if (session->go == NULL) {
		chi_session_say("go: out of memory");
		chi_session_await_answer(session);
		puts("bestmove 0000");
		fflush(stdout);
		return;
	}
	settle_options(session, false);
	chi_session_think(session);
}

static void new_game(struct chi_session *session)
{
	session->store_failed = false;
	chi_engine_clear(session->engine);
	chi_relay_tell(session->relay, NULL, "ucinewgame");
}

/* ---- Options --------------------------------------------------------------------------------- */

static void set_hash(struct chi_session *session, int64_t before)
{
	if (session->options.hash != before &&
	    chi_engine_resize(session->engine, (size_t)session->options.hash) != CHI_OK) {
		chi_session_say("no memory for a table of %" PRId64 " MiB", session->options.hash);
		session->options.hash = before;
	}
}

/* What could not be asked before may be asked now: another book, filter or store. */
static void set_own(struct chi_session *session, const char *name, const char *value,
		    const char *line)
{
	struct chi_fault fault;
	int64_t hash = session->options.hash;
	int64_t learn = session->options.learn;
	if (chi_uci_options_set(&session->options, name, value, &fault) != CHI_OK) {
		chi_session_say("setoption: %s", fault.text);
		return;
	}
	set_hash(session, hash);
	if (session->options.learn != learn) {
		/* It may rest on draws of games that were not to be learned. */
		chi_engine_forget(session->engine);
	}
	if (strcasecmp(name, "Clear Hash") == 0) {
		chi_engine_clear(session->engine);
	}
	if (chi_uci_options_shared(name)) {
		chi_relay_tell(session->relay, name, line);
	} else {
		session->store_failed = false;
	}
}

/* "name N... [value V...]" */
static void setoption(struct chi_session *session, const char *line, char *at)
{
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
	if (chi_uci_options_has(name)) {
		set_own(session, name, value, line);
		return;
	}
	if (session->options.engine[0] == '\0') {
		chi_session_say("setoption: there is no option '%.80s'", name);
	}
	chi_relay_tell(session->relay, name, line);
}

void chi_session_hello(const struct chi_session *session)
{
	flockfile(stdout);
	printf("id name Chistore %s\nid author the Chistore authors\n", chi_version());
	chi_uci_options_print(stdout);
	if (session != NULL) {
		chi_relay_print_options(session->relay, stdout);
	}
	puts("uciok");
	fflush(stdout);
	funlockfile(stdout);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void ready(struct chi_session *session)
{
	settle_options(session, true);
	while (!chi_lookup_wait(session->lookup, &session->options, chi_now_ms() + LOOK_MS) &&
	       !chi_session_hurries(session)) {
		/* A server that is away may take its time. */
	}
	chi_relay_ready(session->relay);
	puts("readyok");
	fflush(stdout);
}

void chi_session_obey(struct chi_session *session, const struct chi_session_line *line)
{
	char *copy = strdup(line->text);
	char *at = copy;
	const char *word = copy == NULL ? "" : chi_next_word(&at);
	if (copy == NULL) {
		chi_session_say("out of memory: '%.40s' is left out", line->text);
	} else if (strcmp(word, "position") == 0) {
		position(session, line->text, at);
	} else if (strcmp(word, "go") == 0) {
		obey_go(session, line, at);
	} else if (strcmp(word, "setoption") == 0) {
		setoption(session, line->text, at);
	} else if (strcmp(word, "ucinewgame") == 0) {
		new_game(session);
	} else if (strcmp(word, "isready") == 0) {
		ready(session);
	} else {
		chi_relay_settle(session->relay);
		chi_relay_hello(session->relay);
		chi_session_hello(session);
	}
	free(copy);
}
