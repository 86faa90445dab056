/* SPDX-License-Identifier: MIT */
/* What the store's tests share: scratch directories, random numbers and real positions. */
#pragma once

#include <sys/types.h>

#include "chess/position.h"
#include "store/store.h"
#include "tests/base/cases.h"

/* Asserts CHI_OK and prints the fault if not. */
#define ok(call) help_ok((call), #call, __FILE__, __LINE__)
void help_ok(int rc, const char *call, const char *file, int line);

/* Filled by the calls under test. */
extern struct chi_fault fault;

/* A path in a scratch directory of this process that help_clean removes. */
const char *help_path(const char *name);

/* Its path without links, which must fit. */
void help_real_path(const char *path, char real[static 256]);
void help_clean(void);

/* The same, as cmocka's teardown. */
int help_teardown(void **state);
/* Removes what is at the path, directories with all they hold. */
void help_remove(const char *path);
/* Copies the files and directories below one directory into another that is there, empty. */
void help_copy_tree(const char *from, const char *to);

/* Waits for a child; its exit status, or 1000 and more if a signal ended it. */
int help_child_status(pid_t pid);

/* A fork whose child does not outlive a test that failed: it would keep the output open, and who
 * reads that waiting. */
pid_t help_fork(void);
/* Runs `body` in a child that then holds still until it is killed. Returns its number. */
pid_t help_hold(void (*body)(void));
void help_kill(pid_t pid);

/* Publishes the store at the path, as its users do. */
int help_publish(struct chi_dir *store, const char *path);
int help_publish_kind(struct chi_dir *store, const char *path, enum chi_backup_kind kind);
/* Entries of a directory, "." and ".." aside, whose names hold `part`. */
unsigned help_entries(const char *path, const char *part);

/* Order of the position tree, said once more and not by the code under test: bytewise, the shorter
 * first where one starts the other. */
int help_key_compare(const struct chi_key *a, const struct chi_key *b);

/* Numbers from CHISTORE_SEED, or from a fixed seed; the first call prints it. */
uint64_t help_random(void);
static inline unsigned help_below(unsigned n)
{
	return (unsigned)(help_random() % n);
}

/* A position reached by random legal moves from the initial one. */
void help_position(struct chi_position *position);
struct chi_key help_key(void);
/* `n` different keys. */
void help_keys(struct chi_key *keys, size_t n);
struct chi_key help_fen(const char *fen);

/* Creates a store at help_path(name), replacing what is there, and opens it. */
struct chi_dir *help_store(const char *name, enum chi_statistic statistic);
struct chi_dir *help_open(const char *path, enum chi_dir_mode mode);
/* The status of an attempt to open; the fault is filled. */
int help_try(const char *path, enum chi_dir_mode mode);

/* One put in a transaction of its own. */
void help_put(struct chi_dir *store, const struct chi_put_entry *put);
/* Puts `n` random positions with counts and, in external stores, statistics. */
void help_fill(struct chi_dir *store, const struct chi_key *keys, size_t n);

/* CHI_OK, CHI_NONE or the failure of one probe. */
int help_get(struct chi_dir *store, const struct chi_key *key, struct chi_row *row);
uint64_t help_count(struct chi_dir *store);
/* Verifies by one thread and by three, which must say the same; each damage goes to `report`, which
 * may be NULL. */
int help_verify_told(struct chi_dir *store, chi_verify_report *report, void *context,
		     struct chi_verify_result *result);

/* Verifies and returns the status; reports are printed if `loud`. */
int help_verify(struct chi_dir *store, struct chi_verify_result *result);
/* chi_write_rescore in a transaction of its own. */
int help_rescore(struct chi_dir *store, const struct chi_counts *base, uint64_t *changed,
		 struct chi_fault *why);
/* The whole dump as one text, to be freed. */
char *help_dump(struct chi_dir *store, size_t *len);
