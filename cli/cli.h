/* SPDX-License-Identifier: MIT */
/*
 * What all subcommands of `chistore` use: the global options, messages, exit codes, and the one
 * opened client. Results go to standard output, messages to standard error.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore.h"

/* Exit codes; documented in chistore.1, so they do not change. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_NOT_FOUND = 1,   /* a position asked for is not in the store */
	EXIT_USAGE = 2,	      /* the command line or what it names is wrong */
	EXIT_STORE = 3,	      /* the store, the server or the output failed */
	EXIT_INTERRUPT = 130, /* stopped by SIGINT; 143 by SIGTERM */
};

struct command;

struct cli {
	const struct command *command;
	void *state;	/* what the command's options gave */
	uint64_t given; /* bit N: its option N was given */
	int argc;	/* its arguments, without options */
	char **argv;
	const char *address;	/* from -a, else from the environment; NULL if neither */
	const char *store;	/* name of the store on a server; NULL: the default */
	const char *token_file; /* from the option, else from the environment, or NULL */
	const char *tls_ca;	/* the same */
	const char *tls_cert;
	const char *tls_key;
	bool json;
	bool quiet;
	uint32_t call_ms; /* patience with the store, as chi_options.call_ms; 0: the usual */
	struct chi_client *client; /* open if the command asked for it */
};

/* Prints "chistore: TEXT" on standard error; control characters in it become '?'. */
CHI_PRINTF(1, 2) void cli_message(const char *format, ...);

/* The same with "see 'chistore COMMAND --help'" after it; returns EXIT_USAGE. */
CHI_PRINTF(2, 3) int cli_usage(const struct cli *cli, const char *format, ...);

/* The exit code a status of the library means. */
int cli_exit_of(int status);

/* Each reports a failure and returns its exit code: of a call on an open client, of one that gives
 * a fault's text (CHI_OK: says nothing), and of malloc. */
int cli_fail(struct chi_client *client, int status);
int cli_fault(int status, const struct chi_fault *fault);
int cli_no_memory(void);

/* Says that the position is not in the store: EXIT_NOT_FOUND. */
int cli_not_found(const struct chi_key *key);

/* The signal that asked to stop, or 0. The first SIGINT or SIGTERM after cli_catch_signals only
 * sets this, so that the work ends in good order; the second ends the process. */
extern volatile sig_atomic_t cli_stop;
void cli_catch_signals(void);

/* Nanoseconds on the monotonic clock. */
uint64_t cli_clock(void);

/* The worse of two exit codes: a failed store over wrong usage over a position not found. */
int cli_worse(int a, int b);

/* How the address is opened. Points into `cli`. */
void cli_options(const struct cli *cli, bool writable, struct chi_options *out);

/* Opens the address. Says what is wrong and returns the exit code, or EXIT_DONE. */
int cli_open(struct cli *cli, bool writable, struct chi_client **out);

/* True, or says how to give an address; a store's name goes with a server's alone. */
bool cli_has_address(const struct cli *cli);

/* True if the address is a server's. */
bool cli_is_remote(const struct cli *cli);

/* The address is on RADOS: remote, too, but no server. */
bool cli_is_rados(const struct cli *cli);

/* Reads a FEN given as text; `where` ("standard input:7", or NULL) goes in front of a message. */
int cli_key(const struct cli *cli, const char *text, size_t len, const char *where,
	    struct chi_key *out);

/* For _cleanup_. */
static inline void chi_rows_closep(struct chi_rows **rows)
{
	chi_rows_close(*rows);
}

/* ---- Standard output --------------------------------------------------------------------- */

/* True if standard output has refused something already, or cli_output_lost was called: what was
 * to be printed could not be made. */
bool cli_output_failed(void);
void cli_output_lost(void);

/* Says once that standard output failed; `error` is an errno or 0. A reader that went away (EPIPE)
 * needs no message. */
void cli_output_tell(int error);

/* Flushes it; returns `code`, or that of an output that failed. */
int cli_output_finish(int code);

/* ---- Subcommands ------------------------------------------------------------------------- */

struct cli_option;

/* Takes an option's value, which points into argv; NULL if it has none. Returns an exit code,
 * having said what is wrong. */
typedef int cli_reader(struct cli *cli, const struct cli_option *option, const char *value,
		       void *out);

struct cli_option {
	const char *name; /* without its dashes; NULL ends the list */
	const char *arg;  /* what its value is called in the help; NULL: it takes none; "[X]": it
			     may be left out, and `read` tells */
	const char *help;
	cli_reader *read;
	size_t offset; /* of `out` in the command's state */
	uint64_t min;  /* of option_number; of option_word the size of the number */
	uint64_t max;
	const char *const *words; /* of option_word: at the place that is their number, or NULL */
	cli_reader *deny;	  /* takes --not-NAME; NULL: there is none */
};

/* What a reader of "[X]" returns that was called without a value and needs one. */
#define OPTION_NEEDS_VALUE (-2)

/* Rows of an option list: `member` of `struct state` is what `reader` fills in; a bool, a
 * const char *, a uint64_t; an enum or a uint8_t, the place in `words`. */
/* clang-format off */
#define OPTION_ROW(state, member, reader, name, arg, help, min, max, words)                        \
	{name, arg, help, reader, offsetof(struct state, member), min, max, words, NULL}
#define OPTION(state, member, reader, name, arg, help)                                             \
	OPTION_ROW(state, member, reader, name, arg, help, 0, 0, NULL)
#define OPTION_FLAG(state, member, name, help)                                                     \
	OPTION(state, member, option_keep, name, NULL, help)
#define OPTION_TEXT(state, member, name, arg, help)                                                \
	OPTION(state, member, option_keep, name, arg, help)
#define OPTION_NUMBER(state, member, min, max, name, arg, help)                                    \
	OPTION_ROW(state, member, option_number, name, arg, help, min, max, NULL)
#define OPTION_WORD(state, member, words, name, arg, help)                                         \
	OPTION_ROW(state, member, option_word, name, arg, help,                                    \
		   sizeof(((struct state *)NULL)->member), CHI_COUNT(words), words)
#define OPTIONS_END {NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL}
/* clang-format on */

cli_reader option_keep, option_number, option_word;

/* True if the command's option of that name was given. */
bool cli_given(const struct cli *cli, const char *name);

/* What has to be opened before `run`. */
enum command_needs {
	NEEDS_NOTHING = 0,
	NEEDS_BY_OPTION, /* an address, or none; the command opens it itself */
	NEEDS_ADDRESS,	 /* an address; the command opens it itself */
	NEEDS_READ,	 /* cli->client, for reading */
	NEEDS_WRITE,	 /* cli->client, for writing too */
};

/* A subcommand as data: its texts, its options and its function. One file per subcommand ends in
 * such a struct. */
struct command {
	const char *name;
	const char *arguments; /* "[FEN...]", "" if there are none */
	const char *summary;   /* one line, for the list of commands */
	const char *help;      /* paragraphs */
	const char *example;   /* one line or more, each starting with "chistore" */
	const struct cli_option *options;
	int args_min;
	int args_max; /* -1: any number */
	enum command_needs needs;
	bool slow;	   /* may work on the whole store before it answers */
	bool measures;	   /* what a lost connection leaves unanswered is a failure, not repeated */
	size_t state_size; /* of what the options fill in: cli->state */
	const void *defaults;	     /* its value at the start; NULL: zeros */
	int (*run)(struct cli *cli); /* returns an exit code */
};
