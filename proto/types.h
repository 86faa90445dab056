/* SPDX-License-Identifier: MIT */
/* Requests and responses as plain structs, and the limits of what they carry (PROTOCOL.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/idempotency.h"
#include "base/record.h"
#include "chistore/games.h"
#include "chistore/insight.h"
#include "chistore/names.h"
#include "chistore/search.h"
#include "chistore/types.h"

#define CHI_PROTOCOL_VERSION 1
#define CHI_STORE_NAME_MAX   64 /* bytes of a store's name: letters, digits, '-', '_', '.' */
#define CHI_CLIENT_NAME_MAX  64
#define CHI_ACCESS_TOKEN_MAX 256 /* bytes */

/* Limits of batches (PROTOCOL.md). */
#define CHI_PROBE_MAX	   4096	      /* positions of a Probe or Get */
#define CHI_PUT_MAX	   10000      /* entries of a Put, positions of a Delete */
#define CHI_SCAN_ROWS_MAX  10000      /* rows of a response */
#define CHI_SCAN_BYTES_MAX (1u << 20) /* of rows or entries in a response */
#define CHI_WINDOW_DEFAULT 8
#define CHI_WINDOW_MAX	   1024
#define CHI_IN_FLIGHT_MAX  64
#define CHI_DECODE_BUDGET  (8u << 20) /* bytes an unpacked request may take */

/* Games, and importing them. */
#define CHI_PUT_GAME_IDS_MAX 10000 /* games of a Put */
#define CHI_GAME_IDS_MAX     10000 /* games of a response */
#define CHI_GAME_BYTES	     20	   /* of a packed game */
#define CHI_IMPORT_FILE_MAX  255   /* bytes of an input's name */
#define CHI_IMPORT_OVERHEAD  256   /* what an ImportData takes of the credit beside its data */
#define CHI_IMPORT_NOTES_MAX 1000  /* notes of a response */
#define CHI_NOTE_TEXT_MAX    1024  /* bytes of a note's text */
#define CHI_IMPORT_PHASE_MAX 32	   /* bytes of the name of what an import is at */

/* Asking for games. */
#define CHI_FILTER_MAX	4096 /* bytes of a filter of games */
#define CHI_UNKNOWN_MAX 64   /* names in it that no name fits */
#define CHI_TAGS_MAX	4096 /* of a game */
/* Names, gamesets, and searches. */
#define CHI_NAME_TEXT_MAX    1023 /* bytes of a name */
#define CHI_NAME_WANTED_MAX  1024 /* of one that is looked for: "=" may come before it */
#define CHI_REFUSAL_TEXT_MAX 255  /* bytes of the reason why a change was not done */
#define CHI_GAMESET_TEXT_MAX 64	  /* bytes of a gameset's name */
#define CHI_PLAN_MAX	     4096 /* bytes of the plan of a query */
#define CHI_FILTER_PRINT_MAX (4 * CHI_FILTER_MAX) /* as a server prints it */
#define CHI_GAMESETS_MAX     10000		  /* of a response */
#define CHI_THOUSANDTHS	     1000
#define CHI_TWINS_MAX	     ((1u << 20) / 4) /* numbers of a response */

enum chi_op {
	CHI_OP_UNKNOWN = 0, /* no op set, or one this version does not know */
	CHI_OP_HELLO,
	CHI_OP_PING,
	CHI_OP_INFO,
	CHI_OP_PROBE,
	CHI_OP_GET,
	CHI_OP_PUT,
	CHI_OP_DELETE,
	CHI_OP_SCAN,
	CHI_OP_COUNT,
	CHI_OP_CREDIT,
	CHI_OP_CANCEL,
	CHI_OP_BACKUP,
	CHI_OP_VERIFY,
	CHI_OP_COMPACT,
	CHI_OP_RESCORE,
	CHI_OP_EXPLORE,
	CHI_OP_IMPORT,
	CHI_OP_IMPORT_DATA, /* no answer of its own, as CREDIT and CANCEL; id is the import's */
	CHI_OP_IMPORT_END,  /* the same */
	CHI_OP_GAME_IDS,
	CHI_OP_OUTCOME,
	CHI_OP_GAME_QUERY,
	CHI_OP_GET_GAME,
	CHI_OP_GET_HEADS,
	CHI_OP_STATS,
	CHI_OP_NAMES,
	CHI_OP_SUSPECTS,
	CHI_OP_CHANGE_NAMES,
	CHI_OP_GAMESETS,
	CHI_OP_MAKE_GAMESET,
	CHI_OP_DROP_GAMESET,
	CHI_OP_TWINS,
	CHI_OP_QUEUE_ADD,
	CHI_OP_QUEUE_TAKE,
	CHI_OP_QUEUE_SETTLE,
	CHI_OP_QUEUE_LIST,
	CHI_OP_INSIGHT,
	CHI_OP_CHECK_DISK,
	CHI_OP_COUNT_OF_OPS
};

