/* SPDX-License-Identifier: MIT */
/*
 * The world of a client test: a store in a new directory, reached in this process or through a
 * daemon that serves it, or one on RADOS, so that one test body runs against all.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "chistore.h"

/* TSan's run-time makes system calls of its own, in a thread that a cage of system calls would
 * stop. A test with one is left out there: cmocka reports a skipped test as a failed one. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

/* True under valgrind, which makes system calls of its own in the program's threads: there a cage
 * of them is left open. */
bool world_under_valgrind(void);

/* From here on the kernel kills the process for any system call but read, write and exit, also
 * where a container has a filter of its own. False where it refused to. */
bool world_cage(void);

enum world_kind {
	WORLD_FILE,
	WORLD_UNIX,
	WORLD_TCP,
	WORLD_TLS, /* with certificates on both sides */
	WORLD_RADOS,
};

struct world {
	enum world_kind kind;
	char dir[64];	   /* everything below goes with it */
	char store[80];	   /* the store's directory */
	char listen[96];   /* what the daemon is told to listen on */
	char address[512]; /* for chi_open */
	char cert[80];	   /* of the daemon and of its clients alike, who believe no other */
	char key[80];
	char access[80];
	pid_t daemon; /* 0: none */
	int log;      /* the daemon's stderr, or -1 */
	struct chi_client *client;
};

/* True if this kind can be had: for a daemon CHISTORED must name its program, for RADOS
 * CHISTORE_TEST_RADOS the configuration of a cluster with a pool "chistore". */
bool world_possible(enum world_kind kind);

/* Makes the directory and the store, starts the daemon, opens the client. Fails the test. */
void world_make(struct world *world, enum world_kind kind, enum chi_statistic statistic);
void world_make_keeping(struct world *world, enum world_kind kind, enum chi_statistic statistic,
			enum chi_keep keep);
void world_free(struct world *world);

/* Starts a daemon on world->store and waits until it is ready; ends it in order. */
void world_start_daemon(struct world *world);
void world_stop_daemon(struct world *world);

/* Ends it at once. */
void world_kill_daemon(struct world *world);

/* What a client needs that reads and writes: the certificate's name is the world's. */
struct chi_options world_options(const struct world *world);

/* Of probers that are not to fail on a machine with much to do. */
extern const struct chi_prober_options world_patience;

/* Another client on the same store. */
struct chi_client *world_open(const struct world *world);

/* What such a client finds: White's games in position 0. */
uint64_t world_games(const struct world *world);

/* A new directory, and its removal with all below. */
void world_make_dir(char dir[64]);
void world_remove_dir(const char *dir);

/* The i-th of 200,000 different positions: two kings and a knight. */
struct chi_key world_key(unsigned i);

/* ---- What tests of calls share -------------------------------------------------------------- */

/* Takes the kind from the first argument: file, unix, tcp, tls or rados. False, and says so, if it
 * cannot be had. */
bool world_choose(int argc, char **argv);

/* The main() of a program whose argument is the kind. */
#define WORLD_MAIN                                                                                 \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return world_choose(argc, argv) ? cases_run(NULL, NULL) : 0;                       \
	}
enum world_kind world_chosen(void);

/* cmocka's setup, for an external and a control store of the kind chosen, and teardown. */
int world_external(void **state);
int world_control(void **state);
int world_drop(void **state);

/* The call must have been CHI_OK, else the test fails with the client's words; or have failed with
 * `wanted`, with words that hold `says`. */
void world_ok(struct chi_client *client, int status);
void world_refused(struct chi_client *client, int status, int wanted, const char *says);

/* `n` puts of the positions from `from` on, with chi2 = 100 + index; to be freed. world_fill
 * stores them. */
struct chi_put_entry *world_puts(unsigned from, size_t n);
void world_fill(struct chi_client *client, unsigned from, size_t n);
