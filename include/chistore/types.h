/* SPDX-License-Identifier: MIT */
/*
 * The types that all parts of Chistore and programs using libchistore share: status codes, position
 * keys, records, filters, scans. Plain data only; nothing here owns memory unless its comment says
 * so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/imports.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CHI_MUSTUSE __attribute__((warn_unused_result))
#else
#define CHI_MUSTUSE
#endif

/* ---- Status ------------------------------------------------------------------------------ */

/*
 * Every function that can fail returns an int: CHI_OK, or a negative -CHI_E... code. If its comment
 * says so it may also return CHI_NONE: not a failure, "there is no such thing".
 */
#define CHI_OK	 0
#define CHI_NONE 1

enum chi_error_code {
	CHI_EINVAL = 1,	  /* an argument is out of its range */
	CHI_EFEN,	  /* text is not a FEN, or a position no key can hold */
	CHI_EKEY,	  /* bytes are not a position key */
	CHI_EMOVE,	  /* text is no legal move in the position */
	CHI_ESYNTAX,	  /* other text that does not parse (number, filter, dump, address) */
	CHI_ETOOBIG,	  /* over a documented limit */
	CHI_ENOMEM,	  /* out of memory, or over the memory budget of a request */
	CHI_EIO,	  /* the operating system failed a read or a write */
	CHI_EFULL,	  /* no space left; reads go on */
	CHI_ENOSTORE,	  /* no store at that path or of that name */
	CHI_EEXIST,	  /* something is there already */
	CHI_EVERSION,	  /* a store or a peer of a version this program cannot use */
	CHI_ECORRUPT,	  /* a stored record or page is damaged */
	CHI_EACCES,	  /* the operating system or the server denies access */
	CHI_EREADONLY,	  /* opened for reading only, or read-only media */
	CHI_EBUSY,	  /* another writer, or a full queue: try again later */
	CHI_ENETFS,	  /* refused: the path is on a network file system */
	CHI_EFORK,	  /* a handle was used in a child of the process that opened it */
	CHI_ECONNECT,	  /* no connection to the store */
	CHI_ETIMEOUT,	  /* the time given for the call is over */
	CHI_EPROTO,	  /* the peer broke the protocol */
	CHI_EUNSUPPORTED, /* the peer does not know the operation, or it makes no sense here */
	CHI_ECANCELED,	  /* given up on request */
	CHI_EINTERNAL,	  /* a state that should not be; please report it */
	CHI_EFORGOTTEN,	  /* a write was not done, because it is unknown whether it was
			     done before */
	CHI_ESTALE,	  /* the store's files were replaced while it was open: open it again */
	CHI_ERROR_COUNT	  /* number of codes, plus one */
};

/* Text of any code above, with or without its sign, and of CHI_OK and CHI_NONE; never NULL,
 * static storage. */
const char *chi_strerror(int status);

/*
 * The error and its place: filled by functions that take a `struct chi_fault *` when they return a
 * negative status. The pointer may be NULL. `text` is one line without a full stop, lower case, for
 * people: the field or place, and the reason.
 */
#define CHI_FAULT_SIZE 256
struct chi_fault {
	char text[CHI_FAULT_SIZE];
};

/*
 * Structs that a caller fills and this library reads by a pointer - options and specs - begin with
 * their size, so that they can grow: `struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, ...}`. For a
 * program built with an older header the missing members count as zero. Members from a newer header
 * must be zero, or the call is -CHI_EUNSUPPORTED; size 0 is -CHI_EINVAL. Keys, records and others
 * in arrays or inside other structs do not grow. A new member begins where the struct ended: none
 * has padding at its end.
 */

/* ---- Position ---------------------------------------------------------------------------- */

/*
 * Position key (docs: store/FORMAT.md): 8-byte mask of the occupied squares, then one nibble per
 * piece. Exact and invertible; 9 to 24 bytes. Bytes from `len` on are zero, so that two keys
 * are equal exactly if the structs are.
 */
#define CHI_KEY_MIN 9
#define CHI_KEY_MAX 24
struct chi_key {
	uint8_t len;
	uint8_t bytes[CHI_KEY_MAX];
};