struct chi_entry;

struct chi_text {
	const char *bytes; /* NUL-terminated when unpacked */
	size_t len;
};

/*
 * PROBE and GET; the positions of others. keys[0 .. n - n_fens) came as keys; the last n_fens came
 * as FENs, fens[i] belongs to keys[n - n_fens + i], which unpacking leaves zeroed for the reader to
 * fill (this room knows no chess).
 */
struct chi_positions {
	struct chi_key *keys;
	size_t n;
	struct chi_text *fens;
	size_t n_fens;
};

/* For a request that is packed, which only reads them. */
static inline struct chi_positions chi_positions_of(const struct chi_key *keys, size_t n)
{
	struct chi_positions positions = {.n = n};
	memcpy(&positions.keys, &keys, sizeof(keys));
	return positions;
}

struct chi_request {
	uint64_t id;
	struct chi_text store;			    /* empty: "default" */
	struct chi_idempotency_key idempotency_key; /* PUT, DELETE, RESCORE, COMPACT, IMPORT_END;
				 sequence 0: not marked. OUTCOME: of the write asked for */
	enum chi_op op;
	uint32_t window; /* as sent; 0: default */
	bool progress;	 /* of an answer in many responses: some say how far it is */
	/* The operation's own struct, if it has one (struct chi_operation); unpacked: `made`. */
	union {
		const void *body;
		void *made;
	};
	union {
		struct {
			uint32_t version;
			struct chi_text client;
			struct chi_text access_token; /* a secret; empty: none */
		} hello;
		struct {
			uint32_t responses;
		} credit;
		struct chi_import_options import; /* but for what is in-process */
		struct {
			struct chi_text file; /* empty: the input goes on */
			const uint8_t *bytes;
			size_t len;
		} import_data;
	} u;
};

/* What is asked for by EXPLORE; its result is a struct chi_explored. */
struct chi_explore_request {
	struct chi_key key;
	const char *fen;    /* instead of the key, whose len is 0 then; or NULL */
	const char *filter; /* of games; NULL: none */
	struct chi_evidence evidence;
};

/* What is asked for by SCAN, and by COUNT, which has of it the band, the filter, the games and the
 * pattern. */
struct chi_scan_request {
	struct chi_scan_spec spec; /* filter.has_material is false: */
	const char *material;	   /* its signature, for those who know chess; NULL: any */
};

/* Rows of a SCAN. */
struct chi_scan_page {
	enum chi_want want;
	union {
		const struct chi_row *rows;
		const struct chi_entry *entries; /* of CHI_WANT_RECORDS */
	};
	size_t n;
	struct chi_cursor cursor; /* after the last of them */
	bool mixed;
};

struct chi_counted {
	uint64_t count;
	bool mixed;
};

/* PUT; its result is a struct chi_put_result. */
struct chi_put_request {
	enum chi_durability durability;
	struct chi_put_entry *entries; /* key zeroed where a FEN was sent */
	struct chi_text *fens; /* one an entry; len 0 where a key was sent; NULL when packing
				  means keys throughout */
	size_t n;
	const struct chi_counts *base;	 /* or NULL */
	const struct chi_game_id *games; /* counted as imported from now on */
	size_t n_games;
};

/* DELETE; its result, as that of other changes, is a struct chi_affected. */
struct chi_delete_request {
	struct chi_positions positions;
	enum chi_durability durability;
};

/* What a change was done to: how many. */
struct chi_affected {
	uint64_t n;
};

struct chi_rescore_request {
	const struct chi_counts *base; /* or NULL */
};

/* Bytes of a store, before a COMPACT and after it. */
struct chi_compacted {
	uint64_t before;
	uint64_t after;
};

/* A part of what a BACKUP or a VERIFY sends. */
struct chi_whole_part {
	const uint8_t *data; /* the next bytes of the copy */
	size_t len;
	struct chi_text report;		 /* a damage; empty in the last */
	struct chi_verify_result result; /* in the last */
};

/* What is asked for by GAMESETS, and by DROP_GAMESET. */
struct chi_gamesets_spec {
	const char *name; /* one, whose games are counted; NULL or empty: all */
};

/* GET_GAME, and what it finds. */
struct chi_game_request {
	uint32_t number;
	bool whole;
};

struct chi_game_found {
	bool found;
	struct chi_game_row row;
	bool whole;
	struct chi_game game; /* its head is the row's */
};

