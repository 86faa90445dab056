/* SPDX-License-Identifier: MIT */
/*
 * libchistore: a store of chess positions, in this process or behind a daemon, through one
 * interface.
 *
 * Caveats first:
 *  - A chi_client is used by one thread at a time; open one per thread. Any number may be open.
 *  - While a scan or a query of games is open, and within a callback, calls on the client are
 *    -CHI_EBUSY and change nothing, except those of the scan or query, chi_close and chi_error.
 *    Within a callback chi_close takes effect when the call has ended, for rows when these are
 *    closed. The same holds for an import's calls.
 *  - An answer, a result returned by pointer (records, rows, texts), is valid until the next call
 *    on that client that returns one has returned: it may be passed into any call up to that one,
 *    not later. Rows of an open scan or query are valid until its next row.
 *  - A client opened in-process does not survive fork(); one on a socket must not be shared.
 *  - The library never prints, exits, or changes signal handling; it writes to sockets with
 *    MSG_NOSIGNAL.
 *
 * Functions return CHI_OK, CHI_NONE where the comment says so, or a negative -CHI_E... code with
 * a text in chi_error(). The next call reconnects after a failed connection.
 *
 * Over a socket a call survives a lost connection and a restarted server: it reconnects, with
 * growing waits, and repeats unanswered requests up to 10 times and for chi_options.repeat_ms.
 * Reads, and a walk continued after its last row, are repeated freely. Writes carry an idempotency
 * key, so that each happens at most once, even if the server was killed in between; in another
 * store that replaced theirs they do not happen. chi_store_compact is repeated in the same way,
 * chi_store_backup from its beginning, chi_store_verify only before it has reported anything. An
 * import's data are not repeated, but the library queries the outcome of its commit. Opening and
 * chi_ping are not repeated.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/insight.h"
#include "chistore/names.h"
#include "chistore/queue.h"
#include "chistore/search.h"
#include "chistore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chi_client;
struct chi_import;
struct chi_prober;
struct chi_rows;

/* The version of the library that runs, as "1.2.3"; static storage. */
const char *chi_version(void);

/* ---- Opening ----------------------------------------------------------------------------- */

#define CHI_NO_REPEAT UINT32_MAX

struct chi_options {
	size_t size;
	const char *store;	 /* name of the store on a server; NULL: "default" */
	bool writable;		 /* in-process: open for writing too; ignored on sockets */
	uint32_t connect_ms;	 /* time to connect, after a host's name is looked up; 0: 5,000 */
	uint32_t call_ms;	 /* longest wait for the peer to make progress; 0: 30,000. During
				    writes, imports, scans, counts and whole-store work
				    answering a ping is progress, too */
	uint32_t lock_wait_ms;	 /* in-process writes: wait for another writer; 0: do not wait */
	bool force_netfs;	 /* in-process: open even on a network file system */
	const char *client_name; /* for the server's log; NULL: "libchistore VERSION" */
	uint32_t repeat_ms;	 /* sockets: how long to repeat unanswered requests after a lost
				    connection; 0: 30,000; CHI_NO_REPEAT: not at all */
	const char *token_file;	 /* sockets: holds the access token, on one line; NULL: none. Read
				    for every connection; must not be open to everyone */
	const char *tls_ca;	 /* tls: addresses: PEM file of the server's authorities; NULL:
				    those that the system trusts */
	const char *tls_cert;	 /* the same: PEM file of our certificate; NULL: none is shown */
	const char *tls_key;	 /* its key, without a passphrase, not open to everyone; goes with
				    tls_cert */
};
#define CHI_OPTIONS_INIT .size = sizeof(struct chi_options)

/*
 * Opens an address: `DIR` or `file:DIR` (in this process), `unix:PATH`, `tcp:HOST:PORT`,
 * `tls:HOST:PORT` (an IPv6 HOST in brackets), `rados:POOL/NAME[?conf=FILE&user=ID&shards=N]`
 * (objects of a Ceph cluster). `options` may be NULL, and need not outlive the call. On failure
 * *out is NULL and `fault` (may be NULL) says why. -CHI_ESYNTAX (address), -CHI_ENOSTORE,
 * -CHI_ECONNECT, -CHI_ETIMEOUT, -CHI_EVERSION, -CHI_EACCES, -CHI_EBUSY, and what opening a store
 * can give.
 */