/* A FEN printed by Chistore fits, with its final NUL. */
#define CHI_FEN_SIZE 128
/* A FEN read may be this long, in bytes, without a NUL. */
#define CHI_FEN_INPUT_MAX 128

/*
 * A move in 16 bits, meaningful only together with the position it is played in:
 *
 *    15 14     12 11         6 5          0
 *   +--+---------+------------+------------+
 *   | 0|promotion| from square| to square  |     squares a1 = 0, b1 = 1 ... h8 = 63
 *   +--+---------+------------+------------+     promotion: 0 none, 1 knight, 2 bishop,
 *                                                3 rook, 4 queen
 * Castling is written king takes own rook (from = king, to = rook), as Chess960 needs it.
 * 0 is no move.
 */
typedef uint16_t chi_move;

/*
 * The statistic: chi-square in hundredths. CHI_CHI2_UNKNOWN says "not known" and is never a
 * value; known values are 1..CHI_CHI2_MAX (0.01..255.99).
 */
#define CHI_CHI2_UNKNOWN 0
#define CHI_CHI2_MAX	 25599

/* The statistic of a store; the numbers are stored and sent. */
enum chi_statistic {
	CHI_STATISTIC_EXTERNAL = 1, /* supplied when the position is put */
	CHI_STATISTIC_CONTROL = 2,  /* computed from the position alone */
	CHI_STATISTIC_OUTCOME = 3,  /* how surely the results of games differ from the base rates */
	CHI_STATISTIC_SCORE = 4,    /* White's expected score in percent, by the results of games */
	CHI_STATISTIC_EVAL = 5,	    /* the deepest evaluation, see chi_statistic_eval */
	CHI_STATISTIC_PERFORMANCE = 6, /* results beyond what ratings let expect, by games kept */
};
#define CHI_STATISTIC_MAX CHI_STATISTIC_PERFORMANCE

/* Data kept of counted games; the numbers are stored. */
enum chi_keep {
	CHI_KEEP_GAMES = 0,  /* the games, with names, and which of them reached a position */
	CHI_KEEP_COUNTS = 1, /* only that they are counted */
};

/*
 * The eval statistic: CHI_EVAL_EVEN plus centipawns, White's view, which end at +-CHI_EVAL_CP_MAX.
 * Beyond them are the mates: CHI_CHI2_MAX - n if White mates in n moves, 1 + n if Black does;
 * mates in more than CHI_EVAL_MATE_MAX count as that many.
 */
#define CHI_EVAL_EVEN	  12800
#define CHI_EVAL_CP_MAX	  12600
#define CHI_EVAL_MATE_MAX 198

/*
 * The performance statistic: CHI_PERFORMANCE_EVEN plus z in hundredths, where z is the sum of
 * White's results less what the ratings let expect, in standard deviations. Unknown below
 * CHI_PERFORMANCE_GAMES games with a result and both ratings.
 */
#define CHI_PERFORMANCE_EVEN  12800
#define CHI_PERFORMANCE_GAMES 5

/*
 * What that statistic was computed with: of a difference d of ratings, White's less Black's, White
 * is expected to score 1 / (1 + 10^(-(d + move) / scale)) points. All but `games` in thousandths.
 */
struct chi_expectation {
	uint64_t games; /* rated ones, on which it was fitted; 0: on none, the rest means nothing */
	int64_t move;	/* what White's first move is worth, in rating points */
	uint64_t scale; /* 400 in Elo's formula */
	uint64_t spread; /* of results about it, in e (1 - e): draws make it less than 1 */
};

/* ---- Record ------------------------------------------------------------------------------ */

/* Games by result. `other` counts games without a result ("*"); it belongs to no side and is
 * not part of the games a statistic is computed from. */
struct chi_counts {
	uint64_t white; /* games won by White */
	uint64_t draws;
	uint64_t black; /* games won by Black */
	uint64_t other;
};

/* A move played from a position, with the games that played it. */
struct chi_move_stat {
	chi_move move;
	struct chi_counts counts;
};

/*
 * How many of a position's games reached it first at that ply: 0 is the position a game starts
 * from. The first of a record's list is the minimum ply.
 */
#define CHI_PLY_MAX 4096
struct chi_ply_stat {
	uint16_t ply; /* 0..CHI_PLY_MAX */
	uint64_t games;
};