/* GET_HEADS, and those that there are, in the order asked. */
struct chi_heads_request {
	const uint32_t *numbers;
	size_t n;
};

struct chi_heads {
	const struct chi_game_row *rows;
	size_t n;
};

/* GAME_IDS, and those that there are, by their ids. */
struct chi_game_ids_request {
	bool after_set;
	uint8_t after[CHI_GAME_ID_SIZE]; /* after this id, if set */
	uint32_t limit;			 /* 0: as many as a response takes */
};

struct chi_game_id_list {
	const struct chi_game_id *games;
	size_t n;
};

/* CHANGE_NAMES, and what it did. */
struct chi_change_names_request {
	const struct chi_name_change *changes;
	size_t n;
	bool dry_run;
};

struct chi_name_refusal {
	uint32_t entry; /* of the changes, which was not done */
	const char *reason;
};

struct chi_names_done {
	struct chi_names_changed counts;
	const struct chi_name_refusal *refused;
	size_t n_refused; /* fewer than conflicts: only the counts are known any more */
};

/* MAKE_GAMESET. Texts are never NULL when unpacked. */
struct chi_gameset_request {
	const char *name;
	const char *filter;
};

/* QUEUE_ADD; its result is a struct chi_queue_added. */
struct chi_queue_add_request {
	struct chi_positions positions;
	uint32_t priority;
};

/* QUEUE_TAKE; its result is a struct chi_queue_lease. */
struct chi_queue_take_request {
	struct chi_positions positions; /* none: the first that wait */
	const char *holder;		/* never NULL when unpacked */
	uint32_t lease_ms;
	uint32_t limit;
};

/* QUEUE_SETTLE. */
struct chi_queue_settle_request {
	struct chi_positions positions;
	uint64_t lease;
	uint32_t action; /* enum chi_queue_action */
	uint32_t lease_ms;
};

/* QUEUE_LIST; its result is a struct chi_queue_page. */
struct chi_queue_list_request {
	uint32_t state; /* enum chi_queue_state */
	uint32_t limit;
	const struct chi_queue_row *after; /* or NULL */
};

/* Rows of a GAME_QUERY. */
struct chi_games_page {
	const struct chi_game_row *games;
	size_t n;
	const char *cursor; /* after the last of them; NULL: none */
	bool has_total;
	uint64_t total;
	const char *plan; /* in the last, if it was asked for; NULL: none */
};

/* Of a GET, one for each position asked for. */
struct chi_got {
	struct chi_entry *entries;
	size_t n;
};

/* Of a PROBE, likewise. */
struct chi_probed {
	struct chi_row *rows;
	size_t n;
	bool counts; /* rows carry counts: always */
};

struct chi_hello_limits {
	uint32_t request_bytes;
	uint32_t response_bytes;
	uint32_t probe_positions;
	uint32_t put_entries;
	uint32_t requests_in_flight;
	uint32_t scan_rows;
};

struct chi_store_name {
	struct chi_text name;
	enum chi_statistic statistic;
	bool writable;
	uint64_t sequence;		     /* of its committed transactions */
	uint8_t uuid[CHI_IDEMPOTENCY_STORE]; /* all 0: not given */
};

struct chi_response {
	uint64_t id;
	int status; /* CHI_OK, CHI_NONE (NOT_FOUND) or -CHI_E... */
	struct chi_text message;
	struct chi_text field;
	bool last;
	struct chi_text *unknown; /* names in a filter of games that no name fits */
	size_t n_unknown;
	uint16_t thousandths; /* of all that is to be looked at, if that was asked for */
	/*
	 * Whose result follows; CHI_OP_UNKNOWN or CHI_OP_PING: none. A failure is packed without
	 * its result, but for VERIFY, whose totals come with -CHI_ECORRUPT. -CHI_EUNSUPPORTED is
	 * UNKNOWN_OPERATION on the wire if the operation is CHI_OP_UNKNOWN, else UNSUPPORTED.
	 */
	enum chi_op op;
	union {
		const void *body; /* as a request's */
		void *made;
	};
	union {
		struct {
			uint32_t version;
			struct chi_text server;
			struct chi_hello_limits limits;
			struct chi_store_name *stores;
			size_t n_stores;
		} hello;
		struct {
			uint64_t credit; /* bytes that may be sent beyond those granted before */
			const struct chi_import_note *notes;
			size_t n_notes;
			const char *phase; /* what is done, NUL-terminated; NULL: not said */
			uint64_t done;	   /* of `total`; 0: not known */
			uint64_t total;
			struct chi_import_result result; /* in the last response */
		} import;
	} u;
};