CHI_MUSTUSE int chi_open(const char *address, const struct chi_options *options,
			 struct chi_client **out, struct chi_fault *fault);

/*
 * Another client of the same store, with the same options, for instance for another thread. In
 * process it reads the very files that `client` has open, also where the address leads to others by
 * now (chi_store_changed), and writes nothing (-CHI_EREADONLY); else the address is opened again.
 * To be closed, in any order. -CHI_EBUSY while rows of `client` are open; errors of chi_open.
 */
CHI_MUSTUSE int chi_open_again(struct chi_client *client, struct chi_client **out);

/*
 * In-process: a client of what is at the address by now, if these are other files than those that
 * `client` has open (chi_store_changed), which it keeps; else, and over a socket and on RADOS, *out
 * is NULL. Only from and to what is still: a published copy (chi_store_backup), or a store on media
 * mounted read-only, as a snapshot is. -CHI_ESTALE where one of the two is not, of which no lock
 * file was opened then. Close the clients and open the address
 * again. Options are those of `client`, without writable. -CHI_ENOSTORE: nothing is there;
 * -CHI_EBUSY as above; errors of chi_open.
 */
CHI_MUSTUSE int chi_open_newest(struct chi_client *client, struct chi_client **out);

/* Commits pending CHI_ASYNC puts in-process; frees open rows. Cannot report a failed commit: call
 * chi_flush before to know. NULL is fine. */
void chi_close(struct chi_client *client);

/* The text of the last failure on this client; "" if there was none. Until the next call. */
const char *chi_error(const struct chi_client *client);

/* Creates an empty store. The address must be a directory's or on RADOS, where it gets shards=N of
 * the address or 64, and `keep` must be CHI_KEEP_COUNTS; -CHI_EUNSUPPORTED otherwise. See chi_open
 * for `fault`. */
CHI_MUSTUSE int chi_store_create(const char *address, enum chi_statistic statistic,
				 enum chi_keep keep, struct chi_fault *fault);

/* Waits for an answer of the server; in-process it checks that the store can be read. */
CHI_MUSTUSE int chi_ping(struct chi_client *client);

/*
 * Has the disk under the store read past the page cache, by the server if there is one, and waits
 * for that: what a health check is to ask, as a server whose disk was cut off answers a ping and
 * reads what it has in memory. -CHI_EIO: the disk failed, or has failed since the server was
 * started; -CHI_ETIMEOUT: no answer, as of a disk that hangs.
 */
CHI_MUSTUSE int chi_store_check_disk(struct chi_client *client, struct chi_disk_check *out);

CHI_MUSTUSE int chi_store_info(struct chi_client *client, struct chi_info *out);

/*
 * Whether the address now leads to another store than the opened one: its directory or a file of it
 * was replaced (published again, restored, moved), or a server serves another store or an older
 * state under that name. A few system calls, or a request. A client in-process keeps the store that
 * it has open, and the answer stays true: open the address again for the new one. Over a socket
 * calls always use the current store. -CHI_ENOSTORE: nothing is there.
 */
CHI_MUSTUSE int chi_store_changed(struct chi_client *client, bool *changed);

/* ---- Reading ----------------------------------------------------------------------------- */

/*
 * Statistic and counts of `n` positions, any number; rows[i] answers keys[i], rows[i].found says
 * whether it is stored. In-process there is no allocation, no lock and, after the thread's first
 * call, no system call. More than 4,096 at once are split for a server.
 */
CHI_MUSTUSE int chi_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
			  struct chi_row *rows);

/* The whole record. CHI_NONE if the position is not stored. */
CHI_MUSTUSE int chi_get(struct chi_client *client, const struct chi_key *key,
			struct chi_record *out);