/* Limits of a record. */
#define CHI_ENGINE_MAX 64      /* bytes of an engine's name, 1 or more */
#define CHI_PV_MAX     256     /* moves of a principal variation */
#define CHI_LINE_MAX   1024    /* moves of a line */
#define CHI_NOTE_MAX   65536   /* bytes of a note */
#define CHI_EVALS_MAX  64      /* evaluations of one position */
#define CHI_MOVES_MAX  256     /* distinct moves from one position */
#define CHI_SCORE_MAX  1000000 /* |centipawns| of a score */
#define CHI_MATE_MAX   10000   /* |moves| of a mate score */
#define CHI_RANK_MAX   63      /* rank of an evaluation */

/*
 * An engine's evaluation: one of its lines. For each engine (name compared bytewise) a record keeps
 * one of each rank: the deeper one, at equal depth the later put. Lines two or more plies shallower
 * than a better one of that engine come from an earlier search: a put drops them.
 */
struct chi_eval {
	const char *engine; /* UTF-8, engine_len bytes, no control characters (C0, DEL, C1); not
			       NUL-terminated unless it came from this library, which always adds a
			       NUL */
	size_t engine_len;
	uint32_t depth; /* plies, 0..65535 */
	bool is_mate;	/* score counts moves to mate, not centipawns */
	uint8_t rank; /* of the engine's lines (MultiPV): 0 the best, 1 the next, to CHI_RANK_MAX */
	int32_t score;	/* side to move's view; centipawns, or mate in N (> 0: the side to move
			   mates; < 0: it is mated; 0: is mated now) */
	uint64_t nodes; /* 0: not given */
	uint64_t date;	/* seconds since 1970-01-01 UTC; 0: not given */
	const chi_move *pv;
	size_t n_pv;
};

/*
 * The data of a position. The function that filled the record documents who owns the pointers.
 * Absent parts have count 0.
 */
struct chi_record {
	uint16_t chi2; /* hundredths, or CHI_CHI2_UNKNOWN */
	struct chi_counts counts;
	const struct chi_move_stat *moves; /* ascending by move */
	size_t n_moves;
	const struct chi_ply_stat *plies; /* ascending by ply, each with games > 0; together no more
					     games than `counts`: others have no known ply */
	size_t n_plies;
	const struct chi_eval *evals; /* ascending by engine name, bytewise, then by rank */
	size_t n_evals;
	const chi_move *line; /* legal, played from the position one after the other */
	size_t n_line;
	const char *note; /* UTF-8, n_note bytes; from this library NUL-terminated */
	size_t n_note;
};

/* ---- Writing ----------------------------------------------------------------------------- */

/* Which parts of `struct chi_put_entry` are given. */
enum chi_put_part {
	CHI_PUT_CHI2 = 1 << 0,	     /* set the statistic (external stores only) */
	CHI_PUT_COUNTS = 1 << 1,     /* set the counts and the plies */
	CHI_PUT_ADD = 1 << 2,	     /* add the counts, the moves and the plies to those stored */
	CHI_PUT_MOVES = 1 << 3,	     /* set the moves played */
	CHI_PUT_LINE = 1 << 4,	     /* set the line; an empty one removes it */
	CHI_PUT_NOTE = 1 << 5,	     /* set the note; an empty one removes it */
	CHI_PUT_EVALS = 1 << 6,	     /* merge the evaluations, see struct chi_eval */
	CHI_PUT_RESTORE = 1 << 7,    /* set all of it, statistic too; excludes all others */
	CHI_PUT_SUBTRACT = 1 << 8,   /* subtract counts, moves and plies; excludes all others */
	CHI_PUT_DROP_EVALS = 1 << 9, /* remove those of these engines and ranks; excludes EVALS */
};

/*
 * One position to store. Parts not named in `parts` stay as they are; with parts == 0 the
 * position itself is stored if it was not. CHI_PUT_ADD alone adds counts, moves and plies; it
 * excludes CHI_PUT_COUNTS and CHI_PUT_MOVES. In all but external stores the statistic is computed,
 * and CHI_PUT_CHI2 is refused.
 *
 * CHI_PUT_SUBTRACT is the exact inverse of CHI_PUT_ADD: a move without games left goes, and so does
 * a position of which nothing is left (no games, moves, evaluations, line, note, and no statistic
 * that someone supplied). Taking away more than there is is refused, -CHI_EINVAL.
 */
