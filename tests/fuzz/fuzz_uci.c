/* SPDX-License-Identifier: MIT */
/*
 * Reaches the lines of a GUI: each line of the input is said to one session, searches included,
 * which are cut to some nodes. No line reaches a file or starts a program: the options that name
 * them are taken back before the next line, which alone could open them. Hash stays as it is.
 */
#include <string.h>

#include "base/attr.h"
#include "chess/validate.h"
#include "tests/fuzz/fuzz.h"
#include "uci/lookup.h"
#include "uci/session_priv.h"

#define LINE_SIZE  2048
#define LINES_MAX  64
#define SHORT	   " nodes 40"
#define HASH_SMALL 1

/* One for all inputs: its table is large. Each input begins with the same options and position. */
static struct chi_session *session;

static void begin(void)
{
	const char first[] = "position startpos";
	struct chi_fault fault;
	if (session == NULL) {
		REQUIRE(freopen("/dev/null", "w", stdout) != NULL);
		REQUIRE(chi_session_new(NULL, NULL, &session, &fault) == CHI_OK);
		REQUIRE(chi_engine_resize(session->engine, HASH_SMALL) == CHI_OK);
	}
	REQUIRE(chi_session_take_line(session, first));
	chi_session_wait(session);
	chi_uci_options_init(&session->options);
}

static void check(void)
{
	const struct chi_uci_options *options = &session->options;
	const struct chi_position *p = chi_engine_position(session->engine);
	REQUIRE(chi_position_check(p, -CHI_EFEN, NULL) == CHI_OK);
	REQUIRE(chi_position_king(p, CHI_WHITE) != CHI_NO_SQUARE);
	REQUIRE(chi_position_king(p, CHI_BLACK) != CHI_NO_SQUARE);
	REQUIRE(!chi_position_in_check(p, p->side ^ 1));
	REQUIRE(session->limits.n_moves <= CHI_LEGAL_MAX);
	REQUIRE(options->lines >= 1 && options->lines <= 256);
	REQUIRE(options->book >= CHI_BOOK_OFF && options->book <= CHI_BOOK_WEIGHTED);
	REQUIRE(options->learn >= CHI_LEARN_OFF && options->learn <= CHI_LEARN_PV);
	REQUIRE(options->variety >= 0 && options->variety <= 100);
	REQUIRE(chi_lookup_prober(session->lookup) == NULL);
	REQUIRE(chi_lookup_learner(session->lookup) == NULL);
}

/* The position and the options may be looked at only while no line waits, and no search goes on
 * that is not cut. */
static void say(char line[LINE_SIZE + sizeof(SHORT)])
{
	bool sets = strstr(line, "setoption") != NULL;
	if (sets && strcasestr(line, "hash") != NULL) {
		return;
	}
	if (strncmp(line, "go", 2) == 0) {
		strcat(line, SHORT);
	}
	(void)chi_session_take_line(session, line);
	if (sets) {
		/* It has ended the search before it. */
		chi_session_wait(session);
		session->options.store[0] = '\0';
		session->options.engine[0] = '\0';
		check();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char line[LINE_SIZE + sizeof(SHORT)];
	const char last[] = "ucinewgame";
	begin();
	for (int i = 0; i < LINES_MAX && size > 0; i++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end == NULL ? size : (size_t)(end - data);
		/* As the program does it: lines with a NUL are left out. */
		if (n < LINE_SIZE && memchr(data, '\0', n) == NULL) {
			memcpy(line, data, n);
			line[n] = '\0';
			say(line);
		}
		n += end != NULL;
		data += n;
		size -= n;
	}
	/* Ends a search. */
	REQUIRE(chi_session_take_line(session, last));
	chi_session_wait(session);
	check();
	return 0;
}