/*
 * The same for any number of positions, in requests of many to a server: `each` is called for
 * keys[i] in their order; `record` is NULL if the position is not stored, and valid during the
 * call. If `each` returns anything but CHI_OK, the call ends and returns that. It must not use this
 * client. In-process all come from one snapshot. A damaged record ends the call, too: `each` was
 * called for those before it.
 */
typedef int chi_get_each(void *context, size_t i, const struct chi_record *record);
CHI_MUSTUSE int chi_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
			     chi_get_each *each, void *context);

/*
 * The moves played from a position, their results and the positions after them, from one
 * snapshot. CHI_OK also if the position is not stored (out->position.found), since the
 * positions after it may be stored by other orders of moves. With a filter of games
 * (chistore/games.h; NULL or "": none) all counts, of the position, its moves and the positions
 * after these, are of the matching games, moves that none of them played are left out, and
 * min_ply is -1; statistics and evaluations are as stored. -CHI_EUNSUPPORTED then if a store
 * keeps no games. Evaluations are those of `evidence` (NULL: all), which the filter goes by, too.
 * -CHI_EINVAL: its bounds contradict.
 */
CHI_MUSTUSE int chi_explore(struct chi_client *client, const struct chi_key *key,
			    const char *filter, const struct chi_evidence *evidence,
			    struct chi_explored *out);

/* ---- Writing ----------------------------------------------------------------------------- */

/*
 * Stores `n` positions, all or nothing; at most 10,000 in one call. With CHI_SYNC the batch is
 * durable when the call returns. `result` may be NULL. Failures name the entry, counted from 0.
 *
 * In-process, CHI_ASYNC batches gather in one write transaction, which keeps other writers
 * out. It is committed by chi_flush, by a CHI_SYNC write, by any read on this client, at
 * 100,000 records, and by chi_close; until then the client must stay on one thread. A
 * refused batch does not affect those gathered before it. Only a failure of the disk (full,
 * or a damaged page) or of memory loses them too, and the text says how many records are
 * lost. Reads can fail for that reason, too. A client sees its own writes, for every
 * address.
 *
 * Over a socket, when the answer does not come, repeated or not, the write may or may not have
 * happened, and the text says so. -CHI_EFORGOTTEN: it was not done now, but it is unknown whether
 * it was done when it was sent before, or that was to another store. If the connection broke after
 * CHI_ASYNC writes, the next chi_flush or CHI_SYNC write fails with a text that says so, once, and
 * stores nothing itself.
 */
CHI_MUSTUSE int chi_put(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
			enum chi_durability durability, struct chi_put_result *result);

/* Deletes `n` positions, all or nothing; those not stored are skipped. `deleted` may be NULL.
 */
CHI_MUSTUSE int chi_delete(struct chi_client *client, const struct chi_key *keys, size_t n,
			   enum chi_durability durability, uint64_t *deleted);

/* Makes every earlier CHI_ASYNC write of this client durable. -CHI_ECONNECT: the connection broke
 * since, and it is unknown whether they are stored; reported once. */
CHI_MUSTUSE int chi_flush(struct chi_client *client);

/* ---- Games ------------------------------------------------------------------------------- */

/*
 * The counted games of the store (struct chi_game_id): up to `max` with ids after `after`
 * (CHI_GAME_ID_SIZE bytes, or NULL: from the first), ascending, into `out`. *n less than `max`:
 * there are no more. Concurrent writes may show in part. -CHI_EUNSUPPORTED: a server that does not
 * list games.
 */
CHI_MUSTUSE int chi_game_ids(struct chi_client *client, const uint8_t *after,
			     struct chi_game_id *out, size_t max, size_t *n);

/* ---- Importing games --------------------------------------------------------------------- */