struct chi_put_entry {
	struct chi_key key;
	uint32_t parts; /* enum chi_put_part, or'ed */
	struct chi_record record;
};

/* What a batch did. */
struct chi_put_result {
	uint64_t added;	    /* positions that were not in the store */
	uint64_t updated;   /* positions whose record changed */
	uint64_t unchanged; /* positions that were stored just so already */
	uint64_t removed;   /* positions of which nothing was left */
};

/* When a write is answered. */
enum chi_durability {
	CHI_SYNC = 0,  /* after its transaction is committed and synced */
	CHI_ASYNC = 1, /* when it is applied; a later synced write makes it durable too */
};

/* ---- Games ------------------------------------------------------------------------------- */

/* Numbers of the results, as they are stored and sent. */
enum chi_result {
	CHI_RESULT_WHITE = 0,
	CHI_RESULT_DRAW = 1,
	CHI_RESULT_BLACK = 2,
	CHI_RESULT_OTHER = 3, /* none, or not known */
};

/* ---- Ranges ------------------------------------------------------------------------------ */

/* Bounds, included. */
struct chi_range {
	bool set; /* else there are none */
	uint16_t min;
	uint16_t max;
};

/* ---- Imports ----------------------------------------------------------------------------- */

/* A remark about one game of the input; never stops the import. */
struct chi_import_note {
	const char *file; /* the input's name as fed; "" if it has none */
	uint64_t game;	  /* its number in the file, from 1; 0: it is about something else */
	uint64_t line;	  /* in the file, from 1: place of the error; 0: none */
	const char *text; /* one line: the problem, and its effect on the game */
};
typedef void chi_import_report(void *context, const struct chi_import_note *note);

/* Room for the name of a source, with its final NUL. */
#define CHI_SOURCE_SIZE 256

/* Called from time to time while the games are stored, with `phase` for people, in ASCII; `total`
 * 0: not known yet. */
typedef void chi_import_progress(void *context, const char *phase, uint64_t done, uint64_t total);

#define CHI_IMPORT_MEMORY_DEFAULT (UINT64_C(512) << 20)
#define CHI_IMPORT_MEMORY_MIN	  (UINT64_C(16) << 20)
struct chi_import_options {
	size_t size;
	enum chi_import_kind kind;
	uint32_t max_ply;   /* positions after this ply are not counted; 0: no bound */
	uint64_t games_min; /* a position that is new and has fewer games is not kept; 0, 1: all */
	bool strict;	    /* skip games with a bad move instead of counting them up to it */
	/* Merge: for games counted in both stores; with neither it is refused. */
	bool skip_known;  /* if all of the other's are: add nothing of these games, only the rest */
	bool count_twice; /* add all counts: positions of these games count them twice */
	bool verbose;	  /* report also games that are counted already, and those without moves */
	/* Only to ADD: evaluations in the comments of games that are added (chistore-import(1)
	 * names the forms) go into the records of their positions. An engine's deeper one stays, at
	 * equal depth the later of the input. */
	bool evals;
	/* Other games are skipped: a filter as chi_games_filter_check takes it, without terms
	 * that only games of a store answer; NULL, "": all. Only for games. Read while it opens. */
	const char *filter;
	bool bare; /* the archive keeps games without comments, marks and variations, */
	char source[CHI_SOURCE_SIZE];	 /* and under this source; "": the input's name */
	enum chi_keep keep;		 /* what a new store keeps of games. In-process */
	enum chi_format format;		 /* PUT: of all inputs; so are the next two */
	char engine[CHI_ENGINE_MAX + 1]; /* of unnamed evaluations; "": "epd" */
	bool add;			 /* counts are added instead of set */
	bool unplayed;	  /* PUT: positions that already have games or moves stay unchanged */
	uint64_t memory;  /* bytes to hold; 0: CHI_IMPORT_MEMORY_DEFAULT. In-process */
	unsigned threads; /* 0: as many as there are cores. In-process */
	/* Both are called on the thread that feeds and commits, during those calls. May be NULL. */
	chi_import_report *report;
	chi_import_progress *progress;
	void *context;
	/* Checked from time to time; not 0: end with -CHI_ECANCELED. May be NULL. */
	const volatile int *cancel;
};
#define CHI_IMPORT_OPTIONS_INIT .size = sizeof(struct chi_import_options)

