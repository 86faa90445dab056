/* SPDX-License-Identifier: MIT */
/*
 * Names of the games archive: found, listed with their games, joined by aliases. Each name of a
 * player, event or other kind is stored once; two names joined by an alias count as one in every
 * filter, and no game is rewritten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chi_client;

/* Names of one answer, and changes of one call. */
#define CHI_NAMES_MAX	     10000
#define CHI_NAME_CHANGES_MAX 10000

struct chi_name_row {
	uint32_t id;	  /* 1 or more, of its kind */
	uint32_t root;	  /* of those that aliases join: the one all are joined to; 0: not joined */
	uint32_t fide;	  /* of players; 0: not known */
	bool given;	  /* the FIDE id: by hand or by a spelling file, not by games */
	uint64_t games;	  /* with exactly this name; a player's as White or as Black */
	const char *text; /* UTF-8 as first seen, ends in NUL */
};

struct chi_names_spec {
	size_t size;
	uint8_t kind; /* enum chi_name_kind */
	/* The text to find: "Carlsen, M" (players: all words, initials match names; others: all
	 * words, in any order), or after a leading "=" exactly this text, and all names joined to
	 * these by aliases or FIDE ids; at most 1,024 bytes. NULL: every name. */
	const char *wanted;
	uint32_t after; /* only names with greater numbers */
	uint32_t limit; /* 1..CHI_NAMES_MAX */
};
#define CHI_NAMES_SPEC_INIT .size = sizeof(struct chi_names_spec)

struct chi_names {
	const struct chi_name_row *rows; /* ascending by number */
	size_t n;
	uint64_t total; /* number of all, wherever the list begins */
};

/* The matching names, with their games. -CHI_EINVAL (the kind, the limit), -CHI_ETOOBIG (the text).
 * A store without games has none. */
CHI_MUSTUSE int chi_names_list(struct chi_client *client, const struct chi_names_spec *spec,
			       struct chi_names *out);

/* Names that may be the same in different spellings. */
struct chi_name_suspects {
	uint8_t score; /* how likely: 60..95, the highest first */
	const struct chi_name_row *names;
	size_t n; /* 2 or more */
};

struct chi_suspect_groups {
	const struct chi_name_suspects *groups;
	size_t n;
	uint64_t total; /* groups, also those over the limit */
};

struct chi_suspects_spec {
	size_t size;
	uint8_t kind;	/* enum chi_name_kind */
	uint8_t least;	/* score */
	uint32_t limit; /* groups, 1..CHI_NAMES_MAX */
};
#define CHI_SUSPECTS_SPEC_INIT .size = sizeof(struct chi_suspects_spec)

/* Groups that are not joined yet. -CHI_EINVAL (the kind, the limit), -CHI_ETOOBIG (a server: a
 * group larger than a response). */
CHI_MUSTUSE int chi_suspects_list(struct chi_client *client, const struct chi_suspects_spec *spec,
				  struct chi_suspect_groups *out);

/* ---- Changes ----------------------------------------------------------------------------- */

enum chi_name_action {
	CHI_NAME_JOIN = 1,    /* `name`, and all joined to it, become aliases of `to` */
	CHI_NAME_PART = 2,    /* separates `name` from those it is joined to */
	CHI_NAME_CORRECT = 3, /* as JOIN, for spelling files: nothing if `name` does not exist, and
				 a missing `to` is added */
	CHI_NAME_FIDE = 4,    /* gives the player `name` the FIDE id; nothing if missing */
};

/* Names are given by their exact text, or as "#5" by their number. */
struct chi_name_change {
	uint8_t action; /* enum chi_name_action */
	uint8_t kind;	/* enum chi_name_kind */
	const char *name;
	const char *to; /* JOIN, CORRECT */
	uint32_t fide;	/* FIDE */
};

struct chi_names_changed {
	uint64_t changed;
	uint64_t same;	    /* unchanged, or the name does not exist */
	uint64_t conflicts; /* not done: different FIDE ids, or no such name */
};

/* Called for each change that is not done, `i` of the list, with the reason; valid during the call.
 * It must not use the client. */
typedef void chi_name_conflict(void *context, size_t i, const char *reason);

/*
 * Does a list of changes in one transaction, durable when it returns; those that conflict are left
 * out, and the others done. `dry_run`: counts, and changes nothing. `conflict` and `result` may be
 * NULL. -CHI_EINVAL (a field; the text names the entry, and nothing was done), -CHI_ETOOBIG (more
 * than CHI_NAME_CHANGES_MAX, or than a server takes in one request), -CHI_EREADONLY, -CHI_EBUSY,
 * -CHI_EFULL.
 */
CHI_MUSTUSE int chi_names_change(struct chi_client *client, const struct chi_name_change *changes,
				 size_t n, bool dry_run, chi_name_conflict *conflict, void *context,
				 struct chi_names_changed *result);

/* "player", "event", "site", "source", "round", "annotator"; NULL for another number. */
const char *chi_name_kind_name(int kind);

#ifdef __cplusplus
}
#endif