/*
 * Games by the gigabyte (struct chi_import_options): text of PGN, for CHI_IMPORT_MERGE and
 * CHI_IMPORT_LOAD of a dump, for CHI_IMPORT_PUT of files of positions, is fed in pieces, and stored
 * by the commit, all or nothing. Closing without a commit changes nothing; neither does feeding the
 * same games again.
 *
 * `create`: 0 if the store must exist (-CHI_ENOSTORE); else a directory without one gets one of
 * that kind, which appears whole with the commit, and an existing store must be of that kind:
 * -CHI_EINVAL names both. A server's store always exists. In-process only the commit takes the
 * store's writer lock. Options of clients are as in chi_open; `writable` is ignored. -CHI_EBUSY: as
 * many imports as the server takes are running, or a daemon serves the store of the directory, and
 * the text names it.
 *
 * One thread uses a chi_import at a time, and its callbacks are called on that thread. The first
 * failure is final: all later calls return it.
 */
CHI_MUSTUSE int chi_import_open(const char *address, const struct chi_options *options,
				enum chi_statistic create, const struct chi_import_options *games,
				struct chi_import **out, struct chi_fault *fault);

/* A new input begins; games do not continue across inputs. `name` is for notes, cut at 255 bytes.
 */
CHI_MUSTUSE int chi_import_file(struct chi_import *games, const char *name);

/* The next bytes, cut anywhere. Waits if the readers are behind. */
CHI_MUSTUSE int chi_import_feed(struct chi_import *games, const void *bytes, size_t len);

/*
 * Instead of feeding, for CHI_IMPORT_MERGE: the other store is the one in directory `other` (`DIR`
 * or `file:DIR`), read directly at the commit, as one committed state. It is several times faster
 * than the text of its dump, with the same outcome. CHI_NONE: not possible, since ours or the other
 * is not in a directory; feed its dump. -CHI_EINVAL: not a merge, or the other is the store itself,
 * or a copy of it; also errors of opening it.
 */
CHI_MUSTUSE int chi_import_store(struct chi_import *games, const char *other);

/*
 * Stores the input durably, or nothing; once. `result` may be NULL. If the connection breaks now,
 * the call queries the outcome over another one (with chi_options.repeat_ms for each request; while
 * it is being stored, without limit). Either it was stored, and this succeeds; or it was not and
 * will not be, and the text says that nothing was stored. Only if the server cannot be reached or
 * does not know, the outcome is unknown, and the text says so: feeding the same games again is then
 * harmless, but a CHI_IMPORT_MERGE of a dump without games would be added twice.
 */
CHI_MUSTUSE int chi_import_commit(struct chi_import *games, struct chi_import_result *result);

/* The text of the failure; "" if there was none. */
const char *chi_import_error(const struct chi_import *games);

/* NULL is fine. */
void chi_import_close(struct chi_import *games);

/* ---- Progress ---------------------------------------------------------------------------- */

/* The part examined, in thousandths; 0: not known. It must not use the client or its rows. */
typedef int chi_progress(void *context, unsigned thousandths);

/* Sets a function to call repeatedly during scans, counts and other queries of this client; if it
 * returns anything but CHI_OK the call ends with -CHI_ECANCELED. NULL: none. Stores on RADOS never
 * call it. -CHI_EBUSY: a scan or a query is open. */
CHI_MUSTUSE int chi_on_progress(struct chi_client *client, chi_progress *progress, void *context);

/* ---- Scanning ---------------------------------------------------------------------------- */

/* Begins an ordered walk (types.h). One scan or query of games per client at a time; ended by
 * chi_rows_close, also when it failed or came to its end. */
CHI_MUSTUSE int chi_scan_open(struct chi_client *client, const struct chi_scan_spec *spec,
			      struct chi_rows **out);

/* The next row: CHI_OK, or CHI_NONE after the last. *record is set if the spec wanted records
 * (`record` may be NULL otherwise). */
CHI_MUSTUSE int chi_scan_next(struct chi_rows *rows, const struct chi_row **row,
			      const struct chi_record **record);

/* The position of a scan or of a query of games, and facts about all its rows. */
struct chi_rows_place {
	/* Scan: after the row delivered last; put it in a spec's `after` to continue later. */
	struct chi_cursor cursor;
	/* Scan: the rows so far came from more than one committed state: a server ends snapshots
	 * that are older than a second, and all with their connection. Known for certain after the
	 * last row. In-process always false. */
	bool mixed;
	/* Games: the same as `cursor`, for a spec's `cursor`; "" before the first. */
	char games[CHI_GAMES_CURSOR_SIZE];
	/* Games: after CHI_NONE, if requested, the number of all matches, wherever the query began.
	 * It may be known before. */
	bool has_total;
	uint64_t total;
	/* Games: after CHI_NONE, if `explain` was asked, how the query would be answered, in lines
	 * of text for a reader; else NULL. */
	const char *plan;
};