/* Results for the games and the positions. For PUT, records read are `games`, those left out
 * `skipped`, inputs without a position `empty`, and each record counts in `positions`. */
struct chi_import_result {
	uint64_t games;	      /* read */
	uint64_t taken;	      /* added, or removed */
	uint64_t known;	      /* were counted already, or came twice; subtract: are not counted;
				 merge: are counted in both stores */
	uint64_t skipped;     /* other variants, unreadable starts, too long, bad moves if strict;
				 subtract: also those stored pruned */
	uint64_t empty;	      /* without a move: nothing to count */
	uint64_t cut;	      /* of those taken: counted up to a bad move */
	uint64_t plies;	      /* moves of the games taken */
	uint64_t dropped;     /* positions not kept because of games_min; merge: notes and lines of
				 the other store not copied because ours differ */
	uint64_t filtered;    /* did not fit the filter */
	uint64_t conflicts;   /* of those read: the Result tag and the text after the moves name
				 different results; the tag's counts */
	uint64_t evaluations; /* in comments of the games added, if requested */
	struct chi_put_result positions;
};

/* ---- Scanning ---------------------------------------------------------------------------- */

enum chi_side {
	CHI_SIDE_ANY = 0,
	CHI_SIDE_WHITE = 1, /* White to move */
	CHI_SIDE_BLACK = 2,
};

/* Material of one position as counts; index: 0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen,
 * 5 king. */
struct chi_material {
	uint8_t white[6];
	uint8_t black[6];
};

/*
 * Which evaluations of records are seen: for the whole question others are as if they were not
 * there. A zeroed one sees all. Nothing that fits is no error. The eval statistic of a store is
 * that of all evaluations.
 */
struct chi_evidence {
	char engine[CHI_ENGINE_MAX + 1]; /* the engine's name, which has its version, fits this
					    pattern: * is any text, ? any character, [67], [a-f]
					    and [!67] one of them, or none; case of ASCII does not
					    count. "": any engine */
	struct chi_range depth;		 /* plies */
	uint64_t since; /* evaluated at this time or later, seconds since 1970-01-01 UTC; 0: no
			   bound. Evaluations without a date are in no span */
	uint64_t until; /* ... or earlier */
};

/* A filter of positions. A zeroed one passes all. An unknown value is in no
 * range. */
struct chi_filter {
	bool has_material;
	bool either_colour; /* the material matches with colours exchanged too */
	struct chi_material material;
	uint8_t pieces_min;	/* kings included; 0: no bound */
	uint8_t pieces_max;	/* 0: no bound */
	uint8_t side;		/* enum chi_side */
	uint64_t games_min;	/* white + draws + black at least this */
	struct chi_range score; /* White's share of the results' points, in hundredths of a percent,
				   0..CHI_SHARE_MAX */
	struct chi_range
		eval; /* the deepest evaluation, as the eval statistic has it, 1..CHI_CHI2_MAX
		       */
	struct chi_range ply;	      /* the least ply at which a game reached it, 0..CHI_PLY_MAX */
	uint8_t engines_min;	      /* engines that evaluated it, at least */
	struct chi_evidence evidence; /* of which `eval`, `engines_min`, a sort and records go by;
					 excludes no position by itself */
};
#define CHI_SHARE_MAX 10000

enum chi_order {
	CHI_ORDER_STRENGTH = 0, /* by (statistic, key); the statistic not known counts as 0 */
	CHI_ORDER_POSITION = 1, /* by key alone; the band still filters */
};

/*
 * Orders without a tree: a scan reads the whole band, keeps the first `limit` rows, 1 to
 * CHI_SORT_MAX, and then delivers them. Positions without the value are left out. On a tie those
 * with more games come first, then by key. It has no cursor.
 */
