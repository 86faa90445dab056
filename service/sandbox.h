/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of a server: files by Landlock, which knows paths and no other calls, and system
 * calls by a filter, which knows calls and no paths. A server says which files it will use;
 * directories are named, not the files in them, as what is replaced by a new file of its name is to
 * be found again.
 */
#pragma once

#include "base/arena.h"
#include "chistore/types.h"
#include "service/landlock.h"
#include "service/syscalls.h"

/* More than a daemon with its stores and sockets needs. */
#define CHI_SANDBOX_RULES_MAX 320

enum chi_sandbox {
	CHI_SANDBOX_AUTO,    /* as far as it is to be had */
	CHI_SANDBOX_REQUIRE, /* or the server does not start */
	CHI_SANDBOX_OFF,
};

/* What may be opened. Zeroed with paths.budget set, it is empty. */
struct chi_sandbox_rules {
	struct chi_landlock_rule list[CHI_SANDBOX_RULES_MAX];
	size_t n;
	bool names; /* of users and groups are looked up */
	struct chi_arena paths;
};

/* Where memory or the room for rules does not suffice there is no rule, and less is allowed; the
 * log tells when it is the room. */
void chi_sandbox_add(struct chi_sandbox_rules *rules, const char *path, uint64_t rights);

/* The directory in which a file is. */
void chi_sandbox_add_parent(struct chi_sandbox_rules *rules, const char *path, uint64_t rights);

/* Where the file's name is and, should that be a link, where it leads to. NULL: nothing. */
void chi_sandbox_add_reopened(struct chi_sandbox_rules *rules, const char *path, uint64_t rights);

/* The directory in which another one is, and that in which it is in truth if its name is a link:
 * what takes its name, or the link's, is found there. Never "/", beneath which all files are: the
 * log tells then. */
void chi_sandbox_add_places(struct chi_sandbox_rules *rules, const char *path, uint64_t rights);

/* What any server reads of the system; `names`: and its users and groups. */
void chi_sandbox_add_system(struct chi_sandbox_rules *rules, bool names);

/* For this thread and those it starts from now on, when all else is open. `connects`: to sockets
 * that are files. Says in the log what is in force; whatever `how` says, starting a program never
 * adds rights. -CHI_EUNSUPPORTED: `how` requires what the kernel or the build does not have. */
CHI_MUSTUSE int chi_sandbox_enter(enum chi_sandbox how, const struct chi_sandbox_rules *rules,
				  bool connects, struct chi_fault *fault);

/* The same without a sandbox: it is missing for that reason. */
CHI_MUSTUSE int chi_sandbox_miss(enum chi_sandbox how, const char *why, struct chi_fault *fault);