/* Never NULL; valid until the next call with these rows, which refills it. */
const struct chi_rows_place *chi_rows_state(struct chi_rows *rows);

/* Of both kinds. NULL is fine. */
void chi_rows_close(struct chi_rows *rows);

/* The number of positions in a scan of this band and filter, without limit. `mixed` may be NULL;
 * see chi_rows_place. In-process, a large band with a filter is counted by as many threads, up to
 * 16, as there are processors that the caller may run on; they end before it returns. */
CHI_MUSTUSE int chi_scan_count(struct chi_client *client, const struct chi_scan_spec *spec,
			       uint64_t *count, bool *mixed);

/* ---- Whole-store work -------------------------------------------------------------------- */

/* Reads and checks everything. CHI_OK: sound; -CHI_ECORRUPT: `report` was called for each damage.
 * In-process by up to 4 threads, as many as there are processors that the caller may run on; they
 * end before it returns. A damaged store is read a second time by one of them, which reports. */
CHI_MUSTUSE int chi_store_verify(struct chi_client *client, chi_verify_report *report,
				 void *context, struct chi_verify_result *result);

/*
 * Saves every intact record of the store at `address`, a directory, into a new store at `path`,
 * which must not exist; it appears whole or not at all, and the damaged store is not changed. Works
 * by plain reads, so that no damage can stop the process. A store on RADOS is repaired in place,
 * also under running writes: `path` is its own address then, damaged entries are removed, and a
 * committed import is finished without the damaged parts of its journal. `statistic`: the store's,
 * for one with a lost stamp; 0: as in the stamp. `report` (may be NULL) is called for each damage.
 * CHI_OK: `path` exists, and *result says what was lost. -CHI_EINVAL (the statistic),
 * -CHI_EUNSUPPORTED (a server), -CHI_ENOSTORE, -CHI_EVERSION, -CHI_EEXIST, -CHI_EBUSY (someone
 * writes), -CHI_EFULL, -CHI_EIO, -CHI_EACCES, -CHI_ENOMEM; the fault says more.
 */
CHI_MUSTUSE int chi_store_repair(const char *address, const char *path,
				 enum chi_statistic statistic, chi_verify_report *report,
				 void *context, struct chi_repair_result *result,
				 struct chi_fault *fault);

/*
 * Makes a new store in the local directory `path` with a consistent copy, under running writes.
 *
 * With CHI_BACKUP_PUBLISHED the directory becomes a published copy of one committed state:
 * compacted, checked, with the modes 0755 and 0444. Every local user can open it by chi_open for
 * reading, without permission to write there; it cannot be written (-CHI_EREADONLY), and a backup
 * of it is a store again. Readers trust its owner: if the mapped file is changed, they can crash.
 * An older copy there is replaced atomically; a program that has it open keeps it. While it runs it
 * needs disk space for two copies. -CHI_EEXIST: something that is not a published copy has the
 * name; -CHI_ECORRUPT: the store is damaged, and nothing was published; -CHI_EUNSUPPORTED: the file
 * system cannot replace a directory atomically.
 *
 * What was checked: each page, each entry by its checksum, its order and its neighbours, and the
 * numbers of all. CHI_BACKUP_VERIFIED, which takes several times as long, is as
 * CHI_BACKUP_PUBLISHED after all that chi_store_verify does: also what entries say of each other.
 */
CHI_MUSTUSE int chi_store_backup(struct chi_client *client, const char *path,
				 enum chi_backup_kind kind);

/* Verifies the store, then rewrites the data file without its free pages. Writes of others go on
 * during the first step, and wait during the second, about the time to write and sync the pages in
 * use; reads go on through a server. -CHI_EBUSY if other processes have the store open, before the
 * work or after it, or if the server verifies and copies enough already; -CHI_ECORRUPT if the
 * store is damaged, see chi_store_repair; -CHI_ECANCELED if the server stops: nothing has changed.
 */