enum chi_sort {
	CHI_SORT_NONE = 0,
	CHI_SORT_GAMES = 1, /* white + draws + black */
	CHI_SORT_SCORE = 2, /* as in struct chi_filter */
	CHI_SORT_EVAL = 3,  /* the same */
	/* How surely White's score is another than positions of this evaluation have, in standard
	 * deviations: by a curve fitted on what the scan finds, as CHI_INSIGHT_GAP does, but
	 * without ratings. It reads the band twice. -CHI_EUNSUPPORTED on RADOS. */
	CHI_SORT_GAP = 4,
};
#define CHI_SORT_MAX 10000

/* What a scan delivers for each position. */
enum chi_want {
	CHI_WANT_KEYS = 0,    /* statistic and key: the strength tree alone is read */
	CHI_WANT_COUNTS = 1,  /* and the counts */
	CHI_WANT_RECORDS = 2, /* and the whole record */
};

/* The position of a scan: the last row it delivered. A scan opened with `after` set continues after
 * that row in the scan's direction, whether or not the row still exists. Plain data: a program may
 * store it and continue later. */
struct chi_cursor {
	bool set;
	uint16_t chi2;
	struct chi_key key;
};

/* A band of the statistic, bounds included. chi2_min == 0 includes the positions with an unknown
 * statistic; chi2_min == chi2_max == 0 is only those. */
struct chi_scan_spec {
	size_t size;
	uint16_t chi2_min;
	uint16_t chi2_max; /* CHI_CHI2_MAX for no bound */
	bool descending;
	uint8_t order;	/* enum chi_order */
	uint8_t want;	/* enum chi_want; chi_scan_count ignores it */
	uint8_t sort;	/* enum chi_sort, instead of `order`; chi_scan_count ignores it */
	uint64_t limit; /* rows; 0: no limit; chi_scan_count ignores it */
	struct chi_filter filter;
	struct chi_cursor after;
	const char *games; /* NULL, "", or a filter (chistore/games.h): only what its games reached,
			      with their counts and moves, and no plies */
	bool whole_counts; /* or with those of all games; chi_scan_count ignores it */
	const char *pattern; /* NULL, "", or conditions of a filter on the position */
};
#define CHI_SCAN_SPEC_INIT .size = sizeof(struct chi_scan_spec)

/* Where a best move comes from. */
enum chi_best {
	CHI_BEST_NONE = 0,
	CHI_BEST_EVAL = 1,   /* first of the deepest evaluation's principal variation */
	CHI_BEST_LINE = 2,   /* without that, first of the line */
	CHI_BEST_PLAYED = 3, /* without either, the move played in most games, of equal ones the
				first of the record */
};

/*
 * One answer of a probe, or one row of a scan. Only probes have the evaluation and the best move.
 * The evaluation is the deepest of rank 0; on a tie the one with the later date, then the first by
 * its engine's name.
 */
struct chi_row {
	struct chi_key key;
	bool found;		  /* the position is stored, as always in a scan; if not, all below
				     is zero */
	uint16_t chi2;		  /* or CHI_CHI2_UNKNOWN */
	bool has_eval;		  /* the three below are given */
	bool is_mate;		  /* as in struct chi_eval */
	uint16_t depth;		  /* plies */
	int32_t score;		  /* for the side to move, as in struct chi_eval */
	chi_move best;		  /* 0: none is known */
	uint8_t best_source;	  /* enum chi_best */
	struct chi_counts counts; /* games from here; in a scan zero unless wanted */
};

/* ---- Exploring --------------------------------------------------------------------------- */

/* A move from the explored position. */
struct chi_explore_move {
	chi_move move;
	struct chi_counts played; /* games that played it here */
	struct chi_row child; /* the position after it, as a probe gives it, with the games, all or
				 a filter's, that reached it by any way; child.found: it is stored.
				 Its key has len 0 if none can hold it (Black without a king) */
	const char *eco;      /* opening of the child, NUL-terminated; NULL: none */
	const char *opening;
};

/* The moves played from a position, and their results. */
struct chi_explored {
	struct chi_row position; /* as a probe gives it; position.found: it is stored */
	int32_t min_ply;	 /* first reached at this ply; -1: not known */
	const char *eco;	 /* opening of the position; NULL: none */
	const char *opening;
	/* Moves played here, and those that lead to stored positions; by games played, games of
	 * the child (results and others together), then the move. At most CHI_MOVES_MAX. */
	const struct chi_explore_move *moves;
	size_t n_moves;
};