CHI_MUSTUSE int chi_store_compact(struct chi_client *client, uint64_t *bytes_before,
				  uint64_t *bytes_after);

/* Recomputes every statistic; -CHI_EUNSUPPORTED in an external store. `base`, used by outcome and
 * score stores only; NULL: the results of the games counted in the store, or without any the sum of
 * all positions' counts. */
CHI_MUSTUSE int chi_store_rescore(struct chi_client *client, const struct chi_counts *base,
				  uint64_t *changed);

/* The same by another statistic (enum chi_statistic), which the store at `address`, a directory,
 * has from then on, all or nothing: for readers' order the games and counts are the same. An
 * external store keeps the numbers it has. No process may have it open, this one neither:
 * -CHI_EBUSY. -CHI_EINVAL: no statistic, or performance where no games are kept; -CHI_EUNSUPPORTED:
 * a server or RADOS; else as chi_open. `fault` (may be NULL) says more. */
CHI_MUSTUSE int chi_store_set_statistic(const char *address, enum chi_statistic statistic,
					const struct chi_counts *base, uint64_t *changed,
					struct chi_fault *fault);

/* The most shards that a store on RADOS can have. */
#define CHI_SHARDS_MAX 65536

/* ---- Positions and moves, without a store -------------------------------------------------- */

/* FEN (4 to 6 fields, X-FEN or Shredder-FEN) to a key, normalised; -CHI_EFEN with the field and
 * the reason in `fault` (may be NULL), -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_key_from_fen(const char *text, size_t len, struct chi_key *out,
				 struct chi_fault *fault);

/* A key to its normalised X-FEN, NUL-terminated. -CHI_EKEY. */
CHI_MUSTUSE int chi_key_to_fen(const struct chi_key *key, char out[CHI_FEN_SIZE],
			       struct chi_fault *fault);

/* A position as bitboards; bit 0 is a1, bit 63 is h8. */
struct chi_board {
	uint64_t white; /* every white piece */
	uint64_t black;
	uint64_t pawns; /* of both sides, and so on */
	uint64_t knights;
	uint64_t bishops;
	uint64_t rooks;
	uint64_t queens;
	uint64_t kings;
	uint64_t castling; /* squares of the rooks that may castle */
	int8_t en_passant; /* the square behind the pawn that moved two steps, or -1 */
	bool black_to_move;
};

/* Normalises like chi_key_from_fen. -CHI_EKEY if it has no key. */
CHI_MUSTUSE int chi_key_from_board(const struct chi_board *board, struct chi_key *out,
				   struct chi_fault *fault);

/* ---- Probing for engines -------------------------------------------------------------------- */

/*
 * A prober answers one thread of an engine; open one for each. In-process it shares nothing with
 * the client it was opened from, which may be used or closed meanwhile; only opening allocates or
 * locks, and after the first call none makes a system call. Each call reads the newest committed
 * state, also of other processes; a client's CHI_ASYNC puts are seen after their commit. Over a
 * socket a prober has its own connection: the same answers, slower.
 *
 * After 20,000 look-ups in one state a call notes where all of its leaves are, for all probers of
 * this process, so that later ones are faster: for 25 million positions this takes some 10 ms,
 * once a state, and 1.6 MB, at most three times. Stores of more than some 50 million, or larger
 * than half of the memory, do without.
 *
 * With hold_ms set, a prober keeps the snapshot of a look-up for those that follow: a single one
 * is some 50 ns faster. Until the first look-up after hold_ms, or chi_prober_release, writers
 * cannot reuse the pages of that state, and the file grows instead; where its map must grow, other
 * look-ups of this process fail with -CHI_EBUSY meanwhile: release before a pause.
 * Prefetched positions are always answered from the newest state.
 *
 * Over a socket each call ends within its deadline, connecting included, with -CHI_ETIMEOUT or
 * -CHI_ECONNECT if the server does not answer by then or is gone; nothing is repeated. For ten
 * deadlines after that, a second at most, calls fail immediately, then the server is tried again: a
 * prober reconnects by itself. Opening takes as long as the client's options allow; the host's name
 * is looked up only then.
 *
 * A position that is not stored is CHI_OK with out->found false. -CHI_ECORRUPT: its record is
 * damaged. Failures have a text in chi_prober_error, until the next call on the prober.
 */
struct chi_prober_options {
	size_t size;
	uint32_t deadline_ms; /* sockets: how long a call may take, for every 4,096 positions begun;
				 0: 50 */
	uint32_t hold_ms;     /* in-process: how old the state may be that a look-up is answered
				 from, at most CHI_HOLD_MS_MAX; 0: it is the newest */
};
#define CHI_PROBER_OPTIONS_INIT .size = sizeof(struct chi_prober_options)
#define CHI_HOLD_MS_MAX		10000

/* `options` may be NULL, and need not outlive the call. -CHI_EINVAL: hold_ms is too long. */
CHI_MUSTUSE int chi_prober_open(struct chi_client *client, const struct chi_prober_options *options,
				struct chi_prober **out);
void chi_prober_close(struct chi_prober *prober); /* NULL is fine */
const char *chi_prober_error(const struct chi_prober *prober);

CHI_MUSTUSE int chi_prober_key(struct chi_prober *prober, const struct chi_key *key,
			       struct chi_row *out);
CHI_MUSTUSE int chi_prober_board(struct chi_prober *prober, const struct chi_board *board,
				 struct chi_row *out);

/* Any number of positions, from one state; best 32 and more at a time. Stops at the first failure.
 */
CHI_MUSTUSE int chi_prober_many(struct chi_prober *prober, const struct chi_key *keys, size_t n,
				struct chi_row *out);

/*
 * Requests positions ahead; tickets[i] is that of keys[i]. One alone: its memory is fetched while
 * the engine does something else, and later ones are looked up together with it if it is still
 * pending. This pays off if the store does not fit the processor's cache; else a direct probe is
 * faster. Several, for instance those after all moves of a node, best first, are noted, and looked
 * up in growing groups when the first are collected: if a node is cut off early, most are never
 * looked up.
 *
 * An answer is collected once, by its ticket. The newest CHI_PREFETCH_MAX are kept; uncollected
 * ones do no harm. Tickets of a call after the first CHI_PREFETCH_MAX are 0, on failure all. No
 * snapshot stays open between calls: the answer is of the newest state when it is collected, and
 * writers reuse pages as if there were no prober.
 *
 * Over a socket nothing is sent until the first is collected, then all in one request.
 */
#define CHI_PREFETCH_MAX 64
CHI_MUSTUSE int chi_prober_prefetch(struct chi_prober *prober, const struct chi_key *keys, size_t n,
				    uint64_t *tickets);

/* CHI_NONE: the ticket was collected, dropped, or overtaken by CHI_PREFETCH_MAX others; probe. */
CHI_MUSTUSE int chi_prober_collect(struct chi_prober *prober, uint64_t ticket, struct chi_row *out);

/*
 * In-process: changes to the copy that is now at the address if it is another, drops the tickets
 * and sets *moved. It makes system calls, so no other call does this: call it between two searches.
 * On failure the prober keeps its store: -CHI_ESTALE, -CHI_ENOSTORE and the others as of
 * chi_open_newest, which says what can be followed. Over a socket a prober follows by itself, and
 * *moved is false; the same on RADOS, where a recreated store gives -CHI_ESTALE: open it again.
 */
CHI_MUSTUSE int chi_prober_follow(struct chi_prober *prober, bool *moved);

/* Forgets all tickets. */
void chi_prober_drop(struct chi_prober *prober);

/* Ends the snapshot that is kept because of hold_ms, if there is one; the next look-up takes the
 * newest. */
void chi_prober_release(struct chi_prober *prober);

/* ---- Positions and moves, further ------------------------------------------------------------ */