/* ---- Store ------------------------------------------------------------------------------- */

/* Why a store cannot be written through this client. */
enum chi_read_only {
	CHI_READ_ONLY_NOT = 0,
	CHI_READ_ONLY_PUBLISHED, /* it is a published copy */
	CHI_READ_ONLY_SERVER,	 /* the server was started read-only */
	CHI_READ_ONLY_CRASHES,	 /* the server has crashed repeatedly, and serves it read-only */
	CHI_READ_ONLY_DISK,	 /* its disk has failed while the server had it open */
	CHI_READ_ONLY_MEDIA,	 /* it is on a file system that is mounted read-only */
};

/* What a check of a store's disk has found, when it found no failure. */
struct chi_disk_check {
	bool direct; /* the disk was read; false: its file system has no reads past the cache of
			the kernel, and nothing is known of the disk */
};

/* Description of a store; every field is also printed by `chistore info`. */
struct chi_info {
	uint8_t uuid[16];
	uint16_t format_major;
	uint16_t format_minor;
	uint8_t statistic;	/* enum chi_statistic */
	uint64_t created;	/* seconds since 1970-01-01 UTC */
	char creator[32];	/* program and version that created it, NUL-terminated */
	uint64_t sequence;	/* committed write transactions since creation */
	uint64_t positions;	/* entries of the position tree */
	uint64_t known;		/* entries of the strength tree */
	struct chi_counts base; /* base rates the outcome or score statistic was computed with */
	struct chi_expectation expected; /* what the performance statistic was computed with */
	struct chi_counts games;	 /* games imported, by result */
	uint64_t file_bytes;		 /* size of the data file */
	uint64_t used_bytes;		 /* of it, pages in use */
	uint64_t position_bytes;	 /* pages of the position tree */
	uint64_t strength_bytes;	 /* and of the strength tree */
	uint64_t blocks;		 /* of both */
	uint64_t block_bytes;		 /* content of these, at most 2,030 each */
	uint8_t keep;			 /* enum chi_keep */
	uint64_t last_game;		 /* the highest game number so far; 0: none */
	bool partial;			 /* games that are kept may not be in the lists of all their
					    positions: they were counted to a ply, or without rare ones */
	uint64_t archive_bytes;		 /* pages of the games with their headers and names */
	uint64_t postings_bytes;	 /* of the lists of games too long for a record */
	uint64_t traits_bytes;		 /* of the lists of games by trait */
	uint64_t map_bytes;		 /* address space reserved */
	uint32_t shards;		 /* on RADOS: objects with its positions; else 0 */
	uint32_t readers;		 /* reader slots in use, all processes */
	uint32_t readers_max;
	uint64_t oldest_reader; /* how many transactions the oldest live reader lags; 0: none */
	uint8_t read_only;	/* enum chi_read_only; not how a directory was opened */
};

/* Called for each damage a verification finds, with a line of text, valid during the call. */
typedef void chi_verify_report(void *context, const char *text);

/* What chi_store_backup makes of a copy. */
enum chi_backup_kind {
	CHI_BACKUP_STORE = 0, /* a store, as it was copied */
	CHI_BACKUP_PUBLISHED, /* a published copy: every page and every entry checked */
	CHI_BACKUP_VERIFIED,  /* a published copy, verified as chi_store_verify does */
};

/* What a verification found. */
struct chi_verify_result {
	uint64_t positions; /* records read and found sound */
	uint64_t known;	    /* strength entries read and found sound */
	uint64_t errors;    /* damaged, missing or disagreeing entries */
};

/* What a repair saved, and what it could not. */
struct chi_repair_result {
	uint64_t positions; /* stored in the new store */
	uint64_t games;	    /* the same */
	uint64_t found;	    /* of both, those in pages not reachable from a tree */
	uint64_t damaged;   /* damaged entries */
	uint64_t missing;   /* entries counted by the trees and not in the new store; 0 also if no
			       tree is left */
	uint64_t pages;	    /* pages that are unreadable, or have wrong page numbers */
	bool unsure; /* the newest state cannot be distinguished from older ones: deleted data may
			be back, replaced data may be outdated */
};

#ifdef __cplusplus
}
#endif