/* The control statistic of a position; CHI_CHI2_UNKNOWN if one side attacks nothing. -CHI_EKEY. */
CHI_MUSTUSE int chi_key_control(const struct chi_key *key, uint16_t *out);

/* The position after a legal move. -CHI_EKEY, also if it has no key because Black, to move then,
 * has no king; -CHI_EMOVE. */
CHI_MUSTUSE int chi_key_play(const struct chi_key *key, chi_move move, struct chi_key *out);

/* A move in SAN or UCI text to its 16 bits; -CHI_EMOVE if it does not name exactly one legal move.
 */
CHI_MUSTUSE int chi_key_move(const struct chi_key *key, const char *text, size_t len, chi_move *out,
			     struct chi_fault *fault);

/* A legal move as UCI and SAN, NUL-terminated. -CHI_EKEY, -CHI_EMOVE. */
#define CHI_MOVE_TEXT_SIZE 12
CHI_MUSTUSE int chi_key_uci(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE]);
CHI_MUSTUSE int chi_key_san(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE]);

/* What a position is, or'ed. */
enum chi_state {
	CHI_STATE_CHECK = 1 << 0,
	CHI_STATE_CHECKMATE = 1 << 1,	 /* together with CHI_STATE_CHECK */
	CHI_STATE_STALEMATE = 1 << 2,	 /* no legal move, and no check */
	CHI_STATE_INSUFFICIENT = 1 << 3, /* no sequence of moves can mate: kings
					    alone, one minor piece, or bishops that are all on
					    squares of one colour */
};

/* Further parts of each legal move to fill in, or'ed. */
enum chi_moves_want {
	CHI_MOVES_UCI = 1 << 0,
	CHI_MOVES_SAN = 1 << 1,
	CHI_MOVES_KEYS = 1 << 2,
};

enum chi_move_flag {
	CHI_MOVE_CAPTURE = 1 << 0, /* en passant too */
	CHI_MOVE_EN_PASSANT = 1 << 1,
	CHI_MOVE_CASTLING = 1 << 2,
	CHI_MOVE_PROMOTION = 1 << 3,
	CHI_MOVE_CHECK = 1 << 4, /* gives check, or mate */
};

struct chi_legal_move {
	chi_move move;
	uint8_t flags;		      /* enum chi_move_flag, or'ed */
	char uci[CHI_MOVE_TEXT_SIZE]; /* as chi_key_uci has it; "" if not wanted */
	char san[CHI_MOVE_TEXT_SIZE]; /* as chi_key_san has it; "" if not wanted */
	struct chi_key after;	      /* the position after it; len 0 if not wanted, or if it has no
					 key (Black, to move then, has no king) */
};

/* No position of a game has more legal moves than 218; an invented one has at most this many. */
#define CHI_LEGAL_MAX 864

/*
 * The legal moves of a position, ascending by move: up to `max` into `out`, their number into *n.
 * `out` may be NULL if `max` is 0. `want` is made of enum chi_moves_want; *state (may be NULL) of
 * enum chi_state. -CHI_EKEY.
 */
CHI_MUSTUSE int chi_key_moves(const struct chi_key *key, uint32_t want, struct chi_legal_move *out,
			      size_t max, size_t *n, uint32_t *state);

/* "KRPvKR" or "KRPKR"; see chi_filter.material. -CHI_ESYNTAX. */
CHI_MUSTUSE int chi_material_parse(const char *text, size_t len, struct chi_material *out,
				   struct chi_fault *fault);

/* "76.00" to 7600 and back; "-" is CHI_CHI2_UNKNOWN. -CHI_ESYNTAX. */
#ifndef CHI_CHI2_TEXT_SIZE
#define CHI_CHI2_TEXT_SIZE 8
#endif
CHI_MUSTUSE int chi_chi2_parse(const char *text, size_t len, uint16_t *out);
size_t chi_chi2_print(uint16_t chi2, char out[CHI_CHI2_TEXT_SIZE]);

/* "external", "control", "outcome", "score", "eval", "performance"; NULL for another number. */
const char *chi_statistic_name(int statistic);

#ifdef __cplusplus
}
#endif
